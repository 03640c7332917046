#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every case of a table compiles as it is. With -DSTRATA_CASE_<name> the compiler refuses it with the expected message.

A table is a source. A case begins with a line `// case: NAME`, and ends before the next such line. It includes what it
needs, also from tests/, so that it is a translation unit of its own. These lines of a case have a meaning:
  // expect: REGEX         in the error message. At least one such line is needed, and all must be found
  // expect first: REGEX   in the first line that says "error"
  // nvcc: too             nvcc compiles this case too when it compiles only a few of the table
  // flags: -DX=1 ...      more compiler options. Above the first case: options of all cases without such a line
  // bad flags: ...        more compiler options for the half that must be refused
  // errors: N, REASON     the most errors that there may be. The default is 3, or the number of expected messages if
                           that is more. The cause must not be lost among its consequences

The good halves of all cases are compiled in one unit. With `--together`, so are the bad halves. Those whose messages
are not found in this unit are then compiled alone.
"""

import pathlib
import re
import tempfile

import toolbox

MOST_ERRORS = 3


def directive(text, name):
    return [match.strip() for match in re.findall(rf"^// {name}:(.*)$", text, re.MULTILINE)]


class Case:
    """The lines of a case. The first one is line `first_line` of the table."""

    def __init__(self, path, name, first_line, text, flags):
        self.path, self.name, self.first_line, self.text = path, name, first_line, text
        self.last_line = first_line + text.count("\n") - 1
        self.macro = f"STRATA_CASE_{name}"
        self.expected = directive(text, "expect")
        self.expected_first = directive(text, "expect first")
        self.stands_for_others = bool(directive(text, "nvcc"))
        if not self.expected + self.expected_first:
            toolbox.fail(f"{self} has no line '// expect: REGEX'")
        self.bad_flags = [flag for line in directive(text, "bad flags") for flag in line.split()]
        if not self.bad_flags and not re.search(rf"^#\s*(if|ifdef|ifndef)\b.*\b{self.macro}\b", text, re.MULTILINE):
            toolbox.fail(f"{self} has no bad half under {self.macro}")
        if set(re.findall(r"\bSTRATA_CASE_\w+", text)) - {self.macro}:
            toolbox.fail(f"{self} asks for the macro of another case")
        self.flags = tuple(flag for line in directive(text, "flags") or flags for flag in line.split())
        most = directive(text, "errors")
        expected = len(self.expected + self.expected_first)
        self.most_errors = int(most[0].split(",")[0]) if most else max(MOST_ERRORS, expected)

    def __str__(self):
        return f"{self.path}:{self.first_line}: {self.name}"

    def missing(self, messages):
        """What is wrong with the messages. White space is ignored, because compilers break lines at different
        places."""
        errors = len(re.findall(r"\berror: ", messages))
        first_error = next((line for line in messages.splitlines() if "error" in line), "")
        messages = re.sub(r"\s+", " ", messages)
        # nvcc cannot print a backtick.
        found = [regex for regex in self.expected if re.search(regex.replace("`", "[`?]"), messages)]
        return [regex for regex in self.expected if regex not in found] + [
            f"first: {regex}" for regex in self.expected_first if not re.search(regex, first_error)] + [
            f"at most {self.most_errors} errors, has {errors}"] * (errors > self.most_errors)

    def is_named_by(self, message):
        return any(self.first_line <= int(line) <= self.last_line
                   for line in re.findall(rf"{re.escape(str(self.path))}[:(](\d+)", message))


def cases_of(path):
    path = path.resolve()
    head, *sections = re.split(r"(?m)^(?=// case:)", path.read_text())
    line, cases = head.count("\n") + 1, []
    for text in sections:
        cases.append(Case(path, directive(text, "case")[0], line, text, directive(head, "flags")))
        line += text.count("\n")
    names = [case.name for case in cases]
    if not cases or len(set(names)) < len(names):
        toolbox.fail(f"{path}: no case, or two of one name: {names}")
    return cases


def compile_unit(cases, compiler, bad):
    """Status and messages of a unit of these cases. Lines are numbered as in the table."""
    unit = "".join([f"#define {case.macro}\n" for case in cases if bad] +
                   [f'#line {case.first_line} "{case.path}"\n{case.text}' for case in cases])
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "unit.cu"
        source.write_text(unit)
        bad_flags = cases[0].bad_flags if bad else []
        tests = f"-I{toolbox.ROOT / 'tests'}"
        command = [*compiler.front_end, tests, *cases[0].flags, *bad_flags, *compiler.source(source)]
        status, output, messages = toolbox.run(command)
    return status, output + messages


def check_alone(case, compiler):
    status, messages = compile_unit([case], compiler, bad=True)
    if status == 0:
        toolbox.fail(f"{case}: the bad half compiles")
    if case.missing(messages):
        toolbox.fail(f"{case}: the bad half is refused, but not as announced: {case.missing(messages)}:\n{messages}")


def diagnostics(messages):
    """The text of each error, with the lines before it that say where it comes from."""
    blocks = [""]
    for line in messages.splitlines():
        begins = re.match(r"In file included from |.*: In |.*:   required |.*: error: ", line)
        if begins and ": error: " in blocks[-1]:
            blocks.append("")
        blocks[-1] += line + "\n"
    return blocks


def found_together(cases, compiler):
    """The cases whose bad halves are refused as expected in one common unit."""
    status, messages = compile_unit(cases, compiler, bad=True)
    if status == 0:
        return []
    blocks = diagnostics(messages)
    return [case for case in cases
            if not case.missing("".join(block for block in blocks if case.is_named_by(block)))]


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--bad-only", action="store_true", help="every bad half; other tests compile the good ones")
    parser.add_argument("tables", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    everything = arguments.bad_only or not arguments.nvcc
    for table in arguments.tables:
        cases = [case for case in cases_of(table) if everything or case.stands_for_others]
        groups = {}
        for case in cases:
            groups.setdefault(case.flags, []).append(case)
        found = []
        for group in groups.values():
            if not arguments.bad_only:
                status, messages = compile_unit(group, compiler, bad=False)
                if status != 0:
                    toolbox.fail(f"{table}: the good halves do not compile:\n{messages}")
            if arguments.together:
                found += found_together([case for case in group if not case.bad_flags], compiler)
        alone = [case for case in cases if case not in found]
        print(f"{table.name}: {len(found)} cases together; alone: {', '.join(case.name for case in alone)}", flush=True)
        for case in alone:
            check_alone(case, compiler)


if __name__ == "__main__":
    main()

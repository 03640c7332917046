#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A source compiles as it is, and with -DSTRATA_BAD is refused with the text it announces.

Lines of the source that this reads:
  // expect: REGEX     part of the error message (at least one such line; all must be found)
  // expect first: REGEX   the same, and in the first line that says "error"
  // compiler: nvcc    compile with nvcc; without the line, with the host compiler
  // flags: -DX=1 ...  more compiler options
  // bad flags: ...    more of them where it is to be refused
  // errors: N, REASON   how many errors there may be: else 3, or as many as are expected. One cause must not hide
                     among its consequences

`--together` compiles as many sources as can be in one unit, each in a namespace of its own, and those
whose messages it does not find there alone.
"""

import pathlib
import re

import toolbox

MOST_ERRORS = 3


def directive(text, name):
    return [match.strip() for match in re.findall(rf"^// {name}:(.*)$", text, re.MULTILINE)]


class Source:
    def __init__(self, path):
        self.path = path.resolve()
        text = path.read_text()
        self.expected = directive(text, "expect")
        self.expected_first = directive(text, "expect first")
        if not self.expected + self.expected_first:
            toolbox.fail(f"{path} has no line '// expect: REGEX'")
        if "STRATA_BAD" not in text:
            toolbox.fail(f"{path} has no bad half under STRATA_BAD")
        self.flags = tuple(flag for line in directive(text, "flags") for flag in line.split())
        self.bad_flags = [flag for line in directive(text, "bad flags") for flag in line.split()]
        most = directive(text, "errors")
        expected = len(self.expected + self.expected_first)
        self.most_errors = int(most[0].split(",")[0]) if most else max(MOST_ERRORS, expected)
        head = text.split("#include", 1)[0]
        self.defines = tuple(re.findall(r"^#\s*define .*$", head, re.MULTILINE))
        self.includes = re.findall(r"^#include <.*$", text, re.MULTILINE)

    def missing(self, messages):
        """What is wrong with the messages. Compilers break long ones at different places."""
        errors = len(re.findall(r"\berror: ", messages))
        first_error = next((line for line in messages.splitlines() if "error" in line), "")
        messages = re.sub(r"\s+", " ", messages)
        # nvcc cannot print a backtick.
        found = [regex for regex in self.expected if re.search(regex.replace("`", "[`?]"), messages)]
        return [regex for regex in self.expected if regex not in found] + [
            f"first: {regex}" for regex in self.expected_first if not re.search(regex, first_error)] + [
            f"at most {self.most_errors} errors, has {errors}"] * (errors > self.most_errors)


def check_alone(source, compiler, bad_only):
    command = [*compiler.front_end, *source.flags]
    if not bad_only:
        toolbox.must_run([*command, *compiler.source(source.path)])
    status, output, messages = toolbox.run(
        [*command, "-DSTRATA_BAD", *source.bad_flags, *compiler.source(source.path)])
    if status == 0:
        toolbox.fail(f"{source.path}: the bad half compiles")
    if source.missing(output + messages):
        toolbox.fail(f"{source.path}: the bad half is refused, but not as announced: "
                     f"{source.missing(output + messages)}:\n{output}{messages}")


def diagnostics(messages):
    """The text of each error, with the lines before it that say where it is from."""
    blocks = [""]
    for line in messages.splitlines():
        begins = re.match(r"In file included from |.*: In |.*:   required |.*: error: ", line)
        if begins and ": error: " in blocks[-1]:
            blocks.append("")
        blocks[-1] += line + "\n"
    return blocks


def found_together(sources, compiler):
    """Those of the sources whose good halves compile in one unit and whose bad halves are refused."""
    command = [*compiler.front_end, *sources[0].flags, "-x", "c++", "-"]
    head = "\n".join([*sources[0].defines, *(line for source in sources for line in source.includes)])
    unit = "".join(f"namespace strata_case_{number} {{\n#include \"{source.path}\"\n}}\n"
                   for number, source in enumerate(sources))
    status, output, messages = toolbox.run(command, f"{head}\n{unit}")
    if status != 0:
        fit = [source for source in sources if str(source.path) not in messages]
        return found_together(fit, compiler) if 0 < len(fit) < len(sources) else []
    status, output, messages = toolbox.run([*command, "-DSTRATA_BAD"], f"{head}\n{unit}")
    if status == 0:
        return []
    blocks = diagnostics(messages)
    return [source for source in sources
            if not source.missing("".join(block for block in blocks if str(source.path) in block))]


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--bad-only", action="store_true", help="other tests compile the good halves")
    parser.add_argument("sources", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    sources = [Source(path) for path in arguments.sources]
    if arguments.together:
        groups = {}
        for source in sources:
            if not source.bad_flags:
                groups.setdefault((source.flags, source.defines), []).append(source)
        found = {source for group in groups.values() for source in found_together(group, compiler)}
        sources = [source for source in sources if source not in found]
        print(f"{len(found)} sources together; alone: " +
              ", ".join(source.path.name for source in sources))
    for source in sources:
        check_alone(source, compiler, arguments.bad_only)


if __name__ == "__main__":
    main()

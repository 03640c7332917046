#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the machine code of two builds kernel by kernel, to show if a change of the source changes the program.

    compare_sass.py before.o after.o
    compare_sass.py before/scan_benchmark after/scan_benchmark --filter scan --opcodes
    cuobjdump -sass before.cubin > before.sass; compare_sass.py before.sass after.sass

Arguments are programs, objects or cubins, which cuobjdump (`--cuobjdump`) disassembles, or its output in files
that end in .sass. Names of functions and variables, addresses and the encoding are ignored. A kernel is first
paired with one of the same architecture that has the same code, whatever its name, so renaming or moving a kernel
is no difference. The remaining kernels are paired by their mangled name, then by their own name, then with any
other; each time, with the kernel whose opcodes differ least.

    identical            the same code
    order or registers   the same opcodes, each as often
    differs              `--opcodes` lists the opcodes of which there are more or fewer
    gone, new            a kernel without a partner

The exit status is 0 if all kernels are identical, 1 if not, and 2 if a file cannot be read. Needs only Python 3.9,
and cuobjdump for files that do not end in .sass.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

Kernel = collections.namedtuple("Kernel", "architecture name code")
Row = collections.namedtuple("Row", "status before after")

# Mangled names, and names that the compiler makes up.
SYMBOL = re.compile(r"(?<![\w.])\.?[\w.]*\$?_Z[\w$.]+|__local_depot\d+|\$_*[A-Za-z][\w$.]*|__unnamed_\d+")
COMMENT = re.compile(r"/\*.*?\*/")
PREDICATE = re.compile(r"@!?U?P\w+\s+")


def parse(text):
    """Returns the kernels in cuobjdump's output. Their instructions are stripped of names, addresses and encodings."""
    kernels, architecture, code, name = [], "", None, ""
    for line in text.splitlines():
        line = COMMENT.sub("", line).strip()
        if match := re.match(r"arch = (\w+)|code for (\w+)", line):
            architecture = match.group(1) or match.group(2)
        elif match := re.match(r"Function : (\S+)", line):
            name, code = match.group(1), []
            kernels.append((architecture, name, code))
        elif code is not None and line.endswith(";"):
            code.append(re.sub(r"\s+", " ", SYMBOL.sub("NAME", line)))
    return [Kernel(architecture, name, tuple(without_padding(code))) for architecture, name, code in kernels]


def without_padding(code):
    """Removes the NOPs at the end, which only fill a function up."""
    end = len(code)
    while end > 0 and code[end - 1].split()[0].rstrip(";") == "NOP":
        end -= 1
    return code[:end]


def opcodes(kernel):
    return collections.Counter(PREDICATE.sub("", line).split()[0].rstrip(";") for line in kernel.code)


def own_name(mangled):
    """Returns a function's name without namespaces and arguments, because names of types may change."""
    if not mangled.startswith("_Z"):
        return mangled
    at = 3 if mangled.startswith("_ZN") else 2
    found = mangled
    while match := re.match(r"(\d+)", mangled[at:]):
        begin = at + len(match.group(1))
        found = mangled[begin:begin + int(match.group(1))]
        at = begin + int(match.group(1))
    return found


def compare(before, after):
    """Pairs two lists of kernels. Returns a row for each pair; kernels that are not identical come first."""
    rows = []
    left = collections.defaultdict(list)
    for kernel in after:
        left[kernel.architecture, kernel.code].append(kernel)
    rest = []
    for kernel in before:
        same = left[kernel.architecture, kernel.code]
        # Several kernels may have the same code. Prefer the one with the same name.
        match = next((each for each in same if each.name == kernel.name), same[0] if same else None)
        if match:
            same.remove(match)
            rows.append(Row("identical", kernel, match))
        else:
            rest.append(kernel)
    remaining = [kernel for kernels in left.values() for kernel in kernels]
    changed = []
    for is_mate in (lambda a, b: a.name == b.name, lambda a, b: own_name(a.name) == own_name(b.name),
                    lambda a, b: True):
        for kernel in list(rest):
            mates = [each for each in remaining if each.architecture == kernel.architecture and
                     is_mate(kernel, each)]
            if mates:
                mate = min(mates, key=lambda each: distance(kernel, each))
                rest.remove(kernel)
                remaining.remove(mate)
                same = opcodes(kernel) == opcodes(mate)
                changed.append(Row("order or registers" if same else "differs", kernel, mate))
    changed += [Row("gone", kernel, None) for kernel in rest]
    changed += [Row("new", None, kernel) for kernel in remaining]
    return changed + rows


def distance(one, other):
    """Returns the number of instructions by which the opcodes of two kernels differ."""
    a, b = opcodes(one), opcodes(other)
    return sum(((a - b) + (b - a)).values())


def table(rows, with_opcodes=False, title=own_name):
    """Returns Markdown: the counts, and a row for each kernel that is not identical."""
    counts = collections.Counter(row.status for row in rows)
    sums = ", ".join(f"{counts[status]} {status}" for status in
                     ("identical", "order or registers", "differs", "gone", "new") if counts[status])
    lines = [f"{len(rows)} kernels: {sums or 'none'}"]
    if counts["identical"] == len(rows):
        return lines[0]
    lines += ["", "| architecture | kernel | status | instructions | change | opcodes that differ |",
              "|---|---|---|--:|--:|--:|"]
    for status, before, after in rows:
        if status == "identical":
            continue
        kernel = before or after
        lengths = " -> ".join(str(len(each.code)) for each in (before, after) if each)
        change = f"{len(after.code) - len(before.code):+}" if before and after else ""
        differ = distance(before, after) if before and after else ""
        name = title(kernel.name)
        if before and after and title(after.name) != name:
            name += f" -> {title(after.name)}"
        lines.append(f"| {kernel.architecture} | {name} | {status} | {lengths} | {change} | {differ} |")
    if with_opcodes:
        for status, before, after in rows:
            if status == "differs":
                fewer, more = opcodes(before) - opcodes(after), opcodes(after) - opcodes(before)
                text = [f"-{n} {op}" for op, n in sorted(fewer.items())]
                text += [f"+{n} {op}" for op, n in sorted(more.items())]
                lines += ["", f"{title(before.name)}: {', '.join(text)}"]
    return "\n".join(lines)


def read(path, cuobjdump):
    if path.endswith(".sass"):
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    if not os.path.isfile(path):
        raise OSError(f"{path}: no such file")
    result = subprocess.run([cuobjdump, "-sass", path], text=True, capture_output=True)
    if result.returncode != 0:
        raise OSError(f"{cuobjdump} -sass {path}: {result.stderr.strip()}")
    return parse(result.stdout)


def demangled(names):
    """Returns {mangled name: readable name}, or nothing if there is no c++filt."""
    try:
        result = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True)
    except OSError:
        return {}
    return dict(zip(names, result.stdout.splitlines())) if result.returncode == 0 else {}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--filter", default="", help="only kernels whose mangled name matches")
    parser.add_argument("--opcodes", action="store_true", help="list the opcodes of which there are more or fewer")
    parser.add_argument("--full-names", action="store_true", help="print whole names")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    options = parser.parse_args(arguments)
    try:
        before, after = ([kernel for kernel in read(path, options.cuobjdump)
                          if re.search(options.filter, kernel.name)] for path in (options.before, options.after))
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    rows = compare(before, after)
    title = own_name
    if options.full_names:
        names = demangled(sorted({kernel.name for kernel in before + after}))
        title = lambda name: names.get(name, name)
    print(table(rows, options.opcodes, title))
    return 0 if all(row.status == "identical" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

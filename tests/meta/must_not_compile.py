#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A source compiles as it is, and with -DSTRATA_BAD is refused with the text it announces.

Lines of the source that this reads:
  // expect: REGEX     part of the error message (at least one such line; all must be found)
  // compiler: nvcc    compile with nvcc; without the line, with the host compiler
  // flags: -DX=1 ...  more compiler options
"""

import pathlib
import re
import tempfile

import toolbox


def directive(text, name):
    return [match.strip() for match in re.findall(rf"^// {name}:(.*)$", text, re.MULTILINE)]


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("source", type=pathlib.Path)
    arguments = parser.parse_args()
    text = arguments.source.read_text()
    expected = directive(text, "expect")
    if not expected:
        toolbox.fail(f"{arguments.source} has no line '// expect: REGEX'")
    if "STRATA_BAD" not in text:
        toolbox.fail(f"{arguments.source} has no bad half under STRATA_BAD")
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    flags = [flag for line in directive(text, "flags") for flag in line.split()]

    with tempfile.TemporaryDirectory() as folder:
        target = ["-c", "-o", f"{folder}/object.o"] if compiler.is_nvcc else ["-fsyntax-only"]
        command = [*compiler.command, *flags, *target]
        toolbox.must_run([*command, *compiler.source(arguments.source)])
        status, output, messages = toolbox.run(
            [*command, "-DSTRATA_BAD", *compiler.source(arguments.source)])
    if status == 0:
        toolbox.fail("the bad half compiles")
    # Compilers break long messages at different places.
    text = re.sub(r"\s+", " ", output + messages)
    for regex in expected:
        if not re.search(regex, text):
            toolbox.fail(f"the bad half is refused, but not with '{regex}':\n{output}{messages}")


if __name__ == "__main__":
    main()

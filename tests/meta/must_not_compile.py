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
    expected_first = directive(text, "expect first")
    if not expected + expected_first:
        toolbox.fail(f"{arguments.source} has no line '// expect: REGEX'")
    if "STRATA_BAD" not in text:
        toolbox.fail(f"{arguments.source} has no bad half under STRATA_BAD")
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    flags = [flag for line in directive(text, "flags") for flag in line.split()]
    bad_flags = [flag for line in directive(text, "bad flags") for flag in line.split()]

    with tempfile.TemporaryDirectory() as folder:
        target = ["-c", "-o", f"{folder}/object.o"] if compiler.is_nvcc else ["-fsyntax-only"]
        command = [*compiler.command, *flags, *target]
        toolbox.must_run([*command, *compiler.source(arguments.source)])
        status, output, messages = toolbox.run(
            [*command, "-DSTRATA_BAD", *bad_flags, *compiler.source(arguments.source)])
    if status == 0:
        toolbox.fail("the bad half compiles")
    # Compilers break long messages at different places.
    text = re.sub(r"\s+", " ", output + messages)
    for regex in expected + expected_first:
        if not re.search(regex, text):
            toolbox.fail(f"the bad half is refused, but not with '{regex}':\n{output}{messages}")
    first_error = next((line for line in (output + messages).splitlines() if "error" in line), "")
    for regex in expected_first:
        if not re.search(regex, first_error):
            toolbox.fail(f"'{regex}' is not in the first error, '{first_error}'")


if __name__ == "__main__":
    main()

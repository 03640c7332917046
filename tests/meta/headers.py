#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A header compiles alone and without a warning, links twice, and leaks only STRATA_* macros.

`--together` tests the last two properties of all headers in one run of the compiler. `--only-compile` tests only the
first one, for each header. Without an option, each header is tested for all three.
"""

import pathlib
import re
import tempfile

import toolbox

# The host back end stands in for the CUDA toolkit and for NCCL. So its headers define what these would: keywords, names
# that begin with cuda, and NCCL's names.
STAND_INS = re.compile(r"__\w+__|__CUDA\w*|cuda\w+|CUDA\w+|NAN|INFINITY|NCCL_\w+")


def leaked_macros(preprocessed):
    """Names that files under include/strata define and do not undefine, from the output of `-E -dD`."""
    macros = {}
    file = ""
    for line in preprocessed.splitlines():
        marker = re.match(r'#(?:line)? \d+ "([^"]*)"', line)
        if marker:
            file = marker.group(1)
        define = re.match(r"#define (\w+)", line)
        if define and f"{toolbox.INCLUDE}/strata/" in file:
            macros[define.group(1)] = file
        undefine = re.match(r"#undef (\w+)", line)
        if undefine:
            macros.pop(undefine.group(1), None)
    return {name: file for name, file in macros.items()
            if not name.startswith("STRATA_")
            and not ("/strata/simt/" in file and STAND_INS.fullmatch(name))}


def check(headers, compiler, folder, only_compile):
    unit = folder / ("unit.cu" if compiler.is_nvcc else "unit.cpp")
    # Twice, because a missing include guard must be found.
    unit.write_text("".join(f"#include <{header}>\n" for header in [*headers, *headers]))
    if only_compile:
        toolbox.must_run([*compiler.front_end, unit])
        return
    first = folder / "first.o"
    toolbox.must_run([*compiler.command, "-c", unit, "-o", first])
    # The copy of an object defines the same symbols, so each symbol that lacks `inline` collides.
    second = folder / "second.o"
    second.write_bytes(first.read_bytes())
    toolbox.must_run(["ld", "-r", first, second, "-o", folder / "both.o"])
    macro_option = ["-Xcompiler", "-dD"] if compiler.is_nvcc else ["-dD"]
    leaks = leaked_macros(toolbox.must_run([*compiler.command, "-E", *macro_option, unit]))
    if leaks:
        toolbox.fail("leaked macros: " + ", ".join(
            f"{name} ({file})" for name, file in sorted(leaks.items())))


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--only-compile", action="store_true")
    parser.add_argument("--include", default="", help="a folder of other headers, as NCCL's")
    parser.add_argument("headers", nargs="+", help="as in #include <...>")
    arguments = parser.parse_args()
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc, warnings=True)
    if arguments.include:
        compiler.command += ["-isystem", arguments.include]
        compiler.front_end += ["-isystem", arguments.include]
    groups = [arguments.headers] if arguments.together else [[name] for name in arguments.headers]
    with tempfile.TemporaryDirectory() as folder:
        for group in groups:
            check(group, compiler, pathlib.Path(folder), arguments.only_compile)


if __name__ == "__main__":
    main()

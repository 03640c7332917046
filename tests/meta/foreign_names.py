#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No call of the library finds a function of a namespace that only an argument's type comes from.

Compiles foreign_names.cu, whose types are of such a namespace, with function templates there that have
the name of each free function of the library. A call that looks at one of them does not compile.
"""

import pathlib
import re
import tempfile

import lint
import toolbox

SOURCE = pathlib.Path(__file__).with_name("foreign_names.cu")
# Found by the type of its argument on purpose: a tuple brings a `get` of its own.
MEANT_TO_BE_FOUND = {"get"}
# Not the library's, but called by it, and a likely name.
OTHERS = {"memcpy"}
# The host compiler's stand-in for CUDA.
OTHER_FOLDERS = ("simt/",)


def free_functions(text):
    """Names of the functions of namespaces: their declarations begin in the first column."""
    code = lint.without_comments(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", code, flags=re.MULTILINE)
    code = code.replace("decltype(auto)", "auto")
    for match in re.finditer(r"^(?!namespace|struct|class|union|enum|using|static_assert|extern)"
                             r"[A-Za-z\[][^;{}]*", code, re.MULTILINE):
        head = match.group(0)
        while True:  # template <...>, STRATA_NAMESPACE_BEGIN, [[nodiscard]], __launch_bounds__(...)
            shorter = re.sub(r"\A\s*(?:template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
                             r"|STRATA_\w+_(?:BEGIN|END)|\[\[\w+\]\])\s*", "", head)
            shorter = re.sub(r"__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", shorter)
            if shorter == head:
                break
            head = shorter
        if re.match(r"(?:struct|class|union|enum|using|namespace)\b", head):
            continue
        name = re.match(r"[^()=]*?[\s*&>](\w+)\s*\(", head)
        if name and not name.group(1).startswith("operator"):
            yield name.group(1)


def names():
    found = set()
    for header in toolbox.headers():
        name = header.relative_to("strata").as_posix()
        if not name.startswith(OTHER_FOLDERS):
            found.update(free_functions((toolbox.INCLUDE / header).read_text()))
    return sorted((found | OTHERS) - MEANT_TO_BE_FOUND)


def main():
    arguments = toolbox.parser(__doc__).parse_args()
    every = names()
    for known in ("LoadDirectBlocked", "advanced", "launch", "scan_lanes", "radix_pass_kernel"):
        if known not in every:
            toolbox.fail(f"{known} is not found among the free functions")
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder) / "foreign_names.inl"
        listing.write_text("".join(f"STRATA_FOREIGN({name})\n" for name in every))
        # What a call finds is settled before any code is made.
        command = [word for word in compiler.command if word != "-arch=sm_90"] + ["-I", folder]
        if compiler.is_nvcc:
            command += ["-arch=lto_90", "-dlto", "-ltoir", "-Xcicc=-O0", "-o", f"{folder}/device"]
        else:
            command += ["-fsyntax-only"]
        toolbox.must_run([*command, *compiler.source(SOURCE)])


if __name__ == "__main__":
    main()

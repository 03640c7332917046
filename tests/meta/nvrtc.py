#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The headers below device/ compile with NVRTC, which has no host headers, and needs no options for them.

One program includes all public headers. It has the kernels of nvrtc_kernels.cu, and those in the headers'
documentation. `--each` also compiles each header alone, and the program for other architectures, language levels and
settings. `--show` prints the program. Needs libnvrtc, but no GPU.
"""

import argparse
import ctypes
import pathlib
import re

import toolbox

PUBLIC = [f"strata/{folder}" for folder in ("core", "iterator", "thread", "warp", "block", "block/classic")]
KERNELS = pathlib.Path(__file__).with_name("nvrtc_kernels.cu")
EXAMPLE = re.compile(r"^/// @code\n(.*?)^/// @endcode\n", re.MULTILINE | re.DOTALL)
OF_HOST = re.compile(r"^#include .*\n|^(?:int main|cudaError_t \w+)\(.*\{\n(?:.*\n)*?\}\n", re.MULTILINE)
OLDEST_ARCHITECTURE = 75
VARIANTS = (["-std=c++20"], ["-DSTRATA_DEBUG=1"], ["-device-int128"], ["-default-device"])
# A note of NVRTC 12 about a large program for sm_75.
NOTE = re.compile(r"^ptxas warning : Disabling default position-independent-code\(pic\) compilation mode.*\n?",
                  re.MULTILINE)


class Compiler:
    """libnvrtc.so, loaded into this process."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def architectures(self):
        """The architectures that NVRTC knows, such as 90, from the oldest one that strata supports."""
        number = ctypes.c_int()
        self.library.nvrtcGetNumSupportedArchs(ctypes.byref(number))
        architectures = (ctypes.c_int * number.value)()
        self.library.nvrtcGetSupportedArchs(architectures)
        return [architecture for architecture in architectures if architecture >= OLDEST_ARCHITECTURE]

    def text(self, program, what):
        size = ctypes.c_size_t()
        self.library[f"nvrtcGet{what}Size"](program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.library[f"nvrtcGet{what}"](program, text)
        return text.value.decode()

    def compile(self, source, options):
        """Returns the log and the PTX, which is empty after an error."""
        program = ctypes.c_void_p()
        status = self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"unit.cu", 0, None, None)
        if status != 0:
            toolbox.fail(f"nvrtcCreateProgram: error {status}")
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self.library.nvrtcCompileProgram(program, len(options), words)
        log = NOTE.sub("", self.text(program, "ProgramLog")).strip()
        ptx = self.text(program, "PTX") if status == 0 else ""
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return log or f"error {status}" * (status != 0), ptx


def includes(headers):
    return "".join(f"#include <{header}>\n" for header in headers)


def examples(header, text):
    """The examples in a header's documentation that have a kernel, without their host code."""
    for code in EXAMPLE.findall(text):
        code = re.sub(r"^/// ?", "", code, flags=re.MULTILINE)
        code = OF_HOST.sub("", code)
        if "STRATA_KERNEL" in code:
            yield f'#line 1 "an example of {header}"\n{code}'


def program(headers):
    parts = [example for header in headers for example in examples(header, (toolbox.INCLUDE / header).read_text())]
    parts.append(f'#line 1 "{KERNELS.name}"\n{KERNELS.read_text()}')
    return includes(headers) + "".join(f"namespace part_{i} {{\n{part}}}\n" for i, part in enumerate(parts))


def kernels(source):
    """The number of kernels in a program: those that are not templates, and explicit instantiations."""
    return len(re.findall(r"^(?:template )?STRATA_KERNEL ", source, re.MULTILINE)) - len(
        re.findall(r"^template <[^;{}]*>\nSTRATA_KERNEL ", source, re.MULTILINE))


def check(compiler, what, source, options):
    options = [*options, "-I", str(toolbox.INCLUDE)]
    for default in ("-std=c++17", "-arch=compute_90"):
        if not any(option.startswith(default.split("=")[0]) for option in options):
            options.insert(0, default)
    log, ptx = compiler.compile(source, options)
    if log:
        toolbox.fail(f"{what}, {' '.join(options)}\n{log}")
    found, expected = len(re.findall(r"^\.(?:visible|weak) \.entry ", ptx, re.MULTILINE)), kernels(source)
    if found != expected:
        toolbox.fail(f"{what}, {' '.join(options)}: {found} kernels, not {expected}")
    print(f"{what}: {' '.join(options[:-2])}: {found} kernels, {len(ptx)} bytes of PTX")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvrtc", required=True, help="libnvrtc.so")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    headers = [header for header in toolbox.headers() if header.parent.as_posix() in PUBLIC]
    source = program(headers)
    if arguments.show:
        print(source)
        return
    compiler = Compiler(arguments.nvrtc)
    check(compiler, f"{len(headers)} headers", source, [])
    if arguments.each:
        for header in headers:
            check(compiler, header, includes([header, header]), [])
        for options in [*([f"-arch=sm_{architecture}"] for architecture in compiler.architectures()), *VARIANTS]:
            check(compiler, f"{len(headers)} headers", source, options)


if __name__ == "__main__":
    main()

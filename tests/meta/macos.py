#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and links for macOS on arm64: the headers, the tests of joins by Metal, every example, and tests of the host
back end. Runs nothing.

The compiler is the clang in PyPI's package ziglang, which includes macOS's C headers. Stubs stand in for frameworks,
and list only their symbols. If the package cannot be installed, the exit status is 77.
"""

import os
import pathlib
import subprocess
import sys

import toolbox

ZIG = "ziglang==0.17.1"
SKIPPED = 77
TARGETS = ["metal_tests", "examples/all", "device_hash_join_host_test", "simt_runtime_api_test_simt",
           "simt_pages_test_simt_check"]
# Libraries of macOS that strata::strata links, and the symbols that programs use.
FRAMEWORKS = {"Metal": ["_MTLCreateSystemDefaultDevice", "_MTLCopyAllDevices"], "Foundation": [], "CoreGraphics": []}
OBJECTIVE_C = ["_objc_msgSend", "_sel_registerName", "_objc_lookUpClass", "_objc_autoreleasePoolPush",
               "_objc_autoreleasePoolPop"]
STUB = """--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos ]
install-name: '{name}'
exports:
  - targets: [ arm64-macos ]
    symbols: [ {symbols} ]
...
"""
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_C_COMPILER {folder}/cc)
set(CMAKE_CXX_COMPILER {folder}/c++)
set(CMAKE_AR {folder}/ar)
set(CMAKE_RANLIB {folder}/ranlib)
set(CMAKE_INSTALL_NAME_TOOL {folder}/install_name_tool)
set(CMAKE_EXE_LINKER_FLAGS "-F{folder} -L{folder}")
set(CMAKE_FIND_ROOT_PATH {folder})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""


def install_zig(folder):
    """The path of zig. If it cannot be installed, the script ends as skipped."""
    zig = folder / "ziglang" / "zig"
    if not zig.exists():
        status, _, messages = toolbox.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, ZIG])
        if status != 0 or not zig.exists():
            print(f"skipped: {ZIG} cannot be installed: {messages.strip()[-500:]}")
            sys.exit(SKIPPED)
    return zig


def write_toolchain(folder, zig):
    """Writes compilers, stubs of libraries, and a toolchain file that names them."""
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(folder / "cache")
    # Without an option for optimisation, zig would add -fsanitize=undefined.
    for_macos = "-target aarch64-macos -fno-sanitize=undefined"
    for name, options in (("cc", f"cc {for_macos}"), ("c++", f"c++ {for_macos}"), ("ar", "ar"), ("ranlib", "ranlib")):
        (folder / name).write_text(f'#!/bin/sh\nexec {zig} {options} "$@"\n')
        (folder / name).chmod(0o755)
    (folder / "install_name_tool").touch(0o755)  # which CMake asks for and nothing here needs
    for name, symbols in FRAMEWORKS.items():
        framework = folder / f"{name}.framework"
        framework.mkdir(exist_ok=True)
        (framework / f"{name}.tbd").write_text(STUB.format(
            name=f"/System/Library/Frameworks/{name}.framework/Versions/A/{name}", symbols=", ".join(symbols)))
    (folder / "libobjc.tbd").write_text(STUB.format(name="/usr/lib/libobjc.A.dylib", symbols=", ".join(OBJECTIVE_C)))
    toolchain = folder / "macos.cmake"
    toolchain.write_text(TOOLCHAIN.format(folder=folder))
    return toolchain


def expect_headers_compile(folder, options):
    """Compiles all headers in one file. Those of the host back end are left out, because the others include them."""
    source = folder / "headers.cpp"
    source.write_text("".join(f"#include <{header}>\n" for header in toolbox.headers()
                              if header.parts[1] != "simt"))
    toolbox.must_run([folder / "c++", "-I", toolbox.INCLUDE, *toolbox.WARNINGS, "-Wsign-conversion", *options, "-O1",
                      "-c", source, "-o", folder / "headers.o"])
    print("headers compile with", *options, flush=True)


def expect_program(path):
    """Expects a Mach-O executable for arm64."""
    begin = path.read_bytes()[:16]
    if begin[:8] != bytes.fromhex("cffaedfe0c000001") or begin[12] != 2:
        toolbox.fail(f"{path} is no program for macOS on arm64")


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="zig and what is built are put here")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    toolchain = write_toolchain(folder, install_zig(folder))
    for options in (["-std=c++17"], ["-std=c++20", "-fno-exceptions", "-fno-rtti"]):
        expect_headers_compile(folder, options)

    build = folder / "build"
    options = [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Debug", "-DSTRATA_WARNINGS_AS_ERRORS=ON",
               "-DSTRATA_BUILD_BENCHMARKS=OFF", "-DSTRATA_TEST_META=OFF", "-DSTRATA_ENABLE_CUDA=OFF"]
    googletest = pathlib.Path("/usr/src/googletest")  # Debian's package of this name
    if googletest.exists():
        options.append(f"-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST={googletest}")
    toolbox.must_run([arguments.cmake, "-S", toolbox.ROOT, "-B", build, "-G", "Ninja", *options])
    status = subprocess.run([arguments.cmake, "--build", build, "--target", *TARGETS]).returncode
    if status != 0:
        toolbox.fail("see above")
    programs = [path for folder in ("tests", "tests/metal", "examples") for path in (build / folder).iterdir()
                if path.is_file() and path.stat().st_mode & 0o100]
    if not {"metal_join_test", "join", "quickstart_simt", "simt_pages_test_simt_check"} <= {p.name for p in programs}:
        toolbox.fail(f"no more programs than {sorted(p.name for p in programs)}")
    for path in programs:
        expect_program(path)
    print(f"{len(programs)} programs are linked for macOS on arm64; none was run")


if __name__ == "__main__":
    main()

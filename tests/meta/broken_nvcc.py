#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""If nvcc is found but cannot compile, AUTO continues without CUDA and says why, and ON is an error. In a build for
another system, nvcc uses the compiler for that system as host compiler."""

import os
import pathlib
import subprocess
import tempfile

import toolbox

NVCC_THAT_LISTS_ITS_CALLS = """#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
  *--version*) echo "nvcc: NVIDIA (R) Cuda compiler driver, V13.0.88" ;;
  *determine_cuda*) echo "#$ TOP={folder}" ;;
  *) exit 1 ;;
esac
"""


def configure(cmake, generator, cxx, enable, folder, *options):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CUDACXX", "CUDA_PATH", "CUDA_HOME")}
    environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"
    result = subprocess.run(
        [cmake, "-S", toolbox.ROOT, "-B", folder / enable, "-G", generator,
         f"-DCMAKE_CXX_COMPILER={cxx}", f"-DSTRATA_ENABLE_CUDA={enable}", "-DSTRATA_BUILD_TESTS=OFF", *options],
        env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode == 0, " ".join(result.stdout.split())


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        nvcc = folder / "nvcc"
        nvcc.write_text("#!/bin/sh\necho 'this nvcc is broken' >&2\nexit 1\n")
        nvcc.chmod(0o755)
        for enable, may_succeed in (("AUTO", True), ("ON", False)):
            succeeded, output = configure(arguments.cmake, arguments.generator, arguments.cxx, enable,
                                          folder)
            if succeeded != may_succeed:
                toolbox.fail(f"STRATA_ENABLE_CUDA={enable}: success is {succeeded}:\n{output}")
            if enable == "AUTO" and not ("was found, but cannot compile" in output
                                         and "CMake Error" in output):
                toolbox.fail(f"no warning that says why:\n{output}")
        # Configures for another system, with this machine's compiler. This nvcc answers CMake's queries before it
        # compiles, and records its command lines.
        (folder / "nvvm" / "libdevice").mkdir(parents=True)
        nvcc.write_text(NVCC_THAT_LISTS_ITS_CALLS.format(folder=folder))
        configure(arguments.cmake, arguments.generator, arguments.cxx, "AUTO", folder, "-DCMAKE_SYSTEM_NAME=Linux",
                  "--fresh")
        compilations = [line for line in (folder / "calls").read_text().splitlines() if ".cu" in line]
        if not compilations or f"-ccbin={arguments.cxx}" not in compilations[0]:
            toolbox.fail(f"nvcc chooses its own host compiler for another system: {compilations}")


if __name__ == "__main__":
    main()

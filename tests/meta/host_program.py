#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles host_program.cu with another compiler than that of the tests, at the optimisation levels of users, and runs
it, because a program that compiles may still compute wrong results."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
LEVELS = ("-O1", "-O2")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cxx", required=True)
    compiler = parser.parse_args().cxx
    # libstdc++'s std::stable_sort calls a deprecated function, for which clang 19 gives a warning.
    command = [compiler, "-std=c++17", "-Wno-deprecated-declarations", "-I", INCLUDE]
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runtime = sorted((INCLUDE / "strata/simt/runtime").glob("*.cpp"))
        subprocess.run([*command, "-O2", "-c", *runtime], cwd=folder, check=True)
        objects = sorted(folder.glob("*.o"))
        for level in LEVELS:
            program = folder / f"program{level}"
            subprocess.run([*command, level, "-x", "c++", HERE / "host_program.cu", "-x", "none", *objects, "-pthread",
                            "-o", program], check=True)
            if subprocess.run([program], check=False).returncode != 0:
                failed.append(level)
    if failed:
        sys.exit(f"{compiler}: fails with {', '.join(failed)}")


if __name__ == "__main__":
    main()

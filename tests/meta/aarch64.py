#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the workflow of preset aarch64 in a folder of its own: tests of the host back end, compiled for aarch64 Linux
and run in an emulator."""

import argparse
import subprocess

import toolbox


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--ctest", default="ctest")
    parser.add_argument("--folder", required=True)
    arguments = parser.parse_args()
    for command in ([arguments.cmake, "--preset", "aarch64", "-B", arguments.folder],
                    [arguments.cmake, "--build", arguments.folder],
                    [arguments.ctest, "--test-dir", arguments.folder, "--output-on-failure", "--no-tests=error"]):
        if subprocess.run(command, cwd=toolbox.ROOT).returncode != 0:
            toolbox.fail(" ".join(command))


if __name__ == "__main__":
    main()

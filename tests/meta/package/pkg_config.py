#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a program without CMake. pkg-config tells where headers and the runtime of the host back end are installed."""

import argparse
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import toolbox  # noqa: E402

CONSUMER = pathlib.Path(__file__).resolve().parent / "host"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cxx", required=True)
    options.add_argument("--pkg-config", required=True)
    options.add_argument("--prefix", required=True, type=pathlib.Path)
    options.add_argument("--version", required=True)
    options = options.parse_args()

    os.environ["PKG_CONFIG_PATH"] = str(options.prefix / "share" / "pkgconfig")
    def ask(*words):
        return toolbox.must_run([options.pkg_config, *words, "strata"]).split()

    if ask("--modversion") != [options.version]:
        toolbox.fail(f"strata.pc says version {ask('--modversion')}, not {options.version}")
    flags = ask("--cflags")
    places = [pathlib.Path(flag[2:]).resolve() for flag in flags if flag.startswith("-I")]
    if places != [(options.prefix / "include").resolve()]:
        toolbox.fail(f"strata.pc says {flags}")
    runtime = sorted(pathlib.Path(ask("--variable=simt_runtime")[0]).glob("*.cpp"))
    if not runtime:
        toolbox.fail("the runtime of the host back end is not where strata.pc says")

    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "consumer"
        toolbox.must_run([options.cxx, "-std=c++17", *flags, "-x", "c++", CONSUMER / "main.cpp", CONSUMER / "kernel.cu",
                          *runtime, "-x", "none", *ask("--libs"), "-o", program])
        toolbox.must_run([program])


if __name__ == "__main__":
    main()

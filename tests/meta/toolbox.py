# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the meta-tests share: running compilers and reading the tree."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
# cmake/warnings.cmake says why -Wsign-conversion is not among them.
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(command, text=None):
    """Runs a command with `text` as its input. Returns exit status, output and messages."""
    result = subprocess.run([str(word) for word in command], input=text, text=True,
                            capture_output=True)
    return result.returncode, result.stdout, result.stderr


def must_run(command):
    """Runs a command that must succeed, and returns its output."""
    status, output, messages = run(command)
    if status != 0:
        fail(f"{' '.join(str(word) for word in command)}\n{messages}")
    return output


class Compiler:
    """The host compiler, or nvcc if `nvcc` is given."""

    def __init__(self, cxx, nvcc="", warnings=False):
        self.is_nvcc = bool(nvcc)
        flags = WARNINGS if warnings else []
        if self.is_nvcc:
            self.command = [nvcc, "-arch=sm_90", "-ccbin", cxx]
            if flags:
                self.command += ["-Werror=all-warnings", "-Xcompiler=" + ",".join(flags)]
        else:
            self.command = [cxx, *flags]
        self.command += ["-std=c++17", "-I", INCLUDE]
        # The cheapest command that parses, instantiates and warns about everything, including host code.
        self.front_end = [*self.command, "-fsyntax-only"]
        if self.is_nvcc:
            self.front_end = [*self.command, "-ptx", "-Xcicc=-O0", "-o", os.devnull]

    def source(self, path):
        """The arguments for a .cu file. The host compiler compiles it as C++, and runs kernels as host code."""
        return [path] if self.is_nvcc else ["-x", "c++", path]


def wants_self_test(description):
    """True if a script without other options was called with --self-test."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--self-test", action="store_true")
    return options.parse_args().self_test


def parser(description):
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--cxx", default="c++")
    result.add_argument("--nvcc", default="", help="use this nvcc in place of the host compiler")
    return result


def headers():
    """Every header of the library, relative to include/."""
    found = [path for suffix in ("hpp", "cuh") for path in INCLUDE.rglob(f"*.{suffix}")]
    return sorted(path.relative_to(INCLUDE) for path in found)


def is_forward(text):
    """True if a header contains nothing but includes."""
    code = re.sub(r"//.*", "", text)
    return all(re.match(r"#pragma once|#include ", line) for line in code.splitlines() if line.strip())


def tracked_files():
    """The files of the project: those that git would commit. Without git or a clone, those in the project's folders."""
    if shutil.which("git"):
        listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 cwd=ROOT, text=True, capture_output=True)
        if listing.returncode == 0 and listing.stdout:
            names = listing.stdout.split("\0")
            return sorted(ROOT / name for name in names if name and (ROOT / name).is_file())
    folders = (".ci", ".github", "benchmarks", "cmake", "examples", "include", "tests")
    return sorted(path for path in [*ROOT.glob("*"), *(below for folder in folders
                                                       for below in (ROOT / folder).rglob("*"))]
                  if path.is_file() and "__pycache__" not in path.parts)

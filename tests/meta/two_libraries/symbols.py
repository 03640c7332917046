#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared libraries built with strata export no kernel, and share no symbol that depends on the architectures for which
they were built."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import toolbox  # noqa: E402


def exported(library):
    listing = toolbox.must_run(["nm", "-D", "--defined-only", "-C", library])
    return {line.split(" ", 2)[2] for line in listing.splitlines() if "strata::" in line}


def main():
    libraries = [exported(library) for library in sys.argv[1:]]
    everything = toolbox.must_run(["nm", "-C", sys.argv[1]])
    if not re.search(r"strata::.*kernel", everything):
        toolbox.fail("there is no kernel in the library: the test looks for the wrong thing")
    for symbols in libraries:
        kernels = [name for name in symbols if re.search(r"kernel\w*<.*>\(|__device_stub__", name)]
        if kernels:
            toolbox.fail("exported kernels:\n" + "\n".join(kernels))
    shared = set.intersection(*libraries)
    bad = [name for name in shared if re.search(r"Device|dispatch|Dispatch|polic|kernel", name)]
    if bad:
        toolbox.fail("symbols that both libraries export:\n" + "\n".join(sorted(bad)))


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

# The checkout that this file lies in.
CHECKOUT = pathlib.Path(__file__).resolve().parents[6]


class Strata(CMakePackage):
    """CUDA C++17 parallel primitives in four layers: thread, warp, block, device. Headers only."""

    git = CHECKOUT.as_uri()

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")

    def cmake_args(self):
        return [self.define(f"STRATA_BUILD_{what}", False) for what in ("TESTS", "EXAMPLES", "BENCHMARKS")]

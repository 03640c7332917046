# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conan 2: `conan create cmake/packages` packages the checkout that this file lies in."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class StrataConan(ConanFile):
    name = "strata"
    description = "CUDA C++17 parallel primitives in four layers: thread, warp, block, device"
    license = "Apache-2.0 WITH LLVM-exception"
    topics = ("cuda", "gpu", "parallel", "sort", "scan", "reduce", "join", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._checkout, "include", "strata", "version.hpp"))
        self.version = ".".join(re.findall(r"#define STRATA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, self._checkout, self.export_sources_folder)

    def layout(self):
        self.folders.build = "build"
        self.folders.generators = "build/generators"

    def generate(self):
        toolchain = CMakeToolchain(self)
        for what in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"STRATA_BUILD_{what}"] = False
        toolchain.user_presets_path = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()  # text alone: one package for all compilers

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        # The installed package defines strata::strata, strata::simt and the functions; no file that Conan makes does.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/strata"]

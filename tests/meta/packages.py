#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recipes in cmake/packages/ have the library's version, set options that exist, and their functions run.

vcpkg and Spack need not be installed. Stand-ins for the functions of vcpkg run the port, which installs the library,
and stand-ins for Spack's directives read its package. With `--conan`, the Conan recipe makes a package, and a program
that requires it is built and run. If Conan is missing, pip installs it. Without a network, the exit status is 77, which
CTest reports as "Skipped".
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import types

import cuda_toolkit
import toolbox

RECIPES = toolbox.ROOT / "cmake" / "packages"
PORT = RECIPES / "vcpkg" / "strata"
SPACK_REPOSITORY = RECIPES / "spack_repo" / "strata"
CONSUMER = pathlib.Path(__file__).resolve().parent / "package" / "host"

# Stand-ins for vcpkg's functions, as far as the port depends on them.
VCPKG = """
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${CURRENT_PACKAGES_DIR}/../build
    -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${CURRENT_PACKAGES_DIR}/../build OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*.cmake")
  file(COPY ${files} DESTINATION "${CURRENT_PACKAGES_DIR}/share/strata")
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE ${arg_FILE_LIST} "${CURRENT_PACKAGES_DIR}/share/strata/copyright")
endfunction()
include(${CURRENT_PORT_DIR}/portfile.cmake)
"""


def version():
    text = (toolbox.INCLUDE / "strata" / "version.hpp").read_text()
    return ".".join(re.findall(r"^#define STRATA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))


def unknown_options(text, known):
    """Names of options that a recipe sets, but the build does not have."""
    found = re.findall(r"-D(STRATA_\w+)=", text)
    return sorted(set(found) - set(known))


def options_of_the_build():
    return re.findall(r"^option\((STRATA_\w+)", (toolbox.ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)


def check_port(cmake, folder):
    manifest = json.loads((PORT / "vcpkg.json").read_text())
    if manifest["name"] != PORT.name or manifest["version"] != version():
        toolbox.fail(f"vcpkg.json says {manifest['name']} {manifest['version']}, not {version()}")
    unknown = unknown_options((PORT / "portfile.cmake").read_text(), options_of_the_build())
    if unknown:
        toolbox.fail(f"portfile.cmake sets {unknown}")
    script, packages = folder / "vcpkg.cmake", folder / "packages"
    script.write_text(VCPKG)
    toolbox.must_run([cmake, f"-DCURRENT_PORT_DIR={PORT}", f"-DCURRENT_PACKAGES_DIR={packages}", "-P", script])
    for name in ("include/strata/version.hpp", "share/strata/strata-config.cmake", "share/strata/copyright",
                 "share/pkgconfig/strata.pc"):
        if not (packages / name).is_file():
            toolbox.fail(f"the port does not install {name}")
    if (packages / "share/doc").exists():
        toolbox.fail("the port installs share/doc")


def check_spack():
    """Reads the package with stand-ins for Spack's directives, and runs its function."""
    said = {}
    def directive(name):
        return lambda *words, **named: said.setdefault(name, []).append((words, named))
    def define(_, name, value):
        return f"-D{name}={'ON' if value else 'OFF'}"
    base = type("CMakePackage", (), {"define": define})
    modules = {"spack": {}, "spack.package": {name: directive(name) for name in ("license", "version", "depends_on")},
               "spack_repo": {}, "spack_repo.builtin": {}, "spack_repo.builtin.build_systems": {},
               "spack_repo.builtin.build_systems.cmake": {"CMakePackage": base}}
    for name, content in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    path = SPACK_REPOSITORY / "packages" / "strata" / "package.py"
    names = {"__file__": str(path), "__name__": "package"}
    exec(compile(path.read_text(), path, "exec"), names)
    package = names["Strata"]
    if pathlib.Path(names["CHECKOUT"]) != toolbox.ROOT:
        toolbox.fail(f"package.py takes {names['CHECKOUT']} for the checkout")
    unknown = unknown_options("\n".join(f"{word} " for word in package().cmake_args()), options_of_the_build())
    if unknown or not said.get("version"):
        toolbox.fail(f"package.py sets {unknown} and has the versions {said.get('version')}")
    namespace = re.search(r"namespace: (\w+)", (SPACK_REPOSITORY / "repo.yaml").read_text()).group(1)
    if namespace != SPACK_REPOSITORY.name:
        toolbox.fail(f"repo.yaml says {namespace}, not the folder's name")


def conan_of_pypi(folder):
    """Installs Conan into a folder by pip."""
    packages = folder / "packages"
    cuda_toolkit.registry([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           "--retries", 1, "--timeout", 20, "--no-warn-script-location", "--target", packages,
                           "conan==2.34.0"], "PyPI")
    os.environ["PYTHONPATH"] = str(packages)
    return packages / "bin" / "conan"


def check_conan(cmake, nccl, folder):
    conan = shutil.which("conan") or conan_of_pypi(folder)
    os.environ["CONAN_HOME"] = str(folder / "conan_home")
    os.chdir(folder)  # Conan writes CMakeUserPresets.json into the working directory.
    toolbox.must_run([conan, "profile", "detect"])
    toolbox.must_run([conan, "create", RECIPES])
    made = folder / "made"
    toolbox.must_run([conan, "install", f"--requires=strata/{version()}", "-g", "CMakeDeps", "-g", "CMakeToolchain",
                      "--output-folder", made])
    build = folder / "build"
    toolbox.must_run([cmake, "-S", CONSUMER, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-Wno-dev",
                      f"-DCMAKE_TOOLCHAIN_FILE={made / 'conan_toolchain.cmake'}", f"-DEXPECTED_VERSION={version()}",
                      f"-DEXPECTED_NCCL={nccl}"])
    toolbox.must_run([cmake, "--build", build])
    toolbox.must_run([build / "consumer"])


def self_test():
    if unknown_options("-DSTRATA_BUILD_TESTS=OFF -DSTRATA_BUILD_TOOLS=OFF", ["STRATA_BUILD_TESTS"]) != \
            ["STRATA_BUILD_TOOLS"]:
        toolbox.fail("an option that the build does not have is not found")
    if "STRATA_BUILD_TESTS" not in options_of_the_build() or not re.fullmatch(r"\d+\.\d+\.\d+", version()):
        toolbox.fail("the options or the version of the build are not found")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cmake", default="cmake")
    options.add_argument("--conan", action="store_true")
    options.add_argument("--nccl", default="", help="where the consumer has to find NCCL's header")
    options = options.parse_args()
    self_test()
    with tempfile.TemporaryDirectory() as folder:
        if options.conan:
            try:
                check_conan(options.cmake, options.nccl, pathlib.Path(folder))
            except cuda_toolkit.NotAvailable as reason:
                print(f"skipped: {reason}")
                sys.exit(cuda_toolkit.SKIPPED)
        else:
            check_port(options.cmake, pathlib.Path(folder))
            check_spack()


if __name__ == "__main__":
    main()

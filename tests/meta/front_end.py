#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the test sources with nvcc's front end: what an older compiler does not understand. Compiles nothing.

    front_end.py --cxx g++ --nvcc nvcc -I FOLDER ...

nvcc has no option for this. This script runs only the first steps that nvcc --dryrun prints: the preprocessor for the
host, and cudafe++. They parse everything, but instantiate no function. This takes about 1 s for a source, and a whole
compilation takes a minute. Tests that use CUB or libcu++ are left out, because they use names of newer versions.
"""

import os
import re
import subprocess
import sys
import tempfile

import toolbox

OTHER_LIBRARIES = re.compile(r"#\s*include\s*[<\"](?:cub|cuda|thrust)/|cub_calls")
# Tests for one back end, tests that include generated files, and those with a call that is new in CUDA 12.5.
LEFT_OUT = re.compile(r"_simt_test\.cu|^tests/(?:simt|header_examples|meta|must_not_compile)/|green_context|"
                      r"/device_architectures")


def sources():
    for path in sorted((toolbox.ROOT / "tests").rglob("*.cu")):
        name = path.relative_to(toolbox.ROOT).as_posix()
        if not LEFT_OUT.search(name) and not OTHER_LIBRARIES.search(path.read_text(encoding="utf-8")):
            yield path


def errors_of(path, nvcc, cxx, options):
    """The messages of the front end about a source that it does not accept, or an empty text."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        command = [nvcc, "-ccbin", cxx, "--dryrun", "-std=c++17", "-arch=sm_90", "--extended-lambda", "-I",
                   toolbox.INCLUDE, "-I", toolbox.ROOT / "tests", *options, "-c", path, "-o", f"{folder}/object.o"]
        plan = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment,
                              check=True).stderr
        steps = [line[3:] for line in plan.splitlines() if line.startswith("#$ ")]
        host = [step for step in steps if re.search(r" -E .*__CUDACC__", step) and "-D__CUDA_ARCH__=" not in step][:1]
        host += [step for step in steps if re.match(r"\S*cudafe\+\+\S* ", step)][:1]
        if len(host) != 2:
            toolbox.fail(f"nvcc --dryrun prints no such steps as this script knows:\n{plan}")
        environment["PATH"] = f"{os.path.dirname(nvcc)}:{environment['PATH']}"
        for step in host:
            result = subprocess.run(step, shell=True, cwd=folder, capture_output=True, text=True, env=environment)
            if result.returncode != 0:
                return result.stdout + result.stderr
    return ""


def main():
    parser = toolbox.parser(__doc__.split("\n")[0] + " Other options are for the compiler.")
    arguments, options = parser.parse_known_args()
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as broken:
        broken.write("void user() { missing(); }\n")
        broken.flush()
        if "missing" not in errors_of(broken.name, arguments.nvcc, arguments.cxx, options):
            toolbox.fail("a source that is wrong was accepted")
    failed = 0
    for path in sources():
        errors = errors_of(path, arguments.nvcc, arguments.cxx, options)
        if errors:
            failed += 1
            print(f"{path.relative_to(toolbox.ROOT)}:\n{errors}", flush=True)
    if failed:
        toolbox.fail(f"{failed} sources")


if __name__ == "__main__":
    main()

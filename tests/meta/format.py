#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ and CUDA sources have the format of `.clang-format`, by clang-format 14. Other versions format differently.

`--write` formats the files. `--self-test` shows that a badly formatted text is found.
"""

import argparse
import concurrent.futures
import os
import re
import shutil

import toolbox

VERSION = 14
SUFFIXES = {".cpp", ".cu", ".cuh", ".hpp", ".inl"}
FILES_PER_RUN = 50


def sources():
    return [path for path in toolbox.tracked_files() if path.suffix in SUFFIXES]


def version_of(tool):
    """The major version of a clang-format, or 0 if it does not run."""
    if not shutil.which(tool):
        return 0
    found = re.search(r"version (\d+)\.", toolbox.run([tool, "--version"])[1])
    return int(found.group(1)) if found else 0


def differences(tool, files):
    """{file: line of its first difference} of files that are not formatted."""
    command = [tool, "--dry-run", "-Werror"]
    groups = [files[first:first + FILES_PER_RUN] for first in range(0, len(files), FILES_PER_RUN)]
    result = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, _, messages in pool.map(lambda group: toolbox.run([*command, *group]), groups):
            found = re.findall(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", messages, re.MULTILINE)
            if status != 0 and not found:
                toolbox.fail(f"{tool}: {messages}")
            for file, line in found:
                result.setdefault(os.path.relpath(file, toolbox.ROOT), int(line))
    return result


def self_test(tool):
    for text, is_right in (("int f(int a) { return a; }\n", True), ("int f( int a ) { return a; }\n", False),
                           ("int *f();\n", False), ("int* f();\n", True)):
        command = [tool, "--dry-run", "-Werror", "--assume-filename", str(toolbox.ROOT / "tests/a.cu")]
        if (toolbox.run(command, text)[0] == 0) != is_right:
            toolbox.fail(f"{text!r} is said to be {'wrong' if is_right else 'right'}")
    if not any(path.name == "strata.cuh" for path in sources()):
        toolbox.fail("no strata.cuh among the sources")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clang-format", default="clang-format-14")
    options.add_argument("--write", action="store_true")
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    tool = options.clang_format
    if version_of(tool) != VERSION:
        toolbox.fail(f"{tool} is not clang-format {VERSION}")
    if options.self_test:
        self_test(tool)
        return
    found = differences(tool, sources())
    if options.write:
        if found:
            toolbox.must_run([tool, "-i", *(toolbox.ROOT / file for file in found)])
        print(f"formatted {len(found)} files")
    elif found:
        toolbox.fail("\n".join(["tests/meta/format.py --write formats these:",
                                *(f"{file}:{line}" for file, line in sorted(found.items()))]))


if __name__ == "__main__":
    main()

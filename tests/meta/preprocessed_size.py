#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No header preprocesses to many more lines than an empty .cu file. The header of all headers has a limit of its own.

Blank lines do not count, because the preprocessor leaves one for each line of a comment.
"""

import concurrent.futures
import pathlib
import tempfile

import toolbox

LIMIT = 22_000
# All of CUB 3.0.1 has 188,000 lines. Of strata.cuh's, 5,000 are for grouped aggregation by hash, top-k of rows and
# scans of segments in one pass. Joins have five methods, one of which sorts, and a launch for few probe rows, so they
# exceed the common limit.
LIMITS = {"strata/strata.cuh": 55_100, "strata/cub.cuh": 55_400, "strata/device/device_hash_join.hpp": 22_500,
          "strata/device/join/dispatch.cuh": 22_500,
          # Grouped aggregation includes a selection for rows without a key, a scan for groups by first rows, and sorts
          # of row numbers by keys of any width.
          "strata/device/device_group_by.cuh": 23_000, "strata/device/group_by/dispatch.cuh": 22_500,
          "strata/device/group_by/first_row_dispatch.cuh": 22_500}
# A goal for thread, warp and block headers, which is printed but not enforced.
AIM = 6_500


def lines(compiler, folder, header=None):
    unit = folder / f"{str(header).replace('/', '.')}.cu"
    unit.write_text(f"#include <{header}>\n" if header else "\n")
    return sum(not line.isspace() for line in toolbox.must_run([*compiler.command, "-E", unit]).splitlines(True))


def main():
    arguments = toolbox.parser(__doc__).parse_args()
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    # Leaves out headers that nvcc never compiles, and those with NCCL's header, which may be missing.
    headers = [header for header in toolbox.headers() if not {"simt", "metal", "distributed"} & set(header.parts)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        empty = lines(compiler, folder)
        if not empty:
            toolbox.fail("only nvcc preprocesses a .cu file: say where it is by --nvcc")
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            sizes = list(pool.map(lambda header: lines(compiler, folder, header) - empty, headers))
    print(f"lines above an empty .cu ({empty}); limit {LIMIT}, aim {AIM} below device/")
    for size, header in sorted(zip(sizes, headers), reverse=True):
        above_aim = size > AIM and "device" not in header.parts
        print(f"{size:7} {header}{' (above the aim)' if above_aim else ''}")
    for size, header in zip(sizes, headers):
        limit = LIMITS.get(header.as_posix(), LIMIT)
        if size > limit:
            toolbox.fail(f"{header} is above {limit} lines")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the additions that examples/learn/join_strategies counts: from few rows to several tiles of each block.

    join_strategies_test.py <path of the program>
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
from testing import expect, finish, run

STEPS = ["one table, an addition for each result", "... for each warp", "... for each block",
         "`JoinStrategy::simple`", "`JoinStrategy::radix_single`", "`JoinStrategy::radix_multi`"]
PARTITIONS = 256
GROUP_ROWS = 512  # of 128 threads of the library's joins


def additions(program, *arguments):
    """By step."""
    result = run([program, *arguments])
    expect(f"{arguments}: exit status", (result.returncode, result.stderr.decode().splitlines()),
           (0, ["join_strategies: running on the host SIMT back end"]))
    lines = result.stdout.decode().splitlines()
    expect(f"{arguments}: head", lines[:2], ["| join | additions |", "|---|--:|"])
    rows = [re.match(r"\| (.*) \| (\d+) \|\Z", line) for line in lines[2:]]
    expect(f"{arguments}: steps", [row and row[1] for row in rows], STEPS)
    return [int(row[2]) for row in rows if row]


def ceil(rows, each):
    return -(-rows // each)


def check_partitions(what, counted, results):
    """Partitions have about equally many rows, and each one's last group may have few."""
    least = results / GROUP_ROWS
    for passes, count in zip(("one pass", "two passes"), counted):
        expect(f"{what}: {passes}: {count} additions", least <= count <= least + PARTITIONS, True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    # With more build rows the table of `simple` is in device memory, not in shared memory.
    for build_rows, probe_rows in ((17000, 1024), (20000, 50000), (17000, 300000)):
        what = f"{build_rows} x {probe_rows}"
        counted = additions(program, f"--build-rows={build_rows}", f"--probe-rows={probe_rows}", "--seed=3")
        expect(f"{what}: one table", counted[:4],
               [probe_rows, ceil(probe_rows, 32), ceil(probe_rows, 256), ceil(probe_rows, GROUP_ROWS)])
        check_partitions(what, counted[4:], probe_rows)
    # Some rows have no partner: fewer results, and an addition for each warp that has one.
    counted = additions(program, "--match=50", "--probe-rows=60000")
    expect("half of the rows", abs(counted[0] - 30000) < 600, True)
    expect("half of the rows: one table", counted[1:4], [1875, 235, 118])
    check_partitions("half of the rows", counted[4:], counted[0])
    expect("no partners", additions(program, "--match=0", "--probe-rows=1000"), [0] * len(STEPS))
    additions(program, "--build-rows=1", "--probe-rows=1")
    finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the conflict degrees that examples/learn/bank_conflicts shows against known ones.

    bank_conflicts_test.py <path of the program>
"""

import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
from testing import expect, finish, run

LEVELS = [2**level for level in range(10)]
# Wavefronts of one warp, by the distance of the two elements that a thread adds.
INTERLEAVED = dict(zip(LEVELS, (2, 4, 8, 16, 32, 16, 8, 4, 2, 1)))

IN_ALL = {"sum of 1,024 elements, level by level": "interleaved 191, sequential 36",
          "scan of 1,024 elements, level by level": "plain 382, padded 72"}


def wavefronts(degree, s):
    """Of all warps: 512 / s threads add elements; 32 lanes of a warp, or those that there are."""
    return degree * max(1, 512 // s // 32)


def known():
    """Title -> name of a row -> degree and wavefronts."""
    plain = {s: (degree, wavefronts(degree, s)) for s, degree in INTERLEAVED.items()}
    padded = {s: (1, wavefronts(1, s)) for s in LEVELS}
    up, down = LEVELS, LEVELS[::-1]
    pitches = (32, 33, 34, 36, 40, 48)
    return {
        "reads of 4-byte items by a warp": {
            f"{stride}": (math.gcd(stride, 32),) * 2 for stride in range(1, 65)},
        "reads of 8-byte items by a warp": {  # in two groups of 16 lanes
            f"{2 * stride}": (math.gcd(stride, 16), 2 * math.gcd(stride, 16)) for stride in range(1, 33)},
        "sum of 1,024 elements, level by level": {
            **{f"interleaved {s}": plain[s] for s in up},
            **{f"sequential {s}": (1, max(1, s // 32)) for s in down}},
        "scan of 1,024 elements, level by level": {
            f"{name} {way} {s}": degrees[s]
            for name, degrees in (("plain", plain), ("padded", padded))
            for way, order in (("up", up), ("down", down)) for s in order},
        "transposition of 32 x 32 items, by the pitch of rows": {
            f"32 x {pitch}": (math.gcd(pitch, 32), 32 * math.gcd(pitch, 32)) for pitch in pitches},
    }


def shown(output):
    tables = {}
    for part in output.split("\n\n")[1:]:
        title, _, *lines = part.splitlines()
        if title in IN_ALL:
            expect(f"{title}: in all", lines.pop(), "in all: " + IN_ALL[title] + " wavefronts")
        rows = [re.match(r"(.{16}) +(\d+) +(\d+)(?: +\d+)?  ( *#* *)\Z", line) for line in lines]
        expect(f"{title}: all lines are rows", all(rows), True)
        tables[title] = {row[1].rstrip(): (int(row[2]), int(row[3])) for row in rows if row}
        # The longest bar belongs to the greatest number, and no bar of a smaller one is longer.
        number = 2 if "reads" in title or "pitch" in title else 3
        bars = [(len(row[4].strip()), int(row[number])) for row in rows if row]
        expect(f"{title}: bars", sorted(bars, key=lambda bar: bar[1]), sorted(bars))
        expect(f"{title}: longest bar", max(bars)[0], 40)
    return tables


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    result = run([program])
    expect("exit status", result.returncode, 0)
    output = result.stdout.decode()
    expect("says that there are no times", output.startswith("No times: the model alone"), True)
    tables = shown(output)
    wanted = known()
    expect("tables", list(tables), list(wanted))
    for title, rows in wanted.items():
        expect(f"{title}: rows", list(tables.get(title, {})), list(rows))
        for name, numbers in rows.items():
            expect(f"{title}: {name}", tables.get(title, {}).get(name), numbers)
    finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what examples/learn/radix_steps shows against a radix sort in Python.

    radix_steps_test.py <path of the program>
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
from testing import expect, finish, run

COLUMNS = re.compile(r" *(\d+) +(-?\d+)  ([0-9a-f]{8}) +([0-9a-f])  +([0-9a-f]{8}) +(\d+) +(\d+)  ([0-9a-f]{8})\Z")


def shown_passes(output):
    """For each pass its rows of text; and its counts and beginnings."""
    passes = []
    for part in re.split(r"\npass \d: bits \d+ to \d+\n", output)[1:]:
        lines = part.split("\n\n")[0].splitlines()
        rows = [COLUMNS.match(line) for line in lines[1:33]]
        tables = {line.split()[0]: [int(number) for number in line.split()[1:]] for line in lines[34:36]}
        passes.append((rows, tables))
    return passes


def check_pass(name, index, rows, tables, codes):
    """Returns the codes after the pass."""
    digits = [code >> 4 * index & 15 for code in codes]
    wanted = sorted(codes, key=lambda code: code >> 4 * index & 15)  # stable
    counts = [digits.count(digit) for digit in range(16)]
    expect(f"{name}: all rows are aligned", all(rows), True)
    for i, row in enumerate(rows):
        rank = digits[:i].count(digits[i])
        peers = sum(1 << lane for lane in range(32) if digits[lane] == digits[i])
        expect(f"{name}: row {i}",
               [int(row[1]), int(row[2]), int(row[3], 16), int(row[4], 16), int(row[5], 16), int(row[6])],
               [i, codes[i] - 2**31, codes[i], digits[i], peers, rank])
        expect(f"{name}: position {i}", int(row[7]), sum(counts[:digits[i]]) + rank)
    expect(f"{name}: counts", tables["count"], counts)
    expect(f"{name}: beginnings", tables["begin"], [sum(counts[:digit]) for digit in range(16)])
    expect(f"{name}: sorted", [int(row[8], 16) for row in rows], wanted)
    return wanted


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for seed in (1, 7):
        result = run([program, f"--seed={seed}", "--keys=0"])
        expect(f"seed {seed}: exit status", result.returncode, 0)
        output = result.stdout.decode()
        passes = shown_passes(output)
        expect(f"seed {seed}: passes", len(passes), 8)
        codes = [int(row[3], 16) for row in passes[0][0]]
        for index, (rows, tables) in enumerate(passes):
            codes = check_pass(f"seed {seed}, pass {index}", index, rows, tables, codes)
        expect(f"seed {seed}: sorted", codes, sorted(codes))
        expect(f"seed {seed}: the program's own check",
               "32 keys: each pass as a stable sort by its digit" in output, True)
    one = run([program, "--pass=7", "--keys=0"]).stdout.decode()
    expect("one pass", [int(number) for number in re.findall(r"\npass (\d):", one)], [7])
    for keys in (1, 255, 256, 257, 5000):
        result = run([program, "--pass=0", f"--keys={keys}"])
        expect(f"{keys} keys", (result.returncode, f"\n{keys} keys: as by std::sort\n" in result.stdout.decode()),
               (0, True))
    finish()


if __name__ == "__main__":
    main()

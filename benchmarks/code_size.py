#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the lines of code of strata's headers with CUB's. Comments and blank lines are not counted.

    code_size.py <folder of CUB's headers>        the folder that contains cub/

Parts that only strata has are left out: simt/, distributed/, guides/, joins, grouped aggregation, transpositions and
block/classic/. All headers in CUB's folder are counted, but not the libcu++ headers that CUB uses.
"""

import argparse
import pathlib
import re

STRATA = pathlib.Path(__file__).resolve().parents[1] / "include" / "strata"
SUFFIXES = {".cuh", ".h", ".hpp", ".inl"}
ONLY_STRATA = (r"^(simt|distributed|guides)/|^device/(join|group_by)/|^device/device_(hash_join|group_by|transpose)|"
               r"^device/transform/(agent_)?transpose|^block/(classic/|block_transpose)")


def lines_of_code(text):
    """Counts lines that are not only comment. It would mistake `//` in a string literal for a comment; headers have
    none."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return sum(1 for line in re.sub(r"//[^\n]*", "", text).splitlines() if line.strip())


def count(folder, left_out=None):
    """Returns the lines of code in the headers of a folder, without paths that match `left_out`."""
    total = 0
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.suffix in SUFFIXES and not (left_out and re.search(left_out, name)):
            total += lines_of_code(path.read_text(errors="replace"))
    return total


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("include", type=pathlib.Path)
    include = options.parse_args().include
    version = re.search(r"#define CUB_VERSION (\d+)", (include / "cub" / "version.cuh").read_text()).group(1)
    ours, theirs = count(STRATA, ONLY_STRATA), count(include / "cub")
    print(f"strata {ours:,}, CUB {version} {theirs:,}: {theirs / ours:.2f} times as many")


if __name__ == "__main__":
    main()

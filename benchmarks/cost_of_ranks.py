#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model of include/strata/distributed/README.md: prints its tables.

Measured on two H200 with NVLink are the constants below. Not measured, but assumed, are how collectives grow with the
number of ranks (with its logarithm), that a GPU keeps the speed of its link among eight, and the network of more than
eight ranks.
"""

import math

ALPHA = 19e-6  # s, a collective of a few bytes on two ranks: ncclAllReduce of 8 bytes
ALPHA_PAIR = 24e-6  # s, ncclSend and ncclRecv of 256 KiB
LINK = 355e9  # bytes/s in each direction, ncclSend and ncclRecv of 512 MiB
NETWORK = 50e9  # bytes/s of one GPU, 400 Gbit/s: assumed
SORT = 2**28 / 4.12e-3  # u32 keys/s, DeviceRadixSort
MERGE = 2**28 / 0.599e-3  # items of 4 bytes/s, DeviceMerge
REDUCE = 2**28 / 0.234e-3  # i32/s, DeviceReduce
SCAN = 2**28 / 0.557e-3  # i32/s, DeviceScan
FIRST_SAMPLES, SAMPLES, CHUNKS = 4096, 4096, 4  # sort/tuning.hpp


def collective(ranks):
    return ALPHA * math.log2(ranks)


def exchange(ranks, bytes_of_rank, link):
    """All-to-all: what a rank has for the others crosses its link."""
    return ALPHA_PAIR + bytes_of_rank * (ranks - 1) / ranks / link


def rounds(ranks, items):
    """Collectives until the splitters are found: a round leaves (ranks + 1) / samples of a bracket."""
    width, samples, number = items, FIRST_SAMPLES, 0
    while width > 0:
        stride = math.ceil(width / max(samples, 4 * (ranks + 1)))
        width, samples, number = (ranks + 1) * (stride - 1), SAMPLES // ranks, number + 1
    return number


def reduction(ranks, items):
    return items / REDUCE + collective(ranks)


def scan(ranks, items):
    return items / REDUCE + collective(ranks) + items / SCAN


def sort(ranks, items, link):
    moved = exchange(ranks, 4 * items, link)
    merged = math.ceil(math.log2(ranks)) * items / MERGE
    overlapped = max(moved, merged) + min(moved, merged) / CHUNKS
    return items / SORT + rounds(ranks, items) * collective(ranks) + overlapped


def main():
    print("| ranks | link, GB/s | all-reduce, us | exchange | reduce | scan | rounds | sort | 10^9 keys/s |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    n = 2**28
    for ranks, link in ((2, LINK), (8, LINK), (64, NETWORK), (1024, NETWORK)):
        sorts = sort(ranks, n, link)
        moved = exchange(ranks, 4 * n, link)
        print(f"| {ranks:,} | {link / 1e9:.0f} | {collective(ranks) * 1e6:.0f} | {moved * 1e3:.2f}"
              f" | {reduction(ranks, n) * 1e3:.2f} | {scan(ranks, n) * 1e3:.2f} | {rounds(ranks, n)}"
              f" | {sorts * 1e3:.1f} | {ranks * n / sorts / 1e9:,.0f} |")
    print("\n| bytes | model, us | measured, us |\n|--:|--:|--:|")
    for size, measured in ((2**18, 24), (2**22, 2**22 / 97e3), (2**26, 2**26 / 259e3), (2**29, 1520)):
        print(f"| {size >> 10:,} KiB | {(ALPHA_PAIR + size / LINK) * 1e6:,.0f} | {measured:,.0f} |")


if __name__ == "__main__":
    main()

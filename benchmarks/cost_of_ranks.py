#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model of include/strata/distributed/README.md: prints its tables.

The constants below were measured on two H200 with NVLink, except those that say "assumed". Also assumed: the time of a
collective grows with the logarithm of the number of ranks, a GPU among eight keeps the speed of its link, and
everything about the network.
"""

import math

ALPHA = 19e-6  # s, a collective of a few bytes on two ranks: ncclAllReduce of 8 bytes
ALPHA_SHARED = ALPHA - 2e-6  # s, through shared memory: 1.5 to 3 us less; assumed: also among eight GPUs
ALPHA_PAIR = 24e-6  # s, ncclSend and ncclRecv of 256 KiB
LINK = 355e9  # bytes/s in each direction, ncclSend and ncclRecv of 512 MiB
COPY = 371e9  # bytes/s, a copy engine that reads from another GPU
NETWORK = 50e9  # bytes/s of one GPU, 400 Gbit/s: assumed
MESSAGE = 2e-6  # s that a GPU takes for each rank it sends to: assumed
HOST = 8  # GPUs with NVLink between them
SORT = 2**28 / 4.12e-3  # u32 keys/s, DeviceRadixSort
MERGE = 2**28 / 0.599e-3  # items of 4 bytes/s, DeviceMerge
REDUCE = 2**28 / 0.234e-3  # i32/s, DeviceReduce
SCAN = 2**28 / 0.557e-3  # i32/s, DeviceScan
# A join that sends rows to the ranks of their keys takes 14.0 ms for 2^27 x 2^27 rows of u32 on each of two GPUs.
GROUP = 2**27 / 3.7e-3  # rows of each side/s, grouped by rank
RECEIVED = 2**27 / 1.05e-3  # rows of each side/s, copied to their place after the exchange
JOIN = 2**27 / 5.65e-3  # rows of each side/s: the rest of the 14.0 ms, without these two and 3.6 ms of exchange
ROW = 8  # bytes of a key and its number
FIRST_SAMPLES, SAMPLES, CHUNKS = 4096, 4096, 4  # sort/tuning.hpp


def collective(ranks):
    """Seconds of a small message from each rank to all others."""
    return 0 if ranks == 1 else ALPHA_SHARED + ALPHA * max(math.log2(ranks / HOST), 0)


def exchange(ranks, bytes_of_rank):
    """Seconds of an all-to-all in one step: a rank's items for the others cross its link, or the network."""
    if ranks <= HOST:
        return ALPHA_PAIR + bytes_of_rank * (ranks - 1) / ranks / LINK
    return ALPHA_PAIR + (ranks - HOST) * MESSAGE + bytes_of_rank * (ranks - HOST) / ranks / NETWORK


def exchange_in_two_steps(ranks, bytes_of_rank):
    """First, GPU i of each host gets the items for the GPUs i of all hosts. Then the GPUs i exchange them between
    hosts."""
    hosts = ranks / HOST
    inside = ALPHA_SHARED + bytes_of_rank * (HOST - 1) / HOST / COPY
    return inside + ALPHA_PAIR + (hosts - 1) * MESSAGE + bytes_of_rank * (hosts - 1) / hosts / NETWORK


def best_exchange(ranks, bytes_of_rank):
    one = exchange(ranks, bytes_of_rank) if ranks > 1 else 0
    return min(one, exchange_in_two_steps(ranks, bytes_of_rank)) if ranks > HOST else one


def rounds(ranks, items):
    """Collectives until the splitters are found. Each round narrows a bracket to (ranks + 1) / samples of its width."""
    width, samples, number = items, FIRST_SAMPLES, 0
    while width > 0:
        stride = math.ceil(width / max(samples, 4 * (ranks + 1)))
        width, samples, number = (ranks + 1) * (stride - 1), SAMPLES // ranks, number + 1
    return number


def reduction(ranks, items):
    return items / REDUCE + collective(ranks)


def scan(ranks, items):
    """The last rank needs no sum of its own items, but it waits for the sums of the others. So all ranks take as
    long."""
    return (items / REDUCE + collective(ranks) if ranks > 1 else 0) + items / SCAN


def sort(ranks, items):
    if ranks == 1:
        return items / SORT
    moved = best_exchange(ranks, 4 * items)
    merged = math.ceil(math.log2(ranks)) * items / MERGE
    overlapped = max(moved, merged) + min(moved, merged) / CHUNKS
    return items / SORT + rounds(ranks, items) * collective(ranks) + overlapped


def join(ranks, rows):
    """A join that sends rows to the ranks of their keys. Both sides have `rows` rows on each rank."""
    if ranks == 1:
        return rows / (2**28 / 8.0e-3)
    moved = best_exchange(ranks, 2 * ROW * rows)
    return rows / GROUP + 2 * collective(ranks) + moved + rows / RECEIVED + rows / JOIN


def main():
    n = 2**28
    print("| ranks | collective, us | exchange | in two steps | reduce | scan | rounds | sort | 10^9 keys/s | join"
          " | 10^9 rows/s |")
    print("|--:" * 11 + "|")
    for ranks in (1, 2, 8, 16, 64, 1024):
        sorts, joins = sort(ranks, n), join(ranks, n // 2)
        moved = f"{exchange(ranks, 4 * n) * 1e3:.2f}" if ranks > 1 else ""
        steps = f"{exchange_in_two_steps(ranks, 4 * n) * 1e3:.2f}" if ranks > HOST else ""
        number = rounds(ranks, n) if ranks > 1 else ""
        print(f"| {ranks:,} | {collective(ranks) * 1e6:.0f} | {moved} | {steps} | {reduction(ranks, n) * 1e3:.2f}"
              f" | {scan(ranks, n) * 1e3:.2f} | {number} | {sorts * 1e3:.1f} | {ranks * n / sorts / 1e9:,.0f}"
              f" | {joins * 1e3:.1f} | {ranks * n / 2 / joins / 1e9:,.0f} |")
    print("\n| ranks | items of each | reduce | scan | sort | join |\n" + "|--:" * 6 + "|")
    for power in (0, 3, 4, 6, 8, 10):
        ranks, items = 2**power, 2 ** (32 - power)
        times = " | ".join(f"{call(ranks, items) * 1e3:.2f}" for call in (reduction, scan, sort, join))
        print(f"| {ranks:,} | 2^{32 - power} | {times} |")
    print("\n| bytes | model, us | measured, us |\n|--:|--:|--:|")
    for size, measured in ((2**18, 24), (2**22, 2**22 / 97e3), (2**26, 2**26 / 259e3), (2**29, 1520)):
        print(f"| {size >> 10:,} KiB | {(ALPHA_PAIR + size / LINK) * 1e6:,.0f} | {measured:,.0f} |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times PyTorch's topk, sort, cumsum and unique on this GPU, and compares them with figures of the benchmark programs.

    torch_peers.py                                  prints a CSV, as report.py reads it; a table goes to stderr
    torch_peers.py --csv torch.csv --results DIR    DIR has the CSV files of strata on the same GPU
    report.py results/h200/top_k.csv torch.csv      torch as a rival among the others

It shows what a user of PyTorch has today, measured by a program that does not use the benchmark harness. A sample is a
batch of calls between two CUDA events, as in the harness. PyTorch's calls do a little more: indices have 8 bytes,
strata's values only 4, and PyTorch takes memory for results from its pool.

Needs PyTorch with CUDA and a GPU. Without them, the exit code is 77, and the message says what is missing.
"""

import argparse
import collections
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import report  # noqa: E402  (found through the line above)

SKIPPED = 77
SEED = 20260101

# A call of PyTorch: its name, a function that makes its input, the call, and the cases of strata that do the same work
# one after the other. If there are several cases, their times are added up, and the sum has the name `sum_name`.
SIZES = [1 << 20, 1 << 24, 1 << 28]
Peer = collections.namedtuple("Peer", "name make call cases sum_name sizes", defaults=[None, SIZES])


def uniform_floats(torch, n):
    return torch.rand(n, device="cuda")


def uniform_integers(torch, n):
    return torch.randint(-2**31, 2**31, (n,), dtype=torch.int32, device="cuda")


def in_groups_of_16(torch, n):
    return torch.randint(0, max(1, n // 16), (n,), dtype=torch.int32, device="cuda")


def top_k_of_rows(rows, items, k):
    return Peer("topk of rows", lambda torch, n: torch.rand(rows, n // rows, device="cuda"),
                lambda torch, x: torch.topk(x, k),
                [("DeviceSegmentedTopK::MaxKeysSorted", "f32", f"uniform rows={rows} k={k}")], sizes=[rows * items])


PEERS = [
    Peer("topk", uniform_floats, lambda torch, x: torch.topk(x, 32),
         [("DeviceTopK::MaxKeysSorted", "f32", "uniform k=32")]),
    Peer("topk", uniform_floats, lambda torch, x: torch.topk(x, 1000),
         [("DeviceTopK::MaxPairsSorted", "f32:u32", "uniform k=1000")]),
    Peer("sort", uniform_integers, lambda torch, x: torch.sort(x),
         [("DeviceRadixSort::SortPairs", "u32:u32", "uniform")]),
    Peer("cumsum", uniform_floats, lambda torch, x: torch.cumsum(x, 0),
         [("DeviceScan::ExclusiveSum", "f32", "uniform")]),
    Peer("cumsum", uniform_integers, lambda torch, x: torch.cumsum(x, 0, dtype=torch.int32),
         [("DeviceScan::ExclusiveSum", "i32", "uniform")]),
    Peer("unique", in_groups_of_16, lambda torch, x: torch.unique(x),
         [("DeviceRadixSort::SortKeys", "u32", "uniform"), ("DeviceSelect::Unique", "u32", "runs=16")],
         ("sort and DeviceSelect::Unique", "u32", "runs=16")),
    Peer("unique with inverse", in_groups_of_16,
         lambda torch, x: torch.unique(x, return_inverse=True, return_counts=True),
         [("DeviceGroupBy::Groups", "u32", "16 rows a group")]),
    top_k_of_rows(1 << 20, 64, 8),
    top_k_of_rows(1 << 16, 1024, 32),
    top_k_of_rows(4096, 4096, 64),
    top_k_of_rows(1024, 8192, 128),
    top_k_of_rows(256, 131072, 2048),
]


def import_torch():
    """Returns the module torch, or ends the program if it cannot use a GPU."""
    try:
        import torch
    except ImportError:
        return skip("there is no torch (pip install torch)")
    if torch.version.cuda is None:
        return skip(f"torch {torch.__version__} was built without CUDA")
    if not torch.cuda.is_available():
        return skip("torch finds no GPU")
    return torch


def skip(reason):
    print(f"torch_peers.py: skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def measure(torch, peer, n, samples, target_ms):
    """Returns the milliseconds of a call, one number per sample."""
    torch.manual_seed(SEED)
    x = peer.make(torch, n)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample(batch):
        peer.call(torch, x)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(batch):
            peer.call(torch, x)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / batch

    sample(1)
    batch = max(1, min(100, round(target_ms / max(sample(1), 1e-6))))
    return [sample(batch) for _ in range(samples)]


def key_of(peer, n):
    return report.Key(*(peer.sum_name or peer.cases[0]), n)


def ours_of(timings, peer, n):
    """Returns strata's (median, least) milliseconds, or None if a case is not in the files."""
    parts = [timings.get(report.Key(*case, n), {}).get("strata") for case in peer.cases]
    if None in parts:
        return None
    return sum(part.median for part in parts), sum(min(part.minima) for part in parts)


def csv_line(key, lib, median, least):
    return ",".join([key.algorithm, key.type, key.case, str(key.n), lib, f"{median:.7g}", f"{least:.7g}",
                     f"{key.n / median * 1e3:.7g}", "", ""])


def results_of(folder):
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".csv"))
    return report.read_timings(paths)


def run(torch, options, timings):
    """Returns the lines of the CSV, and the lines of the table."""
    lines = [",".join(report.COLUMNS)]
    table = [f"{'torch':20}{'beside':64}{'n':>6}{'torch us':>12}{'strata us':>12}{'ratio':>8}"]
    for peer in PEERS:
        if options.only and peer.name not in options.only.split(","):
            continue
        for n in peer.sizes:
            if n > options.max_n:
                continue
            try:
                taken = measure(torch, peer, n, options.samples, options.target_us / 1000)
            except torch.cuda.OutOfMemoryError:
                table.append(f"{peer.name:20}{report.n_text(n)}: does not fit the memory")
                continue
            key, median, ours = key_of(peer, n), statistics.median(taken), ours_of(timings, peer, n)
            # No program measures the sum as a case, so this CSV must have strata's row as well.
            if peer.sum_name and ours:
                lines.append(csv_line(key, "strata", *ours))
            lines.append(csv_line(key, "torch", median, min(taken)))
            beside = f"{key.algorithm} {key.type} {key.case}"
            table.append(f"{peer.name:20}{beside:64}{report.n_text(n):>6}{report.time_text(median):>12}" +
                         (f"{report.time_text(ours[0]):>12}{median / ours[0]:8.2f}" if ours else f"{'none':>12}"))
    return lines, table


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", metavar="FILE", help="where the CSV goes (default: printed)")
    parser.add_argument("--results", metavar="DIR", default=os.path.join(HERE, "results", "h200"),
                        help="CSV files of the programs (default: results/h200)")
    parser.add_argument("--only", default="", metavar="NAME,...",
                        help="only these: topk, topk of rows, sort, cumsum, unique, unique with inverse")
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--target-us", type=float, default=1000, help="length of a sample")
    parser.add_argument("--max-n", type=int, default=SIZES[-1], help="leave out larger inputs")
    options = parser.parse_args(arguments)
    torch = import_torch()
    try:
        timings = results_of(options.results)
    except (OSError, ValueError) as error:
        print(f"torch_peers.py: --results: {error}", file=sys.stderr)
        return 2
    lines, table = run(torch, options, timings)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    else:
        print("\n".join(lines))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}; strata's figures are "
          f"those of {options.results}\n" + "\n".join(table), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

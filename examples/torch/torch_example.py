#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of strata in PyTorch: compiles strata_torch.cu by nvcc, loads it, and calls each operator once.

With --bench it measures them beside PyTorch's own, and prints a table. Exit status 77: something that it needs is
not there."""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent / "strata_torch.cu"
ROOT = SOURCE.parents[2]
SKIPPED = 77


def parser(description):
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--nvcc", default=os.environ.get("CUDACXX", "nvcc"), help="the compiler")
    result.add_argument("--include", default=ROOT / "include", type=pathlib.Path, help="the folder of strata's headers")
    result.add_argument("--folder", default=ROOT / "build" / "torch", type=pathlib.Path,
                        help="where the compiled library is stored")
    return result


def import_torch():
    """torch, or the end of the program, which says what is missing."""
    try:
        import torch
    except ImportError:
        return skip("there is no torch")
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 11):
        return skip(f"torch {torch.__version__} is older than 2.11")
    if torch.version.cuda is None:
        return skip(f"torch {torch.__version__} was built without CUDA")
    if not torch.cuda.is_available():
        return skip("torch finds no GPU")
    return torch


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def build(options, architecture, torch_folder):
    """The path of the library. It is compiled if it is not there, or older than its sources."""
    library = options.folder / f"strata_torch_{architecture}.so"
    sources = [SOURCE, *(path for path in (options.include / "strata").rglob("*") if path.is_file())]
    if library.exists() and library.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return library
    if not shutil.which(options.nvcc):
        return skip(f"there is no {options.nvcc}")
    options.folder.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_suffix(f".{os.getpid()}.so")
    command = [options.nvcc, "-std=c++17", "-O3", f"-arch={architecture}", "-shared", "-Xcompiler=-fPIC",
               "--split-compile=0",  # all cores
               f"-I{options.include}", f"-isystem={torch_folder / 'include'}", str(SOURCE), "-o", str(unfinished),
               f"-L{torch_folder / 'lib'}", "-ltorch_cuda", "-ltorch_cpu"]
    print(shlex.join(command), flush=True)
    begin = time.monotonic()
    subprocess.run(command, check=True)
    unfinished.replace(library)  # two processes may build at the same time
    print(f"compiled in {time.monotonic() - begin:.0f} s", flush=True)
    return library


def load(options):
    """torch and torch.ops.strata."""
    torch = import_torch()
    major, minor = torch.cuda.get_device_capability()
    torch.ops.load_library(build(options, f"sm_{major}{minor}", pathlib.Path(torch.__file__).parent))
    return torch, torch.ops.strata


# ---------------------------------------------------------------------------------- what the operators do
def show(torch, strata):
    def array(*items):
        return torch.tensor(items, device="cuda")

    values, offsets = array(2.5, 7.0, 1.5, 4.0, 0.5, 9.0), array(0, 3, 3, 6)
    ordered, indices = strata.segmented_sort(values, offsets, descending=True)
    print("segmented_sort:", ordered.tolist(), "from", indices.tolist())

    customers, orders = array(10, 20, 30), array(20, 10, 20, 40, 30)
    customer_rows, order_rows = strata.join(customers, orders)
    print("join: (customer, order)", sorted(zip(customer_rows.tolist(), order_rows.tolist())))

    print("cumsum:", strata.cumsum(array(3, 1, 4, 1, 5)).tolist())


# ---------------------------------------------------------------------------------- the same in PyTorch
def sort_twice(torch, values, segments):
    """Sorts by value, then stably by segment. `segments` has the number of the segment of each item."""
    ordered, indices = values.sort(stable=True)
    by_segment = segments[indices].sort(stable=True).indices
    return ordered[by_segment], indices[by_segment]


def sort_packed(torch, values, segments):
    """Sorts integers of 64 bits: a segment's number, then an int32 value."""
    packed, indices = ((segments << 32) | (values.long() + 2**31)).sort(stable=True)
    return ((packed & 0xffffffff) - 2**31).int(), indices


def join_by_search(torch, build_keys, probe_keys):
    """Sorts one side, and searches it for the keys of the other."""
    ordered, order = build_keys.sort()
    first = torch.searchsorted(ordered, probe_keys)
    partners = torch.searchsorted(ordered, probe_keys, right=True) - first
    probe_rows = torch.repeat_interleave(partners)
    number = torch.arange(len(probe_rows), device=first.device) - (partners.cumsum(0) - partners)[probe_rows]
    return order[first[probe_rows] + number], probe_rows


# ---------------------------------------------------------------------------------- times
def milliseconds(torch, call, calls=21):
    """The median of `calls` calls, each between two events."""
    times = []
    for i in range(3 + calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[3:])


def bench_calls(torch, strata, items):
    """What is measured: text, a call of strata, and the calls of torch that stand beside it."""
    generator = torch.Generator("cuda").manual_seed(1)

    def integers(low, high, count=items, dtype=torch.int32):
        return torch.randint(low, high, (count,), generator=generator, device="cuda", dtype=dtype)

    keys, floats = integers(-2**31, 2**31), torch.rand(items, generator=generator, device="cuda")
    cuts = integers(0, items + 1, items // 100, torch.int64).sort().values
    offsets = torch.cat([cuts.new_zeros(1), cuts, cuts.new_full((1,), items)])
    segments = torch.repeat_interleave(offsets.diff())
    yield ("sort of segments, mean length 100, int32", lambda: strata.segmented_sort(keys, offsets),
           {"two stable sorts": lambda: sort_twice(torch, keys, segments),
            "one sort of packed int64": lambda: sort_packed(torch, keys, segments)})
    yield ("sort of segments, mean length 100, float32", lambda: strata.segmented_sort(floats, offsets),
           {"two stable sorts": lambda: sort_twice(torch, floats, segments)})
    even = torch.arange(0, items + 1, 128, device="cuda")
    yield ("sort of segments of 128, float32", lambda: strata.segmented_sort(floats, even),
           {"sort(dim=1) of rows": lambda: floats.view(-1, 128).sort(dim=1)})
    del cuts, offsets, segments, even

    build, probe = torch.randperm(items, generator=generator, device="cuda", dtype=torch.int32), integers(0, 2 * items)
    yield ("join, half of the probe rows have a partner, int32", lambda: strata.join(build, probe),
           {"sort and two searchsorted": lambda: join_by_search(torch, build, probe),
            "isin: which have one": lambda: torch.isin(probe, build)})
    del build, probe

    yield ("cumsum, float32", lambda: strata.cumsum(floats), {"cumsum": lambda: floats.cumsum(0)})
    yield ("cumsum, int32", lambda: strata.cumsum(keys),
           {"cumsum, dtype=int32": lambda: keys.cumsum(0, dtype=torch.int32)})


def bench(torch, strata, logs):
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: milliseconds of a call from Python, by CUDA "
          "events, median of 21\n")
    print("| call | items | strata | torch, by | torch | torch / strata |\n|---|--:|--:|---|--:|--:|")
    for log in logs:
        for text, call, rivals in bench_calls(torch, strata, 2**log):
            ours = milliseconds(torch, call)
            for name, rival in rivals.items():
                theirs = milliseconds(torch, rival)
                print(f"| {text} | 2^{log} | {ours:.3f} | {name} | {theirs:.3f} | {theirs / ours:.2f} |", flush=True)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--bench", action="store_true", help="measure, beside PyTorch's own operators")
    arguments.add_argument("--logs", type=int, nargs="+", default=[20, 26], help="measure 2 to this power items")
    options = arguments.parse_args()
    torch, strata = load(options)
    if options.bench:
        bench(torch, strata, options.logs)
    else:
        show(torch, strata)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the operators of strata_torch.cu: results on random data, beside those of PyTorch on the CPU; what they refuse;
streams, memory and graphs. Exit status 77 where there is no PyTorch with a GPU, or no nvcc."""

import contextlib
import io
import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
import torch_example  # noqa: E402
from testing import expect, finish  # noqa: E402

torch, strata = torch_example.load(torch_example.parser(__doc__).parse_args())
torch.manual_seed(1)


def numbers(count, dtype, distinct=None):
    """Of `distinct` values, or of any; among floating-point numbers there are infinities and NaNs."""
    if distinct or not dtype.is_floating_point:
        info = None if dtype.is_floating_point else torch.iinfo(dtype)
        low, high = (0, distinct) if distinct else (info.min, info.max)
        return torch.randint(low, high, (count,), dtype=torch.int64).to(dtype)
    result = torch.randn(count, dtype=torch.float64).to(dtype)
    for special in (float("inf"), float("-inf"), float("nan")):
        result[torch.rand(count) < 0.02] = special
    return result


def is_same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.cpu().nan_to_num(7), b.cpu().nan_to_num(7))


# ---------------------------------------------------------------------------------- results
def random_offsets(count, segments):
    """Of segments of any lengths, of which many are empty."""
    positions = torch.randint(0, count + 1, (segments // 2 + 1,))
    cuts = positions[torch.randint(0, len(positions), (segments - 1,))]
    return torch.cat([torch.tensor([0]), cuts.sort().values, torch.tensor([count])])


def sorted_on_cpu(values, offsets, descending):
    indices = values.sort(stable=True, descending=descending).indices
    segments = torch.repeat_interleave(offsets.diff())
    indices = indices[segments[indices].sort(stable=True).indices]
    return values[indices], indices


def sorts_segments():
    types = (torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
    shapes = ((0, 1), (0, 5), (1, 1), (2, 1), (31, 7), (1000, 1), (1000, 2000), (5000, 3), (100_000, 1000),
              (300_000, 1), (300_000, 4))
    for dtype, (count, segments), descending in itertools.product(types, shapes, (False, True)):
        for distinct in (None, 5):
            values, offsets = numbers(count, dtype, distinct), random_offsets(count, segments)
            what = f"{count} of {dtype} in {segments} segments, {descending=}, {distinct=}"
            expected = sorted_on_cpu(values, offsets, descending)
            offsets_type = torch.int32 if distinct else torch.int64
            got = strata.segmented_sort(values.cuda(), offsets.cuda().to(offsets_type), descending=descending)
            expect(f"{what}: values", is_same(got[0], expected[0]), True)
            expect(f"{what}: indices", is_same(got[1], expected[1]), True)
    empty = strata.segmented_sort(torch.empty(0, device="cuda"), torch.zeros(1, dtype=torch.int64, device="cuda"))
    expect("no segments", [len(part) for part in empty], [0, 0])


def pairs(build_rows, probe_rows):
    """In one order."""
    return torch.stack([build_rows, probe_rows]).cpu().t().unique(dim=0, return_counts=True)


def joins():
    for dtype, (build_count, probe_count, distinct) in itertools.product((torch.int32, torch.int64), (
            (0, 0, 9), (0, 9, 9), (9, 0, 9), (1, 1, 1), (1, 1, 9), (50, 70, 20), (1000, 1000, 10), (3, 40_000, 3),
            (40_000, 3, 3), (20_000, 100_000, None), (20_000, 100_000, 30_000), (100_000, 20_000, 100_000))):
        build, probe = (numbers(count, dtype, distinct) for count in (build_count, probe_count))
        what = f"{build_count} and {probe_count} keys of {dtype}, {distinct=}"
        got, expected = strata.join(build.cuda(), probe.cuda()), torch_example.join_by_search(torch, build, probe)
        expect(f"{what}: types", [part.dtype for part in got], [torch.int64] * 2)
        expect(f"{what}: rows", [len(part) for part in got], [len(part) for part in expected])
        if len(expected[0]) > 0 and len(got[0]) == len(expected[0]):
            expect(f"{what}: pairs", all(map(torch.equal, pairs(*got), pairs(*expected))), True)


def adds_up():
    for dtype, count in itertools.product((torch.int32, torch.int64, torch.float32, torch.float64),
                                          (0, 1, 2, 1000, 4097, 1_000_003)):
        x = torch.randint(-9, 10, (count,)).to(dtype)  # sums of such numbers are exact in every type
        got = strata.cumsum(x.cuda())
        expect(f"cumsum of {count} of {dtype}", is_same(got, x.cumsum(0).to(dtype)), True)
    x = torch.randn(100_000, dtype=torch.float64)
    expect("cumsum: rounding", torch.allclose(strata.cumsum(x.cuda()).cpu(), x.cumsum(0), rtol=1e-9, atol=1e-9), True)


def shows_what_the_readme_says():
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        torch_example.show(torch, strata)
    readme = (HERE / "README.md").read_text()
    for line in output.getvalue().splitlines():
        expect("README", line if f"    {line}\n" in readme else None, line)


# ---------------------------------------------------------------------------------- arguments
def takes_every_second_item():
    values, offsets, keys = numbers(5000, torch.float32), random_offsets(2500, 9), numbers(3000, torch.int32, 90)
    spread = torch.stack([offsets, offsets], dim=1).flatten().cuda()
    got = strata.segmented_sort(values.cuda()[::2], spread[::2])
    expect("every second value", is_same(got[0], sorted_on_cpu(values[::2], offsets, False)[0]), True)
    got = strata.join(keys.cuda()[::2], keys.cuda()[1::2])
    expect("every second key", len(got[0]), len(torch_example.join_by_search(torch, keys[::2].contiguous(),
                                                                             keys[1::2].contiguous())[0]))
    expect("cumsum of every second key", is_same(strata.cumsum(keys.cuda()[::2]), keys[::2].cumsum(0).int()), True)


def refuses():
    x, offsets = torch.ones(4, device="cuda"), torch.tensor([0, 4], device="cuda")
    keys = torch.ones(4, device="cuda", dtype=torch.int32)
    for what, call, message in (
            ("CPU", lambda: strata.cumsum(x.cpu()), "'strata::cumsum' with arguments from the 'CPU' backend"),
            ("offsets on CPU", lambda: strata.segmented_sort(x, offsets.cpu()), "offsets must be on a CUDA device"),
            ("probe on CPU", lambda: strata.join(keys, keys.cpu()), "probe_keys must be on a CUDA device"),
            ("matrix", lambda: strata.cumsum(x.view(2, 2)), "x must have one dimension, but has 2"),
            ("bool", lambda: strata.cumsum(x > 0),
             "x must have one of the types int32, int64, float32 and float64, but has Bool"),
            ("bool values", lambda: strata.segmented_sort(x > 0, offsets), "values must have one of the types int32, "),
            ("offsets", lambda: strata.segmented_sort(x, x), "offsets must have one of the types int32 and int64"),
            ("no offsets", lambda: strata.segmented_sort(x, offsets[:0]), "offsets must have one item more than there"),
            ("types", lambda: strata.join(keys, keys.long()), "must have one type, but have Int and Long"),
            ("float keys", lambda: strata.join(x, x), "build_keys must have one of the types int32 and int64")):
        try:
            call()
            expect(f"{what}: refused", False, True)
        except (RuntimeError, NotImplementedError) as error:
            expect(f"{what}: message", message if message in str(error) else str(error)[:300], message)


# ---------------------------------------------------------------------------------- streams, memory, graphs
def calls(values, offsets, keys):
    """Results that can be compared: those of a join sorted, because their order may change."""
    return [*strata.segmented_sort(values, offsets), strata.cumsum(keys), strata.segmented_sort(*joined(keys))[0]]


def joined(keys):
    build_rows, probe_rows = strata.join(keys, keys)
    pair_numbers = build_rows * len(keys) + probe_rows
    return pair_numbers, torch.tensor([0, len(pair_numbers)], device="cuda")


def uses_the_current_stream():
    values, keys = numbers(100_000, torch.float32).cuda(), numbers(3000, torch.int32, 500).cuda()
    offsets = random_offsets(100_000, 90).cuda()
    expected = [part.cpu() for part in calls(values, offsets, keys)]
    late_values, late_keys = torch.zeros_like(values), torch.zeros_like(keys)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)  # cycles: some 30 ms before the right values are there
        late_values.copy_(values)
        late_keys.copy_(keys)
        got = calls(late_values, offsets, late_keys)
    stream.synchronize()
    for i, (one, other) in enumerate(zip(got, expected)):
        expect(f"on another stream: result {i}", is_same(one, other), True)


def takes_memory_from_torch():
    count = 1 << 20
    values, offsets = numbers(count, torch.float32).cuda(), torch.tensor([0, count], device="cuda")
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = strata.segmented_sort(values, offsets)
    results = sum(part.nbytes for part in result)
    after, peak = (get() - before for get in (torch.cuda.memory_allocated, torch.cuda.max_memory_allocated))
    expect("memory: nothing but the results is kept", after, results)
    expect("memory: indices before the sort, and temporary storage", peak >= results + 8 * count + 12 * count, True)


def can_be_captured():
    values, keys = numbers(50_000, torch.float32).cuda(), numbers(50_000, torch.int32, 500).cuda()
    offsets = random_offsets(50_000, 90).cuda()

    def sort_and_add_up():
        return *strata.segmented_sort(values, offsets), strata.cumsum(keys)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = sort_and_add_up()
    for replay in range(3):
        values.copy_(numbers(50_000, torch.float32))
        keys.copy_(numbers(50_000, torch.int32, 500))
        offsets.copy_(random_offsets(50_000, 90))
        graph.replay()
        for i, (one, other) in enumerate(zip(results, sort_and_add_up())):
            expect(f"replay {replay}: result {i}", is_same(one, other), True)


shows_what_the_readme_says()
sorts_segments()
joins()
adds_up()
takes_every_second_item()
refuses()
uses_the_current_stream()
takes_memory_from_torch()
can_be_captured()
finish()

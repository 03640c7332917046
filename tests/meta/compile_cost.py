#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what a call costs to compile with the same call of CUB: bytes of the object file, and CPU seconds.

CUB has no join, so a join is compared with a sort of pairs, with which a sort-merge join begins. The row "every header"
makes no call. Each row of the table is one source with one call, compiled by `nvcc -arch=sm_90 -O3 -c`.

compile_cost.csv has a limit and a goal for each ratio strata / CUB. A limit is the ratio that was measured last, plus a
tenth, so that growth is noticed. If an object reaches its goal, the goal is its limit if that is less. Sizes are
compared exactly. CPU time fails only above 1.5 times its limit, because other work on the machine disturbs it.

    compile_cost.py --nvcc nvcc                  prints the table, with medians of three runs
    compile_cost.py --nvcc nvcc --once           runs once, as the test does
    compile_cost.py --nvcc nvcc --write-limits   also writes limits from the measured ratios
    compile_cost.py --nvcc nvcc --kernels scan   lists the kernels in the objects of strata and CUB
    compile_cost.py --self-test
"""

import argparse
import csv
import pathlib
import re
import resource
import shutil
import statistics
import struct
import subprocess
import tempfile

import toolbox

LIMITS = pathlib.Path(__file__).with_name("compile_cost.csv")
COLUMNS = ["call", "object_limit", "object_goal", "cpu_limit", "cpu_goal"]
GOALS = {"object": 2.0, "cpu": 1.0}
# 1 MB, and 12 s where CUB's sort takes 8 s.
GOALS_OF_STAND_INS = {"object": 3.3, "cpu": 1.5}
HEADROOM = 1.1
CPU_TOLERANCE = 1.5

# (includes, call). NS stands for strata or cub.
SORT_PAIRS = ("device_radix_sort.cuh",
              "NS::DeviceRadixSort::SortPairs(storage, bytes, in, out, in_values, out_values, n);")
SEGMENTS = ", segments, offsets, offsets + 1"
ROW_SORTS = [
    ("segments == 0", "DeviceRadixSort::SortPairs", ""),
    ("segments == 1", "DeviceRadixSort::SortPairsDescending", ""),
    ("segments < 9", "DeviceSegmentedSort::SortPairs", SEGMENTS),
    ("segments < 99", "DeviceSegmentedSort::SortPairsDescending", SEGMENTS),
    ("n < 999", "DeviceSegmentedRadixSort::SortPairs", SEGMENTS),
    ("n < 9999", "DeviceSegmentedRadixSort::SortPairsDescending", SEGMENTS),
]
CALLS = {
    "every header": ("", "cudaSuccess;"),
    "scan": ("device_scan.cuh", "NS::DeviceScan::ExclusiveSum(storage, bytes, in, out, n);"),
    "radix keys": ("device_radix_sort.cuh", "NS::DeviceRadixSort::SortKeys(storage, bytes, in, out, n);"),
    "radix pairs": SORT_PAIRS,
    "segmented sort": ("device_segmented_sort.cuh",
                       "NS::DeviceSegmentedSort::SortKeys(storage, bytes, in, out, n, segments, offsets,"
                       " offsets + 1);"),
    "merge sort": ("device_merge_sort.cuh", "NS::DeviceMergeSort::SortKeys(storage, bytes, out, n, less{});"),
    "select": ("device_select.cuh", "NS::DeviceSelect::If(storage, bytes, in, out, selected, n, odd{});"),
    # An iterator with much state and code, as in programs for gradient boosting.
    "segmented reduce": ("device_segmented_reduce.cuh",
                         "NS::DeviceSegmentedReduce::Sum(storage, bytes, gains, gains_out, segments, offsets,"
                         " offsets + 1);"),
    # Sorts rows of floats with their indices, in both directions, as inference engines do.
    "row sorts": ("device_radix_sort.cuh device_segmented_radix_sort.cuh device_segmented_sort.cuh",
                  " : ".join(f"{when} ? NS::{name}(storage, bytes, scores, scores_out, selected, selected, n{rest})"
                             for when, name, rest in ROW_SORTS) + " : cudaSuccess;"),
    "inner join": ("device_hash_join.hpp",
                   "NS::DeviceHashJoin::Inner(storage, bytes, NS::join_side(in, n), NS::join_side(in_values, n),"
                   " NS::join_pairs(out, out_values, n), number);"),
}
# Calls that CUB does not have, with the calls that stand in for them.
STAND_INS = {"inner join": SORT_PAIRS}
SOURCE = """{includes}

#include <cstddef>
#include <iterator>

struct less {{
  __host__ __device__ bool operator()(unsigned a, unsigned b) const {{ return a < b; }}
}};
struct odd {{
  __host__ __device__ bool operator()(unsigned a) const {{ return (a & 1) != 0; }}
}};

// Gains of a ranking.
struct gain_iterator {{
  using iterator_category = std::random_access_iterator_tag;
  using value_type = double;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = double;

  const float* scores;
  const float* labels;
  const float* weights;
  const unsigned* begins;
  const unsigned* order;
  unsigned groups;
  float scale;
  std::ptrdiff_t index;

  __host__ __device__ double operator[](std::ptrdiff_t n) const {{
    const auto item = static_cast<unsigned>(index + n);
    unsigned first = 0;
    for (unsigned count = groups; count > 0; count /= 2) {{
      if (begins[first + count / 2] <= item) first += count - count / 2;
    }}
    const double p = 1.0 / (1.0 + exp(-static_cast<double>(scores[order[item]]) * scale));
    const double gain = exp2(static_cast<double>(labels[order[item]])) - 1.0;
    return weights[first] * gain * pow(p, 1.5) / log2(static_cast<double>(item - begins[first]) + 2.0);
  }}
  __host__ __device__ double operator*() const {{ return (*this)[0]; }}
  __host__ __device__ gain_iterator& operator+=(std::ptrdiff_t n) {{ return index += n, *this; }}
  __host__ __device__ gain_iterator& operator++() {{ return *this += 1; }}
  __host__ __device__ gain_iterator operator+(std::ptrdiff_t n) const {{ return gain_iterator(*this) += n; }}
  __host__ __device__ gain_iterator operator-(std::ptrdiff_t n) const {{ return gain_iterator(*this) += -n; }}
  __host__ __device__ std::ptrdiff_t operator-(const gain_iterator& other) const {{ return index - other.index; }}
  __host__ __device__ bool operator==(const gain_iterator& other) const {{ return index == other.index; }}
  __host__ __device__ bool operator!=(const gain_iterator& other) const {{ return index != other.index; }}
}};

cudaError_t call(void* storage, std::size_t& bytes, const unsigned* in, unsigned* out, const unsigned* in_values,
                 unsigned* out_values, int* selected, long long* number, const int* offsets, int segments,
                 int n, gain_iterator gains, double* gains_out, const float* scores, float* scores_out) {{
  static_cast<void>(gains), static_cast<void>(gains_out), static_cast<void>(scores), static_cast<void>(scores_out);
  static_cast<void>(in_values), static_cast<void>(out_values), static_cast<void>(selected), static_cast<void>(number);
  static_cast<void>(offsets), static_cast<void>(segments), static_cast<void>(in);
  return {call}
}}
"""


def source_of(call, library):
    headers, text = STAND_INS.get(call, CALLS[call]) if library == "cub" else CALLS[call]
    paths = [f"{library}/device/{header}" for header in headers.split()] or [f"{library}/{library}.cuh"]
    includes = "\n".join(f"#include <{path}>" for path in paths)
    return SOURCE.format(includes=includes, call=text.replace("NS", library))


def compile_once(compiler, folder, call, library):
    """Returns the bytes of the object, and the CPU seconds of all processes of the compiler."""
    unit = folder / f"{call.replace(' ', '_')}.{library}.cu"
    unit.write_text(source_of(call, library))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    toolbox.must_run([*compiler.command, "-O3", "-DNDEBUG", "-c", unit, "-o", unit.with_suffix(".o")])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return unit.with_suffix(".o").stat().st_size, cpu


def measure(compiler, folder, calls, runs):
    """{call: {library: (bytes, seconds)}}. The libraries alternate, so that a slow minute affects both."""
    result = {}
    for call in calls:
        taken = {"strata": [], "cub": []}
        for _ in range(runs):
            for library, each in taken.items():
                each.append(compile_once(compiler, folder, call, library))
        result[call] = {library: (each[0][0], statistics.median(cpu for _, cpu in each))
                        for library, each in taken.items()}
    return result


def ratios_of(measured):
    """{call: (ratio of bytes, ratio of CPU)}."""
    return {call: tuple(of["strata"][i] / of["cub"][i] for i in (0, 1)) for call, of in measured.items()}


def read_limits(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or list(rows[0]) != COLUMNS:
        toolbox.fail(f"{path.name}: columns are not {','.join(COLUMNS)}")
    return {row["call"]: {column: float(row[column]) for column in COLUMNS[1:]} for row in rows}


def limits_text(ratios):
    lines = [",".join(COLUMNS)]
    for call, (size, cpu) in ratios.items():
        goals = GOALS_OF_STAND_INS if call in STAND_INS else GOALS
        limit = size * HEADROOM
        if size <= goals["object"]:
            limit = min(limit, goals["object"])
        lines.append(f"{call},{limit:.2f},{goals['object']},{cpu * HEADROOM:.2f},{goals['cpu']}")
    return "\n".join(lines) + "\n"


def failures(ratios, limits):
    found = [f"{call}: compile_cost.csv has no limit" for call in ratios if call not in limits]
    found += [f"{call}: compile_cost.csv has a limit for what is not compiled" for call in limits
              if call not in CALLS]
    for call, (size, cpu) in ratios.items():
        if call not in limits:
            continue
        if size > limits[call]["object_limit"]:
            found.append(f"{call}: the object is {size:.2f} times CUB's, limit {limits[call]['object_limit']}")
        if cpu > limits[call]["cpu_limit"] * CPU_TOLERANCE:
            found.append(f"{call}: compiles {cpu:.2f} times as long as CUB's, limit"
                         f" {limits[call]['cpu_limit']} and half of it")
    return found


def table(measured, limits):
    lines = ["| call | object, KiB | CUB's | ratio | limit | goal | CPU s | CUB's | ratio | limit | goal |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for call, (size, cpu) in ratios_of(measured).items():
        ours, cub, of = measured[call]["strata"], measured[call]["cub"], limits.get(call, {})
        value = lambda column: f"{of[column]:.2f}" if column in of else ""
        lines.append(f"| {call} | {ours[0] / 1024:.0f} | {cub[0] / 1024:.0f} | {size:.2f} |"
                     f" {value('object_limit')} | {value('object_goal')} | {ours[1]:.1f} | {cub[1]:.1f} |"
                     f" {cpu:.2f} | {value('cpu_limit')} | {value('cpu_goal')} |")
    return "\n".join(lines)


# ---------------------------------------------------------------------------- kernels of an object

def kernel_bytes(cubin):
    """{mangled name: bytes of machine code} of a cubin, which is a 64-bit ELF file."""
    (table_at,) = struct.unpack_from("<Q", cubin, 0x28)
    entry_bytes, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table_at + i * entry_bytes) for i in range(count)]
    found = {}
    for name, _, _, _, _, size in sections:
        begin = sections[names][4] + name
        text = cubin[begin:cubin.index(b"\0", begin)].decode()
        if text.startswith(".text."):
            found[text[len(".text."):]] = size
    return found


def readable(name):
    """The demangled name of a kernel, without namespaces."""
    _, plain, _ = toolbox.run(["c++filt", name])
    plain = re.sub(r"\b[\w:]*::(?=\w)", "", plain.strip() or name)
    return re.sub(r"^(?:void|static) ", "", plain)


def print_kernels(compiler, folder, call, cuobjdump):
    if shutil.which(cuobjdump) is None:
        toolbox.fail(f"--kernels needs cuobjdump, which is not here: {cuobjdump}")
    for library in ("strata", "cub"):
        compile_once(compiler, folder, call, library)
        unit = folder / f"{call.replace(' ', '_')}.{library}.o"
        subprocess.run([cuobjdump, "-xelf", "all", unit.name], cwd=folder, check=True, capture_output=True)
        kernels = {}
        for cubin in folder.glob("*.cubin"):
            kernels.update(kernel_bytes(cubin.read_bytes()))
            cubin.unlink()
        print(f"\n{call}, {library}: {unit.stat().st_size} bytes, of which {sum(kernels.values())} are code of"
              f" {len(kernels)} kernels")
        for name, size in sorted(kernels.items(), key=lambda each: -each[1]):
            print(f"{size:8} {readable(name)[:150]}")


def self_test():
    measured = {"scan": {"strata": (300, 2.0), "cub": (100, 1.0)}}
    ratios = ratios_of(measured)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "limits.csv"
        path.write_text(limits_text(ratios))
        limits = read_limits(path)
    for size, cpu, expected in ((3.0, 2.0, 0), (3.29, 3.2, 0), (3.31, 2.0, 1), (3.0, 3.4, 1), (4.0, 9.0, 2)):
        found = failures({"scan": (size, cpu)}, limits)
        if len(found) != expected:
            toolbox.fail(f"ratios {size} and {cpu} give {found}")
    if limits_text({"scan": (1.9, 1.0)}).splitlines()[1] != "scan,2.00,2.0,1.10,1.0":
        toolbox.fail("an object that reaches its goal has another limit")
    if len(failures({"select": (1.0, 1.0)}, limits)) != 1:
        toolbox.fail("a call without a limit is not found")
    if "| scan | 0 | 0 | 3.00 | 3.30 | 2.00 | 2.0 | 1.0 | 2.00 | 2.20 | 1.00 |" not in table(measured, limits):
        toolbox.fail(table(measured, limits))
    if list(read_limits(LIMITS)) != list(CALLS):
        toolbox.fail(f"{LIMITS.name} has not one row for each call, in order")
    for call in CALLS:
        ours, cub = source_of(call, "strata"), source_of(call, "cub")
        if call not in STAND_INS and ours.replace("strata", "cub") != cub:
            toolbox.fail(f"{call}: the sources differ in more than the library")


def main():
    parser = toolbox.parser(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--only", action="append", choices=list(CALLS), default=[], metavar="CALL")
    parser.add_argument("--write-limits", action="store_true")
    parser.add_argument("--kernels", action="append", choices=list(CALLS), default=[], metavar="CALL")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    if not arguments.nvcc:
        toolbox.fail("--nvcc is missing")
    if arguments.write_limits and arguments.only:
        toolbox.fail("--write-limits needs all calls")
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for call in arguments.kernels:
            print_kernels(compiler, folder, call, arguments.cuobjdump)
        if arguments.kernels:
            return
        measured = measure(compiler, folder, arguments.only or CALLS, 1 if arguments.once else 3)
    ratios = ratios_of(measured)
    if arguments.write_limits:
        LIMITS.write_text(limits_text(ratios))
    limits = read_limits(LIMITS)
    print(table(measured, limits))
    found = failures(ratios, limits)
    if found:
        toolbox.fail("\n".join(["compiling costs more than it may", *found]))


if __name__ == "__main__":
    main()

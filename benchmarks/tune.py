#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches for the tuning row that is fastest on this machine's GPU.

    tune.py scan u32
    tune.py radix_sort u32:u32 --seconds 900
    tune.py reduce f64 --start block_threads=64,bytes_in_flight=16
    tune.py scan u32 --host --seconds 60     (without a GPU: tests the script, not the row)

Builds each row with a policy hub, checks its results, times it in turns with the present row, and soon drops rows that
are clearly slower. Prints the best row as C++. Needs nvcc, or g++ with --host. If it was stopped, the same command goes
on.
"""

import argparse
import collections
import concurrent.futures
import datetime
import glob
import hashlib
import html
import itertools
import json
import math
import os
import re
import select
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402  (found through the line above)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

# ------------------------------------------------------------------ what can be tuned

# A number of a row. `present`: the C++ expression for it in a policy P. `values`: the values to try, ascending. Without
# values, it stays as it is.
Parameter = collections.namedtuple("Parameter", "name present values")
# A member of the policy: its name, its type, and {field: parameter, or a function of all parameters}. `is_needed`: a
# function of all parameters that says if the row needs the member.
Member = collections.namedtuple("Member", "name type fields is_needed", defaults=[lambda p: True])
# A row of the policy, searched on its own. `used`: a C++ condition of P. `sizes`: numbers of items to measure, given
# the set of rows that the GPU uses. `excluded`: given the parameters, the bytes of an item and of shared memory, it
# returns why a row cannot work, or "".
Row = collections.namedtuple("Row", "name used parameters members sizes excluded note")
# `hub` returns the library's policy hub for the types of keys and values. `tuning` is the folder with its tuning.hpp.
Algorithm = collections.namedtuple("Algorithm", "macro device tuning hub has_values rows")

TYPES = {"u8": "std::uint8_t", "u16": "std::uint16_t", "u32": "std::uint32_t", "u64": "std::uint64_t",
         "i8": "std::int8_t", "i16": "std::int16_t", "i32": "std::int32_t", "i64": "std::int64_t",
         "f32": "float", "f64": "double"}
BYTES = {name: int(name[1:]) // 8 for name in TYPES}
NO_VALUE = "strata::NullType"

# KiB of shared memory per multiprocessor, by architecture.
SHARED = {75: 64, 80: 164, 86: 100, 87: 164, 89: 100, 90: 228, 100: 228, 103: 228, 110: 228, 120: 100, 121: 100}

THREADS = (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 448, 512, 576, 640, 704, 768, 896, 1024)
KIB = 1024


def bytes_of_item(key, value):
    """Returns the size of a struct of a key and its value."""
    sizes = [BYTES[name] for name, type_ in TYPES.items() for part in (key, value) if type_ == part]
    if len(sizes) < 2 or value == NO_VALUE:
        return sizes[0]
    return -(-sum(sizes) // max(sizes)) * max(sizes)


def plain(type_, name, *fields):
    """Makes a member whose fields are the parameters of the same names."""
    return Member(name, type_, {field: field for field in fields})


def of_row(row, *parameters):
    return tuple(Parameter(name, f"P::{row}.{name}", values) for name, values in parameters)


def needs_shared(bytes_of_block, blocks, shared, what):
    if bytes_of_block * blocks <= shared:
        return ""
    return f"{what} needs {bytes_of_block * blocks / KIB:.0f} KiB of shared memory, there are {shared // KIB}"


def pipeline_excluded(p, item, shared):
    if p["lag"] >= p["stages"]:
        return "a pipeline needs more stages than its lag"
    stage = p["scanning_threads"] * p["vectors_per_thread"] * 16
    return needs_shared(stage * p["stages"], p["blocks_per_multiprocessor"], shared, "a pipeline")


def tile_excluded(p, item, shared):
    if p["block_threads"] * p["items_per_thread"] < 128:
        return "a tile has at least 128 items"
    if p["block_threads"] * p["blocks_per_multiprocessor"] > 2048:
        return "a multiprocessor has at most 2,048 threads"
    return ""


def pass_excluded(p, item, shared):
    if p["block_threads"] * p["blocks_per_multiprocessor"] > 2048:
        return "a multiprocessor has at most 2,048 threads"
    return needs_shared(p["block_threads"] * p["items_per_thread"] * item, p["blocks_per_multiprocessor"], shared,
                        "a tile")


def merge_excluded(p, item, shared):
    tile = p["block_threads"] * p["items_per_thread"]
    if p["block_threads"] % p["merge_parts"] != 0 or p["block_threads"] // p["merge_parts"] % 32 != 0:
        return "threads of a merge must be whole warps"
    merge_threads = p["block_threads"] // p["merge_parts"] * p["merge_blocks"]
    if max(p["block_threads"] * p["blocks_per_multiprocessor"], merge_threads) > 2048:
        return "a multiprocessor has at most 2,048 threads"
    return needs_shared(tile * item, p["blocks_per_multiprocessor"], shared, "a tile")


def reduce_excluded(p, item, shared):
    return "a thread must load an item" if p["bytes_in_flight"] < item else ""


TILE_LOADS = ("BLOCK_LOAD_DIRECT", "BLOCK_LOAD_VECTORIZE", "BLOCK_LOAD_TRANSPOSE", "BLOCK_LOAD_WARP_TRANSPOSE")
TILE_STORES = tuple(name.replace("LOAD", "STORE") for name in TILE_LOADS)
TILE_FIELDS = ("block_threads", "items_per_thread", "load", "store", "blocks_per_multiprocessor")
REDUCE_FIELDS = ("block_threads", "bytes_in_flight", "ordered_bytes", "blocks_per_multiprocessor",
                 "min_bytes_per_block", "single_block_bytes", "one_block_per_multiprocessor_bytes")


def scan_tile(name, sizes):
    return Row(name, "true", of_row(name, ("block_threads", THREADS), ("items_per_thread", tuple(range(1, 33))),
                                    ("load", TILE_LOADS), ("store", TILE_STORES),
                                    ("blocks_per_multiprocessor", (1, 2, 3, 4))),
               [plain("scan_tile_tuning", name, *TILE_FIELDS)], sizes, tile_excluded, "")


ALGORITHMS = {
    "scan": Algorithm(
        "SCAN", "DeviceScan", "scan", lambda key, value: f"scan_policy_hub<{key}, {key}>", False,
        [Row("pipeline", "P::pipeline_above != strata::no_pipeline",
             of_row("pipeline", ("scanning_threads", THREADS), ("vectors_per_thread", tuple(range(1, 32, 2))),
                    ("stages", (2, 3, 4, 5, 6, 7, 8)), ("lag", (1, 2)), ("blocks_per_multiprocessor", (1, 2, 3)),
                    ("item_loading_warps", ())),
             [plain("scan_pipeline_tuning", "pipeline", "scanning_threads", "vectors_per_thread", "stages", "lag",
                    "blocks_per_multiprocessor", "item_loading_warps")],
             lambda used: (1 << 24, 1 << 28), pipeline_excluded, ""),
         scan_tile("large_tile", lambda used: (1 << 20,) if "pipeline" in used else (1 << 20, 1 << 24, 1 << 28)),
         scan_tile("small_tile", lambda used: (1 << 13, 1 << 17))]),
    "reduce": Algorithm(
        "REDUCE", "DeviceReduce", "reduce", lambda key, value: f"reduce_policy_hub<{key}>", False,
        [Row("tuning", "true",
             of_row("tuning", ("block_threads", THREADS[:14]),
                    ("bytes_in_flight", (16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)), ("ordered_bytes", ()),
                    ("blocks_per_multiprocessor", (1, 2, 3, 4, 6, 8)),
                    ("min_bytes_per_block", tuple(KIB << i for i in range(1, 7))),
                    ("single_block_bytes", tuple(KIB << i for i in range(2, 9))),
                    ("one_block_per_multiprocessor_bytes", tuple(KIB << i for i in range(3, 11)))),
             [plain("reduce_tuning", "tuning", *REDUCE_FIELDS)],
             lambda used: (1 << 16, 1 << 20, 1 << 24, 1 << 28), reduce_excluded, "")]),
    "radix_sort": Algorithm(
        "RADIX_SORT", "DeviceRadixSort", "radix_sort",
        lambda key, value: f"radix_sort_policy_hub<{key}, {value}>", True,
        [Row("pass", "true",
             of_row("pass", ("block_threads", THREADS[7:]), ("items_per_thread", tuple(range(1, 65))),
                    ("blocks_per_multiprocessor", (1, 2, 3, 4, 5, 6))),
             [plain("radix_pass_tuning", "pass", "block_threads", "items_per_thread", "blocks_per_multiprocessor")],
             lambda used: (1 << 24, 1 << 28), pass_excluded, ""),
         Row("grid", "P::grid.most_items > 0",
             of_row("grid", ("block_threads", THREADS[7:]), ("items_per_thread", tuple(range(1, 65))),
                    ("least_items_per_thread", (1, 2, 4, 8)), ("blocks_per_multiprocessor", (1, 2)),
                    ("most_items", ())),
             [plain("radix_grid_tuning", "grid", "block_threads", "items_per_thread", "least_items_per_thread",
                    "blocks_per_multiprocessor", "most_items")],
             lambda used: (1 << 16, 1 << 18, 1 << 20), pass_excluded, "")]),
    "merge_sort": Algorithm(
        "MERGE_SORT", "DeviceMergeSort", "merge_sort",
        lambda key, value: f"segmented_merge_sort_policy_hub<{bytes_of_item(key, value)}>", True,
        [Row("whole_array", "true",
             of_row("whole_array", ("block_threads", THREADS[3:]), ("items_per_thread", tuple(range(1, 40, 2))),
                    ("blocks_per_multiprocessor", (1, 2, 3, 4, 5, 6))) +
             (Parameter("merge_parts", "P::whole_array.tile_items() / P::merge_whole_array.tile_items", (1, 2, 4)),
              Parameter("merge_slack", "P::merge_whole_array.items_per_thread - P::whole_array.items_per_thread",
                        (1, 2, 3, 4, 6)),
              Parameter("merge_blocks", "P::merge_whole_array.blocks_per_multiprocessor", (1, 2, 3, 4, 5, 6, 8)),
              Parameter("one_tile_items", "P::one_tile.tile_items()", ())),
             [plain("segment_tile_tuning", "whole_array", "block_threads", "items_per_thread",
                    "blocks_per_multiprocessor"),
              Member("merge_whole_array", "segment_merge_tuning",
                     {"block_threads": lambda p: p["block_threads"] // p["merge_parts"],
                      "items_per_thread": lambda p: p["items_per_thread"] + p["merge_slack"],
                      "blocks_per_multiprocessor": "merge_blocks",
                      "tile_items": lambda p: p["block_threads"] * p["items_per_thread"] // p["merge_parts"]}),
              # The smallest tile decides the size of the storage, so one_tile must not have more items than the others.
              Member("one_tile", "segment_tile_tuning",
                     {"block_threads": "block_threads", "items_per_thread": "items_per_thread",
                      "blocks_per_multiprocessor": "blocks_per_multiprocessor"},
                     lambda p: p["block_threads"] * p["items_per_thread"] < p["one_tile_items"])],
             lambda used: (1 << 24, 1 << 27), merge_excluded, ""),
         Row("resident_grid", "P::resident_grid.block_threads > 0",
             of_row("resident_grid", ("block_threads", THREADS[3:]), ("items_per_thread", tuple(range(1, 40, 2))),
                    ("blocks_per_multiprocessor", (1, 2, 3, 4, 5, 6))),
             [plain("merge_sort_grid_tuning", "resident_grid", "block_threads", "items_per_thread",
                    "blocks_per_multiprocessor")],
             lambda used: (1 << 16, 1 << 20), pass_excluded, ""),
         Row("one_cluster", "P::one_cluster.block_threads > 0",
             of_row("one_cluster", ("block_threads", THREADS[3:]), ("items_per_thread", tuple(range(1, 40, 2))),
                    ("blocks_per_multiprocessor", ()), ("cluster_blocks", (1, 2, 4, 8))),
             [plain("merge_sort_grid_tuning", "one_cluster", "block_threads", "items_per_thread",
                    "blocks_per_multiprocessor", "cluster_blocks")],
             lambda used: (1 << 10, 1 << 14), pass_excluded, "")]),
}


class TuneError(Exception):
    """An error whose message the user sees without a traceback."""


def searched(row):
    return [parameter for parameter in row.parameters if parameter.values]


def key_of(point):
    """Returns a row as a tuple that can be the key of a dictionary."""
    return tuple(point.items())


def name_of(point):
    return hashlib.sha256(repr(key_of(point)).encode()).hexdigest()[:12]


def shape(row, point):
    """Returns the searched numbers of a row in a short form: 320 x 9 x 4."""
    return " x ".join(str(point[parameter.name]).replace("BLOCK_LOAD_", "").replace("BLOCK_STORE_", "")
                      for parameter in searched(row))


# ------------------------------------------------------------------ C++

def members_of(row, point):
    return [member for member in row.members if member.is_needed(point)]


def member_text(member, point):
    fields = []
    for field, value in member.fields.items():
        number = point[value] if isinstance(value, str) else value(point)
        fields.append(f"/*{field}=*/{'strata::' if isinstance(number, str) else ''}{number}")
    return f"static constexpr strata::{member.type} {member.name}{{{', '.join(fields)}}};"


def wrapped(text, indent):
    """Wraps a declaration into lines of at most 120 columns. Further lines begin below its first field."""
    head = text.index("{") + 1
    below = " " * head if len(indent) + head < 80 else "    "
    lines = [indent]
    for word in re.split(r"(?<=,) ", text):
        if len(lines[-1]) + len(word) + 1 > 120:
            lines.append(indent + below + word)
        else:
            lines[-1] += ("" if lines[-1].isspace() or not lines[-1] else " ") + word
    return lines


def cpp_types(types):
    key, _, value = types.partition(":")
    return TYPES[key], TYPES[value] if value else NO_VALUE


def policy_number(hub, tuning, version):
    """Returns the number of the newest policy in a hub's file that is not above `version`."""
    with open(os.path.join(ROOT, "include", "strata", "device", tuning, "tuning.hpp"), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index(f"struct {hub.split('<')[0]} {{"):]
    numbers = [int(number) for number in re.findall(r"struct Policy(\d+)\b", body[:body.index("using MaxPolicy")])]
    return max((number for number in numbers if number <= version), default=min(numbers))


def hub_text(algorithm_name, types, row, point, architecture, name):
    """Returns a policy hub with the row `point`. No other function knows how a hub overrides a row."""
    algorithm = ALGORITHMS[algorithm_name]
    hub = algorithm.hub(*cpp_types(types))
    number = policy_number(hub, algorithm.tuning, 10 * architecture)
    lines = [f"struct {name} {{", f"  using rows = strata::{hub}::Policy{number};",
             f"  struct Policy{number} : strata::ChainedPolicy<{number}, Policy{number}, Policy{number}, rows> {{"]
    for member in members_of(row, point):
        lines += wrapped(member_text(member, point), "    ")
    return "\n".join(lines + ["  };", f"  using MaxPolicy = Policy{number};", "};"])


def rows_text(algorithm, hub):
    """Returns the C++ function that prints the numbers of a policy."""
    lines = ["struct rows_printer {", "  char* text;", "  std::size_t size;", "  template <class P>",
             "  cudaError_t Invoke() {", "    int length = 0;"]
    for row in algorithm.rows:
        arguments = [f"int({row.used})"]
        for parameter in row.parameters:
            if parameter.values and isinstance(parameter.values[0], str):
                names = " : ".join(f'{parameter.present} == strata::{value} ? "{value}"' for value in parameter.values)
                arguments.append(f'{names} : "other"')
            else:
                arguments.append(f"int({parameter.present})")
        formats = "".join(f" {p.name}=%{'s' if p.values and isinstance(p.values[0], str) else 'd'}"
                          for p in row.parameters)
        lines.append(f'    length += std::snprintf(text + length, size - length, "{row.name} used=%d{formats};", '
                     f'{", ".join(arguments)});')
    lines += ["    return cudaSuccess;", "  }", "};",
              "TUNE_EXPORT void tune_rows(int ptx_version, char* text, std::size_t size) {",
              "  rows_printer printer{text, size};",
              f"  {hub}::MaxPolicy::Invoke(ptx_version, printer);", "}"]
    return "\n".join(lines)


def defines(algorithm_name, types):
    key, value = cpp_types(types)
    return {"TUNE_NAME": f'"{algorithm_name}"', f"TUNE_{ALGORITHMS[algorithm_name].macro}": "1", "TUNE_KEY": key,
            "TUNE_VALUE": value}


def variant_source(algorithm_name, types, row, point, architecture):
    """Returns the source of a variant. If `point` is None, the variant is the library as it is."""
    algorithm = ALGORITHMS[algorithm_name]
    lines = [f"#define {name} {value}" for name, value in defines(algorithm_name, types).items()]
    lines += ['#include "tuning/variant.cuh"', "namespace tune {"]
    if point is None:
        device, hub = f"strata::{algorithm.device}", f"strata::{algorithm.hub(*cpp_types(types))}"
    else:
        # Each variant needs its own name, because a process has a static variable of a template only once.
        hub = f"hub_{name_of(point)}"
        device = f"strata::Tuned{algorithm.device}<{hub}>"
        lines.append(hub_text(algorithm_name, types, row, point, architecture, hub))
    lines += [rows_text(algorithm, hub),
              "TUNE_EXPORT cudaError_t tune_call(void* storage, std::size_t* bytes, const arrays* all, int n,",
              "                                  cudaStream_t stream) {",
              f"  return call<{device}>(storage, *bytes, *all, n, stream);", "}", "}  // namespace tune", ""]
    return "\n".join(lines)


def parse_rows(text):
    """Parses the output of tune_rows. Returns {row: (is used, {parameter: value})}."""
    rows = {}
    for line in filter(None, (part.strip() for part in text.split(";"))):
        name, *words = line.split()
        pairs = [word.split("=") for word in words]
        numbers = {key: int(value) if re.fullmatch(r"-?\d+", value) else value for key, value in pairs}
        used = numbers.pop("used") != 0
        rows[name] = (used, numbers)
    return rows


# ------------------------------------------------------------------ building and timing

class Broken(Exception):
    """The timing program has ended or hung because of one of the variants."""


class Machine:
    """Compiles variants and times them. Tests replace it by a machine that computes the times."""

    def __init__(self, algorithm_name, types, row, architecture, folder, jobs, host, compiler, target_us=1000):
        self.algorithm_name, self.types, self.row, self.architecture = algorithm_name, types, row, architecture
        self.folder, self.jobs, self.host, self.target_us = folder, jobs, host, target_us
        self.compiler = compiler
        self.process = None
        self.buffer = b""
        os.makedirs(folder, exist_ok=True)

    def command(self, source, target, options=()):
        includes = ["-I", os.path.join(ROOT, "include"), "-I", HERE]
        if self.host:
            return [self.compiler, "-std=c++17", "-O1", "-fPIC", *includes, "-o", target, "-x", "c++", source, *options]
        # All libraries share one CUDA runtime. If each of 700 libraries had its own, a call of the library that was
        # loaded first would take 8 us longer.
        return [self.compiler, "-std=c++17", "-O3", "-cudart", "shared", "-gencode",
                f"arch=compute_{self.architecture},code=sm_{self.architecture}", "-Wno-deprecated-gpu-targets",
                *includes, "-o", target, source, *options]

    def compile(self, source, target, options=(), timeout=600):
        """Compiles a file. Returns the compiler's error, or "" if the target exists."""
        part = f"{target}.part"
        try:
            done = subprocess.run(self.command(source, part, options), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=timeout, text=True, check=False)
        except subprocess.TimeoutExpired:
            return f"does not compile within {timeout} s"
        if done.returncode != 0:
            return f"does not compile: {first_error(done.stdout)}"
        os.replace(part, target)
        return ""

    def library(self, point):
        return os.path.join(self.folder, f"{'present' if point is None else name_of(point)}.so")

    def build_one(self, point):
        library = self.library(point)
        source = library[:-3] + ".cu"
        text = variant_source(self.algorithm_name, self.types, self.row, point, self.architecture)
        try:
            with open(source, encoding="utf-8") as file:
                is_built = file.read() == text and os.path.exists(library)
        except OSError:
            is_built = False
        if is_built:
            return ""
        if os.path.exists(library):
            os.remove(library)  # built from another source; it must not stay if this compilation is interrupted
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        hidden = "-fvisibility=hidden,-fno-gnu-unique"
        options = (["-shared", *hidden.split(",")] if self.host else ["-shared", "-Xcompiler", f"-fPIC,{hidden}"])
        return self.compile(source, library, options)

    def build(self, points, done):
        """Builds variants. Returns {key: why it cannot be built, or ""}. Calls `done` after each."""
        reasons = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.build_one, point): point for point in points}
            try:
                for future in concurrent.futures.as_completed(futures):
                    point = futures[future]
                    reasons[None if point is None else key_of(point)] = future.result()
                    done()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return reasons

    def start(self):
        """Builds the timing program and the present row. Returns the context and the numbers of all rows."""
        program = os.path.join(self.folder, "timing")
        flags = [f"-D{name}={value}" for name, value in defines(self.algorithm_name, self.types).items()]
        source = os.path.join(HERE, "tuning", "timing.cu")
        if not os.path.exists(program):
            if self.host:
                reason = self.build_host(source, program, flags)
            else:
                toolkit = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(self.compiler) or "")))
                rpath = f"-rpath={os.path.join(toolkit, 'lib64')}"
                reason = self.compile(source, program, [*flags, "-ldl", "-Xlinker", rpath])
            if reason:
                raise TuneError(f"the timing program {reason}")
        reason = self.build_one(None)
        if reason:
            raise TuneError(f"the present row {reason}")
        rows = parse_rows(self.ask(f"rows {10 * self.architecture} {self.library(None)}"))
        return dict(pair.split("=", 1) for pair in self.ask("context").split("\t")), rows

    def build_host(self, source, program, flags):
        """Builds the timing program with the runtime of the host back end, where the variants find it."""
        sources = sorted(glob.glob(os.path.join(ROOT, "include", "strata", "simt", "runtime", "*.cpp")))
        objects = {path: os.path.join(self.folder, os.path.basename(path) + ".o") for path in [*sources, source]}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for reason in pool.map(lambda item: self.compile(item[0], item[1], ["-c", *flags]), objects.items()):
                if reason:
                    return reason
        link = [self.compiler, "-rdynamic", *objects.values(), "-ldl", "-lpthread", "-o", program]
        done = subprocess.run(link, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return f"does not link: {first_error(done.stdout)}" if done.returncode != 0 else ""

    # ---- the timing program

    def ask(self, line, timeout=120):
        if self.process is None:
            self.process = subprocess.Popen([os.path.join(self.folder, "timing")], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.buffer = b""
            answer = self.exchange(f"present {self.library(None)}", timeout)
            if answer != "ok":
                self.stop()
                raise TuneError(f"the present row cannot be loaded: {answer}")
        answer = self.exchange(line, timeout)
        if answer.startswith("lost "):
            self.stop()
            raise Broken(answer[5:])
        return answer

    def exchange(self, line, timeout):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # the program has ended; the code below finds out why
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.stop()
                raise Broken(f"no answer within {timeout} s")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                code = self.stop()
                raise Broken(f"ends the timing program, {f'signal {-code}' if code < 0 else f'exit code {code}'}")
            self.buffer += more
        answer, self.buffer = self.buffer.split(b"\n", 1)
        return answer.decode(errors="replace").strip()

    def stop(self):
        process, self.process = self.process, None
        if process is None:
            return 0
        process.stdin.close()
        try:
            return process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            process.stdout.close()

    def check(self, n, point):
        """Returns what is wrong with a variant, or ""."""
        try:
            rows = parse_rows(self.ask(f"rows {10 * self.architecture} {self.library(point)}"))
            if any(rows[self.row.name][1][parameter.name] != point[parameter.name] for parameter in searched(self.row)):
                return "its row does not reach the call"
            answer = self.ask(f"check {n} {self.library(point)}")
        except Broken as broken:
            return f"failed: {broken}"
        return "" if answer == "ok" else answer.replace("wrong ", "wrong result: ", 1).replace("failed ", "failed: ", 1)

    def fits(self, n):
        """Returns True if the device has memory for n items."""
        answer = self.ask(f"check {n} {self.library(None)}")
        if answer != "ok" and "cudaErrorMemoryAllocation" not in answer:
            raise Broken(answer)
        return answer == "ok"

    def time(self, n, samples, points):
        """Times points in turns. Returns one list of milliseconds for each."""
        libraries = [self.library(point) for point in points]
        answer = self.ask(f"time {n} {samples} {self.target_us} {' '.join(libraries)}", timeout=600)
        if not answer.startswith("ok "):
            raise Broken(answer)
        return [[float(number) for number in one.split(",")] for one in answer.split()[1:]]


def first_error(text):
    lines = text.splitlines()
    for line in lines:
        match = re.search(r"(?:error|fatal)\s*(?:#\d+)?\s*:\s*(.*)", line)
        if match:
            return match.group(1).strip()[:300]
    return (lines[-1].strip() if lines else "no message")[:300]


# ------------------------------------------------------------------ the record

class Record:
    """A JSON file of all measurements, from which an interrupted run can go on."""

    def __init__(self, path, identity):
        self.path = path
        self.variants = {}
        self.was_other = ""
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
            differing = [name for name, value in identity.items() if found["identity"].get(name) != value]
            if differing:
                self.was_other = ", ".join(differing)
                os.replace(path, f"{path}.old")
            else:
                self.variants = {key_of(variant["row"]): variant for variant in found["variants"]}
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError) as error:
            raise TuneError(f"{path} cannot be read ({error}): remove it") from error
        self.identity = identity

    def save(self, **more):
        text = json.dumps({"identity": self.identity, **more, "variants": list(self.variants.values())}, indent=1)
        with open(f"{self.path}.part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{self.path}.part", self.path)

    def reject(self, point, reason):
        self.variants[key_of(point)] = {"row": dict(point), "reason": reason}

    def measured(self, point, ratios, is_dropped):
        """Records a measured row. `ratios` is {n: [its time / the present row's time, for each sample]}."""
        self.variants[key_of(point)] = {"row": dict(point), "is_dropped": is_dropped,
                                        "ratios": {str(n): values for n, values in ratios.items()}}

    def get(self, point):
        return self.variants.get(key_of(point))

    def score(self, point):
        variant = self.get(point)
        return score_of(variant["ratios"]) if variant and "ratios" in variant else math.inf

    def rows(self):
        """Returns the measured rows, the fastest first. Rows that were dropped after few samples come last."""
        measured = [variant for variant in self.variants.values() if "ratios" in variant]
        return [variant["row"] for variant in
                sorted(measured, key=lambda variant: (variant["is_dropped"], score_of(variant["ratios"])))]


def score_of(ratios):
    """Returns the geometric mean, over all sizes, of the median ratio."""
    return math.exp(statistics.fmean(math.log(statistics.median(values)) for values in ratios.values()))


# ------------------------------------------------------------------ the search

# Rounds of a race: the samples that each row gets, and how much slower than the fastest row it may be to stay.
RUNGS = ((3, 0.15), (9, 0.04), (25, 0.0))
LAST_SAMPLES = 41
# The search moves on to a row only if it is faster by more than this.
STEP = 0.002
# Seconds that the last comparison needs.
RESERVE = 10


class Progress:
    def __init__(self, seconds, stream=None):
        self.began, self.seconds, self.stream = time.monotonic(), seconds, stream or sys.stderr
        self.is_terminal = self.stream.isatty()
        self.last = ""

    def elapsed(self):
        return time.monotonic() - self.began

    def show(self, what, done, of, best):
        share = min(1.0, self.elapsed() / self.seconds)
        bar = "#" * round(20 * share) + "." * (20 - round(20 * share))
        text = (f"[{bar}] {self.elapsed():4.0f} of {self.seconds:.0f} s, {what} {done} of {of}"
                f"{'' if math.isinf(best) else f', best {best:.3f} of the present time'}")
        if self.is_terminal:
            print(f"\r{text}\x1b[K", end="", file=self.stream, flush=True)
        elif done == of and text.split(",", 1)[1] != self.last:
            print(text, file=self.stream, flush=True)
        self.last = text.split(",", 1)[1]

    def line(self, text):
        print(f"\r{text}\x1b[K" if self.is_terminal else text, file=self.stream, flush=True)


def place_of(parameter, value):
    """Returns the index of the parameter's value that is nearest to `value`."""
    values = parameter.values
    if value in values:
        return values.index(value)
    if isinstance(value, str):
        return 0
    return min(range(len(values)), key=lambda i: abs(math.log(max(values[i], 1) / max(value, 1))))


def moved(point, parameter, places):
    """Returns the row with one number moved by `places` in the list of its values, or None."""
    place = place_of(parameter, point[parameter.name]) + places
    if not 0 <= place < len(parameter.values) or parameter.values[place] == point[parameter.name]:
        return None
    return {**point, parameter.name: parameter.values[place]}


def star(row, center):
    """Returns rows that differ from the center in one number, by 1, 2, 4, 8 ... places; near ones come first. A
    distance of 0 places moves a number of the center that is not in the list to the nearest one that is."""
    points = []
    for distance in (0, 1, 2, 4, 8, 16, 32):
        for parameter in searched(row):
            points += [moved(center, parameter, distance * sign) for sign in (-1, 1)]
    return [point for point in points if point is not None]


def scaled(point, parameter, factor):
    """Returns the row with one number multiplied, rounded to the nearest of its values, or None."""
    if isinstance(point[parameter.name], str):
        return None
    value = parameter.values[place_of(parameter, point[parameter.name] * factor)]
    return None if value == point[parameter.name] else {**point, parameter.name: value}


def exchanges(row, center):
    """Returns rows in which one number grows and another one shrinks, both by a factor of 2 or both by one place."""
    points = []
    for change in (lambda point, parameter, sign: scaled(point, parameter, 2.0 ** sign), moved):
        for up, down in itertools.permutations(searched(row), 2):
            one = change(center, up, 1)
            points.append(one and change(one, down, -1))
    return [point for point in points if point is not None]


class Search:
    """Goes from a row to a faster one near it, until there is none."""

    def __init__(self, row, present, sizes, machine, record, progress, item_bytes=4, shared=227 * KIB):
        self.row, self.present, self.sizes, self.machine = row, present, sizes, machine
        self.record, self.progress = record, progress
        self.item_bytes, self.shared = item_bytes, shared
        self.present_ms = {}
        self.seconds_per_wave = 0.0
        # The rows that the search has come to. The present row is always measured, but is in this set only if a step
        # leads to it.
        self.visited = set()

    # ---- measuring

    def best(self):
        """Returns the time of the search's fastest row divided by that of the present row."""
        return min((self.record.score(row) for row in self.record.rows() if key_of(row) in self.visited),
                   default=math.inf)

    def new_ones(self, points):
        """Returns the rows that are not recorded yet, each once. Rejects rows that cannot work without building
        them."""
        fresh = {}
        for point in points:
            if self.record.get(point) is not None or key_of(point) in fresh:
                continue
            reason = self.row.excluded(point, self.item_bytes, self.shared)
            if reason:
                self.record.reject(point, f"not built: {reason}")
            else:
                fresh[key_of(point)] = point
        return list(fresh.values())

    def time_left(self):
        return self.progress.seconds - self.progress.elapsed()

    def affordable(self, points):
        """Returns as many of the rows as the time that is left allows, without the reserve for the last comparison.
        `jobs` rows are built at the same time, so together they take as long as one."""
        if self.seconds_per_wave == 0:
            return points
        return points[:max(0, int((self.time_left() - RESERVE) / self.seconds_per_wave)) * self.machine.jobs]

    def evaluate(self, points):
        """Builds, checks and times rows. Returns False if the time is up before all are measured. The first rows of a
        search are always measured."""
        fresh = self.new_ones(points)
        chosen = self.affordable(fresh) if len(self.visited) > 1 else fresh
        if chosen:
            began, done = time.monotonic(), [0]

            def count():
                done[0] += 1
                self.progress.show("builds", done[0], len(chosen), self.best())

            reasons = self.machine.build(chosen, count)
            for n in self.sizes:
                for i, point in enumerate(chosen):
                    reasons[key_of(point)] = reasons[key_of(point)] or self.machine.check(n, point)
                    self.progress.show(f"checks of {report.n_text(n)}", i + 1, len(chosen), self.best())
            for point in chosen:
                if reasons[key_of(point)]:
                    self.record.reject(point, reasons[key_of(point)])
            self.race([point for point in chosen if not reasons[key_of(point)]])
            taken = (time.monotonic() - began) / math.ceil(len(chosen) / self.machine.jobs)
            self.seconds_per_wave = max(taken, 0.5 * self.seconds_per_wave)
        self.record.save(present=self.present, present_ms={str(n): ms for n, ms in self.present_ms.items()})
        return len(chosen) == len(fresh)

    def time_in_turns(self, samples, points):
        """Times points in turns with the present row. Returns {key: {n: ratios}}."""
        ratios = {key_of(point): {} for point in points}
        for n in self.sizes:
            base, *others = self.machine.time(n, samples, [None, *points])
            self.present_ms[n] = statistics.median(base)
            for point, times in zip(points, others):
                ratios[key_of(point)][n] = [ms / of_present for ms, of_present in zip(times, base)]
        return ratios

    def race(self, points):
        """Takes few samples of all rows, and more of those that are not clearly slower than the search's fastest
        row."""
        leader = self.best()
        for rung, (samples, margin) in enumerate(RUNGS):
            if not points:
                return
            try:
                ratios = self.time_in_turns(samples, points)
            except Broken as broken:
                points = self.without_culprits(points, str(broken))
                continue
            scores = {key: score_of(by_n) for key, by_n in ratios.items()}
            leader = min(leader, *scores.values())
            is_last = rung == len(RUNGS) - 1
            remaining = []
            for point in points:
                stays = is_last or scores[key_of(point)] <= leader * (1 + margin)
                self.record.measured(point, ratios[key_of(point)], not (is_last and stays))
                if stays:
                    remaining.append(point)
            points = remaining
            self.progress.show("races", rung + 1, len(RUNGS), self.best())

    def without_culprits(self, points, why):
        """After the timing program was lost: times each row alone, and rejects those that break the program again. If
        none does, rejects all."""
        good = []
        for point in points:
            try:
                self.time_in_turns(3, [point])
                good.append(point)
            except Broken as broken:
                self.record.reject(point, f"failed in a row of calls: {broken}")
        if len(good) == len(points):
            for point in points:
                self.record.reject(point, f"failed beside others: {why}")
            return []
        return good

    # ---- descending

    def run(self, start):
        """Searches from `start`, which need not work. Returns the fastest row found."""
        self.evaluate([self.present])
        self.step([start])
        center = start
        while self.time_left() > RESERVE:
            reached = self.record.score(center)
            points = star(self.row, center)
            is_finished = self.step(points)
            is_finished = self.step(self.combinations(center, points)) and is_finished
            if self.best() > reached * (1 - STEP):
                points = exchanges(self.row, center)
                if not is_finished or not self.step(points) or self.best() > reached * (1 - STEP):
                    break
            center = self.fastest()
        return self.fastest()

    def step(self, points):
        self.visited.update(key_of(point) for point in points)
        return self.evaluate(points)

    def fastest(self):
        rows = [row for row in self.record.rows() if key_of(row) in self.visited]
        if not rows:
            raise TuneError("no row of the search works, the record has the reasons: pass another one by --start")
        return rows[0]

    def combinations(self, center, points):
        """Combines moves that made the center faster: returns a row with all of them, and a row with the best two."""
        gains = {}
        for point in points:
            score = self.record.score(point)
            name = next(name for name in point if point[name] != center[name])
            if score < self.record.score(center) and score < gains.get(name, (math.inf,))[0]:
                gains[name] = (score, point[name])
        ordered = sorted(gains, key=lambda name: gains[name][0])
        return [{**center, **{name: gains[name][1] for name in ordered[:count]}}
                for count in {2, len(ordered)} if 2 <= count <= len(ordered)]

    def last_comparison(self, best):
        """Times the best row, and the present row built as a variant, in turns with the present row. Returns {n:
        ratios} of both. The ratios of the present row's variant show which differences are only noise."""
        points = [best] if best == self.present else [best, self.present]
        self.machine.build([None, *points], lambda: None)
        ratios = self.time_in_turns(LAST_SAMPLES, points)
        return ratios[key_of(best)], ratios[key_of(self.present)]


# ------------------------------------------------------------------ the outcome

Verdict = collections.namedtuple("Verdict", "ratio noise is_above_noise")


def interval(values):
    """Returns half of the 95 % confidence interval of the median, by order statistics."""
    ordered = sorted(values)
    reach = 0.98 * math.sqrt(len(ordered))
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return (ordered[high] - ordered[low]) / 2


def verdict(best, twin):
    """Judges the ratios of the best row by those of the present row's second build (`twin`)."""
    ratio = score_of(best)
    noise = max(abs(score_of(twin) - 1), *(interval(values) for values in best.values()))
    return Verdict(ratio, noise, ratio < 1 and 1 - ratio > noise)


def figures(identity, row, present, best_row, present_ms, best_ratios, verdict_, number):
    """Returns the comment of a row: device, date, versions, figures."""
    sizes = " / ".join(report.n_text(n) for n in best_ratios)
    ours = " / ".join(report.time_text(present_ms[n] * statistics.median(values)) for n, values in best_ratios.items())
    theirs = " / ".join(report.time_text(present_ms[n]) for n in best_ratios)
    device = identity["gpu"].replace("NVIDIA ", "")
    where = (f"{device}, {identity['date']}, CUDA {identity['cuda']}" if not identity["host"] else
             f"Not measured. Adapted from a search on a CPU, {identity['date']}, whose times say nothing of a GPU")
    if best_row == present:
        return f"{where}. {identity['types']} of {sizes}: {ours} us; none of {number - 1} other rows was faster."
    gain = "" if verdict_.is_above_noise else " (no gain above the noise)"
    return (f"{where}. {identity['types']} of {sizes}: {ours} us; the row before, {shape(row, present)}, took "
            f"{theirs}{gain}. Searched among {number} rows.")


def comment(text, indent):
    lines, words = [], text.split()
    line = ""
    for word in words:
        if line and len(indent) + 3 + len(line) + 1 + len(word) > 120:
            lines.append(f"{indent}// {line}")
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + [f"{indent}// {line}"]


def row_header(algorithm_name, types, row, point, architecture, text):
    """Returns a header with a user's policy hub that has the row."""
    algorithm = ALGORITHMS[algorithm_name]
    name = f"tuned_{algorithm_name}_hub"
    lines = ["#pragma once", "", f"// For {types} on sm_{architecture}: strata::Tuned{algorithm.device}<{name}>",
             f"#include <strata/device/device_{algorithm_name}.cuh>", "", "#include <cstdint>", ""]
    lines += comment(text + (f" {row.note}" if row.note else ""), "")
    return "\n".join([*lines, hub_text(algorithm_name, types, row, point, architecture, name), ""])


def paste_text(row, point, text):
    lines = comment(text + (f" {row.note}" if row.note else ""), "    ")
    for member in members_of(row, point):
        lines += wrapped(member_text(member, point).replace("strata::", ""), "    ")
    return "\n".join(lines)


# ------------------------------------------------------------------ the picture

STYLE = ("text{fill:#222;font:12px sans-serif}.title{font-size:16px;font-weight:bold}.small{font-size:11px}"
         ".mid{text-anchor:middle}.end{text-anchor:end}.cell{fill:#111;font-size:10px;text-anchor:middle}"
         ".axis{stroke:#999}.page{fill:#fff}.ring{fill:none;stroke:#222;stroke-width:2.5}"
         "@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.cell{fill:#111}.page{fill:#16181c}.ring{stroke:#fff}}")
# Faster than the present row, as fast, slower. All colours are light enough for black figures.
COLOURS = ((86, 180, 233), (240, 240, 240), (230, 159, 0))
FULL_COLOUR = 0.25


def colour_of(ratio):
    share = max(-1.0, min(1.0, (ratio - 1) / FULL_COLOUR))
    end = COLOURS[0] if share < 0 else COLOURS[2]
    return "#" + "".join(f"{round(mid + (to - mid) * abs(share)):02x}" for mid, to in zip(COLOURS[1], end))


def picture(title, row, present, best, variants):
    """Draws all rows that were measured: a plane over two of their numbers, and a panel for each number. The colour
    shows a row's time divided by the present row's."""
    def score(variant):
        return score_of(variant["ratios"]) if "ratios" in variant else math.inf

    parameters = searched(row)
    seen = {p.name: sorted({v["row"][p.name] for v in variants} | {present[p.name], best[p.name]},
                           key=lambda value, p=p: (place_of(p, value), value)) for p in parameters}
    by_spread = sorted(parameters, key=lambda p: -len(seen[p.name]))
    across, up = by_spread[0], by_spread[1] if len(by_spread) > 1 else by_spread[0]
    cells = {}
    for variant in variants:
        place = (variant["row"][across.name], variant["row"][up.name])
        if place not in cells or score(variant) < score(cells[place]):
            cells[place] = variant
    width_of_cell, height_of_cell, left, top = 46, 24, 150, 96
    columns, rows = len(seen[across.name]), len(seen[up.name])
    plane_width, plane_height = columns * width_of_cell, rows * height_of_cell
    panels_top = top + plane_height + 96
    panel_width, panel_height = 250, 130
    per_line = 3
    lines_of_panels = math.ceil(len(parameters) / per_line)
    width = max(left + plane_width + 40, 60 + per_line * (panel_width + 30))
    height = panels_top + lines_of_panels * (panel_height + 70)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}">', f"<style>{STYLE}</style>",
           f'<rect width="{width}" height="{height}" class="page"/>',
           f'<text x="16" y="26" class="title">{html.escape(title)}</text>',
           '<text x="16" y="46" class="small">Time over that of the present row, in per cent. Of rows that differ in '
           'other numbers, the fastest. x: does not compile, does not fit or is wrong.</text>']
    for i, (ratio, text) in enumerate(((1 - FULL_COLOUR, "faster"), (1, "as the present row"),
                                       (1 + FULL_COLOUR, "slower"))):
        out.append(f'<rect x="{16 + i * 160}" y="58" width="14" height="14" fill="{colour_of(ratio)}" stroke="#999"/>'
                   f'<text x="{36 + i * 160}" y="70" class="small">{text}</text>')
    out.append('<rect x="497" y="59" width="12" height="12" class="ring" stroke-dasharray="3 2"/>'
               '<text x="516" y="70" class="small">present row</text><rect x="607" y="59" width="12" height="12" '
               'class="ring"/><text x="626" y="70" class="small">best row</text>')

    def corner(column, line):
        return left + column * width_of_cell, top + (rows - 1 - line) * height_of_cell

    for column, x_value in enumerate(seen[across.name]):
        for line, y_value in enumerate(seen[up.name]):
            variant = cells.get((x_value, y_value))
            if variant is None:
                continue
            x, y = corner(column, line)
            ratio = score(variant)
            fill = "#c8c8c8" if math.isinf(ratio) else colour_of(ratio)
            text = "x" if math.isinf(ratio) else f"{100 * (ratio - 1):+.1f}"
            tip = html.escape(f"{shape(row, variant['row'])}: {variant.get('reason', text + ' %')}")
            out.append(f'<rect x="{x}" y="{y}" width="{width_of_cell - 2}" height="{height_of_cell - 2}" '
                       f'fill="{fill}"><title>{tip}</title></rect>'
                       f'<text x="{x + width_of_cell / 2 - 1}" y="{y + 15}" class="cell">{text}</text>')
    for marked, dashes in ((present, ' stroke-dasharray="5 3"'), (best, "")):
        x, y = corner(seen[across.name].index(marked[across.name]), seen[up.name].index(marked[up.name]))
        out.append(f'<rect x="{x - 1}" y="{y - 1}" width="{width_of_cell}" height="{height_of_cell}" '
                   f'class="ring"{dashes}/>')
    for column, value in enumerate(seen[across.name]):
        out.append(f'<text x="{left + (column + 0.5) * width_of_cell}" y="{top + plane_height + 16}" '
                   f'class="small mid">{short(value)}</text>')
    for line, value in enumerate(seen[up.name]):
        out.append(f'<text x="{left - 8}" y="{corner(0, line)[1] + 15}" class="small end">{short(value)}</text>')
    out.append(f'<text x="{left + plane_width / 2}" y="{top + plane_height + 38}" class="mid">{across.name}</text>')
    out.append(f'<text x="{left - 60}" y="{top - 8}" class="mid">{up.name}</text>')
    for i, parameter in enumerate(parameters):
        out += panel(parameter, seen[parameter.name], [v for v in variants if "ratios" in v], score, present, best,
                     60 + i % per_line * (panel_width + 30), panels_top + i // per_line * (panel_height + 70),
                     panel_width - 30, panel_height)
    return "\n".join(out + ["</svg>", ""])


def short(value):
    text = str(value).replace("BLOCK_LOAD_", "").replace("BLOCK_STORE_", "").replace("_TRANSPOSE", "_T").lower()
    return f"{value // KIB}K" if isinstance(value, int) and value >= 4 * KIB and value % KIB == 0 else text


def panel(parameter, values, variants, score, present, best, x0, y0, width, height):
    """Draws the time over one number, with a dot for each row."""
    scores = [score(variant) for variant in variants] or [1.0]
    low, high = min(*scores, 1.0), max(1.02, min(max(scores), 1.6))
    step = width / max(1, len(values))

    def px(value):
        return x0 + (values.index(value) + 0.5) * step

    def py(ratio):
        return y0 + height - (min(ratio, high) - low) / (high - low) * height

    out = [f'<line x1="{x0}" x2="{x0 + width}" y1="{y0 + height}" y2="{y0 + height}" class="axis"/>',
           f'<line x1="{x0}" x2="{x0}" y1="{y0}" y2="{y0 + height}" class="axis"/>',
           f'<line x1="{x0}" x2="{x0 + width}" y1="{py(1):.1f}" y2="{py(1):.1f}" class="axis" '
           'stroke-dasharray="4 3"/>',
           f'<text x="{x0 + width / 2}" y="{y0 + height + 36}" class="mid">{parameter.name}</text>']
    for ratio in sorted({low, 1.0, high}):
        if ratio == 1.0 or abs(py(ratio) - py(1.0)) > 12:
            out.append(f'<text x="{x0 - 6}" y="{py(ratio) + 4:.1f}" class="small end">{100 * (ratio - 1):+.0f} %'
                       '</text>')
    stride = math.ceil(len(values) / 8)
    for value in values[::stride]:
        out.append(f'<text x="{px(value):.1f}" y="{y0 + height + 16}" class="small mid">{short(value)}</text>')
    for variant in variants:
        ratio = score(variant)
        out.append(f'<circle cx="{px(variant["row"][parameter.name]):.1f}" cy="{py(ratio):.1f}" r="4" '
                   f'fill="{colour_of(ratio)}" stroke="#777"/>')
    for marked, dashes in ((present, ' stroke-dasharray="3 2"'), (best, "")):
        ratio = next((score(v) for v in variants if v["row"] == marked), 1.0)
        out.append(f'<circle cx="{px(marked[parameter.name]):.1f}" cy="{py(ratio):.1f}" r="7" class="ring"{dashes}/>')
    return out


# ------------------------------------------------------------------ command line

def parse_n(text):
    """Parses numbers of items, such as 2^24,1000000."""
    sizes = []
    for part in text.split(","):
        base, _, power = part.partition("^")
        n = int(base) ** int(power) if power else int(part)
        if not 1 <= n < 1 << 31:
            raise ValueError(part)
        sizes.append(n)
    return tuple(sizes)


def parse_start(text, row, present):
    """Returns the present row with the numbers of --start."""
    start = dict(present)
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in {p.name for p in searched(row)}:
            raise TuneError(f"--start: there is no '{name}' in {row.name}, but "
                            f"{', '.join(p.name for p in searched(row))}")
        start[name] = int(value) if re.fullmatch(r"\d+", value) else value
    return start


def gpu_architecture():
    try:
        found = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap,driver_version", "--format=csv,noheader"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        capability, driver = found.stdout.splitlines()[0].split(",")
        return int(capability.strip().replace(".", "")), driver.strip()
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError) as error:
        raise TuneError("no GPU answers to nvidia-smi; --host tests the script without one") from error


def hash_of_sources():
    digest = hashlib.sha256()
    for parts in ((ROOT, "include", "strata"), (HERE, "tuning"), (HERE, "harness")):
        folder = os.path.join(*parts)
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.*"), recursive=True)):
            if path.endswith((".hpp", ".cuh", ".cu", ".cpp")):
                with open(path, "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()[:16]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("types", help=f"{', '.join(TYPES)}; for sorts with values KEY:VALUE, such as u32:u32")
    parser.add_argument("--row", help="row of the policy to search (default: the first that this GPU uses): " +
                        "; ".join(f"{name}: {', '.join(row.name for row in algorithm.rows)}"
                                  for name, algorithm in ALGORITHMS.items()))
    parser.add_argument("--start", default="", metavar="NAME=NUMBER,...",
                        help="search from the present row with these numbers in it")
    parser.add_argument("--n", type=parse_n, metavar="2^24,2^28", help="numbers of items; each has the same weight")
    parser.add_argument("--seconds", type=float, default=480, help="for the search (default 480)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--architecture", type=int, metavar="90", help="compile for it (default: the GPU's)")
    parser.add_argument("--out", metavar="FOLDER", help="folder of all files (default build/tune/<what>)")
    parser.add_argument("--fresh", action="store_true", help="forget the earlier measurements in the folder")
    parser.add_argument("--host", action="store_true", help="use g++ and the CPU: tests the script without a GPU")
    parser.add_argument("--compiler", help="default nvcc; with --host g++")
    options = parser.parse_args(arguments)
    key, _, value = options.types.partition(":")
    if key not in TYPES or (value and value not in TYPES):
        parser.error(f"types are {', '.join(TYPES)}, and pairs of them")
    if value and not ALGORITHMS[options.algorithm].has_values:
        parser.error(f"{options.algorithm} has no values: one type")
    if options.seconds <= 0 or not options.jobs or options.jobs <= 0:
        parser.error("--seconds and --jobs must be positive")
    return options


def choose_row(algorithm, wanted, rows):
    names = [row.name for row in algorithm.rows]
    if wanted is None:
        return next(row for row in algorithm.rows if rows[row.name][0])
    if wanted not in names:
        raise TuneError(f"--row: there is no '{wanted}', but {', '.join(names)}")
    if not rows[wanted][0]:
        raise TuneError(f"--row: this GPU does not use {wanted}")
    return algorithm.rows[names.index(wanted)]


def tune(options):
    algorithm = ALGORITHMS[options.algorithm]
    architecture, driver = (90, "none") if options.host else (
        (options.architecture, "not asked") if options.architecture else gpu_architecture())
    folder = options.out or os.path.join("build", "tune", "_".join(
        [options.algorithm, options.types.replace(":", "_"), options.row or "row", "host" if options.host else
         f"sm_{architecture}"]))
    sources = hash_of_sources()
    compiler = options.compiler or ("g++" if options.host else "nvcc")
    # The folder's libraries and timing program are kept only if all of this is unchanged.
    built_from = " ".join([sources, options.algorithm, options.types, str(architecture), compiler])
    stamp = os.path.join(folder, "sources")
    os.makedirs(folder, exist_ok=True)
    try:
        with open(stamp, encoding="utf-8") as file:
            is_known = file.read() == built_from
    except OSError:
        is_known = False
    if not is_known or options.fresh:
        for path in glob.glob(os.path.join(folder, "*.so")) + [os.path.join(folder, "timing")]:
            if os.path.exists(path):
                os.remove(path)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(built_from)
    progress = Progress(options.seconds)
    progress.line(f"builds the timing program and the present row in {folder}")
    machine = Machine(options.algorithm, options.types, algorithm.rows[0], architecture, folder, options.jobs,
                      options.host, compiler, target_us=100 if options.host else 1000)
    try:
        context, rows = machine.start()
        row = machine.row = choose_row(algorithm, options.row, rows)
        present = rows[row.name][1]
        used = {name for name, (is_used, _) in rows.items() if is_used}
        wanted = options.n or ((1 << 13,) if options.host else row.sizes(used))
        sizes = tuple(n for n in wanted if machine.fits(n))
        if not sizes:
            raise TuneError("the device has no memory for these numbers of items: pass smaller ones by --n")
        if sizes != wanted:
            missing = ", ".join(report.n_text(n) for n in wanted if n not in sizes)
            progress.line(f"no memory for {missing} items: these sizes are left out")
        start = parse_start(options.start, row, present)
        identity = {"algorithm": options.algorithm, "types": options.types, "row": row.name, "sizes": list(sizes),
                    "gpu": context["gpu"], "driver": driver, "cuda": context["cuda"], "architecture": architecture,
                    "sources": sources, "host": options.host}
        path = os.path.join(folder, f"{row.name}.json")
        if options.fresh and os.path.exists(path):
            os.remove(path)
        record = Record(path, identity)
        if record.was_other:
            progress.line(f"earlier measurements do not count: other {record.was_other}")
        elif record.variants:
            progress.line(f"goes on from {len(record.variants)} rows in {path}")
        items = [BYTES[part] for part in options.types.split(":")]
        item = max(items) if options.algorithm == "radix_sort" else sum(items)
        search = Search(row, present, sizes, machine, record, progress, item,
                        (SHARED.get(architecture, 100) - 1) * KIB)
        best = search.run(start)
        outcome = search.last_comparison(best)
    finally:
        machine.stop()
    identity = {**identity, "date": datetime.date.today().isoformat()}
    return write_outcome(options, identity, row, present, start, best, outcome, search, folder)


def write_outcome(options, identity, row, present, start, best, outcome, search, folder):
    record = search.record
    best_ratios, twin_ratios = outcome
    end = verdict(best_ratios, twin_ratios)
    measured = [variant for variant in record.variants.values() if "ratios" in variant]
    text = figures(identity, row, present, best, search.present_ms, best_ratios, end, len(measured))
    header, drawing = os.path.join(folder, f"{row.name}.hpp"), os.path.join(folder, f"{row.name}.svg")
    with open(header, "w", encoding="utf-8") as file:
        file.write(row_header(options.algorithm, options.types, row, best, identity["architecture"], text))
    with open(drawing, "w", encoding="utf-8") as file:
        file.write(picture(f"{options.algorithm}, {options.types}, {row.name}: {identity['gpu']}", row, present, best,
                           list(record.variants.values())))
    record.save(present=present, best=best, ratio=end.ratio, noise=end.noise, date=identity["date"],
                present_ms={str(n): ms for n, ms in search.present_ms.items()})
    print()
    print(paste_text(row, best, text))
    print()
    if options.host:
        print("CPU times of the host SIMT back end: they say nothing of a GPU.")
    print(f"numbers        {' x '.join(p.name for p in searched(row))}")
    if start != present:
        before = record.get(start) or {}
        print(f"start          {shape(row, start)}: " + (before["reason"] if "reason" in before else
                                                         f"{record.score(start):.3f} of the present time"))
    print(f"present row    {shape(row, present)}: " +
          ", ".join(f"{report.n_text(n)} {report.time_text(ms)} us" for n, ms in search.present_ms.items()))
    print(f"best row       {shape(row, best)}: " +
          ", ".join(f"{report.n_text(n)} {report.time_text(search.present_ms[n] * statistics.median(values))} us"
                    for n, values in best_ratios.items()))
    print(f"gain           {100 * (1 / end.ratio - 1):+.2f} % (noise {100 * end.noise:.2f} %): " +
          ("none: the present row is the best that was found" if best == present else
           "above the noise" if end.is_above_noise else "not above the noise, keep the present row"))
    rejected = [variant for variant in record.variants.values() if "reason" in variant]
    print(f"rows           {len(measured)} measured, {len(rejected)} rejected, in {search.progress.elapsed():.0f} s")
    print(f"files          {header}, {drawing}, {record.path}")
    return 0


def main(arguments):
    options = parse_arguments(arguments)
    try:
        return tune(options)
    except TuneError as error:
        print(f"tune.py: {error}", file=sys.stderr)
        return 2
    except Broken as broken:
        print(f"tune.py: the timing program fails with the present row: {broken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

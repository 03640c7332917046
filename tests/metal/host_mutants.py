#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks the shipped host code on purpose, in one place at a time. Each break must be noticed.

Compiles a program with a broken copy of the headers and with the test double. metal_host_probe.cpp joins a few rows by
all plans. metal_class_probe.cpp calls DeviceHashJoin, for breaks in the choice of the back end, and in queues, limits
and errors. With the shipped code, nothing may be noticed. The list has no breaks that are only slower, such as the same
digit in two passes.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = TESTS.parent / "include"
METAL = pathlib.Path("strata/device/join/metal")

# Mutants of one program: a file of METAL, a text in it, whose first occurrence counts, and its replacement.
OF_JOINS = [
    ("command.hpp", "objc::wait(buffer_);", ";"),
    ("command.hpp", "objc::commit(buffer_);", ";"),
    ("command.hpp", "if (encoder_ != nullptr) objc::end_encoding(encoder_);", ""),
    ("command.hpp", "if (objc::status(buffer_) != completed) {", "if (objc::status(buffer_) == 77) {"),
    ("command.hpp", "(bytes + 15) / 16 * 16", "bytes + 1"),
    ("context.hpp", "objc::ref object(objc::new_pipeline(device_.get(), made.get(), &error));",
     "objc::ref object(objc::retain(objc::new_pipeline(device_.get(), made.get(), &error)));"),
    ("context.hpp", "object == nullptr ? nullptr : objc::retain(object)", "object"),
    ("memory.hpp", "if (what == access::read && bytes > 0)", "if (false)"),
    ("memory.hpp", "if (copy_to_ != nullptr && bytes > 0)", "if (false)"),
    ("memory.hpp", "(bytes + page - 1) / page * page", "bytes"),
    ("radix.hpp", "side.next_begins[(p << bits) + d] = offset_of[d] = sum;\n      sum += rows;",
     "sum += rows;\n      side.next_begins[(p << bits) + d] = offset_of[d] = sum;"),
    ("radix.hpp", "offset_of[d] += rows;\n      }", "}"),
    ("radix.hpp", "std::swap(side.free_keys[0], side.free_keys[1]);", ""),
    ("radix.hpp", "side.has_numbers = true;", ""),
    ("radix.hpp", "side.begins[p]; begin < end;) {", "side.begins[p] + 1; begin < end;) {"),
    ("join.hpp", "std::memset(storage_.get<char>(found), 0, words() * 4);", ";"),
    ("join.hpp", "*storage_.get<join_counters>(counters) = join_counters{};", ";"),
    ("join.hpp", "std::memset(bounds, 0, buckets() * 4);", ""),
    ("join.hpp", "if (status == MetalJoinStatus::success && marks()) status = put_lone_rows();", ""),
    ("join.hpp", "request_.kind == JoinKind::inner || request_.kind == JoinKind::left;",
     "request_.kind == JoinKind::inner;"),
    ("join.hpp", "request_.kind == JoinKind::semi ? 1 : 0", "0"),
    ("join.hpp", "result.has_rows = strategy_ == JoinStrategy::simple ? 0 : 1;", "result.has_rows = 1;"),
    ("join.hpp", "(page - address % page) % page", "page - address % page + page"),
    ("join.hpp", "return status == MetalJoinStatus::success ? runner.run() : status;", "return status;"),
    ("join.hpp", "if (rows > longest) longest = rows;", "longest = 1;"),
    ("tasks.hpp", "if (counts_) some.dispatch(advance_, 1, simd_lanes, count_, total_);", ""),
    ("tasks.hpp", "tasks_view_.offset + first * sizeof(join_task)", "tasks_view_.offset"),
    ("tasks.hpp", "build_end - b < build_each ? build_end : b + build_each;", "build_end;"),
    ("tasks.hpp", "if (listed_ == tuning_.tasks) {", "if (listed_ == tuning_.tasks + 1) {"),
    ("tasks.hpp", "listed_ = 0;\n    return", "return"),
    ("metal_join.hpp", "if (request.capacity > most) request.capacity = most;",
     "request.capacity = most;"),
    ("tuning.hpp", "return {threads * 4, rows * 4, rows * 2,", "return {threads * 4, rows * 4, rows,"),
    ("metal_join.hpp", "!detail::are_join_outputs_valid(", "0 > capacity && detail::are_join_outputs_valid("),
    ("metal_join.hpp", "(detail::refuses_null(num_out, \"d_num_out\") ||", "("),
    ("metal_join.hpp", "detail::refuses_null(build_keys, \"the array of build keys\") ||", ""),
    ("metal_join.hpp", "detail::refuses_null(probe_keys, \"the array of probe keys\") ||", ""),
]
OF_CALLS = [
    ("calls.hpp", "if (detail::refuses_join_strategy(is_strategy(options.strategy))) return cudaErrorInvalidValue;",
     ""),
    ("calls.hpp", "strategy <= JoinStrategy::automatic", "strategy < JoinStrategy::automatic"),
    ("calls.hpp", "output.sink.build_out,\n          output.sink.probe_out,",
     "output.sink.probe_out,\n          output.sink.build_out,"),
    ("calls.hpp", "join_on_host::write_total(total, num_out);", ""),
    ("calls.hpp", "options.hash, options.equal, queue));", "options.hash, options.equal, nullptr));"),
    ("calls.hpp", "if (temp_storage != nullptr && queue != nullptr) {", "if (queue != nullptr) {"),
    ("calls.hpp", "if (temp_storage != nullptr && queue != nullptr) {", "if (false) {"),
    ("calls.hpp", "if (status != MetalJoinStatus::success) return as_cuda(status);", "(void)status;"),
    ("calls.hpp", "by_host.strategy = JoinStrategy::cpu;", ""),
    ("calls.hpp", "JoinOptions<Hash, Equal, Order> by_host = options;", "JoinOptions<Hash, Equal, Order> by_host;"),
    ("calls.hpp", "no_rows{{nullptr, nullptr}, 0};", "no_rows{{nullptr, nullptr}, 1};"),
    ("calls.hpp", "MetalJoinOptions result(join_on_host::on_host(build, probe, options));", "MetalJoinOptions result;"),
    ("calls.hpp", "if (options.strategy != JoinStrategy::automatic) result.strategy = options.strategy;", ""),
    ("calls.hpp", "if (options.strategy != JoinStrategy::automatic) result", "result"),
    ("calls.hpp", "static_cast<int>(status)", "static_cast<int>(status != MetalJoinStatus::success)"),
    ("metal_join.hpp", "request.kind != JoinKind::full && ", ""),
    ("metal_join.hpp", "options.host.order == JoinOrder::any &&", ""),
    ("metal_join.hpp", "options.host.build_valid == nullptr && ", ""),
    ("metal_join.hpp", "options.host.probe_valid == nullptr &&", ""),
    ("metal_join.hpp", "storage_bytes < work.bytes()", "false"),
    ("metal_join.hpp", "gpu.queue(queue) : finish(queue)", "gpu.queue(queue) : MetalJoinStatus::success"),
    ("metal_join.hpp", "if (temp_storage != nullptr && command_queue != nullptr) {", "if (command_queue != nullptr) {"),
    ("metal_join.hpp", "if (temp_storage != nullptr && command_queue != nullptr) {", "if (false) {"),
    ("metal_join.hpp", "gpu == nullptr ? 0 : gpu->threadgroup_bytes()", "1"),
    ("calls.hpp", "if (temp_storage != nullptr && status == cudaSuccess) join", "if (temp_storage != nullptr) join"),
    ("context.hpp", "!device || !objc::supports_family(device.get(), least_family)", "!device"),
    ("context.hpp", "if (library_) return MetalJoinStatus::success;", ""),
    ("context.hpp", "return library_\n", "return true\n"),
    ("context.hpp", 'if (!made) return fail(MetalJoinStatus::no_function, "no shader function ", full_name);', ""),
    ("context.hpp", "if (!object) {", "if (false) {"),
    ("context.hpp", "objc::simd_width(object.get()) != simd_lanes", "false"),
    ("context.hpp", "return queue_ ? MetalJoinStatus::success", "return true ? MetalJoinStatus::success"),
    ("command.hpp", "if (encoder_ == nullptr) {", "if (false) {"),
    ("command.hpp", "if (threads > kernel.max_threads) {", "if (false) {"),
    ("command.hpp", "if (status_ != MetalJoinStatus::success) return status_;", ""),
    ("memory.hpp", "if (bytes > gpu.buffer_bytes()) {", "if (false) {"),
    ("memory.hpp", 'if (!buffer_) return fail(MetalJoinStatus::out_of_memory, "Metal gave no buffer");', ""),
    ("radix.hpp", "tile_rows * key_bytes + counter_bytes + digits * 4 + simd_lanes * 4 >", "0 >"),
    ("join.hpp", "while (threads > simd_lanes && threads > kernel.max_threads) threads /= 2;", ""),
    ("tasks.hpp", "pairs + pairs_of(tasks_[next]) <= tuning_.dispatch_pairs", "true"),
    ("tasks.hpp", "d < tuning_.dispatches && ", ""),
    ("status.hpp", '"%s%s", what, detail', '"%s", what'),
]
# Compiling these takes most of the time, so they are precompiled. A compiler that does not use the result reads them.
STANDARD = ("algorithm array atomic cstdint cstdio cstdlib cstring functional map memory mutex numeric optional random "
            "string thread tuple type_traits utility vector")
MUTANTS = ([("metal_host_probe.cpp", *mutant) for mutant in OF_JOINS] +
           [("metal_class_probe.cpp", *mutant) for mutant in OF_CALLS])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--double", required=True, help="the library of the test double")
    parser.add_argument("--step", type=int, default=1, help="try one in STEP mutants of the list")
    parser.add_argument("--only", default="", help="try only mutants that contain this text")
    arguments = parser.parse_args()
    missed = []
    mutants = [m for m in MUTANTS[::arguments.step] if arguments.only in " ".join(m[:3])]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(INCLUDE / "strata", folder / "include" / "strata")
        environment = dict(os.environ, MSL_FLAGS="-O0")
        compiler = [arguments.cxx, "-std=c++17", "-O0"]
        standard = folder / "standard.hpp"
        standard.write_text("".join(f"#include <{name}>\n" for name in STANDARD.split()))
        subprocess.run([*compiler, "-x", "c++-header", standard, "-o", f"{standard}.gch"], capture_output=True)

        def is_noticed(probe, title):
            """The reason why the broken code is noticed, or an empty text if it is not."""
            program = folder / "program"
            built = subprocess.run(
                [*compiler, "-include", standard, "-I", folder / "include", "-I", TESTS,
                 TESTS / "metal" / probe, arguments.double, "-pthread", "-ldl", "-o", program],
                text=True, capture_output=True)
            if built.returncode != 0:
                sys.exit(f"FAILED: {title} does not compile: {built.stderr[:2000]}")
            # A time limit ends a program that hangs.
            limited = [sys.executable, TESTS / "cpu_limit.py", "60", "the program", program]
            try:
                done = subprocess.run(limited, text=True, capture_output=True, timeout=600, env=environment)
            except subprocess.TimeoutExpired:
                return "never ends"
            if done.returncode == 0:
                return ""
            return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]

        for probe in sorted({m[0] for m in mutants}):
            why = is_noticed(probe, "the shipped code")
            if why:
                sys.exit(f"FAILED: the shipped code is noticed by {probe}: {why}")
        for probe, file, old, new in mutants:
            path = folder / "include" / METAL / file
            text = path.read_text()
            title = f"{file}: {' '.join(old.split())}"
            if old not in text:
                missed.append(f"{title} is no longer there")
                continue
            path.write_text(text.replace(old, new, 1))
            why = is_noticed(probe, title)
            path.write_text(text)
            print(f"{'noticed' if why else '-':8} {title[:90]}: {why[:70]}", flush=True)
            if not why:
                missed.append(title)
    print(f"{len(mutants) - len(missed)} of {len(mutants)} noticed")
    if missed:
        sys.exit("FAILED: " + "\n".join(missed))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilers check the shipped kernels, and refuse texts that Metal must refuse.

`--cxx` compiles as C++ with double/run/metal_stdlib. `--clang` also compiles as C++ for OpenCL with
double/check/metal_stdlib, whose address spaces are Metal's. There, a pointer without an address space becomes
`addrspace(4)` in the output.

Also checks that the kernels and the host code still have all places that metal_mutants and host_mutants.py break.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import host_mutants

FOLDER = pathlib.Path(__file__).resolve().parent
INCLUDE = FOLDER.parents[1] / "include"

# What is wrong, which checker refuses it (run, check or both), and replacements, each of the first occurrence.
HISTOGRAM_BEGIN = "const uint end = tiles[group].end;\n  for (uint i = tiles"
MUST_REFUSE = [
    ("a pointer without address space", "check",
     [("constant constexpr uint radix_bins = 256;",
       "constant constexpr uint radix_bins = 256;\n"
       "inline uint first_of(const uint* p) { return *p; }\n"),
      (HISTOGRAM_BEGIN, "const uint end = tiles[group].end + first_of(counts);\n  for (uint i = tiles")]),
    ("a device pointer for threadgroup memory", "check",
     [(HISTOGRAM_BEGIN, "threadgroup uint* q = counts; q[0] = 0u;\n  " + HISTOGRAM_BEGIN)]),
    ("threadgroup memory for a device pointer", "both",
     [(HISTOGRAM_BEGIN, "device atomic_uint* q = bins;\n  " + HISTOGRAM_BEGIN)]),
    ("an order of memory stronger than relaxed", "run",
     [("memory_order_relaxed", "memory_order_seq_cst")]),
    ("a store through device const", "both", [("out_keys[position[i]] = k;", "keys[position[i]] = k;")]),
    ("a store to constant memory", "both",
     [(HISTOGRAM_BEGIN, "args.shift = 1u;\n  " + HISTOGRAM_BEGIN)]),
    ("double", "both", [(HISTOGRAM_BEGIN, "double x = 1;\n  " + HISTOGRAM_BEGIN)]),
    ("an atomic of 64 bits", "run",
     [("device atomic_uint*      count      [[buffer(7)]]", "device atomic<ulong>* count [[buffer(7)]]")]),
    ("a simd function of 64 bits", "run", [("simd_sum(start)", "uint(simd_sum(ulong(start)))")]),
    ("positions of different rank", "run",
     [("uint group   [[threadgroup_position_in_grid]]", "uint3 group [[threadgroup_position_in_grid]]"),
      ("tiles[group].end", "tiles[group.x].end"), ("tiles[group].begin", "tiles[group.x].begin"),
      ("counts[group * radix_bins", "counts[group.x * radix_bins"),
      ("uint threads [[threads_per_threadgroup]]", "uint threads [[threads_per_threadgroup]], "
       "uint grid [[threads_per_grid]]")]),
    ("an argument without attribute", "run",
     [("uint tid     [[thread_index_in_threadgroup]]", "uint tid")]),
    ("two arguments in one slot", "run", [("counts  [[buffer(2)]]", "counts  [[buffer(1)]]")]),
    ("a structure by value in a slot", "run",
     [("constant radix_args&     args    [[buffer(3)]]", "radix_args args [[buffer(3)]]")]),
    ("threadgroup memory that is no argument", "check",
     [(HISTOGRAM_BEGIN, "threadgroup uint own[4]; own[tid & 3u] = tid;\n  " + HISTOGRAM_BEGIN)]),
    ("a lambda", "check",
     [(HISTOGRAM_BEGIN, "auto f = [&](uint x) { return x + tid; };\n  if (f(1u) == 0u) return;\n  "
       + HISTOGRAM_BEGIN)]),
    ("a slot behind the last", "run", [("args    [[buffer(3)]]", "args    [[buffer(31)]]")]),
    ("a name that is an address space", "check",
     [(HISTOGRAM_BEGIN, "const uint local = 1u;\n  " + HISTOGRAM_BEGIN)]),
    ("a name that is a type", "check",
     [(HISTOGRAM_BEGIN, "const uint half = 1u;\n  " + HISTOGRAM_BEGIN)]),
    ("an instantiation of what is no template", "check",
     [("template <typename Total>\n", "using Total = ulong;\n"),
      ("advance_total<ulong>)", "advance_total)")]),
    ("an exception", "both", [(HISTOGRAM_BEGIN, "throw 1;\n  " + HISTOGRAM_BEGIN)]),
]


SHIPPED_TEXT = """#include <strata/device/join/metal/shader_source.hpp>
#include <cstdio>
int main() { std::fputs(strata::detail::metal::shader_source().c_str(), stdout); }
"""
STALE_MUTANTS = """#include "metal/metal_mutants_list.hpp"
#include <strata/device/join/metal/shader_source.hpp>
#include <cstdio>
int main() {
  for (const auto& mutant : metal_test::mutants())
    if (!mutant.applies_to(strata::detail::metal::shader_source())) std::puts(mutant.name.c_str());
}
"""


def printed_by(cxx, source, folder):
    """The output of a program that is compiled with the headers."""
    program = folder / "print.cpp"
    program.write_text(source)
    subprocess.run([cxx, "-std=c++17", "-I", INCLUDE, "-I", FOLDER.parent, program, "-o", folder / "print"], check=True)
    return subprocess.run([folder / "print"], check=True, text=True, capture_output=True).stdout


def stale_mutants(cxx, folder):
    """The mutants of kernels and of host code whose place does not exist any more."""
    return printed_by(cxx, STALE_MUTANTS, folder).splitlines() + [
        f"{file}: {old}" for _, file, old, _ in host_mutants.MUTANTS
        if old not in (INCLUDE / host_mutants.METAL / file).read_text()]


def run_by(cxx, text, folder):
    """None, or the reason why the header that executes the text refuses it."""
    source = folder / "text.metal"
    source.write_text(text)
    done = subprocess.run(
        [cxx, "-std=c++14", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
         FOLDER / "double" / "run", "-x", "c++", source], text=True, capture_output=True)
    return None if done.returncode == 0 else done.stderr


def check_by(clang, text, folder):
    """None, or the reason why the header with real address spaces refuses it."""
    source, out = folder / "text.metal", folder / "text.ll"
    source.write_text(text)
    done = subprocess.run(
        [clang, "-x", "cl", "-cl-std=clc++", "-target", "spir64-unknown-unknown", "-cl-no-stdinc", "-I",
         FOLDER / "double" / "check", "-Wall", "-Werror", "-Wno-unknown-attributes",
         "-Wno-unused-const-variable", "-O0", "-S", "-emit-llvm", source, "-o", out],
        text=True, capture_output=True)
    if done.returncode != 0:
        return done.stderr
    made = out.read_text()
    generic = [line for line in made.splitlines() if "addrspace(4)" in line]
    if generic:
        return "a pointer without an address space: " + generic[0]
    # The text may declare no threadgroup variable, because in the double each thread would have its own.
    owned = [line for line in made.splitlines() if line.startswith("@") and "addrspace(3)" in line]
    if owned:
        return "a variable in threadgroup memory: " + owned[0]
    return None if made.count("\ndefine") >= 15 else "too few functions"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--clang", default="")
    arguments = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = printed_by(arguments.cxx, SHIPPED_TEXT, folder)
        failures += [f"no longer there: {mutant}" for mutant in stale_mutants(arguments.cxx, folder)]
        checkers = {"run": lambda t: run_by(arguments.cxx, t, folder)}
        if arguments.clang:
            checkers["check"] = lambda t: check_by(arguments.clang, t, folder)
        for which, checker in checkers.items():
            why = checker(text)
            if why:
                failures.append(f"{which}: the shipped text is refused: {why}")
        for what, by, replacements in MUST_REFUSE:
            wrong = text
            for old, new in replacements:
                if old not in wrong:
                    failures.append(f"{what}: '{old}' is not in the text")
                wrong = wrong.replace(old, new, 1)
            names = [which for which in checkers if by in (which, "both")]
            for which in names:
                why = checkers[which](wrong)
                if why is None:
                    failures.append(f"{what} is not refused by {which}")
                else:
                    lines = [line for line in why.splitlines() if "error" in line] or why.splitlines()
                    print(f"{what}: {which}: {lines[0][-110:]}")
    if failures:
        sys.exit("FAILED: " + "\n".join(failures))


if __name__ == "__main__":
    main()

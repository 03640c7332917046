#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the program jit: what it compiles, what it refuses and, where there is a GPU, what it prints."""

import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from testing import expect, finish, run  # noqa: E402

JIT = sys.argv[1]
# type, operator, reduction; the same two in Python
CALLS = [
    ("int", "a * 3 + 1", "a + b", lambda a: a * 3 + 1, lambda a, b: a + b),
    ("long", "a * a", "a < b ? b : a", lambda a: a * a, max),
    ("double", "a / 2", "a + b", lambda a: a / 2, lambda a, b: a + b),
    ("float", "a < 100 ? a : 100", "a", lambda a: min(a, 100), lambda a, b: a),  # not commutative
]


def call(kind, op, reduction, *more, **keywords):
    return run([JIT, f"--type={kind}", f"--op={op}", f"--reduce={reduction}", *more], **keywords)


def compiles():
    for kind, op, reduction, _, _ in CALLS:
        result = call(kind, op, reduction, "--ptx")
        expect(f"{kind}, {op}: compiles", (result.returncode, result.stdout), (0, b""))
        expect(f"{kind}, {op}: says so", b"jit: compiled for compute_90 in" in result.stderr, True)


def refuses():
    for options, message in ((["--op=a +"], b"--op(2): error: expected an expression"),
                             (["--reduce=a + c"], b'--reduce(1): error: identifier "c" is undefined')):
        result = run([JIT, "--ptx", *options])
        expect(f"{options}: exit status", (result.returncode, result.stdout), (1, b""))
        expect(f"{options}: message", message in result.stderr, True)
    for options, message in ((["--type=complex"], b"jit: invalid argument 'complex' for '--type'\n"),
                             (["--nothing"], b"jit: unrecognized option '--nothing'\n"),
                             (["a", "b"], b"jit: extra operand 'b'\n")):
        result = run([JIT, *options])
        expect(f"{options}: rejected", (result.returncode, result.stdout, result.stderr),
               (1, b"", message + b"Try 'jit --help' for more information.\n"))
    result = run([JIT, "--help"])
    expect("help", (result.returncode, result.stdout[:7], result.stderr), (0, b"Usage: ", b""))


def runs():
    probe = run([JIT, "--type=int"], input=b"1")
    if probe.returncode == 2:
        print("skipped: no results are compared:", probe.stderr.decode().strip())
        expect("without a GPU: message", probe.stderr.startswith(b"jit: cudaGetDeviceCount: "), True)
        return
    for count in (1, 2, 8, 9, 2047, 2048, 2049, 100_000, 6_000_000):
        numbers = [(7 * i + 3) % 1000 for i in range(count)]
        text = "\n".join(map(str, numbers)).encode()
        for kind, op, reduction, change, reduce in CALLS:
            result = call(kind, op, reduction, input=text)
            expect(f"{count} of {kind}, {op}: exit status", result.returncode, 0)
            expected = functools.reduce(reduce, map(change, numbers))
            if kind == "int":
                expected = (expected + 2**31) % 2**32 - 2**31
            expect(f"{count} of {kind}, {op}", float(result.stdout or "nan"), float(expected))
    for text, message in ((b"", b"jit: -: no numbers\n"), (b"1 x2\n", b"jit: not a number of this type: x2\n")):
        result = run([JIT], input=text)
        expect(f"{text}: refused", (result.returncode, result.stderr), (1, message))


compiles()
refuses()
runs()
finish()

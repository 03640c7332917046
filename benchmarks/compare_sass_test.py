#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests compare_sass.py on texts in the form of cuobjdump's output: python3 benchmarks/compare_sass_test.py"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_sass  # noqa: E402

HEAD = """
Fatbin elf code:
================
arch = sm_90
code version = [1,8]

\tcode for sm_90
"""
SUM = ["LDC R1, c[0x0][0x28] ;", "S2R R0, SR_TID.X ;", "@!P0 BRA `(.L_x_1) ;", "IMAD.WIDE R2, R0, 0x4, R2 ;",
       "EXIT ;"]


def function(name, lines):
    """Returns a function in the form of cuobjdump's output: an address before each instruction, its encoding after it
    and on the next line."""
    text = f"\t\tFunction : {name}\n\t.headerflags\t@\"EF_CUDA_SM90\"\n"
    for i, line in enumerate(lines):
        text += f"        /*{16 * i:04x}*/                   {line:60} /* 0x00000a00ff017b82 */\n"
        text += " " * 85 + "/* 0x000fe20000000800 */\n"
    return text + "\t\t..........\n\n"


def kernels(*functions):
    return compare_sass.parse(HEAD + "".join(function(name, lines) for name, lines in functions))


def statuses(before, after):
    return [row.status for row in compare_sass.compare(before, after)]


class Parse(unittest.TestCase):
    def test_kernels_have_their_architecture_and_instructions(self):
        (kernel,) = kernels(("_ZN6strata3sumEv", SUM))
        self.assertEqual(kernel.architecture, "sm_90")
        self.assertEqual(kernel.name, "_ZN6strata3sumEv")
        self.assertEqual(list(kernel.code), SUM)

    def test_padding_is_left_out(self):
        self.assertEqual(kernels(("f", [*SUM, "NOP;", "NOP ;"])), kernels(("f", SUM)))

    def test_an_instruction_that_does_nothing_elsewhere_is_not(self):
        self.assertEqual(statuses(kernels(("f", ["NOP ;", *SUM])), kernels(("f", SUM))), ["differs"])


class Compare(unittest.TestCase):
    def test_names_do_not_matter(self):
        call = "CALL.REL.NOINC `($_ZN6strata{}Ev$__internal_0_$__cuda_sm20_div_u64) ;"
        self.assertEqual(statuses(kernels(("_ZN6strata3oldEv", [*SUM, call.format("3old")])),
                                  kernels(("_ZN6strata6newestEv", [*SUM, call.format("6newest")]))),
                         ["identical"])

    def test_order_matters_less_than_opcodes(self):
        before = kernels(("f", SUM))
        self.assertEqual(statuses(before, kernels(("f", [SUM[1], SUM[0], *SUM[2:]]))), ["order or registers"])
        self.assertEqual(statuses(before, kernels(("f", [line.replace("R2", "R4") for line in SUM]))),
                         ["order or registers"])
        self.assertEqual(statuses(before, kernels(("f", [*SUM[:4], "NOP ;", "EXIT ;"]))), ["differs"])

    def test_kernels_that_come_and_go(self):
        self.assertEqual(statuses(kernels(("f", SUM)), []), ["gone"])
        self.assertEqual(statuses([], kernels(("f", SUM))), ["new"])

    def test_each_kernel_has_one_mate(self):
        twice = kernels(("f", SUM), ("g", SUM))
        self.assertEqual(statuses(twice, kernels(("f", SUM))), ["gone", "identical"])
        self.assertEqual(statuses(kernels(("g", SUM)), twice), ["new", "identical"])

    def test_other_architectures_are_no_mates(self):
        other = compare_sass.parse(HEAD.replace("sm_90", "sm_80") + function("f", SUM))
        self.assertEqual(statuses(kernels(("f", SUM)), other), ["gone", "new"])

    def test_mates_have_the_same_name_if_they_can(self):
        before = kernels(("_ZN1a3sumEv", SUM), ("_ZN1a4scanEv", [*SUM, "BAR.SYNC 0x0 ;"]))
        after = kernels(("_ZN1b4scanIiEEv", [*SUM, "MOV R1, R2 ;"]), ("_ZN1b3sumIiEEv", SUM[1:]))
        pairs = {(row.before.name, row.after.name) for row in compare_sass.compare(before, after)}
        self.assertEqual(pairs, {("_ZN1a3sumEv", "_ZN1b3sumIiEEv"), ("_ZN1a4scanEv", "_ZN1b4scanIiEEv")})


class Table(unittest.TestCase):
    def test_what_is_identical_is_counted_alone(self):
        same = kernels(("f", SUM), ("g", SUM[1:]))
        self.assertEqual(compare_sass.table(compare_sass.compare(same, same)), "2 kernels: 2 identical")

    def test_what_differs_has_a_row(self):
        rows = compare_sass.compare(kernels(("_ZN6strata3sumEv", SUM)),
                                    kernels(("_ZN6strata5totalEv", [*SUM[:2], "@P0 MOV R1, R2 ;", *SUM[4:]])))
        text = compare_sass.table(rows, with_opcodes=True)
        self.assertIn("| sm_90 | sum -> total | differs | 5 -> 4 | -1 | 3 |", text)
        self.assertIn("sum: -1 BRA, -1 IMAD.WIDE, +1 MOV", text)


class CommandLine(unittest.TestCase):
    def run_main(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            code = compare_sass.main(list(arguments))
        return code, printed.getvalue()

    def test_exit_status_says_whether_all_are_identical(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.sass", "b.sass")]
            for path, lines in zip(paths, (SUM, SUM[1:])):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(HEAD + function("_ZN6strata3sumEv", lines) + function("same", SUM))
            self.assertEqual(self.run_main(paths[0], paths[0]), (0, "2 kernels: 2 identical\n"))
            self.assertEqual(self.run_main(*paths)[0], 1)
            self.assertEqual(self.run_main(*paths, "--filter", "same"), (0, "1 kernels: 1 identical\n"))
            self.assertEqual(self.run_main(paths[0], os.path.join(folder, "none.o"))[0], 2)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of run_all.py with scripts in the place of benchmark programs: python3 benchmarks/run_all_test.py"""

import contextlib
import io
import json
import os
import stat
import sys
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the line above)
import run_all  # noqa: E402

FIXTURE = os.path.join(HERE, "testdata", "report.csv")

# Takes the options of a benchmark program, notes that it ran, and writes the fixture and a context.
SCRIPT = """#!/bin/sh
[ "$1" = --list ] && { cat @FIXTURE@; exit 0; }
echo "$@" >> @FOLDER@/ran_@NAME@
for argument; do case $argument in --benchmark_out=*) json=${argument#*=};; esac; done
printf '{"context": {"gpu": "NVIDIA Test 1", "copy_1gib_gb_per_s": "@COPY@", "host_name": "secret"' > "$json"
echo ', "date": "2026-11-24"}}' >> "$json"
@BODY@
"""


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out")
        self.addCleanup(setattr, run_all, "gpus", run_all.gpus)
        run_all.gpus = lambda: [("NVIDIA Test 1", "9.0")]
        self.addCleanup(setattr, run_all, "commit_of_tree", run_all.commit_of_tree)
        run_all.commit_of_tree = lambda: "abc"

    def program(self, name, body='cp @FIXTURE@ "$2"', copy="1000.5"):
        path = os.path.join(self.folder, f"{name}_benchmark")
        text = SCRIPT.replace("@BODY@", body)
        for key, value in (("FIXTURE", FIXTURE), ("FOLDER", self.folder), ("NAME", name), ("COPY", copy)):
            text = text.replace(f"@{key}@", value)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def times_run(self, name):
        try:
            with open(os.path.join(self.folder, f"ran_{name}"), encoding="utf-8") as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0

    def run_all(self, *arguments):
        """(exit code, what is printed)"""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run_all.main(["--programs", self.folder, "--out", self.out, *arguments])
        return code, printed.getvalue()

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def test_all_files_are_written_and_what_to_send_is_said(self):
        self.program("reduce")
        self.program("scan", copy="990")
        code, printed = self.run_all()
        self.assertEqual(code, 0, printed)
        self.assertEqual(sorted(os.listdir(self.out)), ["README.md", "chart.svg", "context.json", "overview.svg",
                                                        "reduce.csv", "scan.csv"])
        self.assertIn("7 comparisons with CUB: 4 faster, 1 same, 1 slower, 1 unsure; **1 loss**.", printed)
        self.assertIn("open a pull request", printed)
        context = json.loads(self.read("context.json"))
        self.assertEqual(context["context"], {"gpu": "NVIDIA Test 1", "copy_1gib_gb_per_s": "990 to 1000.5",
                                              "date": "2026-11-24"})
        self.assertEqual((context["run"]["commit"], context["run"]["quick"]), ("abc", False))
        self.assertIn("| gpu | NVIDIA Test 1 |", self.read("README.md"))
        self.assertIn("![strata, its best rival and a copy](overview.svg)", self.read("README.md"))
        self.assertIn("Speed on NVIDIA Test 1", self.read("overview.svg"))
        xml.etree.ElementTree.fromstring(self.read("chart.svg"))
        with tarfile.open(f"{self.out}.tar.gz") as archive:
            self.assertIn("out/reduce.csv", archive.getnames())

    def test_options_of_the_programs(self):
        self.program("reduce")
        code, printed = self.run_all("--quick")
        self.assertEqual(code, 0)
        self.assertIn("not to be sent", printed)
        with open(os.path.join(self.folder, "ran_reduce"), encoding="utf-8") as file:
            options = file.read()
        self.assertIn("--git-hash abc --samples 5", options)
        self.assertFalse(os.path.exists(f"{self.out}.tar.gz"))

    def test_it_goes_on_with_what_is_missing(self):
        self.program("reduce")
        self.program("scan", body='head -n 3 @FIXTURE@ > "$2"; kill -9 $$')
        code, printed = self.run_all()
        self.assertEqual(code, 1)
        self.assertIn("scan: 2 results in", printed)
        self.assertIn("FAILED with -9", printed)
        self.assertIn("failed: scan. Run again", printed)
        self.program("scan")
        code, printed = self.run_all()
        self.assertEqual(code, 0)
        self.assertIn("goes on: reduce measured before", printed)
        self.assertEqual((self.times_run("reduce"), self.times_run("scan")), (1, 2))
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual((self.times_run("reduce"), self.times_run("scan")), (1, 2))

    def test_a_failed_program_leaves_its_messages(self):
        self.program("reduce")
        self.program("scan", body="echo wrong result; exit 1")
        self.assertEqual(self.run_all()[0], 1)
        self.assertIn("wrong result", self.read("scan.log"))
        self.assertNotIn("scan.csv", os.listdir(self.out))
        self.assertNotIn("reduce.log", os.listdir(self.out))

    def test_nothing_measured_is_another_code(self):
        self.program("reduce", body="exit 1")
        code, printed = self.run_all()
        self.assertEqual(code, 2)
        self.assertIn("no program has a result", printed)

    def test_results_of_others_are_not_replaced_unasked(self):
        self.program("reduce")
        self.assertEqual(self.run_all()[0], 0)
        run_all.commit_of_tree = lambda: "def"
        code, printed = self.run_all()
        self.assertEqual(code, 2)
        self.assertIn("has results of another run (other commit)", printed)
        self.assertEqual(self.times_run("reduce"), 1)
        self.assertEqual(self.run_all("--overwrite")[0], 0)
        self.assertEqual(self.times_run("reduce"), 2)

    def test_some_programs(self):
        self.program("reduce")
        self.program("scan")
        code, printed = self.run_all("--only", "scan")
        self.assertEqual((code, self.times_run("reduce"), self.times_run("scan")), (0, 0, 1))
        self.assertIn("run without --only", printed)
        self.assertEqual(self.run_all("--only", "sort")[0], 2)

    def test_the_program_of_several_gpus_needs_them(self):
        self.program("reduce")
        self.program("distributed")
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(self.times_run("distributed"), 0)
        run_all.gpus = lambda: [("NVIDIA Test 1", "9.0")] * 2
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(self.times_run("distributed"), 1)

    def test_without_a_gpu_nothing_is_built(self):
        run_all.gpus = lambda: []
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.assertEqual(run_all.main([]), 2)
        self.assertIn("no GPU answers", printed.getvalue())


class Texts(unittest.TestCase):
    def test_folders_have_the_gpus_name(self):
        for gpu, name in (("NVIDIA H200", "h200"), ("NVIDIA GeForce RTX 4090", "rtx-4090"), ("Tesla T4", "t4"),
                          ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb")):
            self.assertEqual(run_all.folder_name(gpu), name)

    def test_contexts_are_merged(self):
        contexts = [{"a": "1", "b": "x", "date": "2026-2"}, {"a": "1.5", "b": "y", "date": "2026-1"},
                    {"c": "z", "clocks_sm": "3 MHz"}, {"clocks_sm": "4 MHz"}]
        self.assertEqual(run_all.merged(contexts),
                         {"a": "1 to 1.5", "b": "x; y", "date": "2026-1 to 2026-2", "c": "z", "clocks_sm": "4 MHz"})

    def test_a_report_is_written_anew_from_its_own_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "README.md")
            with open(FIXTURE, encoding="utf-8") as file:
                run_all.write(os.path.join(folder, "reduce.csv"), file.read())
            context = {"gpu": "G 1", "date": "2026-11-24"}
            run_all.write(os.path.join(folder, "context.json"), json.dumps({"context": context}))
            run_all.write_report(folder)
            os.remove(os.path.join(folder, "context.json"))
            with open(path, encoding="utf-8") as file:
                before = file.read()
            self.assertEqual(run_all.context_of(folder), context)
            run_all.write_report(folder)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), before)

    def test_the_page_of_all_results_is_what_the_files_say(self):
        with open(os.path.join(run_all.RESULTS, "README.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), run_all.index_text(run_all.RESULTS), "run_all.py --index writes it anew")

    def test_it_has_a_line_for_each_folder(self):
        with tempfile.TemporaryDirectory() as results:
            for name in ("g1", "g2-quick", "empty"):
                os.mkdir(os.path.join(results, name))
            for name in ("g1", "g2-quick"):
                with open(FIXTURE, encoding="utf-8") as file:
                    run_all.write(os.path.join(results, name, "reduce.csv"), file.read())
            context = {"gpu": "G 1", "date": "2026-11-24T10:00", "copy_1gib_gb_per_s": "990.4 to 995"}
            run_all.write(os.path.join(results, "g1", "context.json"), json.dumps({"context": context}))
            run_all.write_report(os.path.join(results, "g1"))
            text = run_all.index_text(results)
        self.assertIn("| [G 1](g1/README.md) | 2026-11-24 | 7 | 4 | 1 | 1 | 1 | 990 |", text)
        self.assertIn("(g1/overview.svg)", text)
        self.assertNotIn("g2", text)
        self.assertTrue(text.startswith(report.SPDX_COMMENT))


if __name__ == "__main__":
    unittest.main()

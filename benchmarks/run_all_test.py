#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests run_all.py, with scripts instead of benchmark programs: python3 benchmarks/run_all_test.py"""

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

# Takes the options of a benchmark program, records that it ran, and writes the fixture and a context.
SCRIPT = """#!/bin/sh
[ "$1" = --list ] && { cat @FIXTURE@; exit 0; }
echo "$@" >> @FOLDER@/ran_@NAME@
for argument; do case $argument in --benchmark_out=*) json=${argument#*=};; esac; done
printf '{"context": {@CUB@"gpu": "NVIDIA Test 1", "copy_1gib_gb_per_s": "@COPY@", "host_name": "secret"' > "$json"
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

    def program(self, name, body='cp @FIXTURE@ "$2"', copy="1000.5", cub="", folder=None):
        folder = folder or self.folder
        path = os.path.join(folder, f"{name}_benchmark")
        text = SCRIPT.replace("@BODY@", body)
        for key, value in (("FIXTURE", FIXTURE), ("FOLDER", folder), ("NAME", name), ("COPY", copy),
                           ("CUB", f'"cub": "{cub}", ' if cub else "")):
            text = text.replace(f"@{key}@", value)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def options_of(self, name, folder=None):
        """Returns the options of each run of a program."""
        try:
            with open(os.path.join(folder or self.folder, f"ran_{name}"), encoding="utf-8") as file:
                return file.readlines()
        except FileNotFoundError:
            return []

    def times_run(self, name):
        return len(self.options_of(name))

    def built_with(self, number, cub, *names):
        """Makes a folder of programs that were built with a version of CUB."""
        folder = os.path.join(self.folder, f"built-{number}")
        os.makedirs(folder, exist_ok=True)
        run_all.write(os.path.join(folder, "cub_version"), f"{number}\n")
        for name in names:
            self.program(name, cub=cub, folder=folder)
        return folder

    def run_all(self, *arguments):
        """Returns (exit code, printed text)."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run_all.main(["--programs", self.folder, "--out", self.out, *arguments])
        return code, printed.getvalue()

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def test_all_files_are_written_and_what_to_send_is_said(self):
        self.program("merge")
        self.program("histogram", copy="990")
        code, printed = self.run_all()
        self.assertEqual(code, 0, printed)
        self.assertEqual(sorted(os.listdir(self.out)), ["README.md", "chart.svg", "context.json",
                                                        "histogram.csv", "merge.csv", "overview.svg"])
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
            self.assertIn("out/merge.csv", archive.getnames())

    def test_collectives_have_a_table_of_groups(self):
        rows = ",".join([*report.COLUMNS, report.CYCLES_COLUMN, *report.USE_COLUMNS])
        for lib, ms in (("strata", 1), ("cub", 1.5)):
            rows += f"\nBlockScan::ExclusiveSum,i32,256x4,1024,{lib},{ms},{ms},1,1,,,32,1056,8"
        path = os.path.join(self.folder, "block.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(rows + "\n")
        self.program("block_scan", body=f'cp {path} "$2"')
        self.program("reduce")
        code, printed = self.run_all()
        self.assertEqual(code, 0, printed)
        self.assertIn("8 comparisons with CUB: 5 faster", printed)
        self.assertIn("| Block reductions and scans | full device | 1 | 1.50 |", self.read("README.md"))
        self.assertIn("In a kernel", self.read("overview.svg"))
        self.assertIn("| NVIDIA Test 1 |  | Block reductions and scans | 1 | 1.50 | 1.50 | 1.50 |\n\nA comparison",
                      run_all.index_text(self.folder))

    def test_options_of_the_programs(self):
        self.program("merge")
        code, printed = self.run_all("--quick")
        self.assertEqual(code, 0)
        self.assertIn("not to be sent", printed)
        self.assertIn("--git-hash abc --samples 5", self.options_of("merge")[0])
        self.assertFalse(os.path.exists(f"{self.out}.tar.gz"))

    def test_it_goes_on_with_what_is_missing(self):
        self.program("merge")
        self.program("histogram", body='head -n 3 @FIXTURE@ > "$2"; kill -9 $$')
        code, printed = self.run_all()
        self.assertEqual(code, 1)
        self.assertIn("histogram: 2 results in", printed)
        self.assertIn("FAILED with -9", printed)
        self.assertIn("failed: histogram. Run again", printed)
        self.program("histogram")
        code, printed = self.run_all()
        self.assertEqual(code, 0)
        self.assertIn("goes on: merge measured before", printed)
        self.assertEqual((self.times_run("merge"), self.times_run("histogram")), (1, 2))
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual((self.times_run("merge"), self.times_run("histogram")), (1, 2))

    def test_a_failed_program_leaves_its_messages(self):
        self.program("merge")
        self.program("histogram", body="echo wrong result; exit 1")
        self.assertEqual(self.run_all()[0], 1)
        self.assertIn("wrong result", self.read("histogram.log"))
        self.assertNotIn("histogram.csv", os.listdir(self.out))
        self.assertNotIn("merge.log", os.listdir(self.out))

    def test_nothing_measured_is_another_code(self):
        self.program("merge", body="exit 1")
        code, printed = self.run_all()
        self.assertEqual(code, 2)
        self.assertIn("no program has a result", printed)

    def test_results_of_others_are_not_replaced_unasked(self):
        self.program("merge")
        self.assertEqual(self.run_all()[0], 0)
        run_all.commit_of_tree = lambda: "def"
        code, printed = self.run_all()
        self.assertEqual(code, 2)
        self.assertIn("has results of another run (other commit)", printed)
        self.assertEqual(self.times_run("merge"), 1)
        self.assertEqual(self.run_all("--overwrite")[0], 0)
        self.assertEqual(self.times_run("merge"), 2)

    def test_some_programs(self):
        self.program("merge")
        self.program("histogram")
        code, printed = self.run_all("--only", "histogram")
        self.assertEqual((code, self.times_run("merge"), self.times_run("histogram")), (0, 0, 1))
        self.assertIn("run without --only", printed)
        self.assertEqual(self.run_all("--only", "sort")[0], 2)

    def test_the_program_of_several_gpus_needs_them(self):
        self.program("merge")
        self.program("distributed")
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(self.times_run("distributed"), 0)
        run_all.gpus = lambda: [("NVIDIA Test 1", "9.0")] * 2
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(self.times_run("distributed"), 1)

    def test_some_programs_run_with_a_cold_cache_too(self):
        self.program("scan")
        self.program("segmented_sort")
        self.program("merge")
        self.assertEqual(self.run_all()[0], 0)
        warm, cold = self.options_of("scan")
        self.assertNotIn("--cold", warm)
        self.assertTrue(cold.endswith("--git-hash abc --cold\n"), cold)
        self.assertTrue(self.options_of("segmented_sort")[1].endswith("--cold --filter DeviceMergeSort\n"))
        self.assertEqual(self.times_run("merge"), 1)
        names = [name for name in sorted(os.listdir(self.out)) if name.endswith(".csv")]
        self.assertEqual(names, ["merge.csv", "scan.csv", "scan_cold.csv", "segmented_sort.csv",
                                 "segmented_sort_cold.csv"])
        self.assertEqual(self.run_all("--only", "scan_cold", "--overwrite")[0], 0)

    def test_every_program_that_runs_cold_exists(self):
        for name in [*run_all.COLD, *run_all.WITHOUT_CUB]:
            self.assertTrue(os.path.exists(os.path.join(HERE, f"{name}.cu")), name)

    def test_results_beside_the_newest_cub_have_those_beside_another_one_in_a_folder(self):
        old = self.built_with(300001, "3.0.1", "merge", "transpose")
        new = self.built_with(300500, "3.5.0", "merge", "transpose")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run_all.main(["--programs", new, "--programs", old, "--out", self.out])
        self.assertEqual(code, 0, printed.getvalue())
        self.assertIn("# strata beside CUB 3.5.0\n", self.read("README.md"))
        self.assertIn("| algorithm | CUB 3.5.0 | least | slower | CUB 3.0.1 | least | slower |", self.read("README.md"))
        self.assertIn("beside CUB 3.5.0", self.read("overview.svg"))
        self.assertIn("# strata beside CUB 3.0.1\n", self.read("cub-3.0.1/README.md"))
        self.assertNotIn("Versions of CUB", self.read("cub-3.0.1/README.md"))
        self.assertEqual(json.loads(self.read("context.json"))["run"]["cub"], "3.5.0")
        self.assertEqual(json.loads(self.read("cub-3.0.1/context.json"))["run"]["cub"], "3.0.1")
        # CUB is no rival of the transpose, so it runs only with the first CUB.
        self.assertEqual((len(self.options_of("transpose", new)), len(self.options_of("transpose", old))), (1, 0))
        with tarfile.open(f"{self.out}.tar.gz") as archive:
            self.assertIn("out/cub-3.0.1/merge.csv", archive.getnames())
        results = os.path.dirname(self.out)
        text = run_all.index_text(results)
        self.assertIn("| [NVIDIA Test 1](out/README.md) | 2026-11-24 | 3.5.0 | 7 |", text)
        self.assertIn("| [NVIDIA Test 1](out/cub-3.0.1/README.md) | 2026-11-24 | 3.0.1 | 7 |", text)
        self.assertEqual(run_all.front_page_text(self.out),
                         "of 7 comparisons with CUB 3.5.0, strata is faster in 4, as fast in 1, slower in 1; 1 are "
                         "unsure. These were measured on 2026-11-24. Beside CUB 3.0.1, it is faster in 4 of 7, slower "
                         "in 1.")

    def test_the_same_version_is_measured_once(self):
        folder = self.built_with(300001, "3.0.1", "merge")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(run_all.main(["--programs", folder, "--programs", folder, "--out", self.out]), 0)
        self.assertEqual(len(self.options_of("merge", folder)), 1)

    def test_a_program_of_another_cub_than_its_folder_says_is_refused(self):
        folder = self.built_with(300500, "3.0.1", "merge")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            self.assertEqual(run_all.main(["--programs", folder, "--out", self.out]), 2)
        self.assertIn("was compiled with CUB 3.0.1, not with 3.5.0", printed.getvalue())

    def test_results_beside_another_cub_are_not_replaced_unasked(self):
        for number, cub, code in ((300500, "3.5.0", 0), (300001, "3.0.1", 2)):
            folder = self.built_with(number, cub, "merge")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                self.assertEqual(run_all.main(["--programs", folder, "--out", self.out]), code)
        self.assertIn("other cub", printed.getvalue())

    def test_without_a_gpu_nothing_is_built(self):
        run_all.gpus = lambda: []
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.assertEqual(run_all.main([]), 2)
        self.assertIn("no GPU answers", printed.getvalue())


class Rivals(unittest.TestCase):
    """Tests of the option --cub."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("fetch", "fetched_before"):
            self.addCleanup(setattr, run_all.fetch_cub, name, getattr(run_all.fetch_cub, name))
        self.addCleanup(setattr, run_all, "build", run_all.build)
        self.newest = self.headers("newest", 300500)
        run_all.fetch_cub.fetch = lambda: self.newest

    def headers(self, name, number):
        folder = os.path.join(self.folder, name)
        os.makedirs(os.path.join(folder, "cub"))
        run_all.write(os.path.join(folder, "cub", "version.cuh"), f"#define CUB_VERSION {number}\n")
        return folder

    def test_the_newest_the_toolkits_and_a_folder(self):
        older = self.headers("older", 300300)
        self.assertEqual(run_all.cub_folders("newest,toolkit"), [self.newest, ""])
        self.assertEqual(run_all.cub_folders(f"toolkit,{older},toolkit"), ["", older])
        for wrong in ("", "news", self.folder):
            with self.assertRaisesRegex(run_all.RunError, "--cub: "):
                run_all.cub_folders(wrong)

    def test_without_pypi_the_error_names_what_can_be_done(self):
        def fetch():
            raise run_all.fetch_cub.FetchError("PyPI cannot be reached")
        run_all.fetch_cub.fetch = fetch
        run_all.fetch_cub.fetched_before = lambda: []
        with self.assertRaisesRegex(run_all.RunError, "cannot be reached.\n.*--cub DIR,toolkit.*--cub toolkit"):
            run_all.cub_folders("newest,toolkit")
        run_all.fetch_cub.fetched_before = lambda: ["build/cub/3.5.0"]
        with self.assertRaisesRegex(run_all.RunError, "--cub build/cub/3.5.0,toolkit"):
            run_all.cub_folders("newest,toolkit")
        self.assertEqual(run_all.cub_folders("toolkit"), [""])

    def test_each_is_built_in_a_folder_of_its_own(self):
        built = []

        def build(folder, _architecture, _jobs, cub, targets):
            built.append((os.path.basename(folder), cub, targets))
            programs = os.path.join(self.folder, os.path.basename(folder))
            os.makedirs(programs)
            run_all.write(os.path.join(programs, "cub_version"), "300500" if cub else "300001")
            return programs
        run_all.build = build
        options = run_all.parse_arguments(["--build", "b"])
        found = run_all.builds_of(options, "90", [])
        self.assertEqual([version for version, _ in found], ["3.5.0", "3.0.1"])
        (folder, cub, targets), (old_folder, old_cub, old_targets) = built
        self.assertEqual((folder, cub, targets), ("b-cub-3.5.0", self.newest, ["benchmark_programs"]))
        self.assertEqual((old_folder, old_cub), ("b", ""))
        self.assertIn("reduce_benchmark", old_targets)
        self.assertNotIn("transpose_benchmark", old_targets)

    def test_what_is_built_is_what_runs(self):
        self.assertEqual(run_all.targets_of(["reduce_cold", "reduce", "scan"], True),
                         ["reduce_benchmark", "scan_benchmark"])
        self.assertEqual(run_all.targets_of(["transpose"], False), [])


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

    def test_the_front_page_says_what_the_files_say(self):
        with open(os.path.join(run_all.ROOT, "README.md"), encoding="utf-8") as file:
            text = " ".join(file.read().split())
        self.assertIn(run_all.front_page_text(os.path.join(run_all.RESULTS, "h200")), text,
                      "run_all.py --index prints it")

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
        self.assertIn("| [G 1](g1/README.md) | 2026-11-24 |  | 7 | 4 | 1 | 1 | 1 | 990 |", text)
        self.assertIn("(g1/overview.svg)", text)
        self.assertNotIn("g2", text)
        self.assertTrue(text.startswith(report.SPDX_COMMENT))


if __name__ == "__main__":
    unittest.main()

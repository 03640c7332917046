#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests report.py: python3 benchmarks/report_test.py"""

import contextlib
import glob
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the line above)

FIXTURE = os.path.join(HERE, "testdata", "report.csv")
SUM_SMALL = report.Key("DeviceReduce::Sum", "i32", "uniform", 8192)
SUM_LARGE = report.Key("DeviceReduce::Sum", "i32", "uniform", 1 << 28)


def comparisons_of(*paths):
    return {c.key: c for c in report.compare(report.read_timings(paths))}


class Files(unittest.TestCase):
    """Gives each test its own folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text=""):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_report(self, *arguments):
        """Returns (exit code, standard output)."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            code = report.main(list(arguments))
        return code, printed.getvalue()


class CasesWithoutARival(Files):
    def test_they_have_a_table_of_their_own(self):
        path = self.file("alone.csv", ",".join(report.COLUMNS) + "\n" +
                         "DeviceHashJoin::Inner,u32:u32,dense count,1024,strata,0.004,0.003,1,20,30\n" +
                         "DeviceHashJoin::Inner,u32:u32,dense count,1024,copy,0.002,0.002,1,60,100\n")
        code, text = self.run_report(path)
        self.assertEqual(code, 0)
        self.assertIn("## DeviceHashJoin::Inner, without a rival", text)
        self.assertIn("| u32:u32 | dense count | 2^10 | 4.00 | 20 | 30 |", text)
        self.assertNotIn("Not compared", text)


class Failures(Files):
    def test_a_rival_that_failed_is_named(self):
        path = self.file("failed.csv", ",".join(report.COLUMNS) + "\n" +
                         "A,u32,c,1024,strata,0.004,0.004,1,20,30\n" +
                         "A,u32,c,1024,one_gpu,0.008,0.008,1,10,15\n" +
                         "A,u32,c,1024,plain,,,,,\n")
        code, text = self.run_report(path)
        self.assertEqual(code, 0)
        self.assertIn("Without a result, because the call failed or its result was wrong: A u32 c 2^10, plain.",
                      text.replace("\n", " "))
        self.assertIn("| one_gpu |", text)
        self.assertNotIn("| plain |", text)


class SeveralDevices(Files):
    HEADER = ",".join([*report.COLUMNS, report.LINK_COLUMN]) + "\n"

    def test_the_share_of_the_link_has_a_column(self):
        path = self.file("link.csv", self.HEADER +
                         "A,u32,gpus=2 each=2^9,1024,strata,0.004,0.004,1,20,30,75.2\n"
                         "A,u32,gpus=2 each=2^9,1024,plain,0.008,0.008,1,10,15,37.6\n"
                         "A,u32,gpus=1 each=2^9,512,strata,0.004,0.004,1,20,30,\n"
                         "A,u32,gpus=1 each=2^9,512,plain,0.004,0.004,1,20,30,\n")
        code, text = self.run_report(path)
        self.assertEqual(code, 0)
        self.assertIn("| GB/s | % of copy | % of link |", text)
        self.assertIn("| 2.00 | faster | 20 | 30 | 75 |", text)
        self.assertIn("| 1.00 | same | 20 | 30 |  |", text)

    def test_and_in_the_table_of_those_without_a_rival(self):
        path = self.file("link.csv", self.HEADER + "A,u32,c,1024,strata,0.004,0.004,1,20,30,75\n")
        self.assertIn("| u32 | c | 2^10 | 4.00 | 20 | 30 | 75 |", self.run_report(path)[1])


class Collectives(Files):
    """Tests of kernels of one collective, on a full device and with one block."""

    HEADER = ",".join([*report.COLUMNS, report.CYCLES_COLUMN, *report.USE_COLUMNS]) + "\n"
    ROWS = [("BlockRadixSort::Sort,u32,256x8,2048000", "0.3,0.3", "0.45,0.45", "", ""),
            ("BlockMergeSort::Sort,i32,256x8,2048000", "0.3,0.3", "0.2,0.2", "", ""),
            ("BlockRadixSort::Sort,u32,256x8 one block,2048", "0.004,0.004", "0.008,0.008", "7900", "15800"),
            ("WarpReduce::Sum,i32,16x1,2048000", "0.1,0.1", "0.12,0.12", "", "")]

    def setUp(self):
        super().setUp()
        text = self.HEADER
        for case, ours, theirs, our_cycles, their_cycles in self.ROWS:
            text += f"{case},strata,{ours},1,1,,{our_cycles},48,9264,5\n"
            text += f"{case},cub,{theirs},1,1,,{their_cycles},55,9280,4\n"
        self.csv = self.file("block.csv", text)

    def bars(self, *rows):
        lines = [",".join([*report.BAR_COLUMNS, report.MEAN_COLUMN]), *rows, ""]
        path = self.file("bars.csv", "\n".join(lines))
        return self.run_report(self.csv, "--bars", path)

    def test_what_the_kernels_use_has_columns(self):
        code, text = self.run_report(self.csv)
        self.assertEqual(code, 0)
        self.assertIn("| cycles | registers | shared bytes | blocks per multiprocessor |", text)
        self.assertIn("| u32 | 256x8 | 300 | 450 | 1.50 | faster |  | 48 / 55 | 9,264 / 9,280 | 5 / 4 |", text)
        self.assertIn("| u32 | 256x8 one block | 4.00 | 8.00 | 2.00 | faster | 7,900 / 15,800 | 48 / 55 |", text)
        self.assertIn("| **0.67** | **slower** |", text)

    def test_groups_have_geometric_means(self):
        text = self.run_report(self.csv)[1]
        self.assertIn("| Block sorts | full device | 2 | 1.00 | 0.67 | 1.50 | 1 |", text)
        self.assertIn("| Block sorts | one block | 1 | 2.00 | 2.00 | 2.00 | 0 |", text)
        self.assertIn("| Warp collectives | full device | 1 | 1.20 | 1.20 | 1.20 | 0 |", text)

    def test_other_files_have_no_table_of_groups(self):
        self.assertNotIn("Collectives of blocks", self.run_report(FIXTURE)[1])
        # An exchange in a file without the columns of the kernel is no collective.
        path = self.file("plain.csv", ",".join(report.COLUMNS) + "\n" + "".join(
            f"BlockExchange::A,u32,128x24,1024,{lib},1,1,1,1,\n" for lib in ("strata", "cub")))
        self.assertNotIn("Collectives of blocks", self.run_report(path)[1])

    def test_every_collective_of_the_programs_is_in_a_group(self):
        for name in ("block_exchange", "block_histogram", "block_load_store", "block_merge_sort", "block_programs",
                     "block_radix_sort", "block_reduce", "block_scan", "thread", "warp"):
            with open(os.path.join(HERE, f"{name}.cu"), encoding="utf-8") as file:
                text = file.read()
            names = re.findall(r'algorithm = "([^"]+)"', text) + re.findall(r'"(program: [^"]+)"', text)
            names += re.findall(r'BENCH_TRANSFER\([^"]*"([^"]+)"', text)
            self.assertTrue(names, name)
            for algorithm in names:
                groups = [group for group, pattern in report.COLLECTIVES if re.match(pattern, algorithm)]
                self.assertEqual(len(groups), 1, algorithm)

    PAGE = ("# Page\n\n<!-- table of collectives:\nBlockRadixSort::Sort,u32,256x8\n-->\n{}<!-- end of table -->\n\n"
            "<!-- table of algorithms: match other\nBlockRadixSort::Sort,u32,256x8\n-->\n{}<!-- end of table -->\n")

    def test_a_page_gets_the_tables_that_its_comments_ask_for(self):
        timings = report.read_timings([self.csv, self.file("more.csv", self.HEADER + "".join(
            f"BlockRadixSort::Sort,u32,256x8{end},{n},match,{ms},{ms},1,1,,,48,9264,5\n"
            for end, n, ms in (("", 2048000, "0.9"), (" one block", 2048, "0.002"))))])
        expected = self.PAGE.format(
            "\n| call | items | threads x items | cycles | items a ns | registers | shared bytes |\n"
            "|---|---|---|--:|--:|--:|--:|\n"
            "| BlockRadixSort::Sort | unsigned | 256 x 8 | 7,900 | 0 | 48 | 9,264 |\n\n",
            "\n| sort | keys | threads x items | match | other | default |\n|---|---|---|--:|--:|--:|\n"
            "| Sort | unsigned | 256 x 8 | 0.50/4.00 | / | 1.50/2.00 |\n\n")
        for page in (self.PAGE.format("", ""), self.PAGE.format("old\n", "old\n"), expected):
            self.assertEqual(report.page_with_tables(page, timings), expected)
        self.assertEqual(report.page_with_tables("# No table\n", timings), "# No table\n")

    def test_a_page_is_left_as_it_was_if_a_case_is_missing(self):
        page = self.file("page.md", self.PAGE.format("", "").replace("u32,256x8", "u32,1x1", 1))
        self.assertEqual(self.run_report(self.csv, "--pages", page)[0], 2)
        with open(page, encoding="utf-8") as file:
            self.assertNotIn("|", file.read())

    def test_pages_have_the_published_figures(self):
        h200 = os.path.join(HERE, "results", "h200")
        # The results with the newest CUB, or else with an older one.
        folders = [h200, *sorted(glob.glob(os.path.join(h200, "cub-*")), reverse=True)]
        files = next(filter(None, (glob.glob(os.path.join(folder, "block_*.csv")) +
                                   glob.glob(os.path.join(folder, "warp.csv")) for folder in folders)))
        timings = report.read_timings(sorted(files))
        for page in ("guides/your_kernel.md", "block/README.md"):
            with open(os.path.join(HERE, "..", "include", "strata", *page.split("/")), encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text, report.page_with_tables(text, timings), f"report.py FILES --pages {page}")

    def test_a_bar_may_be_about_many_cases(self):
        for bar, met in (("*,*,*[0-9],,cub,0.6,,", True), ("*,*,*[0-9],,cub,0.7,,", False),
                         ("Block*Sort::*,*,*[0-9],,cub,,,0.99", True), ("Block*Sort::*,*,*[0-9],,cub,,,1.01", False),
                         ("BlockScan::*|Warp*,*,*,,cub,1.1,,1.19", True), ("BlockScan::*,*,*,,cub,1.1,,", False),
                         ("*,*,* one block,,cub,1.9,,", True)):
            with self.subTest(bar=bar):
                code, printed = self.bars(bar)
                self.assertEqual(code, 0 if met else 1, printed)
        self.assertIn("below: BlockMergeSort::Sort i32 256x8 2,048,000 (0.667)", self.bars("*,*,*,,cub,0.9,,")[1])

    def test_the_overview_has_a_bar_for_each_group(self):
        chart = self.file("o.svg")
        self.run_report(self.csv, "--markdown", self.file("o.md"), "--overview", chart)
        texts = ["".join(e.itertext()) for e in xml.etree.ElementTree.parse(chart).iter()]
        self.assertIn("1.20 times 1 cases, 1.20 to 1.20", texts)
        self.assertIn("Block sorts", texts)
        self.assertNotIn("In a kernel", report.overview_svg(report.read_timings([FIXTURE]), "t"))


class Ratios(Files):
    def test_ratio_is_cubs_time_over_ours(self):
        self.assertAlmostEqual(comparisons_of(FIXTURE)[SUM_SMALL].ratio, 2)

    def test_a_case_without_our_result_is_not_compared(self):
        cases = {key.case for key in comparisons_of(FIXTURE)}
        self.assertIn("len=100", cases)
        self.assertNotIn("len=100 fixed", cases)

    def test_files_with_the_same_case_count_with_the_median_of_their_medians(self):
        header = ",".join(report.COLUMNS)
        row = "DeviceReduce::Sum,i32,uniform,8192,{},{},{},1,1,1"
        paths = [self.file(f"{i}.csv", "\n".join([
            header, row.format("strata", ms, ms), row.format("cub", 10, 10)]) + "\n")
                 for i, ms in enumerate([5, 4, 9])]
        comparison = comparisons_of(*paths)[SUM_SMALL]
        self.assertAlmostEqual(comparison.ours.median, 5)
        self.assertAlmostEqual(comparison.noise, 9 / 4 - 1)

    def test_other_columns_are_refused(self):
        path = self.file("bad.csv", "algorithm,type\nx,y\n")
        with self.assertRaisesRegex(ValueError, "columns"):
            report.read_timings([path])
        self.assertEqual(self.run_report(path)[0], 2)


class Rivals(Files):
    """Tests of a case with a copy and two rivals, neither of which is CUB."""

    def setUp(self):
        super().setUp()
        row = "DeviceTranspose::Transpose,u32,{},65536,{},{},{},1,1,{}"
        self.csv = self.file("t.csv", "\n".join([
            ",".join(report.COLUMNS), row.format("256x256", "strata", 4, 4, 95),
            row.format("256x256", "naive", 12, 12, 30), row.format("256x256", "plain", 2, 2, 190),
            row.format("256x256", "copy", 3.8, 3.8, 100)]) + "\n")
        self.timings = report.read_timings([self.csv])

    def test_each_is_compared_and_the_copy_is_not(self):
        ratios = {c.rival: c.ratio for c in report.compare(self.timings)}
        self.assertEqual(ratios, {"naive": 3, "plain": 0.5})

    def test_the_table_names_them(self):
        text = report.markdown(report.compare(self.timings), self.timings)
        self.assertIn("2 comparisons with other kernels: 1 faster, 0 same, 1 slower", text)
        self.assertNotIn("with CUB", text)
        self.assertIn("| u32 | 256x256 | 2^16 | 4,000 | naive | 12,000 | 3.00 | faster | 1 | 95 |",
                      text)
        self.assertIn("256x256 2^16 beside plain (0.50).", text.replace("\n", " "))
        self.assertNotIn("Not compared", text)

    def test_the_chart_leaves_them_out(self):
        self.assertEqual(report.panels_of(report.compare(self.timings)), [])

    def test_a_bar_names_its_rival_or_none(self):
        for row, met in (("naive,3.0,95", True), ("naive,3.1,", False), ("plain,1,", False),
                         (",,95", True), (",,96", False), ("cub,1,", False)):
            with self.subTest(row=row):
                bars = self.file("bars.csv", ",".join(report.BAR_COLUMNS) +
                                 f"\nDeviceTranspose::Transpose,u32,256x256,65536,{row}\n")
                self.assertEqual(self.run_report(self.csv, "--bars", bars)[0], 0 if met else 1)


class Status(unittest.TestCase):
    def test_by_distance_and_noise(self):
        for ratio, noise, expected in ((2.0, 0.02, "faster"), (0.5, 0.02, "slower"),
                                       (1.005, 0.02, "same"), (0.995, 0.0, "same"),
                                       (1.005, 0.2, "unsure"), (1.04, 0.2, "unsure"),
                                       (0.97, 0.05, "unsure"), (0.97, 0.01, "slower"),
                                       (1.03, 0.01, "faster")):
            with self.subTest(ratio=ratio, noise=noise):
                self.assertEqual(report.status_of(ratio, noise), expected)

    def test_speed_up_and_slow_down_are_judged_alike(self):
        for ratio in (1.005, 1.03, 1.2, 3.0):
            a, b = report.status_of(ratio, 0.1), report.status_of(1 / ratio, 0.1)
            self.assertEqual(a.replace("faster", "slower"), b)


class Markdown(Files):
    def setUp(self):
        super().setUp()
        self.timings = report.read_timings([FIXTURE])
        self.text = report.markdown(report.compare(self.timings), self.timings, {"gpu": "H"})

    def test_headline_counts_the_losses(self):
        self.assertIn("7 comparisons with CUB: 4 faster, 1 same, 1 slower, 1 unsure; **1 loss**.",
                      self.text)

    def test_losses_stand_out_in_the_table_and_are_listed(self):
        self.assertIn("| f32 | uniform | 2^13 | 10.0 | 8.00 | **0.80** | **slower** | 3 | 10 |",
                      self.text)
        self.assertIn("Losses: DeviceReduce::Sum f32 uniform 2^13 (0.80).", self.text)

    def test_what_could_not_be_compared_is_named(self):
        self.assertIn("DeviceSegmentedReduce::Sum i32 len=100 fixed 268,435,400",
                      self.text.replace("\n", " "))

    def test_fields_that_do_not_exist_are_empty(self):
        self.assertIn("| i32 | host_call | 2^13 | 3.10 | 6.20 | 2.00 | faster |  |  |", self.text)

    def test_is_a_file_that_the_projects_own_lint_accepts(self):
        self.assertTrue(self.text.startswith("<!-- SPDX-FileCopyrightText:"))
        self.assertTrue(self.text.endswith("|\n"))
        for line in self.text.split("\n"):
            self.assertTrue(len(line) <= 100 or line.startswith("|"), line)

    def test_context_is_a_table_without_the_host(self):
        self.assertIn("| gpu | H |", self.text)
        path = self.file("x.json", json.dumps({"context": {"gpu": "H", "host_name": "secret"}}))
        self.assertEqual(report.read_context(path), {"gpu": "H"})


class Chart(Files):
    def setUp(self):
        super().setUp()
        self.comparisons = report.compare(report.read_timings([FIXTURE]))

    def test_one_panel_per_case_over_n_and_one_over_the_segment_length(self):
        panels = {panel.title: panel for panel in report.panels_of(self.comparisons)}
        self.assertEqual(set(panels), {"DeviceReduce::Sum, uniform",
                                       "DeviceSegmentedReduce::Sum, 2^28 items"})
        self.assertEqual(set(panels["DeviceReduce::Sum, uniform"].series), {"i32", "f32"})

    def test_is_well_formed_with_one_line_per_type_and_one_dot_per_comparison(self):
        root = xml.etree.ElementTree.fromstring(report.svg(self.comparisons))
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len(root.findall(name + "polyline")), 3)
        self.assertEqual(len(root.findall(name + "circle")), 6)

    def test_larger_ratios_lie_higher(self):
        root = xml.etree.ElementTree.fromstring(report.svg(self.comparisons))
        height = {}
        for dot in root.iter("{http://www.w3.org/2000/svg}circle"):
            height[dot[0].text] = float(dot.get("cy"))
        self.assertLess(height["DeviceReduce::Sum i32 uniform 2^13: 2.00 (faster)"],
                        height["DeviceReduce::Sum f32 uniform 2^13: 0.80 (slower)"])

    def test_no_comparisons_give_an_empty_chart(self):
        xml.etree.ElementTree.fromstring(report.svg([]))


class Groups(Files):
    def timings(self, rows):
        name = self.file("groups.csv")
        with open(name, "w", encoding="utf-8") as file:
            file.write(",".join(report.COLUMNS) + "\n")
            for n, groups, lib, ms in rows:
                file.write(f"DeviceGroupBy::Aggregate,u32:u32,uniform groups={groups},{n},{lib},{ms},{ms},,,\n")
        return report.read_timings([name])

    def test_a_line_for_each_library_over_powers_of_two_of_the_most_rows(self):
        timings = self.timings([(64, 1, "strata", 9), (128, 1, "strata", 1), (128, 1, "cub", 4), (128, 2, "strata", 2),
                                (128, 2, "cub", 4), (128, 3, "strata", 5), (128, 128, "strata", 3)])
        self.assertEqual(report.group_points(timings), {"strata": [(1, 1), (2, 2), (128, 3)], "cub": [(1, 4), (2, 4)]})
        root = xml.etree.ElementTree.fromstring(report.groups_svg(timings, "t"))
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len(root.findall(name + "polyline")), 2)
        dots = [(dot[0].text, float(dot.get("cx")), float(dot.get("cy"))) for dot in root.findall(name + "circle")]
        self.assertEqual(dots[0][0], "any order, 2^0 groups: 1 ms")
        self.assertLess(dots[0][1], dots[1][1])
        self.assertGreater(dots[0][2], dots[1][2])

    def test_without_a_sweep_there_is_no_line(self):
        self.assertEqual(report.group_points({}), {})
        xml.etree.ElementTree.fromstring(report.groups_svg({}, "t"))

    def test_the_published_chart_is_that_of_the_published_times(self):
        results = os.path.join(HERE, "results", "h200")
        timings = report.read_timings([os.path.join(results, "group_by.csv")])
        with open(os.path.join(results, "context.json"), encoding="utf-8") as file:
            context = json.load(file)["context"]
        with open(os.path.join(results, "group_by.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), report.groups_svg(timings, report.groups_title(timings, context)))


class Overview(Files):
    def rows(self, text):
        path = self.file("o.csv", ",".join(report.COLUMNS) + "\n" + text)
        return path, report.overview_rows(report.read_timings([path]))

    def test_it_has_the_largest_input_that_a_rival_has_and_the_fastest_rival(self):
        path, rows = self.rows("DeviceReduce::Sum,i32,uniform,1024,strata,1,1,1,1,80\n"
                               "DeviceReduce::Sum,i32,uniform,1024,cub,2,2,1,1,40\n"
                               "DeviceReduce::Sum,i32,uniform,2048,strata,2,2,1,1,90\n"
                               "DeviceReduce::Sum,i32,uniform,2048,cub,8,8,1,1,22.5\n"
                               "DeviceReduce::Sum,i32,uniform,2048,mine,6,6,1,1,30\n"
                               "DeviceReduce::Sum,i32,uniform,2048,copy,1,1,1,1,100\n"
                               "DeviceReduce::Sum,i32,uniform,4096,strata,2,2,1,1,95\n")
        self.assertEqual([(text, key.n, rival, ours, theirs, ratio) for text, key, rival, ours, theirs, ratio in rows],
                         [("Sum", 2048, "mine", 90.0, 30.0, 3.0)])
        chart = self.file("o.svg")
        self.assertEqual(self.run_report(path, "--markdown", self.file("o.md"), "--overview", chart)[0], 0)
        texts = [e.text for e in xml.etree.ElementTree.parse(chart).iter() if e.text]
        self.assertIn("3.00 times", texts)
        self.assertIn("90 %", texts)

    def test_a_rival_that_does_something_else_is_named(self):
        rows = self.rows("DeviceTopK::MaxKeys,f32,uniform k=1000,1024,strata,1,1,1,1,80\n"
                         "DeviceTopK::MaxKeys,f32,uniform k=1000,1024,cub,9,9,1,1,9\n"
                         "DeviceTopK::MaxKeys,f32,uniform k=1000,1024,sort,8,8,1,1,10\n"
                         "DeviceMerge::MergeKeys,i32,50:50,1024,strata,1,1,1,1,80\n"
                         "DeviceMerge::MergeKeys,i32,50:50,1024,cub,2,2,1,1,40\n")[1]
        self.assertEqual([(row[0], row[2]) for row in rows], [("The 1,000 greatest", "strata's sort"),
                                                              ("Merge two halves", "CUB")])

    def test_the_name_of_a_rival_follows_its_version(self):
        def name(*libs):
            return self.rows("".join(f"DeviceTopK::MaxKeys,f32,uniform k=1000,1024,{lib},{time},{time},1,1,80\n"
                                     for time, lib in enumerate(("strata", *libs), start=1)))[1][0][2]
        self.assertEqual([name("cub", "sort"), name("cub", "cub_sort", "sort"), name("cub_sort", "cub", "sort")],
                         ["CUB's sort", "CUB", "CUB's sort"])

    def test_the_title_names_gpu_and_cub_where_they_are_known(self):
        self.assertEqual([report.overview_title(context) for context in (None, {"gpu": "G"}, {"gpu": "G", "cub": "3"})],
                         [report.OVERVIEW_TITLE, "Speed on G, in % of a copy's bytes per second",
                          "Speed on G beside CUB 3, in % of a copy's bytes per second"])

    def test_primitives_that_no_file_has_are_left_out(self):
        self.assertEqual(self.rows("DeviceReduce::Min,i32,uniform,1024,strata,1,1,1,1,80\n")[1], [])

    def test_the_published_chart_has_every_primitive(self):
        results = os.path.join(HERE, "results", "h200")
        files = sorted(os.path.join(results, name) for name in os.listdir(results) if name.endswith(".csv"))
        timings = report.read_timings(files)
        self.assertEqual(len(report.overview_rows(timings)), len(report.OVERVIEW))
        with open(os.path.join(results, "overview.svg"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(results, "context.json"), encoding="utf-8") as file:
            context = json.load(file)["context"]
        self.assertIn(f"beside CUB {context['cub']}", text)
        self.assertEqual(text, report.overview_svg(timings, report.overview_title(context)))

    def test_it_can_be_read_on_a_dark_page(self):
        text = report.overview_svg({}, "t")
        self.assertIn("prefers-color-scheme:dark", text)
        # Elements have no colour of their own. The style sheet has a light and a dark one for each class.
        self.assertNotRegex(text.split("</style>", 1)[1], r"(fill|stroke)[=:]")
        light, dark = report.OVERVIEW_STYLE.split("@media", 1)
        for name in ("text", "ours", "theirs", "limit", "page", "halo"):
            self.assertIn(f"{name}{{", light)
            self.assertIn(f"{name}{{", dark)


class Bars(Files):
    def bars(self, *rows):
        return self.file("bars.csv", "\n".join(["# a comment", ",".join(report.BAR_COLUMNS),
                                                *rows]) + "\n")

    def test_met_bars_pass(self):
        path = self.bars("DeviceReduce::Sum,i32,uniform,8192,cub,2.0,",
                         "DeviceReduce::Sum,i32,uniform,268435456,cub,0.99,104")
        code, printed = self.run_report(FIXTURE, "--bars", path)
        self.assertEqual(code, 0)
        self.assertIn("2 of 2 bars are met", printed)

    def test_a_ratio_below_its_bar_fails(self):
        code, printed = self.run_report(
            FIXTURE, "--bars", self.bars("DeviceReduce::Sum,i32,uniform,8192,cub,2.01,"))
        self.assertEqual(code, 1)
        self.assertIn("FAIL    DeviceReduce::Sum i32 uniform 2^13: ratio 2.000 (bar 2.01)", printed)

    def test_too_little_of_the_copy_fails(self):
        path = self.bars("DeviceReduce::Sum,i32,uniform,268435456,,,106")
        self.assertEqual(self.run_report(FIXTURE, "--bars", path)[0], 1)

    def test_a_bar_without_a_result_is_missing(self):
        code, printed = self.run_report(
            FIXTURE, "--bars", self.bars("DeviceReduce::Sum,i64,uniform,8192,cub,1,"))
        self.assertEqual(code, 1)
        self.assertIn("MISSING DeviceReduce::Sum i64 uniform 2^13", printed)

    def test_a_bar_without_a_rival_needs_none(self):
        alone = self.file("alone.csv", ",".join(report.COLUMNS) + "\n" +
                          "DeviceSegmentedMergeSort::SortKeys,i32,single,1024,strata,1,1,2e9,3,4\n")
        for bar, met in ((",,4", True), (",,5", False), ("cub,1,", False)):
            with self.subTest(bar=bar):
                path = self.bars(f"DeviceSegmentedMergeSort::SortKeys,i32,single,1024,{bar}")
                self.assertEqual(self.run_report(alone, "--bars", path)[0], 0 if met else 1)

    def test_a_list_of_bars_may_have_a_column_of_rates(self):
        for rate, code, line in (("8e8", 0, "pass    DeviceReduce::Sum f32 uniform 2^13: ratio 0.800"
                                               " (bar 0.5), 10^9 items/s 0.82 (bar 0.8)"),
                                 ("8.2e8", 1, "(bar 0.82)"), ("", 0, "(bar 0.5)\n")):
            with self.subTest(rate=rate):
                path = self.file("bars.csv", ",".join([*report.BAR_COLUMNS, report.RATE_COLUMN]) +
                                 f"\nDeviceReduce::Sum,f32,uniform,8192,cub,0.5,,{rate}\n")
                printed_code, printed = self.run_report(FIXTURE, "--bars", path)
                self.assertEqual(printed_code, code)
                self.assertIn(line, printed)

    def test_a_bar_of_time_is_about_strata_alone(self):
        for rival, bar, met in (("", "0.0061", True), ("cub", "0.0061", True), ("", "0.0001", False),
                                ("", "", True)):
            with self.subTest(rival=rival, bar=bar):
                path = self.file("bars.csv", ",".join([*report.BAR_COLUMNS, report.TIME_COLUMN]) +
                                 f"\nDeviceReduce::Sum,i32,uniform,8192,{rival},,,{bar}\n")
                self.assertEqual(self.run_report(FIXTURE, "--bars", path)[0], 0 if met else 1)

    def test_a_bar_may_be_about_a_rivals_time(self):
        for rival, most, met in (("cub", "0.0081", True), ("cub", "0.0079", False),
                                 ("", "0.0081", False), ("host", "0.0081", False)):
            with self.subTest(rival=rival, most=most):
                path = self.file("bars.csv",
                                 ",".join([*report.BAR_COLUMNS, report.RIVAL_TIME_COLUMN]) +
                                 f"\nDeviceReduce::Sum,i32,uniform,8192,{rival},,,{most}\n")
                self.assertEqual(self.run_report(FIXTURE, "--bars", path)[0], 0 if met else 1)

    def test_a_bar_may_be_a_multiple_of_another_cases_time(self):
        row = "DeviceHashJoin::{},u32:u32,J3 zipf={},11,strata,{},1,1,1,50\n"
        results = self.file("joins.csv", ",".join(report.COLUMNS) + "\n" +
                            row.format("Inner", 0, 2) + row.format("Semi", 0, 1.5) +
                            row.format("Inner", 1.5, 2.5))
        for join, exponent, bar, met in (
                ("Semi", 0, "0.8,DeviceHashJoin::Inner,", True),
                ("Semi", 0, "0.7,DeviceHashJoin::Inner,", False),
                ("Inner", 1.5, "1.25,,J3 zipf=0", True),
                ("Inner", 1.5, "1,,J3 zipf=0", False),
                ("Semi", 0, "0.6,DeviceHashJoin::Inner,J3 zipf=1.5", True),
                ("Inner", 1.5, "9,DeviceHashJoin::Anti,J3 zipf=0", False),
                ("Inner", 1.5, ",,", True)):
            with self.subTest(bar=bar):
                path = self.file("bars.csv", ",".join([*report.BAR_COLUMNS, *report.OTHER_COLUMNS]) +
                                 f"\nDeviceHashJoin::{join},u32:u32,J3 zipf={exponent},11,,,,{bar}\n")
                code, printed = self.run_report(results, "--bars", path)
                self.assertEqual(code, 0 if met else 1, printed)

    def test_unknown_columns_of_bars_are_refused(self):
        for columns in (["max"], [report.TIME_COLUMN, report.RATE_COLUMN]):
            path = self.file("bars.csv", ",".join([*report.BAR_COLUMNS, *columns]) + "\n")
            with self.assertRaisesRegex(ValueError, "columns"):
                report.read_bars(path)

    def test_cases_without_a_rival_have_bars_too(self):
        alone = self.file("alone.csv", ",".join(report.COLUMNS) +
                          "\nDeviceHashJoin::Inner,u32:u32,J3,11,strata,0.15,0.14,1,1,50\n")
        for bars, met in ((",,,50,0.15", True), (",,,51,", False), (",,,,0.149", False), (",,1,,", False)):
            with self.subTest(bars=bars):
                path = self.file("bars.csv", ",".join([*report.BAR_COLUMNS, report.TIME_COLUMN]) +
                                 f"\nDeviceHashJoin::Inner,u32:u32,J3,11{bars}\n")
                self.assertEqual(self.run_report(alone, "--bars", path)[0], 0 if met else 1)

    def test_the_bars_of_the_project_can_be_read(self):
        for name in sorted(os.listdir(os.path.join(HERE, "bars"))):
            with self.subTest(name=name):
                bars = report.read_bars(os.path.join(HERE, "bars", name))
                self.assertGreater(len(bars), 0)
                self.assertEqual(len(bars), len({bar[:2] for bar in bars}))


class Versions(Files):
    """Tests of results with several versions of CUB."""

    def setUp(self):
        super().setUp()
        head = ",".join(report.COLUMNS) + "\n"
        self.new = self.file("new.csv", head + "A,i32,x,16,strata,1,1,,,\nA,i32,x,16,cub,2,2,,,\n"
                             "A,i32,x,32,strata,1,1,,,\nA,i32,x,32,cub,0.5,0.5,,,\n"
                             "B,i32,x,16,strata,1,1,,,\nB,i32,x,16,cub,3,3,,,\nB,i32,x,16,sort,9,9,,,\n")
        self.old = self.file("old.csv", head + "A,i32,x,16,strata,1,1,,,\nA,i32,x,16,cub,4,4,,,\n"
                             "A,i32,x,32,strata,1,1,,,\nA,i32,x,32,cub,9,9,,,\n")
        self.context = self.file("new.json", '{"context": {"cub": "3.5.0"}}')

    def test_a_table_has_both(self):
        page = self.file("page.md")
        self.assertEqual(self.run_report(self.new, "--context", self.context, "--other-cub", "3.0.1", self.old,
                                         "--markdown", page)[0], 0)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("# strata beside CUB 3.5.0\n", text)
        self.assertIn("| algorithm | CUB 3.5.0 | least | slower | CUB 3.0.1 | least | slower |\n"
                      "|---|--:|--:|--:|--:|--:|--:|\n"
                      "| A | 1.00 | 0.50 | 1 of 2 | 6.00 | 4.00 | 0 of 2 |\n"
                      "| B | 3.00 | 3.00 | 0 of 1 |  |  |  |\n", text)

    def test_no_other_version_no_table(self):
        self.assertNotIn("Versions of CUB", self.run_report(self.new)[1])


class CommandLine(Files):
    def test_writes_both_files(self):
        table, chart = self.file("t.md"), self.file("c.svg")
        code, _ = self.run_report(FIXTURE, "--markdown", table, "--svg", chart)
        self.assertEqual(code, 0)
        with open(table, encoding="utf-8") as file:
            self.assertIn("## DeviceSegmentedReduce::Sum", file.read())
        with open(chart, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_a_missing_file_is_an_error(self):
        self.assertEqual(self.run_report(os.path.join(self.folder, "none.csv"))[0], 2)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests compare_builds.py on small tables: python3 benchmarks/compare_builds_test.py"""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_builds  # noqa: E402
import report  # noqa: E402


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, build, name, times):
        """Writes a CSV of {(n, lib): milliseconds}."""
        path = os.path.join(self.folder.name, build, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            print(",".join(report.COLUMNS), file=out)
            for (n, lib), time in times.items():
                print(f"DeviceScan::ExclusiveSum,i32,uniform,{n},{lib},{time},{time},1,1,", file=out)
        return path

    def lines(self, before, after, tolerance=0.03):
        pairs = compare_builds.pair_up([self.file("old", "scan.csv", before)], [self.file("new", "scan.csv", after)])
        return compare_builds.table(pairs, tolerance)

    def test_a_ratio_is_after_over_before(self):
        lines = self.lines({(1024, "strata"): 2.0, (1024, "cub"): 4.0}, {(1024, "strata"): 1.0, (1024, "cub"): 5.0})
        self.assertEqual("| scan | 1 | 0.500 | 1.250 | 0.500 | 0.500 | 1 | 0 |", lines[2])
        self.assertEqual(1, sum("0.500 | 1.250 |" in line for line in lines[4:]))

    def test_means_are_geometric(self):
        lines = self.lines({(1, "strata"): 1.0, (2, "strata"): 1.0}, {(1, "strata"): 2.0, (2, "strata"): 0.5})
        self.assertEqual("| scan | 2 | 1.000 |  | 0.500 | 2.000 | 1 | 1 |", lines[2])

    def test_cases_within_the_tolerance_are_not_listed(self):
        lines = self.lines({(1, "strata"): 1.0, (2, "strata"): 1.0}, {(1, "strata"): 1.02, (2, "strata"): 0.98})
        self.assertEqual(3, len(lines))
        # One more row for each case, after a blank line and the head of a table.
        lines = self.lines({(1, "strata"): 1.0, (2, "strata"): 1.0}, {(1, "strata"): 1.02, (2, "strata"): 0.98}, 0.01)
        self.assertEqual(3 + 3 + 2, len(lines))

    def test_cases_of_one_build_alone_do_not_count(self):
        lines = self.lines({(1, "strata"): 1.0, (2, "strata"): 1.0}, {(1, "strata"): 1.0})
        self.assertIn("| scan | 1 |", lines[2])
        with self.assertRaises(ValueError):
            self.lines({(1, "strata"): 1.0}, {(2, "strata"): 1.0})

    def test_files_must_have_the_same_names(self):
        with self.assertRaises(ValueError):
            compare_builds.pair_up(["old/scan.csv"], ["new/select.csv"])


if __name__ == "__main__":
    unittest.main()

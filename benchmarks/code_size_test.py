#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests code_size.py on small headers: python3 benchmarks/code_size_test.py"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import code_size  # noqa: E402  (found through the line above)


class Lines(unittest.TestCase):
    def test_comments_and_blank_lines_are_not_code(self):
        self.assertEqual(code_size.lines_of_code("// a\n\n/* b\n   c */\nint d;  // e\n/* f */ int g;\n"), 2)

    def test_headers_alone_are_counted_and_some_are_left_out(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path in ("device/scan/a.cuh", "device/join/b.cuh", "simt/c.hpp", "device/README.md"):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text("int a;\nint b;\n")
            self.assertEqual(code_size.count(folder), 6)
            self.assertEqual(code_size.count(folder, code_size.ONLY_STRATA), 2)

    def test_the_front_page_has_the_number(self):
        page = (code_size.STRATA.parents[1] / "README.md").read_text()
        thousands = int(re.search(r"strata has (\d+),000 lines of code", page).group(1))
        self.assertEqual(thousands, round(code_size.count(code_size.STRATA, code_size.ONLY_STRATA) / 1000))


if __name__ == "__main__":
    unittest.main()

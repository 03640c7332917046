#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests fetch_cub.py without PyPI, with wheels that the tests make: python3 benchmarks/fetch_cub_test.py"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import fetch_cub  # noqa: E402  (found through the line above)

DOWNLOAD = fetch_cub.download
PREFIX = "nvidia/cu13/include/cccl/"


def make_wheel(folder, number, parts=fetch_cub.PARTS, more=()):
    with zipfile.ZipFile(os.path.join(folder, "nvidia_cuda_cccl-1-py3-none-any.whl"), "w") as archive:
        for part in parts:
            archive.writestr(f"{PREFIX}{part}/any", "")
        if "cub" in parts:
            archive.writestr(f"{PREFIX}cub/version.cuh", f"// x\n#define CUB_VERSION {number} // y\n")
        archive.writestr("nvidia/cu13/lib/cmake/cub-config.cmake", "")
        archive.writestr("nvidia_cuda_cccl-1.dist-info/licenses/LICENSE", "free")
        archive.writestr("nvidia_cuda_cccl-1.dist-info/RECORD", "")
        for name in more:
            archive.writestr(name, "")


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "cub")
        self.addCleanup(setattr, fetch_cub, "download", DOWNLOAD)
        self.asked = []
        self.serve(300500)

    def serve(self, number, **how):
        def download(version, folder):
            self.asked.append(version)
            make_wheel(folder, number, **how)
        fetch_cub.download = download

    def main(self, *arguments):
        """Returns (exit code, printed text, errors)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = fetch_cub.main(["--into", self.folder, *arguments])
        return code, out.getvalue(), err.getvalue()

    def test_headers_alone_are_kept_in_a_folder_of_their_version(self):
        code, printed, _ = self.main()
        target = os.path.join(self.folder, "3.5.0")
        self.assertEqual((code, printed), (0, f"{target}\n"))
        self.assertEqual(sorted(os.listdir(target)), ["LICENSE", "cub", "cuda", "nv", "thrust"])
        self.assertEqual(os.listdir(self.folder), ["3.5.0"])
        self.assertEqual(fetch_cub.version_of(target), "3.5.0")

    def test_a_release_can_be_named(self):
        self.serve(300401)
        self.assertEqual(self.main("--version", "13.3.4.3.1")[0], 0)
        self.assertEqual(self.asked, ["13.3.4.3.1"])
        self.assertEqual(os.listdir(self.folder), ["3.4.1"])

    def test_what_is_there_stays(self):
        self.main()
        mark = os.path.join(self.folder, "3.5.0", "mark")
        with open(mark, "w", encoding="utf-8"):
            pass
        self.assertEqual(self.main()[0], 0)
        self.assertTrue(os.path.exists(mark))

    def test_without_pypi_the_error_says_what_to_do(self):
        def download(_version, _folder):
            raise fetch_cub.FetchError("PyPI cannot be reached")
        fetch_cub.download = download
        code, printed, errors = self.main()
        self.assertEqual((code, printed), (2, ""))
        self.assertIn("PyPI cannot be reached", errors)
        self.assertIn("-DSTRATA_BENCHMARK_CUB_DIR", errors)
        self.serve(300500)
        self.main()
        fetch_cub.download = download
        self.assertIn(f"Fetched before: {os.path.join(self.folder, '3.5.0')}", self.main()[2])

    def test_wheels_of_another_shape_are_refused(self):
        for how, said in (({"parts": ("thrust", "cuda", "nv")}, "no cub/version.cuh"),
                          ({"parts": ("cub", "cuda")}, "has no thrust, nv"),
                          ({"more": [f"{PREFIX}cub/../../../evil"]}, "leads out of the folder")):
            self.serve(300500, **how)
            code, _, errors = self.main()
            self.assertEqual(code, 2)
            self.assertIn(said, errors)
            self.assertEqual(os.listdir(self.folder), [])

    def test_what_pip_says_is_passed_on(self):
        def run(output):
            return lambda *_, **__: subprocess.CompletedProcess([], 1, output)
        self.addCleanup(setattr, fetch_cub.subprocess, "run", fetch_cub.subprocess.run)
        for output, said in (("WARNING: after connection broken by x\nERROR: none\n", "PyPI cannot be reached"),
                             ("ERROR: No matching distribution\n", "It says: ERROR: No matching"),
                             ("/usr/bin/python3: No module named pip\n", "pip is not installed")):
            fetch_cub.subprocess.run = run(output)
            with self.assertRaisesRegex(fetch_cub.FetchError, said):
                DOWNLOAD(None, "x")


class Versions(unittest.TestCase):
    def test_texts(self):
        self.assertEqual([fetch_cub.version_text(n) for n in (300001, 300500, 301200, 1000000)],
                         ["3.0.1", "3.5.0", "3.12.0", "10.0.0"])

    def test_order_is_that_of_numbers(self):
        self.assertEqual(sorted(["3.10.0", "unknown", "3.9.1", "3.9.0"], key=fetch_cub.version_key),
                         ["unknown", "3.9.0", "3.9.1", "3.10.0"])

    def test_what_is_no_folder_of_cub_has_no_version(self):
        self.assertIsNone(fetch_cub.version_of(HERE))
        self.assertEqual(fetch_cub.fetched_before(os.path.join(HERE, "none")), [])


if __name__ == "__main__":
    unittest.main()

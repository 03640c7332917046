#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests torch_peers.py with a stand-in for torch: python3 benchmarks/torch_peers_test.py"""

import contextlib
import io
import os
import sys
import tempfile
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the line above)
import torch_peers  # noqa: E402


class OutOfMemoryError(Exception):
    pass


class Event:
    """A stand-in for torch.cuda.Event. Only calls advance its clock."""
    now = 0.0

    def __init__(self, enable_timing):
        assert enable_timing
        self.at = None

    def record(self):
        self.at = Event.now

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return end.at - self.at


def stand_in(milliseconds_per_call=0.5, cuda="13.0", is_available=True):
    """Returns a stand-in for torch whose calls take `milliseconds_per_call`, and whose inputs are None."""
    def call(*_arguments, **_options):
        Event.now += milliseconds_per_call
        torch.calls += 1

    def make(*_arguments, **_options):
        return None

    torch = types.ModuleType("torch")
    torch.calls = 0
    torch.__version__, torch.version, torch.int32 = "9.9", types.SimpleNamespace(cuda=cuda), "int32"
    torch.manual_seed = lambda seed: None
    torch.rand = torch.randint = make
    torch.topk = torch.sort = torch.cumsum = torch.unique = call
    torch.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None, is_available=lambda: is_available,
                                       get_device_name=lambda: "GPU 1", OutOfMemoryError=OutOfMemoryError)
    return torch


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        saved = sys.modules.get("torch", self)
        self.addCleanup(lambda: sys.modules.pop("torch", None) if saved is self else
                        sys.modules.__setitem__("torch", saved))
        self.torch = sys.modules["torch"] = stand_in()

    def main(self, *arguments):
        """Returns (exit code, printed text, errors)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = torch_peers.main(["--results", self.folder, "--samples", "3", *arguments])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def results(self, *rows):
        with open(os.path.join(self.folder, "any.csv"), "w", encoding="utf-8") as file:
            file.write("\n".join([",".join(report.COLUMNS), *rows]) + "\n")

    def test_without_torch_it_says_so(self):
        sys.modules["torch"] = None  # makes an import fail
        code, printed, errors = self.main()
        self.assertEqual((code, printed), (77, ""))
        self.assertIn("there is no torch", errors)
        sys.modules["torch"] = stand_in(cuda=None)
        self.assertIn("built without CUDA", self.main()[2])
        sys.modules["torch"] = stand_in(is_available=False)
        self.assertIn("finds no GPU", self.main()[2])

    def test_each_call_is_timed_and_the_csv_is_what_the_report_reads(self):
        path = os.path.join(self.folder, "torch.out")
        self.assertEqual(self.main("--csv", path)[0], 0)
        timings = report.read_timings([path])
        self.assertEqual(len(timings), sum(len(peer.sizes) for peer in torch_peers.PEERS))
        for libs in timings.values():
            self.assertEqual(list(libs), ["torch"])
            self.assertAlmostEqual(libs["torch"].median, 0.5)

    def test_batches_are_as_long_as_the_target(self):
        self.main("--only", "sort", "--max-n", str(1 << 20), "--target-us", "2000")
        # Two samples of one call, and three of four calls. Each sample begins with one more call that is not timed.
        self.assertEqual(self.torch.calls, 2 * 2 + 3 * 5)

    def test_stratas_figures_stand_beside(self):
        self.results("DeviceScan::ExclusiveSum,i32,uniform,1048576,strata,0.25,0.2,,,")
        code, _, errors = self.main("--only", "cumsum", "--max-n", str(1 << 20))
        self.assertEqual(code, 0)
        self.assertIn("GPU 1, torch 9.9, CUDA 13.0", errors)
        self.assertRegex(errors, r"cumsum +DeviceScan::ExclusiveSum i32 uniform +2\^20 +500 +250 +2.00")
        self.assertRegex(errors, r"cumsum +DeviceScan::ExclusiveSum f32 uniform +2\^20 +500 +none")

    def test_two_calls_of_strata_are_added_up(self):
        self.results("DeviceRadixSort::SortKeys,u32,uniform,1048576,strata,0.2,0.1,,,",
                     "DeviceSelect::Unique,u32,runs=16,1048576,strata,0.05,0.05,,,")
        _, printed, _ = self.main("--only", "unique", "--max-n", str(1 << 20))
        path = os.path.join(self.folder, "torch.out")
        with open(path, "w", encoding="utf-8") as file:
            file.write(printed)
        (comparison,) = report.compare(report.read_timings([path]))
        self.assertEqual((comparison.key.algorithm, comparison.rival), ("sort and DeviceSelect::Unique", "torch"))
        self.assertAlmostEqual(comparison.ratio, 2)

    def test_what_does_not_fit_is_left_out(self):
        def fail(*_arguments, **_options):
            raise OutOfMemoryError
        self.torch.sort = fail
        code, printed, errors = self.main("--only", "sort")
        self.assertEqual((code, printed.count("\n")), (0, 1))
        self.assertIn("2^28: does not fit the memory", errors)

    def test_a_folder_that_is_not_there_is_an_error(self):
        self.assertEqual(self.main("--results", os.path.join(self.folder, "none"))[0], 2)


class Cases(unittest.TestCase):
    def test_the_published_results_have_every_case(self):
        timings = torch_peers.results_of(os.path.join(HERE, "results", "h200"))
        for peer in torch_peers.PEERS:
            for n in peer.sizes:
                self.assertIsNotNone(torch_peers.ours_of(timings, peer, n), (peer.cases, n))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests tune.py, with a machine that computes times instead of measuring them: python3 benchmarks/tune_test.py"""

import io
import json
import math
import os
import stat
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import tune  # noqa: E402  (found through the line above)

ROW = tune.ALGORITHMS["radix_sort"].rows[0]
PRESENT = {"block_threads": 256, "items_per_thread": 44, "blocks_per_multiprocessor": 3}
SPOILED = {"block_threads": 128, "items_per_thread": 4, "blocks_per_multiprocessor": 1}
N = 1 << 20
IDENTITY = {"algorithm": "radix_sort", "gpu": "G", "sources": "1"}


class FakeMachine:
    """Times grow with the distance from `fastest`. Some rows break."""

    def __init__(self, fastest=None, breaks=None, wrong=None, kills=None):
        self.fastest = fastest or PRESENT
        self.breaks, self.wrong, self.kills = (test or (lambda p: False) for test in (breaks, wrong, kills))
        self.built = []
        self.samples = {}
        self.jobs = 16

    def milliseconds(self, point):
        distance = sum(math.log2(point[name] / self.fastest[name]) ** 2 for name in point)
        return 1 + 0.2 * distance

    def build(self, points, done):
        for point in points:
            if point is not None:
                self.built.append(tune.key_of(point))
            done()
        return {point and tune.key_of(point): "does not compile: too many registers" if point and self.breaks(point)
                else "" for point in points}

    def check(self, n, point):
        return "wrong result: 3 of 9 results differ" if self.wrong(point) else ""

    def time(self, n, samples, points):
        if any(point and self.kills(point) for point in points):
            raise tune.Broken("signal 11")
        for point in points[1:]:
            key = tune.key_of(point)
            self.samples[key] = self.samples.get(key, 0) + samples
        # Clocks drift, but in the same way for all rows.
        return [[self.milliseconds(point or PRESENT) * (1 + 0.1 * i) for i in range(samples)] for point in points]


class Files(unittest.TestCase):
    """Gives each test its own folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def search(self, machine, identity=None, seconds=1000, row=ROW, present=None):
        record = tune.Record(os.path.join(self.folder, "r.json"), identity or IDENTITY)
        return tune.Search(row, present or PRESENT, (N, 2 * N), machine, record,
                           tune.Progress(seconds, io.StringIO()))


class Descent(Files):
    def test_a_spoiled_row_comes_to_the_fastest(self):
        for start in (SPOILED, {**PRESENT, "items_per_thread": 1}, {"block_threads": 1024, "items_per_thread": 8,
                                                                   "blocks_per_multiprocessor": 1}):
            with self.subTest(start=start):
                machine = FakeMachine()
                search = self.search(machine, {"start": start})
                self.assertLess(machine.milliseconds(search.run(start)), 1.005)
                # Far fewer than the 13 * 64 * 6 rows that there are.
                self.assertLess(len(machine.built), 160)

    def test_the_search_leaves_the_present_row_for_a_faster_one(self):
        fastest = {"block_threads": 512, "items_per_thread": 20, "blocks_per_multiprocessor": 2}
        self.assertEqual(self.search(FakeMachine(fastest)).run(PRESENT), fastest)

    def test_the_present_row_is_not_found_without_a_step_to_it(self):
        search = self.search(FakeMachine(breaks=lambda p: p not in (PRESENT, SPOILED)))
        self.assertEqual(search.run(SPOILED), SPOILED)

    def test_without_time_nothing_more_is_built(self):
        machine = FakeMachine()
        self.assertEqual(self.search(machine, seconds=5).run(SPOILED), SPOILED)
        self.assertEqual(len(machine.built), 2)

    def test_a_number_that_is_not_among_those_tried_is_left_first(self):
        points = tune.star(ROW, SPOILED)
        self.assertEqual(points[0]["block_threads"], 256)
        self.assertEqual(len(points), len({tune.key_of(point) for point in points}) + 1)

    def test_as_many_rows_as_the_time_allows(self):
        search = self.search(FakeMachine(), seconds=100)
        search.seconds_per_wave = 40
        points = tune.star(ROW, PRESENT)
        self.assertEqual(search.affordable(points * 2), (points * 2)[:32])

    def test_two_numbers_that_must_change_together(self):
        ridge = FakeMachine()
        product = 256 * 48
        ridge.milliseconds = lambda p: (1 + abs(math.log2(p["block_threads"] * p["items_per_thread"] / product)) +
                                        0.1 * abs(math.log2(p["block_threads"] / 512)))
        found = self.search(ridge).run({"block_threads": 256, "items_per_thread": 48, "blocks_per_multiprocessor": 3})
        self.assertEqual((found["block_threads"], found["items_per_thread"]), (512, 24))

    def test_what_cannot_fit_is_not_built(self):
        search = self.search(FakeMachine())
        point = {"block_threads": 1024, "items_per_thread": 64, "blocks_per_multiprocessor": 2}
        search.step([point])
        self.assertEqual(search.machine.built, [])
        self.assertIn("not built: a tile needs 512 KiB of shared memory", search.record.get(point)["reason"])


class Pruning(Files):
    def test_slow_rows_get_few_samples_and_the_fastest_get_all(self):
        machine = FakeMachine()
        search = self.search(machine)
        near = {**PRESENT, "items_per_thread": 43}
        middle = {**PRESENT, "items_per_thread": 28}
        search.step([PRESENT, near, middle, SPOILED])
        both = 2  # sizes
        self.assertEqual(machine.samples[tune.key_of(SPOILED)], both * 3)
        self.assertEqual(machine.samples[tune.key_of(middle)], both * (3 + 9))
        self.assertEqual(machine.samples[tune.key_of(near)], both * (3 + 9 + 25))
        self.assertTrue(search.record.get(SPOILED)["is_dropped"])
        self.assertEqual(search.record.rows()[:2], [PRESENT, near])

    def test_times_are_those_over_the_present_row_sample_by_sample(self):
        search = self.search(FakeMachine())
        search.step([SPOILED])
        ratios = search.record.get(SPOILED)["ratios"][str(N)]
        self.assertLess(max(ratios) / min(ratios), 1.0001)
        self.assertAlmostEqual(search.record.score(SPOILED), FakeMachine().milliseconds(SPOILED), places=4)


class Rejections(Files):
    def test_what_does_not_compile_is_recorded_and_the_search_goes_on(self):
        search = self.search(FakeMachine(breaks=lambda p: p["blocks_per_multiprocessor"] == 3))
        found = search.run({**SPOILED, "block_threads": 256})
        self.assertEqual(found, {**PRESENT, "blocks_per_multiprocessor": found["blocks_per_multiprocessor"]})
        self.assertEqual(search.record.get(PRESENT)["reason"], "does not compile: too many registers")

    def test_a_wrong_result_is_never_the_fastest(self):
        machine = FakeMachine(fastest=SPOILED, wrong=lambda p: p == SPOILED)
        search = self.search(machine)
        search.step([SPOILED, PRESENT])
        self.assertEqual(search.record.get(SPOILED)["reason"], "wrong result: 3 of 9 results differ")
        self.assertNotIn(tune.key_of(SPOILED), machine.samples)
        self.assertEqual(search.record.rows(), [PRESENT])

    def test_the_one_that_ends_the_timing_program_is_found(self):
        near = {**PRESENT, "items_per_thread": 43}
        search = self.search(FakeMachine(kills=lambda p: p == near))
        search.step([PRESENT, near, SPOILED])
        self.assertEqual(search.record.get(near)["reason"], "failed in a row of calls: signal 11")
        self.assertEqual(search.record.rows()[0], PRESENT)

    def test_the_start_may_be_broken(self):
        search = self.search(FakeMachine(breaks=lambda p: p == SPOILED))
        self.assertEqual(search.run(SPOILED), PRESENT)

    def test_nothing_works(self):
        with self.assertRaisesRegex(tune.TuneError, "no row of the search works"):
            self.search(FakeMachine(breaks=lambda p: True)).run(SPOILED)


class Resume(Files):
    def test_what_is_known_is_not_built_again(self):
        search = self.search(FakeMachine())
        found = search.run(SPOILED)
        again = FakeMachine()
        self.assertEqual(self.search(again).run(SPOILED), found)
        self.assertEqual(again.built, [])

    def test_it_goes_on_after_an_interruption(self):
        class Stopped(FakeMachine):
            def build(self, points, done):
                if len(self.built) > 20:
                    raise KeyboardInterrupt
                return super().build(points, done)

        with self.assertRaises(KeyboardInterrupt):
            self.search(Stopped()).run(SPOILED)
        again, whole = FakeMachine(), FakeMachine()
        self.assertEqual(self.search(again).run(SPOILED), PRESENT)
        self.search(whole, {"other": 1}).run(SPOILED)
        self.assertLess(len(again.built), len(whole.built))

    def test_another_gpu_or_other_sources_begin_anew(self):
        self.search(FakeMachine()).run(SPOILED)
        record = tune.Record(os.path.join(self.folder, "r.json"), {**IDENTITY, "gpu": "H", "sources": "2"})
        self.assertEqual((record.variants, record.was_other), ({}, "gpu, sources"))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "r.json.old")))

    def test_a_file_that_is_no_record_is_an_error(self):
        with open(os.path.join(self.folder, "r.json"), "w", encoding="utf-8") as file:
            file.write("{")
        with self.assertRaisesRegex(tune.TuneError, "remove it"):
            tune.Record(os.path.join(self.folder, "r.json"), IDENTITY)


class Cplusplus(unittest.TestCase):
    SCAN = tune.ALGORITHMS["scan"].rows[0]
    PIPELINE = {"scanning_threads": 320, "vectors_per_thread": 9, "stages": 4, "lag": 2,
                "blocks_per_multiprocessor": 1, "item_loading_warps": 16}

    def test_a_row_is_that_of_tuning_hpp_with_its_comment(self):
        text = tune.paste_text(self.SCAN, self.PIPELINE, "H200, 2026-11-24, CUDA 13.0. " + "u32 of 2^28: 540 us. " * 6)
        lines = text.split("\n")
        self.assertTrue(lines[0].startswith("    // H200, 2026-11-24, CUDA 13.0. u32 of 2^28: 540 us."))
        self.assertEqual(lines[2:], [
            "    static constexpr scan_pipeline_tuning pipeline{/*scanning_threads=*/320, /*vectors_per_thread=*/9, "
            "/*stages=*/4,",
            "                                                   /*lag=*/2, /*blocks_per_multiprocessor=*/1,",
            "                                                   /*item_loading_warps=*/16};"])
        self.assertLessEqual(max(map(len, lines)), 120)

    def test_a_users_hub_has_the_row_in_the_policy_of_the_device(self):
        for architecture, number in ((90, 900), (100, 900), (121, 1200), (80, 750)):
            with self.subTest(architecture=architecture):
                number = tune.policy_number("scan_policy_hub<int, int>", "scan", 10 * architecture)
                text = tune.row_header("scan", "u64", self.SCAN, self.PIPELINE, architecture, "H200.")
                self.assertIn("#include <strata/device/device_scan.cuh>", text)
                self.assertIn(f"  using rows = strata::scan_policy_hub<std::uint64_t, std::uint64_t>::Policy{number};",
                              text)
                self.assertIn(f"  using MaxPolicy = Policy{number};", text)

    def test_values_of_enumerations_have_their_namespace(self):
        tile = tune.ALGORITHMS["scan"].rows[1]
        point = {"block_threads": 512, "items_per_thread": 16, "load": "BLOCK_LOAD_DIRECT",
                 "store": "BLOCK_STORE_DIRECT", "blocks_per_multiprocessor": 1}
        self.assertIn("/*load=*/strata::BLOCK_LOAD_DIRECT", tune.member_text(tile.members[0], point))

    def test_a_merge_is_cut_as_its_tile(self):
        row = tune.ALGORITHMS["merge_sort"].rows[0]
        point = {"block_threads": 512, "items_per_thread": 25, "blocks_per_multiprocessor": 3, "merge_parts": 2,
                 "merge_slack": 2, "merge_blocks": 5, "one_tile_items": 6400}
        self.assertEqual([member.name for member in tune.members_of(row, point)], ["whole_array", "merge_whole_array"])
        self.assertEqual([member.name for member in tune.members_of(row, {**point, "block_threads": 128})],
                         ["whole_array", "merge_whole_array", "one_tile"])
        self.assertEqual(tune.member_text(row.members[1], point),
                         "static constexpr strata::segment_merge_tuning merge_whole_array{/*block_threads=*/256, "
                         "/*items_per_thread=*/27, /*blocks_per_multiprocessor=*/5, /*tile_items=*/6400};")
        self.assertEqual(row.excluded(point, 4, 227 << 10), "")
        self.assertIn("2,048 threads", row.excluded({**point, "merge_parts": 1}, 4, 227 << 10))

    def test_hubs_of_items(self):
        hub = tune.ALGORITHMS["merge_sort"].hub
        for types, size in (("u32", 4), ("u32:u32", 8), ("u64:u32", 16), ("u8:u64", 16)):
            self.assertEqual(hub(*tune.cpp_types(types)), f"segmented_merge_sort_policy_hub<{size}>")

    def test_every_algorithm_has_sources(self):
        for name, algorithm in tune.ALGORITHMS.items():
            for row in algorithm.rows:
                with self.subTest(name=name, row=row.name):
                    point = {p.name: p.values[0] if p.values else 7 for p in row.parameters}
                    source = tune.variant_source(name, "f64", row, point, 90)
                    self.assertIn(f"call<strata::Tuned{algorithm.device}<hub_{tune.name_of(point)}>>", source)
                    self.assertIn(f"{row.members[0].name}{{", source)
                    self.assertNotIn("Tuned", tune.variant_source(name, "f64", row, None, 90))
                    self.assertEqual(set(row.sizes({"pipeline"})), set(sorted(row.sizes({"pipeline"}))))

    def test_what_a_library_says_of_its_rows(self):
        self.assertEqual(tune.parse_rows("a used=1 n=-3 load=X;b used=0 m=4;"),
                         {"a": (True, {"n": -3, "load": "X"}), "b": (False, {"m": 4})})


class Outcome(unittest.TestCase):
    def test_a_gain_must_exceed_what_the_present_row_differs_from_itself(self):
        for best, twin, expected in ((0.97, 1.001, True), (0.97, 1.04, False), (0.999, 1.0, True), (1.02, 1.0, False)):
            with self.subTest(best=best, twin=twin):
                end = tune.verdict({N: [best] * 41}, {N: [twin] * 41})
                self.assertEqual(end.is_above_noise, expected)

    def test_and_the_scatter_of_its_own_samples(self):
        scattered = [0.9 + 0.005 * i for i in range(41)]
        self.assertFalse(tune.verdict({N: scattered}, {N: [1.0] * 41}).is_above_noise)
        self.assertGreater(tune.interval(scattered), 0.02)

    def test_figures_name_device_date_and_versions(self):
        identity = {"gpu": "NVIDIA H200", "date": "2026-11-24", "cuda": "13.0", "host": False, "types": "u32"}
        best = {**PRESENT, "items_per_thread": 40}
        ratios = {1 << 24: [0.5], 1 << 28: [0.9]}
        end = tune.Verdict(0.7, 0.01, True)
        self.assertEqual(
            tune.figures(identity, ROW, PRESENT, best, {1 << 24: 0.331, 1 << 28: 4.096}, ratios, end, 64),
            "H200, 2026-11-24, CUDA 13.0. u32 of 2^24 / 2^28: 166 / 3,686 us; the row before, 256 x 44 x 3, took 331 / "
            "4,096. Searched among 64 rows.")
        on_host = tune.figures({**identity, "host": True}, ROW, PRESENT, best, {1 << 24: 1}, {1 << 24: [1]}, end, 2)
        self.assertTrue(on_host.startswith("Not measured. Adapted from a search on a CPU"))


class Picture(unittest.TestCase):
    def variants(self):
        return [{"row": PRESENT, "is_dropped": False, "ratios": {"1": [1.0]}},
                {"row": {**PRESENT, "items_per_thread": 40}, "is_dropped": False, "ratios": {"1": [0.9]}},
                {"row": {**PRESENT, "block_threads": 512}, "reason": "does not <compile>"}]

    def test_axes_have_labels_and_rows_have_marks(self):
        best = {**PRESENT, "items_per_thread": 40}
        text = tune.picture("scan", ROW, PRESENT, best, self.variants())
        root = xml.etree.ElementTree.fromstring(text)
        texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
        for label in ("block_threads", "items_per_thread", "blocks_per_multiprocessor", "-10.0", "+0.0", "x", "256",
                      "512", "44", "present row", "best row"):
            self.assertIn(label, texts)
        titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertIn("512 x 44 x 3: does not <compile>", titles)
        # The legend, the plane and three panels have two rings each.
        self.assertEqual(text.count('class="ring"'), 2 * 5)
        self.assertIn("prefers-color-scheme:dark", text)

    def test_colours_tell_faster_from_slower(self):
        self.assertEqual(tune.colour_of(0.5), "#56b4e9")
        self.assertEqual(tune.colour_of(1), "#f0f0f0")
        self.assertEqual(tune.colour_of(9), "#e69f00")


class TimingProgram(Files):
    """Tests of tune.Machine, with a script instead of the timing program."""

    def machine(self, script):
        path = os.path.join(self.folder, "timing")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nwhile read -r command rest; do case $command in present) echo ok;; {script} esac; "
                       "done\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        machine = tune.Machine("radix_sort", "u32", ROW, 90, self.folder, 1, False, "nvcc")
        self.addCleanup(machine.stop)
        return machine

    ROWS = "rows) echo 'pass used=1 block_threads=256 items_per_thread=44 blocks_per_multiprocessor=3;';;"

    def test_answers(self):
        machine = self.machine(self.ROWS + " check) echo 'wrong items are lost';; time) echo ok 1,2 3,4;;")
        self.assertEqual(machine.check(N, PRESENT), "wrong result: items are lost")
        self.assertEqual(machine.check(N, SPOILED), "its row does not reach the call")
        self.assertEqual(machine.time(N, 2, [None, PRESENT]), [[1, 2], [3, 4]])

    def test_a_program_that_ends_says_how_and_is_started_again(self):
        machine = self.machine(self.ROWS + " check) kill -9 $$;; time) echo ok 1 1;;")
        self.assertEqual(machine.check(N, PRESENT), "failed: ends the timing program, signal 9")
        self.assertEqual(machine.time(N, 1, [None, PRESENT]), [[1], [1]])

    def test_a_lost_context_needs_another_program(self):
        machine = self.machine(self.ROWS + " check) echo lost cudaErrorIllegalAddress;;")
        self.assertEqual(machine.check(N, PRESENT), "failed: cudaErrorIllegalAddress")
        self.assertIsNone(machine.process)

    def test_a_call_that_hangs_is_ended(self):
        machine = self.machine("hang) exec sleep 9;;")
        with self.assertRaisesRegex(tune.Broken, "no answer within 0.05 s"):
            machine.ask("hang", timeout=0.05)

    def test_the_compilers_reason(self):
        self.assertEqual(tune.first_error('a.cu(3): warning: x\na.cu(4): error: static assertion failed with "odd"\n'),
                         'static assertion failed with "odd"')
        self.assertEqual(tune.first_error("ptxas error   : Entry function uses too much shared data\n"),
                         "Entry function uses too much shared data")


class Compiling(Files):
    """Tests of tune.Machine, with a script instead of the compiler."""

    def machine(self, script):
        path = os.path.join(self.folder, "compiler")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho x >> {self.folder}/ran\n{script}\n')
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return tune.Machine("radix_sort", "u32", ROW, 90, self.folder, 1, False, path)

    def times_run(self):
        with open(os.path.join(self.folder, "ran"), encoding="utf-8") as file:
            return len(file.readlines())

    def test_a_library_is_built_once(self):
        machine = self.machine('echo library > "$2"')
        for _ in range(2):
            self.assertEqual(machine.build([PRESENT], lambda: None), {tune.key_of(PRESENT): ""})
        self.assertEqual(self.times_run(), 1)
        machine.types = "f32"
        machine.build([PRESENT], lambda: None)
        self.assertEqual(self.times_run(), 2)

    def test_what_does_not_compile_leaves_no_library(self):
        machine = self.machine('echo library > "$2"')
        machine.build([PRESENT], lambda: None)
        machine = self.machine('echo "x.cu(3): error: too large"; exit 2')
        machine.types = "f32"
        self.assertEqual(machine.build([PRESENT], lambda: None), {tune.key_of(PRESENT): "does not compile: too large"})
        self.assertFalse(os.path.exists(machine.library(PRESENT)))

    def test_an_interruption_starts_no_more_compilers(self):
        machine = self.machine("")
        begun = []

        def interrupted(point):
            begun.append(point)
            raise KeyboardInterrupt

        machine.build_one = interrupted
        with self.assertRaises(KeyboardInterrupt):
            machine.build([{"n": i} for i in range(50)], lambda: None)
        self.assertLess(len(begun), 50)


class CommandLine(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual(tune.parse_n("2^24,1000"), (1 << 24, 1000))
        for wrong in ("0", "2^31", "x"):
            with self.assertRaises(ValueError):
                tune.parse_n(wrong)

    def test_a_start_is_the_present_row_with_other_numbers(self):
        self.assertEqual(tune.parse_start("items_per_thread=4,block_threads=128", ROW, PRESENT),
                         {**SPOILED, "blocks_per_multiprocessor": 3})
        with self.assertRaisesRegex(tune.TuneError, "no 'threads' in pass, but block_threads"):
            tune.parse_start("threads=4", ROW, PRESENT)

    def test_rows_that_the_device_does_not_use(self):
        scan = tune.ALGORITHMS["scan"]
        rows = {"pipeline": (False, {}), "large_tile": (True, {}), "small_tile": (True, {})}
        self.assertEqual(tune.choose_row(scan, None, rows).name, "large_tile")
        with self.assertRaisesRegex(tune.TuneError, "does not use pipeline"):
            tune.choose_row(scan, "pipeline", rows)
        with self.assertRaisesRegex(tune.TuneError, "no 'x'"):
            tune.choose_row(scan, "x", rows)

    def test_the_record_is_what_the_picture_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            record = tune.Record(os.path.join(folder, "r.json"), IDENTITY)
            record.measured(PRESENT, {N: [1.0, 1.0]}, False)
            record.save()
            with open(record.path, encoding="utf-8") as file:
                variants = json.load(file)["variants"]
            xml.etree.ElementTree.fromstring(tune.picture("t", ROW, PRESENT, PRESENT, variants))


if __name__ == "__main__":
    unittest.main()

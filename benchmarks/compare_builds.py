#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares strata's times in two builds. Prints a Markdown table with one row for each pair of CSV files.

    compare_builds.py --before old/scan.csv old/select.csv --after new/scan.csv new/select.csv

Both files of a pair have the same name. A ratio is the time after divided by the time before, so below 1 is faster. The
rivals have the same code in both builds, so their ratio shows how much the machine itself changed. Cases outside of
`--tolerance` are listed below the table.
"""

import argparse
import math
import os
import statistics

import report


def ratios_of(before, after, lib):
    """Returns {Key: time after / time before} for one library's cases that are in both builds."""
    return {key: after[key][lib].median / libs[lib].median
            for key, libs in before.items() if lib in libs and lib in after.get(key, {})}


def rival_ratio(before, after, key):
    """Returns time after / time before of the first rival of a case, or None if there is no rival."""
    for lib in report.rivals_of(before[key]):
        if lib in after.get(key, {}):
            return after[key][lib].median / before[key][lib].median
    return None


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def pair_up(before, after):
    """Returns [(name, path before, path after)], paired by file name."""
    names = [[os.path.basename(path) for path in paths] for paths in (before, after)]
    if sorted(names[0]) != sorted(names[1]) or len(set(names[0])) != len(names[0]):
        raise ValueError(f"the files before and after have not the same names: {names[0]}, {names[1]}")
    return [(name, path, after[names[1].index(name)]) for name, path in zip(names[0], before)]


def table(pairs, tolerance):
    """Returns the lines of the table, then of the list of cases outside of the tolerance."""
    rows, outside = [], []
    for name, path_before, path_after in pairs:
        before, after = report.read_timings([path_before]), report.read_timings([path_after])
        ours = ratios_of(before, after, "strata")
        if not ours:
            raise ValueError(f"{name}: no case is in both files")
        rivals = [ratio for ratio in (rival_ratio(before, after, key) for key in ours) if ratio is not None]
        mean, rival_mean = f"{geometric_mean(ours.values()):.3f}", f"{geometric_mean(rivals):.3f}" if rivals else ""
        worse = sum(ratio > 1 + tolerance for ratio in ours.values())
        better = sum(ratio < 1 - tolerance for ratio in ours.values())
        rows.append(f"| {os.path.splitext(name)[0]} | {len(ours)} | {mean} | {rival_mean} |"
                    f" {min(ours.values()):.3f} | {max(ours.values()):.3f} | {better} | {worse} |")
        for key, ratio in sorted(ours.items(), key=lambda item: -item[1]):
            if abs(ratio - 1) > tolerance:
                rival = rival_ratio(before, after, key)
                outside.append(f"| {report.label(key)} | {report.time_text(before[key]['strata'].median)} |"
                               f" {report.time_text(after[key]['strata'].median)} | {ratio:.3f} |"
                               f" {f'{rival:.3f}' if rival else ''} |")
    lines = ["| program | cases | ratio, geometric mean | rivals' | least | largest | faster | slower |",
             "|---|--:|--:|--:|--:|--:|--:|--:|", *rows]
    if outside:
        lines += ["", "| case | before | after | ratio | rival's |", "|---|--:|--:|--:|--:|", *outside]
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", nargs="+", required=True, metavar="CSV")
    parser.add_argument("--after", nargs="+", required=True, metavar="CSV")
    parser.add_argument("--tolerance", type=float, default=0.03, help="relative (default: 0.03)")
    options = parser.parse_args(arguments)
    print("\n".join(table(pair_up(options.before, options.after), options.tolerance)))


if __name__ == "__main__":
    main()

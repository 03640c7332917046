#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times that pages quote from benchmark results are those of the results. quoted_figures.txt lists them.

Microseconds have three digits, or all digits from 1,000 on. The figures of one line of the list are side by side in one
row of a table. A single figure may also be in a sentence, before `us`. `--self-test` finds the figures of a small
table.

    quoted_figures.py --update FOLDER

rewrites pages that quote the results in FOLDER, a copy of benchmarks/results/h200 from before new results came. It does
not change what follows from quoted figures, such as ratios.
"""

import argparse
import csv
import itertools
import pathlib
import re

import toolbox

RESULTS = toolbox.ROOT / "benchmarks" / "results" / "h200"
LIST = toolbox.ROOT / "tests" / "meta" / "quoted_figures.txt"


def written(milliseconds):
    microseconds = 1000 * float(milliseconds)
    if microseconds >= 999.5:
        return f"{microseconds:,.0f}"
    return f"{microseconds:#.3g}".rstrip(".")


def choices(text):
    """`a{b,c}d` as `abd` and `acd`."""
    parts = [part.split(",") if i % 2 else [part] for i, part in enumerate(re.split(r"[{}]", text))]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def figures(times, line):
    """The figures that a page should quote for `algorithm,type,case | counts`, or for several of these, separated by
    ` + `. A count `n` is strata's, `n@library` another library's. `n@times` is strata's speed divided by CUB's. A line
    that ends with ` +` continues in the next one.
    """
    keys = []
    for cases, counts in (part.split(" | ") for part in line.split(" + ")):
        for case in choices(cases):
            for n, _, library in (count.partition("@") for count in counts.split()):
                keys.append((*case.split(",", 2), n, library or "strata"))
    def time(key, library):
        if (*key[:-1], library) not in times:
            toolbox.fail("the results lack " + ",".join((*key[:-1], library)))
        return times[(*key[:-1], library)]
    return [f"{float(time(key, 'cub')) / float(time(key, 'strata')):.2f}" if key[-1] == "times" else
            written(time(key, key[-1])) for key in keys]


def match_of(page, values):
    if len(values) > 1:
        return re.search(rf"(?<=\| ){re.escape(' | '.join(values))}(?= \|)", page)
    return re.search(rf"(?<![\d.,]){re.escape(values[0])}(?= us\b| \|)", page)


def updated(page, lines, old, new):
    """The page with the figures of `new`, and the lines whose old figures the page lacks."""
    replacements, missing = [], []
    # Rows first, so that a figure of a row is not taken for a single one. If figures repeat, the n-th line of the list
    # belongs to their n-th occurrence.
    for line in sorted(lines, key=lambda line: len(figures(old, line)) == 1):
        match = match_of(page, figures(old, line))
        if match is None:
            missing.append(line)
            continue
        page = f"{page[:match.start()]}\ue000{len(replacements)}\ue001{page[match.end():]}"
        replacements.append(" | ".join(figures(new, line)))
    return re.sub("\ue000(\\d+)\ue001", lambda mark: replacements[int(mark[1])], page), missing


def rows_of(lines):
    return {(row["algorithm"], row["type"], row["case"], row["n"], row["lib"]): row["ms_median"]
            for row in csv.DictReader(lines)}


def self_test():
    times = rows_of(["algorithm,type,case,n,lib,ms_median", "A::B,i32,x,1,strata,0.01796", "A::B,i32,y,1,strata,1.2345",
                     "A::B,i32,y,1,cub,0.2"])
    page = "| a | 18.0 | 1,234 |\nb takes 200 us.\n"
    found = [figures(times, "A::B,i32,{x,y} | 1"), figures(times, "A::B,i32,y | 1@cub"),
             figures(times, "A::B,i32,x | 1 + A::B,i32,y | 1")]
    if found != [["18.0", "1,234"], ["200"], ["18.0", "1,234"]]:
        toolbox.fail(f"the self-test finds {found}")
    if not all(match_of(page, values) for values in found) or match_of(page, ["8.0"]) or match_of(page, ["1", "2"]):
        toolbox.fail("the self-test takes one figure for another")
    if figures(times, "A::B,i32,y | 1@times") != ["0.16"]:
        toolbox.fail(f"the self-test finds {figures(times, 'A::B,i32,y | 1@times')}")
    lines = ["A::B,i32,y | 1", "A::B,i32,y | 1@cub", "A::B,i32,x | 1 + A::B,i32,y | 1"]
    new = {key: value.replace("1", "2") for key, value in times.items()}
    if updated(page, lines, times, new) != ("| a | 28.0 | 2,234 |\nb takes 200 us.\n", lines[:1]):
        toolbox.fail(f"the self-test updates a page to {updated(page, lines, times, new)}")


def times_in(folder):
    times = {}
    for results in folder.glob("*.csv"):
        times.update(rows_of(results.read_text().splitlines()))
    return times


def lines_by_page():
    """{(page, folder in RESULTS): lines of the list}"""
    pages, key = {}, ()
    for line in LIST.read_text().replace(" +\n", " + ").splitlines():
        if line.startswith("["):
            name, _, folder = line[1:].partition("]")
            key = (name, folder.strip() or ".")
        elif line and not line.startswith("#"):
            pages.setdefault(key, []).append(line)
    return pages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    errors = []
    for (name, folder), lines in lines_by_page().items():
        path = toolbox.ROOT / name
        times = times_in(RESULTS / folder)
        if arguments.update:
            page, missing = updated(path.read_text(), lines, times_in(arguments.update / folder), times)
            path.write_text(page)
            errors += [f"{name}: nothing to replace for {line}" for line in missing]
            continue
        for line in lines:
            values = figures(times, line)
            if match_of(path.read_text(), values) is None:
                errors.append(f"{name}: not {' | '.join(values)}, which is {line}")
    if errors:
        toolbox.fail("\n".join(errors))


if __name__ == "__main__":
    main()

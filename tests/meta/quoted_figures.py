#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times that a page quotes from the results are those of the results: quoted_figures.txt says which these are.

Microseconds have three digits, and all digits from 1,000 on. Figures of one line stand side by side in one row of a
table; one figure alone may stand in a sentence, before `us`. `--self-test` looks for figures of a small table.
"""

import csv
import itertools
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
    """What should be quoted for `algorithm,type,case | counts`, or for several of these with ` + ` in between. A count
    is strata's, or another library's: `n@library`. A line that ends with ` +` goes on in the next one.
    """
    keys = []
    for cases, counts in (part.split(" | ") for part in line.split(" + ")):
        for case in choices(cases):
            for n, _, library in (count.partition("@") for count in counts.split()):
                keys.append((*case.split(",", 2), n, library or "strata"))
    missing = [",".join(key) for key in keys if key not in times]
    if missing:
        toolbox.fail("the results lack " + "; ".join(missing))
    return [written(times[key]) for key in keys]


def is_quoted(page, values):
    if len(values) > 1:
        return f"| {' | '.join(values)} |" in page
    return re.search(rf"(?<![\d.,]){re.escape(values[0])}( us\b| \|)", page) is not None


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
    if not all(is_quoted(page, values) for values in found) or is_quoted(page, ["8.0"]) or is_quoted(page, ["1", "2"]):
        toolbox.fail("the self-test takes one figure for another")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    times = {}
    for results in RESULTS.glob("*.csv"):
        times.update(rows_of(results.read_text().splitlines()))
    errors = []
    name, page = "", ""
    for line in LIST.read_text().replace(" +\n", " + ").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            page = (toolbox.ROOT / name).read_text()
        elif line and not line.startswith("#"):
            values = figures(times, line)
            if not is_quoted(page, values):
                errors.append(f"{name}: not {' | '.join(values)}, which is {line}")
    if errors:
        toolbox.fail("\n".join(errors))


if __name__ == "__main__":
    main()

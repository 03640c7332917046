#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reading tours of include/strata/README.md lead through files that exist, and stay short.

A tour is a heading `### Tour: <name>` with a table below it: in the first column a file in backticks, relative
to include/strata, in the second what is read there. Five tours have bounds, files and lines in all but those of
examples, and must exist. `--list` prints the sums, `--self-test` runs the rules on examples.
"""

import argparse
import re

import toolbox

GUIDE = toolbox.INCLUDE / "strata" / "README.md"
# What the name of a tour has as a word: (files, lines) at most.
BOUNDS = {
    "Sum": (9, 1600),
    "ExclusiveSum": (9, 1900),
    "SortPairs": (9, 1900),
    "DeviceSegmentedMergeSort": (12, 2400),
    "DeviceHashJoin": (14, 2710),
}


def tours_of(text):
    """{name: [(file, what is said of it)]}."""
    tours = {}
    parts = re.split(r"^### Tour: (.*)$", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2]):
        rows = []
        for line in re.split(r"^#", body, maxsplit=1, flags=re.MULTILINE)[0].splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            file = re.fullmatch(r"`([^`]+)`", cells[0]) if cells else None
            if file:
                rows.append((file.group(1), cells[1] if len(cells) > 1 else ""))
        tours[name.replace("`", "").strip()] = rows
    return tours


def bound_of(name):
    return next((bound for word, bound in BOUNDS.items() if re.search(rf"\b{word}\b", name)), None)


def findings(tours, lines_of):
    """What is wrong; `lines_of(file)` is None for a file that does not exist."""
    for word in BOUNDS:
        if sum(1 for name in tours if re.search(rf"\b{word}\b", name)) != 1:
            yield f"there is not one tour with {word} in its name"
    for name, rows in tours.items():
        if not rows:
            yield f"{name}: no table of files"
        files = [file for file, _ in rows]
        missing = [file for file in files if lines_of(file) is None]
        yield from (f"{name}: {file} does not exist" for file in missing)
        yield from (f"{name}: {file} is listed twice" for file in sorted(set(files)) if files.count(file) > 1)
        yield from (f"{name}: {file}: say in the second column what is read there" for file, said in rows
                    if not said)
        bound = bound_of(name)
        if bound is None or missing:
            continue
        lines = sum(lines_of(file) for file in files)
        if len(files) > bound[0] or lines > bound[1]:
            yield f"{name}: {len(files)} files / {lines:,} lines, at most {bound[0]} / {bound[1]:,}"


def lines_of_header(file):
    path = GUIDE.parent / file
    if not path.is_file():
        return None
    return re.sub(r"/// @code\n(///.*\n)*?/// @endcode\n", "", path.read_text()).count("\n")


def self_test():
    def guide(*tours):
        return "# Guide\n\n" + "\n".join(
            f"### Tour: `{name}`\n\nText with `a.cuh`.\n\n| file | what |\n|---|---|\n" +
            "".join(f"| `{file}` | {said} |\n" for file, said in rows) for name, rows in tours) + \
            "\n## Next\n| `z.cuh` | z |\n"
    whole = [("DeviceReduce::Sum", [("a.cuh", "the call"), ("b.cuh", "the rest")]),
             ("DeviceScan::ExclusiveSum", [("a.cuh", "x")]), ("DeviceRadixSort::SortPairs", [("a.cuh", "x")]),
             ("DeviceSegmentedMergeSort::SortKeys", [("a.cuh", "x")]), ("DeviceHashJoin::Inner", [("a.cuh", "x")])]
    lengths = {"a.cuh": 1000, "b.cuh": 600, "c.cuh": 1, "z.cuh": 9999}
    def changed(*rows):
        return [("DeviceReduce::Sum", list(rows)), *whole[1:]]
    for tours, expected in (
            (whole, []), (whole[1:], ["with Sum"]), ([], ["Sum", "ExclusiveSum", "SortPairs", "Merge", "Join"]),
            ([*whole, ("Sum of lanes", [("c.cuh", "x")])], ["not one tour with Sum"]),
            ([*whole, ("A join", [("z.cuh", "x")])], []),
            (changed(), ["no table"]), (changed(("d.cuh", "x")), ["does not exist"]),
            (changed(("c.cuh", "x"), ("c.cuh", "x")), ["twice"]), (changed(("c.cuh", "")), ["second column"]),
            (changed(("a.cuh", "x"), ("b.cuh", "x"), ("c.cuh", "x")), ["3 files / 1,601 lines, at most 9 / 1,600"])):
        found = list(findings(tours_of(guide(*tours)), lengths.get))
        if len(found) != len(expected) or any(want not in got for want, got in zip(expected, found)):
            toolbox.fail(f"{tours} gives {found}, not {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    tours = tours_of(GUIDE.read_text())
    for name, rows in tours.items() if arguments.list else ():
        lengths = [lines_of_header(file) or 0 for file, _ in rows]
        files, lines = bound_of(name) or ("-", 0)
        print(f"{name}: {len(rows)} of {files} files, {sum(lengths):,} of {lines:,} lines")
        for (file, _), length in zip(rows, lengths):
            print(f"{length:6} {file}")
    found = list(findings(tours, lines_of_header))
    if found:
        toolbox.fail("\n".join(["reading tours", *found]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table in include/strata/guides/support.md is made from support.txt, and the tests that it names exist.

Every class of the device layer has a row. A cell is `no`, `-` (does not apply), or names tests. Each test exists in a
source that calls the class. At least one test of each class runs on the host. Headers say which classes take a
FutureCount.

    support.py --write       writes the table
    support.py --self-test   finds mistakes in small tables
"""

import argparse
import re

import toolbox

LIST = toolbox.ROOT / "tests" / "meta" / "support.txt"
PAGE = toolbox.INCLUDE / "strata" / "guides" / "support.md"
TESTS = toolbox.ROOT / "tests"
COLUMNS = ["deterministic", "stable", "in place", "graph", "FutureCount", "operators and types", "several GPUs",
           "Metal"]
HEADINGS = ["class", "the same result in every run", "keeps the order of equal items", "in place",
            "captured in a graph", "`FutureCount`", "operators and types", "host back end", "several GPUs", "Metal"]
BEGIN, END = "<!-- tests/meta/support.py writes this table -->\n", "\n<!-- end of the table -->"
WITHOUT_TESTS = {"no", "-"}


def rows_of(text):
    """{class: {column: (cell, tests)}}"""
    rows, cells = {}, {}
    for line in re.sub(r"\n +", " ", text).splitlines():
        if line.startswith("["):
            cells = rows.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            column, _, rest = line.partition(": ")
            cell, _, tests = rest.partition(" = ")
            cells[column] = (cell, [test.strip() for test in tests.split(",") if test])
    return rows


def tests_in(text):
    """`suite.test` of each test in a source."""
    found = re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.MULTILINE)
    return {f"{suite}.{name}" for suite, name in found}


def cell_errors(name, column, cell, tests, sources):
    """What is wrong with a cell. `sources` has {source: text with its headers} for each test."""
    if cell in WITHOUT_TESTS:
        return [f"{name}, {column}: `{cell}` has tests"] if tests else []
    if not tests:
        return [f"{name}, {column}: no test shows `{cell}`"]
    errors = []
    called = cell.strip("`") if "Distributed" in cell else name
    for test in tests:
        if test not in sources:
            errors.append(f"{name}, {column}: there is no test {test}")
        elif not any(re.search(rf"\b(Tuned)?{called}\b", text) for text in sources[test].values()):
            errors.append(f"{name}, {column}: the source of {test} does not call {called}")
    return errors


def runs_on_the_host(cells, sources):
    """True if a source that is not only for GPUs tests the class."""
    return any("_gpu_test." not in source for _, tests in cells.values() for test in tests
               for source in sources.get(test, ()))


def errors_of(rows, headers, sources):
    """Errors of the table. `headers` has the text of each class's header."""
    errors = [f"{name} has no row" for name in headers if name not in rows]
    for name, cells in rows.items():
        if name not in headers:
            errors.append(f"no header has {name}")
            continue
        if list(cells) != COLUMNS:
            errors.append(f"{name} has the columns {list(cells)}")
            continue
        if not runs_on_the_host(cells, sources):
            errors.append(f"{name}: no test runs on the host")
        if ("FutureCount" in headers[name]) != (cells["FutureCount"][0] not in WITHOUT_TESTS):
            errors.append(f"{name}: the header says otherwise of FutureCount")
        for column, (cell, tests) in cells.items():
            errors += cell_errors(name, column, cell, tests, sources)
    return errors


def table(rows):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    host = HEADINGS.index("host back end") - 1
    for name, cells in sorted(rows.items()):
        row = [cells[column][0] for column in COLUMNS]
        row.insert(host, "yes")
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def headers_by_class():
    found = {}
    for path in sorted((toolbox.INCLUDE / "strata" / "device").glob("device_*.*")):
        text = path.read_text()
        if path.suffix in {".cuh", ".hpp"} and not toolbox.is_forward(text):
            name = "".join(word.capitalize() for word in path.stem.split("_"))
            found[name] = text
    return found


def with_headers(path):
    """The text of a source, with the headers of tests that it includes."""
    done, waiting, text = {path}, [path], ""
    while waiting:
        current = waiting.pop().read_text()
        text += current
        for other in re.findall(r'^#include "([^"]+)"', current, re.MULTILINE):
            for place in (TESTS / other, path.parent / other):
                if place.is_file() and place not in done:
                    done.add(place)
                    waiting.append(place)
    return text


def sources_of_tests():
    """{`suite.test`: {source: text with its headers}}"""
    found = {}
    # `*_test.c*` would also match bytecode of Python, which is no text.
    for path in sorted([*TESTS.rglob("*_test.cu"), *TESTS.rglob("*_test.cpp")]):
        text = with_headers(path)
        for test in tests_in(text):
            found.setdefault(test, {})[path.name] = text
    return found


def self_test():
    text = "\n".join(["[DeviceA]", *(f"{column}: no" for column in COLUMNS)])
    text = text.replace("stable: no", "stable: yes = a.b").replace("Metal: no", "Metal: -")
    sources = {"a.b": {"a_test.cu": "DeviceA::f();"}, "a.c": {"b_test.cu": "DeviceB::f();"},
               "a.d": {"c_gpu_test.cu": "DeviceA::f();"}}
    if tests_in("TEST(a, b) {\nTYPED_TEST(c, d) {\n") != {"a.b", "c.d"}:
        toolbox.fail("the self-test does not find tests")
    headers = {"DeviceA": ""}
    def errors(changed, heads=None):
        return errors_of(rows_of(changed), heads or headers, sources)
    if errors(text):
        toolbox.fail(f"a right table has the errors {errors(text)}")
    for changed, heads, expected in (
            (text.replace("a.b", "a.x"), None, "no test a.x"),
            (text.replace("a.b", "a.b,\n  a.y"), None, "no test a.y"),
            (text.replace("a.b", "a.c"), None, "does not call DeviceA"),
            (text.replace("a.b", "a.d"), None, "no test runs on the host"),
            (text.replace("in place: no", "in place: yes"), None, "no test shows `yes`"),
            (text.replace("in place: no", "in place: no = a.b"), None, "`no` has tests"),
            (text.replace("in place: no\n", ""), None, "has the columns"),
            (text, {"DeviceA": "", "DeviceB": ""}, "DeviceB has no row"),
            (text, {"DeviceA": "FutureCount"}, "says otherwise of FutureCount"),
            (text.replace("DeviceA", "DeviceC"), None, "no header has DeviceC")):
        if not any(expected in error for error in errors(changed, heads)):
            toolbox.fail(f"the self-test finds {errors(changed, heads)}, not '{expected}'")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    if options.self_test:
        self_test()
        return
    rows = rows_of(LIST.read_text())
    errors = errors_of(rows, headers_by_class(), sources_of_tests())
    if errors:
        toolbox.fail("\n".join(errors))
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    if not rest:
        toolbox.fail(f"{PAGE} has no place for the table")
    wanted = head + BEGIN + table(rows) + END + rest.partition(END)[2]
    if options.write:
        PAGE.write_text(wanted)
    elif page != wanted:
        toolbox.fail("guides/support.md is not what tests/meta/support.txt says: tests/meta/support.py --write")


if __name__ == "__main__":
    main()

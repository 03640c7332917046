#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reading tours of include/strata/README.md name all files that their calls walk through.

A tour is a heading `### Tour: <class>::<function>` with a table below it. The first column has a file in backticks,
relative to include/strata, and the second says what is read there. A paragraph `Passed through: ...` may name further
files, of which the call executes few lines. `### In all tours` has a table of the files that every call executes.

tours.cu makes the call of each tour. It is compiled for the host back end, with g++'s options for coverage, and run.
Each header above core/ that executes lines must be named. Each named file must execute lines. A file in a table may
also have no executable lines, such as tuning rows. Headers in core/ may be named or not.

`--list` prints what each call executes, in the order of first execution. Needs g++ and its gcov.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import tempfile

import toolbox

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = toolbox.INCLUDE / "strata"
GUIDE = LIBRARY / "README.md"
CALLS = HERE / "tours.cu"
# The most lines that a call may execute in a file that it only passes through.
MAX_PASSED_LINES = 10


class Tour:
    """The rows of a table, [(file, what is read there)], and the files that a call passes through."""

    def __init__(self, body):
        self.rows = []
        for line in body.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            file = re.fullmatch(r"`([^`]+)`", cells[0]) if cells else None
            if file:
                self.rows.append((file.group(1), cells[1] if len(cells) > 1 else ""))
        paragraphs = re.findall(r"^Passed through:.*?(?:\n\n|\Z)", body, flags=re.MULTILINE | re.DOTALL)
        self.passed = re.findall(r"`([^`]+\.(?:cuh|hpp))`", "".join(paragraphs))


def tours_of(text):
    """{class: Tour}, and a Tour with the files of all tours."""
    parts = re.split(r"^### (Tour: .*|In all tours)$", text, flags=re.MULTILINE)
    tours = {name.replace("Tour: ", "").replace("`", "").partition("::")[0]:
             Tour(re.split(r"^#", body, maxsplit=1, flags=re.MULTILINE)[0])
             for name, body in zip(parts[1::2], parts[2::2])}
    return tours, tours.pop("In all tours", Tour(""))


def calls_of(source):
    """The classes whose calls a source makes."""
    return sorted(set(re.findall(r"defined\(TOUR_(\w+)\)", source)))


class Tracer:
    """Compiles programs that record what they execute, in a folder."""

    def __init__(self, cxx, folder):
        # /usr/bin/x86_64-linux-gnu-gcov-12 is next to /usr/bin/x86_64-linux-gnu-g++-12.
        real = pathlib.Path(shutil.which(cxx) or cxx).resolve()
        gcov = real.with_name(re.sub(r"[cg]\+\+", "gcov", real.name))
        self.gcov = gcov if gcov.name != real.name and gcov.is_file() else "gcov"
        self.compile = [cxx, "-std=c++17", "-I", toolbox.INCLUDE]
        self.folder = pathlib.Path(folder)
        self.objects = []
        self.add_object(HERE / "first_calls.cpp")

    def add_object(self, source):
        target = self.folder / f"{source.stem}.o"
        toolbox.must_run([*self.compile, "-O1", "-c", source, "-o", target])
        self.objects.append(target)

    def trace(self, source, library, options=()):
        """{file: (executed lines, lines with code)} of files in the folder `library`, in the order of first
        execution."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        compiled, program, calls = folder / "traced.o", folder / "program", folder / "calls"
        toolbox.must_run([*self.compile, *options, "-O0", "--coverage", "-finstrument-functions", "-fno-pie", "-x",
                          "c++", "-c", source, "-o", compiled])
        toolbox.must_run([self.compile[0], "--coverage", "-no-pie", compiled, *self.objects, "-pthread", "-o", program])
        os.environ["FIRST_CALLS"] = str(calls)
        toolbox.must_run([program])
        report = toolbox.must_run([self.gcov, "--json-format", "--stdout", folder / "traced.gcda"])
        symbols = [line.split() for line in toolbox.must_run(["nm", program]).splitlines()]
        names = {int(symbol[0], 16): symbol[2] for symbol in symbols if len(symbol) == 3}
        rank = {names.get(int(address, 16)): number for number, address in enumerate(calls.read_text().split())}
        lines, first = {}, {}
        for part in (part for document in report.splitlines() for part in json.loads(document)["files"]):
            path = pathlib.Path(os.path.normpath(folder / part["file"]))
            if library not in path.parents:
                continue
            file = path.relative_to(library).as_posix()
            executed, of_all = lines.setdefault(file, (set(), set()))
            executed.update(line["line_number"] for line in part["lines"] if line["count"] > 0)
            of_all.update(line["line_number"] for line in part["lines"])
            ranks = [rank[function["name"]] for function in part["functions"] if function["name"] in rank]
            first[file] = min([first.get(file, len(rank)), *ranks])
        return {file: (len(lines[file][0]), len(lines[file][1])) for file in sorted(lines, key=first.get)}


def is_above_core(file):
    return not file.startswith(("core/", "simt/"))


def findings(tours, shared, calls, exists, walks):
    """Yields what is wrong. `shared` has the files of all tours, `walks` the result of Tracer.trace() for each
    class."""
    yield from (f"{name}: {CALLS.name} does not make this call" for name in sorted(set(tours) - set(calls)))
    yield from (f"{name}: {CALLS.name} makes this call, which has no tour" for name in sorted(set(calls) - set(tours)))
    for name, tour in tours.items():
        if not tour.rows:
            yield f"{name}: no table of files"
        rows = shared.rows + tour.rows
        files = [file for file, _ in rows] + tour.passed
        missing = [file for file in files if not exists(file)]
        yield from (f"{name}: {file} does not exist" for file in missing)
        yield from (f"{name}: {file} is listed twice" for file in sorted(set(files)) if files.count(file) > 1)
        yield from (f"{name}: {file}: say in the second column what is read there" for file, said in rows
                    if not said)
        walk = walks.get(name, {})
        for file, (executed, with_code) in walk.items():
            if executed > 0 and is_above_core(file) and file not in files:
                yield f"{name}: {file} is not listed, of which {executed} lines are executed"
            if executed == 0 and with_code > 0 and file in files:
                yield f"{name}: {file} is listed, and none of its {with_code} lines is executed"
            if executed > MAX_PASSED_LINES and file in tour.passed:
                yield f"{name}: {file} belongs into the table, {executed} of its lines are executed"
        yield from (f"{name}: {file} has nothing to execute, only a table of this tour may name it"
                    for file in [*tour.passed, *(file for file, _ in shared.rows)]
                    if name in walks and file not in walk and file not in missing)


def test_findings():
    def guide(*tours):
        return "# Guide\n\n### In all tours\n| file | what |\n| `s.hpp` | s |\n\n" + "\n".join(
            f"### Tour: `{name}::Call`\n\nText with `a.cuh`.\n\n| file | what |\n|---|---|\n" +
            "".join(f"| `{file}` | {said} |\n" for file, said in rows) + passed for name, rows, passed in tours) + \
            "\n## Next\n| `z.cuh` | z |\n"
    walks = {"Sum": {"s.hpp": (3, 3), "a.cuh": (20, 30), "core/c.hpp": (5, 5), "b.cuh": (10, 10), "d.cuh": (0, 8)},
             "Sort": {"a.cuh": (1, 1), "s.hpp": (2, 2)}}
    sort = ("Sort", [("a.cuh", "x")], "")
    def with_rows(*files, passed=""):
        return [("Sum", [(file, "x") for file in files], passed), sort]
    for tours, expected in (
            (with_rows("a.cuh", "b.cuh"), []), (with_rows("a.cuh", "b.cuh", "core/c.hpp"), []),
            (with_rows("a.cuh", passed="\nPassed through: `b.cuh`.\n"), []),
            (with_rows("a.cuh", passed="\nPassed through\n`b.cuh`.\n"), ["b.cuh is not listed, of which 10"]),
            (with_rows("a.cuh", "b.cuh", "rows.hpp"), []),
            (with_rows("b.cuh"), ["a.cuh is not listed, of which 20"]),
            (with_rows("a.cuh", "b.cuh", "d.cuh"), ["d.cuh is listed, and none of its 8"]),
            (with_rows("b.cuh", passed="\nPassed through:\n`a.cuh`.\n"), ["a.cuh belongs into the table"]),
            (with_rows("a.cuh", "b.cuh", passed="\nPassed through: `rows.hpp`.\n"), ["rows.hpp has nothing"]),
            (with_rows("a.cuh", "b.cuh", "b.cuh"), ["twice"]),
            (with_rows("a.cuh", "b.cuh", passed="\nPassed through: `b.cuh`.\n"), ["twice"]),
            (with_rows("a.cuh", "b.cuh", "e.cuh"), ["e.cuh does not exist"]),
            ([("Sum", [("a.cuh", ""), ("b.cuh", "x")], ""), sort], ["second column"]),
            (with_rows(), ["no table", "a.cuh is not", "b.cuh is not"]),
            ([sort], ["Sum: tours.cu makes this call, which has no tour"]),
            ([*with_rows("a.cuh", "b.cuh"), ("Scan", [("a.cuh", "x")], "")], ["Scan: tours.cu does not make"]),
            (with_rows("a.cuh", "b.cuh", "s.hpp"), ["s.hpp is listed twice"])):
        exists = {"a.cuh", "b.cuh", "core/c.hpp", "d.cuh", "rows.hpp", "s.hpp"}.__contains__
        found = list(findings(*tours_of(guide(*tours)), ["Sort", "Sum"], exists, walks))
        if len(found) != len(expected) or any(want not in got for want, got in zip(expected, found)):
            toolbox.fail(f"{tours} gives {found}, not {expected}")


def test_trace(cxx):
    """Traces a program whose executed lines are known."""
    files = {"call.cuh": "#include \"step.cuh\"\n#include \"other.cuh\"\n#include \"rows.hpp\"\n"
                         "inline int call(int n) {\n  return n > 1 ? step<int>(n) : other(rows); }\n",
             "step.cuh": "template <class T> T step(T n) {\n  if (n == 0)\n    n = 5;\n  return n; }\n",
             "other.cuh": "inline int other(int n) { return n; }\n", "rows.hpp": "constexpr int rows = 4;\n"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for file, text in files.items():
            (folder / file).write_text(text)
        source = folder / "main.cu"
        source.write_text("#include \"call.cuh\"\nint main() { return call(2) - 2; }\n")
        walk = Tracer(cxx, name).trace(source, folder)
    if list(walk.items()) != [("main.cu", (1, 1)), ("call.cuh", (2, 2)), ("step.cuh", (3, 4)), ("other.cuh", (0, 1))]:
        toolbox.fail(f"the walk of a small program is {walk}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--list", nargs="?", const="", metavar="CLASS", help="print the walk of this call, or of all")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        test_findings()
        test_trace(arguments.cxx)
        return
    tours, shared = tours_of(GUIDE.read_text())
    calls = calls_of(CALLS.read_text())
    chosen = [name for name in calls if arguments.list in (None, "", name)]
    walks = {}
    with tempfile.TemporaryDirectory() as folder:
        tracer = Tracer(arguments.cxx, folder)
        for source in sorted((LIBRARY / "simt/runtime").glob("*.cpp")):
            tracer.add_object(source)
        for name in chosen:
            walks[name] = tracer.trace(CALLS, LIBRARY, [f"-DTOUR_{name}"])
    if arguments.list is not None:
        for name, walk in walks.items():
            tour = tours.get(name, Tour(""))
            listed = {**{file: "in all tours" for file, _ in shared.rows}, **{file: "" for file, _ in tour.rows},
                      **{file: "passed through" for file in tour.passed}}
            print(f"{name}: {len(tour.rows)} files in the table, {len(shared.rows)} in all tours, {len(tour.passed)} "
                  "passed through")
            for file, (executed, with_code) in walk.items():
                if executed > 0 and is_above_core(file):
                    print(f"{executed:5} of {with_code:3} lines  {file:50} {listed.get(file, 'not listed')}".rstrip())
        return
    found = list(findings(tours, shared, calls, lambda file: (LIBRARY / file).is_file(), walks))
    if found:
        toolbox.fail("\n".join(["reading tours", *found]))


if __name__ == "__main__":
    main()

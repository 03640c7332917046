#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cmake/port_from_cub.py ports the sources of port_from_cub/, which use CUB as real projects do.

A line `// report: TEXT` says that the next line of code must be reported with this text. There may be no other reports.
Lines `// by hand: OLD => NEW` and `// by hand: #include <...>` are edits of the ported source. After them it must
compile with nvcc. The original source must compile too, with CUB and with the options in `// flags of CUB: FLAG`. Lines
`// not with: CUB 3.0` and `// not compiled` exempt a source from the second compilation, or from both.

The table must have every header of CUB that strata has under another name or not at all. --cub checks another CUB.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import toolbox

TOOL = toolbox.ROOT / "cmake" / "port_from_cub.py"
SOURCES = pathlib.Path(__file__).resolve().parent / "port_from_cub"
MARK = r"[ \t]*// (report|by hand): (.*)"

sys.path.insert(0, str(TOOL.parent))
import port_from_cub as tool  # noqa: E402


def expected_reports(text):
    """[(line, text)] of the reports that a source expects."""
    found, waiting = [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(MARK, line)
        if match and match.group(1) == "report":
            waiting.append(match.group(2))
        elif not match:
            found += [(number, each) for each in waiting]
            waiting = []
    return found


def edited(text):
    """The ported source after its edits by hand."""
    for mark, what in re.findall(rf"^{MARK}$", text, re.MULTILINE):
        old, arrow, new = what.partition(" => ")
        if mark == "by hand" and arrow:
            # An edit may span lines of the source.
            regex = r"\s+".join(re.escape(word) for word in old.split())
            code = re.sub(r"^[ \t]*//.*$", lambda comment: " " * len(comment.group(0)), text, flags=re.MULTILINE)
            match = re.search(regex, code)
            if not match:
                toolbox.fail(f"'{old}' is not there to be edited by hand")
            text = text[:match.start()] + new + text[match.end():]
        elif mark == "by hand":
            text = f"{what}\n#line 1\n{text}"
    return text


def run(*arguments):
    result = subprocess.run([sys.executable, TOOL, *arguments], text=True, capture_output=True)
    if result.stderr:
        toolbox.fail(f"port_from_cub.py {arguments}: {result.stderr}")
    return result.returncode, result.stdout


def check_source(path, folder, compiler):
    source = path.read_text()
    expected = expected_reports(source)
    copy = folder / path.name
    copy.write_text(source)
    status, output = run("--check", copy)
    if copy.read_text() != source or status != 1 or f"--- {copy}" not in output:
        toolbox.fail(f"{path.name}: --check changes the file, or does not say what would change")
    status, output = run(copy)
    reports = [(int(line), text) for line, text in re.findall(rf"^{re.escape(str(copy))}:(\d+): (.*)$", output,
                                                              re.MULTILINE)]
    if len(reports) != len(output.splitlines()) or status != (1 if reports else 0):
        toolbox.fail(f"{path.name}: exit status {status}, with the output\n{output}")
    is_right = len(reports) == len(expected) and all(
        line == at and text in what for (line, what), (at, text) in zip(reports, sorted(expected)))
    if not is_right:
        toolbox.fail(f"{path.name}: reported\n{output}but expected\n" + "\n".join(map(str, sorted(expected))))
    ported = copy.read_text()
    reported = {line for line, _ in reports}
    for number, line in enumerate(tool.blanked(ported).splitlines(), 1):
        if re.search(r"(?<!\w)cub(?=\s*::|/)|\bCUB_", line) and number not in reported:
            toolbox.fail(f"{path.name}:{number}: not ported, and not reported: {line}")
    run(copy)
    if copy.read_text() != ported:
        toolbox.fail(f"{path.name}: porting a second time changes it again")
    if compiler.is_nvcc and "\n// not compiled\n" not in source:
        command = [*compiler.front_end, "--extended-lambda"]
        if "\n// not with: CUB 3.0\n" not in source:
            flags = re.findall(r"^// flags of CUB: (.*)$", source, re.MULTILINE)
            toolbox.must_run([*command, *flags, path])
        copy.write_text(edited(ported))
        toolbox.must_run([*command, copy])


def check_headers(cub, table):
    """For each public header of CUB there is a row that says absent, or strata has its counterpart."""
    names = [path.relative_to(cub.parent).as_posix() for path in sorted(cub.glob("*.cuh"))]
    for layer in ("block", "device", "grid", "iterator", "thread", "warp"):
        names += [path.relative_to(cub.parent).as_posix() for path in sorted((cub / layer).glob("*.cuh"))]
    if len(names) < 40:
        toolbox.fail(f"{cub} has {len(names)} headers")
    for name in names:
        verdict, _ = table.headers.get(name, ("same", ""))
        target = toolbox.INCLUDE / (f"strata/{name[4:]}" if verdict == "same" else verdict.strip("`"))
        if verdict != "absent" and not target.is_file():
            toolbox.fail(f"<{name}> has no row in cub_names.txt, and no counterpart {target.name}")
        # A counterpart must also be found under CUB's name.
        forward = toolbox.INCLUDE / f"strata/{name[4:]}"
        if forward.is_file() != (verdict != "absent"):
            toolbox.fail(f"<{name}> is {verdict} in cub_names.txt, but include/strata/{name[4:]} says otherwise")


def cub_of(compiler, folder):
    """The folder of the toolkit's CUB."""
    unit = folder / "cub.cu"
    unit.write_text("#include <cub/version.cuh>\n")
    text = toolbox.must_run([*compiler.command, "-E", unit])
    return pathlib.Path(re.search(r'"([^"]*/cub)/version\.cuh"', text).group(1))


def self_test(table):
    for line, expected in (
            ("#include <cub/block/block_load.cuh>  // cub::X", "#include <strata/block/block_load.cuh>  // cub::X"),
            ('#include "cub/cub.cuh"', "#include <strata/strata.cuh>"),
            ("#  include <cub/util_ptx.cuh>", "#  include <strata/core/util_ptx.cuh>"),
            ("using cub::BlockReduce;", "using strata::BlockReduce;"),
            ("::cub::DeviceScan::InclusiveSum(a);", "::strata::DeviceScan::InclusiveSum(a);"),
            ("namespace c = ::cub; c::Sum x;", "namespace c = ::strata; c::Sum x;"),
            ("hipcub::BlockLoad<int, 1, 1> x; my::cubic y;", "hipcub::BlockLoad<int, 1, 1> x; my::cubic y;"),
            ('f("cub::Sum", \'"\', cub::Sum());', 'f("cub::Sum", \'"\', strata::Sum());'),
            ('R"x(cub::Sum)x"; cub::Sum();', 'R"x(cub::Sum)x"; strata::Sum();'),
            ("cub::PtxVersionUncached(v)", "strata::PtxVersion(v)"),
            ("cub::DeviceSpmv::CsrMV(a)", "cub::DeviceSpmv::CsrMV(a)"),
            ("cub::DeviceFor::Bulk(n, f)\r\n", "strata::DeviceFor::Bulk(n, f)\r\n"),
            ("cub::BLOCK_SCAN_RAKING", "strata::BLOCK_SCAN_RAKING")):
        found = tool.Port(line, table, tool.Declared(toolbox.INCLUDE / "strata")).text
        if found != expected:
            toolbox.fail(f"{line} becomes {found}")
    for name, (verdict, remark) in table.names.items():
        if verdict == "absent" and not table.remark_of(name, table.names):
            toolbox.fail(f"{name} is absent without advice")


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--cub", type=pathlib.Path, help="the folder cub of another CUB")
    arguments = parser.parse_args()
    compiler = toolbox.Compiler(arguments.cxx, arguments.nvcc)
    table = tool.Table(tool.TABLE.read_text())
    self_test(table)
    sources = sorted(SOURCES.glob("*.cu"))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for source in sources:
            check_source(source, folder, compiler)
        if arguments.cub:
            check_headers(arguments.cub, table)
        elif compiler.is_nvcc:
            check_headers(cub_of(compiler, folder), table)
    print(f"{len(sources)} sources ported")


if __name__ == "__main__":
    main()

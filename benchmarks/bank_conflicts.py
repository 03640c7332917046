#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared-memory bank conflicts: a picture of the layouts, and a table of the wavefronts that the compile-time model
predicts, and that the host back end and the hardware count, for each pattern.

    bank_conflicts.py --svg banks.svg
    bank_conflicts.py --host core_bank_conflicts_test_simt_check --markdown table.md
    ncu --csv --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum \\
        core_bank_conflicts_test_gpu > ncu.csv
    bank_conflicts.py --host ... --ncu ncu.csv --markdown table.md

For whole kernels, the profiler's wavefronts and the fewest possible:

    ncu --csv --metrics memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal \\
        shared_memory_benchmark --in-process --samples 1 --target-us 1 > kernels.csv
    bank_conflicts.py ... --kernels kernels.csv

Both programs are builds of tests/core/bank_conflicts_test.cu, one in check mode and one for the GPU. So they run the
same cases in the same order. The exit status is 1 if two counts of a case differ. Needs only Python 3.9.
"""

import argparse
import csv
import os
import re
import subprocess
import sys

METRIC = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
KERNEL = "store_and_load"
SPDX = ("<!-- SPDX-FileCopyrightText: 2026 The strata authors -->\n"
        "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n")

# ------------------------------------------------------------------------------------ the table


def host_cases(program):
    """(pattern, layout, bytes, instructions, ideal, model, counted loads) for each case."""
    output = subprocess.run([program], env={**os.environ, "STRATA_BANK_TABLE": "1"}, check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    cases = []
    for line in output.splitlines():
        if line.startswith("bank_case;"):
            _, pattern, layout, *numbers = line.split(";")
            cases.append((pattern, layout, *map(int, numbers)))
    if not cases:
        sys.exit(f"{program} printed no cases")
    if any(case[-1] < 0 for case in cases):
        sys.exit(f"{program} does not count wavefronts: use the test's build in check mode")
    return cases


def hardware_counts(path):
    with open(path, encoding="utf-8", newline="") as file:
        # The lines before the header are the program's own output.
        lines = [line for line in file if line.startswith('"')]
    return [int(float(row["Metric Value"].replace(",", ""))) for row in csv.DictReader(lines)
            if KERNEL in row["Kernel Name"] and row["Metric Name"] == METRIC]


def kernel_counts(paths):
    """{kernel: {metric: count}} of the first launch of each kernel that uses shared memory."""
    launches = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            lines = [line for line in file if line.startswith('"')]
        for row in csv.DictReader(lines):
            metrics = launches.setdefault((path, row["ID"], row["Kernel Name"]), {})
            metrics[row["Metric Name"]] = int(float(row["Metric Value"].replace(",", "")))
    kernels = {}
    for (_, _, name), metrics in launches.items():
        if metrics["memory_l1_wavefronts_shared"] > 0:
            kernels.setdefault(name, metrics)
    return kernels


def kernel_table(kernels):
    lines = ["", "# Wavefronts of whole kernels", "",
             "Loads and stores of shared memory on the device; `plain` layouts and CUB's exchange are "
             "there to compare.", "",
             "| kernel | fewest | needed | excess |", "|---|--:|--:|--:|"]
    for name, metrics in kernels.items():
        short = re.sub(r"\(.*$", "", name).replace("void ", "", 1)
        short = re.sub(r"\b(strata|detail|[a-z_]+_benchmark|gemm)::", "", short)
        needed = metrics["memory_l1_wavefronts_shared"]
        fewest = metrics["memory_l1_wavefronts_shared_ideal"]
        lines.append(f"| `{short}` | {fewest:,} | {needed:,} | {needed - fewest:,} |")
    return "\n".join(lines) + "\n"


def table(cases, hardware):
    lines = [SPDX, "# Wavefronts of shared-memory loads", "",
             "The wavefronts of one warp for all instructions of a pattern. Without conflicts, there are as many as "
             "\"fewest\" says.", "",
             "| element | pattern | layout | fewest | model | host back end | hardware |",
             "|--:|---|---|--:|--:|--:|--:|"]
    differing = 0
    for i, (pattern, layout, size, _, ideal, model, counted) in enumerate(cases):
        measured = hardware[i] if hardware else None
        differing += counted != model or (measured is not None and measured != model)
        lines.append(f"| {size} B | {pattern} | {layout} | {ideal} | {model} | {counted} | "
                     f"{'not measured' if measured is None else measured} |")
    return "\n".join(lines) + "\n", differing


# ------------------------------------------------------------------------------------ the picture

CELL, GAP, LEFT, TOP = 24, 44, 16, 64
ROWS = COLUMNS = 8
COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5"]
PANELS = [
    ("plain", "a column: 8 wavefronts", lambda row, column: row * 8 + column),
    ("padded", "a column: 1; a place unused per row", lambda row, column: row * 9 + column),
    ("swizzled", "a column: 1; nothing unused",
     lambda row, column: row * 8 + (column ^ row)),
]


def picture():
    """8 x 8 elements of 16 bytes, drawn eight in a row, because a wavefront has room for eight."""
    width = LEFT * 2 + len(PANELS) * COLUMNS * CELL + (len(PANELS) - 1) * GAP
    height = TOP + 9 * CELL + 58
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        "<!-- SPDX-FileCopyrightText: 2026 The strata authors -->",
        "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
        "<title>Where a matrix of 8 x 8 elements of 16 bytes lies in shared memory</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for panel, (name, verdict, position) in enumerate(PANELS):
        x0 = LEFT + panel * (COLUMNS * CELL + GAP)
        out.append(f'<text x="{x0}" y="22" font-size="14" font-weight="bold">{name}</text>')
        out.append(f'<text x="{x0}" y="38">{verdict}</text>')
        for bank in range(COLUMNS):
            out.append(f'<text x="{x0 + bank * CELL + CELL / 2}" y="{TOP - 6}" '
                       f'text-anchor="middle" font-size="8" fill="#666">{bank * 4}</text>')
        for row in range(ROWS):
            for column in range(COLUMNS):
                y, x = divmod(position(row, column), COLUMNS)
                first = column == 0
                out.append(
                    f'<rect x="{x0 + x * CELL + 1}" y="{TOP + y * CELL + 1}" width="{CELL - 2}" '
                    f'height="{CELL - 2}" rx="3" fill="{COLOURS[column]}" '
                    f'fill-opacity="{1 if first else 0.25}"/>')
                out.append(f'<text x="{x0 + x * CELL + CELL / 2}" y="{TOP + y * CELL + 15}" '
                           f'text-anchor="middle" font-size="8" '
                           f'fill="{"white" if first else "#444"}">{row},{column}</text>')
    out.append(f'<text x="{LEFT}" y="{height - 30}">Each cell is 16 bytes, four banks wide; above it, '
               'its first bank. Numbers: row, column.</text>')
    out.append(f'<text x="{LEFT}" y="{height - 14}">Eight lanes that read column 0 (full colour) are '
               'served together if no two of its cells lie below each other.</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", metavar="FILE", help="write the picture")
    parser.add_argument("--host", metavar="PROGRAM", help="the test's build in check mode")
    parser.add_argument("--ncu", metavar="CSV", help="the profiler's counts of the test's build for the GPU")
    parser.add_argument("--kernels", metavar="CSV", nargs="+", help="the profiler's counts of whole "
                        "kernels")
    parser.add_argument("--markdown", metavar="FILE", help="write the table")
    arguments = parser.parse_args()
    if arguments.svg:
        with open(arguments.svg, "w", encoding="utf-8") as file:
            file.write(picture())
    if not arguments.host:
        return 0
    cases = host_cases(arguments.host)
    hardware = hardware_counts(arguments.ncu) if arguments.ncu else []
    if hardware and len(hardware) != len(cases):
        sys.exit(f"{len(cases)} cases, but {len(hardware)} kernels in {arguments.ncu}")
    text, differing = table(cases, hardware)
    if arguments.kernels:
        text += kernel_table(kernel_counts(arguments.kernels))
    if arguments.markdown:
        with open(arguments.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")
    print(f"{len(cases)} cases, {differing} with counts that differ", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs benchmarks/tune.py, with its timing program and its variants, on the host back end.

The first run has no time for a search, so it ends with the present row. The second one continues it, and searches. The
record must not have a row that fails, except for rows that do not compile, which are no error of tune.py.

    tune_host.py --cxx g++
"""

import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

import toolbox

TUNE = toolbox.ROOT / "benchmarks" / "tune.py"
ROW = "pipeline"  # the first of scans that the host back end uses
# tune.py keeps ten seconds for the last comparison. What it begins before is measured, however long this takes.
SECONDS = (1, 20)

USE = """#include "{header}"
cudaError_t call(void* storage, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out) {{
  return strata::TunedDeviceScan<tuned_scan_hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}}
"""


def run(cxx, folder, seconds):
    """Runs tune.py. Returns its messages about progress, and the rows of its record."""
    command = [sys.executable, TUNE, "scan", "u32", "--host", "--compiler", cxx, "--jobs", 2, "--seconds", seconds,
               "--out", folder]
    status, output, messages = toolbox.run(command)
    if status != 0:
        toolbox.fail(f"exit status {status} of {' '.join(map(str, command))}\n{output}{messages}")
    xml.etree.ElementTree.parse(folder / f"{ROW}.svg")
    return messages, json.loads((folder / f"{ROW}.json").read_text())["variants"]


def main():
    arguments = toolbox.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "new")
        _, first = run(arguments.cxx, folder, SECONDS[0])
        messages, both = run(arguments.cxx, folder, SECONDS[1])
        use = USE.format(header=folder / f"{ROW}.hpp")
        command = [*toolbox.Compiler(arguments.cxx, warnings=True).front_end, "-x", "c++", "-"]
        status, _, errors = toolbox.run(command, use)
    if status != 0:
        toolbox.fail(f"the row does not compile\n{errors}")
    if not re.search(rf"^goes on from {len(first)} rows ", messages, re.MULTILINE):
        toolbox.fail(f"the second run does not go on\n{messages}")
    if both[:len(first)] != first:
        toolbox.fail(f"the second run has measured again\n{first}\n{both}")
    broken = [variant for variant in both if not variant.get("reason", "not built").startswith("not built")]
    if broken:
        toolbox.fail("\n".join(f"{variant['row']}: {variant['reason']}" for variant in broken))
    measured = [sum("ratios" in variant for variant in variants) for variants in (first, both)]
    if measured[0] != 1 or measured[1] < 3:
        toolbox.fail(f"{measured} rows are measured")


if __name__ == "__main__":
    main()

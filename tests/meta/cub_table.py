#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes include/strata/from_cub.md, the table of CUB's names and strata's.

A name that cub_calls/ calls with both libraries is "same", unless cub_names.txt says how it differs. That file also has
the names that strata lacks, and names of headers. cmake/port_from_cub.py reads the table.

Fails if the table on disk differs. `--write` writes it.
"""

import argparse
import pathlib
import re

import toolbox

FOLDER = pathlib.Path(__file__).resolve().parent
CALLS = FOLDER / "cub_calls"
NAMES = FOLDER / "cub_names.txt"
TABLE = toolbox.INCLUDE / "strata" / "from_cub.md"

# Layers of names whose prefix does not tell it.
LAYERS = {
    "thread": ("LowerBound", "MergePath", "MergePathSearch", "SerialMerge", "StableOddEvenSort", "UpperBound"),
    "utility": ("WarpMask",),
    "block": ("BFEDigitExtractor", "ShiftDigitExtractor"),
    "device": ("ScanTileState", "TilePrefixCallbackOp"),
}
PREFIXES = (("Device", "device"), ("Block", "block"), ("LoadDirect", "block"), ("StoreDirect", "block"),
            ("Warp", "warp"), ("Thread", "thread"))
# In cub_names.txt, a name that strata has under another name begins like this.
RENAMED = r"as (?:strata/)?[\w/.]+"
TITLES = {"device": "Device", "block": "Block", "warp": "Warp", "thread": "Thread", "iterator": "Iterators",
          "utility": "Utilities", "macro": "Macros"}

HEAD = """<!-- SPDX-FileCopyrightText: 2026 The strata authors -->
<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# From CUB to strata

<!-- Made by tests/meta/cub_table.py: change tests/meta/cub_names.txt, and run it with `--write`. -->

Change `cub::` to `strata::` and `#include <cub/...>` to `#include <strata/...>`: `<strata/strata.cuh>` takes the place
of `<cub/cub.cuh>` and has all of the library for one GPU, except `DeviceBatchedTopK` and `block/classic/`.
`cmake/port_from_cub.py FILE...` makes these changes by this table, and reports each line with a name that has no
counterpart.

A name is "same" in this table if `tests/meta/cub_calls/` calls it in one source with both libraries, and both give the
same bytes. The calls are compared with CUB 3.0.1, the CUB of CUDA 13.0. Calls that came with CUB 3.1 to 3.5 are
compared with CUB 3.5.

If a name is absent, the last column says what takes its place. If it says "as" and a name, see the row of that name.

Operators of libcu++ and iterators of Thrust may be passed, as with CUB. Enumerations, such as `BlockScanAlgorithm`,
have the same names and enumerators.

`strata/block/classic/` has textbook algorithms that CUB does not have. They are there to be read.

Headers have CUB's folders and names, except for these. Where strata's header has another name, there is also a header
with CUB's name that includes it.

@headers@
For all device calls:

- They are made on the host. Kernels cannot call them.
- A size query is arithmetic: it needs no device and never answers 0 bytes.
- Arguments for which CUB's behaviour is undefined (null pointers, arrays that overlap, too little storage) are refused
  with `cudaErrorInvalidValue`: see [README](README.md#arguments).
- Each call has a form without temporary storage.
- The last argument may be an environment, as from CUB 3.1 on: see [porting](guides/porting.md#environments).
- Items must be trivially copyable, or have a specialisation of `is_trivially_relocatable`.
- The functions of `cub::detail` and `cub::internal`, and the dispatch classes, are not public. Where a program gave a
  policy hub to a dispatch class of CUB, it now names the tuned class of the call, such as
  `strata::TunedDeviceScan<hub>`: see [Tuning](guides/tuning.md).
"""


def called_names():
    """The names of calls, in the order of the sources."""
    found = []
    for path in sorted(CALLS.glob("*.inl")):
        names = re.findall(r'"([A-Z]\w+(?:::\w+)?): [^"]+"', path.read_text())
        if not names:
            toolbox.fail(f"{path.name} has no names of calls")
        found += [name for name in dict.fromkeys(names) if name not in found]
    return found


def exceptions(text):
    """The lines of cub_names.txt as {name: (layer, verdict, remark)}. A verdict in backticks is strata's name."""
    found = {}
    layer = None
    for number, line in enumerate(text.splitlines(), 1):
        title = re.fullmatch(r"# ---- (\w+)", line)
        if title:
            layer = title.group(1)
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(rf"(different|absent|{RENAMED}) ([\w:/., ]*?\w)(?:: (.+))?", line)
        if not match or layer not in {*TITLES, "header"} or not (match.group(3) or layer == "header"):
            toolbox.fail(f"{NAMES.name}:{number}: {line}")
        verdict = re.sub(r"as (.+)", r"`\1`", match.group(1))
        for name in match.group(2).split(", "):
            if name in found:
                toolbox.fail(f"{NAMES.name}:{number}: {name} is there twice")
            found[name] = (layer, verdict, match.group(3) or "")
    return found


def layer_of(name):
    for layer, names in LAYERS.items():
        if name in names:
            return layer
    if name.endswith("Iterator"):
        return "iterator"
    return next((layer for prefix, layer in PREFIXES if name.startswith(prefix)), "utility")


def rows(called, others):
    """{layer: [(class, functions, verdict, remark)]} of everything but headers."""
    others = {name: other for name, other in others.items() if other[0] != "header"}
    for name, (_, verdict, _) in others.items():
        uses = [call for call in called if call == name or call.startswith(name + "::")]
        if verdict == "absent" and uses:
            toolbox.fail(f"{NAMES.name}: {name} is absent, but {uses[0]} is called")
        if verdict == "different" and name not in called and not uses and name != "NullType":
            toolbox.fail(f"{NAMES.name}: {name} is different, but not called")
    groups = {}
    for name in called:
        owner, _, function = name.partition("::")
        if not function:
            groups.setdefault(owner, {})
            continue
        verdict, remark = "same", ""
        if name in others:
            _, verdict, remark = others[name]
        groups.setdefault(owner, {}).setdefault((verdict, remark), []).append(function)
    result = {layer: [] for layer in TITLES}
    for owner, functions in groups.items():
        verdict, remark = others[owner][1:] if owner in others else ("same", "")
        layer = layer_of(owner)
        same = sorted(functions.pop(("same", ""), []))
        if same or not functions:
            result[layer].append((owner, same, verdict, remark))
        for (other, why), names in sorted(functions.items()):
            result[layer].append((owner, sorted(names), other, why))
    for name, (layer, verdict, remark) in others.items():
        owner, _, function = name.partition("::")
        if name not in called and owner not in groups or verdict not in ("same", "different"):
            result[layer].append((owner, [function] if function else [], verdict, remark))
    return {layer: sorted(all_rows) for layer, all_rows in result.items()}


def header_table(others):
    text = "| CUB | strata | |\n|---|---|---|\n"
    for name, (layer, verdict, remark) in others.items():
        if layer == "header":
            text += f"| `{name}` | {verdict} | {remark} |\n".replace("|  |", "| |")
    return text


def table():
    others = exceptions(NAMES.read_text())
    text = HEAD.replace("@headers@\n", header_table(others) + "\n")
    for layer, all_rows in rows(called_names(), others).items():
        text += f"\n## {TITLES[layer]}\n\n| CUB | | strata | |\n|---|---|---|---|\n"
        for owner, functions, verdict, remark in all_rows:
            listed = ", ".join(f"`{function}`" for function in functions)
            text += f"| `{owner}` | {listed} | {verdict} | {remark} |\n".replace("|  |", "| |")
    return text


def self_test():
    called = ["DeviceA::F", "DeviceA::G", "Log2"]
    others = exceptions("# ---- device\ndifferent DeviceA::G: faster\nabsent DeviceC: use A\n"
                        "as DeviceA DeviceD: older\n"
                        "# ---- header\nas strata/a.hpp cub/a.cuh, cub/b.cuh\nabsent cub/c.cuh: use A\n")
    found = rows(called, others)
    expected = [("DeviceA", ["F"], "same", ""), ("DeviceA", ["G"], "different", "faster"),
                ("DeviceC", [], "absent", "use A"), ("DeviceD", [], "`DeviceA`", "older")]
    if found["device"] != expected or found["utility"] != [("Log2", [], "same", "")]:
        toolbox.fail(f"the self-test finds {found}")
    headers = header_table(others).splitlines()[2:]
    if headers != [f"| `cub/{name}.cuh` | `strata/a.hpp` | |" for name in "ab"] + ["| `cub/c.cuh` | absent | use A |"]:
        toolbox.fail(f"the self-test finds the headers {headers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table")
    arguments = parser.parse_args()
    self_test()
    text = table()
    if arguments.write:
        TABLE.write_text(text)
    elif not TABLE.is_file() or TABLE.read_text() != text:
        toolbox.fail(f"{TABLE.relative_to(toolbox.ROOT)} is not what tests/meta/cub_table.py --write makes")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""device/device_arguments_test.cu has every public function of the classes in device/device_*.

One overload is enough, and one function of those whose names differ by the order: they check their arguments by the
same code. `--self-test` runs the rule on examples.
"""

import re
import sys

import toolbox

sys.path.insert(0, str(toolbox.ROOT / "cmake" / "docs"))
import declarations  # noqa: E402

TEST = toolbox.ROOT / "tests" / "device" / "device_arguments_test.cu"
EXEMPT = {
    "DeviceFor::Bulk": "has no arrays",
    "DeviceFor::ForEach": "ForEachN with a distance as count",
    "DeviceFor::ForEachCopy": "ForEachCopyN with a distance as count",
    "DeviceHashJoin::Left": "a kind of Inner",
    "DeviceHashJoin::Full": "a kind of Inner",
    "DeviceHashJoin::Anti": "a kind of Semi",
}


def without_order(name):
    """`Class::Function`, the same for all orders."""
    return re.sub(r"Descending$", "", re.sub(r"(?<=::)Stable", "", re.sub(r"(?<=::)(Arg)?Max", r"\1Min", name)))


def functions_of(text):
    """The public functions of a header's classes, as users name them."""
    for item in declarations.declarations_of(text)[0]:
        if item.kind == "class":
            owner = re.sub(r"^Tuned|On$", "", item.name)
            yield from (f"{owner}::{member.name}" for member in item.members if member.kind == "function")


def missing_functions(functions, test):
    found = {without_order(name) for name in re.findall(r"\b(Device\w+::\w+)[(<]", test)}
    return sorted(name for name in {without_order(name) for name in functions} if name not in found)


def self_test():
    header = "struct TunedDeviceThing {\n" + "".join(
        f"  static int {name}(int x);\n" for name in ("Max", "Min", "StableSort", "SortDescending", "Multi", "Copy")
    ) + " private:\n  static int inner(int x);\n};\n"
    test = "CALL(DeviceThing::Min(1)), CALL(DeviceThing::Sort(2)), CALL(DeviceThing::Multi<2>(x)), DeviceThing::Copy"
    missing = missing_functions(functions_of(header), test)
    if missing != ["DeviceThing::Copy"]:
        toolbox.fail(f"the self-test finds {missing}")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    headers = sorted((toolbox.INCLUDE / "strata" / "device").glob("device_*"))
    missing = missing_functions([name for path in headers for name in functions_of(path.read_text())],
                                TEST.read_text())
    wrong = [f"{name} is missing in {TEST.name}" for name in missing if name not in EXEMPT]
    wrong += [f"{name} is in {TEST.name}: take it out of EXEMPT" for name in EXEMPT if name not in missing]
    if wrong:
        toolbox.fail("\n".join(wrong))


if __name__ == "__main__":
    main()

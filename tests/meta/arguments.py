#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two tests have every public function of the classes in device/device_* and of JoinTable.

device/device_arguments_test.cu has one overload of each, and one function of those whose names differ by the order:
they check their arguments by the same code. device/device_execution_*_test.cu, which know the forms of a call (without
storage, on streams that are classes), have each name, and so has distributed/distributed_stream_classes_test.cu for
calls of ranks. `--self-test` runs the rules on examples.
"""

import re
import sys

import toolbox

sys.path.insert(0, str(toolbox.ROOT / "cmake" / "docs"))
import declarations  # noqa: E402

TESTS = toolbox.ROOT / "tests" / "device"
TEST = TESTS / "device_arguments_test.cu"
RANKS_TEST = toolbox.ROOT / "tests" / "distributed" / "distributed_stream_classes_test.cu"
EXEMPT = {
    "DeviceFor::Bulk": "has no arrays",
    "DeviceFor::ForEach": "ForEachN with a distance as count",
    "DeviceFor::ForEachCopy": "ForEachCopyN with a distance as count",
    "DeviceHashJoin::Left": "a kind of Inner",
    "DeviceHashJoin::Full": "a kind of Inner",
    "DeviceHashJoin::Anti": "a kind of Semi",
}

WITHOUT_FORMS = {
    "JoinTable::JoinTableOn": "the constructor",
    "JoinTable::MemoryBytes": "takes no stream",
    "JoinTable::Rows": "takes no stream",
    "JoinTable::Build": "has no storage: see the test of tables that are built on such streams",
    "JoinTable::Insert": "the same",
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


def functions_without_forms(functions, tests):
    """Those of which no test has all forms. `tests` name classes by `using strata::DeviceScan`, or as `strata::`."""
    found = set(re.findall(r"\bEXPECT_(?:ALL_FORMS|FORMS_OF_RANK)\w*\(\(?(?:strata::)?(\w+(?:::|\.)\w+)", tests))
    found = {name.replace("table.", "JoinTable::") for name in found}
    return sorted(name for name in set(functions) if name not in found)


def self_test():
    header = "struct TunedDeviceThing {\n" + "".join(
        f"  static int {name}(int x);\n" for name in ("Max", "Min", "StableSort", "SortDescending", "Multi", "Copy")
    ) + " private:\n  static int inner(int x);\n};\n"
    test = "CALL(DeviceThing::Min(1)), CALL(DeviceThing::Sort(2)), CALL(DeviceThing::Multi<2>(x)), DeviceThing::Copy"
    missing = missing_functions(functions_of(header), test)
    if missing != ["DeviceThing::Copy"]:
        toolbox.fail(f"the self-test finds {missing}")
    forms = ("EXPECT_ALL_FORMS(DeviceThing::Max, 1); EXPECT_ALL_FORMS(strata::DeviceThing::Min, 1);"
             "EXPECT_ALL_FORMS((strata::DeviceThing::Multi<2, 2>), 1); EXPECT_ALL_FORMS(DeviceThing::Copy, 2);"
             "DeviceThing::SortDescending(1)")
    missing = functions_without_forms(functions_of(header), forms)
    if missing != ["DeviceThing::SortDescending", "DeviceThing::StableSort"]:
        toolbox.fail(f"the self-test finds no forms of {missing}")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    device = toolbox.INCLUDE / "strata" / "device"
    functions = [name for path in sorted(device.glob("device_*")) for name in functions_of(path.read_text())]
    missing = missing_functions(functions, TEST.read_text())
    wrong = [f"{name} is missing in {TEST.name}" for name in missing if name not in EXEMPT]
    wrong += [f"{name} is in {TEST.name}: take it out of EXEMPT" for name in EXEMPT if name not in missing]
    distributed = sorted((toolbox.INCLUDE / "strata" / "distributed").glob("distributed_*"))
    for path in [device / "join" / "join_table.hpp", *distributed]:
        functions += functions_of(path.read_text())
    tests = "".join(path.read_text() for path in [*sorted(TESTS.glob("device_execution_*.cu")), RANKS_TEST])
    wrong += [f"{name} has no EXPECT_ALL_FORMS" for name in functions_without_forms(functions, tests)
              if name not in WITHOUT_FORMS]
    if wrong:
        toolbox.fail("\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public function of the classes in device/device_* and of JoinTable is called in device/device_calls.cuh.

Checks that list against the headers. The test compares all forms of each call: with storage, without storage, and on
streams that are classes. distributed/distributed_stream_classes_test.cu has the calls of ranks. `--self-test` runs the
rules on examples.
"""

import re
import sys

import toolbox

sys.path.insert(0, str(toolbox.ROOT / "cmake" / "docs"))
import declarations  # noqa: E402

CALLS = toolbox.ROOT / "tests" / "device" / "device_calls.cuh"
RANKS_TEST = toolbox.ROOT / "tests" / "distributed" / "distributed_stream_classes_test.cu"
EXEMPT = {
    "DeviceBatchedTopK::MaxKeys": "takes arrays of pointers: device_batched_top_k_test.cu has all its forms",
    "DeviceBatchedTopK::MinKeys": "takes arrays of pointers: device_batched_top_k_test.cu has all its forms",
    "DeviceBatchedTopK::MaxPairs": "takes arrays of pointers: device_batched_top_k_test.cu has all its forms",
    "DeviceBatchedTopK::MinPairs": "takes arrays of pointers: device_batched_top_k_test.cu has all its forms",
    "DistributedMemory::DistributedMemory": "the constructor",
    "DistributedMemory::~DistributedMemory": "the destructor",
    "DistributedMemory::Allocate": "takes no stream",
    "DistributedMemory::Release": "takes no stream",
    "DistributedMemory::Abort": "takes no stream",
    "DistributedMemory::data": "takes no stream",
    "DistributedMemory::size": "takes no stream",
    "DistributedMemory::is_shared": "takes no stream",
    "JoinTable::JoinTableOn": "the constructor",
    "JoinTable::MemoryBytes": "takes no stream",
    "JoinTable::Rows": "takes no stream",
    "JoinTable::Build": "has no storage: device_execution_joins_test.cu has tables that are built on such streams",
    "JoinTable::Insert": "the same",
}


def functions_of(text):
    """The public functions of a header's classes, with the class names that users write."""
    for item in declarations.declarations_of(text)[0]:
        if item.kind == "class":
            owner = re.sub(r"^Tuned|On$", "", item.name)
            yield from (f"{owner}::{member.name}" for member in item.members if member.kind == "function")


def missing_functions(functions, calls):
    """The functions without a call. Sources name classes by a using-declaration, or as `strata::`."""
    calls_of_classes = r"\b(?:STRATA_CALL|EXPECT_FORMS_OF_RANK\w*)\(\(?(?:strata::)?(\w+::\w+)"
    found = set(re.findall(calls_of_classes, calls))
    found |= {f"JoinTable::{name}" for name in re.findall(r"\bSTRATA_TABLE_CALL\([\w:]+, (\w+)", calls)}
    return sorted(set(functions) - found)


def self_test():
    header = "struct TunedDeviceThing {\n" + "".join(
        f"  static int {name}(int x);\n" for name in ("Max", "Min", "StableSort", "SortDescending", "Multi", "Copy")
    ) + " private:\n  static int inner(int x);\n};\n"
    calls = ("STRATA_CALL(DeviceThing::Max, 1), STRATA_CALL((DeviceThing::Multi<2, 2>), 1), "
             "EXPECT_FORMS_OF_RANK(strata::DeviceThing::Min, 1); STRATA_TABLE_CALL(JoinOrder::any, Inner, 2), "
             "STRATA_CALL(DeviceThing::Copy, 2), DeviceThing::SortDescending(1)")
    missing = missing_functions([*functions_of(header), "JoinTable::Inner", "JoinTable::Left"], calls)
    if missing != ["DeviceThing::SortDescending", "DeviceThing::StableSort", "JoinTable::Left"]:
        toolbox.fail(f"the self-test finds {missing}")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    include = toolbox.INCLUDE / "strata"
    headers = [*sorted((include / "device").glob("device_*")), include / "device" / "join" / "join_table.hpp",
               *sorted((include / "distributed").glob("distributed_*"))]
    functions = [name for path in headers for name in functions_of(path.read_text())]
    missing = missing_functions(functions, CALLS.read_text() + RANKS_TEST.read_text())
    wrong = [f"{name} is missing in {CALLS.name}, or in {RANKS_TEST.name}" for name in missing if name not in EXEMPT]
    wrong += [f"{name} is not missing: take it out of EXEMPT" for name in EXEMPT if name not in missing]
    if wrong:
        toolbox.fail("\n".join(wrong))


if __name__ == "__main__":
    main()

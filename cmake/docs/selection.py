# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which names of the headers are in the reference, and how it simplifies what readers need not know."""

# Layer, headers below include/strata, and their public names if only some are public.
PUBLIC = [
    ("distributed", "distributed/distributed_*.cuh", None),
    ("distributed", "distributed/join/capacity.hpp", None),
    ("device", "device/*.cuh", None),
    ("device", "device/*.hpp", None),
    ("device", "device/engine/execution.cuh", ["execution"]),
    ("device", "device/engine/future_count.cuh", ["FutureCount"]),
    ("device", "device/scan/initial_value.cuh", ["FutureValue"]),
    ("device", "device/top_k/segmented_arguments.cuh", ["SegmentsOfSize", "SegmentsByOffsets", "SegmentsByLengths",
      "ResultRows", "PaddedResultRows", "ResultsAtOffsets"]),
    ("device", "device/join/join_table.hpp", None),
    ("device", "device/group_by/aggregates.cuh", None),
    ("device", "device/group_by/group_keys.hpp", None),
    ("device", "device/join/common/join_hash.hpp", None),
    ("device", "device/join/common/join_options.hpp", None),
    ("device", "device/join/common/join_side.hpp", None),
    ("device", "device/join/common/strategy.hpp", ["JoinStrategy", "choose_join_strategy"]),
    ("device", "device/join/output/outputs.hpp", ["JoinColumn", "build_column", "probe_column", "JoinCountOutput",
      "JoinPairsOutput", "JoinColumnsOutput", "join_count", "join_pairs", "join_columns"]),
    ("block", "block/*.cuh", None),
    ("block", "block/classic/block_*.cuh", None),
    ("warp", "warp/*.cuh", None),
    ("thread", "thread/*.cuh", None),
    ("iterator", "iterator/*.cuh", None),
    ("core", "version.hpp", None),
    ("core", "core/bank_conflicts.hpp", None),
    ("core", "core/chained_policy.hpp", None),
    ("core", "core/launcher.cuh", None),
    ("core", "core/macros.hpp", None),
    ("core", "core/operators.hpp", None),
    ("core", "core/platform/cache_modifiers.cuh", None),
    ("core", "core/policy_hub.hpp", None),
    ("core", "core/radix_key.hpp", ["RadixFields", "RadixTraits", "Traits", "is_radix_key"]),
    ("core", "core/shared_layout.hpp", None),
    ("core", "core/types.hpp", None),
    ("core", "core/util_device.cuh", None),
    ("core", "core/util_ptx.cuh", None),
    ("host", "simt/engine.hpp", None),
]
LAYERS = {
    "distributed": "Distributed|functions of the host, each called by all ranks of a communicator",
    "device": "Device|functions of the host, each for all items of an input in device memory",
    "block": "Block|classes that all threads of a block use together",
    "warp": "Warp|classes that the lanes of a logical warp use together",
    "thread": "Thread|functions of one thread",
    "iterator": "Iterators|iterators that are no pointers, for all layers",
    "core": "Core|operators, types, layouts of shared memory, launches, macros",
    "host": "Host|the host SIMT back end: what a test or a debugging session asks it",
}
NAMESPACES = """/// @namespace strata
/// All of the library.
/// @namespace strata::simt
/// The host SIMT back end.
"""
# A class of all back ends, and the name that a program writes for it.
BACK_ENDS = {"DeviceHashJoinOn": "DeviceHashJoin", "JoinTableOn": "JoinTable"}


def name_of(item):
    """The name that a program writes, in the place of a class of all back ends or of all tunings too."""
    if item.kind == "class" and item.name.startswith("TunedDevice"):
        return item.name[len("Tuned"):]
    return BACK_ENDS.get(item.name, item.name)


# Macros with a comment that users do not call; and a macro whose comment stands before another macro.
OWN_MACROS = {"STRATA_CALL_WITHOUT_STORAGE", "STRATA_CALL_WITH_UNUSED_STORAGE"}
MACROS = {"STRATA_JOIN_BACKEND_CUDA": "STRATA_JOIN_BACKEND"}
# Classes of the library's own that public ones derive from: the header, and the class whose members these have.
INHERITED = {
    "block_radix_rank_base": ("block/specializations/block_radix_rank_base.cuh", "block_radix_rank_base"),
    "merge_sort_calls": ("warp/specializations/merge_sort_levels.cuh", "merge_sort_calls"),
    "random_access": ("iterator/specializations/random_access.hpp", "random_access"),
    "top_k_calls": ("warp/specializations/top_k_calls.cuh", "top_k_calls"),
    "traits_of_operation": ("core/operators.hpp", "associative_operator"),
}
# Parts of signatures as the compiler needs them, and as the reference shows them.
PLAIN = [
    (r"\bSTRATA_D\b", "__device__"),
    (r"\bSTRATA_HD\b", "__host__ __device__"),
    (r"^static (?:std::enable_if_t|detail::if_\w+)<.*>$", "static cudaError_t"),
    (r"\bdetail::not_deduced_t<(\w+)>", r"\1"),
    (r"\bdetail::join_promises<[\w:]*>", "unspecified"),
    (r"\bdetail::join_pairs_sink<\w+>", "unspecified"),
    (r"\bdetail::join_row_count\b", "unspecified"),
    (r"= detail::default_\w+<.*>\(\)", "= chosen"),
    (r"\bdetail::count64\b", "std::int64_t"),
    (r"\bdetail::stream_argument<(\w+)>", r"\1"),
    (r"\bdetail::join_stream<(\w+), Order>", r"\1"),
    (r"\bdetail::iterator_value_t<(\w+)>", r"typename std::iterator_traits<\1>::value_type"),
    (r"\bdetail::arrow_target<value_type>", "pointer"),
    (r"\btypename Backend::stream_type\b", "cudaStream_t"),
    (r"\bDeviceHashJoinOn\b", "DeviceHashJoin"),
    (r"\bJoinTableOn\b", "JoinTable"),
    (r"\bitems<N>\s*&\s*(\w+)", r"T (&\1)[N]"),
    (r"\bitems<(\w+)>\s*&\s*(\w+)", r"\1 (&\2)[ItemsPerThread]"),
    (r"\bitem_count\b", "items_per_thread"),
    (r"\[\[\w+\]\]\s*", ""),
]

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The rows from which all policies of join_policy_hub start. All but Policy900 adapt `merge` and `output` to their
/// architecture.
struct join_common_policy {
  // Not measured. Adapted from trial kernels on an H200 (2026-11, u32). In these trials at full occupancy, 2 probes in
  // flight with 256 threads sufficed, and more only took registers. This row asks for half of full occupancy, and has 4
  // probes in flight. Building is as fast with one compare-and-swap of a thread in flight as with several. All members
  // from fallback_threads on have their defaults.
  static constexpr join_table_tuning table{
      /*build_threads=*/256,
      /*probe_threads=*/256,
      /*probe_items=*/4,
      /*probe_blocks_per_multiprocessor=*/4,
  };
  // H200, 2026-11, ms: u32 2^24 x 2^24 with 15 rows of a thread 0.173, 2^27 x 2^27 1.22; u64 with 7 0.244, 1.78. 11 or
  // 15 rows of u64 spill. If sides are of equal length, about half of a thread's rows are probe rows: 8 and 4, whole
  // groups of 4 searches. All members from log2_all_split_lanes on have their defaults.
  static constexpr join_merge_tuning merge{
      /*threads=*/256,
      /*narrow_items=*/15,
      /*wide_items=*/7,
      /*blocks_per_multiprocessor=*/4,
      /*log2_split_lanes=*/3,
  };
  // H200, 2026-11, unique keys, pairs of rows, ms of whole joins: 2^20 x 2^20 of u32 0.037, 1M x 10M 0.115, u64 0.126.
  // Other numbers were not measured.
  static constexpr join_direct_address_tuning direct_address{
      /*build_threads=*/256,
      /*probe_threads=*/512,
      /*probe_items=*/8,
  };
  // Not measured. Adapted from partition: its blocks count rows with as many loads of a thread in flight.
  static constexpr join_key_set_tuning key_set{/*build_items=*/8};
  // H200, 2026-11-27, 0.03 of the probe rows match, us of whole joins: 2^19 x 2^22 of u32 70.9, of u64 79.3. Other
  // numbers were not measured.
  static constexpr join_filter_tuning filter{
      /*threads=*/256,
      /*narrow_items=*/16,
      /*items=*/8,
      /*wide_items=*/4,
  };
  // Not measured. Adapted from table: the kernels that build a table have as many threads.
  static constexpr join_clear_tuning clear{
      /*threads=*/256,
      /*words=*/4,
      /*blocks_per_multiprocessor=*/8,
  };
  /// With fewer build rows a join is partitioned only if an option says so.
  static constexpr std::uint64_t least_partitioned_rows = 1 << 13;

  // H200, 2026-11, u32, unique build keys, ms of whole joins in the order of the probe rows: 1M x 10M 0.233, with 512
  // threads of the selection 0.236, with 3 blocks of them 0.237; 2^24 x 2^24 0.552, 0.571, 0.572. Other numbers were
  // not measured.
  static constexpr join_output_tuning output{
      /*group_threads=*/128,
      /*chunk_rows=*/4096,
      /*partner_items=*/4,
      /*select_threads=*/1024,
      /*select_blocks_per_multiprocessor=*/2,
      /*select_rows=*/8192,
      /*write_threads=*/512,
      /*write_blocks_per_multiprocessor=*/2,
  };

  // H200, 2026-11, unique u32, ms: tiles of 12 / 16 / 20 / 24 K rows 1M x 10M 0.147 / 0.155 / 0.157 /
  // 0.156, 2^24 x 2^24 0.431 / 0.426 / 0.422 / 0.418, 2^24 x 2^27 1.95 / 1.93 / 1.83 / 1.79. Small
  // tiles write short runs of rows; large ones are few, and blocks wait for one that has a tile more.
  // Tiles of the first of two passes 2^27 x 2^27 4.03 / 4.12 / 4.17 / 4.13. Joins by blocks of 640 /
  // 768 / 1024 threads 2^24 x 2^24 0.430 / 0.426 / 0.441. Registers hold 23 and 15 rows of a thread.
  // All members from min_deferred_rows on have their defaults.
  static constexpr join_partition_tuning partition_with(int blocks_per_multiprocessor, int items_of_only_pass = 23) {
    return {
        /*partition_threads=*/1024,
        /*items_of_pass=*/{items_of_only_pass, 12, 12},
        /*wide_items_of_pass=*/{15, 12, 8},
        /*join_threads=*/768,
        /*join_items=*/4,
        /*join_blocks_per_multiprocessor=*/blocks_per_multiprocessor,
        /*large_join_threads=*/1024,
        /*partition_rows=*/16384,
        /*wide_partition_rows=*/8192,
        /*min_bits=*/8,
        /*one_pass_bits=*/10,
        /*short_tile_bits=*/8,
    };
  }
};

namespace detail {

/// Returns the row, with fewer join threads if a multiprocessor does not have enough threads for all its blocks.
constexpr join_partition_tuning with_fitting_threads(join_partition_tuning row, int architecture) {
  const int threads = detail::limits_of(architecture).threads / row.join_blocks_per_multiprocessor;
  if (row.join_threads > threads) row.join_threads = threads;
  return row;
}
/// Returns the row with as many blocks as an architecture holds.
constexpr join_merge_tuning with_fitting_blocks(join_merge_tuning row, int architecture) {
  // A tile has 8 bytes for each row, and less than 1 KiB besides.
  const int tile_bytes = row.threads * row.narrow_items * 8 + 1024;
  row.blocks_per_multiprocessor =
      detail::limits_of(architecture).blocks_within(row.blocks_per_multiprocessor, row.threads, tile_bytes);
  return row;
}
constexpr join_output_tuning with_fitting_blocks(join_output_tuning row, int architecture) {
  row.select_blocks_per_multiprocessor =
      detail::limits_of(architecture).blocks_within(row.select_blocks_per_multiprocessor, row.select_threads, 0);
  return row;
}

}  // namespace detail

/// The rows of DeviceHashJoin.
struct join_policy_hub {
  // Not measured. Derived from Policy900. A multiprocessor has 1024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, join_common_policy {
    static constexpr join_partition_tuning partition = partition_with(1);
    static constexpr join_merge_tuning merge = detail::with_fitting_blocks(join_common_policy::merge, 750);
    static constexpr join_output_tuning output = detail::with_fitting_blocks(join_common_policy::output, 750);
  };
  // Not measured. Derived from Policy900. Tiles of passes fit a block, beside 20 KiB of counters and the other shared
  // memory of the kernels. As many blocks merge or select as a multiprocessor holds. Tables cannot be smaller, because
  // storage depends on them. If tables do not fit, the table in global memory does the whole join.
  template <int Architecture>
  struct rows : join_common_policy {
    static constexpr join_partition_tuning with_fitting_tiles(join_partition_tuning row) {
      const int bytes = (detail::limits_of(Architecture).shared_bytes_of_block - (20 << 10)) / row.partition_threads;
      for (int& items : row.items_of_pass) items = detail::least(items, bytes / 8);
      for (int& items : row.wide_items_of_pass) items = detail::least(items, bytes / 12);
      return row;
    }
    static constexpr join_partition_tuning partition = with_fitting_tiles(partition_with(2));
    static constexpr join_merge_tuning merge = detail::with_fitting_blocks(join_common_policy::merge, Architecture);
    static constexpr join_output_tuning output = detail::with_fitting_blocks(join_common_policy::output, Architecture);
  };
  struct Policy800 : rows<800>, ChainedPolicy<800, Policy800, Policy750> {};
  struct Policy860 : rows<860>, ChainedPolicy<860, Policy860, Policy800> {};
  struct Policy900 : ChainedPolicy<900, Policy900, Policy860>, join_common_policy {
    static constexpr join_partition_tuning partition = partition_with(2);
  };
  // Not measured. Derived from Policy900, with the threads and blocks that fit. With 23 rows of a thread, 74 bytes
  // would be spilled.
  template <int Architecture>
  struct rows_1000 : join_common_policy {
    static constexpr join_partition_tuning partition =
        detail::with_fitting_threads(partition_with(2, 20), Architecture);
    static constexpr join_merge_tuning merge = detail::with_fitting_blocks(join_common_policy::merge, Architecture);
    static constexpr join_output_tuning output = detail::with_fitting_blocks(join_common_policy::output, Architecture);
  };
  struct Policy1000 : rows_1000<1000>, ChainedPolicy<1000, Policy1000, Policy900> {};
  struct Policy1070 : rows_1000<1070>, ChainedPolicy<1070, Policy1070, Policy1000> {};
  struct Policy1100 : rows_1000<1100>, ChainedPolicy<1100, Policy1100, Policy1070> {};
  struct Policy1200 : rows<1200>, ChainedPolicy<1200, Policy1200, Policy1100> {};
  using MaxPolicy = Policy1200;
};

namespace detail {

template <class Policy>
using join_rows = std::void_t<
    if_rows<join_table_tuning, decltype(Policy::table)>, if_rows<join_merge_tuning, decltype(Policy::merge)>,
    if_rows<join_partition_tuning, decltype(Policy::partition)>,
    if_rows<join_direct_address_tuning, decltype(Policy::direct_address)>,
    if_rows<join_key_set_tuning, decltype(Policy::key_set)>, if_rows<join_output_tuning, decltype(Policy::output)>,
    if_rows<join_filter_tuning, decltype(Policy::filter)>, if_rows<join_clear_tuning, decltype(Policy::clear)>,
    if_rows<std::uint64_t, decltype(Policy::least_partitioned_rows)>>;

/// The newest policy of a call's hub.
template <class PolicyHub>
struct join_policy {
  static_assert(hub_has_rows<join_rows, PolicyHub>,
                "DeviceHashJoin, JoinTable: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy, take members from join_common_policy or derive from it, and have the members table "
                "(join_table_tuning), merge (join_merge_tuning), partition (join_partition_tuning), direct_address "
                "(join_direct_address_tuning), key_set (join_key_set_tuning), output (join_output_tuning), filter "
                "(join_filter_tuning), clear (join_clear_tuning) and least_partitioned_rows (std::uint64_t)");
  using newest = typename hub_or<join_rows, PolicyHub, join_policy_hub>::MaxPolicy;
  static_assert(detail::are_whole_warps(newest::table.build_threads, newest::table.probe_threads,
                                        newest::table.scan_threads, newest::partition.join_threads,
                                        newest::partition.large_join_threads, newest::merge.split_threads,
                                        newest::direct_address.build_threads, newest::direct_address.probe_threads,
                                        newest::output.group_threads, newest::output.select_threads,
                                        newest::output.write_threads, newest::filter.threads, newest::clear.threads),
                "join tuning: all numbers of threads must be multiples of 32, at most 1024");
  static_assert(newest::output.select_rows % 32 == 0 && newest::output.select_rows < 1 << 16,
                "join_output_tuning::select_rows must be a multiple of 32, less than 65,536");
};

/// True if two policies of a chain need the same temporary storage. It depends on the partitions, on the number of
/// build rows from which joins have partitions, and on the tiles of merges, selections and sorts of lists.
template <class A, class B>
constexpr bool join_policies_need_same_storage(std::size_t key_bytes) {
  return A::partition.partition_rows == B::partition.partition_rows &&
         A::partition.wide_partition_rows == B::partition.wide_partition_rows &&
         A::partition.min_bits == B::partition.min_bits && A::partition.one_pass_bits == B::partition.one_pass_bits &&
         A::least_partitioned_rows == B::least_partitioned_rows &&
         A::merge.threads * A::merge.items(key_bytes) == B::merge.threads * B::merge.items(key_bytes) &&
         A::output.select_rows == B::output.select_rows && A::table.sort_rows == B::table.sort_rows &&
         A::table.max_sort_blocks == B::table.max_sort_blocks;
}

/// Calls `call(Policy{})` with the policy of a chain for the device, see ChainedPolicy.
template <class Call>
struct join_policy_call {
  const Call& call;

  template <class Policy>
  auto Invoke() const {
    return call(Policy{});
  }
};
template <class MaxPolicy, class Call>
auto invoke_join_policy(int device_ptx_version, const Call& call) {
  const join_policy_call<Call> functor{call};
  return MaxPolicy::Invoke(device_ptx_version, functor);
}

}  // namespace detail
STRATA_NAMESPACE_END

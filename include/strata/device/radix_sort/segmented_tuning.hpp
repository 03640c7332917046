// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// A sort of segments. A segment of up to 32 items is sorted by a warp. One of up to block_threads *
/// items_per_thread items is a tile, sorted by a block in registers and shared memory. A longer one is sorted by a
/// block in passes over such tiles. A long one (see long_segment_limits) is sorted by many blocks, in passes over the
/// tiles of radix_pass_tuning, after a histogram of all digits.
struct segmented_radix_sort_tuning {
  int block_threads;
  /// Items of a thread in the smaller tile, which sorts the segments that fit it.
  int few_items_per_thread;
  int items_per_thread;
  /// Registers must allow this many blocks.
  int blocks_per_multiprocessor;
  /// The shared memory that a block may have.
  int most_shared_bytes;
};

/// The rows of DeviceSegmentedRadixSort. `Value` is NullType for sorts of keys.
template <class Key, class Value>
struct segmented_radix_sort_policy_hub {
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr int value_bytes = std::is_same_v<Value, NullType> ? 0 : static_cast<int>(sizeof(Value));
  static constexpr int widest = detail::most(key_bytes, value_bytes);

  // Items of a thread if `bytes` of shared memory hold its keys and later, in the same place, its values.
  static constexpr int items_within(int bytes, int max) {
    const int items = bytes / widest;
    return items < 1 ? 1 : detail::least(items, max);
  }

  // The counters of 16-byte keys leave less shared memory for a tile. Pairs leave fewer registers.
  static constexpr int tile_bytes = key_bytes > 8 ? 32 : value_bytes > 0 ? 48 : 64;
  static constexpr int max_items = value_bytes > 0 ? 12 : 16;

  // Long segments take the rows of a whole array. There are three exceptions: pairs of 4-byte keys and values in
  // rows_900, Policy750, and the histogram of Policy1000.
  using whole_array = radix_sort_policy_hub<Key, Value>;

  // DeviceSegmentedSort sorts long segments by digits if this is true, otherwise it merges them. DeviceSegmentedSort
  // sizes temporary storage by the smallest tile of a pass in any policy. The tile of the whole array's Policy750 is
  // much smaller than the others, and would make the storage larger on all devices. So Policy750 takes the tile of 8.6.
  static constexpr bool are_small = key_bytes <= 4 && value_bytes <= 8;

  // Not measured. Adapted from rows_900, with one block and the shared memory of 7.5.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr segmented_radix_sort_tuning segmented{
        /*block_threads*/ 256, /*few_items_per_thread*/ items_within(8, 2),
        /*items_per_thread*/ items_within(tile_bytes, max_items), /*blocks_per_multiprocessor*/ 1,
        /*most_shared_bytes*/ 64 << 10};
    static constexpr radix_histogram_tuning histogram = whole_array::Policy750::histogram;
    static constexpr radix_pass_tuning pass =
        are_small ? whole_array::template rows<860>::pass : whole_array::Policy750::pass;
  };
  struct rows_900 {
    // Not measured. Adapted from the limits of 9.0, not from another row: as many blocks as registers allow almost
    // without spills.
    static constexpr segmented_radix_sort_tuning segmented{
        /*block_threads*/ 256, /*few_items_per_thread*/ items_within(8, 2),
        /*items_per_thread*/ items_within(tile_bytes, max_items),
        /*blocks_per_multiprocessor*/ value_bytes > 0 ? 2 : 3, /*most_shared_bytes*/ 227 << 10};
    // H200, 2026-11-24, CUDA 13.0, one segment of 2^27 u32 keys: 2,510 us; pairs 3,840. With the tiles of a whole array
    // of such pairs, 2^20 pairs in few segments take 7 to 17 % longer, and 2^24 pairs in many segments 2 to 3 % less.
    static constexpr radix_histogram_tuning histogram = whole_array::Policy900::histogram;
    static constexpr radix_pass_tuning pass =
        key_bytes == 4 && value_bytes == 4
            ? radix_pass_tuning{/*block_threads*/ 384, /*items_per_thread*/ 34, /*blocks_per_multiprocessor*/ 2}
            : whole_array::Policy900::pass;
  };
  // Not measured. Derived from rows_900, with as many blocks as fit. Beside its tile, a block has 64 bytes for each
  // thread, 2 KiB for each pass, and 4.5 KiB that do not depend on either.
  template <int Architecture>
  struct rows {
    static constexpr segmented_radix_sort_tuning of_900 = rows_900::segmented;
    static constexpr detail::architecture_limits limits = detail::limits_of(Architecture);
    static constexpr int block_bytes =
        of_900.block_threads * (64 + of_900.items_per_thread * widest) + (key_bytes << 11) + (9 << 9);
    static constexpr segmented_radix_sort_tuning segmented{
        of_900.block_threads, of_900.few_items_per_thread, of_900.items_per_thread,
        limits.blocks_within(of_900.blocks_per_multiprocessor, of_900.block_threads, block_bytes),
        limits.shared_bytes_of_block};
    using whole_array_rows = typename whole_array::template rows<Architecture>;
    static constexpr radix_histogram_tuning histogram = whole_array_rows::histogram;
    static constexpr radix_pass_tuning pass = whole_array_rows::pass;
  };
  struct Policy800 : rows<800>, ChainedPolicy<800, Policy800, Policy750> {};
  struct Policy860 : rows<860>, ChainedPolicy<860, Policy860, Policy800> {};
  struct Policy900 : rows_900, ChainedPolicy<900, Policy900, Policy860> {};
  // Not measured. Derived from rows_900. Three blocks would spill 436 bytes; blocks of 1,024 threads that count digits
  // would spill 248.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy900> {
    static constexpr segmented_radix_sort_tuning segmented{
        rows_900::segmented.block_threads, rows_900::segmented.few_items_per_thread,
        rows_900::segmented.items_per_thread, /*blocks_per_multiprocessor*/ 2, rows_900::segmented.most_shared_bytes};
    static constexpr radix_histogram_tuning histogram{/*block_threads*/ 512, rows_900::histogram.shared_bytes};
    static constexpr radix_pass_tuning pass = rows_900::pass;
  };
  struct Policy1200 : rows<1200>, ChainedPolicy<1200, Policy1200, Policy1000> {};
  using MaxPolicy = Policy1200;
};

namespace detail {

/// The two tilings of a policy, as tunings of AgentRadixBlock.
template <class Policy>
struct small_tile_block {
  static constexpr radix_block_tuning value{Policy::segmented.block_threads, Policy::segmented.few_items_per_thread};
};
template <class Policy>
struct whole_tile_block {
  static constexpr radix_block_tuning value{Policy::segmented.block_threads, Policy::segmented.items_per_thread};
};

}  // namespace detail
STRATA_NAMESPACE_END

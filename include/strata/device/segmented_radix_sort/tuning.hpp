// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// How a sort of segments is cut. A segment of up to 32 items is left to a warp; one of up to
/// block_threads * items_per_thread, in registers and shared memory, to a block; a longer one to a
/// block too, in tiles of so many items.
struct segmented_radix_sort_tuning {
  int block_threads;
  /// Of a segment for which that is enough.
  int few_items_per_thread;
  int items_per_thread;
  /// What registers must allow.
  int blocks_per_multiprocessor;
  /// What a block may have of shared memory.
  int most_shared_bytes;
};

namespace detail {

template <class Key, class Value>
struct segmented_radix_sort_policy_hub {
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr int value_bytes =
      std::is_same_v<Value, NullType> ? 0 : static_cast<int>(sizeof(Value));
  static constexpr int widest = key_bytes > value_bytes ? key_bytes : value_bytes;

  // Items of a thread, whose keys and values pass through `bytes` of shared memory each.
  static constexpr int items_within(int bytes, int most) {
    const int items = bytes / widest;
    return items < 1 ? 1 : items > most ? most : items;
  }

  // The counters of 16-byte keys leave less room for a tile, and pairs fewer registers.
  static constexpr int tile_bytes = key_bytes > 8 ? 32 : value_bytes > 0 ? 48 : 64;
  static constexpr int most_items = value_bytes > 0 ? 12 : 16;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr segmented_radix_sort_tuning segmented{
        256, items_within(8, 2), items_within(tile_bytes, most_items), 1, 64 << 10};
  };
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    static constexpr segmented_radix_sort_tuning segmented{
        256, items_within(8, 2), items_within(tile_bytes, most_items),
        value_bytes > 0 ? 2 : 3, 227 << 10};
  };
  using MaxPolicy = Policy900;
};

/// What AgentRadixBlock is told of a policy.
template <class Policy>
struct few_items_block {
  static constexpr radix_block_tuning value{Policy::segmented.block_threads,
                                            Policy::segmented.few_items_per_thread};
};
template <class Policy>
struct whole_tile_block {
  static constexpr radix_block_tuning value{Policy::segmented.block_threads,
                                            Policy::segmented.items_per_thread};
};

}  // namespace detail
STRATA_NAMESPACE_END

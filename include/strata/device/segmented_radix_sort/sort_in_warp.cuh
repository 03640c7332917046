// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/workspace.cuh>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By all lanes of a warp: sorts up to 32 items from input to output, which may be the same array.
/// An item's place is the number of items that come before it: each lane compares its own with all.
template <bool HasValues, class Key, class Value, class Digits>
STRATA_D void sort_in_warp(const radix_places<const Key*, Key>& keys,
                           const radix_places<const Value*, Value>& values, int num_items,
                           const radix_bit_range& range, const Digits& digits) {
  constexpr int word_bits = 32;
  constexpr int words = ceiling_divide(Digits::key_bits, word_bits);
  const int lane = static_cast<int>(platform::lane_id());
  const bool is_there = lane < num_items;
  Key key;
  std::conditional_t<HasValues, Value, NullType> value;
  unsigned order[words];  // the most significant word last
  if (is_there) {
    key = keys.input[lane];
    if constexpr (HasValues) value = values.input[lane];
  }
  STRATA_UNROLL
  for (int w = 0; w < words; ++w) {
    const int begin = range.begin_bit + w * word_bits;
    const int left = range.end_bit - begin;
    order[w] =
        is_there && left > 0 ? digits(key, begin, left < word_bits ? left : word_bits) : 0;
  }

  int place = 0;
  for (int i = 0; i < num_items; ++i) {
    bool is_before = i < lane;  // if all words are equal
    STRATA_UNROLL
    for (int w = 0; w < words; ++w) {
      const unsigned other = __shfl_sync(full_warp_mask, order[w], i);
      is_before = other < order[w] || (other == order[w] && is_before);
    }
    place += is_before ? 1 : 0;
  }
  __syncwarp();  // All have read.
  if (is_there) {
    keys.output[place] = key;
    if constexpr (HasValues) values.output[place] = value;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

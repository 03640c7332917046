// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// How a rank sorts its own items, and the comparator that has the same order.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether key `a` comes before key `b` in a radix sort.
template <class Key, bool IsDescending, class Decomposer>
struct radix_less {
  radix_digits<Key, IsDescending, Decomposer> digits;
  int begin_bit;
  int end_bit;

  radix_less(const Decomposer& decomposer, int begin, int end) : digits{decomposer}, begin_bit(begin), end_bit(end) {}

  STRATA_HD bool operator()(const Key& a, const Key& b) const {
    for (int end = end_bit; end > begin_bit;) {
      const int bits = detail::least(end - begin_bit, 32);
      end -= bits;
      const unsigned digit_a = digits(a, end, bits), digit_b = digits(b, end, bits);
      if (digit_a != digit_b) return digit_a < digit_b;
    }
    return false;
  }
};

/// Keys that are one number: one comparison.
template <class Key, bool IsDescending>
struct radix_less<Key, IsDescending, identity_decomposer> {
  using word = typename RadixTraits<Key>::word;
  word mask;

  /// Bits that keys do not have are refused before the comparator is used.
  radix_less(const identity_decomposer&, int begin, int end) : mask(0) {
    constexpr int bits = RadixTraits<Key>::bits;
    if (begin < 0 || end > bits || begin >= end) return;
    const word ones = static_cast<word>(~word{0});
    mask = static_cast<word>(static_cast<word>(ones >> (bits - (end - begin))) << begin);
  }

  STRATA_HD bool operator()(const Key& a, const Key& b) const {
    const word word_a = static_cast<word>(RadixTraits<Key>::ordered(a) & mask);
    const word word_b = static_cast<word>(RadixTraits<Key>::ordered(b) & mask);
    return IsDescending ? word_b < word_a : word_a < word_b;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// All ranks of a call must have the same `agreement`.
template <class Compare>
struct local_merge_sort {
  Compare compare;

  std::int64_t agreement() const { return 0; }

  template <class KeysIn, class ValuesIn, class Key, class Value>
  cudaError_t operator()(void* d_temp_storage, std::size_t& temp_storage_bytes, const KeysIn& keys_in,
                         const ValuesIn& values_in, Key* keys_out, Value* values_out, std::int64_t num_items,
                         cudaStream_t stream) const {
    if constexpr (std::is_same_v<Value, NullType>) {
      static_cast<void>(values_in);
      static_cast<void>(values_out);
      return DeviceMergeSort::SortKeysCopy(d_temp_storage, temp_storage_bytes, keys_in, keys_out, num_items, compare,
                                           stream);
    } else {
      return DeviceMergeSort::SortPairsCopy(d_temp_storage, temp_storage_bytes, keys_in, values_in, keys_out,
                                            values_out, num_items, compare, stream);
    }
  }
};

template <bool IsDescending, class Decomposer>
struct local_radix_sort {
  Decomposer decomposer;
  int begin_bit;
  int end_bit;

  std::int64_t agreement() const { return (static_cast<std::int64_t>(end_bit) << 32) + begin_bit; }

  template <class KeysIn, class ValuesIn, class Key, class Value>
  cudaError_t operator()(void* d_temp_storage, std::size_t& temp_storage_bytes, const KeysIn& keys_in,
                         const ValuesIn& values_in, Key* keys_out, Value* values_out, std::int64_t num_items,
                         cudaStream_t stream) const {
    if constexpr (std::is_same_v<Value, NullType>) {
      static_cast<void>(values_in);
      static_cast<void>(values_out);
      return detail::sort_keys<IsDescending>(d_temp_storage, temp_storage_bytes, keys_in, keys_out, num_items,
                                             decomposer, begin_bit, end_bit, stream);
    } else {
      return detail::sort_pairs<IsDescending>(d_temp_storage, temp_storage_bytes, keys_in, keys_out, values_in,
                                              values_out, num_items, decomposer, begin_bit, end_bit, stream);
    }
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/distributed/sort/dispatch.cuh>
#include <strata/distributed/sort/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The calls of sorts over ranks: how a rank sorts its own items, and the comparator that has the same order.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if key `a` comes before key `b` in a radix sort.
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

/// Compares keys that are single numbers, by one comparison.
template <class Key, bool IsDescending>
struct radix_less<Key, IsDescending, identity_decomposer> {
  using word = typename RadixTraits<Key>::word;
  word mask;

  /// A call with bits that the keys do not have is refused before it uses the comparator.
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

/// Sorts the items of one rank by a comparator. `agreement()` is a number that must be equal on all ranks of a call.
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

  // A negative number must not be shifted: other ranks get it, too.
  std::int64_t agreement() const { return end_bit * (std::int64_t{1} << 32) + begin_bit; }

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

/// Makes a call of DistributedMergeSort. `Policy` may be replaced to override the tuning.
template <class Policy = distributed_sort_policy, class KeysIn, class ValuesIn, class Key, class Value, class Compare>
cudaError_t distributed_merge_sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn d_keys_in,
                                   ValuesIn d_values_in, std::int64_t num_items, Key* d_keys_out, Value* d_values_out,
                                   std::int64_t capacity, std::int64_t* num_out, Compare compare, ncclComm_t comm,
                                   cudaStream_t stream) {
  if constexpr (compare_requirements<Compare, Key>::are_met) {
    using Arguments = distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>;
    const Arguments arguments{d_keys_in, d_values_in, num_items, {d_keys_out, d_values_out}, capacity, num_out};
    return DispatchDistributedSort<Arguments, local_merge_sort<Compare>, Compare, Policy>::Dispatch(
        d_temp_storage, temp_storage_bytes, arguments, {compare}, compare, comm, stream);
  }
  return cudaErrorInvalidValue;
}

template <bool IsDescending, class Policy = distributed_sort_policy, class KeysIn, class ValuesIn, class Key,
          class Value, class Decomposer>
cudaError_t distributed_radix_sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn d_keys_in,
                                   ValuesIn d_values_in, std::int64_t num_items, Key* d_keys_out, Value* d_values_out,
                                   std::int64_t capacity, std::int64_t* num_out, Decomposer decomposer, int begin_bit,
                                   int end_bit, ncclComm_t comm, cudaStream_t stream) {
  using Arguments = distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>;
  using Compare = radix_less<Key, IsDescending, Decomposer>;
  const Arguments arguments{d_keys_in, d_values_in, num_items, {d_keys_out, d_values_out}, capacity, num_out};
  return DispatchDistributedSort<Arguments, local_radix_sort<IsDescending, Decomposer>, Compare, Policy>::Dispatch(
      d_temp_storage, temp_storage_bytes, arguments, {decomposer, begin_bit, end_bit},
      Compare(decomposer, begin_bit, end_bit), comm, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

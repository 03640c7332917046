// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/stream_argument.hpp>
#include <strata/iterator/specializations/random_access.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// Keys with a decomposer, for DeviceSegmentedTopK, which selects by the codes of keys and writes the keys.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `Decomposer` returns fields of the items of `Iterator`. It tells overloads with a decomposer from overloads
/// that have a stream in the same position. In a call with temporary storage, the first argument is a pointer to it, so
/// `Iterator` is then the type of this pointer.
template <class Decomposer, class Iterator>
constexpr bool decomposes_items_of() {
  constexpr bool is_storage = std::is_null_pointer_v<Iterator> || std::is_void_v<std::remove_pointer_t<Iterator>>;
  if constexpr (!is_storage && !std::is_pointer_v<Decomposer> && !std::is_integral_v<Decomposer> &&
                !says_where<cudaStream_t, Decomposer>) {
    return std::is_invocable_v<Decomposer, iterator_value_t<Iterator>&>;
  } else {
    return false;
  }
}
template <class Decomposer, class Iterator>
using if_decomposes = std::enable_if_t<detail::decomposes_items_of<Decomposer, Iterator>(), cudaError_t>;

/// The fields of a key as one unsigned integer: their ordered words side by side, the first field in the highest bits.
template <class Key, class Decomposer>
struct top_k_field_code {
  using Digits = radix_digits<Key, false, Decomposer>;
  static constexpr int bits = Digits::key_bits;
  static constexpr int max_bits = STRATA_HAS_INT128 ? 128 : 64;
  static constexpr bool are_met = bits <= max_bits;
  static_assert(are_met,
                "DeviceSegmentedTopK: the fields that a decomposer returns must have at most 128 bits together (64 "
                "without 128-bit integers). Return only the most significant ones, or sort by DeviceRadixSort");
  using Code = typename unsigned_of_bytes<!are_met || bits <= 8 ? 1
                                          : bits <= 16          ? 2
                                          : bits <= 32          ? 4
                                          : bits <= 64          ? 8
                                                                : 16>::type;

  Digits digits;

  STRATA_HD Code operator()(const Key& key) const {
    Code code = 0;
    if constexpr (are_met) {
      constexpr int most = 32;  // bits of a digit
      for (int begin = 0; begin < bits; begin += most) {
        const unsigned digit = digits(key, begin, detail::least(bits - begin, most));
        code = static_cast<Code>(code | static_cast<Code>(static_cast<Code>(digit) << begin));
      }
    }
    return code;
  }
};

/// An iterator over keys with a decomposer: its items are the codes of keys. With `WritesKeys`, a result is a key,
/// otherwise the code of a key.
template <class KeyIterator, class Decomposer, bool WritesKeys = true>
class top_k_fields_iterator
    : public random_access<top_k_fields_iterator<KeyIterator, Decomposer, WritesKeys>, KeyIterator, std::ptrdiff_t> {
  using base = random_access<top_k_fields_iterator, KeyIterator, std::ptrdiff_t>;

 public:
  using Key = iterator_value_t<KeyIterator>;
  using value_type = typename top_k_field_code<Key, Decomposer>::Code;
  using reference = value_type;
  using pointer = value_type*;

  STRATA_HD top_k_fields_iterator(KeyIterator keys, Decomposer decomposer) : base(keys), code_of_{{decomposer}} {}

  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return code_of_(static_cast<Key>(this->position_[n]));
  }
  STRATA_HD reference operator*() const { return (*this)[std::ptrdiff_t{0}]; }

  STRATA_HD const KeyIterator& keys() const { return this->position_; }
  top_k_fields_iterator<KeyIterator, Decomposer, false> codes() const {
    return {this->position_, code_of_.digits.decomposer};
  }

 private:
  top_k_field_code<Key, Decomposer> code_of_;
};

/// What is selected from `KeyIterator`: the type of results, and the iterator that reads codes instead of keys.
template <class KeyIterator>
struct top_k_result_of {
  static constexpr bool has_fields = false;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = KeyIterator;
  static Codes codes(const KeyIterator& keys) { return keys; }
};
template <class KeyIterator, class Decomposer>
struct top_k_result_of<top_k_fields_iterator<KeyIterator, Decomposer, true>> {
  static constexpr bool has_fields = true;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = top_k_fields_iterator<KeyIterator, Decomposer, false>;
  static Codes codes(const top_k_fields_iterator<KeyIterator, Decomposer, true>& keys) { return keys.codes(); }
};

}  // namespace detail
STRATA_NAMESPACE_END

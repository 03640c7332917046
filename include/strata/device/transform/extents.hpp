// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

/// \file
/// Extents and layout mappings, as an mdspan has them. They are recognised by their members, so no library that has
/// them is included. From the index of an item, this file computes its index in each dimension.

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class T, class = void>
inline constexpr bool is_extents = false;
template <class T>
inline constexpr bool is_extents<
    T, std::void_t<decltype(T::rank() + std::declval<const T&>().extent(std::size_t{})), typename T::index_type>> =
    std::is_integral_v<typename T::index_type>;

template <class T, class = void>
inline constexpr bool has_stride = false;
template <class T>
inline constexpr bool has_stride<T, std::void_t<decltype(std::declval<const T&>().stride(std::size_t{}))>> = true;
template <class T>
constexpr bool has_stride_of_each_index() {
  if constexpr (is_extents<typename T::extents_type>) {
    return has_stride<T> || T::extents_type::rank() == 0;
  } else {
    return false;
  }
}

template <class T, class = void>
inline constexpr bool is_layout_mapping = false;
template <class T>
inline constexpr bool
    is_layout_mapping<T, std::void_t<decltype(std::declval<const T&>().extents()), typename T::extents_type>> =
        detail::has_stride_of_each_index<T>();

/// True if a layout mapping has strides. One without the function is_strided() has them.
template <class Mapping, class = void>
struct mapping_strides {
  static bool exist(const Mapping&) { return true; }
};
template <class Mapping>
struct mapping_strides<Mapping, std::void_t<decltype(std::declval<const Mapping&>().is_strided())>> {
  static bool exist(const Mapping& mapping) { return mapping.is_strided(); }
};

/// Divides numbers below half of the range of `Word` by a number that the host knows.
///
///     n / d = n * multiplier >> N + shift      N = 31 or 63, 2^shift >= d, multiplier = 2^(N + shift) / d, rounded up
///
/// T. Granlund, P. L. Montgomery: Division by Invariant Integers using Multiplication, 1994.
template <class Word>
class known_divisor {
  static constexpr int bits = std::numeric_limits<Word>::digits - 1;

 public:
  known_divisor() = default;
  explicit known_divisor(Word divisor) : divisor_(divisor) {
    while (shift_ < bits && Word{1} << shift_ < divisor) ++shift_;
    Word quotient = 1, rest = static_cast<Word>((Word{1} << shift_) - divisor);
    for (int bit = 0; bit < bits; ++bit) {
      rest = static_cast<Word>(rest + rest);
      quotient = static_cast<Word>(quotient + quotient + (rest >= divisor ? 1 : 0));
      if (rest >= divisor) rest = static_cast<Word>(rest - divisor);
    }
    multiplier_ = static_cast<Word>(quotient + (rest != 0 ? 1 : 0));
  }

  STRATA_D Word quotient(Word n) const {
    if constexpr (sizeof(Word) == 4) {
      return static_cast<Word>(std::uint64_t{n} * multiplier_ >> (bits + shift_));
    } else {
      return shift_ == 0 ? n : static_cast<Word>(__umul64hi(n, multiplier_) >> (shift_ - 1));
    }
  }
  STRATA_D Word divisor() const { return divisor_; }

 private:
  Word divisor_ = 1;
  Word multiplier_ = 0;
  int shift_ = 0;
};

/// Extents of `Rank` dimensions as the host reads them.
template <int Rank>
struct extent_values {
  std::uint64_t extent[static_cast<std::size_t>(Rank > 0 ? Rank : 1)];
  std::uint64_t size;  // their product

  /// False if an extent is negative, or if the product is larger than `Index` can represent or larger than 2^63 - 1.
  template <class Index, class Extents>
  bool read(const Extents& extents) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    size = 1;
    bool is_empty = false, is_valid = true;
    for (int r = 0; r < Rank; ++r) {
      const Index value = extents.extent(static_cast<std::size_t>(r));
      extent[r] = static_cast<std::uint64_t>(value);
      is_valid = is_valid && extent[r] <= most;
      is_empty = is_empty || extent[r] == 0;
    }
    for (int r = 0; r < Rank && is_valid && !is_empty; ++r) {
      is_valid = extent[r] <= detail::least(most, most_signed) / size;
      size *= extent[r];
    }
    if (is_empty) size = 0;
    return is_valid;
  }

  /// True if the mapping has strides, and these are the strides of an array without gaps in which the first index
  /// changes fastest (`is_left`), or the last one.
  template <class Mapping>
  bool has_strides_of(const Mapping& mapping, bool is_left) const {
    if (!mapping_strides<Mapping>::exist(mapping)) return false;
    std::uint64_t stride = 1;
    if constexpr (Rank > 0) {
      for (int i = 0; i < Rank; ++i) {
        const int r = is_left ? i : Rank - 1 - i;
        if (static_cast<std::uint64_t>(mapping.stride(static_cast<std::size_t>(r))) != stride) return false;
        stride *= extent[r];
      }
    }
    return true;
  }
};

/// Calls an operator with the index of an item, and with its index in each dimension.
template <class Index, class Word, int Rank, bool IsLeft, class Op>
class call_with_indices {
  static constexpr auto rank = static_cast<std::size_t>(Rank);
  static constexpr std::size_t divisions = rank > 1 ? rank - 1 : 1;

 public:
  call_with_indices(const extent_values<Rank>& values, const Op& op) : op_(op) {
    for (int i = 0; i + 1 < Rank; ++i) fast_[i] = known_divisor<Word>(static_cast<Word>(values.extent[dimension(i)]));
  }

  STRATA_D void operator()(Word number) {
    Index indices[rank > 0 ? rank : 1];
    Word left = number;
    STRATA_UNROLL
    for (int i = 0; i + 1 < Rank; ++i) {
      const Word quotient = fast_[i].quotient(left);
      indices[dimension(i)] = static_cast<Index>(left - quotient * fast_[i].divisor());
      left = quotient;
    }
    if constexpr (Rank > 0) indices[dimension(Rank - 1)] = static_cast<Index>(left);
    call(number, indices, std::make_index_sequence<rank>{});
  }

 private:
  /// Returns dimension i in the order in which indices change, the fastest first.
  STRATA_HD static constexpr int dimension(int i) { return IsLeft ? i : Rank - 1 - i; }

  template <std::size_t... Dimension>
  STRATA_D void call(Word number, const Index* indices, std::index_sequence<Dimension...>) {
    static_cast<void>(indices);
    op_(static_cast<Index>(number), indices[Dimension]...);
  }

  known_divisor<Word> fast_[divisions];
  Op op_;
};

}  // namespace detail
STRATA_NAMESPACE_END

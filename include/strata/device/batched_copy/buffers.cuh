// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/aligned_range.hpp>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/arguments/arrays.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The buffers of a batched copy, each as units that a lane copies in one step.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The three arrays of a batched copy.
template <class InputIt, class OutputIt, class SizeIt>
struct batch {
  InputIt inputs;
  OutputIt outputs;
  SizeIt sizes;

  static_assert(std::is_integral_v<iterator_value_t<SizeIt>>, "batched copies: sizes must be integers");

  /// Negative sizes count as 0.
  STRATA_D unsigned long long size(std::size_t index) const {
    const auto size = detail::item_at(sizes, index);
    return size > 0 ? static_cast<unsigned long long>(size) : 0;
  }
};

/// Where a unit is read and written.
struct copy_addresses {
  std::uintptr_t in;
  std::uintptr_t out;
};

/// `Bytes` bytes between their load and their store. They are stored at a multiple of `Bytes`, and lie at one too in the
/// source, unless `IsShifted`: then they are 16 bytes, and parts of two neighbouring vectors.
template <int Bytes, bool IsShifted>
class bytes_on_their_way {
 public:
  template <class Buffers>
  STRATA_D void load(const Buffers&, const copy_addresses& from, unsigned long long number) {
    out_ = from.out + number * Bytes;
    const std::uintptr_t in = from.in + number * Bytes;
    const unsigned shift = IsShifted ? static_cast<unsigned>(in % Bytes) : 0;
    const auto* const aligned = reinterpret_cast<const unsigned char*>(in - shift);
    bytes_.load(aligned);
    if constexpr (IsShifted) {
      item_vector<unsigned char, Bytes> next{};
      if (shift != 0) next.load(aligned + Bytes);
      take_from(shift, next.bits);
    }
  }
  template <class Buffers>
  STRATA_D void store(const Buffers&) const { bytes_.store_global(reinterpret_cast<unsigned char*>(out_)); }

 private:
  // The 16 bytes that begin `shift` bytes behind those of `bytes_`, which `next` follows.
  STRATA_D void take_from(unsigned shift, const uint4& next) {
    uint4& bits = bytes_.bits;
    unsigned word[8] = {bits.x, bits.y, bits.z, bits.w, next.x, next.y, next.z, next.w};
    STRATA_UNROLL
    for (int i = 0; i < 6; ++i) word[i] = (shift & 8) != 0 ? word[i + 2] : word[i];
    STRATA_UNROLL
    for (int i = 0; i < 5; ++i) word[i] = (shift & 4) != 0 ? word[i + 1] : word[i];
    const unsigned bit = shift % 4 * 8;
    bits = {__funnelshift_r(word[0], word[1], bit), __funnelshift_r(word[1], word[2], bit),
            __funnelshift_r(word[2], word[3], bit), __funnelshift_r(word[3], word[4], bit)};
  }

  std::uintptr_t out_;
  item_vector<unsigned char, Bytes> bytes_;
};

/// Buffers of bytes. Destinations are cut at 16-byte boundaries, so that units are stored by aligned accesses:
///
///     bytes     0 .. head | head .. head + 16 units | .. head + 16 units + tail
///               edge      | body                    | edge
///
/// A unit of the body is read by one or two aligned accesses of 16 bytes, whatever the alignment of the source. They
/// must not leave the source: where they would, the edges take another 16 bytes. Edges have no units but words of
/// `AlignBytes`. All addresses and sizes are multiples of it.
template <int AlignBytes, int ItemBytes, class InputIt, class OutputIt, class SizeIt>
struct byte_buffers : batch<InputIt, OutputIt, SizeIt> {
  static constexpr int unit_bytes = vector_bytes;
  static constexpr bool has_edges = AlignBytes < unit_bytes;
  using location = copy_addresses;

  struct buffer {
    copy_addresses begin{};
    unsigned head = 0;  // bytes
    unsigned tail = 0;
    unsigned long long units = 0;

    STRATA_D unsigned edge_words(bool is_tail) const { return (is_tail ? tail : head) / AlignBytes; }
    /// The location from which unit (word) `first` is the buffer's first one.
    STRATA_D location body(unsigned first) const { return moved(head, first * unit_bytes); }
    STRATA_D location edge(bool is_tail, unsigned first) const {
      return moved(is_tail ? head + units * unit_bytes : 0, first * AlignBytes);
    }

   private:
    STRATA_D location moved(unsigned long long up, unsigned down) const {
      return {begin.in + up - down, begin.out + up - down};
    }
  };

  STRATA_D buffer operator()(std::size_t index) const {
    const auto in = detail::item_at(this->inputs, index);
    const auto out = detail::item_at(this->outputs, index);
    const unsigned long long bytes = this->size(index) * ItemBytes;
    buffer result;
    result.begin = {reinterpret_cast<std::uintptr_t>(in), reinterpret_cast<std::uintptr_t>(out)};
    STRATA_ASSERT(!detail::have_common_bytes({result.begin.in, bytes}, {result.begin.out, bytes}),
                  "batched copy: the source and the destination of buffer %llu overlap",
                  static_cast<unsigned long long>(index));
    unsigned head = static_cast<unsigned>(0 - result.begin.out) % unit_bytes;
    // How far the source of the body lies behind a boundary.
    const unsigned shift = static_cast<unsigned>(result.begin.in + head) % unit_bytes;
    if (head < shift) head += unit_bytes;
    if (bytes < head + unit_bytes) {
      result.head = static_cast<unsigned>(bytes);
      return result;
    }
    result.head = head;
    result.units = (bytes - head) / unit_bytes;
    result.tail = static_cast<unsigned>((bytes - head) % unit_bytes);
    if (shift + result.tail < unit_bytes && shift > 0) {
      result.units -= 1;
      result.tail += unit_bytes;
    }
    return result;
  }

  using edge_word = bytes_on_their_way<AlignBytes, false>;
  using unit = bytes_on_their_way<unit_bytes, has_edges>;
};

/// Buffers of items that iterators read and write. A unit is an item.
template <class InputIt, class OutputIt, class SizeIt>
struct item_buffers : batch<InputIt, OutputIt, SizeIt> {
  using input = iterator_value_t<InputIt>;
  using output = iterator_value_t<OutputIt>;
  using item = iterator_value_t<input>;
  static constexpr int unit_bytes = static_cast<int>(sizeof(item));
  static constexpr bool has_edges = false;

  struct location {
    std::size_t index;
    unsigned first;
  };

  struct buffer {
    std::size_t index = 0;
    unsigned long long units = 0;

    STRATA_D location body(unsigned first) const { return {index, first}; }
  };

  STRATA_D buffer operator()(std::size_t index) const { return {index, this->size(index)}; }

  /// An item between its load and its store. Types that are not trivial are assigned at once.
  class unit {
    static constexpr bool may_wait = std::is_trivial_v<item>;

   public:
    STRATA_D void load(const item_buffers& buffers, const location& from, unsigned long long number) {
      index_ = from.index;
      item_ = static_cast<std::ptrdiff_t>(number - from.first);
      auto in = detail::item_at(buffers.inputs, index_);
      const auto in_item = static_cast<difference_of<input>>(item_);
      if constexpr (may_wait) {
        value_ = in[in_item];
      } else {
        output_of(buffers)[static_cast<difference_of<output>>(item_)] = in[in_item];
      }
    }
    STRATA_D void store(const item_buffers& buffers) const {
      if constexpr (may_wait) output_of(buffers)[static_cast<difference_of<output>>(item_)] = value_;
    }

   private:
    STRATA_D output output_of(const item_buffers& buffers) const { return detail::item_at(buffers.outputs, index_); }

    std::size_t index_;
    std::ptrdiff_t item_;
    std::conditional_t<may_wait, item, NullType> value_;
  };
};

/// How ranges of items are copied: as bytes if they are arrays of one type, item by item otherwise.
template <class In, class Out>
inline constexpr bool are_same_items = false;
template <class T, class U>
inline constexpr bool are_same_items<T*, U*> =
    std::is_same_v<std::remove_const_t<T>, U> && !std::is_volatile_v<U> && is_trivially_relocatable_v<U>;

template <class InputIt, class OutputIt, class SizeIt>
constexpr auto choose_buffers() {
  using out = iterator_value_t<OutputIt>;
  output_requirements<out>::check();
  if constexpr (are_same_items<iterator_value_t<InputIt>, out>) {
    using T = std::remove_pointer_t<out>;
    constexpr int align_bytes = alignof(T) < vector_bytes ? static_cast<int>(alignof(T)) : vector_bytes;
    return identity_type<byte_buffers<align_bytes, static_cast<int>(sizeof(T)), InputIt, OutputIt, SizeIt>>{};
  } else {
    return identity_type<item_buffers<InputIt, OutputIt, SizeIt>>{};
  }
}
template <class InputIt, class OutputIt, class SizeIt>
using range_buffers = typename decltype(choose_buffers<InputIt, OutputIt, SizeIt>())::type;

}  // namespace detail
STRATA_NAMESPACE_END

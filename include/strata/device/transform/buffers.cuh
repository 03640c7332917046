// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The buffers of a batched copy, each as units that a lane copies in one step.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The three arrays of a batched copy.
template <class InputIt, class OutputIt, class SizeIt>
struct buffer_arrays {
  InputIt inputs;
  OutputIt outputs;
  SizeIt sizes;

  static_assert(std::is_integral_v<iterator_value_t<SizeIt>>,
                "the sizes of a batched copy must be integers: convert them, for example by a TransformInputIterator");

  /// Negative sizes count as 0.
  STRATA_D unsigned long long size(std::size_t index) const {
    const auto size = detail::item_at(sizes, index);
    return size > 0 ? static_cast<unsigned long long>(size) : 0;
  }
};

/// Where a buffer, or a part of one, is read and written.
struct copy_location {
  std::uintptr_t in;
  std::uintptr_t out;
  unsigned first;  // number of its first unit
  unsigned bytes;  // of an edge
};

/// A unit of a body between its load and its store: 16 bytes, which lie at a multiple of 16 in the destination, and in
/// the source too unless `IsShifted`. If `IsShifted`, they may be parts of two vectors of the source.
template <bool IsShifted>
class body_unit {
 public:
  template <class Buffers>
  STRATA_D void load(const Buffers&, const copy_location& from, unsigned long long number) {
    out_ = from.out + (number - from.first) * vector_bytes;
    const std::uintptr_t in = from.in + (number - from.first) * vector_bytes;
    shift_ = IsShifted ? static_cast<unsigned>(in % vector_bytes) : 0;
    const auto* const aligned = reinterpret_cast<const unsigned char*>(in - shift_);
    low_.load(aligned);
    if constexpr (IsShifted) high_.load(aligned + (shift_ != 0 ? vector_bytes : 0));  // always: no branch
  }
  template <class Buffers>
  STRATA_D void store(const Buffers&) {
    if constexpr (IsShifted) {
      const uint4 low = low_.bits, high = high_.bits;
      unsigned word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
      STRATA_UNROLL
      for (int i = 0; i < 6; ++i) word[i] = (shift_ & 8) != 0 ? word[i + 2] : word[i];
      STRATA_UNROLL
      for (int i = 0; i < 5; ++i) word[i] = (shift_ & 4) != 0 ? word[i + 1] : word[i];
      const unsigned bit = shift_ % 4 * 8;
      low_.bits = {__funnelshift_r(word[0], word[1], bit), __funnelshift_r(word[1], word[2], bit),
                   __funnelshift_r(word[2], word[3], bit), __funnelshift_r(word[3], word[4], bit)};
    }
    low_.store_global(reinterpret_cast<unsigned char*>(out_));
  }

 private:
  std::uintptr_t out_;
  unsigned shift_;
  item_vector<unsigned char, vector_bytes> low_, high_;
};

/// A unit of an edge between its load and its store: up to 4 bytes within an aligned word of the destination. Each load
/// has `LoadBytes` bytes. All addresses and sizes are multiples of `LoadBytes`.
template <int LoadBytes>
class edge_unit {
 public:
  static constexpr unsigned bytes = 4;

  template <class Buffers>
  STRATA_D void load(const Buffers&, const copy_location& from, unsigned number) {
    // The word's offset in the edge. If the edge begins within the word, the offset is negative. As an unsigned number
    // it wraps around, so it is larger than any edge.
    offset_ = (number - from.first) * bytes - static_cast<unsigned>(from.out % bytes);
    edge_bytes_ = from.bytes;
    out_ = from.out + static_cast<std::uintptr_t>(static_cast<int>(offset_));
    STRATA_UNROLL
    for (unsigned i = 0; i < bytes; i += LoadBytes) {
      const unsigned offset = offset_ + i, last = edge_bytes_ - LoadBytes;
      parts_[i / LoadBytes].load(reinterpret_cast<const unsigned char*>(from.in + detail::least(offset, last)));
    }
  }
  template <class Buffers>
  STRATA_D void store(const Buffers&) const {
    auto* const out = reinterpret_cast<unsigned char*>(out_);
    if (has(0) && has(bytes - 1)) {
      item_vector<unsigned char, bytes> word{};
      STRATA_UNROLL
      for (unsigned i = 0; i < bytes; i += LoadBytes) word.bits |= unsigned{parts_[i / LoadBytes].bits} << i * 8;
      word.store_global(out);
    } else {
      STRATA_UNROLL
      for (unsigned i = 0; i < bytes; i += LoadBytes) {
        if (has(i)) parts_[i / LoadBytes].store_global(out + i);
      }
    }
  }

 private:
  STRATA_D bool has(unsigned byte) const { return offset_ + byte < edge_bytes_; }

  std::uintptr_t out_;
  unsigned offset_;
  unsigned edge_bytes_;
  item_vector<unsigned char, LoadBytes> parts_[bytes / LoadBytes];
};

/// Buffers of bytes. Destinations are cut at 16-byte boundaries, so that units of the body are stored by one access:
///
///     bytes     0 .. head | head .. head + 16 units | .. head + 16 units + tail
///               edge      | body                    | edge
///
/// The accesses by which the body is read must not leave the source: where they would, edges take another 16 bytes.
/// All addresses and sizes are multiples of `AlignBytes`.
template <int AlignBytes, int ItemBytes, class InputIt, class OutputIt, class SizeIt>
struct byte_buffers : buffer_arrays<InputIt, OutputIt, SizeIt> {
  static constexpr int unit_bytes = vector_bytes;
  static constexpr bool are_arrays = true;
  static constexpr bool has_edges = AlignBytes < vector_bytes;
  using location = copy_location;
  using edge = edge_unit<detail::least(AlignBytes, 4)>;
  using unit = body_unit<has_edges>;

  struct buffer {
    std::uintptr_t in = 0;
    std::uintptr_t out = 0;
    unsigned head = 0;
    unsigned tail = 0;
    unsigned long long units = 0;

    /// Returns the location of the body, or of an edge. `first` becomes the number of its first unit.
    STRATA_D location body_from(unsigned first) const { return {in + head, out + head, first, 0}; }
    STRATA_D location edge_from(bool is_tail, unsigned first) const {
      const unsigned long long up = is_tail ? head + units * unit_bytes : 0;
      return {in + up, out + up, first, is_tail ? tail : head};
    }
    STRATA_D unsigned edge_units(bool is_tail) const {
      const unsigned behind_boundary = is_tail ? 0 : static_cast<unsigned>(out % edge::bytes);
      const unsigned edge_bytes = is_tail ? tail : head;
      return edge_bytes > 0 ? detail::ceiling_divide(behind_boundary + edge_bytes, edge::bytes) : 0;
    }
  };

  STRATA_D buffer operator()(std::size_t index) const {
    buffer result;
    result.in = reinterpret_cast<std::uintptr_t>(detail::item_at(this->inputs, index));
    result.out = reinterpret_cast<std::uintptr_t>(detail::item_at(this->outputs, index));
    const unsigned long long bytes = this->size(index) * ItemBytes;
    STRATA_ASSERT(!detail::have_common_bytes(byte_range{result.in, bytes}, byte_range{result.out, bytes}),
                  "batched copy: the source and the destination of buffer %llu overlap",
                  static_cast<unsigned long long>(index));
    unsigned head = static_cast<unsigned>(0 - result.out) % unit_bytes;
    const unsigned shift = static_cast<unsigned>(result.in + head) % unit_bytes;
    if (head < shift) head += unit_bytes;
    if (bytes < head + unit_bytes) {
      result.head = static_cast<unsigned>(bytes);
    } else {
      result.head = head;
      result.units = (bytes - head) / unit_bytes;
      result.tail = static_cast<unsigned>((bytes - head) % unit_bytes);
      if (shift > 0 && shift + result.tail < unit_bytes) {
        result.units -= 1;
        result.tail += unit_bytes;
      }
    }
    return result;
  }
};

/// Buffers of items that iterators read and write. A unit is an item.
template <class InputIt, class OutputIt, class SizeIt>
struct item_buffers : buffer_arrays<InputIt, OutputIt, SizeIt> {
  using item = iterator_value_t<iterator_value_t<InputIt>>;
  static constexpr int unit_bytes = static_cast<int>(sizeof(item));
  static constexpr bool are_arrays = false;
  static constexpr bool has_edges = false;

  struct location {
    std::size_t index;
    unsigned first;
  };

  struct buffer {
    std::size_t index = 0;
    unsigned long long units = 0;

    STRATA_D location body_from(unsigned first) const { return {index, first}; }
  };

  STRATA_D buffer operator()(std::size_t index) const { return {index, this->size(index)}; }

  /// An item between its load and its store. An item whose type is not trivial is not held: store() assigns it from
  /// input to output directly.
  class unit {
    static constexpr bool may_wait = std::is_trivial_v<item>;

   public:
    STRATA_D void load(const item_buffers& buffers, const location& from, unsigned long long number) {
      index_ = from.index;
      number_ = static_cast<std::ptrdiff_t>(number - from.first);
      if constexpr (may_wait) {
        // The iterator is kept in a variable, because in[i] may refer to a part of it.
        auto in = detail::item_at(buffers.inputs, index_);
        value_ = in[static_cast<difference_of<decltype(in)>>(number_)];
      }
    }
    STRATA_D void store(const item_buffers& buffers) const {
      auto out = detail::item_at(buffers.outputs, index_);
      const auto out_number = static_cast<difference_of<decltype(out)>>(number_);
      if constexpr (may_wait) {
        out[out_number] = value_;
      } else {
        auto in = detail::item_at(buffers.inputs, index_);
        out[out_number] = in[static_cast<difference_of<decltype(in)>>(number_)];
      }
    }

   private:
    std::size_t index_;
    std::ptrdiff_t number_;
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
using range_buffers = typename decltype(detail::choose_buffers<InputIt, OutputIt, SizeIt>())::type;

}  // namespace detail
STRATA_NAMESPACE_END

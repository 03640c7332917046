// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The positions of the items of a raking reduction or scan in shared memory. They are counted in units. A unit has as
/// many bytes as the alignment of `T`, and at least the 4 bytes of a bank, so that a narrow item fills a word.
///
/// Shared memory serves one wavefront of 128 bytes at a time: `columns` units. The pitch is the number of units from an
/// item to the next. It is the number of units of an item, plus one if that is even. So neighbours start in different
/// columns. One unused unit follows every `PadEvery` items (0: never).
template <class T, int Items, int PadEvery>
struct raking_layout {
  static constexpr int alignment = alignof(T) > 4 ? static_cast<int>(alignof(T)) : 4;
  static constexpr int columns = alignment < 128 ? 128 / alignment : 1;
  static constexpr int pitch = (static_cast<int>(sizeof(T)) + alignment - 1) / alignment | 1;

  STRATA_HD static constexpr int unit(int item) {
    int padding = 0;
    if constexpr (PadEvery > 0) padding = item / PadEvery;
    return item * pitch + padding;
  }

  static constexpr int bytes = (unit(Items - 1) + pitch) * alignment;
  struct storage {
    alignas(alignment) unsigned char data[static_cast<std::size_t>(bytes)];

    STRATA_D T& at_unit(int u) { return *reinterpret_cast<T*>(data + u * alignment); }
    STRATA_D T& item(int i) { return at_unit(unit(i)); }
  };

  STRATA_HD constexpr int operator()(int item) const { return unit(item); }

  /// True if there are no bank conflicts when the first `lanes` threads of a warp access every `stride`-th item from
  /// `first` on.
  STRATA_HD static constexpr bool conflict_free(int first, int stride, int lanes) {
    using access = runtime_strided_access<detail::least(alignment, 16)>;
    return !detail::has_conflicts(raking_layout{}, access{first, stride, Items, lanes});
  }

  STRATA_HD static constexpr bool writes_conflict_free() {
    for (int first = 0; first < Items; first += 32) {
      if (!conflict_free(first, 1, 32)) return false;
    }
    return true;
  }
};

/// The items of `Threads` threads, divided into a segment of consecutive items for each of up to 32 rakers.
///
/// Rakers read with a stride of one segment, `segment * pitch` units. The pitch is odd, so with g = gcd(segment,
/// columns) they use every g-th column and return to the first after columns / g rakers. At this point, after every
/// lcm(segment, columns) items, there is one unit of padding: it shifts each round to columns not used yet, and g
/// rounds fill a wavefront. The padding lies between two wavefronts of writes, so they stay free of conflicts, too.
template <class T, int Threads>
struct raking_segments {
  static constexpr int segment = (Threads + 31) / 32;
  static constexpr int rakers = (Threads + segment - 1) / segment;

  static constexpr int columns = raking_layout<T, Threads, 0>::columns;
  // The greatest common divisor of a number and a power of two is the number's lowest set bit, or the power if it is
  // less.
  static constexpr int divisor = detail::least(segment & -segment, columns);
  using layout = raking_layout<T, Threads, segment / divisor * columns>;

  STRATA_HD static constexpr bool reads_conflict_free() {
    for (int i = 0; i < segment; ++i) {
      if (!layout::conflict_free(i, segment, rakers)) return false;
    }
    return true;
  }
  // An item that must be aligned to more than 16 bytes cannot have a pitch that is an odd number of 16-byte accesses.
  // not for users: it holds for every T and Threads, by the argument above
  static_assert(alignof(T) > 16 || (reads_conflict_free() && layout::writes_conflict_free()),
                "raking has bank conflicts");
};

}  // namespace detail
STRATA_NAMESPACE_END

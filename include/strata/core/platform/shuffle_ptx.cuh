// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Forms of the shuffle instruction that CUDA C++ does not expose: with a clamp lane, and with the predicate that says
/// whether there is a source lane.

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Shuffles with an explicit clamp lane. A lane gets the word of the lane `offset` below (`_up`) or above (`_down`) in
/// the logical warp of `Width` lanes, a power of two. It gets its own word where that lane is below lane `first`, or
/// above lane `last`, of the logical warp. `first` and `last` must be 0 to 255; they are taken modulo `Width`, and
/// `offset` modulo 32.
template <int Width>
STRATA_D unsigned shuffle_up_word(unsigned mask, unsigned word, int offset, int first) {
#if STRATA_DEVICE_PASS
  unsigned result;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, %4;"
               : "=r"(result)
               : "r"(word), "r"(offset), "r"(first | (warp_threads - Width) << 8), "r"(mask));
  return result;
#else
  const int lane = static_cast<int>(lane_id());
  const int source = lane - (offset & 31), lowest = (lane & ~(Width - 1)) | (first & (Width - 1));
  return __shfl_sync(mask, word, source >= lowest ? source : lane, warp_threads);
#endif
}

template <int Width>
STRATA_D unsigned shuffle_down_word(unsigned mask, unsigned word, int offset, int last) {
#if STRATA_DEVICE_PASS
  unsigned result;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, %4;"
               : "=r"(result)
               : "r"(word), "r"(offset), "r"(last | (warp_threads - Width) << 8), "r"(mask));
  return result;
#else
  const int lane = static_cast<int>(lane_id());
  const int source = lane + (offset & 31), highest = (lane & ~(Width - 1)) | (last & (Width - 1));
  return __shfl_sync(mask, word, source <= highest ? source : lane, warp_threads);
#endif
}

namespace detail {

#if STRATA_DEVICE_PASS
// The instruction's third operand: segments of `width` lanes.
STRATA_D unsigned shuffle_up_bounds(int width) { return static_cast<unsigned>(32 - width) << 8; }

STRATA_D unsigned shuffle_up_word(unsigned mask, unsigned word, unsigned distance, int width, unsigned& has_source) {
  unsigned result;
  asm volatile("{\n\t.reg .pred p;\n\tshfl.sync.up.b32 %0|p, %2, %3, %4, %5;\n\tselp.u32 %1, 1, 0, p;\n\t}"
               : "=r"(result), "=r"(has_source)
               : "r"(word), "r"(distance), "r"(shuffle_up_bounds(width)), "r"(mask));
  return result;
}
#endif
STRATA_D bool has_lane_below(unsigned distance, int width) {
  return lane_id() % static_cast<unsigned>(width) >= distance;
}

}  // namespace detail

// One step of a scan over lanes. Without the predicate, each of the five steps would compare lanes. Conditional
// additions of integers are written here too, because the compiler makes two instructions of one: a selection and an
// addition. (A kernel that loads, scans and stores one item per lane has 30 instructions on sm_90 if its scan compares
// lanes, 24 with the predicate, and 19 with these additions.)

/// `shuffle_up` that also returns whether there is a lane `distance` below. If not, the result is `value`.
template <class T>
STRATA_D T shuffle_up(unsigned mask, const T& value, unsigned distance, int width, bool& has_source) {
#if STRATA_DEVICE_PASS
  static_assert(strata::detail::relocatable_requirements<T>::check());
  detail::shuffle_words<T> words(value);
  if constexpr (detail::shuffle_words<T>::count == 1) {
    unsigned found;
    words.word[0] = detail::shuffle_up_word(mask, words.word[0], distance, width, found);
    has_source = found != 0;
  } else {
    // For several words, it is faster to compare lanes: the predicate comes many cycles later than the words.
    STRATA_UNROLL
    for (std::size_t i = 0; i < detail::shuffle_words<T>::count; ++i) {
      words.word[i] = __shfl_up_sync(mask, words.word[i], distance, width);
    }
    has_source = detail::has_lane_below(distance, width);
  }
  return words.value();
#else
  has_source = detail::has_lane_below(distance, width);
  return platform::shuffle_up(mask, value, distance, width);
#endif
}

/// Adds the value of the lane `distance` below, if there is one.
STRATA_D unsigned add_from_below(unsigned mask, unsigned value, unsigned distance, int width) {
#if STRATA_DEVICE_PASS
  // Without a source lane, the instruction returns the lane's own word, which is the result then. So `sum` needs no
  // initial value, which saves an instruction.
  unsigned sum;
  asm volatile("{\n\t.reg .pred p;\n\tshfl.sync.up.b32 %0|p, %1, %2, %3, %4;\n\t@p add.u32 %0, %0, %1;\n\t}"
               : "=&r"(sum)
               : "r"(value), "r"(distance), "r"(detail::shuffle_up_bounds(width)), "r"(mask));
  return sum;
#else
  const unsigned below = shuffle_up(mask, value, distance, width);
  return detail::has_lane_below(distance, width) ? below + value : value;
#endif
}

STRATA_D unsigned long long add_from_below(unsigned mask, unsigned long long value, unsigned distance, int width) {
  // The predicate is available later than the words: see shuffle_up.
  const unsigned long long below = shuffle_up(mask, value, distance, width);
  return detail::has_lane_below(distance, width) ? below + value : value;
}

}  // namespace platform
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The calling thread's lane in its logical warp, and exchange among the lanes. If `Threads` is a power of
/// two, logical warps divide each warp; otherwise each warp has one, its first lanes. Each ballot and shuffle has the
/// mask of this logical warp alone: all its lanes must call together, and logical warps of one warp may diverge.
template <int Threads>
class logical_warp {
  static_assert(Threads >= 1 && Threads <= warp_threads,
                "a logical warp has 1 to 32 threads: choose LogicalWarpThreads in that range");
  static constexpr bool divides_warp = is_power_of_two(Threads);
  static constexpr bool is_whole_warp = Threads == warp_threads;
  static constexpr unsigned lanes = full_warp_mask >> (warp_threads - Threads);

 public:
  STRATA_D logical_warp() : warp_lane_(static_cast<int>(platform::lane_id())) {
    STRATA_ASSERT(divides_warp || warp_lane_ < Threads,
                  "lane %d called, but a logical warp of %d threads has the first lanes only", warp_lane_, Threads);
  }

  /// 0 .. Threads - 1
  STRATA_D int lane() const { return divides_warp ? warp_lane_ & (Threads - 1) : warp_lane_; }

  /// The lanes of the warp that belong to this logical warp.
  STRATA_D unsigned mask() const { return lanes << first_lane(); }

  /// Bit i: the predicate in lane i of the logical warp.
  STRATA_D unsigned ballot(bool predicate) const { return __ballot_sync(mask(), predicate) >> first_lane() & lanes; }

  /// The value of the lane `distance` above; unspecified if there is none.
  template <class T>
  STRATA_D T from_above(const T& value, int distance) const {
    if constexpr (divides_warp) {
      return platform::shuffle_down(mask(), value, static_cast<unsigned>(distance), Threads);
    } else {
      // A lane outside the mask must not be the source of a shuffle.
      const int source = warp_lane_ + distance;
      return platform::shuffle(mask(), value, source < Threads ? source : warp_lane_);
    }
  }

  template <class T>
  STRATA_D T from_lane(const T& value, int lane) const {
    return platform::shuffle(mask(), value, first_lane() + lane);
  }

  /// The value of the lane that differs in the bits `difference`. For logical warps that divide a warp.
  template <class T>
  STRATA_D T from_partner(const T& value, int difference) const {
    // not for users: callers ask for the number of lanes
    static_assert(divides_warp, "the partner may lie outside of this logical warp: use from_lane");
    return platform::shuffle_xor(mask(), value, difference);
  }

 private:
  // The logical warp's lane 0, as a lane of the warp.
  STRATA_D int first_lane() const { return divides_warp && !is_whole_warp ? warp_lane_ & ~(Threads - 1) : 0; }

  int warp_lane_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Implements BLOCK_SCAN_WARP_SCANS, and all scans of blocks of up to one warp. Every warp scans its items by shuffles
/// and writes its sum to shared memory; after a barrier each warp adds the sums of the warps before it. If a functor
/// returns the prefix, there is a second barrier.
///
/// Unless `Full`, only the first `valid` (1 .. Threads) threads have an item, and only they get a
/// result.
template <class T, int Threads>
struct block_scan_warp_scans {
  static constexpr int warps = ceiling_divide(Threads, warp_threads);
  static constexpr int last_warp_lanes = Threads - (warps - 1) * warp_threads;

  // There are three ways to add the sums of warps. The first two need whole warps:
  //
  // 1. adds_in_hardware, for words: each lane reads one sum, and one instruction adds those that the warp needs.
  // 2. scans_sums: each lane reads one sum, and the warp scans them.
  // 3. Every thread reads the sums one after another and adds them. All threads read the same address at a time. With
  //    up to 8 sums, way 2 has no fewer instructions, and takes longer: each of its 3 steps waits for a shuffle.
  template <class Operator>
  static constexpr bool adds_in_hardware = platform::has_redux && sizeof(T) <= 4 && warps > 4 &&
                                           last_warp_lanes == warp_threads&& adds_as_words<Operator, T>;
  static constexpr int sums_width = warps > 16 ? 32 : 16;
  static constexpr bool scans_sums = warps > 8 && last_warp_lanes == warp_threads;

  static constexpr std::size_t alignment = alignof(T) < 16 && warps * sizeof(T) % 16 == 0 ? 16 : alignof(T);
  struct several_warps {
    alignas(alignment) T sums[static_cast<std::size_t>(warps)];
    T prefix;
  };
  struct one_warp {};
  using storage = std::conditional_t<(warps > 1), several_warps, one_warp>;

  template <bool Inclusive, bool Full, class Operator, class Prefix, class Aggregate>
  STRATA_D static T scan(storage& shared, int thread, const T& item, Operator& op, Prefix prefix, Aggregate&& aggregate,
                         int valid) {
    if constexpr (warps == 1) {
      static_cast<void>(shared);
      return scan_one_warp<Inclusive, Full>(thread, item, op, prefix, aggregate, valid);
    } else {
      const int warp = thread / warp_threads;
      const int lane = thread % warp_threads;
      const int active_warps = Full ? warps : ceiling_divide(valid, warp_threads);
      T result = scan_one_of_warps<Inclusive, Full>(shared, warp, lane, item, op, valid);
      __syncthreads();

      const totals others = add_sums<is_given<Aggregate>, Full>(shared, warp, lane, op, active_warps);
      if constexpr (is_given<Aggregate>) aggregate = others.all;
      if constexpr (Prefix::is_callback) {
        if (warp == 0) {
          const T before = prefix.callback(all_sums<Full>(shared, lane, op, active_warps));
          if (lane == 0) shared.prefix = before;
        }
      }
      if (Full || thread < valid) {
        result = behind<Inclusive>(others.before, warp > 0, lane, result, op, prefix);
      }
      if constexpr (Prefix::is_callback) {
        __syncthreads();
        if (Full || thread < valid) {
          const T before = shared.prefix;
          result = !Inclusive && thread == 0 ? before : static_cast<T>(op(before, result));
        }
      }
      return result;
    }
  }

  /// Returns the aggregate that scan() of the block finds, bit for bit. All lanes of one warp call it, with the items
  /// of all threads of the block: lane `thread % 32` calls `item(thread)`.
  template <class Item, class Operator>
  STRATA_D static T sum_by_one_warp(const Item& item, Operator& op) {
    // not for users: AgentScanTile has whole warps
    static_assert(last_warp_lanes == warp_threads, "this scan needs blocks of whole warps");
    const auto lane = static_cast<int>(platform::lane_id());
    T all{}, lane_sum{};  // lane_sum: the sum that scan_sums() would read in this lane
    STRATA_UNROLL_N(1)
    for (int w = 0; w < warps; ++w) {
      const T scanned = detail::scan_lanes<warp_threads, true>(full_warp_mask, item(w * warp_threads + lane), op, true);
      const T sum = platform::shuffle(full_warp_mask, scanned, warp_threads - 1);
      if constexpr (scans_sums) {
        if (lane % sums_width == w) lane_sum = sum;
      } else {
        all = w == 0 ? sum : static_cast<T>(op(all, sum));
      }
    }
    if constexpr (scans_sums) {
      const T scanned =
          detail::scan_lanes<sums_width, warps == sums_width>(full_warp_mask, lane_sum, op, lane % sums_width < warps);
      all = platform::shuffle(full_warp_mask, scanned, warps - 1, sums_width);
    }
    return all;
  }

 private:
  struct totals {
    // The sum of the warps before the caller's. In the first warp it is 0 if `adds_as_words` is true, and unspecified
    // otherwise.
    T before;
    T all;  // the sum of all warps, if `All`
  };

  template <bool Inclusive, bool Full, class Operator, class Prefix, class Aggregate>
  STRATA_D static T scan_one_warp(int lane, const T& item, Operator& op, Prefix& prefix, Aggregate&& aggregate,
                                  int valid) {
    constexpr unsigned mask = full_warp_mask >> (warp_threads - Threads);
    const bool is_valid = Full || lane < valid;
    const T sum = detail::scan_lanes<Threads, Full>(mask, item, op, is_valid);
    T result = sum;
    if constexpr (!Inclusive) result = detail::sum_of_lanes_below<Threads, Operator>(mask, item, sum);

    constexpr bool needs_all = is_given<Aggregate> || Prefix::is_callback;
    if constexpr (needs_all) {
      const T all = platform::shuffle(mask, sum, (Full ? Threads : valid) - 1);
      if constexpr (is_given<Aggregate>) aggregate = all;
      if constexpr (Prefix::is_callback) {
        const T before = platform::shuffle(mask, static_cast<T>(prefix.callback(all)), 0);
        if (!is_valid) return result;
        return !Inclusive && lane == 0 ? before : static_cast<T>(op(before, result));
      }
    }
    if (is_valid) {
      T before = item;
      if constexpr (adds_as_words<Operator, T>) before = 0;
      result = behind<Inclusive>(before, false, lane, result, op, prefix);
    }
    return result;
  }

  /// Full warps and the last one run different code: the last may lack lanes.
  template <bool Inclusive, bool Full, class Operator>
  STRATA_D static T scan_one_of_warps(storage& shared, int warp, int lane, const T& item, Operator& op, int valid) {
    if (last_warp_lanes < warp_threads && warp == warps - 1) {
      return scan_warp_of<last_warp_lanes, Inclusive, Full>(shared, warp, lane, item, op, valid);
    }
    return scan_warp_of<warp_threads, Inclusive, Full>(shared, warp, lane, item, op, valid);
  }
  template <int Lanes, bool Inclusive, bool Full, class Operator>
  STRATA_D static T scan_warp_of(storage& shared, int warp, int lane, const T& item, Operator& op, int valid) {
    constexpr unsigned mask = full_warp_mask >> (warp_threads - Lanes);
    const int warp_valid = valid - warp * warp_threads;
    const T sum = detail::scan_lanes<Lanes, Full>(mask, item, op, lane < warp_valid);
    if (lane == (Full || warp_valid > Lanes ? Lanes : warp_valid) - 1) shared.sums[warp] = sum;
    if constexpr (Inclusive) return sum;
    return detail::sum_of_lanes_below<Lanes, Operator>(mask, item, sum);
  }

  /// Combines, in this order: a prefix that is a value, the sum of the warps before the thread's warp, and the thread's
  /// result. The first two may be missing.
  template <bool Inclusive, class Operator, class Prefix>
  STRATA_D static T behind(T before, bool has_before, int lane, const T& result, Operator& op, Prefix& prefix) {
    // If nothing precedes a thread, words have 0 as `before`: no special case is needed.
    constexpr bool always = adds_as_words<Operator, T>;
    if constexpr (Prefix::is_value) {
      before = always || has_before ? static_cast<T>(op(prefix.value, before)) : prefix.value;
      has_before = true;
    }
    if (!always && !has_before) return result;
    if (!always && !Inclusive && lane == 0) return before;
    return static_cast<T>(op(before, result));
  }

  template <bool All, bool Full, class Operator>
  STRATA_D static totals add_sums(storage& shared, int warp, int lane, Operator& op, int active_warps) {
    if constexpr (adds_in_hardware<Operator>) {
      const unsigned sum = lane < active_warps ? static_cast<unsigned>(shared.sums[lane]) : 0;
      const unsigned before = platform::redux_add(full_warp_mask, lane < warp ? sum : 0);
      const unsigned all = All ? platform::redux_add(full_warp_mask, sum) : 0;
      return {static_cast<T>(before), static_cast<T>(all)};
    } else if constexpr (scans_sums) {
      const T scanned = scan_sums<Full>(shared, lane, op, active_warps);
      T before = platform::shuffle(full_warp_mask, scanned, warp > 0 ? warp - 1 : 0, sums_width);
      if constexpr (adds_as_words<Operator, T>) {
        if (warp == 0) before = 0;
      }
      if constexpr (!All) return {before, before};
      return {before, platform::shuffle(full_warp_mask, scanned, active_warps - 1, sums_width)};
    } else {
      T before = shared.sums[0];
      T all = before;
      if constexpr (adds_as_words<Operator, T>) {
        if (warp == 0) before = 0;
      }
      STRATA_UNROLL
      for (int w = 1; w < (All ? warps : warps - 1); ++w) {
        if (!Full && w >= active_warps) break;
        if constexpr (All) {
          if (warp == w) before = all;
          all = static_cast<T>(op(all, shared.sums[w]));
        } else {
          if (w < warp) before = static_cast<T>(op(before, shared.sums[w]));
        }
      }
      return {before, all};
    }
  }

  template <bool Full, class Operator>
  STRATA_D static T all_sums(storage& shared, int lane, Operator& op, int active_warps) {
    if constexpr (adds_in_hardware<Operator>) {
      const unsigned sum = lane < active_warps ? static_cast<unsigned>(shared.sums[lane]) : 0;
      return static_cast<T>(platform::redux_add(full_warp_mask, sum));
    } else if constexpr (scans_sums) {
      const T scanned = scan_sums<Full>(shared, lane, op, active_warps);
      return platform::shuffle(full_warp_mask, scanned, active_warps - 1, sums_width);
    } else {
      T all = shared.sums[0];
      STRATA_UNROLL
      for (int w = 1; w < warps; ++w) {
        if (!Full && w >= active_warps) break;
        all = static_cast<T>(op(all, shared.sums[w]));
      }
      return all;
    }
  }

  /// Lane i of each group of `sums_width` lanes gets the sum of warps 0 .. i.
  template <bool Full, class Operator>
  STRATA_D static T scan_sums(storage& shared, int lane, Operator& op, int active_warps) {
    const int w = lane % sums_width;
    const T sum = shared.sums[w < active_warps ? w : 0];
    constexpr bool full = Full && warps == sums_width;
    return detail::scan_lanes<sums_width, full>(full_warp_mask, sum, op, w < active_warps);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Number of sorted runs that are merged at a time.
inline constexpr int merge_ways = 4;

/// Up to four neighbouring sorted runs. All have `run_items` items but the last, which may have fewer.
template <class Key>
struct run_group {
  const Key* keys;
  long long run_items;
  long long num_items;  // of all four

  STRATA_D long long length(int run) const {
    const long long left = num_items - run * run_items;
    return left < 0 ? 0 : left < run_items ? left : run_items;
  }
};

/// Bounds of the number of items of a run before a split.
struct split_bracket {
  long long min, max;
};

/// A search for the split of four runs: how many of the first `diagonal` items of their stable merge each run has. It
/// lies in shared memory.
template <class Key>
struct split_search {
  run_group<Key> runs;
  long long diagonal;
  long long open;  // items that the brackets left open before the last step
  split_bracket brackets[merge_ways];
};

/// Shared memory of a warp that searches.
template <class Key>
struct splitter_keys {
  Key keys[warp_threads];
};

/// A warp searches for several splits at a time, with `Lanes` lanes for each search. All lanes make each step together.
///
/// In each step, each lane loads the key at one cut of one run's bracket. The lane compares this key with the loaded
/// keys of the other runs, which bounds how many items of all runs come before it. For most cuts, and always for at
/// least one, these bounds show on which side of the split the cut lies. With 32 lanes, a search takes the fewest
/// steps, and each step waits for memory. With 8 lanes, it takes the fewest instructions.
template <class Key, class Compare, int Lanes>
class RunSplitter {
  static constexpr int cuts = Lanes / merge_ways;
  // not for users: only merge plans choose `Lanes`
  static_assert(is_power_of_two(Lanes) && cuts >= 2 && Lanes <= warp_threads, "8, 16 or 32 lanes");

 public:
  static constexpr int lanes = Lanes;

  STRATA_D RunSplitter(splitter_keys<Key>& storage, const Compare& compare) : storage_(storage), compare_(compare) {}

  /// Which of a warp's searches a lane takes part in.
  STRATA_D static int search_of_lane() { return static_cast<int>(platform::lane_id()) / Lanes; }

  /// Begins a search; its lanes call this. A barrier of the warp must follow.
  STRATA_D static void begin(split_search<Key>& search, const run_group<Key>& runs, long long diagonal) {
    const int lane = lane_of_search();
    if (lane == 0) {
      search.runs = runs;
      search.diagonal = diagonal;
      search.open = runs.num_items + 1;
    }
    if (lane < merge_ways) {
      const long long length = runs.length(lane);
      const long long others = runs.num_items - length;
      search.brackets[lane] = {diagonal < others ? 0 : diagonal - others, diagonal < length ? diagonal : length};
    }
  }

  /// Makes one step of each search; lanes without a search pass null. A search ends when its brackets leave at most
  /// `max_open` items open. Returns false if all have ended.
  STRATA_D bool step(split_search<Key>* search, long long max_open) const {
    const int run = lane_of_search() / cuts;
    split_bracket bracket{0, 0};
    if (search != nullptr) bracket = search->brackets[run];
    const long long width = bracket.max - bracket.min;
    long long open = width + __shfl_xor_sync(full_warp_mask, width, cuts);
    open += __shfl_xor_sync(full_warp_mask, open, 2 * cuts);
    // If the comparator is no ordering, a step may narrow nothing. The search then ends.
    const bool goes_on = search != nullptr && open > max_open && open < search->open;
    if (!__any_sync(full_warp_mask, goes_on ? 1 : 0)) return false;
    bracket = narrow(goes_on ? search : nullptr, run, bracket);
    if (goes_on && lane_of_search() % cuts == 0) search->brackets[run] = bracket;
    if (goes_on && lane_of_search() == 0) search->open = open;
    __syncwarp();
    return true;
  }

 private:
  STRATA_D static int lane_of_search() { return static_cast<int>(platform::lane_id()) % Lanes; }

  /// Distance of a cut from the beginning of its bracket. The cut after the last one is the end of the bracket.
  STRATA_D static long long cut(long long width, int number) {
    if (number == cuts) return width;
    if (width < 1 << 24) {
      return static_cast<unsigned>(width) * static_cast<unsigned>(number + 1) / (cuts + 1u);
    }
    return width / (cuts + 1) * (number + 1);
  }

  STRATA_D split_bracket narrow(const split_search<Key>* search, int run, const split_bracket& bracket) const {
    const auto lane = static_cast<int>(platform::lane_id());
    const int first_lane = lane - lane_of_search(), number = lane % cuts;
    const long long min = bracket.min, width = bracket.max - bracket.min;
    const bool has_key = search != nullptr && width > 0;
    const long long index = min + cut(width, number);
    Key* const keys = storage_.keys;
    if (has_key) keys[lane] = search->runs.keys[run * search->runs.run_items + index];
    __syncwarp();
    // Bounds of the number of items of all runs that come before the key.
    long long min_before = index, max_before = index;
    STRATA_UNROLL_N(1)
    for (int distance = 1; distance < merge_ways; ++distance) {
      const int other = (run + distance) % merge_ways;
      const int other_lane = first_lane + other * cuts;
      const long long other_min = __shfl_sync(full_warp_mask, min, other_lane);
      const long long other_width = __shfl_sync(full_warp_mask, width, other_lane);
      min_before += other_min;
      max_before += other_min;
      if (has_key && other_width > 0) {
        const int before = count_before(keys + other_lane, keys[lane], other < run);
        if (before > 0) min_before += cut(other_width, before - 1) + 1;
        max_before += cut(other_width, before);
      }
    }
    const bool is_among = has_key && max_before < search->diagonal;
    const bool is_behind = has_key && min_before >= search->diagonal;
    const int first_cut = lane - number;
    const unsigned among = __ballot_sync(full_warp_mask, is_among) >> first_cut & cut_mask;
    const unsigned behind = __ballot_sync(full_warp_mask, is_behind) >> first_cut & cut_mask;
    split_bracket narrowed = bracket;
    if (among != 0) narrowed.min = min + cut(width, 31 - __clz(static_cast<int>(among))) + 1;
    if (behind != 0) narrowed.max = min + cut(width, __ffs(static_cast<int>(behind)) - 1);
    if (narrowed.max < narrowed.min) narrowed.max = narrowed.min;
    return narrowed;
  }

  /// Returns how many of the keys at another run's cuts come before `key`.
  STRATA_D int count_before(const Key* others, const Key& key, bool is_earlier_run) const {
    int count = 0;
    STRATA_UNROLL
    for (int step = cuts / 2; step > 0; step /= 2) {
      if (is_before(others[count + step - 1], key, is_earlier_run)) count += step;
    }
    return is_before(others[count], key, is_earlier_run) ? count + 1 : count;
  }
  STRATA_D bool is_before(const Key& other, const Key& key, bool is_earlier_run) const {
    return is_earlier_run ? !compare_(key, other) : compare_(other, key);
  }

  static constexpr unsigned cut_mask = (1u << cuts) - 1;

  splitter_keys<Key>& storage_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END

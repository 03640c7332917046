// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/warp/specializations/warp_partition_point.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arguments of a join of two sides in ascending order. Tiles are ranges of the merge of both sides,
/// in which a probe row comes before the build rows with its key.
template <class Key, class Row>
struct join_merge_sides {
  JoinKind kind = JoinKind::inner;
  bool promised_unique = false;
  const Key* build_keys = nullptr;
  Row build_rows = 0;
  const Key* probe_keys = nullptr;
  Row probe_rows = 0;
  /// The number of probe rows before each tile, and then the number of all.
  Row* splits = nullptr;
  unsigned long long tiles = 0;
  std::int64_t capacity = 0;
  unsigned long long* total = nullptr;

  STRATA_HD unsigned long long rows() const { return static_cast<unsigned long long>(build_rows) + probe_rows; }
};

/// Finds how many of the first `diagonal` rows of the merge are probe rows. 2^`log2_lanes` neighbouring lanes search
/// for each diagonal: this takes fewer steps, and each step waits for memory. All lanes of a warp call this. The result
/// is a valid split even if the keys are not sorted.
template <class Key, class Row>
STRATA_D Row find_merge_split(const join_merge_sides<Key, Row>& sides, unsigned long long diagonal, int log2_lanes) {
  using Count = unsigned long long;
  const Count build_rows = sides.build_rows;
  const Count probe_rows = sides.probe_rows;
  const Count low = diagonal < build_rows ? 0 : diagonal - build_rows;
  const Count high = detail::least(diagonal, probe_rows);
  return static_cast<Row>(detail::warp_partition_point(
      low, high, log2_lanes, [&](Count row) { return sides.build_keys[diagonal - 1 - row] < sides.probe_keys[row]; }));
}

/// A tile of two sides in ascending order, whose keys are in shared memory. A search finds, for each probe row, the
/// first build row whose key is not less. The probe row's partners, if there are any, begin there. An item is a probe
/// row or a build row of the tile. A thread has up to `ItemsPerThread` of either.
template <class Key, class Row, int BlockThreads, int ItemsPerThread, int Searches>
class join_merge_tile {
  using Count = unsigned long long;
  static constexpr unsigned threads = BlockThreads;
  /// A thread looks this many probe rows up at the same time.
  static constexpr int searches = Searches;
  /// The number of build keys behind a tile that the tile reads, too. Most runs of equal keys that leave the tile end
  /// among them.
  static constexpr unsigned lookahead_keys = 32;

 public:
  using Sides = join_merge_sides<Key, Row>;
  static constexpr unsigned tile_items = threads * ItemsPerThread;
  /// Means no partner.
  static constexpr unsigned none = 0xffff;
  static_assert(BlockThreads % 32 == 0 && BlockThreads >= 64 && tile_items + lookahead_keys < none &&
                    ItemsPerThread <= 31,
                "join_merge_tuning: the number of threads must be a multiple of 32 and at least 64; a thread has at "
                "most 31 rows, and a tile at most 65,000");

  /// The probe key before the tile, those of the tile, its build keys, and the lookahead keys.
  static constexpr unsigned num_keys = 1 + tile_items + lookahead_keys;
  /// Words with a bit for each build row, and one more.
  static constexpr unsigned num_end_words = (tile_items + lookahead_keys) / warp_threads + 2;

  struct run_storage {
    /// The run of equal build keys that leaves the tile and its lookahead keys: its end, the first probe
    /// row with its key, and its first row in this tile.
    Row end;
    unsigned first_item;
    unsigned first_partner;
    /// A bit for each build row that is the last one with its key, including lookahead rows.
    unsigned ends[num_end_words];
  };

  STRATA_D join_merge_tile(Key* keys, run_storage& runs, const Sides& sides)
      : keys_(keys), runs_(runs), sides_(sides) {}

  Row first_probe = 0;
  Row first_build = 0;
  unsigned probes = 0;
  unsigned builds = 0;
  /// True if the last probe rows have partners in a run that leaves the tile and its lookahead keys.
  bool is_open = false;

  /// Item number `i` of the calling thread. The `items` items are divided evenly among warps.
  STRATA_D static unsigned item(int i, unsigned items) {
    const unsigned warp_items = (items + threads - 1) / threads * warp_threads;
    return threadIdx.x / warp_threads * warp_items + static_cast<unsigned>(i) * warp_threads + platform::lane_id();
  }
  /// True if any thread has an item number `i`.
  STRATA_D static bool has_items(int i, unsigned items) { return static_cast<unsigned>(i) * threads < items; }

  /// Loads the keys of a tile. The whole block calls this, look_up(), mark_run_ends() and find_unmatched(). Single
  /// threads may call the other functions below.
  STRATA_D void load(Count tile) {
    const Count begin = tile * tile_items;
    const Count rows = sides_.rows() - begin;
    const unsigned items = rows < tile_items ? static_cast<unsigned>(rows) : tile_items;
    const Row first = sides_.splits[tile];
    const Row last = sides_.splits[tile + 1];
    STRATA_ASSERT(first <= last && last - first <= items,
                  "JoinSide::sorted was promised, but rows are not in ascending order");
    // Nothing outside is read, whatever the order of the keys.
    probes = last < first ? 0 : last - first < items ? static_cast<unsigned>(last - first) : items;
    builds = items - probes;
    first_probe = first;
    first_build = static_cast<Row>(begin - first);
    const Row behind = sides_.build_rows - first_build - builds;
    known_ = builds + (behind < lookahead_keys ? static_cast<unsigned>(behind) : lookahead_keys);

    Key keys[ItemsPerThread];
    if (items == tile_items) {
      read<true>(items, keys);
    } else {
      read<false>(items, keys);
    }
    Key lookahead{};
    if (threadIdx.x < known_ - builds) {
      lookahead = sides_.build_keys[static_cast<Row>(first_build + builds + threadIdx.x)];
    }
    Key before{};
    if (threadIdx.x == threads - 1 && first > 0) before = sides_.probe_keys[first - 1];
    // All threads have used the previous contents.
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at < items) keys_[1 + at] = keys[i];
    }
    if (threadIdx.x < known_ - builds) keys_[1 + items + threadIdx.x] = lookahead;
    if (threadIdx.x == threads - 1) keys_[0] = before;
    __syncthreads();
    check_promises();
    find_run_end();
  }

  /// Returns a bit for each probe row of the thread that has results. `lows` are their first partners,
  /// counted from `first_build`, or `none`.
  STRATA_D unsigned look_up(unsigned (&lows)[ItemsPerThread], bool& has_several) const {
    const JoinKind kind = sides_.kind;
    const bool if_found = kind != JoinKind::anti;
    const bool if_missing = kind != JoinKind::inner && kind != JoinKind::semi;
    const bool needs_partners = has_pairs(kind);
    const bool needs_all_partners = wants_all_partners();
    const unsigned fences = find_fences();
    unsigned has_result = 0;
    STRATA_UNROLL
    for (int first = 0; first < ItemsPerThread; first += searches) {
      constexpr int all = ItemsPerThread;
      const int last = detail::least(first + searches, all);
      if (!has_items(first, probes)) {
        STRATA_UNROLL
        for (int i = first; i < last; ++i) lows[i] = none;
        continue;
      }
      Key keys[searches];
      search(first, last, fences, keys, lows);
      STRATA_UNROLL
      for (int i = first; i < last; ++i) {
        const unsigned low = lows[i];
        const bool is_there = has_items(i, probes) && item(i, probes) < probes;
        const bool is_found = is_there && low < known_ && build_key(low) == keys[i - first];
        lows[i] = is_found && needs_partners ? low : none;
        has_result |= (is_found ? if_found : is_there && if_missing) ? 1u << i : 0;
        if (needs_all_partners && is_found && low + 1 < known_) {
          has_several |= build_key(low + 1) == keys[i - first];
        }
      }
    }
    return has_result;
  }

  /// Marks the build rows that are the last ones with their key. Call it only if the tile or its lookahead has a build
  /// row. Ends with a barrier.
  STRATA_D void mark_run_ends() const {
    for (unsigned first = threadIdx.x; first - platform::lane_id() < known_ + warp_threads;
         first += searches * threads) {
      STRATA_UNROLL
      for (unsigned k = 0; k < searches; ++k) {
        const unsigned at = first + k * threads;
        const unsigned next = at + 1 < known_ ? at + 1 : known_ - 1;
        const bool is_end = at + 1 == known_ || build_key(detail::least(at, next)) != build_key(next);
        const unsigned ends = __ballot_sync(full_warp_mask, is_end ? 1 : 0);
        const unsigned word = at / warp_threads;
        if (platform::lane_id() == 0 && word < num_end_words) runs_.ends[word] = ends;
      }
    }
    __syncthreads();
  }

  /// The number of build rows from `low` on that have its key, if there are at most `warp_threads`; otherwise 0. Also
  /// reads the word of `ends` after the one of `low`, which mark_run_ends() always writes.
  STRATA_D unsigned short_run(unsigned low) const {
    const unsigned word = low / warp_threads;
    const Count ends = Count{runs_.ends[word + 1]} << warp_threads | runs_.ends[word];
    return static_cast<unsigned>(__ffs(static_cast<int>(ends >> low % warp_threads)));
  }
  /// The number of build rows from `low` on that have its key, if there are more than `warp_threads` and the run ends
  /// among the keys of the tile and its lookahead.
  STRATA_D unsigned long_run(unsigned low) const {
    unsigned word = low / warp_threads + 1;
    while (runs_.ends[word] == 0) ++word;
    const auto rank = static_cast<unsigned>(__ffs(static_cast<int>(runs_.ends[word])));
    return word * warp_threads + rank - low;
  }

  /// The run that leaves the tile.
  STRATA_D unsigned first_item_of_run() const { return runs_.first_item; }
  STRATA_D unsigned first_partner_of_run() const { return runs_.first_partner; }
  STRATA_D Row partners_in_run() const { return runs_.end - first_build - runs_.first_partner; }

  /// The number of results of a probe row that has any. Does not need `mark_run_ends`.
  STRATA_D Row results_of(unsigned low, int i) const {
    if (low == none || !wants_all_partners()) return 1;
    const Key key = probe_key(item(i, probes));
    unsigned count = 1;
    while (low + count < known_ && build_key(low + count) == key) count *= 2;
    // The first different key lies behind the first `count` / 2 keys.
    const unsigned end = detail::first_without(low + count / 2, detail::least(low + count, known_),
                                               [&](unsigned at) { return build_key(at) == key; });
    if (is_open && end == known_) return runs_.end - first_build - low;
    return end - low;
  }

  /// Returns a bit for each build row of the thread that has no partner.
  STRATA_D unsigned find_unmatched() const {
    unsigned is_unmatched = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = item(i, builds);
      if (!has_items(i, builds) || at >= builds) continue;
      const Key key = build_key(at);
      const unsigned high = count_before(probes, [&](unsigned probe) { return !(key < probe_key(probe)); });
      // Probe rows with this key come before it in the merge. The last one is in this tile or just before
      // it.
      const bool has_before = high > 0 || first_probe > 0;
      if (!has_before || keys_[high] != key) is_unmatched |= 1u << i;
    }
    return is_unmatched;
  }

 private:
  STRATA_D Key probe_key(unsigned i) const { return keys_[1 + i]; }
  STRATA_D Key build_key(unsigned i) const { return keys_[1 + probes + i]; }

  STRATA_D bool wants_all_partners() const { return detail::has_pairs(sides_.kind) && !sides_.promised_unique; }

  // Returns how many of `number` rows in ascending order, from the first one on, satisfy `is_before`.
  template <class IsBefore>
  STRATA_D static unsigned count_before(unsigned number, const IsBefore& is_before) {
    unsigned count = 0;
    for (unsigned left = number; left > 0; left /= 2) {
      const unsigned half = left - left / 2;
      count += is_before(count + half - 1) ? half : 0;
    }
    return count;
  }

  template <bool IsFull>
  STRATA_D void read(unsigned items, Key (&keys)[ItemsPerThread]) const {
    const Key* const probe_keys = sides_.probe_keys + first_probe + threadIdx.x;
    const Key* const build_keys = sides_.build_keys + static_cast<std::ptrdiff_t>(first_build) - probes + threadIdx.x;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (!IsFull && at >= items) continue;
      keys[i] = (at < probes ? probe_keys : build_keys)[static_cast<unsigned>(i) * threads];
    }
  }

  // Returns a fence in lane l: the first build row whose key is not less than the key of item l of lane 0.
  STRATA_D unsigned find_fences() const {
    const unsigned at = item(0, probes) + platform::lane_id() * (warp_threads - 1);
    if (at >= probes) return builds;
    const Key key = probe_key(at);
    return count_before(builds, [&](unsigned i) { return build_key(i) < key; });
  }

  // Finds, for the probe rows of items [first, last), the first build row whose key is not less. It lies between two
  // fences. The searches run together, because each step waits for shared memory.
  STRATA_D void search(int first, int last, unsigned fences, Key (&keys)[searches],
                       unsigned (&lows)[ItemsPerThread]) const {
    int most = 0;
    STRATA_UNROLL
    for (int i = first; i < last; ++i) {
      const unsigned at = item(i, probes);
      keys[i - first] = probe_key(at < probes ? at : 0);
      lows[i] = __shfl_sync(full_warp_mask, fences, i);
      const int rows = static_cast<int>(__shfl_sync(full_warp_mask, fences, i + 1) - lows[i]);
      most = detail::most(rows, most);
    }
    auto left = static_cast<unsigned>(most);
    // No search leaves the tile.
    STRATA_UNROLL
    for (int i = first; i < last; ++i) lows[i] = detail::least(lows[i], builds - left);
    const Key* const before = keys_ + probes;
    while (left > 0) {
      const unsigned half = left - left / 2;
      STRATA_UNROLL
      for (int i = first; i < last; ++i) {
        if (before[lows[i] + half] < keys[i - first]) lows[i] += half;
      }
      left /= 2;
    }
  }

  // Debug builds check that keys are sorted and unique as promised.
  STRATA_D void check_promises() const {
#if STRATA_DEBUG
    for (unsigned i = threadIdx.x; i < probes; i += threads) {
      STRATA_ASSERT((i == 0 && first_probe == 0) || !(probe_key(i) < keys_[i]),
                    "JoinSide::sorted was promised, but the key of probe row %llu is less than "
                    "the one before",
                    static_cast<Count>(first_probe + i));
    }
    for (unsigned i = threadIdx.x + 1; i < known_; i += threads) {
      STRATA_ASSERT(!(build_key(i) < build_key(i - 1)),
                    "JoinSide::sorted was promised, but the key of build row %llu is less than "
                    "the one before",
                    static_cast<Count>(first_build + i));
      STRATA_ASSERT(!(sides_.promised_unique && build_key(i) == build_key(i - 1)),
                    "JoinSide::unique was promised, but the key of build row %llu is also "
                    "that of another",
                    static_cast<Count>(first_build + i));
    }
#endif
  }

  // If the key of the last probe rows of the tile equals the last build key in shared memory, any number of partners
  // may follow outside of shared memory.
  STRATA_D void find_run_end() {
    is_open = wants_all_partners() && probes > 0 && known_ > 0 && first_build + known_ < sides_.build_rows &&
              probe_key(probes - 1) == build_key(known_ - 1);
    if (!is_open) return;
    if (threadIdx.x < warp_threads) {
      const Key key = build_key(known_ - 1);
      // All keys before `at` are equal. Each lane compares a key, at multiples of `stride` after it.
      Count at = first_build + known_;
      for (Count stride = 1;;) {
        const Count mine = at + stride * (platform::lane_id() + 1) - 1;
        const bool is_equal = mine < sides_.build_rows && sides_.build_keys[mine] == key;
        const unsigned others = __ballot_sync(full_warp_mask, is_equal ? 0 : 1);
        if (others == 0) {
          at += stride * warp_threads;
          stride *= warp_threads;
          continue;
        }
        at += stride * static_cast<unsigned>(__ffs(static_cast<int>(others)) - 1);
        if (stride == 1) break;
        stride /= warp_threads;
      }
      if (threadIdx.x == 0) runs_.end = static_cast<Row>(at);
    }
    if (threadIdx.x == threads - 1) {
      const Key key = build_key(known_ - 1);
      runs_.first_item = count_before(probes, [&](unsigned i) { return probe_key(i) < key; });
    }
    if (threadIdx.x == threads - 1 - warp_threads) {
      const Key key = build_key(known_ - 1);
      const unsigned low = count_before(known_, [&](unsigned i) { return build_key(i) < key; });
      // The run has the lookahead keys at least, if keys ascend. If they do not, this minimum still keeps the row
      // numbers of results within the build side.
      runs_.first_partner = detail::least(low, known_ - lookahead_keys);
    }
    __syncthreads();
  }

  Key* keys_;
  run_storage& runs_;
  const Sides& sides_;
  /// The number of build keys in shared memory, including lookahead keys.
  unsigned known_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

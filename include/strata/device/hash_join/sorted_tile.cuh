// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#include <strata/device/hash_join/sorted_sides.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A tile of two sides in ascending order, whose keys are in shared memory: each probe row looks for
/// the first build row that is not before it, from where its partners follow. An item is a probe row
/// or a build row of the tile; a thread has up to `ItemsPerThread` of either.
template <class Key, class Row, int BlockThreads, int ItemsPerThread>
class join_sorted_tile {
  using Count = unsigned long long;
  static constexpr unsigned threads = BlockThreads;
  /// Probe rows of a thread that are looked up at the same time.
  static constexpr int searches = 4;
  /// Build keys behind a tile: most runs of equal ones that leave it end among them.
  static constexpr unsigned further_keys = 32;

 public:
  using Sides = join_sorted_sides<Key, Row>;
  static constexpr unsigned tile_items = threads * ItemsPerThread;
  /// Stands for no partner.
  static constexpr unsigned none = 0xffff;
  static_assert(
      BlockThreads % 32 == 0 && tile_items + further_keys < none && ItemsPerThread <= 31,
      "join_sorted_tuning: whole warps, at most 31 rows of a thread and 65,000 of a tile");

  /// The probe key before the tile, those of the tile, its build keys, and those behind.
  static constexpr unsigned num_keys = 1 + tile_items + further_keys;
  /// Words of bits of build rows, and one more.
  static constexpr unsigned num_end_words = (tile_items + further_keys) / warp_threads + 2;

  struct run_storage {
    /// Of the run of equal build keys that leaves the tile and what is known of those behind: its end,
    /// the first probe row with that key, and its own first row here.
    Row end;
    unsigned first_item;
    unsigned first_partner;
    /// A bit for each build row that is the last one with its key, those behind the tile included.
    unsigned ends[num_end_words];
  };

  STRATA_D join_sorted_tile(Key* keys, run_storage& runs, const Sides& sides)
      : keys_(keys), runs_(runs), sides_(sides) {}

  Row first_probe = 0;
  Row first_build = 0;
  unsigned probes = 0;
  unsigned builds = 0;
  /// Whether the last probe rows have partners in such a run.
  bool is_open = false;

  /// Item number `i` of the calling thread, of `items`: a warp has neighbours, each as many.
  STRATA_D static unsigned item(int i, unsigned items) {
    const unsigned warp_items = (items + threads - 1) / threads * warp_threads;
    return threadIdx.x / warp_threads * warp_items + static_cast<unsigned>(i) * warp_threads +
           platform::lane_id();
  }
  /// Whether any thread has an item number `i`.
  STRATA_D static bool has_items(int i, unsigned items) {
    return static_cast<unsigned>(i) * threads < items;
  }

  /// By the whole block, as all that follows.
  STRATA_D void load(Count tile) {
    const Count begin = tile * tile_items;
    const Count rows = sides_.rows() - begin;
    const unsigned items = rows < tile_items ? static_cast<unsigned>(rows) : tile_items;
    const Row first = sides_.splits[tile];
    const Row last = sides_.splits[tile + 1];
    STRATA_ASSERT(first <= last && last - first <= items,
                  "JoinOptions::sorted was promised, but rows are not in ascending order");
    // Nothing outside is read, whatever the order of the keys.
    probes = last < first ? 0 : last - first < items ? static_cast<unsigned>(last - first) : items;
    builds = items - probes;
    first_probe = first;
    first_build = static_cast<Row>(begin - first);
    const Row behind = sides_.build_rows - first_build - builds;
    known_ = builds + (behind < further_keys ? static_cast<unsigned>(behind) : further_keys);

    Key keys[ItemsPerThread];
    if (items == tile_items) {
      read<true>(items, keys);
    } else {
      read<false>(items, keys);
    }
    Key further{};
    if (threadIdx.x < known_ - builds) {
      further = sides_.build_keys[static_cast<Row>(first_build + builds + threadIdx.x)];
    }
    Key before{};
    if (threadIdx.x == threads - 1 && first > 0) before = sides_.probe_keys[first - 1];
    // The block has used what is there.
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at < items) keys_[1 + at] = keys[i];
    }
    if (threadIdx.x < known_ - builds) keys_[1 + items + threadIdx.x] = further;
    if (threadIdx.x == threads - 1) keys_[0] = before;
    __syncthreads();
    check_promises();
    find_run_end();
  }

  /// Which probe rows of the thread have results, a bit for each, and their first partners from
  /// `first_build` on, or `none`.
  STRATA_D unsigned look_up(unsigned (&lows)[ItemsPerThread], bool& has_several) const {
    const JoinKind kind = sides_.kind;
    const bool if_found = kind != JoinKind::anti;
    const bool if_missing = kind != JoinKind::inner && kind != JoinKind::semi;
    const bool names_partners = has_pairs(kind);
    const bool asks_for_more = wants_all_partners();
    const unsigned fences = find_fences();
    unsigned has_result = 0;
    STRATA_UNROLL
    for (int first = 0; first < ItemsPerThread; first += searches) {
      constexpr int all = ItemsPerThread;
      const int last = first + searches < all ? first + searches : all;
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
        lows[i] = is_found && names_partners ? low : none;
        has_result |= (is_found ? if_found : is_there && if_missing) ? 1u << i : 0;
        if (asks_for_more && is_found && low + 1 < known_) {
          has_several |= build_key(low + 1) == keys[i - first];
        }
      }
    }
    return has_result;
  }

  /// Finds which build rows are the last ones with their key; there are some. Then waits for all
  /// threads.
  STRATA_D void mark_run_ends() const {
    for (unsigned first = threadIdx.x; first - platform::lane_id() < known_ + warp_threads;
         first += searches * threads) {
      STRATA_UNROLL
      for (unsigned k = 0; k < searches; ++k) {
        const unsigned at = first + k * threads;
        const unsigned next = at + 1 < known_ ? at + 1 : known_ - 1;
        const bool is_end = at + 1 == known_ || build_key(at < next ? at : next) != build_key(next);
        const unsigned ends = __ballot_sync(full_warp_mask, is_end ? 1 : 0);
        const unsigned word = at / warp_threads;
        if (platform::lane_id() == 0 && word < num_end_words) runs_.ends[word] = ends;
      }
    }
    __syncthreads();
  }

  /// How many build rows from `low` on have its key, if at most `warp_threads`; else 0. The word behind
  /// the last one is read too.
  STRATA_D unsigned short_run(unsigned low) const {
    const unsigned word = low / warp_threads;
    const Count ends = Count{runs_.ends[word + 1]} << warp_threads | runs_.ends[word];
    return static_cast<unsigned>(__ffs(static_cast<int>(ends >> low % warp_threads)));
  }
  /// The same of more than that, unless they leave what is known.
  STRATA_D unsigned long_run(unsigned low) const {
    unsigned word = low / warp_threads + 1;
    while (runs_.ends[word] == 0) ++word;
    const auto rank = static_cast<unsigned>(__ffs(static_cast<int>(runs_.ends[word])));
    return word * warp_threads + rank - low;
  }

  /// Of the run that leaves the tile.
  STRATA_D unsigned first_item_of_run() const { return runs_.first_item; }
  STRATA_D unsigned first_partner_of_run() const { return runs_.first_partner; }
  STRATA_D Row partners_in_run() const { return runs_.end - first_build - runs_.first_partner; }

  /// Rows of the result of a probe row that has any, for those who do not wait for the marks.
  STRATA_D Row results_of(unsigned low, int i) const {
    if (low == none || !wants_all_partners()) return 1;
    const Key key = probe_key(item(i, probes));
    unsigned count = 1;
    while (low + count < known_ && build_key(low + count) == key) count *= 2;
    // The first one that is not equal is behind half as many.
    unsigned begin = low + count / 2;
    unsigned end = low + count < known_ ? low + count : known_;
    while (begin < end) {
      const unsigned middle = (begin + end) / 2;
      if (build_key(middle) == key) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (is_open && begin == known_) return runs_.end - first_build - low;
    return begin - low;
  }

  /// Which build rows of the thread have no partner, a bit for each.
  STRATA_D unsigned find_lonely() const {
    unsigned is_lonely = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = item(i, builds);
      if (!has_items(i, builds) || at >= builds) continue;
      const Key key = build_key(at);
      unsigned high = 0;
      for (unsigned left = probes; left > 0;) {
        const unsigned half = left - left / 2;
        high += key < probe_key(high + half - 1) ? 0 : half;
        left /= 2;
      }
      // Probe rows with this key are before it in the merge; the last one is in this tile or just
      // before.
      const bool has_before = high > 0 || first_probe > 0;
      if (!has_before || keys_[high] != key) is_lonely |= 1u << i;
    }
    return is_lonely;
  }

 private:
  STRATA_D Key probe_key(unsigned i) const { return keys_[1 + i]; }
  STRATA_D Key build_key(unsigned i) const { return keys_[1 + probes + i]; }

  STRATA_D bool wants_all_partners() const {
    return detail::has_pairs(sides_.kind) && !sides_.promised_unique;
  }

  template <bool IsFull>
  STRATA_D void read(unsigned items, Key (&keys)[ItemsPerThread]) const {
    const Key* const probe_keys = sides_.probe_keys + first_probe + threadIdx.x;
    const Key* const build_keys =
        sides_.build_keys + static_cast<std::ptrdiff_t>(first_build) - probes + threadIdx.x;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (!IsFull && at >= items) continue;
      keys[i] = (at < probes ? probe_keys : build_keys)[static_cast<unsigned>(i) * threads];
    }
  }

  // Lane l: the first build row that is not before the first one of the warp's items number l.
  STRATA_D unsigned find_fences() const {
    const unsigned at = item(0, probes) + platform::lane_id() * (warp_threads - 1);
    if (at >= probes) return builds;
    const Key key = probe_key(at);
    unsigned low = 0;
    for (unsigned left = builds; left > 0; left /= 2) {
      const unsigned half = left - left / 2;
      low += build_key(low + half - 1) < key ? half : 0;
    }
    return low;
  }

  // First build rows that are not before the probe rows of items [first, last), each between two
  // fences. Searches go on together, because each step waits for shared memory.
  STRATA_D void search(int first, int last, unsigned fences, Key (&keys)[searches],
                       unsigned (&lows)[ItemsPerThread]) const {
    int most = 0;
    STRATA_UNROLL
    for (int i = first; i < last; ++i) {
      const unsigned at = item(i, probes);
      keys[i - first] = probe_key(at < probes ? at : 0);
      lows[i] = __shfl_sync(full_warp_mask, fences, i);
      const int rows = static_cast<int>(__shfl_sync(full_warp_mask, fences, i + 1) - lows[i]);
      most = most < rows ? rows : most;
    }
    auto left = static_cast<unsigned>(most);
    // No search leaves the tile.
    STRATA_UNROLL
    for (int i = first; i < last; ++i) lows[i] = lows[i] < builds - left ? lows[i] : builds - left;
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

  // In debug builds.
  STRATA_D void check_promises() const {
#if STRATA_DEBUG
    for (unsigned i = threadIdx.x; i < probes; i += threads) {
      STRATA_ASSERT((i == 0 && first_probe == 0) || !(probe_key(i) < keys_[i]),
                    "JoinOptions::sorted was promised, but the key of probe row %llu is less than "
                    "the one before",
                    static_cast<Count>(first_probe + i));
    }
    for (unsigned i = threadIdx.x + 1; i < known_; i += threads) {
      STRATA_ASSERT(!(build_key(i) < build_key(i - 1)),
                    "JoinOptions::sorted was promised, but the key of build row %llu is less than "
                    "the one before",
                    static_cast<Count>(first_build + i));
      STRATA_ASSERT(!(sides_.promised_unique && build_key(i) == build_key(i - 1)),
                    "JoinOptions::build_unique was promised, but the key of build row %llu is also "
                    "that of another",
                    static_cast<Count>(first_build + i));
    }
#endif
  }

  // If probe rows of the tile have partners up to the last build key that is here, there may be
  // any number of further ones.
  STRATA_D void find_run_end() {
    is_open = wants_all_partners() && probes > 0 && known_ > 0 &&
              first_build + known_ < sides_.build_rows &&
              probe_key(probes - 1) == build_key(known_ - 1);
    if (!is_open) return;
    if (threadIdx.x < warp_threads) {
      const Key key = build_key(known_ - 1);
      // All before `at` are equal; each lane asks for the end of a stretch behind it.
      Count at = first_build + known_;
      for (Count stretch = 1;;) {
        const Count mine = at + stretch * (platform::lane_id() + 1) - 1;
        const bool is_equal = mine < sides_.build_rows && sides_.build_keys[mine] == key;
        const unsigned others = __ballot_sync(full_warp_mask, is_equal ? 0 : 1);
        if (others == 0) {
          at += stretch * warp_threads;
          stretch *= warp_threads;
          continue;
        }
        at += stretch * static_cast<unsigned>(__ffs(static_cast<int>(others)) - 1);
        if (stretch == 1) break;
        stretch /= warp_threads;
      }
      if (threadIdx.x == 0) runs_.end = static_cast<Row>(at);
    }
    if (threadIdx.x == threads - 1) {
      const Key key = build_key(known_ - 1);
      unsigned low = 0;
      for (unsigned left = probes; left > 0; left /= 2) {
        const unsigned half = left - left / 2;
        low += probe_key(low + half - 1) < key ? half : 0;
      }
      runs_.first_item = low;
    }
    if (threadIdx.x == threads - 1 - warp_threads) {
      const Key key = build_key(known_ - 1);
      unsigned low = 0;
      for (unsigned left = known_; left > 0; left /= 2) {
        const unsigned half = left - left / 2;
        low += build_key(low + half - 1) < key ? half : 0;
      }
      runs_.first_partner = low;
    }
    __syncthreads();
  }

  Key* keys_;
  run_storage& runs_;
  const Sides& sides_;
  /// Build keys of the tile and those behind it that are here.
  unsigned known_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

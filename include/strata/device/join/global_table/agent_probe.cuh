// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/global_table/table.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Looks up a tile of probe rows, or finds the unmatched rows of a tile of build rows, and writes the
/// rows of the result. The whole block calls all public member functions except `count_by_warp`. `Tuning` is the
/// policy.
template <class Tuning, class Table, class Keys, int BlockThreads, int ItemsPerThread>
class AgentJoinProbe {
  using Slot = typename Table::Slot;
  using Word = typename Table::Word;
  using Row = decltype(Table::rows);
  using Count = unsigned long long;
  using Scan = BlockScan<Count, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  using OutputOffsets = join_output_offsets<BlockThreads, Tuning::output.group_threads>;
  static constexpr Count chunk_rows = Tuning::output.chunk_rows;
  static constexpr Count warp_results = Tuning::table.warp_results;

 public:
  static constexpr int tile_items = BlockThreads * ItemsPerThread;

  struct TempStorage {
    typename Scan::TempStorage scan;
    /// First the number of results of each item, then the rank of its first result in the tile.
    Count begins[tile_items + 1];
    /// For an item with one result, its partner or none; for an item with several, the offset of its partners in the
    /// table's lists.
    Row partners[tile_items];
    Count tile_offset;
    typename OutputOffsets::TempStorage offsets;
  };

  STRATA_D AgentJoinProbe(TempStorage& storage, const Table& table, const join_probe<Keys, Row>& probe)
      : storage_(storage), table_(table), probe_(probe), offsets_(storage.offsets, probe.total) {}

  /// Returns the number of results that the calling thread finds in a tile.
  STRATA_D static Count count(const Table& table, const join_probe<Keys, Row>& probe, Count tile) {
    Count counts[ItemsPerThread];
    Row partners[ItemsPerThread];
    look_up(table, probe, tile, counts, partners);
    Count sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) sum += counts[i];
    return sum;
  }

  /// Looks a tile up in a left join. Calls `use(row, count, partner)` for each probe row that the table joins, with the
  /// number of its results, and its partner as in TempStorage.
  template <class Use>
  STRATA_D static void for_each_row(const Table& table, const join_probe<Keys, Row>& probe, Count tile,
                                    const Use& use) {
    Count counts[ItemsPerThread];
    Row partners[ItemsPerThread];
    const Count first = tile * tile_items + threadIdx.x;
    look_up_probe_rows(table, probe, first, counts, partners);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      Row row = 0;
      if (counts[i] == 0) continue;
      probe.list.get(first + static_cast<unsigned>(i * BlockThreads), row);
      use(row, counts[i], partners[i]);
    }
  }

  /// Looks a tile up and returns the number of its results, to all threads. `write` may follow.
  STRATA_D Count prepare(Count tile) {
    Count counts[ItemsPerThread];
    Row partners[ItemsPerThread];
    look_up(table_, probe_, tile, counts, partners);
    return prepare(counts, partners);
  }

  /// Writes results [first, last) of the tile that `prepare` was called with. Result 0 of the tile has
  /// position `begin` in the whole result.
  template <class Index, class Sink>
  STRATA_D void write(Count tile, Count begin, Count first, Count last, const Sink& sink) const {
    const Count capacity = static_cast<Count>(probe_.capacity);
    const Count limit = begin < capacity ? capacity - begin : 0;
    if (limit < last) last = limit;
    if (first >= last) return;
    // A warp writes neighbouring results, most of which belong to the same item if items have many.
    constexpr Count warps = BlockThreads / warp_threads;
    const Count even = (last - first + warps - 1) / warps;
    const Count each = detail::least(even, warp_results);
    for (Count at = first + threadIdx.x / warp_threads * each; at < last; at += warps * each) {
      write_by_warp<Index>(tile, begin, at, detail::least(at + each, last), sink);
    }
  }

  /// Looks a tile up and writes its results behind those of the tiles before it. `prefix` is a running_prefix.
  template <class Index, class Prefix, class Sink>
  STRATA_D void join_in_order(Count tile, Prefix& prefix, const Sink& sink) {
    const Count all = prepare(tile);
    if (threadIdx.x < warp_threads) {
      const Count begin = prefix(all);
      if (threadIdx.x == 0) {
        storage_.tile_offset = begin;
        if (tile + 1 == probe_.probe_tiles) *probe_.total = begin + all;
      }
    }
    prefix.leave();
    __syncthreads();
    write<Index>(tile, storage_.tile_offset, 0, all, sink);
  }

  /// Returns the number of results of a tile of probe rows. All lanes of a warp call this.
  STRATA_D static Count count_by_warp(const Table& table, const join_probe<Keys, Row>& probe, Count tile) {
    // not for users: the kernel of few rows has one row for each thread
    static_assert(ItemsPerThread == 1, "count_by_warp needs one row for each thread");
    Count sum = 0;
    STRATA_UNROLL_N(1)
    for (int i = static_cast<int>(platform::lane_id()); i < tile_items; i += warp_threads) {
      Count counts[ItemsPerThread];
      Row partners[ItemsPerThread];
      look_up_probe_rows(table, probe, tile * tile_items + static_cast<unsigned>(i), counts, partners);
      sum += counts[0];
    }
    return detail::sum_of_warp(sum);
  }

  /// Looks a tile up, reserves its range of the result, and writes its results, or adds it to the list if
  /// it has many.
  template <class Index, class Sink>
  STRATA_D void join(Count tile, const join_tile_list& list, const Sink& sink) {
    Count counts[ItemsPerThread];
    Row partners[ItemsPerThread];
    look_up(table_, probe_, tile, counts, partners);
    bool has_several = false;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) has_several |= counts[i] > 1;
    // After this barrier, all threads have written their results of the previous tile.
    if (__syncthreads_or(has_several ? 1 : 0) == 0) {
      write_one_each<Index>(tile, counts, partners, sink);
      return;
    }
    const Count all = prepare(counts, partners);
    if (threadIdx.x == 0) {
      const Count offset = atomicAdd(probe_.total, all);
      storage_.tile_offset = offset;
      if (all > chunk_rows) list.add<chunk_rows>(tile, offset, all, probe_.capacity);
    }
    __syncthreads();
    if (all <= chunk_rows) write<Index>(tile, storage_.tile_offset, 0, all, sink);
  }

 private:
  // Writes results [first, last) of the tile.
  template <class Index, class Sink>
  STRATA_D void write_by_warp(Count tile, Count begin, Count first, Count last, const Sink& sink) const {
    Count item_begin = 0;
    Count item_end = 0;
    Row partner = 0;
    Index row = 0;
    for (Count at = first; at < last;) {
      const Count mine = at + platform::lane_id();
      if (mine < last) {
        if (mine >= item_end) {
          const int item = item_of(mine);
          item_begin = storage_.begins[item];
          item_end = storage_.begins[item + 1];
          partner = storage_.partners[item];
          row = row_of<Index>(tile, item);
        }
        Row found = partner;
        if (item_end - item_begin > 1) {
          found = table_.lists[partner + static_cast<Row>(mine - item_begin)];
        }
        sink(static_cast<std::int64_t>(begin + mine), found == Table::none ? no_row<Index> : static_cast<Index>(found),
             row);
      }
      at += warp_threads;
      // The remaining results of the last lane's item need no search.
      constexpr int last_lane = warp_threads - 1;
      const Count rest_end = __shfl_sync(full_warp_mask, item_end, last_lane);
      if (at >= last || rest_end < at + warp_threads) continue;
      const Count end = detail::least(rest_end, last);
      item_begin = __shfl_sync(full_warp_mask, item_begin, last_lane);
      item_end = rest_end;
      partner = __shfl_sync(full_warp_mask, partner, last_lane);
      row = __shfl_sync(full_warp_mask, row, last_lane);
      write_partners(table_.lists + partner + static_cast<Row>(at - item_begin), static_cast<unsigned>(end - at),
                     static_cast<std::int64_t>(begin + at), row, sink);
      at = end;
    }
  }

  // Writes the results of a probe row with `count` partners that lie side by side. A lane has several loads in flight.
  // All lanes of a warp call this.
  template <class Index, class Sink>
  STRATA_D static void write_partners(const Row* partners, unsigned count, std::int64_t position, Index row,
                                      const Sink& sink) {
    constexpr unsigned ahead = Tuning::output.partner_items;
    unsigned i = platform::lane_id();
    for (; i + (ahead - 1) * warp_threads < count; i += ahead * warp_threads) {
      Row found[ahead];
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) found[k] = partners[i + k * warp_threads];
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) {
        sink(position + i + k * warp_threads, static_cast<Index>(found[k]), row);
      }
    }
    for (; i < count; i += warp_threads) sink(position + i, static_cast<Index>(partners[i]), row);
  }

  STRATA_D Count prepare(Count (&counts)[ItemsPerThread], const Row (&partners)[ItemsPerThread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const int item = i * BlockThreads + static_cast<int>(threadIdx.x);
      storage_.begins[item] = counts[i];
      storage_.partners[item] = partners[i];
    }
    __syncthreads();
    // In the order of the rows: a thread has neighbouring items.
    const int first = static_cast<int>(threadIdx.x) * ItemsPerThread;
    Count sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      counts[i] = storage_.begins[first + i];
      sum += counts[i];
    }
    Count before = 0;
    Count all = 0;
    Scan(storage_.scan).ExclusiveSum(sum, before, all);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      storage_.begins[first + i] = before;
      before += counts[i];
    }
    if (threadIdx.x == BlockThreads - 1) storage_.begins[tile_items] = before;
    __syncthreads();
    return all;
  }

  // Writes the results of a tile whose items have at most one result each.
  template <class Index, class Sink>
  STRATA_D void write_one_each(Count tile, const Count (&counts)[ItemsPerThread], const Row (&partners)[ItemsPerThread],
                               const Sink& sink) {
    unsigned begins[ItemsPerThread];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      begins[i] = OutputOffsets::scan_flag(counts[i] != 0, sum);
    }
    const Count offset = offsets_.reserve(sum);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const Count to = offset + begins[i];
      if (counts[i] == 0 || to >= static_cast<Count>(probe_.capacity)) continue;
      const int item = i * BlockThreads + static_cast<int>(threadIdx.x);
      sink(static_cast<std::int64_t>(to), partners[i] == Table::none ? no_row<Index> : static_cast<Index>(partners[i]),
           row_of<Index>(tile, item));
    }
  }

  // The probe row of an item; none if the item is a build row.
  template <class Index>
  STRATA_D Index row_of(Count tile, int item) const {
    if (tile >= probe_.probe_tiles) return no_row<Index>;
    Row row = 0;
    probe_.list.get(tile * tile_items + static_cast<unsigned>(item), row);
    return static_cast<Index>(row);
  }

  STRATA_D static void look_up(const Table& table, const join_probe<Keys, Row>& probe, Count tile,
                               Count (&counts)[ItemsPerThread], Row (&partners)[ItemsPerThread]) {
    if (tile < probe.probe_tiles) {
      look_up_probe_rows(table, probe, tile * tile_items + threadIdx.x, counts, partners);
    } else {
      look_at_build_rows(table, (tile - probe.probe_tiles) * tile_items + threadIdx.x, counts, partners);
    }
  }

  STRATA_D static void look_up_probe_rows(const Table& table, const join_probe<Keys, Row>& probe, Count first,
                                          Count (&counts)[ItemsPerThread], Row (&partners)[ItemsPerThread]) {
    iterator_value_t<Keys> keys[ItemsPerThread];
    bool is_there[ItemsPerThread];
    bool has_key[ItemsPerThread];
    Word hashes[ItemsPerThread];
    Row slots[ItemsPerThread];
    Word words[ItemsPerThread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const Count at = first + static_cast<unsigned>(i * BlockThreads);
      Row row = 0;
      is_there[i] = at < detail::rows_of(probe) && probe.list.get(at, row);
      has_key[i] = is_there[i] && detail::join_row_is_valid(probe.valid, row);
      if (has_key[i]) keys[i] = probe.keys[row];
    }
    // The first loads of all items are in flight together. Few keys need a second load.
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      words[i] = Slot::empty;
      if (!has_key[i]) continue;
      hashes[i] = table.hash_of(keys[i]);
      if (!probe.list.has_hash(detail::upper_half(hashes[i]))) {
        has_key[i] = false;
        is_there[i] = false;
        continue;
      }
      slots[i] = table.first_slot(hashes[i]);
      words[i] = table.load(slots[i]);
    }
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      typename Table::lookup_result at{Table::none, Slot::empty};
      if (has_key[i]) {
        at = table.find(keys[i], hashes[i], slots[i], words[i]);
      } else if (is_there[i]) {
        at = table.find_null();
      }
      counts[i] = 0;
      partners[i] = Table::none;
      if (is_there[i]) count_row(table, probe.kind, at, counts[i], partners[i]);
    }
  }

  STRATA_D static void count_row(const Table& table, JoinKind kind, const typename Table::lookup_result& at,
                                 Count& count, Row& partner) {
    const bool is_found = at.slot != Table::none;
    if (is_found && table.matched != nullptr) table.mark_matched(at.slot);
    if (kind == JoinKind::semi || kind == JoinKind::anti) {
      count = is_found == (kind == JoinKind::semi) ? 1 : 0;
    } else if (!is_found) {
      count = kind == JoinKind::inner ? 0 : 1;
    } else {
      const Row partners = table.count_at(at);
      count = partners;
      partner = partners == 1 ? Slot::row(at.word) : table.lists != nullptr ? table.begins[at.slot] : 0;
    }
  }

  STRATA_D static void look_at_build_rows(const Table& table, Count first, Count (&counts)[ItemsPerThread],
                                          Row (&partners)[ItemsPerThread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const Count at = first + static_cast<unsigned>(i * BlockThreads);
      partners[i] = Table::none;
      counts[i] = 0;
      Row row = 0;
      if (at >= detail::rows_of(table) || !table.list.get(at, row)) continue;
      partners[i] = row;
      const Row slot = table.slot_of[row];
      counts[i] = slot == Table::none || !table.is_matched(slot) ? 1 : 0;
    }
  }

  // The last item whose results begin at or before `at`. If several items begin there, all but the last
  // have no results.
  STRATA_D int item_of(Count at) const {
    int item = 0;
    STRATA_UNROLL
    for (int step = power_below(tile_items); step > 0; step /= 2) {
      if (item + step < tile_items && storage_.begins[item + step] <= at) item += step;
    }
    return item;
  }
  STRATA_HD static constexpr int power_below(int count) {
    int power = 1;
    while (power * 2 < count) power *= 2;
    return power;
  }

  TempStorage& storage_;
  const Table& table_;
  const join_probe<Keys, Row>& probe_;
  OutputOffsets offsets_;
};

}  // namespace detail
STRATA_NAMESPACE_END

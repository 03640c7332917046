// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/agent_state.cuh>
#include <strata/device/join/shared_table/shared_table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Joins a work item by a table in shared memory. If a partition has more build rows than a table holds, or keys have
/// many build rows, it defers the work item to AgentJoinDuplicates. If there is no such agent for these keys, it marks
/// the partition as overflowing, and the table in global memory joins the partition. Groups of warps take tiles of
/// probe rows in turn. Only the warps of a group wait for each other.
template <class Keys, class Hash, class Equal, class Index, class Sink, int BlockThreads, int GroupThreads, int Items,
          bool IsOneTable>
class AgentJoinTables {
  using State = shared_table_state<Keys, Hash, Equal, Index, Sink, BlockThreads, GroupThreads, IsOneTable, false>;
  using Count = typename State::Count;
  using OutputOffsets = typename State::OutputOffsets;
  using Partitions = typename State::Partitions;
  using Row = typename State::Row;
  using Table = typename State::Table;
  using Word = typename State::Word;
  // False if AgentJoinDuplicates cannot join what is deferred: the table in global memory then joins it. In a join by
  // one table, the constant is false, too. The kernel of the table in global memory may have more blocks, which write
  // the results of keys with many build rows.
  static constexpr bool has_successor = Partitions::hash_is_key && !IsOneTable;

 public:
  using TempStorage = typename State::TempStorage;
  template <class OtherSink>
  using with_sink = AgentJoinTables<Keys, Hash, Equal, Index, OtherSink, BlockThreads, GroupThreads, Items, IsOneTable>;

  STRATA_D AgentJoinTables(TempStorage& storage, unsigned char* shared, const Partitions& join, const Sink& sink)
      : state_(storage, shared, join, sink) {}

  /// Joins a work item, which has the index `index`. One with fewer than `min_deferred_rows` probe rows is deferred
  /// only if no table can be built: there are too many build rows, or a bucket is oversized.
  STRATA_D void run(const join_work_item& work_item, unsigned index, unsigned min_deferred_rows) {
    unsigned begin = 0;
    unsigned rows = detail::rows_of(state_.join.build);
    unsigned probe_begin = work_item.first;
    if constexpr (!IsOneTable) {
      begin = state_.join.build.begins[work_item.partition];
      rows = state_.join.build.begins[work_item.partition + 1] - begin;
      probe_begin += state_.join.probe.begins[work_item.partition];
      if (has_successor && rows > state_.join.plan.table_rows) return defer(work_item, index);
    }
    state_.build_begin = begin;
    const bool is_full = state_.join.kind == JoinKind::full;
    if (is_full) state_.clear_found(rows);
    const bool defers_duplicates = has_successor && State::has_rows && !State::writes_partners &&
                                   detail::has_pairs(state_.join.kind) && !state_.stops_at_one() &&
                                   work_item.rows >= min_deferred_rows;
    if (!state_.table.build(
            rows, [&](std::size_t i) { return state_.build_row_of(begin, i); }, defers_duplicates)) {
      return defer(work_item, index);
    }
    if (is_full) {
      probe<true>(probe_begin, work_item.rows);
      state_.emit_unmatched_rows(rows);
    } else {
      probe<false>(probe_begin, work_item.rows);
    }
    if constexpr (!State::has_rows) state_.add_counted();
  }

 private:
  STRATA_D void defer(const join_work_item& work_item, unsigned index) const {
    if (threadIdx.x != 0) return;
    if constexpr (has_successor) {
      state_.join.defer(index);
    } else {
      platform::store_relaxed(state_.join.is_overflowing + work_item.partition, 1u);
      platform::store_relaxed(state_.join.any_is_overflowing, 1u);
    }
  }

  template <bool IsFull>
  STRATA_D void probe(unsigned begin, unsigned rows) {
    constexpr unsigned group_tile = OutputOffsets::group_threads * Items;
    const unsigned group = threadIdx.x / OutputOffsets::group_threads;
    // The rows of a warp lie side by side, and so do their results.
    const unsigned warp = threadIdx.x % OutputOffsets::group_threads / warp_threads;
    const unsigned in_tile = warp * Items * warp_threads + platform::lane_id();
    for (unsigned first = group * group_tile; first < rows; first += State::threads * Items) {
      const std::size_t at = std::size_t{begin} + first + in_tile;
      const unsigned left = first + in_tile < rows ? rows - first - in_tile : 0;
      unsigned probe_rows[Items];
      unsigned partners[Items];
      const unsigned counts = look_up<IsFull>(at, left, probe_rows, partners);
      if constexpr (State::writes_partners) {
        STRATA_UNROLL
        for (unsigned i = 0; i < Items; ++i) {
          if (i * warp_threads >= left) continue;
          state_.sink.write(at + i * warp_threads, probe_rows[i], count_of(counts, static_cast<int>(i)) != 0,
                            partners[i]);
        }
      } else {
        emit(at, counts, probe_rows, partners);
      }
    }
  }

  // Finds the number of results of each row of the thread, and one of its partners, if results have partners. Each
  // round compares an entry for every row, without branches, so that loads for other rows are in flight meanwhile.
  template <bool IsFull>
  STRATA_D unsigned look_up(std::size_t at, unsigned left, unsigned (&probe_rows)[Items],
                            unsigned (&partners)[Items]) const {
    const bool needs_one = state_.join.kind == JoinKind::semi || state_.join.kind == JoinKind::anti;
    const bool is_one_enough = needs_one || state_.stops_at_one();
    Row items[Items];
    STRATA_UNROLL
    for (unsigned i = 0; i < Items; ++i) {
      items[i] = {0, State::none};
      if (i * warp_threads < left) items[i] = state_.row_of(state_.join.probe, at + i * warp_threads);
    }
    Word rests[Items];
    unsigned entries[Items];
    unsigned ends[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      rests[i] = state_.table.rest_of(items[i].hash);
      state_.table.find(items[i].hash, entries[i], ends[i]);
      probe_rows[i] = items[i].row;
      if (probe_rows[i] == State::none) ends[i] = 0;
      partners[i] = State::none;
    }
    unsigned counts = 0;
    for (bool any_is_left = true; any_is_left;) {
      any_is_left = false;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        Word seen = Table::no_row_seen;
        if (entries[i] < ends[i]) seen = state_.table.seen_from(rests[i], entries[i]);
        const bool is_found = state_.is_partner(seen, probe_rows[i]);
        if constexpr (IsFull) {
          if (is_found) atomicOr(state_.found + entries[i] / 32, 1u << (entries[i] % 32));
        }
        partners[i] = is_found ? static_cast<unsigned>(seen) : partners[i];
        counts += is_found ? 1u << (count_bits * i) : 0;
        STRATA_ASSERT(!(state_.join.promised_unique && count_of(counts, i) > 1),
                      "JoinSide::unique was promised, but the key of build row %u is also "
                      "that of another",
                      partners[i]);
        ends[i] = is_found && is_one_enough ? 0 : ends[i];
        ++entries[i];
        any_is_left |= entries[i] < ends[i];
      }
    }
    if (state_.join.kind == JoinKind::inner) return counts;
    unsigned results = 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const unsigned found = count_of(counts, i);
      unsigned count = found != 0 ? found : 1;
      if (needs_one) {
        count = (found != 0) == (state_.join.kind == JoinKind::semi) ? 1 : 0;
        partners[i] = State::none;
      }
      if (probe_rows[i] != State::none) results |= count << (count_bits * i);
    }
    return results;
  }

  // One word has the counts of all rows of a thread.
  static constexpr int count_bits = 8;
  static_assert(max_join_bucket_rows < (1u << count_bits) && Items * count_bits <= 32,
                "join_partition_tuning: join_items must be at most 4");
  STRATA_D static unsigned count_of(unsigned counts, int item) {
    return counts >> (count_bits * item) & ((1u << count_bits) - 1);
  }

  // Reserves the range of the group's results and writes them. All warps of a group must call, because
  // `reserve` has barriers.
  STRATA_D void emit(std::size_t at, unsigned counts, const unsigned (&probe_rows)[Items],
                     const unsigned (&partners)[Items]) {
    if constexpr (!State::has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) state_.counted += count_of(counts, i);
    } else {
      constexpr unsigned several = 0xfefefefe;
      const bool has_several = __any_sync(full_warp_mask, (counts & several) != 0 ? 1 : 0) != 0;
      unsigned begins[Items];
      unsigned sum = 0;
      if (has_several) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          begins[i] = OutputOffsets::scan_count(count_of(counts, i), sum);
        }
      } else {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          begins[i] = OutputOffsets::scan_flag(count_of(counts, i) != 0, sum);
        }
      }
      const Count offset = state_.offsets.reserve(sum);
      if (has_several) {
        STRATA_UNROLL
        for (unsigned i = 0; i < Items; ++i) {
          const unsigned count = count_of(counts, static_cast<int>(i));
          Row item{0, State::none};
          if (count != 0) item = state_.row_of(state_.join.probe, at + i * warp_threads);
          write_several(item, count, offset + begins[i]);
        }
      } else if (offset + sum <= static_cast<Count>(state_.join.capacity)) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          if (count_of(counts, i) != 0) {
            state_.write_inside(offset + begins[i], partners[i], probe_rows[i]);
          }
        }
      } else {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          if (count_of(counts, i) != 0) state_.write(offset + begins[i], partners[i], probe_rows[i]);
        }
      }
    }
  }

  // Writes the results of a warp's rows, some of which have several partners. The partners of a row nearly always lie
  // side by side. Then neighbouring lanes write neighbouring results, of one row or of several.
  STRATA_D void write_several(const Row& item, unsigned count, Count offset) const {
    const Word rest = state_.table.rest_of(item.hash);
    unsigned first = State::none;
    bool is_straight = true;
    if (count != 0) {
      unsigned entry = 0;
      unsigned end = 0;
      state_.table.find(item.hash, entry, end);
      unsigned rank = 0;
      for (; entry < end && rank < count; ++entry) {
        if (!state_.is_partner(state_.table.seen_from(rest, entry), item.row)) continue;
        if (rank == 0) first = entry;
        is_straight = is_straight && entry == first + rank;
        ++rank;
      }
    }
    if (!is_straight) write_scattered(item, rest, first, count, offset);

    const Count warp_offset = __shfl_sync(full_warp_mask, offset, 0);
    const auto begin = static_cast<unsigned>(offset - warp_offset);
    const unsigned all = __shfl_sync(full_warp_mask, begin + count, warp_threads - 1);
    for (unsigned base = 0; base < all; base += warp_threads) {
      const unsigned at = base + platform::lane_id();
      const auto owner = static_cast<int>(OutputOffsets::owner_of(at, begin));
      const unsigned rank = at - __shfl_sync(full_warp_mask, begin, owner);
      const unsigned entry = __shfl_sync(full_warp_mask, first, owner);
      const unsigned row = __shfl_sync(full_warp_mask, item.row, owner);
      const bool mine = __shfl_sync(full_warp_mask, is_straight ? 1 : 0, owner) != 0;
      if (at >= all || !mine) continue;
      state_.write(warp_offset + at, entry == State::none ? State::none : state_.table.row_at(entry + rank), row);
    }
  }

  STRATA_D void write_scattered(const Row& item, Word rest, unsigned entry, unsigned count, Count offset) const {
    for (unsigned rank = 0; rank < count; ++entry) {
      const Word seen = state_.table.seen_from(rest, entry);
      if (!state_.is_partner(seen, item.row)) continue;
      state_.write(offset + rank, static_cast<unsigned>(seen), item.row);
      ++rank;
    }
  }

  State state_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/agent_state.cuh>
#include <strata/device/join/shared_table/grouped_table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The probe rows with partners that a group of warps has looked up. The partners of a row lie side by
/// side in the table.
template <unsigned Rows>
struct join_duplicates_list {
  /// The number of the row's first result.
  unsigned begins[Rows + warp_threads];
  unsigned rows[Rows];
  /// The first partner.
  unsigned short entries[Rows];
};

/// Shared memory of AgentJoinDuplicates: a part for each group of `Warps` warps, and the shared memory of its state.
template <class StateStorage, unsigned Groups, unsigned Warps>
struct join_duplicates_storage {
  struct sums {
    /// How many rows of a warp are in the list, and how many results they have. One word holds both numbers (see
    /// `row_unit`).
    unsigned listed;
    /// The rows of a warp that are in the result without a build row.
    unsigned singles;
  };
  StateStorage state;
  sums of_warps[Groups][Warps];
  unsigned long long offsets[Groups];
  unsigned ticket;
};

/// Joins the deferred work items by a table in shared memory or by several tables, one after another. Mostly, their
/// build keys have many rows. Most of the work is to write results: a group of warps looks some probe rows up, and its
/// warps write equal parts of their results, however many each row has.
template <class Keys, class Hash, class Equal, class Index, class Sink, int BlockThreads, int GroupThreads>
class AgentJoinDuplicates {
  using State = shared_table_state<Keys, Hash, Equal, Index, Sink, BlockThreads, GroupThreads, false, true,
                                   is_join_word<iterator_value_t<Keys>, Hash, Equal>>;
  using Count = typename State::Count;
  using OutputOffsets = typename State::OutputOffsets;
  using Partitions = typename State::Partitions;
  using Row = typename State::Row;
  static constexpr unsigned group_threads = OutputOffsets::group_threads;
  static constexpr unsigned groups = State::threads / group_threads;
  static constexpr unsigned group_warps = group_threads / warp_threads;

 public:
  using List = join_duplicates_list<group_threads>;
  /// Bytes of the lists of all groups, which follow the table.
  static constexpr std::size_t list_bytes = groups * sizeof(List);

  using TempStorage = join_duplicates_storage<typename State::TempStorage, groups, group_warps>;
  using sums = typename TempStorage::sums;
  template <class OtherSink>
  using with_sink = AgentJoinDuplicates<Keys, Hash, Equal, Index, OtherSink, BlockThreads, GroupThreads>;

  STRATA_D AgentJoinDuplicates(TempStorage& storage, unsigned char* shared, const Partitions& join, const Sink& sink)
      : state_(storage.state, shared, join, sink),
        storage_(storage),
        list_(reinterpret_cast<List*>(
            shared + join.plan.table_bytes(join.kind == JoinKind::full))[threadIdx.x / group_threads]) {}

  /// Joins deferred work items by tickets. If they are few, a ticket is for a part of one.
  STRATA_D void run() {
    const unsigned number = *state_.join.num_deferred;
    unsigned parts = (gridDim.x + gridDim.x / 2 + number - 1) / number;
    // One block must join all probe rows to know which build rows have no partner.
    if (state_.join.kind == JoinKind::full) parts = 1;
    for (;;) {
      const unsigned ticket = detail::take_block_ticket(state_.join.next_deferred, storage_.ticket);
      if (ticket / parts >= number) break;
      join_work_item work_item = state_.join.work_items[state_.join.deferred[ticket / parts]];
      const unsigned each = work_item.rows / parts + (work_item.rows % parts != 0 ? 1 : 0);
      const unsigned begin = ticket % parts * each;
      if (begin < work_item.rows || parts == 1) {
        const unsigned left = work_item.rows - begin;
        work_item.first += begin;
        work_item.rows = detail::least(left, each);
        join(work_item);
      }
      __syncthreads();
    }
    if constexpr (!State::has_rows) state_.add_counted();
  }

 private:
  STRATA_D void join(const join_work_item& work_item) {
    const unsigned begin = state_.join.build.begins[work_item.partition];
    const unsigned rows = state_.join.build.begins[work_item.partition + 1] - begin;
    const unsigned probe_begin = state_.join.probe.begins[work_item.partition] + work_item.first;
    const bool is_full = state_.join.kind == JoinKind::full;
    for (unsigned first = 0; first < rows;) {
      const unsigned left = rows - first;
      const unsigned some = detail::least(left, state_.join.plan.table_rows);
      if (is_full) state_.clear_found(some);
      state_.build_begin = begin + first;
      state_.table.build(some, [&](std::size_t i) { return state_.build_row_of(begin + first, i); });
      if (is_full) {
        probe<true>(probe_begin, work_item.rows);
        state_.emit_unmatched_rows(some);
      } else {
        probe<false>(probe_begin, work_item.rows);
      }
      first += some;
      __syncthreads();
    }
  }

  template <bool IsFull>
  STRATA_D void probe(unsigned begin, unsigned rows) {
    // A thread has one row at a time. In each round, a group takes up to `each` rows. The last groups may have fewer or
    // none.
    const unsigned rounds = rows / State::threads + (rows % State::threads != 0 ? 1 : 0);
    const unsigned slices = rounds * groups;
    const unsigned each = rounds == 0 ? 0 : (rows + (slices - 1)) / slices;
    const unsigned in_group = threadIdx.x % group_threads;
    Row item{0, State::none};
    std::size_t position = 0;  // of the item among the partitions
    results mine{{0, 0}, false};
    const auto look_up = [&](unsigned first) {
      item.row = State::none;
      if (in_group < each && first + in_group < rows) {
        position = std::size_t{begin} + first + in_group;
        item = state_.row_of(state_.join.probe, position);
      }
      mine = results_of<IsFull>(item);
    };
    // All warps reach the same number of barriers, also those without rows.
    unsigned first = threadIdx.x / group_threads * each;
    if (rounds != 0) look_up(first);
    for (unsigned round = 1; round <= rounds; ++round) {
      first += groups * each;
      const auto look_up_next = [&] {
        if (round != rounds) look_up(first);
      };
      if constexpr (State::writes_partners) {
        const unsigned partner = mine.partners.count != 0 ? state_.table.row_at(mine.partners.first) : State::none;
        if (item.row != State::none) state_.sink.write(position, item.row, mine.number() != 0, partner);
        look_up_next();
      } else if constexpr (State::has_rows) {
        emit(item.row, mine, look_up_next);
      } else {
        state_.counted += mine.number();
        look_up_next();
      }
    }
  }

  /// The results of a probe row: one with each partner, or one without a build row, or none.
  struct results {
    join_run partners;
    bool has_single;
    STRATA_D unsigned number() const { return has_single ? 1 : partners.count; }
  };

  template <bool IsFull>
  STRATA_D results results_of(const Row& item) const {
    if (item.row == State::none) return {{0, 0}, false};
    join_run partners = state_.table.run_of(item.hash);
    if constexpr (IsFull) mark_found(partners.first, partners.first + partners.count);
    STRATA_ASSERT(!(state_.join.promised_unique && partners.count > 1),
                  "JoinSide::unique was promised, but the key of build row %u is also "
                  "that of another",
                  state_.table.row_at(partners.first));
    const bool is_found = partners.count != 0;
    if (!detail::has_pairs(state_.join.kind)) return {{0, 0}, is_found == (state_.join.kind == JoinKind::semi)};
    if (is_found && state_.stops_at_one()) partners.count = 1;
    return {partners, !is_found && state_.join.kind != JoinKind::inner};
  }

  STRATA_D void mark_found(unsigned first, unsigned last) const {
    while (first < last) {
      const unsigned in_word = first % 32;
      const unsigned bits = detail::least(last - first, 32 - in_word);
      atomicOr(state_.found + first / 32, (~0u >> (32 - bits)) << in_word);
      first += bits;
    }
  }

  // Reserves output positions for all results of a group, and writes the results. Results of rows in the list come
  // first. Rows without a build row follow. Calls `overlapped` while the offset is in flight. `overlapped` may replace
  // the caller's row. All warps of a group call this.
  template <class Overlapped>
  STRATA_D void emit(unsigned probe_row, results mine, const Overlapped& overlapped) {
    const unsigned group = threadIdx.x / group_threads;
    const unsigned warp = threadIdx.x % group_threads / warp_threads;
    const unsigned count = mine.partners.count;
    sums here{0, 0};
    unsigned listed = OutputOffsets::scan_count(count | (count != 0 ? row_unit : 0), here.listed);
    unsigned singles = OutputOffsets::scan_flag(mine.has_single, here.singles);
    if (platform::lane_id() == 0) storage_.of_warps[group][warp] = here;
    // All warps of the group have written the results of the previous list.
    platform::group_barrier(group + 1, group_threads);
    sums before{0, 0};
    sums all{0, 0};
    STRATA_UNROLL
    for (unsigned w = 0; w < group_warps; ++w) {
      if (w == warp) before = all;
      const sums its = storage_.of_warps[group][w];
      all.listed += its.listed;
      all.singles += its.singles;
    }
    listed += before.listed;
    const unsigned rows = all.listed / row_unit;
    const unsigned number = all.listed % row_unit;
    if (count != 0) {
      const unsigned row = listed / row_unit;
      list_.begins[row] = listed % row_unit;
      list_.rows[row] = probe_row;
      list_.entries[row] = static_cast<unsigned short>(mine.partners.first);
    }
    if (warp == 0) list_.begins[rows + platform::lane_id()] = no_result;
    const unsigned sum = number + all.singles;
    const bool is_first = threadIdx.x % group_threads == 0;
    Count offset = 0;
    if (is_first && sum != 0) offset = atomicAdd(state_.join.total, Count{sum});
    overlapped();
    if (is_first) storage_.offsets[group] = offset;
    platform::group_barrier(group + 1, group_threads);
    offset = storage_.offsets[group];
    write_list(offset, rows, number, warp);
    if (mine.has_single) state_.write(offset + number + before.singles + singles, State::none, probe_row);
  }
  // A word counts rows in its upper bits and results in the lower ones.
  static constexpr unsigned row_unit = 1u << 24;
  static_assert(
      group_threads * max_join_table_rows < row_unit && group_threads < 256,
      "join tuning: output.group_threads must be less than 256. table.fallback_threads must be less than 256, "
      "or a multiple of output.group_threads and at most 15 times as large, so that rows and results of a "
      "group of warps fit in a word");
  // More than 32 greater than the number of any result. So join_result_rows::next never takes it for a row's first
  // result.
  static constexpr unsigned no_result = 0x7fffffff;

  // Writes the warp's part of the results of the list. Its stores are aligned to 32 results.
  STRATA_D void write_list(Count offset, unsigned rows, unsigned number, unsigned warp) const {
    const auto capacity = static_cast<Count>(state_.join.capacity);
    const Count limit = offset < capacity ? capacity - offset : 0;
    const auto last = static_cast<int>(detail::least(limit, number));
    if (last == 0) return;
    const auto skipped = static_cast<int>(offset % warp_threads);
    constexpr int step = warp_threads;
    constexpr int warps = group_warps;
    const int steps = (last + skipped + (step - 1)) / step;
    const int each = (steps + (warps - 1)) / warps * step;
    int base = static_cast<int>(warp) * each - skipped;
    const int end = detail::least(base + each, last);
    if (base >= end) return;
    join_result_rows row_of_result(list_.begins, rows, base > 0 ? static_cast<unsigned>(base) : 0);
    if (number >= rows * long_run) {
      write_long_runs(row_of_result, offset, base, end);
      return;
    }
    for (; base < end; base += step) {
      const unsigned row = row_of_result.next(static_cast<unsigned>(base));
      write_result(offset, row, base + static_cast<int>(platform::lane_id()), end);
    }
  }

  // Writes result `at` of the list, if it is not negative and less than `end`. The result belongs to row `row` of the
  // list.
  STRATA_D void write_result(Count offset, unsigned row, int at, int end) const {
    if (at < 0 || at >= end) return;
    const unsigned entry = list_.entries[row] + (static_cast<unsigned>(at) - list_.begins[row]);
    state_.write_inside(offset + static_cast<unsigned>(at), state_.table.row_at(entry), list_.rows[row]);
  }

  // Lists whose rows have at least this many partners on average have a loop of their own. H200, u32, 100K x 1M, us
  // with one loop for all lists / with write_long_runs for all: 100 partners 316 / 350, 1,000 partners 961 / 750.
  static constexpr unsigned long_run = 512;

  // Writes results [base, end) of the list. If 32 results have the same row, further results of this row follow,
  // several at a time.
  STRATA_D void write_long_runs(join_result_rows row_of_result, Count offset, int base, int end) const {
    while (base < end) {
      const unsigned before = row_of_result.last();
      const unsigned row = row_of_result.next(static_cast<unsigned>(base));
      write_result(offset, row, base + static_cast<int>(platform::lane_id()), end);
      base += warp_threads;
      if (row_of_result.last() == before) base = write_rest_of_row(offset, before, base, end);
    }
  }

  // Results [base, end) of the list begin in `row`: writes those of this row, some steps at a time, and needs no search
  // for them. Returns the first result that is not written.
  STRATA_D int write_rest_of_row(Count offset, unsigned row, int base, int end) const {
    constexpr int step = warp_threads;
    constexpr int together = 4;
    const auto row_end = static_cast<int>(list_.begins[row + 1]);
    const int last = detail::least(row_end, end) - together * step;
    if (base > last) return base;
    const unsigned probe_row = list_.rows[row];
    const unsigned lane = platform::lane_id();
    unsigned entry = list_.entries[row] + (static_cast<unsigned>(base) - list_.begins[row]) + lane;
    STRATA_UNROLL_N(1)
    for (; base <= last; base += together * step) {
      unsigned build_rows[together];
      STRATA_UNROLL
      for (unsigned k = 0; k < together; ++k) build_rows[k] = state_.table.row_at(entry + k * step);
      STRATA_UNROLL
      for (unsigned k = 0; k < together; ++k) {
        state_.write_inside(offset + static_cast<unsigned>(base) + lane + k * step, build_rows[k], probe_row);
      }
      entry += together * step;
    }
    return base;
  }

  State state_;
  TempStorage& storage_;
  List& list_;
};

}  // namespace detail
STRATA_NAMESPACE_END

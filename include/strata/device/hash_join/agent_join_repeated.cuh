// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_thread_groups.cuh>
#include <strata/device/hash_join/join_partitions.cuh>
#include <strata/device/hash_join/join_table_user.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/result_list.cuh>
#include <strata/device/hash_join/shared_table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The probe rows that a group of warps has looked up: which have partners side by side in the table,
/// and where their results begin.
template <unsigned Rows>
struct join_repeated_list {
  unsigned begins[Rows + warp_threads];
  unsigned rows[Rows];
  /// The first partner.
  unsigned short entries[Rows];
};

/// Joins the units whose build keys have many rows, by a table in shared memory or by several, one
/// after another. Most of the work is to write: a group of warps looks some probe rows up, and shares
/// out what results they have, however many each.
template <class Key, class Hash, class Equal, class Index, class Sink, int BlockThreads>
class AgentJoinRepeated : join_table_user<Key, Hash, Equal, Index, Sink, BlockThreads, false, true,
                                          is_join_word<Key, Hash, Equal>> {
  using Base = join_table_user<Key, Hash, Equal, Index, Sink, BlockThreads, false, true,
                               is_join_word<Key, Hash, Equal>>;
  using Base::counted_;
  using Base::found_;
  using Base::has_rows;
  using Base::join_;
  using Base::none;
  using Base::row_of;
  using Base::table_;
  using Base::threads;
  using Base::write;
  using Base::write_inside;
  using typename Base::Count;
  using typename Base::Partitions;
  using typename Base::Places;
  using typename Base::Row;
  static constexpr unsigned group_threads = Places::group_threads;
  static constexpr unsigned groups = threads / group_threads;
  static constexpr unsigned group_warps = group_threads / warp_threads;

 public:
  using List = join_repeated_list<group_threads>;
  /// What the lists of all groups need, behind a table.
  static constexpr std::size_t list_bytes = groups * sizeof(List);

  /// Of a warp: its rows in the list and their results, and its rows that are alone in the result.
  struct sums {
    unsigned listed;
    unsigned lonely;
  };
  struct TempStorage {
    typename Base::TempStorage base;
    sums of_warps[groups][group_warps];
    Count places[groups];
    unsigned next;
  };

  STRATA_D AgentJoinRepeated(TempStorage& storage, unsigned char* shared, const Partitions& join,
                             const Sink& sink)
      : Base(storage.base, shared, join, sink),
        storage_(storage),
        list_(reinterpret_cast<List*>(
            shared +
            join.plan.table_bytes(join.kind == JoinKind::full))[threadIdx.x / group_threads]) {}

  /// All units that have been left, in turn with other blocks: in parts, if they are few.
  STRATA_D void run() {
    const unsigned number = *join_.num_repeated;
    unsigned parts = (gridDim.x + gridDim.x / 2 + number - 1) / number;
    // One block sees who is found.
    if (join_.kind == JoinKind::full) parts = 1;
    for (;;) {
      if (threadIdx.x == 0) storage_.next = atomicAdd(join_.taken, 1u);
      __syncthreads();
      const unsigned next = storage_.next;
      if (next / parts >= number) break;
      join_partition_unit unit = join_.units[join_.repeated[next / parts]];
      const unsigned each = unit.rows / parts + (unit.rows % parts != 0 ? 1 : 0);
      const unsigned begin = next % parts * each;
      if (begin < unit.rows || parts == 1) {
        const unsigned left = unit.rows - begin;
        unit.first += begin;
        unit.rows = left < each ? left : each;
        join(unit);
      }
      __syncthreads();
    }
    if constexpr (!has_rows) Base::add_counted();
  }

 private:
  STRATA_D void join(const join_partition_unit& unit) {
    const unsigned begin = join_.build.begins[unit.partition];
    const unsigned rows = join_.build.begins[unit.partition + 1] - begin;
    const unsigned probe_begin = join_.probe.begins[unit.partition] + unit.first;
    const bool is_full = join_.kind == JoinKind::full;
    for (unsigned first = 0; first < rows;) {
      const unsigned left = rows - first;
      const unsigned some = left < join_.plan.table_rows ? left : join_.plan.table_rows;
      if (is_full) Base::clear_found(some);
      table_.build(
          some, [&](std::size_t i) { return row_of(join_.build, begin + first + i); }, false);
      if (is_full) {
        probe<true>(probe_begin, unit.rows);
        Base::put_out_lonely_rows(some);
      } else {
        probe<false>(probe_begin, unit.rows);
      }
      first += some;
      __syncthreads();
    }
  }

  template <bool IsFull>
  STRATA_D void probe(unsigned begin, unsigned rows) {
    // A thread has one row at a time, and all groups have equally many rows.
    const unsigned rounds = rows / threads + (rows % threads != 0 ? 1 : 0);
    const unsigned shares = rounds * groups;
    const unsigned each = rounds == 0 ? 0 : (rows + (shares - 1)) / shares;
    const unsigned in_group = threadIdx.x % group_threads;
    Row item{0, none};
    results mine{{0, 0}, false};
    const auto look_up = [&](unsigned first) {
      item.row = none;
      if (in_group < each && first + in_group < rows) {
        item = row_of(join_.probe, std::size_t{begin} + first + in_group);
      }
      mine = results_of<IsFull>(item);
    };
    // All groups wait equally often, those that have no rows left too.
    unsigned first = threadIdx.x / group_threads * each;
    if (rounds != 0) look_up(first);
    for (unsigned round = 1; round <= rounds; ++round) {
      first += groups * each;
      const auto look_up_next = [&] {
        if (round != rounds) look_up(first);
      };
      if constexpr (has_rows) {
        put_out(item.row, mine, look_up_next);
      } else {
        counted_ += mine.number();
        look_up_next();
      }
    }
  }

  /// What a probe row gives: results with each of its partners, or one alone, or nothing.
  struct results {
    join_run partners;
    bool is_lonely;
    STRATA_D unsigned number() const { return is_lonely ? 1 : partners.count; }
  };

  template <bool IsFull>
  STRATA_D results results_of(const Row& item) const {
    if (item.row == none) return {{0, 0}, false};
    join_run partners = table_.run_of(item.hash);
    if constexpr (IsFull) mark_found(partners.first, partners.first + partners.count);
    STRATA_ASSERT(!(join_.promised_unique && partners.count > 1),
                  "JoinOptions::build_unique was promised, but the key of build row %u is also "
                  "that of another",
                  table_.row_at(partners.first));
    const bool is_found = partners.count != 0;
    if (!detail::has_pairs(join_.kind)) return {{0, 0}, is_found == (join_.kind == JoinKind::semi)};
    if (is_found && Base::stops_at_one()) partners.count = 1;
    return {partners, !is_found && join_.kind != JoinKind::inner};
  }

  STRATA_D void mark_found(unsigned first, unsigned last) const {
    while (first < last) {
      const unsigned in_word = first % 32;
      const unsigned bits = last - first < 32 - in_word ? last - first : 32 - in_word;
      atomicOr(found_ + first / 32, (~0u >> (32 - bits)) << in_word);
      first += bits;
    }
  }

  // By all warps of a group: takes places for the results of its rows, first of those in the list,
  // and writes them. Calls `meanwhile` while the place is on its way; the row may change there.
  template <class Meanwhile>
  STRATA_D void put_out(unsigned probe_row, results mine, const Meanwhile& meanwhile) {
    const unsigned group = threadIdx.x / group_threads;
    const unsigned warp = threadIdx.x % group_threads / warp_threads;
    const unsigned count = mine.partners.count;
    sums here{0, 0};
    unsigned listed = Places::begin_of_several(count | (count != 0 ? one_row : 0), here.listed);
    unsigned lonely = Places::begin_of_one(mine.is_lonely, here.lonely);
    if (platform::lane_id() == 0) storage_.of_warps[group][warp] = here;
    // All have written what was in the list before.
    platform::group_barrier(group + 1, group_threads);
    sums before{0, 0};
    sums all{0, 0};
    STRATA_UNROLL
    for (unsigned w = 0; w < group_warps; ++w) {
      if (w == warp) before = all;
      const sums its = storage_.of_warps[group][w];
      all.listed += its.listed;
      all.lonely += its.lonely;
    }
    listed += before.listed;
    const unsigned rows = all.listed / one_row;
    const unsigned number = all.listed % one_row;
    if (count != 0) {
      const unsigned row = listed / one_row;
      list_.begins[row] = listed % one_row;
      list_.rows[row] = probe_row;
      list_.entries[row] = static_cast<unsigned short>(mine.partners.first);
    }
    if (warp == 0) list_.begins[rows + platform::lane_id()] = behind_all;
    const unsigned sum = number + all.lonely;
    const bool is_first = threadIdx.x % group_threads == 0;
    Count place = 0;
    if (is_first && sum != 0) place = atomicAdd(join_.total, Count{sum});
    meanwhile();
    if (is_first) storage_.places[group] = place;
    platform::group_barrier(group + 1, group_threads);
    place = storage_.places[group];
    write_list(place, rows, number, warp);
    if (mine.is_lonely) write(place + number + before.lonely + lonely, none, probe_row);
  }
  // A row in the upper bits of a word, results in the lower ones.
  static constexpr unsigned one_row = 1u << 24;
  static_assert(
      group_threads * most_join_table_rows < one_row && group_threads < 256,
      "join_table_tuning: rest_threads must be a multiple of 128 or less than 256, so that "
      "rows and results of a group of warps fit a word");
  // More than a group has results, and a few more.
  static constexpr unsigned behind_all = 0x7fffffff;

  // A part of what the list has, which is the warp's. Its stores begin at multiples of their size.
  STRATA_D void write_list(Count place, unsigned rows, unsigned number, unsigned warp) const {
    const auto capacity = static_cast<Count>(join_.capacity);
    const Count room = place < capacity ? capacity - place : 0;
    const auto last = static_cast<int>(room < number ? room : number);
    if (last == 0) return;
    const auto skipped = static_cast<int>(place % warp_threads);
    constexpr int step = warp_threads;
    constexpr int warps = group_warps;
    const int steps = (last + skipped + (step - 1)) / step;
    const int each = (steps + (warps - 1)) / warps * step;
    int base = static_cast<int>(warp) * each - skipped;
    const int end = base + each < last ? base + each : last;
    if (base >= end) return;
    join_result_rows row_of_result(list_.begins, rows, base > 0 ? static_cast<unsigned>(base) : 0);
    for (; base < end; base += step) {
      const unsigned row = row_of_result.next(static_cast<unsigned>(base));
      const int at = base + static_cast<int>(platform::lane_id());
      if (at < 0 || at >= end) continue;
      const unsigned entry = list_.entries[row] + (static_cast<unsigned>(at) - list_.begins[row]);
      write_inside(place + static_cast<unsigned>(at), table_.row_at(entry), list_.rows[row]);
    }
  }

  TempStorage& storage_;
  List& list_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/shared_table/agent_state.cuh>
#include <strata/device/join/shared_table/grouped_table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Finds the partners of the probe rows of a work item by a table in shared memory, whose entries are sorted: the rows
/// of a key ascend. The lists of keys with several rows are written at the positions of the partition's build rows.
template <class Keys, class Hash, class Equal, int BlockThreads, int GroupThreads, int Items>
class AgentJoinRowLists {
  using State =
      shared_table_state<Keys, Hash, Equal, unsigned, join_list_sink, BlockThreads, GroupThreads, false, true>;
  using Partitions = typename State::Partitions;
  using Row = typename State::Row;
  using Word = typename State::Word;

 public:
  using TempStorage = typename State::TempStorage;

  STRATA_D AgentJoinRowLists(TempStorage& storage, unsigned char* shared, const Partitions& join,
                             const join_list_sink& sink)
      : state_(storage, shared, join, sink) {}

  STRATA_D void run(const join_work_item& work_item) const {
    const unsigned begin = state_.join.build.begins[work_item.partition];
    const unsigned rows = state_.join.build.begins[work_item.partition + 1] - begin;
    state_.table.build_sorted(rows, [&](std::size_t i) { return state_.row_of(state_.join.build, begin + i); });
    // One work item of the partition writes the lists: the tables of the others are the same.
    if (work_item.first == 0) {
      state_.table.for_each_of_several([&](unsigned entry, unsigned row, unsigned count) {
        state_.sink.lists[begin + entry] = {row, count};
      });
    }
    probe(begin, state_.join.probe.begins[work_item.partition] + work_item.first, work_item.rows);
  }

 private:
  STRATA_D void probe(unsigned build_begin, unsigned begin, unsigned rows) const {
    for (unsigned first = threadIdx.x; first < rows; first += State::threads * Items) {
      const std::size_t at = std::size_t{begin} + first;
      // Loads for all rows are in flight together.
      Row items[Items];
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        items[i] = {0, State::none};
        if (i * State::threads < rows - first) items[i] = state_.row_of(state_.join.probe, at + i * State::threads);
      }
      unsigned begins[Items];
      unsigned ends[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) state_.table.find(items[i].hash, begins[i], ends[i]);
      bool first_is[Items];
      bool last_is[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const Word rest = state_.table.rest_of(items[i].hash);
        const bool is_empty = begins[i] == ends[i];
        first_is[i] = !is_empty && state_.table.is_row(state_.table.seen_from(rest, begins[i]));
        last_is[i] = !is_empty && state_.table.is_row(state_.table.seen_from(rest, ends[i] - 1));
      }
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        if (i * State::threads >= rows - first) continue;
        join_run run{0, 0};
        if (begins[i] != ends[i]) {
          run = state_.table.run_in(state_.table.rest_of(items[i].hash), begins[i], ends[i], first_is[i], last_is[i]);
        }
        unsigned partner = State::none;
        if (run.count == 1) partner = state_.table.row_at(run.first);
        if (run.count > 1) partner = join_list_bit | (build_begin + run.first);
        state_.sink.write(at + i * State::threads, items[i].row, true, partner);
      }
    }
  }

  State state_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/shared_table/agent_base.cuh>
#include <strata/device/join/shared_table/grouped_table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Finds the partners of the probe rows of a work item by a table in shared memory, whose entries are sorted: the rows
/// of a key ascend. The lists of keys with several rows are written at the positions of the partition's build rows.
template <class Keys, class Hash, class Equal, int BlockThreads, int GroupThreads, int Items>
class AgentJoinRowLists
    : shared_table_agent_base<Keys, Hash, Equal, unsigned, join_list_sink, BlockThreads, GroupThreads, false, true> {
  using Base =
      shared_table_agent_base<Keys, Hash, Equal, unsigned, join_list_sink, BlockThreads, GroupThreads, false, true>;
  using Base::join_;
  using Base::none;
  using Base::row_of;
  using Base::sink_;
  using Base::table_;
  using Base::threads;
  using typename Base::Partitions;
  using typename Base::Row;
  using typename Base::Word;

 public:
  using typename Base::TempStorage;

  STRATA_D AgentJoinRowLists(TempStorage& storage, unsigned char* shared, const Partitions& join,
                             const join_list_sink& sink)
      : Base(storage, shared, join, sink) {}

  STRATA_D void run(const join_work_item& work_item) const {
    const unsigned begin = join_.build.begins[work_item.partition];
    const unsigned rows = join_.build.begins[work_item.partition + 1] - begin;
    table_.build_sorted(rows, [&](std::size_t i) { return row_of(join_.build, begin + i); });
    // The tables of all pieces of a partition are the same.
    if (work_item.first == 0) {
      table_.for_each_of_several([&](unsigned entry, unsigned row, unsigned count) {
        sink_.lists[begin + entry] = {row, count};
      });
    }
    probe(begin, join_.probe.begins[work_item.partition] + work_item.first, work_item.rows);
  }

 private:
  STRATA_D void probe(unsigned build_begin, unsigned begin, unsigned rows) const {
    for (unsigned first = threadIdx.x; first < rows; first += threads * Items) {
      const std::size_t at = std::size_t{begin} + first;
      // Loads for all rows are in flight together.
      Row items[Items];
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        items[i] = {0, none};
        if (i * threads < rows - first) items[i] = row_of(join_.probe, at + i * threads);
      }
      unsigned begins[Items];
      unsigned ends[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) table_.find(items[i].hash, begins[i], ends[i]);
      bool first_is[Items];
      bool last_is[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const Word rest = table_.rest_of(items[i].hash);
        const bool is_empty = begins[i] == ends[i];
        first_is[i] = !is_empty && table_.is_row(table_.seen_from(rest, begins[i]));
        last_is[i] = !is_empty && table_.is_row(table_.seen_from(rest, ends[i] - 1));
      }
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        if (i * threads >= rows - first) continue;
        join_run run{0, 0};
        if (begins[i] != ends[i]) {
          run = table_.run_in(table_.rest_of(items[i].hash), begins[i], ends[i], first_is[i], last_is[i]);
        }
        unsigned partner = none;
        if (run.count == 1) partner = table_.row_at(run.first);
        if (run.count > 1) partner = join_list_bit | (build_begin + run.first);
        sink_.write(at + i * threads, items[i].row, true, partner);
      }
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

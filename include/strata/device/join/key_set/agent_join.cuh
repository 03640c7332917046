// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/key_set/key_set.cuh>
#include <strata/device/join/key_set/plan.hpp>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Joins a work item of a semi or anti join by a set in shared memory. Build rows have no row ids. `Sink`
/// is NullType where rows are only counted: then probe rows have none either. `Tuning` is the policy.
template <class Tuning, class Keys, class Hash, class Equal, class Index, class Sink, int BlockThreads, int Items>
class AgentJoinSets {
  using Partitions = join_partitions<Keys, Hash, Equal>;
  using Count = unsigned long long;
  using Set = join_shared_set<BlockThreads, Tuning::key_set.build_items>;
  using OutputOffsets = join_output_offsets<BlockThreads, Tuning::output.group_threads>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;

 public:
  struct TempStorage {
    typename Set::TempStorage set;
    typename OutputOffsets::TempStorage offsets;
    Count counted;
  };

  STRATA_D AgentJoinSets(TempStorage& storage, unsigned char* shared, const join_set_plan& plan, const Partitions& join,
                         const Sink& sink)
      : storage_(storage),
        set_(storage.set, shared, plan),
        offsets_(storage.offsets, join.total),
        join_(join),
        sink_(sink) {}

  /// False, and nothing is joined, if there is no set for the build rows.
  STRATA_D bool run(const join_work_item& work_item) {
    const unsigned begin = join_.build.begins[work_item.partition];
    const unsigned rows = join_.build.begins[work_item.partition + 1] - begin;
    const unsigned* const hashes = join_.build.partitioned.hashes() + begin;
    if (!set_.build(work_item.partition, rows, [&](unsigned i) { return hashes[i]; })) return false;
    probe(join_.probe.begins[work_item.partition] + work_item.first, work_item.rows);
    if constexpr (!has_rows) detail::add_join_results(storage_.counted, counted_, join_.total);
    return true;
  }

 private:
  STRATA_D join_record probe_row(std::size_t i) const {
    if constexpr (has_rows) {
      return join_.probe.partitioned.records[i];
    } else {
      return {join_.probe.partitioned.hashes()[i], 0};
    }
  }

  STRATA_D void probe(unsigned begin, unsigned rows) {
    const bool is_wanted = join_.kind == JoinKind::semi;
    constexpr unsigned group_tile = OutputOffsets::group_threads * Items;
    const unsigned group = threadIdx.x / OutputOffsets::group_threads;
    // The rows of a warp lie side by side, and so do their results.
    const unsigned warp = threadIdx.x % OutputOffsets::group_threads / warp_threads;
    const unsigned in_tile = warp * Items * warp_threads + platform::lane_id();
    for (unsigned first = group * group_tile; first < rows; first += threads * Items) {
      const std::size_t at = std::size_t{begin} + first + in_tile;
      const unsigned left = first + in_tile < rows ? rows - first - in_tile : 0;
      join_record records[Items];
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        if (i * warp_threads < left) records[i] = probe_row(at + i * warp_threads);
      }
      unsigned results = 0;
      STRATA_UNROLL
      for (unsigned i = 0; i < Items; ++i) {
        if (i * warp_threads < left && set_.has(records[i].hash) == is_wanted) results |= 1u << i;
      }
      if constexpr (std::is_same_v<Sink, join_partner_sink>) {
        STRATA_UNROLL
        for (unsigned i = 0; i < Items; ++i) {
          if (i * warp_threads >= left) continue;
          sink_.write(at + i * warp_threads, records[i].row, (results >> i & 1) != 0, no_join_row<unsigned>);
        }
      } else {
        emit(results, records);
      }
    }
  }

  // Writes the rows whose bit is set in `results`. By all threads of a group.
  STRATA_D void emit(unsigned results, const join_record (&records)[Items]) {
    if constexpr (!has_rows) {
      counted_ += static_cast<unsigned>(__popc(results));
    } else {
      unsigned begins[Items];
      unsigned sum = 0;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        begins[i] = OutputOffsets::scan_flag((results >> i & 1) != 0, sum);
      }
      const Count offset = offsets_.reserve(sum);
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const Count to = offset + begins[i];
        if ((results >> i & 1) == 0 || to >= static_cast<Count>(join_.capacity)) continue;
        sink_(static_cast<std::int64_t>(to), no_row<Index>, static_cast<Index>(records[i].row));
      }
    }
  }

  TempStorage& storage_;
  Set set_;
  OutputOffsets offsets_;
  const Partitions& join_;
  const Sink& sink_;
  Count counted_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

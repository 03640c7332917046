// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/join/common/join_hash.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The number of rows that each method handles: all rows, or none. The kernel of the sample writes this plan, and the
/// kernels of all methods read it. The kernel of tables counts its records here, and may change the method to `sorted`.
template <class Row>
struct group_plan {
  Row in_table;         // combined as they are
  Row after_pass;       // combined when they have been sorted by 8 bits of the mixed word
  Row sorted;           // sorted by their words, and not combined
  Row records;          // how many records tables have written
  unsigned departures;  // of blocks that have combined their rows
};

inline constexpr int group_sample_threads = 1024;
inline constexpr unsigned group_sample_rows = 8192;
inline constexpr unsigned group_sample_slots = 12288;

/// Counts of a sample: how many different keys it has, and how many keys occur once and twice.
struct group_sample_counts {
  unsigned different;
  unsigned once;
  unsigned twice;
};

/// Estimates the number of groups from a sample. The estimate is a lower bound (Chao, "Nonparametric estimation of the
/// number of classes in a population", 1984).
STRATA_HD double estimated_groups(const group_sample_counts& counts) {
  const auto once = static_cast<double>(counts.once);
  return static_cast<double>(counts.different) + once * once / (2 * static_cast<double>(counts.twice) + 1);
}

enum class group_method { in_table, after_pass, sorted };

/// There is memory for one record for every `least_rows_of_record` input rows. So a record must combine at least this
/// many rows on average.
inline constexpr int least_rows_of_record = 8;

/// Chooses the method for `rows` rows in `groups` groups. Each of `blocks` blocks has a table of `slots` slots in
/// shared memory.
STRATA_HD group_method choose_group_method(double rows, double groups, double slots, double blocks) {
  // In the worst case, each block writes a record for each group.
  if (groups <= slots * 0.5 && groups * blocks * 2 * least_rows_of_record <= rows) return group_method::in_table;
  // A pass makes 256 parts, and the rows of a part are combined by few blocks.
  if (groups <= slots * 0.5 * 256 && groups * 2 * least_rows_of_record <= rows) return group_method::after_pass;
  return group_method::sorted;
}

/// Returns the index of row i of a sample: a position in the i-th of `sample_rows` equal parts of the `num_items` rows.
STRATA_HD std::size_t group_sample_row(unsigned i, std::size_t num_items, unsigned sample_rows = group_sample_rows) {
  const std::size_t part = num_items / sample_rows, rest = num_items % sample_rows;
  const std::size_t begin = i * part + i * rest / sample_rows;
  return begin + (part > 1 ? detail::mixed_hash(i) % part : 0);
}

/// One block counts the keys of a sample and writes the plan. The lower 32 bits of a mixed word, modulo the number of
/// slots, choose the slot. A slot holds 16 upper bits of the word, and the number of rows.
template <class Rows, class Row>
struct AgentGroupSample {
  using Slot = typename Rows::Types::Slot;
  using Reduce = BlockReduce<unsigned, group_sample_threads>;

  struct TempStorage {
    unsigned slots[group_sample_slots];
    typename Reduce::TempStorage reduce;
  };

  TempStorage& storage;

  STRATA_D void run(const Rows& rows, std::size_t num_items, unsigned table_slots, unsigned blocks, bool may_move,
                    group_plan<Row>* plan) {
    for (unsigned slot = threadIdx.x; slot < group_sample_slots; slot += blockDim.x) storage.slots[slot] = 0;
    // All loads of a thread are in flight at the same time.
    constexpr int thread_rows = static_cast<int>(group_sample_rows) / group_sample_threads;
    Slot words[thread_rows];
    STRATA_UNROLL
    for (int k = 0; k < thread_rows; ++k) {
      const unsigned i = threadIdx.x + static_cast<unsigned>(k * group_sample_threads);
      if (num_items > 0) words[k] = rows.mixed_word(detail::group_sample_row(i, num_items));
    }
    __syncthreads();
    STRATA_UNROLL
    for (int k = 0; k < thread_rows; ++k) {
      if (num_items > 0) add(words[k]);
    }
    __syncthreads();
    group_sample_counts counts{0, 0, 0};
    for (unsigned slot = threadIdx.x; slot < group_sample_slots; slot += blockDim.x) {
      const unsigned number = storage.slots[slot] & 0xffffu;
      counts.different += number > 0 ? 1 : 0;
      counts.once += number == 1 ? 1 : 0;
      counts.twice += number == 2 ? 1 : 0;
    }
    counts.different = sum(counts.different);
    counts.once = sum(counts.once);
    counts.twice = sum(counts.twice);
    if (threadIdx.x != 0) return;
    group_method method = detail::choose_group_method(static_cast<double>(num_items), detail::estimated_groups(counts),
                                                      table_slots, blocks);
    if (method == group_method::after_pass && !may_move) method = group_method::sorted;
    const auto all = static_cast<Row>(num_items);
    const auto if_method = [&](group_method one) { return method == one ? all : Row{0}; };
    *plan = {if_method(group_method::in_table), if_method(group_method::after_pass), if_method(group_method::sorted), 0,
             0};
  }

 private:
  /// Counts a row. All lanes of a warp call this. Lanes with the same key make one addition, because all rows may have
  /// the same key.
  STRATA_D void add(Slot mixed) {
    unsigned slot = static_cast<unsigned>(mixed) % group_sample_slots;
    const unsigned tag = static_cast<unsigned>(mixed >> (8 * sizeof(Slot) - 16)) << 16;
    const unsigned peers = __match_any_sync(full_warp_mask, tag | slot);
    if (__ffs(static_cast<int>(peers)) - 1 != static_cast<int>(platform::lane_id())) return;
    const auto number = static_cast<unsigned>(__popc(peers));
    for (;;) {
      unsigned there = *static_cast<volatile unsigned*>(storage.slots + slot);
      if (there == 0) {
        there = atomicCAS(storage.slots + slot, 0u, tag | number);
        if (there == 0) return;
      }
      if ((there & 0xffff0000u) == tag) {
        atomicAdd(storage.slots + slot, number);
        return;
      }
      slot = (slot + 1) % group_sample_slots;
    }
  }

  STRATA_D unsigned sum(unsigned value) {
    const unsigned all = Reduce(storage.reduce).Sum(value);
    __syncthreads();
    return all;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

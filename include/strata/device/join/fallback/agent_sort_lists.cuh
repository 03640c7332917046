// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Memory of AgentJoinSortLists.
struct join_list_sort {
  /// Two arrays with an element for each build row.
  join_list_element* elements[2];
  /// The numbers of rows with each digit, of each block that takes part.
  unsigned* counts;
  unsigned max_blocks;

  static constexpr int digit_bits = 8;
  static constexpr unsigned digits = 1u << digit_bits;

  STRATA_HD static constexpr unsigned passes(unsigned num_slots) {
    unsigned number = 1;
    // One slot more is for the rows without a key.
    while (number * digit_bits < 32 && num_slots >> (number * digit_bits) != 0) ++number;
    return number;
  }
};

/// Lists the rows of each slot of a table in global memory in ascending order. A stable radix sort of the rows by slot:
/// each warp has neighbouring rows. All blocks of a cooperative launch call this.
template <class Table, int BlockThreads>
class AgentJoinSortLists {
  using Sort = join_list_sort;
  using Scan = WarpScan<unsigned>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr unsigned warps = threads / warp_threads;

 public:
  struct TempStorage {
    /// For each warp, the number of rows with each digit; later the position of the next one.
    unsigned counts[warps][Sort::digits];
    /// The number of rows with each digit in all blocks, later where these begin.
    unsigned sums[Sort::digits];
    /// Rows with each digit in the blocks before.
    unsigned before[Sort::digits];
    unsigned number;
  };

  STRATA_D AgentJoinSortLists(TempStorage& storage, const Table& table, const join_list_sort& sort)
      : storage_(storage), table_(table), sort_(sort), blocks_(detail::least(gridDim.x, sort.max_blocks)) {}

  /// Afterwards, `sort.elements[passes % 2]` has the lists, and `table.begins` has where they begin.
  STRATA_D void run(grid_counter_barrier& barrier) {
    const unsigned passes = Sort::passes(table_.num_slots);
    cut(detail::rows_of(table_));
    for (unsigned pass = 0; pass < passes; ++pass) {
      if (takes_part()) count(pass);
      barrier.synchronize();
      if (takes_part()) {
        add_counts();
        scatter(pass);
        cut(storage_.number);
      }
      barrier.synchronize();
    }
    if (takes_part()) write_lists(elements(passes + 1), elements(passes));
    barrier.synchronize();
  }

 private:
  STRATA_D bool takes_part() const { return blockIdx.x < blocks_; }

  // The array that a pass writes; each pass reads the other one.
  STRATA_D join_list_element* elements(unsigned pass) const {
    return pass % 2 == 0 ? sort_.elements[0] : sort_.elements[1];
  }

  // Rows [begin_, end_) are the warp's.
  STRATA_D void cut(unsigned rows) {
    const unsigned all_warps = blocks_ * warps;
    const unsigned each = ceiling_divide(ceiling_divide(rows, all_warps), unsigned{warp_threads}) * warp_threads;
    const unsigned begin = (blockIdx.x * warps + warp()) * each;
    begin_ = detail::least(begin, rows);
    end_ = each < rows - begin_ ? begin_ + each : rows;
  }
  STRATA_D static unsigned warp() { return threadIdx.x / warp_threads; }

  // The count of an element holds its slot. The first pass reads all build rows, of which some are in no slot.
  STRATA_D bool load(unsigned pass, unsigned i, join_list_element& element) const {
    if (i >= end_) return false;
    element = pass == 0 ? join_list_element{i, table_.slot_of[i]} : elements(pass + 1)[i];
    return element.count != Table::none;
  }
  STRATA_D static unsigned digit_of(unsigned pass, const join_list_element& element) {
    return element.count >> (pass * Sort::digit_bits) & (Sort::digits - 1);
  }

  STRATA_D void count(unsigned pass) {
    for (unsigned i = threadIdx.x; i < warps * Sort::digits; i += threads) {
      storage_.counts[i / Sort::digits][i % Sort::digits] = 0;
    }
    __syncthreads();
    for (unsigned i = begin_ + platform::lane_id(); i < end_; i += warp_threads) {
      join_list_element element{};
      if (load(pass, i, element)) atomicAdd(&storage_.counts[warp()][digit_of(pass, element)], 1u);
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < Sort::digits; d += threads) {
      unsigned sum = 0;
      for (unsigned w = 0; w < warps; ++w) sum += storage_.counts[w][d];
      sort_.counts[blockIdx.x * Sort::digits + d] = sum;
    }
  }

  // Counts of the block's warps become positions.
  STRATA_D void add_counts() {
    for (unsigned d = threadIdx.x; d < Sort::digits; d += threads) {
      unsigned sum = 0;
      unsigned before = 0;
      STRATA_UNROLL_N(8)
      for (unsigned b = 0; b < blocks_; ++b) {
        const unsigned rows = sort_.counts[b * Sort::digits + d];
        before += b < blockIdx.x ? rows : 0;
        sum += rows;
      }
      storage_.sums[d] = sum;
      storage_.before[d] = before;
    }
    __syncthreads();
    if (warp() == 0) {
      unsigned before = 0;
      for (unsigned d = platform::lane_id(); d < Sort::digits; d += warp_threads) {
        typename Scan::TempStorage unused;
        unsigned begin = 0;
        unsigned sum = 0;
        Scan(unused).ExclusiveSum(storage_.sums[d], begin, sum);
        storage_.sums[d] = before + begin;
        before += sum;
      }
      if (platform::lane_id() == 0) storage_.number = before;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < Sort::digits; d += threads) {
      unsigned to = storage_.sums[d] + storage_.before[d];
      for (unsigned w = 0; w < warps; ++w) {
        const unsigned rows = storage_.counts[w][d];
        storage_.counts[w][d] = to;
        to += rows;
      }
    }
    __syncthreads();
  }

  STRATA_D void scatter(unsigned pass) const {
    for (unsigned first = begin_; first < end_; first += warp_threads) {
      join_list_element element{};
      const bool is_there = load(pass, first + platform::lane_id(), element);
      const unsigned lanes = __ballot_sync(full_warp_mask, is_there ? 1 : 0);
      if (is_there) {
        const unsigned digit = digit_of(pass, element);
        const unsigned peers = __match_any_sync(lanes, digit);
        const unsigned lower = peers & platform::lane_mask_lt();
        const unsigned to = storage_.counts[warp()][digit];
        __syncwarp(lanes);
        if (lower == 0) storage_.counts[warp()][digit] = to + static_cast<unsigned>(__popc(peers));
        elements(pass)[to + static_cast<unsigned>(__popc(lower))] = element;
      }
      __syncwarp();
    }
  }

  STRATA_D void write_lists(const join_list_element* sorted, join_list_element* lists) const {
    for (unsigned i = begin_ + platform::lane_id(); i < end_; i += warp_threads) {
      const join_list_element element = sorted[i];
      const unsigned slot = element.count;
      const bool is_first = i == 0 || sorted[i - 1].count != slot;
      if (is_first) table_.begins[slot] = i;
      lists[i] = {element.row, is_first ? 1 + table_.duplicates[slot] : 0};
    }
  }

  TempStorage& storage_;
  const Table& table_;
  const join_list_sort& sort_;
  unsigned blocks_;
  unsigned begin_ = 0;
  unsigned end_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

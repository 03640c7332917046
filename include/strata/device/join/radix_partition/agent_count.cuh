// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/radix_partition/agent_partition.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Adds the number of rows of each partition to a side's cursors. `Tuning` is the policy. `Sample` is AgentJoinSample,
/// or NullType if no sample is taken.
template <class Tuning, class Keys, class Hash, class Equal, class Sample = NullType>
struct AgentJoinCount {
  using Side = join_side_records<Keys>;
  static constexpr unsigned threads = Tuning::partition.partition_threads;
  static constexpr int items = Tuning::partition.count_items(sizeof(iterator_value_t<Keys>));
  static constexpr unsigned tile_items = threads * items;

  /// The number of blocks that count the rows of a side: at least one, and no more than `blocks`.
  STRATA_HD static unsigned blocks_of(unsigned rows, unsigned other_rows, unsigned blocks) {
    const unsigned long long tiles = rows / tile_items + 1ull;
    const unsigned long long proportional =
        static_cast<unsigned long long>(blocks) * rows / (1ull + rows + other_rows) + 1;
    return static_cast<unsigned>(detail::least(tiles, proportional));
  }

  /// The numbers of rows of all partitions and of rows without a key, in shared memory.
  unsigned* counts;
  unsigned partitions;
  int bits;
  const Hash& hash;
  Sample sample;

  /// Counts the rows of every `blocks`-th tile. Block number `block` of `blocks` calls this.
  STRATA_D void run(const Side& side, [[maybe_unused]] bool is_probe, unsigned block, unsigned blocks) const {
    for (unsigned p = threadIdx.x; p <= partitions; p += threads) counts[p] = 0;
    if constexpr (takes_sample) sample.clear();
    __syncthreads();
    constexpr unsigned long long tile = tile_items;
    const unsigned rows = detail::rows_of(side);
    for (unsigned long long first = block * tile; first < rows; first += blocks * tile) {
      const unsigned long long left = rows - first;
      count_tile(side, static_cast<unsigned>(first), left < tile ? static_cast<unsigned>(left) : tile_items);
    }
    __syncthreads();
    for (unsigned p = threadIdx.x; p <= partitions; p += threads) {
      if (counts[p] != 0) atomicAdd(side.cursors + p, counts[p]);
    }
    if constexpr (takes_sample) sample.flush(is_probe);
  }

 private:
  static constexpr bool takes_sample = !std::is_same_v<Sample, NullType>;

  STRATA_D void count_tile(const Side& side, unsigned first, unsigned rows) const {
    const Keys tile_keys = side.keys + first;
    iterator_value_t<Keys> keys[items];
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at < rows) keys[i] = tile_keys[at];
    }
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at >= rows) continue;
      unsigned p = partitions;
      if (side.valid == nullptr || detail::join_row_is_valid(side.valid, first + at)) {
        const unsigned word = detail::upper_half(detail::join_hash<iterator_value_t<Keys>, Equal>(hash, keys[i]));
        p = detail::join_partition_of(word, bits);
        if constexpr (takes_sample) sample.add(word);
      }
      if (p < partitions || !side.drops_nulls) atomicAdd(counts + p, 1u);
    }
  }
};

/// Computes where partitions begin, and the work items, from the numbers of rows of partitions. One block does this.
/// `Partitions` is a join_partitions.
template <class Partitions, int BlockThreads, int ItemsPerThread>
struct AgentJoinOffsets {
  /// Two numbers of 32 bits in one word, so that one scan does both.
  using Pair = unsigned long long;
  using Scan = BlockScan<Pair, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;

  struct TempStorage {
    typename Scan::TempStorage rows;
    typename Scan::TempStorage work_items;
  };

  TempStorage& storage;
  const Partitions& join;

  /// Returns the sum of the numbers of all threads. Two sums with different `slot` need no barrier between them.
  STRATA_D Pair sum_of_block(Pair number, bool slot) const {
    Pair before = 0, all = 0;
    Scan(slot ? storage.work_items : storage.rows).ExclusiveSum(number, before, all);
    return all;
  }

  STRATA_D void run() const {
    // After all other partitions comes the partition of the rows without a key, then its end.
    const unsigned all = join.plan.partitions() + 1;
    Pair begins = 0;
    Pair work_items = 0;
    for (unsigned base = 0; base < all; base += threads * max_each) {
      __syncthreads();
      write_some(base, all, begins, work_items);
    }
    if (threadIdx.x != 0) return;
    join.build.begins[all] = lower_half(begins);
    join.probe.begins[all] = upper_half(begins);
    *join.num_pieces = lower_half(work_items);
    *join.num_work_items = lower_half(work_items) + upper_half(work_items);
  }

  /// Computes `join.pass_tiles` for tiles of `tile` rows. All rows of a tile are of one partition of the first pass.
  STRATA_D void cut_second_pass(unsigned tile) const {
    __syncthreads();
    const unsigned one_side = 1u << join.plan.first_bits;
    const int bits = join.plan.bits_of_pass(true);
    const unsigned each = (2 * one_side + threads - 1) / threads;
    const unsigned first = threadIdx.x * each;
    Pair sum = 0;
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      sum += tiles_of(i, one_side, bits, tile);
    }
    Pair end = 0;
    Scan(storage.rows).ExclusiveSum(sum, end);
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      end += tiles_of(i, one_side, bits, tile);
      join.pass_tiles[i] = static_cast<unsigned>(end);
    }
  }

 private:
  // A thread has at most this many partitions at a time.
  static constexpr unsigned max_each = ItemsPerThread;

  STRATA_D static Pair both(unsigned lower, unsigned upper) { return Pair{upper} << 32 | lower; }
  STRATA_D static unsigned lower_half(Pair pair) { return static_cast<unsigned>(pair); }

  // Writes the begins and work items of some partitions from `base` on. `begins` and `work_items` are the sums of all
  // partitions before, and then include these.
  STRATA_D void write_some(unsigned base, unsigned all, Pair& begins, Pair& work_items) const {
    const unsigned left = all - base;
    const unsigned even = (left + threads - 1) / threads;
    const unsigned each = detail::least(even, max_each);
    const unsigned first = detail::least(threadIdx.x * each, left);
    const unsigned here = detail::least(each, left - first);
    // All loads are in flight together.
    unsigned build_rows[max_each];
    unsigned probe_rows[max_each];
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      const unsigned p = base + first + k;
      build_rows[k] = k < here ? platform::load_relaxed(join.build.cursors + p) : 0;
      probe_rows[k] = k < here ? platform::load_relaxed(join.probe.cursors + p) : 0;
    }
    Pair rows_here = 0;
    Pair work_items_here = 0;
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      rows_here += both(build_rows[k], probe_rows[k]);
      if (k < here) work_items_here += packed_count(work_items_of(base + first + k, build_rows[k], probe_rows[k]));
    }
    Pair begin = 0, all_rows = 0, work_item = 0, all_work_items = 0;
    Scan(storage.rows).ExclusiveSum(rows_here, begin, all_rows);
    Scan(storage.work_items).ExclusiveSum(work_items_here, work_item, all_work_items);
    begin += begins;
    work_item += work_items;
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      if (k >= here) continue;
      const unsigned p = base + first + k;
      if (is_overflowing(p, build_rows[k], probe_rows[k])) {
        join.is_overflowing[p] = 1;
        platform::store_relaxed(join.any_is_overflowing, 1u);
      }
      work_item += write_work_items(work_item, p, build_rows[k], probe_rows[k]);
      write_begins(p, lower_half(begin), upper_half(begin));
      begin += both(build_rows[k], probe_rows[k]);
    }
    begins += all_rows;
    work_items += all_work_items;
  }

  STRATA_D bool is_overflowing(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if (build_rows == 0 && probe_rows == 0) return false;
    constexpr unsigned tables = Partitions::hash_is_key ? max_join_tables : 1;
    // With several tables, a probe row without a partner in one table may have partners in another, and a semi join
    // would find a row with partners in two tables twice. So only inner joins may have several tables. A promise of
    // unique keys may be false: then each table would yield a partner.
    const bool may_have_several = join.kind == JoinKind::inner && !join.promised_unique;
    const unsigned max_rows = join.plan.table_rows * (may_have_several ? tables : 1);
    return p == join.plan.partitions() || build_rows > max_rows ||
           (join.kind == JoinKind::full && probe_rows / 16 > join.plan.work_item_rows);
  }

  STRATA_D unsigned work_items_of(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if ((build_rows == 0 && probe_rows == 0) || is_overflowing(p, build_rows, probe_rows)) return 0;
    // One block must join all probe rows to know which build rows have no partner.
    if (join.kind == JoinKind::full) return 1;
    if (build_rows == 0 && join.kind != JoinKind::left && join.kind != JoinKind::anti) return 0;
    if (probe_rows <= join.plan.work_item_rows) return probe_rows != 0 ? 1 : 0;
    const unsigned piece = join.plan.piece_rows;
    return probe_rows / piece + (probe_rows % piece != 0 ? 1 : 0);
  }

  // Pieces of partitions in the lower half, whole partitions in the upper one: pieces start first.
  STRATA_D static Pair packed_count(unsigned work_items) {
    return work_items > 1 ? both(work_items, 0) : both(0, work_items);
  }

  // Writes the work items of a partition after those of `before`, and returns their number.
  STRATA_D Pair write_work_items(Pair before, unsigned p, unsigned build_rows, unsigned probe_rows) const {
    const unsigned work_items = work_items_of(p, build_rows, probe_rows);
    if (work_items == 1) join.work_items[join.plan.index_of_whole(upper_half(before))] = {p, 0, probe_rows};
    if (work_items > 1) {
      const unsigned piece = probe_rows / work_items + (probe_rows % work_items != 0 ? 1 : 0);
      for (unsigned k = 0; k < work_items; ++k) {
        // Rounded up: the last pieces may have fewer rows, or none.
        const unsigned begin = detail::least(k * piece, probe_rows);
        const unsigned left = probe_rows - begin;
        join.work_items[lower_half(before) + k] = {p, begin, detail::least(left, piece)};
      }
    }
    return packed_count(work_items);
  }

  STRATA_D void write_begins(unsigned p, unsigned build_begin, unsigned probe_begin) const {
    join.build.begins[p] = build_begin;
    join.probe.begins[p] = probe_begin;
    join.build.cursors[p] = build_begin;
    join.probe.cursors[p] = probe_begin;
    if (!join.plan.has_two_passes()) return;
    const int bits = join.plan.bits_of_pass(true);
    if ((p & ((1u << bits) - 1)) != 0) return;
    join.build.pass_cursors[p >> bits] = build_begin;
    join.probe.pass_cursors[p >> bits] = probe_begin;
  }

  STRATA_D unsigned tiles_of(unsigned i, unsigned one_side, int bits, unsigned tile) const {
    const unsigned* const begins = i < one_side ? join.build.begins : join.probe.begins;
    const unsigned p = i & (one_side - 1);
    const unsigned rows = begins[(p + 1) << bits] - begins[p << bits];
    return rows / tile + (rows % tile != 0 ? 1 : 0);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

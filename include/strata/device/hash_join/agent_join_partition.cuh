// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_partition.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What all blocks of a join by partitions know.
template <class Key, class Hash, class Equal>
struct join_partitions {
  join_partition_plan plan;
  JoinKind kind;
  join_side_records<Key> build;
  join_side_records<Key> probe;
  /// Units of work of each partition and those before it.
  unsigned long long* unit_ends;
  /// Partitions that the table in global memory takes care of, and whether there are any.
  unsigned* is_heavy;
  unsigned* any_is_heavy;
  unsigned long long* total;
  std::int64_t capacity;
  bool promised_unique;
  Hash hash;
  Equal equal;
};

/// Joins partitions in shared memory. The table of one has its build rows by buckets, side by side:
/// they are counted, the counts scanned, and the rows placed. Where a bucket has many rows, the
/// partition is left to the table in global memory. `Sink` is NullType where rows are only counted.
template <class Key, class Hash, class Equal, class Index, class Sink, int BlockThreads, int Items>
class AgentJoinTables {
  using Partitions = join_partitions<Key, Hash, Equal>;
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  using Count = unsigned long long;
  static constexpr unsigned warps = BlockThreads / warp_threads;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned warp_sums[warps];
    Count place;
  };

  STRATA_D AgentJoinTables(TempStorage& storage, unsigned char* shared, const Partitions& join,
                           const Sink& sink)
      : storage_(storage),
        buckets_(reinterpret_cast<unsigned*>(shared)),
        entries_(reinterpret_cast<join_record*>(shared + (std::size_t{2} << bucket_bits(join)))),
        found_(reinterpret_cast<unsigned*>(entries_ + join.plan.table_rows)),
        join_(join),
        sink_(sink) {}

  /// Unit `unit` of `units` of a partition.
  STRATA_D void run(unsigned partition, unsigned unit, unsigned units) {
    const unsigned begin = join_.build.begins[partition];
    rows_ = join_.build.begins[partition + 1] - begin;
    __syncthreads();
    if (!build(join_.build.records + begin)) {
      if (threadIdx.x == 0) {
        platform::store_relaxed(join_.is_heavy + partition, 1u);
        platform::store_relaxed(join_.any_is_heavy, 1u);
      }
      return;
    }
    const unsigned probe_begin = join_.probe.begins[partition];
    const unsigned probe_rows = join_.probe.begins[partition + 1] - probe_begin;
    const unsigned each = (probe_rows + units - 1) / units;
    const unsigned first = unit * each;
    if (first < probe_rows) {
      const unsigned count = probe_rows - first < each ? probe_rows - first : each;
      probe(join_.probe.records + probe_begin + first, count);
    }
    if (join_.kind == JoinKind::full) put_out_lonely_rows();
    if (!has_rows && counted_ != 0) atomicAdd(join_.total, counted_);
    counted_ = 0;
  }

 private:
  STRATA_D static int bucket_bits(const Partitions& join) { return join.plan.bucket_bits; }

  STRATA_D unsigned bucket_of(unsigned hash) const {
    return (hash << join_.plan.bits) >> (32 - join_.plan.bucket_bits);
  }
  STRATA_D unsigned bucket_end(unsigned bucket) const {
    return buckets_[bucket / 2] >> (bucket % 2 * 16) & 0xffffu;
  }
  STRATA_D unsigned bucket_begin(unsigned bucket) const {
    return bucket == 0 ? 0 : bucket_end(bucket - 1);
  }

  // Two counts of 16 bits in a word: a table has fewer rows than they can tell.
  STRATA_D bool build(const join_record* records) {
    const unsigned words = 1u << (join_.plan.bucket_bits - 1);
    for (unsigned i = threadIdx.x; i < words; i += BlockThreads) buckets_[i] = 0;
    if (join_.kind == JoinKind::full) {
      for (unsigned i = threadIdx.x; i <= rows_ / 32; i += BlockThreads) found_[i] = 0;
    }
    __syncthreads();
    STRATA_UNROLL_N(4)
    for (unsigned i = threadIdx.x; i < rows_; i += BlockThreads) {
      const unsigned bucket = bucket_of(records[i].hash);
      atomicAdd(buckets_ + bucket / 2, 1u << (bucket % 2 * 16));
    }
    __syncthreads();
    if (!place_buckets(words)) return false;
    __syncthreads();
    STRATA_UNROLL_N(4)
    for (unsigned i = threadIdx.x; i < rows_; i += BlockThreads) {
      const join_record record = records[i];
      const unsigned bucket = bucket_of(record.hash);
      const unsigned shift = bucket % 2 * 16;
      // Begins become ends.
      const unsigned place = atomicAdd(buckets_ + bucket / 2, 1u << shift) >> shift & 0xffffu;
      entries_[place] = record;
    }
    __syncthreads();
    return true;
  }

  STRATA_D bool place_buckets(unsigned words) {
    const unsigned each = (words + BlockThreads - 1) / BlockThreads;
    const unsigned first = threadIdx.x * each;
    const unsigned last = first + each < words ? first + each : words;
    unsigned sum = 0;
    bool is_crowded = false;
    for (unsigned i = first; i < last; ++i) {
      const unsigned even = buckets_[i] & 0xffffu;
      const unsigned odd = buckets_[i] >> 16;
      is_crowded |= even > most_join_bucket_rows || odd > most_join_bucket_rows;
      sum += even + odd;
    }
    if (__syncthreads_or(is_crowded ? 1 : 0) != 0) return false;
    unsigned begin = 0;
    Scan(storage_.scan).ExclusiveSum(sum, begin);
    for (unsigned i = first; i < last; ++i) {
      const unsigned word = buckets_[i];
      const unsigned odd_begin = begin + (word & 0xffffu);
      buckets_[i] = begin | odd_begin << 16;
      begin = odd_begin + (word >> 16);
    }
    return true;
  }

  STRATA_D bool are_equal(const join_record& a, const join_record& b) const {
    if (a.hash != b.hash) return false;
    return is_join_word<Key, Hash, Equal> ||
           join_.equal(join_.build.keys[a.row], join_.probe.keys[b.row]);
  }

  STRATA_D void probe(const join_record* records, unsigned rows) {
    constexpr unsigned tile = BlockThreads * Items;
    for (unsigned first = 0; first < rows; first += tile) {
      join_record items[Items];
      unsigned counts[Items];
      unsigned partners[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const unsigned at = first + place_of(i);
        if (at < rows) items[i] = records[at];
      }
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        counts[i] = 0;
        partners[i] = no_join_row<unsigned>;
        if (first + place_of(i) < rows) look_up(items[i], counts[i], partners[i]);
      }
      put_out(items, counts, partners);
    }
  }

  // A warp's rows lie side by side, and so do their results.
  STRATA_D static unsigned place_of(int item) {
    const unsigned warp = threadIdx.x / warp_threads;
    return (warp * Items + static_cast<unsigned>(item)) * warp_threads + platform::lane_id();
  }

  STRATA_D void look_up(const join_record& item, unsigned& count, unsigned& partner) {
    const unsigned bucket = bucket_of(item.hash);
    const unsigned end = bucket_end(bucket);
    const bool needs_one = join_.kind == JoinKind::semi || join_.kind == JoinKind::anti;
    const bool stops_at_one = needs_one || (join_.promised_unique && !STRATA_DEBUG);
    unsigned found = 0;
    for (unsigned i = bucket_begin(bucket); i < end; ++i) {
      if (!are_equal(entries_[i], item)) continue;
      if (found == 0) partner = i;
      ++found;
      if (join_.kind == JoinKind::full) atomicOr(found_ + i / 32, 1u << (i % 32));
      STRATA_ASSERT(!(join_.promised_unique && found > 1),
                    "JoinOptions::build_unique was promised, but the key of build row %u is also "
                    "that of another",
                    entries_[i].row);
      if (stops_at_one) break;
    }
    if (needs_one) {
      count = (found != 0) == (join_.kind == JoinKind::semi) ? 1 : 0;
      partner = no_join_row<unsigned>;
    } else {
      count = found != 0 || join_.kind == JoinKind::inner ? found : 1;
    }
  }

  // Takes places for the results of the block, and writes them: `partners` are the first entries.
  STRATA_D void put_out(const join_record (&items)[Items], const unsigned (&counts)[Items],
                        const unsigned (&partners)[Items]) {
    if constexpr (!has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) counted_ += counts[i];
    } else {
      unsigned begins[Items];
      unsigned sum = 0;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) begins[i] = sum_in_warp(counts[i], sum);
      const Count place = take_places(sum);
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        if (counts[i] == 0) continue;
        const unsigned partner = partners[i];
        const Index row = static_cast<Index>(items[i].row);
        if (partner == no_join_row<unsigned>) {
          write(place + begins[i], no_row<Index>, row);
          continue;
        }
        unsigned rank = 0;
        for (unsigned entry = partner; rank < counts[i]; ++entry) {
          const join_record found = entries_[entry];
          if (entry != partner && !are_equal(found, items[i])) continue;
          write(place + begins[i] + rank, static_cast<Index>(found.row), row);
          ++rank;
        }
      }
    }
  }

  // Where the results of this lane begin behind `sum`, which then is behind those of all lanes.
  STRATA_D static unsigned sum_in_warp(unsigned count, unsigned& sum) {
    const unsigned many = __ballot_sync(full_warp_mask, count > 1 ? 1 : 0);
    const unsigned before = sum;
    if (many == 0) {
      const unsigned lanes = __ballot_sync(full_warp_mask, count != 0 ? 1 : 0);
      sum += static_cast<unsigned>(__popc(lanes));
      return before + static_cast<unsigned>(__popc(lanes & platform::lane_mask_lt()));
    }
    unsigned end = count;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
      const unsigned lower = __shfl_up_sync(full_warp_mask, end, distance);
      if (platform::lane_id() >= distance) end += lower;
    }
    sum += __shfl_sync(full_warp_mask, end, warp_threads - 1);
    return before + end - count;
  }

  // One addition for the block. Of the calling warp: where its `sum` results go.
  STRATA_D Count take_places(unsigned sum) {
    const unsigned warp = threadIdx.x / warp_threads;
    const unsigned lane = platform::lane_id();
    // All have read what they were told the time before.
    __syncthreads();
    if (lane == 0) storage_.warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      const unsigned mine = lane < warps ? storage_.warp_sums[lane] : 0;
      unsigned end = mine;
      STRATA_UNROLL
      for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
        const unsigned lower = __shfl_up_sync(full_warp_mask, end, distance);
        if (lane >= distance) end += lower;
      }
      if (lane < warps) storage_.warp_sums[lane] = end - mine;
      if (lane == warp_threads - 1) {
        storage_.place = end == 0 ? 0 : atomicAdd(join_.total, static_cast<Count>(end));
      }
    }
    __syncthreads();
    return storage_.place + storage_.warp_sums[warp];
  }

  STRATA_D void write(Count position, Index build_row, Index probe_row) const {
    if (position >= static_cast<Count>(join_.capacity)) return;
    if constexpr (has_rows) {
      sink_(static_cast<std::int64_t>(position), build_row, probe_row);
    }
  }

  // By the one block that has seen all probe rows of the partition.
  STRATA_D void put_out_lonely_rows() {
    __syncthreads();
    for (unsigned first = 0; first < rows_; first += BlockThreads) {
      const unsigned i = first + threadIdx.x;
      const bool is_lonely = i < rows_ && (found_[i / 32] >> (i % 32) & 1) == 0;
      if constexpr (!has_rows) {
        counted_ += is_lonely ? 1 : 0;
      } else {
        unsigned sum = 0;
        const unsigned begin = sum_in_warp(is_lonely ? 1 : 0, sum);
        const Count place = take_places(sum);
        if (is_lonely) {
          write(place + begin, static_cast<Index>(entries_[i].row), no_row<Index>);
        }
      }
    }
  }

  TempStorage& storage_;
  unsigned* buckets_;
  join_record* entries_;
  unsigned* found_;
  const Partitions& join_;
  const Sink& sink_;
  unsigned rows_ = 0;
  Count counted_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The plan of a set of the keys of a partition in shared memory. Hashes of 4 bytes identify the keys. The set has
/// buckets of one word each, and an open-addressing table of the keys that do not fit their buckets.
struct join_set_plan {
  int partition_bits = 0;
  /// There are 2^bucket_bits buckets.
  int bucket_bits = 5;
  /// The number of bits of a hash that neither the partition nor the bucket determines. An entry is these bits, with a
  /// one above them.
  int rest_bits = 0;
  unsigned bucket_entries = 0;
  /// The lowest bit of each entry of a bucket. The highest bit of a word is above all entries: it is set
  /// if keys of the bucket are in the table.
  unsigned lowest_bits = 0;
  /// The table has 2^spill_bits slots. `list_rows` is the capacity of the list of rows that are inserted
  /// there.
  int spill_bits = 0;
  unsigned list_rows = 0;

  static constexpr unsigned is_full = 1u << 31;

  STRATA_HD constexpr unsigned buckets() const { return 1u << bucket_bits; }
  STRATA_HD constexpr unsigned spill_slots() const { return 1u << spill_bits; }
  /// With more keys in the table, searches would be long.
  STRATA_HD constexpr unsigned max_spilled() const { return spill_slots() / 4 * 3; }

  /// Layout in words: the buckets, a byte for each bucket, with the number of its rows (these bytes take a multiple of
  /// 4 words), the list, the table.
  STRATA_HD constexpr unsigned words_before_list() const { return buckets() + buckets() / 4; }
  STRATA_HD constexpr unsigned words_before_table() const { return words_before_list() + list_rows; }
  constexpr std::size_t bytes() const { return std::size_t{words_before_table() + spill_slots()} * sizeof(unsigned); }
};

/// For partitions with `rows_each` build rows on average.
constexpr join_set_plan plan_join_set(int partition_bits, std::uint64_t rows_each) {
  constexpr int max_bucket_bits = 15;
  join_set_plan plan;
  plan.partition_bits = partition_bits;
  for (;; ++plan.bucket_bits) {
    plan.rest_bits = 32 - partition_bits - plan.bucket_bits;
    plan.bucket_entries = static_cast<unsigned>(31 / (plan.rest_bits + 1));
    if (plan.bucket_bits == max_bucket_bits) break;
    // With as many buckets as rows and three entries in each, 2 % of the rows do not fit; with twice as
    // many buckets and two entries, 3 %.
    if (plan.bucket_entries >= 3 && rows_each <= plan.buckets()) break;
    if (plan.bucket_entries == 2 && 2 * rows_each <= plan.buckets()) break;
  }
  for (unsigned entry = 0; entry < plan.bucket_entries; ++entry) {
    plan.lowest_bits |= 1u << entry * static_cast<unsigned>(plan.rest_bits + 1);
  }
  plan.spill_bits = plan.bucket_bits < 9 ? 5 : plan.bucket_bits - 4;
  plan.list_rows = plan.spill_slots() / 2;
  return plan;
}

/// The set of the keys of the build rows of a partition, in shared memory, by hashes of 4 bytes that identify the keys.
/// One pass over the rows builds it: an atomic addition returns a row's index in its bucket, and an atomic operation
/// without a result writes the entry. With compare-and-swap, which 2 % of the rows still use, 2^24 rows took 160 us
/// more (H200, 2026-11). Nearly every look-up takes one load.
template <int BlockThreads, int BuildItems>
class join_shared_set {
  static constexpr unsigned threads = BlockThreads;

 public:
  struct TempStorage {
    /// The number of rows that did not fit their buckets.
    unsigned listed;
    /// The number of different keys of those rows, which are in a table.
    unsigned spilled;
  };

  STRATA_D join_shared_set(TempStorage& storage, unsigned char* shared, const join_set_plan& plan)
      : storage_(storage), buckets_(reinterpret_cast<unsigned*>(shared)), plan_(plan) {}

  /// Inserts the hashes of a partition's rows, `load(0)` to `load(rows - 1)`. All threads of the block call this, and
  /// may use the set when it returns. Returns false, and makes no set, if some buckets have too many rows or the table
  /// has too many keys. Of several blocks with the same rows, some may return true and others false.
  template <class Load>
  STRATA_D bool build(unsigned partition, unsigned rows, const Load& load) {
    no_hash_ = (partition ^ 1u) << (32 - plan_.partition_bits);
    unsigned first = threadIdx.x;
    // In flight while the set is cleared.
    unsigned some[batch];
    load_some(first, rows, load, some);
    clear();
    __syncthreads();
    bool is_oversized = false;
    for (;;) {
      insert_some(first, rows, some, is_oversized);
      first += batch * threads;
      if (first >= rows) break;
      load_some(first, rows, load, some);
    }
    if (__syncthreads_or(is_oversized ? 1 : 0) != 0) return false;
    const unsigned listed = storage_.listed;
    if (listed <= plan_.list_rows) {
      const unsigned* const list = buckets_ + plan_.words_before_list();
      for (unsigned i = threadIdx.x; i < listed; i += threads) spill(list[i]);
    } else {
      for (unsigned i = threadIdx.x; i < rows; i += threads) spill(load(i));
    }
    __syncthreads();
    return storage_.spilled <= plan_.max_spilled();
  }

  /// True if the set has a hash, which must be of its partition.
  STRATA_D bool has(unsigned hash) const {
    const unsigned bucket = buckets_[bucket_of(hash)];
    if (has_entry(bucket, entry_of(hash))) return true;
    return (bucket & join_set_plan::is_full) != 0 && is_spilled(hash);
  }

 private:
  // A thread has this many loads in flight.
  static constexpr unsigned batch = BuildItems;
  // Counts of buckets have 8 bits. Before a count overflows, some thread sees that the bucket has so many
  // rows, and there is no set.
  static constexpr unsigned oversized_rows = 128;

  template <class Load>
  STRATA_D static void load_some(unsigned first, unsigned rows, const Load& load, unsigned (&some)[batch]) {
    STRATA_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      if (first + k * threads < rows) some[k] = load(first + k * threads);
    }
  }

  STRATA_D void clear() {
    for (unsigned i = threadIdx.x; i < plan_.words_before_list() / 4; i += threads) {
      reinterpret_cast<uint4*>(buckets_)[i] = uint4{0, 0, 0, 0};
    }
    for (unsigned i = threadIdx.x; i < plan_.spill_slots(); i += threads) slots()[i] = no_hash_;
    if (threadIdx.x != 0) return;
    storage_.listed = 0;
    storage_.spilled = 0;
  }

  STRATA_D void insert_some(unsigned first, unsigned rows, const unsigned (&some)[batch], bool& is_oversized) {
    unsigned* const counts = buckets_ + plan_.buckets();
    unsigned ranks[batch];
    STRATA_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      if (first + k * threads >= rows) continue;
      const unsigned bucket = bucket_of(some[k]);
      const unsigned shift = bucket % 4 * 8;
      ranks[k] = atomicAdd(counts + bucket / 4, 1u << shift) >> shift & 0xffu;
    }
    STRATA_UNROLL
    for (unsigned k = 0; k < batch; ++k) {
      if (first + k * threads >= rows) continue;
      const bool fits = ranks[k] < plan_.bucket_entries;
      atomicOr(buckets_ + bucket_of(some[k]),
               fits ? entry_of(some[k]) << ranks[k] * entry_bits() : join_set_plan::is_full);
      if (fits) continue;
      is_oversized |= ranks[k] >= oversized_rows;
      const unsigned at = atomicAdd(&storage_.listed, 1u);
      if (at < plan_.list_rows) buckets_[plan_.words_before_list() + at] = some[k];
    }
  }

  STRATA_D unsigned entry_bits() const { return static_cast<unsigned>(plan_.rest_bits) + 1; }
  STRATA_D unsigned bucket_of(unsigned hash) const {
    return (hash << plan_.partition_bits) >> (32 - plan_.bucket_bits);
  }
  STRATA_D unsigned entry_of(unsigned hash) const {
    const unsigned top = 1u << plan_.rest_bits;
    return (hash & (top - 1)) | top;
  }
  // True if one of the differences is zero. Subtracting 1 from each changes the highest bit of the lowest zero
  // difference from 0 to 1. If no difference is zero, no highest bit changes from 0 to 1.
  STRATA_D bool has_entry(unsigned bucket, unsigned entry) const {
    const unsigned differences = bucket ^ entry * plan_.lowest_bits;
    return ((differences - plan_.lowest_bits) & ~differences & plan_.lowest_bits << plan_.rest_bits) != 0;
  }

  // The table of keys that do not fit their buckets, by open addressing.
  STRATA_D unsigned* slots() const { return buckets_ + plan_.words_before_table(); }
  STRATA_D unsigned first_slot(unsigned hash) const { return hash * 0x9e3779b1u >> (32 - plan_.spill_bits); }
  STRATA_D unsigned next_slot(unsigned slot) const { return (slot + 1) & (plan_.spill_slots() - 1); }
  STRATA_D bool is_spilled(unsigned hash) const {
    for (unsigned slot = first_slot(hash);; slot = next_slot(slot)) {
      const unsigned there = slots()[slot];
      if (there == hash) return true;
      if (there == no_hash_) return false;
    }
  }
  STRATA_D void spill(unsigned hash) {
    if (has_entry(buckets_[bucket_of(hash)], entry_of(hash))) return;
    unsigned slot = first_slot(hash);
    for (unsigned num_probed = 0; num_probed < plan_.spill_slots(); ++num_probed) {
      const unsigned there = atomicCAS(slots() + slot, no_hash_, hash);
      if (there == hash) return;
      if (there == no_hash_) {
        atomicAdd(&storage_.spilled, 1u);
        return;
      }
      slot = next_slot(slot);
    }
    // No slot is free: `spilled` is above the limit already.
  }

  TempStorage& storage_;
  unsigned* buckets_;
  const join_set_plan& plan_;
  /// Marks an empty slot: a hash of another partition.
  unsigned no_hash_ = 0;
};

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

  /// Returns false, and joins nothing, if there is no set for the build rows.
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

  // Writes the rows whose bit is set in `results`. All threads of a group call this.
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

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Joins the work items of a semi or anti join, one by each block, and defers those for which there is no set. With
/// `IsLarge` the shared memory of a multiprocessor holds one set only.
template <class MaxPolicy, bool IsLarge, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_set_kernel(join_partitions<Keys, Hash, Equal> join, join_set_plan plan,
                                                  Sink sink) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentJoinSets<Policy, Keys, Hash, Equal, Index, Sink, Policy::partition.threads_of_join(IsLarge),
                              Policy::partition.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  const bool is_done = Agent(storage.Alias(), shared, plan, join, sink).run(join.work_items[at]);
  if (!is_done && threadIdx.x == 0) join.defer(at);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/key_set/plan.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The set of the keys of the build rows of a partition, in shared memory, by hashes of 4 bytes that
/// identify the keys. One pass over the rows builds it: an atomic addition returns a row's index in its
/// bucket, and an atomic operation without a result writes the entry. With compare-and-swap, which 2 %
/// of the rows still use, 2^24 rows took 160 us more (H200, 2026-11). Nearly every look-up takes one
/// load.
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

  /// Inserts the hashes of a partition's rows, `load(0)` to `load(rows - 1)`. By all threads of the block,
  /// which may use the set when it returns. False, and there is no set, if some buckets have too many
  /// rows. Of several blocks with the same rows, some may return true and others false.
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

  /// Whether the set has a hash, which must be of its partition.
  STRATA_D bool has(unsigned hash) const {
    const unsigned bucket = buckets_[bucket_of(hash)];
    if (has_entry(bucket, entry_of(hash))) return true;
    return (bucket & join_set_plan::is_full) != 0 && is_spilled(hash);
  }

 private:
  // A thread has so many loads in flight.
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
  // Whether one of the differences is zero: the lowest such one borrows from its highest bit.
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

}  // namespace detail
STRATA_NAMESPACE_END

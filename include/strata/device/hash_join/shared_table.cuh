// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/partition_plan.hpp>

#include <cstddef>
#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A row of a side with its key's hash, of 32 or 64 bits.
template <class Word>
struct join_hashed_row {
  Word hash;
  unsigned row;
};

/// A table of the build rows of a partition in shared memory, by buckets, side by side: they are
/// counted, the counts scanned, and the rows placed. An entry is a row number and all bits of the
/// hash that neither the partition nor the bucket tells, so that entries compare whole hashes.
template <class Word, int BlockThreads>
class join_shared_table {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr int word_bits = static_cast<int>(sizeof(Word)) * 8;

 public:
  using TempStorage = typename Scan::TempStorage;
  using Row = join_hashed_row<Word>;

  STRATA_D join_shared_table(TempStorage& storage, unsigned char* shared,
                             const join_partition_plan& plan)
      : storage_(storage),
        shared_(shared),
        entries_(reinterpret_cast<Word*>(shared + plan.bytes_before_entries())),
        bits_(plan.bits),
        bucket_bits_(plan.bucket_bits),
        row_limit_(Word{1} << (plan.bits + plan.bucket_bits)) {}

  /// Of the rows `load(0)` to `load(rows - 1)`; false if some bucket has too many of them. By all
  /// threads of the block, which may use the table when it returns.
  template <class Load>
  STRATA_D bool build(unsigned rows, const Load& load) const {
    const unsigned words = 1u << (bucket_bits_ - 1);
    unsigned* const counts = reinterpret_cast<unsigned*>(shared_) + guard_words;
    for (unsigned i = threadIdx.x; i < guard_words + words; i += threads) {
      reinterpret_cast<unsigned*>(shared_)[i] = 0;
    }
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) { count_in(counts, bucket_of(row.hash)); });
    __syncthreads();
    if (!place_buckets(counts, words)) return false;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) {
      // Begins become ends.
      entries_[count_in(counts, bucket_of(row.hash))] = rest_of(row.hash) | row.row;
    });
    __syncthreads();
    return true;
  }

  /// Entries of rows that may have the hash.
  STRATA_D void find(Word hash, unsigned& begin, unsigned& end) const {
    const unsigned bucket = bucket_of(hash);
    begin = half_word(bucket - 1);
    end = half_word(bucket);
  }

  /// Entry `i` as seen from a hash in whose bucket it is, and whose `rest_of` that is: its row, if
  /// `is_row` says so, because it has the same hash.
  STRATA_D Word seen_from(Word rest, unsigned i) const { return entries_[i] ^ rest; }
  STRATA_D bool is_row(Word seen) const { return seen < row_limit_; }
  static constexpr Word no_row_seen = ~Word{0};

  STRATA_D unsigned row_at(unsigned i) const {
    return static_cast<unsigned>(entries_[i] & (row_limit_ - 1));
  }
  STRATA_D Word rest_of(Word hash) const { return hash << (bits_ + bucket_bits_); }

 private:
  // Before the first bucket is the end of none.
  static constexpr unsigned guard_words = 4;

  STRATA_D unsigned bucket_of(Word hash) const {
    const auto upper = static_cast<unsigned>(hash >> (word_bits - 32));
    return (upper << bits_) >> (32 - bucket_bits_);
  }
  STRATA_D unsigned half_word(unsigned bucket) const {
    unsigned short half;
    memcpy(&half, shared_ + 4 * guard_words + static_cast<int>(2 * bucket), sizeof(half));
    return half;
  }

  // Two counts of 16 bits in a word: a table has fewer rows than they can tell.
  STRATA_D static unsigned count_in(unsigned* counts, unsigned bucket) {
    const unsigned shift = bucket % 2 * 16;
    return atomicAdd(counts + bucket / 2, 1u << shift) >> shift & 0xffffu;
  }

  // Some loads of a thread are on their way together.
  template <class Load, class Use>
  STRATA_D static void for_all_rows(unsigned rows, const Load& load, const Use& use) {
    constexpr unsigned ahead = sizeof(Word) == 4 ? 8 : 4;
    unsigned first = threadIdx.x;
    for (; rows > (ahead - 1) * threads && first < rows - (ahead - 1) * threads;
         first += ahead * threads) {
      Row some[ahead];
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) some[k] = load(std::size_t{first} + k * threads);
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) use(some[k]);
    }
    Row some[ahead];
    STRATA_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      if (first + k * threads < rows) some[k] = load(std::size_t{first} + k * threads);
    }
    STRATA_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      if (first + k * threads < rows) use(some[k]);
    }
  }

  STRATA_D bool place_buckets(unsigned* counts, unsigned words) const {
    // An odd number, so that the threads of a warp read from different banks.
    const unsigned each = (words + threads - 1) / threads | 1;
    const unsigned first = threadIdx.x * each;
    const unsigned last = first + each < words ? first + each : words;
    unsigned sum = 0;
    bool is_crowded = false;
    for (unsigned i = first; i < last; ++i) {
      const unsigned even = counts[i] & 0xffffu;
      const unsigned odd = counts[i] >> 16;
      is_crowded |= even > most_join_bucket_rows || odd > most_join_bucket_rows;
      sum += even + odd;
    }
    if (__syncthreads_or(is_crowded ? 1 : 0) != 0) return false;
    unsigned begin = 0;
    Scan(storage_).ExclusiveSum(sum, begin);
    for (unsigned i = first; i < last; ++i) {
      const unsigned word = counts[i];
      const unsigned odd_begin = begin + (word & 0xffffu);
      counts[i] = begin | odd_begin << 16;
      begin = odd_begin + (word >> 16);
    }
    return true;
  }

  TempStorage& storage_;
  unsigned char* shared_;
  Word* entries_;
  int bits_;
  int bucket_bits_;
  Word row_limit_;
};

}  // namespace detail
STRATA_NAMESPACE_END

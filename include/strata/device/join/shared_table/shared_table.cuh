// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/radix_partition/plan.hpp>

#include <cstddef>
#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A row and its key's hash, of 32 or 64 bits.
template <class Word>
struct join_hashed_row {
  Word hash;
  unsigned row;
};

/// A table of the build rows of a partition in shared memory: a counting sort by buckets. The rows of each bucket are
/// counted, the counts are scanned, and the rows are written. An entry has a row number and all bits of the hash that
/// neither the partition nor the bucket determines: two entries of a bucket have equal hashes if these bits are equal.
///
/// Up to `MaxOversized` buckets may be oversized, with any number of rows. With 0, there is no table if a bucket is
/// oversized.
template <class Word, int BlockThreads, unsigned MaxOversized = 0>
class join_shared_table {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int word_bits = static_cast<int>(sizeof(Word)) * 8;

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned num_oversized;
    /// Buckets with more than `max_join_bucket_rows` rows.
    unsigned short oversized[MaxOversized > 0 ? MaxOversized : 1];
  };
  using Row = join_hashed_row<Word>;

  STRATA_D join_shared_table(TempStorage& storage, unsigned char* shared, const join_partition_plan& plan)
      : storage_(storage),
        shared_(shared),
        entries_(reinterpret_cast<Word*>(shared + plan.bytes_before_entries())),
        bits_(plan.bits),
        bucket_bits_(plan.bucket_bits),
        row_limit_(Word{1} << (plan.bits + plan.bucket_bits)) {}

  /// Inserts the rows `load(0)` to `load(rows - 1)`. All threads of the block call this, and may use the table when it
  /// returns. If `MaxOversized` is 0, it returns false and makes no table in two cases: a bucket is oversized, or many
  /// buckets have more rows than by chance and `refuses_duplicates` is true. In the end all threads call `finish(number
  /// of oversized buckets)`.
  template <class Load, class Finish>
  STRATA_D bool build(unsigned rows, const Load& load, bool refuses_duplicates, const Finish& finish) const {
    const unsigned words = 1u << (bucket_bits_ - 1);
    unsigned* const counts = reinterpret_cast<unsigned*>(shared_) + guard_words;
    for (unsigned i = threadIdx.x; i < guard_words + words; i += threads) {
      reinterpret_cast<unsigned*>(shared_)[i] = 0;
    }
    if (threadIdx.x == 0) storage_.num_oversized = 0;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) { count_in(counts, bucket_of(row.hash)); });
    __syncthreads();
    const bool has_duplicates = scan_buckets(counts, words);
    const unsigned num_oversized = storage_.num_oversized;
    if (MaxOversized == 0 && (num_oversized != 0 || (has_duplicates && refuses_duplicates))) return false;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) {
      // Begins become ends.
      entries_[count_in(counts, bucket_of(row.hash))] = rest_of(row.hash) | row.row;
    });
    __syncthreads();
    finish(num_oversized);
    return true;
  }
  template <class Load>
  STRATA_D bool build(unsigned rows, const Load& load, bool refuses_duplicates) const {
    return build(rows, load, refuses_duplicates, [](unsigned) {});
  }

  /// The bucket of a hash: entries [begin, end).
  STRATA_D void find(Word hash, unsigned& begin, unsigned& end) const {
    const unsigned bucket = bucket_of(hash);
    begin = half_word(bucket - 1);
    end = half_word(bucket);
  }

  /// Compares entry `i` with a hash of the same bucket, whose `rest_of` is `rest`. If `is_row` is true of
  /// the result, the hashes are equal, and the result is the entry's row.
  STRATA_D Word seen_from(Word rest, unsigned i) const { return entries_[i] ^ rest; }
  STRATA_D bool is_row(Word seen) const { return seen < row_limit_; }
  static constexpr Word no_row_seen = ~Word{0};

  STRATA_D unsigned row_at(unsigned i) const { return static_cast<unsigned>(entries_[i] & (row_limit_ - 1)); }
  /// The row number in an entry is less than this.
  STRATA_D Word row_limit() const { return row_limit_; }
  STRATA_D Word rest_of(Word hash) const { return hash << (bits_ + bucket_bits_); }

 protected:
  static constexpr unsigned threads = BlockThreads;

  /// Returns the end of a bucket.
  STRATA_D unsigned half_word(unsigned bucket) const {
    unsigned short half;
    memcpy(&half, shared_ + 4 * guard_words + static_cast<int>(2 * bucket), sizeof(half));
    return half;
  }

  TempStorage& storage_;
  unsigned char* shared_;
  Word* entries_;
  int bits_;
  int bucket_bits_;
  Word row_limit_;

 private:
  // A bucket begins where the one before it ends. For the first bucket, find() reads this from the guard words, which
  // are 0.
  static constexpr unsigned guard_words = 4;

  STRATA_D unsigned bucket_of(Word hash) const {
    const auto upper = static_cast<unsigned>(hash >> (word_bits - 32));
    return (upper << bits_) >> (32 - bucket_bits_);
  }

  // Two counts of 16 bits in a word: a table has fewer than 2^16 rows.
  STRATA_D static unsigned count_in(unsigned* counts, unsigned bucket) {
    const unsigned shift = bucket % 2 * 16;
    return atomicAdd(counts + bucket / 2, 1u << shift) >> shift & 0xffffu;
  }

  // A thread has several loads in flight.
  template <class Load, class Use>
  STRATA_D static void for_all_rows(unsigned rows, const Load& load, const Use& use) {
    constexpr unsigned ahead = sizeof(Word) == 4 ? 8 : 4;
    unsigned first = threadIdx.x;
    for (; rows > (ahead - 1) * threads && first < rows - (ahead - 1) * threads; first += ahead * threads) {
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

  // Turns counts into begins. Returns true if many buckets have more rows than they would have by chance if all keys
  // were different.
  STRATA_D bool scan_buckets(unsigned* counts, unsigned words) const {
    // An odd number, so that the threads of a warp access different banks.
    const unsigned each = (words + threads - 1) / threads | 1;
    const unsigned first = threadIdx.x * each;
    const unsigned last = detail::least(first + each, words);
    unsigned sum = 0;
    unsigned squares = 0;
    for (unsigned i = first; i < last; ++i) {
      const unsigned even = counts[i] & 0xffffu;
      const unsigned odd = counts[i] >> 16;
      sum += even + odd;
      squares += even * even + odd * odd;
      if (even > max_join_bucket_rows) note_oversized(2 * i);
      if (odd > max_join_bucket_rows) note_oversized(2 * i + 1);
    }
    const bool has_several = squares > duplicate_join_rows * sum;
    const auto threads_with_several = static_cast<unsigned>(__syncthreads_count(has_several ? 1 : 0));
    unsigned begin = 0;
    Scan(storage_.scan).ExclusiveSum(sum, begin);
    for (unsigned i = first; i < last; ++i) {
      const unsigned word = counts[i];
      const unsigned odd_begin = begin + (word & 0xffffu);
      counts[i] = begin | odd_begin << 16;
      begin = odd_begin + (word >> 16);
    }
    return threads_with_several * each * 8 > words;
  }

  STRATA_D void note_oversized(unsigned bucket) const {
    const unsigned at = atomicAdd(&storage_.num_oversized, 1u);
    if (MaxOversized > 0) storage_.oversized[at] = static_cast<unsigned short>(bucket);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
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

/// The partners of a row in a table: entries [first, first + count).
struct join_run {
  unsigned first;
  unsigned count;
};

/// A table of the build rows of a partition in shared memory: a counting sort by buckets. The rows of each
/// bucket are counted, the counts are scanned, and the rows are written. An entry has a row number and
/// all bits of the hash that neither the partition nor the bucket determines: two entries of a bucket
/// have equal hashes if these bits are equal.
///
/// With `GroupsHashes`, rows with the same hash lie side by side in their bucket, and a bucket may have
/// any number of rows.
template <class Word, int BlockThreads, bool GroupsHashes>
class join_shared_table {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr int word_bits = static_cast<int>(sizeof(Word)) * 8;
  static constexpr unsigned max_oversized = GroupsHashes ? max_join_table_rows / (max_join_bucket_rows + 1) : 1;

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned num_oversized;
    /// Buckets with more than `max_join_bucket_rows` rows.
    unsigned short oversized[max_oversized];
  };
  using Row = join_hashed_row<Word>;

  STRATA_D join_shared_table(TempStorage& storage, unsigned char* shared, const join_partition_plan& plan)
      : storage_(storage),
        shared_(shared),
        entries_(reinterpret_cast<Word*>(shared + plan.bytes_before_entries())),
        bits_(plan.bits),
        bucket_bits_(plan.bucket_bits),
        row_limit_(Word{1} << (plan.bits + plan.bucket_bits)) {}

  /// Inserts the rows `load(0)` to `load(rows - 1)`. By all threads of the block, which may use the table
  /// when it returns. Without `GroupsHashes` it returns false, and there is no table, if a bucket is
  /// oversized or, with `refuses_duplicates`, if most keys have several rows.
  template <class Load>
  STRATA_D bool build(unsigned rows, const Load& load, bool refuses_duplicates) const {
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
    if (!GroupsHashes && (num_oversized != 0 || (has_duplicates && refuses_duplicates))) return false;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) {
      // Begins become ends.
      entries_[count_in(counts, bucket_of(row.hash))] = rest_of(row.hash) | row.row;
    });
    __syncthreads();
    if constexpr (GroupsHashes) {
      group_small();
      sort_oversized(num_oversized);
    }
    return true;
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
  STRATA_D Word rest_of(Word hash) const { return hash << (bits_ + bucket_bits_); }

  /// All entries with the hash, in a table with `GroupsHashes`.
  STRATA_D join_run run_of(Word hash) const {
    // not for users: AgentJoinDuplicates alone calls it
    static_assert(GroupsHashes, "the entries of a hash need not lie side by side");
    unsigned begin = 0;
    unsigned end = 0;
    find(hash, begin, end);
    if (begin == end) return {0, 0};
    const Word rest = rest_of(hash);
    const auto is_same = [&](unsigned i) { return is_row(seen_from(rest, i)); };
    const bool first_is = is_same(begin);
    const bool last_is = is_same(end - 1);
    if (first_is && last_is) return {begin, end - begin};
    if (first_is || last_is) {
      const unsigned between = first_without(begin + 1, end - 1, [&](unsigned i) { return is_same(i) == first_is; });
      if (first_is) {
        end = between;
      } else {
        begin = between;
      }
    } else if (end - begin <= max_join_bucket_rows) {
      while (begin < end && !is_same(begin)) ++begin;
      unsigned last = begin;
      while (last < end && is_same(last)) ++last;
      end = last;
    } else {
      // An oversized bucket is sorted.
      begin = first_without(begin, end, [&](unsigned i) { return entries_[i] < rest; });
      end = first_without(begin, end, is_same);
    }
    return {begin, end - begin};
  }

 private:
  // The begin of the first bucket is read from the words before it, which are 0.
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

  // Turns counts into begins. Returns whether buckets have more rows than different keys have by chance.
  STRATA_D bool scan_buckets(unsigned* counts, unsigned words) const {
    // An odd number, so that the threads of a warp access different banks.
    const unsigned each = (words + threads - 1) / threads | 1;
    const unsigned first = threadIdx.x * each;
    const unsigned last = first + each < words ? first + each : words;
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
    if (GroupsHashes) storage_.oversized[at] = static_cast<unsigned short>(bucket);
  }

  // A thread groups a bucket in as many rounds as that has different hashes, nearly always one or two.
  STRATA_D void group_small() const {
    for (unsigned bucket = threadIdx.x; bucket < 1u << bucket_bits_; bucket += threads) {
      unsigned begin = half_word(bucket - 1);
      const unsigned end = half_word(bucket);
      if (end - begin > max_join_bucket_rows) continue;
      while (end - begin > 2) {
        const Word first = entries_[begin];
        ++begin;
        for (unsigned i = begin; i < end; ++i) {
          const Word entry = entries_[i];
          if (!is_row(entry ^ first)) continue;
          if (i != begin) {
            entries_[i] = entries_[begin];
            entries_[begin] = entry;
          }
          ++begin;
        }
      }
    }
    __syncthreads();
  }

  // Nearly all oversized buckets have rows of one key and stay as they are: a warp checks each. The block
  // sorts the others.
  STRATA_D void sort_oversized(unsigned number) const {
    if (number == 0) return;
    constexpr unsigned warps = threads / warp_threads;
    for (unsigned i = threadIdx.x / warp_threads; i < number; i += warps) {
      const unsigned bucket = storage_.oversized[i];
      const unsigned begin = half_word(bucket - 1);
      const unsigned end = half_word(bucket);
      const Word first = entries_[begin];
      bool has_others = false;
      for (unsigned at = begin + platform::lane_id(); at < end; at += warp_threads) {
        has_others |= !is_row(entries_[at] ^ first);
      }
      const bool is_mixed = __any_sync(full_warp_mask, has_others ? 1 : 0) != 0;
      __syncwarp();
      if (platform::lane_id() == 0 && !is_mixed) storage_.oversized[i] = no_bucket;
    }
    __syncthreads();
    for (unsigned i = 0; i < number; ++i) {
      const unsigned bucket = storage_.oversized[i];
      if (bucket == no_bucket) continue;
      const unsigned begin = half_word(bucket - 1);
      sort_entries(entries_ + begin, half_word(bucket) - begin);
    }
  }
  static constexpr unsigned short no_bucket = 0xffff;

  // Batcher's bitonic network, in the form that reverses the second of two runs. Each exchange moves the
  // greater entry up, so the entries that are missing up to a power of two need not exist: they would
  // not move.
  STRATA_D static void sort_entries(Word* entries, unsigned number) {
    for (unsigned size = 2; size / 2 < number; size *= 2) {
      for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        for (unsigned pair = threadIdx.x;; pair += threads) {
          const unsigned low = pair / stride * (2 * stride) + pair % stride;
          if (low >= number) break;
          const unsigned high = stride == size / 2 ? low ^ (size - 1) : low + stride;
          if (high >= number || entries[low] <= entries[high]) continue;
          const Word lower = entries[high];
          entries[high] = entries[low];
          entries[low] = lower;
        }
        __syncthreads();
      }
    }
  }

  // The first index in [begin, end) for which `holds` is false. It is true for all before and false for
  // all after.
  template <class Holds>
  STRATA_D static unsigned first_without(unsigned begin, unsigned end, const Holds& holds) {
    while (begin < end) {
      const unsigned middle = (begin + end) / 2;
      if (holds(middle)) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
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

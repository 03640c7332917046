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

/// Partners of a row in a table: so many entries from `first` on.
struct join_run {
  unsigned first;
  unsigned count;
};

/// A table of the build rows of a partition in shared memory, by buckets, side by side: they are
/// counted, the counts scanned, and the rows placed. An entry is a row number and all bits of the
/// hash that neither the partition nor the bucket tells, so that entries compare whole hashes.
///
/// With `GroupsHashes`, rows with the same hash lie side by side in their bucket, and a bucket may have
/// any number of rows.
template <class Word, int BlockThreads, bool GroupsHashes>
class join_shared_table {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr int word_bits = static_cast<int>(sizeof(Word)) * 8;
  static constexpr unsigned most_crowded =
      GroupsHashes ? most_join_table_rows / (most_join_bucket_rows + 1) : 1;

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned num_crowded;
    /// Buckets with more than `most_join_bucket_rows` rows.
    unsigned short crowded[most_crowded];
  };
  using Row = join_hashed_row<Word>;

  STRATA_D join_shared_table(TempStorage& storage, unsigned char* shared,
                             const join_partition_plan& plan)
      : storage_(storage),
        shared_(shared),
        entries_(reinterpret_cast<Word*>(shared + plan.bytes_before_entries())),
        bits_(plan.bits),
        bucket_bits_(plan.bucket_bits),
        row_limit_(Word{1} << (plan.bits + plan.bucket_bits)) {}

  /// Of the rows `load(0)` to `load(rows - 1)`; false, and no table, if some bucket has too many that
  /// are not to be sorted or, with `refuses_repeated`, if keys have several rows each as a rule. By
  /// all threads of the block, which may use the table when it returns.
  template <class Load>
  STRATA_D bool build(unsigned rows, const Load& load, bool refuses_repeated) const {
    const unsigned words = 1u << (bucket_bits_ - 1);
    unsigned* const counts = reinterpret_cast<unsigned*>(shared_) + guard_words;
    for (unsigned i = threadIdx.x; i < guard_words + words; i += threads) {
      reinterpret_cast<unsigned*>(shared_)[i] = 0;
    }
    if (threadIdx.x == 0) storage_.num_crowded = 0;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) { count_in(counts, bucket_of(row.hash)); });
    __syncthreads();
    const bool is_repeated = place_buckets(counts, words);
    const unsigned num_crowded = storage_.num_crowded;
    if (!GroupsHashes && (num_crowded != 0 || (is_repeated && refuses_repeated))) return false;
    __syncthreads();
    for_all_rows(rows, load, [&](const Row& row) {
      // Begins become ends.
      entries_[count_in(counts, bucket_of(row.hash))] = rest_of(row.hash) | row.row;
    });
    __syncthreads();
    if constexpr (GroupsHashes) {
      group_small();
      sort_crowded(num_crowded);
    }
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

  /// All entries with the hash; for tables with groups of them.
  STRATA_D join_run run_of(Word hash) const {
    // not for users: AgentJoinRepeated alone calls it
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
      const unsigned between =
          first_without(begin + 1, end - 1, [&](unsigned i) { return is_same(i) == first_is; });
      if (first_is) {
        end = between;
      } else {
        begin = between;
      }
    } else if (end - begin <= most_join_bucket_rows) {
      while (begin < end && !is_same(begin)) ++begin;
      unsigned last = begin;
      while (last < end && is_same(last)) ++last;
      end = last;
    } else {
      // It is sorted.
      begin = first_without(begin, end, [&](unsigned i) { return entries_[i] < rest; });
      end = first_without(begin, end, is_same);
    }
    return {begin, end - begin};
  }

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

  // Whether buckets that have rows have several as a rule: more than chance brings together.
  STRATA_D bool place_buckets(unsigned* counts, unsigned words) const {
    // An odd number, so that the threads of a warp read from different banks.
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
      if (even > most_join_bucket_rows) note_crowded(2 * i);
      if (odd > most_join_bucket_rows) note_crowded(2 * i + 1);
    }
    const bool has_several = squares > repeated_join_rows * sum;
    const auto threads_with_several =
        static_cast<unsigned>(__syncthreads_count(has_several ? 1 : 0));
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

  STRATA_D void note_crowded(unsigned bucket) const {
    const unsigned at = atomicAdd(&storage_.num_crowded, 1u);
    if (GroupsHashes) storage_.crowded[at] = static_cast<unsigned short>(bucket);
  }

  // By a thread for each bucket: as many rounds as it has hashes, nearly always one or two.
  STRATA_D void group_small() const {
    for (unsigned bucket = threadIdx.x; bucket < 1u << bucket_bits_; bucket += threads) {
      unsigned begin = half_word(bucket - 1);
      const unsigned end = half_word(bucket);
      if (end - begin > most_join_bucket_rows) continue;
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

  // Nearly all have rows of one key and are left as they are, by a warp each; the others are sorted
  // by the block.
  STRATA_D void sort_crowded(unsigned number) const {
    if (number == 0) return;
    constexpr unsigned warps = threads / warp_threads;
    for (unsigned i = threadIdx.x / warp_threads; i < number; i += warps) {
      const unsigned bucket = storage_.crowded[i];
      const unsigned begin = half_word(bucket - 1);
      const unsigned end = half_word(bucket);
      const Word first = entries_[begin];
      bool has_others = false;
      for (unsigned at = begin + platform::lane_id(); at < end; at += warp_threads) {
        has_others |= !is_row(entries_[at] ^ first);
      }
      const bool is_mixed = __any_sync(full_warp_mask, has_others ? 1 : 0) != 0;
      __syncwarp();
      if (platform::lane_id() == 0 && !is_mixed) storage_.crowded[i] = no_bucket;
    }
    __syncthreads();
    for (unsigned i = 0; i < number; ++i) {
      const unsigned bucket = storage_.crowded[i];
      if (bucket == no_bucket) continue;
      const unsigned begin = half_word(bucket - 1);
      sort_entries(entries_ + begin, half_word(bucket) - begin);
    }
  }
  static constexpr unsigned short no_bucket = 0xffff;

  // Batcher's bitonic network in the form that turns the second of two runs around, so that each
  // exchange moves the greater entry up, and the entries that are missing up to a power of two
  // would stay where they are.
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

  // The first of `begin` to `end` for which `holds` is false, if it is true for all before.
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

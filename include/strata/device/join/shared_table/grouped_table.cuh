// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/shared_table.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The partners of a row in a table: entries [first, first + count).
struct join_run {
  unsigned first;
  unsigned count;
};

/// A table in which rows with the same hash lie side by side in their bucket, however many they are.
template <class Word, int BlockThreads>
class join_grouped_table
    : public join_shared_table<Word, BlockThreads, max_join_table_rows / (max_join_bucket_rows + 1)> {
  using Base = join_shared_table<Word, BlockThreads, max_join_table_rows / (max_join_bucket_rows + 1)>;
  using Base::bucket_bits_;
  using Base::entries_;
  using Base::half_word;
  using Base::storage_;
  using Base::threads;

 public:
  using Base::Base;

  /// Inserts the rows `load(0)` to `load(rows - 1)`. All threads of the block call it, and may use the table when it
  /// returns.
  template <class Load>
  STRATA_D void build(unsigned rows, const Load& load) const {
    Base::build(rows, load, false, [&](unsigned num_oversized) {
      group_small();
      sort_oversized(num_oversized);
    });
  }

  /// Inserts rows as `build` does, and leaves the entries of each bucket in ascending order: the rows of a key ascend.
  template <class Load>
  STRATA_D void build_sorted(unsigned rows, const Load& load) const {
    Base::build(rows, load, false, [&](unsigned num_oversized) {
      sort_small();
      sort_all_oversized(num_oversized);
    });
  }

  /// Calls `use(entry, row, count)` for each entry whose key has several rows, and for every entry of an oversized
  /// bucket. All threads call it, and the table must be sorted. For the first entry of a key, `count` is the number of
  /// its rows; for the others, it is this number or 0.
  template <class Use>
  STRATA_D void for_each_of_several(const Use& use) const {
    const auto end_of_run = [&](unsigned begin, unsigned end) {
      return detail::first_without(begin + 1, end,
                                   [&](unsigned i) { return Base::is_row(entries_[i] ^ entries_[begin]); });
    };
    for (unsigned bucket = threadIdx.x; bucket < 1u << bucket_bits_; bucket += threads) {
      const unsigned end = half_word(bucket);
      unsigned begin = half_word(bucket - 1);
      if (end - begin > max_join_bucket_rows) continue;
      while (begin + 1 < end) {
        const unsigned next = end_of_run(begin, end);
        for (unsigned i = begin; next - begin > 1 && i < next; ++i) use(i, Base::row_at(i), next - begin);
        begin = next;
      }
    }
    for (unsigned k = 0; k < storage_.num_oversized; ++k) {
      const unsigned begin = half_word(storage_.oversized[k] - 1u);
      const unsigned end = half_word(storage_.oversized[k]);
      for (unsigned i = begin + threadIdx.x; i < end; i += threads) {
        const bool is_first = i == begin || !Base::is_row(entries_[i] ^ entries_[i - 1]);
        use(i, Base::row_at(i), is_first ? end_of_run(i, end) - i : 0);
      }
    }
  }

  /// Returns all entries with the hash.
  STRATA_D join_run run_of(Word hash) const {
    unsigned begin = 0;
    unsigned end = 0;
    Base::find(hash, begin, end);
    if (begin == end) return {0, 0};
    const Word rest = Base::rest_of(hash);
    const bool first_is = Base::is_row(Base::seen_from(rest, begin));
    const bool last_is = Base::is_row(Base::seen_from(rest, end - 1));
    return run_in(rest, begin, end, first_is, last_is);
  }
  /// Returns the entries with the hash in a bucket that is not empty. `first_is` and `last_is` are true if its first
  /// and its last entry have the hash.
  STRATA_D join_run run_in(Word rest, unsigned begin, unsigned end, bool first_is, bool last_is) const {
    const auto is_same = [&](unsigned i) { return Base::is_row(Base::seen_from(rest, i)); };
    if (first_is && last_is) return {begin, end - begin};
    if (first_is || last_is) {
      const unsigned between =
          detail::first_without(begin + 1, end - 1, [&](unsigned i) { return is_same(i) == first_is; });
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
      begin = detail::first_without(begin, end, [&](unsigned i) { return entries_[i] < rest; });
      end = detail::first_without(begin, end, is_same);
    }
    return {begin, end - begin};
  }

 private:
  // A thread groups a bucket in at most as many rounds as the bucket has different hashes, nearly always two or fewer.
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
          if (!Base::is_row(entry ^ first)) continue;
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

  // A thread sorts a bucket by insertion: nearly all have one entry or two. A warp sorts one with many.
  STRATA_D void sort_small() const {
    constexpr unsigned most_of_thread = 12;
    const unsigned lane = platform::lane_id();
    for (unsigned bucket = threadIdx.x; bucket - lane < 1u << bucket_bits_; bucket += threads) {
      const unsigned begin = half_word(bucket - 1);
      const unsigned rows = half_word(bucket) - begin;
      for (unsigned i = 1; i < rows && rows <= most_of_thread; ++i) {
        const Word entry = entries_[begin + i];
        unsigned to = begin + i;
        for (; to > begin && entry < entries_[to - 1]; --to) entries_[to] = entries_[to - 1];
        entries_[to] = entry;
      }
      const bool has_many = rows > most_of_thread && rows <= max_join_bucket_rows;
      for (unsigned left = __ballot_sync(full_warp_mask, has_many ? 1 : 0); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        sort_by_warp(__shfl_sync(full_warp_mask, begin, owner), __shfl_sync(full_warp_mask, rows, owner));
      }
    }
    __syncthreads();
  }

  STRATA_D void sort_all_oversized(unsigned number) const {
    constexpr unsigned most_of_warp = 512;
    const auto begin_of = [&](unsigned i) { return half_word(storage_.oversized[i] - 1u); };
    const auto rows_of = [&](unsigned i) { return half_word(storage_.oversized[i]) - begin_of(i); };
    for (unsigned i = threadIdx.x / warp_threads; i < number; i += threads / warp_threads) {
      if (rows_of(i) <= most_of_warp) sort_by_warp(begin_of(i), rows_of(i));
    }
    for (unsigned i = 0; i < number; ++i) {
      if (rows_of(i) > most_of_warp) sort_entries(entries_ + begin_of(i), rows_of(i));
    }
    if (number != 0) __syncthreads();
  }

  STRATA_D void sort_by_warp(unsigned begin, unsigned rows) const {
    sort_entries(entries_ + begin, rows, platform::lane_id(), unsigned{warp_threads}, [] { __syncwarp(); });
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
        has_others |= !Base::is_row(entries_[at] ^ first);
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

  // Batcher's bitonic network, in the form that reverses the second of two runs. Each exchange moves the greater entry
  // up, so the entries that are missing up to a power of two need not exist: they would not move.
  STRATA_D static void sort_entries(Word* entries, unsigned number) {
    sort_entries(entries, number, threadIdx.x, threads, [] { __syncthreads(); });
  }
  // `some` threads call it; `thread` is the index of the calling one.
  template <class Synchronize>
  STRATA_D static void sort_entries(Word* entries, unsigned number, unsigned thread, unsigned some,
                                    const Synchronize& synchronize) {
    for (unsigned size = 2; size / 2 < number; size *= 2) {
      for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        for (unsigned pair = thread;; pair += some) {
          const unsigned low = pair / stride * (2 * stride) + pair % stride;
          if (low >= number) break;
          const unsigned high = stride == size / 2 ? low ^ (size - 1) : low + stride;
          if (high >= number || entries[low] <= entries[high]) continue;
          const Word lower = entries[high];
          entries[high] = entries[low];
          entries[low] = lower;
        }
        synchronize();
      }
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

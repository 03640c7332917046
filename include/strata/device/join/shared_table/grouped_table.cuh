// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/shared_table.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The partners of a row in a table: entries [first, first + count).
struct join_run {
  unsigned first;
  unsigned count;
};

/// A table in which rows with the same hash lie side by side in their bucket, of any number of rows.
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

  /// Inserts the rows `load(0)` to `load(rows - 1)`. By all threads of the block, which may use the table when it
  /// returns.
  template <class Load>
  STRATA_D void build(unsigned rows, const Load& load) const {
    Base::build(rows, load, false, [&](unsigned num_oversized) {
      group_small();
      sort_oversized(num_oversized);
    });
  }

  /// All entries with the hash.
  STRATA_D join_run run_of(Word hash) const {
    unsigned begin = 0;
    unsigned end = 0;
    Base::find(hash, begin, end);
    if (begin == end) return {0, 0};
    const Word rest = Base::rest_of(hash);
    const auto is_same = [&](unsigned i) { return Base::is_row(Base::seen_from(rest, i)); };
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
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/radix_rank_thread_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The members that all classes of block_radix_rank.cuh have in common.
template <class Algorithm, class Shape>
class block_radix_rank_base {
 public:
  /// Thread t has the digits from t * BINS_TRACKED_PER_THREAD on.
  static constexpr int BINS_TRACKED_PER_THREAD = Algorithm::bins_per_thread;

  struct TempStorage : Uninitialized<typename Algorithm::storage> {};

  /// Uses static shared memory, which all objects of this type share.
  STRATA_D block_radix_rank_base() : block_radix_rank_base(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit block_radix_rank_base(TempStorage& temp_storage)
      : algorithm_(temp_storage.Alias(), Shape::thread_rank("BlockRadixRank")) {}

  /// Ranks the keys by their digits.
  template <class Key, std::size_t KeysPerThread, class DigitExtractor>
  STRATA_D void RankKeys(const Key (&keys)[KeysPerThread], int (&ranks)[KeysPerThread],
                         DigitExtractor digit_extractor) {
    not_wanted none;
    rank(keys, ranks, digit_extractor, none, none);
  }
  /// Ranks the keys by their digits, and returns the first rank of each of this thread's digits.
  template <class Key, std::size_t KeysPerThread, class DigitExtractor>
  STRATA_D void RankKeys(const Key (&keys)[KeysPerThread], int (&ranks)[KeysPerThread], DigitExtractor digit_extractor,
                         int (&exclusive_digit_prefix)[BINS_TRACKED_PER_THREAD]) {
    not_wanted none;
    rank(keys, ranks, digit_extractor, exclusive_digit_prefix, none);
  }
  /// Ranks the keys by their digits, and calls `callback` with the counts of this thread's digits.
  template <class Key, std::size_t KeysPerThread, class DigitExtractor, class CountsCallback,
            if_counts_callback<CountsCallback, BINS_TRACKED_PER_THREAD> = 0>
  STRATA_D void RankKeys(const Key (&keys)[KeysPerThread], int (&ranks)[KeysPerThread], DigitExtractor digit_extractor,
                         CountsCallback callback) {
    not_wanted none;
    rank(keys, ranks, digit_extractor, none, callback);
  }
  /// Ranks the keys by their digits, returns the first rank of each of this thread's digits, and calls `callback` with
  /// their counts.
  template <class Key, std::size_t KeysPerThread, class DigitExtractor, class CountsCallback>
  STRATA_D void RankKeys(const Key (&keys)[KeysPerThread], int (&ranks)[KeysPerThread], DigitExtractor digit_extractor,
                         int (&exclusive_digit_prefix)[BINS_TRACKED_PER_THREAD], CountsCallback callback) {
    rank(keys, ranks, digit_extractor, exclusive_digit_prefix, callback);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  template <class Key, std::size_t KeysPerThread, class DigitExtractor, class Starts, class OnCounts>
  STRATA_D void rank(const Key (&keys)[KeysPerThread], int (&ranks)[KeysPerThread], DigitExtractor& digit_extractor,
                     Starts& starts, OnCounts& on_counts) {
    const auto digit_of = [&](int i) {
      const unsigned digit = static_cast<unsigned>(digit_extractor.Digit(keys[i]));
      STRATA_ASSERT(digit < unsigned{Algorithm::bins}, "BlockRadixRank: digit %u of item %d is not in 0 .. %d", digit,
                    i, Algorithm::bins - 1);
      return digit;
    };
    algorithm_.rank(digit_of, ranks, starts, on_counts, Shape::threads * static_cast<int>(KeysPerThread));
  }

  Algorithm algorithm_;
};

}  // namespace detail
STRATA_NAMESPACE_END

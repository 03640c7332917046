// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// A block that sorts whole segments of up to `most_items` items each, packed into tiles of
/// `block_threads * items_per_thread`.
struct segment_tile_tuning {
  int block_threads;
  int items_per_thread;
  /// What registers must allow.
  int blocks_per_multiprocessor;
  int most_items;
};

/// How merges through device memory are cut: a block makes `tile_items` of the result at a time, from at
/// most `(block_threads - 1) * items_per_thread` items of the runs. The more there may be besides the
/// tile's own, the sooner a search for its ends may stop.
struct segment_merge_tuning {
  int block_threads;
  int items_per_thread;
  int blocks_per_multiprocessor;
  int tile_items;
};

namespace detail {

/// By the bytes of an item, a key with its value. H200, 2026-11-20, CUDA 13.0, 2^27 items, tile sorts
/// alone, 10^9 items per second: i32 keys: segments of 8: 407 (128 x 8), 32: 312 (128 x 16), 100: 287,
/// 500: 165 (128 x 25), 2000: 130, 6400: 118 (512 x 25); pairs i32 : i32: 234, 215, 148, 95 (128 x 25),
/// 72 (256 x 25); 16-byte records: 117 (128 x 8), 52, 38 (7 to 9 items). A merge of four runs of i32 takes
/// 500 us (256 x 27), of which 300 are loads, stores and barriers, and the searches 60. Wider items: not
/// measured.
template <int ItemBytes>
struct segmented_merge_sort_policy_hub {
  static constexpr int least(int a, int b) { return a < b ? a : b; }
  static constexpr int most(int a, int b) { return a > b ? a : b; }
  static constexpr int odd_at_most(int n) { return n <= 1 ? 1 : n % 2 != 0 ? n : n - 1; }

  // Odd: without gaps between the items of threads.
  static constexpr int many = ItemBytes <= 8 ? 25 : odd_at_most(most(1, 128 / ItemBytes));
  static constexpr int some = ItemBytes <= 8 ? 16 : ItemBytes <= 16 ? 8 : many;
  static constexpr int fewest = ItemBytes <= 16 ? 8 : many;

  // Where segments are long, or merged.
  static constexpr bool is_four_words = ItemBytes > 8 && ItemBytes <= 16;
  static constexpr int many_of_long = is_four_words ? 9 : many;

  // Beside the tile there are 18 bytes of a thread.
  static constexpr int threads_within(int items_per_thread, int threads) {
    return threads > 32 && threads * items_per_thread * ItemBytes > (52 << 10)
               ? threads_within(items_per_thread, threads / 2)
               : threads;
  }
  static constexpr int short_threads = threads_within(many, 128);
  static constexpr int huge_threads = threads_within(many_of_long, 512);
  static constexpr int large_threads = most(32, huge_threads / (ItemBytes <= 4 ? 2 : 1));
  static constexpr int merge_threads = large_threads;
  // Where there is a multiprocessor for each tile: a thread has less to do.
  static constexpr int few_items = ItemBytes <= 4    ? 15
                                   : ItemBytes <= 8  ? 17
                                   : ItemBytes <= 16 ? 7
                                                     : many;
  static constexpr int few_threads =
      most(32, least(704, (52 << 10) / (few_items * ItemBytes) / 64 * 64));
  static constexpr int few_merge_threads = most(32, few_threads / 2);
  static constexpr int few_merge_tile = few_merge_threads * few_items;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr segment_tile_tuning tiny{short_threads, fewest, 1,
                                              most(16, short_threads * fewest / 8)};
    static constexpr segment_tile_tuning little{short_threads, some, 1, most(16, short_threads * some / 8)};
    static constexpr segment_tile_tuning middle{short_threads, many, 1, most(16, short_threads * many / 2)};
    static constexpr segment_tile_tuning large{large_threads, many_of_long, 1,
                                               large_threads * many_of_long};
    static constexpr segment_tile_tuning huge{huge_threads, many_of_long, 1, huge_threads * many_of_long};
    static constexpr segment_tile_tuning few{few_threads, few_items, 1, few_threads * few_items};
    static constexpr segment_merge_tuning merge{merge_threads, many_of_long + 2, 1,
                                                merge_threads * many_of_long};
    static constexpr segment_merge_tuning merge_few{few_merge_threads, few_items + 2, 1, few_merge_tile};
  };
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    static constexpr bool is_word = ItemBytes <= 4, is_two_words = ItemBytes > 4 && ItemBytes <= 8;
    static constexpr segment_tile_tuning tiny{short_threads, fewest,
                                              is_word ? 16 : is_two_words ? 12 : 6,
                                              most(16, short_threads * fewest / 8)};
    static constexpr segment_tile_tuning little{short_threads, some,
                                                is_word ? 12 : is_two_words ? 8 : 6,
                                                most(16, short_threads * some / 8)};
    static constexpr segment_tile_tuning middle{short_threads, many,
                                                is_word ? 10 : is_two_words ? 8 : 4,
                                                most(16, short_threads * many / 2)};
    static constexpr segment_tile_tuning large{large_threads, many_of_long,
                                               is_word                          ? 6
                                               : is_two_words || is_four_words ? 3
                                                                               : 2,
                                               large_threads * many_of_long};
    // More than 99 KiB, where there are 227.
    static constexpr int threads_of_huge = is_two_words || is_four_words ? 512 : huge_threads;
    static constexpr segment_tile_tuning huge{threads_of_huge, many_of_long, is_word ? 3 : 2,
                                              threads_of_huge * many_of_long};
    // 16-byte records: 7.0 * 10^9 items per second with 2 blocks and 7 items in tiles, 8.8 with 3 and 9, 9.2.
    static constexpr segment_merge_tuning merge{merge_threads, many_of_long + 2,
                                                is_word         ? 5
                                                : is_two_words  ? 3
                                                : is_four_words ? 4
                                                                : 2,
                                                merge_threads * many_of_long};
    static constexpr segment_tile_tuning few = Policy750::few;
    static constexpr segment_merge_tuning merge_few = Policy750::merge_few;
  };
  // With 99 KiB again.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900> {
    static constexpr segment_tile_tuning tiny = Policy900::tiny, little = Policy900::little,
                                         middle = Policy900::middle, large = Policy900::large,
                                         few = Policy900::few;
    static constexpr segment_tile_tuning huge{huge_threads, many_of_long, 2,
                                              huge_threads * many_of_long};
    static constexpr segment_merge_tuning merge = Policy900::merge, merge_few = Policy900::merge_few;
  };
  using MaxPolicy = Policy1200;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/radix_sort/segmented_tuning.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Which segments of numbers are sorted by their digits instead of by merges. The row of the newest policy counts for
/// all: temporary storage does not depend on the device.
struct long_segment_tuning {
  /// Segments of more than this many items are sorted by their digits. 0: no segments are. Otherwise it must be at
  /// least the number of items of each tile of the merge sort.
  std::size_t longest_merged;
  /// Two more kernels are launched only from `least_items` items on, or from `least_items_of_long_mean` on if the mean
  /// segment has `long_mean` items or more. They take time without a long segment, too.
  std::size_t least_items;
  std::size_t least_items_of_long_mean;
  std::size_t long_mean;

  /// True if a call of this many items can launch them, whatever its segments.
  constexpr bool may_launch(std::size_t items) const {
    return items >= detail::least(least_items, least_items_of_long_mean);
  }
  constexpr bool launches(std::size_t items, std::size_t segments) const {
    return items >= (items / segments >= long_mean ? least_items_of_long_mean : least_items);
  }
};

/// A block sorts one segment of numbers of at most 4 bytes in registers (AgentNumberTile). It takes about as long for a
/// short segment as for a whole tile.
struct number_tile_tuning {
  int block_threads;
  int items_per_thread;
  /// The compiler limits registers so that this many blocks fit on a multiprocessor.
  int blocks_per_multiprocessor;
  /// In calls of up to this many segments for each multiprocessor, the mean segment need only fill an eighth of the
  /// tile. 0: no call takes number tiles.
  int most_segments;

  constexpr int tile_items() const { return block_threads * items_per_thread; }

  /// True if a block sorts each segment. The host knows the mean length alone. If there are many segments, their mean
  /// length must be more than 7/8 of a tile. It must also be a whole number: then they probably have one length.
  constexpr bool takes(std::size_t items, std::size_t segments, int multiprocessors) const {
    const auto tile = static_cast<std::size_t>(tile_items());
    const std::size_t mean = items / segments;
    if (most_segments == 0 || mean > tile) return false;
    if (segments <= static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(most_segments)) {
      return mean >= tile / 8;
    }
    return mean > tile / 8 * 7 && items % segments == 0;
  }
};

/// The rows of DeviceSegmentedSort: the rows of merges, the rows of DeviceSegmentedRadixSort for long segments, a row
/// that says which segments are long, and the row of number tiles. `Value` is NullType for sorts of keys.
template <class Key, class Value>
struct segmented_sort_policy_hub {
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr int value_bytes = std::is_same_v<Value, NullType> ? 0 : static_cast<int>(sizeof(Value));
  struct pair {
    Key key;
    Value value;
  };
  using merges = segmented_merge_sort_policy_hub<static_cast<int>(value_bytes == 0 ? sizeof(Key) : sizeof(pair))>;
  using digits = segmented_radix_sort_policy_hub<Key, Value>;

  // Keys of 8 bytes take twice as many passes: 2^27 i64 in one segment 9,200 us, by merges 8,940 (H100).
  static constexpr std::size_t longest_merged = digits::are_small ? std::size_t{1} << 18 : 0;

  template <class Merges, class Digits>
  struct rows : Merges {
    static constexpr radix_histogram_tuning histogram = Digits::histogram;
    static constexpr radix_pass_tuning pass = Digits::pass;
    // H200, 2026-11-29, CUDA 13.0, us, f32 keys and f32:i32 pairs, descending:
    //
    //     segments     number tile    merges
    //     16 x 1,200   10.2, 12.7     16.7, 17.8
    //     256 x 1,200  15.7, 19.2     21.9, 23.7
    //     256 x 4,096  17.0, 28.3     25.2, 31.1
    //     300 x 4,096  24.9, 37.7     38.8, 47.5
    //     1,024 x 2,048   51, 68         43, 54
    //     4,096 x 3,000  194, 280       163, 236
    //     4,096 x 4,096  207, 315       251, 360
    //
    // 256 threads with 16 items, 4 blocks: 4,096 x 4,096 0.87 times as long, 16 x 4,096 1.12 and 1.33 times.
    static constexpr number_tile_tuning number_tile{/*block_threads*/ 512, /*items_per_thread*/ 8,
                                                    /*blocks_per_multiprocessor*/ 2,
                                                    /*most_segments*/ key_bytes <= 4 && value_bytes <= 4 ? 2 : 0};
    // H100, 2026-11-26, CUDA 13.0, us by merges and by passes. 2^27 i32 in segments of 200,000: 2,343 and 2,796; of
    // 262,145: 2,780 and 2,821; of 400,000: 2,786 and 2,748; one segment: 4,917 and 2,819. f32 of 262,145: 3,460 and
    // 3,527; pairs of 200,000: 4,506 and 4,836; of 262,145: 5,488 and 4,801. With two launches more, 2^24 i32 in
    // segments of 8 take 73 instead of 70, 2^27 427 instead of 414; in segments of 2,000 1,029 instead of 1,027.
    static constexpr long_segment_tuning long_segments{longest_merged, /*least_items*/ std::size_t{1} << 26,
                                                       /*least_items_of_long_mean*/ std::size_t{1} << 24,
                                                       /*long_mean*/ std::size_t{1} << 15};
  };
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>,
                     rows<typename merges::rows_750, typename digits::Policy750> {};
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750>,
                     rows<typename merges::template rows<800>, typename digits::Policy800> {};
  struct Policy860 : ChainedPolicy<860, Policy860, Policy800>,
                     rows<typename merges::template rows<860>, typename digits::Policy860> {};
  struct Policy900 : ChainedPolicy<900, Policy900, Policy860>,
                     rows<typename merges::rows_900, typename digits::Policy900> {};
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy900>,
                      rows<typename merges::rows_1000, typename digits::Policy1000> {};
  struct Policy1070 : ChainedPolicy<1070, Policy1070, Policy1000>,
                      rows<typename merges::template rows<1070>, typename digits::Policy1000> {};
  struct Policy1100 : ChainedPolicy<1100, Policy1100, Policy1070>,
                      rows<typename merges::rows_1000, typename digits::Policy1000> {};
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1100>,
                      rows<typename merges::template rows<1200>, typename digits::Policy1200> {};
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END

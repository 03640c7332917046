// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/radix_sort/agent_block.cuh>
#include <strata/device/radix_sort/agent_segmented_passes.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/segmented_tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Sorts up to 32 items from input to output, which may be the same array. The rank of an item is the number of items
/// that come before it: each lane compares its item with all others. All lanes of a warp call this.
template <bool HasValues, class Key, class Value, class Digits>
STRATA_D void sort_in_warp(const radix_buffers<const Key*, Key>& keys, const radix_buffers<const Value*, Value>& values,
                           int num_items, const radix_bit_range& range, const Digits& digits) {
  constexpr int word_bits = 32;
  constexpr int words = detail::ceiling_divide(Digits::key_bits, word_bits);
  const int lane = static_cast<int>(platform::lane_id());
  const bool is_valid = lane < num_items;
  Key key;
  std::conditional_t<HasValues, Value, NullType> value;
  unsigned order[words];  // the most significant word last
  if (is_valid) {
    key = keys.input[lane];
    if constexpr (HasValues) value = values.input[lane];
  }
  STRATA_UNROLL
  for (int w = 0; w < words; ++w) {
    const int begin = range.begin_bit + w * word_bits;
    const int left = range.end_bit - begin;
    order[w] = is_valid && left > 0 ? digits(key, begin, detail::least(left, word_bits)) : 0;
  }

  int rank = 0;
  for (int i = 0; i < num_items; ++i) {
    bool is_before = i < lane;  // if all words are equal
    STRATA_UNROLL
    for (int w = 0; w < words; ++w) {
      const unsigned other = __shfl_sync(full_warp_mask, order[w], i);
      is_before = other < order[w] || (other == order[w] && is_before);
    }
    rank += is_before ? 1 : 0;
  }
  __syncwarp();  // All lanes have read.
  if (is_valid) {
    keys.output[rank] = key;
    if constexpr (HasValues) values.output[rank] = value;
  }
}

/// What the kernels of a call share in device memory. All members are 0 when the first kernel starts.
struct segmented_radix_sort_progress : long_segment_progress {
  unsigned long long segments_taken;
};

/// One block of a sort of segments. It takes `segments_per_ticket` segments at a time, until none is left. Its warps
/// sort segments of up to 32 items, each warp one at a time. Then the block sorts the longer segments, one after the
/// other, and lists the segments that many blocks will sort.
template <class Policy, bool HasValues, class Key, class Value, class Segments, class Digits>
class AgentSegmentedRadixSort {
  static constexpr segmented_radix_sort_tuning tuning = Policy::segmented;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int warp_items = warp_threads;
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
  static constexpr int tile_of_long = Policy::pass.block_threads * Policy::pass.items_per_thread;
  using LongSegments = long_segments<max_passes>;
  using ValueIterator = std::conditional_t<HasValues, const Value*, NullType>;
  using SmallTile = AgentRadixBlock<small_tile_block<Policy>, const Key*, ValueIterator, Digits>;
  using WholeTile = AgentRadixBlock<whole_tile_block<Policy>, const Key*, ValueIterator, Digits>;
  using Passes = AgentSegmentPasses<Policy, HasValues, Key, Value, Digits>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<const Value*, Value>;

 public:
  /// At most the number of threads.
  static constexpr int max_segments_per_ticket = 128;

  struct TempStorage {
    segment_bounds bounds[max_segments_per_ticket];
    unsigned long long first_segment;
    long long scratch_begin;
    std::size_t long_segment;  // its index in the list
  };

  /// Dynamic shared memory: what the sort of a segment needs lies behind the rest.
  static constexpr std::size_t sort_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes = sort_offset + detail::most(WholeTile::shared_bytes, Passes::shared_bytes);
  static_assert(block_threads % warp_threads == 0 && block_threads >= radix_bins,
                "segmented_radix_sort_tuning::block_threads must be a multiple of 32, and at least 256: one thread "
                "for each digit");
  static_assert(tuning.few_items_per_thread <= tuning.items_per_thread,
                "segmented_radix_sort_tuning::few_items_per_thread must not be above "
                "items_per_thread");
  static_assert(shared_bytes <= static_cast<std::size_t>(tuning.most_shared_bytes),
                "a tile of these values does not fit in shared memory: sort indices instead, and gather the values");

  STRATA_D AgentSegmentedRadixSort(unsigned char* shared, const KeyBuffers& keys, const ValueBuffers& values,
                                   std::size_t num_items, const radix_bit_range& range, const Digits& digits,
                                   radix_result result, const LongSegments& long_segments,
                                   segmented_radix_sort_progress* progress)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        shared_(shared + sort_offset),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        range_(range),
        digits_(digits),
        result_(result),
        long_segments_(long_segments),
        progress_(progress) {}

  STRATA_D void sort(const Segments& segments, unsigned long long num_segments, int segments_per_ticket) {
    for (;;) {
      if (threadIdx.x == 0) {
        storage_.first_segment =
            detail::take_tickets(&progress_->segments_taken, static_cast<unsigned long long>(segments_per_ticket));
      }
      __syncthreads();
      const unsigned long long first = storage_.first_segment;
      if (first >= num_segments) return;
      const unsigned long long left = num_segments - first;
      const int count =
          left < static_cast<unsigned>(segments_per_ticket) ? static_cast<int>(left) : segments_per_ticket;
      bool is_long = false;
      if (static_cast<int>(threadIdx.x) < count) {
        const segment_bounds bounds = segments(static_cast<long long>(first + threadIdx.x));
        storage_.bounds[threadIdx.x] = bounds;
        is_long = bounds.length > warp_items;
      }
      const bool has_long = __syncthreads_or(is_long ? 1 : 0) != 0;
      sort_by_warps(count);
      if (!has_long) continue;
      for (int i = 0; i < count; ++i) {
        if (storage_.bounds[i].length > warp_items) sort_by_block(storage_.bounds[i]);
      }
    }
  }

 private:
  STRATA_D void sort_by_warps(int count) const {
    constexpr int warps = block_threads / warp_threads;
    for (int i = static_cast<int>(threadIdx.x) / warp_threads; i < count; i += warps) {
      const segment_bounds bounds = storage_.bounds[i];
      if (bounds.length == 0 || bounds.length > warp_items) continue;
      detail::sort_in_warp<HasValues>(key_buffers(bounds), value_buffers(bounds), static_cast<int>(bounds.length),
                                      range_, digits_);
    }
  }

  STRATA_D void sort_by_block(const segment_bounds& bounds) {
    if (bounds.length <= SmallTile::tile_items) {
      sort_tile<SmallTile>(bounds);
    } else if (bounds.length <= WholeTile::tile_items) {
      sort_tile<WholeTile>(bounds);
    } else if (static_cast<unsigned long long>(bounds.length) > long_segments_.bound) {
      list(bounds);
    } else {
      sort_by_passes(bounds);
    }
  }

  template <class Agent>
  STRATA_D void sort_tile(const segment_bounds& bounds) {
    const KeyBuffers keys = key_buffers(bounds);
    const ValueBuffers values = value_buffers(bounds);
    Agent agent(shared_, static_cast<int>(bounds.length), range_, digits_);
    if constexpr (HasValues) {
      agent.sort(keys.input, keys.output, values.input, values.output);
    } else {
      agent.sort(keys.input, keys.output, NullType{}, nullptr);
    }
  }

  // In a double buffer a segment has the same offset in both arrays. Scratch arrays in temporary storage have
  // capacity for all items, but not for gaps between segments: there each segment that is longer than a tile takes the
  // next range.
  STRATA_D void sort_by_passes(const segment_bounds& bounds) {
    const auto length = static_cast<std::size_t>(bounds.length);
    long long scratch_begin = bounds.begin;
    if (result_ != radix_result::double_buffer) {
      scratch_begin = take_scratch(length);
      if (scratch_begin < 0) return;
    }
    const KeyBuffers keys = key_buffers(bounds, scratch_begin);
    const ValueBuffers values = value_buffers(bounds, scratch_begin);
    Passes(shared_, keys, values, length, range_, digits_).sort(result_);
  }

  // Lists a long segment, and clears its bins. It takes a range of the scratch even with a double buffer, which does
  // not use it: the counter of these ranges bounds the items of all listed segments, so the list cannot overflow.
  STRATA_D void list(const segment_bounds& bounds) {
    const auto length = static_cast<std::size_t>(bounds.length);
    const long long scratch_begin = take_scratch(length);
    if (scratch_begin < 0) return;
    if (threadIdx.x == 0) {
      const auto tiles = static_cast<unsigned long long>(ceiling_divide(length, std::size_t{tile_of_long}));
      storage_.long_segment =
          long_segments_.append(*progress_, bounds, tiles, bounds.begin,
                                result_ == radix_result::double_buffer ? bounds.begin : scratch_begin);
    }
    __syncthreads();
    long_segments_.clear_bins(storage_.long_segment, static_cast<int>(threadIdx.x), block_threads);
    __syncthreads();
  }

  // Takes a range of the scratch arrays. Returns where it begins, or -1 if there is none.
  STRATA_D long long take_scratch(std::size_t length) {
    if (threadIdx.x == 0) storage_.scratch_begin = progress_->take_items(length, num_items_);
    __syncthreads();
    const long long begin = storage_.scratch_begin;
    __syncthreads();
    return begin;
  }

  // The buffers of one segment.
  STRATA_D KeyBuffers key_buffers(const segment_bounds& bounds, long long scratch_begin = 0) const {
    return {keys_.input + bounds.begin, keys_.output + bounds.begin, keys_.scratch + scratch_begin};
  }
  STRATA_D ValueBuffers value_buffers(const segment_bounds& bounds, long long scratch_begin = 0) const {
    if constexpr (HasValues) {
      return {values_.input + bounds.begin, values_.output + bounds.begin, values_.scratch + scratch_begin};
    } else {
      return values_;
    }
  }

  TempStorage& storage_;
  unsigned char* shared_;
  const KeyBuffers& keys_;
  const ValueBuffers& values_;
  std::size_t num_items_;
  const radix_bit_range& range_;
  const Digits& digits_;
  radix_result result_;
  const LongSegments& long_segments_;
  segmented_radix_sort_progress* progress_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_block.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/device/segmented_radix_sort/agent_passes.cuh>
#include <strata/device/segmented_radix_sort/sort_in_warp.cuh>
#include <strata/device/segmented_radix_sort/tuning.hpp>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the blocks of a call share in device memory; 0 when the kernel starts.
struct segmented_radix_sort_progress {
  unsigned long long segments_taken;
  // Of the buffer in temporary storage.
  unsigned long long items_taken;
};

/// One block of a sort of segments: takes some segments at a time, until none is left. Warps sort
/// the short ones side by side, then the block the others, one after the other.
template <class Policy, bool HasValues, class Key, class Value, class Segments, class Digits>
class AgentSegmentedRadixSort {
  static constexpr segmented_radix_sort_tuning tuning = Policy::segmented;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int warp_items = warp_threads;
  using ValueIterator = std::conditional_t<HasValues, const Value*, NullType>;
  using FewItems = AgentRadixBlock<few_items_block<Policy>, const Key*, ValueIterator, Digits>;
  using WholeTile = AgentRadixBlock<whole_tile_block<Policy>, const Key*, ValueIterator, Digits>;
  using Passes = AgentSegmentPasses<Policy, HasValues, Key, Value, Digits>;
  using KeyPlaces = radix_places<const Key*, Key>;
  using ValuePlaces = radix_places<const Value*, Value>;

 public:
  /// Segments that are taken at a time; no more than there are threads.
  static constexpr int most_segments_at_once = 128;

  struct TempStorage {
    segment_bounds bounds[most_segments_at_once];
    unsigned long long first_segment;
    unsigned long long buffer_begin;
  };

  /// Dynamic shared memory: what sorts a segment needs, behind the rest.
  static constexpr std::size_t sort_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      sort_offset + (WholeTile::shared_bytes > Passes::shared_bytes ? WholeTile::shared_bytes
                                                                    : Passes::shared_bytes);
  static_assert(block_threads % warp_threads == 0 && block_threads >= radix_bins,
                "segmented_radix_sort_tuning::block_threads must be a multiple of 32, and 256 or "
                "more: a thread for each digit");
  static_assert(tuning.few_items_per_thread <= tuning.items_per_thread,
                "segmented_radix_sort_tuning::few_items_per_thread must not be above "
                "items_per_thread");
  static_assert(shared_bytes <= static_cast<std::size_t>(tuning.most_shared_bytes),
                "a tile of these values does not fit shared memory: sort indices as values, and "
                "gather");

  STRATA_D AgentSegmentedRadixSort(unsigned char* shared, const KeyPlaces& keys,
                                   const ValuePlaces& values, std::size_t num_items,
                                   const radix_bit_range& range, const Digits& digits,
                                   bool between_two_buffers,
                                   segmented_radix_sort_progress* progress)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        shared_(shared + sort_offset),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        range_(range),
        digits_(digits),
        between_two_buffers_(between_two_buffers),
        progress_(progress) {}

  /// `at_once` segments at a time.
  STRATA_D void sort(const Segments& segments, unsigned long long num_segments, int at_once) {
    for (;;) {
      if (threadIdx.x == 0) {
        storage_.first_segment = atomicAdd(&progress_->segments_taken,
                                           static_cast<unsigned long long>(at_once));
      }
      __syncthreads();
      const unsigned long long first = storage_.first_segment;
      if (first >= num_segments) return;
      const unsigned long long left = num_segments - first;
      const int count = left < static_cast<unsigned>(at_once) ? static_cast<int>(left) : at_once;
      bool is_long = false;
      if (static_cast<int>(threadIdx.x) < count) {
        const segment_bounds bounds = segments(static_cast<long long>(first + threadIdx.x));
        storage_.bounds[threadIdx.x] = bounds;
        is_long = bounds.length > warp_items;
      }
      const bool some_are_long = __syncthreads_or(is_long ? 1 : 0) != 0;
      sort_by_warps(count);
      if (!some_are_long) continue;
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
      detail::sort_in_warp<HasValues>(key_places(bounds), value_places(bounds),
                                      static_cast<int>(bounds.length), range_, digits_);
    }
  }

  STRATA_D void sort_by_block(const segment_bounds& bounds) {
    if (bounds.length <= FewItems::tile_items) {
      sort_tile<FewItems>(bounds);
    } else if (bounds.length <= WholeTile::tile_items) {
      sort_tile<WholeTile>(bounds);
    } else {
      sort_by_passes(bounds);
    }
  }

  template <class Agent>
  STRATA_D void sort_tile(const segment_bounds& bounds) {
    const KeyPlaces keys = key_places(bounds);
    const ValuePlaces values = value_places(bounds);
    Agent agent(shared_, static_cast<int>(bounds.length), range_, digits_);
    if constexpr (HasValues) {
      agent.sort(keys.input, keys.output, values.input, values.output);
    } else {
      agent.sort(keys.input, keys.output, NullType{}, nullptr);
    }
  }

  // Between two buffers of the caller, a segment's place is the same in both. In temporary storage
  // there is room for all items, not for the gaps between segments.
  STRATA_D void sort_by_passes(const segment_bounds& bounds) {
    const auto length = static_cast<std::size_t>(bounds.length);
    long long buffer_begin = bounds.begin;
    if (!between_two_buffers_) {
      if (threadIdx.x == 0) {
        storage_.buffer_begin = atomicAdd(&progress_->items_taken,
                                          static_cast<unsigned long long>(length));
      }
      __syncthreads();
      buffer_begin = static_cast<long long>(storage_.buffer_begin);
      __syncthreads();
      const bool has_room = storage_has_room(static_cast<std::size_t>(buffer_begin), length);
      STRATA_ASSERT(has_room, "segments have more than the num_items = %llu items of the call",
                    static_cast<unsigned long long>(num_items_));
      if (!has_room) return;
    }
    const KeyPlaces keys = key_places(bounds, buffer_begin);
    const ValuePlaces values = value_places(bounds, buffer_begin);
    Passes(shared_, keys, values, length, range_, digits_).sort(between_two_buffers_);
  }
  STRATA_D bool storage_has_room(std::size_t begin, std::size_t length) const {
    return begin <= num_items_ && length <= num_items_ - begin;
  }

  // Those of a segment.
  STRATA_D KeyPlaces key_places(const segment_bounds& bounds, long long buffer_begin = 0) const {
    return {keys_.input + bounds.begin, keys_.output + bounds.begin, keys_.buffer + buffer_begin};
  }
  STRATA_D ValuePlaces value_places(const segment_bounds& bounds,
                                    long long buffer_begin = 0) const {
    if constexpr (HasValues) {
      return {values_.input + bounds.begin, values_.output + bounds.begin,
              values_.buffer + buffer_begin};
    } else {
      return values_;
    }
  }

  TempStorage& storage_;
  unsigned char* shared_;
  const KeyPlaces& keys_;
  const ValuePlaces& values_;
  std::size_t num_items_;
  const radix_bit_range& range_;
  const Digits& digits_;
  bool between_two_buffers_;
  segmented_radix_sort_progress* progress_;
};

}  // namespace detail
STRATA_NAMESPACE_END

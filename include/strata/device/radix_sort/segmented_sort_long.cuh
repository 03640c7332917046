// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/agent_segments.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>
#include <strata/device/radix_sort/agent_number_tile.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/segmented_long_dispatch.cuh>
#include <strata/device/radix_sort/segmented_sort_tuning.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <initializer_list>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// What the kernels of a sort of numbers share. The first one splits long segments into tiles to merge, and lists
/// the longest ones for passes over their digits.
template <class MaxPolicy, class LongSegments>
struct number_sort_workspace : merge_sort_workspace {
  LongSegments long_segments;
  unsigned long long longest_listed;
  long_segment_progress* long_progress;
  unsigned long long num_items;

  /// All lanes of a warp call this. It hides the function of merge_sort_workspace.
  STRATA_D void push_split(bool is_split, const segment_bounds& bounds, int tile_items) const {
    if (__any_sync(full_warp_mask, is_split ? 1 : 0) == 0) return;
    const auto length = static_cast<unsigned long long>(bounds.length);
    const bool is_long = is_split && length > long_segments.bound && length <= longest_listed;
    list(is_long, bounds);
    merge_sort_workspace::push_split(is_split && !is_long, bounds, tile_items);
  }

 private:
  STRATA_D void list(bool is_long, const segment_bounds& bounds) const {
    constexpr auto tile_items = static_cast<unsigned>(radix_pass_tile<typename MaxPolicy::ActivePolicy>::value);
    const auto length = static_cast<unsigned>(bounds.length);
    unsigned index = 0;
    bool fits = is_long && long_progress->take_items(length, static_cast<std::size_t>(num_items)) >= 0;
    if (fits) {
      const long long begin = take_buffer(bounds, fits);
      STRATA_ASSERT(fits, "a sort of segments has more items than num_items; a segment of %u items is not sorted",
                    length);
      if (fits) {
        index = static_cast<unsigned>(long_segments.append(*long_progress, bounds, ceiling_divide(length, tile_items),
                                                           keys_are_scratch ? begin : bounds.begin, begin));
      }
    }
    STRATA_UNROLL_N(1)
    for (unsigned lanes = __ballot_sync(full_warp_mask, fits); lanes != 0; lanes &= lanes - 1) {
      const unsigned listed = __shfl_sync(full_warp_mask, index, __ffs(static_cast<int>(lanes)) - 1);
      long_segments.clear_bins(listed, static_cast<int>(platform::lane_id()), warp_threads);
    }
  }
};

/// Each segment has a block, which sorts it if it fits the tile, and otherwise queues it.
template <class MaxPolicy, class LongSort, class Key, class Value, class ValuesIn, class Segments>
__launch_bounds__(MaxPolicy::ActivePolicy::number_tile.block_threads,
                  MaxPolicy::ActivePolicy::number_tile.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_number_sort_kernel(const Key* keys, const STRATA_GRID_CONSTANT ValuesIn values,
                                                    const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
                                                    Segments segments, segment_limits limits,
                                                    const STRATA_GRID_CONSTANT typename LongSort::Workspace workspace) {
  using Agent = typename LongSort::template NumberTile<typename MaxPolicy::ActivePolicy>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const segment_bounds bounds = segments(static_cast<long long>(blockIdx.x));
  if (limits.is_direct(bounds.length)) {
    Agent agent(*reinterpret_cast<typename Agent::TempStorage*>(shared), static_cast<int>(bounds.length));
    Key* const keys_out = output.keys != nullptr ? output.keys + bounds.begin : nullptr;
    if constexpr (std::is_same_v<Value, NullType>) {
      agent.sort(keys + bounds.begin, keys_out, NullType{}, nullptr);
    } else {
      agent.sort(keys + bounds.begin, keys_out, LongSort::values_from(values, bounds.begin),
                 output.values + bounds.begin);
    }
  } else if (workspace.progress != nullptr && threadIdx.x < warp_threads) {
    detail::enqueue(workspace, limits, blockIdx.x, bounds, threadIdx.x == 0);
  }
}

/// Sorts the longest segments of a call of DeviceSegmentedSort by their digits, by the kernels of
/// DeviceSegmentedRadixSort. DispatchSegmentedMergeSort takes it instead of merge_long_segments. `PassPolicy` has the
/// same rows `histogram` and `pass` as `MaxPolicy`.
template <class MaxPolicy, class PassPolicy, class Key, class ValueIterator, class Value, bool IsDescending>
struct sort_long_by_digits {
  using Digits = radix_digits<Key, IsDescending>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using PassValue = std::conditional_t<has_values, Value, Key>;
  using Sort = LongSegmentSort<PassPolicy, Key, ValueIterator, PassValue, Digits, true>;
  using Workspace = number_sort_workspace<MaxPolicy, typename Sort::LongSegments>;
  static constexpr int slots = Sort::slots;
  static constexpr long_segment_tuning tuning = MaxPolicy::long_segments;
  static constexpr bool has_number_tiles = MaxPolicy::number_tile.most_segments > 0 &&
                                           sizeof(Key) <= sizeof(unsigned) && has_radix_sort_word<Key>;

  template <class Policy>
  using NumberTile = AgentNumberTile<Policy::number_tile.block_threads, Policy::number_tile.items_per_thread, Key,
                                     ValueIterator, IsDescending>;

  /// `configuration` has the blocks and threads.
  template <class Policy, class Arguments>
  static cudaError_t sort_number_tiles(launch_configuration configuration, const Arguments& call,
                                       const segment_limits& limits, const Workspace& workspace) {
    static_assert(detail::are_whole_warps(Policy::number_tile.block_threads),
                  "number_tile_tuning::block_threads must be a multiple of 32, at most 1024");
    static_assert(Policy::number_tile.tile_items() <= Policy::one_tile.tile_items(),
                  "number_tile_tuning: the tile must not be larger than that of `one_tile`");
    const auto kernel =
        segmented_number_sort_kernel<MaxPolicy, sort_long_by_digits, Key,
                                     std::conditional_t<has_values, Value, NullType>,
                                     std::decay_t<decltype(call.values)>, std::decay_t<decltype(call.segments)>>;
    configuration.dynamic_shared_bytes = sizeof(typename NumberTile<Policy>::TempStorage);
    static kernel_property_cache cache;
    int unused = 0;  // The query allows the kernel its shared memory.
    const cudaError_t status = detail::resident_blocks_per_multiprocessor(
        cache, kernel, static_cast<int>(configuration.block.x), configuration.dynamic_shared_bytes, unused);
    if (status != cudaSuccess) return status;
    return strata::launch(configuration, kernel, call.keys, call.values, call.output, call.segments, limits, workspace);
  }

  /// Returns the values of a segment. In a sort of indices, a value is the index of its item in the whole input.
  template <class ValuesIn>
  STRATA_D static ValueIterator values_from(const ValuesIn& values, long long begin) {
    if constexpr (std::is_pointer_v<ValuesIn>) {
      return values + begin;
    } else {
      return ValueIterator(static_cast<Value>(begin));
    }
  }
  // The longest segment that is listed. For these lengths, look-back states of 32 bits suffice. Longer segments are
  // merged, because kernels with states of 64 bits would make every program larger.
  static constexpr std::size_t longest_listed = Sort::max_items_of_small_states;

  static constexpr std::size_t least_tile = detail::least_in_chain<radix_pass_tile, MaxPolicy>();

  bool is_reserved;

  /// Temporary storage depends on the number of items, not on that of segments.
  template <class Layout, class Arguments>
  static sort_long_by_digits reserve(Layout& storage, int first_slot, const Arguments& call) {
    const sort_long_by_digits made{tuning.longest_merged > 0 &&
                                   static_cast<std::size_t>(call.longest) > tuning.longest_merged &&
                                   tuning.may_launch(call.num_items) && (ends_in_place || call.buffer == nullptr)};
    if (made.is_reserved) {
      Sort::reserve(storage, first_slot, limits(call.num_items, least_tile), longest_listed);
    }
    return made;
  }
  std::size_t progress_words() const {
    return is_reserved ? sizeof(long_segment_progress) / sizeof(unsigned long long) : 0;
  }

  template <class Layout, class Arguments>
  void map(const Layout& storage, int first_slot, const Arguments& call, unsigned long long* progress,
           Workspace& workspace) const {
    workspace.long_segments = Sort::list_in(storage, first_slot, limits(call.num_items, least_tile), longest_listed);
    if (!is_used(call)) workspace.long_segments.bound = ~0ull;
    workspace.longest_listed = longest_listed;
    workspace.long_progress = reinterpret_cast<long_segment_progress*>(progress);
    workspace.num_items = call.num_items;
  }

  /// True if a kernel must list long segments for it.
  template <class Arguments>
  bool is_used(const Arguments& call) const {
    return is_reserved && (ends_in_place || !is_in_place(call)) &&
           tuning.launches(call.num_items, static_cast<std::size_t>(call.num_segments));
  }

  /// Sorts the listed segments. Call this after the kernel that lists them.
  template <class Policy, class Arguments, class Arrays, class Device>
  cudaError_t sort(const Arguments& call, const Arrays& merged, const Arrays& buffer, const Workspace& workspace,
                   const Device& device) const {
    static_assert(detail::are_radix_blocks(Policy::histogram.block_threads, Policy::pass.block_threads),
                  "radix sort tuning: block_threads must be multiples of 32 from 256 to 1024");
    static_assert(tuning.longest_merged == 0 || largest_tile<Policy>() <= tuning.longest_merged,
                  "long_segment_tuning::longest_merged must be at least the size of each tile in which segments are "
                  "sorted");
    if (!is_used(call)) return cudaSuccess;
    const Sort sort{"strata::DeviceSegmentedSort, digits",
                    "strata::DeviceSegmentedSort, passes",
                    {call.keys, merged.keys, buffer.keys},
                    values_of(call, buffer),
                    {0, Digits::key_bits},
                    call.buffer != nullptr ? radix_result::double_buffer
                    : is_in_place(call)    ? radix_result::in_place
                                           : radix_result::output,
                    workspace.long_segments,
                    limits(call.num_items, radix_pass_tile<Policy>::value).most_tiles,
                    workspace.long_progress,
                    call.stream,
                    device};
    const cudaError_t status = sort.template count<Policy>();
    return status != cudaSuccess ? status : sort.template sort<Policy, unsigned>();
  }

 private:
  // The last pass must write to the array that is sorted in place.
  static constexpr bool ends_in_place = detail::ceiling_divide(Digits::key_bits, radix_bits) % 2 == 0;

  template <class Arguments>
  static bool is_in_place(const Arguments& call) {
    return detail::are_same_array(call.keys, call.output.keys) ||
           detail::are_same_array(call.values, call.output.values);
  }

  // If all segments fit a tile, one kernel may sort them. It clears nothing and lists nothing, so no segment that fits
  // a tile may be one of those that are listed.
  template <class Policy>
  static constexpr std::size_t largest_tile() {
    int largest = 0;
    for (const segment_class which :
         {segment_class::one_thread, segment_class::few_threads, segment_class::part_of_tile, segment_class::one_tile,
          segment_class::many_tiles, segment_class::tile_per_multiprocessor}) {
      const int items = detail::tuning_of<Policy>(which).tile_items();
      largest = detail::most(items, largest);
    }
    return static_cast<std::size_t>(largest);
  }

  static long_segment_limits limits(unsigned long long num_items, std::size_t tile_items) {
    return long_segment_limits::above(tuning.longest_merged, static_cast<std::size_t>(num_items), tile_items);
  }

  template <class Arguments, class Arrays>
  static typename Sort::ValueBuffers values_of(const Arguments& call, const Arrays& buffer) {
    if constexpr (!has_values) {
      return {};
    } else if constexpr (std::is_pointer_v<ValueIterator>) {
      return {call.values, call.output.values, buffer.values};
    } else {
      return {ValueIterator(Value{0}), call.output.values, buffer.values};
    }
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

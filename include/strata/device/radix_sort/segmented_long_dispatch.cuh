// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/radix_sort/agent_long_segments.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Counts the digits of the long segments, and plans their passes.
template <class MaxPolicy, bool HasAllBits, class Key, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::histogram.block_threads, 1)
    STRATA_KERNEL void long_segment_count_kernel(const Key* keys, const STRATA_GRID_CONSTANT radix_bit_range range,
                                                 const STRATA_GRID_CONSTANT Digits digits, radix_result result,
                                                 const STRATA_GRID_CONSTANT long_segments_of<Digits> segments,
                                                 long_segment_progress* progress) {
  using Agent = AgentLongSegmentCount<typename MaxPolicy::ActivePolicy, Key, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(counters);
  const radix_bit_range bits = HasAllBits ? radix_bit_range{0, Digits::key_bits} : range;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), reinterpret_cast<unsigned*>(counters), keys, bits, digits, result, segments, progress).run();
}

/// Sorts the long segments, in passes of all blocks.
template <class MaxPolicy, class Key, class ValueIterator, class Value, class Digits, class State>
__launch_bounds__(MaxPolicy::ActivePolicy::pass.block_threads, MaxPolicy::ActivePolicy::pass.blocks_per_multiprocessor)
    STRATA_KERNEL void long_segment_passes_kernel(const STRATA_GRID_CONSTANT radix_buffers<const Key*, Key> keys,
                                                  const STRATA_GRID_CONSTANT radix_buffers<ValueIterator, Value> values,
                                                  const STRATA_GRID_CONSTANT radix_bit_range range,
                                                  const STRATA_GRID_CONSTANT Digits digits,
                                                  const STRATA_GRID_CONSTANT long_segments_of<Digits> segments,
                                                  long_segment_progress* progress) {
  using Agent = AgentLongSegmentPasses<typename MaxPolicy::ActivePolicy, Key, ValueIterator, Value, Digits, State>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, range, digits, segments, progress).run();
}

/// Copies the long segments from the input to scratch. `segments.segment_of_tile` names the segment of each tile.
template <class MaxPolicy, class Key, class ValueIterator, class Value, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::pass.block_threads)
    STRATA_KERNEL void long_segment_copy_kernel(const STRATA_GRID_CONSTANT radix_buffers<const Key*, Key> keys,
                                                const STRATA_GRID_CONSTANT radix_buffers<ValueIterator, Value> values,
                                                const STRATA_GRID_CONSTANT long_segments_of<Digits> segments,
                                                const long_segment_progress* progress) {
  constexpr std::size_t tile_items = radix_pass_tile<typename MaxPolicy::ActivePolicy>::value;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned long long tiles = long_segment_count::of(progress->listed).tiles;
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const auto& segment = segments.list[segments.segment_of_tile[tile]];
    const auto length = static_cast<std::size_t>(segment.length);
    const auto first = static_cast<std::size_t>(tile - segment.first_tile) * tile_items;
    const std::size_t end = length - first < tile_items ? length : first + tile_items;
    for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
      (keys.scratch + segment.scratch_begin)[i] = (keys.input + segment.begin)[i];
      if constexpr (!std::is_same_v<ValueIterator, NullType>) {
        (values.scratch + segment.scratch_begin)[i] = (values.input + segment.begin)[i];
      }
    }
  }
}

/// The part of a call that sorts the segments that its first kernel has listed.
///
///     long_segment_count_kernel     counts the digits of all passes
///     long_segment_copy_kernel      in place, with an odd number of passes: see plan_radix_passes()
///     long_segment_passes_kernel    moves the items, one digit in each pass
///
/// The policies have rows `histogram` and `pass`. With `HasAllBits` the range is all bits of the keys, and the kernel
/// that counts is compiled for this range alone.
template <class MaxPolicy, class Key, class ValueIterator, class Value, class Digits, bool HasAllBits>
struct LongSegmentSort {
  using LongSegments = long_segments_of<Digits>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<ValueIterator, Value>;
  static constexpr std::size_t max_items_of_small_states = thread_look_back<unsigned, radix_bins>::max_value;

  /// Temporary storage: slots from `first_slot` on.
  static constexpr int slots = 4;
  template <class Layout>
  static void reserve(Layout& storage, int first_slot, const long_segment_limits& limits, std::size_t longest) {
    storage.template reserve<typename LongSegments::Segment>(first_slot + list_slot, limits.most_segments);
    storage.template reserve<unsigned long long>(first_slot + bins_slot,
                                                 limits.most_segments * LongSegments::bins_per_segment);
    storage.template reserve<unsigned>(first_slot + states_slot,
                                       2 * limits.most_tiles * radix_bins * state_words(longest));
    storage.template reserve<unsigned>(first_slot + segment_of_tile_slot, limits.most_tiles);
  }
  /// Returns the list of a call. `limits` and `longest` must be those that were passed to reserve().
  template <class Layout>
  static LongSegments list_in(const Layout& storage, int first_slot, const long_segment_limits& limits,
                              std::size_t longest) {
    const std::size_t words = state_words(longest);
    auto* const states = storage.template get<unsigned>(first_slot + states_slot);
    return {limits.bound,
            storage.template get<typename LongSegments::Segment>(first_slot + list_slot),
            storage.template get<unsigned long long>(first_slot + bins_slot),
            {states, states + limits.most_tiles * radix_bins * words},
            static_cast<int>(words),
            storage.template get<unsigned>(first_slot + segment_of_tile_slot)};
  }

  const char* count_name;
  const char* passes_name;
  KeyBuffers keys;
  ValueBuffers values;
  radix_bit_range range;
  radix_result result;
  const LongSegments& segments;
  std::size_t most_tiles;
  long_segment_progress* progress;
  cudaStream_t stream;
  const device_properties& device;

  template <class ActivePolicy>
  cudaError_t count() const {
    using Agent = AgentLongSegmentCount<ActivePolicy, Key, Digits>;
    static kernel_property_cache cache;
    return launch(count_name, cache, ActivePolicy::histogram.block_threads, Agent::counter_bytes(),
                  long_segment_count_kernel<MaxPolicy, HasAllBits, Key, Digits>, keys.input, range, Digits{}, result,
                  segments, progress);
  }

  /// Copies the long segments to scratch. Call this after the count.
  template <class ActivePolicy>
  cudaError_t copy_to_scratch() const {
    static kernel_property_cache cache;
    return launch("strata::DeviceSegmentedRadixSort, copy", cache, ActivePolicy::pass.block_threads, 0,
                  long_segment_copy_kernel<MaxPolicy, Key, ValueIterator, Value, Digits>, keys, values, segments,
                  progress);
  }

  /// `State` is the word of the look-back: of 32 bits if no segment can have more than max_items_of_small_states.
  template <class ActivePolicy, class State>
  cudaError_t sort() const {
    using Agent = AgentLongSegmentPasses<ActivePolicy, Key, ValueIterator, Value, Digits, State>;
    static kernel_property_cache cache;
    return launch(passes_name, cache, ActivePolicy::pass.block_threads, Agent::shared_bytes,
                  long_segment_passes_kernel<MaxPolicy, Key, ValueIterator, Value, Digits, State>, keys, values, range,
                  Digits{}, segments, progress);
  }

 private:
  enum slot { list_slot, bins_slot, states_slot, segment_of_tile_slot };

  static std::size_t state_words(std::size_t longest) { return longest > max_items_of_small_states ? 2 : 1; }

  // Launches at most one block for each tile, and no more blocks than the device holds at a time.
  template <class... Parameters, class... Arguments>
  cudaError_t launch(const char* name, kernel_property_cache& cache, int threads, std::size_t shared_bytes,
                     void (*kernel)(Parameters...), const Arguments&... arguments) const {
    std::size_t resident = 0;
    const cudaError_t status = detail::resident_blocks(cache, device, kernel, threads, shared_bytes, resident);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{name, dim3(static_cast<unsigned>(detail::least(most_tiles, resident))),
                                       dim3(static_cast<unsigned>(threads))};
    configuration.dynamic_shared_bytes = shared_bytes;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    return strata::launch(configuration, kernel, arguments...);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

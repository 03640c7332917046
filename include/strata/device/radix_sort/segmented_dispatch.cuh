// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/radix_sort/agent_segmented.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/segmented_long_dispatch.cuh>
#include <strata/device/radix_sort/segmented_tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Sorts all segments but the long ones, which it lists. Blocks take segments by tickets.
template <class MaxPolicy, bool HasValues, class Key, class Value, class Segments, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_radix_sort_kernel(
        const STRATA_GRID_CONSTANT radix_buffers<const Key*, Key> keys,
        const STRATA_GRID_CONSTANT radix_buffers<const Value*, Value> values, std::size_t num_items,
        const STRATA_GRID_CONSTANT radix_bit_range range, const STRATA_GRID_CONSTANT Digits digits, radix_result result,
        Segments segments, unsigned long long num_segments, int segments_per_ticket,
        const STRATA_GRID_CONSTANT long_segments_of<Digits> long_segments, segmented_radix_sort_progress* progress) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentSegmentedRadixSort<Policy, HasValues, Key, Value, Segments, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  STRATA_ASSERT(blockDim.x == Policy::segmented.block_threads,
                "segmented_radix_sort_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Policy::segmented.block_threads);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, num_items, range, digits, result, long_segments, progress)
      .sort(segments, num_segments, segments_per_ticket);
}

template <class Policy>
using segmented_radix_sort_rows = std::void_t<if_rows<segmented_radix_sort_tuning, decltype(Policy::segmented)>,
                                              if_rows<radix_histogram_tuning, decltype(Policy::histogram)>,
                                              if_rows<radix_pass_tuning, decltype(Policy::pass)>>;

/// Carries out one call of a sort of segments.
/// `ValueT` is NullType for sorts of keys alone.
template <class Key, class ValueT, bool IsDescending, class BeginOffsetIterator, class EndOffsetIterator,
          class PolicyHub = default_policy_hub>
struct DispatchSegmentedRadixSort {
  static_assert(hub_has_rows<segmented_radix_sort_rows, PolicyHub>,
                "DeviceSegmentedRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members segmented (segmented_radix_sort_tuning), histogram "
                "(radix_histogram_tuning) and pass (radix_pass_tuning)");
  using MaxPolicy =
      typename hub_or<segmented_radix_sort_rows, PolicyHub, segmented_radix_sort_policy_hub<Key, ValueT>>::MaxPolicy;
  using Digits = radix_digits<Key, IsDescending>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  using Value = std::conditional_t<has_values, ValueT, Key>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<const Value*, Value>;
  using ValueIterator = std::conditional_t<has_values, const Value*, NullType>;
  using LongSort = LongSegmentSort<MaxPolicy, Key, ValueIterator, Value, Digits, false>;
  using LongSegments = typename LongSort::LongSegments;
  static constexpr std::size_t max_items_of_small_states = LongSort::max_items_of_small_states;

  KeyBuffers keys;
  ValueBuffers values;
  std::size_t num_items;
  radix_bit_range range;
  radix_result result;
  Segments segments;
  unsigned long long num_segments;
  segmented_radix_sort_progress* progress;
  LongSegments long_segments;
  cudaStream_t stream;
  device_properties device;

  /// Sorts from `input` to `output`. In calls with a double buffer, the scratch arrays are the caller's. In other
  /// calls, they are in temporary storage.
  template <class NumItemsT, class NumSegmentsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyBuffers keys,
                              ValueBuffers values, NumItemsT num_items, NumSegmentsT num_segments,
                              const Segments& segments, int begin_bit, int end_bit, bool is_double_buffer,
                              cudaStream_t stream) {
    static_assert(relocatable_requirements<Value>::check());
    static_assert(are_offsets<BeginOffsetIterator> && are_offsets<EndOffsetIterator>,
                  "offsets of segments must be integers: convert them, for example by a TransformInputIterator");
    if (detail::refuses_count(num_items, "num_items") || !segments.have_valid_counts(num_segments) ||
        detail::refuses_bits(begin_bit, end_bit, Digits::key_bits)) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(num_items);
    temporary_storage::layout<slots> storage;
    const long_segment_limits limits =
        long_segment_limits::of(count, detail::least_in_chain<radix_pass_tile, MaxPolicy>());
    storage.template reserve<segmented_radix_sort_progress>(progress_slot, 1);
    if (!is_double_buffer) {
      storage.template reserve<Key>(keys_slot, count);
      if (has_values) storage.template reserve<Value>(values_slot, count);
    }
    LongSort::reserve(storage, long_slots, limits, count);
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0 || num_segments == 0) return cudaSuccess;
    if (!is_double_buffer) {
      keys.scratch = storage.template get<Key>(keys_slot);
      values.scratch = storage.template get<Value>(values_slot);
    }
    const auto overlap_offsets = [&](const auto& buffers, const radix_arguments& names) {
      return segments.overlap(detail::bytes_of(buffers.output, count, names.output), num_segments) ||
             segments.overlap(detail::bytes_of(buffers.scratch, count, names.scratch), num_segments);
    };
    const radix_scratch scratch = is_double_buffer ? radix_scratch::double_buffer : radix_scratch::in_storage;
    const radix_arguments of_keys = radix_arguments::of_keys(scratch), of_values = radix_arguments::of_values(scratch);
    if (detail::refuses_null(keys, of_keys) || (has_values && detail::refuses_null(values, of_values)) ||
        segments.has_null() || overlap_offsets(keys, of_keys) || (has_values && overlap_offsets(values, of_values))) {
      return cudaErrorInvalidValue;
    }
    if (is_double_buffer && begin_bit == end_bit) return cudaSuccess;
    const bool is_in_place = detail::are_same_array(keys.input, keys.output) ||
                             (has_values && detail::are_same_array(values.input, values.output));
    const radix_result result = is_double_buffer ? radix_result::double_buffer
                                : is_in_place    ? radix_result::in_place
                                                 : radix_result::output;
    DispatchSegmentedRadixSort dispatch{keys,
                                        values,
                                        count,
                                        {begin_bit, end_bit},
                                        result,
                                        segments,
                                        static_cast<unsigned long long>(num_segments),
                                        storage.template get<segmented_radix_sort_progress>(progress_slot),
                                        LongSort::list_in(storage, long_slots, limits, count),
                                        stream,
                                        {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    start_kernels<(most_of<NumItemsT> > max_items_of_small_states)> start{dispatch};
    return MaxPolicy::Invoke(dispatch.device.ptx_version, start);
  }

  /// With `MayHaveManyItems`, the look-back of long segments may need states of 64 bits.
  template <bool MayHaveManyItems>
  struct start_kernels {
    DispatchSegmentedRadixSort& dispatch;

    template <class ActivePolicy>
    cudaError_t Invoke() {
      static_assert(detail::are_radix_blocks(ActivePolicy::histogram.block_threads, ActivePolicy::pass.block_threads),
                    "radix sort tuning: block_threads must be multiples of 32 from 256 to 1024");
      // The limit of long segments depends on the size of a tile, which the policy sets.
      const long_segment_limits limits =
          long_segment_limits::of(dispatch.num_items, radix_pass_tile<ActivePolicy>::value);
      dispatch.long_segments.bound = limits.most_segments == 0 ? ~0ull : limits.bound;
      cudaError_t status = dispatch.template sort_segments<ActivePolicy>();
      if (status != cudaSuccess || limits.most_segments == 0) return status;
      const LongSort long_sort = dispatch.long_sort(limits.most_tiles);
      status = long_sort.template count<ActivePolicy>();
      if (status == cudaSuccess && dispatch.result == radix_result::in_place && dispatch.range.passes() % 2 != 0) {
        status = long_sort.template copy_to_scratch<ActivePolicy>();
      }
      if (status != cudaSuccess) return status;
      if constexpr (MayHaveManyItems) {
        if (dispatch.num_items > max_items_of_small_states) {
          return long_sort.template sort<ActivePolicy, unsigned long long>();
        }
      }
      return long_sort.template sort<ActivePolicy, unsigned>();
    }
  };

 private:
  enum slot { progress_slot, keys_slot, values_slot, long_slots, slots = long_slots + LongSort::slots };
  static constexpr unsigned long long tickets_per_block = 8;

  LongSort long_sort(std::size_t most_tiles) const {
    typename LongSort::ValueBuffers long_values{};
    if constexpr (has_values) long_values = values;
    return {"strata::DeviceSegmentedRadixSort, digits",
            "strata::DeviceSegmentedRadixSort, passes",
            keys,
            long_values,
            range,
            result,
            long_segments,
            most_tiles,
            progress,
            stream,
            device};
  }

  template <class ActivePolicy>
  cudaError_t sort_segments() const {
    using Agent = AgentSegmentedRadixSort<ActivePolicy, has_values, Key, Value, Segments, Digits>;
    const auto kernel = segmented_radix_sort_kernel<MaxPolicy, has_values, Key, Value, Segments, Digits>;
    constexpr int threads = ActivePolicy::segmented.block_threads;
    static kernel_property_cache cache;
    std::size_t resident = 0;
    cudaError_t status = detail::resident_blocks(cache, device, kernel, threads, Agent::shared_bytes, resident);
    if (status != cudaSuccess) return status;
    const unsigned long long blocks = detail::least(num_segments, resident);
    // Several tickets for each block, so that blocks end at about the same time.
    const unsigned long long wanted = num_segments / (blocks * tickets_per_block);
    constexpr auto max_segments = static_cast<unsigned long long>(Agent::max_segments_per_ticket);
    const auto segments_per_ticket = static_cast<int>(wanted < 1 ? 1 : detail::least(wanted, max_segments));

    status = cudaMemsetAsync(progress, 0, sizeof(*progress), stream);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceSegmentedRadixSort", dim3(static_cast<unsigned>(blocks)),
                                       dim3(static_cast<unsigned>(threads))};
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    return strata::launch(configuration, kernel, keys, values, num_items, range, Digits{}, result, segments,
                          num_segments, segments_per_ticket, long_segments, progress);
  }

  template <class Iterator>
  static constexpr bool are_offsets = std::is_integral_v<iterator_value_t<Iterator>>;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

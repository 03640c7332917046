// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/resident_grid.cuh>
#include <strata/device/segmented_radix_sort/kernels.cuh>
#include <strata/device/segmented_radix_sort/tuning.hpp>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a sort of segments; `PolicyHub` may be replaced to override the tuning.
/// `ValueT` is NullType for sorts of keys alone.
template <class Key, class ValueT, bool IsDescending, class BeginOffsetIterator,
          class EndOffsetIterator, class PolicyHub = segmented_radix_sort_policy_hub<Key, ValueT>>
struct DispatchSegmentedRadixSort {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Digits = radix_digits<Key, IsDescending>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  using Value = std::conditional_t<has_values, ValueT, Key>;
  using KeyPlaces = radix_places<const Key*, Key>;
  using ValuePlaces = radix_places<const Value*, Value>;

  KeyPlaces keys;
  ValuePlaces values;
  std::size_t num_items;
  radix_bit_range range;
  bool between_two_buffers;
  Segments segments;
  unsigned long long num_segments;
  segmented_radix_sort_progress* progress;
  cudaStream_t stream;
  device_properties device;

  /// Sorts from `input` to `output`, between buffers of the caller or with one in temporary
  /// storage.
  template <class NumItemsT, class NumSegmentsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyPlaces keys,
                              ValuePlaces values, NumItemsT num_items, NumSegmentsT num_segments,
                              const Segments& segments, int begin_bit, int end_bit,
                              bool between_two_buffers, cudaStream_t stream) {
    static_assert(is_trivially_relocatable_v<Value>,
                  "sorts of segments move values bit by bit: they must be trivially relocatable");
    static_assert(are_offsets<BeginOffsetIterator> && are_offsets<EndOffsetIterator>,
                  "Offset iterator type should be integral.");
    if (!is_count(num_items) || !is_count(num_segments) || begin_bit < 0 || begin_bit > end_bit ||
        end_bit > Digits::key_bits) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(num_items);
    temporary_storage::layout<3> storage;
    storage.template reserve<segmented_radix_sort_progress>(0, 1);
    if (!between_two_buffers) {
      storage.template reserve<Key>(1, count);
      if (has_values) storage.template reserve<Value>(2, count);
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0 || num_segments == 0) return cudaSuccess;
    if (!between_two_buffers) {
      keys.buffer = storage.template get<Key>(1);
      values.buffer = storage.template get<Value>(2);
    }
    const auto lie_on_offsets = [&](const auto& places) {
      return segments.overlap(places.output, count, static_cast<std::size_t>(num_segments)) ||
             segments.overlap(places.buffer, count, static_cast<std::size_t>(num_segments));
    };
    if (has_null(keys) || (has_values && has_null(values)) || detail::is_null(segments.begins) ||
        detail::is_null(segments.ends) || lie_on_offsets(keys) ||
        (has_values && lie_on_offsets(values))) {
      return cudaErrorInvalidValue;
    }
    if (between_two_buffers && begin_bit == end_bit) return cudaSuccess;
    DispatchSegmentedRadixSort dispatch{
        keys, values, count, {begin_bit, end_bit}, between_two_buffers, segments,
        static_cast<unsigned long long>(num_segments),
        storage.template get<segmented_radix_sort_progress>(0), stream, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    using Agent = AgentSegmentedRadixSort<ActivePolicy, has_values, Key, Value, Segments, Digits>;
    const auto kernel =
        segmented_radix_sort_kernel<MaxPolicy, has_values, Key, Value, Segments, Digits>;
    constexpr int threads = ActivePolicy::segmented.block_threads;
    static kernel_property_cache cache;
    int per_multiprocessor = 0;
    cudaError_t status = detail::resident_blocks_per_multiprocessor(
        cache, kernel, threads, Agent::shared_bytes, per_multiprocessor);
    if (status != cudaSuccess) return status;
    const auto resident = static_cast<unsigned long long>(per_multiprocessor) *
                          static_cast<unsigned long long>(device.multiprocessors);
    const unsigned long long blocks = num_segments < resident ? num_segments : resident;
    // Some turns for each block, so that none is left alone with the last segments.
    const unsigned long long at_once = num_segments / (blocks * turns_of_block);
    constexpr auto most_at_once = static_cast<unsigned long long>(Agent::most_segments_at_once);

    status = cudaMemsetAsync(progress, 0, sizeof(*progress), stream);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceSegmentedRadixSort",
                                       dim3(static_cast<unsigned>(blocks)), dim3(threads)};
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    return strata::launch(configuration, kernel, keys, values, num_items, range, Digits{},
                          between_two_buffers, segments, num_segments,
                          static_cast<int>(at_once < 1              ? 1
                                           : at_once < most_at_once ? at_once
                                                                    : most_at_once),
                          progress);
  }

 private:
  static constexpr unsigned long long turns_of_block = 8;

  template <class Iterator>
  static constexpr bool are_offsets = std::is_integral_v<iterator_value_t<Iterator>>;

  template <class Places>
  static bool has_null(const Places& places) {
    return places.input == nullptr || places.output == nullptr || places.buffer == nullptr;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

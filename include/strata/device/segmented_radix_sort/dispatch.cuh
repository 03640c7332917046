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
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/arguments/segments.cuh>
#include <strata/device/grid/launch.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/segmented_radix_sort/kernels.cuh>
#include <strata/device/segmented_radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a sort of segments; `PolicyHub` may be replaced to override the tuning.
/// `ValueT` is NullType for sorts of keys alone.
template <class Key, class ValueT, bool IsDescending, class BeginOffsetIterator, class EndOffsetIterator,
          class PolicyHub = segmented_radix_sort_policy_hub<Key, ValueT>>
struct DispatchSegmentedRadixSort {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Digits = radix_digits<Key, IsDescending>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  using Value = std::conditional_t<has_values, ValueT, Key>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<const Value*, Value>;

  KeyBuffers keys;
  ValueBuffers values;
  std::size_t num_items;
  radix_bit_range range;
  bool is_double_buffer;
  Segments segments;
  unsigned long long num_segments;
  segmented_radix_sort_progress* progress;
  cudaStream_t stream;
  device_properties device;

  /// Sorts from `input` to `output`. The scratch arrays are the caller's, in a double buffer, or in temporary
  /// storage.
  template <class NumItemsT, class NumSegmentsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyBuffers keys,
                              ValueBuffers values, NumItemsT num_items, NumSegmentsT num_segments,
                              const Segments& segments, int begin_bit, int end_bit, bool is_double_buffer,
                              cudaStream_t stream) {
    static_assert(is_trivially_relocatable_v<Value>,
                  "sorts of segments move values bit by bit: they must be trivially relocatable");
    static_assert(are_offsets<BeginOffsetIterator> && are_offsets<EndOffsetIterator>,
                  "Offset iterator type should be integral.");
    if (!is_count(num_items) || !segments.have_valid_counts(num_segments) || begin_bit < 0 || begin_bit > end_bit ||
        end_bit > Digits::key_bits) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(num_items);
    temporary_storage::layout<3> storage;
    storage.template reserve<segmented_radix_sort_progress>(0, 1);
    if (!is_double_buffer) {
      storage.template reserve<Key>(1, count);
      if (has_values) storage.template reserve<Value>(2, count);
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0 || num_segments == 0) return cudaSuccess;
    if (!is_double_buffer) {
      keys.scratch = storage.template get<Key>(1);
      values.scratch = storage.template get<Value>(2);
    }
    const auto overlap_offsets = [&](const auto& buffers) {
      return segments.overlap(buffers.output, count, num_segments) ||
             segments.overlap(buffers.scratch, count, num_segments);
    };
    if (has_null(keys) || (has_values && has_null(values)) || segments.has_null() || overlap_offsets(keys) ||
        (has_values && overlap_offsets(values))) {
      return cudaErrorInvalidValue;
    }
    if (is_double_buffer && begin_bit == end_bit) return cudaSuccess;
    DispatchSegmentedRadixSort dispatch{keys,
                                        values,
                                        count,
                                        {begin_bit, end_bit},
                                        is_double_buffer,
                                        segments,
                                        static_cast<unsigned long long>(num_segments),
                                        storage.template get<segmented_radix_sort_progress>(0),
                                        stream,
                                        {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    using Agent = AgentSegmentedRadixSort<ActivePolicy, has_values, Key, Value, Segments, Digits>;
    const auto kernel = segmented_radix_sort_kernel<MaxPolicy, has_values, Key, Value, Segments, Digits>;
    constexpr int threads = ActivePolicy::segmented.block_threads;
    static kernel_property_cache cache;
    int per_multiprocessor = 0;
    cudaError_t status =
        detail::resident_blocks_per_multiprocessor(cache, kernel, threads, Agent::shared_bytes, per_multiprocessor);
    if (status != cudaSuccess) return status;
    const auto resident =
        static_cast<unsigned long long>(per_multiprocessor) * static_cast<unsigned long long>(device.multiprocessors);
    const unsigned long long blocks = num_segments < resident ? num_segments : resident;
    // Several tickets for each block, so that blocks end at about the same time.
    const unsigned long long wanted = num_segments / (blocks * tickets_per_block);
    constexpr auto max_segments = static_cast<unsigned long long>(Agent::max_segments_per_ticket);
    const auto segments_per_ticket = static_cast<int>(wanted < 1 ? 1 : wanted < max_segments ? wanted : max_segments);

    status = cudaMemsetAsync(progress, 0, sizeof(*progress), stream);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceSegmentedRadixSort", dim3(static_cast<unsigned>(blocks)),
                                       dim3(threads)};
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    return strata::launch(configuration, kernel, keys, values, num_items, range, Digits{}, is_double_buffer, segments,
                          num_segments, segments_per_ticket, progress);
  }

 private:
  static constexpr unsigned long long tickets_per_block = 8;

  template <class Iterator>
  static constexpr bool are_offsets = std::is_integral_v<iterator_value_t<Iterator>>;

  template <class Buffers>
  static bool has_null(const Buffers& buffers) {
    return buffers.input == nullptr || buffers.output == nullptr || buffers.scratch == nullptr;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/scan/agent_contiguous_segments.cuh>
#include <strata/device/scan/agent_segmented.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/device/scan/segmented_tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The length of segment i, for an indexed_input.
template <class BeginOffsetIterator, class EndOffsetIterator>
struct load_length {
  offset_segments<BeginOffsetIterator, EndOffsetIterator> segments;
  STRATA_D unsigned long long load(std::size_t i) const {
    return static_cast<unsigned long long>(segments(static_cast<long long>(i)).length);
  }
};

/// Where the items of segments begin, and where their results do: at the same offsets if
/// `OutBeginOffsetIterator` is NullType.
template <class BeginOffsetIterator, class OutBeginOffsetIterator>
struct segment_begins {
  static constexpr bool has_out_begins = !std::is_same_v<OutBeginOffsetIterator, NullType>;

  BeginOffsetIterator begins;
  OutBeginOffsetIterator out_begins;

  template <class Index>
  STRATA_D long long begin(Index segment) const {
    return static_cast<long long>(begins[static_cast<difference_of<BeginOffsetIterator>>(segment)]);
  }
  template <class Index>
  STRATA_D long long out_begin(Index segment) const {
    if constexpr (has_out_begins) {
      return static_cast<long long>(out_begins[static_cast<difference_of<OutBeginOffsetIterator>>(segment)]);
    } else {
      return begin(segment);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Scans segments. `ends[i]` is the sum of the lengths of segments 0 to i. All blocks are resident.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Begins, class Index,
          class ScanOp, bool IsInclusive, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_scan_kernel(InputIterator d_in, OutputIterator d_out, const Begins begins,
                                             const unsigned long long* ends, Index num_segments, ScanOp scan_op,
                                             InitT init, tile_aggregates_arguments exchange) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent =
      AgentSegmentedScan<Policy, AccumT, InputIterator, OutputIterator, Begins, Index, ScanOp, IsInclusive, InitT>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_ASSERT(blockDim.x == Policy::tuning.block_threads,
                "segmented_scan_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Policy::tuning.block_threads);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, begins, ends, num_segments, scan_op, init).scan(exchange);
}

/// Scans segments that follow each other. Blocks need not be resident together.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class OffsetT, class Index,
          class ScanOp, bool IsInclusive, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::contiguous.block_threads,
                  MaxPolicy::ActivePolicy::contiguous.blocks_per_multiprocessor)
    STRATA_KERNEL void contiguous_segmented_scan_kernel(InputIterator d_in, OutputIterator d_out,
                                                        const OffsetT* offsets, Index num_segments, ScanOp scan_op,
                                                        InitT init, bool may_overwrite_input, offset_slices slices,
                                                        tile_aggregates_arguments exchange) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentContiguousSegmentedScan<Policy, AccumT, InputIterator, OutputIterator, OffsetT, Index, ScanOp,
                                             IsInclusive, InitT>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_ASSERT(blockDim.x == Policy::contiguous.block_threads,
                "contiguous_segmented_scan_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Policy::contiguous.block_threads);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, offsets, num_segments, scan_op, init, may_overwrite_input).scan(exchange, slices);
}

inline constexpr int offset_slice_threads = 256;
/// A block of the scan reads up to this many offsets itself: a launch before it would take longer. For 2^20 items,
/// 1,049 segments take 4.1 us without the launch, and 10,486 segments take 9.0 us with it. But 6,554 segments of 10
/// items took 8.8 us without it, and four times as many take 7.6 us with it (H200, 2026-11-29).
inline constexpr std::size_t max_unsliced_segments = 6000;
inline constexpr std::size_t max_offset_slices = 512;

/// Finds out for each slice of the offsets whether it is in order. A block has a slice.
template <class OffsetT, class Index>
STRATA_KERNEL void check_offset_order_kernel(const OffsetT* offsets, Index num_segments, unsigned* in_order) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const offset_facts facts = detail::find_offset_facts(offsets, num_segments, 0, blockIdx.x, gridDim.x);
  if (threadIdx.x == 0) in_order[blockIdx.x] = facts.are_in_order ? 1 : 0;
}

template <class Policy>
using segmented_scan_rows = if_rows<segmented_scan_tuning, decltype(Policy::tuning), decltype(Policy::contiguous)>;

/// Carries out one call of a segmented scan. Unless segments follow each other, a scan of their lengths comes first.
/// The scan of the lengths has the tuning rows of DeviceScan. `InitT` is NullType, a value, or a FutureValue; `Index`
/// an unsigned type that counts segments.
template <class AccumT, class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
          class OutBeginOffsetIterator, class Index, class ScanOp, bool IsInclusive, class InitT,
          class PolicyHub = default_policy_hub>
struct DispatchSegmentedScan {
  static_assert(hub_has_rows<segmented_scan_rows, PolicyHub>,
                "DeviceSegmentedScan: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members tuning and contiguous (segmented_scan_tuning)");
  using MaxPolicy = typename hub_or<segmented_scan_rows, PolicyHub, segmented_scan_policy_hub<AccumT>>::MaxPolicy;
  using Aggregates = tile_aggregates<sum_of_run<AccumT>>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  using Begins = segment_begins<BeginOffsetIterator, OutBeginOffsetIterator>;
  using OffsetT = iterator_value_t<BeginOffsetIterator>;
  // One array may hold the offsets of segments that follow each other.
  static constexpr bool may_be_contiguous = !Begins::has_out_begins && std::is_pointer_v<BeginOffsetIterator> &&
                                            std::is_pointer_v<EndOffsetIterator> &&
                                            std::is_same_v<OffsetT, iterator_value_t<EndOffsetIterator>>;
  using Lengths = indexed_input<load_length<BeginOffsetIterator, EndOffsetIterator>, unsigned long long>;
  using ScanLengths = scan_problem<Lengths, unsigned long long*, unsigned long long, strata::Sum, true, NullType>;

  InputIterator d_in;
  OutputIterator d_out;
  Begins begins;
  const unsigned long long* ends;
  Index num_segments;
  ScanOp scan_op;
  InitT init;
  cudaStream_t stream;
  device_properties device;
  platform::tagged_word* words;

  template <class NumSegmentsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, const Segments& segments, OutBeginOffsetIterator out_begins,
                              NumSegmentsT num_segments, ScanOp scan_op, InitT init, cudaStream_t stream) {
    if (!segments.have_valid_counts(num_segments) ||
        detail::refuses_reach(out_begins, num_segments, "d_out_begin_offsets")) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<Index>(num_segments);
    const Lengths lengths({segments});
    unsigned long long* ends = nullptr;
    const auto scan_lengths = [&](void* storage, std::size_t& bytes) {
      return DispatchScan<ScanLengths>::Dispatch(storage, bytes, ScanLengths{lengths, ends, {}, {}}, count, stream);
    };
    std::size_t scan_bytes = 0;
    cudaError_t status = scan_lengths(nullptr, scan_bytes);
    if (status != cudaSuccess) return status;

    temporary_storage::layout<4> storage;
    storage.template reserve<platform::tagged_word>(0, Aggregates::number_of_words(max_scan_blocks));
    storage.template reserve<unsigned long long>(1, count);
    storage.template reserve<unsigned char>(2, scan_bytes);
    storage.template reserve<unsigned>(3, max_offset_slices);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    if (detail::refuses_null(d_in, "d_in") || detail::refuses_null(d_out, "d_out") || segments.has_null() ||
        detail::refuses_null(out_begins, "d_out_begin_offsets")) {
      return cudaErrorInvalidValue;
    }
    // Only the device knows where results go. Without offsets for the output, the output may be the input.
    const bool is_in_place = !Begins::has_out_begins && detail::are_same_array(d_in, d_out);
    const argument_bytes written = detail::bytes_of(d_out, 1, "d_out");
    if (detail::refuses_initial_value(init, written) ||
        (!is_in_place && detail::refuses_overlap(written, detail::bytes_of(d_in, 1, "d_in"))) ||
        segments.overlap(written, count) ||
        detail::refuses_overlap(written, detail::bytes_of(out_begins, count, "d_out_begin_offsets"))) {
      return cudaErrorInvalidValue;
    }
    ends = storage.template get<unsigned long long>(1);
    const Begins begins{segments.begins, out_begins};
    auto* const words = storage.template get<platform::tagged_word>(0);
    DispatchSegmentedScan dispatch{d_in, d_out, begins, ends, count, scan_op, init, stream, {}, words};
    status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    if constexpr (may_be_contiguous) {
      if (segments.ends == segments.begins + 1) {
        contiguous_call call{dispatch, is_in_place, storage.template get<unsigned>(3)};
        return MaxPolicy::Invoke(dispatch.device.ptx_version, call);
      }
    }
    status = scan_lengths(storage.template get<unsigned char>(2), scan_bytes);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  // The number of tiles is known to the device alone, so there are as many blocks as it holds.
  template <class ActivePolicy>
  cudaError_t Invoke() {
    launch_configuration configuration{"strata::DeviceSegmentedScan", dim3(1),
                                       dim3(ActivePolicy::tuning.block_threads)};
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    static kernel_property_cache cache;
    return detail::launch_resident(configuration, cache, device, max_scan_blocks, max_scan_blocks,
                                   segmented_scan_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Begins,
                                                         Index, ScanOp, IsInclusive, InitT>,
                                   d_in, d_out, begins, ends, num_segments, scan_op, init, exchange());
  }

  tile_aggregates_arguments exchange() const { return {words, next_epoch(), detail::is_replayable(stream)}; }

  /// A call with segments that follow each other.
  struct contiguous_call {
    const DispatchSegmentedScan& all;
    bool is_in_place;
    unsigned* in_order;

    template <class ActivePolicy>
    cudaError_t Invoke() const {
      constexpr segmented_scan_tuning tuning = ActivePolicy::contiguous;
      offset_slices slices{in_order, 0};
      launch_configuration configuration{"strata::DeviceSegmentedScan, order of offsets", dim3(1),
                                         dim3(offset_slice_threads)};
      configuration.stream = all.stream;
      configuration.programmatic = all.device.ptx_version >= 900;
      const auto multiprocessors = static_cast<std::size_t>(all.device.multiprocessors);
      if (all.num_segments > max_unsliced_segments) {
        constexpr std::size_t slice = 4 * offset_slice_threads;
        slices.count = static_cast<unsigned>(detail::least(detail::ceiling_divide<std::size_t>(all.num_segments, slice),
                                                           detail::least(2 * multiprocessors, max_offset_slices)));
        configuration.grid = dim3(slices.count);
        const cudaError_t status =
            strata::launch(configuration, check_offset_order_kernel<OffsetT, Index>,
                           static_cast<const OffsetT*>(all.begins.begins), all.num_segments, in_order);
        if (status != cudaSuccess) return status;
      }
      configuration.name = "strata::DeviceSegmentedScan";
      configuration.block = dim3(tuning.block_threads);
      configuration.grid = dim3(static_cast<unsigned>(detail::least(
          multiprocessors * static_cast<std::size_t>(tuning.blocks_per_multiprocessor), max_scan_blocks)));
      constexpr bool are_arrays = std::is_pointer_v<InputIterator> && std::is_pointer_v<OutputIterator>;
      return strata::launch(configuration,
                            contiguous_segmented_scan_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, OffsetT,
                                                             Index, ScanOp, IsInclusive, InitT>,
                            all.d_in, all.d_out, static_cast<const OffsetT*>(all.begins.begins), all.num_segments,
                            all.scan_op, all.init, is_in_place || !are_arrays, slices, all.exchange());
    }
  };
};

STRATA_ARCH_DETAIL_NAMESPACE_END

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

/// Scans segments that end at `ends` in their logical sequence. All blocks are resident.
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

template <class Policy>
using segmented_scan_rows = if_rows<segmented_scan_tuning, decltype(Policy::tuning)>;

/// Carries out one call of a segmented scan. The scan of lengths before it takes the rows of DeviceScan.
/// `InitT` is NullType, a value, or a FutureValue; `Index` an unsigned type that counts segments.
template <class AccumT, class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
          class OutBeginOffsetIterator, class Index, class ScanOp, bool IsInclusive, class InitT,
          class PolicyHub = default_policy_hub>
struct DispatchSegmentedScan {
  static_assert(hub_has_rows<segmented_scan_rows, PolicyHub>,
                "DeviceSegmentedScan: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the row tuning (segmented_scan_tuning)");
  using MaxPolicy = typename hub_or<segmented_scan_rows, PolicyHub, segmented_scan_policy_hub<AccumT>>::MaxPolicy;
  using Aggregates = tile_aggregates<sum_of_run<AccumT>>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  using Begins = segment_begins<BeginOffsetIterator, OutBeginOffsetIterator>;
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

    temporary_storage::layout<3> storage;
    storage.template reserve<platform::tagged_word>(0, Aggregates::number_of_words(max_scan_blocks));
    storage.template reserve<unsigned long long>(1, count);
    storage.template reserve<unsigned char>(2, scan_bytes);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    if (detail::refuses_null(d_in, "d_in") || detail::refuses_null(d_out, "d_out") || segments.has_null() ||
        detail::refuses_null(out_begins, "d_out_begin_offsets")) {
      return cudaErrorInvalidValue;
    }
    // Where results go is known to the device alone. Without offsets for the output, it may be the input.
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
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/call_tag.hpp>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/resident_grid.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/segmented_scan/kernels.cuh>
#include <strata/device/segmented_scan/segments.cuh>
#include <strata/device/segmented_scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a segmented scan; `PolicyHub` may be replaced to override the tuning.
/// `InitT` is NullType, a value, or a FutureValue; `Index` an unsigned type that counts segments.
template <class AccumT, class InputIterator, class OutputIterator, class BeginOffsetIterator,
          class EndOffsetIterator, class OutBeginOffsetIterator, class Index, class ScanOp,
          bool IsInclusive, class InitT, class PolicyHub = segmented_scan_policy_hub<AccumT>>
struct DispatchSegmentedScan {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Sums = wave_sums<sum_of_run<AccumT>>;
  using Segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;
  using Places = segment_places<BeginOffsetIterator, OutBeginOffsetIterator>;
  using Lengths = segment_lengths<BeginOffsetIterator, EndOffsetIterator>;
  using ScanLengths = DispatchScan<unsigned long long, Lengths, unsigned long long*, strata::Sum,
                                   true, NullType>;

  InputIterator d_in;
  OutputIterator d_out;
  Places places;
  const unsigned long long* ends;
  Index num_segments;
  ScanOp scan_op;
  InitT init;
  cudaStream_t stream;
  device_properties device;
  platform::packet* packets;

  template <class NumSegmentsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              InputIterator d_in, OutputIterator d_out, const Segments& segments,
                              OutBeginOffsetIterator out_begins, NumSegmentsT num_segments,
                              ScanOp scan_op, InitT init, cudaStream_t stream) {
    if (!is_count(num_segments)) return cudaErrorInvalidValue;
    const auto count = static_cast<Index>(num_segments);
    const Lengths lengths(segments);
    unsigned long long* ends = nullptr;
    const auto scan_lengths = [&](void* storage, std::size_t& bytes) {
      return ScanLengths::Dispatch(storage, bytes, lengths, ends, count, strata::Sum{}, NullType{},
                                   stream);
    };
    std::size_t scan_bytes = 0;
    cudaError_t status = scan_lengths(nullptr, scan_bytes);
    if (status != cudaSuccess) return status;

    temporary_storage::layout<3> storage;
    storage.template reserve<platform::packet>(0, Sums::number_of_packets(max_scan_blocks));
    storage.template reserve<unsigned long long>(1, count);
    storage.template reserve<unsigned char>(2, scan_bytes);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    if (detail::is_null(d_in) || detail::is_null(d_out) || detail::is_null(segments.begins) ||
        detail::is_null(segments.ends) || detail::is_null(out_begins) ||
        detail::is_null_initial_value(init)) {
      return cudaErrorInvalidValue;
    }
    // Where results go is known to the device alone; but in which array, without offsets for it.
    const bool is_shifted = !Places::has_out_begins && detail::begins_within(d_out, d_in, 1) &&
                            !detail::are_same_array(d_in, d_out);
    if (is_shifted || segments.overlap(d_out, 1, count) ||
        detail::begins_within(d_out, out_begins, count) ||
        !detail::can_reach(segments.begins, count) || !detail::can_reach(segments.ends, count)) {
      return cudaErrorInvalidValue;
    }
    ends = storage.template get<unsigned long long>(1);
    DispatchSegmentedScan dispatch{
        d_in, d_out, {segments.begins, out_begins}, ends, count, scan_op, init, stream, {},
        storage.template get<platform::packet>(0)};
    status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    status = scan_lengths(storage.template get<unsigned char>(2), scan_bytes);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  // How many tiles there are is known to the device alone: there are as many blocks as it holds.
  template <class ActivePolicy>
  cudaError_t Invoke() {
    launch_configuration configuration{"strata::DeviceSegmentedScan", dim3(1),
                                       dim3(ActivePolicy::tuning.block_threads)};
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    static kernel_property_cache cache;
    return detail::launch_resident(
        configuration, cache, device, max_scan_blocks, max_scan_blocks,
        segmented_scan_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Places, Index,
                              ScanOp, IsInclusive, InitT>,
        d_in, d_out, places, ends, num_segments, scan_op, init, exchange());
  }

  // Only launches that a graph keeps are carried out again with the same tag.
  wave_sums_arguments exchange() const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    const bool is_known = cudaStreamIsCapturing(stream, &capture) == cudaSuccess;
    return {packets, next_call_tag(), !is_known || capture != cudaStreamCaptureStatusNone};
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/call_tag.hpp>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/resident_grid.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/kernels.cuh>
#include <strata/device/scan/tuning.hpp>
#include <strata/device/scan/wave_sums.cuh>
#include <strata/device/scan/work_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Blocks of a scan, at most.
inline constexpr std::size_t max_scan_blocks = 1024;

/// Items of a tile, at least.
inline constexpr std::size_t least_tile = 128;

/// Carries out one call of a device-wide scan; `PolicyHub` may be replaced to override the tuning.
/// `InitT` is NullType, a value, or a FutureValue. `Rings` says how a ring does the same as the
/// scan of `d_in`. With `Rings::moves_in_place`, a result may be written to the place of another
/// item: no block can then reduce a tile of another one, and all must be
/// resident.
template <class AccumT, class InputIterator, class OutputIterator, class ScanOp, bool IsInclusive,
          class InitT, class PolicyHub = scan_policy_hub<iterator_value_t<InputIterator>, AccumT>,
          class Rings =
              scan_rings<InputIterator, OutputIterator, AccumT, ScanOp, IsInclusive, InitT>>
struct DispatchScan {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Sums = wave_sums<AccumT>;
  using InputT = iterator_value_t<InputIterator>;

  InputIterator d_in;
  OutputIterator d_out;
  std::size_t num_items;
  ScanOp scan_op;
  InitT init;
  Rings rings;
  cudaStream_t stream;
  device_properties device;
  platform::packet* packets;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                              ScanOp scan_op, InitT init, cudaStream_t stream) {
    return Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, scan_op, init,
                    Rings{{d_in, d_out, scan_op, init}}, stream);
  }

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                              ScanOp scan_op, InitT init, const Rings& rings, cudaStream_t stream) {
    if (!is_count(num_items)) return cudaErrorInvalidValue;
    const auto count = static_cast<std::size_t>(num_items);
    const std::size_t most_tiles = ceiling_divide(count, least_tile);
    temporary_storage::layout<1> storage;
    storage.template reserve<platform::packet>(
        0,
        Sums::number_of_packets(most_tiles < max_scan_blocks ? most_tiles : max_scan_blocks));
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    if (detail::is_null(d_in) || detail::is_null(d_out) || detail::is_null_initial_value(init) ||
        !detail::can_reach(d_in, count) || !detail::can_reach(d_out, count) ||
        detail::is_overwritten(init, d_out, count) ||
        (!detail::are_same_array(d_in, d_out) &&
         detail::arrays_overlap(d_in, count, d_out, count))) {
      return cudaErrorInvalidValue;
    }
    DispatchScan dispatch{d_in, d_out, count,  scan_op,
                          init, rings, stream, {}, storage.template get<platform::packet>(0)};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    const std::size_t count = tiles<ActivePolicy, small_tiles>();
    if (count == 1 || (!Rings::moves_in_place &&
                       count <= static_cast<std::size_t>(device.multiprocessors))) {
      return start_one_wave<ActivePolicy, small_tiles>();
    }
    constexpr bool has_ring = ActivePolicy::ring_from_bytes != ~std::size_t{0};
    if constexpr (has_ring) {
      cudaError_t status = cudaSuccess;
      if (num_items * sizeof(InputT) >= ActivePolicy::ring_from_bytes &&
          rings.start(ring_start<ActivePolicy>{*this}, status)) {
        return status;
      }
    }
    if (!Rings::moves_in_place && tiles<ActivePolicy, large_tiles>() <= max_scan_blocks) {
      return start_one_wave<ActivePolicy, large_tiles>();
    }
    return start_waves<ActivePolicy, large_tiles>();
  }

  template <class ActivePolicy>
  struct ring_start {
    const DispatchScan& call;

    template <class Form>
    cudaError_t operator()(const Form& form, std::size_t head) const {
      using Ring = ring_of<ActivePolicy, Form>;
      // not for users: storage is for either
      static_assert(wave_sums<typename Form::Sum>::packets_per_value <= Sums::packets_per_value,
                    "a ring's sums must fit where the tiles' sums do");
      const ring_shape shape{
          call.num_items, ceiling_divide<std::size_t>(call.num_items - head, Ring::tile_items),
          static_cast<unsigned>(head)};
      static kernel_property_cache cache;
      return detail::launch_resident(
          {"strata::DeviceScan", dim3(1), dim3(static_cast<unsigned>(Ring::block_threads)),
           Ring::dynamic_shared_bytes, call.stream, 1, true},
          cache, call.device, shape.tiles, max_scan_blocks, scan_ring_kernel<MaxPolicy, Form>, form,
          shape, call.exchange());
    }
  };

  template <class ActivePolicy, template <class> class Tiles>
  std::size_t tiles() const {
    constexpr scan_tile_tuning tuning = Tiles<ActivePolicy>::value;
    constexpr std::size_t tile =
        static_cast<std::size_t>(tuning.block_threads) * tuning.items_per_thread;
    static_assert(tile >= least_tile, "scan_tile_tuning: a tile must have at least 128 items");
    return ceiling_divide(num_items, tile);
  }

  template <class ActivePolicy, template <class> class Tiles>
  launch_configuration configuration() const {
    launch_configuration result{"strata::DeviceScan",
                                dim3(static_cast<unsigned>(tiles<ActivePolicy, Tiles>())),
                                dim3(Tiles<ActivePolicy>::value.block_threads)};
    result.stream = stream;
    result.programmatic = device.ptx_version >= 900;
    return result;
  }

  // A block for each tile; they need not be resident together, which costs launches their overlap
  // with the kernel before (2^18 ints: 3.4 us in a batch, 4.7 if cooperative).
  template <class ActivePolicy, template <class> class Tiles>
  cudaError_t start_one_wave() {
    return strata::launch(configuration<ActivePolicy, Tiles>(),
                          scan_tiles_kernel<MaxPolicy, Tiles, true, AccumT, InputIterator,
                                            OutputIterator, ScanOp, IsInclusive, InitT>,
                          d_in, d_out, num_items, may_overwrite_input(), scan_op, init, exchange());
  }

  template <class ActivePolicy, template <class> class Tiles>
  cudaError_t start_waves() {
    static kernel_property_cache cache;
    return detail::launch_resident(configuration<ActivePolicy, Tiles>(), cache, device,
                                   tiles<ActivePolicy, Tiles>(), max_scan_blocks,
                                   scan_tiles_kernel<MaxPolicy, Tiles, false, AccumT, InputIterator,
                                                     OutputIterator, ScanOp, IsInclusive, InitT>,
                                   d_in, d_out, num_items, false, scan_op, init, exchange());
  }

  // Only launches that a graph keeps are carried out again with the same tag.
  wave_sums_arguments exchange() const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    const bool is_known = cudaStreamIsCapturing(stream, &capture) == cudaSuccess;
    return {packets, next_call_tag(), !is_known || capture != cudaStreamCaptureStatusNone,
            Rings::moves_in_place};
  }

  bool may_overwrite_input() const {
    constexpr bool are_arrays =
        std::is_pointer_v<InputIterator> && std::is_pointer_v<OutputIterator>;
    return !are_arrays || detail::arrays_overlap(d_in, num_items, d_out, num_items);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/transform/agent_transpose.cuh>
#include <strata/device/transform/transpose_tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Each block has one tile, if a grid has enough blocks.
template <class MaxPolicy, int ElementBytes, int PieceBytes, transpose_kind Kind>
__launch_bounds__(detail::transpose_row<typename MaxPolicy::ActivePolicy, Kind>().block_threads,
                  detail::transpose_row<typename MaxPolicy::ActivePolicy, Kind>().blocks_per_multiprocessor)
    STRATA_KERNEL void transpose_kernel(const void* d_in, void* d_out,
                                        const STRATA_GRID_CONSTANT transpose_shape shape) {
  using Agent = AgentTranspose<typename MaxPolicy::ActivePolicy, ElementBytes, PieceBytes, Kind>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  STRATA_ASSERT(blockDim.x == Agent::tuning.block_threads,
                "transpose_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Agent::tuning.block_threads);
  Agent agent{storage, static_cast<const typename Agent::element*>(d_in), static_cast<typename Agent::element*>(d_out),
              shape};

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  for (std::uint64_t tile = blockIdx.x; tile < shape.tiles(); tile += gridDim.x) {
    if (tile != blockIdx.x) __syncthreads();  // The previous tile has left shared memory.
    agent.transpose_tile_number(tile);
  }
}

/// The widest access that divides `bytes`, up to 16.
constexpr int widest_piece(int bytes) {
  int piece = 16;
  while (bytes % piece != 0) piece /= 2;
  return piece;
}

template <class Policy>
using transpose_rows = if_rows<transpose_tuning, decltype(Policy::vectors), decltype(Policy::items),
                               decltype(Policy::wide), decltype(Policy::tall), decltype(Policy::direct),
                               decltype(Policy::direct_wide), decltype(Policy::direct_tall)>;

/// Carries out one call of a transposition of elements of `ElementBytes` aligned to `ElementAlign`.
template <int ElementBytes, int ElementAlign, class PolicyHub = default_policy_hub>
struct DispatchTranspose {
  static_assert(hub_has_rows<transpose_rows, PolicyHub>,
                "DeviceTranspose: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members vectors, items, wide, tall, direct, direct_wide and direct_tall "
                "(transpose_tuning)");
  template <int PieceBytes>
  using max_policy =
      typename hub_or<transpose_rows, PolicyHub, transpose_policy_hub<ElementBytes, PieceBytes>>::MaxPolicy;
  static constexpr int widest = widest_piece(ElementBytes);
  static constexpr int narrowest = detail::least(widest, ElementAlign);
  static constexpr bool is_direct = ElementBytes > most_staged_bytes;

  const void* d_in;
  void* d_out;
  transpose_shape shape;
  cudaStream_t stream;
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const void* d_in, void* d_out,
                              std::int64_t rows, std::int64_t columns, std::int64_t in_leading_dimension,
                              std::int64_t out_leading_dimension, cudaStream_t stream) {
    const bool is_empty = rows == 0 || columns == 0;
    constexpr const char* too_large = "makes a matrix that is larger than the address space";
    if (detail::is_refused(rows < 0, "num_rows", "is negative") ||
        detail::is_refused(columns < 0, "num_columns", "is negative") ||
        detail::is_refused(in_leading_dimension < columns, "the leading dimension of d_in", "is below num_columns") ||
        detail::is_refused(out_leading_dimension < rows, "the leading dimension of d_out", "is below num_rows") ||
        (!is_empty &&
         (detail::is_refused(!is_addressable(rows, in_leading_dimension), "num_rows", too_large) ||
          detail::is_refused(!is_addressable(columns, out_leading_dimension), "num_columns", too_large)))) {
      return cudaErrorInvalidValue;
    }
    if (d_temp_storage == nullptr) {
      temp_storage_bytes = 1;
      return cudaSuccess;
    }
    if (detail::refuses_unused_storage(temp_storage_bytes)) return cudaErrorInvalidValue;
    if (is_empty) return cudaSuccess;
    if (detail::refuses_null(d_in, "d_in") || detail::refuses_null(d_out, "d_out")) return cudaErrorInvalidValue;
    const auto bytes = [](std::int64_t elements) { return static_cast<std::uintptr_t>(elements) * ElementBytes; };
    const strided_bytes in{reinterpret_cast<std::uintptr_t>(d_in), static_cast<std::uintptr_t>(rows), bytes(columns),
                           bytes(in_leading_dimension)};
    const strided_bytes out{reinterpret_cast<std::uintptr_t>(d_out), static_cast<std::uintptr_t>(columns), bytes(rows),
                            bytes(out_leading_dimension)};
    constexpr const char* not_aligned = "is not aligned for its items";
    if (detail::is_refused(!is_aligned(d_in, ElementAlign), "d_in", not_aligned) ||
        detail::is_refused(!is_aligned(d_out, ElementAlign), "d_out", not_aligned) ||
        detail::is_refused(have_common_bytes(in, out), "d_out", "overlaps d_in")) {
      return cudaErrorInvalidValue;
    }
    // A row that becomes a column without gaps, or the reverse, stays as it is.
    if ((rows == 1 && out_leading_dimension == 1) || (columns == 1 && in_leading_dimension == 1)) {
      return cudaMemcpyAsync(d_out, d_in, bytes(rows) * static_cast<std::uintptr_t>(columns), cudaMemcpyDeviceToDevice,
                             stream);
    }
    DispatchTranspose dispatch{
        d_in, d_out, {rows, columns, in_leading_dimension, out_leading_dimension, 0, 0, 0}, stream, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    // The lowest set bit of `alignment` divides the addresses of all rows of both matrices.
    const std::uintptr_t alignment = in.begin | out.begin | in.pitch | out.pitch;
    if constexpr (narrowest < widest) {
      if (alignment % static_cast<unsigned>(widest) != 0) {
        return dispatch.template invoke<narrowest>(alignment);
      }
    }
    return dispatch.template invoke<widest>(alignment);
  }

  template <bool First, transpose_kind A, transpose_kind B>
  using choice = std::integral_constant<transpose_kind, First ? A : B>;

  /// Dispatches with the policies for a piece's size.
  template <int PieceBytes>
  struct with_pieces {
    DispatchTranspose& dispatch;
    std::uintptr_t alignment;

    template <class ActivePolicy>
    cudaError_t Invoke() {
      using MaxPolicy = max_policy<PieceBytes>;
      const auto start = [&](auto kind) {
        return dispatch.template start<MaxPolicy, ActivePolicy, PieceBytes, decltype(kind)::value>();
      };
      constexpr bool in_pieces = PieceBytes < ElementBytes;
      if (dispatch.shape.rows <= few_transpose_rows) {
        return start(choice<in_pieces, transpose_kind::direct_wide, transpose_kind::wide>{});
      }
      if (dispatch.shape.columns <= few_transpose_rows) {
        return start(choice<in_pieces, transpose_kind::direct_tall, transpose_kind::tall>{});
      }
      if constexpr (!in_pieces && ActivePolicy::vectors.access_bytes > ElementBytes) {
        constexpr int access = ActivePolicy::vectors.access_bytes;
        if (alignment % static_cast<unsigned>(access) == 0) {
          return start(std::integral_constant<transpose_kind, transpose_kind::vectors>{});
        }
      }
      return start(choice<is_direct, transpose_kind::direct, transpose_kind::items>{});
    }
  };

  template <int PieceBytes>
  cudaError_t invoke(std::uintptr_t alignment) {
    with_pieces<PieceBytes> functor{*this, alignment};
    return max_policy<PieceBytes>::Invoke(device.ptx_version, functor);
  }

  template <class MaxPolicy, class ActivePolicy, int PieceBytes, transpose_kind Kind>
  cudaError_t start() {
    constexpr transpose_tuning tuning = detail::transpose_row<ActivePolicy, Kind>();
    static_assert(are_whole_warps(tuning.block_threads),
                  "transpose_tuning::block_threads must be a multiple of 32, at most 1024");
    const auto tiles = [](std::int64_t count, int side) {
      return static_cast<std::uint64_t>(ceiling_divide(count, std::int64_t{side}));
    };
    shape.tiles_down = tiles(shape.rows, tuning.tile_rows);
    shape.tiles_across = tiles(shape.columns, tuning.tile_columns);
    shape.evict_first_fraction = evict_first_fraction();
    constexpr std::uint64_t most_blocks = 0x7fffffff;
    const std::uint64_t blocks = detail::least(shape.tiles(), most_blocks);
    return strata::launch({"strata::DeviceTranspose", dim3(static_cast<unsigned>(blocks)), dim3(tuning.block_threads),
                           0, stream, 1, device.ptx_version >= 900},
                          transpose_kernel<MaxPolicy, ElementBytes, PieceBytes, Kind>, d_in, d_out, shape);
  }

  // If input and output fit L2 together, the input may be wanted again. Otherwise it only takes the place of what is
  // written.
  float evict_first_fraction() const {
    const double bytes =
        static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(ElementBytes);
    return bytes > 0.5 * static_cast<double>(device.l2_bytes) ? 1.0f : 0.125f;
  }

  /// True if the matrix ends below 2^63 bytes.
  static bool is_addressable(std::int64_t rows, std::int64_t leading_dimension) {
    return leading_dimension <= std::numeric_limits<std::int64_t>::max() / ElementBytes / rows;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

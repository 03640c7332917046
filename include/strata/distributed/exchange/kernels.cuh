// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/group.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr int exchange_threads = 256;

/// By one block: what this rank says of its call, and how many items it has for each rank. Of a refused call
/// nothing is read.
template <class Counts>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_message_kernel(call_header header, Counts counts, int ranks, call_header* d_header_out,
                                               std::int64_t* d_counts_out) {
  if (header.status == cudaSuccess && !counts.are_valid(ranks)) header.status = cudaErrorInvalidValue;
  const bool is_refused = header.status != cudaSuccess;
  for (int rank = static_cast<int>(threadIdx.x); rank < ranks; rank += exchange_threads) {
    d_counts_out[rank] = is_refused ? 0 : counts(rank);
  }
  if (threadIdx.x == 0) *d_header_out = header;
}

/// By one block: how many items this rank has for each rank, and where they begin. If a destination is out of range,
/// the counts are -1. (A template, so that programs that do not call it have no kernel.)
template <class Counts>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_bounds_kernel(Counts counts, int ranks, std::int64_t* d_begins_out,
                                              std::int64_t* d_counts_out) {
  const bool are_valid = counts.are_valid(ranks);
  for (int rank = static_cast<int>(threadIdx.x); rank < ranks; rank += exchange_threads) {
    d_begins_out[rank] = are_valid ? counts.begin(rank) : 0;
    d_counts_out[rank] = are_valid ? counts(rank) : -1;
  }
}

/// Moves the first items for each rank to its chunk. Grid: blocks of a chunk, ranks.
template <class Item>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_chunks_kernel(const Item* d_grouped, const std::int64_t* d_begins,
                                              const std::int64_t* d_counts, std::int64_t chunk_capacity,
                                              Item* d_chunks_out) {
  const auto rank = static_cast<std::int64_t>(blockIdx.y);
  const std::int64_t begin = d_begins[rank];
  const std::int64_t count = detail::least(d_counts[rank], chunk_capacity);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * exchange_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * exchange_threads + threadIdx.x; i < count;
       i += stride) {
    d_chunks_out[rank * chunk_capacity + i] = d_grouped[begin + i];
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans with policies for tests, with which small inputs take the paths of large ones, and in any number of blocks, so
// that few items take many rounds.
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/device_call.cuh"

namespace device_test {

/// Short inputs have tiles of 128 items in registers. Long ones have tiles of TileThreads * TileItems items, or take
/// the pipeline if `HasPipeline`.
template <int TileThreads, int TileItems, bool HasPipeline, int PipelineThreads, int Vectors, int Stages, int Lag>
struct scan_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::scan_tile_tuning small_tile{32, 4, strata::BLOCK_LOAD_VECTORIZE,
                                                         strata::BLOCK_STORE_VECTORIZE, 1};
    static constexpr strata::scan_tile_tuning large_tile{TileThreads, TileItems, strata::BLOCK_LOAD_WARP_TRANSPOSE,
                                                         strata::BLOCK_STORE_WARP_TRANSPOSE, 1};
    static constexpr strata::scan_pipeline_tuning pipeline{PipelineThreads, Vectors, Stages, Lag, 1, 2};
    static constexpr int pipeline_above = strata::no_pipeline;
  };
  struct Policy900 : strata::ChainedPolicy<900, Policy900, Policy750> {
    static constexpr strata::scan_tile_tuning small_tile = Policy750::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = Policy750::large_tile;
    static constexpr strata::scan_pipeline_tuning pipeline = Policy750::pipeline;
    static constexpr int pipeline_above = HasPipeline ? 0 : strata::no_pipeline;
  };
  using MaxPolicy = Policy900;
};
template <int Threads, int Items>
using tiles_hub = scan_hub<Threads, Items, false, 32, 1, 3, 1>;
template <int Threads, int Vectors, int Stages, int Lag>
using pipeline_hub = scan_hub<64, 5, true, Threads, Vectors, Stages, Lag>;

/// A two-phase call with the tuning of `Hub`. `Init` is NullType for scans that begin with an item.
template <class Hub, bool IsInclusive, class In, class Out, class Op, class Init>
cudaError_t tuned_scan(void* storage, std::size_t& bytes, In in, Out out, std::size_t n, Op op, Init init,
                       cudaStream_t on = nullptr) {
  using Scan = strata::TunedDeviceScan<Hub>;
  if constexpr (!IsInclusive) {
    return Scan::ExclusiveScan(storage, bytes, in, out, op, init, n, on);
  } else if constexpr (std::is_same_v<Init, strata::NullType>) {
    return Scan::InclusiveScan(storage, bytes, in, out, op, n, on);
  } else {
    return Scan::InclusiveScanInit(storage, bytes, in, out, op, init, n, on);
  }
}

#if STRATA_HOST_SIMT
inline bool has_bulk_copies() { return true; }
#else
/// Bulk copies need sm_90.
inline bool has_bulk_copies() {
  strata::detail::device_properties device;
  EXPECT_CUDA_SUCCESS(strata::detail::current_device_properties(device));
  return device.ptx_version >= 900;
}
#endif

namespace in_blocks {

using strata::detail::tile_aggregates;

/// As in a graph, the storage may hold words of an earlier replay, which must not be mistaken for those of this call.
template <class Accum>
strata::detail::tile_aggregates_arguments exchange(const scratch& storage) {
  return {reinterpret_cast<strata::platform::tagged_word*>((reinterpret_cast<std::uintptr_t>(storage.data()) + 255) /
                                                           256 * 256),
          strata::detail::next_epoch(), true};
}
template <class Accum>
std::size_t storage_bytes(unsigned blocks) {
  return tile_aggregates<Accum>::number_of_words(blocks) * sizeof(strata::platform::tagged_word) + 256;
}

/// A pipeline whose tiles have few items.
template <int ThreadBytes, int Stages, int Lag>
struct short_columns {
  static constexpr strata::columns_pipeline_tuning columns{64, ThreadBytes, Stages, Lag, 1, 2};
  using ActivePolicy = short_columns;
};

inline strata::launch_configuration configuration(unsigned blocks, int threads, std::size_t dynamic_shared_bytes) {
  return {"scan in some blocks",
          dim3(blocks),
          dim3(static_cast<unsigned>(threads)),
          dynamic_shared_bytes,
          nullptr,
          1,
          false,
          blocks > 1};
}

/// Runs the pipeline of a problem in any number of blocks, up to the number of its tiles. `head` items come before the
/// first tile.
template <class Policy, bool UsesBulkCopies, class Problem>
cudaError_t run_pipeline(unsigned blocks, const scratch& storage, const Problem& problem, std::size_t n,
                         std::size_t head = 0) {
  using agent = strata::detail::scan_pipeline<Policy, Problem, UsesBulkCopies>;
  const strata::detail::tiled_input input{n, (n - head + agent::tile_items - 1) / agent::tile_items,
                                          static_cast<unsigned>(head)};
  const auto kernel = strata::detail::scan_pipeline_kernel<Policy, Problem, UsesBulkCopies>;
  return strata::launch(configuration(blocks, agent::block_threads, agent::dynamic_shared_bytes), kernel, problem,
                        input, exchange<typename Problem::Accum>(storage));
}

/// The pipeline of a scan in any number of blocks.
template <class Hub, bool UsesBulkCopies, class T, class Accum, bool IsInclusive, class Op, class Init>
struct pipeline {
  using policy = typename Hub::MaxPolicy;
  using problem = strata::detail::scan_problem<const T*, T*, Accum, Op, IsInclusive, Init>;
  using agent = strata::detail::scan_pipeline<policy, problem, UsesBulkCopies>;
  static constexpr std::size_t tile_items = agent::tile_items;
  static constexpr int block_threads = agent::block_threads;
  using accumulator = Accum;

  static cudaError_t run(unsigned blocks, const scratch& storage, const T* in, T* out, std::size_t n, Op op,
                         Init init) {
    const std::size_t head = UsesBulkCopies ? (16 - reinterpret_cast<std::uintptr_t>(in) % 16) % 16 / sizeof(T) : 0;
    return run_pipeline<policy, UsesBulkCopies>(blocks, storage, problem{in, out, op, init}, n, head);
  }
};

template <class Hub, class T, class Accum, bool IsInclusive, class Op, class Init, class In = const T*>
struct tiles {
  using policy = typename Hub::MaxPolicy;
  static constexpr strata::scan_tile_tuning tuning = policy::large_tile;
  static constexpr std::size_t tile_items = static_cast<std::size_t>(tuning.block_threads) * tuning.items_per_thread;
  using accumulator = Accum;

  static cudaError_t run(unsigned blocks, const scratch& storage, In in, T* out, std::size_t n, Op op, Init init) {
    const auto kernel =
        strata::detail::scan_tile_kernel<policy, strata::detail::large_tile, false,
                                         strata::detail::scan_problem<In, T*, Accum, Op, IsInclusive, Init>>;
    return strata::launch(configuration(blocks, tuning.block_threads, 0), kernel, in, out, n, false, op, init,
                          exchange<Accum>(storage));
  }
};

}  // namespace in_blocks
}  // namespace device_test

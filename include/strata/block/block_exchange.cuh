// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_shape.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Rearranges the items of a block, `ItemsPerThread` of them in each thread.
template <class T, int BlockDimX, int ItemsPerThread, bool WarpTimeSlicing = false,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockExchange {
  static_assert(std::is_trivially_copyable_v<T>,
                "BlockExchange<T> moves items through shared memory as bits: T must be trivially"
                " copyable");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  // Threads of a warp, and of a slice: those whose items, in blocked arrangement, the storage holds.
  static constexpr int lanes = threads < warp_threads ? threads : warp_threads;
  static constexpr int slice_threads = WarpTimeSlicing ? lanes : threads;
  static constexpr int slices = (threads + slice_threads - 1) / slice_threads;
  using tile = detail::exchange_tile<T, ItemsPerThread, slice_threads>;

 public:
  struct TempStorage : Uninitialized<tile> {};

  STRATA_D BlockExchange() : BlockExchange(private_storage()) {}
  STRATA_D explicit BlockExchange(TempStorage& temp_storage)
      : tile_(temp_storage.Alias()), thread_(shape::thread_rank("BlockExchange")) {}

  template <class Output>
  STRATA_D void StripedToBlocked(const T (&input_items)[items_per_thread],
                                 Output (&output_items)[items_per_thread]) {
    in_slices(
        output_items, [&](int slice) { put_striped(slice, input_items); },
        [&](int slice, auto& items) { get_blocked(slice, items); });
  }
  STRATA_D void StripedToBlocked(T (&items)[items_per_thread]) { StripedToBlocked(items, items); }

  template <class Output>
  STRATA_D void BlockedToStriped(const T (&input_items)[items_per_thread],
                                 Output (&output_items)[items_per_thread]) {
    in_slices(
        output_items, [&](int slice) { put_blocked(slice, input_items); },
        [&](int slice, auto& items) { get_striped(slice, items); });
  }
  STRATA_D void BlockedToStriped(T (&items)[items_per_thread]) { BlockedToStriped(items, items); }

  template <class Output>
  STRATA_D void WarpStripedToBlocked(const T (&input_items)[items_per_thread],
                                     Output (&output_items)[items_per_thread]) {
    in_warp(
        output_items,
        [&](int group) { tile_.template put_striped<lanes>(lane(), input_items, group); },
        [&](int group, auto& items) { tile_.get_blocked(group + lane(), items); });
  }
  STRATA_D void WarpStripedToBlocked(T (&items)[items_per_thread]) {
    WarpStripedToBlocked(items, items);
  }

  template <class Output>
  STRATA_D void BlockedToWarpStriped(const T (&input_items)[items_per_thread],
                                     Output (&output_items)[items_per_thread]) {
    in_warp(
        output_items, [&](int group) { tile_.put_blocked(group + lane(), input_items); },
        [&](int group, auto& items) { tile_.template get_striped<lanes>(lane(), items, group); });
  }
  STRATA_D void BlockedToWarpStriped(T (&items)[items_per_thread]) {
    BlockedToWarpStriped(items, items);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D int warp() const { return thread_ / warp_threads; }
  STRATA_D int lane() const { return thread_ % warp_threads; }

  // Each slice's items are put by all threads that have some and then got by all that want some.
  // The results are kept aside until the last slice, for the output may be the input.
  template <class Output, class Put, class Get>
  STRATA_D void in_slices(Output (&output_items)[items_per_thread], const Put& put,
                          const Get& get) {
    T items[items_per_thread];
    STRATA_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      if (slice > 0) __syncthreads();
      put(slice);
      __syncthreads();
      get(slice, items);
    }
    assign(items, output_items);
  }

  // Exchanges in each warp, all at once or, in slices, one after the other.
  template <class Output, class Put, class Get>
  STRATA_D void in_warp(Output (&output_items)[items_per_thread], const Put& put, const Get& get) {
    static_assert(threads <= warp_threads || threads % warp_threads == 0,
                  "a warp-striped arrangement needs whole warps: choose a block of a multiple of 32"
                  " threads, or of at most 32, or a striped arrangement");
    STRATA_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      if (slice > 0) __syncthreads();
      if (slices == 1 || warp() == slice) {
        const int group = slices == 1 ? warp() * warp_threads : 0;
        T items[items_per_thread];
        put(group);
        __syncwarp(full_warp_mask >> (warp_threads - lanes));
        get(group, items);
        assign(items, output_items);
      }
    }
  }

  template <class Output>
  STRATA_D static void assign(const T (&items)[items_per_thread],
                              Output (&output_items)[items_per_thread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) output_items[i] = static_cast<Output>(items[i]);
  }

  // ---- the part of a thread's items that a slice holds
  STRATA_D void put_blocked(int slice, const T (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.put_blocked(thread_, items);
    } else {
      if (warp() == slice) tile_.put_blocked(lane(), items);
    }
  }
  STRATA_D void get_blocked(int slice, T (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.get_blocked(thread_, items);
    } else {
      if (warp() == slice) tile_.get_blocked(lane(), items);
    }
  }

  STRATA_D void put_striped(int slice, const T (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.template put_striped<threads>(thread_, items);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        const int start = i * threads - slice * tile::items;
        if (in_slice(start)) tile_.at(tile::position(start, thread_)) = items[i];
      }
    }
  }
  STRATA_D void get_striped(int slice, T (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.template get_striped<threads>(thread_, items);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        const int start = i * threads - slice * tile::items;
        if (in_slice(start)) items[i] = tile_.at(tile::position(start, thread_));
      }
    }
  }
  // Whether the slice has the item at `start + thread`; for most starts the answer is a constant.
  STRATA_D bool in_slice(int start) const {
    if (start <= -threads || start >= tile::items) return false;
    return start + thread_ >= 0 && start + thread_ < tile::items;
  }

  tile& tile_;
  int thread_;
};

STRATA_NAMESPACE_END

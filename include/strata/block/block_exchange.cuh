// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>

STRATA_NAMESPACE_BEGIN

/// Rearranges the items of a block, `ItemsPerThread` (N) of them in each thread, through shared memory. A tile
/// has B * N items, for B threads. There are three arrangements of a tile in the threads' arrays:
///
/// | arrangement  | `items[i]` of thread t is the tile's item |
/// |---|---|
/// | blocked      | `t * N + i` |
/// | striped      | `i * B + t` |
/// | warp-striped | `w * 32 * N + i * 32 + l`, where t is lane l of warp w |
///
/// - `XToY(input_items, output_items)` takes the tile in one arrangement and returns it in another,
///   converted to the output's type. Input and output may be the same array: `XToY(items)`.
/// - `ScatterToX(input_items, output_items, ranks)`: `input_items[i]` of any thread becomes the
///   tile's item `ranks[i]`. The block's ranks are 0 .. B * N - 1, each once. `ScatterToStripedGuarded`
///   omits items of negative rank, `ScatterToStripedFlagged` items whose flag is 0 or false. Items of the
///   tile that no rank names are then unspecified.
/// - Every thread of the block must call, in uniform control flow. Warp-striped arrangements need a multiple of 32
///   threads, or at most 32 threads. A block of L threads, at most 32, is one warp of L lanes: `items[i]` of lane l is
///   item `i * L + l`.
/// - `WarpTimeSlicing`: warps use a storage of 32 * N items one after the other, with up to two barriers for each warp.
///   This takes less shared memory and more time. Use it for large items.
/// - Shared memory: B * N items, or 32 * N with time slicing. If N is even, and items have more than 2 bytes, there are
///   gaps, each as large as the widest access to an item: at most one after every 32 items of 4 bytes, 16 of 8 bytes or
///   8 of 16 bytes. If items have 1 or 2 bytes, and the items of 32 threads exceed 128 bytes, the items of a thread are
///   rounded up to whole words. If the number of these words is even, there are gaps of 4 bytes. An item that takes
///   more than one access of 1, 2, 4, 8 or 16 bytes is rounded up to an odd number of units. A unit has as many bytes
///   as the alignment, but at least 4 and at most 16.
/// - Bank conflicts: none in blocked, striped and warp-striped accesses, for any N and items of any size, by
///   `conflict_degree` of ExchangeLayout. Two exceptions: the conflicts of a scatter depend on its ranks
///   (random ranks: about 3.5 wavefronts instead of 1), and if B is no multiple of 32, some rows of a
///   striped arrangement take 2 wavefronts.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. `__syncwarp()` is enough between two warp-striped calls without time slicing.
///   Objects of one type constructed without storage use the same storage.
/// - `T` must be trivially relocatable, and with time slicing have a default constructor.
///
/// Source: the arrangements and names are those of CUB. The gaps follow from the greatest common divisor of N
/// and the number of banks: see ExchangeLayout.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[128 * 24], sums[128 * 24];
///
/// // Each thread makes running sums of 24 neighbouring numbers, but loads and stores every 128th.
/// STRATA_KERNEL void running_sums_of_24(const int* in, int* out) {
///   using Exchange = strata::BlockExchange<int, 128, 24>;
///   STRATA_SHARED(temp_storage, Exchange::TempStorage);
///   int items[24];
///   for (unsigned i = 0; i < 24; ++i) items[i] = in[threadIdx.x + i * 128];
///   Exchange(temp_storage).StripedToBlocked(items);
///   for (int i = 1; i < 24; ++i) items[i] += items[i - 1];
///   __syncthreads();
///   Exchange(temp_storage).BlockedToStriped(items);
///   for (unsigned i = 0; i < 24; ++i) out[threadIdx.x + i * 128] = items[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 128 * 24; ++i) numbers[i] = i / 24;
///   if (strata::launch({"running_sums_of_24", 1, 128}, running_sums_of_24, numbers, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d ... %d, %d %d\n", sums[24], sums[25], sums[47], sums[48], sums[49]);
/// }
/// // prints: 1 2 ... 24, 2 4
/// @endcode
template <class T, int BlockDimX, int ItemsPerThread, bool WarpTimeSlicing = false, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockExchange {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(ItemsPerThread > 0, "BlockExchange needs at least one item per thread");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr int lanes = detail::least(threads, warp_threads);
  // The storage holds one slice at a time: the items of `slice_threads` threads in blocked arrangement.
  static constexpr int slice_threads = WarpTimeSlicing ? lanes : threads;
  static constexpr int slices = (threads + slice_threads - 1) / slice_threads;
  using tile = detail::exchange_tile<T, ItemsPerThread, slice_threads>;

  using layout = ExchangeLayout<T, ItemsPerThread>;
  using blocked = blocked_access<layout::unit_bytes, ItemsPerThread>;
  using striped = striped_access<layout::unit_bytes, ItemsPerThread>;
  // not for users: the layout keeps these promises for every T and ItemsPerThread
  static_assert(strata::conflict_degree(layout{}, blocked{}) == 1, "blocked accesses have bank conflicts");
  // not for users: as above
  static_assert(strata::conflict_degree(layout{}, striped{}) == 1, "striped accesses have bank conflicts");

 public:
  struct TempStorage : Uninitialized<tile> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockExchange() : BlockExchange(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockExchange(TempStorage& temp_storage)
      : tile_(temp_storage.Alias()), thread_(static_cast<unsigned>(shape::thread_rank("BlockExchange"))) {}

  /// Converts striped `input_items` to blocked `output_items`.
  template <class Output>
  STRATA_D void StripedToBlocked(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread]) {
    in_slices<to_blocked>(output_items, [&](int slice) { put_striped(slice, input_items); });
  }
  /// Converts striped items to blocked ones in place.
  STRATA_D void StripedToBlocked(T (&items)[items_per_thread]) { StripedToBlocked(items, items); }

  /// Converts blocked `input_items` to striped `output_items`.
  template <class Output>
  STRATA_D void BlockedToStriped(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread]) {
    in_slices<to_striped>(output_items, [&](int slice) { put_blocked(slice, input_items); });
  }
  /// Converts blocked items to striped ones in place.
  STRATA_D void BlockedToStriped(T (&items)[items_per_thread]) { BlockedToStriped(items, items); }

  /// Converts warp-striped `input_items` to blocked `output_items`.
  template <class Output>
  STRATA_D void WarpStripedToBlocked(const T (&input_items)[items_per_thread],
                                     Output (&output_items)[items_per_thread]) {
    in_warps(
        [&](unsigned first) {
          tile_.template put_striped<lanes>(lane(), input_items, tile::position_of_thread(first));
        },
        [&](unsigned first) { tile_.get_blocked(first + lane(), output_items); });
  }
  /// Converts warp-striped items to blocked ones in place.
  STRATA_D void WarpStripedToBlocked(T (&items)[items_per_thread]) { WarpStripedToBlocked(items, items); }

  /// Converts blocked `input_items` to warp-striped `output_items`.
  template <class Output>
  STRATA_D void BlockedToWarpStriped(const T (&input_items)[items_per_thread],
                                     Output (&output_items)[items_per_thread]) {
    in_warps([&](unsigned first) { tile_.put_blocked(first + lane(), input_items); },
             [&](unsigned first) {
               tile_.template get_striped<lanes>(lane(), output_items, tile::position_of_thread(first));
             });
  }
  /// Converts blocked items to warp-striped ones in place.
  STRATA_D void BlockedToWarpStriped(T (&items)[items_per_thread]) { BlockedToWarpStriped(items, items); }

  /// Moves each input item to its rank, and returns blocked items.
  template <class Output, class Offset>
  STRATA_D void ScatterToBlocked(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread],
                                 const Offset (&ranks)[items_per_thread]) {
    in_slices<to_blocked>(output_items, [&](int slice) { scatter(slice, input_items, ranks, all_items{}); });
  }
  /// Moves each item to its rank, and returns blocked items in the same array.
  template <class Offset>
  STRATA_D void ScatterToBlocked(T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread]) {
    ScatterToBlocked(items, items, ranks);
  }

  /// Moves each input item to its rank, and returns striped items.
  template <class Output, class Offset>
  STRATA_D void ScatterToStriped(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread],
                                 const Offset (&ranks)[items_per_thread]) {
    scatter_to_striped(input_items, output_items, ranks, all_items{});
  }
  /// Moves each item to its rank, and returns striped items in the same array.
  template <class Offset>
  STRATA_D void ScatterToStriped(T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread]) {
    ScatterToStriped(items, items, ranks);
  }

  /// Moves each input item of non-negative rank to its rank, and returns striped items.
  template <class Output, class Offset>
  STRATA_D void ScatterToStripedGuarded(const T (&input_items)[items_per_thread],
                                        Output (&output_items)[items_per_thread],
                                        const Offset (&ranks)[items_per_thread]) {
    scatter_to_striped(input_items, output_items, ranks, [&](int i) { return ranks[i] >= 0; });
  }
  /// Moves each item of non-negative rank to its rank, and returns striped items in the same array.
  template <class Offset>
  STRATA_D void ScatterToStripedGuarded(T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread]) {
    ScatterToStripedGuarded(items, items, ranks);
  }

  /// Moves each input item whose flag is set to its rank, and returns striped items.
  template <class Output, class Offset, class ValidFlag>
  STRATA_D void ScatterToStripedFlagged(const T (&input_items)[items_per_thread],
                                        Output (&output_items)[items_per_thread],
                                        const Offset (&ranks)[items_per_thread],
                                        const ValidFlag (&is_valid)[items_per_thread]) {
    scatter_to_striped(input_items, output_items, ranks, [&](int i) { return static_cast<bool>(is_valid[i]); });
  }
  /// Moves each item whose flag is set to its rank, and returns striped items in the same array.
  template <class Offset, class ValidFlag>
  STRATA_D void ScatterToStripedFlagged(T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread],
                                        const ValidFlag (&is_valid)[items_per_thread]) {
    ScatterToStripedFlagged(items, items, ranks, is_valid);
  }

 private:
  enum arrangement { to_blocked, to_striped };
  struct all_items {
    STRATA_D bool operator()(int) const { return true; }
  };

  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D int warp() const { return static_cast<int>(thread_ / warp_threads); }
  STRATA_D unsigned lane() const { return thread_ % warp_threads; }

  // For each slice, all threads write their items of the slice, then all read their results from it.
  template <arrangement Results, class Output, class Put>
  STRATA_D void in_slices(Output (&output_items)[items_per_thread], const Put& put) {
    if constexpr (slices == 1) {
      put(0);
      __syncthreads();
      get<Results>(0, output_items);
    } else {
      // A copy until the last slice is written, because the output may be the input.
      T items[items_per_thread];
      STRATA_UNROLL
      for (int slice = 0; slice < slices; ++slice) {
        if (slice > 0) __syncthreads();
        put(slice);
        __syncthreads();
        get<Results>(slice, items);
      }
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) output_items[i] = static_cast<Output>(items[i]);
    }
  }

  // Each warp exchanges its items, in its part of the storage or, with slices, one warp after the other.
  // `first` is the thread whose items are the first of this warp's part.
  template <class Put, class Get>
  STRATA_D void in_warps(const Put& put, const Get& get) {
    static_assert(threads <= warp_threads || threads % warp_threads == 0,
                  "a warp-striped arrangement needs whole warps: choose a block of a multiple of 32"
                  " threads or of at most 32, or the striped arrangement");
    STRATA_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      if (slice > 0) __syncthreads();
      if (slices == 1 || warp() == slice) {
        const unsigned first = slices == 1 ? thread_ - lane() : 0;
        put(first);
        __syncwarp(full_warp_mask >> (warp_threads - lanes));
        get(first);
      }
    }
  }

  template <class Output, class Offset, class IsValid>
  STRATA_D void scatter_to_striped(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread],
                                   const Offset (&ranks)[items_per_thread], const IsValid& is_valid) {
    if (!std::is_same_v<IsValid, all_items> && thread_ == 0) tile_.may_be_unwritten();
    in_slices<to_striped>(output_items, [&](int slice) { scatter(slice, input_items, ranks, is_valid); });
  }

  // ---- a thread's items in one slice
  STRATA_D void put_blocked(int slice, const T (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.put_blocked(thread_, items);
    } else {
      if (warp() == slice) tile_.put_blocked(lane(), items);
    }
  }
  template <class Output>
  STRATA_D void get_blocked(int slice, Output (&items)[items_per_thread]) {
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
        if (has_row_item(start)) tile_.put(tile::position(start, thread_), items[i]);
      }
    }
  }
  template <class Output>
  STRATA_D void get_striped(int slice, Output (&items)[items_per_thread]) {
    if constexpr (slices == 1) {
      tile_.template get_striped<threads>(thread_, items);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        const int start = i * threads - slice * tile::items;
        if (has_row_item(start)) items[i] = tile_.get(tile::position(start, thread_));
      }
    }
  }
  template <arrangement Results, class Output>
  STRATA_D void get(int slice, Output (&items)[items_per_thread]) {
    if constexpr (Results == to_blocked) {
      get_blocked(slice, items);
    } else {
      get_striped(slice, items);
    }
  }
  // True if `start + thread` is in the slice: a constant for most rows.
  STRATA_D bool has_row_item(int start) const {
    if (start <= -threads || start >= tile::items) return false;
    const int index = start + static_cast<int>(thread_);
    return index >= 0 && index < tile::items;
  }

  template <class Offset, class IsValid>
  STRATA_D void scatter(int slice, const T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread],
                        const IsValid& is_valid) {
    // One address for all items: under a condition, the compiler would compute it anew for each.
    constexpr bool is_conditional = !std::is_same_v<IsValid, all_items>;
    const typename tile::base base = is_conditional ? tile_.kept_base() : typename tile::base{};
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!is_valid(i)) continue;
      const int rank = static_cast<int>(ranks[i]);
      STRATA_ASSERT(rank >= 0 && rank < threads * ItemsPerThread, "BlockExchange: rank %d of item %d is not in 0 .. %d",
                    rank, i, threads * ItemsPerThread - 1);
      // One comparison: a rank below the slice becomes a large number.
      const unsigned index = static_cast<unsigned>(rank - slice * tile::items);
      if (slices == 1 || index < unsigned{tile::items}) {
        if constexpr (is_conditional) {
          tile_.put(base, tile::position(index), items[i]);
        } else {
          tile_.put(tile::position(index), items[i]);
        }
      }
    }
  }

  tile& tile_;
  unsigned thread_;
};

STRATA_NAMESPACE_END

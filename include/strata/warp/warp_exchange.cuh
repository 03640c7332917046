// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/specializations/warp_exchange_layout.hpp>
#include <strata/warp/specializations/warp_exchange_shuffle.cuh>

STRATA_NAMESPACE_BEGIN

/// How WarpExchange moves items.
enum WarpExchangeAlgorithm {
  /// Through shared memory, without bank conflicts.
  WARP_EXCHANGE_SMEM,
  /// With N items in each of W threads: by N shuffles for each 4 bytes of `T` (N / 2 * log2(N) if N = W is a power of
  /// two), and by a number of selections in the order of N * log(N). It takes no shared memory, and cannot scatter.
  WARP_EXCHANGE_SHUFFLE,
};

/// Rearranges the items of a logical warp of W threads, `ItemsPerThread` (N) of them in each. In the
/// blocked arrangement `items[i]` of lane l is item `l * N + i` of all W * N, in the striped one it is
/// item `i * W + l`.
///
/// - `XToY(input_items, output_items)` converts to the output's type. Input and output may be the same
///   array: `XToY(items)`.
/// - `ScatterToStriped(input_items, output_items, ranks)`, also in place: `input_items[i]` of any lane
///   becomes the striped arrangement's item `ranks[i]`. The logical warp's ranks are 0 .. W * N - 1, each
///   once. Not for WARP_EXCHANGE_SHUFFLE.
/// - A logical warp has 1 to 32 threads. A power of two divides each warp into 32 / W logical warps, side by side. With
///   another width, the first lanes of each warp are its only logical warp, and the other lanes must not call.
/// - All lanes of a logical warp must call together. Those of other logical warps need not.
/// - Each logical warp needs its own `TempStorage`, an element of an array in shared memory: W * N items and
///   the gaps of their layout. WARP_EXCHANGE_SHUFFLE does not use it.
/// - Bank conflicts: none in blocked and striped accesses, for any N and items of any size, if the storages
///   of a warp's logical warps are consecutive and all of them call together. Two exceptions: striped
///   accesses of items of 1 or 2 bytes if W is 2, or striped accesses if W is no power of two, may take 2
///   wavefronts instead of 1. The conflicts of a scatter depend on its ranks.
/// - Between two calls that use the same storage, the logical warp's lanes must call `__syncwarp()`.
///   WARP_EXCHANGE_SHUFFLE needs no barrier.
/// - `T` must be trivially relocatable.
///
/// Source: arrangements and names are those of CUB. Its WARP_EXCHANGE_SHUFFLE requires N = W.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[112], sums[16];
///
/// // 16 lanes load every 16th number, and then add up 7 neighbouring ones each.
/// STRATA_KERNEL void sums_of_7(const int* in, int* out) {
///   using Exchange = strata::WarpExchange<int, 7, 16>;
///   STRATA_SHARED(temp_storage, Exchange::TempStorage);
///   int items[7];
///   for (unsigned i = 0; i < 7; ++i) items[i] = in[i * 16 + threadIdx.x];
///   Exchange(temp_storage).StripedToBlocked(items);
///   int sum = 0;
///   for (const int item : items) sum += item;
///   out[threadIdx.x] = sum;
/// }
///
/// int main() {
///   for (int i = 0; i < 112; ++i) numbers[i] = i;
///   if (strata::launch({"sums_of_7", 1, 16}, sums_of_7, numbers, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d ... %d\n", sums[0], sums[1], sums[15]);
/// }
/// // prints: 21 70 ... 756
/// @endcode
template <class T, int ItemsPerThread, int LogicalWarpThreads = warp_threads,
          WarpExchangeAlgorithm Algorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(ItemsPerThread > 0, "WarpExchange needs at least one item per thread");
  static constexpr bool shuffles = Algorithm == WARP_EXCHANGE_SHUFFLE;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  using logical_warp = detail::logical_warp<LogicalWarpThreads>;

  using layout = detail::warp_exchange_layout<T, ItemsPerThread, LogicalWarpThreads>;
  using tile = detail::exchange_tile<T, ItemsPerThread, LogicalWarpThreads, layout>;
  using shuffle = detail::warp_exchange_shuffle<T, ItemsPerThread, LogicalWarpThreads>;
  using storages = detail::warp_exchange_storages<T, ItemsPerThread, LogicalWarpThreads>;
  using blocked = blocked_access<layout::unit_bytes, ItemsPerThread>;
  using striped = detail::logical_warps_striped_access<layout::unit_bytes, ItemsPerThread, LogicalWarpThreads>;
  static constexpr bool may_conflict = !detail::is_power_of_two(LogicalWarpThreads) ||
                                       (LogicalWarpThreads == 2 && layout::unit_bytes < shared_memory_bank_bytes);
  // not for users: the layout keeps these promises for every T, ItemsPerThread and LogicalWarpThreads
  static_assert(shuffles || strata::conflict_degree(storages{}, blocked{}) == 1,
                "blocked accesses have bank conflicts");
  // not for users: as above
  static_assert(shuffles || strata::conflict_degree(storages{}, striped{}) <= (may_conflict ? 2 : 1),
                "striped accesses have bank conflicts");

 public:
  struct TempStorage : Uninitialized<std::conditional_t<shuffles, NullType, tile>> {};

  /// Uses `temp_storage`, which all lanes of the logical warp pass.
  STRATA_D explicit WarpExchange(TempStorage& temp_storage) : temp_storage_(temp_storage) {}

  /// Converts blocked `input_items` to striped `output_items`.
  template <class Output>
  STRATA_D void BlockedToStriped(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread]) {
    if constexpr (shuffles) {
      shuffle().blocked_to_striped(input_items, output_items);
    } else {
      items().put_blocked(lane(), input_items);
      __syncwarp(warp_.mask());
      items().template get_striped<LogicalWarpThreads>(lane(), output_items);
    }
  }
  /// Converts blocked items to striped ones in place.
  STRATA_D void BlockedToStriped(T (&items)[items_per_thread]) { BlockedToStriped(items, items); }

  /// Converts striped `input_items` to blocked `output_items`.
  template <class Output>
  STRATA_D void StripedToBlocked(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread]) {
    if constexpr (shuffles) {
      shuffle().striped_to_blocked(input_items, output_items);
    } else {
      items().template put_striped<LogicalWarpThreads>(lane(), input_items);
      __syncwarp(warp_.mask());
      items().get_blocked(lane(), output_items);
    }
  }
  /// Converts striped items to blocked ones in place.
  STRATA_D void StripedToBlocked(T (&items)[items_per_thread]) { StripedToBlocked(items, items); }

  /// Moves each input item to its rank, and returns striped items.
  template <class Output, class Offset>
  STRATA_D void ScatterToStriped(const T (&input_items)[items_per_thread], Output (&output_items)[items_per_thread],
                                 const Offset (&ranks)[items_per_thread]) {
    static_assert(!shuffles || sizeof(Offset) == 0, "WARP_EXCHANGE_SHUFFLE cannot scatter: use WARP_EXCHANGE_SMEM");
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const int rank = static_cast<int>(ranks[i]);
      STRATA_ASSERT(rank >= 0 && rank < LogicalWarpThreads * ItemsPerThread,
                    "WarpExchange: rank %d of item %d is not in 0 .. %d", rank, i,
                    LogicalWarpThreads * ItemsPerThread - 1);
      items().put(tile::position(static_cast<unsigned>(rank)), input_items[i]);
    }
    __syncwarp(warp_.mask());
    items().template get_striped<LogicalWarpThreads>(lane(), output_items);
  }
  /// Moves each item to its rank, and returns striped items in the same array.
  template <class Offset>
  STRATA_D void ScatterToStriped(T (&items)[items_per_thread], const Offset (&ranks)[items_per_thread]) {
    ScatterToStriped(items, items, ranks);
  }

 private:
  STRATA_D tile& items() { return temp_storage_.Alias(); }
  STRATA_D unsigned lane() const { return static_cast<unsigned>(warp_.lane()); }

  TempStorage& temp_storage_;
  logical_warp warp_;
};

STRATA_NAMESPACE_END

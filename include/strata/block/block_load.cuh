// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/specializations/exchange_storage.hpp>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// How BlockLoad reads memory, and which items a thread gets.
enum BlockLoadAlgorithm {
  /// Blocked arrangement, item by item: neighbouring threads are ItemsPerThread items apart. Efficient only
  /// for a small number of items per thread.
  BLOCK_LOAD_DIRECT,
  /// Striped arrangement: every access of a warp is to consecutive items.
  BLOCK_LOAD_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes, for pointers to T that are aligned to such words. Other pointers
  /// and iterators are loaded as by BLOCK_LOAD_DIRECT.
  BLOCK_LOAD_VECTORIZE,
  /// Blocked arrangement: memory is read as by BLOCK_LOAD_STRIPED, then items change threads
  /// through shared memory. For any iterator and any number of items.
  BLOCK_LOAD_TRANSPOSE,
  /// Blocked arrangement, as BLOCK_LOAD_TRANSPOSE within each warp, without a barrier of the block. Needs a multiple of
  /// 32 threads.
  BLOCK_LOAD_WARP_TRANSPOSE,
  /// Blocked arrangement, as BLOCK_LOAD_WARP_TRANSPOSE, one warp after the other through the shared memory of one warp.
  /// This needs less memory, but a barrier between warps.
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

/// Loads a tile of `threads * ItemsPerThread` items, `ItemsPerThread` of them into each thread of a block,
/// from any random-access iterator whose values convert to `T`.
///
/// - `valid_items`: only the first `valid_items` items of the tile are read (none if it is not positive).
///   With every algorithm, the other items keep their value or become `oob_default`.
/// - BLOCK_LOAD_DIRECT, _STRIPED and _VECTORIZE: threads do not wait for each other, and a thread may load
///   alone. These algorithms use no shared memory: they have a `TempStorage` only to make the interface uniform.
/// - The transposing algorithms: every thread of the block must call, in uniform control flow, with the same
///   `valid_items`. `T` must be trivially relocatable. With `valid_items` and without `oob_default`, it must also have
///   a default constructor. The block must call `__syncthreads()` between two calls that use the same storage, and
///   before the storage is used for anything else. Objects of one type constructed without storage use the same
///   storage. Shared memory: that of BlockExchange, about the size of the tile, or of one warp's items if time-sliced.
///   No bank conflicts in blocks of a multiple of 32 threads; in other blocks, some striped accesses of
///   BLOCK_LOAD_TRANSPOSE take 2 wavefronts.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ short numbers[100];
/// __managed__ int sums[64];
///
/// // Each thread adds up 15 neighbouring numbers, which come in order. Behind the last number there are zeros.
/// STRATA_KERNEL void sums_of_15(const short* in, int count, int* out) {
///   using Load = strata::BlockLoad<int, 64, 15, strata::BLOCK_LOAD_WARP_TRANSPOSE>;
///   STRATA_SHARED(temp_storage, Load::TempStorage);
///   int items[15];
///   Load(temp_storage).Load(in, items, count, 0);
///   int sum = 0;
///   for (const int item : items) sum += item;
///   out[threadIdx.x] = sum;
/// }
///
/// int main() {
///   for (short& number : numbers) number = 2;
///   if (strata::launch({"sums_of_15", 1, 64}, sums_of_15, numbers, 100, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 4; i < 9; ++i) std::printf("%d ", sums[i]);
/// }
/// // prints: 30 30 20 0 0
/// @endcode
template <class T, int BlockDimX, int ItemsPerThread, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockLoad {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;

  static constexpr bool time_sliced = Algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool warp_transposes = Algorithm == BLOCK_LOAD_WARP_TRANSPOSE || time_sliced;
  static constexpr bool transposes = Algorithm == BLOCK_LOAD_TRANSPOSE || warp_transposes;
  static_assert(!warp_transposes || shape::threads % warp_threads == 0,
                "BLOCK_LOAD_WARP_TRANSPOSE and BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED need whole warps:"
                " choose a block of a multiple of 32 threads, or BLOCK_LOAD_TRANSPOSE");
  using exchange = BlockExchange<T, BlockDimX, ItemsPerThread, time_sliced, BlockDimY, BlockDimZ>;
  using storage = typename detail::exchange_storage<transposes, exchange>::type;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockLoad() : BlockLoad(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockLoad(TempStorage& temp_storage) : BlockLoad(&temp_storage) {}

  /// Loads a full tile.
  template <class Iterator>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread]) {
    load(block_src_it, dst_items);
    transpose(dst_items);
  }

  /// Loads the first `valid_items` items of the tile. Other items keep their value.
  template <class Iterator>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread], int valid_items) {
    if constexpr (transposes) {
      // An item that keeps its value must not be exchanged with another thread's.
      T loaded[items_per_thread] = {};
      load(block_src_it, loaded, valid_items);
      transpose(loaded);
      detail::take_blocked(thread_, loaded, dst_items, valid_items);
    } else {
      load(block_src_it, dst_items, valid_items);
    }
  }

  /// Loads the first `valid_items` items of the tile. Other items become `oob_default`.
  template <class Iterator, class Default>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread], int valid_items, Default oob_default) {
    detail::fill_items(dst_items, oob_default);
    load(block_src_it, dst_items, valid_items);
    transpose(dst_items);
  }

 private:
  STRATA_D explicit BlockLoad(TempStorage* temp_storage)
      : storage_(temp_storage), thread_(shape::thread_rank("BlockLoad")) {}

  STRATA_D static TempStorage* private_storage() {
    if constexpr (transposes) {
      STRATA_SHARED(temp_storage, TempStorage);
      return &temp_storage;
    } else {
      return nullptr;
    }
  }

  // Loads items in the arrangement in which memory is read. `end` is empty or the number of valid items.
  template <class Iterator, class... End>
  STRATA_D void load(Iterator from, T (&items)[items_per_thread], End... end) {
    if constexpr (Algorithm == BLOCK_LOAD_DIRECT) {
      strata::LoadDirectBlocked(thread_, from, items, end...);
    } else if constexpr (Algorithm == BLOCK_LOAD_VECTORIZE) {
      detail::load_blocked_in_words(thread_, from, items, end...);
    } else if constexpr (warp_transposes) {
      strata::LoadDirectWarpStriped(thread_, from, items, end...);
    } else {
      strata::LoadDirectStriped<shape::threads>(thread_, from, items, end...);
    }
  }

  // Moves items from the arrangement in which memory is read to the arrangement of the algorithm.
  STRATA_D void transpose([[maybe_unused]] T (&items)[items_per_thread]) {
    if constexpr (warp_transposes) {
      exchange(storage_->Alias()).WarpStripedToBlocked(items, items);
    } else if constexpr (transposes) {
      exchange(storage_->Alias()).StripedToBlocked(items, items);
    }
  }

  TempStorage* storage_;
  int thread_;
};

STRATA_NAMESPACE_END

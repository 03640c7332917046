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
#include <strata/thread/thread_store_direct.cuh>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// How BlockStore writes memory, and where a thread's items belong.
enum BlockStoreAlgorithm {
  /// Blocked arrangement, item by item: neighbouring threads are ItemsPerThread items apart. Efficient only
  /// for a small number of items per thread.
  BLOCK_STORE_DIRECT,
  /// Striped arrangement: every access of a warp is to consecutive items.
  BLOCK_STORE_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes, for pointers to T that are aligned to such words. Other pointers
  /// and iterators are written as by BLOCK_STORE_DIRECT.
  BLOCK_STORE_VECTORIZE,
  /// Blocked arrangement: items change threads through shared memory, then memory is written as by
  /// BLOCK_STORE_STRIPED. For any iterator and any number of items.
  BLOCK_STORE_TRANSPOSE,
  /// Blocked arrangement, as BLOCK_STORE_TRANSPOSE within each warp, without a barrier of the block. Needs a multiple
  /// of 32 threads.
  BLOCK_STORE_WARP_TRANSPOSE,
  /// Blocked arrangement, as BLOCK_STORE_WARP_TRANSPOSE, one warp after the other through the shared memory of one
  /// warp. This needs less memory, but a barrier between warps.
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

/// Stores a tile of `threads * ItemsPerThread` items, `ItemsPerThread` of them from each thread of
/// a block, to any random-access iterator. The counterpart of BlockLoad.
///
/// - `valid_items`: only the first `valid_items` items of the tile are written (none if it is not positive).
/// - BLOCK_STORE_DIRECT, _STRIPED and _VECTORIZE: threads do not wait for each other, and a thread may store
///   alone. They use no shared memory: `TempStorage` makes the interface uniform.
/// - The transposing algorithms: calling threads, barriers and shared memory as for BlockLoad. `T` must be trivially
///   relocatable and have a default constructor.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int powers[100];
///
/// // Each thread computes 5 neighbouring powers of 3, modulo 1000. They go to memory in order, up to the 100th.
/// STRATA_KERNEL void powers_of_3(int* out, int count) {
///   using Store = strata::BlockStore<int, 32, 5, strata::BLOCK_STORE_TRANSPOSE>;
///   STRATA_SHARED(temp_storage, Store::TempStorage);
///   int items[5] = {1};
///   for (unsigned i = 0; i < threadIdx.x * 5; ++i) items[0] = items[0] * 3 % 1000;
///   for (int i = 1; i < 5; ++i) items[i] = items[i - 1] * 3 % 1000;
///   Store(temp_storage).Store(out, items, count);
/// }
///
/// int main() {
///   if (strata::launch({"powers_of_3", 1, 32}, powers_of_3, powers, 100) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 8; ++i) std::printf("%d ", powers[i]);
/// }
/// // prints: 1 3 9 27 81 243 729 187
/// @endcode
template <class T, int BlockDimX, int ItemsPerThread, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockStore {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;

  static constexpr bool time_sliced = Algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool warp_transposes = Algorithm == BLOCK_STORE_WARP_TRANSPOSE || time_sliced;
  static constexpr bool transposes = Algorithm == BLOCK_STORE_TRANSPOSE || warp_transposes;
  static_assert(!warp_transposes || shape::threads % warp_threads == 0,
                "BLOCK_STORE_WARP_TRANSPOSE and BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED need whole"
                " warps: choose a block of a multiple of 32 threads, or BLOCK_STORE_TRANSPOSE");
  using exchange = BlockExchange<T, BlockDimX, ItemsPerThread, time_sliced, BlockDimY, BlockDimZ>;
  using storage = typename detail::exchange_storage<transposes, exchange>::type;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockStore() : BlockStore(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockStore(TempStorage& temp_storage) : BlockStore(&temp_storage) {}

  /// Stores a full tile.
  template <class Iterator>
  STRATA_D void Store(Iterator block_itr, const T (&items)[items_per_thread]) {
    store(block_itr, items);
  }

  /// Stores the first `valid_items` items of the tile.
  template <class Iterator>
  STRATA_D void Store(Iterator block_itr, const T (&items)[items_per_thread], int valid_items) {
    store(block_itr, items, valid_items);
  }

 private:
  STRATA_D explicit BlockStore(TempStorage* temp_storage)
      : storage_(temp_storage), thread_(shape::thread_rank("BlockStore")) {}

  STRATA_D static TempStorage* private_storage() {
    if constexpr (transposes) {
      STRATA_SHARED(temp_storage, TempStorage);
      return &temp_storage;
    } else {
      return nullptr;
    }
  }

  // `end` is empty or the number of valid items.
  template <class Iterator, class... End>
  STRATA_D void store(Iterator to, const T (&items)[items_per_thread], End... end) {
    if constexpr (Algorithm == BLOCK_STORE_DIRECT) {
      strata::StoreDirectBlocked(thread_, to, items, end...);
    } else if constexpr (Algorithm == BLOCK_STORE_VECTORIZE) {
      detail::store_blocked_in_words(thread_, to, items, end...);
    } else if constexpr (Algorithm == BLOCK_STORE_STRIPED) {
      strata::StoreDirectStriped<shape::threads>(thread_, to, items, end...);
    } else {
      T exchanged[items_per_thread];
      if constexpr (warp_transposes) {
        exchange(storage_->Alias()).BlockedToWarpStriped(items, exchanged);
        strata::StoreDirectWarpStriped(thread_, to, exchanged, end...);
      } else {
        exchange(storage_->Alias()).BlockedToStriped(items, exchanged);
        strata::StoreDirectStriped<shape::threads>(thread_, to, exchanged, end...);
      }
    }
  }

  TempStorage* storage_;
  int thread_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/top_k_calls.cuh>
#include <strata/warp/specializations/top_k_threshold.cuh>

STRATA_NAMESPACE_BEGIN

/// Finds the `k` greatest or least of the keys that the threads of a block hold, alone or with values, and moves
/// them to the front.
///
/// | call | results |
/// |---|---|
/// | `MaxKeys`, `MinKeys` | in the order of the input |
/// | `MaxKeysSorted`, `MinKeysSorted` | in the order of a stable sort: descending for the greatest |
/// | `MaxPairs`, `MinPairs`, `MaxPairsSorted`, `MinPairsSorted` | as above, with the values of the keys |
///
/// - Arguments are `(keys, k)` or `(keys, values, k)`. A last argument `valid_items` says that only the first
///   `valid_items` items of the tile are valid. `k` and `valid_items` may be any numbers: too large ones mean all
///   items, negative ones none.
/// - Each call returns the number of results, to all threads: the smaller of `k` and the number of valid items.
/// - Input and results are in blocked arrangement: item i of thread t is number t * N + i, where N is `ItemsPerThread`.
///   Items behind the results are unspecified.
/// - Among equal keys, the first ones in the input are taken. Keys are integers of up to 128 bits, enumerations, and
///   floating-point numbers of 8 (`__nv_fp8_e4m3`, `__nv_fp8_e5m2`) to 64 bits, in the order of BlockRadixSort: -0.0 is
///   equal to +0.0, and all NaN are equal and greater than +infinity. Keys are moved unchanged.
/// - A block of whole warps, of any shape. Every thread must call, in uniform control flow, with the same `k` and
///   `valid_items`. At most 32,768 items.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the storage is used for
///   anything else. Objects of one type constructed without storage share theirs.
/// - **Work.** First, a search for the k-th key. In each step, threads count items, and the block adds up the counts,
///   with one barrier. If keys are spread evenly, there are about 3 to 6 steps. There are never more than the number of
///   bits of a key plus four. Then keys move through shared memory, and after them the values. Sorted results are
///   sorted by BlockRadixSort.
/// - `KeyT` and `ValueT` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float scores[500];
/// __managed__ int chosen[4];
///
/// // A block chooses four of up to 512 scores.
/// STRATA_KERNEL void choose(const float* in, int count, int* out) {
///   using TopK = strata::BlockTopK<float, 128, 4, int>;
///   STRATA_SHARED(temp_storage, TopK::TempStorage);
///   const int first = static_cast<int>(threadIdx.x) * 4;
///   float keys[4];
///   int indices[4];
///   for (int i = 0; i < 4; ++i) {
///     indices[i] = first + i;
///     keys[i] = first + i < count ? in[first + i] : 0;
///   }
///   const int results = TopK(temp_storage).MaxPairs(keys, indices, 4, count);
///   for (int i = 0; i < 4 && first + i < results; ++i) out[first + i] = indices[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 500; ++i) scores[i] = static_cast<float>(i * 37 % 500);
///   if (strata::launch({"choose", 1, 128}, choose, scores, 500, chosen) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int index : chosen) std::printf("%d ", index);
/// }
/// // prints: 27 54 81 108
/// @endcode
template <class KeyT, int BlockDimX, int ItemsPerThread, class ValueT = NullType, int BlockDimY = 1, int BlockDimZ = 1>
class BlockTopK : public detail::top_k_calls<BlockTopK<KeyT, BlockDimX, ItemsPerThread, ValueT, BlockDimY, BlockDimZ>,
                                             KeyT, ItemsPerThread, ValueT> {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static_assert(shape::threads % warp_threads == 0,
                "BlockTopK needs blocks of whole warps: choose a multiple of 32 threads");
  static_assert(shape::threads * ItemsPerThread <= 32768,
                "BlockTopK: a block has at most 32,768 items: choose fewer "
                "threads or fewer items per thread");
  using calls = detail::top_k_calls<BlockTopK<KeyT, BlockDimX, ItemsPerThread, ValueT, BlockDimY, BlockDimZ>, KeyT,
                                    ItemsPerThread, ValueT>;
  using radix_sort = BlockRadixSort<KeyT, BlockDimX, ItemsPerThread, ValueT, 4, true, BLOCK_SCAN_WARP_SCANS,
                                    cudaSharedMemBankSizeFourByte, BlockDimY, BlockDimZ>;
  using scan = BlockScan<unsigned, BlockDimX, BLOCK_SCAN_WARP_SCANS, BlockDimY, BlockDimZ>;
  using team_type = detail::top_k_block<shape::threads, typename calls::code>;
  struct storage {
    typename team_type::storage team;
    union {
      typename scan::TempStorage counts;
      typename calls::template exchange<shape::threads> items;
      typename radix_sort::TempStorage sort;
    };
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockTopK() : BlockTopK(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockTopK(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockTopK")), team_(storage_.team, thread_) {}

 private:
  friend calls;
  static constexpr int threads = shape::threads;

  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D int thread() const { return thread_; }
  STRATA_D auto& exchange() { return storage_.items; }
  STRATA_D void synchronise() const { __syncthreads(); }
  STRATA_D team_type& team() { return team_; }
  STRATA_D unsigned sum_before(unsigned count) {
    unsigned before;
    scan(storage_.counts).ExclusiveSum(count, before);
    __syncthreads();
    return before;
  }
  template <bool IsMax, class Values>
  STRATA_D void sort(KeyT (&keys)[static_cast<std::size_t>(ItemsPerThread)], Values& values, int count) {
    radix_sort sorter(storage_.sort);
    if constexpr (std::is_same_v<Values, NullType>) {
      if constexpr (IsMax) {
        sorter.SortDescendingPartialTile(keys, count);
      } else {
        sorter.SortPartialTile(keys, count);
      }
    } else if constexpr (IsMax) {
      sorter.SortDescendingPartialTile(keys, values, count);
    } else {
      sorter.SortPartialTile(keys, values, count);
    }
  }

  storage& storage_;
  const int thread_;
  team_type team_;
};

STRATA_NAMESPACE_END

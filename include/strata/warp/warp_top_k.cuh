// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/top_k_calls.cuh>
#include <strata/warp/specializations/top_k_threshold.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN

/// Finds the `k` greatest or least of the keys that the threads of a logical warp hold, alone or with values, and moves
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
/// - Each call returns the number of results, to all lanes: the smaller of `k` and the number of valid items.
/// - Input and results are in blocked arrangement: item i of lane l is number l * N + i, where N is `ItemsPerThread`.
///   Items behind the results are unspecified.
/// - Among equal keys, the first ones in the input are taken. Keys are integers of up to 128 bits, enumerations, and
///   floating-point numbers of 8 (`__nv_fp8_e4m3`, `__nv_fp8_e5m2`) to 64 bits, in the order of BlockRadixSort: -0.0 is
///   equal to +0.0, and all NaN are equal and greater than +infinity. Keys are moved unchanged.
/// - A logical warp has 1 to 32 threads, a power of two. All of its lanes must call together, with the same `k` and
///   `valid_items`.
/// - Each logical warp needs its own `TempStorage`. Its lanes must call `__syncwarp()` between two calls that use the
///   same storage, and before the storage is used for anything else.
/// - **Work.** First, a search for the k-th key. In each step, lanes count items, and the logical warp adds up the
///   counts. If keys are spread evenly, there are about 3 to 6 steps. There are never more than the number of bits of a
///   key plus four. Then keys are exchanged in shared memory, and values after them. Sorted results are sorted by
///   WarpMergeSort.
/// - `KeyT` and `ValueT` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float scores[64];
/// __managed__ int chosen[3];
///
/// // A warp chooses the three best of 64 scores.
/// STRATA_KERNEL void choose(const float* in, int* out) {
///   using TopK = strata::WarpTopK<float, 2, 32, int>;
///   STRATA_SHARED(temp_storage, TopK::TempStorage);
///   const int lane = static_cast<int>(threadIdx.x);
///   float keys[2] = {in[2 * lane], in[2 * lane + 1]};
///   int indices[2] = {2 * lane, 2 * lane + 1};
///   const int results = TopK(temp_storage).MaxPairsSorted(keys, indices, 3);
///   for (int i = 0; i < 2; ++i) {
///     if (2 * lane + i < results) out[2 * lane + i] = indices[i];
///   }
/// }
///
/// int main() {
///   for (int i = 0; i < 64; ++i) scores[i] = static_cast<float>(i * 37 % 64);
///   if (strata::launch({"choose", 1, 32}, choose, scores, chosen) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d\n", chosen[0], chosen[1], chosen[2]);
/// }
/// // prints: 19 38 57
/// @endcode
template <class KeyT, int ItemsPerThread, int LogicalWarpThreads = warp_threads, class ValueT = NullType>
class WarpTopK : public detail::top_k_calls<WarpTopK<KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>, KeyT,
                                            ItemsPerThread, ValueT> {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= warp_threads &&
                    detail::is_power_of_two(LogicalWarpThreads),
                "WarpTopK: LogicalWarpThreads must be a power of two from 1 to 32");
  static_assert(LogicalWarpThreads * ItemsPerThread <= 32768,
                "WarpTopK: a logical warp has at most 32,768 items: choose fewer items per thread");
  using calls =
      detail::top_k_calls<WarpTopK<KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>, KeyT, ItemsPerThread, ValueT>;
  using merge_sort = WarpMergeSort<KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>;
  using scan = WarpScan<unsigned, LogicalWarpThreads>;
  union storage {
    typename calls::template exchange<LogicalWarpThreads> items;
    typename merge_sort::TempStorage sort;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses `temp_storage`, which all lanes of the logical warp pass.
  STRATA_D explicit WarpTopK(TempStorage& temp_storage) : storage_(temp_storage.Alias()) {}

 private:
  friend calls;
  static constexpr int threads = LogicalWarpThreads;

  STRATA_D int thread() const { return team_.lanes().lane(); }
  STRATA_D auto& exchange() { return storage_.items; }
  STRATA_D void synchronise() const { __syncwarp(team_.lanes().mask()); }
  STRATA_D const detail::top_k_warp<threads>& team() const { return team_; }
  STRATA_D unsigned sum_before(unsigned count) {
    typename scan::TempStorage unused;
    unsigned before;
    scan(unused).ExclusiveSum(count, before);
    return before;
  }
  template <bool IsMax, class Values>
  STRATA_D void sort(KeyT (&keys)[static_cast<std::size_t>(ItemsPerThread)], Values& values, int count) {
    merge_sort sorter(storage_.sort);
    if constexpr (std::is_same_v<Values, NullType>) {
      sorter.StableSortPartialTile(keys, count, detail::comes_first<KeyT, IsMax>{});
    } else {
      sorter.StableSortPartialTile(keys, values, count, detail::comes_first<KeyT, IsMax>{});
    }
  }

  storage& storage_;
  detail::top_k_warp<threads> team_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/specializations/merge_sort_levels.cuh>
#include <strata/warp/specializations/word_sort.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A logical warp as a team of merge_sort_levels. If `IsTogether`, all logical warps of the warp sort at the same time,
/// and barriers, votes and shuffles have the mask of the whole warp. With the mask of a part of the warp, each of them
/// takes five instructions more, which find out whether the lanes of the mask are together.
template <int Threads, bool IsTogether = false>
class merge_sort_warp {
  static constexpr bool has_neighbours = is_power_of_two(Threads) && Threads > 1 && Threads < warp_threads;

 public:
  using together_type = std::conditional_t<has_neighbours && !IsTogether, merge_sort_warp<Threads, true>, void>;
  STRATA_D together_type together() const { return together_type(); }

  STRATA_D int thread() const { return warp_.lane(); }
  STRATA_D unsigned mask() const { return warp_.mask(); }
  static constexpr int warp_levels = 5;
  template <bool>
  STRATA_D void synchronise() const {
    __syncwarp(IsTogether ? full_warp_mask : warp_.mask());
  }

  template <bool Warp>
  STRATA_D merge_sort_fit slices_fit(int, bool goes_on, int start, int end, int last) const {
    if constexpr (IsTogether) {
      const int next_start = platform::shuffle_down(full_warp_mask, start, 1u, Threads);
      const unsigned unfit = __ballot_sync(full_warp_mask, end != (goes_on ? next_start : last));
      synchronise<Warp>();
      return {unfit == 0, (unfit & warp_.mask()) == 0};
    } else {
      const int next_start = warp_.from_above(start, 1);
      const bool fit = warp_.ballot(end != (goes_on ? next_start : last)) == 0;
      synchronise<Warp>();
      return {fit, fit};
    }
  }

 private:
  logical_warp<Threads> warp_;
};

}  // namespace detail

/// Sorts the keys of a logical warp of W threads, and the values that belong to them, by any comparator, stably. Each
/// thread has `ItemsPerThread` (N) keys. Arguments and results are the same as in BlockMergeSort, with a logical warp
/// instead of the block:
///
/// - Blocked: item i of lane l is number l * N + i.
/// - A logical warp has 1 to 32 threads. If W is a power of two, each warp has 32 / W logical warps, side by side.
///   Otherwise each warp has one logical warp, its first W lanes, and the other lanes must not call.
/// - All lanes of a logical warp must call together, with the same `valid_items`. Lanes of different logical warps need
///   not call together. If all logical warps of a warp call together with full tiles, they take less time.
/// - Each logical warp has its own `TempStorage`, an element of an array in shared memory. It is as large as the
///   `TempStorage` of BlockMergeSort for W threads, without the bytes that BlockMergeSort needs for its warps. Blocked
///   accesses of whole warps have no bank conflicts.
/// - If W is a power of two, and N is 1, 2, 4, 8 or 16, integers of 4 and 8 bytes without values are sorted by minima
///   and maxima, without shared memory, if `compare` is one of the comparators that BlockMergeSort knows.
/// - The lanes of the logical warp must call `__syncwarp()` between two calls that use the same storage, and before the
///   storage is used for anything else.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct is_less {
///   STRATA_HD bool operator()(float a, float b) const { return a < b; }
/// };
/// __managed__ float numbers[3 * 80];
///
/// // Sorts rows of 80 numbers, each by a logical warp of 8 lanes.
/// STRATA_KERNEL void sort_rows(float* keys, int rows) {
///   using Sort = strata::WarpMergeSort<float, 10, 8>;
///   STRATA_SHARED(temp_storage, Sort::TempStorage[128 / 8]);
///   const int row = static_cast<int>(threadIdx.x) / 8, first = static_cast<int>(threadIdx.x) * 10;
///   if (row >= rows) return;
///   float lane_keys[10];
///   for (int i = 0; i < 10; ++i) lane_keys[i] = keys[first + i];
///   Sort(temp_storage[row]).Sort(lane_keys, is_less{});
///   for (int i = 0; i < 10; ++i) keys[first + i] = lane_keys[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 3 * 80; ++i) numbers[i] = static_cast<float>(i * 37 % 240);
///   if (strata::launch({"sort_rows", 1, 128}, sort_rows, numbers, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int row = 0; row < 3; ++row) std::printf("%g to %g\n", numbers[row * 80], numbers[row * 80 + 79]);
/// }
/// // prints: 0 to 227
/// // prints: 7 to 233
/// // prints: 13 to 239
/// @endcode
template <class KeyT, int ItemsPerThread, int LogicalWarpThreads = warp_threads, class ValueT = NullType>
class WarpMergeSort : public detail::merge_sort_calls<WarpMergeSort<KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>,
                                                      KeyT, ItemsPerThread, LogicalWarpThreads, ValueT> {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using levels = detail::merge_sort_levels<KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>;
  using storage = typename levels::storage;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses `temp_storage`, which all lanes of the logical warp pass.
  STRATA_D explicit WarpMergeSort(TempStorage& temp_storage) : storage_(temp_storage.Alias()) {}

  /// Returns the lane of this thread in the logical warp.
  STRATA_D unsigned get_linear_tid() const { return static_cast<unsigned>(team_.thread()); }

  /// Returns the mask of the lanes that belong to this logical warp.
  STRATA_D unsigned get_member_mask() const { return team_.mask(); }

 private:
  friend detail::merge_sort_calls<WarpMergeSort, KeyT, ItemsPerThread, LogicalWarpThreads, ValueT>;
  using team_type = detail::merge_sort_warp<LogicalWarpThreads>;
  STRATA_D storage& memory() { return storage_; }
  STRATA_D const team_type& team() const { return team_; }

  template <class CompareOp>
  static constexpr detail::known_order word_order =
      detail::is_power_of_two(LogicalWarpThreads) ? detail::order_of_words<CompareOp, KeyT, ValueT, ItemsPerThread>
                                                  : detail::known_order::none;
  template <class CompareOp>
  static constexpr bool sorts_words = word_order<CompareOp> != detail::known_order::none;

  template <bool Full, class CompareOp>
  STRATA_D void sort_words(KeyT (&keys)[static_cast<std::size_t>(ItemsPerThread)], int valid_items) {
    using word = typename detail::unsigned_of_bytes<sizeof(KeyT)>::type;
    const int lane = team_.thread(), first = lane * ItemsPerThread;
    const auto sort_in = [&](unsigned mask) {
      detail::sort_integers<word_order<CompareOp>>(
          keys, [&](int i) { return Full || first + i < valid_items; },
          [&](word(&words)[static_cast<std::size_t>(ItemsPerThread)]) {
            detail::word_sort<word, ItemsPerThread>::template sort_in_lanes<LogicalWarpThreads>(
                mask, static_cast<unsigned>(lane), words);
          });
    };
    if (LogicalWarpThreads == warp_threads || platform::warp_is_together<WarpMergeSort, CompareOp>()) {
      sort_in(full_warp_mask);
    } else {
      sort_in(team_.mask());
    }
  }

  storage& storage_;
  team_type team_;
};

STRATA_NAMESPACE_END

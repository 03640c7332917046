// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/merge_sort_levels.cuh>

STRATA_NAMESPACE_BEGIN

/// A merge sort of any team of threads that can synchronise. A class derives from it, passes itself as
/// `SynchronizationPolicy`, and defines the barrier of its threads:
///
///     void SyncImplementation() const;  // public, or the strategy is a friend
///
/// BlockMergeSort and WarpMergeSort are for blocks and logical warps; this is for other teams, and for classes that
/// were written for CUB. It has the calls, results, types and
/// shared memory of BlockMergeSort, with these differences:
///
/// - All sorts are stable, and always call `compare`. No warp sorts by shuffles.
/// - Shared memory lacks the 8 bytes for each warp and the 4 more.
/// - Every barrier is a barrier of the whole team, even where fewer threads would be enough.
/// - If `compare` is no strict weak ordering, the result is unspecified. Calls still return, and write only keys and
///   values.
///
/// `linear_tid` is the thread's index in the team, below `NUM_THREADS`. Objects of one type constructed without storage
/// share one storage, so a block can have only one team of that type.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// // Sorts 112 keys by the first 16 lanes of a warp.
/// class HalfWarpSort : public strata::BlockMergeSortStrategy<int, strata::NullType, 16, 7, HalfWarpSort> {
///   using Strategy = strata::BlockMergeSortStrategy<int, strata::NullType, 16, 7, HalfWarpSort>;
///
///  public:
///   STRATA_D explicit HalfWarpSort(Strategy::TempStorage& storage) : Strategy(storage, threadIdx.x % 32) {}
///   STRATA_D void SyncImplementation() const { __syncwarp(0xffff); }
/// };
/// __managed__ int numbers[112];
///
/// STRATA_KERNEL void sort(int* in_out) {
///   STRATA_SHARED(temp_storage, HalfWarpSort::TempStorage);
///   int keys[7];
///   for (unsigned i = 0; i < 7; ++i) keys[i] = in_out[threadIdx.x * 7 + i];
///   HalfWarpSort(temp_storage).Sort(keys, [](int a, int b) { return a < b; });
///   for (unsigned i = 0; i < 7; ++i) in_out[threadIdx.x * 7 + i] = keys[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 112; ++i) numbers[i] = i * 37 % 112;
///   if (strata::launch({"sort", 1, 16}, sort, numbers) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d ... %d\n", numbers[0], numbers[1], numbers[2], numbers[111]);
/// }
/// // prints: 0 1 2 ... 111
/// @endcode
template <class KeyT, class ValueT, int NUM_THREADS, int ITEMS_PER_THREAD, class SynchronizationPolicy>
class BlockMergeSortStrategy
    : public detail::merge_sort_calls<
          BlockMergeSortStrategy<KeyT, ValueT, NUM_THREADS, ITEMS_PER_THREAD, SynchronizationPolicy>, KeyT,
          ITEMS_PER_THREAD, NUM_THREADS, ValueT> {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using memory_type = typename detail::merge_sort_levels<KeyT, ITEMS_PER_THREAD, NUM_THREADS, ValueT>::storage;

 public:
  struct TempStorage : Uninitialized<memory_type> {};

  BlockMergeSortStrategy() = delete;
  /// Uses storage of the class's own, for the thread of index `linear_tid` in the team.
  STRATA_D explicit BlockMergeSortStrategy(unsigned linear_tid)
      : BlockMergeSortStrategy(private_storage(), linear_tid) {}
  /// Uses `temp_storage`, for the thread of index `linear_tid` in the team.
  STRATA_D BlockMergeSortStrategy(TempStorage& temp_storage, unsigned linear_tid)
      : storage_(temp_storage.Alias()), linear_tid_(linear_tid) {}

  /// Returns the index of this thread in the team.
  STRATA_D unsigned get_linear_tid() const { return linear_tid_; }

 private:
  friend detail::merge_sort_calls<BlockMergeSortStrategy, KeyT, ITEMS_PER_THREAD, NUM_THREADS, ValueT>;

  /// The threads as a team of merge_sort_levels.
  struct team_type {
    const BlockMergeSortStrategy& threads;
    STRATA_D int thread() const { return static_cast<int>(threads.linear_tid_); }
    static constexpr int warp_levels = 0;
    using together_type = void;
    template <bool>
    STRATA_D void synchronise() const {
      threads.sync();
    }
    template <bool>
    STRATA_D detail::merge_sort_fit slices_fit(int, bool, int, int, int) const {
      threads.sync();
      return {true, true};
    }
  };
  STRATA_D void sync() const { static_cast<const SynchronizationPolicy*>(this)->SyncImplementation(); }
  STRATA_D memory_type& memory() { return storage_; }
  STRATA_D team_type team() const { return {*this}; }
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  memory_type& storage_;
  unsigned linear_tid_;
};

STRATA_NAMESPACE_END

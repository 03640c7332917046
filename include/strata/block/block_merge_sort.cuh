// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_merge_sort_strategy.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/block_word_sort.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/merge_sort_levels.cuh>
#include <strata/warp/specializations/word_sort.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A block as a team of merge_sort_levels. If up to 32 threads merge two runs together, they are in one warp.
template <int Threads>
class merge_sort_block {
  static constexpr int warps = ceiling_divide(Threads, warp_threads);
  static constexpr int last_lanes = Threads - (warps - 1) * warp_threads;
  // Values of `borders::end` that are not the end of a slice. An end of a slice is 0 or more. `nowhere`: the next
  // warp's start need not equal it. `broken`: slices within the warp do not fit together.
  static constexpr int nowhere = -1, broken = -2;

 public:
  /// Where the slice of each warp's first thread starts, and where the slice of its last thread ends.
  struct borders {
    int start[static_cast<std::size_t>(warps + 1)];
    int end[static_cast<std::size_t>(warps)];
  };

  STRATA_D merge_sort_block(borders& memory, int thread) : borders_(memory), thread_(thread) {}

  STRATA_D int thread() const { return thread_; }

  static constexpr int warp_levels = 5;
  using together_type = void;
  template <bool Warp>
  STRATA_D void synchronise() const {
    if constexpr (Warp) {
      __syncwarp(mask());
    } else {
      __syncthreads();
    }
  }

  template <bool Warp>
  STRATA_D merge_sort_fit slices_fit(int thread, bool goes_on, int start, int end, int last) const {
    const int lane = thread % warp_threads;
    const bool is_last_of_warp = lane == warp_threads - 1 || thread == Threads - 1;
    // A lane outside the mask must not even be read from.
    const int next_start = last_lanes == warp_threads
                               ? platform::shuffle_down(mask(), start, 1u)
                               : platform::shuffle(mask(), start, is_last_of_warp ? lane : lane + 1);
    const bool fit_in_warp =
        __all_sync(mask(), (!Warp && is_last_of_warp && goes_on) || end == (goes_on ? next_start : last)) != 0;
    if constexpr (Warp) {
      __syncwarp(mask());
      return {fit_in_warp, fit_in_warp};
    } else {
      // The border between two warps is compared after a barrier of the block.
      const int warp = thread / warp_threads;
      if (lane == 0) borders_.start[warp] = start;
      if (is_last_of_warp) {
        borders_.end[warp] = !fit_in_warp ? broken : goes_on ? end : nowhere;
      }
      __syncthreads();
      bool fit = true;
      if constexpr (warps <= last_lanes) {
        if (lane < warps) {
          const int border = borders_.end[lane];
          fit = border == nowhere || (border != broken && border == borders_.start[lane + 1]);
        }
      } else {
        STRATA_UNROLL_N(1)
        for (int w = lane; w < warps; w += last_lanes) {
          const int border = borders_.end[w];
          if (border == broken || (border != nowhere && border != borders_.start[w + 1])) fit = false;
        }
      }
      const bool all_fit = __all_sync(mask(), fit) != 0;
      return {all_fit, all_fit};
    }
  }

 private:
  STRATA_D unsigned mask() const {
    const bool is_partial = last_lanes < warp_threads && thread_ / warp_threads == warps - 1;
    return is_partial ? full_warp_mask >> (warp_threads - last_lanes) : full_warp_mask;
  }

  borders& borders_;
  int thread_;
};

}  // namespace detail

/// Sorts the keys of a block, `ItemsPerThread` (N) of them in each thread, and the values that
/// belong to them, by any comparator. Input and result are blocked: item i of thread t is number t * N + i.
///
/// | call | sorts |
/// |---|---|
/// | `Sort(keys, compare)` | all keys |
/// | `Sort(keys, values, compare)` | all keys with their values |
/// | `SortPartialTile(keys, valid_items, compare)` | the first `valid_items` keys |
/// | `SortPartialTile(keys, values, valid_items, compare)` | the first `valid_items` keys with their values |
/// | `Sort(keys, compare, valid_items, oob_default)` | as SortPartialTile; other keys become `oob_default` |
/// | `Sort(keys, values, compare, valid_items, oob_default)` | as SortPartialTile; other keys become `oob_default` |
///
/// - `StableSort` and `StableSortPartialTile` take the same arguments, and are stable. So are `Sort` and
///   `SortPartialTile`, except `Sort(keys, compare)`, in which equal keys may change places.
/// - `Sort<CompareOp, false>(keys, values, compare, valid_items, oob_default)` sorts all keys with their values: the
///   caller promises that all are valid.
/// - `compare(a, b)` says whether a must come before b: a strict weak ordering. It is called with
///   valid items only. Even if it is no such ordering, the sort returns, and the result is a permutation of the input.
///   `Sort(keys, compare)` promises this only if `compare` always returns the same for the same two keys.
/// - Calls for partial tiles neither compare nor change items that are not valid. A `valid_items` above the number of
///   items means all, 0 or less means none. Sorts need no key that comes after all others, and `oob_default` may be any
///   key.
/// - Every thread of the block must call, in uniform control flow, with the same `valid_items`. The block may have any
///   number of threads.
/// - Each thread sorts its items (StableOddEvenSort). Then neighbouring runs of 1, 2, 4 ... threads
///   are merged: each thread finds its slice of the result by a binary search (see MergePath), and merges it.
///   A thread calls `compare` at most N * (N - 1) / 2 times, and for each level of runs of 2^k
///   threads at most N + ceil(log2(N * 2^k + 1)) times more.
/// - `Sort(keys, compare)` of N = 1, 2 or 4 numbers or pointers of 4 or 8 bytes in blocks of whole warps, if `ValueT`
///   is NullType: each warp sorts by a sorting network, with shuffles. Until the keys of a warp are sorted, a thread
///   calls `compare` 15, 36 or 85 times; merges would call it up to 20, 31 or 51 times.
/// - Values of up to 4 bytes move with their keys. Larger values move once, at the end, by indices of 4
///   bytes that have moved with the keys.
/// - Shared memory: the keys, with a value or index of up to 4 bytes for each, or the values if these are larger. Also
///   8 bytes for each warp, 4 more, and gaps as in BlockExchange. There are no gaps if keys have less than 4 bytes and
///   the keys of a thread have 2, 4, 8 ... or 128 bytes together. Keys of 4 bytes and more need no gaps if N is odd;
///   positions then take fewer instructions to compute.
/// - Bank conflicts: none in blocked accesses. The conflicts of searches and merges depend on the keys.
/// - Code size: 20 to 40 instructions for each level and each of the N items.
/// - Integers of 4 and 8 bytes without values, N = 1, 2, 4, 8 or 16 for each thread of whole warps: if `compare` is
///   `strata::Less`, or `less` or `greater` of the standard library, libcu++ or Thrust, it is not called. Keys are
///   sorted by minima and maxima.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the
///   storage is used for anything else. Objects of one type constructed without storage share
///   theirs.
/// - `KeyT` and `ValueT` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct order {
///   int customer;
///   float price;
/// };
/// struct by_customer_then_descending_price {
///   STRATA_HD bool operator()(const order& a, const order& b) const {
///     return a.customer != b.customer ? a.customer < b.customer : a.price > b.price;
///   }
/// };
/// __managed__ order orders[5] = {{7, 9.5f}, {3, 20}, {7, 30}, {1, 4}, {3, 8}};
///
/// STRATA_KERNEL void sort_up_to_640_orders(order* in_out, int count) {
///   using Sort = strata::BlockMergeSort<order, 128, 5>;
///   STRATA_SHARED(temp_storage, Sort::TempStorage);
///   order items[5];
///   for (int i = 0, at = static_cast<int>(threadIdx.x) * 5; i < 5 && at < count; ++i, ++at) items[i] = in_out[at];
///   Sort(temp_storage).SortPartialTile(items, count, by_customer_then_descending_price{});
///   for (int i = 0, at = static_cast<int>(threadIdx.x) * 5; i < 5 && at < count; ++i, ++at) in_out[at] = items[i];
/// }
///
/// int main() {
///   if (strata::launch({"sort_orders", 1, 128}, sort_up_to_640_orders, orders, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const order& item : orders) std::printf("%d:%g ", item.customer, item.price);
/// }
/// // prints: 1:4 3:20 3:8 7:30 7:9.5
/// @endcode
template <class KeyT, int BlockDimX, int ItemsPerThread, class ValueT = NullType, int BlockDimY = 1, int BlockDimZ = 1>
class BlockMergeSort
    : public detail::merge_sort_calls<BlockMergeSort<KeyT, BlockDimX, ItemsPerThread, ValueT, BlockDimY, BlockDimZ>,
                                      KeyT, ItemsPerThread,
                                      detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>::threads, ValueT> {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  using team_type = detail::merge_sort_block<shape::threads>;
  using levels = detail::merge_sort_levels<KeyT, ItemsPerThread, shape::threads, ValueT>;
  template <class CompareOp>
  static constexpr detail::known_order word_order =
      shape::threads % warp_threads == 0 ? detail::order_of_words<CompareOp, KeyT, ValueT, ItemsPerThread>
                                         : detail::known_order::none;
  template <class CompareOp>
  static constexpr bool sorts_words = word_order<CompareOp> != detail::known_order::none;
  // Networks compare more often than merges: with 4 keys for each thread 85 times instead of up to 51.
  static constexpr bool sorts_in_lanes = shape::threads % warp_threads == 0 && std::is_same_v<ValueT, NullType> &&
                                         std::is_scalar_v<KeyT> && (sizeof(KeyT) == 4 || sizeof(KeyT) == 8) &&
                                         ItemsPerThread <= 4 && detail::is_power_of_two(ItemsPerThread);

  struct levels_storage {
    typename levels::storage tile;
    typename team_type::borders borders;
  };
  template <class Key>
  using words_of =
      detail::exchange_tile<typename detail::unsigned_of_bytes<sizeof(Key)>::type, ItemsPerThread, shape::threads>;
  template <class Key, bool AreWords>
  struct storage_of_words {
    NullType words;
  };
  template <class Key>
  struct storage_of_words<Key, true> {
    words_of<Key> words;
  };
  union storage {
    levels_storage levels;
    storage_of_words<KeyT, sorts_words<Less>> words;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockMergeSort() : BlockMergeSort(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockMergeSort(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockMergeSort")) {}

  /// Returns the rank of this thread in the block, row-major.
  STRATA_D unsigned get_linear_tid() const { return static_cast<unsigned>(thread_); }

 private:
  friend detail::merge_sort_calls<BlockMergeSort, KeyT, ItemsPerThread, shape::threads, ValueT>;
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }
  STRATA_D typename levels::storage& memory() { return storage_.levels.tile; }
  STRATA_D team_type team() { return team_type(storage_.levels.borders, thread_); }

  template <bool Full, class CompareOp>
  STRATA_D void sort_words(KeyT (&keys)[static_cast<std::size_t>(ItemsPerThread)], int valid_items) {
    using word = typename detail::unsigned_of_bytes<sizeof(KeyT)>::type;
    const int first = thread_ * ItemsPerThread;
    detail::sort_integers<word_order<CompareOp>>(
        keys, [&](int i) { return Full || first + i < valid_items; },
        [&](word(&words)[static_cast<std::size_t>(ItemsPerThread)]) {
          detail::block_word_sort<word, shape::threads, ItemsPerThread>::sort(storage_.words.words, thread_, words);
        });
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

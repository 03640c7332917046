// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bits that a block sorts by.
template <class Decomposer>
struct radix_sort_bits {
  Decomposer decomposer;
  int begin_bit;
  int end_bit;
};

/// Reads the range arguments of BlockRadixSort: nothing, bits, a decomposer, or a decomposer and bits. There is no
/// `of` for other arguments.
template <class Key>
struct radix_sort_range {
  template <class Decomposer>
  using if_decomposer = std::enable_if_t<std::is_invocable_v<const Decomposer&, Key&>, radix_sort_bits<Decomposer>>;

  STRATA_HD static radix_sort_bits<identity_decomposer> of() { return {{}, 0, RadixTraits<Key>::bits}; }
  STRATA_HD static radix_sort_bits<identity_decomposer> of(int begin_bit) {
    return {{}, begin_bit, RadixTraits<Key>::bits};
  }
  STRATA_HD static radix_sort_bits<identity_decomposer> of(int begin_bit, int end_bit) {
    return {{}, begin_bit, end_bit};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer> of(const Decomposer& decomposer) {
    return {decomposer, 0, radix_digits<Key, false, Decomposer>::key_bits};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer> of(const Decomposer& decomposer, int begin_bit, int end_bit) {
    return {decomposer, begin_bit, end_bit};
  }
};

/// Which of a thread's items are valid.
struct all_items {
  STRATA_HD bool operator()(int) const { return true; }
};
struct first_items {
  int first_of_thread;
  int valid_items;

  STRATA_HD bool operator()(int i) const { return first_of_thread + i < valid_items; }
};

}  // namespace detail

/// Sorts the keys of a block, `ItemsPerThread` (N) in each thread, and the values that belong to them, stably:
///
/// | call | result |
/// |---|---|
/// | `Sort` | ascending, blocked: item i of thread t is number t * N + i |
/// | `SortDescending` | descending, blocked |
/// | `SortBlockedToStriped` | ascending, striped: item i of thread t is number i * threads + t |
/// | `SortDescendingBlockedToStriped` | descending, striped |
///
/// Arguments are `(keys, range...)` or `(keys, values, range...)`, where the range is one of
///
/// | range | sorts by |
/// |---|---|
/// | | all bits |
/// | `begin_bit, end_bit` | bits begin_bit to end_bit - 1, counted from the least significant |
/// | `decomposer` | the fields that `decomposer(key)` refers to: see RadixFields |
/// | `decomposer, begin_bit, end_bit` | these bits of the fields side by side, the first highest |
///
/// - Each has a variant for partial tiles: `SortPartialTile(keys, valid_items, range...)`,
///   `SortPartialTile(keys, values, valid_items, range...)` and so on. It sorts the first `valid_items` items of the
///   tile. It does not look at the others, and they keep their positions. A number larger than the tile means all
///   items, 0 or less none. No key is needed that is larger than all others.
/// - Keys are integers of up to 128 bits, enumerations, floating-point numbers of 8 (`__nv_fp8_e4m3`, `__nv_fp8_e5m2`)
///   to 64 bits, or with a decomposer any type. -0.0 is equal to +0.0. All NaN are equal and greater than +infinity.
///   Keys are moved unchanged.
/// - Stable: equal keys, and their values, stay in their order, in descending sorts too.
/// - Input is in blocked arrangement. Every thread of the block must call, in uniform control flow,
///   with the same range and `valid_items`. Any number of threads; at most 65,535 items.
/// - One pass for each RadixBits of the range: BlockRadixRank ranks by a digit, and BlockExchange moves keys, then
///   values. A range without bits leaves the order as it is.
/// - Shared memory: the largest of what BlockRadixRank needs, 2^(RadixBits + 1) bytes for each thread, and what
///   BlockExchange needs for the keys, and for the values. Only scatters have bank conflicts; they depend on the
///   ranks.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the
///   storage is used for anything else. Objects of one type constructed without storage share
///   theirs.
/// - `MemoizeOuterScan` and `InnerScan` are BlockRadixRank's. `SmemConfig` has no effect; it keeps CUB's order of
///   parameters.
/// - `KeyT` and `ValueT` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
/// #include <strata/thread/thread_load_direct.cuh>
/// #include <strata/thread/thread_store_direct.cuh>
///
/// __managed__ float distances[5] = {2.5f, -1, 0, 7, 0.5f};
/// __managed__ int towns[5] = {0, 1, 2, 3, 4};
///
/// // Sorts up to 512 pairs. Threads load neighbouring items and store every 128th.
/// STRATA_KERNEL void sort_pairs(float* keys, int* values, int count) {
///   using Sort = strata::BlockRadixSort<float, 128, 4, int>;
///   STRATA_SHARED(temp_storage, Sort::TempStorage);
///   const int thread = static_cast<int>(threadIdx.x);
///   float thread_keys[4];
///   int thread_values[4];
///   strata::LoadDirectBlocked(thread, keys, thread_keys, count);
///   strata::LoadDirectBlocked(thread, values, thread_values, count);
///   Sort(temp_storage).SortBlockedToStripedPartialTile(thread_keys, thread_values, count);
///   strata::StoreDirectStriped<128>(thread, keys, thread_keys, count);
///   strata::StoreDirectStriped<128>(thread, values, thread_values, count);
/// }
///
/// int main() {
///   if (strata::launch({"sort_pairs", 1, 128}, sort_pairs, distances, towns, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 5; ++i) std::printf("%g:%d ", distances[i], towns[i]);
/// }
/// // prints: -1:1 0:2 0.5:4 2.5:0 7:3
/// @endcode
template <class KeyT, int BlockDimX, int ItemsPerThread, class ValueT = NullType, int RadixBits = 4,
          bool MemoizeOuterScan = true, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SmemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixSort {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int tile_items = shape::threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;

  using ranking =
      detail::radix_rank_basic<BlockDimX, BlockDimY, BlockDimZ, RadixBits, false, MemoizeOuterScan, InnerScan>;
  template <class T>
  using exchange = BlockExchange<T, BlockDimX, ItemsPerThread, false, BlockDimY, BlockDimZ>;
  using key_exchange = exchange<KeyT>;
  using value_exchange = exchange<std::conditional_t<has_values, ValueT, KeyT>>;
  union storage {
    typename ranking::storage rank;
    typename key_exchange::TempStorage keys;
    typename value_exchange::TempStorage values;
  };

  template <class T>
  using items = T[items_per_thread];
  using range = detail::radix_sort_range<KeyT>;
  // Defined only for arguments that are a range.
  template <class... Range>
  using range_of = decltype(range::of(std::declval<Range>()...));
  using all = detail::all_items;
  enum order { ascending, descending };
  enum arrangement { blocked, striped };

 public:
  struct TempStorage : Uninitialized<storage> {};

  STRATA_D BlockRadixSort() : BlockRadixSort(private_storage()) {}
  STRATA_D explicit BlockRadixSort(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockRadixSort")) {}

  template <class... Range, class = range_of<Range...>>
  STRATA_D void Sort(items<KeyT>& keys, Range... by) {
    sort<ascending, blocked>(keys, NullType{}, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<ascending, blocked>(keys, values, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<ascending, blocked>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, Range... by) {
    sort<ascending, blocked>(keys, values, first(valid_items), range::of(by...));
  }

  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescending(items<KeyT>& keys, Range... by) {
    sort<descending, blocked>(keys, NullType{}, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescending(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<descending, blocked>(keys, values, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<descending, blocked>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, Range... by) {
    sort<descending, blocked>(keys, values, first(valid_items), range::of(by...));
  }

  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStriped(items<KeyT>& keys, Range... by) {
    sort<ascending, striped>(keys, NullType{}, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStriped(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<ascending, striped>(keys, values, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStripedPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<ascending, striped>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStripedPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items,
                                                Range... by) {
    sort<ascending, striped>(keys, values, first(valid_items), range::of(by...));
  }

  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStriped(items<KeyT>& keys, Range... by) {
    sort<descending, striped>(keys, NullType{}, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStriped(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<descending, striped>(keys, values, all{}, range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStripedPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<descending, striped>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStripedPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items,
                                                          Range... by) {
    sort<descending, striped>(keys, values, first(valid_items), range::of(by...));
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D detail::first_items first(int valid_items) const { return {thread_ * ItemsPerThread, valid_items}; }

  // `values` are an array, or NullType.
  template <order Order, arrangement Output, class Values, class IsValid, class Decomposer>
  STRATA_D void sort(items<KeyT>& keys, Values&& values, const IsValid& is_valid,
                     const detail::radix_sort_bits<Decomposer>& by) {
    using digits = detail::radix_digits<KeyT, Order == descending, Decomposer>;
    STRATA_ASSERT(by.begin_bit >= 0 && by.begin_bit <= by.end_bit && by.end_bit <= digits::key_bits,
                  "BlockRadixSort: bits %d to %d are not a range of the %d bits of a key", by.begin_bit, by.end_bit,
                  digits::key_bits);
    const digits digit_of{by.decomposer};
    int bit = by.begin_bit;
    constexpr int last_bits = Output == striped ? RadixBits : 0;
    for (; by.end_bit - bit > last_bits; bit += RadixBits) {
      if (bit != by.begin_bit) __syncthreads();
      pass<blocked>(keys, values, is_valid, digit_of, bit, by.end_bit);
    }
    if constexpr (Output == striped) {
      if (bit != by.begin_bit) __syncthreads();
      if (bit < by.end_bit) {
        pass<striped>(keys, values, is_valid, digit_of, bit, by.end_bit);
      } else {
        move_all(keys, values, to_striped{});
      }
    }
  }

  template <arrangement Output, class Values, class IsValid, class Digits>
  STRATA_D void pass(items<KeyT>& keys, Values& values, const IsValid& is_valid, const Digits& digit_of, int bit,
                     int end_bit) {
    const int bits = detail::least(end_bit - bit, RadixBits);
    int ranks[items_per_thread];
    // Items that are not valid get the highest digit, so that they stay last.
    const auto digit = [&](int i) { return is_valid(i) ? digit_of(keys[i], bit, bits) : unsigned{ranking::bins - 1}; };
    detail::not_wanted none;
    ranking(storage_.rank, thread_).rank(digit, ranks, none, none, tile_items);
    __syncthreads();
    move_all(keys, values, to_ranks<Output>{ranks});
  }

  template <arrangement Output>
  struct to_ranks {
    const int (&ranks)[items_per_thread];

    template <class Exchange, class Items>
    STRATA_D void operator()(Exchange through, Items& moved) const {
      if constexpr (Output == blocked) {
        through.ScatterToBlocked(moved, ranks);
      } else {
        through.ScatterToStriped(moved, ranks);
      }
    }
  };
  struct to_striped {
    template <class Exchange, class Items>
    STRATA_D void operator()(Exchange through, Items& moved) const {
      through.BlockedToStriped(moved);
    }
  };

  template <class Values, class Move>
  STRATA_D void move_all(items<KeyT>& keys, [[maybe_unused]] Values& values, const Move& move) {
    move(key_exchange(storage_.keys), keys);
    if constexpr (has_values && std::is_array_v<Values>) {
      __syncthreads();
      move(value_exchange(storage_.values), values);
    }
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/block_word_sort.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/radix_sort_words.cuh>
#include <strata/warp/specializations/word_sort.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bits that a block sorts by. `IsWhole`: the call names no bits, so the block sorts by all of them.
template <class Decomposer, bool IsWhole>
struct radix_sort_bits {
  static constexpr bool is_whole = IsWhole;
  Decomposer decomposer;
  int begin_bit;
  int end_bit;
};

/// Reads the range arguments of BlockRadixSort: nothing, bits, a decomposer, or a decomposer and bits. There is no
/// `of` for other arguments.
template <class Key>
struct radix_sort_range {
  template <class Decomposer, bool IsWhole>
  using if_decomposer =
      std::enable_if_t<std::is_invocable_v<const Decomposer&, Key&>, radix_sort_bits<Decomposer, IsWhole>>;

  STRATA_HD static radix_sort_bits<identity_decomposer, true> of() { return {{}, 0, RadixTraits<Key>::bits}; }
  STRATA_HD static radix_sort_bits<identity_decomposer, false> of(int begin_bit) {
    return {{}, begin_bit, RadixTraits<Key>::bits};
  }
  STRATA_HD static radix_sort_bits<identity_decomposer, false> of(int begin_bit, int end_bit) {
    return {{}, begin_bit, end_bit};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer, true> of(const Decomposer& decomposer) {
    return {decomposer, 0, radix_digits<Key, false, Decomposer>::key_bits};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer, false> of(const Decomposer& decomposer, int begin_bit, int end_bit) {
    return {decomposer, begin_bit, end_bit};
  }
};

/// Predicates for the items of a thread: `all_items` is true for all of them, `first_items` for those among the first
/// `valid_items` of the block, where the thread's item i is number first_of_thread + i * step.
struct all_items {
  STRATA_HD bool operator()(int) const { return true; }
  STRATA_HD all_items in_rows(int, int) const { return {}; }
};
struct first_items {
  int first_of_thread;
  int valid_items;
  int step = 1;

  STRATA_HD bool operator()(int i) const { return first_of_thread + i * step < valid_items; }
  /// Returns the predicate for items in an arrangement by rows of `row_threads` threads.
  STRATA_HD first_items in_rows(int first, int row_threads) const { return {first, valid_items, row_threads}; }
};

}  // namespace detail

/// How BlockRadixSort sorts. The result is the same.
enum BlockRadixSortAlgorithm {
  /// The fastest for the types, threads and items, by a table of measurements (`block/README.md`): merges for keys
  /// without values that merges can sort, if they have 32 or 64 bits. Otherwise BLOCK_RADIX_SORT_MATCH for whole keys
  /// in blocks of whole warps and up to 256 threads, with up to 15 keys or 16 pairs in each thread, and
  /// BLOCK_RADIX_SORT_THREAD_COUNTERS for all else.
  BLOCK_RADIX_SORT_DEFAULT,
  /// Passes of RadixBits bits, as in CUB: BlockRadixRank ranks by counters of each thread.
  BLOCK_RADIX_SORT_THREAD_COUNTERS,
  /// Passes of 8 bits: BlockRadixRankMatch ranks by votes of warps. For blocks of whole warps.
  BLOCK_RADIX_SORT_MATCH,
  /// No passes: threads sort their keys in registers, and warps and the block merge them. For blocks of whole warps,
  /// and for integers and floating-point numbers of up to 64 bits. Merges sort whole keys without values.
  /// Pairs, ranges of bits and keys with decomposers are sorted as by BLOCK_RADIX_SORT_DEFAULT. Tiles with NaN or -0.0,
  /// which have equal keys of different bits, are sorted as by BLOCK_RADIX_SORT_THREAD_COUNTERS.
  BLOCK_RADIX_SORT_MERGE,
};

namespace detail {

/// The choice of BLOCK_RADIX_SORT_DEFAULT: whether keys without values are merged, and otherwise whether whole keys are
/// sorted in passes by match, instead of by counters of threads. `block/README.md` has the figures.
template <class Key, class Value, int Threads, int ItemsPerThread>
struct radix_sort_policy {
  static constexpr bool has_whole_warps = Threads % warp_threads == 0;
  static constexpr bool merges = has_whole_warps && has_radix_sort_word<Key> && sizeof(Key) >= 4;
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  static constexpr bool matches = has_whole_warps && Threads <= 256 && ItemsPerThread < (has_values ? 17 : 16);
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
/// | `begin_bit` | bits from begin_bit on, counted from the least significant |
/// | `begin_bit, end_bit` | bits begin_bit to end_bit - 1 |
/// | `decomposer` | the fields that `decomposer(key)` refers to: see RadixFields |
/// | `decomposer, begin_bit, end_bit` | bits begin_bit to end_bit - 1 of all fields, side by side, first one highest |
///
/// - Each call has a variant for partial tiles: `SortPartialTile(keys, valid_items, range...)`,
///   `SortPartialTile(keys, values, valid_items, range...)` and so on. It sorts the first `valid_items` items of the
///   tile. The other items have no effect on the result and keep their positions. If `valid_items` exceeds the tile,
///   all items are sorted; if it is 0 or less, none. No sentinel key is needed.
/// - Keys are integers of up to 128 bits, enumerations, floating-point numbers of 8 (`__nv_fp8_e4m3`, `__nv_fp8_e5m2`)
///   to 64 bits, or with a decomposer any type. -0.0 is equal to +0.0. All NaN are equal and greater than +infinity.
///   Keys are moved unchanged.
/// - Stable: equal keys, and their values, stay in their order, in descending sorts too.
/// - Input is in blocked arrangement. Every thread of the block must call, in uniform control flow,
///   with the same range and `valid_items`. Any number of threads; at most 65,535 items.
/// - `Algorithm` chooses between passes over digits and merges: see BlockRadixSortAlgorithm. The result is always the
///   same. The default is the fastest algorithm that was measured. A range without bits leaves the order as it is.
/// - `RadixBits` is the number of bits of a digit in BLOCK_RADIX_SORT_THREAD_COUNTERS. It does not change the time of
///   other algorithms.
/// - Shared memory: the largest of the keys of the tile, its values, and counters. Counters take about 2^(RadixBits +
///   1) bytes for each thread. With BLOCK_RADIX_SORT_MATCH they take about 32 bytes instead, as much as with
///   `RadixBits` = 4. If the default sorts by match, the storage has room for the larger of the two. Merges need no
///   counters, but the other sorts of the same object do. Only scatters, counters of BLOCK_RADIX_SORT_MATCH, and
///   searches and reads of merges have bank conflicts; they depend on the keys.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the storage is used for
///   anything else. Objects of one type constructed without storage share theirs.
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
          cudaSharedMemConfig SmemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1, int BlockDimZ = 1,
          BlockRadixSortAlgorithm Algorithm = BLOCK_RADIX_SORT_DEFAULT>
class BlockRadixSort {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int tile_items = shape::threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;

  static constexpr bool has_word = detail::has_radix_sort_word<KeyT>;

  static constexpr bool has_whole_warps = shape::threads % warp_threads == 0;
  static_assert(has_whole_warps || Algorithm == BLOCK_RADIX_SORT_DEFAULT ||
                    Algorithm == BLOCK_RADIX_SORT_THREAD_COUNTERS,
                "BLOCK_RADIX_SORT_MATCH and BLOCK_RADIX_SORT_MERGE need blocks of whole warps; choose a multiple of 32 "
                "threads, or BLOCK_RADIX_SORT_DEFAULT");
  static_assert(has_word || Algorithm != BLOCK_RADIX_SORT_MERGE,
                "BLOCK_RADIX_SORT_MERGE merges integers and floating-point numbers of up to 64 bits; choose "
                "BLOCK_RADIX_SORT_DEFAULT for other keys");
  using policy = detail::radix_sort_policy<KeyT, ValueT, shape::threads, ItemsPerThread>;
  static constexpr bool is_default = Algorithm == BLOCK_RADIX_SORT_DEFAULT || Algorithm == BLOCK_RADIX_SORT_MERGE;
  static constexpr bool merges_keys =
      Algorithm == BLOCK_RADIX_SORT_MERGE || (Algorithm == BLOCK_RADIX_SORT_DEFAULT && policy::merges);
  // If keys are merged, tiles that cannot be merged are sorted inside of a branch. A match must not be in a branch:
  // platform::match_digit says why.
  static constexpr bool matches_whole_keys =
      Algorithm == BLOCK_RADIX_SORT_MATCH || (is_default && policy::matches && (has_values || !merges_keys));

  using count_ranking =
      detail::radix_rank_basic<BlockDimX, BlockDimY, BlockDimZ, RadixBits, false, MemoizeOuterScan, InnerScan>;
  static constexpr int match_bits = 8;
  using match_ranking = detail::radix_rank_match<
      detail::radix_rank_counters<BlockDimX, BlockDimY, BlockDimZ, match_bits, false, InnerScan>,
      detail::radix_match_votes<shape::threads, match_bits>, false>;
  /// The two kinds of passes. When items are ranked, they lie in rows: a row has one item of each of `row_threads`
  /// threads. If `row_threads` is 1, the arrangement is blocked.
  struct count_passes {
    using ranking = count_ranking;
    static constexpr int bits = RadixBits;
    static constexpr int row_threads = 1;
  };
  struct match_passes {
    using ranking = match_ranking;
    static constexpr int bits = match_bits;
    static constexpr int row_threads = warp_threads;
  };

  struct no_storage {};
  template <class T>
  using exchange = detail::exchange_tile<T, ItemsPerThread, shape::threads>;
  using word = typename detail::unsigned_of_bytes<(has_word ? sizeof(KeyT) : 1)>::type;
  union storage {
    std::conditional_t<Algorithm == BLOCK_RADIX_SORT_MATCH, no_storage, typename count_ranking::storage> counters;
    std::conditional_t<matches_whole_keys, typename match_ranking::storage, no_storage> matches;
    exchange<KeyT> keys;
    exchange<std::conditional_t<has_word, word, KeyT>> words;
    exchange<std::conditional_t<has_values, ValueT, KeyT>> values;
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

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockRadixSort() : BlockRadixSort(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockRadixSort(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockRadixSort")) {}

  /// Sorts keys in ascending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void Sort(items<KeyT>& keys, Range... by) {
    sort<ascending, blocked>(keys, NullType{}, all{}, range::of(by...));
  }
  /// Sorts keys with their values in ascending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<ascending, blocked>(keys, values, all{}, range::of(by...));
  }
  /// Sorts the first `valid_items` keys in ascending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<ascending, blocked>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  /// Sorts the first `valid_items` keys with their values in ascending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, Range... by) {
    sort<ascending, blocked>(keys, values, first(valid_items), range::of(by...));
  }

  /// Sorts keys in descending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescending(items<KeyT>& keys, Range... by) {
    sort<descending, blocked>(keys, NullType{}, all{}, range::of(by...));
  }
  /// Sorts keys with their values in descending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescending(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<descending, blocked>(keys, values, all{}, range::of(by...));
  }
  /// Sorts the first `valid_items` keys in descending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<descending, blocked>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  /// Sorts the first `valid_items` keys with their values in descending order.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, Range... by) {
    sort<descending, blocked>(keys, values, first(valid_items), range::of(by...));
  }

  /// Sorts keys in ascending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStriped(items<KeyT>& keys, Range... by) {
    sort<ascending, striped>(keys, NullType{}, all{}, range::of(by...));
  }
  /// Sorts keys with their values in ascending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStriped(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<ascending, striped>(keys, values, all{}, range::of(by...));
  }
  /// Sorts the first `valid_items` keys in ascending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStripedPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<ascending, striped>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  /// Sorts the first `valid_items` keys with their values in ascending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortBlockedToStripedPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items,
                                                Range... by) {
    sort<ascending, striped>(keys, values, first(valid_items), range::of(by...));
  }

  /// Sorts keys in descending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStriped(items<KeyT>& keys, Range... by) {
    sort<descending, striped>(keys, NullType{}, all{}, range::of(by...));
  }
  /// Sorts keys with their values in descending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStriped(items<KeyT>& keys, items<ValueT>& values, Range... by) {
    sort<descending, striped>(keys, values, all{}, range::of(by...));
  }
  /// Sorts the first `valid_items` keys in descending order. The result is striped.
  template <class... Range, class = range_of<Range...>>
  STRATA_D void SortDescendingBlockedToStripedPartialTile(items<KeyT>& keys, int valid_items, Range... by) {
    sort<descending, striped>(keys, NullType{}, first(valid_items), range::of(by...));
  }
  /// Sorts the first `valid_items` keys with their values in descending order. The result is striped.
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
  template <order Order, arrangement Output, class Values, class IsValid, class Bits>
  STRATA_D void sort(items<KeyT>& keys, Values&& values, const IsValid& is_valid, const Bits& by) {
    using decomposer = std::decay_t<decltype(by.decomposer)>;
    using digits = detail::radix_digits<KeyT, Order == descending, decomposer>;
    STRATA_ASSERT(by.begin_bit >= 0 && by.begin_bit <= by.end_bit && by.end_bit <= digits::key_bits,
                  "BlockRadixSort: bits %d to %d are not a range of the %d bits of a key", by.begin_bit, by.end_bit,
                  digits::key_bits);
    constexpr bool has_pairs = std::is_array_v<std::remove_reference_t<Values>>;
    constexpr bool is_number = std::is_same_v<decomposer, detail::identity_decomposer>;
    constexpr bool is_merged = merges_keys && !has_pairs && is_number;
    constexpr bool is_matched =
        Algorithm == BLOCK_RADIX_SORT_MATCH || (matches_whole_keys && is_number && !is_merged && Bits::is_whole);
    using passes = std::conditional_t<is_matched, match_passes, count_passes>;
    const digits digit_of{by.decomposer};

    // A match must not be in a branch. So the condition below must be constant if keys are matched.
    constexpr bool asks_whether_whole = !is_matched || Bits::is_whole || detail::radix_mantissa_bits<KeyT> == 0;
    if constexpr (has_word && is_number && asks_whether_whole) {
      using code = detail::radix_sort_word<KeyT, Order == descending>;
      // Bits are counted in the words of RadixTraits, which differ from the words of `code` for floating-point numbers.
      const bool is_whole = Bits::is_whole || (by.begin_bit == 0 && by.end_bit == digits::key_bits);
      if (is_whole || !code::is_float) {
        if constexpr (is_merged) {
          if (is_whole && !has_special<code>(keys, is_valid)) {
            merge_keys<Output, code>(keys, is_valid);
            return;
          }
        } else if constexpr (code::is_float && !is_matched) {
          if (!has_special<code>(keys, is_valid)) {
            sort_words<passes, Output, detail::radix_sort_plain_word<code>>(keys, values, is_valid, by);
            return;
          }
        }
        sort_words<passes, Output, code>(keys, values, is_valid, by);
        return;
      }
    }
    sort_by_passes<passes, Output>(keys, values, is_valid, digit_of, by.begin_bit, by.end_bit);
  }

  // All threads of the block call, in uniform control flow.
  template <class Code, class IsValid>
  STRATA_D bool has_special(const items<KeyT>& keys, const IsValid& is_valid) {
    if constexpr (Code::is_float) {
      bool found = false;
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) found = found || (is_valid(i) && Code::is_special(keys[i]));
      return __syncthreads_or(found ? 1 : 0) != 0;
    } else {
      return false;
    }
  }

  template <arrangement Output, class Code, class IsValid>
  STRATA_D void merge_keys(items<KeyT>& keys, const IsValid& is_valid) {
    items<word> words;
    detail::sort_as_words<Code>(keys, words, is_valid, [&](items<word>& sorted) {
      detail::block_word_sort<word, shape::threads, ItemsPerThread>::sort(storage_.words, thread_, sorted);
    });
    if constexpr (Output == striped) {
      if constexpr (shape::threads > warp_threads) __syncthreads();
      to_striped(storage_.words, words);
    }
    decode<Code>(words, keys);
  }

  template <class Passes, arrangement Output, class Code, class Values, class IsValid, class Bits>
  STRATA_D void sort_words(items<KeyT>& keys, Values& values, const IsValid& is_valid, const Bits& by) {
    items<word> words;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) words[i] = Code::encode(keys[i]);
    sort_by_passes<Passes, Output>(words, values, is_valid, detail::radix_word_digits<Code>{}, by.begin_bit,
                                   by.end_bit);
    decode<Code>(words, keys);
  }
  template <class Code>
  STRATA_D static void decode(const items<word>& words, items<KeyT>& keys) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) keys[i] = Code::decode(words[i]);
  }

  template <class Passes, arrangement Output, class Key, class Values, class IsValid, class Digits>
  STRATA_D void sort_by_passes(items<Key>& keys, Values& values, const IsValid& is_valid, const Digits& digit_of,
                               int begin_bit, int end_bit) {
    constexpr bool is_word = has_word && std::is_same_v<Key, word>;
    if constexpr (is_word) {
      sort_by_passes<Passes, Output>(storage_.words, keys, values, is_valid, digit_of, begin_bit, end_bit);
    } else {
      sort_by_passes<Passes, Output>(storage_.keys, keys, values, is_valid, digit_of, begin_bit, end_bit);
    }
  }
  template <class Passes, arrangement Output, class Key, class Values, class IsValid, class Digits>
  STRATA_D void sort_by_passes(exchange<Key>& key_tile, items<Key>& keys, [[maybe_unused]] Values& values,
                               const IsValid& is_valid, const Digits& digit_of, int begin_bit, int end_bit) {
    using ranking = typename Passes::ranking;
    constexpr bool has_pairs = has_values && std::is_array_v<Values>;
    if (begin_bit == end_bit) {
      if constexpr (Output == striped) {
        to_striped(key_tile, keys);
        if constexpr (has_pairs) {
          __syncthreads();
          to_striped(storage_.values, values);
        }
      }
      return;
    }
    if constexpr (Passes::row_threads > 1) {
      to_rows(key_tile, keys);
      if constexpr (has_pairs) {
        __syncthreads();
        to_rows(storage_.values, values);
      }
      __syncthreads();
    }
    const auto valid = is_valid.in_rows(first_in_rows<Passes>(), Passes::row_threads);
    for (int bit = begin_bit;;) {
      const int bits = detail::least(end_bit - bit, Passes::bits);
      int ranks[items_per_thread];
      // Items that are not valid get the highest digit, so that they stay last.
      const auto digit = [&](int i) { return valid(i) ? digit_of(keys[i], bit, bits) : unsigned{ranking::bins - 1}; };
      detail::not_wanted none;
      ranking(ranking_storage<Passes>(), thread_).rank(digit, ranks, none, none, tile_items);
      __syncthreads();
      bit += Passes::bits;
      const bool is_last = bit >= end_bit;
      move_by_rank<Passes, Output>(key_tile, keys, ranks, is_last);
      if constexpr (has_pairs) {
        __syncthreads();
        move_by_rank<Passes, Output>(storage_.values, values, ranks, is_last);
      }
      if (is_last) break;
      __syncthreads();
    }
  }

  template <class Passes>
  STRATA_D auto& ranking_storage() {
    if constexpr (Passes::row_threads > 1) {
      return storage_.matches;
    } else {
      return storage_.counters;
    }
  }

  template <class Passes, arrangement Output, class T>
  STRATA_D void move_by_rank(exchange<T>& through, items<T>& moved, const int (&ranks)[items_per_thread],
                             bool is_last) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      through.put(exchange<T>::position(static_cast<unsigned>(ranks[i])), moved[i]);
    }
    __syncthreads();
    if (!is_last) {
      get_rows<Passes>(through, moved);
    } else if constexpr (Output == blocked) {
      through.get_blocked(static_cast<unsigned>(thread_), moved);
    } else {
      through.template get_striped<shape::threads>(static_cast<unsigned>(thread_), moved);
    }
  }

  // Returns the number in the tile of the thread's first item. The items of a warp lie in rows of one item of each
  // lane. If `row_threads` is 1, the items of a thread lie side by side.
  template <class Passes>
  STRATA_D int first_in_rows() const {
    constexpr int row = Passes::row_threads;
    return thread_ / row * row * ItemsPerThread + thread_ % row;
  }
  template <class Passes, class T>
  STRATA_D void get_rows(exchange<T>& through, items<T>& moved) {
    const unsigned thread = static_cast<unsigned>(thread_);
    if constexpr (Passes::row_threads == 1) {
      through.get_blocked(thread, moved);
    } else {
      through.template get_striped<warp_threads>(thread % warp_threads, moved,
                                                 exchange<T>::position_of_thread(thread / warp_threads * warp_threads));
    }
  }
  template <class T>
  STRATA_D void to_rows(exchange<T>& through, items<T>& moved) {
    through.put_blocked(static_cast<unsigned>(thread_), moved);
    __syncwarp();
    get_rows<match_passes>(through, moved);
  }
  template <class T>
  STRATA_D void to_striped(exchange<T>& through, items<T>& moved) {
    through.put_blocked(static_cast<unsigned>(thread_), moved);
    __syncthreads();
    through.template get_striped<shape::threads>(static_cast<unsigned>(thread_), moved);
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

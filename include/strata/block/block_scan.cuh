// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_scan_raking.cuh>
#include <strata/block/specializations/block_scan_warp_scans.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_scan.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN

/// How BlockScan works. Blocks of up to 32 threads use only shuffles, with every algorithm.
enum BlockScanAlgorithm {
  /// All threads write their items to shared memory. Each thread of the first warp reduces consecutive items,
  /// the warp scans these sums, and each of its threads scans its items. There are two operator calls per item. Choose
  /// this algorithm for operators that take long compared with shared memory. Two barriers.
  ///
  /// A thread of the first warp keeps its items in registers if they are few. From sm_80 on, blocks of more than 512
  /// threads in whole warps scan `Sum` of integers of up to 32 bits as by BLOCK_SCAN_WARP_SCANS, which is faster there.
  BLOCK_SCAN_RAKING,
  /// As BLOCK_SCAN_RAKING, but the first warp always keeps the items in registers between the reduction and the scan.
  /// So the first warp reads each item once instead of twice. This takes one register for each 4 bytes of a thread's
  /// Threads / 32 items.
  BLOCK_SCAN_RAKING_MEMOIZE,
  /// Each warp scans by shuffles, then adds the sums of the warps before it. Lowest latency, least shared
  /// memory, and one barrier; a prefix functor takes a second one.
  BLOCK_SCAN_WARP_SCANS,
};

namespace detail {

/// What precedes the first item of a block: nothing; a value that every thread has; or the result, in lane 0, of a
/// functor that the first warp calls with the sum of the block's items.
struct no_prefix {
  static constexpr bool is_value = false, is_callback = false;
};

template <class T>
struct prefix_value {
  static constexpr bool is_value = true, is_callback = false;
  const T& value;
};

template <class Callback>
struct prefix_callback {
  static constexpr bool is_value = false, is_callback = true;
  Callback& callback;
};

/// Distinguishes a prefix callback from an operator or an aggregate at the same position of an overload. Where the
/// compiler cannot tell if an argument can be called, every argument that is neither of these two is a callback.
template <class Callback, class T>
inline constexpr bool is_callback = std::is_invocable_r_v<T, Callback&, T> ||
                                    (is_unknown_if_callable && !std::is_convertible_v<Callback&, T> &&
                                     !std::is_invocable_v<Callback&, T, T>);
template <class Callback, class T>
using if_callback = std::enable_if_t<is_callback<Callback, T>, int>;

/// The overloads of BlockScan, for an algorithm that scans one item of each thread. `aggregate` may be
/// not_given, and so may `valid_items`, if all are valid.
template <class T, int Threads, class Algorithm>
struct block_scan_forms {
  typename Algorithm::storage& storage;
  int thread;

  template <class Item, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void inclusive(const Item& input, Item& output, Operator& op, Prefix prefix, Aggregate&& aggregate,
                          Valid valid_items) {
    if constexpr (operator_requirements<Operator, T>::are_met) {
      scan<true>(input, output, op, prefix, aggregate, valid_items);
    }
  }
  template <class Item, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void exclusive(const Item& input, Item& output, Operator& op, Prefix prefix, Aggregate&& aggregate,
                          Valid valid_items) {
    if constexpr (operator_requirements<Operator, T>::are_met) {
      scan<false>(input, output, op, prefix, aggregate, valid_items);
    }
  }

 private:
  template <bool Inclusive, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void scan(const T& input, T& output, Operator& op, Prefix prefix, Aggregate&& aggregate, Valid valid_items) {
    constexpr bool full = !is_given<Valid>;
    int valid = Threads;
    if constexpr (!full) {
      if (valid_items < 1) return;
      if (valid_items < Threads) valid = valid_items;
    }
    const T result = Algorithm::template scan<Inclusive, full>(storage, thread, input, op, prefix, aggregate, valid);
    if (full || thread < valid) output = result;
  }

  /// Each thread reduces its array, the threads' sums are scanned, and each thread scans its array after the
  /// sum of the arrays before it. This takes the fewest operator calls, and no second array in registers.
  template <bool Inclusive, std::size_t Items, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void scan(const T (&input)[Items], T (&output)[Items], Operator& op, Prefix prefix, Aggregate&& aggregate,
                     Valid valid_items) {
    constexpr bool full = !is_given<Valid>;
    constexpr int items = static_cast<int>(Items);
    if constexpr (items == 1) {
      scan<Inclusive>(input[0], output[0], op, prefix, aggregate, valid_items);
    } else {
      int valid_threads = Threads;
      int thread_valid = items;
      T sum = input[0];
      if constexpr (full) {
        sum = detail::reduce_in_thread<items>(sum, input, op, 1);
      } else {
        if (valid_items < 1) return;
        if (valid_items < Threads * items) valid_threads = detail::ceiling_divide(valid_items, items);
        thread_valid = valid_items - thread * items;
        STRATA_UNROLL
        for (int i = 1; i < items; ++i) {
          if (i < thread_valid) sum = static_cast<T>(op(sum, input[i]));
        }
      }
      const T before =
          Algorithm::template scan<false, full>(storage, thread, sum, op, prefix, aggregate, valid_threads);
      // In a sum of words without a prefix, `before` is 0 in the first thread, and may be added there, too.
      constexpr bool has_prefix = Prefix::is_value || Prefix::is_callback || adds_as_words<Operator, T>;
      detail::scan_in_thread<Inclusive, false, full, items>(+input, +output, op, before, has_prefix || thread > 0,
                                                            thread_valid);
    }
  }
};

}  // namespace detail

/// Scans one item, or an array of items, of every thread of a block, in any association:
///
///     inclusive: output[i] = op(... op(op(prefix, item[0]), item[1]) ..., item[i])
///     exclusive: output[i] = op(... op(op(prefix, item[0]), item[1]) ..., item[i - 1])
///
/// - Items are numbered by thread, row-major (x fastest), and within a thread by array index. Operands keep their
///   order, so the operator need only be associative. It is called only with items, the prefix and results of such
///   calls.
/// - Every thread of the block must call, in uniform control flow, with the same arguments except for items
///   and outputs. Any number of threads, 1 to 1024. An output may be the input's variable.
/// - The prefix is an `initial_value`, or the value that `block_prefix_callback_op(block_aggregate)` returns.
///   Without a prefix, sums begin with `T{}`, and the first output of other exclusive scans is unspecified.
/// - `T block_prefix_callback_op(T block_aggregate)` is called once by every thread of the first warp (by all
///   threads of a smaller block), in uniform control flow, with the sum of all items. The value that it
///   returns in thread 0 precedes the items. The functor is taken by reference and may keep a running total.
/// - `block_aggregate` is the sum of all items, without any prefix: the same bits in every thread.
/// - The PartialTile overloads scan the first `valid_items` items of the tile (of the threads, or of the threads'
///   arrays together). The operator is not called with others, and outputs of others are not written. If `valid_items`
///   exceeds the tile, all are scanned. If it is 0 or less, nothing is written or called.
/// - Arrays: each thread reduces its array, the threads' sums are scanned, then each thread scans its array
///   after its prefix: 2 operator calls for each item, and those of the algorithm for each thread.
/// - Determinism: the association depends on the types, the block's shape and the overload alone, so
///   floating-point results repeat bit for bit. An output does not depend on `valid_items`.
/// - Shared memory: WARP_SCANS takes a `T` for each warp, and one for the prefix. RAKING and RAKING_MEMOIZE take a `T`
///   for the aggregate, and an item for each thread. Each of these items is rounded up to an odd number of units. A
///   unit has 4, 8 or 16 bytes: the most that the item's size allows. Padding adds at most one unit in 8. There are no
///   bank conflicts if `T` is aligned to at most 16 bytes. Blocks of one warp need no shared memory.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// // Called with the sum of each tile; returns the sum of all tiles before it.
/// struct running_total {
///   int total;
///   STRATA_D int operator()(int block_aggregate) { return (total += block_aggregate) - block_aggregate; }
/// };
/// __managed__ int numbers[3 * 128], sums[3 * 128];
///
/// STRATA_KERNEL void running_sums(const int* in, int* out, int tiles) {
///   using BlockScan = strata::BlockScan<int, 128>;
///   STRATA_SHARED(temp_storage, BlockScan::TempStorage);
///   running_total prefix{0};
///   for (int tile = 0; tile < tiles; ++tile) {
///     const int i = tile * 128 + static_cast<int>(threadIdx.x);
///     BlockScan(temp_storage).InclusiveSum(in[i], out[i], prefix);
///     __syncthreads();
///   }
/// }
///
/// int main() {
///   for (int i = 0; i < 3 * 128; ++i) numbers[i] = i;
///   if (strata::launch({"running_sums", 1, 128}, running_sums, numbers, sums, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d ... %d\n", sums[0], sums[1], sums[2], sums[3 * 128 - 1]);
/// }
/// // prints: 0 1 3 ... 73536
/// @endcode
template <class T, int BlockDimX, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockScan {
  static_assert(detail::relocatable_requirements<T>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  using algorithm = std::conditional_t<Algorithm == BLOCK_SCAN_WARP_SCANS || threads <= warp_threads,
                                       detail::block_scan_warp_scans<T, threads>,
                                       detail::block_scan_raking<T, threads, Algorithm == BLOCK_SCAN_RAKING_MEMOIZE>>;

  template <std::size_t N>
  using items = T[N];
  using none = detail::not_given;
  using no_prefix = detail::no_prefix;
  using value = detail::prefix_value<T>;
  template <class Callback>
  using callback = detail::prefix_callback<Callback>;

 public:
  struct TempStorage : Uninitialized<typename algorithm::storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockScan() : BlockScan(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockScan(TempStorage& temp_storage)
      : forms_{temp_storage.Alias(), shape::thread_rank("BlockScan")} {}

  /// Exclusive sum of one item per thread.
  STRATA_D void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T{}, strata::Sum{}); }
  /// Exclusive sum of one item per thread. `block_aggregate` receives the sum of all items.
  STRATA_D void ExclusiveSum(T input, T& output, T& block_aggregate) {
    ExclusiveScan(input, output, T{}, strata::Sum{}, block_aggregate);
  }
  /// Exclusive sum of one item per thread, after the prefix that `block_prefix_callback_op` returns.
  template <class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveSum(T input, T& output, Callback& block_prefix_callback_op) {
    ExclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }
  /// Exclusive sum of an array of items per thread.
  template <std::size_t N>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output) {
    ExclusiveScan(input, output, T{}, strata::Sum{});
  }
  /// Exclusive sum of an array of items per thread. `block_aggregate` receives the sum of all items.
  template <std::size_t N>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output, T& block_aggregate) {
    ExclusiveScan(input, output, T{}, strata::Sum{}, block_aggregate);
  }
  /// Exclusive sum of an array of items per thread, after the prefix that `block_prefix_callback_op` returns.
  template <std::size_t N, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output, Callback& block_prefix_callback_op) {
    ExclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }

  /// Exclusive scan of one item per thread, with an unspecified first output.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  /// Exclusive scan of one item per thread, with an unspecified first output. `block_aggregate` receives the sum of all
  /// items.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  /// Exclusive scan of one item per thread, after `initial_value`.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  /// Exclusive scan of one item per thread, after `initial_value`. `block_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  /// Exclusive scan of one item per thread, after the prefix that `block_prefix_callback_op` returns.
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op, Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }
  /// Exclusive scan of an array of items per thread, with an unspecified first output.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  /// Exclusive scan of an array of items per thread, with an unspecified first output. `block_aggregate` receives the
  /// sum of all items.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  /// Exclusive scan of an array of items per thread, after `initial_value`.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  /// Exclusive scan of an array of items per thread, after `initial_value`. `block_aggregate` receives the sum of all
  /// items.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                              T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  /// Exclusive scan of an array of items per thread, after the prefix that `block_prefix_callback_op` returns.
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op,
                              Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }

  /// Exclusive scan of the first `valid_items` items of the block, one per thread, with an unspecified first output.
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, one per thread, with an unspecified first output.
  /// `block_aggregate` receives the sum of these items.
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, one per thread, after `initial_value`.
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, one per thread, after `initial_value`.
  /// `block_aggregate` receives the sum of these items.
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, one per thread, after the prefix that
  /// `block_prefix_callback_op` returns.
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, an array per thread, with an unspecified first
  /// output.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, an array per thread, with an unspecified first
  /// output. `block_aggregate` receives the sum of these items.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, an array per thread, after `initial_value`.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, an array per thread, after `initial_value`.
  /// `block_aggregate` receives the sum of these items.
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  /// Exclusive scan of the first `valid_items` items of the block, an array per thread, after the prefix that
  /// `block_prefix_callback_op` returns.
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }

  /// Inclusive sum of one item per thread.
  STRATA_D void InclusiveSum(T input, T& output) { InclusiveScan(input, output, strata::Sum{}); }
  /// Inclusive sum of one item per thread. `block_aggregate` receives the sum of all items.
  STRATA_D void InclusiveSum(T input, T& output, T& block_aggregate) {
    InclusiveScan(input, output, strata::Sum{}, block_aggregate);
  }
  /// Inclusive sum of one item per thread, after the prefix that `block_prefix_callback_op` returns.
  template <class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveSum(T input, T& output, Callback& block_prefix_callback_op) {
    InclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }
  /// Inclusive sum of an array of items per thread.
  template <std::size_t N>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output) {
    InclusiveScan(input, output, strata::Sum{});
  }
  /// Inclusive sum of an array of items per thread. `block_aggregate` receives the sum of all items.
  template <std::size_t N>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output, T& block_aggregate) {
    InclusiveScan(input, output, strata::Sum{}, block_aggregate);
  }
  /// Inclusive sum of an array of items per thread, after the prefix that `block_prefix_callback_op` returns.
  template <std::size_t N, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output, Callback& block_prefix_callback_op) {
    InclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }

  /// Inclusive scan of one item per thread.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  /// Inclusive scan of one item per thread. `block_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  /// Inclusive scan of one item per thread, after `initial_value`.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, T initial_value, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  /// Inclusive scan of one item per thread, after `initial_value`. `block_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, T initial_value, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  /// Inclusive scan of one item per thread, after the prefix that `block_prefix_callback_op` returns.
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op, Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }
  /// Inclusive scan of an array of items per thread.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  /// Inclusive scan of an array of items per thread. `block_aggregate` receives the sum of all items.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  /// Inclusive scan of an array of items per thread, after `initial_value`.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  /// Inclusive scan of an array of items per thread, after `initial_value`. `block_aggregate` receives the sum of all
  /// items.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                              T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  /// Inclusive scan of an array of items per thread, after the prefix that `block_prefix_callback_op` returns.
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op,
                              Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }

  /// Inclusive scan of the first `valid_items` items of the block, one per thread.
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, one per thread. `block_aggregate` receives the sum
  /// of these items.
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, one per thread, after `initial_value`.
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, one per thread, after `initial_value`.
  /// `block_aggregate` receives the sum of these items.
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, one per thread, after the prefix that
  /// `block_prefix_callback_op` returns.
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, an array per thread.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, an array per thread. `block_aggregate` receives the
  /// sum of these items.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, an array per thread, after `initial_value`.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, an array per thread, after `initial_value`.
  /// `block_aggregate` receives the sum of these items.
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  /// Inclusive scan of the first `valid_items` items of the block, an array per thread, after the prefix that
  /// `block_prefix_callback_op` returns.
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  detail::block_scan_forms<T, threads, algorithm> forms_;
};

STRATA_NAMESPACE_END

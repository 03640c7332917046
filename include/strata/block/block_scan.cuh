// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_scan_forms.cuh>
#include <strata/block/specializations/block_scan_raking.cuh>
#include <strata/block/specializations/block_scan_warp_scans.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN

/// How BlockScan works. Blocks of up to 32 threads use only shuffles, with every algorithm.
enum BlockScanAlgorithm {
  /// All threads write their items to shared memory. Each thread of the first warp reduces consecutive items,
  /// the warp scans these sums, and each of its threads scans its items. Two operator calls per item: for
  /// operators that take long compared with shared memory. Two barriers.
  BLOCK_SCAN_RAKING,
  /// The same, but the first warp keeps the items in registers between the reduction and the scan: half the
  /// reads of shared memory, and one register for each 4 bytes of a thread's Threads / 32 items.
  BLOCK_SCAN_RAKING_MEMOIZE,
  /// Each warp scans by shuffles, then adds the sums of the warps before it. Lowest latency, least shared
  /// memory, and one barrier; a prefix functor takes a second one.
  BLOCK_SCAN_WARP_SCANS,
};

/// Scans one item, or an array of items, of every thread of a block, in any association:
///
///     inclusive: output[i] = op(... op(op(prefix, item[0]), item[1]) ..., item[i])
///     exclusive: output[i] = op(... op(op(prefix, item[0]), item[1]) ..., item[i - 1])
///
/// - Items are numbered by thread, row-major (x fastest), and within a thread by array index. Operands keep
///   their order, so the operator need be associative only. It is called only with items, the prefix and
///   results of such calls.
/// - Every thread of the block must call, in uniform control flow, with the same arguments except for items
///   and outputs. Any number of threads, 1 to 1024. An output may be the input's variable.
/// - The prefix is an `initial_value`, or the value that `block_prefix_callback_op(block_aggregate)` returns.
///   Without a prefix, sums begin with `T{}`, and the first output of other exclusive scans is unspecified.
/// - `T block_prefix_callback_op(T block_aggregate)` is called once by every thread of the first warp (by all
///   threads of a smaller block), in uniform control flow, with the sum of all items. The value that it
///   returns in thread 0 precedes the items. It is taken by reference and may keep a running total.
/// - `block_aggregate` is the sum of all items, without any prefix: the same bits in every thread.
/// - The PartialTile overloads scan the first `valid_items` items of the tile (of the threads, or of the
///   threads' arrays together). The operator is not called with others, and outputs of others are not
///   written. If `valid_items` exceeds the tile, all are scanned. If it is 0 or less, nothing is written or
///   called.
/// - Arrays: each thread reduces its array, the threads' sums are scanned, then each thread scans its array
///   after its prefix: 2 operator calls for each item, and those of the algorithm for each thread.
/// - Determinism: the association depends on the types, the block's shape and the overload alone, so
///   floating-point results repeat bit for bit. An output does not depend on `valid_items`.
/// - Shared memory: WARP_SCANS takes sizeof(T) per warp and once more. RAKING and RAKING_MEMOIZE take one
///   item, and the threads' items, each rounded up to an odd number of 4-, 8- or 16-byte accesses (the
///   widest that its size allows), with at most one access in 8 for padding. No bank conflicts up to
///   16-byte alignment. Blocks of one warp need none.
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

  STRATA_D BlockScan() : BlockScan(private_storage()) {}
  STRATA_D explicit BlockScan(TempStorage& temp_storage)
      : forms_{temp_storage.Alias(), shape::thread_rank("BlockScan")} {}

  STRATA_D void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T{}, strata::Sum{}); }
  STRATA_D void ExclusiveSum(T input, T& output, T& block_aggregate) {
    ExclusiveScan(input, output, T{}, strata::Sum{}, block_aggregate);
  }
  template <class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveSum(T input, T& output, Callback& block_prefix_callback_op) {
    ExclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }
  template <std::size_t N>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output) {
    ExclusiveScan(input, output, T{}, strata::Sum{});
  }
  template <std::size_t N>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output, T& block_aggregate) {
    ExclusiveScan(input, output, T{}, strata::Sum{}, block_aggregate);
  }
  template <std::size_t N, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveSum(const items<N>& input, items<N>& output, Callback& block_prefix_callback_op) {
    ExclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }

  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScan(T input, T& output, Operator scan_op, Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                              T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScan(const items<N>& input, items<N>& output, Operator scan_op,
                              Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }

  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  template <class Operator>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items, T& block_aggregate) {
    forms_.exclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void ExclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.exclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }

  STRATA_D void InclusiveSum(T input, T& output) { InclusiveScan(input, output, strata::Sum{}); }
  STRATA_D void InclusiveSum(T input, T& output, T& block_aggregate) {
    InclusiveScan(input, output, strata::Sum{}, block_aggregate);
  }
  template <class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveSum(T input, T& output, Callback& block_prefix_callback_op) {
    InclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }
  template <std::size_t N>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output) {
    InclusiveScan(input, output, strata::Sum{});
  }
  template <std::size_t N>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output, T& block_aggregate) {
    InclusiveScan(input, output, strata::Sum{}, block_aggregate);
  }
  template <std::size_t N, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveSum(const items<N>& input, items<N>& output, Callback& block_prefix_callback_op) {
    InclusiveScan(input, output, strata::Sum{}, block_prefix_callback_op);
  }

  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, T initial_value, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, T initial_value, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op, Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, none{});
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                              T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, none{});
  }
  template <std::size_t N, class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScan(const items<N>& input, items<N>& output, Operator scan_op,
                              Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, none{});
  }

  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  template <class Operator>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, T initial_value, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
  template <class Operator, class Callback, detail::if_callback<Callback, T> = 0>
  STRATA_D void InclusiveScanPartialTile(T input, T& output, Operator scan_op, int valid_items,
                                         Callback& block_prefix_callback_op) {
    forms_.inclusive(input, output, scan_op, callback<Callback>{block_prefix_callback_op}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, Operator scan_op, int valid_items,
                                         T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, no_prefix{}, block_aggregate, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, none{}, valid_items);
  }
  template <std::size_t N, class Operator>
  STRATA_D void InclusiveScanPartialTile(const items<N>& input, items<N>& output, T initial_value, Operator scan_op,
                                         int valid_items, T& block_aggregate) {
    forms_.inclusive(input, output, scan_op, value{initial_value}, block_aggregate, valid_items);
  }
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

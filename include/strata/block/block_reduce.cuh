// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_reduce_raking.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/warp_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_REDUCE_WARP_REDUCTIONS: every warp reduces its items by shuffles and writes one aggregate;
/// after a barrier the aggregates are reduced. Operands keep their order.
template <class T, int Threads>
struct block_reduce_warp_reductions {
  static constexpr int warps = ceiling_divide(Threads, warp_threads);
  static constexpr int last_warp_lanes = Threads - (warps - 1) * warp_threads;

  // There are three ways to combine the aggregates. One thread loads them into registers and combines neighbours; in an
  // all-reduce, every thread does so. Or a warp combines them by shuffles: each doubling takes a shuffle (about 25
  // cycles for each 4 bytes) and an operator call. Or a warp combines them by the hardware's instructions for
  // reductions.
  //
  // These instructions take as long for 2 aggregates as for 32. There is one for a word, and two for a pair of ArgMin
  // or ArgMax, whose operator is costly. On an H200, with CUDA 13.0, 2026-11-28, full device, 2048 reductions by each
  // block:
  //
  // | items, threads x items | one thread | a warp by shuffles | by instructions |
  // |---|---|---|---|
  // | float sum, 512 x 1 | 612 us | 727 us | |
  // | double sum, 512 x 1 | 984 us | 1229 us | |
  // | int sum, 128 x 1 | 429 us | | 453 us |
  // | int sum, 256 x 4 | 394 us | | 400 us |
  // | int sum, 512 x 1 | | 505 us | 396 us |
  // | float Max, 256 x 1 | 533 us | | 539 us |
  // | float Max, 512 x 1 | 579 us | | 544 us |
  // | ArgMax of int and float, 128 x 1 | 1239 us | | 1035 us |
  // | ArgMax of int and float, 512 x 1 | 1460 us | | 944 us |
  static constexpr bool every_thread_combines = warps <= (sizeof(T) <= 16 ? 8 : 2);
  template <class Operator>
  static constexpr bool combines_in_hardware = warp_reduces_in_hardware<Operator, T>&& last_warp_lanes ==
                                               warp_threads&& warps > (is_extreme_of_pairs<Operator, T> ? 2 : 8);
  template <class Operator>
  static constexpr bool thread_0_combines =
      !combines_in_hardware<Operator> && (every_thread_combines || (warps <= 16 && warps * sizeof(T) <= 128));

  // In an all-reduce every warp combines the aggregates, which saves a barrier. All warps must do it in the same
  // way, or their floating-point results would differ; a last warp with fewer lanes than aggregates cannot.
  static constexpr bool every_warp_combines = last_warp_lanes >= warps;

  static constexpr std::size_t alignment = alignof(T) < 16 && warps * sizeof(T) % 16 == 0 ? 16 : alignof(T);
  struct storage {
    alignas(alignment) T aggregates[static_cast<std::size_t>(warps)];
  };

  template <bool Full, bool AllThreads, class Operator>
  STRATA_D static T reduce(storage& shared, int thread, const T& value, Operator op, int valid) {
    if constexpr (warps == 1) {
      const T result = detail::reduce_lanes<last_warp_lanes, Full>(value, op, valid);
      if constexpr (AllThreads) return broadcast<last_warp_lanes>(result);
      return result;
    } else {
      const int warp = thread / warp_threads;
      const int lane = thread % warp_threads;
      const int warp_valid = valid - warp * warp_threads;
      // This call is outside of branches, so that the compiler knows that the lanes are together. A warp without valid
      // items passes 1: then no operator is called.
      T result = reduce_warp<Full>(warp, value, op, Full ? warp_valid : detail::most(warp_valid, 1));
      // The lane's number is read from a special register here. To keep `lane` until here would take a register.
      if (platform::lane_id() == 0 && (Full || warp_valid > 0)) shared.aggregates[warp] = result;
      __syncthreads();

      const int active_warps = ceiling_divide(valid, warp_threads);
      if constexpr (AllThreads && every_thread_combines) {
        result = combine_aggregates<Full>(shared, shared.aggregates[0], op, active_warps);
      } else if constexpr (!AllThreads && thread_0_combines<Operator>) {
        if (thread == 0) result = combine_aggregates<Full>(shared, result, op, active_warps);
      } else if constexpr (AllThreads && every_warp_combines) {
        result = reduce_aggregates<Full>(shared, lane, value, op, active_warps);
        if constexpr (!combines_in_hardware<Operator>) {
          result = last_warp_lanes == warp_threads || warp < warps - 1 ? broadcast<warp_threads>(result)
                                                                       : broadcast<last_warp_lanes>(result);
        }
      } else {
        if (thread < warp_threads) result = reduce_aggregates<Full>(shared, lane, value, op, active_warps);
        if constexpr (AllThreads) {
          // Only thread 0 has read aggregate 0.
          if (thread == 0) shared.aggregates[0] = result;
          __syncthreads();
          result = shared.aggregates[0];
        }
      }
      return result;
    }
  }

 private:
  // Full warps and the last one run different code: the last may lack lanes.
  template <bool Full, class Operator>
  STRATA_D static T reduce_warp(int warp, const T& value, Operator op, int valid) {
    if (last_warp_lanes < warp_threads && warp == warps - 1) {
      return detail::reduce_lanes<last_warp_lanes, Full>(value, op, valid);
    }
    return detail::reduce_lanes<warp_threads, Full>(value, op, detail::least(valid, warp_threads));
  }

  // Combines neighbours as a tree, which takes log2(warps) operator calls one after the other; items of more than 8
  // bytes in order, which takes fewer registers. `aggregate_0` is the first aggregate: thread 0 has it in a register.
  template <bool Full, int First = 0, int Last = warps, class Operator>
  STRATA_D static T combine_aggregates(const storage& shared, const T& aggregate_0, Operator& op, int active_warps) {
    if constexpr (Last - First == 1) {
      return First == 0 ? aggregate_0 : shared.aggregates[First];
    } else {
      constexpr int middle = sizeof(T) > 8 ? Last - 1 : First + (1 << (detail::log2_ceiling(Last - First) - 1));
      const T left = combine_aggregates<Full, First, middle>(shared, aggregate_0, op, active_warps);
      if (!Full && middle >= active_warps) return left;
      const T right = combine_aggregates<Full, middle, Last>(shared, aggregate_0, op, active_warps);
      return static_cast<T>(op(left, right));
    }
  }

  template <bool Full, class Operator>
  STRATA_D static T reduce_aggregates(const storage& shared, int lane, const T& value, Operator op, int active_warps) {
    T result = value;
    if constexpr (combines_in_hardware<Operator>) {
      const bool is_active = lane < (Full ? warps : active_warps);
      if (is_active) result = shared.aggregates[lane];
      result = detail::reduce_warp_in_hardware<Operator>(result, is_active);
    } else if (lane < warps) {
      if (Full || lane < active_warps) result = shared.aggregates[lane];
      result = detail::reduce_lanes<warps, Full>(result, op, active_warps);
    }
    return result;
  }

  template <int Lanes>
  STRATA_D static T broadcast(const T& value) {
    constexpr unsigned mask = full_warp_mask >> (warp_threads - Lanes);
    return platform::shuffle(mask, value, 0);
  }
};

}  // namespace detail

/// How BlockReduce works. Blocks of up to 32 threads access no shared memory, with every algorithm.
enum BlockReduceAlgorithm {
  /// Threads from 32 on write their item to shared memory; the first warp combines strided items. Only for commutative
  /// operators.
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  /// All threads write their item to shared memory; each thread of the first warp combines consecutive
  /// items. One operator call per item: for operators that are costly compared with shared memory.
  BLOCK_REDUCE_RAKING,
  /// Each warp reduces by shuffles or by one instruction (see WarpReduce), then the warps' aggregates are reduced.
  /// Lowest latency and least shared memory.
  BLOCK_REDUCE_WARP_REDUCTIONS,
};

/// Reduces one item, or a few, of every thread of a block to one value:
/// `op(... op(op(item[0], item[1]), item[2]) ..., item[n - 1])`, in any association.
///
/// - Items are numbered by thread, row-major (x fastest), and within a thread by array index. Operands keep that order,
///   so the operator need only be associative. BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY is the exception. The operator is
///   called only with items and results of such calls, never with a neutral value or with the inputs of threads from
///   `num_valid` on.
/// - Every thread of the block must call, in uniform control flow, with the same `num_valid`.
/// - `Reduce` and `Sum` return the result in thread 0; what they return in other threads is unspecified. `AllReduce`
///   and `AllSum` return the same bits in every thread.
/// - `num_valid`: threads 0 .. num_valid - 1 hold an item. A value below 1 counts as 1, and a value above the number of
///   threads as that number.
/// - Determinism: the association depends on the types, the block's shape and `num_valid` alone, so
///   floating-point results repeat bit for bit.
/// - Shared memory: WARP_REDUCTIONS takes sizeof(T) per warp. RAKING takes the items, each rounded up to an odd number
///   of units, and at most one unit of padding for every 128 bytes. A unit has as many bytes as the alignment of `T`,
///   at least 4. RAKING_COMMUTATIVE_ONLY takes the items except the first 32, rounded up in the same way, without
///   padding. There are no bank conflicts if `T` is aligned to at most 16 bytes.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the storage is used for
///   anything else. Objects of one type constructed without storage share theirs.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float numbers[256], means[2];
///
/// // The mean of each 128 numbers.
/// STRATA_KERNEL void mean(const float* in, float* out) {
///   using BlockReduce = strata::BlockReduce<float, 128>;
///   STRATA_SHARED(temp_storage, BlockReduce::TempStorage);
///   const float sum = BlockReduce(temp_storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
///   if (threadIdx.x == 0) out[blockIdx.x] = sum / 128;
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) numbers[i] = static_cast<float>(i);
///   if (strata::launch({"mean", 2, 128}, mean, numbers, means) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%g %g\n", means[0], means[1]);
/// }
/// // prints: 63.5 191.5
/// @endcode
template <class T, int BlockDimX, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockReduce {
  static_assert(detail::relocatable_requirements<T>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  using algorithm =
      std::conditional_t<Algorithm == BLOCK_REDUCE_WARP_REDUCTIONS || threads <= warp_threads,
                         detail::block_reduce_warp_reductions<T, threads>,
                         std::conditional_t<Algorithm == BLOCK_REDUCE_RAKING, detail::block_reduce_raking<T, threads>,
                                            detail::block_reduce_raking_commutative_only<T, threads>>>;
  using storage = typename algorithm::storage;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockReduce() : BlockReduce(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockReduce(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockReduce")) {}

  /// Reduces one item per thread. The result is in thread 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op) {
    detail::operator_requirements<Operator, T>::check();
    return algorithm::template reduce<true, false>(storage_, thread_, input, reduction_op, threads);
  }
  /// Reduces an array of items per thread. The result is in thread 0.
  template <std::size_t ItemsPerThread, class Operator>
  STRATA_D T Reduce(const T (&inputs)[ItemsPerThread], Operator reduction_op) {
    return Reduce(static_cast<T>(detail::reduce_in_order(inputs, reduction_op)), reduction_op);
  }
  /// Reduces the items of the first `num_valid` threads. The result is in thread 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op, int num_valid) {
    return reduce_valid<false>(input, reduction_op, num_valid);
  }

  /// Adds up one item per thread. The result is in thread 0.
  STRATA_D T Sum(T input) { return Reduce(input, strata::Sum{}); }
  /// Adds up an array of items per thread. The result is in thread 0.
  template <std::size_t ItemsPerThread>
  STRATA_D T Sum(const T (&inputs)[ItemsPerThread]) {
    return Reduce(inputs, strata::Sum{});
  }
  /// Adds up the items of the first `num_valid` threads. The result is in thread 0.
  STRATA_D T Sum(T input, int num_valid) { return Reduce(input, strata::Sum{}, num_valid); }

  /// Reduces one item per thread. The result is in every thread.
  template <class Operator>
  STRATA_D T AllReduce(T input, Operator reduction_op) {
    detail::operator_requirements<Operator, T>::check();
    return algorithm::template reduce<true, true>(storage_, thread_, input, reduction_op, threads);
  }
  /// Reduces an array of items per thread. The result is in every thread.
  template <std::size_t ItemsPerThread, class Operator>
  STRATA_D T AllReduce(const T (&inputs)[ItemsPerThread], Operator reduction_op) {
    return AllReduce(static_cast<T>(detail::reduce_in_order(inputs, reduction_op)), reduction_op);
  }
  /// Reduces the items of the first `num_valid` threads. The result is in every thread.
  template <class Operator>
  STRATA_D T AllReduce(T input, Operator reduction_op, int num_valid) {
    return reduce_valid<true>(input, reduction_op, num_valid);
  }

  /// Adds up one item per thread. The result is in every thread.
  STRATA_D T AllSum(T input) { return AllReduce(input, strata::Sum{}); }
  /// Adds up an array of items per thread. The result is in every thread.
  template <std::size_t ItemsPerThread>
  STRATA_D T AllSum(const T (&inputs)[ItemsPerThread]) {
    return AllReduce(inputs, strata::Sum{});
  }
  /// Adds up the items of the first `num_valid` threads. The result is in every thread.
  STRATA_D T AllSum(T input, int num_valid) { return AllReduce(input, strata::Sum{}, num_valid); }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  template <bool AllThreads, class Operator>
  STRATA_D T reduce_valid(const T& input, Operator op, int num_valid) {
    detail::operator_requirements<Operator, T>::check();
    if (num_valid >= threads) {
      return algorithm::template reduce<true, AllThreads>(storage_, thread_, input, op, threads);
    }
    return algorithm::template reduce<false, AllThreads>(storage_, thread_, input, op, detail::most(num_valid, 1));
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/classic/tree.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The conflict degree of the step of BlockTreeReduce that combines elements `stride` apart.
template <class T, class Layout>
STRATA_HD constexpr int tree_reduce_degree(int stride, int elements) {
  return detail::most(detail::tree_access_degree<T, Layout>(0, 2 * stride, elements - stride),
                      detail::tree_access_degree<T, Layout>(stride, 2 * stride, elements));
}

/// The largest conflict degree of all accesses of BlockTreeReduce.
template <class T, class Layout>
STRATA_HD constexpr int tree_reduce_degree(int elements) {
  int degree = detail::tree_access_degree<T, Layout>(0, 1, elements);
  for (int stride = 1; stride < elements; stride *= 2) {
    degree = detail::most(degree, detail::tree_reduce_degree<T, Layout>(stride, elements));
  }
  return degree;
}

}  // namespace detail

/// Reduces one item, or a few, of every thread of a block to one value by a binary tree in shared
/// memory. With strides s = 1, 2, 4 ..., thread i combines element 2 s i with element 2 s i + s:
///
///     for (int s = 1; s < n; s *= 2)                       // log2(n) steps, n - 1 operator calls
///       for (int i = 0; 2 * s * i + s < n; ++i)            // the threads
///         tree[2 * s * i] = op(tree[2 * s * i], tree[2 * s * i + s]);
///
/// Textbooks begin with this reduction. Neighbours stay neighbours: operands keep their order, so that the operator
/// need only be associative. It is also a textbook's first example of bank conflicts: the accesses of a step have a
/// stride of 2 s elements. (BlockReduce works in registers, for the most part.)
///
/// Conflict degree of the steps of 1,024 elements in `PlainLayout`, and in the default, which is
/// padded by `TreeLayout`:
///
/// | s | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 |
/// |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
/// | plain, 4 bytes | 2 | 4 | 8 | 16 | 32 | 16 | 8 | 4 | 2 | 1 |
/// | plain, 8 bytes | 2 | 4 | 8 | 16 | 16 | 16 | 8 | 4 | 2 | 1 |
/// | plain, 16 bytes | 2 | 4 | 8 | 8 | 8 | 8 | 8 | 4 | 2 | 1 |
/// | padded, any | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |
///
/// - `Layout` may be any type of shared_layout.hpp that is free of conflicts. (`SwizzledLayout<4, 32>` is one that
///   needs no padding.) Only `PlainLayout` may have conflicts, because it is there to show them.
/// - Every thread of the block must call, in uniform control flow, with the same `num_valid`. Any number of threads.
///   The result is in thread 0; what other threads get is unspecified.
/// - Items are numbered by thread, and within a thread by array index. `num_valid`: threads 0 .. num_valid - 1 hold an
///   item. A value below 1 counts as 1, and a value above the number of threads as that number. The operator is never
///   called with the inputs of threads from `num_valid` on.
/// - Determinism: the association depends only on how many threads have items and how many items each has, so
///   floating-point results repeat bit for bit.
/// - Shared memory: an item per thread, and the padding. An item that takes more than one access of 1 to 16 bytes is
///   rounded up to an odd number of words. A word has as many bytes as the alignment of `T`, and at least 4. This
///   alignment may be at most 16 bytes.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the
///   storage is used for anything else. Objects of one type constructed without storage share
///   theirs.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float numbers[512], maxima[2];
///
/// // The largest of each 256 numbers.
/// STRATA_KERNEL void largest(const float* in, float* out) {
///   using TreeReduce = strata::BlockTreeReduce<float, 256>;
///   STRATA_SHARED(temp_storage, TreeReduce::TempStorage);
///   const float item = in[blockIdx.x * 256 + threadIdx.x];
///   const float result = TreeReduce(temp_storage).Reduce(item, strata::Max{});
///   if (threadIdx.x == 0) out[blockIdx.x] = result;
/// }
///
/// int main() {
///   for (int i = 0; i < 512; ++i) numbers[i] = static_cast<float>(i * 100 % 513);
///   if (strata::launch({"largest", 2, 256}, largest, numbers, maxima) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%g %g\n", maxima[0], maxima[1]);
/// }
/// // prints: 510 512
/// @endcode
template <class T, int BlockThreads, class Layout = TreeLayout<T, BlockThreads>>
class BlockTreeReduce {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(std::is_same_v<Layout, PlainLayout> || detail::tree_reduce_degree<T, Layout>(BlockThreads) == 1,
                "BlockTreeReduce has bank conflicts in this layout: omit the argument Layout for a padded layout, or "
                "pass PlainLayout if you want the conflicts");
  using shape = detail::block_shape<BlockThreads, 1, 1>;
  using storage = LayoutStorage<T, detail::item_layout<T, Layout>, BlockThreads>;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockTreeReduce() : BlockTreeReduce(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockTreeReduce(TempStorage& temp_storage)
      : tree_(temp_storage.Alias()), thread_(shape::thread_rank("BlockTreeReduce")) {}

  /// Reduces one item per thread. The result is in thread 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op) {
    return reduce(input, reduction_op, BlockThreads);
  }
  /// Reduces an array of items per thread. The result is in thread 0.
  template <std::size_t ItemsPerThread, class Operator>
  STRATA_D T Reduce(const T (&inputs)[ItemsPerThread], Operator reduction_op) {
    return Reduce(static_cast<T>(detail::reduce_in_order(inputs, reduction_op)), reduction_op);
  }
  /// Reduces the items of the first `num_valid` threads. The result is in thread 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op, int num_valid) {
    return reduce(input, reduction_op, num_valid < 1 ? 1 : detail::least(num_valid, BlockThreads));
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

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  template <class Operator>
  STRATA_D T reduce(const T& input, Operator op, int valid) {
    detail::operator_requirements<Operator, T>::check();
    T result = input;
    if (thread_ < valid) tree_[thread_] = input;
    STRATA_UNROLL
    for (int stride = 1; stride < BlockThreads; stride *= 2) {
      // The threads that worked on the previous step.
      detail::tree_barrier<BlockThreads>(thread_, detail::ceiling_divide(BlockThreads, stride));
      const int target = thread_ * (2 * stride);
      if (target + stride < valid) {
        const T left = tree_[target];
        const T right = tree_[target + stride];
        result = static_cast<T>(op(left, right));
        tree_[target] = result;
      }
    }
    return result;
  }

  storage& tree_;
  int thread_;
};

STRATA_NAMESPACE_END

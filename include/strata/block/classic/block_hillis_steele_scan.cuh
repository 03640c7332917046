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

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The largest conflict degree of all accesses of BlockHillisSteeleScan. Each warp accesses neighbouring
/// elements, which begin `distance` elements before those of its threads.
template <class T, class Layout>
STRATA_HD constexpr int hillis_steele_degree(int elements) {
  int degree = detail::tree_access_degree<T, Layout>(0, 1, elements);
  for (int distance = 1; distance < elements; distance *= 2) {
    // The first warp of which all threads have an element to read. It reads from this element on.
    const int first = round_up(distance, warp_threads) - distance;
    degree = detail::most(degree, detail::tree_access_degree<T, Layout>(first, 1, elements));
  }
  return degree;
}

}  // namespace detail

/// Scans one item of every thread of a block in log2(n) steps, half as many as BlockBlellochScan, by n log2(n)
/// operator calls instead of 2 n: the step-efficient scan (Hillis and Steele, "Data Parallel Algorithms",
/// 1986). After the step with distance d each element is the sum of the 2 d elements that end there:
///
///     for (int d = 1; d < n; d *= 2)
///       for (int i = d; i < n; ++i) next[i] = op(current[i - d], current[i]);   // the threads
///
/// Steps alternate between two buffers, so that one barrier per step is enough: no thread writes to the buffer
/// that others still read.
///
/// - Bank conflicts: none, without padding, because neighbouring threads access neighbouring elements at every
///   distance. Padding would cause conflicts: with `PaddedLayout<32, 1>` elements 1 to 32 are in 31 banks.
/// - Operands keep their order, so the operator need only be associative. It is called only with items, the initial
///   value and results of such calls: no identity is needed.
/// - Every thread of the block must call, in uniform control flow, with the same initial value. Any number of
///   threads. Results are valid in every thread, and so is `block_aggregate`, which does not contain the
///   initial value.
/// - Determinism: the association is fixed, so floating-point results repeat bit for bit.
/// - Shared memory: two items per thread. An item that takes more than one access of 1 to 16 bytes is rounded up to an
///   odd number of words. A word has as many bytes as the alignment of `T`, and at least 4. This alignment may be at
///   most 16 bytes.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float numbers[256], maxima[256];
///
/// // The largest number up to each.
/// STRATA_KERNEL void running_maximum(const float* in, float* out) {
///   using Scan = strata::BlockHillisSteeleScan<float, 256>;
///   STRATA_SHARED(temp_storage, Scan::TempStorage);
///   float item = in[threadIdx.x];
///   Scan(temp_storage).InclusiveScan(item, item, strata::Max{});
///   out[threadIdx.x] = item;
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) numbers[i] = static_cast<float>(i * 5 % 7);
///   if (strata::launch({"running_maximum", 1, 256}, running_maximum, numbers, maxima) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 6; ++i) std::printf("%g:%g ", numbers[i], maxima[i]);
/// }
/// // prints: 0:0 5:5 3:5 1:5 6:6 4:6
/// @endcode
template <class T, int BlockThreads>
class BlockHillisSteeleScan {
  static_assert(detail::relocatable_requirements<T>::check());
  // not for users: it holds for every T and BlockThreads
  static_assert(detail::hillis_steele_degree<T, PlainLayout>(BlockThreads) == 1,
                "neighbouring elements have bank conflicts");
  using shape = detail::block_shape<BlockThreads, 1, 1>;
  using buffer = LayoutStorage<T, detail::item_layout<T, PlainLayout>, BlockThreads>;
  struct storage {
    buffer buffers[2];
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockHillisSteeleScan() : BlockHillisSteeleScan(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockHillisSteeleScan(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockHillisSteeleScan")) {}

  /// output = op(... op(item 0, item 1) ..., item of this thread)
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op) {
    output = scan(input, scan_op);
  }
  /// output = op(... op(item 0, item 1) ..., item of this thread), and `block_aggregate` is the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& output, Operator scan_op, T& block_aggregate) {
    output = scan(input, scan_op);
    publish(output);
    block_aggregate = last_buffer()[BlockThreads - 1];
  }

  /// output = op(... op(initial_value, item 0) ..., item of the thread before this)
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op) {
    publish(scan(input, scan_op));
    output = before(initial_value, scan_op);
  }
  /// output = op(... op(initial_value, item 0) ..., item of the thread before this), and `block_aggregate` is the sum
  /// of all items.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& output, T initial_value, Operator scan_op, T& block_aggregate) {
    publish(scan(input, scan_op));
    output = before(initial_value, scan_op);
    block_aggregate = last_buffer()[BlockThreads - 1];
  }

  /// output = item 0 + ... + item of this thread
  STRATA_D void InclusiveSum(T input, T& output) { InclusiveScan(input, output, strata::Sum{}); }
  /// output = item 0 + ... + item of the thread before this
  STRATA_D void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T{}, strata::Sum{}); }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  static constexpr int steps = Log2<BlockThreads>::VALUE;
  STRATA_D buffer& last_buffer() { return storage_.buffers[steps % 2]; }

  /// A thread does not read its own element: the value is in a register.
  template <class Operator>
  STRATA_D T scan(T sum, Operator op) {
    detail::operator_requirements<Operator, T>::check();
    STRATA_UNROLL
    for (int step = 0; step < steps; ++step) {
      buffer& current = storage_.buffers[step % 2];
      current[thread_] = sum;
      __syncthreads();
      const int other = thread_ - (1 << step);
      if (other >= 0) {
        const T left = current[other];
        sum = static_cast<T>(op(left, sum));
      }
    }
    return sum;
  }

  /// Writes to the buffer that the last step did not read.
  STRATA_D void publish(const T& sum) {
    last_buffer()[thread_] = sum;
    __syncthreads();
  }

  template <class Operator>
  STRATA_D T before(const T& initial_value, Operator op) {
    if (thread_ == 0) return initial_value;
    const T left = last_buffer()[thread_ - 1];
    return static_cast<T>(op(initial_value, left));
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

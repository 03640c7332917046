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

/// The conflict degree of the levels of BlockBlellochScan at which the two elements of a pair are `stride` apart.
template <class T, class Layout>
STRATA_HD constexpr int blelloch_level_degree(int stride, int elements) {
  return detail::most(detail::tree_access_degree<T, Layout>(stride - 1, 2 * stride, elements),
                      detail::tree_access_degree<T, Layout>(2 * stride - 1, 2 * stride, elements));
}

/// The largest conflict degree of all accesses of BlockBlellochScan, including those to the threads' items.
template <class T, class Layout>
STRATA_HD constexpr int blelloch_degree(int elements, int items_per_thread) {
  int degree = 1;
  for (int item = 0; item < items_per_thread; ++item) {
    degree = detail::most(degree, detail::tree_access_degree<T, Layout>(item, items_per_thread, elements));
  }
  for (int stride = 1; stride < elements; stride *= 2) {
    degree = detail::most(degree, detail::blelloch_level_degree<T, Layout>(stride, elements));
  }
  return degree;
}

}  // namespace detail

/// Scans the items of a block by a binary tree in shared memory, in place, with 2 (n - 1) operator calls for n
/// elements, and n more for an inclusive scan: Blelloch's work-efficient scan ("Prefix Sums and Their Applications",
/// 1990). The upsweep replaces element (i + 1) 2 s - 1, for each i and s, by the sum of the 2 s elements that end
/// there. The downsweep replaces each sum by the sum of all elements to its left:
///
///     for (s = 1; s < n; s *= 2)                               // upsweep: pairs (l, r), s apart,
///       for (r = 2 s - 1; r < n; r += 2 s) t[r] = op(t[r - s], t[r]);     // one per thread
///     t[n - 1] = initial;
///     for (s = n / 2; s > 0; s /= 2)                           // downsweep
///       for (r = 2 s - 1; r < n; r += 2 s) {
///         left = t[r - s]; t[r - s] = t[r]; t[r] = op(t[r], left);
///       }
///
/// The initial value need not be an identity. Operands keep their order, so the operator need only be associative.
///
/// BlockHillisSteeleScan has more additions and half as many barriers. For sums of 1,024 elements on an H200, it takes
/// 78 % of this class's time with elements of 4 bytes, and 99 % with 8 bytes. This class is there to be read, and for
/// its few additions.
///
/// All accesses have a stride that is a power of two. This table has their conflict degrees for 1,024 elements. The
/// layouts are `PlainLayout`, `i + i / 32` (the classical padding), and the default `TreeLayout`, which has as many
/// levels of padding as the elements need:
///
/// | s | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 |
/// |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
/// | plain, 4 bytes | 2 | 4 | 8 | 16 | 32 | 16 | 8 | 4 | 2 | 1 |
/// | plain, 8 bytes | 2 | 4 | 8 | 16 | 16 | 16 | 8 | 4 | 2 | 1 |
/// | plain, 16 bytes | 2 | 4 | 8 | 8 | 8 | 8 | 8 | 4 | 2 | 1 |
/// | i + i / 32, 4 bytes | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |
/// | i + i / 32, 8 bytes | 2 | 2 | 2 | 2 | 1 | 2 | 2 | 2 | 2 | 1 |
/// | i + i / 32, 16 bytes | 2 | 4 | 4 | 2 | 1 | 2 | 4 | 4 | 2 | 1 |
/// | default, any | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |
///
/// (For 2,048 elements of 4 bytes, i + i / 32 has a degree of 2 for s from 32 to 512.)
///
/// - `Layout`: any layout of shared_layout.hpp without conflicts, or `PlainLayout`, which has them: it is for
///   comparison.
/// - `ElementsPerBlock` must be a power of two and a multiple of `BlockThreads`. Each thread has
///   ElementsPerBlock / BlockThreads items, in blocked arrangement: items are numbered by thread, and
///   within a thread by array index. `output` may be `input`.
/// - Every thread of the block must call, in uniform control flow, with the same initial value. Results are
///   valid in every thread, and so is `block_aggregate`, which does not contain the initial value.
/// - Determinism: the association is fixed, so floating-point results repeat bit for bit.
/// - Shared memory: the elements, the padding, and one item. An element that takes more than one access of 1 to 16
///   bytes is rounded up to an odd number of words. A word has as many bytes as the alignment of `T`, and at least 4.
///   This alignment may be at most 16 bytes.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int lengths[256], begins[256];
///
/// // Where each of 256 lists begins if they lie side by side, from their lengths.
/// STRATA_KERNEL void find_begins(const int* in, int* out) {
///   using Scan = strata::BlockBlellochScan<int, 128>;  // 256 elements, 2 per thread
///   STRATA_SHARED(temp_storage, Scan::TempStorage);
///   int items[2];
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   Scan(temp_storage).ExclusiveSum(items, items);
///   for (unsigned i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = items[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) lengths[i] = 1 + i % 3;
///   if (strata::launch({"find_begins", 1, 128}, find_begins, lengths, begins) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 8; ++i) std::printf("%d ", begins[i]);
/// }
/// // prints: 0 1 3 6 7 9 12 13
/// @endcode
template <class T, int BlockThreads, int ElementsPerBlock = 2 * BlockThreads,
          class Layout = TreeLayout<T, ElementsPerBlock>>
class BlockBlellochScan {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(detail::is_power_of_two(ElementsPerBlock) && ElementsPerBlock % BlockThreads == 0,
                "BlockBlellochScan: ElementsPerBlock must be a power of two and a multiple of BlockThreads: fill up "
                "shorter inputs with the identity of the operator");
  using shape = detail::block_shape<BlockThreads, 1, 1>;
  static constexpr int items_per_thread = ElementsPerBlock / BlockThreads;
  static_assert(std::is_same_v<Layout, PlainLayout> ||
                    detail::blelloch_degree<T, Layout>(ElementsPerBlock, items_per_thread) == 1,
                "BlockBlellochScan has bank conflicts in this layout: omit the argument Layout for a padded layout, "
                "or pass PlainLayout if you want the conflicts");
  struct storage {
    LayoutStorage<T, detail::item_layout<T, Layout>, ElementsPerBlock> tree;
    T aggregate;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockBlellochScan() : BlockBlellochScan(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockBlellochScan(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockBlellochScan")) {}

  /// output[i] = op(... op(initial_value, item 0) ..., item i - 1)
  template <class Operator>
  STRATA_D void ExclusiveScan(const T (&input)[items_per_thread], T (&output)[items_per_thread], T initial_value,
                              Operator scan_op) {
    scan<false>(input, initial_value, scan_op);
    take_prefixes(output);
  }
  /// output[i] = op(... op(initial_value, item 0) ..., item i - 1), and `block_aggregate` is the sum of all items.
  template <class Operator>
  STRATA_D void ExclusiveScan(const T (&input)[items_per_thread], T (&output)[items_per_thread], T initial_value,
                              Operator scan_op, T& block_aggregate) {
    scan<true>(input, initial_value, scan_op);
    take_prefixes(output);
    block_aggregate = storage_.aggregate;
  }

  /// output[i] = op(... op(initial_value, item 0) ..., item i)
  template <class Operator>
  STRATA_D void InclusiveScan(const T (&input)[items_per_thread], T (&output)[items_per_thread], T initial_value,
                              Operator scan_op) {
    scan<false>(input, initial_value, scan_op);
    add_to_prefixes(input, output, scan_op);
  }
  /// output[i] = op(... op(initial_value, item 0) ..., item i), and `block_aggregate` is the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(const T (&input)[items_per_thread], T (&output)[items_per_thread], T initial_value,
                              Operator scan_op, T& block_aggregate) {
    scan<true>(input, initial_value, scan_op);
    add_to_prefixes(input, output, scan_op);
    block_aggregate = storage_.aggregate;
  }

  /// output[i] = item 0 + ... + item i - 1
  STRATA_D void ExclusiveSum(const T (&input)[items_per_thread], T (&output)[items_per_thread]) {
    ExclusiveScan(input, output, T{}, strata::Sum{});
  }
  /// output[i] = item 0 + ... + item i
  STRATA_D void InclusiveSum(const T (&input)[items_per_thread], T (&output)[items_per_thread]) {
    InclusiveScan(input, output, T{}, strata::Sum{});
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  /// Leaves the exclusive scan in the tree, where every thread may read it.
  template <bool WithAggregate, class Operator>
  STRATA_D void scan(const T (&input)[items_per_thread], const T& initial_value, Operator op) {
    detail::operator_requirements<Operator, T>::check();
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      storage_.tree[thread_ * items_per_thread + i] = input[i];
    }
    STRATA_UNROLL
    for (int stride = 1; stride < ElementsPerBlock; stride *= 2) {
      const int pairs = ElementsPerBlock / (2 * stride);
      barrier(2 * pairs);  // This many threads wrote on the level below.
      for_each_pair(pairs, stride, [op](T& left_item, T& right_item) {
        const T left = left_item;
        const T right = right_item;
        right_item = static_cast<T>(op(left, right));
      });
    }
    if (thread_ == 0) {  // It has just written the root.
      T& root = storage_.tree[ElementsPerBlock - 1];
      if constexpr (WithAggregate) storage_.aggregate = root;
      root = initial_value;
    }
    STRATA_UNROLL
    for (int stride = ElementsPerBlock / 2; stride > 0; stride /= 2) {
      const int pairs = ElementsPerBlock / (2 * stride);
      barrier(pairs);
      for_each_pair(pairs, stride, [op](T& left_item, T& right_item) {
        const T left = left_item;
        const T prefix = right_item;
        left_item = prefix;
        right_item = static_cast<T>(op(prefix, left));
      });
    }
    barrier(BlockThreads);
  }

  template <class Combine>
  STRATA_D void for_each_pair(int pairs, int stride, Combine combine) {
    STRATA_UNROLL
    for (int first = 0; first < pairs; first += BlockThreads) {
      const int pair = first + thread_;
      if (pair < pairs) {
        const int left = pair * (2 * stride) + stride - 1;
        combine(storage_.tree[left], storage_.tree[left + stride]);
      }
    }
  }

  STRATA_D void barrier(int active) {
    detail::tree_barrier<BlockThreads>(thread_, detail::least(active, BlockThreads));
  }

  STRATA_D void take_prefixes(T (&output)[items_per_thread]) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      output[i] = storage_.tree[thread_ * items_per_thread + i];
    }
  }
  template <class Operator>
  STRATA_D void add_to_prefixes(const T (&input)[items_per_thread], T (&output)[items_per_thread], Operator op) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const T prefix = storage_.tree[thread_ * items_per_thread + i];
      output[i] = static_cast<T>(op(prefix, input[i]));
    }
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

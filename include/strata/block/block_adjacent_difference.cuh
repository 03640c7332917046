// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/neighbour_items.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// Differences of neighbouring items of a tile, by any operator. The tile `x` has B * N items, N in each of B
/// threads, in blocked arrangement: thread t, numbered row-major (x fastest), has items t * N to t * N + N - 1.
///
/// | call | output for item i | output for the first (Left) or last (Right) item |
/// |---|---|---|
/// | `SubtractLeft(input, output, op)` | op(x[i], x[i - 1]) | x[0] |
/// | `SubtractLeft(input, output, op, tile_predecessor_item)` | the same | op(x[0], tile_predecessor_item) |
/// | `SubtractRight(input, output, op)` | op(x[i], x[i + 1]) | x[last] |
/// | `SubtractRight(input, output, op, tile_successor_item)` | the same | op(x[last], tile_successor_item) |
///
/// For partial tiles there are `SubtractLeftPartialTile(input, output, op, valid_items)`, which also takes a
/// `tile_predecessor_item` as its last argument, and `SubtractRightPartialTile(input, output, op, valid_items)`. The
/// first `valid_items` items are valid: none if it is not positive, all if it is above B * N. The last item is the last
/// valid one. Items that are not valid are copied to the output, and `op` is not called with them.
///
/// - Every thread of the block must call, in uniform control flow, with the same `valid_items`. Each thread gets the
///   results of its own items. Only the first thread's `tile_predecessor_item` and the last thread's
///   `tile_successor_item` are used.
/// - `input` and `output` may be the same array.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - Shared memory: as much as BlockShuffle, one item per thread. One barrier. Bank conflicts: none.
/// - `T` must be trivially relocatable. Outputs may have another type, to which results of `op` and items are
///   converted. `SubtractLeft` with a predecessor and `SubtractRight` with a successor convert no items.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct step {
///   STRATA_HD int operator()(int item, int before) const { return item - before; }
/// };
/// __managed__ int squares[256], steps[256];
///
/// // How far each number is from the one before it. The first one has none before it.
/// STRATA_KERNEL void find_steps(const int* in, int* out) {
///   using Difference = strata::BlockAdjacentDifference<int, 128>;
///   STRATA_SHARED(temp_storage, Difference::TempStorage);
///   int items[2];
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   Difference(temp_storage).SubtractLeft(items, items, step{});
///   for (unsigned i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = items[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) squares[i] = i * i;
///   if (strata::launch({"find_steps", 1, 128}, find_steps, squares, steps) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d ... %d\n", steps[0], steps[1], steps[2], steps[255]);
/// }
/// // prints: 0 1 3 ... 509
/// @endcode
template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockAdjacentDifference {
  static_assert(detail::relocatable_requirements<T>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  using neighbour_items = detail::neighbour_items<T, threads>;

 public:
  struct TempStorage : Uninitialized<neighbour_items> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockAdjacentDifference() : BlockAdjacentDifference(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockAdjacentDifference(TempStorage& temp_storage)
      : items_(temp_storage.Alias()), thread_(shape::thread_rank("BlockAdjacentDifference")) {}

  /// Writes op(x[i], x[i - 1]) for each item. The first item of the tile is copied.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractLeft(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                             DifferenceOp difference_op) {
    subtract_left(input, output, difference_op, detail::no_item{}, [this](int i) { return thread_ > 0 || i > 0; });
  }
  /// Writes op(x[i], x[i - 1]) for each item. `tile_predecessor_item` precedes the first item of the tile.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractLeft(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                             DifferenceOp difference_op, T tile_predecessor_item) {
    subtract_left(input, output, difference_op, tile_predecessor_item, every_item{});
  }

  /// Writes op(x[i], x[i - 1]) for the first `valid_items` items. The first item and invalid items are copied.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractLeftPartialTile(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                                        DifferenceOp difference_op, int valid_items) {
    const int valid = of_thread<ItemsPerThread>(valid_items);
    subtract_left(input, output, difference_op, detail::no_item{},
                  [this, valid](int i) { return i < valid && (thread_ > 0 || i > 0); });
  }
  /// Writes op(x[i], x[i - 1]) for the first `valid_items` items. `tile_predecessor_item` precedes the first item, and
  /// invalid items are copied.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractLeftPartialTile(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                                        DifferenceOp difference_op, int valid_items, T tile_predecessor_item) {
    const int valid = of_thread<ItemsPerThread>(valid_items);
    subtract_left(input, output, difference_op, tile_predecessor_item, [valid](int i) { return i < valid; });
  }

  /// Writes op(x[i], x[i + 1]) for each item. The last item of the tile is copied.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractRight(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                              DifferenceOp difference_op) {
    constexpr int last = static_cast<int>(ItemsPerThread) - 1;
    subtract_right(input, output, difference_op, detail::no_item{},
                   [this](int i) { return thread_ < threads - 1 || i < last; });
  }
  /// Writes op(x[i], x[i + 1]) for each item. `tile_successor_item` follows the last item of the tile.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractRight(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                              DifferenceOp difference_op, T tile_successor_item) {
    subtract_right(input, output, difference_op, tile_successor_item, every_item{});
  }

  /// Writes op(x[i], x[i + 1]) for the first `valid_items` items. The last valid item and invalid items are copied.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp>
  STRATA_D void SubtractRightPartialTile(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                                         DifferenceOp difference_op, int valid_items) {
    constexpr int tile = threads * static_cast<int>(ItemsPerThread);
    const int valid = of_thread<ItemsPerThread>(detail::least(valid_items, tile));
    subtract_right(input, output, difference_op, detail::no_item{}, [valid](int i) { return i < valid - 1; });
  }

 private:
  struct every_item {};

  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  /// Returns how many of the first `count` items of the tile belong to this thread and the threads after it. The result
  /// is 0 or negative if there are none.
  template <std::size_t ItemsPerThread>
  STRATA_D int of_thread(int count) {
    return detail::most(count, 0) - thread_ * static_cast<int>(ItemsPerThread);
  }

  /// `has_difference(i)` says whether the operator is called for item i of the thread. The loop goes from the last item
  /// to the first, so that results may overwrite the items. The item of the other thread is used last: the other items
  /// do not wait for it.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp, class Predecessor, class HasDifference>
  STRATA_D void subtract_left(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                              DifferenceOp& difference_op, const Predecessor& predecessor,
                              HasDifference has_difference) {
    detail::difference_requirements<DifferenceOp, T>::check();
    items_.put(thread_, input[ItemsPerThread - 1]);
    __syncthreads();
    STRATA_UNROLL
    for (int i = static_cast<int>(ItemsPerThread) - 1; i >= 0; --i) {
      output[i] = result<Output>(difference_op, input[i], has_difference, i,
                                 [&] { return i > 0 ? input[i - 1] : items_.before(thread_, predecessor); });
    }
  }

  /// Counterpart of subtract_left: the loop goes from the first item to the last, for the same reasons.
  template <std::size_t ItemsPerThread, class Output, class DifferenceOp, class Successor, class HasDifference>
  STRATA_D void subtract_right(const T (&input)[ItemsPerThread], Output (&output)[ItemsPerThread],
                               DifferenceOp& difference_op, const Successor& successor, HasDifference has_difference) {
    detail::difference_requirements<DifferenceOp, T>::check();
    constexpr int last = static_cast<int>(ItemsPerThread) - 1;
    items_.put(thread_, input[0]);
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i <= last; ++i) {
      output[i] = result<Output>(difference_op, input[i], has_difference, i,
                                 [&] { return i < last ? input[i + 1] : items_.after(thread_, successor); });
    }
  }

  /// Returns the output for item i of the thread. `neighbour()` is called only if `has_difference(i)` is true: the
  /// first or last thread may have no other thread to read from.
  template <class Output, class DifferenceOp, class HasDifference, class Neighbour>
  STRATA_D static Output result(DifferenceOp& difference_op, T item, HasDifference& has_difference, int i,
                                Neighbour neighbour) {
    if constexpr (!std::is_same_v<HasDifference, every_item>) {
      if (!has_difference(i)) return static_cast<Output>(item);
    }
    T other = neighbour();
    return static_cast<Output>(difference_op(item, other));
  }

  neighbour_items& items_;
  int thread_;
};

STRATA_NAMESPACE_END

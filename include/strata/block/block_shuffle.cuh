// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/neighbour_items.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// Moves items between the threads of a block, by a distance that is the same for all. `in[t]` is the input of
/// thread t of n, numbered row-major (x fastest):
///
/// | call | thread t gets | threads without a source |
/// |---|---|---|
/// | `Offset(in, out, d)` | in[t + d] | keep `out`: where t + d < 0 or t + d >= n |
/// | `Rotate(in, out, d)` | in[(t + d) mod n] | none |
/// | `Up(in, prev)` | prev[i] = item i - 1 of its `in`; prev[0] = the last of thread t - 1 | thread 0 keeps prev[0] |
/// | `Down(in, prev)` | prev[i] = item i + 1 of its `in`; last: item 0 of thread t + 1 | thread n - 1 keeps its last |
///
/// - `Up` with `block_suffix` also gives every thread the block's last item, `Down` with
///   `block_prefix` the block's first.
/// - Every thread of the block must call, in uniform control flow, with the same distance: any
///   `int` for `Offset`, any `unsigned` for `Rotate`.
/// - Input and output may be the same variable or array.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - Shared memory: one item per thread. An item that takes more than one access of 1, 2, 4, 8 or 16 bytes is rounded
///   up to an odd number of words. A word has as many bytes as the item's alignment, but at least 4 and at most 16. One
///   barrier.
/// - Bank conflicts: none, for any type, distance and shape, with one exception: if `Rotate` wraps around
///   within a warp, and the storage is no multiple of 128 bytes, that warp's read may take 2 wavefronts.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int mileage[256], distances[256];
///
/// // How far a car went in each hour. Nothing is before the first item, so `previous` stays 0 there.
/// STRATA_KERNEL void differences(const int* in, int* out) {
///   using BlockShuffle = strata::BlockShuffle<int, 128>;
///   STRATA_SHARED(temp_storage, BlockShuffle::TempStorage);
///   int items[2], previous[2] = {};
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   BlockShuffle(temp_storage).Up(items, previous);
///   for (unsigned i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = items[i] - previous[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) mileage[i] = 100 + i * i;
///   if (strata::launch({"differences", 1, 128}, differences, mileage, distances) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 6; ++i) std::printf("%d ", distances[i]);
/// }
/// // prints: 100 1 3 5 7 9
/// @endcode
template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockShuffle {
  static_assert(detail::relocatable_requirements<T>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  using neighbour_items = detail::neighbour_items<T, threads>;

 public:
  struct TempStorage : Uninitialized<neighbour_items> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockShuffle() : BlockShuffle(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockShuffle(TempStorage& temp_storage)
      : items_(temp_storage.Alias()), thread_(shape::thread_rank("BlockShuffle")) {}

  /// Gives each thread the item of the thread `distance` after it. Threads without a source keep `output`.
  STRATA_D void Offset(T input, T& output, int distance = 1) {
    publish(input);
    // Unsigned: a source below 0 is far above the last thread, and no distance overflows.
    const unsigned source = static_cast<unsigned>(thread_) + static_cast<unsigned>(distance);
    if (source < static_cast<unsigned>(threads)) output = items_.get(static_cast<int>(source));
  }

  /// Gives each thread the item of the thread `distance` after it. The first thread follows the last.
  STRATA_D void Rotate(T input, T& output, unsigned distance = 1) {
    publish(input);
    const int source = thread_ + static_cast<int>(distance % static_cast<unsigned>(threads));
    output = items_.get(source < threads ? source : source - threads);
  }

  /// Shifts the items of the block by one: prev[i] is the item before input[i].
  template <std::size_t ItemsPerThread>
  STRATA_D void Up(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread]) {
    publish(input[ItemsPerThread - 1]);
    STRATA_UNROLL
    for (std::size_t i = ItemsPerThread - 1; i > 0; --i) prev[i] = input[i - 1];
    if (thread_ > 0) prev[0] = items_.get(thread_ - 1);
  }
  /// Shifts the items of the block by one: prev[i] is the item before input[i]. Every thread also gets the last item of
  /// the block.
  template <std::size_t ItemsPerThread>
  STRATA_D void Up(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread], T& block_suffix) {
    Up(input, prev);
    block_suffix = items_.get(threads - 1);
  }

  /// Shifts the items of the block by one: prev[i] is the item after input[i].
  template <std::size_t ItemsPerThread>
  STRATA_D void Down(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread]) {
    publish(input[0]);
    STRATA_UNROLL
    for (std::size_t i = 0; i + 1 < ItemsPerThread; ++i) prev[i] = input[i + 1];
    if (thread_ < threads - 1) prev[ItemsPerThread - 1] = items_.get(thread_ + 1);
  }
  /// Shifts the items of the block by one: prev[i] is the item after input[i]. Every thread also gets the first item of
  /// the block.
  template <std::size_t ItemsPerThread>
  STRATA_D void Down(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread], T& block_prefix) {
    Down(input, prev);
    block_prefix = items_.get(0);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D void publish(const T& item) {
    items_.put(thread_, item);
    __syncthreads();
  }

  neighbour_items& items_;
  int thread_;
};

STRATA_NAMESPACE_END

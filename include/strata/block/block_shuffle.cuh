// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_shape.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Moves items between the threads of a block, by a distance that is the same for all. `in[t]` is the input of
/// thread t of n, numbered row-major (x fastest):
///
/// | call | thread t gets | threads without a source |
/// |---|---|---|
/// | `Offset(in, out, d)` | in[t + d] | keep `out`: where t + d < 0 or t + d >= n |
/// | `Rotate(in, out, d)` | in[(t + d) mod n] | none |
/// | `Up(in, prev)` | prev[i] = in[i - 1], prev[0] from thread t - 1 | thread 0 keeps prev[0] |
/// | `Down(in, prev)` | prev[i] = in[i + 1], the last from thread t + 1 | thread n - 1 keeps that |
///
/// - `Up` with `block_suffix` also gives every thread the block's last item, `Down` with
///   `block_prefix` the block's first.
/// - Every thread of the block must call, in uniform control flow, with the same distance: any
///   `int` for `Offset`, any `unsigned` for `Rotate`.
/// - Input and output may be the same variable or array.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - Shared memory: one item per thread. An item that is not one access of 1, 2, 4, 8 or 16 bytes is rounded
///   up to an odd number of words of its alignment. One barrier.
/// - Bank conflicts: none, for any type, distance and shape, with one exception: if `Rotate` wraps around
///   within a warp, and the storage is no multiple of 128 bytes, that warp's read may take 2 wavefronts.
/// - `T` must be trivially relocatable.
///
/// @code
/// STRATA_KERNEL void differences(const int* in, int* out) {
///   using BlockShuffle = strata::BlockShuffle<int, 128>;
///   STRATA_SHARED(temp_storage, BlockShuffle::TempStorage);
///   int items[2], previous[2] = {};
///   for (int i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   BlockShuffle(temp_storage).Up(items, previous);
///   for (int i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = items[i] - previous[i];
/// }
/// @endcode
template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockShuffle {
  static_assert(is_trivially_relocatable_v<T>,
                "BlockShuffle<T> moves items between threads as bits: T must be trivially"
                " relocatable");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  using layout = ExchangeLayout<T, 1>;
  // Accesses items as units of the layout, whatever their members are.
  using tile = detail::exchange_tile<T, 1, threads>;
  // Neighbouring threads access neighbouring items; the distance determines the first.
  template <int First>
  using neighbours = strided_access<layout::unit_bytes, 1, First>;
  // not for users: the layout serves every type
  static_assert(strata::conflict_degree(layout{}, neighbours<0>{}) == 1 &&
                    strata::conflict_degree(layout{}, neighbours<1>{}) == 1,
                "neighbouring items must lie in different banks: take ExchangeLayout<T, 1>");

 public:
  struct TempStorage : Uninitialized<tile> {};

  STRATA_D BlockShuffle() : BlockShuffle(private_storage()) {}
  STRATA_D explicit BlockShuffle(TempStorage& temp_storage)
      : tile_(temp_storage.Alias()), thread_(shape::thread_rank("BlockShuffle")) {}

  STRATA_D void Offset(T input, T& output, int distance = 1) {
    publish(input);
    // Unsigned: a source below 0 is far above the last thread, and no distance overflows.
    const unsigned source = static_cast<unsigned>(thread_) + static_cast<unsigned>(distance);
    if (source < static_cast<unsigned>(threads)) output = item_of(static_cast<int>(source));
  }

  STRATA_D void Rotate(T input, T& output, unsigned distance = 1) {
    publish(input);
    const int source = thread_ + static_cast<int>(distance % static_cast<unsigned>(threads));
    output = item_of(source < threads ? source : source - threads);
  }

  template <std::size_t ItemsPerThread>
  STRATA_D void Up(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread]) {
    publish(input[ItemsPerThread - 1]);
    STRATA_UNROLL
    for (std::size_t i = ItemsPerThread - 1; i > 0; --i) prev[i] = input[i - 1];
    if (thread_ > 0) prev[0] = item_of(thread_ - 1);
  }
  template <std::size_t ItemsPerThread>
  STRATA_D void Up(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread], T& block_suffix) {
    Up(input, prev);
    block_suffix = item_of(threads - 1);
  }

  template <std::size_t ItemsPerThread>
  STRATA_D void Down(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread]) {
    publish(input[0]);
    STRATA_UNROLL
    for (std::size_t i = 0; i + 1 < ItemsPerThread; ++i) prev[i] = input[i + 1];
    if (thread_ < threads - 1) prev[ItemsPerThread - 1] = item_of(thread_ + 1);
  }
  template <std::size_t ItemsPerThread>
  STRATA_D void Down(const T (&input)[ItemsPerThread], T (&prev)[ItemsPerThread], T& block_prefix) {
    Down(input, prev);
    block_prefix = item_of(0);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D static int position(int thread) { return tile::position(static_cast<unsigned>(thread)); }
  STRATA_D void publish(const T& item) {
    tile_.put(position(thread_), item);
    __syncthreads();
  }
  STRATA_D T item_of(int thread) { return tile_.get(position(thread)); }

  tile& tile_;
  int thread_;
};

STRATA_NAMESPACE_END

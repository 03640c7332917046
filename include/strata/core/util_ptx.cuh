// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/platform/shuffle_ptx.cuh>
#include <strata/core/types.hpp>

/// \file
/// Numbers of threads, lanes and warps, and shuffles among the lanes of a logical warp, by the names of CUB.

STRATA_NAMESPACE_BEGIN
namespace detail {

template <int LogicalWarpThreads>
struct shuffle_requirements {
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= warp_threads && is_power_of_two(LogicalWarpThreads),
                "ShuffleUp, ShuffleDown, ShuffleIndex: LogicalWarpThreads must be 1, 2, 4, 8, 16 or 32");
  static constexpr int width = LogicalWarpThreads;
};

}  // namespace detail

/// The number of the calling thread in its block, x fastest, for a block of these dimensions.
STRATA_D int RowMajorTid(int block_dim_x, int block_dim_y, int block_dim_z) {
  const int y = block_dim_y == 1 ? 0 : static_cast<int>(threadIdx.y) * block_dim_x;
  const int z = block_dim_z == 1 ? 0 : static_cast<int>(threadIdx.z) * block_dim_x * block_dim_y;
  return static_cast<int>(threadIdx.x) + y + z;
}

/// The number of the calling thread in its warp, 0 to 31.
STRATA_D unsigned LaneId() { return platform::lane_id(); }

/// A number that no other warp of the multiprocessor has at the same time. It need not be the warp's number in its
/// block: that is RowMajorTid(...) / 32.
STRATA_D unsigned WarpId() { return platform::warp_id(); }

/// The lanes of logical warp `warp_id` of a warp, as bits. If `LogicalWarpThreads` is not a power of two, a warp has
/// only one logical warp, its first lanes, whatever `warp_id` is.
template <int LogicalWarpThreads>
STRATA_HD unsigned WarpMask([[maybe_unused]] unsigned warp_id) {
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= warp_threads,
                "WarpMask: LogicalWarpThreads must be 1 to 32");
  constexpr unsigned lanes = full_warp_mask >> (warp_threads - LogicalWarpThreads);
  constexpr bool is_one_of_several = LogicalWarpThreads < warp_threads && detail::is_power_of_two(LogicalWarpThreads);
  return is_one_of_several ? lanes << (warp_id * static_cast<unsigned>(LogicalWarpThreads)) : lanes;
}

/// Returns the item of another lane of the logical warp, whose lanes are numbered from 0 on:
///
/// | call | lane l gets the item of lane | but its own item if that lane is |
/// |---|---|---|
/// | `ShuffleUp<N>(input, d, first_thread, mask)` | l - d | below `first_thread` |
/// | `ShuffleDown<N>(input, d, last_thread, mask)` | l + d | above `last_thread` |
/// | `ShuffleIndex<N>(input, src_lane, mask)` | `src_lane` modulo N | |
///
/// - `LogicalWarpThreads` is 1, 2, 4, 8, 16 or 32. `first_thread` is usually 0, and `last_thread` N - 1. Both are taken
///   modulo N, so 31 also means N - 1.
/// - `member_mask` has the lanes of the warp that call, at the same time and with the same mask. The lane that an item
///   comes from must be one of them. Logical warps of one warp may call separately, with masks of WarpMask.
/// - Distances are 0 to 31. No shared memory, no barrier.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ double numbers[64], sums[64];
///
/// // Adds to each item the one two lanes before it. The first two of each warp have none.
/// STRATA_KERNEL void add_pairs(const double* in, double* out) {
///   const double item = in[threadIdx.x];
///   const double before = strata::ShuffleUp<32>(item, 2, 0, 0xffffffff);
///   out[threadIdx.x] = strata::LaneId() < 2 ? item : item + before;
/// }
///
/// int main() {
///   for (int i = 0; i < 64; ++i) numbers[i] = i + 0.5;
///   if (strata::launch({"add_pairs", 1, 64}, add_pairs, numbers, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%g %g %g, %g %g %g\n", sums[0], sums[1], sums[2], sums[32], sums[33], sums[34]);
/// }
/// // prints: 0.5 1.5 3, 32.5 33.5 67
/// @endcode
template <int LogicalWarpThreads, class T>
STRATA_D T ShuffleUp(T input, int src_offset, int first_thread, unsigned member_mask) {
  static_assert(detail::relocatable_requirements<T>::check());
  constexpr int width = detail::shuffle_requirements<LogicalWarpThreads>::width;
  detail::item_words<T, unsigned> words(input);
  STRATA_UNROLL
  for (unsigned& word : words.word)
    word = platform::shuffle_up_word<width>(member_mask, word, src_offset, first_thread);
  return words.value();
}

/// Returns the value of the lane `src_offset` lanes above this one, or the lane's own value past `last_thread`.
template <int LogicalWarpThreads, class T>
STRATA_D T ShuffleDown(T input, int src_offset, int last_thread, unsigned member_mask) {
  static_assert(detail::relocatable_requirements<T>::check());
  constexpr int width = detail::shuffle_requirements<LogicalWarpThreads>::width;
  detail::item_words<T, unsigned> words(input);
  STRATA_UNROLL
  for (unsigned& word : words.word)
    word = platform::shuffle_down_word<width>(member_mask, word, src_offset, last_thread);
  return words.value();
}

/// Returns the value of lane `src_lane` of the logical warp.
template <int LogicalWarpThreads, class T>
STRATA_D T ShuffleIndex(T input, int src_lane, unsigned member_mask) {
  return platform::shuffle(member_mask, input, src_lane, detail::shuffle_requirements<LogicalWarpThreads>::width);
}

STRATA_NAMESPACE_END

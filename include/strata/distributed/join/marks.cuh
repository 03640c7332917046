// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/communication/peers.cuh>
#include <strata/distributed/exchange/partition.cuh>
#include <strata/distributed/join/route.cuh>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Finds the numbers of received rows from marks. A rank sends a mark of one bit for each of its rows, instead of a
/// number of 4 bytes for each row that moves, because the link is ten times slower than memory.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The layout of the marks that a rank receives for a side, in words. The marks of rank 0 come first, then the marks of
/// rank 1, and so on. The marks of a rank are the bits of whole tiles, and then, for each tile, the number of earlier
/// rows for the receiving rank.
template <class Key>
struct join_marks_layout {
  static constexpr int items_per_thread = detail::partition_items_per_thread(sizeof(Key));
  static constexpr unsigned tile_rows = static_cast<unsigned>(partition_threads * items_per_thread);
  static constexpr unsigned tile_words = tile_rows / warp_threads;

  static std::size_t tiles_of(std::int64_t rows) {
    return static_cast<std::size_t>(ceiling_divide<std::int64_t>(rows, tile_rows));
  }
  static std::size_t words_of(std::int64_t rows) { return tiles_of(rows) * (tile_words + 1); }
  /// The number of words for which a rank with so many rows has room. How many it needs depends on the rows of all
  /// ranks: if all have the same number of rows, it needs a word for every 32 / ranks rows.
  static std::size_t room_for(std::int64_t rows, int ranks) {
    constexpr std::size_t tiles_of_few_rows = 2;
    return static_cast<std::size_t>(rows) + static_cast<std::size_t>(ranks) * tiles_of_few_rows * (tile_words + 1);
  }
};

/// The received marks of each rank.
struct join_received_marks {
  const unsigned* words[max_peers];
  unsigned first_tile[max_peers + 1];  // among the tiles of all ranks
  unsigned first_number[max_peers];    // of the rows of a rank
  std::int64_t begin[max_peers];       // of the rows of a rank among all received rows
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes the numbers of all received rows. Each block takes one tile of a rank.
template <class Layout>
__launch_bounds__(partition_threads)
    STRATA_KERNEL void distributed_join_numbers_kernel(const STRATA_GRID_CONSTANT join_received_marks marks,
                                                       unsigned* numbers) {
  constexpr unsigned words_each = Layout::tile_words / partition_warps;
  // not for users: each warp has some words
  static_assert(words_each > 0 && Layout::tile_words % partition_warps == 0, "a tile has too few words");
  int rank = 0;
  while (blockIdx.x >= marks.first_tile[rank + 1]) ++rank;
  const unsigned tile = blockIdx.x - marks.first_tile[rank];
  const unsigned tiles = marks.first_tile[rank + 1] - marks.first_tile[rank];
  const unsigned* const words = marks.words[rank] + static_cast<std::size_t>(tile) * Layout::tile_words;
  const unsigned begin = marks.words[rank][static_cast<std::size_t>(tiles) * Layout::tile_words + tile];
  const unsigned lane = platform::lane_id(), first_word = threadIdx.x / warp_threads * words_each;
  unsigned before = 0;
  for (unsigned i = lane; i < first_word; i += warp_threads) before += static_cast<unsigned>(__popc(words[i]));
  before = detail::sum_of_warp(before);
  unsigned* out = numbers + marks.begin[rank] + begin + before;
  const unsigned first = marks.first_number[rank] + tile * Layout::tile_rows + lane;
  for (unsigned i = first_word; i < first_word + words_each; ++i) {
    const unsigned word = words[i];
    if ((word >> lane & 1) != 0) {
      out[__popc(word & platform::lane_mask_lt())] = first + i * static_cast<unsigned>(warp_threads);
    }
    out += __popc(word);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

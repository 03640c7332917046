// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/find_segments.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Larger capacities are reduced to this one. No memory holds so many rows. With this limit, the number of all output
/// chunks fits in join_tile_list::chunk_bits bits.
inline constexpr std::int64_t max_join_capacity = std::int64_t{1} << 46;

/// The number of output chunks, of `ChunkRows` rows each, of a tile with results [begin, begin + rows), as far as they
/// are below the capacity. See join_output_tuning::chunk_rows.
template <unsigned long long ChunkRows>
STRATA_HD unsigned long long join_output_chunks_of(unsigned long long begin, unsigned long long rows,
                                                   std::int64_t capacity) {
  const auto limit = static_cast<unsigned long long>(capacity);
  if (begin >= limit) return 0;
  if (rows > limit - begin) rows = limit - begin;
  return rows / ChunkRows + (rows % ChunkRows != 0 ? 1 : 0);
}

/// The tiles whose results are written in output chunks.
struct join_tile_list {
  /// Null if every tile is listed, at its index.
  unsigned long long* tiles;
  /// The position of the tile's first result in the whole result.
  unsigned long long* begins;
  /// The number of output chunks of the tile and of those before it in the list.
  unsigned long long* chunk_ends;
  /// The lowest `chunk_bits` bits hold the number of output chunks, the other bits the number of tiles: one addition
  /// advances both.
  unsigned long long* counter;

  static constexpr int chunk_bits = 36;

  /// Adds a tile of `rows` results, from `begin` on in the whole result. One thread calls this.
  template <unsigned long long ChunkRows>
  STRATA_D void add(unsigned long long tile, unsigned long long begin, unsigned long long rows,
                    std::int64_t capacity) const {
    const unsigned long long chunks = detail::join_output_chunks_of<ChunkRows>(begin, rows, capacity);
    if (chunks == 0) return;
    constexpr unsigned long long one = 1ull << chunk_bits;
    const unsigned long long before = atomicAdd(counter, one + chunks);
    const unsigned long long at = before >> chunk_bits;
    tiles[at] = tile;
    begins[at] = begin;
    chunk_ends[at] = (before & (one - 1)) + chunks;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes the output chunks of the listed tiles. `agent.prepare(tile)` returns the number of the tile's results;
/// `agent.write<Index>(tile, begin, first, last, sink)` writes results [first, last) of these. A block has neighbouring
/// chunks, most of which are of one tile. `tiles` is the number of tiles if all are listed.
template <unsigned long long ChunkRows, class Index, class Agent, class Sink>
STRATA_D void write_join_chunks(Agent& agent, const join_tile_list& list, unsigned long long tiles, const Sink& sink) {
  using Count = unsigned long long;
  const bool all_are_listed = list.tiles == nullptr;
  if (!all_are_listed) tiles = *list.counter >> join_tile_list::chunk_bits;
  const Count chunks = tiles > 0 ? list.chunk_ends[tiles - 1] : 0;
  const Count each = chunks / gridDim.x + (chunks % gridDim.x != 0 ? 1 : 0);
  const Count begin = blockIdx.x * each;
  const Count end = detail::least(begin + each, chunks);
  for (Count chunk = begin; chunk < end;) {
    const Count at = find_segment(list.chunk_ends, tiles, chunk);
    const Count tile = all_are_listed ? at : list.tiles[at];
    __syncthreads();
    const Count results = agent.prepare(tile);
    // All of the block's chunks of this tile.
    const Count tile_end = list.chunk_ends[at];
    const Count next = detail::least(tile_end, end);
    const Count before = at > 0 ? list.chunk_ends[at - 1] : 0;
    const Count last = (next - before) * ChunkRows;
    agent.template write<Index>(tile, list.begins[at], (chunk - before) * ChunkRows, detail::least(results, last),
                                sink);
    chunk = next;
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/segmented_scan/segments.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes the output chunks of the listed tiles. `agent.prepare(tile)` returns the number of the tile's results;
/// `agent.write<Index>(tile, begin, first, last, sink)` writes results [first, last) of these. A block has neighbouring
/// chunks, most of which are of one tile. `tiles` is the number of tiles if all are listed.
template <class Index, class Agent, class Sink>
STRATA_D void write_join_chunks(Agent& agent, const join_tile_list& list, unsigned long long tiles, const Sink& sink) {
  using Count = unsigned long long;
  const bool all_are_listed = list.tiles == nullptr;
  if (!all_are_listed) tiles = *list.counter >> join_tile_list::chunk_bits;
  const Count chunks = tiles > 0 ? list.chunk_ends[tiles - 1] : 0;
  const Count each = chunks / gridDim.x + (chunks % gridDim.x != 0 ? 1 : 0);
  const Count begin = blockIdx.x * each;
  const Count end = begin + each < chunks ? begin + each : chunks;
  for (Count chunk = begin; chunk < end;) {
    const Count at = find_segment(list.chunk_ends, tiles, chunk);
    const Count tile = all_are_listed ? at : list.tiles[at];
    __syncthreads();
    const Count results = agent.prepare(tile);
    // All of the block's chunks of this tile.
    const Count tile_end = list.chunk_ends[at];
    const Count next = tile_end < end ? tile_end : end;
    const Count before = at > 0 ? list.chunk_ends[at - 1] : 0;
    const Count last = (next - before) * join_output_chunk_rows;
    agent.template write<Index>(tile, list.begins[at], (chunk - before) * join_output_chunk_rows,
                                results < last ? results : last, sink);
    chunk = next;
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

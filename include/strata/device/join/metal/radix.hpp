// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/metal/command.hpp>
#include <strata/device/join/metal/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// The state of one side of a join between radix passes. `begins` holds the first row of each partition and, as its
/// last element, the number of rows. The host reads and writes it.
struct radix_side {
  std::size_t rows = 0;
  std::size_t partitions = 1;
  std::uint32_t* begins = nullptr;
  std::uint32_t* next_begins = nullptr;
  buffer_view keys;
  buffer_view numbers;
  /// True if `numbers` holds the row numbers. Before the first pass, the number of a row is its position.
  bool has_numbers = false;
  /// Where the next two passes write.
  buffer_view free_keys[2];
  buffer_view free_numbers[2];
};

/// Workspace of a pass, which CPU and GPU see.
struct radix_workspace {
  radix_tile* tiles = nullptr;
  std::uint32_t* counts = nullptr;
  buffer_view tiles_view;
  buffer_view counts_view;
};

/// Upper bound on the tiles of a side: each partition has at most one tile that is not full.
constexpr std::size_t most_tiles(std::size_t rows, std::size_t partitions, std::size_t key_bytes) {
  return rows / radix_tile_rows(key_bytes) + partitions;
}

/// Cuts partitions into tiles; returns how many there are.
inline std::size_t list_tiles(const radix_side& side, std::size_t tile_rows, radix_tile* tiles) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < side.partitions; ++p) {
    const std::uint32_t end = side.begins[p + 1];
    for (std::uint32_t begin = side.begins[p]; begin < end;) {
      const std::uint32_t rows = end - begin < tile_rows ? end - begin : static_cast<std::uint32_t>(tile_rows);
      tiles[count++] = {begin, begin + rows};
      begin += rows;
    }
  }
  return count;
}

/// Replaces the counts of each tile by the offsets of its rows: the rows of a partition are ordered by digit, and the
/// rows of a digit by tile. Returns false if the counts of a partition do not add up to its rows.
inline bool make_offsets(radix_side& side, unsigned bits, const radix_tile* tiles, std::size_t tile_count,
                         std::uint32_t* counts) {
  const std::size_t digits = std::size_t{1} << bits;
  std::size_t tile = 0;
  std::uint32_t sum = 0;
  for (std::size_t p = 0; p < side.partitions; ++p) {
    std::size_t last = tile;
    std::uint32_t offset_of[std::size_t{1} << radix_bits] = {};
    for (; last < tile_count && tiles[last].begin < side.begins[p + 1]; ++last) {
      for (std::size_t d = 0; d < digits; ++d) offset_of[d] += counts[(last << radix_bits) + d];
    }
    for (std::size_t d = 0; d < digits; ++d) {
      const std::uint32_t rows = offset_of[d];
      side.next_begins[(p << bits) + d] = offset_of[d] = sum;
      sum += rows;
    }
    if (sum != side.begins[p + 1]) return false;
    for (; tile < last; ++tile) {
      for (std::size_t d = 0; d < digits; ++d) {
        std::uint32_t& count = counts[(tile << radix_bits) + d];
        const std::uint32_t rows = count;
        count = offset_of[d];
        offset_of[d] += rows;
      }
    }
  }
  side.next_begins[side.partitions << bits] = sum;
  return true;
}

/// Splits each partition of a side into 2^bits partitions, by `bits` bits of the hash from bit `shift` on. Stable.
[[nodiscard]] inline MetalJoinStatus radix_pass(context& gpu, objc::id queue, std::size_t key_bytes, unsigned shift,
                                                unsigned bits, const radix_workspace& workspace, radix_side& side) {
  const pipeline* histogram = nullptr;
  const pipeline* scatter = nullptr;
  MetalJoinStatus status = gpu.get(function::radix_histogram, key_bytes, 0, histogram);
  if (status == MetalJoinStatus::success) {
    status = gpu.get(function::radix_scatter, key_bytes, 0, scatter);
  }
  if (status != MetalJoinStatus::success) return status;

  constexpr std::size_t digits = std::size_t{1} << radix_bits;
  const std::size_t tile_rows = radix_tile_rows(key_bytes);
  const std::size_t counter_bytes = radix_threads / simd_lanes * digits * 4;
  if (tile_rows * key_bytes + counter_bytes + digits * 4 + simd_lanes * 4 > gpu.threadgroup_bytes()) {
    return fail(MetalJoinStatus::not_supported, "a tile does not fit the threadgroup memory");
  }
  const radix_args arguments{shift, (std::uint32_t{1} << bits) - 1, side.has_numbers ? 1u : 0u};
  const std::size_t tiles = list_tiles(side, tile_rows, workspace.tiles);
  {
    command counting(queue);
    counting.dispatch(*histogram, tiles, radix_threads, side.keys, workspace.tiles_view, workspace.counts_view,
                      constant_of(arguments), threadgroup_bytes{digits * 4});
    status = counting.run();
  }
  if (status != MetalJoinStatus::success) return status;
  if (!make_offsets(side, bits, workspace.tiles, tiles, workspace.counts)) {
    return fail(MetalJoinStatus::launch_failure, "a histogram does not have all rows");
  }
  {
    command scattering(queue);
    scattering.dispatch(*scatter, tiles, radix_threads, side.keys, side.has_numbers ? side.numbers : side.keys,
                        workspace.tiles_view, workspace.counts_view, side.free_keys[0], side.free_numbers[0],
                        constant_of(arguments), threadgroup_bytes{tile_rows * key_bytes},
                        threadgroup_bytes{counter_bytes}, threadgroup_bytes{digits * 4},
                        threadgroup_bytes{simd_lanes * 4});
    status = scattering.run();
  }
  side.keys = side.free_keys[0];
  side.numbers = side.free_numbers[0];
  side.has_numbers = true;
  std::swap(side.free_keys[0], side.free_keys[1]);
  std::swap(side.free_numbers[0], side.free_numbers[1]);
  std::swap(side.begins, side.next_begins);
  side.partitions <<= bits;
  return status;
}

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END

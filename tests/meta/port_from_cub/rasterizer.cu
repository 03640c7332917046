// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of tiles and sorts of keys by bits, with a size query that allocates nothing.
#include <cstdint>
#include <cub/cub.cuh>
#include <cub/device/device_radix_sort.cuh>

struct chunk {
  char* storage;
  size_t scan_bytes, sort_bytes;
};

void sizes(chunk& chunk, uint32_t* tiles, uint32_t* offsets, uint64_t* keys, uint64_t* sorted, uint32_t* points,
           int n) {
  cub::DeviceScan::InclusiveSum(nullptr, chunk.scan_bytes, tiles, offsets, n);
  cub::DeviceRadixSort::SortPairs(nullptr, chunk.sort_bytes, keys, sorted, points, points, n, 0, 32 + 12);
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds the points within a radius, in their order, with their distances: transform (the distance), scan (where a point
// goes) and scatter in one kernel. Each point is read once. A transformation, a scan and a scatter of a library would
// take three passes over device memory, which read or write points, distances and flags.
#include <strata/block/block_load.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/scan_tile_state.cuh>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct point {
  float x, y;
};
struct neighbour {
  int index;
  float distance;
};

constexpr int threads = 128, items = 8, tile_points = threads * items;

using State = strata::ScanTileState<int>;

STRATA_HD float distance_of(const point& p) { return std::sqrt(p.x * p.x + p.y * p.y); }

/// A block takes a tile. `*number` becomes the number of neighbours.
STRATA_KERNEL void find_neighbours(State state, const point* points, int n, float radius, neighbour* out, int* number) {
  using Load = strata::BlockLoad<point, threads, items, strata::BLOCK_LOAD_TRANSPOSE>;
  using Scan = strata::BlockScan<int, threads, strata::BLOCK_SCAN_WARP_SCANS>;
  using Prefix = strata::TilePrefixCallbackOp<int, strata::Sum>;
  struct Shared {
    typename State::TempStorage tile;
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Prefix::TempStorage prefix;
  };
  STRATA_SHARED(shared, Shared);

  // Not blockIdx.x: a block that waits must know that the blocks of all tiles before its own have started.
  const int tile = state.TakeTile(shared.tile);
  const int first = tile * tile_points;
  point mine[items];
  Load(shared.load).Load(points + first, mine, n - first, point{INFINITY, 0});

  float distances[items];
  int positions[items];
  for (int i = 0; i < items; ++i) {
    distances[i] = distance_of(mine[i]);
    positions[i] = distances[i] <= radius ? 1 : 0;
  }
  Prefix prefix(state, shared.prefix, strata::Sum{}, tile);
  Scan(shared.scan).ExclusiveSum(positions, positions, prefix);

  const int first_of_thread = first + static_cast<int>(threadIdx.x) * items;
  for (int i = 0; i < items; ++i) {
    if (distances[i] <= radius) out[positions[i]] = {first_of_thread + i, distances[i]};
  }
  if (first + tile_points >= n && threadIdx.x == 0) *number = prefix.GetInclusivePrefix();
}

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "nearby: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  constexpr int n = 200000, tiles = (n + tile_points - 1) / tile_points;
  std::vector<point> host(n);
  for (int i = 0; i < n; ++i) {
    const int x = static_cast<int>(i * 7919LL % 2003), y = static_cast<int>(i * 104729LL % 1999);
    host[static_cast<std::size_t>(i)] = {static_cast<float>(x) / 1000, static_cast<float>(y) / 1000};
  }
  point* points = nullptr;
  neighbour* found = nullptr;
  int* number = nullptr;
  void* storage = nullptr;
  std::size_t bytes = 0;
  check(State::AllocationSize(tiles, bytes));
  check(cudaMalloc(&storage, bytes));
  check(cudaMalloc(&points, n * sizeof(point)));
  check(cudaMalloc(&found, n * sizeof(neighbour)));
  check(cudaMalloc(&number, sizeof(int)));
  check(cudaMemcpy(points, host.data(), n * sizeof(point), cudaMemcpyHostToDevice));

  // One Init for all launches: nothing is cleared between them.
  State state;
  check(state.Init(tiles, storage, bytes));
  bool right = true;
  for (const float radius : {0.5f, 1.0f, 1.5f}) {
    check(
        strata::launch({"find_neighbours", tiles, threads}, find_neighbours, state, points, n, radius, found, number));
    int count = 0;
    check(cudaMemcpy(&count, number, sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<neighbour> result(static_cast<std::size_t>(count));
    check(cudaMemcpy(result.data(), found, result.size() * sizeof(neighbour), cudaMemcpyDeviceToHost));

    // For points so near the circle that rounding decides, the device's answer counts.
    std::size_t next = 0;
    for (int i = 0; i < n; ++i) {
      const float distance = distance_of(host[static_cast<std::size_t>(i)]);
      const bool is_found = next < result.size() && result[next].index == i;
      if (is_found) right = right && std::abs(result[next++].distance - distance) < 1e-5f;
      if (std::abs(distance - radius) > 1e-5f) right = right && is_found == (distance <= radius);
    }
    right = right && next == result.size();
    std::printf("points within %.1f: %s\n", static_cast<double>(radius), right ? "right" : "wrong");
  }
  check(cudaFree(number));
  check(cudaFree(found));
  check(cudaFree(points));
  check(cudaFree(storage));
  return right ? 0 : 1;
}

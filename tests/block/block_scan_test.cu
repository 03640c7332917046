// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <numeric>
#include <vector>

#include "support/ranges.cuh"
#include "support/test_support.cuh"

namespace block_scan_test {

using namespace strata_test;
using strata::BLOCK_SCAN_RAKING;
using strata::BLOCK_SCAN_RAKING_MEMOIZE;
using strata::BLOCK_SCAN_WARP_SCANS;
using strata::BlockScan;
using strata::BlockScanAlgorithm;

template <int X, int Y = 1, int Z = 1>
struct shape {
  static constexpr int x = X, y = Y, z = Z, threads = X * Y * Z;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int rank() { return static_cast<int>(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z)); }
};

template <class Shape, class T, BlockScanAlgorithm Algorithm>
using block_scan = BlockScan<T, Shape::x, Algorithm, Shape::y, Shape::z>;

// Counts errors inside a kernel.
struct complaints {
  int wrong_operands, wrong_aggregates, callback_calls;
};

// Returns the range before the tile. Only the first thread's return value may be used, so others return no range.
struct running_range {
  range total;
  complaints* wrong;
  int rank;
  STRATA_D range operator()(const range& block_aggregate) {
    atomicAdd(&wrong->callback_calls, 1);
    if (block_aggregate.first != total.last + 1) atomicAdd(&wrong->wrong_aggregates, 1);
    const range before = total;
    total.last = block_aggregate.last;
    return rank == 0 ? before : no_item();
  }
};

// ---------------------------------------------------------------------------- order, all shapes
// The items are numbers from `base` on, so that smaller numbers are left for a prefix.
constexpr int base = 10;

enum result_row {
  inclusive,
  aggregate,
  exclusive_after_initial,
  exclusive_after_callback,
  inclusive_of_valid,
  aggregate_of_valid,
  exclusive_of_valid_after_callback,
  exclusive,
  rows
};

// Block b has valid_items[b] valid items. One storage is used again after each barrier. The last scan uses private
// storage.
template <class Shape, BlockScanAlgorithm Algorithm>
__launch_bounds__(Shape::threads)
    STRATA_KERNEL void scan_every_way(const int* valid_items, range* out, complaints* wrong) {
  using scanner = block_scan<Shape, range, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  const join_ranges op{&wrong->wrong_operands};
  const int rank = Shape::rank();
  const int valid = valid_items[blockIdx.x];
  const range mine{base + rank, base + rank}, initial{base - 7, base - 1};
  const range mine_if_valid = rank < valid ? mine : no_item();
  running_range callback{initial, wrong, rank}, callback_of_valid{initial, wrong, rank};

  range result[rows];
  for (range& r : result) r = untouched();
  scanner scan(temp_storage);
  scan.InclusiveScan(mine, result[inclusive], op, result[aggregate]);
  __syncthreads();
  scan.ExclusiveScan(mine, result[exclusive_after_initial], initial, op);
  __syncthreads();
  scan.ExclusiveScan(mine, result[exclusive_after_callback], op, callback);
  __syncthreads();
  scan.InclusiveScanPartialTile(mine_if_valid, result[inclusive_of_valid], op, valid, result[aggregate_of_valid]);
  __syncthreads();
  scan.ExclusiveScanPartialTile(mine_if_valid, result[exclusive_of_valid_after_callback], op, valid, callback_of_valid);
  scanner().ExclusiveScan(mine, result[exclusive], op);
  for (int i = 0; i < rows; ++i) {
    out[(static_cast<int>(blockIdx.x) * Shape::threads + rank) * rows + i] = result[i];
  }
}

std::vector<int> interesting_counts(int threads) {
  std::vector<int> counts{INT_MIN, -1, 0, 1, threads, threads + 1, INT_MAX};
  const int step = is_small() ? 5 * 32 : 32;
  for (int n = 2; n < threads; ++n) {
    // Every count in small blocks. In large ones, counts near multiples of a warp and of raking's segment.
    const int segment = (threads + 31) / 32;
    if ((threads <= 132 && !is_small()) || n == threads - 1 || (n + 1) % step <= 2 || n == segment + 1) {
      counts.push_back(n);
    }
  }
  return counts;
}

template <class Shape, BlockScanAlgorithm Algorithm>
void test_shape() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", block " << Shape::x << " x " << Shape::y << " x "
                                  << Shape::z);
  constexpr int threads = Shape::threads;
  const std::vector<int> counts = interesting_counts(threads);
  const auto blocks = static_cast<unsigned>(counts.size());
  const device_vector<int> valid_items(counts);
  device_vector<range> out(blocks * threads * rows);
  device_vector<complaints> wrong(std::vector<complaints>{{0, 0, 0}});
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_every_way", blocks, Shape::dimensions()}, scan_every_way<Shape, Algorithm>,
                                     valid_items.data(), out.data(), wrong.data()));
  const complaints found = wrong.to_host()[0];
  EXPECT_EQ(found.wrong_operands, 0) << "calls of the operator with operands not its own";
  EXPECT_EQ(found.wrong_aggregates, 0) << "calls of the callback with another sum";
  int callback_calls = 0;
  const int first_warp = threads < 32 ? threads : 32;
  for (const int count : counts) callback_calls += (count > 0 ? 2 : 1) * first_warp;
  EXPECT_EQ(found.callback_calls, callback_calls);

  const std::vector<range> results = out.to_host();
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const int valid = counts[b] > threads ? threads : counts[b];
    for (int t = 0; t < threads; ++t) {
      SCOPED_TRACE(testing::Message() << "valid_items " << counts[b] << ", thread " << t);
      const range* const r = &results[(b * threads + static_cast<std::size_t>(t)) * rows];
      const auto if_valid = [&](const range& s) { return t < valid ? s : untouched(); };
      ASSERT_EQ(r[inclusive], (range{base, base + t}));
      ASSERT_EQ(r[aggregate], (range{base, base + threads - 1}));
      ASSERT_EQ(r[exclusive_after_initial], (range{base - 7, base + t - 1}));
      ASSERT_EQ(r[exclusive_after_callback], (range{base - 7, base + t - 1}));
      ASSERT_EQ(r[inclusive_of_valid], if_valid({base, base + t}));
      ASSERT_EQ(r[aggregate_of_valid], (valid > 0 ? range{base, base + valid - 1} : untouched()));
      ASSERT_EQ(r[exclusive_of_valid_after_callback], if_valid({base - 7, base + t - 1}));
      if (t > 0) {
        ASSERT_EQ(r[exclusive], (range{base, base + t - 1}));
      }
    }
  }
}

// All algorithms run the same code in blocks of up to one warp, so the other tests have fewer shapes.
TEST(block_scan, warp_scans_keep_order_in_any_shape_and_partial_tile) {
  constexpr BlockScanAlgorithm algorithm = BLOCK_SCAN_WARP_SCANS;
  test_shape<shape<1>, algorithm>();
  test_shape<shape<31>, algorithm>();
  test_shape<shape<32>, algorithm>();
  test_shape<shape<33>, algorithm>();
  test_shape<shape<100>, algorithm>();
  test_shape<shape<8, 4, 8>, algorithm>();
  test_shape<shape<5, 3, 7>, algorithm>();
  test_shape<shape<1, 2, 3>, algorithm>();
  // The sums of more than eight warps are scanned in one step, unless the last warp has fewer lanes than that needs.
  test_shape<shape<320>, algorithm>();
  test_shape<shape<272>, algorithm>();
  test_shape<shape<1000>, algorithm>();
  test_shape<shape<1024>, algorithm>();
}

TEST(block_scan, raking_keeps_order_in_any_shape_and_partial_tile) {
  constexpr BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING;
  test_shape<shape<7>, algorithm>();
  test_shape<shape<33>, algorithm>();
  test_shape<shape<100>, algorithm>();
  test_shape<shape<5, 3, 7>, algorithm>();
  test_shape<shape<16, 16>, algorithm>();
  test_shape<shape<1024>, algorithm>();
}

TEST(block_scan, memoizing_raking_keeps_order_in_any_shape_and_partial_tile) {
  constexpr BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING_MEMOIZE;
  test_shape<shape<33>, algorithm>();
  test_shape<shape<128>, algorithm>();
  test_shape<shape<1000>, algorithm>();
}

// ---------------------------------------------------------------------------- several items One block scans tile after
// tile. Tile t has valid_items[t] valid items, and continues the scan of the tiles before it. Writes the inclusive and
// the exclusive result of each valid item. The results of other items keep their values.
template <int Threads, std::size_t Items, BlockScanAlgorithm Algorithm>
__launch_bounds__(Threads)
    STRATA_KERNEL void scan_tiles(const int* valid_items, int tiles, range* out, complaints* wrong) {
  using scanner = BlockScan<range, Threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  const join_ranges op{&wrong->wrong_operands};
  const int rank = static_cast<int>(threadIdx.x);
  constexpr int items = static_cast<int>(Items);
  constexpr int tile_items = Threads * items;
  running_range callback{{0, base - 1}, wrong, rank};
  int first = base;
  for (int tile = 0; tile < tiles; ++tile) {
    const int valid = valid_items[tile] > tile_items ? tile_items : valid_items[tile];
    range mine[Items], result[2][Items];
    for (int i = 0; i < items; ++i) {
      const int number = first + rank * items + i;
      mine[i] = rank * items + i < valid ? range{number, number} : no_item();
      result[0][i] = result[1][i] = untouched();
    }
    if (tile % 2 == 0) {  // the prefix comes from the callback in one scan, and as an initial value in the other
      scanner(temp_storage).ExclusiveScanPartialTile(mine, result[1], op, valid, callback);
      if (valid > 0) {
        __syncthreads();
        range all = no_item();
        scanner(temp_storage).InclusiveScanPartialTile(mine, result[0], range{0, first - 1}, op, valid, all);
        if (all.first != first || all.last != first + valid - 1) {
          atomicAdd(&wrong->wrong_aggregates, 1);
        }
      }
    } else {
      if (valid == tile_items) {
        scanner(temp_storage).InclusiveScan(mine, result[0], op, callback);
      } else {
        scanner(temp_storage).InclusiveScanPartialTile(mine, result[0], op, valid, callback);
      }
      __syncthreads();
      if (valid == tile_items) {
        scanner(temp_storage).ExclusiveScan(mine, result[1], range{0, first - 1}, op);
      } else {
        scanner(temp_storage).ExclusiveScanPartialTile(mine, result[1], range{0, first - 1}, op, valid);
      }
    }
    __syncthreads();
    if (valid > 0) first += valid;
    for (int i = 0; i < items; ++i) {
      for (int w = 0; w < 2; ++w) {
        out[2 * (tile * tile_items + rank * items + i) + w] = result[w][i];
      }
    }
  }
}

template <int Threads, std::size_t Items, BlockScanAlgorithm Algorithm>
void test_items() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", " << Threads << " threads, " << Items << " items");
  constexpr int tile_items = Threads * static_cast<int>(Items);
  std::vector<int> counts{tile_items, tile_items, INT_MAX, 0, 1, tile_items, -5, tile_items - 1};
  for (const int n : random_integers(is_small() ? 5 : 20, 1, tile_items, Threads)) {
    counts.push_back(n);
  }
  const auto tiles = static_cast<int>(counts.size());
  const device_vector<int> valid_items(counts);
  device_vector<range> out(2 * counts.size() * tile_items);
  device_vector<complaints> wrong(std::vector<complaints>{{0, 0, 0}});
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_tiles", 1, Threads}, scan_tiles<Threads, Items, Algorithm>,
                                     valid_items.data(), tiles, out.data(), wrong.data()));
  const complaints found = wrong.to_host()[0];
  EXPECT_EQ(found.wrong_operands, 0) << "calls of the operator with operands not its own";
  EXPECT_EQ(found.wrong_aggregates, 0);

  const std::vector<range> results = out.to_host();
  int first = base;
  for (std::size_t tile = 0; tile < counts.size(); ++tile) {
    const int valid = counts[tile] > tile_items ? tile_items : counts[tile];
    for (int i = 0; i < tile_items; ++i) {
      const range* const r = &results[2 * (tile * tile_items + static_cast<std::size_t>(i))];
      SCOPED_TRACE(testing::Message() << "tile " << tile << ", valid_items " << counts[tile] << ", item " << i);
      ASSERT_EQ(r[0], (i < valid ? range{0, first + i} : untouched()));
      ASSERT_EQ(r[1], (i < valid ? range{0, first + i - 1} : untouched()));
    }
    if (valid > 0) first += valid;
  }
}

TEST(block_scan, arrays_of_tile_after_tile_are_one_scan) {
  test_items<20, 3, BLOCK_SCAN_WARP_SCANS>();
  test_items<100, 1, BLOCK_SCAN_WARP_SCANS>();
  test_items<128, 4, BLOCK_SCAN_WARP_SCANS>();
  test_items<544, 2, BLOCK_SCAN_WARP_SCANS>();
  test_items<100, 5, BLOCK_SCAN_RAKING>();
  test_items<256, 2, BLOCK_SCAN_RAKING_MEMOIZE>();
}

// ---------------------------------------------------------------------------- operator calls
struct counting_sum {
  int* calls;
  STRATA_D int operator()(int a, int b) const {
    atomicAdd(calls, 1);
    return a + b;
  }
};

// Two warps of three items per thread. Counts the operator's calls in an inclusive scan of each thread's first item,
// then in an exclusive scan of all items.
template <BlockScanAlgorithm Algorithm>
STRATA_KERNEL void count_calls(int* calls) {
  using scanner = BlockScan<int, 64, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  int items[3] = {1, 2, 3};
  int result;
  scanner(temp_storage).InclusiveScan(items[0], result, counting_sum{calls});
  __syncthreads();
  scanner(temp_storage).ExclusiveScan(items, items, counting_sum{calls + 1});
}

template <BlockScanAlgorithm Algorithm>
std::vector<int> calls_of() {
  device_vector<int> calls(std::vector<int>{0, 0});
  EXPECT_CUDA_SUCCESS(strata::launch({"count_calls", 1, 64}, count_calls<Algorithm>, calls.data()));
  return calls.to_host();
}

TEST(block_scan, no_operator_call_is_for_nothing) {
  constexpr int warp_scan = 31 + 30 + 28 + 24 + 16;
  // Each thread reduces its three items, and later scans them behind its prefix. The first thread has no prefix, and so
  // one call less. The sum after the last item is not computed.
  constexpr int in_threads = 64 * 2 + 64 * 2 - 1;
  // Each lane of the second warp adds the first warp's sum. In the exclusive scan, its first lane has the sum already.
  EXPECT_EQ(calls_of<BLOCK_SCAN_WARP_SCANS>(), (std::vector<int>{2 * warp_scan + 32, in_threads + 2 * warp_scan + 31}));
  // Each raker reduces its two items, and then scans them.
  const std::vector<int> raking{32 + warp_scan + 63, in_threads + 32 + warp_scan + 31};
  EXPECT_EQ(calls_of<BLOCK_SCAN_RAKING>(), raking);
  EXPECT_EQ(calls_of<BLOCK_SCAN_RAKING_MEMOIZE>(), raking);
}

// ---------------------------------------------------------------------------- as a user calls it
struct running_total {
  int total;
  STRATA_D int operator()(int block_aggregate) {
    const int before = total;
    total += block_aggregate;
    return before;
  }
};

STRATA_KERNEL void offsets(const int* counts, int* offsets, int tiles) {
  using BlockScan = strata::BlockScan<int, 128>;
  STRATA_SHARED(temp_storage, BlockScan::TempStorage);
  running_total prefix{0};
  for (int tile = 0; tile < tiles; ++tile) {
    int items[2];
    const int first = 2 * (128 * tile + static_cast<int>(threadIdx.x));
    for (int i = 0; i < 2; ++i) items[i] = counts[first + i];
    BlockScan(temp_storage).ExclusiveSum(items, items, prefix);
    for (int i = 0; i < 2; ++i) offsets[first + i] = items[i];
    __syncthreads();
  }
}

TEST(block_scan, a_callback_carries_the_prefix_from_tile_to_tile) {
  std::vector<int> numbers(3 * 256), expected(3 * 256);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::partial_sum(numbers.begin(), numbers.end() - 1, expected.begin() + 1);
  const device_vector<int> counts(numbers);
  device_vector<int> results(numbers.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"offsets", 1, 128}, offsets, counts.data(), results.data(), 3));
  EXPECT_EQ(results.to_host(), expected);
}

}  // namespace block_scan_test

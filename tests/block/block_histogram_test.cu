// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_histogram.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_histogram_test {

using strata::BLOCK_HISTO_ATOMIC;
using strata::BLOCK_HISTO_SORT;
using strata::BlockHistogram;
using strata_test::device_vector;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// A sample that converts to its bin.
struct level {
  short value;
  STRATA_HD operator int() const { return value; }
};
enum color { red, green, blue };

/// A counter that can only be added to.
struct tally {
  unsigned count;
  tally() = default;
  STRATA_HD explicit tally(unsigned n) : count(n) {}
  STRATA_HD friend tally operator+(const tally& a, const tally& b) { return tally(a.count + b.count); }
};

template <class T>
T sample_of(int bin) {
  return static_cast<T>(bin);
}
template <>
level sample_of<level>(int bin) {
  return {static_cast<short>(bin)};
}

template <class T>
long long number_of(const T& counter) {
  if constexpr (strata_test::is_narrow_float<T>) {
    return static_cast<long long>(static_cast<float>(counter));
  } else {
    return static_cast<long long>(counter);
  }
}
template <>
long long number_of(const tally& counter) {
  return counter.count;
}

template <strata::BlockHistogramAlgorithm Algorithm, class T, class Counter, int X, int Items, int Bins, int Y = 1,
          int Z = 1>
struct histogram_case {
  using type = T;
  using counter = Counter;
  using histogram = BlockHistogram<T, X, Items, Bins, Algorithm, Y, Z>;
  static constexpr int items = Items, bins = Bins, threads = X * Y * Z, tile = threads * Items;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int rank() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

// The histograms that each block writes.
enum way { in_shared_memory, in_device_memory, two_tiles, on_counters, ways };

template <class Case>
STRATA_KERNEL void count_tile(const typename Case::type* in, typename Case::counter* out, typename Case::type* after) {
  using T = typename Case::type;
  using histogram = typename Case::histogram;
  STRATA_SHARED(temp_storage, typename histogram::TempStorage);
  STRATA_SHARED(shared, typename Case::counter[Case::bins]);
  STRATA_SHARED(of_two, typename Case::counter[Case::bins]);
  const int rank = Case::rank();
  T items[Case::items];
  for (int i = 0; i < Case::items; ++i) items[i] = in[rank * Case::items + i];
  const T(&constant_items)[Case::items] = items;

  histogram(temp_storage).Histogram(items, shared);
  histogram().Histogram(constant_items, out + in_device_memory * Case::bins);
  __syncthreads();
  histogram(temp_storage).InitHistogram(of_two);
  histogram(temp_storage).Composite(items, of_two);
  __syncthreads();
  histogram(temp_storage).Composite(constant_items, of_two);
  histogram().Composite(items, out + on_counters * Case::bins);
  __syncthreads();

  for (int bin = rank; bin < Case::bins; bin += Case::threads) {
    out[in_shared_memory * Case::bins + bin] = shared[bin];
    out[two_tiles * Case::bins + bin] = of_two[bin];
  }
  for (int i = 0; i < Case::items; ++i) after[rank * Case::items + i] = items[i];
}

std::vector<std::vector<int>> tiles_of_bins(int tile, int bins) {
  std::vector<std::vector<int>> tiles;
  tiles.push_back(strata_test::random_integers(index(tile), 0, bins - 1));
  tiles.push_back(std::vector<int>(index(tile), 0));
  tiles.push_back(std::vector<int>(index(tile), bins - 1));
  std::vector<int> rising, falling, few;
  for (int i = 0; i < tile; ++i) {
    rising.push_back(i % bins);
    falling.push_back(bins - 1 - i % bins);
    few.push_back(i % 7 == 0 ? bins - 1 : bins / 2);
  }
  tiles.insert(tiles.end(), {rising, falling, few});
  return tiles;
}

template <class Case>
class block_histogram : public testing::Test {};

using u8 = std::uint8_t;
template <class T, int X, int Items, int Bins, int Y = 1, int Z = 1>
using by_sort = histogram_case<BLOCK_HISTO_SORT, T, unsigned, X, Items, Bins, Y, Z>;
template <class T, int X, int Items, int Bins, int Y = 1, int Z = 1>
using by_atomics = histogram_case<BLOCK_HISTO_ATOMIC, T, unsigned, X, Items, Bins, Y, Z>;
template <class Counter>
using sorted_counts = histogram_case<BLOCK_HISTO_SORT, short, Counter, 33, 3, 50>;
template <class Counter>
using atomic_counts = histogram_case<BLOCK_HISTO_ATOMIC, short, Counter, 33, 3, 50>;

#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<by_sort<u8, 64, 4, 256>, by_sort<int, 33, 3, 1000>, by_sort<level, 8, 3, 30, 4, 3>,
                             by_sort<strata_test::int128, 1, 1, 1>, sorted_counts<u8>, sorted_counts<tally>,
                             by_atomics<u8, 64, 4, 256>, by_atomics<level, 8, 3, 30, 4, 3>, atomic_counts<float>,
                             atomic_counts<long long>>;
#else
using cases =
    testing::Types<by_sort<u8, 64, 4, 256>, by_sort<int, 33, 3, 1000>, by_sort<level, 8, 3, 30, 4, 3>,
                   by_sort<strata_test::int128, 1, 1, 1>, by_sort<std::int64_t, 32, 2, 33>, by_sort<bool, 96, 5, 2>,
                   by_sort<signed char, 31, 7, 127>, by_sort<color, 5, 2, 3, 3, 7>, by_sort<std::uint64_t, 128, 1, 17>,
                   by_sort<std::uint16_t, 40, 2, 2000>, by_sort<int, 1, 70, 20>, sorted_counts<u8>,
                   sorted_counts<short>, sorted_counts<int>, sorted_counts<std::size_t>, sorted_counts<long long>,
                   sorted_counts<float>, sorted_counts<double>, sorted_counts<__half>, sorted_counts<tally>,
                   by_atomics<u8, 64, 4, 256>, by_atomics<int, 33, 3, 1000>, by_atomics<level, 8, 3, 30, 4, 3>,
                   by_atomics<strata_test::int128, 1, 1, 1>, by_atomics<bool, 96, 5, 2>,
                   by_atomics<color, 5, 2, 3, 3, 7>, by_atomics<std::uint64_t, 128, 1, 17>, by_atomics<int, 1, 70, 20>,
                   atomic_counts<int>, atomic_counts<long>, atomic_counts<std::size_t>, atomic_counts<long long>,
                   atomic_counts<float>, atomic_counts<double>, atomic_counts<__half>, atomic_counts<__nv_bfloat16>>;
#endif
TYPED_TEST_SUITE(block_histogram, cases);

TYPED_TEST(block_histogram, counts_the_samples_of_each_bin) {
  using T = typename TypeParam::type;
  using counter = typename TypeParam::counter;
  constexpr int bins = TypeParam::bins, tile = TypeParam::tile;
  for (const std::vector<int>& numbers : tiles_of_bins(tile, bins)) {
    std::vector<long long> expected(index(bins));
    for (const int bin : numbers) ++expected[index(bin)];
    device_vector<T> in(index(tile)), after(index(tile));
    // Bytes, because std::vector<bool> has no data().
    std::vector<unsigned char> bytes(index(tile) * sizeof(T));
    for (int i = 0; i < tile; ++i) {
      const T sample = sample_of<T>(numbers[index(i)]);
      std::memcpy(&bytes[index(i) * sizeof(T)], &sample, sizeof(T));
    }
    ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    std::vector<counter> before(index(ways * bins), static_cast<counter>(3u));
    for (int bin = 0; bin < bins; ++bin) {
      before[index(on_counters * bins + bin)] = static_cast<counter>(static_cast<unsigned>(bin % 5));
    }
    device_vector<counter> out(before);
    ASSERT_CUDA_SUCCESS(strata::launch({"count_tile", 1, TypeParam::dimensions()}, count_tile<TypeParam>, in.data(),
                                       out.data(), after.data()));

    const std::vector<counter> counts = out.to_host();
    for (int bin = 0; bin < bins; ++bin) {
      const auto expect = [&](way w, long long count) {
        // Counters of one byte wrap around.
        const long long wrapped = sizeof(counter) == 1 ? count % 256 : count;
        ASSERT_EQ(number_of(counts[index(w * bins + bin)]), wrapped) << "way " << w << ", bin " << bin;
      };
      const long long count = expected[index(bin)];
      expect(in_shared_memory, count);
      expect(in_device_memory, count);
      expect(two_tiles, 2 * count);
      expect(on_counters, bin % 5 + count);
    }
    std::vector<unsigned char> bytes_after(bytes.size());
    ASSERT_CUDA_SUCCESS(cudaMemcpy(bytes_after.data(), after.data(), bytes.size(), cudaMemcpyDeviceToHost));
    ASSERT_EQ(bytes_after, bytes) << "samples have changed";
  }
}

// ---------------------------------------------------------------------------- sizes
// The largest tile whose positions fit into 16 bits, and a larger one, whose samples must not be sorted by bins. The
// storage is dynamic, because one of the two exceeds 48 KiB.
template <int Threads, int Items, int Bins>
struct large_tile {
  static constexpr int threads = Threads, items = Items, bins = Bins;
  using histogram = BlockHistogram<int, Threads, Items, Bins>;
};
using largest_of_many_bins = large_tile<257, 255, 300>;
using larger_of_few_bins = large_tile<257, 300, 200>;
static_assert(257 * 255 == 65535);

template <class Tile>
__launch_bounds__(Tile::threads) STRATA_KERNEL void count_many(unsigned* out) {
  STRATA_DYNAMIC_SHARED(storage);
  int items[Tile::items];
  for (int i = 0; i < Tile::items; ++i) items[i] = threadIdx.x == 0 && i < 3 ? 7 : Tile::bins - 1;
  using histogram = typename Tile::histogram;
  histogram(*reinterpret_cast<typename histogram::TempStorage*>(storage)).Histogram(items, out);
}

template <class Tile>
void test_large_tile() {
  constexpr std::size_t bytes = sizeof(typename Tile::histogram::TempStorage);
  device_vector<unsigned> out(index(Tile::bins));
  if (strata::allow_dynamic_shared_memory(count_many<Tile>, bytes) != cudaSuccess) {
    cudaGetLastError();
    GTEST_SKIP() << "this device has less than " << bytes << " bytes of shared memory for a block";
  }
  ASSERT_CUDA_SUCCESS(strata::launch({"count_many", 1, unsigned{Tile::threads}, bytes}, count_many<Tile>, out.data()));
  std::vector<unsigned> expected(index(Tile::bins));
  expected[7] = 3;
  expected.back() = unsigned{Tile::threads * Tile::items} - 3;
  EXPECT_EQ(out.to_host(), expected);
}

TEST(block_histogram_sort, counts_the_largest_tile) {
  if (strata_test::is_small()) GTEST_SKIP() << "not in small flavours";
  test_large_tile<largest_of_many_bins>();
}
TEST(block_histogram_sort, counts_more_samples_in_few_bins) {
  if (strata_test::is_small()) GTEST_SKIP() << "not in small flavours";
  test_large_tile<larger_of_few_bins>();
}

// ---------------------------------------------------------------------------- several blocks
STRATA_KERNEL void count_by_blocks(const int* in, unsigned long long* out) {
  using histogram = BlockHistogram<int, 64, 2, 20, BLOCK_HISTO_ATOMIC>;
  const unsigned first = (blockIdx.x * 64 + threadIdx.x) * 2;
  const int items[2] = {in[first], in[first + 1]};
  histogram().Composite(items, out);
}

TEST(block_histogram_atomic, several_blocks_add_to_one_histogram) {
  const std::vector<int> numbers = strata_test::random_integers(9 * 128, 0, 19);
  std::vector<unsigned long long> expected(20);
  for (const int bin : numbers) ++expected[index(bin)];
  const device_vector<int> in(numbers);
  device_vector<unsigned long long> out(std::vector<unsigned long long>(20));
  ASSERT_CUDA_SUCCESS(strata::launch({"count_by_blocks", 9, 64}, count_by_blocks, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), expected);
}

// ---------------------------------------------------------------------------- shared memory
// Sorting is the default algorithm. Up to 256 bins, it has counters for each warp.
static_assert(sizeof(BlockHistogram<int, 64, 1, 64>::TempStorage) < 2 * 64 * 4 + 128);
static_assert(sizeof(BlockHistogram<int, 64, 1, 256>::TempStorage) < 2 * 256 * 4 + 128);
static_assert(sizeof(BlockHistogram<int, 64, 1, 4096>::TempStorage) == 4096 * 4 + 64 * 2);
static_assert(sizeof(BlockHistogram<int, 64, 1, 4096, BLOCK_HISTO_ATOMIC>::TempStorage) == 1);

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void byte_histogram(const unsigned char* bytes, int tiles, unsigned* counts) {
  using Histogram = strata::BlockHistogram<unsigned char, 128, 4, 256>;
  STRATA_SHARED(temp_storage, Histogram::TempStorage);
  STRATA_SHARED(histogram, unsigned[256]);
  Histogram(temp_storage).InitHistogram(histogram);
  for (int tile = 0; tile < tiles; ++tile) {
    unsigned char samples[4];
    for (int i = 0; i < 4; ++i) samples[i] = bytes[tile * 512 + i * 128 + static_cast<int>(threadIdx.x)];
    Histogram(temp_storage).Composite(samples, histogram);
    __syncthreads();
  }
  for (unsigned bin = threadIdx.x; bin < 256; bin += 128) counts[bin] = histogram[bin];
}

TEST(block_histogram_composite, adds_tile_after_tile) {
  std::vector<unsigned char> bytes;
  std::vector<unsigned> expected(256);
  for (const int byte : strata_test::random_integers(3 * 512, 0, 255)) {
    bytes.push_back(static_cast<unsigned char>(byte));
    ++expected[bytes.back()];
  }
  const device_vector<unsigned char> in(bytes);
  device_vector<unsigned> counts(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"byte_histogram", 1, 128}, byte_histogram, in.data(), 3, counts.data()));
  EXPECT_EQ(counts.to_host(), expected);
}

}  // namespace block_histogram_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_reduce.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <ostream>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_reduce_test {

using strata::BLOCK_REDUCE_RAKING;
using strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
using strata::BLOCK_REDUCE_WARP_REDUCTIONS;
using strata::BlockReduce;
using strata::BlockReduceAlgorithm;
using strata_test::device_vector;
using strata_test::is_small;

template <int X, int Y = 1, int Z = 1>
struct shape {
  static constexpr int x = X, y = Y, z = Z, threads = X * Y * Z;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int rank() { return static_cast<int>(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z)); }
};

template <class Shape, class T, BlockReduceAlgorithm Algorithm>
using block_reduce = BlockReduce<T, Shape::x, Algorithm, Shape::y, Shape::z>;

// ---------------------------------------------------------------------------- order, all shapes
// A range of consecutive numbers. Joining ranges is associative, but not commutative. The result is the whole range
// only if every item was joined once and in its place, and nothing else was.
struct range {
  int first, last;
  static STRATA_HD range item(int i) { return {i, i}; }
  static STRATA_HD range no_item() { return {-1000, -1000}; }
  static range of_first(int n) { return {0, n - 1}; }
  friend bool operator==(const range& a, const range& b) { return a.first == b.first && a.last == b.last; }
  friend std::ostream& operator<<(std::ostream& out, const range& s) { return out << s.first << " .. " << s.last; }
};

struct join_ranges {
  STRATA_HD range operator()(const range& a, const range& b) const {
    return a.first >= 0 && a.last + 1 == b.first ? range{a.first, b.last} : range::no_item();
  }
};

// Shows whether every item was added once, in any order.
struct tally {
  unsigned count, sum, squares;
  static STRATA_HD tally item(int i) {
    const unsigned u = static_cast<unsigned>(i) + 1;
    return {1, u, u * u};
  }
  static STRATA_HD tally no_item() { return {1u << 30, 0, 0}; }
  static tally of_first(int n) {
    tally all{0, 0, 0};
    for (int i = 0; i < n; ++i) {
      const tally one = item(i);
      all = {all.count + one.count, all.sum + one.sum, all.squares + one.squares};
    }
    return all;
  }
  friend bool operator==(const tally& a, const tally& b) {
    return a.count == b.count && a.sum == b.sum && a.squares == b.squares;
  }
  friend std::ostream& operator<<(std::ostream& out, const tally& t) {
    return out << t.count << " items, sum " << t.sum << ", squares " << t.squares;
  }
};

struct add_tallies {
  STRATA_HD tally operator()(const tally& a, const tally& b) const {
    return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
  }
};

template <BlockReduceAlgorithm Algorithm>
using item_for = std::conditional_t<Algorithm == BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, tally, range>;
template <BlockReduceAlgorithm Algorithm>
using operator_for = std::conditional_t<Algorithm == BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, add_tallies, join_ranges>;

// Block b reduces the items of its first num_valid[b] threads, then those of all threads. The first calls use one
// storage with barriers between them, the last call private storage.
template <class Shape, BlockReduceAlgorithm Algorithm>
STRATA_KERNEL void reduce_every_way(const int* num_valid, item_for<Algorithm>* reduced, item_for<Algorithm>* in_all) {
  using item = item_for<Algorithm>;
  using reducer = block_reduce<Shape, item, Algorithm>;
  const operator_for<Algorithm> op;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const int rank = Shape::rank();
  const int valid = num_valid[blockIdx.x];
  const item mine = item::item(rank);
  const item mine_if_valid = rank < (valid < 1 ? 1 : valid) ? mine : item::no_item();

  reducer reduce(temp_storage);
  const item partial = reduce.Reduce(mine_if_valid, op, valid);
  __syncthreads();
  const item partial_in_all = reduce.AllReduce(mine_if_valid, op, valid);
  __syncthreads();
  const item full = reduce.Reduce(mine, op);
  const item full_in_all = reducer().AllReduce(mine, op);

  if (rank == 0) {
    reduced[2 * blockIdx.x] = partial;
    reduced[2 * blockIdx.x + 1] = full;
  }
  in_all[2 * (blockIdx.x * Shape::threads + static_cast<unsigned>(rank))] = partial_in_all;
  in_all[2 * (blockIdx.x * Shape::threads + static_cast<unsigned>(rank)) + 1] = full_in_all;
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

template <class Shape, BlockReduceAlgorithm Algorithm>
void test_shape() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", block " << Shape::x << " x " << Shape::y << " x "
                                  << Shape::z);
  using item = item_for<Algorithm>;
  const std::vector<int> counts = interesting_counts(Shape::threads);
  const unsigned blocks = static_cast<unsigned>(counts.size());
  const device_vector<int> num_valid(counts);
  device_vector<item> reduced(2 * blocks);
  device_vector<item> in_all(2 * blocks * Shape::threads);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_every_way", blocks, Shape::dimensions()},
                                     reduce_every_way<Shape, Algorithm>, num_valid.data(), reduced.data(),
                                     in_all.data()));
  const std::vector<item> results = reduced.to_host();
  const std::vector<item> all_results = in_all.to_host();
  const item full = item::of_first(Shape::threads);
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const int valid = counts[b] < 1 ? 1 : counts[b] > Shape::threads ? Shape::threads : counts[b];
    const item partial = item::of_first(valid);
    ASSERT_EQ(results[2 * b], partial) << "Reduce, num_valid " << counts[b];
    ASSERT_EQ(results[2 * b + 1], full) << "Reduce";
    for (std::size_t t = 0; t < Shape::threads; ++t) {
      ASSERT_EQ(all_results[2 * (b * Shape::threads + t)], partial)
          << "AllReduce, num_valid " << counts[b] << ", thread " << t;
      ASSERT_EQ(all_results[2 * (b * Shape::threads + t) + 1], full) << "AllReduce, thread " << t;
    }
  }
}

// All algorithms run the same code in blocks of up to one warp, so the other tests have fewer shapes.
TEST(block_reduce, warp_reductions_keep_order_in_any_shape_and_partial_tile) {
  constexpr BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS;
  test_shape<shape<1>, algorithm>();
  test_shape<shape<31>, algorithm>();
  test_shape<shape<32>, algorithm>();
  test_shape<shape<33>, algorithm>();
  test_shape<shape<64>, algorithm>();
  test_shape<shape<100>, algorithm>();
  test_shape<shape<8, 4, 2>, algorithm>();
  test_shape<shape<5, 3, 7>, algorithm>();
  test_shape<shape<16, 16>, algorithm>();
  test_shape<shape<1, 2, 3>, algorithm>();
  // A warp reduces the aggregates of more than eight warps. The last warp of the block may have fewer lanes than
  // needed.
  test_shape<shape<288>, algorithm>();
  test_shape<shape<257>, algorithm>();
  test_shape<shape<1000>, algorithm>();
  test_shape<shape<1024>, algorithm>();
}

TEST(block_reduce, raking_keeps_order_in_any_shape_and_partial_tile) {
  constexpr BlockReduceAlgorithm algorithm = BLOCK_REDUCE_RAKING;
  test_shape<shape<1>, algorithm>();
  test_shape<shape<33>, algorithm>();
  test_shape<shape<100>, algorithm>();
  test_shape<shape<128>, algorithm>();
  test_shape<shape<5, 3, 7>, algorithm>();
  test_shape<shape<8, 4, 8>, algorithm>();
  test_shape<shape<1000>, algorithm>();
  test_shape<shape<1024>, algorithm>();
}

TEST(block_reduce, commutative_raking_takes_every_item_once) {
  constexpr BlockReduceAlgorithm algorithm = BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
  test_shape<shape<31>, algorithm>();
  test_shape<shape<33>, algorithm>();
  test_shape<shape<64>, algorithm>();
  test_shape<shape<100>, algorithm>();
  test_shape<shape<8, 4, 8>, algorithm>();
  test_shape<shape<1024>, algorithm>();
}

// ---------------------------------------------------------------------------- several items
template <int Threads, std::size_t Items, BlockReduceAlgorithm Algorithm>
STRATA_KERNEL void reduce_arrays(item_for<Algorithm>* reduced, unsigned* sums) {
  using item = item_for<Algorithm>;
  const operator_for<Algorithm> op;
  const int rank = static_cast<int>(threadIdx.x);
  item items[Items];
  unsigned numbers[Items];
  for (std::size_t i = 0; i < Items; ++i) {
    numbers[i] = static_cast<unsigned>(threadIdx.x * Items + i);
    items[i] = item::item(static_cast<int>(numbers[i]));
  }
  using reducer = BlockReduce<item, Threads, Algorithm>;
  using summer = BlockReduce<unsigned, Threads, Algorithm>;
  union storages {
    typename reducer::TempStorage reduce;
    typename summer::TempStorage sum;
  };
  STRATA_SHARED(temp_storage, storages);

  const item first = reducer(temp_storage.reduce).Reduce(items, op);
  __syncthreads();
  reduced[rank] = reducer(temp_storage.reduce).AllReduce(items, op);
  __syncthreads();
  const unsigned sum = summer(temp_storage.sum).Sum(numbers);
  __syncthreads();
  sums[rank] = summer(temp_storage.sum).AllSum(numbers);
  if (rank == 0) {
    reduced[Threads] = first;
    sums[Threads] = sum;
  }
}

template <std::size_t Items, BlockReduceAlgorithm Algorithm>
void test_items() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", " << Items << " items");
  constexpr int threads = 100;
  using item = item_for<Algorithm>;
  device_vector<item> reduced(threads + 1);
  device_vector<unsigned> sums(threads + 1);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_arrays", 1, threads}, reduce_arrays<threads, Items, Algorithm>,
                                     reduced.data(), sums.data()));
  const unsigned n = static_cast<unsigned>(threads * Items);
  for (const item& result : reduced.to_host()) {
    ASSERT_EQ(result, item::of_first(static_cast<int>(n)));
  }
  for (const unsigned sum : sums.to_host()) ASSERT_EQ(sum, n * (n - 1) / 2);
}

template <BlockReduceAlgorithm Algorithm>
void test_item_counts() {
  test_items<1, Algorithm>();
  test_items<2, Algorithm>();
  test_items<3, Algorithm>();
  test_items<5, Algorithm>();
  test_items<8, Algorithm>();
}

TEST(block_reduce, arrays_are_reduced_in_order_of_thread_and_index) {
  test_item_counts<BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_item_counts<BLOCK_REDUCE_RAKING>();
  test_item_counts<BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
}

// ---------------------------------------------------------------------------- types
// Trivially copyable, without a default constructor.
struct alignas(16) strict {
  long long value[4];
  explicit STRATA_HD strict(long long v) : value{v, -v, 2 * v, v} {}
  friend STRATA_HD strict operator+(const strict& a, const strict& b) { return strict(a.value[0] + b.value[3]); }
};

// Memory for a T that only the kernel constructs.
template <class T>
struct alignas(T) raw {
  unsigned char bytes[sizeof(T)];
};

template <class T, int Threads, BlockReduceAlgorithm Algorithm>
STRATA_KERNEL void reduce_type(const T* in, T* results, int num_valid) {
  using reducer = BlockReduce<T, Threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T mine = in[threadIdx.x];
  results[threadIdx.x] = reducer(temp_storage).AllReduce(mine, strata_test::plain_sum{}, num_valid);
  __syncthreads();
  const T sum = reducer(temp_storage).Sum(mine);
  if (threadIdx.x == 0) results[Threads] = sum;
}

template <class T, int Threads, BlockReduceAlgorithm Algorithm>
void test_type() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads);
  constexpr int num_valid = Threads - 33;
  std::vector<T> items;
  if constexpr (std::is_same_v<T, strict>) {
    for (int i = 0; i < Threads; ++i) items.push_back(strict(3 * i + 1));
  } else {
    // So few ones that a 16-bit float can represent their sum.
    items = strata_test::random_items<T>(Threads, 0, strata_test::is_narrow_float<T> ? 1 : 100);
  }
  const T partial = strata_test::reference_reduce(items, 0, num_valid, strata_test::plain_sum{});
  const T full = strata_test::reference_reduce(items, strata_test::plain_sum{});
  device_vector<raw<T>> in(Threads), results(Threads + 1);
  ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data(), items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_type", 1, Threads}, reduce_type<T, Threads, Algorithm>,
                                     reinterpret_cast<const T*>(in.data()), reinterpret_cast<T*>(results.data()),
                                     num_valid));
  const std::vector<raw<T>> host = results.to_host();
  for (std::size_t t = 0; t < Threads; ++t) {
    ASSERT_EQ(std::memcmp(&host[t], &partial, sizeof(T)), 0) << "AllReduce in thread " << t;
  }
  ASSERT_EQ(std::memcmp(&host[Threads], &full, sizeof(T)), 0) << "Sum";
}

template <class T>
class block_reduce_types : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using reduced_types = testing::Types<std::int8_t, std::int32_t, float, __half, strata_test::int128,
                                     strata_test::words<5, std::uint8_t>, strata_test::words<3, std::uint64_t>, strict>;
#else
using reduced_types =
    testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double, __half, __nv_bfloat16,
                   strata_test::int128, strata_test::words<1, std::uint8_t>, strata_test::words<5, std::uint8_t>,
                   strata_test::words<2>, strata_test::words<3>, strata_test::words<3, std::uint64_t>,
                   strata_test::words<5, std::uint64_t>, strict>;
#endif
TYPED_TEST_SUITE(block_reduce_types, reduced_types);

TYPED_TEST(block_reduce_types, every_algorithm_reduces_every_type) {
  test_type<TypeParam, 96, BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_type<TypeParam, 300, BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_type<TypeParam, 96, BLOCK_REDUCE_RAKING>();
  test_type<TypeParam, 96, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
}

// ---------------------------------------------------------------------------- determinism
template <int Threads, BlockReduceAlgorithm Algorithm>
STRATA_KERNEL void sum_of_floats(const float* in, float* out, int num_valid) {
  using reducer = BlockReduce<float, Threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const float mine = in[blockIdx.x * Threads + threadIdx.x];
  float* const results = out + 2 * (blockIdx.x * Threads + threadIdx.x);
  results[0] = reducer(temp_storage).AllSum(mine);
  __syncthreads();
  results[1] = reducer(temp_storage).AllSum(mine, num_valid);
}

template <int Threads, BlockReduceAlgorithm Algorithm>
void test_determinism() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads);
  constexpr unsigned blocks = 3;
  // The magnitudes of items differ so much that nearly every other association gives another sum.
  std::vector<float> items(blocks * Threads);
  unsigned random = 1;
  for (float& item : items) {
    random = random * 1664525u + 1013904223u;
    item = static_cast<float>(random >> 8) / static_cast<float>(1u << (random & 15));
  }
  const device_vector<float> in(items);
  std::vector<float> first;
  for (unsigned schedule = 0; schedule < 20; ++schedule) {
#if STRATA_HOST_SIMT
    strata::simt::config().seed = schedule;
#endif
    device_vector<float> out(2 * blocks * Threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"sum_of_floats", blocks, Threads}, sum_of_floats<Threads, Algorithm>, in.data(),
                                       out.data(), Threads - 5));
    const std::vector<float> sums = out.to_host();
    if (schedule == 0) first = sums;
    ASSERT_EQ(std::memcmp(sums.data(), first.data(), sums.size() * sizeof(float)), 0) << "schedule " << schedule;
  }
#if STRATA_HOST_SIMT
  strata::simt::config().seed = 0;
#endif
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t of_thread_0 = i / (2 * Threads) * (2 * Threads) + i % 2;
    ASSERT_EQ(first[i], first[of_thread_0]) << "thread " << i / 2;
  }
}

TEST(block_reduce, floating_point_results_are_the_same_bits_under_any_schedule_in_any_thread) {
  test_determinism<100, BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_determinism<320, BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_determinism<260, BLOCK_REDUCE_WARP_REDUCTIONS>();
  test_determinism<320, BLOCK_REDUCE_RAKING>();
  test_determinism<320, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
}

// ---------------------------------------------------------------------------- shared memory
#if STRATA_HOST_SIMT
template <class T, int Threads, BlockReduceAlgorithm Algorithm>
void test_bank_conflicts() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads << ", " << sizeof(T)
                                  << " bytes");
  const device_vector<T> in(std::vector<T>(Threads, T{}));
  device_vector<T> results(Threads + 1);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_type", 1, Threads}, reduce_type<T, Threads, Algorithm>, in.data(),
                                     results.data(), Threads));
  EXPECT_GT(strata::simt::stats().shared_instructions, 0u);
  EXPECT_EQ(strata::simt::stats().shared_wavefronts, strata::simt::stats().shared_ideal_wavefronts);
}

template <BlockReduceAlgorithm Algorithm>
void test_bank_conflicts_of_types() {
  test_bank_conflicts<signed char, 256, Algorithm>();
  test_bank_conflicts<short, 96, Algorithm>();
  test_bank_conflicts<int, 256, Algorithm>();
  test_bank_conflicts<int, 768, Algorithm>();
  test_bank_conflicts<double, 128, Algorithm>();
  test_bank_conflicts<double, 384, Algorithm>();
  test_bank_conflicts<strata_test::int128, 512, Algorithm>();
}

TEST(block_reduce, raking_has_no_bank_conflicts) {
  if (strata::simt::runtime_flavour() != strata::simt::flavour::check) {
    GTEST_SKIP() << "only check mode counts bank conflicts";
  }
  test_bank_conflicts_of_types<BLOCK_REDUCE_RAKING>();
  test_bank_conflicts_of_types<BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
}
#endif

static_assert(sizeof(BlockReduce<float, 1024>::TempStorage) == 32 * sizeof(float));
static_assert(sizeof(BlockReduce<strata_test::words<5, std::uint64_t>, 100>::TempStorage) == 4 * 40);
static_assert(sizeof(BlockReduce<float, 1024, BLOCK_REDUCE_RAKING>::TempStorage) == (1024 + 31) * sizeof(float));
static_assert(sizeof(BlockReduce<float, 96, BLOCK_REDUCE_RAKING>::TempStorage) == 96 * sizeof(float));
static_assert(sizeof(BlockReduce<double, 96, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>::TempStorage) ==
              64 * sizeof(double));

// ---------------------------------------------------------------------------- minima and maxima of floats
// Each warp reduces its floats as integers. The aggregates are converted back to floats.
template <int Threads, class T, class Operator>
STRATA_KERNEL void reduce_extremes(const T* in, int valid, T* out, Operator op) {
  using reducer = BlockReduce<T, Threads>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T item = in[threadIdx.x];
  // The first call finds the storage uninitialised, so checkers see a read of the aggregate of a warp without items.
  const T partial = reducer(temp_storage).Reduce(item, op, valid);
  __syncthreads();
  const T full = reducer(temp_storage).Reduce(item, op);
  __syncthreads();
  const T all = reducer(temp_storage).AllReduce(item, op, valid);
  if (threadIdx.x == 0) {
    out[0] = full;
    out[1] = partial;
  }
  out[2 + threadIdx.x] = all;
}

bool is_same(float a, float b) { return strata_test::same_bits(a, b) || (a != a && b != b); }
bool is_same(const strata::KeyValuePair<int, float>& a, const strata::KeyValuePair<int, float>& b) {
  return a.key == b.key && is_same(a.value, b.value);
}

template <int Threads, class T, class Operator>
void test_extremes(const std::vector<T>& items, Operator op) {
  const device_vector<T> in(items);
  for (const int valid : {1, Threads / 2 - 1, Threads - 32, Threads}) {
    SCOPED_TRACE(testing::Message() << valid << " of " << Threads);
    device_vector<T> out(2 + Threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"reduce_extremes", 1, Threads}, reduce_extremes<Threads, T, Operator>,
                                       in.data(), valid, out.data(), op));
    const std::vector<T> results = out.to_host();
    const T expected = std::accumulate(items.begin() + 1, items.begin() + valid, items[0], op);
    EXPECT_TRUE(is_same(results[0], std::accumulate(items.begin() + 1, items.end(), items[0], op)));
    for (std::size_t i = 1; i < results.size(); ++i) ASSERT_TRUE(is_same(results[i], expected)) << "result " << i;
  }
}

template <int Threads>
void test_extremes_of_floats() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int> random = strata_test::random_integers(Threads, 0, 5, Threads);
  for (const std::vector<float>& numbers :
       {std::vector<float>{nan, 0.0f, -0.0f, nan, -0.0f, nan}, std::vector<float>{nan, -nan, nan, -nan, -nan, nan},
        std::vector<float>{-1.0f, -2.0f, nan, -0.5f, -2.0f, -8.0f}}) {
    std::vector<float> items;
    std::vector<strata::KeyValuePair<int, float>> pairs;
    for (const int i : random) {
      // Every third warp has only NaNs.
      const bool has_number = items.size() / 32 % 3 != 1;
      items.push_back(has_number ? numbers[static_cast<unsigned>(i)] : nan);
      pairs.push_back({static_cast<int>(items.size() * 7 % Threads), items.back()});
    }
    test_extremes<Threads>(items, strata::Min{});
    test_extremes<Threads>(items, strata::Max{});
    test_extremes<Threads>(pairs, strata::ArgMin{});
    test_extremes<Threads>(pairs, strata::ArgMax{});
  }
}

TEST(block_reduce, a_nan_loses_against_numbers_and_zeros_have_an_order) {
  test_extremes_of_floats<80>();
  test_extremes_of_floats<256>();
  test_extremes_of_floats<512>();
  test_extremes_of_floats<1024>();
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void mean(const float* in, float* out) {
  using BlockReduce = strata::BlockReduce<float, 128>;
  STRATA_SHARED(temp_storage, BlockReduce::TempStorage);
  const float sum = BlockReduce(temp_storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / 128;
}

TEST(block_reduce, gives_the_sum_of_each_block) {
  std::vector<float> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const device_vector<float> in(numbers);
  device_vector<float> out(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"mean", 2, 128}, mean, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), (std::vector<float>{63.5f, 191.5f}));
}

}  // namespace block_reduce_test

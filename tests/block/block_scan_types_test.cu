// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_scan_types_test {

using namespace strata_test;
using strata::BLOCK_SCAN_RAKING;
using strata::BLOCK_SCAN_RAKING_MEMOIZE;
using strata::BLOCK_SCAN_WARP_SCANS;
using strata::BlockScan;
using strata::BlockScanAlgorithm;

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

// ---------------------------------------------------------------------------- every type Each thread writes an
// inclusive result, the aggregate, and an exclusive result of the valid threads. The initial value is the item after
// those of the threads.
template <class T, int Threads, BlockScanAlgorithm Algorithm, class Operator>
STRATA_KERNEL void scan_type(const T* in, T* out, int valid, Operator op) {
  using scanner = BlockScan<T, Threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  const T mine = in[threadIdx.x], initial = in[Threads];
  T inclusive = mine, aggregate = mine, exclusive = mine;
  scanner(temp_storage).InclusiveScan(mine, inclusive, op, aggregate);
  __syncthreads();
  scanner(temp_storage).ExclusiveScanPartialTile(mine, exclusive, initial, op, valid);
  T* const results = out + 3 * threadIdx.x;
  results[0] = inclusive;
  results[1] = aggregate;
  results[2] = exclusive;
}

template <class T>
std::vector<T> some_items(std::size_t count) {
  std::vector<T> items;
  if constexpr (std::is_same_v<T, strict>) {
    for (std::size_t i = 0; i < count; ++i) items.push_back(strict(3LL * static_cast<int>(i) + 1));
  } else {
    // So few ones that a 16-bit float can represent their sum.
    items = random_items<T>(count, 0, is_narrow_float<T> ? 1 : 100);
  }
  return items;
}

template <class T, int Threads, BlockScanAlgorithm Algorithm, class Operator>
void test_type(Operator op) {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads);
  constexpr int valid = Threads - 33;
  const std::vector<T> items = some_items<T>(Threads + 1);
  device_vector<raw<T>> in(Threads + 1), out(3 * Threads);
  ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data(), items.data(), items.size() * sizeof(T), cudaMemcpyHostToDevice));
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_type", 1, Threads}, scan_type<T, Threads, Algorithm, Operator>,
                                     reinterpret_cast<const T*>(in.data()), reinterpret_cast<T*>(out.data()), valid,
                                     op));
  const std::vector<raw<T>> results = out.to_host();
  const auto is = [&](std::size_t result, const T& expected) {
    return std::memcmp(&results[result], &expected, sizeof(T)) == 0;
  };
  T sum = items[0], sum_with_initial = items[Threads];
  const T all = reference_reduce(items, 0, Threads, op);
  for (std::size_t t = 0; t < Threads; ++t) {
    SCOPED_TRACE(testing::Message() << "thread " << t);
    if (t > 0) sum = static_cast<T>(op(sum, items[t]));
    ASSERT_TRUE(is(3 * t, sum));
    ASSERT_TRUE(is(3 * t + 1, all));
    ASSERT_TRUE(is(3 * t + 2, t < valid ? sum_with_initial : items[t]));
    sum_with_initial = static_cast<T>(op(sum_with_initial, items[t]));
  }
}

template <class T>
class block_scan_of : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using scanned_types =
    testing::Types<std::int8_t, std::int32_t, __half, words<5, std::uint8_t>, struct12, words<10>, strict>;
#else
using scanned_types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double, __half,
                                     int128, words<5, std::uint8_t>, struct12, struct16, words<10>, strict>;
#endif
TYPED_TEST_SUITE(block_scan_of, scanned_types);

TYPED_TEST(block_scan_of, every_algorithm_scans_every_type) {
  test_type<TypeParam, 96, BLOCK_SCAN_WARP_SCANS>(plain_sum{});
  test_type<TypeParam, 96, BLOCK_SCAN_RAKING>(plain_sum{});
  test_type<TypeParam, 96, BLOCK_SCAN_RAKING_MEMOIZE>(plain_sum{});
}

TEST(block_scan, non_commutative_operators) {
  test_type<string_hash, 320, BLOCK_SCAN_WARP_SCANS>(join{});
  test_type<matrix, 300, BLOCK_SCAN_WARP_SCANS>(multiply{});
  test_type<matrix, 256, BLOCK_SCAN_RAKING>(multiply{});
  test_type<string_hash, 200, BLOCK_SCAN_RAKING_MEMOIZE>(join{});
}

// In blocks of more than 512 threads, all warps scan sums of words, and other types are raked. Both use the same
// storage class.
TEST(block_scan, large_blocks_rake_what_are_no_sums_of_words) {
  test_type<std::int32_t, 512, BLOCK_SCAN_RAKING>(strata::Sum{});
  test_type<std::int32_t, 1024, BLOCK_SCAN_RAKING>(strata::Sum{});
  test_type<std::int32_t, 1024, BLOCK_SCAN_RAKING>(plain_sum{});
  test_type<std::int8_t, 544, BLOCK_SCAN_RAKING_MEMOIZE>(strata::Max{});
  test_type<std::uint32_t, 520, BLOCK_SCAN_RAKING>(strata::Sum{});
  test_type<std::uint32_t, 1024, BLOCK_SCAN_RAKING_MEMOIZE>(strata::Sum{});
  test_type<std::int64_t, 1024, BLOCK_SCAN_RAKING>(strata::Sum{});
}

// ---------------------------------------------------------------------------- determinism
// The magnitudes of items differ so much that nearly every other association gives another sum.
std::vector<float> unequal_floats(std::size_t count) {
  std::vector<float> items(count);
  unsigned random = 1;
  for (float& item : items) {
    random = random * 1664525u + 1013904223u;
    item = static_cast<float>(random >> 8) / static_cast<float>(1u << (random & 15));
  }
  return items;
}

template <int Threads, BlockScanAlgorithm Algorithm>
void test_determinism() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads);
  const device_vector<float> in(unequal_floats(Threads + 1));
  std::vector<float> first;
  for (unsigned schedule = 0; schedule < 20; ++schedule) {
#if STRATA_HOST_SIMT
    strata::simt::config().seed = schedule;
#endif
    const int valid = schedule == 0 ? Threads : Threads - 7 * static_cast<int>(schedule % 10);
    device_vector<float> out(3 * Threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"scan_type", 1, Threads}, scan_type<float, Threads, Algorithm, strata::Sum>,
                                       in.data(), out.data(), valid, strata::Sum{}));
    const std::vector<float> results = out.to_host();
    if (schedule == 0) first = results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i % 3 == 2 && static_cast<int>(i / 3) >= valid) continue;
      ASSERT_TRUE(same_bits(results[i], first[i])) << "schedule " << schedule << ", result " << i;
      ASSERT_TRUE(i % 3 != 1 || same_bits(results[i], first[1])) << "aggregate of " << i / 3;
    }
  }
#if STRATA_HOST_SIMT
  strata::simt::config().seed = 0;
#endif
}

TEST(block_scan, floats_are_the_same_bits_under_any_schedule_for_any_number_of_valid_items) {
  test_determinism<100, BLOCK_SCAN_WARP_SCANS>();
  test_determinism<320, BLOCK_SCAN_WARP_SCANS>();
  test_determinism<260, BLOCK_SCAN_RAKING>();
  test_determinism<128, BLOCK_SCAN_RAKING_MEMOIZE>();
}

// ---------------------------------------------------------------------------- shared memory
#if STRATA_HOST_SIMT
template <class T, int Threads, BlockScanAlgorithm Algorithm>
void test_bank_conflicts() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", threads " << Threads << ", " << sizeof(T)
                                  << " bytes");
  const device_vector<T> in(std::vector<T>(Threads + 1, T{}));
  device_vector<T> out(3 * Threads);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_type", 1, Threads}, scan_type<T, Threads, Algorithm, plain_sum>, in.data(),
                                     out.data(), Threads - 5, plain_sum{}));
  expect_no_bank_conflicts(2 * Threads / 32);
}

template <BlockScanAlgorithm Algorithm>
void test_bank_conflicts_of_types() {
  test_bank_conflicts<signed char, 256, Algorithm>();
  test_bank_conflicts<short, 96, Algorithm>();
  test_bank_conflicts<int, 768, Algorithm>();
  test_bank_conflicts<double, 128, Algorithm>();
  test_bank_conflicts<double, 384, Algorithm>();
  test_bank_conflicts<int128, 512, Algorithm>();
}

TEST(block_scan, no_algorithm_has_bank_conflicts) {
  if (!counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  test_bank_conflicts_of_types<BLOCK_SCAN_WARP_SCANS>();
  test_bank_conflicts_of_types<BLOCK_SCAN_RAKING>();
  test_bank_conflicts_of_types<BLOCK_SCAN_RAKING_MEMOIZE>();
}
#endif

template <class T, int Threads, BlockScanAlgorithm Algorithm>
inline constexpr std::size_t bytes = sizeof(typename BlockScan<T, Threads, Algorithm>::TempStorage);
static_assert(bytes<int, 32, BLOCK_SCAN_RAKING> == 1);
static_assert(bytes<float, 128, BLOCK_SCAN_WARP_SCANS> == 32);  // 4 sums and a prefix, aligned
static_assert(bytes<double, 1000, BLOCK_SCAN_WARP_SCANS> == 33 * 8 + 8);
static_assert(bytes<float, 1024, BLOCK_SCAN_RAKING> == (1024 + 31 + 1) * 4);
static_assert(bytes<struct12, 96, BLOCK_SCAN_RAKING_MEMOIZE> == (96 + 1) * 12);
// A struct of four words is accessed in units of 16 bytes, not of 4.
static_assert(bytes<struct16, 96, BLOCK_SCAN_RAKING> == (96 + 3 + 1) * 16);

}  // namespace block_scan_types_test

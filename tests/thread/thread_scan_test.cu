// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/thread/thread_scan.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::ThreadScanExclusive;
using strata::ThreadScanInclusive;

constexpr unsigned threads = 32;

// The scans of each thread's row, in the order in which they run.
enum way {
  inclusive,
  inclusive_with_prefix,
  inclusive_without_its_prefix,
  exclusive,
  exclusive_without_its_prefix,
  ways
};

// For each row and way: the scanned items, then the returned sum.
template <class T, std::size_t Count, class Operator>
STRATA_KERNEL void scan_rows(const T* in, const T* prefixes, T* out, Operator op) {
  T row[Count], scanned[Count];
  for (std::size_t i = 0; i < Count; ++i) row[i] = in[threadIdx.x * Count + i];
  const T prefix = prefixes[threadIdx.x];
  T* result = out + threadIdx.x * ways * (Count + 1);
  for (int w = 0; w < ways; ++w) {
    const T sum = w == inclusive                      ? ThreadScanInclusive(row, scanned, op)
                  : w == inclusive_with_prefix        ? ThreadScanInclusive(row, scanned, op, prefix)
                  : w == inclusive_without_its_prefix ? ThreadScanInclusive(row, scanned, op, prefix, false)
                  : w == exclusive                    ? ThreadScanExclusive(row, scanned, op, prefix)
                                                      : ThreadScanExclusive(row, scanned, op, prefix, false);
    for (std::size_t i = 0; i < Count; ++i) *result++ = scanned[i];
    *result++ = sum;
  }
}

template <class T, class Operator>
std::vector<T> expected_row(way w, const std::vector<T>& row, const T& prefix, Operator op) {
  const bool applies = w == inclusive_with_prefix || w == exclusive;
  std::vector<T> result;
  T sum = prefix;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (w >= exclusive) result.push_back(sum);
    sum = i > 0 || applies ? static_cast<T>(op(sum, row[i])) : row[i];
    if (w < exclusive) result.push_back(sum);
  }
  result.push_back(sum);
  return result;
}

template <std::size_t Count, class T, class Operator>
void test_rows(const std::vector<T>& items, Operator op) {
  SCOPED_TRACE(testing::Message() << Count << " items");
  const std::vector<T> prefixes = random_items<T>(threads, 77);
  const device_vector<T> in(items), prefixes_in(prefixes);
  device_vector<T> out(threads * ways * (Count + 1));
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_rows", 1, threads}, scan_rows<T, Count, Operator>, in.data(),
                                     prefixes_in.data(), out.data(), op));
  const std::vector<T> results = out.to_host();
  const T* result = results.data();
  for (std::size_t t = 0; t < threads; ++t) {
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(t * Count);
    const std::vector<T> row(begin, begin + static_cast<std::ptrdiff_t>(Count));
    for (int w = 0; w < ways; ++w) {
      for (const T& expected : expected_row(static_cast<way>(w), row, prefixes[t], op)) {
        ASSERT_TRUE(same_bits(*result++, expected)) << "thread " << t << ", way " << w;
      }
    }
  }
}

template <class T, class Operator>
void test_counts(Operator op) {
  test_rows<1>(random_items<T>(threads), op);
  test_rows<2>(random_items<T>(threads * 2), op);
  test_rows<7>(random_items<T>(threads * 7), op);
}

template <class T>
class thread_scan_of : public testing::Test {};
TYPED_TEST_SUITE(thread_scan_of, few_types);

TYPED_TEST(thread_scan_of, any_arithmetic_type_sums) { test_counts<TypeParam>(plain_sum{}); }

TEST(thread_scan, sums_of_structs) {
  test_counts<struct12>(plain_sum{});
  test_counts<struct64>(plain_sum{});
}

TEST(thread_scan, non_commutative_operators_keep_order) {
  test_counts<string_hash>(join{});
  test_counts<matrix>(multiply{});
}

// Neither associative nor commutative, so any other order of evaluation than the loop's gives another result.
struct subtract_and_double {
  STRATA_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return static_cast<std::int64_t>(2 * static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
};

TEST(thread_scan, is_the_sequential_loop) {
  test_rows<13>(random_items<std::int64_t>(threads * 13), subtract_and_double{});
}

TEST(thread_scan, floating_point_sums_are_those_of_the_loop) {
  std::mt19937_64 bits = random_bits();
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<float> items(threads * 16);
  for (float& item : items) item = value(bits);
  test_rows<16>(items, strata::Sum{});
}

// ---------------------------------------------------------------------------- forms, calls
// Counts its calls, so it has state.
struct counting_join {
  int* calls;
  STRATA_HD string_hash operator()(const string_hash& a, const string_hash& b) {
    ++*calls;
    return join{}(a, b);
  }
};

// Scans in place, through an array and through a pointer: ten forms. Stores each form's results and number of calls.
STRATA_KERNEL void scan_in_all_forms(const string_hash* in, string_hash* out, int* calls) {
  const string_hash prefix = string_hash::of('>');
  for (int form = 0; form < 10; ++form) {
    string_hash row[3] = {in[0], in[1], in[2]};
    int count = 0;
    const counting_join op{&count};
    string_hash* const p = row;
    const string_hash sum = form == 0   ? ThreadScanInclusive(row, row, op)
                            : form == 1 ? ThreadScanInclusive<3>(p, p, op)
                            : form == 2 ? ThreadScanInclusive(row, row, op, prefix)
                            : form == 3 ? ThreadScanInclusive<3>(p, p, op, prefix)
                            : form == 4 ? ThreadScanInclusive(row, row, op, prefix, false)
                            : form == 5 ? ThreadScanInclusive<3>(p, p, op, prefix, false)
                            : form == 6 ? ThreadScanExclusive(row, row, op, prefix)
                            : form == 7 ? ThreadScanExclusive<3>(p, p, op, prefix)
                            : form == 8 ? ThreadScanExclusive(row, row, op, prefix, false)
                                        : ThreadScanExclusive<3>(p, p, op, prefix, false);
    for (int i = 0; i < 3; ++i) out[4 * form + i] = row[i];
    out[4 * form + 3] = sum;
    calls[form] = count;
  }
}

TEST(thread_scan, in_place_by_array_or_pointer_with_no_call_too_many) {
  const std::vector<string_hash> text = {string_hash::of('a'), string_hash::of('b'), string_hash::of('c')};
  const device_vector<string_hash> in(text);
  device_vector<string_hash> out(40);
  device_vector<int> calls(10);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"scan_in_all_forms", 1, 1}, scan_in_all_forms, in.data(), out.data(), calls.data()));
  const std::vector<string_hash> results = out.to_host();
  for (std::size_t form = 0; form < 10; ++form) {
    const std::vector<string_hash> expected =
        expected_row(static_cast<way>(form / 2), text, string_hash::of('>'), join{});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(results[4 * form + i], expected[i]) << "form " << form << ", item " << i;
    }
  }
  EXPECT_EQ(calls.to_host(), (std::vector<int>{2, 2, 3, 3, 2, 2, 3, 3, 2, 2}));
}

STRATA_KERNEL void prefix_of_another_type(std::int64_t* out) {
  std::int64_t row[2] = {std::int64_t{1} << 40, 2};
  out[2] = ThreadScanExclusive(row, row, strata::Sum{}, 5);
  out[0] = row[0];
  out[1] = row[1];
}

TEST(thread_scan, a_prefix_is_converted_to_the_type_of_the_items) {
  device_vector<std::int64_t> out(3);
  ASSERT_CUDA_SUCCESS(strata::launch({"prefix_of_another_type", 1, 1}, prefix_of_another_type, out.data()));
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(out.to_host(), (std::vector<std::int64_t>{5, large + 5, large + 7}));
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void row_offsets(const int* counts, int* offsets, int* totals) {
  int row[4];
  for (unsigned i = 0; i < 4; ++i) row[i] = counts[4 * threadIdx.x + i];
  totals[threadIdx.x] = strata::ThreadScanExclusive(row, row, strata::Sum{}, 0);
  for (unsigned i = 0; i < 4; ++i) offsets[4 * threadIdx.x + i] = row[i];
}

TEST(thread_scan, scans_in_place_and_returns_the_total) {
  const device_vector<int> counts({1, 2, 3, 4, 10, 20, 30, 40});
  device_vector<int> offsets(8), totals(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"row_offsets", 1, 2}, row_offsets, counts.data(), offsets.data(), totals.data()));
  EXPECT_EQ(offsets.to_host(), (std::vector<int>{0, 1, 3, 6, 0, 10, 30, 60}));
  EXPECT_EQ(totals.to_host(), (std::vector<int>{10, 100}));
}

}  // namespace

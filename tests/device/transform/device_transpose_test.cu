// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceTranspose: matrices of any shape and type.
#include <strata/device/device_transpose.cuh>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

namespace device_transpose_test {

using namespace device_test;
using strata::DeviceTranspose;
using strata_test::words;

/// Items of bytes, without alignment.
template <std::size_t Size>
using chars = words<Size, std::uint8_t>;

#if defined(STRATA_TEST_FEW_TYPES)
using types = testing::Types<std::uint8_t, std::int16_t, float, std::uint64_t, strata_test::int128, chars<3>,
                             words<5, std::uint64_t>, words<12, std::uint64_t>>;
#else
using types = testing::Types<std::uint8_t, std::int16_t, float, std::uint64_t, strata_test::int128, chars<3>, words<2>,
                             words<3>, words<4>, words<5, std::uint64_t>, words<12, std::uint64_t>>;
#endif
// Types with the sizes of machine words but less alignment, and larger types of other sizes.
using rare_types = testing::Types<chars<2>, chars<8>, words<8, std::uint16_t>, chars<24>, chars<100>>;

struct shape {
  std::int64_t rows;
  std::int64_t columns;
};

/// A matrix between guard bands: `lead` items lie before it, `gap` between its rows and none behind.
template <class T>
struct matrix {
  matrix(shape size, std::int64_t gap, std::int64_t items_in_front)
      : rows(size.rows),
        columns(size.columns),
        dimension(size.columns + gap),
        lead(items_in_front),
        items(static_cast<std::size_t>(lead + (rows > 0 && columns > 0 ? (rows - 1) * dimension + columns : 0))) {}

  T* data() { return items.data() + lead; }

  std::int64_t rows, columns, dimension, lead;
  device_vector<T> items;
};

/// Random bytes, also for gaps.
template <class T>
std::vector<T> random_items(std::size_t count) {
  std::mt19937_64 bits = strata_test::random_bits(count);
  std::vector<std::uint64_t> words(count * sizeof(T) / 8 + 1);
  for (std::uint64_t& word : words) word = bits();
  std::vector<T> items(count);
  if (count > 0) std::memcpy(static_cast<void*>(items.data()), words.data(), count * sizeof(T));
  return items;
}

struct gaps {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// Compares the whole output, also what lies in front of it and in its gaps, with a sequential transpose.
template <class T>
void test_transpose(shape size, gaps gap = {}, std::int64_t lead = 0) {
  SCOPED_TRACE(testing::Message() << size.rows << " x " << size.columns << " of " << sizeof(T) << " bytes, gaps "
                                  << gap.in << " and " << gap.out << ", " << lead << " items in front");
  matrix<T> in(size, gap.in, lead);
  matrix<T> out({size.columns, size.rows}, gap.out, lead);
  const std::vector<T> items = random_items<T>(in.items.size());
  in.items.assign(items);

  std::vector<T> expected = out.items.to_host();  // poison
  for (std::int64_t row = 0; row < size.rows; ++row) {
    for (std::int64_t column = 0; column < size.columns; ++column) {
      expected[static_cast<std::size_t>(lead + column * out.dimension + row)] =
          items[static_cast<std::size_t>(lead + row * in.dimension + column)];
    }
  }
  const bool has_gaps = gap.in != 0 || gap.out != 0;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    const T* const from = in.data();
    return has_gaps ? DeviceTranspose::Transpose(storage..., from, out.data(), size.rows, size.columns, in.dimension,
                                                 out.dimension)
                    : DeviceTranspose::Transpose(storage..., from, out.data(), size.rows, size.columns);
  }));
  const std::vector<T> results = out.items.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(0, std::memcmp(&expected[i], &results[i], sizeof(T)))
        << "item " << static_cast<std::int64_t>(i) - lead << " behind d_out";
  }
}

// ---------------------------------------------------------------------------- shapes
template <class T>
class device_transpose : public testing::Test {};
TYPED_TEST_SUITE(device_transpose, types);

TYPED_TEST(device_transpose, nothing_and_little) {
  for (const shape size : {shape{0, 0}, shape{0, 7}, shape{7, 0}, shape{1, 1}, shape{1, 2}, shape{2, 1}, shape{3, 5}}) {
    test_transpose<TypeParam>(size);
  }
}

TYPED_TEST(device_transpose, rows_and_columns) {
  for (const std::int64_t n : {31, 1000}) {
    test_transpose<TypeParam>({1, n});
    test_transpose<TypeParam>({n, 1});
    test_transpose<TypeParam>({1, n}, {0, 1});
    test_transpose<TypeParam>({n, 1}, {1, 0});
  }
}

TYPED_TEST(device_transpose, few_rows_and_few_columns) {
  for (const std::int64_t few : {2, 3, 7, 8, 9}) {
    test_transpose<TypeParam>({few, 1030});
    test_transpose<TypeParam>({1030, few});
  }
  test_transpose<TypeParam>({8, 512});
  test_transpose<TypeParam>({512, 8});
}

TYPED_TEST(device_transpose, tiles_and_their_neighbours) {
  const std::vector<std::int64_t> sides =
      if_small<std::vector<std::int64_t>>({63, 64, 129}, {31, 32, 33, 63, 64, 65, 127, 128, 129, 257});
  for (const std::int64_t rows : sides) {
    for (const std::int64_t columns : sides) {
      if (rows + columns > if_small(300, 1000)) continue;
      test_transpose<TypeParam>({rows, columns});
    }
  }
}

TYPED_TEST(device_transpose, primes) {
  test_transpose<TypeParam>({101, 211});
  test_transpose<TypeParam>({223, 13});
}

TYPED_TEST(device_transpose, gaps_stay_untouched) {
  test_transpose<TypeParam>({64, 64}, {16, 32});
  test_transpose<TypeParam>({67, 130}, {3, 1});
  test_transpose<TypeParam>({130, 67}, {14, 13});  // whole vectors up to the last, partial one
  test_transpose<TypeParam>({128, 128}, {1, 0});
  test_transpose<TypeParam>({128, 128}, {0, 1});
  test_transpose<TypeParam>({5, 600}, {8, 3});
}

TYPED_TEST(device_transpose, pointers_at_any_item) {
  for (const std::int64_t lead : {1, 2, 3, 8}) {
    test_transpose<TypeParam>({128, 128}, {}, lead);
    test_transpose<TypeParam>({65, 33}, {15, 31}, lead);
  }
}

#if STRATA_HOST_SIMT
TYPED_TEST(device_transpose, shared_memory_is_accessed_without_conflicts) {
  if (strata::simt::runtime_flavour() != strata::simt::flavour::check) {
    GTEST_SKIP() << "only the check flavour sees each access";
  }
  strata::simt::reset_statistics();
  test_transpose<TypeParam>({128, 128});
  test_transpose<TypeParam>({128, 128}, {1, 3}, 1);
  test_transpose<TypeParam>({65, 33});
  test_transpose<TypeParam>({3, 600});
  test_transpose<TypeParam>({600, 3});
  const auto& counted = strata::simt::stats();
  const bool is_staged = sizeof(TypeParam) <= strata::detail::most_staged_bytes;
  EXPECT_EQ(counted.shared_instructions > 0, is_staged);
  EXPECT_EQ(counted.shared_wavefronts, counted.shared_ideal_wavefronts);
}
#endif

template <class T>
class device_transpose_rare : public testing::Test {};
TYPED_TEST_SUITE(device_transpose_rare, rare_types);
TYPED_TEST(device_transpose_rare, types) {
  test_transpose<TypeParam>({1, 100}, {0, 1});
  test_transpose<TypeParam>({3, 67});
  test_transpose<TypeParam>({67, 3});
  test_transpose<TypeParam>({64, 96});
  test_transpose<TypeParam>({65, 41}, {1, 2}, 1);
  test_transpose<TypeParam>({65, 41}, {1, 2}, 3);
}

TEST(device_transpose_tiles, may_be_many_both_ways) {
  test_transpose<float>({33 * 64, 70});
  test_transpose<std::uint8_t>({33 * 128, 130});
  test_transpose<float>({70, 33 * 64});
  if (!is_small()) test_transpose<double>({40 * 32 + 5, 40 * 64 + 5});
}

// With more than 2^31 tiles, a block has several. This launch makes such blocks directly.
TEST(device_transpose_tiles, a_block_may_have_several_tiles) {
  using strata::detail::transpose_kind;
  using policy = strata::transpose_policy_hub<4, 4>::MaxPolicy;
  constexpr std::int64_t rows = 200, columns = 150;
  const std::vector<int> items = random_items<int>(rows * columns);
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  const strata::detail::transpose_shape cut{rows, columns, columns, rows, 2, 5, 1.0f};
  ASSERT_CUDA_SUCCESS(strata::launch({"few_blocks", 5, policy::items.block_threads},
                                     strata::detail::transpose_kernel<policy, 4, 4, transpose_kind::items>, in.data(),
                                     out.data(), cut));
  const std::vector<int> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i], items[i % rows * columns + i / rows]) << i;
  }
}

TEST(device_transpose_twice, is_the_identity) {
  const std::vector<float> items = random_items<float>(300 * 200);
  const device_vector<float> in(items);
  device_vector<float> between(items.size()), out(items.size());
  ASSERT_CUDA_SUCCESS(DeviceTranspose::Transpose(in.data(), between.data(), 300, 200));
  ASSERT_CUDA_SUCCESS(DeviceTranspose::Transpose(std::as_const(between).data(), out.data(), 200, 300));
  const std::vector<float> results = out.to_host();
  EXPECT_EQ(0, std::memcmp(items.data(), results.data(), items.size() * sizeof(float)));
}

TEST(device_transpose_graph, can_be_captured_and_replayed) {
  const std::vector<int> items = random_items<int>(100 * 90);
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  graph recorded([&](cudaStream_t on) { return DeviceTranspose::Transpose(in.data(), out.data(), 100, 90, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  for (int i = 0; i < 2; ++i) {
    out.poison();
    const stream on;
    recorded.replay(on);
    on.synchronize();
    const std::vector<int> results = out.to_host();
    for (std::size_t k = 0; k < results.size(); ++k) {
      ASSERT_EQ(results[k], items[k % 100 * 90 + k / 100]);
    }
  }
}

// ---------------------------------------------------------------------------- arguments
class device_transpose_arguments : public testing::Test {
 protected:
  // Expects that a call is refused and launches nothing.
  void expect_refused(const int* in, int* out, std::int64_t rows, std::int64_t columns, std::int64_t in_dimension,
                      std::int64_t out_dimension) {
    const graph recorded([&](cudaStream_t on) {
      return DeviceTranspose::Transpose(in, out, rows, columns, in_dimension, out_dimension, on);
    });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
  }
  void expect_refused(const int* in, int* out, std::int64_t rows, std::int64_t columns) {
    expect_refused(in, out, rows, columns, columns, rows);
  }
  // Expects that a call is not refused because of where its arrays lie. Other tests show that results are right.
  void expect_accepted(const int* in, int* out, std::int64_t rows, std::int64_t columns, std::int64_t in_dimension,
                       std::int64_t out_dimension) {
    EXPECT_CUDA_SUCCESS(DeviceTranspose::Transpose(in, out, rows, columns, in_dimension, out_dimension));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }

  device_vector<int> items_ = device_vector<int>(std::vector<int>(20000, 1));
  device_vector<int> others_ = device_vector<int>(std::vector<int>(20000, 1));
  int* a_ = items_.data();
  int* b_ = others_.data();
};

TEST_F(device_transpose_arguments, size_query_answers_without_looking_at_the_rest) {
  std::size_t bytes = 0;
  const int* const nothing = nullptr;
  EXPECT_CUDA_SUCCESS(DeviceTranspose::Transpose(nullptr, bytes, nothing, static_cast<int*>(nullptr), 100, 100));
  EXPECT_EQ(bytes, 1u);
  bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTranspose::Transpose(b_, bytes, a_, b_ + 4, 10, 10));
}

TEST_F(device_transpose_arguments, sizes) {
  expect_refused(a_, b_, -1, 10, 10, 10);
  expect_refused(a_, b_, 10, -1, 10, 10);
  expect_refused(a_, b_, 10, 20, 19, 10);
  expect_refused(a_, b_, 10, 20, 20, 9);
  expect_refused(a_, b_, std::int64_t{1} << 31, std::int64_t{1} << 31);
  expect_refused(a_, b_, std::int64_t{1} << 40, std::int64_t{1} << 40);
  expect_refused(a_, b_, 2, 2, std::int64_t{1} << 62, 2);
}

TEST_F(device_transpose_arguments, null_pointers_are_for_empty_matrices) {
  expect_refused(nullptr, b_, 1, 1);
  expect_refused(a_, nullptr, 1, 1);
  const int* const nothing = nullptr;
  EXPECT_CUDA_SUCCESS(DeviceTranspose::Transpose(nothing, static_cast<int*>(nullptr), 0, 5));
  EXPECT_CUDA_SUCCESS(DeviceTranspose::Transpose(nothing, static_cast<int*>(nullptr), 5, 0));
}

TEST_F(device_transpose_arguments, pointers_must_be_aligned_for_the_type) {
  const auto odd = reinterpret_cast<std::uintptr_t>(a_) + 2;
  expect_refused(reinterpret_cast<const int*>(odd), b_, 10, 10);
  expect_refused(b_, reinterpret_cast<int*>(odd), 10, 10);
}

TEST_F(device_transpose_arguments, matrices_may_not_overlap) {
  expect_refused(a_, a_, 10, 10);
  expect_refused(a_, a_, 1, 1);
  expect_refused(a_, a_ + 199, 10, 20);
  expect_refused(a_ + 199, a_, 10, 20);
  expect_accepted(a_, a_ + 200, 10, 20, 20, 10);
  expect_accepted(a_ + 200, a_, 10, 20, 20, 10);
}

TEST_F(device_transpose_arguments, blocks_of_one_matrix_may_lie_in_each_others_gaps) {
  // Rows have 100 items. The input lies in columns 0 to 19 of rows 0 to 9.
  expect_accepted(a_, a_ + 20, 10, 20, 100, 100);
  expect_refused(a_, a_ + 19, 10, 20, 100, 100);
  expect_refused(a_, a_ + 95, 10, 20, 100, 100);  // reaches into the next row
  expect_accepted(a_, a_ + 90, 10, 20, 100, 100);
  expect_refused(a_, a_ + 900, 10, 20, 100, 100);
  expect_accepted(a_, a_ + 1000, 10, 20, 100, 100);
  expect_refused(a_ + 20 * 100, a_ + 100, 10, 20, 100, 100);
  expect_accepted(a_ + 20 * 100, a_, 10, 20, 100, 100);
  // A matrix without gaps lies within a gap of the other one.
  expect_accepted(a_, a_ + 20, 4, 20, 100, 4);
  expect_refused(a_, a_ + 21, 4, 20, 100, 4);
  expect_accepted(a_ + 20, a_, 20, 4, 4, 100);
  expect_refused(a_ + 21, a_, 20, 4, 4, 100);
  // Different gaps.
  expect_refused(a_, a_ + 10, 10, 20, 100, 90);
}

}  // namespace device_transpose_test

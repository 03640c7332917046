// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceFor: an operator is applied once to each index, item or element of extents.
#include <strata/device/device_for.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_for_test {

using namespace device_test;
using strata::DeviceFor;
using strata_test::struct12;
using strata_test::struct16;

/// Counts how often each index is passed.
template <class Index>
struct count_index {
  unsigned* counts;
  STRATA_D void operator()(Index i) const { atomicAdd(counts + i, 1u); }
};

std::vector<std::size_t> lengths(std::size_t tile) {
  std::vector<std::size_t> all = strata_test::boundary_sizes({2, 32, 256, tile, 2 * tile});
  all.push_back(if_small<std::size_t>(5, 100) * tile + 77);
  return all;
}
constexpr strata::tile_tuning tuning = strata::tile_policy_hub::Policy800::tuning;
constexpr std::size_t reference_tile = tuning.block_threads * tuning.references;

// ------------------------------------------------------------------ Bulk

template <class Shape>
void expect_each_index_once(std::size_t shape) {
  SCOPED_TRACE(shape);
  const device_vector<unsigned> zeros(std::vector<unsigned>(shape + 5, 0));
  device_vector<unsigned> counts(zeros.to_host());
  std::vector<unsigned> expected(shape + 5, 0);
  for (std::size_t i = 0; i < shape; ++i) expected[i] = 1;
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceFor::Bulk(static_cast<Shape>(shape), count_index<Shape>{counts.data()}); }));
  EXPECT_EQ(expected, counts.to_host());
  counts.assign(zeros.to_host());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceFor::Bulk(storage..., static_cast<Shape>(shape), count_index<Shape>{counts.data()});
  }));
  EXPECT_EQ(expected, counts.to_host());
}

TEST(device_for, bulk_calls_each_index_once) {
  for (const std::size_t shape : lengths(reference_tile)) ASSERT_NO_FATAL_FAILURE(expect_each_index_once<int>(shape));
  expect_each_index_once<std::int64_t>(1000);
  expect_each_index_once<std::uint8_t>(255);
  expect_each_index_once<std::uint16_t>(65535);
}

/// The smallest number of tiles at which a block has two.
std::size_t least_pairs_of_tiles() {
  int multiprocessors = 0;
  EXPECT_EQ(cudaSuccess, cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  return std::size_t{2 * 16} * static_cast<std::size_t>(multiprocessors);
}

TEST(device_for, bulk_in_blocks_of_several_tiles) {
  const std::size_t pairs = least_pairs_of_tiles();
  for (const std::size_t tiles : {pairs - 1, pairs, pairs + 1, 4 * pairs + 7}) {
    ASSERT_NO_FATAL_FAILURE(expect_each_index_once<int>(tiles * reference_tile));
    ASSERT_NO_FATAL_FAILURE(expect_each_index_once<unsigned>(tiles * reference_tile - 1));
  }
}

struct has_type {
  int* is_right;
  template <class Index>
  STRATA_D void operator()(Index) const {
    *is_right = std::is_same_v<Index, std::uint16_t>;
  }
};
TEST(device_for, indices_have_the_type_of_the_shape) {
  device_vector<int> is_right(1);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] { return DeviceFor::Bulk(std::uint16_t{1}, has_type{is_right.data()}); }));
  EXPECT_EQ(1, is_right.to_host()[0]);
}

// ------------------------------------------------------------------ ForEach

struct square_it {
  template <class T>
  STRATA_D int operator()(T& x) const {
    x = static_cast<T>(x * x + 1);
    return 7;
  }
  STRATA_D int operator()(struct12& x) const {
    x = x + x;
    return 7;
  }
};
template <class T>
T squared(T x) {
  return static_cast<T>(x * x + 1);
}
struct12 squared(struct12 x) { return x + x; }

template <class T>
class DeviceForEach : public testing::Test {};
using item_types = testing::Types<std::uint8_t, int, std::uint64_t, struct12>;
TYPED_TEST_SUITE(DeviceForEach, item_types);

template <class T>
T some_item(std::size_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i * 7 + 3);
  } else {
    return {{static_cast<unsigned>(i), static_cast<unsigned>(i * i), 5}};
  }
}

TYPED_TEST(DeviceForEach, changes_items_in_place) {
  using T = TypeParam;
  for (const std::size_t size : lengths(reference_tile)) {
    SCOPED_TRACE(size);
    std::vector<T> items(size + 9), expected;
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = some_item<T>(i);
    const auto changed = [&](std::size_t first) {
      expected = items;
      for (std::size_t i = first; i < first + size; ++i) expected[i] = squared(items[i]);
      return expected;
    };
    device_vector<T> data(items);
    ASSERT_CUDA_SUCCESS(in_one_phase([&] { return DeviceFor::ForEachN(data.data() + 3, size, square_it{}); }));
    ASSERT_EQ(changed(3), data.to_host());
    data.assign(items);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceFor::ForEach(storage..., data.data(), data.data() + size, square_it{});
    }));
    ASSERT_EQ(changed(0), data.to_host());
  }
}

TEST(device_for, for_each_in_blocks_of_several_tiles) {
  const std::size_t size = 3 * least_pairs_of_tiles() * reference_tile + 100;
  std::vector<std::uint8_t> items(size), expected(size);
  for (std::size_t i = 0; i < size; ++i) {
    items[i] = some_item<std::uint8_t>(i);
    expected[i] = squared(items[i]);
  }
  device_vector<std::uint8_t> data(items);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] { return DeviceFor::ForEachN(data.data(), size, square_it{}); }));
  EXPECT_EQ(expected, data.to_host());
}

// ------------------------------------------------------------------ ForEachCopy

/// Counts each item at the index that is its value.
template <class T>
struct count_value {
  unsigned* counts;
  STRATA_D void operator()(T x) const { atomicAdd(counts + static_cast<std::size_t>(x) % 1024, 1u); }
};
template <>
struct count_value<struct16> {
  unsigned* counts;
  STRATA_D void operator()(const struct16& x) const { atomicAdd(counts + x.word[3] % 1024, 1u); }
};
template <>
struct count_value<struct12> {
  unsigned* counts;
  STRATA_D void operator()(const struct12& x) const { atomicAdd(counts + x.word[2] % 1024, 1u); }
};

template <class T>
class DeviceForEachCopy : public testing::Test {};
using copied_types = testing::Types<std::uint8_t, std::int16_t, int, std::uint64_t, struct16, struct12>;
TYPED_TEST_SUITE(DeviceForEachCopy, copied_types);

TYPED_TEST(DeviceForEachCopy, calls_each_item_once) {
  using T = TypeParam;
  constexpr std::size_t tile = tuning.block_threads * tuning.groups * (16 / sizeof(T));
  for (const std::size_t size : lengths(tile)) {
    if (is_small() && size > 3 * tile) continue;
    for (const std::size_t shift : sizes{0, 1, 5}) {
      SCOPED_TRACE(testing::Message() << size << " items from " << shift << " on");
      std::vector<T> items(size + shift + 1);
      std::vector<unsigned> expected(1024, 0);
      for (std::size_t i = 0; i < items.size(); ++i) {
        const auto value = static_cast<unsigned>((i * 5 + i / 3) % 251);
        if constexpr (std::is_integral_v<T>) {
          items[i] = static_cast<T>(value);
        } else {
          for (auto& word : items[i].word) word = value;
        }
        if (i >= shift && i < shift + size) ++expected[value % 1024];
      }
      const device_vector<T> in(items);
      device_vector<unsigned> counts(std::vector<unsigned>(1024, 0));
      ASSERT_CUDA_SUCCESS(in_one_phase(
          [&] { return DeviceFor::ForEachCopyN(in.data() + shift, size, count_value<T>{counts.data()}); }));
      ASSERT_EQ(expected, counts.to_host());
      if (shift == 0) continue;
      counts.assign(std::vector<unsigned>(1024, 0));
      ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
        return DeviceFor::ForEachCopy(storage..., in.data() + shift, in.data() + shift + size,
                                      count_value<T>{counts.data()});
      }));
      ASSERT_EQ(expected, counts.to_host());
    }
  }
}

TEST(device_for, iterators_that_are_not_pointers) {
  device_vector<int> data(std::vector<int>(3000, 2));
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceFor::ForEachN(strided<int>(data.data(), 3), 1000, square_it{}); }));
  std::vector<int> expected(3000, 2);
  for (std::size_t i = 0; i < 1000; ++i) expected[3 * i] = 5;
  EXPECT_EQ(expected, data.to_host());

  device_vector<unsigned> counts(std::vector<unsigned>(1024, 0));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceFor::ForEachCopy(counting<int>(10), counting<int>(10) + 500, count_value<int>{counts.data()});
  }));
  std::vector<unsigned> once(1024, 0);
  for (std::size_t i = 10; i < 510; ++i) once[i] = 1;
  EXPECT_EQ(once, counts.to_host());
}

// ------------------------------------------------------------------ execution

TEST(device_for, graphs_are_replayed_with_other_items) {
  device_vector<int> data(2000);
  graph recorded([&](cudaStream_t on) { return DeviceFor::ForEachN(data.data(), 2000, square_it{}, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  const stream on;
  for (unsigned run = 0; run < 2; ++run) {
    std::vector<int> items = random_integers<int>(2000, 0, 1000, run);
    data.assign(items);
    recorded.replay(on);
    on.synchronize();
    for (int& item : items) item = squared(item);
    EXPECT_EQ(items, data.to_host());
  }
}

TEST(device_for, arguments) {
  device_vector<int> data(std::vector<int>(200, 1));
  int* const a = data.data();
  int* const nothing = nullptr;
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceFor::Bulk(nullptr, bytes, 100, count_index<int>{nullptr}));
  EXPECT_EQ(1u, bytes);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::Bulk(nullptr, bytes, -1, count_index<int>{nullptr}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::Bulk(-1, count_index<int>{nullptr}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEach(a + 1, a, square_it{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachN(nothing, 1, square_it{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachCopyN(nothing, 1, square_it{}));
  EXPECT_CUDA_SUCCESS(DeviceFor::ForEachN(nothing, 0, square_it{}));
  EXPECT_CUDA_SUCCESS(DeviceFor::Bulk(0, count_index<int>{nullptr}));
  bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachCopyN(a, bytes, a, 100, square_it{}));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceFor::ForEachCopyN(with_difference<int, std::int8_t>(a), 129, count_value<int>{nullptr}));
  const graph empty([&](cudaStream_t on) { return DeviceFor::Bulk(0, count_index<int>{nullptr}, on); });
  EXPECT_EQ(0u, empty.nodes());
}

// ------------------------------------------------------------------ ForEachInExtents, ForEachInLayout

/// A class with the members of an mdspan's extents.
template <class Index, std::size_t Rank>
struct box {
  using index_type = Index;
  static constexpr std::size_t rank() { return Rank; }
  Index extent(std::size_t r) const { return extents[r]; }
  Index extents[Rank];
};
struct point {
  using index_type = int;
  static constexpr std::size_t rank() { return 0; }
  int extent(std::size_t) const { return 0; }
};
/// A class with the members of an mdspan's layout mapping.
template <class Extents>
struct strides_of {
  using extents_type = Extents;
  const Extents& extents() const { return box; }
  typename Extents::index_type stride(std::size_t r) const { return strides[r]; }
  Extents box;
  typename Extents::index_type strides[Extents::rank()];
};

/// Writes the indices of a call, and counts it.
struct note_indices {
  long long* indices;
  int* calls;
  template <class Index, class... Indices>
  STRATA_D void operator()(Index number, Indices... all) const {
    long long folded = 0;
    ((folded = folded * 10007 + static_cast<long long>(all)), ...);
    indices[number] = folded;
    atomicAdd(calls + number, 1);
  }
};

template <class Index>
void expect_box(Index a, Index b, Index c) {
  SCOPED_TRACE(testing::Message() << +a << " x " << +b << " x " << +c);
  const auto size = static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
  std::vector<long long> right(size), left(size);
  std::size_t number = 0;
  for (long long i = 0; i < static_cast<long long>(a); ++i) {
    for (long long j = 0; j < static_cast<long long>(b); ++j) {
      for (long long k = 0; k < static_cast<long long>(c); ++k) {
        const long long folded = (i * 10007 + j) * 10007 + k;
        right[number++] = folded;
        left[static_cast<std::size_t>(i + static_cast<long long>(a) * (j + static_cast<long long>(b) * k))] = folded;
      }
    }
  }
  const box<Index, 3> extents{{a, b, c}};
  const auto check = [&](const std::vector<long long>& expected, const auto& call) {
    device_vector<long long> indices(size);
    device_vector<int> calls(std::vector<int>(size, 0));
    ASSERT_CUDA_SUCCESS(in_one_phase([&] { return call(note_indices{indices.data(), calls.data()}); }));
    EXPECT_EQ(expected, indices.to_host());
    EXPECT_EQ(std::vector<int>(size, 1), calls.to_host());
  };
  check(right, [&](const note_indices& op) { return DeviceFor::ForEachInExtents(extents, op); });
  const auto product = [](Index x, Index y) { return static_cast<Index>(x * y); };
  const strides_of<box<Index, 3>> layout_right{extents, {product(b, c), c, 1}};
  const strides_of<box<Index, 3>> layout_left{extents, {1, a, product(a, b)}};
  check(right, [&](const note_indices& op) { return DeviceFor::ForEachInLayout(layout_right, op); });
  check(left, [&](const note_indices& op) { return DeviceFor::ForEachInLayout(layout_left, op); });
}

TEST(device_for, all_indices_of_extents) {
  expect_box<int>(3, 4, 5);
  expect_box<int>(1, 1, 1);
  expect_box<int>(1, 700, 3);
  expect_box<int>(17, 1, 64);
  expect_box<int>(0, 4, 5);
  expect_box<int>(7, 4, 0);
  expect_box<unsigned>(33, 31, 7);
  expect_box<std::int64_t>(13, 17, 19);
  expect_box<std::uint8_t>(5, 6, 8);
  device_vector<long long> indices(1);
  device_vector<int> calls(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceFor::ForEachInExtents(point{}, note_indices{indices.data(), calls.data()});
  }));
  EXPECT_EQ(std::vector<int>{1}, calls.to_host());
}

/// Notes some rows, at their last index. Their indices need divisions of 64-bit words.
struct last_of_rows {
  std::int64_t columns;
  long long* rows;
  STRATA_D void operator()(std::int64_t number, std::int64_t row, std::int64_t column) const {
    if (column == columns - 1 && row % (1 << 20) == 5 && number == row * columns + column) rows[row >> 20] = row;
  }
};

#if !STRATA_HOST_SIMT
TEST(device_for, more_than_2_to_the_31_indices) {
  device_vector<long long> rows(std::vector<long long>(3, 0));
  const box<std::int64_t, 2> extents{{(1 << 21) + 7, 1025}};
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceFor::ForEachInExtents(extents, last_of_rows{1025, rows.data()});
  }));
  EXPECT_EQ((std::vector<long long>{5, (1 << 20) + 5, (2 << 20) + 5}), rows.to_host());
}
#endif

/// Divides numbers by what the host knows.
struct known_quotients {
  strata::detail::known_divisor<unsigned> narrow;
  strata::detail::known_divisor<unsigned long long> wide, far;
  const unsigned* numbers;
  unsigned divisor;
  unsigned long long* quotients;  // three of each number

  STRATA_D void operator()(int i) const {
    const unsigned long long large = numbers[i] * (1ull << 32) + divisor;
    quotients[3 * i] = narrow.quotient(numbers[i]);
    quotients[3 * i + 1] = wide.quotient(large);
    quotients[3 * i + 2] = far.quotient(large);
  }
};

TEST(device_for, divisions_by_known_numbers_are_exact) {
  // ForEachInExtents divides indices by extents. Divisors and quotients are as large as they can be.
  std::vector<unsigned> divisors;
  for (unsigned bit = 0; bit < 31; ++bit) {
    for (const unsigned near : {0u, 1u, 2u}) {
      if ((1u << bit) + near > 1) divisors.push_back((1u << bit) + near - 1);
    }
  }
  divisors.push_back(0x7fffffff);
  divisors.push_back(1000000007);
  for (const unsigned divisor : divisors) {
    const unsigned long long far = divisor * (1ull << 32) + 12345;
    std::vector<unsigned> numbers = {0u, 1u, divisor - 1, divisor, 123456789u, 0x7ffffffeu, 0x7fffffffu};
    if (divisor <= 1u << 30) numbers.push_back(2 * divisor - 1);
    std::vector<unsigned long long> expected;
    for (const unsigned n : numbers) {
      const unsigned long long large = n * (1ull << 32) + divisor;
      for (const unsigned long long quotient :
           {std::uint64_t{n / divisor}, std::uint64_t{large / divisor}, std::uint64_t{large / far}})
        expected.push_back(quotient);
    }
    const device_vector<unsigned> in(numbers);
    device_vector<unsigned long long> out(expected.size());
    const known_quotients divide{strata::detail::known_divisor<unsigned>(divisor),
                                 strata::detail::known_divisor<unsigned long long>(divisor),
                                 strata::detail::known_divisor<unsigned long long>(far),
                                 in.data(),
                                 divisor,
                                 out.data()};
    ASSERT_CUDA_SUCCESS(DeviceFor::Bulk(static_cast<int>(numbers.size()), divide));
    ASSERT_EQ(expected, out.to_host()) << divisor;
  }
}

TEST(device_for, extents_that_are_refused) {
  const note_indices op{nullptr, nullptr};
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachInExtents(box<int, 2>{{-1, 3}}, op));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachInExtents(nullptr, bytes, box<int, 2>{{-1, 3}}, op));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachInExtents(box<int, 2>{{1 << 16, 1 << 16}}, op));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceFor::ForEachInExtents(box<std::int64_t, 2>{{std::int64_t{1} << 40, 1 << 30}}, op));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceFor::ForEachInLayout(strides_of<box<int, 2>>{{{3, 4}}, {5, 1}}, op));
  EXPECT_EQ(cudaSuccess, DeviceFor::ForEachInExtents(box<std::int64_t, 3>{{std::int64_t{1} << 62, 0, 7}}, op));
}

}  // namespace device_for_test

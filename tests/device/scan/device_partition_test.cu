// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DevicePartition puts every item where a sequential partition puts it, and writes nothing else.
#include <strata/device/device_partition.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_tuned.cuh"
#include "device/scan/device_select_support.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_partition_test {

using namespace device_test;
using in_blocks::short_columns;
using strata::DevicePartition;
using strata::NullType;
using strata::detail::part_of;
using strata::detail::partition_problem;
using strata_test::struct12;
using strata_test::struct16;

/// Sizes around one tile in registers, around a tile for each multiprocessor of the host back end, and sizes that take
/// the pipeline there or on a GPU.
std::vector<std::size_t> lengths() {
  if (is_small()) return {0, 1, 2, 33, 1025, 2049, 10003};
  std::vector<std::size_t> all = {0,    1,    2,    31,   33,   1023,  1024,  1025,
                                  2047, 2048, 2049, 8191, 8193, 11520, 11521, 300001};
  if (!STRATA_HOST_SIMT) all.push_back(700001);
  return all;
}

// ------------------------------------------------------------------ sequential partitions

/// The selected items, then the others in reverse order.
template <class T>
std::vector<T> in_two(const std::vector<T>& items, const std::vector<char>& selects) {
  std::vector<T> all = only_kept(items, selects);
  for (std::size_t i = items.size(); i-- > 0;) {
    if (selects[i] == 0) all.push_back(items[i]);
  }
  return all;
}

/// The items of one of three parts, in order.
template <class T>
std::vector<T> of_part(const std::vector<T>& items, const std::vector<char>& parts, char part) {
  std::vector<T> found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (parts[i] == part) found.push_back(items[i]);
  }
  return found;
}

/// Expects that `call(out, num_selected, storage...)` writes the partition of `items` in two parts, and nothing around
/// it.
template <class T, class Call>
void expect_in_two(const std::vector<T>& items, const std::vector<char>& selects, std::size_t shift, const Call& call) {
  const shifted_array<T> out(items.size(), shift);
  device_vector<std::int64_t> num_selected(1);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return call(out.data(), num_selected.data(), storage...); }));
  ASSERT_EQ(std::count(selects.begin(), selects.end(), 1), num_selected.to_host()[0]);
  ASSERT_SAME_BYTES(in_two(items, selects), out.to_host());
}

/// Expects that `call(first_out, second_out, rest_out, num_selected, storage...)` writes three parts, and nothing
/// behind them.
template <class T, class Call>
void expect_in_three(const std::vector<T>& items, const std::vector<char>& parts, std::size_t shift, const Call& call) {
  const std::size_t size = items.size();
  const shifted_array<T> first(size, shift), second(size, 0), rest(size, 2 * shift);
  device_vector<std::int64_t> num_selected(3);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return call(first.data(), second.data(), rest.data(), num_selected.data(), storage...);
  }));
  const std::vector<std::int64_t> numbers = num_selected.to_host();
  ASSERT_EQ(std::count(parts.begin(), parts.end(), 0), numbers[0]);
  ASSERT_EQ(std::count(parts.begin(), parts.end(), 1), numbers[1]);
  ASSERT_TRUE(strata_test::is_poison(numbers[2]));
  ASSERT_SAME_BYTES(with_front(of_part(items, parts, 0), poisoned<T>(size)), first.to_host());
  ASSERT_SAME_BYTES(with_front(of_part(items, parts, 1), poisoned<T>(size)), second.to_host());
  ASSERT_SAME_BYTES(with_front(of_part(items, parts, 2), poisoned<T>(size)), rest.to_host());
}

/// Selects about `of_1024` of 1024 items by a hash of their bits. Another `salt` selects other items.
struct selects_some {
  unsigned of_1024;
  unsigned salt = 0;

  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    std::uint64_t word = 0;
    memcpy(&word, &item, sizeof(T) < 8 ? sizeof(T) : 8);
    return ((word + salt) * 0x9e3779b97f4a7c15u + 0x123456789abcdefu) >> 54 < of_1024;
  }
};

template <class T>
std::vector<char> parts_by(const std::vector<T>& items, selects_some first, selects_some second) {
  std::vector<char> parts;
  for (const T& item : items) parts.push_back(first(item) ? 0 : second(item) ? 1 : 2);
  return parts;
}
struct two_densities {
  unsigned first, second;
};
constexpr two_densities pairs_of_densities[] = {{300, 500}, {0, 0}, {0, 1024}, {1024, 512}, {10, 1020}, {512, 3}};

// ------------------------------------------------------------------ sizes and types

template <class T>
class DevicePartitionTypes : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = ::testing::Types<float, struct12>;
#else
using struct24 = strata_test::words<3, std::uint64_t>;
using item_types = ::testing::Types<std::uint8_t, std::int16_t, float, std::uint64_t, struct16, struct12, struct24>;
#endif
TYPED_TEST_SUITE(DevicePartitionTypes, item_types);

TYPED_TEST(DevicePartitionTypes, selected_items_are_in_order_and_others_in_reverse_order) {
  using T = TypeParam;
  for (const std::size_t size : lengths()) {
    const std::vector<T> all = items_of_any_bits<T>(size + 1, size);
    const device_vector<T> in(all);
    for (const unsigned density : densities) {
      // At one density and odd sizes, input and output begin one item behind a boundary.
      const std::size_t shift = density == 512 && size % 2 == 1 ? 1 : 0;
      SCOPED_TRACE(testing::Message() << size << " items from " << shift << " on, " << density << " of 1024 selected");
      const std::vector<T> items(all.begin() + static_cast<std::ptrdiff_t>(shift),
                                 all.begin() + static_cast<std::ptrdiff_t>(shift + size));
      const selects_some op{density};
      ASSERT_NO_FATAL_FAILURE(
          expect_in_two(items, kept_by_items(items, op), shift, [&](T* out, std::int64_t* num, auto&&... storage) {
            return DevicePartition::If(storage..., in.data() + shift, out, num, static_cast<int>(size), op);
          }));
    }
  }
}

TYPED_TEST(DevicePartitionTypes, three_parts_are_in_order) {
  using T = TypeParam;
  std::size_t turn = 0;
  for (const std::size_t size : lengths()) {
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const device_vector<T> in(items);
    for (int i = 0; i < 2; ++i) {
      const two_densities of_1024 = pairs_of_densities[turn++ * 5 % 6];
      SCOPED_TRACE(testing::Message() << size << " items, " << of_1024.first << " and " << of_1024.second);
      const selects_some first{of_1024.first}, second{of_1024.second, 77};
      ASSERT_NO_FATAL_FAILURE(expect_in_three(
          items, parts_by(items, first, second), turn % 2, [&](T* a, T* b, T* c, std::int64_t* num, auto&&... storage) {
            return DevicePartition::If(storage..., in.data(), a, b, c, num, size, first, second);
          }));
    }
  }
}

template <class Flag, class T>
void expect_flagged() {
  for (const std::size_t size : lengths()) {
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const device_vector<T> in(items);
    for (const pattern which : patterns) {
      if (size > 100000 && which != pattern::half && which != pattern::first_half) continue;
      SCOPED_TRACE(testing::Message() << size << " items, pattern " << static_cast<int>(which));
      const std::vector<char> selects = kept_by(which, size, size + 1);
      std::vector<Flag> flags;
      for (std::size_t i = 0; i < size; ++i) flags.push_back(static_cast<Flag>(selects[i] != 0 ? 1 + i % 100 : 0));
      // Flags and items begin at different distances from a boundary.
      const shifted_array<Flag> d_flags(flags, which == pattern::half ? 1 : 0);
      ASSERT_NO_FATAL_FAILURE(expect_in_two(
          items, selects, which == pattern::few ? 3 : 0, [&](T* out, std::int64_t* num, auto&&... storage) {
            return DevicePartition::Flagged(storage..., in.data(), d_flags.data(), out, num,
                                            static_cast<std::int64_t>(size));
          }));
    }
  }
}
TEST(device_partition, flagged_items_of_4_bytes) { expect_flagged<char, float>(); }
#if !STRATA_TEST_FEW_TYPES
TEST(device_partition, flags_wider_than_items) { expect_flagged<std::int64_t, std::int16_t>(); }
TEST(device_partition, flagged_items_of_24_bytes) { expect_flagged<int, struct24>(); }
#endif

// ------------------------------------------------------------------ pipelines

/// Runs the pipeline with small tiles in the given number of blocks.
template <class Policy, bool UsesBulkCopies, class Problem>
cudaError_t in_some_blocks(void* storage, std::size_t& bytes, unsigned blocks, const Problem& problem) {
  if (storage == nullptr) {
    bytes = in_blocks::storage_bytes<typename Problem::Accum>(blocks);
    return cudaSuccess;
  }
  const scratch words(bytes);
  const cudaError_t status = in_blocks::run_pipeline<Policy, UsesBulkCopies>(blocks, words, problem, problem.num_items);
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  return status;
}

template <class Policy, bool UsesBulkCopies, class T, class Count>
struct three_by_pipeline {
  using Problem =
      partition_problem<Count, const T*, NullType, part_of<selects_some, selects_some>, T*, T*, T*, std::int64_t*>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, Problem, UsesBulkCopies>::tile_items;

  static void expect(unsigned blocks, std::size_t size, two_densities of_1024) {
    SCOPED_TRACE(testing::Message() << blocks << " blocks, " << size << " items in tiles of " << tile << ", "
                                    << of_1024.first << " and " << of_1024.second);
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const shifted_array<T> in(items, UsesBulkCopies ? 0 : 1);
    const selects_some first{of_1024.first}, second{of_1024.second, 77};
    expect_in_three(items, parts_by(items, first, second), 1,
                    [&](T* a, T* b, T* c, std::int64_t* num, auto&&... storage) {
                      const Problem problem{{in.data(), {}, {}, {}, num, {first, second}}, a, b, c, size};
                      return in_some_blocks<Policy, UsesBulkCopies>(storage..., blocks, problem);
                    });
  }
};

template <class Policy, bool UsesBulkCopies, class Flag, class T>
struct two_by_pipeline {
  using Problem = partition_problem<unsigned, const Flag*, const T*, part_of<strata::detail::is_set, NullType>, T*,
                                    NullType, NullType, std::int64_t*>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, Problem, UsesBulkCopies>::tile_items;

  static void expect(unsigned blocks, std::size_t size, pattern which) {
    SCOPED_TRACE(testing::Message() << blocks << " blocks, " << size << " items in tiles of " << tile << ", pattern "
                                    << static_cast<int>(which));
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const std::vector<char> selects = kept_by(which, size, size + 1);
    const shifted_array<T> in(items, UsesBulkCopies ? 0 : 1);
    const shifted_array<Flag> flags(std::vector<Flag>(selects.begin(), selects.end()), UsesBulkCopies ? 0 : 1);
    expect_in_two(items, selects, 1, [&](T* out, std::int64_t* num, auto&&... storage) {
      const Problem problem{{flags.data(), in.data(), {}, {}, num, {}}, out, {}, {}, size};
      return in_some_blocks<Policy, UsesBulkCopies>(storage..., blocks, problem);
    });
  }
};

/// Calls `expect(blocks, size, number)` for inputs of up to several rounds, and then under all schedules.
template <class Expect>
void for_all_pipelines(std::size_t tile, const Expect& expect) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  std::size_t number = 0;
  for (const unsigned blocks : {1u, 3u, 8u}) {
    for (const std::size_t size : {std::size_t{1}, tile - 1, 3 * tile, 8 * tile + 5, 35 * tile + tile / 2 + 1}) {
      if (blocks > (size + tile - 1) / tile) continue;
      for (int i = 0; i < if_small(2, 6); ++i) ASSERT_NO_FATAL_FAILURE(expect(blocks, size, number++));
    }
  }
  under_all_schedules([&](std::size_t i) {
    constexpr unsigned numbers[] = {3, 8, 1, 8};
    expect(numbers[i % 4], if_small<std::size_t>(17, 26) * tile + 7 * i, i);
  });
}

TEST(device_partition, three_parts_by_pipelines_in_bulk) {
  using pipeline = three_by_pipeline<short_columns<48, 4, 2>, true, float, unsigned>;
  for_all_pipelines(pipeline::tile, [](unsigned blocks, std::size_t size, std::size_t i) {
    pipeline::expect(blocks, size, pairs_of_densities[i % 6]);
  });
}
TEST(device_partition, three_parts_by_pipelines_one_by_one) {
  using pipeline = three_by_pipeline<short_columns<16, 3, 1>, false, std::uint64_t, unsigned long long>;
  for_all_pipelines(pipeline::tile, [](unsigned blocks, std::size_t size, std::size_t i) {
    pipeline::expect(blocks, size, pairs_of_densities[i % 6]);
  });
}
TEST(device_partition, two_parts_by_pipelines_in_bulk) {
  using pipeline = two_by_pipeline<short_columns<54, 4, 2>, true, char, std::uint64_t>;
  for_all_pipelines(pipeline::tile, [](unsigned blocks, std::size_t size, std::size_t i) {
    pipeline::expect(blocks, size, patterns[i % 6]);
  });
}
#if !STRATA_TEST_FEW_TYPES
// A thread has more than 32 flags.
TEST(device_partition, three_parts_of_bytes_by_pipelines) {
  using pipeline = three_by_pipeline<short_columns<48, 3, 2>, true, std::uint8_t, unsigned>;
  for_all_pipelines(pipeline::tile, [](unsigned blocks, std::size_t size, std::size_t i) {
    pipeline::expect(blocks, size, pairs_of_densities[i % 6]);
  });
}
TEST(device_partition, two_parts_by_pipelines_one_by_one) {
  using pipeline = two_by_pipeline<short_columns<36, 3, 1>, false, char, struct16>;
  for_all_pipelines(pipeline::tile, [](unsigned blocks, std::size_t size, std::size_t i) {
    pipeline::expect(blocks, size, patterns[i % 6]);
  });
}
#endif

// ------------------------------------------------------------------ iterators

struct is_multiple {
  std::int64_t of;
  STRATA_HD bool operator()(std::int64_t n) const { return n % of == 0; }
};
struct is_odd {
  STRATA_HD bool operator()(std::int64_t n) const { return n % 2 != 0; }
};

TEST(device_partition, computed_items_into_outputs_that_are_written_once) {
  for (const std::size_t size : sizes{1000, if_small<std::size_t>(20000, 400003)}) {
    std::vector<std::int64_t> items(size);
    for (std::size_t i = 0; i < size; ++i) items[i] = static_cast<std::int64_t>(i) + 10;
    const std::vector<char> selects = kept_by_items(items, is_multiple{3});
    device_vector<unsigned> written(std::vector<unsigned>(size, 0u));
    ASSERT_NO_FATAL_FAILURE(
        expect_in_two(items, selects, 0, [&](std::int64_t* out, std::int64_t* num, auto&&... storage) {
          return DevicePartition::If(storage..., counting<std::int64_t>(10),
                                     counted_output<std::int64_t>(out, written.data()), num, size, is_multiple{3});
        }));
    EXPECT_EQ(std::vector<unsigned>(size, 1u), written.to_host());

    std::vector<char> parts;
    for (const std::int64_t item : items) parts.push_back(is_multiple{3}(item) ? 0 : is_odd{}(item) ? 1 : 2);
    ASSERT_NO_FATAL_FAILURE(expect_in_three(
        items, parts, 0, [&](std::int64_t* a, std::int64_t* b, std::int64_t* c, std::int64_t* num, auto&&... storage) {
          return DevicePartition::If(storage..., counting<std::int64_t>(10), strided<std::int64_t>(a, 1), b,
                                     strided<std::int64_t>(c, 1), strided<std::int64_t>(num, 1), size, is_multiple{3},
                                     is_odd{});
        }));
  }
}

TEST(device_partition, computed_flags_and_items_of_an_array) {
  const std::size_t size = if_small<std::size_t>(20000, 400003);
  const std::vector<float> items = items_of_any_bits<float>(size);
  const std::vector<unsigned> words = random_integers<unsigned>(size / 32 + 1, 0, 0xffffffffll);
  std::vector<char> selects;
  for (std::size_t i = 0; i < size; ++i) selects.push_back(static_cast<char>(words[i / 32] >> i % 32 & 1));
  const device_vector<float> in(items);
  const device_vector<unsigned> d_words(words);
  expect_in_two(items, selects, 1, [&](float* out, std::int64_t* num, auto&&... storage) {
    return DevicePartition::Flagged(storage..., in.data(), bits(d_words.data()), out, num, size);
  });
}

/// Output that fills an array backwards from its end.
template <class T>
struct backwards {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using reference = T&;
  using pointer = T*;
  using difference_type = std::ptrdiff_t;

  T* end;
  STRATA_HD T& operator*() const { return end[-1]; }
  STRATA_HD T& operator[](std::ptrdiff_t n) const { return end[-1 - n]; }
  STRATA_HD backwards operator+(std::ptrdiff_t n) const { return {end - n}; }
};

// Two of the three outputs may share an array, as in a call in CUB's documentation.
TEST(device_partition, two_of_three_parts_share_an_array) {
  const std::size_t size = 5001;
  const std::vector<float> items = items_of_any_bits<float>(size);
  const device_vector<float> in(items);
  const selects_some first{300}, second{500, 77};
  const std::vector<char> parts = parts_by(items, first, second);
  device_vector<float> shared(size), second_out(size);
  device_vector<int> num(2);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DevicePartition::If(storage..., in.data(), shared.data(), second_out.data(),
                               backwards<float>{shared.data() + size}, num.data(), size, first, second);
  }));
  const std::vector<float> rest = of_part(items, parts, 2);
  std::vector<float> expected = with_front(of_part(items, parts, 0), poisoned<float>(size));
  std::copy(rest.begin(), rest.end(), expected.rbegin());
  EXPECT_SAME_BYTES(expected, shared.to_host());
  EXPECT_SAME_BYTES(with_front(of_part(items, parts, 1), poisoned<float>(size)), second_out.to_host());
}

// ------------------------------------------------------------------ predicates

/// A predicate that counts items which it must not see: those around the input, which are -1, and for the second
/// predicate also those that the first one selects.
struct counts_calls {
  int below;
  unsigned* violations;
  STRATA_HD bool operator()(const int& item) {
#if STRATA_HOST_SIMT || STRATA_DEVICE_PASS
    if (item < below) atomicAdd(violations, 1u);
#endif
    return item < below + 50;
  }
};
TEST(device_partition, predicates_see_items_and_nothing_else) {
  for (const std::size_t size : sizes{33, 10001}) {
    // Items around the input are -1. No predicate may see them.
    std::vector<int> all(size + 64, -1);
    for (std::size_t i = 0; i < size; ++i) all[32 + i] = static_cast<int>(i * 7 % 100);
    const device_vector<int> in(all);
    device_vector<int> first(size), second(size), rest(size), num(2);
    device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
    unsigned* const counter = violations.data();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DevicePartition::If(storage..., in.data() + 32, first.data(), second.data(), rest.data(), num.data(), size,
                                 counts_calls{0, counter}, counts_calls{50, counter});
    }));
    EXPECT_EQ(0u, violations.to_host()[0]);
    EXPECT_EQ(static_cast<int>(size), num.to_host()[0] + num.to_host()[1]);
  }
}

// ------------------------------------------------------------------ arguments

class DevicePartitionArguments : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 3000;
  const std::vector<float> items = items_of_any_bits<float>(size);
  const device_vector<float> in{items};
  const shifted_array<float> out{3 * size, 0};
  const shifted_array<std::int64_t> num{2, 0};
  const selects_some first{300}, second{500, 77};

  cudaError_t in_two(void* storage, std::size_t& bytes, const float* from, float* to, std::int64_t* number, int n,
                     cudaStream_t on = nullptr) const {
    return DevicePartition::If(storage, bytes, from, to, number, n, first, on);
  }
  cudaError_t in_three(void* storage, std::size_t& bytes, const float* from, float* a, float* b, float* c,
                       std::int64_t* number, int n, cudaStream_t on = nullptr) const {
    return DevicePartition::If(storage, bytes, from, a, b, c, number, n, first, second, on);
  }
  /// Expects that `call(storage, bytes, stream)` is refused, launches nothing and writes nothing.
  template <class Call>
  void expect_refused(const Call& call) const {
    const scratch storage(std::size_t{1} << 20);
    std::size_t bytes = storage.bytes();
    const graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_SAME_BYTES(poisoned<float>(3 * size), out.to_host());
    EXPECT_SAME_BYTES(poisoned<std::int64_t>(2), num.to_host());
  }
};

TEST_F(DevicePartitionArguments, outputs_may_not_overlap) {
  float* const a = out.data();
  float* const b = a + size;
  float* const c = b + size;
  const int n = static_cast<int>(size);
  // A partition in two parts writes its whole output, so the host can find all overlaps.
  expect_refused([&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return in_two(storage, bytes, a + size - 1, a, num.data(), n, on);
  });
  expect_refused([&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return in_two(storage, bytes, in.data(), a, reinterpret_cast<std::int64_t*>(a + size - 2), n, on);
  });
  float* const outputs[][3] = {{a, a, c}, {a, b, a}, {a, b, b}};
  for (const auto& o : outputs) {
    expect_refused([&](void* storage, std::size_t& bytes, cudaStream_t on) {
      return in_three(storage, bytes, in.data(), o[0], o[1], o[2], num.data(), n, on);
    });
  }
  // The second number overlaps an output.
  expect_refused([&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return in_three(storage, bytes, in.data(), a, b, c, reinterpret_cast<std::int64_t*>(b - 2), n, on);
  });
}

// Each of the three outputs needs memory only for the items that it gets. Here they lie side by side, and the last one
// ends where the input begins.
TEST_F(DevicePartitionArguments, three_outputs_need_memory_for_their_items_only) {
  const std::vector<char> parts = parts_by(items, first, second);
  std::vector<float> expected = of_part(items, parts, 0);
  const std::size_t firsts = expected.size();
  for (const float item : of_part(items, parts, 1)) expected.push_back(item);
  const std::size_t selected = expected.size();
  for (const float item : of_part(items, parts, 2)) expected.push_back(item);
  std::vector<float> before(size);
  before.insert(before.end(), items.begin(), items.end());
  const device_vector<float> memory(before);
  float* const to = const_cast<float*>(memory.data());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return in_three(storage, bytes, to + size, to, to + firsts, to + selected, num.data(), size);
  }));
  expected.insert(expected.end(), items.begin(), items.end());
  EXPECT_SAME_BYTES(expected, memory.to_host());
}

// A stream as the last argument of a size query is not taken for a second predicate.
TEST_F(DevicePartitionArguments, size_queries_may_name_a_stream) {
  const stream on;
  std::size_t bytes[5] = {};
  const float* const from = in.data();
  float* const to = out.data();
  ASSERT_CUDA_SUCCESS(DevicePartition::If(nullptr, bytes[0], from, to, num.data(), 10, first));
  ASSERT_CUDA_SUCCESS(
      DevicePartition::If(nullptr, bytes[1], from, to, num.data(), 10, first, static_cast<cudaStream_t>(on)));
  ASSERT_CUDA_SUCCESS(DevicePartition::If(nullptr, bytes[2], from, to, num.data(), 10, first, nullptr));
  ASSERT_CUDA_SUCCESS(DevicePartition::If(nullptr, bytes[3], from, to, num.data(), 10, first, 0));
  void* const nothing = nullptr;
  ASSERT_CUDA_SUCCESS(
      DevicePartition::If(nothing, bytes[4], from, to, num.data(), 10, first, static_cast<cudaStream_t>(on)));
  for (const std::size_t answer : bytes) EXPECT_EQ(bytes[0], answer);
}

TEST_F(DevicePartitionArguments, calls_need_no_storage_of_the_user) {
  const stream on;
  const int n = static_cast<int>(size);
  const cudaStream_t where = on;
  float* const to = out.data();
  ASSERT_CUDA_SUCCESS(
      DevicePartition::If(in.data(), to, to + size, to + 2 * size, num.data(), n, first, second, where));
  on.synchronize();
  const std::vector<char> parts = parts_by(items, first, second);
  std::vector<float> expected = with_front(of_part(items, parts, 0), poisoned<float>(size));
  for (const char part : {char{1}, char{2}}) {
    for (const float item : with_front(of_part(items, parts, part), poisoned<float>(size))) expected.push_back(item);
  }
  EXPECT_SAME_BYTES(expected, out.to_host());
  ASSERT_CUDA_SUCCESS(DevicePartition::If(in.data(), to, num.data(), n, first));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  std::vector<float> front = out.to_host();
  front.resize(size);
  EXPECT_SAME_BYTES(device_partition_test::in_two(items, kept_by_items(items, first)), front);
}

TEST_F(DevicePartitionArguments, of_no_items_none_is_selected) {
  const auto expect_zeros = [&](std::size_t numbers, const auto& call) {
    const scratch storage(std::size_t{1} << 16);
    std::size_t bytes = storage.bytes();
    const graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
    EXPECT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes());
    num.poison();
    ASSERT_CUDA_SUCCESS(call(storage.data(), bytes, nullptr));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_SAME_BYTES(with_front(std::vector<std::int64_t>(numbers, 0), poisoned<std::int64_t>(2)), num.to_host());
  };
  const float* const nothing = nullptr;
  float* const nowhere = nullptr;
  expect_zeros(1, [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return in_two(storage, bytes, nothing, nowhere, num.data(), 0, on);
  });
  expect_zeros(2, [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return in_three(storage, bytes, nothing, nowhere, nowhere, nowhere, num.data(), 0, on);
  });
}

template <class Count, class Num>
Num number_of_items(Count count) {
  const device_vector<int> in(std::vector<int>(1000, 2));
  device_vector<int> out(1000), second(1), rest(1);
  device_vector<Num> num(2);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DevicePartition::If(storage..., in.data(), out.data(), second.data(), rest.data(), num.data(), count,
                               is_multiple{2}, is_odd{});
  }));
  EXPECT_EQ(2, out.to_host()[0]);
  EXPECT_EQ(Num{0}, num.to_host()[1]);
  return num.to_host()[0];
}
TEST(device_partition, counts_and_numbers_may_have_any_type) {
  EXPECT_EQ(100, (number_of_items<signed char, int>(100)));
  EXPECT_EQ(200u, (number_of_items<unsigned char, unsigned char>(200)));
#if !STRATA_TEST_FEW_TYPES
  EXPECT_EQ(1000, (number_of_items<short, std::int64_t>(1000)));
  EXPECT_EQ(1000.0, (number_of_items<std::size_t, double>(1000)));
#endif
}

// ------------------------------------------------------------------ storage, graphs, streams

// Inputs are short, or have several rounds. Temporary storage has any contents and any alignment.
TEST(device_partition, storage_may_have_any_alignment_and_contents) {
  for (const std::size_t size : sizes{3000, 12000}) {
    const std::vector<float> items = items_of_any_bits<float>(size);
    const device_vector<float> in(items);
    const selects_some op{512};
    const std::vector<float> expected = in_two(items, kept_by_items(items, op));
    for (const std::size_t misalignment : sizes{0, 1, 8, 255}) {
      for (const contents garbage : all_contents) {
        device_vector<float> out(size);
        device_vector<int> num(1);
        ASSERT_CUDA_SUCCESS(in_two_phases(
            [&](void* storage, std::size_t& bytes) {
              return DevicePartition::If(storage, bytes, in.data(), out.data(), num.data(), size, op);
            },
            garbage, misalignment));
        ASSERT_SAME_BYTES(expected, out.to_host());
      }
    }
  }
}

// Each replay gets new input. Before replay i, `renew(storage, i)` may fill the storage with garbage, or with what an
// earlier replay left.
template <class Renew>
void expect_replays(std::size_t size, const Renew& renew) {
  device_vector<float> in(size), first(size), second(size), rest(size);
  device_vector<std::int64_t> num(2);
  const selects_some op{300}, other{500, 77};
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return DevicePartition::If(storage, bytes, in.data(), first.data(), second.data(), rest.data(), num.data(), size,
                               op, other, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  const stream on;
  graph recorded([&](cudaStream_t recorder) { return call(storage.data(), bytes, recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes()) << "one launch at every size";
  for (int i = 0; i < if_small(4, 16); ++i) {
    renew(storage, i);
    const std::vector<float> items = items_of_any_bits<float>(size, static_cast<std::uint64_t>(i));
    const std::vector<char> parts = parts_by(items, op, other);
    in.assign(items);
    for (device_vector<float>* out : {&first, &second, &rest}) out->poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_SAME_BYTES(with_front(of_part(items, parts, 0), poisoned<float>(size)), first.to_host());
    ASSERT_SAME_BYTES(with_front(of_part(items, parts, 1), poisoned<float>(size)), second.to_host());
    ASSERT_SAME_BYTES(with_front(of_part(items, parts, 2), poisoned<float>(size)), rest.to_host());
  }
}
TEST(device_partition, a_graph_may_be_replayed) {
  for (const std::size_t size : sizes{1, 3000, if_small<std::size_t>(12000, 60000)}) {
    SCOPED_TRACE(size);
    std::vector<unsigned char> earlier;
    ASSERT_NO_FATAL_FAILURE(expect_replays(size, [&](const scratch& storage, int i) {
      if (i % 4 == 1) earlier = storage.read();
      if (i % 4 == 2) storage.fill(all_contents[i / 4 % 3]);
      if (i % 4 == 3) storage.write(earlier.data());
    }));
  }
}

TEST(device_partition, streams_do_not_disturb_each_other) {
  struct lane {
    lane(std::size_t size, std::uint64_t number)
        : items(items_of_any_bits<float>(size, number)), in(items), out(size) {}
    std::vector<float> items;
    device_vector<float> in, out;
    device_vector<int> num{1};
    std::unique_ptr<scratch> storage;
    stream on;
  };
  const selects_some op{700};
  const std::size_t most = if_small<std::size_t>(12000, 60000);
  for (std::uint64_t i = 0; i < (STRATA_HOST_SIMT ? 2 : 50); ++i) {
    lane lanes[] = {lane(most, 2 * i), lane(most / 2 + 7, 2 * i + 1)};
    for (lane& l : lanes) {
      std::size_t bytes = 0;
      ASSERT_CUDA_SUCCESS(
          DevicePartition::If(nullptr, bytes, l.in.data(), l.out.data(), l.num.data(), l.items.size(), op));
      l.storage = std::make_unique<scratch>(bytes);
      ASSERT_CUDA_SUCCESS(DevicePartition::If(l.storage->data(), bytes, l.in.data(), l.out.data(), l.num.data(),
                                              l.items.size(), op, l.on));
    }
    for (lane& l : lanes) {
      l.on.synchronize();
      ASSERT_SAME_BYTES(in_two(l.items, kept_by_items(l.items, op)), l.out.to_host());
    }
  }
}

// ------------------------------------------------------------------ as a user calls it

struct is_even {
  STRATA_HD bool operator()(int n) const { return n % 2 == 0; }
};

TEST(device_partition, writes_other_items_from_the_end) {
  const int n = 8;
  const device_vector<int> in(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
  const device_vector<char> flags(std::vector<char>{1, 0, 0, 1, 0, 1, 1, 0});
  device_vector<int> out(8), num_selected(1);
  const int* const d_in = in.data();
  int* const d_out = out.data();
  int* const d_num_selected = num_selected.data();
  const cudaStream_t stream = nullptr;
  void* d_temp = nullptr;

  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(strata::DevicePartition::If(nullptr, bytes, d_in, d_out, d_num_selected, n, is_even{}));
  ASSERT_CUDA_SUCCESS(cudaMalloc(&d_temp, bytes));
  ASSERT_CUDA_SUCCESS(strata::DevicePartition::If(d_temp, bytes, d_in, d_out, d_num_selected, n, is_even{}, stream));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(4, num_selected.to_host()[0]);
  EXPECT_EQ((std::vector<int>{2, 4, 6, 8, 7, 5, 3, 1}), out.to_host());

  ASSERT_CUDA_SUCCESS(
      strata::DevicePartition::Flagged(d_temp, bytes, d_in, flags.data(), d_out, d_num_selected, n, stream));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ((std::vector<int>{1, 4, 6, 7, 8, 5, 3, 2}), out.to_host());
  ASSERT_CUDA_SUCCESS(cudaFree(d_temp));
}

}  // namespace device_partition_test

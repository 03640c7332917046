// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedReduce with operators that are not sums of numbers.
#include <strata/device/device_segmented_reduce.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedReduce;
using strata_test::string_hash;

// ------------------------------------------------------------------ order and operands

// Item i is the interval [i + 1, i + 2), so {0, 0} is free for `init`. See join_intervals in support/own_operators.cuh.
struct interval {
  int begin;
  int end;
};
struct join_neighbours {
  unsigned* violations;
  STRATA_D interval operator()(const interval& a, const interval& b) const {
    // `init` is {0, 0}, and fits before every segment.
    const bool is_init = a.begin == 0 && a.end == 0;
    if ((!is_init && (a.end != b.begin || a.end <= a.begin)) || b.end <= b.begin) {
      atomicAdd(violations, 1u);
    }
    return {is_init ? b.begin : a.begin, b.end};
  }
};
struct to_interval {
  STRATA_HD interval operator()(int i) const { return {i + 1, i + 2}; }
};

template <class Function>
void expect_joins(Function function) {
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  const transforming<counting<int>, Function> in(counting<int>(0), function);
  for (const segment_shape& shape : segment_shapes()) {
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<interval> out(shape.begins.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::Reduce(storage..., in, out.data(), shape.segments(), begins.data(), ends.data(),
                                           join_neighbours{violations.data()}, interval{0, 0});
    }));
    const std::vector<interval> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      const bool is_empty = shape.ends[s] <= shape.begins[s];
      ASSERT_EQ(is_empty ? 0 : shape.begins[s] + 1, results[s].begin) << shape << " " << s;
      ASSERT_EQ(is_empty ? 0 : shape.ends[s] + 1, results[s].end) << shape << " " << s;
    }
    ASSERT_EQ(0u, violations.to_host()[0]) << shape;
  }
}

TEST(device_segmented_reduce_operators, join_neighbours_in_order_and_nothing_else) { expect_joins(to_interval{}); }

// ------------------------------------------------------------------ iterators with much state

/// The library takes an iterator of more than 32 bytes for one with long code, which kernels do not repeat.
template <class Function>
struct with_much_state : Function {
  std::int64_t addends[6] = {};

  template <class T>
  STRATA_HD auto operator()(T i) const {
    return Function::operator()(static_cast<T>(i + static_cast<T>(addends[i % 6])));
  }
};
struct as_int64 {
  STRATA_HD std::int64_t operator()(std::int64_t i) const { return i; }
};

TEST(device_segmented_reduce_operators, join_neighbours_of_iterators_with_much_state) {
  expect_joins(with_much_state<to_interval>{});
}

TEST(device_segmented_reduce_operators, sums_of_iterators_with_much_state) {
  const with_much_state<as_int64> function{{}, {3, 1, -4, 1, 5, -9}};
  const transforming<counting<std::int64_t>, with_much_state<as_int64>> in(counting<std::int64_t>(0), function);
  static_assert(strata::detail::has_long_code<decltype(in)>, "the test is about them");
  for (const segment_shape& shape : segment_shapes()) {
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<std::int64_t> out(shape.begins.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::Sum(storage..., in, out.data(), shape.segments(), begins.data(), ends.data());
    }));
    const std::vector<std::int64_t> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      std::int64_t expected = 0;
      for (std::int64_t i = shape.begins[s]; i < shape.ends[s]; ++i) expected += function(i);
      ASSERT_EQ(expected, results[s]) << shape << " " << s;
    }
  }
}

TEST(device_segmented_reduce_operators, hash_each_segment_of_memory_in_order) {
  for (const segment_shape& shape : segment_shapes()) {
    const auto characters = random_integers<unsigned>(shape.items() + 50, 0, 255);
    std::vector<string_hash> items;
    for (const unsigned character : characters) items.push_back(string_hash::of(character));
    const device_vector<string_hash> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<string_hash> out(shape.begins.size());
    const string_hash init = string_hash::of(1000);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::Reduce(storage..., in.data(), out.data(), shape.segments(), begins.data(),
                                           ends.data(), strata_test::join{}, init);
    }));
    const std::vector<string_hash> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      string_hash expected = init;
      for (std::int64_t i = shape.begins[s]; i < shape.ends[s]; ++i) {
        expected = strata_test::join{}(expected, items[static_cast<std::size_t>(i)]);
      }
      ASSERT_EQ(expected, results[s]) << shape << " " << s;
    }
  }
}

TEST(device_segmented_reduce_operators, structs_of_40_bytes) {
  using item = strata_test::words<10>;
  for (const segment_shape& shape : segment_shapes()) {
    if (shape.items() > 40000) continue;
    const auto values = random_integers<std::uint32_t>(shape.items() + 50, 0, 0xffffffffll);
    std::vector<item> items(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (unsigned w = 0; w < 10; ++w) items[i].word[w] = values[i] >> w;
    }
    const device_vector<item> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<item> out(shape.begins.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::Sum(storage..., in.data(), out.data(), shape.segments(), begins.data(),
                                        ends.data());
    }));
    const std::vector<item> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      item expected{};
      for (std::int64_t i = shape.begins[s]; i < shape.ends[s]; ++i) {
        expected = expected + items[static_cast<std::size_t>(i)];
      }
      ASSERT_EQ(expected, results[s]) << shape << " " << s;
    }
  }
}

}  // namespace

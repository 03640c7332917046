// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::WarpReduce;

// ---------------------------------------------------------------------------- order, every width
// A range of consecutive numbers. Joining is associative and not commutative. `join_ranges` counts calls that no
// reduction may make: with an input beyond the valid ones, with operands out of order, with an item that was joined
// before, or across segments.
struct range {
  int first, last;
  friend bool operator==(const range& a, const range& b) { return a.first == b.first && a.last == b.last; }
  friend std::ostream& operator<<(std::ostream& out, const range& s) { return out << s.first << " .. " << s.last; }
};

struct join_ranges {
  int* wrong_calls;
  STRATA_D range operator()(const range& a, const range& b) const {
    if (a.first < 0 || a.last + 1 != b.first) atomicAdd(wrong_calls, 1);
    return {a.first, b.last};
  }
};

STRATA_HD range no_item() { return {-1000, -1000}; }

// The logical warps in a block of `threads`. If their width is a power of two, they divide each warp. Otherwise each
// warp has one.
template <int Width>
struct place {
  static constexpr int pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  static constexpr unsigned threads = 64 + Width;
  static STRATA_HD int lane(unsigned thread) { return static_cast<int>(thread) % pitch; }
  static STRATA_HD int logical_warp(unsigned thread) { return static_cast<int>(thread) / pitch; }
  static STRATA_HD bool is_member(unsigned thread) { return lane(thread) < Width; }
};

enum result_row { reduced, reduced_valid, in_all, in_all_valid, of_arrays, head, tail, sums, rows };

// Block b has b + 1 valid items in each logical warp. `segments` has the segment of each thread.
template <int Width>
STRATA_KERNEL void reduce_every_way(const int* segments, range* out, int* wrong_calls) {
  using here = place<Width>;
  using reducer = WarpReduce<range, Width>;
  if (!here::is_member(threadIdx.x)) return;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  reducer reduce(temp_storage);
  const join_ranges op{wrong_calls};

  const int lane = here::lane(threadIdx.x);
  const int valid = static_cast<int>(blockIdx.x) + 1;
  // The items of logical warps are far apart, so joining items of two logical warps is a wrong call.
  const int number = 1000 * here::logical_warp(threadIdx.x) + lane;
  const range mine{number, number};
  const range mine_if_valid = lane < valid ? mine : no_item();
  const range pair[2] = {{2 * number, 2 * number}, {2 * number + 1, 2 * number + 1}};

  // The items of segments are apart too.
  const int segment = segments[blockIdx.x * here::threads + threadIdx.x];
  const range in_segment{number + 100 * segment, number + 100 * segment};
  const int* const neighbour = segments + blockIdx.x * here::threads + threadIdx.x;
  // The first head flag and the last tail flag of a logical warp must not matter, so both values occur.
  const bool is_head = lane == 0 ? segment % 2 == 0 : neighbour[-1] != segment;
  const bool is_tail = lane == Width - 1 ? segment % 2 == 0 : neighbour[1] != segment;

  range* const result = out + (blockIdx.x * here::threads + threadIdx.x) * rows;
  result[reduced] = reduce.Reduce(mine, op);
  result[reduced_valid] = reduce.Reduce(mine_if_valid, op, valid);
  result[in_all] = reduce.AllReduce(mine, op);
  result[in_all_valid] = reduce.AllReduce(mine_if_valid, op, valid);
  result[of_arrays] = reduce.Reduce(pair, op);
  result[head] = reduce.HeadSegmentedReduce(in_segment, is_head, op);
  result[tail] = reduce.template TailSegmentedReduce<join_ranges, int>(in_segment, is_tail ? 7 : 0, op);

  // Sums of integers run code of their own.
  using adder = WarpReduce<int, Width>;
  STRATA_SHARED(sums_storage, typename adder::TempStorage);
  adder add(sums_storage);
  result[sums] = {add.HeadSegmentedSum(number, is_head), add.TailSegmentedSum(number, is_tail)};
}

template <int Width>
void test_width() {
  SCOPED_TRACE(testing::Message() << "logical warps of " << Width << " threads");
  using here = place<Width>;
  constexpr unsigned blocks = Width;
  constexpr std::size_t threads = here::threads;

  // Segments of random lengths. The block determines how long they are on average.
  std::vector<int> segments(blocks * threads);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::vector<int> steps = random_integers(threads, 0, 9, 100 * Width + block);
    const int boundary = static_cast<int>(block % 10);  // from short segments (0) to one for each logical warp (9)
    int segment = 0;
    for (std::size_t t = 0; t < threads; ++t) {
      if (steps[t] > boundary || here::lane(static_cast<unsigned>(t)) == 0) ++segment;
      segments[block * threads + t] = segment;
    }
  }
  const device_vector<int> segments_in(segments);
  const device_vector<int> wrong_calls(std::vector<int>{0});
  device_vector<range> out(blocks * threads * rows);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_every_way", blocks, here::threads}, reduce_every_way<Width>,
                                     segments_in.data(), out.data(), const_cast<int*>(wrong_calls.data())));
  EXPECT_EQ(wrong_calls.to_host()[0], 0) << "calls of the operator with operands not its own";

  const std::vector<range> results = out.to_host();
  for (std::size_t i = 0; i < blocks * threads; ++i) {
    const auto thread = static_cast<unsigned>(i % threads);
    if (!here::is_member(thread)) continue;
    const int valid = static_cast<int>(i / threads) + 1;
    SCOPED_TRACE(testing::Message() << "thread " << thread << ", valid_items " << valid);
    const range* const result = &results[i * rows];
    const int base = 1000 * here::logical_warp(thread);
    const range all{base, base + Width - 1};
    const range all_valid{base, base + valid - 1};
    ASSERT_EQ(result[in_all], all);
    ASSERT_EQ(result[in_all_valid], all_valid);
    const int lane = here::lane(thread);
    if (lane == 0) {
      ASSERT_EQ(result[reduced], all);
      ASSERT_EQ(result[reduced_valid], all_valid);
      ASSERT_EQ(result[of_arrays], (range{2 * base, 2 * (base + Width) - 1}));
    }
    if (lane == 0 || segments[i - 1] != segments[i]) {
      int last = lane;
      while (last + 1 < Width && segments[i + static_cast<std::size_t>(last + 1 - lane)] == segments[i]) {
        ++last;
      }
      const int offset = base + 100 * segments[i];
      ASSERT_EQ(result[head], (range{offset + lane, offset + last}));
      ASSERT_EQ(result[tail], (range{offset + lane, offset + last}));
      const int sum = (last + 1 - lane) * (2 * base + lane + last) / 2;
      ASSERT_EQ(result[sums], (range{sum, sum}));
    }
  }
}

template <int... Width>
void test_widths(std::integer_sequence<int, Width...>) {
  (test_width<Width + 1>(), ...);
}

TEST(warp_reduce, every_width_valid_count_and_segmentation_keeps_order) {
  if constexpr (small_cases) {
    test_widths(std::integer_sequence<int, 0, 1, 2, 7, 12, 15, 30, 31>{});
  } else {
    test_widths(std::make_integer_sequence<int, 32>{});
  }
}

// ---------------------------------------------------------------------------- divergence
// Logical warps of one warp call in different branches, and different numbers of times.
template <int Width>
STRATA_KERNEL void reduce_apart(const int* in, int* out) {
  using reducer = WarpReduce<int, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const int logical_warp = static_cast<int>(threadIdx.x) / Width;
  int value = in[threadIdx.x];
  if (logical_warp % 3 == 2) {
    value = reducer(temp_storage).AllReduce(value, strata::Max{});
  } else {
    for (int i = 0; i < logical_warp % 5; ++i) {
      value = reducer(temp_storage).AllSum(value) % 1009;
      if (logical_warp % 2 == 0) {
        const bool is_head = static_cast<int>(threadIdx.x) % Width == Width / 2;
        value = reducer(temp_storage).HeadSegmentedSum(value, is_head) % 1009;
      }
    }
  }
  out[threadIdx.x] = value;
}

template <int Width>
void test_divergence() {
  SCOPED_TRACE(testing::Message() << "logical warps of " << Width << " threads");
  const std::vector<int> items = random_items<int>(128, Width);
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_apart", 1, 128}, reduce_apart<Width>, in.data(), out.data()));
  const std::vector<int> results = out.to_host();
  for (std::size_t w = 0; w < 128 / Width; ++w) {
    std::vector<int> lanes(items.begin() + static_cast<std::ptrdiff_t>(w * Width),
                           items.begin() + static_cast<std::ptrdiff_t>((w + 1) * Width));
    const auto set_all = [&](int value) { lanes.assign(Width, value); };
    if (w % 3 == 2) {
      set_all(reference_reduce(lanes, strata::Max{}));
    } else {
      for (std::size_t i = 0; i < w % 5; ++i) {
        set_all(reference_reduce(lanes, strata::Sum{}) % 1009);
        if (w % 2 == 0) {
          // After the segmented reduction, a lane has the sum from itself to the end of its segment.
          const std::vector<int> before = lanes;
          for (std::size_t lane = 0; lane < Width; ++lane) {
            const std::size_t end = 2 * lane + 1 < Width ? Width / 2 : Width;
            lanes[lane] = reference_reduce(before, lane, end, strata::Sum{}) % 1009;
          }
        }
      }
    }
    for (std::size_t lane = 0; lane < Width; ++lane) {
      ASSERT_EQ(results[w * Width + lane], lanes[lane]) << "logical warp " << w << ", lane " << lane;
    }
  }
}

TEST(warp_reduce, logical_warps_of_a_warp_may_diverge) {
  test_divergence<1>();
  test_divergence<2>();
  test_divergence<4>();
  test_divergence<8>();
  test_divergence<16>();
}

// ---------------------------------------------------------------------------- named reductions
template <class T, int Width>
STRATA_KERNEL void reduce_by_name(const T* in, T* out, int valid) {
  using reducer = WarpReduce<T, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T item = in[threadIdx.x];
  const T items[2] = {item, in[Width + threadIdx.x]};
  reducer reduce(temp_storage);
  const T results[] = {reduce.Sum(item),
                       reduce.Sum(items),
                       reduce.Sum(item, valid),
                       reduce.Min(item),
                       reduce.Min(items),
                       reduce.Min(item, valid),
                       reduce.Max(item),
                       reduce.Max(items),
                       reduce.Max(item, valid),
                       reduce.AllSum(item),
                       reduce.AllSum(items),
                       reduce.AllSum(item, valid),
                       reduce.AllReduce(items, strata::Max{}),
                       reduce.HeadSegmentedSum(item, threadIdx.x == 3),
                       reduce.TailSegmentedSum(item, threadIdx.x == 3)};
  if (threadIdx.x == 0) {
    for (int i = 0; i < 15; ++i) out[i] = results[i];
  }
}

template <class T, int Width>
void test_names() {
  std::vector<T> items = random_items<T>(2 * Width, 3, 20);
  // The extremes are beyond the valid lanes, where they must not count.
  items[Width - 2] = static_cast<T>(-1);
  items[Width - 1] = static_cast<T>(21);
  const std::vector<T> own(items.begin(), items.begin() + Width);
  constexpr std::size_t valid = Width - 2;
  const device_vector<T> in(items);
  device_vector<T> out(15);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_by_name", 1, Width}, reduce_by_name<T, Width>, in.data(), out.data(),
                                     static_cast<int>(valid)));
  const strata::Sum sum;
  const strata::Min min;
  const strata::Max max;
  const std::vector<T> expected = {
      reference_reduce(own, sum),   reference_reduce(items, sum),     reference_reduce(own, 0, valid, sum),
      reference_reduce(own, min),   reference_reduce(items, min),     reference_reduce(own, 0, valid, min),
      reference_reduce(own, max),   reference_reduce(items, max),     reference_reduce(own, 0, valid, max),
      reference_reduce(own, sum),   reference_reduce(items, sum),     reference_reduce(own, 0, valid, sum),
      reference_reduce(items, max), reference_reduce(own, 0, 3, sum), reference_reduce(own, 0, 4, sum)};
  EXPECT_EQ(out.to_host(), expected);
}

TEST(warp_reduce, named_reductions) {
  test_names<int, 32>();
  test_names<float, 32>();
  test_names<std::int8_t, 16>();
  test_names<double, 11>();
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void sums_of_16(const int* in, int* out) {
  using WarpReduce = strata::WarpReduce<int, 16>;
  STRATA_SHARED(temp_storage, WarpReduce::TempStorage[128 / 16]);
  const unsigned logical_warp = threadIdx.x / 16;
  const int sum = WarpReduce(temp_storage[logical_warp]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 16 == 0) out[logical_warp] = sum;
}

TEST(warp_reduce, sums_in_logical_warps_of_16) {
  std::vector<int> items(128);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i / 16);
  const device_vector<int> in(items);
  device_vector<int> out(8);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_of_16", 1, 128}, sums_of_16, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), (std::vector<int>{0, 16, 32, 48, 64, 80, 96, 112}));
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce_batched.cuh>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::WarpReduceBatched;

// A range of consecutive numbers. Joining is associative and not commutative. `join_ranges` counts operands that are
// out of order, of another batch or of another logical warp.
struct range {
  int first, last;
  friend bool operator==(const range& a, const range& b) { return a.first == b.first && a.last == b.last; }
  friend std::ostream& operator<<(std::ostream& out, const range& s) { return out << s.first << " .. " << s.last; }
};
struct join_ranges {
  int* wrong_calls;
  STRATA_D range operator()(const range& a, const range& b) const {
    if (a.last + 1 != b.first) atomicAdd(wrong_calls, 1);
    return {a.first, b.last};
  }
};

STRATA_HD range range_of(int number) { return {number, number}; }

/// Tells its number of items like `cuda::std::array` and spans of a fixed length.
template <std::size_t Count>
struct ranges {
  static constexpr std::size_t extent = Count;
  range items[Count];
  STRATA_HD range& operator[](std::size_t i) { return items[i]; }
};

constexpr unsigned threads = 96;

/// Item b of a lane is 100 * (its logical warp) + its lane, and 10,000 for each batch.
template <int Batches, int Width, bool SyncPhysicalWarp>
STRATA_KERNEL void reduce_ranges(range* striped, range* blocked, range* alone, int* wrong_calls) {
  using reducer = WarpReduceBatched<range, Batches, Width, SyncPhysicalWarp>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  constexpr std::size_t outputs = (Batches + Width - 1) / Width;
  const int thread = static_cast<int>(threadIdx.x);
  range inputs[static_cast<std::size_t>(Batches)];
  for (int b = 0; b < Batches; ++b) {
    inputs[b] = range_of(10000 * b + 100 * (thread / Width) + thread % Width);
  }
  const join_ranges op{wrong_calls};
  ranges<outputs> out;
  reducer(temp_storage).ReduceToStriped(inputs, out, op);
  for (std::size_t i = 0; i < outputs; ++i) striped[threadIdx.x * outputs + i] = out[i];
  range other[outputs];
  reducer(temp_storage).ReduceToBlocked(inputs, other, op);
  for (std::size_t i = 0; i < outputs; ++i) blocked[threadIdx.x * outputs + i] = other[i];
  if constexpr (outputs == 1) alone[threadIdx.x] = reducer(temp_storage).Reduce(inputs, op);
}

template <int Batches, int Width, bool SyncPhysicalWarp = false>
void test_batches() {
  SCOPED_TRACE(testing::Message() << Batches << " batches, " << Width << " threads");
  constexpr int outputs = (Batches + Width - 1) / Width;
  device_vector<range> striped(threads * outputs), blocked(threads * outputs), alone(threads);
  device_vector<int> wrong_calls(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_ranges", 1, threads}, reduce_ranges<Batches, Width, SyncPhysicalWarp>,
                                     striped.data(), blocked.data(), alone.data(), wrong_calls.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(0, wrong_calls.to_host()[0]);
  const std::vector<range> by_stripes = striped.to_host(), by_blocks = blocked.to_host(), results = alone.to_host();
  for (int thread = 0; thread < static_cast<int>(threads); ++thread) {
    const auto expected = [&](int batch) {
      const int first = 10000 * batch + 100 * (thread / Width);
      return range{first, first + Width - 1};
    };
    const int lane = thread % Width;
    for (int i = 0; i < outputs; ++i) {
      const auto at = static_cast<std::size_t>(thread * outputs + i);
      if (lane + i * Width < Batches) {
        ASSERT_EQ(expected(lane + i * Width), by_stripes[at]) << thread;
      }
      if (lane * outputs + i < Batches) {
        ASSERT_EQ(expected(lane * outputs + i), by_blocks[at]) << thread;
      }
    }
    if (outputs == 1 && lane < Batches) {
      ASSERT_EQ(expected(lane), results[static_cast<std::size_t>(thread)]) << thread;
    }
  }
}

TEST(warp_reduce_batched, every_batch_in_the_order_of_lanes) {
  test_batches<1, 32>();
  test_batches<2, 32>();
  test_batches<3, 32>();
  test_batches<16, 32, true>();
  test_batches<31, 32>();
  test_batches<32, 32>();
  test_batches<33, 32>();
  test_batches<70, 32>();
  test_batches<1, 1>();
  test_batches<5, 1>();
  test_batches<3, 2>();
  test_batches<7, 4, true>();
  test_batches<8, 8>();
  test_batches<9, 8>();
  test_batches<5, 16>();
  test_batches<40, 16>();
}

/// A range of numbers modulo 256, in 16 bits.
struct short_range {
  std::uint8_t first, last;
};
struct join_short_ranges {
  int* wrong_calls;
  STRATA_D short_range operator()(const short_range& a, const short_range& b) const {
    if (static_cast<std::uint8_t>(a.last + 1) != b.first) atomicAdd(wrong_calls, 1);
    return {a.first, b.last};
  }
};
STRATA_HD int first_of_short_range(int batch, int logical_warp) { return 40 * batch + 7 * logical_warp + batch / 8; }

template <int Batches, int Width>
STRATA_KERNEL void reduce_short_ranges(short_range* striped, int* wrong_calls) {
  using reducer = WarpReduceBatched<short_range, Batches, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  constexpr int outputs = (Batches + Width - 1) / Width;
  const int thread = static_cast<int>(threadIdx.x);
  short_range inputs[static_cast<std::size_t>(Batches)];
  for (int b = 0; b < Batches; ++b) {
    const auto number = static_cast<std::uint8_t>(first_of_short_range(b, thread / Width) + thread % Width);
    inputs[b] = {number, number};
  }
  short_range out[static_cast<std::size_t>(outputs)];
  reducer(temp_storage).ReduceToStriped(inputs, out, join_short_ranges{wrong_calls});
  for (int i = 0; i < outputs; ++i) striped[thread * outputs + i] = out[i];
}

template <int Batches, int Width>
void test_short_batches() {
  constexpr int outputs = (Batches + Width - 1) / Width;
  device_vector<short_range> striped(threads * outputs);
  device_vector<int> wrong_calls(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_short_ranges", 1, threads}, reduce_short_ranges<Batches, Width>,
                                     striped.data(), wrong_calls.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(0, wrong_calls.to_host()[0]);
  const std::vector<short_range> results = striped.to_host();
  for (int thread = 0; thread < static_cast<int>(threads); ++thread) {
    for (int i = 0; i < outputs; ++i) {
      const int batch = thread % Width + i * Width;
      if (batch >= Batches) continue;
      const short_range& result = results[static_cast<std::size_t>(thread * outputs + i)];
      const int first = first_of_short_range(batch, thread / Width);
      ASSERT_EQ(static_cast<std::uint8_t>(first), result.first) << Batches << " x " << Width << ", batch " << batch;
      ASSERT_EQ(static_cast<std::uint8_t>(first + Width - 1), result.last) << Batches << " x " << Width;
    }
  }
}

TEST(warp_reduce_batched, pairs_of_16_bits_in_the_order_of_lanes) {
  test_short_batches<2, 32>();
  test_short_batches<3, 32>();
  test_short_batches<4, 32>();
  test_short_batches<8, 32>();
  test_short_batches<12, 32>();
  test_short_batches<16, 32>();
  test_short_batches<32, 32>();
  test_short_batches<48, 32>();
  test_short_batches<64, 32>();
  test_short_batches<96, 32>();
  test_short_batches<2, 2>();
  test_short_batches<4, 2>();
  test_short_batches<16, 8>();
  test_short_batches<24, 8>();
  test_short_batches<5, 4>();
  test_short_batches<4, 16>();
}

template <class T>
STRATA_KERNEL void sum_up(T* out) {
  using reducer = WarpReduceBatched<T, 5, 8>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  T inputs[5];
  for (unsigned i = 0; i < 5; ++i) inputs[i] = static_cast<T>(threadIdx.x % 8 * (i + 1));
  const T sum = reducer(temp_storage).Sum(inputs);
  T striped[1], blocked[1];
  reducer(temp_storage).SumToStriped(inputs, striped);
  reducer(temp_storage).SumToBlocked(inputs, blocked);
  out[threadIdx.x] = sum == striped[0] && sum == blocked[0] ? sum : T{};
}
template <class T>
void test_sums() {
  device_vector<T> out(32);
  ASSERT_CUDA_SUCCESS(strata::launch({"sum_up", 1, 32}, sum_up<T>, out.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const std::vector<T> sums = out.to_host();
  for (std::size_t i = 0; i < 32; ++i) {
    if (i % 8 < 5) {
      EXPECT_EQ(static_cast<T>(28 * (i % 8 + 1)), sums[i]) << i;
    }
  }
}
TEST(warp_reduce_batched, sums_of_items_of_all_sizes) {
  test_sums<std::uint8_t>();
  test_sums<std::int16_t>();
  test_sums<int>();
  test_sums<double>();
}

// The logical warps of a warp call at different times.
STRATA_KERNEL void sum_in_some(int* out) {
  using reducer = WarpReduceBatched<int, 2, 4>;
  STRATA_SHARED(temp_storage, reducer::TempStorage);
  out[threadIdx.x] = -1;
  if (threadIdx.x / 4 % 3 == 1) {
    const int inputs[2] = {static_cast<int>(threadIdx.x), 1};
    out[threadIdx.x] = reducer(temp_storage).Sum(inputs);
  }
}
TEST(warp_reduce_batched, logical_warps_need_not_call_together) {
  device_vector<int> out(32);
  ASSERT_CUDA_SUCCESS(strata::launch({"sum_in_some", 1, 32}, sum_in_some, out.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const std::vector<int> sums = out.to_host();
  for (int i = 0; i < 32; ++i) {
    const int first = i / 4 * 4, sum = i % 4 == 0 ? 4 * first + 6 : 4;
    if (i / 4 % 3 != 1) {
      EXPECT_EQ(-1, sums[static_cast<std::size_t>(i)]);
    } else if (i % 4 < 2) {
      EXPECT_EQ(sum, sums[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

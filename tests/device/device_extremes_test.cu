// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Minima and maxima of floating-point numbers with NaNs and zeros of both signs, by the algorithms
// of all layers: the result does not depend on how the items are combined.
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;
using strata::DeviceScan;
using strata::DeviceSegmentedReduce;
using strata::DeviceSegmentedScan;
using strata_test::same_bits;

template <class T>
class DeviceExtremes : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using real_types = ::testing::Types<float, __half>;
#else
using real_types = ::testing::Types<float, double, __half, __nv_bfloat16>;
#endif
TYPED_TEST_SUITE(DeviceExtremes, real_types);

const float nan = std::numeric_limits<float>::quiet_NaN();
const float infinity = std::numeric_limits<float>::infinity();

// ------------------------------------------------------------------ inputs

// Positions of an item at the edges of packs, warps, tiles and blocks, in the middle, and at the end.
std::vector<std::size_t> places(std::size_t size) {
  std::vector<std::size_t> all;
  for (const std::size_t place : {0u, 1u, 7u, 31u, 32u, 511u, 512u, 4095u, 4096u}) {
    if (place < size) all.push_back(place);
  }
  all.push_back(size / 2);
  all.push_back(size - 1);
  return all;
}

template <class T>
std::vector<std::vector<T>> inputs(std::size_t size) {
  std::vector<std::vector<T>> all;
  const auto add = [&](const std::vector<float>& items) {
    all.emplace_back();
    for (const float item : items) all.back().push_back(T(item));
  };
  const std::vector<float> sevens(size, 7.0f);
  const std::vector<std::size_t> at = places(size);
  for (std::size_t i = 0; i < at.size(); i += if_small<std::size_t>(3, 1)) {
    std::vector<float> items = sevens;
    items[at[i]] = nan;
    items[(at[i] + 1) % size] = size > 1 ? 1.0f : nan;
    items[(at[i] + size - 1) % size] = size > 2 ? 9.0f : items[(at[i] + size - 1) % size];
    add(items);
  }
  add(std::vector<float>(size, nan));
  std::vector<float> one_number(size, nan);
  one_number[size / 3] = infinity;
  add(one_number);
  one_number[size / 3] = -infinity;
  add(one_number);
  std::mt19937_64 bits = strata_test::random_bits(size);
  std::vector<float> zeros(size);
  for (float& item : zeros) item = bits() % 2 == 0 ? 0.0f : -0.0f;
  add(zeros);
  for (float& item : zeros) {
    if (bits() % 4 == 0) item = nan;
  }
  add(zeros);
  std::vector<float> some(size);
  const float values[] = {nan, -nan, 1.0f, -2.0f, 0.0f, -0.0f, 0x1p-14f, nan};
  for (float& item : some) item = values[bits() % 8];
  add(some);
  std::shuffle(some.begin(), some.end(), bits);
  add(some);
  return all;
}

// ------------------------------------------------------------------ references

template <bool IsMax, class T>
bool is_better(T first, T second) {
  const auto a = static_cast<double>(first);
  const auto b = static_cast<double>(second);
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  if (a == b) return std::signbit(a) != IsMax;
  return IsMax ? a > b : a < b;
}

template <bool IsMax, class T>
T extreme(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  T result = items[begin];
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (!is_better<IsMax>(result, items[i])) result = items[i];
  }
  return result;
}

// Index of the first extreme item. Zeros of both signs count as equal, and so do NaNs.
template <bool IsMax, class T>
std::size_t extreme_index(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  std::size_t best = begin;
  for (std::size_t i = begin + 1; i < end; ++i) {
    const auto a = static_cast<double>(items[best]);
    const auto b = static_cast<double>(items[i]);
    if (!std::isnan(b) && (std::isnan(a) || (IsMax ? b > a : b < a))) best = i;
  }
  return best;
}

// The bits of a result that is NaN are not specified.
template <class T>
bool same(T a, T b) {
  return same_bits(a, b) || (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
}

#define EXPECT_SAME_REAL(expected, actual) \
  EXPECT_TRUE(same((expected), (actual)))  \
      << "expected " << static_cast<float>(expected) << ", is " << static_cast<float>(actual)

// ------------------------------------------------------------------ one result

template <class T, class Check>
void for_each_input(const std::vector<std::size_t>& lengths, const Check& check) {
  for (const std::size_t size : lengths) {
    const std::vector<std::vector<T>> all = inputs<T>(size);
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << size << " items, input " << i);
      const device_vector<T> in(all[i]);
      check(all[i], in.data());
    }
  }
}

std::vector<std::size_t> lengths() {
  return is_small() ? std::vector<std::size_t>{1, 2, 33, 5000}
                    : std::vector<std::size_t>{1, 2, 3, 33, 1000, 5000, 100001};
}

TYPED_TEST(DeviceExtremes, of_an_array) {
  using T = TypeParam;
  for_each_input<T>(lengths(), [](const std::vector<T>& items, const T* in) {
    const std::size_t size = items.size();
    EXPECT_SAME_REAL(extreme<false>(items, 0, size), result_of<T>([&](T* out, auto&&... storage) {
                       return DeviceReduce::Min(storage..., in, out, size);
                     }));
    EXPECT_SAME_REAL(extreme<true>(items, 0, size), result_of<T>([&](T* out, auto&&... storage) {
                       return DeviceReduce::Max(storage..., in, out, size);
                     }));
    // An initial value that is NaN does not change the result.
    EXPECT_SAME_REAL(extreme<false>(items, 0, size), result_of<T>([&](T* out, auto&&... storage) {
                       return DeviceReduce::Reduce(storage..., in, out, size, strata::Min{}, T(nan));
                     }));
  });
}

template <bool IsMax, class T, class Call>
void expect_place(const std::vector<T>& items, const Call& call) {
  device_vector<T> value(1);
  device_vector<std::int64_t> index(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(value.data(), index.data(), storage...); }));
  const std::size_t expected = extreme_index<IsMax>(items, 0, items.size());
  EXPECT_EQ(static_cast<std::int64_t>(expected), index.to_host()[0]);
  EXPECT_SAME_REAL(items[expected], value.to_host()[0]);
}

TYPED_TEST(DeviceExtremes, of_an_array_with_their_places) {
  using T = TypeParam;
  for_each_input<T>(lengths(), [](const std::vector<T>& items, const T* in) {
    expect_place<false>(items, [&](T* value, std::int64_t* index, auto&&... storage) {
      return DeviceReduce::ArgMin(storage..., in, value, index, items.size());
    });
    expect_place<true>(items, [&](T* value, std::int64_t* index, auto&&... storage) {
      return DeviceReduce::ArgMax(storage..., in, value, index, items.size());
    });
  });
}

// ------------------------------------------------------------------ segments and runs

TYPED_TEST(DeviceExtremes, of_segments) {
  using T = TypeParam;
  using pair = strata::KeyValuePair<std::int64_t, T>;
  for_each_input<T>({if_small<std::size_t>(5000, 20000)}, [](const std::vector<T>& items, const T* in) {
    for (const std::size_t length : sizes{3, 40, 900, 5000}) {
      const std::size_t segments = items.size() / length;
      const auto num_segments = static_cast<std::int64_t>(segments);
      const auto size = static_cast<std::int64_t>(length);
      const std::vector<T> low = results_of<T>(num_segments, [&](T* out, auto&&... storage) {
        return DeviceSegmentedReduce::Min(storage..., in, out, num_segments, size);
      });
      const std::vector<T> high = results_of<T>(num_segments, [&](T* out, auto&&... storage) {
        return DeviceSegmentedReduce::Max(storage..., in, out, num_segments, size);
      });
      const std::vector<pair> place = results_of<pair>(num_segments, [&](pair* out, auto&&... storage) {
        return DeviceSegmentedReduce::ArgMax(storage..., in, out, num_segments, size);
      });
      for (std::size_t s = 0; s < segments; ++s) {
        const std::size_t begin = s * length;
        const std::size_t end = begin + length;
        EXPECT_SAME_REAL(extreme<false>(items, begin, end), low[s]);
        EXPECT_SAME_REAL(extreme<true>(items, begin, end), high[s]);
        const std::size_t at = extreme_index<true>(items, begin, end);
        EXPECT_EQ(static_cast<std::int64_t>(at - begin), place[s].key);
        EXPECT_SAME_REAL(items[at], place[s].value);
      }
    }
  });
}

TYPED_TEST(DeviceExtremes, of_runs) {
  using T = TypeParam;
  for_each_input<T>({5000}, [](const std::vector<T>& items, const T* in) {
    for (const std::size_t length : sizes{1, 7, 1000}) {
      std::vector<int> keys(items.size());
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / length);
      const device_vector<int> d_keys(keys);
      device_vector<int> unique(items.size());
      device_vector<T> low(items.size());
      device_vector<std::int64_t> runs(1);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
        return DeviceReduce::ReduceByKey(storage..., d_keys.data(), unique.data(), in, low.data(), runs.data(),
                                         strata::Min{}, items.size());
      }));
      const std::vector<T> results = low.to_host();
      for (std::size_t begin = 0; begin < items.size(); begin += length) {
        EXPECT_SAME_REAL(extreme<false>(items, begin, std::min(begin + length, items.size())), results[begin / length]);
      }
    }
  });
}

// ------------------------------------------------------------------ scans

template <bool IsMax, class T>
void expect_running(const std::vector<T>& items, std::size_t length, const std::vector<T>& results) {
  T best{};
  for (std::size_t i = 0; i < items.size(); ++i) {
    best = i % length == 0 || !is_better<IsMax>(best, items[i]) ? items[i] : best;
    ASSERT_TRUE(same(best, results[i])) << "item " << i << ", segments of " << length;
  }
}

TYPED_TEST(DeviceExtremes, running) {
  using T = TypeParam;
  for_each_input<T>({1, 33, 5000, if_small<std::size_t>(6000, 100001)}, [](const std::vector<T>& items, const T* in) {
    const auto count = static_cast<std::int64_t>(items.size());
    expect_running<false>(items, items.size(), results_of<T>(count, [&](T* out, auto&&... storage) {
                            return DeviceScan::InclusiveScan(storage..., in, out, strata::Min{}, count);
                          }));
    expect_running<true>(items, items.size(), results_of<T>(count, [&](T* out, auto&&... storage) {
                           return DeviceScan::InclusiveScan(storage..., in, out, strata::Max{}, count);
                         }));
  });
}

TYPED_TEST(DeviceExtremes, running_in_segments) {
  using T = TypeParam;
  for_each_input<T>({5000}, [](const std::vector<T>& items, const T* in) {
    const auto count = static_cast<std::int64_t>(items.size());
    const std::size_t length = 700;
    std::vector<int> keys(items.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / length);
    const device_vector<int> d_keys(keys);
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i < items.size(); i += length) {
      offsets.push_back(static_cast<std::int64_t>(i));
    }
    const auto segments = static_cast<std::int64_t>(offsets.size());
    offsets.push_back(count);
    const device_vector<std::int64_t> d_offsets(offsets);
    expect_running<false>(items, length, results_of<T>(count, [&](T* out, auto&&... storage) {
                            return DeviceScan::InclusiveScanByKey(storage..., d_keys.data(), in, out, strata::Min{},
                                                                  count);
                          }));
    expect_running<true>(items, length, results_of<T>(count, [&](T* out, auto&&... storage) {
                           return DeviceSegmentedScan::InclusiveSegmentedScan(
                               storage..., in, out, d_offsets.data(), d_offsets.data() + 1, segments, strata::Max{});
                         }));
  });
}

// ------------------------------------------------------------------ in a thread, a warp, a block

inline constexpr int block_threads = 96;

// Writes the extreme of all items four times: by BlockReduce, by the last item of BlockScan, by ThreadReduce and
// WarpReduce, and by the last item of WarpScan.
template <class T, class Operator>
STRATA_KERNEL void reduce_in_layers(const T* in, T* out, Operator op) {
  using BlockReduce = strata::BlockReduce<T, block_threads>;
  using BlockScan = strata::BlockScan<T, block_threads>;
  using WarpReduce = strata::WarpReduce<T>;
  using WarpScan = strata::WarpScan<T>;
  STRATA_SHARED(reduce_storage, typename BlockReduce::TempStorage);
  STRATA_SHARED(scan_storage, typename BlockScan::TempStorage);
  STRATA_SHARED(warp_reduce_storage, typename WarpReduce::TempStorage);
  STRATA_SHARED(warp_scan_storage, typename WarpScan::TempStorage[block_threads / 32]);
  const unsigned t = threadIdx.x;
  const T item = in[t];
  const T by_block = BlockReduce(reduce_storage).Reduce(item, op);
  if (t == 0) out[0] = by_block;
  T scanned;
  BlockScan(scan_storage).InclusiveScan(item, scanned, op);
  if (t == block_threads - 1) out[1] = scanned;
  T row[block_threads / 32];
  for (unsigned i = 0; i < block_threads / 32; ++i) row[i] = in[t % 32 + 32 * i];
  const T by_thread = strata::ThreadReduce(row, op);
  const T by_warp = WarpReduce(warp_reduce_storage).Reduce(by_thread, op);
  if (t == 0) out[2] = by_warp;
  T warp_scanned;
  WarpScan(warp_scan_storage[t / 32]).InclusiveScan(by_thread, warp_scanned, op);
  if (t == 31) out[3] = warp_scanned;
}

template <bool IsMax, class T, class Operator>
void test_layers(const std::vector<T>& items, const T* in, Operator op) {
  device_vector<T> out(4);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_in_layers", 1, unsigned{block_threads}}, reduce_in_layers<T, Operator>,
                                     in, out.data(), op));
  const T expected = extreme<IsMax>(items, 0, items.size());
  for (const T result : out.to_host()) EXPECT_SAME_REAL(expected, result);
}

TYPED_TEST(DeviceExtremes, of_a_block) {
  using T = TypeParam;
  for_each_input<T>({block_threads}, [](const std::vector<T>& items, const T* in) {
    test_layers<false>(items, in, strata::Min{});
    test_layers<true>(items, in, strata::Max{});
  });
}

}  // namespace

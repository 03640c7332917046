// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceHistogram with CUB's: a program that replaces `cub::` by `strata::` gets the same counts.
#include <strata/device/device_histogram.cuh>

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;

struct by_strata {
  using histogram = strata::DeviceHistogram;
};
struct by_cub {
  using histogram = cub::DeviceHistogram;
};

/// Returns what `call(library, out, storage...)` writes to `bins` counters.
template <class Library, class Call>
std::vector<int> counts(std::int64_t bins, const Call& call) {
  return results_of<int>(
      bins, [&](int* out, void* storage, std::size_t& bytes) { return call(Library{}, out, storage, bytes); });
}

template <class Call>
void expect_the_same(std::int64_t bins, const Call& call) {
  ASSERT_EQ(counts<by_cub>(bins, call), counts<by_strata>(bins, call));
}

/// CUB does not count floating-point samples whose bin is rounded up to the upper level. strata counts them in the last
/// bin. Each channel has `num_bins` bins.
template <class Call>
void expect_no_fewer(std::int64_t bins, std::size_t num_bins, const Call& call) {
  const std::vector<int> theirs = counts<by_cub>(bins, call);
  std::vector<int> ours = counts<by_strata>(bins, call);
  for (std::size_t last = num_bins - 1; last < ours.size(); last += num_bins) {
    ASSERT_GE(ours[last], theirs[last]);
    ours[last] = theirs[last];
  }
  ASSERT_EQ(theirs, ours);
}

template <class Sample, class Level>
struct kinds {
  using sample = Sample;
  using level = Level;
};

// `random_calls` chooses ranges of samples that avoid two faults of CUB: it does not count negative samples of one
// byte, and it refuses or miscounts integers whose range of levels does not fit their type.
template <class Sample>
std::vector<Sample> random_samples(std::size_t count, double low, double high, std::uint64_t stream) {
  std::vector<Sample> samples = random_reals<Sample>(count, low, high, stream);
  // A third of the samples are equal, and a third lie in few bins.
  for (std::size_t i = 0; i < count; i += 3) samples[i] = samples[0];
  for (std::size_t i = 1; i < count; i += 3) samples[i] = samples[i % 30];
  return samples;
}

template <class Kinds>
class DeviceHistogramCub : public ::testing::Test {};
using type_kinds =
    ::testing::Types<kinds<std::uint8_t, int>, kinds<std::int8_t, std::int8_t>, kinds<std::int32_t, std::int32_t>,
                     kinds<std::uint32_t, std::uint64_t>, kinds<float, float>, kinds<double, int>>;
TYPED_TEST_SUITE(DeviceHistogramCub, type_kinds);

TYPED_TEST(DeviceHistogramCub, random_calls) {
  using sample = typename TypeParam::sample;
  using level = typename TypeParam::level;
  std::mt19937_64 random = strata_test::random_bits(1);
  const auto below = [&](std::uint64_t count) { return random() % count; };
  const double most = std::is_same_v<sample, std::int8_t> ? 127
                      : sizeof(sample) == 1               ? 255
                      : sizeof(sample) == 2               ? 60000
                                                          : 1e6;
  const double least = std::is_signed_v<sample> && sizeof(sample) > 1 ? -most : 0;
  for (int run = 0; run < if_small(8, 40); ++run) {
    SCOPED_TRACE(run);
    const std::size_t length = below(std::uint64_t{1} << below(23));
    const std::int64_t skipped = static_cast<std::int64_t>(below(17));
    const std::vector<sample> samples =
        random_samples<sample>(length + 17, least, most, static_cast<std::uint64_t>(run));
    const device_vector<sample> in(samples);
    const sample* const first = in.data() + skipped;
    auto edges = random_reals<level>(2, least, most, static_cast<std::uint64_t>(run) + 100);
    std::sort(edges.begin(), edges.end());
    if (edges[0] == edges[1]) continue;
    // If levels have one byte, CUB also counts the bins in one byte.
    const int bins = 1 + static_cast<int>(below(sizeof(level) == 1 ? 100 : std::uint64_t{1} << below(18)));
    const auto expect_even = [&](std::int64_t all_bins, const auto& call) {
      if constexpr (std::is_integral_v<std::common_type_t<sample, level>>) {
        expect_the_same(all_bins, call);
      } else {
        expect_no_fewer(all_bins, static_cast<std::size_t>(bins), call);
      }
    };
    expect_even(bins, [&](auto lib, int* out, void* storage, std::size_t& bytes) {
      return decltype(lib)::histogram::HistogramEven(storage, bytes, first, out, bins + 1, edges[0], edges[1],
                                                     static_cast<long long>(length));
    });
    std::vector<level> levels = random_reals<level>(static_cast<std::size_t>(bins) + 1, least, most, 7);
    std::sort(levels.begin(), levels.end());
    const device_vector<level> d_levels(levels);
    expect_the_same(bins, [&](auto lib, int* out, void* storage, std::size_t& bytes) {
      return decltype(lib)::histogram::HistogramRange(storage, bytes, first, out, bins + 1, d_levels.data(),
                                                      static_cast<int>(length));
    });
    const int row = 1 + static_cast<int>(below(length / 4 + 1));
    const int rows = static_cast<int>(length) / 3 / row / 4;
    const std::size_t stride = static_cast<std::size_t>(row * 3 + static_cast<int>(below(row))) * sizeof(sample);
    expect_even(2 * bins, [&](auto lib, int* out, void* storage, std::size_t& bytes) {
      const cuda::std::array<int*, 2> outs{out, out + bins};
      const cuda::std::array<int, 2> num_levels{bins + 1, bins + 1};
      const cuda::std::array<level, 2> lower{edges[0], edges[0]}, upper{edges[1], edges[1]};
      return decltype(lib)::histogram::template MultiHistogramEven<3, 2>(storage, bytes, first, outs, num_levels, lower,
                                                                         upper, row, rows, stride);
    });
    expect_the_same(2 * bins, [&](auto lib, int* out, void* storage, std::size_t& bytes) {
      const cuda::std::array<int*, 2> outs{out, out + bins};
      const cuda::std::array<int, 2> num_levels{bins + 1, bins + 1};
      const cuda::std::array<const level*, 2> all{d_levels.data(), d_levels.data()};
      return decltype(lib)::histogram::template MultiHistogramRange<3, 2>(storage, bytes, first, outs, num_levels, all,
                                                                          row, rows, stride);
    });
  }
}

TEST(device_histogram_cub, products_beyond_64_bits_are_refused_by_both) {
  const device_vector<std::uint64_t> in(10);
  device_vector<int> out(3);
  std::size_t bytes = 0;
  const auto query = [&](auto lib, std::uint64_t upper) {
    return decltype(lib)::histogram::HistogramEven(nullptr, bytes, in.data(), out.data(), 4, std::uint64_t{0}, upper,
                                                   10);
  };
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 3;
  EXPECT_EQ(query(by_cub{}, most), query(by_strata{}, most));
  EXPECT_EQ(query(by_cub{}, most + 1), query(by_strata{}, most + 1));
}

}  // namespace

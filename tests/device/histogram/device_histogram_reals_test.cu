// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHistogram of floating-point numbers: levels may be as far apart or as close as the type allows, and samples may
// have any bits, also those of infinities and NaNs.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_histogram.cuh>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceHistogram;

// ------------------------------------------------------------------ numbers by their order

/// Numbers of a type by their position from 0.0 on: `number_at(1)` is the smallest number above 0.0.
template <class T>
using bits_of = typename strata::detail::unsigned_of_bytes<sizeof(T)>::type;
template <class T>
T from_bits(bits_of<T> bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
template <class T>
constexpr bits_of<T> sign_bit = static_cast<bits_of<T>>(bits_of<T>{1} << (8 * sizeof(T) - 1));
template <class T>
T number_at(std::int64_t position) {
  return position < 0 ? from_bits<T>(static_cast<bits_of<T>>(sign_bit<T> | static_cast<bits_of<T>>(-position)))
                      : from_bits<T>(static_cast<bits_of<T>>(position));
}
template <class T>
std::int64_t position_of(T value) {
  bits_of<T> bits;
  std::memcpy(&bits, &value, sizeof(T));
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<bits_of<T>>(sign_bit<T> - 1));
  return (bits & sign_bit<T>) != 0 ? -magnitude : magnitude;
}
template <class T>
constexpr std::int64_t mantissa_values = std::int64_t{1} << strata::detail::radix_mantissa_bits<T>;
template <class T>
constexpr std::int64_t infinity_position = static_cast<std::int64_t>((sign_bit<T> - 1) &
                                                                     ~static_cast<bits_of<T>>(mantissa_values<T> - 1));

template <class T>
long double exact(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return static_cast<float>(value);
  }
}

// ------------------------------------------------------------------ the bins that a sample may have

template <class T>
struct even_levels {
  T lower;
  T upper;
  int bins;
};

struct bin_range {
  std::int64_t first;
  std::int64_t last;
};

/// The bins that the contract allows for a sample: its position among the bins may have a relative error of four
/// roundings. `{-1, -1}` if the sample is not between the levels.
template <class T>
bin_range bins_of(T sample, const even_levels<T>& levels) {
  const long double x = exact(sample), lower = exact(levels.lower), upper = exact(levels.upper);
  if (!(x >= lower && x < upper)) return {-1, -1};
  using arithmetic = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const long double error = 4.001L * std::numeric_limits<arithmetic>::epsilon() / 2;
  const long double position = (x - lower) / (upper - lower) * levels.bins;
  const auto bin_at = [&](long double where) {
    return std::min(static_cast<std::int64_t>(where), std::int64_t{levels.bins} - 1);
  };
  return {bin_at(position * (1 - error)), bin_at(position * (1 + error))};
}

template <class T>
std::vector<unsigned> histogram(const std::vector<T>& samples, const even_levels<T>& levels) {
  const device_vector<T> in(samples);
  return results_of<unsigned>(levels.bins, [&](unsigned* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, in.data(), out, levels.bins + 1, levels.lower, levels.upper,
                                          samples.size());
  });
}

/// Compares, for each bin, the number of samples up to this bin with the least and the greatest number that the
/// contract allows. So every sample between the levels is counted, and no other.
template <class T>
void expect_bins(const std::vector<T>& samples, const even_levels<T>& levels) {
  std::vector<std::int64_t> certain(static_cast<std::size_t>(levels.bins)), possible = certain;
  for (const T& sample : samples) {
    const bin_range at = bins_of(sample, levels);
    if (at.first < 0) continue;
    ++certain[static_cast<std::size_t>(at.last)];
    ++possible[static_cast<std::size_t>(at.first)];
  }
  const std::vector<unsigned> found = histogram(samples, levels);
  std::int64_t least = 0, most = 0, below = 0;
  for (std::size_t bin = 0; bin < found.size(); ++bin) {
    least += certain[bin];
    most += possible[bin];
    below += found[bin];
    ASSERT_TRUE(least <= below && below <= most)
        << below << " samples up to bin " << bin << " of " << levels.bins << ", not " << least << " to " << most
        << ", from " << static_cast<double>(exact(levels.lower)) << " to " << static_cast<double>(exact(levels.upper));
  }
}

/// Samples of random bits, samples between the levels, and the neighbours of borders of bins.
template <class T>
std::vector<T> samples_around(const even_levels<T>& levels, std::size_t count, std::mt19937_64& bits) {
  std::vector<T> samples;
  const auto add = [&](T border) {
    for (std::int64_t near = -1; near <= 1; ++near) samples.push_back(number_at<T>(position_of(border) + near));
  };
  add(levels.lower);
  add(levels.upper);
  const long double lower = exact(levels.lower), range = exact(levels.upper) - lower;
  while (samples.size() < count) {
    samples.push_back(from_bits<T>(static_cast<bits_of<T>>(bits())));
    const auto share = static_cast<long double>(bits() >> 11) / (std::uint64_t{1} << 53);
    using arithmetic = std::conditional_t<std::is_floating_point_v<T>, T, float>;
    samples.push_back(static_cast<T>(static_cast<arithmetic>(lower + share * range)));
    const auto border = static_cast<long double>(bits() % static_cast<unsigned>(levels.bins));
    add(static_cast<T>(static_cast<arithmetic>(lower + border * range / levels.bins)));
  }
  return samples;
}

template <class T>
class DeviceHistogramReals : public ::testing::Test {};
using real_types = ::testing::Types<__half, __nv_bfloat16, float, double>;
TYPED_TEST_SUITE(DeviceHistogramReals, real_types);

TYPED_TEST(DeviceHistogramReals, no_levels_are_too_far_apart_or_too_close) {
  using T = TypeParam;
  std::mt19937_64 bits = strata_test::random_bits(21);
  const std::int64_t most = infinity_position<T> - 1, one = position_of(static_cast<T>(1.0f));
  std::vector<std::pair<std::int64_t, std::int64_t>> levels = {{-most, most},
                                                               {0, most},
                                                               {-most, 0},
                                                               {0, 1},
                                                               {-1, 1},
                                                               {0, 5},
                                                               {most - 1, most},
                                                               {-one, one},
                                                               {one, one + 1},
                                                               {one - 1, one + 2},
                                                               {0, mantissa_values<T>},
                                                               {-mantissa_values<T>, most}};
  for (int run = 0; run < if_small(60, 300); ++run) {
    const auto any = [&] { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most)); };
    const std::int64_t lower = any() - any();
    levels.emplace_back(lower, std::min(most, lower + 1 + static_cast<std::int64_t>(bits() >> (1 + bits() % 63))));
    levels.emplace_back(-any(), any() + 1);
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int bins[] = {1, 2, 3, 10, 256, 3000, 70001};
    even_levels<T> some{number_at<T>(levels[i].first), number_at<T>(levels[i].second), bins[i % 7]};
    expect_bins(samples_around(some, if_small(300u, 20000u), bits), some);
  }
}

/// Returns the bins of up to 12 samples. Sample i occurs 2^i times, so the bits of a count tell which samples are in a
/// bin.
template <class T>
std::vector<std::int64_t> found_bins(const std::vector<T>& samples, const even_levels<T>& levels) {
  std::vector<T> repeated;
  for (std::size_t i = 0; i < samples.size(); ++i) repeated.insert(repeated.end(), std::size_t{1} << i, samples[i]);
  const std::vector<unsigned> found = histogram(repeated, levels);
  std::vector<std::int64_t> bins(samples.size(), -1);
  for (std::size_t bin = 0; bin < found.size(); ++bin) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if ((found[bin] >> i & 1) != 0) bins[i] = static_cast<std::int64_t>(bin);
    }
  }
  return bins;
}

TYPED_TEST(DeviceHistogramReals, neighbouring_numbers_have_bins_in_their_order) {
  using T = TypeParam;
  std::mt19937_64 bits = strata_test::random_bits(22);
  const auto real = [](double x) { return static_cast<T>(static_cast<float>(x)); };
  const even_levels<T> all[] = {{real(0), real(1), 10},
                                {real(-1), real(3), 7},
                                {real(0.001), real(0.0017), 100},
                                {real(-60000), real(65000), 3000},
                                {real(-3e-7), real(2e-6), 33}};
  for (const even_levels<T>& levels : all) {
    for (int run = 0; run < if_small(10, 50); ++run) {
      const long double range = exact(levels.upper) - exact(levels.lower);
      const auto border = static_cast<float>(exact(levels.lower) +
                                             static_cast<long double>(bits() % static_cast<unsigned>(levels.bins + 1)) *
                                                 range / levels.bins);
      std::vector<T> samples;
      for (int i = -6; i < 6; ++i) samples.push_back(number_at<T>(position_of(static_cast<T>(border)) + i));
      const std::vector<std::int64_t> found = found_bins(samples, levels);
      std::int64_t last = 0;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const bin_range expected = bins_of(samples[i], levels);
        ASSERT_TRUE(expected.first <= found[i] && found[i] <= expected.last) << found[i] << ", " << expected.first;
        if (found[i] < 0) continue;
        ASSERT_GE(found[i], last);
        last = found[i];
      }
    }
  }
}

TYPED_TEST(DeviceHistogramReals, a_level_between_bins_of_a_power_of_two_begins_a_bin) {
  using T = TypeParam;
  const auto real = [](double x) { return static_cast<T>(static_cast<float>(x)); };
  const even_levels<T> levels{real(-2), real(2), 128};
  std::vector<std::int64_t> expected(12);
  std::vector<T> samples;
  for (int i = 0; i < 12; ++i) {
    expected[static_cast<std::size_t>(i)] = i * 11 < 128 ? i * 11 : -1;
    samples.push_back(real(-2 + i * 11 / 32.0));
  }
  samples[11] = levels.upper;
  expected[11] = -1;
  EXPECT_EQ(expected, found_bins(samples, levels));
}

TYPED_TEST(DeviceHistogramReals, numbers_outside_infinities_and_nans_are_not_counted) {
  using T = TypeParam;
  constexpr auto infinity = static_cast<bits_of<T>>(infinity_position<T>);
  const std::int64_t most = infinity_position<T> - 1;
  const std::vector<T> samples = {from_bits<T>(infinity),
                                  from_bits<T>(static_cast<bits_of<T>>(infinity | sign_bit<T>)),
                                  from_bits<T>(static_cast<bits_of<T>>(infinity + 1)),
                                  from_bits<T>(static_cast<bits_of<T>>(~bits_of<T>{0})),
                                  number_at<T>(-most),
                                  from_bits<T>(sign_bit<T>),
                                  number_at<T>(0),
                                  number_at<T>(1),
                                  number_at<T>(most)};
  const std::int64_t no = -1;
  EXPECT_EQ((std::vector<std::int64_t>{no, no, no, no, 0, 2, 2, 2, no}),
            found_bins(samples, {number_at<T>(-most), number_at<T>(most), 4}));
  EXPECT_EQ((std::vector<std::int64_t>{no, no, no, no, no, 0, 0, 0, no}),
            found_bins(samples, {number_at<T>(0), number_at<T>(most), 4}));
}

TYPED_TEST(DeviceHistogramReals, levels_that_are_no_finite_numbers_are_refused) {
  using T = TypeParam;
  constexpr auto infinity = static_cast<bits_of<T>>(infinity_position<T>);
  const T inf = from_bits<T>(infinity), minus_inf = from_bits<T>(static_cast<bits_of<T>>(infinity | sign_bit<T>)),
          nan = from_bits<T>(static_cast<bits_of<T>>(infinity + 1)), zero = number_at<T>(0), one = static_cast<T>(1.0f);
  const device_vector<T> in(std::vector<T>(10, one));
  device_vector<int> out(std::vector<int>(4, 77));
  const std::pair<T, T> refused[] = {{zero, inf}, {minus_inf, zero}, {minus_inf, inf}, {inf, inf},
                                     {nan, one},  {zero, nan},       {nan, nan},       {inf, zero}};
  for (const auto& levels : refused) {
    std::size_t bytes = 1000;
    EXPECT_EQ(cudaErrorInvalidValue, DeviceHistogram::HistogramEven(nullptr, bytes, in.data(), out.data(), 5,
                                                                    levels.first, levels.second, 10));
    EXPECT_EQ(1u, bytes);
    EXPECT_EQ(cudaErrorInvalidValue,
              DeviceHistogram::HistogramEven(in.data(), out.data(), 5, levels.first, levels.second, 10));
    int* const two[2] = {out.data(), out.data() + 2};
    const int num_levels[2] = {3, 3};
    const T lower[2] = {zero, levels.first}, upper[2] = {one, levels.second};
    EXPECT_EQ(cudaErrorInvalidValue,
              (DeviceHistogram::MultiHistogramEven<2, 2>(in.data(), two, num_levels, lower, upper, 5)));
  }
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(std::vector<int>(4, 77), out.to_host());
}

TEST(device_histogram_reals, levels_of_another_type_than_samples) {
  const std::vector<float> numbers = {0.0f, 0.125f, 0.25f, 0.5f, 0.75f, 0.9375f, 1.0f, -0.5f};
  std::vector<__half> halves;
  std::vector<__nv_bfloat16> short_floats;
  for (const float number : numbers) {
    halves.push_back(static_cast<__half>(number));
    short_floats.push_back(static_cast<__nv_bfloat16>(number));
  }
  const device_vector<float> in(numbers);
  const device_vector<__half> half_in(halves);
  const device_vector<__nv_bfloat16> short_in(short_floats);
  device_vector<int> counts(4);
  const auto expect = [&](const auto& samples, auto lower, auto upper) {
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::DeviceHistogram::HistogramEven(storage, bytes, samples.data(), counts.data(), 5, lower, upper, 8);
    }));
    EXPECT_EQ((std::vector<int>{2, 1, 1, 2}), counts.to_host());
  };
  expect(half_in, 0.0f, 1.0f);
  expect(half_in, 0.0, 1.0);
  expect(half_in, 0, 1);
  expect(short_in, 0.0f, 1.0f);
  expect(in, static_cast<__half>(0.0f), static_cast<__half>(1.0f));
}

TEST(device_histogram_reals, channels_have_levels_of_their_own) {
  const auto half = [](float x) { return static_cast<__half>(x); };
  const std::vector<__half> samples = {half(30000), half(5e-4f), half(-40000), half(-1e-3f), half(40000), half(1e-3f)};
  const device_vector<__half> in(samples);
  device_vector<int> out(266);
  int* const bins[2] = {out.data(), out.data() + 10};
  const int num_levels[2] = {11, 257};
  const __half lower[2] = {half(-40000), half(-1e-3f)}, upper[2] = {half(40000), half(1e-3f)};
  ASSERT_CUDA_SUCCESS(in_one_phase(
      [&] { return DeviceHistogram::MultiHistogramEven<2, 2>(in.data(), bins, num_levels, lower, upper, 3); }));
  std::vector<int> expected(266);
  expected[8] = expected[0] = expected[10 + 192] = expected[10] = 1;
  EXPECT_EQ(expected, out.to_host());
}

// ------------------------------------------------------------------ ranges

template <class Sample, class Level>
std::vector<int> ranges(const std::vector<Sample>& samples, const std::vector<Level>& levels) {
  const device_vector<Sample> in(samples);
  const device_vector<Level> d_levels(levels);
  const int num_levels = static_cast<int>(levels.size());
  return results_of<int>(num_levels - 1, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramRange(storage, bytes, in.data(), out, num_levels, d_levels.data(), samples.size());
  });
}

template <class Sample, class Level>
void expect_ranges_of_integers() {
  using limits = std::numeric_limits<Level>;
  using real = std::conditional_t<std::is_same_v<Sample, double>, double, float>;
  const auto inf = std::numeric_limits<real>::infinity();
  const auto beyond = static_cast<real>(limits::max() / 2 + 1) * 2;
  std::vector<Sample> samples;
  for (const real x : {inf, -inf, std::numeric_limits<real>::quiet_NaN(), beyond, -beyond - beyond / 8, -beyond,
                       real{0}, real{-0.5}, real{99.5}, real{100}}) {
    samples.push_back(static_cast<Sample>(x));
  }
  const std::vector<Level> levels = {limits::min(), 0, 100, limits::max()};
  EXPECT_EQ((std::vector<int>{1, 3, 1}), ranges(samples, levels));  // -0.5 becomes 0.
}

TEST(device_histogram_reals, samples_that_no_level_can_be_are_in_no_range) {
  expect_ranges_of_integers<float, std::int32_t>();
  expect_ranges_of_integers<double, std::int32_t>();
  expect_ranges_of_integers<float, std::int64_t>();
  expect_ranges_of_integers<double, std::int64_t>();
  expect_ranges_of_integers<float, std::int8_t>();
  expect_ranges_of_integers<__nv_bfloat16, std::int16_t>();
  expect_ranges_of_integers<__half, std::int8_t>();
  // Samples at and next to the lowest and the largest level.
  const std::vector<double> samples = {-2147483648.5, -2147483649.0, -2147483648.0, 2147483646.5, 2147483647.0};
  const int lowest = std::numeric_limits<int>::min(), largest = std::numeric_limits<int>::max();
  EXPECT_EQ((std::vector<int>{2, 1}), ranges(samples, std::vector<int>{lowest, 0, largest}));
}

TEST(device_histogram_reals, nans_among_levels_cost_no_other_memory) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> samples = random_reals<float>(1000, -1, 5, 3);
  for (const std::vector<float>& levels : {std::vector<float>{nan, nan, nan}, std::vector<float>{0, nan, 2, 3},
                                           std::vector<float>{nan, 1, 2}, std::vector<float>{0, 1, nan}}) {
    const std::vector<int> found = ranges(samples, levels);  // guard bands show writes elsewhere
    EXPECT_LE(std::accumulate(found.begin(), found.end(), 0), 1000);
  }
}

TYPED_TEST(DeviceHistogramReals, ranges_take_infinities_and_no_nans) {
  using T = TypeParam;
  constexpr auto infinity = static_cast<bits_of<T>>(infinity_position<T>);
  const T inf = from_bits<T>(infinity), minus_inf = from_bits<T>(static_cast<bits_of<T>>(infinity | sign_bit<T>)),
          nan = from_bits<T>(static_cast<bits_of<T>>(infinity + 1)), zero = number_at<T>(0), one = static_cast<T>(1.0f);
  const std::vector<T> samples = {minus_inf,
                                  minus_inf,
                                  number_at<T>(-1),
                                  nan,
                                  nan,
                                  from_bits<T>(sign_bit<T>),
                                  zero,
                                  number_at<T>(infinity_position<T> - 1),
                                  one,
                                  inf};
  EXPECT_EQ((std::vector<int>{3, 2, 2}), ranges(samples, std::vector<T>{minus_inf, zero, one, inf}));
}

}  // namespace

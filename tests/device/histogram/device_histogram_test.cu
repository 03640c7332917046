// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHistogram counts the samples in each bin, and writes nothing else.
#include <strata/device/device_histogram.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceHistogram;

// ------------------------------------------------------------------ sequential histograms

/// The bin of a sample among even bins, or -1. Integers are computed in 128 bits.
template <class Sample, class Level>
std::int64_t even_bin(const Sample& sample, const Level& lower, const Level& upper, int bins) {
  using common = std::common_type_t<Level, Sample>;
  const auto x = static_cast<common>(sample);
  const auto low = static_cast<common>(lower), high = static_cast<common>(upper);
  if (!(x >= low && x < high)) return -1;
  if constexpr (std::is_integral_v<common>) {
    __extension__ using wide = __int128;
    return static_cast<std::int64_t>((static_cast<wide>(x) - static_cast<wide>(low)) * bins /
                                     (static_cast<wide>(high) - static_cast<wide>(low)));
  } else {
    const auto scale = static_cast<common>(bins) / (high - low);
    return std::min(static_cast<std::int64_t>((x - low) * scale), std::int64_t{bins} - 1);
  }
}

template <class Sample, class Level>
std::int64_t range_bin(const Sample& sample, const std::vector<Level>& levels) {
  const auto x = static_cast<Level>(sample);
  return std::upper_bound(levels.begin(), levels.end(), x) - levels.begin() - 1;
}

/// `rows` rows of `row_pixels` pixels each, `stride` samples apart.
struct region {
  std::int64_t row_pixels;
  std::int64_t rows = 1;
  std::int64_t stride = 0;
};

template <class Counter, class Sample, class Bin>
std::vector<Counter> counts(const std::vector<Sample>& samples, int bins, const region& where, int channels,
                            int channel, const Bin& bin_of) {
  std::vector<Counter> result(static_cast<std::size_t>(bins));
  for (std::int64_t row = 0; row < where.rows; ++row) {
    for (std::int64_t pixel = 0; pixel < where.row_pixels; ++pixel) {
      const std::int64_t bin =
          bin_of(samples[static_cast<std::size_t>(row * where.stride + pixel * channels + channel)]);
      if (bin >= 0 && bin < bins) ++result[static_cast<std::size_t>(bin)];
    }
  }
  return result;
}

// ------------------------------------------------------------------ one channel

template <class Sample, class Level, class Counter = int>
struct kinds {
  using sample = Sample;
  using level = Level;
  using counter = Counter;
};

/// Samples in and outside of the bins, also at edges of bins.
template <class Sample>
std::vector<Sample> mixed_samples(std::size_t count, double low, double high) {
  std::vector<Sample> samples = random_reals<Sample>(count, low, high, 3);
  for (std::size_t i = 0; i < count; i += 5) samples[i] = static_cast<Sample>(static_cast<long long>(samples[i]));
  return samples;
}

template <class Kinds>
class DeviceHistogramTypes : public ::testing::Test {};
using type_kinds =
    ::testing::Types<kinds<std::uint8_t, int>, kinds<std::int8_t, int, unsigned>, kinds<std::uint8_t, float>,
                     kinds<std::int16_t, std::int16_t>, kinds<std::int32_t, std::int32_t, long long>,
                     kinds<std::uint32_t, std::uint64_t, unsigned long long>, kinds<std::int64_t, std::int32_t>,
                     kinds<float, float>, kinds<double, double, unsigned long>, kinds<float, int>, kinds<int, double>>;
TYPED_TEST_SUITE(DeviceHistogramTypes, type_kinds);

TYPED_TEST(DeviceHistogramTypes, bins_are_those_of_a_sequential_count) {
  using sample = typename TypeParam::sample;
  using level = typename TypeParam::level;
  using counter = typename TypeParam::counter;
  const double low = std::is_signed_v<sample> ? -100 : 0, high = 120;
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<sample> samples = mixed_samples<sample>(lengths.back(), low, high);
  const device_vector<sample> in(samples);
  const auto lower = static_cast<level>(std::is_signed_v<sample> && std::is_signed_v<level> ? -77 : 3);
  const auto upper = static_cast<level>(111);
  for (const std::size_t length : lengths) {
    if (is_small() && length > 200 && length % 2 == 0) continue;
    SCOPED_TRACE(length);
    const region where{static_cast<std::int64_t>(length)};
    for (const int bins : {1, 7, 256, 1000}) {
      if (length > 100 && length < lengths.back() && bins != 7) continue;
      SCOPED_TRACE(bins);
      const auto even = results_of<counter>(bins, [&](counter* out, void* storage, std::size_t& bytes) {
        return DeviceHistogram::HistogramEven(storage, bytes, in.data(), out, bins + 1, lower, upper, length);
      });
      ASSERT_EQ(counts<counter>(samples, bins, where, 1, 0, [&](sample x) { return even_bin(x, lower, upper, bins); }),
                even);

      std::vector<level> levels;
      for (int i = 0; i <= bins; ++i)
        levels.push_back(
            static_cast<level>(lower + (upper - lower) * static_cast<level>(i * i / bins) / static_cast<level>(bins)));
      const device_vector<level> d_levels(levels);
      const auto ranges = results_of<counter>(bins, [&](counter* out, void* storage, std::size_t& bytes) {
        return DeviceHistogram::HistogramRange(storage, bytes, in.data(), out, bins + 1, d_levels.data(), length);
      });
      ASSERT_EQ(counts<counter>(samples, bins, where, 1, 0, [&](sample x) { return range_bin(x, levels); }), ranges);
    }
  }
}

/// Compares a histogram of even bins from `lower` to `upper` with a sequential one.
template <class Sample, class Level>
void expect_even(const std::vector<Sample>& samples, int bins, Level lower, Level upper) {
  SCOPED_TRACE(bins);
  const device_vector<Sample> in(samples);
  const auto found = results_of<unsigned>(bins, [&](unsigned* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, in.data(), out, bins + 1, lower, upper, samples.size());
  });
  const region all{static_cast<std::int64_t>(samples.size())};
  ASSERT_EQ(counts<unsigned>(samples, bins, all, 1, 0, [&](Sample x) { return even_bin(x, lower, upper, bins); }),
            found);
}

/// Samples of random bits, and values next to the edges of bins.
template <class T>
void expect_exact_bins(T lower, T upper, int bins) {
  std::mt19937_64 bits = strata_test::random_bits(11);
  const auto before = [](T x) { return static_cast<T>(static_cast<std::uint64_t>(x) - 1); };
  std::vector<T> samples = {
      std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), lower, upper, before(upper), before(lower)};
  __extension__ using wide = __int128;
  const wide range = static_cast<wide>(upper) - static_cast<wide>(lower);
  for (int i = 0; i < if_small(500, 3000); ++i) {
    samples.push_back(static_cast<T>(bits()));
    const wide bin = static_cast<wide>(bits() % static_cast<unsigned>(bins));
    const auto edge = static_cast<std::uint64_t>(static_cast<wide>(lower) + bin * range / bins);
    for (const int d : {-1, 0, 1}) samples.push_back(static_cast<T>(edge + static_cast<std::uint64_t>(d)));
  }
  expect_even(samples, bins, lower, upper);
}

TEST(device_histogram, even_bins_of_integers_are_exact) {
  for (const int bins : if_small(std::vector<int>{1, 3, 256}, std::vector<int>{1, 2, 3, 255, 256, 1000, 4097})) {
    expect_exact_bins<std::int32_t>(0, 1000, bins);
    expect_exact_bins<std::int32_t>(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), bins);
    expect_exact_bins<std::int32_t>(-2000000000, 2000000001, bins);
    expect_exact_bins<std::uint32_t>(1, 0xffffffffu, bins);
    expect_exact_bins<std::int16_t>(-32768, 32767, bins);
    expect_exact_bins<std::uint16_t>(0, 65535, bins);
    expect_exact_bins<std::int64_t>(-1000000007ll * 1000003, 1000000007ll * 999983, bins);
    expect_exact_bins<std::uint64_t>(5, 6, bins);
    const std::uint64_t most = ~std::uint64_t{0} / static_cast<unsigned>(bins);
    expect_exact_bins<std::uint64_t>(3, 3 + (bins == 1 ? most - 3 : most), bins);
  }
  // Ranges of a few values, with fewer bins than values and with more.
  std::vector<std::int8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), static_cast<std::int8_t>(-128));
  std::vector<int> words(bytes.begin(), bytes.end());
  for (const int range : {1, 2, 3, 5, 7, 8, 100, 127}) {
    for (const int bins : {1, 2, 3, 7, 8, 64, 101, 300}) {
      expect_even(bytes, bins, std::int8_t{-3}, static_cast<std::int8_t>(range - 3));
      expect_even(words, bins, -3, range - 3);
    }
  }
}

TEST(device_histogram, products_beyond_64_bits_are_refused) {
  std::uint64_t sample = 0;
  unsigned counter = 0;
  std::size_t bytes = 0;
  const auto query = [&](std::uint64_t lower, std::uint64_t upper, int bins) {
    return DeviceHistogram::HistogramEven(nullptr, bytes, &sample, &counter, bins + 1, lower, upper, 1);
  };
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(cudaSuccess, query(0, most, 1));
  EXPECT_EQ(cudaSuccess, query(1, 1 + most / 3, 3));
  EXPECT_EQ(cudaErrorInvalidValue, query(0, 1 + most / 3, 3));
  // A refused size query sets the size to 1, as CUB's does.
  bytes = 12345;
  EXPECT_EQ(cudaErrorInvalidValue, query(0, most, 2));
  EXPECT_EQ(1u, bytes);
}

TEST(device_histogram, nothing_is_counted_between_levels_without_samples) {
  const std::vector<int> samples = {1, 2, 3, 4, 5};
  expect_even(samples, 4, 3, 3);
  expect_even(samples, 4, 5, 1);
  expect_even(samples, 4, 5.0f, 1.0f);
}

TEST(device_histogram, floating_point_specials_are_counted_where_they_compare) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> samples = {-inf, inf, nan, -0.0f, 0.0f, 1.0f, 0.99999994f, 0.5f, -1e-30f, 1e-45f};
  expect_even(samples, 4, 0.0f, 1.0f);
  expect_even(samples, 10, 0.0f, 1.0f);
  const std::vector<float> levels = {-inf, 0.0f, 0.5f, inf};
  const device_vector<float> in(samples), d_levels(levels);
  const auto found = results_of<int>(3, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramRange(storage, bytes, in.data(), out, 4, d_levels.data(), samples.size());
  });
  EXPECT_EQ((std::vector<int>{2, 3, 3}), found);
}

// ------------------------------------------------------------------ numbers of bins, distributions

TEST(device_histogram, any_number_of_bins) {
  const std::size_t length = if_small(8000u, 300000u);
  for (const int bins : {1, 2, 31, 33, 1023, 8191, 65536, if_small(70000, 1000003)}) {
    for (const int spread : {1, 3, bins}) {
      SCOPED_TRACE(spread);
      std::vector<int> samples = random_integers<int>(length, 0, spread - 1, 7);
      for (std::size_t i = 0; i < length; i += 3) samples[i] = samples[0];
      samples[length / 2] = -1;
      samples[length / 3] = bins;
      expect_even(samples, bins, 0, bins);
      if (bins > 100000 && spread == 3) {
        std::vector<int> levels(static_cast<std::size_t>(bins) + 1);
        std::iota(levels.begin(), levels.end(), 0);
        const device_vector<int> in(samples), d_levels(levels);
        const auto found = results_of<int>(bins, [&](int* out, void* storage, std::size_t& bytes) {
          return DeviceHistogram::HistogramRange(storage, bytes, in.data(), out, bins + 1, d_levels.data(), length);
        });
        ASSERT_EQ(counts<int>(samples, bins, {static_cast<std::int64_t>(length)}, 1, 0,
                              [&](int x) { return range_bin(x, levels); }),
                  found);
      }
    }
  }
}

TEST(device_histogram, counters_of_64_bits) {
  const std::vector<std::uint8_t> samples(5000, 9);
  const device_vector<std::uint8_t> in(samples);
  const auto found =
      results_of<unsigned long long>(20, [&](unsigned long long* out, void* storage, std::size_t& bytes) {
        return DeviceHistogram::HistogramEven(storage, bytes, in.data(), out, 21, 0, 20, samples.size());
      });
  std::vector<unsigned long long> expected(20);
  expected[9] = 5000;
  EXPECT_EQ(expected, found);
}

// ------------------------------------------------------------------ iterators, alignment

TEST(device_histogram, any_iterator) {
  const std::size_t length = 10007;
  const auto even = results_of<int>(10, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, counting<std::int64_t>(5), out, 11, 0, 100, length);
  });
  EXPECT_EQ((std::vector<int>{5, 10, 10, 10, 10, 10, 10, 10, 10, 10}), even);
  const auto bytes_counted = results_of<int>(2, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, constant<std::uint8_t>(200), out, 3, 100, 300, length);
  });
  EXPECT_EQ((std::vector<int>{0, static_cast<int>(length)}), bytes_counted);
  const std::vector<std::uint8_t> samples = random_integers<std::uint8_t>(length, 0, 255);
  const device_vector<std::uint8_t> in(samples);
  const auto proxies = results_of<int>(256, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, by_proxies<const std::uint8_t>(in.data()), out, 257, 0, 256,
                                          length);
  });
  EXPECT_EQ(counts<int>(samples, 256, {static_cast<std::int64_t>(length)}, 1, 0, [](std::uint8_t x) { return x; }),
            proxies);
}

template <class T>
void expect_any_alignment() {
  const std::int64_t length = 3001;
  const std::vector<T> samples = random_integers<T>(static_cast<std::size_t>(length) + 16, 0, 99);
  const device_vector<T> in(samples);
  for (std::int64_t skipped = 0; skipped < 16; ++skipped) {
    for (const std::int64_t left : {std::int64_t{0}, std::int64_t{1}, std::int64_t{17}, length}) {
      const std::vector<T> part(samples.begin() + skipped, samples.end());
      const auto found = results_of<int>(100, [&](int* out, void* storage, std::size_t& bytes) {
        return DeviceHistogram::HistogramEven(storage, bytes, in.data() + skipped, out, 101, 0, 100, left);
      });
      ASSERT_EQ(counts<int>(part, 100, {left}, 1, 0, [](T x) { return static_cast<std::int64_t>(x); }), found)
          << skipped << " " << left;
    }
  }
}

TEST(device_histogram, samples_at_any_address) {
  expect_any_alignment<std::uint8_t>();
  expect_any_alignment<std::int16_t>();
  expect_any_alignment<std::int32_t>();
  expect_any_alignment<double>();
}

// ------------------------------------------------------------------ several channels, regions

/// Compares all channels of a region with sequential histograms, by even bins and by ranges. Each channel has its own
/// number of bins.
template <int Channels, int Active, class Sample>
void expect_channels(const region& where, std::int64_t skipped, const std::array<int, Active>& bins) {
  SCOPED_TRACE(std::to_string(Channels) + " channels, " + std::to_string(where.row_pixels) + " x " +
               std::to_string(where.rows) + ", stride " + std::to_string(where.stride) + ", from " +
               std::to_string(skipped));
  const std::int64_t all = (where.rows - 1) * where.stride + where.row_pixels * Channels;
  const std::vector<Sample> memory = random_integers<Sample>(static_cast<std::size_t>(all + skipped), 0, 110, 5);
  const device_vector<Sample> in(memory);
  const std::vector<Sample> samples(memory.begin() + skipped, memory.end());
  const Sample* const first = in.data() + skipped;

  std::vector<device_vector<unsigned>*> outs;
  std::array<unsigned*, Active> histograms;
  std::array<int, Active> num_levels, lower, upper;
  std::vector<std::vector<int>> levels;
  std::vector<device_vector<int>*> d_levels;
  std::array<const int*, Active> level_pointers;
  for (int c = 0; c < Active; ++c) {
    const auto i = static_cast<std::size_t>(c);
    outs.push_back(new device_vector<unsigned>(static_cast<std::size_t>(bins[i])));
    histograms[i] = outs.back()->data();
    num_levels[i] = bins[i] + 1;
    lower[i] = c;
    upper[i] = 100 + c;
    std::vector<int> some;
    for (int l = 0; l <= bins[i]; ++l) some.push_back(c + l * 100 / bins[i]);
    levels.push_back(some);
    d_levels.push_back(new device_vector<int>(some));
    level_pointers[i] = d_levels.back()->data();
  }
  const auto expect = [&](const auto& bin_of) {
    for (int c = 0; c < Active; ++c) {
      const auto i = static_cast<std::size_t>(c);
      ASSERT_EQ(counts<unsigned>(samples, bins[i], where, Channels, c, [&](Sample x) { return bin_of(x, i); }),
                outs[i]->to_host())
          << "channel " << c;
      outs[i]->poison();
    }
  };
  const auto even = [&](Sample x, std::size_t c) { return even_bin(x, lower[c], upper[c], bins[c]); };
  const auto range = [&](Sample x, std::size_t c) { return range_bin(x, levels[c]); };
  const std::size_t stride = static_cast<std::size_t>(where.stride) * sizeof(Sample);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHistogram::MultiHistogramEven<Channels, Active>(storage, bytes, first, histograms, num_levels, lower,
                                                                 upper, where.row_pixels, where.rows, stride);
  }));
  expect(even);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHistogram::MultiHistogramRange<Channels, Active>(storage, bytes, first, histograms.data(),
                                                                  num_levels.data(), level_pointers.data(),
                                                                  where.row_pixels, where.rows, stride);
  }));
  expect(range);
  if (where.rows == 1) {
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceHistogram::MultiHistogramEven<Channels, Active>(
          storage, bytes, first, histograms.data(), num_levels.data(), lower.data(), upper.data(), where.row_pixels);
    }));
    expect(even);
    ASSERT_CUDA_SUCCESS(in_one_phase([&] {
      return DeviceHistogram::MultiHistogramRange<Channels, Active>(first, histograms, num_levels, level_pointers,
                                                                    where.row_pixels, cudaStream_t{});
    }));
    expect(range);
  }
  for (auto* each : outs) delete each;
  for (auto* each : d_levels) delete each;
}

template <int Channels, int Active, class Sample>
void expect_regions(const std::array<int, Active>& bins) {
  for (const std::int64_t pixels : {1, 5, 700, if_small(3000, 30000)}) {
    for (const std::int64_t skipped : {0, 1, 4}) expect_channels<Channels, Active, Sample>({pixels}, skipped, bins);
  }
  for (const std::int64_t gap : if_small(std::vector<std::int64_t>{1}, std::vector<std::int64_t>{0, 1, 16})) {
    const auto stride = [&](std::int64_t pixels) { return pixels * Channels + gap; };
    expect_channels<Channels, Active, Sample>({3, 100, stride(3)}, 0, bins);
    expect_channels<Channels, Active, Sample>({37, 41, stride(37)}, 1, bins);
    expect_channels<Channels, Active, Sample>({2100, 3, stride(2100)}, 2, bins);
  }
  // Rows that overlap.
  expect_channels<Channels, Active, Sample>({20, 30, 7}, 0, bins);
}

TEST(device_histogram, each_channel_has_its_histogram) {
  expect_regions<1, 1, std::uint8_t>({50});
  expect_regions<2, 1, std::uint8_t>({50});
  expect_regions<3, 3, std::uint8_t>({256, 10, 100});
  expect_regions<4, 3, std::uint8_t>({256, 10, 100});
  expect_regions<3, 2, std::int16_t>({7, 300});
  expect_regions<1, 1, float>({99});
  expect_regions<2, 2, float>({99, 1});
  expect_regions<4, 4, double>({1, 2, 3, 4});
  expect_regions<3, 3, std::int32_t>({100, 70000, 5});
  expect_regions<4, 1, std::int32_t>({70000});
}

TEST(device_histogram, regions_of_one_channel) {
  const std::vector<float> samples = random_reals<float>(7 * 1000, 0, 1);
  const device_vector<float> in(samples), levels(std::vector<float>{0, 0.25f, 0.5f, 1});
  const region where{5, 1000, 7};
  const auto even = results_of<int>(3, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramEven(storage, bytes, in.data(), out, 4, 0.0f, 1.0f, 5, 1000, std::size_t{28});
  });
  EXPECT_EQ(counts<int>(samples, 3, where, 1, 0, [](float x) { return even_bin(x, 0.0f, 1.0f, 3); }), even);
  const auto range = results_of<int>(3, [&](int* out, void* storage, std::size_t& bytes) {
    return DeviceHistogram::HistogramRange(storage, bytes, in.data(), out, 4, levels.data(), 5, 1000, std::size_t{28});
  });
  EXPECT_EQ(counts<int>(samples, 3, where, 1, 0,
                        [](float x) {
                          return range_bin(x, std::vector<float>{0, 0.25f, 0.5f, 1});
                        }),
            range);
}

TEST(device_histogram, histograms_may_lie_between_rows_and_nowhere_else_in_samples) {
  device_vector<int> memory(std::vector<int>(400, 1));
  const auto call = [&](int at, int bins) {
    return DeviceHistogram::HistogramEven(memory.data(), memory.data() + at, bins + 1, 0, 2, 30, 10, std::size_t{160});
  };
  EXPECT_CUDA_SUCCESS(call(30, 10));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(300, memory.to_host()[35]);
  EXPECT_EQ(cudaErrorInvalidValue, call(30, 11));
  EXPECT_EQ(cudaErrorInvalidValue, call(29, 2));
  EXPECT_EQ(cudaErrorInvalidValue, call(60, 2));
}

// ------------------------------------------------------------------ arguments, graphs

TEST(device_histogram, refused_arguments) {
  device_vector<int> in(std::vector<int>(100, 1)), levels(std::vector<int>{0, 1, 2});
  device_vector<int> out(8);
  std::size_t bytes = 0;
  int* const none = nullptr;
  const auto even = [&](void* storage, const int* samples, int* histogram, int num_levels, auto n, auto rows,
                        std::size_t stride) {
    bytes = 1000;
    return DeviceHistogram::HistogramEven(storage, bytes, samples, histogram, num_levels, 0, 4, n, rows, stride);
  };
  const scratch storage(1000);
  for (void* const where : {static_cast<void*>(nullptr), storage.data()}) {
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 1, 10, 1, 40));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), -7, 10, 1, 40));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 5, -1, 1, 40));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 5, 10, -1, 40));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 5, 10, 2, 42));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 5, 1ll << 33, 1ll << 33, 40));
    EXPECT_EQ(cudaErrorInvalidValue, even(where, in.data(), out.data(), 5, 10ll, 1ll << 40, std::size_t{1} << 40));
  }
  EXPECT_EQ(cudaErrorInvalidValue, even(storage.data(), none, out.data(), 5, 10, 1, 40));
  EXPECT_EQ(cudaErrorInvalidValue, even(storage.data(), in.data(), none, 5, 10, 1, 40));
  EXPECT_EQ(cudaErrorInvalidValue, even(storage.data(), in.data(), none, 5, 0, 1, 40));
  EXPECT_EQ(cudaErrorInvalidValue, even(storage.data(), in.data(), in.data() + 9, 5, 10, 1, 40));
  EXPECT_EQ(cudaSuccess, even(storage.data(), in.data(), in.data() + 10, 5, 10, 1, 40));
  const auto range = [&](int* histogram, const int* where) {
    return DeviceHistogram::HistogramRange(in.data(), histogram, 3, where, 10);
  };
  EXPECT_EQ(cudaErrorInvalidValue, range(out.data(), none));
  EXPECT_EQ(cudaErrorInvalidValue, range(levels.data() + 2, levels.data()));
  int* two[2] = {out.data(), out.data() + 2};
  const int sizes_of[2] = {4, 3}, low[2] = {0, 0}, high[2] = {9, 9};
  const auto multi = [&] { return DeviceHistogram::MultiHistogramEven<2, 2>(in.data(), two, sizes_of, low, high, 10); };
  EXPECT_EQ(cudaErrorInvalidValue, multi());
  two[1] = out.data() + 3;
  EXPECT_EQ(cudaSuccess, multi());
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
}

TEST(device_histogram, without_samples_all_bins_are_zero) {
  for (const int bins : {3, 5000}) {
    const auto found = results_of<int>(bins, [&](int* out, void* storage, std::size_t& bytes) {
      return DeviceHistogram::HistogramEven(storage, bytes, static_cast<const float*>(nullptr), out, bins + 1, 0.0f,
                                            1.0f, 0);
    });
    EXPECT_EQ(std::vector<int>(static_cast<std::size_t>(bins)), found);
  }
}

TEST(device_histogram, a_graph_counts_what_is_there_when_it_is_replayed) {
  const std::size_t length = if_small(13000u, 400000u);
  for (const int bins : {10, 70000}) {
    device_vector<int> in(length), out(static_cast<std::size_t>(bins));
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(
        DeviceHistogram::HistogramEven(nullptr, bytes, in.data(), out.data(), bins + 1, 0, bins, length));
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t where) {
      return DeviceHistogram::HistogramEven(storage.data(), bytes, in.data(), out.data(), bins + 1, 0, bins, length,
                                            where);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream where;
    for (std::uint64_t run = 0; run < 3; ++run) {
      const std::vector<int> samples = random_integers<int>(length, -1, bins, run);
      in.assign(samples);
      storage.fill(contents::random);
      recorded.replay(where);
      where.synchronize();
      ASSERT_EQ(counts<int>(samples, bins, {static_cast<std::int64_t>(length)}, 1, 0, [](int x) { return x; }),
                out.to_host());
    }
  }
}

}  // namespace

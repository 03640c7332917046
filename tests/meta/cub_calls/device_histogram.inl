// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Histograms. See calls.cuh.

inline void device_histogram(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> samples(cub_calls::numbers<int>(num_items, 1000));
  std::vector<float> host_reals;
  for (const int number : cub_calls::numbers<int>(num_items, 4000, 4)) {
    host_reals.push_back(static_cast<float>(number) * 0.25f);
  }
  const device_vector<float> reals(host_reals);
  const device_vector<unsigned char> pixels(cub_calls::numbers<unsigned char>(4 * 5000, 256, 6));
  device_vector<int> bins(64);
  all.device(
      "DeviceHistogram::HistogramEven: samples of int",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::HistogramEven(storage, bytes, samples.data(), bins.data(), 65, 0, 640, num_items);
      },
      bins);
  bins.poison();
  all.device(
      "DeviceHistogram::HistogramEven: samples of float",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::HistogramEven(storage, bytes, reals.data(), bins.data(), 65, 16.0f, 528.0f,
                                                   num_items);
      },
      bins);
  bins.poison();
  all.device(
      "DeviceHistogram::HistogramEven: rows of samples",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::HistogramEven(storage, bytes, samples.data(), bins.data(), 65, 0, 1024, 70, 100,
                                                   std::size_t{200} * sizeof(int));
      },
      bins);
  const device_vector<int> levels(std::vector<int>{0, 3, 10, 200, 201, 950});
  device_vector<int> few_bins(5);
  all.device(
      "DeviceHistogram::HistogramRange: levels",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::HistogramRange(storage, bytes, samples.data(), few_bins.data(), 6, levels.data(),
                                                    num_items);
      },
      few_bins);
  few_bins.poison();
  all.device(
      "DeviceHistogram::HistogramRange: rows of samples, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::HistogramRange(storage, bytes, samples.data(), few_bins.data(), 6, levels.data(),
                                                    70, 100, std::size_t{200} * sizeof(int), cudaStreamPerThread);
      },
      few_bins);

  device_vector<int> red(256), green(128), blue(64);
  const cuda::std::array<int*, 3> channels{red.data(), green.data(), blue.data()};
  const cuda::std::array<int, 3> num_levels{257, 129, 65};
  const cuda::std::array<int, 3> lower{0, 0, 64};
  const cuda::std::array<int, 3> upper{256, 256, 192};
  all.device(
      "DeviceHistogram::MultiHistogramEven: three of four channels",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::MultiHistogramEven<4, 3>(storage, bytes, pixels.data(), channels, num_levels,
                                                              lower, upper, 5000);
      },
      red, green, blue);
  red.poison();
  all.device(
      "DeviceHistogram::MultiHistogramEven: rows of pixels",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::MultiHistogramEven<4, 3>(storage, bytes, pixels.data(), channels, num_levels,
                                                              lower, upper, 30, 40, std::size_t{100} * 4);
      },
      red, green, blue);
  red.poison();
  int* old_channels[3] = {red.data(), green.data(), blue.data()};
  const int old_num_levels[3] = {257, 129, 65}, old_lower[3] = {0, 0, 64}, old_upper[3] = {256, 256, 192};
  all.device(
      "DeviceHistogram::MultiHistogramEven: arrays of C++",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::MultiHistogramEven<4, 3>(storage, bytes, pixels.data(), old_channels,
                                                              old_num_levels, old_lower, old_upper, 5000);
      },
      red, green, blue);

  const cuda::std::array<int*, 3> few_channels{few_bins.data(), red.data(), green.data()};
  const cuda::std::array<int, 3> few_levels{6, 4, 3};
  const cuda::std::array<const int*, 3> d_levels{levels.data(), levels.data(), levels.data()};
  red.poison();
  all.device(
      "DeviceHistogram::MultiHistogramRange: three of four channels",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::MultiHistogramRange<4, 3>(storage, bytes, pixels.data(), few_channels, few_levels,
                                                               d_levels, 5000);
      },
      few_bins, red, green);
  red.poison();
  all.device(
      "DeviceHistogram::MultiHistogramRange: rows of pixels",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceHistogram::MultiHistogramRange<4, 3>(storage, bytes, pixels.data(), few_channels, few_levels,
                                                               d_levels, 30, 40, std::size_t{100} * 4);
      },
      few_bins, red, green);
}

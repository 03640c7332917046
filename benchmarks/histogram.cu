// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceHistogram with CUB's. The necessary traffic is the samples, read once.

#include <cub/device/device_histogram.cuh>
#include <strata/device/device_histogram.cuh>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/power_law.hpp"

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using histogram = strata::DeviceHistogram;
};
struct use_cub {
  using histogram = cub::DeviceHistogram;
};

enum class distribution { uniform, constant, skewed };

/// Samples lie in [0, upper_level).
template <class T>
constexpr double upper_level = std::is_floating_point_v<T> ? 1.0
                               : sizeof(T) == 1            ? 256.0
                                                           : 0x1p30;
template <class T>
using level_of = std::conditional_t<std::is_floating_point_v<T>, T, int>;

/// A skewed sample lies in one of 4096 equal parts of the range. The frequency of the parts falls as 1 / rank.
template <class T>
__global__ void generate_samples(T* out, std::size_t size, distribution kind, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    double x = bench::random_value<double>::from(bench::random_bits(seed + i));
    if (kind == distribution::constant) x = 1.0 / 3;
    if (kind == distribution::skewed) x = (static_cast<double>(bench::power_law_rank(x, 1, 4096)) + 0.5) / 4096;
    out[i] = static_cast<T>(x * upper_level<T>);
  }
}

template <class T>
device_array<T> samples_of(std::int64_t n, distribution kind, const environment& env) {
  device_array<T> samples(static_cast<std::size_t>(n));
  const std::uint64_t seed = bench::random_bits(env.settings.seed + static_cast<std::uint64_t>(n));
  generate_samples<<<bench::detail::blocks_for(samples.size()), 256, 0, env.stream>>>(samples.data(), samples.size(),
                                                                                      kind, seed);
  bench::check(cudaGetLastError(), "generate_samples");
  return samples;
}

/// A workload whose peers run `call(library, storage, bytes, histogram, stream)`, which counts in `bins` counters.
template <class T, class Call>
workload count(const environment& env, const device_array<T>& samples, std::size_t bins, Call call) {
  const device_array<int> ours(bins), theirs(bins);
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0xa5, env.stream);
  workload work;
  work.bytes = static_cast<double>(samples.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_strata{}, storage, bytes, ours.data(), stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_cub{}, storage, bytes, theirs.data(), stream);
  }));
  work.peers.push_back(bench::copy_peer(samples.data(), samples.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
  return work;
}

template <class T>
void add_even(bench::suite& suite, const char* type, int bins, const char* name, distribution kind) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [=](const environment& env) {
      const auto in = samples_of<T>(n, kind, env);
      const auto call = [=](auto lib, void* storage, std::size_t& bytes, int* out, cudaStream_t s) {
        using histogram = typename decltype(lib)::histogram;
        const auto upper = static_cast<level_of<T>>(upper_level<T>);
        return histogram::HistogramEven(storage, bytes, in.data(), out, bins + 1, level_of<T>{0}, upper, n, s);
      };
      return count(env, in, static_cast<std::size_t>(bins), call);
    };
    suite.add({"DeviceHistogram::HistogramEven", type, "bins=" + std::to_string(bins) + " " + name, n, timing::batched,
               prepare});
  }
}

template <class T>
void add_range(bench::suite& suite, const char* type, int bins) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [=](const environment& env) {
      const auto in = samples_of<T>(n, distribution::uniform, env);
      const device_array<level_of<T>> levels(static_cast<std::size_t>(bins) + 1);
      std::vector<level_of<T>> values;
      for (int i = 0; i <= bins; ++i) values.push_back(static_cast<level_of<T>>(upper_level<T> * i / bins));
      levels.upload(values, env.stream);
      const auto call = [=](auto lib, void* storage, std::size_t& bytes, int* out, cudaStream_t s) {
        using histogram = typename decltype(lib)::histogram;
        const level_of<T>* const first = levels.data();
        return histogram::HistogramRange(storage, bytes, in.data(), out, bins + 1, first, n, s);
      };
      return count(env, in, static_cast<std::size_t>(bins), call);
    };
    suite.add({"DeviceHistogram::HistogramRange", type, "bins=" + std::to_string(bins) + " uniform", n, timing::batched,
               prepare});
  }
}

/// Counts three of four channels, with 256 bins each.
template <class T>
void add_channels(bench::suite& suite, const char* type) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;  // samples
    const auto prepare = [=](const environment& env) {
      const auto in = samples_of<T>(n, distribution::uniform, env);
      const auto call = [=](auto lib, void* storage, std::size_t& bytes, int* out, cudaStream_t s) {
        using histogram = typename decltype(lib)::histogram;
        using level = level_of<T>;
        const auto most = static_cast<level>(upper_level<T>);
        const cuda::std::array<int*, 3> outs{out, out + 256, out + 512};
        const cuda::std::array<int, 3> levels{257, 257, 257};
        const cuda::std::array<level, 3> lower{0, 0, 0}, upper{most, most, most};
        return histogram::template MultiHistogramEven<4, 3>(storage, bytes, in.data(), outs, levels, lower, upper,
                                                            n / 4, s);
      };
      return count(env, in, 3 * 256, call);
    };
    suite.add(
        {"DeviceHistogram::MultiHistogramEven", type, "bins=256 uniform channels=3/4", n, timing::batched, prepare});
  }
}

template <class T>
void add_type(bench::suite& suite, const char* type) {
  for (const int bins : {16, 256, 4096}) {
    add_even<T>(suite, type, bins, "uniform", distribution::uniform);
    add_even<T>(suite, type, bins, "constant", distribution::constant);
    add_even<T>(suite, type, bins, "skewed", distribution::skewed);
  }
}

void add_cases(bench::suite& suite) {
  add_type<std::uint8_t>(suite, "u8");
  add_type<std::int32_t>(suite, "i32");
  add_type<float>(suite, "f32");
  for (const int bins : {32768, 65536, 1 << 20}) {
    add_even<std::int32_t>(suite, "i32", bins, "uniform", distribution::uniform);
    add_even<std::int32_t>(suite, "i32", bins, "skewed", distribution::skewed);
  }
  add_range<std::int32_t>(suite, "i32", 16);
  add_range<std::int32_t>(suite, "i32", 256);
  add_range<float>(suite, "f32", 4096);
  add_channels<std::uint8_t>(suite, "u8");
  add_channels<float>(suite, "f32");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("histogram", argc, argv, add_cases); }

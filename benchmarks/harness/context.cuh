// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a reader must know to judge a figure: device, driver, toolkit, libraries, clocks, commit.

#include <cuda_runtime_api.h>
#include <cub/version.cuh>
#include <strata/version.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure.cuh"

#ifdef STRATA_BENCHMARK_CUB_VERSION
static_assert(CUB_VERSION == STRATA_BENCHMARK_CUB_VERSION,
              "The compiler found another CUB before the one in STRATA_BENCHMARK_CUB_DIR; pass the folder by -I");
#endif

#ifndef STRATA_BENCHMARK_GIT_HASH
#define STRATA_BENCHMARK_GIT_HASH "unknown"
#endif

namespace bench {

using context_entries = std::vector<std::pair<std::string, std::string>>;

/// Median GB/s, read and written, of a copy of 1 GiB: the upper bound of the device at this moment. The copy runs for
/// 0.3 s before it is measured, because the clocks of an idle device are low.
inline double copy_roof_gb_per_s(cudaStream_t stream) {
  const std::size_t bytes = std::size_t{1} << 30;
  const device_array<unsigned char> source(bytes);
  source.fill_bytes(0xa5, stream);
  const peer copy = copy_peer(source.data(), bytes);
  using clock = std::chrono::steady_clock;
  const clock::time_point awake = clock::now() + std::chrono::milliseconds(300);
  stopwatch watch;
  std::vector<double> samples;
  while (samples.size() < 15) {
    watch.start(stream);
    check(copy.call(stream), "copy");
    const double milliseconds = watch.stop(stream);
    if (clock::now() >= awake) samples.push_back(milliseconds);
  }
  return copy.own_bytes / summarize(samples).median * 1e-6;
}

/// Fields that nvidia-smi reports for this device, or "unknown" without nvidia-smi.
inline std::string ask_driver(const std::string& fields) {
  int device = 0;
  char bus_id[32] = "";
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != cudaSuccess) {
    return "unknown";
  }
  const std::string command =
      "nvidia-smi --id=" + std::string(bus_id) + " --query-gpu=" + fields + " --format=csv,noheader 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "unknown";
  char line[256] = "";
  const bool answered = std::fgets(line, sizeof line, pipe) != nullptr;
  const bool succeeded = pclose(pipe) == 0;
  std::string text = answered && succeeded ? line : "unknown";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

inline std::string dotted(int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); }

inline context_entries describe_run(const environment& env, double copy_roof) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int driver_cuda = 0;
  check(cudaDriverGetVersion(&driver_cuda), "cudaDriverGetVersion");
  const options& settings = env.settings;
  return {
      {"gpu", properties.name},
      {"gpu_sm", dotted(properties.major, properties.minor)},
      {"gpu_multiprocessors", std::to_string(properties.multiProcessorCount)},
      {"gpu_memory_mib", std::to_string(properties.totalGlobalMem >> 20)},
      {"gpu_l2_kib", std::to_string(properties.l2CacheSize >> 10)},
      {"gpu_default_clock_khz", std::to_string(device_attribute(cudaDevAttrClockRate))},
      {"gpu_default_memory_clock_khz", std::to_string(device_attribute(cudaDevAttrMemoryClockRate))},
      {"driver", ask_driver("driver_version")},
      {"driver_cuda", dotted(driver_cuda / 1000, driver_cuda % 1000 / 10)},
      {"toolkit", dotted(__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__) + "." + std::to_string(__CUDACC_VER_BUILD__)},
      {"cub", dotted(CUB_MAJOR_VERSION, CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION)},
      {"strata", dotted(STRATA_VERSION_MAJOR, STRATA_VERSION_MINOR) + "." + std::to_string(STRATA_VERSION_PATCH)},
      {"git_hash", settings.git_hash.empty() ? STRATA_BENCHMARK_GIT_HASH : settings.git_hash},
      {"samples", std::to_string(settings.samples)},
      {"sample_target_us", std::to_string(settings.target_us)},
      {"l2", settings.cold ? "cold" : "warm"},
      {"copy_1gib_gb_per_s", std::to_string(copy_roof)},
      {"clocks_sm_mem_power_temperature", ask_driver("clocks.sm,clocks.mem,power.draw,temperature.gpu")},
  };
}

}  // namespace bench

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Repeats a call under many schedules. The host back end varies the seed, the order of blocks and the number of
// resident blocks. On a GPU, a second stream keeps the device busy.
#pragma once

#include <strata/core/platform.cuh>
#include <strata/device/device_reduce.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

#if STRATA_HOST_SIMT

inline std::size_t schedules() { return if_small<std::size_t>(8, 24); }
inline std::size_t large_for_schedules() { return if_small<std::size_t>(20000, 200003); }

/// Restores the configuration of the host back end when it is destroyed.
struct configuration_guard {
  strata::simt::configuration before = strata::simt::config();
  ~configuration_guard() { strata::simt::config() = before; }
};

inline constexpr strata::simt::block_order orders[] = {
    strata::simt::block_order::ascending, strata::simt::block_order::descending, strata::simt::block_order::shuffled};

/// Calls `issue(i)` for each i below `schedules()`, each time under another schedule.
template <class Issue>
void under_all_schedules(const Issue& issue) {
  const configuration_guard guard;
  constexpr unsigned residents[] = {4, 1, 2, 16, 64};
  for (std::size_t i = 0; i < schedules(); ++i) {
    strata::simt::configuration& config = strata::simt::config();
    config.seed = i < 2 ? i : strata_test::seed() + i;
    config.order = orders[i % 3];
    config.resident_blocks = residents[i % 5];
    config.preemption = i % 2 == 0 ? 0 : 100;
    issue(i);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

#else

// Small builds on a GPU run under memory checkers, where launches are slow.
inline std::size_t schedules() { return if_small<std::size_t>(20, 1000); }
inline std::size_t large_for_schedules() { return if_small<std::size_t>(1 << 20, (1 << 22) + 3); }

template <class Issue>
void under_all_schedules(const Issue& issue) {
  const auto load_items = if_small<std::size_t>(1 << 16, 1 << 22);
  const device_vector<std::uint8_t> in(std::vector<std::uint8_t>(load_items, std::uint8_t{1}));
  device_vector<std::int64_t> out(1);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(strata::DeviceReduce::Sum(static_cast<void*>(nullptr), bytes, in.data(), out.data(), load_items));
  const scratch storage(bytes);
  const stream load;
  for (std::size_t i = 0; i < schedules(); ++i) {
    // Bursts of different lengths meet the calls at different times.
    for (std::size_t n = 0; n < i % 7; ++n) {
      ASSERT_CUDA_SUCCESS(strata::DeviceReduce::Sum(storage.data(), bytes, in.data(), out.data(),
                                                    load_items / (1 + i % 3), static_cast<cudaStream_t>(load)));
    }
    issue(i);
    if (::testing::Test::HasFatalFailure()) return;
  }
  load.synchronize();
}

#endif

}  // namespace device_test

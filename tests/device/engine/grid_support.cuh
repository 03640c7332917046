// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of include/strata/device/engine: hundreds or thousands of schedules of small launches, delays
// within a kernel, values whose bytes are known, and memory full of garbage.
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

// Not an unnamed namespace: nvcc warns of unused members there.
namespace device_test {

inline constexpr int grid_block_threads = 64;

/// A number that looks random and depends on all arguments.
STRATA_HD std::uint64_t mix(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15ull + b * 0xbf58476d1ce4e5b9ull + c * 0x94d049bb133111ebull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// A value of `Bytes` bytes.
template <int Bytes>
struct bytes_value {
  unsigned char bytes[Bytes];
};

/// The value that block `block` passes to the others. `salt` chooses the data of a call.
template <class T>
STRATA_HD T value_of(std::uint64_t salt, std::uint64_t block) {
  T value{};
  for (unsigned i = 0; i < sizeof(T); ++i) {
    value.bytes[i] = static_cast<unsigned char>(mix(salt, block, i));
  }
  return value;
}

template <class T>
STRATA_HD bool is_value_of(const T& value, std::uint64_t salt, std::uint64_t block) {
  bool is_equal = true;
  for (unsigned i = 0; i < sizeof(T); ++i) {
    is_equal = is_equal && value.bytes[i] == static_cast<unsigned char>(mix(salt, block, i));
  }
  return is_equal;
}

/// `Parts` functions x -> multiplier * x + addend. Their composition is not commutative.
template <int Parts>
struct affine {
  std::uint32_t multiplier[Parts], addend[Parts];
};
template <int Parts>
STRATA_HD bool operator==(const affine<Parts>& a, const affine<Parts>& b) {
  bool is_equal = true;
  for (int i = 0; i < Parts; ++i) {
    is_equal = is_equal && a.multiplier[i] == b.multiplier[i] && a.addend[i] == b.addend[i];
  }
  return is_equal;
}
struct one_after_the_other {
  template <int Parts>
  STRATA_HD affine<Parts> operator()(const affine<Parts>& first, const affine<Parts>& second) const {
    affine<Parts> both{};
    for (int i = 0; i < Parts; ++i) {
      both.multiplier[i] = first.multiplier[i] * second.multiplier[i];
      both.addend[i] = first.addend[i] * second.multiplier[i] + second.addend[i];
    }
    return both;
  }
};

/// The aggregate of a tile. `salt` chooses the data of a call.
template <class T>
struct aggregates {
  static STRATA_HD T of(std::uint64_t salt, std::uint64_t tile) { return static_cast<T>(mix(salt, tile)); }
};
template <int Parts>
struct aggregates<affine<Parts>> {
  static STRATA_HD affine<Parts> of(std::uint64_t salt, std::uint64_t tile) {
    affine<Parts> result{};
    for (unsigned i = 0; i < unsigned{Parts}; ++i) {
      result.multiplier[i] = static_cast<std::uint32_t>(mix(salt, tile, 2 * i)) | 1;
      result.addend[i] = static_cast<std::uint32_t>(mix(salt, tile, 2 * i + 1));
    }
    return result;
  }
};

/// Lets others overtake this thread: it waits for up to 4095 cycles, or up to 3 turns of the host back end. `schedule`
/// and `step` choose how long, often not at all.
STRATA_D void delay([[maybe_unused]] std::uint64_t schedule, [[maybe_unused]] unsigned step) {
#if STRATA_HOST_SIMT
  for (std::uint64_t turns = mix(schedule, blockIdx.x, step) % 4; turns != 0; --turns) STRATA_SPIN();
#elif STRATA_DEVICE_PASS
  const std::uint64_t choice = mix(schedule, blockIdx.x, step);
  const long long cycles = choice % 3 == 0 ? 0 : static_cast<long long>(choice >> 32 & 4095);
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
#endif
}

/// The number of blocks of a launch. Sometimes there are more blocks than run at a time.
inline unsigned grid_blocks(std::size_t schedule) {
#if STRATA_HOST_SIMT
  constexpr unsigned blocks[] = {2, 5, 1, 8, 3};
#else
  constexpr unsigned blocks[] = {2, 64, 1, 33, 8};
#endif
  return blocks[schedule % 5];
}
inline constexpr unsigned max_grid_blocks = 64;

#if STRATA_HOST_SIMT
inline void start_load(std::size_t) {}
#else
template <class>
STRATA_KERNEL void keep_busy([[maybe_unused]] std::uint64_t schedule) {
  for (unsigned step = 0; step < 16; ++step) delay(schedule, step);
}

/// Called just before a launch. On a GPU, up to two other kernels then keep some multiprocessors busy for some
/// microseconds. The functions that fill memory wait for these kernels.
inline void start_load(std::size_t schedule) {
  static const stream& load = *new stream;  // outlives the end of main()
  for (std::size_t n = 0; n < schedule % 3; ++n) {
    EXPECT_CUDA_SUCCESS(
        strata::launch({"keep_busy", dim3(100), dim3(256), 0, load}, keep_busy<void>, std::uint64_t{schedule + n}));
  }
}
#endif

/// Number of schedules of one test. Each schedule makes one or two small launches.
inline std::size_t grid_schedules() { return if_small<std::size_t>(STRATA_HOST_SIMT ? 600 : 1000, 4000); }

/// Number of host threads that may make atomic accesses at the same time. Check mode watches these accesses, which it
/// can do for one thread only.
inline std::size_t host_threads() {
#if STRATA_HOST_SIMT
  if (strata::simt::runtime_flavour() == strata::simt::flavour::check) return 1;
#endif
  return 4;
}

/// Calls `issue(i)` for each i below `grid_schedules()`. On the host back end, each call has its own seed, order of
/// blocks and number of blocks in flight, and in check mode threads are interrupted at memory accesses. On a GPU,
/// `start_load(i)` has some of these effects. The kernels' calls of `delay` add to both.
template <class Issue>
void under_grid_schedules(const Issue& issue) {
#if STRATA_HOST_SIMT
  const strata::simt::configuration before = strata::simt::config();
  constexpr unsigned preemptions[] = {0, 100, 7, 23};
#endif
  for (std::size_t i = 0; i < grid_schedules(); ++i) {
#if STRATA_HOST_SIMT
    strata::simt::configuration& config = strata::simt::config();
    config.seed = i < 2 ? i : strata_test::seed() + i;
    config.order = static_cast<strata::simt::block_order>(i % 3);
    config.resident_blocks = static_cast<unsigned>(1 + i / 3 % 6);
    config.preemption = preemptions[i % 4];
#endif
    issue(i);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "schedule " << i;
      break;
    }
  }
#if STRATA_HOST_SIMT
  strata::simt::config() = before;
#endif
}

/// Fills memory with zeros, ones or random bits, or leaves there what the last call wrote.
inline void fill_with_garbage(const scratch& memory, std::size_t schedule) {
  const std::size_t kind = schedule / 5 % 4;
  if (kind < 3) memory.fill(all_contents[kind]);
}

}  // namespace device_test

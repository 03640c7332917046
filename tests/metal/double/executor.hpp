// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs compiled kernels on the CPU with Metal's execution model. Each GPU thread is a fiber. Simd functions and
// threadgroup_barrier are meeting points.
#pragma once

#include "abi.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace msl {

constexpr int slots = 31;
constexpr std::uint32_t simd_width = 32;

struct launch {
  const kernel_desc* kernel = nullptr;
  bindings bound{};  // only buffers; each threadgroup gets threadgroup memory of its own
  std::uint32_t threadgroup_length[slots] = {};
  std::uint32_t grid[3] = {1, 1, 1};  // threads, not groups
  std::uint32_t group[3] = {1, 1, 1};
  std::uint32_t seed = 0;     // permutes threadgroups, simdgroups and lanes; 0 keeps their order
  std::uint32_t preempt = 0;  // one in `preempt` atomics switches to another GPU thread; 0 for none
  std::size_t threadgroup_memory = 32768;
  unsigned workers = 0;  // host threads; 0 for as many as the machine has
};

// Throws std::runtime_error, with kernel, line and thread, if a kernel breaks a rule. Stricter than hardware: all 32
// lanes must meet at a simd function on the same line.
void execute(const launch& what);

const runtime& services();

// Wavefronts of accesses to one array in threadgroup memory, by the model of core/bank_conflicts.hpp, and the fewest
// possible ones.
struct wavefronts {
  std::uint64_t taken = 0;
  std::uint64_t fewest = 0;
  double degree() const { return fewest == 0 ? 1.0 : static_cast<double>(taken) / static_cast<double>(fewest); }
};
struct kernel_counts {
  std::uint64_t launches = 0;
  std::uint64_t threads = 0;
  std::uint64_t device_atomics = 0;  // atomics in device memory that change something
  // For each slot, in kernels that are compiled with watching.
  std::array<wavefronts, slots> loads{};
  std::array<wavefronts, slots> stores{};
  std::array<wavefronts, slots> atomics{};
};
// Counts of all launches since the last call of reset_counts().
std::map<std::string, kernel_counts> counts();
void reset_counts();

}  // namespace msl

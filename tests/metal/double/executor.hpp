// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs compiled kernel text on the CPU with Metal's execution model: one fiber for each GPU thread;
// simd functions and threadgroup_barrier are meeting points.
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
  bindings bound{};  // buffers only; threadgroup memory is made for each group
  std::uint32_t threadgroup_length[slots] = {};
  std::uint32_t grid[3] = {1, 1, 1};  // threads, not groups
  std::uint32_t group[3] = {1, 1, 1};
  std::uint32_t seed = 0;     // permutes groups, simdgroups and lanes; 0 keeps the order
  std::uint32_t preempt = 0;  // 1 in so many atomics hands over to another thread; 0: none
  std::size_t threadgroup_memory = 32768;
  unsigned workers = 0;  // threads of the host; 0: as many as there are
};

// Throws std::runtime_error that names kernel, line and thread where the rules are broken. Stricter
// than hardware: a simd function is met by all 32 lanes at the same line, or it is an error.
void execute(const launch& what);

const runtime& services();

// Wavefronts that accesses to an array in threadgroup memory took, by the model of
// core/bank_conflicts.hpp, and how few they could have been.
struct wavefronts {
  std::uint64_t taken = 0;
  std::uint64_t fewest = 0;
  double degree() const { return fewest == 0 ? 1.0 : static_cast<double>(taken) / static_cast<double>(fewest); }
};
struct kernel_counts {
  std::uint64_t launches = 0;
  std::uint64_t threads = 0;
  std::uint64_t device_atomics = 0;  // that change something, outside threadgroup memory
  // By slots; only of text that is compiled to be watched.
  std::array<wavefronts, slots> loads{};
  std::array<wavefronts, slots> stores{};
  std::array<wavefronts, slots> atomics{};
};
// Counts of all launches since the last call of reset_counts.
std::map<std::string, kernel_counts> counts();
void reset_counts();

}  // namespace msl

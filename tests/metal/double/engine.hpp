// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs threadgroups one after the other. Each GPU thread is a fiber, which runs from meeting point to meeting point.
#pragma once

#include "executor.hpp"
#include "wavefronts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace msl {

class stack_block;

enum class state : std::uint8_t { ready, at_simd, at_barrier, done };

struct lane {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  void* tsan = nullptr;
  void* fake_stack = nullptr;
  state where = state::done;
  std::uint8_t parity = 0;
  const char* what = nullptr;
  int line = 0;
  builtins in{};
};
struct simdgroup {
  std::uint64_t slot[2][simd_width];
  std::uint32_t sum_before[2][simd_width + 1];
  std::uint32_t nonzero[2];
  std::uint32_t active[2];
};

// A host thread that runs threadgroups one after the other.
class engine {
 public:
  engine(const launch& what, unsigned worker);
  ~engine();
  engine(const engine&) = delete;

  void run_group(const std::uint32_t (&position)[3], char* memory, std::size_t memory_bytes,
                 const std::size_t* offsets);
  void begin_worker();
  void end_worker();

  simd_view exchange(std::uint64_t bits, const char* what, int line);
  void barrier(std::uint32_t flags, int line);
  void atomic_point(const volatile void* address, bool changes, int line);
  void access(const volatile void* address, unsigned bytes, access_kind kind, std::uintptr_t where);
  void lane_main();

  kernel_counts counted{};

 private:
  void reserve(std::uint32_t count);
  void make_lanes(const std::uint32_t (&position)[3], const std::uint32_t (&dim)[3]);
  bool run_simdgroup(std::uint32_t g);
  void meet(std::uint32_t g, std::uint32_t first, std::uint32_t count, std::uint32_t waiting);
  void release_barrier();
  void resume(std::uint32_t i);
  void yield();
  bool is_threadgroup_memory(const volatile void* address) const {
    const auto* p = const_cast<const char*>(static_cast<const volatile char*>(address));
    return p >= memory_ && p < memory_ + memory_bytes_;
  }
  [[noreturn]] void fail(const lane& l, const char* message) const;

  const launch& launch_;
  std::unique_ptr<stack_block> stacks_;
  bindings bound_{};
  std::vector<lane> lanes_;
  std::vector<simdgroup> simdgroups_;
  std::vector<std::uint32_t> lane_order_;
  std::vector<std::uint32_t> simdgroup_order_;
  std::vector<wavefront_trace> traces_;
  std::uint32_t lane_count_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t running_ = 0;
  void* own_stack_pointer_ = nullptr;
  void* own_tsan_ = nullptr;
  void* own_fake_stack_ = nullptr;
  const void* own_bottom_ = nullptr;
  std::size_t own_size_ = 0;
  char* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  char token_barrier_ = 0;
  char token_done_ = 0;
  char tokens_[simd_width] = {};
  std::mt19937 random_;
};

}  // namespace msl

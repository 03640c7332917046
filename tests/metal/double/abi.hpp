// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface between a compiled kernel and the executor.
#pragma once
#include <cstddef>
#include <cstdint>
namespace msl {
enum class arg_kind : uint8_t {
  buffer,
  threadgroup_memory,
  thread_position_in_grid,
  threads_per_grid,
  thread_position_in_threadgroup,
  threads_per_threadgroup,
  threadgroup_position_in_grid,
  threadgroups_per_grid,
  thread_index_in_threadgroup,
  thread_index_in_simdgroup,
  simdgroup_index_in_threadgroup,
  threads_per_simdgroup,
  simdgroups_per_threadgroup
};
struct arg_desc {
  arg_kind kind;
  uint8_t index;      // n of [[buffer(n)]] / [[threadgroup(n)]]
  bool is_const;      // device const T* / constant T&
  bool is_reference;  // constant T&
  uint32_t size, align;
};
struct builtins {  // the built-in variables of a GPU thread
  uint32_t position_in_grid[3], threads_per_grid[3];
  uint32_t position_in_threadgroup[3], threads_per_threadgroup[3];
  uint32_t threadgroup_position[3], threadgroups_per_grid[3];
  uint32_t index_in_threadgroup, index_in_simdgroup, simdgroup_index;
  uint32_t simd_width, simdgroups_per_threadgroup;
};
struct bindings {
  void* buffer[31];
  void* threadgroup[31];
};
struct kernel_desc {
  const char* name;
  void (*entry)(const bindings&, const builtins&);
  const arg_desc* args;
  size_t arg_count;
};
// The values that the lanes of a simdgroup have exchanged, and results that are computed once for all lanes.
struct simd_view {
  const uint64_t* slot;
  const uint32_t* sum_before;  // for each lane, the sum of the low words before it; at 32, the sum of all
  uint32_t nonzero;
  uint32_t active;
  uint32_t lane;
};
struct runtime {  // functions of the executor that kernels call
  simd_view (*simd_exchange)(uint64_t bits, const char* what, int line);
  void (*barrier)(uint32_t flags, int line);
  // Called before an atomic. It counts the atomic, and may switch to another GPU thread.
  void (*atomic_point)(const volatile void* address, bool changes, int line);
  // A load or store of threadgroup memory, in kernels that are compiled with watching.
  void (*threadgroup_access)(const volatile void* address, unsigned bytes, bool store, const void* where);
};
}  // namespace msl
extern "C" {
using msl_bind_fn = void(const msl::runtime*);
using msl_kernels_fn = const msl::kernel_desc* (*)(size_t);  // nullptr past the end
}

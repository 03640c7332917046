// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The joins that join_strategies compares. Each step changes one thing of the step before it.
///
/// This header is compiled twice: in namespace `timed` as it is, and in namespace `counted` with an `atomicAdd` that
/// counts (see count_additions.cu). The file that includes it defines JOIN_STRATEGIES_NAMESPACE.
#define STRATA_JOIN_BACKEND CUDA  // also of the host SIMT back end

#include "../../common/device.cuh"
#include "sides.hpp"

#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <memory>

namespace JOIN_STRATEGIES_NAMESPACE {
namespace join_strategies {

using ::join_strategies::join_arguments;
using ::join_strategies::step;

constexpr unsigned block_threads = 256;  // one row each
constexpr unsigned all_lanes = 0xffffffff;

// ---------------------------------------------------------------------------- one table, by kernels of our own

/// A slot of the table has a key in its upper half and the number of the build row in its lower half. No row has the
/// number of an empty slot.
using slot = unsigned long long;
constexpr slot empty_slot = ~slot{0};

/// The finalizer of MurmurHash3. Without it, consecutive keys would lie side by side.
STRATA_HD constexpr unsigned hash_of(unsigned key) {
  key = (key ^ key >> 16) * 0x85ebca6bu;
  key = (key ^ key >> 13) * 0xc2b2ae35u;
  return key ^ key >> 16;
}

STRATA_D unsigned row_of_thread() { return blockIdx.x * block_threads + threadIdx.x; }

/// Each row goes to the first empty slot from its hash on (linear probing). `mask` is the number of slots, a power of
/// two, minus 1.
STRATA_KERNEL void build_table(const unsigned* keys, unsigned rows, slot* table, unsigned mask) {
  const unsigned row = row_of_thread();
  if (row >= rows) return;
  const slot mine = slot{keys[row]} << 32 | row;
  unsigned at = hash_of(keys[row]) & mask;
  while (atomicCAS(&table[at], empty_slot, mine) != empty_slot) at = (at + 1) & mask;
}

/// Returns true if a build row has the key, and which row. Half of the slots are empty, so the search ends.
STRATA_D bool find(const slot* table, unsigned mask, unsigned key, unsigned& row) {
  for (unsigned at = hash_of(key) & mask; table[at] != empty_slot; at = (at + 1) & mask) {
    row = static_cast<unsigned>(table[at]);
    if (table[at] >> 32 == key) return true;
  }
  return false;
}

// Three ways to get a position for a thread's result, if it has one. All threads call them.

/// One addition for each result. The quotient is always 0, but nvcc does not know that. If it knew that all lanes of a
/// warp add to one address, it would compile this to one addition for each warp.
struct by_row {
  STRATA_D static unsigned long long position(bool has_result, unsigned long long* total) {
    return has_result ? atomicAdd(total + threadIdx.x / block_threads, 1ull) : 0;
  }
};

/// One addition for each warp.
struct by_warp {
  STRATA_D static unsigned long long position(bool has_result, unsigned long long* total) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned lanes = __ballot_sync(all_lanes, has_result);
    unsigned long long begin = 0;
    if (lane == 0 && lanes != 0) begin = atomicAdd(total, static_cast<unsigned long long>(__popc(lanes)));
    begin = __shfl_sync(all_lanes, begin, 0);
    return begin + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
  }
};

/// One addition for each block.
struct by_block {
  STRATA_D static unsigned long long position(bool has_result, unsigned long long* total) {
    using Scan = strata::BlockScan<unsigned, block_threads>;
    STRATA_SHARED(scan_storage, Scan::TempStorage);
    STRATA_SHARED(begin, unsigned long long);
    unsigned before = 0, all = 0;
    Scan(scan_storage).ExclusiveSum(has_result ? 1u : 0u, before, all);
    if (threadIdx.x == 0 && all != 0) begin = atomicAdd(total, static_cast<unsigned long long>(all));
    __syncthreads();
    return begin + before;
  }
};

template <class Way>
STRATA_KERNEL void probe_table(const unsigned* keys, unsigned rows, const slot* table, unsigned mask, int* build_out,
                               int* probe_out, unsigned long long* total) {
  const unsigned row = row_of_thread();
  unsigned partner = 0;
  const bool has_result = row < rows && find(table, mask, keys[row], partner);
  const unsigned long long position = Way::position(has_result, total);
  if (has_result) {
    build_out[position] = static_cast<int>(partner);
    probe_out[position] = static_cast<int>(row);
  }
}

// ---------------------------------------------------------------------------- all steps

/// A join that may be repeated. Keys of the build side are unique.
class joiner {
 public:
  joiner(step which, const join_arguments& join) : which_(which), join_(join) {
    if (is_of_library()) {
      example::check("DeviceHashJoin::Inner", call_library());  // asks for the number of bytes
      storage_ = std::make_unique<example::device_array<unsigned char>>(storage_bytes_);
    } else {
      while (slots_ < 2 * static_cast<std::size_t>(join.build_rows)) slots_ *= 2;
      table_ = std::make_unique<example::device_array<slot>>(slots_);
    }
  }

  /// Starts the join; does not wait for it.
  void start() {
    if (is_of_library()) return example::check("DeviceHashJoin::Inner", call_library());
    const auto mask = static_cast<unsigned>(slots_ - 1);
    slot* const table = table_->get();
    example::check("cudaMemsetAsync", cudaMemsetAsync(table, 0xff, slots_ * sizeof(slot)));
    example::check("cudaMemsetAsync", cudaMemsetAsync(join_.total, 0, sizeof(*join_.total)));
    launch("build_table", build_table, join_.build_rows, join_.build_keys, table, mask);
    const auto probe = which_ == step::by_row    ? probe_table<by_row>
                       : which_ == step::by_warp ? probe_table<by_warp>
                                                 : probe_table<by_block>;
    launch("probe_table", probe, join_.probe_rows, join_.probe_keys, table, mask, join_.build_out, join_.probe_out,
           join_.total);
  }

 private:
  bool is_of_library() const { return which_ >= step::simple; }

  template <class... Parameters, class... Arguments>
  static void launch(const char* name, void (*kernel)(const unsigned*, unsigned, Parameters...), int rows,
                     const unsigned* keys, Arguments... arguments) {
    const auto threads = static_cast<unsigned>(rows);
    const dim3 blocks((threads + block_threads - 1) / block_threads);
    example::check(name,
                   strata::launch({name, blocks, dim3(unsigned{block_threads})}, kernel, keys, threads, arguments...));
  }

  cudaError_t call_library() {
    strata::JoinOptions<> options;
    options.strategy = which_ == step::simple     ? strata::JoinStrategy::simple
                       : which_ == step::one_pass ? strata::JoinStrategy::radix_single
                                                  : strata::JoinStrategy::radix_multi;
    return strata::DeviceHashJoin::Inner(storage_ ? storage_->get() : nullptr, storage_bytes_,
                                         strata::join_side(join_.build_keys, join_.build_rows).unique(),
                                         strata::join_side(join_.probe_keys, join_.probe_rows),
                                         strata::join_pairs(join_.build_out, join_.probe_out, join_.probe_rows),
                                         join_.total, options);
  }

  step which_;
  join_arguments join_;
  std::size_t slots_ = 2;
  std::unique_ptr<example::device_array<slot>> table_;
  std::size_t storage_bytes_ = 0;
  std::unique_ptr<example::device_array<unsigned char>> storage_;
};

}  // namespace join_strategies
}  // namespace JOIN_STRATEGIES_NAMESPACE

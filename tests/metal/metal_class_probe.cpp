// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of DeviceHashJoin, each of them for one break. host_mutants.py compiles them with headers that are broken in
// the choice of the back end, or in queues, limits and errors.
#define STRATA_JOIN_BACKEND METAL
#include <strata/device/device_hash_join.hpp>

#include <functional>

#include "device/join/device_hash_join_kinds.hpp"
#include "metal/double/executor.hpp"
#include "metal/double/metal_double.hpp"
#include "metal/metal_plain_join.hpp"

using namespace metal_test;
using join_kinds::join_settings;
using metal_double::options;
using strata::DeviceHashJoin;

namespace {

constexpr std::int64_t rows = 60;
constexpr std::int64_t capacity = 200;

// A small join with all its arguments. Keys 0 to 59 are on both sides.
struct one_call {
  join_settings<> how;
  std::vector<std::uint32_t> build = std::vector<std::uint32_t>(rows);
  std::vector<std::uint32_t> probe = std::vector<std::uint32_t>(rows);
  std::vector<std::int32_t> build_out = std::vector<std::int32_t>(capacity, -7);
  std::vector<std::int32_t> probe_out = std::vector<std::int32_t>(capacity, -7);
  std::int64_t total = -1;
  std::size_t missing_bytes = 0;
  void* queue = nullptr;
  std::function<void()> between = [] {};

  explicit one_call(JoinStrategy strategy = JoinStrategy::simple) {
    how.strategy = strategy;
    std::iota(build.begin(), build.end(), 0u);
    std::iota(probe.rbegin(), probe.rend(), 0u);
    options() = {};
    context_list::of_process().clear();
    msl::reset_counts();
  }

  template <class Function>
  int twice(const Function& function) {
    std::size_t bytes = 0;
    const cudaError_t status = function(static_cast<void*>(nullptr), bytes);
    if (status != cudaSuccess) return static_cast<int>(status);
    between();
    std::vector<unsigned char> storage(bytes);
    bytes -= missing_bytes;
    return static_cast<int>(function(static_cast<void*>(storage.data()), bytes));
  }
  int pairs(JoinKind kind = JoinKind::inner) {
    return twice([&](void* storage, std::size_t& bytes) {
      return join_kinds::pairs_of(kind, storage, bytes, build.data(), rows, probe.data(), rows, build_out.data(),
                                  probe_out.data(), &total, capacity, how, queue);
    });
  }
  int count() {
    return twice([&](void* storage, std::size_t& bytes) {
      return join_kinds::count_of(JoinKind::semi, storage, bytes, build.data(), rows, probe.data(), rows, &total, how,
                                  queue);
    });
  }
  int gather() {
    const auto columns = [this](std::int64_t i, std::int32_t b, std::int32_t) {
      build_out[static_cast<std::size_t>(i)] = b;
    };
    return twice([&](void* storage, std::size_t& bytes) {
      return join_kinds::join_of(JoinKind::inner, storage, bytes, build.data(), rows, probe.data(), rows,
                                 strata::join_columns<std::int32_t>(capacity, columns), &total, how, queue);
    });
  }
  bool has_rows() const {
    for (std::size_t i = 0; i < rows; ++i) {
      const auto b = static_cast<std::size_t>(build_out[i]);
      const auto p = static_cast<std::size_t>(probe_out[i]);
      if (b >= rows || p >= rows || build[b] != probe[p]) return false;
    }
    return total == rows;
  }
};

bool gpu_ran() { return !msl::counts().empty(); }

// The GPU must join what it can, and nothing else.
bool right_one_joins() {
  one_call by_gpu;
  if (by_gpu.pairs() != 0 || !by_gpu.has_rows() || !gpu_ran()) return false;
  if (msl::counts().count("strata_table_join_u32_r32") == 0) return false;
  one_call radix(JoinStrategy::radix_single);
  if (radix.count() != 0 || radix.total != rows || msl::counts().count("strata_partition_join_u32_r64") == 0) {
    return false;
  }
  one_call few(JoinStrategy::automatic);
  if (few.pairs() != 0 || !few.has_rows() || gpu_ran()) return false;
  one_call full;
  full.build.back() = 1000;
  if (full.pairs(JoinKind::full) != 0 || full.total != rows + 1 || gpu_ran()) return false;
  one_call ordered;
  ordered.how.order = strata::JoinOrder::probe;
  if (ordered.pairs() != 0 || !ordered.has_rows() || gpu_ran() ||
      !std::is_sorted(ordered.probe_out.begin(), ordered.probe_out.begin() + rows)) {
    return false;
  }
  const std::vector<std::uint32_t> no_keys(2, 0u);
  one_call no_build;
  no_build.how.build_valid = no_keys.data();
  one_call no_probe;
  no_probe.how.probe_valid = no_keys.data();
  if (no_build.pairs() != 0 || no_build.total != 0 || no_probe.pairs() != 0 || no_probe.total != 0) {
    return false;
  }
  one_call columns;
  if (columns.gather() != 0 || columns.total != rows || gpu_ran()) return false;
  one_call no_columns;
  no_columns.how.probe_valid = no_keys.data();
  if (no_columns.gather() != 0 || no_columns.total != 0) return false;
  no_columns.how.build_valid = no_keys.data();
  no_columns.how.nulls_equal = true;
  if (no_columns.gather() != 0 || no_columns.total != rows * rows) return false;
  one_call old;
  options().family = 1006;
  if (old.pairs() != 0 || !old.has_rows() || gpu_ran()) return false;
  one_call none;
  options().has_devices = false;
  if (none.pairs() != 0 || !none.has_rows() || gpu_ran()) return false;
  // So many rows that a GPU would join them if there were one.
  const std::vector<std::uint32_t> many(100000, 5u);
  return none.twice([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Semi(storage, bytes, strata::join_side(none.build.data(), rows),
                                strata::join_side(many.data(), 100000), strata::join_count(), &none.total);
  }) == 0 &&
         none.total == 100000;
}

// Work that was committed before a join must be done when it begins. The size query must not wait for it.
bool queues_are_waited_for() {
  for (const JoinStrategy strategy : {JoinStrategy::cpu, JoinStrategy::simple}) {
    for (int what = 0; what < 3; ++what) {
      one_call call(strategy);
      call.queue = metal_double::new_queue();
      bool waited = false;
      bool waited_for_size = false;
      metal_double::enqueue(call.queue, [&] { waited = true; });
      const std::uint32_t key = what == 1 ? 1000 : 3;
      call.between = [&] {
        waited_for_size = waited;
        metal_double::enqueue(call.queue, [&] { std::fill(call.probe.begin(), call.probe.end(), key); });
      };
      const int status = what == 0 ? call.pairs() : (what == 1 ? call.count() : call.gather());
      const bool right = status == 0 && waited && !waited_for_size && call.total == (what == 1 ? 0 : rows) &&
                         (what == 1 || std::count(call.build_out.begin(), call.build_out.end(), 3) == rows);
      context_list::of_process().clear();
      metal_double::release(call.queue);
      if (!right) return false;
    }
  }
  one_call lost;
  lost.queue = metal_double::new_queue();
  options().fail_selector = "commandBuffer";
  const bool right = lost.gather() == cudaErrorMemoryAllocation && lost.total == -1;
  context_list::of_process().clear();
  metal_double::release(lost.queue);
  return right;
}

bool wrong_arguments_are_refused() {
  const auto is_refused = [](one_call& call, int status) {
    return status == cudaErrorInvalidValue && call.total == -1 && !gpu_ran() &&
           std::count(call.probe_out.begin(), call.probe_out.end(), -7) == capacity;
  };
  for (const int strategy : {-1, 5}) {
    one_call call(static_cast<JoinStrategy>(strategy));
    if (!is_refused(call, call.pairs()) || !is_refused(call, call.gather())) return false;
  }
  one_call small;
  small.missing_bytes = 1;
  if (!is_refused(small, small.pairs())) return false;
  one_call same;
  const int status = same.twice([&](void* storage, std::size_t& bytes) {
    return join_kinds::pairs_of(JoinKind::inner, storage, bytes, same.build.data(), rows, same.probe.data(), rows,
                                same.probe_out.data() + 100, same.probe_out.data(), &same.total, capacity, same.how);
  });
  if (!is_refused(same, status)) return false;
  one_call nowhere;
  return is_refused(nowhere, nowhere.twice([&](void* storage, std::size_t& bytes) {
    return join_kinds::pairs_of(JoinKind::inner, storage, bytes, nowhere.build.data(), rows, nowhere.probe.data(), rows,
                                nowhere.build_out.data(), static_cast<std::int32_t*>(nullptr), &nowhere.total, capacity,
                                nowhere.how);
  }));
}

bool gives(int expected, const char* text, JoinStrategy strategy, const std::function<void()>& spoil) {
  one_call call(strategy);
  spoil();
  const int status = call.pairs();
  const bool right = status == expected && (status == 0 ? call.has_rows() : call.total == -1);
  if (!right) std::fprintf(stderr, "status %d, not %d\n", status, expected);
  return right && (status == 0 || std::strstr(strata::metal_join_error_text(), text) != nullptr);
}

bool errors_and_limits_are_told() {
  constexpr JoinStrategy simple = JoinStrategy::simple;
  constexpr JoinStrategy radix = JoinStrategy::radix_single;
  const auto nil = [](const char* selector) { return [selector] { options().fail_selector = selector; }; };
  constexpr int no_memory = cudaErrorMemoryAllocation;
  constexpr int not_supported = cudaErrorNotSupported;
  return gives(no_memory, "queue", simple, nil("newCommandQueue")) &&
         gives(no_memory, "no buffer", simple, nil("newBufferWithLength:options:")) &&
         gives(no_memory, "command buffer", simple, nil("commandBuffer")) &&
         gives(no_memory, "encoder", simple, nil("computeCommandEncoder")) &&
         gives(300, "injected", radix, nil("newLibraryWithSource:options:error:")) &&
         gives(500, "function strata_", radix, nil("newFunctionWithName:")) &&
         gives(500, "injected", radix, nil("newComputePipelineStateWithFunction:error:")) &&
         gives(cudaErrorLaunchFailure, "injected", radix, [] { options().fault_at = 3; }) &&
         gives(not_supported, "32 threads", simple, [] { options().simd_width = 64; }) &&
         gives(not_supported, "a tile", radix, [] { options().threadgroup_memory = 16384; }) &&
         gives(not_supported, "fewer threads", simple, [] { options().max_threads = 128; }) &&
         gives(not_supported, "length", simple, [] { options().buffer_length = 100; }) &&
         gives(0, "", radix, [] { options().max_threads = 256; }) &&
         gives(0, "", radix, [] { options().threadgroup_memory = 26000; });
}

// The text must be compiled once, and command buffers must have a bounded length.
bool work_is_bounded() {
  one_call call(JoinStrategy::radix_single);
  if (call.pairs() != 0 || call.count() != 0 || options().compilations != 1) return false;
  const std::vector<std::uint32_t> same(600, 9u);
  MetalJoinOptions how;
  how.strategy = JoinStrategy::radix_single;
  how.metal.table_rows = 48;
  how.metal.probe_rows = 100;
  how.metal.tasks = 30;
  how.metal.dispatch_pairs = 9000;
  how.metal.dispatches = 2;
  msl::reset_counts();
  options().most_dispatches_in_command_buffer = 0;
  const join_result got = call_plain_join<std::uint32_t, std::int32_t>(JoinKind::inner, same, same, 10, how);
  return got.total == 600 * 600 && options().most_dispatches_in_command_buffer == 4 &&
         msl::counts()["strata_partition_join_u32_r32"].launches >= 600u * 600 / 9000;
}

int check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "%s\n", what);
  return right ? 0 : 1;
}

}  // namespace

int main() {
  if (check(right_one_joins(), "the wrong one joins, or wrongly") != 0 ||
      check(queues_are_waited_for(), "a queue is not waited for, or too soon") != 0 ||
      check(wrong_arguments_are_refused(), "wrong arguments are not refused") != 0 ||
      check(errors_and_limits_are_told(), "an error is not told") != 0 ||
      check(work_is_bounded(), "work without bounds") != 0) {
    return 1;
  }
  options() = {};
  context_list::of_process().clear();
  return check(metal_double::live_objects() == 0, "objects are left");
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reports: what went wrong, in which kernel, block, thread and line, and which threads wait where.
#include <strata/simt/runtime/engine_state.hpp>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace strata {
namespace simt {
namespace engine {
namespace {

// The buffers are static, because a thread that fails is abandoned with all that its stack owns.
char report_text[8192];
const char* report_kind = "";
cudaError_t failed_launches[max_devices] = {};
thread_local cudaError_t last_error = cudaSuccess;

// The error of the last launch that failed on the calling thread's device. The threads of other devices go on.
cudaError_t& failed_launch() { return failed_launches[current_device()]; }

cudaError_t error_of(const char* kind) {
  const auto is = [&](const char* text) { return std::strcmp(kind, text) == 0; };
  if (is("deadlock") || is("livelock") || is("cooperative-too-large")) {
    return cudaErrorLaunchTimeout;
  }
  if (is("assertion")) return cudaErrorAssert;
  if (is("misaligned")) return cudaErrorMisalignedAddress;
  if (is("shared-out-of-bounds") || is("global-out-of-bounds") || is("use-after-free") || is("host-memory")) {
    return cudaErrorIllegalAddress;
  }
  return cudaErrorLaunchFailure;
}

// Lists numbers as ranges: "0-3,7,9-31".
std::string ranges(const std::vector<uint32_t>& numbers) {
  constexpr int shown = 8;
  std::string text;
  int parts = 0;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (parts++ == shown) return text + ",...";
    if (!text.empty()) text += ",";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* text, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

std::string describe_collective(const fiber& thread) {
  const warp& mates = *thread.mates;
  const collective_slot& slot = mates.slots[thread.lane];
  if (slot.op == operation::active_mask) return "waits at __activemask";
  uint32_t missing = slot.mask & mates.alive & ~mates.in_collective;
  for_each_lane(slot.mask & mates.in_collective, [&](uint32_t lane) {
    const collective_slot& other = mates.slots[lane];
    if (other.op != slot.op || other.mask != slot.mask) missing |= 1u << lane;
  });
  std::string text = format("waits at %s(mask=%08x) (%s:%d), lanes not arrived: %08x", operation_name(slot.op),
                            slot.mask, file_name(slot.where.file), slot.where.line, missing);
  const uint32_t gone = slot.mask & ~mates.alive;
  if (gone != 0) text += format(", of the mask already exited: %08x", gone);
  return text;
}

std::string describe_state(const block& which, const fiber& thread) {
  const char* const file = file_name(thread.where.file);
  const int line = thread.where.line;
  switch (thread.state) {
    case fiber_state::in_warp_collective:
      return describe_collective(thread);
    case fiber_state::at_block_barrier:
      return format("waits at %s (%s:%d) for the %u missing threads of the block", operation_name(which.barrier_op),
                    file, line, which.alive - which.at_barrier);
    case fiber_state::at_named_barrier:
      return describe_named_barrier(which, thread.barrier_number) + format(" (%s:%d)", file, line);
    case fiber_state::at_cluster_barrier:
      return format("waits at the cluster barrier (%s:%d)", file, line);
    case fiber_state::polling:
      return format("spins at %s:%d", file, line);
    default:
      return "runnable";
  }
}

}  // namespace

const char* file_name(const char* path) {
  if (path == nullptr) return "?";
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

const char* operation_name(operation op) {
  static const char* const names[] = {
      "?",
      "__syncwarp",
      "__shfl_sync",
      "__shfl_up_sync",
      "__shfl_down_sync",
      "__shfl_xor_sync",
      "__ballot_sync",
      "__any_sync",
      "__all_sync",
      "__match_any_sync",
      "__match_all_sync",
      "__reduce_add_sync",
      "__reduce_min_sync",
      "__reduce_max_sync",
      "__reduce_min_sync",
      "__reduce_max_sync",
      "__reduce_and_sync",
      "__reduce_or_sync",
      "__reduce_xor_sync",
      "__activemask",
      "__syncthreads",
      "__syncthreads_count",
      "__syncthreads_and",
      "__syncthreads_or",
  };
  return names[static_cast<int>(op)];
}

std::string describe_thread(const fiber& thread) {
  const uint3 b = thread.home->index, t = thread.index;
  return format("block (%u,%u,%u) thread (%u,%u,%u) [warp %u lane %u]", b.x, b.y, b.z, t.x, t.y, t.z, thread.mates->id,
                thread.lane);
}

// Threads that wait for the same thing share a line.
std::string describe_block(const block& which) {
  struct waiters {
    std::string what;
    std::vector<uint32_t> threads;
  };
  std::vector<waiters> groups;
  std::vector<uint32_t> exited;
  for (uint32_t i = 0; i < which.threads; ++i) {
    if (which.fibers[i].state == fiber_state::exited) {
      exited.push_back(i);
      continue;
    }
    const std::string what = describe_state(which, which.fibers[i]);
    size_t g = 0;
    while (g < groups.size() && groups[g].what != what) ++g;
    if (g == groups.size()) groups.push_back({what, {}});
    groups[g].threads.push_back(i);
  }
  std::string text = format("\n  block (%u,%u,%u): %u of %u threads alive, passed %u block barriers", which.index.x,
                            which.index.y, which.index.z, which.alive, which.threads, which.epoch);
  const auto line = [&](const std::vector<uint32_t>& threads, const std::string& what) {
    text += "\n    " + std::to_string(threads.size()) + " threads {" + ranges(threads) + "}: " + what;
  };
  for (const waiters& group : groups) line(group.threads, group.what);
  if (!exited.empty()) line(exited, "exited");
  return text;
}

void set_report(const char* kind, const std::string& text) {
  if (launch_now.failed) return;
  launch_now.failed = true;
  std::snprintf(report_text, sizeof report_text, "%s", text.c_str());
  report_kind = kind;
  last_error = failed_launch() = error_of(kind);
  if (!settings.quiet) {
    std::fprintf(stderr, "SIMT ERROR [%s] kernel %s: %s\n", kind, launch_now.parameters.name, report_text);
  }
}

cudaError_t set_last_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t pending_launch_error() { return failed_launch(); }

void outside_kernel(const char* what, location where) {
  std::fprintf(stderr, "strata simt: %s outside a kernel (%s:%d)\n", what, file_name(where.file), where.line);
  std::abort();
}

}  // namespace engine

report last_report() {
  using namespace engine;
  return {report_kind, *report_kind != 0 ? report_text : ""};
}

void clear_report() {
  engine::report_kind = "";
  engine::failed_launch() = cudaSuccess;
  engine::last_error = cudaSuccess;
}

void misaligned_access(const void* address, size_t bytes) {
  fail("misaligned", "misaligned access of %zu bytes at address %p at %s", bytes, address,
       engine::source_line(__builtin_return_address(0)).c_str());
}

void fail(const char* kind, const char* format, ...) {
  const engine::runtime_section section;
  {
    char buffer[4096];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    std::string text = buffer;
    if (engine::current != nullptr) text += "\n    at " + describe_thread(*engine::current);
    engine::set_report(kind, text);
  }
  if (engine::current != nullptr) engine::to_scheduler();  // does not return: the launch is abandoned
  std::abort();
}

}  // namespace simt
}  // namespace strata

// Like the runtime, this reports an error once. Unlike with the runtime, a failed kernel does not poison the process,
// so that a test may go on.
cudaError_t cudaGetLastError() {
  const cudaError_t error = strata::simt::engine::last_error;
  strata::simt::engine::last_error = cudaSuccess;
  strata::simt::engine::failed_launch() = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return strata::simt::engine::last_error; }

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Metal device for machines without one. It answers messages of the Objective-C ABI, compiles the text of
// newLibraryWithSource with the host's compiler, and runs kernels by the executor. Like Metal's validation layer, it
// ends the program with a message on misuse.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace metal_double {

struct settings {
  // Schedules. The defaults come from the environment variables MSL_SEED and MSL_PREEMPT.
  std::uint32_t seed = 0;
  std::uint32_t preempt = 0;
  unsigned workers = 0;
  // Properties of the device.
  long family = 1009;
  bool has_default_device = true;
  bool has_devices = true;
  unsigned long threadgroup_memory = 32768;
  unsigned long max_threads = 1024;
  unsigned long buffer_length = 1ul << 34;
  unsigned long simd_width = 32;
  // Failures: a selector that answers nil from its fail_at-th call on, and the dispatch that faults.
  std::string fail_selector;
  unsigned long fail_at = 0;
  unsigned long fault_at = 0;
  // Changes a text before it is compiled.
  std::function<std::string(std::string)> rewrite;
  // Compiles texts so that accesses to threadgroup memory are counted.
  bool watch = false;
  // Counters.
  unsigned long messages = 0;
  unsigned long dispatches = 0;
  unsigned long command_buffers = 0;
  unsigned long most_dispatches_in_command_buffer = 0;
  unsigned long compilations = 0;
  unsigned long zero_copies = 0;
  unsigned long copies = 0;
  unsigned long failures = 0;
};
settings& options();

// The number of objects that were made and not released, and a report of their classes.
long live_objects();
std::string live_report();

// A command queue that belongs to the caller, who releases it.
void* new_queue();
// Adds `work` to a queue without waiting. When the queue is executed, the work changes memory.
void enqueue(void* queue, std::function<void()> work);
void release(void* object);

}  // namespace metal_double

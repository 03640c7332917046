// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Metal device for machines without one: answers the messages of the Objective-C ABI, compiles
// the text of newLibraryWithSource with the host's compiler, and runs kernels by the executor.
// Strict where Metal's validation layer is: misuse ends the program with a text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace metal_double {

struct settings {
  // Schedules; the environment's MSL_SEED and MSL_PREEMPT are the defaults.
  std::uint32_t seed = 0;
  std::uint32_t preempt = 0;
  unsigned workers = 0;
  // What the device can do.
  long family = 1009;
  bool has_default_device = true;
  bool has_devices = true;
  unsigned long threadgroup_memory = 32768;
  unsigned long max_threads = 1024;
  unsigned long buffer_length = 1ul << 34;
  unsigned long simd_width = 32;
  // Failures. A selector that answers nil, from its fail_at-th call on; the dispatch that faults.
  std::string fail_selector;
  unsigned long fail_at = 0;
  unsigned long fault_at = 0;
  // Changes the text before it is compiled.
  std::function<std::string(std::string)> rewrite;
  // Compiles text so that accesses to threadgroup memory are counted.
  bool watch = false;
  // Counted.
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

// Objects that were made and not released, and of which classes they are.
long live_objects();
std::string live_report();

// An id<MTLCommandQueue> of the caller's; released as objects are.
void* new_queue();
// Puts work into a queue that changes memory when it is executed, and does not wait.
void enqueue(void* queue, std::function<void()> work);
void release(void* object);

}  // namespace metal_double

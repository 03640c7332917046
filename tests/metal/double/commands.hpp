// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects of Metal, and the execution of command buffers.
#pragma once

#include "executor.hpp"
#include "library.hpp"
#include "objects.hpp"

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metal_double {

using id = object*;
using usize = unsigned long;
struct size3 {
  usize w;
  usize h;
  usize d;
};

struct string : object {
  explicit string(std::string t) : object("NSString"), text(std::move(t)) {}
  std::string text;
};
struct error : object {
  explicit error(std::string t) : object("NSError"), text(std::move(t)) {}
  std::string text;
};
struct array : object {
  array() : object("NSArray") {}
  std::vector<hold<object>> items;
};
struct device : object {
  device() : object("MTLDevice") {}
};
struct library : object {
  library() : object("MTLLibrary") {}
  compiled_text text;
};
struct function : object {
  function(library* l, const msl::kernel_desc* k) : object("MTLFunction"), of(l), kernel(k) {}
  hold<library> of;
  const msl::kernel_desc* kernel;
};
struct pipeline : object {
  explicit pipeline(function* f) : object("MTLComputePipelineState"), of(f) {}
  hold<function> of;
};
struct buffer : object {
  buffer(void* p, usize n, bool o) : object("MTLBuffer"), memory(p), bytes(n), owned(o) {}
  ~buffer() {
    if (owned) std::free(memory);
  }
  void* memory;
  usize bytes;
  bool owned;
};
struct binding {
  hold<buffer> of;
  usize offset = 0;
  std::shared_ptr<std::vector<char>> bytes;
};
struct dispatch_command {
  hold<pipeline> with;
  binding buffers[msl::slots];
  usize threadgroup[msl::slots] = {};
  size3 grid{};
  size3 group{};
  std::function<void()> by_host;
};
struct command_buffer;
struct encoder : object {
  explicit encoder(command_buffer* b) : object("MTLComputeCommandEncoder"), of(b) {}
  command_buffer* of;
  dispatch_command next;
  bool ended = false;
};
struct queue : object {
  explicit queue(device* d) : object("MTLCommandQueue"), of(d) {}
  hold<device> of;
  std::vector<command_buffer*> committed;  // retained until they have run
};
enum : usize { not_enqueued = 0, was_committed = 2, was_completed = 4, had_error = 5 };
struct command_buffer : object {
  explicit command_buffer(queue* q) : object("MTLCommandBuffer"), of(q) {}
  hold<queue> of;
  std::vector<dispatch_command> commands;
  hold<encoder> open;
  usize status = not_enqueued;
  hold<error> what;
};

// Checks of messages to an encoder.
void check_open(const encoder* e);
void check_index(usize i);
// Adds a dispatch of `grid` threads, in threadgroups of `group` threads, to the command buffer.
void encode(encoder* e, size3 grid, size3 group);

// Executes the commands of a queue, up to those of this buffer.
void wait(command_buffer* b);

}  // namespace metal_double

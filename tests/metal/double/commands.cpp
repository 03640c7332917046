// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "commands.hpp"

#include "metal_double.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>

namespace metal_double {
namespace {

void fail(command_buffer* b, const char* text) {
  b->status = had_error;
  error* const made = make<error>(text);
  b->what = hold<error>(made);
  drop(made);
}

void run(const dispatch_command& c) {
  if (c.by_host) return c.by_host();
  msl::launch q;
  q.kernel = c.with->of->kernel;
  for (int i = 0; i < msl::slots; ++i) {
    const binding& b = c.buffers[i];
    q.bound.buffer[i] =
        b.bytes ? static_cast<void*>(b.bytes->data()) : (b.of ? static_cast<char*>(b.of->memory) + b.offset : nullptr);
    q.threadgroup_length[i] = static_cast<std::uint32_t>(c.threadgroup[i]);
  }
  const usize grid[3] = {c.grid.w, c.grid.h, c.grid.d};
  const usize group[3] = {c.group.w, c.group.h, c.group.d};
  for (int d = 0; d < 3; ++d) {
    if (grid[d] > 0xffffffffu) die("a grid of %lu threads", grid[d]);
    q.grid[d] = static_cast<std::uint32_t>(grid[d]);
    q.group[d] = static_cast<std::uint32_t>(group[d]);
  }
  q.seed = options().seed;
  q.preempt = options().preempt;
  q.workers = options().workers;
  q.threadgroup_memory = options().threadgroup_memory;
  ++options().dispatches;
  msl::execute(q);
}

// Commands run only when somebody waits for them, so that a missing wait is noticed.
void execute(command_buffer* b) {
  std::vector<dispatch_command> commands = std::move(b->commands);
  b->commands.clear();
  for (const dispatch_command& c : commands) {
    if (options().fault_at != 0 && --options().fault_at == 0) {
      ++options().failures;
      return fail(b, "injected fault");
    }
    try {
      run(c);
    } catch (const std::exception& e) {
      return fail(b, e.what());
    }
  }
  b->status = was_completed;
}

}  // namespace

void wait(command_buffer* b) {
  if (b->status == not_enqueued) die("waitUntilCompleted before commit");
  queue* const q = b->of.get();
  const bool waits_for_more = b->status == was_committed;
  while (waits_for_more && !q->committed.empty() && b->status == was_committed) {
    command_buffer* const first = q->committed.front();
    q->committed.erase(q->committed.begin());
    execute(first);
    drop(first);
  }
}

void check_open(const encoder* e) {
  if (e->ended) die("message to an encoder after endEncoding");
}
void check_index(usize i) {
  if (i >= msl::slots) die("index %lu of an argument", i);
}

// Checks what Metal's validation layer checks: arguments that the kernel declares are bound, and large enough.
void encode(encoder* e, size3 grid, size3 group) {
  check_open(e);
  if (!e->next.with) die("dispatch without a pipeline");
  if (grid.w == 0 || grid.h == 0 || grid.d == 0) die("dispatch of an empty grid");
  if (group.w * group.h * group.d > options().max_threads) die("too many threads in a threadgroup");
  const msl::kernel_desc* const k = e->next.with->of->kernel;
  dispatch_command c = e->next;
  bool uses_buffer[msl::slots] = {};
  bool uses_threadgroup[msl::slots] = {};
  for (std::size_t a = 0; a < k->arg_count; ++a) {
    const msl::arg_desc& d = k->args[a];
    if (d.kind == msl::arg_kind::threadgroup_memory) uses_threadgroup[d.index] = true;
    if (d.kind != msl::arg_kind::buffer) continue;
    uses_buffer[d.index] = true;
    const binding& b = c.buffers[d.index];
    if (!b.of && !b.bytes) die("%s: nothing bound at buffer(%d)", k->name, d.index);
    const usize have = b.bytes ? b.bytes->size() : b.of->bytes - b.offset;
    if (have < d.size) die("%s: buffer(%d) has %lu bytes, not %u", k->name, d.index, have, d.size);
    if (d.is_reference && have != d.size && b.bytes) {
      die("%s: buffer(%d) is given %lu bytes, not %u", k->name, d.index, have, d.size);
    }
    if (b.bytes && !d.is_const) die("%s: setBytes at buffer(%d), not const", k->name, d.index);
  }
  for (int i = 0; i < msl::slots; ++i) {
    if (!uses_buffer[i]) c.buffers[i] = {};
    if (!uses_threadgroup[i]) c.threadgroup[i] = 0;
  }
  c.grid = grid;
  c.group = group;
  e->of->commands.push_back(std::move(c));
}

}  // namespace metal_double

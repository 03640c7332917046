// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "metal_double.hpp"

#include "executor.hpp"
#include "library.hpp"
#include "objects.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

namespace metal_double {
namespace {

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

// Whether the test wants this message to fail.
bool refuses(const char* name) {
  settings& o = options();
  if (o.fail_selector != name) return false;
  if (o.fail_at > 1) {
    --o.fail_at;
    return false;
  }
  ++o.failures;
  return true;
}

// All have the same device, as in a Mac with one GPU.
device* the_device() {
  static device* one = nullptr;
  if (one == nullptr) {
    one = make<device>();
    one->destroy = [](object* o) {
      one = nullptr;
      delete static_cast<device*>(o);
    };
    return one;
  }
  retain(one);
  return one;
}

// ------------------------------------------------------------------------------ execution
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
    q.bound.buffer[i] = b.bytes ? static_cast<void*>(b.bytes->data())
                                : (b.of ? static_cast<char*>(b.of->memory) + b.offset : nullptr);
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

// Nothing runs before somebody waits, so that a missing wait shows.
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

// ------------------------------------------------------------------------------ encoding
void check_open(const encoder* e) {
  if (e->ended) die("message to an encoder after endEncoding");
}
void check_index(usize i) {
  if (i >= msl::slots) die("index %lu of an argument", i);
}

// As the validation layer does: what the kernel declares is bound, and large enough.
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

buffer* new_buffer(usize bytes, usize mode) {
  if (bytes == 0) die("newBufferWithLength: of 0 bytes");
  if (mode != 0) die("newBufferWithLength: shared storage is all there is here");
  if (refuses("newBufferWithLength:options:")) return nullptr;
  ++options().copies;
  void* const memory = std::malloc(bytes);
  std::memset(memory, 0xcd, bytes);
  return make<buffer>(memory, bytes, true);
}
buffer* new_buffer_no_copy(void* memory, usize bytes, usize mode, const void* block) {
  if (mode != 0 || block != nullptr) die("newBufferWithBytesNoCopy: shared, without deallocator");
  constexpr usize page = 16384;
  if (reinterpret_cast<usize>(memory) % page != 0 || bytes % page != 0 || bytes == 0 ||
      refuses("newBufferWithBytesNoCopy:length:options:deallocator:")) {
    return nullptr;
  }
  ++options().zero_copies;
  return make<buffer>(memory, bytes, false);
}
library* new_library(const std::string& text, error** why) {
  if (refuses("newLibraryWithSource:options:error:")) {
    if (why != nullptr) *why = autoreleased(make<error>("injected error of the compiler"));
    return nullptr;
  }
  ++options().compilations;
  library* const made = make<library>();
  const std::string messages =
      made->text.compile(options().rewrite ? options().rewrite(text) : text, options().watch);
  if (messages.empty()) return made;
  if (why != nullptr) *why = autoreleased(make<error>(messages));
  drop(made);
  return nullptr;
}

void install_foundation() {
  for (const char* const c : {"NSString", "NSError", "NSArray", "MTLDevice", "MTLLibrary",
                              "MTLFunction", "MTLComputePipelineState", "MTLBuffer",
                              "MTLCommandQueue", "MTLCommandBuffer", "MTLComputeCommandEncoder"}) {
    add(
        c, "retain", +[](id o, selector) {
          retain(o);
          return o;
        });
    add(
        c, "release", +[](id o, selector) { drop(o); });
  }
  add(
      "+NSString", "stringWithUTF8String:", +[](id, selector, const char* s) {
        return autoreleased(make<string>(s));
      });
  add(
      "NSString", "UTF8String", +[](string* s, selector) { return s->text.c_str(); });
  add(
      "NSError", "localizedDescription",
      +[](error* e, selector) { return autoreleased(make<string>(e->text)); });
  add(
      "NSArray", "count", +[](array* a, selector) -> usize { return a->items.size(); });
  add(
      "NSArray", "objectAtIndex:", +[](array* a, selector, usize i) {
        if (i >= a->items.size()) die("objectAtIndex: %lu", i);
        return a->items[i].get();
      });
}

void install_device() {
  add(
      "MTLDevice", "name", +[](device*, selector) {
        return autoreleased(make<string>("CPU test double (not an Apple GPU)"));
      });
  add(
      "MTLDevice", "supportsFamily:", +[](device*, selector, long family) {
        return family <= options().family;
      });
  add(
      "MTLDevice", "maxThreadgroupMemoryLength",
      +[](device*, selector) { return options().threadgroup_memory; });
  add(
      "MTLDevice", "newCommandQueue",
      +[](device* d, selector) { return refuses("newCommandQueue") ? nullptr : make<queue>(d); });
  add(
      "MTLDevice", "newBufferWithLength:options:", +[](device*, selector, usize bytes, usize mode) {
        return new_buffer(bytes, mode);
      });
  add(
      "MTLDevice", "newBufferWithBytesNoCopy:length:options:deallocator:",
      +[](device*, selector, void* p, usize bytes, usize mode, void* block) {
        return new_buffer_no_copy(p, bytes, mode, block);
      });
  add(
      "MTLDevice", "newLibraryWithSource:options:error:",
      +[](device*, selector, string* s, id, error** why) { return new_library(s->text, why); });
  add(
      "MTLLibrary", "newFunctionWithName:", +[](library* l, selector, string* name) {
        const msl::kernel_desc* const k = l->text.find(name->text);
        return k == nullptr || refuses("newFunctionWithName:") ? nullptr : make<function>(l, k);
      });
  add(
      "MTLDevice", "newComputePipelineStateWithFunction:error:",
      +[](device*, selector, function* f, error** why) -> pipeline* {
        if (!refuses("newComputePipelineStateWithFunction:error:")) return make<pipeline>(f);
        if (why != nullptr) *why = autoreleased(make<error>("injected error of a pipeline"));
        return nullptr;
      });
  add(
      "MTLComputePipelineState", "maxTotalThreadsPerThreadgroup",
      +[](pipeline*, selector) { return options().max_threads; });
  add(
      "MTLComputePipelineState", "threadExecutionWidth",
      +[](pipeline*, selector) { return options().simd_width; });
  add(
      "MTLBuffer", "contents", +[](buffer* b, selector) { return b->memory; });
}

void install_commands() {
  add(
      "MTLCommandQueue", "device", +[](queue* q, selector) { return q->of.get(); });
  add(
      "MTLCommandQueue", "commandBuffer", +[](queue* q, selector) -> command_buffer* {
        if (refuses("commandBuffer")) return nullptr;
        ++options().command_buffers;
        return autoreleased(make<command_buffer>(q));
      });
  add(
      "MTLCommandBuffer", "computeCommandEncoder", +[](command_buffer* b, selector) -> encoder* {
        if (b->open && !b->open->ended) die("a second encoder while one is open");
        if (refuses("computeCommandEncoder")) return nullptr;
        encoder* const made = autoreleased(make<encoder>(b));
        b->open = hold<encoder>(made);
        return made;
      });
  const char* const e = "MTLComputeCommandEncoder";
  add(
      e, "setComputePipelineState:", +[](encoder* self, selector, pipeline* p) {
        check_open(self);
        self->next.with = hold<pipeline>(p);
      });
  add(
      e,
      "setBuffer:offset:atIndex:", +[](encoder* self, selector, buffer* b, usize offset, usize i) {
        check_open(self);
        check_index(i);
        if (b != nullptr && offset > b->bytes) die("an offset behind the buffer's end");
        self->next.buffers[i] = {hold<buffer>(b), offset, nullptr};
      });
  add(
      e, "setBytes:length:atIndex:",
      +[](encoder* self, selector, const void* p, usize bytes, usize i) {
        check_open(self);
        check_index(i);
        if (bytes > 4096) die("setBytes: takes 4096 bytes");
        const char* const first = static_cast<const char*>(p);
        self->next.buffers[i] = {hold<buffer>(), 0,
                                 std::make_shared<std::vector<char>>(first, first + bytes)};
      });
  add(
      e, "setThreadgroupMemoryLength:atIndex:", +[](encoder* self, selector, usize n, usize i) {
        check_open(self);
        check_index(i);
        if (n % 16 != 0) die("threadgroup memory of %lu bytes: not a multiple of 16", n);
        self->next.threadgroup[i] = n;
      });
  add(
      e, "dispatchThreadgroups:threadsPerThreadgroup:",
      +[](encoder* self, selector, size3 g, size3 t) {
        encode(self, {g.w * t.w, g.h * t.h, g.d * t.d}, t);
      });
  add(
      e, "dispatchThreads:threadsPerThreadgroup:", +[](encoder* self, selector, size3 g, size3 t) {
        encode(self, g, t);
      });
  add(
      e, "endEncoding", +[](encoder* self, selector) {
        check_open(self);
        self->ended = true;
      });
  add(
      "MTLCommandBuffer", "commit", +[](command_buffer* b, selector) {
        if (b->open && !b->open->ended) die("commit before endEncoding");
        if (b->status != not_enqueued) die("committed twice");
        b->status = was_committed;
        if (b->commands.size() > options().most_dispatches_in_command_buffer) {
          options().most_dispatches_in_command_buffer = b->commands.size();
        }
        retain(b);
        b->of->committed.push_back(b);
      });
  add(
      "MTLCommandBuffer", "waitUntilCompleted", +[](command_buffer* b, selector) { wait(b); });
  add(
      "MTLCommandBuffer", "status", +[](command_buffer* b, selector) { return b->status; });
  add(
      "MTLCommandBuffer", "error", +[](command_buffer* b, selector) { return b->what.get(); });
}

}  // namespace

void install() {
  static bool done = false;
  if (done) return;
  done = true;
  install_foundation();
  install_device();
  install_commands();
}

settings& options() {
  static settings all = [] {
    settings s;
    if (const char* const v = std::getenv("MSL_SEED")) s.seed = static_cast<unsigned>(std::atoi(v));
    if (const char* const v = std::getenv("MSL_PREEMPT")) {
      s.preempt = static_cast<unsigned>(std::atoi(v));
    }
    return s;
  }();
  return all;
}

void* new_queue() {
  install();
  device* const d = the_device();
  queue* const made = make<queue>(d);
  drop(d);
  return made;
}
void enqueue(void* to, std::function<void()> work) {
  auto* const b = make<command_buffer>(static_cast<queue*>(to));
  b->commands.emplace_back();
  b->commands.back().by_host = std::move(work);
  b->status = was_committed;
  static_cast<queue*>(to)->committed.push_back(b);
}

}  // namespace metal_double

extern "C" {
void* MTLCreateSystemDefaultDevice() {
  metal_double::install();
  const metal_double::settings& o = metal_double::options();
  return o.has_devices && o.has_default_device ? metal_double::the_device() : nullptr;
}
void* MTLCopyAllDevices() {
  metal_double::install();
  auto* const all = metal_double::make<metal_double::array>();
  if (metal_double::options().has_devices) {
    metal_double::device* const d = metal_double::the_device();
    all->items.emplace_back(d);
    metal_double::drop(d);
  }
  return all;
}
}

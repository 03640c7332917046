// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "metal_double.hpp"

#include "commands.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace metal_double {
namespace {

// True if the test wants this message to fail now.
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

// There is one device, as in a Mac with one GPU.
device* the_device() {
  static device* one = nullptr;
  if (one == nullptr) {
    one = make<device>();
    static const auto destroy = one->destroy;
    one->destroy = [](object* o) {
      one = nullptr;
      destroy(o);
    };
    return one;
  }
  retain(one);
  return one;
}

buffer* new_buffer(usize bytes, usize mode) {
  if (bytes == 0) die("newBufferWithLength: of 0 bytes");
  if (bytes > options().buffer_length) die("newBufferWithLength: of %lu bytes", bytes);
  if (mode != 0) die("newBufferWithLength: shared storage is all there is here");
  if (refuses("newBufferWithLength:options:")) return nullptr;
  ++options().copies;
  void* const memory = std::malloc(bytes);
  std::memset(memory, 0xcd, bytes);
  return make<buffer>(memory, bytes, true);
}
buffer* new_buffer_no_copy(void* memory, usize bytes, usize mode, const void* block) {
  if (mode != 0 || block != nullptr) die("newBufferWithBytesNoCopy: shared, without deallocator");
  if (bytes > options().buffer_length) die("newBufferWithBytesNoCopy: of %lu bytes", bytes);
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
  const std::string messages = made->text.compile(options().rewrite ? options().rewrite(text) : text, options().watch);
  if (messages.empty()) return made;
  if (why != nullptr) *why = autoreleased(make<error>(messages));
  drop(made);
  return nullptr;
}

void install_foundation() {
  for (const char* const c :
       {"NSString", "NSError", "NSArray", "MTLDevice", "MTLLibrary", "MTLFunction", "MTLComputePipelineState",
        "MTLBuffer", "MTLCommandQueue", "MTLCommandBuffer", "MTLComputeCommandEncoder"}) {
    add(
        c, "retain", +[](id o, selector) {
          retain(o);
          return o;
        });
    add(
        c, "release", +[](id o, selector) { drop(o); });
  }
  add(
      "+NSString", "stringWithUTF8String:", +[](id, selector, const char* s) { return autoreleased(make<string>(s)); });
  add(
      "NSString", "UTF8String", +[](string* s, selector) { return s->text.c_str(); });
  add(
      "NSError", "localizedDescription", +[](error* e, selector) { return autoreleased(make<string>(e->text)); });
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
      "MTLDevice", "name",
      +[](device*, selector) { return autoreleased(make<string>("CPU test double (not an Apple GPU)")); });
  add(
      "MTLDevice", "supportsFamily:", +[](device*, selector, long family) { return family <= options().family; });
  add(
      "MTLDevice", "maxThreadgroupMemoryLength", +[](device*, selector) { return options().threadgroup_memory; });
  add(
      "MTLDevice", "maxBufferLength", +[](device*, selector) { return options().buffer_length; });
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
      "MTLDevice", "newLibraryWithSource:options:error:", +[](device*, selector, string* s, id, error** why) {
        return new_library(s->text, why);
      });
  add(
      "MTLLibrary", "newFunctionWithName:", +[](library* l, selector, string* name) {
        const msl::kernel_desc* const k = l->text.find(name->text);
        return k == nullptr || refuses("newFunctionWithName:") ? nullptr : make<function>(l, k);
      });
  add(
      "MTLDevice",
      "newComputePipelineStateWithFunction:error:", +[](device*, selector, function* f, error** why) -> pipeline* {
        if (!refuses("newComputePipelineStateWithFunction:error:")) return make<pipeline>(f);
        if (why != nullptr) *why = autoreleased(make<error>("injected error of a pipeline"));
        return nullptr;
      });
  add(
      "MTLComputePipelineState", "maxTotalThreadsPerThreadgroup",
      +[](pipeline*, selector) { return options().max_threads; });
  add(
      "MTLComputePipelineState", "threadExecutionWidth", +[](pipeline*, selector) { return options().simd_width; });
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
      e, "setBuffer:offset:atIndex:", +[](encoder* self, selector, buffer* b, usize offset, usize i) {
        check_open(self);
        check_index(i);
        if (b != nullptr && offset > b->bytes) die("an offset behind the buffer's end");
        self->next.buffers[i] = {hold<buffer>(b), offset, nullptr};
      });
  add(
      e, "setBytes:length:atIndex:", +[](encoder* self, selector, const void* p, usize bytes, usize i) {
        check_open(self);
        check_index(i);
        if (bytes > 4096) die("setBytes: takes 4096 bytes");
        const char* const first = static_cast<const char*>(p);
        self->next.buffers[i] = {hold<buffer>(), 0, std::make_shared<std::vector<char>>(first, first + bytes)};
      });
  add(
      e, "setThreadgroupMemoryLength:atIndex:", +[](encoder* self, selector, usize n, usize i) {
        check_open(self);
        check_index(i);
        if (n % 16 != 0) die("threadgroup memory of %lu bytes: not a multiple of 16", n);
        self->next.threadgroup[i] = n;
      });
  add(
      e, "dispatchThreadgroups:threadsPerThreadgroup:", +[](encoder* self, selector, size3 g, size3 t) {
        encode(self, {g.w * t.w, g.h * t.h, g.d * t.d}, t);
      });
  add(
      e,
      "dispatchThreads:threadsPerThreadgroup:", +[](encoder* self, selector, size3 g, size3 t) { encode(self, g, t); });
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

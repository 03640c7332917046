// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's hooks, which instrumented code calls. They find out what an address belongs to.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/check_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <cstdio>
#include <map>

namespace strata {
namespace simt {
namespace engine {
namespace check {
namespace {

void preempt() {
  fiber& self = *current;
  mark_ready(*self.home, *self.mates, 1u << self.lane);
  to_scheduler();
}

void check_alignment(const char* address, size_t bytes, bool write, access_kind kind, const void* pc) {
  // g++ reports accesses of 16 bytes for objects whose alignment is 8.
  const size_t alignment = bytes < 8 ? bytes : 8;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 || reinterpret_cast<uintptr_t>(address) % alignment == 0) {
    return;
  }
  fail("misaligned", "misaligned %zu-byte %s of address %p at %s", bytes, access_name(write, kind),
       static_cast<const void*>(address), source_line(pc).c_str());
}

// The block to which an address of shared memory belongs, and through which of its two mappings.
struct shared_address {
  const block* owner;
  size_t offset;
  bool mapped;  // it was returned by map_shared
};
bool find_shared(const char* address, shared_address& found) {
  const auto inside = [&](const char* begin) {
    found.offset = static_cast<size_t>(address - begin);
    return found.offset < arena_bytes;
  };
  for (const block* which : all_blocks()) {
    found.owner = which;
    found.mapped = false;
    if (inside(which->arena)) return true;
    found.mapped = true;
    if (inside(which->arena_alias)) return true;
  }
  return false;
}

void check_ownership(const fiber& thread, const shared_address& found, const char* what, size_t bytes, const void* pc) {
  const block& owner = *found.owner;
  const bool peer = owner.group == thread.home->group;
  if (!found.mapped || !peer) {
    fail("foreign-shared", "%zu-byte %s of another block's shared memory at %s%s", bytes, what, source_line(pc).c_str(),
         peer ? " by its plain address; a block of the cluster needs map_shared" : "");
  }
  if (owner.alive == 0) {
    fail("cluster-exited",
         "%zu-byte %s at %s of the shared memory of a block that has exited; a cluster barrier must "
         "come first",
         bytes, what, source_line(pc).c_str());
  }
}

[[noreturn]] void report_host_memory(const char* address, size_t bytes, const char* what, const void* pc) {
  for (const block* which : all_blocks()) {
    for (uint32_t i = 0; i < which->threads; ++i) {
      const fiber& other = which->fibers[i];
      if (static_cast<size_t>(address - other.stack) < other.stack_bytes) {
        fail("foreign-local", "%zu-byte %s of a local variable of another thread at %s", bytes, what,
             source_line(pc).c_str());
      }
    }
  }
  fail("host-memory", "%zu-byte %s by device code of host memory %p at %s", bytes, what,
       static_cast<const void*>(address), source_line(pc).c_str());
}

struct hook_access {
  bool read, write;
  access_kind kind;
  bool aligned;
};

bool is_parameter(const char* address) {
  const size_t offset = static_cast<size_t>(address - static_cast<const char*>(launch_now.call.arguments));
  return offset < launch_now.call.argument_bytes;
}

// Pointers to static data among the kernel's arguments. They are addresses of the host's own static variables. Device
// code uses its variables and constants by name.
std::vector<const char*> static_arguments;

void check_static_variable(const char* address, size_t bytes, const char* what, const void* pc) {
  static auto* const variables = new std::map<const char*, static_variable>;
  for (const char* argument : static_arguments) {
    auto found = variables->find(argument);
    if (found == variables->end()) {
      found = variables->emplace(argument, static_variable_at(argument)).first;
    }
    const static_variable& variable = found->second;
    if (variable.is_managed || address >= variable.end || address + bytes <= variable.begin) {
      continue;
    }
    fail("host-memory", "%zu-byte %s by device code of host memory (%s%s) at %s", bytes, what,
         variable.name.empty() ? "static data" : "the static variable ", variable.name.c_str(),
         source_line(pc).c_str());
  }
}

void on_access(const volatile void* where, size_t bytes, hook_access how, const void* pc) {
  fiber* const self = current;
  if (self == nullptr || runtime_depth != 0) return;
  char* const address = static_cast<char*>(const_cast<void*>(where));
  const size_t home_offset = static_cast<size_t>(address - self->home->arena);
  // Not checked: registers and local memory, kernel parameters, constants and static variables.
  if (static_cast<size_t>(address - self->stack) < self->stack_bytes) return;
  const bool is_elsewhere = home_offset >= arena_bytes && !is_global(address);
  if (is_elsewhere && is_parameter(address)) return;
  const runtime_section section;
  if (is_elsewhere && program_segment_of(address) != nullptr) {
    if (!static_arguments.empty()) {
      check_static_variable(address, bytes, access_name(how.write, how.kind), pc);
    }
    return;
  }
  ++counters.accesses;
  if (settings.preemption != 0 && next_random() % settings.preemption == 0) preempt();
  const char* const what = access_name(how.write, how.kind);
  if (how.aligned) check_alignment(address, bytes, how.write, how.kind, pc);

  if (home_offset < arena_bytes) {
    shared_access(*self, *self->home, home_offset, bytes, how.read, how.write, how.kind, pc);
    trace_shared_access(*self, home_offset, bytes, how.write, pc);
    return;
  }
  if (is_global(address)) {
    global_access(*self, address, bytes, how.read, how.write, how.kind, pc);
    return;
  }
  shared_address found;
  if (find_shared(address, found)) {
    check_ownership(*self, found, what, bytes, pc);
    shared_access(*self, *found.owner, found.offset, bytes, how.read, how.write, how.kind, pc);
    return;
  }
  report_host_memory(address, bytes, what, pc);
}

// Later blocks reuse shared memory, and it has two addresses. So its locations are named by owner and offset.
uint64_t location_key(const volatile void* where) {
  const char* const address = static_cast<const char*>(const_cast<const void*>(where));
  shared_address found;
  if (static_cast<size_t>(address - current->home->arena) < arena_bytes) {
    found = {current->home, static_cast<size_t>(address - current->home->arena), false};
  } else if (!find_shared(address, found)) {
    return reinterpret_cast<uint64_t>(address);
  }
  return uint64_t{1} << 63 | uint64_t{shadow_of(*found.owner).id} << 20 | found.offset;
}

}  // namespace

void note_static_arguments() {
  static_arguments.clear();
  const char* const first = static_cast<const char*>(launch_now.call.arguments);
  for (size_t at = 0; at + sizeof(char*) <= launch_now.call.argument_bytes; at += alignof(char*)) {
    const char* word = nullptr;
    std::memcpy(&word, first + at, sizeof word);
    const program_segment* const segment = program_segment_of(word);
    if (segment != nullptr && !segment->is_code) static_arguments.push_back(word);
  }
}

const char* access_name(bool write, access_kind kind) {
  if (kind == access_kind::plain) return write ? "write" : "read";
  return write ? "atomic write" : "atomic read";
}

std::string describe_earlier(const access& earlier, const fiber& thread, bool was_write) {
  const auto kind = static_cast<access_kind>(earlier.kind);
  if (kind == access_kind::bulk_copy) {
    return "a bulk copy: this thread has not waited for its mbarrier";
  }
  const uint3 index = index_of_block(earlier.block);
  const uint32_t other = static_cast<uint32_t>(earlier.thread);
  const dim3 shape = launch_now.parameters.block;
  char text[256];
  std::snprintf(text, sizeof text, "%s %s by block (%u,%u,%u) thread (%u,%u,%u) [warp %u lane %u] at ",
                kind == access_kind::plain ? "a" : "an", access_name(was_write, kind), index.x, index.y, index.z,
                other % shape.x, other / shape.x % shape.y, other / shape.x / shape.y, other / warp_threads,
                other % warp_threads);
  const char* why = "no __syncthreads between";
  if (earlier.block != shadow_of(*thread.home).id) {
    why = "different blocks, no release and acquire between";
  } else if (other / warp_threads == thread.mates->id) {
    why = "same warp, no __syncwarp between";
  }
  const void* const pc = reinterpret_cast<const void*>(static_cast<uintptr_t>(earlier.pc));
  return text + source_line(pc) + ": " + why;
}

void device_read(const void* where, size_t bytes, location) {
  char* const address = static_cast<char*>(const_cast<void*>(where));
  const void* const pc = __builtin_return_address(0);
  if (!is_global(address)) report_host_memory(address, bytes, "bulk copy", pc);
  global_access(*current, address, bytes, true, false, access_kind::plain, pc);
}

namespace {

constexpr hook_access plain_read = {true, false, access_kind::plain, true};
constexpr hook_access plain_write = {false, true, access_kind::plain, true};
constexpr hook_access unaligned_read = {true, false, access_kind::plain, false};
constexpr hook_access unaligned_write = {false, true, access_kind::plain, false};

// Records the access and its effect on order. A volatile access counts as a relaxed atomic, as in PTX.
void on_atomic(const volatile void* address, size_t bytes, bool load, bool store, int order, const void* pc) {
  if (current == nullptr || runtime_depth != 0) return;
  const memory_scope scope = detail::current_scope;
  const access_kind kind = scope == memory_scope::block ? access_kind::block_atomic : access_kind::device_atomic;
  on_access(address, bytes, {load, store, kind, true}, pc);
  const runtime_section section;
  synchronise_through(location_key(address), *current, load, store, order, scope);
}

}  // namespace
}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine::check;

#define STRATA_SIMT_PC __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

#define STRATA_SIMT_ACCESSES(bytes)                                                                                  \
  void __tsan_read##bytes(void* a) { on_access(a, bytes, plain_read, STRATA_SIMT_PC); }                              \
  void __tsan_write##bytes(void* a) { on_access(a, bytes, plain_write, STRATA_SIMT_PC); }                            \
  void __tsan_unaligned_read##bytes(void* a) { on_access(a, bytes, unaligned_read, STRATA_SIMT_PC); }                \
  void __tsan_unaligned_write##bytes(void* a) { on_access(a, bytes, unaligned_write, STRATA_SIMT_PC); }              \
  void __tsan_volatile_read##bytes(void* a) { on_atomic(a, bytes, true, false, __ATOMIC_RELAXED, STRATA_SIMT_PC); }  \
  void __tsan_volatile_write##bytes(void* a) { on_atomic(a, bytes, false, true, __ATOMIC_RELAXED, STRATA_SIMT_PC); } \
  void __tsan_read_write##bytes(void* a) {                                                                           \
    on_access(a, bytes, plain_read, STRATA_SIMT_PC);                                                                 \
    on_access(a, bytes, plain_write, STRATA_SIMT_PC);                                                                \
  }
STRATA_SIMT_ACCESSES(1)
STRATA_SIMT_ACCESSES(2)
STRATA_SIMT_ACCESSES(4)
STRATA_SIMT_ACCESSES(8)
STRATA_SIMT_ACCESSES(16)
#undef STRATA_SIMT_ACCESSES

void __tsan_read_range(void* a, unsigned long bytes) {
  if (bytes != 0) on_access(a, bytes, unaligned_read, STRATA_SIMT_PC);
}
void __tsan_write_range(void* a, unsigned long bytes) {
  if (bytes != 0) on_access(a, bytes, unaligned_write, STRATA_SIMT_PC);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  if (bytes != 0) {
    on_access(from, bytes, unaligned_read, STRATA_SIMT_PC);
    on_access(to, bytes, unaligned_write, STRATA_SIMT_PC);
  }
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  if (bytes != 0) {
    on_access(from, bytes, unaligned_read, STRATA_SIMT_PC);
    on_access(to, bytes, unaligned_write, STRATA_SIMT_PC);
  }
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  if (bytes != 0) on_access(to, bytes, unaligned_write, STRATA_SIMT_PC);
  return std::memset(to, value, bytes);
}

void __tsan_atomic_thread_fence(int order) {
  if (strata::simt::engine::current == nullptr || strata::simt::engine::runtime_depth != 0) return;
  const strata::simt::engine::runtime_section section;
  fenced(order, strata::simt::detail::current_scope);
}
void __tsan_atomic_signal_fence(int) {}

// One thread runs at a time, so plain operations are atomic here.
#define STRATA_SIMT_UPDATE(bits, type, name, result)                           \
  type __tsan_atomic##bits##_##name(volatile type* p, type value, int order) { \
    on_atomic(p, sizeof(type), true, true, order, STRATA_SIMT_PC);             \
    const type old = *p;                                                       \
    *p = static_cast<type>(result);                                            \
    return old;                                                                \
  }
#define STRATA_SIMT_ATOMICS(bits, type)                                                                      \
  type __tsan_atomic##bits##_load(const volatile type* p, int order) {                                       \
    on_atomic(p, sizeof(type), true, false, order, STRATA_SIMT_PC);                                          \
    return *p;                                                                                               \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile type* p, type value, int order) {                                \
    on_atomic(p, sizeof(type), false, true, order, STRATA_SIMT_PC);                                          \
    *p = value;                                                                                              \
  }                                                                                                          \
  STRATA_SIMT_UPDATE(bits, type, exchange, value)                                                            \
  STRATA_SIMT_UPDATE(bits, type, fetch_add, old + value)                                                     \
  STRATA_SIMT_UPDATE(bits, type, fetch_sub, old - value)                                                     \
  STRATA_SIMT_UPDATE(bits, type, fetch_and, old& value)                                                      \
  STRATA_SIMT_UPDATE(bits, type, fetch_or, old | value)                                                      \
  STRATA_SIMT_UPDATE(bits, type, fetch_xor, old ^ value)                                                     \
  STRATA_SIMT_UPDATE(bits, type, fetch_nand, ~(old & value))                                                 \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type value, int order, \
                                                    int failed) {                                            \
    const bool swaps = *p == *expected;                                                                      \
    on_atomic(p, sizeof(type), true, swaps, swaps ? order : failed, STRATA_SIMT_PC);                         \
    if (*p == *expected) {                                                                                   \
      *p = value;                                                                                            \
      return 1;                                                                                              \
    }                                                                                                        \
    *expected = *p;                                                                                          \
    return 0;                                                                                                \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type value, int order,   \
                                                  int failed) {                                              \
    const bool swaps = *p == *expected;                                                                      \
    on_atomic(p, sizeof(type), true, swaps, swaps ? order : failed, STRATA_SIMT_PC);                         \
    if (*p == *expected) {                                                                                   \
      *p = value;                                                                                            \
      return 1;                                                                                              \
    }                                                                                                        \
    *expected = *p;                                                                                          \
    return 0;                                                                                                \
  }                                                                                                          \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type value, int order,    \
                                                  int failed) {                                              \
    const bool swaps = *p == expected;                                                                       \
    on_atomic(p, sizeof(type), true, swaps, swaps ? order : failed, STRATA_SIMT_PC);                         \
    const type old = *p;                                                                                     \
    if (old == expected) *p = value;                                                                         \
    return old;                                                                                              \
  }
STRATA_SIMT_ATOMICS(8, unsigned char)
STRATA_SIMT_ATOMICS(16, unsigned short)
STRATA_SIMT_ATOMICS(32, unsigned int)
STRATA_SIMT_ATOMICS(64, unsigned long)
#undef STRATA_SIMT_ATOMICS
#undef STRATA_SIMT_UPDATE
#undef STRATA_SIMT_PC

}  // extern "C"

#endif

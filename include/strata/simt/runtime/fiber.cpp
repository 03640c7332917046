// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fibers: a stack for each device thread, and a hand-written switch between them. It takes 11 ns; ucontext saves the
// signal mask and takes twenty times as long.
#include <strata/simt/runtime/engine_state.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#if defined(STRATA_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the callee-saved registers on the stack, stores the stack pointer in *save and continues where `to` was saved.
// It leaves by a jump: a ret would be mispredicted, because the return-address predictor holds the callers of the other
// fiber.
extern "C" void strata_simt_switch(void** save, void* to);

#if defined(__APPLE__)
asm(R"(
.text
.globl _strata_simt_switch
.private_extern _strata_simt_switch
.p2align 2
_strata_simt_switch:
)"
#else
asm(R"(
.text
.globl strata_simt_switch
.hidden strata_simt_switch
.type strata_simt_switch,%function
strata_simt_switch:
)"
#endif
#if defined(__x86_64__)
    R"(
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
)"
#elif defined(__aarch64__)
    R"(
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret x30
)"
#else
#error "strata/simt: write a context switch for this architecture"
#endif
#if !defined(__APPLE__)
    R"(
.size strata_simt_switch,.-strata_simt_switch
)"
#endif
);

namespace strata {
namespace simt {
namespace engine {

#if defined(STRATA_SIMT_CHECK)
__thread int runtime_depth = 0;
#endif

namespace {

void* scheduler_stack_pointer;

#if defined(STRATA_SIMT_ASAN)
void* scheduler_sanitizer_stack;
const void* scheduler_stack_bottom;
size_t scheduler_stack_bytes;
#endif

void fiber_main() {
#if defined(STRATA_SIMT_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_bottom, &scheduler_stack_bytes);
#endif
  launch_now.call.invoke(launch_now.call.arguments);
  {
    const runtime_section section;
    fiber& self = *current;
    self.state = fiber_state::exited;
    lane_exits(self);
  }
  to_scheduler();
  std::abort();
}

// The first switch to a stack made here enters fiber_main with the alignment of a called function.
void* initial_stack_pointer(char* top) {
#if defined(__x86_64__)
  void** sp = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--sp = nullptr;  // no return address: backtraces end here
  *--sp = reinterpret_cast<void*>(&fiber_main);
  for (int saved_register = 0; saved_register < 6; ++saved_register) *--sp = nullptr;
  return sp;
#else
  constexpr size_t frame_bytes = 160, link_register = 88;
  char* const frame = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) - frame_bytes;
  std::memset(frame, 0, frame_bytes);
  *reinterpret_cast<void**>(frame + link_register) = reinterpret_cast<void*>(&fiber_main);
  return frame;
#endif
}

// Below each stack lies a guard of one page, the smallest piece that the kernel protects.
char* allocate_stack(size_t bytes) {
  const size_t guard_bytes = page_bytes();
  void* const memory =
      mmap(nullptr, bytes + guard_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("strata simt: stack of a device thread");
    std::abort();
  }
  // A guard splits one mapping into two, and a process may have 65,530 mappings. So with very many threads, stacks have
  // no guards.
  constexpr int most_guards = 16384;
  static int guards = 0;
  if (guards < most_guards) {
    mprotect(memory, guard_bytes, PROT_NONE);
    ++guards;
  }
  return static_cast<char*>(memory) + guard_bytes;
}

}  // namespace

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void prepare_stack(fiber& thread) {
  const size_t page = page_bytes();
  const size_t bytes = (settings.stack_bytes + page - 1) / page * page;
  if (thread.stack != nullptr && thread.stack_bytes != bytes) {
    munmap(thread.stack - page, thread.stack_bytes + page);
    thread.stack = nullptr;
  }
  if (thread.stack == nullptr) {
    thread.stack = allocate_stack(bytes);
    thread.stack_bytes = bytes;
  }
#if defined(STRATA_SIMT_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(thread.stack, bytes);  // a thread that was abandoned has left its marks
#endif
  // Different threads start at different offsets. Otherwise all frames would fall into the same cache sets.
  const size_t colour = thread.linear % 61 * 64;
  thread.stack_pointer = initial_stack_pointer(thread.stack + bytes - colour);
}

void to_scheduler() {
  fiber& self = *current;
#if defined(STRATA_SIMT_CHECK)
  const int depth = runtime_depth;
  runtime_depth = 0;
#endif
#if defined(STRATA_SIMT_ASAN)
  __sanitizer_start_switch_fiber(self.state == fiber_state::exited ? nullptr : &self.sanitizer_stack,
                                 scheduler_stack_bottom, scheduler_stack_bytes);
#endif
  strata_simt_switch(&self.stack_pointer, scheduler_stack_pointer);
#if defined(STRATA_SIMT_ASAN)
  __sanitizer_finish_switch_fiber(self.sanitizer_stack, &scheduler_stack_bottom, &scheduler_stack_bytes);
#endif
#if defined(STRATA_SIMT_CHECK)
  runtime_depth = depth;
#endif
}

void resume(fiber& thread) {
  current = &thread;
  launch_now.running = &thread;
  threadIdx = thread.index;
  detail::current_lane = thread.lane;
  detail::current_linear_thread = thread.linear;
  thread.state = fiber_state::running;
  ++counters.switches;
#if defined(STRATA_SIMT_ASAN)
  __sanitizer_start_switch_fiber(&scheduler_sanitizer_stack, thread.stack, thread.stack_bytes);
#endif
  strata_simt_switch(&scheduler_stack_pointer, thread.stack_pointer);
#if defined(STRATA_SIMT_ASAN)
  __sanitizer_finish_switch_fiber(scheduler_sanitizer_stack, nullptr, nullptr);
#endif
  current = nullptr;
  launch_now.running = nullptr;
}

}  // namespace engine
}  // namespace simt
}  // namespace strata

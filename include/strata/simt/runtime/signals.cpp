// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Crashes and endless loops inside a kernel, reported with the thread that caused them.
#include <strata/simt/runtime/engine_state.hpp>

#include <execinfo.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strata {
namespace simt {
namespace engine {
namespace {

constexpr int hang_exit_status = 86;

void say(const char* text) {
  const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

const void* interrupted_instruction(void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__APPLE__) && defined(__x86_64__)
  return reinterpret_cast<const void*>(registers->__ss.__rip);
#elif defined(__APPLE__)
  return reinterpret_cast<const void*>(registers->__ss.__pc);
#elif defined(__x86_64__)
  return reinterpret_cast<const void*>(registers.gregs[REG_RIP]);
#else
  return reinterpret_cast<const void*>(registers.pc);
#endif
}

// A handler must not call most of these functions. But the process ends here, so they can do no harm. What cannot fail
// is printed first. `give_up` ends the process if the search for the line does not end, for example if the signal came
// in the middle of malloc.
void describe(const fiber& thread, const char* kind, const char* what, void* context, void (*give_up)(int)) {
  const uint3 b = thread.home->index, t = thread.index;
  char buffer[640];
  std::snprintf(buffer, sizeof buffer, "SIMT ERROR [%s] kernel %s: block (%u,%u,%u) thread (%u,%u,%u) %s\n", kind,
                launch_now.parameters.name, b.x, b.y, b.z, t.x, t.y, t.z, what);
  say(buffer);
  if (thread.where.file != nullptr) {
    std::snprintf(buffer, sizeof buffer, "    last collective, barrier or poll at %s:%d\n",
                  file_name(thread.where.file), thread.where.line);
    say(buffer);
  }
  constexpr unsigned patience_seconds = 20;
  std::signal(SIGALRM, give_up);
  alarm(patience_seconds);
  const std::string line = "    at " + interrupted_line(interrupted_instruction(context)) + "\n";
  alarm(0);
  say(line.c_str());
}

// Counts how many ticks have seen the same number.
class stand_still {
 public:
  unsigned ticks(uint64_t number) {
    ticks_ = number == seen_ ? ticks_ + 1 : 0;
    seen_ = number;
    return ticks_;
  }

 private:
  uint64_t seen_ = ~uint64_t{0};
  unsigned ticks_ = 0;
};

// Called every second. A thread that polls without a spin hint keeps all others from running, or keeps them at barriers
// and collectives. A block that computes may pass barriers for a long time, so barriers get more patience.
void on_tick(int, siginfo_t*, void* context) {
  constexpr unsigned barrier_factor = 6;
  static stand_still switches, events;
  const fiber* const running = launch_now.running;
  if (running == nullptr) return;
  const char* what = nullptr;
  if (events.ticks(launch_now.events + counters.polls) >= barrier_factor * settings.hang_seconds) {
    what = "runs on with barriers or collectives, and without a spin hint";
  }
  if (switches.ticks(counters.switches) >= settings.hang_seconds) {
    what = "runs on without a barrier, collective or spin hint";
  }
  if (what == nullptr) return;
  const auto give_up = [](int) { _exit(hang_exit_status); };
  describe(*running, "hang", what, context, give_up);
  give_up(0);
}

#if !defined(STRATA_SIMT_ASAN)
void on_fault(int signal_number, siginfo_t* info, void* context) {
  static int raised;
  raised = signal_number;
  const auto give_up = [](int) {
    std::signal(raised, SIG_DFL);
    std::raise(raised);
  };
  if (current != nullptr) {
    const char* const address = static_cast<char*>(info->si_addr);
    const bool in_guard = address >= current->stack - page_bytes() && address < current->stack;
    char what[128];
    std::snprintf(what, sizeof what, "%s at address %p",
                  in_guard ? "overflows its stack (STRATA_SIMT_STACK_BYTES)" : "faults",
                  static_cast<const void*>(address));
    describe(*current, in_guard ? "stack-overflow" : "segmentation-fault", what, context, give_up);
  }
  give_up(0);
}
#endif

void handle(int signal_number, struct sigaction action) {
  struct sigaction before {};
  sigaction(signal_number, nullptr, &before);
  // A handler of a test framework or a debugger stays in place.
  if (before.sa_handler == SIG_DFL) sigaction(signal_number, &action, nullptr);
}

// The stack at fault may have overflowed, so handlers need another one. One host thread runs at a time, so all share
// it. AddressSanitizer gives each thread such a stack itself, and frees the one that it finds when the thread ends.
void set_alternate_stack() {
#if !defined(STRATA_SIMT_ASAN)
  static __thread bool done = false;
  if (done) return;
  done = true;
  static char alternate_stack[64 << 10];
  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = sizeof alternate_stack;
  sigaltstack(&stack, nullptr);
#endif
}

}  // namespace

void install_signal_handlers() {
  static const bool disabled = std::getenv("STRATA_SIMT_NO_SIGNALS") != nullptr;
  if (disabled) return;
  set_alternate_stack();
  static bool done = false;
  if (done) return;
  done = true;
  void* frame;
  backtrace(&frame, 1);  // the first call loads a library, which a handler must not

  struct sigaction tick {};
  tick.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  tick.sa_sigaction = on_tick;
  handle(SIGVTALRM, tick);
  const struct itimerval every_second {
    {1, 0}, { 1, 0 }
  };
  setitimer(ITIMER_VIRTUAL, &every_second, nullptr);  // CPU time, because a stop in a debugger is no hang
#if !defined(STRATA_SIMT_ASAN)
  struct sigaction fault {};
  fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
  fault.sa_sigaction = on_fault;
  handle(SIGSEGV, fault);
  handle(SIGBUS, fault);
#endif
}

}  // namespace engine
}  // namespace simt
}  // namespace strata

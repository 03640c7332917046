// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Keeps a broken case from spoiling others. A kernel that writes out of bounds loses the CUDA context of its process
/// for good, and a kernel that hangs holds it for ever. So the cases run in a child process. If it dies or hangs, a new
/// one goes on after the case at fault. For POSIX, host code only. Start it before the first CUDA call, because a
/// context does not survive a fork.

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace bench {

/// Progress of the child, in shared memory. The child writes it, the parent reads it.
struct progress {
  /// The case being measured, or the last one that was; -1 before the first.
  std::atomic<int> case_index{-1};
  /// Counts every begin and end of a case. The time limit runs while the count stands still inside a case.
  std::atomic<int> steps{0};
  std::atomic<bool> inside_case{false};
  std::atomic<int> failures{0};
  /// Name of the case, for the message in which the parent says that it ended the child.
  char case_name[256] = "";

  void begin(int index, const std::string& name) {
    case_index = index;
    std::snprintf(case_name, sizeof case_name, "%s", name.c_str());
    inside_case = true;
    ++steps;
  }
  void end() {
    inside_case = false;
    ++steps;
  }
};

/// Limit on child processes. A library that breaks so often breaks everywhere, and each time costs a start or a
/// timeout.
inline constexpr int most_processes = 8;

namespace detail {

struct child_end {
  bool in_time = true;
  int status = 0;
};

inline child_end await(pid_t child, const progress& shared, double case_timeout_s) {
  using clock = std::chrono::steady_clock;
  int seen_steps = -1;
  clock::time_point since = clock::now();
  for (;;) {
    child_end end;
    if (waitpid(child, &end.status, WNOHANG) == child) return end;
    if (shared.steps != seen_steps) {
      seen_steps = shared.steps;
      since = clock::now();
    }
    const std::chrono::duration<double> standing = clock::now() - since;
    if (shared.inside_case && standing.count() > case_timeout_s) {
      kill(child, SIGKILL);
      waitpid(child, &end.status, 0);
      end.in_time = false;
      return end;
    }
    usleep(20'000);
  }
}

}  // namespace detail

/// Runs `work(first_case, process_number, progress) -> exit code` in child processes until one of them ends by itself.
/// Returns the number of failures that the children counted, plus one for each child that did not reach its end.
template <class Work>
int supervise(double case_timeout_s, Work&& work) {
  void* memory = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
  auto* shared = new (memory) progress;
  int first_case = 0;
  for (int process_number = 1;; ++process_number) {
    shared->inside_case = false;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int code = work(first_case, process_number, *shared);
      std::fflush(nullptr);
      std::_Exit(code);
    }
    const detail::child_end end = detail::await(child, *shared, case_timeout_s);
    const bool finished = end.in_time && WIFEXITED(end.status) && !shared->inside_case;
    if (finished) {
      const int failures = shared->failures + (WEXITSTATUS(end.status) != 0 ? 1 : 0);
      munmap(memory, sizeof(progress));
      return failures;
    }
    ++shared->failures;
    std::fprintf(stderr, "FAILED %s: %s\n", shared->inside_case ? shared->case_name : "outside of the cases",
                 !end.in_time              ? "did not end in time"
                 : WIFSIGNALED(end.status) ? "killed its process"
                                           : "lost the CUDA context");
    // If the child died outside of a case, there is none to skip, and a new child would die in the same way.
    const bool go_on = shared->inside_case && process_number < most_processes;
    if (!go_on) {
      std::fprintf(stderr, "the remaining cases are left out\n");
      const int failures = shared->failures;
      munmap(memory, sizeof(progress));
      return failures;
    }
    first_case = shared->case_index + 1;
  }
}

}  // namespace bench

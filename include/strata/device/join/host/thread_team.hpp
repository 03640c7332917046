// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Threads of the host that take the tasks of a loop in turn. They live in the caller's storage and
/// end with the loop: all that one loop wrote is seen by the next.
class thread_team {
 public:
  /// No loop has more threads, so that the size of storage does not depend on the machine.
  static constexpr unsigned most_threads = 256;

  /// `storage` is memory for most_threads objects; 0 threads: as many as the machine has.
  thread_team(std::thread* storage, unsigned threads) : storage_(storage), threads_(threads) {
    if (threads_ == 0) threads_ = std::thread::hardware_concurrency();
    if (threads_ == 0) threads_ = 1;
    if (threads_ > most_threads) threads_ = most_threads;
  }

  /// Calls `body(task)` once for each task in [0, tasks). An exception ends the program.
  template <class Body>
  void run(std::uint64_t tasks, const Body& body) const {
    if (tasks == 0) return;
    std::atomic<std::uint64_t> next{0};
    const auto work = [&next, &body, tasks]() noexcept {
      for (;;) {
        // relaxed: only the number is shared. Results become visible when the threads are joined.
        const std::uint64_t task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return;
        body(task);
      }
    };
    const unsigned helpers = tasks < threads_ ? static_cast<unsigned>(tasks) - 1 : threads_ - 1;
    unsigned started = 0;
    const auto start_helpers = [&] {
      for (; started < helpers; ++started) {
        ::new (static_cast<void*>(storage_ + started)) std::thread([&work] { work(); });
      }
    };
#if defined(__cpp_exceptions)
    try {
      start_helpers();
    } catch (...) {
      // The system starts no more threads: those that run execute all tasks.
    }
#else
    start_helpers();  // ends the program where the system starts no more
#endif
    work();
    for (unsigned i = 0; i < started; ++i) {
      storage_[i].join();
      storage_[i].~thread();
    }
  }

 private:
  std::thread* storage_;
  unsigned threads_;
};

}  // namespace detail
STRATA_NAMESPACE_END

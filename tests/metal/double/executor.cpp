// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "executor.hpp"

#include "engine.hpp"
#include "fiber.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace msl {
namespace {

std::mutex& counts_lock() {
  static std::mutex lock;
  return lock;
}
std::map<std::string, kernel_counts>& all_counts() {
  static std::map<std::string, kernel_counts> all;
  return all;
}

// Returns the bytes of threadgroup memory, and in `offsets` where each array begins. Throws if Metal would refuse.
std::size_t check(const launch& q, std::size_t* offsets) {
  const kernel_desc& k = *q.kernel;
  const auto refuse = [&k](const std::string& text) {
    throw std::runtime_error(std::string("kernel ") + k.name + ": " + text);
  };
  const std::uint64_t threads = std::uint64_t{q.group[0]} * q.group[1] * q.group[2];
  if (threads == 0 || threads > 1024) refuse(std::to_string(threads) + " threads in a threadgroup");
  std::size_t total = 0;
  for (int i = 0; i < slots; ++i) {
    offsets[i] = total;
    total += q.threadgroup_length[i];
  }
  if (total > q.threadgroup_memory) {
    refuse("threadgroup memory of " + std::to_string(total) + " bytes");
  }
  for (std::size_t i = 0; i < k.arg_count; ++i) {
    const arg_desc& a = k.args[i];
    if (a.kind == arg_kind::buffer) {
      if (q.bound.buffer[a.index] == nullptr) {
        refuse("buffer(" + std::to_string(a.index) + ") is not bound");
      }
      if (reinterpret_cast<std::uintptr_t>(q.bound.buffer[a.index]) % a.align != 0) {
        refuse("buffer(" + std::to_string(a.index) + ") is misaligned");
      }
    } else if (a.kind == arg_kind::threadgroup_memory && q.threadgroup_length[a.index] == 0) {
      refuse("threadgroup(" + std::to_string(a.index) + ") has no length");
    }
  }
  return total;
}

}  // namespace

std::map<std::string, kernel_counts> counts() {
  const std::lock_guard<std::mutex> lock(counts_lock());
  return all_counts();
}
void reset_counts() {
  const std::lock_guard<std::mutex> lock(counts_lock());
  all_counts().clear();
}

void execute(const launch& q) {
  std::size_t offsets[slots] = {};
  const std::size_t total = check(q, offsets);
  std::uint32_t groups_of[3];
  for (int d = 0; d < 3; ++d) groups_of[d] = (q.grid[d] + q.group[d] - 1) / q.group[d];
  const std::uint64_t groups = std::uint64_t{groups_of[0]} * groups_of[1] * groups_of[2];
  std::vector<std::uint64_t> order(groups);
  for (std::uint64_t i = 0; i < groups; ++i) order[i] = i;
  if (q.seed != 0) std::shuffle(order.begin(), order.end(), std::mt19937(q.seed));
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr error;
  std::mutex lock;
  // With ThreadSanitizer, no threadgroup gets memory that another one had, because reuse would hide races.
  std::vector<char*> kept;
  const auto work = [&](unsigned worker) {
    engine e(q, worker);
    e.begin_worker();
    char* memory = nullptr;
    try {
      for (std::uint64_t i; (i = next++) < groups;) {
        if (memory == nullptr || MSL_TSAN) {
          memory = static_cast<char*>(std::aligned_alloc(256, (total + 511) / 256 * 256));
          const std::lock_guard<std::mutex> guard(lock);
          kept.push_back(memory);
        }
#if !MSL_TSAN
        std::memset(memory, 0xa5, total);  // threadgroup memory is uninitialised at first
#endif
        const std::uint64_t g = order[i];
        e.run_group(
            {static_cast<std::uint32_t>(g % groups_of[0]), static_cast<std::uint32_t>(g / groups_of[0] % groups_of[1]),
             static_cast<std::uint32_t>(g / groups_of[0] / groups_of[1])},
            memory, total, offsets);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> guard(lock);
      if (!error) error = std::current_exception();
      next = groups;
    }
    e.end_worker();
    const std::lock_guard<std::mutex> guard(counts_lock());
    add_counts(all_counts()[q.kernel->name], e.counted);
  };
  unsigned workers = q.workers != 0 ? q.workers : std::max(1u, std::thread::hardware_concurrency());
  // A host thread for few threadgroups would cost more than it saves.
  if (workers > (groups + 7) / 8) workers = static_cast<unsigned>((groups + 7) / 8);
  if (workers <= 1) {
    work(0);
  } else {
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w) threads.emplace_back(work, w);
    for (std::thread& t : threads) t.join();
  }
  {
    const std::lock_guard<std::mutex> guard(counts_lock());
    ++all_counts()[q.kernel->name].launches;
  }
  for (char* const memory : kept) std::free(memory);
  if (error) std::rethrow_exception(error);
}

}  // namespace msl

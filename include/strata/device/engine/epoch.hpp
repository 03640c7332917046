// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <atomic>
#if defined(__MINGW32__)  // which has no timespec_get; <chrono> has 1,500 lines
#include <chrono>
#else
#include <ctime>
#endif

STRATA_NAMESPACE_BEGIN
namespace detail {

inline unsigned long long nanoseconds_of_clock() {
#if defined(__MINGW32__)
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
#else
  std::timespec now{};
  static_cast<void>(std::timespec_get(&now, TIME_UTC));
  return static_cast<unsigned long long>(now.tv_sec) * 1000000000ull + static_cast<unsigned long long>(now.tv_nsec);
#endif
}

/// A number that no other call of this process has, that memory hardly holds by chance, and that is not 0.
inline unsigned long long next_epoch() {
  static std::atomic<unsigned long long> counter{nanoseconds_of_clock() ^
                                                 reinterpret_cast<unsigned long long>(&counter)};
  // splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014) is a bijection:
  // different counters give different epochs.
  constexpr unsigned long long increment = 0x9e3779b97f4a7c15ull;
  for (;;) {
    unsigned long long z = counter.fetch_add(increment, std::memory_order_relaxed) + increment;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    if (z != 0) return z;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

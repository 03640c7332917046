// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <atomic>
#include <cstring>
#if defined(__MINGW32__)  // which has no timespec_get; <chrono> has 1,500 lines
#include <chrono>
#else
#include <ctime>
#endif

/// \file
/// Tagged words: how blocks of one launch pass values through uninitialised memory.
///
///     16 bytes, one access      | value: 8 bytes | epoch: 8 bytes |
///
/// Each call of the library has an epoch, a number that no other call has. A reader compares the epoch that it finds
/// with that of its call. If they are equal, a block of this call has stored the word, and its value is complete,
/// because one access reads and writes both halves. If they differ, the word is left from another call or is garbage.
///
/// Forward progress: no function here waits.

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

/// A number that no other call of this process has, that memory is unlikely to hold by chance, and that is not 0.
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

/// A value of type T in `size` tagged words. Word i of block b lies at `words[i * stride + b]`, so that
/// neighbouring threads that read the values of neighbouring blocks read neighbouring words.
template <class T>
struct tagged_value {
  static constexpr int size = static_cast<int>((sizeof(T) + 7) / 8);

  platform::tagged_word word[size];

  STRATA_D static void store(platform::tagged_word* words, unsigned stride, unsigned block, const T& value,
                             unsigned long long epoch) {
    unsigned long long parts[size];
    parts[size - 1] = 0;
    std::memcpy(parts, &value, sizeof(T));
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      platform::store_tagged_word(words + static_cast<unsigned>(i) * stride + block, {parts[i], epoch});
    }
  }

  STRATA_D static tagged_value load(const platform::tagged_word* words, unsigned stride, unsigned block) {
    tagged_value result;
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      result.word[i] = platform::load_tagged_word(words + static_cast<unsigned>(i) * stride + block);
    }
    return result;
  }

  /// Copies the bytes to `value`. Returns true if all words have this epoch; otherwise `value` is garbage.
  STRATA_D bool get(T& value, unsigned long long epoch) const {
    unsigned long long parts[size];
    bool is_complete = true;
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      is_complete = is_complete && word[i].epoch == epoch;
      parts[i] = word[i].value;
    }
    std::memcpy(static_cast<void*>(&value), parts, sizeof(T));
    return is_complete;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceSelect: items of random bits, sequential selections, and calls that also check the
// memory behind the last kept item.
#pragma once

#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

namespace device_test {

// ------------------------------------------------------------------ items

/// Items of random bits. Floating-point items include NaNs, 0.0 and -0.0.
template <class T>
std::vector<T> items_of_any_bits(std::size_t count, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<T> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    unsigned char bytes[sizeof(T)];
    for (std::size_t b = 0; b < sizeof(T); b += 8) {
      const std::uint64_t word = bits();
      std::memcpy(bytes + b, &word, sizeof(T) - b < 8 ? sizeof(T) - b : 8);
    }
    std::memcpy(static_cast<void*>(&items[i]), bytes, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      if (i % 17 == 3) items[i] = T{0} * T(i % 2 == 0 ? 1 : -1);
      if (i % 23 == 5) items[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return items;
}

/// Keeps about `of_1024` of 1024 items, by a hash of their bits.
struct keeps_some {
  unsigned of_1024;

  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    std::uint64_t word = 0;
    memcpy(&word, &item, sizeof(T) < 8 ? sizeof(T) : 8);
    return (word * 0x9e3779b97f4a7c15u + 0x123456789abcdefu) >> 54 < of_1024;
  }
};
inline constexpr unsigned densities[] = {0, 10, 512, 1024};

/// Which items of an input are kept.
enum class pattern { none, last, few, half, first_half, all };
inline constexpr pattern patterns[] = {pattern::none, pattern::last,       pattern::few,
                                       pattern::half, pattern::first_half, pattern::all};

inline std::vector<char> kept_by(pattern which, std::size_t count, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<char> keeps(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = bits() >> 54;
    switch (which) {
      case pattern::none:
        break;
      case pattern::last:
        keeps[i] = i + 1 == count;
        break;
      case pattern::few:
        keeps[i] = number < 5;
        break;
      case pattern::half:
        keeps[i] = number < 512;
        break;
      case pattern::first_half:
        keeps[i] = i < count / 2;
        break;
      case pattern::all:
        keeps[i] = 1;
        break;
    }
  }
  return keeps;
}

/// Keys in runs of 1 to 2 * `mean` - 1 items. Keys recur, but not in neighbouring runs.
template <class Key>
std::vector<Key> keys_in_runs(std::size_t count, std::size_t mean, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<Key> keys;
  keys.reserve(count);
  for (int key = 0; keys.size() < count; ++key) {
    for (std::size_t left = 1 + bits() % (2 * mean - 1); left > 0 && keys.size() < count; --left) {
      keys.push_back(strata_test::from_integer<Key>::make(key % 5));
    }
  }
  return keys;
}
inline constexpr std::size_t run_lengths[] = {1, 3, 700, std::size_t{1} << 40};

struct same_hundred {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a / 100 == b / 100;
  }
};

// ------------------------------------------------------------------ sequential selections

/// For each item, `keeps` has a value that converts to bool.
template <class T, class Keeps>
std::vector<T> only_kept(const std::vector<T>& items, const Keeps& keeps) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (keeps[i]) kept.push_back(items[i]);
  }
  return kept;
}

template <class T, class Op>
std::vector<char> kept_by_items(const std::vector<T>& items, Op op) {
  std::vector<char> keeps;
  for (const T& item : items) keeps.push_back(op(item) ? 1 : 0);
  return keeps;
}

template <class T, class Equal>
std::vector<char> kept_by_difference(const std::vector<T>& items, Equal equal) {
  std::vector<char> keeps;
  for (std::size_t i = 0; i < items.size(); ++i) {
    keeps.push_back(i == 0 || !equal(items[i - 1], items[i]) ? 1 : 0);
  }
  return keeps;
}

// ------------------------------------------------------------------ results

/// Compares bit by bit, and reports the first difference.
template <class T>
testing::AssertionResult same_bytes(const char* expected_text, const char*, const std::vector<T>& expected,
                                    const std::vector<T>& actual) {
  if (expected.size() != actual.size()) {
    return testing::AssertionFailure() << actual.size() << " items, not " << expected.size();
  }
  if (expected.empty() || std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(T)) == 0) {
    return testing::AssertionSuccess();
  }
  std::size_t first = 0;
  while (strata_test::same_bits(expected[first], actual[first])) ++first;
  return testing::AssertionFailure() << "from " << first << " on, " << expected.size() << " items differ from "
                                     << expected_text << ": " << testing::PrintToString(actual[first]) << ", not "
                                     << testing::PrintToString(expected[first]);
}
#define EXPECT_SAME_BYTES(expected, actual) EXPECT_PRED_FORMAT2(::device_test::same_bytes, expected, actual)
#define ASSERT_SAME_BYTES(expected, actual) ASSERT_PRED_FORMAT2(::device_test::same_bytes, expected, actual)

/// An array that begins `shift` items above a multiple of 256 bytes, between guard bands.
template <class T>
class shifted_array {
 public:
  /// An array of `size` items, to which nothing was written.
  shifted_array(std::size_t size, std::size_t shift) : size_(size), memory_(size * sizeof(T), shift * sizeof(T)) {}
  shifted_array(const std::vector<T>& items, std::size_t shift) : shifted_array(items.size(), shift) {
    memory_.write(items.data());
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  std::vector<T> to_host() const {
    std::vector<T> items(size_);
    memory_.read(items.data());
    return items;
  }
  void poison() const { memory_.fill(strata_test::guarded_memory::poison); }

 private:
  std::size_t size_;
  strata_test::guarded_memory memory_;
};

/// Returns `before` with `kept` in place of its first items.
template <class T>
std::vector<T> with_front(const std::vector<T>& kept, std::vector<T> before) {
  std::copy(kept.begin(), kept.end(), before.begin());
  return before;
}
template <class T>
std::vector<T> poisoned(std::size_t size) {
  std::vector<T> items(size);
  if (size > 0) {
    std::memset(static_cast<void*>(items.data()), strata_test::guarded_memory::poison, size * sizeof(T));
  }
  return items;
}

/// Expects that `call(out, num_selected, storage...)` writes `expected` and its size, and nothing behind it, to an
/// output with room for `size` items.
template <class T, class Call>
void expect_selects(const std::vector<T>& expected, std::size_t size, std::size_t shift, const Call& call) {
  const shifted_array<T> out(size, shift);
  device_vector<std::int64_t> num_selected(1);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return call(out.data(), num_selected.data(), storage...); }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), num_selected.to_host()[0]);
  ASSERT_SAME_BYTES(with_front(expected, poisoned<T>(size)), out.to_host());
}

/// Expects that `call(data, num_selected, storage...)` moves `expected` to the front of `items`, and changes nothing
/// behind it.
template <class T, class Call>
void expect_selects_in_place(const std::vector<T>& expected, const std::vector<T>& items, std::size_t shift,
                             const Call& call) {
  const shifted_array<T> data(items, shift);
  device_vector<std::int64_t> num_selected(1);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return call(data.data(), num_selected.data(), storage...); }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), num_selected.to_host()[0]);
  ASSERT_SAME_BYTES(with_front(expected, items), data.to_host());
}

/// expect_selects() for `call(keys_out, values_out, num_selected, storage...)`, which has two outputs.
template <class Key, class Value, class Call>
void expect_selects_pairs(const std::vector<Key>& keys, const std::vector<Value>& values, std::size_t size,
                          std::size_t shift, const Call& call) {
  const shifted_array<Value> values_out(size, shift);
  expect_selects(keys, size, shift,
                 [&](Key* keys_out, auto&&... others) { return call(keys_out, values_out.data(), others...); });
  ASSERT_SAME_BYTES(with_front(values, poisoned<Value>(size)), values_out.to_host());
}

}  // namespace device_test

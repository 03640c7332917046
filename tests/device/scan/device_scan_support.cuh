// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceScan: sequential scans, calls whose outputs start anywhere, and items of all types.
#pragma once

#include <strata/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

namespace device_test {

// ------------------------------------------------------------------ sequential scans

/// Exclusive scan of the first `count` items, in `Accum`.
template <class Accum, class Item, class Op>
std::vector<Accum> exclusive_scan(const Item* items, std::size_t count, Op op, Accum init) {
  std::vector<Accum> sums;
  sums.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    sums.push_back(init);
    init = static_cast<Accum>(op(init, static_cast<Accum>(items[i])));
  }
  return sums;
}

/// Inclusive scan of the first `count` items, which begins with `init`.
template <class Accum, class Item, class Op>
std::vector<Accum> inclusive_scan(const Item* items, std::size_t count, Op op, Accum init) {
  std::vector<Accum> sums;
  sums.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    sums.push_back(init = static_cast<Accum>(op(init, static_cast<Accum>(items[i]))));
  }
  return sums;
}

/// Inclusive scan without an initial value.
template <class Accum, class Item, class Op>
std::vector<Accum> inclusive_scan(const Item* items, std::size_t count, Op op) {
  if (count == 0) return {};
  std::vector<Accum> sums = {static_cast<Accum>(items[0])};
  sums.reserve(count);
  for (std::size_t i = 1; i < count; ++i) {
    sums.push_back(static_cast<Accum>(op(sums.back(), static_cast<Accum>(items[i]))));
  }
  return sums;
}

/// Reports the first difference, because whole vectors in a message are too long to read.
template <class T>
testing::AssertionResult same_items(const char* expected_text, const char*, const std::vector<T>& expected,
                                    const std::vector<T>& actual) {
  if (expected.size() != actual.size()) {
    return testing::AssertionFailure() << actual.size() << " items, not " << expected.size();
  }
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    if (!(expected[i] == actual[i])) {
      ++different;
      first = i;
    }
  }
  if (different == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << different << " of " << expected.size() << " items differ from " << expected_text
                                     << ", first item " << first << ": " << testing::PrintToString(actual[first])
                                     << ", not " << testing::PrintToString(expected[first]);
}
#define EXPECT_SAME_ITEMS(expected, actual) EXPECT_PRED_FORMAT2(::device_test::same_items, expected, actual)
#define ASSERT_SAME_ITEMS(expected, actual) ASSERT_PRED_FORMAT2(::device_test::same_items, expected, actual)

// ------------------------------------------------------------------ calls

/// Returns what `call(T* out, storage...)` writes to `count` outputs that start `shift` items above a multiple of 256
/// bytes. No byte next to them may change.
template <class T, class Call>
std::vector<T> scan_results(std::size_t count, std::size_t shift, const Call& call) {
  const strata_test::guarded_memory out(count * sizeof(T), shift * sizeof(T));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(static_cast<T*>(out.data()), storage...); }));
  std::vector<T> results(count);
  out.read(results.data());
  return results;
}

template <class T, class Call>
std::vector<T> scan_results(std::size_t count, const Call& call) {
  return scan_results<T>(count, 0, call);
}

/// Items of more bytes than any policy scans without the pipeline. The last tile is partial.
template <class T>
std::size_t large_count() {
  return (std::size_t{17} << 20) / sizeof(T) + 5;
}

// ------------------------------------------------------------------ types

/// Functions x -> factor * x + offset modulo 2^(half the bits of Word), packed into a Word. With odd factors they form
/// a group that is not commutative, so a result is right only if each item was combined once and in order.
template <class Word>
struct packed_affine {
  static constexpr int bits = 4 * static_cast<int>(sizeof(Word));
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;

  Word packed;

  static STRATA_HD packed_affine of(unsigned factor, unsigned offset) {
    return {static_cast<Word>((factor & mask) << bits | (offset & mask))};
  }
  STRATA_HD unsigned factor() const { return static_cast<unsigned>(packed >> bits); }
  STRATA_HD unsigned offset() const { return static_cast<unsigned>(packed & mask); }

  STRATA_HD friend bool operator==(const packed_affine& a, const packed_affine& b) { return a.packed == b.packed; }
  friend std::ostream& operator<<(std::ostream& out, const packed_affine& a) {
    return out << a.factor() << " x + " << a.offset();
  }
};

/// Composition that applies `a` first.
struct compose {
  template <class Word>
  STRATA_HD packed_affine<Word> operator()(const packed_affine<Word>& a, const packed_affine<Word>& b) const {
    return packed_affine<Word>::of(a.factor() * b.factor(), a.offset() * b.factor() + b.offset());
  }
};

/// Random items of each type that the tests scan.
template <class T>
struct scan_items {
  static std::vector<T> make(std::size_t count, std::uint64_t stream = 0) {
    return random_integers<T>(count, std::is_floating_point_v<T> ? -8 : 0, std::is_floating_point_v<T> ? 8 : 100,
                              stream);
  }
};
template <class Word>
struct scan_items<packed_affine<Word>> {
  static std::vector<packed_affine<Word>> make(std::size_t count, std::uint64_t stream = 0) {
    std::vector<packed_affine<Word>> items;
    items.reserve(count);
    constexpr auto most = std::numeric_limits<std::int64_t>::max() >> (64 - 8 * sizeof(Word));
    for (const Word word : random_integers<Word>(count, 0, most, stream)) {
      const packed_affine<Word> item{word};
      items.push_back(packed_affine<Word>::of(item.factor() | 1, item.offset()));
    }
    return items;
  }
};
template <std::size_t Count, class Word>
struct scan_items<strata_test::words<Count, Word>> {
  static std::vector<strata_test::words<Count, Word>> make(std::size_t count, std::uint64_t stream = 0) {
    return strata_test::random_items<strata_test::words<Count, Word>>(count, stream);
  }
};
template <>
struct scan_items<strata_test::string_hash> {
  static std::vector<strata_test::string_hash> make(std::size_t count, std::uint64_t stream = 0) {
    std::vector<strata_test::string_hash> items;
    items.reserve(count);
    for (const unsigned c : random_integers<unsigned>(count, 0, 255, stream)) {
      items.push_back(strata_test::string_hash::of(c));
    }
    return items;
  }
};

}  // namespace device_test

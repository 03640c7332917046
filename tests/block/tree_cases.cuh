// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of the classic shared-memory algorithms: the items that they combine, and the bank conflicts of
// the model and of the host back end.
#pragma once

#include <strata/block/classic/tree.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <ostream>
#include <type_traits>

namespace tree_cases {

/// The affine map x -> slope * x + offset modulo 2^64. It has 16 bytes, which one access moves.
struct alignas(16) affine {
  unsigned long long slope, offset;
  STRATA_HD friend bool operator==(const affine& a, const affine& b) {
    return a.slope == b.slope && a.offset == b.offset;
  }
  friend std::ostream& operator<<(std::ostream& out, const affine& a) { return out << a.slope << " x + " << a.offset; }
};

/// The map that applies a, then b. It is associative and not commutative, with the identity {1, 0}.
struct compose {
  STRATA_HD affine operator()(const affine& a, const affine& b) const {
    return {a.slope * b.slope, a.offset * b.slope + b.offset};
  }
};

/// A range of consecutive numbers. It has 12 bytes, which three accesses move. The result is the whole range only if
/// every item was joined once and in its place.
struct range {
  int first, last, broken;
  friend bool operator==(const range& a, const range& b) {
    return a.first == b.first && a.last == b.last && a.broken == b.broken;
  }
  friend std::ostream& operator<<(std::ostream& out, const range& s) {
    return out << s.first << " .. " << s.last << (s.broken != 0 ? ", broken" : "");
  }
};
struct join_ranges {
  STRATA_HD range operator()(const range& a, const range& b) const {
    return {a.first, b.last, a.broken != 0 || b.broken != 0 || a.last + 1 != b.first};
  }
};

/// Item i of a test, of the kind that `Operator` joins.
template <class T, class Operator>
T item(int i) {
  if constexpr (std::is_same_v<Operator, join_ranges>) {
    return {i, i, 0};
  } else if constexpr (std::is_same_v<Operator, compose>) {
    return {2ull * static_cast<unsigned>(i) + 3, 7ull * static_cast<unsigned>(i) + 1};
  } else {
    return static_cast<T>(i * 37 % 101 - 50);  // Sums of thousands are exact in float.
  }
}
/// The initial value of a scan, which is not an identity.
template <class T, class Operator>
T initial() {
  if constexpr (std::is_same_v<Operator, join_ranges>) {
    return {-5, -1, 0};
  } else if constexpr (std::is_same_v<Operator, compose>) {
    return {5, 11};
  } else {
    return static_cast<T>(9);
  }
}

/// Wavefronts if all warps of a block access items of type T in this layout, `times` times.
template <class T, class Layout>
strata::wavefront_count count(int first, int stride, int end, int times = 1) {
  strata::wavefront_count once;
  for (int warp_first = first; warp_first < end; warp_first += 32 * stride) {
    const strata::runtime_strided_access<strata::detail::item_units<T>::unit_bytes> of_warp{warp_first, stride, end};
    once = once + strata::count_wavefronts(strata::detail::item_layout<T, Layout>{}, of_warp);
  }
  return {once.wavefronts * times, once.ideal * times};
}

#if STRATA_HOST_SIMT
inline bool counts_bank_conflicts() { return strata::simt::runtime_flavour() == strata::simt::flavour::check; }
inline void begin_counting() { strata::simt::reset_statistics(); }
/// Expects that the kernel's accesses to shared memory took the wavefronts of the model.
inline void expect_counted(const strata::wavefront_count& model) {
  const strata::simt::statistics& counted = strata::simt::stats();
  EXPECT_EQ(counted.shared_wavefronts, static_cast<unsigned>(model.wavefronts));
  EXPECT_EQ(counted.shared_ideal_wavefronts, static_cast<unsigned>(model.ideal));
}
/// Expects that no single instruction had a conflict.
inline void expect_no_conflicts() {
  strata::simt::bank_row rows[64];
  const int row_count = strata::simt::bank_rows(rows, 64);
  EXPECT_GT(row_count, 0);
  for (int i = 0; i < row_count; ++i) {
    EXPECT_EQ(rows[i].wavefronts, rows[i].ideal) << rows[i].where;
  }
}
#else
inline bool counts_bank_conflicts() { return false; }
inline void begin_counting() {}
inline void expect_counted(const strata::wavefront_count&) {}
inline void expect_no_conflicts() {}
#endif

}  // namespace tree_cases

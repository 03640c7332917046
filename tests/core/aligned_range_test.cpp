// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cuts arrays of every length at 16-byte boundaries, from every offset, and checks the cut item by item.
#include <strata/core/detail/aligned_range.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace {

using strata::detail::aligned_range;
using strata::detail::is_at_boundary;
using strata::detail::is_bulk_array;

struct three_bytes {
  char byte[3];
};
struct pair_of_ints {  // aligned to half of its size
  int a, b;
};
struct copied_by_code {
  int a;
  copied_by_code(const copied_by_code& other) : a(other.a) {}
};
struct iterator {
  int operator[](int i) const { return i; }
};

static_assert(is_bulk_array<char*> && is_bulk_array<const double*> && is_bulk_array<pair_of_ints*>);
static_assert(!is_bulk_array<three_bytes*>, "16 bytes do not hold whole items");
static_assert(!is_bulk_array<copied_by_code*>, "its bytes are not its value");
static_assert(!is_bulk_array<volatile int*> && !is_bulk_array<iterator> && !is_bulk_array<int>);

alignas(16) unsigned char memory[256];

template <class T>
const T* at(std::size_t offset) {
  return reinterpret_cast<const T*>(memory + offset);
}

template <class T, class Size>
void expect_cut_at_boundaries() {
  for (std::size_t offset = 0; offset < 32; offset += alignof(T)) {
    const T* const first = at<T>(offset);
    using range = aligned_range<T, Size>;
    ASSERT_EQ(is_at_boundary(first), offset % 16 == 0) << offset;
    const auto address_of = [&](Size i) { return offset + static_cast<std::size_t>(i) * sizeof(T); };
    bool has_boundary = false;
    Size first_at_boundary = 0;
    for (Size i = 15; i >= 0 && i <= 15; --i) {
      if (address_of(i) % 16 != 0) continue;
      has_boundary = true;
      first_at_boundary = i;
    }
    ASSERT_EQ(range::has_boundary(first), has_boundary) << offset;
    if (!has_boundary) continue;
    ASSERT_EQ(range::items_before_boundary(first), first_at_boundary) << offset;
    for (Size count = 0; count <= 40; ++count) {
      const range cut(first, count);
      ASSERT_LE(cut.head, count);
      ASSERT_LE(cut.body_end(), count);
      ASSERT_EQ(cut.body_end() - cut.head, cut.vectors * range::width);
      ASSERT_LT(cut.head, range::width);
      ASSERT_LT(count - cut.body_end(), range::width);
      if (cut.vectors > 0) {
        ASSERT_EQ(address_of(cut.head) % 16, 0u) << offset << ", " << count;
      }
      // If a whole aligned vector fits, none of its items may be in the head or the tail.
      if (cut.head == count || address_of(cut.head) % 16 != 0) {
        ASSERT_EQ(cut.vectors, 0);
      }
    }
  }
}

TEST(aligned_range, body_is_all_whole_vectors_between_boundaries) {
  expect_cut_at_boundaries<char, int>();
  expect_cut_at_boundaries<short, int>();
  expect_cut_at_boundaries<float, int>();
  expect_cut_at_boundaries<double, long long>();
  expect_cut_at_boundaries<pair_of_ints, int>();
}

TEST(aligned_range, counts_may_be_unsigned_and_large) {
  constexpr std::size_t count = (std::size_t{1} << 33) + 7;
  const aligned_range<char, std::size_t> cut(at<char>(3), count);
  EXPECT_EQ(cut.head, 13u);
  EXPECT_EQ(cut.vectors, (count - 13) / 16);
  EXPECT_EQ(cut.body_end(), 13 + (count - 13) / 16 * 16);
}

TEST(aligned_range, only_pointers_lie_at_boundaries) {
  EXPECT_TRUE(is_at_boundary(at<int>(16)));
  EXPECT_FALSE(is_at_boundary(at<int>(20)));
  EXPECT_FALSE(is_at_boundary(iterator{}));
}

}  // namespace

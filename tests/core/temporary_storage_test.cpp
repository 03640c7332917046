// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/detail/temporary_storage.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using strata::temporary_storage::alignment;
using strata::temporary_storage::invalid_size;
using strata::temporary_storage::layout;

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

struct bytes24 {
  std::uint64_t word[3];
};

std::size_t bytes_for(std::size_t count) {
  layout<1> storage;
  storage.reserve<int>(0, count);
  return storage.bytes();
}

TEST(temporary_storage, is_never_of_size_zero) {
  EXPECT_GT(layout<1>().bytes(), 0u);
  EXPECT_GT(layout<4>().bytes(), 0u);
  EXPECT_GT(bytes_for(0), 0u);
}

TEST(temporary_storage, never_shrinks_when_a_count_grows) {
  std::size_t previous = 0;
  for (std::size_t count = 0; count < 3000; ++count) {
    layout<3> storage;
    storage.reserve<char>(0, 5);
    storage.reserve<int>(1, count);
    storage.reserve<bytes24>(2, count / 3);
    ASSERT_GE(storage.bytes(), previous) << count;
    ASSERT_GE(storage.bytes(), 5 + 4 * count + 24 * (count / 3)) << count;
    previous = storage.bytes();
  }
  // Counts up to the largest one whose size fits into size_t, and beyond.
  previous = 0;
  for (unsigned shift = 12; shift < 64; ++shift) {
    for (std::size_t count : {(std::size_t{1} << shift) - 1, std::size_t{1} << shift}) {
      ASSERT_GE(bytes_for(count), previous) << count;
      previous = bytes_for(count);
    }
  }
  EXPECT_EQ(bytes_for(huge), invalid_size);
  // The first slot leaves room for nothing but its padding.
  for (std::size_t less = 0; less < 2000; ++less) {
    layout<2> storage;
    storage.reserve<char>(0, huge - less);
    storage.reserve<char>(1, 5000);
    ASSERT_EQ(storage.bytes(), invalid_size) << less;
  }
}

TEST(temporary_storage, slots_are_aligned_disjoint_and_inside_whatever_the_callers_alignment) {
  layout<4> storage;
  storage.reserve<char>(0, 1);
  storage.reserve<bytes24>(1, 11);  // 264 bytes: just over 256, the alignment
  storage.reserve<int>(2, 0);
  storage.reserve<double>(3, 32);  // 256 bytes: exactly the alignment
  const std::size_t sizes[] = {1, 264, 0, 256};
  const std::size_t bytes = storage.bytes();

  std::vector<unsigned char> memory(bytes + 2 * alignment);
  for (std::size_t misalignment = 0; misalignment < alignment; ++misalignment) {
    unsigned char* const given = memory.data() + misalignment;
    ASSERT_TRUE(storage.map(given, bytes));
    const unsigned char* end = given;
    for (int slot = 0; slot < 4; ++slot) {
      const auto* const part = storage.get<unsigned char>(slot);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(part) % alignment, 0u) << slot;
      ASSERT_GE(part, end) << "slot " << slot << " reaches into the one before it";
      end = part + sizes[slot];
    }
    ASSERT_LE(end, given + bytes);
  }
}

TEST(temporary_storage, aliases_share_a_slot_as_large_as_the_largest) {
  for (const bool largest_first : {false, true}) {
    layout<2> storage;
    storage.reserve<double>(0, largest_first ? 1000 : 10);
    storage.reserve<char>(0, 100);
    storage.reserve<double>(0, largest_first ? 10 : 1000);
    storage.reserve<int>(1, 1);
    layout<2> largest_alone;
    largest_alone.reserve<double>(0, 1000);
    largest_alone.reserve<int>(1, 1);
    EXPECT_EQ(storage.bytes(), largest_alone.bytes());

    std::vector<unsigned char> memory(storage.bytes());
    ASSERT_TRUE(storage.map(memory.data(), memory.size()));
    EXPECT_EQ(static_cast<void*>(storage.get<double>(0)), storage.get<char>(0));
    EXPECT_GE(storage.get<char>(1) - storage.get<char>(0), 8000);
  }
}

TEST(temporary_storage, refuses_storage_that_is_too_small) {
  layout<2> storage;
  storage.reserve<int>(0, 100);
  storage.reserve<int>(1, 100);
  std::vector<unsigned char> memory(storage.bytes());
  EXPECT_TRUE(storage.map(memory.data(), storage.bytes()));
  EXPECT_TRUE(storage.map(memory.data(), storage.bytes() + 1));
  EXPECT_FALSE(storage.map(memory.data(), storage.bytes() - 1));
  EXPECT_FALSE(storage.map(memory.data(), 0));
}

TEST(temporary_storage, sizes_beyond_size_t_are_invalid_and_never_mapped) {
  unsigned char memory[1];
  for (std::size_t count : {huge, huge / 2, huge / 4 + 1, huge / 4}) {
    layout<1> storage;
    storage.reserve<int>(0, count);  // 4 bytes each: more than size_t can hold, or no room left for the alignment
    EXPECT_EQ(storage.bytes(), invalid_size) << count;
    EXPECT_FALSE(storage.map(memory, huge)) << count;
  }
  // The size of each part can be represented, but not the sum.
  layout<2> storage;
  storage.reserve<char>(0, huge / 2 + 1);
  EXPECT_NE(storage.bytes(), invalid_size);
  storage.reserve<char>(1, huge / 2 + 1);
  EXPECT_EQ(storage.bytes(), invalid_size);
  EXPECT_FALSE(storage.map(memory, huge));
  // A smaller alias afterwards must not hide an overflow.
  layout<1> alias;
  alias.reserve<int>(0, huge);
  alias.reserve<int>(0, 1);
  EXPECT_EQ(alias.bytes(), invalid_size);
}

}  // namespace

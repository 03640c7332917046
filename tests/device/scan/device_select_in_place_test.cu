// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSelect in place: no item may be overwritten before it is read, in whatever order blocks run.
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_select_support.cuh"
#include "device/schedules.cuh"
#include "support/test_types.cuh"

namespace device_select_in_place_test {

using namespace device_test;
using strata::DeviceSelect;
using strata_test::struct12;
using strata_test::struct16;
using struct24 = strata_test::words<3, std::uint64_t>;

// Lengths around tiles of 512 items, up to many tiles.
std::vector<std::size_t> lengths(std::size_t item_bytes) {
  if (is_small()) return {0, 1, 2, 33, 513, 2000, 12000};
  std::vector<std::size_t> all = {0, 1, 2, 31, 33, 511, 512, 513, 1024, 2048, 2049, 10000, 11521};
  // The host back end is slow with large items.
  all.push_back(STRATA_HOST_SIMT && item_bytes > 8 ? 30001 : 300001);
  if (!STRATA_HOST_SIMT) all.push_back(3000017);
  return all;
}

template <class T>
class DeviceSelectInPlace : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = ::testing::Types<float, struct24>;
#else
using item_types = ::testing::Types<std::uint8_t, float, std::uint64_t, struct16, struct12, struct24>;
#endif
TYPED_TEST_SUITE(DeviceSelectInPlace, item_types);

TYPED_TEST(DeviceSelectInPlace, if_moves_items_to_the_front) {
  using T = TypeParam;
  for (const std::size_t size : lengths(sizeof(T))) {
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    for (const unsigned density : densities) {
      for (const std::size_t shift : sizes{0, 1}) {
        if (shift == 1 && density != 512) continue;
        SCOPED_TRACE(testing::Message() << size << " items, shifted by " << shift << ", " << density
                                        << " of 1024 kept");
        const keeps_some op{density};
        ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(only_kept(items, kept_by_items(items, op)), items, shift,
                                                        [&](T* data, std::int64_t* num, auto&&... storage) {
                                                          return DeviceSelect::If(storage..., data, num,
                                                                                  static_cast<std::int64_t>(size), op);
                                                        }));
      }
    }
  }
}

template <class Flag, class T>
void expect_flagged_in_place() {
  for (const std::size_t size : lengths(sizeof(T))) {
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    for (const pattern which : patterns) {
      if (size > 100000 && which != pattern::half && which != pattern::first_half) continue;
      for (const std::size_t shift : sizes{0, 1}) {
        if (shift == 1 && which != pattern::half) continue;
        SCOPED_TRACE(testing::Message() << size << " items, shifted by " << shift << ", pattern "
                                        << static_cast<int>(which));
        const std::vector<char> keeps = kept_by(which, size, size + 1);
        const std::vector<Flag> flags(keeps.begin(), keeps.end());
        const shifted_array<Flag> d_flags(flags, 0);
        ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(
            only_kept(items, keeps), items, shift, [&](T* data, std::int64_t* num, auto&&... storage) {
              return DeviceSelect::Flagged(storage..., data, d_flags.data(), num, static_cast<int>(size));
            }));
        ASSERT_SAME_BYTES(flags, d_flags.to_host());
      }
    }
  }
}

TEST(device_select_in_place, flagged) { expect_flagged_in_place<char, std::uint64_t>(); }
#if !STRATA_TEST_FEW_TYPES
TEST(device_select_in_place, flags_wider_than_items) { expect_flagged_in_place<std::int64_t, std::int16_t>(); }
TEST(device_select_in_place, flagged_items_of_12_bytes) { expect_flagged_in_place<int, struct12>(); }
#endif

struct is_third {
  STRATA_HD bool operator()(int flag) const { return flag % 3 == 0; }
};

// ------------------------------------------------------------------ Unique

struct are_equal {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
/// Compares bits, so a NaN is equal to itself.
struct have_same_bits {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    unsigned char first[sizeof(T)], second[sizeof(T)];
    std::memcpy(first, static_cast<const void*>(&a), sizeof(T));
    std::memcpy(second, static_cast<const void*>(&b), sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      if (first[i] != second[i]) return false;
    }
    return true;
  }
};

TYPED_TEST(DeviceSelectInPlace, unique_keeps_the_first_of_each_run) {
  using T = TypeParam;
  for (const std::size_t size : lengths(sizeof(T))) {
    for (const std::size_t mean : run_lengths) {
      for (const std::size_t shift : sizes{0, 1}) {
        if (shift == 1 && mean != 3) continue;
        SCOPED_TRACE(testing::Message() << size << " items, shifted by " << shift << ", in runs of " << mean);
        const std::vector<T> items = keys_in_runs<T>(size, mean, size + mean);
        ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(only_kept(items, kept_by_difference(items, are_equal{})), items,
                                                        shift, [&](T* data, std::int64_t* num, auto&&... storage) {
                                                          return DeviceSelect::Unique(storage..., data, num,
                                                                                      static_cast<int>(size));
                                                        }));
        ASSERT_NO_FATAL_FAILURE(
            expect_selects_in_place(only_kept(items, kept_by_difference(items, have_same_bits{})), items, shift,
                                    [&](T* data, std::int64_t* num, auto&&... storage) {
                                      return DeviceSelect::Unique(storage..., data, num, size, have_same_bits{});
                                    }));
      }
    }
  }
}

/// Keeps all items, all but a few, or half of them. A tile also reads the item before it, which another block may move.
template <class T>
void expect_unique_under_all_schedules(const std::vector<std::size_t>& lengths) {
  under_all_schedules([&](std::size_t i) {
    const std::size_t size = lengths[i % lengths.size()];
    SCOPED_TRACE(testing::Message() << size << " items under schedule " << i);
    std::vector<T> items(size);
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t number = i % 3 == 0 ? k : i % 3 == 1 ? k - k / 500 : k / 2;
      items[k] = strata_test::from_integer<T>::make(static_cast<int>(number));
    }
    ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(only_kept(items, kept_by_difference(items, are_equal{})), items,
                                                    i % 4 == 3 ? 1 : 0,
                                                    [&](T* data, std::int64_t* num, auto&&... storage) {
                                                      return DeviceSelect::Unique(storage..., data, num, size);
                                                    }));
  });
}

// ------------------------------------------------------------------ schedules

// All items are different, so that a wrong one is noticed.
template <class T, class Call>
void expect_the_same_under_all_schedules(const std::vector<std::size_t>& lengths, const Call& select) {
  std::vector<T> items(lengths.back());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = strata_test::from_integer<T>::make(static_cast<int>(i));
  }
  const std::vector<int> flags = random_integers<int>(items.size(), 0, 1000, 8);
  const device_vector<int> d_flags(flags);
  under_all_schedules([&](std::size_t i) {
    const std::size_t size = lengths[i % lengths.size()];
    SCOPED_TRACE(testing::Message() << size << " items under schedule " << i);
    const std::vector<T> some(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(only_kept(some, kept_by_items(flags, is_third{})), some,
                                                    i % 4 == 3 ? 1 : 0,
                                                    [&](T* data, std::int64_t* num, auto&&... storage) {
                                                      return select(data, d_flags.data(), num, size, storage...);
                                                    }));
  });
}
constexpr auto by_flags = [](auto* data, const int* flags, std::int64_t* num, std::size_t size, auto&&... storage) {
  return DeviceSelect::FlaggedIf(storage..., data, flags, num, size, is_third{});
};

template <class T>
void expect_items_may_be_flags(const std::vector<std::size_t>& lengths) {
  const std::vector<T> items = random_integers<T>(lengths.back(), 0, 2, 9);
  under_all_schedules([&](std::size_t i) {
    const std::size_t size = lengths[i % lengths.size()];
    SCOPED_TRACE(testing::Message() << size << " items under schedule " << i);
    const std::vector<T> some(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(size));
    const auto is_not_0 = [](const T& item) { return item != T{0}; };
    ASSERT_NO_FATAL_FAILURE(expect_selects_in_place(only_kept(some, kept_by_items(some, is_not_0)), some,
                                                    i % 4 == 3 ? 1 : 0,
                                                    [&](T* data, std::int64_t* num, auto&&... storage) {
                                                      return DeviceSelect::Flagged(storage..., data, data, num, size);
                                                    }));
  });
}
TEST(device_select_in_place, items_may_be_their_own_flags) {
  // Items in registers, and items in stages of the pipeline.
  expect_items_may_be_flags<std::uint8_t>({1, 31, 513, 1500, 9001});
  expect_items_may_be_flags<std::uint64_t>({1, 511, 2047, 11000, if_small<std::size_t>(30000, 150001)});
}

// Lengths have a period of 4 schedules, orders of blocks one of 3, and numbers of resident blocks one of 5. So all of
// them meet.
TEST(device_select_in_place, items_in_stages_under_all_schedules) {
  expect_the_same_under_all_schedules<std::uint64_t>({1500, 2047, 11000, if_small<std::size_t>(30000, 150001)},
                                                     by_flags);
}
TEST(device_select_in_place, unique_items_under_all_schedules) {
  expect_unique_under_all_schedules<std::uint64_t>({1500, 2047, 11000, if_small<std::size_t>(30000, 150001)});
  expect_unique_under_all_schedules<struct24>({600, 1500, 2047, if_small<std::size_t>(4000, 9001)});
}
TEST(device_select_in_place, items_in_registers_under_all_schedules) {
  expect_the_same_under_all_schedules<struct24>({600, 1500, 2047, if_small<std::size_t>(4000, 9001)}, by_flags);
}

}  // namespace device_select_in_place_test

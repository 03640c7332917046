// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/platform/cache_modifiers.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace platform_cache_modifiers_test {

using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

/// Its alignment is larger than the widest access.
struct alignas(32) wide {
  std::uint64_t word[4];
};

/// Has no default constructor, members of several sizes, and a byte of padding.
struct record {
  double a;
  short b;
  signed char c;
  STRATA_HD record(double x, short y, signed char z) : a(x), b(y), c(z) {}
};

template <class T>
std::vector<T> items_of_bytes(std::size_t count) {
  const std::vector<int> bytes = strata_test::random_integers(count * sizeof(T), 0, 255, sizeof(T));
  std::vector<unsigned char> memory(bytes.begin(), bytes.end());
  std::vector<T> items;
  for (std::size_t i = 0; i < count; ++i) {
    union slot {
      T item;
      unsigned char bytes[sizeof(T)];
      slot() {}
    } one;
    std::memcpy(one.bytes, memory.data() + i * sizeof(T), sizeof(T));
    items.push_back(one.item);
  }
  return items;
}
constexpr int count = 40;

// Thread t moves item 2 t, and must not touch its neighbours.
template <strata::CacheLoadModifier Load, strata::CacheStoreModifier Store, class T>
STRATA_KERNEL void move_every_second(const T* in, T* out) {
  const unsigned i = 2 * threadIdx.x;
  strata::detail::store_item<Store>(out + i, strata::detail::load_item<Load>(in + i));
}

// Moves items in shared memory, from which `ld.global.nc` must not read.
template <strata::CacheLoadModifier Load, strata::CacheStoreModifier Store, class T>
STRATA_KERNEL void reverse_in_shared_memory(const T* in, T* out) {
  STRATA_SHARED(bytes, strata::Uninitialized<T>[count]);
  T* const items = &bytes[0].Alias();
  strata::detail::store_item<Store>(items + threadIdx.x, in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = strata::detail::load_item<Load>(items + (count - 1 - threadIdx.x));
}

template <strata::CacheLoadModifier Load, strata::CacheStoreModifier Store, class T>
void expect_moves_bits() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items, load " << Load << ", store " << Store);
  const std::vector<T> items = items_of_bytes<T>(count);
  const device_vector<T> in(items);
  device_vector<T> out(count);
  ASSERT_CUDA_SUCCESS(strata::launch({"move", 1, count / 2}, move_every_second<Load, Store, T>, in.data(), out.data()));
  const std::vector<T> moved = out.to_host();
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      ASSERT_TRUE(same_bits(moved[i], items[i])) << i;
    } else {
      ASSERT_TRUE(strata_test::is_poison(moved[i])) << i;
    }
  }
  if constexpr (Load != strata::LOAD_LDG) {
    ASSERT_CUDA_SUCCESS(
        strata::launch({"reverse", 1, count}, reverse_in_shared_memory<Load, Store, T>, in.data(), out.data()));
    const std::vector<T> reversed = out.to_host();
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same_bits(reversed[i], items[count - 1 - i])) << i;
  }
}

template <class T>
class cache_modifiers : public testing::Test {};
using item_types =
    testing::Types<std::int8_t, std::int16_t, float, double, __half, strata_test::int128, words<3, std::uint8_t>,
                   words<3, std::uint16_t>, words<3>, words<5, std::uint64_t>, wide, uint4>;
TYPED_TEST_SUITE(cache_modifiers, item_types);

TYPED_TEST(cache_modifiers, each_load_gives_the_item_and_each_store_writes_it_alone) {
  using namespace strata;
  expect_moves_bits<LOAD_DEFAULT, STORE_DEFAULT, TypeParam>();
  expect_moves_bits<LOAD_CA, STORE_WB, TypeParam>();
  expect_moves_bits<LOAD_CG, STORE_CG, TypeParam>();
  expect_moves_bits<LOAD_CS, STORE_CS, TypeParam>();
  expect_moves_bits<LOAD_CV, STORE_WT, TypeParam>();
  expect_moves_bits<LOAD_LDG, STORE_DEFAULT, TypeParam>();
  expect_moves_bits<LOAD_VOLATILE, STORE_VOLATILE, TypeParam>();
}

STRATA_KERNEL void move_records(const record* in, record* out, bool* flag) {
  strata::detail::store_item<strata::STORE_CG>(out, strata::detail::load_item<strata::LOAD_CG>(in));
  strata::detail::store_item<strata::STORE_CS>(flag + 1, !strata::detail::load_item<strata::LOAD_CS>(flag));
}

TEST(cache_modifiers, items_need_no_default_constructor) {
  const device_vector<record> in(std::vector<record>{{1.5, -2, 3}});
  strata_test::guarded_memory memory(sizeof(record)), flags(2);
  const bool values[2] = {true, true};
  flags.write(values);
  ASSERT_CUDA_SUCCESS(strata::launch({"move", 1, 1}, move_records, in.data(), static_cast<record*>(memory.data()),
                                     static_cast<bool*>(flags.data())));
  record out(0, 0, 0);
  bool got[2];
  memory.read(&out);
  flags.read(got);
  EXPECT_EQ(out.a, 1.5);
  EXPECT_EQ(out.b, -2);
  EXPECT_EQ(out.c, 3);
  EXPECT_TRUE(got[0]);
  EXPECT_FALSE(got[1]);
}

// A load must see the store before it, whatever the modifiers.
template <strata::CacheLoadModifier Load>
STRATA_KERNEL void add_up(int* sum) {
  for (int i = 1; i <= 100; ++i) *sum = strata::detail::load_item<Load>(sum) + i;
}

TEST(cache_modifiers, a_load_sees_what_its_thread_has_stored) {
  device_vector<int> sum(std::vector<int>{0});
  const auto expect = [&](int expected, auto kernel) {
    ASSERT_CUDA_SUCCESS(strata::launch({"add_up", 1, 1}, kernel, sum.data()));
    EXPECT_EQ(sum.to_host()[0], expected);
  };
  expect(5050, add_up<strata::LOAD_CA>);
  expect(2 * 5050, add_up<strata::LOAD_CG>);
  expect(3 * 5050, add_up<strata::LOAD_CS>);
  expect(4 * 5050, add_up<strata::LOAD_CV>);
  expect(5 * 5050, add_up<strata::LOAD_VOLATILE>);
}

// Polls with volatile accesses. They are no race, like relaxed atomics, and each load reads memory again.
STRATA_KERNEL void pass_on(unsigned* flag, unsigned* out) {
  if (threadIdx.x == 0) {
    strata::detail::store_item<strata::STORE_VOLATILE>(flag, 7u);
  } else if (threadIdx.x == 32) {
    unsigned value = 0;
    while ((value = strata::detail::load_item<strata::LOAD_VOLATILE>(flag)) == 0) STRATA_SPIN();
    *out = value;
  }
}

TEST(cache_modifiers, volatile_accesses_may_poll) {
  device_vector<unsigned> flag(std::vector<unsigned>{0}), out(1);
  ASSERT_CUDA_SUCCESS(strata::launch({"pass_on", 1, 64}, pass_on, flag.data(), out.data()));
  EXPECT_EQ(out.to_host()[0], 7u);
}

}  // namespace platform_cache_modifiers_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ThreadLoad and ThreadStore. tests/core/platform_cache_modifiers_test.cu tests each modifier with each type.
#include <strata/core/launcher.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_store.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace thread_load_test {

using namespace strata;
using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

template <CacheLoadModifier Load, CacheStoreModifier Store, class T>
STRATA_KERNEL void copy(const T* in, T* out) {
  const auto item = ThreadLoad<Load>(in + threadIdx.x);
  static_assert(std::is_same_v<decltype(item), const T>, "an item of const memory is a value");
  ThreadStore<Store>(out + threadIdx.x, item);
}

template <CacheLoadModifier Load, CacheStoreModifier Store, class T>
void expect_copies() {
  SCOPED_TRACE(testing::Message() << "load " << Load << ", store " << Store);
  const std::vector<T> items = strata_test::random_items<T>(33);
  const device_vector<T> in(items);
  device_vector<T> out(33);
  ASSERT_CUDA_SUCCESS(strata::launch({"copy", 1, 33}, copy<Load, Store, T>, in.data(), out.data()));
  const std::vector<T> got = out.to_host();
  for (std::size_t i = 0; i < 33; ++i) EXPECT_TRUE(same_bits(got[i], items[i])) << i;
}

template <class T>
class thread_load : public testing::Test {};
using item_types = testing::Types<std::int8_t, __nv_bfloat16, int, double, strata_test::int128, words<3, std::uint8_t>,
                                  words<3>, words<5>>;
TYPED_TEST_SUITE(thread_load, item_types);

TYPED_TEST(thread_load, and_store_with_each_modifier_copy_items) {
  expect_copies<LOAD_DEFAULT, STORE_DEFAULT, TypeParam>();
  expect_copies<LOAD_CA, STORE_WB, TypeParam>();
  expect_copies<LOAD_CG, STORE_CG, TypeParam>();
  expect_copies<LOAD_CS, STORE_CS, TypeParam>();
  expect_copies<LOAD_CV, STORE_WT, TypeParam>();
  expect_copies<LOAD_LDG, STORE_DEFAULT, TypeParam>();
  expect_copies<LOAD_VOLATILE, STORE_VOLATILE, TypeParam>();
}

/// Neither trivially copyable nor default constructible.
struct counted_copies {
  int value;
  int copies;
  STRATA_HD counted_copies(int v, int c) : value(v), copies(c) {}
  STRATA_HD counted_copies(const counted_copies& other) : value(other.value), copies(other.copies + 1) {}
  STRATA_HD counted_copies& operator=(const counted_copies& other) {
    value = other.value;
    copies = other.copies + 100;
    return *this;
  }
};

STRATA_KERNEL void load_and_store_otherwise(counted_copies* objects, int* out, double* converted) {
  ThreadStore<STORE_DEFAULT>(objects + 1, ThreadLoad<LOAD_DEFAULT>(objects));
  ThreadStore<STORE_DEFAULT>(CacheModifiedOutputIterator<STORE_CG, int>(out),
                             ThreadLoad<LOAD_DEFAULT>(CountingInputIterator<int>(7)));
  ThreadStore<STORE_CG>(converted, 3);
  ThreadStore<STORE_DEFAULT>(converted + 1, 4);
}

TEST(thread_load, without_a_modifier_takes_any_iterator_and_any_item) {
  strata_test::guarded_memory objects(2 * sizeof(counted_copies));
  const counted_copies initial[2] = {{5, 0}, {0, 0}};
  objects.write(initial);
  device_vector<int> out(1);
  device_vector<double> converted(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"load_and_store", 1, 1}, load_and_store_otherwise,
                                     static_cast<counted_copies*>(objects.data()), out.data(), converted.data()));
  int got[4];
  objects.read(got);
  EXPECT_EQ(got[2], 5);
  EXPECT_GT(got[3], 100) << "the item was not assigned, but written as bits";
  EXPECT_EQ(out.to_host()[0], 7);
  EXPECT_EQ(converted.to_host(), (std::vector<double>{3, 4})) << "a value is converted to the type of the items";
}

// Adds two arrays. `once` is read only here; other blocks read `often` too, so it should stay in L2.
STRATA_KERNEL void add(const double* once, const double* often, double* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const double sum = strata::ThreadLoad<strata::LOAD_CS>(once + i) + strata::ThreadLoad<strata::LOAD_CG>(often + i);
  strata::ThreadStore<strata::STORE_CS>(out + i, sum);
}

TEST(thread_load, modifiers_change_no_values) {
  const device_vector<double> once(std::vector<double>{1, 2, 3}), often(std::vector<double>{10, 20, 30});
  device_vector<double> out(3);
  ASSERT_CUDA_SUCCESS(strata::launch({"add", 2, 32}, add, once.data(), often.data(), out.data(), 3));
  EXPECT_EQ(out.to_host(), (std::vector<double>{11, 22, 33}));
}

}  // namespace thread_load_test

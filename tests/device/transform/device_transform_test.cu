// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceTransform: results of one and of several inputs, under predicates, filled and generated.
#include <strata/core/operators.hpp>
#include <strata/device/device_transform.cuh>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_transform_test {

using namespace device_test;
using strata::DeviceTransform;
using strata_test::struct12;
using strata_test::struct16;

struct thrice {
  template <std::size_t Count, class Word>
  STRATA_HD strata_test::words<Count, Word> operator()(strata_test::words<Count, Word>& x) const {
    return x + x + x;
  }
  template <class T>
  STRATA_HD T operator()(T& x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(3 * static_cast<std::uint64_t>(x) + 1);
    } else {
      return 3 * x + 1;
    }
  }
};

template <class T>
std::vector<T> some_items(std::size_t count, std::uint64_t stream = 0) {
  std::vector<T> items(count);
  std::mt19937_64 bits = strata_test::random_bits(stream);
  for (T& item : items) {
    const std::uint64_t word = bits();
    std::memcpy(static_cast<void*>(&item), &word, sizeof(T) < 8 ? sizeof(T) : 8);
  }
  return items;
}

template <class T, class Op>
std::vector<T> each(std::vector<T> items, Op op) {
  for (T& item : items) item = op(item);
  return items;
}

/// Number of items of a tile whose threads have groups of up to 16 bytes.
constexpr strata::tile_tuning tuning = strata::tile_policy_hub::Policy800::tuning;
template <class T>
constexpr std::size_t tile = tuning.block_threads* tuning.groups*(sizeof(T) > 16 ? 1 : 16 / sizeof(T));

template <class T>
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all = strata_test::boundary_sizes({2, 16, 32, 33, 512, tile<T>, 2 * tile<T>});
  all.push_back(if_small<std::size_t>(5, 50) * tile<T> + 77);
  return all;
}

template <class T>
class DeviceTransformOf : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = testing::Types<std::uint8_t, int, struct16, struct12>;
#else
using item_types = testing::Types<std::uint8_t, std::int16_t, int, std::uint64_t, struct16, strata_test::bytes3,
                                  struct12, strata_test::words<4, std::uint64_t>>;
#endif
TYPED_TEST_SUITE(DeviceTransformOf, item_types);

TYPED_TEST(DeviceTransformOf, every_item_and_nothing_else) {
  using T = TypeParam;
  const std::vector<T> all = some_items<T>(lengths<T>().back() + 16);
  const device_vector<T> in(all);
  const auto check = [&](std::size_t size, std::ptrdiff_t in_shift, std::ptrdiff_t out_shift, auto&& call) {
    SCOPED_TRACE(testing::Message() << size << " items from " << in_shift << " on to " << out_shift << " on");
    const auto n = static_cast<std::ptrdiff_t>(size);
    device_vector<T> out(size + 20);
    std::vector<T> expected = out.to_host();
    const std::vector<T> results = each(std::vector<T>(all.begin() + in_shift, all.begin() + in_shift + n), thrice{});
    std::copy(results.begin(), results.end(), expected.begin() + out_shift);
    ASSERT_CUDA_SUCCESS(in_one_phase([&] { return call(in.data() + in_shift, out.data() + out_shift, n); }));
    ASSERT_EQ(expected, out.to_host());
    out.expect_guards_intact();
  };
  const auto copies = [](const T* from, T* to, auto n) { return DeviceTransform::Transform(from, to, n, thrice{}); };
  const auto references = [](const T* from, T* to, auto n) {
    return DeviceTransform::TransformStableArgumentAddresses(from, to, n, [](const T& x) {
      T copy = x;
      return thrice{}(copy);
    });
  };
  for (const std::size_t size : lengths<T>()) {
    ASSERT_NO_FATAL_FAILURE(check(size, 0, 0, copies));
#if STRATA_HOST_SIMT
    ASSERT_NO_FATAL_FAILURE(check(size, 0, 0, references));
#endif
  }
  for (const std::ptrdiff_t shift : {1, 3, 15}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{14}, std::size_t{40}, tile<T> - 1, 2 * tile<T> + 17}) {
      ASSERT_NO_FATAL_FAILURE(check(size, shift, 0, copies));
      ASSERT_NO_FATAL_FAILURE(check(size, 0, shift, copies));
      ASSERT_NO_FATAL_FAILURE(check(size, shift, shift, copies));
    }
  }
  static_cast<void>(references);
}

// ------------------------------------------------------------------ some results only

/// A predicate on the first byte of an item. It is true of all items, of none, of one in 16, or of half of them.
struct by_first_byte {
  unsigned mask, equal;
  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    unsigned char byte = 0;
    std::memcpy(&byte, static_cast<const void*>(&item), 1);
    return (byte & mask) == equal;
  }
};

TYPED_TEST(DeviceTransformOf, only_results_of_which_the_predicate_is_true) {
  using T = TypeParam;
  std::vector<T> all = some_items<T>(2 * tile<T> + 100);
  // In this part, the predicate gives one answer for all items of a group.
  std::fill(all.begin() + 40, all.begin() + static_cast<std::ptrdiff_t>(tile<T> / 2), all.front());
  const device_vector<T> in(all);
  for (const by_first_byte predicate :
       {by_first_byte{0, 0}, by_first_byte{0, 1}, by_first_byte{15, 3}, by_first_byte{1, 0}, by_first_byte{1, 1}}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{40}, tile<T>, 2 * tile<T> + 17}) {
      for (const std::ptrdiff_t shift : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << size << " items, from " << shift << " on, byte & " << predicate.mask
                                        << " == " << predicate.equal);
        device_vector<T> out(size + 4), referenced(size + 4);
        std::vector<T> expected = out.to_host();
        for (std::size_t i = 0; i < size; ++i) {
          T item = all[i + static_cast<std::size_t>(shift)];
          if (predicate(item)) expected[i + static_cast<std::size_t>(shift)] = thrice{}(item);
        }
        const T* const from = in.data() + shift;
        ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
          return DeviceTransform::TransformIf(storage..., from, out.data() + shift, size, predicate, thrice{});
        }));
        ASSERT_EQ(expected, out.to_host());
        out.expect_guards_intact();
        ASSERT_CUDA_SUCCESS(in_one_phase([&] {
          return DeviceTransform::TransformIfStableArgumentAddresses(const_cast<T*>(from), referenced.data() + shift,
                                                                     size, predicate, thrice{});
        }));
        ASSERT_EQ(expected, referenced.to_host());
      }
    }
  }
}

struct is_first_less {
  STRATA_HD bool operator()(int a, std::int64_t b) const { return a < b; }
};
struct difference_of_two {
  STRATA_HD double operator()(int a, std::int64_t b) const { return static_cast<double>(b - a); }
};

TEST(device_transform, some_results_of_several_inputs_and_in_place) {
  constexpr std::size_t size = 5003;
  const std::vector<int> a = random_integers<int>(size, 0, 100);
  const std::vector<std::int64_t> b = random_integers<std::int64_t>(size, 0, 100, 1);
  const device_vector<int> d_a(a);
  const device_vector<std::int64_t> d_b(b);
  device_vector<double> out(std::vector<double>(size, -1));
  std::vector<double> expected(size, -1);
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] < b[i]) expected[i] = static_cast<double>(b[i] - a[i]);
  }
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceTransform::TransformIf(std::make_tuple(d_a.data(), d_b.data()), out.data(), size, is_first_less{},
                                        difference_of_two{});
  }));
  EXPECT_EQ(expected, out.to_host());

  device_vector<int> in_place(a);
  std::vector<int> thrices = a;
  for (int& item : thrices) {
    if (by_first_byte{1, 1}(item)) item = thrice{}(item);
  }
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceTransform::TransformIf(in_place.data(), in_place.data(), size, by_first_byte{1, 1}, thrice{});
  }));
  EXPECT_EQ(thrices, in_place.to_host());

  device_vector<int> sparse(std::vector<int>(2 * size, 0));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceTransform::TransformIf(counting<int>(0), strided<int>(sparse.data(), 2), size, by_first_byte{1, 1},
                                        thrice{});
  }));
  const std::vector<int> found = sparse.to_host();
  for (std::size_t i = 0; i < size; ++i) {
    int number = static_cast<int>(i);
    ASSERT_EQ(i % 2 == 1 ? thrice{}(number) : 0, found[2 * i]);
    ASSERT_EQ(0, found[2 * i + 1]);
  }
}

// ------------------------------------------------------------------ without inputs

TYPED_TEST(DeviceTransformOf, a_value_everywhere) {
  using T = TypeParam;
  const T value = some_items<T>(1, 3)[0];
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, tile<T> + 7}) {
    for (const std::ptrdiff_t shift : {0, 1}) {
      device_vector<T> out(size + 2);
      std::vector<T> expected = out.to_host();
      std::fill_n(expected.begin() + shift, size, value);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](auto&&... storage) { return DeviceTransform::Fill(storage..., out.data() + shift, size, value); }));
      ASSERT_EQ(expected, out.to_host());
    }
  }
}

struct nine {
  STRATA_HD short operator()() const { return 9; }
};

TEST(device_transform, values_and_generators_are_converted) {
  EXPECT_EQ(std::vector<double>(3001, 2.5), results_of<double>(3001, [&](double* out, auto&&... storage) {
              return DeviceTransform::Fill(storage..., out, 3001, 2.5f);
            }));
  EXPECT_EQ(std::vector<std::int64_t>(3001, 9),
            results_of<std::int64_t>(3001, [&](std::int64_t* out, auto&&... storage) {
              return DeviceTransform::Generate(storage..., out, 3001u, nine{});
            }));
}

// ------------------------------------------------------------------ several inputs

struct weighted {
  STRATA_HD double operator()(const std::uint8_t& a, const float& b, const double& c) const { return a + 2 * b - c; }
};

template <class MakeInputs>
void expect_three_inputs(const MakeInputs& make) {
  for (const std::size_t size : sizes{0, 1, 1023, 1024, 1025, 10007}) {
    for (const std::size_t shift : sizes{0, 1}) {
      SCOPED_TRACE(testing::Message() << size << " items, shift " << shift);
      const std::vector<std::uint8_t> a = random_integers<std::uint8_t>(size + shift, 0, 255);
      const std::vector<float> b = random_reals<float>(size + shift, 0, 1);
      const std::vector<double> c = random_reals<double>(size, 0, 1);
      std::vector<double> expected;
      for (std::size_t i = 0; i < size; ++i) expected.push_back(weighted{}(a[i + shift], b[i + shift], c[i]));
      const device_vector<std::uint8_t> d_a(a);
      const device_vector<float> d_b(b);
      const device_vector<double> d_c(c);
      device_vector<double> out(size);
      ASSERT_CUDA_SUCCESS(in_one_phase([&] {
        return DeviceTransform::Transform(make(d_a.data() + shift, d_b.data() + shift, d_c.data()), out.data(), size,
                                          weighted{});
      }));
      EXPECT_EQ(expected, out.to_host());
      out.poison();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
        return DeviceTransform::TransformStableArgumentAddresses(
            storage..., make(d_a.data() + shift, d_b.data() + shift, d_c.data()), out.data(), size, weighted{});
      }));
      EXPECT_EQ(expected, out.to_host());
    }
  }
}

}  // namespace device_transform_test

// A tuple of another library: std::tuple_size and a function `get` beside the type.
namespace device_transform_tuple {
template <class A, class B, class C>
struct triple {
  A a;
  B b;
  C c;
};
template <std::size_t I, class A, class B, class C>
const auto& get(const triple<A, B, C>& all) {
  if constexpr (I == 0) {
    return all.a;
  } else if constexpr (I == 1) {
    return all.b;
  } else {
    return all.c;
  }
}
}  // namespace device_transform_tuple
template <class A, class B, class C>
struct std::tuple_size<device_transform_tuple::triple<A, B, C>> : std::integral_constant<std::size_t, 3> {};

namespace device_transform_test {

TEST(device_transform, a_std_tuple_of_inputs) {
  expect_three_inputs([](auto a, auto b, auto c) { return std::make_tuple(a, b, c); });
}
TEST(device_transform, another_tuple_of_inputs) {
  expect_three_inputs([](auto a, auto b, auto c) {
    return device_transform_tuple::triple<decltype(a), decltype(b), decltype(c)>{a, b, c};
  });
}

struct second {
  STRATA_HD int operator()(int, int b) const { return b; }
};
TEST(device_transform, an_array_or_a_pair_of_inputs) {
  const std::vector<int> a = random_integers<int>(3000, 0, 99), b = random_integers<int>(3000, 0, 99, 1);
  const device_vector<int> d_a(a), d_b(b);
  EXPECT_EQ(b, results_of<int>(3000, [&](int* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., std::make_pair(d_a.data(), d_b.data()), out, 3000,
                                                second{});
            }));
  EXPECT_EQ(a, results_of<int>(3000, [&](int* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., std::array<const int*, 2>{d_b.data(), d_a.data()}, out,
                                                3000u, second{});
            }));
}

struct seven {
  STRATA_HD int operator()() const { return 7; }
};
TEST(device_transform, without_inputs_it_fills) {
  EXPECT_EQ(std::vector<int>(5001, 7), results_of<int>(5001, [&](int* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., std::tuple<>{}, out, 5001, seven{});
            }));
}

// ------------------------------------------------------------------ in place

TEST(device_transform, the_output_may_be_an_input) {
  const std::size_t size = 3 * tile<int> + 5;
  for (const std::size_t shift : sizes{0, 1}) {
    const std::vector<int> a = random_integers<int>(size + shift, 0, 1000), b = random_integers<int>(size, 0, 99, 1);
    device_vector<int> d_a(a);
    const device_vector<int> d_b(b);
    ASSERT_CUDA_SUCCESS(in_one_phase([&] {
      return DeviceTransform::Transform(std::make_tuple(d_a.data() + shift, d_b.data()), d_a.data() + shift, size,
                                        strata::Sum{});
    }));
    std::vector<int> expected = a;
    for (std::size_t i = 0; i < size; ++i) expected[i + shift] += b[i];
    EXPECT_EQ(expected, d_a.to_host());
    ASSERT_CUDA_SUCCESS(in_one_phase([&] {
      return DeviceTransform::TransformStableArgumentAddresses(d_a.data() + shift, d_a.data() + shift, size, thrice{});
    }));
    for (std::size_t i = 0; i < size; ++i) expected[i + shift] = thrice{}(expected[i + shift]);
    EXPECT_EQ(expected, d_a.to_host());
  }
}

// ------------------------------------------------------------------ types and iterators

struct half_of {
  STRATA_HD float operator()(std::int64_t x) const { return static_cast<float>(x) / 2; }
};
struct is_large {
  STRATA_HD bool operator()(double x) const { return x > 0.5; }
};

TEST(device_transform, results_of_other_sizes) {
  const std::vector<std::int64_t> in = random_integers<std::int64_t>(5003, -1000, 1000);
  const device_vector<std::int64_t> d_in(in);
  std::vector<float> halves;
  for (const std::int64_t x : in) halves.push_back(half_of{}(x));
  EXPECT_EQ(halves, results_of<float>(5003, [&](float* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., d_in.data(), out, 5003, half_of{});
            }));
  const std::vector<double> reals = random_reals<double>(5003, 0, 1);
  const device_vector<double> d_reals(reals);
  std::vector<std::uint8_t> large;
  for (const double x : reals) large.push_back(is_large{}(x));
  EXPECT_EQ(large, results_of<std::uint8_t>(5003, [&](std::uint8_t* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., d_reals.data(), out, 5003, is_large{});
            }));
  // Small results of large items.
  const std::vector<struct12> triples = some_items<struct12>(1003);
  const device_vector<struct12> d_triples(triples);
  const auto first_byte = [](const struct12& x) { return static_cast<std::uint8_t>(x.word[0]); };
  std::vector<std::uint8_t> bytes;
  for (const struct12& x : triples) bytes.push_back(first_byte(x));
#if STRATA_HOST_SIMT
  EXPECT_EQ(bytes, results_of<std::uint8_t>(1003, [&](std::uint8_t* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., d_triples.data(), out, 1003, first_byte);
            }));
#endif
}

struct first_word {
  template <class T>
  STRATA_HD std::uint32_t operator()(const T& x) const {
    return x.word[0];
  }
};

// Groups of one item, where an input has more than 8 bytes for each item, and of two.
template <class Item, class Result>
void expect_results_anywhere() {
  const std::vector<Item> in = some_items<Item>(2003);
  const device_vector<Item> d_in(in);
  for (std::size_t shift = 0; shift <= 16 / sizeof(Result); ++shift) {
    SCOPED_TRACE(testing::Message() << "results begin at " << shift);
    device_vector<Result> out(in.size() + 20);
    std::vector<Result> expected = out.to_host();
    for (std::size_t i = 0; i < in.size(); ++i) expected[shift + i] = static_cast<Result>(first_word{}(in[i]));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceTransform::Transform(storage..., d_in.data(), out.data() + shift, in.size(), first_word{});
    }));
    EXPECT_EQ(expected, out.to_host());
  }
}
TEST(device_transform, results_of_other_sizes_begin_anywhere) {
  expect_results_anywhere<struct12, std::uint32_t>();
  expect_results_anywhere<struct16, std::uint32_t>();
  expect_results_anywhere<struct16, std::uint8_t>();
  expect_results_anywhere<strata_test::words<2>, std::uint16_t>();
}

TEST(device_transform, iterators_that_are_not_pointers) {
  constexpr std::int64_t n = 9001;
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(5 + 2 * i);
  EXPECT_EQ(expected, results_of<std::int64_t>(n, [&](std::int64_t* out, auto&&... storage) {
              return DeviceTransform::Transform(
                  storage..., std::make_tuple(counting<std::int64_t>(5), counting<int>(0)), out, n, strata::Sum{});
            }));
  const std::vector<std::int64_t> items = random_integers<std::int64_t>(n, 0, 99);
  const device_vector<std::int64_t> in(items);
  const std::vector<std::int64_t> thrices = each(items, thrice{});
  device_vector<std::int64_t> out(2 * n);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceTransform::Transform(by_proxies<std::int64_t>(in.data()), strided<std::int64_t>(out.data(), 2), n,
                                      thrice{});
  }));
  const std::vector<std::int64_t> sparse = out.to_host();
  for (std::size_t i = 0; i < thrices.size(); ++i) {
    ASSERT_EQ(thrices[i], sparse[2 * i]);
    ASSERT_TRUE(strata_test::is_poison(sparse[2 * i + 1]));
  }
  ASSERT_CUDA_SUCCESS(in_one_phase(
      [&] { return DeviceTransform::Transform(in.data(), doubling_output<std::int64_t>(out.data()), n, thrice{}); }));
  const std::vector<std::int64_t> doubled = out.to_host();
  for (std::size_t i = 0; i < thrices.size(); ++i) ASSERT_EQ(2 * thrices[i], doubled[i]);
}

/// Not trivially relocatable: it notes where it is.
struct located {
  int value;
  const located* self;
  STRATA_HD located() : value(0), self(this) {}
  STRATA_HD located(const located& other) : value(other.value), self(this) {}
  STRATA_HD located& operator=(const located& other) {
    value = other.value;
    return *this;
  }
};
struct offset_of {
  const void* begin;
  template <class T>
  STRATA_HD std::ptrdiff_t operator()(const T& item) const {
    return static_cast<std::ptrdiff_t>(&item - static_cast<const T*>(begin));
  }
};

TEST(device_transform, stable_addresses_are_those_of_the_input) {
  std::vector<std::ptrdiff_t> expected;
  for (std::ptrdiff_t i = 0; i < 3000; ++i) expected.push_back(i);
  const device_vector<int> in(std::vector<int>(3000, 1));
  EXPECT_EQ(expected, results_of<std::ptrdiff_t>(3000, [&](std::ptrdiff_t* out, auto&&... storage) {
              return DeviceTransform::TransformStableArgumentAddresses(storage..., in.data(), out, 3000,
                                                                       offset_of{in.data()});
            }));
  // Items that cannot be copied as bits are not copied.
  void* memory = nullptr;
  ASSERT_CUDA_SUCCESS(cudaMalloc(&memory, 3000 * sizeof(located)));
  EXPECT_EQ(expected, results_of<std::ptrdiff_t>(3000, [&](std::ptrdiff_t* out, auto&&... storage) {
              return DeviceTransform::Transform(storage..., static_cast<const located*>(memory), out, 3000,
                                                offset_of{memory});
            }));
  EXPECT_CUDA_SUCCESS(cudaFree(memory));
}

// ------------------------------------------------------------------ execution

TEST(device_transform, graphs_are_replayed_with_other_items) {
  const std::size_t size = 2 * tile<int> + 3;
  device_vector<int> in(size), out(size);
  graph recorded(
      [&](cudaStream_t on) { return DeviceTransform::Transform(in.data(), out.data(), size, thrice{}, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  const stream on;
  for (unsigned run = 0; run < 2; ++run) {
    const std::vector<int> items = random_integers<int>(size, 0, 1000, run);
    in.assign(items);
    recorded.replay(on);
    on.synchronize();
    EXPECT_EQ(each(items, thrice{}), out.to_host());
  }
}

struct no_memory {
  void* allocate(std::size_t, cudaStream_t) {
    ADD_FAILURE() << "nothing is kept in temporary storage";
    return nullptr;
  }
  void deallocate(void*, std::size_t, cudaStream_t) {}
};

TEST(device_transform, an_execution_is_where_it_works) {
  const std::vector<int> items = random_integers<int>(1000, 0, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(1000);
  const stream on;
  no_memory memory;
  const strata::execution where(static_cast<cudaStream_t>(on), memory);
  ASSERT_CUDA_SUCCESS(DeviceTransform::Transform(in.data(), out.data(), 1000, thrice{}, where));
  on.synchronize();
  EXPECT_EQ(each(items, thrice{}), out.to_host());
}

TEST(device_transform, arguments) {
  device_vector<int> data(std::vector<int>(200, 1));
  int* const a = data.data();
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceTransform::Transform(nullptr, bytes, a, a + 1, 100, thrice{}));
  EXPECT_EQ(1u, bytes);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(nullptr, bytes, a, a, -1, thrice{}));
  bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(a, bytes, a, a, 100, thrice{}));
  int* const nothing = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(nothing, a, 1, thrice{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(a, nothing, 1, thrice{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(std::make_tuple(a, nothing), a, 1, second{}));
  EXPECT_CUDA_SUCCESS(DeviceTransform::Transform(nothing, nothing, 0, thrice{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(a, a + 1, 100, thrice{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(std::make_tuple(a, a + 99), a, 100, second{}));
  // In place, the items must have one size.
  auto* const small = reinterpret_cast<std::int16_t*>(a);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(a, small, 100, thrice{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTransform::Transform(with_difference<int, std::int8_t>(a), a, 129, thrice{}));
  EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
}

}  // namespace device_transform_test

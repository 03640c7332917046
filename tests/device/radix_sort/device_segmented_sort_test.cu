// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedSort: every function, keys of all number types, and what it promises beyond the merge sort on which it
// is built.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_segmented_sort.cuh>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"

namespace {

using namespace merge_sort_test;
using strata::DeviceSegmentedSort;
using strata::DoubleBuffer;
using Key = float;
using Value = std::uint32_t;

// ------------------------------------------------------------------ the order of keys

double number_of(float key) { return key; }
double number_of(double key) { return key; }
double number_of(__half key) { return static_cast<double>(__half2float(key)); }
double number_of(__nv_bfloat16 key) { return static_cast<double>(__bfloat162float(key)); }

/// The documented order, computed with floating-point comparisons instead of bits.
template <class T>
bool is_before(const T& a, const T& b) {
  if constexpr (strata::detail::radix_mantissa_bits<T> != 0) {
    const double x = number_of(a), y = number_of(b);
    return x < y || (!std::isnan(x) && std::isnan(y));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(a) < static_cast<std::underlying_type_t<T>>(b);
  } else {
    return a < b;
  }
}

template <class T>
void expect_order(const std::vector<T>& some) {
  for (const T& a : some) {
    for (const T& b : some) {
      ASSERT_EQ(is_before(a, b), (strata::detail::is_before_in_radix_sorts<T, false>{}(a, b)));
      ASSERT_EQ(is_before(b, a), (strata::detail::is_before_in_radix_sorts<T, true>{}(a, b)));
    }
  }
}

template <class T>
std::vector<T> special_integers() {
  using limits = std::numeric_limits<T>;
  const T middle = static_cast<T>(limits::max() / 2);
  return {limits::min(),
          static_cast<T>(limits::min() + 1),
          T{0},
          T{1},
          middle,
          static_cast<T>(middle + 1),
          static_cast<T>(limits::max() - 1),
          limits::max(),
          static_cast<T>(-1)};
}

/// Zeros, infinities, subnormals, and NaNs of both signs with several payloads.
template <class T, class Bits>
std::vector<T> special_floats() {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  constexpr Bits mantissa = static_cast<Bits>((Bits{1} << strata::detail::radix_mantissa_bits<T>)-1);
  constexpr Bits infinity = static_cast<Bits>(sign - 1 - mantissa);
  std::vector<T> all;
  for (const Bits negative : {Bits{0}, sign}) {
    for (const Bits magnitude :
         {Bits{0}, Bits{1}, mantissa, static_cast<Bits>(mantissa + 1), static_cast<Bits>(infinity / 2),
          static_cast<Bits>(infinity - 1), infinity, static_cast<Bits>(infinity + 1), static_cast<Bits>(sign - 1)}) {
      const Bits bits = static_cast<Bits>(negative | magnitude);
      T number;
      std::memcpy(static_cast<void*>(&number), &bits, sizeof(T));
      all.push_back(number);
    }
  }
  return all;
}

// An enumeration is sorted by its number, even if its own `<` says otherwise.
enum class small : std::int16_t { low = -5, zero = 0, high = 9 };
[[maybe_unused]] STRATA_HD bool operator<(small a, small b) { return static_cast<int>(b) < static_cast<int>(a); }

TEST(device_segmented_sort, order_of_keys) {
  expect_order(special_integers<std::int8_t>());
  expect_order(special_integers<std::uint8_t>());
  expect_order(special_integers<std::int32_t>());
  expect_order(special_integers<std::uint32_t>());
  expect_order(special_integers<std::int64_t>());
  expect_order(special_integers<std::uint64_t>());
  expect_order(std::vector<char>{'a', '\0', 'z', '\x80'});
  expect_order(std::vector<small>{small::high, small::low, small::zero});
  expect_order(special_floats<float, std::uint32_t>());
  expect_order(special_floats<double, std::uint64_t>());
  expect_order(special_floats<__half, std::uint16_t>());
  expect_order(special_floats<__nv_bfloat16, std::uint16_t>());
}

// ------------------------------------------------------------------ every function

/// One key in four is a special value. Most keys occur several times.
std::vector<Key> make_floats(std::size_t count) {
  const std::vector<Key> special = special_floats<Key, std::uint32_t>();
  std::mt19937_64 bits = strata_test::random_bits(31);
  std::vector<Key> keys(count);
  for (Key& key : keys) {
    const std::uint64_t number = bits();
    key = number % 4 == 0 ? special[number / 4 % special.size()]
                          : static_cast<Key>(static_cast<int>(number / 4 % 2000) - 1000);
  }
  return keys;
}

constexpr Key key_before = 77;
constexpr Value value_before = 77;

struct sorting {
  sorting(const segment_shape& of, bool is_descending)
      : shape(of),
        keys(make_floats(shape.items())),
        values(make_values<Value>(shape.items())),
        order(expected_order(shape, keys,
                             [=](Key a, Key b) { return is_descending ? is_before(b, a) : is_before(a, b); })),
        offsets(shape),
        keys_in(keys),
        values_in(values),
        keys_out(std::vector<Key>(keys.size(), key_before)),
        values_out(std::vector<Value>(keys.size(), value_before)) {}

  template <class Call>
  void run(const Call& call) {
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call(storage, bytes, items_of(shape), shape.segments(), offsets.begins.data(), offsets.ends.data());
    }));
  }
  void expect_copied(bool has_values) {
    const std::vector<Value> before(keys.size(), value_before);
    expect_gathered(keys, order, keys_out.to_host(), std::vector<Key>(keys.size(), key_before));
    expect_gathered(values, has_values ? order : nothing(), values_out.to_host(), before);
    expect_gathered(keys, everything(), keys_in.to_host(), keys);
    EXPECT_EQ(values, values_in.to_host());
  }
  /// Expects the results in the arrays of the input. The other arrays may only be written within segments.
  void expect_in_place(bool has_values) {
    expect_gathered(keys, order, keys_in.to_host(), keys);
    expect_gathered(values, has_values ? order : nothing(), values_in.to_host(), values);
    const std::vector<Key> other_keys = keys_out.to_host();
    const std::vector<Value> other_values = values_out.to_host();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (order[i] == nowhere) {
        ASSERT_EQ(key_before, other_keys[i]) << "key " << i;
      }
      if (order[i] == nowhere || !has_values) {
        ASSERT_EQ(value_before, other_values[i]) << "value " << i;
      }
    }
  }
  std::vector<std::size_t> nothing() const { return std::vector<std::size_t>(keys.size(), nowhere); }
  std::vector<std::size_t> everything() const {
    std::vector<std::size_t> same(keys.size());
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = i;
    return same;
  }

  segment_shape shape;
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<std::size_t> order;
  device_offsets offsets;
  device_vector<Key> keys_in;
  device_vector<Value> values_in;
  device_vector<Key> keys_out;
  device_vector<Value> values_out;
};

/// Segments for each kernel: short ones that share a tile, queued ones, and ones of several tiles, which are merged.
std::vector<segment_shape> library_shapes() {
  std::vector<offset> lengths(if_small<std::size_t>(100, 1000), 7);
  lengths.back() = if_small(3000, 13000);
  return {scattered(consecutive("long", {0, 1, 30, 700, 3201, 6401, 2, if_small(13000, 40000)}), 31),
          scattered(consecutive("short", {5, 40, 0, 3, 90, 1, 0, 17}), 32), consecutive("most_of_7", lengths)};
}

template <class Call>
void expect_copies(bool is_descending, bool has_values, const Call& call) {
  for (const segment_shape& shape : library_shapes()) {
    SCOPED_TRACE(shape);
    sorting data(shape, is_descending);
    data.run([&](void* storage, std::size_t& bytes, auto... rest) { return call(data, storage, bytes, rest...); });
    data.expect_copied(has_values);
  }
}

/// The input lies in the second array of each DoubleBuffer.
template <class Call>
void expect_in_buffers(bool is_descending, bool has_values, const Call& call) {
  for (const segment_shape& shape : library_shapes()) {
    SCOPED_TRACE(shape);
    sorting data(shape, is_descending);
    DoubleBuffer<Key> keys(data.keys_out.data(), data.keys_in.data());
    DoubleBuffer<Value> values(data.values_out.data(), data.values_in.data());
    keys.selector = values.selector = 1;
    data.run(
        [&](void* storage, std::size_t& bytes, auto... rest) { return call(keys, values, storage, bytes, rest...); });
    EXPECT_EQ(data.keys_in.data(), keys.Current());
    EXPECT_EQ(data.values_in.data(), values.Current());
    data.expect_in_place(has_values);
  }
}

// All functions of one direction, with values and without.
#define EXPECT_FUNCTIONS(keys_function, pairs_function, is_descending)                                         \
  expect_copies(is_descending, false, [](sorting& d, void* s, std::size_t& b, auto... rest) {                  \
    return DeviceSegmentedSort::keys_function(s, b, d.keys_in.data(), d.keys_out.data(), rest...);             \
  });                                                                                                          \
  expect_copies(is_descending, true, [](sorting& d, void* s, std::size_t& b, auto... rest) {                   \
    return DeviceSegmentedSort::pairs_function(s, b, d.keys_in.data(), d.keys_out.data(), d.values_in.data(),  \
                                               d.values_out.data(), rest...);                                  \
  });                                                                                                          \
  expect_in_buffers(is_descending, false, [](auto& keys, auto&, void* s, std::size_t& b, auto... rest) {       \
    return DeviceSegmentedSort::keys_function(s, b, keys, rest...);                                            \
  });                                                                                                          \
  expect_in_buffers(is_descending, true, [](auto& keys, auto& values, void* s, std::size_t& b, auto... rest) { \
    return DeviceSegmentedSort::pairs_function(s, b, keys, values, rest...);                                   \
  })

TEST(device_segmented_sort, ascending) { EXPECT_FUNCTIONS(SortKeys, SortPairs, false); }

TEST(device_segmented_sort, descending) { EXPECT_FUNCTIONS(SortKeysDescending, SortPairsDescending, true); }

TEST(device_segmented_sort, stable_names) {
  EXPECT_FUNCTIONS(StableSortKeys, StableSortPairs, false);
  EXPECT_FUNCTIONS(StableSortKeysDescending, StableSortPairsDescending, true);
}

/// Calls write indices to `values_out`.
void expect_indices(const sorting& data) {
  const std::vector<Value> indices = data.values_out.to_host();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    ASSERT_EQ(data.order[i] == nowhere ? value_before : static_cast<Value>(data.order[i]), indices[i]) << i;
  }
  EXPECT_EQ(std::vector<Key>(indices.size(), key_before), data.keys_out.to_host());
}

TEST(device_segmented_sort, indices) {
  for (const segment_shape& shape : library_shapes()) {
    SCOPED_TRACE(shape);
    sorting up(shape, false), down(shape, true);
    up.run([&](void* storage, std::size_t& bytes, auto... rest) {
      return DeviceSegmentedSort::SortIndices(storage, bytes, up.keys_in.data(), up.values_out.data(), rest...);
    });
    expect_indices(up);
    down.run([&](void* storage, std::size_t& bytes, auto... rest) {
      return DeviceSegmentedSort::SortIndicesDescending(storage, bytes, down.keys_in.data(), down.values_out.data(),
                                                        rest...);
    });
    expect_indices(down);
  }
}

/// Calls `sort(data, storage, bytes, 9, size)` for sizes that different kernels sort, and then `expect(data)`.
template <class Sort, class Expect>
void expect_of_one_size(bool is_descending, const Sort& sort, const Expect& expect) {
  for (const offset size : {0, 1, 33, if_small(700, 6500)}) {
    const segment_shape shape = consecutive("of_one_size", std::vector<offset>(9, size));
    SCOPED_TRACE(shape);
    sorting data(shape, is_descending);
    ASSERT_CUDA_SUCCESS(
        in_two_phases([&](void* storage, std::size_t& bytes) { return sort(data, storage, bytes, 9, size); }));
    expect(data);
  }
}

TEST(device_segmented_sort, two_buffers_need_a_tenth_of_the_storage) {
  constexpr std::size_t n = 100000000;
  const Key* const in = nullptr;
  const offset* const offsets = nullptr;
  DoubleBuffer<Key> keys;
  DoubleBuffer<Value> values;
  std::size_t with_buffers = 0, without = 0;
  ASSERT_CUDA_SUCCESS(DeviceSegmentedSort::SortKeys(nullptr, with_buffers, keys, n, 10, offsets, offsets));
  ASSERT_CUDA_SUCCESS(
      DeviceSegmentedSort::SortKeys(nullptr, without, in, static_cast<Key*>(nullptr), n, 10, offsets, offsets));
  EXPECT_LE(with_buffers, without / 10);
  ASSERT_CUDA_SUCCESS(DeviceSegmentedSort::SortPairs(nullptr, with_buffers, keys, values, n, 10, offsets, offsets));
  EXPECT_LE(with_buffers, without / 10);
}

// Keys have 4 bytes. The lists need most storage if there may be many long segments.
TEST(device_segmented_sort, storage_is_as_documented) {
  const Key* const in = nullptr;
  const offset* const offsets = nullptr;
  const auto bytes_beside_keys = [&](std::size_t n, std::size_t segments) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(
        DeviceSegmentedSort::SortKeys(nullptr, bytes, in, static_cast<Key*>(nullptr), n, segments, offsets, offsets));
    EXPECT_GE(bytes, n * sizeof(Key));
    return bytes - n * sizeof(Key);
  };
  constexpr std::size_t few = 4000000, small = 10000000, large = 100000000;
  EXPECT_LE(bytes_beside_keys(few, few), few * sizeof(Key) * 5 / 100);
  EXPECT_LE(bytes_beside_keys(small, small), small * sizeof(Key) * 4 / 100);
  EXPECT_LE(bytes_beside_keys(large, large), large * sizeof(Key) * 12 / 100);
}

#define EXPECT_OF_ONE_SIZE(keys_function, pairs_function, indices_function, is_descending)                         \
  expect_of_one_size(                                                                                              \
      is_descending,                                                                                               \
      [](sorting& d, void* s, std::size_t& b, int segments, offset size) {                                         \
        return DeviceSegmentedSort::keys_function(s, b, d.keys_in.data(), d.keys_out.data(), segments, size);      \
      },                                                                                                           \
      [](sorting& d) { d.expect_copied(false); });                                                                 \
  expect_of_one_size(                                                                                              \
      is_descending,                                                                                               \
      [](sorting& d, void* s, std::size_t& b, int segments, offset size) {                                         \
        return DeviceSegmentedSort::pairs_function(s, b, d.keys_in.data(), d.keys_out.data(), d.values_in.data(),  \
                                                   d.values_out.data(), segments, size);                           \
      },                                                                                                           \
      [](sorting& d) { d.expect_copied(true); });                                                                  \
  expect_of_one_size(                                                                                              \
      is_descending,                                                                                               \
      [](sorting& d, void* s, std::size_t& b, int segments, offset size) {                                         \
        DoubleBuffer<Key> keys(d.keys_in.data(), d.keys_out.data());                                               \
        return DeviceSegmentedSort::keys_function(s, b, keys, segments, size);                                     \
      },                                                                                                           \
      [](sorting& d) { d.expect_in_place(false); });                                                               \
  expect_of_one_size(                                                                                              \
      is_descending,                                                                                               \
      [](sorting& d, void* s, std::size_t& b, int segments, offset size) {                                         \
        DoubleBuffer<Key> keys(d.keys_in.data(), d.keys_out.data());                                               \
        DoubleBuffer<Value> values(d.values_in.data(), d.values_out.data());                                       \
        return DeviceSegmentedSort::pairs_function(s, b, keys, values, segments, size);                            \
      },                                                                                                           \
      [](sorting& d) { d.expect_in_place(true); });                                                                \
  expect_of_one_size(                                                                                              \
      is_descending,                                                                                               \
      [](sorting& d, void* s, std::size_t& b, int segments, offset size) {                                         \
        return DeviceSegmentedSort::indices_function(s, b, d.keys_in.data(), d.values_out.data(), segments, size); \
      },                                                                                                           \
      [](sorting& d) { expect_indices(d); })

TEST(device_segmented_sort, segments_of_one_size_ascending) {
  EXPECT_OF_ONE_SIZE(SortKeys, SortPairs, SortIndices, false);
}

TEST(device_segmented_sort, segments_of_one_size_descending) {
  EXPECT_OF_ONE_SIZE(SortKeysDescending, SortPairsDescending, SortIndicesDescending, true);
}

// ------------------------------------------------------------------ keys of other sizes

template <class Number>
void expect_sorts_descending(const std::vector<Number>& special) {
  const segment_shape shape = library_shapes()[0];
  std::mt19937_64 bits = strata_test::random_bits(5);
  std::vector<Number> keys(shape.items());
  for (Number& key : keys) key = special[bits() % special.size()];
  const std::vector<Number> before(keys.size(), special[0]);
  const device_vector<Number> in(keys);
  device_vector<Number> out(before);
  const device_offsets offsets(shape);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedSort::SortKeysDescending(storage, bytes, in.data(), out.data(), items_of(shape),
                                                   shape.segments(), offsets.begins.data(), offsets.ends.data());
  }));
  const auto order = expected_order(shape, keys, [](const Number& a, const Number& b) { return is_before(b, a); });
  expect_gathered(keys, order, out.to_host(), before);
}

TEST(device_segmented_sort, keys_of_other_sizes) {
  expect_sorts_descending(special_floats<__half, std::uint16_t>());
#if !STRATA_TEST_FEW_TYPES
  expect_sorts_descending(special_integers<std::int64_t>());
#endif
}

// ------------------------------------------------------------------ graphs

TEST(device_segmented_sort, a_graph_may_be_replayed_with_other_segments) {
  const offset most = if_small(14000, 40000);
  sorting first(consecutive("one", {most}), false);
  device_offsets offsets(consecutive("unset", {0, 0, 0, 0, 0}));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return DeviceSegmentedSort::SortKeys(storage, bytes, static_cast<const Key*>(first.keys_in.data()),
                                         first.keys_out.data(), most, 5, offsets.begins.data(), offsets.ends.data(),
                                         on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  for (const std::vector<offset>& lengths :
       std::vector<std::vector<offset>>{{most - 40, 0, 12, 28, 0}, {1, 2, 3, 4, 5}, {300, 0, 0, 0, most - 400}}) {
    const segment_shape shape = consecutive("replay", lengths);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    const std::vector<Key> before(first.keys.size(), key_before);
    first.keys_out.assign(before);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_NO_FATAL_FAILURE(expect_gathered(first.keys, expected_order(shape, first.keys, is_before<Key>),
                                            first.keys_out.to_host(), before));
  }
}

// ------------------------------------------------------------------ arguments

/// Valid arguments, with one segment of two pairs. `change(arguments)` in expect_refused() makes one of them wrong.
struct arguments {
  std::vector<Key> items_before{2, 1, 0, 0};
  std::vector<Value> values_before{5, 6, 0, 0};
  device_vector<Key> key_memory{items_before};
  device_vector<Value> value_memory{values_before};
  device_vector<offset> device_offsets{std::vector<offset>{0, 2}};
  Key* keys_in = key_memory.data();
  Key* keys_out = key_memory.data() + 2;
  Value* values_in = value_memory.data();
  Value* values_out = value_memory.data() + 2;
  long long items = 2;
  long long segments = 1;
  const offset* begins = device_offsets.data();
  const offset* ends = device_offsets.data() + 1;
  bool is_short_of_storage = false;

  cudaError_t copy() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(storage, bytes, static_cast<const Key*>(keys_in), keys_out,
                                            static_cast<const Value*>(values_in), values_out, items, segments, begins,
                                            ends);
    });
  }
  cudaError_t in_buffers() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      DoubleBuffer<Key> keys(keys_in, keys_out);
      DoubleBuffer<Value> values(values_in, values_out);
      return DeviceSegmentedSort::SortPairs(storage, bytes, keys, values, items, segments, begins, ends);
    });
  }
  void expect_untouched() const {
    EXPECT_EQ(items_before, key_memory.to_host());
    EXPECT_EQ(values_before, value_memory.to_host());
  }
};

template <class Change>
void expect_refused(const char* what, bool in_buffers_too, const Change& change) {
  SCOPED_TRACE(what);
  arguments wrong;
  change(wrong);
  EXPECT_EQ(cudaErrorInvalidValue, wrong.copy());
  if (in_buffers_too) {
    EXPECT_EQ(cudaErrorInvalidValue, wrong.in_buffers());
  }
  wrong.expect_untouched();
}

TEST(device_segmented_sort, refuses_wrong_arguments) {
  expect_refused("items", true, [](arguments& a) { a.items = -1; });
  expect_refused("segments", true, [](arguments& a) { a.segments = -1; });
  expect_refused("keys_in", true, [](arguments& a) { a.keys_in = nullptr; });
  expect_refused("keys_out", false, [](arguments& a) { a.keys_out = nullptr; });
  expect_refused("values_in", true, [](arguments& a) { a.values_in = nullptr; });
  expect_refused("values_out", false, [](arguments& a) { a.values_out = nullptr; });
  expect_refused("begins", true, [](arguments& a) { a.begins = nullptr; });
  expect_refused("ends", true, [](arguments& a) { a.ends = nullptr; });
  expect_refused("keys overlap", false, [](arguments& a) { a.keys_out = a.keys_in + 1; });
  expect_refused("values overlap", false, [](arguments& a) { a.values_out = a.values_in + 1; });
  expect_refused("keys are values", true,
                 [](arguments& a) { a.values_in = a.values_out = reinterpret_cast<Value*>(a.keys_in + 1); });
  expect_refused("storage", true, [](arguments& a) { a.is_short_of_storage = true; });
}

TEST(device_segmented_sort, accepts_right_arguments) {
  arguments right;
  EXPECT_CUDA_SUCCESS(right.copy());
  EXPECT_EQ((std::vector<Key>{2, 1, 1, 2}), right.key_memory.to_host());
  EXPECT_EQ((std::vector<Value>{5, 6, 6, 5}), right.value_memory.to_host());
  EXPECT_CUDA_SUCCESS(right.in_buffers());
  EXPECT_EQ((std::vector<Key>{1, 2, 1, 2}), right.key_memory.to_host());
  EXPECT_EQ((std::vector<Value>{6, 5, 6, 5}), right.value_memory.to_host());
}

TEST(device_segmented_sort, nothing_to_sort) {
  for (const bool has_items : {false, true}) {
    arguments none;
    (has_items ? none.segments : none.items) = 0;
    EXPECT_CUDA_SUCCESS(none.copy());
    EXPECT_CUDA_SUCCESS(none.in_buffers());
    none.keys_in = none.keys_out = nullptr;
    none.values_in = none.values_out = nullptr;
    none.begins = none.ends = nullptr;
    EXPECT_CUDA_SUCCESS(none.copy());
    EXPECT_CUDA_SUCCESS(none.in_buffers());
    none.expect_untouched();
  }
}

}  // namespace

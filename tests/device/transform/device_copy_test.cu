// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceCopy: batches of arrays that are copied item by item through any iterators, and matrices of any layout.
#include <strata/device/device_copy.cuh>

#include <cstdint>
#include <vector>

#include "device/test_iterators.cuh"
#include "device/transform/device_batched_copy_support.cuh"
#include "support/mdspan_shape.cuh"
#include "support/test_types.cuh"

namespace device_copy_test {

using namespace device_test;
using strata::DeviceCopy;
using strata_test::array_of;
using strata_test::box;
using strata_test::strides_of;
using strata_test::words;

#if defined(STRATA_TEST_FEW_TYPES)
using types = testing::Types<std::uint8_t, std::uint32_t, words<3>, strata_test::int128>;
#else
using types = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, words<3>,
                             words<5, std::uint8_t>, words<3, std::uint64_t>, strata_test::int128, words<8>>;
#endif

template <class T>
class device_copy : public testing::Test {};
TYPED_TEST_SUITE(device_copy, types);

/// Makes an iterator that behaves like a pointer, which the library does not know to be one.
template <class T>
struct as_iterator {
  STRATA_HD strided<T> operator()(T* first) const { return strided<T>(first, 1); }
};

template <class T>
std::vector<buffer_places> batches() {
  std::vector<buffer_places> all;
  const std::size_t largest = if_small<std::size_t>(30000, 300000) / sizeof(T);
  for (const std::size_t gap : sizes{0, 5}) {
    all.push_back(
        scattered_buffers("all_scales", sizes_of_all_scales(if_small<std::size_t>(200, 2000), largest, gap), gap));
  }
  std::vector<std::size_t> lengths;
  for (std::size_t size = 0; size <= if_small<std::size_t>(40, 200); ++size) lengths.push_back(size);
  for (const std::size_t bytes : sizes{4096, 8192, 16384}) {
    for (std::size_t size = bytes / sizeof(T) - 2; size <= bytes / sizeof(T) + 3; ++size) lengths.push_back(size);
  }
  all.push_back(scattered_buffers("short_and_around_powers", lengths, 3));
  lengths.assign(if_small<std::size_t>(100, 20000), 2);
  lengths[9] = if_small<std::size_t>(100000, 10000000) / sizeof(T);
  all.push_back(scattered_buffers("one_huge_among_tiny", lengths, 1));
  return all;
}

TYPED_TEST(device_copy, pointers) {
  for (const buffer_places& places : batches<TypeParam>()) {
    SCOPED_TRACE(places.name);
    buffer_pools<TypeParam> pools(places);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceCopy::Batched(storage..., pools.inputs.data(), pools.outputs.data(), pools.sizes.data(),
                                 pools.count());
    }));
    pools.expect_copied();
  }
}

TYPED_TEST(device_copy, other_iterators) {
  using T = TypeParam;
  for (const buffer_places& places : batches<T>()) {
    SCOPED_TRACE(places.name);
    buffer_pools<T> pools(places);
    const transforming<const T* const*, as_iterator<const T>> inputs(pools.inputs.data(), {});
    const transforming<T* const*, as_iterator<T>> outputs(pools.outputs.data(), {});
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceCopy::Batched(storage..., inputs, outputs, pools.sizes.data(), pools.count());
    }));
    pools.expect_copied();
  }
}

// ---------------------------------------------------------------------------- iterators

template <class T>
struct constant_of {
  const T* values;
  STRATA_HD constant<T> operator()(int i) const { return constant<T>(values[i]); }
};

TEST(device_copy_iterators, constants_decode_runs) {
  const std::vector<std::size_t> lengths = sizes_of_all_scales(500, 20000, 3);
  std::vector<int> values, expected;
  buffer_places places{"runs", {}, {}, {}};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    values.push_back(static_cast<int>(i * 7919));
    places.add(lengths[i], 0, 0);
    expected.insert(expected.end(), lengths[i], values.back());
  }
  buffer_pools<int> pools(places);
  const device_vector<int> d_values(values);
  const transforming<counting<int>, constant_of<int>> inputs(counting<int>(0), {d_values.data()});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceCopy::Batched(storage..., inputs, pools.outputs.data(), pools.sizes.data(), pools.count());
  }));
  EXPECT_EQ(pools.out.to_host(), expected);
}

TEST(device_copy_iterators, items_are_converted) {
  const buffer_places places = scattered_buffers("some", sizes_of_all_scales(100, 10000, 4), 3);
  buffer_pools<std::uint8_t> pools(places);
  device_vector<double> out(places.out_items);
  const std::vector<std::uint8_t> items = pools.in.to_host();
  std::vector<double> expected = out.to_host();
  std::vector<double*> to;
  for (std::size_t i = 0; i < places.count(); ++i) {
    to.push_back(out.data() + places.out[i]);
    for (std::size_t k = 0; k < places.sizes[i]; ++k) expected[places.out[i] + k] = items[places.in[i] + k];
  }
  const device_vector<double*> outputs(to);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceCopy::Batched(storage..., pools.inputs.data(), outputs.data(), pools.sizes.data(), pools.count());
  }));
  const std::vector<double> results = out.to_host();
  EXPECT_TRUE(expected.empty() || std::memcmp(expected.data(), results.data(), expected.size() * sizeof(double)) == 0);
}

/// A type whose assignment notes that it was called.
struct counts_assignments {
  int value;
  int assignments;

  counts_assignments() = default;
  STRATA_HD counts_assignments(const counts_assignments& other) : value(other.value), assignments(0) {}
  STRATA_HD counts_assignments& operator=(const counts_assignments& other) {
    value = other.value;
    assignments = 1;
    return *this;
  }
};

TEST(device_copy_iterators, types_that_are_not_trivial_are_assigned) {
  const int n = 3000;
  std::vector<counts_assignments> items(n);
  for (int i = 0; i < n; ++i) {
    items[static_cast<std::size_t>(i)].value = i;
    items[static_cast<std::size_t>(i)].assignments = 7;
  }
  const device_vector<counts_assignments> in(items);
  device_vector<counts_assignments> out(items);
  const device_vector<const counts_assignments*> inputs({in.data(), in.data() + 1000});
  const device_vector<counts_assignments*> outputs({out.data() + 2500, out.data()});
  const device_vector<int> sizes({500, 2000});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceCopy::Batched(storage..., inputs.data(), outputs.data(), sizes.data(), 2);
  }));
  const std::vector<counts_assignments> results = out.to_host();
  for (int i = 0; i < n; ++i) {
    const bool is_copied = i < 2000 || i >= 2500;
    const counts_assignments& result = results[static_cast<std::size_t>(i)];
    ASSERT_EQ(i < 2000 ? i + 1000 : i < 2500 ? i : i - 2500, result.value);
    ASSERT_EQ(is_copied ? 1 : 7, result.assignments);
  }
}

TEST(device_copy_iterators, each_item_is_written_once) {
  const std::vector<std::size_t> lengths = sizes_of_all_scales(100, 20000, 5);
  buffer_places places{"counted", {}, {}, {}};
  for (const std::size_t length : lengths) places.add(length, 2, 3);
  buffer_pools<int> pools(places);
  device_vector<unsigned> written(std::vector<unsigned>(places.out_items, 0));
  std::vector<counted_output<int>> to;
  std::vector<unsigned> expected(places.out_items, 0);
  for (std::size_t i = 0; i < places.count(); ++i) {
    to.emplace_back(pools.out.data() + places.out[i], written.data() + places.out[i]);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(places.out[i]), places.sizes[i], 1);
  }
  const device_vector<counted_output<int>> outputs(to);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceCopy::Batched(storage..., pools.inputs.data(), outputs.data(), pools.sizes.data(), pools.count());
  }));
  pools.expect_copied();
  EXPECT_EQ(written.to_host(), expected);
}

TEST(device_copy_iterators, without_temporary_storage) {
  buffer_pools<int> pools(scattered_buffers("some", sizes_of_all_scales(100, 20000, 5), 9));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceCopy::Batched(pools.inputs.data(), pools.outputs.data(), pools.sizes.data(), pools.count());
  }));
  pools.expect_copied();
}

TEST(device_copy_iterators, a_graph_may_be_replayed_with_other_ranges) {
  const std::vector<std::size_t> sizes = sizes_of_all_scales(60, 8000, 7);
  buffer_pools<int> pools(scattered_buffers("first", sizes, 5));
  const transforming<int* const*, as_iterator<int>> outputs(pools.outputs.data(), {});
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(
      DeviceCopy::Batched(nullptr, bytes, pools.inputs.data(), outputs, pools.sizes.data(), pools.count()));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    return DeviceCopy::Batched(storage.data(), bytes, pools.inputs.data(), outputs, pools.sizes.data(), pools.count(),
                               on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (std::uint64_t replay = 0; replay < 3; ++replay) {
    if (replay > 0) pools.assign(scattered_buffers("next", sizes, 0, replay), replay);
    recorded.replay(where);
    where.synchronize();
    pools.expect_copied();
  }
}

// ------------------------------------------------------------------ Copy

/// Computes what it reads, so that bytes must not be copied.
struct tripling_accessor {
  STRATA_HD int access(const int* first, std::size_t i) const { return 3 * first[i]; }
};
static_assert(strata::detail::is_mdspan<array_of<int, 3>> && strata::detail::is_of_array<array_of<const int, 3>>());
static_assert(!strata::detail::is_of_array<array_of<const int, 1, tripling_accessor>>());
static_assert(!strata::detail::is_mdspan<int*> && !strata::detail::is_mdspan<strides_of<2>>);

/// The order of an array's dimensions in memory, the slowest first, and how much longer each dimension is than needed.
struct arrangement {
  std::vector<std::size_t> order;
  int more;
};
template <std::size_t Rank>
strides_of<Rank> arranged(const box<Rank>& extents, const arrangement& how) {
  strides_of<Rank> result{extents, {}};
  int stride = 1;
  for (std::size_t i = Rank; i-- > 0;) {
    const std::size_t r = how.order[i];
    result.strides_[r] = stride;
    stride *= extents.all[r] + how.more;
  }
  return result;
}

template <class In, class Out>
void expect_copies_of_arrays(const box<3>& extents) {
  const std::vector<arrangement> all = {{{0, 1, 2}, 0}, {{2, 1, 0}, 0}, {{0, 1, 2}, 3}, {{2, 1, 0}, 1}, {{1, 2, 0}, 0}};
  for (const arrangement& of_in : all) {
    for (const arrangement& of_out : all) {
      const strides_of<3> in_strides = arranged(extents, of_in), out_strides = arranged(extents, of_out);
      std::vector<In> items(static_cast<std::size_t>(in_strides.required_span_size()));
      for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<In>(i % 120);
      std::vector<Out> expected(static_cast<std::size_t>(out_strides.required_span_size()), Out{77});
      const device_vector<In> in(items);
      device_vector<Out> out(expected);
      for (int i = 0; i < extents.all[0]; ++i) {
        for (int j = 0; j < extents.all[1]; ++j) {
          for (int k = 0; k < extents.all[2]; ++k) {
            expected[static_cast<std::size_t>(out_strides(i, j, k))] =
                static_cast<Out>(items[static_cast<std::size_t>(in_strides(i, j, k))]);
          }
        }
      }
      ASSERT_CUDA_SUCCESS(in_one_phase([&] {
        return DeviceCopy::Copy(array_of<const In, 3>{in.data(), in_strides},
                                array_of<Out, 3>{out.data(), out_strides});
      }));
      ASSERT_EQ(expected, out.to_host());
    }
  }
}

TEST(device_copy_arrays, any_strides_and_types) {
  expect_copies_of_arrays<int, int>({{3, 17, 129}});
  expect_copies_of_arrays<std::uint8_t, std::uint8_t>({{33, 1, 70}});
  expect_copies_of_arrays<short, double>({{5, 40, 6}});
}

TEST(device_copy_arrays, accessors_that_compute_no_dimensions_and_no_elements) {
  const device_vector<int> in(std::vector<int>{1, 2, 3, 4, 5, 6});
  device_vector<int> out(std::vector<int>(6, 0));
  const strides_of<1> row{{{6}}, {1}};
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceCopy::Copy(storage..., array_of<const int, 1, tripling_accessor>{in.data(), row},
                            array_of<int, 1>{out.data(), row});
  }));
  EXPECT_EQ((std::vector<int>{3, 6, 9, 12, 15, 18}), out.to_host());
  const strides_of<0> point{};
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceCopy::Copy(array_of<const int, 0>{in.data() + 4, point}, array_of<int, 0>{out.data(), point});
  }));
  EXPECT_EQ(5, out.to_host()[0]);
  const strides_of<1> empty{{{0}}, {1}};
  EXPECT_EQ(cudaSuccess, DeviceCopy::Copy(array_of<const int, 1>{nullptr, empty}, array_of<int, 1>{nullptr, empty}));
}

/// A matrix of 4 x 4 elements in tiles of 2 x 2. It has no strides, so its function stride() must not be asked.
struct tiled_matrix {
  struct mapping_type {
    using extents_type = box<2>;
    STRATA_HD const extents_type& extents() const { return extents_; }
    STRATA_HD bool is_strided() const { return false; }
    STRATA_HD int stride(std::size_t r) const { return r == 0 ? 4 : 1; }
    STRATA_HD int required_span_size() const { return 16; }
    STRATA_HD int operator()(int i, int j) const { return (i / 2 * 2 + j / 2) * 4 + i % 2 * 2 + j % 2; }
    extents_type extents_{{4, 4}};
  };
  using element_type = const int;
  using index_type = int;
  using data_handle_type = const int*;
  using accessor_type = strata_test::default_accessor<const int>;
  static constexpr std::size_t rank() { return 2; }
  STRATA_HD const int* data_handle() const { return first; }
  STRATA_HD const mapping_type& mapping() const { return tiles; }
  STRATA_HD accessor_type accessor() const { return {}; }
  const box<2>& extents() const { return tiles.extents_; }
  const int* first;
  mapping_type tiles = {};
};
static_assert(strata::detail::is_of_array<tiled_matrix>());

TEST(device_copy_arrays, layouts_without_strides) {
  std::vector<int> items(16), expected(16);
  for (int i = 0; i < 16; ++i) items[static_cast<std::size_t>(i)] = i;
  const device_vector<int> in(items);
  device_vector<int> out(16);
  const tiled_matrix tiled{in.data()};
  for (int i = 0; i < 16; ++i) expected[static_cast<std::size_t>(i)] = tiled.mapping()(i / 4, i % 4);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceCopy::Copy(tiled, array_of<int, 2>{out.data(), {{{4, 4}}, {4, 1}}});
  }));
  EXPECT_EQ(expected, out.to_host());
}

TEST(device_copy_arrays, what_is_refused) {
  device_vector<int> memory(std::vector<int>(40, 5));
  const strides_of<1> six{{{6}}, {2}}, seven{{{7}}, {1}}, negative{{{-1}}, {1}};
  using array = array_of<int, 1>;
  int* const first = memory.data();
  EXPECT_EQ(cudaErrorInvalidValue, DeviceCopy::Copy(array{first, six}, array{first + 20, seven}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceCopy::Copy(array{first, negative}, array{first + 20, negative}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceCopy::Copy(array{nullptr, six}, array{first + 20, six}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceCopy::Copy(array{first, six}, array{nullptr, six}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceCopy::Copy(array{first, six}, array{first + 10, six}));
  EXPECT_EQ(cudaSuccess, DeviceCopy::Copy(array{first, six}, array{first + 11, six}));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
}

}  // namespace device_copy_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceBatchedTopK, which is called like CUB's class: an iterator for each segment, and numbers in the wrappers of
// cuda::args. If libcu++ does not have these wrappers, the tests use types of the same shape.
#include <strata/device/device_batched_top_k.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "device/top_k/segmented_top_k_cases.cuh"
#include "support/environments.hpp"

#if !STRATA_HOST_SIMT && __has_include(<cuda/argument>)
#include <cuda/argument>
namespace device_batched_top_k_test {
namespace args = cuda::args;
}
#else
#include "support/annotated_arguments.hpp"
namespace device_batched_top_k_test {
namespace args = cuda::strata_test::args;
}
#endif

namespace device_batched_top_k_test {

using namespace segmented_top_k_test;
using strata::DeviceBatchedTopK;
using strata::detail::annotated_number;
using strata::detail::annotated_number_of;
namespace ex = cuda::strata_test::execution;

static_assert(annotated_number_of<int>() == annotated_number::value &&
              annotated_number_of<args::constant<5>>() == annotated_number::value &&
              annotated_number_of<args::immediate<long>>() == annotated_number::value &&
              annotated_number_of<args::deferred<const int*>>() == annotated_number::on_device &&
              annotated_number_of<args::deferred_sequence<const int*>>() == annotated_number::of_each_segment);
static_assert(annotated_number_of<int*>() == annotated_number::none &&
              annotated_number_of<float>() == annotated_number::none &&
              annotated_number_of<std::vector<int>>() == annotated_number::none);

const auto unsorted =
    ex::require(ex::determinism::not_guaranteed, ex::tie_break::unspecified, ex::output_ordering::unsorted);

/// Segments that lie in memory in another order than their numbers, with gaps, and their results.
template <class Key>
struct batch {
  std::vector<segment> all;
  std::vector<place> places;
  std::vector<Key> keys;
  std::vector<std::uint32_t> values;

  /// Segment `s` has `lengths[s]` items and up to `k[s]` results.
  batch(const std::vector<std::size_t>& lengths, const std::vector<std::size_t>& k, pattern how)
      : all(lengths.size()), places(lengths.size()) {
    std::size_t items = 0, results = 0;
    for (std::size_t s = lengths.size(); s-- > 0;) {
      all[s] = {items += s % 5, lengths[s]};
      places[s] = {results += s % 3, k[s]};
      items += lengths[s];
      results += k[s];
    }
    keys = make_keys<Key>(items, how);
    values = make_values<std::uint32_t>(items);
    outputs = results;
  }

  template <class T, class Of>
  static std::vector<T*> pointers(T* first, const std::vector<Of>& of) {
    std::vector<T*> result;
    for (const Of& one : of) result.push_back(first + one.begin);
    return result;
  }

  template <bool IsMax, bool IsSorted, bool HasValues, class Sizes, class K, class Count, class... Where>
  void expect(const Sizes& sizes, const K& k, const Count& count, const Where&... where) const {
    const device_vector<Key> in(keys);
    const device_vector<std::uint32_t> values_in(values);
    device_vector<Key> out(outputs);
    device_vector<std::uint32_t> values_out(outputs);
    const device_vector<const Key*> d_in(pointers(in.data(), all));
    const device_vector<Key*> d_out(pointers(out.data(), places));
    const device_vector<const std::uint32_t*> d_values_in(pointers(values_in.data(), all));
    const device_vector<std::uint32_t*> d_values_out(pointers(values_out.data(), places));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      if constexpr (HasValues && IsMax) {
        return DeviceBatchedTopK::MaxPairs(storage..., d_in.data(), d_out.data(), d_values_in.data(),
                                           d_values_out.data(), sizes, k, count, where...);
      } else if constexpr (HasValues) {
        return DeviceBatchedTopK::MinPairs(storage..., d_in.data(), d_out.data(), d_values_in.data(),
                                           d_values_out.data(), sizes, k, count, where...);
      } else if constexpr (IsMax) {
        return DeviceBatchedTopK::MaxKeys(storage..., d_in.data(), d_out.data(), sizes, k, count, where...);
      } else {
        return DeviceBatchedTopK::MinKeys(storage..., d_in.data(), d_out.data(), sizes, k, count, where...);
      }
    }));
    expectation<Key> expected(outputs);
    expectation<std::uint32_t> expected_values(outputs);
    for (std::size_t s = 0; s < all.size(); ++s) {
      const auto items = expected_items<IsMax>(keys, all[s], places[s].k, IsSorted);
      for (std::size_t i = 0; i < items.size(); ++i) {
        expected.write(places[s].begin + i, keys[all[s].begin + items[i]]);
        if (HasValues) expected_values.write(places[s].begin + i, values[all[s].begin + items[i]]);
      }
    }
    ASSERT_NO_FATAL_FAILURE(expected.must_be(out.to_host(), "key"));
    ASSERT_NO_FATAL_FAILURE(expected_values.must_be(values_out.to_host(), "value"));
  }

 private:
  std::size_t outputs;
};

template <class T>
std::vector<std::size_t> counts_of(const std::vector<T>& numbers, std::size_t most) {
  std::vector<std::size_t> result;
  for (const T number : numbers) {
    result.push_back(number < 0 ? 0 : std::min(static_cast<std::size_t>(number), most));
  }
  return result;
}

TEST(device_batched_top_k, segments_of_one_size) {
  for (const pattern how : {pattern::random, pattern::few}) {
    const auto expect = [&](std::size_t segments, std::size_t size, std::size_t k) {
      SCOPED_TRACE(testing::Message() << k << " of " << segments << " segments of " << size);
      const batch<float> all(std::vector<std::size_t>(segments, size), std::vector<std::size_t>(segments, k), how);
      ASSERT_NO_FATAL_FAILURE((all.expect<true, false, false>(size, k, segments, unsorted)));
      ASSERT_NO_FATAL_FAILURE((all.expect<false, true, true>(args::immediate{size}, args::immediate{k}, segments)));
    };
    for (const std::size_t size : {1, 2, 63, 64, 65, 256, 700, 1024}) {
      for (const std::size_t k : {1, 8, 9}) ASSERT_NO_FATAL_FAILURE(expect(37, size, k));
    }
    ASSERT_NO_FATAL_FAILURE(expect(3, 1030, 300));
    ASSERT_NO_FATAL_FAILURE(expect(3, 4000, 20));
    ASSERT_NO_FATAL_FAILURE(expect(2, if_small<std::size_t>(8200, 100000), 33));
    ASSERT_NO_FATAL_FAILURE(expect(1, if_small<std::size_t>(8200, 100000), 2100));
  }
}

TEST(device_batched_top_k, numbers_that_the_host_knows) {
  const batch<int> all(std::vector<std::size_t>(50, 100), std::vector<std::size_t>(50, 5), pattern::few);
  ASSERT_NO_FATAL_FAILURE(
      (all.expect<true, false, true>(args::constant<100>{}, args::constant<5>{}, args::constant<50>{}, unsorted)));
  ASSERT_NO_FATAL_FAILURE(
      (all.expect<true, true, true>(args::immediate{100, args::bounds<1, 1024>()},
                                    args::immediate{5u, args::bounds<1u, 10u>()}, args::immediate{50})));
  ASSERT_NO_FATAL_FAILURE((all.expect<false, false, false>(100ull, static_cast<short>(5), 50, unsorted)));
}

TEST(device_batched_top_k, numbers_in_device_memory) {
  const batch<float> all(std::vector<std::size_t>(50, 100), std::vector<std::size_t>(50, 5), pattern::few);
  const device_vector<int> numbers(std::vector<int>{100, 5});
  const int *const size = numbers.data(), *const k = numbers.data() + 1;
  ASSERT_NO_FATAL_FAILURE((all.expect<true, false, true>(args::deferred{size, args::bounds<1, 128>()},
                                                         args::deferred{k, args::bounds<1, 10>()}, 50, unsorted)));
  ASSERT_NO_FATAL_FAILURE((all.expect<false, true, false>(
      args::deferred{size, args::bounds<1, 10000>(), args::bounds(1, 100)}, args::deferred{k}, 50)));
  // A number without bounds may be as large as its type can represent.
  ASSERT_NO_FATAL_FAILURE((all.expect<false, false, true>(args::deferred{size}, 5, 50, unsorted)));
  const device_vector<std::uint64_t> wide_numbers(std::vector<std::uint64_t>{100, 5});
  const std::uint64_t *const wide_size = wide_numbers.data(), *const wide_k = wide_size + 1;
  ASSERT_NO_FATAL_FAILURE(
      (all.expect<true, false, true>(args::deferred{wide_size}, args::deferred{wide_k}, 50, unsorted)));
}

TEST(device_batched_top_k, numbers_of_each_segment) {
  std::vector<int> sizes{1100, 0, -1, 3, 1024, 7, if_small(8200, 20000), 1, 200, 300};
  std::vector<int> k;
  for (int s = 0; s < 60; ++s) sizes.push_back(s * 5 % 71);
  for (std::size_t s = 0; s < sizes.size(); ++s) k.push_back(s == 8 ? -2 : static_cast<int>(s * 7 % 12));
  const device_vector<int> d_sizes(sizes), d_k(k);
  const int *const first_size = d_sizes.data(), *const first_k = d_k.data();
  const std::size_t segments = sizes.size(), all_items = static_cast<std::size_t>(-1);
  for (const pattern how : {pattern::random, pattern::few}) {
    const batch<float> some(counts_of(sizes, all_items), counts_of(k, all_items), how);
    ASSERT_NO_FATAL_FAILURE(
        (some.expect<true, false, true>(args::deferred_sequence{first_size, args::bounds<0, 20000>()},
                                        args::deferred_sequence{first_k, args::bounds<0, 12>()}, segments, unsorted)));
    ASSERT_NO_FATAL_FAILURE((some.expect<true, false, true>(args::deferred_sequence{first_size},
                                                            args::deferred_sequence{first_k}, segments, unsorted)));
    const batch<float> four(counts_of(sizes, all_items), std::vector<std::size_t>(segments, 4), how);
    ASSERT_NO_FATAL_FAILURE((four.expect<false, true, false>(
        args::deferred_sequence{first_size, args::bounds<0, 20000>()}, args::constant<4>{}, segments)));
  }
}

TEST(device_batched_top_k, other_keys) {
  const batch<double> wide(std::vector<std::size_t>(20, 150), std::vector<std::size_t>(20, 5), pattern::few);
  ASSERT_NO_FATAL_FAILURE((wide.expect<true, true, true>(args::constant<150>{}, 5, 20)));
  const batch<std::int8_t> narrow(std::vector<std::size_t>(20, 600), std::vector<std::size_t>(20, 40), pattern::few);
  ASSERT_NO_FATAL_FAILURE((narrow.expect<false, false, true>(args::constant<600>{}, 40, 20, unsorted)));
}

struct row_of {
  const int* first;
  __host__ __device__ const int* operator()(int row) const { return first + row * 10; }
};
struct discarded {
  __host__ __device__ strata::DiscardOutputIterator<> operator()(int) const { return {}; }
};
struct counted {
  __host__ __device__ strata::CountingInputIterator<int> operator()(int row) const {
    return strata::CountingInputIterator<int>(row * 10);
  }
};
template <class T, class Function>
auto rows_by(Function function) {
  return strata::TransformInputIterator<T, Function, strata::CountingInputIterator<int>>(
      strata::CountingInputIterator<int>(0), function);
}

TEST(device_batched_top_k, iterators_of_iterators) {
  const device_vector<int> in({5, 1, 4, 2, 3, 9, 8, 7, 6, 0, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7});
  device_vector<int> out(4);
  const device_vector<int*> d_out({out.data() + 2, out.data()});
  const auto rows = rows_by<const int*>(row_of{in.data()});
  ASSERT_CUDA_SUCCESS(DeviceBatchedTopK::MaxPairs(rows, rows_by<strata::DiscardOutputIterator<>>(discarded{}),
                                                  rows_by<strata::CountingInputIterator<int>>(counted{}), d_out.data(),
                                                  10, 2, 2));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ((std::vector<int>{16, 17, 5, 6}), out.to_host());
}

/// Returns the iterator of each of `rows` segments, and notes if one behind the last is asked for.
template <class T>
struct watched_rows {
  T* first;
  int stride;
  int rows;
  int* is_behind;
  __host__ __device__ T* operator()(int row) const {
    if (row >= rows) *is_behind = 1;
    return first + row * stride;
  }
};

// If a segment is shorter than what a warp or a block holds, some threads have no item. They must not ask for an
// iterator behind the last.
TEST(device_batched_top_k, reads_no_iterator_behind_the_last) {
  const auto expect = [](int size, int k) {
    SCOPED_TRACE(testing::Message() << k << " of " << size);
    constexpr int rows = 3;
    std::vector<int> keys(static_cast<std::size_t>(rows * size));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i * 7919 % 10007);
    const device_vector<int> in(keys), sizes(std::vector<int>{size});
    device_vector<int> out(static_cast<std::size_t>(rows * k)), is_behind(std::vector<int>{0});
    const auto keys_in = rows_by<const int*>(watched_rows<const int>{in.data(), size, rows, is_behind.data()});
    const auto keys_out = rows_by<int*>(watched_rows<int>{out.data(), k, rows, is_behind.data()});
    std::vector<int> expected;
    for (int row = 0; row < rows; ++row) {
      std::sort(keys.begin() + row * size, keys.begin() + (row + 1) * size, std::greater<int>());
      expected.insert(expected.end(), keys.begin() + row * size, keys.begin() + row * size + k);
    }
    const auto expect_results = [&](cudaError_t status) {
      ASSERT_CUDA_SUCCESS(status);
      ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
      EXPECT_EQ(expected, out.to_host());
      EXPECT_EQ(std::vector<int>{0}, is_behind.to_host());
      out.poison();
    };
    expect_results(DeviceBatchedTopK::MaxKeys(keys_in, keys_out, size, k, rows));
    const int* const first_size = sizes.data();
    const args::deferred in_memory{first_size, args::bounds<0, 2000>(), args::bounds(0, size)};
    expect_results(DeviceBatchedTopK::MaxKeys(keys_in, keys_out, in_memory, k, rows));
  };
  ASSERT_NO_FATAL_FAILURE(expect(1, 1));
  ASSERT_NO_FATAL_FAILURE(expect(12, 10));
  ASSERT_NO_FATAL_FAILURE(expect(1100, 700));
}

TEST(device_batched_top_k, without_storage) {
  const device_vector<int> in({5, 1, 4, 2, 3, 9});
  device_vector<int> out(4);
  const device_vector<const int*> d_in({in.data(), in.data() + 3});
  const device_vector<int*> d_out({out.data(), out.data() + 2});
  const device_test::stream stream;
  const cuda::strata_test::stream_ref on(static_cast<cudaStream_t>(stream));
  const auto expect = [&](cudaError_t status, const std::vector<int>& expected) {
    ASSERT_CUDA_SUCCESS(status);
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(expected, out.to_host());
  };
  expect(DeviceBatchedTopK::MaxKeys(d_in.data(), d_out.data(), 3, 2, 2), {5, 4, 9, 3});
  expect(DeviceBatchedTopK::MinKeys(d_in.data(), d_out.data(), 3, 2, 2, on), {1, 4, 2, 3});
  expect(DeviceBatchedTopK::MaxKeys(d_in.data(), d_out.data(), 3, 2, 2, ex::env(on, unsorted)), {5, 4, 3, 9});
  expect(DeviceBatchedTopK::MaxKeys(
             d_in.data(), d_out.data(), 3, 2, 2,
             ex::env(on, ex::require(ex::determinism::gpu_to_gpu, ex::tie_break::prefer_smaller_index,
                                     ex::output_ordering::stable_sorted))),
         {5, 4, 9, 3});
  expect(DeviceBatchedTopK::MinPairs(d_in.data(), d_out.data(), d_in.data(), d_out.data(), 3, 0, 2), {5, 4, 9, 3});
}

TEST(device_batched_top_k, a_graph_may_be_replayed_with_other_numbers) {
  const device_vector<int> in({5, 1, 4, 2, 3, 9});
  device_vector<int> out(4), numbers(std::vector<int>{3, 3, 2, 1});
  const device_vector<const int*> d_in({in.data(), in.data() + 3});
  device_vector<int*> d_out({out.data(), out.data() + 2});
  const int* const first = numbers.data();
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return DeviceBatchedTopK::MaxKeys(storage, bytes, d_in.data(), d_out.data(),
                                      args::deferred_sequence{first, args::bounds<0, 3>()},
                                      args::deferred_sequence{first + 2, args::bounds<0, 2>()}, 2, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes, 8);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  const auto expect = [&](const std::vector<int>& expected) {
    recorded.replay(where);
    where.synchronize();
    EXPECT_EQ(expected, out.to_host());
  };
  expect({5, 4, 9, out.to_host()[3]});
  numbers.assign({2, 1, 1, 2});
  d_out.assign({out.data() + 1, out.data()});
  expect({2, 5, 9, out.to_host()[3]});
}

TEST(device_batched_top_k, nothing_to_do) {
  const int** const none = nullptr;
  int** const none_out = nullptr;
  EXPECT_CUDA_SUCCESS(DeviceBatchedTopK::MaxKeys(none, none_out, 5, 5, 0));
  EXPECT_CUDA_SUCCESS(DeviceBatchedTopK::MaxKeys(none, none_out, 5, 0, 5));
  EXPECT_CUDA_SUCCESS(DeviceBatchedTopK::MaxKeys(none, none_out, args::constant<0>{}, 5, 5));
  const int* const no_sizes = nullptr;
  EXPECT_CUDA_SUCCESS(DeviceBatchedTopK::MinKeys(none, none_out, args::deferred_sequence{no_sizes}, 5, 0));
}

TEST(device_batched_top_k, refuses) {
  const device_vector<int> in({5, 1, 4, 2, 3, 9});
  device_vector<int> out(4);
  const device_vector<const int*> d_in({in.data(), in.data() + 3});
  const device_vector<int*> d_out({out.data(), out.data() + 2});
  const auto expect_refused = [&](auto keys, auto keys_out, auto sizes, auto k, auto segments) {
    EXPECT_EQ(cudaErrorInvalidValue, DeviceBatchedTopK::MaxKeys(keys, keys_out, sizes, k, segments));
  };
  const int* const* const keys = d_in.data();
  int* const* const keys_out = d_out.data();
  const int* const no_numbers = nullptr;
  expect_refused(keys, keys_out, -1, 2, 2);
  expect_refused(keys, keys_out, 3, -1, 2);
  expect_refused(keys, keys_out, 3, 2, -1);
  expect_refused(keys, keys_out, 3, 2, args::immediate{-2});
  expect_refused(keys, keys_out, 3, 2, std::numeric_limits<std::int64_t>::max());
  expect_refused(keys, keys_out, std::numeric_limits<std::uint64_t>::max(), 2, 2);
  expect_refused(keys, keys_out, std::numeric_limits<std::int64_t>::max(), 2, 1);
  expect_refused(keys, keys_out, std::int64_t{1} << 62, 2, 2);
  expect_refused(keys, keys_out, 3, std::numeric_limits<std::uint64_t>::max(), 2);
  expect_refused(static_cast<const int* const*>(nullptr), keys_out, 3, 2, 2);
  expect_refused(keys, static_cast<int* const*>(nullptr), 3, 2, 2);
  expect_refused(keys, keys_out, args::deferred_sequence{no_numbers}, 2, 2);
  expect_refused(keys, keys_out, args::deferred{no_numbers}, 2, 2);
  expect_refused(keys, keys_out, 3, args::deferred{no_numbers}, 2);
  expect_refused(keys, keys_out, 3, args::deferred_sequence{no_numbers}, 2);
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceBatchedTopK::MaxKeys(nullptr, bytes, keys, keys_out, 3, 2, 2));
  const scratch storage(bytes);
  std::size_t few = bytes - 1;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceBatchedTopK::MaxKeys(storage.data(), few, keys, keys_out, 3, 2, 2));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  for (const int item : out.to_host()) EXPECT_TRUE(strata_test::is_poison(item));
}

}  // namespace device_batched_top_k_test

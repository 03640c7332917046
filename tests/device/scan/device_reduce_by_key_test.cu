// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long, shapes

// DeviceReduce::ReduceByKey reduces the values of each run of equal keys.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_runs_support.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/own_operators.cuh"
#include "support/test_types.cuh"

namespace device_reduce_by_key_test {

using namespace device_test;
using strata::DeviceReduce;
using strata_test::interval;
using strata_test::join;
using strata_test::join_intervals;
using strata_test::plain_sum;
using strata_test::string_hash;
using strata_test::struct12;
using strata_test::struct16;

// ------------------------------------------------------------------ types, sizes, shapes

template <class KeyT, class ValueT, class OpT, class CountT>
struct reduction {
  using Key = KeyT;
  using Value = ValueT;
  using Op = OpT;
  using Count = CountT;
  using Accum = strata::detail::accumulator_t<Op, Value, Value>;
  using Problem = strata::detail::reduce_by_key_problem<strata::detail::item_count_t<Count>, Accum, const Key*,
                                                        const Value*, Key*, Accum*, int*, Op, strata::Equality>;

  static std::vector<Value> values(std::size_t count, std::uint64_t stream = 0) {
    if constexpr (std::is_same_v<Value, string_hash>) {
      return scan_items<string_hash>::make(count, stream);
    } else {
      return random_integers<Value>(count, -100, 100, stream);
    }
  }
  static std::vector<Accum> expected(const run_shape& shape, const std::vector<Value>& values) {
    return reduced_runs<Accum>(shape, values, Op{});
  }
  static cudaError_t call(void* storage, std::size_t& bytes, const Key* keys, const Value* values,
                          const run_outputs<Key, Accum>& out, std::size_t count, cudaStream_t on = nullptr) {
    return DeviceReduce::ReduceByKey(storage, bytes, keys, out.unique(), values, out.aggregates(), out.num_runs(), Op{},
                                     static_cast<Count>(count), on);
  }
};

using ints = reduction<std::uint32_t, std::int32_t, strata::Sum, int>;
using reals = reduction<std::int64_t, double, strata::Sum, std::int64_t>;

template <class Reduction>
class DeviceReduceByKeyTypes : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using reductions = ::testing::Types<ints, reduction<std::uint8_t, std::int8_t, strata::Sum, unsigned>,
                                    reduction<struct12, string_hash, join, std::size_t>>;
#else
using reductions =
    ::testing::Types<ints, reals, reduction<std::uint8_t, std::int8_t, strata::Sum, unsigned>,
                     reduction<std::uint16_t, std::int64_t, strata::Sum, std::size_t>,
                     reduction<struct16, string_hash, join, int>, reduction<struct12, string_hash, join, std::size_t>>;
#endif
TYPED_TEST_SUITE(DeviceReduceByKeyTypes, reductions);

TYPED_TEST(DeviceReduceByKeyTypes, reduces_each_run_in_order) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  using Accum = typename TypeParam::Accum;
  for_all_shapes<typename TypeParam::Problem>([](const run_shape& shape, std::size_t number) {
    const std::vector<Key> keys = keys_of<Key>(shape);
    const std::vector<Value> values = TypeParam::values(shape.items, number);
    // Arrays begin at a boundary for some shapes, and behind one for others.
    const shifted_array<Key> d_keys(keys, number % 2);
    const shifted_array<Value> d_values(values, number / 2 % 2);
    const run_outputs<Key, Accum> out(shape.items, number % 3);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return TypeParam::call(storage, bytes, d_keys.data(), d_values.data(), out, shape.items);
    }));
    out.expect(first_of_runs(shape, keys), TypeParam::expected(shape, values));
  });
}

// ------------------------------------------------------------------ pipelines

template <class Policy, bool UsesBulkCopies, class Reduction>
void expect_pipeline_reduces_by_key() {
  using Key = typename Reduction::Key;
  using Value = typename Reduction::Value;
  using Accum = typename Reduction::Accum;
  using Problem = typename Reduction::Problem;
  for_pipelines_of_any_number_of_blocks<Policy, UsesBulkCopies, Problem>([](const run_shape& shape, const auto& run) {
    const std::vector<Key> keys = keys_of<Key>(shape);
    const std::vector<Value> values = Reduction::values(shape.items, shape.items);
    const shifted_array<Key> d_keys(keys, UsesBulkCopies ? 0 : 1);
    const shifted_array<Value> d_values(values, UsesBulkCopies ? 0 : 1);
    const run_outputs<Key, Accum> out(shape.items);
    ASSERT_CUDA_SUCCESS(
        run(Problem{d_keys.data(), d_values.data(), out.unique(), out.aggregates(), out.num_runs(), {}, {}}));
    out.expect(first_of_runs(shape, keys), Reduction::expected(shape, values));
  });
}

TEST(device_reduce_by_key, pipeline_of_any_number_of_blocks) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  expect_pipeline_reduces_by_key<short_columns<32, 4, 2>, true, ints>();
  expect_pipeline_reduces_by_key<short_columns<96, 3, 1>, true, reduction<std::uint8_t, string_hash, join, int>>();
  expect_pipeline_reduces_by_key<short_columns<96, 4, 2>, false,
                                 reduction<std::int64_t, std::int32_t, strata::Sum, std::int64_t>>();
}

// Results have the same bits in whatever order blocks run, although sums of floating-point numbers are rounded.
TEST(device_reduce_by_key, is_repeated_bit_for_bit) {
  const std::size_t size = parts_of<reals::Problem>::long_size();
  const run_shape shape = random_runs(size, 700);
  const shifted_array<std::int64_t> keys(keys_of<std::int64_t>(shape));
  const shifted_array<double> values(random_reals<double>(size, -1, 1));
  std::vector<double> first;
  under_all_schedules([&](std::size_t) {
    const run_outputs<std::int64_t, double> out(size);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return reals::call(storage, bytes, keys.data(), values.data(), out, size);
    }));
    ASSERT_EQ(shape.runs(), out.number());
    if (first.empty()) first = out.sums();
    ASSERT_SAME_ITEMS(first, out.sums());
  });
}

// ------------------------------------------------------------------ equality and operators

// Zeros of both signs are equal, and the key of a run is its first one. Each NaN is a run of its own.
TEST(device_reduce_by_key, keys_are_equal_if_their_operator_says_so) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double pattern[] = {0.0, -0.0, 0.0, nan, nan, nan, -0.0, 0.0, 1.5, 1.5, nan, -0.0};
  for (const std::size_t size : {std::size_t{900}, std::size_t{20000}}) {
    std::vector<double> keys(size);
    for (std::size_t i = 0; i < size; ++i) keys[i] = pattern[i % 12];
    const run_shape shape = [&] {
      run_shape found{"zeros and NaNs", size, {}};
      for (std::size_t i = 0; i < size; ++i) {
        if (i == 0 || !(keys[i - 1] == keys[i])) found.begins.push_back(i);
      }
      return found;
    }();
    const std::vector<std::int32_t> values = random_integers<std::int32_t>(size, -9, 9);
    const shifted_array<double> d_keys(keys);
    const shifted_array<std::int32_t> d_values(values);
    using zeros = reduction<double, std::int32_t, strata::Sum, int>;
    const run_outputs<double, std::int32_t> out(size);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return zeros::call(storage, bytes, d_keys.data(), d_values.data(), out, size);
    }));
    ASSERT_EQ(shape.runs(), out.number());
    EXPECT_SAME_ITEMS(zeros::expected(shape, values), out.sums());
    const std::vector<double> unique = out.keys();
    for (std::size_t run = 0; run < shape.runs(); ++run) {
      ASSERT_TRUE(strata_test::same_bits(keys[shape.begins[run]], unique[run])) << run;
    }
  }
}

template <class Interval>
class DeviceReduceByKeyOrder : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using intervals = ::testing::Types<interval<int>>;
#else
// Intervals of 8 bytes, and of 12 bytes, which take no pipeline.
using intervals = ::testing::Types<interval<int>, interval<int, 1>>;
#endif
TYPED_TEST_SUITE(DeviceReduceByKeyOrder, intervals);

TYPED_TEST(DeviceReduceByKeyOrder, operators_see_neighbouring_items_of_a_run_and_nothing_else) {
  using Interval = TypeParam;
  using Problem =
      strata::detail::reduce_by_key_problem<unsigned, Interval, const watched_key*, const Interval*, watched_key*,
                                            Interval*, int*, join_intervals, strata::Equality>;
  constexpr std::size_t lead = 40;
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  unsigned* const counter = violations.data();
  for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{1001}, parts_of<Problem>::long_size()}) {
    for (const run_shape& shape : run_shapes(size, parts_of<Problem>::get())) {
      SCOPED_TRACE(testing::Message() << shape);
      const std::vector<watched_key> keys = watched_keys(shape, lead, counter);
      std::vector<Interval> values(keys.size());  // empty intervals around the items
      for (std::size_t i = 0; i < size; ++i) {
        values[lead + i].begin = static_cast<int>(i);
        values[lead + i].end = static_cast<int>(i + 1);
      }
      const shifted_array<watched_key> d_keys(keys);
      const shifted_array<Interval> d_values(values);
      const run_outputs<watched_key, Interval> out(size);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
        const watched_key* const from = d_keys.data() + lead;
        const Interval* const reduced = d_values.data() + lead;
        return DeviceReduce::ReduceByKey(storage..., from, out.unique(), reduced, out.aggregates(), out.num_runs(),
                                         join_intervals{counter}, static_cast<int>(size));
      }));
      ASSERT_EQ(0u, violations.to_host()[0]);
      ASSERT_EQ(shape.runs(), out.number());
      const std::vector<Interval> joined = out.sums();
      for (std::size_t run = 0; run < shape.runs(); ++run) {
        ASSERT_EQ(static_cast<int>(shape.begins[run]), joined[run].begin) << run;
        ASSERT_EQ(static_cast<int>(shape.end(run)), joined[run].end) << run;
      }
    }
  }
}

// ------------------------------------------------------------------ iterators

struct divide_by {
  std::int64_t divisor;
  STRATA_HD std::int64_t operator()(std::int64_t x) const { return x / divisor; }
};

// Keys are computed. One output counts how often each item is written, another one has no value type.
TEST(device_reduce_by_key, keys_may_be_computed) {
  for (const std::size_t size : {std::size_t{3000}, 2 * parts_of<ints::Problem>::long_size()}) {
    const run_shape shape = runs_of("sevens", size, [](std::size_t) { return std::size_t{7}; });
    const std::vector<int> values = random_integers<int>(size, -100, 100);
    const device_vector<int> d_values(values);
    const transforming<counting<std::int64_t>, divide_by> keys(counting<std::int64_t>(0), divide_by{7});
    const run_outputs<std::int64_t, std::int64_t, std::int64_t> out(size);
    device_vector<unsigned> writes(std::vector<unsigned>(size, 0u));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ReduceByKey(storage..., keys, counted_output<std::int64_t>(out.unique(), writes.data()),
                                       d_values.data(), doubling_output<std::int64_t>(out.aggregates()), out.num_runs(),
                                       strata::Sum{}, size);
    }));
    std::vector<std::int64_t> unique(shape.runs());
    for (std::size_t run = 0; run < shape.runs(); ++run) {
      unique[run] = static_cast<std::int64_t>(run);
    }
    std::vector<std::int64_t> sums = reduced_runs<std::int64_t>(shape, values, plain_sum{});
    for (std::int64_t& sum : sums) sum *= 2;
    out.expect(unique, sums);
    std::vector<unsigned> once(size, 0u);
    std::fill_n(once.begin(), shape.runs(), 1u);
    EXPECT_SAME_ITEMS(once, writes.to_host());
  }
}

// Keys, values and outputs are iterators that are no pointers. Keys are read backwards.
TEST(device_reduce_by_key, values_may_be_computed) {
  for (const std::size_t size : {std::size_t{3000}, 2 * parts_of<ints::Problem>::long_size()}) {
    const run_shape shape = random_runs(size, 16);
    const std::vector<std::uint32_t> keys = keys_of<std::uint32_t>(shape);
    const device_vector<std::uint32_t> backwards(std::vector<std::uint32_t>(keys.rbegin(), keys.rend()));
    const strided<const std::uint32_t> d_keys(backwards.data() + size - 1, -1);
    std::vector<std::int64_t> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::int64_t>(i) + 5;
    const run_outputs<std::uint32_t, std::int64_t> out(size);
    device_vector<unsigned> writes(std::vector<unsigned>(size + 1, 0u));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ReduceByKey(storage..., d_keys, strided<std::uint32_t>(out.unique(), 1),
                                       counting<std::int64_t>(5),
                                       counted_output<std::int64_t>(out.aggregates(), writes.data() + 1),
                                       counted_output<int>(out.num_runs(), writes.data()), strata::Sum{}, size);
    }));
    out.expect(first_of_runs(shape, keys), reduced_runs<std::int64_t>(shape, values, plain_sum{}));
    std::vector<unsigned> once(size + 1, 0u);
    std::fill_n(once.begin(), shape.runs() + 1, 1u);
    EXPECT_SAME_ITEMS(once, writes.to_host());
  }
}

// ------------------------------------------------------------------ arguments

class DeviceReduceByKeyArguments : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 100;
  const shifted_array<std::uint32_t> keys{std::vector<std::uint32_t>(size, 1)};
  const shifted_array<std::int32_t> values{std::vector<std::int32_t>(size, 2)};
  const run_outputs<std::uint32_t, std::int32_t> out{size};
  std::uint32_t* const unique = out.unique();
  std::int32_t* const aggregates = out.aggregates();
  int* const num_runs = out.num_runs();

  template <class Count>
  static std::size_t storage_bytes(Count n) {
    std::size_t bytes = 0;
    const std::uint32_t* const no_keys = nullptr;
    const std::int32_t* const no_values = nullptr;
    EXPECT_CUDA_SUCCESS(DeviceReduce::ReduceByKey(nullptr, bytes, no_keys, static_cast<std::uint32_t*>(nullptr),
                                                  no_values, static_cast<std::int32_t*>(nullptr),
                                                  static_cast<int*>(nullptr), strata::Sum{}, n));
    return bytes;
  }
  // Expects that a call is refused, launches nothing and writes nothing.
  void expect_refused(const std::uint32_t* k, std::uint32_t* u, const std::int32_t* v, std::int32_t* a, int* r, int n,
                      std::size_t bytes_missing = 0) const {
    const scratch storage(storage_bytes(n < 0 ? 0 : n));
    const std::vector<unsigned char> before = storage.read();
    const auto call = [&](cudaStream_t on) {
      std::size_t bytes = storage.bytes() - bytes_missing;
      return DeviceReduce::ReduceByKey(storage.data(), bytes, k, u, v, a, r, strata::Sum{}, n, on);
    };
    const graph recorded(call);
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    EXPECT_EQ(cudaErrorInvalidValue, call(nullptr));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_EQ(before, storage.read());
    out.expect_untouched();
    EXPECT_EQ(std::vector<std::uint32_t>(size, 1), keys.to_host());
    EXPECT_EQ(std::vector<std::int32_t>(size, 2), values.to_host());
  }
};

TEST_F(DeviceReduceByKeyArguments, refuses_null_pointers) {
  expect_refused(nullptr, unique, values.data(), aggregates, num_runs, size);
  expect_refused(keys.data(), nullptr, values.data(), aggregates, num_runs, size);
  expect_refused(keys.data(), unique, nullptr, aggregates, num_runs, size);
  expect_refused(keys.data(), unique, values.data(), nullptr, num_runs, size);
  expect_refused(keys.data(), unique, values.data(), aggregates, nullptr, size);
  expect_refused(keys.data(), unique, values.data(), aggregates, nullptr, 0);
}

TEST_F(DeviceReduceByKeyArguments, refuses_negative_counts) {
  for (const int n : {-1, std::numeric_limits<int>::lowest()}) {
    expect_refused(keys.data(), unique, values.data(), aggregates, num_runs, n);
  }
}

TEST_F(DeviceReduceByKeyArguments, refuses_outputs_that_begin_within_inputs) {
  const auto end = static_cast<std::ptrdiff_t>(size) - 1;
  for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, std::ptrdiff_t{1}, end}) {
    std::uint32_t* const over_keys = keys.data() + shift;
    std::int32_t* const over_values = values.data() + shift;
    expect_refused(keys.data(), over_keys, values.data(), aggregates, num_runs, size);
    expect_refused(keys.data(), reinterpret_cast<std::uint32_t*>(over_values), values.data(), aggregates, num_runs,
                   size);
    expect_refused(keys.data(), unique, values.data(), over_values, num_runs, size);
    expect_refused(keys.data(), unique, values.data(), reinterpret_cast<std::int32_t*>(over_keys), num_runs, size);
  }
}

// An output needs room only for as many results as there are runs, so it may end where an input begins.
TEST_F(DeviceReduceByKeyArguments, outputs_need_room_for_as_many_runs_as_there_are_only) {
  std::vector<std::uint32_t> keys_and_unique(2 + size, 1);
  keys_and_unique.back() = 2;
  std::vector<std::int32_t> values_and_sums(2 + size, 3);
  for (const bool crossed : {false, true}) {
    device_vector<std::uint32_t> d_keys(keys_and_unique);
    device_vector<std::int32_t> d_values(values_and_sums);
    auto* const before_keys = d_keys.data();
    auto* const before_values = d_values.data();
    auto* const unique_out = crossed ? reinterpret_cast<std::uint32_t*>(before_values) : before_keys;
    auto* const sums_out = crossed ? reinterpret_cast<std::int32_t*>(before_keys) : before_values;
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ReduceByKey(storage..., d_keys.data() + 2, unique_out, d_values.data() + 2, sums_out,
                                       num_runs, strata::Sum{}, size);
    }));
    std::vector<std::uint32_t> keys_after = keys_and_unique;
    std::vector<std::int32_t> values_after = values_and_sums;
    const std::uint32_t unique_of_runs[] = {1, 2};
    const std::int32_t sums_of_runs[] = {3 * (static_cast<std::int32_t>(size) - 1), 3};
    for (std::size_t i = 0; i < 2; ++i) {
      keys_after[i] = crossed ? static_cast<std::uint32_t>(sums_of_runs[i]) : unique_of_runs[i];
      values_after[i] = crossed ? static_cast<std::int32_t>(unique_of_runs[i]) : sums_of_runs[i];
    }
    EXPECT_EQ(keys_after, d_keys.to_host());
    EXPECT_EQ(values_after, d_values.to_host());
  }
}

TEST_F(DeviceReduceByKeyArguments, refuses_storage_that_is_too_small) {
  for (const int n : {0, 1, static_cast<int>(size)}) {
    for (const std::size_t missing : {std::size_t{1}, storage_bytes(n) / 2, storage_bytes(n)}) {
      expect_refused(keys.data(), unique, values.data(), aggregates, num_runs, n, missing);
    }
  }
}

TEST_F(DeviceReduceByKeyArguments, no_items_are_no_runs) {
  const scratch storage(storage_bytes(0));
  std::size_t bytes = storage.bytes();
  const std::uint32_t* const no_keys = nullptr;
  const std::int32_t* const no_values = nullptr;
  std::uint32_t* const nowhere = nullptr;
  std::int32_t* const no_sums = nullptr;
  ASSERT_CUDA_SUCCESS(DeviceReduce::ReduceByKey(storage.data(), bytes, no_keys, nowhere, no_values, no_sums, num_runs,
                                                strata::Sum{}, 0));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  out.expect({}, {});
}

TEST_F(DeviceReduceByKeyArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    EXPECT_GE(storage_bytes(n), before) << n;
    before = storage_bytes(n);
  }
  EXPECT_LE(before, std::size_t{1} << 20);
}

TEST(device_reduce_by_key, counts_may_have_any_integer_type) {
  const auto number_of_runs = [](auto count) {
    const auto size = static_cast<std::size_t>(count);
    const run_shape shape = runs_of("twos", size, [](std::size_t) { return std::size_t{2}; });
    const shifted_array<std::uint32_t> keys(keys_of<std::uint32_t>(shape));
    const shifted_array<std::int32_t> values(std::vector<std::int32_t>(size, 1));
    const run_outputs<std::uint32_t, std::int32_t> out(size);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      const std::uint32_t* const k = keys.data();
      const std::int32_t* const v = values.data();
      return DeviceReduce::ReduceByKey(storage..., k, out.unique(), v, out.aggregates(), out.num_runs(), strata::Sum{},
                                       count);
    }));
    return out.number();
  };
  EXPECT_EQ(50u, number_of_runs(static_cast<signed char>(100)));
  EXPECT_EQ(100u, number_of_runs(static_cast<unsigned char>(200)));
  EXPECT_EQ(500u, number_of_runs(static_cast<short>(1000)));
  EXPECT_EQ(500u, number_of_runs(1000));
  EXPECT_EQ(500u, number_of_runs(1000u));
  EXPECT_EQ(500u, number_of_runs(std::int64_t{1000}));
  EXPECT_EQ(500u, number_of_runs(std::size_t{1000}));
}

// ------------------------------------------------------------------ storage, graphs

TEST(device_reduce_by_key, storage_may_have_any_alignment_and_contents) {
  const run_shape shape = random_runs(parts_of<ints::Problem>::long_size(), 16);
  const std::vector<std::uint32_t> keys = keys_of<std::uint32_t>(shape);
  const std::vector<std::int32_t> values = ints::values(shape.items);
  const shifted_array<std::uint32_t> d_keys(keys);
  const shifted_array<std::int32_t> d_values(values);
  for (const std::size_t misalignment : sizes{0, 1, 8, 16, 255}) {
    for (const contents garbage : all_contents) {
      const run_outputs<std::uint32_t, std::int32_t> out(shape.items);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) {
            return ints::call(storage, bytes, d_keys.data(), d_values.data(), out, shape.items);
          },
          garbage, misalignment));
      out.expect(first_of_runs(shape, keys), ints::expected(shape, values));
    }
  }
}

// Calls of all sizes share one storage, and the host waits for none of them.
TEST(device_reduce_by_key, storage_may_hold_leftovers_of_other_calls) {
  const std::size_t most = 2 * parts_of<ints::Problem>::long_size();
  std::size_t bytes = 0;
  const run_outputs<std::uint32_t, std::int32_t> nowhere(1);
  ASSERT_CUDA_SUCCESS(ints::call(nullptr, bytes, nullptr, nullptr, nowhere, most));
  const scratch storage(bytes);
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(5);
  for (int i = 0; i < if_small(4, 20); ++i) {
    const std::size_t of_one[] = {1 + bits() % 1000, most - bits() % 9, 1 + bits() % most};
    std::vector<run_shape> shapes;
    for (const std::size_t size : of_one) shapes.push_back(random_runs(size, 1 + bits() % 20));
    std::vector<std::unique_ptr<shifted_array<std::uint32_t>>> keys;
    std::vector<std::unique_ptr<shifted_array<std::int32_t>>> values;
    std::vector<std::unique_ptr<run_outputs<std::uint32_t, std::int32_t>>> outs;
    for (const run_shape& shape : shapes) {
      keys.push_back(std::make_unique<shifted_array<std::uint32_t>>(keys_of<std::uint32_t>(shape)));
      values.push_back(std::make_unique<shifted_array<std::int32_t>>(ints::values(shape.items)));
      outs.push_back(std::make_unique<run_outputs<std::uint32_t, std::int32_t>>(shape.items));
    }
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      ASSERT_CUDA_SUCCESS(
          ints::call(storage.data(), bytes, keys[k]->data(), values[k]->data(), *outs[k], shapes[k].items, on));
    }
    on.synchronize();
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      ASSERT_NO_FATAL_FAILURE(outs[k]->expect(first_of_runs(shapes[k], keys_of<std::uint32_t>(shapes[k])),
                                              ints::expected(shapes[k], ints::values(shapes[k].items))));
    }
  }
}

// Each replay gets new input. Before it, the storage may be filled with garbage, or get what it held after an earlier
// replay.
TEST(device_reduce_by_key, a_graph_may_be_replayed) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{3000}, 4 * parts_of<ints::Problem>::long_size()}) {
    SCOPED_TRACE(size);
    const shifted_array<std::uint32_t> keys(size);
    const shifted_array<std::int32_t> values(size);
    const run_outputs<std::uint32_t, std::int32_t> out(size);
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(ints::call(nullptr, bytes, nullptr, nullptr, out, size));
    const scratch storage(bytes);
    const stream on;
    graph recorded([&](cudaStream_t recorder) {
      return ints::call(storage.data(), bytes, keys.data(), values.data(), out, size, recorder);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes()) << "one launch at every size";
    out.expect_untouched();
    std::vector<unsigned char> earlier = storage.read();
    for (int i = 0; i < if_small(6, 24); ++i) {
      const run_shape shape = random_runs(size, i % 2 == 0 ? 3 : 700 + static_cast<std::size_t>(i));
      const std::vector<std::uint32_t> new_keys = keys_of<std::uint32_t>(shape);
      const std::vector<std::int32_t> new_values = ints::values(size, static_cast<std::uint64_t>(i));
      keys.assign(new_keys);
      values.assign(new_values);
      if (i % 4 == 1) storage.fill(all_contents[i / 4 % 3]);
      if (i % 4 == 3) storage.write(earlier.data());
      out.poison();
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_NO_FATAL_FAILURE(out.expect(first_of_runs(shape, new_keys), ints::expected(shape, new_values)));
      if (i % 4 == 0) earlier = storage.read();
    }
  }
}

// ------------------------------------------------------------------ as a user calls it

// Adds up the sales of each run of equal days. Day 3 has two runs.
TEST(device_reduce_by_key, two_calls_reduce_by_key) {
  const device_vector<std::uint32_t> days(std::vector<std::uint32_t>{3, 3, 3, 8, 3, 9, 9});
  const device_vector<std::int32_t> sales(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7});
  const run_outputs<std::uint32_t, std::int32_t> out(7);
  const std::uint32_t* const d_keys = days.data();
  const std::int32_t* const d_values = sales.data();
  std::uint32_t* const d_unique = out.unique();
  std::int32_t* const d_sums = out.aggregates();
  int* const d_num_runs = out.num_runs();
  const int n = 7;
  const stream stream;

  std::size_t bytes = 0;
  void* d_temp = nullptr;
  ASSERT_CUDA_SUCCESS(
      DeviceReduce::ReduceByKey(nullptr, bytes, d_keys, d_unique, d_values, d_sums, d_num_runs, strata::Sum{}, n));
  ASSERT_CUDA_SUCCESS(cudaMalloc(&d_temp, bytes));
  ASSERT_CUDA_SUCCESS(DeviceReduce::ReduceByKey(d_temp, bytes, d_keys, d_unique, d_values, d_sums, d_num_runs,
                                                strata::Sum{}, n, stream));
  stream.synchronize();
  EXPECT_CUDA_SUCCESS(cudaFree(d_temp));
  out.expect({3, 8, 3, 9}, {6, 4, 5, 13});
}

}  // namespace device_reduce_by_key_test

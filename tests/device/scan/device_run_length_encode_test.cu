// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRunLengthEncode::Encode writes the item and the length of each run.
#include <strata/device/device_run_length_encode.cuh>

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
#include "support/test_types.cuh"

namespace device_run_length_encode_test {

using namespace device_test;
using strata::DeviceRunLengthEncode;
using strata::NullType;
using strata_test::struct12;
using strata_test::struct16;

// ------------------------------------------------------------------ types, sizes, shapes

template <class ItemT, class LengthT, class CountT>
struct encoding {
  using Item = ItemT;
  using Length = LengthT;
  using Count = CountT;
  using Inner = strata::detail::item_count_t<Count>;
  using Problem = strata::detail::reduce_by_key_problem<Inner, Inner, const Item*, NullType, Item*, Length*, int*,
                                                        strata::Sum, strata::Equality>;

  static cudaError_t call(void* storage, std::size_t& bytes, const Item* in, const run_outputs<Item, Length>& out,
                          std::size_t count, cudaStream_t on = nullptr) {
    return DeviceRunLengthEncode::Encode(storage, bytes, in, out.unique(), out.aggregates(), out.num_runs(),
                                         static_cast<Count>(count), on);
  }
};

using words = encoding<std::uint32_t, int, int>;

template <class Encoding>
class DeviceRunLengthEncodeTypes : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using encodings =
    ::testing::Types<words, encoding<std::uint8_t, std::int64_t, std::size_t>, encoding<struct12, int, unsigned>>;
#else
using encodings =
    ::testing::Types<words, encoding<std::uint8_t, std::int64_t, std::size_t>,
                     encoding<std::uint16_t, int, std::int64_t>, encoding<std::int64_t, std::int64_t, int>,
                     encoding<struct16, std::int64_t, std::int64_t>, encoding<struct12, int, unsigned>>;
#endif
TYPED_TEST_SUITE(DeviceRunLengthEncodeTypes, encodings);

TYPED_TEST(DeviceRunLengthEncodeTypes, writes_item_and_length_of_each_run) {
  using Item = typename TypeParam::Item;
  using Length = typename TypeParam::Length;
  for_all_shapes<typename TypeParam::Problem>([](const run_shape& shape, std::size_t number) {
    const std::vector<Item> items = keys_of<Item>(shape);
    const shifted_array<Item> in(items, number % 2);
    const run_outputs<Item, Length> out(shape.items, number % 3);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return TypeParam::call(storage, bytes, in.data(), out, shape.items);
    }));
    out.expect(first_of_runs(shape, items), lengths_of_runs<Length>(shape));
  });
}

// ------------------------------------------------------------------ pipelines

template <class Policy, bool UsesBulkCopies, class Encoding>
void expect_pipeline_encodes() {
  using Item = typename Encoding::Item;
  using Length = typename Encoding::Length;
  using Problem = typename Encoding::Problem;
  for_pipelines_of_any_number_of_blocks<Policy, UsesBulkCopies, Problem>([](const run_shape& shape, const auto& run) {
    const std::vector<Item> items = keys_of<Item>(shape);
    const shifted_array<Item> in(items, UsesBulkCopies ? 0 : 1);
    const run_outputs<Item, Length> out(shape.items);
    ASSERT_CUDA_SUCCESS(run(Problem{in.data(), {}, out.unique(), out.aggregates(), out.num_runs(), {}, {}}));
    out.expect(first_of_runs(shape, items), lengths_of_runs<Length>(shape));
  });
}

TEST(device_run_length_encode, pipeline_of_any_number_of_blocks) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  expect_pipeline_encodes<short_columns<32, 4, 2>, true, words>();
  expect_pipeline_encodes<short_columns<96, 3, 1>, true, encoding<std::uint8_t, std::int64_t, std::size_t>>();
  expect_pipeline_encodes<short_columns<96, 4, 2>, false, encoding<std::int64_t, std::int64_t, int>>();
}

TEST(device_run_length_encode, does_not_depend_on_the_speed_of_blocks) {
  const run_shape shape = random_runs(parts_of<words::Problem>::long_size(), 700);
  const std::vector<std::uint32_t> items = keys_of<std::uint32_t>(shape);
  const shifted_array<std::uint32_t> in(items);
  under_all_schedules([&](std::size_t) {
    const run_outputs<std::uint32_t, int> out(shape.items);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return words::call(storage, bytes, in.data(), out, shape.items); }));
    out.expect(first_of_runs(shape, items), lengths_of_runs<int>(shape));
  });
}

// ------------------------------------------------------------------ what equality sees

// Zeros of both signs are equal, and the item of a run is its first one. Each NaN is a run of its own.
TEST(device_run_length_encode, items_are_equal_if_their_operator_says_so) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double pattern[] = {0.0, -0.0, 0.0, nan, nan, nan, -0.0, 0.0, 1.5, 1.5, nan, -0.0};
  using reals = encoding<double, int, int>;
  for (const std::size_t size : {std::size_t{900}, parts_of<reals::Problem>::long_size()}) {
    std::vector<double> items(size);
    for (std::size_t i = 0; i < size; ++i) items[i] = pattern[i % 12];
    run_shape shape{"zeros and NaNs", size, {0}};
    for (std::size_t i = 1; i < size; ++i) {
      if (!(items[i - 1] == items[i])) shape.begins.push_back(i);
    }
    const shifted_array<double> in(items);
    const run_outputs<double, int> out(size);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return reals::call(storage, bytes, in.data(), out, size); }));
    ASSERT_EQ(shape.runs(), out.number());
    EXPECT_SAME_ITEMS(lengths_of_runs<int>(shape), out.sums());
    const std::vector<double> unique = out.keys();
    for (std::size_t run = 0; run < shape.runs(); ++run) {
      ASSERT_TRUE(strata_test::same_bits(items[shape.begins[run]], unique[run])) << run;
    }
  }
}

TEST(device_run_length_encode, equality_sees_neighbouring_items_and_nothing_else) {
  constexpr std::size_t lead = 40;
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  using Problem = encoding<watched_key, int, int>::Problem;
  for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{1001}, parts_of<Problem>::long_size()}) {
    for (const run_shape& shape : run_shapes(size, parts_of<Problem>::get())) {
      SCOPED_TRACE(testing::Message() << shape);
      const std::vector<watched_key> items = watched_keys(shape, lead, violations.data());
      const shifted_array<watched_key> in(items);
      const run_outputs<watched_key, int> out(size);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return encoding<watched_key, int, int>::call(storage, bytes, in.data() + lead, out, size);
      }));
      ASSERT_EQ(0u, violations.to_host()[0]);
      ASSERT_SAME_ITEMS(lengths_of_runs<int>(shape), out.sums());
    }
  }
}

// ------------------------------------------------------------------ iterators

struct divide_by {
  std::int64_t divisor;
  STRATA_HD std::int64_t operator()(std::int64_t x) const { return x / divisor; }
};

// Items are computed. One output counts how often each item is written, another one has no value type.
TEST(device_run_length_encode, items_may_be_computed) {
  for (const std::size_t size : {std::size_t{3000}, 2 * parts_of<words::Problem>::long_size()}) {
    const run_shape shape = runs_of("sevens", size, [](std::size_t) { return std::size_t{7}; });
    const transforming<counting<std::int64_t>, divide_by> in(counting<std::int64_t>(0), divide_by{7});
    const run_outputs<std::int64_t, std::int64_t, std::int64_t> out(size);
    device_vector<unsigned> writes(std::vector<unsigned>(size, 0u));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceRunLengthEncode::Encode(storage..., in, counted_output<std::int64_t>(out.unique(), writes.data()),
                                           doubling_output<std::int64_t>(out.aggregates()),
                                           strided<std::int64_t>(out.num_runs(), 1), size);
    }));
    std::vector<std::int64_t> unique(shape.runs());
    for (std::size_t run = 0; run < shape.runs(); ++run) {
      unique[run] = static_cast<std::int64_t>(run);
    }
    std::vector<std::int64_t> doubled = lengths_of_runs<std::int64_t>(shape);
    for (std::int64_t& length : doubled) length *= 2;
    out.expect(unique, doubled);
    std::vector<unsigned> once(size, 0u);
    std::fill_n(once.begin(), shape.runs(), 1u);
    EXPECT_SAME_ITEMS(once, writes.to_host());
  }
}

// ------------------------------------------------------------------ arguments

class DeviceRunLengthEncodeArguments : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 100;
  const shifted_array<std::uint32_t> in{std::vector<std::uint32_t>(size, 1)};
  const run_outputs<std::uint32_t, int> out{size};
  std::uint32_t* const unique = out.unique();
  int* const lengths = out.aggregates();
  int* const num_runs = out.num_runs();

  template <class Count>
  static std::size_t storage_bytes(Count n) {
    std::size_t bytes = 0;
    const std::uint32_t* const no_items = nullptr;
    std::uint32_t* const nowhere = nullptr;
    int* const no_lengths = nullptr;
    EXPECT_CUDA_SUCCESS(DeviceRunLengthEncode::Encode(nullptr, bytes, no_items, nowhere, no_lengths, no_lengths, n));
    return bytes;
  }
  // Expects that a call is refused, launches nothing and writes nothing.
  void expect_refused(const std::uint32_t* items, std::uint32_t* u, int* l, int* r, int n,
                      std::size_t bytes_missing = 0) const {
    const scratch storage(storage_bytes(n < 0 ? 0 : n));
    const std::vector<unsigned char> before = storage.read();
    const auto call = [&](cudaStream_t on) {
      std::size_t bytes = storage.bytes() - bytes_missing;
      return DeviceRunLengthEncode::Encode(storage.data(), bytes, items, u, l, r, n, on);
    };
    const graph recorded(call);
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    EXPECT_EQ(cudaErrorInvalidValue, call(nullptr));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_EQ(before, storage.read());
    out.expect_untouched();
    EXPECT_EQ(std::vector<std::uint32_t>(size, 1), in.to_host());
  }
};

TEST_F(DeviceRunLengthEncodeArguments, refuses_null_pointers) {
  expect_refused(nullptr, unique, lengths, num_runs, size);
  expect_refused(in.data(), nullptr, lengths, num_runs, size);
  expect_refused(in.data(), unique, nullptr, num_runs, size);
  expect_refused(in.data(), unique, lengths, nullptr, size);
  expect_refused(in.data(), unique, lengths, nullptr, 0);
}

TEST_F(DeviceRunLengthEncodeArguments, refuses_negative_counts) {
  for (const int n : {-1, std::numeric_limits<int>::lowest()}) {
    expect_refused(in.data(), unique, lengths, num_runs, n);
  }
}

TEST_F(DeviceRunLengthEncodeArguments, refuses_outputs_that_begin_within_the_input) {
  const auto end = static_cast<std::ptrdiff_t>(size) - 1;
  for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, std::ptrdiff_t{1}, end}) {
    std::uint32_t* const over = in.data() + shift;
    expect_refused(in.data(), over, lengths, num_runs, size);
    expect_refused(in.data(), unique, reinterpret_cast<int*>(over), num_runs, size);
  }
}

// An output needs room only for as many results as there are runs, so it may end where the input begins.
TEST_F(DeviceRunLengthEncodeArguments, outputs_need_room_for_as_many_runs_as_there_are_only) {
  device_vector<std::uint32_t> memory(std::vector<std::uint32_t>{0, 0, 0, 0, 7, 7, 7, 8});
  auto* const counts = reinterpret_cast<int*>(memory.data() + 2);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceRunLengthEncode::Encode(storage..., memory.data() + 4, memory.data(), counts, num_runs, 4);
  }));
  EXPECT_EQ((std::vector<std::uint32_t>{7, 8, 3, 1, 7, 7, 7, 8}), memory.to_host());
}

TEST_F(DeviceRunLengthEncodeArguments, refuses_storage_that_is_too_small) {
  for (const int n : {0, 1, static_cast<int>(size)}) {
    for (const std::size_t missing : {std::size_t{1}, storage_bytes(n) / 2, storage_bytes(n)}) {
      expect_refused(in.data(), unique, lengths, num_runs, n, missing);
    }
  }
}

TEST_F(DeviceRunLengthEncodeArguments, no_items_are_no_runs) {
  const scratch storage(storage_bytes(0));
  std::size_t bytes = storage.bytes();
  const std::uint32_t* const no_items = nullptr;
  std::uint32_t* const nowhere = nullptr;
  int* const no_lengths = nullptr;
  ASSERT_CUDA_SUCCESS(DeviceRunLengthEncode::Encode(storage.data(), bytes, no_items, nowhere, no_lengths, num_runs, 0));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  out.expect({}, {});
}

TEST_F(DeviceRunLengthEncodeArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    EXPECT_GE(storage_bytes(n), before) << n;
    before = storage_bytes(n);
  }
  EXPECT_LE(before, std::size_t{1} << 20);
}

TEST(device_run_length_encode, counts_may_have_any_integer_type) {
  const auto number_of_runs = [](auto count) {
    const auto size = static_cast<std::size_t>(count);
    const run_shape shape = runs_of("twos", size, [](std::size_t) { return std::size_t{2}; });
    const shifted_array<std::uint32_t> items(keys_of<std::uint32_t>(shape));
    const run_outputs<std::uint32_t, int> out(size);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      const std::uint32_t* const in = items.data();
      return DeviceRunLengthEncode::Encode(storage..., in, out.unique(), out.aggregates(), out.num_runs(), count);
    }));
    EXPECT_SAME_ITEMS(lengths_of_runs<int>(shape), out.sums());
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

TEST(device_run_length_encode, storage_may_have_any_alignment_and_contents) {
  const run_shape shape = random_runs(parts_of<words::Problem>::long_size(), 16);
  const std::vector<std::uint32_t> items = keys_of<std::uint32_t>(shape);
  const shifted_array<std::uint32_t> in(items);
  for (const std::size_t misalignment : sizes{0, 1, 8, 16, 255}) {
    for (const contents garbage : all_contents) {
      const run_outputs<std::uint32_t, int> out(shape.items);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) { return words::call(storage, bytes, in.data(), out, shape.items); },
          garbage, misalignment));
      out.expect(first_of_runs(shape, items), lengths_of_runs<int>(shape));
    }
  }
}

// Calls of all sizes share one storage, and the host waits for none of them.
TEST(device_run_length_encode, storage_may_hold_leftovers_of_other_calls) {
  const std::size_t most = 2 * parts_of<words::Problem>::long_size();
  const device_vector<std::uint32_t> in(keys_of<std::uint32_t>(random_runs(most, 9)));
  const std::vector<std::uint32_t> items = in.to_host();
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(words::call(nullptr, bytes, nullptr, run_outputs<std::uint32_t, int>(1), most));
  const scratch storage(bytes);
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(5);
  for (int i = 0; i < if_small(4, 20); ++i) {
    struct part {
      std::size_t begin, size;
      std::unique_ptr<run_outputs<std::uint32_t, int>> out;
    };
    std::vector<part> parts;
    for (const std::size_t longest : {std::size_t{1000}, most, std::size_t{3000}, most}) {
      part p;
      p.size = 1 + bits() % longest;
      p.begin = bits() % (most - p.size + 1);
      p.out = std::make_unique<run_outputs<std::uint32_t, int>>(p.size);
      parts.push_back(std::move(p));
    }
    for (const part& p : parts) {
      ASSERT_CUDA_SUCCESS(words::call(storage.data(), bytes, in.data() + p.begin, *p.out, p.size, on));
    }
    on.synchronize();
    for (const part& p : parts) {
      run_shape shape{"part", p.size, {0}};
      std::vector<std::uint32_t> unique = {items[p.begin]};
      for (std::size_t k = 1; k < p.size; ++k) {
        if (items[p.begin + k] == unique.back()) continue;
        shape.begins.push_back(k);
        unique.push_back(items[p.begin + k]);
      }
      ASSERT_NO_FATAL_FAILURE(p.out->expect(unique, lengths_of_runs<int>(shape)));
    }
  }
}

// Each replay gets new input. Before it, the storage may be filled with garbage, or get what it held after an earlier
// replay.
TEST(device_run_length_encode, a_graph_may_be_replayed) {
  for (const std::size_t size :
       sizes{std::size_t{0}, std::size_t{1}, std::size_t{3000}, 4 * parts_of<words::Problem>::long_size()}) {
    SCOPED_TRACE(size);
    const shifted_array<std::uint32_t> in(size);
    const run_outputs<std::uint32_t, int> out(size);
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(words::call(nullptr, bytes, nullptr, out, size));
    const scratch storage(bytes);
    const stream on;
    graph recorded(
        [&](cudaStream_t recorder) { return words::call(storage.data(), bytes, in.data(), out, size, recorder); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes()) << "one launch at every size";
    out.expect_untouched();
    std::vector<unsigned char> earlier = storage.read();
    for (int i = 0; i < if_small(6, 24); ++i) {
      const run_shape shape = random_runs(size, i % 2 == 0 ? 3 : 700 + static_cast<std::size_t>(i));
      const std::vector<std::uint32_t> items = keys_of<std::uint32_t>(shape);
      in.assign(items);
      if (i % 4 == 1) storage.fill(all_contents[i / 4 % 3]);
      if (i % 4 == 3) storage.write(earlier.data());
      out.poison();
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_NO_FATAL_FAILURE(out.expect(first_of_runs(shape, items), lengths_of_runs<int>(shape)));
      if (i % 4 == 0) earlier = storage.read();
    }
  }
}

// ------------------------------------------------------------------ as a user calls it

TEST(device_run_length_encode, two_calls_encode) {
  const device_vector<char> in(std::vector<char>{'a', 'a', 'a', 'c', 'a', 'b', 'b'});
  const run_outputs<char, int> out(7);
  const char* const d_in = in.data();
  char* const d_unique = out.unique();
  int* const d_counts = out.aggregates();
  int* const d_num_runs = out.num_runs();
  const int n = 7;
  void* d_temp = nullptr;
  const stream stream;

  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(strata::DeviceRunLengthEncode::Encode(nullptr, bytes, d_in, d_unique, d_counts, d_num_runs, n));
  ASSERT_CUDA_SUCCESS(cudaMalloc(&d_temp, bytes));
  ASSERT_CUDA_SUCCESS(
      strata::DeviceRunLengthEncode::Encode(d_temp, bytes, d_in, d_unique, d_counts, d_num_runs, n, stream));
  stream.synchronize();
  EXPECT_CUDA_SUCCESS(cudaFree(d_temp));
  out.expect({'a', 'c', 'a', 'b'}, {3, 1, 1, 2});
}

}  // namespace device_run_length_encode_test

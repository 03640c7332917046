// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRunLengthEncode::NonTrivialRuns: where runs of more than one item begin, and how long they are.
#include <strata/device/device_run_length_encode.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_runs_support.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_non_trivial_runs_test {

using namespace device_test;
using strata::DeviceRunLengthEncode;
using strata_test::struct12;
using strata_test::struct16;

// ------------------------------------------------------------------ types, sizes, shapes

template <class ItemT, class OffsetT, class LengthT, class CountT>
struct encoding {
  using Item = ItemT;
  using Offset = OffsetT;
  using Length = LengthT;
  using Count = CountT;
  using outputs = run_outputs<Offset, Length>;
  using Problem = strata::detail::non_trivial_runs_problem<strata::detail::item_count_t<Count>, const Item*, Offset*,
                                                           Length*, int*>;

  static cudaError_t call(void* storage, std::size_t& bytes, const Item* in, const outputs& out, std::size_t count,
                          cudaStream_t on = nullptr) {
    return DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, in, out.unique(), out.aggregates(), out.num_runs(),
                                                 static_cast<Count>(count), on);
  }
};
using words = encoding<std::uint32_t, int, int, int>;

/// Expects offsets and lengths of the runs of more than one item.
template <class Offset, class Length>
void expect_runs(const run_shape& shape, const run_outputs<Offset, Length>& out) {
  std::vector<Offset> offsets;
  std::vector<Length> lengths;
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    const std::size_t begin = shape.begins[run], length = shape.end(run) - begin;
    if (length < 2) continue;
    offsets.push_back(static_cast<Offset>(begin));
    lengths.push_back(static_cast<Length>(length));
  }
  out.expect(offsets, lengths);
}

/// More than half of the runs have one item.
run_shape with_single_items(std::size_t items, std::size_t mean) {
  std::mt19937_64 bits = strata_test::random_bits(items + mean);
  return runs_of("single items and runs of about " + std::to_string(mean), items,
                 [&](std::size_t) { return bits() % 2 == 0 ? 1 : 1 + bits() % (2 * mean - 1); });
}

template <class Encoding>
class DeviceNonTrivialRunsTypes : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using encodings = ::testing::Types<words, encoding<std::uint8_t, std::int64_t, std::int64_t, std::size_t>,
                                   encoding<struct12, int, std::int64_t, unsigned>>;
#else
using encodings = ::testing::Types<
    words, encoding<std::uint8_t, std::int64_t, std::int64_t, std::size_t>,
    encoding<std::uint16_t, int, int, std::int64_t>, encoding<std::int64_t, std::int64_t, unsigned, int>,
    encoding<struct16, std::int64_t, std::int64_t, std::int64_t>, encoding<struct12, int, std::int64_t, unsigned>>;
#endif
TYPED_TEST_SUITE(DeviceNonTrivialRunsTypes, encodings);

TYPED_TEST(DeviceNonTrivialRunsTypes, writes_offset_and_length_of_each_run_of_more_than_one_item) {
  using Item = typename TypeParam::Item;
  const auto expect = [](const run_shape& shape, std::size_t number) {
    const shifted_array<Item> in(keys_of<Item>(shape), number % 2);
    const typename TypeParam::outputs out(shape.items, number % 3);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return TypeParam::call(storage, bytes, in.data(), out, shape.items);
    }));
    expect_runs(shape, out);
  };
  for_all_shapes<typename TypeParam::Problem>(expect);
  for (const std::size_t size : parts_of<typename TypeParam::Problem>::sizes()) {
    for (const std::size_t mean : {2u, 40u}) {
      if (size > 200000 && mean == 40) continue;
      ASSERT_NO_FATAL_FAILURE(expect(with_single_items(size, mean), size + mean));
    }
  }
}

// ------------------------------------------------------------------ pipelines

// Runs begin and end at every position within the items of a thread, a warp and a tile.
template <class Policy, bool UsesBulkCopies, class Encoding>
void expect_in_pipelines() {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  using Item = typename Encoding::Item;
  using Problem = typename Encoding::Problem;
  for_pipelines_of_any_number_of_blocks<Policy, UsesBulkCopies, Problem>([](const run_shape& shape, const auto& run) {
    const shifted_array<Item> in(keys_of<Item>(shape), UsesBulkCopies ? 0 : 1);
    const typename Encoding::outputs out(shape.items, 1);
    ASSERT_CUDA_SUCCESS(run(Problem{in.data(), out.unique(), out.aggregates(), out.num_runs(), shape.items}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    expect_runs(shape, out);
  });
  // One run among single items moves over the borders of tiles, step by step, and so does the end of the input.
  constexpr std::size_t tile = Problem::template steps<Policy, UsesBulkCopies>::Stage::tile_items;
  for (std::size_t step = 0; step < 12; ++step) {
    const std::size_t size = 3 * tile - 4 + step;
    for (const std::size_t length : {std::size_t{2}, std::size_t{3}, tile, tile + 1}) {
      const std::size_t first = tile - 6 + step;
      const run_shape shape = runs_of("one run among single items", size, [&](std::size_t begin) {
        return begin == first || begin == size - 2 ? length : 1;
      });
      SCOPED_TRACE(testing::Message() << shape << ", " << length << " from " << first << " on");
      const shifted_array<Item> in(keys_of<Item>(shape), UsesBulkCopies ? 0 : 1);
      const typename Encoding::outputs out(size, 1);
      const scratch storage(in_blocks::storage_bytes<typename Problem::Accum>(3));
      ASSERT_CUDA_SUCCESS((in_blocks::run_pipeline<Policy, UsesBulkCopies>(
          3, storage, Problem{in.data(), out.unique(), out.aggregates(), out.num_runs(), size}, size)));
      ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
      ASSERT_NO_FATAL_FAILURE(expect_runs(shape, out));
    }
  }
}

TEST(device_non_trivial_runs, pipelines_in_bulk) { expect_in_pipelines<short_columns<48, 4, 2>, true, words>(); }
TEST(device_non_trivial_runs, pipelines_one_by_one) {
  expect_in_pipelines<short_columns<16, 3, 1>, false, encoding<std::uint64_t, std::int64_t, int, std::int64_t>>();
}
#if !STRATA_TEST_FEW_TYPES
// With bytes, a thread has more than 32 flags. With structs, 16 bytes hold one item.
TEST(device_non_trivial_runs, pipelines_of_bytes) {
  expect_in_pipelines<short_columns<150, 3, 2>, true, encoding<std::uint8_t, int, int, int>>();
}
TEST(device_non_trivial_runs, pipelines_of_structs) {
  expect_in_pipelines<short_columns<60, 3, 2>, true, encoding<struct16, int, int, int>>();
}
#endif

TEST(device_non_trivial_runs, blocks_may_run_in_any_order) {
  under_all_schedules([](std::size_t i) {
    const run_shape shape = with_single_items(parts_of<words::Problem>::long_size() + 7 * i, i % 2 == 0 ? 3 : 700);
    const shifted_array<std::uint32_t> in(keys_of<std::uint32_t>(shape));
    const words::outputs out(shape.items);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return words::call(storage, bytes, in.data(), out, shape.items); }));
    expect_runs(shape, out);
  });
}

// ------------------------------------------------------------------ what equality sees

// A NaN equals nothing, not even itself, so it is in no run.
TEST(device_non_trivial_runs, items_are_equal_if_their_operator_says_so) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double pattern[] = {0.0, -0.0, 0.0, nan, nan, nan, -0.0, 0.0, 1.5, 1.5, nan, -0.0};
  using reals = encoding<double, int, int, int>;
  for (const std::size_t size : {std::size_t{900}, parts_of<reals::Problem>::long_size()}) {
    std::vector<double> items(size);
    for (std::size_t i = 0; i < size; ++i) items[i] = pattern[i % 12];
    run_shape shape{"zeros and NaNs", size, {0}};
    for (std::size_t i = 1; i < size; ++i) {
      if (!(items[i - 1] == items[i])) shape.begins.push_back(i);
    }
    const shifted_array<double> in(items);
    const reals::outputs out(size);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return reals::call(storage, bytes, in.data(), out, size); }));
    ASSERT_NO_FATAL_FAILURE(expect_runs(shape, out));
  }
}

TEST(device_non_trivial_runs, equality_sees_neighbouring_items_and_nothing_else) {
  constexpr std::size_t lead = 40;
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  using watched = encoding<watched_key, int, int, int>;
  using Problem = watched::Problem;
  for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{1001}, parts_of<Problem>::long_size()}) {
    for (const run_shape& shape : run_shapes(size, parts_of<Problem>::get())) {
      SCOPED_TRACE(testing::Message() << shape);
      const shifted_array<watched_key> in(watched_keys(shape, lead, violations.data()));
      const watched::outputs out(size);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return watched::call(storage, bytes, in.data() + lead, out, size);
      }));
      ASSERT_EQ(0u, violations.to_host()[0]);
      ASSERT_NO_FATAL_FAILURE(expect_runs(shape, out));
    }
  }
}

// ------------------------------------------------------------------ iterators

struct divide_by {
  std::int64_t divisor;
  STRATA_HD std::int64_t operator()(std::int64_t x) const { return x / divisor; }
};

// The input is computed. One output counts how often each item is written, another one has no value type.
TEST(device_non_trivial_runs, items_may_be_computed) {
  for (const std::size_t size : {std::size_t{3000}, 2 * parts_of<words::Problem>::long_size()}) {
    const run_shape shape = runs_of("sevens", size, [](std::size_t) { return std::size_t{7}; });
    const transforming<counting<std::int64_t>, divide_by> in(counting<std::int64_t>(0), divide_by{7});
    const run_outputs<std::int64_t, std::int64_t, std::int64_t> out(size);
    device_vector<unsigned> writes(std::vector<unsigned>(size, 0u));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceRunLengthEncode::NonTrivialRuns(
          storage..., in, counted_output<std::int64_t>(out.unique(), writes.data()),
          doubling_output<std::int64_t>(out.aggregates()), strided<std::int64_t>(out.num_runs(), 1), size);
    }));
    const std::size_t runs = size / 7 + (size % 7 > 1 ? 1 : 0);
    std::vector<std::int64_t> offsets(runs), doubled(runs, 14);
    for (std::size_t run = 0; run < runs; ++run) offsets[run] = static_cast<std::int64_t>(7 * run);
    if (size % 7 > 1) doubled.back() = static_cast<std::int64_t>(2 * (size % 7));
    out.expect(offsets, doubled);
    std::vector<unsigned> once(size, 0u);
    std::fill_n(once.begin(), runs, 1u);
    EXPECT_SAME_ITEMS(once, writes.to_host());
  }
}

// ------------------------------------------------------------------ arguments

class DeviceNonTrivialRunsArguments : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 100;
  const shifted_array<std::uint32_t> in{std::vector<std::uint32_t>(size, 1)};
  const words::outputs out{size};
  int* const offsets = out.unique();
  int* const lengths = out.aggregates();
  int* const num_runs = out.num_runs();

  template <class Count>
  static std::size_t storage_bytes(Count n) {
    std::size_t bytes = 0;
    const std::uint32_t* const no_items = nullptr;
    int* const nowhere = nullptr;
    EXPECT_CUDA_SUCCESS(DeviceRunLengthEncode::NonTrivialRuns(nullptr, bytes, no_items, nowhere, nowhere, nowhere, n));
    return bytes;
  }
  // Expects that a call is refused, launches nothing and writes nothing.
  void expect_refused(const std::uint32_t* items, int* o, int* l, int* r, int n, std::size_t bytes_missing = 0) const {
    const scratch storage(storage_bytes(n < 0 ? 0 : n));
    const std::vector<unsigned char> before = storage.read();
    const auto call = [&](cudaStream_t on) {
      std::size_t bytes = storage.bytes() - bytes_missing;
      return DeviceRunLengthEncode::NonTrivialRuns(storage.data(), bytes, items, o, l, r, n, on);
    };
    const graph recorded(call);
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    EXPECT_EQ(cudaErrorInvalidValue, call(nullptr));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_EQ(before, storage.read());
    out.expect_untouched();
  }
};

TEST_F(DeviceNonTrivialRunsArguments, refuses_what_it_cannot_do) {
  expect_refused(nullptr, offsets, lengths, num_runs, size);
  expect_refused(in.data(), nullptr, lengths, num_runs, size);
  expect_refused(in.data(), offsets, nullptr, num_runs, size);
  expect_refused(in.data(), offsets, lengths, nullptr, size);
  expect_refused(in.data(), offsets, lengths, nullptr, 0);
  expect_refused(in.data(), offsets, offsets, num_runs, size);
  for (const int n : {-1, std::numeric_limits<int>::lowest()}) {
    expect_refused(in.data(), offsets, lengths, num_runs, n);
  }
  auto* const over = reinterpret_cast<int*>(in.data() + size - 1);
  expect_refused(in.data(), over, lengths, num_runs, size);
  expect_refused(in.data(), offsets, over, num_runs, size);
  for (const int n : {0, 1, static_cast<int>(size)}) {
    for (const std::size_t missing : {std::size_t{1}, storage_bytes(n)}) {
      expect_refused(in.data(), offsets, lengths, num_runs, n, missing);
    }
  }
}

// Only the device knows how many runs there are. So null outputs are refused if there are items, even if there are no
// runs.
TEST_F(DeviceNonTrivialRunsArguments, refuses_null_outputs_for_items_without_runs_too) {
  std::vector<std::uint32_t> items(size);
  std::iota(items.begin(), items.end(), 0u);
  const shifted_array<std::uint32_t> no_runs(items);
  expect_refused(no_runs.data(), nullptr, nullptr, num_runs, size);
}

TEST_F(DeviceNonTrivialRunsArguments, no_items_are_no_runs) {
  const scratch storage(storage_bytes(0));
  std::size_t bytes = storage.bytes();
  const std::uint32_t* const no_items = nullptr;
  int* const nowhere = nullptr;
  ASSERT_CUDA_SUCCESS(
      DeviceRunLengthEncode::NonTrivialRuns(storage.data(), bytes, no_items, nowhere, nowhere, num_runs, 0));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  out.expect({}, {});
}

TEST_F(DeviceNonTrivialRunsArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    EXPECT_GE(storage_bytes(n), before) << n;
    before = storage_bytes(n);
  }
  EXPECT_LE(before, std::size_t{1} << 20);
}

// ------------------------------------------------------------------ storage, graphs

TEST(device_non_trivial_runs, storage_may_have_any_alignment_and_contents) {
  const run_shape shape = with_single_items(parts_of<words::Problem>::long_size(), 16);
  const shifted_array<std::uint32_t> in(keys_of<std::uint32_t>(shape));
  for (const std::size_t misalignment : sizes{0, 1, 8, 255}) {
    for (const contents garbage : all_contents) {
      const words::outputs out(shape.items);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) { return words::call(storage, bytes, in.data(), out, shape.items); },
          garbage, misalignment));
      ASSERT_NO_FATAL_FAILURE(expect_runs(shape, out));
    }
  }
}

// Each replay gets new input. Before it, the storage may be filled with garbage, or get what it held after an earlier
// replay.
TEST(device_non_trivial_runs, a_graph_may_be_replayed) {
  for (const std::size_t size :
       sizes{std::size_t{0}, std::size_t{1}, std::size_t{3000}, 2 * parts_of<words::Problem>::long_size()}) {
    SCOPED_TRACE(size);
    const shifted_array<std::uint32_t> in(size);
    const words::outputs out(size);
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
    for (int i = 0; i < if_small(4, 24); ++i) {
      const run_shape shape = with_single_items(size, i % 2 == 0 ? 3 : 700 + static_cast<std::size_t>(i));
      in.assign(keys_of<std::uint32_t>(shape));
      if (i % 4 == 1) storage.fill(all_contents[i / 4 % 3]);
      if (i % 4 == 3) storage.write(earlier.data());
      out.poison();
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_NO_FATAL_FAILURE(expect_runs(shape, out));
      if (i % 4 == 0) earlier = storage.read();
    }
  }
}

// ------------------------------------------------------------------ as a user calls it

TEST(device_non_trivial_runs, finds_runs_between_single_items) {
  const device_vector<int> in(std::vector<int>{0, 2, 2, 9, 5, 5, 5, 8});
  const run_outputs<int, int> out(8);
  ASSERT_CUDA_SUCCESS(
      strata::DeviceRunLengthEncode::NonTrivialRuns(in.data(), out.unique(), out.aggregates(), out.num_runs(), 8));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  out.expect({1, 4}, {2, 3});
}

}  // namespace device_non_trivial_runs_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_scan.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/ranges.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;

// The logical warps in a block of `threads`. If their width is a power of two, they divide each warp. Otherwise each
// warp has one.
template <int Width>
struct place {
  static constexpr int pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  static constexpr unsigned threads = 64 + Width;
  static STRATA_HD int lane(unsigned thread) { return static_cast<int>(thread) % pitch; }
  static STRATA_HD int logical_warp(unsigned thread) { return static_cast<int>(thread) / pitch; }
  static STRATA_HD bool is_member(unsigned thread) { return lane(thread) < Width; }
};

// ---------------------------------------------------------------------------- order, every width
enum result_row {
  inclusive,
  aggregate,
  exclusive_after_initial,
  inclusive_of_valid_after_initial,
  exclusive_of_valid_after_initial,
  exclusive_of_valid,
  aggregate_of_valid,
  rows
};

// Block b has b - 1 valid items in each logical warp: from -1 to more than there are lanes.
template <int Width>
STRATA_KERNEL void scan_every_width(range* out, int* wrong_calls) {
  using here = place<Width>;
  using scanner = strata::WarpScan<range, Width>;
  if (!here::is_member(threadIdx.x)) return;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  scanner scan(temp_storage);
  const join_ranges op{wrong_calls};

  const int lane = here::lane(threadIdx.x);
  const int valid = static_cast<int>(blockIdx.x) - 1;
  // The items of logical warps are far apart, so joining items of two logical warps is a wrong call.
  const int base = 1000 * here::logical_warp(threadIdx.x) + 10;
  const range mine{base + lane, base + lane}, initial{base - 7, base - 1};
  const range mine_if_valid = lane < valid ? mine : no_item();

  range result[rows];
  for (range& r : result) r = untouched();
  scan.InclusiveScan(mine, result[inclusive], op, result[aggregate]);
  scan.ExclusiveScan(mine, result[exclusive_after_initial], initial, op);
  scan.ScanPartial(mine_if_valid, result[inclusive_of_valid_after_initial], result[exclusive_of_valid_after_initial],
                   initial, op, valid);
  scan.ExclusiveScanPartial(mine_if_valid, result[exclusive_of_valid], op, valid, result[aggregate_of_valid]);
  for (int i = 0; i < rows; ++i) {
    out[(blockIdx.x * here::threads + threadIdx.x) * rows + static_cast<unsigned>(i)] = result[i];
  }
}

template <int Width>
void test_width() {
  SCOPED_TRACE(testing::Message() << "logical warps of " << Width << " threads");
  using here = place<Width>;
  constexpr unsigned blocks = Width + 3;
  constexpr std::size_t threads = here::threads;
  device_vector<int> wrong_calls(std::vector<int>{0});
  device_vector<range> out(blocks * threads * rows);
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_every_width", blocks, here::threads}, scan_every_width<Width>, out.data(),
                                     wrong_calls.data()));
  EXPECT_EQ(wrong_calls.to_host()[0], 0) << "calls of the operator with operands not its own";

  const std::vector<range> results = out.to_host();
  for (std::size_t i = 0; i < blocks * threads; ++i) {
    const auto thread = static_cast<unsigned>(i % threads);
    if (!here::is_member(thread)) continue;
    const int given = static_cast<int>(i / threads) - 1;
    const int valid = given > Width ? Width : given;
    const int lane = here::lane(thread);
    SCOPED_TRACE(testing::Message() << "thread " << thread << ", valid_items " << given);
    const range* const result = &results[i * rows];
    const int base = 1000 * here::logical_warp(thread) + 10;
    const bool is_valid = lane < valid;

    ASSERT_EQ(result[inclusive], (range{base, base + lane}));
    ASSERT_EQ(result[aggregate], (range{base, base + Width - 1}));
    ASSERT_EQ(result[exclusive_after_initial], (range{base - 7, base + lane - 1}));
    ASSERT_EQ(result[inclusive_of_valid_after_initial], (is_valid ? range{base - 7, base + lane} : untouched()));
    ASSERT_EQ(result[exclusive_of_valid_after_initial], (is_valid ? range{base - 7, base + lane - 1} : untouched()));
    if (lane > 0 || valid <= 0) {
      ASSERT_EQ(result[exclusive_of_valid], (is_valid ? range{base, base + lane - 1} : untouched()));
    }
    ASSERT_EQ(result[aggregate_of_valid], (valid > 0 ? range{base, base + valid - 1} : untouched()));
  }
}

template <int... Width>
void test_widths(std::integer_sequence<int, Width...>) {
  (test_width<Width + 1>(), ...);
}

TEST(warp_scan, every_width_and_valid_count_keeps_order) {
  if constexpr (small_cases) {
    test_widths(std::integer_sequence<int, 0, 1, 2, 7, 12, 15, 30, 31>{});
  } else {
    test_widths(std::make_integer_sequence<int, 32>{});
  }
}

// ---------------------------------------------------------------------------- every form
// The forms, in the order in which each lane calls them.
enum form {
  inclusive_form,            // InclusiveScan
  inclusive_initial_form,    // with an initial value
  inclusive_aggregate_form,  // with the aggregate
  inclusive_initial_aggregate_form,
  exclusive_form,
  exclusive_initial_form,
  exclusive_aggregate_form,
  exclusive_initial_aggregate_form,
  scan_form,
  scan_initial_form,
  forms
};
struct outcome {
  string_hash inclusive, exclusive, aggregate;
};

// Type of `Valid` for the forms without a number of valid items. The Partial forms take an int.
struct no_count {};

template <int Width, class Valid>
STRATA_KERNEL void scan_in_every_form(const string_hash* in, Valid valid, outcome* out) {
  using scanner = strata::WarpScan<string_hash, Width>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  scanner scan(temp_storage);
  const join op;
  const string_hash item = in[threadIdx.x];
  const string_hash initial = string_hash::of('^');
  for (int f = 0; f < forms; ++f) {
    outcome o{item, item, item};  // an output may be the same variable as the input
    if constexpr (std::is_same_v<Valid, no_count>) {
      if (f == inclusive_form) scan.InclusiveScan(item, o.inclusive, op);
      if (f == inclusive_initial_form) scan.InclusiveScan(o.inclusive, o.inclusive, initial, op);
      if (f == inclusive_aggregate_form) scan.InclusiveScan(item, o.inclusive, op, o.aggregate);
      if (f == inclusive_initial_aggregate_form) {
        scan.InclusiveScan(o.inclusive, o.inclusive, initial, op, o.aggregate);
      }
      if (f == exclusive_form) scan.ExclusiveScan(o.exclusive, o.exclusive, op);
      if (f == exclusive_initial_form) scan.ExclusiveScan(o.exclusive, o.exclusive, initial, op);
      if (f == exclusive_aggregate_form) scan.ExclusiveScan(item, o.exclusive, op, o.aggregate);
      if (f == exclusive_initial_aggregate_form) {
        scan.ExclusiveScan(item, o.exclusive, initial, op, o.aggregate);
      }
      if (f == scan_form) scan.Scan(o.exclusive, o.inclusive, o.exclusive, op);
      if (f == scan_initial_form) scan.Scan(o.inclusive, o.inclusive, o.exclusive, initial, op);
    } else {
      if (f == inclusive_form) scan.InclusiveScanPartial(item, o.inclusive, op, valid);
      if (f == inclusive_initial_form) {
        scan.InclusiveScanPartial(o.inclusive, o.inclusive, initial, op, valid);
      }
      if (f == inclusive_aggregate_form) {
        scan.InclusiveScanPartial(item, o.inclusive, op, valid, o.aggregate);
      }
      if (f == inclusive_initial_aggregate_form) {
        scan.InclusiveScanPartial(o.inclusive, o.inclusive, initial, op, valid, o.aggregate);
      }
      if (f == exclusive_form) scan.ExclusiveScanPartial(o.exclusive, o.exclusive, op, valid);
      if (f == exclusive_initial_form) {
        scan.ExclusiveScanPartial(o.exclusive, o.exclusive, initial, op, valid);
      }
      if (f == exclusive_aggregate_form) {
        scan.ExclusiveScanPartial(item, o.exclusive, op, valid, o.aggregate);
      }
      if (f == exclusive_initial_aggregate_form) {
        scan.ExclusiveScanPartial(item, o.exclusive, initial, op, valid, o.aggregate);
      }
      if (f == scan_form) scan.ScanPartial(o.exclusive, o.inclusive, o.exclusive, op, valid);
      if (f == scan_initial_form) {
        scan.ScanPartial(o.inclusive, o.inclusive, o.exclusive, initial, op, valid);
      }
    }
    out[threadIdx.x * forms + static_cast<unsigned>(f)] = o;
  }
}

template <int Width, class Valid>
void test_forms(Valid given) {
  int valid = Width;
  if constexpr (!std::is_same_v<Valid, no_count>) valid = given;
  SCOPED_TRACE(testing::Message() << Width << " lanes, " << valid << " valid items");
  const std::vector<string_hash> items = random_items<string_hash>(Width, Width);
  const device_vector<string_hash> in(items);
  device_vector<outcome> out(forms * Width);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"scan_in_every_form", 1, Width}, scan_in_every_form<Width, Valid>, in.data(), given, out.data()));
  const std::vector<outcome> outcomes = out.to_host();
  const string_hash initial = string_hash::of('^');
  for (std::size_t lane = 0; lane < Width; ++lane) {
    for (std::size_t f = 0; f < forms; ++f) {
      SCOPED_TRACE(testing::Message() << "form " << f << ", lane " << lane);
      const outcome& o = outcomes[lane * forms + f];
      const bool has_initial = f % 2 == 1;
      const bool is_valid = static_cast<int>(lane) < valid;
      const auto sum_before = [&](std::size_t end) {
        std::vector<string_hash> operands(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(end));
        if (has_initial) operands.insert(operands.begin(), initial);
        return reference_reduce(operands, join{});
      };
      const bool is_inclusive = f < exclusive_form || f >= scan_form;
      const bool is_exclusive = f >= exclusive_form;
      ASSERT_EQ(o.inclusive, is_inclusive && is_valid ? sum_before(lane + 1) : items[lane]);
      if (!is_exclusive || !is_valid) {
        ASSERT_EQ(o.exclusive, items[lane]);
      } else if (lane > 0 || has_initial) {
        ASSERT_EQ(o.exclusive, sum_before(lane));
      }
      const bool has_aggregate = f < scan_form && f % 4 >= 2;
      ASSERT_EQ(o.aggregate,
                has_aggregate && valid > 0 ? reference_reduce(items, 0, std::size_t(valid), join{}) : items[lane]);
    }
  }
}

template <int Width>
void test_forms_of_width() {
  test_forms<Width>(no_count{});
  for (const int valid : {INT_MIN, 0, 1, Width - 1, Width}) test_forms<Width>(valid);
}

TEST(warp_scan, every_form_gives_the_reference) {
  test_forms_of_width<32>();
  test_forms_of_width<4>();
  test_forms_of_width<11>();
}

// ---------------------------------------------------------------------------- lanes, divergence
template <int Width>
STRATA_KERNEL void broadcast_every_lane(const struct12* in, struct12* out) {
  using here = place<Width>;
  using scanner = strata::WarpScan<struct12, Width>;
  if (!here::is_member(threadIdx.x)) return;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  for (unsigned lane = 0; lane < Width; ++lane) {
    out[threadIdx.x * Width + lane] = scanner(temp_storage).Broadcast(in[threadIdx.x], lane);
  }
}

template <int Width>
void test_broadcast() {
  using here = place<Width>;
  const std::vector<struct12> items = random_items<struct12>(here::threads, Width);
  const device_vector<struct12> in(items);
  device_vector<struct12> out(here::threads * Width);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"broadcast_every_lane", 1, here::threads}, broadcast_every_lane<Width>, in.data(), out.data()));
  const std::vector<struct12> results = out.to_host();
  for (unsigned thread = 0; thread < here::threads; ++thread) {
    if (!here::is_member(thread)) continue;
    const auto first = static_cast<std::size_t>(here::logical_warp(thread) * here::pitch);
    for (std::size_t lane = 0; lane < Width; ++lane) {
      ASSERT_EQ(results[thread * Width + lane], items[first + lane]) << "thread " << thread;
    }
  }
}

TEST(warp_scan, broadcast_gives_the_input_of_the_lane_that_is_named) {
  test_broadcast<1>();
  test_broadcast<8>();
  test_broadcast<13>();
  test_broadcast<32>();
}

// Logical warps of one warp call in different branches, and different numbers of times.
template <class T, int Width>
STRATA_KERNEL void scan_apart(const T* in, T* out) {
  using scanner = strata::WarpScan<T, Width>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  const int logical_warp = static_cast<int>(threadIdx.x) / Width;
  T value = in[threadIdx.x];
  if (logical_warp % 3 == 2) {
    scanner(temp_storage).InclusiveScan(value, value, strata::Max{});
  } else {
    for (int i = 0; i < logical_warp % 5; ++i) scanner(temp_storage).InclusiveSum(value, value);
  }
  out[threadIdx.x] = value;
}

template <class T, int Width>
void test_divergence() {
  SCOPED_TRACE(testing::Message() << "logical warps of " << Width << " threads");
  const std::vector<T> items = random_items<T>(128, Width);
  const device_vector<T> in(items);
  device_vector<T> out(items.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_apart", 1, 128}, scan_apart<T, Width>, in.data(), out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t w = 0; w < 128 / Width; ++w) {
    std::vector<T> lanes(items.begin() + static_cast<std::ptrdiff_t>(w * Width),
                         items.begin() + static_cast<std::ptrdiff_t>((w + 1) * Width));
    for (std::size_t i = 0; i < (w % 3 == 2 ? 1 : w % 5); ++i) {
      for (std::size_t lane = 1; lane < Width; ++lane) {
        lanes[lane] =
            w % 3 == 2 ? strata::Max{}(lanes[lane - 1], lanes[lane]) : static_cast<T>(lanes[lane - 1] + lanes[lane]);
      }
    }
    for (std::size_t lane = 0; lane < Width; ++lane) {
      ASSERT_EQ(results[w * Width + lane], lanes[lane]) << "logical warp " << w << ", lane " << lane;
    }
  }
}

TEST(warp_scan, logical_warps_of_a_warp_may_diverge) {
  test_divergence<unsigned, 1>();
  test_divergence<unsigned, 2>();
  test_divergence<float, 4>();
  test_divergence<std::uint64_t, 8>();
  test_divergence<unsigned, 16>();
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void offsets_in_warps(const int* counts, int* offsets, int* totals) {
  using WarpScan = strata::WarpScan<int>;
  STRATA_SHARED(temp_storage, WarpScan::TempStorage[128 / 32]);
  const unsigned warp = threadIdx.x / 32;
  int offset, total;
  WarpScan(temp_storage[warp]).ExclusiveSum(counts[threadIdx.x], offset, total);
  offsets[threadIdx.x] = offset;
  if (threadIdx.x % 32 == 0) totals[warp] = total;
}

TEST(warp_scan, gives_offsets_and_totals_of_each_warp) {
  std::vector<int> items(128), expected(128);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = static_cast<int>(i / 32);
    expected[i] = static_cast<int>(i % 32 * (i / 32));
  }
  const device_vector<int> counts(items);
  device_vector<int> offsets(128), totals(4);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"offsets_in_warps", 1, 128}, offsets_in_warps, counts.data(), offsets.data(), totals.data()));
  EXPECT_EQ(offsets.to_host(), expected);
  EXPECT_EQ(totals.to_host(), (std::vector<int>{0, 32, 64, 96}));
}

}  // namespace

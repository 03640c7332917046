// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedScan applies operators only to neighbours in one segment, in order.
#include <strata/device/device_segmented_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "device/scan/device_segmented_scan_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedScan;
using strata_test::join;
using strata_test::string_hash;

TEST(device_segmented_scan, keeps_operands_in_order) {
  const string_hash init = string_hash::of('^');
  expect_scans<false, string_hash>(join{}, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., join{}, init);
  });
  expect_scans<true, string_hash>(join{}, none{}, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., join{});
  });
}

/// A range of neighbouring items, an initial value, or both.
struct range {
  enum parts : std::uint32_t { items = 1, initial = 2 };
  std::int32_t first, last;
  std::uint32_t what;

  STRATA_HD friend bool operator==(const range& a, const range& b) {
    return a.first == b.first && a.last == b.last && a.what == b.what;
  }
  friend std::ostream& operator<<(std::ostream& out, const range& a) {
    return out << (a.what == items ? "" : "initial value, ") << a.first << " .. " << a.last;
  }
};
/// Counts wrong calls, which have an operand that is no item, or items that are not neighbours in order. Also counts
/// calls with an initial value.
struct join_ranges {
  unsigned* wrong_calls;
  unsigned* initial_calls;
  STRATA_HD range operator()(const range& a, const range& b) const {
    const bool is_first = a.what == range::initial;
    const bool is_right = b.what == range::items && (is_first || a.last + 1 == b.first);
#if STRATA_DEVICE_PASS || STRATA_HOST_SIMT
    if (wrong_calls != nullptr && !is_right) atomicAdd(wrong_calls, 1u);
    if (initial_calls != nullptr && is_first) atomicAdd(initial_calls, 1u);
#endif
    return {is_first ? b.first : a.first, is_right ? b.last : -1, a.what | b.what};
  }
};

/// The maximum of two items, whose upper halves are the number of their segment. Counts calls for other values.
/// `operator_traits` says that operands may change places.
struct max_of_segment {
  unsigned* wrong_calls;
  STRATA_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
#if STRATA_DEVICE_PASS || STRATA_HOST_SIMT
    if (a >> 32 != b >> 32) atomicAdd(wrong_calls, 1u);
#endif
    return a < b ? b : a;
  }
};

}  // namespace

template <>
struct strata::operator_traits<max_of_segment, std::uint64_t> : strata::commutative_operator {};

namespace device_test {
template <>
struct scan_items<range> {
  static std::vector<range> make(std::size_t count) {
    std::vector<range> items;
    for (int i = 0; i < static_cast<int>(count); ++i) items.push_back({i, i, range::items});
    return items;
  }
};
}  // namespace device_test

namespace {

TEST(device_segmented_scan, operator_sees_neighbours_of_one_segment) {
  device_vector<unsigned> calls(std::vector<unsigned>{0, 0});
  const join_ranges op{calls.data(), calls.data() + 1};
  const join_ranges uncounted{nullptr, nullptr};
  const range init{0, 0, range::initial};
  expect_scans<false, range>(uncounted, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., op, init);
  });
  expect_scans<true, range>(uncounted, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScanInit(arguments..., op, init);
  });
  expect_scans<true, range>(uncounted, none{}, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., op);
  });
  unsigned segments = 0;
  for (const segment_shape& shape : shapes()) {
    const unsigned calls_of_shape = are_contiguous(shape) ? 4 : 2;  // two scans have initial values
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      segments += shape.ends[s] > shape.begins[s] ? calls_of_shape : 0;
    }
  }
  EXPECT_EQ(0u, calls.to_host()[0]);
  // Contiguous segments are reduced, and then scanned. So an initial value may be combined more than once.
  EXPECT_GE(calls.to_host()[1], segments);
  EXPECT_LE(calls.to_host()[1], 3 * segments);
}

TEST(device_segmented_scan, commutative_operator_of_the_users_sees_items_of_one_segment_only) {
  for (const segment_shape& shape : shapes()) {
    if (!are_contiguous(shape)) continue;
    std::vector<std::uint64_t> items(shape.items());
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      for (offset i = shape.begins[s]; i < shape.ends[s]; ++i) {
        items[static_cast<std::size_t>(i)] = (s + 1) << 32 | static_cast<std::uint64_t>(i);
      }
    }
    const device_vector<std::uint64_t> in(items);
    device_vector<std::uint64_t> out(items.size());
    const device_vector<offset> offsets(in_one_array(shape));
    device_vector<unsigned> wrong_calls(std::vector<unsigned>{0});
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedScan::InclusiveSegmentedScan(storage, bytes, in.data(), out.data(), offsets.data(),
                                                         offsets.data() + 1, shape.segments(),
                                                         max_of_segment{wrong_calls.data()});
    }));
    ASSERT_SAME_ITEMS(items, out.to_host()) << shape;
    EXPECT_EQ(0u, wrong_calls.to_host()[0]) << shape;
  }
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Only the device knows how many items are selected or in a part, and how many runs there are. So in debug builds,
// kernels check that outputs do not reach into inputs, and that counts fit into the type of their output.
#define STRATA_DEBUG 1
#include <strata/device/device_partition.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "support/expect_assertion.cuh"

namespace {

using namespace device_test;

constexpr int n = 300;

struct is_below {
  int end;
  STRATA_HD bool operator()(int item) const { return item < end; }
};

std::vector<int> ascending() {
  std::vector<int> items;
  for (int i = 0; i < n; ++i) items.push_back(i);
  return items;
}

/// Selects `count` items into an array of 10 items. The input begins behind it.
cudaError_t select_into_10(int count) {
  std::vector<int> all(10, -1);
  for (const int item : ascending()) all.push_back(item);
  device_vector<int> memory(all);
  device_vector<int> number(1);
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceSelect::If(storage, bytes, memory.data() + 10, memory.data(), number.data(), n,
                                    is_below{count});
  });
}

TEST(device_select_assertions, outputs_must_not_reach_into_inputs) {
  EXPECT_CUDA_SUCCESS(select_into_10(10));
  strata_test::expect_assertion([] { return select_into_10(11); }, "an output of a selection reaches into an input",
                                true);
}

cudaError_t count_selected_in_a_byte(int count) {
  const device_vector<int> items(ascending());
  device_vector<int> out(n);
  device_vector<std::uint8_t> number(1);
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceSelect::If(storage, bytes, items.data(), out.data(), number.data(), n, is_below{count});
  });
}

TEST(device_select_assertions, numbers_must_fit) {
  EXPECT_CUDA_SUCCESS(count_selected_in_a_byte(255));
  strata_test::expect_assertion([] { return count_selected_in_a_byte(256); },
                                "a count of 256 does not fit the output's type");
}

/// Partitions with an array of 10 items for the rest. The input begins behind it.
cudaError_t partition_rest_into_10(int first, int second) {
  std::vector<int> all(10, -1);
  for (const int item : ascending()) all.push_back(item);
  device_vector<int> memory(all), firsts(n), seconds(n);
  device_vector<std::uint8_t> numbers(2);
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DevicePartition::If(storage, bytes, memory.data() + 10, firsts.data(), seconds.data(), memory.data(),
                                       numbers.data(), n, is_below{first}, is_below{second});
  });
}

TEST(device_select_assertions, parts_must_not_reach_into_inputs) {
  EXPECT_CUDA_SUCCESS(partition_rest_into_10(200, 290));
  strata_test::expect_assertion([] { return partition_rest_into_10(200, 289); },
                                "an output of a partition reaches into an input, with 200 and 89 selected items", true);
}

TEST(device_select_assertions, numbers_of_parts_must_fit) {
  strata_test::expect_assertion([] { return partition_rest_into_10(3, 295); },
                                "a count of 292 does not fit the output's type");
}

/// Finds one run, which begins behind `from` single items. There are `room` items of memory for lengths before the
/// input.
cudaError_t find_run(int from, int room) {
  std::vector<int> all(static_cast<std::size_t>(room), -1);
  for (int i = 0; i < n; ++i) all.push_back(i < from ? i : n);
  device_vector<int> memory(all);
  device_vector<std::uint8_t> offsets(n);
  device_vector<int> number(1);
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, memory.data() + room, offsets.data(),
                                                         memory.data(), number.data(), n);
  });
}

TEST(device_select_assertions, offsets_of_runs_must_fit) {
  EXPECT_CUDA_SUCCESS(find_run(255, 1));
  strata_test::expect_assertion([] { return find_run(256, 1); }, "a count of 256 does not fit the output's type");
}

cudaError_t encode_into(int run, int room) {
  std::vector<int> all(static_cast<std::size_t>(room), -1);
  for (int i = 0; i < n; ++i) all.push_back(i < run ? 0 : i);
  device_vector<int> memory(all);
  device_vector<std::uint8_t> lengths(n);
  device_vector<int> number(1);
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceRunLengthEncode::Encode(storage, bytes, memory.data() + room, memory.data(), lengths.data(),
                                                 number.data(), n);
  });
}

TEST(device_select_assertions, lengths_of_runs_must_fit) {
  EXPECT_CUDA_SUCCESS(encode_into(255, 46));
  strata_test::expect_assertion([] { return encode_into(256, 45); }, "a count of 256 does not fit the output's type");
}

TEST(device_select_assertions, runs_must_not_reach_into_inputs) {
  strata_test::expect_assertion([] { return encode_into(255, 45); },
                                "an output of a reduction by key reaches into an input", true);
}

}  // namespace

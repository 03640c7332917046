// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests every device call against the table "Arguments" of include/strata/README.md. A source that includes this file
// instantiates DeviceArguments with lists of calls from device_calls.cuh. Before that it defines STRATA_DEBUG_LOG as 1,
// because refused calls must be logged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "device/device_calls.cuh"
#include "support/debug_log.hpp"

namespace device_arguments_test {

using namespace device_calls;

class DeviceArguments : public ::testing::TestWithParam<device_call> {
 protected:
  static const device_call& c() { return GetParam(); }
  static std::string function() { return "strata::" + c().call.function(); }

  static std::size_t storage_bytes(const std::vector<i64>& counts) {
    arguments a = scene::without_arrays(c());
    a.counts = counts;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(c().call(nullptr, bytes, a, nullptr));
    EXPECT_GT(bytes, 0u);
    return bytes;
  }
  static std::size_t storage_bytes() { return storage_bytes(c().counts); }

  /// Makes the call with the arrays at `a` and returns what it writes.
  static std::vector<unsigned char> run(scene& memory, const arguments& a, std::size_t misalignment = 0) {
    memory.reset(a);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) { return c().call(temp, bytes, a, nullptr); },
                                      contents::random, misalignment));
    return memory.written(a);
  }

  /// Expects that a call is refused, logs one reason, launches nothing and writes no byte.
  void expect_refused(scene& memory, const arguments& a, const scratch& storage, std::size_t bytes) {
    const std::vector<unsigned char> before = memory.read();
    std::size_t given = bytes;
    const graph recorded([&](cudaStream_t on) { return c().call(storage.data(), given, a, on); });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    strata_test::expect_refusal(log_, function());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    // If the call was not refused, it must not run: it would write outside of its arrays.
    if (recorded.status() == cudaErrorInvalidValue) {
      EXPECT_EQ(cudaErrorInvalidValue, c().call(storage.data(), given, a, nullptr));
      strata_test::expect_refusal(log_, function());
    }
    EXPECT_EQ(bytes, given);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_TRUE(before == memory.read()) << "memory was written";
  }
  void expect_refused(scene& memory, const arguments& a, const scratch& storage) {
    expect_refused(memory, a, storage, storage.bytes());
  }
  void TearDown() override { EXPECT_EQ(std::vector<std::string>{}, log_.take_refusals()) << "unexpected refusals"; }

  strata_test::debug_log log_;
};

inline constexpr i64 bad_counts[] = {-1, std::numeric_limits<i64>::lowest()};

// ------------------------------------------------------------------ size queries and counts

TEST_P(DeviceArguments, size_query_looks_at_no_pointers_and_launches_nothing) {
  scene memory(c());
  const arguments a = memory.of_call();
  memory.reset(a);
  const std::vector<unsigned char> before = memory.read();
  // The size is asked for before the capture: the first call on a join table builds the table, which cannot be
  // captured.
  const std::size_t expected = storage_bytes();
  std::size_t bytes = 0;
  const graph recorded([&](cudaStream_t on) { return c().call(nullptr, bytes, a, on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
  EXPECT_EQ(expected, bytes);
  // All arrays are at one address, which a call would refuse. A size query does not look at addresses.
  arguments same = a;
  std::fill(same.arrays.begin(), same.arrays.end(), a.arrays[0]);
  EXPECT_CUDA_SUCCESS(c().call(nullptr, bytes, same, nullptr));
  EXPECT_EQ(expected, bytes);
  EXPECT_TRUE(before == memory.read());
}

TEST_P(DeviceArguments, bad_counts_are_refused_in_size_queries_too) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for (std::size_t i = 0; i < c().counts.size(); ++i) {
    for (const i64 bad : bad_counts) {
      SCOPED_TRACE(testing::Message() << "count " << i << " is " << bad);
      arguments none = scene::without_arrays(c());
      none.counts[i] = bad;
      std::size_t bytes = 12345;
      EXPECT_EQ(cudaErrorInvalidValue, c().call(nullptr, bytes, none, nullptr));
      strata_test::expect_refusal(log_, function());
      EXPECT_EQ(12345u, bytes);
      arguments a = memory.of_call();
      memory.reset(a);
      a.counts[i] = bad;
      expect_refused(memory, a, storage);
    }
  }
}

// ------------------------------------------------------------------ temporary storage

TEST_P(DeviceArguments, storage_that_is_one_byte_too_small_is_refused) {
  scene memory(c());
  for (const std::vector<i64>& counts : {c().counts, std::vector<i64>(c().counts.size(), 0)}) {
    arguments a = memory.of_call();
    a.counts = counts;
    memory.reset(a);
    const scratch storage(storage_bytes(counts));
    const std::vector<unsigned char> before = storage.read();
    expect_refused(memory, a, storage, storage.bytes() - 1);
    expect_refused(memory, a, storage, 0);
    EXPECT_EQ(before, storage.read());
  }
}

TEST_P(DeviceArguments, storage_may_have_any_alignment) {
  scene memory(c());
  const arguments a = memory.of_call();
  const std::vector<unsigned char> expected = run(memory, a);
  for (const std::size_t misalignment : sizes{1, 8, 255}) {
    EXPECT_EQ(expected, run(memory, a, misalignment)) << misalignment;
  }
}

// ------------------------------------------------------------------ pointers

TEST_P(DeviceArguments, null_pointers_are_refused) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "array " << i);
    arguments a = memory.of_call();
    memory.reset(a);
    a.arrays[i] = nullptr;
    expect_refused(memory, a, storage);
  }
}

TEST_P(DeviceArguments, nothing_needs_no_arrays_but_those_of_single_results) {
  scene memory(c());
  const std::vector<i64> zeros(c().counts.size(), 0);
  arguments a = memory.of_call();
  memory.reset(a);
  a.counts = zeros;
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    if (c().arrays[i].is != role::result) a.arrays[i] = nullptr;
  }
  const scratch storage(storage_bytes(zeros));
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    if (c().arrays[i].is != role::result) continue;
    arguments without = a;
    without.arrays[i] = nullptr;
    expect_refused(memory, without, storage);
  }
  const bool has_results =
      std::any_of(c().arrays.begin(), c().arrays.end(), [](const array& each) { return each.is == role::result; });
  const std::vector<unsigned char> before = memory.read();
  std::size_t bytes = storage.bytes();
  EXPECT_CUDA_SUCCESS(c().call(storage.data(), bytes, a, nullptr));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(has_results, before != memory.read());
}

// ------------------------------------------------------------------ common memory

/// Places every written array at each edge of every other array, and calls `judge(placed, is_refused, is_same)` each
/// time.
template <class Judge>
void for_each_overlap(const device_call& call, const scene& memory, const Judge& judge) {
  const arguments home = memory.of_call();
  for (std::size_t o = 0; o < call.arrays.size(); ++o) {
    const array& out = call.arrays[o];
    if (!out.is_written()) continue;
    for (std::size_t i = 0; i < call.arrays.size(); ++i) {
      const array& other = call.arrays[i];
      const auto index = static_cast<int>(i);
      if (i == o || out.may_overlap_array(index)) continue;
      // Overlaps in the first bytes, overlaps in the last bytes that the host knows of, and arrays side by side. All
      // distances are multiples of 8 bytes, so the arrays stay aligned.
      const auto known = [&](const array& each) {
        const std::size_t bytes = out.first_items_with == index ? each.item_bytes : each.known_bytes();
        return static_cast<std::ptrdiff_t>((bytes + 7) / 8 * 8);
      };
      const auto whole = [](const array& each) { return static_cast<std::ptrdiff_t>((each.bytes() + 7) / 8 * 8); };
      const std::ptrdiff_t same = 0, last_of_other = known(other) - 8, last_of_out = 8 - known(out);
      const std::ptrdiff_t behind = whole(other), before = -whole(out);
      for (const std::ptrdiff_t distance : {same, last_of_other, last_of_out, behind, before}) {
        SCOPED_TRACE(testing::Message() << "array " << o << " begins " << distance << " bytes after array " << i);
        arguments placed = home;
        placed.arrays[o] = home.arrays[i] + distance;
        const bool is_same = distance == 0 && out.may_be_array(index);
        const bool is_apart = distance == behind || distance == before;
        judge(placed, !is_same && !is_apart, is_same);
      }
    }
  }
}

TEST_P(DeviceArguments, overlaps_are_refused) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for_each_overlap(c(), memory, [&](const arguments& placed, bool is_refused, bool) {
    if (!is_refused) return;
    memory.reset(memory.of_call());
    expect_refused(memory, placed, storage);
  });
}

TEST_P(DeviceArguments, arrays_side_by_side_and_in_place_are_allowed) {
  scene memory(c());
  const std::vector<unsigned char> expected = run(memory, memory.of_call());
  for_each_overlap(c(), memory, [&](const arguments& placed, bool is_refused, bool is_same) {
    if (is_refused) return;
    const std::vector<unsigned char> written = run(memory, placed);
    // Data that are placed on the flags have other contents, so the result differs.
    if (is_same && c().arrays[0].is == role::in_place) return;
    EXPECT_TRUE(expected == written);
  });
}

// ------------------------------------------------------------------ types of counts

/// Expects that two lists of the same calls, which differ in the type of their counts, have the same results.
inline void expect_same_results(const std::vector<device_call>& expected, const std::vector<device_call>& other) {
  ASSERT_EQ(expected.size(), other.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].call.text);
    std::vector<unsigned char> written[2];
    for (const device_call* call : {&expected[i], &other[i]}) {
      scene memory(*call);
      const arguments a = memory.of_call();
      memory.reset(a);
      EXPECT_CUDA_SUCCESS(
          in_two_phases([&](void* temp, std::size_t& bytes) { return call->call(temp, bytes, a, nullptr); }));
      written[call == &other[i]] = memory.written(a);
    }
    EXPECT_TRUE(written[0] == written[1]);
  }
}

}  // namespace device_arguments_test

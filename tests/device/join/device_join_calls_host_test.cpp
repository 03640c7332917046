// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Joins on the host's threads: debug builds say why a call is refused, and a stream may be a class.
#define STRATA_DEBUG_LOG 1
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/debug_log.hpp"
#include "support/stream_classes.hpp"

namespace {

using strata::DeviceHashJoin;
using strata::join_count;
using strata::join_pairs;
using strata::join_side;
using Table = strata::JoinTable<int>;

struct join_calls : testing::Test {
  int keys[4] = {1, 2, 3, 4};
  int more_keys[3] = {4, 2, 9};
  int build_out[3] = {}, probe_out[3] = {};
  std::int64_t count = 0;
  std::vector<unsigned char> memory = std::vector<unsigned char>(1 << 16);
};

struct join_refusals : join_calls {
  /// Expects that `call()` is refused and the log says why.
  template <class Call>
  void expect_refusal(const char* name, const std::string& reason, const Call& call) {
    SCOPED_TRACE(reason);
    strata_test::debug_log log;
    EXPECT_EQ(cudaErrorInvalidValue, call());
    EXPECT_EQ(std::vector<std::string>{"strata::" + std::string(name) + ": " + reason}, log.take_refusals());
  }
};

TEST_F(join_refusals, of_joins_say_why) {
  const auto build = join_side(keys, 4), none = join_side(static_cast<int*>(nullptr), 4), bad = join_side(keys, -1);
  const auto probe = join_side(more_keys, 3);
  const char* const inner = "DeviceHashJoin::Inner";
  expect_refusal(inner, "d_num_out is null",
                 [&] { return DeviceHashJoin::Inner(build, probe, join_count(), nullptr); });
  expect_refusal(inner, "the array of build keys is null",
                 [&] { return DeviceHashJoin::Inner(none, probe, join_count(), &count); });
  expect_refusal(inner, "the number of rows of a side is negative or more than the type of row numbers can represent",
                 [&] { return DeviceHashJoin::Inner(bad, probe, join_count(), &count); });
  expect_refusal(inner, "the output's capacity is negative or larger than 2^63 - 1",
                 [&] { return DeviceHashJoin::Inner(build, probe, join_pairs(build_out, probe_out, -1), &count); });
  expect_refusal(inner, "d_build_out overlaps the array of probe keys",
                 [&] { return DeviceHashJoin::Inner(build, probe, join_pairs(more_keys, probe_out, 3), &count); });
  expect_refusal("DeviceHashJoin::Semi", "d_probe_out is null", [&] {
    return DeviceHashJoin::Semi(build, probe, join_pairs(build_out, static_cast<int*>(nullptr), 3), &count);
  });
  expect_refusal(inner, "options.strategy is not a strategy of this back end", [&] {
    strata::JoinOptions<> options;
    options.strategy = strata::JoinStrategy::radix_multi;
    return DeviceHashJoin::Inner(build, probe, join_count(), &count, options);
  });
  expect_refusal(inner, "temp_storage_bytes is less than what the size query said", [&] {
    std::size_t bytes = 1;
    return DeviceHashJoin::Inner(memory.data(), bytes, build, probe, join_count(), &count);
  });
}

TEST_F(join_refusals, of_tables_say_why) {
  const auto build = join_side(keys, 4);
  const auto probe = join_side(more_keys, 3);
  Table table(memory.data(), memory.size(), build), small(memory.data(), 1, build), nowhere(nullptr, 0, build);
  expect_refusal("JoinTable::MemoryBytes",
                 "the number of build rows is negative or more than the type of row numbers can represent", [&] {
                   std::size_t bytes = 0;
                   return Table::MemoryBytes(join_side(keys, -1), bytes);
                 });
  expect_refusal("JoinTable::Insert", "the table has not been built", [&] { return table.Insert(1); });
  expect_refusal("JoinTable::Inner", "the table has not been built",
                 [&] { return table.Inner(probe, join_count(), &count); });
  expect_refusal("JoinTable::Build", "rows is more than the number of build rows that are left",
                 [&] { return table.Build(5); });
  expect_refusal("JoinTable::Build", "rows is negative", [&] { return table.Build(-1); });
  expect_refusal("JoinTable::Build", "memory_bytes is less than what MemoryBytes said", [&] { return small.Build(4); });
  expect_refusal("JoinTable::Build", "d_memory is null", [&] { return nowhere.Build(4); });
  ASSERT_EQ(cudaSuccess, table.Build(4));
  expect_refusal("JoinTable::Anti", "d_num_out is null", [&] { return table.Anti(probe, join_count(), nullptr); });
}

template <class Stream>
struct join_on : join_calls {};
using streams = testing::Types<strata_test::stream_view, strata_test::pool_stream, strata_test::stream_ref>;
TYPED_TEST_SUITE(join_on, streams);

struct heap {
  int in_use = 0;
  void* allocate(std::size_t bytes, cudaStream_t) { return ++in_use, ::operator new(bytes); }
  void deallocate(void* memory, std::size_t, cudaStream_t) { --in_use, ::operator delete(memory); }
};

TYPED_TEST(join_on, streams_that_are_classes) {
  const TypeParam where(cudaStream_t{});
  const auto build = join_side(this->keys, 4);
  const auto probe = join_side(this->more_keys, 3);
  const strata::JoinOptions<> options;
  const auto expect_two = [&](cudaError_t status) {
    EXPECT_EQ(cudaSuccess, status);
    EXPECT_EQ(2, this->count);
    this->count = 0;
  };
  heap heap_memory;
  std::size_t bytes = this->memory.size();
  void* const storage = this->memory.data();
  expect_two(DeviceHashJoin::Inner(storage, bytes, build, probe, join_count(), &this->count, options, where));
  expect_two(DeviceHashJoin::Inner(build, probe, join_count(), &this->count, options, where));
  expect_two(
      DeviceHashJoin::Inner(build, probe, join_count(), &this->count, options, strata::execution(where, heap_memory)));
  std::vector<unsigned char> table_memory(1 << 16);
  Table table(table_memory.data(), table_memory.size(), build);
  ASSERT_EQ(cudaSuccess, table.Build(3, where));
  ASSERT_EQ(cudaSuccess, table.Insert(1, where));
  expect_two(table.Inner(storage, bytes, probe, join_count(), &this->count, where));
  expect_two(table.Inner(probe, join_count(), &this->count, where));
  expect_two(table.Inner(probe, join_count(), &this->count, strata::execution(where, heap_memory)));
  EXPECT_EQ(0, heap_memory.in_use);
}

}  // namespace

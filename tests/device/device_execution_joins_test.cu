// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of joins without temporary storage.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/execution_forms.cuh"

namespace device_execution_test {

using strata::DeviceHashJoin;

// In the order of the probe rows, results are the same in each call.
TEST(device_execution_joins, all_forms_agree) {
  arrays all;
  const item* const keys = all.keys.data();
  const item* const probe_keys = all.values.data();
  const auto build = strata::join_side(keys, 20);
  const auto probe = strata::join_side(probe_keys, num_items);
  const auto pairs = strata::join_pairs(all.keys_out.data(), all.values_out.data(), num_items);
  std::int64_t* const count = all.count.data();
  const strata::OrderedJoinOptions<> options;
  EXPECT_ALL_FORMS(DeviceHashJoin::Inner, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Left, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Full, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Semi, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Anti, build, probe, pairs, count, options);

  using Table = strata::JoinTable<item, item, strata::JoinHash, strata::Equality, strata::JoinOrder::probe>;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build, bytes));
  const scratch table_memory(bytes);
  Table table(table_memory.data(), bytes, build);
  all.reset();  // to have keys to build from, which are the same afterwards
  ASSERT_CUDA_SUCCESS(table.Build(20));
  EXPECT_ALL_FORMS(table.Inner, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Left, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Full, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Semi, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Anti, probe, pairs, count);
}

namespace {

// What a table is built on, and what it is extended on. In an unnamed namespace, because the lambda captures a table,
// whose type has hidden visibility.
template <class Stream>
void expect_table_on() {
  using Table = strata::JoinTable<item, item>;
  const device_vector<item> keys(std::vector<item>{5, 6, 7, 8});
  device_vector<std::int64_t> count(1);
  const auto build = strata::join_side(keys.data(), 4);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build, bytes));
  const scratch memory(bytes);
  Table table(memory.data(), bytes, build);
  graph recorded([&](cudaStream_t on) {
    EXPECT_CUDA_SUCCESS(table.Build(3, Stream(on)));
    EXPECT_CUDA_SUCCESS(table.Insert(1, Stream(on)));
    return table.Inner(strata::join_side(keys.data(), 4), strata::join_count(), count.data(), Stream(on));
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  EXPECT_EQ(4, count.to_host()[0]);
}

}  // namespace

TEST(device_execution_joins, tables_are_built_on_streams_that_are_classes) {
  expect_table_on<strata_test::stream_view>();
  expect_table_on<strata_test::pool_stream>();
  expect_table_on<strata_test::stream_ref>();
}

}  // namespace device_execution_test

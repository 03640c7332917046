// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all forms of calls of joins: see execution_forms.cuh.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/execution_forms.cuh"

namespace device_calls {

INSTANTIATE_TEST_SUITE_P(joins, DeviceExecution, ::testing::ValuesIn(joined({joins<std::size_t, all_forms>()})),
                         test_name);

namespace {

// Builds a table, extends it and joins with it on a stream of class `Stream`. In an unnamed namespace, because the
// lambda captures a table, whose type has hidden visibility.
template <class Stream>
void expect_table_on() {
  using Table = strata::JoinTable<u32, u32>;
  const device_vector<u32> keys(std::vector<u32>{5, 6, 7, 8});
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

TEST(device_execution, tables_are_built_on_streams_that_are_classes) {
  expect_table_on<strata_test::stream_view>();
  expect_table_on<strata_test::pool_stream>();
  expect_table_on<strata_test::stream_ref>();
}

}  // namespace device_calls

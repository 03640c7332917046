// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of joins without temporary storage.

#include <cstddef>
#include <cstdint>

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

}  // namespace device_execution_test

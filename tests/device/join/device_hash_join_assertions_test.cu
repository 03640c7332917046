// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Debug builds check the promises that the keys of build rows are unique, and that rows ascend.
#define STRATA_DEBUG 1
#include "device/join/device_hash_join_support.cuh"

#include "support/expect_assertion.cuh"

#include <numeric>
#include <utility>

namespace {

using namespace device_join_test;

/// With `has_mask`, a mask of nulls says that all rows have keys. Fewer methods may then join them.
cudaError_t join_promised(const std::vector<std::uint32_t>& build_keys, const std::vector<std::uint32_t>& probe_keys,
                          join_settings<> options, JoinKind kind = JoinKind::left, bool has_mask = false) {
  const device_vector<std::uint32_t> build(build_keys);
  const device_vector<std::uint32_t> probe(probe_keys);
  const device_vector<std::uint32_t> all_valid(std::vector<std::uint32_t>(build_keys.size() / 32 + 1, ~0u));
  if (has_mask) options.build_valid = all_valid.data();
  const auto build_rows = static_cast<std::int64_t>(build_keys.size());
  const auto probe_rows = static_cast<std::int64_t>(probe_keys.size());
  device_vector<std::int32_t> build_out(probe_keys.size());
  device_vector<std::int32_t> probe_out(probe_keys.size());
  device_vector<std::int64_t> total(1);
  const auto call = [&](void* storage, std::size_t& bytes) {
    return pairs_of(kind, storage, bytes, build.data(), build_rows, probe.data(), probe_rows, build_out.data(),
                    probe_out.data(), total.data(), probe_rows, options);
  };
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(nullptr, bytes));
  const scratch storage(bytes);
  const cudaError_t status = call(storage.data(), bytes);
  return status != cudaSuccess ? status : cudaDeviceSynchronize();
}

void expect_unique_is_checked(const std::vector<std::uint32_t>& broken, const join_settings<>& options, JoinKind kind,
                              bool has_mask) {
  SCOPED_TRACE(testing::Message() << "strategy " << static_cast<int>(options.strategy) << ", kind "
                                  << static_cast<int>(kind) << ", with a mask " << has_mask);
  strata_test::expect_assertion([&] { return join_promised(broken, broken, options, kind, has_mask); },
                                "JoinSide::unique was promised");
}

// Joins by one table, in the shared memory of a block or in global memory, and joins by partitions check the promise.
TEST(device_hash_join_assertions, promise_of_unique_build_rows_is_checked) {
  std::vector<std::uint32_t> keys = shuffled_ids(100, 5);
  std::vector<std::uint32_t> broken = keys;
  broken[70] = broken[20];
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
      for (const bool has_mask : {false, true}) {
        if (has_mask && kind != JoinKind::left) continue;
        join_settings<> options;
        options.build_unique = true;
        options.strategy = strategy;
        EXPECT_CUDA_SUCCESS(join_promised(keys, keys, options, kind, has_mask));
        expect_unique_is_checked(broken, options, kind, has_mask);
      }
    }
  }
}

// 1,000 rows of one key are more than a bucket has, so another kernel joins them. 5,000 rows are more than the table of
// a partition holds, so they are left to the table in global memory.
TEST(device_hash_join_assertions, promise_of_unique_rows_that_overflow_is_checked) {
  join_settings<> options;
  options.build_unique = true;
  options.strategy = JoinStrategy::radix_single;
  for (const std::size_t rows : {std::size_t{1000}, std::size_t{5000}}) {
    expect_unique_is_checked(std::vector<std::uint32_t>(rows, 77), options, JoinKind::inner, false);
  }
}

TEST(device_hash_join_assertions, promise_of_unique_rows_of_a_table_is_checked) {
  std::vector<std::uint32_t> keys = shuffled_ids(100, 5);
  keys[70] = keys[20];
  const device_vector<std::uint32_t> build(keys);
  const auto side = strata::join_side(build.data(), 100).unique();
  using Table = strata::JoinTable<std::uint32_t>;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(side, bytes));
  const scratch memory(bytes);
  Table table(memory.data(), bytes, side);
  EXPECT_CUDA_SUCCESS(table.Build(70));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  strata_test::expect_assertion(
      [&] {
        const cudaError_t status = table.Insert(1);
        return status != cudaSuccess ? status : cudaDeviceSynchronize();
      },
      "JoinSide::unique was promised");
}

TEST(device_hash_join_assertions, promise_of_unique_build_rows_in_order_is_checked) {
  std::vector<std::uint32_t> keys(100);
  std::iota(keys.begin(), keys.end(), 5u);
  join_settings<> options;
  options.sorted = true;
  options.build_unique = true;
  EXPECT_CUDA_SUCCESS(join_promised(keys, keys, options));
  keys[70] = keys[69];
  strata_test::expect_assertion([&] { return join_promised(keys, keys, options); }, "JoinSide::unique was promised");
}

TEST(device_hash_join_assertions, promise_of_unique_build_rows_in_a_range_is_checked) {
  std::vector<std::uint32_t> keys = shuffled_ids(1u << 14, 5);
  join_settings<> options;
  options.key_range = {5, 1u << 14};
  options.build_unique = true;
  EXPECT_CUDA_SUCCESS(join_promised(keys, keys, options));
  keys[70] = keys[20];
  strata_test::expect_assertion([&] { return join_promised(keys, keys, options); }, "JoinSide::unique was promised");
}

// Two neighbours are exchanged in many places of a side, also at the ends of tiles.
TEST(device_hash_join_assertions, promise_of_ascending_rows_is_checked) {
  std::vector<std::uint32_t> keys(9000);
  std::iota(keys.begin(), keys.end(), 5u);
  join_settings<> options;
  options.sorted = true;
  EXPECT_CUDA_SUCCESS(join_promised(keys, keys, options));
  const std::size_t step = STRATA_HOST_SIMT && !is_small() ? 511 : 4001;
  for (std::size_t at = 0; at + 1 < keys.size(); at += step) {
    std::vector<std::uint32_t> broken = keys;
    std::swap(broken[at], broken[at + 1]);
    strata_test::expect_assertion([&] { return join_promised(broken, keys, options); },
                                  "JoinSide::sorted was promised");
    strata_test::expect_assertion([&] { return join_promised(keys, broken, options); },
                                  "JoinSide::sorted was promised");
  }
}

}  // namespace

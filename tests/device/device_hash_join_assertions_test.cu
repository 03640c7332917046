// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Debug builds check the promises that the keys of build rows are unique, and that rows ascend.
#define STRATA_DEBUG 1
#include "device/device_hash_join_support.cuh"

#include "support/expect_assertion.cuh"

#include <numeric>
#include <utility>

namespace {

using namespace device_join_test;

cudaError_t join_promised(const std::vector<std::uint32_t>& build_keys, const std::vector<std::uint32_t>& probe_keys,
                          const join_settings<>& options) {
  const device_vector<std::uint32_t> build(build_keys);
  const device_vector<std::uint32_t> probe(probe_keys);
  const auto build_rows = static_cast<std::int64_t>(build_keys.size());
  const auto probe_rows = static_cast<std::int64_t>(probe_keys.size());
  device_vector<std::int32_t> build_out(probe_keys.size());
  device_vector<std::int32_t> probe_out(probe_keys.size());
  device_vector<std::int64_t> total(1);
  const auto call = [&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(
        storage, bytes, options.build_side(build.data(), build_rows), options.probe_side(probe.data(), probe_rows),
        strata::join_pairs(build_out.data(), probe_out.data(), probe_rows), total.data(), options);
  };
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(nullptr, bytes));
  const scratch storage(bytes);
  const cudaError_t status = call(storage.data(), bytes);
  return status != cudaSuccess ? status : cudaDeviceSynchronize();
}

TEST(device_hash_join_assertions, promise_of_unique_build_rows_is_checked) {
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single}) {
    std::vector<std::uint32_t> keys = shuffled_ids(100, 5);
    join_settings<> options;
    options.build_unique = true;
    options.strategy = strategy;
    EXPECT_CUDA_SUCCESS(join_promised(keys, keys, options));
    keys[70] = keys[20];
    strata_test::expect_assertion([&] { return join_promised(keys, keys, options); }, "JoinSide::unique was promised");
  }
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

// Wherever in a side two rows are exchanged, at the ends of tiles too.
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

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Debug builds check the promise that the keys of build rows are unique.
#define STRATA_DEBUG 1
#include "device/device_hash_join_support.cuh"

#include "support/expect_assertion.cuh"

namespace {

using namespace device_join_test;

cudaError_t join_promised(const std::vector<std::uint32_t>& keys, JoinStrategy strategy) {
  const device_vector<std::uint32_t> build(keys);
  device_vector<std::int32_t> build_out(keys.size());
  device_vector<std::int32_t> probe_out(keys.size());
  device_vector<std::int64_t> total(1);
  JoinOptions<> options;
  options.build_unique = true;
  options.strategy = strategy;
  const auto rows = static_cast<std::int64_t>(keys.size());
  const auto call = [&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::LeftPairs(storage, bytes, build.data(), rows, build.data(), rows,
                                     build_out.data(), probe_out.data(), total.data(), rows,
                                     options);
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
    EXPECT_CUDA_SUCCESS(join_promised(keys, strategy));
    keys[70] = keys[20];
    strata_test::expect_assertion([&] { return join_promised(keys, strategy); },
                                  "JoinOptions::build_unique was promised");
  }
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/platform/bulk_copy.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;
namespace platform = strata::platform;

constexpr unsigned stages = 3;
constexpr unsigned stage_items = 256;
constexpr unsigned worker_warps = 2;

/// Stages in a circle: one warp fetches into a stage, the other warps multiply its items in place and hand it back.
STRATA_KERNEL void through_a_ring(const int* in, int* out, unsigned rounds) {
  struct storage {
    alignas(16) int items[stages][stage_items];
    platform::mbarrier full[stages], empty[stages];
  };
  STRATA_SHARED(shared, storage);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < stages; ++s) {
      shared.full[s].init(1);
      shared.empty[s].init(worker_warps * 32);
    }
    platform::fence_mbarrier_init();
  }
  __syncthreads();
  if constexpr (platform::has_bulk_copies) {
    if (warp == worker_warps) {
      if (threadIdx.x % 32 != 0) return;
      for (unsigned k = 0; k < rounds; ++k) {
        const unsigned s = k % stages;
        if (k >= stages) shared.empty[s].wait((k / stages - 1) % 2);
        // The last round has four items less, to test another size.
        const unsigned bytes = (stage_items - (k + 1 == rounds ? 4 : 0)) * 4;
        shared.full[s].arrive_and_expect(bytes);
        shared.full[s].copy(shared.items[s], in + k * stage_items, bytes);
      }
      return;
    }
    for (unsigned k = 0; k < rounds; ++k) {
      const unsigned s = k % stages;
      const unsigned count = stage_items - (k + 1 == rounds ? 4 : 0);
      shared.full[s].wait(k / stages % 2);
      for (unsigned i = threadIdx.x; i < count; i += worker_warps * 32) {
        shared.items[s][i] *= 3;
        out[k * stage_items + i] = shared.items[s][i];
      }
      platform::fence_before_bulk_copy();
      shared.empty[s].arrive();
    }
  }
}

TEST(bulk_copies, go_through_a_ring_of_stages) {
  strata::detail::device_properties properties;
  ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(properties));
  if (properties.ptx_version < 900) GTEST_SKIP() << "no bulk copies on this device";
  for (const unsigned rounds : {1u, 2u, 3u, 4u, 11u}) {
    std::vector<int> items(rounds * stage_items);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
    const device_vector<int> in(items);
    device_vector<int> out(std::vector<int>(items.size(), -1));
    ASSERT_CUDA_SUCCESS(
        strata::launch({"through_a_ring", 1, (worker_warps + 1) * 32}, through_a_ring, in.data(), out.data(), rounds));
    const std::vector<int> results = out.to_host();
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(results[i], i + 4 < items.size() ? 3 * static_cast<int>(i) : -1) << i;
    }
  }
}

}  // namespace

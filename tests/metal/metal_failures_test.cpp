// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each message that Metal may answer with nil does so once, and each dispatch faults once. The join must return an
// error and leak nothing, and the next join must succeed.
#include "metal/double/metal_double.hpp"
#include "metal/metal_join_support.hpp"

namespace {

using namespace metal_test;
using metal_double::options;

struct failure {
  const char* selector;
  MetalJoinStatus status;
  bool aligned = true;
};

class MetalFailures : public testing::TestWithParam<failure> {
 protected:
  static void SetUpTestSuite() { std::printf("device: %s\n", device_name().c_str()); }

  const side_ids build_ = random_side(300, 200, 1);
  const side_ids probe_ = random_side(500, 250, 2);
  const std::int64_t total_ = static_cast<std::int64_t>(sort_merge_join(JoinKind::left, build_, probe_).size());

  join_result join(JoinStrategy strategy, bool aligned) const {
    MetalJoinOptions how;
    how.strategy = strategy;
    how.metal = tiny_tuning();
    // Few rows and dispatches, so that each dispatch can be tried.
    how.metal.dispatch_pairs = 1u << 20;
    how.metal.tasks = 500;
    return call_join<std::uint32_t, std::int32_t>(JoinKind::left, build_, probe_, total_, how, aligned);
  }
  void expect_success(JoinStrategy strategy, bool aligned) const {
    const join_result got = join(strategy, aligned);
    EXPECT_EQ(got.status, MetalJoinStatus::success);
    EXPECT_EQ(got.total, total_);
    EXPECT_TRUE(got.kept_bounds);
    EXPECT_EQ(got.pairs.size(), static_cast<std::size_t>(total_));
  }
  static void expect_no_leak() {
    context_list::of_process().clear();
    EXPECT_EQ(metal_double::live_objects(), 0) << "leaked: " << metal_double::live_report();
  }
};

TEST_P(MetalFailures, is_reported_and_forgotten) {
  const failure& f = GetParam();
  for (const JoinStrategy strategy : gpu_strategies) {
    unsigned long k = 1;
    for (;; ++k) {
      expect_no_leak();
      options().fail_selector = f.selector;
      options().fail_at = k;
      options().failures = 0;
      const join_result got = join(strategy, f.aligned);
      options().fail_selector.clear();
      if (options().failures == 0) break;
      EXPECT_EQ(got.status, f.status) << f.selector << ", call " << k;
      if (f.status == MetalJoinStatus::success) {
        EXPECT_EQ(got.total, total_);
        EXPECT_EQ(got.pairs.size(), static_cast<std::size_t>(total_));
      } else {
        EXPECT_EQ(got.total, -1);
        EXPECT_STRNE(strata::metal_join_error_text(), "");
      }
      EXPECT_TRUE(got.kept_bounds);
      expect_success(strategy, f.aligned);
    }
    EXPECT_GT(k, 1u) << f.selector << " was never sent";
  }
  expect_no_leak();
}

INSTANTIATE_TEST_SUITE_P(
    each_message, MetalFailures,
    testing::Values(failure{"newCommandQueue", MetalJoinStatus::out_of_memory},
                    failure{"newBufferWithLength:options:", MetalJoinStatus::out_of_memory, false},
                    failure{"newBufferWithBytesNoCopy:length:options:deallocator:", MetalJoinStatus::success},
                    failure{"newLibraryWithSource:options:error:", MetalJoinStatus::invalid_source},
                    failure{"newFunctionWithName:", MetalJoinStatus::no_function},
                    failure{"newComputePipelineStateWithFunction:error:", MetalJoinStatus::no_function},
                    failure{"commandBuffer", MetalJoinStatus::out_of_memory},
                    failure{"computeCommandEncoder", MetalJoinStatus::out_of_memory}));

using MetalFaults = MetalFailures;
TEST_F(MetalFaults, a_fault_in_any_dispatch_is_reported) {
  for (const JoinStrategy strategy : gpu_strategies) {
    unsigned long k = 1;
    for (;; ++k) {
      options().fault_at = k;
      options().failures = 0;
      const join_result got = join(strategy, true);
      options().fault_at = 0;
      if (options().failures == 0) break;
      EXPECT_EQ(got.status, MetalJoinStatus::launch_failure) << "dispatch " << k;
      EXPECT_STREQ(strata::metal_join_error_text(), "the GPU stopped with an error: injected fault");
      EXPECT_TRUE(got.kept_bounds);
      expect_success(strategy, true);
    }
    EXPECT_GT(k, 4u);
  }
  expect_no_leak();
}

TEST_F(MetalFaults, a_text_that_does_not_compile_says_where) {
  expect_no_leak();
  options().rewrite = [](std::string text) {
    const std::string was = "const uint lower_digits =";
    return text.replace(text.find(was), was.size(), "nonsense lower_digits =");
  };
  const join_result got = join(JoinStrategy::radix_single, true);
  options().rewrite = nullptr;
  EXPECT_EQ(got.status, MetalJoinStatus::invalid_source);
  const std::string text = strata::metal_join_error_text();
  EXPECT_NE(text.find("nonsense"), std::string::npos) << text;
  EXPECT_NE(text.find("radix.metal.inl:112:"), std::string::npos) << text;
  expect_no_leak();
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// nvcc names the architectures that it compiles for; the host back end has none. There, a list of
// four stands for them, so that pruning is tested whatever nvcc's list is.
#if !defined(__CUDACC__)
#define __CUDA_ARCH_LIST__ 750, 860, 900, 1000
#endif

#include <strata/core/chained_policy.hpp>
#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "support/test_support.cuh"

namespace chained_policy_test {

using strata::ChainedPolicy;
using strata_test::device_vector;

struct hub {
  struct policy500 : ChainedPolicy<500, policy500, policy500> {};
  struct policy600 : ChainedPolicy<600, policy600, policy500> {};
  struct policy800 : ChainedPolicy<800, policy800, policy600> {};
  struct policy860 : ChainedPolicy<860, policy860, policy800> {};
  struct policy890 : ChainedPolicy<890, policy890, policy860> {};
  struct policy900 : ChainedPolicy<900, policy900, policy890> {};
  struct policy950 : ChainedPolicy<950, policy950, policy900> {};
  struct policy1000 : ChainedPolicy<1000, policy1000, policy950> {};
  struct policy1300 : ChainedPolicy<1300, policy1300, policy1000> {};
  using MaxPolicy = policy1300;
};
const std::vector<int> hub_versions = {500, 600, 800, 860, 890, 900, 950, 1000, 1300};

struct one_policy_hub {
  struct policy700 : ChainedPolicy<700, policy700, policy700> {};
  using MaxPolicy = policy700;
};

struct future_hub {
  struct policy3000 : ChainedPolicy<3000, policy3000, policy3000> {};
  struct policy4000 : ChainedPolicy<4000, policy4000, policy3000> {};
  using MaxPolicy = policy4000;
};

struct version_of_choice {
  int calls = 0;
  template <class Policy>
  int Invoke() {
    ++calls;
    return Policy::ptx_version;
  }
};

template <class Hub, class Functor = version_of_choice>
int choice_for(int device) {
  Functor functor;
  const int version = Hub::MaxPolicy::Invoke(device, functor);
  EXPECT_EQ(functor.calls, 1);
  return version;
}

TEST(chained_policy, compiled_architecture_takes_the_nearest_lower_policy) {
  for (int architecture : strata::detail::compiled_architectures) {
    int expected = hub_versions.front();
    for (int version : hub_versions) {
      if (version <= architecture) expected = version;
    }
    EXPECT_EQ(choice_for<hub>(architecture), expected) << architecture;
  }
}

TEST(chained_policy, chain_of_one_serves_every_device) {
  for (int device : {350, 700, 750, 900, 1200, 9000}) {
    EXPECT_EQ(choice_for<one_policy_hub>(device), 700) << device;
  }
}

TEST(chained_policy, device_older_than_the_chain_takes_the_oldest) {
  for (int architecture : strata::detail::compiled_architectures) {
    EXPECT_EQ(choice_for<future_hub>(architecture), 3000);
  }
}

TEST(chained_policy, device_newer_than_what_was_compiled_takes_the_newest_compiled) {
  const int newest = *(std::end(strata::detail::compiled_architectures) - 1);
  EXPECT_EQ(choice_for<hub>(9000), choice_for<hub>(newest));
}

#if STRATA_HOST_SIMT
// What none of 750, 860, 900 and 1000 would choose does not compile, if it is instantiated.
struct version_of_unpruned_choice : version_of_choice {
  template <class Policy>
  int Invoke() {
    constexpr int version = Policy::ptx_version;
    static_assert(version == 600 || version == 860 || version == 900 || version == 1000);
    return version_of_choice::Invoke<Policy>();
  }
};

TEST(chained_policy, policies_that_nobody_chooses_are_not_instantiated) {
  const auto choice = [](int device) { return choice_for<hub, version_of_unpruned_choice>(device); };
  EXPECT_EQ(choice(700), 600);  // older than all that was compiled
  EXPECT_EQ(choice(750), 600);
  EXPECT_EQ(choice(860), 860);
  EXPECT_EQ(choice(890), 860);
  EXPECT_EQ(choice(900), 900);
  EXPECT_EQ(choice(1000), 1000);
  EXPECT_EQ(choice(1300), 1000);
}
#endif

// ---------------------------------------------------------------------------- host and device
template <class MaxPolicy>
STRATA_KERNEL void write_active_version(int* out) {
  *out = MaxPolicy::ActivePolicy::ptx_version;
}

template <class Hub>
void test_device_agrees_with_host() {
  strata::detail::device_properties properties;
  ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(properties));
  device_vector<int> out(1);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"write_active_version", 1, 1}, write_active_version<typename Hub::MaxPolicy>, out.data()));
  EXPECT_EQ(out.to_host()[0], choice_for<Hub>(properties.ptx_version));
}

TEST(chained_policy, kernel_has_the_policy_that_the_host_chose) {
  test_device_agrees_with_host<hub>();
  test_device_agrees_with_host<one_policy_hub>();
  test_device_agrees_with_host<future_hub>();
}

}  // namespace chained_policy_test

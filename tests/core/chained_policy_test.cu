// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// nvcc defines the list of architectures that it compiles for; the host compiler does not. A list of four stands in
// there, so that the test of pruning does not depend on nvcc's options.
#if !defined(__CUDACC__)
#define __CUDA_ARCH_LIST__ 750, 860, 900, 1000
#endif

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/policy_hub.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <type_traits>
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
// Fails to compile if it is instantiated for a policy that none of 750, 860, 900 and 1000 selects.
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
  EXPECT_EQ(choice(700), 600);  // a device older than all compiled architectures
  EXPECT_EQ(choice(750), 600);
  EXPECT_EQ(choice(860), 860);
  EXPECT_EQ(choice(890), 860);
  EXPECT_EQ(choice(900), 900);
  EXPECT_EQ(choice(1000), 1000);
  EXPECT_EQ(choice(1300), 1000);
}
#endif

// ---------------------------------------------------------------------------- rows
struct row {
  int number;
};
struct library {
  struct policy700 : ChainedPolicy<700, policy700, policy700> {
    static constexpr row first{1}, second{2};
  };
  struct policy800 : ChainedPolicy<800, policy800, policy700> {
    static constexpr row first{4}, second{3};
  };
  using MaxPolicy = policy800;
};
struct changed {
  struct policy600 : ChainedPolicy<600, policy600, policy600, library::policy800> {
    static constexpr row second{5};
  };
  struct policy860 : ChainedPolicy<860, policy860, policy600, policy600> {
    static constexpr row first{6};
  };
  using MaxPolicy = policy860;
};
template <class Policy>
using rows = strata::detail::if_rows<row, decltype(Policy::first), decltype(Policy::second)>;
template <class Policy>
struct second_row {
  static constexpr std::size_t value = static_cast<std::size_t>(Policy::second.number);
};

struct sum_of_rows {
  template <class Policy>
  int Invoke() {
    return 10 * Policy::first.number + Policy::second.number + 100 * Policy::ptx_version;
  }
};

TEST(chained_policy, policy_has_rows_of_another_where_it_declares_none) {
  using old = changed::policy600;
  static_assert(old::ptx_version == 600 && old::first.number == 4 && old::second.number == 5);
  static_assert(changed::MaxPolicy::first.number == 6 && changed::MaxPolicy::second.number == 5);
  // The chain does not go on to the policy whose rows are inherited.
  static_assert(std::is_same_v<changed::MaxPolicy::previous_policy, old> && std::is_same_v<old::previous_policy, old>);
  const int newest = *(std::end(strata::detail::compiled_architectures) - 1);
  sum_of_rows functor;
  EXPECT_EQ(changed::MaxPolicy::Invoke(newest, functor), newest >= 860 ? 86065 : 60045);
  EXPECT_EQ(changed::policy600::Invoke(newest, functor), 60045);
}

TEST(chained_policy, least_of_a_chain) {
  EXPECT_EQ((strata::detail::least_in_chain<second_row, library::MaxPolicy>()), 2u);
  EXPECT_EQ((strata::detail::least_in_chain<second_row, library::policy700>()), 2u);
  EXPECT_EQ((strata::detail::least_in_chain<second_row, changed::MaxPolicy>()), 5u);
}

/// Hubs that must be refused. The last policy of `unnamed` is not the class that its ChainedPolicy names, so its rows
/// would never be read.
struct without_policies {};
struct incomplete {
  struct policy700 : ChainedPolicy<700, policy700, policy700> {
    static constexpr row first{1};
  };
  struct policy800 : ChainedPolicy<800, policy800, policy700, library::policy800> {};
  using MaxPolicy = policy800;
};
struct of_another_type {
  struct policy700 : ChainedPolicy<700, policy700, policy700> {
    static constexpr row first{1};
    static constexpr int second = 2;
  };
  using MaxPolicy = policy700;
};
struct unnamed {
  struct policy800 : library::policy800 {
    static constexpr row second{5};
  };
  using MaxPolicy = policy800;
};

TEST(chained_policy, hub_without_the_rows_is_found) {
  using strata::detail::hub_has_rows;
  EXPECT_TRUE((hub_has_rows<rows, library>));
  EXPECT_TRUE((hub_has_rows<rows, changed>));
  EXPECT_TRUE((hub_has_rows<rows, strata::default_policy_hub>));
  EXPECT_FALSE((hub_has_rows<rows, without_policies>));
  EXPECT_FALSE((hub_has_rows<rows, incomplete>));
  EXPECT_FALSE((hub_has_rows<rows, of_another_type>));
  EXPECT_FALSE((hub_has_rows<rows, unnamed>));
}

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

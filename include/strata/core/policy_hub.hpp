// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The hub of `DeviceScan` and of all other device classes: each function takes the rows of its here algorithm.
///
/// `DeviceScan` is `TunedDeviceScan<default_policy_hub>`, and so on. The functions of `TunedDeviceScan<my_hub>` are the
/// same, in both forms of a call, and take their rows from `my_hub`. A hub is a class with the name `MaxPolicy`: the
/// newest of a chain of policies, see ChainedPolicy. Which rows a policy must have depends on the algorithm. They are
/// in the `tuning.hpp` of its folder, with the hub that the algorithm takes otherwise (`scan_policy_hub`), and a hub
/// without one of them is refused by a `static_assert` that names them. A policy takes the rows that it does not
/// replace from a policy of that hub. A call and its size query must have the same hub.
///
/// @code
/// #include <strata/device/device_scan.cuh>
///
/// // Sums of int, with the rows of sm_90 but a smaller pipeline.
/// struct small_pipeline {
///   using rows = strata::scan_policy_hub<int, int>::Policy900;
///   struct Policy900 : strata::ChainedPolicy<900, Policy900, Policy900, rows> {
///     static constexpr strata::scan_pipeline_tuning pipeline{/*scanning_threads=*/256, /*vectors_per_thread=*/7,
///                                                            /*stages=*/4, /*lag=*/2,
///                                                            /*blocks_per_multiprocessor=*/1};
///   };
///   using MaxPolicy = Policy900;
/// };
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5}, sums[5];
///
/// int main() {
///   using strata::TunedDeviceScan;
///   if (TunedDeviceScan<small_pipeline>::InclusiveSum(numbers, sums, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 3 4 8 9 14
/// @endcode
struct default_policy_hub {};

namespace detail {

/// The hub of a call: the caller's, or that of the algorithm.
template <class PolicyHub, class Default>
using hub_or = std::conditional_t<std::is_same_v<PolicyHub, default_policy_hub>, Default, PolicyHub>;

/// `void` if all rows have this type. An algorithm names its rows by an alias template of a policy, made of these.
template <class Tuning, class... Rows>
using if_rows = std::enable_if_t<(std::is_same_v<std::remove_cv_t<Rows>, Tuning> && ...)>;

template <template <class> class Rows, class Policy, class = void>
inline constexpr bool policy_has_rows = false;
template <template <class> class Rows, class Policy>
inline constexpr bool policy_has_rows<
    Rows, Policy, std::void_t<std::enable_if_t<std::is_same_v<typename Policy::this_policy, Policy>>, Rows<Policy>>> =
    std::is_same_v<typename Policy::previous_policy, Policy> || policy_has_rows<Rows, typename Policy::previous_policy>;

template <template <class> class Rows, class PolicyHub, class = void>
inline constexpr bool hub_has_rows = false;
template <template <class> class Rows, class PolicyHub>
inline constexpr bool hub_has_rows<Rows, PolicyHub, std::void_t<typename PolicyHub::MaxPolicy>> =
    policy_has_rows<Rows, typename PolicyHub::MaxPolicy>;
template <template <class> class Rows>
inline constexpr bool hub_has_rows<Rows, default_policy_hub> = true;

/// The least of what `Figure<Policy>::value` says of the policies of a chain, up to this one. Temporary storage is
/// sized by it where its size must not depend on the device.
template <template <class> class Figure, class Policy>
constexpr std::size_t least_in_chain() {
  constexpr std::size_t here = Figure<Policy>::value;
  if constexpr (std::is_same_v<typename Policy::previous_policy, Policy>) {
    return here;
  } else {
    constexpr std::size_t of_older = detail::least_in_chain<Figure, typename Policy::previous_policy>();
    return here < of_older ? here : of_older;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

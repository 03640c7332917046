// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#if !STRATA_NVRTC

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The hub of `DeviceScan` and of the other classes without `Tuned` in their names: it selects the library's tuning
/// rows.
///
/// Each class of device functions is a template of its policy hub: `DeviceScan` is
/// `TunedDeviceScan<default_policy_hub>`, and so on. `TunedDeviceScan<my_hub>` has the same functions, with temporary
/// storage and without, and reads its rows from `my_hub`.
///
/// - **A hub** is a class with the member type `MaxPolicy`, the newest policy of a chain: see ChainedPolicy.
/// - **Rows.** The comment of a class names the library's hub. The hub is in a header of the mechanism's folder, whose
///   name ends in `tuning.hpp`. Your hub needs rows of the same names and types in each of its policies. A
///   `static_assert` names them if one is missing. A policy that derives from `ChainedPolicy<version, itself, previous,
///   rows>` has the rows of the policy `rows` where it declares none.
/// - **Types.** The library's hubs are templates of what their rows depend on, such as the type of the items. Your hub
///   serves all types that a program uses it with, so its rows must fit all of them.
/// - **Temporary storage.** A size query and its call need the same hub.
/// - **Errors.** Rows that an algorithm cannot use do not compile. Rows that a device cannot run, for example with too
///   much shared memory, are an error of the launch.
///
/// @code
/// #include <strata/device/device_scan.cuh>
///
/// // Scans of int with the rows of sm_75 on all devices, but with smaller tiles for short inputs.
/// struct small_tiles {
///   using library = strata::scan_policy_hub<int, int>::Policy750;
///   struct Policy : strata::ChainedPolicy<750, Policy, Policy, library> {
///     static constexpr strata::scan_tile_tuning small_tile{/*block_threads=*/128, /*items_per_thread=*/4,
///                                                          library::small_tile.load, library::small_tile.store,
///                                                          /*blocks_per_multiprocessor=*/1};
///   };
///   using MaxPolicy = Policy;
/// };
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5}, sums[5];
///
/// int main() {
///   if (strata::TunedDeviceScan<small_tiles>::InclusiveSum(numbers, sums, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 3 4 8 9 14
/// @endcode
struct default_policy_hub {};

namespace detail {

/// `void` if all of `Rows` have the type `Tuning`, otherwise no type. Each algorithm uses it in an alias template that
/// lists the rows which it needs of a policy.
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

/// The hub of a call: the caller's hub, or the algorithm's own for the default hub. If the caller's hub lacks rows, the
/// algorithm's own hub takes its place: an assertion of the algorithm then gives the only error.
template <template <class> class Rows, class PolicyHub, class Default>
using hub_or = std::conditional_t<std::is_same_v<PolicyHub, default_policy_hub> || !hub_has_rows<Rows, PolicyHub>,
                                  Default, PolicyHub>;

/// True if blocks of each of these numbers of threads consist of whole warps and a device can run them.
template <class... Threads>
constexpr bool are_whole_warps(Threads... threads) {
  return ((threads > 0 && threads <= 1024 && threads % 32 == 0) && ...);
}

/// Minimum of `Figure<P>::value` over this policy and all older ones. It determines the size of temporary storage where
/// that must not depend on the device.
template <template <class> class Figure, class Policy>
constexpr std::size_t least_in_chain() {
  constexpr std::size_t here = Figure<Policy>::value;
  if constexpr (std::is_same_v<typename Policy::previous_policy, Policy>) {
    return here;
  } else {
    constexpr std::size_t of_older = detail::least_in_chain<Figure, typename Policy::previous_policy>();
    return detail::least(here, of_older);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

#endif  // !STRATA_NVRTC

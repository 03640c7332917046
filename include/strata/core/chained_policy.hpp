// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

namespace detail {

/// The PTX version (100 * major + 10 * minor) for which this compilation pass generates device code. Host passes and
/// the host SIMT back end generate none: for them it is the version that the back end imitates.
#if STRATA_DEVICE_PASS
inline constexpr int compiled_ptx_version = __CUDA_ARCH__;
#else
inline constexpr int compiled_ptx_version = STRATA_SIMT_PTX_VERSION;
#endif

// `__CUDA_ARCH_LIST__` of nvcc lists the architectures that a translation unit is compiled for. clang has no such
// macro.
#if defined(__CUDA_ARCH_LIST__)
inline constexpr int compiled_architectures[] = {__CUDA_ARCH_LIST__};
#else
inline constexpr int compiled_architectures[] = {STRATA_SIMT_PTX_VERSION};
#endif

/// True if one of the compiled architectures lies in [lowest, below), or may lie there.
STRATA_HD constexpr bool any_compiled_architecture_in(int lowest, int below) {
  if (STRATA_CLANG_CUDA) return true;
  for (int architecture : compiled_architectures) {
    if (architecture >= lowest && architecture < below) return true;
  }
  return false;
}

}  // namespace detail

/// Default of the parameter `Rows` of ChainedPolicy: no tuning rows are inherited, so the policy declares all of them.
struct no_policy_rows {};

/// A chain of tuning policies, newest first. `Policy` derives from
/// `ChainedPolicy<PtxVersion, Policy, Previous>`; the oldest names itself as `Previous`.
///
///     struct my_hub {
///       struct Policy500 : ChainedPolicy<500, Policy500, Policy500> { ... };
///       struct Policy900 : ChainedPolicy<900, Policy900, Policy500> { ... };
///       using MaxPolicy = Policy900;
///     };
///
/// - `MaxPolicy::ActivePolicy`: in device code, the newest policy that is not above the
///   architecture being compiled. A kernel instantiated on `MaxPolicy` reads its numbers from it,
///   so N architectures cost N kernels and not N times the number of policies.
/// - `MaxPolicy::Invoke(ptx_version, functor)`: on the host, calls `functor.Invoke<P>()` with the
///   newest policy `P` that is not above the device's version. A device older than the whole chain
///   gets the oldest, one newer than the whole chain the newest. Policies that no compiled
///   architecture can choose are not instantiated.
///
/// `Rows` is a class with tuning rows. The policy inherits each row that it does not declare. If `Rows` is itself a
/// policy, only its tuning rows are inherited, not its version or chain.
template <int PtxVersion, class Policy, class Previous, class Rows = no_policy_rows>
struct ChainedPolicy : Rows {
  static constexpr int ptx_version = PtxVersion;  ///< Lowest version that the policy is for.
  using this_policy = Policy;                     ///< The policy itself.
  using previous_policy = Previous;               ///< Policy of older devices. The oldest policy names itself.

  /// In device code, the newest policy that is not above the architecture being compiled.
  using ActivePolicy = typename std::conditional_t<(detail::compiled_ptx_version < PtxVersion), Previous,
                                                   ChainedPolicy<PtxVersion, Policy, Policy, Rows>>::ActivePolicy;

#if !STRATA_NVRTC
  /// Calls `functor` with the newest policy that is not above the version of the device.
  template <class Functor>
  static auto Invoke(int device_ptx_version, Functor& functor) {
    return InvokeBelow<newest>(device_ptx_version, functor);
  }

  /// Continues `Invoke` at this policy. `Below` is the version of the next newer policy.
  template <int Below, class Functor>
  static auto InvokeBelow(int device_ptx_version, Functor& functor) {
    if constexpr (!detail::any_compiled_architecture_in(PtxVersion, Below)) {
      return Previous::template InvokeBelow<PtxVersion>(device_ptx_version, functor);
    } else if constexpr (!detail::any_compiled_architecture_in(0, PtxVersion)) {
      return functor.template Invoke<Policy>();
    } else {
      return device_ptx_version < PtxVersion ? Previous::template InvokeBelow<PtxVersion>(device_ptx_version, functor)
                                             : functor.template Invoke<Policy>();
    }
  }

 private:
  static constexpr int newest = 1 << 30;
#endif
};

/// The oldest policy of a chain.
template <int PtxVersion, class Policy, class Rows>
struct ChainedPolicy<PtxVersion, Policy, Policy, Rows> : Rows {
  static constexpr int ptx_version = PtxVersion;
  using this_policy = Policy;
  using previous_policy = Policy;
  using ActivePolicy = Policy;

#if !STRATA_NVRTC
  /// Calls `functor` with this policy.
  template <class Functor>
  static auto Invoke(int, Functor& functor) {
    return functor.template Invoke<Policy>();
  }

  /// Continues `Invoke` at the oldest policy: calls `functor` with this policy.
  template <int, class Functor>
  static auto InvokeBelow(int, Functor& functor) {
    return functor.template Invoke<Policy>();
  }
#endif
};

STRATA_NAMESPACE_END

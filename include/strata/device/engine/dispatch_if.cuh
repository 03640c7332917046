// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Replaces a dispatcher whose requirements are not met.
struct refused_dispatch {
  template <class... Arguments>
  static cudaError_t Dispatch(Arguments&&...) {
    return cudaErrorInvalidValue;
  }
};

/// `Dispatcher` if its requirements are met, otherwise refused_dispatch. Then nothing of `Dispatcher` is instantiated,
/// so the static_assert of the requirement is the only error.
template <bool AreMet, class Dispatcher>
using dispatch_if = std::conditional_t<AreMet, Dispatcher, refused_dispatch>;

/// The requirements of joins by hashes.
template <class Key, class Hash, class Equal>
inline constexpr bool can_hash =
    are_relocatable<Key>&& hash_requirements<Hash, Key>::are_met&& equality_requirements<Equal, const Key>::are_met;

/// The requirements of reductions and scans.
template <class Operator, class AccumT, class InputIterator, class OutputIterator>
inline constexpr bool can_accumulate =
    operator_requirements<Operator, AccumT>::are_met&& relocatable_requirements<AccumT>::are_met&&
        iterator_requirements<InputIterator>::are_met&& output_requirements<OutputIterator>::are_met;

}  // namespace detail
STRATA_NAMESPACE_END

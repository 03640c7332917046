// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The value that a scan carries if it begins anew with each run of items, or with each segment: the sum since the last
/// run or segment began. If none has begun, it is the sum of all items.
template <class T>
struct sum_of_run {
  T value;
  unsigned has_begin;
};

}  // namespace detail
template <class T>
struct is_trivially_relocatable<detail::sum_of_run<T>> : is_trivially_relocatable<T> {};
namespace detail {

/// The operator of such a scan. It is associative if `op` is, and never commutative.
template <class T, class ScanOp>
struct combine_runs {
  ScanOp op;

  STRATA_HD sum_of_run<T> operator()(const sum_of_run<T>& a, const sum_of_run<T>& b) {
    if (b.has_begin != 0) return b;
    return {static_cast<T>(op(a.value, b.value)), a.has_begin};
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

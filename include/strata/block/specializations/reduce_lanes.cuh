// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/warp/warp_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Reduces over the first `Lanes` lanes of a warp in lane order; exactly those must call. The
/// result is in lane 0. Unless `Full`, only the first `valid` (1 .. Lanes) of them hold an item.
template <int Lanes, bool Full, class T, class Operator>
STRATA_D T reduce_lanes(const T& value, Operator op, int valid) {
  using warp_reduce = WarpReduce<T, Lanes>;
  typename warp_reduce::TempStorage temp_storage;
  if constexpr (Full) {
    static_cast<void>(valid);
    return warp_reduce(temp_storage).Reduce(value, op);
  } else {
    return warp_reduce(temp_storage).Reduce(value, op, valid);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A warp has one logical warp if `Threads` is no power of two.
template <class T, int ItemsPerThread, int Threads>
using warp_exchange_layout = ExchangeLayout<T, ItemsPerThread, detail::is_power_of_two(Threads) ? Threads : 32>;

/// The storages of all logical warps of a warp, for the model of bank conflicts. The indices of a logical
/// warp's items follow those of the logical warp before it.
template <class T, int ItemsPerThread, int Threads>
struct warp_exchange_storages {
  using layout = warp_exchange_layout<T, ItemsPerThread, Threads>;
  static constexpr int items = Threads * ItemsPerThread;
  static constexpr int storage = layout::storage_elements(items);
  STRATA_HD constexpr int operator()(int index) const {
    if (!is_power_of_two(Threads)) return layout{}(index);
    return index / items * storage + layout{}(index % items);
  }
};

/// The striped accesses of all logical warps of a warp.
template <int ElementBytes, int ItemsPerThread, int Threads>
struct logical_warps_striped_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int instructions = ItemsPerThread;
  STRATA_HD constexpr int operator()(int instruction, int lane) const {
    if (!is_power_of_two(Threads) && lane >= Threads) return -1;
    return lane / Threads * Threads * ItemsPerThread + instruction * Threads + lane % Threads;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

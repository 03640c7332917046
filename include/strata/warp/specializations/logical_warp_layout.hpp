// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// ExchangeLayout for logical warps of `Threads` threads, a power of two below 32, whose storages are
/// an array: those of one warp are accessed by the same instructions.
///
/// In each storage the items lie as if a wavefront had `Threads` columns only (or its own, if these are
/// fewer), so that the threads of one logical warp begin in different ones. The size of a storage is an
/// odd multiple of `Threads` columns: the next logical warp's lanes use the next `Threads` columns.
template <class T, int ItemsPerThread, int Threads>
struct logical_warp_layout {
  using whole = ExchangeLayout<T, ItemsPerThread>;
  static constexpr int unit_bytes = whole::unit_bytes;
  static constexpr int units_per_item = whole::units_per_item;

 private:
  static constexpr int per_word = unit_bytes < 4 ? 4 / unit_bytes : 1;
  static constexpr int units_per_thread = ItemsPerThread * units_per_item;
  static constexpr bool fits_one_wavefront = 32 * units_per_thread * unit_bytes <= 128;
  static constexpr int pitch =
      fits_one_wavefront ? units_per_thread : round_up(units_per_thread, per_word);
  static constexpr int all_columns = lanes_per_wavefront(unit_bytes);
  static constexpr int columns = Threads < all_columns ? Threads : all_columns;
  static constexpr int common =
      fits_one_wavefront ? 1 : greatest_common_divisor(pitch / per_word, columns);
  static constexpr int threads_per_pad = columns / common;
  static constexpr int pad = common == 1 ? 0 : per_word;
  static constexpr int used = Threads * pitch + (Threads - 1) / threads_per_pad * pad;
  static constexpr int storage =
      fits_one_wavefront || Threads >= all_columns
          ? round_up(used, per_word)
          : (ceiling_divide(used, columns* per_word) | 1) * columns * per_word;

 public:
  STRATA_HD constexpr int operator()(int index) const {
    const int thread = index / ItemsPerThread;
    return thread * pitch + thread / threads_per_pad * pad +
           index % ItemsPerThread * units_per_item;
  }
  STRATA_HD static constexpr int storage_elements(int) { return storage; }
};

template <class T, int ItemsPerThread, int Threads>
using warp_exchange_layout =
    std::conditional_t < is_power_of_two(Threads) &&
    Threads<32, logical_warp_layout<T, ItemsPerThread, Threads>, ExchangeLayout<T, ItemsPerThread>>;

/// All the storages of one warp, for the model of bank conflicts: its indices count on from each logical
/// warp to the next, if there is more than one.
template <class T, int ItemsPerThread, int Threads>
struct warp_exchange_storages {
  using layout = warp_exchange_layout<T, ItemsPerThread, Threads>;
  static constexpr int items = Threads * ItemsPerThread;
  STRATA_HD constexpr int operator()(int index) const {
    if (!is_power_of_two(Threads)) return layout{}(index);
    return index / items * layout::storage_elements(items) + layout{}(index % items);
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

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A tile of `Threads * ItemsPerThread` items in shared memory, and how threads find theirs. Of each
/// address only the part that depends on the thread is computed, once; the steps from item to item are
/// constants.
template <class T, int ItemsPerThread, int Threads>
class exchange_tile {
  using layout = ExchangeLayout<T, ItemsPerThread>;
  static constexpr int unit_bytes = layout::unit_bytes;
  // not for users: the layout keeps this promise for every T and ItemsPerThread
  static_assert(conflict_degree(layout{}, blocked_access<unit_bytes, ItemsPerThread>{}) == 1,
                "blocked accesses have bank conflicts");
  // not for users: as above
  static_assert(conflict_degree(layout{}, striped_access<unit_bytes, ItemsPerThread>{}) == 1,
                "striped accesses have bank conflicts");

  static constexpr bool repeats_after(int threads) {
    for (int thread = 0; thread < warp_threads; ++thread) {
      if (layout{}((threads + thread) * ItemsPerThread) !=
          layout{}(threads * ItemsPerThread) + layout{}(thread * ItemsPerThread)) {
        return false;
      }
    }
    return true;
  }
  static constexpr int find_period() {
    int threads = 1;
    while (!repeats_after(threads)) threads *= 2;
    return threads * ItemsPerThread;
  }

 public:
  static constexpr int items = Threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  /// The layout repeats after so many items: position(period + i) = position(period) + position(i).
  static constexpr int period = find_period();

  /// Positions are in units of the layout. `start` should be a constant, negative or not: then the
  /// division of `start + thread` is done but once for all starts with one remainder.
  STRATA_HD static constexpr int position(int start, int thread) {
    const int remainder = (start % period + period) % period;
    return layout{}(start - remainder) + layout{}(remainder + thread);
  }

  STRATA_D T& at(int position) {
    return *reinterpret_cast<T*>(storage_.bytes + position * unit_bytes);
  }

  /// Item i of a thread at `thread * ItemsPerThread + i`.
  STRATA_D void put_blocked(int thread, const T (&from)[items_per_thread]) {
    const int first = layout{}(thread * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) at(first + i * layout::units_per_item) = from[i];
  }
  STRATA_D void get_blocked(int thread, T (&to)[items_per_thread]) {
    const int first = layout{}(thread * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) to[i] = at(first + i * layout::units_per_item);
  }

  /// Item i of a thread at `i * Stride + thread`, counted from the first item of thread
  /// `group_first`, a multiple of 32.
  template <int Stride>
  STRATA_D void put_striped(int thread, const T (&from)[items_per_thread], int group_first = 0) {
    const int group = group_first / warp_threads * layout{}(warp_threads * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) at(group + position(i * Stride, thread)) = from[i];
  }
  template <int Stride>
  STRATA_D void get_striped(int thread, T (&to)[items_per_thread], int group_first = 0) {
    const int group = group_first / warp_threads * layout{}(warp_threads * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) to[i] = at(group + position(i * Stride, thread));
  }

 private:
  // A wavefront begins where a word of 16 bytes does.
  struct alignas(16) aligned_storage : LayoutStorage<T, layout, items> {};
  aligned_storage storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/shared_layout.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A tile of `Threads * ItemsPerThread` items in shared memory, and the positions of each thread's items. The
/// part of an address that depends on the thread is computed once; the steps from item to item are
/// constants. Positions count units of `Layout`, an ExchangeLayout.
template <class T, int ItemsPerThread, int Threads, class Layout = ExchangeLayout<T, ItemsPerThread>>
class exchange_tile {
  static constexpr int unit_bytes = Layout::unit_bytes;
  static constexpr int units_per_item = Layout::units_per_item;
  // The layout repeats from one padding to the next.
  static constexpr int period = ItemsPerThread * Layout::threads_per_pad;  // items
  static constexpr int period_units = Layout::of_thread(Layout::threads_per_pad);

 public:
  static constexpr int items = Threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);

  /// The position of the item with this index.
  STRATA_HD static constexpr int position(unsigned index) { return Layout{}(static_cast<int>(index)); }
  /// The position of item `start + thread`. `start` should be a constant, and may be negative. All constants `start`
  /// with the same remainder modulo `period` share the division that depends on `thread`.
  STRATA_HD static constexpr int position(int start, unsigned thread) {
    const int remainder = (start % period + period) % period;
    return (start - remainder) / period * period_units + position(static_cast<unsigned>(remainder) + thread);
  }
  /// The position of the first item of a thread.
  STRATA_HD static constexpr int position_of_thread(unsigned thread) {
    return Layout::of_thread(static_cast<int>(thread));
  }

  STRATA_D void put(int position, const T& item) {
    if constexpr (std::is_scalar_v<T>) {
      *at<T>(position) = item;
    } else {
      // The compiler would copy a class member by member, and members may be narrower than a unit.
      const words item_in_words(item);
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) at<unit>(position)[i] = item_in_words.word[i];
    }
  }

  /// The address of the tile in shared memory, which stays in a register. Without this, the compiler would compute the
  /// address again for each item that is moved under a condition.
  struct base {
    unsigned address;
  };
  STRATA_D base kept_base() { return {platform::opaque(platform::shared_address(storage_.bytes))}; }
  STRATA_D void put(base of, int position, const T& item) {
    const unsigned address = of.address + static_cast<unsigned>(position * unit_bytes);
    if constexpr (std::is_scalar_v<T>) {
      *platform::shared_pointer<T>(storage_.bytes, address) = item;
    } else {
      const words item_in_words(item);
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) {
        *platform::shared_pointer<unit>(storage_.bytes, address + static_cast<unsigned>(i * unit_bytes)) =
            item_in_words.word[i];
      }
    }
  }

  STRATA_D T get(int position) {
    if constexpr (std::is_scalar_v<T>) {
      return *at<T>(position);
    } else {
      words item_in_words;
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) item_in_words.word[i] = at<unit>(position)[i];
      return item_in_words.value();
    }
  }

  /// An item that is read in one access.
  STRATA_D const T* item_at(int position) {
    // not for users: callers choose the type
    static_assert(Layout::is_one_access, "use get(position) for other items");
    return at<T>(position);
  }

  /// Call this before a scatter that may leave positions unwritten.
  STRATA_D void may_be_unwritten() { platform::may_be_unwritten(storage_.bytes, sizeof(storage_.bytes)); }

  /// Item i of a thread is the tile's item `thread * ItemsPerThread + i`.
  STRATA_D void put_blocked(unsigned thread, const T (&from)[items_per_thread]) {
    const int first = position_of_thread(thread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) put(first + i * units_per_item, from[i]);
  }
  template <class Output>
  STRATA_D void get_blocked(unsigned thread, Output (&to)[items_per_thread]) {
    const int first = position_of_thread(thread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      to[i] = static_cast<Output>(get(first + i * units_per_item));
    }
  }

  /// Item i of a thread is item `i * Stride + thread` of those that begin at the position `origin`, where a
  /// period of the layout must begin.
  template <int Stride>
  STRATA_D void put_striped(unsigned thread, const T (&from)[items_per_thread], int origin = 0) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) put(origin + position(i * Stride, thread), from[i]);
  }
  template <int Stride, class Output>
  STRATA_D void get_striped(unsigned thread, Output (&to)[items_per_thread], int origin = 0) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      to[i] = static_cast<Output>(get(origin + position(i * Stride, thread)));
    }
  }

 private:
  using unit = access_word<unit_bytes>;
  using words = item_words<T, unit>;

  template <class Type>
  STRATA_D Type* at(int position) {
    return reinterpret_cast<Type*>(storage_.bytes + position * unit_bytes);
  }

  LayoutStorage<T, Layout, items> storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END

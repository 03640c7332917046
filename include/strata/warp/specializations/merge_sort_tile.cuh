// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Each thread writes `Accesses` neighbouring vectors. Lanes whose vectors lie in the same banks begin with
/// different ones.
template <int AccessBytes, int Accesses>
struct turned_access {
  static constexpr int element_bytes = AccessBytes;
  static constexpr int instructions = Accesses;
  /// Access i of a thread writes its vector i ^ turn(thread).
  STRATA_HD static constexpr int turn(int thread) {
    return detail::quotient(thread * Accesses, lanes_per_wavefront(AccessBytes)) & (Accesses - 1);
  }
  STRATA_HD constexpr int operator()(int instruction, int lane) const {
    return lane * Accesses + (instruction ^ turn(lane));
  }
};

/// Items of a team in shared memory, for merges. A `position` says where an item lies: an address where items lie at
/// equal distances, otherwise an index. Merges compare positions, and advance them by `step`. A constant distance from
/// an address takes no instruction, because loads have an offset.
///
/// Items that one access of 1 or 2 bytes reads lie without gaps if a thread has several of them, of 2, 4, 8 ... or 128
/// bytes together, and `GroupThreads` is 32. Other items lie as in BlockExchange. Measured on an H200 (CUDA 13.0,
/// 2026-11-28), time of CUB 3.0.1 divided by ours, 256 threads with 8 items each:
///
/// | item | without gaps | with gaps |
/// |---|---|---|
/// | unsigned short | 1.32 | 1.16 |
/// | __half | 1.31 | 1.09 |
/// | int | 1.30 | 2.04 |
/// | double, 128 threads | 1.37 | 2.46 |
///
/// Wider items need the gaps: without gaps, the addresses that neighbouring threads read in a search are often a power
/// of two of words apart, and lie in the same banks.
///
/// A tile of 32 words, of a logical warp that has nothing else in its storage, needs no gaps: with one word behind it,
/// the tiles of neighbouring logical warps begin in neighbouring banks.
template <class T, int ItemsPerThread, int Threads, int GroupThreads, bool IsAlone>
class merge_sort_tile {
  static constexpr int item_bytes = static_cast<int>(sizeof(T));
  static constexpr int thread_bytes = item_bytes * ItemsPerThread;
  using exchange_layout = ExchangeLayout<T, ItemsPerThread, GroupThreads>;
  static constexpr bool fills_banks = IsAlone && Threads < warp_threads && is_power_of_two(Threads) &&
                                      item_bytes == 4 && exchange_layout::is_one_access &&
                                      Threads * thread_bytes == 128;
  static constexpr bool is_vector = item_bytes < 4 && GroupThreads == 32 && exchange_layout::is_one_access &&
                                    is_power_of_two(thread_bytes) && thread_bytes <= 128 && ItemsPerThread > 1;
  static constexpr int access_bytes = is_vector ? detail::least(16, thread_bytes) : exchange_layout::unit_bytes;
  static constexpr int accesses = thread_bytes / access_bytes;
  static constexpr int pitch_bytes = is_vector ? item_bytes : exchange_layout::units_per_item * access_bytes;

  // An item is accessed as one or more units. If a thread's items are stored as vectors, a unit is one item.
  static constexpr int unit_bytes = is_vector ? item_bytes : exchange_layout::unit_bytes;
  using unit = access_word<static_cast<std::size_t>(unit_bytes)>;
  using words = item_words<T, unit>;

  using vectors_access = turned_access<is_vector ? access_bytes : 4, is_vector ? accesses : 1>;
  // not for users: any power of two of vectors is free of conflicts
  static_assert(strata::conflict_degree(PlainLayout{}, vectors_access{}) == 1,
                "the vectors of a thread must lie in other banks than its neighbours'");

 public:
  static constexpr bool is_linear =
      is_vector || fills_banks ||
      (exchange_layout::pad == 0 && exchange_layout::pitch == ItemsPerThread * exchange_layout::units_per_item);
  static constexpr int step = is_linear ? pitch_bytes : 1;
  static constexpr int tile_items = Threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);

  STRATA_D int position(int index) { return is_linear ? base() + index * step : index; }
  STRATA_D int index(int position) { return is_linear ? detail::quotient(position - base(), step) : position; }

  STRATA_D T load(int position) {
    if constexpr (is_linear) {
      return load_at(position);
    } else {
      return load_at(base() + exchange_layout{}(position)*exchange_layout::unit_bytes);
    }
  }

  /// Stores the items of the thread with this number, in ascending or descending order.
  STRATA_D void put_blocked(int thread, bool descends, const T (&items)[items_per_thread]) {
    if constexpr (is_vector) {
      put_vectors(thread, descends, items);
    } else {
      const int first = base() + (fills_banks ? thread * thread_bytes
                                              : exchange_layout::of_thread(thread) * exchange_layout::unit_bytes);
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        // Not items[descends ? ...]: that would be an array in memory.
        store_at(first + i * exchange_layout::units_per_item * exchange_layout::unit_bytes,
                 either(descends, items[ItemsPerThread - 1 - i], items[i]));
      }
    }
  }

  STRATA_D void get_blocked(int thread, bool descends, T (&items)[items_per_thread]) {
    const int first = position(thread * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) items[i] = load(first + i * step);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread / 2; ++i) {
      const T item = items[i], mirrored = items[ItemsPerThread - 1 - i];
      items[i] = either(descends, mirrored, item);
      items[ItemsPerThread - 1 - i] = either(descends, item, mirrored);
    }
  }

 private:
  STRATA_D int base() { return static_cast<int>(platform::shared_address(bytes_)); }
  /// Selects a value. Without this function the compiler would select one of the two objects' addresses, and the
  /// objects would not stay in registers.
  STRATA_D static T either(bool is_first, const T& first, const T& second) {
    if constexpr (std::is_scalar_v<T>) {
      const T a = first, b = second;
      return is_first ? a : b;
    } else {
      words a(first);
      const words b(second);
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) a.word[i] = select_unit(is_first, a.word[i], b.word[i]);
      return a.value();
    }
  }
  STRATA_D static unit select_unit(bool is_first, const unit& first, const unit& second) {
    constexpr std::size_t part_bytes = detail::least<std::size_t>(sizeof(unit), 4);
    using parts = item_words<unit, access_word<part_bytes>>;
    parts a(first);
    const parts b(second);
    STRATA_UNROLL
    for (std::size_t i = 0; i < parts::count; ++i) a.word[i] = is_first ? a.word[i] : b.word[i];
    return a.value();
  }

  template <class Type>
  STRATA_D Type* at(int address) {
    return platform::shared_pointer<Type>(bytes_, static_cast<unsigned>(address));
  }
  STRATA_D T load_at(int address) {
    if constexpr (std::is_scalar_v<T>) {
      return *at<T>(address);
    } else {
      words item;
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) {
        item.word[i] = *at<unit>(address + static_cast<int>(i * sizeof(unit)));
      }
      return item.value();
    }
  }
  STRATA_D void store_at(int address, const T& item) {
    if constexpr (std::is_scalar_v<T>) {
      *at<T>(address) = item;
    } else {
      const words in_words(item);
      STRATA_UNROLL
      for (std::size_t i = 0; i < words::count; ++i) {
        *at<unit>(address + static_cast<int>(i * sizeof(unit))) = in_words.word[i];
      }
    }
  }

  /// Stores the vectors in the order of `turned_access`. Lanes whose vectors lie in the same banks begin with different
  /// ones, so there are no bank conflicts.
  STRATA_D void put_vectors(int thread, bool descends, const T (&items)[items_per_thread]) {
    constexpr int items_per_access = access_bytes / item_bytes;
    struct alignas(access_bytes) vector {
      unit item[static_cast<std::size_t>(items_per_access)];
    };
    vector vectors[static_cast<std::size_t>(accesses)];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const words item(items[i]), mirrored(items[ItemsPerThread - 1 - i]);
      vectors[i / items_per_access].item[i % items_per_access] = descends ? mirrored.word[0] : item.word[0];
    }
    const int first = base() + thread * thread_bytes;
    const int turn = vectors_access::turn(thread);
    STRATA_UNROLL
    for (int bit = 1; bit < accesses; bit *= 2) {
      const bool swaps = (turn & bit) != 0;
      STRATA_UNROLL
      for (int i = 0; i < accesses; ++i) {
        if ((i & bit) == 0) {
          STRATA_UNROLL
          for (int j = 0; j < items_per_access; ++j) {
            const unit low = vectors[i].item[j], high = vectors[i | bit].item[j];
            vectors[i].item[j] = swaps ? high : low;
            vectors[i | bit].item[j] = swaps ? low : high;
          }
        }
      }
    }
    using access = access_word<static_cast<std::size_t>(access_bytes)>;
    STRATA_UNROLL
    for (int i = 0; i < accesses; ++i) {
      access whole;
      std::memcpy(&whole, &vectors[i], sizeof(access));
      *at<access>(first + (i ^ turn) * access_bytes) = whole;
    }
  }

  static constexpr int storage_bytes =
      is_vector     ? thread_bytes * Threads
      : fills_banks ? thread_bytes * Threads + item_bytes
                    : exchange_layout::storage_elements(tile_items) * exchange_layout::unit_bytes;
  alignas(detail::most(access_bytes,
                       static_cast<int>(alignof(T)))) unsigned char bytes_[static_cast<std::size_t>(storage_bytes)];
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_async_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/thread/specializations/vector_access.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Values that say where they are.
template <class Index>
struct place_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Index;
  using difference_type = long long;
  using pointer = const Index*;
  using reference = Index;
  STRATA_HD Index operator[](long long place) const {
    STRATA_ASSERT(can_index<Index>(place + 1),
                  "the index %lld of an item does not fit the type of indices", place);
    return static_cast<Index>(place);
  }
};

/// Brings an item to shared memory; the thread that started this waits for its asynchronous copies.
template <class T, class Iterator>
STRATA_D void load_part(T* shared, const Iterator& from, long long place) {
  if constexpr (is_pointer_to<Iterator, T> && platform::is_async_copy_size<T>) {
    platform::copy_async<sizeof(T)>(shared, from + place);
  } else {
    *shared = static_cast<T>(from[static_cast<difference_of<Iterator>>(place)]);
  }
}

/// Whether several items, or one, fill 16 bytes and are never astride of them.
template <class T>
inline constexpr bool transfers_vectors = 16 % sizeof(T) == 0 && alignof(T) == sizeof(T);

/// Moves items between device memory and shared memory, by a block, 16 bytes at a time. Both sides begin
/// as far behind a multiple of 16 bytes. No other bytes than those of the items are read or written.
template <class T, int BlockThreads>
struct vector_transfer {
  static constexpr int vector_bytes = 16;
  static constexpr int vector_items = vector_bytes / static_cast<int>(sizeof(T));

  /// Items behind a multiple of 16 bytes.
  STRATA_D static int surplus(const T* p) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % vector_bytes / sizeof(T));
  }

  STRATA_D static void load(int thread, const T* from, int items, T* shared) {
    const ends_of ends(surplus(from), items);
    STRATA_UNROLL_N(4)
    for (int v = thread; v < ends.vectors; v += BlockThreads) {
      const int i = ends.head + v * vector_items;
      platform::copy_async<vector_bytes>(shared + i, from + i);
    }
    const int i = ends.single(thread, items);
    if (i >= 0) shared[i] = from[i];
  }

  STRATA_D static void store(int thread, const T* shared, int items, T* to) {
    const ends_of ends(surplus(to), items);
    STRATA_UNROLL_N(4)
    for (int v = thread; v < ends.vectors; v += BlockThreads) {
      const int i = ends.head + v * vector_items;
      item_vector<T, vector_items> vector;
      vector.load(shared + i);
      vector.store_global(to + i);
    }
    const int i = ends.single(thread, items);
    if (i >= 0) to[i] = shared[i];
  }

 private:
  struct ends_of {
    int head;  // items before the first whole vector
    int vectors;

    STRATA_D ends_of(int surplus, int items) {
      head = surplus == 0 ? 0 : vector_items - surplus;
      head = head < items ? head : items;
      vectors = static_cast<int>(static_cast<unsigned>(items - head) / unsigned{vector_items});
    }
    /// The item outside of whole vectors that a thread has to move, or -1.
    STRATA_D int single(int thread, int items) const {
      if (thread < head) return thread;
      const int i = vectors * vector_items + thread;
      return i < items && thread >= head ? i : -1;
    }
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

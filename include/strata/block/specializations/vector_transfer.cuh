// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/async_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/specializations/vector_access.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Copies a key or a value to shared memory. The calling thread must wait for its asynchronous copies.
template <class T, class Iterator>
STRATA_D void load_part(T* shared, const Iterator& from, long long index) {
  if constexpr (is_pointer_to<Iterator, T> && platform::is_async_copy_size<T>) {
    platform::copy_async<sizeof(T)>(shared, from + index);
  } else {
    *shared = static_cast<T>(from[static_cast<difference_of<Iterator>>(index)]);
  }
}

/// True if 16 bytes hold whole items, and no item crosses a 16-byte boundary.
template <class T>
inline constexpr bool transfers_vectors = vector_bytes % sizeof(T) == 0 && alignof(T) == sizeof(T);

/// Moves items between device memory and shared memory, by a block, 16 bytes at a time. Both sides have the
/// same alignment to 16 bytes. No other bytes than those of the items are read or written. The ends are not
/// found by aligned_range: its formula takes 18 instructions more in the merges of sm_90.
template <class T, int BlockThreads>
struct vector_transfer {
  static constexpr int vector_items = vector_bytes / static_cast<int>(sizeof(T));

  /// Returns how many items lie between the last 16-byte boundary and `p`.
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
    if (i >= 0) detail::load_part(shared + i, from, i);
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
      head = detail::least(head, items);
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

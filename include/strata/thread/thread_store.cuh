// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform/cache_modifiers.cuh>

STRATA_NAMESPACE_BEGIN

/// Stores `val` at `itr` with a cache modifier: see CacheStoreModifier. Any thread may call, alone.
///
/// - Items may have any size. They are stored in words as large as their alignment, of 1 to 16 bytes. Nothing is stored
///   beside them. An item of several words is not stored at once.
/// - Memory may be global, shared or local.
/// - If `itr` is a pointer, `val` is converted to the type of the items. This type must be trivially relocatable. With
///   STORE_DEFAULT, the type only has to be assignable, and `itr` may be any iterator. With any other modifier, `itr`
///   must be a pointer.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ double3 points[3];
///
/// // Points that this kernel does not read again: their lines leave the caches first.
/// STRATA_KERNEL void make_points(double3* out) {
///   const double x = threadIdx.x;
///   strata::ThreadStore<strata::STORE_CS>(out + threadIdx.x, double3{x, x * x, 0.5});
/// }
///
/// int main() {
///   if (strata::launch({"make_points", 1, 3}, make_points, points) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const double3& point : points) std::printf("(%g, %g, %g) ", point.x, point.y, point.z);
/// }
/// // prints: (0, 0, 0.5) (1, 1, 0.5) (2, 4, 0.5)
/// @endcode
template <CacheStoreModifier Modifier, class OutputIteratorT, class T>
STRATA_D void ThreadStore(OutputIteratorT itr, T val) {
  if constexpr (std::is_pointer_v<OutputIteratorT>) {
    using Item = std::remove_pointer_t<OutputIteratorT>;
    detail::store_item<Modifier, Item>(itr, static_cast<Item>(val));
  } else {
    static_assert(Modifier == STORE_DEFAULT,
                  "ThreadStore: a cache modifier needs an address: pass a pointer, or use the modifier STORE_DEFAULT");
    *itr = val;
  }
}

STRATA_NAMESPACE_END

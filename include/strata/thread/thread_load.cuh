// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform/cache_modifiers.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN

/// The item at `itr`, loaded with a cache modifier: see CacheLoadModifier. Any thread may call, alone.
///
/// - Items may have any size. They are loaded in words as large as their alignment, of 1 to 16 bytes. Nothing is loaded
///   beside them. An item of several words is not loaded at once.
/// - Memory may be global, shared or local; with LOAD_LDG it must be global, and the kernel must not write it.
/// - A load sees what its thread has stored before. LOAD_VOLATILE may be used to poll memory. It does not order
///   accesses to other memory.
/// - The items' type must be trivially relocatable. With LOAD_DEFAULT it may be any that can be copied, and `itr` any
///   iterator; otherwise `itr` is a pointer.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ double once[4] = {1, 2, 3, 4}, often[4] = {10, 20, 30, 40}, sums[4];
///
/// // The first array is read once, the second by other kernels too: L2 keeps it.
/// STRATA_KERNEL void add(const double* streamed, const double* kept, double* out, int count) {
///   const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
///   if (i >= count) return;
///   out[i] = strata::ThreadLoad<strata::LOAD_CS>(streamed + i) + strata::ThreadLoad<strata::LOAD_CG>(kept + i);
/// }
///
/// int main() {
///   if (strata::launch({"add", 1, 32}, add, once, often, sums, 4) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const double sum : sums) std::printf("%g ", sum);
/// }
/// // prints: 11 22 33 44
/// @endcode
template <CacheLoadModifier Modifier, class RandomAccessIterator>
STRATA_D detail::iterator_value_t<RandomAccessIterator> ThreadLoad(RandomAccessIterator itr) {
  using T = detail::iterator_value_t<RandomAccessIterator>;
  if constexpr (std::is_pointer_v<RandomAccessIterator>) {
    return detail::load_item<Modifier, T>(itr);
  } else {
    static_assert(Modifier == LOAD_DEFAULT,
                  "ThreadLoad: a cache modifier needs an address: pass a pointer, or use the modifier LOAD_DEFAULT");
    return static_cast<T>(*itr);
  }
}

STRATA_NAMESPACE_END

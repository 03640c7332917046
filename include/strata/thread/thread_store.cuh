// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform_cache_modifiers.cuh>

#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Stores `val` at `itr` with a cache modifier: see CacheStoreModifier. Any thread may call, alone.
///
/// - Any size of items: they are stored in words as large as their alignment, of 1 to 16 bytes. Nothing is stored
///   beside them. An item of several words is not stored at once.
/// - Memory may be global, shared or local.
/// - To a pointer, `val` is converted to the type that it points to, which must be trivially relocatable. With
///   STORE_DEFAULT it may be any that can be assigned, and `itr` any iterator; otherwise `itr` is a pointer.
///
/// For an example see ThreadLoad.
template <CacheStoreModifier Modifier, class OutputIteratorT, class T>
STRATA_D void ThreadStore(OutputIteratorT itr, T val) {
  if constexpr (std::is_pointer_v<OutputIteratorT>) {
    using Item = std::remove_pointer_t<OutputIteratorT>;
    detail::store_item<Modifier, Item>(itr, static_cast<Item>(val));
  } else {
    static_assert(Modifier == STORE_DEFAULT,
                  "ThreadStore: cache modifiers are for addresses: pass a pointer, or the modifier STORE_DEFAULT");
    *itr = val;
  }
}

STRATA_NAMESPACE_END

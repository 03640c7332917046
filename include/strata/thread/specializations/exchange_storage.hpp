// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The shared memory of a load or store: the storage of `Exchange` if items change threads, otherwise
/// nothing, and `Exchange` is not instantiated.
template <bool ItemsChangeThreads, class Exchange>
struct exchange_storage {
  using type = typename Exchange::TempStorage;
};
template <class Exchange>
struct exchange_storage<false, Exchange> {
  using type = Uninitialized<NullType>;
};

}  // namespace detail
STRATA_NAMESPACE_END

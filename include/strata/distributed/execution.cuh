// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/engine/execution.cuh>

#include <cstddef>

/// \file
/// Calls without temporary storage, by all ranks of a communicator.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// with_storage() for calls of ranks. If the allocator returns an error, the rank makes the call nevertheless, with too
/// little storage. (If the allocator throws, the rank makes no call, and the other ranks wait for it.) The call refuses
/// this like other bad arguments, so no rank waits for this one. The rank returns the error of its allocator.
template <class Call, class... Arguments>
cudaError_t with_storage_of_rank(Call call, Arguments&... arguments) {
  auto&& where = detail::execution_of(arguments...);
  void* storage = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = call(storage, bytes, detail::call_argument(arguments)...);
  if (status != cudaSuccess) return status;
  const cudaError_t allocated = detail::allocate_storage(storage, bytes, where);
  if (allocated != cudaSuccess) {
    unsigned char none = 0;
    bytes = 0;
    static_cast<void>(call(static_cast<void*>(&none), bytes, detail::call_argument(arguments)...));
    return allocated;
  }
  status = call(storage, bytes, detail::call_argument(arguments)...);
  const cudaError_t freed = detail::deallocate_storage(storage, bytes, where);
  return status != cudaSuccess ? status : freed;
}

}  // namespace detail
STRATA_NAMESPACE_END

/// STRATA_CALL_WITHOUT_STORAGE for calls of ranks.
#define STRATA_CALL_OF_RANK_WITHOUT_STORAGE(...) STRATA_DETAIL_CALL_FORMS(with_storage_of_rank, __VA_ARGS__, fixed, )

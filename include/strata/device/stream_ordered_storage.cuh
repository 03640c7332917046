// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Makes a two-phase call with memory from the stream-ordered allocator, which it gives back on the
/// same stream: neither waits for the device. `call` captures nothing: g++ warns if a lambda captures an object of a
/// type with hidden visibility, which types in unnamed namespaces have.
template <class Call, class... Arguments>
cudaError_t with_stream_ordered_storage(cudaStream_t stream, Call call, const Arguments&... arguments) {
  void* storage = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = call(storage, bytes, arguments..., stream);
  if (status != cudaSuccess) return status;
  status = cudaMallocAsync(&storage, bytes, stream);
  if (status != cudaSuccess) return status;
  status = call(storage, bytes, arguments..., stream);
  const cudaError_t freed = cudaFreeAsync(storage, stream);
  return status != cudaSuccess ? status : freed;
}

STRATA_ARCH_DETAIL_NAMESPACE_END

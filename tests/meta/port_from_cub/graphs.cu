// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prefix sums, sorts with DoubleBuffer, and selections of a graph library. Types are template parameters.
// not with: CUB 3.0
#include <cub/cub.cuh>

template <typename Index>
cudaError_t sort_csr(void* temp, size_t& bytes, Index* keys, Index* sorted, int64_t* in, int64_t* out, int64_t n,
                     int bits, cudaStream_t stream) {
  cub::DoubleBuffer<Index> key_buffer(keys, sorted);
  cub::DoubleBuffer<int64_t> value_buffer(in, out);
  cudaError_t error = cub::DeviceRadixSort::SortPairs(temp, bytes, key_buffer, value_buffer, n, 0, bits, stream);
  if (error == cudaSuccess) error = cub::DeviceScan::ExclusiveSum(temp, bytes, keys, sorted, n, stream);
  cub::CountingInputIterator<Index> counting(0);
  if (error == cudaSuccess)
    error = cub::DeviceSelect::Flagged(temp, bytes, counting, keys, sorted, out, static_cast<int>(n), stream);
  return error;
}
template cudaError_t sort_csr<int>(void*, size_t&, int*, int*, int64_t*, int64_t*, int64_t, int, cudaStream_t);

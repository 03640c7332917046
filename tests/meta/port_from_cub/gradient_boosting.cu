// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls CUB's dispatch layer for 64-bit counts, and parts of CUB that are not for users.
// by hand: cub::DispatchScan<const int*, int*, plus, strata::NullType, size_t>::Dispatch( => scan_of_64_bits(
// by hand: cub::CurrentDevice() => device()
// by hand: CubDebugExit( => static_cast<void>(
#include <cub/cub.cuh>
#include <cub/device/device_scan.cuh>
// report: <cub/util_allocator.cuh> has no counterpart: allocation in the order of a stream
#include <cub/util_allocator.cuh>

struct plus {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
inline int device() { return 0; }

template <class Op, class Init>
cudaError_t scan_of_64_bits(void* temp, size_t& bytes, const int* in, int* out, Op op, Init, size_t n,
                            cudaStream_t stream) {
  return cub::DeviceScan::InclusiveScan(temp, bytes, in, out, op, n, stream);
}

cudaError_t scan(void* temp, size_t& bytes, const int* in, int* out, size_t n) {
  // report: cub::CurrentDevice has no counterpart: `cudaGetDevice`
  if (cub::CurrentDevice() < 0) return cudaErrorInvalidDevice;
  // report: CubDebugExit has no counterpart: the error that a call returns
  CubDebugExit(cudaGetLastError());
  // report: cub::DispatchScan has no counterpart: `DeviceScan`, which takes counts of 64 bits
  return cub::DispatchScan<const int*, int*, plus, cub::NullType, size_t>::Dispatch(temp, bytes, in, out, plus{},
                                                                                    cub::NullType{}, n, nullptr);
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sampling with sums over blocks. The source uses libcu++ through CUB's headers.
// by hand: #include <cuda/std/limits>
// by hand: #include <cuda/functional>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

constexpr cub::BlockScanAlgorithm scan_algorithm = cub::BLOCK_SCAN_WARP_SCANS;
template <int Threads>
struct temp_storage {
  union {
    typename cub::BlockScan<float, Threads, scan_algorithm>::TempStorage scan;
    typename cub::BlockReduce<cub::KeyValuePair<int, float>, Threads>::TempStorage pairs;
    typename cub::BlockReduce<float, Threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>::TempStorage reduce;
    typename cub::BlockAdjacentDifference<bool, Threads>::TempStorage difference;
  };
};

template <int Threads>
__global__ void sample(const float* in, float* out) {
  __shared__ temp_storage<Threads> storage;
  // report: cuda::std::numeric_limits came along with CUB: add #include <cuda/std/limits>
  float value = threadIdx.x < 7 ? in[threadIdx.x] : -cuda::std::numeric_limits<float>::infinity();
  // report: cuda::maximum came along with CUB: add #include <cuda/functional>
  const cuda::maximum<> larger;
  const float most =
      cub::BlockReduce<float, Threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(storage.reduce).Reduce(value, larger);
  __syncthreads();
  const cub::KeyValuePair<int, float> best =
      cub::BlockReduce<cub::KeyValuePair<int, float>, Threads>(storage.pairs)
          .Reduce(cub::KeyValuePair<int, float>(static_cast<int>(threadIdx.x), value), cub::ArgMax());
  __syncthreads();
  cub::BlockScan<float, Threads, scan_algorithm>(storage.scan).InclusiveSum(value, value);
  out[threadIdx.x] = best.key + most + value;
}
template __global__ void sample<128>(const float*, float*);

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax of each row of a matrix, exp(x - max) / sum of these, in one kernel: device memory is read once and written
// once. Three kernels of a library (maximum, sum of exponentials, division) would read it three times.
#include <strata/block/block_load.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// A block takes a row of up to Threads * Items columns.
template <int Threads, int Items>
STRATA_KERNEL void softmax_by_blocks(const float* in, float* out, int columns) {
  using Load = strata::BlockLoad<float, Threads, Items, strata::BLOCK_LOAD_TRANSPOSE>;
  using Reduce = strata::BlockReduce<float, Threads>;
  using Store = strata::BlockStore<float, Threads, Items, strata::BLOCK_STORE_TRANSPOSE>;
  union Shared {
    typename Load::TempStorage load;
    typename Reduce::TempStorage reduce;
    typename Store::TempStorage store;
  };
  STRATA_SHARED(shared, Shared);
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  float items[Items];

  Load(shared.load).Load(in + row, items, columns, -INFINITY);
  __syncthreads();  // The next step uses the same shared memory.
  const float largest = Reduce(shared.reduce).AllReduce(items, strata::Max{});
  for (float& item : items) item = std::exp(item - largest);  // 0 behind the end of the row
  __syncthreads();
  const float sum = Reduce(shared.reduce).AllSum(items);
  for (float& item : items) item /= sum;
  __syncthreads();
  Store(shared.store).Store(out + row, items, columns);
}

/// Lanes threads of a warp take a row of up to Lanes * Items columns. No shared memory, no barrier.
template <int Lanes, int Items>
STRATA_KERNEL void softmax_by_warps(const float* in, float* out, int rows, int columns) {
  using Reduce = strata::WarpReduce<float, Lanes>;
  typename Reduce::TempStorage unused;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const int row = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / Lanes);
  if (row >= rows) return;  // All lanes of a logical warp leave, or none.
  const long long first = static_cast<long long>(row) * columns;
  float items[Items];

  for (int i = 0; i < Items; ++i) {
    const int column = i * Lanes + lane;
    items[i] = column < columns ? in[first + column] : -INFINITY;
  }
  const float largest = Reduce(unused).AllReduce(items, strata::Max{});
  for (float& item : items) item = std::exp(item - largest);
  const float sum = Reduce(unused).AllSum(items);
  for (int i = 0; i < Items; ++i) {
    const int column = i * Lanes + lane;
    if (column < columns) out[first + column] = items[i] / sum;
  }
}

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "softmax: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

/// Calls `launch(in, out)` with a matrix on the device, and compares with a loop on the host.
template <class Launch>
static bool is_right(int rows, int columns, Launch launch) {
  std::vector<float> matrix(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i * 7919 % 1009) / 100.0f;
  std::vector<float> result(matrix.size());
  const std::size_t bytes = matrix.size() * sizeof(float);
  float *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&out, bytes));
  check(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice));
  check(launch(in, out));
  check(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(in));
  check(cudaFree(out));

  double error = 0;
  for (std::size_t row = 0; row < matrix.size(); row += static_cast<std::size_t>(columns)) {
    const auto end = row + static_cast<std::size_t>(columns);
    double sum = 0;
    for (std::size_t i = row; i < end; ++i) sum += std::exp(static_cast<double>(matrix[i]));
    for (std::size_t i = row; i < end; ++i) {
      const double expected = std::exp(static_cast<double>(matrix[i])) / sum;
      error = std::max(error, std::abs(result[i] / expected - 1));
    }
  }
  const bool right = error < 1e-5;
  std::printf("softmax of %d rows of %d: %s\n", rows, columns, right ? "right" : "wrong");
  return right;
}

int main() {
  const bool by_blocks = is_right(20, 1000, [](const float* in, float* out) {
    return strata::launch({"softmax_by_blocks", 20, 128}, softmax_by_blocks<128, 8>, in, out, 1000);
  });
  const bool by_warps = is_right(100, 30, [](const float* in, float* out) {
    return strata::launch({"softmax_by_warps", 7, 128}, softmax_by_warps<8, 4>, in, out, 100, 30);
  });
  return by_blocks && by_warps ? 0 : 1;
}

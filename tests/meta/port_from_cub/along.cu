// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names that one header of CUB provides, although another header declares them.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_merge.cuh>

__global__ void copy(const int* in, int* out) {
  int items[2];
  cub::LoadDirectStriped<32>(threadIdx.x, in, items);
  items[0] += cub::ThreadLoad<cub::LOAD_CG>(in) + cub::ShuffleIndex<32>(items[1], 0, 0xffffffffu);
  cub::StoreDirectStriped<32>(threadIdx.x, out, items);
  out[cub::RowMajorTid(32, 1, 1)] = cub::LOAD_DEFAULT;
}

cudaError_t version(int& number) {
  cub::CacheModifiedInputIterator<cub::LOAD_LDG, int> unused(static_cast<const int*>(nullptr));
  static_cast<void>(unused);
  return cub::PtxVersion(number);
}

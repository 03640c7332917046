// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix selection of the top k: converts keys to ordered codes and back.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/util_type.cuh>

template <typename T, int BitsPerPass>
__device__ typename cub::Traits<T>::UnsignedBits twiddle_in(T key, bool select_min) {
  auto bits = reinterpret_cast<typename cub::Traits<T>::UnsignedBits&>(key);
  bits = cub::Traits<T>::TwiddleIn(bits);
  return select_min ? bits : ~bits;
}

template <typename T>
__device__ T twiddle_out(typename cub::Traits<T>::UnsignedBits bits, bool select_min) {
  bits = cub::Traits<T>::TwiddleOut(select_min ? bits : ~bits);
  return reinterpret_cast<T&>(bits);
}

__global__ void bounds(const float* in, float* out, double* more) {
  out[0] = twiddle_out<float>(twiddle_in<float, 11>(in[0], true), false);
  more[0] = twiddle_out<double>(twiddle_in<double, 11>(more[0], true), true);
}

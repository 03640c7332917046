// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/device/device_reduce.cuh>

std::size_t storage_bytes_elsewhere() {
  std::size_t bytes = 0;
  const int* in = nullptr;
  int* out = nullptr;
  static_cast<void>(strata::DeviceReduce::Sum(nullptr, bytes, in, out, 1000));
  return bytes;
}

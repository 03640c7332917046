// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_transpose.cuh>

struct owner {
  int value;
#ifdef STRATA_BAD
  ~owner() { value = 0; }
#endif
};

cudaError_t transpose(const owner* in, owner* out) { return strata::DeviceTranspose::Transpose(in, out, 10, 20); }

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_merge_sort.cuh>

struct counted {
  int value;
  counted() = default;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_BAD)
using value = counted;
#else
using value = plain;
#endif

STRATA_KERNEL void sort(int* out) {
  int keys[1] = {static_cast<int>(threadIdx.x) % 3};
  value values[1];
  values[0].value = 0;
  using Sort = strata::WarpMergeSort<int, 1, 32, value>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  Sort(temp_storage).Sort(keys, values, is_less{});
  out[threadIdx.x] = values[0].value;
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Counts the atomic additions to the number of results. It compiles a second copy of all joins, whose atomicAdd counts,
// in a namespace of its own. So the joins that are timed stay as they are.
#define STRATA_NAMESPACE_WRAP counted
#define JOIN_STRATEGIES_NAMESPACE counted

// These headers use the real atomicAdd.
#include "../../common/device.cuh"

__managed__ unsigned long long* counted_total;
__managed__ unsigned long long additions;

template <class T, class Value>
STRATA_D T counting_add(T* address, Value value) {
  if constexpr (sizeof(T) == sizeof(*counted_total)) {
    if (static_cast<void*>(address) == counted_total) atomicAdd(&additions, 1ull);
  }
  return atomicAdd(address, static_cast<T>(value));
}
#define atomicAdd counting_add

#include "steps.cuh"

namespace join_strategies {

unsigned long long count_additions(step which, const join_arguments& join) {
  using example::check;
  counted::join_strategies::joiner joiner(which, join);
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  counted_total = join.total;
  additions = 0;
  joiner.start();
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  return additions;
}

}  // namespace join_strategies

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A variant: a shared library with two functions, which timing.cu loads. tune.py writes the source of a variant, which
/// defines types, a policy hub, and TUNE_VARIANT.

#include <strata/core/chained_policy.hpp>
#include <strata/core/launcher.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#if defined(TUNE_SCAN)
#include <strata/device/device_scan.cuh>
#elif defined(TUNE_REDUCE)
#include <strata/device/device_reduce.cuh>
#elif defined(TUNE_RADIX_SORT)
#include <strata/device/device_radix_sort.cuh>
#elif defined(TUNE_MERGE_SORT)
#include <strata/device/device_merge_sort.cuh>
#endif

#define TUNE_EXPORT extern "C" __attribute__((visibility("default")))

namespace tune {

/// Arrays of a call. Arrays of values are null if there are no values.
struct arrays {
  const void* keys;
  const void* values;
  void* keys_out;
  void* values_out;
};

/// `tune_call`: a call in CUB's form. Without storage, it writes the number of bytes.
using call_function = cudaError_t(void* storage, std::size_t* bytes, const arrays* all, int n, cudaStream_t stream);
/// `tune_rows`: writes a line for each row of the policy that a device of this version uses.
using rows_function = void(int ptx_version, char* text, std::size_t size);

#if defined(TUNE_KEY)

using Key = TUNE_KEY;
using Value = TUNE_VALUE;  // NullType if there are no values
inline constexpr bool has_values = !std::is_same_v<Value, strata::NullType>;

/// The call that is timed. `Device` is the library's class of device calls, or such a class with a policy hub.
template <class Device>
cudaError_t call(void* storage, std::size_t& bytes, const arrays& all, int n, cudaStream_t stream) {
  const auto* keys = static_cast<const Key*>(all.keys);
  auto* keys_out = static_cast<Key*>(all.keys_out);
#if defined(TUNE_SCAN)
  return Device::ExclusiveSum(storage, bytes, keys, keys_out, n, stream);
#elif defined(TUNE_REDUCE)
  return Device::Sum(storage, bytes, keys, keys_out, n, stream);
#else
  const auto* values = static_cast<const Value*>(all.values);
  auto* values_out = static_cast<Value*>(all.values_out);
#if defined(TUNE_RADIX_SORT)
  constexpr int key_bits = 8 * int{sizeof(Key)};
  if constexpr (has_values) {
    return Device::SortPairs(storage, bytes, keys, keys_out, values, values_out, n, 0, key_bits, stream);
  } else {
    return Device::SortKeys(storage, bytes, keys, keys_out, n, 0, key_bits, stream);
  }
#elif defined(TUNE_MERGE_SORT)
  if constexpr (has_values) {
    return Device::SortPairsCopy(storage, bytes, keys, values, keys_out, values_out, n, strata::Less{}, stream);
  } else {
    return Device::SortKeysCopy(storage, bytes, keys, keys_out, n, strata::Less{}, stream);
  }
#endif
#endif
}

#endif  // TUNE_KEY

}  // namespace tune

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/distributed/sort/dispatch.cuh>
#include <strata/distributed/sort/local_sort.cuh>
#include <strata/distributed/sort/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// One call. `Policy` may be replaced to override the tuning.
template <class Policy = distributed_sort_policy, class KeysIn, class ValuesIn, class Key, class Value, class Compare>
cudaError_t distributed_merge_sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn d_keys_in,
                                   ValuesIn d_values_in, std::int64_t num_items, Key* d_keys_out, Value* d_values_out,
                                   std::int64_t capacity, std::int64_t* num_out, Compare compare, ncclComm_t comm,
                                   cudaStream_t stream) {
  if constexpr (compare_requirements<Compare, Key>::are_met) {
    using Arguments = distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>;
    const Arguments arguments{d_keys_in, d_values_in, num_items, {d_keys_out, d_values_out}, capacity, num_out};
    return DispatchDistributedSort<Arguments, local_merge_sort<Compare>, Compare, Policy>::Dispatch(
        d_temp_storage, temp_storage_bytes, arguments, {compare}, compare, comm, stream);
  }
  return cudaErrorInvalidValue;
}

template <bool IsDescending, class Policy = distributed_sort_policy, class KeysIn, class ValuesIn, class Key,
          class Value, class Decomposer>
cudaError_t distributed_radix_sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn d_keys_in,
                                   ValuesIn d_values_in, std::int64_t num_items, Key* d_keys_out, Value* d_values_out,
                                   std::int64_t capacity, std::int64_t* num_out, Decomposer decomposer, int begin_bit,
                                   int end_bit, ncclComm_t comm, cudaStream_t stream) {
  using Arguments = distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>;
  using Compare = radix_less<Key, IsDescending, Decomposer>;
  const Arguments arguments{d_keys_in, d_values_in, num_items, {d_keys_out, d_values_out}, capacity, num_out};
  return DispatchDistributedSort<Arguments, local_radix_sort<IsDescending, Decomposer>, Compare, Policy>::Dispatch(
      d_temp_storage, temp_storage_bytes, arguments, {decomposer, begin_bit, end_bit},
      Compare(decomposer, begin_bit, end_bit), comm, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

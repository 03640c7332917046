// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_partition.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a partition. What a partition in two lacks is NullType; its parts are in `d_first_out`.
template <class PolicyHub, class KeyIterator, class ValueIterator, class FirstOutput, class SecondOutput,
          class RestOutput, class NumSelectedIterator, class NumItemsT, class FirstOp, class SecondOp>
cudaError_t dispatch_partition(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                               ValueIterator d_values, FirstOutput d_first_out, SecondOutput d_second_out,
                               RestOutput d_rest_out, NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                               FirstOp first_op, SecondOp second_op, cudaStream_t stream) {
  using Key = iterator_value_t<KeyIterator>;
  constexpr bool has_second = !std::is_same_v<SecondOp, NullType>;
  using second_requirements = predicate_requirements<std::conditional_t<has_second, SecondOp, FirstOp>, Key>;
  constexpr bool is_possible = predicate_requirements<FirstOp, Key>::are_met && second_requirements::are_met;
  using Problem = partition_problem<item_count_t<NumItemsT>, KeyIterator, ValueIterator, part_of<FirstOp, SecondOp>,
                                    FirstOutput, SecondOutput, RestOutput, NumSelectedIterator>;
  const Problem problem{{d_keys, d_values, {}, {}, d_num_selected_out, {first_op, second_op}},
                        d_first_out,
                        d_second_out,
                        d_rest_out,
                        detail::max_items(num_items)};
  if (d_temp_storage != nullptr &&
      detail::overwrites_count(num_items, d_num_selected_out, "d_num_selected_out", has_second ? 2 : 1)) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero<(has_second ? 2 : 1)>("strata::DevicePartition", d_num_selected_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

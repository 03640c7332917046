// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_non_trivial_runs.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a reduction by key, whose sums are carried in `T`. Without values (NullType), each
/// item counts as 1.
template <class T, class PolicyHub, class KeyIterator, class ValueIterator, class UniqueIterator,
          class AggregateIterator, class NumRunsIterator, class ReductionOp, class EqualityOp, class NumItemsT>
cudaError_t dispatch_reduce_by_key(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   KeyIterator d_keys, ValueIterator d_values, UniqueIterator d_unique_out,
                                   AggregateIterator d_aggregates_out, NumRunsIterator d_num_runs_out,
                                   ReductionOp reduction_op, EqualityOp equality_op, NumItemsT num_items,
                                   cudaStream_t stream) {
  constexpr bool is_possible = equality_requirements<EqualityOp, iterator_value_t<KeyIterator>>::are_met &&
                               operator_requirements<ReductionOp, T>::are_met && relocatable_requirements<T>::are_met;
  using Problem = reduce_by_key_problem<item_count_t<NumItemsT>, T, KeyIterator, ValueIterator, UniqueIterator,
                                        AggregateIterator, NumRunsIterator, ReductionOp, EqualityOp>;
  const Problem problem{d_keys, d_values, d_unique_out, d_aggregates_out, d_num_runs_out, reduction_op, equality_op};
  if (d_temp_storage != nullptr && detail::overwrites_count(num_items, d_num_runs_out, "d_num_runs_out")) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero(name, d_num_runs_out, stream);
}

/// Carries out one call that finds the runs of more than one item.
template <class PolicyHub, class KeyIterator, class OffsetIterator, class LengthIterator, class NumRunsIterator,
          class NumItemsT>
cudaError_t dispatch_non_trivial_runs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                                      OffsetIterator d_offsets_out, LengthIterator d_lengths_out,
                                      NumRunsIterator d_num_runs_out, NumItemsT num_items, cudaStream_t stream) {
  constexpr bool is_possible = equality_requirements<strata::Equality, iterator_value_t<KeyIterator>>::are_met;
  using Problem =
      non_trivial_runs_problem<item_count_t<NumItemsT>, KeyIterator, OffsetIterator, LengthIterator, NumRunsIterator>;
  const Problem problem{d_keys, d_offsets_out, d_lengths_out, d_num_runs_out, static_cast<std::size_t>(num_items)};
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || num_items > 0) return status;
  return detail::write_zero("strata::DeviceRunLengthEncode", d_num_runs_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

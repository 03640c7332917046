// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_select.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a selection. `InPlace`: the input is the output.
template <select_by By, bool InPlace, class PolicyHub, class KeyIterator, class ValueIterator, class KeyOutputIterator,
          class ValueOutputIterator, class NumSelectedIterator, class NumItemsT, class Op>
cudaError_t dispatch_select(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                            ValueIterator d_values, KeyOutputIterator d_keys_out, ValueOutputIterator d_values_out,
                            NumSelectedIterator d_num_selected_out, NumItemsT num_items, Op op, cudaStream_t stream) {
  using Key = iterator_value_t<KeyIterator>;
  using requirements =
      std::conditional_t<By == select_by::difference, equality_requirements<Op, Key>, predicate_requirements<Op, Key>>;
  using Select = select_problem<By, item_count_t<NumItemsT>, KeyIterator, ValueIterator, KeyOutputIterator,
                                ValueOutputIterator, NumSelectedIterator, Op>;
  using Problem = std::conditional_t<InPlace, select_in_place_problem<Select>, Select>;
  const Select select{d_keys, d_values, d_keys_out, d_values_out, d_num_selected_out, op};
  if (d_temp_storage != nullptr && detail::overwrites_count(num_items, d_num_selected_out, "d_num_selected_out")) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<requirements::are_met, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, Problem{select}, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero("strata::DeviceSelect", d_num_selected_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

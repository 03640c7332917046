// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/merge_sort/calls.cuh>
#include <strata/device/merge_sort/workspace.cuh>
#include <strata/device/transform/dispatch.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

struct same_item {
  template <class T>
  STRATA_HD T operator()(const T& item) const {
    return item;
  }
};

template <class T, class Output>
cudaError_t write_sorted(const T* sorted, const Output& output, std::size_t items, cudaStream_t stream) {
  std::size_t unused = 1;  // A transformation needs no storage, but must be given some.
  const char* const name = "strata::DeviceMergeSort, output";
  // Tiles have the alignment of the output, if it is an array.
  if constexpr (std::is_pointer_v<Output>) {
    return detail::dispatch_transform<false>(name, &unused, unused, output, output, items, same_item{}, stream, sorted);
  } else {
    return detail::dispatch_transform<false>(name, &unused, unused, sorted, output, items, same_item{}, stream, sorted);
  }
}

/// Sorts a whole input, not segments. At least one of the outputs is an iterator that is not a pointer. Merges read
/// again what they have written, so they work in temporary storage. Then kernels write what is sorted to the outputs,
/// once. The outputs may be the inputs.
template <class PolicyHub, class Key, class Value, class KeysIn, class ValuesIn, class KeysOut, class ValuesOut,
          class Compare>
cudaError_t merge_sort_to_iterators(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn keys_in,
                                    ValuesIn values_in, KeysOut keys_out, ValuesOut values_out,
                                    const segments_to_sort<single_segment>& all, Compare compare, cudaStream_t stream) {
  enum slot { sort_storage, keys, values, slots };
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  merge_sort_arrays<Key, Value> sorted{};
  std::size_t sort_bytes = 0;
  const auto sort = [&](void* storage) {
    return detail::merge_sort_segments<PolicyHub, Key, Value>(storage, sort_bytes, keys_in, values_in, sorted, all,
                                                              compare,
                                                              /*is_in_place=*/false, /*wants_keys=*/true, stream);
  };
  cudaError_t status = sort(nullptr);
  if (status != cudaSuccess) return status;
  if (detail::refuses_reach(keys_out, all.num_items, "d_output_keys") ||
      detail::refuses_reach(values_out, all.num_items, "d_output_items")) {
    return cudaErrorInvalidValue;
  }
  const auto items = static_cast<std::size_t>(all.num_items);
  temporary_storage::layout<slots> storage;
  storage.template reserve<unsigned char>(sort_storage, sort_bytes);
  storage.template reserve<Key>(keys, items);
  if (has_values) storage.template reserve<Value>(values, items);
  if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
  if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (items == 0) return cudaSuccess;
  if (detail::refuses_null(keys_out, "d_output_keys") ||
      (has_values && detail::refuses_null(values_out, "d_output_items")) ||
      detail::pairs_overlap(keys_in, keys_out, values_in, values_out, items,
                            {"d_input_keys", "d_output_keys", "d_input_items", "d_output_items"})) {
    return cudaErrorInvalidValue;
  }
  sorted.keys = storage.template get<Key>(keys);
  if (has_values) sorted.values = storage.template get<Value>(values);
  status = sort(storage.template get<unsigned char>(sort_storage));
  if (status == cudaSuccess) status = detail::write_sorted(sorted.keys, keys_out, items, stream);
  if constexpr (has_values) {
    if (status == cudaSuccess) status = detail::write_sorted(sorted.values, values_out, items, stream);
  }
  return status;
}

STRATA_ARCH_DETAIL_NAMESPACE_END

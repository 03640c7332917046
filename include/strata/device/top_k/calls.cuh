// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/device/top_k/dispatch.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Argument checks of DeviceTopK, and the sort of its results.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Replaces `T*` by `const T*`, so that both share kernels. Other iterators stay as they are.
template <class Iterator>
struct top_k_input {
  using type = Iterator;
};
template <class T>
struct top_k_input<T*> {
  using type = const T*;
};

/// Selects items into temporary storage, and sorts them from there into the output.
template <bool IsMax, class PolicyHub, class KeyIterator, class KeyOutputIterator, class ValueIterator,
          class ValueOutputIterator, class NumItemsT>
cudaError_t sorted_top_k(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                         KeyOutputIterator d_keys_out, ValueIterator d_values_in, ValueOutputIterator d_values_out,
                         NumItemsT num_items, std::size_t k, cudaStream_t stream) {
  constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Key = iterator_value_t<KeyIterator>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using ValueArray = std::conditional_t<has_values, const Value*, NullType>;
  static_assert(std::is_same_v<KeyOutputIterator, Key*> && (!has_values || std::is_same_v<ValueOutputIterator, Value*>),
                "DeviceTopK sorts results in the output arrays: pass pointers to the types of the input, or call the "
                "function without `Sorted` in its name");
  using Select = DispatchTopK<IsMax, KeyIterator, Key*, ValueIterator, std::conditional_t<has_values, Value*, NullType>,
                              NumItemsT, PolicyHub>;
  using Sort = DispatchRadixSort<const Key*, ValueArray, Value, NumItemsT, IsMax, identity_decomposer>;
  const auto results = static_cast<NumItemsT>(k);
  const auto sort = [&](void* storage, std::size_t& bytes, const Key* keys, ValueArray values) {
    radix_buffers<ValueArray, Value> value_buffers{};
    if constexpr (has_values) value_buffers = {values, d_values_out, nullptr};
    return Sort::Dispatch(storage, bytes, {keys, d_keys_out, nullptr}, value_buffers, results, 0,
                          Sort::Digits::key_bits, {}, radix_scratch::in_storage, stream);
  };
  std::size_t select_bytes = 0, sort_bytes = 0;
  cudaError_t status =
      Select::Dispatch(nullptr, select_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items, k, stream);
  if (status == cudaSuccess) status = sort(nullptr, sort_bytes, nullptr, {});
  if (status != cudaSuccess) return status;
  temporary_storage::layout<3> storage;
  storage.reserve<Key>(0, k);
  if (has_values) storage.reserve<Value>(1, k);
  storage.reserve<unsigned char>(2, select_bytes);
  storage.reserve<unsigned char>(2, sort_bytes);
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
  if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  auto* const working = storage.get<unsigned char>(2);
  if (k <= 1) {
    return Select::Dispatch(working, select_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items, k,
                            stream);
  }
  if constexpr (std::is_same_v<KeyIterator, const Key*> && std::is_same_v<ValueIterator, ValueArray>) {
    if (k == static_cast<std::size_t>(num_items)) return sort(working, sort_bytes, d_keys_in, d_values_in);
  }
  Key* const keys = storage.get<Key>(0);
  std::conditional_t<has_values, Value*, NullType> values{};
  if constexpr (has_values) values = storage.get<Value>(1);
  status = Select::Dispatch(working, select_bytes, d_keys_in, keys, d_values_in, values, num_items, k, stream);
  return status != cudaSuccess ? status : sort(working, sort_bytes, keys, values);
}

/// Checks the arguments of a call and makes it.
template <bool IsMax, bool IsSorted, class PolicyHub, class KeyIterator, class KeyOutputIterator, class ValueIterator,
          class ValueOutputIterator, class NumItemsT, class NumOutItemsT>
cudaError_t top_k(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                  KeyOutputIterator d_keys_out, ValueIterator d_values_in, ValueOutputIterator d_values_out,
                  NumItemsT num_items, NumOutItemsT k, cudaStream_t stream) {
  if (detail::refuses_count(num_items, "num_items") || detail::refuses_count(k, "k") ||
      detail::refuses_reach(d_keys_in, num_items, "d_keys_in") ||
      detail::refuses_reach(d_values_in, num_items, "d_values_in")) {
    return cudaErrorInvalidValue;
  }
  const auto count = static_cast<std::size_t>(num_items), most = static_cast<std::size_t>(k);
  const std::size_t results = detail::least(most, count);
  if (d_temp_storage != nullptr && results > 0 &&
      (detail::refuses_null(d_keys_in, "d_keys_in") || detail::refuses_null(d_keys_out, "d_keys_out") ||
       detail::refuses_null(d_values_in, "d_values_in") || detail::refuses_null(d_values_out, "d_values_out") ||
       detail::outputs_overlap(
           {detail::bytes_of(d_keys_out, results, "d_keys_out"),
            detail::bytes_of(d_values_out, results, "d_values_out")},
           {detail::bytes_of(d_keys_in, count, "d_keys_in"), detail::bytes_of(d_values_in, count, "d_values_in")}))) {
    return cudaErrorInvalidValue;
  }
  using Keys = typename top_k_input<KeyIterator>::type;
  using Values = typename top_k_input<ValueIterator>::type;
  if constexpr (IsSorted) {
    return detail::sorted_top_k<IsMax, PolicyHub, Keys>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                                        static_cast<Values>(d_values_in), d_values_out, num_items,
                                                        results, stream);
  } else {
    return DispatchTopK<IsMax, Keys, KeyOutputIterator, Values, ValueOutputIterator, NumItemsT, PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items, results,
        stream);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/merge_sort/calls.cuh>
#include <strata/device/merge_sort/iterator_outputs.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts an array of device memory by any comparator, stably.
///
/// | call | sorts |
/// |---|---|
/// | `SortKeys(d_keys, num_items, compare)` | keys in place |
/// | `SortKeysCopy(d_input_keys, d_output_keys, num_items, compare)` | keys from one array to another |
/// | `SortPairs(d_keys, d_items, num_items, compare)` | keys and their values in place |
/// | `SortPairsCopy(d_input_keys, d_input_items, d_output_keys, d_output_items, ...)` | from arrays to others |
///
/// The first arguments are `d_temp_storage, temp_storage_bytes`, the last a stream. `StableSort...` are
/// other names of these.
///
/// - **Stability.** Two items keep their order if neither must come before the other. Results are the same from run to
///   run.
/// - **Comparator.** `compare(a, b)`, called in device code, says whether key `a` must come before key `b`: a strict
///   weak ordering. If it is no such ordering (such as `<` of numbers that may be NaNs), the result is unspecified.
///   Nothing else is written, and the kernels terminate.
/// - **Types.** Keys and values are any trivially relocatable and default constructible types. A key and its value have
///   at most 500 bytes together on compute capability 7.5, 890 on 8.6, 8.9 and 12.0, 1,500 on 8.0, and 2,100 on 9.0 to
///   11.x. Larger ones are refused if they need a merge. All arrays may be any random-access iterators that can be
///   dereferenced in device code. Sorts are fast if outputs are pointers or iterators of vectors
///   (`thrust::device_vector`, `std::vector`). Other outputs are written once and never read: one without a value type,
///   such as DiscardOutputIterator, gets items of the input's type.
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. `num_items` may have any integer type.
/// - **Execution.** One kernel if resident blocks hold all items, otherwise three kernels. The one kernel is a
///   cooperative launch if a cluster does not hold all items; so is the last of the three. DeviceScan says when a
///   cooperative launch starts. merge_sort/README.md says how many items resident blocks and a cluster hold. No host
///   synchronisation and no allocation, so a call can be captured in a graph and replayed with other items. Calls that
///   may run at the same time need temporary storage of their own.
/// - **Work.** Tiles are sorted, then merged level by level: two by two in the one kernel, four by four in the three
///   kernels. Each level reads and writes all items once.
/// - **Storage.** If there are more items than a tile has, temporary storage has as much memory as keys and values,
///   plus 20 KB, plus 4 bytes for each 6,400 items of up to 8 bytes. Otherwise it has a few hundred bytes. If an output
///   is neither a pointer nor an iterator of a vector, temporary storage also has the memory of keys and values once
///   more, because all items are sorted in it. Then one more kernel for the keys, and one for the values, read and
///   write each item once more.
/// - **Aliasing.** Output keys of a copy may be its input keys, and output values its input values: the same array, not
///   a part of it. This costs nothing. Otherwise no output may overlap an input of a copy, or another output.
/// - **Tuning.** `TunedDeviceMergeSort<Hub>` uses your hub instead of segmented_merge_sort_policy_hub: see
///   default_policy_hub. The kernels that write to output iterators keep the rows of DeviceTransform.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count or one that is too
///   large (in size queries, too), items that are too large for a merge, null pointer if there are items, arrays that
///   overlap, temporary storage too small. Otherwise a call returns what the launches return; an older error of the
///   runtime is neither returned nor cleared. Without items nothing is launched.
///
/// @code
/// // Sorts points by their distance from the origin.
/// struct is_nearer {
///   STRATA_HD bool operator()(const float2& a, const float2& b) const {
///     return a.x * a.x + a.y * a.y < b.x * b.x + b.y * b.y;
///   }
/// };
/// __managed__ float2 points[5] = {{3, 4}, {1, 0}, {0, -2}, {0, 1}, {1, 1}};
///
/// int main() {
///   if (strata::DeviceMergeSort::SortKeys(points, 5, is_nearer{}) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const float2& point : points) std::printf("(%g, %g) ", point.x, point.y);
/// }
/// // prints: (1, 0) (0, 1) (1, 1) (0, -2) (3, 4)
/// @endcode
template <class PolicyHub>
struct TunedDeviceMergeSort {
  /// Sorts keys by `compare_op`, in place.
  template <class KeyIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorT d_keys,
                              OffsetT num_items, CompareOpT compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::SortKeys");
    return sort<NullType>(d_temp_storage, temp_storage_bytes, d_keys, NullType{}, d_keys,
                          static_cast<NullType*>(nullptr), num_items, compare_op, true, stream);
  }
  /// Sorts keys by `compare_op`, from one array to another.
  template <class KeyInputIteratorT, class KeyIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t SortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_input_keys,
                                  KeyIteratorT d_output_keys, OffsetT num_items, CompareOpT compare_op,
                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::SortKeysCopy");
    return sort<NullType>(d_temp_storage, temp_storage_bytes, d_input_keys, NullType{}, d_output_keys,
                          static_cast<NullType*>(nullptr), num_items, compare_op, false, stream);
  }
  /// Sorts keys with their values by `compare_op`, in place.
  template <class KeyIteratorT, class ValueIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorT d_keys,
                               ValueIteratorT d_items, OffsetT num_items, CompareOpT compare_op,
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::SortPairs");
    return sort<detail::iterator_value_t<ValueIteratorT>>(d_temp_storage, temp_storage_bytes, d_keys, d_items, d_keys,
                                                          d_items, num_items, compare_op, true, stream);
  }
  /// Sorts keys with their values by `compare_op`, from one array to another.
  template <class KeyInputIteratorT, class ValueInputIteratorT, class KeyIteratorT, class ValueIteratorT, class OffsetT,
            class CompareOpT>
  static cudaError_t SortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   KeyInputIteratorT d_input_keys, ValueInputIteratorT d_input_items,
                                   KeyIteratorT d_output_keys, ValueIteratorT d_output_items, OffsetT num_items,
                                   CompareOpT compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::SortPairsCopy");
    using Value = detail::declared_value_t<ValueIteratorT, detail::iterator_value_t<ValueInputIteratorT>>;
    return sort<Value>(d_temp_storage, temp_storage_bytes, d_input_keys, d_input_items, d_output_keys, d_output_items,
                       num_items, compare_op, false, stream);
  }

  /// Sorts keys by `compare_op`, in place, stably.
  template <class KeyIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorT d_keys,
                                    OffsetT num_items, CompareOpT compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::StableSortKeys");
    return sort<NullType>(d_temp_storage, temp_storage_bytes, d_keys, NullType{}, d_keys,
                          static_cast<NullType*>(nullptr), num_items, compare_op, true, stream);
  }
  /// Sorts keys by `compare_op`, from one array to another, stably.
  template <class KeyInputIteratorT, class KeyIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t StableSortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        KeyInputIteratorT d_input_keys, KeyIteratorT d_output_keys, OffsetT num_items,
                                        CompareOpT compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::StableSortKeysCopy");
    return sort<NullType>(d_temp_storage, temp_storage_bytes, d_input_keys, NullType{}, d_output_keys,
                          static_cast<NullType*>(nullptr), num_items, compare_op, false, stream);
  }
  /// Sorts keys with their values by `compare_op`, in place, stably.
  template <class KeyIteratorT, class ValueIteratorT, class OffsetT, class CompareOpT>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorT d_keys,
                                     ValueIteratorT d_items, OffsetT num_items, CompareOpT compare_op,
                                     cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::StableSortPairs");
    return sort<detail::iterator_value_t<ValueIteratorT>>(d_temp_storage, temp_storage_bytes, d_keys, d_items, d_keys,
                                                          d_items, num_items, compare_op, true, stream);
  }
  /// Sorts keys with their values by `compare_op`, from one array to another, stably.
  template <class KeyInputIteratorT, class ValueInputIteratorT, class KeyIteratorT, class ValueIteratorT, class OffsetT,
            class CompareOpT>
  static cudaError_t StableSortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         KeyInputIteratorT d_input_keys, ValueInputIteratorT d_input_items,
                                         KeyIteratorT d_output_keys, ValueIteratorT d_output_items, OffsetT num_items,
                                         CompareOpT compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMergeSort::StableSortPairsCopy");
    using Value = detail::declared_value_t<ValueIteratorT, detail::iterator_value_t<ValueInputIteratorT>>;
    return sort<Value>(d_temp_storage, temp_storage_bytes, d_input_keys, d_input_items, d_output_keys, d_output_items,
                       num_items, compare_op, false, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortKeysCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairsCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeysCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairsCopy, sorted)

 private:
  template <class T>
  static const T* as_input(T* items) {
    return items;
  }
  template <class Iterator>
  static Iterator as_input(const Iterator& items) {
    return items;
  }

  template <class Value, class KeysIn, class ValuesIn, class KeysOut, class ValuesOut, class OffsetT, class CompareOpT>
  static cudaError_t sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn keys_in, ValuesIn values_in,
                          KeysOut keys_out, ValuesOut values_out, OffsetT num_items, CompareOpT compare_op,
                          bool is_in_place, cudaStream_t stream) {
    const auto keys = detail::pointer_or_iterator(keys_out);
    const auto values = detail::pointer_or_iterator(values_out);
    detail::output_requirements<KeysOut>::check();
    detail::output_requirements<ValuesOut>::check();
    using Key = detail::declared_value_t<KeysOut, detail::iterator_value_t<KeysIn>>;
    const auto input_keys = as_input(detail::pointer_or_iterator(keys_in));
    const auto input_values = as_input(detail::pointer_or_iterator(values_in));
    const auto all = detail::segments_of<detail::single_segment>(1, num_items);
    if constexpr (std::is_pointer_v<std::remove_const_t<decltype(keys)>> &&
                  std::is_pointer_v<std::remove_const_t<decltype(values)>>) {
      return detail::merge_sort_segments<PolicyHub, Key, Value>(d_temp_storage, temp_storage_bytes, input_keys,
                                                                input_values, {keys, values}, all, compare_op,
                                                                is_in_place, true, stream);
    } else {
      return detail::merge_sort_to_iterators<PolicyHub, Key, Value>(
          d_temp_storage, temp_storage_bytes, input_keys, input_values, keys, values, all, compare_op, stream);
    }
  }
};
using DeviceMergeSort = TunedDeviceMergeSort<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END

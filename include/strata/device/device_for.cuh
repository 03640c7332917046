// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/transform/dispatch.cuh>
#include <strata/device/transform/extents.hpp>
#include <strata/device/transform/extents_dispatch.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Calls an operator for each index, or for each item of a sequence in device memory. The result of the operator is
/// ignored.
///
/// | call | what is called |
/// |---|---|
/// | `Bulk(shape, op)` | `op(i)` for each i from 0 to `shape - 1`, in the type of `shape` |
/// | `ForEachN(first, num_items, op)`, `ForEach(first, last, op)` | `op(first[i])` with a reference to the item |
/// | `ForEachCopyN(first, num_items, op)`, `ForEachCopy(first, last, op)` | `op(item)` with a copy of the item |
/// | `ForEachInExtents(extents, op)` | `op(n, i0, i1, ...)` for each index of an mdspan; n is 0, 1, 2, ... |
/// | `ForEachInLayout(mapping, op)` | `op(n, i0, i1, ...)` in the order of `layout_right` or of `layout_left` |
///
/// In extents, the last index runs fastest. Extents are any type with `index_type`, `rank()` and `extent(i)`, such as
/// the extents of `std::mdspan` and `cuda::std::mdspan`. A mapping has `extents_type`, `extents()` and `stride(i)`. A
/// mapping is refused unless it has the strides of `layout_right` or of `layout_left`. All indices have the type
/// `index_type`.
///
/// - **Call**, **Execution**, **Errors.** As for DeviceTransform. `shape`, and the distance from `first` to `last`, are
///   numbers of items.
/// - **Result.** The order of the calls is not defined, and they run at the same time. Several calls may use one copy
///   of `op`.
/// - **Types.** Each item is read once. If copies are made from a pointer, items of 1, 2, 4, 8 and 16 bytes are read 16
///   bytes at a time, items of other sizes one by one. Items that are not trivially relocatable are not copied: the
///   operator gets references. Items are counted in 64 bits, whatever the type of the count.
/// - **Tuning.** `TunedDeviceFor<Hub>` uses your hub instead of tile_policy_hub: see default_policy_hub.
/// - **Algorithm.** The algorithm of DeviceTransform, without an output.
///
/// @code
/// struct add_interest {
///   STRATA_HD void operator()(double& balance) const { balance *= 1.05; }
/// };
/// __managed__ double balances[4] = {100, 2000, 0, -40};
///
/// int main() {
///   if (strata::DeviceFor::ForEachN(balances, 4, add_interest{}) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const double balance : balances) std::printf("%g ", balance);
/// }
/// // prints: 105 2100 0 -42
/// @endcode
template <class PolicyHub>
struct TunedDeviceFor {
  /// Calls `op(i)` for each index from 0 to `shape - 1`.
  template <class ShapeT, class Op>
  static cudaError_t Bulk(void* d_temp_storage, std::size_t& temp_storage_bytes, ShapeT shape, Op op,
                          cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::Bulk");
    return for_each<true>(d_temp_storage, temp_storage_bytes, CountingInputIterator<ShapeT>(ShapeT{}), shape, op,
                          stream);
  }

  /// Calls `op` with a reference to each of `num_items` items from `first` on.
  template <class Iterator, class NumItemsT, class Op>
  static cudaError_t ForEachN(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first,
                              NumItemsT num_items, Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEachN");
    return for_each<true>(d_temp_storage, temp_storage_bytes, first, num_items, op, stream);
  }
  /// Calls `op` with a reference to each item from `first` up to `last`.
  template <class Iterator, class Op>
  static cudaError_t ForEach(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first, Iterator last,
                             Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEach");
    return for_each<true>(d_temp_storage, temp_storage_bytes, first, last - first, op, stream);
  }

  /// Calls `op` with a copy of each of `num_items` items from `first` on.
  template <class Iterator, class NumItemsT, class Op>
  static cudaError_t ForEachCopyN(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first,
                                  NumItemsT num_items, Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEachCopyN");
    return for_each<false>(d_temp_storage, temp_storage_bytes, first, num_items, op, stream);
  }
  /// Calls `op` with a copy of each item from `first` up to `last`.
  template <class Iterator, class Op>
  static cudaError_t ForEachCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first, Iterator last,
                                 Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEachCopy");
    return for_each<false>(d_temp_storage, temp_storage_bytes, first, last - first, op, stream);
  }

  /// Calls `op` with each index of some extents. The last index runs fastest.
  template <class Extents, class Op>
  static cudaError_t ForEachInExtents(void* d_temp_storage, std::size_t& temp_storage_bytes, const Extents& extents,
                                      Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEachInExtents");
    static_assert(detail::is_extents<Extents>,
                  "ForEachInExtents takes the extents of an mdspan, or a type with index_type, rank() and extent(i)");
    if constexpr (detail::is_extents<Extents>) {
      detail::extent_values<static_cast<int>(Extents::rank())> values;
      if (refuses_extents(values, extents)) return cudaErrorInvalidValue;
      return for_each_index<Extents, false>(d_temp_storage, temp_storage_bytes, values, op, stream);
    }
    return cudaErrorInvalidValue;
  }

  /// Calls `op` with each index of a layout, in the order of the items in memory.
  template <class LayoutMapping, class Op>
  static cudaError_t ForEachInLayout(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     const LayoutMapping& layout_mapping, Op op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFor::ForEachInLayout");
    static_assert(detail::is_layout_mapping<LayoutMapping>,
                  "ForEachInLayout takes the layout mapping of an mdspan, or a type with extents_type, extents() and "
                  "stride(i)");
    if constexpr (detail::is_layout_mapping<LayoutMapping>) {
      using Extents = typename LayoutMapping::extents_type;
      detail::extent_values<static_cast<int>(Extents::rank())> values;
      if (refuses_extents(values, layout_mapping.extents())) return cudaErrorInvalidValue;
      if (values.size == 0 || values.has_strides_of(layout_mapping, false)) {
        return for_each_index<Extents, false>(d_temp_storage, temp_storage_bytes, values, op, stream);
      }
      if (detail::is_refused(!values.has_strides_of(layout_mapping, true), "layout_mapping",
                             "has neither the strides of layout_right nor those of layout_left")) {
        return cudaErrorInvalidValue;
      }
      return for_each_index<Extents, true>(d_temp_storage, temp_storage_bytes, values, op, stream);
    }
    return cudaErrorInvalidValue;
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITH_UNUSED_STORAGE(Bulk)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEachN)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEach)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEachCopyN)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEachCopy)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEachInExtents)
  STRATA_CALL_WITH_UNUSED_STORAGE(ForEachInLayout)

 private:
  template <int Rank, class Extents>
  static bool refuses_extents(detail::extent_values<Rank>& values, const Extents& extents) {
    return detail::is_refused(!values.template read<typename Extents::index_type>(extents), "extents",
                              "has a negative extent, or more elements than its index_type can represent");
  }

  template <class Extents, bool IsLeft, int Rank, class Op>
  static cudaError_t for_each_index(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    const detail::extent_values<Rank>& values, const Op& op, cudaStream_t stream) {
    return detail::for_each_index<PolicyHub, typename Extents::index_type, IsLeft>(
        "strata::DeviceFor", d_temp_storage, temp_storage_bytes, values, op, stream);
  }

  template <bool IsByReference, class Iterator, class NumItemsT, class Op>
  static cudaError_t for_each(void* d_temp_storage, std::size_t& temp_storage_bytes, const Iterator& first,
                              NumItemsT num_items, const Op& op, cudaStream_t stream) {
    const auto items = detail::pointer_or_iterator(first);
    return detail::dispatch_transform<IsByReference, PolicyHub>("strata::DeviceFor", d_temp_storage, temp_storage_bytes,
                                                                items, detail::no_output{}, num_items, op, stream,
                                                                items);
  }
};
using DeviceFor = TunedDeviceFor<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END

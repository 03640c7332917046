// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_transform.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The items of a rank in the order of their destinations.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The sort key of a destination: a rank, or the number of ranks if the destination is no rank.
using destination_key = std::uint16_t;
inline constexpr int max_exchange_ranks = 0xffff;

struct to_destination_key {
  int ranks;
  template <class Destination>
  STRATA_HD destination_key operator()(const Destination& destination) const {
    // A negative destination becomes a large number.
    const auto rank = static_cast<unsigned long long>(destination);
    return static_cast<destination_key>(rank < static_cast<unsigned>(ranks) ? rank : static_cast<unsigned>(ranks));
  }
};
template <class DestinationIterator>
using destination_keys = TransformInputIterator<destination_key, to_destination_key, DestinationIterator>;

/// Finds how many items have each destination, from the sorted destinations.
struct grouped_counts {
  const destination_key* keys;
  std::int64_t num_items;

  /// Returns the index of the first item whose destination is not below `rank`.
  STRATA_D std::int64_t begin(int rank) const {
    std::int64_t first = 0;
    std::int64_t count = num_items;
    while (count > 0) {
      const std::int64_t half = count / 2;
      if (static_cast<int>(keys[first + half]) < rank) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return first;
  }
  STRATA_D std::int64_t operator()(int rank) const { return begin(rank + 1) - begin(rank); }
  STRATA_D bool are_valid(int ranks) const { return begin(ranks) == num_items; }
};

template <class ItemIterator>
struct gather_item {
  ItemIterator items;
  std::int64_t first_row;
  STRATA_D iterator_value_t<ItemIterator> operator()(std::int64_t row) const {
    return detail::item_at(items, static_cast<std::size_t>(row - first_row));
  }
};

/// Items up to this size are sorted directly. For larger items, row numbers are sorted, and then the items are
/// gathered.
inline constexpr std::size_t max_sorted_item_bytes = 32;

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes the items in the order of `d_rows`. These are numbers of items. The first item of `d_in` has the number
/// `first_row`.
template <class Row, class ItemIterator, class Item>
cudaError_t gather_items(const Row* d_rows, std::int64_t first_row, ItemIterator d_in, Item* d_out,
                         std::int64_t num_items, cudaStream_t stream) {
  return DeviceTransform::Transform(d_rows, d_out, num_items, gather_item<ItemIterator>{d_in, first_row}, stream);
}

/// Writes the items, and their destinations, in the order of destinations: one pass of a radix sort for up to 255
/// ranks. Items of one destination keep their order.
template <class DestinationIterator, class ItemIterator, class Item>
cudaError_t group_items(void* d_temp_storage, std::size_t& temp_storage_bytes, DestinationIterator d_destinations,
                        destination_key* d_keys_out, ItemIterator d_in, Item* d_out, std::int64_t num_items, int ranks,
                        cudaStream_t stream) {
  using Keys = destination_keys<DestinationIterator>;
  const Keys keys(d_destinations, to_destination_key{ranks});
  const int bits = detail::log2_ceiling(static_cast<unsigned>(ranks) + 1u);
  // A sort of one pass writes only its output, not the other array of the double buffer.
  const radix_scratch scratch = bits <= radix_bits ? radix_scratch::double_buffer : radix_scratch::in_storage;
  if constexpr (sizeof(Item) <= max_sorted_item_bytes && !std::is_same_v<iterator_value_t<ItemIterator>, Item>) {
    using Converted = TransformInputIterator<Item, CastOp<Item>, ItemIterator>;
    return detail::group_items(d_temp_storage, temp_storage_bytes, d_destinations, d_keys_out,
                               Converted(d_in, CastOp<Item>{}), d_out, num_items, ranks, stream);
  } else if constexpr (sizeof(Item) <= max_sorted_item_bytes) {
    return DispatchRadixSort<Keys, ItemIterator, Item, std::int64_t, false, identity_decomposer>::Dispatch(
        d_temp_storage, temp_storage_bytes, {keys, d_keys_out, d_keys_out}, {d_in, d_out, d_out}, num_items, 0, bits,
        identity_decomposer{}, scratch, stream);
  } else {
    using Rows = CountingInputIterator<std::int64_t>;
    using Sort = DispatchRadixSort<Keys, Rows, std::int64_t, std::int64_t, false, identity_decomposer>;
    std::int64_t* d_rows = nullptr;
    std::size_t sort_bytes = 0;
    const auto sort = [&](void* d_sort_storage) {
      return Sort::Dispatch(d_sort_storage, sort_bytes, {keys, d_keys_out, d_keys_out}, {Rows(0), d_rows, d_rows},
                            num_items, 0, bits, identity_decomposer{}, scratch, stream);
    };
    cudaError_t status = sort(nullptr);
    if (status != cudaSuccess) return status;
    temporary_storage::layout<2> storage;
    storage.template reserve<std::int64_t>(0, static_cast<std::size_t>(num_items));
    storage.template reserve<unsigned char>(1, sort_bytes);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    d_rows = storage.template get<std::int64_t>(0);
    status = sort(storage.template get<unsigned char>(1));
    if (status != cudaSuccess) return status;
    return detail::gather_items(static_cast<const std::int64_t*>(d_rows), 0, d_in, d_out, num_items, stream);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

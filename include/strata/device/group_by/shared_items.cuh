// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/group_by/aggregates.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// \file
/// Lets several aggregates of the same array share its items, so that each item is read and moved once.
///
///     sum(in), count(), min(in), mean(in)  ->  sum(in), count(), min(the item of the sum), mean(the sum)

/// An aggregate that uses the item of an earlier aggregate.
template <class Aggregate>
struct group_sharing_aggregate : Aggregate {
  static constexpr bool has_item = false;
  static constexpr bool shares_item = true;
};

/// A mean of the items of an earlier sum of 64 bits. It uses that sum, and only counts rows itself.
template <class Mean>
struct group_mean_of_sum_aggregate : group_count_aggregate<decltype(Mean::out)> {
  using Accum = typename Mean::Accum;
  static constexpr bool takes_sum = true;

  template <class Row, class Sum>
  STRATA_HD void store_with_sum(std::size_t group, Row count, const Sum& sum) const {
    const double mean = static_cast<double>(static_cast<Accum>(sum)) / static_cast<double>(count);
    *detail::advanced(this->out, group) = static_cast<output_value_t<decltype(Mean::out), double>>(mean);
  }
};

template <class Aggregate, class = void>
inline constexpr bool is_group_mean = false;
template <class In, class Out>
inline constexpr bool is_group_mean<group_mean_aggregate<In, Out>> = true;
template <class Aggregate, class = void>
inline constexpr bool gives_group_sum = false;
template <class In, class Out>
inline constexpr bool gives_group_sum<group_sum_aggregate<In, Out>,
                                      std::enable_if_t<group_sum_aggregate<In, Out>::is_unordered &&
                                                       sizeof(typename group_sum_aggregate<In, Out>::Stored) == 8>> =
    true;

/// True if the types allow `Aggregate` to use the item of `Holder`. The arrays must be the same, too.
template <class Holder, class Aggregate, class = void>
inline constexpr bool may_share_item = false;
template <class Holder, class Aggregate>
inline constexpr bool
    may_share_item<Holder, Aggregate, std::enable_if_t<Aggregate::keeps_items && has_group_pack<Holder>>> =
        std::is_same_v<decltype(Aggregate::in), decltype(Holder::in)>;

/// Stands for a first aggregate whose item cannot be shared, so that no aggregate shares an item.
struct no_group_item_holder {};

/// Returns the aggregates, changed so that they share the item of `Holder` where they may. `Holder` is the first
/// aggregate with an item among those that the recursion has passed, or `void` if none of them has one.
template <class Holder, class First, class... Rest>
auto sharing_group_items(const GroupAggregates<First, Rest...>& aggregates);

template <class Holder, class First>
auto sharing_group_item(const First& first) {
  if constexpr (may_share_item<Holder, First>) {
    if constexpr (is_group_mean<First> && gives_group_sum<Holder>) {
      return group_mean_of_sum_aggregate<First>{{first.out}};
    } else {
      return group_sharing_aggregate<First>{first};
    }
  } else {
    return first;
  }
}
template <class First, class... Rest>
GroupAggregates<First, Rest...> joined_group_aggregates(First first, const GroupAggregates<Rest...>& rest) {
  return {first, rest};
}
template <class Holder, class First, class... Rest>
auto sharing_group_items(const GroupAggregates<First, Rest...>& aggregates) {
  constexpr bool is_first_item = std::is_void_v<Holder> && First::has_item;
  using Next =
      std::conditional_t<is_first_item, std::conditional_t<has_group_pack<First>, First, no_group_item_holder>, Holder>;
  const auto first = [&] {
    if constexpr (std::is_void_v<Holder>) {
      return aggregates.first;
    } else {
      return detail::sharing_group_item<Holder>(aggregates.first);
    }
  }();
  if constexpr (sizeof...(Rest) == 0) {
    return detail::joined_group_aggregates(first, GroupAggregates<>{});
  } else {
    return detail::joined_group_aggregates(first, detail::sharing_group_items<Next>(aggregates.rest));
  }
}

/// True if the types allow an aggregate to share an item.
template <class Aggregates>
inline constexpr bool may_share_group_items =
    !std::is_same_v<decltype(detail::sharing_group_items<void>(std::declval<const Aggregates&>())), Aggregates>;

/// True if all aggregates with `has_group_pack` read the same array.
template <class First, class... Rest>
bool shares_group_items(const GroupAggregates<First, Rest...>& aggregates, const void* array = nullptr) {
  if constexpr (has_group_pack<First>) {
    if (array == nullptr) {
      array = aggregates.first.in;
    } else if (array != static_cast<const void*>(aggregates.first.in)) {
      return false;
    }
  }
  if constexpr (sizeof...(Rest) == 0) {
    return true;
  } else {
    return detail::shares_group_items(aggregates.rest, array);
  }
}

/// Calls `call(temp_storage_bytes, all)`. `all` are the aggregates, changed so that they share items if they can.
template <class Aggregates, class Call>
cudaError_t call_with_shared_group_items(const void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Aggregates& aggregates, const Call& call) {
  if constexpr (may_share_group_items<Aggregates>) {
    const auto sharing = detail::sharing_group_items<void>(aggregates);
    if (d_temp_storage == nullptr) {
      // A size query need not know the arrays, so it returns the larger size of both forms.
      std::size_t sharing_bytes = 0;
      const cudaError_t status = call(sharing_bytes, sharing);
      if (status != cudaSuccess) return status;
      const cudaError_t other_status = call(temp_storage_bytes, aggregates);
      temp_storage_bytes = detail::most(temp_storage_bytes, sharing_bytes);
      return other_status;
    }
    if (detail::shares_group_items(aggregates)) return call(temp_storage_bytes, sharing);
  }
  return call(temp_storage_bytes, aggregates);
}

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/find/agent_search.cuh>
#include <strata/device/find/agent_sorted_search.cuh>
#include <strata/device/find/tuning.hpp>
#include <strata/device/merge_sort/merge_dispatch.cuh>
#include <strata/device/merge_sort/merge_tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::search.block_threads,
                  MaxPolicy::ActivePolicy::search.blocks_per_multiprocessor)
    STRATA_KERNEL void search_kernel(const STRATA_GRID_CONSTANT Arrays arrays,
                                     const STRATA_GRID_CONSTANT search_plan<typename Arrays::Count> plan,
                                     Compare compare) {
  using Agent = AgentSearch<typename MaxPolicy::ActivePolicy, Arrays, Compare>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  Agent(storage.Alias(), arrays, plan, compare).search();
}

/// Searches for sorted values. Each block takes one tile of the merge of range and values.
template <bound_kind Kind, class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void sorted_search_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                            const unsigned long long* splits) {
  using Agent = AgentSortedSearch<Kind, typename MaxPolicy::ActivePolicy, Arrays, Compare>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  Agent(storage.Alias(), arrays, compare).search(blockIdx.x, splits);
}

template <class Policy>
using search_rows = if_rows<search_tuning, decltype(Policy::search)>;

/// A search for values in any order.
template <class Arrays, class Compare, class PolicyHub>
struct DispatchSearch {
  static_assert(hub_has_rows<search_rows, PolicyHub>,
                "DeviceFind, bounds: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the member search (search_tuning)");
  using MaxPolicy = typename hub_or<search_rows, PolicyHub, find_policy_hub>::MaxPolicy;
  using Count = typename Arrays::Count;

  const Arrays& arrays;
  const Compare& compare;
  cudaStream_t stream;
  device_properties device;

  static cudaError_t launch(const Arrays& arrays, const Compare& compare, cudaStream_t stream) {
    DispatchSearch dispatch{arrays, compare, stream, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  struct choice {
    unsigned blocks;
    search_plan<Count> plan;
  };

  /// With few values, several lanes search for each. With more values, one thread searches for each. With many values,
  /// as many blocks run as are resident, and each thread makes `tuning.searches` searches at a time. Where a thread
  /// searches alone, a block may have samples of the range, at most one for each `tuning.searches_per_sample` of its
  /// searches.
  template <class ActivePolicy>
  static choice choose(std::size_t items, std::size_t values, int multiprocessors) {
    constexpr search_tuning tuning = ActivePolicy::search;
    constexpr std::size_t threads = static_cast<std::size_t>(tuning.block_threads);
    const std::size_t resident_blocks =
        static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(tuning.blocks_per_multiprocessor);
    const std::size_t resident_threads = resident_blocks * threads;
    int log2_lanes = 5;
    while (log2_lanes > 0 && values > resident_threads >> log2_lanes) --log2_lanes;
    if (log2_lanes >= tuning.least_log2_lanes && log2_lanes > 0) {
      search_plan<Count> plan = search_plan<Count>::cut(static_cast<Count>(items), 0);
      plan.log2_lanes = log2_lanes;
      return {static_cast<unsigned>(detail::ceiling_divide(values << log2_lanes, threads)), plan};
    }
    const int searches = values > resident_threads ? tuning.searches : 1;
    const std::size_t tiles = detail::ceiling_divide(values, threads * static_cast<std::size_t>(searches));
    const std::size_t blocks = detail::least(tiles, resident_blocks);
    const std::size_t most_parts =
        detail::least(detail::least(items, detail::ceiling_divide(values, blocks) /
                                               static_cast<std::size_t>(tuning.searches_per_sample)),
                      std::size_t{AgentSearch<ActivePolicy, Arrays, Compare>::max_parts});
    int log2_parts = 0;
    while (std::size_t{2} << log2_parts <= most_parts) ++log2_parts;
    search_plan<Count> plan = search_plan<Count>::cut(static_cast<Count>(items), log2_parts);
    plan.searches = searches;
    return {static_cast<unsigned>(blocks), plan};
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr search_tuning tuning = ActivePolicy::search;
    static_assert(are_whole_warps(tuning.block_threads) && tuning.searches > 0 && tuning.searches_per_sample > 0,
                  "search_tuning: block_threads must be a multiple of 32, at most 1024; searches and "
                  "searches_per_sample must be positive");
    const choice chosen = choose<ActivePolicy>(static_cast<std::size_t>(arrays.range_items),
                                               static_cast<std::size_t>(arrays.value_items), device.multiprocessors);
    return strata::launch({"strata::DeviceFind, bounds", dim3(chosen.blocks), dim3(tuning.block_threads), 0, stream, 1,
                           device.ptx_version >= 900},
                          search_kernel<MaxPolicy, Arrays, Compare>, arrays, chosen.plan, compare);
  }
};

/// A search for sorted values by a merge.
template <bound_kind Kind, class Arrays, class Compare, class PolicyHub>
struct DispatchSortedSearch {
  static_assert(
      hub_has_rows<merge_rows, PolicyHub>,
      "DeviceFind, bounds of sorted values: each policy in the chain of PolicyHub::MaxPolicy must name itself "
      "in its ChainedPolicy and have the member tuning (merge_tuning)");
  using MaxPolicy = typename hub_or<merge_rows, PolicyHub,
                                    merge_policy_hub<static_cast<int>(sizeof(typename Arrays::Key))>>::MaxPolicy;

  /// The number of tiles with the policy that has the smallest tiles, because a size query does not know the device.
  static constexpr unsigned long long most_tiles(unsigned long long items) {
    return detail::ceiling_divide(
        items, static_cast<unsigned long long>(detail::least_in_chain<range_merge_tile, MaxPolicy>()));
  }
  static constexpr bool has_splits(unsigned long long items) {
    return most_tiles(items) > MaxPolicy::tuning.max_tiles_without_splits;
  }

  const Arrays& arrays;
  const Compare& compare;
  cudaStream_t stream;
  unsigned long long* splits;  // null if the blocks find their splits themselves
  device_properties device;

  cudaError_t launch() {
    const cudaError_t status = detail::current_device_properties(device, stream);
    return status != cudaSuccess ? status : MaxPolicy::Invoke(device.ptx_version, *this);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr int threads = ActivePolicy::tuning.block_threads;
    static_assert(are_whole_warps(threads), "merge_tuning::block_threads must be a multiple of 32, at most 1024");
    const unsigned long long tiles =
        detail::ceiling_divide(arrays.count(), static_cast<unsigned long long>(range_merge_tile<ActivePolicy>::value));
    launch_configuration launch{"strata::DeviceFind, splits", 0, dim3(threads), 0, stream, 1,
                                device.ptx_version >= 900};
    if (splits != nullptr) {
      launch.grid =
          dim3(static_cast<unsigned>(detail::ceiling_divide(tiles + 1, static_cast<unsigned long long>(threads))));
      const cudaError_t status =
          strata::launch(launch, merge_splits_kernel<MaxPolicy, Arrays, Compare>, arrays, compare, tiles, splits);
      if (status != cudaSuccess) return status;
    }
    launch.name = "strata::DeviceFind, bounds of sorted values";
    launch.grid = dim3(static_cast<unsigned>(tiles));
    return strata::launch(launch, sorted_search_kernel<Kind, MaxPolicy, Arrays, Compare>, arrays, compare, splits);
  }
};

/// The type of indices: 32 bits if each count has a signed type of at most 32 bits or an unsigned type of fewer than 32
/// bits; otherwise 64 bits.
template <class RangeNumItemsT, class ValuesNumItemsT>
using search_count = std::conditional_t<sizeof(RangeNumItemsT) <= 4 && sizeof(ValuesNumItemsT) <= 4 &&
                                            (std::is_signed_v<RangeNumItemsT> || sizeof(RangeNumItemsT) < 4) &&
                                            (std::is_signed_v<ValuesNumItemsT> || sizeof(ValuesNumItemsT) < 4),
                                        unsigned, unsigned long long>;

/// One call of LowerBound or UpperBound. If `AreSorted`, the values are sorted, too.
template <bound_kind Kind, bool AreSorted, class PolicyHub>
struct DispatchBounds {
  /// A merge reads the whole range. It is chosen if there is at least one value for each 32 items of the range.
  static constexpr std::size_t items_per_value = 32;

  template <class Range, class RangeNumItemsT, class Values, class ValuesNumItemsT, class Out, class Compare>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, Range range,
                              RangeNumItemsT range_num_items, Values values, ValuesNumItemsT values_num_items, Out out,
                              Compare compare, cudaStream_t stream) {
    using Item = iterator_value_t<Range>;
    using Value = iterator_value_t<Values>;
    constexpr bool can_merge = AreSorted && std::is_same_v<Item, Value> && is_trivially_relocatable_v<Item> &&
                               std::is_default_constructible_v<Item> && sizeof(Item) <= 1024;
    if (detail::refuses_count(range_num_items, "range_num_items") ||
        detail::refuses_count(values_num_items, "values_num_items") ||
        detail::refuses_reach(range, range_num_items, "d_range") ||
        detail::refuses_reach(values, values_num_items, "d_values") ||
        detail::refuses_reach(out, values_num_items, "d_output") ||
        detail::refuses_count_type<declared_value_t<Out, unsigned long long>>(range_num_items, "d_output")) {
      return cudaErrorInvalidValue;
    }
    const std::size_t items = detail::count_of(range_num_items), wanted = detail::count_of(values_num_items);
    temporary_storage::layout<1> storage;
    [[maybe_unused]] const bool merges = can_merge && items / items_per_value <= wanted && items > 0;
    if constexpr (can_merge) {
      using Merge = merge_of<Range, Values, Out, Compare>;
      if (merges && detail::refuses_blocks(Merge::most_tiles(items + wanted) > 0x7fffffff, "the sum of both counts")) {
        return cudaErrorInvalidValue;
      }
      if (merges && Merge::has_splits(items + wanted)) {
        storage.template reserve<unsigned long long>(0, Merge::most_tiles(items + wanted) + 1);
      }
    }
    if constexpr (AreSorted) {
      if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
      if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    } else {
      if (d_temp_storage == nullptr) {
        temp_storage_bytes = 1;  // Nothing is kept there.
        return cudaSuccess;
      }
      if (detail::refuses_unused_storage(temp_storage_bytes)) return cudaErrorInvalidValue;
    }
    if (wanted == 0) return cudaSuccess;
    if ((items > 0 && detail::refuses_null(range, "d_range")) || detail::refuses_null(values, "d_values") ||
        detail::refuses_null(out, "d_output") ||
        detail::outputs_overlap(
            {detail::bytes_of(out, wanted, "d_output")},
            {detail::bytes_of(range, items, "d_range"), detail::bytes_of(values, wanted, "d_values")})) {
      return cudaErrorInvalidValue;
    }
    if constexpr (can_merge) {
      if (merges) {
        using Merge = merge_of<Range, Values, Out, Compare>;
        unsigned long long* const splits =
            Merge::has_splits(items + wanted) ? storage.template get<unsigned long long>(0) : nullptr;
        return merge(range, items, values, wanted, out, compare, splits, stream);
      }
    }
    using Arrays = search_arrays<Kind, Range, Values, Out, search_count<RangeNumItemsT, ValuesNumItemsT>>;
    using Count = typename Arrays::Count;
    const Arrays arrays{range, static_cast<Count>(items), values, static_cast<Count>(wanted), out};
    return DispatchSearch<Arrays, Compare, PolicyHub>::launch(arrays, compare, stream);
  }

 private:
  // A merge puts items of the first input before equal items of the second.
  template <class Range, class Values, class Out>
  using arrays_of =
      std::conditional_t<Kind == bound_kind::lower, merge_arrays<Values, NullType*, Range, NullType*, Out, NullType*>,
                         merge_arrays<Range, NullType*, Values, NullType*, Out, NullType*>>;
  template <class Range, class Values, class Out, class Compare>
  using merge_of = DispatchSortedSearch<Kind, arrays_of<Range, Values, Out>, Compare, PolicyHub>;

  template <class Range, class Values, class Out, class Compare>
  static cudaError_t merge(const Range& range, unsigned long long items, const Values& values,
                           unsigned long long wanted, const Out& out, const Compare& compare,
                           unsigned long long* splits, cudaStream_t stream) {
    using Arrays = arrays_of<Range, Values, Out>;
    using Merge = merge_of<Range, Values, Out, Compare>;
    if constexpr (Kind == bound_kind::lower) {
      const Arrays arrays{values, nullptr, wanted, range, nullptr, items, out, nullptr};
      return Merge{arrays, compare, stream, splits, {}}.launch();
    } else {
      const Arrays arrays{range, nullptr, items, values, nullptr, wanted, out, nullptr};
      return Merge{arrays, compare, stream, splits, {}}.launch();
    }
  }
};

/// Carries out one call of LowerBound or UpperBound, whose requirements it checks.
template <bound_kind Kind, bool AreSorted, class PolicyHub, class Range, class RangeNumItemsT, class Values,
          class ValuesNumItemsT, class Out, class Compare>
cudaError_t dispatch_bounds(void* d_temp_storage, std::size_t& temp_storage_bytes, Range range,
                            RangeNumItemsT range_num_items, Values values, ValuesNumItemsT values_num_items, Out out,
                            Compare compare, cudaStream_t stream) {
  using Item = const iterator_value_t<Range>;
  using Value = const iterator_value_t<Values>;
  using requirements = std::conditional_t<Kind == bound_kind::lower, search_requirements<Compare, Item, Value>,
                                          search_requirements<Compare, Value, Item>>;
  constexpr bool is_possible = iterator_requirements<Range>::are_met && iterator_requirements<Values>::are_met &&
                               output_requirements<Out>::are_met && requirements::are_met &&
                               relocatable_requirements<iterator_value_t<Values>>::are_met;
  return dispatch_if<is_possible, DispatchBounds<Kind, AreSorted, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, range, range_num_items, values, values_num_items, out, compare, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

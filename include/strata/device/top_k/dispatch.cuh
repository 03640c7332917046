// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/radix_code.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/top_k/agent.cuh>
#include <strata/device/top_k/problem_collect.cuh>
#include <strata/device/top_k/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A sample of the input, in the order of the input: one item of each of `count` parts of (nearly) equal length. A hash
/// of the part's number chooses the item, so that a periodic input does not mislead the sample.
template <class KeyIterator>
struct top_k_sample {
  KeyIterator keys;
  std::size_t count;
  std::size_t length;        // of a part
  std::size_t longer_parts;  // parts that have one item more

  static top_k_sample of(KeyIterator keys, std::size_t num_items, std::size_t count) {
    return {keys, count, num_items / count, num_items % count};
  }

  STRATA_HD std::size_t index_of(std::size_t part) const {
    unsigned long long hash = (part + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
    // The offset is less than the length, even if the product overflows.
    const auto offset = static_cast<std::size_t>((hash >> 32) * length >> 32);
    return part * length + detail::least(part, longer_parts) + offset;
  }
  STRATA_D iterator_value_t<KeyIterator> load(std::size_t part) const { return detail::item_at(keys, index_of(part)); }
};

inline constexpr int top_k_gather_threads = 128;

/// Copies the sample, because its items lie far apart, and one block would wait for them in every pass.
template <class KeyIterator>
STRATA_KERNEL void top_k_gather_kernel(top_k_sample<KeyIterator> sample, iterator_value_t<KeyIterator>* copies) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const std::size_t part = std::size_t{blockIdx.x} * top_k_gather_threads + threadIdx.x;
  if (part < sample.count) copies[part] = sample.load(part);
}

/// Finds the last candidate: the item of rank `rank` in the sample. `copies` has the items of the sample. The grid has
/// one block.
template <class MaxPolicy, class KeyIterator, class Digits, class Bound>
__launch_bounds__(MaxPolicy::ActivePolicy::select.block_threads, 1)
    STRATA_KERNEL void top_k_sample_kernel(top_k_sample<KeyIterator> sample,
                                           const iterator_value_t<KeyIterator>* copies, std::size_t rank, Bound* bound,
                                           const STRATA_GRID_CONSTANT top_k_workspace workspace) {
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Agent = AgentTopK<typename MaxPolicy::ActivePolicy, const Key*, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), copies, sample.count, rank, workspace)
      .template run<true>([&](std::size_t, std::size_t part, const Key& key, bool is_last) {
        if (is_last) *bound = {Codes::ordered(Codes::encode(key)), sample.index_of(part)};
      });
}

/// The candidates that earlier kernels have collected. `found` points to their number. It is null if no candidates were
/// collected.
template <class Key, class Index>
struct top_k_candidates {
  Key* keys;
  Index* indices;  // in the input; only with values
  std::size_t capacity;
  unsigned long long* found;
};

/// The outputs of a call.
template <class KeyOutputIterator, class ValueIterator, class ValueOutputIterator, class IndexT>
struct top_k_output {
  using Index = IndexT;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;

  KeyOutputIterator keys_out;
  ValueIterator values;
  ValueOutputIterator values_out;
  const Index* indices;  // the index of each candidate in the input; null if items come from the input

  template <class Key>
  STRATA_D void operator()(std::size_t position, std::size_t item, const Key& key, bool) const {
    *detail::advanced(keys_out, position) = static_cast<output_value_t<KeyOutputIterator, Key>>(key);
    if constexpr (has_values) {
      using Stored = output_value_t<ValueOutputIterator, iterator_value_t<ValueIterator>>;
      const std::size_t index = indices != nullptr ? static_cast<std::size_t>(indices[item]) : item;
      *detail::advanced(values_out, position) = static_cast<Stored>(detail::item_at(values, index));
    }
  }
};

/// Selects k of the candidates. If there are fewer than k candidates, or more than the capacity, it selects from all
/// items. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class Digits, class Output, class Index>
__launch_bounds__(MaxPolicy::ActivePolicy::select.block_threads,
                  MaxPolicy::ActivePolicy::select.blocks_per_multiprocessor)
    STRATA_KERNEL void top_k_kernel(KeyIterator keys, std::size_t num_items, std::size_t k,
                                    top_k_candidates<iterator_value_t<KeyIterator>, Index> candidates, Output output,
                                    const STRATA_GRID_CONSTANT top_k_workspace workspace) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Candidates = const iterator_value_t<KeyIterator>*;
  using Agent = AgentTopK<Policy, KeyIterator, Digits>;
  using CandidateAgent = AgentTopK<Policy, Candidates, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  auto& candidate_storage = reinterpret_cast<Uninitialized<typename CandidateAgent::TempStorage>&>(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned long long found = candidates.found != nullptr ? *candidates.found : 0;
  const bool has_candidates = found >= k && found <= candidates.capacity;
  if (has_candidates) output.indices = candidates.indices;
  if constexpr (std::is_same_v<KeyIterator, Candidates>) {
    Agent(shared.Alias(), has_candidates ? candidates.keys : keys,
          has_candidates ? static_cast<std::size_t>(found) : num_items, k, workspace)
        .template run<false>(output);
  } else if (has_candidates) {
    CandidateAgent(candidate_storage.Alias(), candidates.keys, static_cast<std::size_t>(found), k, workspace)
        .template run<false>(output);
  } else {
    Agent(shared.Alias(), keys, num_items, k, workspace).template run<false>(output);
  }
}

/// Launches the collection of candidates. It has no kernel for one round of tiles, because the input is long.
template <class Problem, class PolicyHub>
struct DispatchTopKCollect {
  using Scan = DispatchScan<Problem, PolicyHub>;
  using MaxPolicy = typename Scan::MaxPolicy;

  Scan scan;

  static std::size_t number_of_words() { return Scan::Aggregates::number_of_words(max_scan_blocks); }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    if constexpr (ActivePolicy::pipeline_above != no_pipeline) {
      if constexpr (Problem::template has_pipeline<true>) {
        if (scan.problem.can_copy_in_bulk()) return scan.template launch_pipeline<ActivePolicy, true>(0);
      }
      return scan.template launch_pipeline<ActivePolicy, false>(0);
    } else {
      return scan.template launch_rounds<ActivePolicy, large_tile>();
    }
  }
};

template <class Policy>
using top_k_rows = if_rows<top_k_tuning, decltype(Policy::select)>;

/// Carries out one call that keeps the order of the input. Without values, ValueIterator and ValueOutputIterator are
/// NullType.
template <bool IsMax, class KeyIterator, class KeyOutputIterator, class ValueIterator, class ValueOutputIterator,
          class NumItemsT, class PolicyHub = default_policy_hub>
struct DispatchTopK {
  using Hub = hub_or<top_k_rows, PolicyHub, top_k_policy_hub>;
  static_assert(hub_has_rows<top_k_rows, PolicyHub> && std::is_base_of_v<top_k_policy_hub, Hub>,
                "DeviceTopK: PolicyHub must derive from top_k_policy_hub, and each policy in the chain of "
                "PolicyHub::MaxPolicy must name itself in its ChainedPolicy and have the member select (top_k_tuning)");
  using MaxPolicy = typename Hub::MaxPolicy;
  using Key = iterator_value_t<KeyIterator>;
  using Index = item_count_t<NumItemsT>;
  // The k first items of a descending order are the greatest.
  using Digits = radix_digits<Key, IsMax>;
  using Output = top_k_output<KeyOutputIterator, ValueIterator, ValueOutputIterator, Index>;
  using Collect = top_k_collect_problem<Index, KeyIterator, IsMax, Output::has_values>;
  using Bound = typename Collect::Bound;
  using Collector = DispatchTopKCollect<Collect, typename Hub::template collect_hub<Collect>>;
  using Agent = AgentTopK<typename MaxPolicy::ActivePolicy, KeyIterator, Digits>;

  KeyIterator keys;
  std::size_t num_items;
  std::size_t k;
  Output output;
  cudaStream_t stream;
  device_properties device;
  top_k_plan plan;
  temporary_storage::layout<9> storage;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              KeyOutputIterator d_keys_out, ValueIterator d_values_in, ValueOutputIterator d_values_out,
                              NumItemsT num_items, std::size_t k, cudaStream_t stream) {
    const auto count = static_cast<std::size_t>(num_items);
    DispatchTopK dispatch{
        d_keys_in, count, detail::least(k, count), {d_keys_out, d_values_in, d_values_out, nullptr}, stream, {},
        {},        {}};
    dispatch.reserve();
    if (d_temp_storage == nullptr) return detail::answer_size_query(dispatch.storage, temp_storage_bytes);
    if (detail::refuses_storage(dispatch.storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (dispatch.k == 0) return cudaSuccess;
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    const top_k_workspace workspace{
        storage.template get<unsigned long long>(bins_slot),
        storage.template get<unsigned long long>(counts_slot),
        {storage.template get<unsigned long long>(flags_slot), storage.template get<unsigned>(departures_slot),
         next_epoch(), detail::is_replayable(stream)}};
    top_k_candidates<Key, Index> candidates{};
    if (plan.is_sampled) {
      candidates = {storage.template get<Key>(candidates_slot), storage.template get<Index>(indices_slot),
                    plan.capacity, found()};
      const cudaError_t status = collect<ActivePolicy>(candidates, workspace);
      if (status != cudaSuccess) return status;
    }
    constexpr int threads = ActivePolicy::select.block_threads;
    static kernel_property_cache cache;
    return detail::launch_resident(
        {"strata::DeviceTopK", dim3(1), dim3(threads), 0, stream, 1, device.ptx_version >= 900}, cache, device,
        detail::ceiling_divide(num_items, AgentTopK<ActivePolicy, KeyIterator, Digits>::tile_items), max_top_k_blocks,
        top_k_kernel<MaxPolicy, KeyIterator, Digits, Output, Index>, keys, num_items, k, candidates, output, workspace);
  }

 private:
  enum slot {
    bins_slot,
    counts_slot,
    flags_slot,
    departures_slot,
    bound_slot,  // and, behind it, the number of candidates
    sample_slot,
    exchange_slot,
    candidates_slot,
    indices_slot
  };

  void reserve() {
    plan = top_k_plan::make(num_items, k, sizeof(Key), Hub::samples, Hub::least_sampled_bytes);
    storage.template reserve<unsigned long long>(bins_slot, Agent::max_digits * top_k_bins);
    storage.template reserve<unsigned long long>(counts_slot, 2 * max_top_k_blocks);
    storage.template reserve<unsigned long long>(flags_slot, max_top_k_blocks);
    storage.template reserve<unsigned>(departures_slot, 1);
    storage.template reserve<Bound>(bound_slot, 1 + ceiling_divide(sizeof(unsigned long long), sizeof(Bound)));
    if (plan.capacity == 0) return;
    storage.template reserve<Key>(sample_slot, Hub::samples);
    storage.template reserve<platform::tagged_word>(exchange_slot, Collector::number_of_words());
    storage.template reserve<Key>(candidates_slot, plan.capacity);
    if (Output::has_values) storage.template reserve<Index>(indices_slot, plan.capacity);
  }
  unsigned long long* found() const {
    return reinterpret_cast<unsigned long long*>(storage.template get<Bound>(bound_slot) + 1);
  }

  template <class ActivePolicy>
  cudaError_t collect(const top_k_candidates<Key, Index>& candidates, const top_k_workspace& workspace) {
    Bound* const bound = storage.template get<Bound>(bound_slot);
    Key* const copies = storage.template get<Key>(sample_slot);
    const auto sample = top_k_sample<KeyIterator>::of(keys, num_items, Hub::samples);
    launch_configuration launch{"strata::DeviceTopK, sample", dim3(1), dim3(top_k_gather_threads), 0, stream, 1,
                                device.ptx_version >= 900};
    launch.grid = dim3(static_cast<unsigned>(detail::ceiling_divide(Hub::samples, std::size_t{top_k_gather_threads})));
    cudaError_t status = strata::launch(launch, top_k_gather_kernel<KeyIterator>, sample, copies);
    if (status != cudaSuccess) return status;
    launch.grid = dim3(1);
    launch.block = dim3(ActivePolicy::select.block_threads);
    status = strata::launch(launch, top_k_sample_kernel<MaxPolicy, KeyIterator, Digits, Bound>, sample, copies,
                            plan.sample_rank, bound, workspace);
    if (status != cudaSuccess) return status;
    Collector collector{{{keys, bound, candidates.keys, candidates.indices, candidates.capacity, candidates.found},
                         num_items,
                         stream,
                         device,
                         storage.template get<platform::tagged_word>(exchange_slot),
                         num_items}};
    return Collector::MaxPolicy::Invoke(device.ptx_version, collector);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/top_k/agent.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Some items of the input, in their order: one of each of `count` parts of (nearly) equal length. Which one, a hash of
/// the part's number says, so that it does not matter if the input repeats itself.
template <class KeyIterator>
struct top_k_sample {
  KeyIterator keys;
  std::size_t count;
  std::size_t length;        // of a part
  std::size_t longer_parts;  // that have one item more

  static top_k_sample of(KeyIterator keys, std::size_t num_items, std::size_t count) {
    return {keys, count, num_items / count, num_items % count};
  }

  STRATA_HD std::size_t index_of(std::size_t part) const {
    unsigned long long hash = (part + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
    // Less than the length, even if the product overflows.
    const auto offset = static_cast<std::size_t>((hash >> 32) * length >> 32);
    return part * length + detail::least(part, longer_parts) + offset;
  }
  STRATA_D iterator_value_t<KeyIterator> load(std::size_t part) const { return detail::item_at(keys, index_of(part)); }
};

inline constexpr int top_k_gather_threads = 128;

/// Copies the sample: its items lie far apart, and one block would wait for each of them in every pass.
template <class KeyIterator>
STRATA_KERNEL void top_k_gather_kernel(top_k_sample<KeyIterator> sample, iterator_value_t<KeyIterator>* copies) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const std::size_t part = std::size_t{blockIdx.x} * top_k_gather_threads + threadIdx.x;
  if (part < sample.count) copies[part] = sample.load(part);
}

/// The last candidate: the item of rank `rank` in the sample, of which `copies` has the items. One block.
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

/// Items collected before, of which the first kernels have counted `found`. There is no `found` if there are none.
template <class Key, class Index>
struct top_k_candidates {
  Key* keys;
  Index* indices;  // in the input; only with values
  std::size_t capacity;
  unsigned long long* found;
};

/// Where results go.
template <class KeyOutputIterator, class ValueIterator, class ValueOutputIterator, class IndexT>
struct top_k_output {
  using Index = IndexT;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;

  KeyOutputIterator keys_out;
  ValueIterator values;
  ValueOutputIterator values_out;
  const Index* indices;  // of the items in the input, if these are candidates

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

/// Selects k of the candidates, or of all items, if there are too few candidates, or more than there is capacity
/// for. All blocks are resident.
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

STRATA_ARCH_DETAIL_NAMESPACE_END

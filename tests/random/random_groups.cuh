// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the random programs of DeviceGroupBy: tunings, orders of groups, and keys.
#pragma once

#include <strata/device/device_group_by.cuh>
#include <strata/device/group_by/host_group_by.cuh>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "random/random_sorts.cuh"

namespace group_by_random {

using namespace random_test;
using strata::GroupOrder;

template <GroupOrder Order, class Output>
auto in_group_order(const Output& output) {
  if constexpr (Order == GroupOrder::by_key) {
    return output.sorted();
  } else if constexpr (Order == GroupOrder::by_first_row) {
    return output.first_occurrence();
  } else {
    return output;
  }
}
constexpr const char* text_of_order(GroupOrder order) {
  return order == GroupOrder::by_key ? ", sorted" : order == GroupOrder::by_first_row ? ", first occurrence" : "";
}

/// Returns which group is written at which place. `first_rows` has the first row of each group. If groups are in any
/// order, `found(g)` returns the group that was found at place g of `written`.
template <GroupOrder Order, class Found>
std::vector<std::size_t> written_groups(const std::vector<std::size_t>& first_rows, std::size_t written,
                                        const Found& found) {
  std::vector<std::size_t> groups(first_rows.size());
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  if constexpr (Order == GroupOrder::by_first_row) {
    std::sort(groups.begin(), groups.end(),
              [&](std::size_t a, std::size_t b) { return first_rows[a] < first_rows[b]; });
  } else if constexpr (Order == GroupOrder::any) {
    std::vector<bool> is_known(first_rows.size());
    for (std::size_t g = 0; g < written; ++g) {
      groups[g] = found(g);
      must_be(groups[g] < is_known.size(), "a key is written that no row has");
      must_be(!is_known[groups[g]], "a group is written twice");
      is_known[groups[g]] = true;
    }
  }
  groups.resize(written);
  return groups;
}
/// The values of `all` for these groups, then untouched ones up to `capacity`.
template <class T>
std::vector<T> of_groups(const std::vector<T>& all, const std::vector<std::size_t>& groups, std::size_t capacity) {
  std::vector<T> some;
  for (const std::size_t g : groups) some.push_back(all[g]);
  return and_untouched(std::move(some), capacity);
}

struct small_tables {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning{/*block_threads=*/64,
                                                    /*items_per_thread=*/4,
                                                    /*blocks_per_multiprocessor=*/2,
                                                    /*table_bytes=*/4096,
                                                    /*most_slots=*/64,
                                                    /*least_rows=*/1,
                                                    /*hash_threads=*/64,
                                                    /*hash_items_per_thread=*/4,
                                                    /*hash_blocks_per_multiprocessor=*/2,
                                                    /*hash_table_bytes=*/4096,
                                                    /*hash_slots=*/64,
                                                    /*part_threads=*/64,
                                                    /*part_blocks_per_multiprocessor=*/2,
                                                    /*part_table_bytes=*/2048,
                                                    /*partition_bits=*/4,
                                                    /*partition_items_per_thread=*/8,
                                                    /*most_table_rows=*/500,
                                                    /*most_slots_in_memory=*/512,
                                                    /*partition_threads=*/64,
                                                    /*partition_blocks_per_multiprocessor=*/2,
                                                    /*partition_sector_rows=*/4,
                                                    /*part_load_percent=*/60,
                                                    /*most_scattered_rows=*/150};
  };
  using MaxPolicy = Policy;
};

/// In place of a tuning, this says that HostGroupBy is called. That needs the host back end, where device memory is
/// host memory.
struct host_threads {};

/// The calls of DeviceGroupBy that are tested here, with the tuning `Hub`.
template <class Hub>
struct group_by_with : strata::TunedDeviceGroupBy<Hub> {};
template <>
struct group_by_with<host_threads> {
  static constexpr strata::HostGroupByOptions options{3};

  template <class Keys, class Aggregates, class Output>
  static cudaError_t Aggregate(void* storage, std::size_t& bytes, const Keys& keys, const Aggregates& all,
                               const Output& output, std::uint32_t* number, cudaStream_t stream) {
    if (storage != nullptr) must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return strata::HostGroupBy::Aggregate(storage, bytes, keys, all, output, number, options);
  }
  template <class Keys, class Aggregates, class Output>
  static cudaError_t Groups(void* storage, std::size_t& bytes, const Keys& keys, std::uint32_t* group_of_row,
                            const Aggregates& all, const Output& output, std::uint32_t* number, cudaStream_t stream) {
    if (storage != nullptr) must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return strata::HostGroupBy::Groups(storage, bytes, keys, group_of_row, all, output, number, options);
  }
};
template <class Hub>
constexpr const char* text_of_hub() {
  if constexpr (std::is_same_v<Hub, host_threads>) {
    return ", host threads";
  } else {
    return std::is_same_v<Hub, small_tables> ? ", small tables" : "";
  }
}

/// Keys with at most `different` different values, or any keys if it is 0.
template <class Key>
std::vector<Key> random_keys(source& data, std::size_t size, std::size_t different) {
  std::vector<Key> keys = random_items<Key>(data, size);
  if (different == 0 || size == 0) return keys;
  const std::vector<Key> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min(different, size)));
  for (Key& key : keys) key = some[data.below(some.size())];
  return keys;
}

}  // namespace group_by_random

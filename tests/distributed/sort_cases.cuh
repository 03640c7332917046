// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cases for sorts over ranks: the number of items of each rank, the distribution of keys, and the check of the result.
#pragma once

#include <strata/distributed/sort/tuning.hpp>

#include <support/test_types.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "distributed/ranks.hpp"

namespace sort_cases {

using strata_test::device_vector;
using strata_test::rank_context;

/// Limits so low that small cases take several rounds of samples, and several chunks.
template <int FirstSamples, int MaxItemsWithoutChunks, int Chunks>
struct small_policy {
  static constexpr strata::distributed_sort_tuning tuning{FirstSamples,
                                                          /*samples=*/16,
                                                          /*sample_bytes=*/1 << 16,
                                                          MaxItemsWithoutChunks,
                                                          Chunks,
                                                          /*max_gathered_items=*/0};
};

enum class counts { equal, random, first, last, none, empty_middle };
constexpr counts all_counts[] = {counts::equal, counts::random, counts::first,
                                 counts::last,  counts::none,   counts::empty_middle};

/// The number of items of each rank. All ranks together have about `items`.
inline std::vector<std::size_t> counts_of(counts how, std::size_t items, int ranks, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> result(size, how == counts::none ? 0 : items / size);
  const std::vector<int> random = strata_test::random_integers(size, 0, static_cast<int>(2 * items / size), seed);
  for (std::size_t r = 0; r < size; ++r) {
    if (how == counts::random) result[r] = static_cast<std::size_t>(random[r]);
    if (how == counts::first) result[r] = r == 0 ? items : 0;
    if (how == counts::last) result[r] = r + 1 == size ? items : 0;
    if (how == counts::empty_middle && r == size / 2) result[r] = 0;
  }
  return result;
}

enum class law { random, few, equal, ascending, descending, skewed };
constexpr law all_laws[] = {law::random, law::few, law::equal, law::ascending, law::descending, law::skewed};

/// Numbers from 0 to 2^20, from which keys are made.
inline std::vector<int> numbers(law how, std::size_t count, std::uint64_t seed) {
  std::vector<int> result = strata_test::random_integers(count, 0, 1 << 20, seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<int>(i * 1000003 / (count + 1));
    switch (how) {
      case law::random:
        break;
      case law::few:
        result[i] %= 3;
        break;
      case law::equal:
        result[i] = 77;
        break;
      case law::ascending:
        result[i] = place;
        break;
      case law::descending:
        result[i] = 1000003 - place;
        break;
      case law::skewed:
        result[i] = result[i] % 2 == 0 ? 5 : result[i] >> (result[i] % 20);
        break;
    }
  }
  return result;
}

/// Sorts `keys` by `call`, and compares with a stable sort by `less`. `parts` has the number of keys of each rank. If
/// `HasValues`, the values are the places of keys among all. `call(storage, bytes, keys_in, values_in, num_items,
/// keys_out, values_out, capacity, num_out, context)` gets the capacity that is needed, plus `slack`.
template <bool HasValues, class Key, class Less, class Call>
void expect_sorted(const std::vector<std::size_t>& parts, const std::vector<Key>& keys, const Less& less,
                   const Call& call, std::size_t slack = 0) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
  const auto ranks = parts.size();
  strata_test::on_ranks(static_cast<int>(ranks), [&](const rank_context& context) {
    const auto rank = static_cast<std::size_t>(context.rank);
    std::size_t begin = 0;
    for (std::size_t r = 0; r < rank; ++r) begin += parts[r];
    const auto at = [&](std::size_t place) { return keys.begin() + static_cast<std::ptrdiff_t>(place); };
    const device_vector<Key> keys_in(std::vector<Key>(at(begin), at(begin + parts[rank])));
    std::vector<int> places(parts[rank]);
    std::iota(places.begin(), places.end(), static_cast<int>(begin));
    const device_vector<int> values_in(HasValues ? places : std::vector<int>());
    const std::size_t first = rank * keys.size() / ranks, last = (rank + 1) * keys.size() / ranks;
    const std::size_t share = last - first;
    device_vector<Key> keys_out(share + slack);
    device_vector<int> values_out(HasValues ? share + slack : 0);
    std::int64_t num_out = -1;
    ASSERT_CUDA_SUCCESS(strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
      const cudaError_t status = call(storage, bytes, keys_in.data(), values_in.data(), parts[rank], keys_out.data(),
                                      values_out.data(), share + slack, &num_out, context);
      return status != cudaSuccess || storage == nullptr ? status : cudaStreamSynchronize(context.stream);
    }));
    ASSERT_EQ(static_cast<std::int64_t>(share), num_out);
    const std::vector<Key> sorted = keys_out.to_host();
    const std::vector<int> values = values_out.to_host();
    for (std::size_t i = 0; i < share; ++i) {
      ASSERT_EQ(0, std::memcmp(&keys[order[first + i]], &sorted[i], sizeof(Key))) << "key " << i << " of " << share;
      if (HasValues) {
        ASSERT_EQ(order[first + i], static_cast<std::size_t>(values[i])) << "value " << i << " of " << share;
      }
    }
    for (std::size_t i = share; i < share + slack; ++i) ASSERT_TRUE(strata_test::is_poison(sorted[i])) << i;
    // The input must be unchanged.
    const std::vector<Key> unchanged = keys_in.to_host();
    ASSERT_TRUE(unchanged.empty() || std::memcmp(unchanged.data(), &keys[begin], unchanged.size() * sizeof(Key)) == 0);
  });
}

/// One rank's call is refused, or has too little capacity. All ranks must return the same error, and write nothing.
/// `change(rank, keys_in, num_items, keys_out, capacity, num_out)` makes the arguments of some rank wrong.
template <class Key, class Call, class Change>
void expect_refused(const std::vector<std::size_t>& parts, const Call& call, const Change& change,
                    bool is_capacity = false) {
  std::size_t all = 0;
  for (const std::size_t part : parts) all += part;
  const auto ranks = parts.size();
  strata_test::on_ranks(static_cast<int>(ranks), [&](const rank_context& context) {
    const auto rank = static_cast<std::size_t>(context.rank);
    const std::size_t share = (rank + 1) * all / ranks - rank * all / ranks;
    const device_vector<Key> keys_in(std::vector<Key>(parts[rank], Key{}));
    device_vector<Key> keys_out(share);
    const Key* in = keys_in.data();
    Key* out = keys_out.data();
    std::int64_t num_out = -1, *told = &num_out;
    std::int64_t num_items = static_cast<std::int64_t>(parts[rank]), capacity = static_cast<std::int64_t>(share);
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(call(nullptr, bytes, in, num_items, out, capacity, told, context));
    change(context.rank, in, num_items, out, capacity, told, bytes);
    const strata_test::guarded_memory storage(bytes);
    EXPECT_EQ(cudaErrorInvalidValue, call(storage.data(), bytes, in, num_items, out, capacity, told, context));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
    for (const Key& item : keys_out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
    if (is_capacity) {
      EXPECT_EQ(static_cast<std::int64_t>(share), num_out);
    }
    ncclResult_t of_comm = ncclSuccess;
    EXPECT_NCCL_SUCCESS(ncclCommGetAsyncError(context.comm, &of_comm));
    EXPECT_EQ(ncclSuccess, of_comm);
  });
}

/// Expects the refusal of each wrong argument of a sort. `call` is that of expect_sorted().
template <class Key, class Call>
void expect_all_refused(int ranks, const Call& call) {
  std::vector<std::size_t> parts(static_cast<std::size_t>(ranks), 100);
  parts[0] = 150;
  const int wrong = ranks - 1;
  using Input = const Key*;
  const auto on_one = [&](const auto& change) {
    return [=](int rank, Input& in, std::int64_t& num_items, Key*& out, std::int64_t& capacity, std::int64_t*& told,
               std::size_t& bytes) {
      if (rank == wrong) change(in, num_items, out, capacity, told, bytes);
    };
  };
  expect_refused<Key>(parts, call, on_one([](Input& in, auto&, auto&, auto&, auto&, auto&) { in = nullptr; }));
  expect_refused<Key>(parts, call, on_one([](auto&, auto&, Key*& out, auto&, auto&, auto&) { out = nullptr; }));
  expect_refused<Key>(parts, call, on_one([](auto&, auto& items, auto&, auto&, auto&, auto&) { items = -1; }));
  expect_refused<Key>(parts, call, on_one([](auto&, auto&, auto&, auto&, auto& told, auto&) { told = nullptr; }));
  expect_refused<Key>(parts, call, on_one([](Input& in, auto&, Key*& out, auto&, auto&, auto&) { in = out + 1; }));
  expect_refused<Key>(parts, call, on_one([](auto&, auto&, auto&, auto&, auto&, auto& bytes) { bytes -= 1; }));
  expect_refused<Key>(parts, call, on_one([](auto&, auto&, auto&, auto& capacity, auto&, auto&) { capacity -= 1; }),
                      true);
}

}  // namespace sort_cases

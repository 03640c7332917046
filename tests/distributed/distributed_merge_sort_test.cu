// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DistributedMergeSort with a stable sort of the items of all ranks.
#include <strata/distributed/distributed_merge_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/sort_cases.cuh"

namespace distributed_merge_sort_test {

using namespace sort_cases;

struct ascending {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// Compared by its key alone.
struct record {
  int key;
  int place;
  double payload;
  friend STRATA_HD bool operator<(const record& a, const record& b) { return a.key / 16 < b.key / 16; }
};

template <class Key>
std::vector<Key> keys_of(const std::vector<int>& numbers) {
  std::vector<Key> keys(numbers.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(numbers[i]);
  return keys;
}
template <>
std::vector<record> keys_of<record>(const std::vector<int>& numbers) {
  std::vector<record> keys(numbers.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {numbers[i], static_cast<int>(i), 0.5 * numbers[i]};
  return keys;
}

template <class Policy>
struct merge_sort {
  template <class Key>
  cudaError_t operator()(void* storage, std::size_t& bytes, const Key* keys_in, const int* values_in,
                         std::size_t num_items, Key* keys_out, int* values_out, std::size_t capacity,
                         std::int64_t* num_out, const rank_context& context) const {
    return strata::detail::distributed_merge_sort<Policy>(
        storage, bytes, keys_in, values_in, static_cast<std::int64_t>(num_items), keys_out, values_out,
        static_cast<std::int64_t>(capacity), num_out, ascending{}, context.comm, context.stream);
  }
};
template <class Policy>
struct merge_sort_keys {
  template <class Key>
  cudaError_t operator()(void* storage, std::size_t& bytes, const Key* keys_in, const int*, std::size_t num_items,
                         Key* keys_out, int*, std::size_t capacity, std::int64_t* num_out,
                         const rank_context& context) const {
    return strata::detail::distributed_merge_sort<Policy>(
        storage, bytes, keys_in, strata::NullType{}, static_cast<std::int64_t>(num_items), keys_out,
        static_cast<strata::NullType*>(nullptr), static_cast<std::int64_t>(capacity), num_out, ascending{},
        context.comm, context.stream);
  }
};

using usual = strata::detail::distributed_sort_policy;
using several_rounds = small_policy<20, 1 << 20, 1>;
using several_chunks = small_policy<20, 40, 3>;

TEST(DistributedMergeSort, TakesAllCountsAndLaws) {
  std::uint64_t seed = 0;
  for (const int ranks : strata_test::rank_counts()) {
    for (const counts how : all_counts) {
      for (const law which : all_laws) {
        // Odd numbers of ranks test half of all combinations, even numbers the other half.
        if ((static_cast<int>(how) + static_cast<int>(which) + ranks) % 2 != 0) continue;
        ++seed;
        const std::size_t items = seed % 5 == 0 ? 37 : 1500;
        const std::vector<std::size_t> parts = counts_of(how, items, ranks, seed);
        std::size_t all = 0;
        for (const std::size_t part : parts) all += part;
        SCOPED_TRACE("ranks " + std::to_string(ranks) + " counts " + std::to_string(static_cast<int>(how)) + " law " +
                     std::to_string(static_cast<int>(which)));
        const std::vector<int> keys = keys_of<int>(numbers(which, all, seed));
        expect_sorted<true>(parts, keys, ascending{}, merge_sort<several_chunks>{});
        if (HasFatalFailure()) return;
        if (seed % 3 == 0) expect_sorted<true>(parts, keys, ascending{}, merge_sort<several_rounds>{}, 3);
        if (seed % 7 == 0) expect_sorted<false>(parts, keys, ascending{}, merge_sort_keys<usual>{});
        if (HasFailure()) return;
      }
    }
  }
}

TEST(DistributedMergeSort, TakesUserTypesStably) {
  for (const int ranks : strata_test::rank_counts()) {
    const std::vector<std::size_t> parts = counts_of(counts::random, 3000, ranks, 11);
    std::size_t all = 0;
    for (const std::size_t part : parts) all += part;
    expect_sorted<false>(parts, keys_of<record>(numbers(law::skewed, all, 3)), ascending{},
                         merge_sort_keys<several_chunks>{});
    expect_sorted<true>(parts, keys_of<record>(numbers(law::few, all, 4)), ascending{}, merge_sort<several_rounds>{});
    expect_sorted<true>(parts, keys_of<double>(numbers(law::random, all, 5)), ascending{}, merge_sort<usual>{});
  }
}

TEST(DistributedMergeSort, TakesMoreItemsThanAreSampledAtFirst) {
  const int ranks = strata_test::max_ranks() < 2 ? 1 : 2;
  const std::vector<std::size_t> parts = counts_of(counts::random, strata_test::is_small() ? 20000 : 400000, ranks, 1);
  std::size_t all = 0;
  for (const std::size_t part : parts) all += part;
  expect_sorted<true>(parts, keys_of<int>(numbers(law::random, all, 8)), ascending{}, merge_sort<usual>{});
}

/// No ordering. The result is unspecified, but the call must not crash, hang, or access memory out of bounds.
struct nonsense {
  STRATA_HD bool operator()(int a, int b) const { return (a * 7 + b * 13) % 3 == 0; }
};
TEST(DistributedMergeSort, EndsWithAComparatorThatIsNoOrdering) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      const std::vector<int> keys = keys_of<int>(numbers(law::random, 700, static_cast<std::uint64_t>(context.rank)));
      const device_vector<int> in(keys);
      device_vector<int> out(700);
      std::int64_t num_out = 0;
      const cudaError_t status = strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
        return strata::detail::distributed_merge_sort<several_chunks>(
            storage, bytes, in.data(), strata::NullType{}, 700, out.data(), static_cast<strata::NullType*>(nullptr),
            700, &num_out, nonsense{}, context.comm, context.stream);
      });
      EXPECT_TRUE(status == cudaSuccess || status == cudaErrorInvalidValue);
      EXPECT_EQ(700, num_out);
    });
  }
}

TEST(DistributedMergeSort, RefusesOnAllRanksAlike) {
  for (const int ranks : strata_test::rank_counts()) {
    expect_all_refused<int>(
        ranks, [](void* storage, std::size_t& bytes, const int* in, std::int64_t num_items, int* out,
                  std::int64_t capacity, std::int64_t* num_out, const rank_context& context) {
          return strata::DistributedMergeSort::SortKeys(storage, bytes, in, num_items, out, capacity, num_out,
                                                        ascending{}, context.comm, context.stream);
        });
  }
  std::size_t bytes = 0;
  std::int64_t num_out = 0;
  int* const none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue,
            strata::DistributedMergeSort::SortKeys(nullptr, bytes, none, 0, none, 0, &num_out, ascending{}, nullptr));
}

TEST(DistributedMergeSort, TakesStorageFromTheStream) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      const device_vector<int> in(std::vector<int>{3 * context.rank + 2, 3 * context.rank, 3 * context.rank + 1});
      device_vector<int> out(3);
      std::int64_t num_out = 0;
      ASSERT_CUDA_SUCCESS(strata::DistributedMergeSort::SortKeys(in.data(), 3, out.data(), 3, &num_out, ascending{},
                                                                 context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
      const std::vector<int> expected{3 * context.rank, 3 * context.rank + 1, 3 * context.rank + 2};
      EXPECT_EQ(expected, out.to_host());
    });
  }
}

}  // namespace distributed_merge_sort_test

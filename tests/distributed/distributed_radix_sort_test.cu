// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DistributedRadixSort with a stable sort of the items of all ranks.
#include <strata/distributed/distributed_radix_sort.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/sort_cases.cuh"

namespace distributed_radix_sort_test {

using namespace sort_cases;

/// Compares keys by a range of bits of their ordered words.
template <class Key, bool IsDescending>
struct by_bits {
  int begin, end;
  bool operator()(const Key& a, const Key& b) const { return IsDescending ? word(b) < word(a) : word(a) < word(b); }

 private:
  std::uint64_t word(const Key& key) const {
    const std::uint64_t ordered = strata::RadixTraits<Key>::ordered(key);
    const int bits = end - begin;
    return ordered >> begin & (bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0});
  }
};

template <bool IsDescending, class Policy, class Decomposer = strata::detail::identity_decomposer>
struct radix_sort {
  int begin, end;

  template <class Key>
  cudaError_t operator()(void* storage, std::size_t& bytes, const Key* keys_in, const int* values_in,
                         std::size_t num_items, Key* keys_out, int* values_out, std::size_t capacity,
                         std::int64_t* num_out, const rank_context& context) const {
    return strata::detail::distributed_radix_sort<IsDescending, Policy>(
        storage, bytes, keys_in, values_in, static_cast<std::int64_t>(num_items), keys_out, values_out,
        static_cast<std::int64_t>(capacity), num_out, Decomposer{}, begin, end, context.comm, context.stream);
  }
};

using usual = strata::detail::distributed_sort_policy;
using several_chunks = small_policy<20, 40, 3>;

template <class Key>
std::vector<Key> keys_of(const std::vector<int>& numbers) {
  std::vector<Key> keys(numbers.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if constexpr (std::is_floating_point_v<Key>) {
      keys[i] = static_cast<Key>(numbers[i] - (1 << 19)) / 16;
      if (numbers[i] % 7 == 0) keys[i] = numbers[i] % 2 == 0 ? Key(-0.0) : Key(0.0);
      if (numbers[i] % 11 == 0) keys[i] = std::copysign(std::numeric_limits<Key>::quiet_NaN(), Key(numbers[i] % 2 - 1));
      if (numbers[i] % 13 == 0) keys[i] = -std::numeric_limits<Key>::infinity();
    } else {
      keys[i] = static_cast<Key>(static_cast<std::uint64_t>(numbers[i]) * 0x9e3779b97f4a7c15u >> 20);
    }
  }
  return keys;
}

template <class Key>
class DistributedRadixSort : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = testing::Types<unsigned, float, std::int8_t>;
#else
using key_types = testing::Types<unsigned, float, std::int8_t, int, std::uint16_t, std::int64_t, std::uint64_t, double>;
#endif
TYPED_TEST_SUITE(DistributedRadixSort, key_types);

TYPED_TEST(DistributedRadixSort, TakesAllCountsAndLaws) {
  using Key = TypeParam;
  constexpr int bits = strata::RadixTraits<Key>::bits;
  std::uint64_t seed = 0;
  for (const int ranks : strata_test::rank_counts()) {
    for (const counts how : all_counts) {
      const law which = all_laws[(static_cast<int>(how) + ranks) % 6];
      ++seed;
      const std::vector<std::size_t> parts = counts_of(how, 1200, ranks, seed);
      std::size_t all = 0;
      for (const std::size_t part : parts) all += part;
      SCOPED_TRACE("ranks " + std::to_string(ranks) + " counts " + std::to_string(static_cast<int>(how)) + " law " +
                   std::to_string(static_cast<int>(which)));
      const std::vector<Key> keys = keys_of<Key>(numbers(which, all, seed));
      expect_sorted<true>(parts, keys, by_bits<Key, false>{0, bits}, radix_sort<false, several_chunks>{0, bits});
      if (seed % 2 == 0) {
        expect_sorted<true>(parts, keys, by_bits<Key, true>{0, bits}, radix_sort<true, usual>{0, bits}, 5);
      } else {
        expect_sorted<true>(parts, keys, by_bits<Key, false>{3, bits - 1},
                            radix_sort<false, several_chunks>{3, bits - 1});
      }
      if (this->HasFailure()) return;
    }
  }
}

/// Sorted by day, then by hour, but not by place. It has no padding, because a GPU need not copy padding.
struct event {
  int place;
  unsigned char hour, unused;
  short day;
};
struct by_day {
  STRATA_HD strata::RadixFields<short&, unsigned char&> operator()(event& e) const { return {e.day, e.hour}; }
};

TEST(DistributedRadixSortOfFields, TakesDecomposers) {
  for (const int ranks : strata_test::rank_counts()) {
    const std::vector<std::size_t> parts = counts_of(counts::random, 1500, ranks, 2);
    std::size_t all = 0;
    for (const std::size_t part : parts) all += part;
    const std::vector<int> random = numbers(law::random, all, 9);
    std::vector<event> keys(all, event{});
    for (std::size_t i = 0; i < all; ++i) {
      keys[i].place = static_cast<int>(i);
      keys[i].day = static_cast<short>(random[i] % 9 - 4);
      keys[i].hour = static_cast<unsigned char>(random[i] / 16 % 24);
    }
    const auto less = [](const event& a, const event& b) { return a.day != b.day ? a.day < b.day : a.hour < b.hour; };
    expect_sorted<true>(parts, keys, less, radix_sort<false, several_chunks, by_day>{0, 24});
    const auto by_hour = [](const event& a, const event& b) { return a.hour > b.hour; };
    expect_sorted<true>(parts, keys, by_hour, radix_sort<true, several_chunks, by_day>{0, 8});
  }
}

TEST(DistributedRadixSortCalls, RefuseOnAllRanksAlike) {
  const auto call = [](void* storage, std::size_t& bytes, const unsigned* in, std::int64_t num_items, unsigned* out,
                       std::int64_t capacity, std::int64_t* num_out, const rank_context& context) {
    return strata::DistributedRadixSort::SortKeys(storage, bytes, in, num_items, out, capacity, num_out, context.comm,
                                                  context.stream);
  };
  for (const int ranks : strata_test::rank_counts()) expect_all_refused<unsigned>(ranks, call);
}

TEST(DistributedRadixSortCalls, RefuseBitsThatDiffer) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      const device_vector<unsigned> in(std::vector<unsigned>(10, 3));
      device_vector<unsigned> out(10);
      std::int64_t num_out = 0;
      const int end = ranks > 1 && context.rank == 0 ? 16 : ranks > 1 ? 17 : 33;
      EXPECT_EQ(cudaErrorInvalidValue, strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
                  return strata::DistributedRadixSort::SortKeys(storage, bytes, in.data(), 10, out.data(), 10, &num_out,
                                                                0, end, context.comm, context.stream);
                }));
      for (const unsigned key : out.to_host()) EXPECT_TRUE(strata_test::is_poison(key));
    });
  }
}

TEST(DistributedRadixSortCalls, HaveAllForms) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      using strata::DistributedRadixSort;
      const unsigned base = 4 * static_cast<unsigned>(ranks - 1 - context.rank);
      const device_vector<unsigned> in(std::vector<unsigned>{base + 2, base, base + 3, base + 1});
      const device_vector<unsigned> values(std::vector<unsigned>{base + 102, base + 100, base + 103, base + 101});
      device_vector<unsigned> out(4), values_out(4);
      std::int64_t n = 0;
      const unsigned first = 4 * static_cast<unsigned>(context.rank);
      const auto expect = [&](cudaError_t status, bool has_values, bool is_descending) {
        ASSERT_CUDA_SUCCESS(status);
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        const std::vector<unsigned> keys = out.to_host(), found = values_out.to_host();
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned key = is_descending ? 4 * static_cast<unsigned>(ranks) - 1 - first - i : first + i;
          EXPECT_EQ(key, keys[i]);
          if (has_values) {
            EXPECT_EQ(key + 100, found[i]);
          }
        }
        out.poison();
        values_out.poison();
      };
      const auto comm = context.comm;
      const auto stream = context.stream;
      expect(DistributedRadixSort::SortKeys(in.data(), 4, out.data(), 4, &n, comm, stream), false, false);
      expect(DistributedRadixSort::SortKeys(in.data(), 4, out.data(), 4, &n, 0, 8, comm, stream), false, false);
      expect(DistributedRadixSort::SortKeysDescending(in.data(), 4, out.data(), 4, &n, comm, stream), false, true);
      expect(DistributedRadixSort::SortKeysDescending(in.data(), 4, out.data(), 4, &n, 0, 8, comm, stream), false,
             true);
      expect(DistributedRadixSort::SortPairs(in.data(), values.data(), 4, out.data(), values_out.data(), 4, &n, comm,
                                             stream),
             true, false);
      expect(DistributedRadixSort::SortPairs(in.data(), values.data(), 4, out.data(), values_out.data(), 4, &n, 0, 8,
                                             comm, stream),
             true, false);
      expect(DistributedRadixSort::SortPairsDescending(in.data(), values.data(), 4, out.data(), values_out.data(), 4,
                                                       &n, comm, stream),
             true, true);
      expect(DistributedRadixSort::SortPairsDescending(in.data(), values.data(), 4, out.data(), values_out.data(), 4,
                                                       &n, 0, 8, comm, stream),
             true, true);
    });
  }
}

}  // namespace distributed_radix_sort_test

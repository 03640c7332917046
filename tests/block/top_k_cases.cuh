// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of WarpTopK and BlockTopK: a kernel that makes every call, and the expected results.
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/radix_key.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace top_k_test {

using strata_test::device_vector;

/// Selects a call and its arguments.
struct choice {
  bool is_max;
  bool is_sorted;
  bool has_valid_items;
  int k;
  int valid_items;
};

template <bool IsMax, bool IsSorted, class TopK, class... Arguments>
STRATA_D int call_one(TopK& top_k, Arguments&... arguments) {
  if constexpr (TopK::has_values) {
    if constexpr (IsSorted) {
      return IsMax ? top_k.MaxPairsSorted(arguments...) : top_k.MinPairsSorted(arguments...);
    } else {
      return IsMax ? top_k.MaxPairs(arguments...) : top_k.MinPairs(arguments...);
    }
  } else if constexpr (IsSorted) {
    return IsMax ? top_k.MaxKeysSorted(arguments...) : top_k.MinKeysSorted(arguments...);
  } else {
    return IsMax ? top_k.MaxKeys(arguments...) : top_k.MinKeys(arguments...);
  }
}

/// A collective class, marked as called with or without values.
template <class Collective, bool HasValues>
struct with_values : Collective {
  static constexpr bool has_values = HasValues;
  using Collective::Collective;
};

template <class TopK, class... Arrays>
STRATA_D int call(TopK top_k, const choice& what, Arrays&... arrays) {
  const auto call_with = [&](auto... numbers) {
    if (what.is_max) {
      return what.is_sorted ? call_one<true, true>(top_k, arrays..., numbers...)
                            : call_one<true, false>(top_k, arrays..., numbers...);
    }
    return what.is_sorted ? call_one<false, true>(top_k, arrays..., numbers...)
                          : call_one<false, false>(top_k, arrays..., numbers...);
  };
  return what.has_valid_items ? call_with(what.k, what.valid_items) : call_with(what.k);
}

enum class pattern { any, few, equal, ascending, special };
inline constexpr pattern all_patterns[] = {pattern::any, pattern::few, pattern::equal, pattern::ascending,
                                           pattern::special};

template <class Key>
std::vector<Key> make_keys(std::size_t count, pattern how, std::uint64_t seed) {
  std::mt19937_64 bits = strata_test::random_bits(seed * 77 + count);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t words[2] = {bits(), bits()};
    if (how == pattern::few) words[0] = words[0] % 3 * 0x0101010101010101u;
    if (how == pattern::equal) words[0] = 0x1234567812345678u;
    if (how == pattern::ascending) words[0] = i * 3;
    // Zeros and NaNs, of both signs.
    if (how == pattern::special) words[0] = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x8000800080008080u : ~std::uint64_t{i % 2};
    if (how != pattern::any) words[1] = 0;
    std::memcpy(static_cast<void*>(&keys[i]), words, sizeof(Key));
  }
  return keys;
}

/// The indices within the tile of the items that are expected as result.
template <class Key>
std::vector<int> expected_items(const Key* keys, int tile, const choice& what) {
  using Traits = strata::RadixTraits<Key>;
  const int valid = what.has_valid_items ? std::max(0, std::min(what.valid_items, tile)) : tile;
  std::vector<int> order(static_cast<std::size_t>(valid));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto first = Traits::ordered(keys[a]), second = Traits::ordered(keys[b]);
    return what.is_max ? first > second : first < second;
  });
  order.resize(static_cast<std::size_t>(std::max(0, std::min(what.k, valid))));
  if (!what.is_sorted) std::sort(order.begin(), order.end());
  return order;
}

/// `launch(what, keys, values, counts)` makes the call for `tiles` tiles, and leaves its results in the arrays.
template <class Key, bool HasValues, class Launch>
void expect_results(int tiles, int tile, const choice& what, pattern how, const Launch& launch) {
  SCOPED_TRACE(testing::Message() << (what.is_max ? "greatest " : "least ") << what.k << " of " << what.valid_items
                                  << (what.has_valid_items ? " valid" : "") << (what.is_sorted ? ", sorted" : "")
                                  << ", tile " << tile << ", pattern " << static_cast<int>(how));
  const auto items = static_cast<std::size_t>(tiles) * static_cast<std::size_t>(tile);
  const auto keys = make_keys<Key>(items, how, static_cast<std::uint64_t>(what.k));
  std::vector<int> values(items);
  std::iota(values.begin(), values.end(), 0);
  device_vector<Key> d_keys(keys);
  device_vector<int> d_values(values), d_counts(static_cast<std::size_t>(tiles));
  ASSERT_CUDA_SUCCESS(launch(what, d_keys.data(), d_values.data(), d_counts.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const auto out = d_keys.to_host();
  const auto values_out = d_values.to_host();
  const auto counts = d_counts.to_host();
  for (int t = 0; t < tiles; ++t) {
    const auto first = static_cast<std::size_t>(t) * static_cast<std::size_t>(tile);
    const auto expected = expected_items(keys.data() + first, tile, what);
    ASSERT_EQ(static_cast<int>(expected.size()), counts[static_cast<std::size_t>(t)]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t from = first + static_cast<std::size_t>(expected[i]);
      ASSERT_EQ(0, std::memcmp(&keys[from], &out[first + i], sizeof(Key))) << "tile " << t << ", place " << i;
      if (HasValues) {
        ASSERT_EQ(values[from], values_out[first + i]) << "tile " << t << ", place " << i;
      }
    }
  }
}

/// Tests several numbers of results and of valid items.
template <class Key, bool HasValues, class Launch>
void expect_all(int tiles, int tile, const Launch& launch) {
  for (const pattern how : all_patterns) {
    for (const int k : {-1, 0, 1, 2, tile / 3, tile - 1, tile, tile + 1}) {
      const bool is_odd = (k + static_cast<int>(how)) % 2 != 0;
      for (const bool is_max : {false, true}) {
        const choice all{is_max, is_odd != is_max, false, k, 0};
        ASSERT_NO_FATAL_FAILURE((expect_results<Key, HasValues>(tiles, tile, all, how, launch)));
        const choice some{is_max, is_odd == is_max, true, k, tile - tile / 4 - 1};
        ASSERT_NO_FATAL_FAILURE((expect_results<Key, HasValues>(tiles, tile, some, how, launch)));
      }
    }
  }
  for (const int valid : {-3, 0, 1, tile, tile + 7}) {
    ASSERT_NO_FATAL_FAILURE(
        (expect_results<Key, HasValues>(tiles, tile, {true, valid % 2 == 0, true, 2, valid}, pattern::any, launch)));
  }
}

}  // namespace top_k_test

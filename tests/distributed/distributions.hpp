// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The number of items of each rank, and the items themselves, for tests of distributed calls.
#pragma once

#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"

namespace distributed_test {

using strata_test::device_vector;

enum class distribution { even, uneven, all_on_first, all_on_last, one_item, empty };
inline constexpr distribution all_distributions[] = {distribution::even,         distribution::uneven,
                                                     distribution::all_on_first, distribution::all_on_last,
                                                     distribution::one_item,     distribution::empty};

inline std::size_t items_of(distribution how, int rank, int ranks, std::size_t about) {
  const auto number = static_cast<std::size_t>(rank);
  switch (how) {
    case distribution::even:
      return about;
    case distribution::uneven:  // some have none
      return rank % 3 == 1 ? 0 : about / 2 + 37 * number + number % 2;
    case distribution::all_on_first:
      return rank == 0 ? 2 * about : 0;
    case distribution::all_on_last:
      return rank + 1 == ranks ? 2 * about + 1 : 0;
    case distribution::one_item:
      return rank == ranks / 2 ? 1 : 0;
    case distribution::empty:
      break;
  }
  return 0;
}

/// Makes the items of all ranks by `make(rank, i)`.
template <class Item, class Make>
std::vector<std::vector<Item>> make_items(distribution how, int ranks, std::size_t about, const Make& make) {
  std::vector<std::vector<Item>> items(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t count = items_of(how, rank, ranks, about);
    for (std::size_t i = 0; i < count; ++i) items[static_cast<std::size_t>(rank)].push_back(make(rank, i));
  }
  return items;
}

/// The items of all ranks in the order of ranks.
template <class Item>
std::vector<Item> joined(const std::vector<std::vector<Item>>& items) {
  std::vector<Item> all;
  for (const auto& of_rank : items) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

/// The map x -> a x + b modulo a prime. Composition of maps is associative and not commutative.
struct affine_map {
  std::uint32_t a, b;
  STRATA_HD friend bool operator==(const affine_map& x, const affine_map& y) { return x.a == y.a && x.b == y.b; }
  STRATA_HD friend bool operator!=(const affine_map& x, const affine_map& y) { return !(x == y); }
};
struct apply_in_order {
  static constexpr std::uint64_t prime = 1000003;
  STRATA_HD affine_map operator()(const affine_map& first, const affine_map& second) const {
    return {static_cast<std::uint32_t>(std::uint64_t{second.a} * first.a % prime),
            static_cast<std::uint32_t>((std::uint64_t{second.a} * first.b + second.b) % prime)};
  }
};
inline affine_map some_map(int rank, std::size_t i) {
  const auto number = static_cast<std::uint32_t>(i) * 7919u + static_cast<std::uint32_t>(rank) * 104729u;
  return {number % 1000001u + 1u, number * 31u % 1000003u};
}

/// A memory resource of a rank. If `is_empty`, every allocation fails.
struct memory_of_rank {
  bool is_empty = false;
  void* allocate(std::size_t bytes, cudaStream_t stream) {
    void* memory = nullptr;
    return !is_empty && cudaMallocAsync(&memory, bytes, stream) == cudaSuccess ? memory : nullptr;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t stream) {
    EXPECT_CUDA_SUCCESS(cudaFreeAsync(memory, stream));
  }
};

}  // namespace distributed_test

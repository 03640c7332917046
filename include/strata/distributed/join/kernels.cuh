// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/join/route.cuh>

#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr unsigned distributed_join_threads = 256;

/// The hashes of rows at equal distances; 0 where a row has no partner, whatever the other side has. One block.
template <class RoutedKeys>
STRATA_KERNEL void distributed_join_sample_kernel(RoutedKeys keys, unsigned rows, bool nulls_equal, unsigned samples,
                                                  std::uint64_t* hashes) {
  for (unsigned i = threadIdx.x; i < samples; i += blockDim.x) {
    const auto row = static_cast<unsigned>(static_cast<unsigned long long>(i) * rows / samples);
    hashes[i] = keys.is_valid(row) ? keys.hash_of(row) : (nulls_equal ? join_null_route_hash : 0);
  }
}

template <class RoutedKeys>
STRATA_KERNEL void distributed_join_classify_kernel(RoutedKeys keys, unsigned rows, join_routing routing,
                                                    join_class_t* classes) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows;
       i += threads) {
    classes[i] = routing(keys, static_cast<unsigned>(i));
  }
}

/// Counts the rows of each class, which ascend. One block.
template <class Class>
STRATA_KERNEL void distributed_join_count_kernel(const Class* sorted, unsigned rows, unsigned classes,
                                                 std::int64_t* counts) {
  const auto begin_of = [&](unsigned wanted) {
    unsigned begin = 0;
    for (unsigned end = rows; begin < end;) {
      const unsigned middle = begin + (end - begin) / 2;
      if (sorted[middle] < wanted) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  for (unsigned i = threadIdx.x; i < classes; i += blockDim.x) {
    counts[i] = static_cast<std::int64_t>(begin_of(i + 1) - begin_of(i));
  }
}

/// Copies items in the order of `order`, or in their own one if it is null, but not the last `*dropped` ones.
template <class Items, class Item>
STRATA_KERNEL void distributed_join_gather_kernel(Items items, const unsigned* order, unsigned rows,
                                                  const std::int64_t* dropped, Item* out) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned kept = dropped != nullptr ? rows - static_cast<unsigned>(*dropped) : rows;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < kept;
       i += threads) {
    out[i] = detail::item_at(items, order != nullptr ? order[i] : static_cast<std::size_t>(i));
  }
}

/// The first `valid` of `rows` rows have a key.
template <class Word>
STRATA_KERNEL void distributed_join_mask_kernel(unsigned valid, unsigned rows, Word* mask) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; 32 * i < rows;
       i += threads) {
    const unsigned long long begin = 32 * i;
    const unsigned long long bits = valid > begin ? valid - begin : 0;
    mask[i] = bits >= 32 ? ~Word{0} : (Word{1} << bits) - 1;
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

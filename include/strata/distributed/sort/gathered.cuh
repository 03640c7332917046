// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/peers.cuh>
#include <strata/distributed/sort/merge_runs.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Small sorts of ranks that share memory: every rank gets the items of all ranks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Keys and values of one rank in its area: memory that other ranks read (see peer_group). Values lie behind the room
/// for the largest number of keys.
template <class Key, class Value>
struct area_layout {
  using Arrays = pair_arrays<Key, Value>;
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t item_bytes = sizeof(Key) + (Arrays::has_values ? sizeof(Value) : 0);
  static constexpr std::size_t most_items = (peer_group::area_bytes - alignment) / item_bytes;
  static constexpr std::size_t values_begin = (most_items * sizeof(Key) + alignment - 1) / alignment * alignment;

  static Arrays of(char* area) {
    return {reinterpret_cast<Key*>(area), Arrays::has_values ? reinterpret_cast<Value*>(area + values_begin) : nullptr};
  }
};

inline constexpr int area_threads = 256;

/// Fills the area of this rank, and writes the header of its call.
template <class KeysIn, class ValuesIn, class Key, class Value>
__launch_bounds__(area_threads)
    STRATA_KERNEL void fill_area_kernel(KeysIn keys_in, ValuesIn values_in, int num_items, Key* keys, Value* values,
                                        call_header header, unsigned char* message) {
  const int i = static_cast<int>(blockIdx.x) * area_threads + static_cast<int>(threadIdx.x);
  if (i == 0) *reinterpret_cast<call_header*>(message) = header;
  if (i >= num_items) return;
  keys[i] = static_cast<Key>(detail::item_at(keys_in, static_cast<std::size_t>(i)));
  if constexpr (pair_arrays<Key, Value>::has_values) {
    values[i] = static_cast<Value>(detail::item_at(values_in, static_cast<std::size_t>(i)));
  }
}

/// Copies the headers of all messages side by side.
struct copy_headers {
  const unsigned char* messages;
  std::size_t message_bytes;
  call_header* headers;
  int ranks;

  STRATA_D void operator()() const {
    for (auto rank = static_cast<int>(threadIdx.x); rank < ranks; rank += static_cast<int>(blockDim.x)) {
      headers[rank] = *reinterpret_cast<const call_header*>(messages + static_cast<std::size_t>(rank) * message_bytes);
    }
  }
};

/// The areas of all ranks.
template <class Key, class Value>
struct filled_areas {
  pair_arrays<Key, Value> items[max_peers];
  int begins[max_peers + 1];  // where each rank begins among the items of all ranks
};

/// Copies the items of all ranks, in the order of the ranks.
template <class Key, class Value>
__launch_bounds__(area_threads)
    STRATA_KERNEL void read_areas_kernel(const STRATA_GRID_CONSTANT filled_areas<Key, Value> areas, int ranks,
                                         pair_arrays<Key, Value> out) {
  const int i = static_cast<int>(blockIdx.x) * area_threads + static_cast<int>(threadIdx.x);
  if (i >= areas.begins[ranks]) return;
  int rank = 0;
  while (i >= areas.begins[rank + 1]) ++rank;
  const int from = i - areas.begins[rank];
  out.keys[i] = areas.items[rank].keys[from];
  if constexpr (pair_arrays<Key, Value>::has_values) out.values[i] = areas.items[rank].values[from];
}

STRATA_ARCH_DETAIL_NAMESPACE_END

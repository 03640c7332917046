// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/exchange/partition.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/route.cuh>

#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr unsigned distributed_join_threads = 256;

/// Returns a launch with a thread for one row or several.
inline launch_configuration join_row_launch(const char* name, std::int64_t rows, cudaStream_t stream) {
  constexpr std::int64_t max_blocks = 8192;
  std::int64_t blocks = (rows + (distributed_join_threads - 1)) / distributed_join_threads;
  if (blocks > max_blocks) blocks = max_blocks;
  launch_configuration configuration{name, dim3(static_cast<unsigned>(blocks)), dim3(distributed_join_threads)};
  configuration.stream = stream;
  return configuration;
}

/// Writes the message of this rank: the header, and the hashes of rows at equal distances. The hash is 0 if a row can
/// have no partner. All hashes behind the last sample are 0. The grid has one block.
template <class RoutedKeys>
STRATA_KERNEL void distributed_join_message_kernel(RoutedKeys keys, unsigned rows, bool nulls_equal, unsigned samples,
                                                   join_header header, join_message* message) {
  if (threadIdx.x == 0) message->header = header;
  for (unsigned i = threadIdx.x; i < join_message::max_samples; i += blockDim.x) {
    std::uint64_t hash = 0;
    if (i < samples) {
      const auto row = static_cast<unsigned>(static_cast<unsigned long long>(i) * rows / samples);
      hash = keys.is_valid(row) ? keys.hash_of(row) : (nulls_equal ? join_null_route_hash : 0);
    }
    message->samples[i] = hash;
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

/// Copies the keys of a side to all ranks: `outputs` holds, for each rank, where the keys of this rank begin.
template <class Keys, class Key>
STRATA_KERNEL void distributed_join_send_kernel(Keys keys, unsigned rows, int rank, int ranks,
                                                const STRATA_GRID_CONSTANT partition_outputs<Key, NullType> outputs) {
  // A warp stores whole lines. Arrays are aligned alike on all ranks.
  constexpr unsigned line_bytes = 128;
  const auto lead = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(outputs.keys[0]) % line_bytes / sizeof(Key));
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < static_cast<unsigned long long>(rows) + lead; i += threads) {
    if (i < lead) continue;
    const auto row = static_cast<std::size_t>(i - lead);
    const Key key = static_cast<Key>(detail::item_at(keys, row));
    for (int step = 0; step < ranks; ++step) outputs.keys[(rank + step) % ranks][row] = key;
  }
}

/// Makes a mask in which the first `valid` of `rows` rows have a key.
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

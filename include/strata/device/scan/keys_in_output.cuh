// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/by_key.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Scans by key that write over their keys. A result may be written before the block of the next
/// tile has looked at the key in its place. So two kernels before the scan write over each key
/// whether a run begins there, which concerns nobody but who scans this item.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether results may be written over keys, as far as types say.
template <class KeyIterator, class OutputIterator>
inline constexpr bool may_write_over_keys = false;
template <class Key, class Output>
inline constexpr bool may_write_over_keys<Key*, Output*> = sizeof(Key) == sizeof(Output) &&
                                                           !std::is_const_v<Output>;

/// Whether a run begins with an item, said where its key was: in the first byte of `key_bytes`.
struct begins_over_keys {
  unsigned char* bytes;
  std::ptrdiff_t key_bytes;

  STRATA_HD bool at(std::ptrdiff_t index) const { return bytes[index * key_bytes] != 0; }
  STRATA_HD void set(std::size_t index, bool begins) const {
    bytes[index * static_cast<std::size_t>(key_bytes)] = begins ? 1 : 0;
  }
};

/// A part of the keys for each block, at most.
inline constexpr unsigned most_key_parts = 1024;
inline constexpr int key_part_threads = 256;

/// No ring: a scan by such begins is one of tiles in registers. No block may reduce
/// another tile, whose begins may have been overwritten.
struct no_rings {
  static constexpr bool moves_in_place = true;
  template <class Start>
  bool start(const Start&, cudaError_t&) const {
    return false;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// By a thread for each part: whether a run begins with it.
template <class Runs>
STRATA_KERNEL void find_begins_of_parts_kernel(Runs runs, std::size_t num_items,
                                               std::size_t part_items, unsigned char* begins) {
  const std::size_t part = blockIdx.x * std::size_t{key_part_threads} + threadIdx.x;
  if (part * part_items >= num_items) return;
  begins[part] = runs.at(static_cast<std::ptrdiff_t>(part * part_items)) ? 1 : 0;
}

/// By a block for each part: the begins of runs over the keys.
template <class Runs>
STRATA_KERNEL void write_begins_over_keys_kernel(Runs runs, std::size_t num_items,
                                                 std::size_t part_items,
                                                 const unsigned char* begins_of_parts,
                                                 begins_over_keys begins) {
  using Key = typename Runs::Key;
  STRATA_SHARED(shared, Uninitialized<Key>);
  Key& last_key = shared.Alias();  // of the tile before
  const std::size_t first = blockIdx.x * part_items;
  const std::size_t end = num_items - first < part_items ? num_items : first + part_items;
  for (std::size_t tile = first; tile < end; tile += key_part_threads) {
    const std::size_t i = tile + threadIdx.x;
    bool is_begin = false;
    if (i < end) {
      if (i == first) {
        is_begin = begins_of_parts[blockIdx.x] != 0;
      } else if (threadIdx.x == 0) {
        is_begin = !runs.are_equal(last_key, runs.keys[i]);
      } else {
        is_begin = runs.at(static_cast<std::ptrdiff_t>(i));
      }
    }
    __syncthreads();  // All have looked at their keys.
    if (i < end) {
      if (threadIdx.x == key_part_threads - 1) last_key = runs.keys[i];
      begins.set(i, is_begin);
    }
    __syncthreads();
  }
}

/// `part_begins` has `most_key_parts` bytes.
template <class Runs>
cudaError_t write_begins_over_keys(const Runs& runs, std::size_t num_items,
                                   unsigned char* part_begins, const begins_over_keys& begins,
                                   cudaStream_t stream) {
  const std::size_t part_items = round_up<std::size_t>(
      ceiling_divide<std::size_t>(num_items, most_key_parts), key_part_threads);
  const auto parts = static_cast<unsigned>(ceiling_divide(num_items, part_items));
  launch_configuration configuration{"strata::DeviceScan, begins of parts",
                                     dim3(ceiling_divide(parts, unsigned{key_part_threads})),
                                     dim3(key_part_threads)};
  configuration.stream = stream;
  const cudaError_t status = strata::launch(configuration, find_begins_of_parts_kernel<Runs>, runs,
                                            num_items, part_items, part_begins);
  if (status != cudaSuccess) return status;
  configuration.name = "strata::DeviceScan, begins of runs";
  configuration.grid = dim3(parts);
  return strata::launch(configuration, write_begins_over_keys_kernel<Runs>, runs, num_items,
                        part_items, static_cast<const unsigned char*>(part_begins), begins);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

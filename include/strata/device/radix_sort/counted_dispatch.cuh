// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/kernels.cuh>
#include <strata/device/resident_grid.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The launches of sorts that do not move keys: they count them, and write them anew.
template <class MaxPolicy, class KeyIterator, bool IsDescending, class Digits>
struct counted_radix_launches {
  using Key = iterator_value_t<KeyIterator>;

  radix_places<KeyIterator, Key> keys;
  std::size_t num_items;
  Digits digits;
  cudaStream_t stream;
  device_properties device;

  /// Writes keys of one byte. `first` is the place of each key's first item.
  template <class ActivePolicy>
  cudaError_t expand(const unsigned long long* first) const {
    using Expand = AgentRadixExpand<ActivePolicy, Key, IsDescending>;
    return write(radix_expand_kernel<MaxPolicy, Key, IsDescending>, Expand::tile_items,
                 ActivePolicy::histogram.block_threads, first);
  }

  /// Counts and writes keys of two bytes. `first` has room for a number of each word, one more, and two
  /// of each block. Each block that counts has as many counters as there are words, in `buffer`, which
  /// has room for all keys: so there is a block for as many keys.
  template <class ActivePolicy>
  cudaError_t run_words(const grid_barrier_arguments& barrier, unsigned long long* first,
                        Key* buffer, std::size_t most_blocks) const {
    static_assert(ActivePolicy::words.least_items >= radix_words + 8,
                  "radix_words_tuning: there must be room for the counters of a block");
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
    const std::uintptr_t counters = round_up(begin, std::uintptr_t{16});
    const std::size_t rooms =
        (num_items * sizeof(Key) - (counters - begin)) / radix_words_workspace::counter_bytes();
    const radix_words_workspace workspace{barrier, first, first + radix_words + 1,
                                          reinterpret_cast<unsigned*>(counters)};
    using Count = AgentRadixCountWords<ActivePolicy, KeyIterator, Digits>;
    using Expand = AgentRadixExpandWords<ActivePolicy, Key, IsDescending>;
    constexpr int threads = ActivePolicy::words.block_threads;
    static kernel_property_cache cache;
    launch_configuration counting{"strata::DeviceRadixSort, words", dim3(1), dim3(threads)};
    counting.dynamic_shared_bytes = Count::counter_bytes;
    counting.stream = stream;
    const cudaError_t status =
        detail::launch_resident(counting, cache, device, rooms, most_blocks,
                                radix_count_words_kernel<MaxPolicy, KeyIterator, Digits>,
                                keys.input, num_items, digits, workspace);
    if (status != cudaSuccess) return status;
    return write(radix_expand_words_kernel<MaxPolicy, Key, IsDescending>, Expand::tile_items,
                 threads, first);
  }

 private:
  template <class Kernel>
  cudaError_t write(Kernel kernel, std::size_t tile_items, int threads,
                    const unsigned long long* first) const {
    const std::size_t blocks = ceiling_divide(num_items, tile_items);
    launch_configuration writing{"strata::DeviceRadixSort, keys",
                                 dim3(static_cast<unsigned>(blocks)),
                                 dim3(static_cast<unsigned>(threads))};
    writing.stream = stream;
    writing.programmatic = device.ptx_version >= 900;
    return strata::launch(writing, kernel, first, keys.output, num_items);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/result_places.cuh>

#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The build rows by their keys, which are neighbouring integers.
struct join_key_array {
  std::uint64_t lowest;
  unsigned keys;
  unsigned* rows;
  /// Whether there are build rows outside of the range: all is left to a table then.
  unsigned* is_left;
  unsigned* arrivals;

  static constexpr unsigned none = 0xffffffff;

  /// Not below `keys` if the key is outside.
  template <class Key>
  STRATA_D std::uint64_t index_of(Key key) const {
    return static_cast<std::uint64_t>(key) - lowest;
  }
  template <class Key>
  STRATA_D unsigned find(Key key) const {
    const std::uint64_t index = index_of(key);
    return index < keys ? rows[index] : none;
  }
};

/// How an array of build rows is asked: a warp has neighbouring rows.
struct join_key_array_tuning {
  static constexpr int threads = 512;
  static constexpr int items = 8;
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Key>
STRATA_KERNEL void join_key_array_clear_kernel(join_key_array array, unsigned long long* total) {
  begin_join_kernel();
  for (unsigned long long i = join_thread(); i < array.keys; i += join_threads()) {
    array.rows[i] = join_key_array::none;
  }
  if (join_thread() != 0) return;
  *array.is_left = 0;
  *array.arrivals = 0;
  *total = 0;
}

/// Of rows that are promised to be unique.
template <class Key>
STRATA_KERNEL void join_key_array_build_kernel(join_key_array array, const Key* keys,
                                               unsigned rows) {
  begin_join_kernel();
  bool is_left = false;
  for (unsigned long long i = join_thread(); i < rows; i += join_threads()) {
    const std::uint64_t index = array.index_of(keys[i]);
    is_left |= index >= array.keys;
    if (index >= array.keys) continue;
    const unsigned before = atomicExch(array.rows + index, static_cast<unsigned>(i));
    static_cast<void>(before);
    STRATA_ASSERT(before == join_key_array::none,
                  "JoinOptions::build_unique was promised, but the key of build row %llu is also "
                  "that of another",
                  i);
  }
  if (is_left) *array.is_left = 1;
}

template <class Index, class Key, class Sink>
__launch_bounds__(join_key_array_tuning::threads)
    STRATA_KERNEL void join_key_array_probe_kernel(join_key_array array,
                                                   join_probe<Key, unsigned> probe, Sink sink) {
  constexpr int threads = join_key_array_tuning::threads;
  constexpr int items = join_key_array_tuning::items;
  constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using Places = join_result_places<threads>;
  using Count = unsigned long long;
  STRATA_SHARED(storage, typename Places::TempStorage);
  begin_join_kernel();
  if (*array.is_left != 0) return;
  Places places(storage, probe.total);
  const bool is_left_join = probe.kind == JoinKind::left;
  constexpr Count tile = static_cast<Count>(threads) * items;
  for (Count base = blockIdx.x * tile; base < probe.rows; base += gridDim.x * tile) {
    const Count first =
        base + threadIdx.x / warp_threads * (warp_threads * items) + platform::lane_id();
    Key keys[items];
    unsigned partners[items];
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const Count row = first + static_cast<unsigned>(i * warp_threads);
      if (row < probe.rows) keys[i] = probe.keys[row];
    }
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const Count row = first + static_cast<unsigned>(i * warp_threads);
      partners[i] = row < probe.rows ? array.find(keys[i]) : join_key_array::none;
    }
    unsigned has_result = 0;
    unsigned begins[items];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const Count row = first + static_cast<unsigned>(i * warp_threads);
      const bool is_found = partners[i] != join_key_array::none;
      const bool has_one = is_found || (is_left_join && row < probe.rows);
      has_result |= has_one ? 1u << i : 0;
      begins[i] = Places::begin_of_one(has_one, sum);
    }
    const Count place = places.take(sum);
    if constexpr (has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        const Count to = place + begins[i];
        if ((has_result >> i & 1) == 0 || to >= static_cast<Count>(probe.capacity)) continue;
        const bool is_found = partners[i] != join_key_array::none;
        sink(static_cast<std::int64_t>(to),
             is_found ? static_cast<Index>(partners[i]) : no_row<Index>,
             static_cast<Index>(first + static_cast<unsigned>(i * warp_threads)));
      }
    }
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

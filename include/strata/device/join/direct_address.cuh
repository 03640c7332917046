// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/global_table/kernels.cuh>
#include <strata/device/join/output/offsets.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An array of build rows, indexed by key.
struct direct_address_table {
  std::uint64_t lowest;
  unsigned keys;
  unsigned* rows;
  /// Not 0 if a build row has a key outside of the range. Then a table in global memory joins all rows.
  unsigned* has_outliers;
  unsigned* arrivals;

  static constexpr unsigned none = 0xffffffff;

  /// Returns the index of a key: at least `keys` if the key is outside of the range.
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

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Key>
STRATA_KERNEL void join_direct_address_clear_kernel(direct_address_table array, unsigned long long* total) {
  begin_join_kernel();
  for (unsigned long long i = join_thread(); i < array.keys; i += join_threads()) {
    array.rows[i] = direct_address_table::none;
  }
  if (join_thread() != 0) return;
  *array.has_outliers = 0;
  *array.arrivals = 0;
  *total = 0;
}

/// Writes build rows whose keys are promised to be unique.
template <class Key>
STRATA_KERNEL void join_direct_address_build_kernel(direct_address_table array, const Key* keys, unsigned rows) {
  begin_join_kernel();
  bool has_outliers = false;
  for (unsigned long long i = join_thread(); i < rows; i += join_threads()) {
    const std::uint64_t index = array.index_of(keys[i]);
    has_outliers |= index >= array.keys;
    if (index >= array.keys) continue;
    const unsigned before = atomicExch(array.rows + index, static_cast<unsigned>(i));
    static_cast<void>(before);
    STRATA_ASSERT(before == direct_address_table::none,
                  "JoinSide::unique was promised, but the key of build row %llu is also "
                  "that of another",
                  i);
  }
  if (has_outliers) platform::store_relaxed(array.has_outliers, 1u);
}

template <class MaxPolicy, class Index, class Key, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::direct_address.probe_threads)
    STRATA_KERNEL void join_direct_address_probe_kernel(direct_address_table array,
                                                        join_probe<const Key*, unsigned> probe, Sink sink) {
  constexpr int threads = MaxPolicy::ActivePolicy::direct_address.probe_threads;
  constexpr int items = MaxPolicy::ActivePolicy::direct_address.probe_items;
  constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using OutputOffsets = join_output_offsets<threads, MaxPolicy::ActivePolicy::output.group_threads>;
  using Count = unsigned long long;
  STRATA_SHARED(storage, typename OutputOffsets::TempStorage);
  begin_join_kernel();
  if (*array.has_outliers != 0) return;
  OutputOffsets offsets(storage, probe.total);
  const bool is_left_join = probe.kind == JoinKind::left;
  constexpr Count tile = static_cast<Count>(threads) * items;
  for (Count base = blockIdx.x * tile; base < probe.rows; base += gridDim.x * tile) {
    const Count first = base + threadIdx.x / warp_threads * (warp_threads * items) + platform::lane_id();
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
      partners[i] = row < probe.rows ? array.find(keys[i]) : direct_address_table::none;
    }
    unsigned has_result = 0;
    unsigned begins[items];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const Count row = first + static_cast<unsigned>(i * warp_threads);
      const bool is_found = partners[i] != direct_address_table::none;
      const bool has_one = is_found || (is_left_join && row < probe.rows);
      has_result |= has_one ? 1u << i : 0;
      begins[i] = OutputOffsets::scan_flag(has_one, sum);
    }
    const Count offset = offsets.reserve(sum);
    if constexpr (has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        const Count position = offset + begins[i];
        if ((has_result >> i & 1) == 0 || position >= static_cast<Count>(probe.capacity)) continue;
        const bool is_found = partners[i] != direct_address_table::none;
        sink(static_cast<std::int64_t>(position), is_found ? static_cast<Index>(partners[i]) : no_row<Index>,
             static_cast<Index>(first + static_cast<unsigned>(i * warp_threads)));
      }
    }
  }
}

/// The launches of an inner or left join by an array of build rows, indexed by key, if build keys are
/// unique. If one is outside of the range, a table in global memory joins all rows.
template <class MaxPolicy, class ActivePolicy, class Index, class Key, class Sink>
class direct_address_launches {
 public:
  static constexpr join_direct_address_tuning tuning = ActivePolicy::direct_address;
  static constexpr int slots = 2;

  explicit direct_address_launches(const JoinKeyRange& range) : range_(range) {}

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<unsigned>(first + words, 2);
    storage.template reserve<unsigned>(first + rows, static_cast<std::size_t>(range_.keys));
  }

  template <class Layout>
  direct_address_table map(const Layout& storage, int first) const {
    unsigned* const word = storage.template get<unsigned>(first + words);
    return {static_cast<std::uint64_t>(range_.lowest), static_cast<unsigned>(range_.keys),
            storage.template get<unsigned>(first + rows), word, word + 1};
  }

  cudaError_t run(const direct_address_table& array, const Key* build_keys, unsigned build_rows,
                  const join_probe<const Key*, unsigned>& probe, const launch_configuration& base, int multiprocessors,
                  const Sink& sink) const {
    cudaError_t status = strata::launch(detail::clearing_join_launch<ActivePolicy>(base, multiprocessors, array.keys),
                                        join_direct_address_clear_kernel<Key>, array, probe.total);
    if (status != cudaSuccess) return status;
    constexpr unsigned build_threads = tuning.build_threads;
    status = strata::launch(join_launch(base, build_rows / build_threads + 1, tuning.build_threads),
                            join_direct_address_build_kernel<Key>, array, build_keys, build_rows);
    if (status != cudaSuccess) return status;
    constexpr unsigned tile = tuning.probe_threads * tuning.probe_items;
    return strata::launch(detail::join_launch(base, probe.rows / tile + 1, tuning.probe_threads),
                          join_direct_address_probe_kernel<MaxPolicy, Index, Key, Sink>, array, probe, sink);
  }

 private:
  enum slot { words, rows };

  JoinKeyRange range_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

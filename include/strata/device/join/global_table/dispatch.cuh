// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_aggregates.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/global_table/kernels.cuh>
#include <strata/device/join/output/chunks.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The rows of a side, to be looked up in a table.
template <class Row, class Keys>
join_probe<Keys, Row> join_probe_of(JoinKind kind, const JoinSide<Keys>& side, std::int64_t capacity,
                                    unsigned long long* total) {
  join_probe<Keys, Row> probe;
  probe.kind = kind;
  probe.keys = side.keys;
  probe.valid = side.valid_mask;
  probe.rows = static_cast<Row>(side.rows);
  probe.capacity = capacity;
  probe.total = total;
  return probe;
}

/// The launches that look probe rows up in a table. `Sink` is NullType where rows are only counted. `IsOrdered`: the
/// result is in the order of the probe rows.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Keys, class Sink, class Hash, class Equal,
          bool IsOrdered>
struct join_prober {
  using Table = join_table<Keys, Row, Hash, Equal>;
  using Probe = join_probe<Keys, Row>;

  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  static constexpr int slots = 5;

  JoinKind kind;
  /// The numbers of rows of both sides that the storage is for.
  Row build_rows;
  Row probe_rows;
  /// The number of slots of the table.
  Row num_slots;

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<unsigned long long>(first + counters, 1);
    if (kind == JoinKind::full) {
      storage.template reserve<unsigned>(first + matched, matched_words());
    }
    if (!has_rows) return;
    const std::size_t max_tiles = detail::ceiling_divide<std::size_t>(probe_rows, min_join_tile) +
                                  detail::ceiling_divide<std::size_t>(build_rows, min_join_tile);
    storage.template reserve<unsigned long long>(first + begins, max_tiles);
    storage.template reserve<unsigned long long>(first + chunk_ends, max_tiles);
    if (!IsOrdered) {
      storage.template reserve<unsigned long long>(first + tiles, max_tiles);
    }
  }

  /// Clears the number of results and the marks of matched slots. Call this before `run`.
  template <class Layout>
  cudaError_t reset(const Layout& storage, int first, unsigned long long* total, const launch_configuration& base,
                    const device_properties& device) const {
    const std::size_t words = matched_words();
    return strata::launch(detail::clearing_join_launch<ActivePolicy>(base, device.multiprocessors, words),
                          join_reset_kernel<Row>, total, list_in(storage, first).counter,
                          words != 0 ? storage.template get<unsigned>(first + matched) : nullptr,
                          static_cast<unsigned long long>(words));
  }

  template <class Layout>
  cudaError_t run(const Layout& storage, int first, Table table, Probe probe, const launch_configuration& base,
                  const device_properties& device, const Sink& sink) const {
    constexpr join_table_tuning tuning = ActivePolicy::table;
    cut_tiles(storage, first, tuning.probe_threads, table, probe);
    const join_tile_list list = list_in(storage, first);
    if constexpr (!has_rows) {
      return count(table, probe, base, nullptr);
    } else {
      cudaError_t status = cudaSuccess;
      const unsigned long long all = probe.probe_tiles + probe.build_tiles;
      if constexpr (!IsOrdered) {
        status = join(table, probe, base, list, sink);
      } else {
        status = count(table, probe, base, list.begins);
        if (status == cudaSuccess) {
          status = strata::launch(join_launch(base, 1, tuning.scan_threads), join_scan_kernel<MaxPolicy, Row>, list,
                                  all, probe.capacity, probe.total);
        }
      }
      // If no key has several rows, no tile has so many results that it is listed.
      const bool may_be_listed = IsOrdered || table.lists != nullptr;
      if (status != cudaSuccess || all == 0 || !may_be_listed || probe.capacity == 0) return status;
      const auto max_chunks = all + static_cast<unsigned long long>(probe.capacity) / ActivePolicy::output.chunk_rows;
      const unsigned long long resident = static_cast<unsigned long long>(device.multiprocessors) *
                                          static_cast<unsigned>(tuning.probe_blocks_per_multiprocessor);
      return strata::launch(detail::join_launch(base, detail::least(max_chunks, resident), tuning.probe_threads),
                            join_write_kernel<MaxPolicy, Index, Table, Keys, Row, Sink>, table, probe, list, all, sink);
    }
  }

  /// With so few probe rows and so small an output, one launch does all. One block may have to write the whole output:
  /// on an H200, that takes 60 us for 2^17 results, and several launches take 11 us.
  static constexpr std::size_t max_few_rows = std::size_t{1} << 16;
  static constexpr std::int64_t max_few_results = std::int64_t{1} << 15;
  bool are_few(std::int64_t capacity) const {
    return has_rows && kind != JoinKind::full && probe_rows <= max_few_rows && capacity <= max_few_results;
  }
  /// The number of tagged words for that launch. A block has at least one warp, and each thread has a row, so there are
  /// at most `rows / 32 + 1` blocks.
  std::size_t words_of_few() const {
    const std::size_t rows = detail::least(std::size_t{probe_rows}, max_few_rows);
    return has_rows && kind != JoinKind::full
               ? tile_aggregates<unsigned long long>::number_of_words(rows / warp_threads + 1)
               : 0;
  }
  /// Joins few rows in one launch. Call this instead of `reset` and `run`.
  cudaError_t run_few(platform::tagged_word* words, const Table& table, Probe probe, const launch_configuration& base,
                      const Sink& sink) const {
    constexpr auto threads = static_cast<unsigned long long>(ActivePolicy::table.probe_threads);
    // Without probe rows there is one tile, which writes the number of results.
    probe.probe_tiles = detail::most(detail::ceiling_divide<unsigned long long>(probe.rows, threads), 1ull);
    const tile_aggregates_arguments exchange{words, detail::next_epoch(), detail::is_replayable(base.stream)};
    return strata::launch(detail::join_launch(base, probe.probe_tiles, ActivePolicy::table.probe_threads),
                          join_probe_few_kernel<MaxPolicy, Index, Table, Keys, Row, Sink>, table, probe, exchange,
                          sink);
  }

  template <class Layout>
  void cut_tiles(const Layout& storage, int first, int threads, Table& table, Probe& probe) const {
    constexpr join_table_tuning tuning = ActivePolicy::table;
    constexpr auto min_items = static_cast<int>(min_join_tile);
    static_assert(tuning.probe_threads * tuning.probe_items >= min_items &&
                      tuning.fallback_threads * tuning.probe_items >= min_items,
                  "join_table_tuning: a tile must have at least 256 probe rows: increase probe_items or the threads");
    const auto tile = static_cast<unsigned long long>(threads * tuning.probe_items);
    probe.probe_tiles = detail::ceiling_divide<unsigned long long>(probe.rows, tile);
    probe.build_tiles = kind == JoinKind::full ? detail::ceiling_divide<unsigned long long>(table.rows, tile) : 0;
    if (kind == JoinKind::full) table.matched = storage.template get<unsigned>(first + matched);
  }

  template <class Layout>
  join_tile_list list_in(const Layout& storage, int first) const {
    const auto get = [&](slot what) { return storage.template get<unsigned long long>(first + what); };
    if (!has_rows) return {};
    return {IsOrdered ? nullptr : get(tiles), get(begins), get(chunk_ends), get(counters)};
  }

  /// Words of the marks of matched slots: a bit for each slot, including that of the rows without a key.
  std::size_t matched_words() const {
    return kind == JoinKind::full ? static_cast<std::size_t>(num_slots) / 32 + 1 : 0;
  }

 private:
  enum slot { counters, begins, chunk_ends, tiles, matched };

  // Build rows come after all probe rows, because these mark the build rows that they find.
  template <class Launch>
  static cudaError_t in_two_parts(const Probe& probe, const Launch& launch_tiles) {
    cudaError_t status = cudaSuccess;
    if (probe.probe_tiles > 0) status = launch_tiles(0ull, probe.probe_tiles);
    if (status != cudaSuccess || probe.build_tiles == 0) return status;
    return launch_tiles(probe.probe_tiles, probe.build_tiles);
  }

  cudaError_t count(const Table& table, const Probe& probe, const launch_configuration& base,
                    unsigned long long* counts) const {
    return in_two_parts(probe, [&](unsigned long long first, unsigned long long number) {
      return strata::launch(detail::join_launch(base, number, ActivePolicy::table.probe_threads),
                            join_count_kernel<MaxPolicy, Table, Keys, Row>, table, probe, first, number, counts);
    });
  }

  cudaError_t join(const Table& table, const Probe& probe, const launch_configuration& base, const join_tile_list& list,
                   const Sink& sink) const {
    return in_two_parts(probe, [&](unsigned long long first, unsigned long long number) {
      return strata::launch(detail::join_launch(base, number, ActivePolicy::table.probe_threads),
                            join_probe_kernel<MaxPolicy, Index, Table, Keys, Row, Sink>, table, probe, first, number,
                            list, sink);
    });
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/host/matcher.hpp>
#include <strata/device/join/host/options.hpp>
#include <strata/device/join/host/table.hpp>
#include <strata/device/join/host/thread_team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The probe side of a join on the host, and its result, in the caller's storage. All that a probe writes is there, so
/// that several probes may read one table at the same time.
template <class Index, class Keys, class Hash, class Equal>
class host_join_prober {
  using Table = host_join_table<Index, Keys, Hash, Equal>;
  using Row = typename Table::Row;
  using side = typename Table::side;
  using matcher = join_matcher<Keys, Row, Hash, Equal>;

 public:
  enum slot {
    team_threads,
    slice_counts,
    probe_begins,
    probe_entries,
    matches,
    chunk_begins,
    group_matched,
    build_chunk_begins,
    unmatched,
    sum,
    slots
  };

  host_join_prober(JoinKind kind, const Keys& keys, std::size_t rows, const HostJoinOptions& options)
      : kind_(kind), options_(options) {
    probe_.keys = keys;
    probe_.valid = options.probe_valid;
    probe_.rows = rows;
  }

  template <class Layout>
  void reserve(Layout& storage, int first, const Table& table) const {
    const std::size_t chunk_rows = options_.tuning.chunk_rows;
    storage.template reserve<std::thread>(first + team_threads, thread_team::most_threads);
    storage.template reserve<std::size_t>(first + slice_counts, table.slice_counts(probe_.rows));
    storage.template reserve<std::size_t>(first + probe_begins, table.partitions() + 1);
    storage.template reserve<typename side::entry>(first + probe_entries, probe_.rows);
    storage.template reserve<Row>(first + matches, probe_.rows);
    storage.template reserve<std::uint64_t>(first + chunk_begins, matcher::chunks_of(probe_.rows, chunk_rows) + 1);
    storage.template reserve<std::uint64_t>(first + sum, 1);
    if (kind_ != JoinKind::full) return;
    const std::size_t build_chunks = matcher::chunks_of(table.capacity(), chunk_rows);
    storage.template reserve<std::atomic<bool>>(first + group_matched, table.capacity());
    storage.template reserve<std::uint64_t>(first + build_chunk_begins, build_chunks + 1);
    storage.template reserve<unsigned char>(first + unmatched, table.capacity());
  }

  template <class Layout>
  void map(const Layout& storage, int first) {
    threads_ = storage.template get<std::thread>(first + team_threads);
    counts_ = storage.template get<std::size_t>(first + slice_counts);
    probe_.begins = storage.template get<std::size_t>(first + probe_begins);
    probe_.entries = storage.template get<typename side::entry>(first + probe_entries);
    matches_ = storage.template get<Row>(first + matches);
    chunk_begins_ = storage.template get<std::uint64_t>(first + chunk_begins);
    matched_ = storage.template get<std::atomic<bool>>(first + group_matched);
    build_chunk_begins_ = storage.template get<std::uint64_t>(first + build_chunk_begins);
    unmatched_ = storage.template get<unsigned char>(first + unmatched);
    sum_ = storage.template get<std::uint64_t>(first + sum);
  }

  void match(const Table& table) const {
    table.by_hash().run(team(), probe_, counts_);
    results(table).match(team());
  }

  /// Returns the number of rows of the whole result.
  std::int64_t total() const { return static_cast<std::int64_t>(*sum_); }

  /// Gives the rows at positions below `capacity` to the sink.
  template <class Sink>
  void write(const Table& table, std::int64_t capacity, const Sink& sink) const {
    const std::int64_t limit = detail::least(capacity, total());
    results(table).template write<Index>(team(), static_cast<std::uint64_t>(limit), sink);
  }

  thread_team team() const { return {threads_, options_.threads}; }

 private:
  matcher results(const Table& table) const {
    return {kind_,
            options_.order,
            options_.nulls_equal,
            options_.tuning.chunk_rows,
            options_.tuning.task_results,
            table.partitions(),
            table.rows(),
            probe_,
            table.all_groups(),
            matches_,
            chunk_begins_,
            build_chunk_begins_,
            matched_,
            unmatched_,
            sum_};
  }

  JoinKind kind_;
  HostJoinOptions options_;
  side probe_;
  std::thread* threads_ = nullptr;
  std::size_t* counts_ = nullptr;
  Row* matches_ = nullptr;
  std::uint64_t* chunk_begins_ = nullptr;
  std::atomic<bool>* matched_ = nullptr;
  std::uint64_t* build_chunk_begins_ = nullptr;
  unsigned char* unmatched_ = nullptr;
  std::uint64_t* sum_ = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END

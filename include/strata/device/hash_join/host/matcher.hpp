// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/host/groups.hpp>
#include <strata/device/hash_join/host/partition.hpp>
#include <strata/device/hash_join/host/thread_team.hpp>
#include <strata/device/hash_join/join_types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Index of the last of `count` ascending numbers that is not above `value`; the first is not.
template <class T>
std::size_t last_not_above(const T* numbers, std::size_t count, T value) {
  std::size_t first = 0;
  while (count > 1) {
    const std::size_t half = count / 2;
    if (numbers[first + half] <= value) first += half;
    count -= half;
  }
  return first;
}

/// Looks up all probe rows, then knows every row of the result by its position.
///
/// Probe rows are taken in chunks of positions: in the order of the partitions, or of the rows if
/// the result is to have that. A scan of the chunks' numbers of result rows says where each chunk
/// begins in the result, and parts of the result of even size are written by themselves: it does
/// not matter whether many probe rows have a partner or one has all of them.
template <class Key, class Row, class Equal>
struct join_matcher {
  using side = join_side<Key, Row>;
  using group = typename join_groups<Key, Row, Equal>::group;

  static constexpr Row none = join_groups<Key, Row, Equal>::none;

  /// Looks up every probe row and counts the rows of the result.
  void match(const thread_team& team) const {
    team.run(chunks(), [this](std::uint64_t chunk) {
      look_up(chunk);
      // Here the chunk's matches are still in a cache.
      if (order == JoinOrder::any) begins[chunk] = count_results(chunk);
    });
    if (order == JoinOrder::probe) {
      team.run(chunks(), [this](std::uint64_t chunk) { begins[chunk] = count_results(chunk); });
    }
    std::uint64_t sum = make_offsets(begins, chunks(), 0);
    if (kind == JoinKind::full) {
      team.run(partitions, [this](std::uint64_t partition) { mark_unmatched(partition); });
      team.run(build_chunks(),
               [this](std::uint64_t chunk) { build_begins[chunk] = count_unmatched(chunk); });
      sum = make_offsets(build_begins, build_chunks(), sum);
    }
    *total = sum;
  }

  /// Calls `sink(position, build row, probe row)` for the positions below `limit`, which is not
  /// above the total.
  template <class Index, class Sink>
  void write(const thread_team& team, std::uint64_t limit, const Sink& sink) const {
    const std::uint64_t from_probe = begins[chunks()];
    const std::uint64_t last = limit < from_probe ? limit : from_probe;
    const std::uint64_t tasks = last / task_results + (last % task_results != 0);
    team.run(tasks, [&](std::uint64_t task) {
      const std::uint64_t first = task * task_results;
      write_range<Index>(first, last - first < task_results ? last : first + task_results, sink);
    });
    if (limit == last) return;
    team.run(build_chunks(), [&](std::uint64_t chunk) {
      std::uint64_t position = build_begins[chunk];
      for (std::size_t row = chunk * chunk_rows; row < chunk_end(chunk, build_rows); ++row) {
        if (unmatched[row] == 0) continue;
        if (position >= limit) return;
        sink(static_cast<std::int64_t>(position++), static_cast<Index>(row), no_row<Index>);
      }
    });
  }

  std::size_t chunks() const { return chunks_of(probe.rows, chunk_rows); }
  std::size_t build_chunks() const { return chunks_of(build_rows, chunk_rows); }
  static std::size_t chunks_of(std::size_t rows, std::size_t chunk_rows) {
    return rows / chunk_rows + (rows % chunk_rows != 0);
  }

  JoinKind kind;
  JoinOrder order;
  bool nulls_equal;
  std::size_t chunk_rows;
  std::uint64_t task_results;
  std::size_t partitions;
  std::size_t build_rows;
  side probe;
  join_groups<Key, Row, Equal> table;
  /// The group that each probe row found, at its position.
  Row* matches;
  /// Where the results of each chunk of probe rows begin, and of each chunk of build rows.
  std::uint64_t* begins;
  std::uint64_t* build_begins;
  /// Of each build row, whether no probe row has found it.
  unsigned char* unmatched;
  std::uint64_t* total;

 private:
  std::size_t chunk_end(std::size_t chunk, std::size_t rows) const {
    const std::size_t first = chunk * chunk_rows;
    return rows - first < chunk_rows ? rows : first + chunk_rows;
  }

  void look_up(std::size_t chunk) const {
    std::size_t position = chunk * chunk_rows;
    const std::size_t last = chunk_end(chunk, probe.rows);
    std::size_t partition = last_not_above(probe.begins, partitions, position);
    while (position < last) {
      while (position >= probe.begins[partition + 1]) ++partition;
      const std::size_t stop =
          probe.begins[partition + 1] < last ? probe.begins[partition + 1] : last;
      const std::size_t begin = table.build_side.begins[partition];
      const std::size_t count = table.build_side.begins[partition + 1] - begin;
      const bool of_nulls = partition + 1 == partitions;
      const Row null_group = nulls_equal && count > 0 ? static_cast<Row>(begin) : none;
      for (; position < stop; ++position) {
        const auto& item = probe.entries[position];
        const Row found = of_nulls ? null_group : table.find(begin, count, item, probe.keys);
        matches[order == JoinOrder::probe ? item.row : position] = found;
        if (table.matched == nullptr || found == none) continue;
        // relaxed: read when the threads have ended. Looked at first, because a store would take
        // the line from the other threads.
        std::atomic<bool>& matched = table.matched[found];
        if (!matched.load(std::memory_order_relaxed)) {
          matched.store(true, std::memory_order_relaxed);
        }
      }
    }
  }

  std::uint64_t results_of(Row found) const {
    switch (kind) {
      case JoinKind::inner:
        return found == none ? 0 : table.groups[found].count;
      case JoinKind::semi:
        return found == none ? 0 : 1;
      case JoinKind::anti:
        return found == none ? 1 : 0;
      case JoinKind::left:
      case JoinKind::full:
        break;
    }
    return found == none ? 1 : table.groups[found].count;
  }

  std::uint64_t count_results(std::size_t chunk) const {
    std::uint64_t sum = 0;
    const std::size_t last = chunk_end(chunk, probe.rows);
    for (std::size_t position = chunk * chunk_rows; position < last; ++position) {
      sum += results_of(matches[position]);
    }
    return sum;
  }

  // Groups of a partition lie side by side, and so do their rows.
  void mark_unmatched(std::size_t partition) const {
    std::size_t row = table.build_side.begins[partition];
    const std::size_t last = table.build_side.begins[partition + 1];
    for (std::size_t g = row; row < last; ++g) {
      const bool lonely = !table.matched[g].load(std::memory_order_relaxed);
      for (; row < table.groups[g].end; ++row) unmatched[table.rows[row]] = lonely ? 1 : 0;
    }
  }

  std::uint64_t count_unmatched(std::size_t chunk) const {
    std::uint64_t sum = 0;
    const std::size_t last = chunk_end(chunk, build_rows);
    for (std::size_t row = chunk * chunk_rows; row < last; ++row) sum += unmatched[row];
    return sum;
  }

  static std::uint64_t make_offsets(std::uint64_t* counts, std::size_t count, std::uint64_t sum) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t mine = counts[i];
      counts[i] = sum;
      sum += mine;
    }
    counts[count] = sum;
    return sum;
  }

  template <class Index, class Sink>
  void write_range(std::uint64_t first, std::uint64_t last, const Sink& sink) const {
    const std::size_t chunk = last_not_above(begins, chunks() + 1, first);
    std::uint64_t place = begins[chunk];
    for (std::size_t position = chunk * chunk_rows; place < last; ++position) {
      const Row found = matches[position];
      const std::uint64_t results = results_of(found);
      std::uint64_t k = first > place ? first - place : 0;
      const std::uint64_t stop = results < last - place ? results : last - place;
      const Index probe_row = static_cast<Index>(
          order == JoinOrder::probe ? static_cast<Row>(position) : probe.entries[position].row);
      const bool alone = found == none || kind == JoinKind::semi;
      const Row* partners = nullptr;
      if (!alone) partners = table.rows + (table.groups[found].end - table.groups[found].count);
      for (; k < stop; ++k) {
        sink(static_cast<std::int64_t>(place + k),
             alone ? no_row<Index> : static_cast<Index>(partners[k]), probe_row);
      }
      place += results;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

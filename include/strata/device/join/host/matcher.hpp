// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/host/groups.hpp>
#include <strata/device/join/host/partition.hpp>
#include <strata/device/join/host/thread_team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns the index of the last of `count` ascending numbers that is not above `value`. The first number must not be
/// above it.
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

/// Looks up all probe rows, then writes the result by position.
///
/// Probe rows are looked up in chunks, in the order of the partitions. Chunks of the result are in the same order, or,
/// if the result is ordered, in the order of the rows. A scan of the numbers of results of chunks tells where each
/// chunk begins in the result. Threads then write ranges of the result of equal length, whatever the number of partners
/// of a probe row.
template <class Keys, class Row, class Hash, class Equal>
struct join_matcher {
  using side = host_join_side<Keys, Row, Hash>;
  using groups = join_groups<Keys, Row, Hash, Equal>;
  using group = typename groups::group;

  static constexpr Row none = groups::none;

  /// Looks up every probe row and counts the rows of the result.
  void match(const thread_team& team) const {
    if (kind == JoinKind::full) {
      team.run(build_chunks(), [this](std::uint64_t chunk) { clear_matched(chunk); });
    }
    team.run(chunks(), [this](std::uint64_t chunk) {
      const tally found = look_up(chunk);
      if (order == JoinOrder::any) begins[chunk] = results_of(chunk_size(chunk), found);
    });
    if (order == JoinOrder::probe) {
      team.run(chunks(), [this](std::uint64_t chunk) { begins[chunk] = count_results(chunk); });
    }
    std::uint64_t sum = make_offsets(begins, chunks(), 0);
    if (kind == JoinKind::full) {
      team.run(partitions, [this](std::uint64_t partition) { mark_unmatched(partition); });
      team.run(build_chunks(), [this](std::uint64_t chunk) { build_begins[chunk] = count_unmatched(chunk); });
      sum = make_offsets(build_begins, build_chunks(), sum);
    }
    *total = sum;
  }

  /// Calls `sink(position, build row, probe row)` for the positions below `limit`, which is not
  /// above the total.
  template <class Index, class Sink>
  void write(const thread_team& team, std::uint64_t limit, const Sink& sink) const {
    const std::uint64_t from_probe = begins[chunks()];
    const std::uint64_t last = detail::least(limit, from_probe);
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
  groups table;
  /// The group that each probe row has found, or `none`: by row number if the result is ordered, otherwise by the
  /// position in `probe.entries`.
  Row* matches;
  /// Where the results of each chunk of probe rows begin, and those of each chunk of build rows.
  std::uint64_t* begins;
  std::uint64_t* build_begins;
  /// In a full join, for each group, true if a probe row has found it.
  std::atomic<bool>* matched;
  /// For each build row, 1 if no probe row has found it.
  unsigned char* unmatched;
  std::uint64_t* total;

 private:
  std::size_t chunk_end(std::size_t chunk, std::size_t rows) const {
    const std::size_t first = chunk * chunk_rows;
    return rows - first < chunk_rows ? rows : first + chunk_rows;
  }

  /// Of some probe rows: how many have partners, and how many partners these have in all.
  struct tally {
    std::uint64_t rows = 0;
    std::uint64_t partners = 0;
  };

  static constexpr unsigned rows_per_batch = 128;

  std::size_t chunk_size(std::size_t chunk) const { return chunk_end(chunk, probe.rows) - chunk * chunk_rows; }

  tally look_up(std::size_t chunk) const {
    tally sum;
    std::size_t position = chunk * chunk_rows;
    const std::size_t last = chunk_end(chunk, probe.rows);
    std::size_t partition = detail::last_not_above(probe.begins, partitions, position);
    while (position < last) {
      while (position >= probe.begins[partition + 1]) ++partition;
      const std::size_t stop = detail::least(probe.begins[partition + 1], last);
      while (position < stop) {
        const std::size_t rest = stop - position;
        const unsigned rows = rest < rows_per_batch ? static_cast<unsigned>(rest) : rows_per_batch;
        look_up(partition, position, rows, sum);
        position += rows;
      }
    }
    return sum;
  }

  Row& match_of(std::size_t position) const {
    return matches[order == JoinOrder::probe ? probe.entries[position].row : position];
  }

  /// In each round, every row that has not found its key, and whose chain has not ended, goes on to the next group. So
  /// the loads of the rows are in flight together, and the processor need not predict the length of a chain.
  void look_up(std::size_t partition, std::size_t first, unsigned rows, tally& sum) const {
    const std::size_t begin = table.build_side.begins[partition];
    const std::size_t count = table.build_side.begins[partition + 1] - begin;
    if (count == 0) {
      for (unsigned i = 0; i < rows; ++i) match_of(first + i) = none;
      return;
    }
    const bool of_nulls = partition + 1 == partitions;
    const Row null_group = nulls_equal ? static_cast<Row>(begin) : none;
    unsigned waiting[rows_per_batch];
    Row candidates[rows_per_batch];
    unsigned left = 0;
    for (unsigned i = 0; i < rows; ++i) {
      const Row g = of_nulls ? null_group : table.first_of_bucket(begin, count, probe.entries[first + i]);
      match_of(first + i) = none;
      waiting[left] = i;
      candidates[left] = g;
      detail::prefetch_to_read(table.groups + (g != none ? g : begin));
      left += g != none;
    }
    while (left > 0) {
      unsigned still = 0;
      for (unsigned k = 0; k < left; ++k) {
        const unsigned i = waiting[k];
        const Row g = candidates[k];
        const group& candidate = table.groups[g];
        const bool is_same = of_nulls || table.has_key_of(candidate, probe.entries[first + i], probe.keys);
        const bool goes_on = candidate.next != none;
        // All ones or all zeros: arithmetic instead of a branch that the processor cannot predict.
        const Row is_found = Row{0} - Row{is_same};
        match_of(first + i) = g | ~is_found;
        sum.rows += is_found & 1;
        sum.partners += is_found & candidate.count;
        waiting[still] = i;
        candidates[still] = candidate.next;
        still += static_cast<unsigned>(~is_found & Row{goes_on});
      }
      left = still;
    }
    if (kind != JoinKind::full) return;
    for (unsigned i = 0; i < rows; ++i) {
      const Row found = match_of(first + i);
      if (found == none) continue;
      // relaxed: mark_unmatched() reads the flags after these threads have ended. The flag is loaded first, because a
      // store would invalidate the cache line in other cores.
      if (!matched[found].load(std::memory_order_relaxed)) {
        matched[found].store(true, std::memory_order_relaxed);
      }
    }
  }

  /// The number of results of `rows` probe rows.
  std::uint64_t results_of(std::uint64_t rows, const tally& found) const {
    switch (kind) {
      case JoinKind::inner:
        return found.partners;
      case JoinKind::semi:
        return found.rows;
      case JoinKind::anti:
        return rows - found.rows;
      case JoinKind::left:
      case JoinKind::full:
        break;
    }
    return found.partners + (rows - found.rows);
  }

  std::uint64_t results_of(Row found) const {
    if (found == none) return results_of(1, tally{});
    return results_of(1, tally{1, has_pairs(kind) ? table.groups[found].count : 1});
  }

  std::uint64_t count_results(std::size_t chunk) const {
    std::uint64_t sum = 0;
    const std::size_t last = chunk_end(chunk, probe.rows);
    for (std::size_t position = chunk * chunk_rows; position < last; ++position) {
      sum += results_of(matches[position]);
    }
    return sum;
  }

  // The index of a group is the position of a build row. So there is a flag for each build row.
  void clear_matched(std::size_t chunk) const {
    for (std::size_t g = chunk * chunk_rows; g < chunk_end(chunk, build_rows); ++g) {
      ::new (static_cast<void*>(matched + g)) std::atomic<bool>(false);
    }
  }

  // Groups of a partition lie side by side, and so do their rows.
  void mark_unmatched(std::size_t partition) const {
    std::size_t row = table.build_side.begins[partition];
    const std::size_t last = table.build_side.begins[partition + 1];
    for (std::size_t g = row; row < last; ++g) {
      const bool is_unmatched = !matched[g].load(std::memory_order_relaxed);
      for (; row < table.groups[g].end; ++row) unmatched[table.rows[row]] = is_unmatched ? 1 : 0;
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
    const std::size_t chunk = detail::last_not_above(begins, chunks() + 1, first);
    std::uint64_t offset = begins[chunk];
    for (std::size_t position = chunk * chunk_rows; offset < last; ++position) {
      const Row found = matches[position];
      const Index probe_row =
          static_cast<Index>(order == JoinOrder::probe ? static_cast<Row>(position) : probe.entries[position].row);
      const bool has_partners = has_pairs(kind) && found != none;
      if (has_partners && table.groups[found].count == 1 && offset >= first) {
        // Most rows have one partner, which the group itself names.
        sink(static_cast<std::int64_t>(offset++), static_cast<Index>(table.groups[found].first.row), probe_row);
        continue;
      }
      const std::uint64_t results = results_of(found);
      std::uint64_t k = first > offset ? first - offset : 0;
      const std::uint64_t stop = detail::least(results, last - offset);
      const Row* partners = nullptr;
      if (has_partners) {
        partners = table.rows + (table.groups[found].end - table.groups[found].count);
      }
      for (; k < stop; ++k) {
        sink(static_cast<std::int64_t>(offset + k), has_partners ? static_cast<Index>(partners[k]) : no_row<Index>,
             probe_row);
      }
      offset += results;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

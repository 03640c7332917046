// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/strategy.hpp>

#include <cstddef>
#include <cstdint>
#if STRATA_DEBUG_LOG
#include <cstdio>
#endif

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How the CUDA back end joins.
enum class join_method { merge, direct_address, one_table, partitions, global_table };
constexpr const char* name_of(join_method method) {
  constexpr const char* names[] = {"merge", "direct address", "one table in shared memory", "partitions",
                                   "one table in global memory"};
  return names[static_cast<int>(method)];
}

/// What is done before and after the join itself: see detours.cuh.
enum class join_detour { none, bloom_filter, partitioned_columns, sampled_columns, probe_order, row_lists };
constexpr const char* name_of(join_detour detour) {
  constexpr const char* names[] = {"none",
                                   "Bloom filter",
                                   "partitioned columns",
                                   "partitioned columns, unless a sample finds few partners",
                                   "probe order restored",
                                   "probe order restored from lists of rows"};
  return names[static_cast<int>(detour)];
}

/// How one call is carried out. A device may have too little shared memory for `one_table` and `partitions`: then one
/// table in global memory joins.
struct join_choice {
  join_method method = join_method::global_table;
  join_detour detour = join_detour::none;
};

/// All that the choice depends on. It is the same in a size query and in the call that follows, and does not depend on
/// the device.
struct join_description {
  JoinKind kind = JoinKind::inner;
  JoinStrategy strategy = JoinStrategy::automatic;
  /// The result is in the order of the probe rows.
  bool is_ordered = false;
  std::uint64_t build_rows = 0;
  std::uint64_t probe_rows = 0;
  bool has_nulls = false;
  bool nulls_equal = false;
  bool is_build_unique = false;
  /// Both sides are promised to be sorted by key.
  bool are_sorted = false;
  /// The number of keys of the promised range, or 0.
  std::uint64_t keys_in_range = 0;
  /// The estimated fraction of probe rows that have a partner. 1 also means that the caller has said nothing.
  double matching = 1;

  /// What the types of the call allow. `has_short_rows`: row numbers in kernels have 4 bytes.
  bool has_short_rows = true;
  bool may_merge = false;
  bool may_address = false;
  bool may_filter = false;
  bool may_partition_columns = false;
  /// No value of a column has more than 4 bytes.
  bool are_columns_narrow = false;
  bool may_restore_order = false;
  /// Partitions can list the build rows of each key in ascending order: equal hashes are equal keys.
  bool may_list_rows = false;

  /// Tuning: the fewest build rows that are partitioned, unless an option asks for partitions; the most build rows of
  /// one table in shared memory; the most build rows that one pass partitions.
  std::uint64_t least_partitioned_rows = 0;
  std::uint64_t one_table_rows = 0;
  std::uint64_t one_pass_rows = 0;

  /// The result has at most one row for each probe row, and no other.
  constexpr bool has_at_most_one_each() const {
    return !has_pairs(kind) || (is_build_unique && kind != JoinKind::full);
  }
};

/// Describes the values of a call; the caller adds what types and tuning say.
template <class Build, class Probe, class Options>
constexpr join_description describe_join(JoinKind kind, const Build& build, const Probe& probe,
                                         const Options& options) {
  join_description join;
  join.kind = kind;
  join.strategy = options.strategy;
  join.build_rows = static_cast<std::uint64_t>(build.rows);
  join.probe_rows = static_cast<std::uint64_t>(probe.rows);
  join.has_nulls = build.valid_mask != nullptr || probe.valid_mask != nullptr;
  join.nulls_equal = options.nulls_equal;
  join.is_build_unique = build.is_unique;
  join.are_sorted = build.is_sorted && probe.is_sorted;
  join.keys_in_range = build.range.keys;
  join.matching = probe.matching;
  return join;
}

/// True if an array of build rows, indexed by key, pays. H200, 2026-11, unique keys, index pairs out, ms of whole
/// joins, array / partitions: u32 2^16 x 2^24 0.127 / 0.235; 2^20 x 2^20 0.037 / 0.051; 1M x 10M 0.115 / 0.160, u64
/// 0.126 / 0.218; 1M of 4M keys x 10M 0.120 / 0.160; 2^22 x 2^22 0.111 / 0.126; 2^22 x 2^27 1.14 / 1.54; 2^23 x 2^27
/// 1.67 / 1.65; in a prototype 2^24 x 2^24 0.88 / 0.41; 2^24 x 2^27 2.87 / 1.77.
constexpr bool choose_direct_address_join(std::uint64_t keys, std::uint64_t build_rows, std::uint64_t probe_rows) {
  constexpr std::uint64_t most_keys = 1u << 22;         // the array stays in L2
  constexpr std::uint64_t least_build_rows = 1u << 14;  // with fewer rows, u32 keys have a table in shared memory
  return keys != 0 && keys <= most_keys && build_rows >= least_build_rows && probe_rows >= keys;
}

constexpr join_method choose_join_method(const join_description& join) {
  const bool is_automatic = join.strategy == JoinStrategy::automatic;
  const bool is_simple = join.strategy == JoinStrategy::simple;
  // If row numbers have 4 bytes, a merge counts the rows of a key in 32 bits, 32 rows at a time.
  constexpr std::uint64_t most_rows_of_key = 0xffffffffu - 31;
  const bool may_exceed = join.has_short_rows && !join.is_build_unique && join.build_rows > most_rows_of_key;
  if (join.may_merge && join.are_sorted && is_automatic && !join.has_nulls && !may_exceed) return join_method::merge;
  if (!join.has_short_rows) return join_method::global_table;
  const bool has_too_few = is_automatic && join.build_rows < join.least_partitioned_rows;
  // Only a merge and one table in global memory write results in the order of the probe rows. After any other method,
  // this order can be restored if each probe row has at most one result. If a probe row may have several, only
  // partitions with a list of the rows of each key can restore it.
  if (join.is_ordered && !join.has_at_most_one_each()) {
    return !join.may_list_rows || join.kind == JoinKind::full || is_simple || has_too_few ? join_method::global_table
                                                                                          : join_method::partitions;
  }
  const bool is_left_or_inner = join.kind == JoinKind::inner || join.kind == JoinKind::left;
  if (join.may_address && is_left_or_inner && is_automatic && join.is_build_unique && !join.has_nulls &&
      detail::choose_direct_address_join(join.keys_in_range, join.build_rows, join.probe_rows)) {
    return join_method::direct_address;
  }
  if ((is_automatic || is_simple) && join.kind != JoinKind::full && !join.has_nulls && join.build_rows > 0 &&
      join.build_rows <= join.one_table_rows) {
    return join_method::one_table;
  }
  return is_simple || has_too_few ? join_method::global_table : join_method::partitions;
}

/// True if a Bloom filter selects probe rows first. H200, 2026-11-27, us without / with a filter, if 3 % match: 2^19 x
/// 2^22 of u32 76.6 / 70.9, of u64 101 / 79.3; 2^24 x 2^27 1,743 / 1,634, 2,988 / 1,875. If a quarter of the probe rows
/// match, the filter costs at least as much as it saves. `max_matching` lies between these two fractions. Neither it
/// nor `min_probe_rows_each` nor `min_probe_rows` was varied.
constexpr bool filters_probe_rows(const join_description& join, join_method method) {
  constexpr double max_matching = 0.1;
  constexpr std::uint64_t min_probe_rows_each = 8;  // of a build row
  constexpr std::uint64_t min_probe_rows = std::uint64_t{1} << 22;
  return join.may_filter && method == join_method::partitions &&
         (join.kind == JoinKind::inner || join.kind == JoinKind::semi) && !(join.nulls_equal && join.has_nulls) &&
         join.matching <= max_matching && join.probe_rows / min_probe_rows_each >= join.build_rows &&
         (join.strategy != JoinStrategy::automatic || join.probe_rows >= min_probe_rows);
}

constexpr bool partitions_in_one_pass(const join_description& join, join_method method) {
  return method == join_method::partitions && join.build_rows <= join.one_pass_rows &&
         join.strategy != JoinStrategy::radix_multi;
}

/// Columns are partitioned only if they have at most this many bytes together.
inline constexpr std::size_t max_partitioned_bytes = 32;

/// With fewer build rows, wide columns are not partitioned. Not varied.
inline constexpr std::uint64_t min_rows_of_wide_columns = std::uint64_t{1} << 22;

/// The columns of an inner join are partitioned if it has at least one result for this many probe rows. With
/// `most_in_cache` build rows or more, L2 does not hold a column of theirs, so each result reads a sector of memory.
constexpr unsigned probe_rows_of_few_results(std::uint64_t build_rows) {
  constexpr std::uint64_t most_in_cache = std::uint64_t{1} << 22;
  return build_rows < most_in_cache ? 2 : 3;
}

/// True if the columns of a join in any order are partitioned with the keys. H100, 2026-11-28, u32, us for 1M x 10M and
/// for 2^24 x 2^24. The first of two times is with row indices, or in the order of the probe rows if that is faster;
/// the second is with partitioned columns:
///
/// | columns | 4 bytes | 8 bytes |
/// |---|---|---|
/// | 1 | 205 / 195, 1,000 / 847 | 211 / 219, 1,088 / 982 |
/// | 2 | 296 / 262, 1,411 / 966 | 344 / 356, 1,560 / 1,250 |
/// | 4 | 454 / 375, 2,161 / 1,491 | 562 / 585, 2,405 / 2,305 |
/// | 8 | 651 / 643, 3,763 / 3,141 | 1,113 / 1,309, 4,157 / 4,835 |
///
/// All values of the probe side are copied, also where few rows have a partner. With 4 columns of 4 bytes and partners
/// for 30 % of the probe rows: 280 / 343 and 1,225 / 1,419. By interpolation, both ways take the same time at 53 % and
/// 37 %. At 3 %: 175 (with a Bloom filter) / 307 and 580 / 1,348. On an H200, 40 %: 264 / 313 and 1,300 / 1,202.
/// Without a hint, the device takes a sample of an inner join, see takes_match_sample.
constexpr bool has_partitioned_columns(const join_description& join, join_method method) {
  return join.may_partition_columns && partitions_in_one_pass(join, method) && has_pairs(join.kind) &&
         (join.kind != JoinKind::inner || join.matching * probe_rows_of_few_results(join.build_rows) >= 1) &&
         (join.are_columns_narrow || join.strategy != JoinStrategy::automatic ||
          join.build_rows >= min_rows_of_wide_columns);
}

/// True if a sample of both sides decides on the device whether the columns are partitioned. It does so in an inner
/// join whose caller has not said how many rows match. Columns that are not partitioned anyway, like 4 of 8 bytes with
/// u64 keys, have no sample: 1M x 10M and 2^24 x 2^24 take as long as without this choice. With u32 keys and 4 columns
/// of 4 bytes, us without / with the sample where 3 % match: 278 / 196 and 1,117 / 658; where all match: 327 / 330 and
/// 1,227 / 1,229 (H200).
constexpr bool takes_match_sample(const join_description& join) {
  return join.kind == JoinKind::inner && join.matching == 1;
}

inline constexpr int least_gathered_columns = 4;

/// True if the result is put into the order of the probe rows. The join itself finds partners in any order; the result
/// is ordered afterwards. This is done if the caller wants this order. It may also be done in an inner or left join by
/// partitions in one pass, if the output has `least_gathered_columns` or more columns that are not partitioned:
/// neighbouring threads then read neighbouring values of the probe side.
///
/// H100, 2026-11-28, u32, 2 and 4 columns of 8 bytes, us in any order / in that of the probe rows: 1M x 10M 344 / 403,
/// 867 / 562; 2^24 x 2^24 1,808 / 1,560, 3,404 / 2,405.
constexpr bool restores_probe_order(const join_description& join, join_method method) {
  if (join.has_at_most_one_each() ? !join.may_restore_order : !join.may_list_rows) return false;
  if (join.is_ordered) return method != join_method::global_table;
  return partitions_in_one_pass(join, method) && has_pairs(join.kind) && join.kind != JoinKind::full;
}

constexpr join_choice choose_join(const join_description& join) {
  const join_method method = detail::choose_join_method(join);
  if (method == join_method::merge) return {method, join_detour::none};
  if (detail::filters_probe_rows(join, method)) return {method, join_detour::bloom_filter};
  if (detail::has_partitioned_columns(join, method)) {
    return {method, detail::takes_match_sample(join) ? join_detour::sampled_columns : join_detour::partitioned_columns};
  }
  if (!detail::restores_probe_order(join, method)) return {method, join_detour::none};
  return {method, join.has_at_most_one_each() ? join_detour::probe_order : join_detour::row_lists};
}

/// Debug builds (`STRATA_DEBUG_LOG`) print the choice.
inline void log_join([[maybe_unused]] const join_description& join, [[maybe_unused]] join_choice choice) {
#if STRATA_DEBUG_LOG
  std::fprintf(stderr, "strata: join of %llu x %llu rows: %s; detour: %s\n",
               static_cast<unsigned long long>(join.build_rows), static_cast<unsigned long long>(join.probe_rows),
               detail::name_of(choice.method), detail::name_of(choice.detour));
#endif
}

}  // namespace detail
STRATA_NAMESPACE_END

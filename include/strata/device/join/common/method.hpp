// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/strategy.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How the CUDA back end joins.
enum class join_method { merge, direct_address, one_table, partitions, global_table };

/// All that the method depends on, except the device. It is the same in a size query and in the call that follows.
struct join_description {
  JoinKind kind;
  JoinStrategy strategy;
  /// Whether the result is in the order of the probe rows.
  bool is_ordered;
  std::uint64_t build_rows;
  std::uint64_t probe_rows;
  /// Whether rows are numbered by 4 bytes.
  bool has_short_rows;
  bool has_nulls;
  bool is_build_unique;
  /// Whether both sides are promised to be, and keys are such that a merge can join them.
  bool are_sorted;
  /// The number of keys of the promised range, or 0.
  std::uint64_t keys_in_range;
  /// Whether partitions can list the build rows of each key in ascending order: equal hashes are equal keys.
  bool may_list_rows = false;

  /// Whether the result has at most one row for each probe row, and no other.
  constexpr bool has_at_most_one_each() const {
    return !has_pairs(kind) || (is_build_unique && kind != JoinKind::full);
  }
};

/// `may_merge`, `may_address`, `may_list_rows`: whether types allow these methods.
template <class Build, class Probe>
constexpr join_description describe_join(JoinKind kind, JoinStrategy strategy, bool is_ordered, const Build& build,
                                         const Probe& probe, bool has_short_rows, bool may_merge, bool may_address,
                                         bool may_list_rows) {
  return {kind,
          strategy,
          is_ordered,
          static_cast<std::uint64_t>(build.rows),
          static_cast<std::uint64_t>(probe.rows),
          has_short_rows,
          build.valid_mask != nullptr || probe.valid_mask != nullptr,
          build.is_unique,
          may_merge && build.is_sorted && probe.is_sorted,
          may_address ? build.range.keys : 0,
          may_list_rows};
}

/// Joins with fewer than `least_partitioned_rows` build rows have no partitions, unless an option says so. One table in
/// shared memory has at most `one_table_rows`. For `one_table` and `partitions`, a device may have too little shared
/// memory: then one table in global memory joins.
constexpr join_method choose_join_method(const join_description& join, std::uint64_t least_partitioned_rows,
                                         std::uint64_t one_table_rows) {
  const bool is_automatic = join.strategy == JoinStrategy::automatic;
  const bool is_simple = join.strategy == JoinStrategy::simple;
  if (join.are_sorted && is_automatic && !join.has_nulls) return join_method::merge;
  if (!join.has_short_rows) return join_method::global_table;
  const bool has_too_few = is_automatic && join.build_rows < least_partitioned_rows;
  // The other methods write results in any order. Where a probe row has at most one, that order can be restored. Where
  // it has more, only partitions with a list of the rows of each key can do that.
  if (join.is_ordered && !join.has_at_most_one_each()) {
    return !join.may_list_rows || join.kind == JoinKind::full || is_simple || has_too_few ? join_method::global_table
                                                                                          : join_method::partitions;
  }
  const bool is_left_or_inner = join.kind == JoinKind::inner || join.kind == JoinKind::left;
  if (is_left_or_inner && is_automatic && join.is_build_unique && !join.has_nulls &&
      strata::choose_direct_address_join(join.keys_in_range, join.build_rows, join.probe_rows)) {
    return join_method::direct_address;
  }
  if ((is_automatic || is_simple) && join.kind != JoinKind::full && !join.has_nulls && join.build_rows > 0 &&
      join.build_rows <= one_table_rows) {
    return join_method::one_table;
  }
  return is_simple || has_too_few ? join_method::global_table : join_method::partitions;
}

/// Whether a Bloom filter selects probe rows first. About `matching` of them have a partner. H200, 2026-11-27, us
/// without / with a filter, where 0.03 match: 2^19 x 2^22 of u32 76.6 / 70.9, of u64 101 / 79.3; 2^24 x 2^27 1,743 /
/// 1,634, 2,988 / 1,875. Where a fourth match, it costs as much as it saves, or more. `max_matching` lies between; it,
/// `min_probe_rows_each` and `min_probe_rows` were not varied.
constexpr bool filters_probe_rows(const join_description& join, join_method method, double matching, bool nulls_equal) {
  constexpr double max_matching = 0.1;
  constexpr std::uint64_t min_probe_rows_each = 8;  // of a build row
  constexpr std::uint64_t min_probe_rows = std::uint64_t{1} << 22;
  return method == join_method::partitions && (join.kind == JoinKind::inner || join.kind == JoinKind::semi) &&
         !(nulls_equal && join.has_nulls) && matching <= max_matching &&
         join.probe_rows / min_probe_rows_each >= join.build_rows &&
         (join.strategy != JoinStrategy::automatic || join.probe_rows >= min_probe_rows);
}

/// Whether one pass partitions, which it does for up to `one_pass_rows` build rows.
constexpr bool partitions_in_one_pass(const join_description& join, join_method method, std::uint64_t one_pass_rows) {
  return method == join_method::partitions && join.build_rows <= one_pass_rows &&
         join.strategy != JoinStrategy::radix_multi;
}

/// A row of the result has at most so many bytes if its columns are partitioned.
inline constexpr std::size_t max_partitioned_bytes = 32;

/// With fewer build rows, wide columns are not partitioned. Not varied.
inline constexpr std::uint64_t min_rows_of_wide_columns = std::uint64_t{1} << 22;

/// Whether the columns of a join in any order are partitioned with the keys. They are narrow if no value has more than
/// 4 bytes. H100, 2026-11-28, u32, us with row indices, or in the order of the probe rows if that is faster / with
/// partitioned columns, 1M x 10M and 2^24 x 2^24:
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
/// 37 %. At 3 %: 175 (with a Bloom filter) / 307 and 580 / 1,348. Without a hint, all rows are taken to have a partner.
constexpr bool has_partitioned_columns(const join_description& join, join_method method, std::uint64_t one_pass_rows,
                                       bool are_narrow, double matching) {
  constexpr double min_matching = 0.5;
  return partitions_in_one_pass(join, method, one_pass_rows) && has_pairs(join.kind) &&
         (join.kind != JoinKind::inner || matching >= min_matching) &&
         (are_narrow || join.strategy != JoinStrategy::automatic || join.build_rows >= min_rows_of_wide_columns);
}

inline constexpr int least_gathered_columns = 4;

/// Whether a join in any order finds the partners of each probe row, and the result is then written in the order of
/// these rows. That is so where this order is wanted, and with an output of `least_gathered_columns` or more that are
/// not partitioned: neighbouring threads then read neighbouring values of the probe side.
///
/// H100, 2026-11-28, u32, 2 and 4 columns of 8 bytes, us in any order / in that of the probe rows: 1M x 10M 344 / 403,
/// 867 / 562; 2^24 x 2^24 1,808 / 1,560, 3,404 / 2,405.
constexpr bool restores_probe_order(const join_description& join, join_method method, std::uint64_t one_pass_rows) {
  if (join.is_ordered) return method != join_method::global_table;
  return partitions_in_one_pass(join, method, one_pass_rows) && has_pairs(join.kind) && join.kind != JoinKind::full &&
         (join.is_build_unique || join.may_list_rows);
}

}  // namespace detail
STRATA_NAMESPACE_END

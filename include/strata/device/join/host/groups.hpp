// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/host/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Not `Equality`, which is for devices too: nvcc warns about keys whose `==` is for the host alone.
struct host_equality {
  template <class Key>
  bool operator()(const Key& a, const Key& b) const {
    return a == b;
  }
};

/// The build rows of one key: [end - count, end) of the list of rows.
template <class Entry, class Row>
struct join_group {
  Entry first;
  Row count;
  Row end;
  /// The next group of the same bucket.
  Row next;
};

/// Tables of the build side, one for each partition: buckets of groups, and the rows of each group
/// side by side, in their order. A chain holds each key once, however many rows have it, so that
/// finding a key takes no longer where others are frequent. Partition p with the rows [b, e) has
/// the groups and the list of rows in [b, e) of two arrays, and the buckets in [2 b, 2 e) of another.
template <class Keys, class Row, class Hash, class Equal>
struct join_groups {
  using side = host_join_side<Keys, Row, Hash>;
  using entry = typename side::entry;
  using group = join_group<entry, Row>;

  static constexpr Row none = static_cast<Row>(-1);
  /// Buckets for a build row. With one bucket, chains would be longer by a quarter.
  static constexpr std::size_t buckets_each = 2;

  /// Builds the table of a partition. It uses [b, e) of `group_of` as scratch memory.
  void build(std::size_t partition, bool all_are_equal, Row* group_of) const {
    const std::size_t begin = build_side.begins[partition];
    const std::size_t end = build_side.begins[partition + 1];
    for (std::size_t i = buckets_each * begin; i < buckets_each * end; ++i) buckets[i] = none;
    std::size_t groups_end = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const entry& item = build_side.entries[i];
      Row& bucket = buckets[buckets_each * begin + (all_are_equal ? 0 : bucket_of(item, end - begin))];
      Row found = bucket;
      while (found != none && !all_are_equal && !has_key_of(groups[found], item, build_side.keys)) {
        found = groups[found].next;
      }
      if (found == none) {
        found = static_cast<Row>(groups_end++);
        ::new (static_cast<void*>(groups + found)) group{item, 0, 0, bucket};
        bucket = found;
      }
      ++groups[found].count;
      group_of[i] = found;
    }
    // `end` starts as the begin of the group and is its end when all rows are listed.
    std::size_t offset = begin;
    for (std::size_t g = begin; g < groups_end; ++g) {
      groups[g].end = static_cast<Row>(offset);
      offset += groups[g].count;
    }
    for (std::size_t i = begin; i < end; ++i) {
      rows[groups[group_of[i]].end++] = build_side.entries[i].row;
    }
  }

  /// Returns the first group in the bucket of `item`, or `none`. The partition has `count` build rows from `begin` on
  /// and must not be empty.
  Row first_of_bucket(std::size_t begin, std::size_t count, const entry& item) const {
    return buckets[buckets_each * begin + bucket_of(item, count)];
  }

  /// True if the group has the key of `item`, whose side has `keys`.
  bool has_key_of(const group& candidate, const entry& item, const Keys& keys) const {
    return candidate.first.may_equal(item) && equal(candidate.first.key_in(build_side.keys), item.key_in(keys));
  }

  std::size_t bucket_of(const entry& item, std::size_t count) const {
    // A partition of 2^31 rows or more uses only this many buckets, so that the product with a tag fits in 64 bits.
    const std::uint64_t buckets_used = count >> 31 != 0 ? 0xffffffffu : buckets_each * count;
    return static_cast<std::size_t>(item.tag_by(hash) * buckets_used >> 32);
  }

  side build_side;
  const Hash& hash;
  const Equal& equal;
  Row* buckets;
  group* groups;
  Row* rows;
};

}  // namespace detail
STRATA_NAMESPACE_END

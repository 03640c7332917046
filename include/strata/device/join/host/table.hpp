// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/host/groups.hpp>
#include <strata/device/join/host/options.hpp>
#include <strata/device/join/host/partition.hpp>
#include <strata/device/join/host/thread_team.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The build side of joins on the host: its partitions and their tables, in the caller's storage. A probe only reads
/// them. Storage and partitions are those for `capacity` rows, however many there are.
template <class Index, class Keys, class Hash, class Equal>
class host_join_table {
  using Key = iterator_value_t<Keys>;
  static_assert(relocatable_requirements<Key>::check());
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "the row numbers of a join are integers of 4 or 8 bytes: choose Index accordingly");

 public:
  using Row = std::make_unsigned_t<Index>;
  using groups = join_groups<Keys, Row, Hash, Equal>;
  using side = typename groups::side;
  using partitioner = join_partitioner<Keys, Row, Hash>;

  enum slot { begins, entries, buckets, group_list, group_rows, slots };

  host_join_table(const Keys& keys, const std::uint32_t* valid, std::size_t capacity, std::size_t rows,
                  const HostJoinTuning& tuning, const Hash& hash, const Equal& equal)
      : capacity_(capacity), tuning_(tuning), hash_(hash), equal_(equal) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
    side_.keys = keys;
    side_.valid = valid;
    side_.rows = rows;
  }

  /// True if `Index` can represent the numbers of all rows. The number -1 means no row.
  static constexpr bool can_number(std::int64_t rows) {
    constexpr Row all_ones = static_cast<Row>(-1);
    constexpr Row most_rows = std::is_signed_v<Index> ? all_ones >> 1 : all_ones;
    return rows >= 0 && static_cast<std::uint64_t>(rows) <= most_rows;
  }

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<std::size_t>(first + begins, partitions() + 1);
    storage.template reserve<typename side::entry>(first + entries, capacity_);
    storage.template reserve<Row>(first + buckets, groups::buckets_each * capacity_);
    storage.template reserve<typename groups::group>(first + group_list, capacity_);
    storage.template reserve<Row>(first + group_rows, capacity_);
  }

  template <class Layout>
  void map(const Layout& storage, int first) {
    side_.begins = storage.template get<std::size_t>(first + begins);
    side_.entries = storage.template get<typename side::entry>(first + entries);
    buckets_ = storage.template get<Row>(first + buckets);
    groups_ = storage.template get<typename groups::group>(first + group_list);
    rows_ = storage.template get<Row>(first + group_rows);
  }

  /// Makes partitions and tables. Scratch memory: `counts` has `slice_counts(rows)` elements, `group_of` one for each
  /// row.
  void build(const thread_team& team, std::size_t* counts, Row* group_of) const {
    by_hash().run(team, side_, counts);
    const groups tables = all_groups();
    team.run(partitions(), [&](std::uint64_t partition) {
      tables.build(partition, /*all_are_equal=*/partition + 1 == partitions(), group_of);
    });
  }

  groups all_groups() const { return {side_, hash_, equal_, buckets_, groups_, rows_}; }

  /// Returns the partitioner for both sides.
  partitioner by_hash() const {
    const unsigned wanted = detail::partition_bits(capacity_, tuning_.partition_rows);
    const unsigned bits = detail::least(wanted, tuning_.most_partition_bits);
    return {bits, tuning_.slice_rows, hash_};
  }
  std::size_t partitions() const { return by_hash().partitions(); }
  std::size_t slice_counts(std::size_t rows) const {
    return partitioner::slices(rows, tuning_.slice_rows) * partitions();
  }
  const Keys& keys() const { return side_.keys; }
  std::size_t capacity() const { return capacity_; }
  std::size_t rows() const { return side_.rows; }

 private:
  std::size_t capacity_;
  HostJoinTuning tuning_;
  Hash hash_;
  Equal equal_;
  side side_;
  Row* buckets_ = nullptr;
  typename groups::group* groups_ = nullptr;
  Row* rows_ = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END

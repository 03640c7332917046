// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/group.cuh>
#include <strata/distributed/exchange/partition.cuh>
#include <strata/distributed/join/capacity.hpp>
#include <strata/distributed/join/columns.cuh>
#include <strata/distributed/join/destinations.hpp>
#include <strata/distributed/join/route.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The largest number of rows of a side that a rank can have, or receive. Row numbers of one rank have 4 bytes.
inline constexpr std::int64_t max_distributed_join_rows = 0xfffffff0;

/// The parameters of a join over ranks. All ranks of a call must have the same.
struct distributed_join_tuning {
  /// From this many rows for each rank on, pieces are sent with their leads, and received in staging memory. With fewer
  /// rows, the copies from there to the arrays take longer than the exchange gains.
  std::uint64_t min_rows_with_leads;
  /// From this many bytes on, the rows that stay on their rank are copied at the same time as the exchange. With fewer
  /// bytes, making a stream takes longer than the copy.
  std::size_t min_bytes_copied_beside;
  /// This bound counts only if all build rows can go to all ranks, and (ranks - 1) x build rows are not fewer than the
  /// probe rows. With at least this many rows of both sides on an average rank, rows then go straight to the ranks of
  /// their keys, if this is possible and no key is frequent.
  std::uint64_t min_rows_routed_directly;
};
/// The first two bounds were not measured but estimated. In an exchange of 1 MiB, leads save about as much time as the
/// copies from staging memory take. Making a stream takes 20 us, and a copy moves 2 TB/s. The third bound was not
/// measured. It is derived from the cost model in the README. Two H200, 2026-11-26, CUDA 13.0, NCCL 2.28.3: a join of
/// 2^27 x 2^27 u32 on each GPU, in which each row goes to the rank of its key, takes 14.8 ms, and 15.1 ms if the rows
/// that stay on their rank are copied after the exchange. Copies at the same time as the exchange save nothing in
/// DistributedExchange.
struct distributed_join_policy {
  static constexpr distributed_join_tuning tuning{/*min_rows_with_leads=*/1 << 20,
                                                  /*min_bytes_copied_beside=*/std::size_t{1} << 25,
                                                  /*min_rows_routed_directly=*/std::uint64_t{1} << 27};
};

/// The arguments of a join on one rank, and what follows from their types.
template <JoinKind Kind, class Policy, class Keys, class BuildPromises, class ProbePromises, class Output, class Hash,
          class Equal>
struct distributed_join_call {
  using Index = typename Output::index_type;
  using KeyIterator = Keys;
  using Key = iterator_value_t<Keys>;
  using Columns = std::decay_t<decltype(detail::join_columns_of(std::declval<const Output&>()))>;
  using Options = JoinOptions<Hash, Equal>;
  using RoutedKeys = join_routed_keys<Keys, Hash, Equal>;
  template <bool IsBuild>
  using Promises = std::conditional_t<IsBuild, BuildPromises, ProbePromises>;

  static_assert(sizeof(Index) == 8, "row numbers of all ranks have 8 bytes: choose an Index of 8 bytes");
  static_assert(!BuildPromises::has_future_count && !ProbePromises::has_future_count,
                "DistributedHashJoin takes no FutureCount: copy the number of rows to the host");
  static_assert(relocatable_requirements<Key>::check());

  static constexpr JoinKind kind = Kind;
  static constexpr distributed_join_tuning tuning = Policy::tuning;
  static constexpr bool has_array_of_keys = std::is_pointer_v<Keys>;
  /// The number of columns of the output, whether they are moved or not.
  static constexpr int columns_of_output = number_of_columns<Columns>;
  /// False for full joins, in which one rank must find out whether a build row has a partner.
  static constexpr bool may_copy_build_rows = Kind != JoinKind::full;
  static constexpr bool keeps_build_rows = Kind == JoinKind::full;
  static constexpr bool keeps_probe_rows = Kind == JoinKind::left || Kind == JoinKind::full || Kind == JoinKind::anti;

  /// True if the values of a column move with the keys of a side.
  template <class Column, bool IsBuild>
  static constexpr bool moves_with() {
    using Traits = join_column_traits<Column>;
    return Traits::has_values && Traits::is_of_build == IsBuild && (!IsBuild || has_pairs(Kind));
  }
  /// True if the numbers of rows move with the keys of a side.
  template <bool IsBuild>
  static constexpr bool is_numbered = take_row_numbers<Columns> && (!IsBuild || has_pairs(Kind));
  /// True if the row numbers of a side are sorted by the classes of their rows (`join_classes`: where a row is sent),
  /// and the arrays of the side are then gathered. Otherwise each array is sorted. Row numbers are sorted if they are
  /// sent anyway, or if items are too large to be moved by a sort.
  template <bool IsBuild>
  static constexpr bool sorts_rows = is_numbered<IsBuild> || sizeof(Key) > max_sorted_item_bytes
                                     || has_larger_column<Columns, IsBuild, max_sorted_item_bytes>;

  /// True if rows can be written straight to other ranks, by keys and row numbers alone.
  static constexpr bool may_move_directly =
      std::is_trivially_copyable_v<Key> && sizeof(Key) <= max_partitioned_item_bytes &&
      !has_larger_column<Columns, true, 0> && !has_larger_column<Columns, false, 0>;

  /// True if the keys of the local join carry the numbers of their rows. This is false in two cases. Columns of values
  /// are read by index. A join with a range of keys may look build rows up in an array that is indexed by key, and this
  /// method needs a plain array of keys.
  static constexpr bool has_numbered_keys = take_row_numbers<Columns> && !have_values<Columns> &&
                                            !BuildPromises::may_have_range &&
                                            (is_join_word<Key, Hash, Equal> || is_join_double_word<Key, Hash, Equal>);

  JoinSide<Keys> build;
  JoinSide<Keys> probe;
  std::int64_t output_capacity;
  Columns columns;
  std::int64_t* d_num_out;
  DistributedJoinCapacity capacity;
  Options options;
  ncclComm_t comm;
  cudaStream_t stream;
  rank_position position{};

  template <bool IsBuild>
  const JoinSide<Keys>& side() const {
    return IsBuild ? build : probe;
  }
  /// Returns how many rows of a side this rank can receive.
  template <bool IsBuild>
  std::size_t receivable_rows() const {
    return static_cast<std::size_t>(IsBuild ? capacity.build_rows : capacity.probe_rows);
  }

  static bool is_row_count(std::int64_t rows) { return rows >= 0 && rows <= max_distributed_join_rows; }
  bool are_counts_valid() const {
    return is_row_count(build.rows) && is_row_count(probe.rows) && is_row_count(capacity.build_rows) &&
           is_row_count(capacity.probe_rows) && output_capacity >= 0;
  }
  void clear_counts() { build.rows = probe.rows = capacity.build_rows = capacity.probe_rows = output_capacity = 0; }

  /// True if rows are sent with their leads. `total_rows` is the number of rows of all ranks: of both sides, or of the
  /// build side if all ranks get it as it is.
  bool has_rows_for_leads(std::uint64_t total_rows) const {
    return total_rows / static_cast<std::uint64_t>(position.ranks) >= tuning.min_rows_with_leads;
  }
  join_classes classes() const { return {static_cast<unsigned>(position.ranks)}; }
  join_destination_rules rules() const {
    return {may_copy_build_rows, keeps_build_rows, keeps_probe_rows, options.nulls_equal};
  }
  template <bool IsBuild>
  RoutedKeys routed_keys() const {
    return {side<IsBuild>().keys, side<IsBuild>().valid_mask, options.hash, options.equal};
  }

  template <class T>
  struct type_of {
    using type = T;
  };
  /// Calls `f(column, type_of<Value>, index)` for each column whose values move with the keys of a side.
  template <bool IsBuild, class F>
  void for_each_moved_column(F&& f) const {
    detail::for_each_join_column(columns, [&](const auto& column, int index) {
      using Column = std::decay_t<decltype(column)>;
      if constexpr (moves_with<Column, IsBuild>()) {
        using Value = typename join_column_traits<Column>::value_type;
        static_assert(relocatable_requirements<Value>::check());
        f(column, type_of<Value>{}, index);
      }
    });
  }

  /// Returns a number that must be the same on all ranks, so that a mismatch of calls is detected.
  std::int64_t signature() const {
    std::uint64_t sum = static_cast<std::uint64_t>(Kind) * 2 + (options.nulls_equal ? 1 : 0);
    sum = sum * 4096 + sizeof(Key);
    sum = sum * 2 + (is_numbered<true> ? 1 : 0);
    sum = sum * 2 + (is_numbered<false> ? 1 : 0);
    detail::for_each_join_column(columns, [&](const auto& column, int) {
      using Column = std::decay_t<decltype(column)>;
      if constexpr (moves_with<Column, true>() || moves_with<Column, false>()) {
        using Traits = join_column_traits<Column>;
        sum = detail::mixed_hash(sum * 4096 + 2 * sizeof(typename Traits::value_type) + (Traits::is_of_build ? 1 : 0));
      }
    });
    return static_cast<std::int64_t>(sum);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

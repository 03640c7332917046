// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_partitions.cuh>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/shared_table.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What agents that join by a table in shared memory have in common. `Sink` is NullType where rows
/// are only counted. With `IsDirect` there is one partition, of all rows: they are read from the
/// sides themselves. With `ReadsHashes` records may be hashes alone.
template <class Key, class Hash, class Equal, class Index, class Sink, int BlockThreads,
          bool IsDirect, bool GroupsHashes, bool ReadsHashes = false>
class join_table_user {
 public:
  using Partitions = join_partitions<Key, Hash, Equal>;
  using Count = unsigned long long;
  static constexpr bool is_wide = is_join_double_word<Key, Hash, Equal>;
  using Word = std::conditional_t<is_wide, unsigned long long, unsigned>;
  using Row = join_hashed_row<Word>;
  using Table = join_shared_table<Word, BlockThreads, GroupsHashes>;
  using Places = join_result_places<BlockThreads>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  static constexpr unsigned none = no_join_row<unsigned>;

  struct TempStorage {
    typename Table::TempStorage table;
    typename Places::TempStorage places;
    Count counted;
  };

 protected:
  STRATA_D join_table_user(TempStorage& storage, unsigned char* shared, const Partitions& join,
                           const Sink& sink)
      : storage_(storage),
        table_(storage.table, shared, join.plan),
        places_(storage.places, join.total),
        found_(reinterpret_cast<unsigned*>(shared + join.plan.bytes_before_found())),
        join_(join),
        sink_(sink) {}

  STRATA_D Row row_of(const join_side_records<Key>& side, std::size_t i) const {
    if constexpr (IsDirect) {
      const unsigned long long hash = detail::join_hash<Key, Equal>(join_.hash, side.keys[i]);
      return {static_cast<Word>(is_wide ? hash : hash >> 32), static_cast<unsigned>(i)};
    } else {
      if constexpr (ReadsHashes) {
        if (!side.tells_rows) return {side.done.hashes()[i], 0};
      }
      const join_record record = side.done.records[i];
      if constexpr (is_wide) {
        return {static_cast<Word>(record.hash) << 32 | side.done.lower[i], record.row};
      } else {
        return {record.hash, record.row};
      }
    }
  }

  // A broken promise is noticed in debug builds.
  STRATA_D bool stops_at_one() const { return join_.promised_unique && !STRATA_DEBUG; }

  STRATA_D bool is_partner(Word seen, unsigned probe_row) const {
    if (Partitions::hash_is_key || !table_.is_row(seen)) return table_.is_row(seen);
    return join_.equal(join_.build.keys[seen], join_.probe.keys[probe_row]);
  }

  // Of a table of so many rows, none has been found.
  STRATA_D void clear_found(unsigned rows) const {
    for (unsigned i = threadIdx.x; i <= rows / 32; i += threads) found_[i] = 0;
  }

  STRATA_D void write(Count position, unsigned build_row, unsigned probe_row) const {
    if (position < static_cast<Count>(join_.capacity)) {
      write_inside(position, build_row, probe_row);
    }
  }
  STRATA_D void write_inside(Count position, unsigned build_row, unsigned probe_row) const {
    if constexpr (has_rows) {
      sink_(static_cast<std::int64_t>(position), told(build_row), told(probe_row));
    }
  }
  STRATA_D static Index told(unsigned row) {
    if constexpr (sizeof(Index) > sizeof(row)) {
      if (row == none) return no_row<Index>;
    }
    return static_cast<Index>(row);
  }

  // By the one block that has seen all probe rows of the partition.
  STRATA_D void put_out_lonely_rows(unsigned rows) {
    __syncthreads();
    for (unsigned first = 0; first < rows; first += threads) {
      const unsigned i = first + threadIdx.x;
      const bool is_lonely = i < rows && (found_[i / 32] >> (i % 32) & 1) == 0;
      if constexpr (!has_rows) {
        counted_ += is_lonely ? 1 : 0;
      } else {
        unsigned sum = 0;
        const unsigned begin = Places::begin_of_one(is_lonely, sum);
        const Count place = places_.take(sum);
        if (is_lonely) write(place + begin, table_.row_at(i), none);
      }
    }
  }

  STRATA_D void add_counted() { detail::add_join_results(storage_.counted, counted_, join_.total); }

  TempStorage& storage_;
  Table table_;
  Places places_;
  unsigned* found_;
  const Partitions& join_;
  const Sink& sink_;
  Count counted_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

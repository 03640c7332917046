// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_partition.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/shared_table.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What one block does of a partition: all build rows, and probe rows from `first` on.
struct join_partition_unit {
  unsigned partition;
  unsigned first;
  unsigned rows;
};

/// What all blocks of a join by partitions know.
template <class Key, class Hash, class Equal>
struct join_partitions {
  join_partition_plan plan;
  JoinKind kind;
  join_side_records<Key> build;
  join_side_records<Key> probe;
  /// Tiles of the second pass: of the build side's partitions of the first one, and those before
  /// them, and then of the probe side's.
  unsigned* pass_tiles;
  /// See `join_partition_plan::place_of_whole`.
  join_partition_unit* units;
  unsigned* num_units;
  unsigned* num_pieces;
  /// Partitions that the table in global memory takes care of, and whether there are any.
  unsigned* is_heavy;
  unsigned* any_is_heavy;
  /// At the barrier of the kernel that does.
  unsigned* arrivals;
  /// Blocks that have counted rows.
  unsigned* counted;
  unsigned long long* total;
  std::int64_t capacity;
  bool promised_unique;
  Hash hash;
  Equal equal;
};

/// Joins a unit of a partition by a table in shared memory, or leaves the partition to the table in
/// global memory if rows crowd in a bucket. `Sink` is NullType where rows are only counted.
///
/// Groups of warps take tiles of probe rows in turn, and wait for nobody else. With `IsDirect` there
/// is one partition, of all rows: they are read from the sides themselves.
template <class Key, class Hash, class Equal, class Index, class Sink, int BlockThreads, int Items,
          bool IsDirect>
class AgentJoinTables {
  using Partitions = join_partitions<Key, Hash, Equal>;
  using Count = unsigned long long;
  static constexpr bool is_wide = is_join_double_word<Key, Hash, Equal>;
  static constexpr bool hash_is_key = is_wide || is_join_word<Key, Hash, Equal>;
  using Word = std::conditional_t<is_wide, unsigned long long, unsigned>;
  using Row = join_hashed_row<Word>;
  using Table = join_shared_table<Word, BlockThreads>;
  using Places = join_result_places<BlockThreads>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  static constexpr unsigned none = no_join_row<unsigned>;

 public:
  struct TempStorage {
    typename Table::TempStorage table;
    typename Places::TempStorage places;
    Count counted;
  };

  STRATA_D AgentJoinTables(TempStorage& storage, unsigned char* shared, const Partitions& join,
                           const Sink& sink)
      : storage_(storage),
        table_(storage.table, shared, join.plan),
        places_(storage.places, join.total),
        found_(reinterpret_cast<unsigned*>(shared + join.plan.bytes_before_found())),
        join_(join),
        sink_(sink) {}

  STRATA_D void run(const join_partition_unit& unit) {
    unsigned begin = 0;
    unsigned rows = join_.build.rows;
    unsigned probe_begin = unit.first;
    if constexpr (!IsDirect) {
      begin = join_.build.begins[unit.partition];
      rows = join_.build.begins[unit.partition + 1] - begin;
      probe_begin += join_.probe.begins[unit.partition];
    }
    const bool is_full = join_.kind == JoinKind::full;
    if (is_full) {
      for (unsigned i = threadIdx.x; i <= rows / 32; i += threads) found_[i] = 0;
    }
    if (!table_.build(rows, [&](std::size_t i) { return row_of(join_.build, begin + i); })) {
      if (threadIdx.x == 0) {
        platform::store_relaxed(join_.is_heavy + unit.partition, 1u);
        platform::store_relaxed(join_.any_is_heavy, 1u);
      }
      return;
    }
    if (is_full) {
      probe<true>(probe_begin, unit.rows);
      put_out_lonely_rows(rows);
    } else {
      probe<false>(probe_begin, unit.rows);
    }
    if constexpr (!has_rows) add_counted();
  }

 private:
  STRATA_D Row row_of(const join_side_records<Key>& side, std::size_t i) const {
    if constexpr (IsDirect) {
      const unsigned long long hash = join_hash<Key, Equal>(join_.hash, side.keys[i]);
      return {static_cast<Word>(is_wide ? hash : hash >> 32), static_cast<unsigned>(i)};
    } else {
      const join_record record = side.done.records[i];
      if constexpr (is_wide) {
        return {static_cast<Word>(record.hash) << 32 | side.done.lower[i], record.row};
      } else {
        return {record.hash, record.row};
      }
    }
  }

  template <bool IsFull>
  STRATA_D void probe(unsigned begin, unsigned rows) {
    constexpr unsigned group_tile = Places::group_threads * Items;
    const unsigned group = threadIdx.x / Places::group_threads;
    // A warp's rows lie side by side, and so do their results.
    const unsigned warp = threadIdx.x % Places::group_threads / warp_threads;
    const unsigned in_tile = warp * Items * warp_threads + platform::lane_id();
    for (unsigned first = group * group_tile; first < rows; first += threads * Items) {
      const std::size_t at = std::size_t{begin} + first + in_tile;
      const unsigned left = first + in_tile < rows ? rows - first - in_tile : 0;
      unsigned probe_rows[Items];
      unsigned partners[Items];
      const unsigned counts = look_up<IsFull>(at, left, probe_rows, partners);
      put_out(at, counts, probe_rows, partners);
    }
  }

  STRATA_D bool is_partner(Word seen, unsigned probe_row) const {
    if (hash_is_key || !table_.is_row(seen)) return table_.is_row(seen);
    return join_.equal(join_.build.keys[seen], join_.probe.keys[probe_row]);
  }

  // How many partners each of some rows has, and one of them. Of all of them an entry is looked at
  // in turn, without branches: one's is on its way while another's is compared.
  template <bool IsFull>
  STRATA_D unsigned look_up(std::size_t at, unsigned left, unsigned (&probe_rows)[Items],
                            unsigned (&partners)[Items]) const {
    const bool needs_one = join_.kind == JoinKind::semi || join_.kind == JoinKind::anti;
    const bool stops_at_one = needs_one || (join_.promised_unique && !STRATA_DEBUG);
    Row items[Items];
    STRATA_UNROLL
    for (unsigned i = 0; i < Items; ++i) {
      items[i] = {0, none};
      if (i * warp_threads < left) items[i] = row_of(join_.probe, at + i * warp_threads);
    }
    Word rests[Items];
    unsigned entries[Items];
    unsigned ends[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      rests[i] = table_.rest_of(items[i].hash);
      table_.find(items[i].hash, entries[i], ends[i]);
      probe_rows[i] = items[i].row;
      if (probe_rows[i] == none) ends[i] = 0;
      partners[i] = none;
    }
    unsigned counts = 0;
    for (bool any_is_left = true; any_is_left;) {
      any_is_left = false;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        Word seen = Table::no_row_seen;
        if (entries[i] < ends[i]) seen = table_.seen_from(rests[i], entries[i]);
        const bool is_found = is_partner(seen, probe_rows[i]);
        if constexpr (IsFull) {
          if (is_found) atomicOr(found_ + entries[i] / 32, 1u << (entries[i] % 32));
        }
        partners[i] = is_found ? static_cast<unsigned>(seen) : partners[i];
        counts += is_found ? 1u << (count_bits * i) : 0;
        STRATA_ASSERT(!(join_.promised_unique && count_of(counts, i) > 1),
                      "JoinOptions::build_unique was promised, but the key of build row %u is also "
                      "that of another",
                      partners[i]);
        ends[i] = is_found && stops_at_one ? 0 : ends[i];
        ++entries[i];
        any_is_left |= entries[i] < ends[i];
      }
    }
    if (join_.kind == JoinKind::inner) return counts;
    unsigned results = 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const unsigned found = count_of(counts, i);
      unsigned count = found != 0 ? found : 1;
      if (needs_one) {
        count = (found != 0) == (join_.kind == JoinKind::semi) ? 1 : 0;
        partners[i] = none;
      }
      if (probe_rows[i] != none) results |= count << (count_bits * i);
    }
    return results;
  }

  // The counts of a thread's rows are in one word.
  static constexpr int count_bits = 8;
  static_assert(most_join_bucket_rows < (1u << count_bits) && Items * count_bits <= 32,
                "join_partition_tuning: join_items must be at most 4");
  STRATA_D static unsigned count_of(unsigned counts, int item) {
    return counts >> (count_bits * item) & ((1u << count_bits) - 1);
  }

  // Takes places for the results of the group, and writes them. All warps of a group take theirs at
  // the same barriers, whatever each has found.
  STRATA_D void put_out(std::size_t at, unsigned counts, const unsigned (&probe_rows)[Items],
                        const unsigned (&partners)[Items]) {
    if constexpr (!has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) counted_ += count_of(counts, i);
    } else {
      constexpr unsigned several = 0xfefefefe;
      const bool has_several = __any_sync(full_warp_mask, (counts & several) != 0 ? 1 : 0) != 0;
      unsigned begins[Items];
      unsigned sum = 0;
      if (has_several) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          begins[i] = Places::begin_of_several(count_of(counts, i), sum);
        }
      } else {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          begins[i] = Places::begin_of_one(count_of(counts, i) != 0, sum);
        }
      }
      const Count to = places_.take(sum);
      if (has_several) {
        STRATA_UNROLL
        for (unsigned i = 0; i < Items; ++i) {
          const unsigned count = count_of(counts, static_cast<int>(i));
          Row item{0, none};
          if (count != 0) item = row_of(join_.probe, at + i * warp_threads);
          write_several(item, count, to + begins[i]);
        }
      } else if (to + sum <= static_cast<Count>(join_.capacity)) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          if (count_of(counts, i) != 0) {
            write_inside(to + begins[i], partners[i], probe_rows[i]);
          }
        }
      } else {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          if (count_of(counts, i) != 0) write(to + begins[i], partners[i], probe_rows[i]);
        }
      }
    }
  }

  // Of rows of a warp, some of which have several partners. Where the partners of a row are side by
  // side, as they nearly always are, the results of all lanes are written side by side too.
  STRATA_D void write_several(const Row& item, unsigned count, Count place) const {
    const Word rest = table_.rest_of(item.hash);
    unsigned first = none;
    bool is_straight = true;
    if (count != 0) {
      unsigned entry = 0;
      unsigned end = 0;
      table_.find(item.hash, entry, end);
      unsigned rank = 0;
      for (; entry < end && rank < count; ++entry) {
        if (!is_partner(table_.seen_from(rest, entry), item.row)) continue;
        if (rank == 0) first = entry;
        is_straight = is_straight && entry == first + rank;
        ++rank;
      }
    }
    if (!is_straight) write_scattered(item, rest, first, count, place);

    const Count warp_place = __shfl_sync(full_warp_mask, place, 0);
    const auto begin = static_cast<unsigned>(place - warp_place);
    const unsigned all = __shfl_sync(full_warp_mask, begin + count, warp_threads - 1);
    for (unsigned base = 0; base < all; base += warp_threads) {
      const unsigned at = base + platform::lane_id();
      const unsigned owner = Places::owner_of(at, begin);
      const unsigned rank = at - __shfl_sync(full_warp_mask, begin, owner);
      const unsigned entry = __shfl_sync(full_warp_mask, first, owner);
      const unsigned row = __shfl_sync(full_warp_mask, item.row, owner);
      const bool mine = __shfl_sync(full_warp_mask, is_straight ? 1 : 0, owner) != 0;
      if (at >= all || !mine) continue;
      write(warp_place + at, entry == none ? none : table_.row_at(entry + rank), row);
    }
  }

  STRATA_D void write_scattered(const Row& item, Word rest, unsigned entry, unsigned count,
                                Count place) const {
    for (unsigned rank = 0; rank < count; ++entry) {
      const Word seen = table_.seen_from(rest, entry);
      if (!is_partner(seen, item.row)) continue;
      write(place + rank, static_cast<unsigned>(seen), item.row);
      ++rank;
    }
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

  // One addition for the block: all blocks have the same counter.
  STRATA_D void add_counted() {
    STRATA_UNROLL
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
      counted_ += __shfl_down_sync(full_warp_mask, counted_, distance);
    }
    if (threadIdx.x == 0) storage_.counted = 0;
    __syncthreads();
    if (platform::lane_id() == 0 && counted_ != 0) atomicAdd(&storage_.counted, counted_);
    __syncthreads();
    if (threadIdx.x == 0 && storage_.counted != 0) atomicAdd(join_.total, storage_.counted);
  }

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

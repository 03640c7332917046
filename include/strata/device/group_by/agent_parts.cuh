// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/group_by/hash_plan.cuh>
#include <strata/device/group_by/shared_table.cuh>

#include <cmath>
#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Moves the rows of tiles to their parts, in no order.
///
///     rows of a tile -> counts of parts -> rows in shared memory, by part -> chunks of each part
///
/// Each block fills chunks of its own, one for each part at a time. When a chunk is full, the block takes the next one
/// from a counter. So rows need not be counted before they are moved, and no part can have too many rows.
///
/// If the tuning says so, rows are written in whole sectors, and the rest of each part waits for the next tile. While a
/// tile is written, the next one is loaded.
template <class Policy, class Types, int Bits>
struct AgentGroupParts {
  using Slot = typename Types::Slot;
  using Payload = typename Types::Payload;
  using Parts = group_parts<Slot, Payload>;

  static constexpr int threads = Policy::tuning.partition_threads;
  static constexpr unsigned most_parts = 1u << Bits;
  static constexpr bool has_payload = !std::is_empty_v<Payload>;
  static constexpr int row_bytes =
      static_cast<int>(sizeof(Slot)) + (has_payload ? static_cast<int>(sizeof(Payload)) : 0);
  /// The tuning gives the number of rows of 8 bytes that a thread has. If rows are larger, a thread has fewer of them.
  /// They take the same memory, rounded up to whole packs of `group_pack_rows` rows.
  static constexpr int thread_items = detail::ceiling_divide(Policy::tuning.partition_items_per_thread * 8,
                                                             detail::most(row_bytes, 8) * group_pack_rows) *
                                      group_pack_rows;
  static constexpr unsigned tile_items = static_cast<unsigned>(threads * thread_items);
  static constexpr int word_bits = 8 * static_cast<int>(sizeof(Slot));
  static constexpr bool writes_packs = Policy::tuning.partition_sector_rows > 1;
  static constexpr unsigned sector_rows =
      static_cast<unsigned>(detail::least(Policy::tuning.partition_sector_rows, row_bytes <= 8 ? 32 : group_pack_rows));
  static constexpr unsigned pack_rows = writes_packs ? group_pack_rows : 1;
  /// Capacity for staged rows. Besides the rows of the tile, a part has up to sector_rows - 1 rows that it has kept.
  /// Each part begins at a whole pack, so up to pack_rows - 1 places before it are unused.
  static constexpr unsigned staged_rows = tile_items + most_parts * (sector_rows - 1 + pack_rows - 1);
  // not for users: ranks of rows have 16 bits
  static_assert(staged_rows < 1u << 16, "AgentGroupParts: too many rows in a tile");
  // not for users: a pack of rows does not go to two chunks
  static_assert(sector_rows % pack_rows == 0 && group_chunk_rows % sector_rows == 0, "AgentGroupParts: sectors");
  using Scan = BlockScan<unsigned, threads, BLOCK_SCAN_WARP_SCANS>;

  /// The staged rows of a part that are written: rows before `split` go to the chunk that the part has, and rows from
  /// `split` to `end` to the next chunks.
  struct staged_part {
    unsigned split;
    unsigned end;
  };
  struct TempStorage {
    alignas(16) Payload payloads[has_payload ? staged_rows : 1];
    alignas(16) Slot words[staged_rows];
    alignas(16) Payload kept_payloads[has_payload && writes_packs ? most_parts * sector_rows : 1];
    alignas(16) Slot kept_words[writes_packs ? most_parts * sector_rows : 1];
    staged_part staged[most_parts];
    // The staged row with index i, counted over all parts, goes to first[part] + i if i < split, else to second[part] +
    // i.
    unsigned long long first[most_parts];
    unsigned long long second[most_parts];
    unsigned kept[writes_packs ? most_parts : 1];
    // A counter for each part, then one for each lane, which counts rows that are not moved.
    unsigned begins[most_parts + warp_threads];
    unsigned counts[most_parts + warp_threads];
    unsigned first_chunk;
    typename Scan::TempStorage scan;
  };

  TempStorage& storage;
  const Parts& parts;
  unsigned* num_chunks;  // taken by all blocks
  int shift;             // the part of a word is word << left >> shift
  int left;
  // With few parts, lanes count rows in copies of the counters, so that they need not wait for each other.
  int copies_log;
  // The state of this thread's part, if it has one:
  unsigned chunk = 0;
  unsigned filled = group_chunk_rows;
  bool has_chunk = false;

  STRATA_D AgentGroupParts(TempStorage& shared, const Parts& to, unsigned* chunks, int bits_before, int bits)
      : storage(shared),
        parts(to),
        num_chunks(chunks),
        shift(word_bits - bits),
        left(bits_before),
        copies_log(detail::least(Bits - bits, 5)) {
    for (unsigned part = threadIdx.x; part < most_parts + warp_threads; part += unsigned{threads}) {
      storage.begins[part] = 0;
      storage.counts[part] = 0;
      if (writes_packs && part < most_parts) storage.kept[part] = 0;
    }
    __syncthreads();
  }

  STRATA_D unsigned part_of(Slot word) const { return static_cast<unsigned>(static_cast<Slot>(word << left) >> shift); }

  /// Returns the counter for row i: a counter of its part, or if the row is not moved, the lane's counter.
  STRATA_D unsigned counter_of(unsigned rows, int i, Slot word) const {
    const unsigned lane = platform::lane_id();
    const unsigned copy = lane & ((1u << copies_log) - 1);
    return (rows >> i & 1) != 0 ? part_of(word) << copies_log | copy : most_parts + lane;
  }

  /// Moves the rows of a tile. Part p of this move has the number `first_part` + p among all parts. After the last tile
  /// of these parts (`is_last`), no row is kept. All threads of the block call this. `load_next()` may load the next
  /// tile to `words` and `payloads`.
  template <class LoadNext>
  STRATA_D void move(unsigned rows, const Slot (&words)[thread_items], const Payload (&payloads)[thread_items],
                     unsigned first_part, bool is_last, const LoadNext& load_next) {
    // The counter and the rank of each row.
    unsigned places[thread_items];
    // There is no branch in the loop, so that a thread need not wait for the atomic addition of each row.
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      const unsigned counter = counter_of(rows, i, words[i]);
      places[i] = counter | atomicAdd(storage.counts + counter, 1u) << 16;
    }
    // Without this, the compiler would keep three registers for each row until the row is put into shared memory.
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) places[i] = platform::opaque(places[i]);
    __syncthreads();
    const unsigned copy = threadIdx.x & ((1u << copies_log) - 1);
    const unsigned part = threadIdx.x >> copies_log;
    const bool has_counter = threadIdx.x < most_parts;
    const bool has_part = has_counter && copy == 0;
    const unsigned count = has_counter ? storage.counts[threadIdx.x] : 0;
    unsigned part_rows = count;
    STRATA_UNROLL_N(1)
    for (int k = 0; k < copies_log; ++k) part_rows += __shfl_xor_sync(full_warp_mask, part_rows, 1 << k);
    const unsigned kept = is_last ? 0 : part_rows % sector_rows;
    const unsigned written = part_rows - kept;
    const unsigned room = group_chunk_rows - filled;
    const unsigned taken = has_part && written > room ? detail::ceiling_divide(written - room, group_chunk_rows) : 0;
    const bool is_last_copy = copy == (1u << copies_log) - 1;
    const unsigned padding = is_last_copy ? (0 - part_rows) % pack_rows : 0;
    unsigned before = 0;
    unsigned total = 0;
    Scan(storage.scan).ExclusiveSum((count + padding) | taken << 16, before, total);
    const unsigned begin = before & 0xffffu;
    if (has_counter) {
      storage.begins[threadIdx.x] = begin;
      storage.counts[threadIdx.x] = copy == 0 ? kept : 0;
    }
    // The results of these additions arrive while rows are put into shared memory.
    unsigned first_chunk = 0;
    if (threadIdx.x == 0 && total >> 16 != 0) first_chunk = atomicAdd(num_chunks, total >> 16);
    unsigned first_rank = 0;
    if (taken > 0) first_rank = atomicAdd(parts.num_chunks_of_part + first_part + part, taken);
    __syncthreads();
    if constexpr (writes_packs) stage_kept();
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      const unsigned counter = places[i] & 0xffffu;
      const unsigned at = storage.begins[counter] + (places[i] >> 16);
      if (counter < most_parts) {
        storage.words[at] = words[i];
        if constexpr (has_payload) storage.payloads[at] = payloads[i];
      }
    }
    if (threadIdx.x == 0) storage.first_chunk = first_chunk;
    __syncthreads();
    if (has_part) {
      const unsigned split = begin + detail::least(written, room);
      storage.staged[part] = {split, begin + written};
      if constexpr (writes_packs) storage.kept[part] = kept;
      storage.first[part] = static_cast<unsigned long long>(chunk) * group_chunk_rows + filled - begin;
      filled += written;
      if (taken > 0) {
        const unsigned taken_first = storage.first_chunk + (before >> 16);
        storage.second[part] = static_cast<unsigned long long>(taken_first) * group_chunk_rows - split;
        STRATA_UNROLL_N(1)
        for (unsigned i = 0; i < taken; ++i) {
          parts.chunks[taken_first + i] = {first_part + part, first_rank + i};
          parts.rows[taken_first + i] = group_chunk_rows;
        }
        chunk = taken_first + taken - 1;
        has_chunk = true;
        filled -= taken * group_chunk_rows;
      }
    }
    __syncthreads();
    load_next();
    write(total & 0xffffu);
  }

  /// Ends all chunks, before rows of other parts are moved, or after the last row.
  STRATA_D void end_chunks() {
    if (has_chunk) parts.rows[chunk] = filled;
    has_chunk = false;
    filled = group_chunk_rows;
  }

 private:
  /// Stages the rows that the last tile has kept, before the rows of this tile.
  STRATA_D void stage_kept() {
    STRATA_UNROLL_N(1)
    for (unsigned i = threadIdx.x; i < most_parts * sector_rows >> copies_log; i += unsigned{threads}) {
      const unsigned part = i / sector_rows;
      const unsigned rank = i % sector_rows;
      if (rank >= storage.kept[part]) continue;
      const unsigned at = storage.begins[part << copies_log] + rank;
      storage.words[at] = storage.kept_words[i];
      if constexpr (has_payload) storage.payloads[at] = storage.kept_payloads[i];
    }
  }
  /// Writes `rows` staged rows to chunks, a pack at a time, and keeps those that fill no sector.
  STRATA_D void write(unsigned rows) {
    STRATA_UNROLL_N(1)
    for (unsigned at = threadIdx.x * pack_rows; at < rows; at += unsigned{threads} * pack_rows) {
      // All rows of a pack are of one part, so its first row tells the part.
      const unsigned part = part_of(storage.words[at]);
      const staged_part staged = storage.staged[part];
      if (writes_packs && at >= staged.end) {
        const unsigned end = staged.end + storage.kept[part];
        const unsigned to = part * sector_rows + at - staged.end;
        STRATA_UNROLL_N(1)
        for (unsigned k = 0; k < pack_rows && at + k < end; ++k) {
          storage.kept_words[to + k] = storage.words[at + k];
          if constexpr (has_payload) storage.kept_payloads[to + k] = storage.payloads[at + k];
        }
        continue;
      }
      const unsigned long long to = (at < staged.split ? storage.first : storage.second)[part] + at;
      if (writes_packs && at + pack_rows <= staged.end) {
        copy_pack(storage.words + at, parts.words + to);
        if constexpr (has_payload) copy_pack(storage.payloads + at, parts.payloads + to);
        continue;
      }
      STRATA_UNROLL_N(1)
      for (unsigned k = 0; k < pack_rows && at + k < staged.end; ++k) {
        parts.words[to + k] = storage.words[at + k];
        if constexpr (has_payload) parts.payloads[to + k] = storage.payloads[at + k];
      }
    }
  }
  /// Copies a pack from shared to device memory.
  template <class T>
  STRATA_D static void copy_pack(const T* from, T* to) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
      constexpr int width = 16 / static_cast<int>(sizeof(T));
      STRATA_UNROLL
      for (int i = 0; i < group_pack_rows; i += width) {
        item_vector<T, width> vector;
        vector.load(from + i);
        vector.store_global(to + i);
      }
    } else {
      STRATA_UNROLL
      for (int i = 0; i < group_pack_rows; ++i) to[i] = from[i];
    }
  }
};

/// The first pass: moves the rows of the call. Rows of frequent keys are not moved but combined.
template <class Policy, class Types, class Aggregates, class Rows, int Bits>
struct AgentGroupFirstPass {
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Row = typename Types::Row;
  using Key = typename Types::Key;
  using Mover = AgentGroupParts<Policy, Types, Bits>;
  using Parts = typename Mover::Parts;
  using Plan = group_hash_plan<Slot>;
  static constexpr int threads = Mover::threads;
  static constexpr int thread_items = Mover::thread_items;
  static constexpr std::size_t entry_bytes = sizeof(Slot) + sizeof(States);
  static constexpr unsigned frequent_slots = group_frequent_slots<entry_bytes>;
  template <unsigned ReplicaLog>
  using Replicated = group_shared_table<Types, Aggregates, (frequent_slots << ReplicaLog)>;
  /// True if a block needs more shared memory than compute capability 7.5 allows.
  template <unsigned ReplicaLog>
  static constexpr bool exceeds_64_kib = sizeof(typename Mover::TempStorage) +
                                             sizeof(typename Replicated<ReplicaLog>::TempStorage) >
                                         65536;
  /// Each state has 2^replica_log copies. Entries of up to half of `group_most_entry_bytes` have two copies. But if one
  /// copy fits in the shared memory of compute capability 7.5 and two do not, there is one.
  static constexpr unsigned replica_log =
      entry_bytes <= group_most_entry_bytes / 2 && (exceeds_64_kib<0> || !exceeds_64_kib<1>) ? 1 : 0;
  using Frequent = Replicated<replica_log>;

  struct TempStorage {
    typename Mover::TempStorage mover;
    typename Frequent::TempStorage frequent;
  };

  TempStorage& storage;
  const Rows& rows;
  Plan* plan;
  const Parts& parts;
  States* frequent_states;
  unsigned* sketch;

  STRATA_D void run(std::size_t num_items) {
    Frequent frequent(storage.frequent, replica_log, frequent_slots);
    const unsigned num_frequent = plan->num_frequent;
    if (num_frequent > 0) {
      frequent.clear();
      __syncthreads();
      for (unsigned i = threadIdx.x; i < num_frequent; i += unsigned{threads}) {
        frequent.put(frequent_slot(i), plan->frequent[i]);
      }
    }
    Mover mover(storage.mover, parts, plan->num_chunks, 0, Bits);
    const std::size_t tiles = detail::ceiling_divide(num_items, std::size_t{Mover::tile_items});
    Key keys[thread_items];
    Payload payloads[thread_items]{};
    bool is_loaded = false;
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const std::size_t first = tile * Mover::tile_items;
      Slot words[thread_items]{};
      unsigned left = (1u << (thread_items - 1) << 1) - 1;
      if (!is_loaded) is_loaded = load_vectors(first, num_items, keys, payloads);
      if (is_loaded) {
        STRATA_UNROLL
        for (int i = 0; i < thread_items; ++i) words[i] = Rows::mixed(keys[i]);
        if constexpr (Rows::drops_rows) left = grouped(first);
      } else {
        left = load(first, num_items, words, payloads);
      }
      count_groups(left, words);
      const unsigned moved = num_frequent > 0 ? combine_frequent(frequent, left, words, payloads) : left;
      const std::size_t next = tile + gridDim.x;
      const auto load_next = [&] { is_loaded = load_vectors(next * Mover::tile_items, num_items, keys, payloads); };
      mover.move(moved, words, payloads, 0, next >= tiles, load_next);
    }
    mover.end_chunks();
    if (num_frequent == 0) return;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < num_frequent; i += unsigned{threads}) {
      Aggregates::add_in_memory(frequent_states + i, frequent.states(rows.aggregates, frequent_slot(i)));
    }
  }

 private:
  STRATA_D static std::size_t row_of(std::size_t tile_first, int pack) {
    return tile_first + static_cast<unsigned>(pack * threads) + threadIdx.x * unsigned{group_pack_rows};
  }
  /// Loads the rows of a tile if it is full and vectors may be read. All loads are in flight at the same time.
  STRATA_D bool load_vectors(std::size_t tile_first, std::size_t num_items, Key (&keys)[thread_items],
                             Payload (&payloads)[thread_items]) const {
    if (!rows.is_aligned || tile_first + Mover::tile_items > num_items) return false;
    STRATA_UNROLL
    for (int pack = 0; pack < thread_items; pack += group_pack_rows) {
      Key pack_keys[group_pack_rows];
      Payload pack_payloads[group_pack_rows];
      rows.load_keys(row_of(tile_first, pack), pack_keys);
      rows.load_payloads(row_of(tile_first, pack), pack_payloads);
      STRATA_UNROLL
      for (int k = 0; k < group_pack_rows; ++k) {
        keys[pack + k] = pack_keys[k];
        payloads[pack + k] = pack_payloads[k];
      }
    }
    return true;
  }
  /// Returns a bit for each row of a full tile that is in a group.
  STRATA_D unsigned grouped(std::size_t tile_first) const {
    unsigned left = 0;
    STRATA_UNROLL
    for (int pack = 0; pack < thread_items; pack += group_pack_rows) {
      left |= rows.grouped(row_of(tile_first, pack)) << pack;
    }
    return left;
  }
  /// Loads the rows of any tile. Returns a bit for each row that was loaded.
  STRATA_D unsigned load(std::size_t tile_first, std::size_t num_items, Slot (&words)[thread_items],
                         Payload (&payloads)[thread_items]) const {
    unsigned left = 0;
    STRATA_UNROLL
    for (int pack = 0; pack < thread_items; pack += group_pack_rows) {
      const std::size_t first = row_of(tile_first, pack);
      if (first >= num_items) break;
      Slot pack_words[group_pack_rows]{};
      Payload pack_payloads[group_pack_rows]{};
      left |= rows.load(first, num_items - first, pack_words, pack_payloads) << pack;
      STRATA_UNROLL
      for (int k = 0; k < group_pack_rows; ++k) {
        words[pack + k] = pack_words[k];
        payloads[pack + k] = pack_payloads[k];
      }
    }
    return left;
  }
  /// Returns the slot of a frequent key: one of its two home slots.
  STRATA_D unsigned frequent_slot(unsigned i) const {
    const unsigned home = detail::group_frequent_home<Types>(plan->frequent[i]);
    unsigned before = 0;
    for (unsigned j = 0; j < i; ++j) before += detail::group_frequent_home<Types>(plan->frequent[j]) == home ? 1 : 0;
    return home + before;
  }
  /// Combines the rows of frequent keys. Returns the bits of the other rows.
  STRATA_D unsigned combine_frequent(Frequent& frequent, unsigned left, const Slot (&words)[thread_items],
                                     const Payload (&payloads)[thread_items]) const {
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      Slot first, second;
      frequent.load_home(words[i], first, second);
      const bool is_first = Frequent::is_found(words[i], first);
      if ((left >> i & 1) == 0 || !(is_first || Frequent::is_found(words[i], second))) continue;
      frequent.add_found(frequent.home(words[i]) + (is_first ? 0 : 1), Types::states_of(rows.aggregates, payloads[i]));
      left &= ~(1u << i);
    }
    return left;
  }
  /// Sets bits of the sketch, for one in `group_sketch_one_in` hashes.
  STRATA_D void count_groups(unsigned left, const Slot (&words)[thread_items]) const {
    unsigned some = 0;
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      some |= static_cast<unsigned>(words[i]) % group_sketch_one_in == 0 ? 1u << i : 0;
    }
    some &= left;
    STRATA_UNROLL_N(1)
    while (some != 0) {
      const int row = __ffs(static_cast<int>(some)) - 1;
      some &= some - 1;
      Slot word = words[0];
      STRATA_UNROLL
      for (int i = 1; i < thread_items; ++i) word = i == row ? words[i] : word;
      const unsigned bit = static_cast<unsigned>(word / group_sketch_one_in) % group_sketch_bits;
      const unsigned mask = 1u << bit % 32;
      if ((platform::load_relaxed(sketch + bit / 32) & mask) == 0) atomicOr(sketch + bit / 32, mask);
    }
  }
};

/// Lists the chunks of the first pass by their parts. With many groups, it splits each part into smaller parts, and
/// lists the chunks of these. All blocks are resident.
template <class Policy, class Types, int Bits>
struct AgentGroupSecondPass {
  using Slot = typename Types::Slot;
  using Payload = typename Types::Payload;
  using Mover = AgentGroupParts<Policy, Types, Bits>;
  using Parts = typename Mover::Parts;
  using Plan = group_hash_plan<Slot>;
  static constexpr int threads = Mover::threads;
  static constexpr int thread_items = Mover::thread_items;
  static constexpr unsigned first_parts = Mover::most_parts;
  static constexpr int packs = thread_items / group_pack_rows;
  static constexpr unsigned warps = static_cast<unsigned>(threads / warp_threads);
  // not for users: each lane of a warp loads one pack of a chunk
  static_assert(group_chunk_rows == unsigned{warp_threads * group_pack_rows}, "AgentGroupSecondPass: packs of a chunk");
  using Reduce = BlockReduce<unsigned, threads>;

  struct TempStorage {
    typename Mover::TempStorage mover;
    typename Reduce::TempStorage reduce;
    unsigned begins[first_parts];
    unsigned first;
    int bits;
  };

  TempStorage& storage;
  Plan* plan;
  const Parts& from;
  const Parts& to;
  const unsigned* sketch;

  STRATA_D void run(double groups_of_part, int most_bits) {
    grid_counter_barrier barrier(&plan->arrivals);
    list_first_pass();
    const int bits = choose_bits(groups_of_part, most_bits);
    barrier.synchronize();
    if (bits == 0) return;
    move_parts(bits);
    barrier.synchronize();
    const unsigned num_parts = first_parts << bits;
    begin_lists(num_parts);
    barrier.synchronize();
    list_chunks(to, plan->num_chunks + 1);
  }

 private:
  STRATA_D static unsigned rank() { return blockIdx.x * unsigned{threads} + threadIdx.x; }

  STRATA_D void list_first_pass() {
    unsigned begin = 0;
    const unsigned chunks = threadIdx.x < first_parts ? from.num_chunks_of_part[threadIdx.x] : 0;
    typename Mover::Scan(storage.mover.scan).ExclusiveSum(chunks, begin);
    if (threadIdx.x < first_parts) {
      storage.begins[threadIdx.x] = begin;
      if (blockIdx.x == 0) from.begins[threadIdx.x] = begin;
    }
    __syncthreads();
    const unsigned num_chunks = platform::load_relaxed(plan->num_chunks);
    for (unsigned i = rank(); i < num_chunks; i += gridDim.x * unsigned{threads}) {
      const group_chunk chunk = from.chunks[i];
      from.list[storage.begins[chunk.part] + chunk.rank] = detail::listed_group_chunk(i, from.rows[i], chunk.part);
    }
  }

  /// Returns how many more bits must split the parts, so that a part has at most `groups_of_part` groups on average.
  /// The sketch gives the number of groups.
  STRATA_D int choose_bits(double groups_of_part, int most_bits) {
    unsigned clear = 0;
    for (unsigned i = threadIdx.x; i < group_sketch_bits / 32; i += unsigned{threads}) {
      clear += static_cast<unsigned>(__popc(~sketch[i]));
    }
    clear = Reduce(storage.reduce).Sum(clear);
    if (threadIdx.x == 0) {
      const double groups = -::log(static_cast<double>(detail::most(clear, 1u)) / group_sketch_bits) *
                            group_sketch_bits * group_sketch_one_in;
      int bits = 0;
      while (bits < most_bits && groups > groups_of_part * static_cast<double>(first_parts << bits)) ++bits;
      storage.bits = bits;
      if (blockIdx.x == 0) plan->second_bits = static_cast<unsigned>(bits);
    }
    __syncthreads();
    return storage.bits;
  }

  /// Moves rows to smaller parts. Each block takes neighbouring chunks of the list.
  STRATA_D void move_parts(int bits) {
    Mover mover(storage.mover, to, plan->num_chunks + 1, Bits, bits);
    const unsigned num_chunks = platform::load_relaxed(plan->num_chunks);
    const unsigned share = detail::ceiling_divide(num_chunks, gridDim.x);
    unsigned at = detail::least(blockIdx.x * share, num_chunks);
    const unsigned last = detail::least(at + share, num_chunks);
    while (at < last) {
      const unsigned part = load_part(at);
      const bool is_last_part = part + 1 == first_parts;
      const unsigned end = detail::least(last, is_last_part ? num_chunks : storage.begins[part + 1]);
      move_chunks(mover, at, end, part << bits);
      at = end;
      mover.end_chunks();
    }
  }
  STRATA_D unsigned load_part(unsigned at) const { return from.list[at].part; }

  /// The chunks of a tile whose rows a warp moves.
  struct tile_chunks {
    group_listed_chunk listed[packs];
  };
  STRATA_D tile_chunks load_list(unsigned at, unsigned end) const {
    tile_chunks tile;
    STRATA_UNROLL
    for (int i = 0; i < packs; ++i) {
      const unsigned listed = at + static_cast<unsigned>(i) * warps + threadIdx.x / unsigned{warp_threads};
      tile.listed[i] = {0, 0, 0};
      if (listed < end) tile.listed[i] = from.list[listed];
    }
    return tile;
  }
  STRATA_D unsigned load_rows(const tile_chunks& tile, Slot (&words)[thread_items],
                              Payload (&payloads)[thread_items]) const {
    const unsigned begin = platform::lane_id() * unsigned{group_pack_rows};
    bool is_full = true;
    STRATA_UNROLL
    for (int i = 0; i < packs; ++i) is_full = is_full && tile.listed[i].rows == group_chunk_rows;
    unsigned left = 0;
    STRATA_UNROLL
    for (int i = 0; i < packs; ++i) {
      const group_listed_chunk& one = tile.listed[i];
      const std::size_t first = static_cast<std::size_t>(one.chunk) * group_chunk_rows + begin;
      // If all are full, all loads are in flight at the same time.
      const unsigned valid = is_full ? unsigned{group_pack_rows} : one.rows > begin ? one.rows - begin : 0;
      left |= load_pack(first, valid, i, words, payloads);
    }
    return left;
  }

  /// Moves the rows of neighbouring chunks of a part.
  STRATA_D void move_chunks(Mover& mover, unsigned at, unsigned end, unsigned first_part) const {
    constexpr unsigned chunks = Mover::tile_items / group_chunk_rows;
    Slot words[thread_items]{};
    Payload payloads[thread_items]{};
    unsigned left = load_rows(load_list(at, end), words, payloads);
    tile_chunks next = load_list(at + chunks, end);
    for (; at < end; at += chunks) {
      unsigned next_left = 0;
      const auto load_next = [&] {
        next_left = load_rows(next, words, payloads);
        next = load_list(at + 2 * chunks, end);
      };
      mover.move(left, words, payloads, first_part, at + chunks >= end, load_next);
      left = next_left;
    }
  }

  STRATA_D unsigned load_pack(std::size_t first, unsigned valid, int pack, Slot (&words)[thread_items],
                              Payload (&payloads)[thread_items]) const {
    Slot pack_words[group_pack_rows]{};
    Payload pack_payloads[group_pack_rows]{};
    const unsigned loaded = detail::load_group_chunk_pack(from, first, valid, pack_words, pack_payloads);
    STRATA_UNROLL
    for (int k = 0; k < group_pack_rows; ++k) {
      words[pack * group_pack_rows + k] = pack_words[k];
      payloads[pack * group_pack_rows + k] = pack_payloads[k];
    }
    return loaded << pack * group_pack_rows;
  }

  /// Reserves a range of the list for each part. The ranges come in any order.
  STRATA_D void begin_lists(unsigned num_parts) {
    for (unsigned first = blockIdx.x * unsigned{threads}; first < num_parts; first += gridDim.x * unsigned{threads}) {
      const unsigned part = first + threadIdx.x;
      const unsigned chunks = part < num_parts ? platform::load_relaxed(to.num_chunks_of_part + part) : 0;
      unsigned begin = 0;
      unsigned total = 0;
      typename Mover::Scan(storage.mover.scan).ExclusiveSum(chunks, begin, total);
      if (threadIdx.x == 0) storage.first = atomicAdd(&plan->num_listed, total);
      __syncthreads();
      if (part < num_parts) to.begins[part] = storage.first + begin;
      __syncthreads();
    }
  }
  STRATA_D void list_chunks(const Parts& parts, const unsigned* number) {
    const unsigned num_chunks = platform::load_relaxed(number);
    for (unsigned i = rank(); i < num_chunks; i += gridDim.x * unsigned{threads}) {
      const group_chunk chunk = parts.chunks[i];
      parts.list[parts.begins[chunk.part] + chunk.rank] = detail::listed_group_chunk(i, parts.rows[i], chunk.part);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

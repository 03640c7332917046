// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/group_by/hash_plan.cuh>
#include <strata/device/group_by/sample.cuh>
#include <strata/device/group_by/shared_table.cuh>
#include <strata/device/group_by/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the first kernel, among them the memory that it clears for the other kernels.
template <class Slot, class States>
struct group_table_arguments {
  group_hash_plan<Slot>* plan;
  group_table_in_memory<Slot, States> table;
  States* frequent_states;
  unsigned long long* sample;  // the table of the sample
  unsigned* cleared;           // words that later kernels need cleared: the sketch, and the numbers of chunks of parts
  std::size_t cleared_words;
  // True if there are so many rows that they may be partitioned. Then a sample is taken, unless keys have a range.
  bool may_partition;
  grid_barrier_arguments barrier;
};

/// The first kernel of a call whose groups may come in any order. All blocks are resident.
///
///     all blocks: clear the tables in device memory
///     ------------------------------------------------------------------ barrier
///     if there are many rows, and no range of keys: count the keys of a sample in a table
///     ------------------------------------------------------------------ barrier
///     count the different keys in the table
///     ------------------------------------------------------------------ barrier; the end, if rows are to be moved
///     each block: combine its share of the rows in a table in shared memory; a row that finds no slot goes to the
///     table in device memory; at the end, all entries go there
///     ------------------------------------------------------------------ barrier
///     each block: write the groups in its part of the table in device memory
///
/// If a block finds that too many rows miss its table, or the table in device memory is too full, all blocks end, and
/// rows are partitioned.
template <class Policy, class Types, class Aggregates, class Rows, class Output>
struct AgentGroupTable {
  using Word = typename Types::Word;
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Row = typename Types::Row;
  using Arguments = group_table_arguments<Slot, States>;
  using Plan = group_hash_plan<Slot>;

  static constexpr int threads = Policy::tuning.hash_threads;
  static constexpr int thread_items =
      detail::ceiling_divide(Policy::tuning.hash_items_per_thread, group_pack_rows) * group_pack_rows;
  static constexpr unsigned tile_items = static_cast<unsigned>(warp_threads * thread_items);
  static constexpr unsigned warps = static_cast<unsigned>(threads / warp_threads);
  static constexpr auto table_slots =
      static_cast<unsigned>(group_by_hash_slots<Policy, sizeof(Slot) + sizeof(States)>::value);
  static constexpr unsigned max_probes = 16;
  // With more groups, many rows miss their home slots.
  static constexpr unsigned few_groups = table_slots / 4;
  using Table = group_shared_table<Types, Aggregates, table_slots>;
  static constexpr Slot empty = Table::empty;

  // Rows of a sample, and slots of the table that counts them.
  static constexpr unsigned sample_rows = detail::least(static_cast<unsigned>(threads) * 16u, group_sample_rows);
  static constexpr unsigned sample_slots = sample_rows / 2 * 3;

  static constexpr unsigned sampled_without_key = 0x8000u;
  // A key with at least this many rows in the sample is frequent.
  static constexpr unsigned frequent_rows = detail::most(sample_rows / 1024, 4u);
  // not for users: follows from the number of threads
  static_assert(sample_rows / frequent_rows <= group_most_sampled_frequent, "the sample has too many frequent keys");

  struct TempStorage {
    union {
      typename Table::TempStorage table;
      unsigned long long sampled_frequent[group_most_sampled_frequent];
    };
    double groups;  // estimated from the sample
    unsigned long long first_group;
    unsigned is_partitioned, replica_log, spilled, stop, new_groups, num_entries, kept;
    Slot frequent_words[group_most_frequent];
    bool is_last;
  };

  TempStorage& storage;
  const Rows& rows;
  const Output& output;
  const Arguments& arguments;

  STRATA_D void run(std::size_t num_items) {
    Plan& plan = *arguments.plan;
    grid_barrier<threads> barrier(arguments.barrier);
    if (blockIdx.x == 0 && threadIdx.x == 0) clear_plan();
    clear_memory();
    barrier.arrive();
    barrier.wait();
    if (arguments.may_partition && num_items > 0 && !rows.is_dense()) sample(barrier, num_items);
    bool is_partitioned = choose_method();
    if (!is_partitioned) {
      combine(num_items);
      barrier.arrive();
      barrier.wait();
      is_partitioned = platform::load_relaxed(&plan.is_abandoned) != 0;
      if (!is_partitioned) {
        write_groups();
      } else if (rows.is_dense()) {
        // The range of keys was wrong. No sample has been taken, because of the range, but the other kernels need one.
        sample(barrier, num_items);
      }
    }
    if (is_partitioned && blockIdx.x == 0) {
      list_frequent(num_items);
      if (threadIdx.x == 0) plan.is_partitioned = 1;
    }
    // leave() resets the barrier, for the next replay of a graph.
    barrier.leave(storage.is_last);
  }

  /// True if rows were not partitioned. Block 0 calls this after run(). Then number() is the number of groups.
  STRATA_D bool has_number() const { return platform::load_relaxed(&arguments.plan->is_partitioned) == 0; }
  STRATA_D unsigned long long number() const { return platform::load_relaxed(&arguments.plan->num_groups); }

 private:
  // ------------------------------------------------------------------ the plan

  STRATA_D void clear_plan() {
    Plan& plan = *arguments.plan;
    plan.departures = plan.is_abandoned = plan.is_partitioned = 0;
    plan.sampled = {0, 0, 0};
    plan.num_sampled_frequent = plan.num_frequent = 0;
    plan.arrivals = plan.leaving = plan.ticket = 0;
    plan.num_chunks[0] = plan.num_chunks[1] = 0;
    plan.second_bits = plan.num_listed = 0;
    plan.num_groups = plan.num_written = 0;
  }

  /// Decides from the sample whether rows are partitioned, and how many copies of its states a table has. All blocks
  /// decide the same.
  STRATA_D bool choose_method() {
    const Plan& plan = *arguments.plan;
    if (threadIdx.x == 0) {
      storage.groups = detail::estimated_groups({platform::load_relaxed(&plan.sampled.different),
                                                 platform::load_relaxed(&plan.sampled.once),
                                                 platform::load_relaxed(&plan.sampled.twice)});
    }
    __syncthreads();
    double groups = storage.groups;
    // The estimate is a lower bound. It is too low if some keys are frequent among many others. With keys that follow
    // Zipf's law, there are about 1 + of_row^2 times as many groups.
    const double of_row = groups / sample_rows;
    if (groups > few_groups && has_outliers(4 / of_row + 8)) groups *= 1 + of_row * of_row;
    if (threadIdx.x == 0) {
      storage.is_partitioned = arguments.may_partition && groups > 0.625 * table_slots ? 1 : 0;
      // In a range, each key has a slot of its own, so as many slots as keys suffice.
      const double slots = rows.is_dense() ? rows.num_keys() : 16 * groups;
      unsigned replica_log = arguments.may_partition ? 5 : 0;
      while (replica_log > 0 && (table_slots >> replica_log < 64 || slots > table_slots >> replica_log)) --replica_log;
      storage.replica_log = replica_log;
    }
    __syncthreads();
    return storage.is_partitioned != 0;
  }

  /// True if several keys have more than this number of rows in the sample.
  STRATA_D bool has_outliers(double most_rows) const {
    const unsigned sampled = platform::load_relaxed(&arguments.plan->num_sampled_frequent);
    int found = 0;
    for (unsigned first = 0; first < sampled; first += unsigned{threads}) {
      const unsigned i = first + threadIdx.x;
      const auto* const weight = arguments.plan->sampled_frequent + i;
      const auto is_outlier = [&] { return static_cast<double>(platform::load_relaxed(weight) >> 32) > most_rows; };
      found += __syncthreads_count(i < sampled && is_outlier() ? 1 : 0);
    }
    return static_cast<unsigned>(found) >= sample_rows / 512;
  }

  /// Lists the most frequent keys of the sample that find room in their two home slots of the table of frequent keys.
  /// Only block 0 calls this.
  STRATA_D void list_frequent(std::size_t num_items) {
    Plan& plan = *arguments.plan;
    const unsigned sampled = platform::load_relaxed(&plan.num_sampled_frequent);
    const unsigned listed = detail::least(sampled, group_most_frequent);
    if (threadIdx.x == 0) storage.kept = 0;
    for (unsigned i = threadIdx.x; i < sampled; i += unsigned{threads}) {
      storage.sampled_frequent[i] = platform::load_relaxed(plan.sampled_frequent + i);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < sampled; i += unsigned{threads}) {
      const unsigned long long weight = storage.sampled_frequent[i];
      unsigned before = 0;
      for (unsigned j = 0; j < sampled; ++j) before += storage.sampled_frequent[j] > weight ? 1 : 0;
      const std::size_t row = detail::group_sample_row(static_cast<unsigned>(weight), num_items, sample_rows);
      if (before < listed) storage.frequent_words[before] = Rows::mixed(detail::item_at(rows.keys, row));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < listed; i += unsigned{threads}) {
      const Slot word = storage.frequent_words[i];
      const unsigned home = detail::group_frequent_home<Types>(word);
      unsigned before = 0;
      for (unsigned j = 0; j < i; ++j) {
        before += detail::group_frequent_home<Types>(storage.frequent_words[j]) == home ? 1 : 0;
      }
      if (before < 2 && !(Table::has_extra_slot && word == empty)) plan.frequent[atomicAdd(&storage.kept, 1u)] = word;
    }
    __syncthreads();
    if (threadIdx.x == 0) plan.num_frequent = storage.kept;
  }

  /// Counts the rows of each key of a sample in a table in device memory, then the keys in the table. A slot holds the
  /// index of a sampled row, the upper 16 bits of the mixed word of its key, a bit that is set if the row has no key,
  /// and the number of sampled rows with this key.
  STRATA_D void sample(grid_barrier<threads>& barrier, std::size_t num_items) {
    Plan& plan = *arguments.plan;
    // Each multiprocessor gets some warps of the work.
    const unsigned first_warp = threadIdx.x / warp_threads * gridDim.x + blockIdx.x;
    for (unsigned warp = first_warp; warp < sample_rows / warp_threads; warp += warps * gridDim.x) {
      add_to_sample(warp * warp_threads + platform::lane_id(), num_items);
    }
    barrier.arrive();
    barrier.wait();
    for (unsigned warp = first_warp; warp < sample_slots / warp_threads; warp += warps * gridDim.x) {
      const auto there = platform::load_relaxed(arguments.sample + warp * warp_threads + platform::lane_id());
      const unsigned number = number_in_sample(there);
      add_number(&plan.sampled.different, number > 0);
      add_number(&plan.sampled.once, number == 1);
      add_number(&plan.sampled.twice, number == 2);
      if (number < frequent_rows || (there & sampled_without_key) != 0) continue;
      // Greater for keys with more rows. The row decides between equal numbers.
      const auto weight = static_cast<unsigned long long>(number) << 32 | there >> 32;
      plan.sampled_frequent[atomicAdd(&plan.num_sampled_frequent, 1u)] = weight;
    }
    barrier.arrive();
    barrier.wait();
  }

  /// Returns the number of sampled rows that a slot has counted.
  STRATA_D static unsigned number_in_sample(unsigned long long slot) {
    return static_cast<unsigned>(slot) & (sampled_without_key - 1);
  }

  /// Counts row i of the sample. All lanes of a warp call this. Lanes with the same key make one addition, because all
  /// rows may have the same key.
  STRATA_D void add_to_sample(unsigned i, std::size_t num_items) const {
    const std::size_t row = detail::group_sample_row(i, num_items, sample_rows);
    // Rows without a key count as one group.
    bool has_key = true;
    if constexpr (Rows::drops_rows) has_key = rows.keys.has_keys(row);
    const Slot mixed = has_key ? Rows::mixed(detail::item_at(rows.keys, row)) : Slot{0};
    unsigned slot = static_cast<unsigned>(mixed) % sample_slots;
    const unsigned tag =
        static_cast<unsigned>(mixed >> (8 * sizeof(Slot) - 16)) << 16 | (has_key ? 0u : sampled_without_key);
    const unsigned peers = __match_any_sync(full_warp_mask, tag ^ slot);
    if (__ffs(static_cast<int>(peers)) - 1 != static_cast<int>(platform::lane_id())) return;
    const auto number = static_cast<unsigned>(__popc(peers));
    STRATA_UNROLL_N(1)
    for (;; slot = slot + 1 == sample_slots ? 0 : slot + 1) {
      unsigned long long* const place = arguments.sample + slot;
      unsigned long long there = platform::load_relaxed(place);
      if (there == 0) {
        there = atomicCAS(place, 0ull, static_cast<unsigned long long>(i) << 32 | tag | number);
        if (there == 0) return;
      }
      if (static_cast<unsigned>(there) - number_in_sample(there) == tag) {
        atomicAdd(place, static_cast<unsigned long long>(number));
        return;
      }
    }
  }

  /// Adds the number of lanes with a true flag. All lanes of a warp call this.
  STRATA_D static void add_number(unsigned* sum, bool flag) {
    const auto number = static_cast<unsigned>(__popc(__ballot_sync(full_warp_mask, flag ? 1 : 0)));
    if (platform::lane_id() == 0 && number > 0) atomicAdd(sum, number);
  }

  // ------------------------------------------------------------------ rows

  STRATA_D static std::size_t rank() { return std::size_t{blockIdx.x} * unsigned{threads} + threadIdx.x; }
  STRATA_D static std::size_t all_threads() { return std::size_t{gridDim.x} * unsigned{threads}; }

  STRATA_D void clear_memory() {
    const auto& table = arguments.table;
    for (std::size_t slot = rank(); slot <= table.slots; slot += all_threads()) {
      table.words[slot] = empty;
      Aggregates::template set_identity<Row>(table.states[slot]);
    }
    for (std::size_t i = rank(); i < group_most_frequent; i += all_threads()) {
      Aggregates::template set_identity<Row>(arguments.frequent_states[i]);
    }
    for (std::size_t i = rank(); i < arguments.cleared_words; i += all_threads()) arguments.cleared[i] = 0;
    if (!arguments.may_partition) return;
    for (std::size_t i = rank(); i < sample_slots; i += all_threads()) arguments.sample[i] = 0;
  }

  STRATA_D void combine(std::size_t num_items) {
    const std::size_t tiles = detail::ceiling_divide(num_items, std::size_t{tile_items});
    const std::size_t share = detail::ceiling_divide(tiles, std::size_t{gridDim.x});
    const unsigned replica_log = storage.replica_log;
    unsigned slots = table_slots >> replica_log;
    if (!arguments.may_partition) {
      // With few rows, the table has fewer slots, because clearing them takes time.
      while (slots > 64 && slots / 4 >= share * tile_items) slots /= 2;
    }
    Table table(storage.table, replica_log, slots);
    table.clear();
    if (threadIdx.x == 0) storage.spilled = storage.stop = storage.new_groups = 0;
    __syncthreads();
    const std::size_t first_tile = detail::least(blockIdx.x * share, tiles);
    const std::size_t last_tile = detail::least(first_tile + share, tiles);
    // A row that misses its home slots takes long. Loads ahead hide that, but with wide words they spill registers.
    constexpr bool is_wide = sizeof(Slot) > 4;
    if (is_wide && storage.groups <= few_groups) {
      add_tiles<!is_wide>(table, first_tile, last_tile, num_items);
    } else {
      add_tiles<true>(table, first_tile, last_tile, num_items);
    }
    // The flag is read before this barrier, because a thread that has passed the barrier may set the flag in `flush`.
    const bool is_stopped = __syncthreads_or(*static_cast<volatile unsigned*>(&storage.stop) != 0 ? 1 : 0) != 0;
    if (!is_stopped) flush(table);
    __syncthreads();
    if (threadIdx.x == 0 && storage.new_groups != 0) {
      atomicAdd(&arguments.plan->num_groups, static_cast<unsigned long long>(storage.new_groups));
    }
  }
  /// What a thread has of a tile. Bit i of `left` says that its row i exists and is in a group.
  struct tile_rows {
    Slot words[thread_items];
    Payload payloads[thread_items];
    unsigned left;
  };
  /// Combines the rows of some tiles. If `LoadsAhead` is true, a warp loads a tile while it combines the one before.
  template <bool LoadsAhead>
  STRATA_D void add_tiles(Table& table, std::size_t first_tile, std::size_t last_tile, std::size_t num_items) {
    std::size_t tile = first_tile + threadIdx.x / warp_threads;
    tile_rows here, next;
    here.left = tile < last_tile ? load(tile, num_items, here) : 0;
    const auto on_full = [&](Slot word, const States& states) {
      if (!add_to_memory(word, platform::load_relaxed(arguments.table.words + home_in_memory(word)), states)) stop();
      // A row that misses the table in shared memory costs as much as a hundred rows that do not.
      const std::size_t most_spilled = 512 + (tile - first_tile) * (tile_items / 64);
      if (arguments.may_partition && atomicAdd(&storage.spilled, 1u) >= most_spilled) stop();
    };
    while (tile < last_tile) {
      tile += warps;
      const bool is_stopped = *static_cast<volatile unsigned*>(&storage.stop) != 0;
      if (__any_sync(full_warp_mask, is_stopped ? 1 : 0) != 0) break;
      unsigned is_abandoned = 0;
      if (arguments.may_partition && threadIdx.x == 0)
        is_abandoned = platform::load_relaxed(&arguments.plan->is_abandoned);
      next.left = LoadsAhead && tile < last_tile ? load(tile, num_items, next) : 0;
      detail::add_group_rows<Types>(table, rows.aggregates, here.left, here.words, here.payloads, max_probes, on_full);
      if (is_abandoned != 0) atomicExch(&storage.stop, 1u);
      if (!LoadsAhead && tile < last_tile) next.left = load(tile, num_items, next);
      here = next;
    }
  }
  /// Adds the entries to the table in device memory: a thread looks for several words at a time.
  STRATA_D void flush(const Table& table) {
    constexpr unsigned batch = 4;
    STRATA_UNROLL_N(1)
    for (unsigned first = threadIdx.x; first < table.slots(); first += batch * unsigned{threads}) {
      Slot words[batch], there[batch];
      unsigned used = 0;
      STRATA_UNROLL
      for (unsigned k = 0; k < batch; ++k) {
        const unsigned slot = first + k * unsigned{threads};
        if (slot >= table.slots() || !table.is_used(slot)) continue;
        words[k] = table.word(slot);
        there[k] = platform::load_relaxed(arguments.table.words + home_in_memory(words[k]));
        used |= 1u << k;
      }
      STRATA_UNROLL
      for (unsigned k = 0; k < batch; ++k) {
        __syncwarp();  // lanes whose probes took longer join the others
        if ((used >> k & 1) == 0) continue;
        const States states = table.states(rows.aggregates, first + k * unsigned{threads});
        if (!add_to_memory(words[k], there[k], states)) stop();
      }
    }
    if (threadIdx.x == 0 && table.is_used(table_slots)) {
      if (!add_to_memory(empty, empty, table.states(rows.aggregates, table_slots))) stop();
    }
  }
  STRATA_D void stop() {
    atomicExch(&storage.stop, 1u);
    atomicExch(&arguments.plan->is_abandoned, 1u);
  }

  STRATA_D unsigned load(std::size_t tile, std::size_t num_items, tile_rows& loaded_rows) const {
    unsigned loaded = 0;
    STRATA_UNROLL
    for (int pack = 0; pack < thread_items; pack += group_pack_rows) {
      const std::size_t first = tile * tile_items + static_cast<unsigned>(pack * warp_threads) +
                                platform::lane_id() * unsigned{group_pack_rows};
      if (first >= num_items) break;
      Slot pack_words[group_pack_rows];
      Payload pack_payloads[group_pack_rows];
      const unsigned valid = rows.load(first, num_items - first, pack_words, pack_payloads);
      STRATA_UNROLL
      for (int k = 0; k < group_pack_rows; ++k) {
        loaded_rows.words[pack + k] = pack_words[k];
        loaded_rows.payloads[pack + k] = pack_payloads[k];
      }
      loaded |= valid << pack;
    }
    return loaded;
  }

  /// The slot in device memory in which a word is looked for first. Bits of both halves of the word choose it, because
  /// words with the same home in shared memory have the same lower bits.
  STRATA_D std::size_t home_in_memory(Slot word) const {
    if (rows.is_dense()) word = detail::mixed_group_word(word);
    return static_cast<std::size_t>(word >> (4 * sizeof(Slot)) ^ word) & (arguments.table.slots - 1);
  }
  /// Combines `states` into the slot of `word` in the table in device memory. `there` was read from the word's home.
  /// Returns false if the first `table.max_probes` slots have other words.
  STRATA_D bool add_to_memory(Slot word, Slot there, const States& states) {
    const auto& table = arguments.table;
    std::size_t slot = table.slots;
    if (Table::has_extra_slot && word == empty) {
      there = atomicCAS(table.words + slot, empty, Slot{0});
      if (there == empty) atomicAdd(&storage.new_groups, 1u);
    } else {
      slot = home_in_memory(word);
      STRATA_UNROLL_N(1)
      for (unsigned probe = 0;; there = platform::load_relaxed(table.words + slot)) {
        if (there == empty) {
          there = atomicCAS(table.words + slot, empty, word);
          if (there == empty) {
            atomicAdd(&storage.new_groups, 1u);
            break;
          }
        }
        if (there == word) break;
        if (++probe == table.max_probes) return false;
        slot = (slot + 1) & (table.slots - 1);
      }
    }
    Aggregates::add_in_memory(table.states + slot, states);
    return true;
  }

  // ------------------------------------------------------------------ groups

  /// Writes the groups of the table in device memory. Each block writes the groups of some slots at a time.
  STRATA_D void write_groups() {
    constexpr int batch = 4;
    const auto& table = arguments.table;
    const std::size_t per_batch = all_threads() * batch;
    for (std::size_t begin = 0; begin <= table.slots; begin += per_batch) {
      const std::size_t first = begin + std::size_t{blockIdx.x} * unsigned{threads} * batch + threadIdx.x;
      if (threadIdx.x == 0) storage.num_entries = 0;
      __syncthreads();
      Slot found[batch];
      unsigned offsets[batch];
      STRATA_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::size_t slot = first + static_cast<unsigned>(k * threads);
        found[k] = slot <= table.slots ? platform::load_relaxed(table.words + slot) : empty;
      }
      STRATA_UNROLL
      for (int k = 0; k < batch; ++k) offsets[k] = detail::group_entry_offset(&storage.num_entries, found[k] != empty);
      __syncthreads();
      if (threadIdx.x == 0 && storage.num_entries != 0) {
        storage.first_group =
            atomicAdd(&arguments.plan->num_written, static_cast<unsigned long long>(storage.num_entries));
      }
      __syncthreads();
      STRATA_UNROLL
      for (int k = 0; k < batch; ++k) {
        if (found[k] == empty) continue;
        const std::size_t slot = first + static_cast<unsigned>(k * threads);
        const auto group = static_cast<std::size_t>(storage.first_group) + offsets[k];
        output.store(group, rows.word_of(slot == table.slots ? empty : found[k]), table.states[slot]);
      }
      __syncthreads();
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

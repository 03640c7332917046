// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/group_by/hash_plan.cuh>
#include <strata/device/group_by/shared_table.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Combines the rows of a part in a table in shared memory, and writes its groups. Blocks take parts by tickets.
///
/// A part may have more groups than the table holds. Then the block stops, clears the table and reads the part twice
/// more: first it combines the rows in one half of the range of hashes, then the rows in the other half. A half that is
/// still too large is halved again. So a table that is too small costs time, but never a wrong result.
template <class Policy, class Types, class Aggregates, unsigned TableSlots, class Output>
struct AgentPartGroups {
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Row = typename Types::Row;
  using Plan = group_hash_plan<Slot>;
  using Parts = group_parts<Slot, Payload>;
  using Codes = group_codes<typename Types::Word, false>;
  using Table = group_shared_table<Types, Aggregates, TableSlots>;
  static constexpr int threads = Policy::tuning.part_threads;
  static constexpr unsigned warps = static_cast<unsigned>(threads / warp_threads);
  static constexpr unsigned slots_per_thread = TableSlots / static_cast<unsigned>(threads);
  static constexpr unsigned max_probes = detail::least(TableSlots, 256u);
  static constexpr int word_bits = 8 * static_cast<int>(sizeof(Slot));
  // not for users: a lane has one pack of a chunk
  static_assert(group_chunk_rows == unsigned{warp_threads * group_pack_rows}, "AgentPartGroups: packs of a chunk");

  struct TempStorage {
    typename Table::TempStorage table;
    unsigned long long first_group;
    unsigned num_entries;
    unsigned is_full;
    unsigned ticket;
  };

  /// The words of the part whose next `bits` bits, after the bits that choose the part, equal `value`.
  struct subset {
    int bits;
    Slot value;
  };

  TempStorage& storage;
  const Output& output;
  Plan* plan;

  STRATA_D void run(const Parts& parts, unsigned num_parts, int part_bits) {
    Table table(storage.table, 0, TableSlots);
    table.clear();
    for (;;) {
      if (threadIdx.x == 0) {
        storage.ticket = atomicAdd(&plan->ticket, 1u);
        storage.is_full = 0;
        storage.num_entries = 0;
      }
      __syncthreads();
      const unsigned part = storage.ticket;
      if (part >= num_parts) return;
      group_part(table, parts, part, part_bits);
    }
  }

  STRATA_D void write_frequent(const States* states) {
    const unsigned number = plan->num_frequent;
    if (number == 0) return;
    if (threadIdx.x == 0) {
      storage.first_group = atomicAdd(&plan->num_written, static_cast<unsigned long long>(number));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < number; i += unsigned{threads}) {
      output.store(static_cast<std::size_t>(storage.first_group) + i, Codes::word_of(plan->frequent[i]), states[i]);
    }
    __syncthreads();
  }

 private:
  STRATA_D void group_part(Table& table, const Parts& parts, unsigned part, int part_bits) {
    const unsigned num_chunks = parts.num_chunks_of_part[part];
    if (num_chunks == 0) {
      __syncthreads();
      return;
    }
    const group_listed_chunk* const chunks = parts.list + parts.begins[part];
    subset some{0, 0};
    for (;;) {
      add_rows(table, parts, chunks, num_chunks, part_bits, some);
      __syncthreads();
      const bool is_full = storage.is_full != 0;
      if (is_full) {
        __syncthreads();
        table.clear();
        if (threadIdx.x == 0) storage.is_full = 0;
        __syncthreads();
        some = {some.bits + 1, some.value << 1};
        continue;
      }
      write_entries(table);
      while (some.bits > 0 && (some.value & 1) != 0) some = {some.bits - 1, some.value >> 1};
      if (some.bits == 0) return;
      ++some.value;
    }
  }

  STRATA_D void add_rows(Table& table, const Parts& parts, const group_listed_chunk* chunks, unsigned num_chunks,
                         int part_bits, const subset& some) {
    const auto on_full = [&](Slot, const States&) { atomicExch(&storage.is_full, 1u); };
    unsigned at = threadIdx.x / warp_threads;
    Slot words[group_pack_rows]{}, next_words[group_pack_rows]{};
    Payload payloads[group_pack_rows]{}, next_payloads[group_pack_rows]{};
    unsigned left = at < num_chunks ? load(parts, chunks[at], words, payloads) : 0;
    group_listed_chunk next_chunk{0, 0, 0};
    if (at + warps < num_chunks) next_chunk = chunks[at + warps];
    while (at < num_chunks) {
      at += warps;
      const unsigned next = at < num_chunks ? load(parts, next_chunk, next_words, next_payloads) : 0;
      if (at + warps < num_chunks) next_chunk = chunks[at + warps];
      if (some.bits > 0) {
        STRATA_UNROLL
        for (int k = 0; k < group_pack_rows; ++k) {
          const Slot value = static_cast<Slot>(words[k] << part_bits) >> (word_bits - some.bits);
          if (value != some.value) left &= ~(1u << k);
        }
      }
      detail::add_group_rows<Types>(table, output.aggregates, left, words, payloads, max_probes, on_full);
      left = next;
      STRATA_UNROLL
      for (int k = 0; k < group_pack_rows; ++k) {
        words[k] = next_words[k];
        payloads[k] = next_payloads[k];
      }
      const bool is_full = *static_cast<volatile unsigned*>(&storage.is_full) != 0;
      if (__any_sync(full_warp_mask, is_full ? 1 : 0) != 0) break;
    }
  }
  STRATA_D static unsigned load(const Parts& parts, const group_listed_chunk& listed, Slot (&words)[group_pack_rows],
                                Payload (&payloads)[group_pack_rows]) {
    const unsigned first = platform::lane_id() * unsigned{group_pack_rows};
    if (first >= listed.rows) return 0;
    return detail::load_group_chunk_pack(parts, static_cast<std::size_t>(listed.chunk) * group_chunk_rows + first,
                                         listed.rows - first, words, payloads);
  }

  /// Writes all groups of the table, and clears it.
  STRATA_D void write_entries(Table& table) {
    unsigned offsets[slots_per_thread];
    STRATA_UNROLL
    for (unsigned i = 0; i < slots_per_thread; ++i) {
      offsets[i] = detail::group_entry_offset(&storage.num_entries, table.is_used(threadIdx.x + i * unsigned{threads}));
    }
    unsigned extra_offset = 0;
    const bool has_extra = threadIdx.x == 0 && table.is_used(TableSlots);
    if (has_extra) extra_offset = atomicAdd(&storage.num_entries, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
      storage.first_group = atomicAdd(&plan->num_written, static_cast<unsigned long long>(storage.num_entries));
    }
    __syncthreads();
    const auto first = static_cast<std::size_t>(storage.first_group);
    STRATA_UNROLL
    for (unsigned i = 0; i < slots_per_thread; ++i) {
      const unsigned slot = threadIdx.x + i * unsigned{threads};
      if (!table.is_used(slot)) continue;
      write(table, slot, first + offsets[i]);
      table.clear_slot(slot);
    }
    if (has_extra) {
      write(table, TableSlots, first + extra_offset);
      table.clear_extra_slot();
    }
    if (threadIdx.x == 0) storage.num_entries = 0;
    __syncthreads();
  }
  STRATA_D void write(const Table& table, unsigned slot, std::size_t group) const {
    output.store(group, Codes::word_of(table.word(slot)), table.states(output.aggregates, slot));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

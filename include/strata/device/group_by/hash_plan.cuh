// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/group_by/agent.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// \file
/// What the kernels of a call by hash tell each other, and what is kept in device memory.

/// Largest entry of a table: a word and states. So kernels need no more than the 64 KiB of shared memory that a block
/// may have on 7.5.
inline constexpr std::size_t group_most_entry_bytes = 64;
/// Frequent keys that a sample may find.
inline constexpr unsigned group_most_frequent = 64;
/// Slots of the table in which they are looked for, and the first of the two in which a mixed word is.
inline constexpr unsigned group_frequent_slots = 8 * group_most_frequent;
template <class Slot>
STRATA_D unsigned group_frequent_home(Slot mixed) {
  return static_cast<unsigned>(mixed) & (group_frequent_slots - 1) & ~1u;
}
/// Rows of a chunk.
inline constexpr unsigned group_chunk_rows = 128;
/// Bits of the sketch by which groups are counted while rows are partitioned. One hash in so many takes part.
inline constexpr unsigned group_sketch_bits = 1u << 17;
inline constexpr unsigned group_sketch_one_in = 1u << 10;

/// Written by the first kernel.
template <class Slot>
struct group_hash_plan {
  unsigned departures;      // of blocks of the first kernel, for its barrier
  unsigned is_abandoned;    // a table was too small: rows are partitioned
  unsigned is_partitioned;  // the result of the first kernel: the other kernels have work
  unsigned replica_log;     // each state has 2^replica_log copies in shared memory
  unsigned num_frequent;
  unsigned arrivals;                   // at barriers of the second pass
  unsigned leaving;                    // blocks of the last kernel
  unsigned ticket;                     // of parts
  unsigned num_chunks[2];              // of each pass
  unsigned second_bits;                // 2^second_bits parts of each part of the first pass
  unsigned num_listed;                 // chunks of the second pass in their list
  unsigned long long num_groups;       // groups in the table
  unsigned long long num_written;      // groups that have a position in the output
  Slot frequent[group_most_frequent];  // mixed words
};

/// A chunk of the rows of a part, and which of its chunks it is.
struct group_chunk {
  unsigned part;
  unsigned rank;
};
/// A chunk in the list of its part, and how many rows it has, at most `group_chunk_rows`. The part is that of the first
/// pass.
struct group_listed_chunk {
  unsigned chunk;
  unsigned short rows;
  unsigned short part;
};

STRATA_D group_listed_chunk listed_group_chunk(unsigned chunk, unsigned rows, unsigned part) {
  return {chunk, static_cast<unsigned short>(rows), static_cast<unsigned short>(part)};
}

/// Rows in chunks of parts.
template <class Slot, class Payload>
struct group_parts {
  Slot* words;  // mixed
  Payload* payloads;
  group_chunk* chunks;
  unsigned* rows;                // of each chunk
  group_listed_chunk* list;      // the chunks, those of a part next to each other
  unsigned* num_chunks_of_part;  // 0 at first
  unsigned* begins;              // where the list of a part begins
};

/// An open-addressing table in device memory. The slot behind all others is that of the word that marks a free slot.
template <class Slot, class States>
struct group_table_in_memory {
  Slot* words;
  States* states;
  std::size_t slots;  // a power of two
  unsigned max_probes;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/group_by/sample.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// \file
/// Data in device memory that the kernels of a call share, if its groups may come in any order.

/// Bytes of the largest entry of a table: a word and its states. With this bound, the kernels need at most 64 KiB of
/// shared memory by the policy for compute capability 7.5, where a block may have no more.
inline constexpr std::size_t group_most_entry_bytes = 64;
/// Upper bounds: keys that are frequent in a sample, and frequent keys that are listed.
inline constexpr unsigned group_most_sampled_frequent = 1024;
inline constexpr unsigned group_most_frequent = 64;
/// Slots of the table of frequent keys. With large entries it has fewer, so that the table and a tile of rows fit in
/// 64 KiB. group_frequent_home() returns the first of the two home slots of a mixed word in this table.
template <std::size_t EntryBytes>
inline constexpr unsigned group_frequent_slots = (EntryBytes <= 56 ? 8 : 4) * group_most_frequent;
template <class Types>
STRATA_D unsigned group_frequent_home(typename Types::Slot mixed) {
  constexpr unsigned slots = group_frequent_slots<sizeof(typename Types::Slot) + sizeof(typename Types::States)>;
  return static_cast<unsigned>(mixed) & (slots - 1) & ~1u;
}
/// The number of rows that a chunk can hold. A chunk is memory that one block fills with rows of one part.
inline constexpr unsigned group_chunk_rows = 128;
/// Bits of the sketch that counts groups while rows are partitioned. It counts only one of `group_sketch_one_in`
/// hashes, on average.
inline constexpr unsigned group_sketch_bits = 1u << 17;
inline constexpr unsigned group_sketch_one_in = 1u << 10;

/// What the kernels of a call tell each other. The first kernel initialises it.
template <class Slot>
struct group_hash_plan {
  unsigned departures;                 // blocks of the first kernel that have left its barrier
  unsigned is_abandoned;               // a table was too small: rows are partitioned
  unsigned is_partitioned;             // the result of the first kernel: the other kernels have work
  group_sample_counts sampled;         // the sum over the blocks of the first kernel
  unsigned num_sampled_frequent;       // keys that are frequent in the sample
  unsigned num_frequent;               // frequent keys whose rows are combined, not moved
  unsigned arrivals;                   // blocks that have arrived at barriers of the second pass
  unsigned leaving;                    // blocks of the last kernel that have ended
  unsigned ticket;                     // the next part for a block of the last kernel
  unsigned num_chunks[2];              // chunks taken in each pass
  unsigned second_bits;                // the second pass splits each part into 2^second_bits parts
  unsigned num_listed;                 // chunks of the second pass that have a place in the list
  unsigned long long num_groups;       // groups in the table
  unsigned long long num_written;      // groups that have a position in the output
  Slot frequent[group_most_frequent];  // mixed words of frequent keys
  // Of each frequent key: the number of its rows in the sample << 32 | the index in the sample of one of them.
  unsigned long long sampled_frequent[group_most_sampled_frequent];
};

/// A chunk's part, and its index among the chunks of the part.
struct group_chunk {
  unsigned part;
  unsigned rank;
};
/// An element of the list of chunks: the chunk, its number of rows, at most `group_chunk_rows`, and its part.
struct group_listed_chunk {
  unsigned chunk;
  unsigned short rows;
  unsigned short part;
};

STRATA_D group_listed_chunk listed_group_chunk(unsigned chunk, unsigned rows, unsigned part) {
  return {chunk, static_cast<unsigned short>(rows), static_cast<unsigned short>(part)};
}

/// The rows of all parts, in chunks.
template <class Slot, class Payload>
struct group_parts {
  Slot* words;  // mixed words of the rows
  Payload* payloads;
  group_chunk* chunks;
  unsigned* rows;                // number of rows of each chunk
  group_listed_chunk* list;      // all chunks; the chunks of a part lie side by side
  unsigned* num_chunks_of_part;  // must be 0 at first
  unsigned* begins;              // where the list of a part begins
};

/// An open-addressing table in device memory. A last, extra slot is for the key whose word equals the mark of a free
/// slot.
template <class Slot, class States>
struct group_table_in_memory {
  Slot* words;
  States* states;
  std::size_t slots;  // a power of two
  unsigned max_probes;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace metal_test {

// A replacement in one place of the text.
struct mutant {
  std::string name;
  std::string old_text;
  std::string new_text;
  int which = 0;  // which occurrence of the old text, from 0

  bool applies_to(const std::string& text) const { return find(text) != std::string::npos; }
  std::string apply(std::string text) const { return text.replace(find(text), old_text.size(), new_text); }

 private:
  std::size_t find(const std::string& text) const {
    std::size_t at = text.find(old_text);
    for (int i = 0; i < which && at != std::string::npos; ++i) at = text.find(old_text, at + 1);
    return at;
  }
};

// Mutants that change results. Breaks that are only slower, such as a poor hash, are not in the list.
inline std::vector<mutant> mutants() {
  return {
      // radix_histogram
      {"histogram: tiles share counts", "counts[group * radix_bins + b]", "counts[b]"},
      {"histogram: a row too many", "tiles[group].begin + tid; i < end;", "tiles[group].begin + tid; i <= end;"},
      {"histogram: bins not cleared", "atomic_store_explicit(&bins[b], 0u, memory_order_relaxed);", ";"},
      {"histogram: shift ignored", ">> args.shift & args.mask;\n    atomic", "& args.mask;\n    atomic"},
      // radix_scatter
      {"scatter: votes of missing rows", "uint peers = ballot(live);", "uint peers = ~0u;"},
      {"scatter: votes not inverted", "votes : ~votes", "votes : votes"},
      {"scatter: a bit of the digit left out", "for (uint bit = 1u;", "for (uint bit = 2u;"},
      {"scatter: lanes count themselves", "(1u << lane) - 1u", "(2u << lane) - 1u"},
      {"scatter: ranks from above", "const uint lower = popcount(peers & ((1u << lane) - 1u));",
       "const uint lower = popcount(peers) - 1u - popcount(peers & ((1u << lane) - 1u));"},
      {"scatter: one counted of several", "before + popcount(peers);", "before + 1u;"},
      {"scatter: counters not cleared", "counters[g * radix_bins + tid] = 0u;", ";"},
      {"scatter: sum of simdgroups lost", "total += count;", "total = count;"},
      {"scatter: sums by the wrong lane", "if (lane == 31u) sums", "if (lane == 30u) sums"},
      {"scatter: own sum added", "if (lane < simd_index)", "if (lane <= simd_index)"},
      {"scatter: offsets not relative", "+ tid] - start;", "+ tid];"},
      {"scatter: counters without start", "counters[g * radix_bins + tid] += start;", ";"},
      {"scatter: numbers of rows lost", "K(args.has_rows != 0u ? rows[at] : at)", "K(at)"},
      {"scatter: positions never numbers", "K(args.has_rows != 0u ? rows[at] : at)", "K(rows[at])"},
      {"scatter: rows not beside their keys", "out_rows[position[i]] = uint(sorted[p]);",
       "out_rows[p] = uint(sorted[p]);"},
      {"scatter: last block left out", "first - lane + i * 32u < end", "first - lane + i * 32u + 32u < end"},
      {"scatter: a row too many", "if (p < end - begin) {", "if (p <= end - begin) {"},
      {"scatter: inclusive prefix", "simd_prefix_exclusive_sum(total)", "simd_prefix_inclusive_sum(total)"},
      // putting out
      {"claim: two lanes", "if (lane == 0u) first", "if (lane < 2u) first"},
      {"claim: no broadcast", "simd_broadcast_first(first)", "first"},
      {"claim: total of earlier dispatches lost", "return total[0] +", "return ulong(0) +"},
      {"advance: count not reset", "count[0] = 0u;", ";"},
      {"advance: total replaced", "total[0] += count[0];", "total[0] = count[0];"},
      // partition_join
      {"join: hash taken for the key", "return sizeof(K) == sizeof(uint);", "return true;"},
      {"join: bounds not cleared", "atomic_store_explicit(&bounds[tid], 0u, memory_order_relaxed);", ";"},
      {"join: halves of a word mixed", "1u << (b & 1u) * 16u", "1u"},
      {"join: upper bucket begins at the lower one", "start | (start + (counts & 0xffffu)) << 16",
       "start | start << 16"},
      {"join: upper counts lost", "(counts & 0xffffu) + (counts >> 16)", "(counts & 0xffffu)"},
      {"join: sums by the wrong lane", "if (lane == 31u) sums", "if (lane == 30u) sums", 1},
      {"join: own sum added", "if (lane < simd_index)", "if (lane <= simd_index)", 1},
      {"join: a build row too many", "for (uint e = tid; e < build_count; e += threads) {",
       "for (uint e = tid; e <= build_count; e += threads) {"},
      {"join: filled without an atomic",
       "const uint old = atomic_fetch_add_explicit(&bounds[b >> 1], 1u << in_word, "
       "memory_order_relaxed);",
       "const uint old = atomic_load_explicit(&bounds[b >> 1], memory_order_relaxed); "
       "atomic_store_explicit(&bounds[b >> 1], old + (1u << in_word), memory_order_relaxed);"},
      {"join: numbers in another order", "numbers[p] = ushort(e);", "numbers[p] = ushort(p);"},
      {"join: hashes compared in part", "hashes[at] == h &&", "(hashes[at] & 1023u) == (h & 1023u) &&"},
      {"join: begin of the wrong half", "(a & 1u) * 16u & 0xffffu", "(b & 1u) * 16u & 0xffffu"},
      {"join: probe rows before the task", "s >= probe_begin && s < probe_end", "s < probe_end"},
      {"join: probe rows behind the task", "s >= probe_begin && s < probe_end", "s >= probe_begin"},
      {"join: blocks not on words", "const uint first_block = probe_begin & ~31u;",
       "const uint first_block = probe_begin;"},
      {"join: simdgroups share blocks", "first_block + simd_index * 32u", "first_block"},
      {"join: a lane leaves alone", "if (hits == 0u) break;", "if (!hit) break;"},
      {"join: only one match", "++at;\n      }\n      waiting", "at = end;\n      }\n      waiting"},
      {"join: a match for ever", "++at;\n      }\n      waiting", "}\n      waiting"},
      {"join: pairs of a semi join put out", "if (args.emit == 0u) break;", ";"},
      {"join: votes under divergence", "const uint lower = simd_prefix_exclusive_sum(hit ? 1u : 0u);",
       "uint lower = 0u; if (hit) lower = simd_prefix_exclusive_sum(1u);"},
      {"join: inclusive prefix", "simd_prefix_exclusive_sum(hit ? 1u : 0u)",
       "simd_prefix_inclusive_sum(hit ? 1u : 0u)"},
      {"join: circular buffer not closed", "((head + waiting + lower) & (staged_rows - 1u))",
       "(head + waiting + lower)"},
      {"join: probe row of another block", "(s - first_block);", "(s - probe_begin);"},
      {"join: simdgroups share a buffer", "const uint mine = simd_index * staged_rows;", "const uint mine = 0u;"},
      {"join: circular buffer does not move on", "head ^= 32u;", ";"},
      {"join: matches put out again", "waiting -= 32u;", ";"},
      {"join: capacity exceeded", "if (position < args.capacity) {", "{"},
      {"join: capacity exceeded by one", "if (position < args.capacity) {", "if (position <= args.capacity) {"},
      {"join: build rows not renumbered", "Row(build_rows[build_begin + (match >> 16)])",
       "Row(build_begin + (match >> 16))"},
      {"join: last matches lost", "if (waiting != 0u) {", "if (waiting > 1u) {"},
      {"join: last matches and one more", "if (lane < waiting && position < args.capacity) {",
       "if (lane <= waiting && position < args.capacity) {"},
      {"join: last capacity exceeded", "if (lane < waiting && position < args.capacity) {", "if (lane < waiting) {"},
      {"join: marks in the wrong word", "found[block >> 5]", "found[block >> 6]"},
      {"join: marks overwritten", "atomic_fetch_or_explicit(&found[block >> 5], bits, memory_order_relaxed)",
       "atomic_store_explicit(&found[block >> 5], bits, memory_order_relaxed)"},
      {"join: matches forgotten", "matched = matched || hit;", "matched = hit;"},
      // table_join
      {"table: a row too many", "if (row < args.rows)\n", "if (row <= args.rows)\n"},
      {"table: filled with a row too many", "if (row < args.rows) {", "if (row <= args.rows) {"},
      {"table: other bucket filled", "const uint b = hash_key(keys[row]) & args.table_mask;",
       "const uint b = (hash_key(keys[row]) >> 1) & args.table_mask;"},
      {"table: slices overlap", "at = first + min(slice_begin, size);", "at = first;"},
      {"table: slices have no end", "end = first + min(slice_end, size);", "end = first + size;"},
      {"table: keys not compared", "build_keys[slots[at]] != key", "false"},
      {"table: keys compared in part", "build_keys[slots[at]] != key", "uint(build_keys[slots[at]]) != uint(key)"},
      {"table: slots for rows", "staged_build[slot] = slots[at];", "staged_build[slot] = at;"},
      {"table: circular buffer does not move on", "head ^= 32u;", ";", 1},
      {"table: capacity exceeded", "if (position < args.capacity) {", "{", 1},
      {"table: marks in the wrong word", "found[block >> 5]", "found[block >> 6]", 1},
      {"table: last matches lost", "if (waiting != 0u) {", "if (waiting > 1u) {", 1},
      {"table: last capacity exceeded", "if (lane < waiting && position < args.capacity) {", "if (lane < waiting) {",
       1},
      // lone_rows
      {"lone: the others", "args.writes_found != 0u ? 0u : ~0u", "args.writes_found != 0u ? ~0u : 0u"},
      {"lone: rows behind the last counted", "(position == words - 1u ? in_last : ~0u)", "~0u"},
      {"lone: rows behind the last put out", "(first + w == words - 1u ? in_last : ~0u)", "~0u"},
      {"lone: words at one offset", "offset += popcount(word);", ";"},
      {"lone: the last word left out", "min(words - first, 32u)", "min(words - first, 31u)"},
      {"lone: rows not renumbered", "Row(args.has_rows != 0u ? probe_rows[s] : s)", "Row(s)"},
      {"lone: capacity exceeded", "!= 0u && at < args.capacity) {", "!= 0u) {"},
      {"lone: a partner", "Row(~0ul)", "Row(0)"},
  };
}

// Mutants without one of the barriers, for a race checker.
inline std::vector<mutant> missing_barriers(const std::string& text) {
  std::vector<mutant> all;
  for (const char* const name : {"threadgroup", "simdgroup"}) {
    const std::string call = std::string(name) + "_barrier(mem_flags::mem_threadgroup);";
    int which = 0;
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      all.push_back({"without " + std::string(name) + "_barrier " + std::to_string(which), call, ";", which});
      ++which;
    }
  }
  return all;
}

}  // namespace metal_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Counts shared-memory bank conflicts exactly. There are 32 banks of 4 bytes. An instruction serves groups of 32 lanes
// of up to 4 bytes, 16 lanes of 8 bytes, or 8 lanes of 16 bytes. A group takes as many wavefronts as the fullest bank
// has distinct words.
#include <strata/simt/runtime/check_state.hpp>

#include <algorithm>
#include <map>

namespace strata {
namespace simt {

#if defined(STRATA_SIMT_CHECK)

namespace engine {
namespace check {
namespace {

constexpr uint32_t banks = 32;

struct traffic {
  uint64_t instructions = 0, wavefronts = 0, ideal = 0;
  unsigned bytes = 0;
  bool write = false;
  std::string where;
};
std::map<const void*, traffic>& table() {
  static auto* const rows = new std::map<const void*, traffic>;
  return *rows;
}

// A type whose size is not a power of two is moved in pieces of its alignment.
size_t piece_bytes(size_t offset, size_t bytes) {
  size_t piece = 16;
  while (piece > 1 && (offset % piece != 0 || bytes % piece != 0)) piece /= 2;
  return piece;
}

unsigned wavefronts_of_group(const instruction_instance& instance, uint32_t lanes, unsigned bytes) {
  uint32_t words[warp_threads * 4];
  size_t count = 0;
  for_each_lane(lanes, [&](uint32_t lane) {
    const uint32_t first = instance.offsets[lane] / 4;
    const uint32_t last = (instance.offsets[lane] + bytes - 1) / 4;
    for (uint32_t word = first; word <= last; ++word) words[count++] = word;
  });
  std::sort(words, words + count);
  count = static_cast<size_t>(std::unique(words, words + count) - words);  // lanes that read the same word share it
  unsigned in_bank[banks] = {}, fullest = 0;
  for (size_t i = 0; i < count; ++i) {
    fullest = std::max(fullest, ++in_bank[words[i] % banks]);
  }
  return fullest;
}

void account(traffic& row, const instruction_instance& instance, const instruction_trace& trace) {
  const unsigned lanes_at_once = trace.bytes <= 4 ? 32 : trace.bytes == 8 ? 16 : 8;
  unsigned wavefronts = 0, ideal = 0;
  for (unsigned first = 0; first < warp_threads; first += lanes_at_once) {
    const uint32_t group = lanes_at_once == 32 ? ~0u : ((1u << lanes_at_once) - 1) << first;
    const uint32_t lanes = instance.lanes & group;
    if (lanes == 0) continue;
    ++ideal;
    wavefronts += wavefronts_of_group(instance, lanes, trace.bytes);
  }
  ++row.instructions;
  row.wavefronts += wavefronts;
  row.ideal += ideal;
  row.bytes = trace.bytes;
  row.write = trace.write;
  ++counters.shared_instructions;
  counters.shared_wavefronts += wavefronts;
  counters.shared_ideal_wavefronts += ideal;
}

instruction_trace& find_trace(warp_traces& traces, uint64_t key) {
  const size_t way = (key >> 10 ^ key >> 4 ^ key) % warp_traces::ways;
  if (traces.recent_key[way] != key) {
    traces.recent[way] = &traces.all[key];
    traces.recent_key[way] = key;
  }
  return *traces.recent[way];
}

}  // namespace

// The n-th execution of an instruction by one lane counts as simultaneous with the n-th execution by the other lanes.
void trace_shared_access(const fiber& thread, size_t offset, size_t bytes, bool write, const void* pc) {
  constexpr size_t most_pieces = 64;
  const size_t piece = piece_bytes(offset, bytes);
  warp_traces& traces = shadow_of(*thread.home).traces[thread.mates->id];
  for (size_t part = 0; part < bytes / piece && part < most_pieces; ++part) {
    instruction_trace& trace = find_trace(traces, reinterpret_cast<uintptr_t>(pc) << 8 | part);
    const uint32_t instance = trace.reached[thread.lane]++;
    if (instance >= trace.used) {
      if (instance >= trace.instances.size()) trace.instances.resize(instance + 1);
      trace.instances[instance].lanes = 0;
      trace.used = instance + 1;
    }
    trace.bytes = static_cast<uint8_t>(piece);
    trace.write = write;
    trace.instances[instance].lanes |= 1u << thread.lane;
    trace.instances[instance].offsets[thread.lane] = static_cast<uint32_t>(offset + part * piece);
  }
}

void flush_traces(block& which, uint32_t warp_id) {
  for (auto& entry : shadow_of(which).traces[warp_id].all) {
    instruction_trace& trace = entry.second;
    if (trace.used == 0) continue;
    traffic& row = table()[reinterpret_cast<const void*>(entry.first >> 8)];
    for (uint32_t i = 0; i < trace.used; ++i) account(row, trace.instances[i], trace);
    trace.used = 0;
    std::fill(std::begin(trace.reached), std::end(trace.reached), 0);
  }
}

}  // namespace check
}  // namespace engine

int bank_rows(bank_row* rows, int capacity) {
  using namespace engine::check;
  std::vector<bank_row> all;
  for (auto& entry : table()) {
    traffic& row = entry.second;
    if (row.where.empty()) row.where = engine::source_line(entry.first);
    all.push_back({entry.first, row.where.c_str(), row.instructions, row.wavefronts, row.ideal, row.bytes, row.write});
  }
  std::sort(all.begin(), all.end(),
            [](const bank_row& a, const bank_row& b) { return a.wavefronts - a.ideal > b.wavefronts - b.ideal; });
  const size_t count = std::min(all.size(), static_cast<size_t>(std::max(capacity, 0)));
  std::copy_n(all.begin(), count, rows);
  return static_cast<int>(count);
}

void reset_statistics() {
  engine::counters = statistics{};
  engine::check::table().clear();
}

#else

int bank_rows(bank_row*, int) { return 0; }
void reset_statistics() { engine::counters = statistics{}; }

#endif

}  // namespace simt
}  // namespace strata

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts wavefronts of threadgroup memory. Lanes of a simdgroup that execute the same place of the program equally
// often since they last met execute one instruction. 32 banks of 4 bytes serve 32 lanes of up to 4 bytes or 16 lanes of
// 8 bytes at a time, unless two of the lanes access different words of one bank.
#pragma once

#include "executor.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace msl {

enum class access_kind : std::uint8_t { load, store, atomic };

// The double sets this when it compiles text with watching.
inline bool& watches_wavefronts() {
  static bool watches = false;
  return watches;
}

class wavefront_trace {
 public:
  wavefront_trace(const char* memory, const std::size_t* offsets, const std::uint32_t* lengths)
      : memory_(memory), offsets_(offsets), lengths_(lengths) {}

  void add(std::uint32_t lane, const volatile void* address, unsigned bytes, access_kind kind, std::uintptr_t where) {
    const auto* p = const_cast<const char*>(static_cast<const volatile char*>(address));
    const std::uint32_t time = times_[{where, lane}]++;
    instruction& i = instructions_[{where, time}];
    i.kind = kind;
    i.bytes = bytes;
    i.lanes.emplace_back(lane, static_cast<std::uint32_t>(p - memory_));
  }

  // To be called when the lanes have met.
  void end_of_step(kernel_counts& counts) {
    for (const auto& [place, what] : instructions_) {
      int slot = 0;
      while (slot + 1 < slots && what.lanes[0].second >= offsets_[slot] + lengths_[slot]) ++slot;
      auto& kinds = what.kind == access_kind::load ? counts.loads
                                                   : (what.kind == access_kind::store ? counts.stores : counts.atomics);
      wavefronts& sum = kinds[static_cast<std::size_t>(slot)];
      const std::uint32_t together = what.bytes <= 4 ? 32 : 128 / what.bytes;
      for (std::uint32_t first = 0; first < simd_width; first += together) {
        const std::uint64_t taken = wavefronts_of(what, first, first + together);
        sum.taken += taken;
        sum.fewest += taken != 0 ? 1 : 0;
      }
    }
    instructions_.clear();
    times_.clear();
  }

 private:
  struct instruction {
    access_kind kind = access_kind::load;
    unsigned bytes = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> lanes;  // pairs of lane and offset
  };

  static std::uint64_t wavefronts_of(const instruction& what, std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> words;
    for (const auto& [lane, offset] : what.lanes) {
      if (lane < first || lane >= last) continue;
      for (unsigned b = 0; b < what.bytes; b += 4) words.push_back((offset + b) / 4);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::uint64_t in_bank[32] = {};
    std::uint64_t most = 0;
    for (const std::uint32_t word : words) most = std::max(most, ++in_bank[word % 32]);
    return most;
  }

  const char* memory_;
  const std::size_t* offsets_;
  const std::uint32_t* lengths_;
  std::map<std::pair<std::uintptr_t, std::uint32_t>, instruction> instructions_;
  std::map<std::pair<std::uintptr_t, std::uint32_t>, std::uint32_t> times_;
};

inline void add_counts(kernel_counts& sum, const kernel_counts& more) {
  sum.threads += more.threads;
  sum.device_atomics += more.device_atomics;
  for (std::size_t s = 0; s < slots; ++s) {
    for (const auto kind : {&kernel_counts::loads, &kernel_counts::stores, &kernel_counts::atomics}) {
      (sum.*kind)[s].taken += (more.*kind)[s].taken;
      (sum.*kind)[s].fewest += (more.*kind)[s].fewest;
    }
  }
}

}  // namespace msl

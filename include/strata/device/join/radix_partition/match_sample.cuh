// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// How the device estimates the number of results of an inner join before any row is moved.
///
///     hash of a key     | ... | counter: 12 bits | zeros |
///
/// The rows of a key are in the sample if the lowest bits of its hash are 0. The sample of each side has all rows of
/// such a key. So a sampled probe row has as many partners in the sample as on the build side. The blocks that count
/// the rows of partitions also count the sampled rows, and read nothing more for it. The last one of them multiplies
/// the counts of both sides. Keys that share a counter are taken for equal: with 256 sampled build rows, that adds
/// about a sixteenth of a result for each sampled probe row.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the kernels. Without arrays, nothing is counted.
struct join_match_sample {
  /// Counters of each side.
  static constexpr unsigned counters = 4096;
  static constexpr std::size_t shared_bytes = counters * sizeof(unsigned);

  /// The build side's counters, then the probe side's counters.
  unsigned* counts = nullptr;
  /// Becomes 1 if the sample has at least 32 probe rows, and fewer than one result for `probe_rows_each` of them;
  /// otherwise 0.
  unsigned* has_few_results = nullptr;
  unsigned probe_rows_each = 0;
  /// A key is in the sample if this many of the lowest bits of its hash are 0.
  int zero_bits = 0;

  /// Chooses the number so that 256 to 511 build rows are in the sample on average. Fewer than 256 build rows are all
  /// in it; of 2^29 or more, more than 511 are in it.
  static constexpr int zero_bits_for(std::uint64_t build_rows) {
    constexpr std::uint64_t wanted = 256;
    constexpr int most = 20;  // the other 12 choose a counter
    int bits = 0;
    while (bits < most && build_rows >> (bits + 1) >= wanted) ++bits;
    return bits;
  }

  STRATA_D bool is_taken() const { return counts != nullptr; }
  /// True if the sample has found few results. Valid after the kernel that counts.
  STRATA_D bool finds_few_results() const { return is_taken() && *has_few_results != 0; }

  /// Finds out whether there are few results. The last block calls this. `sum(number, slot)` adds up the numbers of all
  /// its threads; the two calls take different slots of shared memory. `decide` is not a member of AgentJoinSample,
  /// because that object has a pointer to shared memory, and nvcc 13.0 then assumes that all its pointers point to
  /// shared memory.
  template <int BlockThreads, class Sum>
  STRATA_D void decide(const Sum& sum) const {
    if (!is_taken()) return;
    constexpr unsigned long long min_rows = 32;  // with fewer, a sample says nothing
    unsigned long long results = 0;
    unsigned long long rows = 0;
    STRATA_UNROLL_N(4)
    for (unsigned i = threadIdx.x; i < counters; i += static_cast<unsigned>(BlockThreads)) {
      const unsigned long long build = platform::load_relaxed(counts + i);
      const unsigned long long probe = platform::load_relaxed(counts + counters + i);
      results += build * probe;
      rows += probe;
    }
    results = sum(results, false);
    rows = sum(rows, true);
    if (threadIdx.x == 0) *has_few_results = rows >= min_rows && results * probe_rows_each < rows ? 1 : 0;
  }
};

/// The sample of the rows that a block counts. All member functions but `add` are called by the whole block.
template <int BlockThreads>
struct AgentJoinSample {
  const join_match_sample& sample;
  /// In shared memory, join_match_sample::counters of them.
  unsigned* shared;
  /// The bits that must be 0. Without a sample, all bits must be 0, so that hardly any row is counted.
  unsigned zeros;

  STRATA_D AgentJoinSample(const join_match_sample& of_call, unsigned* counts)
      : sample(of_call), shared(counts), zeros(sample.is_taken() ? (1u << sample.zero_bits) - 1 : ~0u) {}

  STRATA_D void clear() const {
    for (unsigned i = threadIdx.x; i < join_match_sample::counters; i += threads) shared[i] = 0;
  }
  STRATA_D void add(unsigned hash) const {
    if ((hash & zeros) == 0) atomicAdd(shared + (hash >> sample.zero_bits) % join_match_sample::counters, 1u);
  }
  /// Adds the counts of the block to those of a side.
  STRATA_D void flush(bool is_probe) const {
    if (!sample.is_taken()) return;
    unsigned* const counts = sample.counts + (is_probe ? join_match_sample::counters : 0);
    for (unsigned i = threadIdx.x; i < join_match_sample::counters; i += threads) {
      if (shared[i] != 0) atomicAdd(counts + i, shared[i]);
    }
  }

 private:
  static constexpr unsigned threads = BlockThreads;
};

}  // namespace detail
STRATA_NAMESPACE_END

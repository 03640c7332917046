// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Lets several blocks hand one value each to whichever of them comes last, in one launch and
/// over memory whose contents are arbitrary.
///
/// A block publishes its value in packets of 8 bytes of value and an 8-byte tag that only this call
/// uses: a packet is either not yet written or complete, whatever lay there before, so nothing has
/// to be initialised. After its own packets a block fences and looks at everybody's. By the order
/// of the fences the last block to publish finds all complete; others that do are told apart by an
/// atomic exchange of one tag. The winner takes the tags away again, so that a replay of the same
/// launch (a CUDA graph carries the same tag) starts from packets that are not complete.
///
/// No block ever waits for another: there is no assumption about which blocks run together.
template <class T>
class grid_exchange {
 public:
  static constexpr int packets_per_value = static_cast<int>((sizeof(T) + 7) / 8);

  struct arguments {
    platform::packet* packets;  // packets_per_value * number of blocks
    unsigned long long tag;
  };

  struct TempStorage {
    bool is_winner;
  };

  /// For block `rank` of the `blocks` that take part; no more than a block has threads.
  STRATA_D grid_exchange(TempStorage& storage, const arguments& exchange, unsigned rank,
                         unsigned blocks)
      : storage_(storage), arguments_(exchange), rank_(rank), blocks_(blocks) {}

  /// Called by all threads of the block. Publishes thread 0's `value` for the block. Returns true in
  /// at most a few blocks, among them the last to publish: there thread `i` receives block `i`'s
  /// value in `value`.
  STRATA_D bool publish_and_collect(T& value) {
    if (threadIdx.x == 0) {
      publish(value);
      platform::fence_sc();
    }
    __syncthreads();
    const bool is_complete = threadIdx.x >= blocks_ || collect(threadIdx.x, value);
    if (__syncthreads_and(is_complete) == 0) return false;
    // The last thread, so that warp 0 need not wait for the answer before it combines the values.
    if (threadIdx.x == blockDim.x - 1) storage_.is_winner = claim();
    return true;
  }

  /// Called by all threads of a block that has collected; true in exactly one block.
  STRATA_D bool is_winner() {
    __syncthreads();
    if (!storage_.is_winner) return false;
    if (threadIdx.x < blocks_) take_back(threadIdx.x);
    return true;
  }

  // The steps, for callers that take them apart: each called by one thread. Between a block's
  // publish() and its collect() there must be a fence_sc(), and a barrier if threads differ.

  STRATA_D void publish(const T& value) {
    unsigned long long words[packets_per_value];
    words[packets_per_value - 1] = 0;
    std::memcpy(words, &value, sizeof(T));
    STRATA_UNROLL
    for (int i = 0; i < packets_per_value; ++i) {
      platform::store_packet(packet(i, rank_), {words[i], arguments_.tag});
    }
  }

  /// Receives the value that `rank` has published, if it has.
  STRATA_D bool collect(unsigned rank, T& value) const {
    unsigned long long words[packets_per_value];
    bool is_complete = true;
    STRATA_UNROLL
    for (int i = 0; i < packets_per_value; ++i) {
      const platform::packet received = platform::load_packet(packet(i, rank));
      is_complete = is_complete && received.tag == arguments_.tag;
      words[i] = received.value;
    }
    std::memcpy(static_cast<void*>(&value), words, sizeof(T));
    return is_complete;
  }

  /// True for one of those who have collected all values.
  STRATA_D bool claim() {
    return atomicCAS(&packet(0, 0)->tag, arguments_.tag, 0ull) == arguments_.tag;
  }

  /// By the winner, for every rank.
  STRATA_D void take_back(unsigned rank) {
    STRATA_UNROLL
    for (int i = 0; i < packets_per_value; ++i) {
      platform::store_relaxed(&packet(i, rank)->tag, 0ull);
    }
  }

 private:
  STRATA_D platform::packet* packet(int part, unsigned block) const {
    return arguments_.packets + static_cast<unsigned>(part) * blocks_ + block;
  }

  TempStorage& storage_;
  arguments arguments_;
  unsigned rank_;
  unsigned blocks_;
};

}  // namespace detail
STRATA_NAMESPACE_END

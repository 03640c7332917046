// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// In each round of counting, each block of a grid knows how many items it has in each of `Bins` bins. All blocks
/// exchange these counts without a barrier.
///
///     one word of a row    | blocks that have added: 8 bits | items in the bin: 24 bits |
///
///     rows of a round      group 0   group 1   group 2    block 0   block 1   ...   block 40
///     read by block 35        x         x         x       and only the rows of blocks 32 to 34
///
/// Each block has a row of words for each round. So has each group of 16 blocks, and the members of the group add to
/// its row. A block needs the counts of all blocks, and of the blocks before it. So it reads the rows of all groups,
/// and the rows of the members of its own group that come before it. A word is complete when all members have added to
/// it. The word itself shows that, so the order of accesses to different words does not matter. All words are cleared
/// before the first barrier of the grid.
///
/// Forward progress: a block publishes the counts of a round before it collects those of others, and all blocks are
/// resident (`launch_resident`).
template <unsigned Bins>
class grid_bin_counts {
 public:
  static constexpr unsigned group_blocks = 16;

  STRATA_HD static constexpr std::size_t groups(std::size_t blocks) {
    return ceiling_divide<std::size_t>(blocks, group_blocks);
  }
  STRATA_HD static constexpr std::size_t number_of_words(std::size_t blocks, std::size_t rounds) {
    return rounds * (groups(blocks) + blocks) * Bins;
  }

  STRATA_D explicit grid_bin_counts(unsigned* words)
      : words_(words),
        blocks_(gridDim.x),
        groups_(static_cast<unsigned>(groups(gridDim.x))),
        group_(blockIdx.x / group_blocks) {}

  /// Clears the words. All threads of all blocks call this.
  STRATA_D void clear(int rounds) const {
    const auto count = static_cast<unsigned>(number_of_words(blocks_, static_cast<std::size_t>(rounds)));
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) words_[i] = 0;
  }

  /// Publishes how many items of the bin the block has. One thread of each block calls this for each bin.
  STRATA_D void publish(int round, unsigned bin, unsigned count) const {
    platform::store_relaxed(word(round, groups_ + blockIdx.x, bin), one_block + count);
    atomicAdd(word(round, group_, bin), one_block + count);
  }

  /// Reads one of `parts` parts of the rows, and waits until their words are complete. `all` gets the items of the
  /// groups in this part. `before` gets the items of those groups in this part that come before this block's group, and
  /// of those blocks in this part that come before this block. The caller adds up the results of all `parts` parts.
  STRATA_D void collect(int round, unsigned bin, unsigned part, unsigned parts, unsigned& before, unsigned& all) const {
    const unsigned count = groups_ + blockIdx.x % group_blocks;
    before = all = 0;
    // Without this, the compiler keeps addresses of words and numbers of members in registers from round to round.
    int begin = static_cast<int>(part);
    platform::optimization_barrier(begin);
    for (auto first = static_cast<unsigned>(begin); first < count; first += parts * words_per_batch) {
      unsigned found[words_per_batch];
      for (;;) {
        STRATA_UNROLL
        for (unsigned j = 0; j < words_per_batch; ++j) {
          const unsigned i = first + j * parts;
          found[j] = i < count ? platform::load_relaxed(word(round, row(i), bin)) : 0;
        }
        bool is_complete = true;
        STRATA_UNROLL
        for (unsigned j = 0; j < words_per_batch; ++j) {
          const unsigned i = first + j * parts;
          is_complete = is_complete && (i >= count || found[j] / one_block == members(i));
        }
        if (is_complete) break;
        STRATA_SPIN();
      }
      STRATA_UNROLL
      for (unsigned j = 0; j < words_per_batch; ++j) {
        const unsigned i = first + j * parts;
        const unsigned items = found[j] % one_block;
        if (i < groups_) all += items;
        if (i < group_ || i >= groups_) before += items;
      }
    }
  }

 private:
  static constexpr unsigned one_block = 1u << 24;
  // Words that a thread loads before it looks at the first.
  static constexpr unsigned words_per_batch = 12;
  // not for users: blocks have up to 2^16 items.
  static_assert(group_blocks << 16 <= one_block && group_blocks < 256,
                "the sum of a group's counts has 24 bits, the number of its members 8");

  // The number of the `i`-th row to read: first the groups, then the members of this block's group before it.
  STRATA_D unsigned row(unsigned i) const { return i < groups_ ? i : i + group_ * group_blocks; }
  STRATA_D unsigned members(unsigned i) const {
    if (i >= groups_) return 1;
    const unsigned left = blocks_ - i * group_blocks;
    return detail::least(left, group_blocks);
  }
  STRATA_D unsigned* word(int round, unsigned row, unsigned bin) const {
    return words_ + (static_cast<unsigned>(round) * (groups_ + blocks_) + row) * Bins + bin;
  }

  unsigned* words_;
  unsigned blocks_;
  unsigned groups_;
  unsigned group_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/block/block_shape.cuh>
#include <strata/block/specializations/block_radix_rank_forms.cuh>
#include <strata/block/specializations/radix_rank_match.cuh>
#include <strata/block/specializations/radix_rank_shuffle.cuh>
#include <strata/block/specializations/radix_rank_thread_counters.cuh>
#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <type_traits>

/// \file
/// The rank of each item of a block by a digit, which is the place where a pass of radix sort puts
/// it:
///
///     rank[i] = |{j : digit[j] < digit[i]}| + |{j < i : digit[j] == digit[i]}|
///
/// With `IsDescending` the first comparison is the other way round, and the second is not: ranks
/// are stable. Four classes do it, with the same members:
///
/// | class | items | counters | digits of |
/// |---|---|---|---|
/// | BlockRadixRank | blocked | of each thread, 16 bits | few bits: 4 |
/// | BlockRadixRankMatch | warp-striped | of each warp | many bits: 8 |
/// | BlockRadixRankMatchEarlyCounts | warp-striped | of each warp | many, if others need counts |
/// | BlockRadixRankShuffle | warp-striped | of each warp, in registers | up to 5 bits, to be read |
///
/// - `RankKeys(keys, ranks, digit_extractor)`: `digit_extractor.Digit(key)` is a number below
///   2^RadixBits. It may be called more than once for a key.
/// - `RankKeys(..., exclusive_digit_prefix)`: thread t also gets the ranks of the first items of
///   the digits t * BINS_TRACKED_PER_THREAD to (t + 1) * BINS_TRACKED_PER_THREAD - 1; something
///   unspecified for those from 2^RadixBits on.
/// - `RankKeys(..., callback)` and `RankKeys(..., exclusive_digit_prefix, callback)`: every thread
///   calls `callback(counts)` once, in uniform control flow, with how many items of the block have
///   each of these digits, an `int (&)[BINS_TRACKED_PER_THREAD]`; 0 for those beyond. By
///   EarlyCounts, that is as soon as all items are counted, before any has its rank.
/// - Blocked: item i of thread t is the block's item t * KeysPerThread + i. Warp-striped: item i of
///   lane l of warp w comes behind all items of warps before, and is number i * 32 + l of its warp.
///   If the last warp has fewer lanes, its rows have fewer items.
/// - Every thread of the block must call, in uniform control flow. Blocks have any number of
///   threads; those of BlockRadixRankShuffle whole warps.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the
///   storage is used for anything else. Objects of one type constructed without storage share
///   theirs.
/// - `InnerScan` is the BlockScan of the counters. `SmemConfig` and `NumParts` have no effect: they
///   are there for CUB's order of parameters.
///
/// @code
/// struct lowest_byte {
///   STRATA_D unsigned Digit(unsigned key) const { return key & 255; }
/// };
///
/// // Each block sorts 1024 keys by their lowest byte.
/// STRATA_KERNEL void sort_by_lowest_byte(const unsigned* in, unsigned* out) {
///   using Rank = strata::BlockRadixRankMatch<256, 8, false>;
///   STRATA_SHARED(temp_storage, Rank::TempStorage);
///   const unsigned tile = blockIdx.x * 1024;
///   unsigned keys[4];
///   int ranks[4];
///   for (unsigned i = 0; i < 4; ++i) {  // warp-striped
///     keys[i] = in[tile + threadIdx.x / 32 * 128 + i * 32 + threadIdx.x % 32];
///   }
///   Rank(temp_storage).RankKeys(keys, ranks, lowest_byte{});
///   for (int i = 0; i < 4; ++i) out[tile + static_cast<unsigned>(ranks[i])] = keys[i];
/// }
/// @endcode

STRATA_NAMESPACE_BEGIN

/// How a block ranks: the classes below, by CUB's names.
enum RadixRankAlgorithm {
  RADIX_RANK_BASIC,                         ///< BlockRadixRank, scanning what it reads again
  RADIX_RANK_MEMOIZE,                       ///< BlockRadixRank, keeping that in registers
  RADIX_RANK_MATCH,                         ///< BlockRadixRankMatch
  RADIX_RANK_MATCH_EARLY_COUNTS_ANY,        ///< BlockRadixRankMatchEarlyCounts by votes
  RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR,  ///< the same by words in shared memory
};

/// How the lanes of a warp that have one digit find each other.
enum WarpMatchAlgorithm {
  /// By a vote of the warp for each bit of the digit: takes the same time whatever the digits.
  WARP_MATCH_ANY,
  /// By a word of shared memory for each digit, where each lane sets its bit: faster if the digits
  /// of a row are different, slower the more of them are one.
  WARP_MATCH_ATOMIC_OR,
};

namespace detail {

template <int RadixBits>
struct radix_rank_digits {
  static_assert(RadixBits >= 1 && RadixBits <= 16,
                "the digits of BlockRadixRank and BlockRadixSort have 1 to 16 bits");
  static constexpr int bits = RadixBits;
};

template <int X, int Y, int Z, BlockScanAlgorithm InnerScan, class Counter>
using radix_rank_scan = BlockScan<Counter, X, InnerScan, Y, Z>;

template <int X, int Y, int Z, int RadixBits, bool IsDescending, BlockScanAlgorithm InnerScan>
using radix_rank_counters =
    radix_warp_counters<block_shape<X, Y, Z>::threads, radix_rank_digits<RadixBits>::bits,
                        IsDescending, radix_rank_scan<X, Y, Z, InnerScan, int>>;

template <int X, int Y, int Z, int RadixBits, bool IsDescending, bool Memoize,
          BlockScanAlgorithm InnerScan>
using radix_rank_basic =
    radix_rank_thread_counters<block_shape<X, Y, Z>::threads, radix_rank_digits<RadixBits>::bits,
                               IsDescending, Memoize,
                               radix_rank_scan<X, Y, Z, InnerScan, unsigned>>;

}  // namespace detail

/// Ranks items in blocked arrangement: see the file's description.
///
/// - Each thread counts its own items, then the block scans the counters, 2^RadixBits for each
///   thread. Time and storage grow with these: for digits of 3 to 5 bits.
/// - A tile has at most 65,535 items.
/// - Shared memory: 2^(RadixBits + 1) bytes for each thread, and a word more. No bank conflicts in
///   blocks of 32 threads and more, whatever the keys; only `exclusive_digit_prefix` and `callback`
///   read counters of one bank, 2^(RadixBits - 1) of them.
/// - `MemoizeOuterScan`: what a thread scans, 2^(RadixBits - 1) words, stays in registers, instead
///   of being read twice.
template <int BlockDimX, int RadixBits, bool IsDescending, bool MemoizeOuterScan = true,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SmemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockRadixRank : public detail::block_radix_rank_forms<
                           detail::radix_rank_basic<BlockDimX, BlockDimY, BlockDimZ, RadixBits,
                                                    IsDescending, MemoizeOuterScan, InnerScan>,
                           detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRank::block_radix_rank_forms::block_radix_rank_forms;
};

/// Ranks items in warp-striped arrangement: see the file's description.
///
/// - A warp ranks its items among themselves, a row at a time: lanes of one digit find each other
///   by RadixBits votes, and the last of them counts for all. Then the warps' counters are scanned,
///   and each item adds that of its digit.
/// - Shared memory: a word for each digit and warp. A row's accesses to counters have the conflicts
///   of its digits: those of different digits in one bank.
template <int BlockDimX, int RadixBits, bool IsDescending,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockRadixRankMatch
    : public detail::block_radix_rank_forms<
          detail::radix_rank_match<
              detail::radix_rank_counters<BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending,
                                          InnerScan>,
              detail::radix_match_votes<BlockDimX * BlockDimY * BlockDimZ, RadixBits>, false>,
          detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRankMatch::block_radix_rank_forms::block_radix_rank_forms;
};

/// Ranks items in warp-striped arrangement, and tells early how many have each digit: see the
/// file's description.
///
/// - Items are counted by atomic additions, without being matched, and matched for their ranks only
///   after the callback: it may publish counts that other blocks wait for.
/// - Shared memory: a word for each digit and warp, two with WARP_MATCH_ATOMIC_OR, with the
///   conflicts of the digits.
template <int BlockDimX, int RadixBits, bool IsDescending,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          WarpMatchAlgorithm MatchAlgorithm = WARP_MATCH_ANY, int NumParts = 1, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockRadixRankMatchEarlyCounts
    : public detail::block_radix_rank_forms<
          detail::radix_rank_match<
              detail::radix_rank_counters<BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending,
                                          InnerScan>,
              std::conditional_t<
                  MatchAlgorithm == WARP_MATCH_ATOMIC_OR,
                  detail::radix_match_words<BlockDimX * BlockDimY * BlockDimZ, RadixBits>,
                  detail::radix_match_votes<BlockDimX * BlockDimY * BlockDimZ, RadixBits>>,
              true>,
          detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRankMatchEarlyCounts::block_radix_rank_forms::block_radix_rank_forms;
};

/// Ranks items in warp-striped arrangement by the textbook's three steps, with warp shuffles and
/// nothing else: a reference to read, and to measure others against. See the file's description.
///
/// 1. Counting: each lane is told the digit of each lane of its warp, and lane d counts those that
///    are d.
/// 2. Prefix: the counts of all warps are scanned, digit after digit.
/// 3. Rank and scatter: an item goes behind those of smaller digits, of its digit in warps before,
///    in rows before, and in lanes before.
///
/// - 64 shuffles for each item, where BlockRadixRankMatch takes RadixBits votes.
/// - Shared memory: a word for each digit and warp.
template <int BlockDimX, int RadixBits = 4, bool IsDescending = false,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockRadixRankShuffle
    : public detail::block_radix_rank_forms<
          detail::radix_rank_shuffle<detail::radix_rank_counters<
              BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending, InnerScan>>,
          detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
  static_assert(
      RadixBits <= 5,
      "BlockRadixRankShuffle keeps the counter of each digit in a lane of its own: digits "
      "have at most 5 bits; take BlockRadixRankMatch for more");
  static_assert(
      BlockDimX * BlockDimY * BlockDimZ % warp_threads == 0,
      "BlockRadixRankShuffle needs whole warps: choose a block of a multiple of 32 threads, "
      "or BlockRadixRankMatch");

 public:
  using BlockRadixRankShuffle::block_radix_rank_forms::block_radix_rank_forms;
};

namespace detail {

template <RadixRankAlgorithm Algorithm, int BlockDimX, int RadixBits, bool IsDescending,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS, int BlockDimY = 1,
          int BlockDimZ = 1>
using block_radix_rank_t = std::conditional_t<
    Algorithm == RADIX_RANK_BASIC || Algorithm == RADIX_RANK_MEMOIZE,
    BlockRadixRank<BlockDimX, RadixBits, IsDescending, Algorithm == RADIX_RANK_MEMOIZE, InnerScan,
                   cudaSharedMemBankSizeFourByte, BlockDimY, BlockDimZ>,
    std::conditional_t<
        Algorithm == RADIX_RANK_MATCH,
        BlockRadixRankMatch<BlockDimX, RadixBits, IsDescending, InnerScan, BlockDimY, BlockDimZ>,
        BlockRadixRankMatchEarlyCounts<BlockDimX, RadixBits, IsDescending, InnerScan,
                                       Algorithm == RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR
                                           ? WARP_MATCH_ATOMIC_OR
                                           : WARP_MATCH_ANY,
                                       1, BlockDimY, BlockDimZ>>>;

}  // namespace detail
STRATA_NAMESPACE_END

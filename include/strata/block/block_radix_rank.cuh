// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/block/radix_rank_sort_operations.cuh>
#include <strata/block/specializations/block_radix_rank_base.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/radix_rank_match.cuh>
#include <strata/block/specializations/radix_rank_thread_counters.cuh>
#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/warp/specializations/companions.cuh>

/// \file
/// The rank of each item of a block by a digit: the position where a pass of radix sort puts it.
///
///     rank[i] = |{j : digit[j] < digit[i]}| + |{j < i : digit[j] == digit[i]}|
///
/// With `IsDescending` the first comparison is reversed. The second is not: ranks are stable. Three classes with the
/// same members compute the ranks:
///
/// | class | arrangement of items | counters | suits digits of |
/// |---|---|---|---|
/// | BlockRadixRank | blocked | of each thread, 16 bits | few bits: 4 |
/// | BlockRadixRankMatch | warp-striped | of each warp | many bits: 8 |
/// | BlockRadixRankMatchEarlyCounts | warp-striped | of each warp | many bits, if other blocks wait for counts |
///
/// - `RankKeys(keys, ranks, digit_extractor)`: `digit_extractor.Digit(key)` is a number below
///   2^RadixBits. It may be called more than once for a key. `BFEDigitExtractor<Key>` extracts a range of bits.
/// - `RankKeys(..., exclusive_digit_prefix)`: thread t also receives a number for each of the digits
///   t * BINS_TRACKED_PER_THREAD to (t + 1) * BINS_TRACKED_PER_THREAD - 1: the rank of the first item with this digit,
///   or the rank that such an item would have. It is unspecified for digits from 2^RadixBits on.
/// - `RankKeys(..., callback)` and `RankKeys(..., exclusive_digit_prefix, callback)`: every thread calls
///   `callback(counts)` once, in uniform control flow. `counts` is an `int (&)[BINS_TRACKED_PER_THREAD]`: the
///   number of the block's items with each of these digits, 0 for digits from 2^RadixBits on.
///   BlockRadixRankMatchEarlyCounts calls it as soon as all items are counted, before any has its rank.
/// - Blocked: item i of thread t is the block's item t * KeysPerThread + i. Warp-striped: the items of a warp follow
///   the items of the warps before it, and item i of lane l is number i * 32 + l of its warp. A row of a warp is item i
///   of all its lanes. If the last warp has only L lanes, its rows have L items, and item i of lane l is number i * L +
///   l.
/// - Every thread of the block must call, in uniform control flow. Blocks may have any number of threads.
/// - `__syncthreads()` must stand between two calls that use the same storage, and before the
///   storage is used for anything else. Objects of one type constructed without storage share
///   theirs.
/// - `InnerScan` is the algorithm of the BlockScan that scans the counters. `SmemConfig` and `NumParts` have no effect;
///   they keep CUB's order of parameters.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct lowest_byte {
///   STRATA_D unsigned Digit(unsigned key) const { return key & 255; }
/// };
/// __managed__ unsigned keys[256], sorted[256];
///
/// // Sorts 256 keys by their lowest byte, stably. The arrangement of items is warp-striped.
/// STRATA_KERNEL void sort_by_lowest_byte(const unsigned* in, unsigned* out) {
///   using Rank = strata::BlockRadixRankMatch<128, 8, false>;
///   STRATA_SHARED(temp_storage, Rank::TempStorage);
///   unsigned items[2];
///   int ranks[2];
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x / 32 * 64 + i * 32 + threadIdx.x % 32];
///   Rank(temp_storage).RankKeys(items, ranks, lowest_byte{});
///   for (unsigned i = 0; i < 2; ++i) out[ranks[i]] = items[i];
/// }
///
/// int main() {
///   for (unsigned i = 0; i < 256; ++i) keys[i] = i << 8 | (255 - i) / 2;
///   if (strata::launch({"sort_by_lowest_byte", 1, 128}, sort_by_lowest_byte, keys, sorted) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 4; ++i) std::printf("%x ", sorted[i]);
/// }
/// // prints: fe00 ff00 fc01 fd01
/// @endcode

STRATA_NAMESPACE_BEGIN

/// CUB's names of the classes below.
enum RadixRankAlgorithm {
  RADIX_RANK_BASIC,                         ///< BlockRadixRank; the scan reads the counters twice
  RADIX_RANK_MEMOIZE,                       ///< BlockRadixRank; the scan keeps them in registers
  RADIX_RANK_MATCH,                         ///< BlockRadixRankMatch
  RADIX_RANK_MATCH_EARLY_COUNTS_ANY,        ///< BlockRadixRankMatchEarlyCounts by votes
  RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR,  ///< BlockRadixRankMatchEarlyCounts by words in shared memory
};

/// How a lane of a warp finds the lanes that have the same digit.
enum WarpMatchAlgorithm {
  /// The warp votes on each bit of the digit. The time does not depend on the digits.
  WARP_MATCH_ANY,
  /// Each digit has a word of shared memory, in which each lane with the digit sets its bit. This is faster if the
  /// digits of a row are different, and slower the more of them are equal.
  WARP_MATCH_ATOMIC_OR,
};

namespace detail {

template <int RadixBits>
struct radix_rank_digits {
  static_assert(RadixBits >= 1 && RadixBits <= 16,
                "the digits of BlockRadixRank and BlockRadixSort have 1 to 16 bits: choose RadixBits in that range");
  static constexpr int bits = RadixBits;
};

template <int X, int Y, int Z, BlockScanAlgorithm InnerScan, class Counter>
using radix_rank_scan = BlockScan<Counter, X, InnerScan, Y, Z>;

template <int X, int Y, int Z, int RadixBits, bool IsDescending, BlockScanAlgorithm InnerScan>
using radix_rank_counters = radix_warp_counters<block_shape<X, Y, Z>::threads, radix_rank_digits<RadixBits>::bits,
                                                IsDescending, radix_rank_scan<X, Y, Z, InnerScan, int>>;

template <int X, int Y, int Z, int RadixBits, bool IsDescending, bool Memoize, BlockScanAlgorithm InnerScan>
using radix_rank_basic =
    radix_rank_thread_counters<block_shape<X, Y, Z>::threads, radix_rank_digits<RadixBits>::bits, IsDescending, Memoize,
                               radix_rank_scan<X, Y, Z, InnerScan, unsigned>>;

}  // namespace detail

/// Ranks items in blocked arrangement: see the file's description.
///
/// - Each thread counts its items, then the block scans the counters, 2^RadixBits for each thread. Time and storage
///   grow with the number of counters: use digits of 3 to 5 bits.
/// - A tile has at most 65,535 items.
/// - Shared memory of a block of whole warps: at most 2^(RadixBits + 1) + 4 bytes for each thread, and what BlockScan
///   needs. Blocks of 32 threads and more have no bank conflicts, whatever the keys, with one exception: for
///   `exclusive_digit_prefix` and `callback`, threads read 2^(RadixBits - 1) words of one bank.
/// - `MemoizeOuterScan`: a thread scans about 2^(RadixBits - 1) words. It keeps them in registers, instead of reading
///   them twice.
template <int BlockDimX, int RadixBits, bool IsDescending, bool MemoizeOuterScan = true,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SmemConfig = cudaSharedMemBankSizeFourByte, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixRank
    : public detail::block_radix_rank_base<detail::radix_rank_basic<BlockDimX, BlockDimY, BlockDimZ, RadixBits,
                                                                    IsDescending, MemoizeOuterScan, InnerScan>,
                                           detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRank::block_radix_rank_base::block_radix_rank_base;
};

/// Ranks items in warp-striped arrangement: see the file's description.
///
/// - A warp ranks one row of its items at a time. RadixBits votes show each lane which lanes have the same digit, and
///   the last of these lanes updates the counter for all of them. Then the block scans the warps' counters. Each warp
///   has a scanned counter for each digit: a thread adds the one for the item's digit to the item's rank in the warp.
/// - Shared memory: a word for each digit and warp, gaps as in BlockExchange, and what BlockScan needs. Accesses to
///   counters conflict where a row has different digits whose counters lie in one bank.
template <int BlockDimX, int RadixBits, bool IsDescending, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixRankMatch
    : public detail::block_radix_rank_base<
          detail::radix_rank_match<
              detail::radix_rank_counters<BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending, InnerScan>,
              detail::radix_match_votes<BlockDimX * BlockDimY * BlockDimZ, RadixBits>, false>,
          detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRankMatch::block_radix_rank_base::block_radix_rank_base;
};

/// Ranks items in warp-striped arrangement, and reports early how many items have each digit: see the file's
/// description.
///
/// - Threads first count the items by atomic additions, and match lanes for the ranks only after the callback. So
///   the callback may publish counts that other blocks wait for.
/// - Shared memory: as for BlockRadixRankMatch. WARP_MATCH_ATOMIC_OR takes one more word for each digit and warp. Bank
///   conflicts as in BlockRadixRankMatch.
template <int BlockDimX, int RadixBits, bool IsDescending, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          WarpMatchAlgorithm MatchAlgorithm = WARP_MATCH_ANY, int NumParts = 1, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixRankMatchEarlyCounts
    : public detail::block_radix_rank_base<
          detail::radix_rank_match<
              detail::radix_rank_counters<BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending, InnerScan>,
              std::conditional_t<MatchAlgorithm == WARP_MATCH_ATOMIC_OR,
                                 detail::radix_match_words<BlockDimX * BlockDimY * BlockDimZ, RadixBits>,
                                 detail::radix_match_votes<BlockDimX * BlockDimY * BlockDimZ, RadixBits>>,
              true>,
          detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
 public:
  using BlockRadixRankMatchEarlyCounts::block_radix_rank_base::block_radix_rank_base;
};

namespace detail {

template <RadixRankAlgorithm Algorithm, int BlockDimX, int RadixBits, bool IsDescending,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS, int BlockDimY = 1, int BlockDimZ = 1>
using block_radix_rank_t = std::conditional_t<
    Algorithm == RADIX_RANK_BASIC || Algorithm == RADIX_RANK_MEMOIZE,
    BlockRadixRank<BlockDimX, RadixBits, IsDescending, Algorithm == RADIX_RANK_MEMOIZE, InnerScan,
                   cudaSharedMemBankSizeFourByte, BlockDimY, BlockDimZ>,
    std::conditional_t<Algorithm == RADIX_RANK_MATCH,
                       BlockRadixRankMatch<BlockDimX, RadixBits, IsDescending, InnerScan, BlockDimY, BlockDimZ>,
                       BlockRadixRankMatchEarlyCounts<
                           BlockDimX, RadixBits, IsDescending, InnerScan,
                           Algorithm == RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR ? WARP_MATCH_ATOMIC_OR : WARP_MATCH_ANY,
                           1, BlockDimY, BlockDimZ>>>;

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The block and warp classes of both libraries under the same names. A collective takes one of these structs as its
/// template parameter.

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/radix_rank_sort_operations.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_histogram.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_run_length_decode.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/block_store.cuh>
#include <strata/block/radix_rank_sort_operations.cuh>
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>
#include <strata/warp/warp_store.cuh>

namespace bench {

struct on_strata {
  template <class T, int Threads, auto... More>
  using BlockReduce = strata::BlockReduce<T, Threads, More...>;
  template <class T, int Threads, auto... More>
  using BlockScan = strata::BlockScan<T, Threads, More...>;
  template <class Key, int Threads, int Items, class Value = strata::NullType>
  using BlockRadixSort = strata::BlockRadixSort<Key, Threads, Items, Value>;
  template <class Key, int Threads, int Items, class Value = strata::NullType>
  using BlockMergeSort = strata::BlockMergeSort<Key, Threads, Items, Value>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRank = strata::BlockRadixRank<Threads, Bits, IsDescending, More...>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRankMatch = strata::BlockRadixRankMatch<Threads, Bits, IsDescending, More...>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRankMatchEarlyCounts = strata::BlockRadixRankMatchEarlyCounts<Threads, Bits, IsDescending, More...>;
  template <class Key>
  using BFEDigitExtractor = strata::BFEDigitExtractor<Key>;
  template <class T, int Threads, int Items>
  using BlockExchange = strata::BlockExchange<T, Threads, Items>;
  template <class T, int Threads, int Items, auto... More>
  using BlockLoad = strata::BlockLoad<T, Threads, Items, More...>;
  template <class T, int Threads, int Items, auto... More>
  using BlockStore = strata::BlockStore<T, Threads, Items, More...>;
  template <class T, int Threads, int Items, int Bins, auto... More>
  using BlockHistogram = strata::BlockHistogram<T, Threads, Items, Bins, More...>;
  template <class T, int Threads>
  using BlockDiscontinuity = strata::BlockDiscontinuity<T, Threads>;
  template <class T, int Threads>
  using BlockAdjacentDifference = strata::BlockAdjacentDifference<T, Threads>;
  template <class T, int Threads>
  using BlockShuffle = strata::BlockShuffle<T, Threads>;
  template <class T, int Threads, int Runs, int Items>
  using BlockRunLengthDecode = strata::BlockRunLengthDecode<T, Threads, Runs, Items>;
  template <class T, int Lanes>
  using WarpReduce = strata::WarpReduce<T, Lanes>;
  template <class T, int Lanes>
  using WarpScan = strata::WarpScan<T, Lanes>;
  template <class Key, int Lanes, int Items, class Value = strata::NullType>
  using WarpMergeSort = strata::WarpMergeSort<Key, Items, Lanes, Value>;
  template <class T, int Lanes, int Items, auto... More>
  using WarpExchange = strata::WarpExchange<T, Items, Lanes, More...>;
  template <class T, int Lanes, int Items, strata::WarpLoadAlgorithm Algorithm>
  using WarpLoad = strata::WarpLoad<T, Items, Algorithm, Lanes>;
  template <class T, int Lanes, int Items, strata::WarpStoreAlgorithm Algorithm>
  using WarpStore = strata::WarpStore<T, Items, Algorithm, Lanes>;

  static constexpr auto reduce_raking = strata::BLOCK_REDUCE_RAKING;
  static constexpr auto reduce_commutative = strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
  static constexpr auto scan_raking = strata::BLOCK_SCAN_RAKING;
  static constexpr auto scan_memoize = strata::BLOCK_SCAN_RAKING_MEMOIZE;
  static constexpr auto scan_warp_scans = strata::BLOCK_SCAN_WARP_SCANS;
  static constexpr auto match_atomic_or = strata::WARP_MATCH_ATOMIC_OR;
  static constexpr auto histogram_sort = strata::BLOCK_HISTO_SORT;
  static constexpr auto histogram_atomic = strata::BLOCK_HISTO_ATOMIC;
  static constexpr auto load_direct = strata::BLOCK_LOAD_DIRECT;
  static constexpr auto load_striped = strata::BLOCK_LOAD_STRIPED;
  static constexpr auto load_vectorize = strata::BLOCK_LOAD_VECTORIZE;
  static constexpr auto load_transpose = strata::BLOCK_LOAD_TRANSPOSE;
  static constexpr auto load_warp_transpose = strata::BLOCK_LOAD_WARP_TRANSPOSE;
  static constexpr auto load_warp_transpose_timesliced = strata::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static constexpr auto warp_load_direct = strata::WARP_LOAD_DIRECT;
  static constexpr auto warp_load_striped = strata::WARP_LOAD_STRIPED;
  static constexpr auto warp_load_vectorize = strata::WARP_LOAD_VECTORIZE;
  static constexpr auto warp_load_transpose = strata::WARP_LOAD_TRANSPOSE;
  static constexpr auto store_direct = strata::BLOCK_STORE_DIRECT;
  static constexpr auto store_striped = strata::BLOCK_STORE_STRIPED;
  static constexpr auto store_vectorize = strata::BLOCK_STORE_VECTORIZE;
  static constexpr auto store_transpose = strata::BLOCK_STORE_TRANSPOSE;
  static constexpr auto store_warp_transpose = strata::BLOCK_STORE_WARP_TRANSPOSE;
  static constexpr auto store_warp_transpose_timesliced = strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static constexpr auto warp_store_direct = strata::WARP_STORE_DIRECT;
  static constexpr auto warp_store_striped = strata::WARP_STORE_STRIPED;
  static constexpr auto warp_store_vectorize = strata::WARP_STORE_VECTORIZE;
  static constexpr auto warp_store_transpose = strata::WARP_STORE_TRANSPOSE;
  static constexpr auto warp_exchange_smem = strata::WARP_EXCHANGE_SMEM;
  static constexpr auto warp_exchange_shuffle = strata::WARP_EXCHANGE_SHUFFLE;
};

struct on_cub {
  template <class T, int Threads, auto... More>
  using BlockReduce = cub::BlockReduce<T, Threads, More...>;
  template <class T, int Threads, auto... More>
  using BlockScan = cub::BlockScan<T, Threads, More...>;
  template <class Key, int Threads, int Items, class Value = cub::NullType>
  using BlockRadixSort = cub::BlockRadixSort<Key, Threads, Items, Value>;
  template <class Key, int Threads, int Items, class Value = cub::NullType>
  using BlockMergeSort = cub::BlockMergeSort<Key, Threads, Items, Value>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRank = cub::BlockRadixRank<Threads, Bits, IsDescending, More...>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRankMatch = cub::BlockRadixRankMatch<Threads, Bits, IsDescending, More...>;
  template <int Threads, int Bits, bool IsDescending, auto... More>
  using BlockRadixRankMatchEarlyCounts = cub::BlockRadixRankMatchEarlyCounts<Threads, Bits, IsDescending, More...>;
  template <class Key>
  using BFEDigitExtractor = cub::BFEDigitExtractor<Key>;
  template <class T, int Threads, int Items>
  using BlockExchange = cub::BlockExchange<T, Threads, Items>;
  template <class T, int Threads, int Items, auto... More>
  using BlockLoad = cub::BlockLoad<T, Threads, Items, More...>;
  template <class T, int Threads, int Items, auto... More>
  using BlockStore = cub::BlockStore<T, Threads, Items, More...>;
  template <class T, int Threads, int Items, int Bins, auto... More>
  using BlockHistogram = cub::BlockHistogram<T, Threads, Items, Bins, More...>;
  template <class T, int Threads>
  using BlockDiscontinuity = cub::BlockDiscontinuity<T, Threads>;
  template <class T, int Threads>
  using BlockAdjacentDifference = cub::BlockAdjacentDifference<T, Threads>;
  template <class T, int Threads>
  using BlockShuffle = cub::BlockShuffle<T, Threads>;
  template <class T, int Threads, int Runs, int Items>
  using BlockRunLengthDecode = cub::BlockRunLengthDecode<T, Threads, Runs, Items>;
  template <class T, int Lanes>
  using WarpReduce = cub::WarpReduce<T, Lanes>;
  template <class T, int Lanes>
  using WarpScan = cub::WarpScan<T, Lanes>;
  template <class Key, int Lanes, int Items, class Value = cub::NullType>
  using WarpMergeSort = cub::WarpMergeSort<Key, Items, Lanes, Value>;
  template <class T, int Lanes, int Items, auto... More>
  using WarpExchange = cub::WarpExchange<T, Items, Lanes, More...>;
  template <class T, int Lanes, int Items, cub::WarpLoadAlgorithm Algorithm>
  using WarpLoad = cub::WarpLoad<T, Items, Algorithm, Lanes>;
  template <class T, int Lanes, int Items, cub::WarpStoreAlgorithm Algorithm>
  using WarpStore = cub::WarpStore<T, Items, Algorithm, Lanes>;

  static constexpr auto reduce_raking = cub::BLOCK_REDUCE_RAKING;
  static constexpr auto reduce_commutative = cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY;
  static constexpr auto scan_raking = cub::BLOCK_SCAN_RAKING;
  static constexpr auto scan_memoize = cub::BLOCK_SCAN_RAKING_MEMOIZE;
  static constexpr auto scan_warp_scans = cub::BLOCK_SCAN_WARP_SCANS;
  static constexpr auto match_atomic_or = cub::WARP_MATCH_ATOMIC_OR;
  static constexpr auto histogram_sort = cub::BLOCK_HISTO_SORT;
  static constexpr auto histogram_atomic = cub::BLOCK_HISTO_ATOMIC;
  static constexpr auto load_direct = cub::BLOCK_LOAD_DIRECT;
  static constexpr auto load_striped = cub::BLOCK_LOAD_STRIPED;
  static constexpr auto load_vectorize = cub::BLOCK_LOAD_VECTORIZE;
  static constexpr auto load_transpose = cub::BLOCK_LOAD_TRANSPOSE;
  static constexpr auto load_warp_transpose = cub::BLOCK_LOAD_WARP_TRANSPOSE;
  static constexpr auto load_warp_transpose_timesliced = cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static constexpr auto warp_load_direct = cub::WARP_LOAD_DIRECT;
  static constexpr auto warp_load_striped = cub::WARP_LOAD_STRIPED;
  static constexpr auto warp_load_vectorize = cub::WARP_LOAD_VECTORIZE;
  static constexpr auto warp_load_transpose = cub::WARP_LOAD_TRANSPOSE;
  static constexpr auto store_direct = cub::BLOCK_STORE_DIRECT;
  static constexpr auto store_striped = cub::BLOCK_STORE_STRIPED;
  static constexpr auto store_vectorize = cub::BLOCK_STORE_VECTORIZE;
  static constexpr auto store_transpose = cub::BLOCK_STORE_TRANSPOSE;
  static constexpr auto store_warp_transpose = cub::BLOCK_STORE_WARP_TRANSPOSE;
  static constexpr auto store_warp_transpose_timesliced = cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static constexpr auto warp_store_direct = cub::WARP_STORE_DIRECT;
  static constexpr auto warp_store_striped = cub::WARP_STORE_STRIPED;
  static constexpr auto warp_store_vectorize = cub::WARP_STORE_VECTORIZE;
  static constexpr auto warp_store_transpose = cub::WARP_STORE_TRANSPOSE;
  static constexpr auto warp_exchange_smem = cub::WARP_EXCHANGE_SMEM;
  static constexpr auto warp_exchange_shuffle = cub::WARP_EXCHANGE_SHUFFLE;
};

}  // namespace bench

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/least_index.cuh>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/find/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What a block of FindIf does with its share of the input. Tiles come in ascending order:
///
///     1. Load a tile, and look at the least match that other blocks have announced.
///     2. Test its items.
///     3. Stop if an item matches, or if the announced match lies before the next tile.
///
/// All items before the least match are tested: a block leaves out only tiles behind a match.
template <class Policy, class Predicate>
class AgentFind {
  static constexpr find_tuning tuning = Policy::find;
  static constexpr int block_threads = tuning.block_threads;
  using Index = unsigned long long;
  using BlockReduceT = BlockReduce<Index, block_threads>;

  template <class Iterator>
  using best_input =
      std::conditional_t<is_bulk_array<Iterator>, vector_input<iterator_value_t<Iterator>>, item_input<Iterator>>;
  template <class Input>
  STRATA_HD static constexpr int packs_of() {
    constexpr int in_flight =
        tuning.bytes_in_flight / (static_cast<int>(sizeof(typename Input::value_type)) * Input::width);
    constexpr int most_packs = detail::least(tuning.most_items / Input::width, 16);
    constexpr int packs = detail::least(in_flight, most_packs);
    return packs > 1 ? packs : 1;
  }
  template <class Input>
  static constexpr std::size_t tile_packs = static_cast<std::size_t>(packs_of<Input>()) * block_threads;

 public:
  /// Packs of a tile, where blocks take tiles in turn.
  template <class Iterator>
  static constexpr std::size_t interleaved_packs = tile_packs<best_input<Iterator>>;

  using TempStorage = typename BlockReduceT::TempStorage;

  STRATA_D AgentFind(TempStorage& storage, Predicate predicate, const least_index& announced)
      : storage_(storage), predicate_(predicate), announced_(announced) {}

  /// The first match in block `rank`'s part of `share`, or `none`, in thread 0. Leaves out what lies behind a match.
  template <class Iterator>
  STRATA_D Index find(Iterator d_in, const even_share& share, unsigned rank, Index none) {
    Index match = none;
    if constexpr (is_bulk_array<Iterator>) {
      if (share.is_vectorized) {
        const vector_input<iterator_value_t<Iterator>> input{d_in + share.head_items,
                                                             platform::evict_first(share.evict_first_fraction)};
        find_among_packs(input, d_in, share, rank, match);
        return least_of_block(match);
      }
      // Items with the alignment of their size are always vectorized.
      using T = iterator_value_t<Iterator>;
      if constexpr (alignof(T) == sizeof(T)) return none;
    }
    find_among_packs(item_input<Iterator>{d_in}, d_in, share, rank, match);
    return least_of_block(match);
  }

  /// The least of one index of each of the first `num_valid` threads, in thread 0.
  STRATA_D Index least_of_block(Index index, int num_valid = block_threads) {
    __syncthreads();
    return BlockReduceT(storage_).Reduce(index, Min{}, num_valid);
  }

 private:
  // Block 0 also tests the items before the first whole pack, the last block those behind the last one. `match` is
  // behind all items, and becomes the first match of this thread.
  template <class Input, class Iterator>
  STRATA_D void find_among_packs(const Input& input, const Iterator& d_in, const even_share& share, unsigned rank,
                                 Index& match) {
    bool has_match = rank == 0 && test_single(d_in, 0, share.head_items, match);
    std::size_t rounds = share.rounds, tile_of_rounds = rank * tile_packs<Input>;
    std::size_t begin = share.begin(rank);
    const std::size_t end = share.end(rank);
    const auto index_of = [&](std::size_t pack) { return static_cast<Index>(share.head_items + pack * Input::width); };
    while (rounds > 0 || begin < end) {
      const std::size_t tile = rounds > 0 ? tile_of_rounds : begin;
      const std::size_t left = rounds > 0 ? tile_packs<Input> : end - begin;
      if (rounds > 0) {
        --rounds;
        tile_of_rounds += share.blocks * tile_packs<Input>;
      } else {
        begin += detail::least(left, tile_packs<Input>);
      }
      const std::size_t next = rounds > 0 ? tile_of_rounds : begin;
      // One thread looks, while the loads of the tile are under way.
      bool is_found = threadIdx.x == 0 && announced_.is_below(index_of(next));
      const int item =
          left >= tile_packs<Input> ? test_tile<true>(input, tile, left) : test_tile<false>(input, tile, left);
      if (item >= 0 && !has_match) {
        const int pack = item / Input::width;
        match = index_of(tile + threadIdx.x + static_cast<unsigned>(pack) * std::size_t{block_threads}) +
                static_cast<unsigned>(item % Input::width);
        has_match = true;
      }
      is_found = is_found || has_match;
      if (__syncthreads_or(is_found ? 1 : 0) != 0) return;
    }
    if (rank + 1 == share.blocks && !has_match) {
      test_single(d_in, share.head_items + share.packs * Input::width, share.tail_items, match);
    }
  }

  /// The threads test an item each, fewer than there are threads.
  template <class Iterator>
  STRATA_D bool test_single(const Iterator& d_in, std::size_t first, std::size_t count, Index& match) {
    if (threadIdx.x >= count) return false;
    const std::size_t index = first + threadIdx.x;
    const auto item = item_input<Iterator>{d_in}.template load<true>(index);
    if (!static_cast<bool>(predicate_(item[0]))) return false;
    match = index;
    return true;
  }

  /// The number of the first match of this thread in a tile of `left` packs, or of the first of them, or -1.
  template <bool IsWhole, class Input>
  STRATA_D int test_tile(const Input& input, std::size_t tile, std::size_t left) {
    constexpr int packs = packs_of<Input>();
    typename Input::pack loaded[static_cast<std::size_t>(packs)];
    const auto has = [&](int i) {
      return IsWhole || threadIdx.x + static_cast<unsigned>(i) * std::size_t{block_threads} < left;
    };
    STRATA_UNROLL
    for (int i = 0; i < packs; ++i) {
      if (has(i)) {
        loaded[i] =
            input.template load<true>(tile + threadIdx.x + static_cast<unsigned>(i) * std::size_t{block_threads});
      }
    }
    int first = -1;
    STRATA_UNROLL
    for (int i = packs - 1; i >= 0; --i) {
      if (!has(i)) continue;
      STRATA_UNROLL
      for (int k = Input::width - 1; k >= 0; --k) {
        const bool is_match = static_cast<bool>(predicate_(loaded[i][k]));
        first = is_match ? i * Input::width + k : first;
      }
    }
    return first;
  }

  TempStorage& storage_;
  Predicate predicate_;
  const least_index& announced_;
};

}  // namespace detail
STRATA_NAMESPACE_END

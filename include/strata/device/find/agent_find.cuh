// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/announced_index.cuh>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/find/tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How the input of FindIf is cut for the blocks. If there are at least two rounds of tiles, and a tile has more than
/// one pack for each thread, a short round comes first, with one pack for each thread: a match near the begin is
/// announced before much has been read. The packs and rounds that the members of even_share describe are only those
/// after the short round.
struct find_share : even_share {
  std::size_t short_packs;

  /// Cuts the input for blocks of `threads` threads, which take tiles of `tile_packs` packs in turn.
  template <class Iterator>
  static find_share cut(Iterator iterator, std::size_t num_items, unsigned blocks, std::size_t tile_packs,
                        std::size_t threads) {
    find_share share{even_share::cut(iterator, num_items, blocks, tile_packs), 0};
    if (share.rounds > 1 && tile_packs > threads) {
      share.short_packs = threads * blocks;
      share.cut_packs(share.packs - share.short_packs, blocks, tile_packs);
    }
    return share;
  }
};

/// What a block of FindIf does with its share of the input. Each warp takes its part of the block's tiles, in ascending
/// order, and waits for no other warp:
///
///     1. Leave if a match is known that lies before the tile.
///     2. Load the warp's part of the tile. One thread of the block also asks for the announced match.
///     3. Test the items. A match lowers the least one that the block knows, and is announced to all blocks.
///
/// The block tests all items before the least match. A warp leaves out only tiles behind a match.
template <class Policy, class Predicate>
class AgentFind {
  static constexpr find_tuning tuning = Policy::find;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr unsigned no_item = ~0u;
  using Index = unsigned long long;
  using WarpReduceT = WarpReduce<unsigned>;

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
  /// The number of packs in a tile, for blocks that take tiles in turn.
  template <class Iterator>
  static constexpr std::size_t interleaved_packs = tile_packs<best_input<Iterator>>;

  struct TempStorage {
    Index least;  // the least match that the block knows, or an index up to which another block has a match
    unsigned has_announced;
    typename WarpReduceT::TempStorage warps[static_cast<std::size_t>(block_threads / warp_threads)];
  };

  /// `none` is an index behind all items.
  STRATA_D AgentFind(TempStorage& storage, Predicate predicate, const announced_index& announced, Index none)
      : storage_(storage), predicate_(predicate), announced_(announced) {
    if (threadIdx.x == 0) {
      storage_.least = none;
      storage_.has_announced = 0;
    }
    __syncthreads();
  }

  /// Tests the part of `share` that belongs to block `rank`, except tiles behind a known match. Returns, in all
  /// threads, the least match that the block knows then, or a smaller index up to which another block has a match.
  template <class Iterator>
  STRATA_D Index find(Iterator d_in, const find_share& share, unsigned rank) {
    find_in_best_input(d_in, share, rank);
    __syncthreads();
    if (threadIdx.x == 0 && storage_.has_announced != 0) announced_.publish();
    return storage_.least;
  }

  /// Returns the minimum of the threads' numbers and of the match that the block knows. All threads of the block call
  /// this, after find(). Most calls have few matches or none, so few threads take part in the atomic minimum. A
  /// reduction by a tree would take longer to fetch its instructions than to execute them.
  STRATA_D Index least_of_block(Index index) {
    if (index < platform::load_shared_relaxed(&storage_.least)) atomicMin(&storage_.least, index);
    __syncthreads();
    return storage_.least;
  }

 private:
  template <class Iterator>
  STRATA_D void find_in_best_input(const Iterator& d_in, const find_share& share, unsigned rank) {
    if constexpr (is_bulk_array<Iterator>) {
      if (share.is_vectorized) {
        const vector_input<iterator_value_t<Iterator>> input{d_in + share.head_items,
                                                             platform::evict_first(share.evict_first_fraction)};
        find_among_packs(input, d_in, share, rank);
        return;
      }
      // Items whose alignment is their size are always read as vectors.
      using T = iterator_value_t<Iterator>;
      if constexpr (alignof(T) == sizeof(T)) return;
    }
    find_among_packs(item_input<Iterator>{d_in}, d_in, share, rank);
  }

  // Block 0 also tests the items before the first whole pack, the last block those behind the last one.
  template <class Input, class Iterator>
  STRATA_D void find_among_packs(const Input& input, const Iterator& d_in, const find_share& share, unsigned rank) {
    if (rank == 0) test_few(d_in, 0, share.head_items, share.blocks);
    // The stages are the short round, the rounds of tiles, and the block's even share of the rest.
    STRATA_UNROLL_N(1)
    for (int stage = share.short_packs > 0 ? 0 : 1; stage < 3; ++stage) {
      std::size_t tile, end, step;
      if (stage == 0) {
        step = block_threads;
        tile = rank * step;
        end = tile + step;
      } else if (stage == 1) {
        step = share.blocks * tile_packs<Input>;
        tile = share.short_packs + rank * tile_packs<Input>;
        end = share.short_packs + share.first_even_pack;
      } else {
        step = tile_packs<Input>;
        tile = share.short_packs + share.begin(rank);
        end = share.short_packs + share.end(rank);
      }
      STRATA_UNROLL_N(1)
      for (; tile < end; tile += step) {
        const Index first = share.head_items + tile * Input::width;
        if (__any_sync(full_warp_mask, platform::load_shared_relaxed(&storage_.least) <= first)) return;
        const auto count = static_cast<unsigned>(detail::least(end - tile, tile_packs<Input>));
        // The answer arrives together with the items of the tile.
        const bool asks = threadIdx.x == 0 && share.blocks > 1;
        platform::tagged_word answer{};
        if (asks) answer = announced_.ask();
        const unsigned pack = test_tile(input, tile, count);
        if (__any_sync(full_warp_mask, pack != no_item)) note(d_in, pack, first, Input::width, share.blocks);
        if (asks && announced_.is_announced(answer)) atomicMin(&storage_.least, answer.value);
      }
    }
    if (rank + 1 == share.blocks) {
      test_few(d_in, share.head_items + (share.short_packs + share.packs) * Input::width, share.tail_items,
               share.blocks);
    }
  }

  /// Finds and notes the first match of a tile. `pack` is the number of the first pack of this lane with a match, and
  /// packs have `width` items and begin at item `first`. The lanes test the items of the warp's first such pack once
  /// more: this takes fewer instructions than to remember which item of which pack matched. Meanwhile, the last item of
  /// the pack is announced. All lanes of a warp call this.
  template <class Iterator>
  STRATA_D void note(const Iterator& d_in, unsigned pack, Index first, unsigned width, unsigned blocks) {
    const unsigned least = WarpReduceT(storage_.warps[threadIdx.x / warp_threads]).Reduce(pack, Min{});
    const Index begin = first + Index{__shfl_sync(full_warp_mask, least, 0)} * width;
    if (platform::lane_id() == 0) announce(begin + width - 1, blocks);
    const Index match = first_match(d_in, begin, width);
    if (platform::lane_id() == 0) atomicMin(&storage_.least, match);
  }

  /// Warp 0 tests items that fill no pack.
  template <class Iterator>
  STRATA_D void test_few(const Iterator& d_in, std::size_t first, std::size_t count, unsigned blocks) {
    if (count == 0 || threadIdx.x >= warp_threads) return;
    const Index match = first_match(d_in, first, static_cast<unsigned>(count));
    if (platform::lane_id() != 0 || match == ~Index{0}) return;
    announce(match, blocks);
    atomicMin(&storage_.least, match);
  }

  /// Tells other blocks that there is a match at `index` or before it. One lane calls this.
  STRATA_D void announce(Index index, unsigned blocks) {
    if (blocks == 1 || index >= platform::load_shared_relaxed(&storage_.least)) return;
    announced_.announce(index);
    atomicExch(&storage_.has_announced, 1u);
  }

  /// Finds the first match among the `count` items from `begin` on, at most one item for each lane. All lanes of a warp
  /// call this.
  template <class Iterator>
  STRATA_D Index first_match(const Iterator& d_in, Index begin, unsigned count) {
    const unsigned lane = platform::lane_id();
    bool is_match = false;
    if (lane < count) {
      const auto item = item_input<Iterator>{d_in}.template load<true>(static_cast<std::size_t>(begin + lane));
      is_match = static_cast<bool>(predicate_(item[0]));
    }
    const unsigned matches = __ballot_sync(full_warp_mask, is_match);
    return matches == 0 ? ~Index{0} : begin + static_cast<unsigned>(__ffs(static_cast<int>(matches)) - 1);
  }

  /// Returns the number of the first pack of this thread that has a match among `count` packs from `tile` on, or
  /// `no_item`. Threads behind the last pack test it, too.
  template <class Input>
  STRATA_D unsigned test_tile(const Input& input, std::size_t tile, unsigned count) {
    constexpr int packs = packs_of<Input>();
    typename Input::pack loaded[static_cast<std::size_t>(packs)];
    const auto pack_of = [&](int i) {
      return detail::least(threadIdx.x + static_cast<unsigned>(i * block_threads), count - 1);
    };
    STRATA_UNROLL
    for (int i = 0; i < packs; ++i) loaded[i] = input.template load<true>(tile + pack_of(i));
    unsigned first = no_item;
    STRATA_UNROLL
    for (int i = packs - 1; i >= 0; --i) {
      bool has_match = false;
      STRATA_UNROLL
      for (int k = 0; k < Input::width; ++k) {
        const bool is_match = static_cast<bool>(predicate_(loaded[i][k]));
        has_match = has_match || is_match;
      }
      first = has_match ? pack_of(i) : first;
    }
    return first;
  }

  TempStorage& storage_;
  Predicate predicate_;
  const announced_index& announced_;
};

}  // namespace detail
STRATA_NAMESPACE_END

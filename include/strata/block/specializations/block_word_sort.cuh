// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/word_sort.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Sorts the unsigned words of a block of whole warps, in blocked arrangement. Equal words must be interchangeable.
///
/// 1. Each warp sorts its words by `word_sort`.
/// 2. The block merges the warps' runs, two at a time, in shared memory. Each thread finds where its words begin in
///    both runs (merge path). From there on, it pairs word i of one run with word Items - 1 - i of the other, for each
///    i below Items, and takes the smaller word of each pair. These are its words, as a bitonic sequence, which it
///    sorts in registers.
template <class Word, int Threads, int Items>
class block_word_sort {
  static constexpr std::size_t items = static_cast<std::size_t>(Items);
  static constexpr int warps = Threads / warp_threads;
  static constexpr int tile_items = Threads * Items;
  static constexpr Word greatest = static_cast<Word>(~Word{0});
  using in_warp = word_sort<Word, Items>;
  using tile = exchange_tile<Word, Items, Threads>;

 public:
  using storage = tile;

  STRATA_D static void sort(storage& shared, int thread, Word (&words)[items]) {
    in_warp::template sort_in_lanes<warp_threads>(full_warp_mask, static_cast<unsigned>(thread) % warp_threads, words);
    STRATA_UNROLL
    for (int run_threads = warp_threads; run_threads < Threads; run_threads *= 2) {
      if (run_threads > warp_threads) __syncthreads();
      shared.put_blocked(static_cast<unsigned>(thread), words);
      __syncthreads();
      merge_runs(shared, run_threads, thread, words);
    }
  }

 private:
  STRATA_D static Word at(storage& shared, int index) {
    return shared.get(tile::position(static_cast<unsigned>(index)));
  }

  // If the number of warps is no power of two, the last runs of a block are shorter, or missing.
  STRATA_D static void merge_runs(storage& shared, int run_threads, int thread, Word (&words)[items]) {
    constexpr bool all_runs_are_full = is_power_of_two(static_cast<unsigned>(warps));
    const int run = run_threads * Items;
    const int first = thread / (2 * run_threads) * (2 * run);
    const int diagonal = thread * Items - first;
    const int end_a = all_runs_are_full ? run : detail::least(run, tile_items - first);
    const int end_b = all_runs_are_full ? run : detail::most(0, detail::least(run, tile_items - first - run));
    int low = detail::most(0, diagonal - end_b);
    int high = detail::least(diagonal, end_a);
    while (low < high) {
      const int middle = static_cast<int>(static_cast<unsigned>(low + high) / 2);
      const bool is_before = at(shared, first + middle) <= at(shared, first + run + diagonal - 1 - middle);
      low = is_before ? middle + 1 : low;
      high = is_before ? high : middle;
    }
    const int b = diagonal - low;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int of_b = b + Items - 1 - i;
      const Word from_a = low + i < end_a ? at(shared, first + low + i) : greatest;
      const Word from_b = of_b < end_b ? at(shared, first + run + of_b) : greatest;
      words[i] = order_of_unsigned<Word>::smaller(from_a, from_b);
    }
    in_warp::sort_bitonic(words);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

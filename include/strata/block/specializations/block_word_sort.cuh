// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Sorts the unsigned words of a block of whole warps, in blocked arrangement. The sort is not stable, so equal words
/// must be interchangeable: then a step is a minimum and a maximum, without comparisons and branches.
///
/// 1. Each thread sorts its words in registers, by Batcher's odd-even merge sort.
/// 2. Each warp merges its threads' runs by bitonic merges. Words move by shuffles, without barriers.
/// 3. The block merges the warps' runs, two at a time, in shared memory. Each thread finds where its words begin in
///    both runs (merge path). It takes the smaller of word i of one run and word Items - 1 - i of the other. These are
///    its words, as a bitonic sequence, which it sorts in registers.
template <class Word, int Threads, int Items>
class block_word_sort {
  static constexpr std::size_t items = static_cast<std::size_t>(Items);
  static constexpr int warps = Threads / warp_threads;
  static constexpr int tile_items = Threads * Items;
  static constexpr Word greatest = static_cast<Word>(~Word{0});
  using tile = exchange_tile<Word, Items, Threads>;

 public:
  using storage = tile;

  STRATA_D static void sort(storage& shared, int thread, Word (&words)[items]) {
    sort_in_thread(words);
    sort_in_warp(static_cast<unsigned>(thread) % warp_threads, words);
    STRATA_UNROLL
    for (int run_threads = warp_threads; run_threads < Threads; run_threads *= 2) {
      if (run_threads > warp_threads) __syncthreads();
      shared.put_blocked(static_cast<unsigned>(thread), words);
      __syncthreads();
      merge_runs(shared, run_threads, thread, words);
    }
  }

 private:
  STRATA_D static Word smaller(Word a, Word b) { return b < a ? b : a; }
  STRATA_D static Word larger(Word a, Word b) { return b < a ? a : b; }
  STRATA_D static void order(Word& a, Word& b) {
    const Word low = smaller(a, b);
    b = larger(a, b);
    a = low;
  }

  // Batcher's network for the next power of two, without the steps that have a missing word: it would be the greatest.
  // Steps are templates, because compilers do not unroll loops of so many.
  template <int Run = 1, int Distance = Run>
  STRATA_D static void sort_in_thread(Word (&words)[items]) {
    if constexpr (Run < Items) {
      network_column<Run, Distance>(words, std::make_index_sequence<items>{});
      if constexpr (Distance > 1) {
        sort_in_thread<Run, Distance / 2>(words);
      } else {
        sort_in_thread<2 * Run>(words);
      }
    }
  }
  template <int Run, int Distance, std::size_t... Index>
  STRATA_D static void network_column(Word (&words)[items], std::index_sequence<Index...>) {
    (network_step<Run, Distance, static_cast<int>(Index)>(words), ...);
  }
  template <int Run, int Distance, int Index>
  STRATA_D static void network_step(Word (&words)[items]) {
    constexpr int first = Distance % Run;
    if constexpr (Index >= first && Index + Distance < Items && (Index - first) / Distance % 2 == 0 &&
                  Index / (2 * Run) == (Index + Distance) / (2 * Run)) {
      block_word_sort::order(words[Index], words[Index + Distance]);
    }
  }

  STRATA_D static void sort_bitonic(Word (&words)[items]) {
    if constexpr (is_power_of_two(static_cast<unsigned>(Items))) {
      STRATA_UNROLL
      for (int distance = Items / 2; distance > 0; distance /= 2) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          if ((i & distance) == 0) block_word_sort::order(words[i], words[i + distance]);
        }
      }
    } else {
      // Bitonic steps take halves.
      sort_in_thread(words);
    }
  }

  STRATA_D static void sort_in_warp(unsigned lane, Word (&words)[items]) {
    STRATA_UNROLL
    for (unsigned lanes = 2; lanes <= warp_threads; lanes *= 2) {
      // The second run is read backwards, so that both together are bitonic.
      Word other[items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        other[i] = platform::shuffle_xor(full_warp_mask, words[Items - 1 - i], static_cast<int>(lanes - 1));
      }
      take(lane, lanes / 2, words, other);
      STRATA_UNROLL
      for (unsigned distance = lanes / 4; distance > 0; distance /= 2) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          other[i] = platform::shuffle_xor(full_warp_mask, words[i], static_cast<int>(distance));
        }
        take(lane, distance, words, other);
      }
      sort_bitonic(words);
    }
  }
  // The lane without `bit` keeps the smaller words.
  STRATA_D static void take(unsigned lane, unsigned bit, Word (&words)[items], const Word (&other)[items]) {
    const bool takes_smaller = (lane & bit) == 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if constexpr (sizeof(Word) > sizeof(unsigned)) {  // there is no minimum instruction
        words[i] = (words[i] < other[i]) == takes_smaller ? words[i] : other[i];
      } else {
        words[i] = takes_smaller ? smaller(words[i], other[i]) : larger(words[i], other[i]);
      }
    }
  }

  STRATA_D static Word at(storage& shared, int index) {
    return shared.get(tile::position(static_cast<unsigned>(index)));
  }

  // The last runs of a block are shorter, or missing, if its warps are no power of two.
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
      words[i] = smaller(from_a, from_b);
    }
    sort_bitonic(words);
  }
};

/// Sorts the words of the valid keys of a block. `words` has them in the places of valid keys, and in others' places
/// those of the keys that are there.
template <class Code, int Threads, std::size_t Items, class Key, class IsValid>
STRATA_D void sort_as_words(exchange_tile<typename Code::word, static_cast<int>(Items), Threads>& shared, int thread,
                            const Key (&keys)[Items], typename Code::word (&words)[Items], const IsValid& is_valid) {
  using word = typename Code::word;
  STRATA_UNROLL
  for (std::size_t i = 0; i < Items; ++i) {
    words[i] = is_valid(static_cast<int>(i)) ? Code::encode(keys[i]) : static_cast<word>(~word{0});
  }
  block_word_sort<word, Threads, static_cast<int>(Items)>::sort(shared, thread, words);
  STRATA_UNROLL
  for (std::size_t i = 0; i < Items; ++i) {
    if (!is_valid(static_cast<int>(i))) words[i] = Code::encode(keys[i]);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// The second half of a counting sort: keys are not moved, but written anew from their counts.
///
///     begins[d] = number of keys whose digit is smaller than d       output[i] = the digit d with
///     digit   0  1  2  3  end                                         begins[d] <= i < begins[d + 1]
///     begins  0  2  2  5   6       output  0 0 2 2 2 3

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True for keys of `Bytes` bytes that can be written from their counts: equal keys have the same bits, and there is no
/// decomposer. Floating-point numbers are no such keys, because -0.0 and +0.0 are equal.
template <int Bytes, class Key, class Decomposer>
inline constexpr bool is_counting_sort_key =
    sizeof(Key) == Bytes&& is_radix_integer<Key>::value&& std::is_same_v<Decomposer, identity_decomposer>;

inline constexpr int counting_sort_bins = 1 << 16;

/// What both fills have in common: a block writes a tile of keys, 16 bytes at a time where it can.
template <class Key, bool IsDescending, int BlockThreads>
struct counting_sort_tile {
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  static constexpr std::size_t items = static_cast<std::size_t>(BlockThreads) * 8 * static_cast<std::size_t>(width);
  using Vector = item_vector<Key, width>;
  using word = typename RadixTraits<Key>::word;

  STRATA_D static Key key_of(int digit) {
    constexpr int last = (1 << 8 * static_cast<int>(sizeof(Key))) - 1;
    return RadixTraits<Key>::from_ordered(static_cast<word>(IsDescending ? last - digit : digit));
  }
  STRATA_D static void store(const Key (&keys)[width], Key* to) {
    Vector vector;
    vector.set(keys);
    vector.store_global(to);
  }
};

/// Writes sorted keys of one byte.
template <class Policy, class Key, bool IsDescending>
class AgentCountingSortFillBytes {
  static constexpr int block_threads = Policy::histogram.block_threads;
  using Tile = counting_sort_tile<Key, IsDescending, block_threads>;
  static constexpr int width = Tile::width;

 public:
  static constexpr std::size_t tile_items = Tile::items;

  struct TempStorage {
    unsigned long long begins[radix_bins + 1];
  };

  STRATA_D AgentCountingSortFillBytes(TempStorage& storage, const unsigned long long* begins, Key* d_out,
                                      std::size_t num_items)
      : storage_(storage), begins_(begins), d_out_(d_out), num_items_(num_items) {}

  STRATA_D void run() {
    for (int d = static_cast<int>(threadIdx.x); d < radix_bins; d += block_threads) {
      storage_.begins[d] = begins_[d];
    }
    if (threadIdx.x == 0) storage_.begins[radix_bins] = num_items_;
    __syncthreads();
    const std::size_t begin = blockIdx.x * tile_items;
    const std::size_t left = num_items_ - begin;
    const std::size_t end = begin + detail::least(left, tile_items);
    const int first_digit = digit_at(begin);
    std::size_t written = begin;
    if (detail::is_at_boundary(d_out_)) {
      const std::size_t vectors = (end - begin) / width;
      if (storage_.begins[first_digit + 1] >= end) {
        const typename Tile::Vector same = vector_of(first_digit);
        STRATA_UNROLL_N(8)
        for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) {
          same.store_global(d_out_ + begin + v * width);
        }
      } else {
        for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) write_vector(begin + v * width);
      }
      written += vectors * width;
    }
    for (std::size_t i = written + threadIdx.x; i < end; i += block_threads) {
      d_out_[i] = Tile::key_of(digit_at(i));
    }
  }

 private:
  // The digit of output item `i`: the last one that begins at `i` or before.
  STRATA_D int digit_at(std::size_t i) const {
    int digit = 0;
    STRATA_UNROLL
    for (int step = radix_bins / 2; step > 0; step /= 2) {
      if (storage_.begins[digit + step] <= i) digit += step;
    }
    return digit;
  }

  STRATA_D static typename Tile::Vector vector_of(int digit) {
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) keys[i] = Tile::key_of(digit);
    typename Tile::Vector vector;
    vector.set(keys);
    return vector;
  }

  STRATA_D void write_vector(std::size_t first) const {
    int digit = digit_at(first);
    if (storage_.begins[digit + 1] >= first + width) {
      vector_of(digit).store_global(d_out_ + first);
      return;
    }
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) {
      while (storage_.begins[digit + 1] <= first + static_cast<std::size_t>(i)) ++digit;
      keys[i] = Tile::key_of(digit);
    }
    Tile::store(keys, d_out_ + first);
  }

  TempStorage& storage_;
  const unsigned long long* begins_;
  Key* d_out_;
  std::size_t num_items_;
};

/// Writes sorted keys of 16 bits. A word is the digit of such a key: the key as an unsigned number, in the order of the
/// sort. The block finds the words of the first and the last key of its tile. Each thread searches for the words of its
/// keys between these two words.
template <class Policy, class Key, bool IsDescending>
class AgentCountingSortFillWords {
  static constexpr int block_threads = Policy::words.block_threads;
  using Tile = counting_sort_tile<Key, IsDescending, block_threads>;
  static constexpr int width = Tile::width;
  // not for users: policies are checked where they are read
  static_assert(block_threads >= 2 * warp_threads, "two warps look for two words");

 public:
  static constexpr std::size_t tile_items = Tile::items;

  struct TempStorage {
    int bound[2];  // the words of the tile's first and last key
  };

  STRATA_D AgentCountingSortFillWords(TempStorage& storage, const unsigned long long* begins, Key* d_out,
                                      std::size_t num_items)
      : storage_(storage), begins_(begins), d_out_(d_out), num_items_(num_items) {}

  STRATA_D void run() {
    const std::size_t begin = blockIdx.x * tile_items;
    const std::size_t left = num_items_ - begin;
    const std::size_t end = begin + detail::least(left, tile_items);
    const unsigned warp = threadIdx.x / warp_threads;
    if (warp < 2) {
      const int found = word_by_warp(warp == 0 ? begin : end - 1);
      if (platform::lane_id() == 0) storage_.bound[warp] = found;
    }
    __syncthreads();
    std::size_t written = begin;
    if (detail::is_at_boundary(d_out_)) {
      const std::size_t vectors = (end - begin) / width;
      for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) write_vector(begin + v * width);
      written += vectors * width;
    }
    for (std::size_t i = written + threadIdx.x; i < end; i += block_threads) {
      d_out_[i] = Tile::key_of(word_at(i, storage_.bound[0]));
    }
  }

 private:
  // The word of output item `i`, found by all lanes of a warp. Each of the first three steps leaves a 32nd of the
  // words, the last one leaves one of two.
  STRATA_D int word_by_warp(std::size_t i) const {
    const auto lane = static_cast<int>(platform::lane_id());
    int found = 0;
    for (int step : {2048, 64, 2, 1}) {
      const int probe = found + lane * step;
      const bool is_behind = probe >= counting_sort_bins || begins_[probe] > i;
      found += (__popc(__ballot_sync(full_warp_mask, is_behind ? 0 : 1)) - 1) * step;
    }
    return found;
  }

  // One thread searches: a binary search from word `from`, which begins at `i` or before.
  STRATA_D int word_at(std::size_t i, int from) const {
    int behind = storage_.bound[1] + 1;
    while (behind - from > 1) {
      const int middle = from + (behind - from) / 2;
      if (begins_[middle] <= i) {
        from = middle;
      } else {
        behind = middle;
      }
    }
    return from;
  }

  STRATA_D void write_vector(std::size_t first) const {
    int word = word_at(first, storage_.bound[0]);
    unsigned long long end = begins_[word + 1];
    Key key = Tile::key_of(word);
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) {
      const std::size_t next = first + static_cast<std::size_t>(i);
      if (end <= next) {
        word = word_at(next, word + 1);
        end = begins_[word + 1];
        key = Tile::key_of(word);
      }
      keys[i] = key;
    }
    Tile::store(keys, d_out_ + first);
  }

  TempStorage& storage_;
  const unsigned long long* begins_;
  Key* d_out_;
  std::size_t num_items_;
};

}  // namespace detail
STRATA_NAMESPACE_END

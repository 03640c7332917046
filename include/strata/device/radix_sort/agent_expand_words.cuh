// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_count_words.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Writes sorted keys of two bytes, of which only the places of the first are known. Each block
/// writes a tile: it finds the tile's first and last word, and each thread those of its keys
/// between these.
template <class Policy, class Key, bool IsDescending>
class AgentRadixExpandWords {
  static constexpr int block_threads = Policy::words.block_threads;
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  using Vector = item_vector<Key, width>;
  using word = typename RadixTraits<Key>::word;
  // not for users: policies are checked where they are read
  static_assert(block_threads >= 2 * warp_threads, "two warps look for two words");

 public:
  /// What a block writes.
  static constexpr std::size_t tile_items =
      static_cast<std::size_t>(block_threads) * 8 * static_cast<std::size_t>(width);

  struct TempStorage {
    int bound[2];  // the words of the tile's first and last key
  };

  STRATA_D AgentRadixExpandWords(TempStorage& storage, const unsigned long long* first, Key* d_out,
                                 std::size_t num_items)
      : storage_(storage), first_(first), d_out_(d_out), num_items_(num_items) {}

  STRATA_D void run() {
    const std::size_t begin = blockIdx.x * tile_items;
    const std::size_t left = num_items_ - begin;
    const std::size_t end = begin + (left < tile_items ? left : tile_items);
    const unsigned warp = threadIdx.x / warp_threads;
    if (warp < 2) {
      const int found = word_by_warp(warp == 0 ? begin : end - 1);
      if (platform::lane_id() == 0) storage_.bound[warp] = found;
    }
    __syncthreads();
    std::size_t written = begin;
    if (reinterpret_cast<std::uintptr_t>(d_out_) % 16 == 0) {
      const std::size_t vectors = (end - begin) / width;
      for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) {
        write_vector(begin + v * width);
      }
      written += vectors * width;
    }
    for (std::size_t i = written + threadIdx.x; i < end; i += block_threads) {
      d_out_[i] = key_of(word_at(i, storage_.bound[0]));
    }
  }

 private:
  // The last word whose first item is not behind, by all lanes of a warp: each step leaves a 32nd.
  STRATA_D int word_by_warp(std::size_t place) const {
    const auto lane = static_cast<int>(platform::lane_id());
    int found = 0;
    for (int step : {2048, 64, 2, 1}) {
      const int mine = found + lane * step;
      const bool is_behind = mine >= radix_words || first_[mine] > place;
      found += (__popc(__ballot_sync(full_warp_mask, is_behind ? 0 : 1)) - 1) * step;
    }
    return found;
  }

  // The same, by one thread, from a word that is not behind it on.
  STRATA_D int word_at(std::size_t place, int from) const {
    int behind = storage_.bound[1] + 1;
    while (behind - from > 1) {
      const int middle = from + (behind - from) / 2;
      if (first_[middle] <= place) {
        from = middle;
      } else {
        behind = middle;
      }
    }
    return from;
  }

  STRATA_D static Key key_of(int found) {
    const int ascending = IsDescending ? radix_words - 1 - found : found;
    return RadixTraits<Key>::from_ordered(static_cast<word>(ascending));
  }

  STRATA_D void write_vector(std::size_t place) const {
    int found = word_at(place, storage_.bound[0]);
    unsigned long long behind = first_[found + 1];
    Key key = key_of(found);
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) {
      const std::size_t next = place + static_cast<std::size_t>(i);
      if (behind <= next) {
        found = word_at(next, found + 1);
        behind = first_[found + 1];
        key = key_of(found);
      }
      keys[i] = key;
    }
    Vector vector;
    vector.set(keys);
    vector.store_global(d_out_ + place);
  }

  TempStorage& storage_;
  const unsigned long long* first_;
  Key* d_out_;
  std::size_t num_items_;
};

}  // namespace detail
STRATA_NAMESPACE_END

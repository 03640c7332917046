// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True for iterators that compute items from much state, such as a transformation of many arrays. Their code is long,
/// and each copy of it costs compile time: reductions of segments repeat it in a loop instead of unrolling the loop.
template <class Iterator>
inline constexpr bool has_long_code = !std::is_pointer_v<Iterator> && sizeof(Iterator) > 32;

/// Reads any random-access iterator, one item at a time.
template <class Iterator>
struct item_input {
  using value_type = iterator_value_t<Iterator>;
  static constexpr int width = 1;
  static constexpr bool has_long_code = detail::has_long_code<Iterator>;

  Iterator iterator;

  /// Holds `width` neighbouring items between load and use.
  struct pack {
    value_type item;
    STRATA_D const value_type& operator[](int) const { return item; }
  };

  template <bool IsStriped>
  STRATA_D pack load(std::size_t index) const {
    using difference = typename std::iterator_traits<Iterator>::difference_type;
    return {static_cast<value_type>(iterator[static_cast<difference>(index)])};
  }
};

/// Reads memory 16 bytes at a time; `first` lies on a 16-byte boundary.
template <class T>
struct vector_input {
  using value_type = T;
  static constexpr int width = static_cast<int>(16 / sizeof(T));
  static constexpr bool has_long_code = false;

  const T* first;
  platform::l2_policy policy;

  // A pack keeps words. Items of fewer than 4 bytes are cut out of the words in registers, when they are used. An
  // item_vector would be shorter code, but with it nvcc 13.0 spills registers in ArgMin of doubles.
  struct pack {
    unsigned words[4];
    STRATA_D T operator[](int i) const {
      constexpr int bytes = static_cast<int>(sizeof(T));
      union bits {
        unsigned words[(sizeof(T) + 3) / 4];
        T item;
        STRATA_D bits() {}
      } result;
      if constexpr (bytes >= 4) {
        STRATA_UNROLL
        for (int word = 0; word < bytes / 4; ++word) {
          result.words[word] = words[i * (bytes / 4) + word];
        }
      } else {
        result.words[0] = words[i * bytes / 4] >> (i * bytes % 4 * 8);
      }
      return result.item;
    }
  };

  /// If `IsStriped`, neighbouring lanes load neighbouring packs.
  template <bool IsStriped>
  STRATA_D pack load(std::size_t index) const {
    const uint4* const p = reinterpret_cast<const uint4*>(first) + index;
    const uint4 v = IsStriped ? platform::load_streaming(p, policy) : platform::load_cached(p, policy);
    return {{v.x, v.y, v.z, v.w}};
  }
};

/// The fraction of lines that a large input marks as the first to leave L2. If nearly all lines are marked, they evict
/// each other too early: 2^28 i32 takes 242 us with 0.97, 238 with 0.75 (H200, 2026-11).
inline constexpr float large_input_evict_first = 0.75f;

/// The fraction of the lines read that leave L2 first, so that the others stay for the next call. An array that does
/// not fit L2 and is reduced again and again finds up to half of L2 still there: 2^24 i32 13.4 us instead of 18.6
/// (H200, 2026-11-21).
inline float evict_first_fraction(int l2_bytes, std::size_t bytes) {
  const float kept = static_cast<float>(l2_bytes) * 0.5f;
  const float fraction = 1.0f - kept / static_cast<float>(bytes + 1);
  const float smallest = 0.125f;
  const float largest = large_input_evict_first;
  return fraction < smallest ? smallest : detail::least(fraction, largest);
}

/// How a sequence of items is cut for several blocks: `head_items`, then whole packs of `width` items, then
/// `tail_items`. The blocks share the packs. The first block also takes the head, the last block the tail. If the order
/// of items does not matter, the blocks take whole tiles in turn, as long as there is one for each block: this keeps
/// the memory's banks evenly busy. The other packs are divided evenly.
struct even_share {
  // Each block but the last has an even share that is a multiple of this many packs. Packs of 16 bytes then fill lines
  // of 128 bytes.
  static constexpr std::size_t granule = 8;

  std::size_t head_items;
  std::size_t packs;
  std::size_t tail_items;
  std::size_t rounds;  // of one tile for each block
  std::size_t first_even_pack;
  std::size_t granules_per_block;
  unsigned longer_blocks;  // this many blocks take one granule more
  unsigned blocks;
  float evict_first_fraction;  // of the lines read, see platform::evict_first
  bool is_vectorized;          // packs are 16 bytes of memory, on boundaries of 16 bytes

  /// Upper bound on blocks such that each still gets one granule, wherever the first whole pack begins. At least one.
  template <class Iterator>
  STRATA_HD static std::size_t max_blocks(std::size_t num_items) {
    constexpr std::size_t width = is_bulk_array<Iterator> ? 16 / sizeof(iterator_value_t<Iterator>) : 1;
    const std::size_t packs = num_items / width;
    return packs <= granule ? 1 : (packs - 1) / granule;
  }

  /// The blocks take tiles of `tile_packs` packs in turn, unless it is 0.
  template <class Iterator>
  STRATA_HD static even_share cut(Iterator iterator, std::size_t num_items, unsigned blocks,
                                  std::size_t tile_packs = 0) {
    even_share share;
    share.is_vectorized = false;
    share.evict_first_fraction = large_input_evict_first;
    share.head_items = 0;
    std::size_t width = 1;
    if constexpr (is_bulk_array<Iterator>) {
      using range = aligned_range<iterator_value_t<Iterator>, std::size_t>;
      if (range::has_boundary(iterator)) {
        share.is_vectorized = true;
        share.head_items = range(iterator, num_items).head;
        width = range::width;
      } else {
        tile_packs = 0;
      }
    }
    const std::size_t packs = (num_items - share.head_items) / width;
    share.tail_items = num_items - share.head_items - packs * width;
    share.cut_packs(packs, blocks, tile_packs);
    return share;
  }
  STRATA_HD void cut_packs(std::size_t count, unsigned among, std::size_t tile_packs) {
    packs = count;
    blocks = among;
    rounds = 0;
    granules_per_block = packs / granule;
    longer_blocks = 0;
    if (blocks > 1) {  // a division costs as much as a load
      rounds = tile_packs == 0 ? 0 : packs / tile_packs / blocks;
      const std::size_t granules = (packs - rounds * tile_packs * blocks) / granule;
      granules_per_block = granules / blocks;
      longer_blocks = static_cast<unsigned>(granules % blocks);
    }
    first_even_pack = rounds * tile_packs * blocks;
  }

  STRATA_HD std::size_t begin(unsigned block) const {
    return first_even_pack + (block * granules_per_block + (block < longer_blocks ? block : longer_blocks)) * granule;
  }
  STRATA_HD std::size_t end(unsigned block) const { return block + 1 == blocks ? packs : begin(block + 1); }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Items that are loaded together.
template <class T, int Width>
struct item_pack {
  T items[Width];
};

/// Reads any random-access iterator, one item at a time.
template <class Iterator>
struct item_input {
  using value_type = iterator_value_t<Iterator>;
  static constexpr int width = 1;

  Iterator iterator;

  STRATA_D item_pack<value_type, 1> load(std::size_t index) const {
    using difference = typename std::iterator_traits<Iterator>::difference_type;
    return {{static_cast<value_type>(iterator[static_cast<difference>(index)])}};
  }
};

/// Reads memory 16 bytes at a time; `first` lies on a 16-byte boundary.
template <class T>
struct vector_input {
  using value_type = T;
  static constexpr int width = static_cast<int>(16 / sizeof(T));

  const T* first;

  STRATA_D item_pack<T, width> load(std::size_t index) const {
    union bits {
      uint4 words;
      item_pack<T, width> pack;
      STRATA_D bits() {}
    } loaded;
    loaded.words = platform::load_streaming(reinterpret_cast<const uint4*>(first) + index);
    return loaded.pack;
  }
};

/// True where items of `Iterator` may be loaded 16 bytes at a time, alignment permitting.
template <class Iterator>
struct is_vectorizable : std::false_type {};
template <class T>
struct is_vectorizable<T*>
    : std::bool_constant<std::is_trivially_copyable_v<T> && !std::is_volatile_v<T> &&
                         is_power_of_two(sizeof(T)) && sizeof(T) <= 16> {};

/// A sequence of items cut for several blocks: `head_items`, then whole packs of `width` items that
/// the blocks share evenly, then `tail_items`. The first and the last block also take what lies
/// outside the packs.
struct even_share {
  // Shares are multiples of this many packs: of a 128-byte line, where packs have 16 bytes.
  static constexpr std::size_t granule = 8;

  std::size_t head_items;
  std::size_t packs;
  std::size_t tail_items;
  std::size_t granules_per_block;
  unsigned longer_blocks;  // this many blocks take one granule more
  unsigned blocks;
  bool is_vectorized;  // packs are 16 bytes of memory, on boundaries of 16 bytes

  template <class Iterator>
  STRATA_HD static even_share cut(Iterator iterator, std::size_t num_items, unsigned blocks) {
    even_share share;
    share.is_vectorized = false;
    share.head_items = 0;
    std::size_t width = 1;
    if constexpr (is_vectorizable<Iterator>::value) {
      constexpr std::size_t item_bytes = sizeof(iterator_value_t<Iterator>);
      const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(iterator) % 16;
      // Structs may lie where no boundary of 16 bytes falls between two of them.
      if (misaligned % item_bytes == 0) {
        const std::size_t head = (16 - misaligned) % 16 / item_bytes;
        share.is_vectorized = true;
        share.head_items = head < num_items ? head : num_items;
        width = 16 / item_bytes;
      }
    }
    share.packs = (num_items - share.head_items) / width;
    share.tail_items = num_items - share.head_items - share.packs * width;
    share.granules_per_block = share.packs / granule / blocks;
    share.longer_blocks = static_cast<unsigned>(share.packs / granule % blocks);
    share.blocks = blocks;
    return share;
  }

  STRATA_HD std::size_t begin(unsigned block) const {
    return (block * granules_per_block + (block < longer_blocks ? block : longer_blocks)) * granule;
  }
  STRATA_HD std::size_t end(unsigned block) const {
    return block + 1 == blocks ? packs : begin(block + 1);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

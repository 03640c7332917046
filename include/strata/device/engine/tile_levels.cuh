// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

/// \file
/// Tile aggregates in three levels: the prefixes of any number of tiles, whose blocks need not be resident together.
///
///     level 0    the aggregate of each tile                  published by its block
///     level 1    the aggregate of each 32 tiles              published by the block of the last of them
///     level 2    the prefix up to the end of 1024 tiles      published by the block of the last of them
///
///     prefix of tile 5 * 1024 + 3 * 32 + 7
///       = level 2 [4] + level 1 [160], [161], [162] + level 0 [5216] to [5222]
///                       each of 32 tiles              the 7 tiles before it
///
/// A lane reads at most one value of level 0, and one of level 1 or 2. All of these loads are issued at once. The last
/// tile of each 32 publishes their aggregate before it waits for the levels above. So the chain through the tiles has
/// one link for each 1024 tiles. Values are combined in one order, whatever the speed of the blocks, so results repeat
/// bit for bit.
///
/// The inclusive prefix of a tile may take the place of its aggregate. Then nothing before the tile is needed. Tile 0
/// always publishes an inclusive prefix. A word of epoch e is an aggregate, a word of epoch e + 1 an inclusive prefix.
/// A launch writes each value once.
///
/// Forward progress: a block waits for tiles with lower numbers only, and publishes the aggregate of its tile before it
/// waits. Tile 0 waits for no tile. So every wait ends if all tiles with lower numbers have blocks that run or have
/// ended: `launch_tickets` of work_queue.cuh number tiles in this way.
///
/// tile_prefix.cuh is for grids in which each block has a tile in each round. It needs no tickets, and uses its words
/// again after 8 rounds. With several rounds, its blocks must be resident together. With one round they need not be: a
/// block that waits too long reduces the missing tile itself.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Where the values of the levels lie.
struct tile_levels_arguments {
  platform::tagged_word* words;  // tile_levels::number_of_words() of them
  unsigned tiles;
  unsigned long long epoch;
};

template <class T>
class tile_levels {
  static constexpr unsigned fan_in = warp_threads;

 public:
  STRATA_HD static constexpr std::size_t number_of_words(std::size_t tiles) {
    constexpr auto words_per_value = static_cast<std::size_t>(tagged_value<T>::size);
    return (tiles + tiles / fan_in + tiles / (fan_in * fan_in)) * words_per_value;
  }

  STRATA_D explicit tile_levels(const tile_levels_arguments& at) : at_(at) {}

  /// Publishes the aggregate of a tile and of all tiles before it. Its block then waits for no other block. One thread
  /// calls this.
  STRATA_D void publish_inclusive(unsigned tile, const T& prefix) const {
    store(tile, prefix, true);
    if (ends_group(tile)) store(group_of(tile), prefix, true);
    if (ends_large_group(tile)) store(large_group_of(tile), prefix, true);
  }

  /// Publishes the aggregate of a tile, which lane 0 has, then waits. Returns the aggregate of all tiles before it, in
  /// lane 0. All lanes of a warp call this, for any tile but the first.
  template <class Operator>
  STRATA_D T prefix_of(unsigned tile, const T& aggregate, Operator op) const {
    const unsigned lane = platform::lane_id();
    if (lane == 0) store(tile, aggregate, false);

    const unsigned first_tile = tile / fan_in * fan_in;
    const unsigned first_group = first_tile / fan_in / fan_in * fan_in;
    const bool has_large_group = first_group > 0;
    const unsigned tiles_below = tile - first_tile;
    const unsigned groups = first_tile / fan_in - first_group;
    const unsigned values_above = groups + (has_large_group ? 1 : 0);
    // The prefix of the large groups, then the groups after them.
    const unsigned group_index = at_.tiles + first_group + lane - (has_large_group ? 1 : 0);
    const unsigned above_index = has_large_group && lane == 0 ? large_group_of(tile) - 1 : group_index;

    element below, above;
    bool has_below = lane >= tiles_below, has_above = lane >= values_above;
    for (;;) {
      if (!has_below) has_below = receive(first_tile + lane, below);
      if (!has_above) has_above = receive(above_index, above);
      if (__all_sync(full_warp_mask, has_below) != 0) break;
      STRATA_SPIN();
    }
    bool is_prefix = false;
    T before{};
    if (tiles_below > 0) before = combine(below, tiles_below, op, is_prefix);
    if (lane == 0 && ends_group(tile)) {
      store(group_of(tile), static_cast<T>(op(before, aggregate)), is_prefix);
    }
    if (!is_prefix) {
      while (__all_sync(full_warp_mask, has_above) == 0) {
        STRATA_SPIN();
        if (!has_above) has_above = receive(above_index, above);
      }
      const T prefix = combine(above, values_above, op, is_prefix);
      before = tiles_below > 0 ? static_cast<T>(op(prefix, before)) : prefix;
    }
    if (lane == 0 && ends_large_group(tile)) {
      store(large_group_of(tile), static_cast<T>(op(before, aggregate)), true);
    }
    return before;
  }

  /// Erases the values of the first `tiles` tiles. Any threads may call this. The calling thread has number `thread` of
  /// `threads`.
  STRATA_D void erase(unsigned tiles, unsigned thread, unsigned threads) const {
    for (unsigned tile = thread; tile < tiles; tile += threads) {
      erase_value(tile);
      if (ends_group(tile)) erase_value(group_of(tile));
      if (ends_large_group(tile)) erase_value(large_group_of(tile));
    }
  }

 private:
  struct element {
    T value{};
    bool is_inclusive = false;
  };

  STRATA_D static bool ends_group(unsigned tile) { return tile % fan_in == fan_in - 1; }
  STRATA_D static bool ends_large_group(unsigned tile) { return tile % (fan_in * fan_in) == fan_in * fan_in - 1; }
  // Indices of values: those of the tiles come first, then those of the groups, then those of the large groups.
  STRATA_D unsigned group_of(unsigned tile) const { return at_.tiles + tile / fan_in; }
  STRATA_D unsigned large_group_of(unsigned tile) const {
    return at_.tiles + at_.tiles / fan_in + tile / (fan_in * fan_in);
  }
  STRATA_D unsigned number_of_values() const { return at_.tiles + at_.tiles / fan_in + at_.tiles / (fan_in * fan_in); }

  STRATA_D void store(unsigned index, const T& value, bool is_inclusive) const {
    tagged_value<T>::store(at_.words, number_of_values(), index, value, at_.epoch + (is_inclusive ? 1 : 0));
  }
  // Returns false if the value has not been published yet.
  STRATA_D bool receive(unsigned index, element& found) const {
    const auto received = tagged_value<T>::load(at_.words, number_of_values(), index);
    found.is_inclusive = received.word[0].epoch == at_.epoch + 1;
    return received.get(found.value, at_.epoch + (found.is_inclusive ? 1 : 0));
  }
  STRATA_D void erase_value(unsigned index) const {
    for (unsigned i = 0; i < unsigned{tagged_value<T>::size}; ++i) {
      platform::store_tagged_word(at_.words + (i * number_of_values() + index), {0, 0});
    }
  }

  // Combines the values of the first `count` lanes (1 to 32), from the last inclusive prefix on. Lane 0 gets the
  // result. Sets `is_prefix` to whether there is an inclusive prefix. All lanes call this.
  template <class Operator>
  STRATA_D static T combine(const element& mine, unsigned count, Operator op, bool& is_prefix) {
    const bool is_inclusive = mine.is_inclusive && platform::lane_id() < count;
    const unsigned inclusive = __ballot_sync(full_warp_mask, is_inclusive ? 1 : 0);
    is_prefix = inclusive != 0;
    T value = mine.value;
    const int first = is_prefix ? 31 - __clz(static_cast<int>(inclusive)) : 0;
    if (first > 0) {
      const int from = static_cast<int>(platform::lane_id()) + first;
      value = platform::shuffle(full_warp_mask, value, from < warp_threads ? from : warp_threads - 1);
    }
    typename WarpReduce<T>::TempStorage unused;
    return WarpReduce<T>(unused).Reduce(value, op, static_cast<int>(count) - first);
  }

  tile_levels_arguments at_;
};

}  // namespace detail
STRATA_NAMESPACE_END

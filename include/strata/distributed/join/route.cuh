// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/rows.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns the hash that chooses the rank of a key. The local join takes its partitions and slots from the bits of
/// `mixed_hash` or `mixed_word`. This function mixes them once more: otherwise the keys of a rank would be in only some
/// of its partitions. The result is never 0: `join_routed_keys::hash_of` returns 0 for a key that does not equal
/// itself.
template <class Hash, class Key>
STRATA_HD std::uint64_t join_route_hash(const Hash& hash, const Key& key) {
  const std::uint64_t mixed = mixed_hash(static_cast<std::uint64_t>(hash(key)));
  return mixed_hash(mixed + 0x9e3779b97f4a7c15u) | 1;
}

/// The hash of rows without a key, if such rows are partners of each other.
inline constexpr std::uint64_t join_null_route_hash = 0x5851f42d4c957f2du;

/// Returns the rank of a hash. Each rank has a part of the range of hashes, and all parts have the same size.
STRATA_HD constexpr unsigned join_rank_of(std::uint64_t hash, unsigned ranks) {
  return static_cast<unsigned>((hash >> 32) * ranks >> 32);
}

/// Hashes of frequent keys, which many probe rows have, in ascending order.
struct join_frequent_keys {
  static constexpr unsigned most = 64;

  unsigned count = 0;
  std::uint64_t hashes[most] = {};

  STRATA_HD bool contains(std::uint64_t hash) const {
    unsigned begin = 0;
    for (unsigned end = count; begin < end;) {
      const unsigned middle = (begin + end) / 2;
      if (hashes[middle] < hash) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin < count && hashes[begin] == hash;
  }
};

/// The classes of the rows of a side. Rows of class r < ranks are sent to rank r. The functions below name the other
/// classes.
struct join_classes {
  unsigned ranks;

  STRATA_HD constexpr unsigned to_all() const { return ranks; }
  /// The class of rows without a key. All of them have the same destination, which the host knows.
  STRATA_HD constexpr unsigned null() const { return ranks + 1; }
  STRATA_HD constexpr unsigned dropped() const { return ranks + 2; }
  STRATA_HD constexpr unsigned count() const { return ranks + 3; }
};
using join_class_t = unsigned short;
/// The largest number of ranks for which the number of classes fits in `join_class_t`.
inline constexpr int max_join_ranks = 65532;

/// The keys of a side as a device function sees them.
template <class Keys, class Hash, class Equal>
struct join_routed_keys {
  Keys keys;
  const std::uint32_t* valid;
  Hash hash;
  Equal equal;

  STRATA_HD bool is_valid(unsigned row) const { return join_row_is_valid(valid, row); }
  /// Returns the hash of a row's key, or 0 for a key that does not equal itself.
  STRATA_HD std::uint64_t hash_of(unsigned row) const {
    const iterator_value_t<Keys> key = detail::item_at(keys, row);
    return equal(key, key) ? detail::join_route_hash(hash, key) : 0;
  }
};

/// Finds the class of a row of a side whose rows go to one rank each, or are dropped.
struct join_rank_routing {
  join_classes classes;
  /// The class of rows without a key.
  join_class_t null_class;
  /// The class of rows whose keys do not equal themselves.
  join_class_t unequal_class;

  template <class RoutedKeys>
  STRATA_HD join_class_t operator()(const RoutedKeys& keys, unsigned row) const {
    return class_of(keys, row, [this](std::uint64_t hash) { return class_of_hash(hash); });
  }
  /// Returns `of_hash(hash)`, `null_class` for a row without a key, or `unequal_class` if the key does not equal
  /// itself.
  template <class RoutedKeys, class OfHash>
  STRATA_HD join_class_t class_of(const RoutedKeys& keys, unsigned row, const OfHash& of_hash) const {
    if (!keys.is_valid(row)) return null_class;
    const std::uint64_t hash = keys.hash_of(row);
    return hash == 0 ? unequal_class : of_hash(hash);
  }
  STRATA_HD join_class_t class_of_hash(std::uint64_t hash) const {
    return static_cast<join_class_t>(join_rank_of(hash, classes.ranks));
  }
};

/// Finds the class of a row of a side.
struct join_routing {
  join_rank_routing by_rank;
  /// True if all keys are treated as frequent.
  bool are_all_frequent;
  join_class_t frequent_class;
  join_frequent_keys frequent;

  template <class RoutedKeys>
  STRATA_HD join_class_t operator()(const RoutedKeys& keys, unsigned row) const {
    return by_rank.class_of(keys, row, [this](std::uint64_t hash) {
      return are_all_frequent || frequent.contains(hash) ? frequent_class : by_rank.class_of_hash(hash);
    });
  }
};

/// Finds the class of a row in a call without frequent keys. It has no list of them, so kernels can keep it in
/// registers.
template <class RoutedKeys>
struct join_row_class {
  RoutedKeys keys;
  join_rank_routing routing;

  STRATA_HD join_class_t operator()(unsigned row) const { return routing(keys, row); }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/keys.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The integers [lowest, lowest + keys). For unsigned keys of 8 bytes, `lowest` has the bits of the lowest key. 0 keys:
/// the range is unknown.
struct JoinKeyRange {
  std::int64_t lowest = 0;  ///< Lowest key.
  std::uint64_t keys = 0;   ///< Number of keys in the range. 0: the range is unknown.
};

namespace detail {

/// Knowledge about a side at compile time. Kernels that no call can reach are not compiled.
template <class Rows, bool MayBeUnique = false, bool MayBeSorted = false, bool MayHaveRange = false,
          bool MayHaveFewMatches = false>
struct join_promises {
  /// True if `Rows` is so narrow that row numbers always fit 4 bytes. Tables reserve the largest of these numbers.
  static constexpr bool has_few_rows =
      static_cast<unsigned long long>(std::numeric_limits<count_value_t<Rows>>::max()) < 0xfffffff0u;
  static constexpr bool has_future_count = is_future_count<Rows>;
  static constexpr bool may_be_unique = MayBeUnique;
  static constexpr bool may_be_sorted = MayBeSorted;
  static constexpr bool may_have_range = MayHaveRange;
  static constexpr bool may_have_few_matches = MayHaveFewMatches;

  using if_unique = join_promises<Rows, true, MayBeSorted, MayHaveRange, MayHaveFewMatches>;
  using if_sorted = join_promises<Rows, MayBeUnique, true, MayHaveRange, MayHaveFewMatches>;
  using if_range = join_promises<Rows, MayBeUnique, MayBeSorted, true, MayHaveFewMatches>;
  using if_few_matches = join_promises<Rows, MayBeUnique, MayBeSorted, MayHaveRange, true>;
};

}  // namespace detail

template <class Keys, class Promises = detail::join_promises<std::int64_t>>
struct JoinSide;

namespace detail {

/// Returns the side with other promises in its type.
template <class Promises, class Keys, class OldPromises>
constexpr JoinSide<Keys, Promises> side_with(const JoinSide<Keys, OldPromises>& old) {
  JoinSide<Keys, Promises> side{old.keys, old.rows, old.valid_mask};
  side.is_unique = old.is_unique;
  side.is_sorted = old.is_sorted;
  side.range = old.range;
  side.count = old.count;
  side.matching = old.matching;
  return side;
}

}  // namespace detail

/// One side of a join: keys, their number, and what the caller knows of them. `join_side` makes it. `Promises` decides
/// for which methods a join compiles kernels.
///
/// @code
/// #include <strata/device/device_hash_join.hpp>
///
/// // How many people live in one of the cities. No city is there twice, and all are numbers from 1 to 9.
/// __managed__ int cities[3] = {2, 5, 9};
/// __managed__ int homes[5] = {5, 2, 7, 2, 5};
/// __managed__ unsigned has_home = 0b01111;  // The last one has none.
/// __managed__ long long people;
///
/// int main() {
///   const auto build = strata::join_side(cities, 3).unique().key_range(1, 9);
///   const auto probe = strata::join_side(homes, 5).valid(&has_home);
///   if (strata::DeviceHashJoin::Inner(build, probe, strata::join_count(), &people) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%lld\n", people);
/// }
/// // prints: 3
/// @endcode
template <class Keys, class Promises>
struct JoinSide {
  using key_type = detail::iterator_value_t<Keys>;  ///< Type of a key.

  Keys keys = {};                             ///< Keys, one for each row.
  std::int64_t rows = 0;                      ///< Number of rows, or the bound of a `FutureCount`.
  const std::uint32_t* valid_mask = nullptr;  ///< Bits of the rows that have keys: see `valid`.
  bool is_unique = false;                     ///< Promise of `unique`.
  bool is_sorted = false;                     ///< Promise of `sorted`.
  JoinKeyRange range = {};                    ///< Promise of `key_range`.
  /// If the number of rows is a FutureCount: its address, type and bound.
  detail::join_row_count count = {};
  /// The estimated fraction of rows that have a partner.
  double matching = 1;

  /// Row i has a key if bit i % 32 of word i / 32 is set. Null: all rows have keys. The mask is in the memory that the
  /// keys are in.
  constexpr JoinSide valid(const std::uint32_t* mask) const {
    JoinSide side = *this;
    side.valid_mask = mask;
    return side;
  }

  /// A promise that no two rows have equal keys; with `nulls_equal`, also that at most one row has no key. A join uses
  /// the promise of its build side, which saves time and temporary storage. If rows have equal keys after all, the host
  /// and Metal join a probe row with all of them, and CUDA joins it with one of them; a full join then omits the others
  /// or returns them without a partner. Debug builds for CUDA assert the promise where a join finds two rows with equal
  /// keys. Semi and anti joins may not find the second row, because they end a search at the first one.
  constexpr JoinSide<Keys, typename Promises::if_unique> unique(bool promise = true) const {
    auto side = detail::side_with<typename Promises::if_unique>(*this);
    side.is_unique = promise;
    return side;
  }

  /// A promise that the keys ascend by `<`, with equal keys side by side. A join uses it if both sides promise it,
  /// which saves time and temporary storage. If the keys are not sorted, the result is unspecified. Debug builds for
  /// CUDA assert the promise. The host and Metal do not use it.
  constexpr JoinSide<Keys, typename Promises::if_sorted> sorted(bool promise = true) const {
    auto side = detail::side_with<typename Promises::if_sorted>(*this);
    side.is_sorted = promise;
    return side;
  }

  /// A hint that all keys are integers or enumerators of [lowest, highest]. A join uses the hint of its build side. The
  /// result does not depend on it.
  constexpr JoinSide<Keys, typename Promises::if_range> key_range(key_type lowest, key_type highest) const {
    static_assert(std::is_integral_v<key_type> || std::is_enum_v<key_type>,
                  "key_range is for keys that are integers or enumerations: omit it for other keys");
    auto side = detail::side_with<typename Promises::if_range>(*this);
    side.range = {};
    // A range has keys of up to 64 bits.
    if (sizeof(key_type) <= 8 && !(highest < lowest)) {
      side.range.lowest = static_cast<std::int64_t>(lowest);
      side.range.keys = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
    }
    return side;
  }

  /// A hint: about this fraction of the rows have a partner. With 0.1 or less, an inner or semi join in any order may
  /// use a Bloom filter, which saves time and takes more temporary storage. With a fraction below 0.5 (from 2^22 build
  /// rows on: below a third), an inner join does not copy columns to partitions. A join uses the hint of its probe
  /// side. The result does not depend on it.
  constexpr JoinSide<Keys, typename Promises::if_few_matches> match_ratio(double fraction) const {
    auto side = detail::side_with<typename Promises::if_few_matches>(*this);
    side.matching = fraction;
    return side;
  }
};

namespace detail {

template <class Keys, class Rows>
constexpr JoinSide<Keys, join_promises<Rows>> side_of(Keys keys, Rows rows) {
  static_assert(std::is_integral_v<Rows> || is_future_count<Rows>,
                "counts of rows, columns and segments must be integers: convert the argument");
  const auto count = join_row_count::of(rows);
  JoinSide<Keys, join_promises<Rows>> side{keys, static_cast<std::int64_t>(count.max_rows)};
  side.count = count;
  return side;
}

}  // namespace detail

/// Makes a side with the keys [keys, keys + rows). `keys` is a random-access iterator. Both sides of a join have the
/// same type of keys, so that no key is converted, and the same type of iterators; pointers to const and to non-const
/// count as the same. If `rows` has type `int` or a narrower type on both sides, no code for more rows is compiled.
///
/// `rows` is an integer, or for DeviceHashJoin a FutureCount, on either side or on both. With a FutureCount, method,
/// launches and temporary storage are for its bound, keys of rows from the count on are not read, and `.sorted()` and
/// `.key_range()` have no effect. The host back end reads the number when it is called; Metal and JoinTable take
/// integers only.
template <class Keys, class Rows, class = std::enable_if_t<!std::is_pointer_v<Keys>>>
constexpr JoinSide<Keys, detail::join_promises<Rows>> join_side(Keys keys, Rows rows) {
  return detail::side_of(keys, rows);
}
/// Makes a side of `rows` rows from an array of keys.
template <class Key, class Rows>
constexpr JoinSide<const Key*, detail::join_promises<Rows>> join_side(const Key* keys, Rows rows) {
  return detail::side_of(keys, rows);
}

namespace detail {

template <class Build, class Probe>
struct join_sides {
  static constexpr bool are_alike = std::is_same_v<decltype(Build::keys), decltype(Probe::keys)>;
  static_assert(
      are_alike,
      "both sides of a join must have the same type of keys and the same type of key iterator: copy the keys of one "
      "side to an array of the other side's type (DeviceTransform::Transform with CastOp)");
};

/// Returns the side without promises in its type: what is known of it is known only at run time. `IsCounted`: this side
/// or the other one has a FutureCount.
template <bool IsCounted = false, class Keys, class Promises>
constexpr auto untyped(const JoinSide<Keys, Promises>& side) {
  static_assert(IsCounted || !Promises::has_future_count,
                "a JoinTable takes no FutureCount: copy the number of rows to the host, or call DeviceHashJoin, "
                "which takes a FutureCount");
  if constexpr (IsCounted) {
    join_row_count count = side.count;
    count.max_rows = static_cast<std::size_t>(side.rows);
    JoinSide<join_counted_keys<Keys>> counted{{side.keys, count}, side.rows, side.valid_mask};
    counted.is_unique = side.is_unique;
    counted.is_sorted = side.is_sorted;
    counted.range = side.range;
    counted.matching = side.matching;
    return counted;
  } else {
    auto same = detail::side_with<join_promises<std::int64_t>>(side);
    same.count = {};
    return same;
  }
}

// Needs of a call, one bit each: methods that have kernels of their own, and properties of its result.
inline constexpr unsigned needs_merge = 1;
inline constexpr unsigned needs_direct_address = 2;
inline constexpr unsigned needs_key_sets = 4;
/// A Bloom filter may select probe rows first.
inline constexpr unsigned needs_bloom_filter = 8;
/// The result is in the order of the probe rows.
inline constexpr unsigned needs_order = 16;
/// Perhaps the result has at most one row for each probe row, and no other rows: kernels for that case are compiled.
inline constexpr unsigned needs_one_each = 32;
/// Partitions may list the build rows of each key, so that the result has the partners of a probe row one after
/// another.
inline constexpr unsigned needs_row_lists = 64;

/// Calls with the same needs share their code, whatever their kinds and promises.
template <unsigned Needs>
struct join_methods {
  static constexpr bool merge = (Needs & needs_merge) != 0;
  static constexpr bool direct_address = (Needs & needs_direct_address) != 0;
  static constexpr bool key_sets = (Needs & needs_key_sets) != 0;
  static constexpr bool bloom_filter = (Needs & needs_bloom_filter) != 0;
  static constexpr bool ordered = (Needs & needs_order) != 0;
  static constexpr bool one_each = (Needs & needs_one_each) != 0;
  static constexpr bool row_lists = (Needs & needs_row_lists) != 0;
  /// The needs of a join by tables.
  using of_tables = join_methods<(Needs & (needs_direct_address | needs_key_sets))>;
};

template <JoinKind Kind, class BuildPromises, class ProbePromises, JoinOrder Order>
constexpr unsigned needs_of_join() {
  constexpr bool is_left_or_inner = Kind == JoinKind::inner || Kind == JoinKind::left;
  unsigned needs = has_pairs(Kind) ? 0 : needs_key_sets | needs_one_each;
  if (BuildPromises::may_be_sorted && ProbePromises::may_be_sorted) needs |= needs_merge;
  if (BuildPromises::may_have_range && BuildPromises::may_be_unique && has_pairs(Kind)) needs |= needs_direct_address;
  if (ProbePromises::may_have_few_matches && (Kind == JoinKind::inner || Kind == JoinKind::semi)) {
    needs |= needs_bloom_filter;
  }
  if (Order == JoinOrder::probe) needs |= needs_order;
  if (is_left_or_inner && BuildPromises::may_be_unique) needs |= needs_one_each;
  return is_left_or_inner ? needs | needs_row_lists : needs;
}

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/row_count.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The integers [lowest, lowest + keys). For unsigned keys of 8 bytes `lowest` has the same bits. Of 0 keys nothing is
/// known.
struct JoinKeyRange {
  std::int64_t lowest = 0;
  std::uint64_t keys = 0;
};

namespace detail {

/// What is known of a side at compile time: kernels that no call can reach are not compiled.
template <class Rows, bool MayBeUnique = false, bool MayBeSorted = false, bool MayHaveRange = false,
          bool MayHaveFewMatches = false>
struct join_promises {
  /// Whether `Rows` is so narrow that row numbers always fit 4 bytes. Tables reserve the largest of these.
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

/// One side of a join: keys, their number, and what the caller knows of them. `join_side` makes it. A join
/// compiles the kernels of the methods that it may need by the types of `Promises`.
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
template <class Keys, class Promises = detail::join_promises<std::int64_t>>
struct JoinSide {
  using key_type = detail::iterator_value_t<Keys>;

  Keys keys = {};
  std::int64_t rows = 0;
  const std::uint32_t* valid_mask = nullptr;
  bool is_unique = false;
  bool is_sorted = false;
  JoinKeyRange range = {};
  /// Where a FutureCount lies. `rows` is its bound.
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
  /// the promise of its build side, which saves time and temporary storage. If rows have equal keys, a probe row is
  /// joined with all of them on the host and Metal, else with one: a full join then leaves the others out or has them
  /// alone. Debug builds for CUDA assert the promise where a join comes upon both rows: semi and anti joins end a
  /// search at the first.
  constexpr JoinSide<Keys, typename Promises::if_unique> unique(bool promise = true) const {
    return {keys, rows, valid_mask, promise, is_sorted, range, count, matching};
  }

  /// A promise that the keys ascend by `<`, with equal keys side by side. A join uses it if both sides promise it,
  /// which saves time and temporary storage. If rows are in another order, the result has any rows of both sides. Debug
  /// builds for CUDA assert the promise. The host and Metal do not use it.
  constexpr JoinSide<Keys, typename Promises::if_sorted> sorted(bool promise = true) const {
    return {keys, rows, valid_mask, is_unique, promise, range, count, matching};
  }

  /// A hint that all keys are integers or enumerators of [lowest, highest]. A join uses the hint of its build side. The
  /// result does not depend on it.
  constexpr JoinSide<Keys, typename Promises::if_range> key_range(key_type lowest, key_type highest) const {
    static_assert(std::is_integral_v<key_type> || std::is_enum_v<key_type>,
                  "only integers and enumerations have a range of keys: leave key_range out");
    JoinKeyRange keys_in_range;
    // A range has keys of up to 64 bits.
    if (sizeof(key_type) <= 8 && !(highest < lowest)) {
      keys_in_range.lowest = static_cast<std::int64_t>(lowest);
      keys_in_range.keys = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
    }
    return {keys, rows, valid_mask, is_unique, is_sorted, keys_in_range, count, matching};
  }

  /// A hint: about this fraction of the rows have a partner. With 0.1 or less, an inner or semi join in any order may
  /// use a Bloom filter, which saves time and takes more temporary storage. With less than 0.5, an inner join does not
  /// copy columns to partitions. A join uses the hint of its probe side. The result does not depend on it.
  constexpr JoinSide<Keys, typename Promises::if_few_matches> match_ratio(double fraction) const {
    return {keys, rows, valid_mask, is_unique, is_sorted, range, count, fraction};
  }
};

/// A side with the keys [keys, keys + rows), a random-access iterator. Both sides of a join have the same type of keys,
/// so that no key is converted, and of iterators; pointers to const and not are the same. Where the type of `rows` has
/// 4 bytes or fewer, no code for more rows is compiled.
///
/// `rows` is an integer, or for DeviceHashJoin a FutureCount, on either side or on both. The method, launches and
/// temporary storage are then for its bound. Keys behind the number are not read. `.sorted()` and `.key_range()` have
/// no effect. The host back end reads the number when it is called; Metal and JoinTable take integers only.
template <class Key, class Rows>
constexpr JoinSide<const Key*, detail::join_promises<Rows>> join_side(const Key* keys, Rows rows) {
  static_assert(std::is_integral_v<Rows> || detail::is_future_count<Rows>,
                "counts of rows, columns and segments must be integers: convert the argument");
  const auto count = detail::join_row_count::of(rows);
  return {keys, static_cast<std::int64_t>(count.max_rows), nullptr, false, false, {}, count};
}
template <class Keys, class Rows, class = std::enable_if_t<!std::is_pointer_v<Keys>>>
constexpr JoinSide<Keys, detail::join_promises<Rows>> join_side(Keys keys, Rows rows) {
  static_assert(std::is_integral_v<Rows> || detail::is_future_count<Rows>,
                "counts of rows, columns and segments must be integers: convert the argument");
  const auto count = detail::join_row_count::of(rows);
  return {keys, static_cast<std::int64_t>(count.max_rows), nullptr, false, false, {}, count};
}

namespace detail {

template <class Build, class Probe>
struct join_sides {
  static constexpr bool are_alike = std::is_same_v<decltype(Build::keys), decltype(Probe::keys)>;
  static_assert(
      are_alike,
      "both sides of a join have keys of one type, read by one type of iterator: copy the keys of one side to "
      "an array of the other side's type (DeviceTransform::Transform with CastOp)");
};

/// What is known of a side only when the program runs. `IsCounted`: this side or the other one has a FutureCount.
template <bool IsCounted = false, class Keys, class Promises>
constexpr auto untyped(const JoinSide<Keys, Promises>& side) {
  static_assert(IsCounted || !Promises::has_future_count,
                "a JoinTable takes numbers of rows that the host knows: copy the number to the host, or join by "
                "DeviceHashJoin, which takes a FutureCount");
  if constexpr (IsCounted) {
    join_row_count count = side.count;
    count.max_rows = static_cast<std::size_t>(side.rows);
    return JoinSide<join_counted_keys<Keys>>{
        {side.keys, count}, side.rows, side.valid_mask, side.is_unique, side.is_sorted, side.range, {}, side.matching};
  } else {
    return JoinSide<Keys>{side.keys,  side.rows, side.valid_mask, side.is_unique, side.is_sorted,
                          side.range, {},        side.matching};
  }
}

/// Whether a call of a join can reach methods that have kernels of their own, and the order of its result.
template <bool Merge, bool DirectAddress, bool KeySets, bool Ordered, bool OneEach = true, bool RowLists = false,
          bool BloomFilter = false>
struct join_methods {
  static constexpr bool merge = Merge;
  static constexpr bool direct_address = DirectAddress;
  static constexpr bool key_sets = KeySets;
  /// The result is in the order of the probe rows.
  static constexpr bool ordered = Ordered;
  /// Whether the result may have at most one row for each probe row, and no other.
  static constexpr bool one_each = OneEach;
  /// Whether the result may have the build rows of a key after one another, by partitions that list them.
  static constexpr bool row_lists = RowLists;
  /// Whether a Bloom filter may select probe rows first.
  static constexpr bool bloom_filter = BloomFilter;
};

/// Of a call with these promises.
template <JoinKind Kind, class BuildPromises>
inline constexpr bool may_have_one_each = !has_pairs(Kind) || (Kind != JoinKind::full && BuildPromises::may_be_unique);
template <JoinKind Kind, class BuildPromises, class ProbePromises, JoinOrder Order>
using reachable_methods =
    join_methods</*Merge=*/BuildPromises::may_be_sorted && ProbePromises::may_be_sorted,
                 /*DirectAddress=*/BuildPromises::may_have_range && BuildPromises::may_be_unique && has_pairs(Kind),
                 /*KeySets=*/!has_pairs(Kind), /*Ordered=*/Order == JoinOrder::probe,
                 /*OneEach=*/may_have_one_each<Kind, BuildPromises>,
                 /*RowLists=*/Kind == JoinKind::inner || Kind == JoinKind::left,
                 /*BloomFilter=*/ProbePromises::may_have_few_matches &&
                     (Kind == JoinKind::inner || Kind == JoinKind::semi)>;

}  // namespace detail
STRATA_NAMESPACE_END

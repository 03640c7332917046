// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/host/thread_team.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t cache_line_bytes = 64;

/// Prefetches a cache line that will be read or written soon. The address need not be valid.
inline void prefetch_to_read(const void* address) { STRATA_DETAIL_PREFETCH(address, 0); }
inline void prefetch_to_write(const void* address) { STRATA_DETAIL_PREFETCH(address, 1); }

enum class join_entry_kind { short_key, tagged_key, tag_only };

/// Keys that are compared as quickly as bits of their hashes.
template <class Key>
inline constexpr bool join_key_is_number = sizeof(Key) <= 8 && (std::is_integral_v<Key> || std::is_enum_v<Key>);

/// The contents of an entry. If it saves memory, an entry has a short key and no tag. The key is then hashed again when
/// the tag is needed.
template <class Key, class Row, class Hash>
inline constexpr join_entry_kind join_entry_kind_of =
    sizeof(Key) > 8 ? join_entry_kind::tag_only
    : join_key_is_number<Key> && sizeof(Row) + sizeof(Key) <= 8 && std::is_same_v<Hash, JoinHash>
        ? join_entry_kind::short_key
        : join_entry_kind::tagged_key;

/// A row of a partition: its number, bits of its hash that do not choose the partition, and its key if that
/// is short, so that it is not loaded again from the user's array.
template <class Key, class Row, class Hash, join_entry_kind Kind = join_entry_kind_of<Key, Row, Hash>>
struct join_entry {
  Row row;
  std::uint32_t tag;
  Key key;

  template <class Keys>
  join_entry(Row r, std::uint32_t t, const Keys& keys) : row(r), tag(t), key(keys[r]) {}
  std::uint32_t tag_by(const Hash&) const { return tag; }
  template <class Keys>
  const Key& key_in(const Keys&) const {
    return key;
  }
  bool may_equal(const join_entry& other) const { return join_key_is_number<Key> || tag == other.tag; }
};
template <class Key, class Row, class Hash>
struct join_entry<Key, Row, Hash, join_entry_kind::short_key> {
  Row row;
  Key key;

  template <class Keys>
  join_entry(Row r, std::uint32_t, const Keys& keys) : row(r), key(keys[r]) {}
  std::uint32_t tag_by(const Hash& hash) const {
    return static_cast<std::uint32_t>(mixed_hash(static_cast<std::uint64_t>(hash(key))));
  }
  template <class Keys>
  const Key& key_in(const Keys&) const {
    return key;
  }
  bool may_equal(const join_entry&) const { return true; }
};
template <class Key, class Row, class Hash>
struct join_entry<Key, Row, Hash, join_entry_kind::tag_only> {
  Row row;
  std::uint32_t tag;

  template <class Keys>
  join_entry(Row r, std::uint32_t t, const Keys&) : row(r), tag(t) {}
  std::uint32_t tag_by(const Hash&) const { return tag; }
  /// Returns a reference to the key if `Keys` is a pointer, otherwise a copy.
  template <class Keys>
  std::conditional_t<std::is_pointer_v<Keys>, const Key&, Key> key_in(const Keys& keys) const {
    return keys[row];
  }
  bool may_equal(const join_entry& other) const { return tag == other.tag; }
};

/// One side of a join, and its partitions.
template <class Keys, class Row, class Hash>
struct host_join_side {
  using entry = join_entry<iterator_value_t<Keys>, Row, Hash>;

  Keys keys = {};
  /// Bit i % 32 of word i / 32 is set if row i has a key. Null: all rows have keys.
  const std::uint32_t* valid = nullptr;
  std::size_t rows = 0;
  /// The rows, partition by partition, each in the order of the input. Partition p is [begins[p], begins[p + 1]).
  entry* entries = nullptr;
  std::size_t* begins = nullptr;

  bool is_null(std::size_t row) const { return valid != nullptr && (valid[row / 32] >> (row % 32) & 1) == 0; }
};

/// Stable partition of a side by the highest bits of the hashes. The last partition has the rows without a
/// key: their keys are neither hashed nor compared.
///
/// Threads count the rows of slices. A scan of the counts gives the offset of each slice in each partition,
/// and threads write the rows of slices there. The size of a slice depends on the number of rows only, so
/// that the size of storage does too.
template <class Keys, class Row, class Hash>
class join_partitioner {
 public:
  using side = host_join_side<Keys, Row, Hash>;
  using entry = typename side::entry;

  static constexpr std::size_t most_slices = 64;

  join_partitioner(unsigned bits, std::size_t slice_rows, const Hash& hash)
      : bits_(bits), slice_rows_(slice_rows), hash_(hash) {}

  static std::size_t slices(std::size_t rows, std::size_t slice_rows) {
    const std::size_t count = rows / slice_rows + (rows % slice_rows != 0);
    return detail::least(count, most_slices);
  }

  std::size_t partitions() const { return (std::size_t{1} << bits_) + 1; }

  /// `counts` has slices * partitions elements.
  void run(const thread_team& team, const side& what, std::size_t* counts) const {
    const std::size_t count = slices(what.rows, slice_rows_);
    team.run(count, [&](std::uint64_t slice) {
      std::size_t* const mine = counts + slice * partitions();
      for (std::size_t p = 0; p < partitions(); ++p) mine[p] = 0;
      for_each_row(what, slice, count,
                   [mine](std::size_t, std::uint64_t, std::size_t partition) { ++mine[partition]; });
    });
    make_offsets(what, counts, count);
    team.run(count, [&](std::uint64_t slice) {
      std::size_t* const mine = counts + slice * partitions();
      for_each_row(what, slice, count, [&what, mine](std::size_t row, std::uint64_t hash, std::size_t partition) {
        entry* const slot = what.entries + mine[partition]++;
        // Each partition is a separate stream of stores: too many for the hardware prefetcher.
        prefetch_to_write(reinterpret_cast<const unsigned char*>(slot) + cache_line_bytes);
        ::new (static_cast<void*>(slot)) entry(static_cast<Row>(row), static_cast<std::uint32_t>(hash), what.keys);
      });
    });
  }

 private:
  template <class Visit>
  void for_each_row(const side& what, std::size_t slice, std::size_t count, const Visit& visit) const {
    const std::size_t each = what.rows / count;
    const std::size_t longer = what.rows % count;
    const std::size_t first = slice * each + detail::least(slice, longer);
    const std::size_t last = first + each + (slice < longer ? 1 : 0);
    for (std::size_t row = first; row < last; ++row) {
      if (what.is_null(row)) {
        visit(row, 0, partitions() - 1);
        continue;
      }
      std::uint64_t hash = 0;
      if constexpr (hash_requirements<Hash, iterator_value_t<Keys>>::are_met) {
        hash = mixed_hash(static_cast<std::uint64_t>(hash_(detail::item_at(what.keys, row))));
      }
      // Two shifts, because one by 64 would be undefined.
      visit(row, hash, static_cast<std::size_t>(hash >> 1 >> (63 - bits_)));
    }
  }

  void make_offsets(const side& what, std::size_t* counts, std::size_t count) const {
    std::size_t sum = 0;
    for (std::size_t p = 0; p < partitions(); ++p) {
      what.begins[p] = sum;
      for (std::size_t slice = 0; slice < count; ++slice) {
        std::size_t& offset = counts[slice * partitions() + p];
        const std::size_t rows = offset;
        offset = sum;
        sum += rows;
      }
    }
    what.begins[partitions()] = sum;
  }

  unsigned bits_;
  std::size_t slice_rows_;
  const Hash& hash_;
};

}  // namespace detail
STRATA_NAMESPACE_END

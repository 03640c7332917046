// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/future_count.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// Rows received from other ranks carry numbers that are not their indices. A join by partitions keeps these
/// numbers in place of indices, and so reads their array once, in order. Otherwise each result would read it at random.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A number of rows: one that the host knows, or a FutureCount of any type. It gives both sides of a join the same
/// type.
struct join_row_count {
  const void* number = nullptr;
  std::size_t max_rows = 0;
  /// 0: `max_rows` is the number.
  std::size_t bytes = 0;
  bool is_signed = false;

  template <class Rows>
  static constexpr join_row_count of(const Rows& rows) {
    join_row_count count;
    count.max_rows = detail::max_items(rows);
    if constexpr (is_future_count<Rows>) {
      using T = typename Rows::value_type;
      count.number = rows.pointer();
      // A bound above the largest number of the type says no more than the type.
      constexpr auto largest = static_cast<unsigned long long>(std::numeric_limits<T>::max());
      // A bound that calls refuse stays as it is.
      constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
      if (count.max_rows > largest && count.max_rows <= most) count.max_rows = static_cast<std::size_t>(largest);
      count.bytes = sizeof(T);
      count.is_signed = std::is_signed_v<T>;
    }
    return count;
  }

  STRATA_HD std::size_t get() const {
    if (bytes == 0) return max_rows;
    if (bytes == 1) return read<std::int8_t, std::uint8_t>();
    if (bytes == 2) return read<std::int16_t, std::uint16_t>();
    if (bytes == 4) return read<std::int32_t, std::uint32_t>();
    return read<std::int64_t, std::uint64_t>();
  }

 private:
  template <class Signed, class Unsigned>
  STRATA_HD std::size_t read() const {
    if (is_signed) return FutureCount<Signed>(static_cast<const Signed*>(number), max_rows).get();
    return FutureCount<Unsigned>(static_cast<const Unsigned*>(number), max_rows).get();
  }
};

template <class Integer>
STRATA_D Integer number_of_items(const join_row_count& rows) {
  return static_cast<Integer>(rows.get());
}

/// The keys of a side, with their number. Joins with a FutureCount have kernels for this type of keys, in which the
/// number of rows of a side is only a bound.
template <class Keys>
struct join_counted_keys {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = iterator_value_t<Keys>;
  using difference_type = difference_of<Keys>;
  using pointer = typename std::iterator_traits<Keys>::pointer;
  using reference = typename std::iterator_traits<Keys>::reference;

  Keys keys;
  join_row_count count;

  template <class Distance>
  STRATA_HD decltype(auto) operator[](Distance i) const {
    return keys[static_cast<difference_type>(i)];
  }
  template <class Distance>
  STRATA_HD join_counted_keys operator+(Distance n) const {
    return {keys + static_cast<difference_type>(n), count};
  }
};

template <class Keys>
inline constexpr bool are_counted_keys = false;
template <class Keys>
inline constexpr bool are_counted_keys<join_counted_keys<Keys>> = true;

/// Returns what a kernel takes as the number of rows of a side.
template <class Row, class Side>
auto kernel_rows_of(const Side& side) {
  if constexpr (are_counted_keys<decltype(Side::keys)>) {
    return side.keys.count;
  } else {
    return static_cast<Row>(side.rows);
  }
}

/// The keys of a side whose rows have numbers. Only for keys that follow from their hashes: in a join by partitions
/// nothing leads from a number to the key.
template <class Key>
struct join_numbered_keys {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Key;
  using difference_type = std::ptrdiff_t;
  using pointer = const Key*;
  using reference = const Key&;

  const Key* keys;
  /// Null: the numbers are the indices.
  const unsigned* numbers;
  /// All numbers are less than this.
  unsigned number_limit;

  template <class Distance>
  STRATA_HD const Key& operator[](Distance i) const {
    return keys[i];
  }
  template <class Distance>
  STRATA_HD join_numbered_keys operator+(Distance n) const {
    return {keys + n, numbers != nullptr ? numbers + n : nullptr, number_limit};
  }
  STRATA_HD unsigned number(unsigned row) const { return numbers != nullptr ? numbers[row] : row; }
};

template <class Keys>
inline constexpr bool are_numbered_keys = false;
template <class Key>
inline constexpr bool are_numbered_keys<join_numbered_keys<Key>> = true;

/// Returns `number_limit` of join_numbered_keys, and 0 for other keys.
template <class Keys>
STRATA_HD unsigned number_limit_of([[maybe_unused]] const Keys& keys) {
  if constexpr (are_numbered_keys<Keys>) {
    return keys.number_limit;
  } else {
    return 0;
  }
}

/// Two forms of an output: one is called with indices of rows, the other one with the numbers that records have in
/// place of indices.
template <class Sink, class RecordSink = Sink>
struct join_numbered_sink {
  Sink by_index;
  RecordSink by_record;

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    by_index(position, build_row, probe_row);
  }
};

/// Returns the output that is called with the rows of records.
template <class Sink>
STRATA_HD const Sink& record_sink_of(const Sink& sink) {
  return sink;
}
template <class Sink, class RecordSink>
STRATA_HD const RecordSink& record_sink_of(const join_numbered_sink<Sink, RecordSink>& sink) {
  return sink.by_record;
}

template <class Sink>
struct record_sink {
  using type = Sink;
};
template <class Sink, class RecordSink>
struct record_sink<join_numbered_sink<Sink, RecordSink>> {
  using type = RecordSink;
};
template <class Sink>
using record_sink_t = typename record_sink<Sink>::type;

/// Chooses the output that a kernel calls with the rows of records. Here it is the kernel's argument `sink`. In a
/// specialisation, the argument has several outputs, and the device has chosen one of them. Agents have the same
/// storage for all of them.
template <class Sink>
struct chosen_sink {
  using type = Sink;
  /// Calls `call` with the sink.
  template <class Call>
  STRATA_D static void use(const Sink& sink, const Call& call) {
    call(sink);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

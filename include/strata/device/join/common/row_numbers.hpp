// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// Rows with other numbers than their indices, as those of a side that was received from several ranks. A join by
/// partitions keeps the numbers in place of indices, and so reads their array once, in order. Else each result would
/// read it at random.

STRATA_NAMESPACE_BEGIN
namespace detail {

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

/// 0 where rows have no other numbers than their indices.
template <class Keys>
STRATA_HD unsigned number_limit_of(const Keys&) {
  return 0;
}
template <class Key>
STRATA_HD unsigned number_limit_of(const join_numbered_keys<Key>& keys) {
  return keys.number_limit;
}

/// Two forms of an output: one is called with indices of rows, the other one with what records have in place of them.
/// These are the numbers of rows or, with `PartitionsColumns`, the positions of the records.
template <class Sink, class RecordSink = Sink, bool PartitionsColumns = false>
struct join_numbered_sink {
  Sink by_index;
  RecordSink by_record;

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    by_index(position, build_row, probe_row);
  }
};

/// What is called with the rows of records.
template <class Sink>
STRATA_HD const Sink& record_sink_of(const Sink& sink) {
  return sink;
}
template <class Sink, class RecordSink, bool PartitionsColumns>
STRATA_HD const RecordSink& record_sink_of(const join_numbered_sink<Sink, RecordSink, PartitionsColumns>& sink) {
  return sink.by_record;
}
template <class Sink>
struct record_sink {
  using type = Sink;
};
template <class Sink, class RecordSink, bool PartitionsColumns>
struct record_sink<join_numbered_sink<Sink, RecordSink, PartitionsColumns>> {
  using type = RecordSink;
};
template <class Sink>
using record_sink_t = typename record_sink<Sink>::type;

}  // namespace detail
STRATA_NAMESPACE_END

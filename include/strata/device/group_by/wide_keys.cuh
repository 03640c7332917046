// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/group_by/wide_key.hpp>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Sorts of rows by keys with more bits than any integer. They move row numbers and 64 bits of each key at a time.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The rows of a call whose keys are wide: all rows, or those that `listed` has.
template <class KeyIterator, class Row>
struct wide_group_rows {
  using Key = iterator_value_t<KeyIterator>;
  KeyIterator keys;
  const Row* listed;

  STRATA_HD Row row(Row i) const { return listed == nullptr ? i : listed[i]; }
  STRATA_HD Key key(Row i) const { return detail::item_at(keys, static_cast<std::size_t>(row(i))); }
  /// Returns the key of a group. write_group_key calls this with the group's word. Here, this word is the place of the
  /// group's first row among the sorted rows.
  STRATA_HD Key operator()(Row begin) const { return key(begin); }
};

template <class Rows>
struct wide_group_row_at {
  Rows rows;
  template <class Row>
  STRATA_HD Row operator()(Row i) const {
    return rows.row(i);
  }
};
/// Returns 64 bits of the key of a row. Each word has its own branch, which reads only the columns that have bits of
/// this word.
template <class Rows>
struct wide_group_word_at {
  Rows rows;
  int word;
  template <class Row>
  STRATA_HD std::uint64_t operator()(Row i) const {
    return of_word<0>(i);
  }

 private:
  template <int Word, class Row>
  STRATA_HD std::uint64_t of_word(Row i) const {
    constexpr int words = static_cast<int>(sizeof(typename Rows::Key) / sizeof(std::uint64_t));
    if constexpr (Word + 1 < words) {
      if (word != Word) return of_word<Word + 1>(i);
    }
    return rows.key(i).words[Word];
  }
};
/// Returns i if the key of the i-th sorted row differs from the key of the row before it, else 0.
template <class Rows>
struct wide_group_begin_at {
  Rows rows;
  template <class Row>
  STRATA_HD Row operator()(Row i) const {
    return i == 0 || rows.key(i) == rows.key(i - 1) ? 0 : i;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Sorts row numbers by wide keys: stably by the lowest 64 bits, then by the next, up to the highest of `KeyBits`.
/// Without row numbers in `kept_rows`, all rows are sorted. Each sort writes to the array that the last one did not
/// write to. `sorted` is set to the array that has the result.
template <int KeyBits, class KeyIterator, class Row, class NumRows>
cudaError_t sort_wide_group_rows(void* storage, std::size_t& bytes, const KeyIterator& keys, const Row* kept_rows,
                                 std::uint64_t* words, Row* first, Row* second, NumRows num_rows, const Row*& sorted,
                                 cudaStream_t stream) {
  using Rows = wide_group_rows<KeyIterator, Row>;
  using RowNumbers = CountingInputIterator<Row>;
  using Words = TransformInputIterator<std::uint64_t, wide_group_word_at<Rows>, RowNumbers>;
  using Numbers = TransformInputIterator<Row, wide_group_row_at<Rows>, RowNumbers>;
  using Sort = DispatchRadixSort<Words, Numbers, Row, NumRows, false, identity_decomposer>;
  sorted = kept_rows;
  for (int word = 0; 64 * word < KeyBits; ++word) {
    const Rows rows{keys, sorted};
    Row* const to = word % 2 == 0 ? first : second;
    const cudaError_t status = Sort::Dispatch(storage, bytes, {Words(RowNumbers(0), {rows, word}), words, nullptr},
                                              {Numbers(RowNumbers(0), {rows}), to, nullptr}, num_rows, 0,
                                              detail::least(64, KeyBits - 64 * word), identity_decomposer{},
                                              radix_scratch::in_storage, stream);
    if (status != cudaSuccess) return status;
    sorted = to;
  }
  return cudaSuccess;
}

/// For each sorted row, writes the place of its group's first row among the sorted rows.
template <class Rows, class Row, class NumRows>
cudaError_t find_wide_groups(void* storage, std::size_t& bytes, const Rows& rows, Row* begins, NumRows num_rows,
                             cudaStream_t stream) {
  using RowNumbers = CountingInputIterator<Row>;
  using Begins = TransformInputIterator<Row, wide_group_begin_at<Rows>, RowNumbers>;
  using Problem = scan_problem<Begins, Row*, Row, Max, true, NullType>;
  return DispatchScan<Problem, default_policy_hub>::Dispatch(
      storage, bytes, Problem{Begins(RowNumbers(0), {rows}), begins, Max{}, {}}, num_rows, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

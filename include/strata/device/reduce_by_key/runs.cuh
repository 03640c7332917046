// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/scan/ring_column.cuh>

#include <cstddef>
#include <type_traits>

/// \file A reduction by key is a scan of values that know how many runs have begun among them. The
/// iterators here make such values of keys and items, and write a run's key and sum where it ends,
/// so that the scan itself needs not know of keys.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How many runs have begun, and the sum since the last beginning if there is one; else of all.
template <class Count, class T>
struct counted_run {
  Count begins;
  T value;
};

}  // namespace detail
template <class Count, class T>
struct is_trivially_relocatable<detail::counted_run<Count, T>> : is_trivially_relocatable<T> {};
namespace detail {

/// Associative if `op` is; never commutative.
template <class Count, class T, class ReductionOp>
struct combine_counted_runs {
  ReductionOp op;

  STRATA_HD counted_run<Count, T> operator()(const counted_run<Count, T>& a,
                                             const counted_run<Count, T>& b) {
    const auto begins = static_cast<Count>(a.begins + b.begins);
    if (b.begins != 0) return {begins, b.value};
    return {begins, static_cast<T>(op(a.value, b.value))};
  }
};

/// What a reduction by key takes, and where its results go. Where `ValueIterator` is NullType, each
/// item counts as 1.
template <class CountT, class AccumT, class KeyIteratorT, class ValueIteratorT,
          class UniqueIteratorT, class AggregateIteratorT, class NumRunsIteratorT,
          class ReductionOpT, class EqualityOpT>
struct run_reduction {
  using Count = CountT;
  using Accum = AccumT;
  using KeyIterator = KeyIteratorT;
  using ValueIterator = ValueIteratorT;
  using UniqueIterator = UniqueIteratorT;
  using AggregateIterator = AggregateIteratorT;
  using NumRunsIterator = NumRunsIteratorT;
  using ReductionOp = ReductionOpT;
  using EqualityOp = EqualityOpT;
  using Key = iterator_value_t<KeyIterator>;
  using Run = counted_run<Count, Accum>;
  using Combine = combine_counted_runs<Count, Accum, ReductionOp>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;

  KeyIterator keys;
  ValueIterator values;
  UniqueIterator unique_out;
  AggregateIterator aggregates_out;
  NumRunsIterator num_runs_out;
  ReductionOp op;
  EqualityOp equality_op;

  STRATA_HD bool begins_at(std::size_t i) {
    if (i == 0) return true;
    Key left = detail::item_at(keys, i - 1), right = detail::item_at(keys, i);
    return !equality_op(left, right);
  }
  STRATA_HD Run run_of(std::size_t i) {
    const Count begins = begins_at(i) ? 1 : 0;
    if constexpr (has_values) {
      return {begins, static_cast<Accum>(detail::item_at(values, i))};
    } else {
      return {begins, Accum{1}};
    }
  }

  STRATA_HD void write_key(Count run, const Key& key) const {
    *detail::advanced(unique_out, static_cast<std::size_t>(run)) =
        static_cast<output_value_t<UniqueIterator, Key>>(key);
  }
  STRATA_HD void write_aggregate(Count run, const Accum& sum) const {
    using Stored = output_value_t<AggregateIterator, Accum>;
    if constexpr (has_values) {
      *detail::advanced(aggregates_out, static_cast<std::size_t>(run)) = static_cast<Stored>(sum);
    } else {
      *detail::advanced(aggregates_out, static_cast<std::size_t>(run)) = count_as<Stored>(sum);
    }
  }
  /// With the sum of all items.
  STRATA_HD void write_end(const Run& total) const {
    STRATA_ASSERT(
        !reach_inputs(unique_out, total.begins) && !reach_inputs(aggregates_out, total.begins),
        "an output of a reduction by key reaches into an input, with %llu runs",
        static_cast<unsigned long long>(total.begins));
    write_aggregate(total.begins - 1, total.value);
    *num_runs_out = count_as<output_value_t<NumRunsIterator, Count>>(total.begins);
  }

 private:
  template <class Out>
  STRATA_HD bool reach_inputs(const Out& out, std::size_t count) const {
    return reaches_into(out, count, keys) || reaches_into(out, count, values);
  }
};

template <class What>
class run_reduction_input : public indexed_iterator_traits<typename What::Run, typename What::Run> {
 public:
  using Run = typename What::Run;

  STRATA_HD explicit run_reduction_input(const What& what) : what_(what) {}

  STRATA_HD run_reduction_input operator+(std::ptrdiff_t n) const {
    run_reduction_input moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD Run operator*() const { return (*this)[0]; }
  STRATA_HD Run operator[](std::ptrdiff_t n) const {
    What what = what_;
    return what.run_of(static_cast<std::size_t>(index_ + n));
  }

 private:
  What what_;
  std::ptrdiff_t index_ = 0;
};

/// Takes the sum up to each item.
template <class What>
class run_reduction_output : public indexed_iterator_traits<typename What::Run, void> {
 public:
  using Run = typename What::Run;

  STRATA_HD run_reduction_output(const What& what, std::size_t num_items)
      : what_(what), num_items_(num_items) {}

  struct place {
    What what;
    std::size_t num_items;
    std::size_t index;
    STRATA_HD void operator=(const Run& sum) {
      if (what.begins_at(index)) what.write_key(sum.begins - 1, detail::item_at(what.keys, index));
      if (index + 1 == num_items) {
        what.write_end(sum);
      } else if (what.begins_at(index + 1)) {
        what.write_aggregate(sum.begins - 1, sum.value);
      }
    }
  };

  STRATA_HD run_reduction_output operator+(std::ptrdiff_t n) const {
    run_reduction_output moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD place operator*() const { return (*this)[0]; }
  STRATA_HD place operator[](std::ptrdiff_t n) const {
    return {what_, num_items_, static_cast<std::size_t>(index_ + n)};
  }

 private:
  What what_;
  std::size_t num_items_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

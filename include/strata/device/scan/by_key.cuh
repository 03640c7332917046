// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/scan/initial_value.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// A scan by key is a scan of values that know whether a run of equal keys begins among them. The
/// iterators here make such values of keys and items, and take the results apart again, so that the
/// scan itself needs not know of keys.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The sum since the last beginning of a run, if there is one; else of all.
template <class T>
struct sum_of_run {
  T value;
  unsigned has_begin;
};

}  // namespace detail
template <class T>
struct is_trivially_relocatable<detail::sum_of_run<T>> : is_trivially_relocatable<T> {};
namespace detail {

/// Associative if `op` is; never commutative.
template <class T, class ScanOp>
struct combine_runs {
  ScanOp op;

  STRATA_HD sum_of_run<T> operator()(const sum_of_run<T>& a, const sum_of_run<T>& b) {
    if (b.has_begin != 0) return b;
    return {static_cast<T>(op(a.value, b.value)), a.has_begin};
  }
};

/// Whether a run begins with an item.
template <class KeyIterator, class EqualityOp>
struct run_begins {
  using Key = iterator_value_t<KeyIterator>;

  KeyIterator keys;
  EqualityOp equality_op;

  STRATA_HD bool at(std::ptrdiff_t index) {
    const auto i = static_cast<difference_of<KeyIterator>>(index);
    return index == 0 || !are_equal(static_cast<Key>(keys[i - 1]), static_cast<Key>(keys[i]));
  }
  // By value: the operator need not take the proxies that iterators give.
  STRATA_HD bool are_equal(Key left, Key right) {
    return static_cast<bool>(equality_op(left, right));
  }
};

template <class Value, class Reference>
struct indexed_iterator_traits {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using reference = Reference;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
};

/// The items as sums of runs. At the beginning of each run the initial value, if there is one, goes
/// before the item. `Begins` says where runs begin.
template <class T, class Begins, class ValueIterator, class ScanOp, class InitT>
class run_input : public indexed_iterator_traits<sum_of_run<T>, sum_of_run<T>> {
 public:
  using begins = Begins;

  STRATA_HD run_input(const begins& runs, ValueIterator values, ScanOp op, InitT init)
      : runs_(runs), values_(values), op_(op), init_(init) {}

  STRATA_HD run_input operator+(std::ptrdiff_t n) const {
    run_input moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD sum_of_run<T> operator*() const { return (*this)[0]; }
  STRATA_HD sum_of_run<T> operator[](std::ptrdiff_t n) const {
    using difference = typename std::iterator_traits<ValueIterator>::difference_type;
    const std::ptrdiff_t i = index_ + n;
    begins runs = runs_;
    const bool has_begin = runs.at(i);
    using Value = iterator_value_t<ValueIterator>;
    T value = static_cast<T>(static_cast<Value>(values_[static_cast<difference>(i)]));
    if constexpr (!std::is_same_v<InitT, NullType>) {
      ScanOp op = op_;
      if (has_begin) value = static_cast<T>(op(static_cast<T>(init_), value));
    }
    return {value, has_begin ? 1u : 0u};
  }

 private:
  begins runs_;
  ValueIterator values_;
  ScanOp op_;
  InitT init_;
  std::ptrdiff_t index_ = 0;
};

/// Takes inclusive results.
template <class T, class OutputIterator>
class run_inclusive_output : public indexed_iterator_traits<sum_of_run<T>, void> {
 public:
  STRATA_HD explicit run_inclusive_output(OutputIterator out) : out_(out) {}

  struct place {
    OutputIterator out;
    std::ptrdiff_t index;
    STRATA_HD void operator=(const sum_of_run<T>& sum) const {
      using difference = typename std::iterator_traits<OutputIterator>::difference_type;
      out[static_cast<difference>(index)] = static_cast<output_value_t<OutputIterator, T>>(sum.value);
    }
  };

  STRATA_HD run_inclusive_output operator+(std::ptrdiff_t n) const {
    run_inclusive_output moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD place operator*() const { return (*this)[0]; }
  STRATA_HD place operator[](std::ptrdiff_t n) const { return {out_, index_ + n}; }

 private:
  OutputIterator out_;
  std::ptrdiff_t index_ = 0;
};

/// Takes exclusive results: what comes before the first item of a run is the initial value.
template <class T, class Begins, class OutputIterator, class InitT>
class run_exclusive_output : public indexed_iterator_traits<sum_of_run<T>, void> {
 public:
  using begins = Begins;

  STRATA_HD run_exclusive_output(const begins& runs, OutputIterator out, InitT init)
      : runs_(runs), out_(out), init_(init) {}

  struct place {
    begins runs;
    OutputIterator out;
    InitT init;
    std::ptrdiff_t index;
    STRATA_HD void operator=(const sum_of_run<T>& sum) {
      using difference = typename std::iterator_traits<OutputIterator>::difference_type;
      const T value = runs.at(index) ? static_cast<T>(init) : sum.value;
      out[static_cast<difference>(index)] = static_cast<output_value_t<OutputIterator, T>>(value);
    }
  };

  STRATA_HD run_exclusive_output operator+(std::ptrdiff_t n) const {
    run_exclusive_output moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD place operator*() const { return (*this)[0]; }
  STRATA_HD place operator[](std::ptrdiff_t n) const { return {runs_, out_, init_, index_ + n}; }

 private:
  begins runs_;
  OutputIterator out_;
  InitT init_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

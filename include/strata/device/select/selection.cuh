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

/// \file
/// What is selected and where to, and how a selection is a scan: of the numbers of selected items,
/// with an output that moves the items.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the operator of a selection is applied to.
enum class select_by {
  decider,     // each decider: whether its item is selected
  difference,  // each two neighbours: whether they are equal, and the second is left out
};

/// A flag's meaning.
struct is_set {
  template <class Flag>
  STRATA_HD bool operator()(const Flag& flag) const {
    return static_cast<bool>(flag);
  }
};

/// A selection. Deciders are the items themselves, or flags or keys; `PayloadIterator` is what else
/// goes out with them, or NullType, and so is DeciderOutputIterator where deciders stay.
template <select_by By, class CountT, class DeciderIteratorT, class PayloadIteratorT,
          class DeciderOutputIteratorT, class PayloadOutputIteratorT, class NumSelectedIteratorT,
          class OpT>
struct selection {
  static constexpr select_by decides = By;
  using Count = CountT;
  using DeciderIterator = DeciderIteratorT;
  using PayloadIterator = PayloadIteratorT;
  using DeciderOutputIterator = DeciderOutputIteratorT;
  using PayloadOutputIterator = PayloadOutputIteratorT;
  using NumSelectedIterator = NumSelectedIteratorT;
  using Op = OpT;

  DeciderIterator deciders;
  PayloadIterator payloads;
  DeciderOutputIterator deciders_out;
  PayloadOutputIterator payloads_out;
  NumSelectedIterator num_selected_out;
  Op op;

  static constexpr bool has_payload = !std::is_same_v<PayloadIterator, NullType>;
  static constexpr bool keeps_deciders = !std::is_same_v<DeciderOutputIterator, NullType>;

  STRATA_HD bool is_selected(std::size_t i) {
    if constexpr (By == select_by::difference) {
      if (i == 0) return true;
      Decider left = detail::item_at(deciders, i - 1), right = detail::item_at(deciders, i);
      return !op(left, right);
    } else {
      Decider decider = detail::item_at(deciders, i);
      return static_cast<bool>(op(decider));
    }
  }
  /// Item `from` of the input goes to place `to`.
  STRATA_HD void move(std::size_t from, std::size_t to) {
    if constexpr (keeps_deciders) copy(deciders, from, deciders_out, to);
    if constexpr (has_payload) copy(payloads, from, payloads_out, to);
  }
  /// With the number of all that are selected.
  STRATA_HD void write_number(Count selected) const {
    STRATA_ASSERT(!reach_inputs(deciders_out, selected) && !reach_inputs(payloads_out, selected),
                  "an output of a selection reaches into an input, with %llu items",
                  static_cast<unsigned long long>(selected));
    *num_selected_out = count_as<output_value_t<NumSelectedIterator, Count>>(selected);
  }

 private:
  using Decider = iterator_value_t<DeciderIterator>;

  template <class In, class Out>
  STRATA_HD static void copy(const In& in, std::size_t from, const Out& out, std::size_t to) {
    using Stored = output_value_t<Out, iterator_value_t<In>>;
    *detail::advanced(out, to) = static_cast<Stored>(detail::item_at(in, from));
  }
  template <class Out>
  STRATA_HD bool reach_inputs(const Out& out, std::size_t count) const {
    return reaches_into(out, count, deciders) || reaches_into(out, count, payloads);
  }
};

/// 1 for each item that is selected.
template <class What>
class selected_input
    : public indexed_iterator_traits<typename What::Count, typename What::Count> {
 public:
  using Count = typename What::Count;

  STRATA_HD explicit selected_input(const What& what) : what_(what) {}

  STRATA_HD selected_input operator+(std::ptrdiff_t n) const {
    selected_input moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD Count operator*() const { return (*this)[0]; }
  STRATA_HD Count operator[](std::ptrdiff_t n) const {
    What what = what_;
    return what.is_selected(static_cast<std::size_t>(index_ + n)) ? 1 : 0;
  }

 private:
  What what_;
  std::ptrdiff_t index_ = 0;
};

/// Takes the number of selected items up to each.
template <class What>
class selected_output : public indexed_iterator_traits<typename What::Count, void> {
 public:
  using Count = typename What::Count;

  STRATA_HD selected_output(const What& what, std::size_t num_items)
      : what_(what), num_items_(num_items) {}

  struct place {
    What what;
    std::size_t num_items;
    std::size_t index;
    STRATA_HD void operator=(const Count& selected) {
      if (what.is_selected(index)) what.move(index, static_cast<std::size_t>(selected - 1));
      if (index + 1 == num_items) what.write_number(selected);
    }
  };

  STRATA_HD selected_output operator+(std::ptrdiff_t n) const {
    selected_output moved = *this;
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

// ------------------------------------------------------------------ in place

/// How many items are selected up to one, and this item, which need not be where it was any more
/// when the number is known.
template <class Count, class T>
struct selected_item {
  Count selected;
  unsigned is_selected;
  T item;
};

}  // namespace detail
template <class Count, class T>
struct is_trivially_relocatable<detail::selected_item<Count, T>> : is_trivially_relocatable<T> {};
namespace detail {

/// Associative, not commutative.
struct count_selected {
  template <class Item>
  STRATA_HD Item operator()(const Item& a, const Item& b) const {
    Item sum = b;
    sum.selected += a.selected;
    return sum;
  }
};

/// What a selection moves, where that is one thing.
template <class What>
using moved_item_t =
    iterator_value_t<std::conditional_t<What::has_payload, typename What::PayloadIterator,
                                        typename What::DeciderIterator>>;

template <class What>
using selected_item_of = selected_item<typename What::Count, moved_item_t<What>>;

template <class What>
class carried_input
    : public indexed_iterator_traits<selected_item_of<What>, selected_item_of<What>> {
 public:
  using Item = selected_item_of<What>;

  STRATA_HD explicit carried_input(const What& what) : what_(what) {}

  STRATA_HD carried_input operator+(std::ptrdiff_t n) const {
    carried_input moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD Item operator*() const { return (*this)[0]; }
  STRATA_HD Item operator[](std::ptrdiff_t n) const {
    What what = what_;
    const auto i = static_cast<std::size_t>(index_ + n);
    const bool is_selected = what.is_selected(i);
    if constexpr (What::has_payload) {
      return {is_selected ? 1u : 0u, is_selected ? 1u : 0u, item_at(what.payloads, i)};
    } else {
      return {is_selected ? 1u : 0u, is_selected ? 1u : 0u, detail::item_at(what.deciders, i)};
    }
  }

 private:
  What what_;
  std::ptrdiff_t index_ = 0;
};

template <class What>
class carried_output : public indexed_iterator_traits<selected_item_of<What>, void> {
 public:
  using Item = selected_item_of<What>;

  STRATA_HD carried_output(const What& what, std::size_t num_items)
      : what_(what), num_items_(num_items) {}

  struct place {
    What what;
    bool is_last;
    STRATA_HD void operator=(const Item& sum) {
      if (sum.is_selected != 0) {
        const auto to = static_cast<std::size_t>(sum.selected - 1);
        if constexpr (What::has_payload) {
          *detail::advanced(what.payloads_out, to) = sum.item;
        } else {
          *detail::advanced(what.deciders_out, to) = sum.item;
        }
      }
      if (is_last) what.write_number(sum.selected);
    }
  };

  STRATA_HD carried_output operator+(std::ptrdiff_t n) const {
    carried_output moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_HD place operator*() const { return (*this)[0]; }
  STRATA_HD place operator[](std::ptrdiff_t n) const {
    return {what_, static_cast<std::size_t>(index_ + n) + 1 == num_items_};
  }

 private:
  What what_;
  std::size_t num_items_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

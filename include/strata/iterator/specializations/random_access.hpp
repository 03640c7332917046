// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The operators of a random-access iterator that move or compare it and look at no item. They move only `position_`: a
/// number, a pointer or another iterator. `Derived` adds what an item is. It may hide `forward`, `back` and `is_at`;
/// then it declares this class as a friend.
///
/// The operators take a distance `n` of any type. They do not convert it to `Difference`, which may be unsigned or
/// narrower than a pointer. Only `n + iterator` converts it. `Difference` is the `OffsetT` of an iterator.
template <class Derived, class Position, class Difference>
class random_access {
 public:
  using iterator_category = std::random_access_iterator_tag;  ///< Any distance is one step.
  using difference_type = Difference;                         ///< Type of differences of iterators.

  /// Advances this iterator by `n` positions.
  template <class Distance>
  STRATA_HD Derived& operator+=(Distance n) {
    position_ = Derived::forward(position_, n);
    return static_cast<Derived&>(*this);
  }
  /// Moves this iterator back by `n` positions.
  template <class Distance>
  STRATA_HD Derived& operator-=(Distance n) {
    position_ = Derived::back(position_, n);
    return static_cast<Derived&>(*this);
  }
  /// Returns an iterator `n` positions after this one.
  template <class Distance>
  STRATA_HD Derived operator+(Distance n) const {
    Derived result = static_cast<const Derived&>(*this);
    return result += n;
  }
  /// Returns an iterator `n` positions before this one.
  template <class Distance>
  STRATA_HD Derived operator-(Distance n) const {
    Derived result = static_cast<const Derived&>(*this);
    return result -= n;
  }
  /// Returns the number of positions from `other` to this iterator.
  STRATA_HD Difference operator-(const Derived& other) const {
    return static_cast<Difference>(position_ - other.position_);
  }
  STRATA_HD friend Derived operator+(Difference n, const Derived& iterator) { return iterator + n; }

  /// Advances this iterator by one position, and returns it.
  STRATA_HD Derived& operator++() { return *this += 1; }
  /// Moves this iterator back by one position, and returns it.
  STRATA_HD Derived& operator--() { return *this -= 1; }
  /// Advances this iterator by one position, and returns its old value.
  STRATA_HD Derived operator++(int) {
    const Derived before = static_cast<const Derived&>(*this);
    ++*this;
    return before;
  }
  /// Moves this iterator back by one position, and returns its old value.
  STRATA_HD Derived operator--(int) {
    const Derived before = static_cast<const Derived&>(*this);
    --*this;
    return before;
  }

  STRATA_HD friend bool operator==(const Derived& a, const Derived& b) { return random_access::are_equal(a, b); }
  STRATA_HD friend bool operator!=(const Derived& a, const Derived& b) { return !random_access::are_equal(a, b); }
  STRATA_HD friend bool operator<(const Derived& a, const Derived& b) { return a.position_ < b.position_; }
  STRATA_HD friend bool operator>(const Derived& a, const Derived& b) { return b < a; }
  STRATA_HD friend bool operator<=(const Derived& a, const Derived& b) { return !(b < a); }
  STRATA_HD friend bool operator>=(const Derived& a, const Derived& b) { return !(a < b); }

 protected:
  STRATA_HD random_access() : position_() {}
  STRATA_HD explicit random_access(const Position& position) : position_(position) {}

  template <class Distance>
  STRATA_HD static Position forward(const Position& position, Distance n) {
    return static_cast<Position>(position + n);
  }
  template <class Distance>
  STRATA_HD static Position back(const Position& position, Distance n) {
    return static_cast<Position>(position - n);
  }
  STRATA_HD bool is_at(const Derived& other) const { return position_ == other.position_; }

  Position position_;

 private:
  STRATA_HD static bool are_equal(const Derived& a, const Derived& b) { return a.is_at(b); }
};

/// `operator->` returns this if `operator*` returns a value. It holds a copy of that value, whose members
/// `iterator->member` reads.
template <class T>
class arrow_target {
 public:
  STRATA_HD explicit arrow_target(const T& item) : item_(item) {}
  STRATA_HD T* operator->() { return &item_; }

 private:
  T item_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stand-in for libcu++'s cuda::args, which only libcu++ 3.5 and newer has. Types and functions have the names of
// libcu++ in another namespace, so that both can be used in one program.
#pragma once

#include <iterator>
#include <limits>
#include <type_traits>

namespace cuda {
namespace strata_test {
namespace args {

struct no_bounds {};
template <auto Lower, auto Upper>
struct static_bounds {};
template <auto Lower, auto Upper>
constexpr static_bounds<Lower, Upper> bounds() {
  return {};
}
template <class T>
struct runtime_bounds {
  T lower, upper;
};
template <class T>
constexpr runtime_bounds<T> bounds(T lower, T upper) {
  return {lower, upper};
}

template <class T, class Bounds>
inline constexpr T highest_of = std::numeric_limits<T>::max();
template <class T, auto Lower, auto Upper>
inline constexpr T highest_of<T, static_bounds<Lower, Upper>> = static_cast<T>(Upper);

template <auto Value, class T = std::decay_t<decltype(Value)>>
class constant {
  friend constexpr T __unwrap(const constant&) { return Value; }
  friend constexpr T __highest_(constant) { return Value; }
};

template <class T, class Bounds = no_bounds>
class immediate {
 public:
  constexpr immediate(T value) : value_(value) {}
  constexpr immediate(T value, Bounds) : value_(value) {}

 private:
  friend constexpr const T& __unwrap(const immediate& argument) { return argument.value_; }
  friend constexpr T __highest_(immediate argument) { return argument.value_; }

  T value_;
};

template <class Iterator, class Bounds = no_bounds>
class deferred {
  using T = typename std::iterator_traits<Iterator>::value_type;

 public:
  constexpr deferred(Iterator iterator) : iterator_(iterator) {}
  constexpr deferred(Iterator iterator, Bounds) : iterator_(iterator) {}
  template <class Bound>
  constexpr deferred(Iterator iterator, Bounds, runtime_bounds<Bound> bounds)
      : iterator_(iterator), upper_(static_cast<T>(bounds.upper)) {}

 private:
  friend constexpr const Iterator& __unwrap(const deferred& argument) { return argument.iterator_; }
  friend constexpr T __highest_(deferred argument) {
    return argument.upper_ < highest_of<T, Bounds> ? argument.upper_ : highest_of<T, Bounds>;
  }

  Iterator iterator_;
  T upper_ = std::numeric_limits<T>::max();
};

template <class Iterator, class Bounds = no_bounds>
class deferred_sequence {
  using T = typename std::iterator_traits<Iterator>::value_type;

 public:
  constexpr deferred_sequence(Iterator iterator) : iterator_(iterator) {}
  constexpr deferred_sequence(Iterator iterator, Bounds) : iterator_(iterator) {}

 private:
  friend constexpr const Iterator& __unwrap(const deferred_sequence& argument) { return argument.iterator_; }
  friend constexpr T __highest_(deferred_sequence) { return highest_of<T, Bounds>; }

  Iterator iterator_;
};

}  // namespace args
}  // namespace strata_test
}  // namespace cuda

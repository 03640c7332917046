// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>

/// \file
/// Iterators over what a problem computes. With them AgentScanTile scans any problem.

STRATA_NAMESPACE_BEGIN
namespace detail {

// The function's object is copied before each call: operators in it need not be const.
template <class Function, class Value>
class indexed_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

 protected:
  STRATA_HD explicit indexed_iterator(const Function& function) : function_(function) {}

  Function function_;
  std::ptrdiff_t index_ = 0;
};

/// Item i is `function.load(i)`.
template <class Function, class Value>
class indexed_input : public indexed_iterator<Function, Value> {
  using base = indexed_iterator<Function, Value>;

 public:
  using reference = Value;

  STRATA_HD explicit indexed_input(const Function& function) : base(function) {}

  STRATA_HD indexed_input operator+(std::ptrdiff_t n) const {
    indexed_input moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_D Value operator*() const { return (*this)[0]; }
  STRATA_D Value operator[](std::ptrdiff_t n) const {
    Function function = base::function_;
    return function.load(static_cast<std::size_t>(base::index_ + n));
  }
};

/// Item i is written by `function.store(i, value)`.
template <class Function, class Value>
class indexed_output : public indexed_iterator<Function, Value> {
  using base = indexed_iterator<Function, Value>;

 public:
  struct element {
    Function function;
    std::size_t index;
    STRATA_D void operator=(const Value& value) { function.store(index, value); }
  };
  using reference = void;

  STRATA_HD explicit indexed_output(const Function& function) : base(function) {}

  STRATA_HD indexed_output operator+(std::ptrdiff_t n) const {
    indexed_output moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_D element operator*() const { return (*this)[0]; }
  STRATA_D element operator[](std::ptrdiff_t n) const {
    return {base::function_, static_cast<std::size_t>(base::index_ + n)};
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

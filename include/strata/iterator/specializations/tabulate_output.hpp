// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An output iterator that calls `op(position, item)` for each item that is written. It has the members of `op`.
template <class Operator>
class tabulate_output : public random_access<tabulate_output<Operator>, std::size_t, std::ptrdiff_t>, public Operator {
  using base = random_access<tabulate_output, std::size_t, std::ptrdiff_t>;

  struct assignment {
    const tabulate_output& output;
    std::size_t position;
    template <class Item>
    STRATA_HD void operator=(const Item& item) const {
      static_cast<const Operator&>(output)(position, item);
    }
  };

 public:
  using value_type = void;
  using reference = assignment;
  using pointer = void;

  explicit tabulate_output(const Operator& op) : base(std::size_t{0}), Operator(op) {}

  STRATA_HD reference operator*() const { return {*this, this->position_}; }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return {*this, this->position_ + static_cast<std::size_t>(n)};
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

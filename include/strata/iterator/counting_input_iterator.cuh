// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// val, val + 1, val + 2 ...
///
/// - Read on host and device; no memory.
/// - `ValueType` needs `+`, `-` and a conversion from integers. Distances are converted to it: in an unsigned type
///   the values begin again with 0 after the largest.
/// - `OffsetT` is the type of differences.
///
/// @code
/// // The indices of the items that are not 0, in ascending order.
/// cudaError_t indices_of_nonzeros(void* d_temp, std::size_t& temp_bytes, const int* d_in, int* d_indices,
///                                 int* d_count, int count) {
///   const strata::CountingInputIterator<int> indices(0);
///   return strata::DeviceSelect::Flagged(d_temp, temp_bytes, indices, d_in, d_indices, d_count, count);
/// }
/// @endcode
template <class ValueType, class OffsetT = std::ptrdiff_t>
class CountingInputIterator
    : public detail::random_access<CountingInputIterator<ValueType, OffsetT>, ValueType, OffsetT> {
  using base = detail::random_access<CountingInputIterator, ValueType, OffsetT>;
  friend base;

 public:
  using value_type = ValueType;
  using reference = ValueType;
  using pointer = ValueType*;

  STRATA_HD CountingInputIterator(const ValueType& val) : base(val) {}

  STRATA_HD reference operator*() const { return this->position_; }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return forward(this->position_, n);
  }
  STRATA_HD detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(**this); }

 private:
  template <class Distance>
  STRATA_HD static ValueType forward(const ValueType& value, Distance n) {
    return static_cast<ValueType>(value + static_cast<ValueType>(n));
  }
  template <class Distance>
  STRATA_HD static ValueType back(const ValueType& value, Distance n) {
    return static_cast<ValueType>(value - static_cast<ValueType>(n));
  }
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// The same value again and again. `offset` is where the iterator begins: differences and comparisons look at it.
/// Read on host and device; no memory. Iterators are equal if their values and their offsets are.
///
/// @code
/// // The length of each run of equal keys.
/// cudaError_t run_lengths(void* d_temp, std::size_t& temp_bytes, const int* d_keys, int* d_unique, int* d_lengths,
///                         int* d_runs, int count) {
///   const strata::ConstantInputIterator<int> one(1);
///   return strata::DeviceReduce::ReduceByKey(d_temp, temp_bytes, d_keys, d_unique, one, d_lengths, d_runs,
///                                           strata::Sum{}, count);
/// }
/// @endcode
template <class ValueType, class OffsetT = std::ptrdiff_t>
class ConstantInputIterator
    : public detail::random_access<ConstantInputIterator<ValueType, OffsetT>, OffsetT, OffsetT> {
  using base = detail::random_access<ConstantInputIterator, OffsetT, OffsetT>;
  friend base;

 public:
  using value_type = ValueType;
  using reference = ValueType;
  using pointer = ValueType*;

  STRATA_HD ConstantInputIterator(ValueType val, OffsetT offset = 0) : base(offset), value_(val) {}

  STRATA_HD reference operator*() const { return value_; }
  template <class Distance>
  STRATA_HD reference operator[](Distance) const {
    return value_;
  }
  STRATA_HD detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(value_); }

 private:
  STRATA_HD bool is_at(const ConstantInputIterator& other) const {
    return this->position_ == other.position_ && value_ == other.value_;
  }

  ValueType value_;
};

STRATA_NAMESPACE_END

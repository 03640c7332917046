// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// A sequence of equal items. Differences and comparisons use the position, which begins with `offset`. It works on
/// host and device, and reads no memory. Iterators are equal if their values and positions are equal.
///
/// @code
/// #include <strata/device/device_reduce.cuh>
///
/// // The length of each run of equal keys: the sum of as many ones.
/// __managed__ int keys[7] = {5, 5, 5, 2, 8, 8, 5};
/// __managed__ int unique[7], lengths[7], runs;
///
/// int main() {
///   using strata::DeviceReduce;
///   const strata::ConstantInputIterator<int> one(1);
///   if (DeviceReduce::ReduceByKey(keys, unique, one, lengths, &runs, strata::Sum{}, 7) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < runs; ++i) std::printf("%d:%d ", unique[i], lengths[i]);
/// }
/// // prints: 5:3 2:1 8:2 5:1
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

  /// Makes an iterator that can only be assigned to.
  STRATA_HD ConstantInputIterator() {}
  /// Makes an iterator whose items are all `val`. `offset` is its position.
  STRATA_HD ConstantInputIterator(ValueType val, OffsetT offset = 0) : base(offset), value_(val) {}

  /// Returns the value.
  STRATA_HD reference operator*() const { return value_; }
  /// Returns the value, at any distance.
  template <class Distance>
  STRATA_HD reference operator[](Distance) const {
    return value_;
  }
  /// Returns an object that points to the value.
  STRATA_HD detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(value_); }

 private:
  STRATA_HD bool is_at(const ConstantInputIterator& other) const {
    return this->position_ == other.position_ && value_ == other.value_;
  }

  ValueType value_;
};

STRATA_NAMESPACE_END

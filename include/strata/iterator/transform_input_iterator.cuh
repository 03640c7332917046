// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// A sequence that is computed at each read: item i is conversion_op(input_itr[i]), converted to `ValueType`. Iterators
/// are equal if their inputs are.
///
/// - It can be read wherever `InputIteratorT` and `ConversionOp` can be used: only on the device, if the input is a
///   pointer to device memory or `ConversionOp` is a `__device__` function.
/// - `ConversionOp` is copied with the iterator. It is called as const, for any item in any order.
///
/// @code
/// #include <strata/device/device_reduce.cuh>
///
/// // The sum of squares. No array of squares is written.
/// struct square {
///   STRATA_HD double operator()(float x) const { return static_cast<double>(x) * x; }
/// };
/// __managed__ float numbers[4] = {1, 2, 3, 0.5f};
/// __managed__ double sum;
///
/// int main() {
///   const strata::TransformInputIterator<double, square, const float*> squares(numbers, square{});
///   if (strata::DeviceReduce::Sum(squares, &sum, 4) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%g\n", sum);
/// }
/// // prints: 14.25
/// @endcode
template <class ValueType, class ConversionOp, class InputIteratorT, class OffsetT = std::ptrdiff_t>
class TransformInputIterator
    : public detail::random_access<TransformInputIterator<ValueType, ConversionOp, InputIteratorT, OffsetT>,
                                   InputIteratorT, OffsetT> {
  using base = detail::random_access<TransformInputIterator, InputIteratorT, OffsetT>;

 public:
  using value_type = ValueType;
  using reference = ValueType;
  using pointer = ValueType*;

  /// Makes an iterator that can only be assigned to.
  STRATA_HD TransformInputIterator() {}
  /// Makes an iterator to the results of `conversion_op` for the items at `input_itr`.
  STRATA_HD TransformInputIterator(InputIteratorT input_itr, ConversionOp conversion_op)
      : base(input_itr), conversion_op_(conversion_op) {}

  /// Returns the converted item at this position.
  STRATA_HD reference operator*() const { return static_cast<ValueType>(conversion_op_(*this->position_)); }
  /// Returns the converted item `n` positions from here.
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return static_cast<ValueType>(conversion_op_(this->position_[n]));
  }
  /// Returns an object that points to the converted item at this position.
  STRATA_HD detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(**this); }

 private:
  ConversionOp conversion_op_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// A sequence of numbers that is computed: val, val + 1, val + 2 ...
///
/// - It can be read on host and device, and reads no memory.
/// - `ValueType` needs `+`, `-` and a conversion from integers. Distances are converted to it. In an unsigned type, the
///   values begin again with 0 after the largest.
/// - `OffsetT` is the type of differences.
///
/// @code
/// #include <strata/device/device_select.cuh>
///
/// // The indices of the items that are not 0, in ascending order.
/// __managed__ int numbers[7] = {0, 4, 0, 0, -2, 9, 0};
/// __managed__ int indices[7], count;
///
/// int main() {
///   const strata::CountingInputIterator<int> all(0);
///   if (strata::DeviceSelect::Flagged(all, numbers, indices, &count, 7) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < count; ++i) std::printf("%d ", indices[i]);
/// }
/// // prints: 1 4 5
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

  /// Makes an iterator that can only be assigned to.
  STRATA_HD CountingInputIterator() {}
  /// Makes an iterator that counts from `val` on.
  STRATA_HD CountingInputIterator(const ValueType& val) : base(val) {}

  /// Returns the number at this position.
  STRATA_HD reference operator*() const { return this->position_; }
  /// Returns the number `n` positions from here.
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return forward(this->position_, n);
  }
  /// Returns an object that points to the number at this position.
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

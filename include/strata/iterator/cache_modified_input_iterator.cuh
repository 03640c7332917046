// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform/cache_modifiers.cuh>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// Reads an array by loads of one cache modifier: see CacheLoadModifier. Items of any size are read in words that are
/// as large as their alignment, at most 16 bytes.
///
/// - It is made, moved and compared on host and device, and read on the device.
/// - `ValueType` must be trivially relocatable, unless the modifier is LOAD_DEFAULT.
/// - Algorithms read it item by item. From a pointer they may read 16 bytes at a time.
///
/// @code
/// #include <strata/device/device_reduce.cuh>
///
/// // Sums an array that is read once: its lines leave the caches first.
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5};
/// __managed__ long long sum;
///
/// int main() {
///   const strata::CacheModifiedInputIterator<strata::LOAD_CS, int> in(numbers);
///   if (strata::DeviceReduce::Sum(in, &sum, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%lld\n", sum);
/// }
/// // prints: 14
/// @endcode
template <CacheLoadModifier Modifier, class ValueType, class OffsetT = std::ptrdiff_t>
class CacheModifiedInputIterator
    : public detail::random_access<CacheModifiedInputIterator<Modifier, ValueType, OffsetT>, const ValueType*,
                                   OffsetT> {
  using base = detail::random_access<CacheModifiedInputIterator, const ValueType*, OffsetT>;

 public:
  using value_type = ValueType;
  using reference = ValueType;
  using pointer = ValueType*;

  /// Makes an iterator that can only be assigned to.
  STRATA_HD CacheModifiedInputIterator() {}
  /// Makes an iterator to the items at `ptr`.
  STRATA_HD CacheModifiedInputIterator(const ValueType* ptr) : base(ptr) {}

  /// Loads the item at this position.
  STRATA_D reference operator*() const { return detail::load_item<Modifier>(this->position_); }
  /// Loads the item `n` positions from here.
  template <class Distance>
  STRATA_D reference operator[](Distance n) const {
    return detail::load_item<Modifier>(this->position_ + n);
  }
  /// Returns an object that points to a copy of the item at this position.
  STRATA_D detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(**this); }
};

STRATA_NAMESPACE_END

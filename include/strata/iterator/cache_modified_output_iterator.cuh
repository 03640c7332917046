// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform/cache_modifiers.cuh>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// Writes an array by stores of one cache modifier: see CacheStoreModifier. Items of any size are written in words that
/// are as large as their alignment, at most 16 bytes.
///
/// - It is made, moved and compared on host and device, and written on the device. It cannot be read.
/// - `ValueType` must be trivially relocatable, unless the modifier is STORE_DEFAULT.
/// - It has no value type, so an algorithm computes with the types of its inputs. Algorithms write it item by item.
///   To a pointer they may write 16 bytes at a time.
///
/// @code
/// #include <strata/device/device_scan.cuh>
///
/// // Running sums that the scan does not read again. So they need no lines in L1.
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5};
/// __managed__ int sums[5];
///
/// int main() {
///   const strata::CacheModifiedOutputIterator<strata::STORE_CG, int> out(sums);
///   if (strata::DeviceScan::InclusiveSum(numbers, out, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 3 4 8 9 14
/// @endcode
template <CacheStoreModifier Modifier, class ValueType, class OffsetT = std::ptrdiff_t>
class CacheModifiedOutputIterator
    : public detail::random_access<CacheModifiedOutputIterator<Modifier, ValueType, OffsetT>, ValueType*, OffsetT> {
  using base = detail::random_access<CacheModifiedOutputIterator, ValueType*, OffsetT>;

  class assignment {
   public:
    STRATA_HD explicit assignment(ValueType* to) : to_(to) {}
    assignment(const assignment&) = default;
    // An item cannot be read, and the default would copy the address.
    assignment& operator=(const assignment&) = delete;

    template <class T = ValueType>
    STRATA_D ValueType operator=(const T& value) const {
      const ValueType item = static_cast<ValueType>(value);
      detail::store_item<Modifier>(to_, item);
      return item;
    }

   private:
    ValueType* to_;
  };

 public:
  using value_type = void;
  using reference = assignment;
  using pointer = void;

  /// Makes an iterator to the items at `ptr`.
  STRATA_HD CacheModifiedOutputIterator(ValueType* ptr) : base(ptr) {}

  /// Returns an object that stores what is assigned to it at this position.
  STRATA_HD reference operator*() const { return assignment(this->position_); }
  /// Returns an object that stores what is assigned to it `n` positions from here.
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return assignment(this->position_ + n);
  }
};

STRATA_NAMESPACE_END

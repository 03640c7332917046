// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// Items with their indices: item i is the pair of `key` i and `value` itr[i]. `offset` is the index of the item that
/// the iterator begins with.
///
/// - `OffsetT` is the type of the indices and of differences, `OutputValueT` the type of the values.
/// - `normalize()` makes the indices begin with 0 where the iterator is now.
/// - It can be read wherever `InputIteratorT` can be read: on the device, if that is a pointer to device memory.
///
/// @code
/// #include <strata/device/device_reduce.cuh>
///
/// // The largest item and where it is: the first of several.
/// using indexed = strata::KeyValuePair<std::ptrdiff_t, int>;
/// __managed__ int numbers[6] = {4, 8, 15, -16, 15, 3};
/// __managed__ indexed largest;
///
/// int main() {
///   const strata::ArgIndexInputIterator<const int*> in(numbers);
///   const indexed lowest(-1, -1000);
///   if (strata::DeviceReduce::Reduce(in, &largest, 6, strata::ArgMax{}, lowest) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d at %d\n", largest.value, static_cast<int>(largest.key));
/// }
/// // prints: 15 at 2
/// @endcode
template <class InputIteratorT, class OffsetT = std::ptrdiff_t,
          class OutputValueT = detail::iterator_value_t<InputIteratorT>>
class ArgIndexInputIterator
    : public detail::random_access<ArgIndexInputIterator<InputIteratorT, OffsetT, OutputValueT>, OffsetT, OffsetT> {
  using base = detail::random_access<ArgIndexInputIterator, OffsetT, OffsetT>;
  friend base;

 public:
  using value_type = KeyValuePair<OffsetT, OutputValueT>;
  using reference = value_type;
  using pointer = value_type*;

  /// Makes an iterator that can only be assigned to.
  STRATA_HD ArgIndexInputIterator() {}
  /// Makes an iterator that begins with item `offset` of `itr`: its first pair is `offset` and `itr[offset]`.
  STRATA_HD ArgIndexInputIterator(InputIteratorT itr, OffsetT offset = 0) : base(offset), itr_(itr) {}

  /// Returns the pair of index and item at this position.
  STRATA_HD reference operator*() const { return (*this)[0]; }
  /// Returns the pair of index and item `n` positions from here.
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    const OffsetT index = base::forward(this->position_, n);
    return {index, static_cast<OutputValueT>(itr_[index])};
  }
  /// Returns an object that points to the pair at this position.
  STRATA_HD detail::arrow_target<value_type> operator->() const { return detail::arrow_target<value_type>(**this); }

  /// Sets the index at this position to 0.
  STRATA_HD void normalize() {
    itr_ = itr_ + this->position_;
    this->position_ = 0;
  }

 private:
  STRATA_HD bool is_at(const ArgIndexInputIterator& other) const {
    return this->position_ == other.position_ && itr_ == other.itr_;
  }

  InputIteratorT itr_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

STRATA_NAMESPACE_BEGIN

/// An output that takes items of any type and writes none, for results of an algorithm that are not wanted. It begins
/// at position `offset`, which differences and comparisons use. It works on host and device, and takes no memory. It
/// has no value type, so an algorithm computes with the types of its inputs.
///
/// @code
/// #include <strata/device/device_run_length_encode.cuh>
///
/// // Counts the runs of equal keys: neither the keys nor the lengths are written.
/// __managed__ int keys[7] = {5, 5, 5, 2, 8, 8, 5};
/// __managed__ int runs;
///
/// int main() {
///   const strata::DiscardOutputIterator<> none;
///   if (strata::DeviceRunLengthEncode::Encode(keys, none, none, &runs, 7) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d\n", runs);
/// }
/// // prints: 4
/// @endcode
template <class OffsetT = std::ptrdiff_t>
class DiscardOutputIterator : public detail::random_access<DiscardOutputIterator<OffsetT>, OffsetT, OffsetT> {
  using base = detail::random_access<DiscardOutputIterator, OffsetT, OffsetT>;

  struct assignment {
    template <class T>
    STRATA_HD void operator=(const T&) const {}
  };

 public:
  using value_type = void;
  using reference = assignment;
  using pointer = void;

  /// Makes an iterator at position `offset`.
  STRATA_HD DiscardOutputIterator(OffsetT offset = 0) : base(offset) {}

  /// Returns an object that ignores what is assigned to it.
  STRATA_HD reference operator*() const { return {}; }
  /// Returns an object that ignores what is assigned to it, at any distance.
  template <class Distance>
  STRATA_HD reference operator[](Distance) const {
    return {};
  }
};

STRATA_NAMESPACE_END

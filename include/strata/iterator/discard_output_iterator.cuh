// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/iterator/specializations/random_access.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// An output that takes items of any type and writes none: for results of an algorithm that are not wanted.
/// `offset` is where it begins: differences and comparisons look at it. Written on host and device; no memory. It
/// has no value type, so an algorithm computes with the types of its inputs.
///
/// @code
/// // Counts the runs of equal keys: neither the keys nor the lengths are written.
/// cudaError_t count_runs(void* d_temp, std::size_t& temp_bytes, const int* d_keys, int* d_runs, int count) {
///   const strata::DiscardOutputIterator<> none;
///   return strata::DeviceRunLengthEncode::Encode(d_temp, temp_bytes, d_keys, none, none, d_runs, count);
/// }
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

  STRATA_HD DiscardOutputIterator(OffsetT offset = 0) : base(offset) {}

  STRATA_HD reference operator*() const { return {}; }
  template <class Distance>
  STRATA_HD reference operator[](Distance) const {
    return {};
  }
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stand-in for cuda::std::mdspan, for compilers without libcu++.
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>

namespace strata_test {

template <std::size_t Rank>
struct box {
  using index_type = int;
  static constexpr std::size_t rank() { return Rank; }
  STRATA_HD int extent(std::size_t r) const { return all[r]; }
  int all[Rank > 0 ? Rank : 1];
};
template <std::size_t Rank>
struct strides_of {
  using extents_type = box<Rank>;
  STRATA_HD const extents_type& extents() const { return extents_; }
  STRATA_HD int stride(std::size_t r) const { return strides_[r]; }
  STRATA_HD int required_span_size() const {
    int last = 0;
    for (int r = 0; r < static_cast<int>(Rank); ++r) last += (extents_.all[r] - 1) * strides_[r];
    return last + 1;
  }
  template <class... Indices>
  STRATA_HD int operator()(Indices... indices) const {
    const int all[] = {indices..., 0};
    int place = 0;
    for (int r = 0; r < static_cast<int>(Rank); ++r) place += all[r] * strides_[r];
    return place;
  }
  extents_type extents_;
  int strides_[Rank > 0 ? Rank : 1];
};
template <class T>
struct default_accessor {
  STRATA_HD T& access(T* first, std::size_t i) const { return first[i]; }
};
template <class T, std::size_t Rank, class Accessor = default_accessor<T>>
struct array_of {
  using element_type = T;
  using index_type = int;
  using data_handle_type = T*;
  using accessor_type = Accessor;
  using mapping_type = strides_of<Rank>;
  static constexpr std::size_t rank() { return Rank; }
  STRATA_HD T* data_handle() const { return first; }
  STRATA_HD const mapping_type& mapping() const { return strides; }
  STRATA_HD Accessor accessor() const { return {}; }
  STRATA_HD const box<Rank>& extents() const { return strides.extents_; }
  T* first;
  mapping_type strides;
};

}  // namespace strata_test

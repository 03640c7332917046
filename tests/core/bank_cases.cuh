// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Kernels that access shared memory in one pattern and one layout only, so that the conflicts which the host back end
// and the hardware count are those of the pattern.
#include <strata/core/launcher.cuh>
#include <strata/core/shared_layout.hpp>

#include <vector>

namespace bank_cases {

template <int Bytes>
struct access_type;
template <>
struct access_type<1> {
  using type = unsigned char;
};
template <>
struct access_type<2> {
  using type = unsigned short;
};
template <>
struct access_type<4> {
  using type = unsigned;
};
template <>
struct access_type<8> {
  using type = unsigned long long;
};
template <>
struct access_type<16> {
  using type = unsigned __int128;
};

template <class Layout, class Pattern>
constexpr int count_storage_elements() {
  int most = 0;
  for (int i = 0; i < Pattern::instructions; ++i) {
    for (int lane = 0; lane < 32; ++lane) {
      const auto place = Pattern{}(i, lane);
      if (!strata::detail::takes_part(place)) continue;
      const int position = strata::detail::position_of(Layout{}, place);
      most = position > most ? position : most;
    }
  }
  return most + 1;
}

template <class Layout, class Pattern>
inline constexpr int storage_elements = count_storage_elements<Layout, Pattern>();

// One warp stores to each place of the pattern, then loads from it. The loops are not unrolled, because the compiler
// could join several accesses to a wide one.
template <class Layout, class Pattern>
STRATA_KERNEL void store_and_load(unsigned* out) {
  using T = typename access_type<Pattern::element_bytes>::type;
  // A struct, because nvcc takes an array whose length depends on a template parameter for a variable-length array.
  struct all_elements {
    T at[storage_elements<Layout, Pattern>];
  };
  STRATA_SHARED(storage, all_elements);
  const int lane = static_cast<int>(threadIdx.x);
  STRATA_UNROLL_N(1)
  for (int i = 0; i < Pattern::instructions; ++i) {
    const auto place = Pattern{}(i, lane);
    if (strata::detail::takes_part(place)) {
      storage.at[strata::detail::position_of(Layout{}, place)] = static_cast<T>(static_cast<unsigned>(i + lane) & 0xff);
    }
  }
  __syncwarp();
  unsigned sum = 0;
  STRATA_UNROLL_N(1)
  for (int i = 0; i < Pattern::instructions; ++i) {
    const auto place = Pattern{}(i, lane);
    if (strata::detail::takes_part(place)) {
      sum += static_cast<unsigned>(storage.at[strata::detail::position_of(Layout{}, place)]);
    }
  }
  out[lane] = sum;
}

struct bank_case {
  const char* pattern;
  const char* layout;
  int element_bytes;
  int instructions;
  strata::wavefront_count model;
  bool is_claimed_free;
  cudaError_t (*run)(unsigned* out);
  unsigned (*sum_of_lane)(int lane);  // what `out` must hold
};

template <class Layout, class Pattern>
bank_case make_case(const char* pattern, const char* layout, bool is_claimed_free) {
  return {pattern,
          layout,
          Pattern::element_bytes,
          Pattern::instructions,
          strata::count_wavefronts(Layout{}, Pattern{}),
          is_claimed_free,
          [](unsigned* out) {
            return strata::launch({"bank case", 1, 32}, store_and_load<Layout, Pattern>, out);
          },
          [](int lane) {
            unsigned sum = 0;
            for (int i = 0; i < Pattern::instructions; ++i) {
              if (strata::detail::takes_part(Pattern{}(i, lane))) {
                sum += static_cast<unsigned>(i + lane) & 0xff;
              }
            }
            return sum;
          }};
}

inline std::vector<bank_case> all_cases() {
  using namespace strata;
  return {
      make_case<PlainLayout, strided_access<4, 2>>("stride 2", "plain", false),
      make_case<PlainLayout, strided_access<4, 32>>("stride 32", "plain", false),
      make_case<PaddedLayout<32, 1>, strided_access<4, 2>>("stride 2", "padded 32+1", true),
      make_case<PaddedLayout<32, 1>, strided_access<4, 32>>("stride 32", "padded 32+1", true),
      make_case<PlainLayout, blocked_access<1, 5>>("blocked, 5 items", "plain", false),
      make_case<ExchangeLayout<unsigned char, 5>, blocked_access<1, 5>>("blocked, 5 items", "exchange", true),
      make_case<ExchangeLayout<unsigned char, 5>, striped_access<1, 5>>("striped, 5 items", "exchange", true),
      make_case<PlainLayout, blocked_access<2, 7>>("blocked, 7 items", "plain", false),
      make_case<ExchangeLayout<unsigned short, 7>, blocked_access<2, 7>>("blocked, 7 items", "exchange", true),
      make_case<ExchangeLayout<unsigned short, 7>, striped_access<2, 7>>("striped, 7 items", "exchange", true),
      make_case<PlainLayout, blocked_access<4, 8>>("blocked, 8 items", "plain", false),
      make_case<PaddedLayout<32, 1>, blocked_access<4, 8>>("blocked, 8 items", "padded 32+1", true),
      make_case<ExchangeLayout<unsigned, 8>, blocked_access<4, 8>>("blocked, 8 items", "exchange", true),
      make_case<PlainLayout, blocked_access<4, 24>>("blocked, 24 items", "plain", false),
      make_case<PaddedLayout<32, 1>, blocked_access<4, 24>>("blocked, 24 items", "padded 32+1", false),
      make_case<ExchangeLayout<unsigned, 24>, blocked_access<4, 24>>("blocked, 24 items", "exchange", true),
      make_case<ExchangeLayout<unsigned, 24>, striped_access<4, 24>>("striped, 24 items", "exchange", true),
      make_case<PlainLayout, blocked_access<8, 12>>("blocked, 12 items", "plain", false),
      make_case<ExchangeLayout<unsigned long long, 12>, blocked_access<8, 12>>("blocked, 12 items", "exchange", true),
      make_case<ExchangeLayout<unsigned long long, 12>, striped_access<8, 12>>("striped, 12 items", "exchange", true),
      make_case<PlainLayout, blocked_access<16, 4>>("blocked, 4 items", "plain", false),
      make_case<SwizzledLayout<16, 4>, blocked_access<16, 4>>("blocked, 4 items", "swizzled", true),
      make_case<SwizzledLayout<16, 4>, striped_access<16, 4>>("striped, 4 items", "swizzled", true),
      make_case<ExchangeLayout<uint4, 4>, blocked_access<16, 4>>("blocked, 4 items", "exchange", true),
      make_case<ExchangeLayout<uint4, 4>, striped_access<16, 4>>("striped, 4 items", "exchange", true),
      make_case<PaddedMatrixLayout<32, 32, 0>, column_access<4, 32, 32>>("columns of 32 x 32", "plain", false),
      make_case<PaddedMatrixLayout<32, 32, 1>, column_access<4, 32, 32>>("columns of 32 x 32", "pitch 33", true),
      make_case<SwizzledLayout<4, 32>, column_access<4, 32, 32>>("columns of 32 x 32", "swizzled", true),
      make_case<SwizzledLayout<4, 32>, row_access<4, 32, 32>>("rows of 32 x 32", "swizzled", true),
      make_case<PaddedMatrixLayout<32, 32, 0>, column_access<8, 32, 32>>("columns of 32 x 32", "plain", false),
      make_case<PaddedMatrixLayout<32, 32, 1>, column_access<8, 32, 32>>("columns of 32 x 32", "pitch 33", true),
      make_case<SwizzledLayout<8, 32>, column_access<8, 32, 32>>("columns of 32 x 32", "swizzled", true),
      make_case<SwizzledLayout<16, 8>, column_access<16, 32, 8>>("columns of 32 x 8", "swizzled", true),
      make_case<SwizzledLayout<16, 8>, row_access<16, 32, 8>>("rows of 32 x 8", "swizzled", true),
  };
}

}  // namespace bank_cases

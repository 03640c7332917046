// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/standard.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type that a thread loads or stores in one access of `Bytes` bytes: 1, 2, 4, 8 or 16. The larger
/// ones are vectors, which need no 64-bit registers and no 128-bit integers.
template <std::size_t Bytes>
struct access_word_of : unsigned_of_bytes<Bytes> {};
template <>
struct access_word_of<8> {
  using type = uint2;
};
template <>
struct access_word_of<16> {
  using type = uint4;
};

template <std::size_t Bytes>
using access_word = typename access_word_of<Bytes>::type;

}  // namespace detail
STRATA_NAMESPACE_END

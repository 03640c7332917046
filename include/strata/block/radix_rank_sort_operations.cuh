// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// The digit of a key that BlockRadixRank ranks by: `num_bits` bits from bit `bit_start` on.
///
/// - `Digit(key)` takes the unsigned integer of a key. Keys that are unsigned convert to it;
///   `RadixTraits<KeyT>::ordered(key)` gives that of signed and floating-point keys. Both zeros have the same digits.
/// - `num_bits` is 0 to 32. Bits behind the key are 0, and `bit_start` is one of its bits.
///
/// @code
/// // The rank of each of 256 keys by bits 8 to 11.
/// STRATA_KERNEL void rank(const unsigned* in, int* out) {
///   using Rank = strata::BlockRadixRank<128, 4, false>;
///   STRATA_SHARED(temp_storage, Rank::TempStorage);
///   unsigned keys[2];
///   int ranks[2];
///   strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, keys);
///   Rank(temp_storage).RankKeys(keys, ranks, strata::BFEDigitExtractor<unsigned>(8, 4));
///   strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, ranks);
/// }
/// @endcode
template <class KeyT>
struct BFEDigitExtractor {
  using UnsignedBits = typename RadixTraits<KeyT>::word;

  std::uint32_t bit_start;
  std::uint32_t num_bits;

  STRATA_HD explicit BFEDigitExtractor(std::uint32_t first_bit = 0, std::uint32_t number_of_bits = 0)
      : bit_start(first_bit), num_bits(number_of_bits) {}

  STRATA_HD std::uint32_t Digit(UnsignedBits key) const {
    if constexpr (detail::radix_mantissa_bits<KeyT> != 0) {
      constexpr auto zero = static_cast<UnsignedBits>(UnsignedBits{1} << (RadixTraits<KeyT>::bits - 1));
      if (key == zero - 1) key = zero;  // -0.0 with all bits flipped, as other negative numbers
    }
    const std::uint64_t mask = (std::uint64_t{1} << num_bits) - 1;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key >> bit_start) & mask);
  }
};

/// The same, by the name of another class of CUB.
template <class KeyT>
struct ShiftDigitExtractor : BFEDigitExtractor<KeyT> {
  using BFEDigitExtractor<KeyT>::BFEDigitExtractor;
};

STRATA_NAMESPACE_END

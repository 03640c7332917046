// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// The digit of a key that BlockRadixRank ranks by: `num_bits` bits from bit `bit_start` on.
///
/// - `Digit(key)` takes an unsigned integer with the order of the keys: an unsigned key itself, or
///   `RadixTraits<KeyT>::ordered(key)` of a signed or floating-point key. -0.0 and +0.0 have the same digits.
/// - `num_bits` is 0 to 32. `bit_start` is less than the number of bits of a key. Bits above the key's highest bit
///   count as 0.
///
/// @code
/// #include <strata/block/block_radix_rank.cuh>
/// #include <strata/core/launcher.cuh>
///
/// __managed__ unsigned keys[256];
/// __managed__ int ranks[256];
///
/// // The ranks of 256 keys by their bits 8 to 11.
/// STRATA_KERNEL void rank_keys(const unsigned* in, int* out) {
///   using Rank = strata::BlockRadixRank<128, 4, false>;
///   STRATA_SHARED(temp_storage, Rank::TempStorage);
///   unsigned items[2];
///   int item_ranks[2];
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   Rank(temp_storage).RankKeys(items, item_ranks, strata::BFEDigitExtractor<unsigned>(8, 4));
///   for (unsigned i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = item_ranks[i];
/// }
///
/// int main() {
///   for (unsigned i = 0; i < 256; ++i) keys[i] = (15 - i % 16) << 8 | 0xf055;
///   if (strata::launch({"rank_keys", 1, 128}, rank_keys, keys, ranks) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d %d\n", ranks[0], ranks[1], ranks[15], ranks[31]);
/// }
/// // prints: 240 224 0 1
/// @endcode
template <class KeyT>
struct BFEDigitExtractor {
  using UnsignedBits = typename RadixTraits<KeyT>::word;  ///< Unsigned integer with as many bits as a key.

  std::uint32_t bit_start;  ///< Lowest bit of the digit.
  std::uint32_t num_bits;   ///< Number of bits of the digit.

  /// Makes an extractor of `number_of_bits` bits from bit `first_bit` on.
  STRATA_HD explicit BFEDigitExtractor(std::uint32_t first_bit = 0, std::uint32_t number_of_bits = 0)
      : bit_start(first_bit), num_bits(number_of_bits) {}

  /// Returns the digit of a key, given as an unsigned integer.
  STRATA_HD std::uint32_t Digit(UnsignedBits key) const {
    if constexpr (detail::radix_mantissa_bits<KeyT> != 0) {
      constexpr auto zero = static_cast<UnsignedBits>(UnsignedBits{1} << (RadixTraits<KeyT>::bits - 1));
      if (key == zero - 1) key = zero;  // -0.0 with all bits flipped, as other negative numbers
    }
    const std::uint64_t mask = (std::uint64_t{1} << num_bits) - 1;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key >> bit_start) & mask);
  }
};

/// BFEDigitExtractor under another name, which CUB also has.
template <class KeyT>
struct ShiftDigitExtractor : BFEDigitExtractor<KeyT> {
  using BFEDigitExtractor<KeyT>::BFEDigitExtractor;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether a key is known by its one digit: then its place says what it is, and no key need be moved.
template <class Key, class Decomposer>
inline constexpr bool is_counted_key =
    sizeof(Key) == 1 &&
    is_radix_integer<Key>::value&& std::is_same_v<Decomposer, identity_decomposer>;

/// Writes sorted keys of one digit, of which only the places of the first are known.
template <class Policy, class Key, bool IsDescending>
class AgentRadixExpand {
  static constexpr int block_threads = Policy::histogram.block_threads;
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  using Vector = item_vector<Key, width>;
  using word = typename RadixTraits<Key>::word;

 public:
  /// What a block writes.
  static constexpr std::size_t tile_items =
      static_cast<std::size_t>(block_threads) * 8 * static_cast<std::size_t>(width);

  struct TempStorage {
    unsigned long long first[radix_bins + 1];  // of each digit
  };

  STRATA_D AgentRadixExpand(TempStorage& storage, const unsigned long long* first, Key* d_out,
                            std::size_t num_items)
      : storage_(storage), first_(first), d_out_(d_out), num_items_(num_items) {}

  STRATA_D void run() {
    for (int d = static_cast<int>(threadIdx.x); d < radix_bins; d += block_threads) {
      storage_.first[d] = first_[d];
    }
    if (threadIdx.x == 0) storage_.first[radix_bins] = num_items_;
    __syncthreads();
    const std::size_t begin = blockIdx.x * tile_items;
    const std::size_t left = num_items_ - begin;
    const std::size_t end = begin + (left < tile_items ? left : tile_items);
    const int first_digit = digit_at(begin);
    std::size_t written = begin;
    if (reinterpret_cast<std::uintptr_t>(d_out_) % 16 == 0) {
      const std::size_t vectors = (end - begin) / width;
      if (storage_.first[first_digit + 1] >= end) {
        const Vector same = vector_of(first_digit);
        STRATA_UNROLL_N(8)
        for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) {
          same.store_global(d_out_ + begin + v * width);
        }
      } else {
        for (std::size_t v = threadIdx.x; v < vectors; v += block_threads) {
          write_vector(begin + v * width);
        }
      }
      written += vectors * width;
    }
    for (std::size_t i = written + threadIdx.x; i < end; i += block_threads) {
      d_out_[i] = key_of(digit_at(i));
    }
  }

 private:
  // The last digit whose first item is not behind.
  STRATA_D int digit_at(std::size_t place) const {
    int digit = 0;
    STRATA_UNROLL
    for (int step = radix_bins / 2; step > 0; step /= 2) {
      if (storage_.first[digit + step] <= place) digit += step;
    }
    return digit;
  }

  STRATA_D static Key key_of(int digit) {
    const int ascending = IsDescending ? radix_bins - 1 - digit : digit;
    return RadixTraits<Key>::from_ordered(static_cast<word>(ascending));
  }

  STRATA_D static Vector vector_of(int digit) {
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) keys[i] = key_of(digit);
    Vector vector;
    vector.set(keys);
    return vector;
  }

  STRATA_D void write_vector(std::size_t place) const {
    int digit = digit_at(place);
    if (storage_.first[digit + 1] >= place + width) {
      vector_of(digit).store_global(d_out_ + place);
      return;
    }
    Key keys[width];
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) {
      while (storage_.first[digit + 1] <= place + static_cast<std::size_t>(i)) ++digit;
      keys[i] = key_of(digit);
    }
    Vector vector;
    vector.set(keys);
    vector.store_global(d_out_ + place);
  }

  TempStorage& storage_;
  const unsigned long long* first_;
  Key* d_out_;
  std::size_t num_items_;
};

}  // namespace detail
STRATA_NAMESPACE_END

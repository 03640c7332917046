// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/thread/thread_search.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

/// \file
/// Classes that find the bin of a sample. If the number that they return is negative or too large, the sample is
/// not counted.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Even bins of integers of up to 32 bits: floor((sample - lower) * bins / (upper - lower)), exactly, without a
/// division.
///
///     bins / range = whole + part / range         reciprocal = ceil(2^64 * part / range)
///
/// x * reciprocal / 2^64 is larger than x * part / range by less than x / 2^64, and x < range < 2^32. The fraction of
/// x * part / range is 1 - 1 / range at most, so both have the same whole part.
template <class Common>
class exact_bins32 {
 public:
  bool set(Common lower, Common upper, int bins) {
    const auto count = static_cast<std::uint32_t>(bins);
    lower_ = static_cast<std::uint32_t>(lower);
    range_ = lower < upper ? static_cast<std::uint32_t>(upper) - lower_ : 0u;
    if (range_ == 0) return true;  // No sample lies between the levels: nothing is counted.
    whole_ = count / range_;
    std::uint64_t rest = count % range_, reciprocal = 0;
    for (int word = 0; word < 2; ++word) {
      rest <<= 32;
      reciprocal = (reciprocal << 32) + rest / range_;
      rest %= range_;
    }
    reciprocal_ = reciprocal + (rest != 0 ? 1 : 0);
    return true;
  }

  STRATA_D int bin_of(Common sample) const {
    const std::uint32_t x = static_cast<std::uint32_t>(sample) - lower_;
    const auto low = static_cast<std::uint32_t>(reciprocal_), high = static_cast<std::uint32_t>(reciprocal_ >> 32);
    const std::uint64_t product = std::uint64_t{x} * high + __umulhi(x, low);
    const auto bin = static_cast<int>(x * whole_ + static_cast<std::uint32_t>(product >> 32));
    return x < range_ ? bin : -1;
  }

 private:
  std::uint64_t reciprocal_ = 0;
  std::uint32_t lower_ = 0;
  std::uint32_t range_ = 0;
  std::uint32_t whole_ = 0;
};

/// Bins of integers of 64 bits.
///
///     bins / range = whole + part / range         reciprocal = floor(2^64 * part / range)
///     quotient = floor(x * reciprocal / 2^64)     is floor(x * part / range), or one less, because x < 2^64
///
/// The remainder x * part - quotient * range shows which. It is below 2 * range, so 64 bits hold it if range is below
/// 2^63. A range of 2^63 or more has only one bin, and then the remainder is x.
template <class Common>
class exact_bins64 {
  using word = std::uint64_t;

 public:
  /// Returns false if (upper - lower) * bins does not fit 64 bits.
  bool set(Common lower, Common upper, int bins) {
    const auto count = static_cast<std::uint64_t>(bins);
    lower_ = static_cast<word>(lower);
    range_ = lower < upper ? static_cast<word>(static_cast<word>(upper) - lower_) : word{0};
    if (range_ == 0) return true;  // No sample lies between the levels: nothing is counted.
    if (range_ > std::numeric_limits<std::uint64_t>::max() / count) return false;
    whole_ = static_cast<word>(count / range_);
    part_ = static_cast<word>(count % range_);
    // A long division. The remainder is below `range_`. Each step compares `rest` with `range_ - rest` before it
    // doubles, so nothing overflows.
    std::uint64_t rest = part_;
    for (int bit = 0; bit < std::numeric_limits<word>::digits; ++bit) {
      const bool is_set = rest >= range_ - rest;
      rest = is_set ? rest - (range_ - rest) : rest + rest;
      reciprocal_ = static_cast<word>(reciprocal_ + reciprocal_ + (is_set ? 1 : 0));
    }
    return true;
  }

  STRATA_D int bin_of(Common sample) const {
    const word x = static_cast<word>(static_cast<word>(sample) - lower_);
    const word quotient = __umul64hi(x, reciprocal_);
    const std::uint64_t rest = std::uint64_t{x} * part_ - std::uint64_t{quotient} * range_;
    const auto bin = static_cast<int>(x * whole_ + quotient + (rest >= range_ ? 1u : 0u));
    return x < range_ ? bin : -1;
  }

 private:
  word lower_ = 0;
  word range_ = 0;
  word whole_ = 0;
  word part_ = 0;
  word reciprocal_ = 0;
};

/// Even bins of floating-point numbers: (sample - lower) * (bins / (upper - lower)), rounded, then truncated.
///
/// Samples and levels are multiplied by a power of two, which halves the exponent of the level with the larger absolute
/// value. Then neither a difference nor `scale_` leaves the range of `Real`, and they are rounded as they would be
/// without the factor.
template <class Real>
class scaled_bins {
 public:
  /// Returns false if a level is not finite.
  bool set(Real lower, Real upper, int bins) {
    if (!std::isfinite(lower) || !std::isfinite(upper)) return false;
    lower_ = lower;
    upper_ = upper;
    if (!(lower < upper)) return true;  // No sample lies between the levels: nothing is counted.
    int exponent = 0;
    std::frexp(detail::most(std::abs(lower), std::abs(upper)), &exponent);
    factor_ = std::ldexp(Real{1}, -exponent / 2);
    origin_ = lower * factor_;
    scale_ = static_cast<Real>(bins) / (upper * factor_ - origin_);
    below_end_ = std::nextafter(static_cast<Real>(bins), Real{0});
    return true;
  }

  STRATA_D int bin_of(Real sample) const {
    const Real position = Min{}((sample * factor_ - origin_) * scale_, below_end_);
    return static_cast<int>(sample >= lower_ && sample < upper_ ? position : Real{-1});
  }

 private:
  Real lower_ = 0;
  Real upper_ = 0;
  Real factor_ = 0;
  Real origin_ = 0;  // lower_ * factor_
  Real scale_ = 0;
  Real below_end_ = 0;  // the largest number below the number of bins; a product may be rounded up to the latter
};

/// The type in which even bins are computed: float for 16-bit floats, else the common type of samples and levels.
template <class Common>
using bin_arithmetic_t = std::conditional_t<std::is_arithmetic_v<Common>, Common, float>;

template <class Common>
using exact_bins = std::conditional_t<(sizeof(Common) <= 4), exact_bins32<Common>, exact_bins64<Common>>;

/// The common type of samples and levels. A 16-bit float has one only with itself. With another type, it is a float.
template <class T>
using bin_operand_t = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
template <class Sample, class Level>
using bin_common_t = typename std::conditional_t<std::is_same_v<Sample, Level>, std::common_type<Sample>,
                                                 std::common_type<bin_operand_t<Level>, bin_operand_t<Sample>>>::type;

/// Even bins between two levels. Samples and levels are converted to `Common`, then to `Number`, in which bins are
/// computed.
template <class Sample, class Level, class Common = bin_common_t<Sample, Level>,
          class Number = bin_arithmetic_t<Common>>
struct even_bins : std::conditional_t<std::is_integral_v<Number>, exact_bins<Number>, scaled_bins<Number>> {
  static_assert(sizeof(Common) <= 8,
                "DeviceHistogram: the common type of samples and levels must have at most 64 bits: convert the levels");
  static constexpr bool has_levels = false;

  STRATA_D int operator()(const Sample& sample) const { return this->bin_of(number(sample)); }

  bool set_levels(Level lower, Level upper, int num_bins) { return this->set(number(lower), number(upper), num_bins); }

 private:
  template <class T>
  STRATA_HD static Number number(const T& value) {
    return static_cast<Number>(static_cast<Common>(value));
  }
};

/// Bins between levels: bin i has the samples that are at least levels[i] and less than levels[i + 1].
template <class LevelT>
struct range_bins {
  static constexpr bool has_levels = true;
  using Level = LevelT;

  const Level* levels;
  int num_levels;

  /// Copies the levels. Returns where the copy ends. All threads of the block call this, before a barrier.
  STRATA_D Level* copy_levels(Level* copy) {
    for (int i = static_cast<int>(threadIdx.x); i < num_levels; i += static_cast<int>(blockDim.x)) copy[i] = levels[i];
    levels = copy;
    return copy + num_levels;
  }

  template <class Sample>
  STRATA_D int operator()(const Sample& sample) const {
    if constexpr (is_device_real<Sample> && std::is_integral_v<Level>) {
      // A NaN is outside of all bins. So is a sample whose integer part `Level` cannot represent. Neither is converted.
      using real = bin_arithmetic_t<Sample>;
      constexpr real end = static_cast<real>(most_of<Level> / 2 + 1) * 2;
      constexpr real lowest = std::is_signed_v<Level> ? -end : 0;
      const auto x = static_cast<real>(sample);
      if (!((x >= lowest || x > lowest - 1) && x < end)) return -1;
    }
    return strata::UpperBound(levels, num_levels, static_cast<Level>(sample)) - 1;
  }
};

template <class Bins, int ActiveChannels>
struct histogram_channels {
  Bins bins[ActiveChannels];
};

/// An array object, such as a `std::array`, has a function `data()`. This is the type of the pointer that `data()`
/// returns. It does not exist for a C array. An argument with an element for each channel is a C array or an array
/// object.
template <class T>
using if_array_object = decltype(std::declval<const T&>().data());
template <class T, class = void>
inline constexpr bool is_array_object = false;
template <class T>
inline constexpr bool is_array_object<T, std::void_t<if_array_object<T>>> = true;
template <class T>
auto channel_argument(const T& argument) {
  if constexpr (is_array_object<T>) {
    return argument.data();
  } else {
    return argument;
  }
}

/// The arrays that a call writes, one for each active channel.
template <class CounterT, int ActiveChannels>
struct histogram_outputs {
  CounterT* counters[ActiveChannels];
  int num_bins[ActiveChannels];

  STRATA_HD std::size_t all_bins() const {
    std::size_t sum = 0;
    for (int bins : num_bins) sum += static_cast<std::size_t>(bins);
    return sum;
  }

  /// Thread `rank` of `threads` clears its part of the arrays.
  STRATA_D void clear(std::size_t rank, std::size_t threads) const {
    for (int c = 0; c < ActiveChannels; ++c) {
      for (std::size_t i = rank; i < static_cast<std::size_t>(num_bins[c]); i += threads) counters[c][i] = 0;
    }
  }

  STRATA_D void add(int channel, std::size_t bin, unsigned long long count) const {
    using word = std::conditional_t<sizeof(CounterT) == 4, unsigned, unsigned long long>;
    atomicAdd(reinterpret_cast<word*>(counters[channel] + bin), static_cast<word>(count));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

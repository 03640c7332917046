// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/histogram/dispatch.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_ARCH_NAMESPACE_BEGIN

/// Counts how many samples of a sequence in device memory lie in each of several bins.
///
///     for (sample : d_samples)
///       if (lower_level <= sample && sample < upper_level)
///         ++d_histogram[(sample - lower_level) * (num_levels - 1) / (upper_level - lower_level)];
///
/// `HistogramEven` has `num_levels - 1` bins of one width, as above. `HistogramRange` has bins between neighbours of
/// `d_levels[0 .. num_levels)`, in device memory and sorted: bin i counts samples from level i on and below level i +
/// 1. Samples outside of all bins are not counted. What was in `d_histogram` before does not matter.
/// `MultiHistogramEven` and `MultiHistogramRange` have pixels of `NUM_CHANNELS` (1 to 4) neighbouring samples, and a
/// histogram for each of the first `NUM_ACTIVE_CHANNELS` channels. They take arrays of pointers, of levels and of
/// numbers of levels. These arrays lie in host memory and have one element for each active channel. They are C arrays,
/// `std::array` or `cuda::std::array`.
///
/// With `num_rows` and `row_stride_bytes`, samples are a region of interest: rows of `num_row_samples` samples, or
/// `num_row_pixels` pixels, that begin `row_stride_bytes` bytes apart, a multiple of a sample's size.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, in which nothing is kept. Or call it once, without these two arguments: see
///   `execution`. Samples may be any random-access iterator, and their number any integer.
/// - **Execution.** Two kernel launches on `stream`, one for few samples or none; no host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed.
/// - **Result.** Results are the same from run to run. A counter that overflows wraps.
/// - **Types.** Samples and levels of any arithmetic type up to 64 bits, `__half` and `__nv_bfloat16`; counters of any
///   integer type of 4 or 8 bytes. `HistogramEven` computes in the common type of samples and levels, for 16-bit floats
///   in float; `HistogramRange` converts samples to the type of the levels.
/// - **Even bins of integers** are exact.
/// - **Even bins of floating point.** The bin is `(sample - lower_level) * ((num_levels - 1) / (upper_level -
///   lower_level))`, truncated, for any finite levels. Every sample from `lower_level` on and below `upper_level` is
///   counted. `lower_level` is in bin 0, and a larger sample is never in a lower bin than a smaller one. Rounding
///   decides for a sample at or beside a border between bins: the product has a relative error of up to 2^-22 (2^-21
///   with more than 2^24 bins), and of up to 2^-51 for double. NaNs and infinities are not counted. A program that is
///   compiled with `-ftz=true` takes subnormal samples and levels for zero.
/// - **Ranges of floating point.** Infinities are ordered as numbers are, so levels may be infinite. NaN samples are
///   not counted; levels must not be NaN. If levels are integers, samples are truncated, and a sample that their type
///   cannot represent is not counted.
/// - **Tuning.** `TunedDeviceHistogram<Hub>` uses your hub instead of histogram_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: fewer than two levels, a negative
///   count, a stride that is not a multiple of a sample's size, integers for which `(upper_level - lower_level) *
///   (num_levels - 1)` does not fit 64 bits, levels of even bins that are NaN or infinite, in a size query too; null
///   pointers; a histogram that has a byte in common with samples, levels or another histogram; temporary storage too
///   small. Otherwise a call returns what a launch returns. An older error of the runtime is neither returned nor
///   cleared.
/// - **Algorithm.** Each sample is read once. Arrays are mostly read 16 bytes at a time. A block counts in shared
///   memory, with up to 32 counters for each bin so that equal samples do not wait for each other. Then it adds its
///   counts in device memory by atomic additions. If samples have one byte, it counts the 256 values. If the bins do
///   not fit shared memory, it counts there only the bins that it meets first (Gomez-Luna et al., "An optimized
///   approach to histogram computation on GPU", 2013, compares ways to do this).
///
/// @code
/// // How many people are 0 to 19, 20 to 39, 40 to 59, 60 to 79 and 80 to 99 years old.
/// __managed__ int ages[10] = {34, 5, 71, 20, 39, 18, 62, 40, 33, 7};
/// __managed__ int people[5];
///
/// int main() {
///   const int levels = 6;  // of 5 bins
///   if (strata::DeviceHistogram::HistogramEven(ages, people, levels, 0, 100, 10) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int number : people) std::printf("%d ", number);
/// }
/// // prints: 3 4 1 2 0
/// @endcode
template <class PolicyHub>
struct TunedDeviceHistogram {
  // -------------------------------------------------------------- one channel

  /// Counts samples in bins of one width.
  template <class SampleIteratorT, class CounterT, class LevelT, class OffsetT>
  static cudaError_t HistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                                   CounterT* d_histogram, int num_levels, LevelT lower_level, LevelT upper_level,
                                   OffsetT num_samples, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::HistogramEven");
    return even<1, 1>(d_temp_storage, temp_storage_bytes, d_samples, &d_histogram, &num_levels, &lower_level,
                      &upper_level, num_samples, OffsetT{1}, std::size_t{0}, stream);
  }
  /// Counts the samples of a region of interest in bins of one width.
  template <class SampleIteratorT, class CounterT, class LevelT, class OffsetT>
  static cudaError_t HistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                                   CounterT* d_histogram, int num_levels, LevelT lower_level, LevelT upper_level,
                                   OffsetT num_row_samples, OffsetT num_rows, std::size_t row_stride_bytes,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::HistogramEven");
    return even<1, 1>(d_temp_storage, temp_storage_bytes, d_samples, &d_histogram, &num_levels, &lower_level,
                      &upper_level, num_row_samples, num_rows, row_stride_bytes, stream);
  }

  /// Counts samples in bins between the levels of an array.
  template <class SampleIteratorT, class CounterT, class LevelT, class OffsetT>
  static cudaError_t HistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                                    CounterT* d_histogram, int num_levels, const LevelT* d_levels, OffsetT num_samples,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::HistogramRange");
    return range<1, 1>(d_temp_storage, temp_storage_bytes, d_samples, &d_histogram, &num_levels, &d_levels, num_samples,
                       OffsetT{1}, std::size_t{0}, stream);
  }
  /// Counts the samples of a region of interest in bins between the levels of an array.
  template <class SampleIteratorT, class CounterT, class LevelT, class OffsetT>
  static cudaError_t HistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                                    CounterT* d_histogram, int num_levels, const LevelT* d_levels,
                                    OffsetT num_row_samples, OffsetT num_rows, std::size_t row_stride_bytes,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::HistogramRange");
    return range<1, 1>(d_temp_storage, temp_storage_bytes, d_samples, &d_histogram, &num_levels, &d_levels,
                       num_row_samples, num_rows, row_stride_bytes, stream);
  }

  // -------------------------------------------------------------- several channels

  /// Counts the samples of each active channel of pixels in bins of one width. The arguments of channels are C arrays.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT, class LevelT,
            class OffsetT>
  static cudaError_t MultiHistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        SampleIteratorT d_samples, CounterT* const d_histogram[NUM_ACTIVE_CHANNELS],
                                        const int num_levels[NUM_ACTIVE_CHANNELS],
                                        const LevelT lower_level[NUM_ACTIVE_CHANNELS],
                                        const LevelT upper_level[NUM_ACTIVE_CHANNELS], OffsetT num_pixels,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::MultiHistogramEven");
    return even<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(d_temp_storage, temp_storage_bytes, d_samples, d_histogram,
                                                   num_levels, lower_level, upper_level, num_pixels, OffsetT{1},
                                                   std::size_t{0}, stream);
  }
  /// Counts the samples of each active channel in a region of interest, in bins of one width. The arguments of channels
  /// are C arrays.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT, class LevelT,
            class OffsetT>
  static cudaError_t MultiHistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        SampleIteratorT d_samples, CounterT* const d_histogram[NUM_ACTIVE_CHANNELS],
                                        const int num_levels[NUM_ACTIVE_CHANNELS],
                                        const LevelT lower_level[NUM_ACTIVE_CHANNELS],
                                        const LevelT upper_level[NUM_ACTIVE_CHANNELS], OffsetT num_row_pixels,
                                        OffsetT num_rows, std::size_t row_stride_bytes, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::MultiHistogramEven");
    return even<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(d_temp_storage, temp_storage_bytes, d_samples, d_histogram,
                                                   num_levels, lower_level, upper_level, num_row_pixels, num_rows,
                                                   row_stride_bytes, stream);
  }
  /// Counts the samples of each active channel in bins of one width. The arguments of channels are `std::array` or
  /// `cuda::std::array`, and the last arguments may describe a region of interest.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT = void,
            class LevelT = void, class OffsetT = void, class Array, class... Rest,
            class = detail::if_array_object<Array>>
  static cudaError_t MultiHistogramEven(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        SampleIteratorT d_samples, const Array& d_histogram, const Rest&... rest) {
    return MultiHistogramEven<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(d_temp_storage, temp_storage_bytes, d_samples,
                                                                 d_histogram.data(), detail::channel_argument(rest)...);
  }

  /// Counts the samples of each active channel of pixels in bins between levels. The arguments of channels are C
  /// arrays.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT, class LevelT,
            class OffsetT>
  static cudaError_t MultiHistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         SampleIteratorT d_samples, CounterT* const d_histogram[NUM_ACTIVE_CHANNELS],
                                         const int num_levels[NUM_ACTIVE_CHANNELS],
                                         const LevelT* const d_levels[NUM_ACTIVE_CHANNELS], OffsetT num_pixels,
                                         cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::MultiHistogramRange");
    return range<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(d_temp_storage, temp_storage_bytes, d_samples, d_histogram,
                                                    num_levels, d_levels, num_pixels, OffsetT{1}, std::size_t{0},
                                                    stream);
  }
  /// Counts the samples of each active channel in a region of interest, in bins between levels. The arguments of
  /// channels are C arrays.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT, class LevelT,
            class OffsetT>
  static cudaError_t MultiHistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         SampleIteratorT d_samples, CounterT* const d_histogram[NUM_ACTIVE_CHANNELS],
                                         const int num_levels[NUM_ACTIVE_CHANNELS],
                                         const LevelT* const d_levels[NUM_ACTIVE_CHANNELS], OffsetT num_row_pixels,
                                         OffsetT num_rows, std::size_t row_stride_bytes, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHistogram::MultiHistogramRange");
    return range<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(d_temp_storage, temp_storage_bytes, d_samples, d_histogram,
                                                    num_levels, d_levels, num_row_pixels, num_rows, row_stride_bytes,
                                                    stream);
  }
  /// Counts the samples of each active channel in bins between levels. The arguments of channels are `std::array` or
  /// `cuda::std::array`, and the last arguments may describe a region of interest.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class SampleIteratorT, class CounterT = void,
            class LevelT = void, class OffsetT = void, class Array, class... Rest,
            class = detail::if_array_object<Array>>
  static cudaError_t MultiHistogramRange(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         SampleIteratorT d_samples, const Array& d_histogram, const Rest&... rest) {
    return MultiHistogramRange<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(
        d_temp_storage, temp_storage_bytes, d_samples, d_histogram.data(), detail::channel_argument(rest)...);
  }

  // -------------------------------------------------------------- without temporary storage

  STRATA_CALL_WITHOUT_STORAGE(HistogramEven)
  STRATA_CALL_WITHOUT_STORAGE(HistogramRange)

 private:
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS>
  struct MultiHistogramEven_overloads {
    static constexpr detail::call_result result = detail::call_result::fixed;
    template <class... Arguments>
    auto operator()(Arguments&&... arguments) const
        -> decltype(MultiHistogramEven<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(std::forward<Arguments>(arguments)...)) {
      return MultiHistogramEven<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(std::forward<Arguments>(arguments)...);
    }
  };
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS>
  struct MultiHistogramRange_overloads {
    static constexpr detail::call_result result = detail::call_result::fixed;
    template <class... Arguments>
    auto operator()(Arguments&&... arguments) const
        -> decltype(MultiHistogramRange<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(std::forward<Arguments>(arguments)...)) {
      return MultiHistogramRange<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>(std::forward<Arguments>(arguments)...);
    }
  };

 public:
  /// Counts samples in bins of one width without temporary storage: the call allocates and frees it on the stream.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class First, class... Rest>
  static detail::if_call<MultiHistogramEven_overloads<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>, First, Rest...>
  MultiHistogramEven(First&& first, Rest&&... rest) {
    using Overloads = MultiHistogramEven_overloads<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>;
    return detail::make_call<Overloads, detail::form_of_call<Overloads, First, Rest...>()>(
        [](auto overloads, auto&... arguments) { return detail::with_storage(overloads, arguments...); }, first,
        rest...);
  }
  /// Counts samples in bins between levels without temporary storage: the call allocates and frees it on the stream.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class First, class... Rest>
  static detail::if_call<MultiHistogramRange_overloads<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>, First, Rest...>
  MultiHistogramRange(First&& first, Rest&&... rest) {
    using Overloads = MultiHistogramRange_overloads<NUM_CHANNELS, NUM_ACTIVE_CHANNELS>;
    return detail::make_call<Overloads, detail::form_of_call<Overloads, First, Rest...>()>(
        [](auto overloads, auto&... arguments) { return detail::with_storage(overloads, arguments...); }, first,
        rest...);
  }

 private:
  template <int Channels, int ActiveChannels, class SampleIteratorT, class CounterT, class LevelT, class... Region>
  static cudaError_t even(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                          CounterT* const* d_histogram, const int* num_levels, const LevelT* lower_level,
                          const LevelT* upper_level, Region... region) {
    using Bins = detail::even_bins<detail::iterator_value_t<SampleIteratorT>, LevelT>;
    const auto set_bins = [=](Bins& bins, int c) {
      return bins.set_levels(lower_level[c], upper_level[c], num_levels[c] - 1);
    };
    return detail::DispatchHistogram<Channels, ActiveChannels, SampleIteratorT, Bins, CounterT, PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, d_samples, d_histogram, num_levels, set_bins, region...);
  }
  template <int Channels, int ActiveChannels, class SampleIteratorT, class CounterT, class LevelT, class... Region>
  static cudaError_t range(void* d_temp_storage, std::size_t& temp_storage_bytes, SampleIteratorT d_samples,
                           CounterT* const* d_histogram, const int* num_levels, const LevelT* const* d_levels,
                           Region... region) {
    using Bins = detail::range_bins<LevelT>;
    const auto set_bins = [=](Bins& bins, int c) {
      bins = {d_levels[c], num_levels[c]};
      return true;
    };
    return detail::DispatchHistogram<Channels, ActiveChannels, SampleIteratorT, Bins, CounterT, PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, d_samples, d_histogram, num_levels, set_bins, region...);
  }
};
using DeviceHistogram = TunedDeviceHistogram<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END

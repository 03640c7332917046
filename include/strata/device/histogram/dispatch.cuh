// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/histogram/agent.cuh>
#include <strata/device/histogram/bins.cuh>
#include <strata/device/histogram/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr int histogram_clear_threads = 256;

/// What blocks keep in dynamic shared memory: levels, if they are copied, then counters.
struct histogram_shared_memory {
  std::size_t level_bytes;  // 0 if levels are read from device memory
  unsigned bin_bytes;       // of all counters of one bin
};

template <class CounterT, int ActiveChannels>
STRATA_KERNEL void histogram_clear_kernel(
    const STRATA_GRID_CONSTANT histogram_outputs<CounterT, ActiveChannels> outputs) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  outputs.clear(blockIdx.x * std::size_t{histogram_clear_threads} + threadIdx.x,
                gridDim.x * std::size_t{histogram_clear_threads});
}

/// If there is more than one block, another kernel has cleared the outputs before.
template <class MaxPolicy, int Channels, int ActiveChannels, bool UsesTable, class Iterator, class Bins, class CounterT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void histogram_kernel(const STRATA_GRID_CONSTANT histogram_samples<Iterator> samples,
                                        const STRATA_GRID_CONSTANT histogram_channels<Bins, ActiveChannels> channels,
                                        const STRATA_GRID_CONSTANT histogram_outputs<CounterT, ActiveChannels> outputs,
                                        histogram_shared_memory shared_memory) {
  using Agent =
      AgentHistogram<typename MaxPolicy::ActivePolicy, Channels, ActiveChannels, Iterator, Bins, CounterT, UsesTable>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  auto* const counters = reinterpret_cast<unsigned*>(shared + shared_memory.level_bytes);
  if constexpr (Bins::has_levels) {
    if (shared_memory.level_bytes > 0) {
      histogram_channels<Bins, ActiveChannels> copies = channels;
      auto* next = reinterpret_cast<typename Bins::Level*>(shared);
      STRATA_UNROLL
      for (Bins& bins : copies.bins) next = bins.copy_levels(next);
      Agent(counters, shared_memory.bin_bytes, copies.bins, outputs).run(samples);
      return;
    }
  }
  Agent(counters, shared_memory.bin_bytes, channels.bins, outputs).run(samples);
}

template <class Policy>
using histogram_rows = if_rows<histogram_tuning, decltype(Policy::tuning)>;

/// One call of a histogram.
template <int Channels, int ActiveChannels, class Iterator, class Bins, class CounterT,
          class PolicyHub = default_policy_hub>
struct DispatchHistogram {
  static_assert(hub_has_rows<histogram_rows, PolicyHub>,
                "DeviceHistogram: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the member tuning (histogram_tuning)");
  static_assert(Channels >= 1 && Channels <= 4 && ActiveChannels >= 1 && ActiveChannels <= Channels,
                "DeviceHistogram: Channels must be 1 to 4, and ActiveChannels 1 to Channels");
  static_assert(std::is_integral_v<CounterT> && (sizeof(CounterT) == 4 || sizeof(CounterT) == 8),
                "DeviceHistogram: counters must be integers of 4 or 8 bytes, because they are added to atomically");
  using MaxPolicy = typename hub_or<histogram_rows, PolicyHub, histogram_policy_hub>::MaxPolicy;
  using Sample = iterator_value_t<Iterator>;
  using Outputs = histogram_outputs<CounterT, ActiveChannels>;

  histogram_samples<Iterator> samples;
  histogram_channels<Bins, ActiveChannels> channels;
  Outputs outputs;
  cudaStream_t stream;
  device_properties device;

  /// `set_bins(bins, channel)` sets the bins of a channel, and returns true if its levels are valid.
  template <class SetBins, class OffsetT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_samples,
                              CounterT* const* d_histogram, const int* num_levels, const SetBins& set_bins,
                              OffsetT num_row_pixels, OffsetT num_rows, std::size_t row_stride_bytes,
                              cudaStream_t stream) {
    if (detail::refuses_count(num_row_pixels, "the number of samples or of pixels in a row") ||
        detail::refuses_count(num_rows, "num_rows") ||
        detail::is_refused(row_stride_bytes % sizeof(Sample) != 0, "row_stride_bytes",
                           "is not a multiple of the size of a sample")) {
      return cudaErrorInvalidValue;
    }
    DispatchHistogram dispatch{{d_samples, static_cast<std::size_t>(num_row_pixels), static_cast<std::size_t>(num_rows),
                                row_stride_bytes / sizeof(Sample), 1, false},
                               {},
                               {},
                               stream,
                               {}};
    if (!dispatch.has_valid_size()) return cudaErrorInvalidValue;
    for (int c = 0; c < ActiveChannels; ++c) {
      if (detail::is_refused(num_levels[c] < 2, "num_levels", "is less than 2")) return cudaErrorInvalidValue;
      if (detail::is_refused(!set_bins(dispatch.channels.bins[c], c), "the levels",
                             "are not finite, or their range times the number of bins does not fit in 64 bits")) {
        // CUB also sets a size here. A program may ignore the error of the size query, and look at that of its next
        // call.
        if (d_temp_storage == nullptr) temp_storage_bytes = 1;
        return cudaErrorInvalidValue;
      }
      dispatch.outputs.num_bins[c] = num_levels[c] - 1;
      dispatch.outputs.counters[c] = d_histogram[c];
    }
    temporary_storage::layout<1> storage;  // Nothing is kept there.
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !dispatch.are_arrays_valid()) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  // ------------------------------------------------------------------ arguments

  /// True if 64 bits can represent the index of each sample. Also merges rows without gaps into one row.
  bool has_valid_size() {
    constexpr std::size_t most = most_of<std::int64_t>;
    if (samples.row_pixels == 0) samples.rows = 0;
    if (samples.rows == 0) return true;
    constexpr const char* too_many = "makes a region of more than 2^63 - 1 samples";
    if (detail::is_refused(samples.row_pixels > most / Channels / samples.rows, "the number of samples", too_many)) {
      return false;
    }
    const std::size_t row_samples = samples.row_pixels * Channels;
    if (samples.rows > 1) {
      if (detail::is_refused(samples.row_stride > (most - row_samples) / (samples.rows - 1), "row_stride_bytes",
                             too_many)) {
        return false;
      }
      if (samples.row_stride == row_samples) {
        samples.row_pixels *= samples.rows;
        samples.rows = 1;
      }
    }
    return !detail::refuses_reach(samples.begin, reach(), "d_samples");
  }
  std::size_t reach() const {
    return samples.rows == 0 ? 0 : (samples.rows - 1) * samples.row_stride + samples.row_pixels * Channels;
  }

  bool are_arrays_valid() const {
    if (samples.rows > 0 && detail::refuses_null(samples.begin, "d_samples")) return false;
    argument_bytes written[ActiveChannels];
    for (int c = 0; c < ActiveChannels; ++c) {
      written[c] = detail::bytes_of(outputs.counters[c], outputs.num_bins[c], "d_histogram");
      if (detail::refuses_null(outputs.counters[c], "d_histogram") ||
          detail::is_refused(overlaps_samples(written[c]), "d_histogram", "overlaps d_samples")) {
        return false;
      }
    }
    if constexpr (Bins::has_levels) {
      argument_bytes levels[ActiveChannels];
      for (int c = 0; c < ActiveChannels; ++c) {
        levels[c] = detail::bytes_of(channels.bins[c].levels, channels.bins[c].num_levels, "d_levels");
        if (samples.rows > 0 && detail::refuses_null(channels.bins[c].levels, "d_levels")) return false;
      }
      return !detail::outputs_overlap(written, levels);
    } else {
      return !detail::outputs_overlap(written);
    }
  }

  // Histograms may lie in the gaps between rows.
  bool overlaps_samples(const byte_range& written) const {
    const byte_range all = detail::bytes_of(samples.begin, reach());
    const std::size_t width = samples.row_pixels * Channels;
    if (all.bytes == 0 || samples.rows == 1 || samples.row_stride < width) {
      return detail::have_common_bytes(written, all);
    }
    return detail::has_bytes_of_row(
        written, {all.begin, samples.rows, width * sizeof(Sample), samples.row_stride * sizeof(Sample)});
  }

  // ------------------------------------------------------------------ launches

  template <class ActivePolicy>
  cudaError_t Invoke() {
    using Agent = AgentHistogram<ActivePolicy, Channels, ActiveChannels, Iterator, Bins, CounterT, false>;
    constexpr histogram_tuning tuning = ActivePolicy::tuning;
    static_assert(are_whole_warps(tuning.block_threads),
                  "histogram_tuning::block_threads must be a multiple of 32, at most 1024");
    static_assert(tuning.table_slots >= 32 && is_power_of_two(tuning.table_slots) && tuning.bytes_in_flight >= 32,
                  "histogram_tuning: table_slots must be a power of two, and bytes_in_flight 32 or more");
    if (samples.rows == 0) return clear();
    const auto resident = static_cast<std::size_t>(device.multiprocessors * tuning.blocks_per_multiprocessor);
    constexpr std::size_t block_warps = tuning.block_threads / warp_threads;
    const auto share_out = [&](bool is_vectorized) {
      samples.is_vectorized = is_vectorized;
      // With vectors, the first part begins at the row's first pixel at a 16-byte boundary. The warp of this part also
      // counts the pixels before it, and those behind the last group. So the last part may be empty.
      samples.parts_per_row = detail::ceiling_divide(samples.row_pixels, Agent::part_pixels(is_vectorized));
      const std::size_t parts = samples.rows * samples.parts_per_row;
      return detail::least(ceiling_divide(parts, block_warps), resident);
    };
    std::size_t blocks = share_out(Agent::is_bulk && has_pixels_at_boundaries());

    const std::size_t pixels = samples.rows * samples.row_pixels;
    const std::size_t bins = Agent::counts_bytes ? ActiveChannels * std::size_t{256} : outputs.all_bins();
    const auto most_shared = static_cast<std::size_t>(device.shared_bytes_of_block);
    const std::size_t capacity = detail::least(tuning.shared_bytes, most_shared);
    const std::size_t level_bytes = copied_level_bytes(bins * 4, capacity);
    // Each block clears all bins and adds them up, which should not take longer than counting.
    const std::size_t blocks_by_bins = pixels / (2 * bins);
    if constexpr (!Agent::counts_bytes) {
      if (bins * 4 + level_bytes > most_shared || blocks_by_bins < blocks / 2) {
        return count<ActivePolicy, true>(blocks, {0, 4}, Agent::table_bytes());
      }
    }
    // A search for a bin takes longer than a load. If there are few samples, smaller parts keep more blocks busy.
    if (Bins::has_levels && !Agent::counts_bytes && blocks < resident) blocks = share_out(false);
    blocks = detail::least(blocks, detail::most(blocks_by_bins, std::size_t{1}));
    std::size_t bin_bytes = warp_threads * sizeof(unsigned);
    while (bin_bytes > sizeof(unsigned) && level_bytes + bins * bin_bytes > capacity) bin_bytes /= 2;
    return count<ActivePolicy, false>(blocks, {level_bytes, static_cast<unsigned>(bin_bytes)},
                                      level_bytes + bins * bin_bytes);
  }

  /// True if each row has a pixel that begins at a 16-byte boundary, or would if the row were longer.
  bool has_pixels_at_boundaries() const {
    constexpr std::size_t pixel_bytes = Channels * sizeof(Sample);
    constexpr std::size_t power = pixel_bytes & (~pixel_bytes + 1);
    constexpr std::size_t unit = power < vector_bytes ? power : std::size_t{vector_bytes};
    return detail::is_aligned(samples.begin, unit) && samples.row_stride * sizeof(Sample) % unit == 0;
  }

  /// Levels are copied if that leaves shared memory for counters.
  std::size_t copied_level_bytes(std::size_t counter_bytes, std::size_t capacity) const {
    if constexpr (Bins::has_levels && sizeof(Sample) > 1) {
      const std::size_t bytes = (outputs.all_bins() + ActiveChannels) * sizeof(typename Bins::Level);
      return bytes + counter_bytes <= capacity ? round_up(bytes, std::size_t{16}) : 0;
    } else {
      static_cast<void>(counter_bytes);
      static_cast<void>(capacity);
      return 0;
    }
  }

  cudaError_t clear() const {
    constexpr std::size_t bins_per_block = 8 * histogram_clear_threads;
    const std::size_t blocks = detail::least(detail::ceiling_divide(outputs.all_bins(), bins_per_block),
                                             static_cast<std::size_t>(device.multiprocessors) * 2);
    return strata::launch({"strata::DeviceHistogram", dim3(static_cast<unsigned>(blocks)),
                           dim3(histogram_clear_threads), 0, stream, 1, device.ptx_version >= 900},
                          histogram_clear_kernel<CounterT, ActiveChannels>, outputs);
  }

  template <class ActivePolicy, bool UsesTable>
  cudaError_t count(std::size_t blocks, const histogram_shared_memory& shared_memory, std::size_t shared_bytes) const {
    const auto kernel = histogram_kernel<MaxPolicy, Channels, ActiveChannels, UsesTable, Iterator, Bins, CounterT>;
    static kernel_property_cache cache;
    int unused = 0;
    cudaError_t status = cache.get(unused, [&](int& is_allowed) {
      is_allowed = 1;
      return strata::allow_dynamic_shared_memory(kernel, static_cast<std::size_t>(device.shared_bytes_of_block));
    });
    if (status != cudaSuccess) return status;
    // A counter has 32 bits, so a block must count fewer than 2^32 samples of a channel.
    blocks = detail::most(blocks, (samples.rows * samples.row_pixels) >> 31);
    if (blocks > 1) status = clear();
    if (status != cudaSuccess) return status;
    return strata::launch(
        {"strata::DeviceHistogram", dim3(static_cast<unsigned>(blocks)), dim3(ActivePolicy::tuning.block_threads),
         shared_bytes, stream, 1, device.ptx_version >= 900},
        kernel, samples, channels, outputs, shared_memory);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

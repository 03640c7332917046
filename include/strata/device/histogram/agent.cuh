// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/histogram/bins.cuh>
#include <strata/device/histogram/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The samples of a call: `rows` rows of `row_pixels` pixels. A warp takes a part of a row at a time.
template <class Iterator>
struct histogram_samples {
  Iterator begin;
  std::size_t row_pixels;
  std::size_t rows;
  std::size_t row_stride;  // from one row to the next, in samples
  std::size_t parts_per_row;
  bool is_vectorized;  // vectors are read, from the first pixel of each row that begins at a 16-byte boundary
};

/// Counts the samples of a block's warps, and adds them to the histograms in device memory.
///
/// In shared memory each bin has `columns` counters, side by side. A lane adds to the counter in its column. With a
/// column for each lane, no two lanes of a warp access the same bank, whatever the samples are. Samples of one byte are
/// counted by their values. Each value is mapped to its bin when all samples are counted.
///
/// `UsesTable` is true if not all bins fit, or if there are many bins for few samples. Then the bins that the block
/// meets first get places in a table in shared memory; frequent bins are likely among them. Samples of the other bins
/// are added in device memory.
template <class Policy, int Channels, int ActiveChannels, class Iterator, class Bins, class CounterT, bool UsesTable>
class AgentHistogram {
  static constexpr histogram_tuning tuning = Policy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  using Sample = iterator_value_t<Iterator>;
  using Outputs = histogram_outputs<CounterT, ActiveChannels>;
  static constexpr int byte_values = 256;

 public:
  static constexpr bool counts_bytes = sizeof(Sample) == 1;
  static constexpr bool is_bulk = is_bulk_array<Iterator>;
  /// A group has as many vectors of 16 bytes as there are channels. `width` is its number of pixels.
  static constexpr int width = is_bulk ? vector_bytes / static_cast<int>(sizeof(Sample)) : 1;
  static constexpr int groups = Channels <= 2 ? tuning.bytes_in_flight / vector_bytes / Channels : 1;
  static constexpr int single_pixels = 4;  // of a lane, if there are no vectors
  /// Pixels that a warp takes at a time.
  static constexpr std::size_t part_pixels(bool is_vectorized) {
    return static_cast<std::size_t>(warp_threads * (is_vectorized ? groups * width : single_pixels));
  }
  static constexpr std::size_t table_bytes() {
    return static_cast<std::size_t>(tuning.table_slots) * (sizeof(int) + sizeof(unsigned));
  }

  STRATA_D AgentHistogram(unsigned* counters, unsigned bin_bytes, const Bins (&bins)[ActiveChannels],
                          const Outputs& outputs)
      : counters_(counters),
        column_(reinterpret_cast<unsigned char*>(counters) + threadIdx.x * counter_bytes % bin_bytes),
        bin_bytes_(bin_bytes),
        bins_(bins),
        outputs_(outputs) {}

  STRATA_D void run(const histogram_samples<Iterator>& samples) {
    clear();
    constexpr std::size_t block_warps = block_threads / warp_threads;
    const std::size_t parts = samples.rows * samples.parts_per_row;
    for (std::size_t part = blockIdx.x * block_warps + threadIdx.x / warp_threads; part < parts;
         part += gridDim.x * block_warps) {
      const std::size_t row = samples.rows == 1 ? 0 : part / samples.parts_per_row;
      const Iterator begin = detail::advanced(samples.begin, row * samples.row_stride);
      const std::size_t part_of_row = part - row * samples.parts_per_row;
      if constexpr (is_bulk) {
        if (samples.is_vectorized) {
          count_vectors(begin, samples.row_pixels, part_of_row);
          continue;
        }
      }
      count_singly(begin, samples.row_pixels, part_of_row);
    }
    __syncthreads();
    add_counts();
  }

 private:
  static constexpr int no_bin = -1;
  static constexpr unsigned counter_bytes = sizeof(unsigned);
  static constexpr unsigned slots_per_channel =
      static_cast<unsigned>(tuning.table_slots) / (ActiveChannels > 2 ? 4u : static_cast<unsigned>(ActiveChannels));
  // not for users: policies are checked where they are read
  static_assert(is_power_of_two(slots_per_channel) && groups > 0, "histogram_tuning: slots must be a power of two");

  // ------------------------------------------------------------------ where samples are counted

  STRATA_D unsigned columns() const { return bin_bytes_ / counter_bytes; }
  STRATA_D unsigned num_counters() const {
    if constexpr (UsesTable) return static_cast<unsigned>(tuning.table_slots);
    if constexpr (counts_bytes) return ActiveChannels * byte_values * columns();
    return static_cast<unsigned>(outputs_.all_bins()) * columns();
  }
  STRATA_D int* tags() const { return reinterpret_cast<int*>(counters_ + tuning.table_slots); }

  STRATA_D void clear() const {
    for (unsigned i = threadIdx.x; i < num_counters(); i += unsigned{block_threads}) {
      counters_[i] = 0;
      if constexpr (UsesTable) tags()[i] = no_bin;
    }
    if (gridDim.x == 1) outputs_.clear(threadIdx.x, block_threads);
    __syncthreads();
  }

  STRATA_D void count(int channel, const Sample& sample) const {
    if constexpr (counts_bytes) {
      const unsigned value = reinterpret_cast<const unsigned char&>(sample);
      add_one(static_cast<unsigned>(channel * byte_values) + value);
    } else {
      const int bin = bins_[channel](sample);
      if (static_cast<unsigned>(bin) >= static_cast<unsigned>(outputs_.num_bins[channel])) return;
      if constexpr (UsesTable) {
        count_in_table(channel, bin);
      } else {
        add_one(first_bin(channel) + static_cast<unsigned>(bin));
      }
    }
  }
  STRATA_D void add_one(unsigned counted) const {
    atomicAdd(reinterpret_cast<unsigned*>(column_ + counted * bin_bytes_), 1u);
  }
  STRATA_D unsigned first_bin(int channel) const {
    unsigned sum = 0;
    STRATA_UNROLL
    for (int c = 0; c < ActiveChannels - 1; ++c) sum += c < channel ? static_cast<unsigned>(outputs_.num_bins[c]) : 0;
    return sum;
  }

  STRATA_D void count_in_table(int channel, int bin) const {
    const unsigned slot =
        static_cast<unsigned>(channel) * slots_per_channel + static_cast<unsigned>(bin) % slots_per_channel;
    int found = *static_cast<volatile int*>(tags() + slot);
    if (found == no_bin) {
      found = atomicCAS(tags() + slot, no_bin, bin);
      if (found == no_bin) found = bin;
    }
    if (found == bin) {
      atomicAdd(&counters_[slot], 1u);
    } else {
      outputs_.add(channel, static_cast<unsigned>(bin), 1);
    }
  }

  // ------------------------------------------------------------------ reading

  /// Pixels before the first pixel at a 16-byte boundary. For three channels, 11 is the inverse of 3 modulo 16.
  STRATA_D static std::size_t pixels_before_boundary(const Sample* row) {
    constexpr unsigned pixel_bytes = Channels * sizeof(Sample);
    constexpr unsigned unit = Channels == 3 ? sizeof(Sample) : detail::least(pixel_bytes, vector_bytes);
    const auto behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) % vector_bytes);
    return (vector_bytes - behind) % vector_bytes / unit * (Channels == 3 ? 11 : 1) % (vector_bytes / unit);
  }

  STRATA_D void count_vectors(const Iterator& row, std::size_t row_pixels, std::size_t part) const {
    const std::size_t before = pixels_before_boundary(row);
    const std::size_t head = detail::least(before, row_pixels);
    const std::size_t row_groups = (row_pixels - head) / width;
    const vector_input<Sample> input{row + head * Channels, platform::evict_first(large_input_evict_first)};
    constexpr std::size_t part_groups = groups * warp_threads;
    const std::size_t first = part * part_groups;
    const std::size_t lane = platform::lane_id();
    if (first + part_groups <= row_groups) {
      count_groups<groups>(input, first + lane);
    } else {
      STRATA_UNROLL_N(1)
      for (std::size_t group = first + lane; group < row_groups; group += warp_threads) count_groups<1>(input, group);
    }
    if (part > 0) return;
    // The pixels before the first group and after the last one are fewer than 16 each.
    const std::size_t pixel = lane < 16 ? lane : head + row_groups * width + lane - 16;
    if (pixel < (lane < 16 ? head : row_pixels)) count_pixel(row, pixel);
  }

  template <int Groups>
  STRATA_D void count_groups(const vector_input<Sample>& input, std::size_t first) const {
    typename vector_input<Sample>::pack held[Groups][Channels];
    STRATA_UNROLL
    for (int i = 0; i < Groups * Channels; ++i) {
      const std::size_t group = first + static_cast<std::size_t>(i / Channels * warp_threads);
      held[i / Channels][i % Channels] =
          input.template load<Channels == 1>(group * Channels + static_cast<std::size_t>(i % Channels));
    }
    STRATA_UNROLL
    for (int g = 0; g < Groups; ++g) {
      STRATA_UNROLL
      for (int i = 0; i < width * Channels; ++i) {
        if (i % Channels < ActiveChannels) count(i % Channels, held[g][i / width][i % width]);
      }
    }
  }

  STRATA_D void count_pixel(const Iterator& row, std::size_t pixel) const {
    STRATA_UNROLL
    for (int c = 0; c < ActiveChannels; ++c) {
      count(c, detail::item_at(row, pixel * Channels + static_cast<std::size_t>(c)));
    }
  }

  STRATA_D void count_singly(const Iterator& row, std::size_t row_pixels, std::size_t part) const {
    STRATA_UNROLL
    for (int i = 0; i < single_pixels; ++i) {
      const std::size_t pixel =
          (part * single_pixels + static_cast<std::size_t>(i)) * warp_threads + platform::lane_id();
      if (pixel < row_pixels) count_pixel(row, pixel);
    }
  }

  // ------------------------------------------------------------------ results

  STRATA_D void add_counts() const {
    if constexpr (UsesTable) {
      for (unsigned slot = threadIdx.x; slot < num_counters(); slot += unsigned{block_threads}) {
        const int bin = tags()[slot];
        if (bin != no_bin) {
          outputs_.add(static_cast<int>(slot / slots_per_channel), static_cast<unsigned>(bin), counters_[slot]);
        }
      }
    } else {
      unsigned first = 0;
      STRATA_UNROLL
      for (int c = 0; c < ActiveChannels; ++c) {
        const auto counted = counts_bytes ? unsigned{byte_values} : static_cast<unsigned>(outputs_.num_bins[c]);
        for (unsigned i = threadIdx.x; i < counted; i += unsigned{block_threads}) add_bin(c, i, sum_of(first + i));
        first += counted;
      }
    }
  }

  STRATA_D unsigned long long sum_of(unsigned bin) const {
    unsigned long long sum = 0;
    STRATA_UNROLL_N(8)
    for (unsigned column = 0; column < columns(); ++column) {
      // Each lane begins at another column. With 32 columns, lanes then access different banks.
      sum += counters_[bin * columns() + (column + bin) % columns()];
    }
    return sum;
  }

  STRATA_D void add_bin(int channel, unsigned counted, unsigned long long count) const {
    if (count == 0) return;
    if constexpr (counts_bytes) {
      const auto value = static_cast<unsigned char>(counted);
      const int bin = bins_[channel](reinterpret_cast<const Sample&>(value));
      if (static_cast<unsigned>(bin) >= static_cast<unsigned>(outputs_.num_bins[channel])) return;
      outputs_.add(channel, static_cast<unsigned>(bin), count);
    } else {
      outputs_.add(channel, counted, count);
    }
  }

  unsigned* counters_;
  unsigned char* column_;
  unsigned bin_bytes_;  // in bytes, because the compiler would add a shift for an index of words
  const Bins (&bins_)[ActiveChannels];
  const Outputs& outputs_;
};

}  // namespace detail
STRATA_NAMESPACE_END

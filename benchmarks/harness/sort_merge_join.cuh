// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A join as users of CUB write it: it sorts both sides, looks up each probe row among the build rows, scans the
/// numbers of partners, and writes the pairs.
///
/// It is made as fast as CUB's users could make it:
/// - It sorts only the bits of the keys that occur. The row numbers are made beforehand. Sides that are in order are
///   not sorted.
/// - It looks up sorted probe keys tile by tile: the ends of a tile bound the positions of all other keys.
/// - It writes results in tiles of equal size, however many results a row has, and however many rows have none.
/// - Positions have 32 bits, although a library could not know that the result has so few rows.
/// - All storage is allocated beforehand, and nothing waits for the device.

#include <strata/device/join/common/join_options.hpp>

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstdint>

#include "harness/cuda.cuh"
#include "harness/join_data.cuh"

namespace bench {

namespace detail {

inline constexpr std::uint32_t join_block_threads = 256;
inline constexpr std::uint32_t join_items_per_thread = 8;
inline constexpr std::uint32_t join_tile = join_block_threads * join_items_per_thread;
inline constexpr std::uint32_t no_partner = 0xffffffff;

inline std::uint32_t tiles_of(std::int64_t items) {
  return static_cast<std::uint32_t>((items + join_tile - 1) / join_tile);
}

/// The index in [first, last) of the first sorted value that is not below the key, or `last` if there is none.
template <class Key>
__device__ std::uint32_t lower_bound(const Key* values, std::uint32_t first, std::uint32_t last, Key key) {
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (values[middle] < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

/// Number of values from `first` on that are equal to the key. Usually there are few.
template <class Key>
__device__ std::uint32_t count_equal(const Key* values, std::uint32_t first, std::uint32_t size, Key key) {
  std::uint32_t step = 1;
  while (step < size - first && values[first + step] == key) step *= 2;
  std::uint32_t low = first + step / 2;
  std::uint32_t high = min(first + step, size);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (values[middle] == key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - first;
}

template <class T>
__global__ void number_rows(T* rows, std::int64_t size) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) rows[i] = static_cast<T>(i);
}

/// For the first probe key of each tile, finds its position among the values.
template <class Key>
__global__ void find_tiles(const Key* needles, std::uint32_t tiles, const Key* values, std::uint32_t size,
                           std::uint32_t* bounds) {
  const std::uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile < tiles) {
    bounds[tile] = lower_bound(values, 0u, size, needles[join_tile * tile]);
  } else if (tile == tiles) {
    bounds[tile] = size;
  }
}

/// For each probe key, finds its first partner and the number of its result rows. `is_unique`: no two values are equal.
template <class Key>
__global__ void look_up(const Key* needles, std::uint32_t count, const Key* values, std::uint32_t size,
                        const std::uint32_t* bounds, strata::JoinKind kind, bool is_unique, std::uint32_t* partners,
                        std::uint32_t* results) {
  const std::uint32_t first = bounds[blockIdx.x];
  const std::uint32_t last = bounds[blockIdx.x + 1];
  for (std::uint32_t item = 0; item < join_items_per_thread; ++item) {
    const std::uint32_t i = blockIdx.x * join_tile + item * join_block_threads + threadIdx.x;
    if (i >= count) return;
    const Key key = needles[i];
    const std::uint32_t place = lower_bound(values, first, last, key);
    const bool is_found = place < size && values[place] == key;
    std::uint32_t rows = is_found ? 1 : 0;
    if (kind == strata::JoinKind::anti) {
      rows = is_found ? 0 : 1;
    } else if (kind != strata::JoinKind::semi) {
      if (is_found && !is_unique) rows = count_equal(values, place, size, key);
      if (!is_found && kind != strata::JoinKind::inner) rows = 1;
    }
    if (partners != nullptr) partners[i] = is_found ? place : no_partner;
    results[i] = rows;
  }
}

/// The last index in [first, last) whose begin is not above `position`, or `first` if all are above. The begins ascend.
__device__ inline std::uint32_t last_not_above(const std::uint32_t* begins, std::uint32_t first, std::uint32_t last,
                                               std::uint32_t position) {
  while (last - first > 1) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (begins[middle] <= position) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

/// Finds the row in which each tile of results begins.
static __global__ void find_result_tiles(const std::uint32_t* begins, std::uint32_t rows, std::uint32_t tiles,
                                         std::uint32_t* bounds) {
  const std::uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile <= tiles) bounds[tile] = last_not_above(begins, 0, rows, join_tile * tile);
}

struct larger_of {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return max(a, b); }
};

/// Finds for each result of a tile its row: `row_of[i]` is the row of result first + i, minus first_row. Rows mark
/// where they begin, and a scan copies the marks to the following results.
struct rows_by_marks {
  using scan = cub::BlockScan<std::uint32_t, int{join_block_threads}>;

  __device__ static void find(typename scan::TempStorage& storage, const std::uint32_t* begins, std::uint32_t first,
                              std::uint32_t first_row, std::uint32_t last_row, std::uint32_t* row_of) {
    for (std::uint32_t i = threadIdx.x; i < join_tile; i += join_block_threads) row_of[i] = 0;
    __syncthreads();
    for (std::uint32_t row = first_row + threadIdx.x; row < last_row; row += join_block_threads) {
      const std::uint32_t begin = begins[row];
      const bool is_behind = begin >= first && begin - first >= join_tile;
      if (is_behind || begins[row + 1] == begin) continue;
      row_of[begin < first ? 0 : begin - first] = row - first_row;
    }
    __syncthreads();
    std::uint32_t mine[join_items_per_thread];
    for (std::uint32_t item = 0; item < join_items_per_thread; ++item) {
      mine[item] = row_of[threadIdx.x * join_items_per_thread + item];
    }
    scan(storage).InclusiveScan(mine, mine, larger_of{});
    for (std::uint32_t item = 0; item < join_items_per_thread; ++item) {
      row_of[threadIdx.x * join_items_per_thread + item] = mine[item];
    }
    __syncthreads();
  }
};

/// Writes the results. Rows [0, probe_rows) are sorted probe rows. The rows after them are build rows without a
/// partner.
static __global__ __launch_bounds__(join_block_threads) void write_results(
    const std::uint32_t* begins, std::uint32_t rows, std::uint32_t probe_rows, const std::uint32_t* bounds,
    const std::uint32_t* partners, const std::int32_t* build_row_of, const std::int32_t* probe_row_of,
    std::int32_t* build_out, std::int32_t* probe_out, std::int64_t capacity, std::int64_t* total) {
  __shared__ typename rows_by_marks::scan::TempStorage storage;
  __shared__ std::uint32_t row_of[join_tile];
  const std::uint32_t end = begins[rows];
  const std::uint32_t first = blockIdx.x * join_tile;
  if (first == 0 && threadIdx.x == 0) *total = end;
  if (first >= end) return;
  const std::uint32_t count = min(min(end - first, join_tile), static_cast<std::uint32_t>(capacity) - first);
  const std::uint32_t first_row = bounds[blockIdx.x];
  const std::uint32_t last_row = min(bounds[blockIdx.x + 1] + 1, rows);
  // If many rows without results lie between the others, marks take longer than a search.
  const bool by_marks = last_row - first_row <= 4 * join_tile;
  if (by_marks) rows_by_marks::find(storage, begins, first, first_row, last_row, row_of);

  for (std::uint32_t i = threadIdx.x; i < count; i += join_block_threads) {
    const std::uint32_t row = by_marks ? first_row + row_of[i] : last_not_above(begins, first_row, last_row, first + i);
    const bool of_probe = row < probe_rows;
    probe_out[first + i] = of_probe ? probe_row_of[row] : -1;
    if (build_out == nullptr) continue;
    const std::uint32_t partner = of_probe ? partners[row] : row - probe_rows;
    build_out[first + i] = partner == no_partner ? -1 : build_row_of[partner + (first + i - begins[row])];
  }
}

}  // namespace detail

/// A join that is called again and again with the same arguments. It owns its storage.
template <class Key>
class sort_merge_join {
 public:
  sort_merge_join(const join_case& what, strata::JoinKind kind, bool is_unique, const join_sides<Key>& sides,
                  const join_result& result, cudaStream_t stream)
      : kind_(kind),
        is_unique_(is_unique),
        is_sorted_(what.is_sorted),
        sides_(sides),
        result_(result),
        build_rows_(static_cast<std::uint32_t>(what.build_rows)),
        probe_rows_(static_cast<std::uint32_t>(what.probe_rows)),
        rows_(probe_rows_ + (kind == strata::JoinKind::full ? build_rows_ : 0)),
        key_bits_(what.is_sparse ? static_cast<int>(8 * sizeof(Key)) : bits_of(what.most_ids())),
        rows_as_given_(std::max(build_rows_, probe_rows_)),
        build_keys_(build_rows_),
        probe_keys_(probe_rows_),
        build_row_of_(build_rows_),
        probe_row_of_(probe_rows_),
        partners_(probe_rows_),
        begins_(std::size_t{rows_} + 1),
        bounds_(std::max({detail::tiles_of(probe_rows_), detail::tiles_of(build_rows_),
                          detail::tiles_of(result.capacity), 1u}) +
                1) {
    if (is_sorted_) {
      build_keys_ = sides_.build;
      probe_keys_ = sides_.probe;
      build_row_of_ = probe_row_of_ = rows_as_given_;
    }
    std::size_t bytes[3] = {};
    check(sort(nullptr, bytes[0], sides_.build, build_keys_, build_row_of_, stream), "cub");
    check(sort(nullptr, bytes[1], sides_.probe, probe_keys_, probe_row_of_, stream), "cub");
    check(scan(nullptr, bytes[2], stream), "cub");
    storage_ = device_array<unsigned char>(std::max({bytes[0], bytes[1], bytes[2]}));
    const auto blocks = static_cast<unsigned>((rows_as_given_.size() + 255) / 256);
    detail::number_rows<<<blocks, 256, 0, stream>>>(rows_as_given_.data(),
                                                    static_cast<std::int64_t>(rows_as_given_.size()));
    check(cudaGetLastError(), "number_rows");
  }

  cudaError_t operator()(cudaStream_t stream) const {
    std::size_t bytes = storage_.size();
    cudaError_t error = cudaSuccess;
    if (!is_sorted_) {
      error = sort(storage_.data(), bytes, sides_.build, build_keys_, build_row_of_, stream);
      if (error != cudaSuccess) return error;
      error = sort(storage_.data(), bytes, sides_.probe, probe_keys_, probe_row_of_, stream);
      if (error != cudaSuccess) return error;
    }
    look_up(probe_keys_, build_keys_, kind_, partners_.data(), begins_.data(), stream);
    if (kind_ == strata::JoinKind::full) {
      look_up(build_keys_, probe_keys_, strata::JoinKind::anti, nullptr, begins_.data() + probe_rows_, stream);
    }
    error = scan(storage_.data(), bytes, stream);
    if (error != cudaSuccess) return error;
    const std::uint32_t tiles = std::max(detail::tiles_of(result_.capacity), 1u);
    detail::find_result_tiles<<<tiles / 256 + 1, 256, 0, stream>>>(begins_.data(), rows_, tiles, bounds_.data());
    detail::write_results<<<tiles, detail::join_block_threads, 0, stream>>>(
        begins_.data(), rows_, probe_rows_, bounds_.data(), partners_.data(), build_row_of_.data(),
        probe_row_of_.data(), result_.build_or_null(), result_.probe_out.data(), result_.capacity,
        result_.total.data());
    return cudaGetLastError();
  }

 private:
  static int bits_of(std::uint64_t ids) {
    int bits = 1;
    while ((ids - 1) >> bits != 0) ++bits;
    return bits;
  }

  cudaError_t sort(void* storage, std::size_t& bytes, const device_array<Key>& keys, const device_array<Key>& sorted,
                   const device_array<std::int32_t>& row_of, cudaStream_t stream) const {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, keys.data(), sorted.data(), rows_as_given_.data(),
                                           row_of.data(), static_cast<int>(keys.size()), 0, key_bits_, stream);
  }
  /// Scans one item more than there are rows. The last position receives the number of all results; its input is
  /// ignored.
  cudaError_t scan(void* storage, std::size_t& bytes, cudaStream_t stream) const {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, begins_.data(), begins_.data(), static_cast<int>(rows_ + 1),
                                         stream);
  }

  void look_up(const device_array<Key>& needles, const device_array<Key>& values, strata::JoinKind kind,
               std::uint32_t* partners, std::uint32_t* results, cudaStream_t stream) const {
    const auto count = static_cast<std::uint32_t>(needles.size());
    const auto size = static_cast<std::uint32_t>(values.size());
    const std::uint32_t tiles = detail::tiles_of(count);
    detail::find_tiles<<<tiles / 256 + 1, 256, 0, stream>>>(needles.data(), tiles, values.data(), size, bounds_.data());
    detail::look_up<<<tiles, detail::join_block_threads, 0, stream>>>(
        needles.data(), count, values.data(), size, bounds_.data(), kind, is_unique_, partners, results);
  }

  strata::JoinKind kind_;
  bool is_unique_;
  bool is_sorted_;
  join_sides<Key> sides_;
  join_result result_;
  std::uint32_t build_rows_;
  std::uint32_t probe_rows_;
  std::uint32_t rows_;
  int key_bits_;
  device_array<std::int32_t> rows_as_given_;
  device_array<Key> build_keys_;
  device_array<Key> probe_keys_;
  device_array<std::int32_t> build_row_of_;
  device_array<std::int32_t> probe_row_of_;
  device_array<std::uint32_t> partners_;
  device_array<std::uint32_t> begins_;
  device_array<std::uint32_t> bounds_;
  device_array<unsigned char> storage_;
};

}  // namespace bench

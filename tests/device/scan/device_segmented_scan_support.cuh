// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceSegmentedScan: segments, sequential scans and small tiles.
#pragma once

#include <strata/device/device_segmented_scan.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/segment_shapes.cuh"
#include "support/test_types.cuh"

namespace device_test {

// ------------------------------------------------------------------ segments

using offset = std::int64_t;

/// Segments of all shapes. All shapes together have some hundred thousand items, or some million.
inline const std::vector<segment_shape>& shapes() {
  static const std::vector<segment_shape> all = [] {
    std::mt19937_64 bits = strata_test::random_bits(5);
    std::vector<segment_shape> some;
    for (const offset length : {0, 1, 33, 2048, if_small(9000, 70000)}) {
      some.push_back(consecutive("one_of_" + std::to_string(length), {length}));
    }
    using lengths_of = std::vector<offset>;
    some.push_back(consecutive("all_empty", lengths_of(700)));
    const std::size_t items = if_small<std::size_t>(6000, STRATA_HOST_SIMT ? 30000 : 300000);
    for (const std::size_t length : sizes{1, 10, 1000}) {
      some.push_back(
          consecutive("many_of_" + std::to_string(length), lengths_of(items / length, static_cast<offset>(length))));
    }
    some.push_back(consecutive("around_powers", lengths_around_powers(if_small(1024, 16384))));
    // Lengths proportional to 1 / rank, in random order.
    lengths_of lengths;
    for (std::size_t rank = 1; rank <= items / 8; ++rank) {
      lengths.push_back(static_cast<offset>(items / 8 / rank));
    }
    std::shuffle(lengths.begin(), lengths.end(), bits);
    some.push_back(consecutive("power_law", lengths));
    lengths.assign(500, 0);
    for (offset& length : lengths) length = static_cast<offset>(bits() % 3);
    lengths[123] = if_small(20000, 300000);
    some.push_back(consecutive("one_huge_among_tiny", lengths));
    // A tile has more segments than items.
    lengths.assign(if_small<std::size_t>(5000, 30000), 0);
    for (std::size_t i = 7; i < lengths.size(); i += 1 + bits() % 4000) lengths[i] = 3;
    some.push_back(consecutive("few_among_empty", lengths));

    const std::size_t count = some.size();
    for (std::size_t i = 6; i < count; ++i) some.push_back(scattered(some[i], i));
    return some;
  }();
  return all;
}

struct device_offsets {
  explicit device_offsets(const segment_shape& shape) : begins(shape.begins), ends(shape.ends) {}
  device_vector<offset> begins;
  device_vector<offset> ends;
};

/// True if each segment ends where the next one begins: then one array may hold all offsets.
inline bool are_contiguous(const segment_shape& shape) {
  for (std::size_t s = 1; s < shape.begins.size(); ++s) {
    if (shape.begins[s] != shape.ends[s - 1]) return false;
  }
  return !shape.begins.empty();
}
/// The offsets of all segments, and where the last one ends.
inline std::vector<offset> in_one_array(const segment_shape& shape) {
  std::vector<offset> offsets = shape.begins;
  offsets.push_back(shape.ends.back());
  return offsets;
}

// ------------------------------------------------------------------ sequential scans

struct none {};
template <class Op, class T>
T before_first(Op op, const T& init, const T& item) {
  return op(init, item);
}
template <class Op, class T>
T before_first(Op, none, const T& item) {
  return item;
}

/// Returns `out` with the results of each segment, which begin at `out_begins[s]`.
template <bool IsInclusive, class T, class Item, class Op, class Init>
std::vector<T> scanned(const segment_shape& shape, const std::vector<Item>& items, Op op, Init init,
                       const std::vector<offset>& out_begins, std::vector<T> out) {
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    T sum{};
    for (offset i = shape.begins[s]; i < shape.ends[s]; ++i) {
      const T item = static_cast<T>(items[static_cast<std::size_t>(i)]);
      const auto to = static_cast<std::size_t>(out_begins[s] + i - shape.begins[s]);
      const bool is_first = i == shape.begins[s];
      if constexpr (!IsInclusive) out[to] = is_first ? init : sum;
      sum = is_first ? before_first(op, init, item) : static_cast<T>(op(sum, item));
      if constexpr (IsInclusive) out[to] = sum;
    }
  }
  return out;
}

/// Items of an array of the device before anything is written to it.
template <class T>
std::vector<T> poisoned(std::size_t count) {
  std::vector<T> items(count);
  if (count > 0) {
    std::memset(static_cast<void*>(items.data()), strata_test::guarded_memory::poison, count * sizeof(T));
  }
  return items;
}

/// Expects that `call(storage, bytes, in, out, begins, ends, num_segments)` scans the segments of all shapes.
template <bool IsInclusive, class T, class Op, class Init, class Call>
void expect_scans(Op op, Init init, const Call& call) {
  std::size_t most = 0;
  for (const segment_shape& shape : shapes()) most = std::max(most, shape.items());
  const std::vector<T> items = scan_items<T>::make(most);
  const device_vector<T> in(items);
  device_vector<T> out(most);
  for (const segment_shape& shape : shapes()) {
    const device_offsets offsets(shape);
    out.poison();
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call(storage, bytes, in.data(), out.data(), static_cast<const offset*>(offsets.begins.data()),
                  static_cast<const offset*>(offsets.ends.data()), shape.segments());
    }));
    const std::vector<T> expected = scanned<IsInclusive>(shape, items, op, init, shape.begins, poisoned<T>(most));
    ASSERT_SAME_ITEMS(expected, out.to_host()) << shape;
    if (!are_contiguous(shape)) continue;
    const device_vector<offset> all(in_one_array(shape));
    out.poison();
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call(storage, bytes, in.data(), out.data(), static_cast<const offset*>(all.data()),
                  static_cast<const offset*>(all.data() + 1), shape.segments());
    }));
    ASSERT_SAME_ITEMS(expected, out.to_host()) << shape << ", offsets in one array";
  }
}

struct plain_add {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

// ------------------------------------------------------------------ small tiles

/// Tiles of 64 items, or of 192 if all offsets lie in one array.
struct tiny_tiles {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_scan_tuning tuning{32, 2, 1};
    static constexpr strata::segmented_scan_tuning contiguous{64, 3, 2};
  };
  using MaxPolicy = Policy;
};
inline constexpr std::size_t tiny_tile_items = 64;

inline segment_shape of_tiles(std::size_t tiles, std::size_t mean, std::uint64_t stream) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<offset> lengths = {0};
  std::size_t left = tiles * tiny_tile_items;
  if (left > 0) left -= bits() % tiny_tile_items;
  while (left > 0) {
    const std::size_t length = std::min(left, bits() % (2 * mean));
    lengths.push_back(static_cast<offset>(length));
    left -= length;
  }
  return consecutive(std::to_string(tiles) + " tiles, mean " + std::to_string(mean), lengths);
}

/// A two-phase call with tiny tiles.
template <class T, class Op, class Init>
cudaError_t tiny_scan(void* storage, std::size_t& bytes, const T* in, T* out, const device_offsets& offsets,
                      offset num_segments, Op op, Init init, cudaStream_t on = nullptr) {
  return strata::TunedDeviceSegmentedScan<tiny_tiles>::ExclusiveSegmentedScan(
      storage, bytes, in, out, offsets.begins.data(), offsets.ends.data(), num_segments, op, init, on);
}
/// Scans segments with all offsets in one array.
template <class T, class Op, class Init>
cudaError_t tiny_scan(void* storage, std::size_t& bytes, const T* in, T* out, const device_vector<offset>& offsets,
                      offset num_segments, Op op, Init init, cudaStream_t on = nullptr) {
  return strata::TunedDeviceSegmentedScan<tiny_tiles>::ExclusiveSegmentedScan(
      storage, bytes, in, out, offsets.data(), offsets.data() + 1, num_segments, op, init, on);
}

}  // namespace device_test

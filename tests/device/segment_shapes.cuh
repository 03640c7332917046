// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segments of all shapes for tests of segmented algorithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

struct segment_shape {
  std::string name;
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;

  std::int64_t segments() const { return static_cast<std::int64_t>(begins.size()); }
  /// One past the last item of any segment.
  std::size_t items() const {
    std::int64_t last = 0;
    for (const std::int64_t end : ends) last = std::max(last, end);
    return static_cast<std::size_t>(last);
  }
  friend std::ostream& operator<<(std::ostream& os, const segment_shape& shape) { return os << shape.name; }
};

/// Contiguous segments, in order.
inline segment_shape consecutive(std::string name, const std::vector<std::int64_t>& lengths) {
  segment_shape shape{std::move(name), {}, {}};
  std::int64_t end = 0;
  for (const std::int64_t length : lengths) {
    shape.begins.push_back(end);
    shape.ends.push_back(end += length);
  }
  return shape;
}

/// Segments with the lengths of `of`, in random order in memory and with gaps. Some empty segments end before they
/// begin.
inline segment_shape scattered(const segment_shape& of, std::uint64_t stream) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<std::size_t> order(of.begins.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), bits);
  segment_shape shape{of.name + "_scattered", of.begins, of.ends};
  std::int64_t next = 3;
  for (const std::size_t s : order) {
    const std::int64_t length = of.ends[s] - of.begins[s];
    shape.begins[s] = next;
    shape.ends[s] = next += length;
    if (length == 0 && bits() % 2 == 0) shape.ends[s] -= static_cast<std::int64_t>(bits() % 100);
    next += static_cast<std::int64_t>(bits() % 4);
  }
  return shape;
}

/// Lengths around the powers of two from 8 to `largest`, where other algorithms take over.
inline std::vector<std::int64_t> lengths_around_powers(std::int64_t largest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t power = 8; power <= largest; power *= 2) {
    for (std::int64_t length : {power - 1, power, power + 1}) lengths.push_back(length);
  }
  return lengths;
}

/// Few and many segments, of equal and of mixed lengths.
inline std::vector<segment_shape> segment_shapes() {
  std::mt19937_64 bits = strata_test::random_bits(77);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); };
  std::vector<segment_shape> shapes;

  for (const std::int64_t length : {0, 1, 5, 100, 1000, if_small(10000, 300000)}) {
    shapes.push_back(consecutive("one_of_" + std::to_string(length), {length}));
  }
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 0; length <= 70; ++length) lengths.push_back(length);
  shapes.push_back(consecutive("0_to_70", lengths));
  for (std::int64_t length = 70; length >= 0; --length) lengths.push_back(length);
  shapes.push_back(consecutive("0_to_70_and_back", lengths));

  lengths = lengths_around_powers(if_small(8192, 65536));
  shapes.push_back(consecutive("few_around_powers", lengths));
  lengths.resize(5000, 3);
  std::shuffle(lengths.begin(), lengths.end(), bits);
  shapes.push_back(consecutive("many_around_powers", lengths));

  for (const std::int64_t count : {128, 4095, 4096, 4097}) {
    lengths.clear();
    for (std::int64_t i = 0; i < count; ++i) lengths.push_back(below(count > 128 ? 20 : 300));
    lengths.back() = 17000;
    shapes.push_back(consecutive(std::to_string(count) + "_short", lengths));
  }

  for (const std::size_t count : sizes{300, 5000}) {
    const std::string suffix = "_" + std::to_string(count);
    lengths.assign(count, 0);
    shapes.push_back(consecutive("all_empty" + suffix, lengths));
    lengths[count / 3] = if_small(70000, 300001);
    lengths[count / 3 + 1] = 9000;
    lengths.back() = 1;
    shapes.push_back(consecutive("one_huge_among_empty" + suffix, lengths));
    for (std::int64_t& length : lengths) length = std::max(length, below(4));
    shapes.push_back(consecutive("one_huge_among_tiny" + suffix, lengths));

    // Lengths proportional to 1 / rank, in random order.
    lengths.clear();
    for (std::int64_t rank = 1; rank <= static_cast<std::int64_t>(count); ++rank) {
      lengths.push_back(if_small(10000, 80000) / rank);
    }
    std::shuffle(lengths.begin(), lengths.end(), bits);
    shapes.push_back(consecutive("zipf" + suffix, lengths));
  }

  lengths.clear();
  for (int i = 0; i < if_small(10000, 100000); ++i) lengths.push_back(below(5));
  shapes.push_back(consecutive("very_many_tiny", lengths));

  // Segments overlap, in no order, with gaps. Some end before they begin.
  for (const int count : {100, 1000, 6000}) {
    segment_shape shape{"scattered_" + std::to_string(count), {}, {}};
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = below(20000);
      const std::int64_t length = below(10) == 0 ? below(3000) : below(100);
      shape.begins.push_back(begin);
      shape.ends.push_back(i % 7 == 3 ? begin - length : begin + length);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace device_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batches of buffers for tests of DeviceMemcpy and DeviceCopy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

/// Places of buffers in a pool of sources and in a pool of destinations. All items have one size.
struct buffer_places {
  std::string name;
  std::vector<std::size_t> in;
  std::vector<std::size_t> out;
  std::vector<std::size_t> sizes;
  std::size_t in_items = 0;
  std::size_t out_items = 0;

  std::size_t count() const { return sizes.size(); }

  /// Adds a buffer behind the last ones, with gaps.
  void add(std::size_t size, std::size_t in_gap, std::size_t out_gap) {
    in.push_back(in_items += in_gap);
    out.push_back(out_items += out_gap);
    sizes.push_back(size);
    in_items += size;
    out_items += size;
  }
};

/// Buffers with random gaps of up to `max_gap` items between them, numbered in random order.
inline buffer_places scattered_buffers(std::string name, const std::vector<std::size_t>& lengths, std::size_t max_gap,
                                       std::uint64_t random_stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(random_stream);
  buffer_places places{std::move(name), {}, {}, {}};
  for (const std::size_t length : lengths) places.add(length, bits() % (max_gap + 1), bits() % (max_gap + 1));
  for (std::size_t i = places.count(); i > 1; --i) {
    const std::size_t other = bits() % i;
    std::swap(places.in[i - 1], places.in[other]);
    std::swap(places.out[i - 1], places.out[other]);
    std::swap(places.sizes[i - 1], places.sizes[other]);
  }
  return places;
}

/// Random sizes whose logarithms are nearly uniform.
inline std::vector<std::size_t> sizes_of_all_scales(std::size_t count, std::size_t largest,
                                                    std::uint64_t random_stream) {
  std::mt19937_64 bits = strata_test::random_bits(random_stream);
  std::vector<std::size_t> lengths(count);
  for (std::size_t& length : lengths) {
    const std::size_t bound = std::min(std::size_t{1} << bits() % 30, largest);
    length = bits() % (bound + 1);
  }
  return lengths;
}

/// Batches of few and many, short and long buffers, in bytes. Lengths lie around the bounds of classes: 16 bytes, a
/// word for each lane of a warp, 4 and 8 KiB.
inline std::vector<buffer_places> buffer_batches(std::size_t max_gap) {
  std::vector<buffer_places> batches;
  const auto add = [&](std::string name, const std::vector<std::size_t>& of) {
    batches.push_back(scattered_buffers(std::move(name), of, max_gap, batches.size()));
  };
  for (const std::size_t size : boundary_sizes(if_small<std::size_t>(1u << 14, 1u << 20))) {
    add("one_of_" + std::to_string(size), {size});
  }
  std::vector<std::size_t> lengths;
  for (std::size_t repetition = 0; repetition < if_small<std::size_t>(4, 40); ++repetition) {
    for (std::size_t size = 0; size <= 100; ++size) lengths.push_back(size);
  }
  add("0_to_100", lengths);
  lengths = boundary_sizes(if_small<std::size_t>(1u << 14, 1u << 18));
  for (const std::size_t near : {std::size_t{8} << 10, std::size_t{12} << 10, std::size_t{16} << 10}) {
    for (std::size_t size = near - 20; size < near + 60; size += if_small<std::size_t>(5, 1)) lengths.push_back(size);
  }
  add("around_powers", lengths);
  for (const std::size_t count : {31u, 32u, 33u, 255u, 256u, 257u}) {
    add(std::to_string(count) + "_short", std::vector<std::size_t>(count, 17));
  }
  add("all_empty", std::vector<std::size_t>(1000, 0));
  add("tiny", sizes_of_all_scales(if_small<std::size_t>(3000, 300000), 4, 1));
  add("all_scales", sizes_of_all_scales(if_small<std::size_t>(300, 3000), if_small<std::size_t>(30000, 1000000), 2));
  add("long_ones", std::vector<std::size_t>(if_small<std::size_t>(20, 200), 20000));
  lengths.assign(if_small<std::size_t>(400, 100000), 3);
  lengths[lengths.size() / 3] = if_small<std::size_t>(200000, 50000000);
  add("one_huge_among_tiny", lengths);
  lengths.assign(if_small<std::size_t>(400, 100000), 0);
  lengths[5] = 9000;
  lengths.back() = 40000;
  add("two_among_empty", lengths);
  return batches;
}

/// Pools of items of type T and the three arrays of a call, in device memory.
template <class T>
class buffer_pools {
 public:
  explicit buffer_pools(const buffer_places& places, std::uint64_t random_stream = 0)
      : in(places.in_items),
        out(places.out_items),
        inputs(places.count()),
        outputs(places.count()),
        sizes(places.count()),
        expected_(out.to_host()) {
    assign(places, random_stream);
  }

  /// Replaces the buffers by as many others in the same pools, and poisons the pool of destinations.
  void assign(const buffer_places& places, std::uint64_t random_stream) {
    std::mt19937_64 bits = strata_test::random_bits(random_stream + 99);
    std::vector<std::uint64_t> words(in.size() * sizeof(T) / 8 + 1);
    for (std::uint64_t& word : words) word = bits();
    std::vector<T> items(in.size());
    if (!items.empty()) std::memcpy(static_cast<void*>(items.data()), words.data(), items.size() * sizeof(T));
    in.assign(items);
    out.poison();
    expected_ = out.to_host();
    std::vector<const T*> from(places.count());
    std::vector<T*> to(places.count());
    std::vector<std::int64_t> counts(places.count());
    for (std::size_t i = 0; i < places.count(); ++i) {
      from[i] = in.data() + places.in[i];
      to[i] = out.data() + places.out[i];
      counts[i] = static_cast<std::int64_t>(places.sizes[i]);
      std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(places.in[i]), places.sizes[i],
                  expected_.begin() + static_cast<std::ptrdiff_t>(places.out[i]));
    }
    inputs.assign(from);
    outputs.assign(to);
    sizes.assign(counts);
  }

  /// Expects that all destinations have their sources' items, and that nothing beside them was written.
  void expect_copied() const {
    const std::vector<T> results = out.to_host();
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(0, std::memcmp(&expected_[i], &results[i], sizeof(T))) << "item " << i << " of the destinations";
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(sizes.size()); }

  device_vector<T> in;
  device_vector<T> out;
  device_vector<const T*> inputs;
  device_vector<T*> outputs;
  device_vector<std::int64_t> sizes;

 private:
  std::vector<T> expected_;
};

}  // namespace device_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedScan under many schedules, in replayed graphs, and with all offsets in one array.
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_segmented_scan_support.cuh"
#include "device/schedules.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::NullType;
using strata_test::join;
using strata_test::string_hash;

/// The second launch of a scan of hashes, in the given number of blocks. As in a replayed graph, expect_scans() may be
/// called again with other segments: what one call leaves must not be mistaken for what another writes.
class in_blocks {
 public:
  explicit in_blocks(unsigned blocks) : blocks_(blocks), storage_(sums::number_of_words(blocks) * 16 + 256) {
    exchange_ = {reinterpret_cast<strata::platform::tagged_word*>(
                     (reinterpret_cast<std::uintptr_t>(storage_.data()) + 255) / 256 * 256),
                 strata::detail::next_epoch(), true};
  }

  void expect_scans(const segment_shape& shape) {
    const std::vector<string_hash> items = scan_items<string_hash>::make(shape.items(), ++runs_);
    std::vector<unsigned long long> ends;
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      const auto length = static_cast<unsigned long long>(shape.ends[s] - shape.begins[s]);
      ends.push_back(length + (s > 0 ? ends.back() : 0));
    }
    const device_vector<string_hash> in(items);
    device_vector<string_hash> out(items.size());
    const device_vector<offset> d_begins(shape.begins);
    const device_vector<unsigned long long> d_ends(ends);
    const string_hash init = string_hash::of('^');
    using begins = strata::detail::segment_begins<const offset*, NullType>;
    const auto kernel = strata::detail::segmented_scan_kernel<tiny_tiles::MaxPolicy, string_hash, const string_hash*,
                                                              string_hash*, begins, unsigned, join, false, string_hash>;
    ASSERT_CUDA_SUCCESS(
        strata::launch({"segmented scan in some blocks", dim3(blocks_), dim3(32), 0, nullptr, 1, false, blocks_ > 1},
                       kernel, in.data(), out.data(), begins{d_begins.data(), {}}, d_ends.data(),
                       static_cast<unsigned>(ends.size()), join{}, init, exchange_));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, join{}, init, shape.begins, poisoned<string_hash>(items.size()))),
                      out.to_host())
        << shape << " in " << blocks_ << " blocks";
  }

 private:
  using sums = strata::detail::tile_aggregates<strata::detail::sum_of_run<string_hash>>;
  unsigned blocks_;
  scratch storage_;
  strata::detail::tile_aggregates_arguments exchange_;
  std::uint64_t runs_ = 0;
};

TEST(device_segmented_scan, rounds_of_any_number_of_blocks) {
  // A multiprocessor has room for 32 blocks.
  for (const unsigned blocks : {1u, 2u, 3u, 31u}) {
    in_blocks scan(blocks);
    for (const std::size_t tiles : sizes{1, 2, 3, 4, 31, 32, 63}) {
      for (const std::size_t mean : sizes{5, 1000}) {
        ASSERT_NO_FATAL_FAILURE(scan.expect_scans(of_tiles(tiles, mean, tiles + mean)));
      }
    }
  }
}

// Calls of up to 16 rounds erase their epochs. Replays with fewer tiles than blocks, with more rounds and without tiles
// follow each other.
TEST(device_segmented_scan, replays_may_differ_in_their_number_of_tiles) {
  for (const unsigned blocks : {2u, 5u}) {
    in_blocks scan(blocks);
    std::mt19937_64 bits = strata_test::random_bits(blocks);
    for (unsigned i = 0; i < if_small(40u, 150u); ++i) {
      const std::size_t rounds = bits() % 24;
      const std::size_t tiles = i % 5 == 4 ? bits() % (blocks + 1) : rounds * blocks + bits() % 3;
      ASSERT_NO_FATAL_FAILURE(scan.expect_scans(of_tiles(tiles, 1 + bits() % 300, i)));
    }
  }
}

// Sums of floating-point numbers depend on the order of additions, so a difference between schedules would show.
TEST(device_segmented_scan, repeats_bit_for_bit_under_any_schedule) {
  std::vector<offset> lengths = {5, 0, 300, 1, 1};
  // Not longer, because the test makes a thousand calls on a GPU.
  lengths.push_back(if_small(3000, STRATA_HOST_SIMT ? 20000 : 200000));
  lengths.insert(lengths.end(), {70, 0, 0, 2});
  const segment_shape shape = scattered(consecutive("mixed", lengths), 1);
  const std::vector<double> items = random_reals<double>(shape.items(), -1, 1);
  const device_vector<double> in(items);
  const device_offsets offsets(shape);
  std::vector<double> first;
  under_all_schedules([&](std::size_t) {
    device_vector<double> out(items.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tiny_scan(storage, bytes, in.data(), out.data(), offsets, shape.segments(), strata::Sum{}, 0.0);
    }));
    if (first.empty()) first = out.to_host();
    ASSERT_SAME_ITEMS(first, out.to_host());
  });
  const std::vector<double> expected =
      scanned<false>(shape, items, plain_add{}, 0.0, shape.begins, poisoned<double>(items.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], first[i], 1e-9) << i;
}

// ------------------------------------------------------------------ offsets in one array

/// Lengths of some long segments, which take several blocks, among short ones.
std::vector<offset> long_and_short_lengths(std::uint64_t stream, std::size_t items) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<offset> lengths;
  for (std::size_t left = items; left > 0;) {
    const std::size_t most = bits() % 12 == 0 ? items / 3 : bits() % 3 == 0 ? 300 : 12;
    const std::size_t length = std::min(left, bits() % most);
    lengths.push_back(static_cast<offset>(length));
    left -= length;
  }
  return lengths;
}

TEST(device_segmented_scan, in_one_array_repeats_bit_for_bit_under_any_schedule) {
  const segment_shape shape =
      consecutive("mixed", long_and_short_lengths(1, if_small<std::size_t>(4000, STRATA_HOST_SIMT ? 20000 : 100000)));
  const std::vector<double> items = random_reals<double>(shape.items(), -1, 1);
  const device_vector<double> in(items);
  const device_vector<offset> offsets(in_one_array(shape));
  const std::vector<double> expected =
      scanned<false>(shape, items, plain_add{}, 0.0, shape.begins, poisoned<double>(items.size()));
  std::vector<double> first;
  under_all_schedules([&](std::size_t) {
    for (const bool is_in_place : {false, true}) {
      device_vector<double> out(items);
      if (!is_in_place) out.poison();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tiny_scan(storage, bytes, is_in_place ? out.data() : in.data(), out.data(), offsets, shape.segments(),
                         strata::Sum{}, 0.0);
      }));
      if (first.empty()) first = out.to_host();
      ASSERT_SAME_ITEMS(first, out.to_host()) << is_in_place;
    }
  });
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], first[i], 1e-9) << i;
}

// Every second segment ends before it begins, and is empty.
TEST(device_segmented_scan, in_one_array_offsets_may_decrease) {
  for (const std::size_t count : sizes{1, 40, if_small<std::size_t>(1500, 5000)}) {
    std::mt19937_64 bits = strata_test::random_bits(count);
    std::vector<offset> offsets;
    auto next = static_cast<offset>(count * 20 + 2000);
    for (std::size_t i = 0; i < count; ++i) {
      const auto length = static_cast<offset>(i == count / 2 ? 1500 : bits() % 12);
      next -= length + static_cast<offset>(bits() % 3);
      offsets.push_back(next);
      offsets.push_back(next + length);
    }
    ASSERT_GE(next, 0);
    const segment_shape shape{"decreasing", {offsets.begin(), offsets.end() - 1}, {offsets.begin() + 1, offsets.end()}};
    const std::vector<string_hash> items = scan_items<string_hash>::make(shape.items());
    const device_vector<offset> all(offsets);
    device_vector<string_hash> data(items);
    const string_hash init = string_hash::of('^');
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tiny_scan(storage, bytes, static_cast<const string_hash*>(data.data()), data.data(), all, shape.segments(),
                       join{}, init);
    }));
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, join{}, init, shape.begins, items)), data.to_host()) << count;
  }
}

template <class Offset>
void expect_one_array(const segment_shape& shape) {
  const std::vector<offset> all = in_one_array(shape);
  const device_vector<Offset> offsets(std::vector<Offset>(all.begin(), all.end()));
  const std::vector<int> items = scan_items<int>::make(shape.items());
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::TunedDeviceSegmentedScan<tiny_tiles>::InclusiveSegmentedSum(
        storage, bytes, in.data(), out.data(), offsets.data(), offsets.data() + 1, static_cast<int>(all.size() - 1));
  }));
  ASSERT_SAME_ITEMS((scanned<true>(shape, items, plain_add{}, none{}, shape.begins, poisoned<int>(items.size()))),
                    out.to_host())
      << shape;
}

TEST(device_segmented_scan, in_one_array_of_any_offsets) {
  segment_shape shape = consecutive("some", long_and_short_lengths(2, 2500));
  for (offset& begin : shape.begins) begin += 13;  // The first segment need not begin with the first item.
  for (offset& end : shape.ends) end += 13;
  expect_one_array<std::int32_t>(shape);
  expect_one_array<std::uint32_t>(shape);
  expect_one_array<std::int64_t>(shape);
  expect_one_array<std::uint64_t>(shape);
  expect_one_array<std::int16_t>(shape);
  // Empty segments fill windows of offsets, several in a row, in the middle of a tile and at the end.
  std::vector<offset> lengths = {5, 90};
  lengths.insert(lengths.end(), 700, 0);
  lengths.insert(lengths.end(), {1, 2, 400});
  lengths.insert(lengths.end(), if_small<std::size_t>(2000, 9000), 0);
  expect_one_array<int>(consecutive("empty ones last", lengths));
  lengths.push_back(77);
  expect_one_array<int>(consecutive("empty ones", lengths));
}

// One offset, at any place, is smaller than the one before. With up to 6000 segments, each block checks all offsets.
// With more, blocks of an earlier launch check a slice each. They must find the place wherever it is.
TEST(device_segmented_scan, in_one_array_one_offset_may_decrease) {
  std::mt19937_64 bits = strata_test::random_bits(7);
  using count_and_place = std::pair<std::size_t, std::size_t>;
  for (const auto& [count, place] :
       {count_and_place{1200, 0}, {1200, 520}, {1200, 1199}, {6200, 0}, {6200, 1792}, {6200, 6199}}) {
    std::vector<offset> lengths(count);
    offset behind = 0;
    for (std::size_t s = 0; s < count; ++s) {
      lengths[s] = s == 700 ? 500 : static_cast<offset>(bits() % 3);  // the order of short ones alone would not matter
      if (s > place) behind += lengths[s];
    }
    std::vector<offset> offsets = {behind};
    for (std::size_t s = 0; s < count; ++s) offsets.push_back(s == place ? 0 : offsets.back() + lengths[s]);
    ASSERT_NO_FATAL_FAILURE(expect_one_array<std::int64_t>(
        {"one decreases", {offsets.begin(), offsets.end() - 1}, {offsets.begin() + 1, offsets.end()}}));
  }
}

TEST(device_segmented_scan, a_graph_may_be_replayed_with_other_segments) {
  const std::size_t count = 300;
  const std::size_t most = if_small<std::size_t>(30000, STRATA_HOST_SIMT ? 100000 : 300000);
  device_vector<int> in(most);
  device_vector<int> out(most);
  const std::vector<offset> unset(count);
  device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tiny_scan(storage, bytes, static_cast<const int*>(in.data()), out.data(), offsets,
                     static_cast<offset>(count), strata::Sum{}, 0, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(2u, recorded.nodes());
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(3);
  for (unsigned i = 0; i < if_small(8u, 24u); ++i) {
    std::vector<offset> lengths(count);
    if (i % 4 != 3) {
      for (offset& length : lengths) length = static_cast<offset>(bits() % (i % 4 == 0 ? 2 : 30));
    }
    if (i % 4 == 2) lengths[bits() % count] = static_cast<offset>(most - 20000);
    const segment_shape shape = scattered(consecutive("replay", lengths), i);
    ASSERT_LE(shape.items(), most);
    const std::vector<int> items = scan_items<int>::make(most, i);
    in.assign(items);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 0, shape.begins, poisoned<int>(most))), out.to_host())
        << "replay " << i;
  }
}

// With up to 6000 segments, each block checks the order of offsets itself. With more, an earlier launch does. A replay
// must check the offsets of that time.
TEST(device_segmented_scan, a_graph_may_be_replayed_with_other_segments_in_one_array) {
  for (const std::size_t count : sizes{300, 6200}) {
    const std::size_t most = 10 * count + if_small<std::size_t>(20000, STRATA_HOST_SIMT ? 60000 : 300000);
    device_vector<int> in(most);
    device_vector<int> out(most);
    device_vector<offset> offsets(std::vector<offset>(count + 1));
    const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
      return tiny_scan(storage, bytes, static_cast<const int*>(in.data()), out.data(), offsets,
                       static_cast<offset>(count), strata::Sum{}, 0, on);
    };
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(count > 6000 ? 2u : 1u, recorded.nodes());
    const stream on;
    std::mt19937_64 bits = strata_test::random_bits(3);
    for (unsigned i = 0; i < if_small(8u, 24u); ++i) {
      std::vector<offset> lengths(count);
      if (i % 4 != 3) {
        for (offset& length : lengths) length = static_cast<offset>(bits() % (i % 4 == 0 ? 2 : 10));
      }
      if (i % 4 == 2) lengths[bits() % count] = static_cast<offset>(most - 10 * count);
      const segment_shape shape = consecutive("replay", lengths);
      ASSERT_LE(shape.items(), most);
      const std::vector<int> items = scan_items<int>::make(most, i);
      in.assign(items);
      offsets.assign(in_one_array(shape));
      out.poison();
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 0, shape.begins, poisoned<int>(most))),
                        out.to_host())
          << "replay " << i;
    }
  }
}

// A replay must not mistake what the previous one left for its own: sums of chunks and, in place, owners of inputs.
TEST(device_segmented_scan, a_graph_in_one_array_may_be_replayed_under_any_schedule) {
  const std::size_t most = if_small<std::size_t>(4000, STRATA_HOST_SIMT ? 20000 : 100000);
  const std::size_t count = 40;
  for (const bool is_in_place : {false, true}) {
    device_vector<int> in(most);
    device_vector<int> out(most);
    device_vector<offset> offsets(std::vector<offset>(count + 1));
    const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
      return tiny_scan(storage, bytes, static_cast<const int*>(is_in_place ? out.data() : in.data()), out.data(),
                       offsets, static_cast<offset>(count), strata::Sum{}, 7, on);
    };
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    std::mt19937_64 bits = strata_test::random_bits(6);
    under_all_schedules([&](std::size_t i) {
      std::vector<offset> lengths(count);
      for (offset& length : lengths) length = static_cast<offset>(bits() % 30);
      // One segment has most chunks. Each fifth time there is no such segment, and warps scan all segments.
      if (i % 5 != 4) lengths[bits() % count] = static_cast<offset>(most - 30 * count);
      const segment_shape shape = consecutive("replay", lengths);
      ASSERT_LE(shape.items(), most);
      const std::vector<int> items = scan_items<int>::make(most, i);
      offsets.assign(in_one_array(shape));
      in.assign(items);
      out.assign(items);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 7, shape.begins, items)), out.to_host())
          << "replay " << i << (is_in_place ? ", in place" : "");
    });
  }
}

}  // namespace

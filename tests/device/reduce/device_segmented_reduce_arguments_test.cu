// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedReduce: storage, counts, pointers, errors, graphs, schedules.
#include <strata/device/device_segmented_reduce.cuh>

#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/segment_shapes.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedReduce;

using offset = std::int64_t;

cudaError_t sum_by_offsets(void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t segments,
                           const offset* begins, const offset* ends, cudaStream_t on = nullptr) {
  return DeviceSegmentedReduce::Sum(storage, bytes, in, out, segments, begins, ends, on);
}
cudaError_t sum_by_size(void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t segments,
                        std::int64_t size, cudaStream_t on = nullptr) {
  return DeviceSegmentedReduce::Sum(storage, bytes, in, out, segments, size, on);
}

std::size_t bytes_by_offsets(std::int64_t segments) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(sum_by_offsets(nullptr, bytes, nullptr, nullptr, segments, nullptr, nullptr));
  return bytes;
}
std::size_t bytes_by_size(std::int64_t segments, std::int64_t size) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(sum_by_size(nullptr, bytes, nullptr, nullptr, segments, size));
  return bytes;
}

// Expects that `call(stream)` is refused, launches nothing and leaves no error behind.
template <class Call>
void expect_refused(const Call& call) {
  const graph recorded([&](cudaStream_t on) { return call(on); });
  EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
  EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
  EXPECT_EQ(cudaErrorInvalidValue, call(nullptr));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
}

// Segments of 0, 1, 2, ..., 38 and 700 items, over and over. Tests take few segments, for one launch, and many.
struct problem {
  explicit problem(int segments)
      : shape(make_shape(segments)),
        items(random_integers<int>(shape.items(), -100, 100)),
        in(items),
        out(shape.begins.size()),
        begins(shape.begins),
        ends(shape.ends) {}

  static segment_shape make_shape(int segments) {
    std::vector<std::int64_t> lengths;
    for (int s = 0; s < segments; ++s) lengths.push_back(s % 40 == 39 ? 700 : s % 40);
    return consecutive("", lengths);
  }
  std::vector<int> expected() const {
    std::vector<int> sums;
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      sums.push_back(std::accumulate(items.begin() + shape.begins[s], items.begin() + shape.ends[s], 0));
    }
    return sums;
  }
  bool is_untouched() const {
    const std::vector<int> now = out.to_host();
    return std::all_of(now.begin(), now.end(), strata_test::is_poison<int>);
  }
  std::int64_t count() const { return shape.segments(); }

  segment_shape shape;
  std::vector<int> items;
  device_vector<int> in;
  device_vector<int> out;
  device_vector<offset> begins;
  device_vector<offset> ends;
};

TEST(device_segmented_reduce_arguments, size_is_never_0_and_never_shrinks) {
  std::size_t by_offsets = 1;
  std::size_t by_size = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    EXPECT_GE(bytes_by_offsets(n), by_offsets) << n;
    by_offsets = bytes_by_offsets(n);
    if (n > std::numeric_limits<std::int64_t>::max() / 100) continue;
    EXPECT_GE(bytes_by_size(n, 100), by_size) << n;
    by_size = bytes_by_size(n, 100);
  }
}

TEST(device_segmented_reduce_arguments, refuses_storage_that_is_too_small) {
  for (const int segments : {10, 5000}) {
    problem p(segments);
    const std::size_t needed = bytes_by_offsets(segments);
    for (const std::size_t bytes : sizes{needed - 1, needed / 2, std::size_t{1}, std::size_t{0}}) {
      const scratch storage(needed);
      const auto before = storage.read();
      std::size_t given = bytes;
      expect_refused([&](cudaStream_t on) {
        return sum_by_offsets(storage.data(), given, p.in.data(), p.out.data(), p.count(), p.begins.data(),
                              p.ends.data(), on);
      });
      EXPECT_EQ(before, storage.read());
    }
    EXPECT_TRUE(p.is_untouched());
  }
}

TEST(device_segmented_reduce_arguments, refuses_bad_counts_sizes_and_pointers) {
  for (const int segments : {10, 5000}) {
    problem p(segments);
    std::size_t bytes = bytes_by_offsets(segments);
    const scratch storage(bytes);
    const auto by_offsets = [&](const int* in, int* out, std::int64_t n, const offset* begins, const offset* ends) {
      expect_refused(
          [&](cudaStream_t on) { return sum_by_offsets(storage.data(), bytes, in, out, n, begins, ends, on); });
    };
    by_offsets(p.in.data(), p.out.data(), -1, p.begins.data(), p.ends.data());
    by_offsets(p.in.data(), p.out.data(), std::numeric_limits<std::int64_t>::lowest(), p.begins.data(), p.ends.data());
    by_offsets(p.in.data(), nullptr, p.count(), p.begins.data(), p.ends.data());
    by_offsets(nullptr, p.out.data(), p.count(), p.begins.data(), p.ends.data());
    by_offsets(p.out.data(), p.out.data(), p.count(), p.begins.data(), p.ends.data());
    const offset* const over_out = reinterpret_cast<const offset*>(p.out.data()) + 1;
    by_offsets(p.in.data(), p.out.data(), p.count(), over_out, p.ends.data());
    by_offsets(p.in.data(), p.out.data(), p.count(), p.begins.data(), over_out);
    by_offsets(p.in.data(), p.out.data(), p.count(), nullptr, p.ends.data());
    by_offsets(p.in.data(), p.out.data(), p.count(), p.begins.data(), nullptr);
    const auto by_size = [&](const int* in, int* out, std::int64_t n, std::int64_t size) {
      expect_refused([&](cudaStream_t on) { return sum_by_size(storage.data(), bytes, in, out, n, size, on); });
    };
    by_size(p.in.data(), p.out.data(), -1, 3);
    by_size(p.in.data(), p.out.data(), p.count(), -1);
    by_size(p.in.data(), nullptr, p.count(), 1);
    by_size(nullptr, p.out.data(), p.count(), 1);
    by_size(p.out.data(), p.out.data(), p.count(), 1);
    by_size(p.out.data() + p.count() - 1, p.out.data(), p.count(), 1);
    by_size(p.in.data(), p.out.data(), p.count(), std::numeric_limits<std::int64_t>::max() / p.count() + 1);
    EXPECT_TRUE(p.is_untouched());
    EXPECT_EQ(cudaErrorInvalidValue,
              DeviceSegmentedReduce::Sum(p.in.data(), p.out.data(), -1, p.begins.data(), p.ends.data()));
    EXPECT_EQ(cudaErrorInvalidValue, DeviceSegmentedReduce::Sum(p.in.data(), p.out.data(), p.count(), -5));
    EXPECT_TRUE(p.is_untouched());
  }
}

TEST(device_segmented_reduce_arguments, no_segments_need_no_pointers_and_no_launch) {
  std::size_t bytes = bytes_by_offsets(0);
  const scratch storage(bytes);
  const graph recorded([&](cudaStream_t on) {
    const cudaError_t status = sum_by_offsets(storage.data(), bytes, nullptr, nullptr, 0, nullptr, nullptr, on);
    return status != cudaSuccess ? status : sum_by_size(storage.data(), bytes, nullptr, nullptr, 0, 7, on);
  });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
}

TEST(device_segmented_reduce_arguments, segments_of_size_0_need_no_input) {
  for (const std::size_t segments : sizes{5, 500, 5000}) {
    const auto n = static_cast<std::int64_t>(segments);
    device_vector<int> out(segments);
    EXPECT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return sum_by_size(storage, bytes, nullptr, out.data(), n, 0); }));
    EXPECT_EQ(std::vector<int>(segments, 0), out.to_host());
  }
}

TEST(device_segmented_reduce_arguments, storage_may_have_any_alignment_and_contents) {
  for (const int segments : {10, 5000}) {
    problem p(segments);
    for (const std::size_t misalignment : sizes{1, 4, 8, 16, 128, 255}) {
      for (const contents garbage : all_contents) {
        p.out.poison();
        EXPECT_CUDA_SUCCESS(in_two_phases(
            [&](void* storage, std::size_t& bytes) {
              return sum_by_offsets(storage, bytes, p.in.data(), p.out.data(), p.count(), p.begins.data(),
                                    p.ends.data());
            },
            garbage, misalignment));
        EXPECT_EQ(p.expected(), p.out.to_host()) << misalignment;
      }
    }
  }
}

TEST(device_segmented_reduce_arguments, an_older_error_is_neither_returned_nor_cleared) {
  for (const int segments : {10, 5000}) {
    problem p(segments);
    std::size_t bytes = bytes_by_offsets(segments);
    const scratch storage(bytes);
    ASSERT_EQ(cudaErrorInvalidDevice, cudaSetDevice(9999));
    EXPECT_CUDA_SUCCESS(
        sum_by_offsets(storage.data(), bytes, p.in.data(), p.out.data(), p.count(), p.begins.data(), p.ends.data()));
    EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
    EXPECT_CUDA_SUCCESS(cudaGetLastError());
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(p.expected(), p.out.to_host());
  }
}

// ------------------------------------------------------------------ graphs and schedules

// The device reads the offsets, so each replay reduces the segments that the offsets describe at that time.
TEST(device_segmented_reduce_arguments, a_graph_may_be_replayed_on_other_segments) {
  const std::int64_t most = if_small(20000, 100000);
  const std::vector<int> items = random_integers<int>(static_cast<std::size_t>(most), -100, 100);
  const device_vector<int> in(items);
  for (const std::size_t segments : sizes{3, 300, 5000}) {
    const auto n = static_cast<std::int64_t>(segments);
    device_vector<int> out(segments);
    device_vector<offset> offsets(std::vector<offset>(segments + 1, 0));
    std::size_t bytes = bytes_by_offsets(n);
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t recorder) {
      return sum_by_offsets(storage.data(), bytes, in.data(), out.data(), n, offsets.data(), offsets.data() + 1,
                            recorder);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_GT(recorded.nodes(), 0u);
    const stream on;
    for (int round = 0; round < if_small(10, segments < 1000 ? 100 : 20); ++round) {
      // Segments are cut anywhere. In most rounds the last one gets nearly all items, and several blocks share it. A
      // replay finds in the storage what the previous one left.
      const std::int64_t last_cut = round % 4 != 3 ? most / 50 : most;
      auto cuts = random_integers<offset>(segments + 1, 0, last_cut, static_cast<std::uint64_t>(round));
      std::sort(cuts.begin(), cuts.end());
      cuts.back() = most;
      offsets.assign(cuts);
      if (round % 8 == 5) storage.fill(all_contents[round / 8 % 3]);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      std::vector<int> expected;
      for (std::size_t s = 0; s < segments; ++s) {
        expected.push_back(std::accumulate(items.begin() + cuts[s], items.begin() + cuts[s + 1], 0));
      }
      ASSERT_EQ(expected, out.to_host()) << "replay " << round;
    }
  }
}

TEST(device_segmented_reduce_arguments, each_result_is_written_once_under_every_schedule) {
  std::vector<std::int64_t> few = {5, 300, 20000, 0, if_small(70000, 150000)};
  std::vector<std::int64_t> many(5000, 3);
  many[17] = if_small(70000, 150000);
  many[18] = 20000;
  for (const auto& lengths : {few, many}) {
    const segment_shape shape = consecutive("", lengths);
    const device_vector<int> in(std::vector<int>(shape.items(), 1));
    const device_vector<offset> begins(shape.begins);
    const device_vector<offset> ends(shape.ends);
    device_vector<int> out(lengths.size());
    device_vector<unsigned> written(std::vector<unsigned>(lengths.size(), 0u));
    const counted_output<int> counted(out.data(), written.data());
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      return DeviceSegmentedReduce::Sum(storage, bytes, in.data(), counted, shape.segments(), begins.data(),
                                        ends.data());
    };
    ASSERT_CUDA_SUCCESS(call(nullptr));
    const scratch storage(bytes);
    under_all_schedules([&](std::size_t) { ASSERT_CUDA_SUCCESS(call(storage.data())); });
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(std::vector<unsigned>(lengths.size(), static_cast<unsigned>(schedules())), written.to_host());
  }
}

TEST(device_segmented_reduce_arguments, sums_have_the_same_bits_under_every_schedule) {
  std::vector<std::int64_t> few = {5, 300, if_small(9000, 70000), 0, 20000};
  std::vector<std::int64_t> many(if_small<std::size_t>(200, 1000), 7);
  many[3] = if_small(66000, 200000);
  many[5] = 9000;
  many[170] = 300;
  many[171] = 70000;
  std::vector<std::int64_t> very_many = many;
  very_many.resize(5000, 3);
  for (const auto& lengths : {few, many, very_many}) {
    const segment_shape shape = consecutive("", lengths);
    const std::vector<float> items = random_reals<float>(shape.items(), -1.0, 1.0);
    const device_vector<float> in(items);
    const device_vector<offset> begins(shape.begins);
    const device_vector<offset> ends(shape.ends);
    const std::size_t segments = lengths.size();
    device_vector<float> out(segments);
    const stream on;
    const auto call = [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedReduce::Sum(storage, bytes, in.data(), out.data(), shape.segments(), begins.data(),
                                        ends.data(), static_cast<cudaStream_t>(on));
    };
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(call(nullptr, bytes));
    const scratch storage(bytes);
    std::vector<float> first;
    under_all_schedules([&](std::size_t repeat) {
      if (repeat % 10 == 0) storage.fill(contents::random);
      out.poison();
      ASSERT_CUDA_SUCCESS(call(storage.data(), bytes));
      on.synchronize();
      const std::vector<float> results = out.to_host();
      if (repeat == 0) first = results;
      ASSERT_EQ(0, std::memcmp(first.data(), results.data(), segments * sizeof(float))) << repeat;
    });
    for (std::size_t s = 0; s < segments; ++s) {
      const double sum = std::accumulate(items.begin() + shape.begins[s], items.begin() + shape.ends[s], 0.0);
      EXPECT_NEAR(sum, static_cast<double>(first[s]), 1e-6 * static_cast<double>(lengths[s] + 1));
    }
  }
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceReduce in streams and graphs, concurrently and repeatedly: its result depends on nothing but its input.
#include <strata/device/device_reduce.cuh>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

// Enough for several blocks; one block takes 32 KiB.
const std::size_t several_blocks = if_small<std::size_t>(12000, 60000);

template <class In, class Out>
std::size_t sum_bytes(const In* in, Out* out, std::size_t n) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceReduce::Sum(nullptr, bytes, in, out, n));
  return bytes;
}

void sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

TEST(device_reduce_streams, calls_wait_for_earlier_work_of_their_stream) {
  device_vector<unsigned> in(std::vector<unsigned>(several_blocks, 0u));
  device_vector<unsigned> out(1);
  const stream on;
  std::size_t bytes = sum_bytes(in.data(), out.data(), several_blocks);
  const scratch storage(bytes);
  ASSERT_CUDA_SUCCESS(cudaLaunchHostFunc(on, sleep_a_while, nullptr));
  ASSERT_CUDA_SUCCESS(cudaMemsetAsync(in.data(), 1, several_blocks * sizeof(unsigned), on));
  ASSERT_CUDA_SUCCESS(
      DeviceReduce::Sum(storage.data(), bytes, in.data(), out.data(), several_blocks, static_cast<cudaStream_t>(on)));
  on.synchronize();
  EXPECT_EQ(static_cast<unsigned>(several_blocks) * 0x01010101u, out.to_host()[0]);
}

// Each call reads what the previous call wrote, in the same temporary storage, and the host waits for none of them. The
// result is wrong if a call starts too early, or mistakes words of the previous call for its own.
TEST(device_reduce_streams, calls_may_follow_each_other_on_the_same_storage) {
  const unsigned calls = if_small(50u, 1000u);
  for (const std::size_t size : sizes{std::size_t{1000}, several_blocks}) {
    const std::vector<unsigned> items = random_integers<unsigned>(size, 0, 1000);
    device_vector<unsigned> in(items);
    std::size_t bytes = sum_bytes(in.data(), in.data(), size);
    const scratch storage(bytes);
    const stream on;
    for (unsigned i = 0; i < calls; ++i) {
      ASSERT_CUDA_SUCCESS(
          DeviceReduce::Sum(storage.data(), bytes, in.data(), in.data(), size, static_cast<cudaStream_t>(on)));
    }
    on.synchronize();
    const unsigned others = std::accumulate(items.begin() + 1, items.end(), 0u);
    EXPECT_EQ(items[0] + calls * others, in.to_host()[0]);
  }
}

struct append_bytes {
  struct value {
    std::uint64_t factor;
    std::uint64_t hash;
    std::uint64_t count;
  };
  STRATA_HD value operator()(const value& a, const value& b) const {
    return {a.factor * b.factor, a.hash * b.factor + b.hash, a.count + b.count};
  }
};
struct one_byte {
  STRATA_HD append_bytes::value operator()(std::uint8_t x) const { return {257, x, 1}; }
};

// Reductions with partial results of 4, 8, 16 and 24 bytes take turns in the same storage. Each finds there what the
// others left.
TEST(device_reduce_streams, storage_may_hold_leftovers_of_other_calls) {
  const std::size_t size = 4 * several_blocks;
  const std::vector<std::uint8_t> bytes_in = random_integers<std::uint8_t>(size, 0, 255);
  const device_vector<std::uint8_t> in(bytes_in);
  append_bytes::value hash{1, 0, 0};
  std::int64_t sum = 0;
  for (const std::uint8_t byte : bytes_in) {
    hash = append_bytes{}(hash, one_byte{}(byte));
    sum += byte;
  }
  device_vector<append_bytes::value> hash_out(1);
  device_vector<std::int64_t> sum_out(1);
  device_vector<std::int32_t> word_out(1);
  device_vector<std::uint8_t> value_out(1);
  device_vector<std::int64_t> index_out(1);
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  std::size_t most = 0;
  const auto all = [&](void* storage, std::size_t available, std::size_t n) {
    const auto call = [&](const auto& issue) {
      std::size_t bytes = available;
      ASSERT_CUDA_SUCCESS(issue(bytes));
      most = std::max(most, bytes);
    };
    call([&](std::size_t& bytes) {
      return DeviceReduce::TransformReduce(storage, bytes, in.data(), hash_out.data(), n, append_bytes{}, one_byte{},
                                           append_bytes::value{1, 0, 0}, where);
    });
    call([&](std::size_t& bytes) { return DeviceReduce::Sum(storage, bytes, in.data(), sum_out.data(), n, where); });
    call([&](std::size_t& bytes) { return DeviceReduce::Sum(storage, bytes, in.data(), word_out.data(), n, where); });
    call([&](std::size_t& bytes) {
      return DeviceReduce::ArgMax(storage, bytes, in.data(), value_out.data(), index_out.data(), n, where);
    });
  };
  all(nullptr, 0, size);
  const scratch storage(most);
  const auto greatest = std::max_element(bytes_in.begin(), bytes_in.end());
  for (int round = 0; round < if_small(4, 20); ++round) {
    all(storage.data(), most, size - static_cast<std::size_t>(round) * 1000);
    all(storage.data(), most, size);
    on.synchronize();
    ASSERT_EQ(hash.hash, hash_out.to_host()[0].hash) << round;
    ASSERT_EQ(size, hash_out.to_host()[0].count) << round;
    ASSERT_EQ(sum, sum_out.to_host()[0]) << round;
    ASSERT_EQ(sum, word_out.to_host()[0]) << round;
    ASSERT_EQ(greatest - bytes_in.begin(), static_cast<std::ptrdiff_t>(index_out.to_host()[0])) << round;
    ASSERT_EQ(*greatest, value_out.to_host()[0]) << round;
  }
}

// ------------------------------------------------------------------ graphs

// Each replay gets new input. Before it, the storage may be filled with garbage, or be used by another call.
TEST(device_reduce_streams, a_graph_may_be_replayed) {
  for (const std::size_t size : sizes{std::size_t{0}, std::size_t{1}, std::size_t{3000}, several_blocks}) {
    device_vector<int> in(std::vector<int>(size + 1, 0));
    device_vector<int> out(1);
    device_vector<int> other_out(1);
    std::size_t bytes = sum_bytes(in.data(), out.data(), size);
    const scratch storage(bytes);
    const stream on;
    graph recorded([&](cudaStream_t recorder) {
      return DeviceReduce::Sum(storage.data(), bytes, in.data(), out.data(), size, recorder);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes()) << "one launch at every size";
    EXPECT_NE(0, std::memcmp("\0\0\0\0", out.to_host().data(), 4)) << "recording executed the call";
    for (int round = 0; round < if_small(20, 100); ++round) {
      const auto items = random_integers<int>(size, -1000, 1000, static_cast<std::uint64_t>(round));
      ASSERT_CUDA_SUCCESS(cudaMemcpyAsync(in.data(), items.data(), size * sizeof(int), cudaMemcpyHostToDevice, on));
      if (round % 4 == 1) {
        storage.fill(all_contents[round / 4 % 3]);
      } else if (round % 4 == 2) {
        ASSERT_CUDA_SUCCESS(DeviceReduce::Max(storage.data(), bytes, in.data(), other_out.data(), size / 2,
                                              static_cast<cudaStream_t>(on)));
      }
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      if (round % 4 == 3) {
        ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      }
      on.synchronize();
      ASSERT_EQ(std::accumulate(items.begin(), items.end(), 0), out.to_host()[0])
          << "replay " << round << " of " << size;
    }
    storage.expect_guards_intact();
  }
}

// Several calls of one graph share storage, and each depends on the call before.
TEST(device_reduce_streams, a_graph_may_hold_many_calls) {
  const std::size_t size = several_blocks;
  const std::vector<unsigned> items = random_integers<unsigned>(size, 0, 1000);
  device_vector<unsigned> in(items);
  std::size_t bytes = sum_bytes(in.data(), in.data(), size);
  const scratch storage(bytes);
  constexpr unsigned calls = 10;
  graph recorded([&](cudaStream_t recorder) {
    cudaError_t status = cudaSuccess;
    for (unsigned i = 0; i < calls && status == cudaSuccess; ++i) {
      status = DeviceReduce::Sum(storage.data(), bytes, in.data(), in.data(), size, recorder);
    }
    return status;
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(calls, recorded.nodes());
  const stream on;
  const unsigned replays = if_small(2u, 20u);
  for (unsigned i = 0; i < replays; ++i) ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  const unsigned others = std::accumulate(items.begin() + 1, items.end(), 0u);
  EXPECT_EQ(items[0] + replays * calls * others, in.to_host()[0]);
}

// ------------------------------------------------------------------ side by side

TEST(device_reduce_streams, two_streams_do_not_disturb_each_other) {
  struct lane {
    explicit lane(std::size_t size, std::uint64_t which)
        : items(random_integers<std::int64_t>(size, -1000, 1000, which)),
          in(items),
          out(calls()),
          bytes(sum_bytes(in.data(), out.data(), size)),
          storage(bytes) {}
    static std::size_t calls() { return if_small<std::size_t>(20, 300); }
    std::vector<std::int64_t> items;
    device_vector<std::int64_t> in;
    device_vector<std::int64_t> out;
    std::size_t bytes;
    scratch storage;
    stream on;
  };
  lane lanes[2] = {lane(several_blocks, 1), lane(several_blocks / 2 + 7, 2)};
  for (std::size_t i = 0; i < lane::calls(); ++i) {
    for (lane& l : lanes) {
      ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(l.storage.data(), l.bytes, l.in.data(), l.out.data() + i,
                                            l.items.size() - i, static_cast<cudaStream_t>(l.on)));
    }
  }
  for (lane& l : lanes) {
    l.on.synchronize();
    const auto results = l.out.to_host();
    std::int64_t sum = std::accumulate(l.items.begin(), l.items.end(), std::int64_t{0});
    for (std::size_t i = 0; i < lane::calls(); ++i) {
      ASSERT_EQ(sum, results[i]) << i;
      sum -= l.items[l.items.size() - 1 - i];
    }
  }
}

#if !STRATA_HOST_SIMT
TEST(device_reduce_streams, host_threads_do_not_disturb_each_other) {
  constexpr int size = 300000;
  const std::vector<int> items = random_integers<int>(size, -1000, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(8 * 200);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const stream on;
      for (int i = 0; i < 200; ++i) {
        EXPECT_CUDA_SUCCESS(
            DeviceReduce::Sum(in.data(), out.data() + t * 200 + i, size - t, static_cast<cudaStream_t>(on)));
      }
      on.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<int> results = out.to_host();
  for (int t = 0; t < 8; ++t) {
    const int sum = std::accumulate(items.begin(), items.end() - t, 0);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(sum, results[static_cast<std::size_t>(t * 200 + i)]);
  }
}

TEST(device_reduce_streams, calls_without_storage_may_be_captured) {
  const std::vector<int> items = random_integers<int>(300000, -1000, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(1);
  graph recorded(
      [&](cudaStream_t recorder) { return DeviceReduce::Sum(in.data(), out.data(), items.size(), recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), out.to_host()[0]);
}
#endif

// ------------------------------------------------------------------ determinism

// The last bits of nearly all sums of these numbers depend on the order of additions.
template <class T>
std::vector<T> rounded(std::size_t count) {
  std::vector<T> items = random_reals<T>(count, -1.0, 1.0);
  for (std::size_t i = 0; i < count; i += 5) items[i] *= T{1000};
  return items;
}

template <class T>
class DeviceReduceDeterminism : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceReduceDeterminism, real_types);

TYPED_TEST(DeviceReduceDeterminism, sums_have_the_same_bits_under_every_schedule) {
  using T = TypeParam;
  for (const std::size_t size : sizes{std::size_t{3000}, several_blocks, large_for_schedules()}) {
    const std::vector<T> items = rounded<T>(size);
    const device_vector<T> in(items);
    const std::size_t repeats = schedules();
    device_vector<T> out(repeats);
    std::size_t bytes = sum_bytes(in.data(), out.data(), size);
    const scratch storage(bytes);
    const stream on;
    under_all_schedules([&](std::size_t repeat) {
      if (repeat % 50 == 0) {
        on.synchronize();
        storage.fill(contents::random);
      }
      ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(storage.data(), bytes, in.data(), out.data() + repeat, size,
                                            static_cast<cudaStream_t>(on)));
    });
    on.synchronize();
    const std::vector<T> results = out.to_host();
    for (std::size_t i = 1; i < repeats; ++i) {
      ASSERT_EQ(0, std::memcmp(&results[0], &results[i], sizeof(T)))
          << "repeat " << i << " of " << size << ": " << results[i] << " is not " << results[0];
    }
  }
}

// Several blocks may find that all others have finished, but only one may write the result.
TEST(device_reduce_streams, the_result_is_written_once_under_every_schedule) {
  const std::vector<int> items = random_integers<int>(several_blocks, -1000, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(1);
  device_vector<unsigned> written(std::vector<unsigned>(1, 0u));
  const counted_output<int> counted(out.data(), written.data());
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(nullptr, bytes, in.data(), counted, items.size()));
  const scratch storage(bytes);
  under_all_schedules([&](std::size_t) {
    ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(storage.data(), bytes, in.data(), counted, items.size()));
  });
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(schedules(), written.to_host()[0]);
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), out.to_host()[0]);
}

// Results of 24 bytes travel between blocks in several pieces. A block must not combine pieces of different results.
TEST(device_reduce_streams, results_of_24_bytes_are_right_under_every_schedule) {
  const std::size_t size = 4 * several_blocks;
  const std::vector<std::uint8_t> items = random_integers<std::uint8_t>(size, 0, 255);
  const device_vector<std::uint8_t> in(items);
  append_bytes::value expected{1, 0, 0};
  for (const std::uint8_t item : items) expected = append_bytes{}(expected, one_byte{}(item));
  const std::size_t repeats = schedules();
  device_vector<append_bytes::value> out(repeats);
  const stream on;
  std::size_t bytes = 0;
  const auto call = [&](void* storage, append_bytes::value* to) {
    return DeviceReduce::TransformReduce(storage, bytes, in.data(), to, size, append_bytes{}, one_byte{},
                                         append_bytes::value{1, 0, 0}, static_cast<cudaStream_t>(on));
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, out.data()));
  const scratch storage(bytes);
  under_all_schedules([&](std::size_t repeat) { ASSERT_CUDA_SUCCESS(call(storage.data(), out.data() + repeat)); });
  on.synchronize();
  const auto results = out.to_host();
  for (std::size_t i = 0; i < repeats; ++i) {
    ASSERT_EQ(expected.hash, results[i].hash) << i;
    ASSERT_EQ(expected.factor, results[i].factor) << i;
    ASSERT_EQ(size, results[i].count) << i;
  }
}

}  // namespace

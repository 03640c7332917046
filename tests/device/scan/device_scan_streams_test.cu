// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceScan in streams and graphs, concurrently and repeatedly: its result depends on nothing but its input.
#include <strata/device/device_scan.cuh>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/scan/device_scan_tuned.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;
using strata::NullType;
using strata_test::join;
using strata_test::plain_sum;
using strata_test::string_hash;

// Enough for several blocks.
const std::size_t several_blocks = if_small<std::size_t>(12000, 60000);

template <class T>
std::size_t sum_bytes(const T* in, T* out, std::size_t n) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));
  return bytes;
}

void sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

TEST(device_scan_streams, calls_wait_for_earlier_work_of_their_stream) {
  device_vector<unsigned> data(std::vector<unsigned>(several_blocks, 0u));
  const stream on;
  std::size_t bytes = sum_bytes(data.data(), data.data(), several_blocks);
  const scratch storage(bytes);
  ASSERT_CUDA_SUCCESS(cudaLaunchHostFunc(on, sleep_a_while, nullptr));
  ASSERT_CUDA_SUCCESS(cudaMemsetAsync(data.data(), 1, several_blocks * sizeof(unsigned), on));
  ASSERT_CUDA_SUCCESS(
      DeviceScan::InclusiveSum(storage.data(), bytes, data.data(), several_blocks, static_cast<cudaStream_t>(on)));
  on.synchronize();
  const std::vector<unsigned> items(several_blocks, 0x01010101u);
  EXPECT_SAME_ITEMS(inclusive_scan<unsigned>(items.data(), items.size(), plain_sum{}), data.to_host());
}

// Each call reads what the previous call wrote, in the same temporary storage, and the host waits for none of them. The
// result is wrong if a call starts too early, or mistakes words of the previous call for its own.
TEST(device_scan_streams, calls_may_follow_each_other_on_the_same_storage) {
  const unsigned calls = if_small(20u, 300u);
  for (const std::size_t size : sizes{std::size_t{1000}, several_blocks}) {
    std::vector<unsigned> items = random_integers<unsigned>(size, 0, 1000);
    device_vector<unsigned> data(items);
    std::size_t bytes = sum_bytes(data.data(), data.data(), size);
    const scratch storage(bytes);
    const stream on;
    for (unsigned i = 0; i < calls; ++i) {
      ASSERT_CUDA_SUCCESS(
          DeviceScan::InclusiveSum(storage.data(), bytes, data.data(), size, static_cast<cudaStream_t>(on)));
      items = inclusive_scan<unsigned>(items.data(), size, plain_sum{});
    }
    on.synchronize();
    EXPECT_SAME_ITEMS(items, data.to_host());
  }
}

// ------------------------------------------------------------------ one storage, many shapes

// With these hubs, blocks have several tiles from some ten thousand items on.
using pipeline = pipeline_hub<64, 1, 3, 2>;
using tiles = tiles_hub<32, 4>;

std::size_t blocks_at_a_time(std::size_t block_threads) {
  strata::detail::device_properties device;
  EXPECT_CUDA_SUCCESS(strata::detail::current_device_properties(device));
  const std::size_t blocks = static_cast<std::size_t>(device.multiprocessors) * (2048 / block_threads);
  return std::min(blocks, strata::detail::max_scan_blocks);
}
// On the host back end, rounds of a device with many multiprocessors take minutes.
bool has_long_rounds() { return STRATA_HOST_SIMT && blocks_at_a_time(160) > 100; }
// Number of items that take at least `rounds` rounds in a scan of ints by `pipeline`. Calls of up to 16 rounds erase
// their epochs.
std::size_t rounds_of_the_pipeline(std::size_t rounds) { return rounds * 256 * blocks_at_a_time(160); }

template <class Hub, class T, class Op>
cudaError_t inclusive(void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n, Op op, cudaStream_t on) {
  return tuned_scan<Hub, true>(storage, bytes, in, out, n, op, NullType{}, on);
}

// Scans of any size, with sums of 4 and of 16 bytes, take turns in the same storage. Each finds there what the others
// left.
TEST(device_scan_streams, storage_may_hold_leftovers_of_other_calls) {
  const std::size_t most = rounds_of_the_pipeline(is_small() || has_long_rounds() ? 3 : 18);
  const std::vector<int> ints = scan_items<int>::make(most);
  const std::vector<string_hash> hashes = scan_items<string_hash>::make(several_blocks);
  const device_vector<int> int_in(ints);
  const device_vector<string_hash> hash_in(hashes);
  const std::vector<int> int_sums = inclusive_scan<int>(ints.data(), most, plain_sum{});
  const std::vector<string_hash> hash_sums = inclusive_scan<string_hash>(hashes.data(), hashes.size(), join{});
  std::size_t bytes = 0;
  std::size_t hash_bytes = 0;
  const stream on;
  ASSERT_CUDA_SUCCESS(inclusive<pipeline, int>(nullptr, bytes, nullptr, nullptr, most, strata::Sum{}, on));
  ASSERT_CUDA_SUCCESS(inclusive<tiles, string_hash>(nullptr, hash_bytes, nullptr, nullptr, hashes.size(), join{}, on));
  std::size_t available = std::max(bytes, hash_bytes);
  const scratch storage(available);
  std::mt19937_64 bits = strata_test::random_bits(5);
  for (int i = 0; i < if_small(8, 40); ++i) {
    const std::size_t size = i % 4 == 0 ? most : 1 + bits() % (i % 4 == 1 ? 1000 : most);
    const std::size_t hash_size = 1 + bits() % hashes.size();
    device_vector<int> int_out(size);
    device_vector<string_hash> hash_out(hash_size);
    ASSERT_CUDA_SUCCESS(
        inclusive<pipeline>(storage.data(), available, int_in.data(), int_out.data(), size, strata::Sum{}, on));
    ASSERT_CUDA_SUCCESS(
        inclusive<tiles>(storage.data(), available, hash_in.data(), hash_out.data(), hash_size, join{}, on));
    on.synchronize();
    ASSERT_SAME_ITEMS(std::vector<int>(int_sums.begin(), int_sums.begin() + static_cast<std::ptrdiff_t>(size)),
                      int_out.to_host());
    ASSERT_SAME_ITEMS(
        std::vector<string_hash>(hash_sums.begin(), hash_sums.begin() + static_cast<std::ptrdiff_t>(hash_size)),
        hash_out.to_host());
  }
}

// ------------------------------------------------------------------ graphs

// Each replay gets new input. Before it, the storage may be used by another call, be filled with garbage, or get what
// it held after an earlier replay or call.
template <class T, class Call, class Op>
void expect_replays(std::size_t size, const Call& call, Op op, int replays) {
  SCOPED_TRACE(size);
  device_vector<T> in(std::vector<T>(size + 1, T{}));
  device_vector<T> out(size);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, in.data(), out.data(), size, nullptr));
  const scratch storage(bytes);
  const stream on;
  graph recorded(
      [&](cudaStream_t recorder) { return call(storage.data(), bytes, in.data(), out.data(), size, recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(size > 0 ? 1u : 0u, recorded.nodes()) << "one launch at every size";
  std::vector<unsigned char> earlier = storage.read();
  std::vector<unsigned char> other = earlier;
  for (int i = 0; i < replays; ++i) {
    const std::vector<T> items = scan_items<T>::make(size + 1, static_cast<std::uint64_t>(i));
    in.assign(items);
    switch (i % 6) {
      case 1:
        storage.fill(all_contents[i / 6 % 3]);
        break;
      case 2: {
        ASSERT_CUDA_SUCCESS(call(storage.data(), bytes, in.data(), out.data(), size / 2, on));
        on.synchronize();
        other = storage.read();
        break;
      }
      case 3:
        storage.write(earlier.data());
        break;
      case 4:
        storage.write(other.data());
        break;
      default:
        break;
    }
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    if (i % 6 == 5) {
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    }
    on.synchronize();
    ASSERT_SAME_ITEMS(inclusive_scan<T>(items.data(), size, op), out.to_host()) << "replay " << i;
    if (i % 6 == 0) earlier = storage.read();
  }
  storage.expect_guards_intact();
}

TEST(device_scan_streams, a_graph_may_be_replayed) {
  const auto call = [](void* storage, std::size_t& bytes, const int* in, int* out, std::size_t n, cudaStream_t where) {
    return DeviceScan::InclusiveSum(storage, bytes, in, out, n, where);
  };
  for (const std::size_t size : sizes{std::size_t{0}, std::size_t{1}, std::size_t{3000}, several_blocks}) {
    expect_replays<int>(size, call, plain_sum{}, if_small(12, 60));
  }
}

// Calls of more than 16 rounds do not erase their epochs. The numbers of rounds lie on both sides of this bound.
TEST(device_scan_streams, a_graph_with_any_number_of_rounds_may_be_replayed) {
  const auto call = [](void* storage, std::size_t& bytes, const int* in, int* out, std::size_t n, cudaStream_t where) {
    return inclusive<pipeline>(storage, bytes, in, out, n, strata::Sum{}, where);
  };
  for (const std::size_t rounds : sizes{1, 2, 10, 16, 17, 19}) {
    if ((is_small() || has_long_rounds()) && rounds % 8 > 1) continue;
    // The last round is full, or lacks 300 items.
    const std::size_t size = rounds_of_the_pipeline(rounds) - (rounds % 2 == 0 ? 300 : 0);
    expect_replays<int>(size, call, plain_sum{}, is_small() || has_long_rounds() ? 6 : 12);
  }
}

// The sums of tiles have 16 bytes and travel between blocks in two tagged words, in one round or several.
TEST(device_scan_streams, a_graph_of_tiles_may_be_replayed) {
  const auto call = [](void* storage, std::size_t& bytes, const string_hash* in, string_hash* out, std::size_t n,
                       cudaStream_t where) { return inclusive<tiles>(storage, bytes, in, out, n, join{}, where); };
  const std::size_t one_round = strata::detail::max_scan_blocks * 128;
  for (const std::size_t size : sizes{one_round - 5, one_round + 1, 2 * one_round}) {
    if (is_small() && size > one_round) continue;
    expect_replays<string_hash>(size, call, join{}, if_small(6, 12));
  }
}

// Several calls of one graph share storage, and each depends on the call before.
TEST(device_scan_streams, a_graph_may_hold_many_calls) {
  const std::size_t size = several_blocks;
  std::vector<unsigned> items = random_integers<unsigned>(size, 0, 1000);
  device_vector<unsigned> data(items);
  std::size_t bytes = sum_bytes(data.data(), data.data(), size);
  const scratch storage(bytes);
  constexpr unsigned calls = 5;
  graph recorded([&](cudaStream_t recorder) {
    cudaError_t status = cudaSuccess;
    for (unsigned i = 0; i < calls && status == cudaSuccess; ++i) {
      status = DeviceScan::InclusiveSum(storage.data(), bytes, data.data(), size, recorder);
    }
    return status;
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(calls, recorded.nodes());
  const stream on;
  const unsigned replays = if_small(2u, 20u);
  for (unsigned i = 0; i < replays; ++i) ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  for (unsigned i = 0; i < calls * replays; ++i) {
    items = inclusive_scan<unsigned>(items.data(), size, plain_sum{});
  }
  EXPECT_SAME_ITEMS(items, data.to_host());
}

// ------------------------------------------------------------------ side by side

TEST(device_scan_streams, several_streams_do_not_disturb_each_other) {
  struct lane {
    lane(std::size_t size, std::uint64_t which)
        : items(random_integers<int>(size, -1000, 1000, which)), in(items), out(size) {
      EXPECT_CUDA_SUCCESS(inclusive<pipeline>(nullptr, bytes, in.data(), out.data(), size, strata::Sum{}, nullptr));
      storage = std::make_unique<scratch>(bytes);
    }
    std::vector<int> items;
    device_vector<int> in;
    device_vector<int> out;
    std::size_t bytes = 0;
    std::unique_ptr<scratch> storage;
    stream on;
  };
  const std::size_t long_one = rounds_of_the_pipeline(if_small<std::size_t>(2, 5));
  lane lanes[] = {lane(several_blocks, 1), lane(several_blocks / 2 + 7, 2), lane(long_one, 3),
                  lane(long_one / 2 + 1, 4)};
  const int calls = if_small(5, STRATA_HOST_SIMT ? 20 : 200);
  for (int i = 0; i < calls; ++i) {
    for (lane& l : lanes) {
      ASSERT_CUDA_SUCCESS(inclusive<pipeline>(l.storage->data(), l.bytes, l.in.data(), l.out.data(), l.items.size(),
                                              strata::Sum{}, l.on));
    }
  }
  for (lane& l : lanes) {
    l.on.synchronize();
    EXPECT_SAME_ITEMS(inclusive_scan<int>(l.items.data(), l.items.size(), plain_sum{}), l.out.to_host());
  }
}

#if !STRATA_HOST_SIMT
TEST(device_scan_streams, host_threads_do_not_disturb_each_other) {
  const std::size_t size = if_small<std::size_t>(300000, 3000000);
  const int calls = if_small(10, 200);
  const std::vector<int> items = random_integers<int>(size, -1000, 1000);
  const std::vector<int> expected = inclusive_scan<int>(items.data(), size, plain_sum{});
  const device_vector<int> in(items);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      device_vector<int> out(size);
      std::size_t bytes = sum_bytes(in.data(), out.data(), size);
      const scratch storage(bytes);
      const stream on;
      const std::size_t count = t % 2 == 0 ? size - t : 20000 * t;
      for (int i = 0; i < calls; ++i) {
        EXPECT_CUDA_SUCCESS(DeviceScan::InclusiveSum(storage.data(), bytes, in.data(), out.data(), count,
                                                     static_cast<cudaStream_t>(on)));
      }
      on.synchronize();
      std::vector<int> sums = out.to_host();
      sums.resize(count);
      EXPECT_SAME_ITEMS(std::vector<int>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count)),
                        sums);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
#endif

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceRadixSort in streams and graphs, concurrently and repeatedly: its result depends on nothing but its input.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"

namespace device_radix_sort_calls_test {

using namespace device_test;
using Key = std::uint32_t;
using one_launch = radix_grid_hub<2>;
using passes = radix_hub<2>;

constexpr std::size_t most_keys = 6000;

template <class Hub>
struct sorter {
  cudaError_t operator()(void* storage, std::size_t& bytes, const Key* in, Key* out, std::size_t n, int end_bit,
                         cudaStream_t on) const {
    return tuned_sort<Hub>(storage, bytes, in, out, n, 0, end_bit, on);
  }
};

template <class Hub>
std::size_t storage_bytes() {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(sorter<Hub>{}(nullptr, bytes, nullptr, nullptr, most_keys, 32, nullptr));
  return bytes;
}

// A call with the hub `one_launch` makes one launch. Otherwise the tests below would test another algorithm.
TEST(device_radix_sort_calls, one_launch_of_several_blocks) {
  const strata_test::device_of_multiprocessors four(4);
  for (const std::size_t size : {std::size_t{1}, std::size_t{256}, std::size_t{257}, most_keys}) {
    const device_vector<Key> in(make_keys<Key>(size, pattern::random));
    device_vector<Key> out(size);
    std::size_t bytes = storage_bytes<one_launch>();
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t on) {
      return sorter<one_launch>{}(storage.data(), bytes, in.data(), out.data(), size, 32, on);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes());
  }
}

// Each replay sorts other keys. For some keys, some passes move nothing. Before a replay, the storage holds garbage or
// what an earlier call left there.
template <class Hub>
void expect_replays(std::size_t size, int end_bit) {
  SCOPED_TRACE(testing::Message() << size << " keys, " << end_bit << " bits");
  device_vector<Key> in(size);
  device_vector<Key> out(size);
  std::size_t bytes = storage_bytes<Hub>();
  const scratch storage(bytes);
  const stream on;
  graph recorded([&](cudaStream_t recorder) {
    return sorter<Hub>{}(storage.data(), bytes, in.data(), out.data(), size, end_bit, recorder);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const std::vector<unsigned char> before = storage.read();
  std::vector<unsigned char> earlier = before;
  for (int i = 0; i < if_small(14, 42); ++i) {
    const auto keys = make_keys<Key>(size, all_patterns[i % 7], static_cast<std::uint64_t>(i));
    in.assign(keys);
    switch (i % 5) {
      case 1:
        storage.fill(all_contents[i / 5 % 3]);
        break;
      case 2: {
        ASSERT_CUDA_SUCCESS(sorter<Hub>{}(storage.data(), bytes, in.data(), out.data(), size / 2, 32, on));
        on.synchronize();
        break;
      }
      case 3:
        storage.write(earlier.data());
        break;
      default:
        break;
    }
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    if (i % 5 == 4) {
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    }
    on.synchronize();
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, expected_order<false>(keys, 0, end_bit), out.to_host()))
        << "replay " << i;
    if (i % 5 == 0) earlier = storage.read();
  }
  storage.expect_guards_intact();
}

TEST(device_radix_sort_calls, a_graph_may_be_replayed) {
  for (const std::size_t size : {std::size_t{300}, std::size_t{1100}, most_keys}) {
    for (const int end_bit : {8, 20, 32}) expect_replays<one_launch>(size, end_bit);
  }
  expect_replays<passes>(most_keys, 32);
}

// Each call reads what the previous call wrote, in the same temporary storage, and the host waits for none of them. The
// result is wrong if a call starts too early, or mistakes words of the previous call for its own.
TEST(device_radix_sort_calls, calls_may_follow_each_other_on_the_same_storage) {
  auto keys = make_keys<Key>(most_keys, pattern::random);
  device_vector<Key> a(keys), b(most_keys);
  std::size_t bytes = std::max(storage_bytes<one_launch>(), storage_bytes<passes>());
  const scratch storage(bytes);
  const stream on;
  Key* from = a.data();
  Key* to = b.data();
  for (int i = 0; i < if_small(6, 40); ++i) {
    // All sorts are stable. Each call sorts by another range of 12 bits.
    const int begin = 3 * i % 20;
    const std::size_t size = i % 3 == 2 ? most_keys / 2 : most_keys;
    if (size < most_keys) {
      ASSERT_CUDA_SUCCESS(cudaMemcpyAsync(to, from, most_keys * sizeof(Key), cudaMemcpyDeviceToDevice, on));
    }
    if (i % 5 == 4) {
      ASSERT_CUDA_SUCCESS(
          tuned_sort<passes>(storage.data(), bytes, from, to, size, begin, begin + 12, static_cast<cudaStream_t>(on)));
    } else {
      ASSERT_CUDA_SUCCESS(tuned_sort<one_launch>(storage.data(), bytes, from, to, size, begin, begin + 12,
                                                 static_cast<cudaStream_t>(on)));
    }
    const std::vector<Key> first(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(size));
    const auto order = expected_order<false>(first, begin, begin + 12);
    for (std::size_t j = 0; j < size; ++j) keys[j] = first[order[j]];
    std::swap(from, to);
  }
  on.synchronize();
  expect_gathered(keys, expected_order<false>(keys, 0, 0), (from == a.data() ? a : b).to_host());
  storage.expect_guards_intact();
}

TEST(device_radix_sort_calls, two_streams_at_once) {
  struct one_sort {
    std::vector<Key> keys;
    device_vector<Key> in, out;
    scratch storage;
    stream on;
    one_sort(std::size_t size, std::uint64_t seed, std::size_t bytes)
        : keys(make_keys<Key>(size, pattern::random, seed)), in(keys), out(size), storage(bytes) {}
  };
  std::size_t bytes = storage_bytes<one_launch>();
  std::vector<std::unique_ptr<one_sort>> sorts;
  for (std::uint64_t i = 0; i < 2; ++i) {
    sorts.push_back(std::make_unique<one_sort>(most_keys - 1000 * i, i, bytes));
  }
  for (int i = 0; i < if_small(3, 20); ++i) {
    for (const auto& sort : sorts) {
      ASSERT_CUDA_SUCCESS(sorter<one_launch>{}(sort->storage.data(), bytes, sort->in.data(), sort->out.data(),
                                               sort->keys.size(), 32, sort->on));
    }
  }
  for (const auto& sort : sorts) {
    sort->on.synchronize();
    expect_gathered(sort->keys, expected_order<false>(sort->keys, 0, 32), sort->out.to_host());
    sort->storage.expect_guards_intact();
  }
}

}  // namespace device_radix_sort_calls_test

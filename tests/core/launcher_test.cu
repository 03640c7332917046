// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;
namespace platform = strata::platform;

bool has_clusters() {
  strata::detail::device_properties properties;
  EXPECT_CUDA_SUCCESS(strata::detail::current_device_properties(properties));
  return properties.ptx_version >= 900;
}

// ---------------------------------------------------------------------------- shape, arguments
struct place {
  unsigned grid, block, block_index, thread_index;
  friend bool operator==(const place& a, const place& b) {
    return a.grid == b.grid && a.block == b.block && a.block_index == b.block_index && a.thread_index == b.thread_index;
  }
};

STRATA_HD unsigned digits(unsigned x, unsigned y, unsigned z) { return 100 * x + 10 * y + z; }

STRATA_KERNEL void write_places(place* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = {digits(gridDim.x, gridDim.y, gridDim.z), digits(blockDim.x, blockDim.y, blockDim.z),
                                   digits(blockIdx.x, blockIdx.y, blockIdx.z),
                                   digits(threadIdx.x, threadIdx.y, threadIdx.z)};
}

TEST(launcher, grid_and_block_have_three_dimensions) {
  const dim3 grid(2, 3, 4), block(4, 2, 3);
  device_vector<place> out(2 * 3 * 4 * 4 * 2 * 3);
  ASSERT_CUDA_SUCCESS(strata::launch({"write_places", grid, block}, write_places, out.data()));
  const std::vector<place> results = out.to_host();
  std::size_t i = 0;
  for (unsigned block_z = 0; block_z < 4; ++block_z) {
    for (unsigned block_y = 0; block_y < 3; ++block_y) {
      for (unsigned block_x = 0; block_x < 2; ++block_x) {
        for (unsigned z = 0; z < 3; ++z) {
          for (unsigned y = 0; y < 2; ++y) {
            for (unsigned x = 0; x < 4; ++x) {
              EXPECT_TRUE(results[i++] == (place{234, 423, digits(block_x, block_y, block_z), digits(x, y, z)}));
            }
          }
        }
      }
    }
  }
}

struct coefficients {
  double a, b;
};

STRATA_KERNEL void evaluate(double* out, coefficients c, float x, long long n) {
  *out = c.a * static_cast<double>(x) + c.b + static_cast<double>(n);
}

TEST(launcher, arguments_convert_to_the_parameters) {
  device_vector<double> out(1);
  const short n = -7;
  const unsigned x = 3;
  ASSERT_CUDA_SUCCESS(strata::launch({"evaluate", 1, 1}, evaluate, out.data(), coefficients{2.0, 0.5}, x, n));
  EXPECT_EQ(out.to_host()[0], 2.0 * 3.0 + 0.5 - 7.0);
}

// ---------------------------------------------------------------------------- shared memory
struct two_arrays {
  int ascending[64];
  double descending[64];
};

STRATA_KERNEL void reverse_through_shared(const int* in, int* out) {
  STRATA_SHARED(arrays, two_arrays);
  STRATA_SHARED(one, int[64]);
  const unsigned reversed = 63 - threadIdx.x;
  arrays.ascending[threadIdx.x] = in[threadIdx.x];
  arrays.descending[reversed] = in[threadIdx.x];
  one[threadIdx.x] = 1;
  __syncthreads();
  const int sum = arrays.ascending[reversed] + static_cast<int>(arrays.descending[threadIdx.x]);
  out[blockIdx.x * 64 + threadIdx.x] = sum * one[reversed];
}

TEST(launcher, each_block_has_its_own_shared_variables) {
  std::vector<int> items(64);
  std::iota(items.begin(), items.end(), 0);
  const device_vector<int> in(items);
  device_vector<int> out(3 * 64);
  ASSERT_CUDA_SUCCESS(strata::launch({"reverse_through_shared", 3, 64}, reverse_through_shared, in.data(), out.data()));
  const std::vector<int> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i], 2 * (63 - static_cast<int>(i % 64)));
  }
}

// A template, because each kernel has its own limit of dynamic shared memory.
template <int>
STRATA_KERNEL void reverse_through_dynamic(int* out, unsigned count) {
  STRATA_DYNAMIC_SHARED(bytes);
  int* const words = reinterpret_cast<int*>(bytes);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) words[i] = static_cast<int>(i);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) out[i] = words[count - 1 - i];
  if (threadIdx.x == 0) out[count] = static_cast<int>(reinterpret_cast<std::uintptr_t>(bytes) % 128);
}

void expect_reversed(const device_vector<int>& out, unsigned count) {
  const std::vector<int> results = out.to_host();
  for (unsigned i = 0; i < count; ++i) ASSERT_EQ(results[i], static_cast<int>(count - 1 - i));
  EXPECT_EQ(results[count], 0) << "alignment of dynamic shared memory";
}

TEST(launcher, dynamic_shared_memory) {
  constexpr unsigned count = 5000;
  device_vector<int> out(count + 1);
  ASSERT_CUDA_SUCCESS(strata::launch({"reverse_through_dynamic", 1, 96, count * sizeof(int)},
                                     reverse_through_dynamic<0>, out.data(), count));
  expect_reversed(out, count);
}

TEST(launcher, dynamic_shared_memory_above_48_kb_after_it_was_allowed) {
  constexpr unsigned count = 15000;
  constexpr std::size_t bytes = count * sizeof(int);
  device_vector<int> out(count + 1);
  EXPECT_NE(strata::launch({"reverse_through_dynamic", 1, 96, bytes}, reverse_through_dynamic<1>, out.data(), count),
            cudaSuccess);
  static_cast<void>(cudaGetLastError());
  ASSERT_CUDA_SUCCESS(strata::allow_dynamic_shared_memory(reverse_through_dynamic<1>, bytes));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"reverse_through_dynamic", 1, 96, bytes}, reverse_through_dynamic<1>, out.data(), count));
  expect_reversed(out, count);
}

// ---------------------------------------------------------------------------- streams and errors
STRATA_KERNEL void add_one(int* counter) { *counter += 1; }

TEST(launcher, launches_go_to_their_stream_in_order) {
  cudaStream_t stream = nullptr;
  ASSERT_CUDA_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  device_vector<int> counter(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  for (int i = 0; i < 20; ++i) {
    ASSERT_CUDA_SUCCESS(strata::launch({"add_one", 1, 1, 0, stream}, add_one, counter.data()));
  }
  ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream));
  EXPECT_EQ(counter.to_host()[0], 20);
  ASSERT_CUDA_SUCCESS(cudaStreamDestroy(stream));
}

TEST(launcher, stream_capture_records_the_launch) {
  cudaStream_t stream = nullptr;
  ASSERT_CUDA_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  device_vector<int> counter(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ASSERT_CUDA_SUCCESS(strata::launch({"add_one", 1, 1, 0, stream}, add_one, counter.data()));
  ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(counter.to_host()[0], 0) << "recorded, not executed";
  ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, stream));
  ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream));
  EXPECT_EQ(counter.to_host()[0], 3);
  ASSERT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
  ASSERT_CUDA_SUCCESS(cudaGraphDestroy(graph));
  ASSERT_CUDA_SUCCESS(cudaStreamDestroy(stream));
}

TEST(launcher, impossible_launch_returns_its_error_and_runs_nothing) {
  device_vector<int> counter(std::vector<int>{0});
  EXPECT_NE(strata::launch({"add_one", 1, 2048}, add_one, counter.data()), cudaSuccess);
  EXPECT_NE(strata::launch({"add_one", 0, 1}, add_one, counter.data()), cudaSuccess);
  static_cast<void>(cudaGetLastError());
  EXPECT_EQ(counter.to_host()[0], 0);
}

TEST(launcher, older_error_is_neither_returned_nor_cleared) {
  device_vector<int> counter(std::vector<int>{0});
  const cudaError_t older = cudaSetDevice(1000);
  ASSERT_NE(older, cudaSuccess);
  EXPECT_CUDA_SUCCESS(strata::launch({"add_one", 1, 1}, add_one, counter.data()));
  EXPECT_EQ(cudaGetLastError(), older);
  EXPECT_EQ(counter.to_host()[0], 1);
}

// ---------------------------------------------------------------------------- clusters
STRATA_KERNEL void read_neighbours(unsigned* out) {
  STRATA_SHARED(word, unsigned);
  if (threadIdx.x == 0) word = 100 + blockIdx.x;
  platform::cluster_sync();
  const unsigned size = platform::cluster_size();
  const unsigned next = (platform::cluster_rank() + 1) % size;
  const unsigned neighbours = *platform::map_shared(&word, next);
  // No block may end while another reads its shared memory.
  platform::cluster_sync();
  if (threadIdx.x == 0) {
    out[3 * blockIdx.x] = platform::cluster_rank();
    out[3 * blockIdx.x + 1] = size;
    out[3 * blockIdx.x + 2] = neighbours;
  }
}

void test_clusters(unsigned size) {
  constexpr unsigned blocks = 8;
  device_vector<unsigned> out(3 * blocks);
  ASSERT_CUDA_SUCCESS(strata::launch({"read_neighbours", blocks, 64, 0, nullptr, size}, read_neighbours, out.data()));
  const std::vector<unsigned> results = out.to_host();
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned first = block / size * size;
    EXPECT_EQ(results[3 * block], block % size);
    EXPECT_EQ(results[3 * block + 1], size);
    EXPECT_EQ(results[3 * block + 2], 100 + first + (block + 1) % size) << "block " << block;
  }
}

TEST(launcher, without_clusters_each_block_is_one) { test_clusters(1); }

TEST(launcher, blocks_of_a_cluster_read_each_others_shared_memory) {
  if (!has_clusters()) GTEST_SKIP() << "no clusters on this device";
  test_clusters(2);
  test_clusters(8);
}

// ---------------------------------------------------------------------------- dependent launches
STRATA_KERNEL void produce(int* items, int round) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  items[blockIdx.x * blockDim.x + threadIdx.x] = round;
}

STRATA_KERNEL void consume(const int* items, int* out, int count, int round) {
  platform::wait_for_previous_kernel();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = static_cast<int>(thread); i < count; i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (items[i] != round) atomicAdd(out, 1);
  }
  platform::launch_next_kernel();
}

TEST(launcher, dependent_kernel_sees_what_its_predecessor_wrote) {
  constexpr int count = 64 * 256;
  device_vector<int> items(count), stale(std::vector<int>{0});
  const bool programmatic = has_clusters();
  for (int round = 1; round <= (strata_test::is_small() ? 2 : 10); ++round) {
    ASSERT_CUDA_SUCCESS(
        strata::launch({"produce", 64, 256, 0, nullptr, 1, programmatic}, produce, items.data(), round));
    ASSERT_CUDA_SUCCESS(strata::launch({"consume", 16, 256, 0, nullptr, 1, programmatic}, consume, items.data(),
                                       stale.data(), count, round));
  }
  EXPECT_EQ(stale.to_host()[0], 0);
}

// ---------------------------------------------------------------------------- cooperative launches
/// Every block waits for every other one, so the kernel ends only if all are resident.
STRATA_KERNEL void meet(unsigned* arrived, unsigned round) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1u);
  while (platform::load_relaxed(arrived) < round * gridDim.x) STRATA_SPIN();
}

TEST(launcher, blocks_of_a_cooperative_launch_may_wait_for_each_other) {
  constexpr unsigned blocks = 12;
  device_vector<unsigned> arrived(std::vector<unsigned>{0});
  for (unsigned round = 1; round <= 4; ++round) {
    strata::launch_configuration configuration{"meet", blocks, 64};
    configuration.cooperative = true;
    configuration.programmatic = has_clusters() && round % 2 == 0;
    ASSERT_CUDA_SUCCESS(strata::launch(configuration, meet, arrived.data(), round));
  }
  EXPECT_EQ(arrived.to_host()[0], 4 * blocks);
}

TEST(launcher, a_cooperative_launch_may_be_captured) {
  cudaStream_t stream = nullptr;
  ASSERT_CUDA_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  device_vector<unsigned> arrived(std::vector<unsigned>{0});
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  strata::launch_configuration configuration{"meet", 12, 64, 0, stream};
  configuration.cooperative = true;
  for (unsigned round = 1; round <= 2; ++round) {
    ASSERT_CUDA_SUCCESS(strata::launch(configuration, meet, arrived.data(), round));
  }
  ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(stream, &graph));
  ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
  ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, stream));
  ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream));
  EXPECT_EQ(arrived.to_host()[0], 24u);
  ASSERT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
  ASSERT_CUDA_SUCCESS(cudaGraphDestroy(graph));
  ASSERT_CUDA_SUCCESS(cudaStreamDestroy(stream));
}

TEST(launcher, a_cooperative_launch_of_too_many_blocks_fails) {
  device_vector<unsigned> arrived(std::vector<unsigned>{0});
  strata::launch_configuration configuration{"meet", 100000, 1024};
  configuration.cooperative = true;
  EXPECT_EQ(strata::launch(configuration, meet, arrived.data(), 1u), cudaErrorCooperativeLaunchTooLarge);
  static_cast<void>(cudaGetLastError());
  EXPECT_EQ(arrived.to_host()[0], 0u);
}

// ---------------------------------------------------------------------------- properties
TEST(device_properties, are_the_devices_and_the_same_when_asked_again) {
  int device = 0, multiprocessors = 0, l2_bytes = 0;
  ASSERT_CUDA_SUCCESS(cudaGetDevice(&device));
  ASSERT_CUDA_SUCCESS(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  ASSERT_CUDA_SUCCESS(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
  for (int i = 0; i < 3; ++i) {
    strata::detail::device_properties properties;
    ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(properties));
    EXPECT_EQ(properties.multiprocessors, multiprocessors);
    EXPECT_EQ(properties.l2_bytes, l2_bytes);
    EXPECT_GE(properties.ptx_version, 500);
    EXPECT_EQ(properties.ptx_version % 10, 0);
  }
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host back end only: its stand-ins for the CUDA runtime's memory, streams, events, graphs and attributes.
#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/launch.cuh>

#include <string>
#include <thread>
#include <vector>

namespace simt = strata::simt;
using strata::launch;

namespace {

class RuntimeApi : public testing::Test {
 protected:
  void SetUp() override {
    saved_ = simt::config();
    simt::config().quiet = true;
    ASSERT_EQ(cudaMalloc(&words, 64 * sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaMemset(words, 0, 64 * sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaFree(words), cudaSuccess);
    simt::clear_report();
    simt::config() = saved_;
  }
  unsigned word(int index) {
    unsigned value = 0;
    EXPECT_EQ(cudaMemcpy(&value, words + index, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }
  unsigned* words = nullptr;
  cudaStream_t stream = nullptr;

 private:
  simt::configuration saved_;
};

STRATA_KERNEL void add(unsigned* words, unsigned value) {
  if (threadIdx.x == 0) atomicAdd(words, value);
}

// ---- memory

TEST_F(RuntimeApi, memory_starts_as_garbage_and_copies_both_ways) {
  unsigned char *device = nullptr, host[100], back[100];
  ASSERT_EQ(cudaMalloc(&device, 100), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device) % 256, 0u);
  ASSERT_EQ(cudaMemcpy(host, device, 100, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_NE(host[0], 0);
  for (int i = 0; i < 100; ++i) host[i] = static_cast<unsigned char>(i);
  ASSERT_EQ(cudaMemcpyAsync(device, host, 100, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device + 50, 7, 10, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back, device, 100, cudaMemcpyDefault), cudaSuccess);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(back[i], i >= 50 && i < 60 ? 7 : i);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}
TEST_F(RuntimeApi, pools_of_a_program_are_refused_where_the_configuration_says_so) {
  simt::config().devices = 3;
  simt::config().devices_without_pools = 2;
  simt::config().devices_without_peers = 4;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 3};
  EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidDevice);
  properties.location.id = 1;
  EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaErrorNotSupported);
  properties.location.id = 0;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
  access.location.id = 2;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorPeerAccessUnsupported);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 100, pool, stream), cudaSuccess);
  EXPECT_EQ(cudaMemset(memory, 1, 100), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
}

TEST_F(RuntimeApi, a_chosen_launch_fails_alone) {
  const auto launches = [&] { return launch({"add", dim3(1), dim3(1), 0, stream}, add, words, 1u); };
  simt::fail_launch(0, 1);
  EXPECT_EQ(launches(), cudaSuccess);
  EXPECT_FALSE(simt::launch_has_failed());
  EXPECT_EQ(launches(), cudaErrorLaunchOutOfResources);
  EXPECT_TRUE(simt::launch_has_failed());
  EXPECT_EQ(launches(), cudaSuccess);
  EXPECT_EQ(word(0), 2u);
  simt::fail_launch(1, 0);  // on another device
  EXPECT_EQ(launches(), cudaSuccess);
  simt::fail_launch(-1, 0);
  EXPECT_FALSE(simt::launch_has_failed());
  EXPECT_EQ(word(0), 3u);
}

__managed__ unsigned managed_words[64];
TEST_F(RuntimeApi, managed_variables_are_device_memory_and_host_memory) {
  ASSERT_EQ(cudaMemset(managed_words, 1, 8), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(words, managed_words, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(word(0), 0x01010101u);
  managed_words[2] = 7;
  ASSERT_EQ(cudaMemcpy(words + 1, managed_words + 2, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(word(1), 7u);
  ASSERT_EQ(cudaMemcpy(managed_words + 3, words + 1, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(managed_words[3], 7u);
  EXPECT_EQ(cudaMemset(managed_words, 0, size_t{1} << 30), cudaErrorInvalidValue);
  static unsigned host[2];
  EXPECT_EQ(cudaMemcpy(host, managed_words, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
}
TEST_F(RuntimeApi, wrong_directions_and_overlong_ranges_are_refused) {
  unsigned host[128] = {};
  EXPECT_EQ(cudaMemcpy(words, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, words, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(words, host, 65 * 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(words + 60, 0, 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(words + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(words), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}
TEST_F(RuntimeApi, memory_runs_out) {
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  void* pointer = &total;
  EXPECT_EQ(cudaMalloc(&pointer, free_bytes + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}
TEST_F(RuntimeApi, pointers_tell_what_they_are) {
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, words + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

// ---- streams and events

TEST_F(RuntimeApi, handles_are_validated) {
  cudaStream_t gone = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(gone), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(launch({"add", 1, 32, 0, gone}, add, words, 1u), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(words, 0, 4, gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}
TEST_F(RuntimeApi, events_measure_time) {
  cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  ASSERT_EQ(launch({"add", 64, 256, 0, stream}, add, words, 1u), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(stop, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, stream), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaSuccess);
  EXPECT_GT(milliseconds, 0.0f);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, stop), cudaSuccess);
  for (cudaEvent_t event : {start, stop, untimed}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(stop), cudaErrorInvalidResourceHandle);
}
TEST_F(RuntimeApi, launches_from_several_host_threads_take_turns) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        EXPECT_EQ(launch({"add", 4, 64}, add, words, 1u), cudaSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(word(0), 4u * 20 * 4);
}

// ---- graphs

TEST_F(RuntimeApi, graph_replays_launches_fills_and_copies_with_their_arguments) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  unsigned value = 5;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(words + 1, 1, 4, stream), cudaSuccess);
  ASSERT_EQ(launch({"add", 1, 32, 0, stream}, add, words, value), cudaSuccess);
  value = 1000;
  ASSERT_EQ(cudaMemcpyAsync(words + 2, words, 4, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  cudaStreamCaptureStatus status{};
  ASSERT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(word(0), 0u) << "a capture executes nothing";
  size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 3u);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (unsigned replay = 1; replay <= 3; ++replay) {
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(word(0), 5 * replay);
    EXPECT_EQ(word(1), 0x01010101u);
    EXPECT_EQ(word(2), 5 * replay);
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);
}
TEST_F(RuntimeApi, synchronising_or_allocating_spoils_a_capture) {
  for (int how = 0; how < 3; ++how) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    void* pointer = nullptr;
    const cudaError_t error = how == 0   ? cudaStreamSynchronize(stream)
                              : how == 1 ? cudaMalloc(&pointer, 16)
                                         : cudaDeviceSynchronize();
    EXPECT_EQ(error, cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(launch({"add", 1, 32, 0, stream}, add, words, 1u), cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  }
}
TEST_F(RuntimeApi, legacy_stream_may_not_meet_a_capture) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(launch({"add", 1, 32}, add, words, 1u), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}
TEST_F(RuntimeApi, event_pulls_a_second_stream_into_the_capture) {
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event), cudaSuccess);
  ASSERT_EQ(launch({"add", 1, 32, 0, second}, add, words, 3u), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, second), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, event), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(word(0), 0u);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(word(0), 3u);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
}
TEST_F(RuntimeApi, memory_of_a_capture_lives_as_long_as_its_graph) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  unsigned* scratch = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&scratch, 1024, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(scratch, 0, 1024, stream), cudaSuccess);
  ASSERT_EQ(launch({"add", 1, 32, 0, stream}, add, scratch, 1u), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(scratch, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 4u) << "to take memory and to give it back are nodes, too";
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
  EXPECT_EQ(before - during, 1024u);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
}

STRATA_KERNEL void all_blocks_meet(unsigned* words) {
  if (threadIdx.x != 0) return;
  atomicAdd(words, 1u);
  while (strata::platform::load_acquire(words) % gridDim.x != 0) STRATA_SPIN();
}
TEST_F(RuntimeApi, capture_takes_a_cooperative_launch_of_any_size_and_its_replay_tells) {
  simt::config().multiprocessors = 4;
  constexpr unsigned fit = 4 * 32;
  strata::launch_configuration shape{"meet", fit, 32, 0, stream};
  shape.cooperative = true;
  ASSERT_EQ(launch(shape, all_blocks_meet, words), cudaSuccess);
  shape.grid = fit + 1;
  EXPECT_EQ(launch(shape, all_blocks_meet, words), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(word(0), fit);

  // With fewer multiprocessors, as in a green context, fewer blocks fit than the occupancy query says.
  for (unsigned multiprocessors : {4u, 1u}) {
    const unsigned fit_now = multiprocessors * 32;
    for (unsigned blocks : {fit_now, fit_now + 1}) {
      ASSERT_EQ(cudaMemset(words, 0, sizeof *words), cudaSuccess);
      simt::config().usable_multiprocessors = multiprocessors;
      int value = 0;
      ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
      EXPECT_EQ(value, 4);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      shape.grid = blocks;
      ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
      EXPECT_EQ(launch(shape, all_blocks_meet, words), cudaSuccess);
      ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
      const cudaError_t launched = cudaGraphLaunch(executable, stream);
      if (blocks == fit_now) {
        EXPECT_EQ(launched, cudaSuccess) << simt::last_report().text;
        EXPECT_EQ(word(0), blocks);
      } else {
        EXPECT_EQ(launched, cudaErrorLaunchTimeout);
        EXPECT_STREQ(simt::last_report().kind, "cooperative-too-large");
        EXPECT_EQ(std::string(simt::last_report().text)
                      .find("a captured cooperative launch of " + std::to_string(blocks) + " blocks, of which " +
                            std::to_string(fit_now) + " fit"),
                  0u)
            << simt::last_report().text;
        EXPECT_EQ(word(0), 0u);
        simt::clear_report();
        EXPECT_EQ(launch(shape, all_blocks_meet, words), cudaErrorCooperativeLaunchTooLarge);
        EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
      }
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
      EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    }
  }
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
  return value;
}
// The device may change between calls, so properties and occupancy must not be cached across devices.
TEST_F(RuntimeApi, a_device_has_the_shape_that_the_configuration_says) {
  static strata::detail::kernel_property_cache cache;
  strata::detail::device_properties properties;
  for (const unsigned multiprocessors : {4u, 64u, 1u, 132u, 4u}) {
    simt::config().multiprocessors = multiprocessors;
    simt::config().shared_limit = multiprocessors == 64 ? 99 << 10 : 227 << 10;
    simt::config().compute_capability = multiprocessors == 64 ? 121 : 0;
    EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), static_cast<int>(multiprocessors));
    EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), static_cast<int>(simt::config().shared_limit));
    EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), multiprocessors == 64 ? 12 : 9);
    EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMinor), multiprocessors == 64 ? 1 : 0);
    cudaDeviceProp of_device;
    ASSERT_EQ(cudaGetDeviceProperties(&of_device, 0), cudaSuccess);
    EXPECT_EQ(of_device.multiProcessorCount, static_cast<int>(multiprocessors));
    EXPECT_EQ(of_device.sharedMemPerMultiprocessor, simt::config().shared_limit + 1024);
    ASSERT_EQ(strata::detail::current_device_properties(properties), cudaSuccess);
    EXPECT_EQ(properties.multiprocessors, static_cast<int>(multiprocessors));
    EXPECT_EQ(properties.shared_bytes_of_block, static_cast<int>(simt::config().shared_limit));

    const auto kernel = all_blocks_meet;
    int blocks = 0;
    ASSERT_EQ(strata::detail::resident_blocks_per_multiprocessor(cache, kernel, 32, 48 << 10, blocks), cudaSuccess);
    EXPECT_EQ(blocks, multiprocessors == 64 ? 2 : 4);
    std::size_t resident = 0;
    ASSERT_EQ(strata::detail::resident_blocks(cache, properties, kernel, 32, 48 << 10, resident), cudaSuccess);
    EXPECT_EQ(resident, static_cast<std::size_t>(blocks) * multiprocessors);

    if (multiprocessors > 4) continue;  // 2,048 threads each
    ASSERT_EQ(cudaMemset(words, 0, sizeof *words), cudaSuccess);
    strata::launch_configuration shape{"meet", 32 * multiprocessors, 32, 0, stream};
    shape.cooperative = true;
    ASSERT_EQ(launch(shape, all_blocks_meet, words), cudaSuccess);
    EXPECT_EQ(word(0), 32 * multiprocessors);
    ++shape.grid.x;
    EXPECT_EQ(launch(shape, all_blocks_meet, words), cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  }
}
TEST_F(RuntimeApi, kernels_of_a_later_architecture_find_no_image) {
  strata::detail::device_properties properties;
  simt::config().compute_capability = STRATA_SIMT_PTX_VERSION / 10 - 1;
  EXPECT_EQ(strata::detail::current_device_properties(properties), cudaErrorNoKernelImageForDevice);
  simt::config().compute_capability = STRATA_SIMT_PTX_VERSION / 10;
  EXPECT_EQ(strata::detail::current_device_properties(properties), cudaSuccess);
}
TEST_F(RuntimeApi, per_thread_stream_captures_and_the_legacy_stream_does_not) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch({"add", 1, 32, 0, cudaStreamPerThread}, add, words, 3u), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
  EXPECT_EQ(word(0), 0u);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(word(0), 3u);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}
TEST_F(RuntimeApi, legacy_stream_cannot_be_asked_while_a_blocking_stream_captures) {
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamIsCapturing(cudaStreamPerThread, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << "the question spoilt the capture";
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

STRATA_KERNEL void launch_another(unsigned* words) { static_cast<void>(launch({"add", 1, 32}, add, words, 1u)); }
TEST_F(RuntimeApi, launch_by_a_kernel_is_reported_and_leaves_the_device_to_others) {
  EXPECT_EQ(launch({"outer", 1, 32}, launch_another, words), cudaErrorLaunchFailure);
  EXPECT_STREQ(simt::last_report().kind, "nested-launch");
  simt::clear_report();
  std::thread([&] { EXPECT_EQ(launch({"add", 1, 32}, add, words, 1u), cudaSuccess); }).join();
  EXPECT_EQ(word(0), 1u);
}

// ---- device, kernels, errors

TEST_F(RuntimeApi, device_is_a_small_sm_90) {
  const auto value = [](cudaDeviceAttr attribute) {
    int result = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&result, attribute, 0), cudaSuccess);
    return result;
  };
  EXPECT_EQ(value(cudaDevAttrComputeCapabilityMajor), 9);
  EXPECT_EQ(value(cudaDevAttrComputeCapabilityMinor), 0);
  EXPECT_EQ(value(cudaDevAttrMultiProcessorCount), 4);
  EXPECT_EQ(value(cudaDevAttrWarpSize), 32);
  EXPECT_EQ(value(cudaDevAttrMaxSharedMemoryPerBlock), 48 << 10);
  EXPECT_EQ(value(cudaDevAttrMaxSharedMemoryPerBlockOptin), 227 << 10);
  int number = -1;
  EXPECT_EQ(cudaGetDevice(&number), cudaSuccess);
  EXPECT_EQ(number, 0);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}
TEST_F(RuntimeApi, occupancy_counts_threads_and_shared_memory) {
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 47 << 10), cudaSuccess);
  EXPECT_EQ(blocks, 4);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 64 << 10), cudaSuccess);
  EXPECT_EQ(blocks, 0) << "more than the kernel has been allowed";
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, add, 32, 0), cudaErrorInvalidValue);
  const void* const no_kernel = nullptr;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, no_kernel, 32, 0), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, add), cudaSuccess);
  EXPECT_EQ(attributes.ptxVersion, 90);
}
TEST_F(RuntimeApi, impossible_launches_are_refused) {
  EXPECT_EQ(launch({"add", 0, 32}, add, words, 1u), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({"add", 1, 1025}, add, words, 1u), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({"add", dim3(1, 65536), 32}, add, words, 1u), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({"add", 1, 32, 228 << 10}, add, words, 1u), cudaErrorInvalidValue);
  EXPECT_EQ(word(0), 0u);
}
TEST_F(RuntimeApi, errors_have_the_toolkits_names_and_numbers) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(1001)), "unrecognized error code");
  EXPECT_EQ(static_cast<int>(cudaErrorLaunchFailure), 719);
  EXPECT_EQ(static_cast<int>(cudaErrorNotReady), 600);
}

}  // namespace

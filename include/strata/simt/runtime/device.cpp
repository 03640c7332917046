// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulated device. It has compute capability 9.0, and few multiprocessors unless the configuration says otherwise,
// so that tests with a handful of blocks fill it.
#include <strata/simt/runtime/engine_state.hpp>

#include <algorithm>
#include <cstdio>

using namespace strata::simt::engine;

namespace {

constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
constexpr int shared_reserved_per_block = 1 << 10;
constexpr int registers = 65536;
constexpr int l2_bytes = 50 << 20;
constexpr int runtime_version = 13000;

int compute_capability() {
  return settings.compute_capability != 0 ? static_cast<int>(settings.compute_capability) : 90;
}
int multiprocessors() { return static_cast<int>(std::clamp(settings.multiprocessors, 1u, max_multiprocessors)); }
int shared_per_multiprocessor() { return static_cast<int>(settings.shared_limit) + shared_reserved_per_block; }

struct error_text {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define STRATA_SIMT_ERROR(name, text) \
  { name, #name, text }
constexpr error_text error_texts[] = {
    STRATA_SIMT_ERROR(cudaSuccess, "no error"),
    STRATA_SIMT_ERROR(cudaErrorInvalidValue, "invalid argument"),
    STRATA_SIMT_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    STRATA_SIMT_ERROR(cudaErrorInitializationError, "initialization error"),
    STRATA_SIMT_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    STRATA_SIMT_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    STRATA_SIMT_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    STRATA_SIMT_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    STRATA_SIMT_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    STRATA_SIMT_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    STRATA_SIMT_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    STRATA_SIMT_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    STRATA_SIMT_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    STRATA_SIMT_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    STRATA_SIMT_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    STRATA_SIMT_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    STRATA_SIMT_ERROR(cudaErrorNotReady, "device not ready"),
    STRATA_SIMT_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    STRATA_SIMT_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    STRATA_SIMT_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    STRATA_SIMT_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    STRATA_SIMT_ERROR(cudaErrorAssert, "device-side assert triggered"),
    STRATA_SIMT_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    STRATA_SIMT_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    STRATA_SIMT_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    STRATA_SIMT_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    STRATA_SIMT_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    STRATA_SIMT_ERROR(cudaErrorNotSupported, "operation not supported"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureUnjoined, "capture contains forked work that was not joined"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    STRATA_SIMT_ERROR(cudaErrorStreamCaptureImplicit,
                      "operation would make the legacy stream depend on a capturing blocking "
                      "stream"),
    STRATA_SIMT_ERROR(cudaErrorCapturedEvent,
                      "operation not permitted on an event last recorded in a capturing stream"),
    STRATA_SIMT_ERROR(cudaErrorInvalidClusterSize, "invalid cluster size"),
    STRATA_SIMT_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef STRATA_SIMT_ERROR

const error_text* find_error(cudaError_t error) {
  for (const error_text& entry : error_texts) {
    if (entry.error == error) return &entry;
  }
  return nullptr;
}

int attribute_value(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return static_cast<int>(max_block_threads);
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(settings.static_shared_limit);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(settings.shared_limit);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return shared_per_multiprocessor();
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return shared_reserved_per_block;
    case cudaDevAttrWarpSize:
      return static_cast<int>(warp_threads);
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return registers;
    case cudaDevAttrMultiProcessorCount:
      return multiprocessors();
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return blocks_per_multiprocessor;
    case cudaDevAttrL2CacheSize:
      return l2_bytes;
    case cudaDevAttrComputeCapabilityMajor:
      return compute_capability() / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return compute_capability() % 10;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrClusterLaunch:
      return 1;
    default:
      return 0;  // clocks and bus widths: there are none
  }
}

__thread int device_of_thread = 0;

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const error_text* const entry = find_error(error);
  return entry != nullptr ? entry->name : "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  const error_text* const entry = find_error(error);
  return entry != nullptr ? entry->text : "unrecognized error code";
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return set_last_error(cudaErrorInvalidValue);
  *device = device_of_thread;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return set_last_error(cudaErrorInvalidDevice);
  device_of_thread = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(std::clamp(settings.devices, 1u, max_devices));
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (can_access == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer)) return set_last_error(cudaErrorInvalidDevice);
  const uint64_t both = uint64_t{1} << device | uint64_t{1} << peer;
  *can_access = device != peer && (settings.devices_without_peers & both) == 0 ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (!is_device(device)) return set_last_error(cudaErrorInvalidDevice);
  *value = attribute_value(attribute);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return set_last_error(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "strata host SIMT");
  size_t free_bytes = 0;
  cudaMemGetInfo(&free_bytes, &properties->totalGlobalMem);
  properties->sharedMemPerBlock = settings.static_shared_limit;
  properties->sharedMemPerBlockOptin = settings.shared_limit;
  properties->sharedMemPerMultiprocessor = static_cast<size_t>(shared_per_multiprocessor());
  properties->regsPerBlock = registers;
  properties->warpSize = static_cast<int>(warp_threads);
  properties->maxThreadsPerBlock = static_cast<int>(max_block_threads);
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = static_cast<int>(max_block_threads);
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7fffffff;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = compute_capability() / 10;
  properties->minor = compute_capability() % 10;
  properties->multiProcessorCount = multiprocessors();
  properties->l2CacheSize = l2_bytes;
  properties->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() {
  strata::simt::clear_report();
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = runtime_version;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = runtime_version;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(max_block_threads);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = compute_capability();
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(kernel));
  return cudaSuccess;
}

// Computed from threads, blocks and dynamic shared memory. Static shared memory and registers are not known before the
// kernel runs.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_threads,
                                                          size_t dynamic_shared_bytes) {
  if (blocks == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (kernel == nullptr) return set_last_error(cudaErrorInvalidDeviceFunction);
  if (block_threads < 1 || block_threads > static_cast<int>(max_block_threads)) {
    return set_last_error(cudaErrorInvalidValue);
  }
  if (dynamic_shared_bytes > dynamic_shared_limit(kernel)) {
    *blocks = 0;
    return cudaSuccess;
  }
  const int warps = (block_threads + 31) / 32;
  const int by_threads = threads_per_multiprocessor / (warps * 32);
  const int by_shared =
      shared_per_multiprocessor() / (static_cast<int>(dynamic_shared_bytes) + shared_reserved_per_block);
  *blocks = std::min({by_threads, by_shared, blocks_per_multiprocessor});
  return cudaSuccess;
}

namespace strata {
namespace simt {
namespace engine {

int current_device() { return device_of_thread; }

bool is_device(int device) {
  return device >= 0 && device < static_cast<int>(std::clamp(settings.devices, 1u, max_devices));
}

uint64_t max_cooperative_blocks(const void* kernel, int block_threads, size_t dynamic_shared_bytes) {
  int blocks = 0;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, dynamic_shared_bytes);
  const auto all = static_cast<unsigned>(multiprocessors());
  const unsigned usable = settings.usable_multiprocessors != 0 ? std::min(settings.usable_multiprocessors, all) : all;
  return error == cudaSuccess ? uint64_t{usable} * static_cast<uint64_t>(blocks) : 0;
}

}  // namespace engine
}  // namespace simt
}  // namespace strata

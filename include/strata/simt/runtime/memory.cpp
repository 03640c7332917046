// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device memory, and functions that copy and fill it.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>
#include <strata/simt/runtime/stream_graph.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>

#if defined(STRATA_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#endif

// The linker's names for the begin and the end of the section of `__managed__` variables. They are equal if a program
// has none.
extern "C" {
#if defined(__APPLE__)
extern char __start_strata_simt_managed[] __asm__("section$start$__DATA$strata_managed");
extern char __stop_strata_simt_managed[] __asm__("section$end$__DATA$strata_managed");
#else
extern char __start_strata_simt_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_strata_simt_managed[] __attribute__((weak, visibility("hidden")));
#endif
}

namespace strata {
namespace simt {
namespace engine {
namespace {

constexpr size_t device_memory_bytes = size_t{8} << 30;  // beyond it, cudaMalloc fails

struct allocation {
  size_t bytes;
  cudaMemoryType type;
  int device;
};

std::map<char*, allocation>& allocations() {
  static auto* const table = new std::map<char*, allocation>;
  return *table;
}
size_t used_bytes = 0;
size_t used_bytes_high = 0;
uint64_t pool_release_threshold = 0;

const std::pair<char* const, allocation>* find(const void* pointer) {
  char* const address = static_cast<char*>(const_cast<void*>(pointer));
  auto next = allocations().upper_bound(address);
  if (next == allocations().begin()) return nullptr;
  --next;
  const bool inside = address < next->first + next->second.bytes || (next->second.bytes == 0 && address == next->first);
  return inside ? &*next : nullptr;
}

bool is_of_type(const void* pointer, cudaMemoryType type) {
  const auto* const found = find(pointer);
  return found != nullptr && found->second.type == type;
}

// True anywhere in the section, because a compiler may put gaps between the variables.
bool is_in_managed_variables(const void* pointer, size_t bytes) {
  const char* const address = static_cast<const char*>(pointer);
  return __start_strata_simt_managed <= address && address < __stop_strata_simt_managed &&
         bytes <= static_cast<size_t>(__stop_strata_simt_managed - address);
}

cudaError_t misuse(cudaError_t error, const char* what) {
  if (!settings.quiet) std::fprintf(stderr, "SIMT ERROR [api] %s\n", what);
  return set_last_error(error);
}

#if !defined(STRATA_SIMT_CHECK)
// Rounds up to the alignment of cudaMalloc. The check flavour has a heap of its own.
size_t rounded(size_t bytes) {
  constexpr size_t allocation_alignment = 256;
  const size_t at_least_one = bytes == 0 ? 1 : bytes;
  return (at_least_one + allocation_alignment - 1) / allocation_alignment * allocation_alignment;
}
#endif

void* take_memory(size_t bytes, cudaMemoryType type) {
#if defined(STRATA_SIMT_CHECK)
  return check::allocate(bytes, type != cudaMemoryTypeDevice);
#else
  static_cast<void>(type);
  void* const memory = std::aligned_alloc(256, rounded(bytes));
#if defined(STRATA_SIMT_ASAN)
  if (memory != nullptr) {
    ASAN_POISON_MEMORY_REGION(static_cast<char*>(memory) + bytes, rounded(bytes) - bytes);
  }
#endif
  return memory;
#endif
}

void give_memory(void* memory, size_t bytes) {
#if defined(STRATA_SIMT_CHECK)
  check::released(memory, bytes);
#else
#if defined(STRATA_SIMT_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(memory, rounded(bytes));
#else
  static_cast<void>(bytes);
#endif
  std::free(memory);
#endif
}

cudaError_t allocate(void** pointer, size_t bytes, cudaMemoryType type) {
  if (pointer == nullptr) return set_last_error(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > device_memory_bytes || used_bytes > device_memory_bytes - bytes) {
    return set_last_error(cudaErrorMemoryAllocation);
  }
  void* const memory = take_memory(bytes, type);
  if (memory == nullptr) return set_last_error(cudaErrorMemoryAllocation);
  std::memset(memory, global_garbage, bytes);
  allocations()[static_cast<char*>(memory)] = {bytes, type, current_device()};
  used_bytes += bytes;
  if (used_bytes > used_bytes_high) used_bytes_high = used_bytes;
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t release(void* pointer, bool host) {
  if (pointer == nullptr) return cudaSuccess;
  const auto found = allocations().find(static_cast<char*>(pointer));
  if (found == allocations().end() || (found->second.type == cudaMemoryTypeHost) != host) {
    return misuse(cudaErrorInvalidValue, "a pointer is freed that this kind of allocation did not return");
  }
  const size_t bytes = found->second.bytes;
  allocations().erase(found);
  used_bytes -= bytes;
  give_memory(pointer, bytes);
  return cudaSuccess;
}

bool is_device_memory(const void* pointer, size_t bytes) {
  const auto* const found = find(pointer);
  if (found == nullptr) return is_in_managed_variables(pointer, bytes);
  return found->second.type != cudaMemoryTypeHost &&
         static_cast<const char*>(pointer) + bytes <= found->first + found->second.bytes;
}

// A range that begins in an allocation must end in it.
bool overruns(const void* pointer, size_t bytes) {
  const auto* const found = find(pointer);
  return found != nullptr && static_cast<const char*>(pointer) + bytes > found->first + found->second.bytes;
}

bool direction_fits(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = is_device_memory(to, bytes), from_device = is_device_memory(from, bytes);
  // Managed memory belongs to host and device.
  const auto managed = [bytes](const void* pointer) {
    return is_of_type(pointer, cudaMemoryTypeManaged) || is_in_managed_variables(pointer, bytes);
  };
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return to_device && (!from_device || managed(from));
    case cudaMemcpyDeviceToHost:
      return from_device && (!to_device || managed(to));
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    default:
      return true;
  }
}

void copy_now(void* to, const void* from, size_t bytes) {
  std::memmove(to, from, bytes);
  if (find(to) != nullptr) check::written_by_host(to, bytes);
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (overruns(to, bytes) || overruns(from, bytes) || !direction_fits(to, from, bytes, kind)) {
    return misuse(cudaErrorInvalidValue,
                  "cudaMemcpy: the direction does not fit the pointers, or the range leaves its "
                  "allocation");
  }
  return issue_work(stream, [=] { copy_now(to, from, bytes); });
}

void fill_now(void* to, int value, size_t bytes) {
  std::memset(to, value, bytes);
  if (find(to) != nullptr) check::written_by_host(to, bytes);
}

cudaError_t fill(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if ((find(to) == nullptr && !is_in_managed_variables(to, bytes)) || overruns(to, bytes)) {
    return misuse(cudaErrorInvalidValue, "cudaMemset outside a device allocation");
  }
  return issue_work(stream, [=] { fill_now(to, value, bytes); });
}

}  // namespace

bool is_allocated(const void* pointer, size_t bytes) {
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  return find(pointer) == nullptr ? is_in_managed_variables(pointer, bytes) : !overruns(pointer, bytes);
}

void copy_allocated(void* to, const void* from, size_t bytes) {
  std::memmove(to, from, bytes);
  if (find(to) == nullptr) return;
  if (is_of_type(from, cudaMemoryTypeDevice)) {
    check::copied_by_host(to, from, bytes);
  } else {
    check::written_by_host(to, bytes);
  }
}

void store_allocated(void* to, const void* made, size_t bytes, const std::vector<const void*>& sources) {
  std::memcpy(to, made, bytes);
  if (find(to) == nullptr) return;
  for (size_t i = 0; i < bytes; ++i) {
    bool all_written = true;
    for (const void* const from : sources) {
      const char* const byte = static_cast<const char*>(from) + i;
      all_written = all_written && (!is_of_type(from, cudaMemoryTypeDevice) || check::is_written(byte));
    }
    if (all_written) {
      check::written_by_host(static_cast<char*>(to) + i, 1);
    } else {
      check::mark_unwritten(static_cast<char*>(to) + i);
    }
  }
}

}  // namespace engine
}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine;
using api_lock = std::lock_guard<std::recursive_mutex>;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return allocate(pointer, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return allocate(pointer, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return cudaMallocHost(pointer, bytes); }
cudaError_t cudaFree(void* pointer) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return release(pointer, false);
}
cudaError_t cudaFreeHost(void* pointer) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return release(pointer, true);
}

// In a capture, the address is fixed now and stays valid as long as the graph, as with the real runtime.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  const cudaError_t error = allocate(pointer, bytes, cudaMemoryTypeDevice);
  if (error == cudaSuccess && *pointer != nullptr && is_capturing(stream)) {
    void* const memory = *pointer;
    keep_for_graph(stream, [memory] {
      const api_lock again(api_mutex());
      release(memory, false);
    });
    return issue_work(stream, [] {});  // makes a node of the graph
  }
  return error;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  if (is_capturing(stream)) return issue_work(stream, [] {});
  return release(pointer, false);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return copy(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const api_lock lock(api_mutex());
  return copy(to, from, bytes, kind, stream);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return fill(to, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  const api_lock lock(api_mutex());
  return fill(to, value, bytes, stream);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const api_lock lock(api_mutex());
  *free_bytes = device_memory_bytes - used_bytes;
  *total_bytes = device_memory_bytes;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const api_lock lock(api_mutex());
  void* const address = const_cast<void*>(pointer);
  const auto* const found = find(pointer);
  if (found == nullptr) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, address};
  } else {
    const bool on_host = found->second.type != cudaMemoryTypeDevice;
    *attributes = {found->second.type, found->second.device, address, on_host ? address : nullptr};
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!is_device(device)) return set_last_error(cudaErrorInvalidDevice);
  static char the_pool;
  *pool = reinterpret_cast<cudaMemPool_t>(&the_pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value) {
  const api_lock lock(api_mutex());
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool_release_threshold = *static_cast<uint64_t*>(value);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value) {
  const api_lock lock(api_mutex());
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      *static_cast<uint64_t*>(value) = pool_release_threshold;
      break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      *static_cast<uint64_t*>(value) = used_bytes;
      break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      *static_cast<uint64_t*>(value) = used_bytes_high;
      break;
    default:
      *static_cast<int*>(value) = 1;
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

// A pool of a program is the number of its device.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return set_last_error(cudaErrorInvalidValue);
  const int device = properties->location.id;
  if (properties->location.type != cudaMemLocationTypeDevice || !is_device(device)) {
    return set_last_error(cudaErrorInvalidDevice);
  }
  if ((settings.devices_without_pools & uint64_t{1} << device) != 0) return set_last_error(cudaErrorNotSupported);
  *pool = reinterpret_cast<cudaMemPool_t>(new int(device));
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete reinterpret_cast<int*>(pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, size_t count) {
  const int device = *reinterpret_cast<const int*>(pool);
  for (size_t i = 0; i < count; ++i) {
    const int other = accesses[i].location.id;
    int can_access = 0;
    if (const cudaError_t error = cudaDeviceCanAccessPeer(&can_access, other, device)) return error;
    if (other != device && can_access == 0) return set_last_error(cudaErrorPeerAccessUnsupported);
  }
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}

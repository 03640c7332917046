// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/communication/peers.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

/// \file
/// How the ranks of a communicator get access to each other's memory. Ranks of one process allocate in memory
/// pools that all their GPUs can address, and use the pointers. If each rank is a process, they open IPC handles of
/// CUDA. NCCL is only used to gather the descriptions of the ranks.
///
/// Pools are used because peer access of whole devices would cover all memory that a program allocates with cudaMalloc.
/// Then cudaFree of one rank may wait for kernels on the GPU of another rank, and these may wait for a message of the
/// first rank.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How ranks share memory.
enum class memory_sharing { none, of_threads, of_processes };

/// The description of a rank's memory, which it sends to all ranks.
struct memory_description {
  std::int64_t status;  // at first the status of its checks, then of its allocation
  // In the first message: there are few enough ranks. In the second: the rank's memory can be shared. In the third: the
  // rank has mapped the memory of all others.
  std::int64_t is_able;
  std::uint64_t host;     // a number that all processes of a host share
  std::uint64_t process;  // a number that each process has for itself
  std::uint64_t address;
  std::uint64_t bytes;  // size of the caller's part
  std::int32_t device;
  std::int32_t spare;
#if !STRATA_HOST_SIMT
  cudaIpcMemHandle_t handle;
#endif
};

/// Returns a number that identifies this host until its next boot.
inline std::uint64_t number_of_host() {
  char text[64] = {};
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fread(text, 1, sizeof text - 1, file) == 0) text[0] = 0;
    std::fclose(file);
  }
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}
inline std::uint64_t number_of_process() {
  static const std::uint64_t number = detail::next_epoch();
  return number;
}

/// An allocation of this rank, with its mappings of the other ranks' allocations.
class shared_memory {
 public:
  shared_memory() = default;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  /// Frees the memory, unless other ranks may still write and read it.
  ~shared_memory() {
    if (is_shared_) peer_group::remove(comm_);
    if (is_shared_ && !is_unused_) return;
    int current = 0;
    const bool is_elsewhere = comm_ != nullptr && cudaGetDevice(&current) == cudaSuccess && current != device_;
    if (is_elsewhere) static_cast<void>(cudaSetDevice(device_));
    if (allocation_ != nullptr) {
      static_cast<void>(cudaDeviceSynchronize());
      close_mappings();
      static_cast<void>(cudaFree(allocation_));
    }
    if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
    if (group_ != nullptr && group_->host != nullptr) static_cast<void>(cudaFreeHost(group_->host));
    if (is_elsewhere) static_cast<void>(cudaSetDevice(current));
  }

  void* data() const { return allocation_ == nullptr ? nullptr : allocation_ + peer_group::reserved_bytes; }
  std::size_t size() const { return bytes_; }
  bool is_shared() const { return is_shared_; }
  void abort() const {
    if (group_ != nullptr && group_->host != nullptr) group_->abort();
  }

  cudaError_t allocate(std::size_t bytes, ncclComm_t comm) {
    rank_position position{};
    cudaError_t status = detail::position_of(comm, position);
    if (status != cudaSuccess) return status;
    comm_ = comm;
    bytes_ = bytes;
    std::vector<memory_description> all(static_cast<std::size_t>(position.ranks));
    memory_description mine = describe(position);
    status = gather(mine, all);
    if (status == cudaSuccess) status = first_error(all);
    if (status != cudaSuccess) return status;

    mine.status = allocate_for(mine, bytes, all, sharing_of(all));
    status = gather(mine, all);
    if (status == cudaSuccess) status = first_error(all);
    if (status != cudaSuccess) return status;

    mine.is_able = map(all, position) ? 1 : 0;
    status = gather(mine, all);
    if (status != cudaSuccess) return status;
    is_shared_ = true;
    for (const memory_description& other : all) is_shared_ = is_shared_ && other.is_able != 0;
    if (is_shared_) {
      peer_group::add(comm, group_);
    } else {
      close_mappings();
    }
    return cudaSuccess;
  }

  /// Waits until all ranks have come here, and until the work of this rank's GPU is done.
  cudaError_t wait_for_all() {
    const cudaError_t status = cudaDeviceSynchronize();
    std::vector<memory_description> all(static_cast<std::size_t>(group_->ranks));
    cudaError_t gathered = gather(memory_description{}, all);
    // A rank frees its memory only after all other processes have closed their mappings of it: the second gather waits
    // for that.
    close_mappings();
    if (gathered == cudaSuccess) gathered = gather(memory_description{}, all);
    is_unused_ = gathered == cudaSuccess;
    return status != cudaSuccess ? status : gathered;
  }

 private:
  /// Describes this rank's host and process.
  memory_description describe(rank_position position) {
    memory_description mine{};
    group_ = std::make_shared<peer_group>();
    group_->rank = position.rank;
    group_->ranks = position.ranks;
    mine.status = cudaGetDevice(&device_);
    if (detail::is_refused(peer_group::of(comm_) != nullptr, "comm",
                           "has a DistributedMemory already: release it first")) {
      mine.status = cudaErrorInvalidValue;
    }
    mine.host = detail::number_of_host();
    mine.process = detail::number_of_process();
    mine.device = device_;
    mine.is_able = position.ranks <= max_peers ? 1 : 0;
    return mine;
  }

  /// Returns how the ranks share memory. The result is the same on all ranks.
  static memory_sharing sharing_of(const std::vector<memory_description>& all) {
    std::size_t pairs_of_one_process = 0;
    for (const memory_description& a : all) {
      if (a.is_able == 0 || a.host != all[0].host) return memory_sharing::none;
      for (const memory_description& b : all) pairs_of_one_process += a.process == b.process ? 1 : 0;
    }
    if (pairs_of_one_process == all.size() * all.size()) return memory_sharing::of_threads;
    return pairs_of_one_process == all.size() ? memory_sharing::of_processes : memory_sharing::none;
  }

  /// Allocates the memory, such that it can be shared if possible. If the allocation fails, the status says why.
  cudaError_t allocate_for(memory_description& mine, std::size_t bytes, const std::vector<memory_description>& all,
                           memory_sharing sharing) {
    constexpr std::size_t reserved = peer_group::reserved_bytes;
    if (bytes > ~std::size_t{0} - reserved) return cudaErrorMemoryAllocation;
    mine.is_able = sharing == memory_sharing::of_processes || (sharing == memory_sharing::of_threads && make_pool(all));
    void* memory = nullptr;
    cudaError_t status = pool_ == nullptr ? cudaMalloc(&memory, reserved + bytes)
                                          : cudaMallocFromPoolAsync(&memory, reserved + bytes, pool_, nullptr);
    if (status != cudaSuccess) return status;
    allocation_ = static_cast<char*>(memory);
    status = cudaMemset(allocation_, 0, reserved);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    void* pinned = nullptr;
    constexpr std::size_t words_bytes = 256;
    if (status == cudaSuccess) {
      status = cudaHostAlloc(&pinned, words_bytes + peer_group::staging_bytes, cudaHostAllocPortable);
    }
    if (status != cudaSuccess) return status;
    group_->host = new (pinned) peer_host_words{0, 0};
    group_->staging = static_cast<char*>(pinned) + words_bytes;
    mine.address = reinterpret_cast<std::uint64_t>(allocation_);
    mine.bytes = bytes;
#if !STRATA_HOST_SIMT
    if (sharing == memory_sharing::of_processes && cudaIpcGetMemHandle(&mine.handle, allocation_) != cudaSuccess) {
      mine.is_able = 0;
      static_cast<void>(cudaGetLastError());
    }
#endif
    return cudaSuccess;
  }

  /// Makes a pool on this GPU that the GPUs of all ranks can address. Returns false if one of them cannot.
  bool make_pool(const std::vector<memory_description>& all) {
    for (const memory_description& other : all) {
      int can_access = 0;
      if (other.device == device_) continue;
      if (cudaDeviceCanAccessPeer(&can_access, device_, other.device) != cudaSuccess || can_access == 0) return false;
    }
    std::vector<cudaMemAccessDesc> accesses;
    for (const memory_description& other : all) {
      cudaMemAccessDesc access{};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = other.device;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      if (other.device != device_) accesses.push_back(access);
    }
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device_;
    cudaError_t status = cudaMemPoolCreate(&pool_, &properties);
    if (status == cudaSuccess && !accesses.empty()) {
      status = cudaMemPoolSetAccess(pool_, accesses.data(), accesses.size());
      if (status != cudaSuccess) {
        static_cast<void>(cudaMemPoolDestroy(pool_));
        pool_ = nullptr;
      }
    }
    if (status != cudaSuccess) {
      // The runtime keeps this status as its last error. The call does not fail because of it, so it is cleared.
      static_cast<void>(cudaGetLastError());
      return false;
    }
    return true;
  }

  cudaError_t gather(const memory_description& mine, std::vector<memory_description>& all) const {
    constexpr std::size_t bytes = sizeof(memory_description);
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return status;
    {
      // This memory is freed in the order of the stream, because cudaFree would wait for ranks that never come.
      scratch_memory messages(stream);
      status = messages.allocate(bytes * all.size());
      if (status == cudaSuccess) {
        char* const own = static_cast<char*>(messages.data()) + bytes * static_cast<std::size_t>(group_->rank);
        status = cudaMemcpyAsync(own, &mine, bytes, cudaMemcpyHostToDevice, stream);
        if (status == cudaSuccess) {
          status = detail::completed(ncclAllGather(own, messages.data(), bytes, ncclUint8, comm_, stream), comm_);
        }
      }
      if (status == cudaSuccess) {
        status = detail::copy_to_host(all.data(), messages.data(), bytes * all.size(), comm_, stream);
      }
    }
    static_cast<void>(cudaStreamDestroy(stream));
    return status;
  }

  static cudaError_t first_error(const std::vector<memory_description>& all) {
    for (const memory_description& rank : all) {
      if (rank.status != cudaSuccess) return static_cast<cudaError_t>(rank.status);
    }
    return cudaSuccess;
  }

  /// Maps the memory of all ranks. Returns false if the memory of one rank cannot be mapped.
  bool map(const std::vector<memory_description>& all, rank_position position) {
    const memory_description& mine = all[static_cast<std::size_t>(position.rank)];
    for (const memory_description& other : all) {
      if (other.is_able == 0) return false;
    }
    for (int rank = 0; rank < position.ranks; ++rank) {
      const memory_description& other = all[static_cast<std::size_t>(rank)];
      group_->bytes[rank] = static_cast<std::size_t>(other.bytes);
      if (other.process == mine.process) {
        group_->memory[rank] = reinterpret_cast<char*>(other.address);
      } else {
        group_->memory[rank] = open(other);
        if (group_->memory[rank] == nullptr) return false;
        is_opened_[rank] = true;
      }
    }
    return true;
  }

  static char* open([[maybe_unused]] const memory_description& other) {
    void* memory = nullptr;
#if !STRATA_HOST_SIMT
    if (cudaIpcOpenMemHandle(&memory, other.handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
#endif
    return static_cast<char*>(memory);
  }

  void close_mappings() {
    for (int rank = 0; rank < max_peers; ++rank) {
#if !STRATA_HOST_SIMT
      if (is_opened_[rank]) static_cast<void>(cudaIpcCloseMemHandle(group_->memory[rank]));
#endif
      is_opened_[rank] = false;
    }
  }

  ncclComm_t comm_ = nullptr;
  int device_ = 0;
  char* allocation_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_shared_ = false;
  bool is_unused_ = false;  // true when no rank uses the memory of another rank any more
  bool is_opened_[max_peers] = {};
  std::shared_ptr<peer_group> group_;
};

}  // namespace detail
STRATA_NAMESPACE_END

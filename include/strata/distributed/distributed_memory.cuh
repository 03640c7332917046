// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/communication/peers.cuh>
#include <strata/distributed/communication/share_memory.cuh>

#include <cstddef>
#include <memory>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// Device memory that the GPUs of all ranks of a communicator write and read directly.
///
///     DistributedMemory memory;
///     memory.Allocate(bytes, comm);
///
/// While it exists, calls of this communicator send their small messages by stores to the other GPUs, in place of
/// collectives of NCCL. Calls whose arrays lie in this memory also move their items directly between the GPUs, without
/// NCCL:
///
/// | call | array in this memory, on all ranks |
/// |---|---|
/// | `DistributedExchange::Items`, `Pairs` | outputs |
/// | `DistributedRadixSort`, `DistributedMergeSort` | temporary storage |
/// | `DistributedHashJoin`, if no column of the output has values | temporary storage |
///
/// - **Call.** `Allocate` and `Release` are collective: all ranks call them, at the same place among their calls of
///   this communicator. The thread that makes the calls of a rank calls them, while the rank's device is the current
///   one. The number of bytes may differ between ranks, and may be 0. `Allocate` and `Release` wait for all ranks and
///   for all work of this device.
/// - **Result.** `data()` is aligned to 256 bytes and has `size()` bytes, for any use. `is_shared()` is the same on all
///   ranks. It is false where a GPU cannot address the memory of another one, CUDA refuses to share it, there are
///   more than 8 ranks, or some ranks are threads of one process and others not; then all calls use NCCL, and the
///   results are the same.
/// - **Memory.** Messages and small sorts take 12 MiB more on each GPU.
/// - **Order.** Messages are counted in the order in which they run. Calls of one communicator in several streams need
///   an event between them, in the same order on all ranks.
/// - **Lifetime.** A communicator can have one such memory at a time. Call `Release` before `ncclCommDestroy`, even if
///   the memory is not shared. The destructor frees memory that is not shared, when all work of this device is done. It
///   does not wait if the memory is shared: shared memory that was not released, as after an error, stays allocated
///   until the process ends, because other ranks may still write there.
/// - **Capture.** `Allocate` and `Release` cannot be captured. Calls in which the host does not wait can be captured,
///   if all ranks capture them. Such a graph uses the memory: replay it on all ranks, and not after `Release`.
/// - **Errors.** `cudaErrorInvalidValue`: a null communicator, or one that has such memory already, or memory that was
///   not released. `cudaErrorMemoryAllocation`: on all ranks, if one has too little memory. After `Abort`, kernels that
///   wait for other ranks end. Calls of this communicator that send messages through this memory return
///   `cudaErrorUnknown`. (`ItemsFixed` and `PairsFixed` send none.)
/// - **A rank that never comes.** A kernel that has waited for it for 5 minutes traps, because a stream that ends
///   without an error would pass for a result. A trap destroys the context: all later calls of this process on this
///   device return `cudaErrorLaunchFailure`. So a debugger that holds one rank for so long ends the others. `Abort`, or
///   a failed communicator that the host sees while it waits, ends the kernel without a trap.
///
/// @code
/// #include <strata/distributed/distributed_reduce.cuh>
///
/// #include <cstdlib>
/// #include <thread>
/// #include <vector>
///
/// __managed__ int sums[8];  // one of each rank
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, ncclComm_t comm) {
///   strata::DistributedMemory memory;
///   must(cudaSetDevice(rank) == cudaSuccess && memory.Allocate(sizeof(int), comm) == cudaSuccess);
///   int* const number = static_cast<int*>(memory.data());
///   must(cudaMemcpy(number, &rank, sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
///   must(strata::DistributedReduce::Sum(number, sums + rank, 1, comm) == cudaSuccess);
///   must(memory.Release() == cudaSuccess && ncclCommDestroy(comm) == ncclSuccess);
/// }
///
/// int main() {
///   int ranks = 0;
///   must(cudaGetDeviceCount(&ranks) == cudaSuccess && ranks <= 8);
///   std::vector<ncclComm_t> comms(ranks);
///   must(ncclCommInitAll(comms.data(), ranks, nullptr) == ncclSuccess);
///   std::vector<std::thread> threads;
///   for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_main, rank, comms[rank]);
///   for (std::thread& thread : threads) thread.join();
///   std::printf("%d", sums[0] == ranks * (ranks - 1) / 2);
/// }
/// // prints: 1
/// @endcode
class DistributedMemory {
 public:
  /// No memory yet.
  DistributedMemory() = default;
  DistributedMemory(const DistributedMemory&) = delete;
  DistributedMemory& operator=(const DistributedMemory&) = delete;
  /// Frees the memory if it is not shared. See `Release`.
  ~DistributedMemory() { free(); }

  /// Allocates `bytes` bytes on this rank, and shares the memory of all ranks if their GPUs can.
  cudaError_t Allocate(std::size_t bytes, ncclComm_t comm) {
    if (detail::is_refused(memory_ != nullptr, "DistributedMemory", "has memory already: release it first")) {
      return cudaErrorInvalidValue;
    }
    auto made = std::make_unique<detail::shared_memory>();
    const cudaError_t status = made->allocate(bytes, comm);
    if (status == cudaSuccess) memory_ = std::move(made);
    return status;
  }

  /// Frees the memory when no rank uses it any more.
  cudaError_t Release() {
    const cudaError_t status = memory_ == nullptr ? cudaSuccess : memory_->wait_for_all();
    free();
    return status;
  }

  /// Ends the kernels of this rank that wait for other ranks. Any thread may call it, but not while Allocate or Release
  /// runs. The results of calls that have not ended by then are undefined, though their streams end without an error.
  void Abort() const {
    if (memory_ != nullptr) memory_->abort();
  }

  /// Returns the address of this rank's memory, or null.
  void* data() const { return memory_ == nullptr ? nullptr : memory_->data(); }
  /// Bytes of this rank's memory.
  std::size_t size() const { return memory_ == nullptr ? 0 : memory_->size(); }
  /// True if the GPUs of all ranks address the memory of all ranks.
  bool is_shared() const { return memory_ != nullptr && memory_->is_shared(); }

 private:
  void free() { memory_.reset(); }

  std::unique_ptr<detail::shared_memory> memory_;
};

STRATA_NAMESPACE_END

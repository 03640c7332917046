// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/arrays.hpp>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/communication/peers.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

/// \file
/// The parts of NCCL that all calls of the layer need: errors, positions, the wait of the host, and small messages.

STRATA_NAMESPACE_BEGIN
namespace detail {

// ------------------------------------------------------------------ errors

/// Returns NCCL's result as an error of CUDA.
///
/// | NCCL | CUDA |
/// |---|---|
/// | ncclSuccess | cudaSuccess |
/// | ncclInvalidArgument, ncclInvalidUsage | cudaErrorInvalidValue |
/// | ncclInProgress | cudaErrorNotReady |
/// | ncclUnhandledCudaError | the last error of the CUDA runtime, or cudaErrorUnknown if it has none |
/// | all others: ncclSystemError, ncclInternalError, ncclRemoteError | cudaErrorUnknown |
inline cudaError_t as_cuda_error(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return cudaSuccess;
    case ncclInvalidArgument:
    case ncclInvalidUsage:
      return cudaErrorInvalidValue;
    case ncclInProgress:
      return cudaErrorNotReady;
    case ncclUnhandledCudaError: {
      const cudaError_t last = cudaPeekAtLastError();
      return last != cudaSuccess ? last : cudaErrorUnknown;
    }
    default:
      return cudaErrorUnknown;
  }
}

/// Returns the result of a call of NCCL as an error of CUDA. A communicator that does not block returns ncclInProgress:
/// then the host waits until the call is complete.
inline cudaError_t completed(ncclResult_t result, ncclComm_t comm) {
  while (result == ncclInProgress) {
    std::this_thread::yield();
    const ncclResult_t queried = ncclCommGetAsyncError(comm, &result);
    if (queried != ncclSuccess) return detail::as_cuda_error(queried);
  }
  return detail::as_cuda_error(result);
}

// ------------------------------------------------------------------ positions

struct rank_position {
  int rank = 0;
  int ranks = 1;
};

/// Finds the position of this rank. A null communicator is an error.
inline cudaError_t position_of(ncclComm_t comm, rank_position& out) {
  if (detail::refuses_null(comm, "comm")) return cudaErrorInvalidValue;
  const cudaError_t status = detail::completed(ncclCommUserRank(comm, &out.rank), comm);
  return status != cudaSuccess ? status : detail::completed(ncclCommCount(comm, &out.ranks), comm);
}

// ------------------------------------------------------------------ the wait of the host

/// Waits until all work in the stream is done. If the communicator was aborted or has failed, the wait ends with an
/// error, because data of other ranks may never arrive.
inline cudaError_t wait_for(cudaStream_t stream, ncclComm_t comm) {
  const std::shared_ptr<peer_group> peers = peer_group::of(comm);
  const auto failed_with = [&](ncclResult_t result) {
    if (peers != nullptr) peers->abort();
    return detail::as_cuda_error(result);
  };
  for (bool has_polled = false;; has_polled = true) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaErrorNotReady || has_polled) {
      // The runtime keeps cudaErrorNotReady as the last error, although it is no error.
      if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
    }
    ncclResult_t of_comm = ncclSuccess;
    const ncclResult_t queried = ncclCommGetAsyncError(comm, &of_comm);
    if (queried != ncclSuccess) return failed_with(queried);
    if (of_comm != ncclSuccess && of_comm != ncclInProgress) return failed_with(of_comm);
    if (status == cudaSuccess && peers != nullptr && peers->has_failed()) return cudaErrorUnknown;
    if (status != cudaErrorNotReady) return status;
    std::this_thread::yield();
  }
}

/// Copies to host memory what other ranks have sent. A copy to pageable memory would wait for the stream, also for
/// ranks that never answer, and would not notice that the communicator has failed. So this function calls wait_for()
/// before such a copy, or copies to pinned memory and then calls it.
inline cudaError_t copy_to_host(void* to, const void* from, std::size_t bytes, ncclComm_t comm, cudaStream_t stream) {
  const std::shared_ptr<peer_group> peers = peer_group::of(comm);
  if (peers != nullptr && bytes <= peer_group::staging_bytes && to != nullptr) {
    // A copy to pinned memory does not wait itself, so one wait is enough.
    const cudaError_t copied = cudaMemcpyAsync(peers->staging, from, bytes, cudaMemcpyDeviceToHost, stream);
    const cudaError_t waited = copied != cudaSuccess ? copied : detail::wait_for(stream, comm);
    if (waited == cudaSuccess) std::memcpy(to, peers->staging, bytes);
    return waited;
  }
  cudaError_t status = detail::wait_for(stream, comm);
  if (status != cudaSuccess || to == nullptr) return status;
  status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

// ------------------------------------------------------------------ small messages of all ranks

/// Gathers bytes of all ranks, in the order of ranks, on all ranks. It works in place if `d_mine` is this rank's part
/// of `d_all`. Ranks that share memory store small messages there.
inline cudaError_t all_gather(const void* d_mine, void* d_all, std::size_t bytes_each, ncclComm_t comm,
                              cudaStream_t stream) {
  if (peer_group::takes(bytes_each)) {
    if (const auto peers = peer_group::of(comm)) return peers->gather(d_mine, d_all, bytes_each, comm, stream);
  }
  return detail::completed(ncclAllGather(d_mine, d_all, bytes_each, ncclUint8, comm, stream), comm);
}

/// One block calls `then()` when NCCL has gathered the messages.
template <class Then>
STRATA_KERNEL void after_gather_kernel(Then then) {
  then();
}

/// Gathers bytes as the all_gather() above does. When the messages are there, one block also calls `then()`: in the
/// kernel that receives them, if there is such a kernel. `then` must work with any number of threads.
template <class Then>
cudaError_t all_gather(const void* d_mine, void* d_all, std::size_t bytes_each, ncclComm_t comm, cudaStream_t stream,
                       const char* name, const Then& then) {
  if (peer_group::takes(bytes_each)) {
    if (const auto peers = peer_group::of(comm)) return peers->gather(d_mine, d_all, bytes_each, comm, stream, then);
  }
  const cudaError_t status = detail::completed(ncclAllGather(d_mine, d_all, bytes_each, ncclUint8, comm, stream), comm);
  if (status != cudaSuccess) return status;
  launch_configuration configuration{name, dim3(1), dim3(1)};
  configuration.stream = stream;
  return strata::launch(configuration, after_gather_kernel<Then>, then);
}

/// Copies messages to pinned memory of the host.
struct copy_messages {
  const unsigned* from;
  unsigned* to;
  unsigned words;

  STRATA_D void operator()() const {
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
      // Messages may have padding, and room for samples that a rank does not have.
      platform::may_be_unwritten(from + i, sizeof(unsigned));
      to[i] = from[i];
    }
  }
};

/// all_gather(), then copy_to_host() of the messages of all ranks. Where ranks share memory, the kernel that receives
/// the messages copies them.
inline cudaError_t gather_to_host(void* to, const void* d_mine, void* d_all, std::size_t bytes_each, int ranks,
                                  ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = bytes_each * static_cast<std::size_t>(ranks);
  const std::shared_ptr<peer_group> peers = peer_group::takes(bytes_each) ? peer_group::of(comm) : nullptr;
  if (peers == nullptr || bytes > peer_group::staging_bytes || to == nullptr) {
    const cudaError_t gathered = detail::all_gather(d_mine, d_all, bytes_each, comm, stream);
    return gathered != cudaSuccess ? gathered : detail::copy_to_host(to, d_all, bytes, comm, stream);
  }
  const copy_messages copy{static_cast<const unsigned*>(d_all), static_cast<unsigned*>(peers->staging),
                           static_cast<unsigned>(bytes / sizeof(unsigned))};
  const cudaError_t gathered = peers->gather(d_mine, d_all, bytes_each, comm, stream, copy);
  const cudaError_t waited = gathered != cudaSuccess ? gathered : detail::wait_for(stream, comm);
  if (waited == cudaSuccess) std::memcpy(to, peers->staging, bytes);
  return waited;
}

STRATA_ARCH_DETAIL_NAMESPACE_END

STRATA_NAMESPACE_BEGIN
namespace detail {

// ------------------------------------------------------------------ what ranks say of their calls

/// The header that every rank sends of its call. Headers are gathered first, so that all ranks return the same error,
/// and none waits for a rank that has refused its arguments. Such a rank takes part, with its error as the status.
struct call_header {
  std::int64_t status = 0;  // a cudaError_t
  std::int64_t num_items = 0;
  std::int64_t capacity = 0;
  std::int64_t spare = 0;
  /// Offsets of arrays in the memory that the ranks share (peers.cuh): of the keys or items, and of the values. Other
  /// ranks write or read these arrays directly. -1 means that an array does not lie there; then no array of the call is
  /// written or read directly.
  std::int64_t shared[2] = {-1, -1};
  std::int64_t is_in_area = 0;  // the items lie in the rank's area for small calls
};

/// Returns the offset of an array in the shared memory of this rank, or -1. An empty array has a valid offset.
inline std::int64_t shared_offset_of(ncclComm_t comm, const void* array, std::size_t bytes) {
  const std::shared_ptr<peer_group> peers = peer_group::of(comm);
  return peers == nullptr ? -1 : bytes == 0 ? 0 : peers->offset_of(array, bytes);
}
inline bool has_shared_arrays(const call_header& header, int arrays) {
  bool has_all = true;
  for (int i = 0; i < arrays; ++i) has_all = has_all && header.shared[i] >= 0;
  return has_all;
}

/// Returns the shared memory of the ranks if the first `arrays` arrays of all of them lie there, otherwise null.
template <class Headers>
std::shared_ptr<peer_group> peers_of_call(ncclComm_t comm, const Headers& headers, int ranks, int arrays) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (!detail::has_shared_arrays(headers[static_cast<std::size_t>(rank)], arrays)) return nullptr;
  }
  return peer_group::of(comm);
}

// Checks that several calls of ranks make.

inline bool refuses_storage_of_rank(bool is_mapped) {
  return detail::is_refused(!is_mapped, "temp_storage_bytes", "is less than what the size query said");
}
inline bool refuses_capacity(bool is_too_small) {
  return detail::is_refused(is_too_small, "the capacity of a rank", "is less than what the rank receives");
}
inline bool refuses_other_call(bool differs) {
  return detail::is_refused(differs, "another rank",
                            "has called another function, or this one with other types or options");
}
inline bool refuses_ranks(int ranks, int most) {
  return detail::is_refused(ranks > most, "comm", "has more ranks than this function allows");
}

/// Returns the status that a rank has sent. If that rank has refused its call, this rank logs the refusal, unless this
/// rank has refused its own call.
inline cudaError_t status_of_rank(std::int64_t sent) {
  const auto status = static_cast<cudaError_t>(sent);
  static_cast<void>(
      detail::is_refused(status == cudaErrorInvalidValue, "a rank",
                         "has refused its arguments, or values that its device has read: see that rank's log"));
  return status;
}

/// Returns the error of the lowest rank that has one.
inline cudaError_t common_status(const call_header* headers, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const cudaError_t status = detail::status_of_rank(headers[rank].status);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

/// A few bytes of device memory for a rank that takes part without temporary storage, from CUDA's stream-ordered
/// allocator.
class scratch_memory {
 public:
  explicit scratch_memory(cudaStream_t stream) : stream_(stream) {}
  ~scratch_memory() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, stream_));
  }
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;

  /// Allocates the memory. Call this once.
  cudaError_t allocate(std::size_t bytes) { return cudaMallocAsync(&memory_, bytes, stream_); }
  void* data() const { return memory_; }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END

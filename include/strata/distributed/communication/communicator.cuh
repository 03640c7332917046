// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/communication/nccl.hpp>

#include <cstddef>
#include <cstdint>
#include <thread>

/// \file
/// What all calls of the floor need of NCCL: errors, positions, bytes that move, and the wait of the host.

STRATA_NAMESPACE_BEGIN
namespace detail {

// ------------------------------------------------------------------ errors

/// NCCL's result as CUDA's error.
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

/// What a call of NCCL has returned, as CUDA's error. A communicator that does not block returns ncclInProgress: then
/// the host waits until the call is made.
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

/// A null communicator is an error.
inline cudaError_t position_of(ncclComm_t comm, rank_position& out) {
  if (comm == nullptr) return cudaErrorInvalidValue;
  const cudaError_t status = detail::completed(ncclCommUserRank(comm, &out.rank), comm);
  return status != cudaSuccess ? status : detail::completed(ncclCommCount(comm, &out.ranks), comm);
}

// ------------------------------------------------------------------ bytes that move

/// Bytes of all ranks, in their order, to all ranks. In place if `d_mine` is this rank's part of `d_all`.
inline cudaError_t all_gather(const void* d_mine, void* d_all, std::size_t bytes_each, ncclComm_t comm,
                              cudaStream_t stream) {
  return detail::completed(ncclAllGather(d_mine, d_all, bytes_each, ncclUint8, comm, stream), comm);
}

/// NCCL copies words of 16 bytes where the addresses of both ends are multiples of 16. Elsewhere it is about half as
/// fast: 148 GB/s for 1 GiB between two H100, whose link makes 349. In an aligned array, items whose index is a
/// multiple of this number have such addresses, whatever their size. So a large piece is sent with its *lead*: the
/// items before it, from such an index on.
inline constexpr std::int64_t aligned_items = 16;
inline constexpr std::int64_t lead_of(std::int64_t index) { return index % aligned_items; }

/// An array of items, parts of which go to all ranks and come from all ranks.
struct exchanged_array {
  const void* d_send;
  void* d_receive;
  std::size_t item_bytes;
};

/// Where the pieces of an array begin and how many items they have, in host memory: as many for each rank, those of
/// rank 0 first.
struct piece_list {
  const std::size_t* offsets;
  const std::size_t* counts;
};

/// A piece that this rank sends, and one that it receives, in bytes.
struct exchanged_piece {
  const char* from;
  std::size_t sent;
  std::size_t sent_lead;
  char* to;
  std::size_t received;
  std::size_t received_lead;
};

/// Arrays that are cut alike, and their pieces to each rank and from each. What rank a sends to rank b is what b
/// receives from a: the caller knows that the counts agree, piece by piece.
struct array_transfer {
  const exchanged_array* arrays;
  int num_arrays;
  piece_list sent;
  piece_list received;
  int pieces_per_rank = 1;
  /// Of pieces to receive: where they begin in the arrays of their senders. Needed for transfers with leads.
  const std::size_t* sender_offsets = nullptr;

  /// Calls `f(exchanged_piece)` for each piece of each array, in the same order on all ranks, while it returns true.
  template <class F>
  bool for_each_piece(int receiver, int sender, const F& f) const {
    const auto lead_bytes = [](std::size_t offset, const exchanged_array& array) {
      return static_cast<std::size_t>(lead_of(static_cast<std::int64_t>(offset))) * array.item_bytes;
    };
    for (int i = 0; i < num_arrays; ++i) {
      const exchanged_array& array = arrays[i];
      for (int piece = 0; piece < pieces_per_rank; ++piece) {
        const auto out = static_cast<std::size_t>(receiver * pieces_per_rank + piece);
        const auto in = static_cast<std::size_t>(sender * pieces_per_rank + piece);
        const char* const from = static_cast<const char*>(array.d_send) + sent.offsets[out] * array.item_bytes;
        char* const to = static_cast<char*>(array.d_receive) + received.offsets[in] * array.item_bytes;
        const exchanged_piece moved{from,
                                    sent.counts[out] * array.item_bytes,
                                    lead_bytes(sent.offsets[out], array),
                                    to,
                                    received.counts[in] * array.item_bytes,
                                    sender_offsets != nullptr ? lead_bytes(sender_offsets[in], array) : 0};
        if (!f(moved)) return false;
      }
    }
    return true;
  }
};

/// Memory where pieces of other ranks are received with their leads, before they are copied to where they belong. The
/// pieces lie there in the order in which they are received.
class piece_staging {
 public:
  explicit piece_staging(void* memory) : next_(static_cast<char*>(memory)) {}

  char* take(std::size_t bytes) {
    char* const piece = next_;
    next_ += (bytes + (alignment - 1)) / alignment * alignment;
    return piece;
  }
  /// What up to `items` items of an array need that come in up to `pieces` pieces.
  static std::size_t bytes(std::size_t items, std::size_t pieces, std::size_t item_bytes) {
    return (items + pieces * static_cast<std::size_t>(aligned_items)) * item_bytes + pieces * alignment;
  }

 private:
  static constexpr std::size_t alignment = 128;
  char* next_;
};

/// Carries out several transfers in one group. Empty pieces are not sent. Own pieces are copied, or stay where they
/// are. With `d_staging`, an aligned address, pieces are sent with their leads: all ranks of a call must have one then,
/// and sent arrays must be aligned.
inline cudaError_t all_to_all(const array_transfer* transfers, int num_transfers, rank_position position,
                              ncclComm_t comm, cudaStream_t stream, void* d_staging = nullptr) {
  cudaError_t status = cudaSuccess;
  const bool has_leads = d_staging != nullptr;
  // Each rank begins with another peer. Calls `f(transfer, receiver, sender)` while it returns true.
  const auto for_each_peer = [&](const auto& f) {
    for (int step = 1; step < position.ranks; ++step) {
      const int receiver = (position.rank + step) % position.ranks;
      const int sender = (position.rank + position.ranks - step) % position.ranks;
      for (int i = 0; i < num_transfers; ++i) {
        if (!f(transfers[i], receiver, sender)) return;
      }
    }
  };
  if (position.ranks > 1) {
    // Once a group has started it ends, whatever its calls return.
    status = detail::completed(ncclGroupStart(), comm);
    if (status != cudaSuccess) return status;
    const auto add = [&](ncclResult_t result) {
      if (result == ncclSuccess || result == ncclInProgress) return true;
      status = detail::as_cuda_error(result);
      return false;
    };
    piece_staging staging(d_staging);
    for_each_peer([&](const array_transfer& transfer, int receiver, int sender) {
      return transfer.for_each_piece(receiver, sender, [&](const exchanged_piece& piece) {
        const std::size_t sent_lead = has_leads ? piece.sent_lead : 0;
        const std::size_t received = piece.received + (has_leads ? piece.received_lead : 0);
        if (piece.sent > 0 &&
            !add(ncclSend(piece.from - sent_lead, sent_lead + piece.sent, ncclUint8, receiver, comm, stream))) {
          return false;
        }
        if (piece.received == 0) return true;
        char* const to = has_leads ? staging.take(received) : piece.to;
        return add(ncclRecv(to, received, ncclUint8, sender, comm, stream));
      });
    });
    const cudaError_t ended = detail::completed(ncclGroupEnd(), comm);
    if (status == cudaSuccess) status = ended;
  }
  // After the group, in which other ranks count on this one.
  const auto copy = [&](char* to, const char* from, std::size_t bytes) {
    if (bytes > 0 && from != to) status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    return status == cudaSuccess;
  };
  const auto copy_here = [&](const exchanged_piece& piece) {
    if (piece.sent != piece.received) status = cudaErrorInvalidValue;
    return status == cudaSuccess && copy(piece.to, piece.from, piece.sent);
  };
  for (int i = 0; i < num_transfers && status == cudaSuccess; ++i) {
    transfers[i].for_each_piece(position.rank, position.rank, copy_here);
  }
  if (!has_leads || status != cudaSuccess) return status;
  piece_staging staging(d_staging);
  for_each_peer([&](const array_transfer& transfer, int receiver, int sender) {
    return transfer.for_each_piece(receiver, sender, [&](const exchanged_piece& piece) {
      if (piece.received == 0) return true;
      const char* const staged = staging.take(piece.received_lead + piece.received) + piece.received_lead;
      return copy(piece.to, staged, piece.received);
    });
  });
  return status;
}

/// One transfer of one piece to each rank, and one from each. The four host arrays have an entry for each rank.
inline cudaError_t all_to_all(const exchanged_array* arrays, int num_arrays, const std::size_t* send_offsets,
                              const std::size_t* send_counts, const std::size_t* receive_offsets,
                              const std::size_t* receive_counts, rank_position position, ncclComm_t comm,
                              cudaStream_t stream) {
  const array_transfer transfer{arrays, num_arrays, {send_offsets, send_counts}, {receive_offsets, receive_counts}};
  return detail::all_to_all(&transfer, 1, position, comm, stream);
}

/// The same for one array, with offsets and sizes in bytes.
inline cudaError_t all_to_all(const void* d_send, const std::size_t* send_offsets, const std::size_t* send_bytes,
                              void* d_receive, const std::size_t* receive_offsets, const std::size_t* receive_bytes,
                              rank_position position, ncclComm_t comm, cudaStream_t stream) {
  const exchanged_array array{d_send, d_receive, 1};
  return detail::all_to_all(&array, 1, send_offsets, send_bytes, receive_offsets, receive_bytes, position, comm,
                            stream);
}

// ------------------------------------------------------------------ the wait of the host

/// Waits until all work in the stream is done. A communicator that was aborted or has failed ends the wait with an
/// error, though what other ranks owe the stream may never come.
inline cudaError_t wait_for(cudaStream_t stream, ncclComm_t comm) {
  for (bool has_polled = false;; has_polled = true) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaErrorNotReady || has_polled) {
      // The runtime keeps it as the last error, which it is not.
      if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
    }
    ncclResult_t of_comm = ncclSuccess;
    const ncclResult_t queried = ncclCommGetAsyncError(comm, &of_comm);
    if (queried != ncclSuccess) return detail::as_cuda_error(queried);
    if (of_comm != ncclSuccess && of_comm != ncclInProgress) return detail::as_cuda_error(of_comm);
    if (status != cudaErrorNotReady) return status;
    std::this_thread::yield();
  }
}

/// Copies what other ranks have sent to the host's memory. It waits before: a copy to pageable memory waits for the
/// stream itself, also for ranks that never answer, and does not see that the communicator has failed.
inline cudaError_t copy_to_host(void* to, const void* from, std::size_t bytes, ncclComm_t comm, cudaStream_t stream) {
  cudaError_t status = detail::wait_for(stream, comm);
  if (status != cudaSuccess || to == nullptr) return status;
  status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

// ------------------------------------------------------------------ what ranks say of their calls

/// What every rank says of its call. It is gathered first, so that all ranks return the same error, and none waits for
/// one that refused its arguments. That one takes part, with its error as the status.
struct call_header {
  std::int64_t status = 0;  // a cudaError_t
  std::int64_t num_items = 0;
  std::int64_t capacity = 0;
  std::int64_t spare = 0;
};

/// The error of the lowest rank that has one.
inline cudaError_t common_status(const call_header* headers, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (headers[rank].status != cudaSuccess) return static_cast<cudaError_t>(headers[rank].status);
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

  /// Once.
  cudaError_t allocate(std::size_t bytes) { return cudaMallocAsync(&memory_, bytes, stream_); }
  void* data() const { return memory_; }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END

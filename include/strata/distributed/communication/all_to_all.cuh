// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/communication/side_stream.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Arrays whose pieces go to all ranks and come from all ranks: all sends and receives of the layer.

STRATA_NAMESPACE_BEGIN
namespace detail {

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

/// Where the pieces of an array begin and how many items they have, in host memory. Each rank has the same number of
/// pieces, and the pieces of rank 0 come first.
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

/// Arrays that are cut in the same way, with their pieces to each rank and from each rank. The caller ensures that the
/// counts agree, piece by piece: what rank a sends to rank b is what b receives from a.
struct array_transfer {
  const exchanged_array* arrays;
  int num_arrays;
  piece_list sent;
  piece_list received;
  int pieces_per_rank = 1;
  /// Where the received pieces begin in the arrays of their senders. Transfers with leads need it.
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
  /// Returns the bytes for up to `items` items of an array in up to `pieces` pieces.
  static std::size_t bytes(std::size_t items, std::size_t pieces, std::size_t item_bytes) {
    return (items + pieces * static_cast<std::size_t>(aligned_items)) * item_bytes + pieces * alignment;
  }

 private:
  static constexpr std::size_t alignment = 128;
  char* next_;
};

/// Calls `f(transfer, receiver, sender)` for each transfer to and from other ranks, while it returns true. No two ranks
/// send to the same rank at the same step.
template <class F>
void for_each_peer(const array_transfer* transfers, int num_transfers, rank_position position, const F& f) {
  for (int step = 1; step < position.ranks; ++step) {
    const int receiver = (position.rank + step) % position.ranks;
    const int sender = (position.rank + position.ranks - step) % position.ranks;
    for (int i = 0; i < num_transfers; ++i) {
      if (!f(transfers[i], receiver, sender)) return;
    }
  }
}

/// Sends and receives the pieces of all transfers in one group.
inline cudaError_t send_and_receive(const array_transfer* transfers, int num_transfers, rank_position position,
                                    ncclComm_t comm, cudaStream_t stream, void* d_staging) {
  // A group that has been started must be ended, even after an error.
  cudaError_t status = detail::completed(ncclGroupStart(), comm);
  if (status != cudaSuccess) return status;
  const auto add = [&](ncclResult_t result) {
    if (result == ncclSuccess || result == ncclInProgress) return true;
    status = detail::as_cuda_error(result);
    return false;
  };
  const bool has_leads = d_staging != nullptr;
  piece_staging staging(d_staging);
  detail::for_each_peer(
      transfers, num_transfers, position, [&](const array_transfer& transfer, int receiver, int sender) {
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
  return status == cudaSuccess ? ended : status;
}

inline cudaError_t copy_piece(char* to, const char* from, std::size_t bytes, cudaStream_t stream) {
  return bytes == 0 || from == to ? cudaSuccess : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

/// Copies received pieces from the staging memory, where they lie with their leads, to where they belong.
inline cudaError_t copy_staged_pieces(const array_transfer* transfers, int num_transfers, rank_position position,
                                      cudaStream_t stream, void* d_staging) {
  cudaError_t status = cudaSuccess;
  piece_staging staging(d_staging);
  detail::for_each_peer(
      transfers, num_transfers, position, [&](const array_transfer& transfer, int receiver, int sender) {
        return transfer.for_each_piece(receiver, sender, [&](const exchanged_piece& piece) {
          if (piece.received == 0) return true;
          const char* const staged = staging.take(piece.received_lead + piece.received) + piece.received_lead;
          status = detail::copy_piece(piece.to, staged, piece.received, stream);
          return status == cudaSuccess;
        });
      });
  return status;
}

/// Copies the pieces that a rank keeps.
inline cudaError_t copy_local_pieces(const array_transfer* transfers, int num_transfers, int rank,
                                     cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < num_transfers && status == cudaSuccess; ++i) {
    transfers[i].for_each_piece(rank, rank, [&](const exchanged_piece& piece) {
      if (piece.sent != piece.received) status = cudaErrorInvalidValue;
      if (status == cudaSuccess) status = detail::copy_piece(piece.to, piece.from, piece.sent, stream);
      return status == cudaSuccess;
    });
  }
  return status;
}
inline std::size_t bytes_of_local_pieces(const array_transfer* transfers, int num_transfers, int rank) {
  std::size_t bytes = 0;
  for (int i = 0; i < num_transfers; ++i) {
    transfers[i].for_each_piece(rank, rank, [&](const exchanged_piece& piece) {
      if (piece.from != piece.to) bytes += piece.sent;
      return true;
    });
  }
  return bytes;
}

/// Means that no other stream is made, because the caller's stream may be captured.
inline constexpr std::size_t never_copied_beside = ~std::size_t{0};

/// Carries out several transfers in one group. Empty pieces are not sent. A rank's own pieces are copied, or stay where
/// they are. If they have `bytes_copied_beside` bytes or more, another stream copies them while the group runs. With
/// `d_staging`, an aligned address, pieces are sent with their leads. Then all ranks must pass a `d_staging`, and sent
/// arrays must be aligned.
inline cudaError_t all_to_all(const array_transfer* transfers, int num_transfers, rank_position position,
                              ncclComm_t comm, cudaStream_t stream, void* d_staging = nullptr,
                              std::size_t bytes_copied_beside = never_copied_beside) {
  side_stream beside;
  if (position.ranks > 1 &&
      detail::bytes_of_local_pieces(transfers, num_transfers, position.rank) >= bytes_copied_beside) {
    beside.make();
  }
  cudaError_t copied = cudaSuccess;
  if (beside.is_made()) {
    copied = beside.fork(stream);
    if (copied == cudaSuccess) {
      copied = detail::copy_local_pieces(transfers, num_transfers, position.rank, beside.get());
    }
  }
  // This rank takes part in the group even if its copies fail, because the other ranks wait for it.
  cudaError_t status = cudaSuccess;
  if (position.ranks > 1) {
    status = detail::send_and_receive(transfers, num_transfers, position, comm, stream, d_staging);
  }
  if (beside.is_made()) {
    // The streams are joined even after an error, because the caller's stream must not go on while memory is in use.
    const cudaError_t joined = beside.join(stream);
    if (copied == cudaSuccess) copied = joined;
  } else if (status == cudaSuccess) {
    copied = detail::copy_local_pieces(transfers, num_transfers, position.rank, stream);
  }
  if (status == cudaSuccess) status = copied;
  if (d_staging == nullptr || status != cudaSuccess) return status;
  return detail::copy_staged_pieces(transfers, num_transfers, position, stream, d_staging);
}

/// Carries out a transfer of one piece to each rank, and one piece from each rank. The four host arrays have an entry
/// for each rank.
inline cudaError_t all_to_all(const exchanged_array* arrays, int num_arrays, const std::size_t* send_offsets,
                              const std::size_t* send_counts, const std::size_t* receive_offsets,
                              const std::size_t* receive_counts, rank_position position, ncclComm_t comm,
                              cudaStream_t stream) {
  const array_transfer transfer{arrays, num_arrays, {send_offsets, send_counts}, {receive_offsets, receive_counts}};
  return detail::all_to_all(&transfer, 1, position, comm, stream);
}

/// Carries out a transfer of one piece of an array to each rank and from each rank, with offsets and sizes in bytes.
inline cudaError_t all_to_all(const void* d_send, const std::size_t* send_offsets, const std::size_t* send_bytes,
                              void* d_receive, const std::size_t* receive_offsets, const std::size_t* receive_bytes,
                              rank_position position, ncclComm_t comm, cudaStream_t stream) {
  const exchanged_array array{d_send, d_receive, 1};
  return detail::all_to_all(&array, 1, send_offsets, send_bytes, receive_offsets, receive_bytes, position, comm,
                            stream);
}

}  // namespace detail
STRATA_NAMESPACE_END

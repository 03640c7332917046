// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/communication/communicator.cuh>

#include <cstddef>
#include <cstdint>
#include <new>

/// \file
/// The messages that ranks gather before an exchange: a header, and how many items a rank has for each destination.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// An array in host memory. A failed allocation is an error of the call, like a failed allocation on the device.
template <class T>
class host_array {
 public:
  host_array() = default;
  ~host_array() { delete[] items_; }
  host_array(const host_array&) = delete;
  host_array& operator=(const host_array&) = delete;

  bool allocate(std::size_t count) {
    delete[] items_;
    items_ = new (std::nothrow) T[count]{};
    return items_ != nullptr;
  }
  T* data() const { return items_; }
  T& operator[](std::size_t i) const { return items_[i]; }

 private:
  T* items_ = nullptr;
};

inline constexpr int exchange_threads = 256;

/// Writes the message of this rank: the header of its call, and how many items it has for each rank. If the call is
/// refused, no counts are read. The grid has one block.
template <class Counts>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_message_kernel(call_header header, Counts counts, int ranks, call_header* d_header_out,
                                               std::int64_t* d_counts_out) {
  if (header.status == cudaSuccess && !counts.are_valid(ranks)) header.status = cudaErrorInvalidValue;
  const bool is_refused = header.status != cudaSuccess;
  for (int rank = static_cast<int>(threadIdx.x); rank < ranks; rank += exchange_threads) {
    d_counts_out[rank] = is_refused ? 0 : counts(rank);
  }
  if (threadIdx.x == 0) *d_header_out = header;
}

/// The messages of all ranks. A message has a part for each exchange: a call_header, then the counts.
class exchange_messages {
 public:
  exchange_messages(int ranks, int exchanges, int destinations)
      : ranks_(static_cast<std::size_t>(ranks)),
        part_(header_words + static_cast<std::size_t>(destinations)),
        message_(part_ * static_cast<std::size_t>(exchanges)) {}

  /// Returns the bytes of device memory for the messages of all ranks.
  std::size_t bytes() const { return ranks_ * message_ * sizeof(std::int64_t); }
  /// Returns a rank's part for an exchange in that memory.
  std::int64_t* part(void* d_messages, int rank, int exchange) const {
    return static_cast<std::int64_t*>(d_messages) + begin(rank, exchange);
  }

  bool allocate() { return words_.allocate(ranks_ * message_); }

  /// Writes a part of this rank's message. The counts of a refused call are not read; they become 0.
  template <class Counts>
  cudaError_t write(const call_header& header, const Counts& counts, void* d_messages, int rank, int exchange,
                    cudaStream_t stream) const {
    launch_configuration configuration{"strata::DistributedExchange, counts", dim3(1), dim3(exchange_threads)};
    configuration.stream = stream;
    std::int64_t* const d_part = part(d_messages, rank, exchange);
    return strata::launch(configuration, exchange_message_kernel<Counts>, header, counts,
                          static_cast<int>(part_ - header_words), reinterpret_cast<call_header*>(d_part),
                          d_part + header_words);
  }

  /// Gathers the messages of all ranks and waits for them. Returns the error of the lowest rank that has refused its
  /// call, or cudaErrorMemoryAllocation if there is no host memory.
  cudaError_t gather(void* d_messages, rank_position position, ncclComm_t comm, cudaStream_t stream) const {
    cudaError_t status = detail::gather_to_host(words_.data(), part(d_messages, position.rank, 0), d_messages,
                                                message_ * sizeof(std::int64_t), position.ranks, comm, stream);
    if (status != cudaSuccess) return status;
    if (words_.data() == nullptr) return cudaErrorMemoryAllocation;
    for (std::size_t at = 0; at < ranks_ * message_; at += part_) {
      status = detail::status_of_rank(words_[at]);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  call_header header(int rank, int exchange) const {
    const std::int64_t* const words = words_.data() + begin(rank, exchange);
    return {words[0], words[1], words[2], words[3], {words[4], words[5]}, words[6]};
  }
  const std::int64_t* counts(int rank, int exchange) const {
    return words_.data() + begin(rank, exchange) + header_words;
  }
  /// The distance from the counts of a rank to the counts of the next rank.
  std::size_t stride() const { return message_; }

 private:
  static constexpr std::size_t header_words = sizeof(call_header) / sizeof(std::int64_t);
  // not for users: header() reads seven words
  static_assert(header_words == 7, "a call_header has seven numbers of 8 bytes");

  std::size_t begin(int rank, int exchange) const {
    return static_cast<std::size_t>(rank) * message_ + static_cast<std::size_t>(exchange) * part_;
  }

  std::size_t ranks_;
  // Sizes of a part and of a message, in words of 8 bytes.
  std::size_t part_;
  std::size_t message_;
  host_array<std::int64_t> words_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

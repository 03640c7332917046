// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/kernels.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

/// \file
/// What ranks send to each other: all of them know it before anything is sent, so that none waits for one that refuses.
///
///     exchange_plan plan;
///     cudaError_t status = plan_exchange(plan, header, given_counts{d_counts}, d_messages, position, comm, stream);
///     const exchanged_array arrays[] = {{d_keys, d_keys_out, sizeof(Key)}, {d_values, d_values_out, sizeof(Value)}};
///     if (status == cudaSuccess) status = carry_out(plan, arrays, 2, comm, stream);

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// An array of the host. A failed allocation is an error of the call, as one of the device is.
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

/// The outcome of plan_exchange().
struct exchange_plan {
  rank_position position{};
  host_array<call_header> headers;  // of each rank
  host_array<std::int64_t> counts;  // items from each rank for each rank, those from rank 0 first
  std::int64_t num_received = -1;   // items for this rank; -1 if a rank refused its call

  std::int64_t count(int from, int to) const {
    return counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(position.ranks) +
                  static_cast<std::size_t>(to)];
  }
  std::int64_t received_by(int rank) const {
    std::int64_t sum = 0;
    for (int from = 0; from < position.ranks; ++from) sum += count(from, rank);
    return sum;
  }
  bool allocate() {
    const auto ranks = static_cast<std::size_t>(position.ranks);
    return headers.allocate(ranks) && counts.allocate(ranks * ranks);
  }
};

/// The bytes of device memory that plan_exchange() needs for `exchanges` exchanges: a message of each rank.
inline std::size_t exchange_messages_bytes(int ranks, int exchanges = 1) {
  const auto count = static_cast<std::size_t>(ranks);
  return count * static_cast<std::size_t>(exchanges) * (sizeof(call_header) + count * sizeof(std::int64_t));
}

/// Writes this rank's part of a message.
template <class Counts>
cudaError_t write_exchange_message(call_header header, cudaError_t host_status, const Counts& counts, int ranks,
                                   unsigned char* d_part, cudaStream_t stream) {
  if (header.status == cudaSuccess) header.status = host_status;
  launch_configuration configuration{"strata::DistributedExchange, counts", dim3(1), dim3(exchange_threads)};
  configuration.stream = stream;
  return strata::launch(configuration, exchange_message_kernel<Counts>, header, counts, ranks,
                        reinterpret_cast<call_header*>(d_part),
                        reinterpret_cast<std::int64_t*>(d_part + sizeof(call_header)));
}

/// Plans several exchanges with one wait of the host: `counts` says how many items this rank has for each rank, see
/// grouped_counts and given_counts. All ranks return alike:
///
/// - cudaSuccess: carry_out() may send.
/// - The error of the lowest rank of which a header has one.
/// - cudaErrorInvalidValue, where a rank gets more items than the capacity of its header. `num_received` says how
///   many.
///
/// A rank that has refused its arguments takes part with its error in the header; its counts are not read.
/// `d_messages` has exchange_messages_bytes(). It may be null where the caller's storage is missing.
template <class... Counts>
cudaError_t plan_exchanges(exchange_plan* plans, const call_header* headers, void* d_messages, rank_position position,
                           ncclComm_t comm, cudaStream_t stream, const Counts&... counts) {
  constexpr std::size_t exchanges = sizeof...(Counts);
  const auto ranks = static_cast<std::size_t>(position.ranks);
  const std::size_t part_bytes = sizeof(call_header) + ranks * sizeof(std::int64_t);
  const std::size_t message_bytes = exchanges * part_bytes;
  host_array<unsigned char> messages;
  cudaError_t host_status = messages.allocate(ranks * message_bytes) ? cudaSuccess : cudaErrorMemoryAllocation;
  for (std::size_t i = 0; i < exchanges; ++i) {
    plans[i].position = position;
    plans[i].num_received = -1;
    if (!plans[i].allocate()) host_status = cudaErrorMemoryAllocation;
  }
  scratch_memory scratch(stream);
  cudaError_t status = cudaSuccess;
  if (d_messages == nullptr) {
    status = scratch.allocate(ranks * message_bytes);
    if (status != cudaSuccess) return status;
    d_messages = scratch.data();
  }
  unsigned char* const d_mine =
      static_cast<unsigned char*>(d_messages) + static_cast<std::size_t>(position.rank) * message_bytes;
  std::size_t part = 0;
  ((status = status != cudaSuccess
                 ? status
                 : detail::write_exchange_message(headers[part], host_status, counts, position.ranks,
                                                  d_mine + part * part_bytes, stream),
    ++part),
   ...);
  if (status != cudaSuccess) return status;
  status = detail::all_gather(d_mine, d_messages, message_bytes, comm, stream);
  // Only then the copy: one to pageable memory would wait for the stream itself, also for ranks that never answer.
  if (status == cudaSuccess) status = detail::wait_for(stream, comm);
  if (status == cudaSuccess && host_status == cudaSuccess) {
    status = cudaMemcpyAsync(messages.data(), d_messages, ranks * message_bytes, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  }
  if (status == cudaSuccess) status = host_status;
  if (status != cudaSuccess) return status;

  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < exchanges; ++i) {
      const unsigned char* const from = messages.data() + rank * message_bytes + i * part_bytes;
      std::memcpy(&plans[i].headers[rank], from, sizeof(call_header));
      std::memcpy(&plans[i].counts[rank * ranks], from + sizeof(call_header), ranks * sizeof(std::int64_t));
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < exchanges; ++i) {
      const auto refused = static_cast<cudaError_t>(plans[i].headers[rank].status);
      if (refused != cudaSuccess) return refused;
    }
  }
  for (std::size_t i = 0; i < exchanges; ++i) {
    plans[i].num_received = plans[i].received_by(position.rank);
    for (int rank = 0; rank < position.ranks; ++rank) {
      if (plans[i].received_by(rank) > plans[i].headers[static_cast<std::size_t>(rank)].capacity) {
        status = cudaErrorInvalidValue;
      }
    }
  }
  return status;
}

/// The same for one exchange.
template <class Counts>
cudaError_t plan_exchange(exchange_plan& plan, const call_header& header, const Counts& counts, void* d_messages,
                          rank_position position, ncclComm_t comm, cudaStream_t stream) {
  return detail::plan_exchanges(&plan, &header, d_messages, position, comm, stream, counts);
}

/// Sends and receives items of several arrays in one group of NCCL. Those to send lie in the order of destinations,
/// those received will lie in the order of ranks. `send_count(r)` items go to rank r, `receive_count(r)` come from it.
template <class SendCount, class ReceiveCount>
cudaError_t send_arrays(rank_position position, const SendCount& send_count, const ReceiveCount& receive_count,
                        const exchanged_array* arrays, int num_arrays, ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(position.ranks);
  host_array<std::size_t> numbers;
  if (!numbers.allocate(4 * ranks)) return cudaErrorMemoryAllocation;
  std::size_t* const send_offsets = numbers.data();
  std::size_t* const send_counts = send_offsets + ranks;
  std::size_t* const receive_offsets = send_counts + ranks;
  std::size_t* const receive_counts = receive_offsets + ranks;
  std::size_t sent = 0;
  std::size_t received = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    send_offsets[rank] = sent;
    receive_offsets[rank] = received;
    send_counts[rank] = static_cast<std::size_t>(send_count(static_cast<int>(rank)));
    receive_counts[rank] = static_cast<std::size_t>(receive_count(static_cast<int>(rank)));
    sent += send_counts[rank];
    received += receive_counts[rank];
  }
  return detail::all_to_all(arrays, num_arrays, send_offsets, send_counts, receive_offsets, receive_counts, position,
                            comm, stream);
}

/// Sends what has been planned. All arrays have the same counts.
inline cudaError_t carry_out(const exchange_plan& plan, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                             cudaStream_t stream) {
  const int mine = plan.position.rank;
  return detail::send_arrays(
      plan.position, [&](int rank) { return plan.count(mine, rank); },
      [&](int rank) { return plan.count(rank, mine); }, arrays, num_arrays, comm, stream);
}

/// Sends each rank one item of each array.
inline cudaError_t send_one_each(rank_position position, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                                 cudaStream_t stream) {
  const auto one = [](int) { return std::int64_t{1}; };
  return detail::send_arrays(position, one, one, arrays, num_arrays, comm, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/group.cuh>
#include <strata/distributed/exchange/messages.cuh>
#include <strata/distributed/join/direct.cuh>
#include <strata/distributed/join/kernels.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/storage.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Sends this rank's message, which has the arguments of its call and hashes of some probe keys, to all ranks, and
/// receives theirs. All ranks that receive all messages return the same value. `status` is the result of this rank's
/// checks. Without `storage`, the function allocates device memory for the messages. If `messages` is null, the host
/// had no memory: this rank still sends its message, but returns an error.
template <class Call, class Storage>
cudaError_t gather_join_messages(const Call& call, const Storage* storage, cudaError_t status, join_message* messages) {
  const auto ranks = static_cast<std::size_t>(call.position.ranks);
  const cudaStream_t stream = call.stream;
  scratch_memory scratch(stream);
  join_message* d_mine = nullptr;
  join_message* d_all = nullptr;
  if (storage != nullptr) {
    d_mine = storage->message();
    d_all = storage->messages();
  } else {
    const cudaError_t allocated = scratch.allocate((ranks + 1) * sizeof(join_message));
    if (allocated != cudaSuccess) return allocated;
    d_mine = static_cast<join_message*>(scratch.data());
    d_all = d_mine + 1;
  }
  join_header header{status,
                     call.build.rows,
                     call.probe.rows,
                     call.capacity.build_rows,
                     call.capacity.probe_rows,
                     call.build.valid_mask != nullptr ? 1 : 0,
                     call.probe.valid_mask != nullptr ? 1 : 0,
                     call.signature(),
                     {-1, -1, -1, -1}};
  if (storage != nullptr) {
    detail::for_each_join_shared_array(
        call, *storage, [&](join_shared_array array, const void* begin, std::size_t bytes) {
          header.shared[static_cast<int>(array)] = detail::shared_offset_of(call.comm, begin, bytes);
        });
  }
  const bool has_samples = status == cudaSuccess && Call::may_copy_build_rows;
  launch_configuration configuration{"strata::DistributedHashJoin, samples", dim3(1), dim3(distributed_join_threads)};
  configuration.stream = stream;
  cudaError_t sent = strata::launch(configuration, distributed_join_message_kernel<typename Call::RoutedKeys>,
                                    call.template routed_keys<false>(), static_cast<unsigned>(call.probe.rows),
                                    call.options.nulls_equal,
                                    has_samples ? join_message::samples_of(call.probe.rows) : 0u, header, d_mine);
  if (sent != cudaSuccess) {
    // This rank sends its status even after an error, because the other ranks wait for it.
    header.status = sent;
    sent = cudaMemcpyAsync(&d_mine->header, &header, sizeof(header), cudaMemcpyHostToDevice, stream);
  }
  if (sent == cudaSuccess) {
    sent =
        detail::gather_to_host(messages, d_mine, d_all, sizeof(join_message), call.position.ranks, call.comm, stream);
  }
  if (sent != cudaSuccess) return sent;
  if (messages == nullptr) return cudaErrorMemoryAllocation;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const cudaError_t of_rank = detail::status_of_rank(messages[rank].header.status);
    if (of_rank != cudaSuccess) return of_rank;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (detail::refuses_other_call(messages[rank].header.signature != messages[0].header.signature)) {
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

/// Writes how many rows of each class (see route.cuh) a side has on this rank, or the error of sorting them by class.
template <bool IsBuild, class Call, class Storage>
cudaError_t write_class_counts(const Call& call, const Storage& storage, const exchange_messages& counts,
                               cudaError_t status, std::int64_t grouped_rows) {
  call_header header;
  header.status = status;
  return counts.write(header, grouped_counts{storage.sorted_classes(), grouped_rows}, storage.counts(),
                      call.position.rank, IsBuild ? build_counts_part : probe_counts_part, call.stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

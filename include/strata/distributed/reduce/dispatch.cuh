// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/reduce/message.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Combines the aggregates of all ranks with the initial value, by one thread. If a rank has refused its call, nothing
/// is written.
template <class TransformOp, class AccumT, class OutputIterator, class ReductionOp, class InitT>
struct combine_ranks {
  const aggregate_message<AccumT>* messages;
  int ranks;
  OutputIterator d_out;
  ReductionOp reduction_op;
  InitT init;

  STRATA_D void operator()() const {
    if (threadIdx.x != 0 || !detail::have_all_accepted(messages, ranks)) return;
    aggregate_combiner<AccumT, ReductionOp> combiner{reduction_op};
    AccumT result;
    const bool has_result = detail::combine_aggregates<TransformOp>(messages, ranks, combiner, result);
    detail::store_result(combiner, d_out, init, result, has_result);
  }
};

/// One call of a reduction of all ranks' items. One kernel reduces the items of this rank, one collective gathers the
/// aggregates, and one thread combines them.
template <class AccumT, class TransformOp, class InputIterator, class OutputIterator, class ReductionOp, class InitT>
cudaError_t reduce_ranks(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, std::int64_t num_items, ReductionOp reduction_op, InitT init,
                         ncclComm_t comm, cudaStream_t stream) {
  using Message = aggregate_message<AccumT>;
  rank_position position{};
  cudaError_t status = detail::position_of(comm, position);
  if (status != cudaSuccess) return status;
  const auto ranks = static_cast<std::size_t>(position.ranks);
  std::size_t reduce_bytes = 0;
  status = detail::write_message<TransformOp, AccumT>(nullptr, reduce_bytes, d_in, nullptr, 0, reduction_op, stream);
  if (status != cudaSuccess) return status;
  temporary_storage::layout<2> storage;
  storage.template reserve<Message>(0, ranks);
  storage.template reserve<unsigned char>(1, reduce_bytes);
  // A size query also answers for a count that the call refuses. Without a size, this rank would not make the call, and
  // the others would wait for it.
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);

  const bool has_storage = storage.map(d_temp_storage, temp_storage_bytes);
  if (detail::refuses_storage_of_rank(has_storage) || detail::refuses_count(num_items, "num_items") ||
      detail::refuses_reach(d_in, num_items, "d_in") ||
      detail::refuses_index(d_out, static_cast<std::size_t>(num_items)) ||
      (num_items > 0 && detail::refuses_null(d_in, "d_in")) || detail::refuses_result(d_out)) {
    status = cudaErrorInvalidValue;
  }
  scratch_memory scratch(stream);
  if (!has_storage) {
    const cudaError_t allocated = scratch.allocate(ranks * sizeof(Message));
    if (allocated != cudaSuccess) return allocated;
  }
  Message* const messages = has_storage ? storage.template get<Message>(0) : static_cast<Message*>(scratch.data());
  Message* const mine = messages + position.rank;
  if (status == cudaSuccess) {
    status = detail::write_message<TransformOp>(storage.template get<unsigned char>(1), reduce_bytes, d_in, mine,
                                                num_items, reduction_op, stream);
  }
  if (status != cudaSuccess) {
    const cudaError_t sent = detail::write_empty_message(mine, status, stream);
    if (sent == cudaSuccess) static_cast<void>(detail::all_gather(mine, messages, sizeof(Message), comm, stream));
    return status;
  }
  return detail::all_gather(mine, messages, sizeof(Message), comm, stream, "strata::DistributedReduce",
                            combine_ranks<TransformOp, AccumT, OutputIterator, ReductionOp, InitT>{
                                messages, position.ranks, d_out, reduction_op, init});
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/reduce/dispatch.cuh>
#include <strata/device/reduce/output.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// The message of a rank in a reduction or a scan: whether it takes part, how many items it has, and their
/// aggregate. All ranks combine the aggregates in the order of ranks.

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class AccumT>
struct aggregate_message {
  long long status;     // a cudaError_t
  long long num_items;  // without items there is no aggregate
  AccumT aggregate;
};

/// The output of a local reduction: writes a message with the result.
template <class AccumT>
struct message_output {
  aggregate_message<AccumT>* message;
  long long num_items;

  struct reference {
    message_output output;
    STRATA_D void operator=(const AccumT& aggregate) {
      output.message->status = cudaSuccess;
      output.message->num_items = output.num_items;
      output.message->aggregate = aggregate;
    }
  };
  STRATA_D reference operator*() const { return {*this}; }
  STRATA_D message_output operator+(std::ptrdiff_t) const { return *this; }
};

/// Combines two values as the agents of reductions do.
template <class AccumT, class ReductionOp>
struct aggregate_combiner {
  ReductionOp reduction_op;
  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op(a, b)); }
};

/// Returns the aggregate of a rank's items, as seen from all ranks: an index in it grows by `first_item`, the number of
/// items of the ranks before.
template <class TransformOp, class AccumT>
STRATA_D AccumT behind(const AccumT& aggregate, long long first_item) {
  if constexpr (std::is_same_v<TransformOp, number_item>) {
    return {aggregate.key + first_item, aggregate.value};
  } else {
    static_cast<void>(first_item);
    return aggregate;
  }
}

/// True if all ranks take part. Debug builds stop if a rank has refused its arguments.
template <class AccumT>
STRATA_D bool have_all_accepted(const aggregate_message<AccumT>* messages, int ranks) {
  bool have_accepted = true;
  for (int rank = 0; rank < ranks; ++rank) {
    STRATA_ASSERT(messages[rank].status == cudaSuccess, "rank %d has refused its call with error %d", rank,
                  static_cast<int>(messages[rank].status));
    have_accepted = have_accepted && messages[rank].status == cudaSuccess;
  }
  return have_accepted;
}

/// Combines the aggregates of the first `ranks` ranks. Returns false if they have no items.
template <class TransformOp, class AccumT, class Combiner>
STRATA_D bool combine_aggregates(const aggregate_message<AccumT>* messages, int ranks, Combiner& combiner,
                                 AccumT& result) {
  bool has_result = false;
  long long first_item = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (messages[rank].num_items == 0) continue;
    const AccumT aggregate = detail::behind<TransformOp>(messages[rank].aggregate, first_item);
    result = has_result ? combiner.combine(result, aggregate) : aggregate;
    has_result = true;
    first_item += messages[rank].num_items;
  }
  return has_result;
}

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes a message without an aggregate, by one thread: of a rank that refuses its call, has no items, or is the last
/// rank of a scan.
template <class AccumT>
STRATA_KERNEL void empty_message_kernel(aggregate_message<AccumT>* message, cudaError_t status) {
  message->status = status;
  message->num_items = 0;
}

template <class AccumT>
cudaError_t write_empty_message(aggregate_message<AccumT>* message, cudaError_t status, cudaStream_t stream) {
  launch_configuration configuration{"strata::DistributedReduce, no aggregate", dim3(1), dim3(1)};
  configuration.stream = stream;
  return strata::launch(configuration, empty_message_kernel<AccumT>, message, status);
}

/// The local reduction of a rank, without an initial value.
template <class AccumT, class InputIterator, class ReductionOp, class TransformOp>
using dispatch_aggregate =
    DispatchReduce<AccumT, InputIterator, message_output<AccumT>, ReductionOp, TransformOp, only_if_empty<AccumT>>;

template <class TransformOp, class AccumT, class InputIterator, class ReductionOp>
cudaError_t write_message(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                          aggregate_message<AccumT>* message, std::int64_t num_items, ReductionOp reduction_op,
                          cudaStream_t stream) {
  if (d_temp_storage != nullptr && num_items == 0) return detail::write_empty_message(message, cudaSuccess, stream);
  return dispatch_aggregate<AccumT, InputIterator, ReductionOp, TransformOp>::Dispatch(
      d_temp_storage, temp_storage_bytes, d_in, message_output<AccumT>{message, num_items}, num_items, reduction_op,
      TransformOp{}, only_if_empty<AccumT>{AccumT{}}, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/reduce/message.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The initial value of a rank's scan, and its number of items: 0 if a rank has refused its call.
template <class AccumT>
struct scan_begin {
  std::int64_t num_items;
  AccumT prefix;
};

/// Combines the aggregates of the ranks before this one, by one thread.
///
/// The result is the prefix with which an exclusive scan begins. An inclusive scan has no initial value, and there may
/// be no items before. So its first result is written here, and the scan of the other items begins with that result.
template <class AccumT, class InputIterator, class OutputIterator, class ScanOp, class InitT>
struct find_rank_prefix {
  const aggregate_message<AccumT>* messages;
  rank_position position;
  InputIterator d_in;
  OutputIterator d_out;
  std::int64_t num_items;
  ScanOp scan_op;
  InitT init;
  scan_begin<AccumT>* begin;

  STRATA_D void operator()() const {
    if (threadIdx.x != 0) return;
    begin->num_items = 0;
    if (!detail::have_all_accepted(messages, position.ranks)) return;
    aggregate_combiner<AccumT, ScanOp> combiner{scan_op};
    AccumT before;
    const bool has_items_before = detail::combine_aggregates<keep_item>(messages, position.rank, combiner, before);
    if constexpr (std::is_same_v<InitT, NullType>) {
      if (num_items == 0) return;
      const AccumT item = static_cast<AccumT>(detail::item_at(d_in, 0));
      const AccumT first = has_items_before ? combiner.combine(before, item) : item;
      OutputIterator out = d_out;
      *out = static_cast<output_value_t<OutputIterator, AccumT>>(first);
      begin->prefix = first;
      begin->num_items = num_items - 1;
    } else {
      const AccumT initial = detail::initial_value<AccumT>(init);
      begin->prefix = has_items_before ? combiner.combine(initial, before) : initial;
      begin->num_items = num_items;
    }
  }
};

/// One call of a scan of all ranks' items. One kernel reduces the items of this rank, unless it is the last rank. One
/// collective gathers the aggregates, one thread combines the aggregates of earlier ranks, and one kernel scans.
/// `InitT` is NullType for inclusive scans.
template <class AccumT, class InputIterator, class OutputIterator, class ScanOp, class InitT>
cudaError_t scan_ranks(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
                       std::int64_t num_items, ScanOp scan_op, InitT init, ncclComm_t comm, cudaStream_t stream) {
  using Message = aggregate_message<AccumT>;
  using Begin = scan_begin<AccumT>;
  using Prefix = FutureValue<AccumT, const AccumT*>;
  constexpr bool is_inclusive = std::is_same_v<InitT, NullType>;
  using Problem = scan_problem<InputIterator, OutputIterator, AccumT, ScanOp, is_inclusive, Prefix>;
  rank_position position{};
  cudaError_t status = detail::position_of(comm, position);
  if (status != cudaSuccess) return status;
  const auto ranks = static_cast<std::size_t>(position.ranks);
  // A size query also answers for arguments that the call refuses. Without a size, this rank would not make the call,
  // and the others would wait for it.
  const std::int64_t given_items = num_items;
  bool is_valid = is_count(num_items) && detail::can_reach(d_in, num_items) && detail::can_reach(d_out, num_items);
  if (!is_valid) num_items = 0;

  bool skips_first = is_inclusive && num_items > 0;
  std::int64_t num_scanned = num_items - (skips_first ? 1 : 0);
  const auto scan = [&](void* d_scan_storage, std::size_t& scan_bytes, const Begin* begin) {
    return DispatchScan<Problem>::Dispatch(
        d_scan_storage, scan_bytes,
        Problem{skips_first ? detail::advanced(d_in, 1) : d_in, skips_first ? detail::advanced(d_out, 1) : d_out,
                scan_op, Prefix(begin == nullptr ? nullptr : &begin->prefix)},
        FutureCount<std::int64_t>(begin == nullptr ? nullptr : &begin->num_items, num_scanned), stream);
  };
  std::size_t reduce_bytes = 0;
  std::size_t scan_bytes = 0;
  status = detail::write_message<keep_item, AccumT>(nullptr, reduce_bytes, d_in, nullptr, 0, scan_op, stream);
  if (status != cudaSuccess) return status;
  status = scan(nullptr, scan_bytes, nullptr);
  if (status != cudaSuccess) {
    is_valid = false;
    skips_first = false;
    num_items = num_scanned = 0;
    status = scan(nullptr, scan_bytes, nullptr);
    if (status != cudaSuccess) return status;
  }
  temporary_storage::layout<3> storage;
  storage.template reserve<Message>(0, ranks);
  storage.template reserve<Begin>(1, 1);
  storage.template reserve<unsigned char>(2, reduce_bytes);
  storage.template reserve<unsigned char>(2, scan_bytes);
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);

  const bool has_storage = storage.map(d_temp_storage, temp_storage_bytes);
  if (detail::refuses_count(given_items, "num_items") || detail::refuses_reach(d_in, given_items, "d_in") ||
      detail::refuses_reach(d_out, given_items, "d_out") || !is_valid || detail::refuses_storage_of_rank(has_storage) ||
      detail::refuses_initial_value(init, argument_bytes{}) ||
      (num_items > 0 && (detail::refuses_null(d_in, "d_in") || detail::refuses_null(d_out, "d_out") ||
                         detail::refuses_partial_overlap(d_out, "d_out", d_in, "d_in", num_items)))) {
    status = cudaErrorInvalidValue;
  }
  scratch_memory scratch(stream);
  if (!has_storage) {
    const cudaError_t allocated = scratch.allocate(ranks * sizeof(Message));
    if (allocated != cudaSuccess) return allocated;
  }
  Message* const messages = has_storage ? storage.template get<Message>(0) : static_cast<Message*>(scratch.data());
  Message* const mine = messages + position.rank;
  const bool is_last = position.rank + 1 == position.ranks;
  if (status == cudaSuccess && !is_last) {
    status = detail::write_message<keep_item>(storage.template get<unsigned char>(2), reduce_bytes, d_in, mine,
                                              num_items, scan_op, stream);
  }
  cudaError_t sent = cudaSuccess;
  // No rank needs the aggregate of the last rank.
  if (status != cudaSuccess || is_last) sent = detail::write_empty_message(mine, status, stream);
  if (status != cudaSuccess) {
    if (sent == cudaSuccess) static_cast<void>(detail::all_gather(mine, messages, sizeof(Message), comm, stream));
    return status;
  }
  Begin* const begin = storage.template get<Begin>(1);
  status = sent != cudaSuccess
               ? sent
               : detail::all_gather(mine, messages, sizeof(Message), comm, stream, "strata::DistributedScan, prefix",
                                    find_rank_prefix<AccumT, InputIterator, OutputIterator, ScanOp, InitT>{
                                        messages, position, d_in, d_out, num_items, scan_op, init, begin});
  if (status != cudaSuccess) return status;
  return scan(storage.template get<unsigned char>(2), scan_bytes, begin);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

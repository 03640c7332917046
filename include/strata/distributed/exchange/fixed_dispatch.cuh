// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/dispatch.cuh>
#include <strata/distributed/exchange/kernels.cuh>
#include <strata/distributed/exchange/plan.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Moves the first items for each rank to chunks of one size.
template <class Item>
cudaError_t fill_chunks(const Item* d_grouped, const std::int64_t* d_begins, const std::int64_t* d_counts, int ranks,
                        std::int64_t chunk_capacity, Item* d_chunks_out, cudaStream_t stream) {
  constexpr std::int64_t max_blocks = 1024;
  const std::int64_t blocks = ceiling_divide<std::int64_t>(chunk_capacity, exchange_threads);
  if (blocks == 0) return cudaSuccess;
  launch_configuration configuration{
      "strata::DistributedExchange, chunks",
      dim3(static_cast<unsigned>(detail::least(blocks, max_blocks)), static_cast<unsigned>(ranks)),
      dim3(exchange_threads)};
  configuration.stream = stream;
  return strata::launch(configuration, exchange_chunks_kernel<Item>, d_grouped, d_begins, d_counts, chunk_capacity,
                        d_chunks_out);
}

/// One call of an exchange with chunks of one size. A rank that refuses its arguments sends the count -1, and receives
/// what others send into memory of its own.
template <class DestinationIterator, class KeyIterator, class Key, class ValueIterator, class Value>
cudaError_t exchange_fixed(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const exchange_input<DestinationIterator, KeyIterator, Key, ValueIterator, Value>& input,
                           Key* d_keys_out, Value* d_values_out, std::int64_t chunk_capacity,
                           std::int64_t* d_counts_out, ncclComm_t comm, cudaStream_t stream) {
  using Input = exchange_input<DestinationIterator, KeyIterator, Key, ValueIterator, Value>;
  constexpr bool has_values = Input::has_values;
  constexpr std::size_t row_bytes = sizeof(Key) + (has_values ? sizeof(Value) : 0);
  rank_position position{};
  cudaError_t status = detail::position_of(comm, position);
  if (status != cudaSuccess) return status;
  const auto ranks = static_cast<std::size_t>(position.ranks);
  // All ranks have the same capacity, and return here together.
  if (detail::refuses_ranks(position.ranks, max_exchange_ranks) ||
      detail::refuses_count(chunk_capacity, "chunk_capacity") ||
      detail::is_refused(
          static_cast<std::size_t>(chunk_capacity) > (temporary_storage::invalid_size >> 2) / row_bytes / ranks,
          "chunk_capacity", "needs more temporary storage than std::size_t can represent")) {
    return cudaErrorInvalidValue;
  }
  const std::int64_t out_items = chunk_capacity * position.ranks;
  const auto chunks_items = static_cast<std::size_t>(out_items);
  enum slot { begins_slot, counts_slot, key_chunks_slot, value_chunks_slot };
  exchange_groups<Input, Key, Value> groups;
  groups.reserve(input, position.ranks);
  groups.template reserve_more<std::int64_t>(begins_slot, ranks);
  groups.template reserve_more<std::int64_t>(counts_slot, ranks);
  groups.template reserve_more<Key>(key_chunks_slot, chunks_items);
  if (has_values) groups.template reserve_more<Value>(value_chunks_slot, chunks_items);
  // Of what the call itself refuses, too: a rank that ended here would be waited for.
  if (d_temp_storage == nullptr) return answer_size_query(groups.storage(), temp_storage_bytes);

  const argument_bytes keys_bytes = detail::bytes_of(d_keys_out, out_items, "d_keys_out");
  const argument_bytes values_bytes = detail::bytes_of(d_values_out, has_values ? out_items : 0, "d_values_out");
  const argument_bytes count_bytes = detail::bytes_of(d_counts_out, position.ranks, "d_counts_out");
  if (detail::refuses_storage_of_rank(groups.map(d_temp_storage, temp_storage_bytes)) || groups.is_refused() ||
      input.has_null() || detail::refuses_null(d_counts_out, "d_counts_out") ||
      (chunk_capacity > 0 && (detail::refuses_null(d_keys_out, "d_keys_out") ||
                              (has_values && detail::refuses_null(d_values_out, "d_values_out")))) ||
      input.overlaps(keys_bytes) || input.overlaps(values_bytes) || input.overlaps(count_bytes) ||
      detail::outputs_overlap({keys_bytes, values_bytes, count_bytes})) {
    status = cudaErrorInvalidValue;
  }
  if (status == cudaSuccess) status = groups.group(input, position.ranks, stream);

  std::int64_t* d_counts = nullptr;
  exchanged_array arrays[3];
  const std::size_t key_bytes = static_cast<std::size_t>(chunk_capacity) * sizeof(Key);
  const std::size_t value_bytes = has_values ? static_cast<std::size_t>(chunk_capacity) * sizeof(Value) : 0;
  launch_configuration configuration{"strata::DistributedExchange, counts", dim3(1), dim3(exchange_threads)};
  configuration.stream = stream;
  if (status == cudaSuccess) {
    std::int64_t* const d_begins = groups.template more<std::int64_t>(begins_slot);
    d_counts = groups.template more<std::int64_t>(counts_slot);
    status = strata::launch(configuration, exchange_bounds_kernel<grouped_counts>,
                            grouped_counts{groups.destinations(), input.num_items}, position.ranks, d_begins, d_counts);
    Key* const key_chunks = groups.template more<Key>(key_chunks_slot);
    if (status == cudaSuccess) {
      status = detail::fill_chunks<Key>(groups.keys(), d_begins, d_counts, position.ranks, chunk_capacity, key_chunks,
                                        stream);
    }
    arrays[0] = {d_counts, d_counts_out, sizeof(std::int64_t)};
    arrays[1] = {key_chunks, d_keys_out, key_bytes};
    if constexpr (has_values) {
      Value* const value_chunks = groups.template more<Value>(value_chunks_slot);
      if (status == cudaSuccess) {
        status = detail::fill_chunks<Value>(groups.values(), d_begins, d_counts, position.ranks, chunk_capacity,
                                            value_chunks, stream);
      }
      arrays[2] = {value_chunks, d_values_out, value_bytes};
    }
  }
  scratch_memory scratch(stream);
  if (status != cudaSuccess) {
    // What is sent and received: counts, keys, values.
    const std::size_t counts_bytes = ranks * sizeof(std::int64_t);
    const std::size_t items_bytes = ranks * (key_bytes + value_bytes);
    const cudaError_t allocated = scratch.allocate(2 * (counts_bytes + items_bytes));
    if (allocated != cudaSuccess) return allocated;
    unsigned char* const d_sent = static_cast<unsigned char*>(scratch.data());
    unsigned char* const d_received = d_sent + counts_bytes + items_bytes;
    const cudaError_t marked = cudaMemsetAsync(d_sent, 0xff, counts_bytes, stream);
    if (marked != cudaSuccess) return marked;
    arrays[0] = {d_sent, d_received, sizeof(std::int64_t)};
    arrays[1] = {d_sent + counts_bytes, d_received + counts_bytes, key_bytes};
    arrays[2] = {d_sent + counts_bytes + ranks * key_bytes, d_received + counts_bytes + ranks * key_bytes, value_bytes};
  }
  const cudaError_t sent = detail::send_one_each(position, arrays, has_values ? 3 : 2, comm, stream);
  return status != cudaSuccess ? status : sent;
}

STRATA_ARCH_DETAIL_NAMESPACE_END

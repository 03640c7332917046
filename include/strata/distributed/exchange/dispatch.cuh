// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/group.cuh>
#include <strata/distributed/exchange/messages.cuh>
#include <strata/distributed/exchange/partition.cuh>
#include <strata/distributed/exchange/plan.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The input of a rank: items, or keys and values. `ValueIterator` and `Value` are NullType for items.
template <class DestinationIterator, class KeyIterator, class Key, class ValueIterator, class Value>
struct exchange_input {
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  static_assert(relocatable_requirements<Key>::check());
  static_assert(relocatable_requirements<Value>::check());

  DestinationIterator d_destinations;
  KeyIterator d_keys;
  ValueIterator d_values;
  std::int64_t num_items;

  bool is_count_valid() const {
    // With this bound, the bytes of all arrays fit in size_t, also those of rows and destinations.
    constexpr std::size_t max_items = (temporary_storage::invalid_size >> 3) / (sizeof(Key) + sizeof(Value) + 16);
    return is_count(num_items) && static_cast<std::size_t>(num_items) <= max_items &&
           detail::can_reach(d_destinations, num_items) && detail::can_reach(d_keys, num_items) &&
           detail::can_reach(d_values, num_items);
  }
  bool has_null() const {
    return num_items > 0 &&
           (detail::refuses_null(d_destinations, "d_destinations") || detail::refuses_null(d_keys, "d_keys_in") ||
            (has_values && detail::refuses_null(d_values, "d_values_in")));
  }
  /// True if the output overlaps one of these arrays, so that the call is refused.
  bool overlaps(const argument_bytes& output) const {
    return detail::refuses_overlap(output, detail::bytes_of(d_destinations, num_items, "d_destinations")) ||
           detail::refuses_overlap(output, detail::bytes_of(d_keys, num_items, "d_keys_in")) ||
           (has_values && detail::refuses_overlap(output, detail::bytes_of(d_values, num_items, "d_values_in")));
  }
};

/// The input in temporary storage, in the order of destinations.
template <class Input, class Key, class Value>
class exchange_groups {
 public:
  /// Reserves temporary storage. Returns false if the count is not valid.
  bool reserve(const Input& input, int ranks) {
    is_valid_ = input.is_count_valid();
    Input sized = input;
    if (!is_valid_) sized.num_items = 0;
    cudaError_t status = sort(nullptr, sized, ranks, nullptr);
    if (status != cudaSuccess) {
      is_valid_ = false;
      sized.num_items = 0;
      status = sort(nullptr, sized, ranks, nullptr);
    }
    const auto count = static_cast<std::size_t>(sized.num_items);
    storage_.template reserve<destination_key>(destinations_slot, count);
    storage_.template reserve<Key>(keys_slot, count);
    if (Input::has_values) storage_.template reserve<Value>(values_slot, count);
    storage_.template reserve<unsigned char>(sort_slot, sort_bytes_);
    return is_valid_;
  }
  /// Reserves storage for an alternative to group(), which uses the same bytes.
  void reserve_instead(std::size_t bytes) { storage_.template reserve<unsigned char>(sort_slot, bytes); }
  unsigned char* instead() const { return storage_.template get<unsigned char>(sort_slot); }
  /// Reserves storage for other data of the call, in slots from 0 to 3.
  template <class T>
  void reserve_more(int number, std::size_t count) {
    storage_.template reserve<T>(first_more_slot + number, count);
  }

  bool is_refused() const {
    return detail::is_refused(!is_valid_, "num_items",
                              "is negative or more than an iterator or temporary storage can represent");
  }
  const temporary_storage::layout<8>& storage() const { return storage_; }
  bool map(void* d_temp_storage, std::size_t temp_storage_bytes) {
    return storage_.map(d_temp_storage, temp_storage_bytes);
  }

  destination_key* destinations() const { return storage_.template get<destination_key>(destinations_slot); }
  Key* keys() const { return storage_.template get<Key>(keys_slot); }
  Value* values() const { return storage_.template get<Value>(values_slot); }
  template <class T>
  T* more(int number) const {
    return storage_.template get<T>(first_more_slot + number);
  }

  cudaError_t group(const Input& input, int ranks, cudaStream_t stream) {
    return sort(storage_.template get<unsigned char>(sort_slot), input, ranks, stream);
  }

 private:
  enum slot { destinations_slot, keys_slot, values_slot, sort_slot, first_more_slot };

  cudaError_t sort(void* d_sort_storage, const Input& input, int ranks, cudaStream_t stream) {
    const bool is_query = d_sort_storage == nullptr;
    destination_key* const d_keys_out = is_query ? nullptr : destinations();
    std::size_t bytes = sort_bytes_;
    cudaError_t status = detail::group_items(d_sort_storage, bytes, input.d_destinations, d_keys_out, input.d_keys,
                                             is_query ? nullptr : keys(), input.num_items, ranks, stream);
    if (is_query) sort_bytes_ = bytes;
    if constexpr (Input::has_values) {
      if (status != cudaSuccess) return status;
      bytes = sort_bytes_;
      status = detail::group_items(d_sort_storage, bytes, input.d_destinations, d_keys_out, input.d_values,
                                   is_query ? nullptr : values(), input.num_items, ranks, stream);
      if (is_query && bytes > sort_bytes_) sort_bytes_ = bytes;
    }
    return status;
  }

  temporary_storage::layout<8> storage_;
  std::size_t sort_bytes_ = 0;
  bool is_valid_ = false;
};

/// Where the items from this rank begin in the outputs of all ranks.
template <class Key, class Value>
partition_outputs<Key, Value> outputs_of_peers(const peer_group& peers, const exchange_plan& plan) {
  partition_outputs<Key, Value> outputs{};
  for (int rank = 0; rank < plan.position.ranks; ++rank) {
    const call_header& header = plan.headers[static_cast<std::size_t>(rank)];
    std::int64_t before = 0;
    for (int from = 0; from < plan.position.rank; ++from) before += plan.count(from, rank);
    outputs.keys[rank] = peers.template array_of<Key>(rank, header.shared[0]) + before;
    if (!std::is_same_v<Value, NullType>) {
      outputs.values[rank] = peers.template array_of<Value>(rank, header.shared[1]) + before;
    }
  }
  return outputs;
}

/// One call of an exchange whose counts the host learns.
template <class DestinationIterator, class KeyIterator, class Key, class ValueIterator, class Value>
cudaError_t exchange(void* d_temp_storage, std::size_t& temp_storage_bytes,
                     const exchange_input<DestinationIterator, KeyIterator, Key, ValueIterator, Value>& input,
                     Key* d_keys_out, Value* d_values_out, std::int64_t capacity, std::int64_t* num_out,
                     ncclComm_t comm, cudaStream_t stream) {
  using Input = exchange_input<DestinationIterator, KeyIterator, Key, ValueIterator, Value>;
  rank_position position{};
  cudaError_t status = detail::position_of(comm, position);
  if (status != cudaSuccess) return status;
  if (detail::refuses_ranks(position.ranks, max_exchange_ranks)) return cudaErrorInvalidValue;
  exchange_groups<Input, Key, Value> groups;
  const bool is_sized = groups.reserve(input, position.ranks);
  exchange_partition<Input, Key, Value> partition;
  const bool may_partition = exchange_partition<Input, Key, Value>::takes(position.ranks);
  if (may_partition && is_sized) {
    status = partition.reserve(input.num_items, position.ranks);
    if (status != cudaSuccess) return status;
    groups.reserve_instead(partition.bytes());
  }
  groups.template reserve_more<unsigned char>(0, detail::exchange_messages_bytes(position.ranks));
  // A size query also answers for arguments that the call refuses. Without a size, this rank would not make the call,
  // and the others would wait for it.
  if (d_temp_storage == nullptr) return detail::answer_size_query(groups.storage(), temp_storage_bytes);

  const bool has_storage = groups.map(d_temp_storage, temp_storage_bytes);
  const argument_bytes keys_bytes = detail::bytes_of(d_keys_out, capacity, "d_keys_out");
  const argument_bytes values_bytes = detail::bytes_of(d_values_out, Input::has_values ? capacity : 0, "d_values_out");
  if (detail::refuses_storage_of_rank(has_storage) || groups.is_refused() || input.has_null() ||
      detail::refuses_count(capacity, "capacity") || detail::refuses_null(num_out, "num_out") ||
      (capacity > 0 && (detail::refuses_null(d_keys_out, "d_keys_out") ||
                        (Input::has_values && detail::refuses_null(d_values_out, "d_values_out")))) ||
      input.overlaps(keys_bytes) || input.overlaps(values_bytes) || detail::refuses_overlap(keys_bytes, values_bytes)) {
    status = cudaErrorInvalidValue;
  }
  call_header header{status, input.num_items, capacity, 0};
  constexpr int num_arrays = Input::has_values ? 2 : 1;
  if (status == cudaSuccess && may_partition) {
    const auto items = static_cast<std::size_t>(capacity);
    header.shared[0] = detail::shared_offset_of(comm, d_keys_out, items * sizeof(Key));
    if (Input::has_values) header.shared[1] = detail::shared_offset_of(comm, d_values_out, items * sizeof(Value));
  }
  // If the outputs of another rank turn out not to lie in memory that the ranks share (DistributedMemory), the items
  // are grouped later.
  const bool is_partitioned = detail::has_shared_arrays(header, num_arrays);
  void* const d_messages = has_storage ? groups.template more<unsigned char>(0) : nullptr;
  exchange_plan plan;
  if (is_partitioned) {
    header.status = partition.count(groups.instead(), input, position.ranks, stream);
    status = detail::plan_exchange(plan, header, partition.counts(input), d_messages, position, comm, stream);
  } else {
    if (status == cudaSuccess) header.status = groups.group(input, position.ranks, stream);
    status = detail::plan_exchange(plan, header,
                                   grouped_counts{has_storage ? groups.destinations() : nullptr, input.num_items},
                                   d_messages, position, comm, stream);
  }
  if (plan.num_received >= 0) *num_out = plan.num_received;
  if (status != cudaSuccess) return status;
  if (const auto peers = detail::peers_of_call(comm, plan.headers, position.ranks, num_arrays)) {
    status = partition.move(input, detail::outputs_of_peers<Key, Value>(*peers, plan), position.ranks, stream);
    // The barrier keeps the other ranks from going on before they have the items of this rank.
    return status != cudaSuccess ? status : peers->barrier(comm, stream);
  }
  if (is_partitioned) status = groups.group(input, position.ranks, stream);
  if (status != cudaSuccess) return status;
  const exchanged_array arrays[] = {{groups.keys(), d_keys_out, sizeof(Key)},
                                    {groups.values(), d_values_out, sizeof(Value)}};
  return detail::carry_out(plan, arrays, num_arrays, comm, stream);
}

/// Writes how many items this rank has for each rank, and where they begin. If a destination is out of range, the
/// counts are -1. The grid has one block. (The kernel is a template, so that programs that never launch it do not
/// contain it.)
template <class Counts>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_bounds_kernel(Counts counts, int ranks, std::int64_t* d_begins_out,
                                              std::int64_t* d_counts_out) {
  const bool are_valid = counts.are_valid(ranks);
  for (int rank = static_cast<int>(threadIdx.x); rank < ranks; rank += exchange_threads) {
    d_begins_out[rank] = are_valid ? counts.begin(rank) : 0;
    d_counts_out[rank] = are_valid ? counts(rank) : -1;
  }
}

/// Moves the first items for each rank to its chunk. The grid has blocks of a chunk in x, and ranks in y.
template <class Item>
__launch_bounds__(exchange_threads)
    STRATA_KERNEL void exchange_chunks_kernel(const Item* d_grouped, const std::int64_t* d_begins,
                                              const std::int64_t* d_counts, std::int64_t chunk_capacity,
                                              Item* d_chunks_out) {
  const auto rank = static_cast<std::int64_t>(blockIdx.y);
  const std::int64_t begin = d_begins[rank];
  const std::int64_t count = detail::least(d_counts[rank], chunk_capacity);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * exchange_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * exchange_threads + threadIdx.x; i < count;
       i += stride) {
    d_chunks_out[rank * chunk_capacity + i] = d_grouped[begin + i];
  }
}

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

/// One call of an exchange with chunks of one size. A rank that refuses its arguments sends the count -1. It receives
/// the items of other ranks into scratch memory, and writes no outputs.
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
  // A size query also answers for arguments that the call refuses. Without a size, this rank would not make the call,
  // and the others would wait for it.
  if (d_temp_storage == nullptr) return detail::answer_size_query(groups.storage(), temp_storage_bytes);

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
    // This rank takes part in the transfers of counts, keys and values, because the other ranks wait for it.
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

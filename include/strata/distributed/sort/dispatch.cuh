// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/side_stream.cuh>
#include <strata/distributed/sort/brackets.cuh>
#include <strata/distributed/sort/merge_runs.cuh>
#include <strata/distributed/sort/plan.hpp>
#include <strata/distributed/sort/storage.cuh>
#include <strata/distributed/sort/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The cuts of all splitters, which all ranks know after the splitters have been found.
struct sort_cuts {
  sort_shares shares;
  std::vector<call_header> headers;
  std::vector<cut_bracket> brackets;

  /// Returns how many items of `rank` come before `splitter`, which is a number from 0 to all_chunks().
  std::int64_t at(int splitter, int rank) const {
    if (splitter == 0) return 0;
    if (splitter == shares.all_chunks()) return headers[static_cast<std::size_t>(rank)].num_items;
    return brackets[static_cast<std::size_t>((splitter - 1) * shares.ranks + rank)].begin;
  }

  /// True if the cuts fit together. If they do not, the comparator is no strict weak ordering.
  bool are_valid() const {
    for (int i = 1; i <= shares.all_chunks(); ++i) {
      std::int64_t sum = 0;
      for (int rank = 0; rank < shares.ranks; ++rank) {
        if (at(i, rank) < at(i - 1, rank)) return false;
        sum += at(i, rank);
      }
      if (sum != shares.before(i)) return false;
    }
    return true;
  }
};

/// Carries out one call of a sort on one rank. `Policy` may be replaced to override the tuning.
template <class Arguments, class LocalSort, class Compare, class Policy>
struct DispatchDistributedSort;

template <class KeysIn, class ValuesIn, class Key, class Value, class LocalSort, class Compare, class Policy>
struct DispatchDistributedSort<distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>, LocalSort, Compare, Policy> {
  using Arguments = distributed_sort_arguments<KeysIn, ValuesIn, Key, Value>;
  using Arrays = pair_arrays<Key, Value>;
  using Storage = distributed_sort_storage<Key, Value>;

  const Arguments& arguments;
  const LocalSort& local_sort;
  const Compare& compare;
  const rank_position position;
  const ncclComm_t comm;
  const cudaStream_t stream;
  const Storage& storage;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Arguments& arguments,
                              const LocalSort& local_sort, const Compare& compare, ncclComm_t comm,
                              cudaStream_t stream) {
    rank_position position{};
    const cudaError_t known = detail::position_of(comm, position);
    if (known != cudaSuccess) return known;
    Storage storage(position.ranks, Policy::tuning);
    cudaError_t status = storage.reserve(arguments, local_sort, compare);
    if (d_temp_storage == nullptr) {
      if (status == cudaSuccess) return detail::answer_size_query(storage.all, temp_storage_bytes);
      // A rank without a size would not make the call, and the others would wait. The call refuses the arguments.
      temp_storage_bytes = 1;
      return position.ranks > 1 ? cudaSuccess : status;
    }
    if (status == cudaSuccess && (!arguments.have_valid_arrays() ||
                                  detail::refuses_storage_of_rank(storage.map(d_temp_storage, temp_storage_bytes)))) {
      status = cudaErrorInvalidValue;
    }
    if (arguments.num_out != nullptr) *arguments.num_out = 0;
    if (const auto peers = peer_group::of(comm)) ++peers->calls;
    const DispatchDistributedSort dispatch{arguments, local_sort, compare, position, comm, stream, storage};
    if (position.ranks == 1) return status != cudaSuccess ? status : dispatch.sort_alone();
    return status != cudaSuccess ? dispatch.refuse(status) : dispatch.sort();
  }

 private:
  cudaError_t sort_alone() const {
    *arguments.num_out = arguments.num_items;
    if (detail::refuses_capacity(arguments.num_items > arguments.capacity)) return cudaErrorInvalidValue;
    return sort_items(arguments.output);
  }

  cudaError_t sort_items(const Arrays& output) const {
    if (arguments.num_items == 0) return cudaSuccess;
    std::size_t bytes = storage.local_sort_bytes;
    return local_sort(storage.workspace(), bytes, arguments.keys_in, arguments.values_in, output.keys, output.values,
                      arguments.num_items, stream);
  }

  /// Takes part in the first round without items, so that all ranks learn that this one has refused its arguments.
  cudaError_t refuse(cudaError_t reason) const {
    const auto ranks = static_cast<std::size_t>(position.ranks);
    scratch_memory scratch(stream);
    cudaError_t status = scratch.allocate(storage.first.bytes * (ranks + 1));
    if (status != cudaSuccess) return status;
    unsigned char* const message = static_cast<unsigned char*>(scratch.data());
    unsigned char* const received = message + storage.first.bytes;
    std::vector<call_header> headers(ranks);
    status = send_header(header(reason), nullptr, message, received);
    for (std::size_t i = 0; i < ranks && status == cudaSuccess; ++i) {
      status = detail::copy_to_host(&headers[i], received + i * storage.first.bytes, sizeof(call_header), comm, stream);
    }
    return status != cudaSuccess ? status : error_of(headers);
  }

  cudaError_t sort() const {
    const auto peers = peer_group::of(comm);
    if (peers == nullptr || arguments.num_items > storage.most_in_area()) return sort_by_splitters();
    // After a failed message, this rank cannot know whether the others have read its areas.
    if (peers->has_failed()) return cudaErrorUnknown;
    // The headers of the other ranks decide how the call goes on.
    sort_cuts cuts{};
    cudaError_t status = fill_area_and_send_header(*peers);
    if (status == cudaSuccess) status = find_counts(*peers, cuts);
    if (status != cudaSuccess || cuts.shares.items == 0) return status;
    return are_all_in_areas(cuts) ? sort_gathered(*peers, cuts) : sort_by_splitters(true);
  }

  /// Sorts by splitters. `is_repeated` is true if this rank has already filled its area and sent its header, but
  /// another rank has too many items for an area.
  cudaError_t sort_by_splitters(bool is_repeated = false) const {
    // The stream is made while the rank sorts, if it may be needed.
    side_stream exchange_stream;
    sort_cuts cuts{};
    cudaError_t status = sort_and_send_header();
    if (status == cudaSuccess && arguments.capacity > Policy::tuning.max_items_without_chunks) exchange_stream.make();
    if (status == cudaSuccess) status = find_first(cuts);
    if (status != cudaSuccess || cuts.shares.items == 0) return status;
    if (!is_repeated && is_any_in_area(cuts)) {
      status = send_header(header(cudaSuccess), storage.sorted().keys, storage.message(), storage.received());
      if (status == cudaSuccess) status = find_first(cuts);
      if (status != cudaSuccess) return status;
    }
    status = find_others(cuts);
    if (status != cudaSuccess) return status;
    if (detail::is_refused(!cuts.are_valid(), "compare_op", "is no strict weak ordering")) return cudaErrorInvalidValue;
    return exchange_and_merge(cuts, exchange_stream);
  }

  // ------------------------------------------------------------------ splitters

  call_header header(cudaError_t status) const {
    call_header made{};
    made.status = static_cast<std::int64_t>(status);
    made.num_items = status == cudaSuccess ? arguments.num_items : 0;
    made.capacity = arguments.capacity;
    made.spare = local_sort.agreement();
    if (status == cudaSuccess) {
      const Arrays sorted = storage.sorted();
      const auto items = static_cast<std::size_t>(arguments.num_items);
      made.shared[0] = detail::shared_offset_of(comm, sorted.keys, items * sizeof(Key));
      if (Arrays::has_values) made.shared[1] = detail::shared_offset_of(comm, sorted.values, items * sizeof(Value));
    }
    return made;
  }

  /// Sends the first message of this rank to all ranks, and receives theirs.
  cudaError_t send_header(const call_header& call, const Key* sorted, unsigned char* message,
                          unsigned char* received) const {
    const auto threads = static_cast<unsigned>(bracket_threads);
    const auto samples = static_cast<unsigned>(storage.first.samples);
    const launch_configuration launch{"strata::DistributedSort, first samples", dim3((samples + threads - 1) / threads),
                                      dim3(threads), 0, stream};
    const cudaError_t status = strata::launch(launch, first_samples_kernel<Key>, call, sorted, storage.first, message);
    if (status != cudaSuccess) write_error(status, message);
    // This rank must take part even after an error, because the other ranks wait for it.
    const cudaError_t gathered = detail::all_gather(message, received, storage.first.bytes, comm, stream);
    return status != cudaSuccess ? status : gathered;
  }

  cudaError_t sort_and_send_header() const {
    const cudaError_t sorted = sort_items(storage.sorted());
    return send_header(header(sorted), storage.sorted().keys, storage.message(), storage.received());
  }

  /// Writes an error as the message, if a kernel has not written it: otherwise old contents of the memory could be
  /// taken for a valid message.
  void write_error(cudaError_t status, unsigned char* message) const {
    call_header failed{};
    failed.status = static_cast<std::int64_t>(status);
    static_cast<void>(cudaMemcpyAsync(message, &failed, sizeof failed, cudaMemcpyHostToDevice, stream));
  }

  /// Returns the error of the lowest rank that has one. If no rank has an error, but the ranks have made different
  /// calls, returns cudaErrorInvalidValue.
  static cudaError_t error_of(const std::vector<call_header>& headers) {
    cudaError_t status = detail::common_status(headers.data(), static_cast<int>(headers.size()));
    for (const call_header& header : headers) {
      if (status == cudaSuccess && detail::refuses_other_call(header.spare != headers[0].spare)) {
        status = cudaErrorInvalidValue;
      }
    }
    return status;
  }

  selection_round<Key> round_of(int number, const sort_shares& shares, bool is_last) const {
    selection_round<Key> round{};
    round.tuning = Policy::tuning;
    round.rank = position.rank;
    round.ranks = position.ranks;
    round.is_first = number == 0;
    round.shares = shares;
    round.messages = number == 0 ? storage.first : messages_of(shares);
    round.received = storage.received();
    round.brackets = storage.brackets((number + 1) % 2);
    round.new_brackets = storage.brackets(number % 2);
    round.headers = storage.headers();
    round.items = storage.sorted().keys;
    round.next_messages = storage.later;
    round.next = is_last ? nullptr : storage.message();
    return round;
  }
  sample_messages messages_of(const sort_shares& shares) const {
    return sample_messages::later(storage.later.samples, shares.all_chunks() - 1, sizeof(Key));
  }

  cudaError_t narrow(const selection_round<Key>& round, int splitters) const {
    const launch_configuration launch{"strata::DistributedSort, brackets",
                                      dim3(static_cast<unsigned>(splitters), static_cast<unsigned>(position.ranks)),
                                      dim3(static_cast<unsigned>(bracket_threads)), 0, stream};
    return strata::launch(launch, brackets_kernel<Key, Compare>, round, compare);
  }

  template <class T>
  cudaError_t copy_to_host(std::vector<T>& to, const T* from) const {
    return detail::copy_to_host(to.data(), from, to.size() * sizeof(T), comm, stream);
  }

  /// The first round. After it, the host knows the counts, and the cuts if all keys were samples.
  cudaError_t find_first(sort_cuts& cuts) const {
    cudaError_t status = narrow(round_of(0, {}, false), storage.sizes.max_splitters());
    if (status != cudaSuccess) return status;
    cuts.headers.resize(static_cast<std::size_t>(position.ranks));
    cuts.brackets.resize(storage.number_of_brackets());
    const std::size_t headers_bytes = storage.bytes_of_headers();
    std::vector<unsigned char> found(headers_bytes + cuts.brackets.size() * sizeof(cut_bracket));
    status = copy_to_host(found, storage.findings());
    if (status != cudaSuccess) return status;
    std::memcpy(cuts.headers.data(), found.data(), cuts.headers.size() * sizeof(call_header));
    std::memcpy(cuts.brackets.data(), found.data() + headers_bytes, cuts.brackets.size() * sizeof(cut_bracket));
    return take_counts(cuts);
  }

  /// Takes the counts from the first messages of all ranks.
  cudaError_t take_counts(sort_cuts& cuts) const {
    const cudaError_t status = error_of(cuts.headers);
    if (status != cudaSuccess) return status;
    std::int64_t items = 0;
    for (const call_header& header : cuts.headers) items += header.num_items;
    cuts.shares = sort_shares::of(position.ranks, items, Policy::tuning);
    *arguments.num_out = cuts.shares.of_rank(position.rank);
    for (int rank = 0; rank < position.ranks; ++rank) {
      if (detail::refuses_capacity(cuts.shares.of_rank(rank) > cuts.headers[static_cast<std::size_t>(rank)].capacity)) {
        return cudaErrorInvalidValue;
      }
    }
    return cudaSuccess;
  }

  // ------------------------------------------------------------------ small sorts of ranks that share memory

  static bool is_any_in_area(const sort_cuts& cuts) {
    bool is_any = false;
    for (const call_header& header : cuts.headers) is_any = is_any || header.is_in_area != 0;
    return is_any;
  }
  static bool are_all_in_areas(const sort_cuts& cuts) {
    bool are_all = true;
    for (const call_header& header : cuts.headers) are_all = are_all && header.is_in_area != 0;
    return are_all;
  }

  cudaError_t fill_area_and_send_header(const peer_group& peers) const {
    const auto count = static_cast<int>(arguments.num_items);
    const Arrays area = area_layout<Key, Value>::of(peers.area_of(position.rank));
    call_header call = header(cudaSuccess);
    call.is_in_area = 1;
    const auto blocks = static_cast<unsigned>(detail::most(ceiling_divide(count, area_threads), 1));
    const launch_configuration launch{"strata::DistributedSort, items for all", dim3(blocks), dim3(area_threads), 0,
                                      stream};
    const cudaError_t status =
        strata::launch(launch, fill_area_kernel<KeysIn, ValuesIn, Key, Value>, arguments.keys_in, arguments.values_in,
                       count, area.keys, area.values, call, storage.message());
    if (status != cudaSuccess) write_error(status, storage.message());
    // This rank must take part even after an error, because the other ranks wait for it.
    const cudaError_t gathered = detail::all_gather(
        storage.message(), storage.received(), storage.first.bytes, comm, stream, "strata::DistributedSort, headers",
        copy_headers{storage.received(), storage.first.bytes, static_cast<call_header*>(peers.staging),
                     position.ranks});
    return status != cudaSuccess ? status : gathered;
  }

  /// Takes only the headers, which the kernel that received the messages has copied to memory of the host.
  cudaError_t find_counts(const peer_group& peers, sort_cuts& cuts) const {
    const cudaError_t status = detail::wait_for(stream, comm);
    if (status != cudaSuccess) return status;
    cuts.headers.resize(static_cast<std::size_t>(position.ranks));
    std::memcpy(cuts.headers.data(), peers.staging, cuts.headers.size() * sizeof(call_header));
    return take_counts(cuts);
  }

  cudaError_t sort_gathered(const peer_group& peers, const sort_cuts& cuts) const {
    filled_areas<Key, Value> areas{};
    for (int rank = 0; rank < position.ranks; ++rank) {
      areas.items[rank] = area_layout<Key, Value>::of(peers.area_of(rank));
      areas.begins[rank + 1] =
          areas.begins[rank] + static_cast<int>(cuts.headers[static_cast<std::size_t>(rank)].num_items);
    }
    const int count = areas.begins[position.ranks];
    const launch_configuration launch{"strata::DistributedSort, items of all",
                                      dim3(static_cast<unsigned>(ceiling_divide(count, area_threads))),
                                      dim3(area_threads), 0, stream};
    const Arrays gathered = storage.gathered(), sorted = storage.gathered_sorted();
    cudaError_t status = strata::launch(launch, read_areas_kernel<Key, Value>, areas, position.ranks, gathered);
    std::size_t bytes = storage.gathered_sort_bytes;
    if (status == cudaSuccess) {
      status = local_sort(storage.gathered_sort(), bytes, static_cast<const Key*>(gathered.keys),
                          Storage::as_input(gathered.values), sorted.keys, sorted.values, std::int64_t{count}, stream);
    }
    const std::int64_t begin = cuts.shares.begin_of_rank(position.rank);
    const auto share = static_cast<std::size_t>(cuts.shares.of_rank(position.rank));
    if (status != cudaSuccess || share == 0) return status;
    const Arrays mine = sorted.at(begin);
    status = copy_items(arguments.output.keys, static_cast<const Key*>(mine.keys), share, stream);
    if constexpr (Arrays::has_values) {
      if (status == cudaSuccess) {
        status = copy_items(arguments.output.values, static_cast<const Value*>(mine.values), share, stream);
      }
    }
    return status;
  }

  // ------------------------------------------------------------------ more splitters

  cudaError_t find_others(sort_cuts& cuts) const {
    std::int64_t most = 0;
    for (const call_header& header : cuts.headers) most = detail::most(header.num_items, most);
    const int rounds = storage.sizes.rounds_after_first(most);
    if (rounds == 0) return cudaSuccess;
    const std::size_t bytes = messages_of(cuts.shares).bytes;
    for (int i = 1; i <= rounds; ++i) {
      cudaError_t status = detail::all_gather(storage.message(), storage.received(), bytes, comm, stream);
      if (status == cudaSuccess) status = narrow(round_of(i, cuts.shares, i == rounds), cuts.shares.all_chunks() - 1);
      if (status != cudaSuccess) return status;
    }
    return copy_to_host(cuts.brackets, storage.brackets(rounds % 2));
  }

  // ------------------------------------------------------------------ items

  /// Sends parts of the sorted items to their ranks, chunk by chunk, and merges them there. The exchange needs to wait
  /// for nothing, because the host has waited for all earlier work of the stream.
  cudaError_t exchange_and_merge(const sort_cuts& cuts, side_stream& exchange_stream) const {
    const int chunks = cuts.shares.chunks;
    if (chunks > 1) exchange_stream.make();
    const cudaStream_t exchanges = chunks > 1 && exchange_stream.is_made() ? exchange_stream.get() : stream;
    const run_merger<Key, Value, Compare> merge_runs{
        compare, {storage.buffer(0), storage.buffer(1)}, storage.merge_storage(), storage.merge_bytes, stream};
    const auto peers = detail::peers_of_call(comm, cuts.headers, position.ranks, Arrays::has_values ? 2 : 1);
    cudaError_t status = cudaSuccess;
    for (int chunk = 0; chunk < chunks && status == cudaSuccess; ++chunk) {
      const int first = position.rank * chunks;
      const std::int64_t begin = cuts.shares.before(first + chunk) - cuts.shares.before(first);
      status = peers != nullptr ? copy_from_peers(*peers, cuts, chunk, begin, exchanges)
                                : exchange(cuts, chunk, begin, exchanges);
      // The streams are joined even after an error, because the caller's stream must not go on while storage is in use.
      const cudaError_t joined = exchanges != stream ? exchange_stream.join(stream) : cudaSuccess;
      if (status == cudaSuccess) status = joined;
      if (status == cudaSuccess) {
        status = merge_runs(runs_of(cuts, chunk, begin, peers.get()), arguments.output.at(begin));
      }
    }
    if (peers == nullptr) return status;
    // The sorted items of each rank stay until all have read them.
    const cudaError_t joined = peers->barrier(comm, stream);
    return status != cudaSuccess ? status : joined;
  }

  /// The part of another rank's sorted items that it sends for a chunk, with its lead.
  struct received_part {
    std::int64_t begin;  // where the lead begins in the receive buffer
    std::int64_t lead;
    std::int64_t count;  // number of items without the lead
  };

  /// Returns the part from `rank`. `before` is the number of items before the part in this rank's output: those of
  /// earlier chunks, and those of this chunk from lower ranks. This number includes items of this rank itself.
  received_part part_from(const sort_cuts& cuts, int chunk, int rank, std::int64_t before) const {
    const int mine = position.rank * cuts.shares.chunks + chunk;
    const std::int64_t first = cuts.at(mine, rank), count = cuts.at(mine + 1, rank) - first;
    return {Storage::begin_of_part(before, chunk * position.ranks + rank), count > 0 ? lead_of(first) : 0, count};
  }

  cudaError_t exchange(const sort_cuts& cuts, int chunk, std::int64_t begin, cudaStream_t in) const {
    const auto ranks = static_cast<std::size_t>(position.ranks);
    std::vector<std::size_t> send_begins(ranks), send_counts(ranks), receive_begins(ranks), receive_counts(ranks);
    std::int64_t before = begin;
    for (int rank = 0; rank < position.ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      const received_part part = part_from(cuts, chunk, rank, before);
      before += part.count;
      if (rank == position.rank) continue;
      const int theirs = rank * cuts.shares.chunks + chunk;
      const std::int64_t first = cuts.at(theirs, position.rank), count = cuts.at(theirs + 1, position.rank) - first;
      const std::int64_t lead = count > 0 ? lead_of(first) : 0;
      send_begins[i] = static_cast<std::size_t>(first - lead);
      send_counts[i] = static_cast<std::size_t>(lead + count);
      receive_begins[i] = static_cast<std::size_t>(part.begin);
      receive_counts[i] = static_cast<std::size_t>(part.lead + part.count);
    }
    const Arrays from = storage.sorted(), to = storage.received_items();
    exchanged_array arrays[2] = {{from.keys, to.keys, sizeof(Key)}, {}};
    if constexpr (Arrays::has_values) arrays[1] = {from.values, to.values, sizeof(Value)};
    return detail::all_to_all(arrays, Arrays::has_values ? 2 : 1, send_begins.data(), send_counts.data(),
                              receive_begins.data(), receive_counts.data(), position, comm, in);
  }

  template <class T>
  static cudaError_t copy_items(T* to, const T* from, std::size_t items, cudaStream_t in) {
    return cudaMemcpyAsync(to, from, items * sizeof(T), cudaMemcpyDeviceToDevice, in);
  }

  /// Receives a chunk if the ranks share memory: each rank copies from the sorted items of the others.
  cudaError_t copy_from_peers(const peer_group& peers, const sort_cuts& cuts, int chunk, std::int64_t begin,
                              cudaStream_t in) const {
    const int mine = position.rank * cuts.shares.chunks + chunk;
    const Arrays to = storage.received_items();
    std::int64_t before = begin;
    for (int rank = 0; rank < position.ranks; ++rank) {
      const received_part part = part_from(cuts, chunk, rank, before);
      before += part.count;
      if (rank == position.rank || part.count == 0) continue;
      const std::int64_t first = cuts.at(mine, rank) - part.lead;
      const auto items = static_cast<std::size_t>(part.lead + part.count);
      const call_header& header = cuts.headers[static_cast<std::size_t>(rank)];
      cudaError_t status =
          copy_items(to.keys + part.begin, peers.array_of<Key>(rank, header.shared[0]) + first, items, in);
      if constexpr (Arrays::has_values) {
        if (status == cudaSuccess) {
          status = copy_items(to.values + part.begin, peers.array_of<Value>(rank, header.shared[1]) + first, items, in);
        }
      }
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  /// Returns the parts of the chunk that are not empty, in the order of ranks. This rank's own part lies among its
  /// sorted items.
  std::vector<sorted_run<Key, Value>> runs_of(const sort_cuts& cuts, int chunk, std::int64_t begin,
                                              [[maybe_unused]] const peer_group* peers) const {
    std::vector<sorted_run<Key, Value>> runs;
    std::int64_t before = begin;
    for (int rank = 0; rank < position.ranks; ++rank) {
      const received_part part = part_from(cuts, chunk, rank, before);
      before += part.count;
      if (part.count == 0) continue;
      const bool is_local = rank == position.rank;
      const std::int64_t first = cuts.at(position.rank * cuts.shares.chunks + chunk, rank);
      runs.push_back(
          {is_local ? storage.sorted().at(first) : storage.received_items().at(part.begin + part.lead), part.count});
    }
    return runs;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

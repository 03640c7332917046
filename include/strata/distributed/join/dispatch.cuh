// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_hash_join.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/join/call.cuh>
#include <strata/distributed/join/capacity.hpp>
#include <strata/distributed/join/columns.cuh>
#include <strata/distributed/join/destinations.hpp>
#include <strata/distributed/join/direct.cuh>
#include <strata/distributed/join/exchange.cuh>
#include <strata/distributed/join/gather.cuh>
#include <strata/distributed/join/group.cuh>
#include <strata/distributed/join/local_join.cuh>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/storage.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a join on one rank: `Call` is a distributed_join_call.
template <class Call>
class DispatchDistributedJoin {
  using Key = typename Call::Key;
  using Storage = distributed_join_storage<Call>;

 public:
  explicit DispatchDistributedJoin(const Call& call) : call_(call) {}

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes, bool are_arrays_valid) {
    cudaError_t status = detail::position_of(call_.comm, call_.position);
    if (status != cudaSuccess) return status;
    if (detail::refuses_ranks(call_.position.ranks, max_join_ranks)) return cudaErrorInvalidValue;
    const bool are_counts_valid = call_.are_counts_valid();
    // A size query also answers for arguments that the call refuses. Without a size, this rank would not make the call,
    // and the others would wait for it.
    if (!are_counts_valid) call_.clear_counts();
    status = reserve();
    if (d_temp_storage == nullptr) {
      return status == cudaSuccess ? detail::answer_size_query(storage_.all(), temp_storage_bytes) : status;
    }
    const bool has_storage = status == cudaSuccess && storage_.map(d_temp_storage, temp_storage_bytes);
    if (status == cudaSuccess && (!are_arrays_valid ||
                                  detail::is_refused(!are_counts_valid, "a number of rows or a capacity",
                                                     "is negative, or is above 2^32 - 16 for a side") ||
                                  detail::refuses_storage_of_rank(has_storage))) {
      status = cudaErrorInvalidValue;
    }
    if (call_.position.ranks > 1) return join_all_rows(status, has_storage);
    return status == cudaSuccess ? join_alone() : status;
  }

 private:
  cudaError_t reserve() {
    const bool is_alone = call_.position.ranks == 1;
    const DistributedJoinCapacity& capacity = call_.capacity;
    // Probe rows are either received, or they stay.
    const std::int64_t build_rows = is_alone ? call_.build.rows : capacity.build_rows;
    const std::int64_t probe_rows =
        is_alone || call_.probe.rows > capacity.probe_rows ? call_.probe.rows : capacity.probe_rows;
    std::size_t work_bytes = 0;
    cudaError_t status = detail::size_of_local_join(call_, storage_, build_rows, probe_rows, work_bytes);
    const auto add = [&](const auto& grouping) {
      std::size_t bytes = 0;
      if (status == cudaSuccess) status = grouping.size_of_work(bytes);
      if (bytes > work_bytes) work_bytes = bytes;
    };
    if (!is_alone) {
      add(join_row_grouping<true, Call, Storage>{call_, storage_});
      add(join_row_grouping<false, Call, Storage>{call_, storage_});
      const std::size_t staging = detail::join_staging_bytes(call_, storage_);
      if (staging > work_bytes) work_bytes = staging;
      std::size_t counting = 0;
      if (status == cudaSuccess) status = direct_.reserve(call_, counting);
      if (counting > work_bytes) work_bytes = counting;
    }
    if (status == cudaSuccess) storage_.reserve(call_, work_bytes);
    return status;
  }

  /// Joins the rows of all ranks. `status` is the result of this rank's checks of its arguments. A rank without storage
  /// takes part in the first exchange of messages, and ends there with all others.
  cudaError_t join_all_rows(cudaError_t status, bool has_storage) {
    const int rank = call_.position.rank, ranks = call_.position.ranks;
    join_host_memory memory(ranks);
    if (status == cudaSuccess && !memory.is_complete()) status = cudaErrorMemoryAllocation;
    const join_message* const messages = memory.messages.data();
    status = detail::gather_join_messages(call_, has_storage ? &storage_ : nullptr, status, memory.messages.data());
    if (status != cudaSuccess) return status;

    direct_.find_peers(call_, messages);
    const join_destinations destinations = detail::choose_destinations(
        messages, ranks, call_.rules(), {direct_.can_route(), Call::tuning.min_rows_routed_directly},
        memory.samples.data());
    const join_total_rows total(messages, ranks);
    if (destinations.sends_whole_build_side) return join_all_build_rows(messages, total.build, memory.build);
    // If row numbers among all ranks fit in 4 bytes, received rows have these numbers. Otherwise they have their
    // numbers on the rank that sent them.
    const auto are_global = [](std::uint64_t rows) { return rows <= std::uint64_t{max_distributed_join_rows}; };
    const auto first_row = [&](bool is_build, std::uint64_t rows) {
      return are_global(rows) ? static_cast<unsigned>(detail::join_rows_before(messages, rank, is_build)) : 0u;
    };
    const join_routing build_routing = detail::routing_of(destinations, true, call_.rules(), rank, ranks);
    const join_routing probe_routing = detail::routing_of(destinations, false, call_.rules(), rank, ranks);
    status =
        destinations.is_direct
            ? direct_.count(call_, storage_, memory.counts, build_routing.by_rank, probe_routing.by_rank)
            : group_and_count(destinations, memory.counts, first_row(true, total.build), first_row(false, total.probe));
    if (status != cudaSuccess) return status;

    const join_side_plan build_plan{ranks, memory.counts.counts(0, build_counts_part), memory.counts.stride(),
                                    destinations.build_nulls};
    const join_side_plan probe_plan{ranks, memory.counts.counts(0, probe_counts_part), memory.counts.stride(),
                                    destinations.probe_nulls};
    write_required_capacity(build_plan.received(rank), probe_plan.received(rank));
    for (int i = 0; i < ranks; ++i) {
      const join_header& header = messages[i].header;
      const bool has_room =
          build_plan.received(i) <= header.build_capacity && probe_plan.received(i) <= header.probe_capacity;
      if (!has_room && destinations.may_send_whole_build_side) {
        return join_all_build_rows(messages, total.build, memory.build);
      }
      if (detail::refuses_capacity(!has_room)) return cudaErrorInvalidValue;
    }

    const bool probe_stays = destinations.probe_stays;
    local_join_side<Key> build, probe;
    status = destinations.is_direct
                 ? direct_.route(call_, storage_, build_plan, probe_plan, build_routing.by_rank, probe_routing.by_rank,
                                 messages, are_global(total.build), are_global(total.probe))
                 : detail::exchange_join_rows(call_, storage_, build_plan, probe_stays ? nullptr : &probe_plan,
                                              total.build + total.probe, memory);
    if (status == cudaSuccess) {
      status = detail::received_join_side<true>(call_, storage_, build_plan, messages, are_global(total.build),
                                                memory.build_pieces.data(), build);
    }
    if (status == cudaSuccess) {
      status =
          probe_stays
              ? detail::kept_join_side<false>(call_, storage_, detail::join_rows_before(messages, rank, false), probe)
              : detail::received_join_side<false>(call_, storage_, probe_plan, messages, are_global(total.probe),
                                                  memory.probe_pieces.data(), probe);
    }
    return status == cudaSuccess ? join(build, probe) : status;
  }

  /// Carries out a join in which all ranks get all build rows as they are, and probe rows stay.
  cudaError_t join_all_build_rows(const join_message* messages, std::uint64_t build_rows, join_side_pieces& pieces) {
    write_required_capacity(static_cast<std::int64_t>(build_rows), 0);
    local_join_side<Key> sent, build, probe;
    cudaError_t status = cudaSuccess;
    if (direct_.can_send_build_side()) {
      status = direct_.send_build_side(call_, messages);
    } else {
      const cudaError_t kept = detail::kept_join_side<true>(call_, storage_, 0, sent);
      // The rows are sent even after an error, because other ranks wait for them.
      status = detail::exchange_whole_build_side(call_, storage_, sent, messages, build_rows, pieces);
      if (kept != cudaSuccess) status = kept;
    }
    build.keys = storage_.template keys_received<true>();
    build.rows = static_cast<std::int64_t>(build_rows);
    if (status == cudaSuccess) {
      const std::int64_t first_row = detail::join_rows_before(messages, call_.position.rank, false);
      status = detail::kept_join_side<false>(call_, storage_, first_row, probe);
    }
    return status == cudaSuccess ? join(build, probe) : status;
  }

  /// Sorts the rows of both sides by class, and gathers the number of rows of each class on each rank. All ranks return
  /// the same value.
  cudaError_t group_and_count(const join_destinations& destinations, const exchange_messages& counts,
                              unsigned first_build_row, unsigned first_probe_row) {
    const auto [rank, ranks] = call_.position;
    const join_destination_rules rules = call_.rules();
    const cudaError_t build_status = join_row_grouping<true, Call, Storage>{call_, storage_, first_build_row}.run(
        detail::routing_of(destinations, true, rules, rank, ranks));
    // The probe side reuses the memory of the sorted classes.
    cudaError_t status = detail::write_class_counts<true>(call_, storage_, counts, build_status, call_.build.rows);
    if (status != cudaSuccess) return status;
    std::int64_t grouped_probe_rows = 0;
    if (!destinations.probe_stays && build_status == cudaSuccess) {
      status = join_row_grouping<false, Call, Storage>{call_, storage_, first_probe_row}.run(
          detail::routing_of(destinations, false, rules, rank, ranks));
      grouped_probe_rows = call_.probe.rows;
    }
    status = detail::write_class_counts<false>(call_, storage_, counts, status, grouped_probe_rows);
    return status == cudaSuccess ? counts.gather(storage_.counts(), call_.position, call_.comm, call_.stream) : status;
  }

  void write_required_capacity(std::int64_t build_rows, std::int64_t probe_rows) const {
    if (call_.capacity.required_capacity == nullptr) return;
    call_.capacity.required_capacity->build_rows = build_rows;
    call_.capacity.required_capacity->probe_rows = probe_rows;
  }

  /// Carries out a join of one rank.
  cudaError_t join_alone() {
    write_required_capacity(0, 0);
    local_join_side<Key> build, probe;
    cudaError_t status = detail::kept_join_side<true>(call_, storage_, 0, build);
    if (status == cudaSuccess) status = detail::kept_join_side<false>(call_, storage_, 0, probe);
    return status == cudaSuccess ? join(build, probe) : status;
  }

  cudaError_t join(const local_join_side<Key>& build, const local_join_side<Key>& probe) const {
    std::size_t bytes = storage_.work_bytes();
    return detail::join_locally(storage_.work(), bytes, call_, storage_, build, probe);
  }

  Call call_;
  Storage storage_;
  join_direct_moves<Call, Storage> direct_;
};

/// Makes a call. `Policy` may be replaced to override the tuning.
template <JoinKind Kind, class Policy = distributed_join_policy, class BuildKeys, class BuildPromises, class ProbeKeys,
          class ProbePromises, class Output, class Hash, class Equal, JoinOrder Order>
cudaError_t distributed_join(void* d_temp_storage, std::size_t& temp_storage_bytes,
                             const JoinSide<BuildKeys, BuildPromises>& build,
                             const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output,
                             std::int64_t* d_num_out, const DistributedJoinCapacity& capacity,
                             const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream) {
  static_assert(Order == JoinOrder::any,
                "DistributedHashJoin does not order its result: pass JoinOptions, not OrderedJoinOptions");
  if constexpr (join_sides<JoinSide<BuildKeys, BuildPromises>, JoinSide<ProbeKeys, ProbePromises>>::are_alike) {
    hash_requirements<Hash, iterator_value_t<BuildKeys>>::check();
    equality_requirements<Equal, const iterator_value_t<BuildKeys>>::check();
    using Call = distributed_join_call<Kind, Policy, BuildKeys, BuildPromises, ProbePromises, Output, Hash, Equal>;
    const bool are_arrays_valid =
        d_temp_storage != nullptr && detail::are_join_arrays_valid(Kind, build, probe, output, d_num_out);
    DispatchDistributedJoin<Call> dispatch(Call{detail::untyped(build),
                                                detail::untyped(probe),
                                                output.capacity,
                                                detail::join_columns_of(output),
                                                d_num_out,
                                                capacity,
                                                options,
                                                comm,
                                                stream,
                                                {}});
    return dispatch.run(d_temp_storage, temp_storage_bytes, are_arrays_valid);
  } else {
    return cudaErrorInvalidValue;
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

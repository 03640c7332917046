// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/communication/peers.cuh>
#include <strata/distributed/exchange/dispatch.cuh>
#include <strata/distributed/exchange/partition.cuh>
#include <strata/distributed/join/destinations.hpp>
#include <strata/distributed/join/kernels.cuh>
#include <strata/distributed/join/marks.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/route.cuh>
#include <strata/distributed/join/storage.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

/// \file
/// Writes rows straight to the temporary storage of the ranks that receive them, if the ranks share it. The partition
/// of an exchange moves the keys, and marks tell the numbers of the rows. A join uses NCCL instead if the output has
/// columns of values, if keys have more than 64 bytes or are not trivially copyable, or if some build rows but not the
/// whole build side go to all ranks. If rows go to the ranks of their keys, the join also uses NCCL if rows without a
/// key move, or if a rank has no room for the marks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Calls `f(array, pointer, bytes)` for each array that other ranks write.
template <class Call, class Storage, class F>
void for_each_join_shared_array(const Call& call, const Storage& storage, const F& f) {
  if (!Call::may_move_directly) return;
  using Key = typename Call::Key;
  f(join_shared_array::build_keys, storage.template keys_received<true>(),
    call.template receivable_rows<true>() * sizeof(Key));
  f(join_shared_array::probe_keys, storage.template keys_received<false>(),
    call.template receivable_rows<false>() * sizeof(Key));
  f(join_shared_array::build_marks, storage.template marks<true>(), storage.template bytes_of_marks<true>(call));
  f(join_shared_array::probe_marks, storage.template marks<false>(), storage.template bytes_of_marks<false>(call));
}

/// A side whose rows go straight to the ranks of their keys.
template <bool IsBuild, class Call, class Storage>
class join_direct_side {
  using Key = typename Call::Key;
  using Class = join_row_class<typename Call::RoutedKeys>;
  using Classes = TransformInputIterator<join_class_t, Class, CountingInputIterator<unsigned>>;
  using Input = exchange_input<Classes, typename Call::KeyIterator, Key, NullType, NullType>;
  using Partition = exchange_partition<Input, Key, NullType>;
  using Layout = join_marks_layout<Key>;
  static constexpr bool has_marks = Call::template is_numbered<IsBuild>;
  using Outputs = partition_outputs<Key, NullType, std::conditional_t<has_marks, partition_marks, NullType>>;
  // not for users: both say what a tile is
  static_assert(Layout::items_per_thread == Partition::items_per_thread, "marks have the tiles of the partition");

 public:
  /// Returns in `bytes` how much memory count() needs.
  cudaError_t reserve(const Call& call, std::size_t& bytes) {
    const cudaError_t status = partition_.reserve(call.template side<IsBuild>().rows, call.position.ranks);
    bytes = partition_.bytes();
    return status;
  }

  /// Counts the rows for each rank. Until move(), the memory must not change.
  cudaError_t count(void* d_temp_storage, const Call& call, const join_rank_routing& routing) {
    return partition_.count(d_temp_storage, input_of(call, routing), call.position.ranks, call.stream);
  }
  tiled_counts counts(const Call& call) const { return partition_.counts(input_of(call, {})); }

  /// Writes each row of this rank to the rank of its key.
  cudaError_t move(const Call& call, const join_rank_routing& routing, const join_side_plan& plan,
                   const join_message* messages, const peer_group& peers) const {
    const auto [rank, ranks] = call.position;
    Outputs outputs{};
    for (int to = 0; to < ranks; ++to) {
      std::int64_t before = 0;
      for (int from = 0; from < rank; ++from) before += plan.rows(from, to, join_side_plan::keys);
      const join_header& header = messages[to].header;
      outputs.keys[to] = peers.array_of<Key>(to, header.offset_of(IsBuild ? join_shared_array::build_keys
                                                                          : join_shared_array::probe_keys)) +
                         before;
      if constexpr (has_marks) {
        outputs.marks.words[to] =
            peers.array_of<unsigned>(to, header.offset_of(marks_array)) + words_before(messages, rank);
        outputs.marks.begins[to] =
            outputs.marks.words[to] + Layout::tiles_of(rows_of(messages[rank])) * Layout::tile_words;
      }
    }
    return partition_.move(input_of(call, routing), outputs, ranks, call.stream);
  }

  /// Writes the numbers of the received rows: among the rows of all ranks if `are_global`, otherwise among the rows of
  /// the rank that sent them.
  cudaError_t number(const Call& call, const Storage& storage, const join_side_plan& plan, const join_message* messages,
                     bool are_global) const {
    if constexpr (!has_marks) {
      return cudaSuccess;
    } else {
      join_received_marks marks{};
      const auto [rank, ranks] = call.position;
      std::int64_t begin = 0;
      for (int from = 0; from < ranks; ++from) {
        marks.words[from] = storage.template marks<IsBuild>() + words_before(messages, from);
        marks.first_tile[from + 1] =
            marks.first_tile[from] + static_cast<unsigned>(Layout::tiles_of(rows_of(messages[from])));
        marks.first_number[from] =
            are_global ? static_cast<unsigned>(detail::join_rows_before(messages, from, IsBuild)) : 0u;
        marks.begin[from] = begin;
        begin += plan.rows(from, rank, join_side_plan::keys);
      }
      if (begin == 0) return cudaSuccess;
      const launch_configuration configuration{"strata::DistributedHashJoin, numbers", dim3(marks.first_tile[ranks]),
                                               dim3(partition_threads), 0, call.stream};
      return strata::launch(configuration, distributed_join_numbers_kernel<Layout>, marks,
                            storage.template rows_received<IsBuild>());
    }
  }

  /// True if each rank has room for the marks of all ranks.
  static bool has_room_for_marks(const join_message* messages, int ranks) {
    if (!has_marks) return true;
    const std::size_t words = words_before(messages, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      if (words > Layout::room_for(rows_of(messages[rank]), ranks)) return false;
    }
    return true;
  }

 private:
  static constexpr join_shared_array marks_array =
      IsBuild ? join_shared_array::build_marks : join_shared_array::probe_marks;

  static std::int64_t rows_of(const join_message& message) {
    return IsBuild ? message.header.build_rows : message.header.probe_rows;
  }
  static std::size_t words_before(const join_message* messages, int rank) {
    std::size_t words = 0;
    for (int i = 0; i < rank; ++i) words += Layout::words_of(rows_of(messages[i]));
    return words;
  }
  static Input input_of(const Call& call, const join_rank_routing& routing) {
    return {Classes(CountingInputIterator<unsigned>(0u), Class{call.template routed_keys<IsBuild>(), routing}),
            call.template side<IsBuild>().keys, NullType{}, call.template side<IsBuild>().rows};
  }

  Partition partition_;
};

/// How many rows this rank has for each rank, as a part of its message. Rows of other classes do not move.
struct join_direct_counts {
  tiled_counts rows;
  int ranks;

  STRATA_D std::int64_t operator()(int one) const { return one < ranks ? rows(one) : 0; }
  STRATA_D bool are_valid(int) const { return true; }
};

/// The steps of a call whose ranks write rows to each other without NCCL.
template <class Call, class Storage>
class join_direct_moves {
  using Key = typename Call::Key;

 public:
  /// Returns in `bytes` how many bytes count() needs in Storage::work().
  cudaError_t reserve(const Call& call, std::size_t& bytes) {
    bytes = 0;
    if constexpr (Call::may_move_directly) {
      cudaError_t status = build_.reserve(call, build_bytes_);
      if (status == cudaSuccess) status = probe_.reserve(call, bytes);
      constexpr std::size_t alignment = 256;
      build_bytes_ = ceiling_divide(build_bytes_, alignment) * alignment;
      bytes += build_bytes_;
      return status;
    }
    return cudaSuccess;
  }

  /// Finds from the messages which of the steps are possible. All ranks find the same.
  void find_peers(const Call& call, const join_message* messages) {
    const int ranks = call.position.ranks;
    const auto have = [&](join_shared_array array) {
      for (int rank = 0; rank < ranks; ++rank) {
        if (messages[rank].header.offset_of(array) < 0) return false;
      }
      return true;
    };
    if (!Call::may_move_directly || !have(join_shared_array::build_keys)) return;
    peers_ = peer_group::of(call.comm);
    can_route_ = have(join_shared_array::probe_keys) && have(join_shared_array::build_marks) &&
                 have(join_shared_array::probe_marks) &&
                 join_direct_side<true, Call, Storage>::has_room_for_marks(messages, ranks) &&
                 join_direct_side<false, Call, Storage>::has_room_for_marks(messages, ranks);
  }
  bool can_send_build_side() const { return peers_ != nullptr; }
  bool can_route() const { return peers_ != nullptr && can_route_; }

  /// Counts the rows of both sides for each rank, and gathers the counts of all ranks. An error of one rank is seen by
  /// all.
  cudaError_t count(const Call& call, const Storage& storage, const exchange_messages& counts,
                    const join_rank_routing& build_routing, const join_rank_routing& probe_routing) {
    if constexpr (Call::may_move_directly) {
      unsigned char* const work = storage.work();
      call_header header;
      header.status = build_.count(work, call, build_routing);
      const auto write = [&](const auto& side, int part) {
        return counts.write(header, join_direct_counts{side.counts(call), call.position.ranks}, storage.counts(),
                            call.position.rank, part, call.stream);
      };
      cudaError_t status = write(build_, build_counts_part);
      if (status != cudaSuccess) return status;
      header.status = probe_.count(work + build_bytes_, call, probe_routing);
      status = write(probe_, probe_counts_part);
      return status == cudaSuccess ? counts.gather(storage.counts(), call.position, call.comm, call.stream) : status;
    }
    return cudaErrorNotSupported;
  }

  /// Writes each row of this rank to the rank of its key. The stream then waits for the rows of the other ranks. Call
  /// this after count().
  cudaError_t route(const Call& call, const Storage& storage, const join_side_plan& build_plan,
                    const join_side_plan& probe_plan, const join_rank_routing& build_routing,
                    const join_rank_routing& probe_routing, const join_message* messages, bool are_build_rows_global,
                    bool are_probe_rows_global) const {
    if constexpr (Call::may_move_directly) {
      cudaError_t status = build_.move(call, build_routing, build_plan, messages, *peers_);
      if (status == cudaSuccess) status = probe_.move(call, probe_routing, probe_plan, messages, *peers_);
      // If this rank could not write its rows, it must not let the others go on.
      if (status == cudaSuccess) status = peers_->barrier(call.comm, call.stream);
      if (status == cudaSuccess) status = build_.number(call, storage, build_plan, messages, are_build_rows_global);
      if (status == cudaSuccess) status = probe_.number(call, storage, probe_plan, messages, are_probe_rows_global);
      return status;
    }
    return cudaErrorNotSupported;
  }

  /// Writes the build rows of this rank to all ranks, where the rows lie in the order of ranks. The stream then waits
  /// for the rows of the other ranks.
  cudaError_t send_build_side(const Call& call, const join_message* messages) const {
    if constexpr (Call::may_move_directly) {
      const auto [rank, ranks] = call.position;
      const std::int64_t before = detail::join_rows_before(messages, rank, true);
      partition_outputs<Key, NullType> outputs{};
      for (int to = 0; to < ranks; ++to) {
        outputs.keys[to] =
            peers_->array_of<Key>(to, messages[to].header.offset_of(join_shared_array::build_keys)) + before;
      }
      cudaError_t status = cudaSuccess;
      if (call.build.rows > 0) {
        status = strata::launch(
            detail::join_row_launch("strata::DistributedHashJoin, build rows", call.build.rows, call.stream),
            distributed_join_send_kernel<typename Call::KeyIterator, Key>, call.build.keys,
            static_cast<unsigned>(call.build.rows), rank, ranks, outputs);
      }
      // If this rank could not write its rows, it must not let the others go on.
      return status == cudaSuccess ? peers_->barrier(call.comm, call.stream) : status;
    }
    return cudaErrorNotSupported;
  }

 private:
  join_direct_side<true, Call, Storage> build_;
  join_direct_side<false, Call, Storage> probe_;
  std::size_t build_bytes_ = 0;
  std::shared_ptr<peer_group> peers_;
  bool can_route_ = false;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

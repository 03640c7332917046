// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/join/dispatch.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/plan.cuh>
#include <strata/distributed/join/capacity.hpp>
#include <strata/distributed/join/columns.cuh>
#include <strata/distributed/join/header.hpp>
#include <strata/distributed/join/kernels.cuh>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/route.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The most rows of a side that a rank can have, or receive: their numbers have 4 bytes there.
inline constexpr std::int64_t max_distributed_join_rows = 0xfffffff0;

/// One call of a join of the sides of all ranks.
template <JoinKind Kind, class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal>
class DispatchDistributedJoin {
  using Index = typename Output::index_type;
  using Key = iterator_value_t<Keys>;
  using Columns = std::decay_t<decltype(detail::join_columns_of(std::declval<const Output&>()))>;
  using Options = JoinOptions<Hash, Equal>;
  using RoutedKeys = join_routed_keys<Keys, Hash, Equal>;
  template <class Promises>
  using local_side =
      JoinSide<const Key*, join_promises<std::uint32_t, Promises::may_be_unique, false, Promises::may_have_range>>;

  static_assert(sizeof(Index) == 8, "the rows of all ranks have numbers of 8 bytes: choose such an Index");
  static_assert(!BuildPromises::has_future_count && !ProbePromises::has_future_count,
                "DistributedHashJoin takes numbers of rows that the host knows: copy the number to the host");
  static_assert(is_trivially_relocatable_v<Key>,
                "DistributedHashJoin sends keys as bits: Key must be trivially relocatable");

  static constexpr int columns = count_of_columns<Columns>;
  static constexpr bool is_build_numbered = take_row_numbers<Columns> && has_pairs(Kind);
  static constexpr bool is_probe_numbered = take_row_numbers<Columns>;
  /// Rows without a partner are in the result.
  static constexpr bool keeps_build_rows = Kind == JoinKind::full;
  static constexpr bool keeps_probe_rows = Kind == JoinKind::left || Kind == JoinKind::full || Kind == JoinKind::anti;
  /// In a full join one rank must find out whether a build row has a partner.
  static constexpr bool may_copy_build_rows = Kind != JoinKind::full;

  /// The arrays of a side. They come once for each side.
  enum side_slot { order_slot, keys_sent_slot, keys_received_slot, numbers_slot, mask_slot, pieces_slot, side_slots };
  enum slot {
    message_slot,
    messages_slot,
    counts_slot,
    all_counts_slot,
    classes_slot,
    sorted_classes_slot,
    work_slot,
    build_slots,
    probe_slots = build_slots + side_slots,
    column_slots = probe_slots + side_slots,
    slots = column_slots + 2 * columns
  };

 public:
  DispatchDistributedJoin(const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* d_num_out, const DistributedJoinCapacity& capacity,
                          const Options& options, ncclComm_t comm, cudaStream_t stream)
      : build_(detail::untyped(build)),
        probe_(detail::untyped(probe)),
        output_capacity_(output.capacity),
        columns_(detail::join_columns_of(output)),
        d_num_out_(d_num_out),
        capacity_(capacity),
        options_(options),
        comm_(comm),
        stream_(stream) {}

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes, bool are_arrays_valid) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
    cudaError_t status = detail::position_of(comm_, position_);
    if (status != cudaSuccess) return status;
    if (position_.ranks > max_join_ranks) return cudaErrorInvalidValue;
    const bool are_counts_valid = is_row_count(build_.rows) && is_row_count(probe_.rows) &&
                                  is_row_count(capacity_.build_rows) && is_row_count(capacity_.probe_rows) &&
                                  output_capacity_ >= 0;
    // A size query answers where the call refuses, too: a rank that ended here would be waited for.
    if (!are_counts_valid) {
      build_.rows = probe_.rows = capacity_.build_rows = capacity_.probe_rows = output_capacity_ = 0;
    }
    status = reserve();
    if (d_temp_storage == nullptr) {
      return status == cudaSuccess ? answer_size_query(storage_, temp_storage_bytes) : status;
    }
    const bool has_storage = status == cudaSuccess && storage_.map(d_temp_storage, temp_storage_bytes);
    if (status == cudaSuccess && !(has_storage && are_counts_valid && are_arrays_valid)) {
      status = cudaErrorInvalidValue;
    }
    if (position_.ranks == 1) {
      if (status == cudaSuccess) status = join_alone();
      return status;
    }
    return join_all_rows(status, has_storage);
  }

 private:
  /// A side on this rank.
  struct side_state {
    int first_slot;
    bool is_build;
    bool is_numbered;
    bool stays = false;
    std::int64_t base = 0;  // the number of the first row of this rank among those of all ranks
    // As the local join has them.
    const Key* keys = nullptr;
    const std::uint32_t* valid = nullptr;
    std::int64_t local_rows = 0;
    join_global_rows global_rows = {};
  };

  static bool is_row_count(std::int64_t rows) { return rows >= 0 && rows <= max_distributed_join_rows; }

  // ------------------------------------------------------------------ temporary storage

  cudaError_t reserve() {
    const auto ranks = static_cast<std::size_t>(position_.ranks);
    const auto build_rows = static_cast<std::size_t>(build_.rows);
    const auto probe_rows = static_cast<std::size_t>(probe_.rows);
    const std::size_t rows = build_rows > probe_rows ? build_rows : probe_rows;
    std::int64_t local_build = build_.rows;
    std::int64_t local_probe = probe_.rows;
    if (ranks > 1) {
      storage_.template reserve<join_message>(message_slot, 1);
      storage_.template reserve<join_message>(messages_slot, ranks);
      storage_.template reserve<std::int64_t>(counts_slot, counts_of_rank());
      storage_.template reserve<std::int64_t>(all_counts_slot, counts_of_rank() * ranks);
      storage_.template reserve<join_class_t>(classes_slot, rows);
      storage_.template reserve<join_class_t>(sorted_classes_slot, rows);
      reserve_side(build_slots, build_rows, static_cast<std::size_t>(capacity_.build_rows), is_build_numbered);
      reserve_side(probe_slots, probe_rows, static_cast<std::size_t>(capacity_.probe_rows), is_probe_numbered);
      std::size_t sort_bytes = 0;
      const cudaError_t status = sort_classes(nullptr, sort_bytes, nullptr, static_cast<std::int64_t>(rows));
      if (status != cudaSuccess) return status;
      work_bytes_ = sort_bytes;
      local_build = capacity_.build_rows;
      if (local_probe < capacity_.probe_rows) local_probe = capacity_.probe_rows;
    } else if (!std::is_pointer_v<Keys>) {
      storage_.template reserve<Key>(build_slots + keys_sent_slot, build_rows);
      storage_.template reserve<Key>(probe_slots + keys_sent_slot, probe_rows);
    }
    detail::for_each_join_column(columns_, [&](const auto& column, int index) {
      using Column = join_column_traits<std::decay_t<decltype(column)>>;
      if constexpr (moves_column<Column>()) {
        using Value = typename Column::value_type;
        static_assert(is_trivially_relocatable_v<Value>,
                      "DistributedHashJoin sends columns as bits: their values must be trivially relocatable");
        const std::int64_t received = Column::is_of_build ? capacity_.build_rows : capacity_.probe_rows;
        if (ranks > 1) storage_.template reserve<Value>(received_slot(index), static_cast<std::size_t>(received));
        if (ranks > 1 || !std::is_pointer_v<decltype(column.in)>) {
          storage_.template reserve<Value>(sent_slot(index), Column::is_of_build ? build_rows : probe_rows);
        }
      }
    });
    // Where rows have no key, the local join may take another method.
    const std::uint32_t some_mask = 0;
    for (const std::uint32_t* build_mask : {static_cast<const std::uint32_t*>(nullptr), &some_mask}) {
      for (const std::uint32_t* probe_mask : {static_cast<const std::uint32_t*>(nullptr), &some_mask}) {
        side_state build = state_of_build();
        side_state probe = state_of_probe();
        build.local_rows = local_build;
        probe.local_rows = local_probe;
        build.valid = build_mask;
        probe.valid = probe_mask;
        std::size_t bytes = 0;
        const cudaError_t status = join_locally(nullptr, bytes, build, probe);
        if (status != cudaSuccess) return status;
        if (bytes > work_bytes_) work_bytes_ = bytes;
      }
    }
    storage_.template reserve<unsigned char>(work_slot, work_bytes_);
    return cudaSuccess;
  }
  void reserve_side(int first, std::size_t rows, std::size_t capacity, bool is_numbered) {
    const auto ranks = static_cast<std::size_t>(position_.ranks);
    storage_.template reserve<unsigned>(first + order_slot, rows);
    storage_.template reserve<Key>(first + keys_sent_slot, rows);
    storage_.template reserve<Key>(first + keys_received_slot, capacity);
    storage_.template reserve<unsigned>(first + numbers_slot, is_numbered ? capacity : 0);
    storage_.template reserve<std::uint32_t>(first + mask_slot, capacity / 32 + 1);
    storage_.template reserve<join_piece>(first + pieces_slot, join_side_plan::sections * ranks);
  }

  template <class Column>
  static constexpr bool moves_column() {
    return Column::has_values && (!Column::is_of_build || has_pairs(Kind));
  }
  static constexpr int sent_slot(int column) { return column_slots + 2 * column; }
  static constexpr int received_slot(int column) { return column_slots + 2 * column + 1; }

  /// A status, then the classes of both sides.
  std::size_t counts_of_rank() const { return 1 + 2 * std::size_t{classes().count()}; }
  join_classes classes() const { return {static_cast<unsigned>(position_.ranks)}; }

  static side_state state_of_build() { return {build_slots, true, is_build_numbered}; }
  static side_state state_of_probe() { return {probe_slots, false, is_probe_numbered}; }

  // ------------------------------------------------------------------ several ranks

  cudaError_t join_all_rows(cudaError_t status, bool has_storage) {
    const auto ranks = static_cast<std::size_t>(position_.ranks);
    host_array<join_message> messages;
    host_array<join_sample> samples;
    host_array<std::int64_t> counts;
    host_array<join_piece> pieces;
    const bool has_memory = messages.allocate(ranks) && samples.allocate(ranks * join_message::max_samples) &&
                            counts.allocate(ranks * counts_of_rank()) &&
                            pieces.allocate(2 * join_side_plan::sections * ranks);
    if (status == cudaSuccess && !has_memory) status = cudaErrorMemoryAllocation;
    status = gather_messages(status, has_storage, messages.data());
    if (status != cudaSuccess) return status;

    side_state build = state_of_build();
    side_state probe = state_of_probe();
    for (int rank = 0; rank < position_.rank; ++rank) {
      build.base += messages[static_cast<std::size_t>(rank)].header.build_rows;
      probe.base += messages[static_cast<std::size_t>(rank)].header.probe_rows;
    }
    const join_total_rows total(messages.data(), position_.ranks);
    probe.stays = may_copy_build_rows && detail::is_build_side_small(total, position_.ranks);
    join_hot_keys hot;
    if (may_copy_build_rows && !probe.stays) {
      hot = detail::find_hot_keys(messages.data(), position_.ranks, total.probe, samples.data());
    }
    join_null_target build_nulls{keeps_build_rows ? join_null_target::same_rank : join_null_target::nowhere};
    join_null_target probe_nulls{keeps_probe_rows ? join_null_target::same_rank : join_null_target::nowhere};
    if (options_.nulls_equal) {
      if (probe.stays || hot.contains(join_null_route_hash)) {
        build_nulls.target = join_null_target::all_ranks;
        probe_nulls.target = join_null_target::same_rank;
      } else {
        build_nulls.target = probe_nulls.target =
            static_cast<int>(detail::join_rank_of(join_null_route_hash, classes().ranks));
      }
    }

    std::int64_t* const d_counts = storage_.template get<std::int64_t>(counts_slot);
    status = cudaMemsetAsync(d_counts, 0, counts_of_rank() * sizeof(std::int64_t), stream_);
    if (status == cudaSuccess) {
      status = group(build, build_, build_nulls, keeps_build_rows, classes().to_all(), probe.stays, hot, d_counts + 1);
    }
    if (status == cudaSuccess && !probe.stays) {
      status = group(probe, probe_, probe_nulls, keeps_probe_rows, static_cast<unsigned>(position_.rank), false, hot,
                     d_counts + 1 + classes().count());
    }
    status = gather_counts(status, counts.data());
    if (status != cudaSuccess) return status;

    const join_side_plan build_plan{position_.ranks, counts.data() + 1, counts_of_rank(), build_nulls};
    const join_side_plan probe_plan{position_.ranks, counts.data() + 1 + classes().count(), counts_of_rank(),
                                    probe_nulls};
    if (capacity_.needed != nullptr) {
      capacity_.needed->build_rows = build_plan.received(position_.rank);
      capacity_.needed->probe_rows = probe_plan.received(position_.rank);
    }
    for (int rank = 0; rank < position_.ranks; ++rank) {
      const join_header& header = messages[static_cast<std::size_t>(rank)].header;
      if (build_plan.received(rank) > header.build_capacity || probe_plan.received(rank) > header.probe_capacity) {
        return cudaErrorInvalidValue;
      }
    }
    status = exchange(build, build_plan, probe, probe_plan);
    if (status == cudaSuccess) status = receive(build, build_plan, messages.data(), pieces.data());
    if (status == cudaSuccess) {
      status = probe.stays
                   ? keep(probe, probe_)
                   : receive(probe, probe_plan, messages.data(), pieces.data() + join_side_plan::sections * ranks);
    }
    if (status != cudaSuccess) return status;
    std::size_t bytes = work_bytes_;
    return join_locally(storage_.template get<unsigned char>(work_slot), bytes, build, probe);
  }

  /// What must be the same on all ranks.
  std::int64_t signature() const {
    std::uint64_t sum = static_cast<std::uint64_t>(Kind) * 2 + (options_.nulls_equal ? 1 : 0);
    sum = sum * 4096 + sizeof(Key);
    sum = sum * 2 + (is_build_numbered ? 1 : 0);
    sum = sum * 2 + (is_probe_numbered ? 1 : 0);
    detail::for_each_join_column(columns_, [&](const auto& column, int) {
      using Column = join_column_traits<std::decay_t<decltype(column)>>;
      if constexpr (moves_column<Column>()) {
        sum = mixed_hash(sum * 4096 + 2 * sizeof(typename Column::value_type) + (Column::is_of_build ? 1 : 0));
      }
    });
    return static_cast<std::int64_t>(sum);
  }

  /// Sends the arguments of this call to all ranks, and receives theirs. All ranks return alike.
  cudaError_t gather_messages(cudaError_t status, bool has_storage, join_message* messages) {
    const auto ranks = static_cast<std::size_t>(position_.ranks);
    scratch_memory scratch(stream_);
    join_message* d_mine = nullptr;
    join_message* d_all = nullptr;
    if (has_storage) {
      d_mine = storage_.template get<join_message>(message_slot);
      d_all = storage_.template get<join_message>(messages_slot);
    } else {
      const cudaError_t allocated = scratch.allocate((ranks + 1) * sizeof(join_message));
      if (allocated != cudaSuccess) return allocated;
      d_mine = static_cast<join_message*>(scratch.data());
      d_all = d_mine + 1;
    }
    if (status == cudaSuccess) status = cudaMemsetAsync(d_mine, 0, sizeof(join_message), stream_);
    if (status == cudaSuccess && probe_.rows > 0 && may_copy_build_rows) {
      launch_configuration configuration{"strata::DistributedHashJoin, samples", dim3(1),
                                         dim3(distributed_join_threads)};
      configuration.stream = stream_;
      status = strata::launch(configuration, distributed_join_sample_kernel<RoutedKeys>, routed(probe_),
                              static_cast<unsigned>(probe_.rows), options_.nulls_equal,
                              join_message::samples_of(probe_.rows), d_mine->samples);
    }
    const join_header header{status, build_.rows, probe_.rows, capacity_.build_rows, capacity_.probe_rows, signature()};
    cudaError_t sent = cudaMemcpyAsync(&d_mine->header, &header, sizeof(header), cudaMemcpyHostToDevice, stream_);
    if (sent == cudaSuccess) sent = detail::all_gather(d_mine, d_all, sizeof(join_message), comm_, stream_);
    if (sent == cudaSuccess) sent = detail::copy_to_host(messages, d_all, ranks * sizeof(join_message), comm_, stream_);
    if (sent != cudaSuccess) return sent;
    if (messages == nullptr) return cudaErrorMemoryAllocation;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (messages[rank].header.status != cudaSuccess) return static_cast<cudaError_t>(messages[rank].header.status);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (messages[rank].header.signature != messages[0].header.signature) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  }

  /// The same with the numbers of rows of classes.
  cudaError_t gather_counts(cudaError_t status, std::int64_t* counts) {
    std::int64_t* const d_counts = storage_.template get<std::int64_t>(counts_slot);
    std::int64_t* const d_all = storage_.template get<std::int64_t>(all_counts_slot);
    const auto ranks = static_cast<std::size_t>(position_.ranks);
    const std::int64_t mine = status;
    cudaError_t sent = cudaMemcpyAsync(d_counts, &mine, sizeof(mine), cudaMemcpyHostToDevice, stream_);
    if (sent == cudaSuccess) {
      sent = detail::all_gather(d_counts, d_all, counts_of_rank() * sizeof(std::int64_t), comm_, stream_);
    }
    const std::size_t bytes = ranks * counts_of_rank() * sizeof(std::int64_t);
    if (sent == cudaSuccess) sent = detail::copy_to_host(counts, d_all, bytes, comm_, stream_);
    if (sent != cudaSuccess) return sent;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (counts[rank * counts_of_rank()] != cudaSuccess) {
        return static_cast<cudaError_t>(counts[rank * counts_of_rank()]);
      }
    }
    return cudaSuccess;
  }

  // ------------------------------------------------------------------ rows in the order of their destinations

  RoutedKeys routed(const JoinSide<Keys>& side) const {
    return {side.keys, side.valid_mask, options_.hash, options_.equal};
  }

  launch_configuration row_launch(const char* name, std::int64_t rows) const {
    constexpr std::int64_t max_blocks = 8192;
    std::int64_t blocks = (rows + (distributed_join_threads - 1)) / distributed_join_threads;
    if (blocks > max_blocks) blocks = max_blocks;
    launch_configuration configuration{name, dim3(static_cast<unsigned>(blocks)), dim3(distributed_join_threads)};
    configuration.stream = stream_;
    return configuration;
  }

  cudaError_t sort_classes(void* d_storage, std::size_t& bytes, unsigned* order, std::int64_t rows) {
    const bool is_query = d_storage == nullptr;
    int bits = 1;
    while ((1u << bits) < classes().count()) ++bits;
    return DeviceRadixSort::SortPairs(
        d_storage, bytes,
        is_query ? nullptr : static_cast<const join_class_t*>(storage_.template get<join_class_t>(classes_slot)),
        is_query ? nullptr : storage_.template get<join_class_t>(sorted_classes_slot),
        CountingInputIterator<unsigned>(0), order, rows, 0, bits, stream_);
  }

  cudaError_t group(side_state& state, const JoinSide<Keys>& side, join_null_target nulls, bool keeps_rows,
                    unsigned hot_class, bool is_all_hot, const join_hot_keys& hot, std::int64_t* d_counts) {
    if (side.rows == 0) return cudaSuccess;
    const auto rows = static_cast<unsigned>(side.rows);
    join_routing routing{classes(), is_all_hot, static_cast<join_class_t>(hot_class), 0, 0, hot};
    routing.null_class =
        static_cast<join_class_t>(nulls.target == join_null_target::nowhere ? classes().dropped() : classes().null());
    routing.unequal_class =
        static_cast<join_class_t>(keeps_rows ? static_cast<unsigned>(position_.rank) : classes().dropped());
    cudaError_t status = strata::launch(row_launch("strata::DistributedHashJoin, classes", side.rows),
                                        distributed_join_classify_kernel<RoutedKeys>, routed(side), rows, routing,
                                        storage_.template get<join_class_t>(classes_slot));
    unsigned* const order = storage_.template get<unsigned>(state.first_slot + order_slot);
    std::size_t bytes = work_bytes_;
    if (status == cudaSuccess) {
      status = sort_classes(storage_.template get<unsigned char>(work_slot), bytes, order, side.rows);
    }
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DistributedHashJoin, counts", dim3(1), dim3(distributed_join_threads)};
    configuration.stream = stream_;
    status =
        strata::launch(configuration, distributed_join_count_kernel<join_class_t>,
                       storage_.template get<join_class_t>(sorted_classes_slot), rows, classes().count(), d_counts);
    if (status != cudaSuccess) return status;
    return gather_sent(state, side, order, d_counts + classes().dropped());
  }

  template <class Items, class Item>
  cudaError_t gather_items(Items items, const unsigned* order, std::int64_t rows, const std::int64_t* d_dropped,
                           Item* out) const {
    if (rows == 0) return cudaSuccess;
    return strata::launch(row_launch("strata::DistributedHashJoin, gather", rows),
                          distributed_join_gather_kernel<Items, Item>, items, order, static_cast<unsigned>(rows),
                          d_dropped, out);
  }

  /// Keys and columns in the order of `order`.
  cudaError_t gather_sent(side_state& state, const JoinSide<Keys>& side, const unsigned* order,
                          const std::int64_t* d_dropped) {
    cudaError_t status = gather_items(side.keys, order, side.rows, d_dropped,
                                      storage_.template get<Key>(state.first_slot + keys_sent_slot));
    for_each_moved_column(state.is_build, [&](const auto& column, auto value, int index) {
      using Value = typename decltype(value)::type;
      if (status == cudaSuccess) {
        status = gather_items(column.in, order, side.rows, d_dropped, storage_.template get<Value>(sent_slot(index)));
      }
    });
    return status;
  }

  template <class T>
  struct type_of {
    using type = T;
  };
  template <class F>
  void for_each_moved_column(bool is_build, F&& f) const {
    detail::for_each_join_column(columns_, [&](const auto& column, int index) {
      using Column = join_column_traits<std::decay_t<decltype(column)>>;
      if constexpr (moves_column<Column>()) {
        if (Column::is_of_build == is_build) f(column, type_of<typename Column::value_type>{}, index);
      }
    });
  }

  // ------------------------------------------------------------------ rows to their ranks

  /// An array of a side on its way.
  struct moved_array {
    const unsigned char* sent;
    unsigned char* received;
    std::size_t item_bytes;
  };
  struct moved_arrays {
    moved_array array[2 + (columns > 0 ? columns : 1)];
    int count = 0;

    template <class T>
    void add(const T* sent, T* received) {
      array[count++] = {reinterpret_cast<const unsigned char*>(sent), reinterpret_cast<unsigned char*>(received),
                        sizeof(T)};
    }
  };
  moved_arrays arrays_of(const side_state& side) const {
    moved_arrays arrays;
    arrays.add(storage_.template get<Key>(side.first_slot + keys_sent_slot),
               storage_.template get<Key>(side.first_slot + keys_received_slot));
    if (side.is_numbered) {
      arrays.add(storage_.template get<unsigned>(side.first_slot + order_slot),
                 storage_.template get<unsigned>(side.first_slot + numbers_slot));
    }
    for_each_moved_column(side.is_build, [&](const auto&, auto value, int index) {
      using Value = typename decltype(value)::type;
      arrays.add(storage_.template get<Value>(sent_slot(index)), storage_.template get<Value>(received_slot(index)));
    });
    return arrays;
  }

  /// All arrays of both sides in one group of sends.
  cudaError_t exchange(const side_state& build, const join_side_plan& build_plan, const side_state& probe,
                       const join_side_plan& probe_plan) const {
    const moved_arrays build_arrays = arrays_of(build);
    const moved_arrays probe_arrays = arrays_of(probe);
    cudaError_t status = copy_here(build_arrays, build_plan);
    if (status == cudaSuccess && !probe.stays) status = copy_here(probe_arrays, probe_plan);
    if (status != cudaSuccess) return status;
    status = detail::completed(ncclGroupStart(), comm_);
    if (status != cudaSuccess) return status;
    status = send(build_arrays, build_plan);
    if (status == cudaSuccess && !probe.stays) status = send(probe_arrays, probe_plan);
    // Once a group has started it ends, whatever its calls return.
    const cudaError_t ended = detail::completed(ncclGroupEnd(), comm_);
    return status != cudaSuccess ? status : ended;
  }
  cudaError_t copy_here(const moved_arrays& arrays, const join_side_plan& plan) const {
    for (int section = 0; section < join_side_plan::sections; ++section) {
      const join_send_run run = plan.run(position_.rank, position_.rank, section);
      const std::int64_t at = received_begin(plan, position_.rank, section);
      for (int i = 0; i < arrays.count && run.rows > 0; ++i) {
        const moved_array& array = arrays.array[i];
        const cudaError_t status =
            cudaMemcpyAsync(array.received + static_cast<std::size_t>(at) * array.item_bytes,
                            array.sent + static_cast<std::size_t>(run.begin) * array.item_bytes,
                            static_cast<std::size_t>(run.rows) * array.item_bytes, cudaMemcpyDeviceToDevice, stream_);
        if (status != cudaSuccess) return status;
      }
    }
    return cudaSuccess;
  }
  cudaError_t send(const moved_arrays& arrays, const join_side_plan& plan) const {
    for (int section = 0; section < join_side_plan::sections; ++section) {
      std::int64_t at = received_begin(plan, 0, section);
      for (int peer = 0; peer < position_.ranks; ++peer) {
        const std::int64_t received = plan.rows(peer, position_.rank, section);
        if (peer != position_.rank) {
          const join_send_run run = plan.run(position_.rank, peer, section);
          for (int i = 0; i < arrays.count; ++i) {
            const moved_array& array = arrays.array[i];
            ncclResult_t result = ncclSuccess;
            if (run.rows > 0) {
              result = ncclSend(array.sent + static_cast<std::size_t>(run.begin) * array.item_bytes,
                                static_cast<std::size_t>(run.rows) * array.item_bytes, ncclUint8, peer, comm_, stream_);
            }
            const bool is_sent = result == ncclSuccess || result == ncclInProgress;
            if (is_sent && received > 0) {
              result = ncclRecv(array.received + static_cast<std::size_t>(at) * array.item_bytes,
                                static_cast<std::size_t>(received) * array.item_bytes, ncclUint8, peer, comm_, stream_);
            }
            if (result != ncclSuccess && result != ncclInProgress) return detail::as_cuda_error(result);
          }
        }
        at += received;
      }
    }
    return cudaSuccess;
  }

  /// Where the rows of a rank begin in those that this rank receives.
  std::int64_t received_begin(const join_side_plan& plan, int from, int section) const {
    std::int64_t begin = 0;
    for (int before = 0; before < section; ++before) begin += plan.received(position_.rank, before);
    for (int rank = 0; rank < from; ++rank) begin += plan.rows(rank, position_.rank, section);
    return begin;
  }

  // ------------------------------------------------------------------ the local join

  /// The rows that have come.
  cudaError_t receive(side_state& side, const join_side_plan& plan, const join_message* messages, join_piece* pieces) {
    side.keys = storage_.template get<Key>(side.first_slot + keys_received_slot);
    side.local_rows = plan.received(position_.rank);
    cudaError_t status = cudaSuccess;
    const std::int64_t nulls = plan.received(position_.rank, join_side_plan::nulls);
    if (nulls > 0) {
      auto* const mask = storage_.template get<std::uint32_t>(side.first_slot + mask_slot);
      status =
          strata::launch(row_launch("strata::DistributedHashJoin, mask", side.local_rows / 32 + 1),
                         distributed_join_mask_kernel<std::uint32_t>, static_cast<unsigned>(side.local_rows - nulls),
                         static_cast<unsigned>(side.local_rows), mask);
      side.valid = mask;
    }
    if (status != cudaSuccess || !side.is_numbered || side.local_rows == 0) return status;
    unsigned count = 0;
    std::int64_t begin = 0;
    for (int section = 0; section < join_side_plan::sections; ++section) {
      std::int64_t base = 0;
      for (int rank = 0; rank < position_.ranks; ++rank) {
        const std::int64_t rows = plan.rows(rank, position_.rank, section);
        if (rows > 0) pieces[count++] = {begin, base};
        begin += rows;
        const join_header& header = messages[rank].header;
        base += side.is_build ? header.build_rows : header.probe_rows;
      }
    }
    auto* const d_pieces = storage_.template get<join_piece>(side.first_slot + pieces_slot);
    side.global_rows = {d_pieces, count, storage_.template get<unsigned>(side.first_slot + numbers_slot), 0};
    return cudaMemcpyAsync(d_pieces, pieces, count * sizeof(join_piece), cudaMemcpyHostToDevice, stream_);
  }

  /// The rows of this rank stay. Keys and columns that are no arrays are written to some.
  cudaError_t keep(side_state& side, const JoinSide<Keys>& side_here) {
    side.stays = true;
    side.local_rows = side_here.rows;
    side.valid = side_here.valid_mask;
    side.global_rows = {nullptr, 0, nullptr, side.base};
    cudaError_t status = cudaSuccess;
    if constexpr (std::is_pointer_v<Keys>) {
      side.keys = side_here.keys;
    } else {
      Key* const keys = storage_.template get<Key>(side.first_slot + keys_sent_slot);
      side.keys = keys;
      status = gather_items(side_here.keys, nullptr, side_here.rows, nullptr, keys);
    }
    for_each_moved_column(side.is_build, [&](const auto& column, auto value, int index) {
      using Value = typename decltype(value)::type;
      if constexpr (!std::is_pointer_v<decltype(column.in)>) {
        if (status == cudaSuccess) {
          status =
              gather_items(column.in, nullptr, side_here.rows, nullptr, storage_.template get<Value>(sent_slot(index)));
        }
      }
    });
    return status;
  }

  /// The only rank.
  cudaError_t join_alone() {
    side_state build = state_of_build();
    side_state probe = state_of_probe();
    if (capacity_.needed != nullptr) capacity_.needed->build_rows = capacity_.needed->probe_rows = 0;
    cudaError_t status = keep(build, build_);
    if (status == cudaSuccess) status = keep(probe, probe_);
    if (status != cudaSuccess) return status;
    std::size_t bytes = work_bytes_;
    return join_locally(storage_.template get<unsigned char>(work_slot), bytes, build, probe);
  }

  /// Where the local join reads columns, and the numbers of rows.
  struct local_columns {
    const DispatchDistributedJoin& call;
    bool build_stays;
    bool probe_stays;
    join_global_rows build_rows;
    join_global_rows probe_rows;

    template <class Column>
    const void* values(const Column& column, int index) const {
      using Traits = join_column_traits<Column>;
      // The column of a semi or anti join has no build rows.
      if constexpr (!moves_column<Traits>()) return nullptr;
      const bool stays = Traits::is_of_build ? build_stays : probe_stays;
      if (!stays) return call.storage_.template get<unsigned char>(received_slot(index));
      if constexpr (std::is_pointer_v<decltype(column.in)>) {
        return column.in;
      } else {
        return call.storage_.template get<unsigned char>(sent_slot(index));
      }
    }
  };

  cudaError_t join_locally(void* d_storage, std::size_t& bytes, const side_state& build,
                           const side_state& probe) const {
    const auto sink = detail::join_local_columns<Index>(
        columns_, local_columns{*this, build.stays, probe.stays, build.global_rows, probe.global_rows});
    const auto output = detail::join_local_output(sink, output_capacity_);
    local_side<BuildPromises> local_build;
    local_build.keys = build.keys;
    local_build.rows = build.local_rows;
    local_build.valid_mask = build.valid;
    local_build.is_unique = build_.is_unique;
    local_build.range = build_.range;
    local_build.count = join_row_count::of(static_cast<std::uint32_t>(build.local_rows));
    local_side<ProbePromises> local_probe;
    local_probe.keys = probe.keys;
    local_probe.rows = probe.local_rows;
    local_probe.valid_mask = probe.valid;
    local_probe.count = join_row_count::of(static_cast<std::uint32_t>(probe.local_rows));
    return join_on_cuda::join(d_storage, bytes, join_kind<Kind>{}, local_build, local_probe, output, d_num_out_,
                              options_, stream_);
  }

  JoinSide<Keys> build_;
  JoinSide<Keys> probe_;
  std::int64_t output_capacity_;
  Columns columns_;
  std::int64_t* d_num_out_;
  DistributedJoinCapacity capacity_;
  Options options_;
  ncclComm_t comm_;
  cudaStream_t stream_;
  rank_position position_{};
  temporary_storage::layout<slots> storage_;
  std::size_t work_bytes_ = 0;
};

template <JoinKind Kind, class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
          JoinOrder Order>
cudaError_t distributed_join(void* d_temp_storage, std::size_t& temp_storage_bytes,
                             const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                             const Output& output, std::int64_t* d_num_out, const DistributedJoinCapacity& capacity,
                             const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream) {
  static_assert(Order == JoinOrder::any,
                "the result of DistributedHashJoin has any order: pass JoinOptions, not OrderedJoinOptions");
  DispatchDistributedJoin<Kind, Keys, BuildPromises, ProbePromises, Output, Hash, Equal> call(
      build, probe, output, d_num_out, capacity, options, comm, stream);
  const bool are_arrays_valid =
      d_temp_storage != nullptr && detail::are_join_arrays_valid(Kind, build, probe, output, d_num_out);
  return call.run(d_temp_storage, temp_storage_bytes, are_arrays_valid);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

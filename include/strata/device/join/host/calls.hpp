// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/host/host_join.hpp>
#include <strata/device/join/host/options.hpp>
#include <strata/device/join/host/prober.hpp>
#include <strata/device/join/host/table.hpp>
#include <strata/device/join/host/thread_team.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
class DispatchHostJoinTable;

/// The back end of DeviceHashJoin for machines without a GPU. A join is done when its call returns.
struct join_on_host {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
  using table_type = DispatchHostJoinTable<Key, Index, Hash, Equal, Order>;

  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
            JoinOrder Order>
  static cudaError_t join(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* num_out, const JoinOptions<Hash, Equal, Order>& options,
                          cudaStream_t) {
    using Index = typename Output::index_type;
    if (detail::refuses_join_strategy(has_strategy(options.strategy)) ||
        (build.rows > 0 && detail::refuses_reach(build.keys, build.rows, "the iterator of build keys")) ||
        (probe.rows > 0 && detail::refuses_reach(probe.keys, probe.rows, "the iterator of probe keys"))) {
      return cudaErrorInvalidValue;
    }
    // A size query takes the bound of a FutureCount, so temporary storage is large enough for any count.
    const auto number_of = [&](const auto& side) {
      return temp_storage == nullptr || side.count.bytes == 0 ? side.rows : static_cast<std::int64_t>(side.count.get());
    };
    std::int64_t total = 0;
    const auto call = [&](const auto& sink) {
      return detail::host_join_rows<Index>(temp_storage, temp_storage_bytes, kind, build.keys, number_of(build),
                                           probe.keys, number_of(probe), sink, num_out == nullptr ? nullptr : &total,
                                           output.capacity, on_host(build, probe, options), options.hash,
                                           options.equal);
    };
    HostJoinStatus status = HostJoinStatus::success;
    if constexpr (std::is_same_v<Output, JoinCountOutput>) {
      status = call([](std::int64_t, Index, Index) {});
    } else {
      status = call(output.sink);
    }
    if (status != HostJoinStatus::success) return cudaErrorInvalidValue;
    if (temp_storage != nullptr) write_total(total, num_out);
    return cudaSuccess;
  }

  /// Makes `call(storage, bytes, arguments..., stream)` twice, with memory from the host's heap or from an execution.
  template <class Where, class Call, class... Arguments>
  static cudaError_t with_storage(const Where& where, Call call, const Arguments&... arguments) {
    if constexpr (is_execution<Where>) {
      return detail::with_storage(call, arguments..., where);
    } else {
      std::size_t bytes = 0;
      cudaError_t status = call(nullptr, bytes, arguments..., where);
      if (status != cudaSuccess) return status;
      void* const storage = std::malloc(bytes);
      if (storage == nullptr) return cudaErrorMemoryAllocation;
      status = call(storage, bytes, arguments..., where);
      std::free(storage);
      return status;
    }
  }

  static constexpr bool has_strategy(JoinStrategy strategy) {
    return strategy == JoinStrategy::cpu || strategy == JoinStrategy::automatic;
  }

  /// The caller's integer type may be another one than std::int64_t; it has 8 bytes, too.
  static void write_total(std::int64_t total, std::int64_t* num_out) {
    std::memcpy(static_cast<void*>(num_out), &total, sizeof(total));
  }

  template <class Build, class Probe, class Options>
  static HostJoinOptions on_host(const Build& build, const Probe& probe, const Options& options) {
    HostJoinOptions result;
    result.order = options.order;
    result.build_valid = build.valid_mask;
    result.probe_valid = probe.valid_mask;
    result.nulls_equal = options.nulls_equal;
    result.threads = options.threads;
    return result;
  }
};

/// A JoinTable of the host: a host_join_table in the caller's memory, with the scratch of its build.
template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
class DispatchHostJoinTable {
  using Options = JoinOptions<Hash, Equal, Order>;
  using Table = host_join_table<Index, const Key*, Hash, Equal>;
  using Prober = host_join_prober<Index, const Key*, Hash, Equal>;
  enum slot { team_threads = Table::slots, slice_counts, group_of, slots };
  using Layout = temporary_storage::layout<slots>;

 public:
  static cudaError_t MemoryBytes(const JoinSide<const Key*>& build, std::size_t& bytes, const Options& options) {
    if (detail::refuses_join_rows(Table::can_number(build.rows), true) ||
        detail::refuses_join_strategy(join_on_host::has_strategy(options.strategy))) {
      return cudaErrorInvalidValue;
    }
    return detail::answer_size_query(reserved(table_of(build, 0, options)), bytes);
  }

  DispatchHostJoinTable(void* memory, std::size_t memory_bytes, const JoinSide<const Key*>& build,
                        const Options& options)
      : memory_(memory), memory_bytes_(memory_bytes), build_(build), options_(options) {}

  const JoinSide<const Key*>& build() const { return build_; }

  /// Builds the table again, from all rows.
  cudaError_t Insert(std::int64_t num_rows, std::int64_t rows, cudaStream_t) const {
    if (!are_arguments_valid() || has_null()) return cudaErrorInvalidValue;
    Table table = table_of(build_, num_rows + rows, options_);
    Layout memory;
    if (detail::refuses_table_memory(!map(memory, table))) return cudaErrorInvalidValue;
    table.build({memory.template get<std::thread>(team_threads), options_.threads},
                memory.template get<std::size_t>(slice_counts), memory.template get<typename Table::Row>(group_of));
    return cudaSuccess;
  }

  /// Joins the first `num_rows` rows, which are in the table.
  template <class Output>
  cudaError_t Probe(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, std::int64_t num_rows,
                    const JoinSide<const Key*>& probe, const Output& output, std::int64_t* num_out,
                    cudaStream_t) const {
    if (!are_arguments_valid() || (temp_storage != nullptr && has_null()) ||
        detail::refuses_join_rows(Table::can_number(probe.rows), false) ||
        detail::refuses_join_capacity(output.capacity)) {
      return cudaErrorInvalidValue;
    }
    Table table = table_of(build_, num_rows, options_);
    Prober prober(kind, probe.keys, static_cast<std::size_t>(probe.rows),
                  join_on_host::on_host(build_, probe, options_));
    temporary_storage::layout<Prober::slots> storage;
    prober.reserve(storage, 0, table);
    if (temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    Layout memory;
    if (detail::refuses_storage(storage, temp_storage, temp_storage_bytes) ||
        detail::refuses_table_memory(!map(memory, table))) {
      return cudaErrorInvalidValue;
    }
    prober.map(storage, 0);
    prober.match(table);
    join_on_host::write_total(prober.total(), num_out);
    if constexpr (!std::is_same_v<Output, JoinCountOutput>) prober.write(table, output.capacity, output.sink);
    return cudaSuccess;
  }

 private:
  static Table table_of(const JoinSide<const Key*>& build, std::int64_t rows, const Options& options) {
    return {build.keys,
            build.valid_mask,
            static_cast<std::size_t>(build.rows),
            static_cast<std::size_t>(rows),
            HostJoinTuning{},
            options.hash,
            options.equal};
  }

  static Layout reserved(const Table& table) {
    Layout memory;
    table.reserve(memory, 0);
    memory.template reserve<std::thread>(team_threads, thread_team::most_threads);
    memory.template reserve<std::size_t>(slice_counts, table.slice_counts(table.capacity()));
    memory.template reserve<typename Table::Row>(group_of, table.capacity());
    return memory;
  }

  bool map(Layout& memory, Table& table) const {
    memory = reserved(table);
    if (!memory.map(memory_, memory_bytes_)) return false;
    table.map(memory, 0);
    return true;
  }

  bool are_arguments_valid() const {
    return !detail::refuses_join_rows(Table::can_number(build_.rows), true) &&
           !detail::refuses_join_strategy(join_on_host::has_strategy(options_.strategy));
  }
  bool has_null() const {
    return detail::refuses_null(memory_, "d_memory") ||
           (build_.rows != 0 && detail::refuses_null(build_.keys, "the array of build keys"));
  }

  void* memory_;
  std::size_t memory_bytes_;
  JoinSide<const Key*> build_;
  Options options_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

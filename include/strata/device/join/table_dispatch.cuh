// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A JoinTable of the CUDA back end: one table in global memory. The caller has checked `num_rows` and `rows`, the
/// arguments of Insert and Probe. This class checks `JoinSide::rows` of the build side and of the probe side.
template <class Key, class Index, class Hash, class Equal, JoinOrder Order, class PolicyHub>
class DispatchJoinTable {
  using MaxPolicy = typename join_policy<PolicyHub>::newest;
  using Row = join_row_t<Index>;
  static constexpr bool is_ordered = Order == JoinOrder::probe;
  template <class ActivePolicy>
  using storage_for = join_table_storage<MaxPolicy, ActivePolicy, const Key*, Row, Hash, Equal, is_ordered>;
  // A count has no order.
  template <class ActivePolicy, class Sink>
  using prober_for = join_prober<MaxPolicy, ActivePolicy, Index, Row, const Key*, Sink, Hash, Equal,
                                 is_ordered && !std::is_same_v<Sink, NullType>>;
  // Storage does not depend on the policy, only launches do.
  using Storage = storage_for<MaxPolicy>;
  using Layout = temporary_storage::layout<Storage::slots>;
  using Options = JoinOptions<Hash, Equal, Order>;

 public:
  static cudaError_t MemoryBytes(const JoinSide<const Key*>& build, std::size_t& bytes, const Options& options) {
    if (detail::refuses_join_rows(detail::join_rows_are_valid<Index>(build.rows), true) ||
        detail::refuses_join_strategy(options.strategy != JoinStrategy::cpu)) {
      return cudaErrorInvalidValue;
    }
    Storage storage(static_cast<Row>(build.rows), features(build));
    Layout layout;
    const cudaError_t status = storage.reserve(layout, 0);
    return status != cudaSuccess ? status : detail::answer_size_query(layout, bytes);
  }

  DispatchJoinTable(void* d_memory, std::size_t memory_bytes, const JoinSide<const Key*>& build, const Options& options)
      : memory_(d_memory), memory_bytes_(memory_bytes), build_(build), options_(options) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
  }

  const JoinSide<const Key*>& build() const { return build_; }

  /// Adds `rows` rows to the first `num_rows`, which are in the table. The caller need not clear an empty table: this
  /// function does so if `num_rows` is 0.
  cudaError_t Insert(std::int64_t num_rows, std::int64_t rows, cudaStream_t stream) const {
    if (!are_arguments_valid() || has_null()) return cudaErrorInvalidValue;
    device_properties device;
    const cudaError_t status = current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const launch_configuration base = base_join_launch("strata::JoinTable", device, stream);
    const auto launch_all = [&]([[maybe_unused]] auto policy) {
      storage_for<decltype(policy)> storage(static_cast<Row>(build_.rows), features(build_));
      typename Storage::Table table(options_.hash, options_.equal);
      cudaError_t result = map(storage, table);
      if (result != cudaSuccess) return result;
      table.rows = static_cast<Row>(num_rows + rows);
      if (num_rows == 0) result = storage.clear(table, base, device.multiprocessors);
      if (result == cudaSuccess) result = storage.insert(table, base, static_cast<Row>(num_rows));
      if (result == cudaSuccess && rows > 0) result = storage.list(table, base);
      return result;
    };
    return detail::invoke_join_policy<MaxPolicy>(device.ptx_version, launch_all);
  }

  /// Joins the first `num_rows` rows, which are in the table.
  template <class Output>
  cudaError_t Probe(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, std::int64_t num_rows,
                    const JoinSide<const Key*>& probe, const Output& output, std::int64_t* d_num_out,
                    cudaStream_t stream) const {
    using Sink = std::decay_t<decltype(output.sink)>;
    using Prober = prober_for<MaxPolicy, Sink>;
    if (!are_arguments_valid() || (d_temp_storage != nullptr && has_null()) ||
        detail::refuses_join_rows(detail::join_rows_are_valid<Index>(probe.rows), false) ||
        detail::refuses_join_capacity(output.capacity)) {
      return cudaErrorInvalidValue;
    }
    const Prober prober{kind, static_cast<Row>(build_.rows), static_cast<Row>(probe.rows),
                        Storage::number_of_slots(static_cast<Row>(build_.rows))};
    temporary_storage::layout<Prober::slots + 1> layout;
    prober.reserve(layout, 0);
    layout.template reserve<platform::tagged_word>(Prober::slots, prober.words_of_few());
    if (d_temp_storage == nullptr) return detail::answer_size_query(layout, temp_storage_bytes);
    if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    Storage storage(static_cast<Row>(build_.rows), features(build_));
    typename Storage::Table table(options_.hash, options_.equal);
    cudaError_t status = map(storage, table);
    if (status != cudaSuccess) return status;
    table.rows = static_cast<Row>(num_rows);
    device_properties device;
    status = current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const auto probe_side = detail::join_probe_of<Row>(kind, probe, detail::least(output.capacity, max_join_capacity),
                                                       reinterpret_cast<unsigned long long*>(d_num_out));
    const launch_configuration base = base_join_launch("strata::JoinTable", device, stream);
    const auto run = [&]([[maybe_unused]] auto policy) {
      const prober_for<decltype(policy), Sink> active{prober.kind, prober.build_rows, prober.probe_rows,
                                                      prober.num_slots};
      if constexpr (Prober::has_rows) {
        if (active.are_few(probe_side.capacity)) {
          return active.run_few(layout.template get<platform::tagged_word>(Prober::slots), table, probe_side, base,
                                output.sink);
        }
      }
      const cudaError_t result = active.reset(layout, 0, probe_side.total, base, device);
      if (result != cudaSuccess) return result;
      return active.run(layout, 0, table, probe_side, base, device, output.sink);
    };
    return detail::invoke_join_policy<MaxPolicy>(device.ptx_version, run);
  }

 private:
  static join_table_features features(const JoinSide<const Key*>& build) {
    return {!build.is_unique, !build.is_unique, true};
  }

  bool are_arguments_valid() const {
    return !detail::refuses_join_rows(detail::join_rows_are_valid<Index>(build_.rows), true) &&
           !detail::refuses_join_strategy(options_.strategy != JoinStrategy::cpu);
  }
  bool has_null() const {
    return detail::refuses_null(memory_, "d_memory") ||
           (build_.rows != 0 && detail::refuses_null(build_.keys, "the array of build keys"));
  }

  template <class ActivePolicy>
  cudaError_t map(storage_for<ActivePolicy>& storage, typename Storage::Table& table) const {
    Layout layout;
    const cudaError_t status = storage.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    if (detail::refuses_table_memory(!layout.map(memory_, memory_bytes_))) return cudaErrorInvalidValue;
    table = storage.map(layout, 0, build_, options_);
    return cudaSuccess;
  }

  void* memory_;
  std::size_t memory_bytes_;
  JoinSide<const Key*> build_;
  Options options_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/requirements.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/hash_join/dispatch.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/pairs.hpp>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A probe of a table, as the functor of a policy chain.
template <class MaxPolicy, class Index, class Row, class Key, class Sink, class Hash, class Equal>
struct join_table_probe {
  template <class ActivePolicy>
  using prober_for = join_prober<MaxPolicy, ActivePolicy, Index, Row, Key, Sink, Hash, Equal>;
  using Prober = prober_for<MaxPolicy>;

  const Prober& prober;
  const temporary_storage::layout<Prober::slots>& layout;
  const join_table<Key, Row, Hash, Equal>& table;
  const typename Prober::Probe& probe;
  const launch_configuration& base;
  const device_properties& device;
  const Sink& sink;

  template <class ActivePolicy>
  cudaError_t Invoke() const {
    const prober_for<ActivePolicy> active{prober.kind, prober.order, prober.build_rows, prober.probe_rows,
                                          prober.num_slots};
    return active.run(layout, 0, table, probe, base, device, sink);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

STRATA_ARCH_NAMESPACE_BEGIN

/// The build side of joins, built once and probed often: a view over memory that the caller owns, for the
/// CUDA back end. It holds pointers and numbers only, so it may be copied.
///
/// - **Memory.** `MemoryBytes` returns the bytes of device memory of a table for up to `max_rows` rows.
///   That memory must stay valid while the table is used, and so must the keys and null masks.
/// - **Build** empties the table and inserts the first `rows` of the keys that it was constructed with.
///   **Insert** adds those that follow. Afterwards the table is the same as after one build with all
///   rows. If several rows may have a key, both end with a pass over all rows, which lists them.
/// - **Probe.** As the functions of DeviceHashJoin, in two calls. The table is not written: calls on
///   several streams may probe it at the same time, each with separate temporary storage.
/// - **Options** are given to the constructor, but `probe_valid` to each call.
/// - **Execution.** On `stream`, no host synchronisation, no allocation; may be captured in graphs.
/// - **Errors.** As DeviceHashJoin. Also `cudaErrorInvalidValue` for more rows than the memory is for, and
///   from `Insert` and probes before a `Build`.
///
/// @code
/// using Table = strata::JoinTable<int, std::int32_t>;
/// std::size_t memory_bytes = 0;
/// Table::MemoryBytes(max_rows, memory_bytes);
/// cudaMalloc(&memory, memory_bytes);
/// Table table(memory, memory_bytes, keys, max_rows);
/// table.Build(rows, stream);
/// table.ProbePairs(temp, bytes, strata::JoinKind::inner, probe_keys, probe_rows, build_out,
///                  probe_out, num_out, capacity, nullptr, stream);
/// @endcode
template <class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality>
class JoinTable {
  using MaxPolicy = detail::join_policy_hub::MaxPolicy;
  using Row = detail::join_row_t<Index>;
  template <class ActivePolicy>
  using storage_for = detail::join_table_storage<MaxPolicy, ActivePolicy, Key, Row, Hash, Equal>;
  // Storage does not depend on the policy, only launches do.
  using Storage = storage_for<MaxPolicy>;
  using Layout = temporary_storage::layout<Storage::slots>;

 public:
  using Options = JoinOptions<Hash, Equal>;

  [[nodiscard]] static cudaError_t MemoryBytes(detail::count64 max_rows, std::size_t& bytes,
                                               const Options& options = {}) {
    if (!detail::join_rows_are_valid<Index>(max_rows)) return cudaErrorInvalidValue;
    Storage storage(static_cast<Row>(max_rows), features(options));
    Layout layout;
    const cudaError_t status = storage.reserve(layout, 0);
    return status != cudaSuccess ? status : detail::answer_size_query(layout, bytes);
  }

  /// For the keys [d_keys, d_keys + max_rows). A key must be valid when it is inserted.
  JoinTable(void* d_memory, std::size_t memory_bytes, const Key* d_keys, detail::count64 max_rows,
            const Options& options = {})
      : memory_(d_memory), memory_bytes_(memory_bytes), keys_(d_keys), max_rows_(max_rows), options_(options) {
    detail::hash_requirements<Hash, Key>::check();
    detail::equality_requirements<Equal, const Key>::check();
  }

  /// The number of rows in the table.
  std::int64_t Rows() const { return rows_ < 0 ? 0 : rows_; }

  [[nodiscard]] cudaError_t Build(detail::count64 rows, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::JoinTable::Build");
    return add(true, rows, stream);
  }

  [[nodiscard]] cudaError_t Insert(detail::count64 rows, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::JoinTable::Insert");
    return rows_ < 0 ? cudaErrorInvalidValue : add(false, rows, stream);
  }

  [[nodiscard]] cudaError_t ProbeCount(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                       const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                       const std::uint32_t* probe_valid = nullptr, cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbeCount");
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows, NullType{}, d_num_out, 0,
                 probe_valid, stream);
  }

  /// `d_build_out` may be null in semi and anti joins.
  [[nodiscard]] cudaError_t ProbePairs(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                       const Key* d_probe_keys, detail::count64 probe_rows, Index* d_build_out,
                                       Index* d_probe_out, JoinNumOut d_num_out, detail::count64 capacity,
                                       const std::uint32_t* probe_valid = nullptr, cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbePairs");
    if (d_temp_storage != nullptr &&
        !detail::join_outputs_are_valid(kind, d_build_out, d_probe_out, d_num_out, capacity, keys_, max_rows_,
                                        d_probe_keys, probe_rows)) {
      return cudaErrorInvalidValue;
    }
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows,
                 detail::join_pairs_sink<Index>{d_build_out, d_probe_out}, d_num_out, capacity, probe_valid, stream);
  }

  template <class Columns>
  [[nodiscard]] cudaError_t ProbeGather(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                        const Key* d_probe_keys, detail::count64 probe_rows, const Columns& columns,
                                        JoinNumOut d_num_out, detail::count64 capacity,
                                        const std::uint32_t* probe_valid = nullptr, cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbeGather");
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows, columns, d_num_out, capacity,
                 probe_valid, stream);
  }

 private:
  static detail::join_table_features features(const Options& options) {
    const bool lists = !options.build_unique;
    return {lists, lists, lists && options.order == JoinOrder::probe, true};
  }

  bool is_usable() const {
    return detail::join_rows_are_valid<Index>(max_rows_) && memory_ != nullptr && (max_rows_ == 0 || keys_ != nullptr);
  }

  template <class ActivePolicy>
  cudaError_t map(storage_for<ActivePolicy>& storage, typename Storage::Table& table) const {
    Layout layout;
    const cudaError_t status = storage.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    if (!layout.map(memory_, memory_bytes_)) return cudaErrorInvalidValue;
    table = storage.map(layout, 0, options_.hash, options_.equal);
    table.keys = keys_;
    table.valid = options_.build_valid;
    table.nulls_equal = options_.nulls_equal;
    table.promised_unique = options_.build_unique;
    return cudaSuccess;
  }

  cudaError_t add(bool is_new, std::int64_t rows, cudaStream_t stream) {
    const std::int64_t first = is_new ? 0 : rows_;
    if (!is_usable() || rows < 0 || rows > max_rows_ - first) return cudaErrorInvalidValue;
    detail::device_properties device;
    const cudaError_t status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const launch_configuration base = configuration(device, stream);
    // g++ warns if a lambda captures an object of a type with hidden visibility, as `device` is.
    const int multiprocessors = device.multiprocessors;
    const auto launch_all = [&]([[maybe_unused]] auto policy) {
      storage_for<decltype(policy)> storage(static_cast<Row>(max_rows_), features(options_));
      auto table = Storage::unmapped(options_.hash, options_.equal);
      cudaError_t result = map(storage, table);
      if (result != cudaSuccess) return result;
      table.rows = static_cast<Row>(first + rows);
      if (is_new) result = storage.clear(table, base, multiprocessors);
      if (result == cudaSuccess) result = storage.insert(table, base, static_cast<Row>(first));
      if (result == cudaSuccess && rows > 0) result = storage.list(table, base);
      if (result == cudaSuccess) rows_ = first + rows;
      return result;
    };
    return detail::invoke_join_policy<MaxPolicy>(device.ptx_version, launch_all);
  }

  template <class Sink>
  cudaError_t probe(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* d_probe_keys,
                    std::int64_t probe_rows, const Sink& sink, std::int64_t* d_num_out, std::int64_t capacity,
                    const std::uint32_t* probe_valid, cudaStream_t stream) const {
    using Probe = detail::join_table_probe<MaxPolicy, Index, Row, Key, Sink, Hash, Equal>;
    using Prober = typename Probe::Prober;
    if (!is_usable() || !detail::join_rows_are_valid<Index>(probe_rows) || capacity < 0) {
      return cudaErrorInvalidValue;
    }
    const Prober prober{kind, options_.order, static_cast<Row>(max_rows_), static_cast<Row>(probe_rows),
                        Storage::number_of_slots(static_cast<Row>(max_rows_))};
    temporary_storage::layout<Prober::slots> layout;
    prober.reserve(layout, 0);
    if (d_temp_storage == nullptr) {
      return detail::answer_size_query(layout, temp_storage_bytes);
    }
    if (rows_ < 0 || d_num_out == nullptr || (probe_rows > 0 && d_probe_keys == nullptr) ||
        detail::begins_within(d_num_out, d_probe_keys, probe_rows) ||
        detail::begins_within(d_num_out, keys_, max_rows_) || !layout.map(d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    Storage storage(static_cast<Row>(max_rows_), features(options_));
    auto table = Storage::unmapped(options_.hash, options_.equal);
    cudaError_t status = map(storage, table);
    if (status != cudaSuccess) return status;
    table.rows = static_cast<Row>(rows_);
    detail::device_properties device;
    status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const typename Prober::Probe probe_side{kind,
                                            d_probe_keys,
                                            probe_valid,
                                            static_cast<Row>(probe_rows),
                                            {},
                                            0,
                                            0,
                                            capacity < detail::max_join_capacity ? capacity : detail::max_join_capacity,
                                            reinterpret_cast<unsigned long long*>(d_num_out)};
    const launch_configuration base = configuration(device, stream);
    status = prober.reset(layout, 0, probe_side.total, base, device);
    if (status != cudaSuccess) return status;
    const Probe probe{prober, layout, table, probe_side, base, device, sink};
    return MaxPolicy::Invoke(device.ptx_version, probe);
  }

  static launch_configuration configuration(const detail::device_properties& device, cudaStream_t stream) {
    launch_configuration base{"strata::JoinTable", dim3(detail::max_join_blocks), dim3(1)};
    base.stream = stream;
    base.programmatic = device.ptx_version >= 900;
    return base;
  }

  void* memory_;
  std::size_t memory_bytes_;
  const Key* keys_;
  std::int64_t max_rows_;
  Options options_;
  /// -1 before the first build.
  std::int64_t rows_ = -1;
};

STRATA_ARCH_NAMESPACE_END

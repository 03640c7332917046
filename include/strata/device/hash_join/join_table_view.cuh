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
#include <strata/device/hash_join/dispatch.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/pairs.hpp>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_NAMESPACE_BEGIN

/// The build side of joins, built once and asked often: a view over memory that the caller owns,
/// for the CUDA back end. It holds pointers and numbers only, so it may be copied.
///
/// - **Memory.** `MemoryBytes` tells how much device memory a table for up to so many rows takes.
///   It must stay where it is while the table is used, and so must the keys and null masks.
/// - **Build** empties the table and puts in the first `rows` of the keys that it was made with;
///   **Insert** adds those that follow. A table to which rows are added is that of one build with
///   all of them; it takes a pass over all of them to list the rows of keys that several have.
/// - **Probe.** As the functions of DeviceHashJoin, in two calls. Nothing in the table is written:
///   calls on several streams may ask it at the same time, each with temporary storage of its own.
/// - **Options** are given once; those of the probe side (`probe_valid`) with each call.
/// - **Execution.** On `stream`, no host synchronisation, no allocation; may be captured in graphs.
/// - **Errors.** As DeviceHashJoin; also `cudaErrorInvalidValue` if rows are more than there is
///   memory for, and from `Insert` and probes before a `Build`.
///
/// @code
/// using Table = strata::JoinTable<int, std::int32_t>;
/// std::size_t memory_bytes = 0;
/// Table::MemoryBytes(most_rows, memory_bytes);
/// cudaMalloc(&memory, memory_bytes);
/// Table table(memory, memory_bytes, keys, most_rows);
/// table.Build(rows, stream);
/// table.ProbePairs(temp, bytes, strata::JoinKind::inner, probe_keys, probe_rows, build_out,
///                  probe_out, num_out, capacity, nullptr, stream);
/// @endcode
template <class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality>
class JoinTable {
  using MaxPolicy = detail::join_policy_hub::MaxPolicy;
  using Row = detail::join_row_t<Index>;
  using Storage = detail::join_table_storage<MaxPolicy, Key, Row, Hash, Equal>;
  using Layout = temporary_storage::layout<Storage::slots>;

 public:
  using Options = JoinOptions<Hash, Equal>;

  [[nodiscard]] static cudaError_t MemoryBytes(std::int64_t most_rows, std::size_t& bytes,
                                               const Options& options = {}) {
    if (!detail::join_rows_are_valid<Index>(most_rows)) return cudaErrorInvalidValue;
    Storage storage(static_cast<Row>(most_rows), features(options));
    Layout layout;
    const cudaError_t status = storage.reserve(layout, 0);
    return status != cudaSuccess ? status : detail::answer_size_query(layout, bytes);
  }

  /// For the keys [d_keys, d_keys + most_rows), of which some may be there later.
  JoinTable(void* d_memory, std::size_t memory_bytes, const Key* d_keys, std::int64_t most_rows,
            const Options& options = {})
      : memory_(d_memory),
        memory_bytes_(memory_bytes),
        keys_(d_keys),
        most_rows_(most_rows),
        options_(options) {
    detail::hash_requirements<Hash, Key>::check();
    detail::equality_requirements<Equal, const Key>::check();
  }

  /// Rows that are in the table.
  std::int64_t Rows() const { return rows_ < 0 ? 0 : rows_; }

  [[nodiscard]] cudaError_t Build(std::int64_t rows, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::JoinTable::Build");
    return add(true, rows, stream);
  }

  [[nodiscard]] cudaError_t Insert(std::int64_t rows, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::JoinTable::Insert");
    return rows_ < 0 ? cudaErrorInvalidValue : add(false, rows, stream);
  }

  [[nodiscard]] cudaError_t ProbeCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                       JoinKind kind, const Key* d_probe_keys,
                                       std::int64_t probe_rows, JoinNumOut d_num_out,
                                       const std::uint32_t* probe_valid = nullptr,
                                       cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbeCount");
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows, NullType{},
                 d_num_out, 0, probe_valid, stream);
  }

  /// `d_build_out` may be null in semi and anti joins.
  [[nodiscard]] cudaError_t ProbePairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                       JoinKind kind, const Key* d_probe_keys,
                                       std::int64_t probe_rows, Index* d_build_out,
                                       Index* d_probe_out, JoinNumOut d_num_out,
                                       std::int64_t capacity,
                                       const std::uint32_t* probe_valid = nullptr,
                                       cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbePairs");
    if (d_temp_storage != nullptr &&
        !detail::join_outputs_are_valid(kind, d_build_out, d_probe_out, capacity, keys_, most_rows_,
                                        d_probe_keys, probe_rows)) {
      return cudaErrorInvalidValue;
    }
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows,
                 detail::join_pairs_sink<Index>{d_build_out, d_probe_out}, d_num_out, capacity,
                 probe_valid, stream);
  }

  template <class Columns>
  [[nodiscard]] cudaError_t ProbeGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        JoinKind kind, const Key* d_probe_keys,
                                        std::int64_t probe_rows, const Columns& columns,
                                        JoinNumOut d_num_out, std::int64_t capacity,
                                        const std::uint32_t* probe_valid = nullptr,
                                        cudaStream_t stream = 0) const {
    STRATA_NVTX_RANGE("strata::JoinTable::ProbeGather");
    return probe(d_temp_storage, temp_storage_bytes, kind, d_probe_keys, probe_rows, columns,
                 d_num_out, capacity, probe_valid, stream);
  }

 private:
  static detail::join_table_features features(const Options& options) {
    const bool lists = !options.build_unique;
    return {lists, lists, lists && options.order == JoinOrder::probe, true};
  }

  bool is_usable() const {
    return detail::join_rows_are_valid<Index>(most_rows_) && memory_ != nullptr &&
           (most_rows_ == 0 || keys_ != nullptr);
  }

  Storage storage() const { return {static_cast<Row>(most_rows_), features(options_)}; }

  cudaError_t map(Storage& storage, typename Storage::Table& table) const {
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
    if (!is_usable() || rows < 0 || rows > most_rows_ - first) return cudaErrorInvalidValue;
    Storage where = storage();
    auto table = Storage::unmapped(options_.hash, options_.equal);
    cudaError_t status = map(where, table);
    if (status != cudaSuccess) return status;
    detail::device_properties device;
    status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    table.rows = static_cast<Row>(first + rows);
    const launch_configuration like = configuration(device, stream);
    if (is_new) status = where.clear(table, like, device.multiprocessors);
    if (status == cudaSuccess) status = where.insert(table, like, static_cast<Row>(first));
    if (status == cudaSuccess && rows > 0) status = where.list(table, like);
    if (status == cudaSuccess) rows_ = first + rows;
    return status;
  }

  template <class Sink>
  cudaError_t probe(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                    const Key* d_probe_keys, std::int64_t probe_rows, const Sink& sink,
                    std::int64_t* d_num_out, std::int64_t capacity,
                    const std::uint32_t* probe_valid, cudaStream_t stream) const {
    using Prober = detail::join_prober<MaxPolicy, Index, Row, Key, Sink, Hash, Equal>;
    if (!is_usable() || !detail::join_rows_are_valid<Index>(probe_rows) || capacity < 0) {
      return cudaErrorInvalidValue;
    }
    const Prober prober{kind, options_.order, static_cast<Row>(most_rows_),
                        static_cast<Row>(probe_rows),
                        Storage::number_of_slots(static_cast<Row>(most_rows_))};
    temporary_storage::layout<Prober::slots> layout;
    prober.reserve(layout, 0);
    if (d_temp_storage == nullptr) {
      return detail::answer_size_query(layout, temp_storage_bytes);
    }
    if (rows_ < 0 || d_num_out == nullptr || (probe_rows > 0 && d_probe_keys == nullptr) ||
        !layout.map(d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    Storage where = storage();
    auto table = Storage::unmapped(options_.hash, options_.equal);
    cudaError_t status = map(where, table);
    if (status != cudaSuccess) return status;
    table.rows = static_cast<Row>(rows_);
    detail::device_properties device;
    status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const typename Prober::Probe asked{
        kind,
        d_probe_keys,
        probe_valid,
        static_cast<Row>(probe_rows),
        {},
        0,
        0,
        capacity < detail::most_join_capacity ? capacity : detail::most_join_capacity,
        reinterpret_cast<unsigned long long*>(d_num_out)};
    const launch_configuration like = configuration(device, stream);
    status = prober.reset(layout, 0, asked.total, like, device);
    if (status != cudaSuccess) return status;
    return prober.run(layout, 0, table, asked, like, device, sink);
  }

  static launch_configuration configuration(const detail::device_properties& device,
                                            cudaStream_t stream) {
    launch_configuration like{"strata::JoinTable", dim3(detail::most_join_blocks), dim3(1)};
    like.stream = stream;
    like.programmatic = device.ptx_version >= 900;
    return like;
  }

  void* memory_;
  std::size_t memory_bytes_;
  const Key* keys_;
  std::int64_t most_rows_;
  Options options_;
  /// -1 until it is built.
  std::int64_t rows_ = -1;
};

STRATA_ARCH_NAMESPACE_END

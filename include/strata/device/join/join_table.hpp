// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

// Declares the overload of a probe that takes no temporary storage.
#define STRATA_CALL_WITHOUT_PROBE_STORAGE(function)                                                       \
  template <class Keys, class Promises, class Output, class Where = stream_type>                          \
  cudaError_t function(const JoinSide<Keys, Promises>& probe, const Output& output, JoinNumOut d_num_out, \
                       const Where& where = {}) const {                                                   \
    return Backend::with_storage(                                                                         \
        detail::where_of_join<stream_type, Order>(where),                                                 \
        [](void* storage, std::size_t& bytes, const JoinTableOn* table, const auto&... arguments) {       \
          return table->function(storage, bytes, arguments...);                                           \
        },                                                                                                \
        this, probe, output, d_num_out);                                                                  \
  }

/// The build side of joins, built once and probed often: a view over memory that the caller owns. It holds pointers and
/// numbers only, so it may be copied. A program writes `JoinTable<Key, Index, Hash, Equal, Order>`.
///
/// - **Memory.** `MemoryBytes` returns how many bytes a table for up to as many rows as the side has needs: device
///   memory on CUDA, host memory on the other back ends. That memory must stay valid while the table is used, and so
///   must the keys and null masks.
/// - **Build** empties the table and inserts the first `rows` rows of the side that it was constructed with.
///   **Insert** adds those that follow. Afterwards the table is the same as after one build with all
///   rows. Unless the build side promises unique keys, both end with a pass over all rows of the table. This pass lists
///   the rows of each key. On the host, `Insert` builds the table of all rows anew.
/// - **Probe.** `Inner` to `Anti` work like the functions of DeviceHashJoin. Row numbers of the result have the type
///   `Index`. The table is not written: calls of several streams or threads may probe it at the same time, each with
///   separate temporary storage.
/// - **Execution.** As for DeviceHashJoin. The Metal back end does not use the memory: each probe joins both sides.
/// - **Errors.** As for DeviceHashJoin. Also `cudaErrorInvalidValue` for more rows than the side has, for memory that
///   is too small, and from `Insert` and probes before a `Build`.
///
/// @code
/// #include <strata/device/device_hash_join.hpp>
///
/// // How many rows of two arrays have a partner in a table. Between the two, a row is added to the table.
/// __managed__ int keys[4] = {10, 20, 30, 40};
/// __managed__ int first[3] = {20, 40, 50}, second[2] = {40, 30};
/// __managed__ long long matches[2];
///
/// int main() {
///   using Table = strata::JoinTable<int>;
///   const auto build = strata::join_side(keys, 4);  // up to 4 rows
///   void* memory = nullptr;
///   std::size_t bytes = 0;
///   if (Table::MemoryBytes(build, bytes) != cudaSuccess || cudaMalloc(&memory, bytes) != cudaSuccess) return 1;
///   Table table(memory, bytes, build);
///   if (table.Build(3) != cudaSuccess) return 1;
///   if (table.Inner(strata::join_side(first, 3), strata::join_count(), &matches[0]) != cudaSuccess) return 1;
///   if (table.Insert(1) != cudaSuccess) return 1;
///   if (table.Inner(strata::join_side(second, 2), strata::join_count(), &matches[1]) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%lld %lld\n", matches[0], matches[1]);
///   cudaFree(memory);
/// }
/// // prints: 1 2
/// @endcode
template <class Backend, class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality,
          JoinOrder Order = JoinOrder::any>
class JoinTableOn {
  using Table = typename Backend::template table_type<Key, Index, Hash, Equal, Order>;

 public:
  using stream_type = typename Backend::stream_type;  ///< `cudaStream_t`; with Metal `void*`.
  using Options = JoinOptions<Hash, Equal, Order>;    ///< Options of the joins of this table.

  /// Writes how many bytes of memory a table of the build side has.
  template <class Keys, class Promises>
  static cudaError_t MemoryBytes(const JoinSide<Keys, Promises>& build, std::size_t& bytes,
                                 const Options& options = {}) {
    STRATA_NVTX_RANGE(nullptr, "strata::JoinTable::MemoryBytes");
    if constexpr (are_keys_of_table<Keys>) {
      return Table::MemoryBytes(detail::untyped(build), bytes, options);
    } else {
      return cudaErrorInvalidValue;
    }
  }

  /// Makes a table without rows. The constructor reads no keys. The array must hold a key when `Build` or `Insert`
  /// reads it.
  template <class Promises>
  JoinTableOn(void* d_memory, std::size_t memory_bytes, const JoinSide<const Key*, Promises>& build,
              const Options& options = {})
      : table_(d_memory, memory_bytes, detail::untyped(build), options) {}

  /// The number of rows in the table.
  std::int64_t Rows() const { return detail::most(rows_, 0); }

  /// Empties the table, and inserts the first `rows` rows of the build side.
  cudaError_t Build(detail::count64 rows, detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(this, "strata::JoinTable::Build");
    return insert(0, rows, stream);
  }

  /// Inserts the next `rows` rows of the build side.
  cudaError_t Insert(detail::count64 rows, detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(this, "strata::JoinTable::Insert");
    return refuses_unbuilt() ? cudaErrorInvalidValue : insert(rows_, rows, stream);
  }

  /// Finds every pair of a build row and a probe row with equal keys.
  template <class Keys, class Promises, class Output>
  cudaError_t Inner(void* d_temp_storage, std::size_t& temp_storage_bytes, const JoinSide<Keys, Promises>& probe,
                    const Output& output, JoinNumOut d_num_out,
                    detail::join_stream<stream_type, Order> stream = {}) const {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::JoinTable::Inner");
    return join(d_temp_storage, temp_storage_bytes, JoinKind::inner, probe, output, d_num_out, stream);
  }
  STRATA_CALL_WITHOUT_PROBE_STORAGE(Inner)

  /// Finds every pair of rows with equal keys, and each probe row without a partner. Such a row has no build row in the
  /// result.
  template <class Keys, class Promises, class Output>
  cudaError_t Left(void* d_temp_storage, std::size_t& temp_storage_bytes, const JoinSide<Keys, Promises>& probe,
                   const Output& output, JoinNumOut d_num_out,
                   detail::join_stream<stream_type, Order> stream = {}) const {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::JoinTable::Left");
    return join(d_temp_storage, temp_storage_bytes, JoinKind::left, probe, output, d_num_out, stream);
  }
  STRATA_CALL_WITHOUT_PROBE_STORAGE(Left)

  /// Finds every pair of rows with equal keys, and each row of either side without a partner.
  template <class Keys, class Promises, class Output>
  cudaError_t Full(void* d_temp_storage, std::size_t& temp_storage_bytes, const JoinSide<Keys, Promises>& probe,
                   const Output& output, JoinNumOut d_num_out,
                   detail::join_stream<stream_type, Order> stream = {}) const {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::JoinTable::Full");
    return join(d_temp_storage, temp_storage_bytes, JoinKind::full, probe, output, d_num_out, stream);
  }
  STRATA_CALL_WITHOUT_PROBE_STORAGE(Full)

  /// Finds each probe row that has a partner, once. Rows of the result have no build row.
  template <class Keys, class Promises, class Output>
  cudaError_t Semi(void* d_temp_storage, std::size_t& temp_storage_bytes, const JoinSide<Keys, Promises>& probe,
                   const Output& output, JoinNumOut d_num_out,
                   detail::join_stream<stream_type, Order> stream = {}) const {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::JoinTable::Semi");
    return join(d_temp_storage, temp_storage_bytes, JoinKind::semi, probe, output, d_num_out, stream);
  }
  STRATA_CALL_WITHOUT_PROBE_STORAGE(Semi)

  /// Finds each probe row that has no partner. Rows of the result have no build row.
  template <class Keys, class Promises, class Output>
  cudaError_t Anti(void* d_temp_storage, std::size_t& temp_storage_bytes, const JoinSide<Keys, Promises>& probe,
                   const Output& output, JoinNumOut d_num_out,
                   detail::join_stream<stream_type, Order> stream = {}) const {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::JoinTable::Anti");
    return join(d_temp_storage, temp_storage_bytes, JoinKind::anti, probe, output, d_num_out, stream);
  }
  STRATA_CALL_WITHOUT_PROBE_STORAGE(Anti)

 private:
  template <class Keys>
  static constexpr bool are_keys_of_table = detail::join_sides<JoinSide<const Key*>, JoinSide<Keys>>::are_alike;

  bool refuses_unbuilt() const { return detail::is_refused(rows_ < 0, "the table", "has not been built"); }

  cudaError_t insert(std::int64_t num_rows, std::int64_t rows, stream_type stream) {
    if (detail::is_refused(rows < 0, "rows", "is negative") ||
        detail::is_refused(rows > table_.build().rows - num_rows, "rows",
                           "is more than the number of build rows that are left")) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t status = table_.Insert(num_rows, rows, stream);
    if (status == cudaSuccess) rows_ = num_rows + rows;
    return status;
  }

  template <class Keys, class Promises, class Output>
  cudaError_t join(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                   const JoinSide<Keys, Promises>& probe, const Output& output, std::int64_t* d_num_out,
                   stream_type stream) const {
    static_assert(
        std::is_same_v<typename Output::index_type, Index> || std::is_same_v<Output, JoinCountOutput>,
        "row numbers of a join with a JoinTable must have the type Index of the table: pass this type to join_pairs "
        "or join_columns");
    if constexpr (are_keys_of_table<Keys>) {
      if (d_temp_storage != nullptr &&
          (refuses_unbuilt() || !detail::are_join_arrays_valid(kind, table_.build(), probe, output, d_num_out))) {
        return cudaErrorInvalidValue;
      }
      return table_.Probe(d_temp_storage, temp_storage_bytes, kind, rows_, detail::untyped(probe), output, d_num_out,
                          stream);
    } else {
      return cudaErrorInvalidValue;
    }
  }

  Table table_;
  /// -1 before the first build.
  std::int64_t rows_ = -1;
};
#undef STRATA_CALL_WITHOUT_PROBE_STORAGE

STRATA_ARCH_NAMESPACE_END

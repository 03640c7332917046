// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The back end of DeviceHashJoin: define STRATA_JOIN_BACKEND as CUDA, METAL or HOST, or as one of the
/// numbers below, before the header is included or for a whole program. By default it is CUDA with a CUDA
/// compiler, else Metal on Apple's systems, else the host.
#define STRATA_JOIN_BACKEND_CUDA 1
#define STRATA_JOIN_BACKEND_METAL 2
#define STRATA_JOIN_BACKEND_HOST 3
#ifndef STRATA_JOIN_BACKEND
#if defined(__CUDACC__)
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#elif defined(__APPLE__)
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_METAL
#else
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#endif
#endif
// A word becomes the number.
#define STRATA_DETAIL_JOIN_BACKEND_OF2(word) STRATA_JOIN_BACKEND_##word
#define STRATA_DETAIL_JOIN_BACKEND_OF(word) STRATA_DETAIL_JOIN_BACKEND_OF2(word)
#if STRATA_DETAIL_JOIN_BACKEND_OF(STRATA_JOIN_BACKEND) == STRATA_JOIN_BACKEND_CUDA
#undef STRATA_JOIN_BACKEND
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#elif STRATA_DETAIL_JOIN_BACKEND_OF(STRATA_JOIN_BACKEND) == STRATA_JOIN_BACKEND_METAL
#undef STRATA_JOIN_BACKEND
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_METAL
#elif STRATA_DETAIL_JOIN_BACKEND_OF(STRATA_JOIN_BACKEND) == STRATA_JOIN_BACKEND_HOST
#undef STRATA_JOIN_BACKEND
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#endif
#undef STRATA_DETAIL_JOIN_BACKEND_OF
#undef STRATA_DETAIL_JOIN_BACKEND_OF2

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/hash_join/columns.hpp>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_CUDA
#include <strata/device/hash_join/calls.cuh>
#include <strata/device/hash_join/join_table_view.cuh>
#define STRATA_DETAIL_JOIN_NAMESPACE joins_by_cuda
#define STRATA_DETAIL_JOIN_BACKEND join_on_cuda
#elif STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST
#include <strata/device/hash_join/host/calls.hpp>
#define STRATA_DETAIL_JOIN_NAMESPACE joins_by_host
#define STRATA_DETAIL_JOIN_BACKEND join_on_host
#elif STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL
#include <strata/device/hash_join/metal/calls.hpp>
#define STRATA_DETAIL_JOIN_NAMESPACE joins_by_metal
#define STRATA_DETAIL_JOIN_BACKEND join_on_metal
#else
#error "strata: STRATA_JOIN_BACKEND is none of CUDA, METAL and HOST"
#endif

#include <cstddef>
#include <cstdint>

STRATA_ARCH_NAMESPACE_BEGIN
// A program may have several back ends.
inline namespace STRATA_DETAIL_JOIN_NAMESPACE {

/// Equi-joins of two arrays of keys, the build side and the probe side. Make the shorter side the build
/// side. The probe side is the left one; for a right join exchange the sides.
///
///     for (p = 0; p < probe_rows; ++p)
///       for (b = 0; b < build_rows; ++b)
///         if (equal(build_keys[b], probe_keys[p])) ++*d_num_out;  // and write (b, p)
///
/// - **Kinds.** Inner, Left, Full, Semi and Anti: see JoinKind. In each, `Count` counts the rows of
///   the result, `Pairs` writes the numbers of its build and probe rows (`no_row<Index>` where there
///   is none; semi and anti joins have probe rows only), `Gather` writes columns of values:
///   `columns` is the result of `build_column`, `probe_column` or `join_columns`, or any functor that is
///   called once as `columns(std::int64_t position, Index build_row, Index probe_row)` for each row.
/// - **Call.** Twice, as with CUB. With `d_temp_storage == nullptr` a call writes `temp_storage_bytes`
///   (pure arithmetic, never 0, never smaller for more rows up to 2^32 - 4). The second call has that
///   much memory, and the same kind, numbers of rows and options. The contents and alignment of the
///   memory do not matter.
/// - **Capacity.** `*d_num_out`, an integer of 8 bytes, is always the number of rows of the whole
///   result. Rows at positions from `capacity` on are not written; that is no error. A second call
///   with enough capacity writes all rows.
/// - **Keys.** Of any trivially relocatable type; no value is reserved. Equal keys must have equal
///   hashes. Several columns are a struct, or row numbers with functors that read the columns.
///   A key that does not equal itself, such as NaN, has no partner.
/// - **Nulls.** Rows whose bit is missing in `options.build_valid` or `probe_valid` have no key.
///   They have no partner, or, with `nulls_equal`, are partners of each other.
/// - **Row numbers** have type `Index`, a signed or unsigned integer of 4 or 8 bytes. It bounds the number
///   of rows of a side, not that of the result: on CUDA, 2^31 - 1, 2^32 - 4 or 2^40 - 4.
/// - **Order.** See JoinOrder. `any` order may change from run to run on a GPU. In the order of the probe
///   rows, results repeat, and those before `capacity` are the first ones.
/// - **CUDA.** Every pointer argument is a device pointer. The call returns before its work is done on
///   `stream`. It does not synchronise or allocate, and a graph that captured it may be replayed with
///   other keys. Joins by partitions have a cooperative launch: DeviceScan says when it starts.
/// - **Host.** Every pointer argument is a host pointer. Threads do the join before the call returns.
/// - **Metal.** Every pointer argument is a host pointer. `stream` is an `id<MTLCommandQueue>` (under ARC
///   cast by `__bridge`), or null for the library's queue. The join begins when all that was committed to
///   the queue before has ended, and it is done when the call returns. Pass the same `stream` to the size
///   query, because another GPU may need other sizes. A program links Metal, Foundation, CoreGraphics and
///   objc, as strata's CMake target does. Never run on an Apple GPU: tests/README.md says what was tested.
/// - **What an Apple GPU joins.** Counts and pairs, of inner, left, semi and anti joins, in any order,
///   without nulls, fewer than 2^31 rows a side, keys that are integers or enumerations of 4 or 8
///   bytes, with the default hash and comparison. Threads of the host join all else, few rows, and
///   everything if no GPU is of family Apple7 (M1) or later.
/// - **Strategies.** One table, in the shared memory of each block or in global memory, or partitions
///   that are joined in shared memory. `options.strategy` or `choose_join_strategy` chooses. In the order
///   of the probe rows, with 2^32 rows or more, and if a device has not enough shared memory, it is one
///   table in global memory. On Metal, `options.strategy` has no effect if the host joins.
/// - **Sorted sides.** With the promise `options.sorted`, on CUDA, both sides are merged instead, in
///   either order of the result, if keys are integers or enumerations with the default comparison,
///   no null mask is given and `strategy` is automatic; else the promise changes nothing. Temporary
///   storage is then some 10 bytes for each 1000 rows.
/// - **Dense keys.** With the hint `options.key_range`, on CUDA, for the same keys, in any order,
///   `choose_join_key_array` may choose an array of build rows indexed by key, 4 bytes for each key of
///   the range in temporary storage, in inner and left joins with `build_unique`. If the device finds a
///   build row outside of the range, one table in global memory joins all rows, which takes several
///   times as long.
/// - **Complexity.** Linear in both sides and the result, if the hash spreads different keys. A key is in
///   the table once, whatever the number of its rows, and many blocks write the results of a probe row
///   with many partners.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is written: negative number of rows or
///   capacity, more rows than `Index` can number, both in size queries, too; null pointer with rows,
///   outputs that overlap each other or a side's keys, temporary storage too small, a strategy that the
///   back end does not have. Otherwise the errors of launches. When Metal fails:
///   `cudaErrorMemoryAllocation` (no buffer, queue or command buffer), 300 (the shaders did not compile),
///   500 (no pipeline), `cudaErrorLaunchFailure` (a fault, or the watchdog) or `cudaErrorNotSupported` (the
///   GPU allows too few threads or too little memory); `metal_join_error_text()` returns the reason, and
///   the result below `capacity` is unspecified.
///
/// @code
/// // Orders with their customers: at most one for each order, because customers are unique.
/// strata::JoinOptions<> options;
/// options.build_unique = true;
/// std::size_t bytes = 0;
/// const auto join = [&](void* temp) {
///   return strata::DeviceHashJoin::InnerPairs(temp, bytes, customers, num_customers, orders,
///                                             num_orders, customer_out, order_out, num_out,
///                                             num_orders, options, stream);
/// };
/// join(nullptr);
/// cudaMalloc(&temp, bytes);
/// join(temp);
/// @endcode
struct DeviceHashJoin {
  /// `cudaStream_t`; with Metal `void*`, which an `id<MTLCommandQueue>` converts to.
  using stream_type = detail::STRATA_DETAIL_JOIN_BACKEND::stream_type;

  /// Every pair of a build row and a probe row with equal keys.
  template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t InnerCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::InnerCount");
    return backend::count<Index>(d_temp_storage, temp_storage_bytes, JoinKind::inner, d_build_keys, build_rows,
                                 d_probe_keys, probe_rows, d_num_out, options, stream);
  }
  template <class Key, class Index, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t InnerPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows, Index* d_build_out,
                                              Index* d_probe_out, JoinNumOut d_num_out, detail::count64 capacity,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::InnerPairs");
    return pairs(d_temp_storage, temp_storage_bytes, JoinKind::inner, d_build_keys, build_rows, d_probe_keys,
                 probe_rows, d_build_out, d_probe_out, d_num_out, capacity, options, stream);
  }
  template <class Index = std::int64_t, class Key, class Columns, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t InnerGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               const Key* d_build_keys, detail::count64 build_rows,
                                               const Key* d_probe_keys, detail::count64 probe_rows,
                                               const Columns& columns, JoinNumOut d_num_out, detail::count64 capacity,
                                               const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::InnerGather");
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, JoinKind::inner, d_build_keys, build_rows,
                                  d_probe_keys, probe_rows, columns, d_num_out, capacity, options, stream);
  }

  /// The same, and each probe row without a partner, with no build row.
  template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t LeftCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::LeftCount");
    return backend::count<Index>(d_temp_storage, temp_storage_bytes, JoinKind::left, d_build_keys, build_rows,
                                 d_probe_keys, probe_rows, d_num_out, options, stream);
  }
  template <class Key, class Index, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t LeftPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, Index* d_build_out,
                                             Index* d_probe_out, JoinNumOut d_num_out, detail::count64 capacity,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::LeftPairs");
    return pairs(d_temp_storage, temp_storage_bytes, JoinKind::left, d_build_keys, build_rows, d_probe_keys, probe_rows,
                 d_build_out, d_probe_out, d_num_out, capacity, options, stream);
  }
  template <class Index = std::int64_t, class Key, class Columns, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t LeftGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows,
                                              const Columns& columns, JoinNumOut d_num_out, detail::count64 capacity,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::LeftGather");
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, JoinKind::left, d_build_keys, build_rows,
                                  d_probe_keys, probe_rows, columns, d_num_out, capacity, options, stream);
  }

  /// The same, and each build row without a partner, with no probe row.
  template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t FullCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::FullCount");
    return backend::count<Index>(d_temp_storage, temp_storage_bytes, JoinKind::full, d_build_keys, build_rows,
                                 d_probe_keys, probe_rows, d_num_out, options, stream);
  }
  template <class Key, class Index, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t FullPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, Index* d_build_out,
                                             Index* d_probe_out, JoinNumOut d_num_out, detail::count64 capacity,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::FullPairs");
    return pairs(d_temp_storage, temp_storage_bytes, JoinKind::full, d_build_keys, build_rows, d_probe_keys, probe_rows,
                 d_build_out, d_probe_out, d_num_out, capacity, options, stream);
  }
  template <class Index = std::int64_t, class Key, class Columns, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t FullGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows,
                                              const Columns& columns, JoinNumOut d_num_out, detail::count64 capacity,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::FullGather");
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, JoinKind::full, d_build_keys, build_rows,
                                  d_probe_keys, probe_rows, columns, d_num_out, capacity, options, stream);
  }

  /// Each probe row that has a partner, once.
  template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t SemiCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::SemiCount");
    return backend::count<Index>(d_temp_storage, temp_storage_bytes, JoinKind::semi, d_build_keys, build_rows,
                                 d_probe_keys, probe_rows, d_num_out, options, stream);
  }
  template <class Key, class Index, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t SemiPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, Index* d_probe_out,
                                             JoinNumOut d_num_out, detail::count64 capacity,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::SemiPairs");
    return pairs(d_temp_storage, temp_storage_bytes, JoinKind::semi, d_build_keys, build_rows, d_probe_keys, probe_rows,
                 static_cast<Index*>(nullptr), d_probe_out, d_num_out, capacity, options, stream);
  }
  template <class Index = std::int64_t, class Key, class Columns, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t SemiGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows,
                                              const Columns& columns, JoinNumOut d_num_out, detail::count64 capacity,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::SemiGather");
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, JoinKind::semi, d_build_keys, build_rows,
                                  d_probe_keys, probe_rows, columns, d_num_out, capacity, options, stream);
  }

  /// Each probe row that has no partner, once.
  template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t AntiCount(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, JoinNumOut d_num_out,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::AntiCount");
    return backend::count<Index>(d_temp_storage, temp_storage_bytes, JoinKind::anti, d_build_keys, build_rows,
                                 d_probe_keys, probe_rows, d_num_out, options, stream);
  }
  template <class Key, class Index, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t AntiPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_build_keys, detail::count64 build_rows,
                                             const Key* d_probe_keys, detail::count64 probe_rows, Index* d_probe_out,
                                             JoinNumOut d_num_out, detail::count64 capacity,
                                             const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::AntiPairs");
    return pairs(d_temp_storage, temp_storage_bytes, JoinKind::anti, d_build_keys, build_rows, d_probe_keys, probe_rows,
                 static_cast<Index*>(nullptr), d_probe_out, d_num_out, capacity, options, stream);
  }
  template <class Index = std::int64_t, class Key, class Columns, class Hash = JoinHash, class Equal = Equality>
  [[nodiscard]] static cudaError_t AntiGather(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_build_keys, detail::count64 build_rows,
                                              const Key* d_probe_keys, detail::count64 probe_rows,
                                              const Columns& columns, JoinNumOut d_num_out, detail::count64 capacity,
                                              const JoinOptions<Hash, Equal>& options = {}, stream_type stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceHashJoin::AntiGather");
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, JoinKind::anti, d_build_keys, build_rows,
                                  d_probe_keys, probe_rows, columns, d_num_out, capacity, options, stream);
  }

 private:
  using backend = detail::STRATA_DETAIL_JOIN_BACKEND;

  template <class Key, class Index, class Hash, class Equal>
  static cudaError_t pairs(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                           std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows, Index* build_out,
                           Index* probe_out, JoinNumOut d_num_out, std::int64_t capacity,
                           const JoinOptions<Hash, Equal>& options, stream_type stream) {
    if (d_temp_storage != nullptr && !detail::join_outputs_are_valid(kind, build_out, probe_out, d_num_out, capacity,
                                                                     build_keys, build_rows, probe_keys, probe_rows)) {
      return cudaErrorInvalidValue;
    }
    return backend::gather<Index>(d_temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                  probe_rows, detail::join_pairs_sink<Index>{build_out, probe_out}, d_num_out, capacity,
                                  options, stream);
  }
};

}  // namespace STRATA_DETAIL_JOIN_NAMESPACE
STRATA_ARCH_NAMESPACE_END
#undef STRATA_DETAIL_JOIN_NAMESPACE
#undef STRATA_DETAIL_JOIN_BACKEND

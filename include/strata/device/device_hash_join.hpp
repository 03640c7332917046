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
// CUDA, METAL or HOST becomes its number.
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

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/join_table.hpp>
#include <strata/device/join/output/outputs.hpp>
#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_CUDA
#include <strata/device/join/dispatch.cuh>
#elif STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST
#include <strata/device/join/host/calls.hpp>
#elif STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL
#include <strata/device/join/metal/calls.hpp>
#else
#error "strata: STRATA_JOIN_BACKEND is none of CUDA, METAL and HOST"
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

// Declares the overload of a function that takes no temporary storage. STRATA_CALL_WITHOUT_STORAGE deduces the type of
// each argument, and so `{}` could not stand for the options. Back ends allocate in different ways, too.
#define STRATA_CALL_WITHOUT_JOIN_STORAGE(function)                                                       \
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,    \
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any,             \
            class Where = stream_type>                                                                   \
  static cudaError_t function(const JoinSide<BuildKeys, BuildPromises>& build,                           \
                              const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output,     \
                              JoinNumOut d_num_out, const JoinOptions<Hash, Equal, Order>& options = {}, \
                              const Where& where = {}) {                                                 \
    return Backend::with_storage(                                                                        \
        detail::where_of_join<stream_type, Order>(where),                                                \
        [](void* storage, std::size_t& bytes, const auto&... arguments) {                                \
          return function(storage, bytes, arguments...);                                                 \
        },                                                                                               \
        build, probe, output, d_num_out, options);                                                       \
  }

/// Equi-joins of two arrays of keys, the build side and the probe side. Make the shorter side the build side. The probe
/// side is the left one; for a right join exchange the sides. A program writes `DeviceHashJoin`.
///
///     for (p = 0; p < probe.rows; ++p)
///       for (b = 0; b < build.rows; ++b)
///         if (equal(build.keys[b], probe.keys[p])) ++*d_num_out;  // and write (b, p)
///
/// - **Arguments.** `join_side(keys, rows)` describes a side. The caller may add what it knows about the side:
///   `.valid(mask)`, `.unique()`, `.sorted()`, `.key_range(lowest, highest)`, `.match_ratio(fraction)`, see JoinSide.
///   The output is `join_count()`, `join_pairs(build_out, probe_out, capacity)` or `join_columns(capacity, column...)`.
///   JoinOptions has the options of the whole join. `rows` may be a FutureCount, on CUDA and the host: see `join_side`.
/// - **Call.** Call it twice, as with CUB: with `d_temp_storage == nullptr`, a call writes `temp_storage_bytes`, which
///   is never 0, and does not use the device. A call of more rows may need fewer bytes. The second call has that much
///   memory, whose contents and alignment do not matter, and the same arguments except addresses. Or call it once
///   without these two arguments, with a stream or an `execution` as the last one. The memory then comes from the
///   resource of the `execution` (not on Metal). With a stream, it comes from the stream-ordered allocator on CUDA, and
///   from the host's heap on the other back ends.
/// - **Result.** `*d_num_out`, an integer of 8 bytes, is always the number of rows of the whole result. Rows at
///   positions from the capacity on are not written; that is no error. A second call with enough capacity writes all
///   rows. `no_row<Index>` stands for a missing row. `Index`, the type of row numbers, bounds the number of rows of a
///   side, not of the result. On CUDA a side has at most 2^40 - 4 rows (8 bytes), 2^32 - 4 (4 bytes, unsigned) or 2^31
///   - 1 (4 bytes, signed).
/// - **Order.** See JoinOrder. `any` order may change from run to run on a GPU. With OrderedJoinOptions, the result is
///   in the order of the probe rows and is the same in every run. The rows written are then the first of the result.
/// - **Keys** are of any trivially relocatable type, of one type on both sides, read through pointers or other
///   random-access iterators; no value is reserved. A key of several columns is a struct, or a row number with functors
///   that read the columns. Equal keys must have equal hashes. JoinHash, the default, hashes numbers (also those of
///   CUDA), enumerations and pointers. For a struct it needs a promise, because only you know what its `==` compares:
///   specialise is_bitwise_comparable, or pass a hash functor. A key that does not equal itself, such as NaN, has no
///   partner. Rows without a key have none, or, with `nulls_equal`, are partners of each other.
/// - **Complexity.** Linear in both sides and the result, if the hash spreads different keys. On CUDA, keys are read
///   twice, and 8 or 12 bytes of each row are written and read once or twice. Keys with many build rows have tables in
///   which the rows of a key lie side by side.
/// - **CUDA.** Every pointer is a device pointer. The call does not wait for the device. With temporary storage, it
///   does not allocate. A graph that captured it may be replayed with other keys.
/// - **Host and Metal.** Every pointer is a host pointer. The join is done when the call returns.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is written. Refused in size queries, too: a negative number
///   of rows; a negative capacity; more rows than `Index` can number; a strategy that the back end does not have.
///   Refused in the call: temporary storage that is too small; a null `d_num_out`; null keys if there are rows; a null
///   array for row numbers, if the join writes to it and the capacity is not 0; a FutureCount of a null pointer; an
///   array for row numbers or `d_num_out` that overlaps another of these outputs, the keys, a mask of `valid` or the
///   number of a FutureCount. All other errors come from launches.
///
/// join/README.md says how a join is done. Sources: Balkesen et al., "Main-memory hash joins on multi-core CPUs" (ICDE
/// 2013); Sioulas et al., "Hardware-conscious hash-joins on GPUs" (ICDE 2019).
///
/// @code
/// // Orders with their customers: at most one for each order, because customers are unique.
/// __managed__ int customers[3] = {10, 20, 30};
/// __managed__ int orders[5] = {20, 10, 20, 40, 30};
/// __managed__ int customer_rows[5], order_rows[5];
/// __managed__ long long matches;
///
/// int main() {
///   const auto build = strata::join_side(customers, 3).unique();
///   const auto probe = strata::join_side(orders, 5);
///   const auto output = strata::join_pairs(customer_rows, order_rows, 5);
///   const strata::OrderedJoinOptions<> in_order_of_orders;
///   if (strata::DeviceHashJoin::Inner(build, probe, output, &matches, in_order_of_orders) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < matches; ++i) std::printf("order %d: customer %d\n", order_rows[i], customer_rows[i]);
/// }
/// // prints: order 0: customer 1
/// // prints: order 1: customer 0
/// // prints: order 2: customer 1
/// // prints: order 4: customer 2
/// @endcode
template <class Backend>
struct DeviceHashJoinOn {
  /// `cudaStream_t`; with Metal `void*`, which an `id<MTLCommandQueue>` converts to.
  using stream_type = typename Backend::stream_type;

  /// Finds every pair of a build row and a probe row with equal keys.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Inner(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const JoinSide<BuildKeys, BuildPromises>& build,
                           const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                           const JoinOptions<Hash, Equal, Order>& options = {},
                           detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHashJoin::Inner");
    return join(d_temp_storage, temp_storage_bytes, detail::join_kind<JoinKind::inner>{}, build, probe, output,
                d_num_out, options, stream);
  }
  STRATA_CALL_WITHOUT_JOIN_STORAGE(Inner)

  /// Finds every pair of rows with equal keys, and each probe row without a partner. Such a row has no build row in the
  /// result.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Left(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const JoinOptions<Hash, Equal, Order>& options = {},
                          detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHashJoin::Left");
    return join(d_temp_storage, temp_storage_bytes, detail::join_kind<JoinKind::left>{}, build, probe, output,
                d_num_out, options, stream);
  }
  STRATA_CALL_WITHOUT_JOIN_STORAGE(Left)

  /// Finds every pair of rows with equal keys, and each row of either side without a partner.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Full(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const JoinOptions<Hash, Equal, Order>& options = {},
                          detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHashJoin::Full");
    return join(d_temp_storage, temp_storage_bytes, detail::join_kind<JoinKind::full>{}, build, probe, output,
                d_num_out, options, stream);
  }
  STRATA_CALL_WITHOUT_JOIN_STORAGE(Full)

  /// Finds each probe row that has a partner, once. Rows of the result have no build row.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Semi(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const JoinOptions<Hash, Equal, Order>& options = {},
                          detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHashJoin::Semi");
    return join(d_temp_storage, temp_storage_bytes, detail::join_kind<JoinKind::semi>{}, build, probe, output,
                d_num_out, options, stream);
  }
  STRATA_CALL_WITHOUT_JOIN_STORAGE(Semi)

  /// Finds each probe row that has no partner. Rows of the result have no build row.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Anti(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const JoinOptions<Hash, Equal, Order>& options = {},
                          detail::join_stream<stream_type, Order> stream = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceHashJoin::Anti");
    return join(d_temp_storage, temp_storage_bytes, detail::join_kind<JoinKind::anti>{}, build, probe, output,
                d_num_out, options, stream);
  }
  STRATA_CALL_WITHOUT_JOIN_STORAGE(Anti)

 private:
  template <class Kind, class Build, class Probe, class Output, class Options>
  static cudaError_t join(void* d_temp_storage, std::size_t& temp_storage_bytes, Kind kind, const Build& build,
                          const Probe& probe, const Output& output, std::int64_t* d_num_out, const Options& options,
                          stream_type stream) {
    if constexpr (detail::join_sides<Build, Probe>::are_alike) {
      if (d_temp_storage != nullptr && !detail::are_join_arrays_valid(kind, build, probe, output, d_num_out)) {
        return cudaErrorInvalidValue;
      }
      return Backend::join(d_temp_storage, temp_storage_bytes, kind, build, probe, output, d_num_out, options, stream);
    } else {
      return cudaErrorInvalidValue;
    }
  }
};
#undef STRATA_CALL_WITHOUT_JOIN_STORAGE

#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_CUDA
/// DeviceHashJoin with your hub instead of join_policy_hub: see default_policy_hub.
template <class PolicyHub>
using TunedDeviceHashJoin = DeviceHashJoinOn<detail::tuned_join_on_cuda<PolicyHub>>;
using DeviceHashJoin = TunedDeviceHashJoin<default_policy_hub>;
/// JoinTable with your hub.
template <class PolicyHub, class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality,
          JoinOrder Order = JoinOrder::any>
using TunedJoinTable = JoinTableOn<detail::tuned_join_on_cuda<PolicyHub>, Key, Index, Hash, Equal, Order>;
template <class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality,
          JoinOrder Order = JoinOrder::any>
using JoinTable = JoinTableOn<detail::join_on_cuda, Key, Index, Hash, Equal, Order>;
#elif STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST
using DeviceHashJoin = DeviceHashJoinOn<detail::join_on_host>;
template <class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality,
          JoinOrder Order = JoinOrder::any>
using JoinTable = JoinTableOn<detail::join_on_host, Key, Index, Hash, Equal, Order>;
#else
using DeviceHashJoin = DeviceHashJoinOn<detail::join_on_metal>;
template <class Key, class Index = std::int32_t, class Hash = JoinHash, class Equal = Equality,
          JoinOrder Order = JoinOrder::any>
using JoinTable = JoinTableOn<detail::join_on_metal, Key, Index, Hash, Equal, Order>;
#endif

STRATA_ARCH_NAMESPACE_END

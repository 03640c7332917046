// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/host/host_join.hpp>
#include <strata/device/join/metal/context.hpp>
#include <strata/device/join/metal/join.hpp>
#include <strata/device/join/metal/status.hpp>
#include <strata/device/join/metal/tuning.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Equi-join of two arrays of keys by an Apple GPU. It has the parameters and the result of host_join_pairs and
/// host_join_count, but the order of the result may differ. It has never run on an Apple GPU: tests/README.md says what
/// was tested.
///
/// - **What the GPU joins.** Keys are integers or enumerations of 4 or 8 bytes, with JoinHash, and compared by value.
///   The kind is inner, left, semi or anti. Neither side has a null mask, the result may have any order, and each side
///   has fewer than 2^31 rows. The host makes all other joins. It also makes the joins for which
///   `choose_join_strategy<Policy>` chooses it, unless `options.strategy` overrides that choice, and all joins if no
///   GPU is of family Apple7 or later. GPU and host share memory.
/// - **Queue.** An `id<MTLCommandQueue>`, or null for the library's own. The join begins when all earlier work of the
///   queue has ended. It has ended when the call returns, because the host computes prefix sums between kernels.
/// - **Temporary storage** is any memory of the host. Metal takes whole pages of it (16 KiB) without a copy. It also
///   takes keys and results without a copy if they begin on a page. Other memory is copied to and from buffers of
///   Metal. Apple's documentation asks for memory of vm_allocate or mmap. The library also passes memory of malloc to
///   Metal, and copies it if Metal refuses it.
/// - **Capacity** has the same effect as in joins by the host. Totals are exact and have 64 bits.
/// - **Errors.** `invalid_value`, before anything is written, for arguments that the host refuses, and for numbers of
///   `options.metal` that are out of range. Other errors say that Metal failed: `metal_join_error_text()` returns the
///   reason, and the outputs are then unspecified, up to the capacity.
namespace detail {
namespace metal {

template <class Key, class Hash, class Equal>
inline constexpr bool is_joined_by_gpu =
    (sizeof(Key) == 4 || sizeof(Key) == 8) && is_join_integer<Key>&& std::is_same_v<Hash, JoinHash> &&
    (std::is_same_v<Equal, host_equality> || std::is_same_v<Equal, Equality>);

constexpr MetalJoinStatus status_of(HostJoinStatus status) {
  return status == HostJoinStatus::success ? MetalJoinStatus::success : MetalJoinStatus::invalid_value;
}

inline bool is_joined_by_gpu_now(const join_request& request, const MetalJoinOptions& options) {
  constexpr std::size_t most_rows = 0x7fffffff;
  return request.kind != JoinKind::full && options.host.order == JoinOrder::any &&
         options.host.build_valid == nullptr && options.host.probe_valid == nullptr &&
         request.build_rows <= most_rows && request.probe_rows <= most_rows;
}

/// Joins by the GPU. The request has passed the host's checks.
[[nodiscard]] inline MetalJoinStatus join_by_gpu(context& gpu, objc::id queue, JoinStrategy strategy,
                                                 join_request request, const MetalJoinOptions& options,
                                                 void* temp_storage, std::size_t& storage_bytes,
                                                 std::int64_t* num_out) {
  // Bounds the capacity by the longest possible result, so that no more of the outputs is mapped.
  const std::uint64_t pairs = std::uint64_t{request.build_rows} * request.probe_rows;
  const std::uint64_t most = request.kind == JoinKind::inner
                                 ? pairs
                                 : (request.kind == JoinKind::left ? pairs + request.probe_rows : request.probe_rows);
  if (request.capacity > most) request.capacity = most;
  join work(gpu, strategy, request, options.metal);
  if (detail::is_refused(work.bytes() == temporary_storage::invalid_size, "the number of rows of a side",
                         "needs more temporary storage than std::size_t can represent")) {
    return MetalJoinStatus::invalid_value;
  }
  if (temp_storage == nullptr) {
    storage_bytes = work.bytes();
    return MetalJoinStatus::success;
  }
  if (detail::is_refused(storage_bytes < work.bytes(), "temp_storage_bytes", "is less than what the size query said")) {
    return MetalJoinStatus::invalid_value;
  }
  // The host may read what earlier work of the queue writes.
  MetalJoinStatus status = queue == nullptr ? gpu.queue(queue) : finish(queue);
  if (status != MetalJoinStatus::success) return status;
  std::uint64_t total = 0;
  status = work.run(queue, temp_storage, total);
  if (status == MetalJoinStatus::success) *num_out = static_cast<std::int64_t>(total);
  return status;
}

}  // namespace metal

/// Writes pairs of rows. `build_out` may be null in semi and anti joins.
template <class Policy = metal_join_policy, class Index, class Key, class Hash = JoinHash, class Equal = host_equality>
[[nodiscard]] MetalJoinStatus metal_join_pairs(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                               const Key* build_keys, std::int64_t build_rows, const Key* probe_keys,
                                               std::int64_t probe_rows, Index* build_out, Index* probe_out,
                                               std::int64_t* num_out, std::int64_t capacity,
                                               const MetalJoinOptions& options = {}, const Hash& hash = {},
                                               const Equal& equal = {}, void* command_queue = nullptr) {
  const auto by_host = [&](void* storage, std::size_t& bytes, std::int64_t most) {
    return metal::status_of(detail::host_join_pairs(storage, bytes, kind, build_keys, build_rows, probe_keys,
                                                    probe_rows, build_out, probe_out, num_out, most, options.host, hash,
                                                    equal));
  };
  const metal::objc::autorelease_pool pool;
  if constexpr (metal::is_joined_by_gpu<Key, Hash, Equal>) {
    std::size_t bytes_of_host = 0;
    const MetalJoinStatus counts = by_host(nullptr, bytes_of_host, capacity);
    if (counts != MetalJoinStatus::success ||
        detail::is_refused(!metal::is_valid(options.metal), "options.metal", "has a number that is out of range")) {
      return MetalJoinStatus::invalid_value;
    }
    const metal::join_request request{kind,
                                      sizeof(Key),
                                      sizeof(Index),
                                      build_keys,
                                      static_cast<std::size_t>(build_rows),
                                      probe_keys,
                                      static_cast<std::size_t>(probe_rows),
                                      build_out,
                                      probe_out,
                                      static_cast<std::uint64_t>(capacity)};
    if (metal::is_joined_by_gpu_now(request, options)) {
      metal::context* const gpu = metal::context_list::of_process().find(command_queue);
      JoinStrategy strategy = strata::choose_join_strategy<Policy>(request.build_rows, request.probe_rows, sizeof(Key),
                                                                   gpu == nullptr ? 0 : gpu->threadgroup_bytes());
      if (options.strategy && gpu != nullptr && build_rows != 0 && probe_rows != 0) {
        strategy = *options.strategy;
      }
      if (strategy != JoinStrategy::cpu) {
        if (temp_storage != nullptr &&
            (detail::refuses_null(num_out, "d_num_out") ||
             detail::refuses_null(build_keys, "the array of build keys") ||
             detail::refuses_null(probe_keys, "the array of probe keys") ||
             !detail::are_join_outputs_valid(kind, build_out, probe_out, num_out, capacity, build_keys, build_rows,
                                             probe_keys, probe_rows))) {
          return MetalJoinStatus::invalid_value;
        }
        return metal::join_by_gpu(*gpu, command_queue, strategy, request, options, temp_storage, temp_storage_bytes,
                                  num_out);
      }
    }
  }
  if (temp_storage != nullptr && command_queue != nullptr) {
    const MetalJoinStatus status = metal::finish(command_queue);
    if (status != MetalJoinStatus::success) return status;
  }
  return by_host(temp_storage, temp_storage_bytes, capacity);
}

/// Counts the rows of the result and writes none.
template <class Policy = metal_join_policy, class Index = std::int32_t, class Key, class Hash = JoinHash,
          class Equal = host_equality>
[[nodiscard]] MetalJoinStatus metal_join_count(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                               const Key* build_keys, std::int64_t build_rows, const Key* probe_keys,
                                               std::int64_t probe_rows, std::int64_t* num_out,
                                               const MetalJoinOptions& options = {}, const Hash& hash = {},
                                               const Equal& equal = {}, void* command_queue = nullptr) {
  return detail::metal_join_pairs<Policy>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                          probe_rows, static_cast<Index*>(nullptr), static_cast<Index*>(nullptr),
                                          num_out, 0, options, hash, equal, command_queue);
}

}  // namespace detail
STRATA_NAMESPACE_END

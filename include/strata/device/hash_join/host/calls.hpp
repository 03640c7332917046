// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/host/table.hpp>
#include <strata/device/hash_join/host_join.hpp>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_side.hpp>
#include <strata/device/hash_join/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The back end of DeviceHashJoin for machines without a GPU: done when the call returns.
struct join_on_host {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal>
  using table_type = join_table_on_host<join_on_host, Key, Index, Hash, Equal>;

  template <class Key, class BuildRows, class ProbeRows, class Output, class Hash, class Equal>
  static cudaError_t join(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                          const JoinSide<Key, BuildRows>& build, const JoinSide<Key, ProbeRows>& probe,
                          const Output& output, std::int64_t* num_out, const JoinOptions<Hash, Equal>& options,
                          cudaStream_t) {
    using Index = typename Output::index_type;
    if (options.strategy != JoinStrategy::cpu && options.strategy != JoinStrategy::automatic) {
      return cudaErrorInvalidValue;
    }
    std::int64_t total = 0;
    const auto call = [&](const auto& sink) {
      return host_join_gather<Index>(temp_storage, temp_storage_bytes, kind, build.keys, build.rows, probe.keys,
                                     probe.rows, sink, num_out == nullptr ? nullptr : &total, output.capacity,
                                     on_host(build, probe, options), options.hash, options.equal);
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

  /// `call(storage, bytes, arguments..., stream)` twice, with memory of the host's heap.
  template <class Stream, class Call, class... Arguments>
  static cudaError_t with_storage(Stream stream, Call call, const Arguments&... arguments) {
    std::size_t bytes = 0;
    cudaError_t status = call(nullptr, bytes, arguments..., stream);
    if (status != cudaSuccess) return status;
    void* const storage = std::malloc(bytes);
    if (storage == nullptr) return cudaErrorMemoryAllocation;
    status = call(storage, bytes, arguments..., stream);
    std::free(storage);
    return status;
  }

  /// The caller's integer may be another one of 8 bytes.
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

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/host_join.hpp>
#include <strata/device/hash_join/join_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The back end of DeviceHashJoin for machines without a GPU: done when the call returns.
struct join_on_host {
  using stream_type = cudaStream_t;

  template <class Index, class Key, class Sink, class Hash, class Equal>
  static cudaError_t gather(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                            std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows, const Sink& sink,
                            std::int64_t* num_out, std::int64_t capacity, const JoinOptions<Hash, Equal>& options,
                            cudaStream_t) {
    if (options.strategy != JoinStrategy::cpu && options.strategy != JoinStrategy::automatic) {
      return cudaErrorInvalidValue;
    }
    std::int64_t total = 0;
    const cudaError_t status = as_cuda(host_join_gather<Index>(
        temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys, probe_rows, sink,
        num_out == nullptr ? nullptr : &total, capacity, on_host(options), options.hash, options.equal));
    if (temp_storage != nullptr && status == cudaSuccess) write_total(total, num_out);
    return status;
  }

  template <class Index, class Key, class Hash, class Equal>
  static cudaError_t count(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                           std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows,
                           std::int64_t* num_out, const JoinOptions<Hash, Equal>& options, cudaStream_t stream) {
    const auto nowhere = [](std::int64_t, Index, Index) {};
    return gather<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys, probe_rows,
                         nowhere, num_out, 0, options, stream);
  }

  /// The caller's integer may be another one of 8 bytes.
  static void write_total(std::int64_t total, std::int64_t* num_out) {
    std::memcpy(static_cast<void*>(num_out), &total, sizeof(total));
  }

  template <class Hash, class Equal>
  static HostJoinOptions on_host(const JoinOptions<Hash, Equal>& options) {
    HostJoinOptions result;
    result.order = options.order;
    result.build_valid = options.build_valid;
    result.probe_valid = options.probe_valid;
    result.nulls_equal = options.nulls_equal;
    result.threads = options.threads;
    return result;
  }

 private:
  static cudaError_t as_cuda(HostJoinStatus status) {
    return status == HostJoinStatus::success ? cudaSuccess : cudaErrorInvalidValue;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

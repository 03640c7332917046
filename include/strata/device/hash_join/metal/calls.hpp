// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/host/calls.hpp>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/metal/metal_join.hpp>
#include <strata/device/hash_join/pairs.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The back end of DeviceHashJoin for Apple GPUs: done when the call returns. Whatever metal_join.hpp
/// leaves to the host, and all columns of values, the threads of the host join.
struct join_on_metal {
  /// An id<MTLCommandQueue>, or null.
  using stream_type = void*;

  template <class Index, class Key, class Sink, class Hash, class Equal>
  static cudaError_t gather(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                            std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows, const Sink& sink,
                            std::int64_t* num_out, std::int64_t capacity, const JoinOptions<Hash, Equal>& options,
                            stream_type queue) {
    if (!is_strategy(options.strategy)) return cudaErrorInvalidValue;
    if constexpr (std::is_same_v<Sink, join_pairs_sink<Index>>) {
      std::int64_t total = 0;
      const cudaError_t status =
          as_cuda(metal_join_pairs(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                   probe_rows, sink.build_out, sink.probe_out, num_out == nullptr ? nullptr : &total,
                                   capacity, on_metal(options), options.hash, options.equal, queue));
      if (temp_storage != nullptr && status == cudaSuccess) {
        join_on_host::write_total(total, num_out);
      }
      return status;
    } else {
      if (temp_storage != nullptr && queue != nullptr) {
        // The host may read what earlier work of the queue writes.
        const metal::objc::autorelease_pool pool;
        const MetalJoinStatus status = metal::finish(queue);
        if (status != MetalJoinStatus::success) return as_cuda(status);
      }
      JoinOptions<Hash, Equal> by_host = options;
      by_host.strategy = JoinStrategy::cpu;
      return join_on_host::gather<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                         probe_rows, sink, num_out, capacity, by_host, 0);
    }
  }

  template <class Index, class Key, class Hash, class Equal>
  static cudaError_t count(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                           std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows,
                           std::int64_t* num_out, const JoinOptions<Hash, Equal>& options, stream_type queue) {
    return gather<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys, probe_rows,
                         join_pairs_sink<Index>{nullptr, nullptr}, num_out, 0, options, queue);
  }

 private:
  static constexpr bool is_strategy(JoinStrategy strategy) {
    return strategy >= JoinStrategy::cpu && strategy <= JoinStrategy::automatic;
  }

  template <class Hash, class Equal>
  static MetalJoinOptions on_metal(const JoinOptions<Hash, Equal>& options) {
    MetalJoinOptions result(join_on_host::on_host(options));
    if (options.strategy != JoinStrategy::automatic) result.strategy = options.strategy;
    return result;
  }

  /// The enumerators have the values of CUDA's.
  static cudaError_t as_cuda(MetalJoinStatus status) { return static_cast<cudaError_t>(static_cast<int>(status)); }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/execution.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/host/host_join.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A JoinTable of a back end whose joins end before they return. It keeps no table: each probe joins both sides.
template <class Backend, class Key, class Index, class Hash, class Equal, JoinOrder Order>
class join_table_on_host {
  using Options = JoinOptions<Hash, Equal, Order>;

 public:
  /// The caller's memory is not used, but no call may depend on the back end.
  static cudaError_t MemoryBytes(const JoinSide<const Key*>& build, std::size_t& bytes, const Options&) {
    if (!is_count_of_rows(build.rows)) return cudaErrorInvalidValue;
    bytes = 1;
    return cudaSuccess;
  }

  join_table_on_host(void* memory, std::size_t memory_bytes, const JoinSide<const Key*>& build, const Options& options)
      : has_memory_(memory != nullptr && memory_bytes > 0), build_(build), options_(options) {}

  const JoinSide<const Key*>& build() const { return build_; }

  template <class Stream>
  cudaError_t Insert(std::int64_t, std::int64_t, Stream) const {
    return is_usable() ? cudaSuccess : cudaErrorInvalidValue;
  }

  template <class Output, class Stream>
  cudaError_t Probe(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, std::int64_t num_rows,
                    const JoinSide<const Key*>& probe, const Output& output, std::int64_t* num_out,
                    Stream stream) const {
    if (!is_usable() || !is_count_of_rows(probe.rows)) return cudaErrorInvalidValue;
    JoinSide<const Key*> build = build_;
    if (temp_storage != nullptr) build.rows = num_rows;
    return Backend::join(temp_storage, temp_storage_bytes, kind, build, probe, output, num_out, options_, stream);
  }

 private:
  static bool is_count_of_rows(std::int64_t rows) {
    return rows >= 0 &&
           static_cast<std::uint64_t>(rows) <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  }
  bool is_usable() const {
    return has_memory_ && is_count_of_rows(build_.rows) && (build_.rows == 0 || build_.keys != nullptr);
  }

  bool has_memory_;
  JoinSide<const Key*> build_;
  Options options_;
};

/// The back end of DeviceHashJoin for machines without a GPU: done when the call returns.
struct join_on_host {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
  using table_type = join_table_on_host<join_on_host, Key, Index, Hash, Equal, Order>;

  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
            JoinOrder Order>
  static cudaError_t join(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* num_out, const JoinOptions<Hash, Equal, Order>& options,
                          cudaStream_t) {
    using Index = typename Output::index_type;
    if (options.strategy != JoinStrategy::cpu && options.strategy != JoinStrategy::automatic) {
      return cudaErrorInvalidValue;
    }
    // Temporary storage is for the bounds.
    const auto number_of = [&](const auto& side) {
      return temp_storage == nullptr || side.count.bytes == 0 ? side.rows : static_cast<std::int64_t>(side.count.get());
    };
    std::int64_t total = 0;
    const auto call = [&](const auto& sink) {
      return host_join_rows<Index>(temp_storage, temp_storage_bytes, kind, build.keys, number_of(build), probe.keys,
                                   number_of(probe), sink, num_out == nullptr ? nullptr : &total, output.capacity,
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

  template <class MemoryResource, class Call, class... Arguments>
  static cudaError_t with_storage(const execution<MemoryResource>& where, Call call, const Arguments&... arguments) {
    return detail::with_storage(call, arguments..., where);
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

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/host/calls.hpp>
#include <strata/device/join/metal/metal_join.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
class DispatchMetalJoinTable;

/// The back end of DeviceHashJoin for Apple GPUs. A join is done when its call returns. Threads of the host make the
/// joins that metal_join.hpp leaves to the host, all joins that write join_columns, and all whose keys are no array.
struct join_on_metal {
  /// An id<MTLCommandQueue>, or null.
  using stream_type = void*;
  template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
  using table_type = DispatchMetalJoinTable<Key, Index, Hash, Equal, Order>;

  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
            JoinOrder Order>
  static cudaError_t join(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* num_out, const JoinOptions<Hash, Equal, Order>& options,
                          stream_type queue) {
    using Index = typename Output::index_type;
    static_assert(!BuildPromises::has_future_count && !ProbePromises::has_future_count,
                  "joins by Metal take no FutureCount: wait until the number of rows is written, read it, and pass "
                  "it to join_side");
    if (detail::refuses_join_strategy(is_strategy(options.strategy))) return cudaErrorInvalidValue;
    if constexpr (std::is_same_v<Output, JoinCountOutput>) {
      const JoinPairsOutput<Index> no_rows{{nullptr, nullptr}, 0};
      return join(temp_storage, temp_storage_bytes, kind, build, probe, no_rows, num_out, options, queue);
    } else if constexpr (std::is_same_v<Output, JoinPairsOutput<Index>> && std::is_pointer_v<Keys>) {
      std::int64_t total = 0;
      const cudaError_t status = as_cuda(detail::metal_join_pairs(
          temp_storage, temp_storage_bytes, kind, build.keys, build.rows, probe.keys, probe.rows, output.sink.build_out,
          output.sink.probe_out, num_out == nullptr ? nullptr : &total, output.capacity,
          on_metal(build, probe, options), options.hash, options.equal, queue));
      if (temp_storage != nullptr && status == cudaSuccess) join_on_host::write_total(total, num_out);
      return status;
    } else {
      if (temp_storage != nullptr && queue != nullptr) {
        // The host may read what earlier work of the queue writes.
        const metal::objc::autorelease_pool pool;
        const MetalJoinStatus status = metal::finish(queue);
        if (status != MetalJoinStatus::success) return as_cuda(status);
      }
      JoinOptions<Hash, Equal, Order> by_host = options;
      by_host.strategy = JoinStrategy::cpu;
      return join_on_host::join(temp_storage, temp_storage_bytes, kind, build, probe, output, num_out, by_host, 0);
    }
  }

  template <class Call, class... Arguments>
  static cudaError_t with_storage(stream_type queue, Call call, const Arguments&... arguments) {
    return join_on_host::with_storage(queue, call, arguments...);
  }

  static constexpr bool is_strategy(JoinStrategy strategy) {
    return strategy >= JoinStrategy::cpu && strategy <= JoinStrategy::automatic;
  }

 private:
  template <class Build, class Probe, class Options>
  static MetalJoinOptions on_metal(const Build& build, const Probe& probe, const Options& options) {
    MetalJoinOptions result(join_on_host::on_host(build, probe, options));
    if (options.strategy != JoinStrategy::automatic) result.strategy = options.strategy;
    return result;
  }

  /// The enumerators have the values of CUDA's.
  static cudaError_t as_cuda(MetalJoinStatus status) { return static_cast<cudaError_t>(static_cast<int>(status)); }
};

/// A JoinTable of Metal. It keeps no table: each probe joins both sides.
template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
class DispatchMetalJoinTable {
  using Options = JoinOptions<Hash, Equal, Order>;

 public:
  /// Metal needs no memory for a table. The result is 1, so that callers need not know the back end.
  static cudaError_t MemoryBytes(const JoinSide<const Key*>& build, std::size_t& bytes, const Options& options) {
    if (detail::refuses_join_rows(is_count_of_rows(build.rows), true) ||
        detail::refuses_join_strategy(join_on_metal::is_strategy(options.strategy))) {
      return cudaErrorInvalidValue;
    }
    bytes = 1;
    return cudaSuccess;
  }

  DispatchMetalJoinTable(void* memory, std::size_t memory_bytes, const JoinSide<const Key*>& build,
                         const Options& options)
      : has_memory_(memory != nullptr && memory_bytes > 0), build_(build), options_(options) {}

  const JoinSide<const Key*>& build() const { return build_; }

  cudaError_t Insert(std::int64_t, std::int64_t, void*) const {
    return are_arguments_valid() && !has_null() ? cudaSuccess : cudaErrorInvalidValue;
  }

  template <class Output>
  cudaError_t Probe(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, std::int64_t num_rows,
                    const JoinSide<const Key*>& probe, const Output& output, std::int64_t* num_out, void* queue) const {
    if (!are_arguments_valid() || (temp_storage != nullptr && has_null()) ||
        detail::refuses_join_rows(is_count_of_rows(probe.rows), false)) {
      return cudaErrorInvalidValue;
    }
    const auto join = [&](const Options& options, std::int64_t build_rows, std::size_t& bytes) {
      JoinSide<const Key*> build = build_;
      build.rows = build_rows;
      return join_on_metal::join(temp_storage, bytes, kind, build, probe, output, num_out, options, queue);
    };
    if (temp_storage != nullptr) return join(options_, num_rows, temp_storage_bytes);
    // When it is probed, the table may have fewer rows than it can hold. Then another strategy, or the host, may join
    // them. So the query returns the largest size of all strategies.
    std::size_t most_bytes = 0;
    for (const JoinStrategy strategy : {options_.strategy, JoinStrategy::cpu, JoinStrategy::simple,
                                        JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      Options options = options_;
      options.strategy = strategy;
      std::size_t bytes = 0;
      const cudaError_t status = join(options, build_.rows, bytes);
      if (status != cudaSuccess) return status;
      if (bytes > most_bytes) most_bytes = bytes;
    }
    temp_storage_bytes = most_bytes;
    return cudaSuccess;
  }

 private:
  static bool is_count_of_rows(std::int64_t rows) {
    return rows >= 0 &&
           static_cast<std::uint64_t>(rows) <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  }
  bool are_arguments_valid() const {
    return !detail::refuses_join_rows(is_count_of_rows(build_.rows), true) &&
           !detail::refuses_join_strategy(join_on_metal::is_strategy(options_.strategy));
  }
  bool has_null() const {
    return detail::is_refused(!has_memory_, "d_memory", "is null or has no bytes") ||
           (build_.rows != 0 && detail::refuses_null(build_.keys, "the array of build keys"));
  }

  bool has_memory_;
  JoinSide<const Key*> build_;
  Options options_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END

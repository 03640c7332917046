// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The sides, the output and the stream of a call. It holds references to the output and the options, so it must not
/// outlive the function that makes it.
template <class KeysT, class SinkT, class HashT, class EqualT>
struct join_call {
  using Keys = KeysT;
  using Sink = SinkT;
  using Hash = HashT;
  using Equal = EqualT;
  using Options = JoinOptions<Hash, Equal>;

  join_call(JoinKind kind_of_join, const JoinSide<Keys>& build_side, const JoinSide<Keys>& probe_side,
            const Sink& output, const Options& all_options)
      : kind(kind_of_join), build(build_side), probe(probe_side), sink(output), options(all_options) {}

  /// Returns the call with other sides and another output.
  template <class NewKeys, class NewSink>
  join_call<NewKeys, NewSink, Hash, Equal> with(const JoinSide<NewKeys>& new_build, const JoinSide<NewKeys>& new_probe,
                                                const NewSink& new_sink) const {
    join_call<NewKeys, NewSink, Hash, Equal> call(kind, new_build, new_probe, new_sink, options);
    call.total = total;
    call.capacity = capacity;
    call.stream = stream;
    call.device = device;
    return call;
  }

  JoinKind kind;
  JoinSide<Keys> build;
  JoinSide<Keys> probe;
  const Sink& sink;
  const Options& options;
  unsigned long long* total = nullptr;
  std::int64_t capacity = 0;
  cudaStream_t stream = nullptr;
  /// Not known in a size query.
  device_properties device = {};
};

STRATA_D unsigned long long join_thread() {
  return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
STRATA_D unsigned long long join_threads() { return static_cast<unsigned long long>(gridDim.x) * blockDim.x; }

/// Static shared memory, at most, of the kernels of a join by partitions that also have dynamic shared memory.
inline constexpr std::size_t join_static_shared_bytes = 3072;

STRATA_D void begin_join_kernel() {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
}
/// begin_join_kernel for kernels that have the storage of an agent in static shared memory.
template <class Agent>
STRATA_D void begin_join_kernel() {
  // not for users: the storage stays within this limit for every number of threads
  static_assert(sizeof(typename Agent::TempStorage) <= join_static_shared_bytes,
                "join_static_shared_bytes must not be less than what kernels have");
  begin_join_kernel();
}

/// Base configuration of the launches of a join.
inline launch_configuration base_join_launch(const char* name, const device_properties& device, cudaStream_t stream) {
  launch_configuration base{name, dim3(1), dim3(1)};
  base.stream = stream;
  base.programmatic = device.ptx_version >= 900;
  return base;
}

/// A launch of `blocks` blocks, but no more than a grid may have. Kernels that may need more blocks have grid-stride
/// loops.
inline launch_configuration join_launch(launch_configuration base, unsigned long long blocks, int threads) {
  constexpr unsigned max_blocks = 0x7fffffff;
  base.grid = dim3(blocks < max_blocks ? static_cast<unsigned>(blocks) : max_blocks);
  base.block = dim3(static_cast<unsigned>(threads));
  return base;
}

/// The launch of a kernel that clears `words` words.
template <class ActivePolicy>
launch_configuration clearing_join_launch(const launch_configuration& base, int multiprocessors,
                                          unsigned long long words) {
  constexpr join_clear_tuning tuning = ActivePolicy::clear;
  const unsigned long long blocks = words / static_cast<unsigned>(tuning.words * tuning.threads) + 1;
  const auto max_blocks =
      static_cast<unsigned long long>(multiprocessors) * static_cast<unsigned>(tuning.blocks_per_multiprocessor);
  return join_launch(base, detail::least(blocks, max_blocks), tuning.threads);
}

/// Allows a kernel as much dynamic shared memory as the device has. The amount is always the same, because
/// another thread may be about to launch the kernel with more than this call needs.
template <class... Parameters>
cudaError_t allow_join_tables(const launch_configuration& configuration, const device_properties& device,
                              void (*kernel)(Parameters...)) {
  constexpr std::size_t always_allowed = (48u << 10) - join_static_shared_bytes;
  if (configuration.dynamic_shared_bytes <= always_allowed) return cudaSuccess;
  return strata::allow_dynamic_shared_memory(
      kernel, static_cast<std::size_t>(device.shared_bytes_of_block) - join_static_shared_bytes);
}

/// Calls allow_join_tables, then launches the kernel.
template <class... Parameters, class... Arguments>
cudaError_t launch_join_kernel(const launch_configuration& configuration, const device_properties& device,
                               void (*kernel)(Parameters...), const Arguments&... arguments) {
  const cudaError_t status = detail::allow_join_tables(configuration, device, kernel);
  return status != cudaSuccess ? status : strata::launch(configuration, kernel, arguments...);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

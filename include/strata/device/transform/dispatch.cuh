// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/requirements.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/transform/problem_transform.cuh>
#include <strata/device/transform/tile.cuh>
#include <strata/device/transform/tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Does what `Problem` says with each tile of some inputs. One tile per block, as far as a grid has blocks enough.
template <class MaxPolicy, class Problem, class... Inputs>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads) STRATA_KERNEL
    void tiles_kernel(Problem problem, tile_range range, Inputs... inputs) {
  using Tile = typename Problem::template tile<typename MaxPolicy::ActivePolicy>;
  STRATA_ASSERT(blockDim.x == MaxPolicy::ActivePolicy::tuning.block_threads,
                "tiles_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                MaxPolicy::ActivePolicy::tuning.block_threads);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  for (long long number = blockIdx.x; number < range.tiles; number += gridDim.x) {
    const auto tile = range.template tile<Tile>(number);
    if (tile.is_whole()) {
      problem.template process<true>(tile, inputs...);
    } else {
      problem.template process<false>(tile, inputs...);
    }
  }
}

inline unsigned number_of_blocks(long long wanted) {
  constexpr long long most = 0x7fffffff;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

/// Calls `function(policy, device)`.
template <class Function>
struct with_policy {
  const Function& function;
  device_properties device;
  template <class ActivePolicy>
  cudaError_t Invoke() {
    return function(ActivePolicy{}, device);
  }
};

template <class PolicyHub, class Function>
cudaError_t invoke_with_policy(cudaStream_t stream, const Function& function) {
  with_policy<Function> functor{function, {}};
  const cudaError_t status = detail::current_device_properties(functor.device, stream);
  if (status != cudaSuccess) return status;
  return PolicyHub::MaxPolicy::Invoke(functor.device.ptx_version, functor);
}

/// The answer of a call that keeps nothing in temporary storage: false if there is more to do.
inline bool is_done_with_unused_storage(void* d_temp_storage, std::size_t& temp_storage_bytes, cudaError_t& status) {
  status = d_temp_storage != nullptr && temp_storage_bytes < 1 ? cudaErrorInvalidValue : cudaSuccess;
  if (d_temp_storage == nullptr) temp_storage_bytes = 1;
  return d_temp_storage == nullptr || status != cudaSuccess;
}

template <class Output, class Input, class NumItemsT>
bool overlaps_other_array(const Output& out, const Input& in, NumItemsT num_items) {
  return detail::arrays_overlap(out, num_items, in, num_items) && !detail::are_same_array(out, in);
}

/// One call that applies an operator to each item of some inputs, or to one of each. With `IsByReference` the operator
/// gets references to the inputs' items, and so it does where these are no bits that may be copied.
template <bool IsByReference, class PolicyHub = tile_policy_hub, class Output, class NumItemsT, class Op,
          class... Inputs>
cudaError_t dispatch_transform(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes, Output out,
                               NumItemsT num_items, Op op, cudaStream_t stream, Inputs... inputs) {
  output_requirements<Output>::check();
  using Problem = transform_problem<IsByReference || !are_copied_as_bits<Inputs...>, Output, Op, Inputs...>;
  if (!is_count(num_items) || !detail::can_reach(out, num_items) || (!detail::can_reach(inputs, num_items) || ...)) {
    return cudaErrorInvalidValue;
  }
  cudaError_t answer;
  if (is_done_with_unused_storage(d_temp_storage, temp_storage_bytes, answer)) return answer;
  if (num_items == 0) return cudaSuccess;
  if (detail::is_null(out) || (detail::is_null(inputs) || ...) || (detail::overlaps_other_array(out, inputs, num_items) || ...)) {
    return cudaErrorInvalidValue;
  }
  return detail::invoke_with_policy<PolicyHub>(stream, [&](auto policy, const device_properties& device) {
    using Tile = typename Problem::template tile<decltype(policy)>;
    const auto range =
        tile_range::cut<Tile>(static_cast<long long>(num_items), Problem::template shift<Tile>(out, inputs...));
    return strata::launch({name, dim3(detail::number_of_blocks(range.tiles)), dim3(policy.tuning.block_threads), 0,
                           stream, 1, device.ptx_version >= 900},
                          tiles_kernel<typename PolicyHub::MaxPolicy, Problem, Inputs...>, Problem{out, op}, range,
                          inputs...);
  });
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/call_tag.hpp>
#include <strata/device/reduce/kernels.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Transformations as the agent calls them, with the item and its number. `computes`: the user's code
/// is in it.
struct keep_item {
  static constexpr bool computes = false;
  template <class T>
  STRATA_D const T& operator()(const T& item, std::size_t) const {
    return item;
  }
};

template <class TransformOp>
struct transform_item {
  static constexpr bool computes = true;
  TransformOp transform_op;
  template <class T>
  STRATA_D auto operator()(const T& item, std::size_t) {
    return transform_op(item);
  }
};

struct number_item {
  static constexpr bool computes = false;
  template <class T>
  STRATA_D KeyValuePair<long long, T> operator()(const T& item, std::size_t index) const {
    return {static_cast<long long>(index), item};
  }
};

/// Carries out one call of a device-wide reduction; `PolicyHub` may be replaced to override the
/// tuning.
template <class AccumT, class InputIterator, class OutputIterator, class ReductionOp,
          class TransformOp, class InitT, class PolicyHub = reduce_policy_hub<AccumT>>
struct DispatchReduce {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Exchange = grid_exchange<AccumT>;

  InputIterator d_in;
  OutputIterator d_out;
  std::size_t num_items;
  ReductionOp reduction_op;
  TransformOp transform_op;
  InitT init;
  cudaStream_t stream;
  device_properties device;
  platform::packet* packets;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                              ReductionOp reduction_op, TransformOp transform_op, InitT init,
                              cudaStream_t stream) {
    if (!is_count(num_items)) return cudaErrorInvalidValue;
    temporary_storage::layout<1> storage;
    storage.template reserve<platform::packet>(0, max_reduce_blocks * Exchange::packets_per_value);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    const auto count = static_cast<std::size_t>(num_items);
    if ((count > 0 && detail::is_null(d_in)) || !detail::can_reach(d_in, count) ||
        !detail::has_room_for_indices(d_out, count)) {
      return cudaErrorInvalidValue;
    }
    if (detail::is_null(d_out) || !storage.map(d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    DispatchReduce dispatch{d_in,         d_out,        count,
                            reduction_op, transform_op, init,
                            stream,       {},           storage.template get<platform::packet>(0)};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr reduce_tuning tuning = ActivePolicy::tuning;
    static_assert(tuning.block_threads <= max_reduce_blocks && tuning.block_threads <= 1024,
                  "reduce_tuning::block_threads must not exceed max_reduce_blocks: a block reads "
                  "one partial result per thread");
    using T = iterator_value_t<InputIterator>;

    const unsigned blocks = number_of_blocks(tuning, num_items * sizeof(T));
    using Agent = AgentReduce<ActivePolicy, AccumT, ReductionOp, TransformOp>;
    even_share share =
        even_share::cut(d_in, num_items, blocks, Agent::template interleaved_packs<InputIterator>);
    share.evict_first_fraction = evict_first_fraction(num_items * sizeof(T));
    return strata::launch({"strata::DeviceReduce", dim3(blocks), dim3(tuning.block_threads), 0,
                           stream, 1, device.ptx_version >= 900},
                          reduce_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator,
                                        ReductionOp, TransformOp, InitT>,
                          d_in, d_out, share,
                          typename Exchange::arguments{packets, next_call_tag()}, reduction_op,
                          transform_op, init);
  }

  // Half of L2 keeps its lines from call to call; but where nearly all lines are evict-first they
  // push out each other before their time (2^28 ints: 242 us with 0.97, 238 with 0.75).
  float evict_first_fraction(std::size_t bytes) const {
    const float kept = static_cast<float>(device.l2_bytes) * 0.5f;
    const float fraction = 1.0f - kept / static_cast<float>(bytes + 1);
    const float least = 0.125f;
    const float most = large_input_evict_first;
    return fraction < least ? least : fraction > most ? most : fraction;
  }

  unsigned number_of_blocks(const reduce_tuning& tuning, std::size_t bytes) const {
    if (bytes <= static_cast<std::size_t>(tuning.single_block_bytes)) return 1;
    const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
    const std::size_t few = static_cast<std::size_t>(tuning.one_block_per_multiprocessor_bytes);
    std::size_t blocks =
        bytes / multiprocessors <= few
            ? multiprocessors
            : multiprocessors * static_cast<unsigned>(tuning.blocks_per_multiprocessor);
    const auto at_most = [&](std::size_t limit) { blocks = blocks < limit ? blocks : limit; };
    at_most(bytes / static_cast<std::size_t>(tuning.min_bytes_per_block));
    at_most(static_cast<std::size_t>(tuning.block_threads));
    // Every block gets some: a granule of whole packs, wherever the first pack begins.
    constexpr std::size_t width =
        is_vectorizable<InputIterator>::value ? 16 / sizeof(iterator_value_t<InputIterator>) : 1;
    at_most(num_items / width < 1 ? 0 : (num_items / width - 1) / even_share::granule);
    return blocks > 0 ? static_cast<unsigned>(blocks) : 1;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

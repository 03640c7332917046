// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/join/dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

struct DistributedHashJoin {
  /// Every pair of a build row and a probe row with equal keys.
  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash = JoinHash,
            class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Inner(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                           const Output& output, JoinNumOut d_num_out, const DistributedJoinCapacity& capacity,
                           const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Inner");
    return detail::distributed_join<JoinKind::inner>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }
  /// The same, and each probe row without a partner, with no build row.
  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash = JoinHash,
            class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Left(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, JoinNumOut d_num_out, const DistributedJoinCapacity& capacity,
                          const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Left");
    return detail::distributed_join<JoinKind::left>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }
  /// The same, and each build row without a partner, with no probe row.
  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash = JoinHash,
            class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Full(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, JoinNumOut d_num_out, const DistributedJoinCapacity& capacity,
                          const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Full");
    return detail::distributed_join<JoinKind::full>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }
  /// Each probe row that has a partner, once, with no build row.
  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash = JoinHash,
            class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Semi(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, JoinNumOut d_num_out, const DistributedJoinCapacity& capacity,
                          const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Semi");
    return detail::distributed_join<JoinKind::semi>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }
  /// Each probe row that has none, with no build row.
  template <class Keys, class BuildPromises, class ProbePromises, class Output, class Hash = JoinHash,
            class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Anti(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, JoinNumOut d_num_out, const DistributedJoinCapacity& capacity,
                          const JoinOptions<Hash, Equal, Order>& options, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Anti");
    return detail::distributed_join<JoinKind::anti>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Inner)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Left)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Full)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Semi)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Anti)
};

STRATA_ARCH_NAMESPACE_END

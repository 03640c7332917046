// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DistributedHashJoin for cases with few rows.
#pragma once

#include <strata/distributed/distributed_hash_join.cuh>

#include <cstddef>

namespace strata_test {

/// DistributedHashJoin with a policy that treats few rows as it usually treats many.
struct SmallDistributedHashJoin {
  struct policy {
    static constexpr strata::detail::distributed_join_tuning tuning{/*min_rows_with_leads=*/64,
                                                                    /*min_bytes_copied_beside=*/64,
                                                                    /*min_rows_routed_directly=*/64};
  };

  /// Calls the function of one kind of join.
  template <strata::JoinKind Kind, class Build, class Probe, class Output, class Options>
  static cudaError_t join(void* storage, std::size_t& bytes, const Build& build, const Probe& probe,
                          const Output& output, strata::JoinNumOut num_out,
                          const strata::DistributedJoinCapacity& capacity, const Options& options, ncclComm_t comm,
                          cudaStream_t stream) {
    return strata::detail::distributed_join<Kind, policy>(storage, bytes, build, probe, output, num_out, capacity,
                                                          options, comm, stream);
  }

  template <class... Arguments>
  static cudaError_t Inner(void* storage, std::size_t& bytes, const Arguments&... arguments) {
    return join<strata::JoinKind::inner>(storage, bytes, arguments...);
  }
  template <class... Arguments>
  static cudaError_t Left(void* storage, std::size_t& bytes, const Arguments&... arguments) {
    return join<strata::JoinKind::left>(storage, bytes, arguments...);
  }
  template <class... Arguments>
  static cudaError_t Full(void* storage, std::size_t& bytes, const Arguments&... arguments) {
    return join<strata::JoinKind::full>(storage, bytes, arguments...);
  }
  template <class... Arguments>
  static cudaError_t Semi(void* storage, std::size_t& bytes, const Arguments&... arguments) {
    return join<strata::JoinKind::semi>(storage, bytes, arguments...);
  }
  template <class... Arguments>
  static cudaError_t Anti(void* storage, std::size_t& bytes, const Arguments&... arguments) {
    return join<strata::JoinKind::anti>(storage, bytes, arguments...);
  }
};

}  // namespace strata_test

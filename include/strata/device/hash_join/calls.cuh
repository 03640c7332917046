// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/dispatch.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_output.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The back end of DeviceHashJoin for GPUs.
struct join_on_cuda {
  using stream_type = cudaStream_t;

  template <class Index, class Key, class Sink, class Hash, class Equal>
  static cudaError_t gather(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                            std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows, const Sink& sink,
                            std::int64_t* d_num_out, std::int64_t capacity, const JoinOptions<Hash, Equal>& options,
                            cudaStream_t stream) {
    if constexpr (sizeof(Index) == 8) {
      // Nearly always: numbers of rows of 4 bytes take half the memory.
      using Short = DispatchHashJoin<Index, Key, Sink, Hash, Equal, join_policy_hub, unsigned>;
      if (detail::join_rows_are_valid<Index, unsigned>(build_rows) &&
          detail::join_rows_are_valid<Index, unsigned>(probe_rows)) {
        return Short::Dispatch(d_temp_storage, temp_storage_bytes, kind, {build_keys, build_rows},
                               {probe_keys, probe_rows}, sink, d_num_out, capacity, options, stream);
      }
    }
    return DispatchHashJoin<Index, Key, Sink, Hash, Equal>::Dispatch(d_temp_storage, temp_storage_bytes, kind,
                                                                     {build_keys, build_rows}, {probe_keys, probe_rows},
                                                                     sink, d_num_out, capacity, options, stream);
  }

  template <class Index, class Key, class Hash, class Equal>
  static cudaError_t count(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, const Key* build_keys,
                           std::int64_t build_rows, const Key* probe_keys, std::int64_t probe_rows,
                           std::int64_t* d_num_out, const JoinOptions<Hash, Equal>& options, cudaStream_t stream) {
    return gather<Index>(d_temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys, probe_rows,
                         NullType{}, d_num_out, 0, options, stream);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/dispatch.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_side.hpp>
#include <strata/device/hash_join/table_dispatch.cuh>
#include <strata/device/stream_ordered_storage.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The back end of DeviceHashJoin for GPUs.
struct join_on_cuda {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal>
  using table_type = DispatchJoinTable<Key, Index, Hash, Equal>;

  template <class Key, class BuildRows, class ProbeRows, class Output, class Hash, class Equal>
  static cudaError_t join(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                          const JoinSide<Key, BuildRows>& build, const JoinSide<Key, ProbeRows>& probe,
                          const Output& output, std::int64_t* d_num_out, const JoinOptions<Hash, Equal>& options,
                          cudaStream_t stream) {
    using Index = typename Output::index_type;
    using Sink = std::decay_t<decltype(output.sink)>;
    const auto dispatch = [&](auto row) {
      using Dispatch = DispatchHashJoin<Index, Key, Sink, Hash, Equal, join_policy_hub, decltype(row)>;
      return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, kind, detail::with_any_rows(build),
                                detail::with_any_rows(probe), output.sink, d_num_out, output.capacity, options, stream);
    };
    // Numbers of rows of 4 bytes take half the memory. Larger ones are rare.
    if constexpr (sizeof(Index) == 8 && !(has_few_join_rows<BuildRows> && has_few_join_rows<ProbeRows>)) {
      if (!detail::join_rows_are_valid<Index, unsigned>(build.rows) ||
          !detail::join_rows_are_valid<Index, unsigned>(probe.rows)) {
        return dispatch(0ull);
      }
    }
    return dispatch(0u);
  }

  template <class Call, class... Arguments>
  static cudaError_t with_storage(cudaStream_t stream, Call call, const Arguments&... arguments) {
    return detail::with_stream_ordered_storage(stream, call, arguments...);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END

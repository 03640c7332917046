// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce_by_key/runs.cuh>
#include <strata/device/reduce_by_key/work_reduce_by_key.cuh>
#include <strata/device/scan/compaction.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a reduction by key. `What` is a run_reduction.
template <class What, class NumItemsT>
cudaError_t dispatch_reduce_by_key(const char* name, void* d_temp_storage,
                                   std::size_t& temp_storage_bytes, const What& what,
                                   NumItemsT num_items, cudaStream_t stream) {
  equality_requirements<typename What::EqualityOp,
                        iterator_value_t<typename What::KeyIterator>>::check();
  if (!detail::is_count(num_items)) return cudaErrorInvalidValue;
  const auto count = static_cast<std::size_t>(num_items);
  if (d_temp_storage != nullptr) {
    if (detail::is_null(what.num_runs_out)) return cudaErrorInvalidValue;
    if (count > 0 && (detail::is_null(what.keys) || detail::is_null(what.values) ||
                      detail::is_null(what.unique_out) || detail::is_null(what.aggregates_out))) {
      return cudaErrorInvalidValue;
    }
    // How far outputs reach is known to the device alone.
    if (!detail::can_reach(what.keys, count) || !detail::can_reach(what.values, count) ||
        detail::begins_within(what.unique_out, what.keys, count) ||
        detail::begins_within(what.aggregates_out, what.keys, count) ||
        detail::begins_within(what.unique_out, what.values, count) ||
        detail::begins_within(what.aggregates_out, what.values, count) ||
        (count > 0 && detail::begins_within(what.unique_out, what.aggregates_out, 1))) {
      return cudaErrorInvalidValue;
    }
  }
  using Run = typename What::Run;
  using Combine = typename What::Combine;
  using Rings = reduce_by_key_rings<What>;
  const cudaError_t status =
      DispatchScan<Run, run_reduction_input<What>, run_reduction_output<What>, Combine, true,
                   NullType, columns_policy_hub<Run, Run>,
                   Rings>::Dispatch(d_temp_storage, temp_storage_bytes,
                                    run_reduction_input<What>(what),
                                    run_reduction_output<What>(what, count), num_items,
                                    Combine{what.op}, NullType{}, Rings{what}, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || count > 0) return status;
  return detail::write_zero(name, what.num_runs_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

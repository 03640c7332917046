// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// All of the library for one GPU: the headers directly in core/, iterator/, thread/, warp/, block/ and device/.
///
/// The following is left out. Its headers must be included by name: calls over several GPUs (distributed/), which need
/// NCCL; block algorithms of textbooks (block/classic/); grouped aggregation by threads of the host
/// (device/group_by/host_group_by.cuh); core/cuda_std_limits.hpp, which includes libcu++; and what only programs that
/// come from CUB use: device/device_batched_top_k.cuh, and headers that repeat others under CUB's names.

#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_histogram.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_merge_sort_strategy.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_run_length_decode.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/block_store.cuh>
#include <strata/block/block_top_k.cuh>
#include <strata/block/block_transpose.cuh>
#include <strata/block/radix_rank_sort_operations.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/chained_policy.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/core/util_device.cuh>
#include <strata/core/util_ptx.cuh>
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
#include <strata/device/scan_tile_state.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/iterator/constant_input_iterator.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_scan.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/thread/thread_store.cuh>
#include <strata/thread/thread_store_direct.cuh>
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_reduce_batched.cuh>
#include <strata/warp/warp_scan.cuh>
#include <strata/warp/warp_store.cuh>
#include <strata/warp/warp_top_k.cuh>

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Names that programs written for CUB expect from every header of device/: the names of
/// warp/specializations/companions.cuh, versions of the device, loads and stores of blocks, iterators.

#include <strata/block/block_load.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/util_device.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/warp/specializations/companions.cuh>

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Names that programs written for CUB expect to come along with every header of warp/ and block/: numbers of threads,
/// shuffles, operators, loads and stores with cache modifiers.

#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/core/util_ptx.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_store.cuh>

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// NCCL, and its stand-in on the host SIMT back end. No other header of the library includes <nccl.h>.

#include <strata/core/macros.hpp>

#if STRATA_HOST_SIMT
#include <strata/simt/nccl.hpp>
#else
#include <nccl.h>
#endif

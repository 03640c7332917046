// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// For programs that included <cub/cub.cuh>.

#include <strata/device/device_batched_top_k.cuh>
#include <strata/strata.cuh>

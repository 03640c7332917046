// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// For programs that included <cub/agent/single_pass_scan_operators.cuh>.

#include <strata/device/scan_tile_state.cuh>

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// For programs that included <cub/util_macro.cuh>.

#include <strata/core/macros.hpp>

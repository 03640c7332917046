// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// For programs that included <cub/util_type.cuh>.

#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>

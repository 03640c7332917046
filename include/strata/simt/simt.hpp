// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUDA C++ for a plain host compiler: all that kernel code and the host code around it need. See README.md in this
// folder.
#pragma once

#include <strata/simt/atomics.hpp>
#include <strata/simt/builtins.hpp>
#include <strata/simt/collectives.hpp>
#include <strata/simt/engine.hpp>
#include <strata/simt/keywords.hpp>
#include <strata/simt/runtime_api.hpp>
#include <strata/simt/vector_types.hpp>

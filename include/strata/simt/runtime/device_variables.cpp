// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The built-in variables under the names by which gdb finds them. gdb knows a variable by its name in assembler, and
// the variables of <strata/simt/builtins.hpp> have names of our own there. This file does not include that header. So
// each variable can have its C++ name here, as a reference.
#include <strata/simt/vector_types.hpp>

extern uint3 thread_index __asm__("strata_simt_thread_idx");
extern uint3 block_index __asm__("strata_simt_block_idx");
extern dim3 block_shape __asm__("strata_simt_block_dim");
extern dim3 grid_shape __asm__("strata_simt_grid_dim");

uint3 thread_index;
uint3 block_index;
dim3 block_shape;
dim3 grid_shape;

#define STRATA_SIMT_FOR_DEBUGGERS __attribute__((used)) static
STRATA_SIMT_FOR_DEBUGGERS uint3& threadIdx = thread_index;
STRATA_SIMT_FOR_DEBUGGERS uint3& blockIdx = block_index;
STRATA_SIMT_FOR_DEBUGGERS dim3& blockDim = block_shape;
STRATA_SIMT_FOR_DEBUGGERS dim3& gridDim = grid_shape;

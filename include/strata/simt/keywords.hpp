// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUDA's declaration keywords for a plain host compiler.
#pragma once

#if defined(__CUDACC__)
#error "strata/simt is for plain host compilers; nvcc has the real thing"
#endif
#if defined(__CUDA_RUNTIME_H__) || defined(__DRIVER_TYPES_H__) || defined(__VECTOR_TYPES_H__)
#error "a host SIMT source must not include headers of the CUDA toolkit"
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __constant__ static
// The one kind of static variable whose address the host may pass to a kernel. Mach-O also needs the name of a segment,
// and the name of a section may have 16 characters at most.
#if defined(__APPLE__)
#define STRATA_SIMT_MANAGED_SECTION "__DATA,strata_managed"
#else
#define STRATA_SIMT_MANAGED_SECTION "strata_simt_managed"
#endif
#define __managed__ __attribute__((section(STRATA_SIMT_MANAGED_SECTION)))

// A host variable exists once, not once for each block: interleaved blocks would share it. There is no __noinline__
// here because libstdc++ spells an attribute that way.
#define __shared__ STRATA_SIMT_ERROR_declare_shared_memory_with_the_STRATA_SHARED_macro

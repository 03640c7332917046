// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Annotations, namespaces and declarations of shared memory: all that a kernel needs to compile for a GPU (by nvcc, by
/// NVRTC, or by clang as CUDA compiler) and for the host SIMT back end (by any other C++17 compiler). This header
/// compiles without a CUDA toolkit.

#include <strata/version.hpp>

// MSVC has another value in __cplusplus. It may also have an older preprocessor.
#if defined(_MSVC_LANG)
#if _MSVC_LANG < 201703L || _MSVC_TRADITIONAL
#error "strata needs C++17 and the standard preprocessor: compile with -std=c++17 -Xcompiler=/Zc:preprocessor"
#endif
#elif __cplusplus < 201703L
#error "strata needs C++17: compile with -std=c++17 or newer"
#endif

#if defined(__CUDACC__)
#define STRATA_HOST_SIMT 0
#else
#define STRATA_HOST_SIMT 1
#endif

/// True under NVRTC, which compiles device code alone and has no headers of the host. Code that only the host calls is
/// left out.
#if defined(__CUDACC_RTC__)
#define STRATA_NVRTC 1
#else
#define STRATA_NVRTC 0
#endif

#if defined(__SIZEOF_INT128__) || defined(__CUDACC_RTC_INT128__)
#define STRATA_HAS_INT128 1
#else
#define STRATA_HAS_INT128 0
#endif

/// clang compiles CUDA code instead of nvcc. It lacks some functions of nvcc.
#if defined(__clang__) && defined(__CUDA__) && !defined(__NVCC__)
#define STRATA_CLANG_CUDA 1
#else
#define STRATA_CLANG_CUDA 0
#endif

#if defined(__CUDA_ARCH__)
#define STRATA_DEVICE_PASS 1
#else
#define STRATA_DEVICE_PASS 0
#endif

/// The PTX version (100 * major + 10 * minor) whose policies programs use on the host back end. It must be the same in
/// all sources of a program.
#ifndef STRATA_SIMT_PTX_VERSION
#define STRATA_SIMT_PTX_VERSION 900
#endif

/// `STRATA_DEBUG=1` turns on device assertions, a synchronisation after every launch, and a log on the standard error:
/// of launches, and of the reason why a call returns cudaErrorInvalidValue. `STRATA_DEBUG_SYNC` and `STRATA_DEBUG_LOG`
/// turn the synchronisation and the log on or off alone.
#ifndef STRATA_DEBUG
#define STRATA_DEBUG 0
#endif
#ifndef STRATA_DEBUG_SYNC
#define STRATA_DEBUG_SYNC STRATA_DEBUG
#endif
#ifndef STRATA_DEBUG_LOG
#define STRATA_DEBUG_LOG STRATA_DEBUG
#endif

// ---------------------------------------------------------------------------- GNU
// Attributes and builtins of GNU C++ that MSVC, as nvcc's host compiler, does not have. All other headers
// take them from here.
#if defined(_MSC_VER)
#define STRATA_DETAIL_FUNCTION_NAME __FUNCSIG__
#define STRATA_DETAIL_ASSUME_ALIGNED(address, bytes) (address)
#define STRATA_DETAIL_MAY_ALIAS
#define STRATA_DETAIL_PREFETCH(address, is_written) static_cast<void>(address)
// Only device functions use the next two macros. The host compiler sees these functions, but the host never runs them.
#define STRATA_DETAIL_ATOMIC_LOAD(address, order) (*(address))
#define STRATA_DETAIL_ATOMIC_STORE(address, value, order) static_cast<void>(*(address) = (value))
#if STRATA_DEVICE_PASS
#define STRATA_DETAIL_PRAGMA(x) __pragma(x)
#else
#define STRATA_DETAIL_PRAGMA(x)
#endif
#else
#define STRATA_DETAIL_FUNCTION_NAME __PRETTY_FUNCTION__
#define STRATA_DETAIL_ASSUME_ALIGNED(address, bytes) __builtin_assume_aligned(address, bytes)
#if STRATA_NVRTC  // does not know the attribute, and assumes nothing of types
#define STRATA_DETAIL_MAY_ALIAS
#else
#define STRATA_DETAIL_MAY_ALIAS [[gnu::may_alias]]
#endif
#define STRATA_DETAIL_PREFETCH(address, is_written) __builtin_prefetch(address, is_written)
#define STRATA_DETAIL_ATOMIC_LOAD(address, order) __atomic_load_n(address, order)
#define STRATA_DETAIL_ATOMIC_STORE(address, value, order) __atomic_store_n(address, value, order)
#define STRATA_DETAIL_PRAGMA(x) _Pragma(#x)
#endif

// ---------------------------------------------------------------------------- annotations
#if defined(__CUDACC__)
#define STRATA_D __device__ __forceinline__
#define STRATA_DETAIL_D_NOINLINE __device__ __noinline__
#define STRATA_HD __host__ __device__ __forceinline__
#define STRATA_KERNEL __global__
#define STRATA_UNROLL STRATA_DETAIL_PRAGMA(unroll)
#define STRATA_GRID_CONSTANT __grid_constant__
// NVRTC 13.4 and later do not know __has_attribute. They also parse the part of a condition after a false `&&`. So this
// is an #if of its own.
#if STRATA_CLANG_CUDA
#if !__has_attribute(grid_constant)
#undef STRATA_GRID_CONSTANT
#define STRATA_GRID_CONSTANT
#endif
#endif
#else
#define STRATA_D inline
#define STRATA_DETAIL_D_NOINLINE inline
#define STRATA_HD inline
#define STRATA_KERNEL inline
#define STRATA_UNROLL
#define STRATA_GRID_CONSTANT
#endif
#if defined(__CUDACC__)
#define STRATA_UNROLL_N(n) STRATA_DETAIL_PRAGMA(unroll n)
#else
#define STRATA_UNROLL_N(n)
#endif

/// Replaces CUB_RUNTIME_FUNCTION before operators, which are functions of the host and the device. Unlike STRATA_HD it
/// does not include `__forceinline__`, which such operators have themselves. A function that makes device calls does
/// not need this macro: only the host can call it.
#if defined(__CUDACC__)
#define STRATA_RUNTIME_FUNCTION __host__ __device__
#else
#define STRATA_RUNTIME_FUNCTION
#endif

// ---------------------------------------------------------------------------- namespaces
#define STRATA_DETAIL_CAT_(a, b) a##b
#define STRATA_DETAIL_CAT(a, b) STRATA_DETAIL_CAT_(a, b)
#define STRATA_DETAIL_VERSION_TAG_(major, minor, patch) v##major##_##minor##_##patch
#define STRATA_DETAIL_VERSION_TAG(major, minor, patch) STRATA_DETAIL_VERSION_TAG_(major, minor, patch)

// A program may link a translation unit built by nvcc with one built for the host back end: their
// inline functions have the same names but not the same bodies, so the inline namespace differs.
#if STRATA_HOST_SIMT
#define STRATA_DETAIL_BACKEND_TAG _host
#else
#define STRATA_DETAIL_BACKEND_TAG _cuda
#endif
#define STRATA_DETAIL_NAMESPACE                                                                                  \
  STRATA_DETAIL_CAT(STRATA_DETAIL_VERSION_TAG(STRATA_VERSION_MAJOR, STRATA_VERSION_MINOR, STRATA_VERSION_PATCH), \
                    STRATA_DETAIL_BACKEND_TAG)

/// Define STRATA_NAMESPACE_WRAP to the name of a namespace to enclose the library in it. Only the host SIMT back end
/// stays in `::strata::simt`. Plug-ins do this to be separate from another copy of strata in the process.
#if defined(STRATA_NAMESPACE_WRAP)
#define STRATA_DETAIL_WRAP_BEGIN namespace STRATA_NAMESPACE_WRAP {
#define STRATA_DETAIL_WRAP_END }
#define STRATA_DETAIL_ROOT ::STRATA_NAMESPACE_WRAP::strata
#else
#define STRATA_DETAIL_WRAP_BEGIN
#define STRATA_DETAIL_WRAP_END
#define STRATA_DETAIL_ROOT ::strata
#endif

#define STRATA_NAMESPACE_BEGIN                \
  STRATA_DETAIL_WRAP_BEGIN namespace strata { \
    inline namespace STRATA_DETAIL_NAMESPACE {
#define STRATA_NAMESPACE_END \
  }                          \
  }                          \
  STRATA_DETAIL_WRAP_END

// Two shared libraries built for different architectures may be loaded into one process. The names of
// classes and functions that own or choose a kernel therefore contain the list of architectures.
#if defined(__CUDA_ARCH_LIST__)
#define STRATA_DETAIL_ARCH1(a) sm_##a
#define STRATA_DETAIL_ARCH2(a, b) sm_##a##_##b
#define STRATA_DETAIL_ARCH3(a, b, c) sm_##a##_##b##_##c
#define STRATA_DETAIL_ARCH4(a, b, c, d) sm_##a##_##b##_##c##_##d
#define STRATA_DETAIL_ARCH5(a, b, c, d, e) sm_##a##_##b##_##c##_##d##_##e
#define STRATA_DETAIL_ARCH6(a, b, c, d, e, f) sm_##a##_##b##_##c##_##d##_##e##_##f
#define STRATA_DETAIL_ARCH7(a, b, c, d, e, f, g) sm_##a##_##b##_##c##_##d##_##e##_##f##_##g
#define STRATA_DETAIL_ARCH8(a, b, c, d, e, f, g, h) sm_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h
// With more than eight architectures, the first eight name the namespace.
#define STRATA_DETAIL_ARCH9(a, b, c, d, e, f, g, h, ...) sm_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h##_and_more
#define STRATA_DETAIL_ARCH_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, name, ...) name
#define STRATA_DETAIL_ARCH_NAME(...)                                                                          \
  STRATA_DETAIL_ARCH_PICK(__VA_ARGS__, STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH9,         \
                          STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH9, \
                          STRATA_DETAIL_ARCH9, STRATA_DETAIL_ARCH8, STRATA_DETAIL_ARCH7, STRATA_DETAIL_ARCH6, \
                          STRATA_DETAIL_ARCH5, STRATA_DETAIL_ARCH4, STRATA_DETAIL_ARCH3, STRATA_DETAIL_ARCH2, \
                          STRATA_DETAIL_ARCH1, unused)                                                        \
  (__VA_ARGS__)
#define STRATA_DETAIL_ARCH_EXPAND(...) STRATA_DETAIL_ARCH_NAME(__VA_ARGS__)
#define STRATA_DETAIL_ARCH_NAMESPACE STRATA_DETAIL_ARCH_EXPAND(__CUDA_ARCH_LIST__)
#elif STRATA_CLANG_CUDA
#define STRATA_DETAIL_ARCH_NAMESPACE sm_unknown
#else
#define STRATA_DETAIL_ARCH_NAMESPACE host_simt
#endif

/// STRATA_ARCH_NAMESPACE is for public classes that own kernels. STRATA_ARCH_DETAIL_NAMESPACE is for the
/// kernels and the functions that choose them. These are hidden, so that the dynamic linker does not replace
/// them by those of another library. (An attribute of the kernels themselves would draw a warning for every
/// user type without linkage.) Libraries of Windows export nothing that is not named.
#if STRATA_HOST_SIMT || defined(_MSC_VER)
#define STRATA_DETAIL_HIDDEN
#else
#define STRATA_DETAIL_HIDDEN __attribute__((visibility("hidden")))
#endif
#define STRATA_ARCH_NAMESPACE_BEGIN \
  STRATA_NAMESPACE_BEGIN            \
  inline namespace STRATA_DETAIL_ARCH_NAMESPACE {
#define STRATA_ARCH_NAMESPACE_END \
  }                               \
  STRATA_NAMESPACE_END
#define STRATA_ARCH_DETAIL_NAMESPACE_BEGIN \
  STRATA_NAMESPACE_BEGIN                   \
  namespace detail {                       \
  inline namespace STRATA_DETAIL_ARCH_NAMESPACE STRATA_DETAIL_HIDDEN {
#define STRATA_ARCH_DETAIL_NAMESPACE_END \
  }                                      \
  }                                      \
  STRATA_NAMESPACE_END

// ---------------------------------------------------------------------------- shared memory
STRATA_NAMESPACE_BEGIN
namespace detail {
template <class T>
struct identity_type {
  using type = T;
};
}  // namespace detail
STRATA_NAMESPACE_END

/// `STRATA_SHARED(name, Type)` declares the variable `name` of a block's shared memory, without an initial value; the
/// type comes last because it may contain commas. It needs <strata/core/platform.cuh>. `STRATA_DYNAMIC_SHARED(name)`
/// names the launch's dynamic shared memory, 128-byte aligned bytes.
#if defined(__CUDACC__)
#define STRATA_SHARED(name, ...) __shared__ typename STRATA_DETAIL_ROOT::detail::identity_type<__VA_ARGS__>::type name
#define STRATA_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#else
#define STRATA_SHARED(name, ...)                                                                          \
  static ::strata::simt::shared_slot name##_slot_;                                                        \
  typename STRATA_DETAIL_ROOT::detail::identity_type<__VA_ARGS__>::type& name =                           \
      *static_cast<typename STRATA_DETAIL_ROOT::detail::identity_type<__VA_ARGS__>::type*>(               \
          ::strata::simt::shared_variable(name##_slot_, sizeof(__VA_ARGS__), alignof(__VA_ARGS__), #name, \
                                          ::strata::simt::location{__FILE__, __LINE__}))
#define STRATA_DYNAMIC_SHARED(name) \
  unsigned char* const name = static_cast<unsigned char*>(::strata::simt::dynamic_shared())
#endif

/// Every loop that polls memory which another thread writes calls this when it has found nothing. The host
/// back end then runs another thread, and reports a deadlock when no thread makes progress.
#if defined(__CUDACC__)
#define STRATA_SPIN() static_cast<void>(0)
#else
#define STRATA_SPIN() ::strata::simt::spin_hint(::strata::simt::location{__FILE__, __LINE__})
#endif

// ---------------------------------------------------------------------------- assertions
/// `STRATA_ASSERT(condition, "format", values...)`: checked in debug builds (`STRATA_DEBUG=1`), in
/// device code. The message names the block and thread; the kernel then traps.
#if !STRATA_DEBUG
#define STRATA_ASSERT(condition, ...) static_cast<void>(0)
#elif STRATA_HOST_SIMT
#define STRATA_ASSERT(condition, ...) \
  ((condition) ? static_cast<void>(0) : ::strata::simt::fail("assertion", __VA_ARGS__))
#elif STRATA_DEVICE_PASS
#define STRATA_DETAIL_ASSERT_FORMAT(format, ...) "strata: %s:%d: block (%u,%u,%u) thread (%u,%u,%u): " format "\n"
#define STRATA_DETAIL_ASSERT_VALUES(format, ...) , ##__VA_ARGS__
#define STRATA_ASSERT(condition, ...)                                                                          \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      printf(STRATA_DETAIL_ASSERT_FORMAT(__VA_ARGS__), __FILE__, __LINE__, blockIdx.x, blockIdx.y, blockIdx.z, \
             threadIdx.x, threadIdx.y, threadIdx.z STRATA_DETAIL_ASSERT_VALUES(__VA_ARGS__));                  \
      __trap();                                                                                                \
    }                                                                                                          \
  } while (false)
#else
#define STRATA_ASSERT(condition, ...) static_cast<void>(0)
#endif

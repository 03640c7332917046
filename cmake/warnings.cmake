# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Warnings for strata's own tests, examples and benchmarks. They are never part of strata::strata.
# -Wpedantic and -Wold-style-cast cannot be used with nvcc, whose generated code breaks both.
# If only thread 0 has a result, it is left unset in other threads. g++ warns of that when it optimises kernels for the
# host back end. Check mode finds the real mistakes.
# -Wsign-conversion is for clang alone: g++ reports every array of N items whose N is a template parameter of type int.
# std::stable_sort of libstdc++ calls a deprecated function, which clang 19 reports in C++20. g++ reports our own uses
# of deprecated names.
set(strata_warning_flags -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND strata_warning_flags -Wsign-conversion -Wno-deprecated-declarations)
else()
  list(APPEND strata_warning_flags -Wno-maybe-uninitialized)
endif()

add_library(strata_warnings INTERFACE)
target_compile_options(
  strata_warnings
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${strata_warning_flags}>"
            "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=$<JOIN:${strata_warning_flags},$<COMMA>>>")
if(STRATA_WARNINGS_AS_ERRORS)
  target_compile_options(
    strata_warnings
    INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
              "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()

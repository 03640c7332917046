# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets STRATA_CUDA: whether nvcc builds tests, examples and benchmarks beside the host compiler.
# Only strata's own targets need this; a consumer enables CUDA, or does not, as it likes.
set(strata_oldest_cuda 12.3)
set(STRATA_CUDA FALSE)
if(NOT STRATA_ENABLE_CUDA)
  return()
endif()

# The toolkit's installer does not put nvcc on the PATH.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(
    strata_nvcc nvcc
    HINTS ENV CUDA_PATH ENV CUDA_HOME
    PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  mark_as_advanced(strata_nvcc)
  if(strata_nvcc)
    set(CMAKE_CUDA_COMPILER ${strata_nvcc})
  endif()
endif()

# The architectures of the devices in this machine. Without one, Hopper's, as PTX only: the translation
# to machine code takes half of the compiler's time, and any later device does it when a program starts.
# CMake's own `native` stops the configure step where there is no device.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  execute_process(
    COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE strata_compute_capabilities
    RESULT_VARIABLE strata_smi_result
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(strata_smi_result EQUAL 0 AND strata_compute_capabilities MATCHES "^[0-9]+\\.[0-9]")
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" CMAKE_CUDA_ARCHITECTURES
                 "${strata_compute_capabilities}")
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "\\." "")
    list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  endif()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL strata_oldest_cuda)
    set(STRATA_CUDA TRUE)
  endif()
endif()

if(STRATA_CUDA)
  message(STATUS "strata: nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}"
                 " and the host SIMT back end")
elseif(STRATA_ENABLE_CUDA STREQUAL "AUTO")
  message(STATUS "strata: no nvcc of CUDA ${strata_oldest_cuda} or newer;"
                 " the host SIMT back end only")
else()
  message(FATAL_ERROR "STRATA_ENABLE_CUDA is ${STRATA_ENABLE_CUDA}, but there is no nvcc of CUDA"
                      " ${strata_oldest_cuda} or newer: put it on the PATH or set"
                      " CMAKE_CUDA_COMPILER")
endif()

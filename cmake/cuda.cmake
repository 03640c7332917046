# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets STRATA_CUDA: true if nvcc builds tests, examples and benchmarks, beside the host compiler. Only strata's own
# targets need this. A consumer decides itself whether it enables CUDA.
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

# For another system, nvcc takes the compiler of C++. By itself it would take a compiler for this machine.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()

# The architectures of the devices in this machine. Without a device, and for another system, Hopper's, as PTX only: the
# translation to machine code takes half of the compiler's time, and any later device translates PTX when a program
# starts. CMake's own `native` stops the configure step if there is no device.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  set(strata_compute_capabilities "")
  if(NOT CMAKE_CROSSCOMPILING)
    execute_process(
      COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE strata_compute_capabilities
      RESULT_VARIABLE strata_smi_result
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(strata_compute_capabilities MATCHES "^[0-9]+\\.[0-9]" AND strata_smi_result EQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" CMAKE_CUDA_ARCHITECTURES
                 "${strata_compute_capabilities}")
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "\\." "")
    list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  endif()
endif()

# A compiler that is found may not be able to compile: the toolkit may be installed in part, or not fit the host
# compiler. That would stop the configure step, so a small project tries it first. Sets `result` to what is wrong, or to
# nothing.
function(strata_try_nvcc nvcc result)
  if(strata_nvcc_that_compiles STREQUAL nvcc OR CMAKE_CUDA_COMPILER_LOADED)
    set(${result} "" PARENT_SCOPE)
    return()
  endif()
  set(probe ${PROJECT_BINARY_DIR}/nvcc_probe)
  file(REMOVE_RECURSE ${probe})
  file(
    WRITE ${probe}/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.25)
project(nvcc_probe LANGUAGES CXX CUDA)
try_compile(compiles \${CMAKE_BINARY_DIR}/headers SOURCES \${CMAKE_SOURCE_DIR}/headers.cu OUTPUT_VARIABLE output)
if(NOT compiles)
  message(FATAL_ERROR \${output})
endif()
")
  file(WRITE ${probe}/headers.cu "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\nint main() {}\n")
  set(options "-DCMAKE_CUDA_COMPILER=${nvcc}")
  foreach(name IN ITEMS TOOLCHAIN_FILE MAKE_PROGRAM CXX_COMPILER CUDA_FLAGS CUDA_HOST_COMPILER
                        CUDA_ARCHITECTURES)
    if(CMAKE_${name})
      string(REPLACE ";" "\\;" value "${CMAKE_${name}}")
      list(APPEND options "-DCMAKE_${name}=${value}")
    endif()
  endforeach()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${probe} -B ${probe}/build -G ${CMAKE_GENERATOR} ${options}
    RESULT_VARIABLE status
    OUTPUT_QUIET
    ERROR_VARIABLE messages)
  if(status EQUAL 0)
    set(strata_nvcc_that_compiles ${nvcc} CACHE INTERNAL "")
    set(messages "")
  elseif(NOT messages)
    set(messages "${status}")
  endif()
  set(${result} "${messages}" PARENT_SCOPE)
endfunction()

include(CheckLanguage)
set(strata_nvcc_fault "")
if(STRATA_ENABLE_CUDA STREQUAL "AUTO")
  set(strata_tried_nvcc "${CMAKE_CUDA_COMPILER}")
  if(NOT strata_tried_nvcc)
    set(strata_tried_nvcc "$ENV{CUDACXX}")
  endif()
  if(strata_tried_nvcc)
    strata_try_nvcc("${strata_tried_nvcc}" strata_nvcc_fault)
  endif()
endif()
if(NOT strata_nvcc_fault)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL strata_oldest_cuda)
      set(STRATA_CUDA TRUE)
    endif()
  endif()
endif()

if(strata_nvcc_fault)
  message(WARNING "strata: ${strata_tried_nvcc} was found, but cannot compile: the host SIMT back end"
                  " only. STRATA_ENABLE_CUDA=OFF asks for that. What is wrong:\n${strata_nvcc_fault}")
elseif(STRATA_CUDA)
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

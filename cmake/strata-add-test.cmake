# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# strata_add_test(<folder>/<name> [GPU] [SIMT] [CHECK] [ASAN] [TIMEOUT <seconds>])
#
# One source, tests/<folder>/<name>.cu, several programs and CTest entries:
#   GPU    <name>_gpu         nvcc; needs a device, else CTest reports "Skipped", and where there was
#                             none at configure time only its device code is compiled
#   SIMT   <name>_simt        the host compiler and strata::simt
#   CHECK  <name>_simt_check  every load and store watched; smaller cases (STRATA_TEST_SMALL=1)
#   ASAN   <name>_simt_asan   AddressSanitizer + UBSan; smaller cases
# No flavour named means all of them. Only what STRATA_TEST_FLAVOURS lists, and the machine can
# compile, is built. Labels: the flavour and the folder.
#
# A <name>.cpp in place of the .cu is a plain host test: one program <name>, label host.
# GoogleTest's main() runs a source that has none of its own.
set(STRATA_TEST_FLAVOURS
    gpu simt check
    CACHE STRING "Flavours of tests to build: gpu, simt, check, asan")
set(STRATA_GPU_TEST_LAUNCHER
    ""
    CACHE STRING "Put before each GPU test, e.g. compute-sanitizer;--tool=racecheck")

function(strata_add_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU;SIMT;CHECK;ASAN" "TIMEOUT" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "strata_add_test(${path}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  # Programs of all folders have one name space: core/types_test is core_types_test.
  if(NOT name MATCHES "^${folder}_")
    set(name ${folder}_${name})
  endif()

  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${path}.cpp)
    add_executable(${name} ${path}.cpp)
    strata_register_test(${name} strata::strata ${arg_TIMEOUT} host ${folder})
    return()
  endif()

  if(NOT (arg_GPU OR arg_SIMT OR arg_CHECK OR arg_ASAN))
    foreach(flavour IN ITEMS GPU SIMT CHECK ASAN)
      set(arg_${flavour} TRUE)
    endforeach()
  endif()
  if(arg_GPU AND STRATA_CUDA AND "gpu" IN_LIST STRATA_TEST_FLAVOURS)
    if(CMAKE_CUDA_ARCHITECTURES MATCHES "-virtual$")
      strata_add_gpu_test_without_device(${name}_gpu ${path} ${folder})
    else()
      add_executable(${name}_gpu ${path}.cu)
      set_target_properties(${name}_gpu PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
      target_compile_options(${name}_gpu PRIVATE --extended-lambda)
      strata_register_test(${name}_gpu strata::strata ${arg_TIMEOUT} gpu ${folder})
    endif()
  endif()
  foreach(flavour IN ITEMS SIMT CHECK ASAN)
    string(TOLOWER ${flavour} label)
    if(NOT arg_${flavour} OR NOT label IN_LIST STRATA_TEST_FLAVOURS)
      continue()
    endif()
    set(suffix simt)
    if(NOT label STREQUAL "simt")
      set(suffix simt_${label})
    endif()
    add_executable(${name}_${suffix})
    strata_target_simt_sources(${name}_${suffix} ${path}.cu)
    strata_target_simt_test_options(${name}_${suffix} ${label})
    strata_target_common_headers(${name}_${suffix} ${path}.cu ${suffix} ${label})
    strata_register_test(${name}_${suffix} strata::${suffix} ${arg_TIMEOUT} ${label} ${folder})
  endforeach()
endfunction()

function(strata_target_simt_test_options target label)
  # Compiling takes longer than running: more optimisation would not pay. With -O1 g++ takes half as
  # long again, and programs gain less than that; with -O0 they take three times as long.
  target_compile_options(${target} PRIVATE -Og)
  if(NOT label STREQUAL "simt")
    target_compile_definitions(${target} PRIVATE STRATA_TEST_SMALL=1)
  endif()
endfunction()

# What most sources include, GoogleTest above all, is compiled once for a flavour and not with each of
# them: that takes seconds. A source that begins with a macro wants headers as that macro makes them.
function(strata_target_common_headers target source suffix label)
  file(STRINGS ${source} first_directive REGEX "^#" LIMIT_COUNT 1)
  if(NOT first_directive MATCHES "^#include")
    return()
  endif()
  set(headers strata_test_headers_${suffix})
  if(NOT TARGET ${headers})
    set(empty_source ${CMAKE_CURRENT_BINARY_DIR}/strata_simt/headers.cpp)
    file(CONFIGURE OUTPUT ${empty_source} CONTENT "" @ONLY)
    add_library(${headers} OBJECT ${empty_source})
    strata_target_simt_test_options(${headers} ${label})
    strata_target_test_libraries(${headers} strata::${suffix})
    target_precompile_headers(${headers} PRIVATE support/test_types.cuh <cmath> <functional>
                              <limits> <numeric> <string> <tuple> <utility>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# What can be tested of a GPU test where there is no device: that nvcc takes it, without a warning. The
# source, its types and GoogleTest are those of a machine with a device. Only device code is made: the
# front end reads host code too, and warns of it, and the host compiler's part of nvcc's work is more
# than half of it and sees little that it does not see in the host flavours. And it is made to nvcc's
# intermediate code, without optimisation, as all that can be wrong with C++ is found before: PTX takes
# three times as long, and nvcc does not even look at the assembly in it. What has assembly is made to
# machine code.
function(strata_add_gpu_test_without_device target path folder)
  add_library(${target} OBJECT ${path}.cu)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE --extended-lambda)
  string(REGEX MATCH "^[0-9]+" architecture "${CMAKE_CUDA_ARCHITECTURES}")
  if(path MATCHES "^core/(platform|scan_step)")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES ${architecture}-real)
    target_compile_options(${target} PRIVATE -Xcicc=-O1 -Xptxas=-O0 -Xcompiler=-O0)
  elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON)
    target_compile_options(${target} PRIVATE -Xcicc=-O0)
  else()
    set_target_properties(
      ${target} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES OFF CUDA_COMPILER_LAUNCHER
                           "sh;${PROJECT_SOURCE_DIR}/cmake/nvcc-intermediate.sh")
    target_compile_options(${target} PRIVATE -arch=lto_${architecture} -Xcicc=-O0)
  endif()
  strata_target_test_libraries(${target} strata::strata)
  add_test(NAME ${target} COMMAND ${CMAKE_COMMAND} -E false)
  set_tests_properties(${target} PROPERTIES LABELS "gpu;${folder}" SKIP_RETURN_CODE 1)
endfunction()

# Makes a program a CTest entry with the labels given. Exit status 77 says: skipped, no CUDA device.
function(strata_register_test target library timeout label folder)
  strata_target_test_libraries(${target} ${library})
  set(launcher "")
  if(label STREQUAL "gpu")
    set(launcher ${STRATA_GPU_TEST_LAUNCHER})
  endif()
  add_test(NAME ${target} COMMAND ${launcher} $<TARGET_FILE:${target}>)
  set_tests_properties(${target} PROPERTIES LABELS "${label};${folder}" TIMEOUT ${timeout}
                                            SKIP_RETURN_CODE 77)
endfunction()

function(strata_target_test_libraries target library)
  target_link_libraries(${target} PRIVATE ${library} strata_warnings GTest::gmock GTest::gtest
                                          GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# strata_add_test(<path> [GPU] [SIMT] [CHECK] [ASAN])
#
# One source, tests/<path>.cu, several programs and CTest entries. <name> is the last part of the path:
#   GPU    <name>_gpu         nvcc; without a device CTest reports "Skipped"; if there was none at configure
#                             time, only its device code is compiled
#   SIMT   <name>_simt        the host compiler and strata::simt
#   CHECK  <name>_simt_check  every load and store watched; smaller cases (STRATA_TEST_SMALL=1), fewer types
#   ASAN   <name>_simt_asan   AddressSanitizer + UBSan; smaller cases
# Without a flavour, all of them are meant. Only flavours that STRATA_TEST_FLAVOURS lists and the machine can compile
# are built. Labels are the flavour and the first folder of the path.
#
# If there is a <name>.cpp instead of the .cu, it is a plain host test: one program <name> with the label host. A source
# without a main() gets GoogleTest's.
#
# STRATA_TEST_FULL says how much of this is built:
#   OFF    GPU with fewer types (STRATA_TEST_FEW_TYPES=1), SIMT with smaller cases too (STRATA_TEST_SMALL=1); a
#          source that is marked `check` has CHECK instead of SIMT, other sources have no CHECK; without a device,
#          GPU of the marked sources alone
#   ON     everything
#   ADDED  what ON has and OFF has not, to run after OFF
#
# A line `// test: MARK, ...` in a source marks it:
#   check   it represents others: in check mode, and with nvcc if there is no device
#   long    it runs for seconds on the host back end, so an optimising compiler is worth its time
#   shapes  its host program runs on devices of other sizes too; with all types, all of device/ does
set(STRATA_TEST_FULL
    OFF
    CACHE STRING "Tests with all types and in every flavour: OFF, ON, or ADDED (only what OFF leaves out)")
set_property(CACHE STRATA_TEST_FULL PROPERTY STRINGS OFF ON ADDED)
set(STRATA_TEST_PART
    1/1
    CACHE STRING "k/n: where STRATA_TEST_FULL is ADDED, part k of n parts of it, every n-th source")
set(STRATA_TEST_FLAVOURS
    gpu simt check
    CACHE STRING "Flavours of tests to build: gpu, simt, check, asan")
set(STRATA_GPU_TEST_LAUNCHER
    ""
    CACHE STRING "Put before each GPU test, e.g. compute-sanitizer;--tool=racecheck")
set(STRATA_TEST_RANDOM_SECONDS
    ""
    CACHE STRING "How long each random test runs; empty: 2, or 20 where STRATA_TEST_FULL is on")
set(STRATA_TEST_RANDOM_SEED
    1
    CACHE STRING "The seed of random tests; empty: another one each time")

# ADDED is ON without what is in both.
set(strata_test_full FALSE)
set(strata_test_common TRUE)
if(STRATA_TEST_FULL)
  set(strata_test_full TRUE)
endif()
if(STRATA_TEST_FULL STREQUAL "ADDED")
  set(strata_test_full TRUE)
  set(strata_test_common FALSE)
endif()

# True if a source, or a test of many headers, is in the part that STRATA_TEST_PART names.
if(NOT STRATA_TEST_PART MATCHES "^([1-9][0-9]*)/([1-9][0-9]*)$" OR CMAKE_MATCH_1 GREATER CMAKE_MATCH_2)
  message(FATAL_ERROR "STRATA_TEST_PART must be k/n with k from 1 to n, is ${STRATA_TEST_PART}")
endif()
math(EXPR strata_test_part "${CMAKE_MATCH_1} - 1")
set(strata_test_parts ${CMAKE_MATCH_2})
if(NOT strata_test_common AND strata_test_parts GREATER 1)
  message(STATUS "strata: of what the full tests add, part ${STRATA_TEST_PART}")
endif()
set_property(GLOBAL PROPERTY strata_test_sources 0)
function(strata_is_in_part result)
  get_property(number GLOBAL PROPERTY strata_test_sources)
  math(EXPR part "${number} % ${strata_test_parts}")
  math(EXPR number "${number} + 1")
  set_property(GLOBAL PROPERTY strata_test_sources ${number})
  set(${result} FALSE PARENT_SCOPE)
  if(strata_test_common OR part EQUAL strata_test_part)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(strata_has_mark source mark result)
  file(STRINGS ${source}.cu line REGEX "^// test: (.*, )?${mark}(,|$)" LIMIT_COUNT 1)
  set(${result} FALSE PARENT_SCOPE)
  if(line)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(strata_add_test path)
  strata_is_in_part(is_in_part)
  if(NOT is_in_part)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU;SIMT;CHECK;ASAN" "" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "strata_add_test(${path}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REGEX REPLACE "/.*" "" folder ${path})
  get_filename_component(name ${path} NAME)
  # Programs of all folders share one namespace: core/types_test becomes core_types_test.
  if(NOT name MATCHES "^${folder}_")
    set(name ${folder}_${name})
  endif()

  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${path}.cpp)
    add_executable(${name} ${path}.cpp)
    strata_target_host_test_options(${name})
    strata_register_test(${name} strata::strata host ${folder})
    return()
  endif()

  if(NOT (arg_GPU OR arg_SIMT OR arg_CHECK OR arg_ASAN))
    foreach(flavour IN ITEMS GPU SIMT CHECK ASAN)
      set(arg_${flavour} TRUE)
    endforeach()
  endif()
  strata_has_mark(${path} check is_checked_source)
  if(NOT strata_test_full AND "simt" IN_LIST STRATA_TEST_FLAVOURS)
    if(is_checked_source AND "check" IN_LIST STRATA_TEST_FLAVOURS)
      set(arg_SIMT FALSE)
    else()
      set(arg_CHECK FALSE)
    endif()
  elseif(is_checked_source AND NOT strata_test_common)
    set(arg_CHECK FALSE)
  endif()

  if(arg_GPU)
    strata_add_gpu_flavour(${name}_gpu ${path} ${folder} ${is_checked_source})
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
    strata_simt_test_options(${path} ${label} options)
    target_compile_options(${name}_${suffix} PRIVATE ${options})
    strata_target_common_headers(${name}_${suffix} ${path}.cu ${suffix} "${options}")
    strata_target_join_support(${name}_${suffix} ${path} ${suffix} ${label})
    strata_register_test(${name}_${suffix} strata::${suffix} ${label} ${folder})
    if(label STREQUAL "simt" AND folder STREQUAL "device")
      strata_register_shapes(${name}_${suffix} ${path})
    endif()
  endforeach()
endfunction()

# Runs a host program on devices of one and of many multiprocessors: for sources that are marked `shapes`, and for all
# if STRATA_TEST_FULL is on.
function(strata_register_shapes target path)
  strata_has_mark(${path} shapes is_shaped)
  if(is_shaped)
    set(is_wanted ${strata_test_common})
  else()
    set(is_wanted ${strata_test_full})
  endif()
  if(NOT is_wanted)
    return()
  endif()
  foreach(multiprocessors IN ITEMS 1 64)
    set(test ${target}.sm${multiprocessors})
    strata_add_limited_test(${test} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}>)
    set_tests_properties(${test} PROPERTIES LABELS "simt;device;shapes" SKIP_RETURN_CODE 77)
    set_property(
      TEST ${test}
      APPEND
      PROPERTY ENVIRONMENT_MODIFICATION STRATA_SIMT_MULTIPROCESSORS=set:${multiprocessors})
  endforeach()
endfunction()

# More optimisation takes twice as long, so host programs are compiled as a user would compile them only if there is
# time.
function(strata_target_host_test_options target)
  if(NOT strata_test_full)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

set(strata_small_cases -DSTRATA_TEST_SMALL=1 -DSTRATA_TEST_FEW_TYPES=1)

# Compiling takes longer than running. With -Og, g++ takes a third longer than with -O0, and programs take a third of
# the time. That pays for the few programs that run long, but not for smaller cases. With -O1, g++ takes half as long
# again, and programs gain less than that.
function(strata_simt_test_options path label options)
  set(result -Og)
  if(NOT label STREQUAL "simt")
    list(APPEND result ${strata_small_cases})
  elseif(NOT strata_test_full)
    strata_has_mark(${path} long runs_long)
    if(NOT runs_long)
      set(result -O0)
    endif()
    list(APPEND result ${strata_small_cases})
  endif()
  set(${options} ${result} PARENT_SCOPE)
endfunction()

# The joins of device/join/device_hash_join_support.cuh are compiled once for a flavour, and not with each test of
# joins. Optimising them is worth its time, because long-running tests call them.
function(strata_target_join_support target path suffix label)
  file(STRINGS ${path}.cu uses_joins REGEX "device_joiner<|check_few_rows<" LIMIT_COUNT 1)
  if(NOT uses_joins)
    return()
  endif()
  set(path device/join/device_hash_join_support)
  set(joins strata_test_joins_${suffix})
  if(NOT TARGET ${joins} AND label STREQUAL "gpu")
    add_library(${joins} STATIC ${path}.cu)
    strata_target_gpu_test_options(${joins})
    strata_target_test_libraries(${joins} strata::strata)
  elseif(NOT TARGET ${joins})
    set(options -Og)
    if(NOT label STREQUAL "simt" OR NOT strata_test_full)
      list(APPEND options ${strata_small_cases})
    endif()
    add_library(${joins} STATIC)
    strata_target_simt_sources(${joins} ${path}.cu)
    target_compile_options(${joins} PRIVATE ${options})
    strata_target_common_headers(${joins} ${path}.cu ${suffix} "${options}")
    strata_target_test_libraries(${joins} strata::${suffix})
  endif()
  target_link_libraries(${target} PRIVATE ${joins})
endfunction()

# Headers that most sources include, above all GoogleTest, are compiled once for a flavour: for each source they would
# take seconds. A source that begins with a macro needs headers that are compiled with that macro.
function(strata_target_common_headers target source suffix options)
  file(STRINGS ${source} first_directive REGEX "^#" LIMIT_COUNT 1)
  if(NOT first_directive MATCHES "^#include")
    return()
  endif()
  string(MAKE_C_IDENTIFIER "strata_test_headers_${suffix}${options}" headers)
  if(NOT TARGET ${headers})
    set(empty_source ${CMAKE_CURRENT_BINARY_DIR}/strata_simt/headers.cpp)
    file(CONFIGURE OUTPUT ${empty_source} CONTENT "" @ONLY)
    add_library(${headers} OBJECT ${empty_source})
    target_compile_options(${headers} PRIVATE ${options})
    strata_target_test_libraries(${headers} strata::${suffix})
    target_precompile_headers(${headers} PRIVATE support/test_types.cuh <cmath> <functional>
                              <limits> <numeric> <string> <tuple> <utility>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# The program of a GPU test. Without a device it is only compiled, and that takes longer than all other tests together.
# So if STRATA_TEST_FULL is off, only sources that represent others are compiled.
function(strata_add_gpu_flavour target path folder stands_for_others)
  if(NOT STRATA_CUDA OR NOT "gpu" IN_LIST STRATA_TEST_FLAVOURS)
    return()
  endif()
  set(strata_library strata::strata)
  if(path MATCHES "distributed")
    set(strata_library strata::distributed)
    if(NOT TARGET strata::distributed)
      return()
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "-virtual$")
    strata_add_gpu_test(${target} ${path} ${folder} ${ARGN})
  elseif(stands_for_others OR strata_test_full)
    strata_add_gpu_test_without_device(${target} ${path} ${folder})
  endif()
endfunction()

# Arrays are as large as in `full`, because the time goes into compiling.
function(strata_target_gpu_test_options target)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE --extended-lambda)
  if(NOT strata_test_full)
    target_compile_options(${target} PRIVATE -DSTRATA_TEST_FEW_TYPES=1)
  endif()
endfunction()

function(strata_add_gpu_test target path folder)
  add_executable(${target} ${path}.cu)
  strata_target_gpu_test_options(${target})
  strata_target_join_support(${target} ${path} gpu gpu)
  strata_register_test(${target} ${strata_library} gpu ${folder} ${ARGN})
endfunction()

# Without a device, this can be tested of a GPU test: nvcc and the host compiler accept it without a warning. The
# source, its types and GoogleTest are the same as on a machine with a device. nvcc compiles device code to its
# intermediate code, without optimisation, because errors in C++ are found before that. PTX takes three times as long,
# and nvcc does not check inline assembly in it. So sources with assembly are compiled to machine code. The host
# compiler only parses the host code that nvcc has made, and does not even do that before nvcc 13.
function(strata_add_gpu_test_without_device target path folder)
  strata_add_gpu_object(${target} ${path})
  file(STRINGS ${path}.cu uses_joins REGEX "device_joiner<|check_few_rows<" LIMIT_COUNT 1)
  if(uses_joins AND NOT TARGET strata_test_joins_gpu)
    strata_add_gpu_object(strata_test_joins_gpu device/join/device_hash_join_support)
  endif()
  add_test(NAME ${target} COMMAND ${CMAKE_COMMAND} -E false)
  set_tests_properties(${target} PROPERTIES LABELS "gpu;${folder}" SKIP_RETURN_CODE 1)
endfunction()

function(strata_add_gpu_object target path)
  add_library(${target} OBJECT ${path}.cu)
  strata_target_gpu_test_options(${target})
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
  strata_target_test_libraries(${target} ${strata_library})
endfunction()

# strata_add_random_test(<folder>/<name>)
#
# A program with its own main() that compares results of random calls with a reference, for as long as its arguments
# say: --seconds <N> --seed <S>. There are two programs, <name>_simt and <name>_gpu, which also have the label random.
# With STRATA_TEST_FEW_TYPES=1 it may have fewer types.
function(strata_add_random_test path)
  strata_is_in_part(is_in_part)
  if(NOT is_in_part)
    return()
  endif()
  get_filename_component(name ${path} NAME)
  set(seconds ${STRATA_TEST_RANDOM_SECONDS})
  if(NOT seconds)
    set(seconds 2)
    if(strata_test_full)
      set(seconds 20)
    endif()
  endif()
  set(arguments --seconds ${seconds})
  if(NOT STRATA_TEST_RANDOM_SEED STREQUAL "")
    list(APPEND arguments --seed ${STRATA_TEST_RANDOM_SEED})
  endif()
  # A program ends a case that hangs before CTest ends the program. Several threads use CPU time at once.
  math(EXPR strata_more_seconds "${seconds} * 10")
  math(EXPR timeout "${seconds} + 1800")
  if("simt" IN_LIST STRATA_TEST_FLAVOURS)
    add_executable(${name}_simt)
    strata_target_simt_sources(${name}_simt ${path}.cu)
    strata_simt_test_options(${path} simt options)
    # A program that runs for minutes is worth an optimising compiler's time.
    if(seconds GREATER_EQUAL 60)
      list(APPEND options -O2)
    endif()
    target_compile_options(${name}_simt PRIVATE ${options})
    strata_register_test(${name}_simt strata::simt simt random ${arguments})
  endif()
  strata_add_gpu_flavour(${name}_gpu ${path} random FALSE ${arguments})
  foreach(test IN ITEMS ${name}_simt ${name}_gpu)
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout})
    endif()
  endforeach()
endfunction()

# Makes a program a CTest entry with the given labels and arguments. Exit status 77 means skipped: there is no CUDA
# device.
function(strata_register_test target library label folder)
  strata_target_test_libraries(${target} ${library})
  set(launcher ${CMAKE_CROSSCOMPILING_EMULATOR})
  if(label STREQUAL "gpu")
    set(launcher ${STRATA_GPU_TEST_LAUNCHER})
  endif()
  strata_add_limited_test(${target} ${launcher} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(${target} PROPERTIES LABELS "${label};${folder}" SKIP_RETURN_CODE 77)
endfunction()

# strata_add_limited_test(<name> <command>...)
#
# Makes a command a CTest entry. It may take 15 minutes of CPU, or 40 with all types, with sanitizers and on the GPU. No
# test takes a quarter of that. A random test may take longer by the time that it is to run (strata_more_seconds). The
# clock ends a test that hangs, after half an hour.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
# The program that CMake finds may be a stand-in that looks for the interpreter. It takes three times as long as the
# interpreter.
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE python
  OUTPUT_STRIP_TRAILING_WHITESPACE)
set_property(GLOBAL PROPERTY strata_cpu_limit ${python} -I -S ${CMAKE_CURRENT_SOURCE_DIR}/cpu_limit.py)
function(strata_add_limited_test name)
  set(limit 900)
  if(STRATA_TEST_FULL OR name MATCHES "_(asan|gpu)$")
    set(limit 2400)
  endif()
  if(strata_more_seconds)
    math(EXPR limit "${limit} + ${strata_more_seconds}")
  endif()
  # The GPU's checkers take longer.
  if(STRATA_GPU_TEST_LAUNCHER AND name MATCHES "_gpu$")
    math(EXPR limit "${limit} * 20")
  endif()
  get_property(cpu_limit GLOBAL PROPERTY strata_cpu_limit)
  add_test(NAME ${name} COMMAND ${cpu_limit} ${limit} ${name} ${ARGN})
  # If ranks wait for each other for ever, the clock ends them, too.
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT_MODIFICATION STRATA_SIMT_NCCL_SECONDS=set:1500)
endfunction()

function(strata_target_test_libraries target library)
  target_link_libraries(${target} PRIVATE ${library} strata_warnings GTest::gmock GTest::gtest
                                          GTest::gtest_main)
  # g++ then frees memory less often, and takes a tenth less time.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=200>"
                                           "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

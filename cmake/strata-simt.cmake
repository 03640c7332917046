# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The host SIMT back end: kernels compiled by the C++ compiler and run without a GPU. Included by
# strata's own build and by the installed package.
#
#   strata::simt        the runtime
#   strata::simt_check  the same with every load and store watched (races, bounds, bank conflicts)
#   strata::simt_asan   the same under AddressSanitizer and UndefinedBehaviorSanitizer
#
#   strata_target_simt_sources(<target> <file.cu>...)
#     Adds CUDA sources to a target as C++ for the host back end. One program may hold the same
#     file twice: once through this function and once compiled by nvcc.
#
# The runtime is compiled with the consumer's compiler and flags, and only if something links it.
#
# strata_include_dir names the folder that holds strata/.
include_guard(DIRECTORY)

function(strata_add_simt_runtime name)
  if(TARGET strata_${name})
    return()
  endif()
  cmake_parse_arguments(arg "" "" "DEFINITIONS;OPTIONS;USER_OPTIONS;USER_LINK_OPTIONS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${strata_include_dir}/strata/simt/runtime/*.cpp")
  add_library(strata_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  add_library(strata::${name} ALIAS strata_${name})
  set_target_properties(strata_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(strata_${name} PUBLIC strata::strata)
  target_compile_definitions(strata_${name} PUBLIC ${arg_DEFINITIONS})
  target_compile_options(strata_${name} PRIVATE ${arg_OPTIONS})
  target_compile_options(strata_${name} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${arg_USER_OPTIONS}>")
  target_link_options(strata_${name} INTERFACE ${arg_USER_LINK_OPTIONS})
endfunction()

# Kernels that are compiled with -fsanitize=thread call a hook for every load, store and atomic. The check runtime
# defines these hooks itself. So -fsanitize=thread must not stand on the link line, and the runtime itself is not
# instrumented. Its reports need line tables, but no other debug information. g++ takes half as long again with -O1 as
# with -Og, and programs gain less than that. In g++'s line tables of DWARF 5, addr2line of binutils takes the first
# source with code for the file that was compiled. So these options ask for DWARF 4, and they come first, because they
# raise the level of debug information.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(strata_simt_check_options
      -O1 -g1 -fsanitize=thread "SHELL:-mllvm -tsan-distinguish-volatile=1"
      "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
else()
  # -Wtsan warns that the sanitizer's runtime does not know fences. Ours does.
  set(strata_simt_check_options
      -Og -gdwarf-4 -g1 -fsanitize=thread --param=tsan-distinguish-volatile=1
      --param=tsan-instrument-func-entry-exit=0 -Wno-tsan)
endif()
set(strata_simt_asan_options -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined)
set(strata_simt_debug_options "")
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND strata_simt_asan_options -gdwarf-4)
  set(strata_simt_debug_options "$<$<CONFIG:Debug,RelWithDebInfo>:-gdwarf-4>")
endif()
strata_add_simt_runtime(
  simt
  OPTIONS -O2 -g
  USER_OPTIONS ${strata_simt_debug_options})
strata_add_simt_runtime(
  simt_check
  DEFINITIONS STRATA_SIMT_CHECK=1
  OPTIONS -O2 -g
  USER_OPTIONS ${strata_simt_check_options})
strata_add_simt_runtime(
  simt_asan
  DEFINITIONS STRATA_SIMT_ASAN=1
  OPTIONS ${strata_simt_asan_options}
  USER_OPTIONS ${strata_simt_asan_options}
  USER_LINK_OPTIONS -fsanitize=address,undefined)

# A source has one language in a directory. So the C++ compiler gets a file of its own that includes the CUDA source.
# Messages and __FILE__ still name the original.
function(strata_target_simt_sources target)
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(name "${source}" NAME)
    string(SHA1 tag "${source}")
    string(SUBSTRING "${tag}" 0 8 tag)
    set(wrapper "${CMAKE_CURRENT_BINARY_DIR}/strata_simt/${name}.${tag}.cpp")
    file(CONFIGURE OUTPUT "${wrapper}" CONTENT "#include \"${source}\"\n" @ONLY)
    target_sources(${target} PRIVATE "${wrapper}")
  endforeach()
endfunction()

# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds NCCL: the header nccl.h and the library. Sets NCCL_FOUND and NCCL_VERSION, and makes the target NCCL::NCCL.
#
# It looks in this order: NCCL_ROOT and NCCL_HOME (variables of CMake or the environment), the default places (Debian's
# libnccl-dev), the CUDA toolkit, and the package nvidia-nccl of Python, which PyTorch installs.
set(strata_nccl_roots ${CUDAToolkit_ROOT} $ENV{CUDA_PATH} $ENV{CUDA_HOME} /usr/local/cuda)

set(strata_nccl_suffixes include targets/x86_64-linux/include targets/sbsa-linux/include)
find_path(
  NCCL_INCLUDE_DIR nccl.h
  HINTS ${NCCL_HOME} $ENV{NCCL_HOME}
  PATHS ${strata_nccl_roots}
  PATH_SUFFIXES ${strata_nccl_suffixes})
if(NOT NCCL_INCLUDE_DIR)
  find_program(strata_python NAMES python3 python)
  mark_as_advanced(strata_python)
  if(strata_python)
    execute_process(
      COMMAND ${strata_python} -c "import importlib.util as u; s = u.find_spec('nvidia.nccl'); \
print(list(s.submodule_search_locations)[0] if s else '')"
      OUTPUT_VARIABLE strata_nccl_package
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(strata_nccl_package)
      list(APPEND strata_nccl_roots ${strata_nccl_package})
      find_path(NCCL_INCLUDE_DIR nccl.h PATHS ${strata_nccl_package}/include)
    endif()
  endif()
endif()
# The library beside the header comes first. Python's package has no libnccl.so.
if(NCCL_INCLUDE_DIR)
  get_filename_component(strata_nccl_prefix ${NCCL_INCLUDE_DIR} DIRECTORY)
endif()
find_library(
  NCCL_LIBRARY
  NAMES nccl libnccl.so.2 NAMES_PER_DIR
  HINTS ${strata_nccl_prefix}
  PATHS ${strata_nccl_roots}
  PATH_SUFFIXES lib lib64 lib/x86_64-linux-gnu lib/aarch64-linux-gnu targets/x86_64-linux/lib)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

if(NCCL_INCLUDE_DIR)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h strata_nccl_lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) [0-9]+")
  list(TRANSFORM strata_nccl_lines REPLACE "^#define NCCL_[A-Z]+ ([0-9]+).*" "\\1")
  list(JOIN strata_nccl_lines "." NCCL_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  NCCL
  REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
  VERSION_VAR NCCL_VERSION)

if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                                ${NCCL_INCLUDE_DIR})
endif()
unset(strata_nccl_roots)
unset(strata_nccl_suffixes)
unset(strata_nccl_package)
unset(strata_nccl_prefix)
unset(strata_nccl_lines)

# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# strata::distributed: the headers with NCCL, for include/strata/distributed/. There is no such target where NCCL is not
# found. Included by strata's own build and by the installed package; FindNCCL.cmake lies beside this file.
include_guard(DIRECTORY)

if(NOT TARGET NCCL::NCCL)
  list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(NCCL QUIET)
  list(POP_FRONT CMAKE_MODULE_PATH)
endif()
if(TARGET NCCL::NCCL AND NOT TARGET strata_distributed)
  add_library(strata_distributed INTERFACE)
  add_library(strata::distributed ALIAS strata_distributed)
  target_link_libraries(strata_distributed INTERFACE strata::strata NCCL::NCCL)
endif()

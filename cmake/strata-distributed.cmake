# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# strata::distributed: the headers together with NCCL, for include/strata/distributed/. Without NCCL, there is no such
# target. strata's own build and the installed package include this file. FindNCCL.cmake lies beside it.
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

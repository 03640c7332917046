# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Toolchain file for aarch64 Linux on another machine, with Debian's packages g++-aarch64-linux-gnu and qemu-user. CTest
# runs programs under the emulator. nvcc is used if it has headers and libraries for aarch64, from NVIDIA's cross
# packages or by -I and -L in CMAKE_CUDA_FLAGS.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
find_program(strata_aarch64_emulator NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(strata_aarch64_emulator)
if(strata_aarch64_emulator)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${strata_aarch64_emulator} -L /usr/aarch64-linux-gnu)
endif()

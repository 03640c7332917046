# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Headers, the host runtime's sources and a relocatable CMake package that needs no compiler, no
# CUDA and no architecture: everything in it is text.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(strata_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/strata)
install(
  TARGETS strata
  EXPORT strata-targets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(
  EXPORT strata-targets
  NAMESPACE strata::
  DESTINATION ${strata_package_dir})
install(
  DIRECTORY include/strata/simt/runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata/simt
  FILES_MATCHING
  PATTERN "*.cpp")
configure_package_config_file(
  cmake/strata-config.cmake.in strata-config.cmake
  INSTALL_DESTINATION ${strata_package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(
  strata-config-version.cmake
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strata-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/strata-config-version.cmake cmake/strata-simt.cmake
              cmake/strata-distributed.cmake cmake/FindNCCL.cmake
        DESTINATION ${strata_package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/strata)

# For builds without CMake. Paths are relative to the file itself, unless the folder of headers is given as absolute.
set(strata_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(strata_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(strata_pc_libs "")
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(strata_pc_libs "-framework Metal -framework Foundation -framework CoreGraphics -lobjc")
endif()
configure_file(cmake/strata.pc.in strata.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/strata.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)

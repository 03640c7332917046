# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D build=DIR -D prefix=DIR -P install.cmake
# Installs strata, moves the installation to ${prefix}, and checks its files.
file(REMOVE_RECURSE "${prefix}" "${prefix}.before_move")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}.before_move"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${prefix}.before_move" "${prefix}")

foreach(name IN ITEMS include/strata/version.hpp include/strata/simt/runtime
                      share/cmake/strata/strata-config.cmake share/doc/strata/LICENSE
                      share/pkgconfig/strata.pc)
  if(NOT EXISTS "${prefix}/${name}")
    message(FATAL_ERROR "${name} was not installed")
  endif()
endforeach()

# Only files of the library may be installed. No text may contain the path of the build or of the installation.
file(GLOB_RECURSE files "${prefix}/*")
foreach(file IN LISTS files)
  file(RELATIVE_PATH name "${prefix}" "${file}")
  set(expected "^((include/strata|share/cmake/strata|share/doc/strata)/|share/pkgconfig/strata.pc$)")
  if(NOT name MATCHES "${expected}" OR name MATCHES "_test\\.")
    message(FATAL_ERROR "${name} was installed")
  endif()
  if(name MATCHES "^share/(cmake|pkgconfig)")
    file(READ "${file}" text)
    foreach(place IN ITEMS "${build}" "${prefix}")
      string(FIND "${text}" "${place}" position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${name} names ${place}")
      endif()
    endforeach()
  endif()
endforeach()

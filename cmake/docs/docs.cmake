# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Target `docs`: the reference and the guides as a site, in <build folder>/html.
find_program(STRATA_DOXYGEN doxygen DOC "Doxygen 1.9, which makes the reference")
if(NOT STRATA_DOXYGEN)
  message(FATAL_ERROR "The reference needs Doxygen 1.9, which is not found. "
                      "On Debian or Ubuntu: sudo apt-get install doxygen doxygen-awesome-css")
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
# The theme is Debian's package doxygen-awesome-css. Without it, pages have Doxygen's own look.
find_file(STRATA_DOCS_THEME doxygen-awesome.css PATHS /usr/share/doxygen-awesome-css NO_DEFAULT_PATH
          DOC "The style sheet of Doxygen Awesome")

set(docs_output ${PROJECT_BINARY_DIR})
set(docs_input ${PROJECT_BINARY_DIR}/reference)
set(docs_style "")
if(STRATA_DOCS_THEME)
  get_filename_component(theme_folder ${STRATA_DOCS_THEME} DIRECTORY)
  set(docs_style "${STRATA_DOCS_THEME} ${theme_folder}/doxygen-awesome-sidebar-only.css")
endif()
string(APPEND docs_style " ${CMAKE_CURRENT_LIST_DIR}/style.css")
# One warning fails the build, after all warnings are printed. Other releases of Doxygen give other warnings.
set(docs_warnings FAIL_ON_WARNINGS)
execute_process(COMMAND ${STRATA_DOXYGEN} --version OUTPUT_VARIABLE doxygen_version)
if(NOT doxygen_version MATCHES "^1\\.9\\.")
  set(docs_warnings NO)
endif()
set(at @)
configure_file(${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)

add_custom_target(
  docs
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/reference.py --output ${docs_input}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${docs_output}/html
  COMMAND ${STRATA_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/finish.py ${docs_output}/html
  COMMAND ${CMAKE_COMMAND} -E echo "The reference: ${docs_output}/html/index.html"
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Making the reference with Doxygen"
  VERBATIM)

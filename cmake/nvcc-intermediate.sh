#!/bin/sh
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiler launcher. Where CMake asks nvcc for PTX, it makes nvcc's intermediate code, which CMake cannot ask
# for, and has the host compiler read the host code that nvcc has made, for errors and warnings only. Then there is
# no object, and an empty file takes its place.
output= last=
for word; do
  shift
  [ "$last" = -o ] && output=$word
  last=$word
  case $word in
    -ptx) set -- "$@" -dlto -c -Xcompiler=-fsyntax-only ;;
    *) set -- "$@" "$word" ;;
  esac
done
"$@" && : > "$output"

#!/bin/sh
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiler launcher: runs nvcc to its intermediate code, which CMake cannot ask for, where it asks
# for PTX.
for word; do
  shift
  case $word in
    -ptx) set -- "$@" -dlto -ltoir ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec "$@"

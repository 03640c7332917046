// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "header_examples/expect_output.cuh"
#define STRATA_JOIN_BACKEND CUDA

#include "header_examples/device_joins.cuh"  // written by meta/header_examples.py

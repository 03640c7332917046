// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "header_examples/expect_output.cuh"

#include "header_examples/core.cuh"  // written by meta/header_examples.py

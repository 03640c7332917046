// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>

namespace jit {

/// An error of the compiler. Its messages name the option that is wrong.
struct compile_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source of the kernels for a type and two expressions of C++: kernels.cuh, with definitions before it.
std::string kernel_source(const std::string& type, const std::string& of_each, const std::string& of_two);

/// Compiles a source by NVRTC: to machine code for an architecture such as "sm_90", or to PTX for one such as
/// "compute_90".
std::string compile(const std::string& source, const std::string& architecture);

}  // namespace jit

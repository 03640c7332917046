// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "abi.hpp"

#include <map>
#include <string>

namespace metal_double {

// The kernels of a text, compiled by the host's compiler with run/metal_stdlib.
class compiled_text {
 public:
  ~compiled_text();
  // Returns the messages of the compiler, or an empty text.
  std::string compile(const std::string& source, bool watch);
  const msl::kernel_desc* find(const std::string& name) const;

 private:
  void* shared_object_ = nullptr;
  std::map<std::string, const msl::kernel_desc*> kernels_;
};

}  // namespace metal_double

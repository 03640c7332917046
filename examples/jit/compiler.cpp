// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler.hpp"

#include <nvrtc.h>

#include <cstddef>
#include <memory>

namespace jit {
namespace {

void check(const char* function, nvrtcResult result) {
  if (result != NVRTC_SUCCESS) throw std::runtime_error(std::string(function) + ": " + nvrtcGetErrorString(result));
}

struct destroy_program {
  void operator()(nvrtcProgram program) const { nvrtcDestroyProgram(&program); }
};
using program = std::unique_ptr<_nvrtcProgram, destroy_program>;

program create(const std::string& source) {
  nvrtcProgram created = nullptr;
  check("nvrtcCreateProgram", nvrtcCreateProgram(&created, source.c_str(), "jit.cu", 0, nullptr, nullptr));
  return program(created);
}

// Gets an array from NVRTC, which returns its size first. `Function` is one of nvrtcGet..., `Size` its nvrtcGet...Size.
template <class Size, class Function>
std::string text(const program& from, Size size, Function function) {
  std::size_t bytes = 0;
  check("nvrtc", size(from.get(), &bytes));
  std::string result(bytes, '\0');
  check("nvrtc", function(from.get(), result.data()));
  return result;
}

std::string functor(const std::string& name, const std::string& parameters, const std::string& option,
                    const std::string& expression) {
  return "struct " + name + " {\n  __device__ number operator()(" + parameters + ") const {\nreturn\n#line 1 \"" +
         option + "\"\n" + expression + "\n;\n  }\n};\n";
}

}  // namespace

std::string kernel_source(const std::string& type, const std::string& of_each, const std::string& of_two) {
  return "using number = " + type + ";\n" + functor("of_each", "number a", "--op", of_each) +
         functor("of_two", "number a, number b", "--reduce", of_two) + "#line 1 \"jit.cu\"\n#include <kernels.cuh>\n";
}

std::string compile(const std::string& source, const std::string& architecture) {
  const program compiled = create(source);
  const std::string arch = "-arch=" + architecture;
  const char* const options[] = {"-std=c++17", arch.c_str(), "-I", STRATA_EXAMPLE_INCLUDE, "-I", STRATA_EXAMPLE_JIT};
  const nvrtcResult result = nvrtcCompileProgram(compiled.get(), sizeof(options) / sizeof(*options), options);
  if (result == NVRTC_ERROR_COMPILATION) {
    throw compile_error(text(compiled, nvrtcGetProgramLogSize, nvrtcGetProgramLog).c_str());
  }
  check("nvrtcCompileProgram", result);
  const bool is_ptx = architecture.rfind("compute_", 0) == 0;
  return is_ptx ? text(compiled, nvrtcGetPTXSize, nvrtcGetPTX) : text(compiled, nvrtcGetCUBINSize, nvrtcGetCUBIN);
}

}  // namespace jit

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// jit: reduces numbers by operators that are not known before the program runs.

#include "../common/program.hpp"
#include "compiler.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const char help[] =
    "Usage: jit [OPTION]... [FILE]\n"
    "Applies an operator to each number of FILE, or of standard input, and prints the sum of the\n"
    "results. The operators are C++ expressions, which the program compiles.\n"
    "\n"
    "      --type=TYPE          type of the numbers: int, long, float or double (the default)\n"
    "      --op=EXPRESSION      the operator, an expression of a (default: 'a')\n"
    "      --reduce=EXPRESSION  the reduction, an associative expression of a and b (default: 'a + b')\n"
    "      --ptx                only compile, for any GPU of compute capability 9.0 and newer, and say\n"
    "                           how large the code is; this needs no GPU\n"
    "      --help               print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

constexpr int tile_items = 2048;  // as in kernels.cuh
constexpr int max_blocks = 2048;

void check(const char* function, cudaError_t status) {
  if (status != cudaSuccess) throw example::device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

struct options {
  std::string type = "double";
  std::string op = "a";
  std::string reduce = "a + b";
  bool only_ptx = false;
  std::string file = "-";
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  const auto text_option = [](const char* name, std::string& text) {
    return example::option{name, 0, true, [&text](const std::string& value) {
                             text = value;
                             return true;
                           }};
  };
  const std::vector<std::string> operands =
      example::parse_options(running, arguments,
                             {text_option("type", chosen.type), text_option("op", chosen.op),
                              text_option("reduce", chosen.reduce), example::flag_option("ptx", chosen.only_ptx)});
  example::expect_operands(operands, 0, 1);
  if (!operands.empty()) chosen.file = operands[0];
  return chosen;
}

template <class Number>
std::vector<Number> parse_numbers(const std::string& text) {
  const char blanks[] = " \t\v\f\r\n";
  std::vector<Number> numbers;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    Number number{};
    const auto parsed = std::from_chars(text.data() + at, text.data() + end, number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end) {
      throw std::runtime_error("not a number of this type: " + text.substr(at, end - at));
    }
    numbers.push_back(number);
    at = text.find_first_not_of(blanks, end);
  }
  return numbers;
}

/// Compiles the kernels, and says how long it took.
std::string compile(example::program& running, const options& chosen, const std::string& architecture) {
  running.begin("compiling");
  const auto start = std::chrono::steady_clock::now();
  const std::string code = jit::compile(jit::kernel_source(chosen.type, chosen.op, chosen.reduce), architecture);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  char text[120];
  std::snprintf(text, sizeof(text), "compiled for %s in %.2f s: %zu bytes", architecture.c_str(), seconds.count(),
                code.size());
  running.say(text);
  return code;
}

/// The kernels of the options, loaded to the device.
class kernels {
 public:
  kernels(example::program& running, const options& chosen) {
    int device = 0, major = 0, minor = 0;
    check("cudaGetDevice", cudaGetDevice(&device));
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const std::string code = compile(running, chosen, "sm_" + std::to_string(10 * major + minor));
    check("cudaLibraryLoadData", cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  ~kernels() { static_cast<void>(cudaLibraryUnload(library_)); }
  kernels(const kernels&) = delete;
  kernels& operator=(const kernels&) = delete;

  /// Reduces `count` numbers, 1 or more, to one number for each block.
  void run(const char* name, unsigned blocks, const void* in, long long count, void* sums) const {
    constexpr unsigned threads = 256;  // as in kernels.cuh
    cudaKernel_t kernel = nullptr;
    check("cudaLibraryGetKernel", cudaLibraryGetKernel(&kernel, library_, name));
    void* arguments[] = {&in, &count, &sums};
    check(name,
          cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), arguments, 0, nullptr));
  }

 private:
  cudaLibrary_t library_ = nullptr;
};

struct free_device {
  void operator()(void* pointer) const { static_cast<void>(cudaFree(pointer)); }
};
template <class Number>
std::unique_ptr<Number, free_device> allocate(std::size_t count) {
  void* pointer = nullptr;
  check("cudaMalloc", cudaMalloc(&pointer, count * sizeof(Number)));
  return std::unique_ptr<Number, free_device>(static_cast<Number*>(pointer));
}

template <class Number>
void run(example::program& running, const options& chosen) {
  int devices = 0;
  check("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
  const std::vector<Number> numbers = parse_numbers<Number>(example::read_file(running, chosen.file));
  if (numbers.empty()) throw std::runtime_error(chosen.file + ": no numbers");
  const kernels compiled(running, chosen);

  const auto blocks = static_cast<unsigned>(std::min<std::size_t>((numbers.size() - 1) / tile_items + 1, max_blocks));
  const auto in = allocate<Number>(numbers.size());
  const auto sums = allocate<Number>(blocks);
  const auto sum = allocate<Number>(1);
  check("cudaMemcpy", cudaMemcpy(in.get(), numbers.data(), numbers.size() * sizeof(Number), cudaMemcpyHostToDevice));
  compiled.run("change_and_reduce", blocks, in.get(), static_cast<long long>(numbers.size()), sums.get());
  compiled.run("reduce_sums", 1, sums.get(), blocks, sum.get());
  Number result{};
  check("cudaMemcpy", cudaMemcpy(&result, sum.get(), sizeof(result), cudaMemcpyDeviceToHost));

  running.hide_progress();
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), result).ptr;
  std::printf("%.*s\n", static_cast<int>(end - text), text);
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  void (*run_type)(example::program&, const options&) = nullptr;
  if (chosen.type == "int") run_type = run<int>;
  if (chosen.type == "long") run_type = run<long>;
  if (chosen.type == "float") run_type = run<float>;
  if (chosen.type == "double") run_type = run<double>;
  if (run_type == nullptr) throw example::wrong_call("invalid argument '" + chosen.type + "' for '--type'");
  if (chosen.only_ptx) {
    compile(running, chosen, "compute_90");
  } else {
    run_type(running, chosen);
  }
  example::finish_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("jit", help, argc, argv, run); }

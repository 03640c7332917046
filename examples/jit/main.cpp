// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// jit: reduces numbers by operators that are not known before the program runs.

#include "compiler.hpp"

#include <cuda_runtime.h>
#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

const char help[] =
    "Usage: jit [OPTION]... [FILE]\n"
    "Applies an operator to each number of FILE, or of standard input, and prints the sum of the\n"
    "results. The operators are C++, which is compiled now.\n"
    "\n"
    "      --type=TYPE          of the numbers: int, long, float or double (the default)\n"
    "      --op=EXPRESSION      the operator, of a; 'a' by default\n"
    "      --reduce=EXPRESSION  what adds up the results, of a and b: associative; 'a + b' by default\n"
    "      --ptx                only compile, for any GPU of compute capability 9.0 and newer, and say\n"
    "                           how large the code is: needs no GPU\n"
    "      --help               print this help\n"
    "\n"
    "Exit status: 0, 1 if an option or the input is wrong, 2 if the GPU failed.\n";

constexpr int exit_wrong_call = 1;
constexpr int exit_device_failed = 2;
constexpr int tile_items = 2048;  // as in kernels.cuh
constexpr int max_blocks = 2048;

struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(const char* function, cudaError_t status) {
  if (status != cudaSuccess) throw device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

struct options {
  std::string type = "double";
  std::string op = "a";
  std::string reduce = "a + b";
  bool only_ptx = false;
  std::string file = "-";
};

[[noreturn]] void reject_arguments(const std::string& message = "") {
  if (!message.empty()) std::fprintf(stderr, "jit: %s\n", message.c_str());
  std::fputs("Try 'jit --help' for more information.\n", stderr);
  std::exit(exit_wrong_call);
}

options parse(int argc, char** argv) {
  enum { type = 256, op, reduce, ptx, print_help };
  static const option long_options[] = {
      {"type", required_argument, nullptr, type},     {"op", required_argument, nullptr, op},
      {"reduce", required_argument, nullptr, reduce}, {"ptx", no_argument, nullptr, ptx},
      {"help", no_argument, nullptr, print_help},     {nullptr, 0, nullptr, 0}};
  options chosen;
  char name[] = "jit";
  argv[0] = name;
  for (int c; (c = getopt_long(argc, argv, "", long_options, nullptr)) != -1;) {
    switch (c) {
      case type:
        chosen.type = optarg;
        break;
      case op:
        chosen.op = optarg;
        break;
      case reduce:
        chosen.reduce = optarg;
        break;
      case ptx:
        chosen.only_ptx = true;
        break;
      case print_help:
        std::fputs(help, stdout);
        std::exit(0);
      default:
        reject_arguments();
    }
  }
  if (argc - optind > 1) reject_arguments(std::string("extra operand '") + argv[optind + 1] + "'");
  if (argc > optind) chosen.file = argv[optind];
  return chosen;
}

std::string read_all(const std::string& file) {
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& in = file == "-" ? std::cin : opened;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad() || (file != "-" && !opened.is_open())) throw std::runtime_error(file + ": cannot be read");
  return text;
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

/// Compiles, and says how long that took.
std::string compile(const options& chosen, const std::string& architecture) {
  const auto start = std::chrono::steady_clock::now();
  const std::string code = jit::compile(jit::kernel_source(chosen.type, chosen.op, chosen.reduce), architecture);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "jit: compiled for %s in %.2f s: %zu bytes\n", architecture.c_str(), seconds.count(),
               code.size());
  return code;
}

/// The kernels of the options, loaded to the device.
class kernels {
 public:
  explicit kernels(const options& chosen) {
    int device = 0, major = 0, minor = 0;
    check("cudaGetDevice", cudaGetDevice(&device));
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const std::string code = compile(chosen, "sm_" + std::to_string(10 * major + minor));
    check("cudaLibraryLoadData", cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  ~kernels() { static_cast<void>(cudaLibraryUnload(library_)); }
  kernels(const kernels&) = delete;
  kernels& operator=(const kernels&) = delete;

  /// Reduces `count` numbers, 1 or more, to one of each block.
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
void run(const options& chosen) {
  int devices = 0;
  check("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
  const std::vector<Number> numbers = parse_numbers<Number>(read_all(chosen.file));
  if (numbers.empty()) throw std::runtime_error(chosen.file + ": no numbers");
  const kernels compiled(chosen);

  const auto blocks = static_cast<unsigned>(std::min<std::size_t>((numbers.size() - 1) / tile_items + 1, max_blocks));
  const auto in = allocate<Number>(numbers.size());
  const auto sums = allocate<Number>(blocks);
  const auto sum = allocate<Number>(1);
  check("cudaMemcpy", cudaMemcpy(in.get(), numbers.data(), numbers.size() * sizeof(Number), cudaMemcpyHostToDevice));
  compiled.run("change_and_reduce", blocks, in.get(), static_cast<long long>(numbers.size()), sums.get());
  compiled.run("reduce_sums", 1, sums.get(), blocks, sum.get());
  Number result{};
  check("cudaMemcpy", cudaMemcpy(&result, sum.get(), sizeof(result), cudaMemcpyDeviceToHost));

  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), result).ptr;
  std::printf("%.*s\n", static_cast<int>(end - text), text);
}

}  // namespace

int main(int argc, char** argv) {
  const options chosen = parse(argc, argv);
  void (*run_type)(const options&) = nullptr;
  if (chosen.type == "int") run_type = run<int>;
  if (chosen.type == "long") run_type = run<long>;
  if (chosen.type == "float") run_type = run<float>;
  if (chosen.type == "double") run_type = run<double>;
  if (run_type == nullptr) reject_arguments("invalid argument '" + chosen.type + "' for '--type'");
  try {
    if (chosen.only_ptx) {
      compile(chosen, "compute_90");
    } else {
      run_type(chosen);
    }
  } catch (const device_error& error) {
    std::fprintf(stderr, "jit: %s\n", error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jit: %s\n", error.what());
    return exit_wrong_call;
  }
  return 0;
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Times variants of a call in turns. tune.py starts this program and writes commands to its standard input, one per
// line. The answer is one line on the standard output:
//
//     context                        -> name=value, separated by tabs
//     rows VERSION LIBRARY           -> the rows of the policy for this version, separated by semicolons
//     present LIBRARY                -> `ok`: other variants are compared with the results of this one
//     check N LIBRARY                -> `ok`, `wrong <why>` or `failed <why>`
//     time N SAMPLES US LIBRARY...   -> `ok`, and for each library its samples in milliseconds, separated by commas
//
// Inputs are random. Results are also checked against what the call promises: see broken_promise().

#include "tuning/variant.cuh"

#include <dlfcn.h>
#include <strata/version.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cuda.cuh"
#include "harness/inputs.cuh"
#include "harness/measure.cuh"

namespace {

using bench::check;
using bench::device_array;
using tune::Key;

constexpr bool is_floating = bench::detail::is_floating<Key>;
#if defined(TUNE_SCAN) || defined(TUNE_REDUCE)
constexpr bool is_sum = true;
#else
constexpr bool is_sum = false;
#endif
// There are no random values of NullType.
using StoredValue = std::conditional_t<tune::has_values, tune::Value, unsigned char>;

/// The tolerance between two orders of summation, which round differently.
bench::tolerance allowed() {
  return is_sum && is_floating ? bench::tolerance{sizeof(Key) == 4 ? 1e-4 : 1e-10, 0} : bench::tolerance{};
}

// ------------------------------------------------------------------ what a call promises

/// What is found in a result: broken promises, and the sum of the hashes of all items. Equal sums mean the same items
/// in any order.
struct findings {
  unsigned long long broken;
  unsigned long long hash;
};

template <class T>
STRATA_HD std::uint64_t bits_of(const T& item) {
  std::uint64_t bits = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&item);
  for (std::size_t i = 0; i < sizeof(T); ++i) bits = bits * 257 + bytes[i];
  return bench::random_bits(bits);
}

/// Checks that sorted keys do not decrease, and hashes the items to show that none is lost.
__global__ void look_at_sorted(const Key* keys, const StoredValue* values, bool is_output, int n, findings* found) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  unsigned long long hash = 0;
  unsigned long long broken = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    hash += bits_of(keys[i]) + (tune::has_values ? 3 * bits_of(values[i]) * bits_of(keys[i]) : 0);
    if (is_output && i > 0 && keys[i] < keys[i - 1]) ++broken;
  }
  atomicAdd(&found->hash, hash);
  if (broken > 0) atomicAdd(&found->broken, broken);
}

/// Checks that each exclusive prefix sum is the previous one plus its item. Not for floating-point numbers, among which
/// small items vanish in rounding.
__global__ void look_at_scan(const Key* in, const Key* out, int n, findings* found) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    const bool is_right = i == 0 ? out[0] == Key{} : out[i] == static_cast<Key>(out[i - 1] + in[i - 1]);
    if (!is_right) atomicAdd(&found->broken, 1ull);
  }
}

/// Adds up integers modulo a power of two.
__global__ void add_up(const Key* in, int n, findings* found) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  unsigned long long sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    sum += static_cast<unsigned long long>(in[i]);
  }
  atomicAdd(&found->hash, sum);
}

// ------------------------------------------------------------------ inputs, variants

struct input {
  int n = 0;
  device_array<Key> keys, keys_out, expected_keys;
  device_array<StoredValue> values, values_out, expected_values;

  tune::arrays arrays() const {
    return {keys.data(), tune::has_values ? values.data() : nullptr, keys_out.data(),
            tune::has_values ? values_out.data() : nullptr};
  }
};

class library {
 public:
  explicit library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    call = reinterpret_cast<tune::call_function*>(dlsym(handle_, "tune_call"));
    rows = reinterpret_cast<tune::rows_function*>(dlsym(handle_, "tune_rows"));
    if (call == nullptr || rows == nullptr) throw std::runtime_error(path + " is no variant");
  }
  // The library stays loaded, because one with kernels is not unloaded while the context lives.
  tune::call_function* call;
  tune::rows_function* rows;

 private:
  void* handle_;
};

class session {
 public:
  session() { check(cudaStreamCreateWithFlags(&env_.stream, cudaStreamNonBlocking), "cudaStreamCreate"); }

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "context") return context();
    if (command == "rows") {
      int version = 0;
      std::string path;
      words >> version >> path;
      char text[4096] = "";
      open(path).rows(version, text, sizeof text);
      return text;
    }
    if (command == "present") {
      words >> present_;
      open(present_);
      return "ok";
    }
    int n = 0;
    words >> n;
    if (command == "check") {
      std::string path;
      words >> path;
      make_input(n);
      const std::string wrong = wrong_in(path);
      return wrong.empty() ? "ok" : "wrong " + wrong;
    }
    if (command == "time") {
      std::size_t samples = 0;
      double target_us = 0;
      words >> samples >> target_us;
      std::vector<std::string> paths;
      for (std::string path; words >> path;) paths.push_back(path);
      make_input(n);
      return time(samples, target_us, paths);
    }
    throw std::runtime_error("unknown command: " + line);
  }

 private:
  bench::environment env_;
  std::map<std::string, library> libraries_;
  std::string present_;
  input input_;
  device_array<unsigned char> storage_;
  std::chrono::steady_clock::time_point was_busy_;

  library& open(const std::string& path) {
    auto found = libraries_.find(path);
    if (found == libraries_.end()) found = libraries_.emplace(path, library(path)).first;
    return found->second;
  }

  /// The call with its storage. All variants share the storage, because they take turns on one stream.
  bench::peer peer_of(const std::string& path) {
    tune::call_function* const function = open(path).call;
    const tune::arrays arrays = input_.arrays();
    const int n = input_.n;
    std::size_t bytes = 0;
    check(function(nullptr, &bytes, &arrays, n, env_.stream), "size query");
    if (bytes > storage_.size()) storage_ = device_array<unsigned char>(bytes);
    return {path, [this, function, arrays, n, bytes](cudaStream_t stream) {
              std::size_t capacity = bytes;
              return function(storage_.data(), &capacity, &arrays, n, stream);
            }};
  }

  void run(const std::string& path) {
    const std::size_t size = input_.keys_out.size();
    if (size > 0) input_.keys_out.fill_bytes(0xa5, env_.stream);
    input_.values_out.fill_bytes(0xa5, env_.stream);
    bench::detail::call_and_wait(peer_of(path), env_.stream);
  }

  void make_input(int n) {
    if (n == input_.n) return;
    try {
      make_new_input(n);
    } catch (...) {
      input_ = input{};
      throw;
    }
  }

  void make_new_input(int n) {
    input_ = input{};  // frees the old input first, so that both need not fit
    storage_ = {};
    input made;
    made.n = n;
    const std::int64_t values = tune::has_values ? n : 0;
    const std::int64_t results = std::string(TUNE_NAME) == "reduce" ? 1 : n;
    made.keys = bench::random_array<Key>(n, 1, env_.stream);
    if (tune::has_values) made.values = bench::random_array<StoredValue>(values, 2, env_.stream);
    made.keys_out = device_array<Key>(static_cast<std::size_t>(results));
    made.values_out = device_array<StoredValue>(static_cast<std::size_t>(values));
    input_ = made;
    run(present_);
    made.expected_keys = made.keys_out;
    made.expected_values = made.values_out;
    made.keys_out = device_array<Key>(static_cast<std::size_t>(results));
    made.values_out = device_array<StoredValue>(static_cast<std::size_t>(values));
    input_ = made;
    const std::string wrong = broken_promise(input_.expected_keys, input_.expected_values);
    if (!wrong.empty()) throw std::runtime_error("the present row's result is wrong: " + wrong);
  }

  template <class Kernel, class... Arguments>
  findings look(Kernel kernel, Arguments... arguments) {
    const device_array<findings> found(1);
    found.fill_bytes(0, env_.stream);
    check(strata::launch(bench::detail::threads_for("look", static_cast<std::size_t>(input_.n), env_.stream), kernel,
                         arguments..., found.data()),
          "look");
    check(cudaStreamSynchronize(env_.stream), "look");
    return found.value_at(0);
  }

  /// Returns which promise of the call the result breaks. Floating-point sums are compared only with the present row's
  /// result.
  std::string broken_promise(const device_array<Key>& keys, const device_array<StoredValue>& values) {
    const int n = input_.n;
    const Key* const in = input_.keys.data();
    if constexpr (!is_sum) {
      const findings before = look(look_at_sorted, in, input_.values.data(), false, n);
      const findings after = look(look_at_sorted, keys.data(), values.data(), true, n);
      if (after.broken > 0) return std::to_string(after.broken) + " keys are out of order";
      return before.hash == after.hash ? "" : "items are lost";
    } else if constexpr (is_floating) {
      return "";
    } else if (std::string(TUNE_NAME) == "reduce") {
      const auto sum = static_cast<Key>(look(add_up, in, n).hash);
      return sum == keys.value_at(0) ? "" : "the sum is not that of the items";
    } else {
      const findings found = look(look_at_scan, in, static_cast<const Key*>(keys.data()), n);
      return found.broken == 0 ? "" : std::to_string(found.broken) + " prefix sums are not those of the items";
    }
  }

  std::string wrong_in(const std::string& path) {
    run(path);
    std::string wrong = bench::difference(input_.keys_out, input_.expected_keys, allowed(), env_.stream);
    if (wrong.empty() && tune::has_values) {
      wrong = bench::difference(input_.values_out, input_.expected_values, {}, env_.stream);
    }
    return wrong.empty() ? broken_promise(input_.keys_out, input_.values_out) : wrong;
  }

  std::string time(std::size_t samples, double target_us, const std::vector<std::string>& paths) {
    std::vector<bench::peer> peers;
    std::vector<int> batches;
    bench::stopwatch watch;
    for (const std::string& path : paths) peers.push_back(peer_of(path));
    warm_up(peers.front());
    for (const bench::peer& contender : peers) {
      batches.push_back(bench::batch_size(bench::detail::device_sample(env_, contender, 1, watch), target_us / 1000));
    }
    const auto taken = bench::interleave(peers.size(), samples, [&](std::size_t i) {
      return bench::detail::device_sample(env_, peers[i], batches[i], watch);
    });
    was_busy_ = std::chrono::steady_clock::now();
    // Checked again after hundreds of calls in a row, because a call that leaves something behind spoils only later
    // calls.
    for (const std::string& path : paths) {
      const std::string wrong = wrong_in(path);
      if (!wrong.empty()) return "wrong " + path + " " + wrong;
    }
    std::ostringstream text;
    text << "ok";
    text.precision(7);
    for (const auto& of_one : taken) {
      for (std::size_t i = 0; i < of_one.size(); ++i) text << (i == 0 ? ' ' : ',') << of_one[i];
    }
    return text.str();
  }

  /// Raises the clocks, which are low after the device has waited for compilers.
  void warm_up(const bench::peer& any) const {
#if defined(__CUDACC__)
    using clock = std::chrono::steady_clock;
    if (clock::now() - was_busy_ < std::chrono::milliseconds(500)) return;
    const clock::time_point awake = clock::now() + std::chrono::milliseconds(300);
    while (clock::now() < awake) bench::detail::call_and_wait(any, env_.stream);
#else
    static_cast<void>(any);
#endif
  }

  static std::string context() {
    std::ostringstream text;
#if defined(__CUDACC__)
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    text << "gpu=" << properties.name << "\tptx_version=" << 100 * properties.major + 10 * properties.minor
         << "\tmultiprocessors=" << properties.multiProcessorCount << "\tdriver_cuda=" << driver / 1000 << '.'
         << driver % 1000 / 10 << "\tcuda=" << __CUDACC_VER_MAJOR__ << '.' << __CUDACC_VER_MINOR__;
#else
    text << "gpu=host SIMT back end (CPU times)\tptx_version=900\tmultiprocessors=0\tdriver_cuda=none\tcuda=none";
#endif
    return text.str();
  }
};

}  // namespace

int main() {
  try {
    session all;
    for (std::string line; std::getline(std::cin, line);) {
      std::string text;
      try {
        text = all.answer(line);
      } catch (const bench::cuda_error& error) {
        text = std::string("failed ") + error.what();
        static_cast<void>(cudaGetLastError());
        // If a synchronisation fails again, the context itself is lost, and the next commands need a new process.
        if (cudaDeviceSynchronize() != cudaSuccess) text = "lost " + text.substr(7);
      } catch (const std::exception& error) {
        text = std::string("failed ") + error.what();
      }
      for (char& c : text) {
        if (c == '\n') c = ';';
      }
      std::cout << text << std::endl;
    }
  } catch (const std::exception& error) {
    std::cout << "lost " << error.what() << std::endl;
    return 1;
  }
}

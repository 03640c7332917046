// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

/// What the device sides of the programs here share. nvcc compiles a .cu for the GPU, and the host compiler compiles it
/// for the host SIMT back end. Both objects are linked into one program, so names that are in both lie in namespaces
/// `on_gpu` and `on_host`.
#if STRATA_HOST_SIMT
#define STRATA_EXAMPLE_BACK_END on_host
#else
#define STRATA_EXAMPLE_BACK_END on_gpu
#endif

namespace example {
inline namespace STRATA_EXAMPLE_BACK_END {

inline void check(const char* function, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

/// The name of the device. Throws if there is none.
inline std::string open_device() {
#if STRATA_HOST_SIMT
  return "the host SIMT back end";
#else
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    throw no_device(std::string("cudaGetDeviceCount: ") + cudaGetErrorString(status));
  }
  int device = 0;
  cudaDeviceProp properties;
  check("cudaGetDevice", cudaGetDevice(&device));
  check("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
  return properties.name;
#endif
}

/// An array in the device's memory.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    void* pointer = nullptr;
    check("cudaMalloc", cudaMalloc(&pointer, size * sizeof(T)));
    items_.reset(static_cast<T*>(pointer));
  }
  device_array(const T* items, std::size_t size) : device_array(size) {
    check("cudaMemcpy", cudaMemcpy(get(), items, size * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit device_array(const std::vector<T>& items) : device_array(items.data(), items.size()) {}

  T* get() const { return items_.get(); }
  std::size_t size() const { return size_; }

  /// Copies the first `count` items, or all, to the host.
  std::vector<T> download(std::size_t count) const {
    std::vector<T> items(count);
    check("cudaMemcpy", cudaMemcpy(items.data(), get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    return items;
  }
  std::vector<T> download() const { return download(size_); }

 private:
  struct free_device {
    void operator()(T* pointer) const { static_cast<void>(cudaFree(pointer)); }
  };

  std::size_t size_;
  std::unique_ptr<T[], free_device> items_;
};

/// Makes a call of the library twice: first to learn how much temporary storage it needs, then with this storage.
template <class Call>
void run(const char* function, Call call) {
  std::size_t temp_bytes = 0;
  check(function, call(nullptr, temp_bytes));
  const device_array<unsigned char> temp(temp_bytes);
  check(function, call(temp.get(), temp_bytes));
}

/// Input of an algorithm that is not stored: item i is function(i).
template <class Function>
struct computed {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::invoke_result_t<Function, long long>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = value_type;

  Function function;
  long long first = 0;

  STRATA_HD value_type operator[](std::ptrdiff_t i) const { return function(first + i); }
  STRATA_HD value_type operator*() const { return function(first); }
  STRATA_HD computed operator+(std::ptrdiff_t n) const { return {function, first + n}; }
};

}  // namespace STRATA_EXAMPLE_BACK_END
}  // namespace example

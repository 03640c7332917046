// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Wrappers of the CUDA runtime that throw on errors and free memory. Without nvcc, the runtime is the host SIMT back
/// end's.

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#else
#include <strata/core/macros.hpp>
#endif

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t error, const std::string& what)
      : std::runtime_error(what + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")"),
        code(error) {}
  cudaError_t code;
};

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw cuda_error(error, what);
}

/// Device memory for `size` values of T, from cudaMalloc. Copies share the memory.
template <class T>
class device_array {
 public:
  device_array() = default;
  explicit device_array(std::size_t size) : size_(size) {
    void* memory = nullptr;
    const std::size_t bytes = size * sizeof(T);
    check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
    memory_ = std::shared_ptr<void>(memory, [](void* p) { static_cast<void>(cudaFree(p)); });
  }
  /// Values in memory that `owner` keeps alive.
  device_array(const std::shared_ptr<void>& owner, void* memory, std::size_t size)
      : memory_(owner, memory), size_(size) {}

  T* data() const { return static_cast<T*>(memory_.get()); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  void fill_bytes(int value, cudaStream_t stream) const {
    check(cudaMemsetAsync(data(), value, bytes(), stream), "cudaMemsetAsync");
  }
  void upload(const std::vector<T>& values, cudaStream_t stream) const {
    check(cudaMemcpyAsync(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream), "upload");
    check(cudaStreamSynchronize(stream), "upload");
  }
  T value_at(std::size_t index) const {
    T value;
    check(cudaMemcpy(&value, data() + index, sizeof(T), cudaMemcpyDeviceToHost), "download");
    return value;
  }

 private:
  std::shared_ptr<void> memory_;
  std::size_t size_ = 0;
};

/// Milliseconds of device time between two points of a stream.
class stopwatch {
 public:
  stopwatch() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~stopwatch() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

  void start(cudaStream_t stream) { check(cudaEventRecord(begin_, stream), "cudaEventRecord"); }
  double stop(cudaStream_t stream) {
    check(cudaEventRecord(end_, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace bench

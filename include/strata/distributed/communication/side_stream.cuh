// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A stream beside the caller's stream. It has the highest priority, so its blocks start before those of the caller.
class side_stream {
 public:
  side_stream() = default;
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;
  /// Destroys the stream and the event. CUDA keeps both until their work is done.
  ~side_stream() {
    if (event_ != nullptr) cudaEventDestroy(event_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  void make() {
    constexpr int highest = -100;  // CUDA clamps this to the highest priority that there is
    if (is_made()) return;
    if (cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest) != cudaSuccess) stream_ = nullptr;
    if (cudaEventCreateWithFlags(&event_, cudaEventDisableTiming) != cudaSuccess) event_ = nullptr;
  }
  /// False if CUDA could not make the stream. Then all work goes into the caller's stream.
  bool is_made() const { return stream_ != nullptr && event_ != nullptr; }
  cudaStream_t get() const { return stream_; }

  /// Makes this stream wait for the present work of `stream`.
  cudaError_t fork(cudaStream_t stream) const { return wait(stream_, stream); }
  /// Makes `stream` wait for the present work of this stream.
  cudaError_t join(cudaStream_t stream) const { return wait(stream, stream_); }

 private:
  cudaError_t wait(cudaStream_t waiting, cudaStream_t stream) const {
    const cudaError_t status = cudaEventRecord(event_, stream);
    return status != cudaSuccess ? status : cudaStreamWaitEvent(waiting, event_, 0);
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END

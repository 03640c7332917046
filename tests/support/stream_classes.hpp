// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stream classes with the constructors and conversions that such classes have in well-known libraries.
#pragma once

#include <strata/core/platform.cuh>

#include <cstddef>

namespace strata_test {

/// Like rmm::cuda_stream_view, it converts to a stream.
class stream_view {
 public:
  constexpr stream_view() = default;
  constexpr stream_view(cudaStream_t stream) noexcept : stream_(stream) {}
  stream_view(int) = delete;
  stream_view(std::nullptr_t) = delete;
  constexpr cudaStream_t value() const noexcept { return stream_; }
  constexpr operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Like c10::cuda::CUDAStream, it converts to a stream, and to a class that names its device.
class pool_stream {
 public:
  struct id {
    long long value;
  };

  explicit pool_stream(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  operator cudaStream_t() const { return stream(); }
  operator id() const { return {7}; }

 private:
  cudaStream_t stream_;
};

/// Like cuda::stream_ref, it does not convert to a stream.
class stream_ref {
 public:
  using value_type = cudaStream_t;

  stream_ref() = default;
  constexpr stream_ref(value_type stream) noexcept : stream_(stream) {}
  stream_ref(int) = delete;
  stream_ref(std::nullptr_t) = delete;
  [[nodiscard]] constexpr value_type get() const noexcept { return stream_; }

 protected:
  cudaStream_t stream_{nullptr};
};

}  // namespace strata_test

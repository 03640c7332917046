// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of wc. Compiled by nvcc for the GPU and by the host compiler for the host SIMT
// back end; both objects are linked into one program.

#include "back_end.hpp"

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>

// The two objects have functions of the same names that call different runtimes.
#if STRATA_HOST_SIMT
namespace wc::on_host {
#else
namespace wc::on_gpu {
#endif

static void check(const char* function, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

struct free_device {
  void operator()(void* pointer) const { static_cast<void>(cudaFree(pointer)); }
};
template <class T>
using device_array = std::unique_ptr<T[], free_device>;

template <class T>
device_array<T> allocate_device(std::size_t count) {
  void* pointer = nullptr;
  check("cudaMalloc", cudaMalloc(&pointer, count * sizeof(T)));
  return device_array<T>(static_cast<T*>(pointer));
}

struct free_pinned {
  void operator()(void* pointer) const { static_cast<void>(cudaFreeHost(pointer)); }
};
using pinned_text = std::unique_ptr<char[], free_pinned>;

static pinned_text allocate_pinned(std::size_t bytes) {
  void* pointer = nullptr;
  check("cudaMallocHost", cudaMallocHost(&pointer, bytes));
  return pinned_text(static_cast<char*>(pointer));
}

template <class T>
T download(const device_array<T>& from, std::size_t index = 0) {
  T value;
  check("cudaMemcpy", cudaMemcpy(&value, from.get() + index, sizeof(T), cudaMemcpyDeviceToHost));
  return value;
}

/// The summary of 16 bytes, which come in one load.
struct summarize_piece {
  word_rule rule;

  STRATA_D text_summary operator()(const uint4& piece) const {
    const unsigned words[] = {piece.x, piece.y, piece.z, piece.w};
    text_summary summary;
    STRATA_UNROLL
    for (int i = 0; i < 16; ++i) {
      summary.append(static_cast<unsigned char>(words[i / 4] >> (8 * (i % 4))), rule);
    }
    return summary;
  }
};
constexpr std::size_t piece_bytes = sizeof(uint4);

/// Functions of a byte's position as input of an algorithm: position i is read as f(i).
template <class Function>
struct positions {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = long long;
  using difference_type = std::ptrdiff_t;
  using pointer = const long long*;
  using reference = long long;

  Function function;
  long long first = 0;

  STRATA_HD long long operator[](std::ptrdiff_t i) const { return function(first + i); }
  STRATA_HD long long operator*() const { return function(first); }
  STRATA_HD positions operator+(std::ptrdiff_t n) const { return {function, first + n}; }
};

/// i, if a newline stands there, else -1.
struct newline_position {
  const char* text;

  STRATA_HD long long operator()(long long i) const { return text[i] == '\n' ? i : -1; }
};

/// For the newlines, and the end of the text, the length of the line that ends there, else -1.
struct line_length {
  // A thread that looks for the beginning of its line walks back over the bytes of one row, then
  // over whole rows: even if the line is the whole text it does not walk far.
  static constexpr long long row_bytes = 4096;

  const char* text;
  const long long* last_newline_of_row;
  long long bytes;
  long long carried;

  STRATA_HD long long operator()(long long i) const {
    if (i < bytes && text[i] != '\n') return -1;
    long long row = i / row_bytes;
    for (long long before = i - 1; before >= row * row_bytes; --before) {
      if (text[before] == '\n') return i - before - 1;
    }
    while (--row >= 0) {
      if (last_newline_of_row[row] >= 0) return i - last_newline_of_row[row] - 1;
    }
    return i + carried;
  }
};

class cuda_back_end final : public back_end {
 public:
  cuda_back_end(std::string name, std::size_t chunk_bytes, word_rule rule)
      : name_(std::move(name)),
        chunk_bytes_(chunk_bytes),
        rule_(rule),
        chunk_(allocate_pinned(chunk_bytes)),
        text_(allocate_device<uint4>(pieces(chunk_bytes) + 1)),
        summary_(allocate_device<text_summary>(1)),
        last_newline_of_row_(allocate_device<long long>(whole_rows(chunk_bytes) + 1)),
        longest_(allocate_device<long long>(2)) {
    // No call below needs more temporary storage than it does for the largest chunk.
    std::size_t needed = 0;
    check("DeviceReduce::TransformReduce", reduce_pieces(nullptr, needed, chunk_bytes));
    temp_bytes_ = needed;
    check("DeviceSegmentedReduce::Max", find_last_newlines(nullptr, needed, chunk_bytes));
    temp_bytes_ = std::max(temp_bytes_, needed);
    check("DeviceReduce::ArgMax", find_longest_line(nullptr, needed, chunk_bytes, 0));
    temp_bytes_ = std::max(temp_bytes_, needed);
    temp_ = allocate_device<unsigned char>(temp_bytes_);
  }

  std::string name() const override { return name_; }
  char* chunk() override { return chunk_.get(); }
  std::size_t chunk_bytes() const override { return chunk_bytes_; }

  void upload(std::size_t bytes) override {
    check("cudaMemcpy", cudaMemcpy(text_.get(), chunk_.get(), bytes, cudaMemcpyHostToDevice));
  }

  text_summary summarize(std::size_t bytes) override {
    check("DeviceReduce::TransformReduce", reduce_pieces(temp_.get(), temp_bytes_, bytes));
    text_summary summary = download(summary_);
    for (std::size_t i = pieces(bytes) * piece_bytes; i < bytes; ++i) {
      summary.append(static_cast<unsigned char>(chunk_[i]), rule_);
    }
    return summary;
  }

  line_end longest_line(std::size_t bytes, long long carried) override {
    check("DeviceSegmentedReduce::Max", find_last_newlines(temp_.get(), temp_bytes_, bytes));
    check("DeviceReduce::ArgMax", find_longest_line(temp_.get(), temp_bytes_, bytes, carried));
    return {download(longest_, 1), download(longest_, 0)};
  }

 private:
  static std::size_t pieces(std::size_t bytes) { return bytes / piece_bytes; }
  static std::size_t whole_rows(std::size_t bytes) { return bytes / line_length::row_bytes; }

  const char* text() const { return reinterpret_cast<const char*>(text_.get()); }

  // The calls of the library, each made with a null pointer once, to learn `temp_bytes`.

  cudaError_t reduce_pieces(void* temp, std::size_t& temp_bytes, std::size_t bytes) const {
    return strata::DeviceReduce::TransformReduce(temp, temp_bytes, text_.get(), summary_.get(),
                                                 pieces(bytes), concatenate{},
                                                 summarize_piece{rule_}, text_summary{});
  }

  cudaError_t find_last_newlines(void* temp, std::size_t& temp_bytes, std::size_t bytes) const {
    return strata::DeviceSegmentedReduce::Max(
        temp, temp_bytes, positions<newline_position>{{text()}}, last_newline_of_row_.get(),
        static_cast<long long>(whole_rows(bytes)), static_cast<int>(line_length::row_bytes));
  }

  cudaError_t find_longest_line(void* temp, std::size_t& temp_bytes, std::size_t bytes,
                                long long carried) const {
    const line_length length{text(), last_newline_of_row_.get(), static_cast<long long>(bytes),
                             carried};
    return strata::DeviceReduce::ArgMax(temp, temp_bytes, positions<line_length>{length},
                                        longest_.get(), longest_.get() + 1,
                                        static_cast<long long>(bytes) + 1);
  }

  std::string name_;
  std::size_t chunk_bytes_;
  word_rule rule_;
  pinned_text chunk_;
  device_array<uint4> text_;
  device_array<text_summary> summary_;
  device_array<long long> last_newline_of_row_;
  device_array<long long> longest_;  // its length, its end
  device_array<unsigned char> temp_;
  std::size_t temp_bytes_ = 0;
};

}  // namespace wc::on_host or on_gpu

namespace wc {

#if STRATA_HOST_SIMT
std::unique_ptr<back_end> make_host_back_end(std::size_t chunk_bytes, word_rule rule) {
  return std::make_unique<on_host::cuda_back_end>("the host SIMT back end", chunk_bytes, rule);
}
#else
std::unique_ptr<back_end> make_gpu_back_end(std::size_t chunk_bytes, word_rule rule) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    throw no_device(std::string("cudaGetDeviceCount: ") + cudaGetErrorString(status));
  }
  int device = 0;
  cudaDeviceProp properties;
  on_gpu::check("cudaGetDevice", cudaGetDevice(&device));
  on_gpu::check("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
  return std::make_unique<on_gpu::cuda_back_end>(properties.name, chunk_bytes, rule);
}
#endif

}  // namespace wc

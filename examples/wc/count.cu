// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of wc.

#include "../common/device.cuh"
#include "back_end.hpp"

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wc::STRATA_EXAMPLE_BACK_END {

using example::check;
using example::computed;
using example::device_array;

struct free_pinned {
  void operator()(void* pointer) const { static_cast<void>(cudaFreeHost(pointer)); }
};
using pinned_text = std::unique_ptr<char[], free_pinned>;

static pinned_text allocate_pinned(std::size_t bytes) {
  void* pointer = nullptr;
  check("cudaMallocHost", cudaMallocHost(&pointer, bytes));
  return pinned_text(static_cast<char*>(pointer));
}

/// Summarises 16 bytes, which one load reads.
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

/// Returns i if there is a newline at i, otherwise -1.
struct newline_position {
  const char* text;

  STRATA_HD long long operator()(long long i) const { return text[i] == '\n' ? i : -1; }
};

/// Returns the length of the line that ends at a newline or at the end of the text, otherwise -1.
struct line_length {
  // A thread that looks for the begin of its line walks back over the bytes of one row, then over whole rows. So it
  // does not walk far, even if the line is the whole text.
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
  cuda_back_end(std::string device, std::size_t chunk_bytes, word_rule rule)
      : device_(std::move(device)),
        chunk_bytes_(chunk_bytes),
        rule_(rule),
        chunk_(allocate_pinned(chunk_bytes)),
        text_(pieces(chunk_bytes) + 1),
        last_newline_of_row_(whole_rows(chunk_bytes) + 1) {
    // The calls below need most temporary storage for the largest chunk.
    std::size_t needed = 0;
    check("DeviceReduce::TransformReduce", reduce_pieces(nullptr, needed, chunk_bytes));
    temp_bytes_ = needed;
    check("DeviceSegmentedReduce::Max", find_last_newlines(nullptr, needed, chunk_bytes));
    temp_bytes_ = std::max(temp_bytes_, needed);
    check("DeviceReduce::ArgMax", find_longest_line(nullptr, needed, chunk_bytes, 0));
    temp_bytes_ = std::max(temp_bytes_, needed);
    temp_ = device_array<unsigned char>(temp_bytes_);
  }

  std::string device() const override { return device_; }
  char* chunk() override { return chunk_.get(); }
  std::size_t chunk_bytes() const override { return chunk_bytes_; }

  void upload(std::size_t bytes) override {
    check("cudaMemcpy", cudaMemcpy(text_.get(), chunk_.get(), bytes, cudaMemcpyHostToDevice));
  }

  text_summary summarize(std::size_t bytes) override {
    check("DeviceReduce::TransformReduce", reduce_pieces(temp_.get(), temp_bytes_, bytes));
    text_summary summary = summary_.download()[0];
    for (std::size_t i = pieces(bytes) * piece_bytes; i < bytes; ++i) {
      summary.append(static_cast<unsigned char>(chunk_[i]), rule_);
    }
    return summary;
  }

  line_end longest_line(std::size_t bytes, long long carried) override {
    check("DeviceSegmentedReduce::Max", find_last_newlines(temp_.get(), temp_bytes_, bytes));
    check("DeviceReduce::ArgMax", find_longest_line(temp_.get(), temp_bytes_, bytes, carried));
    const std::vector<long long> longest = longest_.download();
    return {longest[1], longest[0]};
  }

 private:
  static std::size_t pieces(std::size_t bytes) { return bytes / piece_bytes; }
  static std::size_t whole_rows(std::size_t bytes) { return bytes / line_length::row_bytes; }

  const char* text() const { return reinterpret_cast<const char*>(text_.get()); }

  // These are the calls of the library. Each is made once with a null pointer, to learn `temp_bytes`.

  cudaError_t reduce_pieces(void* temp, std::size_t& temp_bytes, std::size_t bytes) const {
    return strata::DeviceReduce::TransformReduce(temp, temp_bytes, text_.get(), summary_.get(), pieces(bytes),
                                                 concatenate{}, summarize_piece{rule_}, text_summary{});
  }

  cudaError_t find_last_newlines(void* temp, std::size_t& temp_bytes, std::size_t bytes) const {
    return strata::DeviceSegmentedReduce::Max(temp, temp_bytes, computed<newline_position>{{text()}},
                                              last_newline_of_row_.get(), static_cast<long long>(whole_rows(bytes)),
                                              static_cast<int>(line_length::row_bytes));
  }

  cudaError_t find_longest_line(void* temp, std::size_t& temp_bytes, std::size_t bytes, long long carried) const {
    const line_length length{text(), last_newline_of_row_.get(), static_cast<long long>(bytes), carried};
    return strata::DeviceReduce::ArgMax(temp, temp_bytes, computed<line_length>{length}, longest_.get(),
                                        longest_.get() + 1, static_cast<long long>(bytes) + 1);
  }

  std::string device_;
  std::size_t chunk_bytes_;
  word_rule rule_;
  pinned_text chunk_;
  device_array<uint4> text_;
  device_array<text_summary> summary_{1};
  device_array<long long> last_newline_of_row_;
  device_array<long long> longest_{2};  // its length, its end
  device_array<unsigned char> temp_{0};
  std::size_t temp_bytes_ = 0;
};

std::unique_ptr<back_end> make_back_end(std::size_t chunk_bytes, word_rule rule) {
  return std::make_unique<cuda_back_end>(example::open_device(), chunk_bytes, rule);
}

}  // namespace wc::STRATA_EXAMPLE_BACK_END

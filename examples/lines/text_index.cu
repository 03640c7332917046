// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of lines. Compiled by nvcc for the GPU and by the host compiler for the host SIMT
// back end; both objects are linked into one program.

#include "text_index.hpp"

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The two objects have functions of the same names that call different runtimes.
#if STRATA_HOST_SIMT
namespace lines::on_host {
#else
namespace lines::on_gpu {
#endif

// ------------------------------------------------------------------ device memory and calls

static void check(const char* function, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

template <class T>
class device_array {
 public:
  explicit device_array(long long size) : size_(size) {
    void* pointer = nullptr;
    check("cudaMalloc", cudaMalloc(&pointer, bytes()));
    items_.reset(static_cast<T*>(pointer));
  }
  T* get() const { return items_.get(); }
  long long size() const { return size_; }

  void upload(const T* items) const {
    check("cudaMemcpy", cudaMemcpy(get(), items, bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> items(static_cast<std::size_t>(size_));
    check("cudaMemcpy", cudaMemcpy(items.data(), get(), bytes(), cudaMemcpyDeviceToHost));
    return items;
  }

 private:
  struct free_device {
    void operator()(T* pointer) const { static_cast<void>(cudaFree(pointer)); }
  };
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  long long size_;
  std::unique_ptr<T[], free_device> items_;
};

/// Makes a call of the library twice: to learn how much temporary storage it needs, and with it.
template <class Call>
void run(const char* function, Call call) {
  std::size_t temp_bytes = 0;
  check(function, call(nullptr, temp_bytes));
  const device_array<unsigned char> temp(static_cast<long long>(temp_bytes));
  check(function, call(temp.get(), temp_bytes));
}

/// Input of an algorithm that is stored nowhere: item i is function(i).
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

// ------------------------------------------------------------------ what is computed and selected

struct itself {
  STRATA_HD long long operator()(long long i) const { return i; }
};
using positions = computed<itself>;

struct text_view {
  const char* bytes;
  long long size;

  /// Before and after the text there is nothing, which is no word.
  STRATA_HD bool is_word(long long i) const {
    return i >= 0 && i < size && bytes[i] != ' ' && (bytes[i] < '\t' || bytes[i] > '\r');
  }
};

/// The end of the text counts as a beginning, so that a line ends where the next one begins.
struct begins_line {
  text_view text;
  STRATA_HD bool operator()(long long i) const {
    return i == 0 || i == text.size || text.bytes[i - 1] == '\n';
  }
};

struct begins_word {
  text_view text;
  STRATA_HD bool operator()(long long i) const { return text.is_word(i) && !text.is_word(i - 1); }
};

/// In order these positions are begin, end, begin, end, ...
struct bounds_word {
  text_view text;
  STRATA_HD bool operator()(long long i) const { return text.is_word(i) != text.is_word(i - 1); }
};

struct word_between {
  const long long* bounds;
  STRATA_HD word operator()(long long i) const {
    return {bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]};
  }
};

struct length_of {
  STRATA_HD long long operator()(const word& counted) const { return counted.length; }
};

struct is_as_long {
  long long length;
  STRATA_HD bool operator()(const word& candidate) const { return candidate.length >= length; }
};

// ------------------------------------------------------------------ the index

/// What the items are transformed to, all together; 0 is what there is without any.
template <class Items, class Operator, class Transform>
long long reduce(Items items, long long size, Operator op, Transform transform) {
  const device_array<long long> result(1);
  run("DeviceReduce::TransformReduce", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceReduce::TransformReduce(temp, temp_bytes, items, result.get(), size, op,
                                                 transform, 0LL);
  });
  return result.download()[0];
}

template <class Items, class Predicate>
long long count_if(Items items, long long size, Predicate is_wanted) {
  return reduce(items, size, strata::Sum{}, is_wanted);
}

/// Counts first, so that the result has room for what is selected and for nothing else.
template <class Items, class Predicate>
device_array<typename Items::value_type> select_if(Items items, long long size,
                                                   Predicate is_wanted) {
  device_array<typename Items::value_type> selected(count_if(items, size, is_wanted));
  if (selected.size() == 0) return selected;
  const device_array<long long> count(1);
  run("DeviceSelect::If", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceSelect::If(temp, temp_bytes, items, selected.get(), count.get(), size,
                                    is_wanted);
  });
  return selected;
}

class cuda_text_index final : public text_index {
 public:
  cuda_text_index(std::string device, const std::string& text)
      : device_(std::move(device)), bytes_(static_cast<long long>(text.size())) {
    bytes_.upload(text.data());
  }

  std::string device() const override { return device_; }

  std::vector<long long> line_offsets() const override {
    std::vector<long long> offsets = line_bounds().download();
    offsets.pop_back();
    return offsets;
  }

  std::vector<long long> words_of_lines() const override { return count_words().download(); }

  std::vector<long long> running_totals() const override {
    const device_array<long long> words = count_words();
    run("DeviceScan::InclusiveSum", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceScan::InclusiveSum(temp, temp_bytes, words.get(), words.size());
    });
    return words.download();
  }

  std::vector<word> longest_words(long long wanted) const override {
    const device_array<long long> bounds =
        select_if(positions{}, bytes_.size() + 1, bounds_word{text()});
    const computed<word_between> all_words{{bounds.get()}};
    const long long size = bounds.size() / 2;

    // A word that is shorter than `wanted` others is none of the longest. What is left is little,
    // unless many words are equally long.
    long long length = 1;
    long long too_long = reduce(all_words, size, strata::Max{}, length_of{}) + 1;
    while (length + 1 < too_long) {
      const long long middle = length + (too_long - length) / 2;
      if (count_if(all_words, size, is_as_long{middle}) >= wanted) {
        length = middle;
      } else {
        too_long = middle;
      }
    }
    std::vector<word> longest = select_if(all_words, size, is_as_long{length}).download();
    std::stable_sort(longest.begin(), longest.end(),
                     [](const word& a, const word& b) { return a.length > b.length; });
    if (static_cast<long long>(longest.size()) > wanted) {
      longest.resize(static_cast<std::size_t>(wanted));
    }
    return longest;
  }

 private:
  text_view text() const { return {bytes_.get(), bytes_.size()}; }

  /// Where the lines begin, and where the last one ends.
  device_array<long long> line_bounds() const {
    return select_if(positions{}, bytes_.size() + 1, begins_line{text()});
  }

  /// Per line. A line is a segment of the text, in which beginnings of words are added up.
  device_array<long long> count_words() const {
    const device_array<long long> bounds = line_bounds();
    device_array<long long> words(bounds.size() - 1);
    run("DeviceSegmentedReduce::Sum", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceSegmentedReduce::Sum(temp, temp_bytes,
                                                computed<begins_word>{{text()}}, words.get(),
                                                words.size(), bounds.get(), bounds.get() + 1);
    });
    return words;
  }

  std::string device_;
  device_array<char> bytes_;
};

}  // namespace lines::on_host or on_gpu

namespace lines {

#if STRATA_HOST_SIMT
std::unique_ptr<text_index> index_on_host(const std::string& text) {
  return std::make_unique<on_host::cuda_text_index>("the host SIMT back end", text);
}
#else
std::unique_ptr<text_index> index_on_gpu(const std::string& text) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    throw no_device(std::string("cudaGetDeviceCount: ") + cudaGetErrorString(status));
  }
  int device = 0;
  cudaDeviceProp properties;
  on_gpu::check("cudaGetDevice", cudaGetDevice(&device));
  on_gpu::check("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
  return std::make_unique<on_gpu::cuda_text_index>(properties.name, text);
}
#endif

}  // namespace lines

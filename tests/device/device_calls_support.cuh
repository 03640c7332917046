// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device calls as data: which arrays and counts a call has, and which arrays may overlap. A `scene` is memory in which
// the arrays of a call can be placed anywhere, also over each other.
#pragma once

#include <strata/core/types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace device_calls {

using namespace device_test;

constexpr std::int64_t segment_count = 8;
constexpr std::int64_t segment_items = 24;
constexpr std::int64_t item_count = segment_count * segment_items;

enum class role {
  input,
  output,
  result,    // written for empty inputs too
  in_place,  // read and written
  begins,    // where segments begin
  ends,
  pointers  // device pointers to buffers, which the host cannot read
};
/// Bytes of each buffer that an array of pointers points to.
constexpr std::size_t buffer_bytes = 64;

struct array {
  role is;
  std::size_t item_bytes;
  std::size_t count;
  /// Number of items that the host knows the call to use. It cannot check whether the items behind them overlap
  /// anything.
  std::size_t known_count;
  /// Inputs that may be the same array as this output.
  std::vector<int> may_be = {};
  /// Arrays that this output may overlap in any way.
  std::vector<int> may_overlap = {};
  /// Index of an input, or -1. For an overlap with this input, only the first items of input and output are checked.
  int first_items_with = -1;

  bool is_written() const { return is == role::output || is == role::result || is == role::in_place; }
  bool may_be_array(int which) const { return contains(may_be, which); }
  bool may_overlap_array(int which) const { return contains(may_overlap, which); }
  bool has_contents() const { return is != role::output && is != role::result; }
  std::size_t bytes() const { return item_bytes * count; }
  std::size_t known_bytes() const { return item_bytes * known_count; }
  std::size_t bytes_of_buffers() const { return is == role::pointers ? count * buffer_bytes : 0; }

 private:
  static bool contains(const std::vector<int>& all, int one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
};

/// The arguments of a call: its arrays in the order of its description, and its counts.
struct arguments {
  std::vector<unsigned char*> arrays;
  std::vector<std::int64_t> counts;
  /// The double buffers as the last call left them.
  mutable std::array<strata::DoubleBuffer<std::uint32_t>, 2> double_buffers = {};

  template <class T>
  T* get(std::size_t i) const {
    return reinterpret_cast<T*>(arrays[i]);
  }
  /// A new double buffer of arrays i and i + 1.
  strata::DoubleBuffer<std::uint32_t>& buffers(std::size_t i) const {
    return double_buffers[i / 2] = {get<std::uint32_t>(i), get<std::uint32_t>(i + 1)};
  }
};

/// The counts of a call, converted to `Count`.
template <class Count>
class counts_as {
 public:
  explicit counts_as(const arguments& a) {
    std::transform(a.counts.begin(), a.counts.end(), counts_, [](std::int64_t n) { return static_cast<Count>(n); });
  }
  Count& operator[](int i) { return counts_[i]; }

 private:
  Count counts_[4] = {};
};

class call_forms;

/// A call, and its source text.
struct written_call {
  std::string text;
  std::function<cudaError_t(void*, std::size_t&, const arguments&, cudaStream_t)> with_storage;
  /// The call on each class of streams. Only `all_forms` fills this.
  std::vector<std::shared_ptr<const call_forms>> forms = {};

  /// Returns "Class::Function".
  std::string function() const {
    const std::size_t begin = text.find_first_not_of('(');
    return text.substr(begin, text.find_first_of("<(", begin) - begin);
  }
  cudaError_t operator()(void* temp, std::size_t& bytes, const arguments& a, cudaStream_t on) const {
    return with_storage(temp, bytes, a, on);
  }
};

/// Makes calls that have only the form with storage, `form(arguments, storage...)(stream)`.
struct only_with_storage {
  template <class Form>
  static written_call make(const char* text, const Form& form) {
    return {text, [form](void* temp, std::size_t& bytes, const arguments& a, cudaStream_t on) {
              return form(a, temp, bytes)(on);
            }};
  }
};

struct device_call {
  std::vector<array> arrays;
  std::vector<std::int64_t> counts;
  written_call call;
  /// True if the order of the outputs may change from run to run. Then only arrays of the role `result` are compared.
  bool is_unordered = false;
  /// True if the call allocates memory when it gets no temporary storage.
  bool takes_memory = true;
};
inline std::ostream& operator<<(std::ostream& os, const device_call& c) { return os << c.call.text; }

inline device_call unordered(device_call call) {
  call.is_unordered = true;
  return call;
}
/// Marks a call that needs no temporary storage, and so allocates none.
inline device_call without_memory(device_call call) {
  call.takes_memory = false;
  return call;
}

/// The name of a test: the function, and the number of the call.
inline std::string test_name(const ::testing::TestParamInfo<device_call>& call) {
  std::string name = call.param.call.function();
  return name.replace(name.find("::"), 2, "_") + "_" + std::to_string(call.index);
}

/// Memory for the arrays of a call, each with room for the largest one before and behind it.
class scene {
 public:
  explicit scene(const device_call& call) : call_(call), memory_(size_of(call)) {}

  arguments of_call() const {
    arguments a;
    auto* next = static_cast<unsigned char*>(memory_.data());
    for (const array& each : call_.arrays) {
      a.arrays.push_back(next + room(call_));
      next += slot(call_, each);
    }
    a.counts = call_.counts;
    return a;
  }
  static arguments without_arrays(const device_call& call) {
    return {std::vector<unsigned char*>(call.arrays.size(), nullptr), call.counts};
  }

  /// Writes the contents of all inputs to where `a` says. Poisons the outputs and all other memory.
  void reset(const arguments& a) {
    auto* const begin = static_cast<unsigned char*>(memory_.data());
    const arguments home = of_call();
    std::vector<unsigned char> bytes(memory_.bytes(), strata_test::guarded_memory::poison);
    for (std::size_t i = 0; i < call_.arrays.size(); ++i) {
      const array& each = call_.arrays[i];
      if (!each.has_contents() || a.arrays[i] == nullptr) continue;
      unsigned char* const buffers = buffers_of(each, home.arrays[i]);
      const std::vector<unsigned char> contents = contents_of(each, i, buffers);
      std::copy(contents.begin(), contents.end(), bytes.begin() + (a.arrays[i] - begin));
      const std::vector<int> items = random_integers<int>(each.bytes_of_buffers() / 4, 0, 9, i);
      std::memcpy(bytes.data() + (buffers - begin), items.data(), each.bytes_of_buffers());
    }
    memory_.write(bytes.data());
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> bytes(memory_.bytes());
    memory_.read(bytes.data());
    return bytes;
  }
  /// Returns the contents of the buffers and of the arrays that the call writes.
  std::vector<unsigned char> written(const arguments& a) const {
    const std::vector<unsigned char> all = read();
    std::vector<unsigned char> bytes;
    for (std::size_t i = 0; i < call_.arrays.size(); ++i) {
      const array& each = call_.arrays[i];
      const bool has_buffers = each.is == role::pointers;
      if (!has_buffers && (!each.is_written() || (call_.is_unordered && each.is != role::result))) continue;
      unsigned char* const first = has_buffers ? buffers_of(each, a.arrays[i]) : a.arrays[i];
      const auto begin = all.begin() + (first - static_cast<unsigned char*>(memory_.data()));
      const std::size_t size = has_buffers ? each.bytes_of_buffers() : each.bytes();
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    return bytes;
  }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  static std::size_t room(const device_call& call) {
    std::size_t most = 0;
    for (const array& each : call.arrays) most = std::max(most, each.bytes());
    return aligned(most);
  }
  static std::size_t slot(const device_call& call, const array& each) {
    return 2 * room(call) + aligned(each.bytes()) + aligned(each.bytes_of_buffers());
  }
  /// The buffers of an array of pointers lie behind the room of this array.
  unsigned char* buffers_of(const array& each, unsigned char* pointers) const {
    return pointers + aligned(each.bytes()) + room(call_);
  }
  static std::size_t size_of(const device_call& call) {
    std::size_t bytes = 0;
    for (const array& each : call.arrays) bytes += slot(call, each);
    return bytes;
  }

  static std::vector<unsigned char> contents_of(const array& each, std::size_t stream, unsigned char* buffers) {
    std::vector<unsigned char> bytes(each.bytes());
    if (each.is == role::pointers) {
      std::vector<unsigned char*> pointers;
      for (std::size_t i = 0; i < each.count; ++i) pointers.push_back(buffers + i * buffer_bytes);
      std::memcpy(bytes.data(), pointers.data(), bytes.size());
    } else if (each.is == role::begins || each.is == role::ends) {
      std::vector<std::int64_t> offsets;
      for (std::size_t i = 0; i < each.count; ++i) {
        offsets.push_back(static_cast<std::int64_t>(i + (each.is == role::ends)) * segment_items);
      }
      std::memcpy(bytes.data(), offsets.data(), bytes.size());
    } else {
      const std::vector<int> items = random_integers<int>(bytes.size() / 4, 0, 9, stream);
      std::memcpy(bytes.data(), items.data(), bytes.size());
    }
    return bytes;
  }

  const device_call& call_;
  strata_test::guarded_memory memory_;
};

}  // namespace device_calls

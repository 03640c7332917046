// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All forms of a device function: with temporary storage, and without it on a stream, with a memory resource, and
// without either. A stream may be a class. meta/arguments.py looks whether a function is missing.
#pragma once

#include <strata/core/types.hpp>
#include <strata/device/engine/execution.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "device/device_operations.cuh"
#include "support/stream_classes.hpp"

namespace device_execution_test {

using namespace device_test;

using item = std::uint32_t;

/// A memory resource that notes what it is asked for.
struct resource {
  enum class trouble { none, out_of_memory, throws };

  void* allocate(std::size_t bytes, cudaStream_t stream) {
    ++allocations;
    allocated_bytes = bytes;
    on = stream;
    if (has == trouble::throws) throw std::runtime_error("out of memory");
    void* memory = nullptr;
    if (has == trouble::none) {
      EXPECT_CUDA_SUCCESS(cudaMallocAsync(&memory, bytes, stream));
    }
    last = memory;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, cudaStream_t stream) {
    ++deallocations;
    EXPECT_EQ(last, memory);
    EXPECT_EQ(allocated_bytes, bytes);
    EXPECT_EQ(on, stream);
    EXPECT_CUDA_SUCCESS(cudaFreeAsync(memory, stream));
  }

  trouble has = trouble::none;
  int allocations = 0, deallocations = 0;
  std::size_t allocated_bytes = 0;
  void* last = nullptr;
  cudaStream_t on = nullptr;
};

constexpr int num_items = 700;
constexpr int num_segments = 7;
constexpr int segment_size = 100;

/// What the functions read and write, of which each uses some.
class arrays {
 public:
  arrays()
      : keys(num_items),
        values(num_items),
        keys_out(num_items),
        values_out(num_items),
        count(2),
        begins(segment_begins()),
        ends(begins.data() + 1) {}

  void reset() {
    keys.assign(random_integers<item>(num_items, 0, 50));
    values.assign(random_integers<item>(num_items, 0, 1000, 1));
    keys_out.poison();
    values_out.poison();
    count.poison();
    key_buffers = strata::DoubleBuffer<item>(keys.data(), keys_out.data());
    value_buffers = strata::DoubleBuffer<item>(values.data(), values_out.data());
  }
  std::vector<std::uint64_t> result() const {
    std::vector<std::uint64_t> all;
    for (const auto* array : {&keys, &values, &keys_out, &values_out}) append(all, array->to_host());
    append(all, count.to_host());
    append(all, std::vector<int>{key_buffers.selector, value_buffers.selector});
    return all;
  }

 private:
  static std::vector<int> segment_begins() {
    std::vector<int> all;
    for (int segment = 0; segment <= num_segments; ++segment) all.push_back(segment * segment_size);
    return all;
  }

 public:
  device_vector<item> keys, values, keys_out, values_out;
  device_vector<std::int64_t> count;
  device_vector<int> begins;
  const int* ends;
  strata::DoubleBuffer<item> key_buffers, value_buffers;
};

/// One function in its forms, on streams of one class. Virtual functions, so that what compares the forms is compiled
/// once, and not for each function and each class of streams.
class call_forms {
 public:
  virtual cudaError_t with_storage(void* storage, std::size_t& bytes, cudaStream_t on) const = 0;
  virtual cudaError_t with_neither() const = 0;
  virtual cudaError_t without_storage(cudaStream_t on) const = 0;
  virtual cudaError_t in_execution(cudaStream_t on, resource& memory) const = 0;

 protected:
  ~call_forms() = default;
};

/// `form(storage...)(where...)` calls a function with these first and last arguments.
template <class Stream, class Form>
class forms_on final : public call_forms {
 public:
  explicit forms_on(const Form& form) : form_(form) {}
  cudaError_t with_storage(void* storage, std::size_t& bytes, cudaStream_t on) const override {
    return form_(storage, bytes)(Stream(on));
  }
  cudaError_t with_neither() const override { return form_()(); }
  cudaError_t without_storage(cudaStream_t on) const override { return form_()(Stream(on)); }
  cudaError_t in_execution(cudaStream_t on, resource& memory) const override {
    return form_()(strata::execution(Stream(on), memory));
  }

 private:
  const Form& form_;
};

/// A class that is a stream: with storage, without it, and in an execution. The graph that is recorded of what is done
/// on this stream has two more nodes without storage: one takes memory and one gives it back.
inline void expect_stream(const char* name, arrays& all, const call_forms& forms,
                          const std::vector<std::uint64_t>& expected, int allocations) {
  SCOPED_TRACE(name);
  const stream replay;
  std::size_t bytes = 0, nodes = 0;
  const auto expect_the_same = [&](const char* last_argument, const auto& call) {
    all.reset();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    graph recorded(call);
    ASSERT_CUDA_SUCCESS(recorded.status());
    ASSERT_NO_FATAL_FAILURE(recorded.replay(replay));
    replay.synchronize();
    EXPECT_EQ(expected, all.result()) << last_argument;
    nodes = recorded.nodes();
  };
  EXPECT_CUDA_SUCCESS(forms.with_storage(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  expect_the_same("with storage", [&](cudaStream_t on) { return forms.with_storage(storage.data(), bytes, on); });
  const std::size_t nodes_with_storage = nodes;
  expect_the_same("without storage", [&](cudaStream_t on) { return forms.without_storage(on); });
  EXPECT_EQ(nodes_with_storage + 2 * static_cast<std::size_t>(allocations), nodes);
  resource memory;
  expect_the_same("in an execution", [&](cudaStream_t on) { return forms.in_execution(on, memory); });
  EXPECT_EQ(nodes_with_storage + 2 * static_cast<std::size_t>(allocations), nodes);
  EXPECT_EQ(allocations, memory.deallocations);
}

/// On a stream, and with none of the last arguments. `expected` becomes what all forms write.
inline void expect_plain_forms(arrays& all, const call_forms& forms, std::vector<std::uint64_t>& expected,
                               int allocations) {
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  all.reset();
  const std::vector<std::uint64_t> before = all.result();
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return forms.with_storage(storage, bytes, where); }));
  expected = all.result();
  ASSERT_NE(before, expected);

  const auto expect_the_same = [&](const char* last_argument, const auto& call) {
    all.reset();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_CUDA_SUCCESS(in_one_phase(call));
    EXPECT_EQ(expected, all.result()) << last_argument;
  };
  expect_the_same("neither", [&] { return forms.with_neither(); });
  expect_the_same("a stream", [&] { return forms.without_storage(where); });
  resource memory;
  expect_the_same("an execution", [&] { return forms.in_execution(where, memory); });
  EXPECT_EQ(allocations, memory.allocations);
  EXPECT_EQ(allocations, memory.deallocations);
  if (allocations > 0) {
    EXPECT_EQ(where, memory.on);
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(forms.with_storage(nullptr, bytes, where));
    EXPECT_EQ(bytes, memory.allocated_bytes);
  }
}

/// `allocations`: how often a call without storage takes memory.
template <class Form>
void expect_all_forms_to_agree(const char* name, arrays& all, const Form& form, int allocations) {
  SCOPED_TRACE(name);
  std::vector<std::uint64_t> expected;
  ASSERT_NO_FATAL_FAILURE(expect_plain_forms(all, forms_on<cudaStream_t, Form>(form), expected, allocations));
  expect_stream("converts to a stream", all, forms_on<strata_test::stream_view, Form>(form), expected, allocations);
  expect_stream("converts to a stream and to something else", all, forms_on<strata_test::pool_stream, Form>(form),
                expected, allocations);
  expect_stream("returns a stream", all, forms_on<strata_test::stream_ref, Form>(form), expected, allocations);
}

#define EXPECT_FORMS(allocations, function, ...)                                                  \
  expect_all_forms_to_agree(                                                                      \
      #function "(" #__VA_ARGS__ ")", all,                                                        \
      [&](auto&&... storage) {                                                                    \
        return [&](const auto&... where) { return function(storage..., __VA_ARGS__, where...); }; \
      },                                                                                          \
      allocations)
#define EXPECT_ALL_FORMS(function, ...) EXPECT_FORMS(1, function, __VA_ARGS__)
/// Of functions that keep nothing in temporary storage.
#define EXPECT_ALL_FORMS_WITHOUT_MEMORY(function, ...) EXPECT_FORMS(0, function, __VA_ARGS__)

}  // namespace device_execution_test

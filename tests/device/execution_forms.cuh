// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All forms of each call of device_calls.cuh: with temporary storage, and without it on a stream, with a memory
// resource, and with neither. The stream may be a class, and an environment may hold the stream and the resource.
#pragma once

#include <strata/device/engine/execution.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "device/device_calls.cuh"
#include "support/environments.hpp"
#include "support/stream_classes.hpp"

namespace device_calls {

/// A memory resource that records what it is asked for.
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

/// One call in its forms, on streams of one class. The functions are virtual, so that the code that compares forms is
/// compiled once, and not for each call and each class of streams.
class call_forms {
 public:
  virtual ~call_forms() = default;
  virtual cudaError_t with_storage(void* storage, std::size_t& bytes, const arguments& a, cudaStream_t on) const = 0;
  virtual cudaError_t with_neither(const arguments& a) const = 0;
  virtual cudaError_t without_storage(const arguments& a, cudaStream_t on) const = 0;
  virtual cudaError_t in_execution(const arguments& a, cudaStream_t on, resource& memory) const = 0;
};

template <class Stream, class Form>
class forms_on final : public call_forms {
 public:
  explicit forms_on(const Form& form) : form_(form) {}
  cudaError_t with_storage(void* storage, std::size_t& bytes, const arguments& a, cudaStream_t on) const override {
    return form_(a, storage, bytes)(Stream(on));
  }
  cudaError_t with_neither(const arguments& a) const override { return form_(a)(); }
  cudaError_t without_storage(const arguments& a, cudaStream_t on) const override { return form_(a)(Stream(on)); }
  cudaError_t in_execution(const arguments& a, cudaStream_t on, resource& memory) const override {
    return form_(a)(strata::execution(Stream(on), memory));
  }

 private:
  Form form_;
};

/// Requirements that all calls meet.
inline auto requirements() {
  namespace ex = cuda::strata_test::execution;
  return ex::require(ex::determinism::not_guaranteed, ex::output_ordering::unsorted,
                     ex::tie_break::prefer_smaller_index);
}

/// The forms of a call in environments. One environment has no stream.
template <class Form>
class forms_in_environment final : public call_forms {
 public:
  explicit forms_in_environment(const Form& form) : form_(form) {}
  cudaError_t with_storage(void* storage, std::size_t& bytes, const arguments& a, cudaStream_t on) const override {
    return form_(a, storage, bytes)(cuda::strata_test::execution::env(requirements(), stream_of(on)));
  }
  cudaError_t with_neither(const arguments& a) const override { return form_(a)(requirements()); }
  cudaError_t without_storage(const arguments& a, cudaStream_t on) const override {
    return form_(a)(cuda::strata_test::execution::env(stream_of(on), requirements()));
  }
  cudaError_t in_execution(const arguments& a, cudaStream_t on, resource& memory) const override {
    const cuda::strata_test::resource_ref<resource> of_environment(memory);
    return form_(a)(cuda::strata_test::execution::env(of_environment, stream_of(on), requirements()));
  }

 private:
  static cuda::strata_test::stream_ref stream_of(cudaStream_t on) { return on; }

  Form form_;
};

/// Makes a call on cudaStream_t, on three classes of streams, and in environments. The first class converts to a
/// stream, the second one also to something else, and the third one has a function that returns a stream.
struct all_forms {
  template <class Form>
  static written_call make(const char* text, const Form& form) {
    written_call call = only_with_storage::make(text, form);
    call.forms = {std::make_shared<forms_on<cudaStream_t, Form>>(form),
                  std::make_shared<forms_on<strata_test::stream_view, Form>>(form),
                  std::make_shared<forms_on<strata_test::pool_stream, Form>>(form),
                  std::make_shared<forms_on<strata_test::stream_ref, Form>>(form),
                  std::make_shared<forms_in_environment<Form>>(form)};
    return call;
  }
};

inline bool writes_something(const device_call& call) {
  return std::any_of(call.arrays.begin(), call.arrays.end(),
                     [](const array& each) { return each.is_written() || each.is == role::pointers; });
}

class DeviceExecution : public ::testing::TestWithParam<device_call> {
 protected:
  static const device_call& c() { return GetParam(); }
  static int allocations() { return c().takes_memory ? 1 : 0; }

  void reset() {
    memory_.reset(a_);
    a_.double_buffers = {};
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  /// Returns what the call wrote, and which buffer of each double buffer is current.
  std::vector<unsigned char> result() const {
    std::vector<unsigned char> all = memory_.written(a_);
    for (const auto& each : a_.double_buffers) all.push_back(static_cast<unsigned char>(each.selector));
    return all;
  }

  scene memory_{c()};
  arguments a_ = memory_.of_call();
};

TEST_P(DeviceExecution, all_forms_on_a_stream_agree) {
  const call_forms& forms = *c().call.forms[0];
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  reset();
  const std::vector<unsigned char> before = result();
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return forms.with_storage(storage, bytes, a_, where); }));
  const std::vector<unsigned char> expected = result();
  if (writes_something(c())) {
    ASSERT_NE(before, expected);
  }
  const auto expect_the_same = [&](const char* last_argument, const auto& call) {
    reset();
    ASSERT_CUDA_SUCCESS(in_one_phase(call));
    EXPECT_EQ(expected, result()) << last_argument;
  };
  expect_the_same("neither", [&] { return forms.with_neither(a_); });
  expect_the_same("a stream", [&] { return forms.without_storage(a_, where); });
  resource memory;
  expect_the_same("an execution", [&] { return forms.in_execution(a_, where, memory); });
  EXPECT_EQ(allocations(), memory.allocations);
  EXPECT_EQ(allocations(), memory.deallocations);
  if (allocations() > 0) {
    EXPECT_EQ(where, memory.on);
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(forms.with_storage(nullptr, bytes, a_, where));
    EXPECT_EQ(bytes, memory.allocated_bytes);
  }
}

// Every class of streams works in the three forms of a call: with storage, without it, and in an execution. The
// captured graph of a call without storage has two more nodes: one allocates memory and one frees it.
TEST_P(DeviceExecution, streams_may_be_classes) {
  const stream replay;
  reset();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return c().call(storage, bytes, a_, static_cast<cudaStream_t>(replay));
  }));
  const std::vector<unsigned char> expected = result();
  for (std::size_t i = 1; i < c().call.forms.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "class " << i);
    const call_forms& forms = *c().call.forms[i];
    std::size_t bytes = 0, nodes = 0;
    const auto expect_the_same = [&](const char* last_argument, const auto& call) {
      reset();
      graph recorded(call);
      ASSERT_CUDA_SUCCESS(recorded.status());
      ASSERT_NO_FATAL_FAILURE(recorded.replay(replay));
      replay.synchronize();
      EXPECT_EQ(expected, result()) << last_argument;
      nodes = recorded.nodes();
    };
    EXPECT_CUDA_SUCCESS(forms.with_storage(nullptr, bytes, a_, nullptr));
    const scratch storage(bytes);
    expect_the_same("with storage", [&](cudaStream_t on) { return forms.with_storage(storage.data(), bytes, a_, on); });
    const std::size_t nodes_without = nodes + 2 * static_cast<std::size_t>(allocations());
    expect_the_same("without storage", [&](cudaStream_t on) { return forms.without_storage(a_, on); });
    EXPECT_EQ(nodes_without, nodes);
    resource memory;
    expect_the_same("in an execution", [&](cudaStream_t on) { return forms.in_execution(a_, on, memory); });
    EXPECT_EQ(nodes_without, nodes);
    EXPECT_EQ(allocations(), memory.deallocations);
  }
}

}  // namespace device_calls

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Environments of libcu++ as the last argument. The tests device_execution_* make every call in an environment.
//
// As in programs that include libcu++ first, the templates of environments are declared before strata's.
#include "support/environments.hpp"

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "device/device_call.cuh"

namespace device_environment {

using namespace device_test;
namespace cu = cuda::strata_test;
namespace ex = cuda::strata_test::execution;
using strata::DeviceReduce;
using strata::DeviceScan;
using strata::DeviceTopK;
using strata::detail::answers;
using strata::detail::environment_query;
using strata::detail::is_environment;
using strata::detail::is_exact;
using strata::detail::output_ordering;
using strata::detail::requirements_of;

/// A user's class of environments, which answers two queries of libcu++.
template <class Resource>
struct own_environment {
  cu::stream_ref query(cu::get_stream_t) const noexcept { return stream; }
  Resource query(const cu::mr::get_memory_resource_t&) const noexcept { return memory; }

  cu::stream_ref stream;
  Resource memory;
};

/// A resource that takes memory from the stream-ordered allocator, counts its calls, and fails if told to.
struct counting_memory {
  void* allocate(std::size_t bytes, cudaStream_t stream) {
    ++allocations;
    if (throws) throw std::runtime_error("out of memory");
    void* memory = nullptr;
    if (!is_empty) {
      EXPECT_CUDA_SUCCESS(cudaMallocAsync(&memory, bytes, stream));
    }
    on = stream;
    return memory;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t stream) {
    ++deallocations;
    EXPECT_EQ(on, stream);
    EXPECT_CUDA_SUCCESS(cudaFreeAsync(memory, stream));
  }

  bool throws = false, is_empty = false;
  int allocations = 0, deallocations = 0;
  cudaStream_t on = nullptr;
};

/// A resource with the interface that libcu++ had before version 3.1.
struct older_resource {
  void* allocate_async(std::size_t bytes, std::size_t /*alignment*/, cu::stream_ref stream) {
    return memory.allocate(bytes, stream.get());
  }
  void deallocate_async(void* storage, std::size_t bytes, std::size_t /*alignment*/, cu::stream_ref stream) {
    memory.deallocate(storage, bytes, stream.get());
  }

  counting_memory& memory;
};

using memory_ref = cu::resource_ref<counting_memory>;

struct other_tag {};
struct answers_another_query {
  int query(other_tag) const { return 1; }
  int query(int) const { return 1; }
};
struct other_number {};
static_assert(is_environment<ex::env<>> && is_environment<const ex::env<>&>);
static_assert(is_environment<ex::env<cu::stream_ref, ex::env<>>> && is_environment<ex::prop<other_tag, int>>);
static_assert(is_environment<own_environment<memory_ref>> && is_environment<memory_ref>);
// Both front ends of nvcc must agree on the answers, because kernels are chosen by them.
using stream_and_requirement = ex::env<cu::stream_ref, decltype(ex::require(ex::output_ordering::unsorted))>;
static_assert(answers<stream_and_requirement, environment_query::stream> &&
              !answers<stream_and_requirement, environment_query::memory>);
static_assert(requirements_of<stream_and_requirement>::order == output_ordering::unsorted);
static_assert(answers<ex::env<ex::env<>, memory_ref>, environment_query::memory>);
static_assert(!is_environment<answers_another_query> && !is_environment<int> && !is_environment<int*>);
static_assert(!is_environment<strata::CountingInputIterator<int>> && !is_environment<strata::Sum>);

// is_exact is true if the result does not depend on how operands are associated. Only then can a call promise the
// determinism gpu_to_gpu.
static_assert(is_exact<const int*, long long*&, int, cu::stream_ref>());
static_assert(is_exact<int*, strata::Max, unsigned char, std::size_t>());
static_assert(is_exact<float*, __half*, strata::Max, float, int>());
static_assert(is_exact<float*, double*, cu::minimum<>, float, int>() && is_exact<float*, int, cu::maximum<float>>());
static_assert(!is_exact<other_number*, other_number*, cu::minimum<>, int>());
static_assert(is_exact<std::nullptr_t, std::size_t&, int*, int*, long>() &&
              is_exact<void*&, std::size_t&, int*, int*>());
static_assert(is_exact<int*, std::plus<>, int>() && is_exact<long*, std::plus<long>, int>());
static_assert(is_exact<strata::CountingInputIterator<int>, int*, strata::Equality, strata::FutureCount<int>>());
static_assert(!is_exact<const float*, float*, int>() && !is_exact<const int*, float*, int>());
static_assert(!is_exact<int*, strata::Sum, float, int>() && !is_exact<int*, std::plus<float>, int>());
static_assert(!is_exact<float*, strata::Min, strata::Sum, double*, int, own_environment<int>*>());
static_assert(!is_exact<int*, std::minus<>, int>() && !is_exact<int*, other_tag, int>());

class DeviceEnvironment : public ::testing::Test {
 protected:
  void expect_sum(cudaError_t status) {
    ASSERT_CUDA_SUCCESS(status);
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(std::vector<int>{4950}, sum_.to_host());
    ASSERT_CUDA_SUCCESS(cudaMemset(sum_.data(), 0, sizeof(int)));
  }

  strata::CountingInputIterator<int> in_{0};
  device_vector<int> sum_{1};
  stream stream_;
  cudaStream_t on_ = static_cast<cudaStream_t>(stream_);
  counting_memory memory_;
};

TEST_F(DeviceEnvironment, may_be_empty_or_hold_one_thing) {
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, ex::env<>{}));
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, cu::stream_ref(on_)));
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, ex::prop{cu::get_stream_t{}, on_}));
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, ex::prop{other_tag{}, 5}));
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, ex::require(ex::determinism::gpu_to_gpu)));
  const memory_ref resource(memory_);
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, resource));
  EXPECT_EQ(1, memory_.deallocations);
  EXPECT_EQ(nullptr, memory_.on);
}

TEST_F(DeviceEnvironment, may_be_a_class_of_the_user) {
  const own_environment<memory_ref> where{on_, memory_ref(memory_)};
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, where));
  EXPECT_EQ(1, memory_.deallocations);
  EXPECT_EQ(on_, memory_.on);
}

TEST_F(DeviceEnvironment, the_first_one_that_answers_counts) {
  const stream other;
  const own_environment<memory_ref> last{cu::stream_ref(other), memory_ref(memory_)};
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, ex::env(ex::env<>{}, cu::stream_ref(on_), last)));
  EXPECT_EQ(1, memory_.deallocations);
  EXPECT_EQ(on_, memory_.on);
}

TEST_F(DeviceEnvironment, exceptions_of_its_memory_are_errors_as_with_cub) {
  const ex::env where{cu::stream_ref(on_), memory_ref(memory_)};
  memory_.throws = true;
  EXPECT_EQ(cudaErrorMemoryAllocation, DeviceReduce::Sum(in_, sum_.data(), 100, where));
  memory_.throws = false;
  memory_.is_empty = true;
  EXPECT_EQ(cudaErrorMemoryAllocation, DeviceReduce::Sum(in_, sum_.data(), 100, where));
  EXPECT_EQ(2, memory_.allocations);
  EXPECT_EQ(0, memory_.deallocations);
}

TEST_F(DeviceEnvironment, resources_of_libcudacxx_are_for_executions_too) {
  memory_ref resource(memory_);
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, strata::execution(on_, resource)));
  EXPECT_EQ(1, memory_.deallocations);
  older_resource older{memory_};
  expect_sum(DeviceReduce::Sum(in_, sum_.data(), 100, strata::execution(on_, older)));
  EXPECT_EQ(2, memory_.deallocations);
}

// DeviceTopK accepts the requirements that CUB demands for it. They do not change its result.
TEST_F(DeviceEnvironment, top_k_takes_requirements) {
  const device_vector<float> in(std::vector<float>{3, 9, 4, 9, 7, 1});
  device_vector<float> out(3);
  const auto unsorted = ex::require(ex::determinism::not_guaranteed, ex::output_ordering::unsorted);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceTopK::MaxKeys(storage, bytes, in.data(), out.data(), 6, 3, ex::env(cu::stream_ref(on_), unsorted));
  }));
  stream_.synchronize();
  EXPECT_EQ((std::vector<float>{9, 9, 7}), out.to_host());
  const auto sorted =
      ex::require(ex::determinism::gpu_to_gpu, ex::output_ordering::stable_sorted, ex::tie_break::prefer_smaller_index);
  ASSERT_CUDA_SUCCESS(DeviceTopK::MinKeysSorted(in.data(), out.data(), 6, 3, sorted));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ((std::vector<float>{1, 3, 4}), out.to_host());
}

}  // namespace device_environment

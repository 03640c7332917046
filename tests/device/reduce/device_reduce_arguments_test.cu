// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arguments of every function of DeviceReduce: storage, counts, pointers, earlier errors. device_arguments.cuh tests
// what all device calls have in common.
#include <strata/device/device_reduce.cuh>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

// Room for the output of any function: an int, an int and a 64-bit index, or a pair.
struct output {
  std::int32_t value;
  std::int32_t second;
  std::int64_t index;
};

struct plus_one {
  STRATA_HD int operator()(int x) const { return x + 1; }
};

struct function {
  std::string name;
  std::function<cudaError_t(void*, std::size_t&, const int*, output*, std::int64_t, cudaStream_t)> call;
  std::function<cudaError_t(const int*, output*, std::int64_t, cudaStream_t)> call_without_storage;
  std::int32_t if_empty;
  std::int32_t of_1_2_3;
};
std::ostream& operator<<(std::ostream& os, const function& f) { return os << f.name; }

int* value_of(output* out) { return out != nullptr ? &out->value : nullptr; }
std::int64_t* index_of(output* out) { return out != nullptr ? &out->index : nullptr; }

using pair = strata::KeyValuePair<std::int32_t, std::int32_t>;
pair* pair_of(output* out) { return reinterpret_cast<pair*>(out); }

// Makes both forms of a call: with the two storage arguments, and without.
template <class Call>
function make(const char* name, Call call, std::int32_t if_empty, std::int32_t of_1_2_3) {
  return {name,
          [call](void* storage, std::size_t& bytes, const int* in, output* out, std::int64_t n, cudaStream_t on) {
            return call(in, out, n, on, storage, bytes);
          },
          [call](const int* in, output* out, std::int64_t n, cudaStream_t on) { return call(in, out, n, on); },
          if_empty, of_1_2_3};
}

std::vector<function> functions() {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::lowest();
  constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  return {
      make(
          "Reduce",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::Reduce(storage..., in, value_of(out), n, strata::Sum{}, 40, on);
          },
          40, 46),
      make(
          "Sum",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::Sum(storage..., in, value_of(out), n, on);
          },
          0, 6),
      make(
          "Min",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::Min(storage..., in, value_of(out), n, on);
          },
          highest, 1),
      make(
          "Max",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::Max(storage..., in, value_of(out), n, on);
          },
          lowest, 3),
      make(
          "ArgMin",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::ArgMin(storage..., in, value_of(out), index_of(out), n, on);
          },
          highest, 1),
      make(
          "ArgMax",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::ArgMax(storage..., in, value_of(out), index_of(out), n, on);
          },
          lowest, 3),
      make(
          "TransformReduce",
          [](const int* in, output* out, std::int64_t n, cudaStream_t on, auto&&... storage) {
            return DeviceReduce::TransformReduce(storage..., in, value_of(out), n, strata::Sum{}, plus_one{}, 40, on);
          },
          40, 49),
  };
}

class DeviceReduceArguments : public ::testing::TestWithParam<function> {
 protected:
  std::size_t storage_bytes(std::int64_t n) const {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(GetParam().call(nullptr, bytes, nullptr, nullptr, n, nullptr));
    return bytes;
  }

  std::int32_t run(const int* in, std::int64_t n) const {
    return result_of<output>([&](output* out, void* storage, std::size_t& bytes) {
             return GetParam().call(storage, bytes, in, out, n, nullptr);
           })
        .value;
  }

  // Expects that a call is refused and launches nothing. `out` may be null.
  void expect_refused(void* storage, std::size_t bytes, const int* in, output* out, std::int64_t n) const {
    const graph recorded([&](cudaStream_t on) { return GetParam().call(storage, bytes, in, out, n, on); });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";

    std::size_t given = bytes;
    EXPECT_EQ(cudaErrorInvalidValue, GetParam().call(storage, given, in, out, n, nullptr));
    EXPECT_EQ(bytes, given);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
  }
};

INSTANTIATE_TEST_SUITE_P(all, DeviceReduceArguments, ::testing::ValuesIn(functions()),
                         [](const auto& instance) { return instance.param.name; });

const output untouched = {-77, -78, -79};
void expect_untouched(const device_vector<output>& out) {
  const output now = out.to_host()[0];
  EXPECT_EQ(untouched.value, now.value);
  EXPECT_EQ(untouched.second, now.second);
  EXPECT_EQ(untouched.index, now.index);
}

// ------------------------------------------------------------------ the size of temporary storage

TEST_P(DeviceReduceArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    const std::size_t bytes = storage_bytes(n);
    EXPECT_GE(bytes, before) << n;
    before = bytes;
  }
}

TEST_P(DeviceReduceArguments, refuses_storage_that_is_too_small) {
  const device_vector<int> in(std::vector<int>(50000, 1));
  device_vector<output> out(std::vector<output>(1, untouched));
  for (const std::int64_t n : {0, 1, 50000}) {
    const std::size_t needed = storage_bytes(n);
    for (const std::size_t bytes : sizes{needed - 1, needed / 2, std::size_t{1}, std::size_t{0}}) {
      const scratch storage(needed);
      const auto before = storage.read();
      expect_refused(storage.data(), bytes, in.data(), out.data(), n);
      expect_untouched(out);
      EXPECT_EQ(before, storage.read());
    }
  }
}

TEST_P(DeviceReduceArguments, storage_may_have_any_alignment_and_contents) {
  const int three[] = {1, 2, 3};
  std::vector<int> items(40000, 2);
  std::copy(three, three + 3, items.begin() + 39997);
  const device_vector<int> in(items);
  std::int32_t expected = run(in.data(), 40000);
  for (const std::size_t misalignment : sizes{1, 4, 8, 16, 128, 255}) {
    for (const contents garbage : all_contents) {
      device_vector<output> out(1);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) {
            return GetParam().call(storage, bytes, in.data(), out.data(), 40000, nullptr);
          },
          garbage, misalignment));
      EXPECT_EQ(expected, out.to_host()[0].value) << misalignment;
    }
  }
}

TEST_P(DeviceReduceArguments, storage_may_be_larger_than_needed) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<output> out(std::vector<output>(1, untouched));
  std::size_t bytes = storage_bytes(3) + 12345;
  const scratch storage(bytes);
  ASSERT_CUDA_SUCCESS(GetParam().call(storage.data(), bytes, in.data(), out.data(), 3, nullptr));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(GetParam().of_1_2_3, out.to_host()[0].value);
}

// ------------------------------------------------------------------ counts and pointers

TEST_P(DeviceReduceArguments, refuses_negative_counts) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<output> out(std::vector<output>(1, untouched));
  const scratch storage(storage_bytes(3));
  for (const std::int64_t n : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::lowest()}) {
    expect_refused(storage.data(), storage.bytes(), in.data(), out.data(), n);
    EXPECT_EQ(cudaErrorInvalidValue, GetParam().call_without_storage(in.data(), out.data(), n, nullptr));
    expect_untouched(out);
  }
}

TEST_P(DeviceReduceArguments, refuses_null_pointers) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<output> out(std::vector<output>(1, untouched));
  const scratch storage(storage_bytes(3));
  expect_refused(storage.data(), storage.bytes(), nullptr, out.data(), 3);
  expect_refused(storage.data(), storage.bytes(), in.data(), nullptr, 3);
  expect_refused(storage.data(), storage.bytes(), nullptr, nullptr, 3);
  expect_refused(storage.data(), storage.bytes(), in.data(), nullptr, 0);
  EXPECT_EQ(cudaErrorInvalidValue, GetParam().call_without_storage(nullptr, out.data(), 3, nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, GetParam().call_without_storage(in.data(), nullptr, 3, nullptr));
  expect_untouched(out);
}

TEST_P(DeviceReduceArguments, writes_the_initial_value_for_no_items) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  EXPECT_EQ(GetParam().if_empty, run(nullptr, 0));
  EXPECT_EQ(GetParam().if_empty, run(in.data(), 0));
  EXPECT_EQ(GetParam().of_1_2_3, run(in.data(), 3));
}

TEST_P(DeviceReduceArguments, overload_without_storage_does_the_same) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<output> out(std::vector<output>(1, untouched));
  const stream on;
  for (const cudaStream_t where : {cudaStream_t{nullptr}, static_cast<cudaStream_t>(on)}) {
    ASSERT_CUDA_SUCCESS(GetParam().call_without_storage(in.data(), out.data(), 3, where));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(GetParam().of_1_2_3, out.to_host()[0].value);
    ASSERT_CUDA_SUCCESS(GetParam().call_without_storage(nullptr, out.data(), 0, where));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(GetParam().if_empty, out.to_host()[0].value);
  }
}

// ------------------------------------------------------------------ errors of others

TEST_P(DeviceReduceArguments, an_older_error_is_neither_returned_nor_cleared) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<output> out(std::vector<output>(1, untouched));
  const scratch storage(storage_bytes(3));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaSetDevice(9999));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaPeekAtLastError());

  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(GetParam().call(nullptr, bytes, in.data(), out.data(), 3, nullptr));
  bytes = storage.bytes();
  EXPECT_CUDA_SUCCESS(GetParam().call(storage.data(), bytes, in.data(), out.data(), 3, nullptr));
  EXPECT_CUDA_SUCCESS(GetParam().call_without_storage(in.data(), out.data(), 3, nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, GetParam().call(storage.data(), bytes, in.data(), out.data(), -3, nullptr));

  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA_SUCCESS(cudaGetLastError());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(GetParam().of_1_2_3, out.to_host()[0].value);
}

// ------------------------------------------------------------------ one output of pairs

TEST(device_reduce_arguments, pairs_are_refused_a_null_output) {
  const device_vector<int> in(std::vector<int>{5, 2, 9});
  device_vector<output> out(std::vector<output>(1, untouched));
  const auto call = [&](output* to, int n, auto&&... storage) {
    return DeviceReduce::ArgMax(storage..., in.data(), pair_of(to), n);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, 3, nullptr, bytes));
  const scratch storage(bytes);
  EXPECT_EQ(cudaErrorInvalidValue, call(nullptr, 3, storage.data(), bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(out.data(), -3, storage.data(), bytes));
  expect_untouched(out);
  EXPECT_CUDA_SUCCESS(call(out.data(), 3, storage.data(), bytes));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(2, pair_of(out.to_host().data())->key);
  EXPECT_EQ(9, pair_of(out.to_host().data())->value);
}

}  // namespace

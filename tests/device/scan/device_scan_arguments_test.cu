// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arguments of every function of DeviceScan: storage, counts, pointers, earlier errors. device_arguments.cuh tests what
// all device calls have in common.
#include <strata/device/device_scan.cuh>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;

struct function {
  std::string name;
  std::function<cudaError_t(void*, std::size_t&, const int*, int*, std::int64_t, cudaStream_t)> call;
  std::vector<int> of_1_2_3;
};
std::ostream& operator<<(std::ostream& os, const function& f) { return os << f.name; }

std::vector<function> functions() {
  return {
      {"ExclusiveSum",
       [](void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t n, cudaStream_t on) {
         return DeviceScan::ExclusiveSum(storage, bytes, in, out, n, on);
       },
       {0, 1, 3}},
      {"InclusiveSum",
       [](void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t n, cudaStream_t on) {
         return DeviceScan::InclusiveSum(storage, bytes, in, out, n, on);
       },
       {1, 3, 6}},
      {"ExclusiveScan",
       [](void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t n, cudaStream_t on) {
         return DeviceScan::ExclusiveScan(storage, bytes, in, out, strata::Sum{}, 40, n, on);
       },
       {40, 41, 43}},
      {"InclusiveScan",
       [](void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t n, cudaStream_t on) {
         return DeviceScan::InclusiveScan(storage, bytes, in, out, strata::Max{}, n, on);
       },
       {1, 2, 3}},
      {"InclusiveScanInit",
       [](void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t n, cudaStream_t on) {
         return DeviceScan::InclusiveScanInit(storage, bytes, in, out, strata::Sum{}, 40, n, on);
       },
       {41, 43, 46}},
  };
}

constexpr int untouched = -77;

class DeviceScanArguments : public ::testing::TestWithParam<function> {
 protected:
  std::size_t storage_bytes(std::int64_t n) const {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(GetParam().call(nullptr, bytes, nullptr, nullptr, n, nullptr));
    return bytes;
  }

  // Expects that a call is refused and launches nothing. `out` may be null.
  void expect_refused(void* storage, std::size_t bytes, const int* in, int* out, std::int64_t n) const {
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

INSTANTIATE_TEST_SUITE_P(all, DeviceScanArguments, ::testing::ValuesIn(functions()),
                         [](const auto& instance) { return instance.param.name; });

// ------------------------------------------------------------------ the size of temporary storage

TEST_P(DeviceScanArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    const std::size_t bytes = storage_bytes(n);
    EXPECT_GE(bytes, before) << n;
    before = bytes;
  }
  EXPECT_LE(before, std::size_t{1} << 20) << "temporary storage does not grow with the input";
}

TEST_P(DeviceScanArguments, refuses_storage_that_is_too_small) {
  const device_vector<int> in(std::vector<int>(50000, 1));
  device_vector<int> out(50000);
  for (const std::int64_t n : {0, 1, 50000}) {
    const std::size_t needed = storage_bytes(n);
    for (const std::size_t bytes : sizes{needed - 1, needed / 2, std::size_t{1}, std::size_t{0}}) {
      const scratch storage(needed);
      const auto before = storage.read();
      expect_refused(storage.data(), bytes, in.data(), out.data(), n);
      EXPECT_TRUE(strata_test::is_poison(out.to_host()[0]));
      EXPECT_EQ(before, storage.read());
    }
  }
}

TEST_P(DeviceScanArguments, storage_may_have_any_alignment_and_contents) {
  const device_vector<int> in(random_integers<int>(40000, -9, 9));
  std::vector<int> expected;
  for (const std::size_t misalignment : sizes{0, 1, 4, 8, 16, 128, 255}) {
    for (const contents garbage : all_contents) {
      device_vector<int> out(40000);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) {
            return GetParam().call(storage, bytes, in.data(), out.data(), 40000, nullptr);
          },
          garbage, misalignment));
      if (expected.empty()) expected = out.to_host();
      EXPECT_SAME_ITEMS(expected, out.to_host());
    }
  }
}

TEST_P(DeviceScanArguments, storage_may_be_larger_than_needed) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<int> out(3);
  std::size_t bytes = storage_bytes(3) + 12345;
  const scratch storage(bytes);
  ASSERT_CUDA_SUCCESS(GetParam().call(storage.data(), bytes, in.data(), out.data(), 3, nullptr));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(GetParam().of_1_2_3, out.to_host());
}

// ------------------------------------------------------------------ counts and pointers

TEST_P(DeviceScanArguments, refuses_outputs_that_overlap_the_input_unless_they_are_the_input) {
  constexpr int n = 100;
  const std::vector<int> items(3 * n, 1);
  device_vector<int> data(items);
  const scratch storage(storage_bytes(n));
  int* const in = data.data() + n;
  for (const int shift : {-n + 1, -1, 1, n - 1}) {
    expect_refused(storage.data(), storage.bytes(), in, in + shift, n);
    EXPECT_EQ(items, data.to_host());
  }
  for (const int shift : {-n, 0, n}) {
    data.assign(items);
    std::size_t bytes = storage.bytes();
    EXPECT_CUDA_SUCCESS(GetParam().call(storage.data(), bytes, in, in + shift, n, nullptr));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    const std::vector<int> results = scan_results<int>(n, [&](int* out, auto&&... some) {
      const device_vector<int> ones(items);
      const cudaError_t status = GetParam().call(some..., ones.data(), out, n, nullptr);
      EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
      return status;
    });
    std::vector<int> expected = items;
    std::copy(results.begin(), results.end(), expected.begin() + n + shift);
    EXPECT_EQ(expected, data.to_host());
  }
}

TEST(device_scan_arguments, in_place_items_and_results_have_one_size) {
  device_vector<std::int64_t> data(std::vector<std::int64_t>(100, 1));
  const auto call = [&](auto* in, auto* out) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(DeviceScan::InclusiveSum(nullptr, bytes, in, out, 100));
    const scratch storage(bytes);
    return DeviceScan::InclusiveSum(storage.data(), bytes, in, out, 100);
  };
  auto* const halves = reinterpret_cast<int*>(data.data());
  EXPECT_EQ(cudaErrorInvalidValue, call(halves, data.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(data.data(), halves));
  EXPECT_EQ(std::vector<std::int64_t>(100, 1), data.to_host());
  EXPECT_CUDA_SUCCESS(call(data.data(), reinterpret_cast<std::uint64_t*>(data.data())));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(100, data.to_host().back());
}

TEST_P(DeviceScanArguments, no_items_need_no_pointers_and_launch_nothing) {
  const scratch storage(storage_bytes(0));
  const auto before = storage.read();
  std::size_t bytes = storage.bytes();
  const graph recorded(
      [&](cudaStream_t on) { return GetParam().call(storage.data(), bytes, nullptr, nullptr, 0, on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
  EXPECT_EQ(before, storage.read());
}

TEST_P(DeviceScanArguments, one_launch_at_every_size) {
  const device_vector<int> in(std::vector<int>(70000, 1));
  device_vector<int> out(70000);
  for (const std::int64_t n : {1, 1000, 70000}) {
    const scratch storage(storage_bytes(n));
    std::size_t bytes = storage.bytes();
    const graph recorded(
        [&](cudaStream_t on) { return GetParam().call(storage.data(), bytes, in.data(), out.data(), n, on); });
    EXPECT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes()) << n;
  }
  EXPECT_TRUE(strata_test::is_poison(out.to_host()[0])) << "recording executed the call";
}

// ------------------------------------------------------------------ errors of others

TEST_P(DeviceScanArguments, an_older_error_is_neither_returned_nor_cleared) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<int> out(std::vector<int>(3, untouched));
  const scratch storage(storage_bytes(3));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaSetDevice(9999));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaPeekAtLastError());

  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(GetParam().call(nullptr, bytes, in.data(), out.data(), 3, nullptr));
  bytes = storage.bytes();
  EXPECT_CUDA_SUCCESS(GetParam().call(storage.data(), bytes, in.data(), out.data(), 3, nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, GetParam().call(storage.data(), bytes, in.data(), out.data(), -3, nullptr));

  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA_SUCCESS(cudaGetLastError());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(GetParam().of_1_2_3, out.to_host());
}

// ------------------------------------------------------------------ forms of one function

TEST(device_scan_arguments, a_future_value_must_lie_somewhere) {
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<int> out(std::vector<int>(3, untouched));
  const strata::FutureValue<int> nowhere(nullptr);
  const auto call = [&](int n, void* storage, std::size_t& bytes) {
    return DeviceScan::ExclusiveScan(storage, bytes, in.data(), out.data(), strata::Sum{}, nowhere, n);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(3, nullptr, bytes));
  const scratch storage(bytes);
  EXPECT_EQ(cudaErrorInvalidValue, call(3, storage.data(), bytes));
  EXPECT_CUDA_SUCCESS(call(0, storage.data(), bytes));
  EXPECT_EQ(std::vector<int>(3, untouched), out.to_host());
}

TEST(device_scan_arguments, a_future_value_must_not_lie_where_results_go) {
  device_vector<int> data(std::vector<int>(10, 1));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, int* init) {
    return DeviceScan::ExclusiveScan(storage, bytes, data.data() + 1, strata::Sum{}, strata::FutureValue<int>(init), 8);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  EXPECT_EQ(cudaErrorInvalidValue, call(storage.data(), data.data() + 1));
  EXPECT_EQ(cudaErrorInvalidValue, call(storage.data(), data.data() + 8));
  EXPECT_EQ(std::vector<int>(10, 1), data.to_host());
  EXPECT_CUDA_SUCCESS(call(storage.data(), data.data()));
  EXPECT_CUDA_SUCCESS(call(storage.data(), data.data() + 9));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
}

template <class Count>
int last_sum(const int* in, Count count) {
  const std::vector<int> sums = scan_results<int>(static_cast<std::size_t>(count), [&](int* out, auto&&... storage) {
    return DeviceScan::InclusiveSum(storage..., in, out, count);
  });
  return sums.back();
}

TEST(device_scan_arguments, counts_may_have_any_integer_type) {
  const device_vector<int> in(std::vector<int>(1000, 3));
  EXPECT_EQ(300, last_sum(in.data(), static_cast<signed char>(100)));
  EXPECT_EQ(600, last_sum(in.data(), static_cast<unsigned char>(200)));
  EXPECT_EQ(3000, last_sum(in.data(), static_cast<short>(1000)));
  EXPECT_EQ(3000, last_sum(in.data(), 1000));
  EXPECT_EQ(3000, last_sum(in.data(), 1000u));
  EXPECT_EQ(3000, last_sum(in.data(), std::int64_t{1000}));
  EXPECT_EQ(3000, last_sum(in.data(), std::size_t{1000}));
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices of more items, rows or columns than 32 bits can count.
#include <strata/core/launcher.cuh>
#include <strata/device/device_transpose.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace device_transpose_large_test {

using namespace device_test;
using strata::DeviceTranspose;

/// Plain device memory without guard bands, which are slow to check at this size.
template <class T>
class plain_memory {
 public:
  explicit plain_memory(std::int64_t size) {
    if (cudaMalloc(&data_, static_cast<std::size_t>(size) * sizeof(T)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      data_ = nullptr;
    }
  }
  ~plain_memory() { EXPECT_CUDA_SUCCESS(cudaFree(data_)); }
  plain_memory(const plain_memory&) = delete;
  plain_memory& operator=(const plain_memory&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// The item at row and column.
template <class T>
STRATA_D T item_at(std::int64_t row, std::int64_t column) {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u) ^
                              (static_cast<std::uint64_t>(column) * 0xbf58476d1ce4e5b9u);
  return static_cast<T>(mixed ^ (mixed >> 29) ^ (mixed >> 47));
}

template <class T>
STRATA_KERNEL void fill(T* matrix, std::int64_t rows, std::int64_t columns) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * columns; i += threads) {
    matrix[i] = item_at<T>(i / columns, i % columns);
  }
}

template <class T>
STRATA_KERNEL void count_errors(const T* transposed, std::int64_t rows, std::int64_t columns,
                                unsigned long long* errors) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * columns; i += threads) {
    if (transposed[i] != item_at<T>(i % rows, i / rows)) atomicAdd(errors, 1ull);
  }
}

template <class T>
void test_large(std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns);
  const plain_memory<T> in(rows * columns), out(rows * columns);
  if (in.data() == nullptr || out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  device_vector<unsigned long long> errors(std::vector<unsigned long long>{0});
  ASSERT_CUDA_SUCCESS(cudaMemset(out.data(), 0x5a, static_cast<std::size_t>(rows * columns) * sizeof(T)));
  ASSERT_CUDA_SUCCESS(strata::launch({"fill", 2048, 256}, fill<T>, in.data(), rows, columns));
  ASSERT_CUDA_SUCCESS(DeviceTranspose::Transpose(static_cast<const T*>(in.data()), out.data(), rows, columns));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"count_errors", 2048, 256}, count_errors<T>, out.data(), rows, columns, errors.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(errors.to_host()[0], 0u);
}

TEST(device_transpose_large, more_items_than_32_bits_count) {
  test_large<std::uint8_t>(65536 + 128, 65536 + 256);  // by vectors
  test_large<std::uint8_t>(65537, 65539);              // item by item
  test_large<std::uint32_t>(50000, 50000);
}

TEST(device_transpose_large, more_columns_or_rows_than_31_bits_count) {
  constexpr std::int64_t many = (std::int64_t{1} << 31) + 3;
  test_large<std::uint8_t>(2, many);
  test_large<std::uint8_t>(many, 2);
  test_large<std::uint8_t>(1, many);
  test_large<std::uint16_t>(9, many);
}

}  // namespace device_transpose_large_test

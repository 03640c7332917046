// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DevicePartition and DeviceRunLengthEncode::NonTrivialRuns write the same as CUB's, with the library's tuning, at
// random sizes.
#include <strata/device/device_partition.cuh>
#include <strata/device/device_run_length_encode.cuh>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_select_support.cuh"

namespace {

using namespace device_test;
using strata_test::struct16;

struct by_strata {
  using partition = strata::DevicePartition;
  using encode = strata::DeviceRunLengthEncode;
};
struct by_cub {
  using partition = cub::DevicePartition;
  using encode = cub::DeviceRunLengthEncode;
};

/// Random sizes of all orders of magnitude up to 2^23, and sizes around a tile for each of 132 multiprocessors.
std::vector<std::size_t> random_sizes() {
  std::mt19937_64 bits = strata_test::random_bits(11);
  std::vector<std::size_t> all = {1, 2, 1024 * 132, 1024 * 132 + 1, 2048 * 132, 2048 * 132 + 1};
  for (int i = 0; i < if_small(6, 60); ++i) all.push_back(1 + bits() % (std::size_t{2} << bits() % 23));
  return all;
}

/// Three arrays and two numbers, which both libraries find poisoned.
template <class T>
struct results {
  explicit results(std::size_t size) : first(size, 0), second(size, 1), third(size, 2), numbers(2, 0) {}
  shifted_array<T> first, second, third;
  shifted_array<int> numbers;
};

/// Expects that `call(library, results, storage, bytes)` writes the same with both libraries.
template <class T, class Call>
void expect_as_cub(std::size_t size, const Call& call) {
  const results<T> ours(size), theirs(size);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return call(by_strata{}, ours, storage, bytes); }));
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return call(by_cub{}, theirs, storage, bytes); }));
  ASSERT_SAME_BYTES(theirs.numbers.to_host(), ours.numbers.to_host());
  ASSERT_SAME_BYTES(theirs.first.to_host(), ours.first.to_host());
  ASSERT_SAME_BYTES(theirs.second.to_host(), ours.second.to_host());
  ASSERT_SAME_BYTES(theirs.third.to_host(), ours.third.to_host());
}

template <class T>
class DevicePartitionCub : public ::testing::Test {};
using item_types = ::testing::Types<std::uint8_t, std::int32_t, double, struct16>;
TYPED_TEST_SUITE(DevicePartitionCub, item_types);

TYPED_TEST(DevicePartitionCub, writes_the_same) {
  using T = TypeParam;
  std::mt19937_64 bits = strata_test::random_bits(12);
  for (const std::size_t size : random_sizes()) {
    SCOPED_TRACE(size);
    const auto n = static_cast<int>(size);
    const device_vector<T> in(items_of_any_bits<T>(size, size));
    const device_vector<char> flags(kept_by(patterns[bits() % 6], size, size));
    const keeps_some op{static_cast<unsigned>(bits() % 1025)}, more{static_cast<unsigned>(bits() % 1025)};
    ASSERT_NO_FATAL_FAILURE(
        expect_as_cub<T>(size, [&](auto lib, const results<T>& out, void* storage, std::size_t& bytes) {
          using partition = typename decltype(lib)::partition;
          return partition::If(storage, bytes, in.data(), out.first.data(), out.numbers.data(), n, op);
        }));
    ASSERT_NO_FATAL_FAILURE(
        expect_as_cub<T>(size, [&](auto lib, const results<T>& out, void* storage, std::size_t& bytes) {
          using partition = typename decltype(lib)::partition;
          return partition::Flagged(storage, bytes, in.data(), flags.data(), out.first.data(), out.numbers.data(), n);
        }));
    ASSERT_NO_FATAL_FAILURE(
        expect_as_cub<T>(size, [&](auto lib, const results<T>& out, void* storage, std::size_t& bytes) {
          using partition = typename decltype(lib)::partition;
          return partition::If(storage, bytes, in.data(), out.first.data(), out.second.data(), out.third.data(),
                               out.numbers.data(), n, op, more);
        }));
  }
}

TEST(device_non_trivial_runs_cub, writes_the_same) {
  std::mt19937_64 bits = strata_test::random_bits(13);
  for (const std::size_t size : random_sizes()) {
    const std::size_t mean = run_lengths[bits() % 4];
    SCOPED_TRACE(testing::Message() << size << " items in runs of about " << mean);
    const device_vector<int> in(keys_in_runs<int>(size, mean, size));
    ASSERT_NO_FATAL_FAILURE(
        expect_as_cub<int>(size, [&](auto lib, const results<int>& out, void* storage, std::size_t& bytes) {
          using encode = typename decltype(lib)::encode;
          return encode::NonTrivialRuns(storage, bytes, in.data(), out.first.data(), out.second.data(),
                                        out.numbers.data(), static_cast<int>(size));
        }));
  }
}

}  // namespace

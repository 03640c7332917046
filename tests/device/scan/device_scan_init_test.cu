// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Initial values and accumulator types of DeviceScan.
#include <strata/core/launcher.cuh>
#include <strata/device/device_scan.cuh>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;
using strata::FutureValue;
using strata_test::plain_sum;

// ------------------------------------------------------------------ initial values

TEST(device_scan_init, exclusive_scan_begins_with_it) {
  const std::vector<int> items = random_integers<int>(if_small<std::size_t>(20000, 300001), -9, 9);
  const device_vector<int> in(items);
  for (const std::size_t size : sizes{0, 1, 33, 4097, items.size()}) {
    EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_sum{}, 1000),
                      scan_results<int>(size, [&](int* out, auto&&... storage) {
                        return DeviceScan::ExclusiveScan(storage..., in.data(), out, strata::Sum{}, 1000, size);
                      }));
  }
}

TEST(device_scan_init, inclusive_scan_begins_with_it) {
  const std::vector<int> items = random_integers<int>(if_small<std::size_t>(20000, 300001), -9, 9);
  const device_vector<int> in(items);
  for (const std::size_t size : sizes{0, 1, 33, 4097, items.size()}) {
    EXPECT_SAME_ITEMS(inclusive_scan(items.data(), size, plain_sum{}, 1000),
                      scan_results<int>(size, [&](int* out, auto&&... storage) {
                        return DeviceScan::InclusiveScanInit(storage..., in.data(), out, strata::Sum{}, 1000, size);
                      }));
  }
}

TEST(device_scan_init, all_forms_scan_in_place) {
  const std::vector<int> items = random_integers<int>(5000, -9, 9);
  const std::size_t size = items.size();
  device_vector<int> data(items);
  const auto expect = [&](const std::vector<int>& expected, const auto& call) {
    data.assign(items);
    EXPECT_CUDA_SUCCESS(in_two_phases(call));
    EXPECT_SAME_ITEMS(expected, data.to_host());
  };
  expect(exclusive_scan(items.data(), size, plain_sum{}, 7), [&](void* storage, std::size_t& bytes) {
    return DeviceScan::ExclusiveScan(storage, bytes, data.data(), strata::Sum{}, 7, size);
  });
  expect(inclusive_scan<int>(items.data(), size, plain_sum{}), [&](void* storage, std::size_t& bytes) {
    return DeviceScan::InclusiveScan(storage, bytes, data.data(), strata::Sum{}, size);
  });
  expect(inclusive_scan(items.data(), size, plain_sum{}, 7), [&](void* storage, std::size_t& bytes) {
    return DeviceScan::InclusiveScanInit(storage, bytes, data.data(), strata::Sum{}, 7, size);
  });
}

// ------------------------------------------------------------------ initial values in device memory

// Writes late, so that a scan that does not wait reads the old value.
template <class T>
STRATA_KERNEL void write_late(T* to, T value) {
#if STRATA_HOST_SIMT
  for (int i = 0; i < 100; ++i) STRATA_SPIN();
#elif STRATA_DEVICE_PASS
  const long long begin = clock64();
  while (clock64() - begin < 300000) {
  }
#endif
  *to = value;
}

TEST(device_scan_init, may_be_written_by_an_earlier_kernel) {
  const std::vector<int> items = random_integers<int>(if_small<std::size_t>(20000, 300001), -9, 9);
  const device_vector<int> in(items);
  device_vector<int> init(1);
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  int value = 100;
  for (const std::size_t size : sizes{1, 33, 4097, items.size()}) {
    SCOPED_TRACE(size);
    const FutureValue<int> future(init.data());
    const auto after_writing = [&](const auto& call) {
      return scan_results<int>(size, [&](int* out, void* storage, std::size_t& bytes) {
        if (storage != nullptr) {
          EXPECT_CUDA_SUCCESS(
              strata::launch({"write_late", dim3(1), dim3(1), 0, where}, write_late<int>, init.data(), value));
        }
        const cudaError_t status = call(out, storage, bytes);
        on.synchronize();
        return status;
      });
    };
    ++value;
    EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_sum{}, value),
                      after_writing([&](int* out, void* storage, std::size_t& bytes) {
                        return DeviceScan::ExclusiveScan(storage, bytes, in.data(), out, strata::Sum{}, future, size,
                                                         where);
                      }));
    ++value;
    EXPECT_SAME_ITEMS(inclusive_scan(items.data(), size, plain_sum{}, value),
                      after_writing([&](int* out, void* storage, std::size_t& bytes) {
                        return DeviceScan::InclusiveScanInit(storage, bytes, in.data(), out, strata::Sum{}, future,
                                                             size, where);
                      }));
  }
}

TEST(device_scan_init, may_be_written_by_an_earlier_kernel_for_many_items) {
  if (is_small()) GTEST_SKIP() << "17 MiB take too long when every access is watched";
  const std::size_t size = large_count<int>();
  const std::vector<int> items = random_integers<int>(size, -9, 9);
  const device_vector<int> in(items);
  device_vector<int> init(1);
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_sum{}, 77),
                    scan_results<int>(size, [&](int* out, void* storage, std::size_t& bytes) {
                      EXPECT_CUDA_SUCCESS(
                          strata::launch({"write_late", dim3(1), dim3(1), 0, where}, write_late<int>, init.data(), 77));
                      return DeviceScan::ExclusiveScan(storage, bytes, in.data(), out, strata::Sum{},
                                                       FutureValue<int>(init.data()), size, where);
                    }));
}

TEST(device_scan_init, may_be_read_through_any_iterator) {
  const std::vector<int> items = random_integers<int>(3000, -9, 9);
  const device_vector<int> in(items);
  const FutureValue future(counting<int>(40) + 2);
  static_assert(std::is_same_v<decltype(future)::value_type, int>);
  EXPECT_SAME_ITEMS(exclusive_scan(items.data(), items.size(), plain_sum{}, 42),
                    scan_results<int>(items.size(), [&](int* out, auto&&... storage) {
                      return DeviceScan::ExclusiveScan(storage..., in.data(), out, strata::Sum{}, future, items.size());
                    }));
}

// ------------------------------------------------------------------ types

// Expects inclusive sums that are added in `Accum` and written as `Out`.
template <class Accum, class Out, class In, class Call>
void expect_inclusive_sums(const std::vector<In>& items, const Call& call) {
  std::vector<Out> expected;
  for (const Accum sum : inclusive_scan<Accum>(items.data(), items.size(), plain_sum{})) {
    expected.push_back(static_cast<Out>(sum));
  }
  EXPECT_SAME_ITEMS(expected, scan_results<Out>(items.size(), call));
}

// Sums of 1,000 items up to 40 fit in __half, which does not represent all of them. Sums that were carried in __half
// would be others. Items of type __half are 0 or 1, so that all sums are exact.
template <class In, class Out>
void expect_sums_are_carried_in_the_type_of_items() {
  const std::vector<int> small = random_integers<int>(1000, 0, std::is_same_v<In, __half> ? 1 : 40);
  std::vector<In> items;
  for (const int i : small) items.push_back(static_cast<In>(static_cast<float>(i)));
  const device_vector<In> in(items);
  std::vector<float> exclusive, inclusive;
  float sum = 0;
  for (const int i : small) {
    exclusive.push_back(static_cast<float>(static_cast<Out>(sum)));
    inclusive.push_back(static_cast<float>(static_cast<Out>(sum += static_cast<float>(i))));
  }
  const auto floats = [](const std::vector<Out>& all) {
    std::vector<float> results;
    for (const Out& one : all) results.push_back(static_cast<float>(one));
    return results;
  };
  const std::size_t n = items.size();
  EXPECT_SAME_ITEMS(inclusive, floats(scan_results<Out>(n, [&](Out* out, auto&&... storage) {
                      return DeviceScan::InclusiveSum(storage..., in.data(), out, n);
                    })));
  EXPECT_SAME_ITEMS(exclusive, floats(scan_results<Out>(n, [&](Out* out, auto&&... storage) {
                      return DeviceScan::ExclusiveSum(storage..., in.data(), out, n);
                    })));
  const device_vector<int> one_run(std::vector<int>(n, 7));
  EXPECT_SAME_ITEMS(inclusive, floats(scan_results<Out>(n, [&](Out* out, auto&&... storage) {
                      return DeviceScan::InclusiveSumByKey(storage..., one_run.data(), in.data(), out, n);
                    })));
  EXPECT_SAME_ITEMS(exclusive, floats(scan_results<Out>(n, [&](Out* out, auto&&... storage) {
                      return DeviceScan::ExclusiveSumByKey(storage..., one_run.data(), in.data(), out, n);
                    })));
}
TEST(device_scan_types, float_to_half) { expect_sums_are_carried_in_the_type_of_items<float, __half>(); }
TEST(device_scan_types, half_to_float) { expect_sums_are_carried_in_the_type_of_items<__half, float>(); }
TEST(device_scan_types, sums_of_halves_are_halves) {
  std::vector<__half> items;
  for (const float item : random_reals<float>(1000, 0, 1)) items.push_back(static_cast<__half>(item));
  const device_vector<__half> in(items);
  const auto sums = scan_results<float>(items.size(), [&](float* out, auto&&... storage) {
    return DeviceScan::InclusiveSum(storage..., in.data(), out, items.size());
  });
  for (const float sum : sums) ASSERT_EQ(sum, static_cast<float>(static_cast<__half>(sum)));
  EXPECT_LT(400, sums.back());
}
TEST(device_scan_types, int_to_half) { expect_sums_are_carried_in_the_type_of_items<int, __half>(); }
TEST(device_scan_types, int_to_float) { expect_sums_are_carried_in_the_type_of_items<int, float>(); }

TEST(device_scan_types, sums_of_integers_as_floats_are_exact_until_they_are_written) {
  const std::vector<int> items(100, 1 << 24 | 1);
  const device_vector<int> in(items);
  expect_inclusive_sums<int, float>(items, [&](float* out, auto&&... storage) {
    return DeviceScan::InclusiveSum(storage..., in.data(), out, items.size());
  });
}

TEST(device_scan_types, sums_of_bytes_are_carried_in_ints_as_the_operator_adds) {
  const std::vector<std::int8_t> items = random_integers<std::int8_t>(if_small<std::size_t>(20000, 300001), 100, 127);
  const device_vector<std::int8_t> in(items);
  expect_inclusive_sums<int, std::int64_t>(items, [&](std::int64_t* out, auto&&... storage) {
    return DeviceScan::InclusiveSum(storage..., in.data(), out, items.size());
  });
}

TEST(device_scan_types, scans_are_carried_in_the_type_that_the_operator_returns) {
  const std::vector<std::int8_t> items = random_integers<std::int8_t>(20000, 0, 127);
  const device_vector<std::int8_t> in(items);
  // Carried in int, which the operator returns.
  expect_inclusive_sums<int, std::int64_t>(items, [&](std::int64_t* out, auto&&... storage) {
    return DeviceScan::InclusiveScan(storage..., in.data(), out, strata::Sum{}, items.size());
  });
  // Carried in 64 bits, like the initial value.
  constexpr std::int64_t init = std::int64_t{1} << 40;
  EXPECT_SAME_ITEMS(inclusive_scan(items.data(), items.size(), plain_sum{}, init),
                    scan_results<std::int64_t>(items.size(), [&](std::int64_t* out, auto&&... storage) {
                      return DeviceScan::InclusiveScanInit(storage..., in.data(), out, strata::Sum{}, init,
                                                           items.size());
                    }));
}

TEST(device_scan_types, sums_of_floats_with_a_double_first_have_the_accuracy_of_doubles) {
  const std::vector<float> items = random_reals<float>(20003, -1.0, 1.0);
  const device_vector<float> in(items);
  const std::vector<double> sums = scan_results<double>(items.size(), [&](double* out, auto&&... storage) {
    return DeviceScan::InclusiveScanInit(storage..., in.data(), out, strata::Sum{}, 0.0, items.size());
  });
  double sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    sum += static_cast<double>(items[i]);
    ASSERT_NEAR(sum, sums[i], 1e-10) << i;
  }
}

// Results replace items in shared memory if both types have the same size.
struct halves {
  STRATA_HD float operator()(float a, float b) const { return a + b; }
};
TEST(device_scan_types, outputs_of_the_size_of_items_may_have_another_type) {
  const std::size_t size = if_small<std::size_t>(20000, 5000003);
  const std::vector<int> items = random_integers<int>(size, -1, 1);
  const device_vector<int> in(items);
  EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_sum{}, 0.5f),
                    scan_results<float>(size, [&](float* out, auto&&... storage) {
                      return DeviceScan::ExclusiveScan(storage..., in.data(), out, halves{}, 0.5f, size);
                    }));
}

/// A sum that is much larger than the items.
template <int Words>
struct large_sum {
  large_sum() = default;
  STRATA_HD large_sum(int first) : words{first} {}  // NOLINT: converts as numbers do
  STRATA_HD operator int() const { return words[0]; }
  int words[Words];
};
template <int Words>
struct add_first_words {
  STRATA_HD large_sum<Words> operator()(const large_sum<Words>& a, const large_sum<Words>& b) const {
    return large_sum<Words>(a.words[0] + b.words[0]);
  }
};

// A pipeline has no room for these sums, so tiles in registers scan inputs of any length.
TEST(device_scan_init, sums_that_are_too_large_for_shared_memory) {
  const std::size_t size = if_small<std::size_t>(60000, 400000);
  const device_vector<int> in(std::vector<int>(size, 1));
  device_vector<int> out(size);
  std::vector<int> expected(size);
  for (std::size_t i = 0; i < size; ++i) expected[i] = static_cast<int>(i) + 5;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceScan::ExclusiveScan(storage..., in.data(), out.data(), add_first_words<176>{}, large_sum<176>(5),
                                     size);
  }));
  EXPECT_EQ(expected, out.to_host());
  const device_vector<long long> keys(std::vector<long long>(size, 7));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceScan::ExclusiveScanByKey(storage..., keys.data(), in.data(), out.data(), add_first_words<60>{},
                                          large_sum<60>(5), size);
  }));
  EXPECT_EQ(expected, out.to_host());
}

}  // namespace

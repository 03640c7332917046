// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRadixSort refuses invalid ranges of bits before it launches or writes anything. It needs no more storage than
// documented, and takes storage of any alignment. device_arguments.cuh tests the arguments that all algorithms have.
#include <strata/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceRadixSort;
using strata::DoubleBuffer;

constexpr int most_items = 3000;

/// Input and output of one call.
struct arrays {
  device_vector<std::uint32_t> keys_in{random_integers<std::uint32_t>(most_items, 0, 1000)};
  device_vector<std::uint32_t> keys_out{static_cast<std::size_t>(most_items)};
  device_vector<std::uint32_t> values_in{random_integers<std::uint32_t>(most_items, 0, 1000, 1)};
  device_vector<std::uint32_t> values_out{static_cast<std::size_t>(most_items)};

  bool is_untouched() const {
    for (const device_vector<std::uint32_t>* out : {&keys_out, &values_out}) {
      for (const std::uint32_t item : out->to_host()) {
        if (!strata_test::is_poison(item)) return false;
      }
    }
    return true;
  }
};

/// Arguments for any overload in `forms`. Overloads without values ignore the values.
struct sort_arguments {
  std::uint32_t* keys_in;
  std::uint32_t* keys_out;
  std::uint32_t* values_in;
  std::uint32_t* values_out;
  std::int64_t n = most_items;
  int begin_bit = 0;
  int end_bit = 32;
};
struct sort_form {
  const char* name;
  bool has_values;
  cudaError_t (*call)(void*, std::size_t&, const sort_arguments&);
};
const sort_form forms[] = {
    {"SortKeys", false,
     [](void* t, std::size_t& b, const sort_arguments& a) {
       return DeviceRadixSort::SortKeys(t, b, a.keys_in, a.keys_out, a.n, a.begin_bit, a.end_bit);
     }},
    {"SortKeysDescending", false,
     [](void* t, std::size_t& b, const sort_arguments& a) {
       return DeviceRadixSort::SortKeysDescending(t, b, a.keys_in, a.keys_out, a.n, a.begin_bit, a.end_bit);
     }},
    {"SortKeys of two buffers", false,
     [](void* t, std::size_t& b, const sort_arguments& a) {
       DoubleBuffer<std::uint32_t> keys(a.keys_in, a.keys_out);
       return DeviceRadixSort::SortKeys(t, b, keys, a.n, a.begin_bit, a.end_bit);
     }},
    {"SortPairs", true,
     [](void* t, std::size_t& b, const sort_arguments& a) {
       return DeviceRadixSort::SortPairs(t, b, a.keys_in, a.keys_out, a.values_in, a.values_out, a.n, a.begin_bit,
                                         a.end_bit);
     }},
    {"SortPairs of two buffers", true,
     [](void* t, std::size_t& b, const sort_arguments& a) {
       DoubleBuffer<std::uint32_t> keys(a.keys_in, a.keys_out);
       DoubleBuffer<std::uint32_t> values(a.values_in, a.values_out);
       return DeviceRadixSort::SortPairs(t, b, keys, values, a.n, a.begin_bit, a.end_bit);
     }},
};

struct change {
  std::string name;
  std::function<void(sort_arguments&)> apply;
};

class device_radix_sort_arguments : public testing::TestWithParam<sort_form> {};

TEST_P(device_radix_sort_arguments, bits_are_refused) {
  const sort_form form = GetParam();
  arrays memory;
  const sort_arguments valid{memory.keys_in.data(), memory.keys_out.data(), memory.values_in.data(),
                             memory.values_out.data()};
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(form.call(nullptr, bytes, valid));
  ASSERT_GT(bytes, 0u);
  const scratch storage(bytes);
  const std::vector<change> changes = {
      {"negative first bit", [](sort_arguments& a) { a.begin_bit = -1; }},
      {"bits the wrong way round", [](sort_arguments& a) { a.begin_bit = 9, a.end_bit = 8; }},
      {"bits that the keys do not have", [](sort_arguments& a) { a.end_bit = 33; }},
  };
  for (const change& what : changes) {
    SCOPED_TRACE(what.name);
    sort_arguments changed = valid;
    what.apply(changed);
    std::size_t given = bytes;
    EXPECT_EQ(cudaErrorInvalidValue, form.call(storage.data(), given, changed));
    EXPECT_EQ(bytes, given);
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_TRUE(memory.is_untouched());
  }
}

TEST_P(device_radix_sort_arguments, storage_is_as_documented) {
  const sort_form form = GetParam();
  const bool has_copy = std::string(form.name).find("two buffers") == std::string::npos;
  for (const std::int64_t n : {std::int64_t{1000}, std::int64_t{1} << 18, std::int64_t{1} << 24, std::int64_t{1} << 28,
                               std::int64_t{1} << 32}) {
    sort_arguments all{nullptr, nullptr, nullptr, nullptr, n};
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(form.call(nullptr, bytes, all));
    const auto keys = static_cast<std::size_t>(n) * sizeof(std::uint32_t);
    const std::size_t copies = has_copy ? keys * (form.has_values ? 2 : 1) : 0;
    const std::size_t state = n <= std::int64_t{1} << 18  ? keys + 34000
                              : n < std::int64_t{1} << 31 ? keys / 7
                                                          : keys * 2 / 7;
    EXPECT_GE(bytes, copies);
    EXPECT_LE(bytes, copies + state + state / 10) << n << " items";
  }
}

TEST_P(device_radix_sort_arguments, storage_has_any_alignment_and_any_contents) {
  const sort_form form = GetParam();
  for (const std::size_t misalignment :
       {std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{100}, std::size_t{255}}) {
    for (const contents garbage : all_contents) {
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{700}, std::int64_t{most_items}}) {
        SCOPED_TRACE(testing::Message() << n << " items, storage at " << misalignment);
        arrays memory;
        std::vector<std::uint32_t> sorted = memory.keys_in.to_host();
        sort_arguments given{memory.keys_in.data(), memory.keys_out.data(), memory.values_in.data(),
                             memory.values_out.data()};
        given.n = n;
        // Guard bands around the storage show writes outside of it.
        ASSERT_CUDA_SUCCESS(
            in_two_phases([&](void* storage, std::size_t& bytes) { return form.call(storage, bytes, given); }, garbage,
                          misalignment));
        std::vector<std::uint32_t> a = memory.keys_in.to_host(), b = memory.keys_out.to_host();
        const auto end = static_cast<std::ptrdiff_t>(n);
        const bool is_descending = std::string(form.name) == "SortKeysDescending";
        if (is_descending) {
          std::sort(sorted.begin(), sorted.begin() + end, std::greater<>{});
        } else {
          std::sort(sorted.begin(), sorted.begin() + end);
        }
        // If there are two buffers, either may have the result.
        EXPECT_TRUE(std::equal(sorted.begin(), sorted.begin() + end, b.begin()) ||
                    (std::string(form.name).find("buffers") != std::string::npos &&
                     std::equal(sorted.begin(), sorted.begin() + end, a.begin())));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(forms, device_radix_sort_arguments, testing::ValuesIn(forms),
                         [](const testing::TestParamInfo<sort_form>& of) {
                           std::string name = of.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace

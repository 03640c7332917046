// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTopK selects what std::stable_sort selects: results, order, types, iterators, graphs, and inputs whose sample
// misleads.
#include <strata/device/device_top_k.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_top_k_test {

using namespace device_test;
using strata::DeviceTopK;
using strata::NullType;

/// Indices of the items of the result.
template <bool IsMax, class Key>
std::vector<std::uint32_t> expected_items(const std::vector<Key>& keys, std::size_t k, bool is_sorted) {
  std::vector<std::uint32_t> order = expected_order<IsMax>(keys, 0, strata::RadixTraits<Key>::bits);
  order.resize(std::min(k, order.size()));
  if (!is_sorted) std::sort(order.begin(), order.end());
  return order;
}

/// Expects the given items of `in`, and behind them items that were not written.
template <class T>
void expect_items(const std::vector<T>& in, const std::vector<std::uint32_t>& items, const std::vector<T>& out) {
  ASSERT_LE(items.size(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i >= items.size()) {
      ASSERT_TRUE(strata_test::is_poison(out[i])) << "place " << i << ", of " << items.size() << " results";
      continue;
    }
    ASSERT_EQ(0, std::memcmp(&in[items[i]], &out[i], sizeof(T)))
        << "place " << i << " of " << items.size() << " must have item " << items[i];
  }
}

/// Expects that `call(keys, keys_out, storage...)` finds the results of `keys`, whose array begins `shift` items behind
/// a boundary.
template <bool IsMax, class Key, class Call>
void expect_keys(const std::vector<Key>& keys, std::size_t k, bool is_sorted, const Call& call, std::size_t shift = 0) {
  SCOPED_TRACE(testing::Message() << k << " of " << keys.size() << " keys, shift " << shift);
  std::vector<Key> shifted(shift, Key{});
  shifted.insert(shifted.end(), keys.begin(), keys.end());
  const device_vector<Key> in(shifted);
  device_vector<Key> out(std::min(k, keys.size()) + 5);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return call(in.data() + shift, out.data(), storage...); }));
  expect_items(keys, expected_items<IsMax>(keys, k, is_sorted), out.to_host());
}

template <class Key>
void expect_all_keys(const std::vector<Key>& keys, std::size_t k, std::size_t shift = 0) {
  const auto n = keys.size();
  expect_keys<true>(
      keys, k, false,
      [&](const Key* in, Key* out, auto&&... storage) { return DeviceTopK::MaxKeys(storage..., in, out, n, k); },
      shift);
  expect_keys<false>(
      keys, k, true,
      [&](const Key* in, Key* out, auto&&... storage) { return DeviceTopK::MinKeysSorted(storage..., in, out, n, k); },
      shift);
}

/// All four functions of pairs.
template <class Key, class Value>
void expect_all_pairs(const std::vector<Key>& keys, std::size_t k) {
  SCOPED_TRACE(testing::Message() << k << " of " << keys.size() << " pairs");
  const std::vector<Value> values = make_values<Value>(keys.size());
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  const auto expect = [&](auto is_max, bool is_sorted, const auto& call) {
    device_vector<Key> out(std::min(k, keys.size()) + 3);
    device_vector<Value> values_out(std::min(k, keys.size()) + 3);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return call(storage..., in.data(), out.data(), values_in.data(), values_out.data(), static_cast<int>(keys.size()),
                  static_cast<int>(k));
    }));
    const auto items = expected_items<decltype(is_max)::value>(keys, k, is_sorted);
    expect_items(keys, items, out.to_host());
    expect_items(values, items, values_out.to_host());
  };
  expect(std::true_type{}, false, [](auto&&... a) { return DeviceTopK::MaxPairs(a...); });
  expect(std::false_type{}, false, [](auto&&... a) { return DeviceTopK::MinPairs(a...); });
  expect(std::true_type{}, true, [](auto&&... a) { return DeviceTopK::MaxPairsSorted(a...); });
  expect(std::false_type{}, true, [](auto&&... a) { return DeviceTopK::MinPairsSorted(a...); });
}

std::vector<std::size_t> ranks(std::size_t n) {
  std::vector<std::size_t> all = {0, 1, 2, 33, n / 3, n / 2, n, n + 1};
  if (n > 0) all.push_back(n - 1);
  return all;
}

// ------------------------------------------------------------------ sizes and types

template <class T>
class DeviceTopKKeys : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = ::testing::Types<std::uint8_t, float, std::int64_t>;
#else
enum class color : std::int16_t {};
using key_types = ::testing::Types<std::int8_t, std::uint8_t, color, std::uint16_t, std::int32_t, std::uint32_t, float,
                                   std::int64_t, std::uint64_t, double, __half, __nv_bfloat16, strata::detail::uint128>;
#endif
TYPED_TEST_SUITE(DeviceTopKKeys, key_types);

TYPED_TEST(DeviceTopKKeys, are_those_of_a_stable_sort) {
  // A tile of 4-byte keys has 2,048.
  for (const std::size_t n : {0, 1, 31, 2047, 2048, 2049, is_small() ? 5000 : 20011}) {
    const auto keys = make_keys<TypeParam>(n, pattern::random, n);
    for (const std::size_t k : ranks(n)) {
      if (is_small() && n > 2000 && k != 33 && k != n / 2) continue;
      // Each of two neighbouring sizes takes half of the ranks.
      if (!is_small() && n > 2000 && (n + k) % 2 == 0) continue;
      ASSERT_NO_FATAL_FAILURE(expect_all_keys(keys, k, k % 2));
    }
  }
}

TYPED_TEST(DeviceTopKKeys, of_all_patterns) {
  const std::size_t n = if_small<std::size_t>(2500, 9001);
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    for (const std::size_t k : {std::size_t{1}, std::size_t{100}, n - 3}) {
      if (is_small() && how != pattern::equal && k != 100) continue;
      ASSERT_NO_FATAL_FAILURE(expect_all_keys(make_keys<TypeParam>(n, how), k));
    }
  }
}

TEST(device_top_k, zeros_are_equal_and_nans_are_greatest) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> keys;
  for (int i = 0; i < 700; ++i)
    keys.push_back(i % 5 == 0    ? -0.0f
                   : i % 5 == 1  ? 0.0f
                   : i % 7 == 0  ? -nan
                   : i % 11 == 0 ? nan
                   : i % 13 == 0 ? -inf
                                 : inf);
  for (const std::size_t k : {1, 20, 50, 90, 120, 300, 399, 400, 401, 500, 600, 650, 699}) {
    ASSERT_NO_FATAL_FAILURE(expect_all_keys(keys, k));
  }
}

TEST(device_top_k, many_sizes) {
  for (const std::size_t n : boundary_sizes(if_small<std::size_t>(1000, 1u << 15))) {
    const auto keys = make_keys<std::uint32_t>(n, n % 2 == 0 ? pattern::low_byte : pattern::random, n);
    ASSERT_NO_FATAL_FAILURE(expect_all_keys(keys, n / 5 + n % 3, n % 4));
  }
}

struct value20 {
  unsigned char bytes[20];
};
struct alignas(16) value32 {
  std::uint64_t words[4];
};

TEST(device_top_k, values_of_any_size_come_along) {
  const std::size_t n = if_small<std::size_t>(2100, 12345);
  for (const pattern how : {pattern::random, pattern::few}) {
    for (const std::size_t k : {std::size_t{1}, n / 4, n}) {
      const auto keys = make_keys<std::int32_t>(n, how);
      ASSERT_NO_FATAL_FAILURE((expect_all_pairs<std::int32_t, std::uint8_t>(keys, k)));
      ASSERT_NO_FATAL_FAILURE((expect_all_pairs<std::int32_t, value20>(keys, k)));
#if !STRATA_TEST_FEW_TYPES
      ASSERT_NO_FATAL_FAILURE((expect_all_pairs<std::int32_t, std::uint32_t>(keys, k)));
      ASSERT_NO_FATAL_FAILURE((expect_all_pairs<std::uint64_t, value32>(make_keys<std::uint64_t>(n, how), k)));
#endif
    }
  }
}

// ------------------------------------------------------------------ samples

/// Takes 256 samples, of inputs of any size.
struct sampling_hub : strata::top_k_policy_hub {
  static constexpr std::size_t samples = 256;
  static constexpr std::size_t least_sampled_bytes = 0;
};

/// sampling_hub without a pipeline.
struct tile_hub : sampling_hub {
  template <class Problem>
  struct collect_hub {
    using MaxPolicy = typename Problem::policy_hub::Policy750;
  };
};

template <bool IsMax, class Hub = sampling_hub, class KeyIterator, class Key, class ValueIterator, class Value,
          class NumItemsT>
cudaError_t sampled(void* storage, std::size_t& bytes, KeyIterator in, Key* out, ValueIterator values, Value values_out,
                    NumItemsT n, std::size_t k, cudaStream_t stream = nullptr) {
  using TopK = strata::TunedDeviceTopK<Hub>;
  if constexpr (std::is_same_v<ValueIterator, NullType>) {
    static_cast<void>(values), static_cast<void>(values_out);
    if constexpr (IsMax) {
      return TopK::MaxKeys(storage, bytes, in, out, n, k, stream);
    } else {
      return TopK::MinKeys(storage, bytes, in, out, n, k, stream);
    }
  } else {
    static_assert(IsMax);
    return TopK::MaxPairs(storage, bytes, in, out, values, values_out, n, k, stream);
  }
}

template <class Key>
strata::detail::top_k_plan plan_of(std::size_t n, std::size_t k) {
  return strata::detail::top_k_plan::make(n, k, sizeof(Key), sampling_hub::samples, sampling_hub::least_sampled_bytes);
}

template <class Key>
void expect_sampled(const std::vector<Key>& keys, std::size_t k, std::size_t shift = 0) {
  const std::size_t n = keys.size();
  ASSERT_TRUE(plan_of<Key>(n, k).is_sampled);
  expect_keys<true>(
      keys, k, false,
      [&](const Key* in, Key* out, auto&&... storage) {
        return sampled<true>(storage..., in, out, NullType{}, NullType{}, n, k);
      },
      shift);
  expect_keys<false>(
      keys, k, false,
      [&](const Key* in, Key* out, auto&&... storage) {
        return sampled<false>(storage..., in, out, NullType{}, NullType{}, n, k);
      },
      shift);
}

TYPED_TEST(DeviceTopKKeys, by_a_sample) {
  for (const std::size_t n : {std::size_t{1024}, if_small<std::size_t>(9001, 60013)}) {
    for (const pattern how : all_patterns) {
      if (is_small() && (how == pattern::sorted || how == pattern::low_byte || n == 1024) && how != pattern::equal)
        continue;
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
      const auto keys = make_keys<TypeParam>(n, how, n);
      for (const std::size_t k : {std::size_t{1}, n / 100}) {
        ASSERT_NO_FATAL_FAILURE(expect_sampled(keys, k, n % 2 * (k % 2)));
      }
    }
  }
}

template <class NumItemsT, class Hub = sampling_hub, class Key>
void expect_sampled_pairs(const std::vector<Key>& keys, std::size_t k) {
  SCOPED_TRACE(testing::Message() << k << " of " << keys.size() << " pairs");
  ASSERT_TRUE(plan_of<Key>(keys.size(), k).is_sampled);
  const auto values = make_values<value20>(keys.size());
  const device_vector<Key> in(keys);
  const device_vector<value20> values_in(values);
  device_vector<Key> out(k + 2);
  device_vector<value20> values_out(k + 2);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return sampled<true, Hub>(storage..., in.data(), out.data(), values_in.data(), values_out.data(),
                              static_cast<NumItemsT>(keys.size()), k);
  }));
  const auto items = expected_items<true>(keys, k, false);
  expect_items(keys, items, out.to_host());
  expect_items(values, items, values_out.to_host());
}

// Indices of candidates have 32 bits, and 64 bits.
TEST(device_top_k, pairs_by_a_sample) {
  const std::size_t n = if_small<std::size_t>(6007, 50021);
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    const auto keys = make_keys<float>(n, how);
    ASSERT_NO_FATAL_FAILURE(expect_sampled_pairs<int>(keys, n / 80));
    if (how == pattern::random || how == pattern::few) {
      ASSERT_NO_FATAL_FAILURE(expect_sampled_pairs<std::int64_t>(keys, n / 80));
      ASSERT_NO_FATAL_FAILURE((expect_sampled_pairs<int, tile_hub>(keys, n / 80)));
    }
  }
}

TEST(device_top_k, computed_keys_by_a_sample) {
  const std::size_t n = if_small<std::size_t>(5000, 40000), k = 40;
  device_vector<std::int32_t> out(k);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return sampled<false>(storage..., counting<std::int32_t>(-7), out.data(), NullType{}, NullType{}, n, k);
  }));
  const auto results = out.to_host();
  for (std::size_t i = 0; i < k; ++i) ASSERT_EQ(static_cast<std::int32_t>(i) - 7, results[i]);
}

// If all sampled items are among the greatest, there are fewer candidates than results. If they are among the least,
// nearly all items are candidates, which do not fit. Both times the result must be right.
TEST(device_top_k, a_sample_may_mislead) {
  const std::size_t n = if_small<std::size_t>(5123, 30011), k = n / 90;
  const auto sample = strata::detail::top_k_sample<const std::uint32_t*>::of(nullptr, n, sampling_hub::samples);
  for (const std::uint32_t offset : {1u << 30, ~0u << 30}) {
    SCOPED_TRACE(offset);
    auto keys = make_keys<std::uint32_t>(n, pattern::random);
    for (std::uint32_t& key : keys) key = (key >> 4) + (1u << 30);
    for (std::size_t part = 0; part < sample.count; ++part) keys[sample.index_of(part)] += offset;
    const std::size_t items_per_sample = n / sample.count;
    ASSERT_GT(k, items_per_sample);
    ASSERT_NO_FATAL_FAILURE(expect_sampled(keys, k));
    ASSERT_NO_FATAL_FAILURE(expect_sampled_pairs<int>(keys, k));
    ASSERT_NO_FATAL_FAILURE((expect_sampled_pairs<int, tile_hub>(keys, k)));
  }
}

TEST(device_top_k, numbers_that_are_none_by_a_sample) {
  const std::size_t n = if_small<std::size_t>(5123, 30011);
  auto keys = make_keys<float>(n, pattern::random);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t every : {2, 700}) {
    SCOPED_TRACE(every);
    for (std::size_t i = 0; i < n; i += every) keys[i] = i % 3 == 0 ? nan : i % 3 == 1 ? -nan : -0.0f;
    ASSERT_NO_FATAL_FAILURE(expect_sampled(keys, n / 90));
  }
  for (std::size_t i = 0; i < n; ++i) keys[i] = i % 2 == 0 ? -0.0f : i % 7 == 1 ? 0.0f : i % 400 == 3 ? 1.0f : nan;
  ASSERT_NO_FATAL_FAILURE(expect_sampled(keys, n / 90));
}

// Keys are in the order of DeviceRadixSort, in which 0 is the least, whatever `<` says.
enum class level : std::uint32_t {};
STRATA_HD bool operator<(level a, level b) {
  return static_cast<std::uint32_t>(a) - 1 < static_cast<std::uint32_t>(b) - 1;
}
STRATA_HD bool operator<=(level a, level b) { return !(b < a); }

TEST(device_top_k, enumerations_by_a_sample) {
  const std::size_t n = if_small<std::size_t>(5123, 30011);
  const auto numbers = make_keys<std::uint32_t>(n, pattern::random);
  std::vector<level> keys(n);
  std::memcpy(keys.data(), numbers.data(), n * sizeof(level));
  for (std::size_t i = 0; i < n; i += n / 5) keys[i] = level{};
  ASSERT_NO_FATAL_FAILURE(expect_sampled(keys, n / 90));
}

// Compares the candidates themselves. There are more of them than results, so an error by one would rarely change a
// result.
template <class Hub>
void expect_candidates(const std::vector<float>& keys, std::size_t last, std::size_t capacity) {
  using Problem = strata::detail::top_k_collect_problem<unsigned, const float*, true, true>;
  using Collector = strata::detail::DispatchTopKCollect<Problem, typename Hub::template collect_hub<Problem>>;
  using Codes = Problem::Codes;
  const auto code_of = [&](std::size_t i) { return Codes::ordered(Codes::encode(keys[i])); };
  std::vector<float> expected;
  std::vector<unsigned> expected_indices;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (code_of(i) > code_of(last) || (code_of(i) == code_of(last) && i > last)) continue;
    expected.push_back(keys[i]);
    expected_indices.push_back(static_cast<unsigned>(i));
  }
  const std::size_t number = expected.size();
  expected.resize(std::min(number, capacity));
  expected_indices.resize(expected.size());

  const device_vector<float> in(keys);
  const device_vector<Problem::Bound> bound(std::vector<Problem::Bound>{{code_of(last), last}});
  device_vector<float> candidates(capacity);
  device_vector<unsigned> indices(capacity);
  device_vector<unsigned long long> found(1);
  device_vector<strata::platform::tagged_word> words(Collector::number_of_words());
  strata::detail::device_properties device;
  ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(device, nullptr));
  Collector collector{{{in.data(), bound.data(), candidates.data(), indices.data(), capacity, found.data()},
                       keys.size(),
                       nullptr,
                       device,
                       words.data(),
                       keys.size()}};
  ASSERT_CUDA_SUCCESS(Collector::MaxPolicy::Invoke(device.ptx_version, collector));
  EXPECT_EQ(number, found.to_host()[0]);
  std::vector<float> front = candidates.to_host();
  front.resize(expected.size());
  EXPECT_TRUE(expected.empty() || std::memcmp(expected.data(), front.data(), expected.size() * sizeof(float)) == 0);
  std::vector<unsigned> front_indices = indices.to_host();
  front_indices.resize(expected.size());
  EXPECT_EQ(expected_indices, front_indices);
}

TEST(device_top_k, candidates_are_all_items_up_to_the_last) {
  const std::size_t n = if_small<std::size_t>(3001, 30011);
  for (const pattern how : {pattern::random, pattern::equal, pattern::few, pattern::sorted}) {
    auto keys = random_reals<float>(n, -1, 1);
    if (how == pattern::equal) keys.assign(n, -0.0f);
    if (how == pattern::few)
      std::transform(keys.begin(), keys.end(), keys.begin(), [](float x) {
        return x > 0.9f ? 1.0f : x > 0 ? 0.0f : -0.0f;
      });
    if (how == pattern::sorted) std::sort(keys.begin(), keys.end());
    for (const std::size_t last : {std::size_t{0}, n / 3, n / 3 + 1, n / 2 + 17, n - 1}) {
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how) << ", last " << last);
      ASSERT_NO_FATAL_FAILURE(expect_candidates<sampling_hub>(keys, last, n));
      ASSERT_NO_FATAL_FAILURE(expect_candidates<tile_hub>(keys, last, n / 3));
    }
  }
}

TEST(device_top_k, last_candidates_are_items_of_the_sample) {
  using Digits = strata::detail::radix_digits<std::uint32_t, true>;
  using Bound = strata::detail::top_k_bound<std::uint32_t>;
  using Sample = strata::detail::top_k_sample<const std::uint32_t*>;
  using Policy = sampling_hub::MaxPolicy;
  const std::size_t n = 3001;
  const strata::detail::top_k_workspace workspace{};
  for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
    const auto keys = make_keys<std::uint32_t>(n, how);
    const device_vector<std::uint32_t> in(keys);
    const Sample sample = Sample::of(in.data(), n, sampling_hub::samples);
    std::vector<std::uint32_t> sampled_keys;
    for (std::size_t part = 0; part < sample.count; ++part) {
      const std::size_t index = sample.index_of(part);
      ASSERT_LT(index, n);
      ASSERT_TRUE(part == 0 || index > sample.index_of(part - 1));
      sampled_keys.push_back(keys[index]);
    }
    device_vector<std::uint32_t> copies(sample.count);
    const unsigned threads = strata::detail::top_k_gather_threads;
    ASSERT_CUDA_SUCCESS(
        strata::launch({"gather", dim3((static_cast<unsigned>(sample.count) + threads - 1) / threads), dim3(threads)},
                       strata::detail::top_k_gather_kernel<const std::uint32_t*>, sample, copies.data()));
    ASSERT_EQ(sampled_keys, copies.to_host());
    const auto order = expected_order<true>(sampled_keys, 0, 32);
    for (const std::size_t rank : {1, 2, 77, 255, 256}) {
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how) << ", rank " << rank);
      device_vector<Bound> bound(1);
      ASSERT_CUDA_SUCCESS(
          strata::launch({"sample", dim3(1), dim3(Policy::select.block_threads)},
                         strata::detail::top_k_sample_kernel<Policy, const std::uint32_t*, Digits, Bound>, sample,
                         copies.data(), rank, bound.data(), workspace));
      const Bound result = bound.to_host()[0];
      EXPECT_EQ(~sampled_keys[order[rank - 1]], result.code);
      EXPECT_EQ(sample.index_of(order[rank - 1]), result.index);
    }
  }
}

TEST(device_top_k, candidates_fit_their_capacity) {
  using strata::detail::top_k_plan;
  for (const std::size_t n : {std::size_t{1} << 22, std::size_t{1} << 28, std::size_t{1} << 40}) {
    std::size_t last = 0;
    for (std::size_t k = 1; k < n; k += k / 3 + 1) {
      const top_k_plan plan = top_k_plan::make(n, k, 4, 4096, 1 << 24);
      EXPECT_GE(plan.capacity, last);
      EXPECT_LE(plan.capacity, n / 4);
      if (plan.is_sampled) {
        EXPECT_GT(plan.capacity, k);
        EXPECT_LE(plan.sample_rank, 4096u);
      }
      last = plan.capacity;
    }
  }
  std::size_t last = 0;
  for (std::size_t n = 1; n < std::size_t{1} << 30; n += n / 50 + 1) {
    const std::size_t capacity = top_k_plan::make(n, 1000, 4, 4096, 1 << 24).capacity;
    EXPECT_GE(capacity, last);
    last = capacity;
  }
}

// ------------------------------------------------------------------ iterators, counts, streams

struct square {
  STRATA_HD std::int64_t operator()(int x) const { return static_cast<std::int64_t>(x) * x; }
};

TEST(device_top_k, iterators_of_keys_and_values) {
  const std::vector<int> numbers = random_integers<int>(if_small<std::size_t>(3000, 10000), -100000, 100000);
  const device_vector<int> in(numbers);
  std::vector<std::int64_t> keys;
  for (const int x : numbers) keys.push_back(square{}(x));
  const std::size_t k = 123;
  const auto items = expected_items<true>(keys, k, false);
  device_vector<std::int64_t> out(k);
  device_vector<int> indices(k);
  device_vector<unsigned> written(std::vector<unsigned>(k, 0u));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceTopK::MaxPairs(storage..., transforming<const int*, square>(in.data(), square{}),
                                counted_output<std::int64_t>(out.data(), written.data()), counting<int>(0),
                                indices.data(), numbers.size(), static_cast<short>(k));
  }));
  expect_items(keys, items, out.to_host());
  EXPECT_EQ(std::vector<int>(items.begin(), items.end()), indices.to_host());
  EXPECT_EQ(std::vector<unsigned>(k, 1u), written.to_host());

  const auto sorted = expected_items<true>(keys, k, true);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceTopK::MaxPairsSorted(storage..., transforming<const int*, square>(in.data(), square{}), out.data(),
                                      counting<int>(0), indices.data(), numbers.size(), k);
  }));
  expect_items(keys, sorted, out.to_host());
  EXPECT_EQ(std::vector<int>(sorted.begin(), sorted.end()), indices.to_host());
}

template <class Call>
void expect_replays(std::size_t n, std::size_t k, bool is_sorted, const Call& call) {
  device_vector<float> in(n), out(k);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, in.data(), out.data(), nullptr));
  const scratch storage(bytes, 8);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, in.data(), out.data(), on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const pattern how : {pattern::random, pattern::equal, pattern::random, pattern::few}) {
    const auto keys = make_keys<float>(n, how, static_cast<std::uint64_t>(how) + n);
    in.assign(keys);
    out.poison();
    recorded.replay(where);
    where.synchronize();
    ASSERT_NO_FATAL_FAILURE(expect_items(keys, expected_items<true>(keys, k, is_sorted), out.to_host()));
  }
}

TEST(device_top_k, graphs_may_be_replayed_with_other_keys) {
  const std::size_t n = if_small<std::size_t>(5000, 30000);
  ASSERT_NO_FATAL_FAILURE(expect_replays(
      n, 50, false, [&](void* storage, std::size_t& bytes, const float* in, float* out, cudaStream_t on) {
        return DeviceTopK::MaxKeys(storage, bytes, in, out, n, 50, on);
      }));
  ASSERT_NO_FATAL_FAILURE(
      expect_replays(n, n, false, [&](void* storage, std::size_t& bytes, const float* in, float* out, cudaStream_t on) {
        return DeviceTopK::MaxKeys(storage, bytes, in, out, n, n, on);
      }));
  ASSERT_NO_FATAL_FAILURE(expect_replays(
      n, 300, true, [&](void* storage, std::size_t& bytes, const float* in, float* out, cudaStream_t on) {
        return DeviceTopK::MaxKeysSorted(storage, bytes, in, out, n, 300, on);
      }));
  ASSERT_NO_FATAL_FAILURE(expect_replays(
      n, 50, false, [&](void* storage, std::size_t& bytes, const float* in, float* out, cudaStream_t on) {
        return sampled<true>(storage, bytes, in, out, NullType{}, NullType{}, n, 50, on);
      }));
}

TEST(device_top_k, refuses_negative_ranks) {
  std::size_t bytes = 77;
  const int* const in = nullptr;
  int* const out = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTopK::MaxKeys(nullptr, bytes, in, out, 10, -1));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceTopK::MinKeysSorted(nullptr, bytes, in, out, 10, std::int64_t{-1}));
  EXPECT_EQ(77u, bytes);
}

TEST(device_top_k, storage_is_as_documented) {
  const int* const in = nullptr;
  int* const out = nullptr;
  const auto bytes_for = [&](std::size_t size, std::size_t k) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(DeviceTopK::MaxKeys(nullptr, bytes, in, out, size, k));
    return bytes;
  };
  constexpr std::size_t n = std::size_t{1} << 28;
  EXPECT_LE(bytes_for(1000, 10), 63000u);
  EXPECT_LE(bytes_for(n, 1), 210000 + n * sizeof(int) * 8 / 1000);
  EXPECT_LE(bytes_for(n, n / 1000), 210000 + n * sizeof(int) * 14 / 1000);
  EXPECT_LE(bytes_for(n, n / 100), 210000 + n * sizeof(int) * 34 / 1000);
  for (std::size_t k = n / 100; k <= n; k *= 2) EXPECT_LE(bytes_for(n, k), 210000 + n * sizeof(int) / 4) << k;
}

TEST(device_top_k, no_results_need_no_arrays) {
  const int* const in = nullptr;
  int* const out = nullptr;
  EXPECT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return DeviceTopK::MaxKeys(storage..., in, out, 10, 0); }));
  EXPECT_CUDA_SUCCESS(in_two_phases(
      [&](auto&&... storage) { return DeviceTopK::MinPairsSorted(storage..., in, out, in, out, 0, 10); }));
}

TEST(device_top_k, keeps_the_order_of_the_input) {
  const int n = 10, k = 3;
  const device_vector<int> in(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6, 5, 8});
  device_vector<int> out(3);
  const int* const d_keys = in.data();
  int* const d_greatest = out.data();
  const cudaStream_t stream = nullptr;
  void* d_temp = nullptr;

  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(strata::DeviceTopK::MaxKeys(nullptr, bytes, d_keys, d_greatest, n, k));
  ASSERT_CUDA_SUCCESS(cudaMalloc(&d_temp, bytes));
  ASSERT_CUDA_SUCCESS(strata::DeviceTopK::MaxKeys(d_temp, bytes, d_keys, d_greatest, n, k, stream));

  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  ASSERT_CUDA_SUCCESS(cudaFree(d_temp));
  EXPECT_EQ((std::vector<int>{9, 6, 8}), out.to_host());
}

}  // namespace device_top_k_test

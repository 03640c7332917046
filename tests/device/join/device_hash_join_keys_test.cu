// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with keys of other types, with other functors, and with columns.
#include "device/join/device_hash_join_support.cuh"
#include "device/join/host_join_support.hpp"
#include "support/test_types.cuh"

#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <limits>

namespace {

using namespace device_join_test;

TEST(device_hash_join_keys, of_12_bytes) {
  check_few_rows<bytes12, std::int32_t>(as_bytes12, if_small<std::size_t>(11, 4));
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_hash_join_keys, of_16_bytes) {
  check_few_rows<bytes16, std::int64_t>(as_bytes16, if_small<std::size_t>(11, 4));
}

TEST(device_hash_join_keys, with_padding_and_a_hash_of_their_own) {
  check_few_rows<composite, std::uint32_t, join_settings<composite_hash>>(as_composite, if_small<std::size_t>(11, 4));
}
#endif

TEST(device_hash_join_keys, that_all_collide) {
  check_few_rows<std::uint32_t, std::uint32_t, join_settings<same_hash>>(as_u32, if_small<std::size_t>(11, 4));
}

std::int8_t as_i8(std::uint32_t id) { return static_cast<std::int8_t>(id - 3); }
TEST(device_hash_join_keys, of_1_byte) {
  check_few_rows<std::int8_t, std::int32_t>(as_i8, if_small<std::size_t>(11, 4));
}

/// Keys are equal if their hundreds are. So partners need not have equal bits.
struct hundreds_hash {
  STRATA_HD unsigned operator()(std::uint32_t key) const { return key / 100; }
};
struct equal_hundreds {
  STRATA_HD bool operator()(std::uint32_t a, std::uint32_t b) const { return a / 100 == b / 100; }
};
std::uint32_t as_hundreds(std::uint32_t id) { return id * 100 + random_below(100); }

TEST(device_hash_join_keys, are_compared_by_the_given_equality) {
  check_few_rows<std::uint32_t, std::int32_t, join_settings<hundreds_hash, equal_hundreds>>(
      as_hundreds, if_small<std::size_t>(11, 4));
}

// Row numbers of 8 bytes are for sides of 2^32 rows and more. Here the same code joins a few rows.
TEST(device_hash_join_keys, of_rows_that_take_8_bytes) {
  using Sink = strata::detail::join_pairs_sink<std::int64_t>;
  const side_ids build{random_ids(300, 120), random_nulls(300, 10)};
  const side_ids probe{random_ids(200, 150), random_nulls(200, 10)};
  const device_vector<std::uint32_t> build_keys(keys_of<std::uint32_t>(build, as_u32));
  const device_vector<std::uint32_t> probe_keys(keys_of<std::uint32_t>(probe, as_u32));
  const device_vector<std::uint32_t> build_valid(build.valid_words());
  const device_vector<std::uint32_t> probe_valid(probe.valid_words());
  for (const JoinKind kind : every_kind) {
    for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
      row_pairs expected = nested_loop_join(kind, build, probe, true);
      join_settings<> options;
      options.order = order;
      options.nulls_equal = true;
      options.build_valid = build_valid.data();
      options.probe_valid = probe_valid.data();
      const auto size = static_cast<std::int64_t>(expected.size());
      device_vector<std::int64_t> build_out(expected.size());
      device_vector<std::int64_t> probe_out(expected.size());
      device_vector<std::int64_t> total(1);
      const Sink sink{build_out.data(), probe_out.data()};
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return options.with_order([&](const auto& join_options) {
          constexpr bool is_ordered = std::decay_t<decltype(join_options)>::order == JoinOrder::probe;
          using Dispatch = strata::detail::DispatchHashJoin<std::int64_t, const std::uint32_t*, Sink, strata::JoinHash,
                                                            strata::Equality, strata::join_policy_hub,
                                                            unsigned long long, every_method<is_ordered>>;
          return Dispatch::Dispatch(storage, bytes, kind,
                                    strata::detail::untyped(options.build_side(build_keys.data(), 300)),
                                    strata::detail::untyped(options.probe_side(probe_keys.data(), 200)), sink,
                                    total.data(), size, join_options, nullptr);
        });
      }));
      ASSERT_EQ(size, total.to_host()[0]);
      const std::vector<std::int64_t> b = build_out.to_host();
      const std::vector<std::int64_t> p = probe_out.to_host();
      row_pairs out;
      for (std::size_t i = 0; i < expected.size(); ++i) out.emplace_back(b[i], p[i]);
      if (order == JoinOrder::any) {
        std::sort(out.begin(), out.end());
        std::sort(expected.begin(), expected.end());
      }
      EXPECT_TRUE(out == expected);
    }
  }
}

/// Two columns of both sides, with the rows of one side behind those of the other. A key is a row number.
struct row_columns {
  const std::uint32_t* first;
  const double* second;
};
struct row_hash {
  row_columns columns;
  STRATA_HD std::uint64_t operator()(std::int64_t row) const {
    return columns.first[row] * 31u + static_cast<std::uint64_t>(columns.second[row]);
  }
};
struct equal_rows {
  row_columns columns;
  STRATA_HD bool operator()(std::int64_t a, std::int64_t b) const {
    return columns.first[a] == columns.first[b] && columns.second[a] == columns.second[b];
  }
};

TEST(device_hash_join_keys, may_be_rows_of_several_columns) {
  constexpr std::size_t build_rows = 300;
  constexpr std::size_t probe_rows = 500;
  const std::vector<std::uint32_t> ids = random_ids(build_rows + probe_rows, 150);
  std::vector<std::uint32_t> firsts;
  std::vector<double> seconds;
  for (const std::uint32_t id : ids) {
    firsts.push_back(id % 12);
    seconds.push_back(id / 12);
  }
  const device_vector<std::uint32_t> first(firsts);
  const device_vector<double> second(seconds);
  const row_columns columns{first.data(), second.data()};
  std::vector<std::int64_t> numbers(ids.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  const device_vector<std::int64_t> keys(numbers);

  join_settings<row_hash, equal_rows> options;
  options.hash = {columns};
  options.equal = {columns};
  const row_pairs expected = sort_merge_join(JoinKind::left, {{ids.begin(), ids.begin() + build_rows}, {}},
                                             {{ids.begin() + build_rows, ids.end()}, {}});
  device_vector<std::int32_t> build_out(expected.size());
  device_vector<std::int32_t> probe_out(expected.size());
  device_vector<std::int64_t> total(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(
        storage, bytes, options.build_side(keys.data(), std::int64_t{build_rows}),
        options.probe_side(keys.data() + build_rows, std::int64_t{probe_rows}),
        strata::join_pairs(build_out.data(), probe_out.data(), static_cast<std::int64_t>(expected.size())),
        total.data(), options.ordered());
  }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
  const std::vector<std::int32_t> build = build_out.to_host();
  const std::vector<std::int32_t> probe = probe_out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i], (row_pair{build[i], probe[i]})) << "row " << i;
  }
}

/// Makes a 16-bit float, or a pair of them. Zeros have either sign.
template <class Key>
Key as_short_floats(std::uint32_t id) {
  const float value = id == 0 && random_below(2) == 0 ? -0.0f : static_cast<float>(id);
  if constexpr (sizeof(Key) == 4) {
    return Key{as_short_floats<decltype(Key::x)>(id % 3), as_short_floats<decltype(Key::y)>(id / 3)};
  } else {
    return Key(value);
  }
}

TEST(device_hash_join_keys, of_16_bit_floats_find_zeros_of_the_other_sign) {
  check_few_rows<__half, std::int32_t>(as_short_floats<__half>, if_small<std::size_t>(11, 4));
#if !STRATA_TEST_SMALL
  check_few_rows<__nv_bfloat16, std::int32_t>(as_short_floats<__nv_bfloat16>, if_small<std::size_t>(23, 4));
  check_few_rows<__half2, std::int32_t>(as_short_floats<__half2>, if_small<std::size_t>(23, 4));
#endif
  check_few_rows<__nv_bfloat162, std::int32_t>(as_short_floats<__nv_bfloat162>, if_small<std::size_t>(23, 4));
}

TEST(device_hash_join_keys, of_16_bit_floats_find_zeros_of_the_other_sign_on_the_host) {
  for (const shape& data : few_rows_with_nulls()) {
    host_join_test::joiner<__half, std::int32_t> halves(data.build, data.probe, as_short_floats<__half>);
    host_join_test::joiner<__nv_bfloat16, std::int32_t> others(data.build, data.probe, as_short_floats<__nv_bfloat16>);
    for (const JoinKind kind : every_kind) {
      strata::HostJoinOptions options;
      options.threads = 1;
      const row_pairs expected = nested_loop_join(kind, data.build, data.probe, false);
      halves.check(kind, options, expected);
      others.check(kind, options, expected);
    }
  }
}

template <class Key>
void check_zeros_and_nan() {
  const Key nan = Key(std::numeric_limits<float>::quiet_NaN());
  std::vector<Key> build_keys{Key(0.0f), nan, Key(-0.0f), Key(1.5f)};
  // If each NaN had a slot of its own, the time would grow with the square of their number.
  build_keys.resize(if_small<std::size_t>(1000, 20000), nan);
  const device_vector<Key> build(build_keys);
  const device_vector<Key> probe(std::vector<Key>{nan, Key(-0.0f), Key(1.5f)});
  device_vector<std::int32_t> build_out(4);
  device_vector<std::int32_t> probe_out(4);
  device_vector<std::int64_t> total(1);
  const join_settings<> options;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(
        storage, bytes, options.build_side(build.data(), static_cast<std::int64_t>(build_keys.size())),
        options.probe_side(probe.data(), 3), strata::join_pairs(build_out.data(), probe_out.data(), 4), total.data(),
        options.ordered());
  }));
  EXPECT_EQ(4, total.to_host()[0]);
  EXPECT_EQ((std::vector<std::int32_t>{-1, 0, 2, 3}), build_out.to_host());
  EXPECT_EQ((std::vector<std::int32_t>{0, 1, 1, 2}), probe_out.to_host());

  // A table with zeros of both signs is probed, too.
  using Table = strata::JoinTable<Key>;
  const auto build_side = strata::join_side(build.data(), build_keys.size());
  std::size_t memory_bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build_side, memory_bytes));
  device_vector<std::int64_t> memory(memory_bytes / 8 + 1);
  Table table(memory.data(), memory_bytes, build_side);
  ASSERT_CUDA_SUCCESS(table.Build(build_keys.size()));
  ASSERT_CUDA_SUCCESS(table.Inner(strata::join_side(probe.data(), 3), strata::join_count(), total.data()));
  EXPECT_EQ(3, total.to_host()[0]);
}

TEST(device_hash_join_keys, zeros_of_both_signs_are_partners_and_nan_has_none) {
  check_zeros_and_nan<double>();
#if !STRATA_TEST_SMALL
  check_zeros_and_nan<__half>();
#endif
  check_zeros_and_nan<__nv_bfloat16>();
}

/// Keys are equal if their halves are, so there are pairs of equal keys.
enum class number_of_pair : std::uint32_t {};
STRATA_HD std::uint32_t half_of(number_of_pair a) { return static_cast<std::uint32_t>(a) / 2; }
STRATA_HD bool operator==(number_of_pair a, number_of_pair b) { return half_of(a) == half_of(b); }
struct hash_of_pair {
  STRATA_HD std::uint32_t operator()(number_of_pair key) const { return half_of(key); }
};

TEST(device_hash_join_keys, may_be_enumerations_with_an_equality_of_their_own) {
  const side_ids build{random_ids(200, 25), {}}, probe{random_ids(100, 26), {}};
  const auto either = [](std::uint32_t id) { return static_cast<number_of_pair>(2 * id + random_below(2)); };
  device_joiner<number_of_pair, std::int32_t, join_settings<hash_of_pair>> join(build, probe, either);
  join.check(JoinKind::full, {}, nested_loop_join(JoinKind::full, build, probe, false), false);

  // So many unique rows from a range would be joined by an array that keys index, but equal keys with different bits
  // would not find each other there. So the array must not be used.
  std::vector<number_of_pair> even, odd;
  for (std::uint32_t i = 0; i < 1u << 14; ++i) even.push_back(static_cast<number_of_pair>(2 * i));
  for (std::uint32_t i = 0; i < 1u << 15; ++i) odd.push_back(static_cast<number_of_pair>(i | 1));
  const device_vector<number_of_pair> build_keys(even), probe_keys(odd);
  device_vector<std::int64_t> total(1);
  ASSERT_CUDA_SUCCESS(
      DeviceHashJoin::Inner(strata::join_side(build_keys.data(), 1 << 14).unique().key_range(even.front(), odd.back()),
                            strata::join_side(probe_keys.data(), 1 << 15), strata::join_count(), total.data(),
                            strata::JoinOptions<hash_of_pair>{}));
  EXPECT_EQ(1 << 15, total.to_host()[0]);
}

/// Keys are ordered by their halves only.
enum class ordered_in_pairs : int {};
STRATA_HD bool operator<(ordered_in_pairs a, ordered_in_pairs b) {
  return static_cast<int>(a) / 2 < static_cast<int>(b) / 2;
}

TEST(device_hash_join_keys, may_be_enumerations_with_an_order_of_their_own) {
  std::vector<ordered_in_pairs> first, second;
  for (int i = 0; i < 600; ++i) {
    first.push_back(static_cast<ordered_in_pairs>(i));
    second.push_back(static_cast<ordered_in_pairs>(i ^ 1));
  }
  const device_vector<ordered_in_pairs> build(first), probe(second);
  device_vector<std::int64_t> total(1);
  ASSERT_CUDA_SUCCESS(DeviceHashJoin::Inner(strata::join_side(build.data(), 600).sorted(),
                                            strata::join_side(probe.data(), 600).sorted(), strata::join_count(),
                                            total.data()));
  EXPECT_EQ(600, total.to_host()[0]);
}

// Joins by partitions move keys or hashes. Joins by one table have row numbers in its slots, and compute the keys
// again.
TEST(device_hash_join_keys, may_be_computed) {
  constexpr std::size_t build_rows = 1500, probe_rows = 2100;
  const remainder_iterator build{700, 0}, probe{900, 5};
  const auto check = [&](auto options) {
    for (const JoinKind kind : every_kind) {
      for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single}) {
        options.strategy = strategy;
        row_pairs expected = sort_merge_join(kind, {build.read(build_rows), {}}, {probe.read(probe_rows), {}});
        device_vector<std::int32_t> build_out(expected.size());
        device_vector<std::int32_t> probe_out(expected.size());
        device_vector<std::int64_t> total(1);
        std::int32_t* const build_rows_out = strata::detail::has_pairs(kind) ? build_out.data() : nullptr;
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return call_of(kind, DeviceHashJoin{}, storage, bytes, strata::join_side(build, build_rows),
                         strata::join_side(probe, probe_rows),
                         strata::join_pairs(build_rows_out, probe_out.data(), expected.size()), total.data(), options);
        }));
        ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
        const std::vector<std::int32_t> b = build_out.to_host(), p = probe_out.to_host();
        row_pairs out;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          out.emplace_back(strata::detail::has_pairs(kind) ? b[i] : -1, p[i]);
        }
        std::sort(out.begin(), out.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_TRUE(out == expected) << "kind " << static_cast<int>(kind);
      }
    }
  };
  check(strata::JoinOptions<>{});
#if !STRATA_TEST_FEW_TYPES
  check(strata::JoinOptions<same_hash>{});
#endif
}

struct thirds {
  STRATA_HD int operator()(int row) const { return row / 3; }
};

TEST(device_hash_join_keys, may_be_iterators_of_the_library) {
  const strata::CountingInputIterator<int> rows(0);
  const strata::TransformInputIterator<int, thirds, strata::CountingInputIterator<int>> keys(rows, thirds{});
  device_vector<std::int64_t> total(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Inner(storage, bytes, strata::join_side(rows, 50), strata::join_side(rows + 10, 500),
                                 strata::join_count(), total.data());
  }));
  EXPECT_EQ(40, total.to_host()[0]);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Inner(storage, bytes, strata::join_side(keys, 30), strata::join_side(keys, 1000),
                                 strata::join_count(), total.data());
  }));
  EXPECT_EQ(90, total.to_host()[0]);
}

struct price {
  double amount;
  std::int32_t currency;
};

TEST(device_hash_join_keys, columns_travel_with_their_rows) {
  const device_vector<std::int32_t> build(std::vector<std::int32_t>{5, 6, 7});
  const device_vector<std::int32_t> probe(std::vector<std::int32_t>{6, 9, 6});
  const device_vector<std::int16_t> names(std::vector<std::int16_t>{50, 60, 70});
  const device_vector<price> prices(std::vector<price>{{1.5, 1}, {2.5, 2}, {3.5, 3}});
  for (const std::int64_t capacity : {5, 4, 0}) {
    device_vector<std::int16_t> names_out(static_cast<std::size_t>(capacity));
    device_vector<price> prices_out(static_cast<std::size_t>(capacity));
    device_vector<std::int64_t> total(1);
    const join_settings<> options;
    const auto columns = strata::join_columns<std::int32_t>(
        capacity, strata::build_column(names.data(), names_out.data(), std::int16_t{-1}),
        strata::probe_column(prices.data(), prices_out.data(), price{0, -1}));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceHashJoin::Full(storage, bytes, options.build_side(build.data(), 3),
                                  options.probe_side(probe.data(), 3), columns, total.data(), options.ordered());
    }));
    EXPECT_EQ(5, total.to_host()[0]);
    const std::vector<std::int16_t> expected_names{60, -1, 60, 50, 70};
    const std::vector<std::int32_t> expected_currencies{1, 2, 3, -1, -1};
    for (std::size_t i = 0; i < static_cast<std::size_t>(capacity); ++i) {
      EXPECT_EQ(expected_names[i], names_out.to_host()[i]);
      EXPECT_EQ(expected_currencies[i], prices_out.to_host()[i].currency);
    }
  }
}

TEST(device_hash_join_keys, other_kinds_gather_too) {
  const device_vector<std::int32_t> build(std::vector<std::int32_t>{5, 6, 7, 6});
  const device_vector<std::int32_t> probe(std::vector<std::int32_t>{6, 9, 5});
  const device_vector<float> values(std::vector<float>{10, 20, 30});
  const auto gathered = [&](JoinKind kind) {
    device_vector<float> out(4);
    device_vector<std::int64_t> total(1);
    const auto columns = strata::join_columns(4, strata::probe_column(values.data(), out.data(), 0.f));
    join_settings<> options;
    options.order = JoinOrder::probe;
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return join_kinds::join_of(kind, storage, bytes, build.data(), 4, probe.data(), 3, columns, total.data(),
                                 options);
    }));
    std::vector<float> all = out.to_host();
    all.resize(static_cast<std::size_t>(total.to_host()[0]));
    return all;
  };
  EXPECT_EQ((std::vector<float>{10, 10, 30}), gathered(JoinKind::inner));
  EXPECT_EQ((std::vector<float>{10, 10, 20, 30}), gathered(JoinKind::left));
  EXPECT_EQ((std::vector<float>{10, 30}), gathered(JoinKind::semi));
  EXPECT_EQ((std::vector<float>{20}), gathered(JoinKind::anti));
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin: what calls accept and refuse, temporary storage, graphs and streams. device_arguments.cuh tests what
// joins have in common with other calls.
#include "device/join/device_hash_join_support.cuh"

#include <strata/iterator/counting_input_iterator.cuh>

#include <limits>

#include "device/schedules.cuh"

namespace {

using namespace device_join_test;

/// The arguments of a valid call. A test makes one of them wrong; the call must then neither succeed nor write.
struct arguments {
  device_vector<std::uint32_t> keys{std::vector<std::uint32_t>(random_ids(100, 50))};
  device_vector<std::int32_t> build_out{400};
  device_vector<std::int32_t> probe_out{400};
  device_vector<std::int64_t> total{1};
  JoinKind kind = JoinKind::inner;
  const std::uint32_t* build_keys = keys.data();
  const std::uint32_t* probe_keys = keys.data();
  std::int64_t build_rows = 100;
  std::int64_t probe_rows = 100;
  std::int32_t* build_rows_out = build_out.data();
  std::int32_t* probe_rows_out = probe_out.data();
  std::int64_t* num_out = total.data();
  std::int64_t capacity = 400;
  join_settings<> options;
  std::size_t missing_bytes = 0;

  cudaError_t call() {
    const device_vector<unsigned char> storage(1 << 18);
    std::size_t bytes = storage.size();
    if (missing_bytes > 0) {
      EXPECT_CUDA_SUCCESS(run(nullptr, bytes));
      bytes -= missing_bytes;
    }
    const cudaError_t status = run(const_cast<unsigned char*>(storage.data()), bytes);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    return status;
  }
  cudaError_t run(void* storage, std::size_t& bytes) const {
    return pairs_of(kind, storage, bytes, build_keys, build_rows, probe_keys, probe_rows, build_rows_out,
                    probe_rows_out, num_out, capacity, options);
  }
  bool is_untouched() const {
    const auto is_so = [](const auto& items) {
      const auto all = items.to_host();
      return std::all_of(all.begin(), all.end(), [](const auto& item) { return strata_test::is_poison(item); });
    };
    return is_so(build_out) && is_so(probe_out) && is_so(total);
  }
};

template <class Integer>
void expect_counts_in() {
  const device_vector<std::uint32_t> keys(std::vector<std::uint32_t>{1, 2, 2, 3});
  device_vector<Integer> total(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(keys.data(), 4),
                                         strata::join_side(keys.data(), 4), strata::join_count(), total.data());
  }));
  EXPECT_EQ(Integer{6}, total.to_host()[0]);
}
TEST(device_hash_join_arguments, numbers_of_rows_may_be_any_integers_of_8_bytes) {
  expect_counts_in<long long>();
  expect_counts_in<unsigned long long>();
  expect_counts_in<long>();
  expect_counts_in<unsigned long>();
}

TEST(device_hash_join_arguments, wrong_ones_are_refused_before_anything_is_written) {
  const auto refuse = [](const char* what, auto spoil) {
    arguments wrong;
    spoil(wrong);
    EXPECT_EQ(cudaErrorInvalidValue, wrong.call()) << what;
    EXPECT_TRUE(wrong.is_untouched()) << what;
  };
  refuse("more rows than int", [](arguments& a) { a.build_rows = std::int64_t{1} << 31; });
  refuse("more rows than int", [](arguments& a) { a.probe_rows = std::int64_t{1} << 31; });
  refuse("host strategy", [](arguments& a) { a.options.strategy = JoinStrategy::cpu; });
  refuse("storage of sorted sides", [](arguments& a) {
    a.options.sorted = true;
    a.missing_bytes = 1;
  });
  refuse("capacity of sorted sides", [](arguments& a) {
    a.options.sorted = true;
    a.capacity = -1;
  });
}

TEST(device_hash_join_arguments, iterators_of_keys_reach_all_rows) {
  using Keys = strata::CountingInputIterator<std::uint32_t, signed char>;
  std::size_t bytes = 0;
  std::int64_t* const nowhere = nullptr;
  const auto query = [&](std::int64_t build_rows, std::int64_t probe_rows) {
    return DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(Keys(0), build_rows),
                                 strata::join_side(Keys(0), probe_rows), strata::join_count(), nowhere,
                                 strata::JoinOptions<>{});
  };
  EXPECT_CUDA_SUCCESS(query(128, 128));
  EXPECT_EQ(cudaErrorInvalidValue, query(129, 128));
  EXPECT_EQ(cudaErrorInvalidValue, query(128, 129));
}

TEST(device_hash_join_arguments, masks_are_not_overwritten) {
  const device_vector<std::uint32_t> keys(std::vector<std::uint32_t>(64, 1));
  device_vector<std::int32_t> rows(200);
  device_vector<std::int64_t> total(1);
  const auto* const mask = reinterpret_cast<const std::uint32_t*>(rows.data() + 100);
  const auto side = strata::join_side(keys.data(), 64);
  const auto call = [&](const auto& build, const auto& probe, std::size_t probe_out) {
    return DeviceHashJoin::Inner(build, probe, strata::join_pairs(rows.data(), rows.data() + probe_out, 50),
                                 total.data());
  };
  EXPECT_EQ(cudaErrorInvalidValue, call(side.valid(mask), side, 51));
  EXPECT_EQ(cudaErrorInvalidValue, call(side, side.valid(mask), 52));
  EXPECT_CUDA_SUCCESS(call(side.valid(mask), side, 50));
  EXPECT_CUDA_SUCCESS(call(side, side.valid(mask), 102));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
}

// Makes a size query. A table needs more slots than rows, because a search for a key that is not there ends at a free
// slot.
template <class Index>
cudaError_t query(std::int64_t build_rows, std::int64_t probe_rows, std::size_t& bytes) {
  const std::uint64_t* const keys = nullptr;
  Index* const nowhere = nullptr;
  return DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(keys, build_rows), strata::join_side(keys, probe_rows),
                               strata::join_pairs(nowhere, nowhere, 0), nullptr, strata::JoinOptions<>{});
}

TEST(device_hash_join_arguments, tables_have_more_slots_than_rows) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - 4;
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(query<std::uint32_t>(most, most, bytes));
  EXPECT_GT(bytes, static_cast<std::size_t>(most) * sizeof(std::uint64_t));
  EXPECT_EQ(cudaErrorInvalidValue, query<std::uint32_t>(most + 1, 1, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, query<std::uint32_t>(1, most + 1, bytes));
  using table = strata::JoinTable<std::uint64_t, std::uint32_t>;
  EXPECT_CUDA_SUCCESS(table::MemoryBytes(strata::join_side<std::uint64_t>(nullptr, most), bytes));
  EXPECT_EQ(cudaErrorInvalidValue, table::MemoryBytes(strata::join_side<std::uint64_t>(nullptr, most + 1), bytes));

  // With an Index of 8 bytes, slots have row numbers of 8 bytes too.
  EXPECT_CUDA_SUCCESS(query<std::int64_t>(most + 1, 1, bytes));
  EXPECT_CUDA_SUCCESS(query<std::int64_t>((std::int64_t{1} << 40) - 4, 1, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, query<std::int64_t>((std::int64_t{1} << 40) - 3, 1, bytes));
}

TEST(device_hash_join_arguments, null_pointers_without_rows_are_right) {
  arguments none;
  none.build_keys = none.probe_keys = nullptr;
  none.build_rows = none.probe_rows = 0;
  EXPECT_CUDA_SUCCESS(none.call());
  EXPECT_EQ(0, none.total.to_host()[0]);

  arguments counted;
  counted.build_rows_out = counted.probe_rows_out = nullptr;
  counted.capacity = 0;
  EXPECT_CUDA_SUCCESS(counted.call());
  EXPECT_GE(counted.total.to_host()[0], 100);

  arguments semi;
  semi.kind = JoinKind::semi;
  semi.build_rows_out = nullptr;
  EXPECT_CUDA_SUCCESS(semi.call());
  EXPECT_EQ(100, semi.total.to_host()[0]);
  EXPECT_FALSE(strata_test::is_poison(semi.probe_out.to_host()[99]));
  EXPECT_TRUE(strata_test::is_poison(semi.probe_out.to_host()[100]));
}

TEST(device_hash_join_arguments, storage_never_shrinks_when_rows_are_added) {
  join_settings<> options;
  const auto bytes_for = [&](JoinKind kind, JoinOrder order, std::int64_t build_rows, std::int64_t probe_rows) {
    const std::uint32_t* const none = nullptr;
    std::int32_t* const nowhere = nullptr;
    options.order = order;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(
        pairs_of(kind, nullptr, bytes, none, build_rows, none, probe_rows, nowhere, nowhere, nullptr, 0, options));
    return bytes;
  };
  const auto check = [&] {
    for (const JoinKind kind : every_kind) {
      for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
        std::size_t before = 1;
        for (std::int64_t rows = 0; rows < 2000000000; rows += rows / 3 + 1) {
          const std::size_t bytes = bytes_for(kind, order, rows, rows);
          EXPECT_GE(bytes, before);
          EXPECT_GE(bytes_for(kind, order, rows + 1, rows), bytes);
          EXPECT_GE(bytes_for(kind, order, rows, rows + 1), bytes);
          before = bytes;
        }
      }
    }
  };
  check();
  options.key_range.keys = 1000000;
  check();
  options.sorted = true;
  check();
}

TEST(device_hash_join_arguments, promise_of_unique_rows_saves_storage) {
  const std::uint32_t* const none = nullptr;
  std::int32_t* const nowhere = nullptr;
  join_settings<> options;
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(DeviceHashJoin::Inner(nullptr, bytes, options.build_side(none, 10000),
                                            options.probe_side(none, 10000), strata::join_pairs(nowhere, nowhere, 0),
                                            nullptr, options));
  options.build_unique = true;
  std::size_t fewer = 0;
  EXPECT_CUDA_SUCCESS(DeviceHashJoin::Inner(nullptr, fewer, options.build_side(none, 10000),
                                            options.probe_side(none, 10000), strata::join_pairs(nowhere, nowhere, 0),
                                            nullptr, options));
  EXPECT_LT(fewer, bytes);
}

// The call allocates and frees its storage on the stream. Numbers of rows have 4 or 8 bytes.
TEST(device_hash_join_arguments, storage_is_stream_ordered_if_none_is_given) {
  constexpr int rows = 3000;
  const side_ids build_ids{random_ids(rows, 2000), {}};
  const side_ids probe_ids{random_ids(rows, 2000), {}};
  const device_vector<std::uint32_t> build(build_ids.ids);
  const device_vector<std::uint32_t> probe(probe_ids.ids);
  device_vector<std::int64_t> total(1);
  const stream where;
  for (const JoinKind kind : every_kind) {
    const auto expected = static_cast<std::int64_t>(sort_merge_join(kind, build_ids, probe_ids).size());
    total.poison();
    ASSERT_CUDA_SUCCESS(call_of(kind, DeviceHashJoin{}, strata::join_side(build.data(), rows),
                                strata::join_side(probe.data(), rows), strata::join_count(), total.data(),
                                strata::JoinOptions<>{}, where));
    where.synchronize();
    EXPECT_EQ(expected, total.to_host()[0]);
  }
  const auto side = strata::join_side(build.data(), std::int64_t{rows});
  using Table = strata::JoinTable<std::uint32_t>;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(side, bytes));
  const scratch memory(bytes);
  Table table(memory.data(), bytes, side);
  ASSERT_CUDA_SUCCESS(table.Build(rows, where));
  total.poison();
  ASSERT_CUDA_SUCCESS(table.Inner(strata::join_side(probe.data(), rows), strata::join_count(), total.data(), where));
  where.synchronize();
  EXPECT_EQ(static_cast<std::int64_t>(sort_merge_join(JoinKind::inner, build_ids, probe_ids).size()),
            total.to_host()[0]);
}

TEST(device_hash_join_arguments, ranges_of_keys_count_their_ends) {
  const auto range = [](auto key, auto lowest, auto highest) {
    return strata::join_side<decltype(key)>(nullptr, 0).key_range(lowest, highest).range;
  };
  EXPECT_EQ(-5, range(std::int8_t{0}, std::int8_t{-5}, std::int8_t{7}).lowest);
  EXPECT_EQ(13u, range(std::int8_t{0}, std::int8_t{-5}, std::int8_t{7}).keys);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(2u, range(std::uint64_t{0}, most - 1, most).keys);
  EXPECT_EQ(-2, range(std::uint64_t{0}, most - 1, most).lowest);
  // An empty range counts as unknown. So does the range of all keys of 8 bytes, which would be of no use.
  EXPECT_EQ(0u, range(0, 3, 2).keys);
  EXPECT_EQ(0u, range(std::uint64_t{0}, std::uint64_t{0}, most).keys);
}

// Checks that a graph joins the keys that are there when it is replayed.
void check_replays(JoinKind kind, JoinOrder order) {
  constexpr std::size_t rows = 2500;
  constexpr std::size_t capacity = 9000;
  device_vector<std::uint32_t> build(rows);
  device_vector<std::uint32_t> probe(rows);
  device_vector<std::int32_t> build_out(capacity);
  device_vector<std::int32_t> probe_out(capacity);
  device_vector<std::int64_t> total(1);
  join_settings<> options;
  options.order = order;
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t where) {
    return pairs_of(kind, storage, bytes, build.data(), std::int64_t{rows}, probe.data(), std::int64_t{rows},
                    build_out.data(), probe_out.data(), total.data(), std::int64_t{capacity}, options, where);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t where) { return call(storage.data(), bytes, where); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const std::uint32_t different : {2000u, 900u, 100000u}) {
    const side_ids build_ids{random_ids(rows, different), {}};
    const side_ids probe_ids{random_ids(rows, different), {}};
    build.assign(build_ids.ids);
    probe.assign(probe_ids.ids);
    recorded.replay(where);
    where.synchronize();
    row_pairs expected = sort_merge_join(kind, build_ids, probe_ids);
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
    ASSERT_LE(expected.size(), capacity);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    row_pairs out;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      out.emplace_back(strata::detail::has_pairs(kind) ? b[i] : -1, p[i]);
    }
    if (order == JoinOrder::any) {
      std::sort(out.begin(), out.end());
      std::sort(expected.begin(), expected.end());
    }
    ASSERT_TRUE(out == expected);
  }
}

TEST(device_hash_join_arguments, graph_is_replayed_with_other_keys) {
  check_replays(JoinKind::full, JoinOrder::any);
  check_replays(JoinKind::inner, JoinOrder::probe);
  check_replays(JoinKind::semi, JoinOrder::probe);
  check_replays(JoinKind::anti, JoinOrder::probe);
}

TEST(device_hash_join_arguments, any_schedule_gives_the_same_rows) {
  const std::size_t rows = if_small<std::size_t>(600, 3000);
  const side_ids build{random_ids(rows, 500), {}};
  const side_ids probe{random_ids(rows, 600), {}};
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  const row_pairs expected = sort_merge_join(JoinKind::full, build, probe);
  under_all_schedules([&](std::size_t i) {
    join_settings<> options;
    options.order = i % 2 == 0 ? JoinOrder::any : JoinOrder::probe;
    join.check(JoinKind::full, options, expected, false);
  });
}

TEST(device_hash_join_arguments, any_schedule_restores_the_order_of_the_probe_rows) {
  const std::size_t rows = if_small<std::size_t>(600, 3000);
  const side_ids build{shuffled_ids(rows, 0), {}};
  const side_ids probe{random_ids(12 * rows, static_cast<std::uint32_t>(2 * rows)), {}};
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  join_settings<> options;
  options.order = JoinOrder::probe;
  options.build_unique = true;
  const row_pairs inner = sort_merge_join(JoinKind::inner, build, probe);
  const row_pairs anti = sort_merge_join(JoinKind::anti, build, probe);
  under_all_schedules([&](std::size_t i) {
    options.strategy = i % 4 < 2 ? JoinStrategy::automatic : JoinStrategy::radix_single;
    join.check(i % 2 == 0 ? JoinKind::inner : JoinKind::anti, options, i % 2 == 0 ? inner : anti, false);
  });
}

}  // namespace

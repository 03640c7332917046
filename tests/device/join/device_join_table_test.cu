// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// JoinTable: built once, probed often, with rows that are added.
#include "device/join/device_hash_join_support.cuh"

namespace {

using namespace device_join_test;
template <JoinOrder Order>
using table_of_words = strata::JoinTable<std::uint32_t, std::int32_t, strata::JoinHash, strata::Equality, Order>;

/// Keys in device memory, and a table of some of them in memory of exactly the size that it asks for.
template <JoinOrder Order>
struct built {
  using Table = table_of_words<Order>;

  built(const side_ids& side, const join_settings<>& options)
      : keys(keys_of<std::uint32_t>(side, as_u32)),
        memory(bytes_for(rows_of(side), options), 8),
        table(memory.data(), memory.bytes(), options.build_side(keys.data(), rows_of(side)), options_of(options)) {}

  static typename Table::Options options_of(const join_settings<>& options) {
    if constexpr (Order == JoinOrder::probe) {
      return options.ordered();
    } else {
      return options;
    }
  }

  static std::int64_t rows_of(const side_ids& side) { return static_cast<std::int64_t>(side.ids.size()); }

  static std::size_t bytes_for(std::int64_t rows, const join_settings<>& options) {
    const std::uint32_t* const no_keys = nullptr;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(Table::MemoryBytes(options.build_side(no_keys, rows), bytes, options_of(options)));
    return bytes;
  }

  void check(JoinKind kind, const side_ids& probe, row_pairs expected) const {
    const device_vector<std::uint32_t> probe_keys(keys_of<std::uint32_t>(probe, as_u32));
    const device_vector<std::uint32_t> probe_valid(probe.valid_words());
    const auto probe_side = strata::join_side(probe_keys.data(), rows_of(probe)).valid(probe_valid.data());
    const auto size = static_cast<std::int64_t>(expected.size());
    device_vector<std::int64_t> total(1);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call_of(kind, table, storage, bytes, probe_side, strata::join_count(), total.data());
    }));
    ASSERT_EQ(size, total.to_host()[0]);
    total.poison();
    device_vector<std::int32_t> build_out(expected.size());
    device_vector<std::int32_t> probe_out(expected.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call_of(kind, table, storage, bytes, probe_side,
                     strata::join_pairs(build_out.data(), probe_out.data(), size), total.data());
    }));
    ASSERT_EQ(size, total.to_host()[0]);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    row_pairs out;
    for (std::size_t i = 0; i < expected.size(); ++i) out.emplace_back(b[i], p[i]);
    if constexpr (Order == JoinOrder::any) {
      std::sort(out.begin(), out.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_TRUE(out == expected);
  }

  device_vector<std::uint32_t> keys;
  scratch memory;
  Table table;
};

side_ids first_rows(const side_ids& side, std::size_t count) {
  side_ids first{{side.ids.begin(), side.ids.begin() + static_cast<std::ptrdiff_t>(count)}, {}};
  if (!side.null.empty()) {
    first.null.assign(side.null.begin(), side.null.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return first;
}

template <JoinOrder Order>
void check_added_rows() {
  const side_ids build{random_ids(1500, 500), random_nulls(1500, 7)};
  const side_ids probe{random_ids(900, 700), random_nulls(900, 9)};
  const side_ids few{random_ids(70, 700), {}};
  const device_vector<std::uint32_t> build_valid(build.valid_words());
  join_settings<> options;
  options.nulls_equal = Order == JoinOrder::any;
  options.build_valid = build_valid.data();
  built<Order> all(build, options);
  for (int again = 0; again < 2; ++again) {
    EXPECT_CUDA_SUCCESS(all.table.Build(400));
    std::size_t rows = 400;
    for (const std::size_t more : {0u, 1u, 599u, 500u}) {
      EXPECT_CUDA_SUCCESS(all.table.Insert(static_cast<std::int64_t>(more)));
      rows += more;
      ASSERT_EQ(static_cast<std::int64_t>(rows), all.table.Rows());
      const side_ids there = first_rows(build, rows);
      for (const JoinKind kind : every_kind) {
        all.check(kind, probe, nested_loop_join(kind, there, probe, options.nulls_equal));
        all.check(kind, few, nested_loop_join(kind, there, few, options.nulls_equal));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(join_table, rows_that_are_added_are_as_if_built_at_once) {
  check_added_rows<JoinOrder::any>();
  check_added_rows<JoinOrder::probe>();
}

TEST(join_table, gathers_columns) {
  const side_ids build{{5, 6, 7, 6}, {}};
  built<JoinOrder::probe> all(build, {});
  EXPECT_CUDA_SUCCESS(all.table.Build(4));
  const device_vector<std::uint32_t> probe(keys_of<std::uint32_t>({{6, 9, 5}, {}}, as_u32));
  const device_vector<float> values(std::vector<float>{10, 20, 30, 40});
  device_vector<float> out(4);
  device_vector<std::int64_t> total(1);
  const auto columns = strata::join_columns<std::int32_t>(4, strata::build_column(values.data(), out.data(), -1.f));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return all.table.Left(storage, bytes, strata::join_side(probe.data(), 3), columns, total.data());
  }));
  EXPECT_EQ(4, total.to_host()[0]);
  EXPECT_EQ((std::vector<float>{20, 40, -1, 10}), out.to_host());
}

// A small output takes one launch, a large one several. With a small capacity, fewer results are written than there
// are. There are several blocks of probe rows; the last block has few rows or none.
TEST(join_table, few_probe_rows_and_outputs_of_any_size) {
  const side_ids build{random_ids(1500, 400), {}};
  built<JoinOrder::probe> ordered(build, {});
  built<JoinOrder::any> all(build, {});
  EXPECT_CUDA_SUCCESS(ordered.table.Build(1500));
  EXPECT_CUDA_SUCCESS(all.table.Build(1500));
  for (const std::size_t rows : {0u, 1u, 255u, 256u, 257u, 1024u, 1300u}) {
    SCOPED_TRACE(testing::Message() << rows << " probe rows");
    const side_ids probe{random_ids(rows, 500), {}};
    const device_vector<std::uint32_t> keys(keys_of<std::uint32_t>(probe, as_u32));
    for (const JoinKind kind : every_kind) {
      const row_pairs expected = nested_loop_join(kind, build, probe, false);
      all.check(kind, probe, expected);
      ordered.check(kind, probe, expected);
      for (const std::size_t capacity : {std::size_t{0}, expected.size() / 2, expected.size() + 200000}) {
        device_vector<std::int32_t> build_out(capacity), probe_out(capacity);
        device_vector<std::int64_t> total(1);
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return call_of(kind, ordered.table, storage, bytes,
                         strata::join_side(keys.data(), static_cast<std::int64_t>(rows)),
                         strata::join_pairs(build_out.data(), probe_out.data(), static_cast<std::int64_t>(capacity)),
                         total.data());
        }));
        ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
        const std::vector<std::int32_t> p = probe_out.to_host();
        for (std::size_t i = 0; i < std::min(capacity, expected.size()); ++i) ASSERT_EQ(expected[i].second, p[i]);
        for (std::size_t i = expected.size(); i < capacity; ++i) ASSERT_TRUE(strata_test::is_poison(p[i]));
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(join_table, refuses_what_it_has_no_memory_for) {
  const side_ids build{random_ids(100, 50), {}};
  using Table = table_of_words<JoinOrder::any>;
  built<JoinOrder::any> all(build, {});
  device_vector<std::int64_t> total(1);
  const auto count = [&](const Table& table) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
      return table.Inner(storage, bytes, strata::join_side(all.keys.data(), 100), strata::join_count(), total.data());
    });
  };
  EXPECT_EQ(cudaErrorInvalidValue, all.table.Insert(10));
  EXPECT_EQ(cudaErrorInvalidValue, count(all.table));
  EXPECT_EQ(cudaErrorInvalidValue, all.table.Build(101));
  EXPECT_EQ(cudaErrorInvalidValue, all.table.Build(-1));
  EXPECT_CUDA_SUCCESS(all.table.Build(90));
  EXPECT_EQ(cudaErrorInvalidValue, all.table.Insert(11));
  EXPECT_EQ(cudaErrorInvalidValue, all.table.Insert(-1));
  EXPECT_EQ(90, all.table.Rows());
  EXPECT_CUDA_SUCCESS(count(all.table));

  const auto side = strata::join_side(all.keys.data(), 100);
  Table small_one(all.memory.data(), all.memory.bytes() - 1, side);
  EXPECT_EQ(cudaErrorInvalidValue, small_one.Build(10));
  Table nowhere(nullptr, all.memory.bytes(), side);
  EXPECT_EQ(cudaErrorInvalidValue, nowhere.Build(10));
  // Memory need not exist when a program asks how much storage a probe needs.
  std::size_t probe_bytes = 0, of_nowhere = 0;
  EXPECT_CUDA_SUCCESS(all.table.Inner(nullptr, probe_bytes, side, strata::join_count(), total.data()));
  EXPECT_CUDA_SUCCESS(nowhere.Inner(nullptr, of_nowhere, side, strata::join_count(), total.data()));
  EXPECT_EQ(probe_bytes, of_nowhere);
  EXPECT_EQ(cudaErrorInvalidValue, count(nowhere));
  Table without_keys(all.memory.data(), all.memory.bytes(), strata::join_side<std::uint32_t>(nullptr, 100));
  EXPECT_EQ(cudaErrorInvalidValue, without_keys.Build(10));
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue,
            Table::MemoryBytes(strata::join_side<std::uint32_t>(nullptr, std::int64_t{1} << 31), bytes));
  EXPECT_EQ(cudaErrorInvalidValue, Table::MemoryBytes(strata::join_side<std::uint32_t>(nullptr, -1), bytes));

  typename Table::Options for_host;
  for_host.strategy = strata::JoinStrategy::cpu;
  EXPECT_EQ(cudaErrorInvalidValue, Table::MemoryBytes(side, bytes, for_host));
  Table of_host(all.memory.data(), all.memory.bytes(), side, for_host);
  EXPECT_EQ(cudaErrorInvalidValue, of_host.Build(10));
  EXPECT_EQ(cudaErrorInvalidValue, of_host.Inner(nullptr, bytes, side, strata::join_count(), total.data()));
}

// The graph builds a table and probes it. With other keys in the same arrays, a replay builds another table.
template <JoinOrder Order>
void check_graph() {
  constexpr std::size_t build_rows = 1500, probe_rows = 900;
  built<Order> all({random_ids(build_rows, 500), {}}, {});
  device_vector<std::uint32_t> probe_keys(probe_rows);
  device_vector<std::int64_t> total(1);
  device_vector<std::int32_t> build_out(20 * build_rows), probe_out(20 * build_rows);
  const auto ask = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return all.table.Inner(storage, bytes, strata::join_side(probe_keys.data(), probe_rows),
                           strata::join_pairs(build_out.data(), probe_out.data(), build_out.size()), total.data(), on);
  };
  ASSERT_CUDA_SUCCESS(all.table.Build(build_rows));
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(ask(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    cudaError_t status = all.table.Build(1000, on);
    if (status == cudaSuccess) status = all.table.Insert(build_rows - 1000, on);
    return status == cudaSuccess ? ask(storage.data(), bytes, on) : status;
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  for (int replay = 0; replay < if_small(3, 10); ++replay) {
    const side_ids build{random_ids(build_rows, static_cast<std::uint32_t>(400 + 50 * replay)), {}};
    const side_ids probe{random_ids(probe_rows, 700), {}};
    all.keys.assign(keys_of<std::uint32_t>(build, as_u32));
    probe_keys.assign(keys_of<std::uint32_t>(probe, as_u32));
    for (auto* const out : {&build_out, &probe_out}) out->poison();
    total.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    row_pairs expected = nested_loop_join(JoinKind::inner, build, probe, false);
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
    ASSERT_LE(expected.size(), build_out.size());
    const std::vector<std::int32_t> b = build_out.to_host(), p = probe_out.to_host();
    row_pairs out;
    for (std::size_t i = 0; i < expected.size(); ++i) out.emplace_back(b[i], p[i]);
    if (Order == JoinOrder::any) {
      std::sort(out.begin(), out.end());
      std::sort(expected.begin(), expected.end());
    }
    ASSERT_TRUE(out == expected) << "replay " << replay;
  }
}

TEST(join_table, is_built_and_asked_in_a_graph) {
  check_graph<JoinOrder::any>();
  check_graph<JoinOrder::probe>();
}

TEST(join_table, is_asked_on_two_streams_at_once) {
  const std::size_t rows = if_small<std::size_t>(700, STRATA_HOST_SIMT ? 3000 : 300000);
  const side_ids build{random_ids(rows, static_cast<std::uint32_t>(rows)), {}};
  built<JoinOrder::any> all(build, {});
  EXPECT_CUDA_SUCCESS(all.table.Build(static_cast<std::int64_t>(rows)));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  std::size_t bytes = 0;
  const auto count = [&](void* storage, std::int64_t* total, cudaStream_t where) {
    return all.table.Full(storage, bytes, strata::join_side(all.keys.data(), rows), strata::join_count(), total, where);
  };
  ASSERT_CUDA_SUCCESS(count(nullptr, nullptr, nullptr));
  const scratch first_storage(bytes);
  const scratch second_storage(bytes);
  device_vector<std::int64_t> totals(2);
  const stream first;
  const stream second;
  for (int i = 0; i < 5; ++i) {
    EXPECT_CUDA_SUCCESS(count(first_storage.data(), totals.data(), first));
    EXPECT_CUDA_SUCCESS(count(second_storage.data(), totals.data() + 1, second));
  }
  first.synchronize();
  second.synchronize();
  const auto expected = static_cast<std::int64_t>(sort_merge_join(JoinKind::full, build, build).size());
  EXPECT_EQ((std::vector<std::int64_t>{expected, expected}), totals.to_host());
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/join/host_join_support.hpp"
#include "device/join/join_cases.hpp"

#include <strata/device/join/output/outputs.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace {

using namespace host_join_test;
using namespace join_cases;
using strata::detail::host_join_count;
using strata::detail::host_join_gather;
using strata::detail::host_join_pairs;

template <class Key, class Index, class Hash = strata::JoinHash, class MakeKey>
void check_few_rows(MakeKey make_key, std::vector<unsigned> thread_counts) {
  for (const shape& data : few_rows_with_nulls()) {
    SCOPED_TRACE(data.name);
    joiner<Key, Index, Hash> join(data.build, data.probe, make_key);
    for (const JoinKind kind : every_kind) {
      for (const bool nulls_equal : {false, true}) {
        const row_pairs expected = nested_loop_join(kind, data.build, data.probe, nulls_equal);
        for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
          for (const unsigned threads : thread_counts) {
            // Many threads take long to start, so they join only shapes with rows without a key on both sides.
            if (threads > 2 && (data.build.null.empty() || data.probe.null.empty())) continue;
            HostJoinOptions options;
            options.order = order;
            options.nulls_equal = nulls_equal;
            options.threads = threads;
            if (threads != 1) options.tuning = tiny_tuning;
            SCOPED_TRACE(testing::Message()
                         << "kind " << static_cast<int>(kind) << ", order " << static_cast<int>(order)
                         << ", nulls equal " << nulls_equal << ", " << threads << " threads");
            join.check(kind, options, expected);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(HostJoin, u32_keys_match_a_nested_loop) { check_few_rows<std::uint32_t, std::int32_t>(as_u32, {1, 2, 7}); }
TEST(HostJoin, i64_keys_match_a_nested_loop) { check_few_rows<std::int64_t, std::uint64_t>(as_i64, {1, 2}); }
TEST(HostJoin, keys_of_12_bytes_match_a_nested_loop) { check_few_rows<bytes12, std::int32_t>(as_bytes12, {2}); }
TEST(HostJoin, keys_of_16_bytes_match_a_nested_loop) { check_few_rows<bytes16, std::int64_t>(as_bytes16, {2}); }
TEST(HostJoin, composite_keys_with_padding_match_a_nested_loop) {
  check_few_rows<composite, std::uint32_t, composite_hash>(as_composite, {2});
}
TEST(HostJoin, keys_that_all_collide_match_a_nested_loop) {
  check_few_rows<std::uint32_t, std::uint32_t, same_hash>(as_u32, {1, 2});
}

// ---------------------------------------------------------------------------- many rows

void check_many_rows(const side_ids& build, const side_ids& probe) {
  joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  for (const JoinKind kind : every_kind) {
    const row_pairs expected = sort_merge_join(kind, build, probe);
    for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", order " << static_cast<int>(order));
      HostJoinOptions options;
      options.order = order;
      options.threads = order == JoinOrder::any ? 7 : 2;
      join.check(kind, options, expected);
    }
  }
}

TEST(HostJoin, oracles_agree) {
  for (const shape& data : few_rows()) {
    for (const JoinKind kind : every_kind) {
      EXPECT_EQ(sort_merge_join(kind, data.build, data.probe), nested_loop_join(kind, data.build, data.probe, false))
          << data.name;
    }
  }
}

TEST(HostJoin, many_rows_with_few_duplicates_match_a_sort_merge_join) {
  check_many_rows({random_ids(100000, 80000), {}}, {random_ids(150000, 120000), {}});
}

TEST(HostJoin, frequent_keys_of_both_sides_match_a_sort_merge_join) {
  // Most numbers are low: the most frequent key has a hundredth of the rows.
  const auto skewed = [](std::size_t rows) {
    side_ids side{std::vector<std::uint32_t>(rows), {}};
    for (auto& id : side.ids) {
      id = static_cast<std::uint32_t>(100 * std::pow(1e-4 + random_below(10000) / 10000.0, -1.0));
    }
    return side;
  };
  check_many_rows(skewed(20000), skewed(6000));
}

TEST(HostJoin, one_probe_row_with_most_build_rows_for_partners) {
  side_ids build{random_ids(1000000, 1000), {}};
  std::fill(build.ids.begin() + 1000, build.ids.end(), 5000u);
  side_ids probe{random_ids(3000, 2000), {}};
  probe.ids[1234] = 5000;
  joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  HostJoinOptions options;
  options.order = JoinOrder::probe;
  options.threads = 7;
  join.check(JoinKind::inner, options, sort_merge_join(JoinKind::inner, build, probe));
}

struct counted_equality {
  std::atomic<std::int64_t>* calls;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    calls->fetch_add(1, std::memory_order_relaxed);
    return a == b;
  }
};

TEST(HostJoin, frequent_keys_cost_no_more_comparisons) {
  // Both keys share a bucket, and the key of the probe rows comes behind the other one. If a bucket had a chain of rows
  // instead of keys, each probe row would be compared with all of them.
  constexpr std::int64_t rows = 200000;
  std::vector<std::uint32_t> build(rows, 1);
  build[0] = 2;
  const std::vector<std::uint32_t> probe(rows, 2);
  std::atomic<std::int64_t> calls{0};
  std::int64_t total = 0;
  std::size_t bytes = 0;
  const auto call = [&](void* storage) {
    return host_join_count<std::int32_t>(storage, bytes, JoinKind::inner, build.data(), rows, probe.data(), rows,
                                         &total, {}, same_hash{}, counted_equality{&calls});
  };
  ASSERT_EQ(call(nullptr), HostJoinStatus::success);
  guarded_storage storage(bytes);
  ASSERT_EQ(call(storage.get()), HostJoinStatus::success);
  EXPECT_EQ(total, rows);
  EXPECT_LE(calls.load(), 2 * (rows + rows));
}

TEST(HostJoin, total_beyond_32_bits_is_counted) {
  constexpr std::int64_t rows = 70000;
  const std::vector<std::uint32_t> keys(rows, 9);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    HostJoinOptions options;
    options.order = order;
    std::int64_t total = 0;
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      return host_join_count<std::int32_t>(storage, bytes, JoinKind::full, keys.data(), rows, keys.data(), rows, &total,
                                           options);
    };
    ASSERT_EQ(call(nullptr), HostJoinStatus::success);
    guarded_storage storage(bytes);
    ASSERT_EQ(call(storage.get()), HostJoinStatus::success);
    EXPECT_EQ(total, rows * rows);
  }
}

// ---------------------------------------------------------------------------- the rest

TEST(HostJoin, result_and_storage_do_not_depend_on_the_number_of_threads) {
  const side_ids build{random_ids(30000, 9000), {}};
  const side_ids probe{random_ids(20000, 12000), {}};
  joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  HostJoinOptions options;
  options.threads = 1;
  std::int64_t total = 0;
  const row_pairs alone = join.run(JoinKind::full, options, 200000, total);
  for (const unsigned threads : {0u, 2u, 7u, 1000000u}) {
    options.threads = threads;
    EXPECT_TRUE(join.run(JoinKind::full, options, 200000, total) == alone) << threads;
  }
}

TEST(HostJoin, zeros_of_both_signs_are_partners_and_nan_has_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> build{0.0, nan, -0.0, 1.5};
  const std::vector<double> probe{nan, -0.0, 1.5};
  std::vector<std::int32_t> build_out(4), probe_out(4);
  std::int64_t total = 0;
  std::size_t bytes = 0;
  HostJoinOptions options;
  options.order = JoinOrder::probe;
  const auto call = [&](void* storage) {
    return host_join_pairs(storage, bytes, JoinKind::inner, build.data(), 4, probe.data(), 3, build_out.data(),
                           probe_out.data(), &total, 4, options);
  };
  ASSERT_EQ(call(nullptr), HostJoinStatus::success);
  guarded_storage storage(bytes);
  ASSERT_EQ(call(storage.get()), HostJoinStatus::success);
  ASSERT_EQ(total, 3);
  build_out.resize(3);
  probe_out.resize(3);
  EXPECT_EQ(build_out, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(probe_out, (std::vector<std::int32_t>{1, 1, 2}));
}

TEST(HostJoin, columns_travel_with_their_rows) {
  const std::vector<std::int32_t> build{5, 6, 7};
  const std::vector<std::int32_t> probe{6, 9, 6};
  const std::vector<std::string> names{"five", "six", "seven"};
  const std::vector<double> prices{1.5, 2.5, 3.5};
  std::vector<std::string> names_out(5, "untouched");
  std::vector<double> prices_out(5, -2);
  const auto columns = strata::join_columns(5, strata::build_column(names.begin(), names_out.begin(), "none"),
                                            strata::probe_column(prices.data(), prices_out.data(), -1.0));
  std::int64_t total = 0;
  std::size_t bytes = 0;
  HostJoinOptions options;
  options.order = JoinOrder::probe;
  const auto call = [&](void* storage, std::int64_t capacity) {
    return host_join_gather<std::int32_t>(storage, bytes, JoinKind::full, build.data(), 3, probe.data(), 3,
                                          columns.sink, &total, capacity, options);
  };
  ASSERT_EQ(call(nullptr, 0), HostJoinStatus::success);
  guarded_storage storage(bytes);
  ASSERT_EQ(call(storage.get(), 4), HostJoinStatus::success);
  EXPECT_EQ(total, 5);
  EXPECT_EQ(names_out, (std::vector<std::string>{"six", "none", "six", "five", "untouched"}));
  EXPECT_EQ(prices_out, (std::vector<double>{1.5, 2.5, 3.5, -1, -2}));
  ASSERT_EQ(call(storage.get(), 5), HostJoinStatus::success);
  EXPECT_EQ(names_out[4], "seven");
  EXPECT_EQ(prices_out[4], -1);
}

TEST(HostJoin, each_row_is_written_once_and_again_without_looking_up) {
  const std::vector<std::uint32_t> keys = random_ids(1000, 300);
  std::atomic<std::int64_t> calls{0};
  HostJoinOptions options;
  options.tuning = tiny_tuning;
  strata::detail::host_join<std::int32_t, const std::uint32_t*, strata::JoinHash, counted_equality> join(
      JoinKind::inner, keys.data(), 1000, keys.data(), 1000, options, {}, counted_equality{&calls});
  guarded_storage storage(join.bytes());
  ASSERT_FALSE(join.map(storage.get(), join.bytes() - 1));
  ASSERT_TRUE(join.map(storage.get(), join.bytes()));
  join.match();
  const std::int64_t calls_of_match = calls.load();
  EXPECT_GT(calls_of_match, 0);
  for (const std::int64_t capacity : {std::int64_t{10}, join.total()}) {
    std::atomic<std::int64_t> written{0};
    std::atomic<std::int64_t> wrong{0};
    join.write(capacity, [&](std::int64_t position, std::int32_t b, std::int32_t p) {
      ++written;
      if (position >= capacity) ++wrong;
      if (keys[static_cast<std::size_t>(b)] != keys[static_cast<std::size_t>(p)]) ++wrong;
    });
    EXPECT_EQ(written.load(), capacity);
    EXPECT_EQ(wrong.load(), 0);
  }
  EXPECT_EQ(calls.load(), calls_of_match);
}

TEST(HostJoin, storage_never_shrinks_when_rows_are_added) {
  const auto bytes_for = [](JoinKind kind, std::int64_t build_rows, std::int64_t probe_rows) {
    const std::uint32_t* none = nullptr;
    std::int64_t* no_total = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(host_join_count<std::int32_t>(nullptr, bytes, kind, none, build_rows, none, probe_rows, no_total),
              HostJoinStatus::success);
    return bytes;
  };
  for (const JoinKind kind : every_kind) {
    std::size_t before = 1;
    for (std::int64_t rows = 0; rows < 2000000000; rows += rows / 3 + 1) {
      const std::size_t bytes = bytes_for(kind, rows, rows);
      EXPECT_GE(bytes, before);
      EXPECT_GE(bytes_for(kind, rows + 1, rows), bytes);
      EXPECT_GE(bytes_for(kind, rows, rows + 1), bytes);
      before = bytes;
    }
  }
}

// The arguments of a valid call. A test makes one of them wrong; the call must then neither succeed nor write.
struct arguments {
  std::vector<std::uint32_t> keys = random_ids(100, 50);
  std::vector<std::int32_t> build_out = std::vector<std::int32_t>(400, -7);
  std::vector<std::int32_t> probe_out = std::vector<std::int32_t>(400, -7);
  JoinKind kind = JoinKind::inner;
  const std::uint32_t* build_keys = keys.data();
  const std::uint32_t* probe_keys = keys.data();
  std::int64_t build_rows = 100;
  std::int64_t probe_rows = 100;
  std::int32_t* build_rows_out = build_out.data();
  std::int32_t* probe_rows_out = probe_out.data();
  std::int64_t total = -7;
  std::int64_t* num_out = &total;
  std::int64_t capacity = 400;
  HostJoinOptions options;
  std::size_t missing_bytes = 0;

  HostJoinStatus call() {
    std::vector<unsigned char> storage(1 << 20);
    std::size_t bytes = storage.size();
    if (missing_bytes > 0) {
      if (run(nullptr, bytes) != HostJoinStatus::success) return HostJoinStatus::success;
      bytes -= missing_bytes;
    }
    return run(storage.data(), bytes);
  }
  HostJoinStatus run(void* storage, std::size_t& bytes) {
    return host_join_pairs(storage, bytes, kind, build_keys, build_rows, probe_keys, probe_rows, build_rows_out,
                           probe_rows_out, num_out, capacity, options);
  }
  bool is_untouched() const {
    const auto is_so = [](std::int32_t row) { return row == -7; };
    return total == -7 && std::all_of(build_out.begin(), build_out.end(), is_so) &&
           std::all_of(probe_out.begin(), probe_out.end(), is_so);
  }
};

TEST(HostJoin, wrong_arguments_are_refused_before_anything_is_written) {
  const auto refuse = [](const char* what, auto spoil) {
    arguments wrong;
    spoil(wrong);
    EXPECT_EQ(wrong.call(), HostJoinStatus::invalid_value) << what;
    EXPECT_TRUE(wrong.is_untouched()) << what;
  };
  refuse("build rows", [](arguments& a) { a.build_rows = -1; });
  refuse("probe rows", [](arguments& a) { a.probe_rows = -1; });
  refuse("more rows than int", [](arguments& a) { a.build_rows = std::int64_t{1} << 31; });
  refuse("more rows than int", [](arguments& a) { a.probe_rows = std::int64_t{1} << 31; });
  refuse("build keys", [](arguments& a) { a.build_keys = nullptr; });
  refuse("probe keys", [](arguments& a) { a.probe_keys = nullptr; });
  refuse("build rows out", [](arguments& a) { a.build_rows_out = nullptr; });
  refuse("probe rows out", [](arguments& a) { a.probe_rows_out = nullptr; });
  refuse("total", [](arguments& a) { a.num_out = nullptr; });
  refuse("capacity", [](arguments& a) { a.capacity = -1; });
  refuse("storage", [](arguments& a) { a.missing_bytes = 1; });
  refuse("outputs overlap", [](arguments& a) { a.probe_rows_out = a.build_rows_out + 399; });
  refuse("outputs overlap", [](arguments& a) { a.build_rows_out = a.probe_rows_out + 399; });
  refuse("an output overlaps keys",
         [](arguments& a) { a.build_rows_out = reinterpret_cast<std::int32_t*>(a.keys.data() + 99); });
  refuse("tuning", [](arguments& a) { a.options.tuning.chunk_rows = 0; });
}

TEST(HostJoin, null_pointers_without_rows_are_right) {
  arguments none;
  none.build_keys = none.probe_keys = nullptr;
  none.build_rows = none.probe_rows = 0;
  EXPECT_EQ(none.call(), HostJoinStatus::success);
  EXPECT_EQ(none.total, 0);

  arguments counted;
  counted.build_rows_out = counted.probe_rows_out = nullptr;
  counted.capacity = 0;
  EXPECT_EQ(counted.call(), HostJoinStatus::success);
  EXPECT_GE(counted.total, 100);

  arguments semi;
  semi.kind = JoinKind::semi;
  semi.build_rows_out = nullptr;
  EXPECT_EQ(semi.call(), HostJoinStatus::success);
  EXPECT_EQ(semi.total, 100);
  EXPECT_NE(semi.probe_out[99], -7);
}

}  // namespace

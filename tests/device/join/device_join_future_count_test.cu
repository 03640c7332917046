// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Joins whose numbers of rows lie in device memory have the same results as with the numbers themselves.
#include <strata/device/engine/future_count.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <iterator>
#include <string>

#include "device/join/device_hash_join_support.cuh"
#include "device/schedules.cuh"

namespace device_join_future_count_test {

using namespace device_join_test;
using strata::FutureCount;

/// The sides whose number of rows lies in device memory.
enum class future_sides { build, probe, both };
constexpr future_sides every_side[] = {future_sides::build, future_sides::probe, future_sides::both};

/// The settings of a join, except the numbers of rows.
struct settings {
  JoinKind kind = JoinKind::inner;
  JoinOrder order = JoinOrder::any;
  JoinStrategy strategy = JoinStrategy::automatic;
  bool unique = false;
  bool nulls = false;
  bool nulls_equal = false;

  std::string text() const {
    return "kind " + std::to_string(static_cast<int>(kind)) + ", order " + std::to_string(static_cast<int>(order)) +
           ", strategy " + std::to_string(static_cast<int>(strategy)) + (unique ? ", unique" : "") +
           (nulls ? ", nulls" : "") + (nulls_equal ? ", nulls equal" : "");
  }
};

constexpr std::int64_t missing = -1;

/// Two sides in device memory, and functions that join them.
template <class Key>
struct tables {
  using Index = std::int32_t;

  template <class MakeKey>
  tables(const side_ids& build, const side_ids& probe, MakeKey make_key)
      : build_keys(keys_of<Key>(build, make_key)),
        probe_keys(keys_of<Key>(probe, make_key)),
        build_valid(build.valid_words()),
        probe_valid(probe.valid_words()),
        build_rows(static_cast<std::int64_t>(build.ids.size())),
        probe_rows(static_cast<std::int64_t>(probe.ids.size())) {}

  void set_counts(std::int64_t build, std::int64_t probe) {
    build_count.assign(std::vector<std::int64_t>{build});
    probe_count.assign(std::vector<std::int32_t>{static_cast<std::int32_t>(probe)});
  }
  FutureCount<std::int64_t> future_build() const { return {build_count.data(), build_rows}; }
  FutureCount<std::int32_t> future_probe() const { return {probe_count.data(), probe_rows}; }

  /// Returns a join of `rows` build rows with `other_rows` probe rows, to be called with (output, storage, bytes,
  /// stream). Each number may be a FutureCount.
  template <class Rows, class ProbeRows>
  auto join_of(const settings& how, Rows rows, ProbeRows other_rows) {
    const auto build =
        strata::join_side(build_keys.data(), rows).valid(how.nulls ? build_valid.data() : nullptr).unique(how.unique);
    const auto probe =
        strata::join_side(probe_keys.data(), other_rows).valid(how.nulls ? probe_valid.data() : nullptr).match_ratio(0);
    return [this, how, build, probe](const auto& output, void* storage, std::size_t& bytes, cudaStream_t on) {
      const auto run = [&](auto options) {
        options.nulls_equal = how.nulls_equal;
        options.strategy = how.strategy;
        return call_of(how.kind, DeviceHashJoin{}, storage, bytes, build, probe, output, total.data(), options, on);
      };
      return how.order == JoinOrder::any ? run(strata::JoinOptions<>{}) : run(strata::OrderedJoinOptions<>{});
    };
  }

  std::int64_t total_now() const { return total.to_host()[0]; }

  template <class Join>
  std::int64_t count(const Join& join) {
    total.poison();
    EXPECT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return join(strata::join_count(), storage, bytes, cudaStream_t{}); }));
    return total_now();
  }

  /// Returns the rows of the result that fit the outputs, and expects that nothing is written behind them.
  row_pairs read(const device_vector<Index>& build_out, const device_vector<Index>& probe_out, JoinKind kind) const {
    const std::vector<Index> build = build_out.to_host(), probe = probe_out.to_host();
    // The number is read once: on a GPU, each reading is a copy.
    const auto written = static_cast<std::size_t>(total_now());
    row_pairs rows;
    for (std::size_t i = 0; i < probe.size(); ++i) {
      if (i < written) {
        rows.emplace_back(strata::detail::has_pairs(kind) ? build[i] : missing, probe[i]);
      } else {
        EXPECT_TRUE(strata_test::is_poison(build[i]) && strata_test::is_poison(probe[i]))
            << "written at " << i << ", behind the end";
      }
    }
    return rows;
  }
  template <class Join>
  row_pairs pairs(const Join& join, JoinKind kind, std::int64_t capacity) {
    device_vector<Index> build_out(static_cast<std::size_t>(capacity)), probe_out(build_out.size());
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return join(strata::join_pairs(build_out.data(), probe_out.data(), capacity), storage, bytes, cudaStream_t{});
    }));
    return read(build_out, probe_out, kind);
  }
  /// Joins with so many columns of row numbers that they are gathered in the order of the probe rows.
  template <class Join>
  row_pairs columns(const Join& join, JoinKind kind, std::int64_t capacity) {
    const strata::CountingInputIterator<Index> rows(0);
    device_vector<Index> build_out(static_cast<std::size_t>(capacity)), probe_out(build_out.size());
    device_vector<Index> again(build_out.size());
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      const auto output =
          strata::join_columns<Index>(capacity, strata::build_column(rows, build_out.data(), Index{missing}),
                                      strata::probe_column(rows, probe_out.data(), Index{missing}),
                                      strata::probe_column(rows, again.data(), Index{missing}),
                                      strata::build_column(rows, build_out.data(), Index{missing}));
      return join(output, storage, bytes, cudaStream_t{});
    }));
    EXPECT_EQ(probe_out.to_host(), again.to_host());
    return read(build_out, probe_out, kind);
  }

  device_vector<Key> build_keys, probe_keys;
  device_vector<std::uint32_t> build_valid, probe_valid;
  std::int64_t build_rows, probe_rows;
  device_vector<std::int64_t> build_count{1};
  device_vector<std::int32_t> probe_count{1};
  device_vector<std::int64_t> total{1};
};

row_pairs in_order(row_pairs rows, JoinOrder order) {
  if (order == JoinOrder::any) std::sort(rows.begin(), rows.end());
  return rows;
}

/// Compares a join that knows these numbers of rows with a join that reads the numbers of the sides `which` from device
/// memory.
template <class Key>
void expect_same(tables<Key>& all, const settings& how, future_sides which, std::int64_t build, std::int64_t probe,
                 bool all_outputs) {
  SCOPED_TRACE(how.text() + ", future sides " + std::to_string(static_cast<int>(which)) + ", " + std::to_string(build) +
               " of " + std::to_string(all.build_rows) + " build rows, " + std::to_string(probe) + " of " +
               std::to_string(all.probe_rows) + " probe rows");
  const auto known = all.join_of(how, build, probe);
  const auto compare = [&](const auto& future) {
    const std::int64_t rows = all.count(known);
    const row_pairs expected = in_order(all.pairs(known, how.kind, rows), how.order);
    ASSERT_EQ(expected, in_order(all.pairs(future, how.kind, rows + 2), how.order)) << "pairs";
    if (!all_outputs) return;
    ASSERT_EQ(rows, all.count(future)) << "count";
    ASSERT_EQ(expected, in_order(all.columns(future, how.kind, rows + 2), how.order)) << "columns";
    const row_pairs some = all.pairs(future, how.kind, rows / 2);
    ASSERT_EQ(rows, all.total_now());
    if (how.order == JoinOrder::probe) {
      ASSERT_TRUE(std::equal(some.begin(), some.end(), expected.begin())) << "a small capacity";
    } else {
      const row_pairs sorted = in_order(some, how.order);
      ASSERT_TRUE(std::includes(expected.begin(), expected.end(), sorted.begin(), sorted.end())) << "a small capacity";
    }
  };
  // If only one side reads its number, the number of the other side in device memory is 0, and must not matter.
  all.set_counts(which == future_sides::probe ? 0 : build, which == future_sides::build ? 0 : probe);
  if (which == future_sides::build) compare(all.join_of(how, all.future_build(), probe));
  if (which == future_sides::probe) compare(all.join_of(how, build, all.future_probe()));
  if (which == future_sides::both) compare(all.join_of(how, all.future_build(), all.future_probe()));
}

/// Numbers of rows of both sides: none, one, some, all.
std::vector<std::pair<std::int64_t, std::int64_t>> counts_of(std::int64_t build, std::int64_t probe) {
  return {{build, probe}, {build / 2, probe / 3}, {0, probe}, {build, 0}, {1, probe - probe / 5}, {build - 1, 1}};
}

template <class Key, class MakeKey>
void check_few_rows_with_counts(MakeKey make_key, std::size_t stride) {
  const std::vector<shape> shapes = few_rows_with_nulls();
  for (std::size_t i = 0; i < shapes.size(); i += stride) {
    SCOPED_TRACE(shapes[i].name);
    tables<Key> all(shapes[i].build, shapes[i].probe, make_key);
    std::size_t turn = i;
    for (const JoinKind kind : every_kind) {
      for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
        for (const future_sides which : every_side) {
          settings how;
          how.kind = kind;
          how.order = order;
          how.nulls = true;
          for (const auto& [build, probe] : counts_of(all.build_rows, all.probe_rows)) {
            if (build < 0 || probe < 0 || build > all.build_rows || probe > all.probe_rows) continue;
            // These two settings take turns.
            how.nulls_equal = ++turn % 2 == 0;
            how.strategy = turn % 3 == 0 ? JoinStrategy::simple : JoinStrategy::automatic;
            ASSERT_NO_FATAL_FAILURE(expect_same(all, how, which, build, probe, true));
          }
        }
      }
    }
  }
}

TEST(device_join_future_count, few_rows) {
  const auto stride = STRATA_HOST_SIMT ? if_small<std::size_t>(28, 7) : if_small<std::size_t>(43, 13);
  check_few_rows_with_counts<std::uint32_t>(as_u32, stride);
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_join_future_count, few_rows_of_wide_keys) {
  check_few_rows_with_counts<std::int64_t>(as_i64, if_small<std::size_t>(STRATA_HOST_SIMT ? 29 : 59, 17));
}
#endif

/// Sides for one table in shared memory, partitions in one pass and in two, one table in global memory, and rows that
/// partitions leave to it. Only every `stride`-th combination is tested.
template <class Key, class MakeKey>
void check_many_rows_with_counts(MakeKey make_key, std::size_t stride) {
  const auto rows = if_small<std::uint32_t>(2500, STRATA_HOST_SIMT ? 4000 : 100000);
  // The table of a partition holds at least 2,048 rows. So many rows of one key overflow.
  const std::uint32_t equal_rows = if_small<std::uint32_t>(2200, STRATA_HOST_SIMT ? 2200 : 50000);
  const side_ids unique{shuffled_ids(rows, 10), random_nulls(rows, 50)};
  const side_ids several{random_ids(rows, rows / 3), random_nulls(rows, 50)};
  const side_ids equal{random_ids(equal_rows, 1), random_nulls(equal_rows, 50)};
  const side_ids probe{random_ids(rows + rows / 2 + 77, 2 * rows), random_nulls(rows + rows / 2 + 77, 50)};
  const side_ids few{random_ids(20, 2), random_nulls(20, 5)};
  // So few build rows that a filter drops probe rows.
  const side_ids tenth{random_ids(rows / 10, 2 * rows), random_nulls(rows / 10, 50)};
  struct sides {
    const side_ids& build;
    const side_ids& probe;
  };
  std::size_t turn = 0;
  for (const sides& data : {sides{unique, probe}, sides{several, probe}, sides{equal, few}, sides{tenth, probe}}) {
    tables<Key> all(data.build, data.probe, make_key);
    for (const JoinStrategy strategy :
         {JoinStrategy::automatic, JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      for (const JoinKind kind : every_kind) {
        for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
          for (const bool nulls : {false, true}) {
            settings how;
            how.kind = kind;
            how.order = order;
            how.strategy = strategy;
            how.unique = &data.build == &unique && !nulls;
            how.nulls = nulls;
            // Counts and sides take turns: each combination of settings is tested with one of them.
            if (++turn % stride != 0) continue;
            const auto counts = counts_of(all.build_rows, all.probe_rows);
            const std::size_t i = turn / stride;
            const auto& [build, other] = counts[i % (i % 7 == 0 ? counts.size() : 2)];
            ASSERT_NO_FATAL_FAILURE(expect_same(all, how, every_side[i % 3], build, other, false));
          }
        }
      }
    }
  }
}

TEST(device_join_future_count, many_rows) {
  const auto stride = STRATA_HOST_SIMT ? if_small<std::size_t>(23, 7) : std::size_t{13};
  check_many_rows_with_counts<std::uint32_t>(as_u32, stride);
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_join_future_count, many_rows_of_keys_that_are_no_words) {
  check_many_rows_with_counts<bytes12>(as_bytes12, if_small<std::size_t>(29, 23));
}
#endif

// Promises are about the rows that are there. The rows behind them break every promise.
TEST(device_join_future_count, promises_concern_the_rows_that_are_there) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 20000 : 200000);
  side_ids build{shuffled_ids(rows, 0), {}}, probe{random_ids(rows, rows), {}};
  std::sort(build.ids.begin(), build.ids.end());
  std::sort(probe.ids.begin(), probe.ids.end());
  const std::uint32_t some = rows / 2;
  for (std::uint32_t i = some; i < rows; ++i) build.ids[i] = probe.ids[i] = 5 * rows - i % 7;
  const auto as_is = [](std::uint32_t id) { return id; };
  tables<std::uint32_t> all(build, probe, as_is);
  all.set_counts(some, some);
  const auto run = [&](auto build_rows, auto probe_rows, bool are_promised) {
    return [=, &all](const auto& output, void* storage, std::size_t& bytes, cudaStream_t on) {
      const auto build_side = strata::join_side(all.build_keys.data(), build_rows)
                                  .unique(are_promised)
                                  .sorted(are_promised)
                                  .key_range(0, are_promised ? rows : 0);
      const auto probe_side = strata::join_side(all.probe_keys.data(), probe_rows).sorted(are_promised);
      return DeviceHashJoin::Inner(storage, bytes, build_side, probe_side, output, all.total.data(),
                                   strata::JoinOptions<>{}, on);
    };
  };
  const auto known = run(some, some, false);
  const std::int64_t expected = all.count(known);
  EXPECT_EQ(in_order(all.pairs(known, JoinKind::inner, expected), JoinOrder::any),
            in_order(all.pairs(run(all.future_build(), all.future_probe(), true), JoinKind::inner, expected),
                     JoinOrder::any));
}

/// Keys that set a flag if a row behind the number is read.
struct watched_keys {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::uint32_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::uint32_t*;
  using reference = std::uint32_t;

  const std::uint32_t* keys;
  const std::int64_t* rows;
  unsigned* is_read;
  std::ptrdiff_t first = 0;

  STRATA_HD std::uint32_t operator[](std::ptrdiff_t i) const {
    if (first + i >= *rows) *is_read = 1;
    return keys[first + i];
  }
  STRATA_HD std::uint32_t operator*() const { return (*this)[0]; }
  STRATA_HD watched_keys operator+(std::ptrdiff_t n) const { return {keys, rows, is_read, first + n}; }
};

TEST(device_join_future_count, no_key_behind_the_number_is_read) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 10000 : 100000);
  const device_vector<std::uint32_t> keys(random_ids(rows, rows));
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{rows} / 3, std::int64_t{rows} - 1}) {
    if (if_small(number == 1, false)) continue;
    const device_vector<std::int64_t> count(std::vector<std::int64_t>{number});
    device_vector<unsigned> is_read(std::vector<unsigned>{0});
    device_vector<std::int64_t> total(1);
    const auto side =
        strata::join_side(watched_keys{keys.data(), count.data(), is_read.data()}, FutureCount(count.data(), rows));
    for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      for (const JoinKind kind : {JoinKind::full, JoinKind::semi}) {
        strata::JoinOptions<> options;
        options.strategy = strategy;
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return call_of(kind, DeviceHashJoin{}, storage, bytes, side, side, strata::join_count(), total.data(),
                         options);
        }));
        ASSERT_EQ(0u, is_read.to_host()[0]) << "kind " << static_cast<int>(kind) << ", strategy "
                                            << static_cast<int>(strategy) << ", " << number << " rows";
      }
    }
  }
}

// Each order has kernels of its own. A replay must not take the number of results of the replay before.
TEST(device_join_future_count, graphs_may_be_replayed_with_other_counts_under_any_schedule) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 9000 : 200000);
  tables<std::uint32_t> all({shuffled_ids(rows, 0), {}}, {random_ids(2 * rows, 2 * rows), {}}, as_u32);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    for (const bool unique : {false, true}) {
      settings how;
      how.kind = JoinKind::left;
      how.order = order;
      how.unique = unique;
      const auto future = all.join_of(how, all.future_build(), all.future_probe());
      const std::int64_t capacity = all.probe_rows;
      device_vector<std::int32_t> build_out(static_cast<std::size_t>(capacity)), probe_out(build_out.size());
      const auto output = strata::join_pairs(build_out.data(), probe_out.data(), capacity);
      std::size_t bytes = 0;
      ASSERT_CUDA_SUCCESS(future(output, nullptr, bytes, nullptr));
      const scratch storage(bytes);
      graph recorded([&](cudaStream_t on) {
        std::size_t given = bytes;
        return future(output, storage.data(), given, on);
      });
      ASSERT_CUDA_SUCCESS(recorded.status());
      const stream on;
      std::size_t replays = 0;
      under_all_schedules([&](std::size_t i) {
        if (++replays > 10) return;
        const auto number = [&](std::int64_t most, std::size_t salt) {
          return (i + salt) % 4 == 0 ? 0
                                     : most - static_cast<std::int64_t>(random_below(static_cast<std::uint32_t>(most)));
        };
        const std::int64_t build = number(all.build_rows, 0), probe = number(all.probe_rows, 2);
        const row_pairs expected = in_order(all.pairs(all.join_of(how, build, probe), how.kind, probe), order);
        all.set_counts(build, probe);
        build_out.poison();
        probe_out.poison();
        ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
        ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
        on.synchronize();
        ASSERT_EQ(probe, all.total_now());
        ASSERT_EQ(expected, in_order(all.read(build_out, probe_out, how.kind), order))
            << how.text() << ", replay " << i;
      });
    }
  }
}

// The number of results of one join is the number of rows of the next one.
TEST(device_join_future_count, a_join_joins_the_result_of_another_one) {
  const device_vector<int> customers(std::vector<int>{10, 20, 30}), orders(std::vector<int>{20, 10, 20, 40, 30});
  const device_vector<int> refunds(std::vector<int>{2, 0, 3});
  device_vector<int> order_rows(5);
  device_vector<std::int64_t> with_customer(1), total(1);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceHashJoin::Semi(strata::join_side(customers.data(), 3), strata::join_side(orders.data(), 5),
                                strata::join_pairs(nullptr, order_rows.data(), 5), with_customer.data());
  }));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceHashJoin::Inner(strata::join_side(refunds.data(), 3),
                                 strata::join_side(order_rows.data(), FutureCount(with_customer.data(), 5)),
                                 strata::join_count(), total.data());
  }));
  EXPECT_EQ(4, with_customer.to_host()[0]);
  EXPECT_EQ(2, total.to_host()[0]);
}

template <class T>
void expect_count_in() {
  tables<std::uint32_t> all({random_ids(100, 1), {}}, {random_ids(100, 1), {}}, as_u32);
  const device_vector<T> number(std::vector<T>{T{60}});
  settings how;
  EXPECT_EQ(3000, all.count(all.join_of(how, FutureCount(number.data(), 100), 50)));
  EXPECT_EQ(3000, all.count(all.join_of(how, 50, FutureCount(number.data(), std::int8_t{100}))));
}

TEST(device_join_future_count, counts_of_any_integer_type) {
  expect_count_in<std::int8_t>();
  expect_count_in<std::uint8_t>();
  expect_count_in<std::int16_t>();
  expect_count_in<std::uint16_t>();
  expect_count_in<std::int32_t>();
  expect_count_in<std::uint32_t>();
  expect_count_in<long long>();
  expect_count_in<unsigned long>();
}

#if !STRATA_DEBUG
TEST(device_join_future_count, counts_out_of_range_are_clamped) {
  tables<std::uint32_t> all({random_ids(100, 1), {}}, {random_ids(100, 1), {}}, as_u32);
  settings how;
  const auto future = all.join_of(how, all.future_build(), all.future_probe());
  all.set_counts(101, 100);
  EXPECT_EQ(10000, all.count(future));
  all.set_counts(100, 2000000000);
  EXPECT_EQ(10000, all.count(future));
  all.set_counts(-1, 100);
  EXPECT_EQ(0, all.count(future));
  all.set_counts(100, -1);
  EXPECT_EQ(0, all.count(future));
  how.kind = JoinKind::full;
  EXPECT_EQ(100, all.count(all.join_of(how, all.future_build(), all.future_probe())));
}
#endif

TEST(device_join_future_count, storage_is_that_of_the_bounds) {
  tables<std::uint32_t> all({random_ids(20000, 1000), {}}, {random_ids(30000, 1000), {}}, as_u32);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    settings how;
    how.order = order;
    const auto output = strata::join_pairs<std::int32_t>(nullptr, nullptr, 0);
    std::size_t bytes = 0, bytes_of_bounds = 0;
    // A size query does not read the numbers.
    EXPECT_CUDA_SUCCESS(all.join_of(how, all.build_rows, all.probe_rows)(output, nullptr, bytes_of_bounds, nullptr));
    EXPECT_CUDA_SUCCESS(all.join_of(how, all.future_build(), all.future_probe())(output, nullptr, bytes, nullptr));
    EXPECT_EQ(bytes_of_bounds, bytes);
  }
}

TEST(device_join_future_count, a_bound_is_no_larger_than_its_type) {
  const strata::FutureCount<std::int32_t> count(nullptr, 5000000000);
  EXPECT_EQ(2147483647u, strata::detail::join_row_count::of(count).max_rows);
}

TEST(device_join_future_count, wrong_arguments_are_refused) {
  tables<std::uint32_t> all({random_ids(100, 9), {}}, {random_ids(100, 9), {}}, as_u32);
  all.set_counts(50, 50);
  all.total.poison();
  device_vector<std::int32_t> build_out(100), probe_out(100);
  device_vector<std::int32_t> place(200);
  const auto call = [&](auto build_rows, auto probe_rows, std::int32_t* to, std::int64_t* total) {
    const cudaError_t status = DeviceHashJoin::Inner(strata::join_side(all.build_keys.data(), build_rows),
                                                     strata::join_side(all.probe_keys.data(), probe_rows),
                                                     strata::join_pairs(to, probe_out.data(), 100), total);
    const cudaError_t execution = cudaDeviceSynchronize();
    return status != cudaSuccess ? status : execution;
  };
  const std::int64_t* const nowhere = nullptr;
  std::int64_t* const total = all.total.data();
  EXPECT_EQ(cudaErrorInvalidValue, call(FutureCount(nowhere, 100), 100, build_out.data(), total));
  EXPECT_EQ(cudaErrorInvalidValue, call(100, FutureCount(nowhere, 0), build_out.data(), total));
  EXPECT_EQ(cudaErrorInvalidValue, call(FutureCount(all.build_count.data(), -1), 100, build_out.data(), total));
  EXPECT_EQ(cudaErrorInvalidValue, call(100, FutureCount(all.build_count.data(), ~0ull), build_out.data(), total));
  const std::int32_t* const narrow = place.data();
  EXPECT_EQ(cudaErrorInvalidValue, call(FutureCount(narrow, -1), 100, build_out.data(), total));
  EXPECT_EQ(cudaErrorInvalidValue, call(100, FutureCount(narrow, 1ull << 63), build_out.data(), total));
  EXPECT_EQ(cudaErrorInvalidValue, call(all.future_build(), 100, build_out.data(), all.build_count.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(100, FutureCount(place.data() + 99, 100), place.data(), total));
  EXPECT_TRUE(strata_test::is_poison(all.total.to_host()[0]));
  EXPECT_EQ(50, all.build_count.to_host()[0]);
  // A number just behind the output does not overlap it.
  place.assign(std::vector<std::int32_t>(200, 7));
  EXPECT_CUDA_SUCCESS(call(100, FutureCount(place.data() + 100, 100), place.data(), total));

  std::size_t bytes = 0;
  settings how;
  const auto output = strata::join_count();
  EXPECT_EQ(cudaErrorInvalidValue, all.join_of(how, FutureCount(nowhere, -1), 100)(output, nullptr, bytes, nullptr));
  how.strategy = JoinStrategy::cpu;
  EXPECT_EQ(cudaErrorInvalidValue, all.join_of(how, all.future_build(), 100)(output, nullptr, bytes, nullptr));
}

}  // namespace device_join_future_count_test

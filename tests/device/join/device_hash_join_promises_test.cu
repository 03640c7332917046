// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Joins of sides that break their promises, by all methods: what is written is as documented, and nothing else is.
// device_hash_join_assertions_test.cu tests debug builds, which report a broken promise.
#include "device/join/device_hash_join_support.cuh"

#include <algorithm>
#include <set>
#include <type_traits>

#include "device/join/join_promises.hpp"

namespace {

using namespace device_join_test;
using namespace join_promises;
using strata::detail::join_method;

using Join = strata::TunedDeviceHashJoin<small_hub>;

/// An output that writes both rows of each result, and counts how often each position is written.
struct recorder {
  std::int32_t* build_rows;
  std::int32_t* probe_rows;
  unsigned* times;

  STRATA_HD void operator()(std::int64_t position, std::int32_t build_row, std::int32_t probe_row) const {
    build_rows[position] = build_row;
    probe_rows[position] = probe_row;
    ++times[position];
  }
};

template <class Call, class Output>
std::int64_t number_of(const Call& call, const Output& output) {
  device_vector<std::int64_t> total(1);
  EXPECT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return call(storage, bytes, output, total.data()); }));
  return total.to_host()[0];
}

/// Outputs with guard bands. Its functions return the rows that `call(storage, bytes, output, total)` writes.
class written_rows {
 public:
  explicit written_rows(std::int64_t capacity)
      : capacity_(capacity), build_out_(slots()), probe_out_(slots()), times_(std::vector<unsigned>(slots(), 0)) {}

  template <class Call>
  result pairs(bool has_build_rows, const Call& call) {
    std::int32_t* const build_out = has_build_rows ? build_out_.data() : nullptr;
    return rows(has_build_rows, number_of(call, strata::join_pairs(build_out, probe_out_.data(), capacity_)));
  }
  /// Joins with a recorder as output, and with `more` columns.
  template <class Call, class... Columns>
  result recorded(const Call& call, const Columns&... more) {
    const recorder record{build_out_.data(), probe_out_.data(), times_.data()};
    const result got = rows(true, number_of(call, strata::join_columns<std::int32_t>(capacity_, record, more...)));
    const std::vector<unsigned> times = times_.to_host();
    for (std::size_t i = 0; i < slots(); ++i) EXPECT_EQ(i < got.rows.size() ? 1u : 0u, times[i]) << "at " << i;
    return got;
  }

 private:
  std::size_t slots() const { return static_cast<std::size_t>(capacity_); }

  result rows(bool has_build_rows, std::int64_t number) const {
    const std::vector<std::int32_t> b = build_out_.to_host(), p = probe_out_.to_host();
    result got{number, {}};
    for (std::size_t i = 0; i < slots(); ++i) {
      if (static_cast<std::int64_t>(i) < number) {
        got.rows.emplace_back(has_build_rows ? b[i] : -1, p[i]);
      } else {
        EXPECT_TRUE(strata_test::is_poison(b[i]) && strata_test::is_poison(p[i])) << "written at " << i;
      }
    }
    return got;
  }

  std::int64_t capacity_;
  device_vector<std::int32_t> build_out_, probe_out_;
  device_vector<unsigned> times_;
};

/// Two sides in device memory, and the promises about them.
template <class Key>
class broken_sides {
 public:
  broken_sides(const shape& data, const join_settings<>& settings, Key (*make_key)(std::uint32_t))
      : data_(data),
        settings_(settings),
        build_(keys_of<Key>(data.build, make_key)),
        probe_(keys_of<Key>(data.probe, make_key)),
        build_valid_(data.build.valid_words()),
        probe_valid_(data.probe.valid_words()) {
    if (!data.build.null.empty()) settings_.build_valid = build_valid_.data();
    if (!data.probe.null.empty()) settings_.probe_valid = probe_valid_.data();
  }

  auto build_side() const { return settings_.build_side(build_.data(), static_cast<std::int64_t>(build_.size())); }
  auto probe_side() const { return settings_.probe_side(probe_.data(), static_cast<std::int64_t>(probe_.size())); }
  const join_settings<>& settings() const { return settings_; }

  join_method method(JoinKind kind, JoinOrder order) const {
    constexpr bool is_number = std::is_integral_v<Key>;
    auto join = strata::detail::describe_join(kind, build_side(), probe_side(), settings_);
    join.is_ordered = order == JoinOrder::probe;
    join.may_merge = is_number;
    join.may_address = is_number;
    join.may_list_rows = is_number;
    join.least_partitioned_rows = small_rows::least_partitioned_rows;
    join.one_table_rows = small_rows::partition.rows_of_table(is_number && sizeof(Key) == 8);
    return strata::detail::choose_join_method(join);
  }

  /// Checks `call(storage, bytes, output, total)` with all forms of output, or with the most frequent ones.
  template <class Call, class HasAllForms>
  void check(JoinKind kind, JoinOrder order, bool is_order_broken, const Call& call, HasAllForms has_all_forms) const {
    const documented_result documented(kind, data_.build, data_.probe, settings_.nulls_equal);
    const auto check_one = [&](const char* form, const result& got) {
      SCOPED_TRACE(form);
      if (is_order_broken) {
        documented.check_any_rows(got);
      } else {
        documented.check_one_partner(got, order);
      }
    };
    check_one("count", {number_of(call, strata::join_count()), {}});
    const auto rows = static_cast<std::int64_t>(build_.size() + probe_.size());
    const bool has_build_rows = strata::detail::has_pairs(kind);
    for (const std::int64_t capacity : {2 * rows, rows / 3}) {
      SCOPED_TRACE(testing::Message() << "capacity " << capacity);
      check_one("pairs", written_rows(capacity).pairs(has_build_rows, call));
      if constexpr (has_all_forms) {
        check_one("functor", written_rows(capacity).recorded(call));
        check_one("columns", columns(capacity, call));
      }
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  /// Joins with so many columns that they may be gathered in the order of the probe rows.
  template <class Call>
  result columns(std::int64_t capacity, const Call& call) const {
    const auto slots = static_cast<std::size_t>(capacity);
    device_vector<Key> build_keys(slots), probe_keys(slots), again(slots);
    const result got =
        written_rows(capacity).recorded(call, strata::build_column(build_.data(), build_keys.data(), Key{77}),
                                        strata::probe_column(probe_.data(), probe_keys.data(), Key{78}),
                                        strata::build_column(build_.data(), again.data(), Key{77}));
    const std::vector<Key> b = build_keys.to_host(), p = probe_keys.to_host(), build = build_.to_host(),
                           probe = probe_.to_host();
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
      const auto build_row = static_cast<std::size_t>(got.rows[i].first);
      const auto probe_row = static_cast<std::size_t>(got.rows[i].second);
      EXPECT_EQ(build_row < build.size() ? build[build_row] : Key{77}, b[i]);
      EXPECT_EQ(probe_row < probe.size() ? probe[probe_row] : Key{78}, p[i]);
    }
    EXPECT_TRUE(b == again.to_host());
    return got;
  }

  const shape& data_;
  join_settings<> settings_;
  device_vector<Key> build_, probe_;
  device_vector<std::uint32_t> build_valid_, probe_valid_;
};

using methods = std::set<join_method>;

/// Checks `kinds` in both orders, and returns the methods that joined.
template <class Key, class HasAllForms = std::false_type>
methods check_joins(const std::vector<shape>& shapes, const join_settings<>& settings, Key (*make_key)(std::uint32_t),
                    const std::vector<JoinKind>& kinds, bool is_order_broken = false, HasAllForms has_all_forms = {}) {
  methods used;
  for (const shape& data : shapes) {
    const broken_sides<Key> sides(data, settings, make_key);
    for (const JoinKind kind : kinds) {
      for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
        SCOPED_TRACE(testing::Message() << data.name << ", " << data.build.ids.size() << " rows, strategy "
                                        << static_cast<int>(settings.strategy) << ", kind " << static_cast<int>(kind)
                                        << ", order " << static_cast<int>(order));
        used.insert(sides.method(kind, order));
        join_settings<> ordered = sides.settings();
        ordered.order = order;
        ordered.with_order([&](const auto& options) {
          const auto call = [&](void* storage, std::size_t& bytes, const auto& output, std::int64_t* total) {
            return call_of(kind, Join{}, storage, bytes, sides.build_side(), sides.probe_side(), output, total,
                           options);
          };
          sides.check(kind, order, is_order_broken, call, has_all_forms);
        });
        if (testing::Test::HasFailure()) return used;
      }
    }
  }
  return used;
}

join_settings<> promised_unique(JoinStrategy strategy) {
  join_settings<> settings;
  settings.build_unique = true;
  settings.strategy = strategy;
  return settings;
}

const std::vector<JoinKind> all_kinds(std::begin(every_kind), std::end(every_kind));
/// Full joins in the order of the probe rows use one table in global memory.
const methods by_partitions{join_method::partitions, join_method::global_table};
std::uint32_t as_is(std::uint32_t id) { return id; }

TEST(device_hash_join_promises, unique_by_partitions) {
  for (const JoinStrategy strategy : {JoinStrategy::automatic, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    EXPECT_EQ(by_partitions, check_joins<std::uint32_t>(repeated_keys(100), promised_unique(strategy), as_u32,
                                                        all_kinds, false, std::true_type{}));
  }
}

// A table has 268 rows. A key with more rows makes its partition overflow to the table in global memory.
TEST(device_hash_join_promises, unique_by_partitions_that_overflow) {
  const std::vector<shape> shapes = repeated_keys(700);
  EXPECT_EQ(by_partitions, check_joins<std::uint32_t>({shapes[1], shapes[3]},
                                                      promised_unique(JoinStrategy::radix_single), as_u32, all_kinds));
  EXPECT_EQ(by_partitions,
            check_joins<bytes12>({shapes[1]}, promised_unique(JoinStrategy::radix_multi), as_bytes12, all_kinds));
}

TEST(device_hash_join_promises, unique_by_partitions_of_wide_keys) {
  for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    EXPECT_EQ(by_partitions,
              check_joins<std::int64_t>(repeated_keys(90), promised_unique(strategy), as_i64, all_kinds));
    EXPECT_EQ(by_partitions, check_joins<bytes12>(repeated_keys(90), promised_unique(strategy), as_bytes12, all_kinds));
  }
}

// A merge counts the rows of a key in 32 bits, 32 rows at a time.
TEST(device_hash_join_promises, sides_with_nearly_2_to_the_32_rows_of_a_key_are_not_merged) {
  strata::detail::join_description join;
  join.may_merge = join.are_sorted = true;
  join.build_rows = 0xffffffffu - 31;
  EXPECT_EQ(join_method::merge, strata::detail::choose_join_method(join));
  ++join.build_rows;
  EXPECT_NE(join_method::merge, strata::detail::choose_join_method(join));
  join.is_build_unique = true;
  EXPECT_EQ(join_method::merge, strata::detail::choose_join_method(join));
}

TEST(device_hash_join_promises, unique_and_few_matches) {
  std::vector<shape> shapes = repeated_keys(60);
  for (shape& data : shapes) data.probe.ids = random_ids(600, 70);
  join_settings<> settings = promised_unique(JoinStrategy::radix_single);
  settings.matching = 0.01;
  EXPECT_EQ(methods{join_method::partitions},
            check_joins<std::int64_t>(shapes, settings, as_i64, {JoinKind::inner, JoinKind::semi}));
}

TEST(device_hash_join_promises, unique_by_one_table_of_a_block) {
  const std::vector<JoinKind> kinds{JoinKind::inner, JoinKind::left, JoinKind::semi, JoinKind::anti};
  for (const JoinStrategy strategy : {JoinStrategy::automatic, JoinStrategy::simple}) {
    EXPECT_EQ(methods{join_method::one_table}, check_joins<std::uint32_t>(repeated_keys(20), promised_unique(strategy),
                                                                          as_u32, kinds, false, std::true_type{}));
    EXPECT_EQ(methods{join_method::one_table},
              check_joins<bytes12>(repeated_keys(20), promised_unique(strategy), as_bytes12, kinds));
  }
}

// Some rows have no key.
TEST(device_hash_join_promises, unique_by_one_table_in_global_memory) {
  for (const bool nulls_equal : {false, true}) {
    join_settings<> settings = promised_unique(JoinStrategy::simple);
    settings.nulls_equal = nulls_equal;
    EXPECT_EQ(methods{join_method::global_table},
              check_joins<std::uint32_t>(repeated_keys(200, 5), settings, as_u32, all_kinds, false, std::true_type{}));
    EXPECT_EQ(methods{join_method::global_table},
              check_joins<bytes12>(repeated_keys(90, 5), settings, as_bytes12, all_kinds));
    settings.strategy = JoinStrategy::radix_single;
    EXPECT_EQ(by_partitions, check_joins<std::uint32_t>(repeated_keys(90, 5), settings, as_u32, all_kinds));
  }
}

// A key is in the range, just outside of it, or far from it. If it is outside, the array is not used.
TEST(device_hash_join_promises, unique_by_direct_address) {
  constexpr std::uint32_t rows = 1u << 14;
  for (const std::uint32_t outside : {10u, 9u, rows + 10, 0x80000000u}) {
    shape data{"two pairs of rows", {shuffled_ids(rows, 10), {}}, {random_ids(rows + 70, rows + 20), {}}};
    data.build.ids[7] = data.build.ids[8];
    data.build.ids[rows - 1] = data.build.ids[5];
    data.build.ids[100] = outside;
    join_settings<> settings = promised_unique(JoinStrategy::automatic);
    settings.key_range = {10, rows};
    EXPECT_EQ(methods{join_method::direct_address},
              check_joins<std::uint32_t>({data}, settings, as_is, {JoinKind::inner, JoinKind::left}));
  }
}

std::vector<shape> in_order(std::vector<shape> shapes) {
  for (shape& data : shapes) {
    std::sort(data.build.ids.begin(), data.build.ids.end());
    std::sort(data.probe.ids.begin(), data.probe.ids.end());
  }
  return shapes;
}

TEST(device_hash_join_promises, unique_by_merge) {
  join_settings<> settings = promised_unique(JoinStrategy::automatic);
  settings.sorted = true;
  EXPECT_EQ(methods{join_method::merge},
            check_joins<std::uint32_t>(in_order(repeated_keys(if_small<std::size_t>(400, 3000))), settings, as_is,
                                       all_kinds, false, std::true_type{}));
}

TEST(device_hash_join_promises, order_by_merge) {
  for (const bool unique : {false, true}) {
    join_settings<> settings;
    settings.build_unique = unique;
    settings.sorted = true;
    const std::vector<shape> broken = repeated_keys(if_small<std::size_t>(400, 3000)), kept = in_order(broken);
    for (const auto& side : {&shape::build, &shape::probe}) {
      std::vector<shape> one_broken = kept;
      for (std::size_t i = 0; i < broken.size(); ++i) one_broken[i].*side = broken[i].*side;
      EXPECT_EQ(methods{join_method::merge},
                check_joins<std::uint32_t>(one_broken, settings, as_is, all_kinds, true, std::true_type{}));
    }
    EXPECT_EQ(methods{join_method::merge},
              check_joins<std::uint32_t>(broken, settings, as_is, all_kinds, true, std::true_type{}));
  }
}

// With null masks, or with a strategy that is set, no method relies on the order.
TEST(device_hash_join_promises, order_that_is_not_used) {
  join_settings<> settings = promised_unique(JoinStrategy::radix_single);
  settings.sorted = true;
  EXPECT_EQ(0u, check_joins<std::uint32_t>(repeated_keys(60), settings, as_u32, all_kinds).count(join_method::merge));
  settings.strategy = JoinStrategy::automatic;
  EXPECT_EQ(0u,
            check_joins<std::uint32_t>(repeated_keys(60, 4), settings, as_u32, all_kinds).count(join_method::merge));
}

template <JoinOrder Order>
void check_tables(bool nulls_equal) {
  for (const shape& data : repeated_keys(300, 5)) {
    join_settings<> settings = promised_unique(JoinStrategy::automatic);
    settings.nulls_equal = nulls_equal;
    const broken_sides<std::uint32_t> sides(data, settings, as_u32);
    using Table = strata::JoinTable<std::uint32_t, std::int32_t, strata::JoinHash, strata::Equality, Order>;
    typename Table::Options options;
    options.nulls_equal = nulls_equal;
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(Table::MemoryBytes(sides.build_side(), bytes, options));
    const scratch memory(bytes, 8);
    Table table(memory.data(), memory.bytes(), sides.build_side(), options);
    ASSERT_CUDA_SUCCESS(table.Build(200));
    ASSERT_CUDA_SUCCESS(table.Insert(100));
    for (const JoinKind kind : every_kind) {
      SCOPED_TRACE(testing::Message() << data.name << ", kind " << static_cast<int>(kind));
      const auto call = [&](void* storage, std::size_t& needed, const auto& output, std::int64_t* total) {
        return call_of(kind, table, storage, needed, sides.probe_side(), output, total);
      };
      sides.check(kind, Order, false, call, std::true_type{});
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(device_hash_join_promises, unique_by_a_table_that_stays) {
  for (const bool nulls_equal : {false, true}) {
    check_tables<JoinOrder::any>(nulls_equal);
    check_tables<JoinOrder::probe>(nulls_equal);
  }
}

}  // namespace

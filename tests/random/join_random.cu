// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceHashJoin and JoinTable, with the CUDA back end.
#define STRATA_JOIN_BACKEND CUDA
#include <strata/device/device_hash_join.hpp>

#include <numeric>

#include "device/join/device_hash_join_kinds.hpp"
#include "random/random_joins.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;
using join_kinds::join_settings;
using strata::JoinKind;
using strata::JoinOrder;
using strata::JoinStrategy;

/// The settings of a case, which are chosen before its data.
struct shape {
  std::size_t build_rows;
  std::size_t probe_rows;
  std::uint64_t keys;  // number of different ones
  std::int64_t lowest;
  bool has_nulls;
  bool is_skewed;
  std::size_t capacity;
  JoinKind kind;
  join_settings<> options;
};

std::string description_of(const char* call, const std::string& types, const shape& s) {
  static const char* const strategies[] = {"cpu", "simple", "radix_single", "radix_multi", "automatic"};
  return std::string(call) + ", " + name_of_kind(s.kind) + ", " + types + ", " + std::to_string(s.build_rows) + " x " +
         std::to_string(s.probe_rows) + " rows, " + std::to_string(s.keys) + " keys" + (s.is_skewed ? ", skewed" : "") +
         (s.has_nulls ? s.options.nulls_equal ? ", nulls are equal" : ", nulls" : "") +
         (s.options.build_unique ? ", unique" : "") + (s.options.sorted ? ", sorted" : "") +
         (s.options.key_range.keys > 0 ? ", range" : "") + (s.options.matching < 1 ? ", few partners" : "") +
         (s.options.order == JoinOrder::probe ? ", probe order" : "") + ", " +
         strategies[static_cast<int>(s.options.strategy)] + ", capacity " + std::to_string(s.capacity);
}

template <class Key>
shape random_shape(source& random) {
  shape s;
  s.build_rows = random_size(random, most_items(random, 12000, 1u << 20));
  s.probe_rows = random_size(random, most_items(random, 16000, 1u << 22));
  s.kind = random.pick({JoinKind::inner, JoinKind::left, JoinKind::full, JoinKind::semi, JoinKind::anti});
  if (random.chance(25)) {
    // The join uses a filter, if the other settings allow it.
    s.options.matching = 0.05;
    s.build_rows = std::min(s.build_rows, s.probe_rows / 8);
  }
  const std::size_t more = std::max(s.build_rows, s.probe_rows);
  // Limits the number of results, which is large if there are few different keys.
  const double most_results = is_gpu ? 2e7 : 6e4;
  const double pairs = static_cast<double>(s.build_rows) * static_cast<double>(s.probe_rows);
  const auto fewest = static_cast<std::uint64_t>(pairs / most_results) + 1;
  s.keys = std::max(fewest, random.pick({std::uint64_t{1}, std::uint64_t{more / 50 + 1}, std::uint64_t{more / 3 + 1},
                                         std::uint64_t{2 * more + 1}, std::uint64_t{20 * more + 1}}));
  s.is_skewed = pairs < most_results && random.chance(50);
  s.lowest = random.chance(50) ? 0 : random.in(-1000000, 1000000);
  s.has_nulls = random.chance(25);
  s.options.nulls_equal = s.has_nulls && random.chance(50) && pairs < 10 * most_results;
  s.options.build_unique = random.chance(30);
  if (s.options.build_unique) s.keys = std::max<std::uint64_t>(s.keys, s.build_rows + 3);
  s.options.order = random.chance(40) ? JoinOrder::probe : JoinOrder::any;
  s.options.strategy = random.pick({JoinStrategy::automatic, JoinStrategy::automatic, JoinStrategy::simple,
                                    JoinStrategy::radix_single, JoinStrategy::radix_multi});
  if constexpr (std::is_integral_v<Key>) {
    s.options.sorted = !s.has_nulls && random.chance(30);
    if (random.chance(30)) {
      // In some cases, the range does not include all keys.
      s.options.key_range.lowest = s.lowest + (random.chance(20) ? 5 : 0);
      s.options.key_range.keys = s.keys + (random.chance(50) ? 0 : 100);
    }
  }
  s.capacity = random.chance(20) ? random.below(more + 1) : more + static_cast<std::size_t>(most_results) / 4;
  return s;
}

template <class Key>
struct side : side_rows {
  side(std::size_t rows, source& random) : keys(rows, random), valid(rows / 32 + 1, random) {}
  array<Key> keys;
  array<std::uint32_t> valid;

  void renew(source& data, const shape& s, bool is_build, cudaStream_t stream) {
    const std::size_t rows = keys.size();
    codes.resize(rows);
    if (is_build && s.options.build_unique) {
      // Different keys, with at most one of the two zeros.
      const std::uint64_t stride = s.keys / std::max<std::uint64_t>(rows + 3, 1);
      for (std::size_t i = 0; i < rows; ++i) codes[i] = 2 + i * std::max<std::uint64_t>(stride, 1);
      std::shuffle(codes.begin(), codes.end(), data);
    } else {
      for (std::uint64_t& code : codes) {
        code = s.is_skewed && data.chance(60) ? 3 % s.keys : data() % s.keys;
      }
    }
    if (s.options.sorted) std::sort(codes.begin(), codes.end());
    host_valid.resize(valid.size());
    for (std::uint32_t& word : host_valid) {
      word = static_cast<std::uint32_t>(s.has_nulls ? data() | data() : ~std::uint64_t{0});
    }
    if (is_build && s.options.build_unique && s.options.nulls_equal) {
      // Nulls are equal to each other, so only one row may be null.
      for (std::uint32_t& word : host_valid) word = ~0u;
      host_valid[0] &= ~(1u << data.below(32));
    }
    std::vector<Key> made;
    for (const std::uint64_t code : codes) made.push_back(key_of_code<Key>::make(code, s.lowest));
    if (s.options.sorted) {
      // Keys that wrap around are not in the order of their codes.
      std::vector<std::size_t> order(rows);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return made[a] < made[b]; });
      std::vector<Key> keys_in_order;
      std::vector<std::uint64_t> codes_in_order;
      for (const std::size_t i : order) {
        keys_in_order.push_back(made[i]);
        codes_in_order.push_back(codes[i]);
      }
      made = keys_in_order;
      codes = codes_in_order;
    }
    keys.write(made, stream);
    valid.write(host_valid, stream);
  }
};

/// Compares `found`, the rows that were written, with the expected ones.
void must_be_joined(const shape& s, std::vector<row_pair> expected, std::vector<row_pair> found) {
  const std::size_t written = std::min(expected.size(), s.capacity);
  must_be(found.size() == written, "the number of rows that were written");
  if (s.options.order == JoinOrder::any) return must_be_of_join(std::move(expected), std::move(found));
  for (std::size_t i = 0; i < written; ++i) {
    must_be(expected[i] == found[i], "row " + std::to_string(i) + " of " + std::to_string(written) + ": expected " +
                                         text_of_row(expected[i]) + ", found " + text_of_row(found[i]));
  }
}

template <class Key, class Index>
struct arrays {
  arrays(const shape& s, source& random)
      : build(s.build_rows, random),
        probe(s.probe_rows, random),
        build_out(s.capacity, random),
        probe_out(s.capacity, random),
        total(1, random) {}
  side<Key> build;
  side<Key> probe;
  array<Index> build_out;
  array<Index> probe_out;
  array<std::int64_t> total;

  void renew(source& data, const shape& s, cudaStream_t stream) {
    build.renew(data, s, true, stream);
    probe.renew(data, s, false, stream);
    build_out.forget(stream);
    probe_out.forget(stream);
    total.forget(stream);
  }

  void check_rows(const shape& s, bool counts_alone, cudaStream_t stream) const {
    const std::vector<row_pair> expected = joined<Key>(s.kind, s.options.nulls_equal, build, probe);
    must_be_same<std::int64_t>({static_cast<std::int64_t>(expected.size())}, total.read(stream), "the number of rows");
    const std::vector<Index> builds = build_out.read(stream);
    const std::vector<Index> probes = probe_out.read(stream);
    const std::size_t written = counts_alone ? 0 : std::min(expected.size(), s.capacity);
    const bool has_build = has_build_rows(s.kind);
    std::vector<row_pair> found;
    for (std::size_t i = 0; i < s.capacity; ++i) {
      if (i < written) {
        found.push_back({has_build ? widened(builds[i]) : -1, widened(probes[i])});
      } else {
        must_be(same(builds[i], untouched<Index>()) && same(probes[i], untouched<Index>()),
                "row " + std::to_string(i) + " is behind the end and was written");
      }
    }
    if (!counts_alone) must_be_joined(s, expected, found);
  }

  static std::int64_t widened(Index row) { return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row); }
};

enum class what { count, pairs, columns };

template <class Key, class Index, what What>
problem join(source& random) {
  const shape s = random_shape<Key>(random);
  const auto held = std::make_shared<arrays<Key, Index>>(s, random);
  // Columns hold row numbers, so gathered values identify rows.
  const auto numbers =
      std::make_shared<array<Index>>(What == what::columns ? std::max(s.build_rows, s.probe_rows) : 0, random);
  problem made;
  made.what = description_of(What == what::count   ? "count"
                             : What == what::pairs ? "pairs"
                                                   : "columns",
                             name_of<Key>() + " by " + name_of<Index>(), s);
  made.renew = [held, numbers, s](source& data, cudaStream_t stream) {
    held->renew(data, s, stream);
    std::vector<Index> all(numbers->size());
    std::iota(all.begin(), all.end(), Index{0});
    numbers->write(all, stream);
  };
  made.call = [held, numbers, s](void* storage, std::size_t& bytes, cudaStream_t stream) {
    join_settings<> options = s.options;
    if (s.has_nulls) {
      options.build_valid = held->build.valid.data();
      options.probe_valid = held->probe.valid.data();
    }
    const auto join = [&](const auto& output) {
      return join_kinds::join_of(s.kind, storage, bytes, held->build.keys.data(),
                                 static_cast<std::int64_t>(s.build_rows), held->probe.keys.data(),
                                 static_cast<std::int64_t>(s.probe_rows), output, held->total.data(), options, stream);
    };
    Index* const build_out = held->build_out.data();
    Index* const probe_out = held->probe_out.data();
    if constexpr (What == what::count) {
      return join(strata::join_count());
    } else if constexpr (What == what::columns) {
      return join(strata::join_columns<Index>(s.capacity,
                                              strata::build_column(numbers->data(), build_out, strata::no_row<Index>),
                                              strata::probe_column(numbers->data(), probe_out, strata::no_row<Index>)));
    } else {
      const bool has_build = strata::detail::has_pairs(s.kind);
      return join(strata::join_pairs(has_build ? build_out : nullptr, probe_out, s.capacity));
    }
  };
  made.check = [held, s](cudaStream_t stream) {
    if (What == what::columns && !has_build_rows(s.kind)) {
      // These joins have no build rows, so their column must hold the default everywhere.
      const std::vector<Index> builds = held->build_out.read(stream);
      const std::size_t written =
          std::min(joined<Key>(s.kind, s.options.nulls_equal, held->build, held->probe).size(), s.capacity);
      for (std::size_t i = 0; i < written; ++i) {
        must_be(builds[i] == strata::no_row<Index>, "the result has a row of the build side");
      }
      held->build_out.forget(stream);
    }
    if (What == what::pairs && !has_build_rows(s.kind)) {
      // The call got no array for build rows.
      held->build_out.write(std::vector<Index>(s.capacity, untouched<Index>()), stream);
    }
    held->check_rows(s, What == what::count, stream);
  };
  return made;
}

/// Builds a table in one step or in two, and probes it.
template <class Key, class Index, JoinOrder Order>
problem join_table(source& random) {
  shape s = random_shape<Key>(random);
  s.options.order = Order;
  s.options.sorted = false;
  s.options.key_range = {};
  s.options.strategy = JoinStrategy::automatic;
  using Table = strata::JoinTable<Key, Index, strata::JoinHash, strata::Equality, Order>;
  const auto held = std::make_shared<arrays<Key, Index>>(s, random);
  const std::size_t most = s.build_rows + (random.chance(50) ? 0 : random.below(100));
  const auto first = static_cast<std::int64_t>(random.chance(50) ? s.build_rows : random.below(s.build_rows + 1));
  std::size_t memory_bytes = 0;
  const auto side_in = [most](const join_settings<>& options, const Key* keys) {
    return options.build_side(keys, static_cast<std::int64_t>(most));
  };
  const auto options_of = [](const join_settings<>& settings) -> typename Table::Options {
    if constexpr (Order == JoinOrder::probe) {
      return settings.ordered();
    } else {
      return settings;
    }
  };
  must(Table::MemoryBytes(side_in(s.options, nullptr), memory_bytes, options_of(s.options)), "MemoryBytes");
  const auto memory = std::make_shared<guarded>(memory_bytes, random.below(256));
  problem made;
  made.what = description_of("table", name_of<Key>() + " by " + name_of<Index>(), s) + ", first " +
              std::to_string(first) + " rows";
  made.renew = [held, memory, s](source& data, cudaStream_t stream) {
    held->renew(data, s, stream);
    if (data.chance(50)) memory->fill(static_cast<unsigned char>(data()), stream);
  };
  made.call = [held, memory, s, side_in, options_of, first](void* storage, std::size_t& bytes, cudaStream_t stream) {
    join_settings<> options = s.options;
    if (s.has_nulls) options.build_valid = held->build.valid.data();
    Table table(memory->data(), memory->bytes(), side_in(options, held->build.keys.data()), options_of(options));
    if (storage != nullptr) {
      cudaError_t status = table.Build(first, stream);
      if (status == cudaSuccess && first < static_cast<std::int64_t>(s.build_rows)) {
        status = table.Insert(static_cast<std::int64_t>(s.build_rows) - first, stream);
      }
      if (status != cudaSuccess) return status;
    }
    return join_kinds::call_of(s.kind, table, storage, bytes,
                               strata::join_side(held->probe.keys.data(), s.probe_rows)
                                   .valid(s.has_nulls ? held->probe.valid.data() : nullptr),
                               strata::join_pairs(held->build_out.data(), held->probe_out.data(), s.capacity),
                               held->total.data(), stream);
  };
  made.check = [held, memory, s](cudaStream_t stream) {
    if (!has_build_rows(s.kind)) {
      held->build_out.write(std::vector<Index>(s.capacity, untouched<Index>()), stream);
    }
    held->check_rows(s, false, stream);
    memory->must_be_intact(stream);
  };
  return made;
}

const std::vector<maker> makers = {
    join<std::int32_t, std::int32_t, what::pairs>,
    join<std::int32_t, std::int32_t, what::count>,
    join<std::int32_t, std::int32_t, what::columns>,
    join<std::uint64_t, std::int64_t, what::pairs>,
    join_table<std::int32_t, std::int32_t, JoinOrder::any>,
    join_table<std::int32_t, std::int32_t, JoinOrder::probe>,
#if !defined(STRATA_TEST_FEW_TYPES)
    join<std::int32_t, std::int32_t, what::pairs>,
    join<float, std::uint32_t, what::pairs>,
    join<bytes12, std::int32_t, what::pairs>,
    join_table<bytes12, std::uint32_t, JoinOrder::probe>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("join", makers, count, values); }

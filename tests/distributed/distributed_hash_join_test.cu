// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/distributed/distributed_hash_join.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "distributed/ranks.hpp"
#include "support/test_support.cuh"

namespace {

using strata::DistributedHashJoin;
using strata::DistributedJoinCapacity;
using strata::JoinKind;
using strata_test::call_with_temp_storage;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

constexpr int no_key = -1;
/// A key that does not equal itself, of keys that have one.
constexpr int unequal_key = -2;
constexpr std::int64_t no_row = -1;

using ids = std::vector<int>;
/// The rows of a side, of each rank.
using side = std::vector<ids>;
/// Build and probe rows of a result, among the rows of all ranks.
using result_rows = std::vector<std::pair<std::int64_t, std::int64_t>>;

ids joined(const side& rows) {
  ids all;
  for (const ids& of_rank : rows) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

/// All rows of the result, in ascending order.
result_rows expected_rows(JoinKind kind, const side& build, const side& probe, bool nulls_equal) {
  std::map<int, std::vector<std::int64_t>> build_rows;
  const ids all_build = joined(build);
  const ids all_probe = joined(probe);
  for (std::size_t i = 0; i < all_build.size(); ++i) {
    build_rows[all_build[i]].push_back(static_cast<std::int64_t>(i));
  }
  result_rows rows;
  std::map<int, bool> is_found;
  for (std::size_t i = 0; i < all_probe.size(); ++i) {
    const int id = all_probe[i];
    const auto row = static_cast<std::int64_t>(i);
    const bool may_match = id >= 0 || (id == no_key && nulls_equal);
    const auto partners = build_rows.find(id);
    const bool has_partner = may_match && partners != build_rows.end();
    if (has_partner) is_found[id] = true;
    if (kind == JoinKind::semi || kind == JoinKind::anti) {
      if (has_partner == (kind == JoinKind::semi)) rows.emplace_back(no_row, row);
      continue;
    }
    if (has_partner) {
      for (const std::int64_t partner : partners->second) rows.emplace_back(partner, row);
    } else if (kind != JoinKind::inner) {
      rows.emplace_back(no_row, row);
    }
  }
  if (kind == JoinKind::full) {
    for (std::size_t i = 0; i < all_build.size(); ++i) {
      if (!is_found[all_build[i]]) rows.emplace_back(static_cast<std::int64_t>(i), no_row);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

struct wide_key {
  std::uint32_t a, b, c;
  STRATA_HD friend bool operator==(const wide_key& x, const wide_key& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

template <class Key>
Key key_of(int id) {
  const auto word = static_cast<std::uint32_t>(id) * 2654435761u;
  if constexpr (std::is_same_v<Key, wide_key>) {
    return {word, static_cast<std::uint32_t>(id), 7};
  } else if constexpr (std::is_same_v<Key, float>) {
    return id == unequal_key ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(id);
  } else if constexpr (sizeof(Key) == 8) {
    return static_cast<Key>(word) << 32 | static_cast<Key>(id);
  } else {
    return static_cast<Key>(word);
  }
}

/// The rows of a side on a rank, in device memory.
template <class Key>
class device_side {
 public:
  explicit device_side(const ids& rows) : keys_(keys_of(rows)), valid_(valid_of(rows)) {
    has_nulls_ = std::find(rows.begin(), rows.end(), no_key) != rows.end();
  }
  auto get() const {
    return strata::join_side(keys_.data(), static_cast<int>(keys_.size())).valid(has_nulls_ ? valid_.data() : nullptr);
  }

 private:
  static std::vector<Key> keys_of(const ids& rows) {
    std::vector<Key> keys;
    for (const int id : rows) keys.push_back(key_of<Key>(id));
    return keys;
  }
  static std::vector<std::uint32_t> valid_of(const ids& rows) {
    std::vector<std::uint32_t> words(rows.size() / 32 + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != no_key) words[i / 32] |= 1u << (i % 32);
    }
    return words;
  }

  device_vector<Key> keys_;
  device_vector<std::uint32_t> valid_;
  bool has_nulls_;
};

template <JoinKind Kind, class... Arguments>
cudaError_t join(void* storage, std::size_t& bytes, const Arguments&... arguments) {
  if constexpr (Kind == JoinKind::inner) return DistributedHashJoin::Inner(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::left) return DistributedHashJoin::Left(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::full) return DistributedHashJoin::Full(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::semi) return DistributedHashJoin::Semi(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::anti) return DistributedHashJoin::Anti(storage, bytes, arguments...);
}

/// What the ranks have received, all together.
struct received_rows {
  std::int64_t build = 0;
  std::int64_t probe = 0;
  std::int64_t most_probe = 0;
};

/// Joins on all ranks, first without capacity, then with just as much as is needed.
template <JoinKind Kind, class Key>
received_rows check(const side& build, const side& probe, bool nulls_equal = false) {
  const int ranks = static_cast<int>(build.size());
  const result_rows expected = expected_rows(Kind, build, probe, nulls_equal);
  result_rows found;
  received_rows received;
  int refusals = 0;
  std::mutex mutex;
  on_ranks(ranks, [&](const rank_context& rank) {
    const auto here = static_cast<std::size_t>(rank.rank);
    const device_side<Key> build_side(build[here]);
    const device_side<Key> probe_side(probe[here]);
    const auto capacity = expected.size() + 1;
    device_vector<long long> build_out(capacity);
    device_vector<long long> probe_out(capacity);
    device_vector<unsigned long long> total(1);
    strata::JoinOptions<> options;
    options.nulls_equal = nulls_equal;
    DistributedJoinCapacity needed{-1, -1};
    const auto output = strata::join_pairs(build_out.data(), probe_out.data(), capacity);
    const auto run = [&](DistributedJoinCapacity rows) {
      rows.needed = &needed;
      return call_with_temp_storage([&](void* storage, std::size_t& bytes) {
        return join<Kind>(storage, bytes, build_side.get(), probe_side.get(), output, total.data(), rows, options,
                          rank.comm, rank.stream);
      });
    };
    const cudaError_t first = run({});
    const DistributedJoinCapacity first_needed = needed;
    if (first != cudaSuccess) {
      EXPECT_EQ(cudaErrorInvalidValue, first);
      EXPECT_TRUE(strata_test::is_poison(total.to_host()[0]));
      for (const long long row : probe_out.to_host()) EXPECT_TRUE(strata_test::is_poison(row));
      EXPECT_EQ(cudaSuccess, run({needed.build_rows, needed.probe_rows}));
    }
    EXPECT_EQ(first_needed.build_rows, needed.build_rows);
    EXPECT_EQ(first_needed.probe_rows, needed.probe_rows);
    const auto of_rank = static_cast<std::size_t>(total.to_host()[0]);
    ASSERT_LT(of_rank, capacity);
    const std::vector<long long> build_rows = build_out.to_host();
    const std::vector<long long> probe_rows = probe_out.to_host();
    const std::lock_guard<std::mutex> lock(mutex);
    refusals += first != cudaSuccess ? 1 : 0;
    for (std::size_t i = 0; i < of_rank; ++i) {
      const bool has_build_row = Kind != JoinKind::semi && Kind != JoinKind::anti;
      found.emplace_back(has_build_row ? build_rows[i] : no_row, probe_rows[i]);
    }
    received.build += needed.build_rows;
    received.probe += needed.probe_rows;
    received.most_probe = std::max(received.most_probe, needed.probe_rows);
  });
  EXPECT_EQ(received.build + received.probe > 0 ? ranks : 0, refusals);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(expected.size(), found.size());
  EXPECT_TRUE(expected == found);
  return received;
}

// ------------------------------------------------------------------ sides

enum class counts { even, uneven, all_on_first, all_on_last, one_row, none };
constexpr counts all_counts[] = {counts::even,        counts::uneven,  counts::all_on_first,
                                 counts::all_on_last, counts::one_row, counts::none};

/// `id(i)` of row i of all ranks.
template <class Id>
side make_side(counts how, int ranks, int rows, const Id& id) {
  side all(static_cast<std::size_t>(ranks));
  int next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int count = rows / ranks;
    if (how == counts::uneven) count = rank % 3 == 1 ? 0 : rows / ranks / 2 + 37 * rank;
    if (how == counts::all_on_first) count = rank == 0 ? rows : 0;
    if (how == counts::all_on_last) count = rank + 1 == ranks ? rows : 0;
    if (how == counts::one_row) count = rank == ranks / 2 ? 1 : 0;
    if (how == counts::none) count = 0;
    for (; count > 0; --count) all[static_cast<std::size_t>(rank)].push_back(id(next++));
  }
  return all;
}

/// Ids from 0 to `most` - 1, in no order.
auto scattered(int most, unsigned seed = 1) {
  return [most, seed](int i) {
    std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return static_cast<int>((x >> 33) % static_cast<unsigned>(most));
  };
}

template <class Key>
void check_all_kinds(const side& build, const side& probe, bool nulls_equal = false) {
  check<JoinKind::inner, Key>(build, probe, nulls_equal);
  check<JoinKind::left, Key>(build, probe, nulls_equal);
  check<JoinKind::full, Key>(build, probe, nulls_equal);
  check<JoinKind::semi, Key>(build, probe, nulls_equal);
  check<JoinKind::anti, Key>(build, probe, nulls_equal);
}

TEST(DistributedHashJoin, TakesAllCounts) {
  for (const int ranks : rank_counts()) {
    for (const counts build : all_counts) {
      for (const counts probe : all_counts) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, counts " << static_cast<int>(build) << " and "
                                        << static_cast<int>(probe));
        check<JoinKind::inner, std::uint32_t>(make_side(build, ranks, 300, scattered(200)),
                                              make_side(probe, ranks, 400, scattered(200, 2)));
      }
    }
  }
}

TEST(DistributedHashJoin, TakesAllKinds) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(ranks);
    // Some keys of each side have no partner.
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 300, scattered(250)),
                                   make_side(counts::uneven, ranks, 400, scattered(250, 2)));
    check_all_kinds<std::uint64_t>(make_side(counts::uneven, ranks, 300, scattered(90)),
                                   make_side(counts::even, ranks, 300, [](int i) { return i % 100; }));
    check_all_kinds<wide_key>(make_side(counts::all_on_last, ranks, 200, scattered(100)),
                              make_side(counts::all_on_first, ranks, 200, scattered(100, 3)));
  }
}

TEST(DistributedHashJoin, TakesRowsWithoutKeys) {
  const auto with_nulls = [](int i) { return i % 9 == 0 ? no_key : i % 60; };
  const auto with_nan = [](int i) { return i % 9 == 0 ? unequal_key : i % 13 == 0 ? no_key : i % 60; };
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(ranks);
    const side build = make_side(counts::uneven, ranks, 150, with_nulls);
    const side probe = make_side(counts::even, ranks, 170, with_nulls);
    check_all_kinds<std::uint32_t>(build, probe);
    check_all_kinds<std::uint32_t>(build, probe, true);
    check_all_kinds<float>(make_side(counts::even, ranks, 150, with_nan),
                           make_side(counts::even, ranks, 150, with_nan), true);
    // Only one side has rows without keys.
    check_all_kinds<std::uint32_t>(build, make_side(counts::even, ranks, 100, scattered(60)), true);
  }
}

/// Half of the probe rows have one key: they stay on their ranks.
TEST(DistributedHashJoin, SpreadsFrequentKeys) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(ranks);
    const side build = make_side(counts::even, ranks, 900, [](int i) { return i % 450; });
    const side probe = make_side(counts::even, ranks, 1600, [](int i) { return i % 2 == 0 ? 7 : i % 450; });
    const received_rows received = check<JoinKind::inner, std::uint32_t>(build, probe);
    if (ranks > 1) {
      // Without that, one rank would have more than half.
      EXPECT_LT(received.most_probe, 1600 / ranks * 3 / 2);
    }
    check<JoinKind::left, std::uint32_t>(build, probe);
    check<JoinKind::full, std::uint32_t>(build, probe);
    check<JoinKind::semi, std::uint32_t>(build, probe);
    check<JoinKind::anti, std::uint32_t>(build, probe);
    const auto mostly_null = [](int i) { return i % 2 == 0 ? no_key : i % 450; };
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 300, [](int i) { return i == 70 ? no_key : i; }),
                                   make_side(counts::even, ranks, 500, mostly_null), true);
  }
}

TEST(DistributedHashJoin, TakesKeysThatAreAllEqual) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(ranks);
    const auto same = [](int) { return 5; };
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 40, same),
                                   make_side(counts::uneven, ranks, 50, same));
  }
}

/// A short build side goes to all ranks; no probe row moves, but in full joins.
TEST(DistributedHashJoin, LeavesProbeRowsWhereTheBuildSideIsShort) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(ranks);
    const side build = make_side(counts::even, ranks, 24, scattered(30));
    const side probe = make_side(counts::uneven, ranks, 900, scattered(30, 2));
    const received_rows received = check<JoinKind::inner, std::uint32_t>(build, probe);
    EXPECT_EQ(0, received.probe);
    check_all_kinds<std::uint32_t>(build, probe);
  }
}

TEST(DistributedHashJoin, RefusesOnAllRanksAlike) {
  for (const int ranks : rank_counts()) {
    for (int fault = 0; fault < 7; ++fault) {
      on_ranks(ranks, [&](const rank_context& rank) {
        const bool is_wrong = rank.rank + 1 == ranks;
        const device_vector<unsigned> keys(std::vector<unsigned>(20, 1));
        device_vector<long long> build_out(400), probe_out(400);
        device_vector<unsigned long long> total(1);
        const unsigned* const none = nullptr;
        const auto build = strata::join_side(is_wrong && fault == 0 ? none : keys.data(), 20);
        const auto probe = strata::join_side(keys.data(), is_wrong && fault == 1 ? -20 : 20);
        long long* const d_out = is_wrong && fault == 2 ? nullptr : probe_out.data();
        const auto output = strata::join_pairs(build_out.data(), d_out, is_wrong && fault == 3 ? -1 : 400);
        unsigned long long* const d_total = is_wrong && fault == 4 ? nullptr : total.data();
        const DistributedJoinCapacity rows{is_wrong && fault == 5 ? -1 : 20 * ranks, 20 * ranks};
        const strata::JoinOptions<> options;
        std::size_t bytes = 0;
        ASSERT_CUDA_SUCCESS(DistributedHashJoin::Inner(nullptr, bytes, build, probe, output, d_total, rows, options,
                                                       rank.comm, rank.stream));
        if (is_wrong && fault == 6) --bytes;
        const strata_test::guarded_memory storage(bytes);
        EXPECT_EQ(cudaErrorInvalidValue, DistributedHashJoin::Inner(storage.data(), bytes, build, probe, output,
                                                                    d_total, rows, options, rank.comm, rank.stream))
            << "fault " << fault;
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_TRUE(strata_test::is_poison(total.to_host()[0]));
      });
    }
  }
}

TEST(DistributedHashJoin, CarriesColumnsAlong) {
  for (const int ranks : rank_counts()) {
    const side build = make_side(counts::uneven, ranks, 200, [](int i) { return i; });
    const side probe = make_side(counts::even, ranks, 300, scattered(260));
    const result_rows expected = expected_rows(JoinKind::left, build, probe, false);
    std::vector<std::pair<int, double>> wanted, found;
    const ids all_build = joined(build), all_probe = joined(probe);
    for (const auto& [b, p] : expected) {
      wanted.emplace_back(b < 0 ? -5 : all_build[static_cast<std::size_t>(b)] * 3,
                          all_probe[static_cast<std::size_t>(p)] * 0.5);
    }
    std::mutex mutex;
    std::int64_t counted = 0;
    on_ranks(ranks, [&](const rank_context& rank) {
      const auto here = static_cast<std::size_t>(rank.rank);
      const device_side<std::uint32_t> build_side(build[here]), probe_side(probe[here]);
      std::vector<int> triples;
      std::vector<double> halves;
      for (const int id : build[here]) triples.push_back(id * 3);
      for (const int id : probe[here]) halves.push_back(id * 0.5);
      const device_vector<int> build_column(triples);
      const device_vector<double> probe_column(halves);
      device_vector<int> build_out(expected.size());
      device_vector<double> probe_out(expected.size());
      device_vector<unsigned long long> total(1);
      const strata::JoinOptions<> options;
      const DistributedJoinCapacity rows{1000, 1000};
      const auto output = strata::join_columns<std::int64_t>(
          expected.size(), strata::build_column(build_column.data(), build_out.data(), -5),
          strata::probe_column(probe_column.data(), probe_out.data(), -7.0));
      ASSERT_CUDA_SUCCESS(DistributedHashJoin::Left(build_side.get(), probe_side.get(), output, total.data(), rows,
                                                    options, rank.comm, rank.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      const auto of_rank = static_cast<std::size_t>(total.to_host()[0]);
      ASSERT_LE(of_rank, expected.size());
      const std::vector<int> ints = build_out.to_host();
      const std::vector<double> doubles = probe_out.to_host();
      ASSERT_CUDA_SUCCESS(DistributedHashJoin::Left(build_side.get(), probe_side.get(),
                                                    strata::join_count(), total.data(), rows, options,
                                                    rank.comm, rank.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      const std::lock_guard<std::mutex> lock(mutex);
      counted += static_cast<std::int64_t>(total.to_host()[0]);
      for (std::size_t i = 0; i < of_rank; ++i) found.emplace_back(ints[i], doubles[i]);
    });
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    EXPECT_TRUE(wanted == found);
    EXPECT_EQ(static_cast<std::int64_t>(expected.size()), counted);
  }
}

}  // namespace

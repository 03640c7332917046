// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "distributed/join_calls.cuh"
#include "distributed/ranks.hpp"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using strata::DistributedHashJoin;
using strata::DistributedJoinCapacity;
using strata::JoinKind;
using strata_test::call_with_temp_storage;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;
using strata_test::SmallDistributedHashJoin;

constexpr int no_key = -1;
/// The id of a key that is not equal to itself, for types that have one.
constexpr int unequal_key = -2;
constexpr std::int64_t no_row = -1;

using ids = std::vector<int>;
/// The ids of the rows of one side, for each rank.
using side = std::vector<ids>;
/// Pairs of build and probe rows, numbered over all ranks.
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

}  // namespace

template <>
struct strata::is_bitwise_comparable<wide_key> : std::true_type {};

namespace {

/// The key of an id. Id 0 becomes a zero of either sign, if keys are floating-point numbers.
template <class Key>
Key key_of(int id) {
  const auto word = static_cast<std::uint32_t>(id) * 2654435761u;
  if constexpr (std::is_same_v<Key, wide_key>) {
    return {word, static_cast<std::uint32_t>(id), 7};
  } else if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, __half>) {
    static std::atomic<unsigned> zeros{0};
    if (id == 0) return Key(zeros++ % 2 == 0 ? 0.0f : -0.0f);
    return Key(id == unequal_key ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(id));
  } else if constexpr (sizeof(Key) == 8) {
    return static_cast<Key>(word) << 32 | static_cast<Key>(id);
  } else {
    return static_cast<Key>(word);
  }
}

/// One rank's rows of a side, in device memory.
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
  if constexpr (Kind == JoinKind::inner) return SmallDistributedHashJoin::Inner(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::left) return SmallDistributedHashJoin::Left(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::full) return SmallDistributedHashJoin::Full(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::semi) return SmallDistributedHashJoin::Semi(storage, bytes, arguments...);
  if constexpr (Kind == JoinKind::anti) return SmallDistributedHashJoin::Anti(storage, bytes, arguments...);
}

/// Numbers of rows that all ranks together have received.
struct received_rows {
  std::int64_t build = 0;
  std::int64_t probe = 0;
  std::int64_t most_probe = 0;
};

constexpr std::size_t guard_bytes = 64;
constexpr unsigned char guard = 0x5a;

/// Joins on all ranks: first without capacity, then with exactly the capacity that is needed, then, if the build rows
/// are not too many, with room for all of them on each rank. Then does the same with temporary storage in memory that
/// ranks share.
template <JoinKind Kind, class Key>
received_rows check(const side& build, const side& probe, bool nulls_equal = false,
                    strata::JoinStrategy strategy = strata::JoinStrategy::automatic) {
  const int ranks = static_cast<int>(build.size());
  const result_rows expected = expected_rows(Kind, build, probe, nulls_equal);
  std::int64_t all_build_rows = 0;
  for (const ids& rows : build) all_build_rows += static_cast<std::int64_t>(rows.size());
  result_rows found, found_with_room, found_in_shared_memory, found_with_shared_room;
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
    options.strategy = strategy;
    DistributedJoinCapacity required{-1, -1};
    const auto output = strata::join_pairs(build_out.data(), probe_out.data(), capacity);
    const auto poison = [&] {
      build_out.poison();
      probe_out.poison();
      total.poison();
      required = {-1, -1};
    };
    const auto run = [&](DistributedJoinCapacity rows) {
      poison();
      rows.required_capacity = &required;
      return call_with_temp_storage([&](void* storage, std::size_t& bytes) {
        return join<Kind>(storage, bytes, build_side.get(), probe_side.get(), output, total.data(), rows, options,
                          rank.comm, rank.stream);
      });
    };
    const auto expect_nothing_written = [&] {
      EXPECT_TRUE(strata_test::is_poison(total.to_host()[0]));
      for (const long long row : build_out.to_host()) EXPECT_TRUE(strata_test::is_poison(row));
      for (const long long row : probe_out.to_host()) EXPECT_TRUE(strata_test::is_poison(row));
    };
    const cudaError_t first = run({});
    const DistributedJoinCapacity first_required = required;
    if (first != cudaSuccess) {
      EXPECT_EQ(cudaErrorInvalidValue, first);
      expect_nothing_written();
      EXPECT_EQ(cudaSuccess, run({first_required.build_rows, first_required.probe_rows}));
    }
    // The call may require room for all build rows instead. Then probe rows stay where they are.
    const bool has_room = required.build_rows == all_build_rows && required.probe_rows == 0;
    EXPECT_TRUE(has_room || first_required.build_rows == required.build_rows);
    EXPECT_TRUE(has_room || first_required.probe_rows == required.probe_rows);
    const auto add_rows = [&](result_rows& rows) {
      const auto of_rank = static_cast<std::size_t>(total.to_host()[0]);
      ASSERT_LT(of_rank, capacity);
      const std::vector<long long> build_rows = build_out.to_host();
      const std::vector<long long> probe_rows = probe_out.to_host();
      const std::lock_guard<std::mutex> lock(mutex);
      for (std::size_t i = 0; i < of_rank; ++i) {
        const bool has_build_row = Kind != JoinKind::semi && Kind != JoinKind::anti;
        rows.emplace_back(has_build_row ? build_rows[i] : no_row, probe_rows[i]);
      }
    };
    add_rows(found);
    if (all_build_rows < 5000) {
      EXPECT_EQ(cudaSuccess, run({all_build_rows, first_required.probe_rows}));
      add_rows(found_with_room);
    }
    // With temporary storage in shared memory, rows are written directly to their ranks.
    const auto run_in_shared_memory = [&](DistributedJoinCapacity rows, cudaError_t status = cudaSuccess) {
      poison();
      rows.required_capacity = &required;
      const auto call = [&](void* storage, std::size_t& bytes) {
        return join<Kind>(storage, bytes, build_side.get(), probe_side.get(), output, total.data(), rows, options,
                          rank.comm, rank.stream);
      };
      std::size_t bytes = 0;
      EXPECT_CUDA_SUCCESS(call(nullptr, bytes));
      strata::DistributedMemory memory;
      ASSERT_CUDA_SUCCESS(memory.Allocate(bytes + guard_bytes, rank.comm));
      EXPECT_CUDA_SUCCESS(cudaMemset(memory.data(), guard, bytes + guard_bytes));
      EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
      EXPECT_EQ(status, call(memory.data(), bytes));
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      unsigned char behind[guard_bytes];
      EXPECT_CUDA_SUCCESS(
          cudaMemcpy(behind, static_cast<unsigned char*>(memory.data()) + bytes, guard_bytes, cudaMemcpyDeviceToHost));
      for (const unsigned char byte : behind) ASSERT_EQ(guard, byte);
      EXPECT_CUDA_SUCCESS(memory.Release());
    };
    if (ranks > 1 && all_build_rows < 5000) {
      if (first != cudaSuccess) {
        run_in_shared_memory({}, cudaErrorInvalidValue);
        expect_nothing_written();
        EXPECT_EQ(first_required.build_rows, required.build_rows);
        EXPECT_EQ(first_required.probe_rows, required.probe_rows);
      }
      run_in_shared_memory(first_required);
      add_rows(found_in_shared_memory);
      run_in_shared_memory({all_build_rows, first_required.probe_rows});
      add_rows(found_with_shared_room);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    refusals += first != cudaSuccess ? 1 : 0;
    received.build += first_required.build_rows;
    received.probe += first_required.probe_rows;
    received.most_probe = std::max(received.most_probe, first_required.probe_rows);
  });
  EXPECT_EQ(received.build + received.probe > 0 ? ranks : 0, refusals);
  for (result_rows* const rows : {&found, &found_with_room, &found_in_shared_memory, &found_with_shared_room}) {
    const bool is_shared = rows == &found_in_shared_memory || rows == &found_with_shared_room;
    if ((is_shared && ranks == 1) || (rows != &found && all_build_rows >= 5000)) continue;
    std::sort(rows->begin(), rows->end());
    EXPECT_EQ(expected.size(), rows->size());
    EXPECT_TRUE(expected == *rows);
  }
  return received;
}

// ------------------------------------------------------------------ sides

enum class counts { even, uneven, all_on_first, all_on_last, one_row, none };
constexpr counts all_counts[] = {counts::even,        counts::uneven,  counts::all_on_first,
                                 counts::all_on_last, counts::one_row, counts::none};

/// A side with the ids `id(i)`, where i numbers the rows of all ranks.
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

/// Ids from 0 to `most` - 1, in random order.
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

TEST(distributed_hash_join, kinds) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    const auto nulls_too = [](int most, unsigned seed) {
      return [=](int i) { return i % 7 == 3 ? no_key : scattered(most, seed)(i); };
    };
    // Several rows of each key on both sides, and rows without a match on both.
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 600, scattered(250)),
                                   make_side(counts::uneven, ranks, 700, scattered(270, 2)));
    for (const bool nulls_equal : {false, true}) {
      check_all_kinds<std::uint32_t>(make_side(counts::uneven, ranks, 200, nulls_too(150, 1)),
                                     make_side(counts::even, ranks, 150, nulls_too(170, 2)), nulls_equal);
      // Only build rows may have no key.
      check<JoinKind::full, std::uint32_t>(make_side(counts::even, ranks, 200, nulls_too(150, 1)),
                                           make_side(counts::even, ranks, 150, scattered(170, 2)), nulls_equal);
    }
    // No row has a match.
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 300, [](int i) { return i; }),
                                   make_side(counts::even, ranks, 300, [](int i) { return 1000 + i; }));
  }
}

// Local joins by partitions use row numbers instead of indices. The exceptions are partitions that a table in global
// memory joins: those with too many rows of one key, and those of rows without a key.
TEST(distributed_hash_join, partitions_of_local_joins) {
  constexpr int equal_rows = 13000;
  const auto build_id = [](int i) { return i % 9 == 4 ? no_key : i % 3 == 0 ? 5 : 10 + scattered(3000)(i); };
  const auto probe_id = [](int i) { return i % 7 == 4 ? no_key : i == 8 ? 5 : 10 + scattered(3000, 2)(i); };
  for (const int ranks : rank_counts()) {
    // With one rank, the rows have no numbers.
    if (strata_test::is_small() ? ranks != 2 : ranks > 3) continue;
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    const side build = make_side(counts::even, ranks, 3 * equal_rows, build_id);
    const side probe = make_side(counts::uneven, ranks, 900, probe_id);
    const side few = make_side(counts::uneven, ranks, 700, scattered(300));
    const side more = make_side(counts::even, ranks, 600, scattered(300, 2));
    using strata::JoinStrategy;
    check<JoinKind::left, std::uint32_t>(build, probe, true, JoinStrategy::radix_single);
    check<JoinKind::full, std::uint64_t>(build, probe, false, JoinStrategy::radix_single);
    check<JoinKind::inner, std::uint32_t>(build, probe, false, JoinStrategy::radix_multi);
    check<JoinKind::anti, std::uint32_t>(probe, build, true, JoinStrategy::radix_multi);
    for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      check<JoinKind::inner, std::uint64_t>(few, more, false, strategy);
      check<JoinKind::semi, std::uint64_t>(few, more, false, strategy);
      check<JoinKind::full, wide_key>(few, more, false, strategy);
    }
  }
}

TEST(distributed_hash_join, small_build_side) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    const auto nulls_too = [](int i) { return i % 9 == 2 ? no_key : scattered(20, 5)(i); };
    for (const bool nulls_equal : {false, true}) {
      const side build = make_side(counts::uneven, ranks, 30, nulls_too);
      const side probe = make_side(counts::uneven, ranks, 1500, nulls_too);
      check_all_kinds<std::uint32_t>(build, probe, nulls_equal);
      if (joined(build).size() * static_cast<std::size_t>(ranks - 1) >= joined(probe).size()) continue;
      EXPECT_EQ(0, (check<JoinKind::left, std::uint32_t>(build, probe, nulls_equal).probe));
    }
  }
}

TEST(distributed_hash_join, frequent_keys) {
  constexpr int rows = 1600;
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    // Half of the probe rows have the same key.
    const auto half = [](int key) { return [=](int i) { return i % 2 == 0 ? key : 10 + scattered(1500)(i); }; };
    const side build = make_side(counts::even, ranks, rows, [](int i) { return i == 77 ? 5 : 10 + i; });
    const side probe = make_side(counts::even, ranks, rows, half(5));
    check_all_kinds<std::uint32_t>(build, probe);
    if (ranks > 1) {
      const received_rows received = check<JoinKind::inner, std::uint32_t>(build, probe);
      EXPECT_LE(received.most_probe, rows / ranks * 3 / 2);
      EXPECT_EQ(rows / ranks * ranks + ranks - 1, received.build);
    }
    // Half of the probe rows have no key. Rows without a key match each other here.
    const side build_nulls = make_side(counts::even, ranks, rows, [](int i) { return i == 77 ? no_key : 10 + i; });
    const side probe_nulls = make_side(counts::even, ranks, rows, half(no_key));
    check_all_kinds<std::uint32_t>(build_nulls, probe_nulls, true);
    if (ranks > 1) {
      EXPECT_LE((check<JoinKind::inner, std::uint32_t>(build_nulls, probe_nulls, true).most_probe),
                rows / ranks * 3 / 2);
    }
    // All rows have the same key.
    const auto same = [](int) { return 3; };
    check_all_kinds<std::uint32_t>(make_side(counts::even, ranks, 64, same),
                                   make_side(counts::uneven, ranks, 64, same));
  }
}

TEST(distributed_hash_join, types_of_keys) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    const side build = make_side(counts::even, ranks, 400, scattered(300));
    const side probe = make_side(counts::even, ranks, 350, scattered(300, 3));
    check<JoinKind::inner, std::uint64_t>(build, probe);
    check<JoinKind::full, wide_key>(build, probe);
    // Keys that are not equal to themselves match nothing.
    const auto unequal_too = [](unsigned seed) {
      return [=](int i) { return i % 5 == 1 ? unequal_key : scattered(100, seed)(i); };
    };
    const side floats = make_side(counts::even, ranks, 200, unequal_too(1));
    const side more_floats = make_side(counts::even, ranks, 220, unequal_too(2));
    check<JoinKind::full, float>(floats, more_floats, true);
    check<JoinKind::semi, __half>(floats, more_floats);
  }
}

TEST(distributed_hash_join, all_counts) {
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

// Compares the pieces of a side that ranks send with those that they receive, for arbitrary counts. Each rank receives
// each row once and without gaps. Rows without a key come last.
TEST(distributed_hash_join, pieces_of_ranks_agree) {
  using plan_type = strata::detail::join_side_plan;
  constexpr int ranks = 3;
  constexpr int sections = plan_type::sections;
  // For each rank, the rows for rank 0, 1 and 2, for all ranks, without a key, and dropped.
  const std::int64_t counts[ranks][6] = {{4, 0, 3, 2, 5, 7}, {0, 6, 1, 0, 2, 0}, {8, 2, 0, 3, 0, 1}};
  using strata::detail::join_null_target;
  for (const int target : {join_null_target::nowhere, join_null_target::same_rank, join_null_target::all_ranks, 1}) {
    SCOPED_TRACE(testing::Message() << "rows without a key to " << target);
    const plan_type plan{ranks, &counts[0][0], 6, {target}};
    strata::detail::join_side_pieces pieces[ranks];
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(pieces[rank].allocate(ranks));
      strata::detail::cut_join_rows(plan, rank, pieces[rank]);
    }
    for (int to = 0; to < ranks; ++to) {
      std::size_t at = 0;
      std::size_t with_key = 0;
      for (int section = 0; section < sections; ++section) {
        for (int from = 0; from < ranks; ++from) {
          const auto out = static_cast<std::size_t>(to * sections + section);
          const auto in = static_cast<std::size_t>(from * sections + section);
          // A sender has rows for `to`, rows for all ranks, and rows without a key, one after the other.
          const int first_class = section == plan_type::keys ? to : section == plan_type::frequent_keys ? 3 : 4;
          std::int64_t offset = 0;
          for (int i = 0; i < first_class; ++i) offset += counts[from][i];
          EXPECT_EQ(static_cast<std::size_t>(offset), pieces[from].sent.list().offsets[out]);
          EXPECT_EQ(static_cast<std::size_t>(offset), pieces[to].at_sender.list().offsets[in]);
          const bool is_sent = section != plan_type::nulls || target == to || target == join_null_target::all_ranks ||
                               (target == join_null_target::same_rank && from == to);
          const auto rows = static_cast<std::size_t>(is_sent ? counts[from][first_class] : 0);
          EXPECT_EQ(rows, pieces[from].sent.list().counts[out]);
          EXPECT_EQ(rows, pieces[to].received.list().counts[in]);
          EXPECT_EQ(at, pieces[to].received.list().offsets[in]);
          at += rows;
        }
        if (section == plan_type::frequent_keys) with_key = at;
      }
      EXPECT_EQ(static_cast<std::int64_t>(at), plan.received(to));
      EXPECT_EQ(static_cast<std::int64_t>(at - with_key), plan.received(to, plan_type::nulls));
    }
  }
}

// ------------------------------------------------------------------ outputs

/// The values of a column. A row's number determines its value.
std::vector<double> values_of(std::int64_t first_row, std::size_t rows) {
  std::vector<double> values(rows);
  for (std::size_t i = 0; i < rows; ++i)
    values[i] = static_cast<double>(first_row + static_cast<std::int64_t>(i)) + 0.5;
  return values;
}

std::int64_t rows_before(const side& rows, int rank) {
  std::int64_t before = 0;
  for (int i = 0; i < rank; ++i) before += static_cast<std::int64_t>(rows[static_cast<std::size_t>(i)].size());
  return before;
}

/// Writes the numbers of build rows.
struct write_build_row {
  std::int64_t* out;
  STRATA_HD void operator()(std::int64_t position, std::int64_t build_row, std::int64_t) const {
    out[position] = build_row;
  }
};

struct double_of {
  template <class T>
  STRATA_HD T operator()(const T& x) const {
    return x + x;
  }
};

/// A value that is too large to be sorted.
struct large_value {
  double value;
  double copies[4];
};
struct to_large_value {
  STRATA_HD large_value operator()(double x) const { return {x, {x, x, x, x}}; }
};

/// A left join with columns of both sides, keys from an iterator, and promises about the sides.
void check_columns(const side& build, const side& probe) {
  const int ranks = static_cast<int>(build.size());
  const result_rows expected = expected_rows(JoinKind::left, build, probe, false);
  result_rows found;
  result_rows found_values;
  std::int64_t counted = 0;
  std::mutex mutex;
  on_ranks(ranks, [&](const rank_context& rank) {
    const auto here = static_cast<std::size_t>(rank.rank);
    const device_vector<int> build_ids(build[here]);
    const device_vector<int> probe_ids(probe[here]);
    const device_vector<double> build_values(values_of(rows_before(build, rank.rank), build[here].size()));
    const device_vector<double> probe_values(values_of(rows_before(probe, rank.rank), probe[here].size()));
    const std::size_t capacity = expected.size() + 1;
    device_vector<double> build_out(capacity);
    device_vector<double> probe_out(capacity);
    device_vector<std::int64_t> rows_out(capacity);
    device_vector<std::int64_t> total(1);
    device_vector<std::int64_t> only_total(1);
    device_vector<large_value> large_out(capacity);
    device_vector<double> beside_large(capacity);
    device_vector<std::int64_t> total_of_columns(1);
    using keys_type = strata::TransformInputIterator<int, double_of, const int*>;
    using values_type = strata::TransformInputIterator<double, double_of, const double*>;
    const auto build_side =
        strata::join_side(keys_type(build_ids.data(), double_of{}), static_cast<std::int64_t>(build[here].size()))
            .unique();
    const auto probe_side =
        strata::join_side(keys_type(probe_ids.data(), double_of{}), static_cast<std::int64_t>(probe[here].size()));
    const auto output = strata::join_columns(
        capacity, strata::build_column(values_type(build_values.data(), double_of{}), build_out.data(), -1.0),
        strata::probe_column(probe_values.data(), probe_out.data(), -1.0), write_build_row{rows_out.data()});
    const DistributedJoinCapacity rows{static_cast<std::int64_t>(joined(build).size()),
                                       static_cast<std::int64_t>(joined(probe).size())};
    EXPECT_CUDA_SUCCESS(DistributedHashJoin::Left(build_side, probe_side, output, total.data(), rows,
                                                  strata::JoinOptions<>{}, rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(DistributedHashJoin::Left(build_side, probe_side, strata::join_count(), only_total.data(), rows,
                                                  strata::JoinOptions<>{}, rank.comm, rank.stream));
    // Without row numbers, values of build rows are gathered, and keys and values of probe rows are sorted.
    using large_values_type = strata::TransformInputIterator<large_value, to_large_value, const double*>;
    const auto columns = strata::join_columns(
        capacity,
        strata::build_column(large_values_type(build_values.data(), to_large_value{}), large_out.data(), large_value{}),
        strata::probe_column(probe_values.data(), beside_large.data(), -1.0));
    EXPECT_CUDA_SUCCESS(DistributedHashJoin::Left(build_side, probe_side, columns, total_of_columns.data(), rows,
                                                  strata::JoinOptions<>{}, rank.comm, rank.stream));
    rank.wait();
    const auto of_rank = static_cast<std::size_t>(total.to_host()[0]);
    EXPECT_EQ(total.to_host(), only_total.to_host());
    EXPECT_EQ(total.to_host(), total_of_columns.to_host());
    const std::lock_guard<std::mutex> lock(mutex);
    counted += only_total.to_host()[0];
    const std::vector<std::int64_t> build_rows = rows_out.to_host();
    for (std::size_t i = 0; i < of_rank; ++i) {
      const std::int64_t build_row = build_rows[i];
      found.emplace_back(build_row, static_cast<std::int64_t>(probe_out.to_host()[i]));
      EXPECT_EQ(build_row == no_row ? -1.0 : 2 * static_cast<double>(build_row) + 1, build_out.to_host()[i]);
      // Row r has the value r + 0.5, and 0 means that there is no build row.
      const large_value build_value = large_out.to_host()[i];
      for (const double copy : build_value.copies) EXPECT_EQ(build_value.value, copy);
      found_values.emplace_back(build_value.value == 0 ? no_row : static_cast<std::int64_t>(build_value.value),
                                static_cast<std::int64_t>(beside_large.to_host()[i]));
    }
  });
  std::sort(found.begin(), found.end());
  std::sort(found_values.begin(), found_values.end());
  EXPECT_EQ(static_cast<std::int64_t>(expected.size()), counted);
  EXPECT_TRUE(expected == found);
  EXPECT_TRUE(expected == found_values);
}

TEST(distributed_hash_join, columns_and_counts) {
  for (const int ranks : rank_counts()) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    check_columns(make_side(counts::even, ranks, 120, [](int i) { return 3 * i; }),
                  make_side(counts::uneven, ranks, 130, scattered(400)));
    check_columns(make_side(counts::even, ranks, 16, [](int i) { return 3 * i; }),
                  make_side(counts::uneven, ranks, 300, scattered(60)));
  }
}

// ------------------------------------------------------------------ refused calls

/// The mistake that one rank makes.
enum class fault {
  none,
  build_capacity,
  probe_capacity,
  rows,
  null_keys,
  null_count,
  storage,
  kind_of_nulls,
  negative
};

void check_fault(int ranks, fault what) {
  const side build = make_side(counts::even, ranks, 200, scattered(100));
  const side probe = make_side(counts::even, ranks, 200, scattered(100, 4));
  on_ranks(ranks, [&](const rank_context& rank) {
    const auto here = static_cast<std::size_t>(rank.rank);
    const device_side<std::uint32_t> build_side(build[here]);
    const device_side<std::uint32_t> probe_side(probe[here]);
    device_vector<std::int64_t> build_out(2000);
    device_vector<std::int64_t> probe_out(2000);
    device_vector<std::int64_t> total(1);
    const bool is_wrong = rank.rank == ranks - 1;
    const auto wrong = [&](fault one) { return is_wrong && what == one; };
    strata::JoinOptions<> options;
    options.nulls_equal = wrong(fault::kind_of_nulls);
    DistributedJoinCapacity required{-1, -1};
    const DistributedJoinCapacity rows{wrong(fault::build_capacity) ? 3 : 200, wrong(fault::probe_capacity) ? 3 : 200,
                                       &required};
    auto left = build_side.get();
    if (wrong(fault::rows)) left.rows = -1;
    if (wrong(fault::null_keys)) left.keys = nullptr;
    const auto output =
        strata::join_pairs(build_out.data(), probe_out.data(), wrong(fault::negative) ? -1 : std::int64_t{2000});
    const auto call = [&](void* storage, std::size_t& bytes) {
      return DistributedHashJoin::Full(storage, bytes, left, probe_side.get(), output,
                                       wrong(fault::null_count) ? nullptr : total.data(), rows, options, rank.comm,
                                       rank.stream);
    };
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(call(nullptr, bytes));
    EXPECT_GT(bytes, 0u);
    const device_vector<unsigned char> storage(bytes);
    if (wrong(fault::storage)) --bytes;
    EXPECT_EQ(what == fault::none ? cudaSuccess : cudaErrorInvalidValue,
              call(const_cast<unsigned char*>(storage.data()), bytes));
    rank.wait();
    storage.expect_guards_intact();
    EXPECT_EQ(what != fault::none, strata_test::is_poison(total.to_host()[0]));
    if (what != fault::none) {
      for (const std::int64_t row : probe_out.to_host()) EXPECT_TRUE(strata_test::is_poison(row));
    }
    const bool is_planned = what == fault::none || what == fault::build_capacity || what == fault::probe_capacity;
    EXPECT_EQ(is_planned, required.build_rows >= 0 && required.probe_rows >= 0);
  });
}

/// The members of a call and of its storage that write_class_counts() uses.
struct counting_call {
  strata::detail::rank_position position;
  cudaStream_t stream;
};
struct counting_storage {
  const strata::detail::join_class_t* d_classes;
  unsigned char* d_counts;
  const strata::detail::join_class_t* sorted_classes() const { return d_classes; }
  unsigned char* counts() const { return d_counts; }
};

// With fewer rows than its capacity, a local join may use another algorithm, which needs more storage.
TEST(distributed_hash_join, storage_for_a_capacity_has_room_for_fewer_rows) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& rank) {
    const auto bytes_for = [&](std::int64_t rows) {
      const std::uint32_t* const keys = nullptr;
      float* const out = nullptr;
      const auto output = strata::join_columns(100, strata::build_column(static_cast<const float*>(nullptr), out, 0.f),
                                               strata::probe_column(static_cast<const float*>(nullptr), out, 0.f));
      std::size_t bytes = 0;
      EXPECT_CUDA_SUCCESS(DistributedHashJoin::Inner(
          nullptr, bytes, strata::join_side(keys, 1000).unique(), strata::join_side(keys, 1000), output,
          static_cast<std::int64_t*>(nullptr), DistributedJoinCapacity{rows, std::int64_t{1} << 26},
          strata::JoinOptions<>{}, rank.comm, rank.stream));
      return bytes;
    };
    std::size_t before = 0;
    for (int log_rows = 10; log_rows <= 26; ++log_rows) {
      for (const std::int64_t rows :
           {(std::int64_t{1} << log_rows) - 1, std::int64_t{1} << log_rows, (std::int64_t{1} << log_rows) + 1}) {
        const std::size_t bytes = bytes_for(rows);
        EXPECT_LE(before, bytes) << rows << " build rows";
        before = bytes;
      }
    }
  });
}

/// Messages of two ranks that have equally many rows of a side. No key is frequent.
struct messages_of_two {
  strata::detail::join_message of[2];
  strata::detail::join_sample samples[2 * strata::detail::join_message::max_samples];

  messages_of_two(std::int64_t build_rows, std::int64_t probe_rows, std::int64_t build_capacity) : of{}, samples{} {
    std::uint64_t hash = 1;
    for (strata::detail::join_message& message : of) {
      message.header.build_rows = build_rows;
      message.header.probe_rows = probe_rows;
      message.header.build_capacity = build_capacity;
      message.header.probe_capacity = probe_rows;
      for (std::uint64_t& sample : message.samples) sample = hash++;
    }
  }
  strata::detail::join_destinations destinations(strata::detail::join_destination_rules rules, bool is_possible) {
    return strata::detail::choose_destinations(of, 2, rules, {is_possible, /*min_rows=*/1000}, samples);
  }
};

TEST(distributed_hash_join, rows_go_straight_to_their_ranks) {
  using strata::detail::join_destinations;
  const strata::detail::join_destination_rules inner{true, false, false, false}, left{true, false, true, false},
      nulls_too{true, false, false, true};
  messages_of_two even(600, 600, 1200), little_room(600, 600, 700), few(400, 400, 800), small_build(500, 600, 1200);
  // All ranks have room for all build rows. But then they would receive as many rows as in a direct join.
  EXPECT_TRUE(even.destinations(inner, true).is_direct);
  EXPECT_TRUE(even.destinations(inner, true).may_send_whole_build_side);
  EXPECT_TRUE(even.destinations(inner, false).sends_whole_build_side);
  EXPECT_FALSE(even.destinations(inner, false).is_direct);
  EXPECT_TRUE(even.destinations(left, true).is_direct);
  EXPECT_TRUE(few.destinations(inner, true).sends_whole_build_side);
  EXPECT_TRUE(small_build.destinations(inner, true).sends_whole_build_side);
  // No rank has room for all build rows.
  EXPECT_TRUE(little_room.destinations(inner, true).is_direct);
  EXPECT_FALSE(little_room.destinations(inner, true).may_send_whole_build_side);
  EXPECT_FALSE(little_room.destinations(inner, false).is_direct);
  messages_of_two no_probe_room = even;
  no_probe_room.of[1].header.probe_capacity = 0;
  EXPECT_TRUE(no_probe_room.destinations(inner, true).sends_whole_build_side);
  // Rows without a key are dropped in the first join, and kept in the other two.
  messages_of_two masked = little_room;
  masked.of[1].header.has_probe_mask = 1;
  EXPECT_TRUE(masked.destinations(inner, true).is_direct);
  EXPECT_FALSE(masked.destinations(left, true).is_direct);
  EXPECT_FALSE(masked.destinations(nulls_too, true).is_direct);
  // Half of the probe rows have one key.
  for (messages_of_two* const some : {&even, &little_room}) {
    for (std::size_t i = 0; i < strata::detail::join_message::max_samples; i += 2) {
      some->of[0].samples[i] = some->of[1].samples[i] = 7;
    }
    const join_destinations destinations = some->destinations(inner, true);
    EXPECT_FALSE(destinations.is_direct);
    EXPECT_EQ(some == &even, destinations.sends_whole_build_side);
  }
}

// A rank that cannot group its rows reports this error with its counts, so all ranks return it.
TEST(distributed_hash_join, errors_of_grouping_are_those_of_all_ranks) {
  for (const int ranks : rank_counts()) {
    for (const bool is_of_build : {true, false}) {
      for (const bool fails : {true, false}) {
        on_ranks(ranks, [&](const rank_context& rank) {
          // Rank r has r + 1 rows for itself, and 3 without a key.
          std::vector<strata::detail::join_class_t> classes(static_cast<std::size_t>(rank.rank) + 1,
                                                            static_cast<strata::detail::join_class_t>(rank.rank));
          classes.insert(classes.end(), 3, static_cast<strata::detail::join_class_t>(ranks + 1));
          const device_vector<strata::detail::join_class_t> d_classes(classes);
          strata::detail::exchange_messages counts = strata::detail::join_count_messages(ranks);
          ASSERT_TRUE(counts.allocate());
          device_vector<unsigned char> d_counts(counts.bytes());
          const counting_call call{{rank.rank, ranks}, rank.stream};
          const counting_storage storage{d_classes.data(), d_counts.data()};
          const auto status = [&](bool of_build) {
            return fails && of_build == is_of_build && rank.rank == ranks - 1 ? cudaErrorLaunchOutOfResources
                                                                              : cudaSuccess;
          };
          const auto rows = static_cast<std::int64_t>(classes.size());
          EXPECT_CUDA_SUCCESS(strata::detail::write_class_counts<true>(call, storage, counts, status(true), rows));
          EXPECT_CUDA_SUCCESS(strata::detail::write_class_counts<false>(call, storage, counts, status(false), 0));
          EXPECT_EQ(fails ? cudaErrorLaunchOutOfResources : cudaSuccess,
                    counts.gather(storage.counts(), call.position, rank.comm, rank.stream));
          for (int of = 0; of < ranks && !fails; ++of) {
            for (int one = 0; one < ranks + 3; ++one) {
              const int expected = one == of ? of + 1 : one == ranks + 1 ? 3 : 0;
              EXPECT_EQ(expected, counts.counts(of, strata::detail::build_counts_part)[one]);
              EXPECT_EQ(0, counts.counts(of, strata::detail::probe_counts_part)[one]);
            }
          }
        });
      }
    }
  }
}

TEST(distributed_hash_join, refuses_on_all_ranks) {
  for (const int ranks : rank_counts()) {
    if (ranks == 1) continue;
    for (const fault what : {fault::none, fault::build_capacity, fault::probe_capacity, fault::rows, fault::null_keys,
                             fault::null_count, fault::storage, fault::kind_of_nulls, fault::negative}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, fault " << static_cast<int>(what));
      check_fault(ranks, what);
    }
  }
}

}  // namespace

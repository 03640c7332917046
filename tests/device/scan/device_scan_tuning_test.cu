// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// Scans with policies for tests, in any number of blocks and rounds, under all schedules. So some hundred items take
// every path of the largest arrays.
#include <strata/device/device_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/scan/device_scan_tuned.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::NullType;
using strata_test::join;
using strata_test::plain_sum;
using strata_test::string_hash;

// ------------------------------------------------------------------ shapes

// The number of blocks, and where input and output begin and end.
struct shape {
  unsigned blocks;
  std::size_t size;
  std::size_t start;  // of the input, in items; `shift` is that of the output
  std::size_t shift;
};
std::ostream& operator<<(std::ostream& os, const shape& s) {
  return os << s.size << " items from " << s.start << " to " << s.shift << " in " << s.blocks << " blocks";
}

// Calls of up to 16 rounds erase their epochs. Slots of aggregates are reused after 8 rounds.
constexpr unsigned all_rounds[] = {1, 2, 9, 16, 17, 18};
constexpr std::size_t most_rounds = 18;

// All blocks of a cooperative grid are resident. Nine of them fit on each multiprocessor.
unsigned most_blocks() {
#if STRATA_HOST_SIMT
  return std::min(if_small(9u, 16u), 9 * strata::simt::config().multiprocessors);
#else
  return if_small(20u, 100u);
#endif
}

std::size_t shapes_per_schedule() {
  const std::size_t enough = if_small<std::size_t>(30, 60);
  return (enough + schedules() - 1) / schedules();
}

// Each number of blocks meets each number of rounds; the rest is random.
shape shape_of(std::size_t i, std::size_t tile_items, std::size_t boundary, std::size_t most) {
  static std::mt19937_64 bits = strata_test::random_bits(77);
  const auto below = [](std::size_t limit) { return static_cast<std::size_t>(bits() % limit); };
  const unsigned all_blocks[] = {1, 2, 3, 5, most_blocks()};
  shape s{};
  s.blocks = all_blocks[i % 5];
  const unsigned rounds = all_rounds[i / 5 % 6];
  const std::size_t tiles_of_last_round = 1 + below(s.blocks);
  if (rounds == 1) s.blocks = static_cast<unsigned>(tiles_of_last_round);
  const std::size_t tiles = rounds == 1 ? s.blocks : s.blocks * (rounds - 1) + tiles_of_last_round;
  const std::size_t last_tile[] = {tile_items, 1, 1 + below(tile_items), tile_items - 1};
  s.start = below(boundary + 2);
  s.shift = below(2) == 0 ? s.start : below(boundary + 2);
  s.size = (tiles - 1) * tile_items + last_tile[below(4)];
  // The head comes before the first tile.
  s.size += (boundary - s.start % boundary) % boundary;
  if (s.size > most) {
    s.size = most;
    s.blocks = 1;
  }
  return s;
}

// Scans by `Scan::run`, and compares with `reference(s)`.
template <class Scan, class T, class Op, class Init, class Reference>
void expect_scan(const shape& s, const device_vector<T>& in, Op op, Init init, const Reference& reference) {
  SCOPED_TRACE(testing::Message() << s);
  const strata_test::guarded_memory out(s.size * sizeof(T), s.shift * sizeof(T));
  const scratch storage(in_blocks::storage_bytes<typename Scan::accumulator>(s.blocks));
  ASSERT_CUDA_SUCCESS(Scan::run(s.blocks, storage, in.data() + s.start, static_cast<T*>(out.data()), s.size, op, init));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  std::vector<T> results(s.size);
  out.read(results.data());
  ASSERT_SAME_ITEMS(reference(s), results);
}

// ------------------------------------------------------------------ results

enum class form { exclusive, inclusive, inclusive_with_init };

template <class Scan, class T, form Form, class Op>
void expect_scans_under_all_schedules(Op op, T init) {
  constexpr std::size_t boundary = 16 / sizeof(T) > 0 ? 16 / sizeof(T) : 1;
  const std::size_t most = most_rounds * most_blocks() * Scan::tile_items;
  const std::vector<T> items = scan_items<T>::make(most + 64);
  const device_vector<T> in(items);
  std::size_t next = 0;
  under_all_schedules([&](std::size_t) {
    for (std::size_t k = 0; k < shapes_per_schedule(); ++k) {
      const shape s = shape_of(next++, Scan::tile_items, boundary, most);
      const auto reference = [&](const shape& of) {
        const T* const first = items.data() + of.start;
        if constexpr (Form == form::exclusive) return exclusive_scan(first, of.size, op, init);
        if constexpr (Form == form::inclusive) return inclusive_scan<T>(first, of.size, op);
        if constexpr (Form == form::inclusive_with_init) {
          return inclusive_scan(first, of.size, op, init);
        }
      };
      if constexpr (Form == form::inclusive) {
        ASSERT_NO_FATAL_FAILURE(expect_scan<Scan>(s, in, op, NullType{}, reference));
      } else {
        ASSERT_NO_FATAL_FAILURE(expect_scan<Scan>(s, in, op, init, reference));
      }
    }
  });
}

template <class T, class Op, form Form, class Hub, bool UsesBulkCopies = true>
using pipeline_scan = in_blocks::pipeline<Hub, UsesBulkCopies, T, T, Form != form::exclusive, Op,
                                          std::conditional_t<Form == form::inclusive, NullType, T>>;
template <class T, class Op, form Form, class Hub>
using tiles_scan =
    in_blocks::tiles<Hub, T, T, Form != form::exclusive, Op, std::conditional_t<Form == form::inclusive, NullType, T>>;

template <class T, class Op, form Form, class Hub, bool UsesBulkCopies = true>
void expect_pipeline(Op op, T init) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  expect_scans_under_all_schedules<pipeline_scan<T, Op, Form, Hub, UsesBulkCopies>, T, Form>(op, init);
}

using byte_function = packed_affine<std::uint8_t>;
using word_function = packed_affine<std::uint16_t>;

TEST(device_scan_tuning, pipeline_of_bytes) {
  expect_pipeline<byte_function, compose, form::exclusive, pipeline_hub<32, 1, 3, 1>>(compose{},
                                                                                      byte_function::of(3, 5));
}
TEST(device_scan_tuning, pipeline_of_ints) {
  expect_pipeline<int, strata::Sum, form::inclusive, pipeline_hub<64, 3, 4, 2>>(strata::Sum{}, 0);
}
TEST(device_scan_tuning, pipeline_of_pairs_of_words) {
  expect_pipeline<string_hash, join, form::exclusive, pipeline_hub<64, 1, 4, 1>>(join{}, string_hash::of(7));
}
TEST(device_scan_tuning, pipeline_that_begins_with_an_item) {
  expect_pipeline<string_hash, join, form::inclusive, pipeline_hub<32, 1, 3, 2>>(join{}, {});
}
TEST(device_scan_tuning, pipeline_whose_items_are_read_by_threads) {
  expect_pipeline<byte_function, compose, form::inclusive, pipeline_hub<32, 1, 3, 2>, false>(compose{}, {});
}
#if !defined(STRATA_TEST_FEW_TYPES)
TEST(device_scan_tuning, pipeline_of_longs) {
  expect_pipeline<std::int64_t, strata::Sum, form::inclusive_with_init, pipeline_hub<32, 3, 3, 2>>(strata::Sum{}, -77);
}
TEST(device_scan_tuning, pipeline_of_shorts) {
  expect_pipeline<word_function, compose, form::inclusive, pipeline_hub<64, 1, 3, 2>>(compose{}, {});
}
#endif

TEST(device_scan_tuning, tiles_of_bytes) {
  expect_scans_under_all_schedules<tiles_scan<byte_function, compose, form::exclusive, tiles_hub<32, 4>>, byte_function,
                                   form::exclusive>(compose{}, byte_function::of(3, 5));
}
TEST(device_scan_tuning, tiles_of_ints) {
  expect_scans_under_all_schedules<tiles_scan<int, strata::Sum, form::inclusive, tiles_hub<64, 7>>, int,
                                   form::inclusive>(strata::Sum{}, 0);
}
TEST(device_scan_tuning, tiles_of_pairs_of_words) {
  expect_scans_under_all_schedules<tiles_scan<string_hash, join, form::inclusive_with_init, tiles_hub<32, 5>>,
                                   string_hash, form::inclusive_with_init>(join{}, string_hash::of(7));
}
TEST(device_scan_tuning, tiles_that_begin_with_an_item) {
  expect_scans_under_all_schedules<tiles_scan<string_hash, join, form::inclusive, tiles_hub<64, 2>>, string_hash,
                                   form::inclusive>(join{}, {});
}

// ------------------------------------------------------------------ operands, stalls

// The interval of numbers begin ... end - 1. `join_intervals` may join only neighbours, in their order, and is slow in
// one warp of one block.
template <class Word>
struct interval {
  Word begin;
  Word end;
  STRATA_HD friend bool operator==(const interval& a, const interval& b) {
    return a.begin == b.begin && a.end == b.end;
  }
  friend std::ostream& operator<<(std::ostream& os, const interval& a) { return os << a.begin << " ... " << a.end; }
};

STRATA_D void wait_a_while() {
#if STRATA_HOST_SIMT
  for (int i = 0; i < 30; ++i) STRATA_SPIN();
#elif STRATA_DEVICE_PASS
  const long long begin = clock64();
  while (clock64() - begin < 3000) {
  }
#endif
}

constexpr unsigned nobody = ~0u;

struct join_intervals {
  unsigned* violations;
  unsigned slow_block;
  unsigned slow_warp;

  template <class Interval>
  STRATA_D Interval operator()(const Interval& a, const Interval& b) const {
    if (a.end != b.begin || a.end <= a.begin || b.end <= b.begin) atomicAdd(violations, 1u);
    if (blockIdx.x == slow_block && threadIdx.x / 32 == slow_warp && threadIdx.x % 32 == 0) {
      wait_a_while();
    }
    return {a.begin, b.end};
  }
};

template <class Interval>
std::vector<Interval> numbers(std::size_t count) {
  using Word = decltype(Interval{}.begin);
  std::vector<Interval> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    items[i] = {static_cast<Word>(i), static_cast<Word>(i + 1)};
  }
  return items;
}

// Each warp of a block is slow in turn: warps that scan, load, publish and gather.
template <class Interval, class Scan, bool IsInclusive, class Init>
void expect_neighbours_are_joined(std::size_t most, unsigned warps) {
  using Word = decltype(Interval{}.begin);
  constexpr std::size_t boundary = 16 / sizeof(Interval);
  const device_vector<Interval> in(numbers<Interval>(most + 64));
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  std::size_t next = 0;
  under_all_schedules([&](std::size_t schedule) {
    for (std::size_t k = 0; k < shapes_per_schedule(); ++k) {
      // Shapes in another order, so that each warp is slow with each of them.
      const shape s = shape_of(7 * next + 1, Scan::tile_items, boundary, most);
      const unsigned slow_block = next % 3 == 0 ? nobody : static_cast<unsigned>(next / 3 % s.blocks);
      const join_intervals op{violations.data(), slow_block, static_cast<unsigned>(next + schedule) % warps};
      ++next;
      const auto start = static_cast<Word>(s.start);
      constexpr bool has_init = !std::is_same_v<Init, NullType>;
      const auto reference = [&](const shape& of) {
        std::vector<Interval> sums(of.size);
        for (std::size_t i = 0; i < of.size; ++i) {
          sums[i].begin = has_init ? Word{-5} : start;
          sums[i].end = static_cast<Word>(of.start + i + (IsInclusive ? 1 : 0));
        }
        return sums;
      };
      if constexpr (has_init) {
        ASSERT_NO_FATAL_FAILURE(expect_scan<Scan>(s, in, op, Interval{Word{-5}, start}, reference));
      } else {
        ASSERT_NO_FATAL_FAILURE(expect_scan<Scan>(s, in, op, NullType{}, reference));
      }
      ASSERT_EQ(0u, violations.to_host()[0]) << s;
    }
  });
}

template <class Interval, bool IsInclusive, class Init, class Hub>
void expect_pipeline_joins_neighbours(std::size_t most) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  using scan = in_blocks::pipeline<Hub, true, Interval, Interval, IsInclusive, join_intervals, Init>;
  expect_neighbours_are_joined<Interval, scan, IsInclusive, Init>(most, scan::block_threads / 32);
}

// Few tiles, because joining is slow on purpose.
std::size_t some_tiles(std::size_t tile_items) {
  return (STRATA_HOST_SIMT ? if_small<std::size_t>(80, 150) : 2600) * tile_items;
}

TEST(device_scan_tuning, pipeline_joins_neighbours_in_order_and_nothing_else) {
  expect_pipeline_joins_neighbours<interval<int>, true, NullType, pipeline_hub<64, 1, 3, 2>>(some_tiles(128));
}
TEST(device_scan_tuning, pipeline_joins_nothing_to_the_initial_value_but_the_first_item) {
  expect_pipeline_joins_neighbours<interval<int>, false, interval<int>, pipeline_hub<32, 3, 3, 1>>(some_tiles(192));
}
#if !defined(STRATA_TEST_FEW_TYPES)
TEST(device_scan_tuning, pipeline_joins_narrow_neighbours) {
  expect_pipeline_joins_neighbours<interval<short>, true, NullType, pipeline_hub<32, 1, 4, 2>>(32000);
}
TEST(device_scan_tuning, pipeline_joins_wide_neighbours) {
  expect_pipeline_joins_neighbours<interval<long long>, true, interval<long long>, pipeline_hub<64, 1, 3, 1>>(
      some_tiles(64));
}
#endif

TEST(device_scan_tuning, tiles_join_neighbours_in_order_and_nothing_else) {
  using scan = in_blocks::tiles<tiles_hub<64, 3>, interval<int>, interval<int>, true, join_intervals, NullType>;
  expect_neighbours_are_joined<interval<int>, scan, true, NullType>(some_tiles(192), 2);
}
TEST(device_scan_tuning, tiles_join_nothing_to_the_initial_value_but_the_first_item) {
  using scan = in_blocks::tiles<tiles_hub<32, 4>, interval<long long>, interval<long long>, false, join_intervals,
                                interval<long long>>;
  expect_neighbours_are_joined<interval<long long>, scan, false, interval<long long>>(some_tiles(128), 1);
}

// ------------------------------------------------------------------ slow inputs

// The items of some tiles come late.
template <class T>
class late : public indexed_iterator<late<T>, T, T> {
 public:
  STRATA_HD late(const T* items, std::ptrdiff_t tile, std::ptrdiff_t period, std::ptrdiff_t which)
      : indexed_iterator<late, T, T>(0), items_(items), tile_(tile), period_(period), which_(which) {}
  STRATA_D T at(std::ptrdiff_t i) const {
    if (i % tile_ == 0 && i / tile_ % period_ == which_) {
      for (int k = 0; k < 20; ++k) wait_a_while();
    }
    return items_[i];
  }

 private:
  const T* items_;
  std::ptrdiff_t tile_, period_, which_;
};

TEST(device_scan_tuning, blocks_whose_input_comes_late_stop_nobody_for_good) {
  using scan = in_blocks::tiles<tiles_hub<32, 4>, string_hash, string_hash, true, join, NullType, late<string_hash>>;
  constexpr std::size_t size = 40 * 128 + 5;
  const std::vector<string_hash> items = scan_items<string_hash>::make(size);
  const device_vector<string_hash> in(items);
  const std::vector<string_hash> expected = inclusive_scan<string_hash>(items.data(), size, join{});
  under_all_schedules([&](std::size_t i) {
    const unsigned blocks = i % 2 == 0 ? 4 : 15;
    // Late are all tiles of one block, tiles of a block that changes from round to round, or a single tile.
    const std::ptrdiff_t period = i % 3 == 0 ? blocks : i % 3 == 1 ? blocks + 1 : 1000;
    const std::ptrdiff_t which = static_cast<std::ptrdiff_t>(i / 3) % blocks;
    device_vector<string_hash> out(size);
    const scratch storage(in_blocks::storage_bytes<string_hash>(blocks));
    ASSERT_CUDA_SUCCESS(scan::run(blocks, storage, late<string_hash>(in.data(), 128, period, which), out.data(), size,
                                  join{}, NullType{}));
    ASSERT_SAME_ITEMS(expected, out.to_host());
  });
}

// ------------------------------------------------------------------ determinism

template <class Scan>
void expect_the_same_bits_under_every_schedule(unsigned blocks, std::size_t size) {
  const std::vector<float> items = random_reals<float>(size, -1.0, 1.0);
  const device_vector<float> in(items);
  const scratch storage(in_blocks::storage_bytes<float>(blocks));
  std::vector<float> first;
  under_all_schedules([&](std::size_t repeat) {
    device_vector<float> out(size);
    ASSERT_CUDA_SUCCESS(Scan::run(blocks, storage, in.data(), out.data(), size, strata::Sum{}, NullType{}));
    const std::vector<float> sums = out.to_host();
    if (repeat == 0) first = sums;
    ASSERT_EQ(0, std::memcmp(first.data(), sums.data(), size * sizeof(float))) << repeat;
  });
  if (testing::Test::HasFatalFailure()) return;
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += static_cast<double>(items[i]);
    ASSERT_NEAR(sum, static_cast<double>(first[i]), 1e-3) << i;
  }
}

TEST(device_scan_tuning, sums_of_the_pipeline_have_the_same_bits_under_every_schedule) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  using scan = pipeline_scan<float, strata::Sum, form::inclusive, pipeline_hub<64, 3, 4, 2>>;
  expect_the_same_bits_under_every_schedule<scan>(7, 20003);
}
TEST(device_scan_tuning, sums_of_tiles_have_the_same_bits_under_every_schedule) {
  using scan = tiles_scan<float, strata::Sum, form::inclusive, tiles_hub<64, 7>>;
  expect_the_same_bits_under_every_schedule<scan>(7, 20003);
}

// ------------------------------------------------------------------ one tile for each block

// Blocks with one tile each need not be resident together: they may start in any order, even one after the other. A
// block that waits too long reduces the missing tile itself.
constexpr std::size_t round_tile = 128;

template <class Op, class T>
void expect_one_round(Op op, T init) {
  using hub = tiles_hub<32, 4>;
  const std::size_t most = if_small<std::size_t>(30, 60) * round_tile;
  const std::vector<T> items = scan_items<T>::make(most);
  const device_vector<T> in(items);
  under_all_schedules([&](std::size_t schedule) {
    const std::size_t i = schedule % 20;
    for (const std::size_t size : {most - i, (5 + i) * round_tile - 1, (6 + i) * round_tile + 1}) {
      SCOPED_TRACE(testing::Message() << size << " items in schedule " << schedule);
      ASSERT_SAME_ITEMS(exclusive_scan(items.data(), size, op, init),
                        scan_results<T>(size, [&](T* out, void* storage, std::size_t& bytes) {
                          return tuned_scan<hub, false>(storage, bytes, in.data(), out, size, op, init);
                        }));
    }
  });
}

TEST(device_scan_tuning, one_round_of_pairs_of_words) { expect_one_round(join{}, string_hash::of(7)); }
TEST(device_scan_tuning, one_round_of_ints) { expect_one_round(strata::Sum{}, 7); }

TEST(device_scan_tuning, one_round_of_a_graph) {
  using hub = tiles_hub<32, 4>;
  const std::size_t size = if_small<std::size_t>(30, 60) * round_tile - 3;
  device_vector<int> in(size);
  device_vector<int> out(size);
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t where) {
    return tuned_scan<hub, true>(storage, bytes, in.data(), out.data(), size, strata::Sum{}, NullType{}, where);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t recorder) { return call(storage.data(), bytes, recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  under_all_schedules([&](std::size_t i) {
    // With these items, sums that the last replay left are wrong.
    const std::vector<int> items = scan_items<int>::make(size, i);
    in.assign(items);
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_SAME_ITEMS(inclusive_scan<int>(items.data(), size, plain_sum{}), out.to_host());
  });
}

// ------------------------------------------------------------------ which path

struct pair {
  std::int32_t low, high;
  bool operator==(const pair& other) const { return low == other.low && high == other.high; }
};
struct add_pairs {
  STRATA_HD pair operator()(const pair& a, const pair& b) const { return {a.low + b.low, a.high + b.high}; }
};

// Sizes lie around the largest that small tiles take. Some addresses are not aligned enough for the pipeline.
TEST(device_scan_tuning, dispatch_takes_any_size_and_address) {
  using hub = pipeline_hub<64, 1, 3, 2>;
  strata::detail::device_properties device;
  ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(device));
  const std::size_t small = 128 * static_cast<std::size_t>(device.multiprocessors);
  const std::vector<int> values = random_integers<int>(2 * (40 * small + 10), -100, 100);
  const device_vector<int> words(values);
  for (const std::size_t size : {std::size_t{1}, small - 1, small, small + 1, 2 * small + 77, 40 * small + 1}) {
    for (std::size_t start = 0; start < 5; ++start) {
      SCOPED_TRACE(testing::Message() << size << " items from word " << start);
      std::vector<pair> items(size);
      std::memcpy(static_cast<void*>(items.data()), values.data() + start, size * sizeof(pair));
      const strata_test::guarded_memory out(size * sizeof(pair), start / 2 * 4);
      EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_scan<hub, false>(storage, bytes, reinterpret_cast<const pair*>(words.data() + start),
                                      static_cast<pair*>(out.data()), size, add_pairs{}, pair{1, -1});
      }));
      std::vector<pair> results(size);
      out.read(results.data());
      ASSERT_TRUE(exclusive_scan(items.data(), size, add_pairs{}, pair{1, -1}) == results);
    }
  }
}

}  // namespace

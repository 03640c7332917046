// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedScan: every item the sum of its segment up to there, and nothing else written.
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/schedules.cuh"
#include "device/segment_shapes.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedScan;
using strata::FutureValue;
using strata::NullType;
using strata_test::join;
using strata_test::string_hash;

// ------------------------------------------------------------------ segments

using offset = std::int64_t;

/// What a segmented scan is tested on; together some hundred thousand items, or a million.
const std::vector<segment_shape>& shapes() {
  static const std::vector<segment_shape> all = [] {
    std::mt19937_64 bits = strata_test::random_bits(5);
    std::vector<segment_shape> some;
    for (const offset length : {0, 1, 33, 2048, if_small(9000, 70000)}) {
      some.push_back(consecutive("one_of_" + std::to_string(length), {length}));
    }
    using lengths_of = std::vector<offset>;
    some.push_back(consecutive("all_empty", lengths_of(700)));
    const std::size_t items = if_small<std::size_t>(6000, STRATA_HOST_SIMT ? 30000 : 300000);
    for (const std::size_t length : sizes{1, 10, 1000}) {
      some.push_back(
          consecutive("many_of_" + std::to_string(length), lengths_of(items / length, static_cast<offset>(length))));
    }
    some.push_back(consecutive("around_powers", lengths_around_powers(if_small(1024, 16384))));
    // Lengths proportional to 1 / rank, in random order.
    lengths_of lengths;
    for (std::size_t rank = 1; rank <= items / 8; ++rank) {
      lengths.push_back(static_cast<offset>(items / 8 / rank));
    }
    std::shuffle(lengths.begin(), lengths.end(), bits);
    some.push_back(consecutive("power_law", lengths));
    lengths.assign(500, 0);
    for (offset& length : lengths) length = static_cast<offset>(bits() % 3);
    lengths[123] = if_small(20000, 300000);
    some.push_back(consecutive("one_huge_among_tiny", lengths));
    // Within a tile more segments than items.
    lengths.assign(if_small<std::size_t>(5000, 30000), 0);
    for (std::size_t i = 7; i < lengths.size(); i += 1 + bits() % 4000) lengths[i] = 3;
    some.push_back(consecutive("few_among_empty", lengths));

    const std::size_t count = some.size();
    for (std::size_t i = 6; i < count; ++i) some.push_back(scattered(some[i], i));
    return some;
  }();
  return all;
}

struct device_offsets {
  explicit device_offsets(const segment_shape& shape) : begins(shape.begins), ends(shape.ends) {}
  device_vector<offset> begins;
  device_vector<offset> ends;
};

// ------------------------------------------------------------------ sequential scans

struct none {};
template <class Op, class T>
T before_first(Op op, const T& init, const T& item) {
  return op(init, item);
}
template <class Op, class T>
T before_first(Op, none, const T& item) {
  return item;
}

/// `out` with the results of all segments, each from `out_begins[s]` on.
template <bool IsInclusive, class T, class Item, class Op, class Init>
std::vector<T> scanned(const segment_shape& shape, const std::vector<Item>& items, Op op, Init init,
                       const std::vector<offset>& out_begins, std::vector<T> out) {
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    T sum{};
    for (offset i = shape.begins[s]; i < shape.ends[s]; ++i) {
      const T item = static_cast<T>(items[static_cast<std::size_t>(i)]);
      const auto to = static_cast<std::size_t>(out_begins[s] + i - shape.begins[s]);
      const bool is_first = i == shape.begins[s];
      if constexpr (!IsInclusive) out[to] = is_first ? init : sum;
      sum = is_first ? before_first(op, init, item) : static_cast<T>(op(sum, item));
      if constexpr (IsInclusive) out[to] = sum;
    }
  }
  return out;
}

/// What nobody has written.
template <class T>
std::vector<T> poisoned(std::size_t count) {
  std::vector<T> items(count);
  if (count > 0) {
    std::memset(static_cast<void*>(items.data()), strata_test::guarded_memory::poison, count * sizeof(T));
  }
  return items;
}

/// `call(const T* in, T* out, begins, ends, num_segments, storage...)`, for all shapes.
template <bool IsInclusive, class T, class Op, class Init, class Call>
void expect_scans(Op op, Init init, const Call& call) {
  std::size_t most = 0;
  for (const segment_shape& shape : shapes()) most = std::max(most, shape.items());
  const std::vector<T> items = scan_items<T>::make(most);
  const device_vector<T> in(items);
  device_vector<T> out(most);
  for (const segment_shape& shape : shapes()) {
    const device_offsets offsets(shape);
    out.poison();
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call(storage, bytes, in.data(), out.data(), static_cast<const offset*>(offsets.begins.data()),
                  static_cast<const offset*>(offsets.ends.data()), shape.segments());
    }));
    ASSERT_SAME_ITEMS((scanned<IsInclusive>(shape, items, op, init, shape.begins, poisoned<T>(most))), out.to_host())
        << shape;
  }
}

// ------------------------------------------------------------------ types and operators

struct plain_add {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

template <class T>
class device_segmented_scan_sum : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using sum_types = testing::Types<std::int32_t>;
#else
using sum_types = testing::Types<std::int8_t, std::int32_t, std::int64_t, double>;
#endif
TYPED_TEST_SUITE(device_segmented_scan_sum, sum_types);

TYPED_TEST(device_segmented_scan_sum, of_segments_of_any_lengths) {
  using T = TypeParam;
  expect_scans<false, T>(plain_add{}, T{},
                         [](auto&&... arguments) { return DeviceSegmentedScan::ExclusiveSegmentedSum(arguments...); });
  if constexpr (sizeof(T) == 4) {
    expect_scans<true, T>(plain_add{}, none{},
                          [](auto&&... arguments) { return DeviceSegmentedScan::InclusiveSegmentedSum(arguments...); });
  }
}

TEST(device_segmented_scan, keeps_operands_in_order) {
  const string_hash init = string_hash::of('^');
  expect_scans<false, string_hash>(join{}, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., join{}, init);
  });
  expect_scans<true, string_hash>(join{}, none{}, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., join{});
  });
}

/// A range of items next to each other, an initial value, or both.
struct range {
  enum parts : std::uint32_t { items = 1, initial = 2 };
  std::int32_t first, last;
  std::uint32_t what;

  STRATA_HD friend bool operator==(const range& a, const range& b) {
    return a.first == b.first && a.last == b.last && a.what == b.what;
  }
  friend std::ostream& operator<<(std::ostream& out, const range& a) {
    return out << (a.what == items ? "" : "initial value, ") << a.first << " .. " << a.last;
  }
};
/// Counts calls that no segmented scan may make: with what is no item, with items out of order or
/// of several segments. And calls with initial values: one for each segment.
struct join_ranges {
  unsigned* wrong_calls;
  unsigned* initial_calls;
  STRATA_HD range operator()(const range& a, const range& b) const {
    const bool is_first = a.what == range::initial;
    const bool is_right = b.what == range::items && (is_first || a.last + 1 == b.first);
#if STRATA_DEVICE_PASS || STRATA_HOST_SIMT
    if (wrong_calls != nullptr && !is_right) atomicAdd(wrong_calls, 1u);
    if (initial_calls != nullptr && is_first) atomicAdd(initial_calls, 1u);
#endif
    return {is_first ? b.first : a.first, is_right ? b.last : -1, a.what | b.what};
  }
};

}  // namespace

namespace device_test {
template <>
struct scan_items<range> {
  static std::vector<range> make(std::size_t count) {
    std::vector<range> items;
    for (int i = 0; i < static_cast<int>(count); ++i) items.push_back({i, i, range::items});
    return items;
  }
};
}  // namespace device_test

namespace {

TEST(device_segmented_scan, operator_sees_neighbours_of_one_segment) {
  device_vector<unsigned> calls(std::vector<unsigned>{0, 0});
  const join_ranges op{calls.data(), calls.data() + 1};
  const join_ranges uncounted{nullptr, nullptr};
  const range init{0, 0, range::initial};
  expect_scans<false, range>(uncounted, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., op, init);
  });
  expect_scans<true, range>(uncounted, init, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScanInit(arguments..., op, init);
  });
  expect_scans<true, range>(uncounted, none{}, [&](auto&&... arguments) {
    return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., op);
  });
  unsigned segments = 0;
  for (const segment_shape& shape : shapes()) {
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      segments += shape.ends[s] > shape.begins[s] ? 2 : 0;  // two scans have initial values
    }
  }
  EXPECT_EQ((std::vector<unsigned>{0, segments}), calls.to_host());
}

// The largest class that a block of one warp may hold, and some more.
TEST(device_segmented_scan, of_large_classes) {
  using large = strata_test::words<150>;
  const segment_shape shape = consecutive("0_to_40", {0, 1, 2, 3, 31, 0, 0, 33, 100});
  const std::vector<large> items = scan_items<large>::make(shape.items());
  const device_vector<large> in(items);
  const device_offsets offsets(shape);
  EXPECT_SAME_ITEMS((scanned<true>(shape, items, plain_add{}, none{}, shape.begins, items)),
                    scan_results<large>(items.size(), [&](large* out, auto&&... storage) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(
                          storage..., in.data(), out, offsets.begins.data(), offsets.ends.data(), shape.segments());
                    }));
}

// ------------------------------------------------------------------ rounds, schedules, replays

/// Tiles of 64 items.
struct tiny_tiles {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_scan_tuning tuning{32, 2, 1};
  };
  using MaxPolicy = Policy;
};

/// The second launch of a scan of hashes in as many blocks as asked for. As in a graph, `run` may
/// be called again with other segments: what one run leaves must not be mistaken for what another
/// writes.
class in_blocks {
 public:
  static constexpr std::size_t tile_items = 64;

  explicit in_blocks(unsigned blocks) : blocks_(blocks), storage_(sums::number_of_words(blocks) * 16 + 256) {
    exchange_ = {reinterpret_cast<strata::platform::tagged_word*>(
                     (reinterpret_cast<std::uintptr_t>(storage_.data()) + 255) / 256 * 256),
                 strata::detail::next_epoch(), true};
  }

  void expect_scans(const segment_shape& shape) {
    const std::vector<string_hash> items = scan_items<string_hash>::make(shape.items(), ++runs_);
    std::vector<unsigned long long> ends;
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      const auto length = static_cast<unsigned long long>(shape.ends[s] - shape.begins[s]);
      ends.push_back(length + (s > 0 ? ends.back() : 0));
    }
    const device_vector<string_hash> in(items);
    device_vector<string_hash> out(items.size());
    const device_vector<offset> d_begins(shape.begins);
    const device_vector<unsigned long long> d_ends(ends);
    const string_hash init = string_hash::of('^');
    using begins = strata::detail::segment_begins<const offset*, NullType>;
    const auto kernel = strata::detail::segmented_scan_kernel<tiny_tiles::MaxPolicy, string_hash, const string_hash*,
                                                              string_hash*, begins, unsigned, join, false, string_hash>;
    ASSERT_CUDA_SUCCESS(
        strata::launch({"segmented scan in some blocks", dim3(blocks_), dim3(32), 0, nullptr, 1, false, blocks_ > 1},
                       kernel, in.data(), out.data(), begins{d_begins.data(), {}}, d_ends.data(),
                       static_cast<unsigned>(ends.size()), join{}, init, exchange_));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, join{}, init, shape.begins, poisoned<string_hash>(items.size()))),
                      out.to_host())
        << shape << " in " << blocks_ << " blocks";
  }

 private:
  using sums = strata::detail::tile_aggregates<strata::detail::sum_of_run<string_hash>>;
  unsigned blocks_;
  scratch storage_;
  strata::detail::tile_aggregates_arguments exchange_;
  std::uint64_t runs_ = 0;
};

segment_shape of_tiles(std::size_t tiles, std::size_t mean, std::uint64_t stream) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<offset> lengths = {0};
  std::size_t left = tiles * in_blocks::tile_items;
  if (left > 0) left -= bits() % in_blocks::tile_items;
  while (left > 0) {
    const std::size_t length = std::min(left, bits() % (2 * mean));
    lengths.push_back(static_cast<offset>(length));
    left -= length;
  }
  return consecutive(std::to_string(tiles) + " tiles, mean " + std::to_string(mean), lengths);
}

TEST(device_segmented_scan, rounds_of_any_number_of_blocks) {
  // A multiprocessor has room for 32.
  for (const unsigned blocks : {1u, 2u, 3u, 31u}) {
    in_blocks scan(blocks);
    for (const std::size_t tiles : sizes{1, 2, 3, 4, 31, 32, 63}) {
      for (const std::size_t mean : sizes{5, 1000}) {
        ASSERT_NO_FATAL_FAILURE(scan.expect_scans(of_tiles(tiles, mean, tiles + mean)));
      }
    }
  }
}

// Epochs are erased up to 16 rounds; fewer tiles than blocks, more rounds and none follow each
// other.
TEST(device_segmented_scan, replays_may_differ_in_their_number_of_tiles) {
  for (const unsigned blocks : {2u, 5u}) {
    in_blocks scan(blocks);
    std::mt19937_64 bits = strata_test::random_bits(blocks);
    for (unsigned i = 0; i < if_small(40u, 150u); ++i) {
      const std::size_t rounds = bits() % 24;
      const std::size_t tiles = i % 5 == 4 ? bits() % (blocks + 1) : rounds * blocks + bits() % 3;
      ASSERT_NO_FATAL_FAILURE(scan.expect_scans(of_tiles(tiles, 1 + bits() % 300, i)));
    }
  }
}

/// A two-phase call with tiny tiles.
template <class T, class Op, class Init>
cudaError_t tiny_scan(void* storage, std::size_t& bytes, const T* in, T* out, const device_offsets& offsets,
                      offset num_segments, Op op, Init init, cudaStream_t on = nullptr) {
  return strata::TunedDeviceSegmentedScan<tiny_tiles>::ExclusiveSegmentedScan(
      storage, bytes, in, out, offsets.begins.data(), offsets.ends.data(), num_segments, op, init, on);
}

// Sums of reals depend on how they are associated.
TEST(device_segmented_scan, repeats_bit_for_bit_under_any_schedule) {
  std::vector<offset> lengths = {5, 0, 300, 1, 1};
  lengths.push_back(if_small(3000, STRATA_HOST_SIMT ? 20000 : 1000000));
  lengths.insert(lengths.end(), {70, 0, 0, 2});
  const segment_shape shape = scattered(consecutive("mixed", lengths), 1);
  const std::vector<double> items = random_reals<double>(shape.items(), -1, 1);
  const device_vector<double> in(items);
  const device_offsets offsets(shape);
  std::vector<double> first;
  under_all_schedules([&](std::size_t) {
    device_vector<double> out(items.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tiny_scan(storage, bytes, in.data(), out.data(), offsets, shape.segments(), strata::Sum{}, 0.0);
    }));
    if (first.empty()) first = out.to_host();
    ASSERT_SAME_ITEMS(first, out.to_host());
  });
  const std::vector<double> expected =
      scanned<false>(shape, items, plain_add{}, 0.0, shape.begins, poisoned<double>(items.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], first[i], 1e-9) << i;
}

TEST(device_segmented_scan, a_graph_may_be_replayed_with_other_segments) {
  const std::size_t count = 300;
  const std::size_t most = if_small<std::size_t>(30000, STRATA_HOST_SIMT ? 100000 : 300000);
  device_vector<int> in(most);
  device_vector<int> out(most);
  const std::vector<offset> unset(count);
  device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tiny_scan(storage, bytes, static_cast<const int*>(in.data()), out.data(), offsets,
                     static_cast<offset>(count), strata::Sum{}, 0, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(2u, recorded.nodes());
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(3);
  for (unsigned i = 0; i < if_small(8u, 24u); ++i) {
    std::vector<offset> lengths(count);
    if (i % 4 != 3) {
      for (offset& length : lengths) length = static_cast<offset>(bits() % (i % 4 == 0 ? 2 : 30));
    }
    if (i % 4 == 2) lengths[bits() % count] = static_cast<offset>(most - 20000);
    const segment_shape shape = scattered(consecutive("replay", lengths), i);
    ASSERT_LE(shape.items(), most);
    const std::vector<int> items = scan_items<int>::make(most, i);
    in.assign(items);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 0, shape.begins, poisoned<int>(most))), out.to_host())
        << "replay " << i;
  }
}

// ------------------------------------------------------------------ places

TEST(device_segmented_scan, results_may_go_to_places_of_their_own) {
  std::mt19937_64 bits = strata_test::random_bits(9);
  // Segments overlap, their results do not.
  segment_shape shape{"overlapping", {}, {}};
  std::vector<offset> out_begins;
  offset next = 0;
  for (int i = 0; i < 400; ++i) {
    const auto begin = static_cast<offset>(bits() % 5000);
    const auto length = static_cast<offset>(bits() % (i % 20 == 0 ? 2000 : 20));
    shape.begins.push_back(begin);
    shape.ends.push_back(i % 7 == 3 ? begin - length : begin + length);
    out_begins.push_back(next += static_cast<offset>(bits() % 3));
    next += length;
  }
  const std::vector<int> items = scan_items<int>::make(shape.items());
  const device_vector<int> in(items);
  const device_offsets offsets(shape);
  const device_vector<offset> places(out_begins);
  const auto size = static_cast<std::size_t>(next);
  const auto expected = [&](auto is_inclusive, auto op, auto init) {
    return scanned<decltype(is_inclusive)::value>(shape, items, op, init, out_begins, poisoned<int>(size));
  };
  const auto actual = [&](const auto& call) {
    return scan_results<int>(size, [&](int* out, auto&&... storage) {
      return call(storage..., in.data(), out, offsets.begins.data(), offsets.ends.data(), places.data(),
                  shape.segments());
    });
  };
  using yes = std::true_type;
  using no = std::false_type;
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  EXPECT_SAME_ITEMS(expected(no{}, plain_add{}, 0), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::ExclusiveSegmentedSum(arguments...);
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, plain_add{}, none{}), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(arguments...);
                    }));
  EXPECT_SAME_ITEMS(expected(no{}, larger, 50), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., strata::Max{}, 50);
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, larger, none{}), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., strata::Max{});
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, larger, 50), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedScanInit(arguments..., strata::Max{}, 50);
                    }));
}

TEST(device_segmented_scan, in_place_with_an_initial_value_from_the_device) {
  const device_vector<int> init(std::vector<int>{1000});
  for (const segment_shape& shape : shapes()) {
    const std::vector<int> items = scan_items<int>::make(shape.items());
    device_vector<int> data(items);
    const device_offsets offsets(shape);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedScan::ExclusiveSegmentedScan(storage, bytes, data.data(), data.data(),
                                                         offsets.begins.data(), offsets.ends.data(), shape.segments(),
                                                         strata::Sum{}, FutureValue(init.data()));
    }));
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 1000, shape.begins, items)), data.to_host()) << shape;
  }
}

// ------------------------------------------------------------------ iterators and offset types

template <class Begin, class End, class Count>
void expect_offsets(const segment_shape& shape, const Begin* begins, const End* ends, Count count) {
  const std::vector<int> items = scan_items<int>::make(shape.items());
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedScan::ExclusiveSegmentedSum(storage, bytes, in.data(), out.data(), begins, ends, count);
  }));
  EXPECT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 0, shape.begins, poisoned<int>(items.size()))),
                    out.to_host());
}

TEST(device_segmented_scan, offsets_of_any_integer_types) {
  const segment_shape shape = scattered(of_tiles(70, 40, 1), 2);
  const auto converted = [](const std::vector<offset>& from, auto to) {
    return device_vector<decltype(to)>(std::vector<decltype(to)>(from.begin(), from.end()));
  };
  const auto count = shape.begins.size();
  ASSERT_LT(count, std::size_t{255});
  segment_shape no_reversed = shape;
  for (std::size_t i = 0; i < count; ++i) {
    no_reversed.ends[i] = std::max(shape.begins[i], shape.ends[i]);
  }
  expect_offsets(no_reversed, converted(shape.begins, std::uint32_t{}).data(),
                 converted(no_reversed.ends, std::uint64_t{}).data(), static_cast<std::uint8_t>(count));
}

struct tens_from {
  offset start;
  STRATA_HD offset operator()(offset i) const { return start + 10 * i; }
};

// A sequence that counts, with offsets that no 32 bits hold, to outputs that are no memory.
TEST(device_segmented_scan, iterators_that_are_no_pointers) {
  constexpr offset start = offset{1} << 40;
  constexpr offset segments = 700;
  std::vector<offset> expected;
  for (offset s = 0; s < segments; ++s) {
    offset sum = 0;
    for (offset i = 10 * s; i < 10 * s + 10; ++i) expected.push_back(2 * (sum += i));
  }
  using tens = transforming<counting<offset>, tens_from>;
  const tens begins(counting<offset>(0), {start});
  const tens ends(counting<offset>(1), {start});
  const tens out_begins(counting<offset>(0), {0});
  EXPECT_SAME_ITEMS(expected, scan_results<offset>(expected.size(), [&](offset* out, auto&&... storage) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(storage..., counting<offset>(-start),
                                                                        doubling_output<offset>(out), begins, ends,
                                                                        out_begins, segments);
                    }));
}

// ------------------------------------------------------------------ arguments

TEST(device_segmented_scan, bad_arguments_are_errors) {
  const device_vector<int> in(std::vector<int>(100, 1));
  const device_vector<int> init(std::vector<int>{5});
  device_vector<int> out(100);
  const device_offsets offsets(consecutive("four", {25, 25, 25, 25}));
  const offset* const begins = offsets.begins.data();
  const offset* const ends = offsets.ends.data();
  const offset* const no_offsets = nullptr;
  int* const nothing = nullptr;
  const auto scan = [](void* storage, std::size_t& bytes, const int* from, int* to, const offset* first,
                       const offset* last, int segments, int* initial) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(storage, bytes, from, to, first, last, segments, strata::Sum{},
                                                       FutureValue(initial));
  };
  std::size_t bytes = 0;
  int* const future = const_cast<int*>(init.data());
  ASSERT_CUDA_SUCCESS(scan(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, 4, nullptr));
  std::size_t none_bytes = 0;
  ASSERT_CUDA_SUCCESS(scan(nullptr, none_bytes, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_GT(none_bytes, 0u);
  EXPECT_LE(none_bytes, bytes);
  const scratch storage(bytes);
  const auto call = [&](const int* from, int* to, const offset* first, const offset* last, int segments, int* initial) {
    return scan(storage.data(), bytes, from, to, first, last, segments, initial);
  };
  EXPECT_EQ(cudaErrorInvalidValue, call(nothing, out.data(), begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), nothing, begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), no_offsets, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, no_offsets, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, 4, nothing));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, -1, future));
  for (const offset* const some : {begins, ends}) {
    int* const over_offsets = reinterpret_cast<int*>(const_cast<offset*>(some) + 3);
    EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), over_offsets, begins, ends, 4, future));
  }
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedScan::InclusiveSegmentedSum(storage.data(), bytes, out.data(),
                                                       reinterpret_cast<std::int64_t*>(out.data()), begins, ends, 4))
      << "in place, items and results have one size";
  EXPECT_EQ(cudaErrorInvalidValue, DeviceSegmentedScan::InclusiveSegmentedSum(storage.data(), bytes, out.data(),
                                                                              out.data(), begins, ends, begins, 4))
      << "in place, without offsets of the output";
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, 4, out.data()))
      << "the first result would be written over the initial value";
  std::size_t too_few = bytes - 1;
  EXPECT_EQ(cudaErrorInvalidValue, scan(storage.data(), too_few, in.data(), out.data(), begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedScan::ExclusiveSegmentedScan(storage.data(), bytes, in.data(), out.data(), begins, ends,
                                                        no_offsets, 4, strata::Sum{}, 0));
  graph recorded([&](cudaStream_t on) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(storage.data(), bytes, in.data(), out.data(), begins, ends, 0,
                                                       strata::Sum{}, FutureValue(future), on);
  });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  for (const int item : out.to_host()) EXPECT_TRUE(strata_test::is_poison(item));
  EXPECT_EQ(cudaSuccess, call(in.data(), out.data(), begins, ends, 4, future));
  EXPECT_EQ(5 + 24, out.to_host()[24]);
}

// ------------------------------------------------------------------ the documented call

cudaError_t sums_in_rows(const int* in, int* out, const int* rows, int num_rows) {
  using strata::DeviceSegmentedScan;
  std::size_t bytes = 0;
  cudaError_t status = DeviceSegmentedScan::ExclusiveSegmentedSum(nullptr, bytes, in, out, rows, rows + 1, num_rows);
  if (status != cudaSuccess) return status;
  void* temp = nullptr;
  status = cudaMalloc(&temp, bytes);
  if (status != cudaSuccess) return status;
  status = DeviceSegmentedScan::ExclusiveSegmentedSum(temp, bytes, in, out, rows, rows + 1, num_rows);
  const cudaError_t freed = cudaFree(temp);
  return status != cudaSuccess ? status : freed;
}

TEST(device_segmented_scan, documented_example) {
  const device_vector<int> in(std::vector<int>{8, 6, 7, 5, 3, 0, 9});
  const device_vector<int> rows(std::vector<int>{0, 2, 2, 5, 7});
  device_vector<int> out(7);
  ASSERT_CUDA_SUCCESS(sums_in_rows(in.data(), out.data(), rows.data(), 4));
  EXPECT_EQ((std::vector<int>{0, 8, 0, 7, 12, 0, 0}), out.to_host());
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_exchange.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "block/block_tile.cuh"
#include "support/test_support.cuh"

namespace block_exchange_test {

using namespace block_tile;
using strata::BlockExchange;

/// 40 bytes in units of 8, with members smaller than a unit. It has no padding, because copies may lose padding bits.
struct record {
  double a;
  int b;
  short c[2];
  std::int64_t d[3];
};
}  // namespace block_exchange_test

template <>
struct block_tile::numbered<block_exchange_test::record> {
  static STRATA_HD block_exchange_test::record make(int i) {
    block_exchange_test::record result;
    result.a = i;
    result.b = 3 * i;
    for (int k = 0; k < 2; ++k) result.c[k] = static_cast<short>(i + k);
    for (int k = 0; k < 3; ++k) result.d[k] = 7LL * i + k;
    return result;
  }
};

namespace block_exchange_test {

// ---------------------------------------------------------------------------- every member
enum way {
  striped_to_blocked,
  blocked_to_striped,
  warp_striped_to_blocked,
  blocked_to_warp_striped,
  scatter_to_blocked,
  scatter_to_striped,
  scatter_guarded,
  scatter_flagged,
  ways
};

template <class Case>
constexpr bool has_whole_warps = Case::threads <= 32 || Case::threads % 32 == 0;

/// The index within the tile of item i of a thread, for each arrangement.
template <class Case>
struct arrangement {
  static STRATA_HD int blocked(int thread, int i) { return thread * Case::items + i; }
  static STRATA_HD int striped(int thread, int i) { return i * Case::threads + thread; }
  static STRATA_HD int warp_striped(int thread, int i) {
    const int lanes = Case::threads < 32 ? Case::threads : 32;
    return thread / 32 * 32 * Case::items + i * lanes + thread % 32;
  }
  /// A permutation, because 7919 is a prime that does not divide the tile.
  static STRATA_HD int rank(int thread, int i) { return (blocked(thread, i) * 7919 + 5) % Case::tile; }
  static STRATA_HD bool takes_part(int thread, int i) { return blocked(thread, i) % 3 != 1; }
};

// Way after way, `out` receives the result of an exchange into another array, then of one in place; in blocked order.
template <class Case, bool Sliced>
STRATA_KERNEL void exchange_every_way(typename Case::type* out) {
  using T = typename Case::type;
  using exchange = BlockExchange<T, Case::x, Case::items, Sliced, Case::y, Case::z>;
  using place = arrangement<Case>;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage);
  const int thread = Case::rank();
  short ranks[Case::size];
  std::int64_t guarded_ranks[Case::size];
  bool flags[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    ranks[i] = static_cast<short>(place::rank(thread, i));
    flags[i] = place::takes_part(thread, i);
    guarded_ranks[i] = flags[i] ? ranks[i] : -1 - i;
  }
  // The flagged form must not look at ranks of items without a flag.
  short flagged_ranks[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    flagged_ranks[i] = flags[i] ? ranks[i] : static_cast<short>(0x7fff);
  }

  const auto both = [&](way which, auto&& input_place, auto&& out_of_place, auto&& in_place) {
    T input[Case::size], output[Case::size];
    for (int i = 0; i < Case::items; ++i) input[i] = number<T>(input_place(thread, i));
    T* const results = out + 2 * which * Case::tile + thread * Case::items;
    out_of_place(input, output);
    for (int i = 0; i < Case::items; ++i) results[i] = output[i];
    __syncthreads();
    in_place(input);
    for (int i = 0; i < Case::items; ++i) results[Case::tile + i] = input[i];
    __syncthreads();
  };
  exchange x(temp_storage);
  both(
      striped_to_blocked, place::striped, [&](auto& in, auto& to) { x.StripedToBlocked(in, to); },
      [&](auto& items) { x.StripedToBlocked(items); });
  both(
      blocked_to_striped, place::blocked, [&](auto& in, auto& to) { x.BlockedToStriped(in, to); },
      [&](auto& items) { x.BlockedToStriped(items); });
  if constexpr (has_whole_warps<Case>) {
    both(
        warp_striped_to_blocked, place::warp_striped, [&](auto& in, auto& to) { x.WarpStripedToBlocked(in, to); },
        [&](auto& items) { x.WarpStripedToBlocked(items); });
    both(
        blocked_to_warp_striped, place::blocked, [&](auto& in, auto& to) { x.BlockedToWarpStriped(in, to); },
        [&](auto& items) { x.BlockedToWarpStriped(items); });
  }
  both(
      scatter_to_blocked, place::blocked, [&](auto& in, auto& to) { x.ScatterToBlocked(in, to, ranks); },
      [&](auto& items) { x.ScatterToBlocked(items, ranks); });
  both(
      scatter_to_striped, place::blocked, [&](auto& in, auto& to) { x.ScatterToStriped(in, to, ranks); },
      [&](auto& items) { x.ScatterToStriped(items, ranks); });
  both(
      scatter_guarded, place::blocked, [&](auto& in, auto& to) { x.ScatterToStripedGuarded(in, to, guarded_ranks); },
      [&](auto& items) { x.ScatterToStripedGuarded(items, guarded_ranks); });
  both(
      scatter_flagged, place::blocked,
      [&](auto& in, auto& to) { x.ScatterToStripedFlagged(in, to, flagged_ranks, flags); },
      [&](auto& items) { x.ScatterToStripedFlagged(items, flagged_ranks, flags); });
}

template <class Case, bool Sliced>
void test_every_way() {
  using T = typename Case::type;
  using place = arrangement<Case>;
  device_vector<T> out(static_cast<std::size_t>(2 * ways * Case::tile));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"exchange_every_way", 1, Case::dimensions()}, exchange_every_way<Case, Sliced>, out.data()));
  const std::vector<T> results = out.to_host();
  // The item that was given each rank, or -1.
  std::vector<int> all(static_cast<std::size_t>(Case::tile)), some(all.size(), -1);
  for (int thread = 0; thread < Case::threads; ++thread) {
    for (int i = 0; i < Case::items; ++i) {
      const std::size_t rank = static_cast<std::size_t>(place::rank(thread, i));
      all[rank] = place::blocked(thread, i);
      if (place::takes_part(thread, i)) some[rank] = all[rank];
    }
  }
  const auto expected = [&](int which, int thread, int i) {
    const auto blocked = static_cast<std::size_t>(place::blocked(thread, i));
    const auto striped = static_cast<std::size_t>(place::striped(thread, i));
    switch (which) {
      case blocked_to_striped:
        return static_cast<int>(striped);
      case blocked_to_warp_striped:
        return place::warp_striped(thread, i);
      case scatter_to_blocked:
        return all[blocked];
      case scatter_to_striped:
        return all[striped];
      case scatter_guarded:
      case scatter_flagged:
        return some[striped];
      default:
        return static_cast<int>(blocked);
    }
  };
  for (int which = 0; which < ways; ++which) {
    const bool in_warps = which == warp_striped_to_blocked || which == blocked_to_warp_striped;
    if (in_warps && !has_whole_warps<Case>) continue;
    for (int index = 0; index < 2 * Case::tile; ++index) {
      const int thread = index % Case::tile / Case::items, i = index % Case::items;
      const int item = expected(which, thread, i);
      if (item < 0) continue;
      ASSERT_TRUE(same_bits(results[static_cast<std::size_t>(2 * which * Case::tile + index)], number<T>(item)))
          << "way " << which << (index < Case::tile ? "" : " in place") << ", thread " << thread << ", item " << i
          << ", sliced " << Sliced;
    }
  }
}

template <class Case>
class block_exchange : public testing::Test {};
using int128 = strata_test::int128;
#if STRATA_TEST_FEW_TYPES
using exchange_cases = testing::Types<tile_case<int, 64, 24>, tile_case<signed char, 32, 12>, tile_case<short, 33, 5>,
                                      tile_case<record, 16, 3, 2, 2>, tile_case<words<3>, 20, 4>,
                                      tile_case<words<3, std::uint8_t>, 40, 2>>;
#else
using exchange_cases = testing::Types<
    tile_case<int, 32, 1>, tile_case<float, 256, 24>, tile_case<int, 64, 2>, tile_case<int, 128, 8>,
    tile_case<int, 96, 12>, tile_case<float, 33, 3>, tile_case<int, 1, 1>, tile_case<int, 1, 7>, tile_case<int, 100, 6>,
    tile_case<int, 8, 9, 4, 3>, tile_case<int, 5, 10, 3, 7>, tile_case<int, 64, 33>, tile_case<int, 32, 64>,
    tile_case<signed char, 32, 5>, tile_case<signed char, 256, 11>, tile_case<signed char, 64, 64>,
    tile_case<signed char, 31, 24>, tile_case<short, 128, 7>, tile_case<short, 70, 12>, tile_case<short, 16, 33, 2>,
    tile_case<std::int64_t, 256, 12>, tile_case<std::int64_t, 48, 4>, tile_case<std::int64_t, 32, 24>,
    tile_case<int128, 64, 8>, tile_case<int128, 20, 6>, tile_case<words<3>, 64, 10>, tile_case<words<3>, 16, 4, 2, 2>,
    tile_case<words<4>, 40, 3>, tile_case<record, 64, 4>, tile_case<record, 10, 5>, tile_case<record, 8, 2, 8>,
    tile_case<words<3, std::uint8_t>, 64, 6>, tile_case<words<5, std::uint16_t>, 33, 4>>;
#endif
TYPED_TEST_SUITE(block_exchange, exchange_cases);

TYPED_TEST(block_exchange, every_item_goes_where_it_should) { test_every_way<TypeParam, false>(); }
TYPED_TEST(block_exchange, time_slicing_changes_nothing) { test_every_way<TypeParam, true>(); }

TEST(block_exchange_storage, of_time_slicing_is_that_of_one_warp) {
  EXPECT_EQ(sizeof(BlockExchange<float, 256, 24, true>::TempStorage),
            sizeof(BlockExchange<float, 32, 24>::TempStorage));
  EXPECT_LE(sizeof(BlockExchange<float, 256, 24>::TempStorage), 256u * 24u * 4u * 33u / 32u);
  EXPECT_EQ(sizeof(BlockExchange<float, 256, 23>::TempStorage), 256u * 23u * 4u);
}

// ---------------------------------------------------------------------------- output types
/// An item without a default constructor, and an output type constructed from it.
struct made {
  int value;
  STRATA_HD explicit made(int v) : value(v) {}
};
struct doubled {
  double value;
  doubled() = default;
  STRATA_HD explicit doubled(const made& m) : value(2.0 * m.value) {}
};

template <bool Sliced>
STRATA_KERNEL void convert(double* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const short narrow[2] = {static_cast<short>(-thread), static_cast<short>(-thread - 64)};
  double wide[2];
  BlockExchange<short, 64, 2, Sliced>().StripedToBlocked(narrow, wide);
  __syncthreads();
  const unsigned short reverse[2] = {static_cast<unsigned short>(127 - thread),
                                     static_cast<unsigned short>(63 - thread)};
  int scattered[2];
  BlockExchange<short, 64, 2, Sliced>().ScatterToBlocked(narrow, scattered, reverse);
  const made items[2] = {made(thread), made(thread + 64)};
  doubled results[2];
  BlockExchange<made, 64, 2>().StripedToBlocked(items, results);
  for (int i = 0; i < 2; ++i) {
    out[2 * thread + i] = wide[i];
    out[128 + 2 * thread + i] = scattered[i];
    out[256 + 2 * thread + i] = results[i].value;
  }
}

template <bool Sliced>
void test_conversion() {
  device_vector<double> out(384);
  ASSERT_CUDA_SUCCESS(strata::launch({"convert", 1, 64}, convert<Sliced>, out.data()));
  const std::vector<double> results = out.to_host();
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(results[i], -static_cast<double>(i));
    EXPECT_EQ(results[128 + i], static_cast<double>(i) - 127);
    EXPECT_EQ(results[256 + i], 2.0 * static_cast<double>(i));
  }
}

TEST(block_exchange_output, is_converted) {
  test_conversion<false>();
  test_conversion<true>();
}

// ---------------------------------------------------------------------------- the documented example
STRATA_KERNEL void running_sums_of_24(const float* in, float* out) {
  using Exchange = strata::BlockExchange<float, 128, 24>;
  STRATA_SHARED(temp_storage, Exchange::TempStorage);
  const int first = static_cast<int>(blockIdx.x * 128 * 24 + threadIdx.x);
  float items[24];
  for (int i = 0; i < 24; ++i) items[i] = in[first + i * 128];
  Exchange(temp_storage).StripedToBlocked(items);
  for (int i = 1; i < 24; ++i) items[i] += items[i - 1];
  __syncthreads();
  Exchange(temp_storage).BlockedToStriped(items);
  for (int i = 0; i < 24; ++i) out[first + i * 128] = items[i];
}

TEST(block_exchange_example, sums_ranges_of_24_items) {
  constexpr std::size_t n = 2 * 128 * 24;
  std::vector<float> items(n), sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    items[i] = static_cast<float>(i % 101);
    sums[i] = items[i] + (i % 24 == 0 ? 0.0f : sums[i - 1]);
  }
  const device_vector<float> in(items);
  device_vector<float> out(n);
  ASSERT_CUDA_SUCCESS(strata::launch({"running_sums_of_24", 2, 128}, running_sums_of_24, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), sums);
}

// ---------------------------------------------------------------------------- positions
/// Consecutive items, from any index on.
template <int UnitBytes>
struct row_access {
  static constexpr int element_bytes = UnitBytes;
  static constexpr int instructions = 1;
  int start;
  STRATA_HD constexpr int operator()(int, int lane) const { return start + lane; }
};

template <class T, int Items>
void test_positions() {
  using tile = strata::detail::exchange_tile<T, Items, 256>;
  using layout = strata::ExchangeLayout<T, Items>;
  for (int i = 0; i < 256 * Items; ++i) {
    ASSERT_EQ(tile::position(static_cast<unsigned>(i)), layout{}(i)) << Items << ", " << i;
  }
  for (const int threads : {32, 70, 256}) {
    for (int start = -3 * threads; start < 256 * Items; start += threads) {
      for (int thread = start < 0 ? -start : 0; thread < threads; ++thread) {
        ASSERT_EQ(tile::position(start, static_cast<unsigned>(thread)), layout{}(start + thread))
            << Items << ", " << start << " + " << thread;
      }
    }
  }
  for (int thread = 0; thread < 256; ++thread) {
    ASSERT_EQ(tile::position_of_thread(static_cast<unsigned>(thread)), layout{}(thread * Items));
  }
  for (int start = 0; start < 64 * Items; start += Items % 8 + 1) {
    ASSERT_LE(strata::conflict_degree(layout{}, row_access<layout::unit_bytes>{start}), 2) << Items << ", " << start;
  }
}

template <class T, int... Items>
void test_positions(std::integer_sequence<int, Items...>) {
  (test_positions<T, Items + 1>(), ...);
}

TEST(block_exchange_positions, are_those_of_the_layout_and_no_row_takes_over_two_wavefronts) {
#if STRATA_TEST_FEW_TYPES
  using counts = std::integer_sequence<int, 0, 1, 2, 6, 11, 23>;
#else
  using counts = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 15, 23, 31, 32, 47, 63>;
#endif
  test_positions<char>(counts{});
  test_positions<short>(counts{});
  test_positions<int>(counts{});
  test_positions<double>(counts{});
  test_positions<int128>(counts{});
  test_positions<words<3>>(counts{});
  test_positions<record>(counts{});
}

// ---------------------------------------------------------------------------- bank conflicts
#if defined(STRATA_SIMT_CHECK)  // check mode, which counts each access
template <class T, int Items, bool Sliced>
STRATA_KERNEL void exchange_to_and_fro(T* out) {
  using exchange = BlockExchange<T, 64, Items, Sliced>;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage);
  T items[static_cast<std::size_t>(Items)];
  for (int i = 0; i < Items; ++i) items[i] = number<T>(i);
  exchange(temp_storage).StripedToBlocked(items);
  __syncthreads();
  exchange(temp_storage).BlockedToStriped(items);
  __syncthreads();
  exchange(temp_storage).WarpStripedToBlocked(items);
  __syncthreads();
  exchange(temp_storage).BlockedToWarpStriped(items);
  for (int i = 0; i < Items; ++i) out[static_cast<int>(threadIdx.x) * Items + i] = items[i];
}

template <class T, int Items, bool Sliced = false>
void test_conflicts() {
  namespace simt = strata::simt;
  device_vector<T> out(static_cast<std::size_t>(64 * Items));
  simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"to and fro", 1, 64}, exchange_to_and_fro<T, Items, Sliced>, out.data()));
  const simt::statistics counted = simt::stats();
  EXPECT_GE(counted.shared_instructions, 2u * 8u * static_cast<unsigned>(Items));
  if (counted.shared_wavefronts == counted.shared_ideal_wavefronts) return;
  simt::bank_row rows[64];  // looked up only on failure, because it takes time
  const int count = simt::bank_rows(rows, 64);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(rows[i].wavefronts, rows[i].ideal)
        << rows[i].where << (rows[i].write ? " writes " : " reads ") << rows[i].access_bytes << " bytes; " << sizeof(T)
        << "-byte items, " << Items << " per thread, "
        << ", sliced " << Sliced;
  }
  ADD_FAILURE() << "more wavefronts than necessary";
}

template <class T, int... Items>
void test_conflicts(std::integer_sequence<int, Items...>) {
  (test_conflicts<T, Items>(), ...);
}

template <class T>
class block_exchange_conflicts : public testing::Test {};
using item_types =
    testing::Types<signed char, short, int, std::int64_t, int128, words<3>, words<4>, record, words<3, std::uint8_t>>;
TYPED_TEST_SUITE(block_exchange_conflicts, item_types);

TYPED_TEST(block_exchange_conflicts, there_are_none) {
  // Few item counts, because every instantiation asserts that the model has no conflicts. This test confirms the model.
  test_conflicts<TypeParam>(std::integer_sequence<int, 2, 3, 8, 12>{});
  if constexpr (sizeof(TypeParam) <= 8) test_conflicts<TypeParam>(std::integer_sequence<int, 33>{});
  test_conflicts<TypeParam, 12, true>();
}
#endif

}  // namespace block_exchange_test

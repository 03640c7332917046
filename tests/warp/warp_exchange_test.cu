// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_exchange.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace warp_exchange_test {

using strata::WARP_EXCHANGE_SHUFFLE;
using strata::WARP_EXCHANGE_SMEM;
using strata::WarpExchange;
using strata::WarpExchangeAlgorithm;
using strata_test::device_vector;
using strata_test::int128;
using strata_test::same_bits;
using strata_test::words;

struct alignas(32) sector {  // in units of 16 bytes
  std::int64_t word[4];
};

struct record {  // 40 bytes, in units of 8
  double a;
  std::int64_t b[4];
};

template <class T>
struct numbered {
  static STRATA_HD T make(int i) { return static_cast<T>(i); }
};
template <std::size_t Count, class Word>
struct numbered<words<Count, Word>> {
  static STRATA_HD words<Count, Word> make(int i) {
    words<Count, Word> result{};
    for (std::size_t k = 0; k < Count; ++k) {
      result.word[k] = static_cast<Word>(static_cast<std::size_t>(i) * 31 + k * 77);
    }
    return result;
  }
};
template <>
struct numbered<sector> {
  static STRATA_HD sector make(int i) { return {{i, i + 1LL, i * 3LL, -i}}; }
};
template <>
struct numbered<record> {
  static STRATA_HD record make(int i) { return {1.0 * i, {i, i + 1LL, i * 3LL, -i}}; }
};

template <class T, int Items, int Width = 32>
struct exchange_case {
  using type = T;
  static constexpr int items = Items, width = Width, tile = Items * Width;
  static constexpr std::size_t size = static_cast<std::size_t>(Items);
  static constexpr int threads = 64;
  static constexpr bool divides_warp = (Width & (Width - 1)) == 0;
  static constexpr int logical_warps = divides_warp ? threads / Width : threads / 32;
  static STRATA_HD int rank(int lane, int i) { return ((lane * Items + i) * 7919 + 5) % tile; }
};

constexpr int ways = 3;  // to striped, to blocked, scatter; each out of place and in place

template <class Case, WarpExchangeAlgorithm Algorithm>
STRATA_KERNEL void exchange_every_way(typename Case::type* out) {
  using T = typename Case::type;
  using exchange = WarpExchange<T, Case::items, Case::width, Algorithm>;
  constexpr unsigned logical_warps = Case::logical_warps;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage[logical_warps]);
  const int unit = Case::divides_warp ? Case::width : 32;
  const int lane = static_cast<int>(threadIdx.x) % unit;
  const int logical_warp = static_cast<int>(threadIdx.x) / unit;
  if (lane >= Case::width) return;
  const unsigned mask = (0xffffffffu >> (32 - Case::width))
                        << (Case::divides_warp ? threadIdx.x % 32 / Case::width * Case::width : 0);

  // Each logical warp has other values, so an exchange with the wrong storage shows.
  const auto value = [&](int item) { return numbered<T>::make(item + 3 * logical_warp); };
  T* results = out + 2 * ways * Case::tile * logical_warp + lane * Case::items;
  const auto write = [&](const auto& items) {
    for (int i = 0; i < Case::items; ++i) results[i] = items[i];
    results += Case::tile;
    __syncwarp(mask);
  };
  exchange x(temp_storage[logical_warp]);
  T blocked[Case::size], striped[Case::size], output[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    blocked[i] = value(lane * Case::items + i);
    striped[i] = value(i * Case::width + lane);
  }
  x.BlockedToStriped(blocked, output);
  write(output);
  for (int i = 0; i < Case::items; ++i) output[i] = blocked[i];
  x.BlockedToStriped(output);
  write(output);
  x.StripedToBlocked(striped, output);
  write(output);
  x.StripedToBlocked(striped);
  write(striped);
  if constexpr (Algorithm == WARP_EXCHANGE_SMEM) {
    short ranks[Case::size];
    for (int i = 0; i < Case::items; ++i) ranks[i] = static_cast<short>(Case::rank(lane, i));
    x.ScatterToStriped(blocked, output, ranks);
    write(output);
    x.ScatterToStriped(blocked, ranks);
    write(blocked);
  }
}

template <class Case, WarpExchangeAlgorithm Algorithm>
void test_every_way() {
  using T = typename Case::type;
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items, " << Case::items << " per thread, width "
                                  << Case::width);
  device_vector<T> out(static_cast<std::size_t>(Case::logical_warps * 2 * ways * Case::tile));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"exchange_every_way", 1, Case::threads}, exchange_every_way<Case, Algorithm>, out.data()));
  const std::vector<T> results = out.to_host();
  std::vector<int> scattered(static_cast<std::size_t>(Case::tile));
  for (int item = 0; item < Case::tile; ++item) {
    scattered[static_cast<std::size_t>(Case::rank(item / Case::items, item % Case::items))] = item;
  }
  std::size_t at = 0;
  for (int logical_warp = 0; logical_warp < Case::logical_warps; ++logical_warp) {
    for (int way = 0; way < 2 * ways; ++way) {
      for (int lane = 0; lane < Case::width; ++lane) {
        for (int i = 0; i < Case::items; ++i, ++at) {
          if (way >= 4 && Algorithm == WARP_EXCHANGE_SHUFFLE) continue;
          const int striped = i * Case::width + lane, blocked = lane * Case::items + i;
          const int item = way < 2 ? striped : way < 4 ? blocked : scattered[static_cast<std::size_t>(striped)];
          ASSERT_TRUE(same_bits(results[at], numbered<T>::make(item + 3 * logical_warp)))
              << "way " << way << ", logical warp " << logical_warp << ", lane " << lane << ", item " << i;
        }
      }
    }
  }
}

template <class Case>
class warp_exchange : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using exchange_cases =
    testing::Types<exchange_case<int, 12>, exchange_case<signed char, 5, 16>, exchange_case<short, 4, 20>,
                   exchange_case<words<3>, 6, 8>, exchange_case<int128, 2, 4>, exchange_case<record, 3, 32>>;
#else
using exchange_cases = testing::Types<
    exchange_case<int, 1>, exchange_case<int, 2>, exchange_case<int, 7>, exchange_case<float, 24>,
    exchange_case<int, 32>, exchange_case<int, 64>, exchange_case<int, 33>, exchange_case<int, 12, 16>,
    exchange_case<int, 16, 16>, exchange_case<int, 9, 8>, exchange_case<int, 8, 8>, exchange_case<int, 6, 4>,
    exchange_case<int, 5, 2>, exchange_case<int, 4, 1>, exchange_case<int, 6, 12>, exchange_case<int, 7, 31>,
    exchange_case<int, 10, 25>, exchange_case<int, 3, 3>, exchange_case<signed char, 11>,
    exchange_case<signed char, 24, 8>, exchange_case<signed char, 5, 2>, exchange_case<short, 6>,
    exchange_case<short, 3, 16>, exchange_case<std::int64_t, 12>, exchange_case<std::int64_t, 4, 16>,
    exchange_case<std::int64_t, 10, 4>, exchange_case<int128, 6>, exchange_case<int128, 8, 8>,
    exchange_case<words<3>, 10>, exchange_case<words<4>, 3, 20>, exchange_case<record, 4>, exchange_case<record, 5, 16>,
    exchange_case<words<3, std::uint8_t>, 8, 16>, exchange_case<sector, 3, 4>>;
#endif
TYPED_TEST_SUITE(warp_exchange, exchange_cases);

TYPED_TEST(warp_exchange, through_shared_memory_puts_every_item_where_it_should_go) {
  test_every_way<TypeParam, WARP_EXCHANGE_SMEM>();
}
TYPED_TEST(warp_exchange, by_shuffles_puts_every_item_where_it_should_go) {
  test_every_way<TypeParam, WARP_EXCHANGE_SHUFFLE>();
}

// ---------------------------------------------------------------------------- shuffles, all counts
template <int Width, int... Items>
void test_counts(std::integer_sequence<int, Items...>) {
  (test_every_way<exchange_case<int, Items + 1, Width>, WARP_EXCHANGE_SHUFFLE>(), ...);
}

TEST(warp_exchange_shuffle, takes_any_count_of_items_and_any_width) {
#if STRATA_TEST_FEW_TYPES
  test_counts<32>(std::integer_sequence<int, 2, 5>{});
  test_counts<6>(std::integer_sequence<int, 3, 8>{});
#else
  test_counts<32>(std::make_integer_sequence<int, 16>{});
  test_counts<30>(std::integer_sequence<int, 3, 5, 8, 9, 13, 14>{});
  test_counts<16>(std::integer_sequence<int, 0, 2, 5, 7, 11, 13>{});
  test_counts<12>(std::make_integer_sequence<int, 9>{});
  test_counts<4>(std::integer_sequence<int, 0, 1, 4, 5, 7>{});
  test_counts<1>(std::integer_sequence<int, 2>{});
#endif
}

TEST(warp_exchange_shuffle, needs_no_storage) {
  EXPECT_LE(sizeof(WarpExchange<double, 24, 32, WARP_EXCHANGE_SHUFFLE>::TempStorage), 1u);
}

// ---------------------------------------------------------------------------- output types
template <WarpExchangeAlgorithm Algorithm>
STRATA_KERNEL void convert(double* out) {
  using exchange = WarpExchange<short, 2, 32, Algorithm>;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage);
  const int lane = static_cast<int>(threadIdx.x);
  const short items[2] = {static_cast<short>(-lane), static_cast<short>(-lane - 32)};
  double wide[2];
  exchange(temp_storage).StripedToBlocked(items, wide);
  out[2 * lane] = wide[0];
  out[2 * lane + 1] = wide[1];
}

TEST(warp_exchange_output, is_converted) {
  for (const auto kernel : {convert<WARP_EXCHANGE_SMEM>, convert<WARP_EXCHANGE_SHUFFLE>}) {
    device_vector<double> out(64);
    ASSERT_CUDA_SUCCESS(strata::launch({"convert", 1, 32}, kernel, out.data()));
    const std::vector<double> results = out.to_host();
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(results[i], -static_cast<double>(i));
  }
}

// ---------------------------------------------------------------------------- the documented example
STRATA_KERNEL void sums_of_7(const int* in, int* out) {
  using Exchange = strata::WarpExchange<int, 7, 16>;
  STRATA_SHARED(temp_storage, Exchange::TempStorage[128 / 16]);
  const unsigned logical_warp = threadIdx.x / 16;
  int items[7];
  for (unsigned i = 0; i < 7; ++i) {
    items[i] = in[logical_warp * 7 * 16 + i * 16 + threadIdx.x % 16];
  }
  Exchange(temp_storage[logical_warp]).StripedToBlocked(items);
  int sum = 0;
  for (const int item : items) sum += item;
  out[threadIdx.x] = sum;
}

TEST(warp_exchange_example, sums_ranges_of_7_items) {
  std::vector<int> items(128 * 7), sums(128);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = static_cast<int>(i * i);
    sums[i / 7] += items[i];
  }
  const device_vector<int> in(items);
  device_vector<int> out(128);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_of_7", 1, 128}, sums_of_7, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), sums);
}

// ---------------------------------------------------------------------------- bank conflicts
/// Adds a run-time zero, so that compilers do not evaluate all these patterns at compile time.
template <class Pattern>
struct at_run_time : Pattern {
  int zero;
  STRATA_HD constexpr int operator()(int instruction, int lane) const {
    return Pattern::operator()(instruction, lane) + zero;
  }
};

/// True if storages in an array follow each other without gaps, as the model assumes.
template <class T, int Items, int Width>
constexpr bool has_no_gaps =
    sizeof(typename WarpExchange<T, Items, Width>::TempStorage) ==
    static_cast<std::size_t>(strata::detail::warp_exchange_layout<T, Items, Width>::storage_elements(Items* Width)) *
        strata::detail::warp_exchange_layout<T, Items, Width>::unit_bytes;

template <class T, int Items, int Width>
bool is_free(int zero) {
  using layout = strata::detail::warp_exchange_layout<T, Items, Width>;
  using storages = strata::detail::warp_exchange_storages<T, Items, Width>;
  using blocked = strata::blocked_access<layout::unit_bytes, Items>;
  using striped = strata::detail::logical_warps_striped_access<layout::unit_bytes, Items, Width>;
  const int most = Width == 2 && layout::unit_bytes < 4 ? 2 : 1;
  return strata::conflict_degree(storages{}, at_run_time<blocked>{{}, zero}) == 1 &&
         strata::conflict_degree(storages{}, at_run_time<striped>{{}, zero}) <= most &&
         layout{}(Items * Width - 1) + layout::units_per_item <= layout::storage_elements(Items * Width) &&
         (Width == 32 || has_no_gaps<T, Items, Width>);
}
template <class T, int Items>
void test_model() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items, " << Items << " per thread");
  static volatile int source = 0;
  const int zero = source;
  EXPECT_TRUE((is_free<T, Items, 1>(zero)));
  EXPECT_TRUE((is_free<T, Items, 2>(zero)));
  EXPECT_TRUE((is_free<T, Items, 4>(zero)));
  EXPECT_TRUE((is_free<T, Items, 8>(zero)));
  EXPECT_TRUE((is_free<T, Items, 16>(zero)));
  EXPECT_TRUE((is_free<T, Items, 32>(zero)));
}
template <class T, int... Items>
void test_model(std::integer_sequence<int, Items...>) {
  (test_model<T, Items + 1>(), ...);
}

TEST(warp_exchange_layout, is_free_of_conflicts_in_the_model) {
#if STRATA_TEST_FEW_TYPES
  using counts = std::integer_sequence<int, 0, 2, 11>;
#else
  using counts = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 7, 9, 11, 15, 23, 32, 63>;
#endif
  test_model<char>(counts{});
  test_model<short>(counts{});
  test_model<int>(counts{});
  test_model<double>(counts{});
  test_model<int128>(counts{});
  test_model<words<3>>(counts{});
  test_model<record>(counts{});
  test_model<sector>(counts{});
}

#if defined(STRATA_SIMT_CHECK)  // check mode, which counts each access
template <class T, int Items, int Width>
STRATA_KERNEL void exchange_to_and_fro(T* out) {
  using exchange = WarpExchange<T, Items, Width>;
  constexpr unsigned logical_warps = 64 / Width;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage[logical_warps]);
  T items[static_cast<std::size_t>(Items)];
  for (int i = 0; i < Items; ++i) items[i] = numbered<T>::make(i);
  exchange x(temp_storage[threadIdx.x / Width]);
  x.StripedToBlocked(items);
  __syncwarp();
  x.BlockedToStriped(items);
  for (int i = 0; i < Items; ++i) out[static_cast<int>(threadIdx.x) * Items + i] = items[i];
}

template <class T, int Items, int Width>
void test_conflicts() {
  namespace simt = strata::simt;
  device_vector<T> out(static_cast<std::size_t>(64 * Items));
  simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"to and fro", 1, 64}, exchange_to_and_fro<T, Items, Width>, out.data()));
  const simt::statistics counted = simt::stats();
  EXPECT_GE(counted.shared_instructions, 2u * 4u * static_cast<unsigned>(Items));
  if (counted.shared_wavefronts == counted.shared_ideal_wavefronts) return;
  simt::bank_row rows[64];  // looked up only on failure, because it takes time
  const int count = simt::bank_rows(rows, 64);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(rows[i].wavefronts, rows[i].ideal)
        << rows[i].where << (rows[i].write ? " writes " : " reads ") << rows[i].access_bytes << " bytes; " << sizeof(T)
        << "-byte items, " << Items << " per thread, "
        << ", width " << Width;
  }
  ADD_FAILURE() << "more wavefronts than necessary";
}

template <class T, int... Items>
void test_conflicts(std::integer_sequence<int, Items...>) {
  (test_conflicts<T, Items, 32>(), ...);
  (test_conflicts<T, Items, 16>(), ...);
  (test_conflicts<T, Items, 4>(), ...);
}

template <class T>
class warp_exchange_conflicts : public testing::Test {};
using item_types = testing::Types<signed char, short, int, std::int64_t, int128, words<3>, record, sector>;
TYPED_TEST_SUITE(warp_exchange_conflicts, item_types);

TYPED_TEST(warp_exchange_conflicts, there_are_none) {
  // Few widths, because this test only confirms the model. The test of the model above covers many more.
  test_conflicts<TypeParam>(std::integer_sequence<int, 2, 5, 12>{});
}
#endif

}  // namespace warp_exchange_test

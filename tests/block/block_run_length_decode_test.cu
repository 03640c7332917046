// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_run_length_decode.cuh>
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_store_direct.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "block/block_tile.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_run_length_decode_test {

using strata::BlockRunLengthDecode;
using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

template <class T>
T value_of_run(int run) {
  if constexpr (strata_test::is_narrow_float<T>) {
    return T(static_cast<float>(run));
  } else {
    return block_tile::number<T>(run);
  }
}

template <class T, int X, int Runs, int Items, class Offset = std::uint32_t, int Y = 1, int Z = 1, class Length = int>
struct runs_case {
  using type = T;
  using offset = Offset;
  using length = Length;
  using decode = BlockRunLengthDecode<T, X, Runs, Items, Offset, Y, Z>;
  static constexpr int runs_per_thread = Runs, items = Items, threads = X * Y * Z;
  static constexpr int runs = threads * Runs, window = threads * Items;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int rank() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

// One form for each constructor. Two forms also ask for positions.
enum form { by_lengths, by_lengths_privately, by_offsets, by_offsets_privately, forms };

template <class T>
struct decoded {
  T* items;
  short* positions;
};

// Writes the items from `first` to the end of the last run. The first run begins at item number `base`.
template <class Case, bool Positions>
STRATA_D void write_windows(typename Case::decode& runs, int base, int first, int total,
                            decoded<typename Case::type> to) {
  using offset = typename Case::offset;
  for (int from = first; from < total; from += Case::window) {
    typename Case::type items[Case::items];
    short positions[Case::items];
    const int mine = from + Case::rank() * Case::items;
    if constexpr (Positions) {
      runs.RunLengthDecode(items, positions, static_cast<offset>(base + from));
    } else if (from == 0 && base == 0) {
      runs.RunLengthDecode(items);
    } else {
      runs.RunLengthDecode(items, static_cast<offset>(base + from));
    }
    for (int i = 0; i < Case::items && mine + i < total; ++i) {
      to.items[mine + i] = items[i];
      if constexpr (Positions) to.positions[mine + i] = positions[i];
    }
  }
  __syncthreads();
}

template <class Case>
STRATA_KERNEL void decode_runs(const typename Case::type* values_in, const int* lengths_in, const int* begins_in,
                               int base, int first, int capacity, int* totals, typename Case::type* items,
                               short* positions) {
  using T = typename Case::type;
  using decode = typename Case::decode;
  STRATA_SHARED(temp_storage, typename decode::TempStorage);
  T values[Case::runs_per_thread];
  typename Case::length lengths[Case::runs_per_thread];
  long long begins[Case::runs_per_thread];
  for (int i = 0; i < Case::runs_per_thread; ++i) {
    const int run = Case::rank() * Case::runs_per_thread + i;
    values[i] = values_in[run];
    lengths[i] = static_cast<typename Case::length>(lengths_in[run]);
    begins[i] = base + begins_in[run];
  }
  const auto output = [&](int f) { return decoded<T>{items + f * capacity, positions + f * capacity}; };

  int total = -1;
  decode kept(temp_storage, values, lengths, total);
  totals[Case::rank()] = total;
  write_windows<Case, true>(kept, 0, first, total, output(by_lengths));
  unsigned short short_total = 0xffff;
  decode kept_privately(values, lengths, short_total);
  totals[Case::threads + Case::rank()] = short_total;
  write_windows<Case, false>(kept_privately, 0, first, total, output(by_lengths_privately));
  decode with_offsets(temp_storage, values, begins);
  write_windows<Case, false>(with_offsets, base, first, total, output(by_offsets));
  decode with_offsets_privately(values, begins);
  write_windows<Case, true>(with_offsets_privately, base, first, total, output(by_offsets_privately));
}

/// Lists of lengths, each with a sum of at most `largest_total`.
std::vector<std::vector<int>> lengths_of_runs(int runs, int window, int largest_total) {
  std::vector<std::vector<int>> all;
  const std::vector<int> zeros(index(runs), 0);
  const int mean = largest_total / runs;
  all.push_back(zeros);
  all.push_back(std::vector<int>(index(runs), 1));
  all.push_back(strata_test::random_integers(index(runs), 0, std::min(mean, 5), 1));
  all.push_back(strata_test::random_integers(index(runs), 1, std::min(mean, 9), 2));
  // Only one run has items: the first, the last, or one between them.
  const int many = std::min(2 * window + 5, largest_total / 3);
  for (const int run : {0, runs - 1, runs / 2}) {
    all.push_back(zeros);
    all.back()[index(run)] = many;
  }
  all.push_back(zeros);
  for (const int run : {0, runs - 1, runs / 2}) all.back()[index(run)] = many;
  // Gaps of 0 to 7 empty runs, then a case with empty runs only at the end.
  all.push_back(zeros);
  for (int run = 0, range = 0; run < runs; run += 1 + range++ % 8) all.back()[index(run)] = 1 + run % std::min(mean, 3);
  all.push_back(std::vector<int>(index(runs), 1));
  std::fill(all.back().begin() + runs / 3, all.back().end(), 0);
  return all;
}

template <class Case>
class block_run_length_decode : public testing::Test {};

#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<runs_case<int, 64, 2, 4>, runs_case<signed char, 33, 3, 5, std::uint16_t>,
                             runs_case<words<3>, 8, 2, 3, int, 3, 2, std::uint8_t>,
                             runs_case<double, 32, 1, 4, std::uint8_t>, runs_case<words<5>, 1, 1, 1>>;
#else
using cases =
    testing::Types<runs_case<int, 64, 2, 4>, runs_case<signed char, 33, 3, 5, std::uint16_t>,
                   runs_case<words<3>, 8, 2, 3, int, 3, 2, std::uint8_t>, runs_case<double, 32, 1, 4, std::uint8_t>,
                   runs_case<words<5>, 1, 1, 1>, runs_case<float, 128, 1, 1, std::uint64_t>,
                   runs_case<__half, 96, 4, 7, long long>,
                   runs_case<strata_test::int128, 31, 2, 2, std::uint32_t, 1, 1, short>,
                   runs_case<words<3, std::uint8_t>, 5, 3, 8, short, 2, 4>, runs_case<__nv_bfloat16, 256, 1, 16>,
                   runs_case<short, 1, 40, 3>, runs_case<std::uint64_t, 2, 1, 30>,
                   runs_case<float, 32, 8, 2, unsigned, 1, 1, std::size_t>>;
#endif
TYPED_TEST_SUITE(block_run_length_decode, cases);

TYPED_TEST(block_run_length_decode, repeats_each_value_as_often_as_its_run_is_long) {
  using T = typename TypeParam::type;
  constexpr int runs = TypeParam::runs, threads = TypeParam::threads, window = TypeParam::window;
  constexpr unsigned long long largest = std::numeric_limits<typename TypeParam::offset>::max();
  constexpr int base = 11;
  // Item numbers after the last window may overflow.
  constexpr int largest_total = static_cast<int>(std::min<unsigned long long>(largest - base, 30000));
  std::vector<T> values;
  for (int run = 0; run < runs; ++run) values.push_back(value_of_run<T>(run));
  const device_vector<T> values_in(values);
  constexpr unsigned long long longest = std::numeric_limits<typename TypeParam::length>::max();
  for (std::vector<int> lengths : lengths_of_runs(runs, window, largest_total)) {
    std::vector<int> run_of, position_of, begins;
    for (int run = 0; run < runs; ++run) {
      int& length = lengths[index(run)];
      length = static_cast<int>(std::min(static_cast<unsigned long long>(length), longest));
      begins.push_back(static_cast<int>(run_of.size()));
      for (int i = 0; i < length; ++i) {
        run_of.push_back(run);
        position_of.push_back(i);
      }
    }
    const int total = static_cast<int>(run_of.size());
    ASSERT_LE(total, largest_total);
    const device_vector<int> lengths_in(lengths), begins_in(begins);
    for (const int first : {0, 1, total / 2, total - 1}) {
      if (first < 0 || (first > 0 && first >= total)) continue;
      device_vector<int> totals(index(2 * threads));
      device_vector<T> items(index(forms * total));
      device_vector<short> positions(index(forms * total));
      ASSERT_CUDA_SUCCESS(strata::launch({"decode_runs", 1, TypeParam::dimensions()}, decode_runs<TypeParam>,
                                         values_in.data(), lengths_in.data(), begins_in.data(), base, first, total,
                                         totals.data(), items.data(), positions.data()));
      ASSERT_EQ(totals.to_host(), std::vector<int>(index(2 * threads), total));
      const std::vector<T> got = items.to_host();
      const std::vector<short> got_positions = positions.to_host();
      for (int f = 0; f < forms; ++f) {
        for (int i = first; i < total; ++i) {
          ASSERT_TRUE(same_bits(got[index(f * total + i)], values[index(run_of[index(i)])]))
              << "form " << f << ", item " << i << " of " << total << ", window from " << first;
          if (f == by_offsets || f == by_lengths_privately) continue;
          ASSERT_EQ(got_positions[index(f * total + i)], position_of[index(i)]) << "form " << f << ", item " << i;
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------- large numbers
// Runs of 2^40 items. Each thread decodes 3 items around the end of its run.
STRATA_KERNEL void decode_long_runs(int* values_out, long long* positions_out, unsigned long long* total_out) {
  using decode = BlockRunLengthDecode<int, 64, 1, 3, std::uint64_t>;
  const int thread = static_cast<int>(threadIdx.x);
  const int values[1] = {thread};
  const long long lengths[1] = {1ll << 40};
  unsigned long long total = 0;
  decode runs(values, lengths, total);
  int items[3];
  long long positions[3];
  // The call adds the thread's place in the window, which is subtracted here, so that each sees the end of its own run.
  const std::uint64_t end = (std::uint64_t{threadIdx.x} + 1) << 40;
  runs.RunLengthDecode(items, positions, end - 2 - 3 * std::uint64_t{threadIdx.x});
  for (int i = 0; i < 3; ++i) {
    values_out[3 * thread + i] = items[i];
    positions_out[3 * thread + i] = positions[i];
  }
  if (thread == 0) *total_out = total;
}

TEST(block_run_length_decode_numbers, have_64_bits_if_asked_for) {
  device_vector<int> values(192);
  device_vector<long long> positions(192);
  device_vector<unsigned long long> total(1);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"decode_long_runs", 1, 64}, decode_long_runs, values.data(), positions.data(), total.data()));
  EXPECT_EQ(total.to_host()[0], 64ull << 40);
  const std::vector<int> value = values.to_host();
  const std::vector<long long> position = positions.to_host();
  for (int thread = 0; thread < 64; ++thread) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = index(3 * thread + i);
      if (thread == 63 && i == 2) continue;  // after the last run
      EXPECT_EQ(value[at], thread + (i == 2 ? 1 : 0)) << at;
      EXPECT_EQ(position[at], i == 2 ? 0 : (1ll << 40) - 2 + i) << at;
    }
  }
}

// Decodes the last items that the type can number. The window goes on past the last run.
template <class Offset>
STRATA_KERNEL void decode_last_items(Offset from, Offset largest, int* values_out) {
  using decode = BlockRunLengthDecode<int, 64, 2, 4, Offset>;
  const int thread = static_cast<int>(threadIdx.x);
  const int values[2] = {2 * thread, 2 * thread + 1};
  const Offset begins[2] = {static_cast<Offset>(thread == 0 ? 0 : largest - 128 + 2 * threadIdx.x),
                            static_cast<Offset>(largest - 128 + 2 * threadIdx.x + 1)};
  decode runs(values, begins);
  int items[4];
  runs.RunLengthDecode(items, from);
  for (int i = 0; i < 4; ++i) values_out[4 * thread + i] = items[i];
}

template <class Offset>
void test_last_items(int items_before) {
  constexpr Offset largest = std::numeric_limits<Offset>::max();
  const auto from = static_cast<Offset>(largest - static_cast<Offset>(items_before));
  device_vector<int> values(256);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"decode_last_items", 1, 64}, decode_last_items<Offset>, from, largest, values.data()));
  const std::vector<int> value = values.to_host();
  // Run r begins 128 - r items before the largest number.
  for (int i = 0; i <= items_before; ++i) EXPECT_EQ(value[index(i)], std::min(128 - items_before + i, 127)) << i;
}

TEST(block_run_length_decode_numbers, reach_the_largest_of_their_type) {
  // The item with the largest number is at each of the four places within a thread.
  for (int items_before = 100; items_before < 104; ++items_before) {
    test_last_items<std::uint32_t>(items_before);
    test_last_items<int>(items_before);
  }
}

// ---------------------------------------------------------------------------- single threads
STRATA_KERNEL void decode_by_some(const int* lengths_in, int* out) {
  using decode = BlockRunLengthDecode<int, 96, 1, 2>;
  const int thread = static_cast<int>(threadIdx.x);
  const int values[1] = {thread};
  const int lengths[1] = {lengths_in[thread]};
  int total;
  decode runs(values, lengths, total);
  // Threads decode from the end to the beginning. The call adds the thread's place in the window.
  const int mine = 2 * (95 - thread);
  if (thread % 3 != 1 || mine < 2 * thread || mine + 1 >= total) return;
  int items[2];
  runs.RunLengthDecode(items, static_cast<unsigned>(mine - 2 * thread));
  out[mine] = items[0];
  out[mine + 1] = items[1];
}

TEST(block_run_length_decode, any_threads_may_decode_any_window) {
  const std::vector<int> lengths = strata_test::random_integers(96, 1, 3);
  const device_vector<int> in(lengths);
  device_vector<int> out(std::vector<int>(192, -1));
  ASSERT_CUDA_SUCCESS(strata::launch({"decode_by_some", 1, 96}, decode_by_some, in.data(), out.data()));
  std::vector<int> run_of;
  for (int run = 0; run < 96; ++run) run_of.insert(run_of.end(), index(lengths[index(run)]), run);
  const std::vector<int> got = out.to_host();
  int decoded = 0;
  for (int thread = 1; thread < 96; thread += 3) {
    const std::size_t mine = index(2 * (95 - thread));
    if (mine < index(2 * thread) || mine + 1 >= run_of.size()) continue;
    EXPECT_EQ(got[mine], run_of[mine]);
    EXPECT_EQ(got[mine + 1], run_of[mine + 1]);
    ++decoded;
  }
  EXPECT_GE(decoded, 10);
}

// ---------------------------------------------------------------------------- types
class opaque {
 public:
  opaque() = delete;
  STRATA_HD explicit opaque(int v) : value_(v) {}
  STRATA_HD int value() const { return value_; }

 private:
  int value_;
};

STRATA_KERNEL void decode_opaque(int* out) {
  using decode = BlockRunLengthDecode<opaque, 32, 1, 2>;
  const int thread = static_cast<int>(threadIdx.x);
  opaque values[1] = {opaque(7 * thread)};
  unsigned lengths[1] = {2};
  unsigned total;
  decode runs(values, lengths, total);
  opaque items[2] = {opaque(0), opaque(0)};
  runs.RunLengthDecode(items);
  out[2 * thread] = items[0].value();
  out[2 * thread + 1] = items[1].value();
}

TEST(block_run_length_decode, values_need_no_default_constructor) {
  device_vector<int> out(64);
  ASSERT_CUDA_SUCCESS(strata::launch({"decode_opaque", 1, 32}, decode_opaque, out.data()));
  const std::vector<int> values = out.to_host();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[index(i)], i / 2 * 7);
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class Case>
STRATA_KERNEL void keep_runs(const typename Case::type* values_in) {
  STRATA_SHARED(temp_storage, typename Case::decode::TempStorage);
  typename Case::type values[Case::runs_per_thread];
  int lengths[Case::runs_per_thread];
  for (int i = 0; i < Case::runs_per_thread; ++i) {
    values[i] = values_in[i];
    lengths[i] = i;
  }
  int total;
  typename Case::decode(temp_storage, values, lengths, total);
}

template <class T, int Runs, class Offset>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte values, " << Runs << " runs per thread");
  using runs = runs_case<T, 96, Runs, 1, Offset>;
  const device_vector<T> values(std::vector<T>(index(Runs)));
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"keep_runs", 1, 96}, keep_runs<runs>, values.data()));
  strata_test::expect_no_bank_conflicts(2 * 3 * Runs);
}

TEST(block_run_length_decode, runs_are_kept_without_bank_conflicts) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts<std::int8_t, 4, std::uint8_t>();
  count_conflicts<short, 6, unsigned>();
  count_conflicts<int, 2, std::uint16_t>();
  count_conflicts<double, 8, unsigned>();
  count_conflicts<strata_test::int128, 4, std::uint64_t>();
  count_conflicts<words<3>, 3, unsigned>();
  count_conflicts<words<10>, 2, unsigned>();
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
// Decodes 256 runs. `items` must have room for all decoded items.
STRATA_KERNEL void decode(const float* values, const int* lengths, float* items) {
  using Decode = strata::BlockRunLengthDecode<float, 128, 2, 4>;
  STRATA_SHARED(temp_storage, Decode::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  float run_values[2];
  int run_lengths[2];
  strata::LoadDirectBlocked(thread, values, run_values);
  strata::LoadDirectBlocked(thread, lengths, run_lengths);
  unsigned total;
  Decode runs(temp_storage, run_values, run_lengths, total);
  for (unsigned from = 0; from < total; from += 128 * 4) {
    float window[4];
    runs.RunLengthDecode(window, from);
    strata::StoreDirectBlocked(thread, items + from, window, static_cast<int>(total - from));
  }
}

TEST(block_run_length_decode, decodes_window_after_window) {
  const std::vector<int> lengths = strata_test::random_integers(256, 0, 11);
  std::vector<float> values, expected;
  for (int run = 0; run < 256; ++run) {
    values.push_back(static_cast<float>(run) * 0.25f);
    expected.insert(expected.end(), index(lengths[index(run)]), values.back());
  }
  ASSERT_GT(expected.size(), 1024u);
  const device_vector<float> values_in(values);
  const device_vector<int> lengths_in(lengths);
  device_vector<float> items(expected.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"decode", 1, 128}, decode, values_in.data(), lengths_in.data(), items.data()));
  EXPECT_EQ(items.to_host(), expected);
}

}  // namespace block_run_length_decode_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockRunLengthDecode must give the same items as CUB's. CUB allows runs of length 0 only at the end, so they are
// there.
#include <strata/block/block_run_length_decode.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_run_length_decode.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;

template <class T, int X, int Runs, int Items, class Offset = std::uint32_t, int Y = 1, int Z = 1>
struct runs_case {
  using type = T;
  using offset = Offset;
  using by_strata = strata::BlockRunLengthDecode<T, X, Runs, Items, Offset, Y, Z>;
  using by_cub = cub::BlockRunLengthDecode<T, X, Runs, Items, Offset, Y, Z>;
  static constexpr int runs_per_thread = Runs, items = Items, threads = X * Y * Z;
  static constexpr int runs = threads * Runs, window = threads * Items;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

template <class Case, class Decode>
STRATA_D void write_windows(Decode& runs, int total, typename Case::type* items_out, int* positions_out) {
  using offset = typename Case::offset;
  for (int from = 0; from < total; from += Case::window) {
    typename Case::type items[Case::items], items_alone[Case::items];
    int positions[Case::items];
    runs.RunLengthDecode(items, positions, static_cast<offset>(from));
    runs.RunLengthDecode(items_alone, static_cast<offset>(from));
    for (int i = 0; i < Case::items; ++i) {
      const int at = from + Case::thread() * Case::items + i;
      if (at >= total) break;
      items_out[2 * at] = items[i];
      items_out[2 * at + 1] = items_alone[i];
      positions_out[at] = positions[i];
    }
  }
  __syncthreads();
}

template <class Decode, class Case>
STRATA_KERNEL void decode_runs(const int* lengths_in, const int* begins_in, int sum, typename Case::type* items,
                               int* positions, int* totals) {
  using T = typename Case::type;
  STRATA_SHARED(temp_storage, typename Decode::TempStorage);
  T values[Case::runs_per_thread];
  int lengths[Case::runs_per_thread];
  unsigned begins[Case::runs_per_thread];
  for (int i = 0; i < Case::runs_per_thread; ++i) {
    const int run = Case::thread() * Case::runs_per_thread + i;
    values[i] = static_cast<T>(run);
    lengths[i] = lengths_in[run];
    begins[i] = static_cast<unsigned>(begins_in[run]);
  }
  int total = 0;
  Decode kept(temp_storage, values, lengths, total);
  write_windows<Case>(kept, sum, items, positions);
  long long long_total = 0;
  Decode kept_privately(values, lengths, long_total);
  write_windows<Case>(kept_privately, sum, items + 2 * sum, positions + sum);
  Decode with_offsets(temp_storage, values, begins);
  write_windows<Case>(with_offsets, sum, items + 4 * sum, positions + 2 * sum);
  Decode with_offsets_privately(values, begins);
  write_windows<Case>(with_offsets_privately, sum, items + 6 * sum, positions + 3 * sum);
  totals[2 * Case::thread()] = total;
  totals[2 * Case::thread() + 1] = static_cast<int>(long_total);
}

template <class Case>
class block_run_length_decode_cub : public testing::Test {};
using cases = testing::Types<runs_case<int, 128, 2, 4>, runs_case<signed char, 33, 3, 5, std::uint16_t>,
                             runs_case<double, 8, 2, 3, int, 3, 2>, runs_case<std::uint64_t, 96, 1, 9, std::uint64_t>>;
TYPED_TEST_SUITE(block_run_length_decode_cub, cases);

TYPED_TEST(block_run_length_decode_cub, decodes_the_same) {
  using T = typename TypeParam::type;
  constexpr int runs = TypeParam::runs, threads = TypeParam::threads;
  for (const int longest : {1, 5, 100}) {
    for (const int runs_of_length_0 : {0, 1, runs / 2, runs - 1}) {
      std::vector<int> lengths = strata_test::random_integers(std::size_t{runs}, 1, longest);
      std::fill(lengths.end() - runs_of_length_0, lengths.end(), 0);
      std::vector<int> begins;
      int sum = 0;
      for (const int length : lengths) {
        begins.push_back(sum);
        sum += length;
      }
      const auto items = static_cast<std::size_t>(8 * sum), positions = static_cast<std::size_t>(4 * sum);
      const device_vector<int> lengths_in(lengths), begins_in(begins);
      device_vector<T> our_items(items), their_items(items);
      device_vector<int> our_positions(positions), their_positions(positions);
      device_vector<int> our_totals(std::size_t{2 * threads}), their_totals(std::size_t{2 * threads});
      ASSERT_CUDA_SUCCESS(strata::launch(
          {"ours", 1, TypeParam::dimensions()}, decode_runs<typename TypeParam::by_strata, TypeParam>,
          lengths_in.data(), begins_in.data(), sum, our_items.data(), our_positions.data(), our_totals.data()));
      ASSERT_CUDA_SUCCESS(strata::launch(
          {"theirs", 1, TypeParam::dimensions()}, decode_runs<typename TypeParam::by_cub, TypeParam>, lengths_in.data(),
          begins_in.data(), sum, their_items.data(), their_positions.data(), their_totals.data()));
      ASSERT_EQ(our_totals.to_host(), their_totals.to_host());
      ASSERT_EQ(our_items.to_host(), their_items.to_host());
      ASSERT_EQ(our_positions.to_host(), their_positions.to_host());
    }
  }
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/block/block_run_length_decode.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::expect_assertion;
using strata_test::is_success;

template <class Offset>
using decode_of = strata::BlockRunLengthDecode<int, 64, 2, 1, Offset>;

// Run 77 has `length` items, the others 1.
template <class Offset, class Length>
STRATA_KERNEL void by_lengths(long long length) {
  const int values[2] = {};
  const Length lengths[2] = {1, static_cast<Length>(threadIdx.x == 38 ? length : 1)};
  unsigned total;
  decode_of<Offset>(values, lengths, total);
}

// Run 77 begins at item `begin`, run r at item r + 5.
STRATA_KERNEL void by_offsets(int begin, unsigned from) {
  const int values[2] = {};
  const int first = 2 * static_cast<int>(threadIdx.x) + 5;
  const int begins[2] = {first, threadIdx.x == 38 ? begin : first + 1};
  int items[1];
  decode_of<unsigned>(values, begins).RunLengthDecode(items, from);
}

template <class Offset, class Length = long long>
cudaError_t with_length(long long length) {
  return strata::launch({"by_lengths", 1, 64}, by_lengths<Offset, Length>, length);
}
cudaError_t with_begin(int begin, unsigned from = 5) {
  return strata::launch({"by_offsets", 1, 64}, by_offsets, begin, from);
}

TEST(block_run_length_decode, debug_builds_refuse_lengths_that_offsets_cannot_represent) {
  EXPECT_CUDA_SUCCESS(with_length<unsigned>(0));
  EXPECT_CUDA_SUCCESS((with_length<std::uint8_t, std::uint8_t>(128)));
  EXPECT_CUDA_SUCCESS(with_length<unsigned>(0xffffffffll - 127));
  EXPECT_CUDA_SUCCESS(with_length<std::uint64_t>(1ll << 50));
  expect_assertion([] { return with_length<unsigned>(-1); },
                   "BlockRunLengthDecode: run 77 has the length -1, which DecodedOffsetT cannot represent");
  expect_assertion([] { return with_length<std::uint64_t, short>(-2); },
                   "BlockRunLengthDecode: run 77 has the length -2, which DecodedOffsetT cannot represent");
  expect_assertion([] { return with_length<unsigned>((1ll << 32) + 1); },
                   "BlockRunLengthDecode: run 77 has the length 4294967297, which DecodedOffsetT cannot represent");
}

// In with_length(), 50 runs of one item follow run 77, and 77 precede it.
TEST(block_run_length_decode, debug_builds_refuse_more_items_than_offsets_can_represent) {
  expect_assertion([] { return with_length<unsigned>(0xffffffffll - 126); },
                   "BlockRunLengthDecode: DecodedOffsetT cannot represent the number of decoded items");
  expect_assertion([] { return with_length<std::uint8_t, std::uint8_t>(129); },
                   "BlockRunLengthDecode: DecodedOffsetT cannot represent the number of decoded items");
  expect_assertion([] { return with_length<unsigned>(0xffffffffll - 100); }, "BlockRunLengthDecode: ");
}

TEST(block_run_length_decode, debug_builds_refuse_offsets_that_fall) {
  EXPECT_CUDA_SUCCESS(with_begin(82));
  EXPECT_CUDA_SUCCESS(with_begin(81));
  EXPECT_CUDA_SUCCESS(with_begin(83));
  expect_assertion([] { return with_begin(80); },
                   "BlockRunLengthDecode: run 76 begins at item 81, but the next run at 80");
  expect_assertion([] { return with_begin(84); },
                   "BlockRunLengthDecode: run 77 begins at item 84, but the next run at 83");
}

TEST(block_run_length_decode, debug_builds_refuse_windows_before_the_first_run) {
  expect_assertion([] { return with_begin(82, 4); },
                   "BlockRunLengthDecode: the window begins at item 4, before the first run, which begins at 5");
}

TEST(block_run_length_decode, debug_builds_refuse_blocks_of_another_shape) {
  expect_assertion(
      [] {
        return strata::launch({"by_offsets", 1, 32}, by_offsets, 82, 5u);
      },
      "BlockRunLengthDecode was instantiated for blocks of 64 x 1 x 1 threads");
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_discontinuity.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "block/neighbour_cases.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_discontinuity_test {

using namespace neighbour_cases;
using strata::BlockDiscontinuity;

template <class Case>
using discontinuity_of = BlockDiscontinuity<typename Case::type, Case::x, Case::y, Case::z>;

constexpr int before = -3, after = -4, elsewhere = -5, kept = -6;

// ---------------------------------------------------------------------------- every call
/// A pseudo-random bit of two items and an index. A flag computed from another pair is wrong in half of all cases.
template <class T>
STRATA_HD bool differ(const T& a, const T& b, int index) {
  return (hash(hash(hash(2166136261u, a), b), index) >> 9 & 1) != 0;
}
struct by_items {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b) const {
    return differ(a, b, 0);
  }
};
struct by_index {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b, int index) const {
    return differ(a, b, index);
  }
};

enum form {
  heads,
  heads_of_tile,
  heads_and_preds,
  heads_and_preds_of_tile,
  tails,
  tails_of_tile,
  both,
  both_with_successor,
  both_with_predecessor,
  both_of_tile,
  forms
};
STRATA_HD constexpr bool has_heads(form how) { return how <= heads_and_preds_of_tile || how >= both; }
STRATA_HD constexpr bool has_tails(form how) { return how >= tails; }
STRATA_HD constexpr bool has_preds(form how) { return how == heads_and_preds || how == heads_and_preds_of_tile; }
STRATA_HD constexpr bool has_predecessor(form how) {
  return how == heads_of_tile || how == heads_and_preds_of_tile || how == both_with_predecessor || how == both_of_tile;
}
STRATA_HD constexpr bool has_successor(form how) {
  return how == tails_of_tile || how == both_with_successor || how == both_of_tile;
}

template <class Discontinuity, class T, std::size_t N, class Flag, class Op>
STRATA_D void flag(form how, Discontinuity d, Flag (&head)[N], Flag (&tail)[N], T (&pred)[N], T (&items)[N], Op op) {
  const T predecessor = number<T>(threadIdx.x + threadIdx.y + threadIdx.z == 0 ? before : elsewhere);
  const bool is_last = threadIdx.x == blockDim.x - 1 && threadIdx.y == blockDim.y - 1 && threadIdx.z == blockDim.z - 1;
  const T successor = number<T>(is_last ? after : elsewhere);
  switch (how) {
    case heads:
      return d.FlagHeads(head, items, op);
    case heads_of_tile:
      return d.FlagHeads(head, items, op, predecessor);
    case heads_and_preds:
      return d.FlagHeads(head, items, pred, op);
    case heads_and_preds_of_tile:
      return d.FlagHeads(head, items, pred, op, predecessor);
    case tails:
      return d.FlagTails(tail, items, op);
    case tails_of_tile:
      return d.FlagTails(tail, items, op, successor);
    case both:
      return d.FlagHeadsAndTails(head, tail, items, op);
    case both_with_successor:
      return d.FlagHeadsAndTails(head, tail, successor, items, op);
    case both_with_predecessor:
      return d.FlagHeadsAndTails(head, predecessor, tail, items, op);
    default:
      return d.FlagHeadsAndTails(head, predecessor, tail, successor, items, op);
  }
}

// Block b calls form b % forms. The second `forms` blocks use the operator with an index, and flags of type bool.
template <class Case>
STRATA_KERNEL void flag_all(int* head_flags, int* tail_flags, typename Case::type* preds) {
  using T = typename Case::type;
  using discontinuity = discontinuity_of<Case>;
  STRATA_SHARED(temp_storage, typename discontinuity::TempStorage);
  const form how = static_cast<form>(blockIdx.x % forms);
  T items[Case::size], pred[Case::size];
  int head[Case::size], tail[Case::size];
  bool head_bits[Case::size] = {}, tail_bits[Case::size] = {};
  for (int i = 0; i < Case::items; ++i) {
    items[i] = number<T>(Case::rank() * Case::items + i);
    pred[i] = number<T>(kept);
    head[i] = tail[i] = kept;
  }
  if (blockIdx.x < forms) {
    flag(how, discontinuity(temp_storage), head, tail, pred, items, by_items{});
  } else {
    flag(how, discontinuity(), head_bits, tail_bits, pred, items, by_index{});
    for (int i = 0; i < Case::items; ++i) {
      if (has_heads(how)) head[i] = head_bits[i];
      if (has_tails(how)) tail[i] = tail_bits[i];
    }
  }
  const int first = static_cast<int>(blockIdx.x) * Case::tile + Case::rank() * Case::items;
  for (int i = 0; i < Case::items; ++i) {
    head_flags[first + i] = head[i];
    tail_flags[first + i] = tail[i];
    preds[first + i] = pred[i];
  }
}

/// The expected flag of the pair whose second item has this index.
template <class T>
int expected_flag(form how, int second, int tile, bool with_index) {
  if (second == 0 && !has_predecessor(how)) return 1;
  if (second == tile && !has_successor(how)) return 1;
  const T a = number<T>(second == 0 ? before : second - 1), b = number<T>(second == tile ? after : second);
  return differ(a, b, with_index ? second : 0) ? 1 : 0;
}

template <class Case>
class block_discontinuity : public testing::Test {};
TYPED_TEST_SUITE(block_discontinuity, cases);

TYPED_TEST(block_discontinuity, flags_are_what_the_operator_says_of_neighbours) {
  using T = typename TypeParam::type;
  constexpr int tile = TypeParam::tile, blocks = 2 * forms;
  device_vector<int> head(index(blocks * tile)), tail(index(blocks * tile));
  device_vector<T> preds(index(blocks * tile));
  ASSERT_CUDA_SUCCESS(strata::launch({"flag_all", blocks, TypeParam::dimensions()}, flag_all<TypeParam>, head.data(),
                                     tail.data(), preds.data()));
  const std::vector<int> head_flags = head.to_host(), tail_flags = tail.to_host();
  const std::vector<T> previous = preds.to_host();
  for (int b = 0; b < blocks; ++b) {
    const form how = static_cast<form>(b % forms);
    const bool with_index = b >= forms;
    for (int i = 0; i < tile; ++i) {
      const auto place = [&] { return testing::Message() << "form " << how << ", index " << with_index << ", " << i; };
      const std::size_t at = index(b * tile + i);
      ASSERT_EQ(head_flags[at], has_heads(how) ? expected_flag<T>(how, i, tile, with_index) : kept) << place();
      ASSERT_EQ(tail_flags[at], has_tails(how) ? expected_flag<T>(how, i + 1, tile, with_index) : kept) << place();
      const bool is_kept = !has_preds(how) || (i == 0 && !has_predecessor(how));
      ASSERT_TRUE(same_bits(previous[at], number<T>(is_kept ? kept : i > 0 ? i - 1 : before))) << place();
    }
  }
}

// ---------------------------------------------------------------------------- in place
enum overwritten { by_heads, by_preds, by_tails, by_heads_of_both, by_tails_of_both, overwriters };

// Block b overwrites its items by way b.
STRATA_KERNEL void flag_in_place(int* result, int* other_result) {
  using discontinuity = BlockDiscontinuity<int, 40>;
  STRATA_SHARED(temp_storage, discontinuity::TempStorage);
  const int first = static_cast<int>(threadIdx.x) * 3;
  int items[3], other[3];
  for (int i = 0; i < 3; ++i) items[i] = first + i;
  discontinuity d(temp_storage);
  switch (static_cast<overwritten>(blockIdx.x)) {
    case by_heads:
      d.FlagHeads(items, items, other, by_index{}, before);
      break;
    case by_preds:
      d.FlagHeads(other, items, items, by_index{}, before);
      break;
    case by_tails:
      d.FlagTails(items, items, by_index{}, after);
      for (int i = 0; i < 3; ++i) other[i] = kept;
      break;
    case by_heads_of_both:
      d.FlagHeadsAndTails(items, before, other, after, items, by_index{});
      break;
    default:
      d.FlagHeadsAndTails(other, before, items, after, items, by_index{});
      break;
  }
  for (int i = 0; i < 3; ++i) {
    result[blockIdx.x * 120 + threadIdx.x * 3 + static_cast<unsigned>(i)] = items[i];
    other_result[blockIdx.x * 120 + threadIdx.x * 3 + static_cast<unsigned>(i)] = other[i];
  }
}

TEST(block_discontinuity, outputs_may_overwrite_the_input) {
  device_vector<int> result(overwriters * 120), other_result(overwriters * 120);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"flag_in_place", overwriters, 40}, flag_in_place, result.data(), other_result.data()));
  const std::vector<int> items = result.to_host(), other = other_result.to_host();
  for (int i = 0; i < 120; ++i) {
    const int previous = i > 0 ? i - 1 : before;
    const int head = expected_flag<int>(both_of_tile, i, 120, true);
    const int tail = expected_flag<int>(both_of_tile, i + 1, 120, true);
    const auto expect = [&](overwritten how, int expected, int expected_other) {
      ASSERT_EQ(items[index(how * 120 + i)], expected) << "way " << how << ", item " << i;
      ASSERT_EQ(other[index(how * 120 + i)], expected_other) << "way " << how << ", item " << i;
    };
    expect(by_heads, head, previous);
    expect(by_preds, previous, head);
    expect(by_tails, tail, kept);
    expect(by_heads_of_both, head, tail);
    expect(by_tails_of_both, tail, head);
  }
}

// ---------------------------------------------------------------------------- what the operator sees
struct count_calls {
  int* calls;
  STRATA_D int operator()(int a, int b, int index) const {
    atomicAdd(calls + index, b == a + 1 && b == index ? 1 : 1000);
    return 256;
  }
};

// Block b calls form b.
STRATA_KERNEL void count_every_call(int* calls, unsigned char* flags) {
  const int first = static_cast<int>(threadIdx.x) * 3;
  int items[3], preds[3] = {};
  unsigned char head[3] = {1, 1, 1}, tail[3] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) items[i] = first + i;
  const form how = static_cast<form>(blockIdx.x);
  const count_calls op{calls + blockIdx.x * 121};
  BlockDiscontinuity<int, 40> d;
  // The items next to this thread's. Where another thread has them, `kept` stands in, for which the operator counts
  // 256.
  const int predecessor = first == 0 ? -1 : kept, successor = first == 117 ? 120 : kept;
  switch (how) {
    case heads:
      d.FlagHeads(head, items, op);
      break;
    case heads_of_tile:
      d.FlagHeads(head, items, op, predecessor);
      break;
    case heads_and_preds:
      d.FlagHeads(head, items, preds, op);
      break;
    case heads_and_preds_of_tile:
      d.FlagHeads(head, items, preds, op, predecessor);
      break;
    case tails:
      d.FlagTails(tail, items, op);
      break;
    case tails_of_tile:
      d.FlagTails(tail, items, op, successor);
      break;
    case both:
      d.FlagHeadsAndTails(head, tail, items, op);
      break;
    case both_with_successor:
      d.FlagHeadsAndTails(head, tail, successor, items, op);
      break;
    case both_with_predecessor:
      d.FlagHeadsAndTails(head, predecessor, tail, items, op);
      break;
    default:
      d.FlagHeadsAndTails(head, predecessor, tail, successor, items, op);
      break;
  }
  for (int i = 0; i < 3; ++i) {
    flags[blockIdx.x * 240 + threadIdx.x * 6 + static_cast<unsigned>(i)] = head[i];
    flags[blockIdx.x * 240 + threadIdx.x * 6 + 3 + static_cast<unsigned>(i)] = tail[i];
  }
}

TEST(block_discontinuity, operator_is_called_once_for_each_flag_and_its_result_is_a_truth_value) {
  device_vector<int> calls(std::vector<int>(forms * 121, 0));
  device_vector<unsigned char> flags(forms * 240);
  ASSERT_CUDA_SUCCESS(strata::launch({"count_every_call", forms, 40}, count_every_call, calls.data(), flags.data()));
  const std::vector<int> counts = calls.to_host();
  for (int f = 0; f < forms; ++f) {
    const form how = static_cast<form>(f);
    for (int second = 0; second <= 120; ++second) {
      const int as_head = has_heads(how) && second < 120 && (second > 0 || has_predecessor(how)) ? 1 : 0;
      const int as_tail = has_tails(how) && second > 0 && (second < 120 || has_successor(how)) ? 1 : 0;
      EXPECT_EQ(counts[index(f * 121 + second)], as_head + as_tail) << "form " << f << ", index " << second;
    }
  }
  EXPECT_EQ(flags.to_host(), std::vector<unsigned char>(forms * 240, 1));
}

// ---------------------------------------------------------------------------- types
/// A user's type without a default constructor. Its operators exist with and without an index.
struct key {
  long long value;
  STRATA_HD explicit key(long long v) : value(v) {}
};
struct each_third {
  STRATA_D bool operator()(const key& a, const key& b) const { return a.value == b.value; }
  STRATA_D bool operator()(const key&, const key&, int index) const { return index % 3 == 0; }
};
STRATA_D bool are_unlike(key a, key b) { return a.value != b.value; }

STRATA_KERNEL void flag_keys(int* head_flags, int* tail_flags) {
  using discontinuity = BlockDiscontinuity<key, 16, 3>;
  STRATA_SHARED(temp_storage, discontinuity::TempStorage);
  const int first = static_cast<int>(threadIdx.x + 16 * threadIdx.y) * 2;
  const key items[2] = {key(first / 5), key((first + 1) / 5)};
  int head[2], tail[2];
  discontinuity(temp_storage).FlagHeads(head, items, each_third{}, key(0));
  __syncthreads();
  discontinuity(temp_storage).FlagTails(tail, items, are_unlike);
  for (int i = 0; i < 2; ++i) {
    head_flags[first + i] = head[i];
    tail_flags[first + i] = tail[i];
  }
}

TEST(block_discontinuity, accepts_items_without_default_constructor_and_operators_of_both_kinds) {
  device_vector<int> head(96), tail(96);
  ASSERT_CUDA_SUCCESS(strata::launch({"flag_keys", 1, dim3(16, 3)}, flag_keys, head.data(), tail.data()));
  const std::vector<int> head_flags = head.to_host(), tail_flags = tail.to_host();
  for (int i = 0; i < 96; ++i) {
    EXPECT_EQ(head_flags[index(i)], i % 3 == 0 ? 1 : 0) << i;
    EXPECT_EQ(tail_flags[index(i)], i % 5 == 4 || i == 95 ? 1 : 0) << i;
  }
}

STRATA_KERNEL void flag_floats(const float* in, int* head_flags) {
  float items[1] = {in[threadIdx.x]};
  bool head[1];
  BlockDiscontinuity<float, 5>().FlagHeads(head, items, [](float a, float b) { return a != b; });
  head_flags[threadIdx.x] = head[0];
}

TEST(block_discontinuity, floats_are_compared_as_floats) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const device_vector<float> in(std::vector<float>{nan, nan, 0.0f, -0.0f, 1.0f});
  device_vector<int> head(5);
  ASSERT_CUDA_SUCCESS(strata::launch({"flag_floats", 1, 5}, flag_floats, in.data(), head.data()));
  EXPECT_EQ(head.to_host(), (std::vector<int>{1, 1, 1, 0, 1}));
}

// Storage has two items for each thread. Items of an even number of pieces need padding.
static_assert(sizeof(BlockDiscontinuity<int, 64>::TempStorage) == 2 * 64 * sizeof(int));
static_assert(sizeof(BlockDiscontinuity<words<3>, 8, 2, 4>::TempStorage) == 2 * 64 * 12);
static_assert(sizeof(BlockDiscontinuity<words<10>, 32>::TempStorage) == 2 * 32 * 44);

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class T, int Threads>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items");
  using tile = tile_case<T, Threads, 3>;
  device_vector<int> head(index(2 * forms * tile::tile)), tail(index(2 * forms * tile::tile));
  device_vector<T> preds(index(2 * forms * tile::tile));
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(
      strata::launch({"flag_all", 2 * forms, Threads}, flag_all<tile>, head.data(), tail.data(), preds.data()));
  strata_test::expect_no_bank_conflicts(2 * forms * 2 * (Threads / 32));
}

TEST(block_discontinuity, has_no_bank_conflicts) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts<std::int8_t, 128>();
  count_conflicts<short, 128>();
  count_conflicts<int, 96>();
  count_conflicts<double, 64>();
  count_conflicts<strata_test::int128, 64>();
  count_conflicts<words<3>, 64>();
  count_conflicts<words<10>, 64>();
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void run_heads(const int* in, int* heads) {
  using BlockDiscontinuity = strata::BlockDiscontinuity<int, 128>;
  STRATA_SHARED(temp_storage, BlockDiscontinuity::TempStorage);
  int items[2], flags[2];
  for (int i = 0; i < 2; ++i) items[i] = in[static_cast<int>(threadIdx.x) * 2 + i];
  BlockDiscontinuity(temp_storage).FlagHeads(flags, items, [](int a, int b) { return a != b; });
  for (int i = 0; i < 2; ++i) heads[static_cast<int>(threadIdx.x) * 2 + i] = flags[i];
}

TEST(block_discontinuity, flags_the_heads_of_runs) {
  std::vector<int> runs, starts;
  for (int i = 0; i < 256; ++i) {
    runs.push_back(i / 7);
    starts.push_back(i % 7 == 0 ? 1 : 0);
  }
  const device_vector<int> in(runs);
  device_vector<int> out(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"run_heads", 1, 128}, run_heads, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), starts);
}

}  // namespace block_discontinuity_test

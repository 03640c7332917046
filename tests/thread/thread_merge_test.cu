// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/launcher.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_merge.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"

namespace {

using namespace strata_test;

struct item {
  int key;
  int number;
};
bool operator==(const item& a, const item& b) { return a.key == b.key && a.number == b.number; }

struct by_key {
  STRATA_HD bool operator()(const item& a, const item& b) const { return a.key < b.key; }
};
struct counting {
  int* calls;
  STRATA_HD bool operator()(const item& a, const item& b) const {
    ++*calls;
    return a.key < b.key;
  }
};
/// A comparator that is no ordering: its answers are random.
struct nonsense {
  unsigned* state;
  STRATA_HD bool operator()(const item&, const item&) const {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 31 != 0;
  }
};

std::vector<item> sorted_items(int count, int different_keys, int first_number) {
  std::vector<int> keys = random_integers(static_cast<std::size_t>(count), 0, different_keys - 1,
                                          static_cast<std::uint64_t>(count + first_number));
  std::sort(keys.begin(), keys.end());
  std::vector<item> items;
  for (const int key : keys) {
    items.push_back({key, first_number + static_cast<int>(items.size())});
  }
  return items;
}

// ---------------------------------------------------------------------------- MergePath
template <class Offset>
void test_paths(int count1, int count2, int different_keys) {
  SCOPED_TRACE(testing::Message() << count1 << " and " << count2 << " items");
  const std::vector<item> a = sorted_items(count1, different_keys, 0);
  const std::vector<item> b = sorted_items(count2, different_keys, 1000);
  std::vector<item> merged(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(), by_key{});
  Offset from1 = 0;
  for (int diag = 0; diag <= count1 + count2; ++diag) {
    int calls = 0;
    const Offset split = strata::MergePath(a.data(), b.data(), static_cast<Offset>(count1), static_cast<Offset>(count2),
                                           static_cast<Offset>(diag), counting{&calls});
    ASSERT_EQ(split, from1) << "diagonal " << diag;
    const int shorter = std::min({count1, count2, diag});
    EXPECT_LE(calls, strata::detail::log2_ceiling(static_cast<unsigned long long>(shorter) + 1));
    if (diag < count1 + count2 && merged[static_cast<std::size_t>(diag)].number < 1000) ++from1;
  }
}

TEST(merge_path, cuts_where_the_stable_merge_is) {
  for (const int different_keys : {1, 3, 1000}) {
    for (const int count1 : {0, 1, 2, 7, 32, 63}) {
      for (const int count2 : {0, 1, 5, 33, 64}) {
        test_paths<int>(count1, count2, different_keys);
        test_paths<unsigned>(count1, count2, different_keys);
        test_paths<std::int64_t>(count1, count2, different_keys);
      }
    }
  }
}

/// The numbers first, first + 2, first + 4, ...: a sequence too long for any memory.
struct every_other {
  std::int64_t first;
  STRATA_HD std::int64_t operator[](std::int64_t i) const { return first + 2 * i; }
};
struct is_less {
  STRATA_HD bool operator()(std::int64_t a, std::int64_t b) const { return a < b; }
};

TEST(merge_path, has_64_bit_offsets) {
  const std::int64_t count = (std::int64_t{1} << 61) + 5;
  const every_other even{0}, odd{1};
  for (const std::int64_t diag :
       {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 32) + 7, count, 2 * count - 1, 2 * count}) {
    EXPECT_EQ(strata::MergePath(even, odd, count, count, diag, is_less{}), (diag + 1) / 2);
    EXPECT_EQ(strata::MergePath(odd, even, count, count, diag, is_less{}), diag / 2);
  }
}

TEST(merge_path, ends_within_its_ranges_whatever_the_comparator_says) {
  unsigned state = 1;
  const std::vector<item> a = sorted_items(37, 10, 0), b = sorted_items(23, 10, 0);
  for (int trial = 0; trial < 100; ++trial) {
    for (int diag = 0; diag <= 60; ++diag) {
      const int split = strata::MergePath(a.data(), b.data(), 37, 23, diag, nonsense{&state});
      ASSERT_GE(split, std::max(0, diag - 23));
      ASSERT_LE(split, std::min(37, diag));
    }
  }
}

// ---------------------------------------------------------------------------- SerialMerge
constexpr int length = 7;

/// Each thread merges its part of two ranges, which may lie anywhere in `keys`.
template <class Compare>
STRATA_KERNEL void merge_shares(const item* keys, int begin1, int count1, int begin2, int count2, item* out,
                                int* indices_out, int* calls_out, Compare compare) {
  const int thread = static_cast<int>(threadIdx.x), diag = thread * length;
  item output[length], again[length];
  int indices[length], calls = 0;
  for (int i = 0; i < length; ++i) {
    output[i] = again[i] = {-7, -7};
    indices[i] = -7;
  }
  if (diag <= count1 + count2) {
    const int split = strata::MergePath(keys + begin1, keys + begin2, count1, count2, diag, compare);
    const auto counted = [&](const item& a, const item& b) {
      ++calls;
      return compare(a, b);
    };
    strata::SerialMerge(keys, begin1 + split, begin2 + diag - split, count1 - split, count2 - (diag - split), output,
                        indices, counted);
    strata::SerialMerge(keys, begin1 + split, begin2 + diag - split, count1 - split, count2 - (diag - split), again,
                        compare);
  }
  for (int i = 0; i < length; ++i) {
    out[diag + i] = output[i];
    indices_out[diag + i] = indices[i];
    if (again[i].key != output[i].key || again[i].number != output[i].number) calls = 1000;
  }
  calls_out[thread] = calls;
}

void test_shares(int count1, int count2, int different_keys) {
  SCOPED_TRACE(testing::Message() << count1 << " and " << count2 << " items");
  const std::vector<item> a = sorted_items(count1, different_keys, 0);
  const std::vector<item> b = sorted_items(count2, different_keys, 1000);
  std::vector<item> merged(a.size() + b.size()), keys = b;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(), by_key{});
  keys.insert(keys.end(), a.begin(), a.end());
  const int count = count1 + count2;
  const unsigned threads = static_cast<unsigned>(count / length + 1);
  const device_vector<item> in(keys);
  device_vector<item> out(threads * length);
  device_vector<int> indices_out(threads * length), calls_out(threads);
  ASSERT_CUDA_SUCCESS(strata::launch({"merge_shares", 1, threads}, merge_shares<by_key>, in.data(), count2, count1, 0,
                                     count2, out.data(), indices_out.data(), calls_out.data(), by_key{}));
  const std::vector<item> results = out.to_host();
  const std::vector<int> indices = indices_out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool is_there = i < merged.size();
    ASSERT_TRUE(results[i] == (is_there ? merged[i] : item{-7, -7})) << "item " << i;
    if (is_there) {
      ASSERT_TRUE(keys[static_cast<std::size_t>(indices[i])] == merged[i]) << "item " << i;
    } else {
      ASSERT_EQ(indices[i], -7) << "item " << i;
    }
  }
  for (const int calls : calls_out.to_host()) EXPECT_LE(calls, length);
}

TEST(serial_merge, merges_shares_stably) {
  for (const int different_keys : {1, 3, 1000}) {
    for (const int count1 : {0, 1, 7, 50}) {
      for (const int count2 : {0, 1, 6, 33, 64}) test_shares(count1, count2, different_keys);
    }
  }
}

STRATA_KERNEL void merge_nonsense(const item* keys, int count1, int count2, int* indices_out) {
  unsigned state = threadIdx.x;
  item output[length];
  int indices[length] = {-1, -1, -1, -1, -1, -1, -1};
  strata::SerialMerge(keys, 0, count1, count1, count2, output, indices, nonsense{&state});
  for (unsigned i = 0; i < length; ++i) indices_out[threadIdx.x * length + i] = indices[i];
}

TEST(serial_merge, takes_each_item_of_the_ranges_once_whatever_the_comparator_says) {
  constexpr unsigned threads = 64;
  for (const int count1 : {0, 2, 4, 9}) {
    for (const int count2 : {0, 1, 5, 8}) {
      const device_vector<item> in(sorted_items(count1 + count2, 5, 0));
      device_vector<int> indices_out(threads * length);
      ASSERT_CUDA_SUCCESS(strata::launch({"merge_nonsense", 1, threads}, merge_nonsense, in.data(), count1, count2,
                                         indices_out.data()));
      const std::vector<int> indices = indices_out.to_host();
      for (std::size_t t = 0; t < threads; ++t) {
        int next1 = 0, next2 = count1;
        for (std::size_t i = 0; i < length; ++i) {
          const int index = indices[t * length + i];
          if (static_cast<int>(i) >= count1 + count2) {
            ASSERT_EQ(index, -1);
          } else if (index < count1) {
            ASSERT_EQ(index, next1++);
          } else {
            ASSERT_EQ(index, next2++);
          }
        }
        ASSERT_LE(next1, count1);
        ASSERT_LE(next2, count1 + count2);
      }
    }
  }
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void merge(const int* keys, int count1, int count2, int* out) {
  const int count = count1 + count2;
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread * 7 >= count) return;
  const auto less = [](int a, int b) { return a < b; };
  const int diagonal = thread * 7;
  const int begin1 = strata::MergePath(keys, keys + count1, count1, count2, diagonal, less);
  const int begin2 = diagonal - begin1;
  int merged[7];
  strata::SerialMerge(keys, begin1, count1 + begin2, count1 - begin1, count2 - begin2, merged, less);
  for (int i = 0; i < 7 && diagonal + i < count; ++i) out[diagonal + i] = merged[i];
}

TEST(serial_merge, threads_merge_parts_of_two_runs) {
  std::vector<int> keys = random_integers(500, 0, 99), expected = keys;
  std::sort(keys.begin(), keys.begin() + 301);
  std::sort(keys.begin() + 301, keys.end());
  std::sort(expected.begin(), expected.end());
  const device_vector<int> in(keys);
  device_vector<int> out(500);
  ASSERT_CUDA_SUCCESS(strata::launch({"merge", 2, 64}, merge, in.data(), 301, 199, out.data()));
  EXPECT_EQ(out.to_host(), expected);
}

}  // namespace

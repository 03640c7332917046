// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Each function of platform.cuh is implemented for the device and for the host. The same results are expected of both.
#include <strata/core/launcher.cuh>
#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
namespace platform = strata::platform;

// ---------------------------------------------------------------------------- lanes, ranks
struct identity {
  unsigned lane, lt, le, gt, ge, rank;
};

template <int X, int Y, int Z>
STRATA_KERNEL void write_identities(identity* out) {
  const unsigned thread = threadIdx.x + X * (threadIdx.y + Y * threadIdx.z);
  out[thread] = {platform::lane_id(),      platform::lane_mask_lt(), platform::lane_mask_le(),
                 platform::lane_mask_gt(), platform::lane_mask_ge(), platform::row_major_thread_id<X, Y, Z>()};
}

template <int X, int Y, int Z>
void test_identities() {
  device_vector<identity> out(X * Y * Z);
  ASSERT_CUDA_SUCCESS(strata::launch({"write_identities", 1, dim3(X, Y, Z)}, write_identities<X, Y, Z>, out.data()));
  const std::vector<identity> results = out.to_host();
  for (unsigned thread = 0; thread < X * Y * Z; ++thread) {
    const std::uint64_t bit = std::uint64_t{1} << thread % 32;
    EXPECT_EQ(results[thread].rank, thread);
    EXPECT_EQ(results[thread].lane, thread % 32);
    EXPECT_EQ(results[thread].lt, bit - 1);
    EXPECT_EQ(results[thread].le, 2 * bit - 1);
    EXPECT_EQ(results[thread].gt, 0xffffffffu & ~(2 * bit - 1));
    EXPECT_EQ(results[thread].ge, 0xffffffffu & ~(bit - 1));
  }
}

TEST(platform, threads_and_lanes_are_numbered_row_by_row) {
  test_identities<70, 1, 1>();
  test_identities<5, 7, 1>();
  test_identities<3, 4, 6>();
  test_identities<1, 1, 40>();
}

// ---------------------------------------------------------------------------- redux
STRATA_KERNEL void reduce_words(const unsigned* in, const unsigned* masks, unsigned* out) {
  if constexpr (platform::has_redux) {
    const unsigned mask = masks[threadIdx.x];
    const unsigned word = in[threadIdx.x];
    const int number = static_cast<int>(word);
    const unsigned results[] = {
        platform::redux_add(mask, word), static_cast<unsigned>(platform::redux_add(mask, number)),
        platform::redux_min(mask, word), static_cast<unsigned>(platform::redux_min(mask, number)),
        platform::redux_max(mask, word), static_cast<unsigned>(platform::redux_max(mask, number)),
        platform::redux_and(mask, word), platform::redux_or(mask, word),
        platform::redux_xor(mask, word)};
    for (unsigned i = 0; i < 9; ++i) out[9 * threadIdx.x + i] = results[i];
  } else {
    out[0] = 0xdeadbeefu;
  }
}

void test_redux(const std::vector<unsigned>& masks, std::uint64_t stream) {
  std::mt19937_64 bits = random_bits(stream);
  std::vector<unsigned> words(32);
  for (unsigned& word : words) word = static_cast<unsigned>(bits());
  const device_vector<unsigned> in(words), masks_in(masks);
  device_vector<unsigned> out(32 * 9);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_words", 1, 32}, reduce_words, in.data(), masks_in.data(), out.data()));
  const std::vector<unsigned> results = out.to_host();
  if (results[0] == 0xdeadbeefu) GTEST_SKIP() << "no such instruction on this device";
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::vector<unsigned> own;
    for (std::size_t other = 0; other < 32; ++other) {
      if ((masks[lane] >> other & 1) != 0) own.push_back(words[other]);
    }
    const auto less = [](unsigned a, unsigned b) { return static_cast<int>(a) < static_cast<int>(b); };
    unsigned sum = 0, all = ~0u, any = 0, odd = 0;
    for (unsigned word : own) {
      sum += word;
      all &= word;
      any |= word;
      odd ^= word;
    }
    const std::vector<unsigned> expected = {sum,
                                            sum,
                                            *std::min_element(own.begin(), own.end()),
                                            *std::min_element(own.begin(), own.end(), less),
                                            *std::max_element(own.begin(), own.end()),
                                            *std::max_element(own.begin(), own.end(), less),
                                            all,
                                            any,
                                            odd};
    const auto first = results.begin() + static_cast<std::ptrdiff_t>(9 * lane);
    ASSERT_EQ(std::vector<unsigned>(first, first + 9), expected) << "lane " << lane;
  }
}

TEST(platform, words_are_reduced_over_the_lanes_of_the_mask) { test_redux(std::vector<unsigned>(32, 0xffffffffu), 1); }

TEST(platform, lanes_of_other_masks_are_reduced_apart) {
  std::vector<unsigned> masks(32);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    masks[lane] = lane % 3 == 0 ? 0x49249249u : 0xb6db6db6u;
  }
  test_redux(masks, 2);
}

// ---------------------------------------------------------------------------- memory of the device
// The host back end runs each case under several interleavings of threads and blocks.
template <class Test>
void under_many_schedules(const Test& test) {
#if STRATA_HOST_SIMT
  auto& configuration = strata::simt::config();
  const auto before = configuration;
  for (unsigned seed = 0; seed < (is_small() ? 4 : 12); ++seed) {
    configuration.seed = seed;
    configuration.preemption = seed % 2 == 0 ? 0 : 7;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test();
  }
  configuration = before;
#else
  for (int i = 0; i < 100; ++i) test();
#endif
}

enum class passing { release, fences, tagged_word };

template <class Word>
STRATA_D Word wait_for(const Word* flag, Word expected, bool acquire) {
  for (;;) {
    const Word seen = acquire ? platform::load_acquire(flag) : platform::load_relaxed(flag);
    if (seen == expected) return seen;
    STRATA_SPIN();
  }
}

// Block 0 passes `count` messages to block 1: first the payload in plain memory, then a word that tells it is there.
template <class Word, passing How>
STRATA_KERNEL void pass_messages(Word* flags, int* payloads, int* received, int count) {
  const int threads = static_cast<int>(blockDim.x);
  for (int i = 0; i < count; ++i) {
    int* const payload = payloads + i * threads;
    if (blockIdx.x == 0) {
      payload[threadIdx.x] = 1000 * i + static_cast<int>(threadIdx.x);
      __syncthreads();
      if (threadIdx.x == 0) {
        if constexpr (How == passing::release) {
          platform::store_release(&flags[i], static_cast<Word>(i + 1));
        } else {
          platform::fence_acq_rel();
          platform::store_relaxed(&flags[i], static_cast<Word>(i + 1));
        }
      }
    } else {
      if (threadIdx.x == 0) {
        wait_for(&flags[i], static_cast<Word>(i + 1), How == passing::release);
        if constexpr (How == passing::fences) platform::fence_acq_rel();
      }
      __syncthreads();
      received[i * threads + static_cast<int>(threadIdx.x)] = payload[threadIdx.x];
    }
  }
}

template <class Word, passing How>
void test_messages() {
  const int count = is_small() ? 5 : 40;
  constexpr unsigned threads = 64;
  under_many_schedules([=] {
    device_vector<Word> flags(std::vector<Word>(count, 0));
    device_vector<int> payloads(count * threads), received(count * threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"pass_messages", 2, threads}, pass_messages<Word, How>, flags.data(),
                                       payloads.data(), received.data(), int{count}));
    const std::vector<int> results = received.to_host();
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(results[i], static_cast<int>(1000 * (i / threads) + i % threads));
    }
  });
}

TEST(platform, what_precedes_a_release_is_seen_after_the_acquire) {
  test_messages<unsigned, passing::release>();
  test_messages<unsigned long long, passing::release>();
}

TEST(platform, fences_order_relaxed_words) {
  test_messages<unsigned, passing::fences>();
  test_messages<unsigned long long, passing::fences>();
}

// Thread t of block 0 writes tagged word t. Thread t of block 1 waits until the word has its epoch.
STRATA_KERNEL void pass_tagged_words(platform::tagged_word* words, unsigned long long* received) {
  platform::tagged_word* const mine = words + threadIdx.x;
  if (blockIdx.x == 0) {
    platform::store_tagged_word(mine, {threadIdx.x * 0x0123456789abcdefull, threadIdx.x + 1ull});
    return;
  }
  for (;;) {
    const platform::tagged_word seen = platform::load_tagged_word(mine);
    if (seen.epoch == threadIdx.x + 1ull) {
      received[threadIdx.x] = seen.value;
      break;
    }
    STRATA_SPIN();
  }
}

TEST(platform, whoever_finds_the_epoch_of_a_tagged_word_has_its_value) {
  constexpr unsigned threads = 128;
  under_many_schedules([] {
    device_vector<platform::tagged_word> words{std::vector<platform::tagged_word>(threads)};
    device_vector<unsigned long long> received(threads);
    ASSERT_CUDA_SUCCESS(
        strata::launch({"pass_tagged_words", 2, threads}, pass_tagged_words, words.data(), received.data()));
    const std::vector<unsigned long long> results = received.to_host();
    for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(results[i], i * 0x0123456789abcdefull);
  });
}

// Each thread of two blocks stores its word, then reads that of its partner in the other block.
STRATA_KERNEL void store_then_look(unsigned* words, unsigned* seen) {
  const unsigned mine = 2 * threadIdx.x + blockIdx.x;
  platform::store_relaxed(&words[mine], 1u);
  platform::fence_sc();
  seen[mine] = platform::load_relaxed(&words[mine ^ 1]);
}

TEST(platform, of_two_that_store_fence_and_look_one_sees_the_other) {
  constexpr unsigned pairs = 256;
  under_many_schedules([] {
    device_vector<unsigned> words(std::vector<unsigned>(2 * pairs, 0)), seen(2 * pairs);
    ASSERT_CUDA_SUCCESS(strata::launch({"store_then_look", 2, pairs}, store_then_look, words.data(), seen.data()));
    const std::vector<unsigned> results = seen.to_host();
    for (std::size_t i = 0; i < pairs; ++i) ASSERT_GE(results[2 * i] + results[2 * i + 1], 1u);
  });
}

// ---------------------------------------------------------------------------- wide loads
STRATA_KERNEL void copy_by_wide_loads(const uint4* in, uint4* out, float fraction) {
  const platform::l2_policy policy = platform::evict_first(fraction);
  out[2 * threadIdx.x] = platform::load_streaming(&in[2 * threadIdx.x], policy);
  out[2 * threadIdx.x + 1] = platform::load_cached(&in[2 * threadIdx.x + 1], policy);
}

TEST(platform, wide_loads_load_whatever_the_policy) {
  for (float fraction : {0.25f, 1.0f}) {
    std::vector<uint4> items(128);
    unsigned number = 0;
    for (uint4& item : items) {
      item = make_uint4(number, number + 1, number + 2, number + 3);
      number += 4;
    }
    const device_vector<uint4> in(items);
    device_vector<uint4> out(items.size());
    ASSERT_CUDA_SUCCESS(
        strata::launch({"copy_by_wide_loads", 1, 64}, copy_by_wide_loads, in.data(), out.data(), fraction));
    const std::vector<uint4> results = out.to_host();
    for (std::size_t i = 0; i < items.size(); ++i) EXPECT_TRUE(same_bits(results[i], items[i]));
  }
}

}  // namespace

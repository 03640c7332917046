// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins of few rows, by all plans and kinds, under several schedules. They run fast, and notice every break.
#pragma once

#include "metal/double/metal_double.hpp"
#include "metal/metal_plain_join.hpp"

namespace metal_test {

// A 64-bit key whose hash (hash_key of radix.metal.inl) has the lower half `low`. Each `high` gives another key.
inline std::uint64_t key_with_hash(std::uint32_t high, std::uint32_t low) {
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  std::uint64_t k = std::uint64_t{high} << 32 | low;
  k ^= k >> 33;
  k *= inverse(0xc4ceb9fe1a85ec53u);
  k ^= k >> 33;
  k *= inverse(0xff51afd7ed558ccdu);
  return k ^ (k >> 33);
}

template <class Key>
bool one_join_is_right(JoinKind kind, JoinStrategy strategy, const MetalJoinTuning& tuning,
                       const std::vector<Key>& build, const std::vector<Key>& probe) {
  MetalJoinOptions how;
  how.strategy = strategy;
  how.metal = tuning;
  const row_pairs expected = plain_join(kind, build, probe);
  const auto total = static_cast<std::int64_t>(expected.size());
  for (const std::int64_t capacity : {total + 3, total / 2}) {
    const join_result got = call_plain_join<Key, std::int32_t>(kind, build, probe, capacity, how);
    if (got.status != MetalJoinStatus::success || got.total != total || !got.kept_bounds ||
        got.pairs.size() != static_cast<std::size_t>(std::min(capacity, total)) ||
        !std::includes(expected.begin(), expected.end(), got.pairs.begin(), got.pairs.end())) {
      std::fprintf(stderr, "wrong: kind %d, plan %d, capacity %lld of %lld: total %lld, status %d\n",
                   static_cast<int>(kind), static_cast<int>(strategy), static_cast<long long>(capacity),
                   static_cast<long long>(total), static_cast<long long>(got.total), static_cast<int>(got.status));
      return false;
    }
  }
  return true;
}

// A block of 32 probe rows leaves 31 matches in the circular buffer. Those of the next block fill it twice.
inline bool rings_are_right(JoinStrategy strategy) {
  MetalJoinTuning tuning;
  tuning.threads = 32;
  tuning.pass_bits = 1;
  const std::vector<std::uint32_t> build{1, 2, 2, 2};
  std::vector<std::uint32_t> probe(64, 1);
  probe[31] = 99;
  std::fill(probe.begin() + 32, probe.end(), 2u);
  if (strategy != JoinStrategy::simple) std::fill(probe.begin(), probe.begin() + 31, 2u);
  return one_join_is_right(JoinKind::left, strategy, tuning, build, probe);
}

// For a race checker, which takes long. These joins need every barrier.
inline bool few_joins_are_right() {
  std::mt19937 random(1);
  std::vector<std::uint32_t> build(100);
  std::vector<std::uint32_t> probe(150);
  for (auto& key : build) key = static_cast<std::uint32_t>(random() % 60);
  for (auto& key : probe) key = static_cast<std::uint32_t>(random() % 60);
  MetalJoinTuning tuning;
  tuning.threads = 64;
  tuning.pass_bits = 1;
  metal_double::options().seed = 5;
  metal_double::options().preempt = 3;
  return one_join_is_right(JoinKind::left, JoinStrategy::radix_single, tuning, build, probe) &&
         one_join_is_right(JoinKind::left, JoinStrategy::simple, tuning, build, probe) &&
         rings_are_right(JoinStrategy::radix_single) && rings_are_right(JoinStrategy::simple) &&
         pass_is_stable<std::uint32_t>(600);
}

inline bool small_joins_are_right() {
  std::mt19937 random(1);
  std::vector<std::uint32_t> build(130);
  std::vector<std::uint32_t> probe(211);
  for (auto& key : build) key = static_cast<std::uint32_t>(random() % 150);
  for (auto& key : probe) key = static_cast<std::uint32_t>(random() % 150);
  for (std::size_t i = 0; i < 20; ++i) build[i * 3] = probe[i * 5] = 7;
  // Keys with equal hashes, and with hashes that differ in few bits.
  std::vector<std::uint64_t> wide_build;
  std::vector<std::uint64_t> wide_probe;
  for (std::uint32_t i = 0; i < 60; ++i) {
    wide_build.push_back(key_with_hash(i % 4, 0x12345678u + (i % 3 << 24)));
    wide_probe.push_back(key_with_hash(i % 5, 0x12345678u + (i % 3 << 24)));
    wide_probe.push_back(key_with_hash(1, 0x12345678u + (i << 12)));
  }
  // Keys that differ only in their upper half.
  for (std::uint64_t i = 0; i < 40; ++i) {
    wide_build.push_back(i << 32 | 5);
    wide_probe.push_back((i + 20) << 32 | 5);
  }
  MetalJoinTuning tuning;
  tuning.threads = 64;
  tuning.table_rows = 32;
  tuning.probe_rows = 75;
  tuning.bucket_rows = 4;
  tuning.pass_bits = 2;
  tuning.tasks = 40;
  tuning.dispatch_pairs = 4000;
  tuning.dispatches = 2;
  // One full tile of 4,096 rows, and one of 37 rows.
  std::vector<std::uint32_t> tile(4096 + 37);
  for (auto& key : tile) key = static_cast<std::uint32_t>(random());
  const std::vector<std::uint32_t> few{tile[5], tile[4095], tile[4100], 9u};
  for (const auto& [seed, preempt] : {std::pair{0u, 0u}, std::pair{5u, 3u}}) {
    metal_double::options().seed = seed;
    metal_double::options().preempt = preempt;
    for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::semi, JoinKind::anti}) {
        if (!one_join_is_right(kind, strategy, tuning, build, probe) ||
            !one_join_is_right(kind, strategy, tuning, wide_build, wide_probe)) {
          return false;
        }
      }
    }
    MetalJoinTuning full;
    full.threads = 64;
    full.pass_bits = 3;
    const std::vector<std::uint32_t> one{9};
    if (!one_join_is_right(JoinKind::anti, JoinStrategy::radix_single, full, few, tile) ||
        !one_join_is_right(JoinKind::inner, JoinStrategy::radix_single, full, one, one) ||
        !one_join_is_right(JoinKind::inner, JoinStrategy::simple, full, one, one) ||
        !rings_are_right(JoinStrategy::radix_single) || !rings_are_right(JoinStrategy::simple) ||
        !pass_is_stable<std::uint32_t>(5000) || !pass_is_stable<std::uint64_t>(2500)) {
      return false;
    }
  }
  context_list::of_process().clear();
  return metal_double::live_objects() == 0;
}

}  // namespace metal_test

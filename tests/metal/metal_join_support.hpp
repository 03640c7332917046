// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/device/hash_join/metal/metal_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "device/host_join_support.hpp"

namespace metal_test {

using host_join_test::nested_loop_join;
using host_join_test::row_pairs;
using host_join_test::side_ids;
using host_join_test::sort_merge_join;
using strata::JoinKind;
using strata::JoinStrategy;
using strata::MetalJoinOptions;
using strata::MetalJoinStatus;
using strata::MetalJoinTuning;
using strata::detail::metal::context_list;

constexpr JoinKind gpu_kinds[] = {JoinKind::inner, JoinKind::left, JoinKind::semi, JoinKind::anti};
constexpr JoinStrategy gpu_strategies[] = {JoinStrategy::simple, JoinStrategy::radix_single,
                                           JoinStrategy::radix_multi};

// Sizes at which a few rows make several tasks, slices, dispatches and command buffers.
inline MetalJoinTuning tiny_tuning() {
  MetalJoinTuning t;
  t.threads = 64;
  t.table_rows = 48;
  t.probe_rows = 100;
  t.bucket_rows = 7;
  t.pass_bits = 2;
  t.tasks = 5;
  t.dispatch_pairs = 9000;
  t.dispatches = 2;
  return t;
}

// The name of the device, so that a log of the double is not mistaken for one of a GPU.
inline std::string device_name() {
  const strata::detail::metal::objc::autorelease_pool pool;
  auto* const gpu = context_list::of_process().find(nullptr);
  return gpu == nullptr ? "none" : gpu->name();
}

inline side_ids random_side(std::size_t rows, std::uint32_t range, std::uint32_t seed) {
  std::mt19937 random(seed);
  side_ids side;
  side.ids.resize(rows);
  for (auto& id : side.ids) id = static_cast<std::uint32_t>(random() % range);
  return side;
}
inline side_ids constant_side(std::size_t rows, std::uint32_t id) {
  side_ids side;
  side.ids.assign(rows, id);
  return side;
}

// 64-bit keys differ in their upper half, and some in nothing else.
template <class Key>
Key key_of(std::uint32_t id) {
  if constexpr (sizeof(Key) == 8) {
    return static_cast<Key>(static_cast<std::uint64_t>(id) << 32 | (id % 3 == 0 ? 5u : id * 7));
  } else {
    return static_cast<Key>(id);
  }
}

// Memory that begins on a page, or deliberately does not, with a guard behind it.
template <class T>
class array {
 public:
  array(std::size_t count, bool aligned)
      : count_(count), bytes_((count * sizeof(T) + 2 * page - 1) / page * page + page) {
    all_.reset(static_cast<unsigned char*>(std::aligned_alloc(page, bytes_)));
    first_ = all_.get() + (aligned ? 0 : sizeof(T) * 4);
    std::memset(all_.get(), guard, bytes_);
  }
  T* data() { return reinterpret_cast<T*>(first_); }
  T& operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return count_; }
  bool is_untouched_from(std::size_t count) const {
    return std::all_of(all_.get(), first_, is_guard) &&
           std::all_of(first_ + count * sizeof(T), all_.get() + bytes_, is_guard);
  }

 private:
  static constexpr std::size_t page = 16384;
  static constexpr unsigned char guard = 0x77;
  static bool is_guard(unsigned char byte) { return byte == guard; }
  struct free_memory {
    void operator()(unsigned char* p) const { std::free(p); }
  };

  std::size_t count_;
  std::size_t bytes_;
  std::unique_ptr<unsigned char, free_memory> all_;
  unsigned char* first_;
};

struct join_result {
  MetalJoinStatus status = MetalJoinStatus::success;
  std::int64_t total = -1;
  row_pairs pairs;
  bool kept_bounds = true;
};

// One call with storage of exactly the size that was asked for.
template <class Key, class Index>
join_result call_join(JoinKind kind, const side_ids& build, const side_ids& probe,
                      std::int64_t capacity, const MetalJoinOptions& options, bool aligned = true,
                      void* queue = nullptr) {
  array<Key> build_keys(build.ids.size(), aligned);
  array<Key> probe_keys(probe.ids.size(), aligned);
  for (std::size_t i = 0; i < build.ids.size(); ++i) build_keys[i] = key_of<Key>(build.ids[i]);
  for (std::size_t i = 0; i < probe.ids.size(); ++i) probe_keys[i] = key_of<Key>(probe.ids[i]);
  const auto room = static_cast<std::size_t>(capacity);
  array<Index> build_out(room, aligned);
  array<Index> probe_out(room, aligned);
  join_result result;
  std::size_t bytes = 0;
  const auto call = [&](void* storage) {
    return strata::detail::metal_join_pairs(
        storage, bytes, kind, build_keys.data(), static_cast<std::int64_t>(build.ids.size()),
        probe_keys.data(), static_cast<std::int64_t>(probe.ids.size()), build_out.data(),
        probe_out.data(), &result.total, capacity, options, strata::JoinHash{},
        strata::detail::host_equality{}, queue);
  };
  result.status = call(nullptr);
  if (result.status != MetalJoinStatus::success) return result;
  array<unsigned char> storage(bytes, aligned);
  result.status = call(storage.data());
  result.kept_bounds = storage.is_untouched_from(bytes);
  if (result.status != MetalJoinStatus::success) return result;
  const auto written = static_cast<std::size_t>(std::min(capacity, result.total));
  result.kept_bounds = result.kept_bounds && build_out.is_untouched_from(written) &&
                       probe_out.is_untouched_from(written);
  const auto widened = [](Index row) {
    return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row);
  };
  for (std::size_t i = 0; i < written; ++i) {
    result.pairs.emplace_back(widened(build_out[i]), widened(probe_out[i]));
  }
  std::sort(result.pairs.begin(), result.pairs.end());
  return result;
}

// Compares with what a sort-merge join gives, with room for all and for some.
template <class Key, class Index = std::int32_t>
void check_join(JoinKind kind, const side_ids& build, const side_ids& probe,
                const MetalJoinOptions& options, bool aligned = true) {
  row_pairs expected = sort_merge_join(kind, build, probe);
  std::sort(expected.begin(), expected.end());
  const auto total = static_cast<std::int64_t>(expected.size());
  for (const std::int64_t capacity : {total, total / 3}) {
    const join_result got = call_join<Key, Index>(kind, build, probe, capacity, options, aligned);
    ASSERT_EQ(got.status, MetalJoinStatus::success) << strata::detail::metal_join_error_text();
    EXPECT_EQ(got.total, total);
    EXPECT_TRUE(got.kept_bounds) << "written outside";
    if (capacity == total) {
      EXPECT_TRUE(got.pairs == expected) << got.pairs.size() << " rows, " << total << " expected";
    } else {
      EXPECT_TRUE(
          std::includes(expected.begin(), expected.end(), got.pairs.begin(), got.pairs.end()))
          << "a row that is none of the result, or one twice";
    }
  }
}

}  // namespace metal_test

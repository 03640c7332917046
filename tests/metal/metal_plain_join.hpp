// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins by Metal without a test framework around them.
#pragma once

#include <strata/device/join/metal/metal_join.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace metal_test {

using strata::JoinKind;
using strata::JoinStrategy;
using strata::MetalJoinOptions;
using strata::MetalJoinStatus;
using strata::MetalJoinTuning;
using strata::detail::metal::context_list;
using strata::detail::metal::page_bytes;
// Pairs of a build row and a probe row, or -1 if there is none.
using row_pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr JoinKind gpu_kinds[] = {JoinKind::inner, JoinKind::left, JoinKind::semi, JoinKind::anti};
constexpr JoinStrategy gpu_strategies[] = {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi};

// The name of the device, so that a log of the double is not mistaken for one of a GPU.
inline std::string device_name() {
  const strata::detail::metal::objc::autorelease_pool pool;
  auto* const gpu = context_list::of_process().find(nullptr);
  return gpu == nullptr ? "none" : gpu->name();
}

// Memory that begins at a page boundary, or deliberately does not. A guard follows it.
template <class T>
class array {
 public:
  array(std::size_t count, bool aligned)
      : count_(count), bytes_((count * sizeof(T) + 2 * page_bytes() - 1) / page_bytes() * page_bytes() + page_bytes()) {
    all_.reset(static_cast<unsigned char*>(std::aligned_alloc(page_bytes(), bytes_)));
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

// Makes one call, with storage of exactly the size that was asked for.
template <class Key, class Index>
join_result call_plain_join(JoinKind kind, const std::vector<Key>& build, const std::vector<Key>& probe,
                            std::int64_t capacity, const MetalJoinOptions& options, bool aligned = true,
                            void* queue = nullptr) {
  array<Key> build_keys(build.size(), aligned);
  array<Key> probe_keys(probe.size(), aligned);
  std::copy(build.begin(), build.end(), build_keys.data());
  std::copy(probe.begin(), probe.end(), probe_keys.data());
  const auto room = static_cast<std::size_t>(capacity);
  array<Index> build_out(room, aligned);
  array<Index> probe_out(room, aligned);
  join_result result;
  std::size_t bytes = 0;
  const auto call = [&](void* storage) {
    return strata::detail::metal_join_pairs(
        storage, bytes, kind, build_keys.data(), static_cast<std::int64_t>(build.size()), probe_keys.data(),
        static_cast<std::int64_t>(probe.size()), build_out.data(), probe_out.data(), &result.total, capacity, options,
        strata::JoinHash{}, strata::detail::host_equality{}, queue);
  };
  result.status = call(nullptr);
  if (result.status != MetalJoinStatus::success) return result;
  array<unsigned char> storage(bytes, aligned);
  result.status = call(storage.data());
  result.kept_bounds = storage.is_untouched_from(bytes);
  if (result.status != MetalJoinStatus::success) return result;
  const auto written = static_cast<std::size_t>(std::min(capacity, result.total));
  result.kept_bounds =
      result.kept_bounds && build_out.is_untouched_from(written) && probe_out.is_untouched_from(written);
  const auto widened = [](Index row) { return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row); };
  for (std::size_t i = 0; i < written; ++i) {
    result.pairs.emplace_back(widened(build_out[i]), widened(probe_out[i]));
  }
  std::sort(result.pairs.begin(), result.pairs.end());
  return result;
}

// The expected result of a join, in the order of pairs.
template <class Key>
row_pairs plain_join(JoinKind kind, const std::vector<Key>& build, const std::vector<Key>& probe) {
  std::map<Key, std::vector<std::int64_t>> rows;
  for (std::size_t b = 0; b < build.size(); ++b) {
    rows[build[b]].push_back(static_cast<std::int64_t>(b));
  }
  row_pairs all;
  for (std::size_t i = 0; i < probe.size(); ++i) {
    const auto p = static_cast<std::int64_t>(i);
    const auto found = rows.find(probe[i]);
    if (found == rows.end()) {
      if (kind == JoinKind::left || kind == JoinKind::anti) all.emplace_back(-1, p);
    } else if (kind == JoinKind::semi) {
      all.emplace_back(-1, p);
    } else if (kind != JoinKind::anti) {
      for (const std::int64_t b : found->second) all.emplace_back(b, p);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The hash functions of the shader.
inline std::uint32_t hash_of(std::uint32_t k) {
  k = (k ^ k >> 16) * 0x85ebca6bu;
  k = (k ^ k >> 13) * 0xc2b2ae35u;
  return k ^ k >> 16;
}
inline std::uint32_t hash_of(std::uint64_t k) {
  k = (k ^ k >> 33) * 0xff51afd7ed558ccdu;
  k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53u;
  return static_cast<std::uint32_t>(k ^ k >> 33);
}

// True if two radix passes are stable, and place rows where their offsets say.
template <class Key>
bool pass_is_stable(std::size_t rows) {
  using namespace strata::detail::metal;
  const objc::autorelease_pool pool;
  context* const gpu = context_list::of_process().find(nullptr);
  objc::id queue = nullptr;
  if (gpu == nullptr || gpu->queue(queue) != MetalJoinStatus::success) return false;
  constexpr unsigned bits[2] = {8, 2};
  std::vector<Key> keys(rows);
  std::mt19937 random(7);
  for (Key& key : keys) key = static_cast<Key>(random() % 1000);
  mapped parts[7];
  const std::size_t sizes[7] = {rows * sizeof(Key), rows * sizeof(Key), rows * sizeof(Key),       rows * 4,
                                rows * 4,           (rows + 300) * 8,   (rows / 100 + 300) * 1024};
  for (int i = 0; i < 7; ++i) {
    if (parts[i].map(*gpu, nullptr, sizes[i], access::scratch) != MetalJoinStatus::success) {
      return false;
    }
  }
  std::memcpy(parts[0].base(), keys.data(), sizes[0]);
  std::vector<std::uint32_t> begins(1100);
  std::vector<std::uint32_t> next_begins(1100);
  begins[1] = static_cast<std::uint32_t>(rows);
  radix_side side;
  side.rows = rows;
  side.begins = begins.data();
  side.next_begins = next_begins.data();
  side.keys = parts[0].begin();
  for (int i = 0; i < 2; ++i) {
    side.free_keys[i] = parts[1 + i].begin();
    side.free_numbers[i] = parts[3 + i].begin();
  }
  const radix_workspace workspace{static_cast<radix_tile*>(parts[5].base()),
                                  static_cast<std::uint32_t*>(parts[6].base()), parts[5].begin(), parts[6].begin()};
  if (radix_pass(*gpu, queue, sizeof(Key), 24, bits[0], workspace, side) != MetalJoinStatus::success ||
      radix_pass(*gpu, queue, sizeof(Key), 22, bits[1], workspace, side) != MetalJoinStatus::success) {
    return false;
  }
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&keys](std::uint32_t a, std::uint32_t b) {
    return hash_of(keys[a]) >> 22 < hash_of(keys[b]) >> 22;
  });
  const auto* const got_keys = static_cast<const Key*>(parts[2].base());
  const auto* const got_rows = static_cast<const std::uint32_t*>(parts[4].base());
  for (std::size_t i = 0; i < rows; ++i) {
    if (got_rows[i] != order[i] || got_keys[i] != keys[order[i]]) return false;
    const std::uint32_t digit = hash_of(got_keys[i]) >> 22;
    if (i < side.begins[digit] || i >= side.begins[digit + 1]) return false;
  }
  return side.partitions == 1024 && side.begins[1024] == rows;
}

}  // namespace metal_test

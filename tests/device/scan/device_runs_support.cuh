// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceReduce::ReduceByKey and DeviceRunLengthEncode: runs of all shapes, keys with these runs,
// and outputs that check what was written.
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>
#include <strata/device/scan/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/scan/device_scan_tuned.cuh"
#include "support/test_types.cuh"

namespace device_test {

// ------------------------------------------------------------------ shapes

/// Where runs begin among `items` items.
struct run_shape {
  std::string name;
  std::size_t items;
  std::vector<std::size_t> begins;

  std::size_t runs() const { return begins.size(); }
  std::size_t end(std::size_t run) const { return run + 1 < runs() ? begins[run + 1] : items; }

  friend std::ostream& operator<<(std::ostream& os, const run_shape& shape) {
    return os << shape.items << " items, " << shape.name;
  }
};

/// Makes runs: `length(begin)` is the length of the run that begins at `begin`.
template <class Length>
run_shape runs_of(std::string name, std::size_t items, const Length& length) {
  run_shape shape{std::move(name), items, {}};
  for (std::size_t begin = 0; begin < items; begin += length(begin)) shape.begins.push_back(begin);
  return shape;
}

/// Runs of 1 to 2 * `mean` - 1 items.
inline run_shape random_runs(std::size_t items, std::size_t mean) {
  std::mt19937_64 bits = strata_test::random_bits(items + mean);
  return runs_of("runs of about " + std::to_string(mean), items,
                 [&](std::size_t) { return 1 + bits() % (2 * mean - 1); });
}

/// How many items one thread, one warp and one tile have.
struct tile_parts {
  std::size_t thread, warp, tile;
};

inline std::vector<run_shape> run_shapes(std::size_t items, const tile_parts& parts) {
  std::vector<run_shape> shapes;
  for (const std::size_t mean : {1u, 3u, 16u, 700u}) shapes.push_back(random_runs(items, mean));
  shapes.push_back(runs_of("one run", items, [&](std::size_t) { return items; }));
  for (const std::size_t part : {parts.thread, parts.warp, parts.tile}) {
    const std::string of = std::to_string(part);
    shapes.push_back(runs_of("runs of " + of, items, [&](std::size_t) { return part; }));
    shapes.push_back(runs_of("runs of " + of + ", the first one shorter", items,
                             [&](std::size_t begin) { return begin == 0 && part > 1 ? part - 1 : part; }));
  }
  std::mt19937_64 bits = strata_test::random_bits(items);
  const std::size_t third = items / 3;
  shapes.push_back(runs_of("a huge run between short ones", items, [&](std::size_t begin) {
    return begin >= third && begin < third + 5 ? third + 5 : 1 + bits() % 5;
  }));
  shapes.push_back(runs_of("short runs between huge ones", items, [&](std::size_t begin) {
    return begin == 0 || begin > items / 2 ? items / 2 + 1 : 1 + bits() % 5;
  }));
  return shapes;
}

/// Sizes that the library's policy gives a `Problem`: tiles of long inputs and their parts, and the largest short
/// input.
template <class Problem>
struct parts_of {
  using Run = typename Problem::Accum;
  using Policy = typename strata::columns_policy_hub<Run, Run>::Policy900;
  static constexpr bool has_pipeline = Problem::template has_pipeline<false>;

  static constexpr std::size_t small_tile =
      static_cast<std::size_t>(Policy::small_tile.block_threads) * Policy::small_tile.items_per_thread;

  static tile_parts get() {
    if constexpr (has_pipeline) {
      using Stage = typename Problem::template steps<Policy, false>::Stage;
      constexpr auto thread = static_cast<std::size_t>(Stage::thread_items);
      return {thread, 32 * thread, Stage::tile_items};
    } else {
      constexpr auto thread = static_cast<std::size_t>(Policy::large_tile.items_per_thread);
      return {thread, 32 * thread, thread * Policy::large_tile.block_threads};
    }
  }
  static std::size_t most_of_short() {
    strata::detail::device_properties device;
    EXPECT_CUDA_SUCCESS(strata::detail::current_device_properties(device));
    return small_tile * static_cast<std::size_t>(device.multiprocessors);
  }
  /// Long enough for several tiles.
  static std::size_t long_size() { return most_of_short() + 2 * get().tile + 5; }

  static std::vector<std::size_t> sizes() {
    std::vector<std::size_t> all = {1, 2, 31, 33, small_tile - 1, small_tile, small_tile + 1};
    const std::size_t tile = get().tile;
    const std::size_t most = most_of_short();
    const std::size_t tiles = (most / tile + 1) * tile;
    for (const std::size_t size : {most, most + 1, tiles - 1, tiles, tiles + 1, std::size_t{10000}}) {
      all.push_back(size);
    }
    if (!is_small()) {
      all.push_back(300001);
      // Enough tiles for several in each block. Of the problems with a pipeline, only those with keys of 4 bytes get
      // them.
      if (!has_pipeline || sizeof(typename Problem::Key) == 4) {
        all.push_back(has_pipeline ? 3000017 : 1100003);
      }
    }
    return all;
  }
};

/// Calls `call(shape, number)` for some shapes of each size, for fewer shapes if the size is large. A shape of a large
/// size has a huge run.
template <class Problem, class Call>
void for_all_shapes(const Call& call) {
  const tile_parts parts = parts_of<Problem>::get();
  std::size_t number = 0;
  std::size_t turn = 0;
  for (const std::size_t size : parts_of<Problem>::sizes()) {
    const std::vector<run_shape> shapes = run_shapes(size, parts);
    const bool is_long = size > 200000;
    const std::size_t all = shapes.size();
    const std::size_t most = size > 1000000 ? 1 : is_long ? 3 : if_small<std::size_t>(4, all);
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t which = is_long ? all - 1 - 5 * i : turn++ * 5 % all;
      SCOPED_TRACE(testing::Message() << shapes[which]);
      call(shapes[which], number++);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// ------------------------------------------------------------------ keys

/// The key of run `run`. The keys of neighbouring runs differ, in different bits.
template <class Key>
struct key_of {
  static Key make(std::size_t run) { return static_cast<Key>(std::uint64_t{run} * 0x9e3779b97f4a7c15ull); }
};
template <std::size_t Count, class Word>
struct key_of<strata_test::words<Count, Word>> {
  static strata_test::words<Count, Word> make(std::size_t run) {
    strata_test::words<Count, Word> key{};
    key.word[0] = static_cast<Word>(run / 2);
    key.word[Count - 1] = static_cast<Word>(run % 2);
    return key;
  }
};

template <class Key>
std::vector<Key> keys_of(const run_shape& shape) {
  std::vector<Key> keys;
  keys.reserve(shape.items);
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    keys.resize(shape.end(run), key_of<Key>::make(run));
  }
  return keys;
}

STRATA_HD void count_violation(unsigned* violations) {
#if STRATA_HOST_SIMT || STRATA_DEVICE_PASS
  atomicAdd(violations, 1u);
#else
  static_cast<void>(violations);
#endif
}

/// A key that counts its comparisons with anything that is no key.
struct watched_key {
  static constexpr std::uint32_t of_a_key = 0x5eed5eedu;
  static constexpr std::uint32_t of_none = 0xbadbad00u;  // around the keys in memory; registers may hold anything
  std::uint32_t mark;
  std::uint32_t id;
  unsigned* violations;

  STRATA_HD friend bool operator==(const watched_key& a, const watched_key& b) {
    if (a.mark != of_a_key || b.mark != of_a_key) {
      count_violation(a.mark == of_a_key || a.mark == of_none ? a.violations : b.violations);
    }
    return a.id == b.id;
  }
  friend std::ostream& operator<<(std::ostream& os, const watched_key& key) { return os << key.id; }
};

/// Returns the keys of a shape, with `lead` items that are no keys before and behind them.
inline std::vector<watched_key> watched_keys(const run_shape& shape, std::size_t lead, unsigned* violations) {
  std::vector<watched_key> keys(lead + shape.items + lead, {watched_key::of_none, 0, violations});
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    for (std::size_t i = shape.begins[run]; i < shape.end(run); ++i) {
      keys[lead + i].mark = watched_key::of_a_key;
      keys[lead + i].id = static_cast<std::uint32_t>(run);
    }
  }
  return keys;
}

// ------------------------------------------------------------------ what is expected

/// Returns the first item of each run.
template <class T>
std::vector<T> first_of_runs(const run_shape& shape, const std::vector<T>& items) {
  std::vector<T> firsts;
  firsts.reserve(shape.runs());
  for (const std::size_t begin : shape.begins) firsts.push_back(items[begin]);
  return firsts;
}

template <class Accum, class Value, class Op>
std::vector<Accum> reduced_runs(const run_shape& shape, const std::vector<Value>& values, Op op) {
  std::vector<Accum> sums;
  sums.reserve(shape.runs());
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    auto sum = static_cast<Accum>(values[shape.begins[run]]);
    for (std::size_t i = shape.begins[run] + 1; i < shape.end(run); ++i) {
      sum = static_cast<Accum>(op(sum, static_cast<Accum>(values[i])));
    }
    sums.push_back(sum);
  }
  return sums;
}

template <class Length>
std::vector<Length> lengths_of_runs(const run_shape& shape) {
  std::vector<Length> lengths;
  lengths.reserve(shape.runs());
  for (std::size_t run = 0; run < shape.runs(); ++run) {
    lengths.push_back(static_cast<Length>(shape.end(run) - shape.begins[run]));
  }
  return lengths;
}

// ------------------------------------------------------------------ arrays

/// An array that starts `shift` times its alignment above a multiple of 256 bytes.
template <class T>
class shifted_array {
 public:
  explicit shifted_array(std::size_t size, std::size_t shift = 0)
      : size_(size), memory_(size * sizeof(T), shift * alignof(T)) {}
  explicit shifted_array(const std::vector<T>& items, std::size_t shift = 0) : shifted_array(items.size(), shift) {
    memory_.write(items.data());
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  void assign(const std::vector<T>& items) const {
    ASSERT_EQ(size_, items.size());
    memory_.write(items.data());
  }
  void poison() const { memory_.fill(strata_test::guarded_memory::poison); }
  std::vector<T> to_host() const {
    std::vector<T> items(size_);
    memory_.read(items.data());
    return items;
  }

 private:
  std::size_t size_;
  strata_test::guarded_memory memory_;
};

/// Poisoned outputs, with room for as many runs as there are items.
template <class Key, class Aggregate, class NumRuns = int>
class run_outputs {
 public:
  explicit run_outputs(std::size_t items, std::size_t shift = 0)
      : items_(items), unique_(items, shift), aggregates_(items, shift / 2), num_runs_(1, shift) {}

  Key* unique() const { return unique_.data(); }
  Aggregate* aggregates() const { return aggregates_.data(); }
  NumRuns* num_runs() const { return num_runs_.data(); }

  void poison() const {
    unique_.poison();
    aggregates_.poison();
    num_runs_.poison();
  }

  /// The number of runs that was written. keys() and sums() check that nothing is written behind so many runs.
  std::size_t number() const {
    const auto runs = static_cast<std::size_t>(num_runs_.to_host()[0]);
    return runs <= items_ ? runs : 0;
  }
  std::vector<Key> keys() const { return written(unique_.to_host()); }
  std::vector<Aggregate> sums() const { return written(aggregates_.to_host()); }

  void expect(const std::vector<Key>& keys_of_runs, const std::vector<Aggregate>& sums_of_runs) const {
    ASSERT_EQ(static_cast<NumRuns>(keys_of_runs.size()), num_runs_.to_host()[0]);
    ASSERT_SAME_ITEMS(keys_of_runs, keys());
    ASSERT_SAME_ITEMS(sums_of_runs, sums());
  }
  void expect_untouched() const {
    EXPECT_TRUE(strata_test::is_poison(num_runs_.to_host()[0]));
    expect_poison(unique_.to_host(), 0);
    expect_poison(aggregates_.to_host(), 0);
  }

 private:
  template <class T>
  static void expect_poison(const std::vector<T>& items, std::size_t from) {
    for (std::size_t i = from; i < items.size(); ++i) {
      ASSERT_TRUE(strata_test::is_poison(items[i])) << i << " was written, behind the runs";
    }
  }
  template <class T>
  std::vector<T> written(std::vector<T> items) const {
    expect_poison(items, number());
    items.resize(number());
    return items;
  }

  std::size_t items_;
  shifted_array<Key> unique_;
  shifted_array<Aggregate> aggregates_;
  shifted_array<NumRuns> num_runs_;
};

// ------------------------------------------------------------------ pipelines

using in_blocks::short_columns;

/// Calls `call(shape, run)` for shapes of all kinds and several numbers of blocks. `call` must call `run(problem)`
/// once, which runs the pipeline, and must check what was written.
template <class Policy, bool UsesBulkCopies, class Problem, class Call>
void for_pipelines_of_any_number_of_blocks(const Call& call) {
  using Stage = typename Problem::template steps<Policy, UsesBulkCopies>::Stage;
  constexpr std::size_t tile = Stage::tile_items;
  constexpr auto thread = static_cast<std::size_t>(Stage::thread_items);
  for (const unsigned blocks : {1u, 3u, 8u}) {
    for (const std::size_t size : {std::size_t{1}, tile - 1, tile, 3 * tile, 8 * tile + 5, 35 * tile + tile / 2 + 1}) {
      if (blocks > (size + tile - 1) / tile) continue;
      std::size_t number = blocks + size;
      for (const run_shape& shape : run_shapes(size, {thread, 32 * thread, tile})) {
        if (is_small() && number++ % 3 != 0) continue;
        SCOPED_TRACE(testing::Message() << shape << ", in " << blocks << " blocks, " << tile << " items in a tile");
        const scratch storage(in_blocks::storage_bytes<typename Problem::Accum>(blocks));
        call(shape, [&](const Problem& problem) {
          return in_blocks::run_pipeline<Policy, UsesBulkCopies>(blocks, storage, problem, shape.items);
        });
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace device_test

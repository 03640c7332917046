// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pipeline of DeviceSelect with small tiles, in 1, 3 and 8 blocks, which run in any order.
#include <strata/device/device_select.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_tuned.cuh"
#include "device/scan/device_select_support.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_select_pipeline_test {

using namespace device_test;
using strata::NullType;
using strata::detail::select_by;
using strata::detail::select_problem;

using in_blocks::short_columns;

/// Runs a problem in the given number of blocks, as a two-phase call.
template <class Policy, bool UsesBulkCopies, class Problem>
cudaError_t run(void* storage, std::size_t& bytes, unsigned blocks, bool is_in_place, const Problem& problem,
                std::size_t size) {
  using agent = strata::detail::scan_pipeline<Policy, Problem, UsesBulkCopies>;
  if (storage == nullptr) {
    bytes = in_blocks::storage_bytes<typename Problem::Accum>(blocks);
    return cudaSuccess;
  }
  const strata::detail::tiled_input input{size, (size + agent::tile_items - 1) / agent::tile_items, 0};
  const auto boundary = (reinterpret_cast<std::uintptr_t>(storage) + 255) / 256 * 256;
  const strata::detail::tile_aggregates_arguments exchange{reinterpret_cast<strata::platform::tagged_word*>(boundary),
                                                           strata::detail::next_epoch(), true, is_in_place};
  return strata::launch(in_blocks::configuration(blocks, agent::block_threads, agent::dynamic_shared_bytes),
                        strata::detail::scan_pipeline_kernel<Policy, Problem, UsesBulkCopies>, problem, input,
                        exchange);
}

/// Calls `expect(blocks, size)` for 1, 3 and 8 blocks, and inputs of up to several rounds.
template <class Expect>
void for_all_shapes(std::size_t tile, const Expect& expect) {
  for (const unsigned blocks : {1u, 3u, 8u}) {
    for (const std::size_t size : {std::size_t{1}, tile - 1, 3 * tile, 8 * tile + 5, 35 * tile + tile / 2 + 1}) {
      if (blocks > (size + tile - 1) / tile) continue;
      SCOPED_TRACE(testing::Message() << blocks << " blocks, " << size << " items in tiles of " << tile);
      ASSERT_NO_FATAL_FAILURE(expect(blocks, size));
    }
  }
}
/// Calls `expect(blocks, size, i)` for an input of several rounds under each schedule `i`.
template <class Expect>
void under_all_schedules_in_blocks(std::size_t tile, const Expect& expect) {
  under_all_schedules([&](std::size_t i) {
    constexpr unsigned numbers[] = {3, 8, 1, 8};
    const unsigned blocks = numbers[i % 4];
    const std::size_t size = if_small<std::size_t>(17, 26) * tile + 7 * i;
    SCOPED_TRACE(testing::Message() << blocks << " blocks, " << size << " items in tiles of " << tile
                                    << " under schedule " << i);
    expect(blocks, size, i);
  });
}

// ------------------------------------------------------------------ by the items

template <class Policy, bool UsesBulkCopies, class T>
struct by_items {
  using problem = select_problem<select_by::key, unsigned, const T*, NullType, T*, NullType, std::int64_t*, keeps_some>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, problem, UsesBulkCopies>::tile_items;

  static void expect(unsigned blocks, std::size_t size, unsigned density, bool is_in_place) {
    SCOPED_TRACE(testing::Message() << density << " of 1024 kept, in place: " << is_in_place);
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const keeps_some op{density};
    const std::vector<T> expected = only_kept(items, kept_by_items(items, op));
    // Only bulk copies need an input at a boundary.
    const std::size_t shift = UsesBulkCopies ? 0 : 1;
    if (is_in_place) {
      expect_selects_in_place(expected, items, shift, [&](T* data, std::int64_t* num, auto&&... storage) {
        return run<Policy, UsesBulkCopies>(storage..., blocks, true, problem{data, {}, data, {}, num, op}, size);
      });
    } else {
      const shifted_array<T> in(items, shift);
      expect_selects(expected, size, 1, [&](T* out, std::int64_t* num, auto&&... storage) {
        return run<Policy, UsesBulkCopies>(storage..., blocks, false, problem{in.data(), {}, out, {}, num, op}, size);
      });
    }
  }
  static void expect_all() {
    for_all_shapes(tile, [](unsigned blocks, std::size_t size) {
      for (const unsigned density : densities) {
        expect(blocks, size, density, false);
        expect(blocks, size, density, true);
      }
    });
    under_all_schedules_in_blocks(tile, [](unsigned blocks, std::size_t size, std::size_t i) {
      expect(blocks, size, densities[i / 2 % 4], true);
    });
  }
};

TEST(device_select_pipeline, items_in_bulk) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_items<short_columns<48, 4, 2>, true, float>::expect_all();
}
TEST(device_select_pipeline, items_one_by_one) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_items<short_columns<16, 3, 1>, false, std::uint64_t>::expect_all();
}
#if !STRATA_TEST_FEW_TYPES
// A thread has more than 32 flags.
TEST(device_select_pipeline, bytes_in_bulk) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_items<short_columns<48, 3, 2>, true, std::uint8_t>::expect_all();
}
#endif

// ------------------------------------------------------------------ by flags

/// Flags are read through `Flag`. If it is no pointer, only items are copied in bulk.
template <class Policy, bool UsesBulkCopies, class Flag, class T>
struct by_flags {
  using problem = select_problem<select_by::key, unsigned long long, Flag, const T*, NullType, T*, std::int64_t*,
                                 strata::detail::is_set>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, problem, UsesBulkCopies>::tile_items;

  template <class MakeFlags>
  static void expect(unsigned blocks, std::size_t size, pattern which, bool is_in_place, const MakeFlags& make_flags) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(which) << ", in place: " << is_in_place);
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const std::vector<char> keeps = kept_by(which, size, size + 1);
    const device_vector<char> d_keeps(keeps);
    const Flag flags = make_flags(d_keeps.data());
    const std::vector<T> expected = only_kept(items, keeps);
    if (is_in_place) {
      expect_selects_in_place(expected, items, 0, [&](T* data, std::int64_t* num, auto&&... storage) {
        return run<Policy, UsesBulkCopies>(storage..., blocks, true, problem{flags, data, {}, data, num, {}}, size);
      });
    } else {
      const shifted_array<T> in(items, 0);
      expect_selects(expected, size, 1, [&](T* out, std::int64_t* num, auto&&... storage) {
        return run<Policy, UsesBulkCopies>(storage..., blocks, false, problem{flags, in.data(), {}, out, num, {}},
                                           size);
      });
    }
  }
  template <class MakeFlags>
  static void expect_all(const MakeFlags& make_flags) {
    for_all_shapes(tile, [&](unsigned blocks, std::size_t size) {
      for (const pattern which : patterns) {
        expect(blocks, size, which, false, make_flags);
        expect(blocks, size, which, true, make_flags);
      }
    });
    under_all_schedules_in_blocks(tile, [&](unsigned blocks, std::size_t size, std::size_t i) {
      expect(blocks, size, patterns[i % 6], true, make_flags);
    });
  }
};

TEST(device_select_pipeline, flags_and_items_in_bulk) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_flags<short_columns<54, 4, 2>, true, const char*, std::uint64_t>::expect_all(
      [](const char* flags) { return flags; });
}

struct as_bool {
  STRATA_HD bool operator()(char flag) const { return flag != 0; }
};
#if !STRATA_TEST_FEW_TYPES
TEST(device_select_pipeline, computed_flags_and_items_in_bulk) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  using flags = transforming<const char*, as_bool>;
  by_flags<short_columns<20, 3, 1>, true, flags, std::uint32_t>::expect_all(
      [](const char* keeps) { return flags(keeps, as_bool{}); });
}
#endif

// ------------------------------------------------------------------ by flags, few of which are set

/// True if flag `i` is in the sample that decides whether values of its tile are gathered. Tiles have `tile` flags.
template <class Flag>
bool is_sampled(std::size_t i, std::size_t tile) {
  constexpr std::size_t width = 16 / sizeof(Flag);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if (i % tile / width == lane * (tile / width) / 32) return true;
  }
  return false;
}

/// With `few_in_one_tile`, in place, items of the next tile are written where items of this tile lie.
enum class sparse_pattern {
  few,
  few_in_every_third_tile,
  few_in_one_tile,
  all_but_the_sample,
  one_run,
  as_in_the_sample
};
inline constexpr sparse_pattern sparse_patterns[] = {sparse_pattern::few, sparse_pattern::few_in_every_third_tile,
                                                     sparse_pattern::all_but_the_sample, sparse_pattern::one_run,
                                                     sparse_pattern::as_in_the_sample};

template <class Policy, class Flag, class T>
struct by_few_flags {
  using problem = select_problem<select_by::key, unsigned, const Flag*, const T*, NullType, T*, std::int64_t*,
                                 strata::detail::is_set>;
  using in_place_problem =
      select_problem<select_by::key, unsigned, const Flag*, T*, NullType, T*, std::int64_t*, strata::detail::is_set>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, problem, true>::tile_items;

  static std::vector<Flag> flags_of(sparse_pattern which, std::size_t size) {
    std::mt19937_64 bits = strata_test::random_bits(size);
    std::vector<Flag> flags(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t number = bits() >> 54;
      const bool is_few = number < 20;
      switch (which) {
        case sparse_pattern::few:
          flags[i] = is_few;
          break;
        case sparse_pattern::few_in_every_third_tile:
          flags[i] = i / tile % 3 == 0 ? is_few : number < 700;
          break;
        case sparse_pattern::few_in_one_tile:
          flags[i] = i / tile == 10 ? is_few : 1;
          break;
        case sparse_pattern::all_but_the_sample:
          flags[i] = !is_sampled<Flag>(i, tile);
          break;
        case sparse_pattern::one_run:
          flags[i] = i % tile / (tile / 40) == 17;
          break;
        case sparse_pattern::as_in_the_sample:
          flags[i] = is_sampled<Flag>(i, tile);
          break;
      }
    }
    return flags;
  }
  static void expect(unsigned blocks, std::size_t size, sparse_pattern which, bool is_in_place) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(which) << ", in place: " << is_in_place);
    const std::vector<T> items = items_of_any_bits<T>(size, size);
    const std::vector<Flag> flags = flags_of(which, size);
    const device_vector<Flag> d_flags(flags);
    const std::vector<T> expected = only_kept(items, flags);
    if (is_in_place) {
      expect_selects_in_place(expected, items, 0, [&](T* data, std::int64_t* num, auto&&... storage) {
        return run<Policy, true>(storage..., blocks, true, in_place_problem{d_flags.data(), data, {}, data, num, {}},
                                 size);
      });
    } else {
      const shifted_array<T> in(items, 0);
      expect_selects(expected, size, 1, [&](T* out, std::int64_t* num, auto&&... storage) {
        return run<Policy, true>(storage..., blocks, false, problem{d_flags.data(), in.data(), {}, out, num, {}}, size);
      });
    }
  }
  static void expect_all() {
    for_all_shapes(tile, [&](unsigned blocks, std::size_t size) {
      for (const sparse_pattern which : sparse_patterns) {
        expect(blocks, size, which, false);
        expect(blocks, size, which, true);
      }
    });
    under_all_schedules_in_blocks(tile, [&](unsigned blocks, std::size_t size, std::size_t i) {
      const bool is_in_place = i % 4 == 1;
      expect(blocks, size,
             is_in_place ? sparse_pattern::few_in_one_tile : sparse_patterns[i / 2 % std::size(sparse_patterns)],
             is_in_place);
    });
  }
};

TEST(device_select_pipeline, few_flags_of_bytes) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_few_flags<short_columns<112, 4, 2>, char, std::uint32_t>::expect_all();
}
#if !STRATA_TEST_FEW_TYPES
TEST(device_select_pipeline, few_flags_of_words) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_few_flags<short_columns<176, 3, 1>, int, double>::expect_all();
}
#endif

// ------------------------------------------------------------------ by difference

template <class Policy, bool UsesBulkCopies, class Key, class Value>
struct by_difference {
  using problem = select_problem<select_by::difference, unsigned, const Key*, const Value*, Key*, Value*, std::int64_t*,
                                 strata::Equality>;
  static constexpr std::size_t tile = strata::detail::scan_pipeline<Policy, problem, UsesBulkCopies>::tile_items;

  static void expect(unsigned blocks, std::size_t size, std::size_t mean) {
    SCOPED_TRACE(testing::Message() << "runs of " << mean);
    const std::vector<Key> keys = keys_in_runs<Key>(size, mean, size + mean);
    const std::vector<Value> values = items_of_any_bits<Value>(size, size);
    const std::vector<char> keeps = kept_by_difference(keys, [](const Key& a, const Key& b) { return a == b; });
    const std::size_t shift = UsesBulkCopies ? 0 : 1;
    const shifted_array<Key> d_keys(keys, shift);
    const shifted_array<Value> d_values(values, shift);
    expect_selects_pairs(only_kept(keys, keeps), only_kept(values, keeps), size, 1,
                         [&](Key* keys_out, Value* values_out, std::int64_t* num, auto&&... storage) {
                           return run<Policy, UsesBulkCopies>(
                               storage..., blocks, false,
                               problem{d_keys.data(), d_values.data(), keys_out, values_out, num, {}}, size);
                         });
  }
  static void expect_all() {
    for_all_shapes(tile, [](unsigned blocks, std::size_t size) {
      for (const std::size_t mean : {std::size_t{1}, std::size_t{5}, tile}) {
        expect(blocks, size, mean);
      }
    });
    under_all_schedules_in_blocks(
        tile, [](unsigned blocks, std::size_t size, std::size_t i) { expect(blocks, size, run_lengths[i % 3]); });
  }
};

TEST(device_select_pipeline, keys_and_values_in_bulk) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_difference<short_columns<60, 4, 2>, true, std::uint16_t, strata_test::struct16>::expect_all();
}
TEST(device_select_pipeline, keys_and_values_one_by_one) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  by_difference<short_columns<36, 3, 1>, false, std::uint64_t, std::uint8_t>::expect_all();
}

}  // namespace device_select_pipeline_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeviceHashJoin by Metal, on the double: whether the GPU or the host joins, queues, errors.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_METAL
#include <strata/device/device_hash_join.hpp>

#include <cstring>
#include <numeric>

#include "device/join/device_hash_join_kinds.hpp"
#include "metal/double/executor.hpp"
#include "metal/double/metal_double.hpp"
#include "metal/metal_join_support.hpp"

namespace {

using namespace metal_test;
using join_kinds::join_settings;
using metal_double::options;
using strata::DeviceHashJoin;
using strata::JoinOrder;

class MetalClass : public testing::Test {
 protected:
  static void SetUpTestSuite() { std::printf("device: %s\n", device_name().c_str()); }
  void SetUp() override {
    saved_ = options();
    context_list::of_process().clear();
    msl::reset_counts();
  }
  void TearDown() override {
    context_list::of_process().clear();
    EXPECT_EQ(metal_double::live_objects(), 0) << "leaked: " << metal_double::live_report();
    options() = saved_;
  }

  static join_settings<> forced(JoinStrategy strategy) {
    join_settings<> result;
    result.strategy = strategy;
    return result;
  }

  // Makes both calls of a two-phase function. `between` runs after the size query.
  template <class Call, class Between>
  static cudaError_t in_two_phases(const Call& call, const Between& between) {
    std::size_t bytes = 0;
    const cudaError_t status = call(static_cast<void*>(nullptr), bytes);
    if (status != cudaSuccess) return status;
    between();
    std::vector<unsigned char> storage(bytes);
    return call(static_cast<void*>(storage.data()), bytes);
  }

  std::int64_t expected(JoinKind kind) const {
    return static_cast<std::int64_t>(sort_merge_join(kind, build_, probe_).size());
  }

  template <class Key = std::uint32_t, class Options = join_settings<>>
  cudaError_t pairs(JoinKind kind, const Options& how, void* queue = nullptr) {
    const auto build = host_join_test::keys_of<Key>(build_, key_of<Key>);
    const auto probe = host_join_test::keys_of<Key>(probe_, key_of<Key>);
    total_ = -1;
    msl::reset_counts();
    return in_two_phases(
        [&](void* storage, std::size_t& bytes) {
          return join_kinds::pairs_of(kind, storage, bytes, build.data(), rows(build), probe.data(), rows(probe),
                                      build_out_.data(), probe_out_.data(), &total_, capacity, how, queue);
        },
        [] {});
  }
  cudaError_t count(JoinKind kind, const join_settings<>& how) {
    total_ = -1;
    msl::reset_counts();
    return in_two_phases(
        [&](void* storage, std::size_t& bytes) {
          return join_kinds::count_of(kind, storage, bytes, build_.ids.data(), rows(build_.ids), probe_.ids.data(),
                                      rows(probe_.ids), &total_, how);
        },
        [] {});
  }

  template <class Key>
  static std::int64_t rows(const std::vector<Key>& side) {
    return static_cast<std::int64_t>(side.size());
  }
  static bool ran(const char* kernel) { return msl::counts().count(kernel) != 0; }
  static bool gpu_ran() { return !msl::counts().empty(); }

  static constexpr std::int64_t capacity = 2000;
  const side_ids build_ = random_side(300, 200, 1);
  const side_ids probe_ = random_side(500, 250, 2);
  std::vector<std::int32_t> build_out_ = std::vector<std::int32_t>(capacity, -7);
  std::vector<std::int32_t> probe_out_ = std::vector<std::int32_t>(capacity, -7);
  std::int64_t total_ = -1;

 private:
  metal_double::settings saved_;
};

TEST_F(MetalClass, counts_and_pairs_of_four_kinds_go_to_the_gpu) {
  for (const JoinKind kind : gpu_kinds) {
    for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single}) {
      const bool is_simple = strategy == JoinStrategy::simple;
      ASSERT_EQ(pairs(kind, forced(strategy)), cudaSuccess);
      EXPECT_EQ(total_, expected(kind));
      EXPECT_TRUE(ran(is_simple ? "strata_table_join_u32_r32" : "strata_partition_join_u32_r32"));
      ASSERT_EQ(count(kind, forced(strategy)), cudaSuccess);
      EXPECT_EQ(total_, expected(kind));
      EXPECT_TRUE(ran(is_simple ? "strata_table_join_u32_r64" : "strata_partition_join_u32_r64"));
    }
  }
  ASSERT_EQ(pairs<std::int64_t>(JoinKind::inner, forced(JoinStrategy::simple)), cudaSuccess);
  EXPECT_TRUE(ran("strata_table_join_u64_r32"));
}

// With all rows of the table, the GPU would join. With few rows, the host does, in the same storage.
TEST_F(MetalClass, a_table_with_few_of_its_rows_has_enough_storage) {
  using Table = strata::JoinTable<std::uint32_t>;
  std::vector<std::uint32_t> keys(60000);
  std::iota(keys.begin(), keys.end(), 0u);
  const auto side = strata::join_side(keys.data(), rows(keys));
  std::size_t bytes = 0;
  ASSERT_EQ(Table::MemoryBytes(side, bytes), cudaSuccess);
  std::vector<unsigned char> memory(bytes);
  Table table(memory.data(), bytes, side);
  for (const std::int64_t build_rows : {0, 10, 30000}) {
    ASSERT_EQ(in_two_phases(
                  [&](void* storage, std::size_t& storage_bytes) {
                    return table.Inner(storage, storage_bytes, side, strata::join_count(), &total_);
                  },
                  [&] { EXPECT_EQ(table.Build(build_rows), cudaSuccess); }),
              cudaSuccess)
        << build_rows;
    EXPECT_EQ(total_, build_rows);
  }
}

struct plain_hash {
  std::uint32_t operator()(std::uint32_t key) const { return key; }
};

TEST_F(MetalClass, all_else_goes_to_the_host) {
  const join_settings<> how = forced(JoinStrategy::simple);
  const auto by_host = [this](const char* what, cudaError_t status, std::int64_t rows) {
    EXPECT_EQ(status, cudaSuccess) << what;
    EXPECT_EQ(total_, rows) << what;
    EXPECT_FALSE(gpu_ran()) << what;
  };
  const std::int64_t inner = expected(JoinKind::inner);
  by_host("full", pairs(JoinKind::full, how), expected(JoinKind::full));
  by_host("count of full", count(JoinKind::full, how), expected(JoinKind::full));
  by_host("cpu", pairs(JoinKind::inner, forced(JoinStrategy::cpu)), inner);
  by_host("few rows", pairs(JoinKind::inner, join_settings<>{}), inner);
  by_host("16 bits", pairs<std::uint16_t>(JoinKind::inner, how), inner);
  by_host("floating point", pairs<float>(JoinKind::inner, how), inner);
  join_settings<plain_hash> with_hash;
  with_hash.strategy = how.strategy;
  by_host("a hash", pairs(JoinKind::inner, with_hash), inner);
  join_settings<> in_order = how;
  in_order.order = JoinOrder::probe;
  by_host("probe order", pairs(JoinKind::inner, in_order), inner);
  EXPECT_TRUE(std::is_sorted(probe_out_.begin(), probe_out_.begin() + inner));
  const std::vector<std::uint32_t> no_words(16, 0);
  join_settings<> with_nulls = how;
  with_nulls.build_valid = no_words.data();
  by_host("nulls", pairs(JoinKind::inner, with_nulls), 0);

  std::vector<int> values(500);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> out(static_cast<std::size_t>(inner) + 1, -7);
  msl::reset_counts();
  const auto column = strata::probe_column(values.data(), out.data(), -1);
  by_host("columns",
          in_two_phases(
              [&](void* storage, std::size_t& bytes) {
                return DeviceHashJoin::Inner(storage, bytes, strata::join_side(build_.ids.data(), rows(build_.ids)),
                                             strata::join_side(probe_.ids.data(), rows(probe_.ids)),
                                             strata::join_columns<std::int32_t>(inner, column), &total_, how);
              },
              [] {}),
          inner);
  EXPECT_EQ(std::count(out.begin(), out.end(), -7), 1);
}

TEST_F(MetalClass, rows_choose) {
  const auto run = [this](std::size_t build_rows, std::size_t probe_rows) {
    const side_ids build = random_side(build_rows, 1u << 31, 3);
    const side_ids probe = random_side(probe_rows, 1u << 31, 3);
    msl::reset_counts();
    return in_two_phases(
        [&](void* storage, std::size_t& bytes) {
          return DeviceHashJoin::Semi(storage, bytes, strata::join_side(build.ids.data(), rows(build.ids)),
                                      strata::join_side(probe.ids.data(), rows(probe.ids)), strata::join_count(),
                                      &total_);
        },
        [] {});
  };
  EXPECT_EQ(run(40000, 59999), cudaSuccess);
  EXPECT_FALSE(gpu_ran());
  EXPECT_EQ(run(40000, 60000), cudaSuccess);
  EXPECT_TRUE(ran("strata_table_join_u32_r64"));
}

TEST_F(MetalClass, the_stream_is_a_queue) {
  static_assert(std::is_same_v<DeviceHashJoin::stream_type, void*>, "no stream of CUDA");
  void* const queue = metal_double::new_queue();
  std::vector<std::uint32_t> build(100);
  const std::vector<std::uint32_t> probe(50, 7);
  const auto columns = [this](std::int64_t i, std::int32_t b, std::int32_t) {
    build_out_[static_cast<std::size_t>(i)] = b;
  };
  const auto check = [&](const char* what, auto join) {
    std::iota(build.begin(), build.end(), 1000u);
    std::fill(build_out_.begin(), build_out_.end(), -7);
    // The size query must not wait for the queue.
    bool waited = false;
    metal_double::enqueue(queue, [&waited] { waited = true; });
    const auto between = [&] {
      EXPECT_FALSE(waited) << what;
      // This work is still to be done when the join is called. The join must see its result.
      metal_double::enqueue(queue, [&build] { build[42] = 7; });
    };
    EXPECT_EQ(in_two_phases(join, between), cudaSuccess) << what;
    EXPECT_EQ(total_, 50) << what;
    EXPECT_EQ(std::count(build_out_.begin(), build_out_.end(), 42), 50) << what;
  };
  for (const JoinStrategy strategy : {JoinStrategy::cpu, JoinStrategy::simple}) {
    check("pairs", [&](void* storage, std::size_t& bytes) {
      return DeviceHashJoin::Inner(
          storage, bytes, strata::join_side(build.data(), rows(build)), strata::join_side(probe.data(), rows(probe)),
          strata::join_pairs(build_out_.data(), probe_out_.data(), capacity), &total_, forced(strategy), queue);
    });
  }
  check("columns", [&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Inner(storage, bytes, strata::join_side(build.data(), rows(build)),
                                 strata::join_side(probe.data(), rows(probe)),
                                 strata::join_columns<std::int32_t>(capacity, columns), &total_, {}, queue);
  });
  // The call cannot wait for this queue.
  total_ = -1;
  options().fail_selector = "commandBuffer";
  EXPECT_EQ(in_two_phases(
                [&](void* storage, std::size_t& bytes) {
                  return DeviceHashJoin::Inner(storage, bytes, strata::join_side(build.data(), rows(build)),
                                               strata::join_side(probe.data(), rows(probe)),
                                               strata::join_columns<std::int32_t>(capacity, columns), &total_, {},
                                               queue);
                },
                [] {}),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(total_, -1);
  options().fail_selector.clear();
  metal_double::release(queue);
}

TEST_F(MetalClass, errors_have_a_status_and_a_text) {
  const auto check = [this](int status, const char* text) {
    EXPECT_EQ(static_cast<int>(pairs(JoinKind::inner, forced(JoinStrategy::simple))), status);
    EXPECT_NE(std::strstr(strata::metal_join_error_text(), text), nullptr) << strata::metal_join_error_text();
    EXPECT_EQ(total_, -1);
    options() = metal_double::settings{};
    context_list::of_process().clear();
  };
  options().fail_selector = "newCommandQueue";
  check(cudaErrorMemoryAllocation, "no command queue");
  options().fail_selector = "newLibraryWithSource:options:error:";
  check(300, "injected error of the compiler");
  options().fail_selector = "newFunctionWithName:";
  check(500, "strata_");
  options().fault_at = 1;
  check(cudaErrorLaunchFailure, "injected fault");
  options().simd_width = 64;
  check(cudaErrorNotSupported, "32 threads");
}

TEST_F(MetalClass, without_a_gpu_the_host_joins_whatever_is_asked_for) {
  options().has_devices = false;
  for (const JoinKind kind : gpu_kinds) {
    for (const JoinStrategy strategy : gpu_strategies) {
      EXPECT_EQ(pairs(kind, forced(strategy)), cudaSuccess);
      EXPECT_EQ(total_, expected(kind));
      EXPECT_FALSE(gpu_ran());
    }
  }
}

}  // namespace

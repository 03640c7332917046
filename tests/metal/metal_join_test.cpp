// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares joins by Metal with a sort-merge join. They run on a Mac's GPU, elsewhere on the double.
#include "metal/metal_join_support.hpp"

namespace {

using namespace metal_test;

class MetalJoin : public testing::TestWithParam<std::tuple<JoinStrategy, JoinKind>> {
 protected:
  static void SetUpTestSuite() { std::printf("device: %s\n", device_name().c_str()); }

  static JoinKind kind() { return std::get<1>(GetParam()); }
  static MetalJoinOptions options() {
    MetalJoinOptions result;
    result.strategy = std::get<0>(GetParam());
    // On the double, many partitions with few rows would take long.
    if (result.strategy == JoinStrategy::radix_multi) result.metal.pass_bits = 3;
    return result;
  }
  static MetalJoinOptions tiny_options() {
    MetalJoinOptions result = options();
    result.metal = tiny_tuning();
    return result;
  }
};

TEST_P(MetalJoin, random_keys) {
  check_join<std::uint32_t>(kind(), random_side(1500, 3000, 1), random_side(5000, 3000, 2), options());
  check_join<std::uint64_t, std::int64_t>(kind(), random_side(1500, 3000, 3), random_side(5000, 3000, 4), options());
}
TEST_P(MetalJoin, signed_keys_and_unsigned_rows) {
  check_join<std::int32_t, std::uint32_t>(kind(), random_side(300, 4000000000u, 5), random_side(500, 4000000000u, 5),
                                          tiny_options());
  check_join<std::int64_t, std::uint64_t>(kind(), random_side(300, 4000000000u, 6), random_side(500, 4000000000u, 6),
                                          tiny_options());
}
TEST_P(MetalJoin, many_rows_of_each_key) {
  check_join<std::uint32_t>(kind(), random_side(400, 20, 7), random_side(600, 20, 8), tiny_options());
  check_join<std::uint64_t>(kind(), random_side(400, 20, 9), random_side(600, 30, 10), tiny_options());
}
TEST_P(MetalJoin, one_key) {
  check_join<std::uint32_t>(kind(), constant_side(300, 42), constant_side(257, 42), tiny_options());
  check_join<std::uint32_t, std::int64_t>(kind(), constant_side(300, 42), constant_side(257, 43), tiny_options());
  check_join<std::uint64_t>(kind(), constant_side(1, 1), constant_side(3000, 1), tiny_options());
}
TEST_P(MetalJoin, keys_that_could_be_marks) {
  side_ids build;
  side_ids probe;
  build.ids = {0u, ~0u, 0u, 0x80000000u, 1u};
  probe.ids = {~0u, 0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffu, 0u};
  check_join<std::uint32_t>(kind(), build, probe, tiny_options());
  check_join<std::uint64_t>(kind(), build, probe, tiny_options());
}
TEST_P(MetalJoin, sizes_around_blocks_and_tiles) {
  for (const std::size_t rows : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 255u, 257u}) {
    check_join<std::uint32_t>(kind(), random_side(rows, 40, 11), random_side(rows + 1, 40, 12), tiny_options());
  }
  for (const std::size_t rows : {2047u, 2048u, 2049u, 4095u, 4096u, 4097u}) {
    check_join<std::uint64_t>(kind(), random_side(50, 100, 13), random_side(rows, 100, 14), options());
    check_join<std::uint32_t>(kind(), random_side(rows, 9000, 15), random_side(70, 9000, 16), options());
  }
}
TEST_P(MetalJoin, an_empty_side) {
  check_join<std::uint32_t>(kind(), random_side(0, 1, 17), random_side(10, 5, 18), options());
  check_join<std::uint32_t>(kind(), random_side(10, 5, 19), random_side(0, 1, 20), options());
  check_join<std::uint32_t>(kind(), random_side(0, 1, 21), random_side(0, 1, 22), options());
}
TEST_P(MetalJoin, memory_that_does_not_begin_on_a_page) {
  check_join<std::uint32_t>(kind(), random_side(700, 500, 23), random_side(900, 500, 24), tiny_options(), false);
  check_join<std::uint64_t, std::int64_t>(kind(), random_side(700, 500, 25), random_side(900, 500, 26), tiny_options(),
                                          false);
}
TEST_P(MetalJoin, skewed_probe_side) {
  side_ids probe = random_side(3000, 1000, 27);
  for (std::size_t i = 0; i < probe.ids.size(); i += 2) probe.ids[i] = 77;
  check_join<std::uint32_t>(kind(), random_side(800, 1000, 28), probe, tiny_options());
}
TEST_P(MetalJoin, skewed_build_side) {
  side_ids build = random_side(800, 1000, 29);
  for (std::size_t i = 0; i < build.ids.size(); i += 3) build.ids[i] = 77;
  check_join<std::uint32_t>(kind(), build, random_side(1000, 1000, 30), tiny_options());
}
TEST_P(MetalJoin, one_probe_row_with_most_build_rows_for_partners) {
  side_ids build = random_side(2000, 1000, 38);
  std::fill(build.ids.begin() + 500, build.ids.end(), 5000u);
  side_ids probe = random_side(150, 2000, 39);
  probe.ids[123] = 5000;
  check_join<std::uint32_t>(kind(), build, probe, tiny_options());
}
TEST_P(MetalJoin, different_keys_fill_one_partition) {
  side_ids all;
  for (std::uint32_t key = 1; all.ids.size() < 300; ++key) {
    if (hash_of(key) >> 24 == 77) all.ids.push_back(key);
  }
  side_ids some;
  some.ids.assign(all.ids.begin() + 100, all.ids.begin() + 220);
  check_join<std::uint32_t>(kind(), all, some, tiny_options());
  check_join<std::uint32_t>(kind(), some, all, tiny_options());
}
TEST_P(MetalJoin, counts_alone) {
  const std::vector<std::uint32_t> build = random_side(300, 100, 31).ids;
  const std::vector<std::uint32_t> probe = random_side(500, 120, 32).ids;
  const auto expected = sort_merge_join(kind(), random_side(300, 100, 31), random_side(500, 120, 32)).size();
  std::int64_t total = -1;
  std::size_t bytes = 0;
  std::vector<unsigned char> storage;
  for (int call = 0; call < 2; ++call) {
    storage.resize(bytes);
    ASSERT_EQ(strata::detail::metal_join_count(call == 0 ? nullptr : storage.data(), bytes, kind(), build.data(), 300,
                                               probe.data(), 500, &total, tiny_options()),
              MetalJoinStatus::success);
  }
  EXPECT_EQ(total, static_cast<std::int64_t>(expected));
}

INSTANTIATE_TEST_SUITE_P(by_plan_and_kind, MetalJoin,
                         testing::Combine(testing::ValuesIn(gpu_strategies), testing::ValuesIn(gpu_kinds)));

TEST(MetalJoinPasses, passes_are_stable) {
  for (const std::size_t rows : {1u, 31u, 257u, 2048u, 4096u, 9000u}) {
    EXPECT_TRUE(pass_is_stable<std::uint32_t>(rows)) << rows << " rows";
    EXPECT_TRUE(pass_is_stable<std::uint64_t>(rows)) << rows << " rows";
  }
}

// More than two passes. The last digit has few bits.
TEST(MetalJoinPasses, three_passes) {
  MetalJoinOptions options;
  options.strategy = JoinStrategy::radix_multi;
  options.metal = tiny_tuning();
  options.metal.pass_bits = 3;
  options.metal.table_rows = 16;
  options.metal.tasks = 1000;
  check_join<std::uint32_t>(JoinKind::inner, random_side(1300, 1u << 30, 33), random_side(9000, 1u << 30, 33), options);
  check_join<std::uint64_t>(JoinKind::left, random_side(900, 1000, 36), random_side(900, 1000, 37), options);
}

TEST(MetalJoinChoice, what_a_gpu_cannot_do_is_done_by_the_host) {
  const side_ids build = random_side(300, 100, 34);
  const side_ids probe = random_side(500, 120, 35);
  MetalJoinOptions options;
  options.strategy = JoinStrategy::radix_single;
  check_join<std::uint32_t>(JoinKind::full, build, probe, options);
  check_join<std::uint16_t>(JoinKind::inner, build, probe, options);
  check_join<float>(JoinKind::inner, build, probe, options);
  options.host.order = strata::JoinOrder::probe;
  const join_result ordered = call_join<std::uint32_t, std::int32_t>(JoinKind::left, build, probe, 5000, options);
  EXPECT_EQ(ordered.total, static_cast<std::int64_t>(sort_merge_join(JoinKind::left, build, probe).size()));
}

}  // namespace

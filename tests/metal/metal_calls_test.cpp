// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of a join by Metal, on the double: arguments, memory, queues, devices.
#include "metal/double/executor.hpp"
#include "metal/double/metal_double.hpp"
#include "metal/metal_join_support.hpp"

namespace {

using namespace metal_test;
using metal_double::options;

class MetalCalls : public testing::Test {
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

  static MetalJoinOptions forced(JoinStrategy strategy) {
    MetalJoinOptions result;
    result.strategy = strategy;
    result.metal = tiny_tuning();
    return result;
  }
  static bool ran(const char* kernel) { return msl::counts().count(kernel) != 0; }

  const side_ids build_ = random_side(300, 200, 1);
  const side_ids probe_ = random_side(500, 250, 2);
  const std::int64_t total_ = static_cast<std::int64_t>(sort_merge_join(JoinKind::inner, build_, probe_).size());

  void expect_join(MetalJoinStatus status, const MetalJoinOptions& how, void* queue = nullptr) {
    const join_result got =
        call_join<std::uint32_t, std::int32_t>(JoinKind::inner, build_, probe_, total_, how, true, queue);
    EXPECT_EQ(got.status, status) << strata::metal_join_error_text();
    if (status == MetalJoinStatus::success) {
      EXPECT_EQ(got.total, total_);
    } else {
      EXPECT_STRNE(strata::metal_join_error_text(), "");
    }
  }

 private:
  metal_double::settings saved_;
};

TEST_F(MetalCalls, rows_choose_the_plan) {
  const auto run = [](std::size_t build_rows, std::size_t probe_rows) {
    msl::reset_counts();
    const side_ids build = random_side(build_rows, 1u << 31, 3);
    const join_result got =
        call_join<std::uint32_t, std::int32_t>(JoinKind::inner, build, random_side(probe_rows, 1u << 31, 3), 10, {});
    EXPECT_EQ(got.status, MetalJoinStatus::success);
    EXPECT_GE(got.total, static_cast<std::int64_t>(std::min(build_rows, probe_rows)));
  };
  run(40000, 59999);
  EXPECT_TRUE(msl::counts().empty());
  run(40000, 60000);
  EXPECT_TRUE(ran("strata_table_join_u32_r32"));
  EXPECT_FALSE(ran("strata_partition_join_u32_r32"));
  run(500000, 500000);
  EXPECT_FALSE(ran("strata_table_join_u32_r32"));
  EXPECT_EQ(msl::counts()["strata_radix_scatter_u32"].launches, 2u);
  EXPECT_TRUE(ran("strata_partition_join_u32_r32"));
}

TEST_F(MetalCalls, memory_on_pages_is_not_copied) {
  for (const JoinStrategy strategy : gpu_strategies) {
    options().copies = options().zero_copies = 0;
    expect_join(MetalJoinStatus::success, forced(strategy));
    EXPECT_EQ(options().copies, 0u);
    EXPECT_EQ(options().zero_copies, 5u);
  }
  // Storage is passed to Metal without a copy at any address, because it has a page to spare.
  options().copies = options().zero_copies = 0;
  const join_result got = call_join<std::uint32_t, std::int32_t>(JoinKind::inner, build_, probe_, total_,
                                                                 forced(JoinStrategy::simple), false);
  EXPECT_EQ(got.total, total_);
  EXPECT_EQ(options().copies, 4u);
  EXPECT_EQ(options().zero_copies, 1u);
}

TEST_F(MetalCalls, text_is_compiled_once_and_by_the_first_join_that_needs_it) {
  options().compilations = 0;
  EXPECT_NE(device_name(), "none");
  EXPECT_EQ(options().compilations, 0u);
  expect_join(MetalJoinStatus::success, forced(JoinStrategy::simple));
  expect_join(MetalJoinStatus::success, forced(JoinStrategy::radix_single));
  void* const queue = metal_double::new_queue();
  expect_join(MetalJoinStatus::success, forced(JoinStrategy::radix_multi), queue);
  EXPECT_EQ(options().compilations, 1u);
  metal_double::release(queue);
}

TEST_F(MetalCalls, a_queue_is_a_stream) {
  void* const queue = metal_double::new_queue();
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::cpu}) {
    for (const bool aligned : {true, false}) {
      array<std::uint32_t> keys(100, aligned);
      for (std::uint32_t i = 0; i < 100; ++i) keys[i] = 1000 + i;
      const std::vector<std::uint32_t> probe(50, 7);
      MetalJoinOptions how = forced(strategy);
      std::size_t bytes = 0;
      std::int64_t total = -1;
      std::vector<unsigned char> storage;
      for (int call = 0; call < 2; ++call) {
        storage.resize(bytes);
        // This work is still to be done when the join is called. The join must see its result.
        if (call == 1) metal_double::enqueue(queue, [&keys] { keys[42] = 7; });
        ASSERT_EQ(strata::detail::metal_join_count(call == 0 ? nullptr : storage.data(), bytes, JoinKind::inner,
                                                   keys.data(), 100, probe.data(), 50, &total, how, strata::JoinHash{},
                                                   strata::detail::host_equality{}, queue),
                  MetalJoinStatus::success);
      }
      EXPECT_EQ(total, 50);
    }
  }
  metal_double::release(queue);
}

TEST_F(MetalCalls, tasks_are_bounded_whatever_the_skew) {
  MetalJoinOptions how = forced(JoinStrategy::radix_single);
  const side_ids same = constant_side(600, 9);
  for (const JoinStrategy strategy : gpu_strategies) {
    how.strategy = strategy;
    options().most_dispatches_in_command_buffer = 0;
    msl::reset_counts();
    const join_result got = call_join<std::uint32_t, std::int32_t>(JoinKind::inner, same, same, 100, how);
    EXPECT_EQ(got.total, 600 * 600);
    // The kernel that adds to the 64-bit total follows each dispatch. Tasks of the simple join are so small that one
    // dispatch runs all listed tasks.
    EXPECT_EQ(options().most_dispatches_in_command_buffer, strategy == JoinStrategy::simple ? 2u : 4u);
    const char* const kernel =
        strategy == JoinStrategy::simple ? "strata_table_join_u32_r32" : "strata_partition_join_u32_r32";
    EXPECT_GE(msl::counts()[kernel].launches, 600u * 600 / how.metal.dispatch_pairs);
  }
}

TEST_F(MetalCalls, totals_are_64_bits_wide) {
  // Makes each dispatch count as many matches as 32 bits can hold.
  options().rewrite = [](std::string text) {
    const std::string was = "total[0] += count[0];";
    const auto at = text.find(was);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, was.size(), "total[0] += 0xfffffffful;");
  };
  MetalJoinOptions how = forced(JoinStrategy::simple);
  how.metal.tasks = 1;
  const join_result got =
      call_join<std::uint32_t, std::int64_t>(JoinKind::inner, constant_side(14, 9), constant_side(50, 9), 700, how);
  EXPECT_EQ(got.total, 2 * std::int64_t{0xffffffff});
  // The second dispatch found no room, so the first one has written all rows of the output.
  EXPECT_EQ(got.pairs.size(), 700u);
  EXPECT_FALSE(got.kept_bounds && got.pairs[0] == got.pairs[1]);
}

TEST_F(MetalCalls, a_device_that_can_do_less) {
  options().max_threads = 512;
  options().threadgroup_memory = 26000;
  MetalJoinOptions how = forced(JoinStrategy::radix_single);
  how.metal.threads = 1024;
  how.metal.table_rows = 0;
  expect_join(MetalJoinStatus::success, how);
  context_list::of_process().clear();
  options().threadgroup_memory = 16384;
  expect_join(MetalJoinStatus::not_supported, how);
  context_list::of_process().clear();
  options().threadgroup_memory = 32768;
  options().max_threads = 128;
  expect_join(MetalJoinStatus::not_supported, how);
  context_list::of_process().clear();
  options().max_threads = 1024;
  options().simd_width = 64;
  expect_join(MetalJoinStatus::not_supported, how);
  context_list::of_process().clear();
  // Storage must be refused before other memory is mapped.
  options().simd_width = 32;
  options().buffer_length = 100;
  options().zero_copies = 0;
  expect_join(MetalJoinStatus::not_supported, how);
  EXPECT_STREQ(strata::metal_join_error_text(), "the device allows no buffer of this length");
  EXPECT_EQ(options().zero_copies, 0u);
}

TEST_F(MetalCalls, without_a_device_the_host_joins) {
  const MetalJoinOptions how = forced(JoinStrategy::simple);
  options().has_default_device = false;  // the list of devices still has one
  expect_join(MetalJoinStatus::success, how);
  EXPECT_TRUE(ran("strata_table_join_u32_r32"));
  for (const bool old : {false, true}) {
    context_list::of_process().clear();
    msl::reset_counts();
    options().has_devices = old;
    options().has_default_device = true;
    options().family = old ? 1006 : 1009;
    expect_join(MetalJoinStatus::success, how);
    EXPECT_TRUE(msl::counts().empty());
  }
}

TEST_F(MetalCalls, storage_never_shrinks_when_rows_are_added) {
  const auto bytes_for = [](JoinStrategy strategy, JoinKind kind, std::int64_t build_rows, std::int64_t probe_rows) {
    MetalJoinOptions how;
    how.strategy = strategy;
    const std::uint64_t* const none = nullptr;
    std::int64_t* const nowhere = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(strata::detail::metal_join_count(nullptr, bytes, kind, none, build_rows, none, probe_rows, nowhere, how),
              MetalJoinStatus::success);
    return bytes;
  };
  for (const JoinStrategy strategy : gpu_strategies) {
    for (const JoinKind kind : gpu_kinds) {
      std::size_t before = 1;
      for (std::int64_t rows = 1; rows < 2000000000; rows += rows / 2 + 1) {
        const std::size_t bytes = bytes_for(strategy, kind, rows, rows);
        EXPECT_GE(bytes, before);
        EXPECT_GE(bytes_for(strategy, kind, rows + 1, rows), bytes);
        EXPECT_GE(bytes_for(strategy, kind, rows, rows + 1), bytes);
        before = bytes;
      }
    }
  }
}

// The arguments of a call. With one of them wrong, it must fail and write nothing.
struct arguments {
  std::vector<std::uint32_t> keys = random_side(100, 50, 4).ids;
  std::vector<std::int32_t> build_out = std::vector<std::int32_t>(400, -7);
  std::vector<std::int32_t> probe_out = std::vector<std::int32_t>(400, -7);
  JoinKind kind = JoinKind::inner;
  const std::uint32_t* build_keys = keys.data();
  const std::uint32_t* probe_keys = keys.data();
  std::int64_t build_rows = 100;
  std::int64_t probe_rows = 100;
  std::int32_t* build_rows_out = build_out.data();
  std::int32_t* probe_rows_out = probe_out.data();
  std::int64_t total = -7;
  std::int64_t* num_out = &total;
  std::int64_t capacity = 400;
  MetalJoinOptions how;
  std::size_t missing_bytes = 0;

  MetalJoinStatus run(void* storage, std::size_t& bytes) {
    return strata::detail::metal_join_pairs(storage, bytes, kind, build_keys, build_rows, probe_keys, probe_rows,
                                            build_rows_out, probe_rows_out, num_out, capacity, how);
  }
  MetalJoinStatus call() {
    std::size_t bytes = 0;
    MetalJoinStatus status = run(nullptr, bytes);
    if (status != MetalJoinStatus::success) return status;
    std::vector<unsigned char> storage(bytes);
    bytes -= missing_bytes;
    return run(storage.data(), bytes);
  }
  bool is_untouched() const {
    const auto is_so = [](std::int32_t row) { return row == -7; };
    return total == -7 && std::all_of(build_out.begin(), build_out.end(), is_so) &&
           std::all_of(probe_out.begin(), probe_out.end(), is_so);
  }
};

TEST_F(MetalCalls, wrong_arguments_are_refused_before_anything_is_written) {
  const auto refuse = [](const char* what, auto spoil) {
    for (const JoinStrategy strategy : gpu_strategies) {
      arguments wrong;
      wrong.how.strategy = strategy;
      spoil(wrong);
      EXPECT_EQ(wrong.call(), MetalJoinStatus::invalid_value) << what;
      EXPECT_TRUE(wrong.is_untouched()) << what;
    }
  };
  refuse("build rows", [](arguments& a) { a.build_rows = -1; });
  refuse("probe rows", [](arguments& a) { a.probe_rows = -1; });
  refuse("more rows than int", [](arguments& a) { a.build_rows = std::int64_t{1} << 31; });
  refuse("build keys", [](arguments& a) { a.build_keys = nullptr; });
  refuse("probe keys", [](arguments& a) { a.probe_keys = nullptr; });
  refuse("build rows out", [](arguments& a) { a.build_rows_out = nullptr; });
  refuse("probe rows out", [](arguments& a) { a.probe_rows_out = nullptr; });
  refuse("total", [](arguments& a) { a.num_out = nullptr; });
  refuse("capacity", [](arguments& a) { a.capacity = -1; });
  refuse("storage", [](arguments& a) { a.missing_bytes = 1; });
  refuse("outputs overlap", [](arguments& a) { a.probe_rows_out = a.build_rows_out + 399; });
  refuse("outputs overlap", [](arguments& a) { a.build_rows_out = a.probe_rows_out + 399; });
  refuse("an output overlaps keys",
         [](arguments& a) { a.probe_rows_out = reinterpret_cast<std::int32_t*>(a.keys.data() + 99); });
  refuse("threads", [](arguments& a) { a.how.metal.threads = 96; });
  refuse("probe rows of a task", [](arguments& a) { a.how.metal.probe_rows = 65505; });
}

TEST_F(MetalCalls, null_pointers_without_rows_are_right) {
  for (const JoinStrategy strategy : gpu_strategies) {
    arguments none;
    none.how.strategy = strategy;
    none.build_keys = none.probe_keys = nullptr;
    none.build_rows = none.probe_rows = 0;
    EXPECT_EQ(none.call(), MetalJoinStatus::success);
    EXPECT_EQ(none.total, 0);
    arguments counted;
    counted.how.strategy = strategy;
    counted.build_rows_out = counted.probe_rows_out = nullptr;
    counted.capacity = 0;
    EXPECT_EQ(counted.call(), MetalJoinStatus::success);
    EXPECT_GE(counted.total, 100);
  }
}

TEST_F(MetalCalls, build_rows_of_a_semi_join_may_go_nowhere) {
  for (const JoinKind kind : {JoinKind::semi, JoinKind::anti}) {
    arguments a;
    a.how.strategy = JoinStrategy::radix_single;
    a.kind = kind;
    a.build_rows_out = nullptr;
    EXPECT_EQ(a.call(), MetalJoinStatus::success);
    EXPECT_EQ(a.total, kind == JoinKind::semi ? 100 : 0);
  }
}

}  // namespace

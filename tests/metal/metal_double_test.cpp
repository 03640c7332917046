// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The double must notice misuse of objects, commands that Metal's validation refuses, and kernels that break the rules
// of simdgroups and barriers.
#include "metal/double/metal_double.hpp"

#include "metal/metal_join_support.hpp"

namespace {

using namespace strata::detail::metal;
using metal_double::options;
using strata::MetalJoinStatus;

constexpr char text[] = R"MSL(
#include <metal_stdlib>
using namespace metal;
kernel void copy(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
    constant uint& add [[buffer(2)]], threadgroup uint* room [[threadgroup(0)]],
    uint t [[thread_position_in_grid]]) {
  out[t] = room[0] == 0xa5a5a5a5u ? in[t] + add : 0u;   // room was never written
}
STRATA_INSTANTIATE("copy", copy)
kernel void simd_of_some(device uint* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t < 7u) out[t] = simd_sum(t);
}
STRATA_INSTANTIATE("simd_of_some", simd_of_some)
kernel void simd_in_two_places(device uint* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t < 7u) {
    out[t] = simd_sum(t);
  } else {
    out[t] = simd_sum(1u);
  }
}
STRATA_INSTANTIATE("simd_in_two_places", simd_in_two_places)
kernel void barrier_of_some(device uint* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t < 40u) threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = t;
}
STRATA_INSTANTIATE("barrier_of_some", barrier_of_some)
kernel void barrier_in_two_places(device uint* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t < 32u) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[t] = t;
}
STRATA_INSTANTIATE("barrier_in_two_places", barrier_in_two_places)
kernel void barrier_and_simd(device uint* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t < 7u) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    out[t] = simd_sum(t);
  }
}
STRATA_INSTANTIATE("barrier_and_simd", barrier_and_simd)
kernel void turns(device atomic_uint* next [[buffer(0)]], device uint* out [[buffer(1)]],
    uint t [[thread_position_in_grid]]) {
  const uint a = atomic_fetch_add_explicit(next, 1u, memory_order_relaxed);
  out[2u * t] = a;
  out[2u * t + 1u] = atomic_fetch_add_explicit(next, 1u, memory_order_relaxed);
}
STRATA_INSTANTIATE("turns", turns)
)MSL";

class MetalDouble : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::printf("device: %s\n", metal_test::device_name().c_str());
    testing::FLAGS_gtest_death_test_style = "fast";
  }
  void SetUp() override {
    saved_ = options();
    gpu_ = context_list::of_process().find(nullptr);
    ASSERT_EQ(gpu_->queue(queue_), MetalJoinStatus::success);
    objc::id error = nullptr;
    library_ = objc::ref(objc::new_library(gpu_->device(), objc::string_of(text), nullptr, &error));
    ASSERT_TRUE(library_) << objc::text_of(error);
    memory_ = objc::ref(objc::new_buffer(gpu_->device(), 4096, storage_shared));
  }
  void TearDown() override { options() = saved_; }

  objc::ref pipeline_of(const char* name) {
    const objc::ref made(objc::new_function(library_.get(), objc::string_of(name)));
    objc::id error = nullptr;
    return objc::ref(objc::new_pipeline(gpu_->device(), made.get(), &error));
  }
  std::uint32_t* words() { return static_cast<std::uint32_t*>(objc::contents(memory_.get())); }

  // The error of a kernel that runs with 64 threads and one or two buffers.
  std::string error_of(const char* name) {
    const objc::autorelease_pool pool;
    pipeline kernel{pipeline_of(name), 1024};
    command c(queue_);
    const buffer_view there{memory_.get(), 0};
    const buffer_view behind{memory_.get(), 1024};
    std::memset(words(), 0, 4096);
    c.dispatch(kernel, 1, 64, there, behind);
    if (c.run() == MetalJoinStatus::success) return "";
    return strata::metal_join_error_text();
  }

  // An encoder that is ready to dispatch `copy`. `spoil` makes one mistake with it.
  struct commands {
    objc::id buffer;
    objc::id encoder;
  };
  template <class Spoil>
  std::string copy(const Spoil& spoil, objc::mtl_size groups = {1, 1, 1}, objc::mtl_size threads = {32, 1, 1}) {
    const objc::ref kernel = pipeline_of("copy");
    const std::uint32_t add = 5;
    commands c{objc::command_buffer(queue_), nullptr};
    c.encoder = objc::compute_encoder(c.buffer);
    objc::set_pipeline(c.encoder, kernel.get());
    objc::set_buffer(c.encoder, memory_.get(), 0, 0);
    objc::set_buffer(c.encoder, memory_.get(), 1024, 1);
    objc::set_bytes(c.encoder, &add, 4, 2);
    objc::set_threadgroup_memory(c.encoder, 16, 0);
    spoil(c);
    objc::dispatch_groups(c.encoder, groups, threads);
    objc::end_encoding(c.encoder);
    objc::commit(c.buffer);
    objc::wait(c.buffer);
    return objc::status(c.buffer) == 4 ? "" : objc::text_of(objc::error(c.buffer));
  }

  objc::autorelease_pool pool_;
  context* gpu_ = nullptr;
  objc::id queue_ = nullptr;
  objc::ref library_;
  objc::ref memory_;

 private:
  metal_double::settings saved_;
};

constexpr auto nothing = [](const auto&) {};

TEST_F(MetalDouble, runs_what_is_right) {
  for (std::uint32_t i = 0; i < 32; ++i) words()[i] = i * i;
  EXPECT_EQ(copy(nothing), "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words()[256 + i], i * i + 5);
}

TEST_F(MetalDouble, runs_nothing_before_somebody_waits) {
  bool done = false;
  metal_double::enqueue(queue_, [&done] { done = true; });
  EXPECT_FALSE(done);
  EXPECT_EQ(finish(queue_), MetalJoinStatus::success);
  EXPECT_TRUE(done);
}

TEST_F(MetalDouble, counts_objects) {
  const long before = metal_double::live_objects();
  void* const queue = metal_double::new_queue();
  EXPECT_EQ(metal_double::live_objects(), before + 1);
  EXPECT_NE(metal_double::live_report().find("MTLCommandQueue: 2"), std::string::npos);
  metal_double::release(queue);
  EXPECT_EQ(metal_double::live_objects(), before);
}

TEST_F(MetalDouble, misused_objects_end_the_program) {
  constexpr objc::message<void()> unknown{"nonsense"};
  EXPECT_DEATH(unknown(queue_), "MTLCommandQueue nonsense.: unrecognized selector");
  objc::id const queue = objc::new_command_queue(gpu_->device());
  objc::retain(queue);
  objc::release(queue);
  objc::release(queue);
  EXPECT_DEATH(objc::release(queue), "released");
  EXPECT_DEATH(objc::retain(queue), "released");
  EXPECT_DEATH(objc::command_buffer(queue), "released");
  EXPECT_DEATH(
      {
        strata_objc_pool_pop(reinterpret_cast<void*>(1));
        objc::string_of("no pool");
      },
      "NSString autoreleased without a pool");
}

TEST_F(MetalDouble, commands_that_metal_refuses_end_the_program) {
  const auto call = [this](auto spoil) { copy(spoil); };
  EXPECT_DEATH(call([](auto& c) { objc::end_encoding(c.encoder); }), "after endEncoding");
  EXPECT_DEATH(call([](auto& c) { objc::commit(c.buffer); }), "commit before endEncoding");
  EXPECT_DEATH(call([](auto& c) { objc::wait(c.buffer); }), "waitUntilCompleted before commit");
  EXPECT_DEATH(call([](auto& c) { objc::compute_encoder(c.buffer); }), "a second encoder");
  EXPECT_DEATH(call([](auto& c) {
                 objc::end_encoding(c.encoder);
                 objc::commit(c.buffer);
                 objc::commit(c.buffer);
               }),
               "committed twice");
  EXPECT_DEATH(call([this](auto& c) { objc::set_buffer(c.encoder, memory_.get(), 0, 31); }), "index 31");
  EXPECT_DEATH(call([this](auto& c) { objc::set_buffer(c.encoder, memory_.get(), 5000, 0); }),
               "behind the buffer's end");
  EXPECT_DEATH(call([](auto& c) { objc::set_buffer(c.encoder, nullptr, 0, 0); }), "nothing bound at buffer.0.");
  EXPECT_DEATH(call([this](auto& c) { objc::set_buffer(c.encoder, memory_.get(), 4094, 0); }), "buffer.0. has 2 bytes");
  EXPECT_DEATH(call([](auto& c) { objc::set_bytes(c.encoder, text, 8, 2); }), "buffer.2. is given 8 bytes");
  EXPECT_DEATH(call([](auto& c) { objc::set_bytes(c.encoder, text, 8, 1); }), "not const");
  const std::vector<char> many(4100);
  EXPECT_DEATH(call([&many](auto& c) { objc::set_bytes(c.encoder, many.data(), 4097, 2); }), "takes 4096 bytes");
  EXPECT_DEATH(call([](auto& c) { objc::set_threadgroup_memory(c.encoder, 20, 0); }), "not a multiple of 16");
  EXPECT_DEATH(copy(nothing, {0, 1, 1}), "empty grid");
  EXPECT_DEATH(copy(nothing, {1, 1, 1}, {1025, 1, 1}), "too many threads");
  EXPECT_DEATH(objc::new_buffer(gpu_->device(), 0, storage_shared), "0 bytes");
  options().buffer_length = 1000;
  EXPECT_DEATH(objc::new_buffer(gpu_->device(), 1001, storage_shared), "1001 bytes");
}

TEST_F(MetalDouble, kernels_that_break_rules_end_with_an_error) {
  EXPECT_EQ(error_of("turns"), "");
  const auto has = [](const std::string& error, const char* what) {
    EXPECT_NE(error.find(what), std::string::npos) << error;
  };
  has(error_of("simd_of_some"), "exited or missing lanes");
  has(error_of("simd_in_two_places"), "at different simd functions");
  has(error_of("barrier_of_some"), "thread returned while others wait at threadgroup_barrier");
  has(error_of("barrier_in_two_places"), "wait at different barriers");
  has(error_of("barrier_and_simd"), "some lanes wait at threadgroup_barrier");
  // The message names kernel, line and thread.
  has(error_of("barrier_of_some"), "kernel barrier_of_some: ");
  has(error_of("barrier_of_some"), "threadgroup 0, thread ");
  options().threadgroup_memory = 8;
  has(copy(nothing), "threadgroup memory of 16 bytes");
}

// Seeds and preemption change the order in which lanes run.
TEST_F(MetalDouble, schedules_differ) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const auto& [seed, preempt] : {std::pair{0u, 0u}, std::pair{1u, 0u}, std::pair{2u, 0u}, std::pair{1u, 2u}}) {
    options().seed = seed;
    options().preempt = preempt;
    ASSERT_EQ(error_of("turns"), "");
    orders.emplace_back(words() + 256, words() + 256 + 128);
    std::vector<std::uint32_t> sorted = orders.back();
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(sorted[i], i);
    // Without preemption, a lane takes both of its numbers in one turn.
    bool together = true;
    for (std::size_t i = 0; i < 128; i += 2) {
      together = together && orders.back()[i + 1] == orders.back()[i] + 1;
    }
    EXPECT_EQ(together, preempt == 0);
  }
  for (std::size_t a = 0; a < orders.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(orders[a], orders[b]);
  }
}

}  // namespace

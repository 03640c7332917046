// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the double assumes about Metal, as kernels and expected values. On Linux this tests the double. On a Mac the
// same program tests the assumptions. Nothing here mentions the double.
#include "metal/metal_join_support.hpp"

#include <numeric>

namespace {

using namespace strata::detail::metal;

constexpr char text[] = R"MSL(
#include <metal_stdlib>
using namespace metal;
#ifdef STRATA_INSTANTIATE
#define STRATA_INSTANTIATE_TEMPLATE STRATA_INSTANTIATE
#else
#define STRATA_INSTANTIATE(name, ...)
#define STRATA_INSTANTIATE_TEMPLATE(name, ...) \
  template [[host_name(name)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;
#endif
kernel void simd_probe(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
    uint t [[thread_position_in_grid]], uint n [[threads_per_grid]],
    uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]],
    uint w [[threads_per_simdgroup]], uint sgs [[simdgroups_per_threadgroup]]) {
  const uint v = in[t];
  uint k = 0;
  out[k++ * n + t] = simd_sum(v);
  out[k++ * n + t] = simd_prefix_exclusive_sum(v);
  out[k++ * n + t] = simd_broadcast_first(v);
  out[k++ * n + t] = uint(ulong(simd_ballot((v & 1u) != 0u)));
  out[k++ * n + t] = popcount(v);
  out[k++ * n + t] = min(v, 50u);
  out[k++ * n + t] = lane | sg << 8 | w << 16 | sgs << 24;
}
STRATA_INSTANTIATE("simd_probe", simd_probe)
kernel void atomic_probe(device atomic_uint* a [[buffer(0)]], device uint* seen [[buffer(1)]],
    threadgroup atomic_uint* s [[threadgroup(0)]], uint t [[thread_position_in_grid]],
    uint i [[thread_index_in_threadgroup]]) {
  if (i == 0u) atomic_store_explicit(s, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  seen[t] = atomic_fetch_add_explicit(&a[0], 1u, memory_order_relaxed);
  atomic_fetch_or_explicit(&a[1], 1u << (t & 31u), memory_order_relaxed);
  atomic_fetch_add_explicit(s, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0u) atomic_fetch_add_explicit(&a[2], atomic_load_explicit(s, memory_order_relaxed), memory_order_relaxed);
}
STRATA_INSTANTIATE("atomic_probe", atomic_probe)
// Tests 16-bit stores of neighbours, 8-byte elements, and differences that wrap around.
kernel void memory_probe(device ulong* out [[buffer(0)]], constant ulong& add [[buffer(1)]],
    threadgroup ushort* halves [[threadgroup(0)]], threadgroup ulong* wide [[threadgroup(1)]],
    uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  halves[t] = ushort(t * 257u);
  wide[t] = ulong(t) << 32 | (t - 5u);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = wide[n - 1u - t] + halves[t ^ 1u] + add;
}
STRATA_INSTANTIATE("memory_probe", memory_probe)
template <typename T, uint N>
kernel void twice(device T* out [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  T each[N];
  for (uint i = 0; i < N; ++i) each[i] = T(t) + T(i);
  T sum = T(0);
  for (uint i = 0; i < N; ++i) sum += each[i];
  out[t] = sum;
}
STRATA_INSTANTIATE_TEMPLATE("twice_u32", twice<uint, 3>)
STRATA_INSTANTIATE_TEMPLATE("twice_u64", twice<ulong, 4>)
)MSL";

class MetalConformance : public testing::Test {
 protected:
  void SetUp() override {
    gpu_ = context_list::of_process().find(nullptr);
    if (gpu_ == nullptr) GTEST_SKIP() << "no device that joins could run on";
    std::printf("device: %s\n", gpu_->name());
    ASSERT_EQ(gpu_->queue(queue_), strata::MetalJoinStatus::success);
    objc::id error = nullptr;
    library_ = objc::ref(objc::new_library(gpu_->device(), objc::string_of(text), nullptr, &error));
    ASSERT_TRUE(library_) << objc::text_of(error);
  }

  pipeline get(const char* name) {
    pipeline result;
    const objc::ref made(objc::new_function(library_.get(), objc::string_of(name)));
    EXPECT_TRUE(made) << name;
    objc::id error = nullptr;
    result.object = objc::ref(objc::new_pipeline(gpu_->device(), made.get(), &error));
    EXPECT_TRUE(result.object) << objc::text_of(error);
    result.max_threads = objc::max_threads(result.object.get());
    EXPECT_EQ(objc::simd_width(result.object.get()), simd_lanes);
    return result;
  }
  mapped memory(std::size_t bytes) {
    mapped result;
    EXPECT_EQ(result.map(*gpu_, nullptr, bytes, access::scratch), strata::MetalJoinStatus::success);
    std::memset(result.base(), 0, bytes);
    return result;
  }

  objc::autorelease_pool pool_;
  context* gpu_ = nullptr;
  objc::id queue_ = nullptr;
  objc::ref library_;
};

TEST_F(MetalConformance, simdgroups) {
  constexpr std::uint32_t n = 128;
  const mapped in = memory(n * 4);
  const mapped out = memory(7 * n * 4);
  auto* const v = static_cast<std::uint32_t*>(in.base());
  for (std::uint32_t i = 0; i < n; ++i) v[i] = (i * 37u + 11u) % 101u;
  const pipeline kernel = get("simd_probe");
  command c(queue_);
  c.dispatch(kernel, 2, 64, in.begin(), out.begin());
  ASSERT_EQ(c.run(), strata::MetalJoinStatus::success);
  const auto* const o = static_cast<std::uint32_t*>(out.base());
  for (std::uint32_t t = 0; t < n; ++t) {
    const std::uint32_t lane = t % 32;
    const std::uint32_t* const s = v + t - lane;
    std::uint32_t votes = 0;
    for (std::uint32_t i = 0; i < 32; ++i) votes |= (s[i] & 1) << i;
    EXPECT_EQ(o[t], std::accumulate(s, s + 32, 0u));
    EXPECT_EQ(o[n + t], std::accumulate(s, s + lane, 0u));
    EXPECT_EQ(o[2 * n + t], s[0]);
    EXPECT_EQ(o[3 * n + t], votes);
    EXPECT_EQ(o[4 * n + t], static_cast<std::uint32_t>(__builtin_popcount(v[t])));
    EXPECT_EQ(o[5 * n + t], std::min(v[t], 50u));
    EXPECT_EQ(o[6 * n + t], lane | (t % 64 / 32) << 8 | 32u << 16 | 2u << 24);
  }
}

TEST_F(MetalConformance, atomics) {
  const mapped a = memory(16);
  const mapped seen = memory(256 * 4);
  const pipeline kernel = get("atomic_probe");
  command c(queue_);
  c.dispatch(kernel, 4, 64, a.begin(), seen.begin(), threadgroup_bytes{4});
  ASSERT_EQ(c.run(), strata::MetalJoinStatus::success);
  const auto* const x = static_cast<std::uint32_t*>(a.base());
  EXPECT_EQ(x[0], 256u);
  EXPECT_EQ(x[1], ~0u);
  EXPECT_EQ(x[2], 256u);
  auto* const values = static_cast<std::uint32_t*>(seen.base());
  std::sort(values, values + 256);
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(values[i], i) << "each value once";
}

TEST_F(MetalConformance, threadgroup_memory_and_constants) {
  constexpr std::uint32_t n = 64;
  const mapped out = memory(n * 8);
  const std::uint64_t add = 1ull << 60;
  const pipeline kernel = get("memory_probe");
  command c(queue_);
  c.dispatch(kernel, 1, n, out.begin(), constant_of(add), threadgroup_bytes{n * 2}, threadgroup_bytes{n * 8});
  ASSERT_EQ(c.run(), strata::MetalJoinStatus::success);
  const auto* const o = static_cast<std::uint64_t*>(out.base());
  for (std::uint32_t t = 0; t < n; ++t) {
    const std::uint32_t u = n - 1 - t;
    EXPECT_EQ(o[t], (std::uint64_t{u} << 32 | (u - 5u)) + ((t ^ 1u) * 257u) + add);
  }
}

TEST_F(MetalConformance, templates_by_name) {
  const mapped out = memory(64 * 8);
  const pipeline narrow = get("twice_u32");
  const pipeline wide = get("twice_u64");
  command c(queue_);
  c.dispatch(narrow, 1, 32, out.begin());
  c.dispatch(wide, 1, 32, buffer_view{out.begin().buffer, 256});
  ASSERT_EQ(c.run(), strata::MetalJoinStatus::success);
  const auto* const n = static_cast<std::uint32_t*>(out.base());
  const auto* const w = static_cast<std::uint64_t*>(out.base()) + 32;
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(n[t], 3 * t + 3);
    EXPECT_EQ(w[t], 4 * t + 6);
  }
}

}  // namespace

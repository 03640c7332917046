// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few rows, all plans and kinds, memory on page boundaries and off them, wrong arrays, and a fault. At the end no
// object may be left. host_mutants.py compiles this program with broken headers, and metal_arm64 for another processor.
// It has no test framework, so that it compiles fast.
#include "metal/double/metal_double.hpp"
#include "metal/metal_small_joins.hpp"

using namespace metal_test;

namespace {

bool fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return false;
}

bool call_is_right(JoinKind kind, JoinStrategy strategy, const MetalJoinTuning& tuning, bool aligned) {
  std::vector<std::uint32_t> build(90);
  std::vector<std::uint32_t> probe(140);
  std::mt19937 random(3);
  for (auto& key : build) key = static_cast<std::uint32_t>(random() % 70);
  for (auto& key : probe) key = static_cast<std::uint32_t>(random() % 90);
  MetalJoinOptions how;
  how.strategy = strategy;
  how.metal = tuning;
  const row_pairs expected = plain_join(kind, build, probe);
  const auto total = static_cast<std::int64_t>(expected.size());
  for (const std::int64_t capacity : {total + 3, total / 2}) {
    const join_result got = call_plain_join<std::uint32_t, std::int32_t>(kind, build, probe, capacity, how, aligned);
    if (got.status != MetalJoinStatus::success) {
      return fail(strata::metal_join_error_text());
    }
    if (got.total != total) return fail("a wrong total");
    if (!got.kept_bounds) return fail("written outside");
    if (!std::includes(expected.begin(), expected.end(), got.pairs.begin(), got.pairs.end())) {
      return fail("wrong rows");
    }
  }
  return true;
}

bool fault_is_reported(const MetalJoinTuning& tuning) {
  MetalJoinOptions how;
  how.strategy = JoinStrategy::simple;
  how.metal = tuning;
  metal_double::options().fault_at = 2;
  const std::vector<std::uint32_t> keys(30, 1);
  const join_result got = call_plain_join<std::uint32_t, std::int32_t>(JoinKind::inner, keys, keys, 10, how);
  metal_double::options().fault_at = 0;
  return got.status == MetalJoinStatus::launch_failure || fail("a fault is not reported");
}

bool wrong_arrays_are_refused(const MetalJoinTuning& tuning) {
  MetalJoinOptions how;
  how.strategy = JoinStrategy::radix_single;
  how.metal = tuning;
  const std::vector<std::uint32_t> keys(30, 1);
  std::vector<std::int32_t> out(100, -7);
  const auto is_refused = [&](std::int32_t* build_out, std::int32_t* probe_out, const std::uint32_t* build,
                              const std::uint32_t* probe, std::int64_t capacity, bool has_total) {
    std::int64_t total = -7;
    std::size_t bytes = 0;
    std::vector<unsigned char> storage;
    MetalJoinStatus status{};
    for (int call = 0; call < 2; ++call) {
      storage.resize(bytes);
      status = strata::detail::metal_join_pairs(call == 0 ? nullptr : storage.data(), bytes, JoinKind::inner, build, 30,
                                                probe, 30, build_out, probe_out, has_total ? &total : nullptr, capacity,
                                                how);
    }
    return status == MetalJoinStatus::invalid_value && total == -7 && std::count(out.begin(), out.end(), -7) == 100;
  };
  std::int32_t* const o = out.data();
  const std::uint32_t* const k = keys.data();
  return is_refused(o, o + 49, k, k, 50, true) && is_refused(o + 49, o, k, k, 50, true) &&
         is_refused(o, nullptr, k, k, 50, true) && is_refused(nullptr, o, k, k, 50, true) &&
         is_refused(o, o + 50, nullptr, k, 50, true) && is_refused(o, o + 50, k, nullptr, 50, true) &&
         is_refused(o, o + 50, k, k, -1, true) && is_refused(o, o + 50, k, k, 50, false);
}

}  // namespace

int main() {
  std::printf("device: %s\n", device_name().c_str());
  MetalJoinTuning tuning;
  tuning.threads = 32;
  tuning.table_rows = 16;
  tuning.probe_rows = 10;
  tuning.bucket_rows = 3;
  tuning.pass_bits = 1;
  tuning.tasks = 16;  // a list that ends next to other data
  tuning.dispatch_pairs = 1500;
  tuning.dispatches = 2;
  for (const JoinStrategy strategy : gpu_strategies) {
    for (const JoinKind kind : gpu_kinds) {
      for (const bool aligned : {true, false}) {
        if (!call_is_right(kind, strategy, tuning, aligned)) return 1;
      }
    }
  }
  if (!fault_is_reported(tuning)) return 1;
  if (!wrong_arrays_are_refused(tuning)) return fail("wrong arrays are not refused") ? 0 : 1;
  // Tests a device that is not the default one, then one whose threadgroup memory just holds a table.
  context_list::of_process().clear();
  metal_double::options().has_default_device = false;
  MetalJoinTuning full = tuning;
  full.table_rows = 0;
  metal_double::options().copies = 0;
  if (!call_is_right(JoinKind::left, JoinStrategy::radix_single, full, true)) return 1;
  if (metal_double::options().copies != 0) return fail("memory on pages is copied") ? 0 : 1;
  if (!pass_is_stable<std::uint32_t>(4500)) return fail("passes are not stable") ? 0 : 1;
  context_list::of_process().clear();
  return metal_double::live_objects() == 0 || fail("objects are left") ? 0 : 1;
}

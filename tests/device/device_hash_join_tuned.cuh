// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with a tuning of the test's own, so that few rows go the way of many.
#pragma once

#include "device/device_hash_join_support.cuh"

#include <algorithm>
#include <initializer_list>

namespace device_join_test {

/// Joins of some kinds, in any order, nulls being equal.
template <class PolicyHub, class Key>
void check_tuned(const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t),
                 JoinStrategy strategy,
                 std::initializer_list<JoinKind> kinds = {JoinKind::inner, JoinKind::left,
                                                          JoinKind::full, JoinKind::semi,
                                                          JoinKind::anti}) {
  using Sink = strata::detail::join_pairs_sink<std::int32_t>;
  using Dispatch = strata::detail::DispatchHashJoin<std::int32_t, Key, Sink, strata::JoinHash,
                                                    strata::Equality, PolicyHub>;
  const device_vector<Key> build_keys(keys_of<Key>(build, make_key));
  const device_vector<Key> probe_keys(keys_of<Key>(probe, make_key));
  const device_vector<std::uint32_t> build_valid(build.valid_words());
  const device_vector<std::uint32_t> probe_valid(probe.valid_words());
  for (const JoinKind kind : kinds) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
    row_pairs expected = build.null.empty() && probe.null.empty()
                             ? sort_merge_join(kind, build, probe)
                             : nested_loop_join(kind, build, probe, true);
    std::sort(expected.begin(), expected.end());
    JoinOptions<> options;
    options.nulls_equal = true;
    options.strategy = strategy;
    if (!build.null.empty()) options.build_valid = build_valid.data();
    if (!probe.null.empty()) options.probe_valid = probe_valid.data();
    const auto size = static_cast<std::int64_t>(expected.size());
    device_vector<std::int32_t> build_out(expected.size());
    device_vector<std::int32_t> probe_out(expected.size());
    device_vector<std::int64_t> total(1);
    const Sink sink{strata::detail::has_pairs(kind) ? build_out.data() : nullptr,
                    probe_out.data()};
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return Dispatch::Dispatch(
          storage, bytes, kind, {build_keys.data(), static_cast<std::int64_t>(build.ids.size())},
          {probe_keys.data(), static_cast<std::int64_t>(probe.ids.size())}, sink, total.data(),
          size, options, nullptr);
    }));
    ASSERT_EQ(size, total.to_host()[0]);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    row_pairs out;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      out.emplace_back(strata::detail::has_pairs(kind) ? b[i] : -1, p[i]);
    }
    std::sort(out.begin(), out.end());
    EXPECT_TRUE(out == expected);
  }
}

}  // namespace device_join_test

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/device/hash_join/join_hash.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/strategy.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// Integers from `lowest` on, so many; of unsigned keys of 8 bytes `lowest` has the bits.
struct JoinKeyRange {
  std::int64_t lowest = 0;
  std::uint64_t keys = 0;
};

/// What a hash join may be told besides its sides. A size query must be given the same options as
/// the call that follows.
template <class Hash = JoinHash, class Equal = Equality>
struct JoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Bit i % 32 of word i / 32 says that row i has a key; null pointer: all rows have. In the memory
  /// that the keys are in.
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  /// Whether rows without a key are partners of each other.
  bool nulls_equal = false;
  /// A promise that no two build rows have equal keys, which saves time and temporary storage.
  /// Debug builds check it; otherwise a probe row gets one of the build rows with its key.
  bool build_unique = false;
  /// A promise that the keys of both sides ascend by `<`, equal ones side by side, which saves time
  /// and temporary storage where it is used: see DeviceHashJoin. Debug builds check it there; of
  /// rows in another order the result is undefined.
  bool sorted = false;
  /// A hint that the keys of all build rows are in a dense range; 0 keys: nothing is known. It is used
  /// where it saves time: see DeviceHashJoin. The result is the same whatever the keys are.
  JoinKeyRange key_range = {};
  /// Overrides the choice of `choose_join_strategy`; `cpu` is for the host back end, where nothing
  /// else is, and for Metal's.
  JoinStrategy strategy = JoinStrategy::automatic;
  /// Threads of the host where it joins, up to 256; 0: as many as the machine runs at once.
  unsigned threads = 0;
  /// `hash(key)` is an integer, the same for keys that are equal; it need not be a good hash.
  /// `equal(key, key)` compares any two keys. Both are called in device code, or by several threads
  /// of the host.
  Hash hash = {};
  Equal equal = {};
};

STRATA_NAMESPACE_END

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

/// The integers [lowest, lowest + keys). For unsigned keys of 8 bytes `lowest` has the same bits.
struct JoinKeyRange {
  std::int64_t lowest = 0;
  std::uint64_t keys = 0;
};

/// Options of a hash join. A size query must be given the same options as the call that follows.
template <class Hash = JoinHash, class Equal = Equality>
struct JoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Bit i % 32 of word i / 32 is set if row i has a key. Null: all rows have keys. In the memory that
  /// the keys are in.
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  /// Whether rows without a key are partners of each other.
  bool nulls_equal = false;
  /// A promise that no two build rows have equal keys, which saves time and temporary storage.
  /// Debug builds check it. Otherwise a probe row is joined with one of the build rows with its key.
  bool build_unique = false;
  /// A promise that the keys of both sides ascend by `<`, with equal keys side by side. It saves time
  /// and temporary storage where it is used: see DeviceHashJoin. Debug builds check it there. If rows
  /// are in another order, the result is undefined.
  bool sorted = false;
  /// A hint that the keys of all build rows are in a dense range; 0 keys: nothing is known. It is used
  /// where it saves time: see DeviceHashJoin. The result does not depend on it.
  JoinKeyRange key_range = {};
  /// Overrides the choice of `choose_join_strategy`. The host back end has `cpu` only, Metal's has it
  /// too, CUDA's has not.
  JoinStrategy strategy = JoinStrategy::automatic;
  /// Threads of a join on the host, up to 256; 0: as many as the machine runs at the same time.
  unsigned threads = 0;
  /// `hash(key)` is an integer, the same for equal keys. It need not be a good hash.
  /// `equal(key, key)` compares any two keys. Both are called in device code, or by several threads
  /// of the host.
  Hash hash = {};
  Equal equal = {};
};

STRATA_NAMESPACE_END

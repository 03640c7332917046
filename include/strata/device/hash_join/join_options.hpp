// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/device/hash_join/join_hash.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/strategy.hpp>

STRATA_NAMESPACE_BEGIN

/// What concerns a whole join. A size query must be given the same options as the call that follows.
template <class Hash = JoinHash, class Equal = Equality>
struct JoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Whether rows without a key are partners of each other.
  bool nulls_equal = false;
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

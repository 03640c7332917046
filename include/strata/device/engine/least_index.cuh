// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// The least of the numbers that blocks announce, in memory that is not initialised.
///
///     block 3   announce(70): claims the word, stores 70, then the epoch
///     block 5   announce(40): finds the epoch, takes the minimum with 40
///     block 0   is_below(64): true, at the latest after its next look
///
/// The word holds a number and an epoch (tagged_word.cuh). The first block to announce replaces the old epoch by the
/// complement of its own: this claims the word. It stores its number, and then its epoch. Others that announce
/// meanwhile wait for these two stores, and lower the number afterwards.
///
/// Forward progress: only a block that announces waits, for a thread that runs and does not wait. `is_below` never
/// waits.

STRATA_NAMESPACE_BEGIN
namespace detail {

class least_index {
 public:
  struct arguments {
    platform::tagged_word* word;
    unsigned long long epoch;
  };

  STRATA_D explicit least_index(const arguments& of_call) : word_(of_call.word), epoch_(of_call.epoch) {}

  /// By one thread.
  STRATA_D void announce(unsigned long long index) const {
    for (;;) {
      // Pairs with the release of the block that claims the word.
      const unsigned long long before = platform::load_acquire(&word_->epoch);
      if (before == epoch_) break;
      if (before == claim()) {
        STRATA_SPIN();
      } else if (atomicCAS(&word_->epoch, before, claim()) == before) {
        platform::store_relaxed(&word_->value, index);
        // Pairs with the acquire above, and with the loads of is_below(), which see both halves or an old epoch.
        platform::store_release(&word_->epoch, epoch_);
        return;
      }
    }
    atomicMin(&word_->value, index);
  }

  /// By any thread: whether an announced number is below `bound`. A number that is announced at the same time may be
  /// missed.
  STRATA_D bool is_below(unsigned long long bound) const {
    const platform::tagged_word now = platform::load_tagged_word(word_);
    return now.epoch == epoch_ && now.value < bound;
  }

  /// By one thread, when no block announces or looks any more: a replayed graph carries the same epoch.
  STRATA_D void erase() const { platform::store_relaxed(&word_->epoch, 0ull); }

 private:
  STRATA_D unsigned long long claim() const { return ~epoch_; }

  platform::tagged_word* word_;
  unsigned long long epoch_;
};

}  // namespace detail
STRATA_NAMESPACE_END

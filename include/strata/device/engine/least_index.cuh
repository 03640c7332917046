// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// The least of the numbers that blocks announce, in memory that is not initialised.
///
///     block 3   announce(70): claims the word, stores 70 and the epoch
///     block 5   announce(40): finds the epoch, takes the minimum with 40
///     block 0   is_below(64): true, at the latest after its next look
///
/// The word holds a number and an epoch (tagged_word.cuh). The first block to announce replaces the old epoch by the
/// complement of its own: this claims the word. It then stores its number and its epoch, in one access. Others that
/// announce meanwhile wait for this store, and lower the number afterwards.
///
/// Forward progress: only a block that announces waits, for a thread that runs and does not wait. `ask` never waits.

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
    unsigned long long expected = 0;  // what erase() of an earlier call has left
    for (;;) {
      const unsigned long long before = atomicCAS(&word_->epoch, expected, claim());
      if (before == expected) {
        platform::store_tagged_word(word_, {index, epoch_});
        break;
      }
      // Both halves of the word were stored at once: the number is there.
      if (before == epoch_) {
        atomicMin(&word_->value, index);
        break;
      }
      if (before == claim()) {
        STRATA_SPIN();
      } else {
        expected = before;
      }
    }
    // The word is stored before the block ends, and before another one erases it.
    platform::fence_acq_rel();
  }

  /// By any thread: the word. A number that is announced at the same time may be missed.
  STRATA_D platform::tagged_word ask() const { return platform::load_tagged_word(word_); }
  /// Whether the word that ask() has returned holds an announced number.
  STRATA_D bool is_announced(const platform::tagged_word& answer) const { return answer.epoch == epoch_; }

  /// By any thread: whether an announced number is below `bound`.
  STRATA_D bool is_below(unsigned long long bound) const {
    const platform::tagged_word now = ask();
    return is_announced(now) && now.value < bound;
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

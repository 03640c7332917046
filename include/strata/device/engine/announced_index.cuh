// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// An index that blocks announce to each other, in memory that is not initialised.
///
///     block 3   announce(70): stores 70 and the epoch, in one access
///     block 5   announce(40): the same
///     block 0   ask(): nothing, then 70 or 40
///
/// If blocks announce several indices, any one of them remains, possibly the greatest. The index is no result: it only
/// tells other blocks where they need not search. So an announcement is one store (tagged_word.cuh).
///
/// Forward progress: no function here waits.

STRATA_NAMESPACE_BEGIN
namespace detail {

class announced_index {
 public:
  struct arguments {
    platform::tagged_word* word;
    unsigned long long epoch;
  };

  STRATA_D explicit announced_index(const arguments& of_call) : word_(of_call.word), epoch_(of_call.epoch) {}

  /// Announces an index to the other blocks. Any thread may call this.
  STRATA_D void announce(unsigned long long index) const { platform::store_tagged_word(word_, {index, epoch_}); }

  /// Returns the word. An index that is announced at the same time may be missed. Any thread may call this.
  STRATA_D platform::tagged_word ask() const { return platform::load_tagged_word(word_); }
  /// True if the word that ask() has returned holds an announced index.
  STRATA_D bool is_announced(const platform::tagged_word& answer) const { return answer.epoch == epoch_; }

  /// Makes an announcement visible to the last block. One thread of a block that has announced calls this, after a
  /// barrier of the block, and before the block reports its end.
  STRATA_D void publish() const { platform::fence_acq_rel(); }

  /// Erases the announcement, because a replayed graph has the same epoch. One thread calls this when all blocks have
  /// reported their end.
  STRATA_D void erase() const { platform::store_relaxed(&word_->epoch, 0ull); }

 private:
  platform::tagged_word* word_;
  unsigned long long epoch_;
};

}  // namespace detail
STRATA_NAMESPACE_END

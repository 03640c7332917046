// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/sort/plan.hpp>
#include <strata/thread/thread_merge.cuh>

#include <cstddef>

/// \file
/// Where the sorted items of all ranks must be cut, so that a given number of items comes before the cuts.
///
/// All items of all ranks have one order: by key, then by rank, then by position in the sorted items of the rank. No
/// two items are equal in it. The *target* T of a splitter is the number of items that come before it. The *cut* c_r of
/// rank r is the number of its items among these T. So the cuts of a splitter add up to T.
///
/// **Invariant.** Each splitter has a bracket [b_r, e_r] for each rank r, and b_r <= c_r <= e_r. At first it is
/// [0, items of r]. All ranks know all brackets.
///
/// **A round.** Let w_r = e_r - b_r, and s the number of samples. The stride of r is g_r = ceiling(w_r / s). Rank r
/// sends the last item of each whole group of g_r items from b_r on: its positions are b_r + (i + 1) g_r - 1, for i
/// below w_r / g_r. With w_r <= s these are all items of the bracket. Then all ranks compute the same from the samples
/// of all ranks.
///
/// For an item x, let n_r(x) be the number of items of r that come before x, and m_r(x) that number limited to
/// [b_r, e_r], the ends included. For an item x of a bracket:
///
///     x is among the first T items  <=>  (sum of m_r(x) over all r) < T
///
/// - If x is among them, so is all that comes before x: n_r(x) <= c_r, and m_r(x) <= c_r, because b_r <= c_r. For the
///   rank of x, n_r(x) is the position of x. It lies in the bracket, below c_r: m_r(x) < c_r. So the sum is below T.
/// - If it is not, all T items come before x: n_r(x) >= c_r, and m_r(x) >= c_r, because c_r <= e_r. The sum is T or
///   more.
///
/// Samples bound m_r(x) to within one stride. If k samples of r come before x, so do k groups: m_r(x) >=
/// b_r + k g_r =: low_r(x). The sample after these, if there is one, does not: m_r(x) <= b_r + (k + 1) g_r - 1. If
/// there is none, fewer than g_r items follow in the bracket. So m_r(x) <= min(b_r + (k + 1) g_r - 1, e_r) =:
/// high_r(x). For the rank of x itself both are the position of x.
///
/// - If the sum of high_r(x) is below T, x is among the first T. The cut of its rank is behind x.
/// - If the sum of low_r(x) is T or more, x is not. The cut is at x or before.
///
/// Both sums grow along the samples of a rank. The new bracket goes from the position behind the last sample of the
/// first kind to the position of the first sample of the second kind. If there is no such sample, that end of the old
/// bracket stays.
///
/// **What is left.** The sums of a sample differ by at most G = sum of (g_j - 1) over the other ranks. low grows by g_r
/// or more from one sample of r to the next. Samples of neither kind have T - G <= low < T, so there are at most
/// (G + g_r - 1) / g_r. The new bracket holds the items between two samples of r. Only samples of neither kind lie
/// between these two. So the bracket has at most G + 2 (g_r - 1) <= (ranks + 1) (g - 1) items, where g is the longest
/// stride. If all strides are 1, nothing is left.
///
/// A comparator that is no strict weak ordering cannot make brackets wider, or an end less than a beginning, because
/// low <= high holds for each sample. Then the cuts may not add up to T, which the host checks.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The cut of a rank is one of begin, begin + 1, ..., end.
struct cut_bracket {
  long long begin;
  long long end;
};

/// The samples that a rank takes of a bracket.
struct bracket_samples {
  cut_bracket bracket;
  long long stride;
  int count;

  STRATA_HD bracket_samples(const cut_bracket& of, int max_samples) : bracket(of), stride(1), count(0) {
    const long long width = of.end - of.begin;
    if (width > max_samples) stride = (width - 1) / max_samples + 1;
    count = static_cast<int>(width / stride);
  }

  STRATA_HD long long position(int sample) const { return bracket.begin + (sample + 1) * stride - 1; }
  /// Bounds on the number of items before an item of another rank, if `samples_before` samples come before it.
  STRATA_HD long long low(int samples_before) const { return bracket.begin + samples_before * stride; }
  STRATA_HD long long high(int samples_before) const {
    const long long most = low(samples_before) + stride - 1;
    return detail::least(most, bracket.end);
  }
};

/// What ranks send to each other in a round: a header, only in the first round, and samples. In the first round all
/// splitters have the same brackets, and the same samples.
struct sample_messages {
  static constexpr std::size_t header_bytes = 256;  // keys behind it are aligned

  std::size_t bytes;          // size of a message
  std::size_t offset;         // offset of the first sample
  std::size_t splitter_step;  // bytes of the samples for a splitter; 0 in the first round
  int samples;

  static sample_messages first(int samples, std::size_t key_bytes) {
    return {rounded(header_bytes + static_cast<std::size_t>(samples) * key_bytes), header_bytes, 0, samples};
  }
  static sample_messages later(int samples, int splitters, std::size_t key_bytes) {
    const std::size_t step = static_cast<std::size_t>(samples) * key_bytes;
    return {rounded(static_cast<std::size_t>(splitters) * step), 0, step, samples};
  }

  /// Returns the samples of a rank. `messages` holds the messages of all ranks, or a single message: then pass 0 as
  /// `rank`.
  template <class Key, class Bytes>
  STRATA_HD Key* keys(Bytes* messages, int rank, int splitter) const {
    return reinterpret_cast<Key*>(messages + static_cast<std::size_t>(rank) * bytes + offset +
                                  static_cast<std::size_t>(splitter) * splitter_step);
  }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
};

/// One round, on one rank.
template <class Key>
struct selection_round {
  distributed_sort_tuning tuning;
  int rank;
  int ranks;
  /// Before the first round ends, only headers say how many items there are.
  bool is_first;
  sort_shares shares;
  sample_messages messages;
  const unsigned char* received;
  const cut_bracket* brackets;  // for splitter 1, the brackets of all ranks; then for splitter 2, and so on
  cut_bracket* new_brackets;
  call_header* headers;  // the first round copies them here

  /// This rank's items, from which the samples for the next round are taken.
  const Key* items;
  sample_messages next_messages;
  unsigned char* next;  // the message of the next round; null if there is none

  STRATA_D const call_header& header(int of_rank) const {
    return *reinterpret_cast<const call_header*>(received + static_cast<std::size_t>(of_rank) * messages.bytes);
  }
};

/// A block narrows the bracket of one rank for one splitter.
template <class Key, class Compare>
class AgentBrackets {
 public:
  STRATA_D AgentBrackets(const selection_round<Key>& round, Compare& compare, int splitter, int rank)
      : round_(round), compare_(compare), splitter_(splitter), rank_(rank), shares_(shares()) {}

  STRATA_D void narrow() {
    if (round_.is_first && splitter_ == 1 && threadIdx.x == 0) round_.headers[rank_] = round_.header(rank_);
    if (splitter_ >= shares_.all_chunks() || is_without_samples()) return;
    const bracket_samples samples(bracket_of(rank_), round_.messages.samples);
    const Key* const keys = keys_of(rank_);
    const long long target = shares_.before(splitter_);
    int certain = 0, possible = 0;  // samples that must be, and samples that may be, among the first `target` items
    for (int first = 0; first < samples.count; first += static_cast<int>(blockDim.x)) {
      const int i = first + static_cast<int>(threadIdx.x);
      long long low = target, high = target;
      if (i < samples.count) bounds_of(keys[i], samples.position(i), low, high);
      certain += __syncthreads_count(high < target ? 1 : 0);
      possible += __syncthreads_count(low < target ? 1 : 0);
    }
    const cut_bracket narrowed{certain > 0 ? samples.position(certain - 1) + 1 : samples.bracket.begin,
                               possible < samples.count ? samples.position(possible) : samples.bracket.end};
    if (threadIdx.x == 0) round_.new_brackets[index_of(rank_)] = narrowed;
    if (rank_ == round_.rank && round_.next != nullptr) sample(narrowed);
  }

 private:
  STRATA_D sort_shares shares() const {
    if (!round_.is_first) return round_.shares;
    long long items = 0;
    for (int r = 0; r < round_.ranks; ++r) items += round_.header(r).num_items;
    return sort_shares::of(round_.ranks, items, round_.tuning);
  }
  /// True if a rank has sent no samples because its items lie in its area: memory that the ranks share, for small
  /// sorts. The host will see that, too.
  STRATA_D bool is_without_samples() const {
    bool is_any_in_area = false;
    for (int r = 0; r < round_.ranks && round_.is_first; ++r) is_any_in_area |= round_.header(r).is_in_area != 0;
    return is_any_in_area;
  }
  STRATA_D int index_of(int rank) const { return (splitter_ - 1) * round_.ranks + rank; }
  STRATA_D cut_bracket bracket_of(int rank) const {
    if (round_.is_first) return {0, round_.header(rank).num_items};
    return round_.brackets[index_of(rank)];
  }
  STRATA_D const Key* keys_of(int rank) const {
    return round_.messages.template keys<const Key>(round_.received, rank, splitter_ - 1);
  }

  /// Finds the sums of low and high for a sample of this block's rank.
  STRATA_D void bounds_of(const Key& key, long long position, long long& low, long long& high) {
    low = high = position;
    for (int r = 0; r < round_.ranks; ++r) {
      if (r == rank_) continue;
      const bracket_samples samples(bracket_of(r), round_.messages.samples);
      const Key* const keys = keys_of(r);
      // Among equal keys, the keys of lower ranks come first.
      const int before = detail::partition_point(0, samples.count, [&](int i) {
        return r < rank_ ? static_cast<bool>(compare_(key, keys[i])) : !static_cast<bool>(compare_(keys[i], key));
      });
      low += samples.low(before);
      high += samples.high(before);
    }
  }

  STRATA_D void sample(const cut_bracket& bracket) const {
    const bracket_samples samples(bracket, round_.next_messages.samples);
    Key* const keys = round_.next_messages.template keys<Key>(round_.next, 0, splitter_ - 1);
    for (int i = static_cast<int>(threadIdx.x); i < samples.count; i += static_cast<int>(blockDim.x)) {
      keys[i] = round_.items[samples.position(i)];
    }
  }

  const selection_round<Key>& round_;
  Compare& compare_;
  const int splitter_, rank_;
  const sort_shares shares_;
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// With few items, most threads of a block have no sample. On the host back end, where a thread is a fiber, such
/// threads would take most of the time of a small sort, so blocks have fewer threads there.
inline constexpr int bracket_threads = STRATA_HOST_SIMT ? 64 : 512;

/// Writes the message of the first round: the header of the call, and samples of this rank's sorted items.
template <class Key>
__launch_bounds__(bracket_threads)
    STRATA_KERNEL void first_samples_kernel(call_header header, const Key* items, sample_messages messages,
                                            unsigned char* message) {
  const bracket_samples samples({0, header.num_items}, messages.samples);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) *reinterpret_cast<call_header*>(message) = header;
  if (i < samples.count) messages.template keys<Key>(message, 0, 0)[i] = items[samples.position(i)];
}

/// Narrows all brackets. The grid has a block for each splitter (x) and rank (y).
template <class Key, class Compare>
__launch_bounds__(bracket_threads)
    STRATA_KERNEL void brackets_kernel(const STRATA_GRID_CONSTANT selection_round<Key> round, Compare compare) {
  AgentBrackets<Key, Compare>(round, compare, static_cast<int>(blockIdx.x) + 1, static_cast<int>(blockIdx.y)).narrow();
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/rows.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// A join of a long probe side with few matches: a Bloom filter selects probe rows first, and the join takes
/// these as a side whose number of rows the host does not know.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A Bloom filter of the build side's keys (Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM
/// 1970). All three bits of a key are in one word, so that a look-up reads 4 bytes.
struct join_bloom_filter {
  unsigned* words;
  /// The index of the last word. The number of words is a power of two.
  unsigned last_word;

  /// 8 to 16 bits for each key, 16 to 32 where that fits L2 easily. Of keys that the filter does not hold, 1 to 5 %
  /// pass with 8 to 16 bits, and about 1 % or fewer with more. For integer keys of up to 4 bytes with the default hash
  /// and equality, the same 32 bits of hash choose the word and the bits in it: in large filters, up to 8 % of such
  /// keys pass.
  static constexpr std::size_t words_for(std::size_t build_rows) {
    constexpr std::size_t max_rows_of_two = std::size_t{1} << 22;
    const std::size_t least = ceiling_divide<std::size_t>(build_rows, build_rows <= max_rows_of_two ? 2 : 4);
    std::size_t words = 1;
    while (words < least) words *= 2;
    return words;
  }

  STRATA_D void insert(unsigned long long hash) const { atomicOr(words + word_of(hash), bits_of(hash)); }
  STRATA_D unsigned read(unsigned long long hash) const { return words[word_of(hash)]; }
  /// True if the filter may have a key, by the word that `read` has returned.
  STRATA_D static bool may_have(unsigned word, unsigned long long hash) { return (~word & bits_of(hash)) == 0; }

 private:
  STRATA_D static unsigned bits_of(unsigned long long hash) {
    const unsigned mixed = upper_half(hash) * 0x9e3779b9u;
    return 1u << (mixed >> 27) | 1u << (mixed >> 22 & 31) | 1u << (mixed >> 17 & 31);
  }
  STRATA_D unsigned word_of(unsigned long long hash) const { return static_cast<unsigned>(hash) & last_word; }
};

/// The probe rows that the filter has selected, in any order.
template <class Key>
struct join_selected_rows {
  Key* keys;
  /// Their numbers. Null: the result needs none.
  unsigned* numbers;
  unsigned* count;
};

/// An output for a join of selected rows. It gets the index of a selected row, and gives `sink` the number of this row
/// in the probe side.
template <class Sink>
struct join_selected_sink {
  Sink sink;
  const unsigned* numbers;

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index selected) const {
    sink(position, build_row, static_cast<Index>(numbers[selected]));
  }
};
template <class Sink>
join_selected_sink<Sink> selected_sink_of(const Sink& sink) {
  return {sink, nullptr};
}
inline NullType selected_sink_of(NullType) { return {}; }

/// True if the filter can copy keys: they lie in an array, and their type is trivially copyable.
template <class Keys>
inline constexpr bool may_filter_keys = std::is_pointer_v<Keys>&& std::is_trivially_copyable_v<iterator_value_t<Keys>>;
template <class Keys>
inline constexpr bool may_filter_keys<join_counted_keys<Keys>> = may_filter_keys<Keys>;

template <class Keys>
using join_counted_keys_t = std::conditional_t<are_counted_keys<Keys>, Keys, join_counted_keys<Keys>>;
template <class Keys>
JoinSide<join_counted_keys_t<Keys>> counted_side(const JoinSide<Keys>& side) {
  if constexpr (are_counted_keys<Keys>) {
    return side;
  } else {
    return detail::untyped<true>(side);
  }
}

/// Selects the probe rows whose keys the filter may have. Rows without a key are left out.
template <class Keys, class Hash, class Equal, int BlockThreads, int ItemsPerThread>
struct AgentJoinFilter {
  using Key = iterator_value_t<Keys>;
  static constexpr int threads = BlockThreads;
  static constexpr int items = ItemsPerThread;
  static constexpr unsigned tile_items = threads * items;
  using Scan = BlockScan<unsigned, threads>;

  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned begin;
  };

  TempStorage& storage;
  join_bloom_filter filter;
  Hash hash;

  STRATA_D void run(const JoinSide<Keys>& probe, const join_selected_rows<Key>& out) const {
    const unsigned first = blockIdx.x * tile_items;
    const auto rows = static_cast<unsigned>(detail::rows_of(probe));
    if (first >= rows) return;
    const auto row_of = [&](int item) { return first + static_cast<unsigned>(item) * threads + threadIdx.x; };
    Key keys[items];
    unsigned words[items];
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      if (row_of(i) < rows) keys[i] = probe.keys[row_of(i)];
    }
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      words[i] = 0;
      if (row_of(i) < rows && detail::join_row_is_valid(probe.valid_mask, row_of(i))) {
        words[i] = filter.read(hash_of(keys[i]));
      }
    }
    unsigned selected = 0;
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      // A word of 0 has no key.
      if (words[i] != 0 && filter.may_have(words[i], hash_of(keys[i]))) selected |= 1u << i;
    }
    unsigned at = 0, all = 0;
    Scan(storage.scan).ExclusiveSum(static_cast<unsigned>(__popc(selected)), at, all);
    if (threadIdx.x == 0) storage.begin = all > 0 ? atomicAdd(out.count, all) : 0;
    __syncthreads();
    at += storage.begin;
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      if ((selected >> i & 1) == 0) continue;
      out.keys[at] = keys[i];
      if (out.numbers != nullptr) out.numbers[at] = row_of(i);
      ++at;
    }
  }

 private:
  STRATA_D unsigned long long hash_of(const Key& key) const { return detail::join_hash<Key, Equal>(hash, key); }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Inserts the keys of the build side into a filter whose bits have been cleared.
template <class Keys, class Hash, class Equal>
STRATA_KERNEL void join_filter_insert_kernel(JoinSide<Keys> build, Hash hash, Equal, join_bloom_filter filter) {
  begin_join_kernel();
  for (unsigned long long row = join_thread(); row < static_cast<unsigned long long>(detail::rows_of(build));
       row += join_threads()) {
    if (!detail::join_row_is_valid(build.valid_mask, row)) continue;
    filter.insert(detail::join_hash<iterator_value_t<Keys>, Equal>(hash, build.keys[row]));
  }
}

template <class Tuning, class Keys, class Hash, class Equal>
using join_filter_agent =
    AgentJoinFilter<Keys, Hash, Equal, Tuning::filter.threads, Tuning::filter.items_of(sizeof(iterator_value_t<Keys>))>;

/// A block selects rows of one tile of the probe side.
template <class MaxPolicy, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::filter.threads)
    STRATA_KERNEL void join_filter_select_kernel(JoinSide<Keys> probe, Hash hash, Equal, join_bloom_filter filter,
                                                 join_selected_rows<iterator_value_t<Keys>> selected) {
  using Agent = join_filter_agent<typename MaxPolicy::ActivePolicy, Keys, Hash, Equal>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  begin_join_kernel();
  Agent{storage, filter, hash}.run(probe, selected);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

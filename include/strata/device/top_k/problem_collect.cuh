// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The last candidate. Items are ordered by code, and items with equal codes by index. No two items are equal in this
/// order, so a frequent key makes no more candidates than others.
template <class Code>
struct top_k_bound {
  Code code;
  unsigned long long index;

  /// Returns how many of the `count` items from `first` on are candidates, if all of them have the last candidate's
  /// code.
  STRATA_HD int equal_candidates(std::size_t first, int count) const {
    if (index < first) return 0;
    const unsigned long long last = index - first;
    return last < static_cast<unsigned long long>(count) ? static_cast<int>(last) + 1 : count;
  }
  STRATA_HD bool is_candidate(Code other, bool if_equal) const { return other < code || (other == code && if_equal); }
};

/// A selection, as a problem of DispatchScan: collects the candidates in the order of the input, up to a capacity, and
/// counts all of them. With `KeepsIndices`, it also collects their indices in the input.
template <class Count, class KeyIterator, bool IsMax, bool KeepsIndices>
struct top_k_collect_problem {
  using Accum = Count;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = top_k_codes<Key, IsMax>;
  using Bound = top_k_bound<typename Codes::Code>;
  // H100, 2026-11-26, CUDA 13.0, 2^28 u8, k = 1,000: 199 us; 320 threads with 176 bytes 235. f32 takes 402 and 404.
  using policy_hub = columns_policy_hub<Accum, Accum, /*ScanningThreads=*/512, /*ThreadBytes=*/96>;
  static constexpr bool is_inclusive = true;
  static constexpr bool moves_in_place = false;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = !UsesBulkCopies || is_bulk_array<KeyIterator>;

  KeyIterator keys;
  const Bound* bound;
  Key* candidates;
  Count* indices;
  std::size_t capacity;
  unsigned long long* found;

  STRATA_D static bool is_candidate(const Bound& bound, const Key& key, bool if_equal) {
    return bound.is_candidate(Codes::ordered(Codes::encode(key)), if_equal);
  }
  STRATA_D bool is_candidate(std::size_t i) const {
    return is_candidate(*bound, detail::item_at(keys, i), i <= bound->index);
  }

  // ------------------------------------------------------------------ for AgentScanTile

  struct load_count {
    top_k_collect_problem problem;
    STRATA_D Count load(std::size_t i) { return problem.is_candidate(i) ? 1 : 0; }
  };
  struct store_candidate {
    top_k_collect_problem problem;
    std::size_t num_items;
    STRATA_D void store(std::size_t i, const Count& collected) {
      const std::size_t to = static_cast<std::size_t>(collected) - 1;
      if (to < problem.capacity && problem.is_candidate(i)) {
        problem.candidates[to] = detail::item_at(problem.keys, i);
        if constexpr (KeepsIndices) problem.indices[to] = static_cast<Count>(i);
      }
      if (i + 1 == num_items) *problem.found = collected;
    }
  };
  using TileInput = indexed_input<load_count, Count>;
  using TileOutput = indexed_output<store_candidate, Count>;
  using TileOp = strata::Sum;
  using TileInit = NullType;

  TileInput tile_input() const { return TileInput({*this}); }
  TileOutput tile_output(std::size_t num_items) const { return TileOutput({*this, num_items}); }
  TileOp tile_op() const { return {}; }
  TileInit tile_init() const { return {}; }

  // ------------------------------------------------------------------ for AgentScanPipeline

  bool can_copy_in_bulk() const { return detail::is_at_boundary(keys); }
  unsigned head_items() const { return 0; }

  template <class Policy, bool UsesBulkCopies>
  class steps {
    using Keys = stage_column<Key, UsesBulkCopies, false, KeyIterator>;

   public:
    using PipelineProblem = top_k_collect_problem;
    using Aggregate = Count;
    using Stage = columns_stage<Policy, Key, Keys, NullType, 0>;
    using Shape = typename Stage::Shape;
    using Flags = typename Shape::flags;
    struct ThreadState {
      Flags selected;
    };
    struct LocalResult {
      Flags selected;
      int rank;  // number of candidates of the lanes below
    };
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = true;

    STRATA_D steps(const top_k_collect_problem& problem, const tiled_input&)
        : problem_(problem), bound_(*problem.bound), last_(Codes::decode(bound_.code)) {}

    STRATA_D strata::Sum scan_op() const { return {}; }
    STRATA_D Count initial_value() const { return 0; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      Stage::load(stage, full, first, valid, problem_.keys, NullType{});
    }

    template <bool IsFull>
    STRATA_D Count upsweep(const thread_slice& slice, ThreadState& state) const {
      Key loaded[Stage::thread_items];
      detail::load_slice<IsFull, Shape>(thread_keys(slice), slice.thread_items, loaded);
      // An item with the last candidate's code is a candidate if its index is not above the last candidate's. A
      // thread's items are neighbours. So in all threads but one, this holds for all items or for none.
      const int if_equal = bound_.equal_candidates(index_of(slice, 0), Stage::thread_items);
      state.selected = if_equal > 0 ? before<IsFull, true>(loaded, slice) : before<IsFull, false>(loaded, slice);
      if (if_equal > 0 && if_equal < Stage::thread_items) {
        state.selected.bits &= (decltype(state.selected.bits){1} << if_equal) - 1;
        state.selected.bits |= before<IsFull, false>(loaded, slice).bits;
      }
      return static_cast<Count>(state.selected.count());
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& state, const Count& below) const {
      return {state.selected, slice.lane > 0 ? static_cast<int>(below) : 0};
    }

    // Most threads have no candidate. The others write their candidates one by one, from the stage.
    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool, const Count& warp_prefix) const {
      std::size_t to = static_cast<std::size_t>(warp_prefix) + static_cast<std::size_t>(local.rank);
      const Key* const staged = thread_keys(slice);
      for (auto bits = local.selected.bits; bits != 0 && to < problem_.capacity; bits &= bits - 1, ++to) {
        const int i = first_of(bits);
        problem_.candidates[to] = staged[i];
        if constexpr (KeepsIndices) problem_.indices[to] = static_cast<Count>(index_of(slice, i));
      }
    }

    STRATA_D void write_total(const Count& total) const { *problem_.found = total; }

   private:
    STRATA_D static Key* thread_keys(const thread_slice& slice) {
      return Stage::of_thread(Stage::keys(slice.stage), slice);
    }
    template <class Bits>
    STRATA_D static int first_of(Bits bits) {
      if constexpr (sizeof(Bits) == 8) {
        return __ffsll(static_cast<long long>(bits)) - 1;
      } else {
        return __ffs(static_cast<int>(bits)) - 1;
      }
    }

    // Marks the keys that come before the last candidate's key or, with `OrEqual`, are equal to it. Numbers are
    // compared by one instruction; codes, which treat -0.0 and NaN specially, would take several. Only floats of up to
    // 2 bytes are compared by their codes. If the last candidate is a wider NaN, the comparison holds for all keys or
    // for none. Then the number of candidates is out of range, and all keys are read again.
    template <bool IsFull, bool OrEqual>
    STRATA_D Flags before(const Key (&loaded)[Stage::thread_items], const thread_slice& slice) const {
      Flags result{};
      STRATA_UNROLL
      for (int i = 0; i < Stage::thread_items; ++i) {
        if (!IsFull && i >= slice.thread_items) break;
        result.set(i, is_before<OrEqual>(loaded[i]));
      }
      return result;
    }
    template <bool OrEqual>
    STRATA_D bool is_before(const Key& key) const {
      if constexpr (sizeof(Key) <= 2 && Codes::is_float) {
        return is_candidate(bound_, key, OrEqual);
      } else if constexpr (std::is_enum_v<Key>) {  // an enumeration may have its own operator
        using Number = std::underlying_type_t<Key>;
        return is_before<OrEqual>(static_cast<Number>(key), static_cast<Number>(last_));
      } else {
        return is_before<OrEqual>(key, last_);
      }
    }
    template <bool OrEqual, class Number>
    STRATA_D static bool is_before(Number number, Number last) {
      if constexpr (IsMax) {
        return OrEqual ? !(number < last) : !(number <= last);
      } else {
        return OrEqual ? number <= last : number < last;
      }
    }

    STRATA_D static std::size_t index_of(const thread_slice& slice, int i) {
      return slice.first_item +
             static_cast<std::size_t>(slice.warp * Stage::warp_items + slice.lane * Stage::thread_items + i);
    }

    const top_k_collect_problem& problem_;
    const Bound bound_;
    const Key last_;
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/radix_code.hpp>
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

/// The last candidate: by its code, and among equal codes by its index. No two items are equal in this order: a key
/// that occurs often makes no more candidates than others.
template <class Code>
struct top_k_bound {
  Code code;
  unsigned long long index;

  /// Of `count` neighbouring items from `first` on, how many are candidates if they have this code.
  STRATA_HD int equal_candidates(std::size_t first, int count) const {
    if (index < first) return 0;
    const unsigned long long last = index - first;
    return last < static_cast<unsigned long long>(count) ? static_cast<int>(last) + 1 : count;
  }
  STRATA_HD bool is_candidate(Code other, bool if_equal) const { return other < code || (other == code && if_equal); }
};

/// Collects the candidates in the order of the input, up to a capacity, and counts all of them: a selection, as
/// DispatchScan takes it. With `KeepsIndices`, of each its index in the input, too.
template <class Count, class KeyIterator, class Digits, bool KeepsIndices>
struct top_k_collect_problem {
  using Accum = Count;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Bound = top_k_bound<typename Codes::Code>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
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
    using Problem = top_k_collect_problem;
    using Aggregate = Count;
    using Stage = columns_stage<Policy, Key, Keys, NullType, 0>;
    using Shape = typename Stage::Shape;
    struct ThreadState {
      typename Shape::flags selected;
      Key keys[Stage::thread_items];
    };
    struct LocalResult {
      typename Shape::flags selected;
      int rank;     // candidates of the lanes below
      int in_warp;  // candidates, at the front of its part of the stage
    };
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = true;

    STRATA_D steps(const top_k_collect_problem& problem, const tiled_input&)
        : problem_(problem), bound_(*problem.bound) {}

    STRATA_D strata::Sum scan_op() const { return {}; }
    STRATA_D Count initial_value() const { return 0; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      Stage::load(stage, full, first, valid, problem_.keys, NullType{});
    }

    template <bool IsFull>
    STRATA_D Count upsweep(const thread_slice& slice, ThreadState& state) const {
      detail::load_slice<IsFull, Shape>(Stage::of_thread(Stage::keys(slice.stage), slice), slice.thread_items,
                                        state.keys);
      state.selected = {};
      const int if_equal = bound_.equal_candidates(index_of(slice, 0), Stage::thread_items);
      STRATA_UNROLL
      for (int i = 0; i < Stage::thread_items; ++i) {
        if (!IsFull && i >= slice.thread_items) break;
        state.selected.set(i, is_candidate(bound_, state.keys[i], i < if_equal));
      }
      return static_cast<Count>(state.selected.count());
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& state, const Count& below) const {
      const int rank = slice.lane > 0 ? static_cast<int>(below) : 0;
      const int in_warp =
          detail::flags_in_warp(slice, Stage::thread_items, static_cast<int>(below), state.selected.count());
      if (in_warp > 0) detail::compact<Shape>(state.keys, state.selected, slice, rank, in_warp, warp_keys(slice));
      __syncwarp();
      return {state.selected, rank, in_warp};
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool, const Count& warp_prefix) const {
      const auto first = static_cast<std::size_t>(warp_prefix);
      if (local.in_warp == 0 || first >= problem_.capacity) return;
      const std::size_t left = problem_.capacity - first;
      const int fitting = left < static_cast<std::size_t>(local.in_warp) ? static_cast<int>(left) : local.in_warp;
      detail::store_staged<Stage::warp_items>(warp_keys(slice), problem_.candidates + first, fitting, slice.lane);
      if constexpr (KeepsIndices) {
        int to = local.rank;
        for (int i = 0; i < Stage::thread_items && to < fitting; ++i) {
          if (!local.selected.at(i)) continue;
          problem_.indices[first + static_cast<std::size_t>(to++)] = static_cast<Count>(index_of(slice, i));
        }
      }
    }

    STRATA_D void write_total(const Count& total) const { *problem_.found = total; }

   private:
    STRATA_D static Key* warp_keys(const thread_slice& slice) {
      return Stage::of_warp(Stage::keys(slice.stage), slice);
    }
    STRATA_D static std::size_t index_of(const thread_slice& slice, int i) {
      return slice.first_item +
             static_cast<std::size_t>(slice.warp * Stage::warp_items + slice.lane * Stage::thread_items + i);
    }

    const top_k_collect_problem& problem_;
    const Bound bound_;
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

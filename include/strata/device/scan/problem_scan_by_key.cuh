// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/sum_of_run.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Finds where runs of equal keys begin, by comparing the keys.
template <class KeyIterator, class EqualityOpT>
struct begins_by_keys {
  using Keys = KeyIterator;
  using Key = iterator_value_t<KeyIterator>;
  using EqualityOp = EqualityOpT;
  static constexpr bool has_keys = true;

  KeyIterator keys;
  EqualityOp equality_op;

  STRATA_HD bool at(std::size_t i) {
    return i == 0 || !are_equal(detail::item_at(keys, i - 1), detail::item_at(keys, i));
  }
  // Items are passed by value, because the operator need not take the proxies that iterators return.
  STRATA_HD bool are_equal(Key left, Key right) { return static_cast<bool>(equality_op(left, right)); }
};

/// The begins of runs, written over the keys: the first byte of each key, of `key_bytes` bytes, says whether a run
/// begins with it.
struct begins_over_keys {
  using Keys = const unsigned char*;
  using Key = unsigned char;
  using EqualityOp = NullType;
  static constexpr bool has_keys = false;

  unsigned char* bytes;
  std::ptrdiff_t key_bytes;

  STRATA_HD bool at(std::size_t i) const { return bytes[static_cast<std::ptrdiff_t>(i) * key_bytes] != 0; }
  STRATA_HD void set(std::size_t i, bool begins) const {
    bytes[i * static_cast<std::size_t>(key_bytes)] = begins ? 1 : 0;
  }
};

/// A scan by key, as a problem of DispatchScan. It scans sums, each of which knows whether a run begins among its
/// items. A stage holds keys and values, and results overwrite values. The upsweep finds once where runs begin. With
/// `begins_over_keys` there is no pipeline. A block then cannot reduce the tile of another block either, because
/// results may already have overwritten the begins of that tile.
template <class T, class Begins, class ValueIterator, class OutputIterator, class ScanOp, bool IsInclusive, class InitT>
struct scan_by_key_problem {
  using Accum = sum_of_run<T>;
  using Key = typename Begins::Key;
  using Value = iterator_value_t<ValueIterator>;
  using Stored = output_value_t<OutputIterator, T>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
  static constexpr bool is_inclusive = IsInclusive;
  static constexpr bool moves_in_place = !Begins::has_keys;
  static constexpr bool has_init = !std::is_same_v<InitT, NullType>;
  static constexpr bool copies_keys = is_bulk_array<typename Begins::Keys>;
  static constexpr bool copies_values =
      is_bulk_array<ValueIterator> && sizeof(Value) == sizeof(Stored) && is_trivially_relocatable_v<Stored>;
  template <bool UsesBulkCopies>
  using StagedValue = std::conditional_t<UsesBulkCopies && copies_values, Value, T>;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = Begins::has_keys && 16 % sizeof(Key) == 0 &&
                                       16 % sizeof(StagedValue<UsesBulkCopies>) == 0 &&
                                       (!UsesBulkCopies || copies_keys || copies_values);

  Begins begins;
  ValueIterator values;
  OutputIterator out;
  ScanOp scan_op;
  InitT init;

  // ------------------------------------------------------------------ for AgentScanTile

  // At the beginning of a run the initial value, if there is one, goes before the item.
  struct load_sum {
    Begins begins;
    ValueIterator values;
    ScanOp op;
    InitT init;
    STRATA_D Accum load(std::size_t i) {
      const bool is_begin = begins.at(i);
      T value = static_cast<T>(detail::item_at(values, i));
      if constexpr (has_init) {
        if (is_begin) value = static_cast<T>(op(static_cast<T>(init), value));
      }
      return {value, is_begin ? 1u : 0u};
    }
  };
  struct store_inclusive {
    OutputIterator out;
    STRATA_D void store(std::size_t i, const Accum& sum) const {
      out[static_cast<difference_of<OutputIterator>>(i)] = static_cast<Stored>(sum.value);
    }
  };
  // What comes before the first item of a run is the initial value.
  struct store_exclusive {
    Begins begins;
    OutputIterator out;
    InitT init;
    STRATA_D void store(std::size_t i, const Accum& sum) {
      const T value = begins.at(i) ? static_cast<T>(init) : sum.value;
      out[static_cast<difference_of<OutputIterator>>(i)] = static_cast<Stored>(value);
    }
  };
  using TileInput = indexed_input<load_sum, Accum>;
  using TileOutput = indexed_output<std::conditional_t<IsInclusive, store_inclusive, store_exclusive>, Accum>;
  using TileOp = combine_runs<T, ScanOp>;
  // The first item begins a run: what is before it is never used.
  using TileInit = std::conditional_t<IsInclusive, NullType, Accum>;

  STRATA_HD TileInput tile_input() const { return TileInput({begins, values, scan_op, init}); }
  STRATA_HD TileOutput tile_output(std::size_t) const {
    if constexpr (IsInclusive) {
      return TileOutput({out});
    } else {
      return TileOutput({begins, out, init});
    }
  }
  STRATA_HD TileOp tile_op() const { return {scan_op}; }
  STRATA_HD TileInit tile_init() const { return TileInit{}; }
  STRATA_D void write_empty() const {}

  // ------------------------------------------------------------------ arguments

  bool can_reach(std::size_t num_items) const {
    if constexpr (Begins::has_keys) {
      return !detail::refuses_reach(begins.keys, num_items, "d_keys_in") &&
             !detail::refuses_reach(values, num_items, "d_values_in") &&
             !detail::refuses_reach(out, num_items, "d_values_out");
    } else {
      return true;
    }
  }
  bool are_arguments_valid(std::size_t num_items) const {
    if constexpr (Begins::has_keys) {
      if (num_items == 0) return true;
      if (detail::refuses_null(begins.keys, "d_keys_in") || detail::refuses_null(values, "d_values_in") ||
          detail::refuses_null(out, "d_values_out")) {
        return false;
      }
      const argument_bytes written = detail::bytes_of(out, num_items, "d_values_out");
      return !detail::refuses_initial_value(init, written) &&
             !detail::refuses_partial_overlap(out, "d_values_out", begins.keys, "d_keys_in", num_items) &&
             !detail::refuses_partial_overlap(out, "d_values_out", values, "d_values_in", num_items) &&
             !(is_over_keys() &&
               detail::refuses_overlap(written,
                                       detail::bytes_of(values, num_items, "d_values_in, and is also d_keys_in")));
    } else {
      return true;
    }
  }
  bool is_over_keys() const { return detail::are_same_array(begins.keys, out); }
  bool can_copy_in_bulk() const {
    return (!copies_keys || detail::is_at_boundary(begins.keys)) && (!copies_values || detail::is_at_boundary(values));
  }
  unsigned head_items() const { return 0; }

  // ------------------------------------------------------------------ for AgentScanPipeline

  template <class Policy, bool UsesBulkCopies>
  class steps {
    using Staged = StagedValue<UsesBulkCopies>;
    using Result = std::conditional_t<UsesBulkCopies && copies_values, Stored, T>;
    using Keys = stage_column<Key, UsesBulkCopies && copies_keys, true, typename Begins::Keys>;
    using Values = stage_column<Staged, UsesBulkCopies && copies_values, false, ValueIterator>;
    // not for users: StagedValue ensures it
    static_assert(sizeof(Staged) == sizeof(Result), "results overwrite values");

   public:
    using PipelineProblem = scan_by_key_problem;
    using Aggregate = Accum;
    using Stage = columns_stage<Policy, Key, Keys, Values, static_cast<int>(sizeof(Staged))>;
    using ThreadState = typename Stage::Shape::flags;  // where runs begin
    struct LocalResult {
      ThreadState begins;
      Accum below;  // aggregate of the lower lanes of the warp
    };
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = false;

    STRATA_D steps(const scan_by_key_problem& problem, const tiled_input&)
        : problem_(problem), scan_op_{problem.scan_op}, equality_op_(problem.begins.equality_op) {
      if constexpr (has_init) init_ = detail::initial_value<T>(problem.init);
    }

    STRATA_D TileOp& scan_op() { return scan_op_; }
    /// The first item of all begins a run: what is before it is never used.
    STRATA_D Accum initial_value() const { return Accum{}; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      Stage::load(stage, full, first, valid, problem_.begins.keys, problem_.values);
    }

    template <bool IsFull>
    STRATA_D Accum upsweep(const thread_slice& slice, ThreadState& heads) {
      Key keys[thread_items];
      heads = detail::find_begins<IsFull, Shape>(Stage::of_thread(Stage::keys(slice.stage), slice), slice, equality_op_,
                                                 keys);
      const Staged* const from = Stage::of_thread(Stage::template values<Staged>(slice.stage), slice);
      Accum sum{};
      STRATA_UNROLL
      for (int i = 0; i < thread_items; i += group) {
        if (!IsFull && i >= slice.thread_items) break;
        item_vector<Staged, group> vector;
        vector.load(from + i);
        Staged items[group];
        vector.get(items);
        STRATA_UNROLL
        for (int j = 0; j < group; ++j) {
          if (!IsFull && i + j >= slice.thread_items) break;
          const T item = static_cast<T>(items[j]);
          if (heads.at(i + j)) {
            sum = {first_of_run(item), 1};
          } else {
            sum.value = i + j > 0 ? combine(sum.value, item) : item;
          }
        }
      }
      return sum;
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice&, const ThreadState& heads, const Accum& below) const {
      return {heads, below};
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool, const Accum& warp_prefix) {
      T running = warp_prefix.value;
      if (slice.lane > 0 && (IsFull || slice.thread_items > 0)) {
        running = scan_op_(warp_prefix, local.below).value;
      }
      Staged* const of_thread =
          Stage::of_warp(Stage::template values<Staged>(slice.stage), slice) + slice.lane * thread_items;
      STRATA_UNROLL
      for (int i = 0; i < thread_items; i += group) {
        if (!IsFull && i >= slice.thread_items) break;
        item_vector<Staged, group> vector;
        vector.load(of_thread + i);
        Staged items[group];
        Result results[group];
        vector.get(items);
        if constexpr (!IsFull) std::memcpy(static_cast<void*>(results), items, sizeof(vector));
        STRATA_UNROLL
        for (int j = 0; j < group; ++j) {
          if (!IsFull && i + j >= slice.thread_items) break;
          const T item = static_cast<T>(items[j]);
          const bool begins_here = local.begins.at(i + j);
          if constexpr (!IsInclusive) results[j] = static_cast<Result>(begins_here ? init_ : running);
          running = begins_here ? first_of_run(item) : combine(running, item);
          if constexpr (IsInclusive) results[j] = static_cast<Result>(running);
        }
        vector.set(results);
        vector.store(of_thread + i);
      }
      __syncwarp();
      const std::size_t first = slice.first_item + static_cast<std::size_t>(slice.warp) * Stage::warp_items;
      detail::store_staged<Stage::warp_items>(Stage::of_warp(Stage::template values<Result>(slice.stage), slice),
                                              detail::advanced(problem_.out, first), slice.warp_items, slice.lane);
    }

   private:
    using Shape = typename Stage::Shape;
    static constexpr int thread_items = Stage::thread_items;
    static constexpr int group = Shape::group;

    STRATA_D T combine(const T& a, const T& b) { return static_cast<T>(scan_op_.op(a, b)); }
    STRATA_D T first_of_run(const T& item) {
      if constexpr (has_init) {
        return combine(init_, item);
      } else {
        return item;
      }
    }

    const scan_by_key_problem& problem_;
    TileOp scan_op_;
    typename Begins::EqualityOp equality_op_;
    T init_{};
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

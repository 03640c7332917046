// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The number of runs that have begun, and the sum since the last one began. If none has begun, the sum of all items.
template <class Count, class T>
struct counted_run {
  Count begins;
  T value;
};

}  // namespace detail
template <class Count, class T>
struct is_trivially_relocatable<detail::counted_run<Count, T>> : is_trivially_relocatable<T> {};
namespace detail {

/// Associative if `op` is; never commutative.
template <class Count, class T, class ReductionOp>
struct combine_counted_runs {
  ReductionOp op;

  STRATA_HD counted_run<Count, T> operator()(const counted_run<Count, T>& a, const counted_run<Count, T>& b) {
    const auto begins = static_cast<Count>(a.begins + b.begins);
    if (b.begins != 0) return {begins, b.value};
    return {begins, static_cast<T>(op(a.value, b.value))};
  }
};

/// A reduction by key, as DispatchScan takes it: a scan of counted runs. An item writes the key of the run that begins
/// with it, and the sum of the run that ends with it. If `ValueIterator` is NullType, each item counts as 1.
///
/// In the pipeline a stage holds keys and values. Where a run begins, a warp knows its key, and the sum of the run
/// before. It moves both to the front of its parts of the stage, and stores them from there, so that it stores
/// neighbouring items. Without values, it stores the index of a run's first item among the warp's items, in 2 bytes,
/// instead of a sum. Lengths are differences of these indices.
template <class Count, class T, class KeyIterator, class ValueIterator, class UniqueIterator, class AggregateIterator,
          class NumRunsIterator, class ReductionOp, class EqualityOp>
struct reduce_by_key_problem {
  using Accum = counted_run<Count, T>;
  using Key = iterator_value_t<KeyIterator>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
  static constexpr bool is_inclusive = true;
  static constexpr bool moves_in_place = false;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  // Keys stand in for values where there are none.
  using ValueSource = std::conditional_t<has_values, ValueIterator, KeyIterator>;
  using Value = iterator_value_t<ValueSource>;
  static constexpr bool copies_keys = is_bulk_array<KeyIterator>;
  static constexpr bool copies_values = is_bulk_array<ValueIterator> && sizeof(Value) == sizeof(T);
  template <bool UsesBulkCopies>
  using StagedValue = std::conditional_t<UsesBulkCopies && copies_values, Value, T>;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = 16 % sizeof(Key) == 0 &&
                                       (!has_values || 16 % sizeof(StagedValue<UsesBulkCopies>) == 0) &&
                                       (!UsesBulkCopies || copies_keys || copies_values);

  KeyIterator keys;
  ValueIterator values;
  UniqueIterator unique_out;
  AggregateIterator aggregates_out;
  NumRunsIterator num_runs_out;
  ReductionOp op;
  EqualityOp equality_op;

  STRATA_HD void write_aggregate(Count run, const T& sum) const {
    AggregateIterator to = detail::advanced(aggregates_out, static_cast<std::size_t>(run));
    if constexpr (has_values) {
      *to = static_cast<output_value_t<AggregateIterator, T>>(sum);
    } else {
      detail::store_count(to, sum);
    }
  }
  /// Writes the aggregate of the last run, and the number of runs.
  STRATA_HD void write_end(const Accum& total) const {
    STRATA_ASSERT(!reaches_inputs(unique_out, total.begins) && !reaches_inputs(aggregates_out, total.begins),
                  "an output of a reduction by key reaches into an input, with %llu runs",
                  static_cast<unsigned long long>(total.begins));
    write_aggregate(total.begins - 1, total.value);
    detail::store_count(num_runs_out, total.begins);
  }

  // ------------------------------------------------------------------ for AgentScanTile

  STRATA_HD bool begins_at(std::size_t i) {
    if (i == 0) return true;
    Key left = detail::item_at(keys, i - 1), right = detail::item_at(keys, i);
    return !equality_op(left, right);
  }

  struct load_run {
    reduce_by_key_problem problem;
    STRATA_D Accum load(std::size_t i) {
      const Count begins = problem.begins_at(i) ? 1 : 0;
      if constexpr (has_values) {
        return {begins, static_cast<T>(detail::item_at(problem.values, i))};
      } else {
        return {begins, T{1}};
      }
    }
  };
  struct store_runs {
    reduce_by_key_problem problem;
    std::size_t num_items;
    STRATA_D void store(std::size_t i, const Accum& sum) {
      if (problem.begins_at(i)) {
        *detail::advanced(problem.unique_out, static_cast<std::size_t>(sum.begins - 1)) =
            static_cast<output_value_t<UniqueIterator, Key>>(detail::item_at(problem.keys, i));
      }
      if (i + 1 == num_items) {
        problem.write_end(sum);
      } else if (problem.begins_at(i + 1)) {
        problem.write_aggregate(sum.begins - 1, sum.value);
      }
    }
  };
  using TileInput = indexed_input<load_run, Accum>;
  using TileOutput = indexed_output<store_runs, Accum>;
  using TileOp = combine_counted_runs<Count, T, ReductionOp>;
  using TileInit = NullType;

  STRATA_HD TileInput tile_input() const { return TileInput({*this}); }
  STRATA_HD TileOutput tile_output(std::size_t num_items) const { return TileOutput({*this, num_items}); }
  STRATA_HD TileOp tile_op() const { return {op}; }
  STRATA_HD TileInit tile_init() const { return {}; }
  STRATA_D void write_empty() const { *num_runs_out = static_cast<output_value_t<NumRunsIterator, Count>>(0); }

  // ------------------------------------------------------------------ arguments

  static constexpr compaction_arguments names =
      has_values
          ? compaction_arguments{"d_keys_in", "d_values_in", "d_unique_out", "d_aggregates_out", "d_num_runs_out"}
          : compaction_arguments{"d_in", "", "d_unique_out", "d_counts_out", "d_num_runs_out"};

  bool can_reach(std::size_t num_items) const {
    return !detail::refuses_reach(keys, num_items, names.keys) &&
           !detail::refuses_reach(values, num_items, names.values);
  }
  bool are_arguments_valid(std::size_t num_items) const {
    return detail::are_compaction_arrays_valid(num_items, num_items > 0 ? 1 : 0, keys, values, unique_out,
                                               aggregates_out, num_runs_out, names);
  }
  bool can_copy_in_bulk() const {
    return (!copies_keys || detail::is_at_boundary(keys)) && (!copies_values || detail::is_at_boundary(values));
  }
  unsigned head_items() const { return 0; }

  // ------------------------------------------------------------------ for AgentScanPipeline

  template <class Policy, bool UsesBulkCopies>
  class steps {
    using Staged = StagedValue<UsesBulkCopies>;
    // What is written to the stage over values.
    using Reduced = std::conditional_t<has_values, T, std::uint16_t>;
    using Keys = stage_column<Key, UsesBulkCopies && copies_keys, true, KeyIterator>;
    using Values = stage_column<Staged, UsesBulkCopies && copies_values, false, ValueSource>;
    // not for users: StagedValue ensures it
    static_assert(!has_values || sizeof(Staged) == sizeof(T), "sums overwrite values");

   public:
    using PipelineProblem = reduce_by_key_problem;
    using Aggregate = Accum;
    using Stage = columns_stage<Policy, Key, Keys, std::conditional_t<has_values, Values, NullType>,
                                static_cast<int>(sizeof(Reduced))>;
    // not for users: 64 items a thread at most
    static_assert(Stage::warp_items <= 1 << 16, "an index within a warp has 16 bits");
    struct ThreadState {
      typename Stage::Shape::flags begins;
      Key keys[Stage::thread_items];
      Staged values[has_values ? Stage::thread_items : 1];
    };
    struct LocalResult {
      int in_warp;      // runs that begin in the warp
      bool begins_run;  // one begins with the thread's first item
    };
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = true;

    STRATA_D steps(const reduce_by_key_problem& problem, const tiled_input&)
        : problem_(problem), scan_op_{problem.op}, equality_op_(problem.equality_op) {}

    STRATA_D TileOp& scan_op() { return scan_op_; }
    /// The first item of all begins a run: what is before it is never used.
    STRATA_D Accum initial_value() const { return Accum{}; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      Stage::load(stage, full, first, valid, problem_.keys, problem_.values);
    }

    template <bool IsFull>
    STRATA_D Accum upsweep(const thread_slice& slice, ThreadState& state) {
      state.begins = detail::find_begins<IsFull, Shape>(Stage::of_thread(Stage::keys(slice.stage), slice), slice,
                                                        equality_op_, state.keys);
      const auto count = static_cast<Count>(state.begins.count());
      if constexpr (has_values) {
        detail::load_slice<IsFull, Shape>(Stage::of_thread(Stage::template values<Staged>(slice.stage), slice),
                                          slice.thread_items, state.values);
        T sum{};
        STRATA_UNROLL
        for (int i = 0; i < thread_items; ++i) {
          if (!IsFull && i >= slice.thread_items) break;
          const T item = static_cast<T>(state.values[i]);
          sum = i == 0 || state.begins.at(i) ? item : combine(sum, item);
        }
        return {count, sum};
      } else {
        return {count, static_cast<T>(slice.thread_items - state.begins.last_or(0))};
      }
    }

    /// Moves the keys of the runs that begin in the warp to the front of its keys. For each of these runs, it also
    /// writes the sum of the run before. This sum has only items of this warp. Without values, it writes the index of
    /// the run's first item.
    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& state, const Accum& below) {
      const int rank = slice.lane > 0 ? static_cast<int>(below.begins) : 0;
      const int in_warp =
          detail::flags_in_warp(slice, thread_items, static_cast<int>(below.begins), state.begins.count());
      detail::compact<Shape>(state.keys, state.begins, slice, rank, in_warp, warp_keys(slice));
      Reduced* to = warp_reduced(slice) + rank;
      if constexpr (has_values) {
        T running = below.value;
        STRATA_UNROLL
        for (int i = 0; i < thread_items; ++i) {
          if (!IsFull && i >= slice.thread_items) break;
          const T item = static_cast<T>(state.values[i]);
          if (state.begins.at(i)) {
            *to++ = running;
            running = item;
          } else {
            running = i == 0 && slice.lane == 0 ? item : combine(running, item);
          }
        }
      } else {
        STRATA_UNROLL
        for (int i = 0; i < thread_items; ++i) {
          if (state.begins.at(i)) *to++ = static_cast<std::uint16_t>(slice.lane * thread_items + i);
        }
      }
      __syncwarp();
      return {in_warp, state.begins.at(0)};
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool, const Accum& warp_prefix) {
      detail::store_staged<Stage::warp_items>(
          warp_keys(slice), detail::advanced(problem_.unique_out, static_cast<std::size_t>(warp_prefix.begins)),
          local.in_warp, slice.lane);
      store_aggregates(slice, local, warp_prefix);
    }

    STRATA_D void write_total(const Accum& total) const { problem_.write_end(total); }

   private:
    using Shape = typename Stage::Shape;
    static constexpr int thread_items = Stage::thread_items;

    // Stores the aggregates of the runs that end before a run that begins in the warp.
    STRATA_D void store_aggregates(const thread_slice& slice, const LocalResult& local, const Accum& warp_prefix) {
      const Reduced* const from = warp_reduced(slice);
      // The first of them began before the warp. No run ends where the first of all begins.
      if (slice.lane == 0 && local.in_warp > 0 && warp_prefix.begins > 0) {
        T sum = warp_prefix.value;
        if constexpr (has_values) {
          if (!local.begins_run) sum = combine(sum, from[0]);
        } else {
          sum = static_cast<T>(sum + from[0]);
        }
        problem_.write_aggregate(warp_prefix.begins - 1, sum);
      }
      STRATA_UNROLL_N(4)
      for (int i = 1 + slice.lane; i < local.in_warp; i += warp_threads) {
        const auto run = static_cast<Count>(warp_prefix.begins - 1 + static_cast<Count>(i));
        if constexpr (has_values) {
          problem_.write_aggregate(run, from[i]);
        } else {
          problem_.write_aggregate(run, static_cast<T>(from[i] - from[i - 1]));
        }
      }
    }

    STRATA_D static Key* warp_keys(const thread_slice& slice) {
      return Stage::of_warp(Stage::keys(slice.stage), slice);
    }
    STRATA_D static Reduced* warp_reduced(const thread_slice& slice) {
      return Stage::of_warp(Stage::template values<Reduced>(slice.stage), slice);
    }
    STRATA_D T combine(const T& a, const T& b) { return static_cast<T>(scan_op_.op(a, b)); }

    const reduce_by_key_problem& problem_;
    TileOp scan_op_;
    EqualityOp equality_op_;
  };

 private:
  template <class Out>
  STRATA_HD bool reaches_inputs(const Out& out, std::size_t count) const {
    return detail::reaches_into(out, count, keys) || detail::reaches_into(out, count, values);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a reduction by key, whose sums are carried in `T`. Without values (NullType), each
/// item counts as 1.
template <class T, class PolicyHub, class KeyIterator, class ValueIterator, class UniqueIterator,
          class AggregateIterator, class NumRunsIterator, class ReductionOp, class EqualityOp, class NumItemsT>
cudaError_t dispatch_reduce_by_key(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   KeyIterator d_keys, ValueIterator d_values, UniqueIterator d_unique_out,
                                   AggregateIterator d_aggregates_out, NumRunsIterator d_num_runs_out,
                                   ReductionOp reduction_op, EqualityOp equality_op, NumItemsT num_items,
                                   cudaStream_t stream) {
  constexpr bool is_possible = equality_requirements<EqualityOp, iterator_value_t<KeyIterator>>::are_met &&
                               operator_requirements<ReductionOp, T>::are_met && relocatable_requirements<T>::are_met;
  using Problem = reduce_by_key_problem<item_count_t<NumItemsT>, T, KeyIterator, ValueIterator, UniqueIterator,
                                        AggregateIterator, NumRunsIterator, ReductionOp, EqualityOp>;
  const Problem problem{d_keys, d_values, d_unique_out, d_aggregates_out, d_num_runs_out, reduction_op, equality_op};
  if (d_temp_storage != nullptr && detail::overwrites_count(num_items, d_num_runs_out, "d_num_runs_out")) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero(name, d_num_runs_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

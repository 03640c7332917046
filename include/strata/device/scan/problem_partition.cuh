// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/problem_select.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

// Which part of a partition an item belongs to. A partition into two parts has a first part and the rest.
inline constexpr int first_part = 0;
inline constexpr int second_part = 1;
inline constexpr int rest_part = 2;

/// The part of an item, by its key. SecondOp is NullType for a partition in two.
template <class FirstOp, class SecondOp>
struct part_of {
  FirstOp first_op;
  SecondOp second_op;

  template <class Key>
  STRATA_HD int operator()(Key& key) {
    if (static_cast<bool>(first_op(key))) return first_part;
    if constexpr (!std::is_same_v<SecondOp, NullType>) {
      if (static_cast<bool>(second_op(key))) return second_part;
    }
    return rest_part;
  }
};

/// The number of items of each part but the last. strata::Sum adds them, in any order.
template <class Count, int Counted>
struct part_counts {
  Count of[Counted];

  STRATA_HD Count first() const { return of[0]; }
  STRATA_HD Count second() const { return Counted > 1 ? of[Counted - 1] : Count{0}; }
  STRATA_HD friend part_counts operator+(part_counts a, const part_counts& b) {
    for (int i = 0; i < Counted; ++i) a.of[i] = static_cast<Count>(a.of[i] + b.of[i]);
    return a;
  }
};

}  // namespace detail
template <class Count, int Counted>
struct operator_traits<Sum, detail::part_counts<Count, Counted>> : commutative_operator {};
namespace detail {

/// A partition, as DispatchScan takes it: a selection that also writes what it does not select. The rank of an item in
/// the last part follows from its index and the numbers of items before it in the other parts. In a partition in two,
/// SecondOutput and RestOutput are NullType, and the last part lies behind the first, in reverse order.
///
/// In the pipeline each warp sorts its slice of the stage by parts, and stores the items from the stage. So
/// neighbouring lanes store neighbouring items.
template <class Count, class KeyIterator, class ValueIterator, class PartOf, class FirstOutput, class SecondOutput,
          class RestOutput, class NumSelectedIterator>
struct partition_problem : select_problem<select_by::key, Count, KeyIterator, ValueIterator, NullType, NullType,
                                          NumSelectedIterator, PartOf> {
  using Select = select_problem<select_by::key, Count, KeyIterator, ValueIterator, NullType, NullType,
                                NumSelectedIterator, PartOf>;
  using typename Select::Key;
  using typename Select::Value;
  static constexpr bool has_second = !std::is_same_v<SecondOutput, NullType>;
  using Accum = part_counts<Count, (has_second ? 2 : 1)>;
  using policy_hub = columns_policy_hub<Accum, Accum>;

  FirstOutput first_out;
  SecondOutput second_out;
  RestOutput rest_out;
  std::size_t num_items;

  /// Stores every 32nd of the `count` items of a part, beginning with item `lane`. Item 0 has the rank `rank` in the
  /// part.
  template <class Item>
  STRATA_D void store(int part, std::size_t rank, const Item* items, int count, int lane) const {
    if (part == first_part) {
      store<1>(first_out, rank, items, count, lane);
    } else if constexpr (!has_second) {
      store<-1>(first_out, num_items - 1 - rank, items, count, lane);
    } else if (part == second_part) {
      store<1>(second_out, rank, items, count, lane);
    } else {
      store<1>(rest_out, rank, items, count, lane);
    }
  }
  /// Writes the number of items of each part but the last.
  STRATA_HD void write_numbers(const Accum& total) const {
    STRATA_ASSERT(!reaches(this->keys, total) && !reaches(this->values, total),
                  "an output of a partition reaches into an input, with %llu and %llu selected items",
                  static_cast<unsigned long long>(total.first()), static_cast<unsigned long long>(total.second()));
    detail::store_count(this->num_selected_out, total.first());
    if constexpr (has_second) detail::store_count(detail::advanced(this->num_selected_out, 1), total.second());
  }

  // ------------------------------------------------------------------ for AgentScanTile

  STRATA_HD int part_at(std::size_t i) {
    Key key = detail::item_at(this->keys, i);
    return this->op(key);
  }
  STRATA_HD static Accum counts(int first, [[maybe_unused]] int second) {
    if constexpr (has_second) {
      return {{static_cast<Count>(first), static_cast<Count>(second)}};
    } else {
      return {{static_cast<Count>(first)}};
    }
  }

  struct load_counts {
    partition_problem problem;
    STRATA_D Accum load(std::size_t i) {
      const int part = problem.part_at(i);
      return counts(part == first_part ? 1 : 0, part == second_part ? 1 : 0);
    }
  };
  struct store_item {
    partition_problem problem;
    STRATA_D void store(std::size_t i, const Accum& sum) {
      const std::size_t first = sum.first(), second = sum.second();
      const int part = problem.part_at(i);
      const std::size_t rank = part == first_part ? first - 1 : part == second_part ? second - 1 : i - first - second;
      if constexpr (Select::has_values) {
        const Value item = detail::item_at(problem.values, i);
        problem.store(part, rank, &item, 1, 0);
      } else {
        const Value item = detail::item_at(problem.keys, i);
        problem.store(part, rank, &item, 1, 0);
      }
      if (i + 1 == problem.num_items) problem.write_numbers(sum);
    }
  };
  using TileInput = indexed_input<load_counts, Accum>;
  using TileOutput = indexed_output<store_item, Accum>;

  STRATA_HD TileInput tile_input() const { return TileInput({*this}); }
  STRATA_HD TileOutput tile_output(std::size_t count) const { return TileOutput({with_items(count)}); }

  // ------------------------------------------------------------------ for a FutureCount

  STRATA_HD partition_problem with_items(std::size_t count) const {
    partition_problem result = *this;
    result.num_items = count;
    return result;
  }
  STRATA_D void write_empty() const { with_items(0).write_numbers(Accum{}); }

  // ------------------------------------------------------------------ arguments

  bool are_arguments_valid(std::size_t) const {
    constexpr const char* keys_name = Select::has_values ? "d_flags" : "d_in";
    constexpr const char* first = has_second ? "d_first_part_out" : "d_out";
    if (detail::refuses_null(this->num_selected_out, "d_num_selected_out")) return false;
    if (num_items > 0 &&
        (detail::refuses_null(this->keys, keys_name) || detail::refuses_null(this->values, "d_in") ||
         detail::refuses_null(first_out, first) || detail::refuses_null(second_out, "d_second_part_out") ||
         detail::refuses_null(rest_out, "d_unselected_out"))) {
      return false;
    }
    const std::size_t known = has_second && num_items > 0 ? 1 : num_items;
    return !detail::outputs_overlap(
        {detail::bytes_of(first_out, known, first), detail::bytes_of(second_out, known, "d_second_part_out"),
         detail::bytes_of(rest_out, known, "d_unselected_out"),
         detail::bytes_of(this->num_selected_out, has_second ? 2 : 1, "d_num_selected_out")},
        {detail::bytes_of(this->keys, num_items, keys_name), detail::bytes_of(this->values, num_items, "d_in")});
  }

  // ------------------------------------------------------------------ for AgentScanPipeline

  template <class Policy, bool UsesBulkCopies>
  class steps : public Select::template steps<Policy, UsesBulkCopies> {
    using base = typename Select::template steps<Policy, UsesBulkCopies>;

   public:
    using PipelineProblem = partition_problem;
    using Aggregate = Accum;
    using typename base::Stage;
    struct ThreadState {
      typename Stage::Shape::flags first;
      typename Stage::Shape::flags second;
      Key keys[Stage::thread_items];
    };
    /// The numbers of the warp's items in these parts.
    struct LocalResult {
      int first;
      int second;
    };

    STRATA_D steps(const partition_problem& problem, const tiled_input& input)
        : base(problem, input), problem_(problem) {}

    STRATA_D Accum initial_value() const { return Accum{}; }

    template <bool IsFull>
    STRATA_D Accum upsweep(const thread_slice& slice, ThreadState& state) {
      detail::load_slice<IsFull, Shape>(Stage::of_thread(Stage::keys(slice.stage), slice), slice.thread_items,
                                        state.keys);
      state.first = {};
      state.second = {};
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (!IsFull && i >= slice.thread_items) break;
        const int part = this->op_(state.keys[i]);
        state.first.set(i, part == first_part);
        if constexpr (has_second) state.second.set(i, part == second_part);
      }
      return counts(state.first.count(), state.second.count());
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& state, const Accum& below) const {
      Value items[thread_items];
      if constexpr (Select::has_values) {
        detail::load_slice<IsFull, Shape>(warp_items(slice) + slice.lane * thread_items, slice.thread_items, items);
      }
      // The next slot of each part.
      int first = slice.lane > 0 ? static_cast<int>(below.first()) : 0;
      int second = slice.lane > 0 ? static_cast<int>(below.second()) : 0;
      int rest = slice.lane * thread_items - first - second;
      LocalResult in_warp{detail::flags_in_warp(slice, thread_items, first, state.first.count()), 0};
      if constexpr (has_second) {
        in_warp.second = detail::flags_in_warp(slice, thread_items, second, state.second.count());
      }
      second += in_warp.first;
      rest += in_warp.first + in_warp.second;
      __syncwarp();  // All items are in registers.
      // One predicate for each item, kept from the upsweep on, is more than ptxas can allocate.
      auto is_first = state.first, is_second = state.second;
      platform::optimization_barrier(is_first.bits);
      if constexpr (has_second) platform::optimization_barrier(is_second.bits);
      Value* const to = warp_items(slice);
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (!IsFull && i >= slice.thread_items) break;
        const int slot = is_first.at(i) ? first++ : has_second && is_second.at(i) ? second++ : rest++;
        if constexpr (Select::has_values) {
          to[slot] = items[i];
        } else {
          to[slot] = state.keys[i];
        }
      }
      __syncwarp();
      return in_warp;
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& in_warp, bool, const Accum& before) const {
      const std::size_t first = before.first(), second = before.second();
      const std::size_t rest =
          slice.first_item + static_cast<unsigned>(slice.warp * Stage::warp_items) - first - second;
      const Value* const from = warp_items(slice);
      const int rest_begin = in_warp.first + in_warp.second;
      problem_.store(first_part, first, from, in_warp.first, slice.lane);
      if constexpr (has_second) {
        problem_.store(second_part, second, from + in_warp.first, in_warp.second, slice.lane);
      }
      problem_.store(rest_part, rest, from + rest_begin, slice.warp_items - rest_begin, slice.lane);
    }

    STRATA_D void write_total(const Accum& total) const { problem_.write_numbers(total); }

   private:
    using Shape = typename Stage::Shape;
    static constexpr int thread_items = Stage::thread_items;

    STRATA_D static Value* warp_items(const thread_slice& slice) {
      if constexpr (Select::has_values) {
        return base::warp_values(slice);
      } else {
        return base::warp_keys(slice);
      }
    }

    const partition_problem& problem_;
  };

 private:
  template <int Step, class Out, class Item>
  STRATA_D static void store(const Out& out, std::size_t to, const Item* items, int count, int lane) {
    const Out begin = detail::advanced(out, to);
    STRATA_UNROLL_N(4)
    for (int i = lane; i < count; i += warp_threads) {
      begin[static_cast<difference_of<Out>>(Step * i)] = static_cast<output_value_t<Out, Item>>(items[i]);
    }
  }
  template <class In>
  STRATA_HD bool reaches(const In& in, const Accum& total) const {
    return detail::reaches_into(first_out, total.first(), in) || detail::reaches_into(second_out, total.second(), in) ||
           detail::reaches_into(rest_out, num_items - total.first() - total.second(), in);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a partition. A partition into two parts has NullType for the arguments that it lacks, and
/// writes both parts to `d_first_out`.
template <class PolicyHub, class KeyIterator, class ValueIterator, class FirstOutput, class SecondOutput,
          class RestOutput, class NumSelectedIterator, class NumItemsT, class FirstOp, class SecondOp>
cudaError_t dispatch_partition(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                               ValueIterator d_values, FirstOutput d_first_out, SecondOutput d_second_out,
                               RestOutput d_rest_out, NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                               FirstOp first_op, SecondOp second_op, cudaStream_t stream) {
  using Key = iterator_value_t<KeyIterator>;
  constexpr bool has_second = !std::is_same_v<SecondOp, NullType>;
  using second_requirements = predicate_requirements<std::conditional_t<has_second, SecondOp, FirstOp>, Key>;
  constexpr bool is_possible = predicate_requirements<FirstOp, Key>::are_met && second_requirements::are_met;
  using Problem = partition_problem<item_count_t<NumItemsT>, KeyIterator, ValueIterator, part_of<FirstOp, SecondOp>,
                                    FirstOutput, SecondOutput, RestOutput, NumSelectedIterator>;
  const Problem problem{{d_keys, d_values, {}, {}, d_num_selected_out, {first_op, second_op}},
                        d_first_out,
                        d_second_out,
                        d_rest_out,
                        detail::max_items(num_items)};
  if (d_temp_storage != nullptr &&
      detail::overwrites_count(num_items, d_num_selected_out, "d_num_selected_out", has_second ? 2 : 1)) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero<(has_second ? 2 : 1)>("strata::DevicePartition", d_num_selected_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

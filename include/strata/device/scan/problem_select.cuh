// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/async_copy.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/gathered_values.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the operator of a selection is applied to.
enum class select_by {
  key,         // each key: whether its item is selected
  difference,  // each pair of neighbouring keys: if they are equal, the second item is left out
};

/// True if a flag is set.
struct is_set {
  template <class Flag>
  STRATA_HD bool operator()(const Flag& flag) const {
    return static_cast<bool>(flag);
  }
};

/// A selection, as DispatchScan takes it: a scan of the numbers of selected items. The keys decide: they are the items
/// themselves, or flags. The values of the selected keys are written. ValueIterator is NullType if there are no values.
/// KeyOutputIterator is NullType if keys are not written.
///
/// In the pipeline a stage holds keys and values. Each warp moves what it selects of its part of the stage to
/// the front of this part, and stores it from there, so that it stores neighbouring items. Where few flags are set,
/// only the selected values are read (gathered_values.cuh).
template <select_by By, class Count, class KeyIterator, class ValueIterator, class KeyOutputIterator,
          class ValueOutputIterator, class NumSelectedIterator, class Op>
struct select_problem {
  using Accum = Count;
  using Key = iterator_value_t<KeyIterator>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
  static constexpr bool is_inclusive = true;
  static constexpr bool moves_in_place = false;
  static constexpr bool is_by_difference = By == select_by::difference;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  static constexpr bool keeps_keys = !std::is_same_v<KeyOutputIterator, NullType>;
  // Keys stand in for values where there are none.
  using ValueSource = std::conditional_t<has_values, ValueIterator, KeyIterator>;
  using Value = iterator_value_t<ValueSource>;
  static constexpr bool copies_keys = is_bulk_array<KeyIterator>;
  static constexpr bool copies_values = has_values && is_bulk_array<ValueIterator>;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = 16 % sizeof(Key) == 0 && 16 % sizeof(Value) == 0 &&
                                       (!UsesBulkCopies || copies_keys || copies_values);

  KeyIterator keys;
  ValueIterator values;
  KeyOutputIterator keys_out;
  ValueOutputIterator values_out;
  NumSelectedIterator num_selected_out;
  Op op;

  // ------------------------------------------------------------------ for AgentScanTile

  STRATA_HD bool is_selected(std::size_t i) {
    if constexpr (is_by_difference) {
      if (i == 0) return true;
      Key left = detail::item_at(keys, i - 1), right = detail::item_at(keys, i);
      return !op(left, right);
    } else {
      Key key = detail::item_at(keys, i);
      return static_cast<bool>(op(key));
    }
  }
  /// Writes the number of selected items.
  STRATA_HD void write_number(Count selected) const {
    STRATA_ASSERT(!reaches_inputs(keys_out, selected) && !reaches_inputs(values_out, selected),
                  "an output of a selection reaches into an input, with %llu items",
                  static_cast<unsigned long long>(selected));
    detail::store_count(num_selected_out, selected);
  }

  struct load_count {
    select_problem problem;
    STRATA_D Count load(std::size_t i) { return problem.is_selected(i) ? 1 : 0; }
  };
  struct store_selected {
    select_problem problem;
    std::size_t num_items;
    STRATA_D void store(std::size_t i, const Count& selected) {
      if (problem.is_selected(i)) {
        const auto to = static_cast<std::size_t>(selected - 1);
        if constexpr (keeps_keys) copy(problem.keys, i, problem.keys_out, to);
        if constexpr (has_values) copy(problem.values, i, problem.values_out, to);
      }
      if (i + 1 == num_items) problem.write_number(selected);
    }
  };
  using TileInput = indexed_input<load_count, Count>;
  using TileOutput = indexed_output<store_selected, Count>;
  using TileOp = strata::Sum;
  using TileInit = NullType;

  STRATA_HD TileInput tile_input() const { return TileInput({*this}); }
  STRATA_HD TileOutput tile_output(std::size_t num_items) const { return TileOutput({*this, num_items}); }
  STRATA_HD TileOp tile_op() const { return {}; }
  STRATA_HD TileInit tile_init() const { return {}; }
  STRATA_D void write_empty() const { write_number(0); }

  // ------------------------------------------------------------------ arguments

  static constexpr compaction_arguments names =
      !has_values ? compaction_arguments{"d_in", "", "d_out", "", "d_num_selected_out"}
      : is_by_difference
          ? compaction_arguments{"d_keys_in", "d_values_in", "d_keys_out", "d_values_out", "d_num_selected_out"}
          : compaction_arguments{"d_flags", "d_in", "", "d_out", "d_num_selected_out"};

  bool can_reach(std::size_t num_items) const {
    return !detail::refuses_reach(keys, num_items, names.keys) &&
           !detail::refuses_reach(values, num_items, names.values);
  }
  bool are_arguments_valid(std::size_t num_items) const { return are_arrays_valid(num_items, num_items > 0 ? 1 : 0); }
  bool are_arrays_valid(std::size_t num_items, std::size_t known_outputs) const {
    return detail::are_compaction_arrays_valid(num_items, known_outputs, keys, values, keys_out, values_out,
                                               num_selected_out, names);
  }
  bool can_copy_in_bulk() const {
    return (!copies_keys || detail::is_at_boundary(keys)) && (!copies_values || detail::is_at_boundary(values));
  }
  unsigned head_items() const { return 0; }

  // ------------------------------------------------------------------ for AgentScanPipeline

  template <class Policy, bool UsesBulkCopies>
  class steps {
    using Keys = stage_column<Key, UsesBulkCopies && copies_keys, is_by_difference, KeyIterator>;
    using Values = stage_column<Value, UsesBulkCopies && copies_values, false, ValueSource>;

    using Columns = columns_stage<Policy, Key, Keys, std::conditional_t<has_values, Values, NullType>,
                                  has_values ? static_cast<int>(sizeof(Value)) : 0>;
    // A partition derives from this class. It keeps all values, and has no output here.
    static constexpr bool may_gather = !is_by_difference && !std::is_same_v<ValueOutputIterator, NullType> &&
                                       UsesBulkCopies && copies_keys && copies_values &&
                                       platform::is_async_copy_size<Value>;

   public:
    using PipelineProblem = select_problem;
    using Aggregate = Count;
    using Stage = std::conditional_t<may_gather, gathering_stage<Columns>, Columns>;
    struct ThreadState {
      typename Stage::Shape::flags selected;
      Key keys[Stage::thread_items];
      bool is_gathered;
    };
    struct LocalResult {
      int in_warp;  // selected items, at the front of its part of the stage
    };
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = true;

    STRATA_D steps(const select_problem& problem, const tiled_input& input)
        : problem_(problem), op_(problem.op), num_items_(input.num_items) {}

    STRATA_D strata::Sum scan_op() const { return {}; }
    STRATA_D Count initial_value() const { return 0; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) {
      if constexpr (may_gather) {
        const int lane = static_cast<int>(threadIdx.x) - Stage::tuning.scanning_threads;
        if (lane == 0) Stage::is_gathered(stage) = is_gathered_;
        Stage::load_columns(stage, full, first, valid, is_gathered_ ? 0 : valid, problem_.keys, problem_.values);
        // The next tile must be loaded as soon as its stage is empty. So the sample of the next tile, which has
        // arrived, decides now whether that tile's values are gathered. A block's first two tiles have no sample.
        is_gathered_ = has_sample_ && sample_.template is_sparse<Value>(op_);
        const std::size_t sampled = first + std::size_t{2} * gridDim.x * Stage::tile_items;
        has_sample_ = !is_in_place() && sampled + Stage::tile_items <= num_items_;
        if (has_sample_) sample_.load(problem_.keys + sampled, lane);
      } else {
        Stage::load(stage, full, first, valid, problem_.keys, problem_.values);
      }
    }

    template <bool IsFull>
    STRATA_D Count upsweep(const thread_slice& slice, ThreadState& state) {
      const Key* const from = Stage::of_warp(Stage::keys(slice.stage), slice) + slice.lane * Stage::thread_items;
      if constexpr (may_gather && IsFull) state.is_gathered = Stage::is_gathered(slice.stage);
      if constexpr (is_by_difference) {
        state.selected = detail::find_begins<IsFull, Shape>(from, slice, op_, state.keys);
      } else {
        detail::load_slice<IsFull, Shape>(from, slice.thread_items, state.keys);
        state.selected = {};
        STRATA_UNROLL
        for (int i = 0; i < Stage::thread_items; ++i) {
          if (!IsFull && i >= slice.thread_items) break;
          state.selected.set(i, static_cast<bool>(op_(state.keys[i])));
        }
      }
      return static_cast<Count>(state.selected.count());
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& state, const Count& below) {
      const int rank = slice.lane > 0 ? static_cast<int>(below) : 0;
      const int in_warp =
          detail::flags_in_warp(slice, Stage::thread_items, static_cast<int>(below), state.selected.count());
      if constexpr (keeps_keys) {
        detail::compact<Shape>(state.keys, state.selected, slice, rank, in_warp, warp_keys(slice));
      }
      if constexpr (has_values) {
        Value* const slice_values = warp_values(slice);
        if (!starts_gather<IsFull>(slice, state, rank, in_warp, slice_values)) {
          Value items[Stage::thread_items];
          detail::load_slice<IsFull, Shape>(slice_values + slice.lane * Stage::thread_items, slice.thread_items, items);
          detail::compact<Shape>(items, state.selected, slice, rank, in_warp, slice_values);
        }
      }
      __syncwarp();
      return {in_warp};
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool, const Count& warp_prefix) {
      const auto first = static_cast<std::size_t>(warp_prefix);
      wait_for_gather();
      if constexpr (keeps_keys) {
        detail::store_staged<Stage::warp_items>(warp_keys(slice), detail::advanced(problem_.keys_out, first),
                                                local.in_warp, slice.lane);
      }
      if constexpr (has_values) {
        detail::store_staged<Stage::warp_items>(warp_values(slice), detail::advanced(problem_.values_out, first),
                                                local.in_warp, slice.lane);
      }
    }

    STRATA_D void write_total(const Count& total) const { problem_.write_number(total); }

   protected:
    using Shape = typename Stage::Shape;
    STRATA_D static Key* warp_keys(const thread_slice& slice) {
      return Stage::of_warp(Stage::keys(slice.stage), slice);
    }
    STRATA_D static Value* warp_values(const thread_slice& slice) {
      return Stage::of_warp(Stage::template values<Value>(slice.stage), slice);
    }

   private:
    /// True if values are written over the input. Then no values are gathered: another block may overwrite them when it
    /// knows how many items before its own are selected.
    STRATA_D bool is_in_place() const {
      if constexpr (std::is_same_v<ValueIterator, ValueOutputIterator>) {
        return problem_.values == problem_.values_out;
      } else {
        return false;
      }
    }
    /// Starts to gather a warp's values. Returns false if they are in the stage. A warp calls this.
    template <bool IsFull>
    STRATA_D bool starts_gather(const thread_slice& slice, const ThreadState& state, int rank, int in_warp, Value* to) {
      if constexpr (may_gather) {
        bool is_gathered = false;
        if constexpr (IsFull) {
          if (state.is_gathered) {
            const auto* const from = problem_.values + (slice.first_item + slice.warp * Stage::warp_items);
            is_gathered = in_warp <= Stage::warp_items / 4;
            if (is_gathered) {
              detail::start_gather<Shape>(from, state.selected, slice.lane, rank, to);
            } else {
              detail::load_missed_values<Shape>(from, slice.lane, to);
            }
          }
        }
        platform::commit_async_copies();
        ++started_;
        return is_gathered;
      } else {
        return false;
      }
    }
    /// Waits for the oldest gather. In the last rounds, fewer than `lag` younger ones are in flight: then it waits for
    /// all.
    STRATA_D void wait_for_gather() {
      if constexpr (may_gather) {
        constexpr int lag = Stage::tuning.lag;
        if (started_ > lag) {
          platform::wait_for_async_groups_before<lag>();
        } else {
          platform::wait_for_async_groups_before<0>();
        }
        --started_;
        __syncwarp();
      }
    }

   protected:
    const select_problem& problem_;
    Op op_;

   private:
    std::size_t num_items_;
    // The loading warp has the sample of the tile after the next one, and whether the next one is gathered.
    std::conditional_t<may_gather, flag_sample<Key, Stage::tile_items>, NullType> sample_{};
    bool has_sample_ = false;
    bool is_gathered_ = false;
    int started_ = 0;  // gathers between upsweep and downsweep
  };

 private:
  template <class In, class Out>
  STRATA_HD static void copy(const In& in, std::size_t from, const Out& out, std::size_t to) {
    using Stored = output_value_t<Out, iterator_value_t<In>>;
    *detail::advanced(out, to) = static_cast<Stored>(detail::item_at(in, from));
  }
  template <class Out>
  STRATA_HD bool reaches_inputs(const Out& out, std::size_t count) const {
    return detail::reaches_into(out, count, keys) || detail::reaches_into(out, count, values);
  }
};

// ------------------------------------------------------------------ in place

/// The number of items that are selected up to an item, and a copy of this item. (Before the number is known, another
/// block may have overwritten the item in the input.)
template <class Count, class T>
struct selected_item {
  Count selected;
  unsigned is_selected;
  T item;
};

}  // namespace detail
template <class Count, class T>
struct is_trivially_relocatable<detail::selected_item<Count, T>> : is_trivially_relocatable<T> {};
namespace detail {

/// Associative, not commutative.
struct count_selected {
  template <class Item>
  STRATA_HD Item operator()(const Item& a, const Item& b) const {
    Item sum = b;
    sum.selected += a.selected;
    return sum;
  }
};

/// The selection in place: of keys or of values. The pipeline needs no change, because a stage holds the items until
/// the number of selected items before them is known; its kernel is that of `Select`.
///
/// A selection by difference also reads the item before its tile, which belongs to another tile. That tile would write
/// to the item only if no item before it was left out, and then it would write the same item. So items that keep their
/// index are not written, and the pipeline, which stores items together, is not used.
template <class Select>
struct select_in_place_problem : Select {
  using Count = typename Select::Accum;
  using Moved = typename Select::Value;
  using Accum = selected_item<Count, Moved>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
  static constexpr bool moves_in_place = true;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = !Select::is_by_difference && Select::template has_pipeline<UsesBulkCopies>;

  struct load_item {
    Select problem;
    STRATA_D Accum load(std::size_t i) {
      const unsigned selected = problem.is_selected(i) ? 1u : 0u;
      if constexpr (Select::has_values) {
        return {selected, selected, detail::item_at(problem.values, i)};
      } else {
        return {selected, selected, detail::item_at(problem.keys, i)};
      }
    }
  };
  struct store_item {
    Select problem;
    std::size_t num_items;
    STRATA_D void store(std::size_t i, const Accum& sum) {
      if (sum.is_selected != 0) {
        const auto to = static_cast<std::size_t>(sum.selected - 1);
        if constexpr (Select::is_by_difference) {
          if (to != i) *detail::advanced(problem.keys_out, to) = sum.item;
        } else if constexpr (Select::has_values) {
          *detail::advanced(problem.values_out, to) = sum.item;
        } else {
          *detail::advanced(problem.keys_out, to) = sum.item;
        }
      }
      if (i + 1 == num_items) problem.write_number(sum.selected);
    }
  };
  using TileInput = indexed_input<load_item, Accum>;
  using TileOutput = indexed_output<store_item, Accum>;
  using TileOp = count_selected;

  STRATA_HD TileInput tile_input() const { return TileInput({*this}); }
  STRATA_HD TileOutput tile_output(std::size_t num_items) const { return TileOutput({*this, num_items}); }
  STRATA_HD TileOp tile_op() const { return {}; }

  bool are_arguments_valid(std::size_t num_items) const {
    return Select::are_arrays_valid(num_items, 0) &&
           (!Select::has_values || detail::are_same_array(this->values_out, this->keys) ||
            !detail::refuses_overlap(detail::bytes_of(this->values_out, 1, Select::names.values_out),
                                     detail::bytes_of(this->keys, num_items, Select::names.keys)));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a selection. `InPlace`: the input is the output.
template <select_by By, bool InPlace, class PolicyHub, class KeyIterator, class ValueIterator, class KeyOutputIterator,
          class ValueOutputIterator, class NumSelectedIterator, class NumItemsT, class Op>
cudaError_t dispatch_select(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                            ValueIterator d_values, KeyOutputIterator d_keys_out, ValueOutputIterator d_values_out,
                            NumSelectedIterator d_num_selected_out, NumItemsT num_items, Op op, cudaStream_t stream) {
  using Key = iterator_value_t<KeyIterator>;
  using requirements =
      std::conditional_t<By == select_by::difference, equality_requirements<Op, Key>, predicate_requirements<Op, Key>>;
  using Select = select_problem<By, item_count_t<NumItemsT>, KeyIterator, ValueIterator, KeyOutputIterator,
                                ValueOutputIterator, NumSelectedIterator, Op>;
  using Problem = std::conditional_t<InPlace, select_in_place_problem<Select>, Select>;
  const Select select{d_keys, d_values, d_keys_out, d_values_out, d_num_selected_out, op};
  if (d_temp_storage != nullptr && detail::overwrites_count(num_items, d_num_selected_out, "d_num_selected_out")) {
    return cudaErrorInvalidValue;
  }
  const cudaError_t status = dispatch_if<requirements::are_met, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, Problem{select}, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || detail::max_items(num_items) > 0) return status;
  return detail::write_zero("strata::DeviceSelect", d_num_selected_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

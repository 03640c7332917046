// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/ring_column.cuh>
#include <strata/device/scan/find_begins.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A scan by key, as the work of a ring (see AgentRing). A stage holds keys and values; results
/// take the places of values. Whether a run begins at an item is found out once, when its tile is
/// folded.
template <class Policy, class Form>
class scan_by_key_work {
  static constexpr ring_columns_tuning tuning = Policy::columns;
  using Key = typename Form::Key;
  using T = typename Form::Accum;
  using Value = typename Form::StagedValue;
  using Result = typename Form::StagedResult;
  using Keys = ring_column<Key, Form::copies_keys, true, typename Form::KeyIterator>;
  using Values = ring_column<Value, Form::copies_values, false, typename Form::ValueIterator>;
  using Loader = ring_loader<tuning.item_loading_warps, Keys, Values>;
  using Shape = ring_columns_shape<tuning.thread_bytes, sizeof(Key), sizeof(Value)>;
  static constexpr int together = Shape::together;
  // not for users: the forms see to it
  static_assert(sizeof(Value) == sizeof(Result), "results take the places of values");

 public:
  using Sum = sum_of_run<T>;
  using Held = typename Shape::flags;
  struct Carried {
    Held begins;
    Sum below;  // of the lanes below in the warp
  };
  static constexpr bool has_initial_value = true;
  static constexpr bool may_have_head = false;
  static constexpr bool has_total = false;
  static constexpr int scanning_threads = tuning.scanning_threads;
  static constexpr int stages = tuning.stages;
  static constexpr int lag = tuning.lag;
  static constexpr int blocks_per_multiprocessor = tuning.blocks_per_multiprocessor;
  static constexpr int thread_items = Shape::thread_items;
  static constexpr int loading_warps = Loader::warps;

 private:
  static constexpr int warp_items = warp_threads * thread_items;
  static constexpr int tile_items = scanning_threads * thread_items;
  static constexpr int first_key = Keys::bytes_before;
  static constexpr int first_value =
      first_key + round_up(tile_items * static_cast<int>(sizeof(Key)), 16);

 public:
  static constexpr int stage_bytes =
      first_value + round_up(tile_items * static_cast<int>(sizeof(Value)), 16);

  STRATA_D scan_by_key_work(const Form& form, const ring_shape&)
      : form_(form), scan_op_{form.scan_op}, equality_op_(form.equality_op) {
    if constexpr (Form::has_initial_value) init_ = detail::initial_value<T>(form.init);
  }

  STRATA_D combine_runs<T, typename Form::ScanOp>& scan_op() { return scan_op_; }
  /// The first item of all begins a run: what is before it is never looked at.
  STRATA_D Sum initial_value() const { return Sum{}; }

  STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first,
                     int valid) const {
    const int thread = static_cast<int>(threadIdx.x) - scanning_threads;
    Loader::load(
        full, thread, Keys{keys(stage), detail::advanced(form_.keys, first), first == 0, valid},
        Values{values<Value>(stage), detail::advanced(form_.values, first), first == 0, valid});
  }

  template <bool IsFull>
  STRATA_D Sum fold(const ring_share& share, Held& begins) {
    const int place = share.warp * warp_items + share.lane * thread_items;
    Key held[thread_items];
    begins =
        detail::find_begins<IsFull, Shape>(keys(share.stage) + place, share, equality_op_, held);
    const Value* const from = values<Value>(share.stage) + place;
    Sum sum{};
    STRATA_UNROLL
    for (int i = 0; i < thread_items; i += together) {
      if (!IsFull && i >= share.thread_items) break;
      Value items[together];
      read(from + i, items);
      STRATA_UNROLL
      for (int j = 0; j < together; ++j) {
        if (!IsFull && i + j >= share.thread_items) break;
        const T item = static_cast<T>(items[j]);
        if (begins.at(i + j)) {
          sum = {first_of_run(item), 1};
        } else {
          sum.value = i + j > 0 ? combine(sum.value, item) : item;
        }
      }
    }
    return sum;
  }

  template <bool IsFull>
  STRATA_D Carried settle(const ring_share&, const Held& begins, const Sum& below) const {
    return {begins, below};
  }

  template <bool IsFull>
  STRATA_D void finish(const ring_share& share, const Carried& carried, bool,
                       const Sum& warp_prefix) {
    T running = warp_prefix.value;
    if (share.lane > 0 && (IsFull || share.thread_items > 0)) {
      running = scan_op_(warp_prefix, carried.below).value;
    }
    Value* const of_thread = values<Value>(share.stage) + share.warp * warp_items +
                             share.lane * thread_items;
    STRATA_UNROLL
    for (int i = 0; i < thread_items; i += together) {
      if (!IsFull && i >= share.thread_items) break;
      item_vector<Value, together> held;
      held.load(of_thread + i);
      Value items[together];
      Result results[together];
      held.get(items);
      if constexpr (!IsFull) std::memcpy(static_cast<void*>(results), items, sizeof(held));
      STRATA_UNROLL
      for (int j = 0; j < together; ++j) {
        if (!IsFull && i + j >= share.thread_items) break;
        const T item = static_cast<T>(items[j]);
        const bool begins_here = carried.begins.at(i + j);
        if constexpr (!Form::is_inclusive) {
          results[j] = static_cast<Result>(begins_here ? init_ : running);
        }
        running = begins_here ? first_of_run(item) : combine(running, item);
        if constexpr (Form::is_inclusive) results[j] = static_cast<Result>(running);
      }
      held.set(results);
      held.store(of_thread + i);
    }
    __syncwarp();
    detail::store_items<warp_items>(
        values<Result>(share.stage) + share.warp * warp_items,
        detail::advanced(form_.out,
                         share.first_item + static_cast<std::size_t>(share.warp) * warp_items),
        share.warp_items, share.lane);
  }

 private:
  STRATA_D static Key* keys(unsigned char* stage) {
    return reinterpret_cast<Key*>(stage + first_key);
  }
  template <class U>
  STRATA_D static U* values(unsigned char* stage) {
    return reinterpret_cast<U*>(stage + first_value);
  }
  STRATA_D static void read(const Value* from, Value (&items)[together]) {
    item_vector<Value, together> held;
    held.load(from);
    held.get(items);
  }
  STRATA_D T combine(const T& a, const T& b) { return static_cast<T>(scan_op_.op(a, b)); }
  STRATA_D T first_of_run(const T& item) {
    if constexpr (Form::has_initial_value) {
      return combine(init_, item);
    } else {
      return item;
    }
  }

  const Form& form_;
  combine_runs<T, typename Form::ScanOp> scan_op_;
  typename Form::EqualityOp equality_op_;
  T init_{};
};

/// What a ring needs to scan by key, `UsesBulkCopies` where an input is an array.
template <bool UsesBulkCopies, class KeyIteratorT, class ValueIteratorT, class OutputIteratorT,
          class AccumT, class ScanOpT, class EqualityOpT, bool IsInclusive, class InitT>
struct scan_by_key_form {
  using KeyIterator = KeyIteratorT;
  using ValueIterator = ValueIteratorT;
  using ScanOp = ScanOpT;
  using EqualityOp = EqualityOpT;
  using Accum = AccumT;
  using Key = iterator_value_t<KeyIterator>;
  using Value = iterator_value_t<ValueIterator>;
  using Result = output_value_t<OutputIteratorT, AccumT>;
  static constexpr bool is_inclusive = IsInclusive;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  static constexpr bool copies_keys = UsesBulkCopies && is_bulk_array<KeyIterator>;
  static constexpr bool copies_values = UsesBulkCopies && is_bulk_array<ValueIterator> &&
                                        sizeof(Value) == sizeof(Result) &&
                                        is_trivially_relocatable_v<Result>;
  using StagedValue = std::conditional_t<copies_values, Value, AccumT>;
  using StagedResult = std::conditional_t<copies_values, Result, AccumT>;
  // Whatever is not copied is staged by its value.
  static constexpr bool fits = 16 % sizeof(Key) == 0 && 16 % sizeof(StagedValue) == 0;

  KeyIterator keys;
  ValueIterator values;
  OutputIteratorT out;
  ScanOp scan_op;
  EqualityOp equality_op;
  InitT init;

  using Sum = sum_of_run<AccumT>;
  template <class Policy>
  using work = scan_by_key_work<Policy, scan_by_key_form>;
};

/// Chooses among the forms.
template <class KeyIterator, class ValueIterator, class OutputIterator, class AccumT, class ScanOp,
          class EqualityOp, bool IsInclusive, class InitT>
struct scan_by_key_rings {
  template <bool UsesBulkCopies>
  using form = scan_by_key_form<UsesBulkCopies, KeyIterator, ValueIterator, OutputIterator, AccumT,
                                ScanOp, EqualityOp, IsInclusive, InitT>;

  static constexpr bool moves_in_place = false;

  form<true> arguments;

  template <class Start>
  bool start(const Start& start_ring, cudaError_t& status) const {
    using bulk = form<true>;
    using items = form<false>;
    if constexpr (bulk::fits && (bulk::copies_keys || bulk::copies_values)) {
      if ((!bulk::copies_keys || detail::is_at_boundary(arguments.keys)) &&
          (!bulk::copies_values || detail::is_at_boundary(arguments.values))) {
        status = start_ring(arguments, 0);
        return true;
      }
    }
    if constexpr (items::fits) {
      status = start_ring(items{arguments.keys, arguments.values, arguments.out,
                                arguments.scan_op, arguments.equality_op, arguments.init},
                          0);
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

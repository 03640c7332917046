// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/reduce_by_key/runs.cuh>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/compaction.cuh>
#include <strata/device/scan/find_begins.cuh>
#include <strata/device/scan/ring_column.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A reduction by key, as the work of a ring (see AgentRing). A stage holds keys and values. Where
/// a run begins, its key is known, and the sum of the run before it: each warp moves these to the
/// front of its parts of the stage, and stores them from there, so that stores are of neighbouring
/// places.
///
/// Where each item counts as 1, there are no values to stage. The place of a beginning within the
/// warp's items, of 2 bytes, takes the place of a sum, and lengths are differences of these.
template <class Policy, class Form>
class reduce_by_key_work {
  static constexpr ring_columns_tuning tuning = Policy::columns;
  static constexpr bool has_values = Form::has_values;
  using Key = typename Form::Key;
  using T = typename Form::Accum;
  using Count = typename Form::Count;
  using Value = typename Form::StagedValue;
  // What is written to the stage in place of values.
  using Reduced = std::conditional_t<has_values, T, std::uint16_t>;
  using Keys = ring_column<Key, Form::copies_keys, true, typename Form::KeyIterator>;
  using Values = ring_column<Value, Form::copies_values, false,
                             std::conditional_t<has_values, typename Form::ValueIterator,
                                                typename Form::KeyIterator>>;
  using Loader =
      std::conditional_t<has_values, ring_loader<tuning.item_loading_warps, Keys, Values>,
                         ring_loader<tuning.item_loading_warps, Keys>>;
  using Shape = ring_columns_shape<tuning.thread_bytes, sizeof(Key), sizeof(Reduced)>;
  // not for users: the forms see to it
  static_assert(!has_values || sizeof(Value) == sizeof(T), "sums take the places of values");

 public:
  using Sum = typename Form::Run;
  struct Held {
    typename Shape::flags begins;
    Key keys[Shape::thread_items];
    Value values[has_values ? Shape::thread_items : 1];
  };
  struct Carried {
    int in_warp;  // runs that begin in it
    bool begins_run;  // the thread's first item does
  };
  static constexpr bool has_initial_value = true;
  static constexpr bool may_have_head = false;
  static constexpr bool has_total = true;
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
  // not for users: 64 items a thread at most
  static_assert(warp_items <= 1 << 16, "a place within a warp has 16 bits");

 public:
  static constexpr int stage_bytes =
      first_value + round_up(tile_items * static_cast<int>(sizeof(Reduced)), 16);

  STRATA_D reduce_by_key_work(const Form& form, const ring_shape&)
      : form_(form), scan_op_{form.op}, equality_op_(form.equality_op) {}

  STRATA_D typename Form::Combine& scan_op() { return scan_op_; }
  /// The first item of all begins a run: what is before it is never looked at.
  STRATA_D Sum initial_value() const { return Sum{}; }

  STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first,
                     int valid) const {
    const int thread = static_cast<int>(threadIdx.x) - scanning_threads;
    const Keys column{keys(stage), detail::advanced(form_.keys, first), first == 0, valid};
    if constexpr (has_values) {
      Loader::load(
          full, thread, column,
          Values{values<Value>(stage), detail::advanced(form_.values, first), first == 0, valid});
    } else {
      Loader::load(full, thread, column);
    }
  }

  template <bool IsFull>
  STRATA_D Sum fold(const ring_share& share, Held& held) {
    const int place = share.warp * warp_items + share.lane * thread_items;
    held.begins = detail::find_begins<IsFull, Shape>(keys(share.stage) + place, share, equality_op_,
                                                     held.keys);
    const auto count = static_cast<Count>(held.begins.count());
    if constexpr (has_values) {
      detail::hold_items<IsFull, Shape>(values<Value>(share.stage) + place, share.thread_items,
                                        held.values);
      T sum{};
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (!IsFull && i >= share.thread_items) break;
        const T item = static_cast<T>(held.values[i]);
        sum = i == 0 || held.begins.at(i) ? item : combine(sum, item);
      }
      return {count, sum};
    } else {
      return {count, static_cast<T>(share.thread_items - held.begins.last_or(0))};
    }
  }

  /// Where runs begin, moves keys, and the sums of the runs before as far as the warp knows them.
  template <bool IsFull>
  STRATA_D Carried settle(const ring_share& share, const Held& held, const Sum& below) {
    const int rank = share.lane > 0 ? static_cast<int>(below.begins) : 0;
    const int in_warp = detail::flags_in_warp(share, thread_items, static_cast<int>(below.begins),
                                              held.begins.count());
    detail::compact<Shape>(held.keys, held.begins, share, rank, in_warp,
                           keys(share.stage) + share.warp * warp_items);
    Reduced* to = reduced(share) + rank;
    if constexpr (has_values) {
      T running = below.value;
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (!IsFull && i >= share.thread_items) break;
        const T item = static_cast<T>(held.values[i]);
        if (held.begins.at(i)) {
          *to++ = running;
          running = item;
        } else {
          running = i == 0 && share.lane == 0 ? item : combine(running, item);
        }
      }
    } else {
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (held.begins.at(i)) {
          *to++ = static_cast<std::uint16_t>(share.lane * thread_items + i);
        }
      }
    }
    __syncwarp();
    return {in_warp, held.begins.at(0)};
  }

  template <bool IsFull>
  STRATA_D void finish(const ring_share& share, const Carried& carried, bool,
                       const Sum& warp_prefix) {
    detail::store_items<warp_items>(
        keys(share.stage) + share.warp * warp_items,
        detail::advanced(form_.unique_out, static_cast<std::size_t>(warp_prefix.begins)),
        carried.in_warp, share.lane);
    store_aggregates(share, carried, warp_prefix);
  }

  STRATA_D void finish_all(const Sum& total) const { form_.write_end(total); }

 private:
  // Of the runs that end before one that begins in the warp.
  STRATA_D void store_aggregates(const ring_share& share, const Carried& carried,
                                 const Sum& warp_prefix) {
    const Reduced* const from = reduced(share);
    // The first of them began before the warp. No run ends where the first of all begins.
    if (share.lane == 0 && carried.in_warp > 0 && warp_prefix.begins > 0) {
      T sum = warp_prefix.value;
      if constexpr (has_values) {
        if (!carried.begins_run) sum = combine(sum, from[0]);
      } else {
        sum = static_cast<T>(sum + from[0]);
      }
      form_.write_aggregate(warp_prefix.begins - 1, sum);
    }
    STRATA_UNROLL_N(4)
    for (int i = 1 + share.lane; i < carried.in_warp; i += warp_threads) {
      const auto run = static_cast<Count>(warp_prefix.begins - 1 + static_cast<Count>(i));
      if constexpr (has_values) {
        form_.write_aggregate(run, from[i]);
      } else {
        form_.write_aggregate(run, static_cast<T>(from[i] - from[i - 1]));
      }
    }
  }

  STRATA_D static Key* keys(unsigned char* stage) {
    return reinterpret_cast<Key*>(stage + first_key);
  }
  template <class U>
  STRATA_D static U* values(unsigned char* stage) {
    return reinterpret_cast<U*>(stage + first_value);
  }
  STRATA_D static Reduced* reduced(const ring_share& share) {
    return values<Reduced>(share.stage) + share.warp * warp_items;
  }
  STRATA_D T combine(const T& a, const T& b) { return static_cast<T>(scan_op_.op(a, b)); }

  const Form& form_;
  typename Form::Combine scan_op_;
  typename Form::EqualityOp equality_op_;
};

/// What a ring needs to reduce by key; `UsesBulkCopies` where an input is an array. `What` is a
/// run_reduction.
template <bool UsesBulkCopies, class What>
struct reduce_by_key_form : What {
  using Sum = typename What::Run;
  using Accum = typename What::Accum;
  using Key = iterator_value_t<typename What::KeyIterator>;
  using Value = iterator_value_t<std::conditional_t<
      What::has_values, typename What::ValueIterator, typename What::KeyIterator>>;
  static constexpr bool copies_keys = UsesBulkCopies && is_bulk_array<typename What::KeyIterator>;
  static constexpr bool copies_values = UsesBulkCopies && sizeof(Value) == sizeof(Accum) &&
                                        is_bulk_array<typename What::ValueIterator>;
  using StagedValue = std::conditional_t<copies_values, Value, Accum>;
  static constexpr bool fits =
      16 % sizeof(Key) == 0 && (!What::has_values || 16 % sizeof(StagedValue) == 0);

  template <class Policy>
  using work = reduce_by_key_work<Policy, reduce_by_key_form>;
};

/// Chooses among the forms.
template <class What>
struct reduce_by_key_rings {
  static constexpr bool moves_in_place = false;

  What arguments;

  template <class Start>
  bool start(const Start& start_ring, cudaError_t& status) const {
    using bulk = reduce_by_key_form<true, What>;
    using items = reduce_by_key_form<false, What>;
    if constexpr (bulk::fits && (bulk::copies_keys || bulk::copies_values)) {
      if ((!bulk::copies_keys || detail::is_at_boundary(arguments.keys)) &&
          (!bulk::copies_values || detail::is_at_boundary(arguments.values))) {
        status = start_ring(bulk{arguments}, 0);
        return true;
      }
    }
    if constexpr (items::fits) {
      status = start_ring(items{arguments}, 0);
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/compaction.cuh>
#include <strata/device/scan/find_begins.cuh>
#include <strata/device/scan/ring_column.cuh>
#include <strata/device/scan/tuning.hpp>
#include <strata/device/select/selection.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A selection, as the work of a ring (see AgentRing). A stage holds what decides on an item, and
/// what else of it goes out. Each warp moves what it selects of its part of the stage to the front
/// of that part, and stores it from there, so that stores are of neighbouring places.
template <class Policy, class Form>
class select_work {
  static constexpr ring_columns_tuning tuning = Policy::columns;
  using Decider = typename Form::Decider;
  using Payload = typename Form::Payload;
  static constexpr bool has_payload = Form::has_payload;
  static constexpr bool is_by_difference = Form::decides == select_by::difference;
  using Deciders =
      ring_column<Decider, Form::copies_deciders, is_by_difference, typename Form::DeciderIterator>;
  using Payloads = ring_column<Payload, Form::copies_payloads, false,
                               std::conditional_t<has_payload, typename Form::PayloadIterator,
                                                  typename Form::DeciderIterator>>;
  using Loader = std::conditional_t<has_payload,
                                    ring_loader<tuning.item_loading_warps, Deciders, Payloads>,
                                    ring_loader<tuning.item_loading_warps, Deciders>>;
  static constexpr std::size_t payload_bytes = has_payload ? sizeof(Payload) : 0;
  using Shape = ring_columns_shape<tuning.thread_bytes, sizeof(Decider), payload_bytes>;

 public:
  using Sum = typename Form::Count;
  struct Held {
    typename Shape::flags selected;
    Decider deciders[Shape::thread_items];
  };
  struct Carried {
    int in_warp;  // selected items, at the front of its part of the stage
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
  static constexpr int first_decider = Deciders::bytes_before;
  static constexpr int first_payload =
      first_decider + round_up(tile_items * static_cast<int>(sizeof(Decider)), 16);

 public:
  static constexpr int stage_bytes =
      first_payload + round_up(tile_items * static_cast<int>(payload_bytes), 16);

  STRATA_D select_work(const Form& form, const ring_shape&) : form_(form), op_(form.op) {}

  STRATA_D strata::Sum scan_op() const { return {}; }
  STRATA_D Sum initial_value() const { return 0; }

  STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first,
                     int valid) const {
    const int thread = static_cast<int>(threadIdx.x) - scanning_threads;
    const Deciders column{deciders(stage), detail::advanced(form_.deciders, first), first == 0,
                          valid};
    if constexpr (has_payload) {
      Loader::load(
          full, thread, column,
          Payloads{payloads(stage), detail::advanced(form_.payloads, first), first == 0, valid});
    } else {
      Loader::load(full, thread, column);
    }
  }

  template <bool IsFull>
  STRATA_D Sum fold(const ring_share& share, Held& held) {
    const Decider* const from = of_warp(deciders(share.stage), share) + share.lane * thread_items;
    if constexpr (is_by_difference) {
      held.selected = detail::find_begins<IsFull, Shape>(from, share, op_, held.deciders);
    } else {
      detail::hold_items<IsFull, Shape>(from, share.thread_items, held.deciders);
      held.selected = {};
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (!IsFull && i >= share.thread_items) break;
        held.selected.set(i, static_cast<bool>(op_(held.deciders[i])));
      }
    }
    return static_cast<Sum>(held.selected.count());
  }

  template <bool IsFull>
  STRATA_D Carried settle(const ring_share& share, const Held& held, const Sum& below) const {
    const int rank = share.lane > 0 ? static_cast<int>(below) : 0;
    const int in_warp =
        detail::flags_in_warp(share, thread_items, static_cast<int>(below), held.selected.count());
    if constexpr (Form::keeps_deciders) {
      detail::compact<Shape>(held.deciders, held.selected, share, rank, in_warp,
                             of_warp(deciders(share.stage), share));
    }
    if constexpr (has_payload) {
      Payload* const payloads_of_warp = of_warp(payloads(share.stage), share);
      Payload items[thread_items];
      detail::hold_items<IsFull, Shape>(payloads_of_warp + share.lane * thread_items,
                                        share.thread_items, items);
      detail::compact<Shape>(items, held.selected, share, rank, in_warp, payloads_of_warp);
    }
    __syncwarp();
    return {in_warp};
  }

  template <bool IsFull>
  STRATA_D void finish(const ring_share& share, const Carried& carried, bool,
                       const Sum& warp_prefix) const {
    const auto first = static_cast<std::size_t>(warp_prefix);
    if constexpr (Form::keeps_deciders) {
      detail::store_items<warp_items>(of_warp(deciders(share.stage), share),
                                      detail::advanced(form_.deciders_out, first), carried.in_warp,
                                      share.lane);
    }
    if constexpr (has_payload) {
      detail::store_items<warp_items>(of_warp(payloads(share.stage), share),
                                      detail::advanced(form_.payloads_out, first), carried.in_warp,
                                      share.lane);
    }
  }

  STRATA_D void finish_all(const Sum& total) const { form_.write_number(total); }

 private:
  STRATA_D static Decider* deciders(unsigned char* stage) {
    return reinterpret_cast<Decider*>(stage + first_decider);
  }
  STRATA_D static Payload* payloads(unsigned char* stage) {
    return reinterpret_cast<Payload*>(stage + first_payload);
  }

  template <class T>
  STRATA_D static T* of_warp(T* items, const ring_share& share) {
    return items + share.warp * warp_items;
  }

  const Form& form_;
  typename Form::Op op_;
};

/// What a ring needs to select; `UsesBulkCopies` where an input is an array. `What` is a selection.
template <bool UsesBulkCopies, class What>
struct select_form : What {
  using Count = typename What::Count;
  using Sum = Count;
  using Decider = iterator_value_t<typename What::DeciderIterator>;
  static constexpr bool has_payload = !std::is_same_v<typename What::PayloadIterator, NullType>;
  using Payload =
      iterator_value_t<std::conditional_t<has_payload, typename What::PayloadIterator,
                                          typename What::DeciderIterator>>;
  static constexpr bool keeps_deciders =
      !std::is_same_v<typename What::DeciderOutputIterator, NullType>;
  static constexpr bool copies_deciders =
      UsesBulkCopies && is_bulk_array<typename What::DeciderIterator>;
  static constexpr bool copies_payloads =
      UsesBulkCopies && is_bulk_array<typename What::PayloadIterator>;
  static constexpr bool fits =
      16 % sizeof(Decider) == 0 && (!has_payload || 16 % sizeof(Payload) == 0);

  template <class Policy>
  using work = select_work<Policy, select_form>;
};

/// Chooses among the forms.
template <class What, bool MovesInPlace>
struct select_rings {
  static constexpr bool moves_in_place = MovesInPlace;

  What arguments;

  template <class Start>
  bool start(const Start& start_ring, cudaError_t& status) const {
    using bulk = select_form<true, What>;
    using items = select_form<false, What>;
    if constexpr (bulk::fits && (bulk::copies_deciders || bulk::copies_payloads)) {
      if ((!bulk::copies_deciders || detail::is_at_boundary(arguments.deciders)) &&
          (!bulk::copies_payloads || detail::is_at_boundary(arguments.payloads))) {
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

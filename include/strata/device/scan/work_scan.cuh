// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/ring_column.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A scan, as the work of a ring (see AgentRing) for items or sums of 1, 2, 4, 8 or 16 bytes.
///
/// Each thread has neighbouring vectors of 16 bytes, which it folds, and later scans in place.
/// Their number is odd, so that the accesses have no bank conflicts without padding.
template <class Policy, class Form>
class scan_work {
  static constexpr scan_ring_tuning tuning = Policy::ring;
  using AccumT = typename Form::Sum;
  using InitT = typename Form::Init;
  using ScanOp = typename Form::ScanOp;
  using InputIterator = typename Form::InputIterator;
  using OutputIterator = typename Form::OutputIterator;
  // What stages hold, before and after.
  using InputT = typename Form::StagedItem;
  using OutputT = typename Form::StagedResult;
  using Column = ring_column<InputT, Form::uses_bulk_copies, false, InputIterator>;
  using Loader = ring_loader<tuning.item_loading_warps, Column>;
  static constexpr int vectors = tuning.vectors_per_thread;
  static constexpr int width = static_cast<int>(16 / sizeof(InputT));  // items of a vector

  // not for users: DispatchScan sees to it
  static_assert(sizeof(InputT) == sizeof(OutputT) && 16 % sizeof(InputT) == 0,
                "results take the places of items");
  static_assert(tuning.scanning_threads % warp_threads == 0 && tuning.scanning_threads <= 1024,
                "scan_ring_tuning::scanning_threads must be a multiple of 32, at most 1024");
  static_assert(vectors % 2 == 1, "scan_ring_tuning::vectors_per_thread must be odd: an even number"
                                  " of vectors has bank conflicts");
  // not for users: the model must say the same
  static_assert(strata::conflict_degree(PlainLayout{}, blocked_access<16, vectors>{}) == 1,
                "the scanning threads' vectors have bank conflicts");
  static_assert(tuning.lag >= 1 && tuning.lag <= 2 && tuning.stages > tuning.lag,
                "scan_ring_tuning::lag must be 1 or 2, and there must be more stages");
  // not for users: DeviceScan sees to it
  static_assert(Form::is_inclusive || !std::is_same_v<InitT, NullType>,
                "an exclusive scan begins with something");

 public:
  using Sum = AccumT;
  struct Held {};
  struct Carried {
    AccumT below;  // the sum of the lanes below in the warp
  };
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  static constexpr bool may_have_head = Form::uses_bulk_copies;
  static constexpr bool has_total = false;
  static constexpr int scanning_threads = tuning.scanning_threads;
  static constexpr int stages = tuning.stages;
  static constexpr int lag = tuning.lag;
  static constexpr int blocks_per_multiprocessor = tuning.blocks_per_multiprocessor;
  static constexpr int thread_items = vectors * width;
  static constexpr int loading_warps = Loader::warps;
  static constexpr int stage_bytes = scanning_threads * vectors * 16;

  STRATA_D scan_work(const Form& form, const ring_shape& shape)
      : in_(detail::advanced(form.d_in, may_have_head ? shape.head_items : 0)),
        out_(detail::advanced(form.d_out, may_have_head ? shape.head_items : 0)),
        scan_op_(form.scan_op),
        init_(form.init) {}

  STRATA_D ScanOp& scan_op() { return scan_op_; }
  STRATA_D AccumT initial_value() const { return detail::initial_value<AccumT>(init_); }

  /// The items before the first boundary, at most 15.
  STRATA_D void scan_head(unsigned count, AccumT& prefix, AccumT& sum) {
    bool has_prefix = has_initial_value;
    for (unsigned i = 0; i < count; ++i) {
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(i) - count;
      const AccumT item = static_cast<AccumT>(in_[place]);
      sum = i > 0 ? combine(sum, item) : item;
      const AccumT next = has_prefix ? combine(prefix, item) : item;
      out_[place] = static_cast<OutputT>(Form::is_inclusive ? next : prefix);
      prefix = next;
      has_prefix = true;
    }
  }

  STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first,
                     int valid) const {
    const int thread = static_cast<int>(threadIdx.x) - scanning_threads;
    Loader::load(
        full, thread,
        Column{reinterpret_cast<InputT*>(stage), detail::advanced(in_, first), first == 0, valid});
  }

  template <bool IsFull>
  STRATA_D AccumT fold(const ring_share& share, Held&) {
    const InputT* const from = items_of_warp<InputT>(share) + share.lane * thread_items;
    AccumT sum{};
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (!IsFull && v * width >= share.thread_items) break;
      item_vector<InputT, width> held;
      held.load(from + v * width);
      InputT items[width];
      held.get(items);
      STRATA_UNROLL
      for (int i = 0; i < width; ++i) {
        if (!IsFull && v * width + i >= share.thread_items) break;
        const AccumT item = static_cast<AccumT>(items[i]);
        sum = v + i > 0 ? combine(sum, item) : item;
      }
    }
    return sum;
  }

  template <bool IsFull>
  STRATA_D Carried settle(const ring_share&, const Held&, const AccumT& below) const {
    return {below};
  }

  /// Scans the warp's items in place, and stores them.
  template <bool IsFull>
  STRATA_D void finish(const ring_share& share, const Carried& carried, bool has_warp_prefix,
                       AccumT prefix) {
    const bool has_prefix = has_warp_prefix || share.lane > 0;
    if (share.lane > 0 && (IsFull || share.thread_items > 0)) {
      prefix = has_warp_prefix ? combine(prefix, carried.below) : carried.below;
    }

    InputT* const of_thread = items_of_warp<InputT>(share) + share.lane * thread_items;
    item_vector<InputT, width> held[vectors];
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (IsFull || v * width < share.thread_items) held[v].load(of_thread + v * width);
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (!IsFull && v * width >= share.thread_items) break;
      InputT items[width];
      OutputT results[width];
      held[v].get(items);
      if constexpr (!IsFull) std::memcpy(static_cast<void*>(results), items, 16);
      STRATA_UNROLL
      for (int i = 0; i < width; ++i) {
        if (!IsFull && v * width + i >= share.thread_items) break;
        const AccumT item = static_cast<AccumT>(items[i]);
        if constexpr (Form::is_inclusive) {
          prefix = (has_initial_value || v + i > 0 || has_prefix) ? combine(prefix, item) : item;
          results[i] = static_cast<OutputT>(prefix);
        } else {
          results[i] = static_cast<OutputT>(prefix);
          prefix = combine(prefix, item);
        }
      }
      held[v].set(results);
      held[v].store(of_thread + v * width);
    }
    __syncwarp();
    const std::size_t first = share.first_item + static_cast<std::size_t>(share.warp) * warp_items;
    detail::store_items<warp_items>(items_of_warp<OutputT>(share), detail::advanced(out_, first),
                                    share.warp_items, share.lane);
  }

 private:
  static constexpr int warp_items = warp_threads * thread_items;

  template <class T>
  STRATA_D static T* items_of_warp(const ring_share& share) {
    return reinterpret_cast<T*>(share.stage) + share.warp * warp_items;
  }
  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) {
    return static_cast<AccumT>(scan_op_(a, b));
  }

  InputIterator in_;
  OutputIterator out_;
  ScanOp scan_op_;
  const InitT& init_;
};

/// What a ring needs to scan. `UsesBulkCopies`: the input is an array, and results have the size of
/// its items; else loading warps read items, and stages hold sums.
template <bool UsesBulkCopies, class InputIteratorT, class OutputIteratorT, class AccumT,
          class ScanOpT, bool IsInclusive, class InitT>
struct scan_form {
  using InputIterator = InputIteratorT;
  using OutputIterator = OutputIteratorT;
  using ScanOp = ScanOpT;
  using Init = InitT;
  using Sum = AccumT;
  using StagedItem = std::conditional_t<UsesBulkCopies, iterator_value_t<InputIterator>, AccumT>;
  using StagedResult =
      std::conditional_t<UsesBulkCopies, output_value_t<OutputIterator, AccumT>, AccumT>;
  static constexpr bool uses_bulk_copies = UsesBulkCopies;
  static constexpr bool is_inclusive = IsInclusive;

  InputIterator d_in;
  OutputIterator d_out;
  ScanOp scan_op;
  InitT init;

  template <class Policy>
  using work = scan_work<Policy, scan_form>;
};

/// Chooses the form.
template <class InputIterator, class OutputIterator, class AccumT, class ScanOp, bool IsInclusive,
          class InitT>
struct scan_rings {
  template <bool UsesBulkCopies>
  using form = scan_form<UsesBulkCopies, InputIterator, OutputIterator, AccumT, ScanOp, IsInclusive,
                         InitT>;
  using InputT = iterator_value_t<InputIterator>;
  using OutputT = output_value_t<OutputIterator, AccumT>;
  static constexpr bool uses_bulk_copies =
      is_bulk_array<InputIterator> && std::is_pointer_v<OutputIterator> &&
      sizeof(InputT) == sizeof(OutputT) && is_trivially_relocatable_v<OutputT>;

  static constexpr bool moves_in_place = false;

  form<uses_bulk_copies> arguments;

  template <class Start>
  bool start(const Start& start_ring, cudaError_t& status) const {
    if constexpr (uses_bulk_copies) {
      // Single items lie before the first boundary only if their addresses are multiples of their
      // size.
      const auto address = reinterpret_cast<std::uintptr_t>(arguments.d_in);
      if (address % sizeof(InputT) != 0) return false;
      status = start_ring(arguments, (16 - address % 16) % 16 / sizeof(InputT));
      return true;
    } else if constexpr (16 % sizeof(AccumT) == 0) {
      status = start_ring(arguments, 0);
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

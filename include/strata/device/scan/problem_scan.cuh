// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A scan, as DispatchScan takes it. The pipeline copies an array in bulk if items have 1, 2, 4, 8 or 16 bytes, and
/// results have the size of items. Otherwise loading warps read items, and stages hold them in the accumulator's type,
/// which must have one of these sizes.
template <class InputIterator, class OutputIterator, class AccumT, class ScanOp, bool IsInclusive, class InitT>
struct scan_problem {
  using Accum = AccumT;
  using TileInput = InputIterator;
  using TileOutput = OutputIterator;
  using TileOp = ScanOp;
  using TileInit = InitT;
  using InputT = iterator_value_t<InputIterator>;
  using OutputT = output_value_t<OutputIterator, Accum>;
  using policy_hub = scan_policy_hub<InputT, Accum>;
  static constexpr bool is_inclusive = IsInclusive;
  static constexpr bool moves_in_place = false;
  static constexpr bool is_bulk = is_bulk_array<InputIterator> && std::is_pointer_v<OutputIterator> &&
                                  sizeof(InputT) == sizeof(OutputT) && is_trivially_relocatable_v<OutputT>;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = UsesBulkCopies ? is_bulk : !is_bulk && 16 % sizeof(Accum) == 0;

  InputIterator d_in;
  OutputIterator d_out;
  ScanOp scan_op;
  InitT init;

  STRATA_HD TileInput tile_input() const { return d_in; }
  STRATA_HD TileOutput tile_output(std::size_t) const { return d_out; }
  STRATA_HD TileOp tile_op() const { return scan_op; }
  STRATA_HD TileInit tile_init() const { return init; }
  STRATA_D void write_empty() const {}

  bool can_reach(std::size_t num_items) const {
    return !detail::refuses_reach(d_in, num_items, "d_in") && !detail::refuses_reach(d_out, num_items, "d_out");
  }
  bool are_arguments_valid(std::size_t num_items) const {
    return num_items == 0 || (!detail::refuses_null(d_in, "d_in") && !detail::refuses_null(d_out, "d_out") &&
                              !detail::refuses_initial_value(init, detail::bytes_of(d_out, num_items, "d_out")) &&
                              !detail::refuses_partial_overlap(d_out, "d_out", d_in, "d_in", num_items));
  }

  bool can_copy_in_bulk() const { return aligned_range<InputT, unsigned>::has_boundary(d_in); }
  unsigned head_items() const { return aligned_range<InputT, unsigned>::items_before_boundary(d_in); }

  /// Each scanning thread has neighbouring vectors of 16 bytes. It reduces them in the upsweep, and scans
  /// them in place in the downsweep. Their number is odd, so the accesses have no bank conflicts.
  template <class Policy, bool UsesBulkCopies>
  class steps {
    // Types of what stages hold before and after the scan.
    using Staged = std::conditional_t<UsesBulkCopies, InputT, Accum>;
    using Result = std::conditional_t<UsesBulkCopies, OutputT, Accum>;
    using Column = stage_column<Staged, UsesBulkCopies, false, InputIterator>;
    using Loader = stage_loader<Policy::pipeline.item_loading_warps, Column>;
    static constexpr int vectors = Policy::pipeline.vectors_per_thread;
    static constexpr int width = static_cast<int>(16 / sizeof(Staged));  // items of a vector

   public:
    using PipelineProblem = scan_problem;
    using Aggregate = Accum;
    struct Stage {
      static constexpr scan_pipeline_tuning tuning = Policy::pipeline;
      static constexpr int thread_items = vectors * width;
      static constexpr int bytes = tuning.scanning_threads * vectors * 16;
      static constexpr int loading_warps = Loader::warps;
    };
    struct ThreadState {};
    struct LocalResult {
      Accum below;  // the aggregate of the lanes below in the warp
    };
    static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
    static constexpr bool may_have_head = UsesBulkCopies;
    static constexpr bool has_total = false;

   private:
    static constexpr scan_pipeline_tuning tuning = Stage::tuning;
    static constexpr int thread_items = Stage::thread_items;
    static constexpr int warp_items = warp_threads * thread_items;
    // not for users: DispatchScan ensures it
    static_assert(sizeof(Staged) == sizeof(Result) && 16 % sizeof(Staged) == 0,
                  "results overwrite items in their stage");
    static_assert(
        tuning.scanning_threads % warp_threads == 0 &&
            tuning.scanning_threads + warp_threads * (Stage::loading_warps + 2) <= 1024,
        "scan_pipeline_tuning::scanning_threads must be a multiple of 32, and leave room for other warps in a "
        "block of 1024 threads");
    static_assert(vectors % 2 == 1,
                  "scan_pipeline_tuning::vectors_per_thread must be odd: an even number"
                  " of vectors has bank conflicts");
    // not for users: the model of bank_conflicts.hpp must find no conflicts for an odd number of vectors
    static_assert(strata::conflict_degree(PlainLayout{}, blocked_access<16, vectors>{}) == 1,
                  "the scanning threads' vectors have bank conflicts");
    static_assert(tuning.lag >= 1 && tuning.lag <= 2 && tuning.stages > tuning.lag,
                  "scan_pipeline_tuning::lag must be 1 or 2, and less than stages");
    // not for users: DeviceScan ensures it
    static_assert(IsInclusive || has_initial_value, "an exclusive scan needs an initial value");

   public:
    STRATA_D steps(const scan_problem& problem, const tiled_input& input)
        : d_in_(detail::advanced(problem.d_in, may_have_head ? input.head_items : 0)),
          d_out_(detail::advanced(problem.d_out, may_have_head ? input.head_items : 0)),
          scan_op_(problem.scan_op),
          init_(problem.init) {}

    STRATA_D ScanOp& scan_op() { return scan_op_; }
    STRATA_D Accum initial_value() const { return detail::initial_value<Accum>(init_); }

    /// Scans the items before the first boundary, at most 15.
    STRATA_D void scan_head(unsigned count, Accum& prefix, Accum& aggregate) {
      bool has_prefix = has_initial_value;
      for (unsigned i = 0; i < count; ++i) {
        const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(i) - count;
        const Accum item = static_cast<Accum>(d_in_[index]);
        aggregate = i > 0 ? combine(aggregate, item) : item;
        const Accum next = has_prefix ? combine(prefix, item) : item;
        d_out_[index] = static_cast<Result>(IsInclusive ? next : prefix);
        prefix = next;
        has_prefix = true;
      }
    }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      const int thread = static_cast<int>(threadIdx.x) - tuning.scanning_threads;
      Loader::load(full, thread,
                   Column{reinterpret_cast<Staged*>(stage), detail::advanced(d_in_, first), first == 0, valid});
    }

    template <bool IsFull>
    STRATA_D Accum upsweep(const thread_slice& slice, ThreadState&) {
      const Staged* const from = warp_items_of<Staged>(slice) + slice.lane * thread_items;
      Accum aggregate{};
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (!IsFull && v * width >= slice.thread_items) break;
        item_vector<Staged, width> vector;
        vector.load(from + v * width);
        Staged items[width];
        vector.get(items);
        STRATA_UNROLL
        for (int i = 0; i < width; ++i) {
          if (!IsFull && v * width + i >= slice.thread_items) break;
          const Accum item = static_cast<Accum>(items[i]);
          aggregate = v + i > 0 ? combine(aggregate, item) : item;
        }
      }
      return aggregate;
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice&, const ThreadState&, const Accum& below) const {
      return {below};
    }

    /// Scans the warp's items in place, and stores them.
    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, const LocalResult& local, bool has_warp_prefix, Accum prefix) {
      const bool has_prefix = has_warp_prefix || slice.lane > 0;
      if (slice.lane > 0 && (IsFull || slice.thread_items > 0)) {
        prefix = has_warp_prefix ? combine(prefix, local.below) : local.below;
      }

      Staged* const of_thread = warp_items_of<Staged>(slice) + slice.lane * thread_items;
      item_vector<Staged, width> vector[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (IsFull || v * width < slice.thread_items) vector[v].load(of_thread + v * width);
      }
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (!IsFull && v * width >= slice.thread_items) break;
        Staged items[width];
        Result results[width];
        vector[v].get(items);
        if constexpr (!IsFull) std::memcpy(static_cast<void*>(results), items, 16);
        STRATA_UNROLL
        for (int i = 0; i < width; ++i) {
          if (!IsFull && v * width + i >= slice.thread_items) break;
          const Accum item = static_cast<Accum>(items[i]);
          if constexpr (IsInclusive) {
            prefix = (has_initial_value || v + i > 0 || has_prefix) ? combine(prefix, item) : item;
            results[i] = static_cast<Result>(prefix);
          } else {
            results[i] = static_cast<Result>(prefix);
            prefix = combine(prefix, item);
          }
        }
        vector[v].set(results);
        vector[v].store(of_thread + v * width);
      }
      __syncwarp();
      const std::size_t first = slice.first_item + static_cast<std::size_t>(slice.warp) * warp_items;
      detail::store_staged<warp_items>(warp_items_of<Result>(slice), detail::advanced(d_out_, first), slice.warp_items,
                                       slice.lane);
    }

   private:
    template <class T>
    STRATA_D static T* warp_items_of(const thread_slice& slice) {
      return reinterpret_cast<T*>(slice.stage) + slice.warp * warp_items;
    }
    STRATA_D Accum combine(const Accum& a, const Accum& b) { return static_cast<Accum>(scan_op_(a, b)); }

    InputIterator d_in_;
    OutputIterator d_out_;
    ScanOp scan_op_;
    const InitT& init_;
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

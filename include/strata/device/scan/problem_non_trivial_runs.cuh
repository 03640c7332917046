// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/columns.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/indexed_iterators.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The number of ends of runs, and the index of the last one.
template <class Count>
struct run_ends {
  Count number;
  Count last;
};
struct combine_run_ends {
  template <class Count>
  STRATA_HD run_ends<Count> operator()(const run_ends<Count>& a, const run_ends<Count>& b) const {
    return {static_cast<Count>(a.number + b.number), b.number != 0 ? b.last : a.last};
  }
};

/// Runs of more than one item, as DispatchScan takes them: a scan of their ends. An end is the first or the last item
/// of such a run. Ends 2 k and 2 k + 1 belong to run k: the first is its offset, and the second knows its length.
///
/// In the pipeline a stage holds the items of a tile, one before and one behind. A warp finds the ends among its items.
/// It puts their indices side by side behind the items of the stage, in 2 bytes each, and stores results from there.
template <class Count, class KeyIterator, class OffsetIterator, class LengthIterator, class NumRunsIterator>
struct non_trivial_runs_problem {
  using Accum = run_ends<Count>;
  using Key = iterator_value_t<KeyIterator>;
  using policy_hub = columns_policy_hub<Accum, Accum>;
  static constexpr bool is_inclusive = false;
  static constexpr bool moves_in_place = false;
  static constexpr bool copies_keys = is_bulk_array<KeyIterator>;
  template <bool UsesBulkCopies>
  static constexpr bool has_pipeline = 16 % sizeof(Key) == 0 && (!UsesBulkCopies || copies_keys);

  KeyIterator keys;
  OffsetIterator offsets_out;
  LengthIterator lengths_out;
  NumRunsIterator num_runs_out;
  std::size_t num_items;

  // This repeats the code of store_count(). With a call of it, nvcc would make other code, which was not measured.
#if STRATA_HOST_SIMT
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#endif
  /// Writes end number `end`: the offset of a run, or its length. `last_end` is the index of the end before it.
  STRATA_HD void write_end(std::size_t end, std::size_t item, std::size_t last_end) const {
    if (end % 2 == 0) {
      *detail::advanced(offsets_out, end / 2) = detail::count_as<output_value_t<OffsetIterator, Count>>(item);
    } else {
      *detail::advanced(lengths_out, end / 2) =
          detail::count_as<output_value_t<LengthIterator, Count>>(item - last_end + 1);
    }
  }
#if STRATA_HOST_SIMT
#pragma GCC diagnostic pop
#endif
  STRATA_HD void write_number(std::size_t ends) const {
    STRATA_ASSERT(!reaches_into(offsets_out, ends / 2, keys) && !reaches_into(lengths_out, ends / 2, keys),
                  "an output of run lengths reaches into the input, with %llu runs",
                  static_cast<unsigned long long>(ends / 2));
    detail::store_count(num_runs_out, ends / 2);
  }

  // ------------------------------------------------------------------ for AgentScanTile

  STRATA_HD bool begins_at(std::size_t i) const {
    if (i == 0 || i == num_items) return true;
    Key left = detail::item_at(keys, i - 1), right = detail::item_at(keys, i);
    return !Equality{}(left, right);
  }
  STRATA_HD bool is_end(std::size_t i) const { return begins_at(i) != begins_at(i + 1); }

  struct load_end {
    non_trivial_runs_problem problem;
    STRATA_D Accum load(std::size_t i) const {
      return {problem.is_end(i) ? Count{1} : Count{0}, static_cast<Count>(i)};
    }
  };
  struct store_end {
    non_trivial_runs_problem problem;
    STRATA_D void store(std::size_t i, const Accum& before) const {
      const bool is_end = problem.is_end(i);
      if (is_end) problem.write_end(before.number, i, before.last);
      if (i + 1 == problem.num_items) problem.write_number(std::size_t{before.number} + (is_end ? 1 : 0));
    }
  };
  using TileInput = indexed_input<load_end, Accum>;
  using TileOutput = indexed_output<store_end, Accum>;
  using TileOp = combine_run_ends;
  using TileInit = Accum;

  TileInput tile_input() const { return TileInput({*this}); }
  TileOutput tile_output(std::size_t) const { return TileOutput({*this}); }
  TileOp tile_op() const { return {}; }
  TileInit tile_init() const { return {}; }

  // ------------------------------------------------------------------ arguments

  bool can_reach(std::size_t count) const { return !detail::refuses_reach(keys, count, "d_in"); }
  bool are_arguments_valid(std::size_t count) const {
    return detail::are_compaction_arrays_valid(count, count > 0 ? 1 : 0, keys, NullType{}, offsets_out, lengths_out,
                                               num_runs_out,
                                               {"d_in", "", "d_offsets_out", "d_lengths_out", "d_num_runs_out"});
  }
  bool can_copy_in_bulk() const { return detail::is_at_boundary(keys); }
  unsigned head_items() const { return 0; }

  // ------------------------------------------------------------------ for AgentScanPipeline

  template <class Policy, bool UsesBulkCopies>
  class steps {
    using Keys = stage_column<Key, UsesBulkCopies && copies_keys, true, KeyIterator>;
    using Index = std::uint16_t;

   public:
    using PipelineProblem = non_trivial_runs_problem;
    using Aggregate = Accum;
    /// A stage has 16 bytes more, for the item behind the tile.
    struct Stage : columns_stage<Policy, Key, Keys, NullType, sizeof(Index)> {
      using base = columns_stage<Policy, Key, Keys, NullType, sizeof(Index)>;
      static constexpr int bytes = base::bytes + 16;
      STRATA_D static Index* indices(const thread_slice& slice) {
        return base::of_warp(base::template values<Index>(slice.stage + 16), slice);
      }
    };
    // not for users: 64 items a thread at most
    static_assert(Stage::warp_items <= 1 << 16, "an index within a warp has 16 bits");
    using Shape = typename Stage::Shape;
    using ThreadState = typename Shape::flags;
    using LocalResult = int;  // ends in the warp
    static constexpr bool has_initial_value = true;
    static constexpr bool may_have_head = false;
    static constexpr bool has_total = true;

    STRATA_D steps(const non_trivial_runs_problem& problem, const tiled_input&) : problem_(problem) {}

    STRATA_D combine_run_ends scan_op() const { return {}; }
    /// No end comes before the first one, so `number` is 0. `last` of this value is never used: end 0 has no length.
    STRATA_D Accum initial_value() const { return Accum{}; }

    STRATA_D void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid) const {
      const std::size_t behind = problem_.num_items - first - static_cast<unsigned>(valid);
      // Up to 16 bytes of items behind the tile are loaded too, because bulk copies move whole units of 16 bytes.
      const int with = behind < Keys::width ? static_cast<int>(behind) : Keys::width;
      Stage::load(stage, full, first, valid + with, problem_.keys, NullType{});
    }

    template <bool IsFull>
    STRATA_D Accum upsweep(const thread_slice& slice, ThreadState& ends) const {
      const Key* const from = Stage::of_thread(Stage::keys(slice.stage), slice);
      Key loaded[thread_items];
      Equality equality_op;
      const ThreadState begins = detail::find_begins<IsFull, Shape>(from, slice, equality_op, loaded);
      ends = begins;
      bool next_begins = __shfl_down_sync(full_warp_mask, begins.at(0) ? 1 : 0, 1) != 0;
      const int count = slice.thread_items;
      const std::size_t first = first_of_warp(slice) + static_cast<unsigned>(slice.lane * thread_items);
      if (!IsFull && count == 0) return {0, 0};
      if (slice.lane * thread_items + count == slice.warp_items) {
        next_begins = first + static_cast<unsigned>(count) == problem_.num_items;
        if (!next_begins) {
          Key last = from[count - 1], next = from[count];
          next_begins = !equality_op(last, next);
        }
      }
      ThreadState next_begin{};
      next_begin.bits = begins.bits >> 1;
      next_begin.set(count - 1, next_begins);
      ends.bits ^= next_begin.bits;
      return {static_cast<Count>(ends.count()), static_cast<Count>(first + static_cast<unsigned>(ends.last_or(0)))};
    }

    template <bool IsFull>
    STRATA_D LocalResult local_scan(const thread_slice& slice, const ThreadState& ends, const Accum& below) const {
      Index* to = Stage::indices(slice) + (slice.lane > 0 ? static_cast<int>(below.number) : 0);
      STRATA_UNROLL
      for (int i = 0; i < thread_items; ++i) {
        if (ends.at(i)) *to++ = static_cast<Index>(slice.lane * thread_items + i);
      }
      __syncwarp();
      return detail::flags_in_warp(slice, thread_items, static_cast<int>(below.number), ends.count());
    }

    template <bool IsFull>
    STRATA_D void downsweep(const thread_slice& slice, int in_warp, bool, const Accum& before) const {
      const std::size_t first = first_of_warp(slice);
      const Index* const from = Stage::indices(slice);
      STRATA_UNROLL_N(4)
      for (int i = slice.lane; i < in_warp; i += warp_threads) {
        const std::size_t last_end = i > 0 ? first + from[i - 1] : before.last;
        problem_.write_end(before.number + static_cast<unsigned>(i), first + from[i], last_end);
      }
    }

    STRATA_D void write_total(const Accum& total) const { problem_.write_number(total.number); }

   private:
    static constexpr int thread_items = Stage::thread_items;

    STRATA_D static std::size_t first_of_warp(const thread_slice& slice) {
      return slice.first_item + static_cast<unsigned>(slice.warp * Stage::warp_items);
    }

    const non_trivial_runs_problem& problem_;
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call that finds the runs of more than one item.
template <class PolicyHub, class KeyIterator, class OffsetIterator, class LengthIterator, class NumRunsIterator,
          class NumItemsT>
cudaError_t dispatch_non_trivial_runs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                                      OffsetIterator d_offsets_out, LengthIterator d_lengths_out,
                                      NumRunsIterator d_num_runs_out, NumItemsT num_items, cudaStream_t stream) {
  constexpr bool is_possible = equality_requirements<strata::Equality, iterator_value_t<KeyIterator>>::are_met;
  using Problem =
      non_trivial_runs_problem<item_count_t<NumItemsT>, KeyIterator, OffsetIterator, LengthIterator, NumRunsIterator>;
  const Problem problem{d_keys, d_offsets_out, d_lengths_out, d_num_runs_out, static_cast<std::size_t>(num_items)};
  const cudaError_t status = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>::Dispatch(
      d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  if (status != cudaSuccess || d_temp_storage == nullptr || num_items > 0) return status;
  return detail::write_zero("strata::DeviceRunLengthEncode", d_num_runs_out, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

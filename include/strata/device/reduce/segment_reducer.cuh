// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/reduce/agent.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce/segmented_tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The ways in which one segment, or a part of it, is reduced: by a thread, by some lanes of a warp, by a warp or by a
/// block. The classes that derive from this decide which way a segment takes.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
class SegmentReducer {
 public:
  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op_(a, b)); }

 protected:
  static constexpr segmented_reduce_tuning tuning = Policy::segmented;
  static constexpr int block_threads = Policy::tuning.block_threads;
  static constexpr int block_warps = block_threads / warp_threads;
  static constexpr int group_threads = tuning.group_threads;
  static_assert(tuning.thread_items >= group_threads - 1 && tuning.group_items >= warp_threads - 1,
                "segmented_reduce_tuning: each lane of a group must get an item, so thread_items must be at least "
                "group_threads - 1, and group_items at least 31");
  static constexpr bool is_commutative = operator_traits<ReductionOp, AccumT>::commutative;
  static constexpr int item_bytes = static_cast<int>(sizeof(iterator_value_t<InputIterator>));
  // Items that a lane loads before it uses the first.
  static constexpr int items_in_flight = sizeof(AccumT) <= 16 ? 8 : 4;

  /// Returns how many items fit in `bytes`, at least `min_items`. Most callers compute the longest segment of a way.
  /// Their `min_items` is the longest segment of the next smaller way, so the limits do not decrease.
  STRATA_HD static constexpr int items_within(int bytes, int min_items) {
    return detail::most(bytes / item_bytes, min_items);
  }

  using BlockAgent = AgentReduce<Policy, AccumT, ReductionOp, TransformOp>;

  // Two storages, where they are small, save a barrier between one call of reduce_range() and the next.
  static constexpr int block_storages = sizeof(typename BlockAgent::TempStorage) <= 6144 ? 2 : 1;

  struct TempStorage {
    typename BlockAgent::TempStorage block[block_storages];
  };

  STRATA_D SegmentReducer(TempStorage& storage, InputIterator d_in, OutputIterator d_out, Segments segments,
                          ReductionOp reduction_op, TransformOp transform_op, InitT init)
      : segments_(segments),
        storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        transform_op_(transform_op),
        init_(init),
        reduction_op_(reduction_op) {}

  STRATA_D AccumT load(const segment_bounds& bounds, long long item) {
    using difference = typename std::iterator_traits<InputIterator>::difference_type;
    return static_cast<AccumT>(
        transform_op_(static_cast<iterator_value_t<InputIterator>>(d_in_[static_cast<difference>(bounds.begin + item)]),
                      static_cast<std::size_t>(item)));
  }

  // Called by the thread that has the result.
  STRATA_D void store_from_here(long long segment, const AccumT& result, bool has_result) {
    detail::store_result(*this, d_out_ + static_cast<std::ptrdiff_t>(segment), init_, result, has_result);
  }

  STRATA_D void store(long long segment, const AccumT& result) {
    if (threadIdx.x == 0) store_from_here(segment, result, true);
  }

  // Reduces every `stride`-th item from `first` on, at least one, with one copy of the iterator's code.
  STRATA_D AccumT reduce_strided(const segment_bounds& bounds, long long first, long long stride) {
    AccumT result;
    STRATA_UNROLL_N(1)
    for (long long i = first; i < bounds.length; i += stride) {
      const AccumT loaded = load(bounds, i);
      result = i == first ? loaded : combine(result, loaded);
    }
    return result;
  }

  STRATA_D void reduce_by_thread(long long segment, const segment_bounds& bounds) {
    AccumT result;
    if constexpr (has_long_code<InputIterator>) {
      result = reduce_strided(bounds, 0, 1);
    } else if (bounds.length > 0) {
      result = load(bounds, 0);
      for (long long i = 1; i < bounds.length; ++i) result = combine(result, load(bounds, i));
    }
    store_from_here(segment, result, bounds.length > 0);
  }

  // Takes the segments of the lanes in `owners`, as many at a time as the warp has groups.
  template <int Threads>
  STRATA_D void reduce_by_groups(unsigned owners, long long warp_first, const segment_bounds& bounds) {
    constexpr int num_groups = warp_threads / Threads;
    const int group = static_cast<int>(platform::lane_id()) / Threads;
    const int lane = static_cast<int>(platform::lane_id()) % Threads;
    while (owners != 0) {
      int owner = -1;
      STRATA_UNROLL
      for (int i = 0; i < num_groups; ++i) {
        if (i == group && owners != 0) owner = __ffs(static_cast<int>(owners)) - 1;
        owners &= owners - 1;  // zero stays zero
      }
      const int source = detail::most(0, owner);
      const segment_bounds mine{__shfl_sync(full_warp_mask, bounds.begin, source),
                                __shfl_sync(full_warp_mask, bounds.length, source)};
      if (owner >= 0) {
        const AccumT result = reduce_by_lanes<Threads>(mine, lane);
        if (lane == 0) store_from_here(warp_first + owner, result, true);
      }
      __syncwarp();
    }
  }

  // The logical warp of the caller reduces a segment. The segment has at least as many items as the logical warp has
  // lanes.
  template <int Threads>
  STRATA_D AccumT reduce_by_lanes(const segment_bounds& bounds, int lane) {
    const auto all_lanes = [&](const AccumT& value) {
      return detail::reduce_lanes<Threads, true>(value, reduction_op_, Threads);
    };
    if constexpr (is_commutative) {
      if constexpr (Threads == warp_threads && is_bulk_array<InputIterator>) {
        AccumT result;
        if (reduce_vectors(bounds, lane, result)) return all_lanes(result);
      }
      if constexpr (has_long_code<InputIterator>) return all_lanes(reduce_strided(bounds, lane, Threads));
      AccumT result = load(bounds, lane);
      long long item = lane + Threads;
      constexpr int unroll = items_in_flight;
      for (; item + (unroll - 1) * Threads < bounds.length; item += unroll * Threads) {
        AccumT loaded[unroll];
        STRATA_UNROLL
        for (int i = 0; i < unroll; ++i) loaded[i] = load(bounds, item + i * Threads);
        STRATA_UNROLL
        for (int i = 0; i < unroll; ++i) result = combine(result, loaded[i]);
      }
      AccumT loaded[unroll];
      STRATA_UNROLL
      for (int i = 0; i < unroll - 1; ++i) {
        if (item + i * Threads < bounds.length) loaded[i] = load(bounds, item + i * Threads);
      }
      STRATA_UNROLL
      for (int i = 0; i < unroll - 1; ++i) {
        if (item + i * Threads < bounds.length) result = combine(result, loaded[i]);
      }
      return all_lanes(result);
    } else {
      // Rows of a few neighbouring items per lane, combined in order row by row.
      constexpr int row_items = 4;
      AccumT result;
      for (long long row = 0; row < bounds.length; row += row_items * Threads) {
        const long long first = row + lane * row_items;
        AccumT reduced;
        STRATA_UNROLL_N(has_long_code<InputIterator> ? 1 : row_items)
        for (int i = 0; i < row_items; ++i) {
          if (first + i < bounds.length) {
            const AccumT loaded = load(bounds, first + i);
            reduced = i == 0 ? loaded : combine(reduced, loaded);
          }
        }
        const long long lanes = ceiling_divide<long long>(bounds.length - row, row_items);
        reduced = detail::reduce_lanes<Threads, false>(reduced, reduction_op_,
                                                       lanes < Threads ? static_cast<int>(lanes) : Threads);
        if (lane == 0) result = row > 0 ? combine(result, reduced) : reduced;
      }
      return result;
    }
  }

  // Reduces the lane's part of a segment. Returns false if no item begins on a 16-byte boundary, or if there is not a
  // vector for each lane.
  STRATA_D bool reduce_vectors(const segment_bounds& bounds, int lane, AccumT& result) {
    using Input = vector_input<iterator_value_t<InputIterator>>;
    constexpr int unroll = items_in_flight / 2;
    const auto d_segment = d_in_ + static_cast<std::ptrdiff_t>(bounds.begin);
    using range = aligned_range<iterator_value_t<InputIterator>, int>;
    if (!range::has_boundary(d_segment)) return false;
    const int length = static_cast<int>(bounds.length);  // a warp has no more than `warp_bytes`
    const int head = range::items_before_boundary(d_segment);
    const int packs = (length - head) / Input::width;
    if (packs < warp_threads) return false;

    const Input input{d_segment + head, platform::evict_first(large_input_evict_first)};
    const auto load_pack = [&](int pack) { return input.template load<true>(static_cast<std::size_t>(pack)); };
    const auto item_of = [&](const typename Input::pack& loaded, int pack, int i) {
      return static_cast<AccumT>(transform_op_(loaded[i], static_cast<std::size_t>(head + pack * Input::width + i)));
    };
    const auto add = [&](const typename Input::pack& loaded, int pack) {
      AccumT sum = item_of(loaded, pack, 0);
      STRATA_UNROLL
      for (int i = 1; i < Input::width; ++i) sum = combine(sum, item_of(loaded, pack, i));
      result = combine(result, sum);
    };
    typename Input::pack loaded[unroll];
    loaded[0] = load_pack(lane);
    result = item_of(loaded[0], lane, 0);
    STRATA_UNROLL
    for (int i = 1; i < Input::width; ++i) result = combine(result, item_of(loaded[0], lane, i));
    int pack = lane + warp_threads;
    for (; pack + (unroll - 1) * warp_threads < packs; pack += unroll * warp_threads) {
      STRATA_UNROLL
      for (int i = 0; i < unroll; ++i) loaded[i] = load_pack(pack + i * warp_threads);
      STRATA_UNROLL
      for (int i = 0; i < unroll; ++i) add(loaded[i], pack + i * warp_threads);
    }
    STRATA_UNROLL
    for (int i = 0; i < unroll - 1; ++i) {
      if (pack + i * warp_threads < packs) loaded[i] = load_pack(pack + i * warp_threads);
    }
    STRATA_UNROLL
    for (int i = 0; i < unroll - 1; ++i) {
      if (pack + i * warp_threads < packs) add(loaded[i], pack + i * warp_threads);
    }
    if (lane < head) result = combine(result, load(bounds, lane));
    const int tail = length - head - packs * Input::width;
    if (lane < tail) result = combine(result, load(bounds, length - 1 - lane));
    return true;
  }

  /// Reduces items `begin` to `end` of a segment, at least one; thread 0 holds the result. The block needs no barrier
  /// between one call and the next if `turn` is alternately even and odd.
  STRATA_D void reduce_range(const segment_bounds& bounds, long long begin, long long end, int turn, AccumT& result) {
    if (block_storages == 1) __syncthreads();
    using difference = typename std::iterator_traits<InputIterator>::difference_type;
    const auto d_range = d_in_ + static_cast<difference>(bounds.begin + begin);
    const auto items = static_cast<std::size_t>(end - begin);
    BlockAgent agent(storage_.block[turn % block_storages], reduction_op_, transform_op_);
    agent.template reduce_share<false>(d_range, even_share::cut(d_range, items, 1), 0, static_cast<std::size_t>(begin),
                                       result);
  }

  // Combines the results of a segment's parts. The association is the same, whichever way the parts were reduced. Each
  // lane combines neighbouring results, then the lanes are combined. Lane 0 has the result. One warp calls this.
  template <class Get>
  STRATA_D AccumT combine_parts(unsigned parts, Get get) {
    const unsigned per_lane = ceiling_divide<unsigned>(parts, warp_threads);
    const unsigned first = platform::lane_id() * per_lane;
    AccumT result;
    for (unsigned i = 0; i < per_lane && first + i < parts; ++i) {
      const AccumT value = get(first + i);
      result = i == 0 ? value : combine(result, value);
    }
    return detail::reduce_lanes<warp_threads, false>(result, reduction_op_,
                                                     static_cast<int>(ceiling_divide<unsigned>(parts, per_lane)));
  }

  const Segments segments_;

 private:
  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  TransformOp transform_op_;
  InitT init_;
  ReductionOp reduction_op_;
};

}  // namespace detail
STRATA_NAMESPACE_END

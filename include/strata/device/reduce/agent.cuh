// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/reduce/tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Combines one value of every thread of a block in the order of the threads, tile after tile. For operators that
/// are not commutative.
///
///     all warps   tiles 0 .. 15 -> partials[0] | tiles 16 .. 31 -> partials[1]    | tiles 32 .. 47 -> partials[0]
///     warp 0                           barrier | combines partials[0]     barrier | combines partials[1]
///
/// Each warp reduces its values of a tile by shuffles and writes one partial result. Warp 0 combines the partial
/// results of several tiles at a time. The other warps start the next tiles meanwhile, in the other buffer: the
/// barrier before the next flush keeps them from coming back to this one too early.
template <class AccumT, int BlockThreads, class ReductionOp>
class ordered_tiles {
  static constexpr int warps = BlockThreads / warp_threads;
  static constexpr int tiles_per_flush = sizeof(AccumT) <= 16 ? 16 : sizeof(AccumT) <= 512 ? 4 : 1;
  static constexpr int partials_per_flush = tiles_per_flush * warps;
  static constexpr int partials_per_lane = ceiling_divide(partials_per_flush, warp_threads);

 public:
  struct TempStorage {
    Uninitialized<AccumT[partials_per_flush]> partials[2];
  };

  STRATA_D ordered_tiles(TempStorage& storage, ReductionOp reduction_op)
      : storage_(storage), reduction_op_(reduction_op) {}

  /// Appends a tile. All threads of the block call this.
  STRATA_D void add(const AccumT& value) {
    keep(detail::reduce_lanes<warp_threads, true>(value, reduction_op_, warp_threads));
    partials_ += warps;
    if (partials_ == partials_per_flush) flush();
  }

  /// Appends the last tile, in which the first `threads` threads (at least one) have a value. All threads call this.
  STRATA_D void add_last(const AccumT& value, int threads) {
    const int lanes = threads - static_cast<int>(threadIdx.x / warp_threads * warp_threads);
    if (lanes > 0) {
      const int valid = detail::least(lanes, warp_threads);
      keep(detail::reduce_lanes<warp_threads, false>(value, reduction_op_, valid));
    }
    partials_ += ceiling_divide(threads, int{warp_threads});
  }

  /// Returns the result in thread 0. All threads of the block call this, after at least one tile.
  STRATA_D AccumT result() {
    if (partials_ > 0) flush();
    return result_;
  }

 private:
  STRATA_D void keep(const AccumT& value) {
    if (platform::lane_id() == 0) {
      storage_.partials[buffer_].Alias()[partials_ + static_cast<int>(threadIdx.x / warp_threads)] = value;
    }
  }

  STRATA_D void flush() {
    __syncthreads();
    if (threadIdx.x < warp_threads) {
      const AccumT* const partials = storage_.partials[buffer_].Alias();
      const int first = static_cast<int>(threadIdx.x) * partials_per_lane;
      AccumT value;
      if (first < partials_) {
        value = partials[first];
        STRATA_UNROLL
        for (int i = 1; i < partials_per_lane; ++i) {
          if (first + i < partials_) value = combine(value, partials[first + i]);
        }
      }
      const int lanes = ceiling_divide(partials_, partials_per_lane);
      value = detail::reduce_lanes<warp_threads, false>(value, reduction_op_, lanes);
      if (threadIdx.x == 0) result_ = has_result_ ? combine(result_, value) : value;
    }
    has_result_ = true;
    partials_ = 0;
    buffer_ ^= 1;
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op_(a, b)); }

  TempStorage& storage_;
  ReductionOp reduction_op_;
  AccumT result_;
  bool has_result_ = false;
  int buffer_ = 0;
  int partials_ = 0;
};

/// What one block of a reduction does with its share of the input.
///
/// Commutative operators: neighbouring threads read neighbouring packs, each thread keeps one running result, and
/// the block combines the threads' results once, at the end. Other operators: each thread reads several neighbouring
/// packs, and `ordered_tiles` combines the threads' results tile by tile.
template <class Policy, class AccumT, class ReductionOp, class TransformOp>
class AgentReduce {
  static constexpr reduce_tuning tuning = Policy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr bool is_commutative = operator_traits<ReductionOp, AccumT>::commutative;

  static_assert(block_threads % warp_threads == 0, "reduce_tuning::block_threads must be a multiple of 32");
  static_assert(relocatable_requirements<AccumT>::check());

  template <class Iterator>
  using best_input =
      std::conditional_t<is_bulk_array<Iterator>, vector_input<iterator_value_t<Iterator>>, item_input<Iterator>>;
  using BlockReduceT = BlockReduce<AccumT, block_threads>;
  using Ordered = ordered_tiles<AccumT, block_threads, ReductionOp>;

  template <class Input>
  static constexpr int pack_bytes = static_cast<int>(sizeof(typename Input::value_type)) * Input::width;

  template <class Input>
  STRATA_HD static constexpr int packs_within(int bytes) {
    return bytes / pack_bytes<Input> > 1 ? bytes / pack_bytes<Input> : 1;
  }

 public:
  using accumulator_type = AccumT;

  /// Packs that a block has in flight where blocks take tiles in turn; 0 where they do not.
  template <class Iterator>
  static constexpr std::size_t interleaved_packs =
      is_commutative
          ? static_cast<std::size_t>(block_threads) * packs_within<best_input<Iterator>>(tuning.bytes_in_flight)
          : 0;

  union TempStorage {
    typename BlockReduceT::TempStorage block_reduce;
    std::conditional_t<is_commutative, NullType, typename Ordered::TempStorage> ordered;
  };

  STRATA_D AgentReduce(TempStorage& storage, ReductionOp reduction_op, TransformOp transform_op)
      : storage_(storage), reduction_op_(reduction_op), transform_op_(transform_op) {}

  /// Reduces block `rank`'s part of the items that start at `d_in`, as `share` has cut them. The first of these items
  /// has number `first_item`. Returns false, in all threads, if the part is empty. Otherwise thread 0 holds the result.
  /// Without `MayHaveRounds`, the share has no rounds.
  template <bool MayHaveRounds = true, class Iterator>
  STRATA_D bool reduce_share(Iterator d_in, const even_share& share, unsigned rank, std::size_t first_item,
                             AccumT& result) {
    bool has_result = share.rounds > 0 || share.begin(rank) < share.end(rank);
    if constexpr (is_bulk_array<Iterator>) {
      using T = iterator_value_t<Iterator>;
      using Input = vector_input<T>;
      if (share.is_vectorized) {
        const Input input{d_in + share.head_items, platform::evict_first(share.evict_first_fraction)};
        if (has_result) reduce_packs_of<MayHaveRounds>(share, rank, input, first_item + share.head_items, result);
        add_unaligned_items(d_in, share, rank, Input::width, first_item, result, has_result);
        return has_result;
      }
      // Items with the alignment of their size are always vectorized.
      if constexpr (alignof(T) == sizeof(T)) return has_result;
    }
    if (has_result) reduce_packs_of<MayHaveRounds>(share, rank, item_input<Iterator>{d_in}, first_item, result);
    return has_result;
  }

  /// A short input has at most this many items for each thread of its block.
  static constexpr int short_items = 4;

  /// Reduces a short input of at least one item. Thread 0 holds the result.
  template <class Iterator>
  STRATA_D AccumT reduce_short(Iterator d_in, unsigned num_items) {
    using Input = item_input<Iterator>;
    const Input input{d_in};
    const unsigned begin = threadIdx.x * unsigned{short_items};
    AccumT result;
    reduce_packs_below<short_items>(input, begin, 1, num_items, 0, result, false);
    return reduce_values(result, static_cast<int>(ceiling_divide(num_items, unsigned{short_items})));
  }

  /// Reduces one value of each of the first `num_valid` threads; the result is in thread 0.
  STRATA_D AccumT reduce_values(const AccumT& value, int num_valid) {
    return BlockReduceT(storage_.block_reduce).Reduce(value, reduction_op_, num_valid);
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op_(a, b)); }

 private:
  // Reduces at least one pack. Item `i` of pack `p` has number `first_item + p * width + i`.
  template <bool MayHaveRounds, class Input>
  STRATA_D void reduce_packs_of(const even_share& share, unsigned rank, const Input& input, std::size_t first_item,
                                AccumT& result) {
    if constexpr (!MayHaveRounds && Input::has_long_code) {
      reduce_by_loops(input, share.begin(rank), share.end(rank), first_item, result);
    } else if constexpr (is_commutative) {
      reduce_striped<MayHaveRounds>(input, share, rank, first_item, result);
    } else {
      reduce_ordered(input, share.begin(rank), share.end(rank), first_item, result);
    }
  }

  // Adds, in thread 0, the items before the first and behind the last whole pack.
  template <class Iterator>
  STRATA_D void add_unaligned_items(Iterator d_in, const even_share& share, unsigned rank, std::size_t width,
                                    std::size_t first_item, AccumT& result, bool& has_result) {
    if (rank == 0 && share.head_items > 0) {
      if (threadIdx.x == 0) {
        const AccumT head = reduce_items(d_in, 0, share.head_items, first_item);
        result = has_result ? combine(head, result) : head;
      }
      has_result = true;
    }
    if (rank + 1 == share.blocks && share.tail_items > 0) {
      if (threadIdx.x == 0) {
        const std::size_t begin = share.head_items + share.packs * width;
        const AccumT tail = reduce_items(d_in, begin, begin + share.tail_items, first_item);
        result = has_result ? combine(result, tail) : tail;
      }
      has_result = true;
    }
  }

  template <class Iterator>
  STRATA_D AccumT reduce_items(Iterator d_in, std::size_t begin, std::size_t end, std::size_t first_item) {
    const item_input<Iterator> input{d_in};
    AccumT result = transform(input.template load<true>(begin)[0], first_item + begin);
    for (std::size_t i = begin + 1; i < end; ++i) {
      result = combine(result, transform(input.template load<true>(i)[0], first_item + i));
    }
    return result;
  }

  template <class Item>
  STRATA_D AccumT transform(const Item& item, std::size_t index) {
    return static_cast<AccumT>(transform_op_(item, index));
  }

  template <class Input>
  STRATA_D AccumT reduce_pack(const typename Input::pack& pack, std::size_t first_item) {
    AccumT result = transform(pack[0], first_item);
    STRATA_UNROLL
    for (int i = 1; i < Input::width; ++i) {
      result = combine(result, transform(pack[i], first_item + static_cast<unsigned>(i)));
    }
    // cicc 13.0 ends with a segmentation fault where it sees a sum of 128 terms such as x * x + 1.
    if constexpr (Input::width >= 16 && TransformOp::computes) result = platform::opaque(result);
    return result;
  }

  // Loads `Packs` packs, `stride` apart: all loads are under way before the first pack is used.
  template <int Packs, class Input>
  STRATA_D static void load_packs(const Input& input, std::size_t pack, std::size_t stride,
                                  typename Input::pack (&loaded)[Packs]) {
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      loaded[i] = input.template load<is_commutative>(pack + static_cast<unsigned>(i) * stride);
    }
  }

  template <class Input, int Packs>
  STRATA_D AccumT reduce_packs(const typename Input::pack (&loaded)[Packs], std::size_t pack, std::size_t stride,
                               std::size_t first_item) {
    AccumT result = reduce_pack<Input>(loaded[0], first_item + pack * Input::width);
    STRATA_UNROLL
    for (int i = 1; i < Packs; ++i) {
      const std::size_t item = first_item + (pack + static_cast<unsigned>(i) * stride) * Input::width;
      result = combine(result, reduce_pack<Input>(loaded[i], item));
    }
    return result;
  }

  // Reduces only packs below `end`. There may be none.
  template <int Packs, class Input>
  STRATA_D void reduce_packs_below(const Input& input, std::size_t pack, std::size_t stride, std::size_t end,
                                   std::size_t first_item, AccumT& result, bool has_result) {
    typename Input::pack loaded[Packs];
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      const std::size_t index = pack + static_cast<unsigned>(i) * stride;
      if (index < end) loaded[i] = input.template load<is_commutative>(index);
    }
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      const std::size_t index = pack + static_cast<unsigned>(i) * stride;
      if (index < end) {
        const AccumT reduced = reduce_pack<Input>(loaded[i], first_item + index * Input::width);
        result = has_result || i > 0 ? combine(result, reduced) : reduced;
      }
    }
  }

  // Reduces with one copy of the code that loads an item.
  template <class Input>
  STRATA_D void reduce_by_loops(const Input& input, std::size_t begin, std::size_t end, std::size_t first_item,
                                AccumT& result) {
    if constexpr (is_commutative) {
      const std::size_t first = begin + threadIdx.x;
      STRATA_UNROLL_N(1)
      for (std::size_t item = first; item < end; item += block_threads) {
        const AccumT reduced = reduce_pack<Input>(input.template load<true>(item), first_item + item);
        result = item == first ? reduced : combine(result, reduced);
      }
      const std::size_t items = end - begin;
      result = reduce_values(result, items < block_threads ? static_cast<int>(items) : block_threads);
    } else {
      constexpr std::size_t thread_items = 16;
      constexpr std::size_t tile_items = thread_items * block_threads;
      Ordered ordered(storage_.ordered, reduction_op_);
      STRATA_UNROLL_N(1)
      for (std::size_t tile = begin; tile < end; tile += tile_items) {
        const std::size_t first = tile + threadIdx.x * thread_items;
        AccumT reduced;
        STRATA_UNROLL_N(1)
        for (std::size_t item = first; item < first + thread_items && item < end; ++item) {
          const AccumT next = reduce_pack<Input>(input.template load<false>(item), first_item + item);
          reduced = item == first ? next : combine(reduced, next);
        }
        if (end - tile >= tile_items) {
          ordered.add(reduced);
        } else {
          ordered.add_last(reduced, static_cast<int>(ceiling_divide<std::size_t>(end - tile, thread_items)));
        }
      }
      result = ordered.result();
    }
  }

  template <bool MayHaveRounds, class Input>
  STRATA_D void reduce_striped(const Input& input, const even_share& share, unsigned rank, std::size_t first_item,
                               AccumT& result) {
    constexpr int packs = packs_within<Input>(tuning.bytes_in_flight);
    constexpr std::size_t tile_packs = static_cast<std::size_t>(packs) * block_threads;

    bool is_first_tile = true;
    std::size_t begin = share.begin(rank);
    const std::size_t end = share.end(rank);
    if constexpr (MayHaveRounds) {
      // The tiles of the rounds, then those of the rest. Two loops, or a function for a tile, need more than 64
      // registers: sums of 2^24 and 2^26 8-byte items took 3 to 7 % longer (H200, CUDA 13.0).
      std::size_t rounds = share.rounds;
      std::size_t next_of_rounds = rank * tile_packs;
      while (rounds > 0 || end - begin >= tile_packs) {
        std::size_t pack = threadIdx.x;
        if (rounds > 0) {
          pack += next_of_rounds;
          next_of_rounds += share.blocks * tile_packs;
          --rounds;
        } else {
          pack += begin;
          begin += tile_packs;
        }
        typename Input::pack loaded[packs];
        load_packs(input, pack, block_threads, loaded);
        const AccumT reduced = reduce_packs<Input>(loaded, pack, block_threads, first_item);
        result = is_first_tile ? reduced : combine(result, reduced);
        is_first_tile = false;
      }
    } else {
      // In kernels for segments, a function for a tile spares registers.
      const auto reduce_tile = [&](std::size_t pack) {
        typename Input::pack loaded[packs];
        load_packs(input, pack, block_threads, loaded);
        const AccumT reduced = reduce_packs<Input>(loaded, pack, block_threads, first_item);
        result = is_first_tile ? reduced : combine(result, reduced);
        is_first_tile = false;
      };
      for (; end - begin >= tile_packs; begin += tile_packs) reduce_tile(begin + threadIdx.x);
    }

    int valid_threads = block_threads;
    if (is_first_tile && end - begin < block_threads) valid_threads = static_cast<int>(end - begin);
    reduce_packs_below<packs>(input, begin + threadIdx.x, block_threads, end, first_item, result, !is_first_tile);
    result = reduce_values(result, valid_threads);
  }

  // The packs of a thread lie side by side, so the lanes of a load are some bytes apart; the thread's next loads find
  // their lines in L1. A transposition in shared memory would gain 0.3 % at 2^28 16-byte items (H200, CUDA 13.0).
  template <class Input>
  STRATA_D void reduce_ordered(const Input& input, std::size_t begin, std::size_t end, std::size_t first_item,
                               AccumT& result) {
    // If items are smaller than 16 bytes and are read one by one, a thread takes at most 16 bytes of them. The lanes of
    // a load are then at most 16 bytes apart, and each load of a warp touches 4 lines.
    constexpr int packs = packs_within<Input>(Input::width == 1 && pack_bytes<Input> < 16 ? 16 : tuning.ordered_bytes);
    constexpr std::size_t tile_packs = static_cast<std::size_t>(packs) * block_threads;

    Ordered ordered(storage_.ordered, reduction_op_);
    std::size_t pack = begin + static_cast<std::size_t>(threadIdx.x) * packs;
    std::size_t tiles = (end - begin) / tile_packs;
    // The next tile is loaded while this one is combined, which takes about 200 cycles of shuffles.
    typename Input::pack current[packs];
    if (tiles > 0) load_packs(input, pack, 1, current);
    for (; tiles > 0; --tiles, pack += tile_packs) {
      typename Input::pack next[packs];
      if (tiles > 1) load_packs(input, pack + tile_packs, 1, next);
      ordered.add(reduce_packs<Input>(current, pack, 1, first_item));
      STRATA_UNROLL
      for (int i = 0; i < packs; ++i) current[i] = next[i];
    }

    const std::size_t rest = (end - begin) % tile_packs;
    if (rest > 0) {
      AccumT reduced;
      reduce_packs_below<packs>(input, pack, 1, end, first_item, reduced, false);
      ordered.add_last(reduced, static_cast<int>(ceiling_divide<std::size_t>(rest, packs)));
    }
    result = ordered.result();
  }

  TempStorage& storage_;
  ReductionOp reduction_op_;
  TransformOp transform_op_;
};

}  // namespace detail
STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_opaque.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/device/reduce/input.cuh>
#include <strata/device/reduce/tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What one block of a reduction does with its share of the input.
///
/// Commutative operators: the threads read the tile striped, each carries its own result along, and
/// the block combines them once at the end. Others: a thread reads neighbouring packs, and results
/// are combined in the order of the input, tile by tile.
template <class Policy, class AccumT, class ReductionOp, class TransformOp>
class AgentReduce {
  static constexpr reduce_tuning tuning = Policy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int block_warps = block_threads / warp_threads;
  static constexpr bool is_commutative = operator_traits<ReductionOp, AccumT>::commutative;

  // The ordered path lets warp 0 combine the results of this many tiles at a time, while the others
  // read on: one barrier for all of them.
  static constexpr int tiles_per_flush = sizeof(AccumT) <= 16 ? 16 : sizeof(AccumT) <= 512 ? 4 : 1;
  static constexpr int partials_per_flush = tiles_per_flush * block_warps;
  static constexpr int partials_per_lane = ceiling_divide(partials_per_flush, warp_threads);

  template <class Iterator>
  using best_input =
      std::conditional_t<is_vectorizable<Iterator>::value, vector_input<iterator_value_t<Iterator>>,
                         item_input<Iterator>>;

  static_assert(block_threads % warp_threads == 0 &&
                    (partials_per_flush < warp_threads || partials_per_flush % warp_threads == 0),
                "reduce_tuning::block_threads must be a multiple of 32");
  static_assert(is_trivially_relocatable_v<AccumT>,
                "reductions move partial results between threads: the accumulator must be "
                "trivially relocatable");

  // Packs of a thread, side by side, that go through shared memory on their way to it.
  static constexpr int transposed_packs = 4;
  using transposed_layout = SwizzledLayout<16, transposed_packs>;
  // not for users: the layout serves all powers of two
  static_assert(conflict_degree(transposed_layout{}, striped_access<16, transposed_packs>{}) == 1 &&
                    conflict_degree(transposed_layout{}, blocked_access<16, transposed_packs>{}) ==
                        1,
                "the transposition has bank conflicts");

  using BlockReduceT = BlockReduce<AccumT, block_threads>;
  using WarpReduceT = WarpReduce<AccumT>;
  struct ordered_storage {
    typename WarpReduceT::TempStorage warp_reduce[block_warps];
    Uninitialized<AccumT[partials_per_flush]> partials[2];
    uint4 transposed[tuning.transposes_in_shared_memory ? block_threads * transposed_packs : 1];
  };

  template <class Input>
  static constexpr int pack_bytes =
      static_cast<int>(sizeof(typename Input::value_type)) * Input::width;

  template <class Input>
  STRATA_HD static constexpr int packs_within(int bytes) {
    return bytes / pack_bytes<Input> > 1 ? bytes / pack_bytes<Input> : 1;
  }

 public:
  /// Packs that a block has in flight where blocks take tiles in turn; 0 where they do not.
  template <class Iterator>
  static constexpr std::size_t interleaved_packs =
      is_commutative ? static_cast<std::size_t>(block_threads) * packs_within<best_input<Iterator>>(
                                                                     tuning.bytes_in_flight)
                     : 0;

  union TempStorage {
    typename BlockReduceT::TempStorage block_reduce;
    std::conditional_t<is_commutative, NullType, ordered_storage> ordered;
  };

  STRATA_D AgentReduce(TempStorage& storage, ReductionOp reduction_op, TransformOp transform_op)
      : storage_(storage), reduction_op_(reduction_op), transform_op_(transform_op) {}

  /// Reduces block `rank`'s part of `share`, cut of the items that start at `d_in`, of which the
  /// first has number `first_item`. Returns false, in all threads, if the part is empty; else
  /// thread 0 holds the result.
  template <class Iterator>
  STRATA_D bool reduce_share(Iterator d_in, const even_share& share, unsigned rank,
                             std::size_t first_item, AccumT& result) {
    bool has_result = share.rounds > 0 || share.begin(rank) < share.end(rank);
    if constexpr (is_vectorizable<Iterator>::value) {
      using T = iterator_value_t<Iterator>;
      using Input = vector_input<T>;
      if (share.is_vectorized) {
        const Input input{d_in + share.head_items,
                          platform::evict_first(share.evict_first_fraction)};
        if (has_result) reduce_packs_of(share, rank, input, first_item + share.head_items, result);
        add_stray_items(d_in, share, rank, Input::width, first_item, result, has_result);
        return has_result;
      }
      // Items with the alignment of their size are always vectorized.
      if constexpr (alignof(T) == sizeof(T)) return has_result;
    }
    if (has_result) reduce_packs_of(share, rank, item_input<Iterator>{d_in}, first_item, result);
    return has_result;
  }

  /// Reduces one value of each of the first `num_valid` threads; the result is in thread 0.
  STRATA_D AccumT reduce_values(const AccumT& value, int num_valid) {
    return BlockReduceT(storage_.block_reduce).Reduce(value, reduction_op_, num_valid);
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) {
    return static_cast<AccumT>(reduction_op_(a, b));
  }

 private:
  // At least one pack; item `i` of pack `p` has number `first_item + p * width + i`.
  template <class Input>
  STRATA_D void reduce_packs_of(const even_share& share, unsigned rank, const Input& input,
                                std::size_t first_item, AccumT& result) {
    if constexpr (is_commutative) {
      reduce_striped(input, share, rank, first_item, result);
    } else {
      reduce_ordered(input, share.begin(rank), share.end(rank), first_item, result);
    }
  }

  // Adds, in thread 0, the items before the first and behind the last whole pack.
  template <class Iterator>
  STRATA_D void add_stray_items(Iterator d_in, const even_share& share, unsigned rank,
                                std::size_t width, std::size_t first_item, AccumT& result,
                                bool& has_result) {
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
  STRATA_D AccumT reduce_items(Iterator d_in, std::size_t begin, std::size_t end,
                               std::size_t first_item) {
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

  /// True if the warp's packs of a tile are loaded striped and change lanes in shared memory.
  template <int Packs, class Input>
  static constexpr bool is_transposed =
      tuning.transposes_in_shared_memory&& Packs == transposed_packs&& Input::is_vector;

  // The thread's packs of a tile, from `pack` on, or those that transpose() makes them from.
  template <int Packs, class Input>
  STRATA_D static void load_packs(const Input& input, std::size_t pack,
                                  typename Input::pack (&loaded)[Packs]) {
    if constexpr (is_transposed<Packs, Input>) {
      const std::size_t first = pack - platform::lane_id() * (Packs - 1);
      STRATA_UNROLL
      for (int i = 0; i < Packs; ++i) {
        loaded[i] = input.template load<true>(first + static_cast<unsigned>(i * warp_threads));
      }
    } else {
      STRATA_UNROLL
      for (int i = 0; i < Packs; ++i)
        loaded[i] = input.template load<false>(pack + static_cast<unsigned>(i));
    }
  }

  // Turns packs striped over the warp into neighbouring ones for each lane.
  template <int Packs, class Pack>
  STRATA_D void transpose(Pack (&packs)[Packs]) {
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int lane = static_cast<int>(platform::lane_id());
    uint4* const places = storage_.ordered.transposed + warp * warp_threads * Packs;
    const auto place = [&](int pack) -> uint4& { return places[transposed_layout{}(pack)]; };
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      const unsigned(&w)[4] = packs[i].words;
      place(i * warp_threads + lane) = make_uint4(w[0], w[1], w[2], w[3]);
    }
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      const uint4 v = place(lane * Packs + i);
      packs[i] = {{v.x, v.y, v.z, v.w}};
    }
  }

  // Loads and reduces `Packs` packs, `stride` apart; all loads are under way before the first use.
  template <int Packs, class Input>
  STRATA_D AccumT reduce_packs(const Input& input, std::size_t pack, std::size_t stride,
                               std::size_t first_item) {
    typename Input::pack loaded[Packs];
    STRATA_UNROLL
    for (int i = 0; i < Packs; ++i) {
      loaded[i] = input.template load<is_commutative>(pack + static_cast<unsigned>(i) * stride);
    }
    AccumT result = reduce_pack<Input>(loaded[0], first_item + pack * Input::width);
    STRATA_UNROLL
    for (int i = 1; i < Packs; ++i) {
      const std::size_t item =
          first_item + (pack + static_cast<unsigned>(i) * stride) * Input::width;
      result = combine(result, reduce_pack<Input>(loaded[i], item));
    }
    return result;
  }

  // The same for packs below `end` only, of which there may be none.
  template <int Packs, class Input>
  STRATA_D void reduce_packs_below(const Input& input, std::size_t pack, std::size_t stride,
                                   std::size_t end, std::size_t first_item, AccumT& result,
                                   bool has_result) {
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

  template <class Input>
  STRATA_D void reduce_striped(const Input& input, const even_share& share, unsigned rank,
                               std::size_t first_item, AccumT& result) {
    constexpr int packs = packs_within<Input>(tuning.bytes_in_flight);
    constexpr std::size_t tile_packs = static_cast<std::size_t>(packs) * block_threads;

    bool is_first_tile = true;
    const auto reduce_tile = [&](std::size_t tile) {
      const AccumT reduced =
          reduce_packs<packs>(input, tile + threadIdx.x, block_threads, first_item);
      result = is_first_tile ? reduced : combine(result, reduced);
      is_first_tile = false;
    };
    for (std::size_t round = 0; round < share.rounds; ++round) {
      reduce_tile((round * share.blocks + rank) * tile_packs);
    }
    std::size_t begin = share.begin(rank);
    const std::size_t end = share.end(rank);
    for (; end - begin >= tile_packs; begin += tile_packs) reduce_tile(begin);

    int valid_threads = block_threads;
    if (is_first_tile && end - begin < block_threads) valid_threads = static_cast<int>(end - begin);
    reduce_packs_below<packs>(input, begin + threadIdx.x, block_threads, end, first_item, result,
                              !is_first_tile);
    result = reduce_values(result, valid_threads);
  }

  template <class Input>
  STRATA_D void reduce_ordered(const Input& input, std::size_t begin, std::size_t end,
                               std::size_t first_item, AccumT& result) {
    // Single items are read with a small stride between lanes, whole packs with a larger one: both
    // keep the number of 128-byte lines per load low.
    constexpr int packs = packs_within<Input>(
        Input::width == 1 && pack_bytes<Input> < 16 ? 16 : tuning.ordered_bytes);
    constexpr std::size_t tile_packs = static_cast<std::size_t>(packs) * block_threads;
    const unsigned warp = threadIdx.x / warp_threads;
    WarpReduceT warp_reduce(storage_.ordered.warp_reduce[warp]);

    bool has_result = false;
    int phase = 0;
    int partials = 0;
    const auto slot = [&] { return storage_.ordered.partials[phase].Alias() + partials + warp; };
    const auto flush_partials = [&] {
      flush(warp_reduce, phase, partials, result, has_result);
      has_result = true;
      partials = 0;
      phase ^= 1;
    };

    // The next tile is on its way while this one is combined, which takes a while.
    typename Input::pack current[packs];
    std::size_t pack = begin + static_cast<std::size_t>(threadIdx.x) * packs;
    std::size_t tiles = (end - begin) / tile_packs;
    if (tiles > 0) load_packs(input, pack, current);
    for (; tiles > 0; --tiles, pack += tile_packs) {
      typename Input::pack next[packs];
      if (tiles > 1) load_packs(input, pack + tile_packs, next);
      if constexpr (is_transposed<packs, Input>) transpose(current);
      AccumT reduced = reduce_pack<Input>(current[0], first_item + pack * Input::width);
      STRATA_UNROLL
      for (int i = 1; i < packs; ++i) {
        const std::size_t item = first_item + (pack + static_cast<unsigned>(i)) * Input::width;
        reduced = combine(reduced, reduce_pack<Input>(current[i], item));
      }
      reduced = warp_reduce.Reduce(reduced, reduction_op_);
      if (platform::lane_id() == 0) *slot() = reduced;
      partials += block_warps;
      if (partials == partials_per_flush) flush_partials();
      STRATA_UNROLL
      for (int i = 0; i < packs; ++i) current[i] = next[i];
    }

    const int threads = static_cast<int>((((end - begin) % tile_packs) + packs - 1) / packs);
    if (threads > 0) {
      const int lanes = threads - static_cast<int>(warp) * warp_threads;
      if (lanes > 0) {
        AccumT reduced;
        reduce_packs_below<packs>(input, pack, 1, end, first_item, reduced, false);
        reduced =
            warp_reduce.Reduce(reduced, reduction_op_, lanes < warp_threads ? lanes : warp_threads);
        if (platform::lane_id() == 0) *slot() = reduced;
      }
      partials += (threads + warp_threads - 1) / warp_threads;
    }
    if (partials > 0) flush_partials();
  }

  // Warp 0 appends the collected partial results to `result`. The others go on and fill the other
  // buffer; the next flush's barrier keeps them from coming back to this one too early.
  STRATA_D void flush(WarpReduceT& warp_reduce, int phase, int partials, AccumT& result,
                      bool has_result) {
    __syncthreads();
    if (threadIdx.x >= warp_threads) return;
    const AccumT* const collected = storage_.ordered.partials[phase].Alias();
    const int first = static_cast<int>(threadIdx.x) * partials_per_lane;
    AccumT reduced;
    if (first < partials) {
      reduced = collected[first];
      STRATA_UNROLL
      for (int i = 1; i < partials_per_lane; ++i) {
        if (first + i < partials) reduced = combine(reduced, collected[first + i]);
      }
    }
    reduced = warp_reduce.Reduce(reduced, reduction_op_,
                                 (partials + partials_per_lane - 1) / partials_per_lane);
    if (threadIdx.x == 0) result = has_result ? combine(result, reduced) : reduced;
  }

  TempStorage& storage_;
  ReductionOp reduction_op_;
  TransformOp transform_op_;
};

}  // namespace detail
STRATA_NAMESPACE_END

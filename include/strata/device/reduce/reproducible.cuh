// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// A reduction whose association depends only on the types and on the number of items: every GPU, every grid and every
/// address of the input gives the same bits.
///
///     item    0 1 2 3 | 4 5 6 7 | ... | 124 .. 127 | 128 ..     a row: a pack of neighbours for each of 32 lanes
///     lane       0         1                 31        0        a lane combines its packs of all rows of a piece
///
/// 1. The input is cut into pieces of whole rows. Their length depends only on the number of items and on the size of
///    an item.
/// 2. A warp combines the packs of a lane in order, then its lanes.
/// 3. The last block combines the results of all pieces, neighbours first.
///
/// So it does not matter which warp has a piece. No tuning row takes part: with other numbers, sums would differ.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How the input is cut into pieces of 2^`log2_piece` items.
template <class T>
struct reproducible_plan {
  static constexpr bool has_packs = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0;
  static constexpr std::size_t width = has_packs ? 16 / sizeof(T) : 1;
  static constexpr std::size_t row_items = warp_threads * width;
  /// Rows that a warp loads at a time: a piece has a multiple of them.
  static constexpr int rows_in_flight = 8;
  static constexpr std::size_t max_pieces = std::size_t{1} << 14;

  int log2_piece;
  unsigned pieces;

  STRATA_HD static reproducible_plan of(std::size_t num_items) {
    if (num_items == 0) return {0, 0};
    int log2_piece = detail::log2_ceiling(static_cast<int>(row_items) * rows_in_flight);
    while ((num_items - 1) >> log2_piece >= max_pieces) ++log2_piece;
    return {log2_piece, static_cast<unsigned>((num_items - 1) >> log2_piece) + 1};
  }
  /// Returns the largest number of pieces of any input of up to `max_items` items. (A longer input may have fewer
  /// pieces than a shorter one.)
  static unsigned most_pieces(std::size_t max_items) {
    return static_cast<unsigned>(
        detail::least(detail::ceiling_divide(max_items, row_items * rows_in_flight), max_pieces));
  }
};

/// An input of packs of `width` neighbouring items, which are read one by one.
template <class Iterator, int Width>
struct grouped_input {
  using value_type = iterator_value_t<Iterator>;
  static constexpr int width = Width;
  Iterator iterator;

  struct pack {
    value_type items[static_cast<std::size_t>(Width)];
    STRATA_D const value_type& operator[](int i) const { return items[i]; }
  };
  template <bool IsStriped>
  STRATA_D pack load(std::size_t index) const {
    pack result;
    STRATA_UNROLL
    for (int i = 0; i < Width; ++i) {
      result.items[i] = item_input<Iterator>{iterator}.template load<true>(index * Width + static_cast<unsigned>(i))[0];
    }
    return result;
  }
};

/// What a block of a reproducible reduction does.
template <class AccumT, class ReductionOp, class TransformOp>
class AgentReproducible {
 public:
  static constexpr int block_threads = 512;
  static constexpr unsigned warps_of_block = block_threads / warp_threads;

 private:
  using BlockReduceT = BlockReduce<AccumT, block_threads>;
  using WarpReduceT = WarpReduce<AccumT>;

 public:
  struct TempStorage {
    typename BlockReduceT::TempStorage block;
    typename WarpReduceT::TempStorage warps[warps_of_block];
  };

  STRATA_D AgentReproducible(TempStorage& storage, ReductionOp reduction_op, TransformOp transform_op)
      : storage_(storage), reduction_op_(reduction_op), transform_op_(transform_op) {}

  /// The warps of all blocks take pieces in turn, and write their results to `partials`.
  template <class Iterator>
  STRATA_D void reduce_pieces(const Iterator& d_in, std::size_t num_items, float evict_first_fraction,
                              AccumT* partials) {
    using T = iterator_value_t<Iterator>;
    using plan = reproducible_plan<T>;
    if constexpr (is_bulk_array<Iterator> && plan::has_packs) {
      if (reinterpret_cast<unsigned long long>(d_in) % 16 == 0) {
        const vector_input<T> input{d_in, platform::evict_first(evict_first_fraction)};
        reduce_pieces_of(input, d_in, num_items, partials);
        return;
      }
    }
    const grouped_input<Iterator, static_cast<int>(plan::width)> input{d_in};
    reduce_pieces_of(input, d_in, num_items, partials);
  }

  /// Returns the result in thread 0. All threads of one block call this, after all pieces.
  STRATA_D AccumT combine_pieces(const AccumT* partials, unsigned pieces) {
    const unsigned per_thread = detail::ceiling_divide(pieces, static_cast<unsigned>(block_threads));
    const unsigned begin = threadIdx.x * per_thread;
    const unsigned end = detail::least(begin + per_thread, pieces);
    AccumT result;
    if (begin < end) result = partials[begin];
    STRATA_UNROLL_N(8)
    for (unsigned i = begin + 1; i < end; ++i) result = combine(result, partials[i]);
    return BlockReduceT(storage_.block)
        .Reduce(result, reduction_op_, static_cast<int>(detail::ceiling_divide(pieces, per_thread)));
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op_(a, b)); }

 private:
  template <class Input, class Iterator>
  STRATA_D void reduce_pieces_of(const Input& input, const Iterator& d_in, std::size_t num_items, AccumT* partials) {
    using plan = reproducible_plan<typename Input::value_type>;
    const plan all = plan::of(num_items);
    const unsigned warp = threadIdx.x / warp_threads;
    for (unsigned piece = blockIdx.x * warps_of_block + warp; piece < all.pieces; piece += gridDim.x * warps_of_block) {
      const std::size_t begin = std::size_t{piece} << all.log2_piece;
      const std::size_t items = detail::least(std::size_t{1} << all.log2_piece, num_items - begin);
      AccumT result = reduce_lane(input, d_in, begin, items);
      const std::size_t packs = detail::ceiling_divide(items, plan::width);
      const int lanes = static_cast<int>(detail::least(packs, std::size_t{warp_threads}));
      result = WarpReduceT(storage_.warps[warp]).Reduce(result, reduction_op_, lanes);
      if (platform::lane_id() == 0) partials[piece] = result;
    }
  }

  /// Combines this lane's items of a piece. A lane may have none.
  template <class Input, class Iterator>
  STRATA_D AccumT reduce_lane(const Input& input, const Iterator& d_in, std::size_t begin, std::size_t items) {
    using plan = reproducible_plan<typename Input::value_type>;
    constexpr int rows = plan::rows_in_flight;
    const std::size_t first_pack = begin / plan::width, packs = items / plan::width;
    const unsigned lane = platform::lane_id();
    AccumT result;
    bool has_result = false;
    std::size_t pack = lane;
    typename Input::pack loaded[static_cast<std::size_t>(rows)];
    for (; pack - lane + rows * warp_threads <= packs; pack += rows * warp_threads) {
      STRATA_UNROLL
      for (int i = 0; i < rows; ++i)
        loaded[i] = input.template load<true>(first_pack + pack + static_cast<unsigned>(i) * warp_threads);
      STRATA_UNROLL
      for (int i = 0; i < rows; ++i) {
        const AccumT reduced = reduce_pack<Input>(loaded[i]);
        result = has_result || i > 0 ? combine(result, reduced) : reduced;
      }
      has_result = true;
    }
    STRATA_UNROLL
    for (int i = 0; i < rows; ++i) {
      const std::size_t index = pack + static_cast<unsigned>(i) * warp_threads;
      if (index < packs) loaded[i] = input.template load<true>(first_pack + index);
    }
    STRATA_UNROLL
    for (int i = 0; i < rows; ++i) {
      if (pack + static_cast<unsigned>(i) * warp_threads < packs) {
        const AccumT reduced = reduce_pack<Input>(loaded[i]);
        result = has_result ? combine(result, reduced) : reduced;
        has_result = true;
      }
    }
    // The last pack may lack items.
    if (packs % warp_threads == lane && packs * plan::width < items) {
      const item_input<Iterator> single{d_in};
      AccumT reduced = transform(single.template load<true>(begin + packs * plan::width)[0]);
      for (std::size_t i = packs * plan::width + 1; i < items; ++i) {
        reduced = combine(reduced, transform(single.template load<true>(begin + i)[0]));
      }
      result = has_result ? combine(result, reduced) : reduced;
    }
    return result;
  }

  template <class Input>
  STRATA_D AccumT reduce_pack(const typename Input::pack& pack) {
    AccumT result = transform(pack[0]);
    STRATA_UNROLL
    for (int i = 1; i < Input::width; ++i) result = combine(result, transform(pack[i]));
    return result;
  }

  /// Transformations of DeviceReduce also take the index of an item. No transformation needs it here.
  template <class Item>
  STRATA_D AccumT transform(const Item& item) {
    return static_cast<AccumT>(transform_op_(item, 0));
  }

  TempStorage& storage_;
  ReductionOp reduction_op_;
  TransformOp transform_op_;
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Reduces the pieces in all blocks, and their results in the last one.
template <class AccumT, class InputIterator, class OutputIterator, class NumItems, class ReductionOp, class TransformOp,
          class InitT>
__launch_bounds__(AgentReproducible<AccumT, ReductionOp, TransformOp>::block_threads, 2)
    STRATA_KERNEL void reproducible_kernel(InputIterator d_in, OutputIterator d_out, NumItems count,
                                           float evict_first_fraction, AccumT* partials,
                                           typename last_block_gather<unsigned>::arguments gather_arguments,
                                           ReductionOp reduction_op, TransformOp transform_op, InitT init) {
  using Agent = AgentReproducible<AccumT, ReductionOp, TransformOp>;
  using Gather = last_block_gather<unsigned>;
  struct shared_storage {
    typename Agent::TempStorage agent;
    typename Gather::TempStorage gather;
  };
  STRATA_SHARED(shared, Uninitialized<shared_storage>);
  Agent agent(shared.Alias().agent, reduction_op, transform_op);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  const std::size_t num_items = detail::number_of_items<std::size_t>(count);
  agent.reduce_pieces(d_in, num_items, evict_first_fraction, partials);
  if (gridDim.x > 1) {
    Gather gather(shared.Alias().gather, gather_arguments, blockIdx.x, gridDim.x);
    if (!gather.is_last(0u)) return;
  } else {
    __syncthreads();
  }
  AccumT result;
  const unsigned pieces = reproducible_plan<iterator_value_t<InputIterator>>::of(num_items).pieces;
  if (pieces > 0) result = agent.combine_pieces(partials, pieces);
  if (threadIdx.x == 0) detail::store_result(agent, d_out, init, result, pieces > 0);
}

/// One call of a reproducible reduction.
template <class AccumT, class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class InitT>
struct DispatchReproducible {
  using T = iterator_value_t<InputIterator>;
  using plan = reproducible_plan<T>;
  using Agent = AgentReproducible<AccumT, ReductionOp, TransformOp>;
  /// The largest number of blocks: each thread of the last block reads the tagged word of one block.
  static constexpr std::size_t max_blocks = Agent::block_threads;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op,
                              TransformOp transform_op, InitT init, cudaStream_t stream) {
    static_assert(operator_traits<ReductionOp, AccumT>::commutative,
                  "reproducible reductions swap operands: specialise strata::operator_traits if the operator is "
                  "commutative on this type, or require determinism::run_to_run");
    const std::size_t max_items = detail::max_items(num_items);
    if (detail::refuses_input(d_in, num_items, "d_in") || detail::refuses_index(d_out, max_items)) {
      return cudaErrorInvalidValue;
    }
    const unsigned max_pieces = plan::most_pieces(max_items);
    temporary_storage::layout<2> storage;
    storage.template reserve<platform::tagged_word>(0, max_blocks);
    storage.template reserve<AccumT>(1, max_pieces);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if ((max_items > 0 && detail::refuses_null(d_in, "d_in")) || detail::refuses_result(d_out) ||
        detail::refuses_null_count(num_items) || detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    device_properties device;
    const cudaError_t status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    const std::size_t resident = 2 * static_cast<std::size_t>(device.multiprocessors);
    const std::size_t wanted = detail::ceiling_divide(std::size_t{max_pieces}, std::size_t{Agent::warps_of_block});
    const std::size_t blocks = detail::least(detail::least(resident, wanted), max_blocks);
    using Count = kernel_count_t<NumItemsT>;
    return strata::launch(
        {"strata::DeviceReduce, reproducible", dim3(blocks > 0 ? static_cast<unsigned>(blocks) : 1),
         dim3(Agent::block_threads), 0, stream, 1, device.ptx_version >= 900},
        reproducible_kernel<AccumT, InputIterator, OutputIterator, Count, ReductionOp, TransformOp, InitT>, d_in, d_out,
        static_cast<Count>(num_items), detail::evict_first_fraction(device.l2_bytes, max_items * sizeof(T)),
        storage.template get<AccumT>(1),
        typename last_block_gather<unsigned>::arguments{storage.template get<platform::tagged_word>(0), next_epoch()},
        reduction_op, transform_op, init);
  }
};

/// Carries out one call of a reproducible reduction, whose partial results have the type `AccumT`.
template <class AccumT, class InputIterator, class OutputIterator, class NumItemsT, class ReductionOp,
          class TransformOp, class InitT>
cudaError_t dispatch_reproducible(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op,
                                  TransformOp transform_op, InitT init, cudaStream_t stream) {
  constexpr bool is_possible = can_accumulate<ReductionOp, AccumT, InputIterator, OutputIterator>;
  using Dispatcher = DispatchReproducible<AccumT, InputIterator, OutputIterator, ReductionOp, TransformOp, InitT>;
  return dispatch_if<is_possible, Dispatcher>::Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                        reduction_op, transform_op, init, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/neighbour_items.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// Flags where neighbouring items of a tile differ. The tile `x` has B * N items, N in each of B threads, in blocked
/// arrangement: thread t, numbered row-major (x fastest), has items t * N to t * N + N - 1.
///
/// | flag of item i | value | value without a neighbour in the tile |
/// |---|---|---|
/// | head | op(x[i - 1], x[i]) or op(x[i - 1], x[i], i) | 1 for the first item, or op(tile_predecessor_item, x[0]) |
/// | tail | op(x[i], x[i + 1]) or op(x[i], x[i + 1], i + 1) | 1 for the last, or op(x[last], tile_successor_item) |
///
/// | call | |
/// |---|---|
/// | `FlagHeads(head_flags, input, op[, tile_predecessor_item])` | |
/// | `FlagHeads(head_flags, input, preds, op[, tile_predecessor_item])` | `preds` gets x[i - 1] too |
/// | `FlagTails(tail_flags, input, op[, tile_successor_item])` | |
/// | `FlagHeadsAndTails(head_flags, [tile_predecessor_item,] tail_flags, [tile_successor_item,] input, op)` | |
///
/// - Every thread of the block must call, in uniform control flow. Each thread gets the flags of its own items. Only
///   the first thread's `tile_predecessor_item` and the last thread's `tile_successor_item` are used. Without a
///   predecessor, `preds[0]` of the first thread is not written.
/// - `op` returns true where items differ. If it accepts a third argument, an `int`, it gets the index in the tile of
///   its second argument; the index of `tile_successor_item` is B * N.
/// - Flags, or `preds`, may overwrite the input. Two outputs must be different arrays.
/// - The block must call `__syncthreads()` between two calls that use the same storage, and before the storage
///   is used for anything else. Objects of one type constructed without storage use the same storage.
/// - Shared memory: twice as much as BlockShuffle, two items per thread. One barrier. Bank conflicts: none.
/// - `T` must be trivially relocatable. Flags are `bool`s that are converted to the type of the flags.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct is_different {
///   STRATA_HD bool operator()(int a, int b) const { return a != b; }
/// };
/// __managed__ int numbers[256], heads[256];
///
/// // Where runs of equal numbers begin.
/// STRATA_KERNEL void find_runs(const int* in, int* out) {
///   using Discontinuity = strata::BlockDiscontinuity<int, 128>;
///   STRATA_SHARED(temp_storage, Discontinuity::TempStorage);
///   int items[2], flags[2];
///   for (unsigned i = 0; i < 2; ++i) items[i] = in[threadIdx.x * 2 + i];
///   Discontinuity(temp_storage).FlagHeads(flags, items, is_different{});
///   for (unsigned i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = flags[i];
/// }
///
/// int main() {
///   for (int i = 0; i < 256; ++i) numbers[i] = i / 60;
///   if (strata::launch({"find_runs", 1, 128}, find_runs, numbers, heads) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 256; ++i) {
///     if (heads[i]) std::printf("%d ", i);
///   }
/// }
/// // prints: 0 60 120 180 240
/// @endcode
template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1>
class BlockDiscontinuity {
  static_assert(detail::relocatable_requirements<T>::check());
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int threads = shape::threads;

  // Heads need a thread's last item, tails its first: both are written before one barrier.
  struct storage {
    detail::neighbour_items<T, threads> first_items;
    detail::neighbour_items<T, threads> last_items;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockDiscontinuity() : BlockDiscontinuity(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockDiscontinuity(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockDiscontinuity")) {}

  /// Flags each item that differs from the item before it. The first item of the tile is flagged.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeads(Flag (&head_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp flag_op) {
    flag_heads(head_flags, input, flag_op, detail::no_item{}, [](int, const T&) {});
  }
  /// Flags each item that differs from the item before it. `tile_predecessor_item` precedes the first item of the tile.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeads(Flag (&head_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp flag_op,
                          T tile_predecessor_item) {
    flag_heads(head_flags, input, flag_op, tile_predecessor_item, [](int, const T&) {});
  }

  /// Flags each item that differs from the item before it. Writes to `preds[i]` the item before item i, whether item i
  /// is flagged or not. The first item of the tile is flagged, and its element of `preds` is not written.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeads(Flag (&head_flags)[ItemsPerThread], const T (&input)[ItemsPerThread],
                          T (&preds)[ItemsPerThread], FlagOp flag_op) {
    flag_heads(head_flags, input, flag_op, detail::no_item{},
               [&preds](int i, const T& previous) { preds[i] = previous; });
  }
  /// Flags each item that differs from the item before it. Writes to `preds[i]` the item before item i, whether item i
  /// is flagged or not. `tile_predecessor_item` precedes the first item of the tile.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeads(Flag (&head_flags)[ItemsPerThread], const T (&input)[ItemsPerThread],
                          T (&preds)[ItemsPerThread], FlagOp flag_op, T tile_predecessor_item) {
    flag_heads(head_flags, input, flag_op, tile_predecessor_item,
               [&preds](int i, const T& previous) { preds[i] = previous; });
  }

  /// Flags each item that differs from the item after it. The last item of the tile is flagged.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagTails(Flag (&tail_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp flag_op) {
    flag_tails(tail_flags, input, flag_op, detail::no_item{});
  }
  /// Flags each item that differs from the item after it. `tile_successor_item` follows the last item of the tile.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagTails(Flag (&tail_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp flag_op,
                          T tile_successor_item) {
    flag_tails(tail_flags, input, flag_op, tile_successor_item);
  }

  /// Flags heads and tails. The first item of the tile is a head, and the last is a tail.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeadsAndTails(Flag (&head_flags)[ItemsPerThread], Flag (&tail_flags)[ItemsPerThread],
                                  const T (&input)[ItemsPerThread], FlagOp flag_op) {
    flag_heads_and_tails(head_flags, detail::no_item{}, tail_flags, detail::no_item{}, input, flag_op);
  }
  /// Flags heads and tails. The first item of the tile is a head, and `tile_successor_item` follows the last.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeadsAndTails(Flag (&head_flags)[ItemsPerThread], Flag (&tail_flags)[ItemsPerThread],
                                  T tile_successor_item, const T (&input)[ItemsPerThread], FlagOp flag_op) {
    flag_heads_and_tails(head_flags, detail::no_item{}, tail_flags, tile_successor_item, input, flag_op);
  }
  /// Flags heads and tails. `tile_predecessor_item` precedes the first item of the tile, and the last is a tail.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeadsAndTails(Flag (&head_flags)[ItemsPerThread], T tile_predecessor_item,
                                  Flag (&tail_flags)[ItemsPerThread], const T (&input)[ItemsPerThread],
                                  FlagOp flag_op) {
    flag_heads_and_tails(head_flags, tile_predecessor_item, tail_flags, detail::no_item{}, input, flag_op);
  }
  /// Flags heads and tails. `tile_predecessor_item` precedes the first item of the tile, and `tile_successor_item`
  /// follows the last.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D void FlagHeadsAndTails(Flag (&head_flags)[ItemsPerThread], T tile_predecessor_item,
                                  Flag (&tail_flags)[ItemsPerThread], T tile_successor_item,
                                  const T (&input)[ItemsPerThread], FlagOp flag_op) {
    flag_heads_and_tails(head_flags, tile_predecessor_item, tail_flags, tile_successor_item, input, flag_op);
  }

 private:
  /// True if all threads read the item of a neighbour, false if only the threads that have a neighbour do. If all read,
  /// there are fewer instructions, but one more between the read and the flag. With several items of one word in each
  /// thread, this takes more time: 177 cycles instead of 164 for heads of 256 x 8 items on an H200. With 128 x 4 items
  /// of 16 bytes, it takes less: 135 cycles instead of 158.
  template <std::size_t ItemsPerThread>
  static constexpr bool all_read = sizeof(T) > 4 || ItemsPerThread == 1;

  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  // The item of another thread is read first. In another order, the compiler computes the address of the thread's item
  // again in each iteration of a loop around the call. Items are copied before their outputs may overwrite them.

  template <std::size_t ItemsPerThread, class Flag, class FlagOp, class Predecessor, class Keep>
  STRATA_D void flag_heads(Flag (&head_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp& flag_op,
                           const Predecessor& predecessor, const Keep& keep_previous) {
    storage_.last_items.put(thread_, input[ItemsPerThread - 1]);
    __syncthreads();
    T previous = input[0];
    head_flags[0] = flag_first<ItemsPerThread, Flag>(previous, flag_op, predecessor, keep_previous);
    STRATA_UNROLL
    for (int i = 1; i < static_cast<int>(ItemsPerThread); ++i) {
      T item = input[i];
      head_flags[i] = flag<ItemsPerThread, Flag>(flag_op, previous, item, i);
      keep_previous(i, previous);
      previous = item;
    }
  }

  template <std::size_t ItemsPerThread, class Flag, class FlagOp, class Successor>
  STRATA_D void flag_tails(Flag (&tail_flags)[ItemsPerThread], const T (&input)[ItemsPerThread], FlagOp& flag_op,
                           const Successor& successor) {
    constexpr int last = static_cast<int>(ItemsPerThread) - 1;
    storage_.first_items.put(thread_, input[0]);
    __syncthreads();
    T next = input[last];
    tail_flags[last] = flag_last<ItemsPerThread, Flag>(next, flag_op, successor);
    STRATA_UNROLL
    for (int i = last - 1; i >= 0; --i) {
      T item = input[i];
      tail_flags[i] = flag<ItemsPerThread, Flag>(flag_op, item, next, i + 1);
      next = item;
    }
  }

  template <std::size_t ItemsPerThread, class Flag, class FlagOp, class Predecessor, class Successor>
  STRATA_D void flag_heads_and_tails(Flag (&head_flags)[ItemsPerThread], const Predecessor& predecessor,
                                     Flag (&tail_flags)[ItemsPerThread], const Successor& successor,
                                     const T (&input)[ItemsPerThread], FlagOp& flag_op) {
    constexpr int last = static_cast<int>(ItemsPerThread) - 1;
    storage_.last_items.put(thread_, input[last]);
    storage_.first_items.put(thread_, input[0]);
    __syncthreads();
    T previous = input[0];
    const Flag last_flag = flag_last<ItemsPerThread, Flag>(input[last], flag_op, successor);
    head_flags[0] = flag_first<ItemsPerThread, Flag>(previous, flag_op, predecessor, [](int, const T&) {});
    STRATA_UNROLL
    for (int i = 1; i <= last; ++i) {
      T item = input[i];
      head_flags[i] = flag<ItemsPerThread, Flag>(flag_op, previous, item, i);
      tail_flags[i - 1] = flag<ItemsPerThread, Flag>(flag_op, previous, item, i);
      previous = item;
    }
    tail_flags[last] = last_flag;
  }

  /// The head flag of the thread's first item, `item`.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp, class Predecessor, class Keep>
  STRATA_D Flag flag_first(const T& item, FlagOp& flag_op, const Predecessor& predecessor, const Keep& keep_previous) {
    const bool has_none = !detail::is_item<Predecessor> && thread_ == 0;
    const auto flag_after = [&](const T& previous) {
      keep_previous(0, previous);
      return flag<ItemsPerThread, Flag>(flag_op, previous, item, 0);
    };
    if constexpr (all_read<ItemsPerThread>) {
      const T previous = storage_.last_items.before_by_all(thread_, predecessor);
      return has_none ? static_cast<Flag>(true) : flag_after(previous);
    } else {
      return has_none ? static_cast<Flag>(true) : flag_after(storage_.last_items.before(thread_, predecessor));
    }
  }
  /// The tail flag of the thread's last item, `item`.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp, class Successor>
  STRATA_D Flag flag_last(const T& item, FlagOp& flag_op, const Successor& successor) {
    const bool has_none = !detail::is_item<Successor> && thread_ == threads - 1;
    const auto flag_before = [&](const T& next) {
      return flag<ItemsPerThread, Flag>(flag_op, item, next, static_cast<int>(ItemsPerThread));
    };
    if constexpr (all_read<ItemsPerThread>) {
      const T next = storage_.first_items.after_by_all(thread_, successor);
      return has_none ? static_cast<Flag>(true) : flag_before(next);
    } else {
      return has_none ? static_cast<Flag>(true) : flag_before(storage_.first_items.after(thread_, successor));
    }
  }

  /// `i` is the index of `b` among the thread's items.
  template <std::size_t ItemsPerThread, class Flag, class FlagOp>
  STRATA_D Flag flag(FlagOp& flag_op, const T& a, const T& b, int i) {
    using requirements = detail::flag_requirements<FlagOp, T>;
    requirements::check();
    if constexpr (requirements::has_index) {
      return static_cast<Flag>(static_cast<bool>(flag_op(a, b, thread_ * static_cast<int>(ItemsPerThread) + i)));
    } else {
      return static_cast<Flag>(static_cast<bool>(flag_op(a, b)));
    }
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_levels.cuh>
#include <strata/device/engine/work_queue.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The prefixes of tiles in a kernel of your own. Its blocks exchange the aggregates of their tiles, so it can
/// transform, scan and scatter in one pass. The host calls `AllocationSize` and `Init`, and passes the object to the
/// kernel. There a TilePrefixCallbackOp, a prefix callback of BlockScan, takes the aggregate of a tile and returns the
/// aggregate of all tiles before it.
///
/// - `T` is the type of the scan: any trivially relocatable type of any size. The operator need only be associative.
/// - Order: the number of a tile alone determines in which order values are combined. So floating-point results repeat
///   bit for bit.
/// - Forward progress: a block waits for tiles with lower numbers only. `TakeTile` numbers tiles in the order in which
///   blocks ask, so it is safe in any launch: any grid, any number of resident blocks, beside any other kernels. With
///   `blockIdx.x` as number it is not promised, because CUDA does not promise that blocks with lower numbers start
///   first. Today's GPUs start them first. A cooperative launch is safe with any numbers.
/// - In each launch, the block of each tile from 0 to `num_tiles` - 1 calls a TilePrefixCallbackOp or `SetInclusive`
///   once.
/// - One launch at a time uses the storage. Consecutive launches on a stream may share it. Nothing else writes to it
///   between an `Init` and the last launch that uses it.
/// - Storage: 16 bytes for each 8 bytes of a tile's `T`, 1/31 more, and less than 1 KB besides. It may have any
///   contents. Each lane of a block's first warp reads two values at most, both at once.
/// - Unlike in CUB, there is no `SetPartial`, `WaitForValid` or `LoadValid`: a TilePrefixCallbackOp has the prefix.
///
/// Storage is not initialised. A launch recognises its own values by a number:
///
/// | tiles are numbered by | before each launch | a graph may replay the launch |
/// |---|---|---|
/// | `TakeTile` | nothing: one `Init` is enough for any number of launches | yes |
/// | `blockIdx.x` | `Init`, or `InitializeStatus` in a kernel of its own | if it replays that kernel first |
///
/// @code
/// #include <strata/block/block_scan.cuh>
/// #include <strata/core/launcher.cuh>
///
/// using State = strata::ScanTileState<int>;
/// __managed__ int numbers[1000], squares[1000];
/// __managed__ char storage[2000];
///
/// // The squares of the odd numbers, in their order.
/// STRATA_KERNEL void squares_of_odd(State state, const int* in, int* out) {
///   using Prefix = strata::TilePrefixCallbackOp<int, strata::Sum>;
///   using BlockScan = strata::BlockScan<int, 125>;
///   struct Shared { State::TempStorage tile; Prefix::TempStorage prefix; BlockScan::TempStorage scan; };
///   STRATA_SHARED(shared, Shared);
///   const int tile = state.TakeTile(shared.tile);
///   int x = in[tile * 125 + static_cast<int>(threadIdx.x)], position = x % 2;
///   Prefix prefix(state, shared.prefix, strata::Sum{}, tile);
///   BlockScan(shared.scan).ExclusiveSum(position, position, prefix);
///   if (x % 2 == 1) out[position] = x * x;
/// }
///
/// int main() {
///   for (int i = 0; i < 1000; ++i) numbers[i] = i;
///   State state;  // AllocationSize() says how much storage 8 tiles need.
///   if (state.Init(8, storage, sizeof(storage)) != cudaSuccess) return 1;
///   if (strata::launch({"squares_of_odd", 8, 125}, squares_of_odd, state, numbers, squares) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() == cudaSuccess) std::printf("%d %d ... %d\n", squares[0], squares[1], squares[499]);
/// }
/// // prints: 1 9 ... 998001
/// @endcode
template <class T>
class ScanTileState {
  static_assert(detail::relocatable_requirements<T>::check());
  using levels = detail::tile_levels<T>;

 public:
  /// The type of the scan.
  using StatusValueT = T;

  /// Shared memory for `TakeTile`.
  struct TempStorage : Uninitialized<detail::launch_tickets::ticket> {};

  /// A state without storage, which `Init` makes usable.
  STRATA_HD ScanTileState() {}

  /// Sets `temp_storage_bytes` for `num_tiles` tiles. There may be up to 2^31 - 1 tiles.
  template <class NumTilesT>
  static cudaError_t AllocationSize(NumTilesT num_tiles, std::size_t& temp_storage_bytes) {
    if (refuses(num_tiles)) return cudaErrorInvalidValue;
    return detail::answer_size_query(layout_of(num_tiles), temp_storage_bytes);
  }

  /// On the host: uses `d_temp_storage` for `num_tiles` tiles. Gives the state a number that no other state has, so the
  /// previous contents of the storage do not matter.
  template <class NumTilesT>
  cudaError_t Init(NumTilesT num_tiles, void* d_temp_storage, std::size_t temp_storage_bytes) {
    if (refuses(num_tiles)) return cudaErrorInvalidValue;
    if (detail::refuses_null(d_temp_storage, "d_temp_storage")) return cudaErrorInvalidValue;
    auto storage = layout_of(num_tiles);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    const auto tiles = static_cast<unsigned>(num_tiles);
    const unsigned long long mask = detail::launch_tickets::mask_of(tiles);
    // The lowest three bits of the epoch are 0, because a launch adds up to 5 to it. The epoch is not 0, because
    // InitializeStatus erases values by the epoch 0.
    const unsigned long long epoch = (detail::next_epoch() | 8) & ~7ull;
    tickets_ = {storage.template get<unsigned long long>(0), epoch & ~mask, mask, tiles};
    levels_ = {storage.template get<platform::tagged_word>(1), tiles, epoch};
    return cudaSuccess;
  }

  /// Erases the values of the first `num_tiles` tiles. All threads of a grid call it, in a kernel before the one that
  /// scans, as with CUB. Not needed after an `Init` for each launch, or with `TakeTile`.
  STRATA_D void InitializeStatus(int num_tiles) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    levels(levels_).erase(static_cast<unsigned>(num_tiles), thread, gridDim.x * blockDim.x);
    if (thread == 0) tickets_.restart();
  }

  /// Returns the number of the block's next tile. All threads of the block call it. Tiles are numbered in the order in
  /// which blocks ask. A launch calls this `num_tiles` times in all: once in each of `num_tiles` blocks; or in fewer
  /// blocks, in a loop `for (int i = blockIdx.x; i < num_tiles; i += gridDim.x)`. It has a barrier. The block must
  /// synchronise before it uses `temp_storage` again.
  STRATA_D int TakeTile(TempStorage& temp_storage) {
    detail::launch_tickets::ticket& shared = temp_storage.Alias();
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
      const detail::launch_tickets::ticket taken = tickets_.take();
      shared.number = taken.number;
      shared.parity = taken.parity;
    }
    __syncthreads();
    launch_ = 2 + 2 * shared.parity;
    return static_cast<int>(shared.number);
  }

  /// Makes this the state of another scan of the same tiles in the same launch. Call it after `state.TakeTile()`.
  template <class OtherT>
  STRATA_D void UseTilesOf(const ScanTileState<OtherT>& state) {
    launch_ = state.launch_;
  }

  /// Publishes the aggregate of a tile and of all tiles before it, instead of a TilePrefixCallbackOp. One thread calls
  /// it. It is mostly for tile 0, which has no tiles before it. Later tiles then combine no value of a tile before this
  /// one, but may still wait for such a value.
  STRATA_D void SetInclusive(int tile_idx, T tile_inclusive) const {
    of_launch().publish_inclusive(static_cast<unsigned>(tile_idx), tile_inclusive);
  }

 private:
  template <class, class, class>
  friend struct TilePrefixCallbackOp;
  template <class>
  friend class ScanTileState;

  template <class NumTilesT>
  static bool refuses(NumTilesT num_tiles) {
    if (detail::refuses_count(num_tiles, "num_tiles")) return true;
    const std::size_t tiles = detail::count_of(num_tiles);
    constexpr std::size_t max_tiles = (1u << 31) - 1, max_words = ~0u;
    return detail::is_refused(tiles > max_tiles || levels::number_of_words(tiles) > max_words, "num_tiles",
                              "is larger than 2^31 - 1, or needs 2^32 or more words of 16 bytes");
  }
  template <class NumTilesT>
  static temporary_storage::layout<2> layout_of(NumTilesT num_tiles) {
    temporary_storage::layout<2> storage;
    storage.reserve<unsigned long long>(0, 1);
    storage.reserve<platform::tagged_word>(1, levels::number_of_words(detail::count_of(num_tiles)));
    return storage;
  }

  STRATA_D levels of_launch() const { return levels({levels_.words, levels_.tiles, levels_.epoch + launch_}); }

  detail::launch_tickets tickets_{};
  detail::tile_levels_arguments levels_{};
  // Added to the epoch: 0; with TakeTile 2 or 4, by the parity of the launch. The previous launch had the other parity,
  // and has overwritten all values of the launch before it.
  unsigned launch_ = 0;
};

/// The prefix of a tile, as the prefix callback of BlockScan: see ScanTileState.
///
///     TilePrefixCallbackOp<T, ScanOpT> prefix(state, temp_storage, scan_op, tile);
///     BlockScan(scan_storage).InclusiveScan(items, items, scan_op, prefix);
///
/// - The first 32 threads of the block call it, with the aggregate of the tile. BlockScan does so in a block of at
///   least 32 threads. Without BlockScan, the lanes of any warp may call it.
/// - When BlockScan has returned, all threads get the prefixes from `GetExclusivePrefix` and the others. So the last
///   tile has the aggregate of all items.
/// - No tile is before tile 0. An initial value is its prefix. Without an initial value, its prefix is `T{}`, which is
///   right for sums. For other operators tile 0 scans without a callback and then calls `SetInclusive`, as with CUB.
template <class T, class ScanOpT, class ScanTileStateT = ScanTileState<T>>
struct TilePrefixCallbackOp {
  static_assert(std::is_same_v<ScanTileStateT, ScanTileState<T>>,
                "TilePrefixCallbackOp: the third template argument must be ScanTileState<T>, where T is the first");

 private:
  struct storage {
    T exclusive_prefix;
    T inclusive_prefix;
    T block_aggregate;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Makes the prefix of tile `tile_idx`.
  STRATA_D TilePrefixCallbackOp(ScanTileStateT& tile_state, TempStorage& temp_storage, ScanOpT scan_op, int tile_idx)
      : state_(tile_state), storage_(temp_storage.Alias()), scan_op_(scan_op), tile_(tile_idx) {}
  /// Makes the prefix of tile `blockIdx.x`.
  STRATA_D TilePrefixCallbackOp(ScanTileStateT& tile_state, TempStorage& temp_storage, ScanOpT scan_op)
      : TilePrefixCallbackOp(tile_state, temp_storage, scan_op, static_cast<int>(blockIdx.x)) {}
  /// Makes the prefix of tile `tile_idx`, where `initial_value` comes before tile 0. All tiles give the same value.
  STRATA_D TilePrefixCallbackOp(ScanTileStateT& tile_state, TempStorage& temp_storage, ScanOpT scan_op, int tile_idx,
                                T initial_value)
      : TilePrefixCallbackOp(tile_state, temp_storage, scan_op, tile_idx) {
    initial_value_ = initial_value;
    has_initial_value_ = true;
  }

  /// Publishes the aggregate of the tile, which lane 0 passes, and waits for the aggregate of all tiles before it.
  /// Returns this prefix in lane 0. All lanes of a warp call it.
  STRATA_D T operator()(T block_aggregate) {
    STRATA_ASSERT(blockDim.x * blockDim.y * blockDim.z >= unsigned{warp_threads},
                  "a TilePrefixCallbackOp needs a block of at least %d threads", warp_threads);
    if constexpr (detail::operator_requirements<ScanOpT, T>::are_met) return publish_and_wait(block_aggregate);
    return block_aggregate;
  }

  /// Returns the aggregate of all tiles before the tile.
  STRATA_D T GetExclusivePrefix() const { return storage_.exclusive_prefix; }
  /// Returns the aggregate of all tiles before the tile and of the tile.
  STRATA_D T GetInclusivePrefix() const { return storage_.inclusive_prefix; }
  /// Returns the aggregate of the tile.
  STRATA_D T GetBlockAggregate() const { return storage_.block_aggregate; }
  /// Returns the number of the tile.
  STRATA_D int GetTileIdx() const { return tile_; }

 private:
  STRATA_D T publish_and_wait(const T& block_aggregate) {
    const bool is_first_tile = tile_ == 0;
    T before = initial_value_;
    if (!is_first_tile) {
      before = state_.of_launch().prefix_of(static_cast<unsigned>(tile_), block_aggregate, scan_op_);
    }
    if (platform::lane_id() == 0) {
      const bool has_prefix = !is_first_tile || has_initial_value_;
      const T inclusive = has_prefix ? static_cast<T>(scan_op_(before, block_aggregate)) : block_aggregate;
      if (is_first_tile) state_.SetInclusive(0, inclusive);
      storage_.exclusive_prefix = before;
      storage_.inclusive_prefix = inclusive;
      storage_.block_aggregate = block_aggregate;
    }
    // BlockScan has no barrier after this in a block of one warp.
    __syncwarp();
    return before;
  }

  ScanTileStateT& state_;
  storage& storage_;
  ScanOpT scan_op_;
  int tile_;
  T initial_value_{};
  bool has_initial_value_ = false;
};

STRATA_NAMESPACE_END

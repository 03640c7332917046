// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's kernels that scan across their blocks. See calls.cuh.

// Three coefficients, a value that does not fit into a word. Composition is not commutative.
struct polynomial {
  int scale, shift, count;
};
struct one_after_another {
  __device__ polynomial operator()(const polynomial& first, const polynomial& second) const {
    return {first.scale * second.scale, first.shift * second.scale + second.shift, first.count + second.count};
  }
};
struct sum_of_ints {
  __device__ int operator()(int a, int b) const { return a + b; }
};

constexpr int tile_threads = 128;

template <class T>
__global__ void initialize_tiles(lib::ScanTileState<T> state, int tiles) {
  state.InitializeStatus(tiles);
}

// Writes the positions of even numbers, by a transformation, a scan and a scatter.
template <bool IsNumbered>
__global__ void take_even(lib::ScanTileState<int> state, const int* in, int items, int* out, int* count) {
  using BlockScan = lib::BlockScan<int, tile_threads>;
  using Prefix = lib::TilePrefixCallbackOp<int, sum_of_ints, lib::ScanTileState<int>>;
  __shared__ typename BlockScan::TempStorage scan;
  __shared__ typename Prefix::TempStorage prefix;
  const int i = static_cast<int>(blockIdx.x) * tile_threads + static_cast<int>(threadIdx.x);
  const int is_even = i < items && in[i] % 2 == 0 ? 1 : 0;
  int position = 0, total = 0;
  if (blockIdx.x == 0) {
    BlockScan(scan).ExclusiveSum(is_even, position, total);
    if (threadIdx.x == 0) state.SetInclusive(0, total);
  } else if constexpr (IsNumbered) {
    Prefix op(state, prefix, sum_of_ints{}, static_cast<int>(blockIdx.x));
    BlockScan(scan).ExclusiveSum(is_even, position, op);
    total = op.GetTileIdx() == static_cast<int>(blockIdx.x) ? op.GetInclusivePrefix() : -1;
  } else {
    Prefix op(state, prefix, sum_of_ints{});
    BlockScan(scan).ExclusiveSum(is_even, position, op);
    total = op.GetExclusivePrefix() + op.GetBlockAggregate();
  }
  if (is_even != 0) out[position] = in[i];
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *count = total;
}

__global__ void compose(lib::ScanTileState<polynomial> state, const int* in, int items, int* out) {
  using BlockScan = lib::BlockScan<polynomial, tile_threads, lib::BLOCK_SCAN_WARP_SCANS>;
  using Prefix = lib::TilePrefixCallbackOp<polynomial, one_after_another, lib::ScanTileState<polynomial>>;
  __shared__ typename BlockScan::TempStorage scan;
  __shared__ typename Prefix::TempStorage prefix;
  const int i = static_cast<int>(blockIdx.x) * tile_threads + static_cast<int>(threadIdx.x);
  polynomial item{1, 0, 0};
  if (i < items) item = {in[i] | 1, in[i], 1};
  polynomial total;
  if (blockIdx.x == 0) {
    BlockScan(scan).InclusiveScan(item, item, one_after_another{}, total);
    if (threadIdx.x == 0) state.SetInclusive(0, total);
  } else {
    Prefix op(state, prefix, one_after_another{});
    BlockScan(scan).InclusiveScan(item, item, one_after_another{}, op);
  }
  if (i < items) out[i] = item.scale ^ item.shift ^ item.count;
}

// A state with its storage, as users of CUB make them.
template <class T>
struct tiles_of_scan {
  explicit tiles_of_scan(int tiles) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(lib::ScanTileState<T>::AllocationSize(tiles, bytes));
    EXPECT_CUDA_SUCCESS(cudaMalloc(&storage, bytes));
    EXPECT_CUDA_SUCCESS(state.Init(tiles, storage, bytes));
  }
  ~tiles_of_scan() { EXPECT_CUDA_SUCCESS(cudaFree(storage)); }
  void initialize(int tiles) {
    initialize_tiles<T>
        <<<static_cast<unsigned>((tiles + tile_threads - 1) / tile_threads), tile_threads>>>(state, tiles);
  }

  lib::ScanTileState<T> state;
  void* storage = nullptr;
};

inline void device_scan_tile_state(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> in(cub_calls::numbers<int>(num_items, 1000));
  device_vector<int> out(num_items), count(1);
  constexpr int tiles = (num_items + tile_threads - 1) / tile_threads;
  tiles_of_scan<int> sums(tiles);
  // One Init serves several launches, each after a kernel that initialises the state.
  const auto take = [&](auto kernel) {
    out.poison();
    sums.initialize(tiles);
    kernel<<<tiles, tile_threads>>>(sums.state, in.data(), num_items, out.data(), count.data());
    return cudaGetLastError();
  };
  all.value("ScanTileState::AllocationSize: a size", [] {
    std::size_t bytes = 0;
    return lib::ScanTileState<double>::AllocationSize(10, bytes) == cudaSuccess && bytes >= 160 ? 1 : 0;
  }());
  all.device_in_one_call(
      "ScanTileState::Init: sums", [&] { return take(take_even<false>); }, cub_calls::first_of(out, count));
  all.device_in_one_call(
      "ScanTileState::InitializeStatus: the same state again", [&] { return take(take_even<true>); },
      cub_calls::first_of(out, count));
  all.device_in_one_call(
      "TilePrefixCallbackOp::GetInclusivePrefix: the number of a tile", [&] { return take(take_even<true>); }, count);
  all.device_in_one_call(
      "TilePrefixCallbackOp::GetExclusivePrefix: blockIdx.x", [&] { return take(take_even<false>); }, count);
  all.device_in_one_call(
      "TilePrefixCallbackOp::GetBlockAggregate: blockIdx.x", [&] { return take(take_even<false>); }, count);
  all.device_in_one_call(
      "TilePrefixCallbackOp::GetTileIdx: the number of a tile", [&] { return take(take_even<true>); }, count);
  tiles_of_scan<polynomial> compositions(tiles);
  all.device_in_one_call(
      "ScanTileState::SetInclusive: 12 bytes, not commutative",
      [&] {
        compositions.initialize(tiles);
        compose<<<tiles, tile_threads>>>(compositions.state, in.data(), num_items, out.data());
        return cudaGetLastError();
      },
      out);
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions and scans of a block. See calls.cuh.

struct largest {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
/// Continues where the previous tile has ended.
struct running_total {
  int total;
  __device__ int operator()(int block_aggregate) {
    const int before = total;
    total += block_aggregate;
    return before;
  }
};

inline void block_reduce(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<128>("BlockReduce::Sum: an item of each thread", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 128>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const int sum = BlockReduce(temp_storage).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = sum;
  });
  all.block<128>("BlockReduce::Sum: items of each thread, storage of its own", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    const int sum = lib::BlockReduce<int, 128>().Sum(items);
    if (threadIdx.x == 0) out[0] = sum;
  });
  all.block<96>("BlockReduce::Sum: some threads", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 96, lib::BLOCK_REDUCE_RAKING>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const int sum = BlockReduce(temp_storage).Sum(in[threadIdx.x], 53);
    if (threadIdx.x == 0) out[0] = sum;
  });
  all.block<128>("BlockReduce::Reduce: an operator of the user", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 128, lib::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const int most = BlockReduce(temp_storage).Reduce(in[threadIdx.x], largest{});
    if (threadIdx.x == 0) out[0] = most;
  });
  all.block<128>("BlockReduce::Reduce: items of each thread, cuda::minimum", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 128, lib::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    int items[3];
    take(in, items);
    const int least = BlockReduce(temp_storage).template Reduce<3>(items, cuda::minimum<>{});
    if (threadIdx.x == 0) out[0] = least;
  });
  all.block<128>("BlockReduce::Reduce: some threads", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 128>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const int most = BlockReduce(temp_storage).Reduce(in[threadIdx.x], cuda::maximum<>{}, 77);
    if (threadIdx.x == 0) out[0] = most;
  });
  all.block<8, 4, 3>("BlockReduce: three dimensions", [] __device__(const int* in, int* out) {
    using BlockReduce = lib::BlockReduce<int, 8, lib::BLOCK_REDUCE_RAKING, 4, 3>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const int sum = BlockReduce(temp_storage).Sum(in[thread()]);
    if (thread() == 0) out[0] = sum;
  });
  all.block<128>("KeyValuePair: ArgMin of a block", [] __device__(const int* in, int* out) {
    using Pair = lib::KeyValuePair<int, int>;
    using BlockReduce = lib::BlockReduce<Pair, 128>;
    __shared__ typename BlockReduce::TempStorage temp_storage;
    const Pair least =
        BlockReduce(temp_storage).Reduce(Pair(static_cast<int>(threadIdx.x), in[threadIdx.x]), lib::ArgMin{});
    if (threadIdx.x == 0) {
      out[0] = least.key;
      out[1] = least.value;
    }
  });
}

inline void block_scan(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<128>("BlockScan::ExclusiveSum: an item of each thread", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int item = in[threadIdx.x];
    BlockScan(temp_storage).ExclusiveSum(item, item);
    out[threadIdx.x] = item;
  });
  all.block<128>("BlockScan::ExclusiveSum: and the aggregate", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128, lib::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int sum, aggregate;
    BlockScan(temp_storage).ExclusiveSum(in[threadIdx.x], sum, aggregate);
    out[threadIdx.x] = sum;
    keep_aggregate(out, aggregate);
  });
  all.block<128>("BlockScan::ExclusiveSum: tiles with a running prefix", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    running_total prefix_op{1000};
    for (int tile = 0; tile < 1024; tile += 128) {
      int item = in[tile + thread()];
      BlockScan(temp_storage).ExclusiveSum(item, item, prefix_op);
      __syncthreads();
      out[tile + thread()] = item;
    }
  });
  all.block<128>("BlockScan::ExclusiveSum: items of each thread", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128, lib::BLOCK_SCAN_RAKING_MEMOIZE>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockScan(temp_storage).ExclusiveSum(items, items);
    keep(out, items);
  });
  all.block<128>("BlockScan::ExclusiveSum: items of each thread and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveSum(items, items, aggregate);
                   keep(out, items);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::ExclusiveSum: TempStorage of a union, loads and stores of tiles",
                 [] __device__(const int* in, int* out) {
                   using BlockLoad = lib::BlockLoad<int, 128, 4, lib::BLOCK_LOAD_TRANSPOSE>;
                   using BlockStore = lib::BlockStore<int, 128, 4, lib::BLOCK_STORE_TRANSPOSE>;
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ union {
                     typename BlockLoad::TempStorage load;
                     typename BlockScan::TempStorage scan;
                     typename BlockStore::TempStorage store;
                   } temp_storage;
                   running_total prefix_op{0};
                   for (int tile = 0; tile < 2048; tile += 512) {
                     int items[4];
                     BlockLoad(temp_storage.load).Load(in + tile, items);
                     __syncthreads();
                     BlockScan(temp_storage.scan).ExclusiveSum(items, items, prefix_op);
                     __syncthreads();
                     BlockStore(temp_storage.store).Store(out + tile, items);
                     __syncthreads();
                   }
                 });
  all.block<128>("BlockScan::ExclusiveScan: an initial value", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int most;
    BlockScan(temp_storage).ExclusiveScan(in[threadIdx.x], most, -1, largest{});
    out[threadIdx.x] = most;
  });
  all.block<128>("BlockScan::ExclusiveScan: an initial value, and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int sum, aggregate;
                   BlockScan(temp_storage).ExclusiveScan(in[threadIdx.x], sum, 5000, cuda::std::plus<>{}, aggregate);
                   out[threadIdx.x] = sum;
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::ExclusiveScan: a running prefix", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    running_total prefix_op{3};
    int sum;
    BlockScan(temp_storage).ExclusiveScan(in[threadIdx.x], sum, cuda::std::plus<>{}, prefix_op);
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) keep_aggregate(out, prefix_op.total);
  });
  all.block<128>("BlockScan::ExclusiveScan: no initial value", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int most[1] = {0};
    BlockScan(temp_storage).ExclusiveScan(in[threadIdx.x], most[0], largest{});
    keep_but_first(out, most);
  });
  all.block<128>("BlockScan::ExclusiveScan: no initial value, and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int most[1] = {0}, aggregate;
                   BlockScan(temp_storage).ExclusiveScan(in[threadIdx.x], most[0], largest{}, aggregate);
                   keep_but_first(out, most);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::ExclusiveScan: items of each thread, an initial value",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveScan(items, items, 17, largest{});
                   keep(out, items);
                 });
  all.block<128>("BlockScan::ExclusiveScan: items of each thread, an initial value, and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], results[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveScan(items, results, 17, largest{}, aggregate);
                   keep(out, results);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::ExclusiveScan: items of each thread, a running prefix",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   running_total prefix_op{9};
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveScan(items, items, cuda::std::plus<>{}, prefix_op);
                   keep(out, items);
                 });
  all.block<128>("BlockScan::ExclusiveScan: items of each thread, no initial value",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveScan(items, items, largest{});
                   keep_but_first(out, items);
                 });
  all.block<128>("BlockScan::ExclusiveScan: items of each thread, no initial value, and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).ExclusiveScan(items, items, largest{}, aggregate);
                   keep_but_first(out, items);
                   keep_aggregate(out, aggregate);
                 });
  all.block<16, 8>("BlockScan::InclusiveSum: an item of each thread, two dimensions",
                   [] __device__(const int* in, int* out) {
                     using BlockScan = lib::BlockScan<int, 16, lib::BLOCK_SCAN_RAKING, 8>;
                     __shared__ typename BlockScan::TempStorage temp_storage;
                     int sum;
                     BlockScan(temp_storage).InclusiveSum(in[thread()], sum);
                     out[thread()] = sum;
                   });
  all.block<128>("BlockScan::InclusiveSum: and the aggregate, storage of its own",
                 [] __device__(const int* in, int* out) {
                   int sum, aggregate;
                   lib::BlockScan<int, 128>().InclusiveSum(in[threadIdx.x], sum, aggregate);
                   out[threadIdx.x] = sum;
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::InclusiveSum: a running prefix", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    running_total prefix_op{-40};
    int sum;
    BlockScan(temp_storage).InclusiveSum(in[threadIdx.x], sum, prefix_op);
    out[threadIdx.x] = sum;
  });
  all.block<128>("BlockScan::InclusiveSum: items of each thread", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockScan(temp_storage).InclusiveSum(items, items);
    keep(out, items);
  });
  all.block<128>("BlockScan::InclusiveSum: items of each thread and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).InclusiveSum(items, items, aggregate);
                   keep(out, items);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::InclusiveSum: items of each thread, a running prefix",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   running_total prefix_op{11};
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).InclusiveSum(items, items, prefix_op);
                   keep(out, items);
                 });
  all.block<128>("BlockScan::InclusiveScan: an operator of the user", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int most;
    BlockScan(temp_storage).InclusiveScan(in[threadIdx.x], most, largest{});
    out[threadIdx.x] = most;
  });
  all.block<128>("BlockScan::InclusiveScan: and the aggregate", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int most, aggregate;
    BlockScan(temp_storage).InclusiveScan(in[threadIdx.x], most, cuda::maximum<>{}, aggregate);
    out[threadIdx.x] = most;
    keep_aggregate(out, aggregate);
  });
  all.block<128>("BlockScan::InclusiveScan: a running prefix", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    running_total prefix_op{6};
    int sum;
    BlockScan(temp_storage).InclusiveScan(in[threadIdx.x], sum, cuda::std::plus<>{}, prefix_op);
    out[threadIdx.x] = sum;
  });
  all.block<128>("BlockScan::InclusiveScan: items of each thread", [] __device__(const int* in, int* out) {
    using BlockScan = lib::BlockScan<int, 128>;
    __shared__ typename BlockScan::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockScan(temp_storage).InclusiveScan(items, items, largest{});
    keep(out, items);
  });
  all.block<128>("BlockScan::InclusiveScan: items of each thread, an initial value",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).InclusiveScan(items, items, 400, largest{});
                   keep(out, items);
                 });
  all.block<128>("BlockScan::InclusiveScan: items of each thread and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).InclusiveScan(items, items, largest{}, aggregate);
                   keep(out, items);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::InclusiveScan: items of each thread, an initial value, and the aggregate",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   int items[4], aggregate;
                   take(in, items);
                   BlockScan(temp_storage).InclusiveScan(items, items, 400, cuda::std::plus<>{}, aggregate);
                   keep(out, items);
                   keep_aggregate(out, aggregate);
                 });
  all.block<128>("BlockScan::InclusiveScan: items of each thread, a running prefix",
                 [] __device__(const int* in, int* out) {
                   using BlockScan = lib::BlockScan<int, 128>;
                   __shared__ typename BlockScan::TempStorage temp_storage;
                   running_total prefix_op{2};
                   int items[4];
                   take(in, items);
                   BlockScan(temp_storage).InclusiveScan(items, items, cuda::std::plus<>{}, prefix_op);
                   keep(out, items);
                 });
}

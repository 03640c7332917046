// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collectives of the lanes of a warp. See calls.cuh.

struct largest {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct descending {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) {  // not const
    return b < a;
  }
};

inline void warp_reduce(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<128>("WarpReduce::Sum: four warps", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage[4];
    const int warp = thread() / 32;
    const int sum = WarpReduce(temp_storage[warp]).Sum(in[thread()]);
    if (thread() % 32 == 0) out[warp] = sum;
  });
  all.block<128>("WarpReduce::Sum: some lanes, in one warp of the block", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    if (threadIdx.x < 32) {
      const int sum = WarpReduce(temp_storage).Sum(in[thread()], 19);
      if (threadIdx.x == 0) out[0] = sum;
    }
  });
  all.block<64>("WarpReduce::Reduce: logical warps of 16, an operator of the user",
                [] __device__(const int* in, int* out) {
                  using WarpReduce = lib::WarpReduce<int, 16>;
                  __shared__ typename WarpReduce::TempStorage temp_storage[4];
                  const int warp = thread() / 16;
                  const int most = WarpReduce(temp_storage[warp]).Reduce(in[thread()], largest{});
                  if (thread() % 16 == 0) out[warp] = most;
                });
  all.block<32>("WarpReduce::Reduce: some lanes, cuda::maximum", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    const int most = WarpReduce(temp_storage).Reduce(in[thread()], cuda::maximum<>{}, 11);
    if (threadIdx.x == 0) out[0] = most;
  });
  all.block<32>("WarpReduce::HeadSegmentedSum: flags", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    const int head_flag = thread() % 5 == 0;
    const int sum = WarpReduce(temp_storage).HeadSegmentedSum(in[thread()], head_flag);
    if (head_flag) out[thread()] = sum;
  });
  all.block<32>("WarpReduce::TailSegmentedSum: flags", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    const int sum = WarpReduce(temp_storage).TailSegmentedSum(in[thread()], thread() % 5 == 4);
    if (thread() % 5 == 0) out[thread()] = sum;
  });
  all.block<32>("WarpReduce::HeadSegmentedReduce: an operator of the user", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    const bool head_flag = thread() % 7 == 0;
    const int most = WarpReduce(temp_storage).HeadSegmentedReduce(in[thread()], head_flag, largest{});
    if (head_flag) out[thread()] = most;
  });
  all.block<32>("WarpReduce::TailSegmentedReduce: explicit template arguments", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage temp_storage;
    const int most =
        WarpReduce(temp_storage).TailSegmentedReduce<largest, int>(in[thread()], thread() % 7 == 6, largest{});
    if (thread() % 7 == 0) out[thread()] = most;
  });
}

inline void warp_scan(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_SCAN(name, ...)                                     \
  all.block<64>(name, [] __device__(const int* in, int* out) {     \
    using WarpScan = lib::WarpScan<int, 16>;                       \
    __shared__ typename WarpScan::TempStorage temp_storage[4];     \
    int item = in[thread()], result = 0, other = 0, aggregate = 0; \
    WarpScan(temp_storage[thread() / 16]).__VA_ARGS__;             \
    if (thread() % 16 > 0) {                                       \
      out[thread()] = result;                                      \
      out[1024 + thread()] = other;                                \
    }                                                              \
    keep_aggregate(out, aggregate);                                \
  })
  STRATA_SCAN("WarpScan::InclusiveSum: logical warps", InclusiveSum(item, result));
  STRATA_SCAN("WarpScan::InclusiveSum: and the aggregate", InclusiveSum(item, result, aggregate));
  STRATA_SCAN("WarpScan::ExclusiveSum: logical warps", ExclusiveSum(item, result));
  STRATA_SCAN("WarpScan::ExclusiveSum: and the aggregate", ExclusiveSum(item, result, aggregate));
  STRATA_SCAN("WarpScan::InclusiveScan: an operator of the user", InclusiveScan(item, result, largest{}));
  STRATA_SCAN("WarpScan::InclusiveScan: and the aggregate", InclusiveScan(item, result, largest{}, aggregate));
  STRATA_SCAN("WarpScan::InclusiveScan: an initial value", InclusiveScan(item, result, 500, largest{}));
  STRATA_SCAN("WarpScan::InclusiveScan: an initial value, and the aggregate",
              InclusiveScan(item, result, 500, cuda::std::plus<>{}, aggregate));
  STRATA_SCAN("WarpScan::ExclusiveScan: no initial value", ExclusiveScan(item, result, largest{}));
  STRATA_SCAN("WarpScan::ExclusiveScan: no initial value, and the aggregate",
              ExclusiveScan(item, result, largest{}, aggregate));
  STRATA_SCAN("WarpScan::ExclusiveScan: an initial value", ExclusiveScan(item, result, 500, largest{}));
  STRATA_SCAN("WarpScan::ExclusiveScan: an initial value, and the aggregate",
              ExclusiveScan(item, result, 500, cuda::std::plus<>{}, aggregate));
  STRATA_SCAN("WarpScan::Scan: inclusive and exclusive", Scan(item, result, other, cuda::std::plus<>{}));
  STRATA_SCAN("WarpScan::Scan: an initial value", Scan(item, result, other, 500, cuda::std::plus<>{}));
#undef STRATA_SCAN
  all.block<32>("WarpScan::Broadcast: a lane of the warp", [] __device__(const int* in, int* out) {
    using WarpScan = lib::WarpScan<int>;
    __shared__ typename WarpScan::TempStorage temp_storage;
    out[thread()] = WarpScan(temp_storage).Broadcast(in[thread()], 21u);
  });
}

template <lib::WarpLoadAlgorithm Load, lib::WarpStoreAlgorithm Store>
void warp_load_and_store(cub_calls::recorder& all, const char* load_name, const char* some_name,
                         const char* store_name) {
  using namespace cub_calls;
  all.block<64>(load_name, [] __device__(const int* in, int* out) {
    using WarpLoad = lib::WarpLoad<int, 4, Load, 16>;
    __shared__ typename WarpLoad::TempStorage temp_storage[4];
    const int warp = thread() / 16;
    int items[4], others[4];
    WarpLoad(temp_storage[warp]).Load(in + warp * 64, items);
    keep(out, items);
    __syncwarp();
    WarpLoad(temp_storage[warp]).Load(in + warp * 64, others, 45, -7);
    keep(out, others, 1024);
  });
  all.block<64>(some_name, [] __device__(const int* in, int* out) {
    using WarpLoad = lib::WarpLoad<int, 4, Load, 16>;
    __shared__ typename WarpLoad::TempStorage temp_storage[4];
    const int warp = thread() / 16, lane = thread() % 16;
    int items[4] = {0, 0, 0, 0};
    WarpLoad(temp_storage[warp]).Load(in + warp * 64, items, 45);
    for (int i = 0; i < 4; ++i) {
      const int position = Load == lib::WARP_LOAD_STRIPED ? i * 16 + lane : lane * 4 + i;
      if (position < 45) out[warp * 64 + position] = items[i];
    }
  });
  all.block<64>(store_name, [] __device__(const int* in, int* out) {
    using WarpStore = lib::WarpStore<int, 4, Store, 16>;
    __shared__ typename WarpStore::TempStorage temp_storage[4];
    const int warp = thread() / 16;
    int items[4];
    take(in, items);
    WarpStore(temp_storage[warp]).Store(out + warp * 64, items);
    __syncwarp();
    take(in, items);  // again, because CUB exchanges the items in place
    WarpStore(temp_storage[warp]).Store(out + 1024 + warp * 64, items, 45);
  });
}

inline void warp_load_store(cub_calls::recorder& all) {
  warp_load_and_store<lib::WARP_LOAD_DIRECT, lib::WARP_STORE_DIRECT>(all, "WarpLoad::Load: WARP_LOAD_DIRECT",
                                                                     "WarpLoad::Load: WARP_LOAD_DIRECT, some items",
                                                                     "WarpStore::Store: WARP_STORE_DIRECT");
  warp_load_and_store<lib::WARP_LOAD_STRIPED, lib::WARP_STORE_STRIPED>(all, "WarpLoad::Load: WARP_LOAD_STRIPED",
                                                                       "WarpLoad::Load: WARP_LOAD_STRIPED, some items",
                                                                       "WarpStore::Store: WARP_STORE_STRIPED");
  warp_load_and_store<lib::WARP_LOAD_VECTORIZE, lib::WARP_STORE_VECTORIZE>(
      all, "WarpLoad::Load: WARP_LOAD_VECTORIZE", "WarpLoad::Load: WARP_LOAD_VECTORIZE, some items",
      "WarpStore::Store: WARP_STORE_VECTORIZE");
  warp_load_and_store<lib::WARP_LOAD_TRANSPOSE, lib::WARP_STORE_TRANSPOSE>(
      all, "WarpLoad::Load: WARP_LOAD_TRANSPOSE", "WarpLoad::Load: WARP_LOAD_TRANSPOSE, some items",
      "WarpStore::Store: WARP_STORE_TRANSPOSE");
}

template <lib::WarpExchangeAlgorithm Algorithm, int Items, int Threads>
void warp_exchange_by(cub_calls::recorder& all, const char* to_striped_name, const char* to_blocked_name) {
  using namespace cub_calls;
  all.block<64>(to_striped_name, [] __device__(const int* in, int* out) {
    using WarpExchange = lib::WarpExchange<int, Items, Threads, Algorithm>;
    __shared__ typename WarpExchange::TempStorage temp_storage[64 / Threads];
    int items[Items];
    take(in, items);
    WarpExchange(temp_storage[thread() / Threads]).BlockedToStriped(items, items);
    keep(out, items);
  });
  all.block<64>(to_blocked_name, [] __device__(const int* in, int* out) {
    using WarpExchange = lib::WarpExchange<int, Items, Threads, Algorithm>;
    __shared__ typename WarpExchange::TempStorage temp_storage[64 / Threads];
    int items[Items], results[Items];
    take(in, items);
    WarpExchange(temp_storage[thread() / Threads]).StripedToBlocked(items, results);
    keep(out, results);
  });
}

inline void warp_exchange(cub_calls::recorder& all) {
  using namespace cub_calls;
  warp_exchange_by<lib::WARP_EXCHANGE_SMEM, 4, 16>(all, "WarpExchange::BlockedToStriped: WARP_EXCHANGE_SMEM",
                                                   "WarpExchange::StripedToBlocked: WARP_EXCHANGE_SMEM");
  warp_exchange_by<lib::WARP_EXCHANGE_SHUFFLE, 8, 8>(all, "WarpExchange::BlockedToStriped: WARP_EXCHANGE_SHUFFLE",
                                                     "WarpExchange::StripedToBlocked: WARP_EXCHANGE_SHUFFLE");
  all.block<64>("WarpExchange::ScatterToStriped: ranks", [] __device__(const int* in, int* out) {
    using WarpExchange = lib::WarpExchange<int, 4, 16>;
    __shared__ typename WarpExchange::TempStorage temp_storage[4];
    int items[4], results[4], ranks[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() % 16 * 4 + i) * 27 % 64;
    WarpExchange(temp_storage[thread() / 16]).ScatterToStriped(items, results, ranks);
    __syncwarp();
    WarpExchange(temp_storage[thread() / 16]).ScatterToStriped(items, ranks);
    keep(out, results);
    keep(out, items, 1024);
  });
}

inline void warp_merge_sort(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("WarpMergeSort::Sort: keys of logical warps", [] __device__(const int* in, int* out) {
    using WarpMergeSort = lib::WarpMergeSort<int, 4, 16>;
    __shared__ typename WarpMergeSort::TempStorage temp_storage[4];
    int keys[4];
    take(in, keys);
    WarpMergeSort(temp_storage[thread() / 16]).Sort(keys, descending());
    keep(out, keys);
  });
  all.block<32>("WarpMergeSort::Sort: keys, some items", [] __device__(const int* in, int* out) {
    using WarpMergeSort = lib::WarpMergeSort<int, 3>;
    __shared__ typename WarpMergeSort::TempStorage temp_storage;
    int keys[3];
    take(in, keys);
    WarpMergeSort(temp_storage).Sort(keys, cuda::std::less<>{}, 70, 5000);
    keep_some(out, keys, 70);
  });
  all.block<64>("WarpMergeSort::StableSort: pairs", [] __device__(const int* in, int* out) {
    using WarpMergeSort = lib::WarpMergeSort<int, 4, 16, int>;
    __shared__ typename WarpMergeSort::TempStorage temp_storage[4];
    int keys[4], values[4];
    take(in, keys);
    for (int i = 0; i < 4; ++i) {
      keys[i] /= 100;
      values[i] = thread() * 4 + i;
    }
    WarpMergeSort(temp_storage[thread() / 16]).StableSort(keys, values, descending());
    keep(out, keys);
    keep(out, values, 1024);
  });
  all.block<64>("WarpMergeSort::get_member_mask: logical warps", [] __device__(const int*, int* out) {
    using WarpMergeSort = lib::WarpMergeSort<int, 4, 16>;
    __shared__ typename WarpMergeSort::TempStorage temp_storage[4];
    out[thread()] = static_cast<int>(WarpMergeSort(temp_storage[thread() / 16]).get_member_mask());
  });
}

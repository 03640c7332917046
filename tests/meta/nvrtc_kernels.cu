// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that NVRTC compiles, for several types. nvrtc.py includes all headers before them.

struct is_greater {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b) const {
    return a > b;
  }
};

/// Uses every layer on one tile: sorts in threads and in the block, scans and reductions.
template <class T>
STRATA_KERNEL void sort_scan_reduce(const T* in, T* out, T* sums, int count) {
  constexpr int threads = 128, items_per_thread = 4, tile_items = threads * items_per_thread;
  using load = strata::BlockLoad<T, threads, items_per_thread, strata::BLOCK_LOAD_TRANSPOSE>;
  using store = strata::BlockStore<T, threads, items_per_thread, strata::BLOCK_STORE_VECTORIZE>;
  using radix_sort = strata::BlockRadixSort<T, threads, items_per_thread, int>;
  using merge_sort = strata::BlockMergeSort<T, threads, items_per_thread, int>;
  using scan = strata::BlockScan<T, threads>;
  using reduce = strata::BlockReduce<T, threads>;
  using warp_reduce = strata::WarpReduce<T>;
  union storage {
    typename load::TempStorage load;
    typename store::TempStorage store;
    typename radix_sort::TempStorage radix_sort;
    typename merge_sort::TempStorage merge_sort;
    typename scan::TempStorage scan;
    typename reduce::TempStorage reduce;
    typename warp_reduce::TempStorage warp_reduce[threads / strata::warp_threads];
  };
  STRATA_SHARED(shared, storage);

  T items[items_per_thread];
  int places[items_per_thread] = {};
  const int tile_base = static_cast<int>(blockIdx.x) * tile_items;
  load(shared.load).Load(in + tile_base, items, count - tile_base, T{});
  strata::StableOddEvenSort(items, places, is_greater{});
  __syncthreads();
  merge_sort(shared.merge_sort).Sort(items, places, is_greater{});
  __syncthreads();
  radix_sort(shared.radix_sort).SortDescendingBlockedToStriped(items, places);
  __syncthreads();
  scan(shared.scan).InclusiveScan(items, items, strata::Max{});
  __syncthreads();
  const T sum = reduce(shared.reduce).Sum(items);
  __syncthreads();
  const T least = warp_reduce(shared.warp_reduce[threadIdx.x / 32]).Reduce(sum, strata::Min{});
  __syncthreads();
  store(shared.store).Store(out + tile_base, items);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum + least + strata::ThreadReduce(items, strata::Sum{});
}
template STRATA_KERNEL void sort_scan_reduce(const unsigned char*, unsigned char*, unsigned char*, int);
template STRATA_KERNEL void sort_scan_reduce(const int*, int*, int*, int);
template STRATA_KERNEL void sort_scan_reduce(const float*, float*, float*, int);
template STRATA_KERNEL void sort_scan_reduce(const double*, double*, double*, int);

/// A user's type, which is sorted by its fields.
struct event {
  int year;
  unsigned char day;
  double value;
};
struct by_day {
  STRATA_HD strata::RadixFields<int&, unsigned char&> operator()(event& e) const { return {e.year, e.day}; }
};
STRATA_KERNEL void sort_events(event* events) {
  using radix_sort = strata::BlockRadixSort<event, 64, 3>;
  STRATA_SHARED(shared, radix_sort::TempStorage);
  event own[3];
  strata::LoadDirectStriped<64>(static_cast<int>(threadIdx.x), events, own);
  radix_sort(shared).Sort(own, by_day{});
  strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), events, own);
}

struct half_of {
  STRATA_HD double operator()(long long x) const { return static_cast<double>(x) / 2; }
};
/// Uses iterators, searches, and constants that are computed at compile time.
STRATA_KERNEL void iterators(const float* in, double* out, int count) {
  const strata::CountingInputIterator<long long> numbers(1);
  const strata::TransformInputIterator<double, half_of, decltype(numbers)> halves(numbers, half_of{});
  const strata::CacheModifiedInputIterator<strata::LOAD_CS, float> stream(in);
  const strata::ArgIndexInputIterator<const float*> with_index(in);
  using pair = strata::KeyValuePair<decltype(with_index[0].key), float>;
  const pair greatest = strata::ArgMax{}(pair(with_index[0]), pair(with_index[count - 1]));
  int2 cut;
  strata::MergePathSearch(count, in, in, count, count, cut);
  static_assert(strata::Min{}(0.0f, -0.0f) == 0.0f && strata::Max{}(2.0, 3.0) == 3.0);
  static_assert(strata::operator_traits<strata::Max, int>::identity() == -2147483647 - 1);
  static_assert(strata::operator_traits<strata::Min, unsigned short>::identity() == 65535);
  out[0] = halves[3] + static_cast<double>(stream[1]) + static_cast<double>(greatest.value) + cut.x;
  out[1] = strata::UpperBound(halves, 1000, 7.0);
}

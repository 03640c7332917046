// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A merge sort by threads that the user chooses. See calls.cuh.

struct strategy_descending {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) {  // not const
    return b < a;
  }
};

class sort_of_128 : public lib::BlockMergeSortStrategy<int, lib::NullType, 128, 4, sort_of_128> {
  using strategy = lib::BlockMergeSortStrategy<int, lib::NullType, 128, 4, sort_of_128>;

 public:
  __device__ __forceinline__ explicit sort_of_128(typename strategy::TempStorage& storage)
      : strategy(storage, threadIdx.x) {}
  __device__ __forceinline__ void SyncImplementation() const { __syncthreads(); }
};

inline void block_merge_sort_strategy(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<128>("BlockMergeSortStrategy: a class of the user", [] __device__(const int* in, int* out) {
    __shared__ typename sort_of_128::TempStorage temp_storage;
    int keys[4];
    take(in, keys);
    sort_of_128 sort(temp_storage);
    sort.Sort(keys, strategy_descending());
    keep(out, keys);
    out[2048 + thread()] = static_cast<int>(sort.get_linear_tid());
  });
  all.block<128>("BlockMergeSortStrategy: some items", [] __device__(const int* in, int* out) {
    __shared__ typename sort_of_128::TempStorage temp_storage;
    int keys[4];
    take(in, keys);
    sort_of_128(temp_storage).StableSort(keys, strategy_descending(), 300, -1);
    keep_some(out, keys, 300);
  });
  all.block<64>("BlockMergeSort::get_linear_tid: and the last tile", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4, int>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4], values[4];
    take(in, keys);
    for (int i = 0; i < 4; ++i) {
      keys[i] /= 50;
      values[i] = thread() * 4 + i;
    }
    BlockMergeSort sort(temp_storage);
    sort.StableSort<strategy_descending, true>(keys, values, strategy_descending(), 203, -1);
    for (int i = 0; i < 4; ++i) {
      if (thread() * 4 + i >= 203) values[i] = 0;  // unspecified
    }
    keep_some(out, keys, 203);
    keep(out, values, 1024);
    out[2048 + thread()] = static_cast<int>(sort.get_linear_tid());
  });
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts of a block, and ranks. See calls.cuh.

struct descending {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) {  // not const
    return b < a;
  }
};
struct fields {
  unsigned char group;
  short number;
};
struct in_fields {
  __host__ __device__ cuda::std::tuple<unsigned char&, short&> operator()(fields& key) const {
    return {key.group, key.number};
  }
};

inline void block_radix_sort(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_KEYS(name, ...)                                    \
  all.block<64>(name, [] __device__(const int* in, int* out) {    \
    using BlockRadixSort = lib::BlockRadixSort<int, 64, 4>;       \
    __shared__ typename BlockRadixSort::TempStorage temp_storage; \
    int keys[4];                                                  \
    take(in, keys);                                               \
    BlockRadixSort(temp_storage).__VA_ARGS__;                     \
    keep(out, keys);                                              \
  })
#define STRATA_PAIRS(name, ...)                                   \
  all.block<64>(name, [] __device__(const int* in, int* out) {    \
    using BlockRadixSort = lib::BlockRadixSort<int, 64, 4, int>;  \
    __shared__ typename BlockRadixSort::TempStorage temp_storage; \
    int keys[4], values[4];                                       \
    take(in, keys);                                               \
    take(in + 500, values);                                       \
    BlockRadixSort(temp_storage).__VA_ARGS__;                     \
    keep(out, keys);                                              \
    keep(out, values, 1024);                                      \
  })
#define STRATA_FIELDS(name, ...)                                                                \
  all.block<64>(name, [] __device__(const int* in, int* out) {                                  \
    using BlockRadixSort = lib::BlockRadixSort<fields, 64, 2, int>;                             \
    __shared__ typename BlockRadixSort::TempStorage temp_storage;                               \
    fields keys[2];                                                                             \
    int values[2];                                                                              \
    take(in + 500, values);                                                                     \
    for (int i = 0; i < 2; ++i) {                                                               \
      keys[i].group = static_cast<unsigned char>(in[thread() * 2 + i] % 5);                     \
      keys[i].number = static_cast<short>(in[thread() * 2 + i] - 500);                          \
    }                                                                                           \
    BlockRadixSort(temp_storage).__VA_ARGS__;                                                   \
    for (int i = 0; i < 2; ++i) out[thread() * 2 + i] = keys[i].group * 10000 + keys[i].number; \
    keep(out, values, 1024);                                                                    \
  })
#define STRATA_FIELD_KEYS(name, ...)                                                            \
  all.block<64>(name, [] __device__(const int* in, int* out) {                                  \
    using BlockRadixSort = lib::BlockRadixSort<fields, 64, 2>;                                  \
    __shared__ typename BlockRadixSort::TempStorage temp_storage;                               \
    fields keys[2];                                                                             \
    for (int i = 0; i < 2; ++i) {                                                               \
      keys[i].group = static_cast<unsigned char>(in[thread() * 2 + i] % 5);                     \
      keys[i].number = static_cast<short>(in[thread() * 2 + i] - 500);                          \
    }                                                                                           \
    BlockRadixSort(temp_storage).__VA_ARGS__;                                                   \
    for (int i = 0; i < 2; ++i) out[thread() * 2 + i] = keys[i].group * 10000 + keys[i].number; \
  })
  STRATA_KEYS("BlockRadixSort::Sort: keys", Sort(keys));
  STRATA_KEYS("BlockRadixSort::Sort: keys, some bits", Sort(keys, 2, 7));
  STRATA_PAIRS("BlockRadixSort::Sort: pairs", Sort(keys, values));
  STRATA_FIELDS("BlockRadixSort::Sort: pairs, a decomposer", Sort(keys, values, in_fields{}));
  STRATA_KEYS("BlockRadixSort::SortDescending: keys", SortDescending(keys));
  STRATA_PAIRS("BlockRadixSort::SortDescending: pairs, some bits", SortDescending(keys, values, 1, 6));
  STRATA_FIELDS("BlockRadixSort::SortDescending: pairs, a decomposer, some bits",
                SortDescending(keys, values, in_fields{}, 4, 20));
  STRATA_KEYS("BlockRadixSort::SortBlockedToStriped: keys", SortBlockedToStriped(keys));
  STRATA_PAIRS("BlockRadixSort::SortBlockedToStriped: pairs", SortBlockedToStriped(keys, values));
  STRATA_FIELDS("BlockRadixSort::SortBlockedToStriped: pairs, a decomposer",
                SortBlockedToStriped(keys, values, in_fields{}));
  STRATA_KEYS("BlockRadixSort::SortDescendingBlockedToStriped: keys, some bits",
              SortDescendingBlockedToStriped(keys, 0, 8));
  STRATA_PAIRS("BlockRadixSort::SortDescendingBlockedToStriped: pairs", SortDescendingBlockedToStriped(keys, values));
  STRATA_FIELDS("BlockRadixSort::SortDescendingBlockedToStriped: pairs, a decomposer, some bits",
                SortDescendingBlockedToStriped(keys, values, in_fields{}, 0, 16));
  STRATA_FIELD_KEYS("BlockRadixSort::Sort: keys, a decomposer", Sort(keys, in_fields{}));
  STRATA_FIELD_KEYS("BlockRadixSort::Sort: keys, a decomposer, some bits", Sort(keys, in_fields{}, 3, 19));
  STRATA_FIELD_KEYS("BlockRadixSort::SortDescending: keys, a decomposer", SortDescending(keys, in_fields{}));
  STRATA_FIELD_KEYS("BlockRadixSort::SortDescending: keys, a decomposer, some bits",
                    SortDescending(keys, in_fields{}, 3, 19));
  STRATA_FIELD_KEYS("BlockRadixSort::SortBlockedToStriped: keys, a decomposer",
                    SortBlockedToStriped(keys, in_fields{}));
  STRATA_FIELD_KEYS("BlockRadixSort::SortBlockedToStriped: keys, a decomposer, some bits",
                    SortBlockedToStriped(keys, in_fields{}, 3, 19));
  STRATA_FIELD_KEYS("BlockRadixSort::SortDescendingBlockedToStriped: keys, a decomposer",
                    SortDescendingBlockedToStriped(keys, in_fields{}));
  STRATA_FIELD_KEYS("BlockRadixSort::SortDescendingBlockedToStriped: keys, a decomposer, some bits",
                    SortDescendingBlockedToStriped(keys, in_fields{}, 3, 19));
  STRATA_FIELDS("BlockRadixSort::Sort: pairs, a decomposer, some bits", Sort(keys, values, in_fields{}, 2, 18));
  STRATA_FIELDS("BlockRadixSort::SortDescending: pairs, a decomposer", SortDescending(keys, values, in_fields{}));
  STRATA_FIELDS("BlockRadixSort::SortBlockedToStriped: pairs, a decomposer, some bits",
                SortBlockedToStriped(keys, values, in_fields{}, 1, 17));
  STRATA_FIELDS("BlockRadixSort::SortDescendingBlockedToStriped: pairs, a decomposer",
                SortDescendingBlockedToStriped(keys, values, in_fields{}));
  STRATA_PAIRS("BlockRadixSort::Sort: pairs, some bits", Sort(keys, values, 2, 9));
  STRATA_PAIRS("BlockRadixSort::SortDescending: pairs", SortDescending(keys, values));
  STRATA_KEYS("BlockRadixSort::SortBlockedToStriped: keys, some bits", SortBlockedToStriped(keys, 1, 8));
  STRATA_KEYS("BlockRadixSort::SortDescending: keys, some bits", SortDescending(keys, 1, 8));
#undef STRATA_FIELD_KEYS
#undef STRATA_KEYS
#undef STRATA_PAIRS
#undef STRATA_FIELDS
  all.block<16, 4>("BlockRadixSort: all template parameters", [] __device__(const int* in, int* out) {
    using BlockRadixSort = lib::BlockRadixSort<int, 16, 3, lib::NullType, 5, false, lib::BLOCK_SCAN_RAKING,
                                               cudaSharedMemBankSizeFourByte, 4, 1>;
    int keys[3];
    take(in, keys);
    BlockRadixSort().Sort(keys);
    keep(out, keys);
  });
}

inline void block_merge_sort(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("BlockMergeSort::Sort: keys", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4];
    take(in, keys);
    BlockMergeSort(temp_storage).Sort(keys, descending());
    keep(out, keys);
  });
  all.block<64>("BlockMergeSort::Sort: keys, some items", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4];
    take(in, keys);
    BlockMergeSort(temp_storage).Sort(keys, cuda::std::less<>{}, 203, 100000);
    keep_some(out, keys, 203);
  });
  all.block<64>("BlockMergeSort::StableSort: pairs", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4, int>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4], values[4];
    take(in, keys);
    for (int i = 0; i < 4; ++i) {
      keys[i] /= 50;
      values[i] = thread() * 4 + i;
    }
    BlockMergeSort(temp_storage).StableSort(keys, values, descending());
    keep(out, keys);
    keep(out, values, 1024);
  });
  all.block<64>("BlockMergeSort::StableSort: pairs, some items", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4, int>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4], values[4];
    take(in, keys);
    for (int i = 0; i < 4; ++i) {
      keys[i] /= 50;
      values[i] = thread() * 4 + i;
    }
    BlockMergeSort(temp_storage).StableSort(keys, values, cuda::std::less<>{}, 203, 1000);
    for (int i = 0; i < 4; ++i) {
      if (thread() * 4 + i >= 203) values[i] = 0;  // unspecified
    }
    keep_some(out, keys, 203);
    keep(out, values, 1024);
  });
  all.block<64>("BlockMergeSort::StableSort: keys", [] __device__(const int* in, int* out) {
    using BlockMergeSort = lib::BlockMergeSort<int, 64, 4>;
    __shared__ typename BlockMergeSort::TempStorage temp_storage;
    int keys[4];
    take(in, keys);
    BlockMergeSort(temp_storage).StableSort(keys, descending());
    __syncthreads();
    BlockMergeSort(temp_storage).StableSort(keys, descending(), 200, -1);
    keep_some(out, keys, 200);
  });
  all.block<16, 4>("BlockMergeSort::Sort: pairs, storage of its own, two dimensions",
                   [] __device__(const int* in, int* out) {
                     int keys[3], values[3];
                     take(in, values);
                     for (int i = 0; i < 3; ++i) keys[i] = (thread() * 3 + i) * 5 % 192;
                     lib::BlockMergeSort<int, 16, 3, int, 4>().Sort(keys, values, cuda::std::less<>{});
                     keep(out, keys);
                     keep(out, values, 1024);
                   });
}

/// In a block of 64 threads that ranks digits of five bits, each of the first 32 threads has the count of one digit.
struct keep_counts {
  int* out;
  __device__ void operator()(int (&counts)[1]) const {
    if (threadIdx.x < 32) out[1100 + threadIdx.x] = counts[0];
  }
};

inline void block_radix_rank(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_RANK(name, ...)                                   \
  all.block<64>(name, [] __device__(const int* in, int* out) {   \
    using Rank = __VA_ARGS__;                                    \
    __shared__ typename Rank::TempStorage temp_storage;          \
    unsigned keys[4];                                            \
    int ranks[4], starts[Rank::BINS_TRACKED_PER_THREAD];         \
    take(in, keys);                                              \
    lib::BFEDigitExtractor<unsigned> extractor(2, 5);            \
    Rank(temp_storage).RankKeys(keys, ranks, extractor, starts); \
    keep(out, ranks);                                            \
    if (thread() < 32) out[1024 + thread()] = starts[0];         \
  })
  STRATA_RANK("BlockRadixRank::RankKeys: BFEDigitExtractor", lib::BlockRadixRank<64, 5, false>);
  STRATA_RANK("BlockRadixRank::RankKeys: descending", lib::BlockRadixRank<64, 5, true, false, lib::BLOCK_SCAN_RAKING>);
  STRATA_RANK("BlockRadixRankMatch::RankKeys: BFEDigitExtractor", lib::BlockRadixRankMatch<64, 5, false>);
  STRATA_RANK("BlockRadixRankMatchEarlyCounts::RankKeys: BFEDigitExtractor",
              lib::BlockRadixRankMatchEarlyCounts<64, 5, false, lib::BLOCK_SCAN_WARP_SCANS, lib::WARP_MATCH_ATOMIC_OR>);
#undef STRATA_RANK
#define STRATA_RANK(name, ...)                                 \
  all.block<64>(name, [] __device__(const int* in, int* out) { \
    using Rank = __VA_ARGS__;                                  \
    __shared__ typename Rank::TempStorage temp_storage;        \
    unsigned keys[4];                                          \
    int ranks[4];                                              \
    take(in, keys);                                            \
    lib::BFEDigitExtractor<unsigned> extractor(2, 5);          \
    Rank(temp_storage).RankKeys(keys, ranks, extractor);       \
    keep(out, ranks);                                          \
  })
  STRATA_RANK("BlockRadixRankMatch::RankKeys: no starts", lib::BlockRadixRankMatch<64, 5, false>);
#undef STRATA_RANK
#define STRATA_RANK(name, ...)                                                     \
  all.block<64>(name, [] __device__(const int* in, int* out) {                     \
    using Rank = __VA_ARGS__;                                                      \
    __shared__ typename Rank::TempStorage temp_storage;                            \
    unsigned keys[4];                                                              \
    int ranks[4], starts[Rank::BINS_TRACKED_PER_THREAD];                           \
    take(in, keys);                                                                \
    lib::BFEDigitExtractor<unsigned> extractor(2, 5);                              \
    Rank(temp_storage).RankKeys(keys, ranks, extractor, starts, keep_counts{out}); \
    keep(out, ranks);                                                              \
    if (thread() < 32) out[1024 + thread()] = starts[0];                           \
  })
  STRATA_RANK("BlockRadixRankMatch::RankKeys: a callback", lib::BlockRadixRankMatch<64, 5, false>);
  STRATA_RANK("BlockRadixRankMatchEarlyCounts::RankKeys: a callback",
              lib::BlockRadixRankMatchEarlyCounts<64, 5, false>);
#undef STRATA_RANK
  all.block<64>("BFEDigitExtractor: keys of int", [] __device__(const int* in, int* out) {
    using Rank = lib::BlockRadixRank<64, 5, false>;
    __shared__ typename Rank::TempStorage temp_storage;
    int keys[2], ranks[2];
    take(in, keys);
    lib::BFEDigitExtractor<int> extractor(0, 5);
    Rank(temp_storage).RankKeys(keys, ranks, extractor);
    keep(out, ranks);
  });
  all.block<64>("ShiftDigitExtractor: keys of unsigned", [] __device__(const int* in, int* out) {
    using Rank = lib::BlockRadixRank<64, 5, false>;
    __shared__ typename Rank::TempStorage temp_storage;
    unsigned keys[2];
    int ranks[2];
    take(in, keys);
    lib::ShiftDigitExtractor<unsigned> extractor(3, 5);
    Rank(temp_storage).RankKeys(keys, ranks, extractor);
    keep(out, ranks);
  });
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads, stores and exchanges of a block, and algorithms that compare or count its items. See calls.cuh.

struct difference {
  template <class T>
  __device__ T operator()(T& a, T& b) {  // neither const nor with const parameters
    return a - b;
  }
};
struct differs_from_before {
  __device__ bool operator()(int a, int b) { return a / 300 != b / 300; }  // not const
};
struct differs_or_starts_a_row {
  __device__ bool operator()(int a, int b, int index) const { return a / 300 != b / 300 || index % 16 == 0; }
};

template <lib::BlockLoadAlgorithm Load, lib::BlockStoreAlgorithm Store>
void block_load_and_store(cub_calls::recorder& all, const char* load_name, const char* load_valid_name,
                          const char* load_default_name, const char* store_name, const char* store_valid_name) {
  using namespace cub_calls;
  all.block<64>(load_name, [] __device__(const int* in, int* out) {
    using BlockLoad = lib::BlockLoad<int, 64, 4, Load>;
    __shared__ typename BlockLoad::TempStorage temp_storage;
    int items[4];
    BlockLoad(temp_storage).Load(in, items);
    keep(out, items);
  });
  all.block<64>(load_valid_name, [] __device__(const int* in, int* out) {
    using BlockLoad = lib::BlockLoad<int, 64, 4, Load>;
    __shared__ typename BlockLoad::TempStorage temp_storage;
    int items[4] = {0, 0, 0, 0};
    const int valid_items = 203;
    BlockLoad(temp_storage).Load(in, items, valid_items);
    // Only valid items have a specified place.
    for (int i = 0; i < 4; ++i) {
      const int position = Load == lib::BLOCK_LOAD_STRIPED ? i * 64 + thread() : thread() * 4 + i;
      if (position < valid_items) out[position] = items[i];
    }
  });
  all.block<64>(load_default_name, [] __device__(const int* in, int* out) {
    using BlockLoad = lib::BlockLoad<int, 64, 4, Load>;
    __shared__ typename BlockLoad::TempStorage temp_storage;
    int items[4];
    BlockLoad(temp_storage).Load(in, items, 203, -7);
    keep(out, items);
  });
  all.block<64>(store_name, [] __device__(const int* in, int* out) {
    using BlockStore = lib::BlockStore<int, 64, 4, Store>;
    __shared__ typename BlockStore::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockStore(temp_storage).Store(out, items);
  });
  all.block<64>(store_valid_name, [] __device__(const int* in, int* out) {
    using BlockStore = lib::BlockStore<int, 64, 4, Store>;
    __shared__ typename BlockStore::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockStore(temp_storage).Store(out, items, 203);
  });
}

inline void block_load_store(cub_calls::recorder& all) {
  using namespace cub_calls;
  block_load_and_store<lib::BLOCK_LOAD_DIRECT, lib::BLOCK_STORE_DIRECT>(
      all, "BlockLoad::Load: BLOCK_LOAD_DIRECT", "BlockLoad::Load: BLOCK_LOAD_DIRECT, some items",
      "BlockLoad::Load: BLOCK_LOAD_DIRECT, a default item", "BlockStore::Store: BLOCK_STORE_DIRECT",
      "BlockStore::Store: BLOCK_STORE_DIRECT, some items");
  block_load_and_store<lib::BLOCK_LOAD_STRIPED, lib::BLOCK_STORE_STRIPED>(
      all, "BlockLoad::Load: BLOCK_LOAD_STRIPED", "BlockLoad::Load: BLOCK_LOAD_STRIPED, some items",
      "BlockLoad::Load: BLOCK_LOAD_STRIPED, a default item", "BlockStore::Store: BLOCK_STORE_STRIPED",
      "BlockStore::Store: BLOCK_STORE_STRIPED, some items");
  block_load_and_store<lib::BLOCK_LOAD_VECTORIZE, lib::BLOCK_STORE_VECTORIZE>(
      all, "BlockLoad::Load: BLOCK_LOAD_VECTORIZE", "BlockLoad::Load: BLOCK_LOAD_VECTORIZE, some items",
      "BlockLoad::Load: BLOCK_LOAD_VECTORIZE, a default item", "BlockStore::Store: BLOCK_STORE_VECTORIZE",
      "BlockStore::Store: BLOCK_STORE_VECTORIZE, some items");
  block_load_and_store<lib::BLOCK_LOAD_TRANSPOSE, lib::BLOCK_STORE_TRANSPOSE>(
      all, "BlockLoad::Load: BLOCK_LOAD_TRANSPOSE", "BlockLoad::Load: BLOCK_LOAD_TRANSPOSE, some items",
      "BlockLoad::Load: BLOCK_LOAD_TRANSPOSE, a default item", "BlockStore::Store: BLOCK_STORE_TRANSPOSE",
      "BlockStore::Store: BLOCK_STORE_TRANSPOSE, some items");
  block_load_and_store<lib::BLOCK_LOAD_WARP_TRANSPOSE, lib::BLOCK_STORE_WARP_TRANSPOSE>(
      all, "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE", "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE, some items",
      "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE, a default item", "BlockStore::Store: BLOCK_STORE_WARP_TRANSPOSE",
      "BlockStore::Store: BLOCK_STORE_WARP_TRANSPOSE, some items");
  block_load_and_store<lib::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, lib::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(
      all, "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED",
      "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, some items",
      "BlockLoad::Load: BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, a default item",
      "BlockStore::Store: BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED",
      "BlockStore::Store: BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED, some items");

  all.block<64>("CacheModifiedInputIterator: BLOCK_LOAD_VECTORIZE", [] __device__(const int* in, int* out) {
    using BlockLoad = lib::BlockLoad<int, 64, 4, lib::BLOCK_LOAD_VECTORIZE>;
    __shared__ typename BlockLoad::TempStorage temp_storage;
    lib::CacheModifiedInputIterator<lib::LOAD_CG, int> from(in);
    int items[4];
    BlockLoad(temp_storage).Load(from, items);
    keep(out, items);
  });
  all.block<16, 4>("BlockLoad: storage of its own, two dimensions", [] __device__(const int* in, int* out) {
    int items[3];
    lib::BlockLoad<int, 16, 3, lib::BLOCK_LOAD_TRANSPOSE, 4>().Load(in, items);
    lib::BlockStore<int, 16, 3, lib::BLOCK_STORE_DIRECT, 4>().Store(out, items);
  });

  all.block<64>("LoadDirectBlocked: whole tiles", [] __device__(const int* in, int* out) {
    int items[4];
    lib::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, items);
    lib::StoreDirectStriped<64>(static_cast<int>(threadIdx.x), out, items);
  });
  all.block<64>("LoadDirectBlocked: some items, a default item", [] __device__(const int* in, int* out) {
    int items[4] = {1, 2, 3, 4}, others[4];
    lib::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, items, 99);
    lib::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, others, 99, 5);
    keep(out, items);
    keep(out, others, 1024);
  });
  all.block<64>("LoadDirectBlockedVectorized: a pointer", [] __device__(const int* in, int* out) {
    int items[4];
    lib::LoadDirectBlockedVectorized(static_cast<int>(threadIdx.x), const_cast<int*>(in), items);
    lib::StoreDirectBlockedVectorized(static_cast<int>(threadIdx.x), out, items);
  });
  all.block<64>("StoreDirectBlockedVectorized: a pointer", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    lib::StoreDirectBlockedVectorized(static_cast<int>(threadIdx.x), out, items);
  });
  all.block<64>("LoadDirectStriped: whole tiles, some items, a default item", [] __device__(const int* in, int* out) {
    int items[4], some[4] = {1, 2, 3, 4}, others[4];
    lib::LoadDirectStriped<64>(static_cast<int>(threadIdx.x), in, items);
    lib::LoadDirectStriped<64>(static_cast<int>(threadIdx.x), in, some, 99);
    lib::LoadDirectStriped<64>(static_cast<int>(threadIdx.x), in, others, 99, 5);
    keep(out, items);
    keep(out, some, 1024);
    keep(out, others, 2048);
  });
  all.block<64>("LoadDirectWarpStriped: whole tiles, some items, a default item",
                [] __device__(const int* in, int* out) {
                  int items[4], some[4] = {1, 2, 3, 4}, others[4];
                  lib::LoadDirectWarpStriped(static_cast<int>(threadIdx.x), in, items);
                  lib::LoadDirectWarpStriped(static_cast<int>(threadIdx.x), in, some, 150);
                  lib::LoadDirectWarpStriped(static_cast<int>(threadIdx.x), in, others, 150, 5);
                  keep(out, items);
                  keep(out, some, 1024);
                  keep(out, others, 2048);
                });
  all.block<64>("StoreDirectBlocked: whole tiles, some items", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    lib::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, items);
    lib::StoreDirectBlocked(static_cast<int>(threadIdx.x), out + 1024, items, 99);
  });
  all.block<64>("StoreDirectStriped: whole tiles, some items", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    lib::StoreDirectStriped<64>(static_cast<int>(threadIdx.x), out, items);
    lib::StoreDirectStriped<64>(static_cast<int>(threadIdx.x), out + 1024, items, 99);
  });
  all.block<64>("StoreDirectWarpStriped: whole tiles, some items", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    lib::StoreDirectWarpStriped(static_cast<int>(threadIdx.x), out, items);
    lib::StoreDirectWarpStriped(static_cast<int>(threadIdx.x), out + 1024, items, 150);
  });
}

inline void block_exchange(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_EXCHANGE(Function, name, other)                   \
  all.block<64>(name, [] __device__(const int* in, int* out) {   \
    using BlockExchange = lib::BlockExchange<int, 64, 4>;        \
    __shared__ typename BlockExchange::TempStorage temp_storage; \
    int items[4];                                                \
    take(in, items);                                             \
    BlockExchange(temp_storage).Function(items);                 \
    keep(out, items);                                            \
  });                                                            \
  all.block<64>(other, [] __device__(const int* in, int* out) {  \
    using BlockExchange = lib::BlockExchange<int, 64, 4, true>;  \
    __shared__ typename BlockExchange::TempStorage temp_storage; \
    int items[4];                                                \
    long long results[4];                                        \
    take(in, items);                                             \
    BlockExchange(temp_storage).Function(items, results);        \
    keep(out, results);                                          \
  });
  STRATA_EXCHANGE(StripedToBlocked, "BlockExchange::StripedToBlocked: in place",
                  "BlockExchange::StripedToBlocked: to another type, one warp at a time")
  STRATA_EXCHANGE(BlockedToStriped, "BlockExchange::BlockedToStriped: in place",
                  "BlockExchange::BlockedToStriped: to another type, one warp at a time")
  STRATA_EXCHANGE(WarpStripedToBlocked, "BlockExchange::WarpStripedToBlocked: in place",
                  "BlockExchange::WarpStripedToBlocked: to another type, one warp at a time")
  STRATA_EXCHANGE(BlockedToWarpStriped, "BlockExchange::BlockedToWarpStriped: in place",
                  "BlockExchange::BlockedToWarpStriped: to another type, one warp at a time")
#undef STRATA_EXCHANGE
  all.block<64>("BlockExchange::ScatterToBlocked: ranks", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() * 4 + i) * 37 % 256;
    BlockExchange(temp_storage).ScatterToBlocked(items, ranks);
    keep(out, items);
  });
  all.block<64>("BlockExchange::ScatterToStriped: ranks, other results", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4], results[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() * 4 + i) * 91 % 256;
    BlockExchange(temp_storage).ScatterToStriped(items, results, ranks);
    keep(out, results);
  });
  all.block<64>("BlockExchange::ScatterToStripedGuarded: negative ranks", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = i == 3 ? -1 : thread() * 3 + i;
    BlockExchange(temp_storage).ScatterToStripedGuarded(items, ranks);
    for (int i = 0; i < 3; ++i) out[i * 64 + thread()] = items[i];
  });
  all.block<64>("BlockExchange::ScatterToStripedFlagged: flags, other results", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4], results[4];
    bool is_valid[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) {
      ranks[i] = thread() * 2 + i / 2;
      is_valid[i] = i % 2 == 1;
    }
    // The form in place does not compile with CUB 3.0.1.
    BlockExchange(temp_storage).ScatterToStripedFlagged(items, results, ranks, is_valid);
    for (int i = 0; i < 2; ++i) out[i * 64 + thread()] = results[i];
  });
  all.block<64>("BlockExchange::ScatterToBlocked: ranks, other results", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4], results[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() * 4 + i) * 53 % 256;
    BlockExchange(temp_storage).ScatterToBlocked(items, results, ranks);
    keep(out, results);
  });
  all.block<64>("BlockExchange::ScatterToStriped: ranks", [] __device__(const int* in, int* out) {
    using BlockExchange = lib::BlockExchange<int, 64, 4>;
    __shared__ typename BlockExchange::TempStorage temp_storage;
    int items[4], ranks[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() * 4 + i) * 29 % 256;
    BlockExchange(temp_storage).ScatterToStriped(items, ranks);
    keep(out, items);
  });
  all.block<64>("BlockExchange::ScatterToStripedGuarded: negative ranks, other results",
                [] __device__(const int* in, int* out) {
                  using BlockExchange = lib::BlockExchange<int, 64, 4>;
                  __shared__ typename BlockExchange::TempStorage temp_storage;
                  int items[4], ranks[4], results[4];
                  take(in, items);
                  for (int i = 0; i < 4; ++i) ranks[i] = i == 0 ? -1 : thread() * 3 + i - 1;
                  BlockExchange(temp_storage).ScatterToStripedGuarded(items, results, ranks);
                  for (int i = 0; i < 3; ++i) out[i * 64 + thread()] = results[i];
                });
  all.block<64>("BlockExchange::StripedToBlocked: storage of its own", [] __device__(const int* in, int* out) {
    int items[4];
    take(in, items);
    lib::BlockExchange<int, 64, 4>().StripedToBlocked(items, items);
    keep(out, items);
  });
}

inline void block_shuffle(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("BlockShuffle::Offset: up and down", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int other = 0;
    BlockShuffle(temp_storage).Offset(in[threadIdx.x], other, 3);
    if (thread() < 61) out[thread()] = other;
    __syncthreads();
    BlockShuffle(temp_storage).Offset(in[threadIdx.x], other, -1);
    if (thread() > 0) out[64 + thread()] = other;
  });
  all.block<64>("BlockShuffle::Rotate: a distance", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int other;
    BlockShuffle(temp_storage).Rotate(in[threadIdx.x], other, 5);
    out[thread()] = other;
  });
  all.block<64>("BlockShuffle::Up: and the last item", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int items[4], before[4], last;
    take(in, items);
    BlockShuffle(temp_storage).Up(items, before, last);
    keep_but_first(out, before);
    keep_aggregate(out, last);
  });
  all.block<64>("BlockShuffle::Up: items of each thread", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int items[4];
    take(in, items);
    BlockShuffle(temp_storage).Up(items, items);
    keep_but_first(out, items);
  });
  all.block<64>("BlockShuffle::Down: items of each thread", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int items[4], after[4];
    take(in, items);
    BlockShuffle(temp_storage).Down(items, after);
    for (int i = 0; i < 4; ++i) {
      if (thread() * 4 + i < 255) out[thread() * 4 + i] = after[i];
    }
  });
  all.block<64>("BlockShuffle::Down: items of each thread, and the first item", [] __device__(const int* in, int* out) {
    using BlockShuffle = lib::BlockShuffle<int, 64>;
    __shared__ typename BlockShuffle::TempStorage temp_storage;
    int items[4], after[4], first;
    take(in, items);
    BlockShuffle(temp_storage).Down(items, after, first);
    for (int i = 0; i < 4; ++i) {
      if (thread() * 4 + i < 255) out[thread() * 4 + i] = after[i];
    }
    keep_aggregate(out, first);
  });
}

inline void block_discontinuity(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_FLAGS(name, ...)                                       \
  all.block<64>(name, [] __device__(const int* in, int* out) {        \
    using BlockDiscontinuity = lib::BlockDiscontinuity<int, 64>;      \
    __shared__ typename BlockDiscontinuity::TempStorage temp_storage; \
    BlockDiscontinuity discontinuity(temp_storage);                   \
    int items[4], heads[4] = {}, tails[4] = {}, before[4] = {};       \
    take(in, items);                                                  \
    discontinuity.__VA_ARGS__;                                        \
    keep(out, heads);                                                 \
    keep(out, tails, 1024);                                           \
    if (thread() > 0) keep(out, before, 2048);                        \
  })
  STRATA_FLAGS("BlockDiscontinuity::FlagHeads: items", FlagHeads(heads, items, differs_from_before{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeads: an item before the tile",
               FlagHeads(heads, items, differs_from_before{}, 150));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeads: the items before",
               FlagHeads(heads, items, before, cuda::std::not_equal_to<>{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeads: the items before, an item before the tile",
               FlagHeads(heads, items, before, cuda::std::not_equal_to<>{}, 150));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeads: an operator that takes an index",
               FlagHeads(heads, items, differs_or_starts_a_row{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagTails: items", FlagTails(tails, items, differs_from_before{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagTails: an item behind the tile",
               FlagTails(tails, items, differs_from_before{}, 150));
  STRATA_FLAGS("BlockDiscontinuity::FlagTails: an operator that takes an index",
               FlagTails(tails, items, differs_or_starts_a_row{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeadsAndTails: items",
               FlagHeadsAndTails(heads, tails, items, differs_from_before{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeadsAndTails: an item behind the tile",
               FlagHeadsAndTails(heads, tails, 150, items, differs_from_before{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeadsAndTails: an item before the tile",
               FlagHeadsAndTails(heads, 150, tails, items, differs_from_before{}));
  STRATA_FLAGS("BlockDiscontinuity::FlagHeadsAndTails: items before and behind the tile",
               FlagHeadsAndTails(heads, 150, tails, 700, items, differs_from_before{}));
  STRATA_FLAGS("InequalityWrapper: flags where items are not equal",
               FlagHeads(heads, items, lib::InequalityWrapper<cuda::std::equal_to<>>(cuda::std::equal_to<>{})));
#undef STRATA_FLAGS
}

inline void block_adjacent_difference(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_DIFFERENCE(name, ...)                                       \
  all.block<64>(name, [] __device__(const int* in, int* out) {             \
    using BlockAdjacentDifference = lib::BlockAdjacentDifference<int, 64>; \
    __shared__ typename BlockAdjacentDifference::TempStorage temp_storage; \
    BlockAdjacentDifference adjacent(temp_storage);                        \
    int items[4], results[4];                                              \
    take(in, items);                                                       \
    adjacent.__VA_ARGS__;                                                  \
    keep(out, results);                                                    \
  })
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractLeft: an operator of the user",
                    SubtractLeft(items, results, difference{}));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractLeft: an item before the tile",
                    SubtractLeft(items, results, difference{}, 1234));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractLeftPartialTile: some items",
                    SubtractLeftPartialTile(items, results, difference{}, 201));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractLeftPartialTile: an item before the tile",
                    SubtractLeftPartialTile(items, results, difference{}, 201, 1234));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractRight: cuda::std::minus",
                    SubtractRight(items, results, cuda::std::minus<>{}));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractRight: an item behind the tile",
                    SubtractRight(items, results, difference{}, 1234));
  STRATA_DIFFERENCE("BlockAdjacentDifference::SubtractRightPartialTile: some items",
                    SubtractRightPartialTile(items, results, difference{}, 201));
#undef STRATA_DIFFERENCE
}

inline void block_histogram(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("BlockHistogram::Histogram: by a sort", [] __device__(const int* in, int* out) {
    using BlockHistogram = lib::BlockHistogram<unsigned char, 64, 4, 256>;
    __shared__ typename BlockHistogram::TempStorage temp_storage;
    __shared__ unsigned histogram[256];
    unsigned char samples[4];
    for (int i = 0; i < 4; ++i) samples[i] = static_cast<unsigned char>(in[thread() * 4 + i] % 256);
    BlockHistogram(temp_storage).Histogram(samples, histogram);
    __syncthreads();
    for (int bin = thread(); bin < 256; bin += 64) out[bin] = static_cast<int>(histogram[bin]);
  });
  all.block<64>("BlockHistogram::Composite: by atomics, tiles", [] __device__(const int* in, int* out) {
    using BlockHistogram = lib::BlockHistogram<unsigned char, 64, 4, 100, lib::BLOCK_HISTO_ATOMIC>;
    __shared__ typename BlockHistogram::TempStorage temp_storage;
    __shared__ unsigned histogram[100];
    BlockHistogram(temp_storage).InitHistogram(histogram);
    __syncthreads();
    for (int tile = 0; tile < 1024; tile += 256) {
      unsigned char samples[4];
      for (int i = 0; i < 4; ++i) samples[i] = static_cast<unsigned char>(in[tile + thread() * 4 + i] % 100);
      BlockHistogram(temp_storage).Composite(samples, histogram);
      __syncthreads();
    }
    for (int bin = thread(); bin < 100; bin += 64) out[bin] = static_cast<int>(histogram[bin]);
  });
  all.block<64>("BlockHistogram::InitHistogram: zeros", [] __device__(const int* in, int* out) {
    using BlockHistogram = lib::BlockHistogram<int, 64, 1, 100>;
    __shared__ typename BlockHistogram::TempStorage temp_storage;
    __shared__ int histogram[100];
    for (int bin = thread(); bin < 100; bin += 64) histogram[bin] = in[bin];
    __syncthreads();
    BlockHistogram(temp_storage).InitHistogram(histogram);
    __syncthreads();
    for (int bin = thread(); bin < 100; bin += 64) out[bin] = histogram[bin];
  });
}

inline void block_run_length_decode(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("BlockRunLengthDecode::RunLengthDecode: lengths, windows", [] __device__(const int* in, int* out) {
    using Decode = lib::BlockRunLengthDecode<int, 64, 2, 4>;
    __shared__ typename Decode::TempStorage temp_storage;
    int values[2];
    unsigned lengths[2];
    take(in, values);
    for (int i = 0; i < 2; ++i) lengths[i] = static_cast<unsigned>(in[thread() * 2 + i] % 7 + 1);
    unsigned total = 0;
    Decode decode(temp_storage, values, lengths, total);
    for (unsigned window = 0; window < total; window += 256) {
      int items[4];
      decode.RunLengthDecode(items, window);
      const int end = static_cast<int>(total - window);
      for (int i = 0; i < 4; ++i) {
        if (thread() * 4 + i < end) out[static_cast<int>(window) + thread() * 4 + i] = items[i];
      }
    }
    keep_aggregate(out, static_cast<int>(total));
  });
  all.block<64>("BlockRunLengthDecode::RunLengthDecode: offsets, positions in runs",
                [] __device__(const int* in, int* out) {
                  using Decode = lib::BlockRunLengthDecode<int, 64, 2, 4, unsigned>;
                  __shared__ typename Decode::TempStorage temp_storage;
                  int values[2];
                  unsigned offsets[2];
                  take(in, values);
                  for (int i = 0; i < 2; ++i) offsets[i] = static_cast<unsigned>(thread() * 2 + i) * 2;
                  Decode decode(temp_storage, values, offsets);
                  int items[4];
                  unsigned positions[4];
                  decode.RunLengthDecode(items, positions, 0);
                  keep(out, items);
                  keep(out, positions, 1024);
                });
}

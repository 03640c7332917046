// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockRadixSort and the three BlockRadixRank classes with CUB's: keys, pairs, results in striped arrangement,
// ranges of bits.

#include <strata/block/specializations/radix_rank_half_warps.cuh>

#include <cstdint>
#include <type_traits>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_radix_sort_benchmark {

using bench::block_work;
using bench::struct16;

template <class Library, class T, int Threads, int Items>
struct sort_keys : block_work<T, Threads, Items> {
  static constexpr const char* algorithm = "BlockRadixSort::Sort";
  using sorter = typename Library::template BlockRadixSort<T, Threads, Items>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int) { sorter(memory).Sort(keys); }
};

template <class Library, class T, int Threads, int Items>
struct sort_descending : sort_keys<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockRadixSort::SortDescending";
  using base = sort_keys<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&keys)[Items], int) {
    typename base::sorter(memory).SortDescending(keys);
  }
};

template <class Library, class T, int Threads, int Items>
struct sort_to_striped : sort_keys<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockRadixSort::SortBlockedToStriped";
  using base = sort_keys<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&keys)[Items], int) {
    typename base::sorter(memory).SortBlockedToStriped(keys);
  }
};

/// Sorts by the eight bits from `given` on. The compiler does not know `given`.
template <class Library, class T, int Threads, int Items>
struct sort_by_bits : sort_keys<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockRadixSort::Sort 8 bits";
  static constexpr int given = 5;
  using base = sort_keys<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&keys)[Items], int given) {
    typename base::sorter(memory).Sort(keys, given, given + 8);
  }
};

template <class Value>
__device__ Value value_of(unsigned number) {
  if constexpr (sizeof(Value) == 16) {
    return {number, number};
  } else {
    return static_cast<Value>(number);
  }
}
__device__ inline unsigned number_of(const struct16& value) { return static_cast<unsigned>(value.value); }
__device__ inline unsigned number_of(std::uint32_t value) { return value; }
__device__ inline unsigned number_of(std::uint64_t value) { return static_cast<unsigned>(value); }

template <class Library, class T, int Threads, int Items, class Value>
struct pairs : block_work<T, Threads, Items> {
  using sorter = typename Library::template BlockRadixSort<T, Threads, Items, Value>;
  using storage = typename sorter::TempStorage;
  template <class Sort>
  static __device__ void sort(T (&keys)[Items], Sort sort) {
    Value values[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) values[i] = value_of<Value>(threadIdx.x * Items + static_cast<unsigned>(i));
    sort(values);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) keys[i] = bench::marked(keys[i], number_of(values[i]));
  }
  static __device__ void run(storage& memory, T (&keys)[Items], int) {
    sort(keys, [&](Value(&values)[Items]) { sorter(memory).Sort(keys, values); });
  }
};
template <class Library, class T, int Threads, int Items>
struct sort_pairs : pairs<Library, T, Threads, Items, std::uint32_t> {
  static constexpr const char* algorithm = "BlockRadixSort::Sort pairs with u32";
};
template <class Library, class T, int Threads, int Items>
struct sort_long_pairs : pairs<Library, T, Threads, Items, std::uint64_t> {
  static constexpr const char* algorithm = "BlockRadixSort::Sort pairs with u64";
};
template <class Library, class T, int Threads, int Items>
struct sort_struct_pairs : pairs<Library, T, Threads, Items, struct16> {
  static constexpr const char* algorithm = "BlockRadixSort::Sort pairs with struct16";
};
template <class Library, class T, int Threads, int Items>
struct sort_pairs_to_striped : pairs<Library, T, Threads, Items, std::uint32_t> {
  static constexpr const char* algorithm = "BlockRadixSort::SortDescendingBlockedToStriped pairs with u32";
  using base = pairs<Library, T, Threads, Items, std::uint32_t>;
  static __device__ void run(typename base::storage& memory, T (&keys)[Items], int) {
    base::sort(keys, [&](std::uint32_t(&values)[Items]) {
      typename base::sorter(memory).SortDescendingBlockedToStriped(keys, values);
    });
  }
};

/// Further rivals: BlockRadixSort with an explicit algorithm. One of them is the default.
template <class T, int Threads, int Items, class Value, strata::BlockRadixSortAlgorithm Algorithm>
struct by_algorithm : block_work<T, Threads, Items> {
  static constexpr bool has_values = !std::is_same_v<Value, strata::NullType>;
  static constexpr const char* lib = Algorithm == strata::BLOCK_RADIX_SORT_MATCH ? "match" : "thread_counters";
  using sorter = strata::BlockRadixSort<T, Threads, Items, Value, 4, true, strata::BLOCK_SCAN_WARP_SCANS,
                                        cudaSharedMemBankSizeFourByte, 1, 1, Algorithm>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int) {
    if constexpr (has_values) {
      pairs<bench::on_strata, T, Threads, Items, Value>::sort(
          keys, [&](Value(&values)[Items]) { sorter(memory).Sort(keys, values); });
    } else {
      sorter(memory).Sort(keys);
    }
  }
};

template <class Library, class T, int Threads, int Items, class Rank, int Bits>
struct ranks : block_work<T, Threads, Items> {
  static constexpr int given = 3;
  using storage = typename Rank::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int given) {
    int found[Items];
    using digits = typename Library::template BFEDigitExtractor<T>;
    Rank(memory).RankKeys(keys, found, digits(static_cast<unsigned>(given), Bits));
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) keys[i] = bench::marked(keys[i], static_cast<unsigned>(found[i]));
  }
};
template <class Library, class T, int Threads, int Items>
struct rank_basic : ranks<Library, T, Threads, Items, typename Library::template BlockRadixRank<Threads, 4, false>, 4> {
  static constexpr const char* algorithm = "BlockRadixRank::RankKeys 4 bits";
};
template <class Library, class T, int Threads, int Items>
struct rank_match
    : ranks<Library, T, Threads, Items, typename Library::template BlockRadixRankMatch<Threads, 8, false>, 8> {
  static constexpr const char* algorithm = "BlockRadixRankMatch::RankKeys 8 bits";
};
template <class Library, class T, int Threads, int Items>
struct rank_early : ranks<Library, T, Threads, Items,
                          typename Library::template BlockRadixRankMatchEarlyCounts<Threads, 8, false>, 8> {
  static constexpr const char* algorithm = "BlockRadixRankMatchEarlyCounts::RankKeys 8 bits";
};
template <class Library, class T, int Threads, int Items>
struct rank_early_or
    : ranks<Library, T, Threads, Items,
            typename Library::template BlockRadixRankMatchEarlyCounts<Threads, 8, false, Library::scan_warp_scans,
                                                                      Library::match_atomic_or>,
            8> {
  static constexpr const char* algorithm = "BlockRadixRankMatchEarlyCounts::RankKeys 8 bits atomic or";
};

template <class T, int Threads, int Items>
struct early_counts : rank_early<bench::on_strata, T, Threads, Items> {
  static constexpr const char* lib = "early_counts";
};

/// The ranking of DeviceRadixSort. It takes the items in another order (neighbouring items per half warp, one for each
/// lane in turn), so its ranks are not compared with the others'.
template <class T, int Threads, int Items>
struct half_warps : block_work<T, Threads, Items> {
  static constexpr const char* lib = "half_warps";
  static constexpr int given = 3;
  static constexpr bool is_compared = false;
  using rank = strata::detail::radix_rank_half_warps<Threads, Items, 8>;
  using storage = typename rank::TempStorage;
  struct digits {
    const T (&keys)[Items];
    unsigned first_bit;
    __device__ unsigned operator()(int i) const { return keys[i] >> first_bit & 0xff; }
    __device__ void optimization_barrier() { strata::platform::optimization_barrier(first_bit); }
  };
  static __device__ void run(storage& memory, T (&keys)[Items], int given) {
    digits of{keys, static_cast<unsigned>(given)};
    unsigned short found[Items];
    rank(memory).rank(
        of, [](unsigned, unsigned) {}, [](unsigned, unsigned, unsigned) {},
        [&](int i, unsigned found_rank) { found[i] = static_cast<unsigned short>(found_rank); });
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) keys[i] = bench::marked(keys[i], found[i]);
  }
};

/// Compares with CUB's sort and with both multi-pass algorithms of strata.
template <template <class, class, int, int> class Work, class T, int Threads, int Items, class Value = strata::NullType>
void add_algorithms(bench::suite& all, int rounds) {
  bench::add_collective<Work, T, Threads, Items,
                        by_algorithm<T, Threads, Items, Value, strata::BLOCK_RADIX_SORT_THREAD_COUNTERS>,
                        by_algorithm<T, Threads, Items, Value, strata::BLOCK_RADIX_SORT_MATCH>>(all, rounds);
}

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<sort_keys, std::uint32_t, 64, 1>(all, 6);
  add_algorithms<sort_keys, std::uint32_t, 128, 4>(all, 2);
  add_algorithms<sort_keys, std::uint32_t, 256, 8>(all, 1);
  add_collective<sort_keys, std::uint32_t, 256, 16>(all, 1);
  add_collective<sort_keys, std::uint32_t, 128, 23>(all, 1);
  add_algorithms<sort_keys, std::uint32_t, 512, 8>(all, 1);
  add_collective<sort_keys, std::uint32_t, 1024, 4>(all, 2);
  add_algorithms<sort_keys, std::int8_t, 128, 8>(all, 4);
  add_algorithms<sort_keys, std::uint8_t, 256, 15>(all, 2);
  add_collective<sort_keys, std::uint16_t, 256, 8>(all, 2);
  add_algorithms<sort_keys, __half, 256, 8>(all, 2);
  add_collective<sort_keys, std::int32_t, 256, 4>(all, 2);
  add_algorithms<sort_keys, float, 256, 8>(all, 1);
  add_collective<sort_keys, double, 128, 8>(all, 1);
  add_algorithms<sort_keys, std::uint64_t, 256, 8>(all, 1);
  add_collective<sort_descending, float, 256, 8>(all, 1);
  add_collective<sort_to_striped, std::uint32_t, 256, 8>(all, 1);
  add_collective<sort_by_bits, std::uint32_t, 256, 8>(all, 4);
  add_algorithms<sort_pairs, std::uint32_t, 128, 8, std::uint32_t>(all, 1);
  add_algorithms<sort_pairs, std::uint32_t, 256, 16, std::uint32_t>(all, 1);
  add_algorithms<sort_pairs, float, 256, 8, std::uint32_t>(all, 1);
  add_collective<sort_long_pairs, std::uint64_t, 256, 4>(all, 1);
  add_collective<sort_struct_pairs, std::uint32_t, 128, 4>(all, 2);
  add_collective<sort_pairs_to_striped, std::uint32_t, 256, 8>(all, 1);
  add_collective<rank_basic, std::uint32_t, 256, 8>(all, 8);
  add_collective<rank_match, std::uint32_t, 256, 8>(all, 8);
  add_collective<rank_match, std::uint32_t, 384, 20, early_counts<std::uint32_t, 384, 20>,
                 half_warps<std::uint32_t, 384, 20>>(all, 2);
  add_collective<rank_early, std::uint32_t, 256, 8>(all, 8);
  add_collective<rank_early_or, std::uint32_t, 256, 8>(all, 8);
}

}  // namespace block_radix_sort_benchmark

int main(int argc, char** argv) {
  return bench::run("block_radix_sort", argc, argv, block_radix_sort_benchmark::add_cases, bench::more_columns::kernel);
}

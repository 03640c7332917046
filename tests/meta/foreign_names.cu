// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Items, iterators and operators of a namespace with functions of the same names as the library's,
// through every class. foreign_names.py compiles it, and makes the list of names; it is never run.
#define STRATA_JOIN_BACKEND CUDA
#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_histogram.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_run_length_decode.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/block_store.cuh>
#include <strata/block/block_transpose.cuh>
#include <strata/block/classic/block_blelloch_scan.cuh>
#include <strata/block/classic/block_hillis_steele_scan.cuh>
#include <strata/block/classic/block_tree_reduce.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/util_device.cuh>
#include <strata/core/util_ptx.cuh>
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
#include <strata/device/join/host/host_join.hpp>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/iterator/constant_input_iterator.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_scan.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/thread/thread_store.cuh>
#include <strata/thread/thread_store_direct.cuh>
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>
#include <strata/warp/warp_store.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace foreign {

// Found by overload resolution already, chosen or not: what it would return is no type.
template <class... T>
struct found {
  static_assert(sizeof...(T) > 1000, "a function of another namespace is found: qualify the call");
  using type = void;
};

// As it is called, and with up to three template arguments in front.
#define STRATA_FOREIGN(name)                    \
  template <class... T>                         \
  typename found<T...>::type name(T&&...);      \
  template <class, class... T>                  \
  typename found<T...>::type name(T&&...);      \
  template <auto, class... T>                   \
  typename found<T...>::type name(T&&...);      \
  template <class, class, class... T>           \
  typename found<T...>::type name(T&&...);      \
  template <class, auto, class... T>            \
  typename found<T...>::type name(T&&...);      \
  template <auto, class, class... T>            \
  typename found<T...>::type name(T&&...);      \
  template <auto, auto, class... T>             \
  typename found<T...>::type name(T&&...);      \
  template <class, class, class, class... T>    \
  typename found<T...>::type name(T&&...);      \
  template <auto, auto, auto, class... T>       \
  typename found<T...>::type name(T&&...);      \
  template <auto, auto, auto, auto, class... T> \
  typename found<T...>::type name(T&&...);
#include "foreign_names.inl"
#undef STRATA_FOREIGN

/// `Word` is half of it: items of 4, 8 and 16 bytes take different ways.
template <class Word>
struct item {
  Word value;
  Word tag;

  STRATA_HD friend item operator+(const item& a, const item& b) {
    return {static_cast<Word>(a.value + b.value), b.tag};
  }
  STRATA_HD friend bool operator==(const item& a, const item& b) { return a.value == b.value; }
  STRATA_HD friend bool operator!=(const item& a, const item& b) { return a.value != b.value; }
  STRATA_HD friend bool operator<(const item& a, const item& b) { return a.value < b.value; }
  STRATA_HD friend bool operator<=(const item& a, const item& b) { return a.value <= b.value; }
};

template <class T>
class iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using reference = T&;
  using pointer = T*;
  using difference_type = std::ptrdiff_t;

  STRATA_HD explicit iterator(T* place) : place_(place) {}
  STRATA_HD reference operator*() const { return *place_; }
  STRATA_HD reference operator[](difference_type n) const { return place_[n]; }
  STRATA_HD iterator operator+(difference_type n) const { return iterator(place_ + n); }
  STRATA_HD iterator operator-(difference_type n) const { return iterator(place_ - n); }
  STRATA_HD difference_type operator-(const iterator& other) const { return place_ - other.place_; }
  STRATA_HD iterator& operator+=(difference_type n) { return place_ += n, *this; }
  STRATA_HD iterator& operator-=(difference_type n) { return place_ -= n, *this; }
  STRATA_HD iterator& operator++() { return ++place_, *this; }
  STRATA_HD iterator& operator--() { return --place_, *this; }
  STRATA_HD bool operator==(const iterator& other) const { return place_ == other.place_; }
  STRATA_HD bool operator!=(const iterator& other) const { return place_ != other.place_; }
  STRATA_HD bool operator<(const iterator& other) const { return place_ < other.place_; }

 private:
  T* place_;
};

struct plus {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct equal {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct hash {
  template <class Word>
  STRATA_HD std::uint64_t operator()(const item<Word>& a) const {
    return static_cast<std::uint64_t>(a.value);
  }
};
struct itself {
  template <class T>
  STRATA_HD T operator()(const T& a) const {
    return a;
  }
};
struct predicate {
  template <class T>
  STRATA_HD bool operator()(const T& a) const {
    return a == a;
  }
};
struct decomposer {
  template <class Word>
  STRATA_HD strata::RadixFields<Word&, Word&> operator()(item<Word>& a) const {
    return {a.value, a.tag};
  }
};
struct digit {
  template <class Word>
  STRATA_D unsigned Digit(const item<Word>& a) const {
    return static_cast<unsigned>(a.value) & 15u;
  }
};
template <class T>
struct running {
  T sum;
  STRATA_D T operator()(const T& aggregate) {
    const T before = sum;
    sum = sum + aggregate;
    return before;
  }
};
enum class number : std::uint32_t {};
/// A sample of a histogram.
struct level {
  int bin;
  STRATA_HD operator int() const { return bin; }
};
struct tally {
  unsigned count;
  STRATA_HD explicit tally(unsigned n) : count(n) {}
  STRATA_HD friend tally operator+(const tally& a, const tally& b) { return tally(a.count + b.count); }
};

}  // namespace foreign

template <class Word>
struct std::numeric_limits<foreign::item<Word>> {
  static constexpr bool is_specialized = true;
  static constexpr foreign::item<Word> max() { return {std::numeric_limits<Word>::max(), 0}; }
  static constexpr foreign::item<Word> lowest() { return {std::numeric_limits<Word>::lowest(), 0}; }
};

namespace {

// ---------------------------------------------------------------------------- threads, warps, blocks

template <class T, class Iterator>
STRATA_KERNEL void threads_kernel(Iterator in, T* pointer, T* more) {
  constexpr int count = 5;
  T items[count];
  int values[count] = {};
  const int thread = static_cast<int>(threadIdx.x);
  strata::LoadDirectBlocked(thread, in, items);
  strata::LoadDirectBlocked(thread, in, items, 3, T{});
  strata::LoadDirectBlockedVectorized(thread, pointer, items);
  strata::LoadDirectStriped<128>(thread, in, items);
  strata::LoadDirectStriped<128>(thread, in, items, 3, T{});
  strata::LoadDirectWarpStriped(thread, in, items);
  strata::LoadDirectWarpStriped(thread, in, items, 3, T{});
  strata::StableOddEvenSort(items, foreign::less{});
  strata::StableOddEvenSort(items, values, foreign::less{});
  strata::StableOddEvenSortPartial(items, 3, foreign::less{});
  strata::StableOddEvenSortPartial(items, values, 3, foreign::less{});
  items[0] = strata::ThreadReduce(items, foreign::plus{});
  items[1] = strata::ThreadReduce(items, foreign::plus{}, items[0]);
  items[2] = strata::ThreadReduce<3>(in, foreign::plus{});
  strata::ThreadScanInclusive(items, items, foreign::plus{});
  strata::ThreadScanInclusive(items, items, foreign::plus{}, items[0]);
  strata::ThreadScanExclusive(items, items, foreign::plus{}, items[0]);
  strata::ThreadScanInclusive<3>(pointer, more, foreign::plus{});
  const int begin = strata::MergePath(in, in, 3, 4, 2, foreign::less{});
  strata::SerialMerge(in, begin, 3, 2, 4, items, values, foreign::less{});
  strata::SerialMerge(in, begin, 3, 2, 4, items, foreign::less{});
  int2 path = {};
  strata::MergePathSearch(2, in, in, 3, 4, path);
  values[0] = strata::LowerBound(in, path.x, items[0]) + strata::UpperBound(in, path.y, items[0]);
  const unsigned warp = strata::WarpMask<8>(strata::LaneId() / 8);
  items[1] = strata::ShuffleUp<8>(items[0], 1, 0, warp);
  items[1] = strata::ShuffleDown<8>(items[1], 1, 7, warp);
  items[2] = strata::ShuffleIndex<8>(items[1], 2, warp);
  items[3] = strata::ThreadLoad<strata::LOAD_CG>(pointer);
  strata::ThreadStore<strata::STORE_CG>(pointer + values[0], strata::ThreadLoad<strata::LOAD_DEFAULT>(in));
  strata::ThreadStore<strata::STORE_DEFAULT>(in, items[3]);
  strata::StoreDirectBlocked(thread, in, items);
  strata::StoreDirectBlocked(thread, in, items, 3);
  strata::StoreDirectBlockedVectorized(thread, pointer, items);
  strata::StoreDirectStriped<128>(thread, in, items);
  strata::StoreDirectStriped<128>(thread, in, items, 3);
  strata::StoreDirectWarpStriped(thread, in, items);
  strata::StoreDirectWarpStriped(thread, in, items, 3);
}

template <class T, int Threads, class Iterator, strata::WarpLoadAlgorithm Load, strata::WarpStoreAlgorithm Store>
STRATA_D void load_and_store(Iterator in, int count) {
  constexpr int items_per_thread = 4;
  using load = strata::WarpLoad<T, items_per_thread, Load, Threads>;
  using store = strata::WarpStore<T, items_per_thread, Store, Threads>;
  STRATA_SHARED(load_storage, typename load::TempStorage[128 / Threads]);
  STRATA_SHARED(store_storage, typename store::TempStorage[128 / Threads]);
  const int warp = static_cast<int>(threadIdx.x) / Threads;
  T items[items_per_thread];
  load(load_storage[warp]).Load(in, items);
  load(load_storage[warp]).Load(in, items, count);
  load(load_storage[warp]).Load(in, items, count, T{});
  store(store_storage[warp]).Store(in, items);
  store(store_storage[warp]).Store(in, items, count);
}

template <class T, int Threads, class Iterator>
STRATA_KERNEL void warps_kernel(Iterator in, T* out, int count) {
  load_and_store<T, Threads, Iterator, strata::WARP_LOAD_DIRECT, strata::WARP_STORE_DIRECT>(in, count);
  load_and_store<T, Threads, Iterator, strata::WARP_LOAD_STRIPED, strata::WARP_STORE_STRIPED>(in, count);
  load_and_store<T, Threads, Iterator, strata::WARP_LOAD_TRANSPOSE, strata::WARP_STORE_TRANSPOSE>(in, count);
  load_and_store<T, Threads, T*, strata::WARP_LOAD_VECTORIZE, strata::WARP_STORE_VECTORIZE>(out, count);
  using exchange = strata::WarpExchange<T, 4, Threads>;
  using shuffling = strata::WarpExchange<T, 4, Threads, strata::WARP_EXCHANGE_SHUFFLE>;
  using reduce = strata::WarpReduce<T, Threads>;
  using scan = strata::WarpScan<T, Threads>;
  using sort = strata::WarpMergeSort<T, 4, Threads>;
  using pair_sort = strata::WarpMergeSort<T, 4, Threads, T>;
  STRATA_SHARED(exchange_storage, typename exchange::TempStorage[128 / Threads]);
  STRATA_SHARED(shuffling_storage, typename shuffling::TempStorage[128 / Threads]);
  STRATA_SHARED(reduce_storage, typename reduce::TempStorage[128 / Threads]);
  STRATA_SHARED(scan_storage, typename scan::TempStorage[128 / Threads]);
  STRATA_SHARED(sort_storage, typename sort::TempStorage[128 / Threads]);
  STRATA_SHARED(pair_storage, typename pair_sort::TempStorage[128 / Threads]);
  const int warp = static_cast<int>(threadIdx.x) / Threads;
  T items[4];
  T others[4];
  int ranks[4] = {0, 1, 2, 3};
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, items);
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, others);
  exchange(exchange_storage[warp]).BlockedToStriped(items, items);
  exchange(exchange_storage[warp]).StripedToBlocked(items, items);
  exchange(exchange_storage[warp]).ScatterToStriped(items, ranks);
  shuffling(shuffling_storage[warp]).BlockedToStriped(items, items);
  shuffling(shuffling_storage[warp]).StripedToBlocked(items, items);
  items[0] = reduce(reduce_storage[warp]).Reduce(items, foreign::plus{});
  items[1] = reduce(reduce_storage[warp]).Reduce(items[0], foreign::plus{}, count);
  items[2] = reduce(reduce_storage[warp]).Sum(items[0]);
  items[3] = reduce(reduce_storage[warp]).AllReduce(items[0], foreign::plus{}, count);
  items[3] = reduce(reduce_storage[warp]).HeadSegmentedReduce(items[3], count, foreign::plus{});
  items[3] = reduce(reduce_storage[warp]).TailSegmentedReduce(items[3], count, foreign::plus{});
  scan(scan_storage[warp]).InclusiveScan(items[0], items[0], foreign::plus{}, items[1]);
  scan(scan_storage[warp]).ExclusiveScan(items[0], items[0], items[3], foreign::plus{}, items[1]);
  scan(scan_storage[warp]).ExclusiveSum(items[0], items[0]);
  scan(scan_storage[warp]).Scan(items[0], items[1], items[2], items[3], foreign::plus{});
  scan(scan_storage[warp]).ScanPartial(items[0], items[1], items[2], foreign::plus{}, count);
  items[2] = scan(scan_storage[warp]).Broadcast(items[2], 0);
  sort(sort_storage[warp]).Sort(items, foreign::less{});
  sort(sort_storage[warp]).StableSort(items, foreign::less{}, count, items[0]);
  pair_sort(pair_storage[warp]).Sort(items, others, foreign::less{});
  items[0] = strata::platform::shuffle_down(0xffffffffu, items[0], 1, Threads);
  strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, items);
}

template <class T, class Iterator, strata::BlockLoadAlgorithm Load, strata::BlockStoreAlgorithm Store>
STRATA_D void block_load_and_store(Iterator in, int count) {
  using load = strata::BlockLoad<T, 128, 4, Load>;
  using store = strata::BlockStore<T, 128, 4, Store>;
  STRATA_SHARED(load_storage, typename load::TempStorage);
  STRATA_SHARED(store_storage, typename store::TempStorage);
  T items[4];
  load(load_storage).Load(in, items);
  load(load_storage).Load(in, items, count);
  load(load_storage).Load(in, items, count, T{});
  store(store_storage).Store(in, items);
  store(store_storage).Store(in, items, count);
}

template <class T, strata::BlockReduceAlgorithm Reduce, strata::BlockScanAlgorithm Scan>
STRATA_D void block_reduce_and_scan(T (&items)[4], int count) {
  using reduce = strata::BlockReduce<T, 128, Reduce>;
  using scan = strata::BlockScan<T, 128, Scan>;
  STRATA_SHARED(reduce_storage, typename reduce::TempStorage);
  STRATA_SHARED(scan_storage, typename scan::TempStorage);
  items[0] = reduce(reduce_storage).Reduce(items, foreign::plus{});
  items[1] = reduce(reduce_storage).Reduce(items[1], foreign::plus{}, count);
  items[2] = reduce(reduce_storage).AllReduce(items[1], foreign::plus{}, count);
  items[3] = reduce(reduce_storage).AllSum(items);
  foreign::running<T> prefix{items[0]};
  T aggregate;
  scan(scan_storage).ExclusiveSum(items, items);
  scan(scan_storage).InclusiveScan(items, items, foreign::plus{}, aggregate);
  scan(scan_storage).ExclusiveScan(items, items, items[0], foreign::plus{}, aggregate);
  scan(scan_storage).ExclusiveScan(items, items, foreign::plus{}, prefix);
  scan(scan_storage).InclusiveScan(items[0], items[0], foreign::plus{}, prefix);
}

template <class T, class Iterator>
STRATA_KERNEL void blocks_kernel(Iterator in, T* out, int count) {
  using strata::BLOCK_LOAD_DIRECT;
  block_load_and_store<T, Iterator, BLOCK_LOAD_DIRECT, strata::BLOCK_STORE_DIRECT>(in, count);
  block_load_and_store<T, Iterator, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_STRIPED>(in, count);
  block_load_and_store<T, Iterator, strata::BLOCK_LOAD_TRANSPOSE, strata::BLOCK_STORE_TRANSPOSE>(in, count);
  block_load_and_store<T, T*, strata::BLOCK_LOAD_VECTORIZE, strata::BLOCK_STORE_VECTORIZE>(out, count);
  block_load_and_store<T, Iterator, strata::BLOCK_LOAD_WARP_TRANSPOSE, strata::BLOCK_STORE_WARP_TRANSPOSE>(in, count);
  block_load_and_store<T, Iterator, strata::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
                       strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(in, count);
  T items[4];
  T others[4];
  int ranks[4] = {};
  int flags[4];
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, items);
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, others);
  block_reduce_and_scan<T, strata::BLOCK_REDUCE_RAKING, strata::BLOCK_SCAN_RAKING>(items, count);
  block_reduce_and_scan<T, strata::BLOCK_REDUCE_WARP_REDUCTIONS, strata::BLOCK_SCAN_WARP_SCANS>(items, count);
  block_reduce_and_scan<T, strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, strata::BLOCK_SCAN_RAKING_MEMOIZE>(items,
                                                                                                            count);
  strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, items);

  using exchange = strata::BlockExchange<T, 128, 4>;
  using shuffle = strata::BlockShuffle<T, 128>;
  using adjacent_difference = strata::BlockAdjacentDifference<T, 128>;
  using discontinuity = strata::BlockDiscontinuity<T, 128>;
  using tree_reduce = strata::BlockTreeReduce<T, 128>;
  using blelloch = strata::BlockBlellochScan<T, 128>;
  using hillis_steele = strata::BlockHillisSteeleScan<T, 128>;
  STRATA_SHARED(exchange_storage, typename exchange::TempStorage);
  STRATA_SHARED(shuffle_storage, typename shuffle::TempStorage);
  STRATA_SHARED(difference_storage, typename adjacent_difference::TempStorage);
  STRATA_SHARED(discontinuity_storage, typename discontinuity::TempStorage);
  STRATA_SHARED(tree_storage, typename tree_reduce::TempStorage);
  STRATA_SHARED(blelloch_storage, typename blelloch::TempStorage);
  STRATA_SHARED(hillis_steele_storage, typename hillis_steele::TempStorage);
  exchange(exchange_storage).BlockedToStriped(items);
  exchange(exchange_storage).StripedToBlocked(items);
  exchange(exchange_storage).BlockedToWarpStriped(items);
  exchange(exchange_storage).WarpStripedToBlocked(items);
  exchange(exchange_storage).ScatterToBlocked(items, ranks);
  exchange(exchange_storage).ScatterToStripedGuarded(items, ranks);
  exchange(exchange_storage).ScatterToStripedFlagged(items, ranks, ranks);
  shuffle(shuffle_storage).Offset(items[0], items[1], 1);
  shuffle(shuffle_storage).Rotate(items[0], items[1], 1);
  shuffle(shuffle_storage).Up(items, others);
  shuffle(shuffle_storage).Down(items, others);
  adjacent_difference(difference_storage).SubtractLeft(items, items, foreign::plus{});
  adjacent_difference(difference_storage).SubtractLeftPartialTile(items, items, foreign::plus{}, count, others[0]);
  adjacent_difference(difference_storage).SubtractRight(items, items, foreign::plus{}, others[0]);
  adjacent_difference(difference_storage).SubtractRightPartialTile(items, items, foreign::plus{}, count);
  discontinuity(discontinuity_storage).FlagHeads(ranks, items, others, foreign::equal{}, items[0]);
  discontinuity(discontinuity_storage).FlagTails(ranks, items, foreign::equal{});
  discontinuity(discontinuity_storage).FlagHeadsAndTails(flags, items[0], ranks, others[0], items, foreign::equal{});
  T pair[2] = {items[0], items[1]};
  items[0] = tree_reduce(tree_storage).Reduce(pair, foreign::plus{});
  blelloch(blelloch_storage).ExclusiveScan(pair, pair, items[2], foreign::plus{});
  hillis_steele(hillis_steele_storage).InclusiveScan(items[0], items[1], foreign::plus{});
  strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), out, items);
}

template <class Iterator>
STRATA_D typename Iterator::value_type item_behind(Iterator iterator) {
  Iterator other = iterator + 2;
  ++other -= 2;
  --(other += 1);
  if (other == iterator || iterator < other) other = iterator++;
  return other - iterator > 1 ? *other : other[1];
}

template <class T>
STRATA_KERNEL void iterators_kernel(foreign::iterator<T> in, T* out) {
  using transformed = strata::TransformInputIterator<T, foreign::itself, foreign::iterator<T>>;
  strata::CacheModifiedOutputIterator<strata::STORE_CG, T> cached(out);
  *cached++ = item_behind(strata::CacheModifiedInputIterator<strata::LOAD_CG, T>(out));
  cached[1] = item_behind(strata::ConstantInputIterator<T>(*out));
  *cached++ = item_behind(transformed(in, foreign::itself{}));
  *cached++ = item_behind(strata::ArgIndexInputIterator<foreign::iterator<T>>(in)).value;
  strata::DiscardOutputIterator<> none;
  *none++ = *out;
  none[1] = *out;
}

template <class T>
STRATA_KERNEL void block_sorts_kernel(T* data, const int* begins, int count) {
  using merge_sort = strata::BlockMergeSort<T, 128, 4>;
  using merge_pairs = strata::BlockMergeSort<T, 128, 4, T>;
  using radix_sort = strata::BlockRadixSort<T, 128, 4>;
  using radix_pairs = strata::BlockRadixSort<std::uint32_t, 128, 4, T>;
  using rank = strata::BlockRadixRank<128, 4, false>;
  using rank_match = strata::BlockRadixRankMatch<128, 4, false>;
  using segmented = strata::BlockSegmentedMergeSort<T, 128, 4>;
  STRATA_SHARED(merge_storage, typename merge_sort::TempStorage);
  STRATA_SHARED(pairs_storage, typename merge_pairs::TempStorage);
  STRATA_SHARED(radix_storage, typename radix_sort::TempStorage);
  STRATA_SHARED(radix_pairs_storage, typename radix_pairs::TempStorage);
  STRATA_SHARED(rank_storage, typename rank::TempStorage);
  STRATA_SHARED(rank_match_storage, typename rank_match::TempStorage);
  STRATA_SHARED(segmented_storage, typename segmented::TempStorage);
  T items[4];
  T others[4];
  int ranks[4];
  std::uint32_t words[4] = {};
  const int thread = static_cast<int>(threadIdx.x);
  strata::LoadDirectBlocked(thread, data, items);
  strata::LoadDirectBlocked(thread, data, others);
  merge_sort(merge_storage).Sort(items, foreign::less{});
  merge_sort(merge_storage).SortPartialTile(items, count, foreign::less{});
  merge_pairs(pairs_storage).Sort(items, others, foreign::less{});
  radix_sort(radix_storage).Sort(items, foreign::decomposer{});
  radix_sort(radix_storage).SortDescendingPartialTile(items, count, foreign::decomposer{});
  radix_sort(radix_storage).SortBlockedToStriped(items, foreign::decomposer{}, 0, 8);
  radix_pairs(radix_pairs_storage).Sort(words, items);
  rank(rank_storage).RankKeys(items, ranks, foreign::digit{});
  rank_match(rank_match_storage).RankKeys(items, ranks, foreign::digit{});
  segmented(segmented_storage).Plan(begins[threadIdx.x]);
  segmented(segmented_storage).Sort(foreign::less{});
  segmented(segmented_storage).SortOwn(thread, count, foreign::less{});
  segmented(segmented_storage).SortAll(count, foreign::less{});
  *segmented(segmented_storage).Position(thread) = items[0];
  strata::StoreDirectBlocked(thread, data, items);
}

template <class T>
STRATA_KERNEL void decode_kernel(T* data, const int* lengths, int count) {
  using decode = strata::BlockRunLengthDecode<T, 128, 4, 4>;
  STRATA_SHARED(temp_storage, typename decode::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  T values[4];
  int ends[4];
  strata::LoadDirectBlocked(thread, data, values);
  strata::LoadDirectBlocked(thread, lengths, ends);
  decode(values, ends, count).RunLengthDecode(values, ends);
  decode(temp_storage, values, ends).RunLengthDecode(values, 3);
  strata::StoreDirectBlocked(thread, data, values);
}

template <strata::BlockHistogramAlgorithm Algorithm, class Counter>
STRATA_KERNEL void histogram_kernel(const foreign::level* in, Counter* out) {
  using histogram = strata::BlockHistogram<foreign::level, 128, 4, 256, Algorithm>;
  STRATA_SHARED(temp_storage, typename histogram::TempStorage);
  foreign::level samples[4];
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, samples);
  histogram(temp_storage).InitHistogram(out);
  histogram(temp_storage).Composite(samples, out);
  histogram().Histogram(samples, out);
}

[[maybe_unused]] void start_histograms(const foreign::level* in, foreign::tally* tallies, unsigned* counts) {
  static_cast<void>(strata::launch({"histogram", dim3(1), dim3(128)},
                                   histogram_kernel<strata::BLOCK_HISTO_SORT, foreign::tally>, in, tallies));
  static_cast<void>(strata::launch({"histogram", dim3(1), dim3(128)},
                                   histogram_kernel<strata::BLOCK_HISTO_ATOMIC, unsigned>, in, counts));
}

template <class T>
[[maybe_unused]] void start_kernels(T* data, T* out, const int* begins, int count) {
  const foreign::iterator<T> in(data);
  static_cast<void>(
      strata::launch({"threads", dim3(1), dim3(128)}, threads_kernel<T, foreign::iterator<T>>, in, data, out));
  static_cast<void>(
      strata::launch({"warps", dim3(1), dim3(128)}, warps_kernel<T, 32, foreign::iterator<T>>, in, out, count));
  static_cast<void>(
      strata::launch({"warps", dim3(1), dim3(128)}, warps_kernel<T, 8, foreign::iterator<T>>, in, out, count));
  static_cast<void>(
      strata::launch({"blocks", dim3(1), dim3(128)}, blocks_kernel<T, foreign::iterator<T>>, in, out, count));
  static_cast<void>(strata::launch({"iterators", dim3(1), dim3(128)}, iterators_kernel<T>, in, out));
  static_cast<void>(strata::launch({"sorts", dim3(1), dim3(128)}, block_sorts_kernel<T>, data, begins, count));
  static_cast<void>(strata::launch({"decode", dim3(1), dim3(128)}, decode_kernel<T>, data, begins, count));
}

// ---------------------------------------------------------------------------- devices

using strata::DeviceHashJoin;
using strata::DeviceMergeSort;
using strata::DevicePartition;
using strata::DeviceRadixSort;
using strata::DeviceReduce;
using strata::DeviceScan;
using strata::DeviceSegmentedMergeSort;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedReduce;
using strata::DeviceSegmentedScan;
using strata::DeviceSelect;

/// Temporary storage, and what each call returns.
struct calls {
  void* storage;
  std::size_t bytes;

  void operator+=(cudaError_t) {}
  void operator+=(strata::HostJoinStatus) {}
};

template <class T, class In>
[[maybe_unused]] void reduce_all(calls& all, In in, T* out, std::int64_t* number, int count) {
  using strata::KeyValuePair;
  const foreign::plus op;
  KeyValuePair<int, T>* const pair = nullptr;
  const foreign::iterator<int> offsets(nullptr);
  all += DeviceReduce::Reduce(all.storage, all.bytes, in, out, count, op, T{});
  all += DeviceReduce::Reduce(in, out, count, op, T{});
  all += DeviceReduce::Sum(all.storage, all.bytes, in, out, count);
  all += DeviceReduce::Reduce(strata::TransformInputIterator<T, foreign::itself, In>(in, foreign::itself{}),
                              strata::DiscardOutputIterator<>(), count, op, T{});
  all += DeviceReduce::Min(all.storage, all.bytes, in, out, count);
  all += DeviceReduce::ArgMax(all.storage, all.bytes, in, out, number, count);
  all += DeviceReduce::TransformReduce(all.storage, all.bytes, in, out, count, op, foreign::itself{}, T{});
  all += DeviceReduce::ReduceByKey(all.storage, all.bytes, in, out, in, foreign::iterator<T>(out), number, op, count);
  all += strata::DeviceRunLengthEncode::Encode(all.storage, all.bytes, in, out, number, number, count);
  all += strata::DeviceRunLengthEncode::NonTrivialRuns(all.storage, all.bytes, in, number, number, number, count);
  all += DeviceSegmentedReduce::Reduce(all.storage, all.bytes, in, out, count, offsets, offsets, op, T{});
  all += DeviceSegmentedReduce::Reduce(all.storage, all.bytes, in, out, count, 7, op, T{});
  all += DeviceSegmentedReduce::Max(all.storage, all.bytes, in, out, count, offsets, offsets);
  all += DeviceSegmentedReduce::ArgMin(all.storage, all.bytes, in, pair, count, offsets, offsets);
}

template <class T, class In>
[[maybe_unused]] void transform_all(calls& all, In in, T* out, int count) {
  using strata::DeviceAdjacentDifference;
  const foreign::plus op;
  const foreign::iterator<T> results(out);
  all += strata::DeviceTransform::Transform(all.storage, all.bytes, in, results, count, foreign::itself{});
  all += strata::DeviceTransform::Transform(std::make_pair(in, in), out, count, op);
  all += strata::DeviceFor::ForEachCopyN(all.storage, all.bytes, in, count, foreign::itself{});
  all += DeviceAdjacentDifference::SubtractRightCopy(all.storage, all.bytes, in, results, count, op);
  all += DeviceAdjacentDifference::SubtractLeft(all.storage, all.bytes, out, count, op);
}

template <class T, class In>
[[maybe_unused]] void scan_all(calls& all, In in, T* out, std::int64_t* number, int count) {
  const foreign::plus op;
  const foreign::iterator<int> offsets(nullptr);
  all += DeviceScan::InclusiveScan(all.storage, all.bytes, in, out, op, count);
  all += DeviceScan::ExclusiveScan(all.storage, all.bytes, in, out, op, T{}, count);
  all += DeviceScan::ExclusiveSum(all.storage, all.bytes, out, count);
  all += DeviceScan::InclusiveScanByKey(all.storage, all.bytes, in, in, out, op, count, foreign::equal{});
  all += DeviceScan::ExclusiveScanByKey(all.storage, all.bytes, in, in, out, op, T{}, count, foreign::equal{});
  all += DeviceSegmentedScan::InclusiveSegmentedScan(all.storage, all.bytes, in, out, offsets, offsets, count, op);
  all += DeviceSegmentedScan::ExclusiveSegmentedScan(all.storage, all.bytes, in, out, offsets, offsets, offsets, count,
                                                     op, T{});
  all += DeviceSelect::If(all.storage, all.bytes, in, out, number, count, foreign::predicate{});
  all += DeviceSelect::If(all.storage, all.bytes, out, number, count, foreign::predicate{});
  all += DeviceSelect::Flagged(all.storage, all.bytes, in, offsets, out, number, count);
  all += DeviceSelect::FlaggedIf(all.storage, all.bytes, in, in, out, number, count, foreign::predicate{});
  all += DeviceSelect::Unique(all.storage, all.bytes, in, out, number, count);
  all += DevicePartition::If(all.storage, all.bytes, in, out, number, count, foreign::predicate{});
  all += DevicePartition::If(all.storage, all.bytes, in, out, foreign::iterator<T>(out), out, number, count,
                             foreign::predicate{}, foreign::predicate{});
  all += DevicePartition::Flagged(all.storage, all.bytes, in, offsets, out, number, count);
  all += DeviceSelect::UniqueByKey(all.storage, all.bytes, in, in, out, foreign::iterator<T>(out), number, count,
                                   foreign::equal{});
}

template <class T, class In>
[[maybe_unused]] void sort_all(calls& all, In in, T* data, T* out, int count) {
  const foreign::iterator<int> offsets(nullptr);
  const foreign::less less;
  int* const indices = nullptr;
  std::uint16_t* const numbers = nullptr;
  strata::DoubleBuffer<T> buffers(data, out);
  strata::DoubleBuffer<std::uint16_t> keys(numbers, numbers);
  all += DeviceRadixSort::SortKeys(all.storage, all.bytes, in, out, count, foreign::decomposer{});
  all += DeviceRadixSort::SortKeysDescending(all.storage, all.bytes, buffers, count, foreign::decomposer{});
  all += DeviceRadixSort::SortPairs(all.storage, all.bytes, in, out, in, data, count, foreign::decomposer{});
  all += DeviceRadixSort::SortPairs(all.storage, all.bytes, keys, buffers, count);
  all += DeviceRadixSort::ArgSort(all.storage, all.bytes, in, indices, count, foreign::decomposer{});
  all += strata::DeviceTopK::MaxPairs(all.storage, all.bytes, numbers, numbers, in, out, count, count);
  all += strata::DeviceTopK::MinPairsSorted(all.storage, all.bytes, numbers, numbers, data, out, count, count);
  all += DeviceSegmentedRadixSort::SortPairs(all.storage, all.bytes, numbers, numbers, data, out, count, count, offsets,
                                             offsets);
  all += strata::DeviceSegmentedSort::SortPairs(all.storage, all.bytes, numbers, numbers, data, out, count, count,
                                                offsets, offsets);
  all += strata::DeviceMerge::MergeKeys(all.storage, all.bytes, in, count, data, count, out, less);
  all += strata::DeviceMerge::MergePairs(all.storage, all.bytes, in, in, count, data, data, count, out, out, less);
  all += DeviceMergeSort::SortKeys(all.storage, all.bytes, data, count, less);
  all += DeviceMergeSort::SortPairsCopy(all.storage, all.bytes, data, data, out, out, count, less);
  all += DeviceSegmentedMergeSort::SortKeys(all.storage, all.bytes, data, count, count, offsets, offsets, less);
  all += DeviceSegmentedMergeSort::SortPairsCopy(all.storage, all.bytes, data, data, out, out, count, 7, less);
  all += DeviceSegmentedMergeSort::SortIndices(all.storage, all.bytes, data, indices, count, count, offsets, offsets,
                                               less);
  all += strata::DeviceHistogram::HistogramEven(all.storage, all.bytes, numbers, indices, 9, 0, 9, count);
  all += strata::DeviceTranspose::Transpose(all.storage, all.bytes, data, out, count, count);
  const foreign::iterator<In> ins(nullptr);
  const foreign::iterator<T*> outs(nullptr);
  all += strata::DeviceMemcpy::Batched(all.storage, all.bytes, outs, outs, indices, count);
  all += strata::DeviceCopy::Batched(all.storage, all.bytes, ins, outs, indices, count);
  all += strata::DeviceCopy::Batched(all.storage, all.bytes, outs, outs, indices, count);
}

template <class T>
[[maybe_unused]] void join_all(calls& all, const T* keys, foreign::iterator<T> column, int* rows, std::int64_t* number,
                               std::int64_t count) {
  const auto build_column = strata::build_column(column, column, T{});
  const auto columns = strata::join_columns<int>(count, build_column, strata::probe_column(column, column, T{}));
  const auto side = strata::join_side(keys, count);
  const auto join_in = [&](const auto& options) {
    all += DeviceHashJoin::Inner(all.storage, all.bytes, side, side, strata::join_pairs(rows, rows, count), number,
                                 options);
    all += DeviceHashJoin::Full(all.storage, all.bytes, side, side, columns, number, options);
    all += DeviceHashJoin::Anti(all.storage, all.bytes, side, side, strata::join_count(), number, options);
  };
  join_in(strata::JoinOptions<foreign::hash, foreign::equal>{});
  join_in(strata::OrderedJoinOptions<foreign::hash, foreign::equal>{});
  all += strata::detail::host_join_gather<int>(all.storage, all.bytes, strata::JoinKind::full, keys, count, keys, count,
                                               build_column, number, count, {}, foreign::hash{}, foreign::equal{});
  strata::JoinTable<T, int, foreign::hash, foreign::equal, strata::JoinOrder::probe> table(all.storage, all.bytes,
                                                                                           side);
  all += table.Build(count);
  all += table.Left(all.storage, all.bytes, side, columns, number);
}

// Keys that are joined by partitions, sets, arrays and merges.
[[maybe_unused]] void join_numbers(calls& all, const foreign::number* keys, int* rows, std::int64_t* number,
                                   std::int64_t count) {
  const strata::JoinOptions<> options;
  const auto side = strata::join_side(keys, count).sorted().key_range(foreign::number{}, foreign::number{});
  all +=
      DeviceHashJoin::Inner(all.storage, all.bytes, side, side, strata::join_pairs(rows, rows, count), number, options);
  all +=
      DeviceHashJoin::Full(all.storage, all.bytes, side, side, strata::join_pairs(rows, rows, count), number, options);
  all += DeviceHashJoin::Semi(all.storage, all.bytes, side, side, strata::join_count(), number, options);
}

template <class Word>
[[maybe_unused]] void everything(calls& all) {
  using T = foreign::item<Word>;
  T* const data = nullptr;
  const foreign::iterator<T> in(nullptr);
  start_kernels<T>(data, data, nullptr, 0);
  reduce_all(all, in, data, nullptr, 0);
  scan_all(all, in, data, nullptr, 0);
  transform_all(all, in, data, 0);
  sort_all(all, in, data, data, 0);
  if constexpr (sizeof(T) == 8) {  // pointers too
    const T* const pointer = nullptr;
    reduce_all(all, pointer, data, nullptr, 0);
    scan_all(all, pointer, data, nullptr, 0);
    transform_all(all, pointer, data, 0);
    sort_all(all, pointer, data, data, 0);
    join_all<T>(all, data, in, nullptr, nullptr, 0);
  }
}

}  // namespace

void foreign_names(void* storage) {
  calls all{storage, 0};
  everything<std::uint32_t>(all);
  everything<std::uint8_t>(all);
  join_numbers(all, nullptr, nullptr, nullptr, 0);
}

// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of the collectives of blocks and of logical warps. Each block has a tile of its own, and a number of
// valid items.
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>
#include <strata/warp/warp_store.cuh>

#include <numeric>

#include "random/random_sorts.cuh"

namespace {

using namespace random_test;

/// Tiles of `Items * Threads` items, and the outputs of kernels: an item for each item, and a total for each group of
/// threads.
template <class T>
struct tiles : memory<T, T> {
  tiles(std::size_t number_of_groups, std::size_t items_of_group, source& random)
      : memory<T, T>(number_of_groups * items_of_group, number_of_groups * items_of_group, random),
        groups(number_of_groups),
        group_items(items_of_group),
        totals(number_of_groups, random),
        valid(number_of_groups, random),
        places(number_of_groups * items_of_group, random) {}
  std::size_t groups;
  std::size_t group_items;
  array<T> totals;
  array<int> valid;
  array<int> places;
  std::vector<int> host_valid;
  std::vector<int> host_places;

  /// Makes new items, and a number of valid items, or threads, from `least_valid` to `most_valid` for each group.
  void renew(source& data, std::size_t least_valid, std::size_t most_valid, cudaStream_t stream) {
    memory<T, T>::renew(random_items<T>(data, groups * group_items), stream);
    host_valid.resize(groups);
    for (int& count : host_valid) {
      const auto least = static_cast<std::int64_t>(least_valid);
      const auto most = static_cast<std::int64_t>(most_valid);
      count = static_cast<int>(data.chance(30) ? most : data.in(least, most));
    }
    host_places.resize(groups * group_items);
    for (std::size_t g = 0; g < groups; ++g) {
      int* const own = host_places.data() + g * group_items;
      std::iota(own, own + group_items, 0);
      std::shuffle(own, own + group_items, data);
    }
    valid.write(host_valid, stream);
    places.write(host_places, stream);
    totals.forget(stream);
  }
  const T* items_of(std::size_t group) const { return this->items.data() + group * group_items; }
};

/// A kernel launch with the signature of a call with temporary storage.
template <class Kernel, class... Arguments>
std::function<cudaError_t(void*, std::size_t&, cudaStream_t)> launches(std::size_t blocks, unsigned threads,
                                                                       Kernel kernel, Arguments... arguments) {
  return [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    if (storage == nullptr) {
      bytes = 1;
      return cudaSuccess;
    }
    return strata::launch({"random case", dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream}, kernel,
                          arguments...);
  };
}

std::string shape_of(const char* name, const std::string& type, int threads, int items, std::size_t groups) {
  return std::string(name) + " of " + type + ", " + std::to_string(threads) + " threads, " + std::to_string(items) +
         " items each, " + std::to_string(groups) + " groups";
}

// ---------------------------------------------------------------------------- load and store

template <class T, int Threads, int Items, strata::BlockLoadAlgorithm Load, strata::BlockStoreAlgorithm Store>
STRATA_KERNEL void copy_kernel(const T* in, T* out, const int* valid) {
  using load = strata::BlockLoad<T, Threads, Items, Load>;
  using store = strata::BlockStore<T, Threads, Items, Store>;
  STRATA_SHARED(load_storage, typename load::TempStorage);
  STRATA_SHARED(store_storage, typename store::TempStorage);
  const int tile = static_cast<int>(blockIdx.x) * Threads * Items;
  const int count = valid[blockIdx.x];
  T items[Items];
  if (count == Threads * Items) {
    load(load_storage).Load(in + tile, items);
    store(store_storage).Store(out + tile, items);
  } else {
    load(load_storage).Load(in + tile, items, count);
    store(store_storage).Store(out + tile, items, count);
  }
}

template <class T, int Threads, int Items, strata::BlockLoadAlgorithm Load, strata::BlockStoreAlgorithm Store>
problem copy(source& random) {
  const std::size_t groups = 1 + random.below(6);
  constexpr std::size_t tile = std::size_t{Threads} * Items;
  const auto held = std::make_shared<tiles<T>>(groups, tile, random);
  problem made;
  made.what = shape_of("load and store", name_of<T>(), Threads, Items, groups) + ", algorithms " +
              std::to_string(Load) + " and " + std::to_string(Store);
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, 0, tile, stream); };
  made.call =
      launches(groups, Threads, copy_kernel<T, Threads, Items, Load, Store>, static_cast<const T*>(held->in.data()),
               held->out.data(), static_cast<const int*>(held->valid.data()));
  made.check = [held](cudaStream_t stream) {
    std::vector<T> expected(held->items.size(), untouched<T>());
    for (std::size_t g = 0; g < held->groups; ++g) {
      std::copy_n(held->items_of(g), held->host_valid[g], expected.begin() + static_cast<std::ptrdiff_t>(g * tile));
    }
    must_be_same(expected, held->out.read(stream), "items");
  };
  return made;
}

// ---------------------------------------------------------------------------- reduce and scan

template <class T, int Threads, int Items, strata::BlockReduceAlgorithm Reduce, strata::BlockScanAlgorithm Scan,
          class Op>
STRATA_KERNEL void fold_kernel(const T* in, T* out, T* totals, const int* valid, T init) {
  using load = strata::BlockLoad<T, Threads, Items>;
  using store = strata::BlockStore<T, Threads, Items>;
  using reduce = strata::BlockReduce<T, Threads, Reduce>;
  using scan = strata::BlockScan<T, Threads, Scan>;
  STRATA_SHARED(reduce_storage, typename reduce::TempStorage);
  STRATA_SHARED(scan_storage, typename scan::TempStorage);
  const int tile = static_cast<int>(blockIdx.x) * Threads * Items;
  T items[Items];
  load().Load(in + tile, items);
  const T total = reduce(reduce_storage).Reduce(items[0], Op{}, valid[blockIdx.x]);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
  scan(scan_storage).ExclusiveScan(items, items, init, Op{});
  store().Store(out + tile, items);
}

/// Reduces the first items of the valid threads, and scans all items.
template <class T, int Threads, int Items, strata::BlockReduceAlgorithm Reduce, strata::BlockScanAlgorithm Scan,
          class Op>
problem fold(source& random) {
  const std::size_t groups = 1 + random.below(6);
  constexpr std::size_t tile = std::size_t{Threads} * Items;
  const auto held = std::make_shared<tiles<T>>(groups, tile, random);
  const T init = item_of<T>(random());
  problem made;
  made.what = shape_of("reduce and scan", name_of<T>(), Threads, Items, groups) + ", algorithms " +
              std::to_string(Reduce) + " and " + std::to_string(Scan);
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, 1, Threads, stream); };
  made.call = launches(groups, Threads, fold_kernel<T, Threads, Items, Reduce, Scan, Op>,
                       static_cast<const T*>(held->in.data()), held->out.data(), held->totals.data(),
                       static_cast<const int*>(held->valid.data()), init);
  made.check = [held, init](cudaStream_t stream) {
    std::vector<T> expected(held->items.size());
    std::vector<T> totals(held->groups);
    for (std::size_t g = 0; g < held->groups; ++g) {
      const T* const items = held->items_of(g);
      T sum = init;
      for (std::size_t i = 0; i < tile; ++i) {
        expected[g * tile + i] = sum;
        sum = static_cast<T>(Op{}(sum, items[i]));
      }
      totals[g] = items[0];
      for (int t = 1; t < held->host_valid[g]; ++t) {
        totals[g] = static_cast<T>(Op{}(totals[g], items[t * Items]));
      }
    }
    must_be_same(totals, held->totals.read(stream), "totals");
    must_be_same(expected, held->out.read(stream), "scans");
  };
  return made;
}

// ---------------------------------------------------------------------------- exchange and sorts

enum class mover { scatter, merge_sort, radix_sort, radix_sort_descending };

template <class T, int Threads, int Items, mover What>
STRATA_KERNEL void move_kernel(const T* in, T* out, int* places, const int* valid, int begin_bit, int end_bit) {
  using load = strata::BlockLoad<T, Threads, Items>;
  using store = strata::BlockStore<T, Threads, Items>;
  const int tile = static_cast<int>(blockIdx.x) * Threads * Items;
  T items[Items];
  int values[Items];
  load().Load(in + tile, items);
  strata::LoadDirectBlocked(static_cast<int>(threadIdx.x), places + tile, values);
  const int count = valid[blockIdx.x];
  if constexpr (What == mover::scatter) {
    using exchange = strata::BlockExchange<T, Threads, Items>;
    STRATA_SHARED(storage, typename exchange::TempStorage);
    exchange(storage).ScatterToBlocked(items, values);
    __syncthreads();
    exchange(storage).BlockedToStriped(items);
    __syncthreads();
    exchange(storage).StripedToBlocked(items);
  } else if constexpr (What == mover::merge_sort) {
    using sort = strata::BlockMergeSort<T, Threads, Items, int>;
    STRATA_SHARED(storage, typename sort::TempStorage);
    const auto less = [](const T& a, const T& b) { return a < b; };
    if (count == Threads * Items) {
      sort(storage).Sort(items, values, less);
    } else {
      sort(storage).SortPartialTile(items, values, count, less);
    }
  } else {
    using sort = strata::BlockRadixSort<T, Threads, Items, int>;
    STRATA_SHARED(storage, typename sort::TempStorage);
    if constexpr (What == mover::radix_sort) {
      sort(storage).SortPartialTile(items, values, count, begin_bit, end_bit);
    } else {
      sort(storage).SortDescendingPartialTile(items, values, count, begin_bit, end_bit);
    }
  }
  store().Store(out + tile, items);
  strata::StoreDirectBlocked(static_cast<int>(threadIdx.x), places + tile, values);
}

template <class T, int Threads, int Items, mover What>
problem move(source& random) {
  const std::size_t groups = 1 + random.below(6);
  constexpr std::size_t tile = std::size_t{Threads} * Items;
  const auto held = std::make_shared<tiles<T>>(groups, tile, random);
  bit_range bits{0, 0};
  if constexpr (What == mover::radix_sort || What == mover::radix_sort_descending) {
    bits = random_bit_range<T>(random);
  }
  problem made;
  made.what = shape_of(What == mover::scatter      ? "exchange"
                       : What == mover::merge_sort ? "merge sort"
                                                   : "radix sort",
                       name_of<T>(), Threads, Items, groups) +
              ", bits " + std::to_string(bits.begin) + " to " + std::to_string(bits.end);
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, 0, tile, stream); };
  made.call = launches(groups, Threads, move_kernel<T, Threads, Items, What>, static_cast<const T*>(held->in.data()),
                       held->out.data(), held->places.data(), static_cast<const int*>(held->valid.data()), bits.begin,
                       bits.end);
  made.check = [held, bits](cudaStream_t stream) {
    std::vector<T> found = held->out.read(stream);
    const std::vector<int> values = held->places.read(stream);
    std::vector<T> expected(found.size());
    std::vector<int> moved = held->host_places;
    for (std::size_t g = 0; g < held->groups; ++g) {
      const T* const items = held->items_of(g);
      const int* const places = held->host_places.data() + g * tile;
      if constexpr (What == mover::scatter) {
        for (std::size_t i = 0; i < tile; ++i) {
          expected[g * tile + static_cast<std::size_t>(places[i])] = items[i];
        }
        continue;
      }
      const auto count = static_cast<std::size_t>(held->host_valid[g]);
      std::vector<std::size_t> order(count);
      if constexpr (What == mover::merge_sort) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return items[a] < items[b]; });
      } else if constexpr (What != mover::scatter) {
        order = sorted_order(items, count, bits, What == mover::radix_sort_descending);
      }
      for (std::size_t i = 0; i < tile; ++i) {
        // Items that are not valid may have any result.
        expected[g * tile + i] = i < count ? items[order[i]] : found[g * tile + i];
        moved[g * tile + i] = i < count ? places[order[i]] : values[g * tile + i];
      }
    }
    must_be_same(expected, found, "items");
    must_be_same(moved, values, "values");
  };
  return made;
}

// ---------------------------------------------------------------------------- logical warps

/// The lanes of a warp that a logical warp occupies: its width if that is a power of two, otherwise the whole warp.
template <int Width>
inline constexpr int lanes_of_warp = (Width & (Width - 1)) == 0 ? Width : 32;

template <class T, int Threads, int Width, int Items, class Op>
STRATA_KERNEL void warps_kernel(const T* in, T* out, T* totals, int* places, const int* valid, T init) {
  using load = strata::WarpLoad<T, Items, strata::WARP_LOAD_TRANSPOSE, Width>;
  using store = strata::WarpStore<T, Items, strata::WARP_STORE_TRANSPOSE, Width>;
  using reduce = strata::WarpReduce<T, Width>;
  using scan = strata::WarpScan<T, Width>;
  using sort = strata::WarpMergeSort<int, Items, Width>;
  using exchange = strata::WarpExchange<T, Items, Width>;
  constexpr int warps = Threads / lanes_of_warp<Width>;
  STRATA_SHARED(load_storage, typename load::TempStorage[warps]);
  STRATA_SHARED(store_storage, typename store::TempStorage[warps]);
  STRATA_SHARED(reduce_storage, typename reduce::TempStorage[warps]);
  STRATA_SHARED(scan_storage, typename scan::TempStorage[warps]);
  STRATA_SHARED(sort_storage, typename sort::TempStorage[warps]);
  STRATA_SHARED(exchange_storage, typename exchange::TempStorage[warps]);
  const int warp = static_cast<int>(threadIdx.x) / lanes_of_warp<Width>;
  const int lane = static_cast<int>(threadIdx.x) % lanes_of_warp<Width>;
  if (lane >= Width) return;
  const int group = static_cast<int>(blockIdx.x) * warps + warp;
  const int tile = group * Width * Items;
  T items[Items];
  int values[Items];
  load(load_storage[warp]).Load(in + tile, items);
  strata::LoadDirectBlocked(lane, places + tile, values);
  exchange(exchange_storage[warp]).BlockedToStriped(items, items);
  exchange(exchange_storage[warp]).StripedToBlocked(items, items);
  const T total = reduce(reduce_storage[warp]).Reduce(items[0], Op{}, valid[group]);
  if (lane == 0) totals[group] = total;
  // Scans the first item of each thread. The others stay as they are.
  scan(scan_storage[warp]).ExclusiveScan(items[0], items[0], init, Op{});
  sort(sort_storage[warp]).Sort(values, [](int a, int b) { return b < a; });
  store(store_storage[warp]).Store(out + tile, items);
  strata::StoreDirectBlocked(lane, places + tile, values);
}

template <class T, int Threads, int Width, int Items, class Op>
problem warps(source& random) {
  const std::size_t blocks = 1 + random.below(4);
  constexpr std::size_t tile = std::size_t{Width} * Items;
  const auto held = std::make_shared<tiles<T>>(blocks * (Threads / lanes_of_warp<Width>), tile, random);
  const T init = item_of<T>(random());
  problem made;
  made.what = shape_of("logical warps", name_of<T>(), Width, Items, held->groups);
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, 1, Width, stream); };
  made.call = launches(blocks, Threads, warps_kernel<T, Threads, Width, Items, Op>,
                       static_cast<const T*>(held->in.data()), held->out.data(), held->totals.data(),
                       held->places.data(), static_cast<const int*>(held->valid.data()), init);
  made.check = [held, init](cudaStream_t stream) {
    std::vector<T> expected = held->items;
    std::vector<T> totals(held->groups);
    std::vector<int> places = held->host_places;
    for (std::size_t g = 0; g < held->groups; ++g) {
      const T* const items = held->items_of(g);
      T sum = init;
      totals[g] = items[0];
      for (int lane = 0; lane < Width; ++lane) {
        expected[g * tile + static_cast<std::size_t>(lane * Items)] = sum;
        sum = static_cast<T>(Op{}(sum, items[lane * Items]));
        if (lane > 0 && lane < held->host_valid[g]) {
          totals[g] = static_cast<T>(Op{}(totals[g], items[lane * Items]));
        }
      }
      const auto first = places.begin() + static_cast<std::ptrdiff_t>(g * tile);
      std::sort(first, first + static_cast<std::ptrdiff_t>(tile), [](int a, int b) { return b < a; });
    }
    must_be_same(totals, held->totals.read(stream), "totals");
    must_be_same(expected, held->out.read(stream), "items");
    must_be_same(places, held->places.read(stream), "sorted numbers");
  };
  return made;
}

const std::vector<maker> makers = {
    copy<std::int32_t, 128, 4, strata::BLOCK_LOAD_DIRECT, strata::BLOCK_STORE_DIRECT>,
    copy<std::uint8_t, 96, 5, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_STRIPED>,
    copy<std::uint16_t, 64, 8, strata::BLOCK_LOAD_VECTORIZE, strata::BLOCK_STORE_VECTORIZE>,
    copy<bytes12, 128, 3, strata::BLOCK_LOAD_TRANSPOSE, strata::BLOCK_STORE_TRANSPOSE>,
    copy<double, 128, 7, strata::BLOCK_LOAD_WARP_TRANSPOSE, strata::BLOCK_STORE_WARP_TRANSPOSE>,
    copy<bytes24, 64, 4, strata::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>,
    fold<affine8, 128, 3, strata::BLOCK_REDUCE_RAKING, strata::BLOCK_SCAN_RAKING, compose>,
    fold<affine16, 100, 2, strata::BLOCK_REDUCE_WARP_REDUCTIONS, strata::BLOCK_SCAN_WARP_SCANS, compose>,
    fold<std::uint32_t, 256, 4, strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, strata::BLOCK_SCAN_RAKING_MEMOIZE,
         strata::Sum>,
    fold<bytes3, 33, 5, strata::BLOCK_REDUCE_WARP_REDUCTIONS, strata::BLOCK_SCAN_WARP_SCANS, wrapping_sum>,
    move<std::uint64_t, 128, 5, mover::scatter>,
    move<bytes12, 96, 4, mover::scatter>,
    move<std::int32_t, 128, 7, mover::merge_sort>,
    move<bytes24, 64, 3, mover::merge_sort>,
    move<std::uint8_t, 64, 11, mover::radix_sort>,
    move<float, 128, 6, mover::radix_sort_descending>,
    move<std::int64_t, 96, 3, mover::radix_sort>,
    warps<affine8, 128, 32, 3, compose>,
    warps<affine16, 64, 8, 2, compose>,
    warps<std::uint32_t, 96, 16, 4, strata::Sum>,
    warps<bytes3, 64, 5, 3, wrapping_sum>,
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("block", makers, count, values); }

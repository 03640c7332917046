// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Block primitives that work in shared memory, in kernels that do little else: each block loads its items once, calls
// the primitive on them over and over, and stores the result. Rivals:
//
//   plain          a tree with bank conflicts: the same code in the plain layout
//   hillis_steele  a scan without bank conflicts, but with more additions
//   cub            CUB's exchange

#include <cub/block/block_exchange.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/classic/block_blelloch_scan.cuh>
#include <strata/block/classic/block_hillis_steele_scan.cuh>
#include <strata/block/classic/block_tree_reduce.cuh>
#include <strata/core/launcher.cuh>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace shared_memory_benchmark {

// ------------------------------------------------------------------ work on a block's items

/// What the kernel must know of a primitive: the item's type, the block's shape, the storage.
template <class T, int Threads, int Items, class Primitive>
struct work_with {
  using type = T;
  using primitive = Primitive;
  using storage = typename Primitive::TempStorage;
  static constexpr int threads = Threads;
  static constexpr int items_per_thread = Items;
  static constexpr int blocks_per_multiprocessor = 1;
};

/// Limits the registers to those of full occupancy, for all layouts of a tree. Without the limit, the loop of the
/// kernel tempts the compiler to keep the addresses of all levels in registers.
template <class T, int Threads, int Items, class Primitive>
struct full_work_with : work_with<T, Threads, Items, Primitive> {
  static constexpr int blocks_per_multiprocessor = 2048 / Threads;
};

/// Writes the sum to the item of thread 0, so that the next round depends on it.
template <class T, class Layout = strata::TreeLayout<T, 1024>>
struct tree_reduce : full_work_with<T, 1024, 1, strata::BlockTreeReduce<T, 1024, Layout>> {
  static STRATA_D void run(typename tree_reduce::storage& storage, T (&items)[1]) {
    const T sum = typename tree_reduce::primitive(storage).Sum(items[0]);
    if (threadIdx.x == 0) items[0] = sum;
  }
};

template <class T, class Layout = strata::TreeLayout<T, 1024>>
struct blelloch_scan : full_work_with<T, 512, 2, strata::BlockBlellochScan<T, 512, 1024, Layout>> {
  static STRATA_D void run(typename blelloch_scan::storage& storage, T (&items)[2]) {
    typename blelloch_scan::primitive(storage).ExclusiveSum(items, items);
  }
};

template <class T>
struct hillis_steele_scan : full_work_with<T, 1024, 1, strata::BlockHillisSteeleScan<T, 1024>> {
  static STRATA_D void run(typename hillis_steele_scan::storage& storage, T (&items)[1]) {
    typename hillis_steele_scan::primitive(storage).ExclusiveSum(items[0], items[0]);
  }
};

/// From striped to blocked arrangement and back, so that the items stay as they are.
template <class T, int Items, class Exchange>
struct exchange : work_with<T, 128, Items, Exchange> {
  static STRATA_D void run(typename exchange::storage& storage, T (&items)[Items]) {
    Exchange(storage).StripedToBlocked(items, items);
    __syncthreads();
    Exchange(storage).BlockedToStriped(items, items);
  }
};
template <class T, int Items>
using strata_exchange = exchange<T, Items, strata::BlockExchange<T, 128, Items>>;
template <class T, int Items>
using cub_exchange = exchange<T, Items, cub::BlockExchange<T, 128, Items>>;

template <class Work>
STRATA_KERNEL void __launch_bounds__(Work::threads, Work::blocks_per_multiprocessor)
    repeat_kernel(const typename Work::type* in, typename Work::type* out, int repetitions) {
  STRATA_SHARED(storage, typename Work::storage);
  constexpr int count = Work::items_per_thread;
  typename Work::type items[count];
  const std::size_t first = (std::size_t{blockIdx.x} * Work::threads + threadIdx.x) * count;
  for (int i = 0; i < count; ++i) items[i] = in[first + i];
  STRATA_UNROLL_N(1)
  for (int i = 0; i < repetitions; ++i) {
    Work::run(storage, items);
    __syncthreads();
  }
  for (int i = 0; i < count; ++i) out[first + i] = items[i];
}

}  // namespace shared_memory_benchmark

namespace {

using bench::device_array;
using bench::environment;
using bench::workload;
using namespace shared_memory_benchmark;

constexpr int repetitions = 200;
constexpr int blocks = 4096;

template <class Work>
constexpr int items_per_block = Work::threads* Work::items_per_thread;

template <class Work>
bench::peer repeating_peer(const char* name, const device_array<typename Work::type>& in,
                           const device_array<typename Work::type>& out) {
  return {name, [=](cudaStream_t stream) {
            return strata::launch({name, dim3(blocks), dim3(static_cast<unsigned>(Work::threads)), 0, stream},
                                  repeat_kernel<Work>, in.data(), out.data(), repetitions);
          }};
}

/// Adds a case: the work of strata, and rivals that give the same result.
template <class Work, class... Rivals, class... Names>
void add(bench::suite& suite, const char* algorithm, const char* type, const char* data_case, Names... names) {
  static_assert(((items_per_block<Rivals> == items_per_block<Work>)&&...));
  using T = typename Work::type;
  const auto prepare = [names...](const environment& env) {
    const auto in = bench::random_array<T>(std::int64_t{blocks} * items_per_block<Work>, env.settings.seed, env.stream);
    const device_array<T> out(in.size());
    out.fill_bytes(0xa5, env.stream);
    workload work;
    work.bytes = static_cast<double>(in.bytes()) * repetitions;
    work.peers.push_back(repeating_peer<Work>("strata", in, out));
    std::vector<device_array<T>> references;
    const auto add_rival = [&](const bench::peer& rival, const device_array<T>& result) {
      result.fill_bytes(0x5a, env.stream);
      work.peers.push_back(rival);
      references.push_back(result);
    };
    const auto add_rivals = [&](auto... results) {
      (add_rival(repeating_peer<Rivals>(names, in, results), results), ...);
    };
    add_rivals((static_cast<void>(names), device_array<T>(in.size()))...);
    const cudaStream_t stream = env.stream;
    work.verify = [=] {
      std::string wrong;
      for (const device_array<T>& reference : references) {
        if (wrong.empty()) wrong = bench::difference(out, reference, {}, stream);
      }
      return wrong;
    };
    return work;
  };
  const std::int64_t n = std::int64_t{blocks} * items_per_block<Work> * repetitions;
  bench::benchmark_case what{algorithm, type, data_case, n, bench::timing::batched, prepare};
  what.rivals = {names...};
  what.beside_copy = false;
  suite.add(what);
}

template <class T>
void add_trees(bench::suite& suite, const char* type) {
  using strata::PlainLayout;
  add<tree_reduce<T>, tree_reduce<T, PlainLayout>>(suite, "BlockTreeReduce::Sum", type, "1024", "plain");
  add<blelloch_scan<T>, blelloch_scan<T, PlainLayout>, hillis_steele_scan<T>>(suite, "BlockBlellochScan::ExclusiveSum",
                                                                              type, "1024", "plain", "hillis_steele");
}

template <class T, int Items>
void add_exchange(bench::suite& suite, const char* type) {
  static const std::string data_case = "128x" + std::to_string(Items);
  add<strata_exchange<T, Items>, cub_exchange<T, Items>>(suite, "BlockExchange::StripedToBlocked+BlockedToStriped",
                                                         type, data_case.c_str(), "cub");
}

void add_cases(bench::suite& suite) {
  add_trees<std::uint32_t>(suite, "u32");
  add_trees<std::uint64_t>(suite, "u64");
  add_exchange<std::uint32_t, 24>(suite, "u32");
  add_exchange<std::uint64_t, 12>(suite, "u64");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("shared_memory", argc, argv, add_cases); }

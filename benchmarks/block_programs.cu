// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares the block collectives of both libraries in kernels that real programs use: the k greatest scores of a row,
// as gates of mixture-of-experts models choose experts, by reductions and by a block sort; block sorts of pairs from
// device memory and back; a block scan of counts.

#include <cub/thread/thread_operators.cuh>
#include <cuda/functional>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>

#include <cstdint>
#include <string>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_programs_benchmark {

using bench::device_array;
using bench::environment;
using bench::on_cub;
using bench::on_strata;

template <class Library>
struct arg_max;
template <>
struct arg_max<on_strata> {
  using pair = strata::KeyValuePair<int, float>;
  using best = strata::ArgMax;
};
template <>
struct arg_max<on_cub> {
  using pair = cub::KeyValuePair<int, float>;
  using best = cub::ArgMax;
};

// ------------------------------------------------------------------ the k greatest of a row

inline constexpr int experts = 384;
inline constexpr int chosen = 8;
inline constexpr int rows = 4096;

/// One block per row: the maximum first, then `chosen` reductions of (index, score) pairs.
template <class Library>
__global__ void __launch_bounds__(256) choose_by_reductions(const float* scores, float* values, int* indices, int n) {
  using pair = typename arg_max<Library>::pair;
  using reduce_pairs = typename Library::template BlockReduce<pair, 256>;
  using reduce = typename Library::template BlockReduce<float, 256>;
  STRATA_SHARED(pair_storage, typename reduce_pairs::TempStorage);
  STRATA_SHARED(storage, typename reduce::TempStorage);
  STRATA_SHARED(greatest, float);
  const float* row = scores + std::size_t{blockIdx.x} * static_cast<unsigned>(n);
  const int thread = static_cast<int>(threadIdx.x);
  float own = -1e30f;
  for (int i = thread; i < n; i += 256) own = fmaxf(own, row[i]);
  const float all = reduce(storage).Reduce(own, cuda::maximum<>{});
  if (thread == 0) greatest = all;
  __syncthreads();
  for (int j = 0; j < chosen; ++j) {
    typename arg_max<Library>::best better;
    pair best;
    best.key = 0;
    best.value = -1.0f;
    for (int i = thread; i < n; i += 256) {
      pair one;
      one.key = i;
      one.value = row[i] / greatest;
      for (int before = 0; before < j; ++before) {
        if (indices[blockIdx.x * chosen + static_cast<unsigned>(before)] == i) one = best;
      }
      best = better(one, best);
    }
    const pair found = reduce_pairs(pair_storage).Reduce(best, better);
    if (thread == 0) {
      values[blockIdx.x * chosen + static_cast<unsigned>(j)] = found.value;
      indices[blockIdx.x * chosen + static_cast<unsigned>(j)] = found.key;
    }
    __syncthreads();
  }
}

/// One block per row: a descending sort of (score, index) pairs. The first ones are kept.
template <class Library>
__global__ void __launch_bounds__(128) choose_by_sort(const float* scores, float* values, int* indices, int n) {
  constexpr int items = experts / 128;
  using sorter = typename Library::template BlockRadixSort<float, 128, items, int>;
  STRATA_SHARED(storage, typename sorter::TempStorage);
  const float* row = scores + std::size_t{blockIdx.x} * static_cast<unsigned>(n);
  float keys[items];
  int places[items];
  STRATA_UNROLL
  for (int i = 0; i < items; ++i) {
    places[i] = static_cast<int>(threadIdx.x) * items + i;
    keys[i] = places[i] < n ? row[places[i]] : -1.0f;
  }
  sorter(storage).SortDescending(keys, places);
  STRATA_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned rank = threadIdx.x * items + static_cast<unsigned>(i);
    if (rank < chosen) {
      values[blockIdx.x * chosen + rank] = keys[i];
      indices[blockIdx.x * chosen + rank] = places[i];
    }
  }
}

// ------------------------------------------------------------------ tiles sorted from device memory and back

/// Odd blocks sort in descending order, so that both directions are compiled into one kernel.
template <class Library, class T>
__global__ void __launch_bounds__(256)
    sort_tiles(const T* keys_in, T* keys_out, const unsigned* values_in, unsigned* values_out) {
  using sorter = typename Library::template BlockRadixSort<T, 256, 8, unsigned>;
  using loader = typename Library::template BlockLoad<T, 256, 8, Library::load_warp_transpose>;
  using storer = typename Library::template BlockStore<T, 256, 8, Library::store_warp_transpose>;
  using value_loader = typename Library::template BlockLoad<unsigned, 256, 8, Library::load_warp_transpose>;
  using value_storer = typename Library::template BlockStore<unsigned, 256, 8, Library::store_warp_transpose>;
  union memory {
    typename sorter::TempStorage sort;
    typename loader::TempStorage load;
    typename storer::TempStorage store;
    typename value_loader::TempStorage load_values;
    typename value_storer::TempStorage store_values;
  };
  STRATA_SHARED(storage, memory);
  T keys[8];
  unsigned values[8];
  const unsigned first = blockIdx.x * 2048;
  loader(storage.load).Load(keys_in + first, keys);
  __syncthreads();
  value_loader(storage.load_values).Load(values_in + first, values);
  __syncthreads();
  if (blockIdx.x % 2 != 0) {
    sorter(storage.sort).SortDescending(keys, values);
  } else {
    sorter(storage.sort).Sort(keys, values);
  }
  __syncthreads();
  storer(storage.store).Store(keys_out + first, keys);
  __syncthreads();
  value_storer(storage.store_values).Store(values_out + first, values);
}

// ------------------------------------------------------------------ a scan of two counts

struct two_counts {
  unsigned greater;
  unsigned equal;
};
struct add_counts {
  __device__ two_counts operator()(const two_counts& a, const two_counts& b) const {
    return {a.greater + b.greater, a.equal + b.equal};
  }
};

template <class Library>
__global__ void __launch_bounds__(256) scan_counts(const unsigned* in, std::uint64_t* out) {
  using scan = typename Library::template BlockScan<two_counts, 256, Library::scan_memoize>;
  STRATA_SHARED(storage, typename scan::TempStorage);
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  const two_counts own{in[i] > 0x80000000u, in[i] % 4 == 0};
  two_counts before, total;
  scan(storage).ExclusiveScan(own, before, two_counts{0, 0}, add_counts{}, total);
  out[i] = std::uint64_t{before.greater + total.greater} << 32 | before.equal;
}

// ------------------------------------------------------------------ cases

template <class... Parameters>
bench::kernel_use use_of(void (*kernel)(Parameters...), int threads) {
  return bench::use_of_kernel(reinterpret_cast<const void*>(kernel), threads);
}

/// The two output arrays of a kernel.
template <class First, class Second>
struct results {
  device_array<First> first;
  device_array<Second> second;
  results(std::size_t firsts, std::size_t seconds, cudaStream_t stream) : first(firsts), second(seconds) {
    first.fill_bytes(0, stream);
    second.fill_bytes(0, stream);
  }
};

template <class First, class Second>
std::string difference(const results<First, Second>& ours, const results<First, Second>& theirs, cudaStream_t stream) {
  const std::string wrong = bench::difference(ours.first, theirs.first, {}, stream);
  return wrong.empty() ? bench::difference(ours.second, theirs.second, {}, stream) : wrong;
}

struct program {
  const char* algorithm;
  const char* type;
  const char* data_case;
  std::int64_t n;
  unsigned blocks;
  int threads;
};

/// Adds a case. `prepare(environment)` makes the inputs and returns a `prepared`. Its `launch(shape, kernel, results)`
/// launches the kernel of either library.
template <class First, class Second, class Prepare>
void add(bench::suite& all, const program& what, std::size_t firsts, std::size_t seconds, Prepare prepare) {
  const auto prepare_case = [=](const environment& env) {
    const auto made_ready = prepare(env);
    const auto launch = made_ready.launch;
    const results<First, Second> ours(firsts, seconds, env.stream), theirs(firsts, seconds, env.stream);
    bench::workload work;
    const auto peer = [&](const char* lib, auto kernel, const results<First, Second>& out) {
      const strata::launch_configuration shape{lib, dim3(what.blocks), dim3(static_cast<unsigned>(what.threads))};
      bench::peer made{lib, [=](cudaStream_t stream) {
                         strata::launch_configuration on_stream = shape;
                         on_stream.stream = stream;
                         return launch(on_stream, kernel, out);
                       }};
      made.use = use_of(kernel, what.threads);
      return made;
    };
    work.peers = {peer("strata", made_ready.of_strata, ours), peer("cub", made_ready.of_cub, theirs)};
    work.bytes = made_ready.bytes;
    const cudaStream_t stream = env.stream;
    work.verify = [=] { return difference(ours, theirs, stream); };
    return work;
  };
  bench::benchmark_case one{what.algorithm, what.type, what.data_case, what.n, bench::timing::batched, prepare_case};
  one.beside_copy = false;
  all.add(std::move(one));
}

template <class Kernel, class Launch>
struct prepared {
  Kernel of_strata;
  Kernel of_cub;
  Launch launch;
  double bytes;
};
template <class Kernel, class Launch>
prepared(Kernel, Kernel, Launch, double) -> prepared<Kernel, Launch>;

void add_choice(bench::suite& all, const program& what, void (*ours)(const float*, float*, int*, int),
                void (*theirs)(const float*, float*, int*, int)) {
  constexpr std::size_t results = std::size_t{rows} * chosen;
  add<float, int>(all, what, results, results, [=](const environment& env) {
    const auto scores = bench::random_array<float>(std::int64_t{rows} * experts, env.settings.seed, env.stream);
    const auto launch = [=](const auto& shape, auto kernel, const auto& out) {
      return strata::launch(shape, kernel, scores.data(), out.first.data(), out.second.data(), experts);
    };
    return prepared{ours, theirs, launch, static_cast<double>(scores.bytes())};
  });
}

template <class T>
void add_sort(bench::suite& all) {
  constexpr unsigned blocks = 1024;
  constexpr std::int64_t n = std::int64_t{blocks} * 2048;
  const program what{"program: block sort of pairs", bench::type_name<T>(), "tiles of 2048", n, blocks, 256};
  add<T, unsigned>(all, what, n, n, [=](const environment& env) {
    const auto keys = bench::random_array<T>(n, env.settings.seed, env.stream);
    const auto values = bench::random_array<unsigned>(n, env.settings.seed + 1, env.stream);
    const auto launch = [=](const auto& shape, auto kernel, const auto& out) {
      return strata::launch(shape, kernel, keys.data(), out.first.data(), values.data(), out.second.data());
    };
    return prepared{sort_tiles<on_strata, T>, sort_tiles<on_cub, T>, launch,
                    2.0 * static_cast<double>(keys.bytes() + values.bytes())};
  });
}

void add_cases(bench::suite& all) {
  constexpr std::int64_t scores = std::int64_t{rows} * experts;
  add_choice(all, {"program: top-k of experts by reductions", "f32", "8 of 384", scores, rows, 256},
             choose_by_reductions<on_strata>, choose_by_reductions<on_cub>);
  add_choice(all, {"program: top-k of experts by a block sort", "f32", "8 of 384", scores, rows, 128},
             choose_by_sort<on_strata>, choose_by_sort<on_cub>);
  add_sort<std::uint32_t>(all);
  add_sort<float>(all);
  add_sort<__half>(all);
  constexpr unsigned blocks = 4096;
  constexpr std::int64_t n = std::int64_t{blocks} * 256;
  add<std::uint64_t, unsigned>(
      all, {"program: block scan of two counts", "u32", "tiles of 256", n, blocks, 256}, n, 1,
      [=](const environment& env) {
        const auto in = bench::random_array<unsigned>(n, env.settings.seed, env.stream);
        const auto launch = [=](const auto& shape, auto kernel, const auto& out) {
          return strata::launch(shape, kernel, in.data(), out.first.data());
        };
        return prepared{scan_counts<on_strata>, scan_counts<on_cub>, launch, 3.0 * static_cast<double>(in.bytes())};
      });
}

}  // namespace block_programs_benchmark

int main(int argc, char** argv) {
  return bench::run("block_programs", argc, argv, block_programs_benchmark::add_cases, bench::more_columns::kernel);
}

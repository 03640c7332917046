// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions of a single thread, iterators and utilities. See calls.cuh.

struct descending {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) {  // not const
    return b < a;
  }
};

inline void thread_loads_and_stores(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_ACCESS(name, Load, Store)                                                     \
  all.block<32>(name, [] __device__(const int* in, int* out) {                               \
    lib::ThreadStore<lib::Store>(out + thread(), lib::ThreadLoad<lib::Load>(in + thread())); \
    const auto* const wide_in = reinterpret_cast<const int4*>(in);                           \
    const int4 wide = lib::ThreadLoad<lib::Load>(wide_in + thread());                        \
    lib::ThreadStore<lib::Store>(reinterpret_cast<int4*>(out + 1024) + thread(), wide);      \
    const auto* const bytes = reinterpret_cast<const signed char*>(in);                      \
    lib::ThreadStore<lib::Store>(reinterpret_cast<signed char*>(out + 2048) + thread(),      \
                                 lib::ThreadLoad<lib::Load>(bytes + thread()));              \
  })
  STRATA_ACCESS("ThreadLoad: LOAD_DEFAULT, STORE_DEFAULT", LOAD_DEFAULT, STORE_DEFAULT);
  STRATA_ACCESS("ThreadLoad: LOAD_CA, STORE_WB", LOAD_CA, STORE_WB);
  STRATA_ACCESS("ThreadLoad: LOAD_CG, STORE_CG", LOAD_CG, STORE_CG);
  STRATA_ACCESS("ThreadLoad: LOAD_CS, STORE_CS", LOAD_CS, STORE_CS);
  STRATA_ACCESS("ThreadStore: LOAD_CV, STORE_WT", LOAD_CV, STORE_WT);
  STRATA_ACCESS("ThreadStore: LOAD_LDG, STORE_DEFAULT", LOAD_LDG, STORE_DEFAULT);
  STRATA_ACCESS("ThreadStore: LOAD_VOLATILE, STORE_VOLATILE", LOAD_VOLATILE, STORE_VOLATILE);
#undef STRATA_ACCESS
}

inline void thread_algorithms(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<32>("ThreadReduce: an array, cuda::std::plus", [] __device__(const int* in, int* out) {
    int items[5];
    take(in, items);
    out[thread()] = lib::ThreadReduce(items, cuda::std::plus<>{});
    out[1024 + thread()] = lib::ThreadReduce(items, cuda::maximum<>{}, 500);
  });
  all.block<32>("ThreadReduce: cuda::std::array", [] __device__(const int* in, int* out) {
    cuda::std::array<int, 4> items;
    for (int i = 0; i < 4; ++i) items[static_cast<unsigned>(i)] = in[thread() * 4 + i];
    out[thread()] = lib::ThreadReduce(items, cuda::std::plus<>{});
    out[1024 + thread()] = static_cast<int>(lib::ThreadReduce(items, cuda::minimum<>{}, 5LL));
  });
  all.block<32>("StableOddEvenSort: pairs, and keys with NullType", [] __device__(const int* in, int* out) {
    int keys[6], values[6];
    take(in, keys);
    for (int i = 0; i < 6; ++i) {
      keys[i] /= 200;
      values[i] = i;
    }
    lib::StableOddEvenSort(keys, values, descending());
    keep(out, keys);
    keep(out, values, 1024);
    int more[5];
    lib::NullType none[5];
    take(in, more);
    lib::StableOddEvenSort(more, none, cuda::std::less<>{});
    keep(out, more, 2048);
  });
  // Two sorted runs: keys 0 to 40, and 41 to 99.
  all.block<32>("MergePath: and SerialMerge", [] __device__(const int* in, int* out) {
    __shared__ int keys[100];
    if (threadIdx.x == 0) {
      int sum = 0;
      for (int i = 0; i < 100; ++i) keys[i] = sum = (i == 41 ? 0 : sum) + in[i] % 9;
    }
    __syncthreads();
    if (thread() >= 25) return;
    const int diagonal = thread() * 4;
    const int begin = lib::MergePath(keys, keys + 41, 41, 59, diagonal, cuda::std::less<>{});
    int merged[4], indices[4];
    lib::SerialMerge(keys, begin, 41 + diagonal - begin, 41 - begin, 59 - (diagonal - begin), merged, indices,
                     cuda::std::less<>{});
    out[1024 + thread()] = begin;
    keep(out, merged);
    keep(out, indices, 2048);
  });
  all.block<32>("SerialMerge: the last items", [] __device__(const int*, int* out) {
    __shared__ int keys[8];
    if (threadIdx.x < 8) keys[threadIdx.x] = thread() % 4 * 2 + thread() / 4;
    __syncthreads();
    int merged[8], indices[8];
    lib::SerialMerge(keys, 0, 4, 4, 4, merged, indices, cuda::std::less<>{});
    if (threadIdx.x == 0) keep(out, merged);
  });
  all.block<32>("LowerBound: and UpperBound", [] __device__(const int* in, int* out) {
    __shared__ int sorted[64];
    for (int i = thread(); i < 64; i += 32) sorted[i] = i / 3 * 10;
    __syncthreads();
    out[thread()] = lib::LowerBound(sorted, 64, in[thread()] % 220);
    out[1024 + thread()] = lib::UpperBound(sorted, 64, thread() * 10);
  });
  all.block<32>("UpperBound: 64-bit counts", [] __device__(const int* in, int* out) {
    __shared__ int sorted[64];
    for (int i = thread(); i < 64; i += 32) sorted[i] = i * 15;
    __syncthreads();
    out[thread()] = static_cast<int>(lib::UpperBound(sorted, 64LL, in[thread()]));
  });
  all.block<32>("MergePathSearch: coordinates", [] __device__(const int*, int* out) {
    __shared__ int a[40], b[24];
    for (int i = thread(); i < 40; i += 32) a[i] = i * 3;
    if (threadIdx.x < 24) b[threadIdx.x] = thread() * 5;
    __syncthreads();
    int2 path;
    lib::MergePathSearch(thread() * 2, a, b, 40, 24, path);
    out[thread()] = path.x;
    out[1024 + thread()] = path.y;
  });
}

/// Dereferences an iterator in every way.
template <class Iterator>
__device__ void read_by(Iterator from, int* out) {
  using cub_calls::thread;
  Iterator it = from + thread();
  out[thread()] = static_cast<int>(*it);
  out[64 + thread()] = static_cast<int>(from[thread() + 1]);
  ++it;
  Iterator before = it++;
  it += 3;
  it -= 2;
  out[128 + thread()] = static_cast<int>(*(it - 1));
  out[192 + thread()] = static_cast<int>(it - from);
  out[256 + thread()] = (before == it) * 2 + (before != it);
}

inline void iterators(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<32>("CacheModifiedInputIterator: members", [] __device__(const int* in, int* out) {
    read_by(lib::CacheModifiedInputIterator<lib::LOAD_LDG, int>(in), out);
    read_by(lib::CacheModifiedInputIterator<lib::LOAD_CG, int, int>(in), out + 512);
  });
  all.block<32>("CacheModifiedOutputIterator: members", [] __device__(const int* in, int* out) {
    lib::CacheModifiedOutputIterator<lib::STORE_CG, int> to(out);
    *(to + thread()) = in[thread()];
    to[64 + thread()] = in[thread()] + 1;
    auto next = to + 128;
    next += thread();
    *next = static_cast<int>(next - to);
  });
  all.block<32>("ArgIndexInputIterator: members", [] __device__(const int* in, int* out) {
    lib::ArgIndexInputIterator<const int*, int> indexed(in);
    const auto pair = indexed[thread() + 2];
    out[thread()] = pair.key;
    out[64 + thread()] = pair.value;
    indexed += thread();
    out[128 + thread()] = (*indexed).key;
    out[192 + thread()] = (*indexed).value;
    indexed.normalize();
    out[256 + thread()] = (*indexed).key;
    out[320 + thread()] = (*indexed).value;
    using Pair = typename lib::ArgIndexInputIterator<const int*, int>::value_type;
    const Pair first(0, 5);
    out[384 + thread()] = first.value;
  });
}

struct older_policy;
struct newer_policy;
struct older_policy : lib::ChainedPolicy<500, older_policy, older_policy> {
  static constexpr int block_threads = 64;
};
struct newer_policy : lib::ChainedPolicy<800, newer_policy, older_policy> {
  static constexpr int block_threads = 96;
};
struct threads_of_policy {
  int threads = 0;
  template <class ActivePolicy>
  cudaError_t Invoke() {
    threads = ActivePolicy::block_threads;
    return cudaSuccess;
  }
};
union both_words {
  lib::Uninitialized<unsigned long long> one;
  lib::Uninitialized<uint2> two;
};

inline void utilities(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.value("Log2: of constants", lib::Log2<1>::VALUE + 10 * lib::Log2<17>::VALUE + 1000 * lib::Log2<64>::VALUE);
  all.value("PowerOfTwo: of constants", lib::PowerOfTwo<64>::VALUE + 2 * lib::PowerOfTwo<65>::VALUE);
  int version = 0;
  EXPECT_CUDA_SUCCESS(lib::PtxVersion(version));
  all.value("PtxVersion: of the current device", version);
  EXPECT_CUDA_SUCCESS(lib::SmVersion(version));
  all.value("SmVersion: of the current device", version);
  EXPECT_CUDA_SUCCESS(lib::SmVersion(version, 0));
  all.value("SmVersion: of a device", version);
  threads_of_policy chosen;
  EXPECT_CUDA_SUCCESS(newer_policy::Invoke(version, chosen));
  all.value("ChainedPolicy: Invoke", chosen.threads);
  all.block<32>("ChainedPolicy: ActivePolicy",
                [] __device__(const int*, int* out) { out[thread()] = newer_policy::ActivePolicy::block_threads; });

  int arrays[2] = {1, 2};
  lib::DoubleBuffer<int> buffer(&arrays[0], &arrays[1]);
  all.value("DoubleBuffer: members", *buffer.Current() + 10 * *buffer.Alternate());
  buffer.selector ^= 1;
  all.value("DoubleBuffer: the selector", *buffer.Current() + 10 * *buffer.d_buffers[0]);
  lib::KeyValuePair<int, short> pair(3, static_cast<short>(4));
  using Pair = lib::KeyValuePair<int, short>;
  all.value("KeyValuePair: members", pair.key + 10 * pair.value + 100 * (pair != Pair(3, static_cast<short>(5))) +
                                         static_cast<Pair::Key>(sizeof(Pair::Value)) * 1000);
  all.value("NullType: values are equal", lib::NullType{} == lib::NullType{});
  all.value("CastOp: a conversion", lib::CastOp<signed char>{}(300));
  lib::InequalityWrapper<cuda::std::equal_to<>> differ{cuda::std::equal_to<>{}};
  all.value("InequalityWrapper: of an equality", differ(1, 2) + 2 * differ(3, 3));
  const Pair least = lib::ArgMin{}(Pair(7, 4), Pair(2, 4));
  all.value("ArgMin: equal values", least.key);
  const Pair most = lib::ArgMax{}(Pair(7, 4), Pair(2, 5));
  all.value("ArgMax: two pairs", most.key);

  using FloatBits = lib::Traits<float>;
  for (const unsigned bits : {0u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0x7fc00001u, 0xffc00001u}) {
    all.value("Traits: bits of floats", FloatBits::TwiddleIn(bits));
    all.value("Traits: bits of floats, and back", FloatBits::TwiddleOut(bits));
    all.value("Traits: bits of integers", lib::Traits<int>::TwiddleIn(bits) ^ lib::Traits<unsigned>::TwiddleOut(bits));
  }
  all.value("Traits: types of bits", sizeof(lib::Traits<short>::UnsignedBits) +
                                         10 * std::is_same_v<lib::Traits<double>::UnsignedBits, unsigned long long>);
  all.block<32>("Traits: in a kernel", [] __device__(const int* in, int* out) {
    const auto code = lib::Traits<float>::TwiddleIn(__float_as_uint(static_cast<float>(in[thread()] - 500)));
    out[thread()] = static_cast<int>(code);
    out[64 + thread()] = static_cast<int>(__uint_as_float(lib::Traits<float>::TwiddleOut(code)));
  });

  all.block<16, 4, 2>("RowMajorTid: three dimensions",
                      [] __device__(const int*, int* out) { out[thread()] = lib::RowMajorTid(16, 4, 2); });
  all.block<64>("WarpMask: logical warps", [] __device__(const int*, int* out) {
    out[thread()] = static_cast<int>(lib::WarpMask<8>(threadIdx.x % 32 / 8));
    out[64 + thread()] = static_cast<int>(lib::WarpMask<12>(0));
  });
  all.block<32>("ShuffleUp: and ShuffleDown", [] __device__(const int* in, int* out) {
    out[thread()] = lib::ShuffleUp<32>(in[thread()], 3, 0, 0xffffffffu);
    out[64 + thread()] = lib::ShuffleDown<32>(in[thread()], 2, 31, 0xffffffffu);
  });
  all.block<32>("ShuffleDown: logical warps", [] __device__(const int* in, int* out) {
    const long long item = in[thread()] * (1LL << 31);
    out[thread()] = static_cast<int>(lib::ShuffleDown<8>(item, 1, 7, 0xffffffffu) >> 31);
  });
  all.block<32>("ShuffleIndex: logical warps", [] __device__(const int* in, int* out) {
    out[thread()] = lib::ShuffleIndex<16>(in[thread()], 5, 0xffffffffu);
  });
  all.block<32>("Uninitialized: in shared memory and in a union", [] __device__(const int* in, int* out) {
    __shared__ lib::Uninitialized<int4> storage;
    if (threadIdx.x == 0) storage.Alias() = make_int4(in[0], in[1], in[2], in[3]);
    __syncthreads();
    both_words words;
    words.two.Alias() = make_uint2(static_cast<unsigned>(storage.Alias().x), 1u);
    out[thread()] = static_cast<int>(words.one.Alias() >> 32) + storage.Alias().y;
  });
}

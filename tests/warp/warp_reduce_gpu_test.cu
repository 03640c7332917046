// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares WarpReduce and ThreadReduce with CUB's: one kernel source, with the library as a parameter. Also reduces
// with operators and arrays of libcu++.
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include <cub/thread/thread_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/std/array>
#include <cuda/std/functional>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace warp_reduce_cub_test {

using strata_test::device_vector;
using strata_test::random_items;

constexpr unsigned threads = 96;
constexpr int calls = 6;

/// The place of a thread: results are defined only in the first lane of a logical warp or of a segment.
struct place {
  int lane;
  bool starts_segment[2];  // by head flags, by tail flags
};

template <int Width>
STRATA_HD place place_of(unsigned thread, const int* flags) {
  constexpr unsigned pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  const int lane = static_cast<int>(thread % pitch);
  return {lane, {lane == 0 || flags[thread] != 0, lane == 0 || flags[thread - 1] != 0}};
}

template <template <class, int> class WarpReduce, class T, int Width, class Operator>
STRATA_KERNEL void reduce_in_every_form(const T* in, const int* flags, int valid_items, T* out, Operator op) {
  using reducer = WarpReduce<T, Width>;
  constexpr unsigned pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  STRATA_SHARED(storages, typename reducer::TempStorage[threads / pitch]);
  const place here = place_of<Width>(threadIdx.x, flags);
  if (here.lane >= Width) return;

  typename reducer::TempStorage& temp_storage = storages[threadIdx.x / pitch];
  const unsigned mask = (0xffffffffu >> (32 - Width)) << (threadIdx.x % 32 / pitch * pitch);
  const T item = in[threadIdx.x];
  const int flag = flags[threadIdx.x];
  T results[calls];
  results[0] = reducer(temp_storage).Reduce(item, op);
  __syncwarp(mask);
  results[1] = reducer(temp_storage).Reduce(item, op, valid_items);
  __syncwarp(mask);
  results[2] = reducer(temp_storage).Sum(item);
  __syncwarp(mask);
  results[3] = reducer(temp_storage).Sum(item, valid_items);
  __syncwarp(mask);
  results[4] = reducer(temp_storage).HeadSegmentedReduce(item, flag, op);
  __syncwarp(mask);
  results[5] = reducer(temp_storage).TailSegmentedReduce(item, flag, op);
  for (int i = 0; i < calls; ++i) out[calls * threadIdx.x + i] = results[i];
}

template <class T, int Width, class Operator>
void compare(Operator op) {
  SCOPED_TRACE(testing::Message() << Width << " lanes of " << sizeof(T) << " bytes");
  const device_vector<T> in(random_items<T>(threads, Width, 7));
  const std::vector<int> flags = strata_test::random_integers(threads, 0, 1, 1000 + Width);
  const device_vector<int> flags_in(flags);
  for (int valid_items = 1; valid_items <= Width; valid_items += Width / 4 + 1) {
    device_vector<T> ours(threads * calls), cubs(threads * calls);
    ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, threads},
                                       reduce_in_every_form<strata::WarpReduce, T, Width, Operator>, in.data(),
                                       flags_in.data(), valid_items, ours.data(), op));
    ASSERT_CUDA_SUCCESS(strata::launch({"cub", 1, threads}, reduce_in_every_form<cub::WarpReduce, T, Width, Operator>,
                                       in.data(), flags_in.data(), valid_items, cubs.data(), op));
    const std::vector<T> our_results = ours.to_host(), cub_results = cubs.to_host();
    for (unsigned thread = 0; thread < threads; ++thread) {
      const place here = place_of<Width>(thread, flags.data());
      if (here.lane >= Width) continue;
      for (int call = 0; call < calls; ++call) {
        if (call < 4 ? here.lane != 0 : !here.starts_segment[call - 4]) continue;
        const std::size_t i = static_cast<std::size_t>(call) + calls * thread;
        EXPECT_TRUE(our_results[i] == cub_results[i])
            << "call " << call << ", thread " << thread << ", valid_items " << valid_items;
      }
    }
  }
}

TEST(warp_reduce_beside_cub, integers_in_hardware_and_by_shuffles) {
  compare<int, 32>(cuda::std::plus<>{});
  compare<int, 32>(strata::Sum{});
  compare<int, 8>(cuda::maximum<>{});
}

TEST(warp_reduce_beside_cub, odd_widths) { compare<float, 13>(strata_test::plain_sum{}); }

TEST(warp_reduce_beside_cub, structs_and_halves) {
  compare<strata_test::struct12, 16>(strata_test::plain_sum{});
  compare<__half, 32>(strata_test::plain_sum{});
}

// ---------------------------------------------------------------------------- ThreadReduce
STRATA_KERNEL void reduce_in_thread(const short* in, int* out) {
  short items[6];
  cuda::std::array<short, 6> array;
  for (int i = 0; i < 6; ++i) {
    items[i] = in[6 * threadIdx.x + i];
    array[i] = items[i];
  }
  out[6 * threadIdx.x] = cub::ThreadReduce(items, cuda::std::plus<>{});
  out[6 * threadIdx.x + 1] = strata::ThreadReduce(items, cuda::std::plus<>{});
  out[6 * threadIdx.x + 2] = strata::ThreadReduce(array, cuda::std::plus<>{});
  out[6 * threadIdx.x + 3] = cub::ThreadReduce(items, cuda::minimum<>{}, 3);
  out[6 * threadIdx.x + 4] = strata::ThreadReduce(items, cuda::minimum<>{}, 3);
  out[6 * threadIdx.x + 5] = strata::ThreadReduce(array, cuda::minimum<>{}, 3);
}

TEST(thread_reduce_beside_cub, arrays_and_operators_of_libcudacxx) {
  const device_vector<short> in(random_items<short>(6 * 32));
  device_vector<int> out(6 * 32);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_in_thread", 1, 32}, reduce_in_thread, in.data(), out.data()));
  const std::vector<int> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); i += 3) {
    EXPECT_EQ(results[i + 1], results[i]);
    EXPECT_EQ(results[i + 2], results[i]);
  }
}

}  // namespace warp_reduce_cub_test

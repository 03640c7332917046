// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One kernel source, with the iterator as a parameter, runs with strata's iterators and with CUB's. Results must agree.
#include <strata/core/launcher.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>

#include <gtest/gtest.h>

#include <cub/iterator/arg_index_input_iterator.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cub/iterator/cache_modified_output_iterator.cuh>

#include <vector>

#include "support/test_support.cuh"

namespace iterators_cub_test {

using strata_test::device_vector;

// Uses every operation of CUB's iterators.
template <class ArgIndex, class Input, class Output>
STRATA_KERNEL void use(const int* in, int* out, long long* results) {
  ArgIndex pairs(in, 3);
  *results++ = (*pairs).key;
  *results++ = (*pairs).value;
  *results++ = pairs[4].key;
  *results++ = pairs[4].value;
  ArgIndex later = pairs + 2;
  later += 5u;
  later -= 1;
  *results++ = later - pairs;
  *results++ = (*later++).key;
  *results++ = (*++later).key;
  *results++ = pairs == later;
  *results++ = pairs != later;
  later.normalize();
  *results++ = (*later).key;
  *results++ = (*later).value;
  *results++ = (later - 2)[1].value;
  *results++ = ArgIndex(in + 1, 2) == ArgIndex(in, 3);

  Input input(in);
  input += 7;
  *results++ = *input;
  *results++ = input[-2];
  *results++ = *(input - 3);
  *results++ = *input++;
  *results++ = *++input;
  *results++ = input - Input(in);
  *results++ = input == Input(in);

  Output output(out);
  *output = 5;
  output[1] = 6;
  *results++ = (*(output + 2) = 7);
  output += 4;
  *output++ = 9;
  *output = 10;
  *(output - 2) = 8;
  *results++ = output - Output(out);
}

TEST(iterators_cub, same_items_and_places) {
  std::vector<int> squares;
  for (int i = 0; i < 20; ++i) squares.push_back(i * i);
  const device_vector<int> in(squares);
  device_vector<int> our_output(6), cub_output(6);
  device_vector<long long> our_results(22), cub_results(22);
  ASSERT_CUDA_SUCCESS(strata::launch(
      {"strata", 1, 1},
      use<strata::ArgIndexInputIterator<const int*>, strata::CacheModifiedInputIterator<strata::LOAD_CS, int>,
          strata::CacheModifiedOutputIterator<strata::STORE_CG, int>>,
      in.data(), our_output.data(), our_results.data()));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"cub", 1, 1},
                     use<cub::ArgIndexInputIterator<const int*>, cub::CacheModifiedInputIterator<cub::LOAD_CS, int>,
                         cub::CacheModifiedOutputIterator<cub::STORE_CG, int>>,
                     in.data(), cub_output.data(), cub_results.data()));
  EXPECT_EQ(our_results.to_host(), cub_results.to_host());
  EXPECT_EQ(our_output.to_host(), cub_output.to_host());
}

}  // namespace iterators_cub_test

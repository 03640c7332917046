// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Routing of tokens to experts, as in a mixture of experts: softmax of each token's logits, and the k most probable
// experts in descending order, in one kernel. Of equally probable experts, the first one is chosen.
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_top_k.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr int block_threads = 128;
constexpr int block_warps = block_threads / 32;

/// A warp takes a token of up to 32 * Items experts.
template <int Items>
STRATA_KERNEL void route(const float* logits, float* weights, int* chosen, int tokens, int experts, int k) {
  using Reduce = strata::WarpReduce<float>;
  using TopK = strata::WarpTopK<float, Items, 32, int>;
  STRATA_SHARED(shared, typename TopK::TempStorage[block_warps]);
  typename Reduce::TempStorage unused;
  const int warp = static_cast<int>(threadIdx.x) / 32, first = static_cast<int>(threadIdx.x) % 32 * Items;
  const int token = static_cast<int>(blockIdx.x) * block_warps + warp;
  if (token >= tokens) return;  // All lanes of a warp leave, or none.

  float items[Items], exponentials[Items];
  int indices[Items];
  for (int i = 0; i < Items; ++i) {
    indices[i] = first + i;
    items[i] = first + i < experts ? logits[static_cast<long long>(token) * experts + first + i] : -INFINITY;
  }
  const float largest = Reduce(unused).AllReduce(items, strata::Max{});
  for (int i = 0; i < Items; ++i) exponentials[i] = std::exp(items[i] - largest);
  const float sum = Reduce(unused).AllSum(exponentials);
  const int results = TopK(shared[warp]).MaxPairsSorted(items, indices, k, experts);
  for (int i = 0; i < Items; ++i) {
    if (first + i >= results) break;
    weights[static_cast<long long>(token) * k + first + i] = std::exp(items[i] - largest) / sum;
    chosen[static_cast<long long>(token) * k + first + i] = indices[i];
  }
}

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "routing: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  constexpr int tokens = 50, experts = 384, k = 8;
  std::vector<float> logits(tokens * experts);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 1009) / 100.0f;
  std::vector<float> weights(tokens * k);
  std::vector<int> chosen(tokens * k);
  float *d_logits = nullptr, *d_weights = nullptr;
  int* d_chosen = nullptr;
  check(cudaMalloc(&d_logits, logits.size() * sizeof(float)));
  check(cudaMalloc(&d_weights, weights.size() * sizeof(float)));
  check(cudaMalloc(&d_chosen, chosen.size() * sizeof(int)));
  check(cudaMemcpy(d_logits, logits.data(), logits.size() * sizeof(float), cudaMemcpyHostToDevice));
  constexpr int blocks = (tokens + block_warps - 1) / block_warps;
  check(strata::launch({"route", blocks, block_threads}, route<experts / 32>, d_logits, d_weights, d_chosen, tokens,
                       experts, k));
  check(cudaMemcpy(weights.data(), d_weights, weights.size() * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(chosen.data(), d_chosen, chosen.size() * sizeof(int), cudaMemcpyDeviceToHost));
  check(cudaFree(d_logits));
  check(cudaFree(d_weights));
  check(cudaFree(d_chosen));

  bool right = true;
  for (int token = 0; token < tokens; ++token) {
    const float* const row = logits.data() + token * experts;
    double sum = 0;
    for (int i = 0; i < experts; ++i) sum += std::exp(static_cast<double>(row[i]));
    int order[experts];
    std::iota(order, order + experts, 0);
    std::stable_sort(order, order + experts, [&](int a, int b) { return row[a] > row[b]; });
    for (int i = 0; i < k; ++i) {
      const auto at = static_cast<std::size_t>(token * k + i);
      const double expected = std::exp(static_cast<double>(row[order[i]])) / sum;
      right = right && chosen[at] == order[i] && std::abs(weights[at] / expected - 1) < 1e-5;
    }
  }
  std::printf("%d of %d experts for %d tokens: %s\n", k, experts, tokens, right ? "right" : "wrong");
  return right ? 0 : 1;
}

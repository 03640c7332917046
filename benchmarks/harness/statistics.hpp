// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Statistics of samples, and the order in which peers are sampled. Host code only.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace bench {

/// The value at `quantile` (0 .. 1) of sorted values, interpolated linearly.
inline double quantile_of_sorted(const std::vector<double>& sorted, double quantile) {
  if (sorted.empty()) throw std::invalid_argument("no samples");
  const double position = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

struct summary {
  double median = 0;
  double minimum = 0;
  /// Distance of the quartiles divided by the median.
  double spread = 0;
};

inline summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  summary result;
  result.median = quantile_of_sorted(samples, 0.5);
  result.minimum = samples.front();
  const double quartiles = quantile_of_sorted(samples, 0.75) - quantile_of_sorted(samples, 0.25);
  result.spread = result.median > 0 ? quartiles / result.median : 0;
  return result;
}

/// Number of calls for a sample of about `target` length. A sample must be so long that the resolution of the timer
/// (0.5 us) and the gap before the first kernel do not matter, and so short that a hundred cases take only seconds.
inline int batch_size(double estimate_of_one_call, double target, int most = 100) {
  if (!(estimate_of_one_call > 0)) return most;
  const double calls = std::ceil(target / estimate_of_one_call);
  return static_cast<int>(std::clamp(calls, 1.0, static_cast<double>(most)));
}

/// Wall-clock milliseconds that `work` takes.
template <class Work>
double wall_milliseconds(Work&& work) {
  using clock = std::chrono::steady_clock;
  const clock::time_point begin = clock::now();
  work();
  const std::chrono::duration<double, std::milli> taken = clock::now() - begin;
  return taken.count();
}

/// Calls `take(contender)` `samples` times for each contender, and returns the samples of each. The contenders take
/// turns, so that a drifting clock affects all of them. Each round begins with the next contender, so that none always
/// runs after the same other one.
template <class Take>
std::vector<std::vector<double>> interleave(std::size_t contenders, std::size_t samples, Take&& take) {
  std::vector<std::vector<double>> taken(contenders);
  for (std::size_t round = 0; round < samples; ++round) {
    for (std::size_t turn = 0; turn < contenders; ++turn) {
      const std::size_t contender = (round + turn) % contenders;
      taken[contender].push_back(take(contender));
    }
  }
  return taken;
}

}  // namespace bench
